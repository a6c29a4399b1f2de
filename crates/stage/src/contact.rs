//! Balls against bodies, swept over a tick: everything moves evenly from where it was to where it is.

use kumite_motion::volume::BodySphere;
use kumite_motion::{Role, Vec3, WorldPose};
use kumite_react::Touch;

use crate::TICKS;

/// Where a body's spheres are.
pub fn place(spheres: &[BodySphere], world: &WorldPose, out: &mut Vec<Vec3>) {
    out.clear();
    out.extend(spheres.iter().map(|s| world.point(s.joint, s.offset)));
}

/// A ball and a body during a tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pass {
    /// Least distance, metres; negative is the depth.
    pub least: f32,
    /// When in the tick the first touch is, 0..1, and of what.
    pub touch: Option<(f32, Role)>,
    /// Which sphere that is.
    pub sphere: usize,
}

/// Sweeps a ball that goes from `ball[0]` to `ball[1]` against spheres that go from `before` to `after`.
pub fn sweep(spheres: &[BodySphere], before: &[Vec3], after: &[Vec3], ball: [Vec3; 2], radius: f32) -> Pass {
    let mut pass = Pass { least: f32::INFINITY, touch: None, sphere: 0 };
    for (index, ((sphere, a), b)) in spheres.iter().zip(before).zip(after).enumerate() {
        // Seen from the sphere the ball moves along a line.
        let (start, way) = (ball[0] - *a, (ball[1] - *b) - (ball[0] - *a));
        let both = sphere.radius + radius;
        let (ww, sw) = (way.length_squared(), start.dot(way));
        let nearest = if ww > 0.0 { (-sw / ww).clamp(0.0, 1.0) } else { 0.0 };
        let distance = (start + way * nearest).length();
        pass.least = pass.least.min(distance - both);
        if distance < both {
            // |start + t way| = both, the first root; 0 where they overlap from the beginning.
            let inside = sw * sw - ww * (start.length_squared() - both * both);
            let first = if ww > 0.0 { ((-sw - inside.max(0.0).sqrt()) / ww).clamp(0.0, 1.0) } else { 0.0 };
            if pass.touch.is_none_or(|(time, _)| first < time) {
                (pass.touch, pass.sphere) = (Some((first, sphere.part)), index);
            }
        }
    }
    pass
}

/// A touch of a ball of some mass: where, which way out of the body, and how fast against it. `sphere` is where the touched one goes in the tick,
/// `time` when in it they touch.
pub fn touch(part: Role, sphere: [Vec3; 2], way: [Vec3; 2], time: f32, radius: f32, mass: f32) -> Touch {
    let (centre, ball) = (sphere[0].lerp(sphere[1], time), way[0].lerp(way[1], time));
    let normal = (ball - centre).normalize_or(Vec3::Z);
    let velocity = ((way[1] - way[0]) - (sphere[1] - sphere[0])) * TICKS as f32;
    Touch { part, at: ball - normal * radius, normal, velocity, mass }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::JointIdx;

    fn sphere(radius: f32, part: Role) -> BodySphere {
        BodySphere { part, joint: JointIdx::ROOT, offset: Vec3::ZERO, radius }
    }

    #[test]
    fn a_fast_ball_does_not_pass_through() {
        let body = [sphere(0.1, Role::Head)];
        let (still, far) = ([Vec3::Y], [Vec3::Y * 3.0]);
        // From one side to the other within a tick: touched after 0.3 m of 1 m, where centres are 0.2 m apart.
        let way = [Vec3::new(-0.5, 1.0, 0.0), Vec3::new(0.5, 1.0, 0.0)];
        let pass = sweep(&body, &still, &still, way, 0.1);
        let (time, part) = pass.touch.unwrap();
        assert!((time - 0.3).abs() < 1e-5 && part == Role::Head, "{pass:?}");
        assert!((pass.least + 0.2).abs() < 1e-5, "{pass:?}");
        let pass = sweep(&body, &far, &far, way, 0.1);
        assert!(pass.touch.is_none() && (pass.least - 1.8).abs() < 1e-5, "{pass:?}");
    }

    #[test]
    fn of_two_parts_the_first_is_met() {
        let body = [sphere(0.1, Role::Head), sphere(0.1, Role::LeftWrist)];
        let at = [Vec3::new(0.3, 1.0, 0.0), Vec3::new(-0.1, 1.0, 0.0)];
        let pass = sweep(&body, &at, &at, [Vec3::new(-1.0, 1.0, 0.0), Vec3::new(1.0, 1.0, 0.0)], 0.05);
        assert_eq!(pass.touch.map(|t| t.1), Some(Role::LeftWrist));
    }

    #[test]
    fn a_body_that_moves_away_in_time_is_not_touched() {
        let body = [sphere(0.1, Role::Head)];
        let pass = sweep(&body, &[Vec3::ZERO], &[Vec3::Y], [Vec3::X, Vec3::ZERO], 0.1);
        assert!(pass.touch.is_none() && pass.least > 0.4, "{pass:?}");
    }
}
