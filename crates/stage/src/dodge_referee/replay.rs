//! What a plan looks like, worked out by the referee: which clip is shown when, where it lies on the floor, what is left of each join, and
//! the bend. A function of time, where the stage's character is a state that is stepped.
//!
//! Shared with the stage are the clips and the graph, sampling between frames, forward kinematics, and planted feet. Feet are shared because
//! they cannot be worked out from a decision: where a foot stands depends on every hold, step and sinking of the hips since the character came on, and
//! what it does next is the rule in `feet` itself, not a formula that could be written a second way. The replay goes on from a copy of those holds.

use std::collections::VecDeque;
use std::f32::consts::PI;
use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::feet::{Feet, GRIP};
use kumite_motion::graph::EdgeIdx;
use kumite_motion::library::Library;
use kumite_motion::rotation::{about, from_vector, to_vector, twist_angle};
use kumite_motion::{ClipIdx, Pose, Quat, Role, Vec3, WorldPose, fk, humanoid, sample};
use kumite_plan::{Bend, Leg};

use super::bend::bend_pose;
use super::schedule::Schedule;
use crate::character::TICK;
use crate::{Character, TICKS};

/// How long the join into a new plan takes when it replaces a bend, seconds.
const REPLACES_BEND: f32 = 1.0 / 3.0;

/// What is played from now on.
pub(super) struct Script<'a> {
    /// Path seconds from now at which what is being played is left; `None` at the end of its edge.
    pub(super) leave: Option<f32>,
    pub(super) legs: Vec<Leg>,
    /// Edges after the legs; then the first that leaves each node.
    pub(super) ahead: &'a [Leg],
    /// Its time, and how much of that is past, seconds.
    pub(super) schedule: Schedule,
    pub(super) past: f32,
    /// A bend, and how long ago its times began, seconds.
    pub(super) bend: Option<(Bend, f32)>,
    /// Whether it replaces what was being played, bend and all, by a join from what is shown.
    pub(super) replaces: bool,
}

/// A range of a clip on the stage.
struct Piece {
    /// Path seconds from now.
    begins: f32,
    ends: f32,
    edge: EdgeIdx,
    clip: ClipIdx,
    /// Clip seconds at `begins`.
    clip_time: f32,
    place: Planar,
    join: Option<Offset>,
}

/// What a join adds to a motion: an offset per joint and its speed, which fade away.
#[derive(Clone)]
struct Offset {
    /// Stage seconds from now.
    began: f32,
    seconds: f32,
    places: Vec<(Vec3, Vec3)>,
    turns: Vec<(Vec3, Vec3)>,
}

impl Offset {
    /// From a motion into another; each is given by two poses a tick apart, of which `old[1]` and `new[0]` are shown at the same moment.
    fn between(old: [&Pose; 2], new: [&Pose; 2], began: f32, seconds: f32) -> Offset {
        let place = |m: usize| {
            let at = |pose: &Pose| pose.translations[m];
            let speed = (at(old[1]) - at(old[0])) - (at(new[1]) - at(new[0]));
            (at(old[1]) - at(new[0]), speed / TICK)
        };
        let turn = |j: usize| {
            let at = |pose: &Pose| pose.rotations[j];
            // The offset a little before and after, if both go on turning as they do.
            let [old_turn, new_turn] = [old, new].map(|pair| to_vector(at(pair[1]) * at(pair[0]).conjugate()));
            let later = |ticks: f32| -> Vec3 {
                let [a, b] = [from_vector(old_turn * ticks) * at(old[1]), from_vector(new_turn * ticks) * at(new[0])];
                to_vector(a * b.conjugate())
            };
            (later(0.0), (later(0.125) - later(-0.125)) / (0.25 * TICK))
        };
        Offset {
            began,
            seconds,
            places: (0..new[0].translations.len()).map(place).collect(),
            turns: (0..new[0].rotations.len()).map(turn).collect(),
        }
    }

    /// Adds what is left of it at a stage time to the pose of the motion.
    fn add(&self, time: f32, pose: &mut Pose) {
        let s = (time - self.began) / self.seconds;
        if s >= 1.0 {
            return;
        }
        // From 1 and from slope 1 to nothing, with no acceleration at either end.
        let s = s.max(0.0);
        let [s3, s4, s5] = [s * s * s, s * s * s * s, s * s * s * s * s];
        let keep = 1.0 - 10.0 * s3 + 15.0 * s4 - 6.0 * s5;
        let carry = (s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5) * self.seconds;
        for (place, (offset, speed)) in pose.translations.iter_mut().zip(&self.places) {
            *place += *offset * keep + *speed * carry;
        }
        for (turn, (offset, speed)) in pose.rotations.iter_mut().zip(&self.turns) {
            *turn = (from_vector(*offset * keep + *speed * carry) * *turn).normalize();
        }
    }
}

/// A script laid out from a character's present.
pub(super) struct Replay<'a> {
    library: &'a Arc<Library>,
    script: Script<'a>,
    /// Path seconds of the schedule that are past.
    past_path: f32,
    pieces: Vec<Piece>,
    anatomy: Anatomy,
    feet: Feet,
}

impl<'a> Replay<'a> {
    /// Lays a script out for so many seconds.
    pub(super) fn new(character: &'a Character, script: Script<'a>, seconds: f32) -> Replay<'a> {
        let library = character.library();
        let playing = character.playing();
        let source = character.source();
        let mut first = Piece {
            begins: 0.0,
            ends: script.leave.unwrap_or_else(|| library.graph().edge(playing.edge).seconds - playing.since),
            edge: playing.edge,
            clip: source.clip,
            clip_time: source.time,
            place: character.placement(),
            join: character.join.as_ref().map(|(join, since)| {
                let [places, turns] = join.offsets().map(<[_]>::to_vec);
                Offset { began: -since, seconds: join.seconds(), places, turns }
            }),
        };
        let past_path = script.schedule.path(script.past);
        let (anatomy, feet) = (Anatomy::of_canonical(library.skeleton()), character.feet.clone());
        let mut replay = Replay { library, script, past_path, pieces: Vec::new(), anatomy, feet };
        let bent = character.bend.as_ref().is_some_and(|(bend, time)| super::bend::amount(bend, *time) > 0.0);
        let at_once = replay.script.leave.is_some_and(|seconds| seconds <= 0.0) && !replay.script.legs.is_empty();
        if replay.script.replaces && at_once {
            let leg = replay.script.legs.remove(0);
            let edge = library.graph().edge(leg.edge);
            let (align, blend) = leg.join.unwrap_or((Planar::IDENTITY, REPLACES_BEND));
            first = Piece {
                begins: 0.0,
                ends: leg.leave.unwrap_or(edge.seconds) - leg.enter,
                edge: leg.edge,
                clip: edge.clip,
                clip_time: edge.first.0 as f32 / library.clip(edge.clip).fps() + leg.enter,
                place: character.placement().after(&align),
                join: None,
            };
            let [now, before] = &character.base;
            let new = [0.0, TICK * replay.rate(0.0)].map(|path| replay.motion(&first, path));
            first.join = Some(Offset::between([before, now], [&new[0], &new[1]], 0.0, blend));
        } else if replay.script.replaces && bent {
            let [now, before] = &character.base;
            let step = TICK * replay.rate(0.0);
            let new = [0.0, step].map(|path| replay.motion(&first, path));
            first.join = Some(Offset::between([before, now], [&new[0], &new[1]], 0.0, REPLACES_BEND));
        }
        replay.pieces.push(first);
        replay.lay_out(seconds);
        replay
    }

    /// Path seconds at a stage time, both from now.
    fn path(&self, time: f32) -> f32 {
        self.script.schedule.path(self.script.past + time) - self.past_path
    }

    /// Stage time of a path second, both from now.
    fn when(&self, path: f32) -> f32 {
        self.script.schedule.when(self.past_path + path) - self.script.past
    }

    fn rate(&self, path: f32) -> f32 {
        self.script.schedule.rate(self.past_path + path)
    }

    /// Puts pieces one after the other until the end.
    fn lay_out(&mut self, seconds: f32) {
        let mut legs: VecDeque<Leg> = std::mem::take(&mut self.script.legs).into();
        let mut ahead = self.script.ahead.iter().map(|leg| leg.edge);
        let end = self.path(seconds);
        while let Some(last) = self.pieces.last().filter(|piece| piece.ends <= end) {
            let graph = self.library.graph();
            let leaves = |edge: EdgeIdx| graph.edge(edge).from == graph.edge(last.edge).to;
            let planned = legs.pop_front().filter(|leg| leg.join.is_some() || leaves(leg.edge));
            let leg = planned.or_else(|| {
                let next = ahead.next().filter(|edge| leaves(*edge)).or_else(|| graph.after(last.edge).next());
                next.map(Leg::whole)
            });
            let Some(leg) = leg else { return };
            let piece = self.after(last, leg);
            self.pieces.push(piece);
        }
    }

    /// The piece that a leg makes after another.
    fn after(&self, last: &Piece, leg: Leg) -> Piece {
        let library = self.library;
        let edge = library.graph().edge(leg.edge);
        let mut piece = Piece {
            begins: last.ends,
            ends: last.ends + leg.leave.unwrap_or(edge.seconds) - leg.enter,
            edge: leg.edge,
            clip: edge.clip,
            clip_time: edge.first.0 as f32 / library.clip(edge.clip).fps() + leg.enter,
            place: last.place,
            join: last.join.clone(),
        };
        if let Some((align, blend)) = leg.join.or_else(|| edge.join.map(|join| (join.align, join.blend))) {
            piece.place = last.place.after(&align);
            let (path, began) = (last.ends, self.when(last.ends));
            // Speeds are those shown: as fast as the path is played where the pieces meet.
            let step = TICK * self.rate(path);
            let old = [-1.0, 0.0].map(|ticks| {
                let mut pose = self.motion(last, path + ticks * step);
                if let Some(join) = &last.join {
                    join.add(began + ticks * TICK, &mut pose);
                }
                pose
            });
            let new = [0.0, 1.0].map(|ticks| self.motion(&piece, path + ticks * step));
            piece.join = (blend > 0.0).then(|| Offset::between([&old[0], &old[1]], [&new[0], &new[1]], began, blend));
        }
        piece
    }

    /// A piece's clip at a path second, where it lies on the stage.
    fn motion(&self, piece: &Piece, path: f32) -> Pose {
        let clip = self.library.clip(piece.clip);
        let mut pose = Pose::default();
        sample::pose_at(clip, piece.clip_time + path - piece.begins, &mut pose);
        piece.place.apply(&mut pose);
        pose
    }

    /// Spheres of the body each 1/240 s: at the ticks, and half way between them.
    pub(super) fn frames(mut self, shown: &Pose, seconds: f32) -> Vec<Vec<Vec3>> {
        let library = self.library;
        let (skeleton, spheres) = (Arc::clone(library.skeleton()), library.spheres());
        let mut world = WorldPose::default();
        let mut centres = |pose: &Pose| -> Vec<Vec3> {
            fk::pose(&skeleton, pose, &mut world);
            spheres.iter().map(|s| world.point(s.joint, s.offset)).collect()
        };
        let mut frames = vec![centres(shown)];
        let mut before = shown.clone();
        for tick in 1..=(seconds * TICKS as f32).ceil() as u32 {
            let pose = self.pose(tick as f32 * TICK);
            frames.push(centres(&super::half_way(&before, &pose)));
            frames.push(centres(&pose));
            before = pose;
        }
        frames
    }

    /// The pose of the tick at a stage time; ticks are asked for in order.
    fn pose(&mut self, time: f32) -> Pose {
        let path = self.path(time);
        // Ticks add up to sums that are not quite round.
        let k = self.pieces.partition_point(|piece| piece.begins <= path + 1e-4).max(1) - 1;
        let piece = &self.pieces[k];
        let mut pose = self.motion(piece, path);
        if let Some(join) = piece.join.as_ref().filter(|join| time < join.began + join.seconds) {
            let motion = pose.clone();
            join.add(time, &mut pose);
            HINGES.into_iter().for_each(|hinge| soften(hinge, &motion, &mut pose));
        }
        let clip = self.library.clip(piece.clip);
        let clip_time = piece.clip_time + path - piece.begins;
        let contacts = (sample::contacts_at(clip, clip_time), sample::contacts_at(clip, clip_time + GRIP));
        let skeleton = Arc::clone(self.library.skeleton());
        if let Some((bend, past)) = &self.script.bend {
            bend_pose(bend, past + time, &skeleton, &mut pose);
        }
        let mut world = WorldPose::default();
        fk::pose(&skeleton, &pose, &mut world);
        self.feet.plant(&skeleton, &self.anatomy, contacts, TICK, &mut pose, &mut world);
        pose
    }
}

/// Joints that bend one way only, and the angle over which they come to a stop, radians.
const HINGES: [Role; 4] = [Role::LeftElbow, Role::RightElbow, Role::LeftKnee, Role::RightKnee];
const STOP: f32 = 0.2;

/// How far an elbow or a knee folds, radians: as far as their limits say.
const FOLDED: f32 = 2.792_527;

/// A hinge that a join carries past straight or folded, or past where its motion has it, comes to a soft stop. What the stop would take from
/// the motion itself is given back.
fn soften(hinge: Role, motion: &Pose, pose: &mut Pose) {
    let Some(axis) = humanoid::hinge_axis(hinge) else { return };
    let joint = hinge.joint();
    // Angles beyond half a turn are of limbs that are folded too far, not of limbs that are bent backwards.
    let [own, joined] = [motion, &*pose].map(|pose| {
        let angle = twist_angle(pose.rotation(joint), axis);
        if angle < -0.5 * PI { angle + 2.0 * PI } else { angle }
    });
    let (straight, folded) = (own.min(0.0), own.max(FOLDED));
    let stopped = |angle: f32| {
        let room = (angle - straight).min(folded - angle);
        let given = if room < STOP { STOP * libm::expf(room / STOP - 1.0) - room } else { 0.0 };
        if angle - straight < folded - angle { angle + given } else { angle - given }
    };
    let wanted = own + stopped(joined) - stopped(own);
    let turned: Quat = pose.rotation(joint) * about(axis, wanted - joined);
    pose.rotations[joint.at()] = turned.normalize();
}
