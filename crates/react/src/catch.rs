//! What feet can do about a push. A body on its feet is a pendulum on its soles: its centre of mass is drawn away from what it stands on by its own weight, and
//! soles push it back only as far as they reach. All of it is seen from the motion that is played, which keeps its own balance.
//!
//! The capture point, place + speed / rate with rate = √(g / height) (Hof 2008), says where a foot would have to be for it to stop. Each step that lands
//! brings what is stood on a step nearer to it, and meanwhile it runs away: Koolen, de Boer, Rebula, Goswami and Pratt, *Capturability-based
//! analysis and control of legged locomotion* (2012).

use kumite_motion::{Vec2, Vec3};

use crate::ragdoll::GRAVITY;

/// How far soles reach around what a body stands on, metres: to the heel, and to either side of two feet a hip's breadth apart.
pub const SOLES: f32 = 0.09;
/// The longest step of somebody who catches itself, metres: four fifths of a leg.
const STEP: f32 = 0.75;
/// How long each takes, seconds, and when the first lands after a push: it takes people 0.2 s to lift a foot they did not mean to lift (Maki and McIlroy 1997).
const STEP_SECONDS: f32 = 0.3;
const FIRST: f32 = 0.45;
/// Nobody takes more steps than this.
const STEPS: usize = 3;

/// How quickly a body whose centre is this high falls over, per second.
pub fn rate(height: f32) -> f32 {
    libm::sqrtf(GRAVITY / height.max(0.3))
}

/// Farthest that a capture point may be from where the motion has it, so many seconds after a push, if steps are to catch it: metres.
pub fn reach(rate: f32, since: f32) -> f32 {
    let fades = libm::expf(-rate * STEP_SECONDS);
    let rest = (1..STEPS).fold(SOLES, |reach, _| (reach + STEP) * fades);
    SOLES + (rest + STEP) * libm::expf(-rate * (FIRST - since).max(0.0))
}

/// A capture point that is `off` from what is stood on, some seconds later, if soles do all they can, metres.
pub fn runs(rate: f32, off: f32, seconds: f32) -> f32 {
    if off <= SOLES { off } else { SOLES + (off - SOLES) * libm::expf(rate * seconds) }
}

/// What a body on its feet stands on, seen from the motion that it played when it was pushed, which keeps its own balance and goes on as it went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Footing {
    /// Centre of mass of the motion and how it moves, smoothed: frames of clips are farther apart than ticks.
    centre: Vec3,
    speed: Vec3,
    /// Once the push is over: how far and which way the capture point is off at least.
    off: Option<Vec2>,
}

/// How long what a motion does is smoothed over, seconds.
const SMOOTH: f32 = 0.04;

impl Footing {
    /// Of a motion that is here and moves like this.
    pub(crate) fn of(centre: Vec3, speed: Vec3) -> Footing {
        Footing { centre, speed, off: None }
    }

    /// Something pushes.
    pub(crate) fn push(&mut self) {
        self.off = None;
    }

    /// A tick later the motion is here. Once a push is over it is no longer looked at: steps that answer the push are no part of what was stood on.
    pub(crate) fn follow(&mut self, centre: Vec3, seconds: f32) {
        if self.off.is_some() {
            self.centre += self.speed * seconds;
            return;
        }
        let speed = (centre - self.centre) / seconds.max(1e-4);
        // What jumps is another motion.
        if (speed - self.speed).length() < 3.0 {
            self.speed += (speed - self.speed) * (seconds / SMOOTH).min(1.0);
        }
        self.centre = centre;
    }

    /// How far the capture point of a body is off, along the floor, metres.
    pub(crate) fn off(&self, (place, speed): (Vec3, Vec3)) -> Vec2 {
        flat(place - self.centre) + flat(speed - self.speed) / rate(place.y)
    }

    /// Whether a push is over, and soles could not hold it.
    pub(crate) fn lost(&self) -> bool {
        self.off.is_some_and(|off| off.length() > SOLES)
    }

    /// By how much a body is too slow, after a tick: its weight carries it on, and what holds it up cannot hold it back any better than soles.
    pub(crate) fn carries(&mut self, body: (Vec3, Vec3), seconds: f32) -> Vec3 {
        let (now, rate) = (self.off(body), rate(body.0.y));
        let Some(least) = self.off else {
            self.off = Some(now);
            return Vec3::ZERO;
        };
        if least.length() <= SOLES {
            return Vec3::ZERO;
        }
        let way = least.normalize_or(Vec2::ZERO);
        let next = runs(rate, least.length(), seconds);
        self.off = Some(way * next);
        let missing = way * ((next - now.dot(way)).max(0.0) * rate);
        Vec3::new(missing.x, 0.0, missing.y)
    }
}

fn flat(v: Vec3) -> Vec2 {
    Vec2::new(v.x, v.z)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The decided bands: three steps catch 0.9 m/s, and nobody catches 1.3. They come out of how long steps are and take; nothing here was told of them.
    #[test]
    fn steps_catch_what_people_catch() {
        let rate = rate(0.95);
        let caught = |change: f32| change / rate <= reach(rate, 0.0);
        assert!(caught(0.25) && caught(0.9), "{}", reach(rate, 0.0) * rate);
        assert!(!caught(1.3), "{}", reach(rate, 0.0) * rate);
        // A push is as hopeless later as it was at first: what is off runs away as fast as there is less time.
        let later = |since: f32| (reach(rate, since) - SOLES) / (reach(rate, 0.0) - SOLES);
        assert!((later(0.1) - libm::expf(0.1 * rate)).abs() < 1e-3);
    }

    /// Soles hold a small push, and a larger one runs away from them, whatever pulls the body back.
    #[test]
    fn soles_hold_what_is_over_them() {
        let (rate, tick) = (rate(0.95), 1.0 / 120.0);
        for (change, holds) in [(0.2, true), (0.5, false)] {
            let (mut place, mut speed) = (Vec3::Y * 0.95, Vec3::X * change);
            let mut footing = Footing::of(place, Vec3::ZERO);
            // The push is over.
            assert_eq!(footing.carries((place, speed), tick), Vec3::ZERO);
            for _ in 0..60 {
                // Pulled back as fast as nothing can.
                speed -= ((place - Vec3::Y * 0.95) * 200.0 + speed * 20.0) * tick;
                speed += footing.carries((place, speed), tick);
                place += speed * tick;
            }
            let off = footing.off((place, speed)).x;
            assert_eq!(off < 0.05, holds, "{change}: {off}");
            // Half a second on: as far as weight carries it from the edge of the soles.
            assert!(holds || (off / runs(rate, change / rate, 0.5) - 1.0).abs() < 0.1, "{off}");
        }
    }
}
