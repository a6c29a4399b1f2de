//! How far the zero-moment point leaves the soles: what a floor could not have pushed.
//!
//! The body counts as a point mass at its centre of mass: z = c − c_y · a / (g + a_y), on the ground (Vukobratović and Borovac 2004, without the
//! change of angular momentum). People stay within a few centimetres of their soles but for the instants of heel strike.

use kumite_motion::{Clip, FrameIdx, Pose, Roles, Vec2, Vec3, WorldPose, fk, mass, support};

/// Metres per second squared.
const GRAVITY: f32 = 9.81;
/// Width of the bell that smooths the centre of mass before it is differentiated, seconds: −3 dB at 6 Hz, as in gait laboratories.
const BELL: f32 = 0.0221;

/// Frames to both sides that the bell reaches; a clip's acceleration is not known as near to its ends.
fn reach(fps: f32) -> usize {
    (3.0 * BELL * fps).ceil() as usize
}

/// Metres by which the zero-moment point is outside the planted soles, frame by frame; 0 inside, `None` in the air and at the ends of the clip.
pub fn outside_soles(clip: &Clip) -> Vec<Option<f32>> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let roles = Roles::canonical();
    let (mut centres, mut soles) = (Vec::with_capacity(clip.frames()), Vec::with_capacity(clip.frames()));
    for frame in 0..clip.frames() {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        centres.push(mass::centre(clip.skeleton(), &roles, &world));
        let contacts = clip.contacts.get(frame).copied().unwrap_or_default();
        soles.push(support::hull(&support::sole_points(clip.skeleton(), &roles, &world, contacts)));
    }
    let centres = smoothed(&centres, clip.fps());
    let ends = reach(clip.fps()) + 1;
    let outside = |frame: usize| {
        if frame < ends || frame + ends >= centres.len() || soles[frame].is_empty() {
            return None;
        }
        let (c, f) = (centres[frame], clip.fps());
        let a = (centres[frame + 1] - c * 2.0 + centres[frame - 1]) * (f * f);
        let up = GRAVITY + a.y;
        // A falling body is carried by nothing: there is no such point.
        if up < 0.1 * GRAVITY {
            return None;
        }
        let point = Vec2::new(c.x - c.y * a.x / up, c.z - c.y * a.z / up);
        Some((-support::margin(&soles[frame], point)).max(0.0))
    };
    (0..centres.len()).map(outside).collect()
}

/// Convolved with a bell; shorter at the ends.
fn smoothed(points: &[Vec3], fps: f32) -> Vec<Vec3> {
    let sigma = BELL * fps;
    let reach = reach(fps);
    let weight = |away: usize| libm::expf(-0.5 * (away as f32 / sigma) * (away as f32 / sigma));
    let one = |at: usize| {
        let near = reach.min(at).min(points.len() - 1 - at);
        let (mut sum, mut whole) = (points[at], 1.0);
        for away in 1..=near {
            sum += (points[at - away] + points[at + away]) * weight(away);
            whole += 2.0 * weight(away);
        }
        sum / whole
    };
    (0..points.len()).map(one).collect()
}

/// The value that so large a share of the known ones does not exceed; 0 if none is known.
pub fn percentile(values: impl Iterator<Item = Option<f32>>, share: f32) -> f32 {
    let mut known: Vec<f32> = values.flatten().collect();
    known.sort_by(f32::total_cmp);
    known.get((known.len() as f32 * share) as usize).or(known.last()).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{Contacts, Skeleton, humanoid};
    use std::sync::Arc;

    /// A body at rest whose root moves, both feet planted and moved back to where they were: only the mass moves.
    fn swaying(skeleton: &Arc<Skeleton>, x: impl Fn(f32) -> f32) -> Clip {
        let mut clip = Clip::from_fn("sways", Arc::clone(skeleton), 60.0, 120, |frame, pose| {
            *pose = Pose::rest(skeleton);
            pose.translations[0].x += x(frame as f32 / 60.0);
        })
        .unwrap();
        clip.contacts = vec![Contacts::ALL; 120];
        clip
    }

    #[test]
    fn standing_still_is_in_balance() {
        let skeleton = Arc::new(humanoid::skeleton());
        let outside = outside_soles(&swaying(&skeleton, |_| 0.0));
        assert!(outside[10..110].iter().all(|o| o.is_some_and(|o| o == 0.0)), "{outside:?}");
        assert_eq!(outside[0], None);
    }

    #[test]
    fn a_push_moves_the_point_by_height_over_gravity() {
        let skeleton = Arc::new(humanoid::skeleton());
        // Ten metres per second squared to the left: the point is c_y · 10 / 9.81 to the right of the centre of mass.
        let pushed = swaying(&skeleton, |t| 5.0 * t * t);
        let (mut world, pose) = (WorldPose::default(), Pose::rest(&skeleton));
        fk::pose(&skeleton, &pose, &mut world);
        let roles = Roles::canonical();
        let centre = mass::centre(&skeleton, &roles, &world);
        let soles = support::hull(&support::sole_points(&skeleton, &roles, &world, Contacts::ALL));
        let truth = -support::margin(&soles, Vec2::new(centre.x - centre.y * 10.0 / 9.81, centre.z));
        let found = outside_soles(&pushed)[60].unwrap();
        assert!(truth > 0.5 && (found - truth).abs() < 0.01, "{found} and {truth}");
    }

    #[test]
    fn nothing_holds_a_falling_body() {
        let skeleton = Arc::new(humanoid::skeleton());
        let mut fall = swaying(&skeleton, |_| 0.0);
        let poses: Vec<Pose> = fall
            .poses()
            .into_iter()
            .enumerate()
            .map(|(frame, mut pose)| {
                let t = frame as f32 / 60.0;
                pose.translations[0].y -= 0.5 * GRAVITY * t * t;
                pose
            })
            .collect();
        let contacts = fall.contacts.clone();
        fall = Clip::new("falls", Arc::clone(&skeleton), 60.0, &poses).unwrap();
        fall.contacts = contacts;
        assert!(outside_soles(&fall).iter().all(Option::is_none));
    }

    #[test]
    fn percentiles_ignore_the_unknown() {
        let values = [Some(3.0), None, Some(1.0), Some(2.0)];
        assert_eq!(percentile(values.into_iter(), 0.5), 2.0);
        assert_eq!(percentile(values.into_iter(), 1.0), 3.0);
        assert_eq!(percentile([None].into_iter(), 0.5), 0.0);
    }
}
