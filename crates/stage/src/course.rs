//! A walk from above: how far it goes, how much it winds, and how long somebody waits on the way.

use kumite_motion::rotation::yaw_of;
use kumite_motion::{Clip, FrameIdx, JointIdx, Pose, Roles, Vec2, Vec3, WorldPose, fk, mass};
use kumite_plan::walk::field::turning;

/// Bodies sway from foot to foot: places are averaged over so long, seconds, about two steps.
const SWAY: f32 = 1.0;
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
    /// What it turns to the left and to the right, both counted, radians: from the facing in the first frame to that in the last.
    pub turning: f32,
    /// How long it hardly moves on the way, seconds.
    pub waiting: f32,
}

impl Course {
    /// Of a walk.
    pub fn of(clip: &Clip) -> Course {
        let places: Vec<Vec2> = (0..clip.frames()).map(|f| place(clip, f)).collect();
        let travel = places.windows(2).map(|w| (w[1] - w[0]).length()).sum();
        let steady = steady(&places, (0.5 * SWAY * clip.fps()) as usize);
        let mut headings = vec![facing(clip, 0)];
        let mut last = steady[0];
        for at in &steady {
            let piece = *at - last;
            if piece.length() >= PIECE {
                headings.push(libm::atan2f(piece.x, piece.y));
                last = *at;
            }
        }
        headings.push(facing(clip, clip.frames() - 1));
        let half = (0.25 * clip.fps()) as usize;
        let ends = [steady[0], steady[steady.len() - 1]];
        let waits = |f: &usize| {
            let (a, b) = (f.saturating_sub(half), (f + half).min(steady.len() - 1));
            let slow = (steady[b] - steady[a]).length() < WAITS * (b - a) as f32 / clip.fps();
            slow && ends.iter().all(|end| (*end - steady[*f]).length() > ENDS)
        };
        let waiting = (0..steady.len()).filter(waits).count() as f32 / clip.fps();
        Course { travel, turning: turning(&headings), waiting }
    }
}

/// Each place averaged with those up to `half` frames before and after; near the ends with fewer, as many on both sides.
fn steady(places: &[Vec2], half: usize) -> Vec<Vec2> {
    let average = |f: usize| {
        let near = half.min(f).min(places.len() - 1 - f);
        places[f - near..=f + near].iter().sum::<Vec2>() / (2 * near + 1) as f32
    };
    (0..places.len()).map(average).collect()
}

/// Where the centre of mass is in a frame, on the floor.
pub fn place(clip: &Clip, frame: usize) -> Vec2 {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    clip.pose(FrameIdx(frame as u32), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    let centre = mass::centre(clip.skeleton(), &Roles::canonical(), &world);
    Vec2::new(centre.x, centre.z)
}

/// How it faces in a frame, radians.
pub fn facing(clip: &Clip, frame: usize) -> f32 {
    yaw_of(clip.rotation(FrameIdx(frame as u32), JointIdx::ROOT) * Vec3::Z)
}
