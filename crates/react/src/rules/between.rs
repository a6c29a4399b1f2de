//! What a threat is aimed at, and how a response to it lies between those for head and pelvis (eq. 3.4).

use kumite_motion::rotation::{wrap, yaw_of};
use kumite_motion::{Role, Vec3, WorldPose};

use super::flat;
use crate::Impact;
use crate::body::Body;

/// What is to be protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Head and neck.
    Head,
    /// From the shoulders to the hips.
    Torso,
    /// Below the hips.
    Legs,
}

impl Part {
    /// As written in messages.
    pub fn name(self) -> &'static str {
        match self {
            Part::Head => "head",
            Part::Torso => "torso",
            Part::Legs => "legs",
        }
    }
}

/// A threat as a body sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Where it will hit, in the world.
    pub target: Vec3,
    /// Its unit direction of travel, in the world.
    pub along: Vec3,
    /// Its radius, metres.
    pub radius: f32,
    /// What it is aimed at.
    pub part: Part,
    /// How much the response is that for the head; the rest is that for the pelvis. `W_head` of eq. 3.4.
    pub head: f32,
    /// The angle between the gaze and the direction to it, radians: positive to the left.
    pub eccentricity: f32,
    /// 1 if it comes from the character's left, -1 from its right.
    pub side: f32,
    /// Whether it comes from before the shoulders.
    pub in_front: bool,
    /// Whether it is another threat than the first, from another side.
    pub apart: bool,
}

/// Targets this far below the hips are on the legs, metres.
const BELOW: f32 = 0.08;
/// Threats within this angle of half-way between chest and gaze, radians, are stopped by the hands.
const IN_FRONT: f32 = 1.4;
/// The head responds from here on, as a share of the way from pelvis to head.
const HEAD_FROM: f32 = 0.78;

impl Aim {
    /// Of an impact on a body as it will be then.
    pub fn of(impact: &Impact, body: &Body, world: &WorldPose) -> Aim {
        let (head, pelvis) = (body.head_at(world), world.position(Role::Pelvis.joint()));
        let up = head - pelvis;
        let way = (impact.target - pelvis).dot(up) / up.length_squared().max(1e-6);
        let (to_head, to_pelvis) = ((impact.target - head).length(), (impact.target - pelvis).length());
        // Beyond head and pelvis the response is theirs.
        let weight = if way >= 1.0 {
            1.0
        } else if way <= 0.0 {
            0.0
        } else {
            to_pelvis / (to_head + to_pelvis).max(1e-6)
        };
        let hips = 0.5 * (world.position(Role::LeftHip.joint()) + world.position(Role::RightHip.joint()));
        let part = if impact.target.y < hips.y - BELOW {
            Part::Legs
        } else if way >= HEAD_FROM {
            Part::Head
        } else {
            Part::Torso
        };
        let along = impact.along();
        let angle = |forward: Vec3| wrap(yaw_of(-along) - yaw_of(forward));
        let gaze = angle(world.rotation(Role::Head.joint()) * Vec3::Z);
        let chest = angle(world.rotation(Role::Back.joint()) * Vec3::Z);
        let steep = flat(along).length() < 0.35;
        Aim {
            target: impact.target,
            along,
            radius: impact.radius,
            part,
            head: weight,
            eccentricity: if steep { 0.0 } else { gaze },
            side: if chest >= 0.0 { 1.0 } else { -1.0 },
            // A guard is turned away from where it looks: arms get as far round as half-way between both.
            in_front: steep || (chest - 0.5 * wrap(chest - gaze)).abs() < IN_FRONT,
            apart: false,
        }
    }

    /// The unit direction along the floor in which it travels; none if it comes from straight above or below.
    pub fn across(&self) -> Vec3 {
        flat(self.along).normalize_or(Vec3::ZERO)
    }

    /// Stronger responses to threats from aside, who were seen late (Li and Laurent): 1 ahead, 1.2 from the side on.
    pub fn gain(&self) -> f32 {
        1.0 + 0.2 * (1.0 - libm::cosf(self.eccentricity).max(0.0))
    }
}
