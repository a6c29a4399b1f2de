//! Generated bodies: a person for the canonical skeleton, a capsule per bone for any other.

mod bones;
mod field;
mod mannequin;
mod surface;

use glam::Vec3;
use kumite_motion::{Quat, Roles, Skeleton};

/// A skinned surface in the rest pose. Joint numbers are those of the skin: the root bone is 0, joints follow.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Mesh {
    pub(super) positions: Vec<Vec3>,
    pub(super) normals: Vec<Vec3>,
    pub(super) joints: Vec<[u16; 4]>,
    /// In 255ths, of which there are 255 together.
    pub(super) weights: Vec<[u8; 4]>,
    pub(super) triangles: Vec<u32>,
}

/// What a surface is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Suit,
    /// Gloves, shoes, belt.
    Gear,
    Visor,
}

/// The body for a skeleton.
pub(super) fn of(skeleton: &Skeleton) -> Vec<(Part, Mesh)> {
    let canonical = Roles::by_canonical_names(skeleton) == Roles::canonical()
        && skeleton.joints().all(|j| skeleton.rest(j) == Quat::IDENTITY);
    let person = if canonical { mannequin::of(skeleton) } else { None };
    person.unwrap_or_else(|| vec![(Part::Suit, bones::of(skeleton))])
}

impl Mesh {
    fn append(&mut self, other: Mesh) {
        let first = self.positions.len() as u32;
        self.positions.extend(other.positions);
        self.normals.extend(other.normals);
        self.joints.extend(other.joints);
        self.weights.extend(other.weights);
        self.triangles.extend(other.triangles.iter().map(|i| first + i));
    }
}

/// The greatest weights as bytes that add up to 255. A joint without weight is 0, as the format wants it.
fn skinning(mut weights: Vec<(u16, f32)>) -> ([u16; 4], [u8; 4]) {
    weights.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    weights.truncate(4);
    let sum: f32 = weights.iter().map(|w| w.1).sum();
    let (mut joints, mut bytes) = ([0; 4], [0_u8; 4]);
    let mut left = 255_u8;
    for (i, (joint, weight)) in weights.iter().enumerate().rev() {
        let byte = if i == 0 { left } else { ((255.0 * weight / sum).round() as u8).min(left) };
        left -= byte;
        if byte > 0 {
            (joints[i], bytes[i]) = (*joint, byte);
        }
    }
    (joints, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{Joint, JointIdx, humanoid};

    fn check(mesh: &Mesh, joints: usize) {
        assert!(!mesh.triangles.is_empty());
        let count = mesh.positions.len();
        assert_eq!((mesh.normals.len(), mesh.joints.len(), mesh.weights.len()), (count, count, count));
        assert!(mesh.triangles.iter().all(|&i| (i as usize) < count));
        assert!(mesh.triangles.chunks_exact(3).all(|t| t[0] != t[1] && t[1] != t[2] && t[2] != t[0]));
        assert!(mesh.positions.iter().all(|p| p.is_finite()));
        assert!(mesh.normals.iter().all(|n| (n.length() - 1.0).abs() < 1e-3));
        for (joint, weight) in mesh.joints.iter().zip(&mesh.weights) {
            assert_eq!(weight.iter().map(|&w| u32::from(w)).sum::<u32>(), 255);
            assert!(joint.iter().zip(weight).all(|(&j, &w)| usize::from(j) <= joints && (w > 0 || j == 0)));
        }
    }

    /// Volume inside a closed surface; negative if it is inside out.
    fn volume(mesh: &Mesh) -> f32 {
        let at = |i: u32| mesh.positions[i as usize];
        mesh.triangles.chunks_exact(3).map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2]))) / 6.0).sum()
    }

    #[test]
    fn the_mannequin_is_a_person() {
        let skeleton = humanoid::skeleton();
        let body = of(&skeleton);
        let mut all = Mesh::default();
        for (_, mesh) in &body {
            check(mesh, skeleton.len());
            assert!(volume(mesh) > 0.0);
            all.append(mesh.clone());
        }
        let top = all.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max);
        let sole = all.positions.iter().map(|p| p.y).fold(f32::MAX, f32::min);
        assert!((top - humanoid::HEIGHT).abs() < 0.04, "{top}");
        assert!(sole.abs() < 0.01, "{sole}");
        // A person of that height weighs 60 to 85 kg at about the density of water; parts overlap a little.
        let litres = 1000.0 * volume(&all);
        assert!((55.0..95.0).contains(&litres), "{litres}");
        assert!(all.positions.len() < 20_000, "{}", all.positions.len());
        // The same on both sides, to a grid cell.
        let (left, right) = all.positions.iter().fold((0.0_f32, 0.0_f32), |(l, r), p| (l.max(p.x), r.max(-p.x)));
        assert!((left - right).abs() < 0.01, "{left} {right}");
        // The normals look out.
        let out = all.triangles.chunks_exact(3).filter(|t| {
            let [a, b, c] = [t[0], t[1], t[2]].map(|i| all.positions[i as usize]);
            (b - a).cross(c - a).dot(all.normals[t[0] as usize]) >= 0.0
        });
        assert!(out.count() * 100 > all.triangles.len() / 3 * 98);
    }

    #[test]
    fn people_of_any_size_have_bodies_and_what_is_no_person_has_bones() {
        for height in [0.9, 1.3, 1.6, 2.1] {
            let skeleton = humanoid::skeleton_with(&humanoid::Proportions::of_height(height));
            let body = of(&skeleton);
            assert_eq!(body.len(), 3, "{height}");
            body.iter().for_each(|(_, mesh)| check(mesh, skeleton.len()));
            let top = body[0].1.positions.iter().map(|p| p.y).fold(f32::MIN, f32::max);
            assert!((top / height - 1.0).abs() < 0.03, "{height}: {top}");
        }
        let mut joints = humanoid::skeleton().to_joints();
        joints.iter_mut().for_each(|j| j.tip = None);
        let skeleton = Skeleton::new(&joints).unwrap();
        of(&skeleton).iter().for_each(|(_, mesh)| check(mesh, skeleton.len()));
        // Centimetres; and a hand on the moon.
        assert_eq!(of(&humanoid::skeleton().scaled(100.0)).len(), 1);
        joints[8].offset.x = 1e9;
        assert_eq!(of(&Skeleton::new(&joints).unwrap()).len(), 1);
    }

    #[test]
    fn any_other_skeleton_is_capsules() {
        let joint = |name: &str, parent: Option<u16>, y: f32| Joint {
            name: name.to_owned(),
            parent: parent.map(JointIdx),
            offset: Vec3::new(0.0, y, 0.0),
            rest: Quat::IDENTITY,
            tip: Some(Vec3::X),
            moves: false,
        };
        let skeleton =
            Skeleton::new(&[joint("a", None, 1.0), joint("b", Some(0), 2.0), joint("c", Some(1), 0.0)]).unwrap();
        let body = of(&skeleton);
        assert_eq!(body.len(), 1);
        check(&body[0].1, 3);
        assert!(volume(&body[0].1) > 0.0);
    }

    #[test]
    fn weights_are_bytes_that_add_up() {
        assert_eq!(skinning(vec![(3, 1.0)]), ([3, 0, 0, 0], [255, 0, 0, 0]));
        assert_eq!(skinning(vec![(1, 1.0), (2, 1.0)]), ([1, 2, 0, 0], [127, 128, 0, 0]));
        assert_eq!(skinning(vec![(1, 0.0001), (2, 1.0)]), ([2, 0, 0, 0], [255, 0, 0, 0]));
        let (_, bytes) = skinning((0..9).map(|i| (i, 1.0)).collect());
        assert_eq!(bytes.iter().map(|&b| u32::from(b)).sum::<u32>(), 255);
    }
}
