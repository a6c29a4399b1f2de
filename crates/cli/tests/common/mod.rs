//! Runs the command in folders of their own.

#![allow(dead_code, reason = "each file of tests uses its own part")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) const BVH: &str = "HIERARCHY\nROOT Hips\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n \
 JOINT LeftLeg\n {\n  OFFSET 0.1 -0.4 0\n  CHANNELS 3 Zrotation Xrotation Yrotation\n  End Site\n  {\n   OFFSET 0 -0.4 0\n  }\n }\n \
 JOINT RightLeg\n {\n  OFFSET -0.1 -0.4 0\n  CHANNELS 3 Zrotation Xrotation Yrotation\n  End Site\n  {\n   OFFSET 0 -0.4 0\n  }\n }\n}\n\
MOTION\nFrames: 3\nFrame Time: 0.05\n0 0.9 0 0 0 0 0 10 0 0 20 0\n0 0.9 0.1 0 0 0 0 20 0 0 10 0\n0 0.9 0.2 0 0 0 0 30 0 0 0 0\n";

/// An empty folder for one test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).unwrap();
    path
}

pub(crate) fn kumite(folder: &Path, words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kumite")).args(words).current_dir(folder).output().unwrap()
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stdout)))
}

/// Expects exit code 2, one message, nothing on standard output except requested JSON, and no files left behind.
#[track_caller]
pub(crate) fn refused(folder: &Path, words: &[&str], fragment: &str) -> Value {
    let before = std::fs::read_dir(folder).unwrap().count();
    let plain = kumite(folder, words);
    let message = String::from_utf8_lossy(&plain.stderr).into_owned();
    assert_eq!(plain.status.code(), Some(2), "{message}");
    assert!(plain.stdout.is_empty());
    assert!(message.contains(fragment), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    let report = kumite(folder, &[words, &["--json"]].concat());
    assert_eq!(report.status.code(), Some(2));
    let error = json(&report)["error"].clone();
    assert!(error["message"].is_string(), "{error}");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), before, "something was left behind");
    error
}
