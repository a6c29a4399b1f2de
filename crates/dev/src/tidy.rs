//! Documents against code: what ARCHITECTURE.md says of crates, their dependencies and paths must be so, and
//! every figure quoted in a document must have a result.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::report;
use crate::steps::{output, root};

/// Everything that is wrong, or nothing.
pub fn tidy() -> Result<(), String> {
    let mut wrong = Vec::new();
    let map = read("ARCHITECTURE.md")?;
    let crates = workspace()?;
    for (name, needs) in &crates {
        let section = format!("### `crates/{}`", name.trim_start_matches("kumite-"));
        let Some(at) = map.find(&section) else {
            wrong.push(format!("ARCHITECTURE.md has no section {section}"));
            continue;
        };
        let text = map[at + section.len()..].split("\n### ").next().unwrap_or_default();
        let said: BTreeSet<String> = text
            .lines()
            .find_map(|l| l.strip_prefix("Uses: "))
            .unwrap_or_default()
            .split(['`', ',', '.', ' '])
            .filter(|w| !w.is_empty() && *w != "nothing")
            .map(|w| format!("kumite-{w}"))
            .collect();
        if &said != needs {
            wrong.push(format!("ARCHITECTURE.md: {name} uses {needs:?}, but its section says {said:?}"));
        }
    }
    for line in map.lines().filter_map(|l| l.strip_prefix("### `")) {
        let path = line.trim_end_matches('`');
        if !root().join(path).exists() {
            wrong.push(format!("ARCHITECTURE.md: there is no {path}"));
        }
    }
    let results = report::results()?;
    let documents = output(&["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], &[])?;
    for document in documents.lines() {
        let text = read(document)?;
        for path in quoted_paths(&text) {
            let beside = root().join(document).parent().unwrap_or(&root()).join(path);
            if !root().join(path).exists() && !beside.exists() {
                wrong.push(format!("{document}: there is no {path}"));
            }
        }
        for claim in text.split("results.md#").skip(1) {
            let name: String = claim.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            let holds = results.get(&name).is_some_and(|r| r["holds"] == "Holds.");
            if name != PLACEHOLDER && !holds {
                wrong.push(format!("{document}: {name} has no result that holds; `cargo dev prove {name}` makes it"));
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|e| format!("{path}: {e}"))
}

/// Stands for any name in recipes.
const PLACEHOLDER: &str = "NAME";

/// Back-quoted words that look like paths of this repository, and the targets of relative links.
fn quoted_paths(text: &str) -> Vec<&str> {
    const TOP: [&str; 6] = ["crates/", "docs/", "library/", "libraries/", "scenes/", "studio/"];
    let quoted = text.split('`').skip(1).step_by(2);
    let quoted = quoted.filter(|w| TOP.iter().any(|t| w.starts_with(t)) && !w.contains([' ', '*', '{', '<', '…']));
    let quoted = quoted.filter(|w| !w.contains(PLACEHOLDER));
    let linked = text.split("](").skip(1).filter_map(|l| l.split([')', '#']).next());
    let linked = linked.filter(|l| !l.is_empty() && !l.contains("://"));
    quoted.chain(linked).map(|w| w.split("::").next().unwrap_or(w)).collect()
}

/// Crates of the workspace, with the crates of the workspace each depends on.
fn workspace() -> Result<BTreeMap<String, BTreeSet<String>>, String> {
    let text = output(&["cargo", "metadata", "--format-version", "1", "--no-deps"], &[])?;
    let metadata: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let mut crates = BTreeMap::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        let name = package["name"].as_str().unwrap_or_default().to_owned();
        let needs = package["dependencies"].as_array().into_iter().flatten();
        let needs = needs.filter(|d| d["kind"].is_null() && d["path"].is_string());
        crates.insert(name, needs.filter_map(|d| Some(d["name"].as_str()?.to_owned())).collect());
    }
    for (name, path) in crates.keys().map(|n: &String| (n, format!("crates/{}", n.trim_start_matches("kumite-")))) {
        if !Path::new(&root()).join(&path).is_dir() {
            return Err(format!("{name} should live in {path}"));
        }
    }
    Ok(crates)
}
