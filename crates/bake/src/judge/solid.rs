//! The body as capsules, for finding where it runs into itself.

use kumite_motion::{Role, Side, Vec3};

use super::bounds;
use super::posed::PosedClip;

/// A capsule between two joints.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// The joint it begins at.
    pub role: Role,
    /// The joint it ends at; `None` for the tip of the bone.
    pub to: Option<Role>,
    /// Where it begins and ends, as fractions of the way.
    pub along: (f32, f32),
    /// Metres, for the default person.
    pub radius: f32,
}

/// The parts of the body. Radii are those of the bone's core and the firm flesh round it, less than what is seen: skin gives
/// way. Parts begin away from the joint above, where neighbours meet.
pub fn solids() -> Vec<Solid> {
    let solid = |role, to, along, radius| Solid { role, to, along, radius };
    let mut all = vec![
        solid(Role::Pelvis, Some(Role::Back), (0.0, 0.9), 0.105),
        solid(Role::Back, Some(Role::Neck), (0.0, 0.65), 0.110),
        solid(Role::Head, None, (0.35, 0.60), 0.080),
    ];
    for (shoulder, elbow, wrist, hip, knee, ankle, toe) in [
        (
            Role::LeftShoulder,
            Role::LeftElbow,
            Role::LeftWrist,
            Role::LeftHip,
            Role::LeftKnee,
            Role::LeftAnkle,
            Role::LeftToe,
        ),
        (
            Role::RightShoulder,
            Role::RightElbow,
            Role::RightWrist,
            Role::RightHip,
            Role::RightKnee,
            Role::RightAnkle,
            Role::RightToe,
        ),
    ] {
        all.extend([
            solid(shoulder, Some(elbow), (0.45, 1.0), 0.040),
            solid(elbow, Some(wrist), (0.0, 1.0), 0.034),
            solid(wrist, None, (0.2, 1.0), 0.034),
            solid(hip, Some(knee), (0.45, 1.0), 0.055),
            solid(knee, Some(ankle), (0.1, 1.0), 0.040),
            solid(ankle, Some(toe), (0.0, 1.0), 0.030),
        ]);
    }
    all
}

/// Which solids may not run into each other: those of different limbs, and of limbs and trunk.
pub(crate) fn pairs(solids: &[Solid]) -> Vec<(usize, usize)> {
    let limb = |role: Role| match role {
        Role::LeftShoulder | Role::LeftElbow | Role::LeftWrist => 1,
        Role::RightShoulder | Role::RightElbow | Role::RightWrist => 2,
        Role::LeftHip | Role::LeftKnee | Role::LeftAnkle => 3,
        Role::RightHip | Role::RightKnee | Role::RightAnkle => 4,
        _ => 0,
    };
    let mut pairs = Vec::new();
    for (b, second) in solids.iter().enumerate() {
        for (a, first) in solids[..b].iter().enumerate() {
            // Thighs grow out of the trunk.
            let grown = first.role == Role::Pelvis && matches!(second.role, Role::LeftHip | Role::RightHip);
            if limb(first.role) != limb(second.role) && !grown {
                pairs.push((b, a));
            }
        }
    }
    pairs
}

/// How deep two parts may overlap.
pub(crate) fn allowed(a: &Solid, b: &Solid) -> f32 {
    let middle = |s: &Solid| s.role.side() == Side::Middle;
    let hand = |s: &Solid| matches!(s.role, Role::LeftWrist | Role::RightWrist);
    if hand(a) || hand(b) {
        bounds::HAND_TOUCH
    } else if middle(a) || middle(b) {
        bounds::TRUNK_TOUCH
    } else {
        bounds::LIMB_TOUCH
    }
}

/// A solid in the world.
pub(crate) struct Placed {
    a: Vec3,
    b: Vec3,
    radius: f32,
    scale: f32,
}

impl Solid {
    pub(crate) fn placed(&self, posed: &PosedClip, frame: usize) -> Option<Placed> {
        let from = posed.at(frame, self.role)?;
        let to = match self.to {
            Some(role) => posed.at(frame, role)?,
            None => posed.tip(frame, self.role)?,
        };
        let (a, b) = (from.lerp(to, self.along.0), from.lerp(to, self.along.1));
        Some(Placed { a, b, radius: self.radius * posed.scale, scale: posed.scale })
    }
}

impl Placed {
    /// How deep it is below the floor, metres of the default person; negative is the gap.
    pub(crate) fn under(&self, floor: f32) -> f32 {
        (floor - self.a.y.min(self.b.y) + self.radius) / self.scale
    }

    /// How deep they overlap, metres of the default person; negative is the gap.
    pub(crate) fn depth(&self, other: &Placed) -> f32 {
        (self.radius + other.radius - between_segments(self.a, self.b, other.a, other.b)) / self.scale
    }
}

/// Least distance of two segments: Ericson, Real-Time Collision Detection, 5.1.9.
fn between_segments(a: Vec3, b: Vec3, c: Vec3, d: Vec3) -> f32 {
    let (u, v, w) = (b - a, d - c, a - c);
    let (uu, vv, vw) = (u.length_squared(), v.length_squared(), v.dot(w));
    let (uw, uv) = (u.dot(w), u.dot(v));
    let room = uu * vv - uv * uv;
    let mut s = if room > 1e-9 { ((uv * vw - uw * vv) / room).clamp(0.0, 1.0) } else { 0.0 };
    let mut t = if vv > 1e-9 { (uv * s + vw) / vv } else { 0.0 };
    if !(0.0..=1.0).contains(&t) {
        t = t.clamp(0.0, 1.0);
        s = if uu > 1e-9 { ((uv * t - uw) / uu).clamp(0.0, 1.0) } else { 0.0 };
    }
    (a + u * s - c - v * t).length()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_as_far_apart_as_their_nearest_points() {
        let (x, y, z) = (Vec3::X, Vec3::Y, Vec3::Z);
        assert!((between_segments(-x, x, z - y, z + y) - 1.0).abs() < 1e-6);
        assert!((between_segments(-x, x, x * 3.0, x * 4.0) - 2.0).abs() < 1e-6);
        assert!((between_segments(-x, x, y - x, y + x) - 1.0).abs() < 1e-6);
        assert!(between_segments(-x, x, -y, y) < 1e-6);
        assert!((between_segments(x, x, y, y) - 2f32.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn neighbours_are_left_out() {
        let solids = solids();
        for (a, b) in pairs(&solids) {
            let (a, b) = (solids[a].role, solids[b].role);
            assert!(a != b && a.parent() != Some(b) && b.parent() != Some(a), "{a:?} {b:?}");
        }
    }
}
