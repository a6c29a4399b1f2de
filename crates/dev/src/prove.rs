//! `cargo dev prove`: the full figures behind each claim, kept in docs/results.json.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::steps::output;
use crate::{captures, report};

/// One claim: what is said, and a program that prints one JSON object of figures per line, the last of them with `holds`.
struct Claim {
    name: &'static str,
    says: &'static str,
    words: &'static [&'static str],
}

const BENCH: [&str; 7] = ["cargo", "run", "--quiet", "--release", "-p", "kumite-bench", "--"];

const CLAIMS: &[Claim] = &[
    Claim {
        name: "bvh-parse",
        says: "BVH is parsed at 400 MB/s or more, and at least three times as fast as bvh_anim.",
        words: &["bvh-parse"],
    },
    Claim {
        name: "fk",
        says: "Forward kinematics: 3.5 million poses a second one by one, 15 million for a clip (31 joints, one core).",
        words: &["fk"],
    },
    Claim {
        name: "captures",
        says: "Every capture is read, and joints are where an independent implementation puts them to 0.1 mm.",
        words: &["captures"],
    },
];

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
    for claim in CLAIMS.iter().filter(wanted) {
        println!("\n== {}: {}", claim.name, claim.says);
        let start = Instant::now();
        let text = output(&[&BENCH[..], claim.words].concat(), &[("KUMITE_MOCAP", &mocap)])?;
        let mut figures = Map::new();
        let mut holds = "Not judged.".to_owned();
        for line in text.lines() {
            println!("{line}");
            let Ok(Value::Object(row)) = serde_json::from_str(line) else { continue };
            if let Some(verdict) = row.get("holds").and_then(Value::as_bool) {
                holds = if verdict { "Holds." } else { "**Does not hold.**" }.to_owned();
            }
            if let (Some(name), Some(value)) = (row.get("figure").and_then(Value::as_str), row.get("value")) {
                let unit = row.get("unit").and_then(Value::as_str).unwrap_or_default();
                figures.insert(format!("{name} {unit}").trim_end().to_owned(), value.clone());
            }
        }
        let seconds = (start.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        report::record(
            claim.name,
            json!({"claim": claim.says, "figures": figures, "holds": holds, "commit": commit, "wall_seconds": seconds}),
        )?;
    }
    Ok(())
}
