//! The scenes that come with kumite: those in `scenes/`, by name.

use std::path::Path;

use kumite_text::{TextError, hint};

use crate::failure::{CliResult, Failure};
use crate::source;

macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../scenes/", $name, ".toml")))),*]
    };
}

/// Names and texts of those with fights, throws or several characters.
const SCENES: &[(&str, &str)] = scenes![
    "ball-at-the-bar",
    "dodge-balls",
    "duel",
    "fight-along-a-path",
    "four-among-boxes",
    "hit-hard",
    "hit-mild",
    "infight",
    "one-world",
    "outfight",
    "tired",
    "two-balls",
    "wander",
];
/// Those of one walker and its obstacles.
const WALKS: &[(&str, &str)] =
    scenes!["two-corner", "grid", "narrow-gap", "low-bar", "log", "door", "spiral", "cul-de-sac"];

/// The text of a scene that comes with kumite.
pub(crate) fn stock(name: &str) -> Option<&'static str> {
    SCENES.iter().chain(WALKS).find(|scene| scene.0 == name).map(|scene| scene.1)
}

/// Names of the scenes to walk through.
pub(crate) fn walks() -> impl Iterator<Item = &'static str> {
    WALKS.iter().map(|scene| scene.0)
}

/// The text of a scene: of a file, or else one that comes with kumite.
pub(crate) fn read(scene: &Path) -> CliResult<String> {
    let name = scene.to_string_lossy();
    if !scene.exists() {
        if let Some(text) = stock(&name) {
            return Ok(text.to_owned());
        }
        if scene.extension().is_none() {
            let names: Vec<&str> = SCENES.iter().chain(WALKS).map(|scene| scene.0).collect();
            let allowed = format!("a .toml file, or one of {}", names.join(", "));
            let message = format!("there is no scene {name:?}; allowed is {allowed}{}", hint(&name, &allowed));
            return Err(Failure::bad(message).key("SCENE").found(name).allowed(allowed));
        }
    }
    String::from_utf8(source::read(scene)?).map_err(|_| Failure::bad("not UTF-8 text").in_file(scene))
}

/// What is wrong with a scene; a manifest is named as what it is.
pub(crate) fn refused(error: TextError, text: &str, path: &Path) -> Failure {
    if text.lines().any(|line| matches!(line.trim(), "[library]" | "[[clip]]")) {
        let message = "this is a manifest of clips; a scene has [[character]]s. `--library` takes manifests, and `kumite bake` bakes them";
        return Failure::bad(message).in_file(path).found("a manifest").allowed("a scene");
    }
    Failure::from(error).in_file(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_can_be_asked_for_by_name() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let mut count = 0;
        for file in files {
            let name = file.file_stem().unwrap().to_string_lossy().into_owned();
            assert_eq!(stock(&name), Some(std::fs::read_to_string(&file).unwrap().as_str()), "{name}");
            count += 1;
        }
        assert_eq!(count, SCENES.len() + WALKS.len());
        let error = read(Path::new("two-bals")).unwrap_err();
        assert!(error.message.ends_with("(did you mean two-balls?)"), "{}", error.message);
    }
}
