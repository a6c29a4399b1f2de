//! The rules that make a protective pose, each a small unit: § 3.2 and 3.4 of the thesis. They run in order; whoever wants others
//! implements [`Rule`] and hands in a list of their own.

mod between;
mod block;
mod lean;
mod legs;
mod rear_head;
mod recoil;
mod ribs;
mod startle;
mod stoop;
mod turn;

use kumite_motion::{Pose, Quat, Role, Skeleton, Vec3, WorldPose, fk};

pub use between::{Aim, Part};
pub use block::Block;
pub use lean::Lean;
pub use legs::Legs;
pub(crate) use legs::raised as legs_raised;
pub use rear_head::RearHead;
pub use recoil::Recoil;
pub(crate) use recoil::shrug;
pub use ribs::Ribs;
pub use startle::{startle, startled_head};
pub use stoop::Stoop;
pub use turn::{Turn, turn_side};

use crate::body::{Body, TRUNK};

/// One row of Table 3.2: largest turns of a joint, degrees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Most {
    /// Which joint; the left one of a pair.
    pub joint: Role,
    /// About +X, to the character's left.
    pub x: f32,
    /// About +Y, up.
    pub y: f32,
    /// About +Z, forward; mirrored by side.
    pub z: f32,
}

const fn most(joint: Role, x: f32, y: f32, z: f32) -> Most {
    Most { joint, x, y, z }
}

/// Table 3.2 in our axes: X is the thesis' Y, Y its Z, Z its X. Lean and turn, then recoil and startle.
pub const TABLE: [Most; 7] = [
    most(Role::Neck, 50.0, 65.0, 50.0),
    most(Role::Back, 25.0, 8.0, 25.0),
    most(Role::Waist, 10.0, 12.0, 10.0),
    most(Role::Pelvis, 15.0, 20.0, 15.0),
    most(Role::LeftClavicle, 25.0, 0.0, 35.0),
    most(Role::LeftShoulder, 0.0, 0.0, 30.0),
    most(Role::LeftElbow, 150.0, 0.0, 0.0),
];

/// The row of a joint of the trunk; head and neck share one.
pub(crate) fn row(role: Role) -> Most {
    let role = if role == Role::Head { Role::Neck } else { role };
    TABLE.into_iter().find(|most| most.joint == role).unwrap_or(most(role, 0.0, 0.0, 0.0))
}

/// How strongly each rule acts, 0..1: Table 3.1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controls {
    /// By the threat's speed.
    pub lean: f32,
    /// By its size, and so are all others.
    pub turn: f32,
    /// Shoulders up.
    pub recoil: f32,
    /// Of the left and the right arm: 0 reaches far.
    pub reach: [f32; 2],
    /// Of the left and the right elbow: 0 is far out.
    pub swivel: [f32; 2],
}

impl Controls {
    /// Of a threat whose speed and size are these shares.
    pub fn of(speed: f32, size: f32) -> Controls {
        Controls { lean: speed, turn: size, recoil: size, reach: [size; 2], swivel: [size; 2] }
    }

    /// As seven numbers.
    pub fn to_array(&self) -> [f32; 7] {
        [self.lean, self.turn, self.recoil, self.reach[0], self.reach[1], self.swivel[0], self.swivel[1]]
    }

    /// From seven numbers, each brought within 0..1.
    pub fn from_array(all: [f32; 7]) -> Controls {
        let [lean, turn, recoil, a, b, c, d] = all.map(|v| v.clamp(0.0, 1.0));
        Controls { lean, turn, recoil, reach: [a, b], swivel: [c, d] }
    }
}

/// What rules are told.
#[derive(Clone, Copy, Debug)]
pub struct Setting<'a> {
    /// Whose joints are turned.
    pub skeleton: &'a Skeleton,
    /// Its limbs.
    pub body: &'a Body,
    /// Where each threat comes from and what it is aimed at: the one that each arm is to stop. The first is the most urgent.
    pub aims: [Aim; 2],
    /// Which way the body turns away: 1 to its left, -1 to its right.
    pub turns: f32,
    /// By how much every rule is strengthened: eccentricity and temper.
    pub gain: f32,
    /// Whether legs and pelvis may be changed.
    pub planted: bool,
    /// The leg that is raised, left or right, if one is.
    pub raised: Option<usize>,
}

impl Setting<'_> {
    /// The most urgent threat.
    pub fn aim(&self) -> &Aim {
        &self.aims[0]
    }

    /// The threat that an arm, left or right, is to stop.
    pub fn aim_of(&self, arm: usize) -> &Aim {
        // A second threat is covered by the arm of its side.
        let second = &self.aims[1];
        let its_arm = usize::from(second.side < 0.0);
        if second.apart && arm == its_arm { second } else { &self.aims[0] }
    }
}

/// A pose in the making.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stance {
    /// The pose.
    pub pose: Pose,
    /// Where its joints are.
    pub world: WorldPose,
}

impl Stance {
    /// Works out where joints are.
    pub fn update(&mut self, skeleton: &Skeleton) {
        fk::pose(skeleton, &self.pose, &mut self.world);
    }

    /// Turns the joints of the trunk in the world, one after the other from the pelvis up, each on top of those below.
    pub fn turn_trunk(&mut self, skeleton: &Skeleton, turns: [Quat; TRUNK.len()]) {
        let mut parent = Quat::IDENTITY;
        for (role, turn) in TRUNK.into_iter().zip(turns) {
            let local = &mut self.pose.rotations[role.joint().at()];
            let world = turn * parent * *local;
            *local = (parent.conjugate() * world).normalize();
            parent = world;
        }
        self.update(skeleton);
    }
}

/// One unit of protective behaviour.
pub trait Rule: std::fmt::Debug + Sync {
    /// For people.
    fn name(&self) -> &'static str;

    /// Changes the stance, whose world is right before and has to be right after.
    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance);
}

/// The rules for a threat, in order: lean before turn, and whatever moves the hands last.
pub fn rules_for(setting: &Setting<'_>) -> &'static [&'static dyn Rule] {
    match setting.aim().part {
        Part::Legs => &[&Legs],
        Part::Torso if !setting.aim().in_front => &[&Lean, &Turn, &Recoil, &Ribs],
        Part::Torso => &[&Lean, &Turn, &Recoil, &Stoop, &Block, &RearHead],
        Part::Head => &[&Lean, &Turn, &Recoil, &Block, &RearHead],
    }
}

/// A direction's part along the floor.
pub(crate) fn flat(v: Vec3) -> Vec3 {
    Vec3::new(v.x, 0.0, v.z)
}
