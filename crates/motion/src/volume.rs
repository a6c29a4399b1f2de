//! Where bodies and obstacles are: spheres on the skeleton, shapes with signed distance, swept tests.

use crate::mass::SEGMENTS;
use crate::{JointIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};

/// A ball somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sphere {
    /// Metres.
    pub centre: Vec3,
    /// Metres.
    pub radius: f32,
}

impl Sphere {
    /// Distance of two surfaces; negative is the depth of their overlap. `D` of Oshita and Masaoka, § 4.2.
    #[inline]
    pub fn distance(&self, other: &Sphere) -> f32 {
        (self.centre - other.centre).length() - self.radius - other.radius
    }
}

/// A sphere that a joint carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodySphere {
    /// The joint that carries it.
    pub joint: JointIdx,
    /// The part it belongs to: the segment's upper end.
    pub part: Role,
    /// In the joint's own frame, metres.
    pub offset: Vec3,
    /// Metres.
    pub radius: f32,
}

/// Legs make up this share of a person's height, hip to ankle (Drillis and Contini 1966).
const LEG_SHARE: f32 = 0.491;
/// Kilograms of a person per square metre of height: the middle of the normal range.
const MASS_PER_SQUARE: f32 = 22.5;
/// Kilograms per cubic metre of body (Drillis and Contini 1966).
const DENSITY: f32 = 1010.0;
/// Distance of neighbouring spheres along a segment, in radii of the segment: covering makes them 1.22 times as thick
/// as it.
const SPACING: f32 = 1.4;

/// Spheres that cover a body: along each segment a row of them, as thick as the segment's share of a person's mass
/// makes it. Empty if the skeleton has no legs to measure.
pub fn fit(skeleton: &Skeleton, roles: &Roles) -> Vec<BodySphere> {
    let mut world = WorldPose::default();
    fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
    let bone = |a: Role, b: Role| {
        let (a, b) = (roles.get(a)?, roles.get(b)?);
        Some((world.position(a) - world.position(b)).length())
    };
    let leg = |hip, knee, ankle| Some(bone(hip, knee)? + bone(knee, ankle)?);
    let legs =
        [leg(Role::LeftHip, Role::LeftKnee, Role::LeftAnkle), leg(Role::RightHip, Role::RightKnee, Role::RightAnkle)];
    let Some(leg) = legs.into_iter().flatten().reduce(f32::max) else { return Vec::new() };
    let height = leg / LEG_SHARE;
    let volume = MASS_PER_SQUARE * height * height / DENSITY;
    let mut spheres = Vec::new();
    for segment in &SEGMENTS {
        let Some(joint) = roles.get(segment.from) else { continue };
        let start = world.position(joint);
        let end = match segment.to {
            Some(role) => roles.get(role).map(|j| world.position(j)),
            None => skeleton.tip(joint).map(|tip| world.point(joint, tip)),
        };
        let along = end.map_or(Vec3::ZERO, |end| end - start);
        let radius = thickness(segment.share * volume, along.length());
        // In the rest pose; the part of a joint that has no role keeps its place in the role's frame.
        let local = world.rotation(joint).conjugate() * along;
        let count = (along.length() / (SPACING * radius)).ceil().max(1.0);
        let half_step = 0.5 * along.length() / count;
        // Rows of spheres cover a round bar if each reaches the bar's rim half-way to the next.
        let covering = (radius * radius + half_step * half_step).sqrt();
        for k in 0..count as usize {
            let offset = local * ((k as f32 + 0.5) / count);
            spheres.push(BodySphere { joint, part: segment.from, offset, radius: covering });
        }
    }
    spheres
}

/// Radius of a bar with rounded ends that has this volume; half of the ends' volume overlaps the neighbours.
fn thickness(volume: f32, length: f32) -> f32 {
    use std::f32::consts::PI;
    let (mut low, mut high) = (0.0f32, 1.0f32);
    // Halving: the volume grows with the radius. 30 steps leave a nanometre.
    for _ in 0..30 {
        let r = 0.5 * (low + high);
        if PI * r * r * length + 2.0 / 3.0 * PI * r * r * r < volume { low = r } else { high = r }
    }
    0.5 * (low + high)
}

/// Where the spheres are in a pose.
pub fn place(spheres: &[BodySphere], world: &WorldPose, out: &mut Vec<Sphere>) {
    out.clear();
    out.extend(spheres.iter().map(|s| Sphere { centre: world.point(s.joint, s.offset), radius: s.radius }));
}

/// Two points that move evenly from the first to the second of their places: when they are nearest, 0..1, and how
/// near. Exact.
pub fn nearest(a: [Vec3; 2], b: [Vec3; 2]) -> (f32, f32) {
    let (start, end) = (a[0] - b[0], a[1] - b[1]);
    let way = end - start;
    let t = (-start.dot(way) / way.length_squared().max(1e-20)).clamp(0.0, 1.0);
    (t, (start + way * t).length())
}

/// When two evenly moving spheres first touch, 0..1; `None` if they do not. Exact: no speed tunnels.
pub fn meet(a: [Vec3; 2], b: [Vec3; 2], radii: f32) -> Option<f32> {
    let (start, end) = (a[0] - b[0], a[1] - b[1]);
    let (start, way) = (start.to_array().map(f64::from), (end - start).to_array().map(f64::from));
    let dot = |p: &[f64; 3], q: &[f64; 3]| p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
    let reach = f64::from(radii);
    let c = dot(&start, &start) - reach * reach;
    if c <= 0.0 {
        return Some(0.0);
    }
    let (squared, half) = (dot(&way, &way), dot(&start, &way));
    let under = half * half - squared * c;
    // They part, or pass.
    if half >= 0.0 || under < 0.0 {
        return None;
    }
    // The smaller root, as the product of both over the larger: no digits cancel.
    let t = c / (under.sqrt() - half);
    (t <= 1.0).then_some(t as f32)
}

/// What an obstacle looks like, in its own frame and about its middle. Lengths are metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// A ball.
    Sphere {
        /// Its radius.
        radius: f32,
    },
    /// A ball swept along y.
    Capsule {
        /// Half the way of its centre.
        half: f32,
        /// Its radius.
        radius: f32,
    },
    /// A round bar along y with flat ends.
    Cylinder {
        /// Half its height.
        half: f32,
        /// Its radius.
        radius: f32,
    },
    /// A block.
    Box {
        /// Half its sides.
        half: Vec3,
    },
}

/// A shape somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Obstacle {
    /// What it looks like.
    pub shape: Shape,
    /// Where its middle is.
    pub at: Vec3,
    /// How it is turned.
    pub turn: Quat,
}

impl Obstacle {
    /// Distance of a point from the surface, negative inside. Exact everywhere, so it never changes faster than the
    /// point moves.
    pub fn distance(&self, point: Vec3) -> f32 {
        let p = self.turn.conjugate() * (point - self.at);
        match self.shape {
            Shape::Sphere { radius } => p.length() - radius,
            Shape::Capsule { half, radius } => (p - Vec3::Y * p.y.clamp(-half, half)).length() - radius,
            Shape::Cylinder { half, radius } => {
                let aside = (p.x * p.x + p.z * p.z).sqrt() - radius;
                let above = p.y.abs() - half;
                let (x, y) = (aside.max(0.0), above.max(0.0));
                (x * x + y * y).sqrt() + aside.max(above).min(0.0)
            }
            Shape::Box { half } => {
                let q = p.abs() - half;
                q.max(Vec3::ZERO).length() + q.max_element().min(0.0)
            }
        }
    }

    /// When an evenly moving sphere first touches, 0..1; `None` if it does not. Right to [`TOUCH`]: a miss by less
    /// counts as a touch.
    pub fn meets(&self, from: Vec3, to: Vec3, radius: f32) -> Option<f32> {
        let length = (to - from).length();
        let mut gone = 0.0f32;
        // Goes on by as much as is certainly free (Hart 1996), which is at least TOUCH, so this ends.
        loop {
            let t = if length > 0.0 { (gone / length).min(1.0) } else { 0.0 };
            let free = self.distance(from.lerp(to, t)) - radius;
            if free <= TOUCH {
                return Some(t);
            }
            // Written so that what is not a number ends it too.
            if !(gone < length && free.is_finite()) {
                return None;
            }
            gone += free;
        }
    }
}

/// Metres.
pub const TOUCH: f32 = 1e-4;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{humanoid, rotation};
    use proptest::prelude::*;

    fn vector(size: f32) -> impl Strategy<Value = Vec3> {
        (-size..size, -size..size, -size..size).prop_map(|(x, y, z)| Vec3::new(x, y, z))
    }

    fn obstacle() -> impl Strategy<Value = Obstacle> {
        let size = || 0.1f32..1.0;
        let shape = prop_oneof![
            size().prop_map(|radius| Shape::Sphere { radius }),
            (size(), size()).prop_map(|(half, radius)| Shape::Capsule { half, radius }),
            (size(), size()).prop_map(|(half, radius)| Shape::Cylinder { half, radius }),
            (size(), size(), size()).prop_map(|(x, y, z)| Shape::Box { half: Vec3::new(x, y, z) }),
        ];
        (shape, vector(2.0), vector(3.0)).prop_map(|(shape, at, turn)| Obstacle {
            shape,
            at,
            turn: rotation::from_vector(turn),
        })
    }

    /// Many points of a shape's surface, at most `gap` from any other of its points.
    fn surface(shape: &Shape, gap: f32) -> Vec<Vec3> {
        let steps = |length: f32| (length / gap).ceil().max(1.0) as usize;
        let share = |k: usize, n: usize| k as f32 / n as f32;
        let ring = |y: f32, radius: f32, out: &mut Vec<Vec3>| {
            let n = steps(6.3 * radius);
            out.extend((0..n).map(|k| {
                let (s, c) = libm::sincosf(std::f32::consts::TAU * share(k, n));
                Vec3::new(radius * c, y, radius * s)
            }));
        };
        let mut out = Vec::new();
        let ball = |middle: f32, radius: f32, out: &mut Vec<Vec3>| {
            let n = steps(3.2 * radius);
            for k in 0..=n {
                let (s, c) = libm::sincosf(std::f32::consts::PI * share(k, n));
                // The halves of a capsule's ends.
                let y = if c >= 0.0 { middle } else { -middle };
                ring(y + radius * c, radius * s, out);
            }
        };
        match *shape {
            Shape::Sphere { radius } => ball(0.0, radius, &mut out),
            Shape::Capsule { half, radius } => {
                ball(half, radius, &mut out);
                (0..=steps(2.0 * half))
                    .for_each(|k| ring(half * (2.0 * share(k, steps(2.0 * half)) - 1.0), radius, &mut out));
            }
            Shape::Cylinder { half, radius } => {
                let n = steps(2.0 * half);
                (0..=n).for_each(|k| ring(half * (2.0 * share(k, n) - 1.0), radius, &mut out));
                let n = steps(radius);
                for k in 0..=n {
                    ring(half, radius * share(k, n), &mut out);
                    ring(-half, radius * share(k, n), &mut out);
                }
            }
            Shape::Box { half } => {
                for axis in 0..3 {
                    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
                    let (n, m) = (steps(2.0 * half[u]), steps(2.0 * half[v]));
                    for (i, j) in (0..=n).flat_map(|i| (0..=m).map(move |j| (i, j))) {
                        for side in [-1.0, 1.0] {
                            let mut p = Vec3::ZERO;
                            p[axis] = side * half[axis];
                            p[u] = half[u] * (2.0 * share(i, n) - 1.0);
                            p[v] = half[v] * (2.0 * share(j, m) - 1.0);
                            out.push(p);
                        }
                    }
                }
            }
        }
        out
    }

    fn inside(shape: &Shape, p: Vec3) -> bool {
        match *shape {
            Shape::Sphere { radius } => p.length() < radius,
            Shape::Capsule { half, radius } => {
                let flat = Vec3::new(p.x, 0.0, p.z).length();
                let ends = [half, -half].iter().any(|y| (p - Vec3::Y * *y).length() < radius);
                ends || (flat < radius && p.y.abs() < half)
            }
            Shape::Cylinder { half, radius } => Vec3::new(p.x, 0.0, p.z).length() < radius && p.y.abs() < half,
            Shape::Box { half } => p.abs().cmplt(half).all(),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn distances_are_to_the_nearest_point_of_the_surface(obstacle in obstacle(), p in vector(3.0)) {
            let gap = 0.04;
            let local = obstacle.turn.conjugate() * (p - obstacle.at);
            let nearest = surface(&obstacle.shape, gap).iter().map(|q| (*q - local).length()).fold(f32::MAX, f32::min);
            let found = obstacle.distance(p);
            prop_assert!((found.abs() - nearest).abs() < gap, "{found} and {nearest}");
            prop_assert!(found.abs() <= nearest + 1e-4);
            prop_assert!(found.abs() < 1e-4 || (found < 0.0) == inside(&obstacle.shape, local));
        }

        #[test]
        fn no_ball_tunnels_through_an_obstacle(obstacle in obstacle(), a in vector(3.0), b in vector(3.0),
            r in 0.01f32..0.4) {
            let steps = 4000;
            let free = |k: usize| obstacle.distance(a.lerp(b, k as f32 / steps as f32)) - r;
            let slow = (0..=steps).find(|k| free(*k) <= TOUCH);
            match (obstacle.meets(a, b, r), slow) {
                (Some(t), Some(k)) => prop_assert!((t - k as f32 / steps as f32).abs() < 1.0 / steps as f32 + 2e-3
                    || free((t * steps as f32) as usize) < 3.0 * TOUCH + (b - a).length() / steps as f32),
                (None, Some(k)) => prop_assert!(false, "missed at {k}"),
                // Between two looks of the slow way.
                (Some(t), None) => prop_assert!(obstacle.distance(a.lerp(b, t)) - r <= 2.0 * TOUCH),
                (None, None) => {}
            }
        }

        #[test]
        fn moving_spheres_meet_when_looking_often_says_so(a in vector(2.0), b in vector(2.0), c in vector(2.0),
            d in vector(2.0), radii in 0.05f32..1.0) {
            let steps = 4000;
            let apart = |t: f32| (a.lerp(b, t) - c.lerp(d, t)).length();
            let slow = (0..=steps).map(|k| k as f32 / steps as f32).find(|t| apart(*t) <= radii);
            let (t, least) = nearest([a, b], [c, d]);
            prop_assert!((apart(t) - least).abs() < 1e-4);
            prop_assert!((0..=steps).all(|k| apart(k as f32 / steps as f32) >= least - 1e-4));
            match (meet([a, b], [c, d], radii), slow) {
                (Some(t), Some(s)) => {
                    prop_assert!(t <= s + 1e-4 && (apart(t) - radii).abs() < 1e-3 || t == 0.0);
                }
                (None, None) => {}
                // A graze between two looks.
                (Some(_), None) => prop_assert!(least <= radii),
                (None, Some(_)) => prop_assert!((least - radii).abs() < 1e-4, "missed"),
            }
        }

        #[test]
        fn spheres_cover_their_segments(height in 1.2f32..2.1, along in 0.0f32..1.0, angle in 0.0f32..6.3) {
            let skeleton = humanoid::skeleton_with(&humanoid::Proportions::of_height(height));
            let roles = Roles::canonical();
            let spheres = fit(&skeleton, &roles);
            let mut world = WorldPose::default();
            fk::pose(&skeleton, &Pose::rest(&skeleton), &mut world);
            let mut placed = Vec::new();
            place(&spheres, &world, &mut placed);
            // A bar as thick as the segment, from end to end, is inside.
            for segment in &SEGMENTS {
                let own: Vec<&Sphere> =
                    spheres.iter().zip(&placed).filter(|(s, _)| s.part == segment.from).map(|(_, p)| p).collect();
                prop_assert!(!own.is_empty());
                let start = world.position(segment.from.joint());
                let end = match segment.to {
                    Some(role) => world.position(role.joint()),
                    None => world.point(segment.from.joint(), skeleton.tip(segment.from.joint()).unwrap()),
                };
                let count = own.len() as f32;
                let half = 0.5 * (end - start).length() / count;
                let rim = (own[0].radius * own[0].radius - half * half).sqrt();
                let aside = (end - start).any_orthogonal_vector().normalize();
                let aside = rotation::about((end - start).normalize(), angle) * aside;
                let p = start.lerp(end, along) + aside * rim * 0.999;
                prop_assert!(own.iter().any(|s| (s.centre - p).length() <= s.radius));
            }
        }
    }

    #[test]
    fn bodies_are_as_thick_as_people() {
        let skeleton = humanoid::skeleton();
        let spheres = fit(&skeleton, &Roles::canonical());
        let radius = |part: Role| spheres.iter().find(|s| s.part == part).map_or(0.0, |s| s.radius);
        // Half of the breadths and depths of NASA-STD-3000's 50th percentile, and what a sphere adds to cover a bar.
        for (part, least, most) in [
            (Role::Head, 0.08, 0.14),
            (Role::Back, 0.10, 0.19),
            (Role::LeftHip, 0.06, 0.11),
            (Role::LeftKnee, 0.04, 0.07),
            (Role::LeftShoulder, 0.035, 0.065),
            (Role::LeftElbow, 0.025, 0.05),
            (Role::RightWrist, 0.02, 0.05),
        ] {
            assert!((least..most).contains(&radius(part)), "{part:?} {}", radius(part));
        }
        assert!((25..80).contains(&spheres.len()), "{}", spheres.len());
        let mut world = WorldPose::default();
        fk::pose(&skeleton, &Pose::rest(&skeleton), &mut world);
        let mut placed = Vec::new();
        place(&spheres, &world, &mut placed);
        for role in Role::ALL {
            let nearest = placed.iter().map(|s| (s.centre - world.position(role.joint())).length() - s.radius);
            // Clavicles have no mass of their own.
            let slack = if matches!(role, Role::LeftClavicle | Role::RightClavicle) { 0.06 } else { 0.01 };
            assert!(nearest.fold(f32::MAX, f32::min) < slack, "{role:?} is bare");
        }
    }
}
