//! § 3.2.2: the body leans the way the threat travels, by its speed; for the pelvis the pelvis alone leans, towards it (§ 3.4).

use kumite_motion::rotation::from_vector;
use kumite_motion::{Role, Vec3};

use super::{Controls, Rule, Setting, Stance, row};
use crate::body::TRUNK;

/// The share of its 50 degrees that the neck leans by: all of them, on top of the trunk's 50, lay the face open to the sky.
const NECK: f32 = 0.6;

/// Leans away.
#[derive(Clone, Copy, Debug)]
pub struct Lean;

impl Rule for Lean {
    fn name(&self) -> &'static str {
        "lean"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        let aim = setting.aim();
        let along = aim.along;
        // The vertical part of the direction is not leant along; Table 3.2 allows as much about X as about Z.
        let axis = Vec3::Y.cross(along);
        let turns = TRUNK.map(|role| {
            let head = row(role).x * aim.head;
            let pelvis = if role == Role::Pelvis { -row(role).x * (1.0 - aim.head) } else { 0.0 };
            let (share, kept) = match role {
                // Neck and head are one joint in the table.
                Role::Neck | Role::Head => (0.5, NECK),
                Role::Pelvis if !setting.planted => (0.0, 0.0),
                _ => (1.0, 1.0),
            };
            let angle = (head + pelvis) * share * kept * (controls.lean * setting.gain).min(1.2);
            from_vector(axis * angle.to_radians())
        });
        stance.turn_trunk(setting.skeleton, turns);
    }
}
