//! The side and the back of the torso: elbows to the ribs, as Cooke and Graziano saw it, forearms up before the chest, and curled up around them: an upright trunk
//! behind raised fists is somebody who boxes.

use kumite_motion::rotation::from_vector;
use kumite_motion::{Quat, Role, Vec3};

use super::block::set_hand;
use super::rear_head::tuck;
use super::{Controls, Rule, Setting, Stance, flat};
use crate::body::TRUNK;

/// Where wrists are, from the neck in the frame of the chest, metres: the near one and the far one.
const WRISTS: [Vec3; 2] = [Vec3::new(0.13, -0.02, 0.24), Vec3::new(0.06, -0.10, 0.26)];
/// Elbows are this far out, degrees: the near one hardly.
const SWIVELS: [f32; 2] = [2.0, 8.0];

/// How far waist and back curl forward, degrees each, at least and more before what is fast; and shoulders rise by this share of a recoil at least.
const CURL: [(Role, f32, f32); 2] = [(Role::Waist, 8.0, 6.0), (Role::Back, 14.0, 8.0)];
const HUNCH: f32 = 0.6;

/// Elbows to the ribs.
#[derive(Clone, Copy, Debug)]
pub struct Ribs;

impl Rule for Ribs {
    fn name(&self) -> &'static str {
        "ribs"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        let ahead = flat(stance.world.rotation(Role::Pelvis.joint()) * Vec3::Z).normalize_or(Vec3::Z);
        let curl = TRUNK.map(|role| {
            let Some((_, least, more)) = CURL.into_iter().find(|c| c.0 == role) else { return Quat::IDENTITY };
            from_vector(Vec3::Y.cross(ahead) * ((least + more * controls.lean) * setting.gain.min(1.2)).to_radians())
        });
        stance.turn_trunk(setting.skeleton, curl);
        tuck(setting, controls, stance, HUNCH);
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
