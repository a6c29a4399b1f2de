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

/// A [`Planar`] with its sine and cosine worked out: composing it and moving points need no transcendental function.
///
/// The angle is kept beside them and is *not* wrapped, so that [`PlanarMatrix::after`] adds angles exactly; that is the one
/// reason why this is another type than [`Planar`], whose composition wraps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanarMatrix {
    /// Radians, not wrapped.
    pub turn: f32,
    cosine: f32,
    sine: f32,
    /// Along x and z, metres.
    pub shift: Vec2,
}

impl PlanarMatrix {
    /// Changes nothing.
    pub const IDENTITY: PlanarMatrix = PlanarMatrix { turn: 0.0, cosine: 1.0, sine: 0.0, shift: Vec2::ZERO };

    /// Works out the sine and cosine of a planar motion.
    pub fn new(planar: &Planar) -> PlanarMatrix {
        let (sine, cosine) = libm::sincosf(planar.turn);
        PlanarMatrix { turn: planar.turn, cosine, sine, shift: planar.shift }
    }

    /// A turn about a point of the floor, then a shift.
    pub fn about(point: Vec2, turn: f32, shift: Vec2) -> PlanarMatrix {
        let turned = PlanarMatrix::new(&Planar { turn, shift: Vec2::ZERO });
        PlanarMatrix { shift: point - turned.floor_point(point) + shift, ..turned }
    }

    /// The planar motion, its angle wrapped.
    pub fn planar(&self) -> Planar {
        Planar { turn: wrap(self.turn), shift: self.shift }
    }

    /// Where a point goes.
    #[inline]
    pub fn point(&self, p: Vec3) -> Vec3 {
        let flat = self.floor_point(Vec2::new(p.x, p.z));
        Vec3::new(flat.x, p.y, flat.y)
    }

    /// Where a point came from.
    #[inline]
    pub fn point_back(&self, p: Vec3) -> Vec3 {
        let flat = self.floor_point_back(Vec2::new(p.x, p.z));
        Vec3::new(flat.x, p.y, flat.y)
    }

    /// Where a point of the floor goes: x and z.
    #[inline]
    pub fn floor_point(&self, p: Vec2) -> Vec2 {
        let (x, z) = (self.cosine * p.x + self.sine * p.y, self.cosine * p.y - self.sine * p.x);
        Vec2::new(x + self.shift.x, z + self.shift.y)
    }

    /// Where a point of the floor came from: x and z.
    #[inline]
    pub fn floor_point_back(&self, p: Vec2) -> Vec2 {
        let q = p - self.shift;
        Vec2::new(self.cosine * q.x - self.sine * q.y, self.cosine * q.y + self.sine * q.x)
    }

    /// Turns a direction.
    #[inline]
    pub fn rotate(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.cosine * v.x + self.sine * v.z, v.y, self.cosine * v.z - self.sine * v.x)
    }

    /// Undoes [`PlanarMatrix::rotate`].
    #[inline]
    pub fn rotate_back(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.cosine * v.x - self.sine * v.z, v.y, self.cosine * v.z + self.sine * v.x)
    }

    /// This after `first`.
    #[inline]
    #[must_use]
    pub fn after(&self, first: &PlanarMatrix) -> PlanarMatrix {
        PlanarMatrix {
            turn: self.turn + first.turn,
            cosine: self.cosine * first.cosine - self.sine * first.sine,
            sine: self.sine * first.cosine + self.cosine * first.sine,
            shift: self.floor_point(first.shift),
        }
    }

    /// What undoes this.
    #[must_use]
    pub fn inverse(&self) -> PlanarMatrix {
        let unturn = PlanarMatrix { turn: -self.turn, sine: -self.sine, shift: Vec2::ZERO, ..*self };
        unturn.after(&PlanarMatrix { shift: -self.shift, ..PlanarMatrix::IDENTITY })
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

    proptest! {
        #[test]
        fn matrices_are_planar_motions(a in -3.0f32..3.0, b in -3.0f32..3.0, x in -4.0f32..4.0, z in -4.0f32..4.0) {
            let (p, q) = (Planar { turn: a, shift: Vec2::new(x, z) }, Planar { turn: b, shift: Vec2::new(z, 1.0) });
            let point = Vec3::new(z, 1.2, x);
            let (m, n) = (PlanarMatrix::new(&p), PlanarMatrix::new(&q));
            let near = |a: Vec3, b: Vec3| (a - b).length() < 1e-4;
            prop_assert!(near(m.point(point), p.point(point)));
            prop_assert!(near(m.after(&n).point(point), p.after(&q).point(point)));
            prop_assert!(near(m.point_back(m.point(point)), point));
            prop_assert!(near(m.inverse().point(m.point(point)), point));
            prop_assert!(near(m.rotate_back(m.rotate(point)), point));
            prop_assert!(near(m.planar().point(point), m.point(point)));
            let pivot = Vec2::new(x, 1.0);
            let about = PlanarMatrix::about(pivot, b, Vec2::new(0.5, z));
            prop_assert!((about.floor_point(pivot) - pivot - Vec2::new(0.5, z)).length() < 1e-4);
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
