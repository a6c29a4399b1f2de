//! Numbers for how good a take is.

use kumite_motion::anatomy::Anatomy;
use kumite_motion::retarget::{RetargetBody, ball_of, heel_of};
use kumite_motion::rotation::to_vector;
use kumite_motion::{Clip, FrameIdx, Pose, Role, Roles, Vec3, WorldPose, fk};

use crate::feet::{FEET, Part};

/// Step of a joint's angular velocity between frames of 1/60 s that one in a thousand steps inside real captures exceeds, radians per second.
/// Measured on the ACCAD and CMU fight captures, resampled to 60 frames per second, wrists and toes left out.
pub const SNAP_UNIT: f32 = 11.9;

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
    /// Largest step of a joint's angular velocity at a cut, in [`SNAP_UNIT`]s.
    pub snap: f32,
    /// Mean distance of what planted feet stand on, heel or ball, from the floor, centimetres.
    pub float_cm: f32,
}

impl Quality {
    /// Whether a take passes the gates: feet slide 2 cm/s, float 1 cm, snap 1.5.
    pub fn passes(&self) -> bool {
        self.foot_slide_cm_s <= 2.0 && self.float_cm <= 1.0 && self.snap <= 1.5
    }

    /// `cuts` says which frames are the first after a cut.
    pub fn of(clip: &Clip, cuts: &[bool]) -> Quality {
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
        quality.snap = snap(clip, cuts) / SNAP_UNIT;
        quality
    }
}

/// The largest step of angular velocity of any joint but wrists and toes, radians per second, in the frames around a cut. What happens later
/// in the blend is the new motion's own.
fn snap(clip: &Clip, cuts: &[bool]) -> f32 {
    let mut largest = 0.0f32;
    let skip = NOISY.map(Role::joint);
    for joint in clip.skeleton().joints().filter(|j| !skip.contains(j)) {
        let turn = |frame: usize| {
            let (a, b) = (FrameIdx(frame as u32), FrameIdx(frame as u32 + 1));
            to_vector(clip.rotation(a, joint).conjugate() * clip.rotation(b, joint)) * clip.fps()
        };
        for frame in 1..clip.frames().saturating_sub(1) {
            // The step at a frame is between the turn into it and the turn out of it.
            let near = frame.saturating_sub(1)..(frame + 2).min(cuts.len());
            if cuts.get(near).is_some_and(|c| c.contains(&true)) {
                largest = largest.max((turn(frame) - turn(frame - 1)).length());
            }
        }
    }
    largest
}
