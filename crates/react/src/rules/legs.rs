//! The legs (chapter 5 of the thesis): side-on to the threat, the near knee up, weight on the other leg. The near arm comes down beside the knee and the
//! other one covers the chin: arms held out for balance alone read as a dance.

use kumite_motion::rotation::{about, from_vector};
use kumite_motion::{Role, Vec3};

use super::block::set_hand;
use super::{Controls, Rule, Setting, Stance, row};
use crate::body::TRUNK;

/// How far the near knee is raised, degrees, and how far it bends.
const KNEE: (f32, f32) = (72.0, 95.0);
/// Where wrists are, from their shoulders in the frame of the chest, as shares of the arm: out, up, ahead. The near one and the far one.
const WRISTS: [Vec3; 2] = [Vec3::new(0.16, -0.72, 0.46), Vec3::new(-0.20, 0.06, 0.58)];
/// Elbows are this far out, degrees.
const SWIVELS: [f32; 2] = [18.0, 6.0];
/// How far the trunk bows, degrees: so much, and more before what is fast.
const BOW: (f32, f32) = (9.0, 9.0);

/// Saves the legs.
#[derive(Clone, Copy, Debug)]
pub struct Legs;

impl Rule for Legs {
    fn name(&self) -> &'static str {
        "legs"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        let strength = (0.4 + 0.6 * controls.turn.max(controls.lean)) * setting.gain.min(1.2);
        let turn = |role: Role| match role {
            Role::Pelvis if !setting.planted => 0.0,
            Role::Neck | Role::Head => 0.0,
            _ => row(role).y.to_radians() * strength,
        };
        // Hips out of the way, chest over them: the trunk bows a little towards what it looks at.
        let bow = Vec3::Y.cross(-setting.aim().along) * (BOW.0 + BOW.1 * controls.lean).to_radians();
        let turns = TRUNK.map(|role| {
            let bows =
                if matches!(role, Role::Back | Role::Neck) { from_vector(bow) } else { kumite_motion::Quat::IDENTITY };
            bows * about(Vec3::Y, turn(role) * setting.turns)
        });
        stance.turn_trunk(setting.skeleton, turns);
        let chest = stance.world.rotation(Role::Back.joint());
        for (k, arm) in setting.body.arms.iter().enumerate() {
            let shoulder = stance.world.position(arm.joints[1].joint());
            let near = setting.raised.map_or(arm.side == setting.aim().side, |leg| leg == k);
            let far = usize::from(!near);
            let reach = WRISTS[far] * (arm.length * (1.1 - 0.2 * controls.reach[k]));
            let wrist = shoulder + chest * Vec3::new(arm.side * reach.x, reach.y, reach.z);
            let elbow = arm.elbow(&stance.world, wrist, SWIVELS[far].to_radians());
            let fore = arm.place(&mut stance.pose, &stance.world, wrist, elbow, [0.0; 2]);
            set_hand(arm, stance, fore, fore * about(Vec3::Z, arm.side * 0.2));
        }
        stance.update(setting.skeleton);
    }
}

/// The raised leg: turns of hip and knee from where they hang, as shares of all of it.
pub(crate) fn raised(strength: f32) -> (f32, f32) {
    (KNEE.0.to_radians() * strength, KNEE.1.to_radians() * strength)
}
