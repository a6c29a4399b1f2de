//! Things beside characters: balls and obstacles, as plain surfaces.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::Vec3;
use kumite_motion::Quat;
use kumite_motion::rotation::{about, yaw};
use kumite_motion::volume::Shape;

use super::body::Mesh;

/// A ball or an obstacle of a take.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfProp {
    /// Name of its node.
    pub name: String,
    /// What it looks like.
    pub shape: Shape,
    /// Where it stands, if it does not move.
    pub at: Vec3,
    /// How it is turned.
    pub turn: Quat,
    /// Where it is when, seconds, in order; empty if it stands. It is there from the first moment to the last only.
    pub path: Vec<(f32, Vec3)>,
    /// Linear red, green and blue, 0 to 1.
    pub colour: [f32; 3],
}

/// Sides of what is round, and rows from the equator of a ball to its pole.
const SIDES: usize = 24;
const ROWS: usize = 8;

/// The surface of a shape about its middle, without joints.
pub(super) fn surface(shape: &Shape) -> Mesh {
    match *shape {
        Shape::Sphere { radius } => turned(&round(0.0, radius)),
        Shape::Capsule { half, radius } => turned(&round(half, radius)),
        Shape::Cylinder { half, radius } => {
            let cap = |y: f32| [(0.0, y, Vec3::Y * y.signum()), (radius, y, Vec3::Y * y.signum())];
            let [[a, b], [d, c]] = [cap(-half), cap(half)];
            turned(&[a, b, (radius, -half, Vec3::X), (radius, half, Vec3::X), c, d])
        }
        Shape::Box { half } => block(half),
    }
}

/// A point of an outline: distance from the axis, height, and the normal where the angle about the axis is 0.
type Outline = (f32, f32, Vec3);

/// Outline of a ball whose halves are moved apart, from the lower pole to the upper.
fn round(half: f32, radius: f32) -> Vec<Outline> {
    let row = |k: usize, lift: f32, from: f32| {
        let angle = from + FRAC_PI_2 * k as f32 / ROWS as f32;
        let (sin, cos) = (libm::sinf(angle), libm::cosf(angle).max(0.0));
        (radius * cos, lift + radius * sin, Vec3::new(cos, sin, 0.0))
    };
    let mut outline: Vec<Outline> = (0..=ROWS).map(|k| row(k, -half, -FRAC_PI_2)).collect();
    outline.extend((usize::from(half <= 0.0)..=ROWS).map(|k| row(k, half, 0.0)));
    // A quarter of a turn is not quite that in floats.
    let last = outline.len() - 1;
    (outline[0].0, outline[last].0) = (0.0, 0.0);
    outline
}

/// An outline turned about the vertical.
fn turned(outline: &[Outline]) -> Mesh {
    let mut mesh = Mesh::default();
    for side in 0..=SIDES {
        let turn = yaw(if side == SIDES { 0.0 } else { TAU * side as f32 / SIDES as f32 });
        for &(radius, height, normal) in outline {
            mesh.positions.push(turn * (Vec3::X * radius) + Vec3::Y * height);
            mesh.normals.push((turn * normal).normalize_or(Vec3::Y));
        }
    }
    let rows = outline.len();
    for side in 0..SIDES {
        for row in 0..rows - 1 {
            let [a, b] = [side * rows + row, (side + 1) * rows + row].map(|i| i as u32);
            let flat = outline[row].0 <= 0.0 && outline[row + 1].0 <= 0.0;
            let same = outline[row].0 == outline[row + 1].0 && outline[row].1 == outline[row + 1].1;
            if flat || same {
                continue;
            }
            if outline[row].0 > 0.0 {
                mesh.triangles.extend([a, b, a + 1]);
            }
            if outline[row + 1].0 > 0.0 {
                mesh.triangles.extend([b, b + 1, a + 1]);
            }
        }
    }
    mesh
}

/// A box: four corners of its own for each side, so that edges are sharp.
fn block(half: Vec3) -> Mesh {
    let mut mesh = Mesh::default();
    let sides = [0.0, 0.5 * PI, PI, 1.5 * PI].map(yaw);
    let lids = [-FRAC_PI_2, FRAC_PI_2].map(|angle| about(Vec3::X, angle));
    for turn in sides.into_iter().chain(lids) {
        let first = mesh.positions.len() as u32;
        for (x, y) in [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)] {
            // Whole numbers but for rounding.
            mesh.positions.push((turn * Vec3::new(x, y, 1.0)).round() * half);
            mesh.normals.push((turn * Vec3::Z).round());
        }
        mesh.triangles.extend([0, 1, 2, 0, 2, 3].map(|i| first + i));
    }
    mesh
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume by the divergence theorem: right only if the surface is closed and every triangle looks outwards.
    fn volume(mesh: &Mesh) -> f32 {
        let corner = |i: u32| mesh.positions[i as usize];
        let triangles = mesh.triangles.chunks_exact(3);
        triangles.map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0).sum()
    }

    #[test]
    fn surfaces_are_closed_and_look_outwards() {
        let (r, half) = (0.3, 0.5);
        let ball = 4.0 / 3.0 * PI * r * r * r;
        for (shape, exact) in [
            (Shape::Sphere { radius: r }, ball),
            (Shape::Capsule { half, radius: r }, ball + PI * r * r * 2.0 * half),
            (Shape::Cylinder { half, radius: r }, PI * r * r * 2.0 * half),
            (Shape::Box { half: Vec3::new(0.1, 0.2, 0.3) }, 8.0 * 0.1 * 0.2 * 0.3),
        ] {
            let mesh = surface(&shape);
            let found = volume(&mesh);
            assert!((found / exact - 1.0).abs() < 0.04, "{shape:?}: {found} is not {exact}");
            for t in mesh.triangles.chunks_exact(3) {
                let [a, b, c] = [0, 1, 2].map(|k| mesh.positions[t[k] as usize]);
                let outwards = (b - a).cross(c - a);
                assert!(outwards.length() > 1e-6, "{shape:?}: a triangle without an area");
                assert!(t.iter().all(|i| outwards.dot(mesh.normals[*i as usize]) > 0.0), "{shape:?}");
            }
        }
    }
}
