use kumite_motion::align::Planar;
use kumite_motion::{Vec2, Vec3};

/// A planar motion with its angle worked out: composing and applying it needs no transcendental function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Cosine of the turn.
    pub cosine: f32,
    /// Sine of the turn.
    pub sine: f32,
    /// Along x and z, metres.
    pub shift: Vec2,
}

impl Place {
    /// Changes nothing.
    pub const HERE: Place = Place { cosine: 1.0, sine: 0.0, shift: Vec2::ZERO };

    /// The same motion.
    pub fn of(planar: &Planar) -> Place {
        let (sine, cosine) = libm::sincosf(planar.turn);
        Place { cosine, sine, shift: planar.shift }
    }

    /// The same motion.
    pub fn planar(&self) -> Planar {
        Planar { turn: libm::atan2f(self.sine, self.cosine), shift: self.shift }
    }

    /// Turns a direction.
    #[inline]
    pub fn turn(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.cosine * v.x + self.sine * v.z, v.y, self.cosine * v.z - self.sine * v.x)
    }

    /// Where a point goes.
    #[inline]
    pub fn point(&self, p: Vec3) -> Vec3 {
        self.turn(p) + Vec3::new(self.shift.x, 0.0, self.shift.y)
    }

    /// Where a point came from.
    #[inline]
    pub fn back(&self, p: Vec3) -> Vec3 {
        self.turn_back(p - Vec3::new(self.shift.x, 0.0, self.shift.y))
    }

    /// Undoes [`Place::turn`].
    #[inline]
    pub fn turn_back(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.cosine * v.x - self.sine * v.z, v.y, self.cosine * v.z + self.sine * v.x)
    }

    /// This after `first`.
    #[must_use]
    #[inline]
    pub fn after(&self, first: &Place) -> Place {
        let moved = self.point(Vec3::new(first.shift.x, 0.0, first.shift.y));
        Place {
            cosine: self.cosine * first.cosine - self.sine * first.sine,
            sine: self.sine * first.cosine + self.cosine * first.sine,
            shift: Vec2::new(moved.x, moved.z),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_are_planar_motions(a in -3.0f32..3.0, b in -3.0f32..3.0, x in -4.0f32..4.0, z in -4.0f32..4.0) {
            let (p, q) = (Planar { turn: a, shift: Vec2::new(x, z) }, Planar { turn: b, shift: Vec2::new(z, 1.0) });
            let point = Vec3::new(z, 1.2, x);
            let (m, n) = (Place::of(&p), Place::of(&q));
            prop_assert!((m.point(point) - p.point(point)).length() < 1e-4);
            prop_assert!((m.after(&n).point(point) - p.after(&q).point(point)).length() < 1e-4);
            prop_assert!((m.back(m.point(point)) - point).length() < 1e-4);
            prop_assert!((m.planar().point(point) - m.point(point)).length() < 1e-4);
        }
    }
}
