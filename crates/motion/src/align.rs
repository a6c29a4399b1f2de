//! Moving characters about on the ground: turns about the vertical and shifts along the floor.

use crate::rotation::{wrap, yaw};
use crate::{Clip, ClipError, Pose, Vec2, Vec3};
use std::sync::Arc;

/// A turn about +Y, then a shift along the ground. Never changes heights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Planar {
    /// Radians; positive turns +Z towards +X.
    pub turn: f32,
    /// Along x and z, metres.
    pub shift: Vec2,
}

impl Planar {
    /// Changes nothing.
    pub const IDENTITY: Planar = Planar { turn: 0.0, shift: Vec2::ZERO };

    /// Where a point goes.
    #[inline]
    pub fn point(&self, p: Vec3) -> Vec3 {
        let (sine, cosine) = libm::sincosf(self.turn);
        Vec3::new(cosine * p.x + sine * p.z + self.shift.x, p.y, cosine * p.z - sine * p.x + self.shift.y)
    }

    /// This after `first`.
    #[must_use]
    pub fn after(&self, first: &Planar) -> Planar {
        let moved = self.point(Vec3::new(first.shift.x, 0.0, first.shift.y));
        Planar { turn: wrap(self.turn + first.turn), shift: Vec2::new(moved.x, moved.z) }
    }

    /// What undoes this.
    #[must_use]
    pub fn inverse(&self) -> Planar {
        let back = Planar { turn: -self.turn, shift: Vec2::ZERO };
        let moved = back.point(Vec3::new(self.shift.x, 0.0, self.shift.y));
        Planar { turn: -self.turn, shift: Vec2::new(-moved.x, -moved.z) }
    }

    /// Moves a whole pose.
    pub fn apply(&self, pose: &mut Pose) {
        pose.translations[0] = self.point(pose.translations[0]);
        pose.rotations[0] = yaw(self.turn) * pose.rotations[0];
    }

    /// Moves a whole clip.
    pub fn apply_clip(&self, clip: &Clip) -> Result<Clip, ClipError> {
        let poses = clip.poses();
        let mut out =
            Clip::from_fn(&clip.name, Arc::clone(clip.skeleton()), clip.fps(), clip.frames(), |frame, pose| {
                pose.clone_from(&poses[frame]);
                self.apply(pose);
            })?;
        out.contacts.clone_from(&clip.contacts);
        out.spans.clone_from(&clip.spans);
        Ok(out)
    }
}

/// The planar motion that best lays `moving` over `still`, in the sense of least squared distances between points of
/// the same position in the lists: the closed form of Kovar, Gleicher and Pighin 2002, § 3.1. Heights do not matter.
///
/// Lists of unequal length are compared as far as the shorter goes; with no points nothing moves.
pub fn best_planar(still: &[Vec3], moving: &[Vec3]) -> Planar {
    let count = still.len().min(moving.len());
    if count == 0 {
        return Planar::IDENTITY;
    }
    let mean = |points: &[Vec3]| points[..count].iter().sum::<Vec3>() / count as f32;
    let (centre_still, centre_moving) = (mean(still), mean(moving));
    let (mut cross, mut dot) = (0.0f64, 0.0f64);
    for (p, q) in still.iter().zip(moving) {
        let (p, q) = (*p - centre_still, *q - centre_moving);
        cross += f64::from(p.x * q.z - q.x * p.z);
        dot += f64::from(p.x * q.x + p.z * q.z);
    }
    let turned = Planar { turn: libm::atan2(cross, dot) as f32, shift: Vec2::ZERO };
    let moved = turned.point(centre_moving);
    Planar { turn: turned.turn, shift: Vec2::new(centre_still.x - moved.x, centre_still.z - moved.z) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_known_motion_is_found(turn in -3.1f32..3.1, x in -5.0f32..5.0, z in -5.0f32..5.0,
            points in proptest::collection::vec((-1.0f32..1.0, 0.0f32..2.0, -1.0f32..1.0), 3..20)) {
            let moving: Vec<Vec3> = points.iter().map(|&(x, y, z)| Vec3::new(x, y, z)).collect();
            let spread = moving.iter().map(|p| (*p - moving[0]).length()).fold(0.0, f32::max);
            prop_assume!(spread > 0.3);
            let truth = Planar { turn, shift: Vec2::new(x, z) };
            let still: Vec<Vec3> = moving.iter().map(|&p| truth.point(p)).collect();
            let found = best_planar(&still, &moving);
            for (&p, q) in moving.iter().zip(&still) {
                prop_assert!((found.point(p) - *q).length() < 1e-4);
                prop_assert!((truth.inverse().point(truth.point(p)) - p).length() < 1e-4);
                prop_assert!((truth.after(&found).point(p) - truth.point(found.point(p))).length() < 1e-4);
            }
        }
    }

    #[test]
    fn a_turned_pose_keeps_its_shape() {
        let skeleton = crate::humanoid::skeleton();
        let (mut a, mut b) = (crate::WorldPose::default(), crate::WorldPose::default());
        let mut pose = Pose::rest(&skeleton);
        crate::fk::pose(&skeleton, &pose, &mut a);
        let planar = Planar { turn: 1.0, shift: Vec2::new(2.0, -1.0) };
        planar.apply(&mut pose);
        crate::fk::pose(&skeleton, &pose, &mut b);
        for (p, q) in a.positions.iter().zip(&b.positions) {
            assert!((planar.point(*p) - *q).length() < 1e-5);
        }
    }
}
