//! The side and the back of the torso: elbows to the ribs, as Cooke and Graziano saw it, forearms up before the chest.

use kumite_motion::{Role, Vec3};

use super::block::set_hand;
use super::{Controls, Rule, Setting, Stance};

/// Where wrists are, from the neck in the frame of the chest, metres: the near one and the far one.
const WRISTS: [Vec3; 2] = [Vec3::new(0.13, -0.02, 0.24), Vec3::new(0.06, -0.10, 0.26)];
/// Elbows are this far out, degrees: the near one hardly.
const SWIVELS: [f32; 2] = [2.0, 8.0];

/// Elbows to the ribs.
#[derive(Clone, Copy, Debug)]
pub struct Ribs;

impl Rule for Ribs {
    fn name(&self) -> &'static str {
        "ribs"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        let chest = stance.world.rotation(Role::Back.joint());
        let neck = stance.world.position(Role::Neck.joint());
        for (k, arm) in setting.body.arms.iter().enumerate() {
            let far = usize::from(arm.side != setting.aim().side);
            let at = WRISTS[far];
            let wrist = neck + chest * Vec3::new(arm.side * at.x, at.y + 0.06 * controls.reach[k], at.z);
            let elbow = arm.elbow(&stance.world, wrist, SWIVELS[far].to_radians());
            let fore = arm.place(&mut stance.pose, &stance.world, wrist, elbow, [0.0; 2]);
            set_hand(
                arm,
                stance,
                fore,
                arm.hand(chest * Vec3::new(-0.2 * arm.side, 1.0, 0.1), chest * Vec3::new(-0.7 * arm.side, 0.0, 0.7)),
            );
        }
        stance.update(setting.skeleton);
    }
}
