//! Reads and writes docs/results.json, and makes docs/results.md from it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Map, Value};

use crate::steps::root;
use crate::tidy;

/// One result per claim.
pub fn results() -> Result<BTreeMap<String, Value>, String> {
    let path = root().join("docs/results.json");
    let Ok(text) = fs::read_to_string(&path) else { return Ok(BTreeMap::new()) };
    serde_json::from_str(&text).map_err(|e| format!("docs/results.json: {e}"))
}

/// Adds or replaces one result.
pub fn record(name: &str, result: Value) -> Result<(), String> {
    let mut all = results()?;
    all.insert(name.to_owned(), result);
    let text = serde_json::to_string_pretty(&all).map_err(|e| e.to_string())?;
    fs::write(root().join("docs/results.json"), text + "\n").map_err(|e| format!("docs/results.json: {e}"))?;
    write()
}

/// Writes docs/results.md, and the figures that other documents quote.
pub fn write() -> Result<(), String> {
    fs::write(root().join("docs/results.md"), page()?).map_err(|e| format!("docs/results.md: {e}"))?;
    tidy::quote_again(&results()?)
}

/// Whether docs/results.md is what [`write`] would write.
pub fn check() -> Result<(), String> {
    let found = fs::read_to_string(root().join("docs/results.md")).unwrap_or_default();
    if found == page()? {
        Ok(())
    } else {
        Err("docs/results.md is not made from docs/results.json: `cargo dev report`".into())
    }
}

fn page() -> Result<String, String> {
    let mut page = String::from(
        "# Results\n\nMade by `cargo dev report` from `docs/results.json`; `cargo dev prove NAME` measures one again.\n",
    );
    for (name, result) in results()? {
        let empty = Map::new();
        let result = result.as_object().unwrap_or(&empty);
        let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
        let _ = write!(page, "\n## {name}\n\n{}\n\n| figure | value |\n|---|---|\n", text("claim"));
        for (figure, value) in result.get("figures").and_then(Value::as_object).unwrap_or(&empty) {
            let _ = writeln!(page, "| {} | {} |", figure.replace('|', "\\|"), shown(value));
        }
        let _ = writeln!(page, "\n{} Measured at commit `{}`.", text("holds"), text("commit"));
        for why in result.get("broken").and_then(Value::as_array).into_iter().flatten() {
            let _ = writeln!(page, "- {}", shown(why));
        }
        if let Some(before) = result.get("before").and_then(Value::as_object) {
            let _ = write!(
                page,
                "\nWhat an earlier measure said:\n\n| figure | value | why it is measured otherwise now |\n|---|---|---|\n"
            );
            for (figure, old) in before {
                let _ = writeln!(page, "| {figure} | {} | {} |", shown(&old["value"]), shown(&old["why"]));
            }
        }
    }
    Ok(page)
}

fn shown(value: &Value) -> String {
    match value {
        Value::Number(n) => match n.as_f64() {
            Some(v) if v.fract() != 0.0 && v.abs() >= 100.0 => format!("{v:.0}"),
            Some(v) if v.fract() != 0.0 && v.abs() >= 0.01 => format!("{v:.3}"),
            Some(v) if v.fract() != 0.0 => format!("{v:.2e}"),
            _ => n.to_string(),
        },
        Value::String(s) => s.replace('|', "\\|"),
        other => other.to_string().replace('|', "\\|"),
    }
}
