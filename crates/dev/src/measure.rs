//! Measures claims: runs programs and turns their answers into figures, one JSON object per line. Does not judge them.

use serde_json::{Value, json};

use crate::claims::{Claim, Proof};
use crate::golden::bundle;
use crate::steps::{command, kumite_json, output, run, target};

/// Runs a claim's proof; returns what it printed, and whether it passed.
pub fn measure(claim: &Claim, mocap: &str) -> Result<(String, bool), String> {
    let env = [("KUMITE_MOCAP", mocap), ("KUMITE_FUZZ_SECONDS", "60")];
    match claim.by {
        Proof::Bench => {
            let words = ["cargo", "run", "--quiet", "--release", "-p", "kumite-bench", "--", claim.name];
            Ok((output(&words, &env)?, true))
        }
        Proof::Test(package, test, filter) => {
            let words = ["cargo", "test", "--quiet", "--release", "-p", package, "--test", test, filter];
            let out = command(&[&words[..], &["--", "--nocapture"]].concat()).envs(env).output();
            let out = out.map_err(|e| e.to_string())?;
            Ok((String::from_utf8_lossy(&out.stdout).into_owned(), out.status.success()))
        }
        Proof::Dodge(library, trials) => dodge(library, trials, mocap),
        Proof::Walk(library, trials) => walk(library, trials, mocap),
        Proof::Brace(trials) => brace(trials, mocap),
        Proof::AvoidanceTable => avoidance_table(),
        Proof::Coverage => coverage(),
        Proof::Blender => blender(),
    }
}

/// Adds each number and text of nested JSON as a figure named by its path, with spaces between keys.
fn flatten(name: &str, value: &Value, add: &mut impl FnMut(&str, Value)) {
    match value {
        Value::Object(all) => all.iter().for_each(|(key, value)| flatten(format!("{name} {key}").trim(), value, add)),
        Value::Array(_) => {}
        value => add(name, value.clone()),
    }
}

/// Random balls at characters of a library.
fn dodge(library: &str, trials: u32, mocap: &str) -> Result<(String, bool), String> {
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    let data = std::env::split_paths(mocap).find(|f| f.join("combat").is_dir());
    let name = bundle(library, data.as_ref())?.ok_or("there are no captures to measure this with")?;
    let trials = trials.to_string();
    let mut answer = kumite_json(&["dodge", "--library", &name, "--trials", &trials, "--seed", "1"])?;
    let mut text = String::new();
    if let Some(answer) = answer.as_object_mut() {
        answer.remove("hash");
    }
    flatten("", &answer, &mut |figure, value| text += &format!("{}\n", json!({"figure": figure, "value": value})));
    Ok((text, true))
}

/// Random threats that are braced for, on three libraries.
fn brace(trials: u32, mocap: &str) -> Result<(String, bool), String> {
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    let data = std::env::split_paths(mocap).find(|f| f.join("combat").is_dir());
    let (trials, mut text) = (trials.to_string(), String::new());
    for library in ["embedded", "accad-male2", "cmu-fight"] {
        let name = bundle(library, data.as_ref())?.ok_or("there are no captures to measure this with")?;
        let mut answer = kumite_json(&["brace", "--library", &name, "--trials", &trials, "--seed", "1"])?;
        if let Some(answer) = answer.as_object_mut() {
            answer.remove("hash");
        }
        flatten(library, &answer, &mut |figure, value| {
            text += &format!("{}\n", json!({"figure": figure, "value": value}))
        });
    }
    Ok((text, true))
}

/// What `kumite graph` measures of the embedded library.
fn coverage() -> Result<(String, bool), String> {
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    let answer = kumite_json(&["graph"])?;
    let mut text = String::new();
    let mut add = |figure: &str, value: Value| text += &format!("{}\n", json!({"figure": figure, "value": value}));
    flatten("", &answer["coverage"]["dodged"], &mut add);
    let none = Vec::new();
    let classes = answer["coverage"]["strike_classes"].as_array().unwrap_or(&none);
    let thrown = classes.iter().filter(|class| class["thrown"] != 0);
    add("strike classes", json!(thrown.clone().count()));
    add("strike classes without an answer", json!(thrown.filter(|class| class["answered"] == 0).count()));
    add("gaps", json!(answer["gaps"].as_array().map_or(0, Vec::len)));
    let listed = kumite_json(&["inspect", "embedded"])?;
    let clips = listed["files"][0]["clips"].as_array().unwrap_or(&none);
    add("motions", json!(clips.len()));
    add("seconds of motion", json!(clips.iter().filter_map(|clip| clip["seconds"].as_f64()).sum::<f64>()));
    Ok((text, true))
}

/// Walks, walks to goals that cannot be reached, the scenes, and the paper's tables.
fn walk(library: &str, trials: u32, mocap: &str) -> Result<(String, bool), String> {
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    let data = std::env::split_paths(mocap).find(|f| f.join("locomotion").is_dir());
    if library != "embedded" && data.is_none() {
        return Err("there are no captures to measure this with".into());
    }
    let data = data.unwrap_or_default().display().to_string();
    let manifest = format!("libraries/{library}.toml");
    let from: &[&str] = if library == "embedded" { &[] } else { &["--library", &manifest, "--data", &data] };
    let ask = |words: &[&str]| kumite_json(&[words, from].concat());
    let count = trials.to_string();
    let clutter = ask(&["walk", "--scene", "clutter", "--trials", &count, "--seed", "1"])?;
    let unreachable = ask(&["walk", "--scene", "blocked", "--trials", &count, "--seed", "1"])?;
    let gap = ask(&["walk", "--scene", "narrow-gap", "--method", "ems,pff"])?;
    let table = ask(&["tables", "environment"])?;
    let answer = &clutter["walk"];
    let mut text = String::new();
    let mut add = |figure: &str, value: Value| text += &format!("{}\n", json!({"figure": figure, "value": value}));
    for key in ["trials", "solved", "collided", "lost", "quality_failures", "quality_failures_at_joins"] {
        add(&format!("clutters {key}"), answer[key].clone());
    }
    let keys = [
        "location_cm",
        "orientation_deg",
        "warped_location_cm",
        "warped_orientation_deg",
        "collision_frames",
        "travel_ratio",
        "excess_turning_deg",
        "waiting_s",
        "search_seconds",
        "transitions",
        "foot_slide_cm_s",
        "float_cm",
        "snap",
    ];
    for key in keys {
        add(&format!("clutters mean {key}"), answer["mean"][key].clone());
    }
    for key in ["excess_turning_deg", "waiting_s", "balance_cm", "source_balance_cm"] {
        add(&format!("clutters mean of those that arrived {key}"), answer["mean_arrived"][key].clone());
    }
    flatten("clutters judge", &answer["judge"], &mut add);
    for key in ["location_cm", "orientation_deg", "warped_location_cm", "warped_orientation_deg"] {
        add(&format!("clutters worst of those that arrived {key}"), answer["worst_arrived"][key].clone());
    }
    let unreachable = &unreachable["walk"];
    for key in ["trials", "blocked"] {
        add(&format!("blocked goals {key}"), unreachable[key].clone());
    }
    add("blocked goals median search_seconds", unreachable["search_seconds"]["p50"].clone());
    add("blocked goals worst search_seconds", unreachable["search_seconds"]["max"].clone());
    for scene in ["door", "cul-de-sac", "spiral", "low-bar", "log"] {
        let one = ask(&["walk", "--scene", scene])?;
        add(&format!("{scene} outcome"), one["walk"]["outcome"].clone());
        add(&format!("{scene} search_seconds"), one["walk"]["search_seconds"]["max"].clone());
    }
    add("narrow gap ems", gap["ems"]["outcome"].clone());
    add("narrow gap pff", gap["pff"]["outcome"].clone());
    let cell = |key: &str, column: usize, method: &str| {
        let rows = table["rows"].as_array().into_iter().flatten();
        let row = rows.into_iter().find(|r| r["key"] == key);
        row.and_then(|r| r["columns"][column][method].as_f64()).unwrap_or(f64::NAN)
    };
    let columns = ["two-corner average", "two-corner optimal", "cluttered average", "cluttered optimal", "grid"];
    for key in ["transitions", "travel_cm", "search_seconds", "location_cm", "orientation_deg", "collision_frames"] {
        for (k, column) in columns.iter().enumerate() {
            for method in ["pff", "ems"] {
                add(&format!("{column} {key} {method}"), json!(cell(key, k, method)));
            }
        }
    }
    for (k, column) in columns.iter().enumerate() {
        add(&format!("{column} travel, EMS of PFF"), json!(cell("travel_of_pff", k, "ems")));
        add(&format!("{column} travel, EMS of PFF, in the paper"), json!(cell("travel_of_pff", k, "theirs_ems")));
    }
    let speeds =
        ["evaluations_per_second", "evaluation_ns", "whole_evaluation_ns", "naive_evaluation_ns", "two_threads_gain"];
    for key in speeds {
        add(key, table[key].clone());
    }
    // Ratios over the averages of both scenes.
    let both = |key: &str, method: &str| cell(key, 0, method) + cell(key, 2, method);
    for key in ["transitions", "travel_cm", "search_seconds"] {
        add(&format!("both averages {key}, EMS of PFF"), json!(both(key, "ems") / both(key, "pff")));
    }
    Ok((text, true))
}

/// Table 1 of Oshita and Masaoka: each condition beside theirs and beside playing every path.
fn avoidance_table() -> Result<(String, bool), String> {
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    let answer = kumite_json(&["tables", "avoidance", "--trials", "1000"])?;
    let naive = answer["naive_ms"].as_f64().unwrap_or(f64::NAN);
    let mut text = String::new();
    let mut add = |figure: &str, value: Value, unit: &str| {
        text += &format!("{}\n", json!({"figure": figure, "value": value, "unit": unit}));
    };
    add("every path played", json!(naive), "ms");
    let (mut slowest, mut margin) = (0.0f64, f64::INFINITY);
    for row in answer["rows"].as_array().into_iter().flatten() {
        let name = match (row["culling"] == true, row["index"] == true) {
            (true, true) => "with culling, paths from the grid",
            (true, false) => "with culling, paths enumerated",
            (false, true) => "without culling, paths from the grid",
            (false, false) => "without culling, paths enumerated",
        };
        let [ours, scaled] = ["ours_ms", "theirs_scaled_ms"].map(|key| row[key].as_f64().unwrap_or(f64::NAN));
        add(&format!("{name}: ours"), json!(ours), "ms");
        add(&format!("{name}: theirs"), row["theirs_ms"].clone(), "ms");
        add(&format!("{name}: our whole decision"), row["decision_ms"].clone(), "ms");
        for key in
            ["candidates", "culled", "by_motion_share", "by_bent_motion_share", "by_bent_pose_share", "hit_share"]
        {
            add(&format!("{name}: {key}"), row[key].clone(), "");
        }
        (slowest, margin) = (slowest.max(ours), margin.min(scaled / ours));
    }
    add("every path played, of the slowest condition", json!(naive / slowest), "");
    add("theirs scaled, of ours, least of the conditions", json!(margin), "");
    Ok((text, true))
}

fn blender() -> Result<(String, bool), String> {
    let venv = target().join("blender");
    let python = venv.join("bin/python").display().to_string();
    if output(&[&python, "-c", "import bpy"], &[]).is_err() {
        output(&["python3", "-m", "venv", &venv.display().to_string()], &[])?;
        output(&[&python, "-m", "pip", "install", "--quiet", "bpy==4.5.15"], &[])?;
    }
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    let folder = target().join("proof");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let path = |name: &str| folder.join(name).display().to_string();
    let (mut text, mut holds) = (String::new(), true);
    let (mut files, mut balls, mut obstacles) = (0, 0, 0);
    let mut open = |name: &str| -> Result<Value, String> {
        let seen = output(&[&python, "crates/formats/tests/blender_import.py", &path(name)], &[])?;
        let seen: Value = serde_json::from_str(seen.lines().last().unwrap_or_default()).map_err(|e| e.to_string())?;
        text += &format!("{}\n", json!({"figure": format!("{name} in Blender"), "value": seen.to_string()}));
        files += 1;
        for (name, prop) in seen["props"].as_object().into_iter().flatten() {
            // Balls fly, are as large as thrown and come and go; obstacles stand there all the time.
            let (gone, size) =
                (prop["gone_m"].as_f64().unwrap_or_default(), prop["size_m"].as_f64().unwrap_or_default());
            let shown = prop["shown_share"].as_f64().unwrap_or_default();
            if name.starts_with("ball") && gone > 3.0 && (0.2..=0.24).contains(&size) && shown < 1.0 {
                balls += 1;
            } else if gone == 0.0 && size > 0.2 && shown == 1.0 {
                obstacles += 1;
            }
        }
        Ok(seen)
    };
    for name in ["walk", "jab", "duck"] {
        let file = format!("{name}.glb");
        let answer = kumite_json(&["convert", &format!("embedded:{name}"), &path(&file)])?;
        let seen = open(&file)?;
        // A root bone and the 21 canonical ones.
        holds &= seen["keys"] == answer["frames"] && seen["fps"] == answer["fps"] && seen["bones"] == 22;
    }
    let hero = path("hero.glb");
    kumite_json(&["convert", "embedded:stand-idle", &hero])?;
    kumite_json(&["convert", "embedded:walk", &path("loop.glb"), "--rig", &hero, "--in-place", "--loop"])?;
    kumite_json(&["dodge", "--rig", &hero, "-o", &path("dodge.glb")])?;
    kumite_json(&["walk", "--scene", "two-corner", "--rig", &hero, "-o", &path("two-corner.glb")])?;
    let scene = path("scene.toml");
    std::fs::write(&scene, SCENE).map_err(|e| e.to_string())?;
    kumite_json(&["play", &scene, "--rig", &format!("Ana={hero}"), "-o", &path("scene.glb")])?;
    for (name, characters) in [("loop", 1), ("dodge", 1), ("two-corner", 1), ("scene", 2), ("scene-Ana", 1)] {
        let seen = open(&format!("{name}.glb"))?;
        holds &= seen["bones"] == 22 * characters && seen["fps"] == 60.0;
    }
    let mut add = |figure: &str, count: usize| text += &format!("{}\n", json!({"figure": figure, "value": count}));
    add("files opened", files);
    add("balls that fly", balls);
    add("obstacles that stand", obstacles);
    Ok((text, holds))
}

/// Three characters, a ball and an obstacle of each kind.
const SCENE: &str = r#"
seconds = 2
[[character]]
name = "Ana"
at = [0, 0]
[[character]]
name = "Bo"
at = [2, 0]
[[character]]
name = "Cy"
at = [5, 0]
[[throw]]
time = 0.2
at = "Ana"
target = "head"
from = [0, 1.6, 6]
speed = 12
[[obstacle]]
box = { size = [0.4, 0.8, 0.4], at = [3, 0.4, 2], yaw = 30 }
[[obstacle]]
cylinder = { radius = 0.15, height = 2, at = [4, 1, 3] }
[[obstacle]]
capsule = { radius = 0.1, height = 1.5, at = [1, 0.1, 4], roll = 90 }
[[obstacle]]
sphere = { radius = 0.3, at = [4.6, 0.3, 4] }
"#;
