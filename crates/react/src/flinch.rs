//! What muscles add to a push: neck, trunk and knees give the way it goes and come back. Physics alone moves a body of 70 kg by millimetres where a volleyball meets
//! its guard, and that is what bystanders see of it least: who is hit folds a little, sinks into the knees and lifts the shoulders within a tenth of a second (the startle
//! reflex: neck 60 ms, trunk 100 ms, legs 120 ms, Brown et al. 1991), whatever it held up. Motors aim at it while a response acts; what is left of it fades with the rest.

use kumite_motion::blend::ease;
use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, from_vector};
use kumite_motion::{Pose, Quat, Role, Skeleton, Vec3, WorldPose, fk};

use crate::Extent;
use crate::rules::shrug;
use crate::touch::Touch;

/// How far the trunk bends in all, radians: times the root of the change of the body's speed, and at most. A football bends it by 23 degrees.
const TRUNK: (f32, f32) = (0.85, 0.55);
/// What part of that waist, back and neck bend by.
const SHARES: [(Role, f32); 3] = [(Role::Waist, 0.45), (Role::Back, 0.55), (Role::Neck, 0.35)];
/// And the neck if the head itself is hit.
const WHIPS: f32 = 0.4;
/// How much of that the trunk twists if it is hit aside of its middle, by metre.
const TWISTS: f32 = 2.5;
/// How far knees bend at most, radians, by radian of the trunk.
const KNEES: f32 = 0.75;
/// How far shoulders are lifted, as a share of what they can be, by radian of the trunk.
const SHOULDERS: f32 = 1.0;
/// How far the pelvis comes down at most, metres.
const SINKS: f32 = 0.15;
/// What stands.
const FEET: [Role; 4] = [Role::LeftAnkle, Role::LeftToe, Role::RightAnkle, Role::RightToe];
/// The recoil: how far the trunk is thrown at once the way of the push, radians, times the root of the change of the body's speed, and at most. 8 degrees for a light ball: the
/// chest moves by 5 cm.
const RECOILS: (f32, f32) = (0.36, 0.3);
/// How much of that the head lags behind: it is not what was hit.
const LAGS: f32 = 0.8;
/// How far the pelvis gives, metres, times the root of the change, and at most; not where steps catch the push, which carry it farther.
const GIVES: (f32, f32) = (0.12, 0.05);
/// How much elbows are drawn in, radians by radian of the recoil.
const ELBOWS: f32 = 1.2;
/// When the recoil is all there, and when it is over, seconds after the touch.
const SHOWS: (f32, f32) = (0.07, 0.5);
/// When it begins after a touch, and is all there, seconds.
const GROWS: (f32, f32) = (0.0, 0.11);

/// A flinch that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Flinch {
    /// The axis it bends about, in the world, times radians; and the twist about the vertical, radians.
    bend: Vec3,
    twist: f32,
    /// How far the neck goes along.
    neck: f32,
    /// The recoil: the axis the trunk is thrown about, times radians, the share of it the neck turns by, and how far the pelvis gives, metres.
    recoil: Vec3,
    whips: f32,
    gives: Vec3,
}

impl Flinch {
    /// What a touch makes a body do. `chest` is where the middle of its trunk is, `ahead` where it faces.
    pub(crate) fn of(touch: &Touch, change: f32, chest: Vec3, ahead: Vec3) -> Flinch {
        let along = Vec3::new(touch.velocity.x, 0.0, touch.velocity.z).normalize_or(Vec3::ZERO);
        let size = (TRUNK.0 * change.max(0.0).sqrt()).min(TRUNK.1);
        let head = matches!(touch.part, Role::Head | Role::Neck);
        let low = matches!(
            touch.part,
            Role::LeftHip | Role::RightHip | Role::LeftKnee | Role::RightKnee | Role::LeftAnkle | Role::RightAnkle
        );
        // What hits below the middle folds the trunk over it.
        // A belly only from the front: from elsewhere it would look as if it had been hit from across.
        let belly = touch.part == Role::Pelvis || touch.part == Role::Waist;
        let way = if low || (belly && along.dot(ahead) < -0.5) { -along } else { along };
        let root = change.max(0.0).sqrt();
        let arms = matches!(touch.part, Role::LeftElbow | Role::RightElbow | Role::LeftWrist | Role::RightWrist);
        let thrown = (RECOILS.0 * root).min(RECOILS.1) * if low || arms || head { 0.5 } else { 1.0 };
        let steps = Extent::of(change) != Extent::Sway;
        let arm = Vec3::Y.cross(along).dot(touch.at - chest);
        Flinch {
            bend: Vec3::Y.cross(way) * size,
            twist: if head { 0.0 } else { (-arm * TWISTS).clamp(-0.6, 0.6) * size },
            neck: if head { WHIPS } else { SHARES[2].1 },
            recoil: Vec3::Y.cross(way) * thrown,
            whips: if head { 0.6 } else { -LAGS },
            gives: if steps { Vec3::ZERO } else { along * (GIVES.0 * root).min(GIVES.1) },
        }
    }

    /// Lays the recoil over what is shown, `since` seconds after the touch: motors of joints that a blow has loosened are too slow to show it. Feet are planted after it.
    pub(crate) fn recoil(&self, skeleton: &Skeleton, since: f32, pose: &mut Pose, world: &mut WorldPose) {
        let size = self.recoil.length();
        if size <= 1e-4 || since <= 0.0 || since >= SHOWS.1 {
            return;
        }
        let share = ease(since / SHOWS.0) * (1.0 - ease((since - SHOWS.0) / (SHOWS.1 - SHOWS.0)));
        for (role, part) in [(Role::Waist, 0.5), (Role::Back, 0.5), (Role::Neck, self.whips)] {
            let Some(parent) = role.parent() else { continue };
            let frame = world.rotation(parent.joint());
            let own = pose.rotation(role.joint());
            let turned = (frame.conjugate() * from_vector(self.recoil * (share * part)) * frame * own).normalize();
            pose.rotations[role.joint().at()] = within(role, turned, own);
        }
        for (shoulder, side) in [(Role::LeftShoulder, 1.0), (Role::RightShoulder, -1.0)] {
            // Arms hang from shoulders: turned about the way the chest faces they come to the ribs.
            let frame = world.rotation(Role::Back.joint());
            let upper = world.rotation(shoulder.joint());
            let by = frame * Vec3::Z * (-side * ELBOWS * size * share);
            let parent = shoulder.parent().map_or(frame, |parent| world.rotation(parent.joint()));
            let own = pose.rotation(shoulder.joint());
            let turned = (parent.conjugate() * from_vector(by) * upper).normalize();
            pose.rotations[shoulder.joint().at()] = within(shoulder, turned, own);
        }
        pose.translations[0] += self.gives * share;
        fk::pose(skeleton, pose, world);
    }

    /// Lays it over what is played, `since` seconds after the touch; `world` is that of `pose` before and after.
    pub(crate) fn apply(&self, skeleton: &Skeleton, since: f32, pose: &mut Pose, world: &mut WorldPose) {
        let grown = ((since - GROWS.0) / (GROWS.1 - GROWS.0)).clamp(0.0, 1.0);
        let share = grown * grown * (3.0 - 2.0 * grown);
        let size = self.bend.length() * share;
        if size <= 1e-4 {
            return;
        }
        for (role, part) in SHARES {
            let part = if role == Role::Neck { self.neck } else { part };
            let by = self.bend * (share * part) + Vec3::Y * (self.twist * share * part);
            let Some(parent) = role.parent() else { continue };
            let frame = world.rotation(parent.joint());
            let own = pose.rotation(role.joint());
            let turned = (frame.conjugate() * from_vector(by) * frame * own).normalize();
            pose.rotations[role.joint().at()] = within(role, turned, own);
        }
        for (collar, side) in [(Role::LeftClavicle, 1.0), (Role::RightClavicle, -1.0)] {
            let own = pose.rotation(collar.joint());
            let turned = (shrug(side, (SHOULDERS * size).min(0.6)) * own).normalize();
            pose.rotations[collar.joint().at()] = within(collar, turned, own);
        }
        // Hips and ankles bend by half of what knees do, so that soles stay flat, and the pelvis comes down by what that lifts the lower foot: nobody is hit off the floor.
        let bend = KNEES * size;
        let lowest = |world: &WorldPose| {
            FEET.map(|role| world.position(role.joint()).y).into_iter().fold(f32::INFINITY, f32::min)
        };
        let stood = lowest(world);
        for [hip, knee, ankle] in
            [[Role::LeftHip, Role::LeftKnee, Role::LeftAnkle], [Role::RightHip, Role::RightKnee, Role::RightAnkle]]
        {
            for (role, by) in [(hip, -0.5 * bend), (knee, bend), (ankle, -0.5 * bend)] {
                let own = pose.rotation(role.joint());
                pose.rotations[role.joint().at()] = within(role, (own * about(Vec3::X, by)).normalize(), own);
            }
        }
        fk::pose(skeleton, pose, world);
        pose.translations[0].y -= (lowest(world) - stood).clamp(0.0, SINKS);
        fk::pose(skeleton, pose, world);
    }
}

/// A turn within the limits of its joint; what the motion itself exceeds is its own doing.
fn within(role: Role, turn: Quat, own: Quat) -> Quat {
    match Limit::of(role) {
        Some(limit) if limit.excess(turn) > limit.excess(own) => limit.clamp(turn),
        _ => turn,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::humanoid;

    fn hit(part: Role, velocity: Vec3, mass: f32) -> (Vec3, Vec3) {
        let skeleton = humanoid::skeleton();
        let mut pose = Pose::rest(&skeleton);
        let mut world = WorldPose::default();
        fk::pose(&skeleton, &pose, &mut world);
        let place = |world: &WorldPose| world.position(Role::Neck.joint()) - world.position(Role::Pelvis.joint());
        let (chest, before) = (world.position(Role::Back.joint()), place(&world));
        let root = pose.root();
        let touch = Touch { part, at: chest, normal: -velocity.normalize_or(Vec3::Z), velocity, mass };
        let flinch = Flinch::of(&touch, touch.change(), chest, Vec3::Z);
        flinch.apply(&skeleton, 0.2, &mut pose, &mut world);
        (place(&world) - before, pose.root() - root)
    }

    /// The trunk goes the way of the push, a heavier one takes it farther, and the knees give.
    #[test]
    fn a_push_carries_the_trunk_along() {
        let (light, _) = hit(Role::Back, Vec3::NEG_Z * 20.0, 0.27);
        let (heavy, sunk) = hit(Role::Back, Vec3::NEG_Z * 10.0, 4.0);
        assert!(light.z < -0.02 && heavy.z < light.z - 0.03, "{light} {heavy}");
        assert!((-0.09..-0.002).contains(&sunk.y), "{sunk}");
        let (aside, _) = hit(Role::Back, Vec3::X * 20.0, 0.27);
        assert!(aside.x > 0.02 && aside.z.abs() < 0.02, "{aside}");
        // What meets the belly folds it over.
        let (folded, _) = hit(Role::Waist, Vec3::NEG_Z * 20.0, 0.27);
        assert!(folded.z > 0.02, "{folded}");
        // From behind it would look as if it came from the front.
        let (behind, _) = hit(Role::Waist, Vec3::Z * 20.0, 0.27);
        assert!(behind.z > 0.02, "{behind}");
    }

    /// A light ball on the chest moves it by centimetres within 70 ms, the way of the push, and nothing is left after half a second.
    #[test]
    fn a_light_hit_is_seen_at_once() {
        let skeleton = humanoid::skeleton();
        let neck = |along: Vec3, since: f32| {
            let (mut pose, mut world) = (Pose::rest(&skeleton), WorldPose::default());
            fk::pose(&skeleton, &pose, &mut world);
            let before = world.position(Role::Neck.joint());
            let at = world.position(Role::Back.joint());
            let touch = Touch { part: Role::Back, at, normal: -along, velocity: along * 20.0, mass: 0.4 };
            let flinch = Flinch::of(&touch, touch.change(), at, Vec3::Z);
            flinch.recoil(&skeleton, since, &mut pose, &mut world);
            (world.position(Role::Neck.joint()) - before).dot(along)
        };
        for along in [Vec3::Z, Vec3::NEG_Z, Vec3::X, Vec3::NEG_X] {
            let seen = neck(along, 0.08);
            assert!((0.03..0.15).contains(&seen), "{along}: {seen}");
            assert!(neck(along, 0.6).abs() < 1e-5);
        }
    }
}
