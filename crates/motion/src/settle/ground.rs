//! A point on the floor in double precision: second differences at 120 frames a second lose four digits.

use std::ops::{Add, AddAssign, Mul, MulAssign, Sub, SubAssign};

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Ground {
    pub(super) x: f64,
    pub(super) z: f64,
}

impl Ground {
    pub(super) const ZERO: Ground = Ground { x: 0.0, z: 0.0 };

    pub(super) fn new(x: f64, z: f64) -> Ground {
        Ground { x, z }
    }

    pub(super) fn dot(self, other: Ground) -> f64 {
        self.x * other.x + self.z * other.z
    }

    /// Positive if `other` is to the left, with x to the right and z up.
    pub(super) fn perp_dot(self, other: Ground) -> f64 {
        self.x * other.z - self.z * other.x
    }

    pub(super) fn length_squared(self) -> f64 {
        self.dot(self)
    }

    pub(super) fn length(self) -> f64 {
        self.length_squared().sqrt()
    }
}

impl Add for Ground {
    type Output = Ground;
    fn add(self, other: Ground) -> Ground {
        Ground::new(self.x + other.x, self.z + other.z)
    }
}

impl Sub for Ground {
    type Output = Ground;
    fn sub(self, other: Ground) -> Ground {
        Ground::new(self.x - other.x, self.z - other.z)
    }
}

impl Mul<f64> for Ground {
    type Output = Ground;
    fn mul(self, factor: f64) -> Ground {
        Ground::new(self.x * factor, self.z * factor)
    }
}

impl AddAssign for Ground {
    fn add_assign(&mut self, other: Ground) {
        *self = *self + other;
    }
}

impl SubAssign for Ground {
    fn sub_assign(&mut self, other: Ground) {
        *self = *self - other;
    }
}

impl MulAssign<f64> for Ground {
    fn mul_assign(&mut self, factor: f64) {
        *self = *self * factor;
    }
}
