//! § 3.4: what comes at the head from behind the shoulders is met by hands behind the head, with the arms around it; nobody knows
//! precisely where it is.

use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, slerp};
use kumite_motion::{Quat, Role, Vec3};

use super::block::set_hand;
use super::{Controls, Recoil, Rule, Setting, Stance};

/// Where palms are, from the middle of the head in its frame, metres: beside, above, behind.
const PALM: Vec3 = Vec3::new(0.075, -0.01, -0.145);
/// How far hands follow the turn of the head.
const FOLLOWS: f32 = 0.4;
/// Where elbows point, in the frame of the chest, by the swivel: before the ears, or forward and up. Elbows that stand out aside are those of somebody who gives up.
const ELBOW: [Vec3; 2] = [Vec3::new(0.78, 0.15, 0.5), Vec3::new(0.45, 0.45, 0.8)];
/// How far neck and head are bowed forward at least, radians each, and by how much of a recoil shoulders rise at least: chin to the chest, neck between the shoulders.
const CHIN: f32 = 0.2;
const HUNCH: f32 = 0.4;

/// Hands behind the head.
#[derive(Clone, Copy, Debug)]
pub struct RearHead;

impl Rule for RearHead {
    fn name(&self) -> &'static str {
        "rear head"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        if setting.aim().in_front && setting.aim_of(0).in_front && setting.aim_of(1).in_front {
            return;
        }
        if !setting.aim().in_front {
            tuck(setting, controls, stance, HUNCH);
        }
        for (k, arm) in setting.body.arms.iter().enumerate() {
            if setting.aim_of(k).in_front {
                continue;
            }
            // The head bows forward; hands are where it then is.
            let chest = stance.world.rotation(Role::Back.joint());
            // Between chest and head: arms do not follow the face as far as it turns.
            let frame = slerp(chest, stance.world.rotation(Role::Head.joint()), FOLLOWS);
            let head = setting.body.head_at(&stance.world);
            let palm = head + frame * Vec3::new(arm.side * PALM.x, PALM.y, PALM.z - 0.02 * controls.reach[k]);
            // Fingers lie across the back of the head, from the wrist beside it.
            let fingers = frame * Vec3::new(-arm.side * 0.75, 0.45, -0.35);
            let wrist = palm - fingers.normalize_or(Vec3::Y) * arm.palm;
            let points = ELBOW[0].lerp(ELBOW[1], controls.swivel[k]);
            let elbow = chest * Vec3::new(arm.side * points.x, points.y, points.z);
            let fore = arm.place(&mut stance.pose, &stance.world, wrist, elbow, [0.0; 2]);
            set_hand(arm, stance, fore, arm.hand(fingers, frame * Vec3::Z));
        }
        stance.update(setting.skeleton);
    }
}

/// Chin down and shoulders up by so much of a recoil at least, as far as neither was done yet.
pub(super) fn tuck(setting: &Setting<'_>, controls: &Controls, stance: &mut Stance, hunch: f32) {
    for role in [Role::Neck, Role::Head] {
        let joint = role.joint();
        let parent = role.parent().map_or(Quat::IDENTITY, |parent| stance.world.rotation(parent.joint()));
        let bowed = (parent.conjugate() * stance.world.rotation(joint) * Vec3::Y).z;
        let bow = about(Vec3::X, (CHIN - bowed).clamp(0.0, CHIN));
        let turned = (bow * stance.pose.rotations[joint.at()]).normalize();
        stance.pose.rotations[joint.at()] = Limit::of(role).map_or(turned, |limit| limit.clamp(turned));
        stance.update(setting.skeleton);
    }
    let missing = hunch - controls.recoil * hunch;
    Recoil.apply(setting, &Controls { recoil: missing, ..*controls }, stance);
}
