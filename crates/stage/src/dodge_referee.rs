//! A slow and obvious judge of dodges. It plays what was decided on a copy of the character, because outcomes are those of the frames that are
//! shown, looks at the body each 1/240 s, and tries every path there is, at speeds it works out itself. Of the planner it shares the
//! words and the spheres of the body; not where it thinks bodies are, its candidates, costs, time warps or distances.

use std::sync::Arc;

use kumite_motion::graph::EdgeIdx;
use kumite_motion::library::Library;
use kumite_motion::rotation::nlerp;
use kumite_motion::{Pose, Role, SpanKind, Vec3, WorldPose, fk};
use kumite_plan::Threat;
use kumite_plan::dodge::{DodgeDecision, Forecast};

use crate::{Character, TICKS};

/// Looks in a second.
pub const SAMPLES_PER_SECOND: u32 = 240;

/// Where all spheres of the body are, each 1/[`SAMPLES_PER_SECOND`] s from the moment of the decision.
#[derive(Clone, Debug)]
pub struct BodySamples {
    /// Centres, in the order of the library's spheres.
    pub frames: Vec<Vec<Vec3>>,
    radii: Vec<f32>,
    parts: Vec<Role>,
}

/// What a film shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Least distance of attack and body, metres; negative is the depth.
    pub least: f32,
    /// When and with what the attack is first touched.
    pub first: Option<(f32, Role)>,
}

/// A decision played on a copy of a character for some seconds, as it will be shown; `ahead` is what it would play otherwise.
pub fn played(character: &Character, decision: &DodgeDecision, ahead: &[EdgeIdx], seconds: f32) -> BodySamples {
    let mut copy = character.clone();
    // What is being carried out goes on if there is nothing to do.
    if decision.forecast != Forecast::Clear || !copy.following() {
        copy.follow(&decision.edges, &decision.warp, decision.bend);
    }
    samples(copy, if decision.edges.is_empty() { ahead } else { &[] }, seconds)
}

/// What it would play otherwise.
pub fn undisturbed(character: &Character, ahead: &[EdgeIdx], seconds: f32) -> BodySamples {
    samples(character.clone(), ahead, seconds)
}

/// Plays on for some seconds: what it follows, then `ahead`, then as the graph goes on by itself.
fn samples(mut copy: Character, ahead: &[EdgeIdx], seconds: f32) -> BodySamples {
    let mut queue = ahead.iter().copied();
    let library = Arc::clone(copy.library());
    let spheres = library.spheres();
    let place = |pose: &Pose, world: &mut WorldPose| -> Vec<Vec3> {
        fk::pose(library.skeleton(), pose, world);
        spheres.iter().map(|s| world.point(s.joint, s.offset)).collect()
    };
    let mut world = WorldPose::default();
    let mut frames = vec![place(copy.pose(), &mut world)];
    for _ in 0..(seconds * TICKS as f32).ceil() as u32 {
        let before = copy.pose().clone();
        copy.step(|_, next| queue.next().filter(|e| next.contains(e)).unwrap_or(next[0]));
        let mut half = copy.pose().clone();
        for (q, p) in half.rotations.iter_mut().zip(&before.rotations) {
            *q = nlerp(*p, *q, 0.5);
        }
        for (t, p) in half.translations.iter_mut().zip(&before.translations) {
            *t = 0.5 * (*t + *p);
        }
        frames.push(place(&half, &mut world));
        frames.push(place(copy.pose(), &mut world));
    }
    BodySamples {
        frames,
        radii: spheres.iter().map(|s| s.radius).collect(),
        parts: spheres.iter().map(|s| s.part).collect(),
    }
}

/// Where an attack's sphere is; `None` before and after its way.
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

/// Looks at every pair of spheres between every two looks.
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
    /// On the final frames.
    pub seen: Seen,
    /// Whether nothing was touched.
    pub avoided: bool,
    /// Whether the guard was touched before anything else.
    pub blocked: bool,
}

/// Plays a decision and judges it.
pub fn judge(character: &Character, decision: &DodgeDecision, ahead: &[EdgeIdx], threats: &[Threat]) -> Ruling {
    let seconds = threats.iter().map(Threat::ends).fold(0.0, f32::max) + 0.1;
    let seen = look(&played(character, decision, ahead, seconds), threats);
    let blocked = match (decision.block, seen.first) {
        (Some(block), Some((_, part))) => part == block.wrist || Some(part) == block.wrist.parent(),
        _ => false,
    };
    Ruling { seen, avoided: seen.first.is_none(), blocked }
}

/// Whether undisturbed playback is hit.
pub fn threatening(character: &Character, ahead: &[EdgeIdx], threats: &[Threat]) -> Seen {
    let seconds = threats.iter().map(Threat::ends).fold(0.0, f32::max) + 0.1;
    look(&undisturbed(character, ahead, seconds), threats)
}

/// One path of the exhaustive search that avoids.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// After the current edge.
    pub edges: Vec<EdgeIdx>,
    /// As the equations have it, with the errata.
    pub cost: f32,
    /// On the final frames, metres.
    pub clearance: f32,
}

/// Tries every path: no index, no culling, no bound. Costs are worked out on the final frames.
#[derive(Clone, Debug)]
pub struct Exhaustive {
    /// Per edge: 0 may be slowed, 1 neither, 2 may be sped up, 3 both.
    paces: Vec<u8>,
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
        let mut sorted = speeds.clone();
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
        Exhaustive { paces: speeds.into_iter().map(pace).collect() }
    }

    /// Every path that avoids, in no order.
    pub fn all(&self, character: &Character, threats: &[Threat]) -> Vec<Found> {
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
            for edge in graph.after(last) {
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
            if span.kind != SpanKind::Avoid {
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
            let schedule = Schedule::new(&stretches, scale, to.max(centre) + 1.0);
            let seconds = threats.iter().map(Threat::ends).fold(0.0, f32::max) + 0.1;
            let seconds = seconds.max(schedule.when(to) + 0.05);
            let mut copy = character.clone();
            copy.follow_schedule(path, schedule.ticks(seconds + 0.1));
            let samples = samples(copy, &[], seconds);
            let seen = look(&samples, threats);
            if seen.first.is_none() {
                let terms = cost(&samples, threats, (schedule.when(from), schedule.when(to)), seen.least);
                let cost = terms + scale.max(1.0 / scale) / TIME;
                found.push(Found { edges: path.to_vec(), cost, clearance: seen.least });
            }
        }
    }
}

/// From path seconds to stage seconds, added up in small steps: adjustable stretches last `scale` times as long, with ramps at their ends.
struct Schedule {
    /// Stage seconds after each step of the path.
    times: Vec<f32>,
}

/// Steps of a path in a second.
const STEPS: f32 = 1000.0;

impl Schedule {
    fn new(stretches: &[(f32, f32)], scale: f32, until: f32) -> Schedule {
        // How much of the scale counts at a path second: a trapezoid over each stretch.
        let weight = |u: f32| {
            let inside = stretches.iter().map(|(from, to)| (u - from).min(to - u) / RAMP.min(0.5 * (to - from)));
            inside.fold(0.0, f32::max).min(1.0)
        };
        let mut time = 0.0f64;
        let mut times = vec![0.0];
        for step in 0..(until.max(0.0) * STEPS) as usize {
            let middle = (step as f32 + 0.5) / STEPS;
            time += f64::from(1.0 + (scale - 1.0) * weight(middle)) / f64::from(STEPS);
            times.push(time as f32);
        }
        Schedule { times }
    }

    /// Stage second at which a path second is shown; outside the path time runs as it does.
    fn when(&self, u: f32) -> f32 {
        let last = self.times.len() - 1;
        let at = u * STEPS;
        if at <= 0.0 {
            return u;
        }
        let k = at as usize;
        if k >= last {
            return self.times[last] + u - last as f32 / STEPS;
        }
        self.times[k] + (self.times[k + 1] - self.times[k]) * (at - k as f32)
    }

    /// Path seconds after each tick.
    fn ticks(&self, seconds: f32) -> Vec<f32> {
        let (mut k, last) = (0, self.times.len() - 1);
        let mut at = |time: f32| {
            while k < last && self.times[k + 1] < time {
                k += 1;
            }
            if k == last {
                return last as f32 / STEPS + time - self.times[last];
            }
            (k as f32 + (time - self.times[k]) / (self.times[k + 1] - self.times[k])) / STEPS
        };
        (1..=(seconds * TICKS as f32).ceil() as u32).map(|tick| at(tick as f32 / TICKS as f32)).collect()
    }
}

/// e_avoidance + e_body on a film: small steps along the attack's way.
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
    let body = if least <= d0 { 1.0 } else { ((least - d0) / BODY).min(1.0) };
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
    fn looks_are_what_a_hand_computes() {
        let ball = Ball { from: Vec3::new(-5.0, 1.0, 0.0), velocity: Vec3::X * 10.0, radius: 0.1, falls: false };
        let threats = [Threat::ball(&ball, 0.5).unwrap()];
        let hit = look(&standing(0.05), &threats);
        assert!((hit.least + 0.25).abs() < 1e-3, "{hit:?}");
        let touch = (5.0 - (0.3f32 * 0.3 - 0.05 * 0.05).sqrt()) / 10.0;
        assert!((hit.first.unwrap().0 - touch).abs() < 1.0 / SAMPLES_PER_SECOND as f32, "{hit:?}");
        let miss = look(&standing(0.34), &threats);
        assert!((miss.least - 0.04).abs() < 1e-3 && miss.first.is_none(), "{miss:?}");
    }

    /// At 60 m/s a ball moves a quarter of a metre between looks; it must not pass through a sphere of 5 cm.
    #[test]
    fn nothing_tunnels() {
        let ball = Ball { from: Vec3::new(-30.03, 1.0, 0.0), velocity: Vec3::X * 60.0, radius: 0.02, falls: false };
        let mut samples = standing(0.0);
        samples.radii = vec![0.05];
        assert!(look(&samples, &[Threat::ball(&ball, 0.5).unwrap()]).first.is_some());
    }
}
