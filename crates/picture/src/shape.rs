//! Solids: their distance fields, outlines and bounds in pixel space. Does not shade or draw them.

use kumite_motion::{Quat, Vec2, Vec3};

use crate::body::Cone;
use crate::camera::Camera;

/// A solid in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// The hull of two balls; a ball if both are equal, a capsule if only their radii are.
    Cone(Cone),
    /// A box.
    Block {
        /// Its middle.
        centre: Vec3,
        /// Side its sides.
        half: Vec3,
        /// Its rotation.
        turn: Quat,
    },
    /// A cylinder with flat ends.
    Cylinder {
        /// Middle of one end.
        a: Vec3,
        /// Middle of the other.
        b: Vec3,
        /// Radius of both ends.
        radius: f32,
    },
}

/// Corners of the polygon that stands for a circle in outlines of cylinders.
const ROUND: usize = 24;

impl Shape {
    /// A ball.
    pub fn ball(centre: Vec3, radius: f32) -> Shape {
        Shape::Cone(Cone { a: centre, ra: radius, b: centre, rb: radius })
    }

    /// A box aligned with the axes of the world.
    pub fn block(centre: Vec3, half: Vec3) -> Shape {
        Shape::Block { centre, half, turn: Quat::IDENTITY }
    }

    /// The shape moved by a vector.
    #[must_use]
    pub fn moved(mut self, by: Vec3) -> Shape {
        match &mut self {
            Shape::Cone(cone) => {
                cone.a += by;
                cone.b += by;
            }
            Shape::Block { centre, .. } => *centre += by,
            Shape::Cylinder { a, b, .. } => {
                *a += by;
                *b += by;
            }
        }
        self
    }

    /// Balls whose hull is the shape, or its corners as balls of radius 0: their bounds are its bounds.
    pub(crate) fn balls(&self) -> Vec<(Vec3, f32)> {
        match self {
            Shape::Cone(cone) => vec![(cone.a, cone.ra), (cone.b, cone.rb)],
            _ => self.corners().into_iter().map(|p| (p, 0.0)).collect(),
        }
    }

    /// Points whose hull is the shape; none for cones.
    pub(crate) fn corners(&self) -> Vec<Vec3> {
        match *self {
            Shape::Cone(_) => Vec::new(),
            Shape::Block { centre, half, turn } => (0..8)
                .map(|i| {
                    let sign = |bit: usize| if i >> bit & 1 == 1 { 1.0 } else { -1.0 };
                    centre + turn * (half * Vec3::new(sign(0), sign(1), sign(2)))
                })
                .collect(),
            Shape::Cylinder { a, b, radius } => {
                let (u, v) = (b - a).normalize_or(Vec3::Y).any_orthonormal_pair();
                let ring = move |end: Vec3| {
                    (0..ROUND).map(move |i| {
                        let (s, c) = libm::sincosf(i as f32 * std::f32::consts::TAU / ROUND as f32);
                        end + radius * (c * u + s * v)
                    })
                };
                ring(a).chain(ring(b)).collect()
            }
        }
    }
}

/// A cone prepared for many distance queries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taper {
    a: Vec3,
    axis: Vec3,
    length: f32,
    ra: f32,
    rb: f32,
    /// Sine and cosine of the angle by which the flank narrows: its outward normal's parts along and across the axis.
    sin: f32,
    cos: f32,
}

impl Taper {
    pub(crate) fn new(cone: &Cone) -> Taper {
        let Cone { mut a, mut ra, mut b, mut rb } = *cone;
        if rb > ra {
            (a, ra, b, rb) = (b, rb, a, ra);
        }
        let length = a.distance(b);
        if length <= ra - rb || length < 1e-6 {
            return Taper { a, axis: Vec3::Y, length: 0.0, ra, rb: ra, sin: 0.0, cos: 1.0 };
        }
        let sin = (ra - rb) / length;
        Taper { a, axis: (b - a) / length, length, ra, rb, sin, cos: (1.0 - sin * sin).max(0.0).sqrt() }
    }

    /// Depth at which a ray along -z through `pixel` enters.
    pub(crate) fn enter(&self, pixel: Vec2) -> Option<f32> {
        let d = pixel - self.a.truncate();
        let dd = d.length_squared();
        let ball = |dd: f32, z: f32, r: f32| (dd < r * r).then(|| z + (r * r - dd).sqrt());
        let mut best = ball(dd, self.a.z, self.ra);
        if self.length > 0.0 {
            let end = self.a + self.axis * self.length;
            best = higher(best, ball(pixel.distance_squared(end.truncate()), end.z, self.rb));
            // On the flank cos x + sin y = ra, with y along the axis and x from it: a quadratic in the depth w.
            let (m, n) = (d.dot(self.axis.truncate()), self.axis.z);
            let c0 = self.ra - self.sin * m;
            let cc = self.cos * self.cos;
            let (a, b, c) = (cc - n * n, n * (c0 * self.sin - cc * m), cc * (dd - m * m) - c0 * c0);
            let disc = b * b - a * c;
            if disc >= 0.0 && a.abs() > 1e-9 {
                let root = disc.sqrt();
                for w in [(-b + root) / a, (-b - root) / a] {
                    let y = m + w * n;
                    let x = (self.ra - self.sin * y) / self.cos.max(1e-6);
                    let s = self.cos * y - self.sin * x;
                    if x >= 0.0 && s >= 0.0 && s <= self.cos * self.length {
                        best = higher(best, Some(self.a.z + w));
                    }
                }
            }
        }
        best
    }

    /// Signed distance to the surface.
    #[inline(always)]
    pub(crate) fn distance(&self, p: Vec3) -> f32 {
        let q = p - self.a;
        let y = q.dot(self.axis);
        let xx = (q.length_squared() - y * y).max(0.0);
        let x = xx.sqrt();
        // `s` runs along the flank: before its start the first ball is nearest, after its end the second.
        let s = self.cos * y - self.sin * x;
        if s < 0.0 {
            (xx + y * y).sqrt() - self.ra
        } else if s > self.cos * self.length {
            let d = y - self.length;
            (xx + d * d).sqrt() - self.rb
        } else {
            self.cos * x + self.sin * y - self.ra
        }
    }

    /// Distance and the direction in which it grows.
    #[inline(always)]
    pub(crate) fn gradient(&self, p: Vec3) -> (f32, Vec3) {
        let q = p - self.a;
        let y = q.dot(self.axis);
        let out = q - self.axis * y;
        let x = out.length();
        let s = self.cos * y - self.sin * x;
        if s < 0.0 {
            (q.length() - self.ra, q.normalize_or(self.axis))
        } else if s > self.cos * self.length {
            let q = q - self.axis * self.length;
            (q.length() - self.rb, q.normalize_or(self.axis))
        } else {
            let n = out * (self.cos / x.max(1e-9)) + self.axis * self.sin;
            (self.cos * x + self.sin * y - self.ra, n)
        }
    }
}

fn higher(a: Option<f32>, b: Option<f32>) -> Option<f32> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        _ => a.or(b),
    }
}

/// The outline of a cone in a plane: the hull of two discs, each at a height above the plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlatTaper {
    a: Vec2,
    axis: Vec2,
    length: f32,
    ra: f32,
    rb: f32,
    sin: f32,
    cos: f32,
    za: f32,
    zb: f32,
}

impl FlatTaper {
    pub(crate) fn new(a: Vec3, ra: f32, b: Vec3, rb: f32) -> FlatTaper {
        let (a, ra, b, rb) = if rb > ra { (b, rb, a, ra) } else { (a, ra, b, rb) };
        let d = b.truncate() - a.truncate();
        let length = d.length();
        let (pa, za, zb) = (a.truncate(), a.z, b.z);
        if length <= ra - rb || length < 1e-6 {
            let axis = Vec2::Y;
            return FlatTaper { a: pa, axis, length: 0.0, ra, rb: ra, sin: 0.0, cos: 1.0, za, zb: za };
        }
        let sin = (ra - rb) / length;
        let cos = (1.0 - sin * sin).max(0.0).sqrt();
        FlatTaper { a: pa, axis: d / length, length, ra, rb, sin, cos, za, zb }
    }

    /// Signed distance to the outline, and the height of the axis where it is nearest.
    #[inline]
    pub(crate) fn distance(&self, p: Vec2) -> (f32, f32) {
        let q = p - self.a;
        let y = q.dot(self.axis);
        let x = q.perp_dot(self.axis).abs();
        let s = self.cos * y - self.sin * x;
        if s < 0.0 {
            (q.length() - self.ra, self.za)
        } else if s > self.cos * self.length {
            ((x * x + (y - self.length) * (y - self.length)).sqrt() - self.rb, self.zb)
        } else {
            let t = if self.length > 0.0 { (y / self.length).clamp(0.0, 1.0) } else { 0.0 };
            (self.cos * x + self.sin * y - self.ra, self.za + (self.zb - self.za) * t)
        }
    }
}

/// Where the straight sides of the hull of two discs touch the first disc and the second: the side left of the direction
/// from a to b, then the other. `None` if one disc contains the other.
pub(crate) fn flanks(a: Vec2, ra: f32, b: Vec2, rb: f32) -> Option<[Vec2; 4]> {
    let d = b - a;
    let length = d.length();
    if length <= (ra - rb).abs() || length < 1e-6 {
        return None;
    }
    let axis = d / length;
    let sin = (ra - rb) / length;
    let cos = (1.0 - sin * sin).max(0.0).sqrt();
    let n1 = axis * sin + axis.perp() * cos;
    let n2 = axis * sin - axis.perp() * cos;
    Some([a + n1 * ra, b + n1 * rb, a + n2 * ra, b + n2 * rb])
}

/// Convex hull, counter-clockwise where y points up (Andrew's monotone chain).
pub(crate) fn hull(mut points: Vec<Vec2>) -> Vec<Vec2> {
    points.sort_by(|p, q| p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)));
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let mut out: Vec<Vec2> = Vec::with_capacity(points.len() + 1);
    let half = |out: &mut Vec<Vec2>, p: Vec2, floor: usize| {
        while out.len() >= floor + 2 {
            let (u, v) = (out[out.len() - 2], out[out.len() - 1]);
            if (v - u).perp_dot(p - u) > 0.0 {
                break;
            }
            out.pop();
        }
        out.push(p);
    };
    for &p in &points {
        half(&mut out, p, 0);
    }
    let floor = out.len() - 1;
    for &p in points.iter().rev().skip(1) {
        half(&mut out, p, floor);
    }
    out.pop();
    out
}

/// Distance field of a solid in the pixel space of a camera.
#[derive(Clone, Debug)]
pub(crate) enum Field {
    Taper(Taper),
    Block { centre: Vec3, axes: [Vec3; 3], half: Vec3 },
    Cylinder { a: Vec3, axis: Vec3, length: f32, radius: f32 },
}

impl Field {
    pub(crate) fn new(shape: &Shape, camera: &Camera) -> Field {
        match *shape {
            Shape::Cone(c) => Field::Taper(Taper::new(&project_cone(&c, camera))),
            Shape::Block { centre, half, turn } => {
                Field::Block { centre: camera.project(centre), axes: camera.axes(turn), half: half * camera.scale }
            }
            Shape::Cylinder { a, b, radius } => {
                let (a, b) = (camera.project(a), camera.project(b));
                let axis = (b - a).normalize_or(Vec3::Y);
                Field::Cylinder { a, axis, length: a.distance(b), radius: radius * camera.scale }
            }
        }
    }

    #[inline(always)]
    pub(crate) fn distance(&self, p: Vec3) -> f32 {
        match self {
            Field::Taper(taper) => taper.distance(p),
            Field::Block { centre, axes, half } => {
                let q = p - *centre;
                let d = Vec3::new(q.dot(axes[0]), q.dot(axes[1]), q.dot(axes[2])).abs() - *half;
                d.max(Vec3::ZERO).length() + d.max_element().min(0.0)
            }
            Field::Cylinder { a, axis, length, radius } => {
                let q = p - *a;
                let y = q.dot(*axis);
                let x = (q.length_squared() - y * y).max(0.0).sqrt() - radius;
                let y = (y - 0.5 * length).abs() - 0.5 * length;
                Vec2::new(x, y).max(Vec2::ZERO).length() + x.max(y).min(0.0)
            }
        }
    }

    /// Distance and the direction in which it grows.
    #[inline]
    pub(crate) fn gradient(&self, p: Vec3) -> (f32, Vec3) {
        match self {
            Field::Taper(taper) => taper.gradient(p),
            _ => {
                // Differences along the corners of a tetrahedron need four samples instead of six.
                let corners =
                    [Vec3::new(1.0, -1.0, -1.0), Vec3::new(-1.0, -1.0, 1.0), Vec3::new(-1.0, 1.0, -1.0), Vec3::ONE];
                let normal: Vec3 = corners.into_iter().map(|e| e * self.distance(p + 0.25 * e)).sum();
                (self.distance(p), normal.normalize_or(Vec3::Z))
            }
        }
    }
}

/// A cone in pixel space.
pub(crate) fn project_cone(cone: &Cone, camera: &Camera) -> Cone {
    Cone {
        a: camera.project(cone.a),
        ra: cone.ra * camera.scale,
        b: camera.project(cone.b),
        rb: cone.rb * camera.scale,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vec3(size: f32) -> impl Strategy<Value = Vec3> {
        (-size..size, -size..size, -size..size).prop_map(Vec3::from)
    }

    proptest! {
        #[test]
        fn distance_to_a_cone_is_the_least_over_its_balls(
            a in vec3(10.0), ra in 0.1f32..4.0, b in vec3(10.0), rb in 0.1f32..4.0, p in vec3(20.0),
        ) {
            let taper = Taper::new(&Cone { a, ra, b, rb });
            let ball = |t: f32| p.distance(a.lerp(b, t)) - (ra + (rb - ra) * t);
            let least = (0..=400).map(|i| ball(i as f32 / 400.0)).fold(f32::INFINITY, f32::min);
            // Inside, the least over balls is not the distance to the hull, but has its sign.
            if least > 0.0 {
                prop_assert!((taper.distance(p) - least).abs() < 2e-2, "{} {least}", taper.distance(p));
            } else {
                prop_assert!(taper.distance(p) < 1e-3);
            }
        }

        #[test]
        fn gradients_match_the_distance(
            a in vec3(10.0), ra in 0.1f32..4.0, b in vec3(10.0), rb in 0.1f32..4.0, p in vec3(20.0),
        ) {
            let taper = Taper::new(&Cone { a, ra, b, rb });
            let (d, n) = taper.gradient(p);
            prop_assert!((d - taper.distance(p)).abs() < 1e-3);
            prop_assert!((taper.distance(p + 0.01 * n) - d - 0.01).abs() < 2e-3);
        }

        #[test]
        fn rays_enter_where_the_distance_is_zero(
            a in vec3(10.0), ra in 0.1f32..4.0, b in vec3(10.0), rb in 0.1f32..4.0,
            x in -12f32..12.0, y in -12f32..12.0,
        ) {
            let taper = Taper::new(&Cone { a, ra, b, rb });
            let outline = FlatTaper::new(a, ra, b, rb);
            let pixel = Vec2::new(x, y);
            let aside = outline.distance(pixel).0;
            match taper.enter(pixel) {
                Some(z) => {
                    prop_assert!(aside < 1e-3);
                    prop_assert!(taper.distance(pixel.extend(z)).abs() < 2e-2);
                    prop_assert!(taper.distance(pixel.extend(z + 0.5)) > -1e-2);
                }
                None => prop_assert!(aside > -2e-2, "{aside}"),
            }
        }

        #[test]
        fn flanks_touch_both_discs(
            ax in -9f32..9.0, ay in -9f32..9.0, ra in 0.1f32..3.0,
            bx in -9f32..9.0, by in -9f32..9.0, rb in 0.1f32..3.0,
        ) {
            let (a, b) = (Vec2::new(ax, ay), Vec2::new(bx, by));
            if let Some([a1, b1, a2, b2]) = flanks(a, ra, b, rb) {
                for (p, centre, r) in [(a1, a, ra), (a2, a, ra), (b1, b, rb), (b2, b, rb)] {
                    prop_assert!((p.distance(centre) - r).abs() < 1e-3);
                }
                prop_assert!((b1 - a1).dot(a1 - a).abs() < 2e-2 * (1.0 + (b1 - a1).length()));
                prop_assert!((b2 - a2).dot(a2 - a).abs() < 2e-2 * (1.0 + (b2 - a2).length()));
            } else {
                prop_assert!(a.distance(b) <= (ra - rb).abs() + 1e-5);
            }
        }

        #[test]
        fn hulls_hold_their_points(points in prop::collection::vec((-5f32..5.0, -5f32..5.0), 3..30)) {
            let points: Vec<Vec2> = points.into_iter().map(Vec2::from).collect();
            let ring = hull(points.clone());
            for (u, v) in ring.iter().zip(ring.iter().cycle().skip(1)) {
                for p in &points {
                    prop_assert!((*v - *u).perp_dot(*p - *u) > -1e-3);
                }
            }
        }
    }

    #[test]
    fn blocks_and_cylinders_measure_from_their_faces() {
        let camera = Camera {
            right: Vec3::X,
            up: Vec3::NEG_Y,
            back: Vec3::Z,
            scale: 1.0,
            target: Vec3::ZERO,
            centre: Vec2::ZERO,
        };
        let block = Field::new(&Shape::block(Vec3::ZERO, Vec3::new(1.0, 2.0, 3.0)), &camera);
        assert_eq!(block.distance(Vec3::new(4.0, 0.0, 0.0)), 3.0);
        assert_eq!(block.distance(Vec3::ZERO), -1.0);
        let pole = Field::new(&Shape::Cylinder { a: Vec3::ZERO, b: Vec3::Y * 4.0, radius: 1.0 }, &camera);
        assert_eq!(pole.distance(Vec3::new(3.0, 2.0, 0.0)), 2.0);
        assert_eq!(pole.distance(Vec3::new(0.0, 6.0, 0.0)), 2.0);
    }
}
