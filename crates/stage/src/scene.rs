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
    /// Balls.
    #[serde(default)]
    pub throw: Vec<Throw>,
}

/// A ball thrown at someone, who sees it leave the hand.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Throw {
    /// When it leaves, seconds.
    pub time: f32,
    /// At whom.
    pub at: String,
    /// At what: head, chest, hips, arms, legs.
    #[serde(default = "head")]
    pub target: String,
    /// From where, metres.
    pub from: [f32; 3],
    /// Metres per second.
    pub speed: f32,
    /// Metres.
    #[serde(default = "football")]
    pub radius: f32,
    /// Kilograms.
    #[serde(default = "weight")]
    pub mass: f32,
}

fn head() -> String {
    "head".to_owned()
}

fn football() -> f32 {
    0.11
}

fn weight() -> f32 {
    0.27
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
    for (i, throw) in scene.throw.iter().enumerate() {
        let key = |name: &str| format!("throw {} {name}", i + 1);
        if scene.character.iter().all(|a| a.name != throw.at) {
            let names = scene.character.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(value(&key("at"), format!("{:?}", throw.at), &names));
        }
        if crate::trial::Target::from_name(&throw.target).is_none() {
            return Err(value(&key("target"), format!("{:?}", throw.target), "head, chest, hips, arms, legs"));
        }
        for (name, found, most) in
            [("speed", throw.speed, 200.0), ("radius", throw.radius, 2.0), ("mass", throw.mass, 1000.0)]
        {
            if !(found.is_finite() && found > 0.0 && found <= most) {
                return Err(value(&key(name), found.to_string(), &format!("more than 0, at most {most}")));
            }
        }
        if !(throw.time.is_finite() && (0.0..=scene.seconds).contains(&throw.time)) {
            return Err(value(&key("time"), throw.time.to_string(), "within the scene's seconds"));
        }
        if !throw.from.iter().all(|v| v.is_finite() && v.abs() < 1000.0) {
            return Err(value(&key("from"), format!("{:?}", throw.from), "finite numbers, within 1000 m"));
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
        let throw = |rest: &str| {
            format!("seconds = 2\n[[character]]\nname = \"a\"\n[[throw]]\ntime = 1\nfrom = [0, 1, 5]\n{rest}\n")
        };
        assert_eq!(read(&throw("at = \"a\"\nspeed = 9")).unwrap().throw[0].radius, 0.11);
        for (text, fragment) in [
            ("seconds = 5\n", "at least one"),
            ("seconds = -1\n[[character]]\nname = \"a\"\n", "at most 3600"),
            ("seconds = nan\n[[character]]\nname = \"a\"\n", "at most 3600"),
            ("second = 5\n", "line 1: unknown field"),
            ("seconds = 1\n[[character]]\nname = \"a\"\n[[character]]\nname = \"a\"\n", "nobody else"),
            ("seconds = 1\n[[character]]\nname = \"a\"\nat = [inf, 0]\n", "finite"),
            (&throw("at = \"b\"\nspeed = 9"), "throw 1 at is"),
            (&throw("at = \"a\"\nspeed = nan"), "throw 1 speed is"),
            (&throw("at = \"a\"\nspeed = 9\nradius = 0"), "throw 1 radius is"),
            (&throw("at = \"a\"\nspeed = 9\ntarget = \"nose\""), "head, chest"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(fragment), "{error}");
        }
    }
}
