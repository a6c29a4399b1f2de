//! `cargo dev prove`: the full figures behind each claim, kept in docs/results.json.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::steps::{command, kumite, output, run, target};
use crate::{captures, report};

/// One claim: what is said, and what measures it: a program that prints one JSON object of figures a line.
struct Claim {
    name: &'static str,
    says: &'static str,
    by: Proof,
}

enum Proof {
    /// A bench of `kumite-bench`; it says itself whether the claim holds.
    Bench,
    /// Tests of a crate, by package, test file and filter; the claim holds if they pass.
    Test(&'static str, &'static str, &'static str),
    /// Balls thrown at characters of a library, that many, from one seed; what the referee counts.
    Dodge(&'static str, u32),
    /// The glTF files of the demo, imported by Blender.
    Blender,
}

const CLAIMS: &[Claim] = &[
    Claim {
        name: "bvh-parse",
        says: "BVH is parsed at 400 MB/s or more, and at least three times as fast as bvh_anim.",
        by: Proof::Bench,
    },
    Claim {
        name: "fk",
        says: "Forward kinematics: 3.5 million poses a second one by one, 15 million for a clip (31 joints, one core).",
        by: Proof::Bench,
    },
    Claim {
        name: "captures",
        says: "Every capture is read, and joints are where an independent implementation puts them to 0.1 mm.",
        by: Proof::Bench,
    },
    Claim {
        name: "transitions",
        says: "Windowed, aligned distances between all frames: 150 million pairs a second on one core, three times numpy.",
        by: Proof::Bench,
    },
    Claim {
        name: "bake",
        says: "Five minutes of CMU captures at 30 frames per second are baked in 20 s or less and 500 MB or less, and memory grows in \
               proportion to the frames.",
        by: Proof::Bench,
    },
    Claim {
        name: "walks",
        says: "10,000 random walks of 20 s on the embedded motions and on each library of captures: no dead end, no number that is \
               none; each gate (feet slide 2 cm/s, float 1 cm, snap 1.5) is kept on average and by 997 walks of 1,000.",
        by: Proof::Bench,
    },
    Claim {
        name: "understanding",
        says: "Captures are understood: complete roles, heights of 1.4 to 2.0 m, the true frame rate, roles from the shape alone.",
        by: Proof::Test("kumite-bake", "captures", "understood"),
    },
    Claim {
        name: "retarget",
        says: "Motions carried over to another body keep their planted feet (slide grows by 0.5 cm/s or less in every clip), \
               float by 1 cm or less, and come back within 2 degrees (99.5 % of joints and frames).",
        by: Proof::Test("kumite-bake", "captures", "onto"),
    },
    Claim {
        name: "dodge",
        says: "Embedded library: what a path avoids is avoided (99 %), at the exhaustive optimum (98 %); of balls at head and torso seen 0.6 s \
               ahead nine in ten are avoided or blocked; queries take 60 µs (half) and 200 µs (99 %), 2 ms without the index; \
               takes pass the quality gates.",
        by: Proof::Dodge("embedded", 10_000),
    },
    Claim {
        name: "dodge-accad",
        says: "ACCAD Male2: what a path avoids is avoided (99 %), at the exhaustive optimum (98 %), as quickly.",
        by: Proof::Dodge("accad-male2", 10_000),
    },
    Claim {
        name: "dodge-cmu",
        says: "CMU fights: what a path avoids is avoided (99 %), at the exhaustive optimum (98 %), as quickly.",
        by: Proof::Dodge("cmu-fight", 10_000),
    },
    Claim {
        name: "dodge-crowd",
        says: "A thousand characters, each attacked once a second, at 60 frames a second on two cores: 16 ms of CPU time a frame (99 %).",
        by: Proof::Bench,
    },
    Claim {
        name: "classification",
        says: "Actions are told from the motion alone: on ACCAD, by numbers fitted to the other clips, 90 % of classes and 85 % of sides and \
               heights; on three CMU captures labelled by eye beforehand as reported.",
        by: Proof::Test("kumite-bake", "analysis", "_"),
    },
    Claim {
        name: "connectivity",
        says: "After repair every labelled motion of the embedded library, ACCAD and CMU is kept and can be reached from \
               every node; embedded motions follow each other through one step at most and an avoidance begins within 0.3 s (median) \
               and 0.6 s (worst); 15 % or less of a random walk is synthetic, and the quality gates hold on it.",
        by: Proof::Test("kumite-bake", "repair", "_"),
    },
    Claim {
        name: "blender",
        says: "Blender imports what is written, with its bones, keys and rate.",
        by: Proof::Blender,
    },
];

/// What a proof printed, and whether it passed.
fn measure(claim: &Claim, mocap: &str) -> Result<(String, bool), String> {
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
        Proof::Blender => blender(),
    }
}

/// Throws balls and holds the counts against what is claimed. Coverage of head and torso is claimed of the embedded library only.
fn dodge(library: &str, trials: u32, mocap: &str) -> Result<(String, bool), String> {
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    let mut name = library.to_owned();
    if library != "embedded" {
        let folder = target().join("proof");
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let bundle = folder.join(format!("{library}.kumite")).display().to_string();
        let manifest = format!("libraries/{library}.toml");
        let data = std::env::split_paths(mocap).find(|f| f.join("combat").is_dir()).unwrap_or_default();
        output(&[&kumite(), "bake", &manifest, "--data", &data.display().to_string(), "-o", &bundle], &[])?;
        name = bundle;
    }
    let told = output(
        &[&kumite(), "dodge", "--library", &name, "--trials", &trials.to_string(), "--seed", "1", "--json"],
        &[],
    )?;
    let told: Value = serde_json::from_str(&told).map_err(|e| e.to_string())?;
    let keys = [
        "threatening",
        "avoidable",
        "avoided",
        "blocked",
        "adapted",
        "avoided_of_avoidable_share",
        "agreed_share",
        "cost_ratio",
        "from_index_share",
        "before_edge_end_share",
        "core_seen",
        "core_defended_share",
        "quality_failures",
        "undisturbed_quality_failures",
        "displacement_m",
        "query_us",
        "adapt_us",
        "candidates",
        "targets",
        "index_bytes",
    ];
    let mut text = String::new();
    for key in keys {
        let value = if told[key].is_object() { json!(told[key].to_string()) } else { told[key].clone() };
        text += &format!("{}\n", json!({"figure": key, "value": value}));
    }
    let at_least = |key: &str, least: f64| told[key].as_f64().is_some_and(|v| v >= least);
    let at_most = |path: &str, most: f64| told.pointer(path).and_then(Value::as_f64).is_some_and(|v| v <= most);
    let holds = at_least("avoided_of_avoidable_share", 0.99)
        && at_least("agreed_share", 0.98)
        && at_least("from_index_share", 0.95)
        && at_least("before_edge_end_share", 0.99)
        && (library != "embedded" || at_least("core_defended_share", 0.9))
        && (library != "embedded" || told["quality_failures"] == 0)
        && at_most("/query_us/index/p50", 60.0)
        && at_most("/query_us/index/p99", 200.0)
        && at_most("/query_us/enumerated/p99", 2000.0);
    Ok((text, holds))
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
    let (mut text, mut holds) = (String::new(), true);
    for name in ["walk", "jab", "duck"] {
        let file = folder.join(format!("{name}.glb")).display().to_string();
        let told = output(&[&kumite(), "convert", &format!("embedded:{name}"), &file, "--json"], &[])?;
        let told: Value = serde_json::from_str(&told).map_err(|e| e.to_string())?;
        let seen = output(&[&python, "crates/formats/tests/blender_import.py", &file], &[])?;
        let seen: Value = serde_json::from_str(seen.lines().last().unwrap_or_default()).map_err(|e| e.to_string())?;
        text += &format!("{}\n", json!({"figure": format!("{name}.glb in Blender"), "value": seen.to_string()}));
        // The root bone and the canonical twenty-one.
        holds &= seen["keys"] == told["frames"] && seen["fps"] == told["fps"] && seen["bones"] == 22;
    }
    Ok((text, holds))
}

/// Proves the named claims, or those without a result.
pub fn prove(names: &[String]) -> Result<(), String> {
    if names.iter().any(|n| n == "--list") {
        for claim in CLAIMS {
            println!("{:<16} {}", claim.name, claim.says);
        }
        return Ok(());
    }
    if let Some(unknown) = names.iter().find(|n| CLAIMS.iter().all(|c| c.name != n.as_str())) {
        let known: Vec<&str> = CLAIMS.iter().map(|c| c.name).collect();
        return Err(format!("there is no claim {unknown}; there are {}", known.join(", ")));
    }
    let have = report::results()?;
    let wanted =
        |c: &&Claim| if names.is_empty() { !have.contains_key(c.name) } else { names.iter().any(|n| n == c.name) };
    let commit = output(&["git", "rev-parse", "--short", "HEAD"], &[])?.trim().to_owned();
    let mocap = captures::gather();
    let mut all = true;
    for claim in CLAIMS.iter().filter(wanted) {
        println!("\n== {}: {}", claim.name, claim.says);
        let start = Instant::now();
        let (text, mut held) = measure(claim, &mocap)?;
        let mut figures = Map::new();
        for line in text.lines() {
            println!("{line}");
            let Ok(Value::Object(row)) = serde_json::from_str(line) else { continue };
            if let Some(verdict) = row.get("holds").and_then(Value::as_bool) {
                held &= verdict;
            }
            if let (Some(name), Some(value)) = (row.get("figure").and_then(Value::as_str), row.get("value")) {
                let unit = row.get("unit").and_then(Value::as_str).unwrap_or_default();
                figures.insert(format!("{name} {unit}").trim_end().to_owned(), value.clone());
            }
        }
        // Nothing measured is nothing proved.
        let counted = |v: &Value| v.as_f64().is_none_or(|v| v != 0.0);
        held &= figures.values().next().is_some_and(counted);
        all &= held;
        let holds = if held { "Holds." } else { "**Does not hold.**" };
        let seconds = (start.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        report::record(
            claim.name,
            json!({"claim": claim.says, "figures": figures, "holds": holds, "commit": commit, "wall_seconds": seconds}),
        )?;
    }
    if all { Ok(()) } else { Err("a claim does not hold".into()) }
}
