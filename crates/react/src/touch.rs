//! A touch of something that moves: what it pushes a body with, and what it does to it.

use kumite_motion::{Role, Vec3};

use crate::body::MASS;

/// Share of the closing speed that is left when a ball and a body part: between a volleyball on a forearm and a fist on a chest.
pub const RESTITUTION: f32 = 0.4;
/// Greatest share of the push that goes along the skin.
const FRICTION: f32 = 0.3;

/// Something touches a body, seen from the part that it touches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// What is touched.
    pub part: Role,
    /// Where, in the world.
    pub at: Vec3,
    /// Out of the body at that place, of unit length.
    pub normal: Vec3,
    /// How fast what touches moves against the part, metres per second.
    pub velocity: Vec3,
    /// Of what touches, kilograms.
    pub mass: f32,
}

/// How far a body usually gives way to a push. Whether it does fall is up to where its capture point goes ([`crate::catch`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Extent {
    /// Its feet stay.
    Sway,
    /// It takes one to three steps.
    Steps,
    /// It goes down.
    Down,
}

impl Extent {
    /// Least change of the whole body's speed that makes it step, and that throws it, metres per second. A capture point 8 cm off is about
    /// where soles end; three steps catch what 0.9 m/s do, and nobody catches 1.3.
    pub const LEAST: [f32; 2] = [0.25, 1.3];

    /// By the change of the whole body's speed.
    pub fn of(change: f32) -> Extent {
        match change {
            c if c < Extent::LEAST[0] => Extent::Sway,
            c if c < Extent::LEAST[1] => Extent::Steps,
            _ => Extent::Down,
        }
    }

    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            Extent::Sway => "sway",
            Extent::Steps => "steps",
            Extent::Down => "down",
        }
    }
}

impl Touch {
    /// How fast both close, metres per second.
    pub fn closing(&self) -> f32 {
        (-self.velocity.dot(self.normal)).max(0.0)
    }

    /// By how much it changes the speed of the whole body, metres per second.
    pub fn change(&self) -> f32 {
        (1.0 + RESTITUTION) * self.mass * self.closing() / MASS
    }

    /// What it pushes a part of some mass with: at once, and in the moments after. A ball lighter than the part bounces off; a heavier one goes
    /// on pushing until the whole body moves with it. Newton seconds.
    pub fn impulse(&self, part: f32) -> [Vec3; 2] {
        let together = |a: f32, b: f32| a * b / (a + b).max(1e-6);
        let push = |mass: f32| {
            let size = (1.0 + RESTITUTION) * mass * self.closing();
            let along = self.velocity + self.normal * self.closing();
            let slip = along.length();
            let drag = (FRICTION * size).min(mass * slip);
            along.normalize_or(Vec3::ZERO) * drag - self.normal * size
        };
        let (once, all) = (push(together(self.mass, part)), push(together(self.mass, MASS)));
        [once, all - once]
    }

    /// What it does to a part of some mass: the energy that does not bounce back, joules, weighed by how much the region can bear. Taken from speed
    /// and mass, so it does not depend on how a solver shares the push out.
    pub fn damage(&self, part: f32) -> f32 {
        let mass = self.mass * part / (self.mass + part).max(1e-6);
        let closing = self.closing();
        0.5 * mass * closing * closing * (1.0 - RESTITUTION * RESTITUTION) * frailty(self.part)
    }
}

/// How much worse a blow is here than on a limb: heads and bellies bear least. Judges score blows above the belt only; doctors agree on the order.
pub fn frailty(part: Role) -> f32 {
    match part {
        Role::Head | Role::Neck => 1.0,
        Role::Waist => 0.7,
        Role::Back | Role::LeftClavicle | Role::RightClavicle | Role::Pelvis => 0.5,
        _ => 0.25,
    }
}

/// Weighs how hard a limb strikes: the mass that is behind its end, kilograms. A fist has the forearm and half of the upper arm behind it (Walilko et
/// al. 2005 measured 2.9 kg on boxers), a foot the shin and half of the thigh.
pub fn striking_mass(end: Role) -> f32 {
    match end {
        Role::LeftWrist | Role::RightWrist => 2.9,
        Role::LeftElbow | Role::RightElbow => 3.2,
        Role::LeftAnkle | Role::RightAnkle | Role::LeftToe | Role::RightToe => 7.0,
        Role::LeftKnee | Role::RightKnee => 9.0,
        _ => 5.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ball(mass: f32, speed: f32) -> Touch {
        Touch { part: Role::Head, at: Vec3::ZERO, normal: Vec3::Z, velocity: Vec3::NEG_Z * speed, mass }
    }

    #[test]
    fn extents_follow_the_change_of_speed() {
        // (1 + 0.4) · 0.45 · 25 / 70 = 0.225; (1 + 0.4) · 10 · 10 / 70 = 2.
        assert!((ball(0.45, 25.0).change() - 0.225).abs() < 1e-4);
        assert_eq!(Extent::of(ball(0.45, 25.0).change()), Extent::Sway);
        assert_eq!(Extent::of(ball(3.0, 10.0).change()), Extent::Steps);
        assert_eq!(Extent::of(ball(10.0, 10.0).change()), Extent::Down);
    }

    #[test]
    fn what_grazes_pushes_little_and_never_pulls() {
        let mut touch = ball(1.0, 10.0);
        touch.velocity = Vec3::new(10.0, 0.0, -1.0);
        let [once, rest] = touch.impulse(5.0);
        assert!(once.z < 0.0 && once.x > 0.0 && once.x <= 0.3 * -once.z + 1e-5, "{once}");
        assert!(rest.z <= 0.0);
        touch.velocity = Vec3::Z;
        assert_eq!(touch.impulse(5.0)[0].z, 0.0);
        assert_eq!(touch.damage(5.0), 0.0);
    }

    #[test]
    fn all_of_the_push_of_a_heavy_ball_arrives() {
        let [once, rest] = ball(10.0, 10.0).impulse(4.9);
        let whole = -(once + rest).z;
        // Bodies of 10 and 70 kg that part at 0.4 of 10 m/s.
        assert!((whole - 1.4 * 8.75 * 10.0).abs() < 0.1, "{whole}");
        assert!(-once.z < 0.5 * whole);
    }

    #[test]
    fn heads_bear_least() {
        let at = |part: Role| Touch { part, ..ball(0.45, 25.0) }.damage(5.0);
        assert!(
            at(Role::Head) > at(Role::Waist)
                && at(Role::Waist) > at(Role::Back)
                && at(Role::Back) > at(Role::LeftElbow)
        );
    }
}
