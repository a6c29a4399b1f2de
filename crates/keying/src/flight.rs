//! Bodies in the air: what lifts them, the parabola they fall along, and how the legs take it up.

use crate::file::Flight;

/// Metres per second squared.
const GRAVITY: f32 = 9.81;

/// The flights of a motion.
#[derive(Default)]
pub(crate) struct Flights {
    list: Vec<Flight>,
    /// Height of the centre of mass at take-off and landing of each, once it is known.
    centres: Vec<[f32; 2]>,
}

impl Flights {
    pub(crate) fn of(flights: &[Flight]) -> Flights {
        Flights { list: flights.to_vec(), centres: Vec::new() }
    }

    /// Looks up where the centre of mass is when each flight begins and ends.
    pub(crate) fn measured(mut self, centre: impl Fn(f32) -> f32) -> Flights {
        self.centres = self.list.iter().map(|f| [centre(f.from), centre(f.to)]).collect();
        self
    }

    /// Height of the centre of mass in flight.
    pub(crate) fn centre(&self, t: f32) -> Option<f32> {
        let (f, [from, to]) = self.list.iter().zip(&self.centres).find(|(f, _)| f.from < t && t < f.to)?;
        Some(from + (to - from) * (t - f.from) / (f.to - f.from) + self.height(t))
    }

    /// How high everything is thrown at a moment; 0 on the floor.
    pub(crate) fn height(&self, t: f32) -> f32 {
        let parabola = |f: &Flight| 0.5 * GRAVITY * ((t - f.from) * (f.to - t)).max(0.0);
        self.list.iter().map(parabola).sum()
    }

    /// The same of the pelvis, which also sinks before a flight, to be pushed off, and after it.
    pub(crate) fn rise(&self, t: f32) -> f32 {
        let legs = |f: &Flight| {
            let speed = 0.5 * GRAVITY * (f.to - f.from);
            if t < f.from {
                push(1.0 - (f.from - t) / f.load, f.load, speed)
            } else {
                push(1.0 - (t - f.to) / f.absorb, f.absorb, speed)
            }
        };
        let grounded = |f: &&Flight| t < f.from || t > f.to;
        self.height(t) + self.list.iter().filter(grounded).map(legs).sum::<f32>()
    }
}

/// From rest to a speed upwards, at the height it began at, and falling freely then: the quintic with these ends, for `s` from 0 to 1. Run
/// backwards it is a landing.
fn push(s: f32, seconds: f32, speed: f32) -> f32 {
    if s <= 0.0 {
        return 0.0;
    }
    let (s3, s4, s5) = (s * s * s, s * s * s * s, s * s * s * s * s);
    speed * seconds * (-4.0 * s3 + 7.0 * s4 - 3.0 * s5) - GRAVITY * seconds * seconds * (0.5 * s3 - s4 + 0.5 * s5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flights_are_thrown_and_caught_without_a_jolt() {
        let flights = Flights::of(&[Flight { from: 0.4, to: 0.7, load: 0.3, absorb: 0.25 }]);
        let rise = |t: f32| f64::from(flights.rise(t));
        let h = 1e-3f32;
        let speed = |t: f32| (rise(t + h) - rise(t - h)) / f64::from(2.0 * h);
        // Half of gravity times the time in the air, up and down.
        assert!((speed(0.402) - 1.4715).abs() < 0.05 && (speed(0.698) + 1.4715).abs() < 0.05);
        for i in 2..98 {
            let t = i as f32 * 0.01;
            assert!((speed(t + 2.0 * h) - speed(t)).abs() < 0.08, "{t}: {} {}", speed(t), speed(t + 2.0 * h));
        }
        assert!((rise(0.55) - 0.5 * 9.81 * 0.15 * 0.15).abs() < 1e-4, "the apex");
        assert!(rise(0.3) < -0.03, "knees bend before it");
        assert_eq!(rise(0.05), 0.0);
        assert_eq!(rise(0.99), 0.0);
    }
}
