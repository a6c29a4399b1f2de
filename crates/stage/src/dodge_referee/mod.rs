//! A slow and obvious judge of dodges. It looks at the body each 1/240 s, in the frames that the stage shows and in frames of its own, which it
//! works out from the decision's numbers (`replay`, with its own time warp, joins and bend), and says how far the two are apart. It also tries
//! every path there is, at speeds it works out itself.
//!
//! Shared with the planner: words and the spheres of the body; not where it thinks bodies are, its candidates, costs or distances. Shared with
//! the stage: clips, graph, forward kinematics, joint limits, and planted feet (`replay` says why); not warps, joins, bends or limbs that reach.

mod bend;
mod replay;
mod schedule;

use std::collections::HashMap;
use std::sync::Arc;

use kumite_motion::graph::{ClipIdx, EdgeIdx, Layer};
use kumite_motion::interrupt::{Onset, blend};
use kumite_motion::library::Library;
use kumite_motion::rotation::nlerp;
use kumite_motion::{FrameIdx, Pose, Role, SpanKind, Vec3, WorldPose, fk};
use kumite_plan::dodge::{DodgeDecision, Forecast};
use kumite_plan::{Leg, Threat, Warp};

use self::replay::{Replay, Script};
use self::schedule::Schedule;
use crate::{Character, TICKS};

/// Samples of a body in a second.
pub const SAMPLES_PER_SECOND: u32 = 240;

/// Where all spheres of the body are, each 1/[`SAMPLES_PER_SECOND`] s from the moment of the decision.
#[derive(Clone, Debug)]
pub struct BodySamples {
    /// Centres, in the order of the library's spheres.
    pub frames: Vec<Vec<Vec3>>,
    radii: Vec<f32>,
    parts: Vec<Role>,
}

impl BodySamples {
    fn new(library: &Library, frames: Vec<Vec<Vec3>>) -> BodySamples {
        let spheres = library.spheres();
        BodySamples {
            frames,
            radii: spheres.iter().map(|s| s.radius).collect(),
            parts: spheres.iter().map(|s| s.part).collect(),
        }
    }

    /// Farthest that a sphere is from where another has it at the same time, metres.
    pub fn strays(&self, other: &BodySamples) -> f32 {
        let pairs = self.frames.iter().zip(&other.frames).flat_map(|(a, b)| a.iter().zip(b));
        pairs.map(|(p, q)| (*p - *q).length()).fold(0.0, f32::max)
    }
}

/// How near an attack comes to a sampled body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Least distance of attack and body, metres; negative is the depth.
    pub least: f32,
    /// When and with what the attack is first touched.
    pub first: Option<(f32, Role)>,
}

/// What the stage shows: a decision, or else what it would play anyway, on a copy of a character for some seconds. `ahead` is what it would play
/// otherwise.
pub fn shown(character: &Character, decision: Option<&DodgeDecision>, ahead: &[Leg], seconds: f32) -> BodySamples {
    let mut copy = character.clone();
    let decision = decision.filter(|d| replaces(character, d));
    if let Some(decision) = decision {
        copy.commit(decision.plan(ahead, character.leaves()));
    }
    let mut queue = if decision.is_some() { &[] } else { ahead }.iter().map(|leg| leg.edge);
    let library = Arc::clone(copy.library());
    let mut world = WorldPose::default();
    let mut centres = |pose: &Pose| -> Vec<Vec3> {
        fk::pose(library.skeleton(), pose, &mut world);
        library.spheres().iter().map(|s| world.point(s.joint, s.offset)).collect()
    };
    let mut frames = vec![centres(copy.pose())];
    for _ in 0..(seconds * TICKS as f32).ceil() as u32 {
        let before = copy.pose().clone();
        copy.step(|_, next| queue.next().filter(|e| next.contains(e)).unwrap_or(next[0]));
        frames.push(centres(&half_way(&before, copy.pose())));
        frames.push(centres(copy.pose()));
    }
    BodySamples::new(&library, frames)
}

/// What [`shown`] should give, as the referee works it out.
pub fn replayed(character: &Character, decision: Option<&DodgeDecision>, ahead: &[Leg], seconds: f32) -> BodySamples {
    let script = match decision.filter(|d| replaces(character, d)) {
        // A decision without legs leaves what is played as it is.
        Some(decision) => Script {
            leave: if decision.legs.is_empty() { character.leaves() } else { decision.leave },
            legs: if decision.legs.is_empty() { ahead } else { &decision.legs }.to_vec(),
            ahead: &[],
            schedule: Schedule::of_corners(&decision.warp.corners()),
            past: 0.0,
            bend: decision.bend.map(|bend| (bend, 0.0)),
            replaces: true,
        },
        None => {
            let (warp, past) = character.pace();
            Script {
                leave: character.leaves(),
                legs: character.legs().iter().copied().collect(),
                ahead,
                schedule: Schedule::of_corners(&warp.map(Warp::corners).unwrap_or_default()),
                past,
                bend: character.bend,
                replaces: false,
            }
        }
    };
    replay(character, script, seconds)
}

fn replay(character: &Character, script: Script<'_>, seconds: f32) -> BodySamples {
    let replay = Replay::new(character, script, seconds);
    BodySamples::new(character.library(), replay.frames(character.pose(), seconds))
}

/// What is being carried out goes on if there is nothing to do.
fn replaces(character: &Character, decision: &DodgeDecision) -> bool {
    decision.forecast != Forecast::Clear || !character.following()
}

fn legs(edges: &[EdgeIdx]) -> Vec<Leg> {
    edges.iter().map(|edge| Leg::whole(*edge)).collect()
}

/// The pose half way between two neighbours.
fn half_way(a: &Pose, b: &Pose) -> Pose {
    Pose {
        translations: a.translations.iter().zip(&b.translations).map(|(p, q)| 0.5 * (*q + *p)).collect(),
        rotations: a.rotations.iter().zip(&b.rotations).map(|(p, q)| nlerp(*p, *q, 0.5)).collect(),
    }
}

/// Where an attack's sphere is; `None` before it sets out and after it has arrived.
fn attack_at(sphere: &kumite_plan::threat::Sphere, time: f32) -> Option<Vec3> {
    let at = (time - sphere.start) * 60.0;
    if at < -1e-3 {
        return None;
    }
    let k = at.max(0.0) as usize;
    let (p, q) = (*sphere.places.get(k)?, *sphere.places.get(k + 1)?);
    Some(p + (q - p) * (at.max(0.0) - k as f32))
}

/// Least distance of two points that move evenly, found by closed form in doubles.
fn apart(a: [Vec3; 2], b: [Vec3; 2]) -> f64 {
    let d = |p: Vec3, q: Vec3| [f64::from(p.x - q.x), f64::from(p.y - q.y), f64::from(p.z - q.z)];
    let (s, e) = (d(a[0], b[0]), d(a[1], b[1]));
    let w = [e[0] - s[0], e[1] - s[1], e[2] - s[2]];
    let ww = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    let sw = s[0] * w[0] + s[1] * w[1] + s[2] * w[2];
    let t = if ww > 0.0 { (-sw / ww).clamp(0.0, 1.0) } else { 0.0 };
    let c = [s[0] + w[0] * t, s[1] + w[1] * t, s[2] + w[2] * t];
    (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]).sqrt()
}

/// Measures every pair of spheres between every two samples.
pub fn look(samples: &BodySamples, threats: &[Threat]) -> Seen {
    let mut seen = Seen { least: f32::INFINITY, first: None };
    for (k, pair) in samples.frames.windows(2).enumerate() {
        let (from, to) = (k as f32 / SAMPLES_PER_SECOND as f32, (k + 1) as f32 / SAMPLES_PER_SECOND as f32);
        for sphere in threats.iter().flat_map(|t| &t.spheres) {
            let (Some(p), Some(q)) = (attack_at(sphere, from), attack_at(sphere, to)) else { continue };
            let bodies = pair[0].iter().zip(&pair[1]).zip(samples.radii.iter().zip(&samples.parts));
            for ((&a, &b), (radius, part)) in bodies {
                let d = (apart([a, b], [p, q]) - f64::from(radius + sphere.radius)) as f32;
                seen.least = seen.least.min(d);
                if d < 0.0 && seen.first.is_none() {
                    seen.first = Some((from, *part));
                }
            }
        }
    }
    seen
}

/// How a decision turned out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ruling {
    /// In the frames that are shown or in the referee's own, whichever come nearer to the attack.
    pub seen: Seen,
    /// Whether nothing was touched in either.
    pub avoided: bool,
    /// Whether the guard was touched before anything else.
    pub blocked: bool,
    /// Farthest that the stage shows a sphere from where the referee has it, metres.
    pub strays: f32,
}

/// Judges a decision, played on a copy of the character.
pub fn judge(character: &Character, decision: &DodgeDecision, ahead: &[Leg], threats: &[Threat]) -> Ruling {
    judge_shown(&shown(character, Some(decision), ahead, until_over(threats)), character, decision, ahead, threats)
}

/// Judges what is shown of a decision.
pub fn judge_shown(
    shown: &BodySamples,
    character: &Character,
    decision: &DodgeDecision,
    ahead: &[Leg],
    threats: &[Threat],
) -> Ruling {
    let own = replayed(character, Some(decision), ahead, until_over(threats));
    let [seen_own, seen_shown] = [&own, shown].map(|samples| look(samples, threats));
    let seen = if seen_own.least < seen_shown.least { seen_own } else { seen_shown };
    let blocked = match (decision.block, seen.first) {
        (Some(block), Some((_, part))) => part == block.wrist || Some(part) == block.wrist.parent(),
        _ => false,
    };
    Ruling { seen, avoided: seen.first.is_none(), blocked, strays: own.strays(shown) }
}

/// Seconds until every attack has passed.
fn until_over(threats: &[Threat]) -> f32 {
    threats.iter().map(Threat::ends).fold(0.0, f32::max) + 0.1
}

/// Whether undisturbed playback is hit.
pub fn threatening(character: &Character, ahead: &[Leg], threats: &[Threat]) -> Seen {
    look(&shown(character, None, ahead, until_over(threats)), threats)
}

/// One path of the exhaustive search that avoids.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// After the current leg, up to the one that avoids.
    pub legs: Vec<Leg>,
    /// When the current leg is left for them, path seconds from now; `None` at the end of its edge.
    pub leave: Option<f32>,
    /// As the equations have it, with the errata.
    pub cost: f32,
    /// On the final frames, metres.
    pub clearance: f32,
}

impl Found {
    /// Whether a decision plays this. Its legs go on beyond the avoidance until the attack is over.
    pub fn is(&self, decision: &DodgeDecision) -> bool {
        let same = |(a, b): (&Leg, &Leg)| a.edge == b.edge && a.enter == b.enter && near(a.leave, b.leave);
        decision.span.is_some()
            && near(self.leave, decision.leave)
            && decision.legs.len() >= self.legs.len()
            && self.legs.iter().zip(&decision.legs).all(same)
    }
}

/// Whether two moments are the same, or neither is one.
fn near(a: Option<f32>, b: Option<f32>) -> bool {
    a.is_some() == b.is_some() && a.zip(b).is_none_or(|(a, b)| (a - b).abs() < 1e-3)
}

/// Tries every path: no index, no culling, no bound. Costs are worked out on the final frames.
#[derive(Clone, Debug)]
pub struct Exhaustive {
    /// Per edge: 0 may be slowed, 1 neither, 2 may be sped up, 3 both.
    paces: Vec<u8>,
    /// By edge and span of its clip.
    carried: HashMap<(EdgeIdx, u32), Carried>,
}

/// The numbers of the planner's defaults, written down again: eq. 1, 6, 8, 9 and the rules for paths.
const WINDOW: f32 = 1.0;
const MOST_CUTS: usize = 3;
const BETWEEN: f32 = 0.2;
const HORIZON: f32 = 1.8;
const SATURATION: f32 = 2.0;
const BODY: f32 = 0.5;
const TIME: f32 = 4.0;
const MOVED: f32 = 0.02;
const RAMP: f32 = 0.08;
const LEAVES_EVERY: f32 = 0.1;
const DEAREST_JOIN: f32 = 0.36;
const JOIN: f32 = 0.5;
const LATE: f32 = 4.0;
const OFF: f32 = 0.6;
const HOPS: [f32; 2] = [0.0, 0.15];
const BAND: f32 = 0.1;
const CARRIED: [f32; 7] = [0.2, 0.1, 0.12, 0.3, 0.3, 0.3, 0.3];

impl Exhaustive {
    /// Measures a library's edges.
    pub fn new(library: &Library) -> Exhaustive {
        let ends = [Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle];
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        let mut speeds = Vec::new();
        for edge in library.graph().edges() {
            let clip = library.clip(edge.clip);
            let mut fastest = 0.0f32;
            let mut before: Option<[Vec3; 4]> = None;
            for frame in edge.first.0..=edge.last.0 {
                clip.pose(kumite_motion::FrameIdx(frame), &mut pose);
                fk::pose(library.skeleton(), &pose, &mut world);
                let now = ends.map(|role| world.position(role.joint()));
                if let Some(before) = before {
                    let step = before.iter().zip(&now).map(|(a, b)| (*b - *a).length() * clip.fps());
                    fastest = step.fold(fastest, f32::max);
                }
                before = Some(now);
            }
            speeds.push(fastest);
        }
        let fights = speeds.iter().zip(library.graph().edges()).filter(|(_, edge)| edge.layer == Layer::Fight);
        let mut sorted: Vec<f32> = fights.map(|(speed, _)| *speed).collect();
        sorted.sort_by(f32::total_cmp);
        let (still, slow) = (sorted[sorted.len() / 4], sorted[sorted.len() / 2]);
        let pace = |v: f32| {
            if v < still {
                3
            } else if v < slow {
                2
            } else if v > slow {
                0
            } else {
                1
            }
        };
        let edges = (0..library.graph().edges().len() as u32).map(EdgeIdx);
        let spans = edges.flat_map(|edge| library.graph().spans(edge).iter().map(move |within| (edge, within.span)));
        let avoids = spans.filter(|(edge, span)| {
            library.clip(library.graph().edge(*edge).clip).spans[*span as usize].kind == SpanKind::Avoid
        });
        let carried = avoids.map(|(edge, span)| ((edge, span), carried(library, edge, span))).collect();
        Exhaustive { paces: speeds.into_iter().map(pace).collect(), carried }
    }

    /// Whether an avoidance carries away what is as high as the attack comes in: the landmark nearest to that height, or one nearly as near.
    fn answers(&self, edge: EdgeIdx, span: u32, threats: &[Threat]) -> bool {
        let Some(landmarks) = self.carried.get(&(edge, span)) else { return false };
        let soonest = threats.iter().map(|t| t.arrives).fold(f32::INFINITY, f32::min);
        let first = threats.iter().filter(|t| t.arrives == soonest).flat_map(|t| &t.spheres);
        let arriving = |sphere| attack_at(sphere, soonest).or(sphere.places.last().copied());
        threats.is_empty()
            || first.filter_map(arriving).any(|p| {
                let height = ((p.y / BAND).floor().clamp(0.0, 31.0) + 0.5) * BAND;
                let off = |landmark: &(f32, bool)| (landmark.0 - height).abs();
                let least = landmarks.iter().map(off).fold(f32::INFINITY, f32::min);
                landmarks.iter().any(|landmark| landmark.1 && off(landmark) < least + BAND)
            })
    }

    /// Every path that avoids, in no order. `ahead` is what would be played next.
    pub fn all(&self, character: &Character, ahead: &[Leg], threats: &[Threat]) -> Vec<Found> {
        let library = character.library();
        let graph = library.graph();
        let attack = threats.iter().map(|t| t.arrives).fold(f32::INFINITY, f32::min);
        let playing = character.playing();
        let mut found = Vec::new();
        // Path, where it begins, cuts, seconds since the last cut.
        let mut open: Vec<(Vec<EdgeIdx>, f32, usize, f32)> = Vec::new();
        self.try_edge(character, threats, attack, &[], playing.edge, -playing.since, &mut found);
        let left = graph.edge(playing.edge).seconds - playing.since;
        open.push((Vec::new(), left, 0, f32::INFINITY));
        while let Some((path, begins, cuts, since)) = open.pop() {
            let last = path.last().copied().unwrap_or(playing.edge);
            for edge in graph.leaving(graph.edge(last).to, Layer::Fight) {
                let cut = graph.edge(edge).join.is_some_and(|e| e.blend > 0.0);
                if cut && (cuts == MOST_CUTS || since < BETWEEN) {
                    continue;
                }
                let mut longer = path.clone();
                longer.push(edge);
                self.try_edge(character, threats, attack, &longer, edge, begins, &mut found);
                let seconds = graph.edge(edge).seconds;
                let since = if cut { seconds } else { since + seconds };
                if begins + seconds < attack + 0.5 * WINDOW && begins + seconds - left < HORIZON {
                    open.push((longer, begins + seconds, cuts + usize::from(cut), since));
                }
            }
        }
        leave_early(self, character, ahead, threats, attack, &mut found);
        found
    }

    #[expect(clippy::too_many_arguments, reason = "a step of one function")]
    fn try_edge(
        &self,
        character: &Character,
        threats: &[Threat],
        attack: f32,
        path: &[EdgeIdx],
        edge: EdgeIdx,
        begins: f32,
        found: &mut Vec<Found>,
    ) {
        let library = character.library();
        let graph = library.graph();
        let clip = library.clip(graph.edge(edge).clip);
        let first = graph.edge(edge).first.0 as f32 / clip.fps();
        for within in graph.spans(edge).iter().filter(|s| s.whole) {
            let span = &clip.spans[within.span as usize];
            if span.kind != SpanKind::Avoid || !self.answers(edge, within.span, threats) {
                continue;
            }
            let active = span.active.unwrap_or((span.from, span.to));
            let centre = begins + 0.5 * (active.0 + active.1) - first;
            let from = begins + (span.from - first).max(0.0);
            let to = begins + (span.to - first).min(graph.edge(edge).seconds);
            if (centre - attack).abs() >= 0.5 * WINDOW || (path.is_empty() && from < 0.0) {
                continue;
            }
            // Stretches that may be adjusted, up to the centre, neighbours joined.
            let (mut stretches, mut at): (Vec<(f32, f32)>, f32) = (Vec::new(), -character.playing().since);
            for leg in std::iter::once(character.playing().edge).chain(path.iter().copied()) {
                let end = at + graph.edge(leg).seconds;
                let pace = self.paces[leg.at()];
                let may = if attack > centre { pace == 0 || pace == 3 } else { pace == 2 || pace == 3 };
                let (a, b) = (at.max(0.0), end.min(centre));
                if may && b - a >= 1e-3 {
                    match stretches.last_mut() {
                        Some(last) if a - last.1 < 1e-4 => last.1 = b,
                        _ => stretches.push((a, b)),
                    }
                }
                at = end;
            }
            let area: f32 = stretches.iter().map(|s| (s.1 - s.0) - RAMP.min(0.5 * (s.1 - s.0))).sum();
            let wanted = (area > 1e-3).then(|| 1.0 + (attack - centre) / area);
            let wanted = wanted.filter(|s| *s > 0.0 && s.max(1.0 / s) <= TIME);
            let on_time = (attack - centre).abs() <= 0.5 * (active.1 - active.0);
            let Some(scale) = wanted.or(on_time.then_some(1.0)) else { continue };
            let schedule = Schedule::of_stretches(&stretches, scale, RAMP, to.max(centre) + 1.0);
            let span_shown = (schedule.when(from), schedule.when(to));
            let seconds = until_over(threats).max(span_shown.1 + 0.05);
            let legs = legs(path);
            let script = Script { leave: None, legs, ahead: &[], schedule, past: 0.0, bend: None, replaces: true };
            let samples = replay(character, script, seconds);
            let seen = look(&samples, threats);
            if seen.first.is_none() {
                let terms = cost(&samples, threats, span_shown, seen.least);
                let cost = terms + scale.max(1.0 / scale) / TIME;
                found.push(Found { legs: crate::dodge_referee::legs(path), leave: None, cost, clearance: seen.least });
            }
        }
    }
}

/// The leg that is left and when, what is joined then and what after it: each with its price and how long the one before was played.
type Way<'a> = (usize, f32, Vec<(&'a Onset, f32, f32)>);

/// Tries every moment at which what is committed can be left for an avoidance that is active when the attack comes.
fn leave_early(
    judge: &Exhaustive,
    character: &Character,
    ahead: &[Leg],
    threats: &[Threat],
    attack: f32,
    found: &mut Vec<Found>,
) {
    let (library, playing) = (character.library(), character.playing());
    let (graph, interrupts) = (library.graph(), library.interrupts());
    // What is played if nothing happens, and when each leg begins.
    let first = Leg { enter: playing.since, leave: playing.leave, ..Leg::whole(playing.edge) };
    let mut course = vec![(first, 0.0)];
    let mut ahead = ahead.iter().copied();
    while let Some((last, begins)) = course.last().copied().filter(|(leg, begins)| begins + leg.seconds(graph) < attack)
    {
        let Some(leg) = ahead.next().or_else(|| graph.after(last.edge).next().map(Leg::whole)) else { break };
        course.push((leg, begins + last.seconds(graph)));
    }
    let avoids = |clip: ClipIdx, frame: FrameIdx| {
        let all = interrupts.at(clip, frame).map(|(number, price)| (&interrupts.onsets()[number], price));
        let avoids = |onset: &Onset| onset.kind == SpanKind::Avoid && judge.answers(onset.edge, onset.span, threats);
        all.filter(|(onset, _)| avoids(onset)).collect::<Vec<_>>()
    };
    let shown_at = |edge: EdgeIdx, since: f32| {
        let (edge, clip) = (graph.edge(edge), library.clip(graph.edge(edge).clip));
        // Of two frames that are as near the earlier.
        let frame = (edge.first.0 as f32 + since * clip.fps() - 0.51).ceil().max(0.0) as u32;
        (edge.clip, FrameIdx(frame.min(clip.frames() as u32 - 1)))
    };
    let mut ways: Vec<Way<'_>> = Vec::new();
    let moments = || {
        (0..).map(|step| step as f32 * LEAVES_EVERY).take_while(|at| *at < attack).filter_map(|at| {
            let k = course.partition_point(|(_, begins)| *begins <= at) - 1;
            let (leg, begins) = course[k];
            let joins =
                leg.join.map(|j| j.1).or(graph.edge(leg.edge).join.map(|j| j.blend)).is_some_and(|blend| blend > 0.0);
            (k == 0 || !joins || at - begins >= BETWEEN).then_some((k, at))
        })
    };
    let frame_of = |k: usize, at: f32| shown_at(course[k].0.edge, course[k].0.enter + at - course[k].1);
    // Seconds from now of a moment of a clip whose onset is joined at `begins`.
    let in_time = |onset: &Onset, begins: f32| {
        let entered = graph.edge(onset.edge);
        let clip = library.clip(entered.clip);
        let when = |seconds: f32| begins + seconds - entered.first.0 as f32 / clip.fps() - onset.enter;
        let span = &clip.spans[onset.span as usize];
        let active = span.active.unwrap_or((span.from, span.to));
        (when(active.0) <= attack && when(active.1) >= attack).then_some((
            (when(active.0), when(active.1)),
            when(span.from),
            when(span.to),
        ))
    };
    for (k, at) in moments() {
        let (clip, frame) = frame_of(k, at);
        let ready = avoids(clip, frame).into_iter().filter(|(onset, _)| in_time(onset, at).is_some());
        ways.extend(ready.map(|(onset, price)| (k, at, vec![(onset, price, 0.0)])));
    }
    if ways.is_empty() {
        for (k, at) in moments() {
            let (clip, frame) = frame_of(k, at);
            for (number, price) in interrupts.at(clip, frame) {
                let first = &interrupts.onsets()[number];
                let other = matches!(first.kind, SpanKind::Step | SpanKind::Turn | SpanKind::Attack);
                for hop in HOPS.into_iter().filter(|_| other) {
                    let played = blend(price).max(BETWEEN) + hop;
                    if at + played >= attack || first.enter + played >= graph.edge(first.edge).seconds {
                        continue;
                    }
                    let (clip, frame) = shown_at(first.edge, first.enter + played);
                    let ready = avoids(clip, frame).into_iter().filter(|(o, _)| in_time(o, at + played).is_some());
                    ways.extend(ready.map(|(o, then)| (k, at, vec![(first, price, 0.0), (o, then, played)])));
                }
            }
        }
    }
    for (k, at, joined) in ways {
        let (leg, begins) = course[k];
        let since = leg.enter + at - begins;
        let mut legs: Vec<Leg> = course[1..k.max(1)].iter().map(|(leg, _)| *leg).collect();
        legs.extend((k > 0).then_some(Leg { leave: Some(since), ..leg }));
        let (mut left, mut starts, mut price) = (frame_of(k, at), at, 0.0);
        for (number, (onset, cost, played)) in joined.iter().enumerate() {
            if let Some(before) = number.checked_sub(1).map(|before| joined[before].0) {
                left = shown_at(before.edge, before.enter + played);
                if let Some(leg) = legs.last_mut() {
                    leg.leave = Some(before.enter + played);
                }
            }
            let join = Some(library.join_onset(left.0, left.1, onset, *cost));
            legs.push(Leg { enter: onset.enter, join, ..Leg::whole(onset.edge) });
            (starts, price) = (starts + played, price + cost);
        }
        let Some((onset, _, _)) = joined.last() else { continue };
        let Some((active, from, to)) = in_time(onset, starts) else { continue };
        let leave = if k == 0 { Some(at) } else { playing.leave.map(|leave| leave - playing.since) };
        let shown = (from.max(starts), to.min(starts + graph.edge(onset.edge).seconds - onset.enter));
        let seconds = until_over(threats).max(shown.1 + 0.05);
        let schedule = Schedule::of_corners(&[]);
        let script = Script { leave, legs: legs.clone(), ahead: &[], schedule, past: 0.0, bend: None, replaces: true };
        let samples = replay(character, script, seconds);
        let seen = look(&samples, threats);
        if seen.first.is_none() {
            let cost = cost(&samples, threats, shown, seen.least) + 1.0 / TIME;
            let off = 2.0 * (attack - 0.5 * (active.0 + active.1)).abs() / (active.1 - active.0).max(2e-3);
            let cost = cost + JOIN * ((price / DEAREST_JOIN).min(1.0) + LATE * at + OFF * off);
            found.push(Found { legs, leave, cost, clearance: seen.least });
        }
    }
}

/// How high each landmark of a body is when an avoidance begins, metres, and whether it is carried away.
type Carried = Vec<(f32, bool)>;

fn carried(library: &Library, edge: EdgeIdx, span: u32) -> Carried {
    let info = library.graph().edge(edge);
    let clip = library.clip(info.clip);
    let span = &clip.spans[span as usize];
    let (first, ends) = (info.first.0 as f32 / clip.fps(), info.last.0 as f32 / clip.fps());
    let sides = [Role::LeftKnee, Role::RightKnee, Role::LeftAnkle, Role::RightAnkle];
    let landmarks: Vec<Role> = [Role::Head, Role::Back, Role::Pelvis].into_iter().chain(sides).collect();
    let at = |seconds: f32| -> Vec<Vec3> {
        let joints = |frame: u32| {
            let (mut pose, mut world) = (Pose::default(), WorldPose::default());
            clip.pose(FrameIdx(frame.min(clip.frames() as u32 - 1)), &mut pose);
            fk::pose(clip.skeleton(), &pose, &mut world);
            landmarks.iter().map(|role| world.position(role.joint())).collect::<Vec<_>>()
        };
        let frame = seconds * clip.fps();
        let (a, b) = (joints(frame as u32), joints(frame as u32 + 1));
        a.iter().zip(&b).map(|(a, b)| *a + (*b - *a) * frame.fract()).collect()
    };
    let start = at(span.from.clamp(first, ends));
    let active = span.active.unwrap_or((span.from, span.to));
    let looks: Vec<Vec<Vec3>> = (0..9).map(|k| at(active.0 + (active.1 - active.0) * k as f32 / 8.0)).collect();
    let far = |j: usize| looks.iter().any(|look| (look[j] - start[j]).length() >= CARRIED[j]);
    (0..start.len()).map(|j| (start[j].y, far(j))).collect()
}

/// e_avoidance + e_body of a sampled body, in small steps along the attack's way.
fn cost(samples: &BodySamples, threats: &[Threat], span: (f32, f32), least: f32) -> f32 {
    let look = |t: f32| ((t.max(0.0) * SAMPLES_PER_SECOND as f32).round() as usize).min(samples.frames.len() - 1);
    let start = &samples.frames[look(span.0)];
    let during = &samples.frames[look(span.0)..=look(span.1)];
    let moved: Vec<bool> =
        (0..samples.radii.len()).map(|j| during.iter().any(|l| (l[j] - start[j]).length() > MOVED)).collect();
    let radius = threats.iter().flat_map(|t| &t.spheres).map(|s| s.radius).fold(0.0, f32::max);
    let (mut stayed, mut vacated) = (f32::INFINITY, 0.0f32);
    for sphere in threats.iter().flat_map(|t| &t.spheres) {
        // 16 steps between frames: at 30 m/s a step is 8 mm.
        let steps = samples.frames.len() * 16;
        let time = |k: usize| k as f32 / (SAMPLES_PER_SECOND * 16) as f32;
        for k in 0..steps {
            let (Some(p), Some(q)) = (attack_at(sphere, time(k)), attack_at(sphere, time(k + 1))) else { continue };
            let middle = 0.5 * (p + q);
            let length = (q - p).length();
            if start.iter().all(|c| (*c - middle).length() > 1.5) {
                continue;
            }
            for j in 0..samples.radii.len() {
                let d = (start[j] - middle).length() - samples.radii[j] - sphere.radius;
                stayed = stayed.min(d);
                if moved[j] && time(k) >= span.0 && time(k) <= span.1 {
                    vacated += (-d).max(0.0) * length;
                }
            }
        }
    }
    let d0 = stayed.max(0.0);
    let avoidance = (1.0 - vacated / (SATURATION * (radius + 0.1) * (radius + 0.1))).max(0.0);
    let nearer = if least < d0 { 2.0 } else { 1.0 };
    let body = (nearer * (least - d0).abs() / BODY).min(1.0);
    avoidance + body
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_plan::threat::Ball;

    fn standing(z: f32) -> BodySamples {
        BodySamples { frames: vec![vec![Vec3::new(0.0, 1.0, z)]; 241], radii: vec![0.2], parts: vec![Role::Head] }
    }

    /// By hand: a ball of 10 cm at 10 m/s along x, 5 cm beside a sphere of 20 cm, touches when their middles are 30 cm apart.
    #[test]
    fn distances_are_what_a_hand_computes() {
        let ball = Ball { from: Vec3::new(-5.0, 1.0, 0.0), velocity: Vec3::X * 10.0, radius: 0.1, falls: false };
        let threats = [Threat::ball(&ball, 0.5).unwrap()];
        let hit = look(&standing(0.05), &threats);
        assert!((hit.least + 0.25).abs() < 1e-3, "{hit:?}");
        let touch = (5.0 - (0.3f32 * 0.3 - 0.05 * 0.05).sqrt()) / 10.0;
        assert!((hit.first.unwrap().0 - touch).abs() < 1.0 / SAMPLES_PER_SECOND as f32, "{hit:?}");
        let miss = look(&standing(0.34), &threats);
        assert!((miss.least - 0.04).abs() < 1e-3 && miss.first.is_none(), "{miss:?}");
    }

    /// At 60 m/s a ball moves a quarter of a metre between samples; it must not pass through a sphere of 5 cm.
    #[test]
    fn nothing_tunnels() {
        let ball = Ball { from: Vec3::new(-30.03, 1.0, 0.0), velocity: Vec3::X * 60.0, radius: 0.02, falls: false };
        let mut samples = standing(0.0);
        samples.radii = vec![0.05];
        assert!(look(&samples, &[Threat::ball(&ball, 0.5).unwrap()]).first.is_some());
    }
}
