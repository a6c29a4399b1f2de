//! Numbers for how good a take is.

use std::sync::Arc;

use kumite_motion::anatomy::Anatomy;
use kumite_motion::feet::{FEET, Part};
use kumite_motion::library::Library;
use kumite_motion::retarget::{RetargetBody, ball_of, heel_of};
use kumite_motion::rotation::to_vector;
use kumite_motion::{Clip, ClipIdx, FrameIdx, JointIdx, Pose, Quat, Role, Roles, Vec3, WorldPose, fk, sample};

use crate::balance;
use crate::take::Snap;

/// Step of a joint's angular velocity between frames of 1/60 s that one in a thousand steps inside real captures exceeds, radians per second.
/// Measured on the ACCAD and CMU fight captures, resampled to 60 frames per second, wrists and toes left out.
pub const SNAP_UNIT: f32 = 11.9;

/// Snaps above this do not pass, in [`SNAP_UNIT`]s.
const SNAP_GATE: f32 = 1.5;

/// The noisiest joints of captures: a snap is looked for in all others.
pub const NOISY: [Role; 4] = [Role::LeftWrist, Role::RightWrist, Role::LeftToe, Role::RightToe];

/// Of one take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quality {
    /// Mean speed of feet along the ground while planted, centimetres per second.
    pub foot_slide_cm_s: f32,
    /// The greatest of these.
    pub foot_slide_most_cm_s: f32,
    /// Share of foot-frames that are planted.
    pub planted_share: f32,
    /// Largest step of a joint's angular velocity in any frame beyond what the played clips have within two frames, in [`SNAP_UNIT`]s.
    pub snap: f32,
    /// Largest step in the frames around joins, with nothing taken off: what rehearsals and searches judge by. Same unit.
    pub snap_at_joins: f32,
    /// The same as `snap` while a blow acts: physics throws limbs about, that is what it is for. Frames of `snap` are all others.
    pub snap_in_impacts: f32,
    /// Mean distance of what planted feet stand on, heel or ball, from the floor, centimetres.
    pub float_cm: f32,
    /// How far the zero-moment point is outside the planted soles, 95th percentile, centimetres.
    pub balance_cm: f32,
    /// The same of the clips it played, in the frames it played.
    pub source_balance_cm: f32,
}

/// What a frame of a take was played from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Source {
    /// Which clip of the library.
    pub clip: ClipIdx,
    /// When in it, seconds.
    pub time: f32,
    /// Clip seconds per second of the take.
    pub rate: f32,
}

impl Quality {
    /// Whether a take passes the gates: feet slide 2 cm/s, float 1 cm, snap 1.5.
    pub fn passes(&self) -> bool {
        self.steady() && self.snap <= SNAP_GATE
    }

    /// Whether it passes with snaps looked for at joins only.
    pub fn passes_at_joins(&self) -> bool {
        self.steady() && self.snap_at_joins <= SNAP_GATE
    }

    /// Whether it passes but for its snaps.
    pub fn steady(&self) -> bool {
        self.foot_slide_cm_s <= 2.0 && self.float_cm <= 1.0
    }

    /// What can be told from the frames alone; `joins` says which of them are the first of a join.
    pub fn of(clip: &Clip, joins: &[bool]) -> Quality {
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        let anatomy = Anatomy::of_canonical(clip.skeleton());
        let roles = Roles::canonical();
        let body = RetargetBody { skeleton: clip.skeleton(), roles: &roles, anatomy: &anatomy };
        let mut before: [Option<(Part, Vec3)>; 2] = [None; 2];
        let mut quality = Quality::default();
        let (mut slides, mut floats, mut planted) = (0u32, 0.0f64, 0u32);
        let mut slide = 0.0f64;
        for frame in 0..clip.frames() {
            clip.pose(FrameIdx(frame as u32), &mut pose);
            fk::pose(clip.skeleton(), &pose, &mut world);
            for ((ankle, heel, toe), before) in FEET.into_iter().zip(&mut before) {
                let part = clip.contacts.get(frame).and_then(|c| Part::of(*c, heel, toe));
                let stands = part.and_then(|part| {
                    let at =
                        if part == Part::Heel { heel_of(&body, &world, ankle) } else { ball_of(&body, &world, ankle) };
                    Some((part, at?))
                });
                if let Some((part, at)) = stands {
                    planted += 1;
                    floats += f64::from(at.y.abs());
                    if let Some((_, last)) = before.filter(|b| b.0 == part) {
                        let step = Vec3::new(at.x - last.x, 0.0, at.z - last.z).length() * clip.fps() * 100.0;
                        slide += f64::from(step);
                        slides += 1;
                        quality.foot_slide_most_cm_s = quality.foot_slide_most_cm_s.max(step);
                    }
                }
                *before = stands;
            }
        }
        quality.foot_slide_cm_s = (slide / f64::from(slides.max(1))) as f32;
        quality.float_cm = (100.0 * floats / f64::from(planted.max(1))) as f32;
        quality.planted_share = planted as f32 / (2 * clip.frames()) as f32;
        quality.snap_at_joins = snap_at_joins(clip, joins) / SNAP_UNIT;
        quality
    }

    /// Adds what needs the clips that were played: one source for each frame.
    pub fn beside(self, clip: &Clip, library: &Library, sources: &[Source], impacts: &[bool]) -> Quality {
        let percentile = |outside| 100.0 * balance::percentile(outside, 0.95);
        Quality {
            balance_cm: percentile(balance::outside_soles(clip).into_iter()),
            source_balance_cm: percentile(source_balance(clip.fps(), library, sources).into_iter()),
            ..self.with_snap(clip, library, sources, impacts)
        }
    }

    /// Adds the snap alone.
    pub(crate) fn with_snap(self, clip: &Clip, library: &Library, sources: &[Source], impacts: &[bool]) -> Quality {
        let of =
            |within: bool| added_snap(clip, library, sources, |frame| in_impact(impacts, frame) == within) / SNAP_UNIT;
        let snap_in_impacts = if impacts.contains(&true) { of(true) } else { 0.0 };
        Quality { snap: of(false), snap_in_impacts, ..self }
    }
}

/// Turn of a joint from one rotation to the next as an angular velocity, radians per second.
fn turn(a: Quat, b: Quat, fps: f32) -> Vec3 {
    to_vector(a.conjugate() * b) * fps
}

/// The joints a snap is looked for in.
fn quiet_joints(clip: &Clip) -> impl Iterator<Item = JointIdx> {
    clip.skeleton().joints().filter(|joint| !NOISY.map(Role::joint).contains(joint))
}

/// Step of a joint's angular velocity at a frame: between the turn into it and the turn out of it.
fn step(clip: &Clip, frame: usize, joint: JointIdx) -> f32 {
    let at = |frame: usize| clip.rotation(FrameIdx(frame as u32), joint);
    (turn(at(frame), at(frame + 1), clip.fps()) - turn(at(frame - 1), at(frame), clip.fps())).length()
}

/// The largest step in the frames around a join.
fn snap_at_joins(clip: &Clip, joins: &[bool]) -> f32 {
    let mut largest = 0.0f32;
    for joint in quiet_joints(clip) {
        for frame in 1..clip.frames().saturating_sub(1) {
            let near = frame.saturating_sub(1)..(frame + 2).min(joins.len());
            if joins.get(near).is_some_and(|c| c.contains(&true)) {
                largest = largest.max(step(clip, frame, joint));
            }
        }
    }
    largest
}

/// Frames to both sides of one in which the sources may have as large a step.
const WITHIN: usize = 2;

/// Whether the turn into a frame or the one out of it is a blow's doing.
fn in_impact(impacts: &[bool], frame: usize) -> bool {
    impacts.get(frame..(frame + 2).min(impacts.len())).is_some_and(|near| near.contains(&true))
}

/// The largest step of any of some frames beyond the largest that the sources have near it.
fn added_snap(clip: &Clip, library: &Library, sources: &[Source], counts: impl Fn(usize) -> bool) -> f32 {
    let mut steps: Vec<(f32, usize, JointIdx)> = Vec::new();
    for joint in quiet_joints(clip) {
        let frames = (1..clip.frames().saturating_sub(1)).filter(|frame| counts(*frame));
        steps.extend(frames.map(|frame| (step(clip, frame, joint), frame, joint)));
    }
    // Largest first: once a step is no larger than what was found, neither is what it adds.
    steps.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut largest = 0.0f32;
    for (size, frame, joint) in steps {
        if size <= largest {
            break;
        }
        largest = largest.max(size - source_steps(clip, library, sources, frame, joint));
    }
    largest
}

/// The largest step that the sources have near a frame.
fn source_steps(clip: &Clip, library: &Library, sources: &[Source], frame: usize, joint: JointIdx) -> f32 {
    let near = &sources[frame.saturating_sub(WITHIN).min(sources.len())..(frame + WITHIN + 1).min(sources.len())];
    near.iter().map(|source| source_step(library, source, joint, clip.fps())).fold(0.0, f32::max)
}

/// What does not pass, in the order of time.
pub(crate) fn snaps(clip: &Clip, library: &Library, sources: &[Source], impacts: &[bool]) -> Vec<Snap> {
    let gate = SNAP_GATE * SNAP_UNIT;
    let snap = |frame: usize, role: Role| {
        let (joint, time) = (role.joint(), frame as f32 / clip.fps());
        let size = Some(step(clip, frame, joint)).filter(|size| *size > gate)?;
        let size = size - source_steps(clip, library, sources, frame, joint);
        (size > gate).then_some(Snap { time, role, size: size / SNAP_UNIT })
    };
    let counted = (1..clip.frames().saturating_sub(1)).filter(|frame| !in_impact(impacts, *frame));
    let quiet = || Role::ALL.into_iter().filter(|role| !NOISY.contains(role));
    counted.flat_map(|frame| quiet().filter_map(move |role| snap(frame, role))).collect()
}

/// The step of a joint's angular velocity that a clip has where it is played, as fast as it is played.
fn source_step(library: &Library, source: &Source, joint: JointIdx, fps: f32) -> f32 {
    let clip = library.clip(source.clip);
    let frame = source.rate / fps;
    // At its ends the nearest three frames that are inside.
    let middle = source.time.clamp(frame, (clip.seconds() - frame).max(frame));
    let at = |time: f32| sample::rotation_at(clip, time, joint);
    let (a, b, c) = (at(middle - frame), at(middle), at(middle + frame));
    (turn(b, c, fps) - turn(a, b, fps)).length()
}

/// Balance of what was played, frame by frame: runs of frames from one clip, sampled as they were played.
fn source_balance(fps: f32, library: &Library, sources: &[Source]) -> Vec<Option<f32>> {
    let mut outside = Vec::with_capacity(sources.len());
    let follows = |a: &Source, b: &Source| a.clip == b.clip && (b.time - a.time).abs() < 4.0 / fps;
    for run in sources.chunk_by(follows) {
        let clip = library.clip(run[0].clip);
        let played = Clip::from_fn(&clip.name, Arc::clone(clip.skeleton()), fps, run.len(), |frame, pose| {
            sample::pose_at(clip, run[frame].time, pose);
        });
        let Ok(mut played) = played else { continue };
        played.contacts = run.iter().map(|source| sample::contacts_at(clip, source.time)).collect();
        outside.extend(balance::outside_soles(&played));
    }
    outside
}
