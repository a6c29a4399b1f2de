//! What a library has for somebody who was hit: steps that catch a push, falls, ways to get up, and where any pose can go on.

use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::library::Library;
use kumite_motion::rotation::{yaw, yaw_of};
use kumite_motion::{EdgeIdx, FrameIdx, Layer, Pose, Role, SpanKind, Vec2, Vec3, WorldPose, fk, sample};
use kumite_react::Touch;
use kumite_react::nearest::{Features, Nearest, features};
use kumite_react::ragdoll::Build;

use crate::kit::{self, Reaction};
use crate::{Character, TICKS};

/// Shortest way that counts as a step, metres.
const STEP: f32 = 0.12;
/// A body is on its feet if its pelvis is higher than this, metres.
const UPRIGHT: f32 = 0.6;
/// How much of the beginning of a way to get up can be joined, seconds, and at which moments of it.
const FIRST: f32 = 0.3;
const MOMENTS: usize = 4;
/// Frames of the search are taken this often, by second.
const RATE: f32 = 30.0;
/// Radians that a motion may be turned from where its body faces, so that it goes the way of a push: 24 degrees. More looks as if it had been hit from another side.
const TURNS: f32 = 0.42;
/// What a recovery costs: one metre too far or too short is `1 / WAY`, a radian aside `ASIDE`, and a step that is no reaction `STEPS`. Which way it goes counts before how
/// far: bystanders read the side of a hit from it.
const WAY: f32 = 2.0;
const ASIDE: f32 = 3.0;
const STEPS: f32 = 4.0;

/// A motion that answers a push.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovery {
    /// Which edge.
    pub edge: EdgeIdx,
    /// Seconds after its first frame at which it is entered, and at which what it is for is over.
    pub enter: f32,
    pub(crate) over: f32,
    /// In its label's words.
    pub label: String,
    /// Where it goes, seen from where its body [faces](facing) when it is entered: to the left and ahead, metres.
    pub way: Vec2,
    /// Whether it is a reaction, not something that anybody does unasked.
    reacts: bool,
}

/// A moment of a way to get up.
#[derive(Clone, Debug, PartialEq)]
struct Lying {
    rise: usize,
    enter: f32,
    world: WorldPose,
}

/// Everything for somebody who was hit.
#[derive(Clone, Debug, Default)]
pub struct Recoveries {
    build: Option<Arc<Build>>,
    steps: Vec<Recovery>,
    falls: Vec<Recovery>,
    rises: Vec<Recovery>,
    lying: Vec<Lying>,
    reactions: Vec<Reaction>,
    nearest: Nearest,
    /// Edge and seconds after its first frame of each frame of the search.
    moments: Vec<(EdgeIdx, f32)>,
}

impl Recoveries {
    /// Of the fighters' part of a library.
    pub fn of(library: &Arc<Library>) -> Recoveries {
        let mut all = Recoveries {
            build: Build::of(library.skeleton(), library.spheres()).map(Arc::new),
            reactions: kit::reactions(library),
            ..Recoveries::default()
        };
        if all.build.is_none() {
            return Recoveries::default();
        }
        let graph = library.graph();
        for edge in graph.edges_of(Layer::Fight) {
            let played = graph.edge(edge);
            let clip = library.clip(played.clip);
            let first = played.first.at() as f32 / clip.fps();
            for span in graph.spans(edge).iter().map(|s| &clip.spans[s.span as usize]) {
                let enter = (span.from - first).max(0.0);
                let over = (span.to - first).min(played.seconds);
                if over <= enter {
                    continue;
                }
                let label = if span.label.is_empty() { clip.name.clone() } else { span.label.clone() };
                let place = |time: f32| world_at(library, edge, time);
                let (start, end) = (place(enter), place(over));
                let way = |role: Role| way(&start, &end, role);
                let high = |world: &WorldPose| world.position(Role::Pelvis.joint()).y > UPRIGHT;
                let reacts = span.kind == SpanKind::React;
                let found = |way: Vec2| Recovery { edge, enter, over, label: label.clone(), way, reacts };
                match span.kind {
                    SpanKind::React | SpanKind::Step if high(&end) && way(Role::Pelvis).length() > STEP => {
                        all.steps.push(found(way(Role::Pelvis)));
                    }
                    SpanKind::Down if high(&start) && !high(&end) => all.falls.push(found(way(Role::Head))),
                    SpanKind::Up if !high(&start) && high(&end) => all.rises.push(found(way(Role::Pelvis))),
                    _ => {}
                }
            }
        }
        all.lie_down(library);
        all.index(library);
        all
    }

    /// The beginnings of the ways to get up.
    fn lie_down(&mut self, library: &Arc<Library>) {
        for (rise, recovery) in self.rises.iter().enumerate() {
            for k in 0..=MOMENTS {
                let enter = recovery.enter + FIRST * k as f32 / MOMENTS as f32;
                if enter < recovery.over {
                    self.lying.push(Lying { rise, enter, world: world_at(library, recovery.edge, enter) });
                }
            }
        }
    }

    /// Frames that can be gone on from.
    fn index(&mut self, library: &Arc<Library>) {
        let graph = library.graph();
        let mut frames: Vec<Features> = Vec::new();
        for edge in graph.edges_of(Layer::Fight) {
            let clip = library.clip(graph.edge(edge).clip);
            let strikes = |kind: SpanKind| matches!(kind, SpanKind::Attack | SpanKind::Down);
            if clip.spans.iter().any(|span| strikes(span.kind)) {
                continue;
            }
            let count = (graph.edge(edge).seconds * RATE) as usize;
            for k in 0..count {
                let time = k as f32 / RATE;
                let tick = 1.0 / TICKS as f32;
                let (now, before) = (world_at(library, edge, time), world_at(library, edge, time - tick));
                frames.push(features(&now, &before, tick));
                self.moments.push((edge, time));
            }
        }
        self.nearest = Nearest::new(frames);
    }

    /// What bodies are made of; `None` if they cannot be simulated.
    pub fn build(&self) -> Option<&Arc<Build>> {
        self.build.as_ref()
    }

    /// Motions that catch a push.
    pub fn steps(&self) -> &[Recovery] {
        &self.steps
    }

    /// Falls.
    pub fn falls(&self) -> &[Recovery] {
        &self.falls
    }

    /// Ways to get up.
    pub fn rises(&self) -> &[Recovery] {
        &self.rises
    }

    /// The reaction to a hit that needs no steps.
    pub(crate) fn reaction(&self, character: &Character, touch: &Touch) -> Option<&Reaction> {
        kit::reaction_to(&self.reactions, character, touch.part, -touch.normal, touch.change())
    }

    /// Steps that go most nearly where a push wants to, seen from where the body faces; reactions before others.
    pub(crate) fn step(&self, wanted: Vec2) -> Option<&Recovery> {
        let cost = |r: &Recovery| {
            let staggers = r.label.starts_with("stagger");
            // A reaction to a hit elsewhere is hardly better than a step that anybody takes.
            let steps = if staggers { 0.0 } else { STEPS * if r.reacts { 0.75 } else { 1.0 } };
            (r.way.length() - wanted.length()).abs() / WAY + steps + ASIDE * turn_to(r.way, wanted).abs()
        };
        self.steps.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// The fall that goes most nearly the way of a push.
    pub(crate) fn fall(&self, wanted: Vec2) -> Option<&Recovery> {
        let cost = |r: &Recovery| turn_to(r.way, wanted).abs();
        self.falls.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }

    /// The way to get up whose beginning is nearest to a body that lies: which, the moment to join it, where it lies on the stage, and how far it is,
    /// metres.
    pub(crate) fn rise(&self, shown: &WorldPose) -> Option<(&Recovery, f32, Planar, f32)> {
        let mut best: Option<(&Recovery, f32, Planar, f32)> = None;
        for lying in &self.lying {
            let laid = lay_over(&lying.world, shown);
            let off = distance(&lying.world, shown, &laid);
            if best.as_ref().is_none_or(|b| off < b.3) {
                best = Some((&self.rises[lying.rise], lying.enter, laid, off));
            }
        }
        best
    }

    /// Where the library goes on most like this: edge, seconds after its first frame, and how far it is.
    pub fn find(&self, wanted: &Features) -> Option<(EdgeIdx, f32, f32)> {
        let (frame, off) = self.nearest.find(wanted)?;
        let (edge, time) = *self.moments.get(frame)?;
        Some((edge, time, off))
    }

    /// Frames that are searched.
    pub fn searched(&self) -> usize {
        self.nearest.len()
    }
}

/// The angle from one way to another, radians.
pub(crate) fn turn_to(from: Vec2, to: Vec2) -> f32 {
    libm::atan2f(from.x * to.y - from.y * to.x, from.dot(to))
}

/// By how much a motion that goes `way` is turned so that it goes more as wanted, radians about +Y.
pub(crate) fn turned(way: Vec2, wanted: Vec2) -> f32 {
    // Ways are x and z: seen from above a turn about +Y leads from z to x.
    (-turn_to(way, wanted)).clamp(-TURNS, TURNS)
}

/// Where a body faces, as a turn about the vertical: between pelvis, chest and head. Who keeps a guard up has its pelvis aside by 30 degrees and looks ahead, who walks has both
/// ahead: by either alone one would be laid over the other turned away.
pub(crate) fn facing(world: &WorldPose) -> f32 {
    let ahead = [Role::Pelvis, Role::Back, Role::Head].map(|role| {
        let way = world.rotation(role.joint()) * Vec3::Z;
        Vec3::new(way.x, 0.0, way.z).normalize_or(Vec3::ZERO)
    });
    yaw_of(ahead[0] + ahead[1] + ahead[2])
}

/// The same of a moment of an edge, on the ground of its clip.
pub(crate) fn faces_at(library: &Library, edge: EdgeIdx, time: f32) -> f32 {
    facing(&world_at(library, edge, time))
}

/// Where a joint goes, seen from where the body faces at first.
fn way(start: &WorldPose, end: &WorldPose, role: Role) -> Vec2 {
    let facing = facing(start);
    let gone = yaw(-facing) * (end.position(role.joint()) - start.position(role.joint()));
    Vec2::new(gone.x, gone.z)
}

fn world_at(library: &Library, edge: EdgeIdx, time: f32) -> WorldPose {
    let played = library.graph().edge(edge);
    let clip = library.clip(played.clip);
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    sample::pose_at(clip, (played.first.at() as f32 / clip.fps() + time).max(0.0), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    world
}

/// Joints that say how a body lies.
const LIE: [Role; 9] = [
    Role::Pelvis,
    Role::Back,
    Role::Head,
    Role::LeftWrist,
    Role::RightWrist,
    Role::LeftKnee,
    Role::RightKnee,
    Role::LeftAnkle,
    Role::RightAnkle,
];

/// The turn and shift on the ground that lays one body over another, by least squares (Kovar, Gleicher and Pighin 2002).
pub(crate) fn lay_over(from: &WorldPose, to: &WorldPose) -> Planar {
    let flat = |world: &WorldPose, role: Role| {
        let p = world.position(role.joint());
        Vec2::new(p.x, p.z)
    };
    let count = LIE.len() as f32;
    let middle = |world: &WorldPose| LIE.iter().map(|r| flat(world, *r)).fold(Vec2::ZERO, |a, b| a + b) / count;
    let (a, b) = (middle(from), middle(to));
    let (mut cross, mut dot) = (0.0, 0.0);
    for role in LIE {
        let (p, q) = (flat(from, role) - a, flat(to, role) - b);
        // About +Y: z turns to x.
        cross += p.y * q.x - p.x * q.y;
        dot += p.dot(q);
    }
    let turn = libm::atan2f(cross, dot);
    let about = Planar { turn, shift: Vec2::ZERO }.point(Vec3::new(a.x, 0.0, a.y));
    Planar { turn, shift: b - Vec2::new(about.x, about.z) }
}

/// Root mean square of distances once one body is laid over the other, metres.
fn distance(from: &WorldPose, to: &WorldPose, laid: &Planar) -> f32 {
    let one = |role: &Role| (laid.point(from.position(role.joint())) - to.position(role.joint())).length_squared();
    (LIE.iter().map(one).sum::<f32>() / LIE.len() as f32).sqrt()
}

/// The frame of a clip some seconds after an edge's first.
pub(crate) fn frame_of(library: &Library, edge: EdgeIdx, enter: f32) -> FrameIdx {
    let played = library.graph().edge(edge);
    FrameIdx(played.first.0 + (enter * library.clip(played.clip).fps()) as u32)
}
