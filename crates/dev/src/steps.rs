//! `cargo dev test`, `bench`, `embed` and `motions`: the steps they run, each timed; and running other programs.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::{captures, golden, report, test_times, tidy};

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// Cargo's build folder, which also holds what is installed for tests.
pub fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// Path of the built command.
pub fn kumite() -> String {
    target().join("release/kumite").display().to_string()
}

/// A program with its arguments, run in the repository's root.
pub fn command(words: &[&str]) -> Command {
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).current_dir(root());
    command
}

/// Runs the built command with `--json` and returns its answer.
pub fn kumite_json(words: &[&str]) -> Result<Value, String> {
    let text = output(&[&[kumite().as_str()], words, &["--json"]].concat(), &[])?;
    serde_json::from_str(&text).map_err(|e| format!("{words:?}: {e}"))
}

/// Runs a program and shows its output.
pub fn run(words: &[&str], env: &[(&str, &str)]) -> Result<(), String> {
    let status = command(words).envs(env.iter().copied()).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{}` ended with {status}", words.join(" "))),
        Err(error) => Err(format!("`{}` could not be started: {error}", words.join(" "))),
    }
}

/// Runs a program and returns its standard output.
pub fn output(words: &[&str], env: &[(&str, &str)]) -> Result<String, String> {
    let out = command(words).envs(env.iter().copied()).output();
    match out {
        Ok(out) if out.status.success() => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
        Ok(out) => {
            Err(format!("`{}` ended with {}:\n{}", words.join(" "), out.status, String::from_utf8_lossy(&out.stderr)))
        }
        Err(error) => Err(format!("`{}` could not be started: {error}", words.join(" "))),
    }
}

/// Steps run so far: name, seconds, result.
struct Steps {
    times: Vec<(&'static str, f32, Result<(), String>)>,
}

impl Steps {
    fn step(&mut self, name: &'static str, work: impl FnOnce() -> Result<(), String>) {
        println!("\n== {name}");
        let start = Instant::now();
        let result = work();
        if let Err(message) = &result {
            println!("{message}");
        }
        self.times.push((name, start.elapsed().as_secs_f32(), result));
    }

    fn finish(self) -> Result<(), String> {
        println!("\n== steps");
        for (name, seconds, result) in &self.times {
            println!("{:>7.1} s  {}  {name}", seconds, if result.is_ok() { "ok    " } else { "FAILED" });
        }
        let whole: f32 = self.times.iter().map(|t| t.1).sum();
        println!("{whole:>7.1} s          all");
        let failed: Vec<&str> = self.times.iter().filter(|t| t.2.is_err()).map(|t| t.0).collect();
        println!("steps: {} passed, {} failed", self.times.len() - failed.len(), failed.len());
        if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
    }
}

/// Runs every check that a change must pass.
pub fn test_all() -> Result<(), String> {
    let mut steps = Steps { times: Vec::new() };
    let mut mocap = String::new();
    steps.step("captures", || {
        mocap = captures::gather();
        Ok(())
    });
    let skipped = target().join("skipped.txt");
    let _ = std::fs::remove_file(&skipped);
    let skips = skipped.display().to_string();
    let env = [("KUMITE_MOCAP", mocap.as_str()), ("KUMITE_FUZZ_SECONDS", "5"), ("KUMITE_SKIPPED", &skips)];
    steps.step("format", || run(&["cargo", "fmt", "--all", "--check"], &[]));
    steps.step("lint", || {
        run(&["cargo", "clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"], &[])
    });
    steps.step("documents", || tidy::tidy().and_then(|()| report::check()));
    steps.step("node packages", node_packages);
    steps.step("unit and property tests", || test_times::run(&env));
    steps.step("doc tests", || run(&["cargo", "test", "--quiet", "--workspace", "--doc"], &[]));
    steps.step("engine crates for wasm32", wasm);
    steps.step("release build", || run(&["cargo", "build", "--quiet", "--release"], &[]));
    steps.step("golden hashes", || golden::golden(false));
    steps.step("commands of the guides", guides);
    steps.step("replay in a browser", browser);
    let skipped = std::fs::read_to_string(&skipped).unwrap_or_default();
    println!("\n== skipped: {} parts of tests, for want of captures", skipped.lines().count());
    skipped.lines().for_each(|line| println!("    {line}"));
    steps.finish()
}

/// Formats, lints and tests one crate.
pub fn test_one(name: &str) -> Result<(), String> {
    let package = if name.starts_with("kumite") { name.to_owned() } else { format!("kumite-{name}") };
    let mocap = captures::known();
    let mut steps = Steps { times: Vec::new() };
    steps.step("format", || run(&["cargo", "fmt", "-p", &package, "--check"], &[]));
    steps.step("lint", || {
        run(&["cargo", "clippy", "--quiet", "-p", &package, "--all-targets", "--", "-D", "warnings"], &[])
    });
    steps.step("tests", || run(&["cargo", "test", "--quiet", "-p", &package], &[("KUMITE_MOCAP", &mocap)]));
    steps.finish()
}

/// Measures the embedded motions and the captures, writes the tables of docs/motions.md and docs/people.md and the statistics of people, and
/// compares them.
pub fn motions() -> Result<(), String> {
    let mocap = captures::known();
    let test = |file: &str, filter: &str, env: &[(&str, &str)]| {
        run(&["cargo", "test", "--quiet", "-p", "kumite-bake", "--test", file, filter], env)
    };
    let people = [("KUMITE_MOCAP", mocap.as_str()), ("KUMITE_WRITE", "1")];
    test("people", "the_table", &people)?;
    test("people", "the_page", &[("KUMITE_WRITE", "1")])?;
    test("people", "every_active", &[])?;
    test("moves", "the_statistics", &people)?;
    test("moves", "the_page", &[("KUMITE_WRITE", "1")])?;
    sheets()
}

/// Contact sheets of the embedded motions, by the kind of their first span.
fn sheets() -> Result<(), String> {
    const SHEETS: [(&str, &[&str]); 6] = [
        ("attacks", &["attack"]),
        ("avoidances", &["avoid"]),
        ("blocks", &["block"]),
        ("reactions", &["react", "down", "up"]),
        ("steps", &["idle", "step", "turn"]),
        ("walks", &["walk", "run"]),
    ];
    let listed = kumite_json(&["inspect", "embedded"])?;
    let clips = listed["files"][0]["clips"].as_array().cloned().unwrap_or_default();
    for (name, kinds) in SHEETS {
        let of_kind = |clip: &&Value| clip["spans"][0]["kind"].as_str().is_some_and(|kind| kinds.contains(&kind));
        let inputs =
            clips.iter().filter(of_kind).filter_map(|clip| Some(format!("embedded:{}", clip["name"].as_str()?)));
        let inputs: Vec<String> = inputs.collect();
        let out = format!("docs/pictures/motions-{name}.png");
        let words: Vec<&str> = inputs.iter().map(String::as_str).chain([out.as_str()]).collect();
        let kumite = kumite();
        run(&[&[kumite.as_str(), "convert", "-q", "--poses", "4", "--width", "760"], &words[..]].concat(), &[])?;
    }
    Ok(())
}

/// Bakes the keyed motions into the bundle that the command line is built with.
pub fn embed() -> Result<(), String> {
    const BUNDLE: &str = "library/embedded.kumite";
    // The build needs a file there; baking from keys does not read it.
    let opened = std::fs::File::options().create(true).append(true).open(root().join(BUNDLE));
    opened.map_err(|e| format!("{BUNDLE}: {e}"))?;
    run(&["cargo", "build", "--quiet", "--release"], &[])?;
    run(&[&kumite(), "bake", "embedded", "-o", BUNDLE], &[])
}

/// Runs benches beside peers.
pub fn bench(names: &[String]) -> Result<(), String> {
    let mocap = captures::known();
    let mut words = vec!["cargo", "run", "--quiet", "--release", "-p", "kumite-bench", "--"];
    words.extend(names.iter().map(String::as_str));
    run(&words, &[("KUMITE_MOCAP", &mocap)])
}

/// Installs the packages that the tests' node scripts need, beside them.
fn node_packages() -> Result<(), String> {
    let found = output(&["git", "ls-files", "*package.json"], &[])?;
    for package in found.lines() {
        let folder = Path::new(package).parent().unwrap_or(Path::new("."));
        run(
            &["npm", "install", "--silent", "--no-audit", "--no-fund", "--prefix", &folder.display().to_string()],
            &[],
        )?;
    }
    Ok(())
}

/// Checks that the engine crates compile for wasm and give the same bits there.
fn wasm() -> Result<(), String> {
    const ENGINE: [&str; 9] = ["motion", "formats", "keying", "plan", "react", "bake", "asset", "stage", "picture"];
    const TARGET: &str = "wasm32-unknown-unknown";
    if let Err(why) = output(&["rustup", "target", "add", TARGET], &[]) {
        println!(
            "skipped: the standard library for {TARGET} cannot be had here ({})",
            why.lines().next().unwrap_or_default()
        );
        return Ok(());
    }
    let packages: Vec<String> = ENGINE.iter().map(|name| format!("-pkumite-{name}")).collect();
    let mut words = vec!["cargo", "check", "--quiet", "--target", TARGET];
    words.extend(packages.iter().map(String::as_str));
    run(&words, &[])?;
    // And give the same bits there.
    let native = golden::engine_hashes()?;
    let build =
        ["cargo", "build", "--quiet", "--release", "--target", TARGET, "-p", "kumite-stage", "--example", "hash"];
    run(&build, &[])?;
    let module = target().join(TARGET).join("release/examples/hash.wasm").display().to_string();
    let wasm = output(&["node", "crates/stage/tests/js/hash.mjs", &module], &[])?;
    let wasm = golden::hash_lines(&wasm);
    if native.is_empty() || native != wasm {
        return Err(format!("natively {native:?}, in wasm {wasm:?}"));
    }
    println!("the same natively and in wasm: {}", native.join(", "));
    golden::engine(&native)
}

/// Opens and uses replays in headless Chromium.
fn browser() -> Result<(), String> {
    if output(&["which", "chromium"], &[]).is_err() {
        // If it cannot be installed, the step fails.
        let _ = output(&["apt-get", "update"], &[]);
        output(&["apt-get", "install", "-y", "--no-install-recommends", "chromium"], &[])?;
    }
    let replay = |name: &str| target().join(format!("readme/{name}.html")).display().to_string();
    run(&[&kumite(), "convert", "embedded:jab", &replay("jab")], &[])?;
    // Several characters, balls, obstacles and markers.
    run(&[&kumite(), "play", "one-world", "-q", "-o", &replay("one-world")], &[])?;
    ["jab", "one-world"]
        .iter()
        .try_for_each(|name| run(&["node", "crates/picture/tests/js/replay.mjs", &replay(name)], &[]))
}

/// Documents whose `console` blocks must run as they stand, each in an empty folder.
const GUIDES: [&str; 4] = ["README.md", "docs/own-clips.md", "docs/first-fight.md", "docs/own-character.md"];

/// Runs every command of the guides.
fn guides() -> Result<(), String> {
    let _ = std::fs::remove_dir_all(target().join("readme"));
    GUIDES.iter().try_for_each(|guide| follow(guide))
}

fn follow(guide: &str) -> Result<(), String> {
    let text = std::fs::read_to_string(root().join(guide)).map_err(|e| format!("{guide}: {e}"))?;
    let name = if guide == "README.md" { "readme".to_owned() } else { guide.replace(['/', '.'], "-") };
    let folder = target().join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let kumite = kumite();
    let blocks = text.split("```console\n").skip(1).filter_map(|b| b.split("```").next());
    let mut count = 0;
    for line in blocks.flat_map(str::lines).filter_map(|l| l.strip_prefix("$ ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (program, words) = match &words[..] {
            ["kumite", rest @ ..] => (kumite.as_str(), rest),
            ["mkdir", rest @ ..] => ("mkdir", rest),
            _ => continue,
        };
        println!("{line}");
        let status =
            Command::new(program).args(words).current_dir(&folder).stdout(std::process::Stdio::null()).status();
        match status {
            Ok(status) if status.success() => count += 1,
            other => return Err(format!("{guide}: `{line}` ended with {other:?}")),
        }
    }
    println!("{count} commands of {guide} ran");
    if count == 0 { Err(format!("{guide} shows no commands")) } else { Ok(()) }
}
