//! What muscles add to a push: neck, trunk and knees give the way it goes and come back. Physics alone moves a body of 70 kg by millimetres where a volleyball meets
//! its guard, and that is what bystanders see of it least: who is hit folds a little, sinks into the knees and lifts the shoulders within a tenth of a second (the startle
//! reflex: neck 60 ms, trunk 100 ms, legs 120 ms, Brown et al. 1991), whatever it held up. Motors aim at it while a response acts; what is left of it fades with the rest.

use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, from_vector};
use kumite_motion::{Pose, Role, Skeleton, Vec3, WorldPose, fk};

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
}

impl Flinch {
    /// What a touch makes a body do. `chest` is where the middle of its trunk is.
    pub(crate) fn of(touch: &Touch, change: f32, chest: Vec3) -> Flinch {
        let along = Vec3::new(touch.velocity.x, 0.0, touch.velocity.z).normalize_or(Vec3::ZERO);
        let size = (TRUNK.0 * change.max(0.0).sqrt()).min(TRUNK.1);
        let head = matches!(touch.part, Role::Head | Role::Neck);
        let low = matches!(
            touch.part,
            Role::LeftHip | Role::RightHip | Role::LeftKnee | Role::RightKnee | Role::LeftAnkle | Role::RightAnkle
        );
        // What hits below the middle folds the trunk over it.
        let way = if low || touch.part == Role::Pelvis || touch.part == Role::Waist { -along } else { along };
        let arm = Vec3::Y.cross(along).dot(touch.at - chest);
        Flinch {
            bend: Vec3::Y.cross(way) * size,
            twist: if head { 0.0 } else { (-arm * TWISTS).clamp(-0.6, 0.6) * size },
            neck: if head { WHIPS } else { SHARES[2].1 },
        }
    }

    /// Lays it over what is played, `since` seconds after the touch; `world` is that of `pose` before and after.
    pub(crate) fn apply(&self, skeleton: &Skeleton, since: f32, pose: &mut Pose, world: &mut WorldPose) {
        let grown = ((since - GROWS.0) / (GROWS.1 - GROWS.0)).clamp(0.0, 1.0);
        let share = grown * grown * (3.0 - 2.0 * grown);
        let size = self.bend.length() * share;
        if size <= 1e-4 {
            return;
        }
        let within = |role: Role, turn, own| match Limit::of(role) {
            // What the motion itself exceeds is its own doing.
            Some(limit) if limit.excess(turn) > limit.excess(own) => limit.clamp(turn),
            _ => turn,
        };
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
        // Hips and ankles bend by half of what knees do, so that soles stay flat, and the pelvis comes down by what that shortens a leg.
        let bend = KNEES * size;
        let mut sinks = f32::INFINITY;
        for [hip, knee, ankle] in
            [[Role::LeftHip, Role::LeftKnee, Role::LeftAnkle], [Role::RightHip, Role::RightKnee, Role::RightAnkle]]
        {
            let reach = (world.position(hip.joint()) - world.position(ankle.joint())).y;
            let joint = |role: Role| world.position(role.joint());
            let legs = (joint(hip) - joint(knee)).length() + (joint(knee) - joint(ankle)).length();
            // An isosceles leg: its height is its length times the cosine of half its bend.
            let bent = libm::acosf((reach / legs.max(1e-3)).clamp(0.0, 1.0));
            sinks = sinks.min(reach - legs * libm::cosf(bent + 0.5 * bend));
            for (role, by) in [(hip, -0.5 * bend), (knee, bend), (ankle, -0.5 * bend)] {
                let own = pose.rotation(role.joint());
                pose.rotations[role.joint().at()] = within(role, (own * about(Vec3::X, by)).normalize(), own);
            }
        }
        pose.translations[0].y -= sinks.clamp(0.0, 0.08);
        fk::pose(skeleton, pose, world);
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
        let flinch = Flinch::of(&touch, touch.change(), chest);
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
    }
}
