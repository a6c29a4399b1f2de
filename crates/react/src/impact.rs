//! What is about to hit: where, from which way, how fast and how large; and where it was before.

use kumite_motion::Vec3;

/// Something on its way to a body, as it will be at the moment of contact (§ 3.1 of the thesis).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Impact {
    /// Where it will hit, in the world, metres.
    pub target: Vec3,
    /// How it moves then, metres per second.
    pub velocity: Vec3,
    /// Metres.
    pub radius: f32,
    /// Kilograms.
    pub mass: f32,
}

/// Why there is nothing to brace for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImpactError {
    /// A number is not finite.
    #[error("the threat's {what} is not a finite number")]
    NotFinite {
        /// Which quantity.
        what: &'static str,
    },
    /// It does not move.
    #[error("the threat moves at {speed} m/s; allowed is {SLOWEST} to {FASTEST} m/s")]
    Speed {
        /// Metres per second.
        speed: f32,
    },
    /// The radius is not positive, or larger than 2 m.
    #[error("the threat's radius is {radius} m; allowed is more than 0, at most 2 m")]
    Size {
        /// Metres.
        radius: f32,
    },
    /// The mass is not positive.
    #[error("the threat weighs {mass} kg; allowed is more than 0")]
    Mass {
        /// Kilograms.
        mass: f32,
    },
}

/// Slower than this nothing hits, and faster than this nothing is seen, metres per second.
pub const SLOWEST: f32 = 0.1;
/// See [`SLOWEST`].
pub const FASTEST: f32 = 200.0;
/// Radii and masses from no response of size to all of it: from a golf ball to a medicine ball. Size in the thesis is abstract.
const RADII: (f32, f32) = (0.03, 0.2);
/// Kilograms.
const MASSES: (f32, f32) = (0.05, 5.0);
/// Metres per second squared.
const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);
/// Half of air's density times the drag coefficient of a sphere, kg/m³.
const AIR: f32 = 0.5 * 1.2 * 0.47;
/// Seconds of one step back.
const STEP: f32 = 1.0 / 240.0;

/// Speeds from no lean to all of it, metres per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpeedRange(pub f32, pub f32);

impl SpeedRange {
    /// Of balls that people throw at each other.
    pub const STAGE: SpeedRange = SpeedRange(3.0, 30.0);
    /// Of spiked volleyballs, as in the thesis.
    pub const THESIS: SpeedRange = SpeedRange(22.8, 29.7);

    /// Where a speed lies in it, 0..1.
    pub fn share(self, speed: f32) -> f32 {
        ((speed - self.0) / (self.1 - self.0)).clamp(0.0, 1.0)
    }
}

/// Where a value lies between two others on a logarithmic scale, 0..1.
fn log_share(value: f32, (low, high): (f32, f32)) -> f32 {
    (libm::logf(value / low) / libm::logf(high / low)).clamp(0.0, 1.0)
}

impl Impact {
    /// Refuses what cannot hit anybody. Masses have no upper end: responses are capped.
    pub fn check(self) -> Result<Impact, ImpactError> {
        let finite = [
            (self.target.is_finite(), "target"),
            (self.velocity.is_finite(), "speed"),
            (self.radius.is_finite(), "radius"),
            (self.mass.is_finite(), "mass"),
        ];
        if let Some((_, what)) = finite.into_iter().find(|f| !f.0) {
            return Err(ImpactError::NotFinite { what });
        }
        let speed = self.speed();
        if !(SLOWEST..=FASTEST).contains(&speed) {
            return Err(ImpactError::Speed { speed });
        }
        if !(self.radius > 0.0 && self.radius <= 2.0) {
            return Err(ImpactError::Size { radius: self.radius });
        }
        if self.mass <= 0.0 {
            return Err(ImpactError::Mass { mass: self.mass });
        }
        Ok(self)
    }

    /// Metres per second.
    pub fn speed(&self) -> f32 {
        self.velocity.length()
    }

    /// The unit direction of travel.
    pub fn along(&self) -> Vec3 {
        self.velocity.normalize_or(Vec3::NEG_Z)
    }

    /// How large it is, 0..1: the mean of radius and mass on logarithmic scales.
    pub fn size(&self) -> f32 {
        0.5 * (log_share(self.radius, RADII) + log_share(self.mass, MASSES))
    }

    /// The speed it would give to somebody of `body` kilograms, metres per second: `(1 + e) m v / M`, with a restitution of 0.3, that
    /// of a ball on a person.
    pub fn push(&self, body: f32) -> f32 {
        1.3 * self.mass.min(body) * self.speed() / body.max(1.0)
    }

    /// Where it was so many seconds before, and how it moved then: simulated backwards with gravity and, if asked for, drag.
    pub fn before(&self, seconds: f32, drag: bool) -> (Vec3, Vec3) {
        let area = std::f32::consts::PI * self.radius * self.radius;
        let slowing = if drag { AIR * area / self.mass } else { 0.0 };
        let (mut place, mut velocity) = (self.target, self.velocity);
        let steps = (seconds.max(0.0) / STEP).ceil().max(1.0);
        let step = seconds.max(0.0) / steps;
        let pull = |v: Vec3| GRAVITY - v * (slowing * v.length());
        for _ in 0..steps as u32 {
            // The middle of the step, as it would be gone through forwards; a light ball may not have been faster than anything is.
            let middle = velocity - pull(velocity) * (0.5 * step);
            velocity = (velocity - pull(middle) * step).clamp_length_max(FASTEST);
            place -= middle * step;
        }
        (place, velocity)
    }
}

impl Impact {
    /// Where its middle is, so many seconds before (negative) or after contact: simulated backwards with gravity and drag as far as it was known before,
    /// `known` seconds, unless that would have it come out of the floor; then it came straight. Afterwards it falls.
    pub fn place(&self, seconds: f32, known: f32) -> Vec3 {
        let touching = self.target - self.along() * self.radius;
        if seconds >= 0.0 {
            return touching + self.velocity * seconds + GRAVITY * (0.5 * seconds * seconds);
        }
        let flies = self.before(known, true).0.y > self.radius;
        let back = if flies { self.before(-seconds, true).0 } else { self.target + self.velocity * seconds };
        back - self.along() * self.radius
    }
}

/// Seconds from perception to contact, for a threat that is perceived by nobody in particular: eq. 4.1, with a factor of at most
/// 1.2. `share` is its speed, 0..1, and `ahead` the cosine between facing and the direction to it.
pub fn time_to_contact(share: f32, ahead: f32) -> f32 {
    (0.25 + 0.75 * (1.0 - share.clamp(0.0, 1.0))) * (1.0 + 0.2 * (1.0 - ahead.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn football() -> Impact {
        Impact { target: Vec3::new(0.0, 1.6, 0.0), velocity: Vec3::new(0.0, 0.0, -15.0), radius: 0.11, mass: 0.43 }
    }

    #[test]
    fn what_flew_back_flies_forward_to_the_same_place() {
        let impact = football();
        let (from, velocity) = impact.before(0.6, false);
        let fell = from + velocity * 0.6 + GRAVITY * 0.18;
        assert!((fell - impact.target).length() < 1e-3, "{fell}");
        assert!((velocity.y - 0.6 * 9.81).abs() < 1e-3 && from.z > 8.9);
    }

    #[test]
    fn what_was_slowed_down_came_from_farther_away() {
        let impact = football();
        let (free, (dragged, velocity)) = (impact.before(0.6, false).0, impact.before(0.6, true));
        assert!(dragged.z > free.z + 0.1 && velocity.length() > impact.speed());
    }

    #[test]
    fn nonsense_is_refused_and_heavy_things_are_capped() {
        let ball = football();
        let refused = |impact: Impact| impact.check().unwrap_err().to_string();
        assert!(refused(Impact { velocity: Vec3::ZERO, ..ball }).contains("0 m/s"));
        assert!(refused(Impact { radius: f32::NAN, ..ball }).contains("radius"));
        assert!(refused(Impact { mass: -1.0, ..ball }).contains("-1 kg"));
        let heavy = Impact { mass: 1e6, ..ball }.check().unwrap();
        assert!(heavy.size() <= 1.0 && heavy.push(70.0) <= 1.3 * 15.0 + 1e-3);
    }

    #[test]
    fn faster_threats_leave_less_time_and_those_aside_more() {
        assert!((time_to_contact(0.0, 1.0) - 1.0).abs() < 1e-6);
        assert!((time_to_contact(1.0, 1.0) - 0.25).abs() < 1e-6);
        assert!((time_to_contact(1.0, -1.0) - 0.30).abs() < 1e-6);
    }
}
