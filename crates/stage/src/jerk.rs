//! How smooth a take is beside the clips it was made of.

use kumite_motion::fk::Tracks;
use kumite_motion::library::Library;
use kumite_motion::{Clip, FrameIdx, Role, Roles};

use crate::Take;

/// Mean jerk of a take over that of the clips it plays, each as long as it plays it. 1 is as smooth as the sources; `None` before anything
/// was entered.
pub fn jerk_ratio(take: &Take, library: &Library) -> Option<f32> {
    let ends = take.starts.iter().skip(1).map(|e| e.time).chain([take.clip.seconds()]);
    let (mut sum, mut seconds) = (0.0f64, 0.0f64);
    let mut known: Vec<Option<f32>> = vec![None; library.clips().len()];
    for (event, end) in take.starts.iter().zip(ends) {
        let clip = library.graph().edge(event.leg.edge).clip;
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

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{Pose, humanoid};
    use std::sync::Arc;

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
