//! The motions that come with kumite: the folder `library` at the root of the repository, compiled in as text.

use std::sync::Arc;

use kumite_motion::{Clip, humanoid};
use kumite_text::TextError;

use crate::{Manner, MotionFile, StanceFile, compile, mirrored, read_motion, read_stance};

macro_rules! library {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../library/", $path)))),*]
    };
}

/// Stances, as path and text.
pub const STANCES: &[(&str, &str)] = library![
    "stances/down-back.toml",
    "stances/down-front.toml",
    "stances/down-side.toml",
    "stances/guard.toml",
    "stances/stand.toml"
];

/// Motions, as path and text, in the order they are shown.
pub const MOTIONS: &[(&str, &str)] = library![
    // Idles and changes of stance.
    "guard-idle.toml",
    "guard-bounce.toml",
    "stand-idle.toml",
    "guard-to-stand.toml",
    "stand-to-guard.toml",
    // Steps in guard.
    "step-back.toml",
    "step-back-left.toml",
    "step-back-left-short.toml",
    "step-back-right.toml",
    "step-back-right-short.toml",
    "step-back-short.toml",
    "step-forward.toml",
    "step-forward-left.toml",
    "step-forward-left-short.toml",
    "step-forward-right.toml",
    "step-forward-right-short.toml",
    "step-forward-short.toml",
    "step-left.toml",
    "step-left-short.toml",
    "step-right.toml",
    "step-right-short.toml",
    // Turns on the spot.
    "guard-turn-left-135.toml",
    "guard-turn-left-180.toml",
    "guard-turn-left-45.toml",
    "guard-turn-left-90.toml",
    "guard-turn-right-135.toml",
    "guard-turn-right-180.toml",
    "guard-turn-right-45.toml",
    "guard-turn-right-90.toml",
    "pivot-left.toml",
    "pivot-right.toml",
    // Walks and runs.
    "walk.toml",
    "walk-stop.toml",
    "walk-turn-left.toml",
    // Blows with the arms.
    "backfist.toml",
    "body-cross.toml",
    "body-hook.toml",
    "body-jab.toml",
    "cross.toml",
    "cross-hook-cross.toml",
    "double-jab.toml",
    "hook.toml",
    "jab.toml",
    "jab-low-kick.toml",
    "jab-step.toml",
    "lead-elbow.toml",
    "lead-uppercut.toml",
    "one-two.toml",
    "one-two-hook.toml",
    "overhand.toml",
    "rear-body-hook.toml",
    "rear-elbow.toml",
    "rear-hook.toml",
    "rear-uppercut.toml",
    // Kicks and knees.
    "back-kick.toml",
    "body-kick.toml",
    "front-kick.toml",
    "head-kick.toml",
    "lead-round-kick.toml",
    "low-kick.toml",
    "push-kick.toml",
    "rear-knee.toml",
    "side-kick.toml",
    // Avoidances.
    "bob-and-weave.toml",
    "dip.toml",
    "duck.toml",
    "hip-sway-left.toml",
    "hip-sway-right.toml",
    "hollow.toml",
    "hop.toml",
    "jump.toml",
    "knee-lift-left.toml",
    "knee-lift-right.toml",
    "lean-left.toml",
    "lean-right.toml",
    "leg-pull-left.toml",
    "limbo.toml",
    "pull-back-step.toml",
    "sidestep.toml",
    "sidestep-left-quick.toml",
    "sidestep-right.toml",
    "sidestep-right-quick.toml",
    "skip-back.toml",
    "slip-left.toml",
    "slip-left-quick.toml",
    "slip-right.toml",
    "slip-right-quick.toml",
    "snap-back.toml",
    "squat.toml",
    "step-out-left.toml",
    "step-out-right.toml",
    "sway-back.toml",
    "twist-left.toml",
    "twist-right.toml",
    "weave-left.toml",
    "weave-right.toml",
    // Blocks and parries.
    "block-high.toml",
    "block-high-right.toml",
    "block-low.toml",
    "block-low-right.toml",
    "block-middle-left.toml",
    "block-middle-right.toml",
    "brush-low-left.toml",
    "brush-low-right.toml",
    "check-left.toml",
    "check-right.toml",
    "cover-up.toml",
    "parry-left.toml",
    "parry-right.toml",
    // Reactions to hits.
    "hit-body.toml",
    "hit-body-front-light.toml",
    "hit-body-left.toml",
    "hit-body-left-heavy.toml",
    "hit-body-right.toml",
    "hit-body-right-heavy.toml",
    "hit-head.toml",
    "hit-head-front-light.toml",
    "hit-head-left.toml",
    "hit-head-left-heavy.toml",
    "hit-head-right.toml",
    "hit-head-right-heavy.toml",
    "hit-leg-left.toml",
    "hit-leg-left-heavy.toml",
    "hit-leg-right.toml",
    "hit-leg-right-heavy.toml",
    "stagger-back.toml",
    "stagger-forward.toml",
    "stagger-left.toml",
    "stagger-right.toml",
    // Falls, lying, getting up.
    "get-up-back.toml",
    "get-up-front.toml",
    "get-up-side.toml",
    "knock-down-back.toml",
    "knock-down-forward.toml",
    "knock-down-left.toml",
    "lie-back.toml",
    "lie-front.toml",
    "lie-side.toml",
];

/// More walks, for planning ways: arcs, short steps, over and under things. Not among [`MOTIONS`]: fighters have no use for them.
pub const WALKS: &[(&str, &str)] = library![
    "walks/backstep.toml",
    "walks/duck-under.toml",
    "walks/hurry.toml",
    "walks/run.toml",
    "walks/short-step.toml",
    "walks/sidestep-walk-left.toml",
    "walks/step-over.toml",
    "walks/turn-left-135.toml",
    "walks/turn-left-180.toml",
    "walks/turn-left-45.toml",
    "walks/turn-left-90.toml",
    "walks/walk-arc-left.toml",
    "walks/walk-back.toml",
    "walks/walk-bend-left.toml",
    "walks/walk-high.toml",
    "walks/walk-low.toml",
    "walks/walk-round-left.toml",
    "walks/walk-short.toml",
];

/// What is wrong, and in which file.
pub type FileError = (String, TextError);

/// Where motions find what they name: other motions, and stances.
pub trait Shelf {
    /// The motion of a name, as it is written.
    fn motion(&self, name: &str) -> Result<Option<MotionFile>, TextError>;
    /// The stance of a name.
    fn stance(&self, name: &str) -> Result<Option<StanceFile>, TextError>;
}

/// The motions and stances that come with kumite.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddedShelf;

impl Shelf for EmbeddedShelf {
    fn motion(&self, name: &str) -> Result<Option<MotionFile>, TextError> {
        let file = |(path, _): &&(&str, &str)| path.trim_start_matches("walks/").strip_suffix(".toml") == Some(name);
        MOTIONS.iter().chain(WALKS).find(file).map(|(_, text)| read_motion(text)).transpose()
    }

    fn stance(&self, name: &str) -> Result<Option<StanceFile>, TextError> {
        let file = |(path, _): &&(&str, &str)| path.trim_start_matches("stances/").strip_suffix(".toml") == Some(name);
        STANCES.iter().find(file).map(|(_, text)| read_stance(text)).transpose()
    }
}

/// The clips of one motion: itself and, if it asks for one, its mirror image.
pub fn clips_of(motion: &MotionFile) -> Result<Vec<Clip>, TextError> {
    clips_with(motion, &EmbeddedShelf)
}

/// The same, with motions and stances of one's own.
pub fn clips_with(motion: &MotionFile, shelf: &dyn Shelf) -> Result<Vec<Clip>, TextError> {
    carried(motion, shelf, Manner::Fresh)
}

fn carried(motion: &MotionFile, shelf: &dyn Shelf, manner: Manner) -> Result<Vec<Clip>, TextError> {
    let motion = &manner.motion(motion.resolved(shelf)?);
    let stance = |name: &str, path: &str| {
        let names = || STANCES.iter().filter_map(|(path, _)| path.strip_prefix("stances/")?.strip_suffix(".toml"));
        let missing = || TextError::value(path, name, &names().collect::<Vec<_>>().join(", "));
        shelf.stance(name)?.map(|stance| manner.stance(stance)).ok_or_else(missing)
    };
    let begin = stance(&motion.stance, "stance")?;
    let end = motion.ends.as_deref().map(|name| stance(name, "ends")).transpose()?;
    let clip = compile(motion, &begin, end.as_ref(), &Arc::new(humanoid::skeleton()))?;
    let other = mirrored(motion, &clip);
    Ok(std::iter::once(clip).chain(other).map(|clip| manner.clip(clip)).collect())
}

/// Every embedded motion, compiled.
pub fn clips() -> Result<Vec<Clip>, FileError> {
    clips_in(Manner::Fresh)
}

/// Every embedded motion, carried in some manner.
pub fn clips_in(manner: Manner) -> Result<Vec<Clip>, FileError> {
    compiled(MOTIONS, manner)
}

/// Every embedded walk, compiled.
pub fn walks() -> Result<Vec<Clip>, FileError> {
    walks_in(Manner::Fresh)
}

/// Every embedded walk, carried in some manner.
pub fn walks_in(manner: Manner) -> Result<Vec<Clip>, FileError> {
    compiled(WALKS, manner)
}

fn compiled(files: &[(&str, &str)], manner: Manner) -> Result<Vec<Clip>, FileError> {
    let mut clips = Vec::new();
    for (path, text) in files {
        let made = read_motion(text).and_then(|motion| carried(&motion, &EmbeddedShelf, manner));
        clips.extend(made.map_err(|e| ((*path).to_owned(), e.located(text)))?);
    }
    Ok(clips)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_the_library_is_compiled_in() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library");
        let files = |folder: &str| {
            let mut names: Vec<String> = std::fs::read_dir(root.join(folder))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .filter(|name| name.ends_with(".toml"))
                .map(|name| if folder.is_empty() { name } else { format!("{folder}/{name}") })
                .collect();
            names.sort();
            names
        };
        let listed = |list: &[(&str, &str)]| {
            let mut names: Vec<String> = list.iter().map(|(path, _)| (*path).to_owned()).collect();
            names.sort();
            names
        };
        assert_eq!(files(""), listed(MOTIONS));
        assert_eq!(files("stances"), listed(STANCES));
        assert_eq!(files("walks"), listed(WALKS));
    }

    #[test]
    fn every_motion_compiles_under_its_own_name() {
        let clips = [clips().unwrap(), walks().unwrap()].concat();
        let mut names: Vec<&str> = clips.iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), clips.len());
        for clip in &clips {
            assert_eq!(clip.contacts.len(), clip.frames());
        }
    }
}
