//! Keeps arms out of head, trunk and thighs on the way into a pose and back.

use kumite_motion::limits::Limit;
use kumite_motion::rotation::from_vector;
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
const GIVES: f32 = 0.8;
/// How far an elbow swivels out for a metre of depth, as a share of its direction.
const SWIVELS: f32 = 5.0;
/// How near a head is to an upper arm and shoulder before it leans away from them, metres.
const LEANS: f32 = 0.150;

/// Segments of an arm, what they keep from, and how far.
const PAIRS: usize = 10;

/// How near the parts of an arm are to what they keep from: shortfalls of distance, metres.
pub(crate) type Depths = [[f32; PAIRS]; 2];

/// Forearm and hand against trunk, head and thighs, and the upper arm against the head: the shortfall, the way out, and where along the segment.
fn contacts(body: &Body, arm: &Arm, world: &WorldPose) -> [(f32, Vec3, f32); PAIRS] {
    let at = |role: Role| world.position(role.joint());
    let [shoulder, elbow, wrist] = [arm.joints[1], arm.joints[2], arm.joints[3]].map(at);
    let hand = world.point(arm.joints[3].joint(), Vec3::X * (arm.side * 2.0 * arm.palm));
    let (head, trunk) = (body.head_at(world), [at(Role::Pelvis), at(Role::Neck)]);
    let thighs = body.legs.map(|leg| [at(leg.joints[0]), at(leg.joints[1])]);
    let chest = world.rotation(Role::Back.joint());
    let (aside, ahead) = (chest * (Vec3::X * arm.side), chest * Vec3::Z);
    // The nearest way out turns over where an arm is led through the middle of something, and a hand would jump to its other side. The deeper it is, the more it is led
    // out towards its own side instead, which is the same on all of its way.
    let one = |part: [Vec3; 2], other: [Vec3; 2], keeps: f32, way: Vec3| {
        let (a, b) = closest(part, other);
        let off = part[0].lerp(part[1], a) - other[0].lerp(other[1], b);
        let short = keeps - off.length();
        let deep = (short / keeps).clamp(0.0, 1.0);
        let out = (off / keeps + way * (deep * deep)).normalize_or(way);
        // As far along that way as it takes to be clear.
        let along = off.dot(out);
        let gone = (along * along + keeps * keeps - off.length_squared()).max(0.0).sqrt() - along;
        (if short > 0.0 { gone.max(short) } else { short }, out, a)
    };
    let thigh = |k: usize| if (k == 0) == (arm.side > 0.0) { aside } else { ahead };
    [
        one([elbow, wrist], trunk, TRUNK, aside),
        one([wrist, hand], trunk, TRUNK, aside),
        one([elbow, wrist], [head; 2], HEAD, aside),
        one([wrist, hand], [head; 2], HEAD, aside),
        one([elbow, wrist], thighs[0], THIGH, thigh(0)),
        one([wrist, hand], thighs[0], THIGH, thigh(0)),
        one([elbow, wrist], thighs[1], THIGH, thigh(1)),
        one([wrist, hand], thighs[1], THIGH, thigh(1)),
        one([shoulder.lerp(elbow, 0.3), elbow], [head; 2], UPPER, aside),
        one([shoulder, elbow], [head; 2], LEANS, aside),
    ]
}

/// How deep the motion has its arms.
pub(crate) fn depths(body: &Body, world: &WorldPose) -> Depths {
    body.arms.map(|arm| contacts(body, &arm, world).map(|contact| contact.0.max(0.0)))
}

/// Moves arms out of head, trunk and thighs, and the head off the shoulders, no farther than the motion itself has them outside. `world` is that of `pose` before
/// and after.
pub(crate) fn clear(body: &Body, skeleton: &Skeleton, own: &Depths, pose: &mut Pose, world: &mut WorldPose) {
    for _ in 0..PASSES {
        // Where a shoulder is drawn up to the ear no elbow helps: the head leans off it.
        let mut push = Vec3::ZERO;
        for (arm, own) in body.arms.iter().zip(own) {
            let (depth, out, _) = contacts(body, arm, world)[9];
            push -= out * (depth - own[9]).max(0.0);
        }
        if push == Vec3::ZERO {
            break;
        }
        let (neck, back) = (Role::Neck.joint(), world.rotation(Role::Back.joint()));
        let lever = body.head_at(world) - world.position(neck);
        let turn = from_vector(lever.cross(push * GIVES) / lever.length_squared().max(1e-3));
        let own = pose.rotation(neck);
        let turned = (back.conjugate() * turn * back * own).normalize();
        pose.rotations[neck.at()] = match Limit::of(Role::Neck) {
            Some(limit) if limit.excess(turned) > limit.excess(own) => limit.clamp(turned),
            _ => turned,
        };
        fk::pose(skeleton, pose, world);
    }
    for (arm, own) in body.arms.iter().zip(own) {
        for _ in 0..PASSES {
            let (mut push, mut swivel) = (Vec3::ZERO, Vec3::ZERO);
            for (k, (depth, out, along)) in contacts(body, arm, world).into_iter().enumerate() {
                let deep = depth - own[k];
                if deep <= 0.0 || k == 9 {
                    continue;
                }
                match k {
                    // The wrist has to go farther than what is nearer to the elbow; what is at the elbow itself is its swivel's.
                    0 | 2 | 4 | 6 => {
                        push += out * (deep * GIVES * (along / 0.4).min(1.0) / along.max(0.4));
                        swivel += out * (deep * SWIVELS * (1.0 - along));
                    }
                    8 => {
                        swivel += out * (deep * SWIVELS);
                        push += out * (0.5 * deep);
                    }
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
