//! The rigid parts of a body: what they weigh, how they are shaped, and how strongly their joints hold.

use kumite_motion::mass::SEGMENTS;
use kumite_motion::rotation::arc;
use kumite_motion::volume::BodySphere;
use kumite_motion::{Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};

use crate::body::MASS;

/// How many parts a body is made of: neck and head are one, so are foot and toes; a collar bone belongs to the chest.
pub const PARTS: usize = 16;

/// The joint that each part begins at; parents come first.
pub const ROLES: [Role; PARTS] = [
    Role::Pelvis,
    Role::Waist,
    Role::Back,
    Role::Neck,
    Role::LeftShoulder,
    Role::LeftElbow,
    Role::LeftWrist,
    Role::RightShoulder,
    Role::RightElbow,
    Role::RightWrist,
    Role::LeftHip,
    Role::LeftKnee,
    Role::LeftAnkle,
    Role::RightHip,
    Role::RightKnee,
    Role::RightAnkle,
];

/// The part that each hangs on; the pelvis on itself.
pub const PARENTS: [usize; PARTS] = [0, 0, 1, 2, 2, 4, 5, 2, 7, 8, 0, 10, 11, 0, 13, 14];

/// Left foot, then right.
pub const FEET: [usize; 2] = [12, 15];
/// Both hands.
pub const HANDS: [usize; 2] = [6, 9];

/// Which part a joint belongs to.
pub fn part_of(role: Role) -> usize {
    match role {
        Role::Head => 3,
        Role::LeftClavicle | Role::RightClavicle => 2,
        Role::LeftToe => FEET[0],
        Role::RightToe => FEET[1],
        other => ROLES.iter().position(|r| *r == other).unwrap_or_default(),
    }
}

/// One rigid part, in the frame of the joint it begins at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Kilograms.
    pub mass: f32,
    /// Its centre.
    pub centre: Vec3,
    /// Moments of inertia about its centre, kg m²: across, along and across its bone.
    pub inertia: Vec3,
    /// Lays +Y along its bone.
    pub along: Quat,
    /// The ends of the capsule that touches the floor.
    pub ends: [Vec3; 2],
    /// Its radius, metres.
    pub radius: f32,
    /// What its joint holds with at full strength: newton metres per radian, and per radian per second.
    pub hold: (f32, f32),
}

/// Angular frequency and damping ratio that limbs are held with: a relaxed arm swings back within a fifth of a second, without a wobble.
const HELD: (f32, f32) = (18.0, 0.8);
/// Legs and spine carry what stands on them, newton metres per radian: hip, knee and ankle after the gains that physics-based tracking of
/// captured motion uses (Peng et al., *DeepMimic*, 2018: 500, 500, 400), doubled because here one foot may carry all. A tenth of it damps.
const LEG: [f32; 3] = [1000.0, 1000.0, 800.0];
/// Waist and back.
const SPINE: f32 = 1000.0;
/// Hands and feet are light and hang on heavier limbs: their inertia is raised so that joints converge.
const RAISED: f32 = 3.0;
/// Capsules are thinner than the spheres that cover a body.
const SLIM: f32 = 0.85;
/// Feet are as thick as this, metres, and reach this far behind the ankle.
const SOLE: f32 = 0.03;
const HEEL: f32 = 0.04;

/// The parts of a body; `None` if the skeleton is not the canonical one.
pub fn measure(skeleton: &Skeleton, spheres: &[BodySphere]) -> Option<[Part; PARTS]> {
    if skeleton.len() != Role::ALL.len() {
        return None;
    }
    let mut world = WorldPose::default();
    fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
    let roles = Roles::canonical();
    let mut parts = [Part {
        mass: 1.0,
        centre: Vec3::ZERO,
        inertia: Vec3::ONE,
        along: Quat::IDENTITY,
        ends: [Vec3::ZERO; 2],
        radius: 0.05,
        hold: (0.0, 0.0),
    }; PARTS];
    for (index, part) in parts.iter_mut().enumerate() {
        let role = ROLES[index];
        let start = world.position(role.joint());
        let owns = |from: Role| part_of(from) == index;
        let segment = SEGMENTS.iter().find(|s| owns(s.from))?;
        let centre = kumite_motion::mass::segment_centre(segment, skeleton, &roles, &world)?;
        let own = |s: &&BodySphere| owns(s.part);
        let place = |s: &BodySphere| world.point(s.joint, s.offset) - start;
        let (first, last) = (spheres.iter().find(own)?, spheres.iter().rfind(own)?);
        let radius = SLIM * first.radius;
        part.mass = segment.share * MASS;
        part.centre = centre - start;
        part.ends = [place(first), place(last)];
        part.radius = radius;
        if FEET.contains(&index) {
            let ball = world.position(role.child()?.joint()) - start;
            let sole = SOLE - start.y;
            // Toes give way, and a foot that rolls over its ball does so on the floor, not in it: the capsule's end stays as far behind the ball as it is thick.
            let to = Vec3::new(ball.x, 0.0, ball.z);
            let end = to - to.normalize_or(Vec3::Z) * SOLE;
            part.ends = [Vec3::new(0.0, sole, -HEEL + SOLE), Vec3::new(end.x, sole, end.z)];
            part.radius = SOLE;
        }
        let bone = part.ends[1] - part.ends[0];
        let (length, thick) = (bone.length() + part.radius, part.radius);
        let across = part.mass * (3.0 * thick * thick + length * length) / 12.0;
        let along = 0.5 * part.mass * thick * thick;
        let raised = if FEET.contains(&index) || HANDS.contains(&index) { RAISED } else { 1.0 };
        part.inertia = Vec3::new(across, along, across) * raised;
        part.along = arc(Vec3::Y, bone.normalize_or(Vec3::Y));
    }
    hold(&mut parts, &world);
    Some(parts)
}

/// How strongly joints hold: limbs by what hangs on them, legs and spine by what stands on them.
fn hold(parts: &mut [Part; PARTS], world: &WorldPose) {
    let at = |index: usize| world.position(ROLES[index].joint());
    for joint in 1..PARTS {
        let hangs = |mut part: usize| {
            while part > joint {
                part = PARENTS[part];
            }
            part == joint
        };
        let carried: f32 = (joint..PARTS)
            .filter(|part| hangs(*part))
            .map(|index| {
                let part = &parts[index];
                part.inertia.x + part.mass * (at(index) + part.centre - at(joint)).length_squared()
            })
            .sum();
        let (rate, damping) = HELD;
        let limb = (carried * rate * rate, 2.0 * damping * carried * rate);
        let of = |stiffness: f32| (stiffness, 0.1 * stiffness);
        parts[joint].hold = match joint {
            1 | 2 => of(SPINE),
            10 | 13 => of(LEG[0]),
            11 | 14 => of(LEG[1]),
            12 | 15 => of(LEG[2]),
            _ => limb,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{humanoid, volume};

    #[test]
    fn parts_make_a_person() {
        let skeleton = humanoid::skeleton();
        let spheres = volume::fit(&skeleton, &Roles::canonical());
        let parts = measure(&skeleton, &spheres).unwrap();
        let mass: f32 = parts.iter().map(|p| p.mass).sum();
        assert!((mass - MASS).abs() < 0.2, "{mass}");
        for (role, part) in ROLES.iter().zip(&parts) {
            assert!(part.radius > 0.02 && part.radius < 0.2, "{}: {}", role.name(), part.radius);
            assert!(part.inertia.min_element() > 0.0);
        }
        for role in Role::ALL {
            assert!(part_of(role) < PARTS);
        }
    }
}
