//! A [`Bend`] worked out from its numbers, for the referee: nothing here calls `Bend`, its limits on legs, or `ik`.

use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, arc, from_vector};
use kumite_motion::{Pose, Quat, Role, Skeleton, Vec3, WorldPose, fk, humanoid};
use kumite_plan::Bend;

/// The numbers of the stage's bends, written down again: shares of the lean, longest leg, sinking of the hips in metres.
const LEAN_SHARES: [(Role, f32); 4] = [(Role::Waist, 0.4), (Role::Back, 0.35), (Role::Neck, 0.25), (Role::Head, -0.4)];
const EYE_SHARES: [(Role, f32); 2] = [(Role::Neck, 0.4), (Role::Head, 0.6)];
const FARTHEST_TURN: f32 = 1.0;
const LEG_STRETCH: f32 = 0.985;
const DEEPEST: f32 = 0.25;
const SOFTEST: f32 = 0.03;
/// And in limb lengths: the nearest that a hand or a foot comes, the free distances, the farthest; the least room for giving in.
const ARM_GIVES: [f32; 4] = [0.30, 0.42, 0.92, 0.985];
const LEG_GIVES: [f32; 4] = [0.30, 0.42, 0.97, 0.994];
const LEAST_ROOM: f32 = 0.005;

/// How much of a bend there is at a time, 0..1: a minimum-jerk rise, less by a minimum-jerk fall.
pub(super) fn amount(bend: &Bend, time: f32) -> f32 {
    let part = |(from, to): (f32, f32)| {
        let s = ((time - from) / (to - from).max(1e-3)).clamp(0.0, 1.0);
        s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)
    };
    part(bend.rise) * (1.0 - part(bend.fall))
}

/// Bends a pose: hips shifted over ankles that stay, the spine leant joint by joint, the head turned, then the hand moved.
pub(super) fn bend_pose(bend: &Bend, time: f32, skeleton: &Skeleton, pose: &mut Pose) {
    let amount = amount(bend, time);
    if amount <= 0.0 {
        return;
    }
    let mut world = WorldPose::default();
    fk::pose(skeleton, pose, &mut world);
    let shift = bend.shift * amount;
    if shift != Vec3::ZERO {
        let before = world.clone();
        let ankles = [Role::LeftAnkle, Role::RightAnkle].map(|ankle| (ankle, world.position(ankle.joint())));
        let depth = ankles.map(|(ankle, _)| sink(&world, ankle, shift)).into_iter().fold(0.0, f32::max);
        pose.translations[0] += shift - Vec3::Y * depth.min(DEEPEST);
        fk::pose(skeleton, pose, &mut world);
        for (ankle, place) in ankles {
            reach(skeleton, ankle, give_in(&before, &world, ankle, place, LEG_GIVES), pose);
        }
    }
    for (role, share) in LEAN_SHARES {
        let (Some(parent), joint) = (role.parent(), role.joint()) else { continue };
        fk::pose(skeleton, pose, &mut world);
        let leant = from_vector(bend.lean * (share * amount)) * world.rotation(joint);
        let local = (world.rotation(parent.joint()).conjugate() * leant).normalize();
        // Nobody leans past a joint's limit; a capture that is past it stays as it is.
        let within = Limit::of(role).is_none_or(|limit| limit.excess(pose.rotation(joint)) <= 0.0);
        if within {
            pose.rotations[joint.at()] = Limit::of(role).map_or(local, |limit| limit.clamp(local));
        }
    }
    if bend.eyes != Vec3::ZERO {
        fk::pose(skeleton, pose, &mut world);
        // The angle between where the head looks and where it should, as far as it turns, in two parts about the same axis.
        let looks = world.rotation(Role::Head.joint()) * Vec3::Z;
        let angle = libm::acosf(looks.dot(bend.eyes).clamp(-1.0, 1.0)).min(FARTHEST_TURN) * amount;
        let axis = looks.cross(bend.eyes).normalize_or(Vec3::ZERO);
        for (role, share) in EYE_SHARES {
            let (Some(parent), joint) = (role.parent(), role.joint()) else { continue };
            fk::pose(skeleton, pose, &mut world);
            let turned = about(axis, angle * share) * world.rotation(joint);
            let local = (world.rotation(parent.joint()).conjugate() * turned).normalize();
            if axis != Vec3::ZERO && Limit::of(role).is_none_or(|limit| limit.excess(pose.rotation(joint)) <= 0.0) {
                pose.rotations[joint.at()] = Limit::of(role).map_or(local, |limit| limit.clamp(local));
            }
        }
    }
    if let Some((wrist, way)) = bend.hand {
        fk::pose(skeleton, pose, &mut world);
        let place = world.position(wrist.joint()) + way * amount;
        let place = give_in(&world, &world, wrist, place, ARM_GIVES);
        reach(skeleton, wrist, place, pose);
    }
}

/// Where a hand or a foot goes that is wanted at a place: near the ends of a limb's reach, or of where its motion has it, `before`, if that is
/// farther, it stays behind, by as much as takes it to the end only at infinity.
fn give_in(
    before: &WorldPose,
    world: &WorldPose,
    end: Role,
    place: Vec3,
    [near_end, near, far, far_end]: [f32; 4],
) -> Vec3 {
    let [Some(hinge), Some(top)] = [end.parent(), end.parent().and_then(Role::parent)] else { return place };
    let [top, hinge, end] = [top, hinge, end].map(Role::joint);
    let limb = (before.position(top) - before.position(hinge)).length()
        + (before.position(hinge) - before.position(end)).length();
    let (own, from) = ((before.position(end) - before.position(top)).length(), world.position(top));
    let wanted = (place - from).length();
    let stays = |from: f32, to: f32| {
        let (past, room) = ((wanted - from).abs(), (to - from).abs().max(LEAST_ROOM * limb));
        past - room * (1.0 - libm::expf(-past / room))
    };
    let (far, near) = (own.max(far * limb), own.min(near * limb));
    let length = if wanted > far {
        wanted - stays(far, (far_end * limb).max(far))
    } else if wanted < near {
        wanted + stays(near, (near_end * limb).min(near))
    } else {
        wanted
    };
    from + (place - from).normalize_or(Vec3::NEG_Y) * length
}

/// How far shifted hips have to come down for a leg to reach its ankle, rounded off where that begins. Metres.
fn sink(world: &WorldPose, ankle: Role, shift: Vec3) -> f32 {
    let [Some(knee), Some(hip)] = [ankle.parent(), ankle.parent().and_then(Role::parent)] else { return 0.0 };
    let [hip, knee, ankle] = [hip, knee, ankle].map(|role| world.position(role.joint()));
    let longest = (LEG_STRETCH * ((hip - knee).length() + (knee - ankle).length())).max((hip - ankle).length());
    let leg = hip + shift - ankle;
    let needed = leg.y - (longest * longest - leg.x * leg.x - leg.z * leg.z).max(0.0).sqrt();
    // A parabola from -soft to soft that meets both straight lines.
    let soft = (0.3 * shift.length()).clamp(1e-6, SOFTEST);
    let past = (needed + soft).max(0.0);
    let sunk = if needed >= soft { needed } else { past * past / (4.0 * soft) };
    // A foot above half a metre kicks, one below 0.3 m stands or is about to.
    let s = ((ankle.y - 0.3) / 0.25).clamp(0.0, 1.0);
    sunk * (1.0 - s * s * s * (10.0 - 15.0 * s + 6.0 * s * s))
}

/// Puts a wrist or an ankle at a place, or as near as the limb is long: its hinge opens or closes to the angle that the law of cosines asks for, then
/// the limb swings to the place. Hand and foot keep their attitude in the world.
pub(super) fn reach(skeleton: &Skeleton, end: Role, place: Vec3, pose: &mut Pose) {
    let Some(hinge) = end.parent() else { return };
    let (Some(top), Some(axis)) = (hinge.parent(), humanoid::hinge_axis(hinge)) else { return };
    let Some(base) = top.parent() else { return };
    let mut world = WorldPose::default();
    fk::pose(skeleton, pose, &mut world);
    let [from, middle, now] = [top, hinge, end].map(|role| world.position(role.joint()));
    let [upper, lower, way] = [middle - from, now - middle, place - from];
    let (a, b) = (upper.length(), lower.length());
    let longest = (now - from).length().max(0.999 * (a + b));
    let length = way.length().clamp((a - b).abs(), longest);
    let axis = hinge_axis(upper, lower, world.rotation(top.joint()) * axis);
    let closed = |u: Vec3, l: Vec3| libm::atan2f(u.cross(l).dot(axis), u.dot(l));
    let flat = |v: Vec3| v - axis * v.dot(axis);
    let angle = closed(flat(upper), flat(lower));
    let wanted = libm::acosf(((length * length - a * a - b * b) / (2.0 * a * b)).clamp(-1.0, 1.0));
    // A captured limb that is a little overstretched stays so.
    let wanted = if angle < 0.0 && wanted < 0.1 { -wanted } else { wanted };
    let close = about(axis, wanted - angle);
    let swing = arc((upper + close * lower).normalize_or(Vec3::NEG_Y), way.normalize_or(Vec3::NEG_Y));
    let turned: [Quat; 4] = [
        world.rotation(base.joint()),
        swing * world.rotation(top.joint()),
        swing * close * world.rotation(hinge.joint()),
        world.rotation(end.joint()),
    ];
    for (role, pair) in [top, hinge, end].into_iter().zip(turned.windows(2)) {
        pose.rotations[role.joint().at()] = (pair[0].conjugate() * pair[1]).normalize();
    }
}

/// The axis a limb bends about: square to its bones where it is bent, that of its joint, `own`, where it is straight.
fn hinge_axis(upper: Vec3, lower: Vec3, own: Vec3) -> Vec3 {
    let along = (upper + lower).normalize_or(Vec3::NEG_Y);
    let own = (own - along * own.dot(along)).normalize_or(own);
    let square = upper.normalize_or(along).cross(lower.normalize_or(along));
    let square = if square.dot(own) < 0.0 { -square } else { square };
    // Wholly its own from twelve degrees on.
    let bent = (square.length() / 0.2).min(1.0);
    own.lerp(square.normalize_or(own), bent).normalize_or(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(bend: Bend) -> Bend {
        Bend { rise: (0.2, 0.6), fall: (1.0, 1.4), ..bend }
    }

    fn bent(bend: &Bend) -> [WorldPose; 2] {
        let skeleton = humanoid::skeleton();
        let mut pose = Pose::rest(&skeleton);
        let [mut before, mut after] = [WorldPose::default(), WorldPose::default()];
        fk::pose(&skeleton, &pose, &mut before);
        bend_pose(bend, 0.8, &skeleton, &mut pose);
        fk::pose(&skeleton, &pose, &mut after);
        [before, after]
    }

    /// 10 s³ - 15 s⁴ + 6 s⁵ is 106/1024 at a quarter and a half at the half.
    #[test]
    fn it_grows_and_shrinks_as_a_hand_computes() {
        let bend = held(Bend { shift: Vec3::X, ..Bend::default() });
        let quarter = 106.0 / 1024.0;
        for (time, by_hand) in [
            (0.1, 0.0),
            (0.3, quarter),
            (0.4, 0.5),
            (0.6, 1.0),
            (1.0, 1.0),
            (1.1, 1.0 - quarter),
            (1.2, 0.5),
            (1.4, 0.0),
        ] {
            assert!((amount(&bend, time) - by_hand).abs() < 1e-5, "{time}: {}", amount(&bend, time));
        }
    }

    /// Of 0.5 rad about Z the waist is turned by 0.2, the back by 0.375, the neck by 0.5, the head by 0.3; every bone goes with the joint
    /// below it, to -X.
    #[test]
    fn a_lean_is_what_a_hand_computes() {
        let [before, after] = bent(&held(Bend { lean: Vec3::Z * 0.5, ..Bend::default() }));
        let at = |world: &WorldPose, role: Role| world.position(role.joint());
        let mut place = at(&before, Role::Waist);
        assert!((at(&after, Role::Waist) - place).length() < 1e-6);
        for (below, above, angle) in
            [(Role::Waist, Role::Back, 0.2f32), (Role::Back, Role::Neck, 0.375), (Role::Neck, Role::Head, 0.5)]
        {
            let bone = at(&before, above) - at(&before, below);
            let (sine, cosine) = libm::sincosf(angle);
            place += Vec3::new(cosine * bone.x - sine * bone.y, sine * bone.x + cosine * bone.y, bone.z);
            assert!((at(&after, above) - place).length() < 1e-5, "{above:?}: {} but {place}", at(&after, above));
        }
        let head = after.rotation(Role::Head.joint()) * Vec3::Y;
        assert!((libm::atan2f(-head.x, head.y) - 0.3).abs() < 1e-5, "{head}");
    }

    /// Hips 10 cm lower: the ankles stay, and a knee between bones a and b closes until they span what is left of the leg.
    #[test]
    fn a_shift_is_what_a_hand_computes() {
        let [before, after] = bent(&held(Bend { shift: Vec3::NEG_Y * 0.1, ..Bend::default() }));
        let at = |world: &WorldPose, role: Role| world.position(role.joint());
        let hips = at(&after, Role::Pelvis) - at(&before, Role::Pelvis);
        assert!((hips + Vec3::Y * 0.1).length() < 1e-6, "{hips}");
        for [hip, knee, ankle] in
            [[Role::LeftHip, Role::LeftKnee, Role::LeftAnkle], [Role::RightHip, Role::RightKnee, Role::RightAnkle]]
        {
            assert!((at(&after, ankle) - at(&before, ankle)).length() < 1e-4);
            let (upper, lower) = (at(&after, hip) - at(&after, knee), at(&after, ankle) - at(&after, knee));
            let span = (at(&before, hip) - Vec3::Y * 0.1 - at(&before, ankle)).length();
            let (a, b) = (upper.length(), lower.length());
            let by_hand = (a * a + b * b - span * span) / (2.0 * a * b);
            assert!((upper.dot(lower) / (a * b) - by_hand).abs() < 1e-4);
            assert!(at(&after, knee).z > at(&before, knee).z + 0.1, "knees bend forward");
        }
    }

    /// A straight leg of 0.985 allowed lengths, 0.3 m aside: Pythagoras says how far the hips come down.
    #[test]
    fn hips_sink_as_a_hand_computes() {
        let mut world = WorldPose::default();
        let skeleton = humanoid::skeleton();
        fk::pose(&skeleton, &Pose::rest(&skeleton), &mut world);
        let [hip, ankle] = [Role::LeftHip, Role::LeftAnkle].map(|role| world.position(role.joint()));
        let leg = hip - ankle;
        let by_hand = leg.y - (leg.length_squared() - (leg.x + 0.3) * (leg.x + 0.3) - leg.z * leg.z).sqrt();
        let sunk = sink(&world, Role::LeftAnkle, Vec3::X * 0.3);
        assert!(by_hand > SOFTEST && (sunk - by_hand).abs() < 1e-5, "{sunk} but {by_hand}");
        assert_eq!(sink(&world, Role::LeftAnkle, Vec3::NEG_Y * 0.2), 0.0);
    }

    #[test]
    fn a_hand_goes_where_it_is_sent() {
        let way = Vec3::new(-0.1, -0.2, 0.15);
        let [before, after] = bent(&held(Bend { hand: Some((Role::LeftWrist, way)), ..Bend::default() }));
        let moved = |role: Role| after.position(role.joint()) - before.position(role.joint());
        assert!((moved(Role::LeftWrist) - way).length() < 1e-4, "{}", moved(Role::LeftWrist));
        assert!(moved(Role::RightWrist).length() < 1e-6 && moved(Role::LeftShoulder).length() < 1e-6);
        let turned = after.rotation(Role::LeftWrist.joint()).dot(before.rotation(Role::LeftWrist.joint()));
        assert!(turned.abs() > 1.0 - 1e-5, "the hand keeps its attitude");
    }
}
