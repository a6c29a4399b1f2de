//! A slow and obvious judge of what a world logs: looks at the frames that were shown and shares forward kinematics only.

use kumite_motion::library::Library;
use kumite_motion::rotation::nlerp;
use kumite_motion::{Pose, Role, Vec3, WorldPose, fk};

use crate::TICKS;

/// Looks between two ticks.
const LOOKS: u32 = 8;

/// The poses a character was shown in, one a tick.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// The tick before the first pose.
    pub from: u64,
    /// One after each tick.
    pub poses: Vec<Pose>,
}

/// What a ball met on its way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Least distance to anybody, metres; negative is the depth.
    pub least: f32,
    /// The first touch: seconds of the scene, position of the character, part.
    pub touch: Option<(f32, usize, Role)>,
}

/// Looks along a ball's way, `at` seconds after it was thrown at tick `thrown`, until tick `until`, at every character each 1/960 s.
pub fn look(cast: &[(&Shown, &Library)], thrown: u64, until: u64, radius: f32, at: impl Fn(f32) -> Vec3) -> Seen {
    let mut seen = Seen { least: f32::INFINITY, touch: None };
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    for tick in thrown..until {
        for look in 0..=LOOKS {
            let share = look as f32 / LOOKS as f32;
            let ball = at((tick - thrown) as f32 / TICKS as f32 + share / TICKS as f32);
            for (who, (shown, library)) in cast.iter().enumerate() {
                let Some(index) = tick.checked_sub(shown.from) else { continue };
                let (Some(a), Some(b)) = (shown.poses.get(index as usize), shown.poses.get(index as usize + 1)) else {
                    continue;
                };
                if (a.root() - ball).length() > 2.5 {
                    continue;
                }
                pose.clone_from(a);
                for (q, p) in pose.rotations.iter_mut().zip(&b.rotations) {
                    *q = nlerp(*q, *p, share);
                }
                for (t, p) in pose.translations.iter_mut().zip(&b.translations) {
                    *t = t.lerp(*p, share);
                }
                fk::pose(library.skeleton(), &pose, &mut world);
                for sphere in library.spheres() {
                    let distance = (world.point(sphere.joint, sphere.offset) - ball).length() - sphere.radius - radius;
                    seen.least = seen.least.min(distance);
                    if distance < 0.0 && seen.touch.is_none() {
                        seen.touch = Some(((tick as f32 + share) / TICKS as f32, who, sphere.part));
                    }
                }
            }
        }
        if seen.touch.is_some() {
            return seen;
        }
    }
    seen
}
