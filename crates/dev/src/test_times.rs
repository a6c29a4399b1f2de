//! Runs the tests of the workspace, binary by binary, and names the slowest.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::steps::output;

/// Number of slow tests named at the end.
const NAMED: usize = 10;

/// Runs all unit and integration tests with these environment variables. Prints failures, counts, and the slowest tests.
pub fn run(env: &[(&str, &str)]) -> Result<(), String> {
    let build = ["cargo", "test", "--workspace", "--lib", "--bins", "--tests", "--no-run", "--message-format=json"];
    let mut times: Vec<(f64, String)> = Vec::new();
    let (mut passed, mut failed) = (0, Vec::new());
    for (package, program) in binaries(&output(&build, &[])?) {
        let name = program.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let name = name.rsplit_once('-').map_or(name.clone(), |(stem, _)| stem.to_owned());
        // `--report-time` is unstable; the test harness accepts it when this variable is set. It does not affect compilation.
        let out = Command::new(&program)
            .args(["-Zunstable-options", "--report-time"])
            .env("RUSTC_BOOTSTRAP", "1")
            .envs(env.iter().copied())
            .current_dir(&package)
            .output()
            .map_err(|e| format!("{}: {e}", program.display()))?;
        let text = String::from_utf8_lossy(&out.stdout);
        for (test, good, seconds) in text.lines().filter_map(timed) {
            passed += usize::from(good);
            times.push((seconds, format!("{name} {test}")));
        }
        if !out.status.success() {
            println!("{text}{}", String::from_utf8_lossy(&out.stderr));
            failed.push(name);
        }
    }
    times.sort_by(|a, b| b.0.total_cmp(&a.0));
    println!("slowest tests:");
    for (seconds, test) in times.iter().take(NAMED) {
        println!("{seconds:>7.1} s  {test}");
    }
    println!("tests: {passed} passed, {} failed", times.len() - passed);
    if failed.is_empty() { Ok(()) } else { Err(format!("tests failed in {}", failed.join(", "))) }
}

/// The folder of the package and the program of each test binary, from cargo's messages.
fn binaries(messages: &str) -> Vec<(PathBuf, PathBuf)> {
    let program = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let manifest = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        let test = message["profile"]["test"] == true;
        test.then(|| Some((manifest, PathBuf::from(message["executable"].as_str()?)))).flatten()
    };
    messages.lines().filter_map(program).collect()
}

/// Name, success and seconds from a line `test NAME ... ok <1.234s>`.
fn timed(line: &str) -> Option<(&str, bool, f64)> {
    let (name, rest) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let seconds = rest.rsplit_once('<')?.1.trim_end_matches("s>").parse().ok()?;
    Some((name, rest.starts_with("ok"), seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_harness_are_understood() {
        assert_eq!(timed("test a::b ... ok <1.250s>"), Some(("a::b", true, 1.25)));
        assert_eq!(timed("test a ... FAILED <0.001s>"), Some(("a", false, 0.001)));
        assert_eq!(timed("running 3 tests"), None);
        let message = r#"{"manifest_path":"/x/Cargo.toml","profile":{"test":true},"executable":"/t/a-1"}"#;
        assert_eq!(binaries(message), [(PathBuf::from("/x"), PathBuf::from("/t/a-1"))]);
    }
}
