//! Where a body's mass is: segment masses and centres after de Leva 1996, "Adjustments to Zatsiorsky-Seluyanov's segment
//! inertia parameters", J. Biomechanics 29(9), table 4, men.

use crate::{Role, Roles, Skeleton, Vec3, WorldPose};

/// A rigid part between two roles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Its upper or inner end.
    pub from: Role,
    /// Its other end; `None` for the tip of the bone of `from`.
    pub to: Option<Role>,
    /// Share of the whole body's mass.
    pub share: f32,
    /// Where its centre lies, as a fraction of the way from `from` to the end.
    pub centre: f32,
}

const fn segment(from: Role, to: Option<Role>, share: f32, centre: f32) -> Segment {
    Segment { from, to, share, centre }
}

/// The whole body. De Leva's trunk is given in three parts (upper, middle, lower); ours meet at other
/// joints, so the published distances are measured along our bones.
pub const SEGMENTS: [Segment; 16] = [
    segment(Role::Head, None, 0.0694, 0.45),
    segment(Role::Back, Some(Role::Neck), 0.1596, 0.55),
    segment(Role::Waist, Some(Role::Back), 0.1633, 0.50),
    segment(Role::Pelvis, Some(Role::Waist), 0.1117, 0.30),
    segment(Role::LeftShoulder, Some(Role::LeftElbow), 0.0271, 0.5772),
    segment(Role::RightShoulder, Some(Role::RightElbow), 0.0271, 0.5772),
    segment(Role::LeftElbow, Some(Role::LeftWrist), 0.0162, 0.4574),
    segment(Role::RightElbow, Some(Role::RightWrist), 0.0162, 0.4574),
    segment(Role::LeftWrist, None, 0.0061, 0.79),
    segment(Role::RightWrist, None, 0.0061, 0.79),
    segment(Role::LeftHip, Some(Role::LeftKnee), 0.1416, 0.4095),
    segment(Role::RightHip, Some(Role::RightKnee), 0.1416, 0.4095),
    segment(Role::LeftKnee, Some(Role::LeftAnkle), 0.0433, 0.4459),
    segment(Role::RightKnee, Some(Role::RightAnkle), 0.0433, 0.4459),
    segment(Role::LeftAnkle, Some(Role::LeftToe), 0.0137, 0.4415),
    segment(Role::RightAnkle, Some(Role::RightToe), 0.0137, 0.4415),
];

/// Centre of a segment in the world; `None` if the skeleton lacks it.
pub fn segment_centre(segment: &Segment, skeleton: &Skeleton, roles: &Roles, world: &WorldPose) -> Option<Vec3> {
    let from = roles.get(segment.from)?;
    let start = world.position(from);
    let end = match segment.to {
        Some(role) => world.position(roles.get(role)?),
        None => world.point(from, skeleton.tip(from).unwrap_or(Vec3::ZERO)),
    };
    Some(start.lerp(end, segment.centre))
}

/// Centre of mass of the segments the skeleton has; the root's place if it has none.
pub fn centre(skeleton: &Skeleton, roles: &Roles, world: &WorldPose) -> Vec3 {
    let (mut sum, mut share) = (Vec3::ZERO, 0.0);
    for segment in &SEGMENTS {
        if let Some(centre) = segment_centre(segment, skeleton, roles, world) {
            sum += centre * segment.share;
            share += segment.share;
        }
    }
    if share > 0.0 { sum / share } else { world.positions[0] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Pose, fk, humanoid};

    #[test]
    fn shares_make_a_whole_body() {
        let sum: f32 = SEGMENTS.iter().map(|s| s.share).sum();
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
    }

    /// The centre of mass of a man at ease is at 55 to 57 % of his height; raised arms lift it a little.
    #[test]
    fn the_centre_of_mass_is_behind_the_navel() {
        let skeleton = humanoid::skeleton();
        let mut world = WorldPose::default();
        fk::pose(&skeleton, &Pose::rest(&skeleton), &mut world);
        let centre = centre(&skeleton, &Roles::canonical(), &world);
        let share = centre.y / humanoid::HEIGHT;
        assert!((0.54..0.61).contains(&share), "{share}");
        assert!(centre.x.abs() < 1e-5);
    }
}
