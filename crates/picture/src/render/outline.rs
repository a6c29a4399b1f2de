//! What a solid covers in a plane: seen from the eye, to tell which rays can meet it; from the light, for its shadow.

use kumite_motion::{Vec2, Vec3};

use crate::body::Cone;
use crate::camera::Camera;
use crate::shape::{FlatTaper, Shape, hull, project_cone};

/// The solids of one run, seen from the light.
pub(super) struct Caster {
    /// Each with the height of its highest point towards the light.
    pub outlines: Vec<(Outline, f32)>,
    /// A circle around all of them.
    pub centre: Vec2,
    pub radius: f32,
    pub run: u32,
}

pub(super) enum Outline {
    Taper(FlatTaper),
    /// A convex polygon: outward normals with their offsets, and the height of its middle.
    Polygon {
        edges: Vec<(Vec2, f32)>,
        height: f32,
    },
}

impl Outline {
    /// `see` turns pixel space into the view: the identity for the eye.
    pub(super) fn of(shape: &Shape, camera: &Camera, see: impl Fn(Vec3) -> Vec3) -> Outline {
        match shape {
            Shape::Cone(cone) => {
                let c: Cone = project_cone(cone, camera);
                Outline::Taper(FlatTaper::new(see(c.a), c.ra, see(c.b), c.rb))
            }
            _ => {
                let points: Vec<Vec3> = shape.corners().into_iter().map(|p| see(camera.project(p))).collect();
                let height = points.iter().map(|p| p.z).sum::<f32>() / points.len().max(1) as f32;
                let ring = hull(points.iter().map(|p| p.truncate()).collect());
                let next = ring.iter().cycle().skip(1);
                let edge = |(p, q): (&Vec2, &Vec2)| {
                    let normal = -(*q - *p).perp().normalize_or_zero();
                    (normal, normal.dot(*p))
                };
                Outline::Polygon { edges: ring.iter().zip(next).map(edge).collect(), height }
            }
        }
    }

    /// Signed distance, and the height of the solid there.
    #[inline]
    pub(super) fn distance(&self, p: Vec2) -> (f32, f32) {
        match self {
            Outline::Taper(taper) => taper.distance(p),
            Outline::Polygon { edges, height } => {
                (edges.iter().map(|(n, d)| n.dot(p) - d).fold(f32::NEG_INFINITY, f32::max), *height)
            }
        }
    }
}
