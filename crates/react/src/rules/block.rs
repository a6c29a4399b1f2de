//! § 3.2.5: both hands on the threat's way, side by side, far out for small threats and close for large ones.

use kumite_motion::limits::Limit;
use kumite_motion::rotation::{wrap, yaw, yaw_of};
use kumite_motion::{Quat, Role, Vec3};

use super::{Aim, Controls, Part, Rule, Setting, Stance, flat};
use crate::body::{Arm, STRETCH};

/// Reaches of the thesis' head response, metres, and the arm they are for: 0.9 m is all of it.
const HEAD_REACH: (f32, f32, f32) = (0.9, 0.3, 0.9);
/// And of the pelvis response.
const PELVIS_REACH: (f32, f32, f32) = (0.5, 0.4, 0.53);
/// Swivels, degrees: elbows out for small threats, in for large ones.
const SWIVELS: (f32, f32) = (70.0, 10.0);
/// Each hand is this far to its side of the way, metres, and wrists this share of a palm below it.
const ASIDE: f32 = 0.06;
/// Hands stop a threat at least this far before the middle of what it is aimed at, metres: head or trunk, and a hand.
const BEFORE: (f32, f32) = (0.20, 0.24);
/// Wrists keep this far from the axis of the trunk, metres.
const CLEAR: f32 = 0.22;
/// Wrists bend and turn by so much at most here, degrees: a hand that is bent farther is no shield.
const WRIST: (f32, f32) = (60.0, 70.0);

/// Threats this far aside of the chest, radians, are met by the far arm from before the chest: from this angle on, wholly so after that many more, but by at
/// most this share.
const FAR: (f32, f32, f32) = (0.3, 0.9, 0.9);

/// Hands before the body.
#[derive(Clone, Copy, Debug)]
pub struct Block;

impl Rule for Block {
    fn name(&self) -> &'static str {
        "block"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        for (k, arm) in setting.body.arms.iter().enumerate() {
            let aim = setting.aim_of(k);
            if !aim.in_front {
                continue;
            }
            let wrist = wrist_at(setting, controls, stance, k);
            let drawn_in = controls.swivel[k].max(far_share(setting, stance, k));
            let swivel = SWIVELS.0 + (SWIVELS.1 - SWIVELS.0) * drawn_in;
            let elbow = arm.elbow(&stance.world, wrist, swivel.to_radians());
            let fore = arm.place(&mut stance.pose, &stance.world, wrist, elbow, [0.0; 2]);
            let up = Vec3::Y - aim.along * aim.along.y;
            set_hand(arm, stance, fore, arm.hand(up - aim.along * 0.15, -aim.along));
        }
        stance.update(setting.skeleton);
    }
}

/// Turns the hand of a forearm as far towards `wanted`, in the world, as a wrist goes.
pub(crate) fn set_hand(arm: &Arm, stance: &mut Stance, fore: Quat, wanted: Quat) {
    let local = (fore.conjugate() * wanted).normalize();
    let limit = match Limit::of(arm.joints[3]) {
        Some(Limit::Ball { bone, centre, .. }) => {
            let (swing, twist) = (WRIST.0.to_radians(), WRIST.1.to_radians());
            Some(Limit::Ball { bone, centre, swing, twist: (-twist, twist) })
        }
        other => other,
    };
    stance.pose.rotations[arm.joints[3].joint().at()] = limit.map_or(local, |limit| limit.clamp(local));
}

/// Where a wrist goes so that its palm is on the way of the threat that its arm is to stop.
fn wrist_at(setting: &Setting<'_>, controls: &Controls, stance: &Stance, k: usize) -> Vec3 {
    let (wrist, shoulder) = wrist_on_way(setting, controls, stance, k);
    shoulder + (wrist - shoulder).clamp_length_max(STRETCH * setting.body.arms[k].length)
}

/// How far a palm would have to be farther away from its shoulder than the arm is long, to be on the threat's way: metres.
pub(crate) fn short_of(setting: &Setting<'_>, controls: &Controls, stance: &Stance, k: usize) -> f32 {
    let (wrist, shoulder) = wrist_on_way(setting, controls, stance, k);
    ((wrist - shoulder).length() - STRETCH * setting.body.arms[k].length).max(0.0)
}

/// Where a wrist would be on the threat's way, however long the arm is; and its shoulder.
fn wrist_on_way(setting: &Setting<'_>, controls: &Controls, stance: &Stance, k: usize) -> (Vec3, Vec3) {
    let (arm, aim) = (&setting.body.arms[k], &seen_by(setting, stance, k));
    let shoulder = stance.world.position(arm.joints[1].joint());
    // A far arm that reached out would open the body instead of covering it.
    let drawn_in = controls.reach[k].max(far_share(setting, stance, k));
    let reach_of = |(far, near, whole): (f32, f32, f32)| (far + (near - far) * drawn_in) / whole * arm.length;
    let reach = aim.head * reach_of(HEAD_REACH) + (1.0 - aim.head) * reach_of(PELVIS_REACH);
    let longest = STRETCH * arm.length;
    let reach = reach.min(longest);
    let before = if aim.part == Part::Head { BEFORE.0 } else { BEFORE.1 };
    let aside = -Vec3::Y.cross(aim.along).normalize_or(Vec3::NEG_X) * (arm.side * ASIDE);
    let up = (Vec3::Y - aim.along * aim.along.y).normalize_or(Vec3::Y);
    // The way of the wrist, so that the palm is on the threat's.
    let way = |u: f32| aim.target - aim.along * u + aside - up * (0.7 * arm.palm);
    let to = way(0.0) - shoulder;
    let nearest = to.dot(aim.along);
    let off = (to - aim.along * nearest).length_squared();
    let ahead = |length: f32| (length * length - off).max(0.0).sqrt();
    // As far from the shoulder as it reaches, but before the body, and no farther than the arm is long.
    let u = (nearest + ahead(reach)).max(before).min((nearest + ahead(longest)).max(before));
    (clear_of_trunk(stance, way(u)), shoulder)
}

/// A wrist that would be in or close to the trunk is moved out from its axis.
pub(crate) fn clear_of_trunk(stance: &Stance, wrist: Vec3) -> Vec3 {
    let at = |role: Role| stance.world.position(role.joint());
    let (low, high) = (at(Role::Pelvis), at(Role::Neck));
    let spine = high - low;
    let up = ((wrist - low).dot(spine) / spine.length_squared().max(1e-6)).clamp(0.0, 1.0);
    let centre = low + spine * up;
    let off = wrist - centre;
    if off.length() >= CLEAR { wrist } else { centre + off.normalize_or(Vec3::Z) * CLEAR }
}

/// How far aside of the chest the threat of an arm comes from, radians, positive to the left.
fn aside_of(aim: &Aim, stance: &Stance) -> f32 {
    let chest = flat(stance.world.rotation(Role::Back.joint()) * Vec3::Z).normalize_or(Vec3::Z);
    wrap(yaw_of(-aim.along) - yaw_of(chest))
}

/// How much an arm is the far one, which covers the body: 0 for the arm of the side that a threat comes from.
fn far_share(setting: &Setting<'_>, stance: &Stance, k: usize) -> f32 {
    let aside = aside_of(setting.aim_of(k), stance);
    if aside * setting.body.arms[k].side >= 0.0 { 0.0 } else { ((aside.abs() - FAR.0) / FAR.1).clamp(0.0, FAR.2) }
}

/// The threat as an arm sees it: the far arm does not reach around the body, but meets what comes from aside before the chest.
fn seen_by(setting: &Setting<'_>, stance: &Stance, k: usize) -> Aim {
    let aim = *setting.aim_of(k);
    let along = yaw(-aside_of(&aim, stance) * far_share(setting, stance, k)) * aim.along;
    Aim { along, ..aim }
}
