//! Connectivity repair: short synthetic motions (*bridges*) that lead to what the graph lost or reaches too late, and back.
//!
//! A bridge leaves a pose at its speed and ends in the pose where another motion begins. It is contact-aware: a foot that stands at both
//! ends stays where it is and says where the other motion is laid (*interpolated*); the other foot, if its two places differ, is
//! lifted and set down (*stepped*); where a leap in pose is small no bridge is needed and the motions are joined directly. Every bridge is
//! laid between the motions it joins and judged as they are ([`judge`](crate::judge)): what no person does is not used.
//!
//! Actions that are to be found from everywhere are best begun in a pose that many others pass through. These *hub poses* are the
//! nodes that most bridges lead from or to; [`Repaired::hubs`] names them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::{Inertia, Velocity, ease};
use kumite_motion::graph::{Edge, Entry, Graph, Node, NodeIdx, SpanRef, stand};
use kumite_motion::ik::Chain;
use kumite_motion::library::{Library, LibraryError};
use kumite_motion::rotation::{slerp, wrap, yaw_of};
use kumite_motion::volume::{self, Volumes};
use kumite_motion::{
    Clip, ClipIdx, Contacts, EdgeIdx, FrameIdx, Pose, Quat, Role, Roles, Span, SpanKind, Vec2, Vec3, WorldPose, fk,
};

use crate::judge::judge;
use crate::rehearse::rehearse;

/// How a graph is repaired.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairConfig {
    /// Spans of these kinds are all to be in the graph, each in one edge.
    pub kept: Vec<SpanKind>,
    /// Avoidances are to begin within this time of every node, seconds. Infinite asks for nothing.
    pub avoid_within: f32,
    /// Whether after each labelled standing motion each other may follow, through one step at most.
    pub each_follows_each: bool,
    /// Poses farther apart are not bridged: metres, root mean square over the joints once a foot stands on its place.
    pub most_apart: f32,
    /// Poses nearer than this are joined without a bridge, metres.
    pub direct: f32,
    /// Bridges last at most this long, seconds.
    pub longest: f32,
}

impl Default for RepairConfig {
    /// No labelled action is lost. The limits are guesses that the judge and the eye agreed with on the embedded motions and ACCAD.
    fn default() -> RepairConfig {
        RepairConfig {
            kept: vec![SpanKind::Attack, SpanKind::Avoid, SpanKind::Block],
            avoid_within: f32::INFINITY,
            each_follows_each: false,
            most_apart: 0.6,
            direct: 0.07,
            longest: 0.8,
        }
    }
}

impl RepairConfig {
    /// For small libraries of which everything is to be at hand: avoidances at once, and any standing motion after any other.
    pub fn agile() -> RepairConfig {
        RepairConfig { avoid_within: 0.3, each_follows_each: true, ..RepairConfig::default() }
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repaired {
    /// Synthetic motions that were added, and their seconds.
    pub bridges: usize,
    /// Of all bridges together.
    pub bridge_seconds: f32,
    /// Joins that needed no bridge.
    pub joins: usize,
    /// Bridges that no person could do, and that were not used.
    pub implausible: usize,
    /// Poses that two or more bridges lead from or to, the busiest first, with how many do.
    pub hubs: Vec<(Node, usize)>,
    /// What could not be mended, for people.
    pub left: Vec<String>,
}

/// Clips made here begin with this word.
const MARK: &str = "bridge ";

/// Whether a clip is a synthetic bridge.
pub fn is_bridge(clip: &Clip) -> bool {
    clip.name.starts_with(MARK)
}

/// Share of the seconds played on a random walk that are synthetic: `edges` edges from node 0, each way out as likely as the others.
pub fn synthetic_share(library: &Library, edges: usize) -> f32 {
    let graph = library.graph();
    // Knuth's linear congruential generator: the same walk everywhere.
    let mut random = 1u64;
    let (mut node, mut synthetic, mut all) = (NodeIdx(0), 0.0f64, 0.0f64);
    for _ in 0..edges {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let ways = graph.leaving(node);
        let pick = (random >> 33) as usize % ways.len().max(1);
        let Some(edge) = graph.leaving(node).nth(pick) else { break };
        let edge = graph.edge(edge);
        all += f64::from(edge.seconds);
        if is_bridge(library.clip(edge.clip)) {
            synthetic += f64::from(edge.seconds);
        }
        node = edge.to;
    }
    (synthetic / all.max(1e-9)) as f32
}

/// What can be begun: frames of a clip up to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    clip: ClipIdx,
    first: u32,
    last: u32,
    /// Position in the draft's nodes.
    to: usize,
}

/// A graph in the making.
struct Draft {
    clips: Vec<Clip>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Where captured clips end.
    captured: usize,
    feet: Vec<Vec<Stance>>,
    done: Repaired,
    used: BTreeMap<Node, usize>,
    refused: BTreeSet<(Node, ClipIdx, u32)>,
    config: RepairConfig,
    fade: f32,
}

/// One pose as bridging sees it.
#[derive(Clone, Copy, Debug)]
struct Stance {
    /// By role, metres, in the clip's place.
    joints: [Vec3; Role::ALL.len()],
    planted: Contacts,
}

const FEET: [(Role, Role, Contacts); 2] =
    [(Role::LeftAnkle, Role::LeftToe, Contacts::LEFT), (Role::RightAnkle, Role::RightToe, Contacts::RIGHT)];

impl Stance {
    fn at(&self, role: Role) -> Vec3 {
        self.joints[role.joint().at()]
    }

    /// Which way a foot points.
    fn foot_yaw(&self, foot: usize) -> f32 {
        yaw_of(self.at(FEET[foot].1) - self.at(FEET[foot].0))
    }

    /// Which way the hips point.
    fn body_yaw(&self) -> f32 {
        yaw_of((self.at(Role::LeftHip) - self.at(Role::RightHip)).cross(Vec3::Y))
    }

    fn stands(&self, foot: usize) -> bool {
        self.planted.any(FEET[foot].2)
    }
}

fn stances(clip: &Clip) -> Vec<Stance> {
    let detected;
    let contacts = if clip.contacts.len() == clip.frames() {
        &clip.contacts
    } else {
        detected = crate::contacts::detect(clip, &Roles::canonical(), &Anatomy::of_canonical(clip.skeleton()));
        &detected
    };
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    (0..clip.frames())
        .map(|frame| {
            clip.pose(FrameIdx(frame as u32), &mut pose);
            fk::pose(clip.skeleton(), &pose, &mut world);
            let planted = contacts.get(frame).copied().unwrap_or_default();
            Stance { joints: Role::ALL.map(|r| world.position(r.joint())), planted }
        })
        .collect()
}

/// How two poses can be joined.
#[derive(Clone, Copy, Debug)]
struct Fit {
    /// Lays the second over the first.
    align: Planar,
    /// The foot that stays, and how far the other has to go, metres.
    support: usize,
    swing: f32,
    /// Root mean square over the joints, metres.
    apart: f32,
    /// How far the foot that stays turns on its ball, radians.
    pivot: f32,
}

/// The foot that stays may turn on its ball, by these shares of what the body would have to turn otherwise, and by this much at most, radians.
const PIVOTS: [f32; 4] = [0.0, 0.4, 0.7, 1.0];
const MOST_PIVOT: f32 = 1.0;
/// What a radian of that is worth, metres.
const PIVOTING: f32 = 0.08;
/// Turns by less are none, radians.
const TURNS: f32 = 0.07;

/// Lays `b` so that a foot that stands in both stays where it is; of two such feet the one that leaves less to do.
fn fit_of(a: &Stance, b: &Stance) -> Option<Fit> {
    let mut best: Option<Fit> = None;
    for (support, (_, toe, _)) in FEET.iter().enumerate() {
        if !(a.stands(support) && b.stands(support)) {
            continue;
        }
        let held = wrap(a.foot_yaw(support) - b.foot_yaw(support));
        let facing = wrap(held - wrap(a.body_yaw() - b.body_yaw()));
        for share in PIVOTS {
            let pivot = (facing * share).clamp(-MOST_PIVOT, MOST_PIVOT);
            let turn = wrap(held - pivot);
            let turned = Planar { turn, shift: Vec2::ZERO };
            let (stood, stands) = (a.at(*toe), turned.point(b.at(*toe)));
            let align = Planar { turn, shift: Vec2::new(stood.x - stands.x, stood.z - stands.z) };
            let squares: f32 =
                a.joints.iter().zip(&b.joints).map(|(p, q)| (*p - align.point(*q)).length_squared()).sum();
            let other = FEET[1 - support].1;
            let swing = (a.at(other) - align.point(b.at(other))).length();
            let fit = Fit { align, support, swing, apart: libm::sqrtf(squares / a.joints.len() as f32), pivot };
            if best.is_none_or(|b| fit.apart + PIVOTING * fit.pivot.abs() < b.apart + PIVOTING * b.pivot.abs()) {
                best = Some(fit);
            }
        }
    }
    best
}

/// Feet that have less far to go stay where they are, metres.
const STAYS: f32 = 0.03;
/// A bridge takes at least this long, seconds; a step of a metre so much more; the body goes no faster than so many metres per second.
const SHORTEST: f32 = 0.2;
const PER_STEP: f32 = 0.35;
const FASTEST: f32 = 1.1;
/// Feet are lifted by this share of a step, within so many metres.
const LIFT: (f32, f32, f32) = (0.22, 0.03, 0.12);
/// So much of the motions around a bridge is judged with it, seconds.
const CONTEXT: f32 = 0.35;
/// What is too quick to be plausible is tried so many times as slow.
const SLOWER: [f32; 4] = [1.0, 1.25, 1.5, 1.9];
/// Where an avoidance cannot begin in time it begins as much later at most: a frame less than twice the time.
const LATEST: f32 = 1.94;
/// So many candidates are tried for each repair, the nearest first.
const TRIES: usize = 8;

/// What looks bad when it is played is not used again; after so many rounds what is left is left.
const ROUNDS: usize = 4;

/// Repairs a library's graph: bridges and joins are made, played on a stage, and made otherwise where that looks bad. Same library, same
/// result, on any number of threads.
pub fn repair(
    library: &Library,
    fade: f32,
    config: &RepairConfig,
    threads: usize,
) -> Result<(Library, Repaired), LibraryError> {
    let mut refused = BTreeSet::new();
    let mut round = 0;
    loop {
        round += 1;
        let (mended, done) = once(library, fade, config, &refused)?;
        let mended = Arc::new(mended);
        let old: BTreeSet<(Node, ClipIdx, FrameIdx)> = cuts(library, |_| true).map(|c| c.1).collect();
        let new: Vec<(EdgeIdx, (Node, ClipIdx, FrameIdx))> =
            cuts(&mended, |e| e.entry.is_some()).filter(|c| !old.contains(&c.1)).collect();
        let edges: Vec<EdgeIdx> = new.iter().map(|c| c.0).collect();
        let bad: BTreeSet<EdgeIdx> = rehearse(&mended, &edges, threads).into_iter().collect();
        if bad.is_empty() || round == ROUNDS {
            return Ok((Arc::unwrap_or_clone(mended), done));
        }
        for (edge, (node, clip, first)) in new.iter().filter(|c| bad.contains(&c.0)) {
            // A cut into or out of a bridge speaks against the two motions it joins.
            let graph = mended.graph();
            if is_bridge(mended.clip(*clip)) {
                for after in graph.after(*edge) {
                    let after = graph.edge(after);
                    refused.insert((*node, after.clip, after.first.0));
                }
            } else if is_bridge(mended.clip(node.clip)) {
                let end = graph.edge(*edge).from;
                for before in graph.edges().iter().filter(|e| e.to == end) {
                    refused.insert((*graph.node(before.from), *clip, first.0));
                }
            } else {
                refused.insert((*node, *clip, first.0));
            }
        }
    }
}

/// Edges of a library with the node they leave and where they begin.
fn cuts(
    library: &Library,
    which: impl Fn(&Edge) -> bool,
) -> impl Iterator<Item = (EdgeIdx, (Node, ClipIdx, FrameIdx))> {
    let graph = library.graph();
    let edges = graph.edges().iter().enumerate().filter(move |e| which(e.1));
    edges.map(|(i, e)| (EdgeIdx(i as u32), (*graph.node(e.from), e.clip, e.first)))
}

fn once(
    library: &Library,
    fade: f32,
    config: &RepairConfig,
    refused: &BTreeSet<(Node, ClipIdx, u32)>,
) -> Result<(Library, Repaired), LibraryError> {
    let graph = library.graph();
    let clips = library.clips().to_vec();
    let mut draft = Draft {
        captured: clips.len(),
        feet: clips.iter().map(stances).collect(),
        clips,
        nodes: graph.nodes().to_vec(),
        edges: graph.edges().to_vec(),
        done: Repaired::default(),
        used: BTreeMap::new(),
        refused: refused.clone(),
        config: config.clone(),
        fade,
    };
    draft.bring_back();
    if config.each_follows_each {
        draft.follow();
    }
    if config.avoid_within.is_finite() {
        draft.quicken();
    }
    draft.finish(&library.name, library.attribution.clone())
}

impl Draft {
    fn seconds(&self, fit: &Fit, a: &Stance, b: &Stance) -> f32 {
        let body = (a.at(Role::Pelvis) - fit.align.point(b.at(Role::Pelvis))).length();
        let head = (a.at(Role::Head) - fit.align.point(b.at(Role::Head))).length();
        let step = if fit.swing > STAYS { SHORTEST + PER_STEP * fit.swing } else { SHORTEST };
        step.max(body / FASTEST).max(head / (1.5 * FASTEST)).max(0.8 * fit.apart + 0.12)
    }

    fn stance(&self, clip: ClipIdx, frame: u32) -> &Stance {
        let of_clip = &self.feet[clip.at()];
        &of_clip[(frame as usize).min(of_clip.len() - 1)]
    }

    /// Spans that no edge plays whole are entered and left by bridges.
    fn bring_back(&mut self) {
        for clip in 0..self.captured {
            for span in 0..self.clips[clip].spans.len() {
                let s = &self.clips[clip].spans[span];
                if self.config.kept.contains(&s.kind) && !self.plays(clip, s.from, s.to) {
                    let s = s.clone();
                    if !self.bring(ClipIdx(clip as u32), &s) {
                        let name = &self.clips[clip].name;
                        let left = format!(
                            "{} {} of {name} at {:.2} s has no plausible way in or out",
                            s.kind.name(),
                            s.label,
                            s.from
                        );
                        self.done.left.push(left);
                    }
                }
            }
        }
    }

    fn plays(&self, clip: usize, from: f32, to: f32) -> bool {
        let fps = self.clips[clip].fps();
        let last = (self.clips[clip].frames() - 1) as f32;
        self.edges.iter().any(|e| {
            e.clip.at() == clip
                && e.first.0 as f32 <= from * fps + 1e-3
                && e.last.0 as f32 >= (to * fps).min(last) - 1e-3
        })
    }

    /// Frames where a span may be entered, or left, nearest to it first: on a foot, and in no other unbroken span.
    fn doors(&self, clip: ClipIdx, at: f32, step: i64) -> Vec<u32> {
        let c = &self.clips[clip.at()];
        let fps = c.fps();
        let start = if step < 0 { libm::floorf(at * fps + 1e-3) } else { libm::ceilf(at * fps - 1e-3) } as i64;
        let last = c.frames() as i64 - 1;
        let inside = |f: i64| {
            let t = f as f32 / fps;
            let within = |s: &Span| self.config.kept.contains(&s.kind) && s.from + 1e-3 < t && t < s.to - 1e-3;
            c.spans.iter().any(within)
        };
        let mut doors = Vec::new();
        let mut f = start.clamp(0, last);
        while (0..=last).contains(&f) && doors.len() < 5 && !inside(f) && (f - start).abs() as f32 <= 0.6 * fps {
            let stance = self.stance(clip, f as u32);
            if stance.stands(0) || stance.stands(1) {
                doors.push(f as u32);
            }
            f += step * (0.12 * fps) as i64;
        }
        doors
    }

    fn bring(&mut self, clip: ClipIdx, span: &Span) -> bool {
        let (ins, outs) = (self.doors(clip, span.from, -1), self.doors(clip, span.to, 1));
        for &out in &outs {
            if out == 0 {
                continue;
            }
            let node = Node { clip, frame: FrameIdx(out) };
            let (nodes, edges, clips) = (self.nodes.len(), self.edges.len(), self.clips.len());
            let (done, used) = (self.done.clone(), self.used.clone());
            let to = self.node(node);
            for &first in &ins {
                if first >= out {
                    continue;
                }
                let target = Target { clip, first, last: out, to };
                let left = self.leaves(to) || self.way_out(to);
                if left && self.way_in(target) {
                    return true;
                }
            }
            self.nodes.truncate(nodes);
            self.edges.truncate(edges);
            self.clips.truncate(clips);
            self.feet.truncate(clips);
            (self.done, self.used) = (done, used);
        }
        false
    }

    fn node(&mut self, node: Node) -> usize {
        match self.nodes.iter().position(|n| *n == node) {
            Some(at) => at,
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }

    fn leaves(&self, node: usize) -> bool {
        self.edges.iter().any(|e| e.from.at() == node)
    }

    /// Whatever other edges begin with, of captured clips.
    fn targets(&self) -> Vec<Target> {
        let all: BTreeSet<Target> = self
            .edges
            .iter()
            .filter(|e| e.clip.at() < self.captured)
            .map(|e| Target { clip: e.clip, first: e.first.0, last: e.last.0, to: e.to.at() })
            .collect();
        all.into_iter().collect()
    }

    fn way_out(&mut self, from: usize) -> bool {
        let targets = self.targets();
        self.best_of(targets.into_iter().map(|t| (from, t)).collect(), self.config.longest)
    }

    fn way_in(&mut self, target: Target) -> bool {
        let from: Vec<usize> = (0..self.nodes.len())
            .filter(|n| self.nodes[*n].clip.at() < self.captured && self.leaves(*n) && *n != target.to)
            .collect();
        self.best_of(from.into_iter().map(|n| (n, target)).collect(), self.config.longest)
    }

    /// Takes the nearest of some joins that a person could do.
    fn best_of(&mut self, joins: Vec<(usize, Target)>, longest: f32) -> bool {
        let mut fits: Vec<(f32, usize, Target, Fit)> = Vec::new();
        for (from, target) in joins {
            let node = self.nodes[from];
            let (a, b) = (*self.stance(node.clip, node.frame.0), *self.stance(target.clip, target.first));
            let Some(fit) = fit_of(&a, &b) else { continue };
            let seconds = self.seconds(&fit, &a, &b);
            if fit.apart <= self.config.most_apart && seconds <= longest {
                fits.push((fit.apart + 0.3 * seconds, from, target, fit));
            }
        }
        fits.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        fits.truncate(TRIES);
        fits.into_iter().any(|(_, from, target, fit)| self.join(from, target, &fit, longest))
    }

    /// Joins a node and what follows, by a bridge if they are far apart. Whether a person could do it.
    fn join(&mut self, from: usize, target: Target, fit: &Fit, longest: f32) -> bool {
        let node = self.nodes[from];
        if self.refused.contains(&(node, target.clip, target.first)) {
            return false;
        }
        if fit.apart <= self.config.direct && fit.swing <= 2.0 * STAYS && fit.pivot.abs() <= TURNS {
            self.edge(from, target, Some(Entry { blend: self.fade, align: fit.align, distance: fit.apart }));
            self.done.joins += 1;
            return true;
        }
        // A bridge that is there already may end where this one would.
        let b = *self.stance(target.clip, target.first);
        let ends: Vec<usize> = self
            .edges
            .iter()
            .filter(|e| e.from.at() == from && e.clip.at() >= self.captured)
            .map(|e| e.to.at())
            .collect();
        for end in ends {
            let n = self.nodes[end];
            let near = fit_of(self.stance(n.clip, n.frame.0), &b);
            if let Some(near) =
                near.filter(|f| f.apart <= self.config.direct && f.swing <= 2.0 * STAYS && f.pivot.abs() <= TURNS)
            {
                self.edge(end, target, Some(Entry { blend: self.fade, align: near.align, distance: near.apart }));
                self.done.joins += 1;
                return true;
            }
        }
        let a = *self.stance(node.clip, node.frame.0);
        let shortest = self.seconds(fit, &a, &b);
        let slower = SLOWER.iter().map(|s| (s * shortest).min(longest.max(shortest)));
        let Some(bridge) = slower.into_iter().find_map(|seconds| self.bridge(node, target, fit, seconds)) else {
            self.refused.insert((node, target.clip, target.first));
            self.done.implausible += 1;
            return false;
        };
        let seconds = bridge.seconds();
        let last = bridge.frames() as u32 - 1;
        let clip = ClipIdx(self.clips.len() as u32);
        self.feet.push(stances(&bridge));
        self.clips.push(bridge);
        self.nodes.push(Node { clip, frame: FrameIdx(last) });
        let end = self.nodes.len() - 1;
        let entry = Entry { blend: 0.5 * self.fade, align: Planar::IDENTITY, distance: 0.0 };
        self.edge(from, Target { clip, first: 0, last, to: end }, Some(entry));
        self.edge(end, target, Some(Entry { blend: self.fade, align: fit.align, distance: 0.0 }));
        *self.used.entry(node).or_default() += 1;
        *self.used.entry(Node { clip: target.clip, frame: FrameIdx(target.first) }).or_default() += 1;
        self.done.bridges += 1;
        self.done.bridge_seconds += seconds;
        true
    }

    fn edge(&mut self, from: usize, target: Target, entry: Option<Entry>) {
        let clip = &self.clips[target.clip.at()];
        let (first, last) = (FrameIdx(target.first), FrameIdx(target.last));
        let seconds = (target.last - target.first) as f32 / clip.fps();
        let displacement = stand(clip, first).inverse().after(&stand(clip, last));
        let (from, to) = (NodeIdx(from as u32), NodeIdx(target.to as u32));
        self.edges.push(Edge::new(from, to, (target.clip, first, last), entry, seconds, displacement));
    }

    /// The synthetic motion from a node to what follows, in the place of the node's clip; `None` if no person does that.
    fn bridge(&self, node: Node, target: Target, fit: &Fit, seconds: f32) -> Option<Clip> {
        let (from, to) = (&self.clips[node.clip.at()], &self.clips[target.clip.at()]);
        let fps = from.fps();
        let skeleton = from.skeleton();
        let (a, b) = (self.stance(node.clip, node.frame.0), self.stance(target.clip, target.first));
        let frames = (libm::roundf(seconds * fps) as usize).max(4);
        let seconds = frames as f32 / fps;
        let pose = |clip: &Clip, frame: u32| {
            let mut pose = Pose::default();
            clip.pose(FrameIdx(frame.min(clip.frames() as u32 - 1)), &mut pose);
            pose
        };
        let speed = |clip: &Clip, frame: u32| {
            let (x, y) = if frame == 0 { (0, 1) } else { (frame - 1, frame) };
            Velocity::between(&pose(clip, x), &pose(clip, y), 1.0 / clip.fps())
        };
        let left = pose(from, node.frame.0);
        let mut entered = pose(to, target.first);
        fit.align.apply(&mut entered);
        let still = Velocity {
            translations: vec![Vec3::ZERO; entered.translations.len()],
            rotations: vec![Vec3::ZERO; entered.rotations.len()],
        };
        let inertia = Inertia::new(&left, &speed(from, node.frame.0), &entered, &still, seconds);
        let world_of = |pose: &Pose| {
            let mut world = WorldPose::default();
            fk::pose(skeleton, pose, &mut world);
            world
        };
        let (world_a, world_b) = (world_of(&left), world_of(&entered));
        let before = (node.frame.0 > 0).then(|| world_of(&pose(from, node.frame.0 - 1)));
        let lifted = (LIFT.0 * fit.swing).clamp(LIFT.1, LIFT.2);
        let mut contacts = Vec::with_capacity(frames + 1);
        let made = Clip::from_fn(
            &format!("{MARK}{} to {}", from.name, to.name),
            Arc::clone(skeleton),
            fps,
            frames + 1,
            |frame, out| {
                let t = frame as f32 / fps;
                let u = frame as f32 / frames as f32;
                out.clone_from(&entered);
                inertia.apply(t, out);
                let mut world = world_of(out);
                let mut planted = Contacts::NONE;
                for (foot, (ankle, toe, parts)) in FEET.into_iter().enumerate() {
                    let Some(chain) = Chain::of_canonical(ankle) else { continue };
                    let (toe_a, toe_b) = (world_a.position(toe.joint()), world_b.position(toe.joint()));
                    let stays = foot == fit.support || (a.stands(foot) && b.stands(foot) && fit.swing <= STAYS);
                    let at = if stays {
                        let bits = if u < 0.5 { a.planted.bits() } else { b.planted.bits() };
                        // Who turns stands on the ball.
                        let turns = foot == fit.support && fit.pivot.abs() > TURNS;
                        let toes = Contacts::LEFT_TOE.with(Contacts::RIGHT_TOE).bits();
                        let bits = if turns { toes } else { bits };
                        planted = planted.with(Contacts::from_bits(bits & parts.bits()));
                        // The ball is held; only its height goes over to where it will be.
                        Vec3::new(toe_a.x, toe_a.y + (toe_b.y - toe_a.y) * ease(u), toe_a.z)
                    } else {
                        let leaves = if a.stands(foot) { 0.08 } else { 0.0 };
                        if u <= leaves && a.stands(foot) {
                            planted = planted.with(Contacts::from_bits(a.planted.bits() & parts.bits()));
                        } else if u >= 0.94 && b.stands(foot) {
                            planted = planted.with(Contacts::from_bits(b.planted.bits() & parts.bits()));
                        }
                        let s = ((u - leaves) / (0.94 - leaves)).clamp(0.0, 1.0);
                        let (keep, drift) = fade_out(s, seconds * (0.94 - leaves));
                        let velocity = match &before {
                            Some(before) if !a.stands(foot) => (toe_a - before.position(toe.joint())) * fps,
                            _ => Vec3::ZERO,
                        };
                        let sine = libm::sinf(std::f32::consts::PI * s);
                        let way = toe_b + (toe_a - toe_b) * keep + velocity * drift + Vec3::Y * (lifted * sine * sine);
                        // Through the floor goes nobody.
                        Vec3::new(way.x, way.y.max(toe_a.y.min(toe_b.y)), way.z)
                    };
                    let attitude: Quat =
                        slerp(world_a.rotation(ankle.joint()), world_b.rotation(ankle.joint()), ease(u));
                    let Some(knee) = ankle.parent() else { continue };
                    out.rotations[ankle.joint().at()] =
                        (world.rotation(knee.joint()).conjugate() * attitude).normalize();
                    fk::pose(skeleton, out, &mut world);
                    let off = world.position(toe.joint()) - world.position(ankle.joint());
                    chain.reach(skeleton, at - off, out, &mut world);
                }
                contacts.push(planted);
            },
        );
        let mut made = made.ok()?;
        made.contacts = contacts;
        self.plausible(node, target, fit, &made).then_some(made)
    }

    /// Judged between what comes before and after; faults of the captures themselves do not count.
    fn plausible(&self, node: Node, target: Target, fit: &Fit, bridge: &Clip) -> bool {
        let (from, to) = (&self.clips[node.clip.at()], &self.clips[target.clip.at()]);
        let context = (CONTEXT * from.fps()) as usize;
        let before = node.frame.at().min(context);
        let after = (to.frames() - 1 - target.first as usize).min(context);
        let middle = before..before + bridge.frames();
        let mut contacts = Vec::new();
        let clip = Clip::from_fn(
            "bridged",
            Arc::clone(from.skeleton()),
            from.fps(),
            before + bridge.frames() + after,
            |frame, out| {
                if frame < middle.start {
                    let at = node.frame.at() - before + frame;
                    from.pose(FrameIdx(at as u32), out);
                    contacts.push(self.stance(node.clip, at as u32).planted);
                } else if frame < middle.end {
                    bridge.pose(FrameIdx((frame - middle.start) as u32), out);
                    contacts.push(bridge.contacts[frame - middle.start]);
                } else {
                    let at = target.first + 1 + (frame - middle.end) as u32;
                    to.pose(FrameIdx(at), out);
                    fit.align.apply(out);
                    contacts.push(self.stance(target.clip, at).planted);
                }
            },
        );
        let Ok(mut clip) = clip else { return false };
        clip.contacts = contacts;
        let verdict = judge(&clip, &Roles::canonical(), &Anatomy::of_canonical(clip.skeleton()));
        // The join after the bridge is softened when it is played: there only what lasts counts.
        let own = middle.start..middle.end.saturating_sub(2);
        !verdict.faults().any(|f| own.contains(&f.frame))
    }

    /// From nodes that are too far from any avoidance, one is begun at once.
    fn quicken(&mut self) {
        let starts = self.avoidances();
        if starts.is_empty() {
            return;
        }
        // Ends of bridges that come in on the way are close to what they lead to, and are looked at too.
        let mut node = 0;
        while node < self.nodes.len() {
            node += 1;
            let node = node - 1;
            if self.soonest(node, &starts) <= self.config.avoid_within {
                continue;
            }
            let joins = starts.iter().map(|t| (node, *t)).collect();
            if !self.best_of(joins, LATEST * self.config.avoid_within) {
                let n = self.nodes[node];
                let name = &self.clips[n.clip.at()].name;
                self.done.left.push(format!(
                    "an avoidance begins late from {name} at {:.2} s",
                    n.frame.0 as f32 / self.clips[n.clip.at()].fps()
                ));
            }
        }
    }

    /// Edges that play an avoidance, begun as late as they may be.
    fn avoidances(&self) -> Vec<Target> {
        let mut found = BTreeSet::new();
        for edge in self.edges.iter().filter(|e| e.clip.at() < self.captured) {
            let clip = &self.clips[edge.clip.at()];
            for span in clip.spans.iter().filter(|s| s.kind == SpanKind::Avoid) {
                let (from, to) = (libm::floorf(span.from * clip.fps() + 1e-3) as u32, span.to * clip.fps());
                let last = edge.last.0 as f32 >= to.min((clip.frames() - 1) as f32) - 1e-3;
                let stands = |f: u32| self.stance(edge.clip, f).stands(0) || self.stance(edge.clip, f).stands(1);
                if edge.first.0 <= from && last && stands(from) {
                    found.insert(Target { clip: edge.clip, first: from, last: edge.last.0, to: edge.to.at() });
                }
            }
        }
        found.into_iter().collect()
    }

    /// Seconds from a node to the start of an avoidance, one or two edges on.
    fn soonest(&self, node: usize, starts: &[Target]) -> f32 {
        let begins = |e: &Edge| {
            let fps = self.clips[e.clip.at()].fps();
            let t = starts.iter().filter(|t| t.clip == e.clip && e.first.0 <= t.first && t.last <= e.last.0);
            t.map(|t| (t.first - e.first.0) as f32 / fps).fold(f32::INFINITY, f32::min)
        };
        let leaving = |n: usize| self.edges.iter().filter(move |e| e.from.at() == n);
        leaving(node)
            .map(|e| begins(e).min(e.seconds + leaving(e.to.at()).map(&begins).fold(f32::INFINITY, f32::min)))
            .fold(f32::INFINITY, f32::min)
    }

    /// After each labelled standing motion each other can follow, through one edge in between at most.
    fn follow(&mut self) {
        let motions = self.motions();
        for (_, _, one) in &motions {
            for (clip, span, other) in &motions {
                if one.iter().any(|t| self.follows(t.to, *clip, *span)) {
                    continue;
                }
                let joins = one.iter().flat_map(|a| other.iter().map(move |b| (a.to, *b))).collect();
                let longest = self.config.longest;
                if !self.best_of(joins, longest) {
                    let name = |t: &[Target]| t.first().map_or("", |t| &self.clips[t.clip.at()].name).to_owned();
                    self.done.left.push(format!("{} cannot follow {}", name(other), name(one)));
                }
            }
        }
    }

    /// The longest span of each clip, with the edges that play it.
    fn motions(&self) -> Vec<(ClipIdx, usize, Vec<Target>)> {
        let mut motions = Vec::new();
        for (index, clip) in self.clips[..self.captured].iter().enumerate() {
            let length = |s: usize| clip.spans[s].to - clip.spans[s].from;
            let Some(span) = (0..clip.spans.len()).max_by(|&a, &b| length(a).total_cmp(&length(b))) else { continue };
            let clip_idx = ClipIdx(index as u32);
            let playing = self.edges.iter().filter(|e| self.shows(e, clip_idx, span));
            let target = |e: &Edge| Target { clip: e.clip, first: e.first.0, last: e.last.0, to: e.to.at() };
            let playing: BTreeSet<Target> = playing.map(target).collect();
            if !playing.is_empty() {
                motions.push((clip_idx, span, playing.into_iter().collect()));
            }
        }
        motions
    }

    /// Whether an edge plays a span: all of an action, a good part of what goes on and on.
    fn shows(&self, edge: &Edge, clip: ClipIdx, span: usize) -> bool {
        let c = &self.clips[clip.at()];
        let s = &c.spans[span];
        if edge.clip != clip {
            return false;
        }
        if self.config.kept.contains(&s.kind) {
            return crate::graph::span_in(c, s.from, s.to, edge.first.0, edge.last.0) == Some(true);
        }
        let (first, last) = (edge.first.0 as f32 / c.fps(), edge.last.0 as f32 / c.fps());
        last.min(s.to) - first.max(s.from) >= 0.3f32.min(0.5 * (s.to - s.from))
    }

    fn follows(&self, node: usize, clip: ClipIdx, span: usize) -> bool {
        let leaving = |n: usize| self.edges.iter().filter(move |e| e.from.at() == n);
        leaving(node).any(|e| self.shows(e, clip, span) || leaving(e.to.at()).any(|e| self.shows(e, clip, span)))
    }

    fn finish(mut self, name: &str, attribution: Vec<String>) -> Result<(Library, Repaired), LibraryError> {
        let mut hubs: Vec<(Node, usize)> = self.used.iter().filter(|u| *u.1 > 1).map(|u| (*u.0, *u.1)).collect();
        hubs.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        self.done.hubs = hubs;
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|n| self.nodes[*n]);
        let mut place = vec![NodeIdx(0); order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = NodeIdx(new as u32));
        let nodes = order.iter().map(|&n| self.nodes[n]).collect();
        let clips = self.clips;
        let edges = self.edges.into_iter().map(|e| {
            let clip = &clips[e.clip.at()];
            let spans = clip.spans.iter().enumerate().filter_map(|(index, s)| {
                let whole = crate::graph::span_in(clip, s.from, s.to, e.first.0, e.last.0)?;
                Some(SpanRef { span: index as u32, whole })
            });
            let range = (e.clip, e.first, e.last);
            let edge = Edge::new(place[e.from.at()], place[e.to.at()], range, e.entry, e.seconds, e.displacement);
            (edge, spans.collect())
        });
        let edges: Vec<(Edge, Vec<SpanRef>)> = edges.collect();
        let graph = Graph::new(nodes, edges).map_err(|_| LibraryError::OtherGraph { edge: 0 })?;
        let spheres = volume::fit(clips[0].skeleton(), &Roles::canonical());
        let volumes = Volumes::of(&graph, &clips, spheres);
        let mut library = Library::new(name, clips, graph, volumes)?;
        library.attribution = attribution;
        Ok((library, self.done))
    }
}

/// Weights of an offset and of its speed, `s` of the way through `whole` seconds: as in inertialised joins.
fn fade_out(s: f32, whole: f32) -> (f32, f32) {
    let rest = 1.0 - s;
    let cube = rest * rest * rest;
    (cube * (1.0 + 3.0 * s + 6.0 * s * s), whole * s * cube * (1.0 + 3.0 * s))
}

/// Seconds from each node to the start of the nearest span of a kind that is played whole, by the shortest way; infinite where there is none.
pub fn seconds_until(library: &Library, kind: SpanKind) -> Vec<f32> {
    let graph = library.graph();
    let mut seconds = vec![f32::INFINITY; graph.nodes().len()];
    for (index, edge) in graph.edges().iter().enumerate() {
        let clip = library.clip(edge.clip);
        for span in graph.spans(EdgeIdx(index as u32)).iter().filter(|s| s.whole) {
            let span = &clip.spans[span.span as usize];
            if span.kind == kind {
                let lead = (span.from - edge.first.0 as f32 / clip.fps()).max(0.0);
                seconds[edge.from.at()] = seconds[edge.from.at()].min(lead);
            }
        }
    }
    crate::graph::carried_back(graph, seconds)
}
