//! How deep bodies are in one another and in obstacles.

use kumite_motion::volume::{self, BodySphere, Obstacle, Sphere};
use kumite_motion::{Clip, FrameIdx, Pose, WorldPose, fk};

/// Deepest overlap of two bodies in any frame, centimetres; 0 if they never touch, or there is only one.
pub fn penetration_cm(takes: &[&Clip], spheres: &[BodySphere]) -> f32 {
    let frames = takes.iter().map(|t| t.frames()).min().unwrap_or(0);
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let mut bodies: Vec<Vec<Sphere>> = vec![Vec::with_capacity(spheres.len()); takes.len()];
    let mut deepest = 0.0f32;
    for frame in 0..if takes.len() > 1 { frames } else { 0 } {
        for (take, body) in takes.iter().zip(&mut bodies) {
            take.pose(FrameIdx(frame as u32), &mut pose);
            fk::pose(take.skeleton(), &pose, &mut world);
            body.clear();
            body.extend(spheres.iter().map(|s| Sphere { centre: world.point(s.joint, s.offset), radius: s.radius }));
        }
        for (i, one) in bodies.iter().enumerate() {
            for other in &bodies[i + 1..] {
                let depth = one.iter().flat_map(|a| other.iter().map(|b| -a.distance(b))).fold(0.0, f32::max);
                deepest = deepest.max(depth);
            }
        }
    }
    100.0 * deepest
}

/// Deepest overlap of a body and an obstacle in any frame, centimetres; 0 if they never touch.
pub fn obstacle_penetration_cm(take: &Clip, obstacles: &[Obstacle], spheres: &[BodySphere]) -> f32 {
    let (mut pose, mut world, mut body) = (Pose::default(), WorldPose::default(), Vec::new());
    let mut deepest = 0.0f32;
    for frame in 0..if obstacles.is_empty() { 0 } else { take.frames() } {
        take.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(take.skeleton(), &pose, &mut world);
        volume::place(spheres, &world, &mut body);
        let depths = body.iter().flat_map(|s| obstacles.iter().map(|o| s.radius - o.distance(s.centre)));
        deepest = depths.fold(deepest, f32::max);
    }
    100.0 * deepest
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{Quat, Roles, Vec3, humanoid};
    use std::sync::Arc;

    #[test]
    fn two_who_stand_in_one_another_are_noticed() {
        let skeleton = Arc::new(humanoid::skeleton());
        let spheres = volume::fit(&skeleton, &Roles::canonical());
        let standing = |x: f32| {
            let mut pose = Pose::rest(&skeleton);
            pose.translations[0] += Vec3::new(x, 0.0, 0.0);
            Clip::new("stands", Arc::clone(&skeleton), 60.0, &[pose]).unwrap()
        };
        let (here, beside, away) = (standing(0.0), standing(0.05), standing(5.0));
        assert_eq!(penetration_cm(&[&here, &away], &spheres), 0.0);
        assert_eq!(penetration_cm(&[&here], &spheres), 0.0);
        let thickest = spheres.iter().map(|s| s.radius).fold(0.0, f32::max);
        // Two equal spheres 5 cm apart overlap by their diameter less 5 cm.
        let depth = penetration_cm(&[&here, &beside], &spheres);
        assert!((depth - (200.0 * thickest - 5.0)).abs() < 0.1, "{depth}");
    }

    #[test]
    fn who_stands_in_an_obstacle_is_noticed() {
        let skeleton = Arc::new(humanoid::skeleton());
        let spheres = volume::fit(&skeleton, &Roles::canonical());
        let clip = Clip::new("stands", Arc::clone(&skeleton), 60.0, &[Pose::rest(&skeleton)]).unwrap();
        let ball = |x: f32| Obstacle {
            shape: volume::Shape::Sphere { radius: 0.3 },
            at: Vec3::new(x, 1.0, 0.0),
            turn: Quat::IDENTITY,
        };
        assert_eq!(obstacle_penetration_cm(&clip, &[ball(3.0)], &spheres), 0.0);
        assert_eq!(crate::touch_referee::meet(&clip, &[ball(3.0)]).frames, 0);
        // The middle of the trunk is in the middle of the ball.
        let depth = obstacle_penetration_cm(&clip, &[ball(0.0)], &spheres);
        assert!((30.0..60.0).contains(&depth), "{depth}");
        assert_eq!(crate::touch_referee::meet(&clip, &[ball(0.0)]).frames, 1);
    }
}
