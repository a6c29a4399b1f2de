//! § 3.2.4: the head is buried between the shoulders, by the threat's size.

use kumite_motion::rotation::from_vector;
use kumite_motion::{Quat, Role, Vec3};

use super::{Controls, Rule, Setting, Stance, row};

/// Shrugs.
#[derive(Clone, Copy, Debug)]
pub struct Recoil;

/// The largest turn of a collar bone: up, and rolled forward.
pub(crate) fn shrug(side: f32, strength: f32) -> Quat {
    let most = row(Role::LeftClavicle);
    from_vector(Vec3::new(most.x, 0.0, side * most.z) * strength.to_radians())
}

impl Rule for Recoil {
    fn name(&self) -> &'static str {
        "recoil"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        for arm in &setting.body.arms {
            let collar = arm.joints[0].joint().at();
            let turn = shrug(arm.side, controls.recoil.min(1.0));
            let limit = kumite_motion::limits::Limit::of(arm.joints[0]);
            let turned = (turn * stance.pose.rotations[collar]).normalize();
            stance.pose.rotations[collar] = limit.map_or(turned, |limit| limit.clamp(turned));
        }
        stance.update(setting.skeleton);
    }
}
