//! Files that we write, read by the Khronos validator and three.js under node.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use glam::Vec3;
use kumite_formats::bvh;
use kumite_formats::gltf::{self, GltfCharacter, GltfMarker, GltfProp, Rig};
use kumite_motion::volume::Shape;
use kumite_motion::{Clip, FrameIdx, Pose, fk::Tracks, humanoid, rotation};
use serde_json::Value;

/// The folder of the script with its packages installed, or `None` where there is no node.
fn tools() -> Option<PathBuf> {
    if Command::new("node").arg("--version").output().is_err() {
        kumite_captures::skipped("validator and three.js; node is absent");
        return None;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/js");
    if !folder.join("node_modules/three").is_dir() || !folder.join("node_modules/gltf-validator").is_dir() {
        let install = ["install", "--silent", "--no-audit", "--no-fund", "--no-package-lock"];
        let done = Command::new("npm").args(install).current_dir(&folder).output().unwrap();
        assert!(done.status.success(), "npm install: {}", String::from_utf8_lossy(&done.stderr));
    }
    Some(folder)
}

fn inspect(folder: &Path, files: &[(&str, Vec<u8>)]) -> Vec<Value> {
    let place = std::env::temp_dir().join(format!("kumite-gltf-tools-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    let paths: Vec<PathBuf> = files.iter().map(|(name, _)| place.join(name)).collect();
    for (path, (_, bytes)) in paths.iter().zip(files) {
        std::fs::write(path, bytes).unwrap();
    }
    let seen = Command::new("node").arg("check.mjs").args(&paths).current_dir(folder).output().unwrap();
    assert!(seen.status.success(), "{}", String::from_utf8_lossy(&seen.stderr));
    std::fs::remove_dir_all(&place).unwrap();
    String::from_utf8(seen.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn stroll(frames: usize) -> Clip {
    Clip::from_fn("stroll", Arc::new(humanoid::skeleton()), 30.0, frames, |frame, pose: &mut Pose| {
        let t = frame as f32 / 30.0;
        pose.set_root(Vec3::new(t, 0.97, -t));
        for (j, q) in pose.rotations.iter_mut().enumerate() {
            *q = rotation::from_vector(Vec3::new(0.2, 0.5, 0.1) * libm::sinf(t + j as f32));
        }
    })
    .unwrap()
}

fn character<'a>(name: &'a str, clip: &'a Clip, i: usize) -> GltfCharacter<'a> {
    GltfCharacter { name, clip, colour: GltfCharacter::COLOURS[i] }
}

#[test]
fn the_validator_finds_nothing_and_three_js_plays_it() {
    let Some(folder) = tools() else { return };
    let clip = stroll(61);
    let markers = [GltfMarker { seconds: 1.0, name: "step".to_owned(), actor: None }];
    let two = gltf::write_glb("two", &[character("Ana", &clip, 0), character("Bo", &clip, 1)], &markers);
    let (file, _) =
        gltf::read(&gltf::write_glb("one", &[character("Ana", &clip, 0)], &[]), |_| Err(String::new())).unwrap();
    let again = file.to_clips().unwrap().0.remove(0);
    let (rig, _) = Rig::new(file).unwrap();
    let still = stroll(1);
    let prop = |name: &str, shape: Shape, path: &[(f32, Vec3)]| GltfProp {
        name: name.to_owned(),
        shape,
        at: Vec3::new(1.0, 0.4, 0.0),
        turn: rotation::yaw(0.3),
        path: path.to_vec(),
        colour: [0.5, 0.2, 0.1],
    };
    let props = [
        prop("box 1", Shape::Box { half: Vec3::new(0.2, 0.4, 0.1) }, &[]),
        prop("cylinder 2", Shape::Cylinder { half: 0.4, radius: 0.1 }, &[]),
        prop("capsule 3", Shape::Capsule { half: 0.4, radius: 0.1 }, &[]),
        prop("ball 1", Shape::Sphere { radius: 0.11 }, &[(0.5, Vec3::Y), (0.5, Vec3::Y), (1.0, Vec3::ONE)]),
        prop("ball 2", Shape::Sphere { radius: 0.11 }, &[(0.0, Vec3::Y), (1.5, Vec3::ONE)]),
    ];
    let mut files = vec![
        ("two.glb", two),
        ("still.glb", gltf::write_glb("still", &[character("Ana", &still, 0)], &[])),
        ("rig.glb", rig.write(&[&again]).unwrap()),
        ("none.glb", gltf::write_glb("none", &[], &[])),
        ("props.glb", gltf::write_scene("props", &[character("Ana", &clip, 0)], &props, &markers)),
        ("rig and props.glb", rig.write_scene(&[&again], &props, &markers).unwrap()),
    ];
    let ours = files.len();
    let captures = common::captures("bvh");
    let sources = ["cmu", "accad_male2", "other", "bvh"];
    let mut shapes = Vec::new();
    for source in sources {
        let of_source = |p: &&PathBuf| p.parent().is_some_and(|folder| folder.ends_with(source));
        let Some(path) = captures.iter().find(of_source) else { continue };
        let clip = bvh::read(&std::fs::read(path).unwrap()).unwrap().0.to_clip(source).unwrap();
        shapes.push((clip.skeleton().len(), clip.skeleton().movers().len()));
        files.push((source, gltf::write_glb(source, &[character("C", &clip, 2)], &[])));
    }
    let seen = inspect(&folder, &files);
    assert_eq!(seen.len(), files.len());
    for ((name, _), seen) in files.iter().zip(&seen) {
        assert_eq!(
            (seen["errors"].as_u64(), seen["warnings"].as_u64()),
            (Some(0), Some(0)),
            "{name}: {}",
            seen["messages"]
        );
    }
    // Per character: the root bone moves and turns, the pelvis moves, all 21 joints turn.
    assert_eq!((&seen[0]["bones"], &seen[0]["skinned"]), (&44.into(), &6.into()));
    assert_eq!(seen[0]["animations"][0]["tracks"], 2 * 24);
    assert!((seen[0]["animations"][0]["duration"].as_f64().unwrap() - 2.0).abs() < 1e-6);
    assert_eq!(seen[2]["animations"].as_array().unwrap().len(), 1);
    for ((joints, movers), seen) in shapes.iter().zip(&seen[ours..]) {
        assert_eq!(seen["bones"], joints + 1);
        assert_eq!(seen["animations"][0]["tracks"], 2 + movers + joints);
    }
    // Two balls move and come and go; what stands has no tracks.
    assert_eq!(seen[4]["animations"][0]["tracks"], 24 + 4);
    assert_eq!(seen[5]["animations"][0]["tracks"].as_u64(), seen[2]["animations"][0]["tracks"].as_u64().map(|n| n + 4));
    // Three.js puts the bones where we do.
    let tracks = Tracks::of(&clip);
    for (j, joint) in clip.skeleton().joints().enumerate() {
        let place = seen[0]["halfway"][j + 1].as_array().unwrap();
        let place = Vec3::from_array(std::array::from_fn(|i| place[i].as_f64().unwrap() as f32));
        assert!(place.distance(tracks.get(FrameIdx(30), joint)) < 1e-4, "{}", clip.skeleton().name(joint));
    }
}
