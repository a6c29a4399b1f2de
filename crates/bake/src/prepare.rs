//! From a capture to a clip of a library: understood, on the canonical body, at one rate.

use std::sync::Arc;

use kumite_motion::anatomy::Anatomy;
use kumite_motion::mirror::Mirror;
use kumite_motion::retarget::{RetargetBody, retarget};
use kumite_motion::{Clip, ClipError, Roles, Skeleton, sample};
use kumite_text::TextError;

use crate::manifest::ClipEntry;
use crate::understand::Understanding;

/// Frames per second of libraries that do not say.
pub const FPS: f32 = 60.0;

/// Shorter clips are refused, seconds.
pub const SHORTEST: f32 = 0.3;

/// Why a capture cannot go into a library.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PrepareError {
    /// It is not a person.
    #[error("not a person: no two legs and two arms were found in its joints")]
    NotAPerson,
    /// Too short to be played.
    #[error("{seconds:.2} s are too short; a clip of a library needs at least {SHORTEST} s")]
    TooShort {
        /// How long it is.
        seconds: f32,
    },
    /// The part to take is not in it.
    #[error("trim begins after the end: the clip lasts {seconds:.2} s")]
    Trim {
        /// How long it is.
        seconds: f32,
    },
    /// Labels that do not fit.
    #[error(transparent)]
    Label(TextError),
    /// Frames that are not poses.
    #[error(transparent)]
    Clip(ClipError),
}

/// The rate that is taken instead of the file's, frames per second: the motion shows it, and the entry does not say otherwise.
pub fn corrected_rate(u: &Understanding, entry: &ClipEntry) -> Option<f32> {
    (entry.fps.is_none() && u.fps.sure() && u.fps.value != u.clip.fps()).then_some(u.fps.value)
}

/// The clips one entry of a manifest gives: itself and, if asked for, its mirror image. All are on `skeleton`, which has the canonical frames.
///
/// `u` is what was understood of the capture at the entry's rate, if it gives one; `None` if it is not a person.
pub fn prepare(
    u: Option<&Understanding>,
    entry: &ClipEntry,
    name: &str,
    skeleton: &Arc<Skeleton>,
) -> Result<Vec<Clip>, PrepareError> {
    let u = u.ok_or(PrepareError::NotAPerson)?;
    let fps = entry.fps.or(corrected_rate(u, entry)).unwrap_or(u.clip.fps());
    let roles = Roles::canonical();
    let anatomy = Anatomy::of_canonical(skeleton);
    let from = RetargetBody { skeleton: u.clip.skeleton(), roles: &u.roles.value, anatomy: &u.anatomy };
    let clip = retarget(&u.clip, from, RetargetBody { skeleton, roles: &roles, anatomy: &anatomy });
    let mut clip = clip.and_then(|c| c.with_fps(fps)).map_err(PrepareError::Clip)?;
    if let Some([from, to]) = entry.trim {
        let frame = |t: f32| libm::roundf(t * fps) as usize;
        if from >= clip.seconds() {
            return Err(PrepareError::Trim { seconds: clip.seconds() });
        }
        clip = clip.trimmed(frame(from)..frame(to.min(clip.seconds())) + 1).map_err(PrepareError::Clip)?;
    }
    if clip.seconds() < SHORTEST {
        return Err(PrepareError::TooShort { seconds: clip.seconds() });
    }
    let mut clip = sample::resample(&clip, entry.rate.unwrap_or(FPS)).map_err(PrepareError::Clip)?;
    name.clone_into(&mut clip.name);
    entry.label(&mut clip).map_err(PrepareError::Label)?;
    entry.strike(&mut clip);
    let mut clips = vec![clip];
    if entry.mirror {
        let mut other = Mirror::by_roles(skeleton, &roles).clip(&clips[0]).map_err(PrepareError::Clip)?;
        other.name = format!("{name} mirrored");
        clips.push(other);
    }
    Ok(clips)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kumite_keying::embedded;
    use kumite_motion::anatomy::Anatomy;
    use kumite_motion::retarget::{RetargetBody, ball_of, retarget, retarget_in_scene};
    use kumite_motion::{Contacts, FrameIdx, Pose, Role, Roles, WorldPose, fk};

    /// In a scene a shorter body ends where the one it was planned for does, and stands where that stood; alone it goes as far as its legs are long.
    #[test]
    fn in_a_scene_ways_keep_their_length() {
        let roles = Roles::canonical();
        let walk = embedded::clips().unwrap().into_iter().find(|clip| clip.name == "walk").unwrap();
        let anatomy = Anatomy::of_canonical(walk.skeleton());
        let from = RetargetBody { skeleton: walk.skeleton(), roles: &roles, anatomy: &anatomy };
        for factor in [0.8, 0.95, 1.1] {
            let small = Arc::new(walk.skeleton().scaled(factor));
            let measures = Anatomy::of_canonical(&small);
            let to = RetargetBody { skeleton: &small, roles: &roles, anatomy: &measures };
            let (alone, there) = (retarget(&walk, from, to).unwrap(), retarget_in_scene(&walk, from, to).unwrap());
            let last = FrameIdx(walk.frames() as u32 - 1);
            let [own, scaled, kept] = [&walk, &alone, &there].map(|clip| clip.root(last).z - clip.root(FrameIdx(0)).z);
            assert!((kept - own).abs() < 0.01, "{factor}: {kept} m instead of {own}");
            assert!((scaled - factor * own).abs() < 0.02, "{factor}: {scaled} m");
            let (mut pose, mut world) = (Pose::default(), [WorldPose::default(), WorldPose::default()]);
            for frame in 0..walk.frames() {
                for (clip, world) in [&walk, &there].into_iter().zip(&mut world) {
                    clip.pose(FrameIdx(frame as u32), &mut pose);
                    fk::pose(clip.skeleton(), &pose, world);
                }
                for (ankle, part) in [(Role::LeftAnkle, Contacts::LEFT), (Role::RightAnkle, Contacts::RIGHT)] {
                    // Feet that have just landed or are about to leave are handed over.
                    let held = frame.saturating_sub(12)..(frame + 13).min(walk.frames());
                    if !walk.contacts[held].iter().all(|c| c.any(part)) {
                        continue;
                    }
                    let [a, b] = [ball_of(&from, &world[0], ankle).unwrap(), ball_of(&to, &world[1], ankle).unwrap()];
                    // The foot is longer or shorter, and its ankle stays where the other's is.
                    let off = (a - b).length() - 0.2 * (factor - 1.0f32).abs();
                    assert!(off < 0.015, "{factor}: the {} stands {off} m aside in frame {frame}", ankle.name());
                }
            }
        }
    }
}
