//! How a body that falls protects itself: arms reach for the floor on the side that comes down, and the chin goes to the chest or the face away from the floor. What
//! the motors aim at while falling; whether they get there is physics (Hsiao and Robinovitch 1998: hands touch first in most unexpected falls).

use kumite_motion::blend::ease;
use kumite_motion::limits::Limit;
use kumite_motion::rotation::{from_vector, slerp};
use kumite_motion::{Pose, Role, Skeleton, Vec3, WorldPose, fk};

use crate::body::{Body, STRETCH};

/// The trunk is this far from upright when arms begin to reach, and when they reach with all they have: cosines of about 15 and 45 degrees.
const TILTS: (f32, f32) = (0.97, 0.71);
/// How straight arms are that break a fall, as a share of their length: a locked elbow breaks.
const LENGTH: f32 = 0.86;
/// How far beside its shoulder a hand goes down, as a share of the arm.
const ASIDE: f32 = 0.25;
/// How far neck and head bend away from the floor, radians each: forward, and back.
const CHIN: (f32, f32) = (0.45, 0.30);

/// How much of it is wanted, 0..1, by how far the trunk has tilted.
pub(crate) fn wanted(shown: &WorldPose) -> f32 {
    let up = (shown.rotation(Role::Back.joint()) * Vec3::Y).y;
    ease(((TILTS.0 - up) / (TILTS.0 - TILTS.1)).clamp(0.0, 1.0))
}

/// Changes what a body that falls aims at. `shown` is how it lies in the air, `world` is scratch, `aim` the pose of its fall before and after.
pub(crate) fn protect(
    skeleton: &Skeleton,
    body: &Body,
    shown: &Pose,
    world: &mut WorldPose,
    speed: Vec3,
    aim: &mut Pose,
) {
    fk::pose(skeleton, shown, world);
    let share = wanted(world);
    if share <= 0.0 {
        return;
    }
    let chest = world.rotation(Role::Back.joint());
    // The way the trunk goes down: where its upper end leans to.
    let leans = chest * Vec3::Y;
    let to = Vec3::new(leans.x, 0.0, leans.z).normalize_or(Vec3::new(speed.x, 0.0, speed.z).normalize_or(Vec3::Z));
    let mut laid = shown.clone();
    for arm in &body.arms {
        let [_, shoulder, elbow, _] = arm.joints.map(Role::joint);
        let from = world.position(shoulder);
        let out = chest * (Vec3::X * arm.side);
        let way = (Vec3::NEG_Y + to * 0.45 + out * ASIDE).normalize_or(Vec3::NEG_Y);
        // Hands stop at the floor.
        let length = (LENGTH * arm.length).min(STRETCH * arm.length);
        let down = from + way * length;
        let hand = Vec3::new(down.x, down.y.max(0.04), down.z);
        // Elbows stay out of the way, on the outside.
        let _ = arm.place(&mut laid, world, hand, out - Vec3::Y * 0.2, [0.0; 2]);
        for (role, joint) in [(arm.joints[1], shoulder), (arm.joints[2], elbow)] {
            let turn = laid.rotations[joint.at()];
            let within = Limit::of(role).map_or(turn, |limit| limit.clamp(turn));
            aim.rotations[joint.at()] = slerp(aim.rotations[joint.at()], within, share);
        }
    }
    // Away from the floor: forward if it falls on its back, back if on its face, aside from its side.
    let across = chest.conjugate() * to;
    let bend = Vec3::new(if across.z < 0.0 { -across.z * CHIN.0 } else { -across.z * CHIN.1 }, 0.0, across.x * CHIN.0);
    for role in [Role::Neck, Role::Head] {
        let turn = from_vector(bend);
        let kept = Limit::of(role).map_or(turn, |limit| limit.clamp(turn));
        let joint = role.joint().at();
        aim.rotations[joint] = slerp(aim.rotations[joint], kept, share);
    }
}
