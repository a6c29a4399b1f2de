//! How deep bodies are in obstacles and in one another: the slow, obviously right way. Bodies are capsules along the bones; shares nothing with
//! planning but forward kinematics and the distance to an obstacle.

use kumite_motion::volume::Obstacle;
use kumite_motion::{Clip, FrameIdx, Pose, Role, Vec3, WorldPose, fk};

/// Thickness of the parts of a body of 1.78 m, as radii of capsules from one joint to another, metres: half of mean depths and breadths of
/// men (Winter 2009), trunk by its depth.
const PARTS: [(Role, Role, f32); 16] = [
    (Role::Pelvis, Role::Waist, 0.12),
    (Role::Waist, Role::Back, 0.12),
    (Role::Back, Role::Neck, 0.12),
    (Role::Neck, Role::Head, 0.06),
    (Role::LeftShoulder, Role::LeftElbow, 0.045),
    (Role::RightShoulder, Role::RightElbow, 0.045),
    (Role::LeftElbow, Role::LeftWrist, 0.035),
    (Role::RightElbow, Role::RightWrist, 0.035),
    (Role::LeftHip, Role::LeftKnee, 0.075),
    (Role::RightHip, Role::RightKnee, 0.075),
    (Role::LeftKnee, Role::LeftAnkle, 0.05),
    (Role::RightKnee, Role::RightAnkle, 0.05),
    (Role::LeftAnkle, Role::LeftToe, 0.04),
    (Role::RightAnkle, Role::RightToe, 0.04),
    (Role::LeftHip, Role::RightHip, 0.1),
    (Role::LeftShoulder, Role::RightShoulder, 0.07),
];
/// From the joint of the head to its middle, and its radius, metres.
const HEAD: (f32, f32) = (0.1, 0.1);
/// Steps along bones and along ways, metres.
const FINE: f32 = 0.01;

/// One part of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Capsule {
    ends: [Vec3; 2],
    radius: f32,
}

/// A body in each frame of a clip.
fn bodies(clip: &Clip) -> Vec<Vec<Capsule>> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let mut one = |frame: usize| {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let at = |role: Role| world.position(role.joint());
        let head = world.point(Role::Head.joint(), Vec3::Y * HEAD.0);
        let parts = PARTS.iter().map(|(a, b, radius)| Capsule { ends: [at(*a), at(*b)], radius: *radius });
        parts.chain([Capsule { ends: [at(Role::Head), head], radius: HEAD.1 }]).collect()
    };
    (0..clip.frames()).map(&mut one).collect()
}

/// What a body met.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touched {
    /// In how many frames, counting what happens on the way to the next.
    pub frames: usize,
    /// Deepest overlap, metres.
    pub deepest: f32,
    /// The first frame.
    pub first: Option<usize>,
    /// Deepest overlap with each obstacle, metres.
    pub depths: Vec<f32>,
    /// Deepest overlap of each frame, metres.
    pub by_frame: Vec<f32>,
}

/// Every frame of a take against every obstacle, moved in steps of a centimetre at most on the way to the next frame.
pub fn with_obstacles(clip: &Clip, obstacles: &[Obstacle]) -> Touched {
    let bodies = bodies(clip);
    let mut touched = Touched { depths: vec![0.0; obstacles.len()], ..Touched::default() };
    for (frame, body) in bodies.iter().enumerate() {
        let next = bodies.get(frame + 1).unwrap_or(body);
        let mut deepest = 0.0f32;
        for (obstacle, own) in obstacles.iter().zip(&mut touched.depths) {
            let depth = depth_in(obstacle, body, next);
            *own = own.max(depth);
            deepest = deepest.max(depth);
        }
        touched.by_frame.push(deepest);
        if deepest > 0.0 {
            touched.frames += 1;
            touched.first.get_or_insert(frame);
            touched.deepest = touched.deepest.max(deepest);
        }
    }
    touched
}

/// Deepest overlap of a body with an obstacle on the way from one frame to the next, metres.
fn depth_in(obstacle: &Obstacle, body: &[Capsule], next: &[Capsule]) -> f32 {
    // Nothing of a body is farther than 1.2 m from its pelvis.
    if body.first().is_some_and(|pelvis| obstacle.distance(pelvis.ends[0]) > 1.5) {
        return 0.0;
    }
    let mut deepest = 0.0f32;
    for (Capsule { ends: [a, b], radius }, Capsule { ends: [c, d], .. }) in body.iter().zip(next) {
        let along = (((*b - *a).length() / FINE).ceil() as usize).max(1);
        let way = (*c - *a).length().max((*d - *b).length());
        // Distances change no faster than points move: where one is far, all of the capsule is.
        if obstacle.distance(a.lerp(*b, 0.5)) > radius + way + (*b - *a).length() {
            continue;
        }
        let steps = ((way / FINE).ceil() as usize).max(1);
        for step in 0..steps {
            let t = step as f32 / steps as f32;
            let (p, q) = (a.lerp(*c, t), b.lerp(*d, t));
            for k in 0..=along {
                deepest = deepest.max(radius - obstacle.distance(p.lerp(q, k as f32 / along as f32)));
            }
        }
    }
    deepest
}

/// Deepest overlap of any two bodies in any frame, metres; 0 if none touch, or there is only one.
pub fn of_bodies(takes: &[&Clip]) -> f32 {
    of_bodies_by_frame(takes).into_iter().fold(0.0, f32::max)
}

/// The same frame by frame.
pub fn of_bodies_by_frame(takes: &[&Clip]) -> Vec<f32> {
    let all: Vec<Vec<Vec<Capsule>>> =
        if takes.len() > 1 { takes.iter().map(|t| bodies(t)).collect() } else { Vec::new() };
    let mut depths = vec![0.0f32; all.iter().map(Vec::len).max().unwrap_or(0)];
    for (i, one) in all.iter().enumerate() {
        for other in &all[i + 1..] {
            for ((a, b), deepest) in one.iter().zip(other).zip(&mut depths) {
                // Two pelvises farther apart than two reaches.
                if a.first().zip(b.first()).is_some_and(|(p, q)| (p.ends[0] - q.ends[0]).length() > 3.0) {
                    continue;
                }
                let pairs = a.iter().flat_map(|p| b.iter().map(|q| p.radius + q.radius - apart(p.ends, q.ends)));
                *deepest = pairs.fold(*deepest, f32::max);
            }
        }
    }
    depths
}

/// Which parts of two takes are in each other by more than `deep` metres: upper ends of both, in how many frames, and how deep at most. The most frequent first.
pub fn pairs_of_bodies(takes: [&Clip; 2], deep: f32) -> Vec<([Role; 2], usize, f32)> {
    let part = |k: usize| PARTS.get(k).map_or(Role::Head, |p| p.0);
    let mut found: Vec<([Role; 2], usize, f32)> = Vec::new();
    let [one, other] = takes.map(bodies);
    for (a, b) in one.iter().zip(&other) {
        for (i, p) in a.iter().enumerate() {
            for (j, q) in b.iter().enumerate() {
                let depth = p.radius + q.radius - apart(p.ends, q.ends);
                if depth <= deep {
                    continue;
                }
                let mut pair = [part(i), part(j)];
                pair.sort();
                match found.iter_mut().find(|f| f.0 == pair) {
                    Some(f) => (f.1, f.2) = (f.1 + 1, f.2.max(depth)),
                    None => found.push((pair, 1, depth)),
                }
            }
        }
    }
    found.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    found
}

/// Least distance of two segments (Ericson 2005, § 5.1.9), metres.
fn apart([p, q]: [Vec3; 2], [r, s]: [Vec3; 2]) -> f32 {
    let (u, v, w) = (q - p, s - r, p - r);
    let (uu, vv, uv) = (u.length_squared().max(1e-12), v.length_squared().max(1e-12), u.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    let whole = uu * vv - uv * uv;
    let along = if whole > 1e-12 { ((uv * vw - uw * vv) / whole).clamp(0.0, 1.0) } else { 0.0 };
    let other = ((uv * along + vw) / vv).clamp(0.0, 1.0);
    let along = ((uv * other - uw) / uu).clamp(0.0, 1.0);
    (p + u * along - r - v * other).length()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{Quat, humanoid, volume};
    use proptest::prelude::*;
    use std::sync::Arc;

    fn standing(x: f32) -> Clip {
        let skeleton = Arc::new(humanoid::skeleton());
        let mut pose = Pose::rest(&skeleton);
        pose.translations[0] += Vec3::new(x, 0.0, 0.0);
        Clip::new("stands", skeleton, 60.0, &[pose]).unwrap()
    }

    #[test]
    fn two_bodies_in_one_place_overlap_by_their_thickest_part() {
        let (here, beside, away) = (standing(0.0), standing(0.05), standing(5.0));
        assert_eq!(of_bodies(&[&here, &away]), 0.0);
        assert_eq!(of_bodies(&[&here]), 0.0);
        // Trunks of 12 cm, 5 cm apart; shoulders lie along the shift and overlap by 14 cm.
        let depth = of_bodies(&[&here, &beside]);
        assert!((depth - 0.20).abs() < 0.015, "{depth}");
    }

    #[test]
    fn a_body_in_an_obstacle_is_noticed() {
        let clip = standing(0.0);
        let ball = |x: f32| Obstacle {
            shape: volume::Shape::Sphere { radius: 0.3 },
            at: Vec3::new(x, 1.0, 0.0),
            turn: Quat::IDENTITY,
        };
        assert_eq!(
            with_obstacles(&clip, &[ball(3.0)]),
            Touched { depths: vec![0.0], by_frame: vec![0.0], ..Touched::default() }
        );
        // The middle of the trunk is in the middle of the ball: 30 cm and the trunk's 12.
        let touched = with_obstacles(&clip, &[ball(0.0)]);
        assert_eq!((touched.frames, touched.first), (1, Some(0)));
        assert!((touched.deepest - 0.42).abs() < 0.03, "{touched:?}");
    }

    proptest! {
        #[test]
        fn segments_are_as_far_apart_as_their_nearest_points(n in proptest::collection::vec(-1.0f32..1.0, 12)) {
            let point = |k: usize| Vec3::new(n[k], n[k + 1], n[k + 2]);
            let (a, b) = ([point(0), point(3)], [point(6), point(9)]);
            let mut least = f32::INFINITY;
            for i in 0..=200 {
                for j in 0..=200 {
                    let (p, q) = (a[0].lerp(a[1], i as f32 / 200.0), b[0].lerp(b[1], j as f32 / 200.0));
                    least = least.min((p - q).length());
                }
            }
            prop_assert!((apart(a, b) - least).abs() < 0.02, "{} and {least}", apart(a, b));
        }
    }
}
