//! When what happens: § 4.1 and 4.2 of the thesis, on a clock that does not stop.

use kumite_motion::blend::ease;

/// The sustained pose is made for the motion as it will be so many seconds from perception.
pub const LOOK_AHEAD: f32 = 1.0 / 6.0;
/// The startle pose likewise, and how long it takes, seconds.
pub const STARTLE_AHEAD: f32 = 1.0 / 12.0;
/// See [`STARTLE_AHEAD`].
pub const STARTLE: f32 = 15.0 / 120.0;
/// With less left nobody startles, seconds.
pub const STARTLE_LEAST: f32 = 0.4;
/// Slow and fast threats are met by movements of so many seconds (Li and Laurent: by speed, not by angle).
const MOVES: (f32, f32) = (0.45, 0.25);
/// Seconds that the pose is held after contact: while a body is pushed (80 ms) and half of what the thesis then holds for (135 ms).
const HOLD_HIT: f32 = 0.08 + 0.135;
/// And if nothing hits.
const HOLD_MISSED: f32 = 1.0 / 3.0;
/// Seconds of the way back: 125 ms of part one and the 375 ms of part two.
const RECOVER: f32 = 0.5;
/// Seconds of the way back when something else is done.
const GIVE_UP: f32 = 0.25;
/// Who has time to spare holds this share of the pose back and takes it up in the last moment, seconds: all of it if there are so many seconds to spare. What
/// is far away is watched, what is near is ducked from.
const TENSES: (f32, f32, f32) = (0.14, 0.25, 0.45);
/// By how much the pose is overshot while there is time, and how fast that sways, radians per second, and dies down, per second.
const OVERSHOOT: (f32, f32, f32) = (0.05, 9.0, 1.2);

/// The times of one brace, in seconds since it began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Timing {
    /// Whether the motion below stops and resumes.
    pub planted: bool,
    /// When the movement into the pose begins: 0, or after the startle.
    pub begins: f32,
    /// When it is over.
    pub reaches: f32,
    /// When it hits.
    pub contact: f32,
    /// When the way back begins, and how long it takes.
    pub leaves: f32,
    /// See [`Timing::leaves`].
    pub recovers: f32,
    /// Whether the motion below runs on: something else is played by now.
    pub free: bool,
}

impl Timing {
    /// For a threat of this speed, as a share of what is fast, that hits after `contact` seconds.
    pub fn new(share: f32, contact: f32, planted: bool, startle: bool) -> Timing {
        let begins = if startle && contact >= STARTLE_LEAST { STARTLE } else { 0.0 };
        let moves = MOVES.0 + (MOVES.1 - MOVES.0) * share.clamp(0.0, 1.0);
        let reaches = begins + moves.min((contact - begins).max(0.05));
        Timing { planted, begins, reaches, contact, leaves: contact + HOLD_MISSED, recovers: RECOVER, free: false }
    }

    /// Takes at least so many seconds for the movement, as far as there is time.
    pub fn take(&mut self, seconds: f32) {
        self.reaches = self.reaches.max((self.begins + seconds).min(self.contact));
    }

    /// It was hit `time` seconds after it began.
    pub fn hit(&mut self, time: f32) {
        self.leaves = self.leaves.min(time + HOLD_HIT);
    }

    /// Something else is done from `time` on.
    pub fn give_up(&mut self, time: f32) {
        self.free = true;
        if time < self.leaves {
            (self.leaves, self.recovers) = (time, GIVE_UP);
        }
    }

    /// Whether nothing is left of it.
    pub fn over(&self, time: f32) -> bool {
        time >= self.leaves + self.recovers
    }

    /// How much of the movement is done, 0..1: feet do that much of their way.
    pub fn moved(&self, time: f32) -> f32 {
        ease((time - self.begins) / (self.reaches - self.begins).max(1e-3))
    }

    /// How much of the way into the pose is done: 0 to 1, a little short of it while there is time to spare, then a little beyond it.
    pub fn way(&self, time: f32) -> f32 {
        let (held, last, all) = TENSES;
        let held = held * ease((self.contact - self.reaches) / all);
        let moved = self.moved(time) * (1.0 - held) + held * ease((time - self.contact + last) / last);
        let spare = (time - self.reaches).max(0.0);
        let (much, fast, dies) = OVERSHOOT;
        // Begins without speed where the movement ends without speed.
        let sways = 0.5 * (1.0 - libm::cosf(fast * spare)) * libm::expf(-dies * spare);
        moved + much * sways
    }

    /// How fast [`Timing::way`] is at its fastest, per second: the peak of a minimum-jerk movement.
    pub fn fastest(&self) -> f32 {
        1.875 / (self.reaches - self.begins).max(1e-3)
    }

    /// How much of the startle pose shows below the way into the other.
    pub fn startled(&self, time: f32) -> f32 {
        if self.begins > 0.0 { ease(time / self.begins) } else { 0.0 }
    }

    /// How much of all this shows: 1 until the way back begins.
    pub fn shows(&self, time: f32) -> f32 {
        1.0 - ease((time - self.leaves) / self.recovers.max(1e-3))
    }

    /// Seconds of motion per second: falls to 0 over twice the look-ahead, so that the motion stops one look-ahead on, and rises
    /// again as fast.
    pub fn rate(&self, time: f32) -> f32 {
        if !self.planted || self.free {
            return 1.0;
        }
        let falls = 1.0 - time / (2.0 * LOOK_AHEAD);
        let rises = (time - self.leaves) / (2.0 * LOOK_AHEAD);
        falls.max(rises).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_motion_stops_one_look_ahead_on_and_resumes_there() {
        let timing = Timing::new(0.5, 0.8, true, false);
        let ticks = (timing.leaves * 120.0) as u32;
        let gone: f32 = (0..ticks).map(|t| timing.rate((t as f32 + 0.5) / 120.0) / 120.0).sum();
        assert!((gone - LOOK_AHEAD).abs() < 1e-3, "{gone}");
        assert_eq!(timing.rate(timing.leaves + 0.4), 1.0);
        assert_eq!(Timing::new(0.5, 0.8, false, false).rate(0.7), 1.0);
    }

    #[test]
    fn the_pose_is_reached_at_contact_and_spare_time_is_not_frozen() {
        let short = Timing::new(0.0, 0.3, true, true);
        assert!((short.way(0.3) - 1.0).abs() < 1e-4 && short.begins == 0.0);
        let long = Timing::new(1.0, 1.0, true, true);
        assert_eq!(long.begins, STARTLE);
        let spare: Vec<f32> = (50..=120).map(|t| long.way(t as f32 / 120.0)).collect();
        assert!(spare[..40].iter().all(|way| *way < 0.95), "it watches: {spare:?}");
        assert!((0.99..1.06).contains(&spare[70]), "{}", spare[70]);
        // No quarter of a second in which nothing moves, and no jerk.
        for (from, some) in spare.windows(30).enumerate() {
            let (low, high) = some.iter().fold((2.0f32, 0.0f32), |(low, high), way| (low.min(*way), high.max(*way)));
            assert!(high - low > 0.01, "frozen from {from}: {low} to {high}");
        }
        let steps = spare.windows(2).map(|w| (w[1] - w[0]).abs());
        assert!(steps.fold(0.0, f32::max) < 0.015);
        assert_eq!(long.moved(long.reaches), 1.0);
    }

    #[test]
    fn whoever_is_hit_recovers_sooner() {
        let mut timing = Timing::new(0.5, 0.8, true, false);
        let missed = timing.leaves;
        timing.hit(0.8);
        assert!(timing.leaves < missed && timing.over(timing.leaves + RECOVER));
        assert_eq!(timing.shows(timing.leaves), 1.0);
    }
}
