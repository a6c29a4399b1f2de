//! When heels and toes stand on the ground, in a capture.

use kumite_motion::anatomy::Anatomy;
use kumite_motion::retarget::{RetargetBody, ball_of, heel_of};
use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Role, Roles, Vec3, WorldPose, fk};

/// Leg of a person the numbers below are given for, metres. Other legs scale them.
const LEG: f32 = 0.87;
/// A part comes to stand when it is lower and slower than this: metres, metres per second.
const LAND: (f32, f32) = (0.035, 0.20);
/// It leaves when it is higher or faster than this.
const LEAVE: (f32, f32) = (0.060, 0.30);
/// Shorter contacts are touches in passing, shorter gaps are noise; seconds.
const SHORTEST: (f32, f32) = (0.06, 0.07);
/// Speeds are measured over this time, so that the noise of a marker does not lift a foot; seconds.
const SPEED_OVER: f32 = 1.0 / 20.0;

/// Heel and ball of one foot over time.
pub(crate) struct FootTracks {
    /// Bottom of the heel, then of the ball.
    pub(crate) points: [Vec<Vec3>; 2],
}

/// Where the soles are in every frame: left, right.
pub(crate) fn soles(clip: &Clip, roles: &Roles, anatomy: &Anatomy) -> Option<[FootTracks; 2]> {
    let sides = [Role::LeftAnkle, Role::RightAnkle];
    let body = RetargetBody { skeleton: clip.skeleton(), roles, anatomy };
    let mut feet = [0, 1].map(|_| FootTracks { points: [Vec::new(), Vec::new()] });
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    for frame in 0..clip.frames() as u32 {
        clip.pose(FrameIdx(frame), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        for (foot, ankle) in feet.iter_mut().zip(sides) {
            foot.points[0].push(heel_of(&body, &world, ankle)?);
            foot.points[1].push(ball_of(&body, &world, ankle)?);
        }
    }
    Some(feet)
}

/// Which parts of the feet are planted, one per frame. Empty if the skeleton has no feet.
pub fn detect(clip: &Clip, roles: &Roles, anatomy: &Anatomy) -> Vec<Contacts> {
    let Some(feet) = soles(clip, roles, anatomy) else { return Vec::new() };
    let parts = [[Contacts::LEFT_HEEL, Contacts::LEFT_TOE], [Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE]];
    let mut contacts = vec![Contacts::NONE; clip.frames()];
    for (foot, parts) in feet.iter().zip(parts) {
        for (track, part) in foot.points.iter().zip(parts) {
            let stands = planted(track, clip.fps(), anatomy);
            for (frame, _) in stands.iter().enumerate().filter(|s| *s.1) {
                contacts[frame] = contacts[frame].with(part);
            }
        }
    }
    contacts
}

/// Speed of a point around a frame, over [`SPEED_OVER`].
fn speed(track: &[Vec3], frame: usize, fps: f32) -> f32 {
    let half = ((0.5 * SPEED_OVER * fps).round() as usize).max(1);
    let (a, b) = (frame.saturating_sub(half), (frame + half).min(track.len() - 1));
    (track[b] - track[a]).length() * fps / ((b - a) as f32).max(1.0)
}

fn planted(track: &[Vec3], fps: f32, anatomy: &Anatomy) -> Vec<bool> {
    let scale = anatomy.leg / LEG;
    // The floor under this very part: its own low twentieth, where that is near the common floor. Captures tilt and drift.
    let mut heights: Vec<f32> = track.iter().map(|p| p.y).collect();
    heights.sort_by(f32::total_cmp);
    let low = heights[heights.len() / 20];
    let floor = if (low - anatomy.floor).abs() < 0.06 * scale { low } else { anatomy.floor };
    let mut stands = Vec::with_capacity(track.len());
    let mut on = false;
    for (frame, point) in track.iter().enumerate() {
        let (height, speed) = ((point.y - floor) / scale, speed(track, frame, fps) / scale);
        on = if on { height < LEAVE.0 && speed < LEAVE.1 } else { height < LAND.0 && speed < LAND.1 };
        stands.push(on);
    }
    let frames = |seconds: f32| (seconds * fps).round() as usize;
    flip_short(&mut stands, false, frames(SHORTEST.1));
    flip_short(&mut stands, true, frames(SHORTEST.0));
    stands
}

/// Turns runs of `value` shorter than `least` round, but for those at the ends, of which the length is not known.
fn flip_short(stands: &mut [bool], value: bool, least: usize) {
    let mut start = 0;
    while start < stands.len() {
        let end = stands[start..].iter().position(|s| *s != stands[start]).map_or(stands.len(), |n| start + n);
        if stands[start] == value && end - start < least && start > 0 && end < stands.len() {
            stands[start..end].fill(!value);
        }
        start = end;
    }
}

/// Mean speed along the ground of what feet stand on, the ball, or the heel until the ball is down; metres per second in the clip's unit. `None`
/// if none ever stands. A heel that swings round its planted ball is a pivot, not a slide.
pub fn slide(clip: &Clip, roles: &Roles, anatomy: &Anatomy, contacts: &[Contacts]) -> Option<f32> {
    let feet = soles(clip, roles, anatomy)?;
    let parts = [(Contacts::LEFT_HEEL, Contacts::LEFT_TOE), (Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE)];
    let (mut sum, mut count) = (0.0f64, 0u32);
    for (foot, (heel, toe)) in feet.iter().zip(parts) {
        let part = |c: Contacts| if c.any(toe) { Some(1) } else { c.any(heel).then_some(0) };
        for frame in 1..contacts.len() {
            if let Some(part) = part(contacts[frame]).filter(|p| part(contacts[frame - 1]) == Some(*p)) {
                let step = foot.points[part][frame] - foot.points[part][frame - 1];
                sum += f64::from(Vec3::new(step.x, 0.0, step.z).length() * clip.fps());
                count += 1;
            }
        }
    }
    (count > 0).then(|| (sum / f64::from(count)) as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_keying::embedded;

    /// What the keys say is planted is what is found, frame by frame, but for moments around landing and leaving.
    #[test]
    fn keyed_contacts_are_found_again() {
        let roles = Roles::canonical();
        for clip in embedded::clips().unwrap() {
            let anatomy = Anatomy::of_canonical(clip.skeleton());
            let found = detect(&clip, &roles, &anatomy);
            let (mut same, mut count) = (0, 0);
            for (a, b) in found.iter().zip(&clip.contacts) {
                for part in [Contacts::LEFT, Contacts::RIGHT] {
                    count += 1;
                    same += usize::from(a.any(part) == b.any(part));
                }
            }
            assert!(same as f32 > 0.88 * count as f32, "{}: {same} of {count}", clip.name);
        }
    }

    #[test]
    fn short_runs_are_turned_round() {
        let mut stands = [true, true, false, true, true, false, false, false, true, false, false];
        flip_short(&mut stands, false, 2);
        assert_eq!(stands, [true, true, true, true, true, false, false, false, true, false, false]);
        flip_short(&mut stands, true, 2);
        assert_eq!(stands, [true, true, true, true, true, false, false, false, false, false, false]);
    }
}
