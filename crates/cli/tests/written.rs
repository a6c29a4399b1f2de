//! Every kind of `.glb` that commands write, read by the Khronos validator and three.js under node.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;

use common::{folder, kumite};
use serde_json::Value;

/// The script with its packages installed, or `None` where there is no node.
fn checker() -> Option<PathBuf> {
    if Command::new("node").arg("--version").output().is_err() {
        kumite_captures::skipped("validator of what commands write; node is absent");
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../formats/tests/js");
    if !folder.join("node_modules/gltf-validator").is_dir() || !folder.join("node_modules/three").is_dir() {
        let install = ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"];
        let done = Command::new("npm").args(install).current_dir(&folder).output().unwrap();
        assert!(done.status.success(), "npm install: {}", String::from_utf8_lossy(&done.stderr));
    }
    Some(folder.join("check.mjs"))
}

const SCENE: &str = "seconds = 2\n[[character]]\nname = \"Ana\"\nat = [0, 0]\n[[character]]\nname = \"Bo Li\"\nat = [2, 0]\ngoal = { at = [2, 5] }\n\
                     [[character]]\nname = \"Cy\"\nat = [5, 0]\n[[throw]]\ntime = 0.2\nat = \"Ana\"\ntarget = \"head\"\nfrom = [0, 1.6, 6]\nspeed = 12\n\
                     [[obstacle]]\nbox = { size = [0.4, 0.8, 0.4], at = [3, 0.4, 2], yaw = 30 }\n[[obstacle]]\ncylinder = { radius = 0.15, height = 2, at = [4, 1, 2] }\n\
                     [[obstacle]]\ncapsule = { radius = 0.1, height = 1.5, at = [1, 0.1, 4], roll = 90 }\n[[obstacle]]\nsphere = { radius = 0.3, at = [4.6, 0.3, 0] }\n";

/// What is asked for, and the animation tracks that the first animation must have at least: 24 for each body of ours, 2 for each ball.
const WRITTEN: &[(&[&str], &str, u64)] = &[
    (&["convert", "embedded:jab"], "convert.glb", 24),
    (&["convert", "embedded:jab", "embedded:duck"], "two-motions.glb", 24),
    (&["convert", "embedded:walk", "--in-place", "--loop"], "loop.glb", 24),
    (&["convert", "embedded:walk", "--canonical", "--mirror", "--home", "--fps", "30"], "canonical.glb", 24),
    (&["convert", "embedded:jab", "--for", "blender"], "blender.glb", 24),
    (&["convert", "embedded:jab", "--for", "unreal"], "unreal.glb", 24),
    (&["convert", "embedded:jab", "--for", "unity"], "unity.glb", 24),
    (&["convert", "embedded:jab", "--rig", "hero.glb"], "rig.glb", 22),
    (&["convert", "embedded:walk", "--rig", "hero.glb", "--in-place", "--loop"], "rig-loop.glb", 22),
    (&["dodge", "-o"], "dodge.glb", 26),
    (&["dodge", "--rig", "hero.glb", "-o"], "dodge-rig.glb", 24),
    (&["dodge", "--lead", "0.2", "--for", "unreal", "-o"], "hit.glb", 26),
    (&["brace", "-o"], "brace.glb", 26),
    (&["brace", "--rig", "hero.glb", "-o"], "brace-rig.glb", 24),
    (&["walk", "--scene", "two-corner", "-o"], "walk.glb", 24),
    (&["walk", "--scene", "low-bar", "--rig", "hero.glb", "-o"], "walk-rig.glb", 22),
    (&["play", "scene.toml", "-o"], "play.glb", 3 * 24 + 2),
    (&["play", "scene.toml", "--rig", "Ana=hero.glb", "--rig", "Bo Li=hero.glb", "-o"], "rigs.glb", 24 + 2),
    (&["play", "scene.toml", "--rig", "hero.glb", "-o"], "all.glb", 2),
    (&["spar", "--seconds", "2", "-o"], "spar.glb", 48),
];

#[test]
fn whatever_is_written_is_without_errors_and_warnings() {
    let Some(script) = checker() else { return };
    let folder = folder("written");
    std::fs::write(folder.join("scene.toml"), SCENE).unwrap();
    assert!(kumite(&folder, &["convert", "embedded:stand-idle", "hero.glb"]).status.success());
    for (words, file, _) in WRITTEN {
        let out = kumite(&folder, &[words, &[*file][..]].concat());
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
    }
    let mut files: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".glb"))
        .collect();
    files.sort();
    // The character of the user, two on rigs of their own and then three, each in a file.
    assert_eq!(files.len(), WRITTEN.len() + 1 + 2 + 3, "{files:?}");
    let seen = Command::new("node").arg(&script).args(&files).current_dir(&folder).output().unwrap();
    assert!(seen.status.success(), "{}", String::from_utf8_lossy(&seen.stderr));
    let seen: Vec<Value> =
        String::from_utf8(seen.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(seen.len(), files.len());
    for (file, seen) in files.iter().zip(&seen) {
        let found = (seen["errors"].as_u64(), seen["warnings"].as_u64());
        assert_eq!(found, (Some(0), Some(0)), "{file}: {}", seen["messages"]);
        let least = WRITTEN.iter().find(|w| w.1 == file).map_or(22, |w| w.2);
        let tracks = seen["animations"][0]["tracks"].as_u64();
        assert!(tracks.is_some_and(|tracks| tracks >= least), "{file}: {tracks:?} of {least} tracks");
    }
}
