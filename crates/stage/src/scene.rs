//! Scenes (`scene.toml`): who is where, for how long, with which seed.

use std::fmt;

use kumite_motion::volume::{self, Shape};
use kumite_motion::{Quat, Vec3};
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
    pub character: Vec<SceneCharacter>,
    /// Balls.
    #[serde(default)]
    pub throw: Vec<Throw>,
    /// What stands in the way.
    #[serde(default)]
    pub obstacle: Vec<SceneObstacle>,
}

/// One thing in the way: exactly one of the shapes.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneObstacle {
    /// A ball.
    pub sphere: Option<SceneBall>,
    /// A bar with round ends.
    pub capsule: Option<Bar>,
    /// A bar with flat ends.
    pub cylinder: Option<Bar>,
    /// A block.
    #[serde(rename = "box")]
    pub block: Option<Block>,
}

/// A ball in the way.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneBall {
    /// Metres.
    pub radius: f32,
    /// Its middle, metres.
    pub at: [f32; 3],
}

/// A bar in the way; upright unless it is turned.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bar {
    /// Metres.
    pub radius: f32,
    /// From end to end, metres.
    pub height: f32,
    /// Its middle, metres.
    pub at: [f32; 3],
    /// Degrees about z, then x, then y.
    #[serde(default)]
    pub roll: f32,
    /// Degrees about x.
    #[serde(default)]
    pub pitch: f32,
    /// Degrees about y.
    #[serde(default)]
    pub yaw: f32,
}

/// A block in the way.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Block {
    /// Along x, y, z; metres.
    pub size: [f32; 3],
    /// Its middle, metres.
    pub at: [f32; 3],
    /// Degrees about z, then x, then y.
    #[serde(default)]
    pub roll: f32,
    /// Degrees about x.
    #[serde(default)]
    pub pitch: f32,
    /// Degrees about y.
    #[serde(default)]
    pub yaw: f32,
}

/// Where someone wants to be.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// x, z; metres.
    pub at: [f32; 2],
    /// Degrees; any if left out.
    pub facing: Option<f32>,
    /// What to do there: a kind of span, a label, a clip, `stand` or `any`. Stand if left out, where the library can.
    pub action: Option<String>,
}

impl SceneObstacle {
    /// In numbers, or what is wrong with it: key, what was found, what is allowed.
    pub fn shape(&self) -> Result<volume::Obstacle, (&'static str, String, &'static str)> {
        const NEAR: &str = "finite numbers, within 1000 m";
        const SIZE: &str = "more than 0, at most 1000 m";
        let given = [self.sphere.is_some(), self.capsule.is_some(), self.cylinder.is_some(), self.block.is_some()];
        let count = given.iter().filter(|g| **g).count();
        if count != 1 {
            return Err(("shape", format!("{count} shapes"), "exactly one of sphere, capsule, cylinder, box"));
        }
        let size = |key: &'static str, v: f32| {
            if v.is_finite() && v > 0.0 && v <= 1000.0 { Ok(v) } else { Err((key, v.to_string(), SIZE)) }
        };
        let near = |at: [f32; 3]| {
            let fine = at.iter().all(|v| v.is_finite() && v.abs() <= 1000.0);
            if fine { Ok(Vec3::from_array(at)) } else { Err(("at", format!("{at:?}"), NEAR)) }
        };
        let turn = |roll: f32, pitch: f32, yaw: f32| {
            let about = |axis: Vec3, degrees: f32| kumite_motion::rotation::about(axis, degrees.to_radians());
            let turn = about(Vec3::Y, yaw) * about(Vec3::X, pitch) * about(Vec3::Z, roll);
            if turn.is_finite() { Ok(turn) } else { Err(("yaw", format!("{roll}, {pitch}, {yaw}"), "finite degrees")) }
        };
        let bar = |bar: &Bar, capsule: bool| {
            let (radius, height) = (size("radius", bar.radius)?, size("height", bar.height)?);
            let shape = if capsule {
                Shape::Capsule { half: (0.5 * height - radius).max(0.0), radius }
            } else {
                Shape::Cylinder { half: 0.5 * height, radius }
            };
            Ok(volume::Obstacle { shape, at: near(bar.at)?, turn: turn(bar.roll, bar.pitch, bar.yaw)? })
        };
        if let Some(ball) = &self.sphere {
            let shape = Shape::Sphere { radius: size("radius", ball.radius)? };
            Ok(volume::Obstacle { shape, at: near(ball.at)?, turn: Quat::IDENTITY })
        } else if let Some(capsule) = &self.capsule {
            bar(capsule, true)
        } else if let Some(cylinder) = &self.cylinder {
            bar(cylinder, false)
        } else if let Some(block) = &self.block {
            let [x, y, z] = block.size;
            let half = Vec3::new(size("size", x)?, size("size", y)?, size("size", z)?) * 0.5;
            let turn = turn(block.roll, block.pitch, block.yaw)?;
            Ok(volume::Obstacle { shape: Shape::Box { half }, at: near(block.at)?, turn })
        } else {
            Err(("shape", "none".into(), "sphere, capsule, cylinder, box"))
        }
    }
}

impl Scene {
    /// All obstacles in numbers; those of a scene that was read are all right.
    pub fn obstacles(&self) -> Vec<volume::Obstacle> {
        self.obstacle.iter().filter_map(|o| o.shape().ok()).collect()
    }
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
pub struct SceneCharacter {
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
    /// Where it walks to.
    pub goal: Option<Goal>,
    /// Places to pass on the way there, x and z; metres.
    #[serde(default)]
    pub path: Vec<[f32; 2]>,
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
    for (i, character) in scene.character.iter().enumerate() {
        let finite = character.at.iter().all(|v| v.is_finite() && v.abs() < 1000.0) && character.facing.is_finite();
        if !finite {
            return Err(value(
                &format!("character {} at or facing", character.name),
                format!("{:?}", character.at),
                "finite numbers, within 1000 m",
            ));
        }
        let near = |at: &[f32; 2]| at.iter().all(|v| v.is_finite() && v.abs() <= 1000.0);
        if let Some(goal) = &character.goal
            && !(near(&goal.at) && goal.facing.is_none_or(f32::is_finite))
        {
            let found = format!("{:?}, facing {:?}", goal.at, goal.facing);
            return Err(value(&format!("character {} goal", character.name), found, "finite numbers, within 1000 m"));
        }
        if let Some(bad) = character.path.iter().find(|p| !near(p)) {
            let key = format!("character {} path", character.name);
            return Err(value(&key, format!("{bad:?}"), "finite numbers, within 1000 m"));
        }
        if scene.character[..i].iter().any(|a| a.name == character.name) {
            return Err(value("character name", character.name.clone(), "a name nobody else has"));
        }
    }
    for (i, obstacle) in scene.obstacle.iter().enumerate() {
        if let Err((key, found, allowed)) = obstacle.shape() {
            return Err(value(&format!("obstacle {} {key}", i + 1), found, allowed));
        }
    }
    for (i, throw) in scene.throw.iter().enumerate() {
        let key = |name: &str| format!("throw {} {name}", i + 1);
        if scene.character.iter().all(|a| a.name != throw.at) {
            let names = scene.character.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ");
            return Err(value(&key("at"), format!("{:?}", throw.at), &names));
        }
        if crate::Target::from_name(&throw.target).is_none() {
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
            ("seconds = 1\n[[character]]\nname = \"a\"\ngoal = { at = [nan, 1] }\n", "character a goal is"),
            ("seconds = 1\n[[character]]\nname = \"a\"\npath = [[1, inf]]\n", "character a path is"),
            ("seconds = 1\n[[character]]\nname = \"a\"\n[[obstacle]]\n", "exactly one of sphere"),
            (
                "seconds = 1\n[[character]]\nname = \"a\"\n[[obstacle]]\nsphere = { radius = -1, at = [0, 0, 0] }\n",
                "obstacle 1 radius is -1",
            ),
            (
                "seconds = 1\n[[character]]\nname = \"a\"\n[[obstacle]]\nbox = { size = [1, nan, 1], at = [0, 0, 0] }\n",
                "obstacle 1 size is NaN",
            ),
            (
                "seconds = 1\n[[character]]\nname = \"a\"\n[[obstacle]]\ncone = { radius = 1 }\n",
                "line 5: unknown field",
            ),
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
