//! Clips written to glTF and read back, and features of the format that other programs use.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod common;

use std::sync::Arc;

use glam::{Quat, Vec3};
use kumite_formats::gltf::{self, GltfCharacter, GltfFile, GltfMarker, Rig};
use kumite_formats::{Warning, bvh};
use kumite_motion::{Clip, FrameIdx, Joint, Pose, Skeleton, fk::Tracks, humanoid, rotation};
use serde_json::{Value, json};

fn read(bytes: &[u8]) -> (GltfFile, Vec<Warning>) {
    gltf::read(bytes, |name| Err(format!("{name} was asked for"))).unwrap_or_else(|e| panic!("{e}"))
}

fn clips(bytes: &[u8]) -> Vec<Clip> {
    let (clips, warnings) = read(bytes).0.to_clips().unwrap();
    assert_eq!(warnings, []);
    clips
}

/// Largest distance between joints of the same name.
fn apart(a: &Clip, b: &Clip) -> f32 {
    assert_eq!(a.frames(), b.frames());
    assert!((a.fps() - b.fps()).abs() < 1e-4 * a.fps() || a.frames() == 1, "{} {}", a.fps(), b.fps());
    let (at, bt) = (Tracks::of(a), Tracks::of(b));
    let mut worst = 0.0_f32;
    let mut seen = std::collections::HashMap::new();
    for joint in a.skeleton().joints() {
        // Repeated names come in the same order.
        let name = a.skeleton().name(joint);
        let nth = seen.entry(name).and_modify(|n| *n += 1).or_insert(0);
        let same = b.skeleton().joints().filter(|&j| b.skeleton().name(j) == name).nth(*nth).unwrap();
        for frame in (0..a.frames() as u32).map(FrameIdx) {
            worst = worst.max((at.get(frame, joint) - bt.get(frame, same)).length());
        }
    }
    worst
}

fn character<'a>(name: &'a str, clip: &'a Clip) -> GltfCharacter<'a> {
    GltfCharacter { name, clip, colour: GltfCharacter::COLOURS[0] }
}

/// A person who walks a curve, turns and bends.
fn dance(name: &str, frames: usize, fps: f32) -> Clip {
    Clip::from_fn(name, Arc::new(humanoid::skeleton()), fps, frames, |frame, pose: &mut Pose| {
        let t = frame as f32 / fps;
        pose.set_root(Vec3::new(libm::sinf(t), 0.95 + 0.05 * libm::sinf(7.0 * t), 1.5 * t));
        pose.rotations[0] = rotation::yaw(3.0 * t) * rotation::about(Vec3::X, 0.4 * libm::sinf(2.0 * t));
        for (j, q) in pose.rotations.iter_mut().enumerate().skip(1) {
            *q = rotation::from_vector(Vec3::new(0.3, 0.1, -0.2) * libm::sinf(t * (1.0 + j as f32)));
        }
    })
    .unwrap()
}

#[test]
fn captures_come_back_from_glb_to_a_tenth_of_a_millimetre() {
    let files = common::captures("bvh");
    let (mut worst, mut tried) = (0.0_f32, 0);
    for path in files.iter().filter(|p| p.metadata().is_ok_and(|m| m.len() < 2_000_000)) {
        let clip = bvh::read(&std::fs::read(path).unwrap()).unwrap().0.to_clip("take").unwrap();
        let back = clips(&gltf::write_glb("take", &[character("A", &clip)], &[]));
        assert_eq!(back.len(), 1);
        // As if every capture were of a person 1.7 m tall, whatever its unit.
        let tracks = Tracks::of(&clip);
        let size = clip.skeleton().joints().map(|j| tracks.get(FrameIdx(0), j).distance(clip.root(FrameIdx(0))));
        let unit = 1.0 / size.fold(1e-3, f32::max);
        let gap = apart(&clip, &back[0]) * unit;
        assert!(gap < 1e-4, "{}: {gap}", path.display());
        worst = worst.max(gap);
        tried += 1;
    }
    println!("{tried} captures through .glb and back: at most {:.4} mm", worst * 1e3);
}

#[test]
fn a_take_of_two_comes_back_as_two_clips_with_their_root_bones() {
    let (ana, bo) = (dance("ana", 90, 60.0), dance("bo", 45, 30.0));
    let markers = [GltfMarker { seconds: 0.5, name: "hit".to_owned(), actor: Some("Ana".to_owned()) }];
    let bytes = gltf::write_glb("bout", &[character("Ana", &ana), character("Bo", &bo)], &markers);
    assert_eq!(bytes, gltf::write_glb("bout", &[character("Ana", &ana), character("Bo", &bo)], &markers));
    let back = clips(&bytes);
    assert_eq!(back.iter().map(|c| &*c.name).collect::<Vec<_>>(), ["Ana bout", "Bo bout"]);
    assert!(apart(&ana, &back[0]) < 1e-5 && apart(&bo, &back[1]) < 1e-5);
    let folded = gltf::without_root_bone(&back[0]).unwrap();
    assert_eq!(folded.skeleton(), ana.skeleton());
    assert!(apart(&ana, &folded) < 1e-5);
    assert!(gltf::without_root_bone(&folded).is_none());
    for clip in &back {
        let skeleton = clip.skeleton();
        assert_eq!((skeleton.len(), skeleton.name(kumite_motion::JointIdx::ROOT)), (22, "root"));
        for frame in (0..clip.frames() as u32).map(FrameIdx) {
            assert!(clip.root(frame).y.abs() < 1e-6);
            assert!((clip.rotation(frame, kumite_motion::JointIdx::ROOT) * Vec3::Y).distance(Vec3::Y) < 1e-5);
        }
        let head = skeleton.find("head").unwrap();
        assert_eq!(skeleton.tip(head), ana.skeleton().tip(humanoid::Role::Head.joint()));
    }
    let text = String::from_utf8_lossy(&bytes);
    assert_eq!(text.matches(r#""markers":[{"seconds":0.5,"name":"hit","actor":"Ana"}]"#).count(), 2);
}

/// A document with these members and one data buffer of floats and bytes.
fn document(mut members: Value, data: &[u8]) -> Vec<u8> {
    members["asset"] = json!({"version": "2.0"});
    members["buffers"] =
        json!([{"byteLength": data.len(), "uri": format!("data:application/octet-stream;base64,{}", base64(data))}]);
    members.to_string().into_bytes()
}

fn base64(data: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    data.chunks(3)
        .flat_map(|c| {
            let bits = (u32::from(c[0]) << 16)
                | (u32::from(*c.get(1).unwrap_or(&0)) << 8)
                | u32::from(*c.get(2).unwrap_or(&0));
            (0..4).map(move |i| if i <= c.len() { DIGITS[(bits >> (18 - 6 * i) & 63) as usize] as char } else { '=' })
        })
        .collect()
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// One node that moves along x as the sampler says.
fn mover(interpolation: &str, times: &[f32], places: &[[f32; 3]]) -> Vec<u8> {
    let mut data = floats(times);
    let split = data.len();
    data.extend(floats(places.as_flattened()));
    document(
        json!({
            "nodes": [{"name": "top", "children": [1]}, {"name": "ball"}],
            "animations": [{"channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
                "samplers": [{"input": 0, "output": 1, "interpolation": interpolation}]}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": times.len(), "type": "SCALAR"},
                {"bufferView": 1, "componentType": 5126, "count": places.len(), "type": "VEC3"}],
            "bufferViews": [{"buffer": 0, "byteLength": split},
                {"buffer": 0, "byteOffset": split, "byteLength": data.len() - split}],
        }),
        &data,
    )
}

#[test]
fn every_interpolation_means_what_the_format_says() {
    let x = |clip: &Clip| (0..clip.frames() as u32).map(|f| clip.root(FrameIdx(f)).x).collect::<Vec<_>>();
    let at = |clip: &Clip, seconds: f32| x(clip)[(seconds * clip.fps()).round() as usize];
    let keys = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [3.0, 0.0, 0.0]];

    let linear = clips(&mover("LINEAR", &[0.0, 0.5, 1.0], &keys)).remove(0);
    assert_eq!((linear.fps(), linear.frames()), (24.0, 25));
    assert!((at(&linear, 0.25) - 0.5).abs() < 1e-6 && (at(&linear, 0.75) - 2.0).abs() < 1e-6);

    let step = clips(&mover("STEP", &[0.0, 0.5, 1.0], &keys)).remove(0);
    assert_eq!((at(&step, 0.25), at(&step, 0.5), at(&step, 0.75), at(&step, 1.0)), (0.0, 1.0, 1.0, 3.0));

    // In-tangent, value, out-tangent: a parabola x = t² has slopes 0 and 2.
    let spline = [[0.0; 3], [0.0; 3], [0.0; 3], [2.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]];
    let spline = clips(&mover("CUBICSPLINE", &[0.0, 1.0], &spline)).remove(0);
    for frame in 0..spline.frames() {
        let t = frame as f32 / spline.fps();
        assert!((spline.root(FrameIdx(frame as u32)).x - t * t).abs() < 1e-6, "{t}");
    }
}

#[test]
fn rates_are_found_from_the_keys() {
    for fps in [24.0, 25.0, 29.97, 30.0, 50.0, 60.0, 75.0, 100.0, 120.0, 240.0_f64] {
        let times: Vec<f32> = (0..200).map(|i| (i as f64 / fps) as f32).collect();
        let places: Vec<[f32; 3]> = (0..200).map(|i| [i as f32, 0.0, 0.0]).collect();
        let clip = clips(&mover("LINEAR", &times, &places)).remove(0);
        assert!((f64::from(clip.fps()) - fps).abs() < 0.001, "{fps}: {}", clip.fps());
        assert_eq!(clip.frames(), 200, "{fps}");
        assert_eq!(clip.root(FrameIdx(150)).x, 150.0);
    }
    // Animations that start late, as Blender writes them, and keys at irregular times, which get a warning.
    let late = clips(&mover("LINEAR", &[0.5, 0.75, 1.0], &[[0.0; 3], [1.0; 3], [2.0; 3]])).remove(0);
    assert_eq!((late.frames(), late.root(FrameIdx(0)).x), (13, 0.0));
    let odd = mover("LINEAR", &[0.0, 0.1234, 1.0], &[[0.0; 3], [1.0; 3], [2.0; 3]]);
    let (odd, warnings) = read(&odd).0.to_clips().unwrap();
    assert_eq!((odd[0].fps(), warnings.len()), (60.0, 1), "{warnings:?}");
}

#[test]
fn sparse_and_normalised_numbers_are_decoded() {
    // Times as floats; rotations as signed bytes; translations all zero but for a sparse one.
    let mut data = floats(&[0.0, 0.5, 1.0]);
    data.extend([0, 0, 0, 127, 0, 127, 0, 0, 0, 90, 0, 90].map(|v: i8| v as u8));
    data.extend([1, 0, 0, 0]);
    data.extend(floats(&[4.0, 5.0, 6.0]));
    let bytes = document(
        json!({
            "nodes": [{"name": "a"}],
            "skins": [{"joints": [0]}],
            "animations": [{"channels": [
                    {"sampler": 0, "target": {"node": 0, "path": "translation"}},
                    {"sampler": 1, "target": {"node": 0, "path": "rotation"}},
                    {"sampler": 1, "target": {"path": "rotation"}}],
                "samplers": [{"input": 0, "output": 1}, {"input": 0, "output": 2}]}],
            "accessors": [
                {"bufferView": 0, "componentType": 5126, "count": 3, "type": "SCALAR"},
                {"componentType": 5126, "count": 3, "type": "VEC3", "sparse": {"count": 1,
                    "indices": {"bufferView": 2, "componentType": 5123}, "values": {"bufferView": 3}}},
                {"bufferView": 1, "componentType": 5120, "normalized": true, "count": 3, "type": "VEC4"}],
            "bufferViews": [{"buffer": 0, "byteLength": 12}, {"buffer": 0, "byteOffset": 12, "byteLength": 12},
                {"buffer": 0, "byteOffset": 24, "byteLength": 4}, {"buffer": 0, "byteOffset": 28, "byteLength": 12}],
        }),
        &data,
    );
    let clip = clips(&bytes).remove(0);
    assert_eq!((clip.root(FrameIdx(0)), clip.root(FrameIdx(12))), (Vec3::ZERO, Vec3::new(4.0, 5.0, 6.0)));
    let half_turn = Quat::from_xyzw(0.0, 1.0, 0.0, 0.0);
    assert!(rotation::between(clip.rotation(FrameIdx(12), kumite_motion::JointIdx::ROOT), half_turn) < 1e-5);
}

/// As exporters write it: centimetres and Z up, below a node that scales and turns.
fn armature(extra: Value) -> Vec<u8> {
    let mut data = floats(&[0.0, 1.0]);
    data.extend(floats(&[0.0, 0.0, 100.0, 0.0, -50.0, 100.0]));
    let mut members = json!({
        "scenes": [{"nodes": [0]}],
        "nodes": [
            {"name": "Armature", "scale": [0.01, 0.01, 0.01], "rotation": [-(0.5_f32.sqrt()), 0.0, 0.0, 0.5_f32.sqrt()],
                "translation": [1.0, 0.0, 0.0], "children": [3, 1]},
            {"name": "hips", "translation": [0.0, 0.0, 100.0], "children": [2]},
            {"name": "head", "translation": [0.0, 0.0, 70.0], "scale": [2.0, 2.0, 2.0], "children": [4]},
            {"name": "skin", "mesh": 0, "skin": 0},
            {"name": "hat", "translation": [0.0, 0.0, 10.0]}],
        "skins": [{"joints": [4, 2, 1]}],
        "animations": [{"name": "walk", "channels": [{"sampler": 0, "target": {"node": 1, "path": "translation"}}],
            "samplers": [{"input": 0, "output": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0.0], "max": [1.0]},
            {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC3"}],
        "bufferViews": [{"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 24}],
    });
    for (key, value) in extra.as_object().unwrap() {
        members[key] = value.clone();
    }
    document(members, &data)
}

#[test]
fn what_is_above_a_skeleton_is_baked_into_it() {
    let clip = clips(&armature(json!({}))).remove(0);
    let tracks = Tracks::of(&clip);
    let place = |frame: u32, name: &str| tracks.get(FrameIdx(frame), clip.skeleton().find(name).unwrap());
    assert_eq!(clip.name, "walk");
    for (frame, name, expected) in [
        (0, "hips", [1.0, 1.0, 0.0]),
        (0, "head", [1.0, 1.7, 0.0]),
        (0, "hat", [1.0, 1.9, 0.0]),
        (24, "hips", [1.0, 1.0, 0.5]),
        (24, "hat", [1.0, 1.9, 0.5]),
    ] {
        let gap = place(frame, name).distance(Vec3::from_array(expected));
        assert!(gap < 1e-5, "{frame} {name}: {}", place(frame, name));
    }
    assert_eq!(clip.skeleton().movers().len(), 1, "only the hips");
}

#[test]
fn uneven_scale_gets_a_warning_and_mirrors_are_refused() {
    let nodes = |scale: [f32; 3]| {
        json!({"nodes": [{"name": "top", "scale": scale, "children": [1]}, {"name": "hips", "children": [2]},
            {"name": "head", "translation": [0.0, 1.0, 0.0], "children": [3, 4]}, {}, {}],
            "skins": [{"joints": [1, 2]}]})
    };
    let (_, warnings) = read(&armature(nodes([1.0, 1.0, 2.0]))).0.to_clips().unwrap();
    assert!(warnings[0].text.contains("1 x 1 x 2"), "{warnings:?}");
    let error = read(&armature(nodes([1.0, 1.0, -1.0]))).0.to_clips().unwrap_err();
    assert!(error.to_string().contains("cannot be mirrored"), "{error}");
}

#[test]
fn a_rig_keeps_all_but_its_animations() {
    let old = dance("old", 30, 30.0);
    let bytes = gltf::write_glb("old", &[character("Rig", &old)], &[]);
    let (rig, warnings) = Rig::new(read(&bytes).0).unwrap();
    assert_eq!(warnings, []);
    let moved = Clip::from_fn("new", Arc::clone(rig.skeleton()), 60.0, 50, |frame, pose: &mut Pose| {
        let t = frame as f32 / 60.0;
        pose.set_root(Vec3::new(t, 0.0, 0.0));
        for q in &mut pose.rotations {
            *q = rotation::about(Vec3::new(0.6, 0.0, 0.8), t);
        }
    })
    .unwrap();
    let mut other = moved.clone();
    other.name = "other".to_owned();
    let written = rig.write(&[&moved, &other]).unwrap();
    let back = clips(&written);
    assert_eq!(back.iter().map(|c| &*c.name).collect::<Vec<_>>(), ["new", "other"]);
    assert!(apart(&moved, &back[0]) < 1e-5);
    let parts = |bytes: &[u8]| {
        let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
        let json: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
        (json, bytes[20 + length + 8..].to_vec())
    };
    let ((before, data), (after, more)) = (parts(&bytes), parts(&written));
    for kept in ["asset", "scenes", "scene", "nodes", "meshes", "materials", "skins"] {
        assert_eq!(before[kept], after[kept], "{kept}");
    }
    assert!(more.starts_with(&data));
    let error = rig.write(&[&old]).unwrap_err();
    assert_eq!(error.to_string(), "expected a clip on the skeleton of the rig, found 21 joints, not 22");
}

#[test]
fn a_rig_of_several_buffers_and_matrices_in_centimetres_can_be_animated() {
    let bytes = armature(json!({
        "nodes": [
            {"name": "Armature", "children": [3, 1],
                "matrix": [0.01, 0, 0, 0, 0, 0, -0.01, 0, 0, 0.01, 0, 0, 1, 0, 0, 1]},
            {"name": "hips", "matrix": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 100, 1], "children": [2],
                "extras": {"mine": [1, "two"]}},
            {"name": "head", "translation": [0.0, 0.0, 70.0], "children": [4]},
            {"name": "skin", "mesh": 0, "skin": 0},
            {"name": "hat", "translation": [0.0, 0.0, 10.0]}],
    }));
    // A second buffer in another file, with a view on it.
    let mut members: Value = serde_json::from_slice(&bytes).unwrap();
    members["buffers"].as_array_mut().unwrap().push(json!({"byteLength": 5, "uri": "my%20data.bin"}));
    members["bufferViews"]
        .as_array_mut()
        .unwrap()
        .push(json!({"buffer": 1, "byteOffset": 1, "byteLength": 4, "name": "mine"}));
    let mut asked = Vec::new();
    let (file, _) = gltf::read(members.to_string().as_bytes(), |name| {
        asked.push(name.to_owned());
        Ok(b"12345".to_vec())
    })
    .unwrap();
    assert_eq!(asked, ["my data.bin"]);
    let (rig, _) = Rig::new(file).unwrap();
    let clip = Clip::from_fn("wave", Arc::clone(rig.skeleton()), 30.0, 7, |frame, pose: &mut Pose| {
        pose.set_root(Vec3::new(0.1 * frame as f32, 1.0, 0.3));
        pose.rotations[0] = rotation::yaw(0.2 * frame as f32);
        pose.rotations[1] = rotation::about(Vec3::X, 0.1 * frame as f32);
    })
    .unwrap();
    let written = rig.write(&[&clip]).unwrap();
    let back = clips(&written);
    assert!(apart(&clip, &back[0]) < 1e-5, "{}", apart(&clip, &back[0]));
    let text = String::from_utf8_lossy(&written);
    assert!(text.contains(r#""extras":{"mine":[1,"two"]}"#));
    assert!(text.contains(r#"{"buffer":0,"byteOffset":33,"byteLength":4,"name":"mine"}"#), "{text}");
    assert!(!text.contains("walk"));
}

#[test]
fn images_in_other_files_can_be_taken_into_a_rig() {
    let images = json!([{"uri": "skin%20tone.png", "name": "skin"}, {"uri": "gone.png"}, {"uri": "../out.png"},
        {"uri": "odd.bmp"}, {"bufferView": 0, "mimeType": "image/png"}]);
    let (file, warnings) = read(&armature(json!({"images": images})));
    assert_eq!(warnings[0].text, "4 images are in other files; they were not looked at");
    let (mut rig, _) = Rig::new(file).unwrap();
    let png = b"\x89PNG and so on".to_vec();
    let left = rig.embed_images(|name| match name {
        "skin tone.png" => Ok(png.clone()),
        "odd.bmp" => Ok(b"BM".to_vec()),
        "gone.png" => Err("not found".to_owned()),
        other => panic!("{other} was asked for"),
    });
    let left: Vec<String> = left.unwrap().into_iter().map(|w| w.text).collect();
    assert_eq!(left.len(), 3);
    assert_eq!(left[0], "image \"gone.png\" stays outside the file: \"gone.png\": not found");
    let written = rig.write(&[]).unwrap();
    let text = String::from_utf8_lossy(&written);
    assert!(text.contains(r#"[{"name":"skin","bufferView":2,"mimeType":"image/png"},{"uri":"gone.png"}"#), "{text}");
    assert!(written.windows(png.len()).any(|w| w == png));
    assert!(read(&written).0.animations.is_empty());
}

#[test]
fn hair_that_hangs_on_a_head_is_part_of_its_character_and_a_second_person_is_not() {
    let node = |name: &str, child: Option<usize>| match child {
        Some(child) => json!({"name": name, "children": [child]}),
        None => json!({"name": name}),
    };
    let nodes = [("A", Some(1)), ("hips", Some(2)), ("head", Some(3)), ("hair", Some(4)), ("curl", None)];
    let others = [("B", Some(6)), ("hips", Some(7)), ("head", None), ("lamp", None)];
    let nodes: Vec<Value> = nodes.into_iter().chain(others).map(|(name, child)| node(name, child)).collect();
    let skins = json!([{"joints": [1, 2]}, {"joints": [3, 4]}, {"joints": [6, 7]}]);
    let bytes = armature(json!({"nodes": nodes, "skins": skins}));
    let (skeletons, _) = read(&bytes).0.skeletons().unwrap();
    let all: Vec<(&str, usize)> = skeletons.iter().map(|c| (&*c.name, c.skeleton().len())).collect();
    assert_eq!(all, [("A", 4), ("B", 2)]);
}

#[test]
fn rest_rotations_and_moving_joints_come_back() {
    let joint = |name: &str, parent: Option<u16>, moves: bool| Joint {
        name: name.to_owned(),
        parent: parent.map(kumite_motion::JointIdx),
        offset: Vec3::new(0.1, 0.4, -0.2),
        rest: rotation::about(Vec3::new(0.0, 0.6, 0.8), 1.0),
        tip: None,
        moves,
    };
    let joints =
        [joint("root", None, true), joint("a", Some(0), true), joint("b", Some(1), false), joint("c", Some(0), false)];
    let clip = Clip::from_fn("slide", Arc::new(Skeleton::new(&joints).unwrap()), 50.0, 20, |frame, pose: &mut Pose| {
        let t = frame as f32 * 0.02;
        pose.translations[0] = Vec3::new(t, 1.0 + t, -t);
        pose.translations[1] = Vec3::new(0.1, 0.4 + t, 0.0);
        pose.rotations[2] = rotation::about(Vec3::Y, t) * joints[2].rest;
    })
    .unwrap();
    let back = clips(&gltf::write_glb("slide", &[character("A", &clip)], &[])).remove(0);
    assert_eq!(back.skeleton().name(kumite_motion::JointIdx::ROOT), "root_motion");
    assert!(apart(&clip, &back) < 1e-5);
    for j in clip.skeleton().joints().skip(1) {
        let same = back.skeleton().find(clip.skeleton().name(j)).unwrap();
        assert!(rotation::between(clip.skeleton().rest(j), back.skeleton().rest(same)) < 1e-5);
    }
}
