//! Keeps arms out of head, trunk and thighs on the way into a pose and back.

use kumite_motion::{Pose, Role, Skeleton, Vec3, WorldPose, fk};

use crate::body::{Arm, Body, closest};

/// Distances that the middle of a forearm or hand keeps from the middle of the trunk, of the head and of a thigh, metres.
const TRUNK: f32 = 0.150;
const HEAD: f32 = 0.130;
const THIGH: f32 = 0.100;
/// An upper arm from the head, metres.
const UPPER: f32 = 0.14;
/// Passes, and the share of a depth that each of them undoes.
const PASSES: usize = 4;
const GIVES: f32 = 0.7;
/// How far an elbow swivels out for a metre of depth, as a share of its direction.
const SWIVELS: f32 = 5.0;

/// Segments of an arm, what they keep from, and how far.
const PAIRS: usize = 9;

/// How near the parts of an arm are to what they keep from: shortfalls of distance, metres.
pub(crate) type Depths = [[f32; PAIRS]; 2];

/// Forearm and hand against trunk, head and thighs, and the upper arm against the head: the shortfall, the way out, and where along the segment.
fn contacts(body: &Body, arm: &Arm, world: &WorldPose) -> [(f32, Vec3, f32); PAIRS] {
    let at = |role: Role| world.position(role.joint());
    let [shoulder, elbow, wrist] = [arm.joints[1], arm.joints[2], arm.joints[3]].map(at);
    let hand = world.point(arm.joints[3].joint(), Vec3::X * (arm.side * 2.0 * arm.palm));
    let (head, trunk) = (body.head_at(world), [at(Role::Pelvis), at(Role::Neck)]);
    let thighs = body.legs.map(|leg| [at(leg.joints[0]), at(leg.joints[1])]);
    let ahead = world.rotation(Role::Back.joint()) * Vec3::Z;
    let one = |part: [Vec3; 2], other: [Vec3; 2], keeps: f32| {
        let (a, b) = closest(part, other);
        let (p, q) = (part[0].lerp(part[1], a), other[0].lerp(other[1], b));
        (keeps - (p - q).length(), (p - q).normalize_or(ahead), a)
    };
    [
        one([elbow, wrist], trunk, TRUNK),
        one([wrist, hand], trunk, TRUNK),
        one([elbow, wrist], [head; 2], HEAD),
        one([wrist, hand], [head; 2], HEAD),
        one([elbow, wrist], thighs[0], THIGH),
        one([wrist, hand], thighs[0], THIGH),
        one([elbow, wrist], thighs[1], THIGH),
        one([wrist, hand], thighs[1], THIGH),
        one([shoulder.lerp(elbow, 0.4), elbow], [head; 2], UPPER),
    ]
}

/// How deep the motion has its arms.
pub(crate) fn depths(body: &Body, world: &WorldPose) -> Depths {
    body.arms.map(|arm| contacts(body, &arm, world).map(|contact| contact.0.max(0.0)))
}

/// Moves arms out of head, trunk and thighs, no farther than the motion itself has them outside. `world` is that of `pose` before and after.
pub(crate) fn clear(body: &Body, skeleton: &Skeleton, own: &Depths, pose: &mut Pose, world: &mut WorldPose) {
    for (arm, own) in body.arms.iter().zip(own) {
        for _ in 0..PASSES {
            let (mut push, mut swivel) = (Vec3::ZERO, Vec3::ZERO);
            for (k, (depth, out, along)) in contacts(body, arm, world).into_iter().enumerate() {
                let deep = depth - own[k];
                if deep <= 0.0 {
                    continue;
                }
                match k {
                    // The wrist has to go farther than what is nearer to the elbow.
                    0 | 2 | 4 | 6 => {
                        push += out * (deep * GIVES / along.max(0.4));
                        swivel += out * (deep * SWIVELS * (1.0 - along));
                    }
                    8 => swivel += out * (deep * SWIVELS),
                    _ => push += out * (deep * GIVES),
                }
            }
            if push == Vec3::ZERO && swivel == Vec3::ZERO {
                break;
            }
            let wrist = world.position(arm.joints[3].joint());
            let [_, elbow] = arm.lie(world);
            let _ = arm.place(pose, world, wrist + push, elbow + swivel, arm.twists(world));
            fk::pose(skeleton, pose, world);
        }
    }
}
