//! § 3.2.6: the flinch before the answer: shoulders up, arms drawn in, the head turned a little *towards* the threat.

use kumite_motion::rotation::{about, slerp, wrap, yaw_of};
use kumite_motion::{Pose, Quat, Role, Skeleton, Vec3, WorldPose, fk, humanoid};

use super::recoil::shrug;
use super::{Aim, row};
use crate::body::Body;

/// How much of the recoiled pose there is; the rest is the motion's.
const RECOILED: f32 = 0.2;
/// How far the head turns to the threat.
const LOOKS: f32 = 0.4;

/// The startle pose over a motion as it will be in a moment.
pub fn startle(skeleton: &Skeleton, body: &Body, aim: &Aim, motion: &Pose) -> Pose {
    let mut pose = motion.clone();
    for arm in &body.arms {
        let [collar, shoulder, elbow, _] = arm.joints.map(|j| j.joint().at());
        let mut mix = |joint: usize, recoiled: Quat| {
            pose.rotations[joint] = slerp(pose.rotations[joint], recoiled, RECOILED);
        };
        mix(collar, shrug(arm.side, 1.0));
        // Table 3.2 raises a hanging arm sideways by 30 degrees; in a T-pose hanging is down by 90.
        let side = arm.side;
        let hanging = about(Vec3::Z, -side * (90.0 - row(Role::LeftShoulder).z).to_radians());
        mix(shoulder, hanging);
        let axis = humanoid::hinge_axis(arm.joints[2]).unwrap_or(Vec3::Y);
        mix(elbow, about(axis, row(Role::LeftElbow).x.to_radians().min(2.5)));
    }
    let mut world = WorldPose::default();
    fk::pose(skeleton, &pose, &mut world);
    let turn = startled_head(aim, &world);
    let neck = Role::Neck.joint();
    let parent = world.rotation(Role::Back.joint());
    pose.rotations[neck.at()] =
        (parent.conjugate() * about(Vec3::Y, turn) * parent * pose.rotations[neck.at()]).normalize();
    pose
}

/// By how much the head turns to look, radians: 40 % of the way, as far as a neck goes.
pub fn startled_head(aim: &Aim, world: &WorldPose) -> f32 {
    let face = yaw_of(world.rotation(Role::Head.joint()) * Vec3::Z);
    let to = wrap(yaw_of(-aim.along) - face);
    let most = row(Role::Neck).y.to_radians();
    (LOOKS * to).clamp(-most, most)
}
