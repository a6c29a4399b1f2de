use std::f32::consts::{FRAC_PI_2, TAU};

use glam::Vec3;
use kumite_motion::{JointIdx, Pose, Skeleton, WorldPose, fk, rotation};

use super::Mesh;

/// Corners around a capsule, and rings on each of its ends.
const AROUND: u32 = 10;
const RINGS: u32 = 3;

/// A tapered capsule from every joint to each of its children and to its tip, each moved by its joint alone.
pub(super) fn of(skeleton: &Skeleton) -> Mesh {
    let mut world = WorldPose::default();
    fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
    let (low, high) =
        world.positions.iter().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), &p| (low.min(p), high.max(p)));
    let size = (high - low).max_element().max(1e-3);
    let mut mesh = Mesh::default();
    let mut add = |joint: JointIdx, from: Vec3, to: Vec3| {
        let length = (to - from).length();
        if length > 1e-4 * size {
            let radius = (0.12 * length).clamp(0.007 * size, 0.028 * size).min(0.45 * length);
            mesh.append(capsule(from, to, [radius, 0.6 * radius], joint.0 + 1));
        }
    };
    for joint in skeleton.joints() {
        let from = world.position(joint);
        if let Some(parent) = skeleton.parent(joint) {
            add(parent, world.position(parent), from);
        }
        if let Some(tip) = skeleton.tip(joint) {
            add(joint, from, world.point(joint, tip));
        }
    }
    if mesh.positions.is_empty() {
        // One joint, or all in one place: still something to see.
        let at = world.position(JointIdx::ROOT);
        mesh.append(capsule(at, at + Vec3::Y * 0.1 * size, [0.05 * size, 0.03 * size], 1));
    }
    mesh
}

fn capsule(from: Vec3, to: Vec3, radii: [f32; 2], joint: u16) -> Mesh {
    let mut mesh = Mesh::default();
    let axis = (to - from).normalize_or(Vec3::Y);
    let turn = rotation::arc(Vec3::Y, axis);
    let mut ring = |centre: Vec3, radius: f32, latitude: f32| {
        let (up, out) = libm::sincosf(latitude);
        for i in 0..AROUND {
            let (s, c) = libm::sincosf(TAU * i as f32 / AROUND as f32);
            let normal = turn * Vec3::new(out * s, up, out * c);
            mesh.positions.push(centre + normal * radius);
            mesh.normals.push(normal.normalize());
            mesh.joints.push([joint, 0, 0, 0]);
            mesh.weights.push([255, 0, 0, 0]);
        }
    };
    // The poles are rings too, nearly of no width: every normal is then its own.
    for i in 0..=RINGS {
        ring(from, radii[0], -FRAC_PI_2 * 0.999 * (1.0 - i as f32 / RINGS as f32));
    }
    for i in 0..=RINGS {
        ring(to, radii[1], FRAC_PI_2 * 0.999 * (i as f32 / RINGS as f32));
    }
    for row in 0..2 * RINGS + 1 {
        for i in 0..AROUND {
            let next = (i + 1) % AROUND;
            let (a, b) = (row * AROUND + i, row * AROUND + next);
            let (c, d) = (a + AROUND, b + AROUND);
            mesh.triangles.extend([a, b, d, a, d, c]);
        }
    }
    mesh
}
