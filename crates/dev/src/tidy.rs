//! `cargo dev tidy`: checks documents against code. Crates, dependencies and paths in ARCHITECTURE.md must be right, and figures
//! quoted in any document must equal the results, which [`quote_again`] sees to.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::report;
use crate::steps::{output, root};

/// Fails with a list of everything that is wrong.
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
    for document in &documents()? {
        let text = read(document)?;
        for path in quoted_paths(&text) {
            let beside = root().join(document).parent().unwrap_or(&root()).join(path);
            if !root().join(path).exists() && !beside.exists() {
                wrong.push(format!("{document}: there is no {path}"));
            }
        }
        for quote in quotes(&text) {
            if let Err(why) = quote.check(&results) {
                wrong.push(format!("{document}: [{}]: {why}", quote.text));
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

/// Writes the figures that documents quote anew, with as many digits as they had.
pub fn quote_again(results: &BTreeMap<String, Value>) -> Result<(), String> {
    for document in &documents()? {
        let text = read(document)?;
        let mut new = text.clone();
        for quote in quotes(&text).iter().rev().filter(|q| q.check(results).is_err()) {
            let Some((number, said)) = number(quote.text).zip(quote.right(results)) else { continue };
            let at = number.0.as_ptr() as usize - text.as_ptr() as usize;
            new.replace_range(at..at + number.0.len(), &said);
        }
        if new != text {
            fs::write(root().join(document), new).map_err(|e| format!("{document}: {e}"))?;
        }
    }
    Ok(())
}

/// Every document that belongs to the project.
fn documents() -> Result<Vec<String>, String> {
    let listed = output(&["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], &[])?;
    Ok(listed.lines().map(str::to_owned).collect())
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|e| format!("{path}: {e}"))
}

/// Stands for any name in examples.
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

/// A figure quoted in a document: `[98 %](results.md#dodge "agreed_share")`.
struct Quote<'a> {
    text: &'a str,
    claim: &'a str,
    figure: &'a str,
}

/// The links to results that name a figure.
fn quotes(text: &str) -> Vec<Quote<'_>> {
    let mut all = Vec::new();
    for (at, _) in text.match_indices("results.md#") {
        let Some((claim, rest)) = text[at + "results.md#".len()..].split_once([' ', ')']) else { continue };
        let Some((figure, _)) = rest.strip_prefix('"').and_then(|r| r.split_once('"')) else { continue };
        let before = &text[..at];
        let Some((start, end)) = before.rfind('[').zip(before.rfind("](")) else { continue };
        all.push(Quote { text: &text[start + 1..end], claim, figure });
    }
    all
}

impl Quote<'_> {
    /// Whether the number in the text equals the figure, to the digits the text gives.
    fn check(&self, results: &BTreeMap<String, Value>) -> Result<(), String> {
        let value = self.value(results).ok_or_else(|| format!("{} has no figure {:?}", self.claim, self.figure))?;
        let (number, _) = number(self.text).ok_or("no number in it")?;
        let said: f64 = number.parse().map_err(|_| format!("{number:?} is no number"))?;
        let half = 0.5 * unit(digits(number));
        if (value - said).abs() <= half * 1.0001 {
            return Ok(());
        }
        Err(format!("says {number}, but {} of {} is {value}: `cargo dev report`", self.figure, self.claim))
    }

    /// What the number in the text should be, to the digits the text gives.
    fn right(&self, results: &BTreeMap<String, Value>) -> Option<String> {
        let digits = digits(number(self.text)?.0);
        let unit = unit(digits);
        Some(format!("{:.*}", digits.max(0) as usize, (self.value(results)? / unit).round() * unit))
    }

    /// The figure, in the unit of the text.
    fn value(&self, results: &BTreeMap<String, Value>) -> Option<f64> {
        let value = results.get(self.claim)?["figures"].get(self.figure)?.as_f64()?;
        let scale = match number(self.text)?.1.trim_start() {
            r if r.starts_with('%') => 0.01,
            r if r.starts_with("M ") => 1e6,
            _ => 1.0,
        };
        Some(value / scale)
    }
}

/// One in the last of that many decimals.
fn unit(digits: i32) -> f64 {
    format!("1e{}", -digits).parse().unwrap_or(1.0)
}

/// Decimals of a number; for a whole number, less than none for each trailing zero, which does not count as a digit.
fn digits(number: &str) -> i32 {
    number.split_once('.').map_or(-(trailing_zeros(number) as i32), |(_, decimals)| decimals.len() as i32)
}

/// The first number in a text, and what follows it.
fn number(text: &str) -> Option<(&str, &str)> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let rest = &text[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    Some((rest[..end].trim_end_matches('.'), &rest[end..]))
}

/// Number of trailing zeros.
fn trailing_zeros(number: &str) -> usize {
    number.len() - number.trim_end_matches('0').len()
}

/// Crates of the workspace, each with the crates of the workspace it depends on.
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn quoted_figures_are_those_of_the_results() {
        let results = BTreeMap::from([(
            "dodge".to_owned(),
            json!({"figures": {"share": 0.9812, "us": 187.4, "pairs": 193_400_000.0}}),
        )]);
        let check = |text: &str| {
            let quotes = quotes(text);
            assert_eq!(quotes.len(), 1, "{text}");
            quotes[0].check(&results)
        };
        assert_eq!(check("a [98 %](docs/results.md#dodge \"share\") of"), Ok(()));
        assert_eq!(check("[98.1 %](results.md#dodge \"share\")"), Ok(()));
        assert_eq!(check("[within 190 µs](results.md#dodge \"us\")"), Ok(()));
        assert_eq!(check("[193 M pairs](results.md#dodge \"pairs\")"), Ok(()));
        assert!(check("[99 %](results.md#dodge \"share\")").is_err());
        assert!(check("[98.2 %](results.md#dodge \"share\")").is_err());
        assert!(check("[98 %](results.md#dodge \"sharp\")").is_err());
        assert!(quotes("[dodge](results.md#dodge)").is_empty());
        let right = |text: &str| quotes(text)[0].right(&results);
        assert_eq!(right("[97.0 %](results.md#dodge \"share\")").as_deref(), Some("98.1"));
        assert_eq!(right("[within 200 µs](results.md#dodge \"us\")").as_deref(), Some("200"));
        assert_eq!(right("[within 210 µs](results.md#dodge \"us\")").as_deref(), Some("190"));
    }
}
