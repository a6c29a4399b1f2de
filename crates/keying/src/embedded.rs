//! The motions that come with kumite: the folder `library` at the root of the repository, compiled in as text.

use std::sync::Arc;

use kumite_motion::{Clip, humanoid};
use kumite_text::TextError;

use crate::{MotionFile, StanceFile, compile, mirrored, read_motion, read_stance};

macro_rules! library {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../library/", $path)))),*]
    };
}

/// Stances, as path and text.
pub const STANCES: &[(&str, &str)] = library!["stances/guard.toml", "stances/stand.toml"];

/// Motions, as path and text, in the order they are shown.
pub const MOTIONS: &[(&str, &str)] = library![
    "guard-idle.toml",
    "guard-bounce.toml",
    "stand-idle.toml",
    "step-forward.toml",
    "step-back.toml",
    "step-left.toml",
    "step-right.toml",
    "pivot-left.toml",
    "pivot-right.toml",
    "guard-to-stand.toml",
    "stand-to-guard.toml",
    "walk.toml",
    "walk-turn-left.toml",
    "walk-stop.toml",
    "jab.toml",
    "jab-step.toml",
    "cross.toml",
    "hook.toml",
    "slip-left.toml",
    "slip-right.toml",
    "sway-back.toml",
    "duck.toml",
    "bob-and-weave.toml",
    "sidestep.toml",
    "block-high.toml",
    "block-low.toml",
    "hit-head.toml",
    "hit-body.toml",
];

/// More walks, for planning ways: arcs, short steps, over and under things. Not among [`MOTIONS`]: fighters have no use for them.
pub const WALKS: &[(&str, &str)] = library![
    "walks/walk-arc-left.toml",
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
    let motion = &motion.resolved(shelf)?;
    let stance = |name: &str, path: &str| {
        let names = || STANCES.iter().filter_map(|(path, _)| path.strip_prefix("stances/")?.strip_suffix(".toml"));
        let missing = || TextError::value(path, name, &names().collect::<Vec<_>>().join(", "));
        shelf.stance(name)?.ok_or_else(missing)
    };
    let begin = stance(&motion.stance, "stance")?;
    let end = motion.ends.as_deref().map(|name| stance(name, "ends")).transpose()?;
    let clip = compile(motion, &begin, end.as_ref(), &Arc::new(humanoid::skeleton()))?;
    let other = mirrored(motion, &clip);
    Ok(std::iter::once(clip).chain(other).collect())
}

/// Every embedded motion, compiled.
pub fn clips() -> Result<Vec<Clip>, FileError> {
    compiled(MOTIONS)
}

/// Every embedded walk, compiled.
pub fn walks() -> Result<Vec<Clip>, FileError> {
    compiled(WALKS)
}

fn compiled(files: &[(&str, &str)]) -> Result<Vec<Clip>, FileError> {
    let mut clips = Vec::new();
    for (path, text) in files {
        let made = read_motion(text).and_then(|motion| clips_of(&motion));
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
