//! Runs peers that are Python packages, each in a virtual environment of its own, which is created if missing.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// Runs `crates/bench/peers/<script>` with some words, and reads the JSON object that it prints.
pub(crate) fn python(package: &str, script: &str, words: &[&str]) -> Result<Value, String> {
    let folder = folder(package);
    let python = folder.join("bin/python");
    if run(&python, &["-c", &format!("import {package}")]).is_err() {
        run(&PathBuf::from("python3"), &["-m", "venv", &folder.to_string_lossy()])?;
        run(&python, &["-m", "pip", "install", "--quiet", package])?;
    }
    let script = format!("{}/peers/{script}", env!("CARGO_MANIFEST_DIR"));
    let all: Vec<&str> = [script.as_str()].into_iter().chain(words.iter().copied()).collect();
    serde_json::from_slice(&run(&python, &all)?).map_err(|e| e.to_string())
}

/// Where a peer lives, and files for it.
pub(crate) fn folder(package: &str) -> PathBuf {
    std::env::temp_dir().join(format!("kumite-bench-{package}"))
}

fn run(program: &PathBuf, words: &[&str]) -> Result<Vec<u8>, String> {
    let out = Command::new(program)
        .args(words)
        .env("OPENBLAS_NUM_THREADS", "1")
        .env("OMP_NUM_THREADS", "1")
        .env("MKL_NUM_THREADS", "1")
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let said = String::from_utf8_lossy(&out.stderr).trim().to_owned();
    if out.status.success() { Ok(out.stdout) } else { Err(said) }
}
