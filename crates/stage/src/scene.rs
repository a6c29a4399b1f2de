//! Scenes (`scene.toml`): who is where, for how long, with which seed.

use std::fmt;

use serde::Deserialize;

/// A scene as people write it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scene {
    /// `embedded`, a bundle, or a manifest.
    #[serde(default = "embedded")]
    pub library: String,
    /// How long it lasts.
    pub seconds: f32,
    /// Where chance begins.
    #[serde(default)]
    pub seed: u64,
    /// Who plays.
    #[serde(default)]
    pub character: Vec<Actor>,
}

fn embedded() -> String {
    "embedded".to_owned()
}

/// One character of a scene.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Actor {
    /// Unique in the scene.
    pub name: String,
    /// x, z; metres.
    #[serde(default)]
    pub at: [f32; 2],
    /// Degrees; 0 looks along +Z.
    #[serde(default)]
    pub facing: f32,
    /// The clip it begins with; any if left out.
    pub begin: Option<String>,
}

/// What is wrong with a scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SceneError {
    /// One sentence.
    pub message: String,
    /// Where, counted from 1, if it is in the text.
    pub line: Option<usize>,
    /// Which key.
    pub key: Option<String>,
    /// What stands there.
    pub found: Option<String>,
    /// What may stand there.
    pub allowed: Option<String>,
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => write!(f, "{}", self.message),
        }
    }
}

impl std::error::Error for SceneError {}

/// Reads and checks a scene.
pub fn read(text: &str) -> Result<Scene, SceneError> {
    let scene: Scene = toml::from_str(text).map_err(|e| SceneError {
        message: e.message().trim_end().replace('\n', "; "),
        line: e.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1),
        ..SceneError::default()
    })?;
    let value = |key: &str, found: String, allowed: &str| SceneError {
        message: format!("{key} is {found}; allowed is {allowed}"),
        line: None,
        key: Some(key.to_owned()),
        found: Some(found),
        allowed: Some(allowed.to_owned()),
    };
    if !(scene.seconds.is_finite() && scene.seconds > 0.0 && scene.seconds <= 3600.0) {
        return Err(value("seconds", scene.seconds.to_string(), "more than 0, at most 3600"));
    }
    if scene.character.is_empty() {
        return Err(value("character", "none".into(), "at least one [[character]]"));
    }
    for (i, actor) in scene.character.iter().enumerate() {
        let finite = actor.at.iter().all(|v| v.is_finite() && v.abs() < 1000.0) && actor.facing.is_finite();
        if !finite {
            return Err(value(
                &format!("character {} at or facing", actor.name),
                format!("{:?}", actor.at),
                "finite numbers, within 1000 m",
            ));
        }
        if scene.character[..i].iter().any(|a| a.name == actor.name) {
            return Err(value("character name", actor.name.clone(), "a name nobody else has"));
        }
    }
    Ok(scene)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_are_checked() {
        let good = "seconds = 5\n[[character]]\nname = \"Ana\"\nat = [0, -1]\n";
        assert_eq!(read(good).unwrap().library, "embedded");
        for (text, fragment) in [
            ("seconds = 5\n", "at least one"),
            ("seconds = -1\n[[character]]\nname = \"a\"\n", "at most 3600"),
            ("seconds = nan\n[[character]]\nname = \"a\"\n", "at most 3600"),
            ("second = 5\n", "line 1: unknown field"),
            ("seconds = 1\n[[character]]\nname = \"a\"\n[[character]]\nname = \"a\"\n", "nobody else"),
            ("seconds = 1\n[[character]]\nname = \"a\"\nat = [inf, 0]\n", "finite"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(fragment), "{error}");
        }
    }
}
