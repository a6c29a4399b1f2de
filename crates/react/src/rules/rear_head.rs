//! § 3.4: what comes at the head from behind the shoulders is met by hands behind the head, with the arms around it; nobody knows
//! precisely where it is.

use kumite_motion::rotation::slerp;
use kumite_motion::{Role, Vec3};

use super::block::set_hand;
use super::{Controls, Rule, Setting, Stance};

/// Where palms are, from the middle of the head in its frame, metres: beside, above, behind.
const PALM: Vec3 = Vec3::new(0.075, -0.01, -0.145);
/// How far hands follow the turn of the head.
const FOLLOWS: f32 = 0.4;
/// Where elbows point, in the frame of the chest, by the swivel: out beside the ears, or forward and up.
const ELBOW: [Vec3; 2] = [Vec3::new(0.95, 0.0, 0.15), Vec3::new(0.45, 0.45, 0.8)];

/// Hands behind the head.
#[derive(Clone, Copy, Debug)]
pub struct RearHead;

impl Rule for RearHead {
    fn name(&self) -> &'static str {
        "rear head"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
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
