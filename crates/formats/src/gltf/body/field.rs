//! Solid shapes as distances to their surface: negative inside, metres.

use glam::Vec3;

/// A simple solid.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The hull of two balls, then stretched about the first one's centre.
    Taper { from: Vec3, to: Vec3, radii: [f32; 2], stretch: Vec3 },
    /// With half axes along x, y, z.
    Ellipsoid { at: Vec3, radii: Vec3 },
    /// With rounded edges.
    Block { at: Vec3, half: Vec3, round: f32 },
}

impl Shape {
    pub(super) fn taper(from: Vec3, to: Vec3, radii: [f32; 2]) -> Shape {
        Shape::Taper { from, to, radii, stretch: Vec3::ONE }
    }

    pub(super) fn distance(&self, p: Vec3) -> f32 {
        match *self {
            Shape::Taper { from, to, radii: [a, b], stretch } => {
                let (axis, p) = ((to - from) / stretch, (p - from) / stretch);
                let length = axis.length().max(1e-6);
                let u = axis / length;
                let along = p.dot(u);
                let across = (p - u * along).length();
                // The ball that touches the surface nearest to p is not abreast of it but further towards the thick
                // end, by the slope of the hull.
                let sine = ((a - b) / length).clamp(-0.99, 0.99);
                let slope = sine / libm::sqrtf(1.0 - sine * sine);
                let s = (along - across * slope).clamp(0.0, length);
                let radius = a + (b - a) * s / length;
                ((p - u * s).length() - radius) * stretch.min_element()
            }
            Shape::Ellipsoid { at, radii } => {
                // First order near the surface, where it matters.
                let q = (p - at) / radii;
                let k = q.length();
                let slope = (q / radii).length();
                if slope < 1e-6 { -radii.min_element() } else { k * (k - 1.0) / slope }
            }
            Shape::Block { at, half, round } => {
                let q = (p - at).abs() - (half - Vec3::splat(round));
                q.max(Vec3::ZERO).length() + q.max_element().min(0.0) - round
            }
        }
    }

    /// A bounding box.
    pub(super) fn bounds(&self) -> (Vec3, Vec3) {
        match *self {
            Shape::Taper { from, to, radii: [a, b], stretch } => {
                ((from - a * stretch).min(to - b * stretch), (from + a * stretch).max(to + b * stretch))
            }
            Shape::Ellipsoid { at, radii: half } | Shape::Block { at, half, .. } => (at - half, at + half),
        }
    }
}

/// The union of two solids with a fillet of about `width`.
pub(super) fn joined(a: f32, b: f32, width: f32) -> f32 {
    let overlap = (1.0 - (a - b).abs() / width).max(0.0);
    a.min(b) - 0.25 * width * overlap * overlap
}

/// What two solids share, with the edge between them rounded off by `radius`.
pub(super) fn common(a: f32, b: f32, radius: f32) -> f32 {
    let (a, b) = (a + radius, b + radius);
    let (out_a, out_b) = (a.max(0.0), b.max(0.0));
    libm::sqrtf(out_a * out_a + out_b * out_b) + a.max(b).min(0.0) - radius
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_taper_is_the_hull_of_its_balls() {
        let taper = Shape::taper(Vec3::ZERO, Vec3::new(10.0, 0.0, 0.0), [3.0, 1.0]);
        assert!((taper.distance(Vec3::new(-5.0, 0.0, 0.0)) - 2.0).abs() < 1e-5);
        assert!((taper.distance(Vec3::new(13.0, 0.0, 0.0)) - 2.0).abs() < 1e-5);
        // The common tangent of both circles: the sine of its slope is (3 - 1) / 10.
        let normal = Vec3::new(0.2, libm::sqrtf(0.96), 0.0);
        for s in [0.0, 2.0, 5.0, 10.0] {
            let radius = 3.0 - 0.2 * s;
            let on = Vec3::new(s, 0.0, 0.0) + normal * radius;
            assert!(taper.distance(on).abs() < 1e-5, "{s}");
            assert!((taper.distance(on + normal) - 1.0).abs() < 1e-5, "{s}");
        }
    }

    #[test]
    fn blocks_and_ellipsoids_end_where_they_say() {
        let half = Vec3::new(1.0, 2.0, 3.0);
        let block = Shape::Block { at: Vec3::X, half, round: 0.5 };
        assert!((block.distance(Vec3::new(3.0, 0.0, 0.0)) - 1.0).abs() < 1e-5);
        let ellipsoid = Shape::Ellipsoid { at: Vec3::ZERO, radii: half };
        for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
            assert!(ellipsoid.distance(axis * half).abs() < 1e-5);
        }
    }
}
