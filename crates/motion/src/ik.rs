//! Two-bone inverse kinematics in closed form: arms and legs.

use crate::blend::ease;
use crate::rotation::{about, arc};
use crate::{JointIdx, Pose, Quat, Role, Skeleton, Vec3, WorldPose, fk, humanoid};

/// A limb of two bones with a hinge between them, measured once from its skeleton.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// Upper joint to hinge, in the upper joint's frame.
    pub upper: Vec3,
    /// Hinge to end, in the hinge's frame.
    pub lower: Vec3,
    /// Unit axis of the hinge, in its own frame; bending is positive.
    pub axis: Vec3,
    /// How far the hinge may bend, radians.
    pub flexion: (f32, f32),
}

/// Where to put the end of a limb.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// The upper joint, in the world.
    pub from: Vec3,
    /// Wanted place of the end, in the world.
    pub target: Vec3,
    /// Where the hinge points when the swivel is zero, in the world: back and down for elbows, forward for knees.
    /// Need not be a unit vector nor square to the limb.
    pub pole: Vec3,
    /// Turn of the hinge about the line from upper joint to end, radians, right-handed along that line.
    pub swivel: f32,
}

/// The answer of [`Limb::solve`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolvedLimb {
    /// World rotation of the upper joint.
    pub upper: Quat,
    /// Angle of the hinge, within [`Limb::flexion`].
    pub flexion: f32,
    /// Local rotation of the hinge: `flexion` about [`Limb::axis`].
    pub hinge: Quat,
    /// How far the end stays short of (or beyond) the target, metres; 0 where it was reachable.
    pub miss: f32,
}

impl Limb {
    /// The limb that ends in `end` (wrists and ankles) of the canonical skeleton, or of one with its frames.
    pub fn of(skeleton: &Skeleton, end: Role) -> Option<Limb> {
        let hinge = end.parent()?;
        let axis = humanoid::hinge_axis(hinge)?;
        // Elbows and knees alike, 145 degrees: American Academy of Orthopaedic Surgeons, Joint Motion, 1965.
        let flexion = (0.0, 2.53);
        Some(Limb { upper: skeleton.offset(hinge.joint()), lower: skeleton.offset(end.joint()), axis, flexion })
    }

    /// Distance from upper joint to end at a flexion of the hinge, radians.
    pub fn length_at(&self, flexion: f32) -> f32 {
        (self.upper + about(self.axis, flexion) * self.lower).length()
    }

    /// Bends and turns the limb so that its end meets the target, or comes as near as its hinge allows along
    /// the line to it.
    pub fn solve(&self, reach: &Reach) -> SolvedLimb {
        let line = reach.target - reach.from;
        let wanted = line.length();
        let flexion = self.flexion_for(wanted);
        let hinge = about(self.axis, flexion);
        let end = self.upper + hinge * self.lower;
        let reached = end.length();
        let axis = if wanted > 1e-6 { line / wanted } else { Vec3::NEG_Y };
        // Local frame: along the limb, and where the hinge sticks out. A straight limb still has a bending side.
        let along = end.normalize_or(Vec3::NEG_Y);
        let out = self.upper - along * self.upper.dot(along);
        let side = if out.length_squared() > 1e-8 * self.upper.length_squared() {
            out.normalize()
        } else {
            // Bending turns the end about the axis, so the hinge moves the other way.
            (along.cross(self.axis)).normalize_or(along.any_orthonormal_vector())
        };
        let pole = reach.pole - axis * reach.pole.dot(axis);
        let pole = pole.try_normalize().unwrap_or_else(|| axis.any_orthonormal_vector());
        let pole = about(axis, reach.swivel) * pole;
        // First along, then the shortest turn about it.
        let first = arc(along, axis);
        let turned = first * side;
        let angle = libm::atan2f(turned.cross(pole).dot(axis), turned.dot(pole));
        let upper = (about(axis, angle) * first).normalize();
        SolvedLimb { upper, flexion, hinge, miss: (wanted - reached).abs() }
    }

    /// The flexion at which the end is `distance` from the upper joint, within the hinge's limits: the law of cosines,
    /// also where the bones at rest are not in line, or not square to the axis.
    fn flexion_for(&self, distance: f32) -> f32 {
        let (a_along, b_along) = (self.upper.dot(self.axis), self.lower.dot(self.axis));
        let (a, b) = (self.upper - self.axis * a_along, self.lower - self.axis * b_along);
        let product = a.length() * b.length();
        if product < 1e-9 {
            return self.flexion.0;
        }
        let rest = libm::atan2f(a.cross(b).dot(self.axis), a.dot(b));
        let squares = self.upper.length_squared() + self.lower.length_squared() + 2.0 * a_along * b_along;
        let cosine = (f64::from(distance) * f64::from(distance) - f64::from(squares)) / (2.0 * f64::from(product));
        (libm::acos(cosine.clamp(-1.0, 1.0)) as f32 - rest).clamp(self.flexion.0, self.flexion.1)
    }
}

/// The swivel at which the hinge now stands, measured from `pole` about the line from upper joint to end.
pub fn swivel_of(from: Vec3, hinge: Vec3, end: Vec3, pole: Vec3) -> f32 {
    let axis = (end - from).normalize_or(Vec3::NEG_Y);
    let flat = |v: Vec3| v - axis * v.dot(axis);
    let (out, pole) = (flat(hinge - from), flat(pole));
    libm::atan2f(pole.cross(out).dot(axis), pole.dot(out))
}

/// Where the hinge of a limb points by default: elbows back, down and a little out; knees forward.
/// In the frame of the pelvis or chest.
pub fn default_pole(end: Role) -> Vec3 {
    match end {
        Role::LeftWrist => Vec3::new(0.35, -0.8, -0.5),
        Role::RightWrist => Vec3::new(-0.35, -0.8, -0.5),
        _ => Vec3::Z,
    }
}

/// Puts the wrist or ankle of a canonical pose at `target`, in the world; the rest of the body stays.
///
/// `world` is that of `pose` before and after. Returns how far the target was out of reach, metres.
pub fn place(
    skeleton: &Skeleton,
    pose: &mut Pose,
    world: &mut WorldPose,
    end: Role,
    target: Vec3,
    pole: Vec3,
    swivel: f32,
) -> f32 {
    let (Some(limb), Some(hinge)) = (Limb::of(skeleton, end), end.parent()) else { return f32::INFINITY };
    let Some(top) = hinge.parent() else { return f32::INFINITY };
    let Some(base) = top.parent() else { return f32::INFINITY };
    let (top, hinge, end) = (top.joint(), hinge.joint(), end.joint());
    let held = world.rotation(end);
    let solved = limb.solve(&Reach { from: world.position(top), target, pole, swivel });
    pose.rotations[top.at()] = (world.rotation(base.joint()).conjugate() * solved.upper).normalize();
    pose.rotations[hinge.at()] = solved.hinge;
    // The hand or foot keeps its attitude in the world.
    pose.rotations[end.at()] = ((solved.upper * solved.hinge).conjugate() * held).normalize();
    fk::pose(skeleton, pose, world);
    solved.miss
}

/// How far from its top joint an end goes softly, in limb lengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftReach {
    /// Between these an end goes as far as it is wanted.
    pub free: (f32, f32),
    /// These it does not reach.
    pub ends: (f32, f32),
}

/// The least room for giving in, in limb lengths.
const ROOM: f32 = 0.005;

impl SoftReach {
    /// Of arms: hands are moved along.
    pub const ARM: SoftReach = SoftReach { free: (0.42, 0.92), ends: (0.30, 0.985) };
    /// Of legs: feet stay behind where hips move, and stand nearly straight.
    pub const LEG: SoftReach = SoftReach { free: (0.42, 0.97), ends: (0.30, 0.994) };

    /// How far an end goes that is wanted at a distance, where its motion has it at `own`, in limb lengths. Nearly straight or nearly folded, a
    /// hinge turns by many degrees for a centimetre: there the limb gives in, unless its motion goes as far itself.
    pub fn length(&self, own: f32, wanted: f32) -> f32 {
        let (near, far) = (self.free.0.min(own), self.free.1.max(own));
        let (near_room, far_room) = ((near - self.ends.0).max(ROOM), (self.ends.1 - far).max(ROOM));
        if wanted > far {
            far + far_room * (1.0 - libm::expf((far - wanted) / far_room))
        } else if wanted < near {
            near - near_room * (1.0 - libm::expf((wanted - near) / near_room))
        } else {
            wanted
        }
    }
}

/// A limb as it is posed, to be moved with as little change as can be: [`place`] poses a limb anew, [`Chain::reach`] nudges it. Whatever
/// twist a capture has in its knees stays, so that a nudge of nothing changes nothing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chain {
    /// Hip or shoulder.
    pub top: JointIdx,
    /// Knee or elbow.
    pub hinge: JointIdx,
    /// Ankle or wrist.
    pub end: JointIdx,
    /// Axis the hinge bends about, in the top joint's frame, for when the limb is straight.
    pub axis: Vec3,
}

impl Chain {
    /// The limb that ends in `end` (wrists and ankles) of the canonical skeleton, or of one with its frames.
    pub fn of_canonical(end: Role) -> Option<Chain> {
        let hinge = end.parent()?;
        let axis = humanoid::hinge_axis(hinge)?;
        Some(Chain { top: hinge.parent()?.joint(), hinge: hinge.joint(), end: end.joint(), axis })
    }

    /// Brings the end to `target` as far as the limb gets there softly; its motion has the end `own` metres from its top joint. `world` is that of
    /// `pose` before and after.
    pub fn reach_softly(
        &self,
        soft: SoftReach,
        own: f32,
        skeleton: &Skeleton,
        target: Vec3,
        pose: &mut Pose,
        world: &mut WorldPose,
    ) {
        let (top, middle, end) = (world.position(self.top), world.position(self.hinge), world.position(self.end));
        let whole = ((middle - top).length() + (end - middle).length()).max(1e-6);
        let line = target - top;
        let wanted = line.length();
        let length = whole * soft.length(own / whole, wanted / whole);
        self.reach(skeleton, top + line * (length / wanted.max(1e-6)), pose, world);
    }

    /// Brings the end to `target`, or as near as the limb is long, in the plane the limb is already in; the attitude of hand or foot in
    /// the world stays. `world` is that of `pose` before and after.
    pub fn reach(&self, skeleton: &Skeleton, target: Vec3, pose: &mut Pose, world: &mut WorldPose) {
        // Near its full length a leg straightens by degrees for the last millimetres: what the source did not do is not asked for.
        self.reach_within(0.999, skeleton, target, pose, world);
    }

    /// As [`Chain::reach`], with the limb stretched to at most this share of its length, or as far as it already is.
    pub fn reach_within(&self, share: f32, skeleton: &Skeleton, target: Vec3, pose: &mut Pose, world: &mut WorldPose) {
        let (top, middle, end) = (world.position(self.top), world.position(self.hinge), world.position(self.end));
        let held = world.rotation(self.end);
        let (upper, lower) = (middle - top, end - middle);
        let (a, b) = (upper.length(), lower.length());
        if a < 1e-6 || b < 1e-6 {
            return;
        }
        let longest = (upper + lower).length().max(share * (a + b));
        let wanted = (target - top).length().clamp((a - b).abs() + 1e-4 * a, longest);
        // The axis of bending: the limb's own where it is bent enough to have one, else the hinge's.
        let hinge = world.rotation(self.top) * self.axis;
        let along = (upper + lower).normalize_or(upper / a);
        let hinge = (hinge - along * hinge.dot(along)).normalize_or(hinge);
        let cross = upper.cross(lower) / (a * b);
        let cross = if cross.dot(hinge) < 0.0 { -cross } else { cross };
        let own = ease(cross.length() / 0.2);
        let axis = (hinge * (1.0 - own) + cross.normalize_or(hinge) * own).normalize_or(hinge);
        let cosine = ((wanted * wanted - a * a - b * b) / (2.0 * a * b)).clamp(-1.0, 1.0);
        let flat = |v: Vec3| v - axis * v.dot(axis);
        let (u, l) = (flat(upper), flat(lower));
        let now = libm::atan2f(u.cross(l).dot(axis), u.dot(l));
        // Captured legs overstretch a little, and may go on doing so; but a leg that has to bend bends forward.
        let angle = libm::acosf(cosine);
        let side = if now < 0.0 { 2.0 * ease((angle - 0.05) / 0.15) - 1.0 } else { 1.0 };
        let bend = about(axis, angle * side - now);
        let lower = bend * lower;
        let swing = arc(
            ((upper + lower) / (upper + lower).length().max(1e-9)).normalize(),
            (target - top).normalize_or(Vec3::NEG_Y),
        );
        let parent = skeleton.parent(self.top).map_or(Quat::IDENTITY, |p| world.rotation(p));
        let (thigh, shin) = (swing * world.rotation(self.top), swing * bend * world.rotation(self.hinge));
        pose.rotations[self.top.at()] = (parent.conjugate() * thigh).normalize();
        // Joints in between that play no role, such as twist bones, go with the joint above them.
        let above = |top: JointIdx, turned: Quat, joint: JointIdx| {
            let parent = skeleton.parent(joint).unwrap_or(top);
            turned * world.rotation(top).conjugate() * world.rotation(parent)
        };
        pose.rotations[self.hinge.at()] = (above(self.top, thigh, self.hinge).conjugate() * shin).normalize();
        pose.rotations[self.end.at()] = (above(self.hinge, shin, self.end).conjugate() * held).normalize();
        // Whatever hangs on the limb comes after it.
        if skeleton.movers().len() > 1 {
            fk::pose(skeleton, pose, world);
        } else {
            fk::joints(skeleton, pose, skeleton.joints().skip(self.top.at()), world);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However far an end is wanted, the limb goes on without a corner, never past its ends, and as its motion does where that is wanted.
    #[test]
    fn limbs_give_in_softly() {
        for soft in [SoftReach::ARM, SoftReach::LEG] {
            for own in [0.25, 0.35, 0.6, 0.94, 0.98, 0.999] {
                assert_eq!(soft.length(own, own), own);
                let mut before: Option<(f32, f32)> = None;
                for wanted in (0..150).map(|k| 0.01 * k as f32) {
                    let length = soft.length(own, wanted);
                    let within = soft.ends.0.min(own - ROOM)..=soft.ends.1.max(own + ROOM);
                    assert!(within.contains(&length), "{own} {wanted} {length}");
                    if let Some((last, slope)) = before {
                        let now = (length - last) / 0.01;
                        assert!((-1e-4..=1.0 + 1e-4).contains(&now), "{own} {wanted}: it goes on");
                        // Room of half a hundredth is used up within a step.
                        let room = own - soft.ends.0 > 0.02 && soft.ends.1 - own > 0.02;
                        assert!(!room || (now - slope).abs() < 0.5, "{own} {wanted}: no corner");
                        before = Some((length, now));
                    } else {
                        before = Some((length, (soft.length(own, wanted + 0.01) - length) / 0.01));
                    }
                }
            }
        }
    }
}
