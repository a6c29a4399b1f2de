//! How far joints turn: ranges of the canonical humanoid.
//!
//! Numbers: American Academy of Orthopaedic Surgeons, *Joint Motion* (1965), and White and Panjabi, *Clinical
//! Biomechanics of the Spine* (1990) for the spine, with the shoulder girdle's share given to the clavicle; a margin of
//! 15 degrees is added to each because captures of athletes exceed the averages of patients.

use std::f32::consts::PI;

use crate::rotation::{about, from_vector, swing_twist, to_vector, twist_angle, wrap};
use crate::{Quat, Role, Side, Vec3};

/// What a joint may do, relative to the T-pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// One axis.
    Hinge {
        /// Unit axis, the joint's own frame.
        axis: Vec3,
        /// Least and greatest angle, radians.
        range: (f32, f32),
        /// Turn about the bone and sideways play that a capture may show, radians.
        play: f32,
    },
    /// Swing of the bone, then twist about it.
    Ball {
        /// Unit direction of the bone at rest.
        bone: Vec3,
        /// Middle of the allowed swing, as a rotation from rest.
        centre: Quat,
        /// Greatest swing from the middle, radians.
        swing: f32,
        /// Least and greatest twist, radians.
        twist: (f32, f32),
    },
}

const DEGREE: f32 = PI / 180.0;

impl Limit {
    /// The limit of a canonical joint. The pelvis is free: it is the whole body's attitude.
    pub fn of(role: Role) -> Option<Limit> {
        let side = if role.side() == Side::Right { -1.0 } else { 1.0 };
        let ball = |bone: Vec3, centre: Quat, swing: f32, twist: (f32, f32)| Limit::Ball {
            bone,
            centre,
            swing: swing * DEGREE,
            twist: (twist.0 * DEGREE, twist.1 * DEGREE),
        };
        let mirrored = |(a, b): (f32, f32)| if side > 0.0 { (a, b) } else { (-b, -a) };
        Some(match role {
            Role::Pelvis => return None,
            Role::Waist => ball(Vec3::Y, about(Vec3::X, 15.0 * DEGREE), 55.0, (-35.0, 35.0)),
            Role::Back => ball(Vec3::Y, about(Vec3::X, 10.0 * DEGREE), 50.0, (-50.0, 50.0)),
            Role::Neck => ball(Vec3::Y, Quat::IDENTITY, 75.0, (-80.0, 80.0)),
            Role::Head => ball(Vec3::Y, Quat::IDENTITY, 60.0, (-60.0, 60.0)),
            Role::LeftClavicle | Role::RightClavicle => ball(Vec3::X * side, Quat::IDENTITY, 50.0, (-50.0, 50.0)),
            // The arm swings about a direction forward and a little down; it cannot point backwards and inwards.
            Role::LeftShoulder | Role::RightShoulder => ball(
                Vec3::X * side,
                about(Vec3::Y, -side * 35.0 * DEGREE) * about(Vec3::Z, -side * 15.0 * DEGREE),
                130.0,
                (-135.0, 135.0),
            ),
            Role::LeftElbow | Role::RightElbow => {
                Limit::Hinge { axis: Vec3::NEG_Y * side, range: (-15.0 * DEGREE, 160.0 * DEGREE), play: 100.0 * DEGREE }
            }
            Role::LeftWrist | Role::RightWrist => ball(Vec3::X * side, Quat::IDENTITY, 95.0, (-105.0, 105.0)),
            Role::LeftHip | Role::RightHip => ball(
                Vec3::NEG_Y,
                about(Vec3::X, -45.0 * DEGREE) * about(Vec3::Z, side * 12.0 * DEGREE),
                100.0,
                mirrored((-65.0, 65.0)),
            ),
            Role::LeftKnee | Role::RightKnee => {
                Limit::Hinge { axis: Vec3::X, range: (-15.0 * DEGREE, 160.0 * DEGREE), play: 45.0 * DEGREE }
            }
            Role::LeftAnkle | Role::RightAnkle => ball(Vec3::Z, Quat::IDENTITY, 75.0, (-60.0, 60.0)),
            Role::LeftToe | Role::RightToe => ball(Vec3::Z, Quat::IDENTITY, 75.0, (-30.0, 30.0)),
        })
    }

    /// How far a rotation is outside, radians; 0 inside.
    pub fn excess(&self, q: Quat) -> f32 {
        match *self {
            Limit::Hinge { axis, range, play } => {
                let angle = twist_angle(q, axis);
                let (off, _) = swing_twist(q, axis);
                let over = (angle - range.1).max(range.0 - angle).max(0.0);
                over.max(to_vector(off).length() - play)
            }
            Limit::Ball { bone, centre, swing, twist } => {
                let (tilt, roll) = swing_twist(centre.conjugate() * q, bone);
                let angle = twist_angle(roll, bone);
                (to_vector(tilt).length() - swing).max(angle - twist.1).max(twist.0 - angle).max(0.0)
            }
        }
        .max(0.0)
    }

    /// The nearest rotation inside.
    #[must_use]
    pub fn clamp(&self, q: Quat) -> Quat {
        if self.excess(q) <= 0.0 {
            return q;
        }
        match *self {
            Limit::Hinge { axis, range, play } => {
                let (off, _) = swing_twist(q, axis);
                let angle = wrap(twist_angle(q, axis)).clamp(range.0, range.1);
                (shorten(off, play) * about(axis, angle)).normalize()
            }
            Limit::Ball { bone, centre, swing, twist } => {
                let (tilt, roll) = swing_twist(centre.conjugate() * q, bone);
                let angle = twist_angle(roll, bone).clamp(twist.0, twist.1);
                (centre * shorten(tilt, swing) * about(bone, angle)).normalize()
            }
        }
    }
}

fn shorten(q: Quat, most: f32) -> Quat {
    let v = to_vector(q);
    let angle = v.length();
    if angle <= most { q } else { from_vector(v * (most / angle)) }
}
