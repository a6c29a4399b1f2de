//! Scenes (`scene.toml`): who is where, for how long, with which seed.

use kumite_motion::volume::{self, Shape};
use kumite_motion::{Quat, Vec2, Vec3};
use kumite_text::TextError;
use serde::Deserialize;

use crate::op::{Begin, Op, Spawn, ThrowOp};
use crate::scene_spar::{self, SceneStyle};
use crate::world::{Goal as WalkGoal, Perception, WalkSearch, Wish};
use crate::{TICKS, Target};

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

impl Scene {
    /// The scene as ops, each with its tick, by tick; and how many ticks it lasts. Everybody plays the first kit.
    pub fn ops(&self, seed: u64) -> (Vec<(u64, Op)>, u64) {
        let mut ops: Vec<(u64, Op)> = self.obstacles().into_iter().map(|o| (0, Op::Place(o))).collect();
        for (i, character) in self.character.iter().enumerate() {
            let wish = match &character.goal {
                Some(goal) => Wish::Walk(WalkGoal {
                    at: Vec2::from_array(goal.at),
                    facing: goal.facing.map(f32::to_radians),
                    action: goal.action.clone(),
                    waypoints: character.path.iter().map(|p| Vec2::from_array(*p)).collect(),
                    search: WalkSearch::default(),
                }),
                None => character.spar(self.seconds).map_or(Wish::Wander, |wish| Wish::Spar(Box::new(wish))),
            };
            let fights = matches!(wish, Wish::Spar(_));
            let spawn = Spawn {
                name: character.name.clone(),
                kit: 0,
                at: Vec2::from_array(character.at),
                facing: character.facing.to_radians(),
                begin: character.begin.as_deref().map(Begin::parse),
                wish,
                perception: character.perception.as_ref().map_or_else(Perception::default, ScenePerception::in_numbers),
                seed: if fights {
                    scene_spar::seed(seed, &character.name)
                } else {
                    seed.wrapping_add((i as u64) << 32)
                },
            };
            ops.push((0, Op::Spawn(spawn)));
        }
        for throw in &self.throw {
            let target = Target::from_name(&throw.target).unwrap_or(Target::Head);
            let op = ThrowOp {
                radius: throw.radius,
                mass: throw.mass,
                ..ThrowOp::football(&throw.at, target, Vec3::from_array(throw.from), throw.speed)
            };
            ops.push(((throw.time * TICKS as f32).round() as u64, Op::Throw(op)));
        }
        ops.sort_by_key(|(tick, _)| *tick);
        (ops, (self.seconds * TICKS as f32).round() as u64)
    }
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
    /// In numbers, or what is wrong with it: path below the obstacle, what was found, what is allowed.
    pub fn shape(&self) -> Result<volume::Obstacle, (String, String, &'static str)> {
        const SIZE: &str = "more than 0, at most 1000 m";
        let given = [self.sphere.is_some(), self.capsule.is_some(), self.cylinder.is_some(), self.block.is_some()];
        let count = given.iter().filter(|g| **g).count();
        if count != 1 {
            return Err((String::new(), format!("{count} shapes"), "exactly one of sphere, capsule, cylinder, box"));
        }
        let name = ["sphere", "capsule", "cylinder", "box"][given.iter().position(|g| *g).unwrap_or(0)];
        let path = |key: &str| format!(".{name}.{key}");
        let size = |key: &str, v: f32| {
            if v.is_finite() && v > 0.0 && v <= 1000.0 { Ok(v) } else { Err((path(key), v.to_string(), SIZE)) }
        };
        let near = |at: [f32; 3]| {
            let fine = at.iter().all(|v| v.is_finite() && v.abs() <= 1000.0);
            if fine { Ok(Vec3::from_array(at)) } else { Err((path("at"), format!("{at:?}"), NEAR)) }
        };
        let turn = |roll: f32, pitch: f32, yaw: f32| {
            let about = |axis: Vec3, degrees: f32| kumite_motion::rotation::about(axis, degrees.to_radians());
            let turn = about(Vec3::Y, yaw) * about(Vec3::X, pitch) * about(Vec3::Z, roll);
            let found = || format!("{roll}, {pitch}, {yaw}");
            if turn.is_finite() { Ok(turn) } else { Err((path("yaw"), found(), "finite degrees")) }
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
            Err((String::new(), "no shape".to_owned(), "sphere, capsule, cylinder, box"))
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
    /// The clip it begins with, `CLIP` or `CLIP@SECONDS`; any if left out.
    pub begin: Option<String>,
    /// Where it walks to.
    pub goal: Option<Goal>,
    /// Places to pass on the way there, x and z; metres.
    #[serde(default)]
    pub path: Vec<[f32; 2]>,
    /// What it notices of what is thrown.
    pub perception: Option<ScenePerception>,
    /// Whom it fights.
    pub opponent: Option<String>,
    /// How it fights: a name, or weights.
    pub style: Option<SceneStyle>,
    /// How far it plans: 4 gives each of the two fighters two free choices.
    pub depth: Option<u32>,
}

/// What a character notices.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScenePerception {
    /// Seconds from coming into view to being known.
    pub delay: Option<f32>,
    /// How far to each side of the gaze it sees, degrees.
    pub view: Option<f32>,
}

impl ScenePerception {
    fn in_numbers(&self) -> Perception {
        let usual = Perception::default();
        Perception {
            delay: self.delay.unwrap_or(usual.delay),
            half_view: self.view.map_or(usual.half_view, f32::to_radians),
        }
    }
}

/// What numbers of places may be.
const NEAR: &str = "finite numbers, within 1000 m";

/// Reads and checks a scene.
pub fn read(text: &str) -> Result<Scene, TextError> {
    let scene: Scene = kumite_text::read(text)?;
    check(&scene).map_err(|e| e.located(text))?;
    Ok(scene)
}

fn check(scene: &Scene) -> Result<(), TextError> {
    if !(scene.seconds.is_finite() && scene.seconds > 0.0 && scene.seconds <= 3600.0) {
        return Err(TextError::value("seconds", scene.seconds, "more than 0, at most 3600"));
    }
    if scene.character.is_empty() {
        return Err(TextError::value("character", "none", "at least one [[character]]"));
    }
    for (i, character) in scene.character.iter().enumerate() {
        check_character(character, &format!("character.{i}"))?;
        if scene.character[..i].iter().any(|a| a.name == character.name) {
            let path = format!("character.{i}.name");
            return Err(TextError::value(&path, &character.name, "a name nobody else has"));
        }
    }
    scene_spar::check(scene)?;
    for (i, obstacle) in scene.obstacle.iter().enumerate() {
        if let Err((key, found, allowed)) = obstacle.shape() {
            return Err(TextError::value(&format!("obstacle.{i}{key}"), found, allowed));
        }
    }
    for (i, throw) in scene.throw.iter().enumerate() {
        check_throw(throw, scene, &format!("throw.{i}"))?;
    }
    Ok(())
}

fn check_character(character: &SceneCharacter, at: &str) -> Result<(), TextError> {
    let near = |place: &[f32; 2]| place.iter().all(|v| v.is_finite() && v.abs() <= 1000.0);
    if !character.at.iter().all(|v| v.is_finite() && v.abs() < 1000.0) {
        return Err(TextError::value(&format!("{at}.at"), format!("{:?}", character.at), NEAR));
    }
    if !character.facing.is_finite() {
        return Err(TextError::value(&format!("{at}.facing"), character.facing, "finite degrees"));
    }
    if let Some(goal) = &character.goal {
        if !near(&goal.at) {
            return Err(TextError::value(&format!("{at}.goal.at"), format!("{:?}", goal.at), NEAR));
        }
        if let Some(facing) = goal.facing.filter(|f| !f.is_finite()) {
            return Err(TextError::value(&format!("{at}.goal.facing"), facing, "finite degrees"));
        }
    }
    if let Some(perception) = &character.perception {
        for (key, found, most) in [("delay", perception.delay, 10.0), ("view", perception.view, 180.0)] {
            if let Some(found) = found.filter(|v| !(0.0..=most).contains(v)) {
                return Err(TextError::value(&format!("{at}.perception.{key}"), found, &format!("0 to {most}")));
            }
        }
    }
    if let Some(p) = character.path.iter().position(|p| !near(p)) {
        return Err(TextError::value(&format!("{at}.path.{p}"), format!("{:?}", character.path[p]), NEAR));
    }
    Ok(())
}

fn check_throw(throw: &Throw, scene: &Scene, at: &str) -> Result<(), TextError> {
    let path = |key: &str| format!("{at}.{key}");
    if scene.character.iter().all(|a| a.name != throw.at) {
        let names = scene.character.iter().map(|a| a.name.as_str()).collect::<Vec<_>>().join(", ");
        return Err(TextError::value(&path("at"), format!("{:?}", throw.at), &names));
    }
    if crate::Target::from_name(&throw.target).is_none() {
        let found = format!("{:?}", throw.target);
        return Err(TextError::value(&path("target"), found, "head, chest, hips, arms, legs"));
    }
    for (name, found, most) in
        [("speed", throw.speed, 200.0), ("radius", throw.radius, 2.0), ("mass", throw.mass, 1000.0)]
    {
        if !(found.is_finite() && found > 0.0 && found <= most) {
            return Err(TextError::value(&path(name), found, &format!("more than 0, at most {most}")));
        }
    }
    if !(throw.time.is_finite() && (0.0..=scene.seconds).contains(&throw.time)) {
        return Err(TextError::value(&path("time"), throw.time, "within the scene's seconds"));
    }
    if !throw.from.iter().all(|v| v.is_finite() && v.abs() < 1000.0) {
        return Err(TextError::value(&path("from"), format!("{:?}", throw.from), NEAR));
    }
    Ok(())
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
        let with = |rest: &str| format!("seconds = 1\n[[character]]\nname = \"a\"\n{rest}\n");
        for (text, line, key, message) in [
            ("seconds = 5\n".to_owned(), None, "character", "at least one"),
            ("seconds = -1\n[[character]]\nname = \"a\"\n".to_owned(), Some(1), "seconds", "at most 3600"),
            ("seconds = nan\n[[character]]\nname = \"a\"\n".to_owned(), Some(1), "seconds", "at most 3600"),
            ("second = 5\n".to_owned(), Some(1), "second", "did you mean seconds?"),
            (with("[[character]]\nname = \"a\""), Some(5), "character 2 name", "nobody else"),
            (with("at = [inf, 0]"), Some(4), "character 1 at", "finite"),
            (with("facing = nan"), Some(4), "character 1 facing", "finite"),
            (with("goal = { at = [nan, 1] }"), Some(4), "character 1 goal at", "within 1000 m"),
            (with("path = [[1, 1],\n[1, inf]]"), Some(5), "character 1 path 2", "within 1000 m"),
            (with("perception = { delay = -1 }"), Some(4), "character 1 perception delay", "0 to 10"),
            (with("perception = { view = nan }"), Some(4), "character 1 perception view", "0 to 180"),
            (with("[[obstacle]]"), Some(4), "obstacle 1", "exactly one of sphere"),
            (
                with("[[obstacle]]\nsphere = { radius = -1, at = [0, 0, 0] }"),
                Some(5),
                "obstacle 1 sphere radius",
                "is -1",
            ),
            (
                with("[[obstacle]]\nbox = { size = [1, nan, 1], at = [0, 0, 0] }"),
                Some(5),
                "obstacle 1 box size",
                "is NaN",
            ),
            (with("[[obstacle]]\ncone = { radius = 1 }"), Some(5), "obstacle 1 cone", "unknown field"),
            (throw("at = \"b\"\nspeed = 9"), Some(7), "throw 1 at", "\"b\"; allowed is a"),
            (throw("at = \"a\"\nspeed = nan"), Some(8), "throw 1 speed", "at most 200"),
            (throw("at = \"a\"\nspeed = 9\nradius = 0"), Some(9), "throw 1 radius", "at most 2"),
            (throw("at = \"a\"\nspeed = 9\ntarget = \"nose\""), Some(9), "throw 1 target", "head, chest"),
        ] {
            let error = read(&text).unwrap_err();
            assert_eq!((error.line, error.key.as_deref()), (line, Some(key)), "{error}");
            assert!(error.message.contains(message), "{error}");
        }
    }
}
