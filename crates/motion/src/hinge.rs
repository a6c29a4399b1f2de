//! Elbows and knees: how far they are bent, and what a join may do to them.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use crate::blend::Inertia;
use crate::rotation::{about, twist_angle};
use crate::{JointIdx, Pose, Role, Vec3, humanoid};

/// Adds what is left of a join to a pose of the motion that it leads into, `since` seconds after it began.
pub fn join(join: &Inertia, since: f32, pose: &mut Pose) {
    let own = HINGES.map(|hinge| flexion(pose, hinge));
    join.apply(since, pose);
    HINGES.into_iter().zip(own).for_each(|(hinge, own)| keep_flexion(pose, hinge, own));
}

/// [`join`] for the root and the legs.
pub fn join_legs(join: &Inertia, since: f32, pose: &mut Pose) {
    let knees = [Role::LeftKnee, Role::RightKnee];
    let own = knees.map(|hinge| flexion(pose, hinge));
    join.apply_to(since, legs(), pose);
    knees.into_iter().zip(own).for_each(|(hinge, own)| keep_flexion(pose, hinge, own));
}

/// The pelvis and the joints of both legs of the canonical body, parents before children.
pub fn legs() -> impl Iterator<Item = JointIdx> {
    std::iter::once(Role::Pelvis).chain(Role::ALL.into_iter().skip(Role::LeftHip as usize)).map(Role::joint)
}

/// Joints that bend one way only.
pub const HINGES: [Role; 4] = [Role::LeftElbow, Role::RightElbow, Role::LeftKnee, Role::RightKnee];

/// Over this angle, radians, a hinge that a join carries past straight or past folded gives in.
const SOFT: f32 = 0.2;
/// A folded hinge, radians: the end of the ranges of elbows and knees in [`crate::limits`].
const FOLDED: f32 = 160.0 * PI / 180.0;

/// Angle of a hinge, radians: 0 is straight, up to three quarters of a turn is folded, the rest is bent backwards.
pub fn flexion(pose: &Pose, hinge: Role) -> f32 {
    let axis = humanoid::hinge_axis(hinge).unwrap_or(Vec3::X);
    let angle = twist_angle(pose.rotations[hinge.joint().at()], axis);
    if angle < -FRAC_PI_2 { angle + TAU } else { angle }
}

/// A join carries speed over, and may carry a knee past straight or an elbow past folded: it stops softly there, or where its new motion has
/// it, `own`, if that is farther.
fn keep_flexion(pose: &mut Pose, hinge: Role, own: f32) {
    let now = flexion(pose, hinge);
    let (least, most) = (own.min(0.0), own.max(FOLDED));
    let soft = |angle: f32| {
        let (under, over) = (least + SOFT - angle, angle - (most - SOFT));
        if under > 0.0 {
            least + SOFT * libm::expf(-under / SOFT)
        } else if over > 0.0 {
            most - SOFT * libm::expf(-over / SOFT)
        } else {
            angle
        }
    };
    // As much as the motion itself would be changed is given back, so that nothing jumps when the join is over.
    let wanted = soft(now) + own - soft(own);
    let axis = humanoid::hinge_axis(hinge).unwrap_or(Vec3::X);
    let rotation = &mut pose.rotations[hinge.joint().at()];
    *rotation = (*rotation * about(axis, wanted - now)).normalize();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An elbow that a join carries past folded, even past half a turn, stays folded: it neither flips nor jumps.
    #[test]
    fn hinges_that_are_carried_too_far_give_in_softly() {
        let skeleton = humanoid::skeleton();
        for (hinge, own) in HINGES.into_iter().flat_map(|hinge| [0.1f32, 1.0, 2.1].map(|own| (hinge, own))) {
            let axis = humanoid::hinge_axis(hinge).unwrap();
            let mut before: Option<f32> = None;
            for carried in (-60..=230).map(|degrees| (degrees as f32).to_radians()) {
                let mut pose = Pose::rest(&skeleton);
                pose.rotations[hinge.joint().at()] = about(axis, carried);
                keep_flexion(&mut pose, hinge, own);
                let shown = flexion(&pose, hinge);
                assert!((0.0 - SOFT..=FOLDED + SOFT).contains(&shown), "{hinge:?} {carried} {shown}");
                assert!(before.is_none_or(|before| (0.0..0.02).contains(&(shown - before))), "{hinge:?} {carried}");
                before = Some(shown);
            }
            // Where nothing carries it, nothing changes it.
            let mut pose = Pose::rest(&skeleton);
            pose.rotations[hinge.joint().at()] = about(axis, own);
            keep_flexion(&mut pose, hinge, own);
            assert!((flexion(&pose, hinge) - own).abs() < 1e-5);
        }
    }
}
