//! A walk from above: how far it goes, how much it winds, and how long somebody waits on the way.

use kumite_motion::rotation::yaw_of;
use kumite_motion::{Clip, FrameIdx, JointIdx, Pose, Roles, Vec2, Vec3, WorldPose, fk, mass};
use kumite_plan::walk::{SWAY, length, turning};

/// Directions are those of pieces as long as this, metres.
const PIECE: f32 = 0.25;
/// Slower than this nobody gets on, metres per second.
const WAITS: f32 = 0.25;
/// Who begins or stops is slow within this of either end, metres.
const ENDS: f32 = 0.7;

/// What is seen from above.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Course {
    /// Way of the centre of mass, metres.
    pub travel: f32,
    /// Where it ends.
    pub end: Vec2,
    /// What it turns to the left and to the right, both counted, radians: from the facing in the first frame to that in the last.
    pub turning: f32,
    /// How long it hardly moves on the way, seconds.
    pub waiting: f32,
}

impl Course {
    /// Of a walk.
    pub fn of(clip: &Clip) -> Course {
        let places = places(clip);
        Course::along(&places, clip.fps(), (facing(clip, 0), facing(clip, clip.frames() - 1)))
    }

    /// Of places, one for each frame, and how it faces at both ends, radians.
    pub fn along(places: &[Vec2], fps: f32, (begin, end): (f32, f32)) -> Course {
        let sway = ((SWAY * fps) as usize).max(1);
        let steady: Vec<Vec2> = places.windows(sway).map(|near| near.iter().sum::<Vec2>() / sway as f32).collect();
        let mut headings = vec![begin];
        let mut corner = steady.first().copied().unwrap_or_default();
        for at in &steady {
            let piece = *at - corner;
            if piece.length() >= PIECE {
                headings.push(libm::atan2f(piece.x, piece.y));
                corner = *at;
            }
        }
        headings.push(end);
        let half = (0.25 * fps) as usize;
        let waits = |f: &usize| {
            let (a, b) = (f.saturating_sub(half), (f + half).min(steady.len() - 1));
            let slow = (steady[b] - steady[a]).length() < WAITS * (b - a) as f32 / fps;
            slow && [places.first(), places.last()].into_iter().flatten().all(|end| (*end - steady[*f]).length() > ENDS)
        };
        Course {
            travel: length(places),
            end: places.last().copied().unwrap_or_default(),
            turning: turning(&headings),
            waiting: (0..steady.len()).filter(waits).count() as f32 / fps,
        }
    }
}

/// Where the centre of mass is in each frame, on the floor.
pub fn places(clip: &Clip) -> Vec<Vec2> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let roles = Roles::canonical();
    let mut place = |frame: usize| {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let centre = mass::centre(clip.skeleton(), &roles, &world);
        Vec2::new(centre.x, centre.z)
    };
    (0..clip.frames()).map(&mut place).collect()
}

/// How it faces in a frame, radians.
pub fn facing(clip: &Clip, frame: usize) -> f32 {
    yaw_of(clip.rotation(FrameIdx(frame as u32), JointIdx::ROOT) * Vec3::Z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f32::consts::{FRAC_PI_2, TAU};

    const FPS: f32 = 60.0;

    /// Straight legs at a speed, metres per second, through corners, with the sway of a walk across.
    fn walk(corners: &[[f32; 2]], speed: f32) -> Vec<Vec2> {
        let corners: Vec<Vec2> = corners.iter().map(|c| Vec2::from_array(*c)).collect();
        let mut places: Vec<Vec2> = Vec::new();
        for leg in corners.windows(2) {
            let (way, long) = ((leg[1] - leg[0]).normalize(), (leg[1] - leg[0]).length());
            for k in 0..(long / speed * FPS) as usize {
                let sway = 0.02 * libm::sinf(TAU * places.len() as f32 / FPS);
                places.push(leg[0] + way * (k as f32 * speed / FPS) + way.perp() * sway);
            }
        }
        places
    }

    #[test]
    fn only_what_winds_turns_more_than_its_way() {
        let straight = Course::along(&walk(&[[0.0, 0.0], [0.0, 6.0]], 1.2), FPS, (0.0, 0.0));
        assert!((5.9..6.2).contains(&straight.travel), "{straight:?}");
        assert!(straight.turning < 0.05 && straight.waiting == 0.0, "{straight:?}");
        let corner = Course::along(&walk(&[[0.0, 0.0], [0.0, 3.0], [3.0, 3.0]], 1.2), FPS, (0.0, FRAC_PI_2));
        assert!((corner.turning - FRAC_PI_2).abs() < 0.2, "{corner:?}");
        // There and back by a right angle, three times, and half a one at both ends.
        let zigzag = walk(&[[0.0, 0.0], [1.0, 1.0], [0.0, 2.0], [1.0, 3.0], [0.0, 4.0]], 1.2);
        let zigzag = Course::along(&zigzag, FPS, (0.0, 0.0));
        assert!((zigzag.turning - 4.0 * FRAC_PI_2).abs() < 0.7, "{zigzag:?}");
    }

    #[test]
    fn who_stops_on_the_way_waits_and_who_stops_at_the_goal_arrives() {
        let mut places = walk(&[[0.0, 0.0], [0.0, 3.0]], 1.2);
        let end = places[places.len() - 1];
        places.extend(vec![end; 120]);
        assert_eq!(Course::along(&places, FPS, (0.0, 0.0)).waiting, 0.0);
        let on: Vec<Vec2> = walk(&[[0.0, 0.0], [0.0, 3.0]], 1.2).iter().map(|p| *p + end).collect();
        places.extend(on);
        let waited = Course::along(&places, FPS, (0.0, 0.0)).waiting;
        assert!((1.3..2.2).contains(&waited), "{waited} s of 2");
        assert_eq!(Course::along(&[], FPS, (0.0, 0.0)), Course::default());
    }
}
