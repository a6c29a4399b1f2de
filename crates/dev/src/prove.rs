//! `cargo dev prove`: measures claims, decides whether they hold, and records the figures in docs/results.json.

use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::claims::{Bound, CLAIMS, Claim};
use crate::steps::output;
use crate::{captures, measure, report};

/// Whether a figure keeps its bound.
fn keeps(figures: &Map<String, Value>, figure: &str, bound: Bound) -> bool {
    // A figure's name may end with its unit.
    let named = |name: &str| name.strip_prefix(figure).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    let found = figures.get(figure).or_else(|| figures.iter().find(|(name, _)| named(name)).map(|(_, value)| value));
    let number = found.and_then(Value::as_f64);
    match bound {
        Bound::Least(least) => number.is_some_and(|v| v >= least),
        Bound::Most(most) => number.is_some_and(|v| v <= most),
        Bound::Is(word) => found.is_some_and(|v| v == word),
        Bound::Counted => number.is_some_and(|v| v > 0.0),
    }
}

/// Reasons why a claim does not hold; empty if it does.
fn broken(claim: &Claim, text: &str, passed: bool, figures: &Map<String, Value>) -> Vec<String> {
    let mut broken = Vec::new();
    if !passed {
        broken.push("its proof failed".to_owned());
    }
    broken.extend(text.lines().filter(|l| l.contains("skipped: ")).map(|l| format!("not measured: {l}")));
    if figures.is_empty() {
        broken.push("nothing was measured".to_owned());
    }
    broken.extend(figures.iter().filter(|f| f.1.is_null()).map(|f| format!("{} is missing", f.0)));
    for (figure, bound) in claim.bounds.iter().filter(|(figure, bound)| !keeps(figures, figure, *bound)) {
        let wanted = match bound {
            Bound::Least(least) => format!("at least {least}"),
            Bound::Most(most) => format!("at most {most}"),
            Bound::Is(word) => (*word).to_owned(),
            Bound::Counted => "more than nothing".to_owned(),
        };
        broken.push(format!("{figure} is not {wanted}"));
    }
    broken
}

/// Proves the named claims; without names, those without a result; with `all`, every one.
pub fn prove(names: &[String]) -> Result<(), String> {
    if names.iter().any(|n| n == "--list") {
        for claim in CLAIMS {
            println!("{:<16} {}", claim.name, claim.says);
        }
        return Ok(());
    }
    let every = names.iter().any(|n| n == "all");
    if let Some(unknown) = names.iter().find(|n| *n != "all" && CLAIMS.iter().all(|c| c.name != n.as_str())) {
        let known: Vec<&str> = CLAIMS.iter().map(|c| c.name).collect();
        return Err(format!("there is no claim {unknown}; there are all, {}", known.join(", ")));
    }
    let have = report::results()?;
    let wanted = |c: &&Claim| match names {
        [] => !have.contains_key(c.name),
        names => every || names.iter().any(|n| n == c.name),
    };
    let commit = output(&["git", "rev-parse", "--short", "HEAD"], &[])?.trim().to_owned();
    let mocap = captures::gather();
    let mut failed = Vec::new();
    for claim in CLAIMS.iter().filter(wanted) {
        println!("\n== {}: {}", claim.name, claim.says);
        let start = Instant::now();
        let (text, mut passed) = measure::measure(claim, &mocap)?;
        let mut figures = Map::new();
        for line in text.lines() {
            println!("{line}");
            let Ok(Value::Object(row)) = serde_json::from_str(line) else { continue };
            if let Some(verdict) = row.get("holds").and_then(Value::as_bool) {
                passed &= verdict;
            }
            if let (Some(name), Some(value)) = (row.get("figure").and_then(Value::as_str), row.get("value")) {
                let unit = row.get("unit").and_then(Value::as_str).unwrap_or_default();
                figures.insert(format!("{name} {unit}").trim_end().to_owned(), value.clone());
            }
        }
        let broken = broken(claim, &text, passed, &figures);
        broken.iter().for_each(|why| println!("does not hold: {why}"));
        let holds = if broken.is_empty() { "Holds." } else { "**Does not hold.**" };
        let seconds = (start.elapsed().as_secs_f64() * 10.0).round() / 10.0;
        let mut result =
            json!({"claim": claim.says, "figures": figures, "holds": holds, "commit": commit, "wall_seconds": seconds});
        if !broken.is_empty() {
            result["broken"] = json!(broken);
            failed.push(claim.name);
        }
        // Figures of an older, less exact measurement are kept beside the new ones.
        if let Some(before) = have.get(claim.name).and_then(|old| old.get("before")) {
            result["before"] = before.clone();
        }
        report::record(claim.name, result)?;
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("claims that do not hold: {}", failed.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Proof;

    fn why(figures: Value, text: &str, passed: bool) -> Vec<String> {
        let claim = Claim {
            name: "",
            says: "",
            by: Proof::Bench,
            bounds: &[("balls", Bound::Counted), ("share", Bound::Least(0.9)), ("end", Bound::Is("arrived"))],
        };
        broken(&claim, text, passed, figures.as_object().unwrap())
    }

    #[test]
    fn a_claim_holds_only_with_all_its_figures() {
        let good = json!({"balls": 3, "share %": 0.95, "end": "arrived"});
        assert_eq!(why(good.clone(), "", true), [""; 0]);
        assert_eq!(why(good.clone(), "", false), ["its proof failed"]);
        assert_eq!(why(good, "skipped: library x", true), ["not measured: skipped: library x"]);
        assert_eq!(why(json!({"share": 0.95, "end": "arrived"}), "", true), ["balls is not more than nothing"]);
        assert_eq!(why(json!({"balls": 3, "share": null, "end": "lost"}), "", true).len(), 3);
        assert!(why(json!({}), "", true).contains(&"nothing was measured".to_owned()));
    }
}
