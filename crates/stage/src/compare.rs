//! Numbers that need more than a take: what it was made of, and who else was there.

use kumite_motion::fk::Tracks;
use kumite_motion::library::Library;
use kumite_motion::volume::{self, BodySphere, Obstacle, Sphere};
use kumite_motion::{Clip, FrameIdx, Pose, Role, Roles, WorldPose, fk};

use crate::Take;

/// Mean jerk of a take over that of the clips it plays, each as long as it plays it. 1 is as smooth as the sources; `None` before anything
/// was entered.
pub fn jerk_ratio(take: &Take, library: &Library) -> Option<f32> {
    let ends = take.events.iter().skip(1).map(|e| e.time).chain([take.clip.seconds()]);
    let (mut sum, mut seconds) = (0.0f64, 0.0f64);
    let mut known: Vec<Option<f32>> = vec![None; library.clips().len()];
    for (event, end) in take.events.iter().zip(ends) {
        let clip = library.graph().edge(event.edge).clip;
        let own = *known[clip.at()].get_or_insert_with(|| jerk(library.clip(clip)));
        let played = f64::from((end - event.time).max(0.0));
        sum += f64::from(own) * played;
        seconds += played;
    }
    (sum > 0.0).then(|| (f64::from(jerk(&take.clip)) * seconds / sum) as f32)
}

/// Mean jerk of all joints but wrists and toes, metres per second cubed.
fn jerk(clip: &Clip) -> f32 {
    let tracks = Tracks::of(clip);
    let roles = Roles::by_canonical_names(clip.skeleton());
    let loose = [Role::LeftWrist, Role::RightWrist, Role::LeftToe, Role::RightToe].map(|r| roles.get(r));
    let (mut sum, mut count) = (0.0f64, 0u32);
    for joint in clip.skeleton().joints().filter(|j| !loose.contains(&Some(*j))) {
        for frame in 3..clip.frames() as u32 {
            let [d, c, b, a] = [0, 1, 2, 3].map(|back| tracks.get(FrameIdx(frame - back), joint));
            sum += f64::from((d - c * 3.0 + b * 3.0 - a).length());
            count += 1;
        }
    }
    (sum / f64::from(count.max(1))) as f32 * clip.fps() * clip.fps() * clip.fps()
}

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
    use kumite_motion::{Quat, Vec3, humanoid};
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
        assert_eq!(crate::clearance::meet(&clip, &[ball(3.0)]).frames, 0);
        // The middle of the trunk is in the middle of the ball.
        let depth = obstacle_penetration_cm(&clip, &[ball(0.0)], &spheres);
        assert!((30.0..60.0).contains(&depth), "{depth}");
        assert_eq!(crate::clearance::meet(&clip, &[ball(0.0)]).frames, 1);
    }

    #[test]
    fn jerk_of_a_cube_in_time_is_six() {
        let skeleton = Arc::new(humanoid::skeleton());
        let clip = Clip::from_fn("cube", Arc::clone(&skeleton), 10.0, 20, |frame, pose| {
            *pose = Pose::rest(&skeleton);
            let t = frame as f32 / 10.0;
            pose.translations[0].x += t * t * t;
        });
        assert!((jerk(&clip.unwrap()) - 6.0).abs() < 0.01);
    }
}
