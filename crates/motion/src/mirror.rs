//! The same motion by a left-hander: reflection in the plane x = 0.

use std::sync::Arc;

use crate::anatomy::Anatomy;
use crate::{Clip, ClipError, FrameIdx, JointIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};

/// Which joint takes over from which when left and right are exchanged.
///
/// Invariant: its own inverse.
#[derive(Clone, Debug, PartialEq)]
pub struct Mirror {
    partner: Box<[JointIdx]>,
}

impl Mirror {
    /// Pairs by role, and by name where joints play none: fingers and twist bones.
    pub fn by_roles(skeleton: &Skeleton, roles: &Roles) -> Mirror {
        let played = |joint: JointIdx| roles.role_of(joint).is_some();
        let mut partner: Vec<JointIdx> = Mirror::by_names(skeleton).partner.into_vec();
        for joint in skeleton.joints() {
            if played(joint) || played(partner[joint.at()]) {
                partner[joint.at()] = joint;
            }
        }
        for (role, joint) in roles.iter() {
            if let Some(other) = roles.get(role.mirrored()) {
                partner[joint.at()] = other;
                partner[other.at()] = joint;
            }
        }
        Mirror { partner: partner.into() }
    }

    /// Pairs by names that differ only in `left`/`right`, or in a leading or trailing `l`/`r` set off by a
    /// separator or a change of case.
    pub fn by_names(skeleton: &Skeleton) -> Mirror {
        let mut partner: Vec<JointIdx> = skeleton.joints().collect();
        for joint in skeleton.joints() {
            let other = other_side(skeleton.name(joint)).and_then(|name| skeleton.find(&name));
            // Of joints that share a name only the first is found; it is paired once.
            if let Some(other) = other
                && other > joint
                && partner[joint.at()] == joint
                && partner[other.at()] == other
            {
                partner[joint.at()] = other;
                partner[other.at()] = joint;
            }
        }
        Mirror { partner: partner.into() }
    }

    /// The joint on the other side.
    pub fn partner(&self, joint: JointIdx) -> JointIdx {
        self.partner[joint.at()]
    }

    /// Reflects a pose. Exact: twice gives the same bits.
    pub fn pose(&self, skeleton: &Skeleton, pose: &Pose, out: &mut Pose) {
        out.rotations.clear();
        out.rotations.extend(self.partner.iter().map(|p| {
            let q = pose.rotations[p.at()];
            Quat::from_xyzw(q.x, -q.y, -q.z, q.w)
        }));
        let movers = skeleton.movers();
        out.translations.clear();
        out.translations.extend(movers.iter().enumerate().map(|(m, &joint)| {
            let from = movers.binary_search(&self.partner(joint)).unwrap_or(m);
            let t = pose.translations[from];
            Vec3::new(-t.x, t.y, t.z)
        }));
    }

    /// Reflects a clip with its contacts and spans. Right only where the frames of paired joints are mirror images of each other in their own
    /// x, as in the canonical skeleton; [`reflected`] does it for any.
    pub fn clip(&self, clip: &Clip) -> Result<Clip, ClipError> {
        let skeleton = clip.skeleton();
        let poses = clip.poses();
        let mut out = Clip::from_fn(&clip.name, Arc::clone(skeleton), clip.fps(), clip.frames(), |frame, pose| {
            self.pose(skeleton, &poses[frame], pose);
        })?;
        out.contacts = clip.contacts.iter().map(|c| c.mirrored()).collect();
        out.spans = clip.spans.iter().map(|s| s.mirrored()).collect();
        Ok(out)
    }
}

/// Reflects the motion of a person on any skeleton, whatever its joint frames: attitudes are exchanged as the body has them.
pub fn reflected(clip: &Clip, roles: &Roles, anatomy: &Anatomy) -> Result<Clip, ClipError> {
    let skeleton = clip.skeleton();
    let pairs = Mirror::by_roles(skeleton, roles);
    let (mut pose, mut world, mut shown) = (Pose::default(), WorldPose::default(), WorldPose::default());
    let mut out = Clip::from_fn(&clip.name, Arc::clone(skeleton), clip.fps(), clip.frames(), |frame, out| {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(skeleton, &pose, &mut world);
        pairs.pose(skeleton, &pose, out);
        shown.rotations.clear();
        for joint in skeleton.joints() {
            let above = skeleton.parent(joint).map_or(Quat::IDENTITY, |p| shown.rotations[p.at()]);
            let attitude = roles.role_of(joint).and_then(|role| {
                let other = anatomy.canonical(roles, &world, role.mirrored())?;
                Some(Quat::from_xyzw(other.x, -other.y, -other.z, other.w) * anatomy.frame(role)?.conjugate())
            });
            if let Some(attitude) = attitude {
                out.rotations[joint.at()] = (above.conjugate() * attitude).normalize();
            }
            shown.rotations.push(above * out.rotations[joint.at()]);
        }
        // The hips, not the root, are where the mirror has them: roots of files sit anywhere.
        fk::pose(skeleton, out, &mut shown);
        let middle = |world: &WorldPose| match (roles.get(Role::LeftHip), roles.get(Role::RightHip)) {
            (Some(l), Some(r)) => (world.position(l) + world.position(r)) * 0.5,
            _ => world.positions[0],
        };
        let there = middle(&world);
        out.translations[0] += Vec3::new(-there.x, there.y, there.z) - middle(&shown);
    })?;
    out.contacts = clip.contacts.iter().map(|c| c.mirrored()).collect();
    out.spans = clip.spans.iter().map(|s| s.mirrored()).collect();
    Ok(out)
}

/// `LeftArm` → `RightArm`, `l_arm` → `r_arm`, `lThigh` → `rThigh`, `hand.L` → `hand.R`.
fn other_side(name: &str) -> Option<String> {
    for (a, b) in [("Left", "Right"), ("left", "right"), ("LEFT", "RIGHT")] {
        for (from, to) in [(a, b), (b, a)] {
            if name.contains(from) {
                return Some(name.replacen(from, to, 1));
            }
        }
    }
    let chars: Vec<char> = name.chars().collect();
    let swap = |at: usize| {
        let other = match chars[at] {
            'l' => 'r',
            'r' => 'l',
            'L' => 'R',
            'R' => 'L',
            _ => return None,
        };
        let mut swapped = chars.clone();
        swapped[at] = other;
        Some(swapped.into_iter().collect())
    };
    let separator = |c: char| matches!(c, '_' | '.' | '-' | ' ' | ':');
    if let [first, second, ..] = chars[..]
        && (separator(second) || first.is_uppercase() || second.is_uppercase())
        && let Some(name) = swap(0)
    {
        return Some(name);
    }
    // After a separator, as in `Bip01 L Hand` or `mixamorig:l_hand`, and at the end.
    for at in 1..chars.len() {
        let ends = at + 1 == chars.len() || separator(chars[at + 1]) || chars[at + 1].is_uppercase();
        if separator(chars[at - 1])
            && ends
            && let Some(name) = swap(at)
        {
            return Some(name);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_pair_up() {
        for (a, b) in [
            ("LeftArm", "RightArm"),
            ("l_arm", "r_arm"),
            ("lThigh", "rThigh"),
            ("hand.L", "hand.R"),
            ("Bip01 L Hand", "Bip01 R Hand"),
            ("LThumb", "RThumb"),
            ("mixamorig:LeftUpLeg", "mixamorig:RightUpLeg"),
            ("upperarm_l", "upperarm_r"),
        ] {
            assert_eq!(other_side(a).as_deref(), Some(b));
            assert_eq!(other_side(b).as_deref(), Some(a));
        }
        assert_eq!(other_side("pelvis"), None);
        assert_eq!(other_side("Hips"), None);
    }

    #[test]
    fn canonical_pairs_by_name_are_those_by_role() {
        let skeleton = crate::humanoid::skeleton();
        assert_eq!(Mirror::by_names(&skeleton), Mirror::by_roles(&skeleton, &Roles::canonical()));
    }
}
