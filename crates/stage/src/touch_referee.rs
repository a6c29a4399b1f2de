//! Whether a body meets obstacles: the slow, obviously right way. Capsules along the bones, moved in steps of a centimetre at most.
//! Shares nothing with planning but forward kinematics and the distance to an obstacle.

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

/// What a body met.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Met {
    /// In how many frames, counting what happens on the way to the next.
    pub frames: usize,
    /// Deepest overlap, metres.
    pub deepest: f32,
    /// The first frame.
    pub first: Option<usize>,
    /// Deepest overlap with each obstacle, metres.
    pub depths: Vec<f32>,
}

/// Ends and radii of the capsules of a pose.
fn capsules(world: &WorldPose) -> Vec<(Vec3, Vec3, f32)> {
    let at = |role: Role| world.position(role.joint());
    let mut all: Vec<_> = PARTS.iter().map(|(a, b, r)| (at(*a), at(*b), *r)).collect();
    let head = world.point(Role::Head.joint(), Vec3::Y * HEAD.0);
    all.push((at(Role::Head), head, HEAD.1));
    all
}

/// Looks at every frame of a take.
pub fn meet(clip: &Clip, obstacles: &[Obstacle]) -> Met {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let mut bodies = Vec::with_capacity(clip.frames());
    for frame in 0..clip.frames() {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        bodies.push(capsules(&world));
    }
    let mut met = Met { depths: vec![0.0; obstacles.len()], ..Met::default() };
    for frame in 0..bodies.len() {
        let next = bodies.get(frame + 1).unwrap_or(&bodies[frame]);
        let mut deepest = 0.0f32;
        for (obstacle, own) in obstacles.iter().zip(&mut met.depths) {
            let depth = overlap(&bodies[frame], next, obstacle);
            *own = own.max(depth);
            deepest = deepest.max(depth);
        }
        if deepest > 0.0 {
            met.frames += 1;
            met.first.get_or_insert(frame);
            met.deepest = met.deepest.max(deepest);
        }
    }
    met
}

/// Deepest overlap of a body with an obstacle on the way from one frame to the next.
fn overlap(body: &[(Vec3, Vec3, f32)], next: &[(Vec3, Vec3, f32)], obstacle: &Obstacle) -> f32 {
    // Nothing of a body is farther than 1.2 m from its pelvis.
    if body.first().is_some_and(|(p, ..)| obstacle.distance(*p) > 1.5) {
        return 0.0;
    }
    let mut deepest = 0.0f32;
    for ((a, b, radius), (c, d, _)) in body.iter().zip(next) {
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
