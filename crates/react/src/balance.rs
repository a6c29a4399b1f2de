//! § 3.3: where the centre of mass is wanted, and what the pose gives up for it.

use kumite_motion::{Contacts, Roles, Skeleton, Vec2, Vec3, WorldPose, support};

/// The centre of mass is brought this far towards a light threat, metres, and so much farther towards a heavy one.
const TOWARDS: (f32, f32) = (0.10, 0.05);
/// What counts as heavy: the speed it would give to a body, metres per second.
const HEAVY: f32 = 0.6;

/// The three cases of Fig. 3.10.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// The wanted point is within the soles.
    Balanced,
    /// It is outside, and the pose before it was inside: the impact will push the body back.
    Braced,
    /// Both are outside.
    OutOfBalance,
}

impl Case {
    /// As the thesis counts them.
    pub fn number(self) -> u32 {
        match self {
            Case::Balanced => 1,
            Case::Braced => 2,
            Case::OutOfBalance => 3,
        }
    }

    /// Of a body that stands on these feet, with its centre of mass here and wanted there.
    pub fn of(skeleton: &Skeleton, world: &WorldPose, stands: [bool; 2], here: Vec2, wanted: Vec2) -> Case {
        let [left, right] = stands;
        let contacts = match (left, right) {
            (true, true) => Contacts::ALL,
            (true, false) => Contacts::LEFT,
            (false, true) => Contacts::RIGHT,
            (false, false) => Contacts::NONE,
        };
        let hull = support::hull(&support::sole_points(skeleton, &Roles::canonical(), world, contacts));
        let inside = |point: Vec2| support::margin(&hull, point) >= 0.0;
        match (inside(here), inside(wanted)) {
            (_, true) => Case::Balanced,
            (true, false) => Case::Braced,
            (false, false) => Case::OutOfBalance,
        }
    }
}

/// How far towards a threat that would give a body `push` metres per second, metres.
pub fn towards(push: f32) -> f32 {
    TOWARDS.0 + TOWARDS.1 * (push / HEAVY).clamp(0.0, 1.0)
}

/// What is minimised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Objective {
    /// Squares of weighted terms, by Levenberg and Marquardt's method.
    #[default]
    Weighted,
    /// The same, by BFGS: to compare.
    WeightedBfgs,
    /// Equation 3.3 as printed: metres and quaternion distances, neither weighted nor squared, by BFGS.
    Printed,
}

/// The terms of eq. 3.3 at the solution: metres and radians.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Terms {
    /// Centre of mass from where it is wanted, along the ground.
    pub balance: f32,
    /// Hands from where the rules had them, the farther one.
    pub hands: f32,
    /// Trunk from how the rules turned it, the joint that is farthest off.
    pub torso: f32,
    /// Pelvis above or below where it is wanted.
    pub height: f32,
    /// Feet from where they stand, the farther one.
    pub feet: f32,
    /// Arms inside head, trunk or each other.
    pub clash: f32,
}

/// A place's part along the floor.
pub(crate) fn ground(v: Vec3) -> Vec2 {
    Vec2::new(v.x, v.z)
}
