//! `cargo dev golden`: compares hashes of played motion with those in docs/golden.json. A change that is not meant to change motion
//! keeps all of them; one that is meant to says so and writes them again.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use crate::captures;
use crate::steps::{kumite, kumite_json, output, root, run, target};

const FILE: &str = "docs/golden.json";

/// Trials combined in each hash of dodges and of walks.
const TRIALS: &str = "20";

/// Libraries that dodges and walks are played on; all but the embedded one need captures.
const DODGES: [&str; 3] = ["embedded", "accad-male2", "cmu-fight"];
const WALKS: [&str; 2] = ["embedded", "paper-environment"];

/// Plays everything and compares the hashes with the known ones, or writes them.
pub fn golden(write: bool) -> Result<(), String> {
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    let file = root().join(FILE);
    let known = if write { known().unwrap_or_default() } else { known()? };
    let (played, skipped) = play()?;
    let differ: Vec<String> = played
        .iter()
        .filter(|(name, hash)| known.get(*name) != Some(hash))
        .map(|(name, hash)| format!("{name}: {hash}, was {}", known.get(name).unwrap_or(&Value::Null)))
        .collect();
    println!("{} golden hashes compared, {} skipped for want of captures", played.len(), skipped.len());
    if write {
        let kept = known.into_iter().filter(|(name, _)| skipped.contains(name));
        let engine = engine_hashes()?;
        let engine = engine.iter().map(|line| (format!("engine {}", line_parts(line).0), json!(line_parts(line).1)));
        let all: Map<String, Value> = played.into_iter().chain(kept).chain(engine).collect();
        let text = serde_json::to_string_pretty(&all).map_err(|e| e.to_string())?;
        return std::fs::write(&file, text + "\n").map_err(|e| format!("{FILE}: {e}"));
    }
    if differ.is_empty() { Ok(()) } else { Err(format!("{FILE}: {}", differ.join("\n"))) }
}

/// What the engine's own hash test prints natively: `hash NAME HEX` lines.
pub fn engine_hashes() -> Result<Vec<String>, String> {
    let words = ["cargo", "test", "--quiet", "-p", "kumite-stage", "--test", "hash", "--", "--nocapture"];
    Ok(hash_lines(&output(&words, &[])?))
}

/// The `hash NAME HEX` lines of a text.
pub fn hash_lines(text: &str) -> Vec<String> {
    let lines = text.lines().filter_map(|l| Some(l[l.find("hash ")?..].to_owned()));
    lines.filter(|l| l.split(' ').count() == 3).collect()
}

/// Name and hash of such a line.
fn line_parts(line: &str) -> (&str, &str) {
    line.trim_start_matches("hash ").split_once(' ').unwrap_or_default()
}

/// Compares what the engine's own hash test printed with the known ones.
pub fn engine(said: &[String]) -> Result<(), String> {
    let known = known()?;
    for line in said {
        let (name, hash) = line_parts(line);
        let name = format!("engine {name}");
        if known.get(&name).and_then(Value::as_str) != Some(hash) {
            return Err(format!("{FILE}: {name} is {hash}, was {}", known.get(&name).unwrap_or(&Value::Null)));
        }
    }
    Ok(())
}

fn known() -> Result<Map<String, Value>, String> {
    let text = std::fs::read_to_string(root().join(FILE)).map_err(|e| format!("{FILE}: {e}"))?;
    serde_json::from_str(&text).map_err(|e| format!("{FILE}: {e}"))
}

/// Hashes by name, and the names of those skipped for lack of captures.
fn play() -> Result<(Map<String, Value>, Vec<String>), String> {
    let ask = |words: &[&str], pointer: &str| -> Result<Value, String> {
        kumite_json(words)?.pointer(pointer).cloned().ok_or_else(|| format!("{words:?}: no {pointer}"))
    };
    let (mut played, mut skipped) = (Map::new(), Vec::new());
    let mut scenes: Vec<PathBuf> =
        std::fs::read_dir(root().join("scenes")).map_err(|e| e.to_string())?.flatten().map(|e| e.path()).collect();
    scenes.sort();
    for scene in scenes {
        let name = scene.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let words = ["play", &scene.display().to_string()];
        let characters = ask(&words, "/characters")?;
        let hashes: Vec<&str> =
            characters.as_array().into_iter().flatten().filter_map(|c| c["hash"].as_str()).collect();
        played.insert(format!("scene {name}"), json!(hashes.join(" ")));
    }
    let mocap = captures::known();
    let data = std::env::split_paths(&mocap).find(|f| f.join("combat").is_dir());
    for library in DODGES {
        let name = format!("{TRIALS} dodges {library}");
        let Some(library) = bundle(library, data.as_ref())? else {
            skipped.push(name);
            continue;
        };
        let words = ["dodge", "--library", &library, "--trials", TRIALS, "--seed", "1"];
        played.insert(name, ask(&words, "/hash")?);
    }
    for library in WALKS {
        let name = format!("{TRIALS} walks {library}");
        let Some(library) = bundle(library, data.as_ref())? else {
            skipped.push(name);
            continue;
        };
        let words = ["walk", "--library", &library, "--scene", "clutter", "--trials", TRIALS, "--seed", "1"];
        played.insert(name, ask(&words, "/walk/hash")?);
    }
    Ok((played, skipped))
}

/// The value for `--library`: `embedded`, or a bundle baked from captures; `None` without captures.
pub fn bundle(library: &str, data: Option<&PathBuf>) -> Result<Option<String>, String> {
    if library == "embedded" {
        return Ok(Some(library.to_owned()));
    }
    let Some(data) = data else { return Ok(None) };
    let folder = target().join("proof");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let bundle = folder.join(format!("{library}.kumite")).display().to_string();
    let manifest = format!("libraries/{library}.toml");
    output(&[&kumite(), "bake", &manifest, "--data", &data.display().to_string(), "-o", &bundle], &[])?;
    Ok(Some(bundle))
}
