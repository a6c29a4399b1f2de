//! The command from the outside: exit codes, JSON, errors, files.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::{BVH, folder, json, kumite, refused};
use serde_json::Value;

#[test]
fn inspect_reports_what_a_file_holds() {
    let folder = folder("inspect");
    std::fs::write(folder.join("a.bvh"), BVH.replace("Frames: 3", "Frames: 4")).unwrap();
    let out = kumite(&folder, &["inspect", "a.bvh", "--json"]);
    assert_eq!(out.status.code(), Some(0));
    let file = &json(&out)["files"][0];
    assert_eq!(file["format"], "bvh");
    assert_eq!(
        (file["joints"].as_u64(), file["frames"].as_u64(), file["fps"].as_f64()),
        (Some(3), Some(3), Some(20.0))
    );
    assert!(file["warnings"][0].as_str().unwrap().contains('4'), "{file}");
    let text = String::from_utf8(kumite(&folder, &["inspect", "a.bvh"]).stdout).unwrap();
    assert!(text.contains("3 joints, 3 frames at 20 fps"), "{text}");
}

#[test]
fn the_embedded_library_is_listed_with_its_spans() {
    let out = kumite(&folder("embedded"), &["inspect", "embedded", "--json"]);
    let clips = json(&out)["files"][0]["clips"].clone();
    let jab = clips.as_array().unwrap().iter().find(|c| c["name"] == "jab").unwrap();
    assert_eq!(jab["spans"][0]["kind"], "attack");
    assert_eq!(jab["spans"][0]["part"], "left_wrist");
    let hands =
        |name: &str| clips.as_array().unwrap().iter().find(|c| c["name"] == name).unwrap()["spans"][0]["hands"].clone();
    assert_eq!(hands("jab"), serde_json::json!(["fist", "guard"]));
    assert_eq!(hands("cross"), serde_json::json!(["guard", "fist"]));
    assert_eq!(hands("walk"), serde_json::json!(["open", "open"]));
    assert_eq!(hands("slip-left"), serde_json::json!(["guard", "guard"]));
}

#[test]
fn convert_writes_every_format() {
    let folder = folder("convert");
    std::fs::write(folder.join("a.bvh"), BVH).unwrap();
    let starts: [(&str, &[u8]); 7] = [
        ("b.bvh", b"HIERARCHY"),
        ("a.png", b"\x89PNG"),
        ("a.svg", b"<svg"),
        ("a.gif", b"GIF89a"),
        ("a.mp4", b"ftypisom"),
        ("a.glb", b"glTF"),
        ("a.html", b"<!doctype html"),
    ];
    for (file, start) in starts {
        let out = kumite(&folder, &["convert", "a.bvh", file, "--width", "400", "--poses", "2", "--json"]);
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stdout));
        assert_eq!(json(&out)["joints"], 3);
        let bytes = std::fs::read(folder.join(file)).unwrap();
        assert!(bytes.windows(start.len()).take(200).any(|w| w == start), "{file}");
    }
    let out = kumite(&folder, &["convert", "a.bvh", "c.bvh", "--fps", "40", "--mirror", "--json"]);
    assert_eq!(json(&out)["frames"], 5);
    assert_eq!(kumite(&folder, &["convert", "embedded:cross", "settled.bvh", "--settle"]).status.code(), Some(0));
    refused(&folder, &["convert", "embedded:hit-head", "hit.bvh", "--settle"], "push from outside");
    let out = kumite(&folder, &["convert", "a.bvh", "d.bvh", "--trim", "0.05,0.1", "--json"]);
    assert_eq!(json(&out)["frames"], 2);
    let out = kumite(&folder, &["convert", "a.bvh", "embedded:jab", "sheet.png", "--width", "600", "--json"]);
    assert_eq!(json(&out)["clips"], 2);
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 12, "a temporary file was left behind");
}

#[test]
fn convert_there_and_back_is_the_same_motion() {
    let folder = folder("round-trip");
    for words in [["convert", "embedded:duck", "duck.bvh"], ["convert", "duck.bvh", "again.bvh"]] {
        assert_eq!(kumite(&folder, &words).status.code(), Some(0));
    }
    assert_eq!(std::fs::read(folder.join("duck.bvh")).unwrap(), std::fs::read(folder.join("again.bvh")).unwrap());
}

/// On a rig whose pelvis hangs below a root bone, the root takes the motion over the ground and the pelvis the rest; the skin stays.
#[test]
fn a_motion_is_put_on_a_rig() {
    let folder = folder("rig");
    assert_eq!(kumite(&folder, &["convert", "embedded:jab", "hero.glb"]).status.code(), Some(0));
    let out = kumite(&folder, &["convert", "embedded:duck", "duck.glb", "--rig", "hero.glb", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stdout));
    assert_eq!(json(&out)["joints"], 22);
    let (hero, duck) =
        (std::fs::read(folder.join("hero.glb")).unwrap(), std::fs::read(folder.join("duck.glb")).unwrap());
    assert!(duck.len() > hero.len() / 2, "the skin is gone");
    for name in ["duck.glb", "duck.bvh"] {
        if name == "duck.bvh" {
            assert_eq!(kumite(&folder, &["convert", "duck.glb", "duck.bvh"]).status.code(), Some(0));
        }
        let found = json(&kumite(&folder, &["inspect", name, "--json"]))["files"][0].clone();
        assert_eq!(found["roles"].as_object().unwrap().len(), 21, "{name}");
        assert!((found["height_m"].as_f64().unwrap() - 1.78).abs() < 0.02, "{name}: {found}");
    }
    refused(&folder, &["convert", "embedded:duck", "a.bvh", "--rig", "hero.glb"], ".glb");
    refused(&folder, &["convert", "embedded:duck", "a.glb", "--rig", "missing.glb"], "missing.glb");
    refused(&folder, &["convert", "embedded:duck", "a.glb", "--rig", "duck.bvh"], "duck.bvh");
}

/// A glTF may name buffers only in its own folder; links that lead out of it are refused too.
#[test]
fn nothing_outside_a_files_folder_is_read() {
    let folder = folder("outside");
    let inner = folder.join("inner");
    std::fs::create_dir_all(&inner).unwrap();
    let numbers: Vec<u8> =
        [0.0f32, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    std::fs::write(folder.join("secret.bin"), &numbers).unwrap();
    std::fs::write(inner.join("own.bin"), &numbers).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.join("secret.bin"), inner.join("link.bin")).unwrap();
    let document = |uri: &str| {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"name":"a","children":[1]}},{{"name":"b"}}],
            "buffers":[{{"byteLength":40,"uri":"{uri}"}}],
            "bufferViews":[{{"buffer":0,"byteLength":8}},{{"buffer":0,"byteOffset":8,"byteLength":32}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":2,"type":"SCALAR","min":[0],"max":[1]}},
                         {{"bufferView":1,"componentType":5126,"count":2,"type":"VEC4"}}],
            "animations":[{{"channels":[{{"sampler":0,"target":{{"node":1,"path":"rotation"}}}}],"samplers":[{{"input":0,"output":1}}]}}]}}"#
        )
    };
    let absolute = folder.join("secret.bin").display().to_string();
    for uri in [
        "../secret.bin",
        "%2e%2e/secret.bin",
        "link.bin",
        &absolute,
        "file:///etc/hostname",
        "http://127.0.0.1/x.bin",
        "sub/../../secret.bin",
    ] {
        std::fs::write(inner.join("a.gltf"), document(uri)).unwrap();
        refused(&inner, &["inspect", "a.gltf"], "a.gltf");
    }
    for uri in ["own.bin", "./own.bin"] {
        std::fs::write(inner.join("a.gltf"), document(uri)).unwrap();
        let out = kumite(&inner, &["inspect", "a.gltf", "--json"]);
        assert_eq!(out.status.code(), Some(0), "{uri}: {}", String::from_utf8_lossy(&out.stdout));
    }
}

#[test]
fn demo_writes_a_page_and_what_it_shows() {
    let folder = folder("demo");
    let out = kumite(&folder, &["demo", "-o", "out", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    let report = json(&out);
    let page = std::fs::read_to_string(folder.join("out/index.html")).unwrap();
    for scene in report["scenes"].as_array().unwrap() {
        for file in scene["files"].as_array().unwrap() {
            let file = file.as_str().unwrap();
            assert!(folder.join("out").join(file).is_file(), "{file}");
            assert!(page.contains(file), "{file}");
        }
    }
    assert!(report["wall_seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn wrong_use_and_bad_input_get_one_clear_error() {
    let folder = folder("refused");
    std::fs::write(folder.join("a.bvh"), BVH).unwrap();
    std::fs::write(folder.join("bad.bvh"), BVH.replace("Xrotation Yrotation\n  End", "Xrot Yrotation\n  End")).unwrap();
    std::fs::write(folder.join("keys.toml"), "name = \"x\"\nstance = \"guard\"\nseconds = 1\nsecond = 2\n").unwrap();
    std::fs::write(folder.join("late.toml"), "name = \"x\"\nstance = \"guard\"\nseconds = 1\n[[key]]\nat = 2\n")
        .unwrap();
    std::fs::write(folder.join("where.toml"), "name = \"x\"\nstance = \"gard\"\nseconds = 1\n").unwrap();
    refused(&folder, &["inspect", "missing.bvh"], "missing.bvh: cannot read: there is no such file");
    refused(&folder, &["inspect", "."], "this is a folder");
    std::fs::write(folder.join("take.fbx"), "Kaydara").unwrap();
    refused(&folder, &["inspect", "take.fbx"], "export glTF");
    refused(&folder, &["convert", "a.bvh", "a.bvh"], "choose another name");
    refused(&folder, &["convert", "a.bvh", "./a.bvh"], "choose another name");
    refused(&folder, &["bake", "a.bvh", "-o", "x.kumite"], "a folder of motions");
    assert_eq!(std::fs::read_to_string(folder.join("a.bvh")).unwrap(), BVH, "an input was written over");
    refused(&folder, &["convert", "a.bvh", "a.xyz"], ".bvh, .glb");
    refused(&folder, &["convert", "a.bvh", "a"], "cannot write");
    refused(&folder, &["convert", "a.bvh", "a.png", "--poses", "0"], "1 to 60");
    refused(&folder, &["convert", "a.bvh", "b.bvh", "--fps", "-3"], "--fps");
    refused(&folder, &["convert", "a.bvh", "b.bvh", "--fps", "0"], "1 to 1000");
    refused(&folder, &["convert", "a.bvh", "b.bvh", "--trim", "5,6"], "--trim");
    refused(&folder, &["convert", "a.bvh", "a.bvh", "a.gif"], "hold several");
    refused(&folder, &["convert", "embedded:jap", "a.png"], "jab");
    refused(&folder, &["convert", "a.bvh", "nowhere/a.png"], "no such file or folder");
    refused(&folder, &["frobnicate"], "unrecognized");
    refused(&folder, &["convert", "late.toml", "a.png"], "0 to 1");
    refused(&folder, &["convert", "where.toml", "a.png"], "guard, stand");
    let error = refused(&folder, &["inspect", "bad.bvh"], "bad.bvh: line 9");
    assert_eq!(error["line"], 9);
    assert_eq!(error["found"], "Xrot");
    assert!(error["allowed"].as_str().unwrap().contains("Xposition"), "{error}");
    let error = refused(&folder, &["convert", "keys.toml", "a.png"], "keys.toml: line 4: unknown field `second`");
    assert_eq!(error["line"], 4);
}

/// From files to a bundle to a take, and the errors of each step.
#[test]
fn a_library_is_baked_and_played() {
    let folder = folder("bake");
    for name in ["jab", "duck", "guard-idle", "step-forward"] {
        let file = format!("{name}.bvh");
        assert_eq!(kumite(&folder, &["convert", &format!("embedded:{name}"), &file]).status.code(), Some(0));
    }
    let clips: String =
        ["jab", "duck", "guard-idle", "step-forward"].map(|n| format!("[[clip]]\nfile = \"{n}.bvh\"\n")).concat();
    let manifest = format!("[library]\nname = \"mine\"\nattribution = [\"me\"]\n{clips}");
    std::fs::write(folder.join("mine.toml"), &manifest).unwrap();
    let out = kumite(&folder, &["bake", "mine.toml", "-o", "mine.kumite", "--json"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stdout));
    let report = json(&out);
    assert_eq!(report["clips"], 4);
    assert!(report["nodes"].as_u64().unwrap() > 1 && report["edges"].as_u64().unwrap() > 1, "{report}");
    let scene = "library = \"mine.kumite\"\nseconds = 4\nseed = 3\n[[character]]\nname = \"Ana\"\n";
    std::fs::write(folder.join("scene.toml"), scene).unwrap();
    let words =
        ["play", "scene.toml", "-o", "take.bvh", "-o", "take.html", "-o", "take.glb", "-o", "take.json", "--json"];
    let (first, again) = (json(&kumite(&folder, &words)), json(&kumite(&folder, &words)));
    assert_eq!(first["frames"], 241, "{first}");
    assert_eq!(first["hash"], again["hash"]);
    assert!(first["quality"]["foot_slide_cm_s"].as_f64().unwrap() <= 2.0, "{first}");
    let written = json(&kumite(&folder, &["inspect", "take.bvh", "--json"]));
    assert_eq!(written["files"][0]["frames"], 241);

    let graph = json(&kumite(&folder, &["graph", "--library", "mine.kumite", "--json"]));
    assert_eq!(graph["nodes"], report["nodes"]);
    let graph = json(&kumite(&folder, &["graph", "--json"]));
    for kind in ["attack", "avoid", "block", "step", "walk", "idle"] {
        let label = &graph["labels"][kind];
        assert_eq!(label["total"], label["kept"], "{kind}: {label}");
        assert_eq!(label["reachable_share"], 1.0, "{kind}: {label}");
    }
    let reaction = &graph["reaction"];
    assert_eq!(reaction["moments"], 20_000, "{reaction}");
    assert!(reaction["left_out_share"].as_f64().unwrap() <= 0.15, "{reaction}");
    assert!(reaction["share_of_clips"].as_f64().unwrap() <= 0.1, "{reaction}");
    for (kind, half, most) in [("avoid", 0.05, 0.25), ("attack", 0.1, 0.4), ("block", 0.1, 0.4), ("step", 0.1, 0.4)] {
        let kind = &reaction["kinds"][kind];
        let at = |quantile: &str| kind["seconds"][quantile].as_f64().unwrap();
        assert!(at("p50") <= half && at("p95") <= most + 1e-3, "{kind}");
        assert!(kind["seconds_from_nodes"]["p50"].as_f64().unwrap() > at("p50"), "{kind}");
        assert!(kind["worst"][0]["clip"].is_string() && kind["worst"][0]["at"].is_number(), "{kind}");
    }
    refused(&folder, &["graph", "--library", "mine.bvh"], "a .kumite bundle");

    std::fs::write(folder.join("gone.toml"), manifest.replace("duck.bvh", "goose.bvh")).unwrap();
    refused(&folder, &["bake", "gone.toml", "-o", "x.kumite"], "goose.bvh");
    std::fs::write(folder.join("none.toml"), "[library]\nname = \"x\"\n").unwrap();
    refused(&folder, &["bake", "none.toml", "-o", "x.kumite"], "at least one");
    std::fs::write(folder.join("short.bvh"), BVH).unwrap();
    std::fs::write(folder.join("short.toml"), "[library]\nname = \"x\"\n[[clip]]\nfile = \"short.bvh\"\n").unwrap();
    refused(&folder, &["bake", "short.toml", "-o", "x.kumite"], "not a person");
    let late = manifest.clone() + "[[clip.span]]\nkind = \"step\"\nfrom = 0.5\nto = 99\n";
    std::fs::write(folder.join("late.toml"), late).unwrap();
    refused(&folder, &["bake", "late.toml", "-o", "x.kumite"], "the length of the clip");
    let two =
        "[[clip.span]]\nkind = \"step\"\nfrom = 0.1\nto = 0.5\n[[clip.span]]\nkind = \"turn\"\nfrom = 0.3\nto = 0.6\n";
    std::fs::write(folder.join("two.toml"), manifest + two).unwrap();
    refused(&folder, &["bake", "two.toml", "-o", "x.kumite"], "do not overlap");
    let bytes = std::fs::read(folder.join("mine.kumite")).unwrap();
    std::fs::write(folder.join("cut.kumite"), &bytes[..bytes.len() / 2]).unwrap();
    std::fs::write(folder.join("cut.toml"), scene.replace("mine.kumite", "cut.kumite")).unwrap();
    refused(&folder, &["play", "cut.toml", "-o", "x.bvh"], "cut.kumite");
    std::fs::write(folder.join("typo.toml"), scene.replace("seconds", "second")).unwrap();
    refused(&folder, &["play", "typo.toml", "-o", "x.bvh"], "line 2: unknown field");
    refused(&folder, &["play", "scene.toml", "-o", "x.mov"], ".glb, .bvh");
}

/// If this fails, the keyed motions or what bakes them changed: `cargo dev embed` writes the bundle again.
#[test]
fn the_embedded_bundle_is_what_the_keys_give() {
    let folder = folder("embed");
    let report = json(&kumite(&folder, &["bake", "embedded", "-o", "embedded.kumite", "--json"]));
    assert_eq!(report["sections"], serde_json::json!(["library", "interrupts"]), "{report}");
    let committed = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/embedded.kumite");
    let same = std::fs::read(committed).unwrap() == std::fs::read(folder.join("embedded.kumite")).unwrap();
    assert!(same, "library/embedded.kumite is old: run `cargo dev embed`");

    // A file of version 2 has records of fighters only, one checksum and no table.
    let library = kumite_asset::read(&std::fs::read(folder.join("embedded.kumite")).unwrap()).unwrap();
    let library = library.only(kumite_motion::Layer::Fight).unwrap();
    let records = postcard::to_stdvec(&kumite_asset::v2::LibraryRecord::from(&library)).unwrap();
    let rows = library.clips().iter().flat_map(|c| c.rows().iter().flatten()).flat_map(|v| v.to_le_bytes());
    let rest: Vec<u8> = (records.len() as u64).to_le_bytes().into_iter().chain(records.clone()).chain(rows).collect();
    let head = [2, rest.len() as u64, xxhash_rust::xxh3::xxh3_64(&rest)].map(u64::to_le_bytes).concat();
    let old = [&b"KUMITE\r\n"[..], &head, &rest].concat();
    std::fs::write(folder.join("old.kumite"), old).unwrap();
    assert_eq!(kumite(&folder, &["inspect", "old.kumite"]).status.code(), Some(0));
    assert_eq!(json(&kumite(&folder, &["graph", "--library", "old.kumite", "--json"]))["reaction"], Value::Null);
    refused(&folder, &["walk", "--library", "old.kumite", "--scene", "door"], "`kumite bake` it again");
}

#[test]
fn labels_are_proposed_and_can_be_baked() {
    let folder = folder("label");
    for name in ["jab", "duck", "guard-idle", "step-left"] {
        let (from, to) = (format!("embedded:{name}"), format!("{name}.bvh"));
        assert!(kumite(&folder, &["convert", &from, &to]).status.success());
    }
    let clip = |name: &str| format!("[[clip]]\nfile = \"{name}.bvh\"\n");
    let names = ["jab", "duck", "guard-idle", "step-left"];
    let bare = format!("[library]\nname = \"a \\\"bare\\\" one\"\n{}", names.map(clip).concat());
    std::fs::write(folder.join("bare.toml"), bare).unwrap();
    let report = json(&kumite(&folder, &["label", "bare.toml", "--json"]));
    let of = |name: &str| report["clips"].as_array().unwrap().iter().find(|c| c["clip"] == name).unwrap().clone();
    let attack = &of("jab")["spans"][0];
    assert_eq!(
        (attack["kind"].as_str(), attack["label"].as_str()),
        (Some("attack"), Some("straight left")),
        "{report}"
    );
    assert_eq!(of("duck")["spans"][0]["label"], "duck");
    let strike = of("jab")["actions"].as_array().unwrap().iter().find_map(|a| a["strikes"].get(0).cloned()).unwrap();
    assert_eq!((strike["part"].as_str(), strike["height"].as_str()), (Some("left_wrist"), Some("high")));
    assert!(kumite(&folder, &["label", "bare.toml", "-o", "labelled.toml", "--strips", "strips"]).status.success());
    assert!(folder.join("strips/jab.png").is_file());
    // Written labels can be baked, and are kept when the manifest is labelled again.
    let baked = json(&kumite(&folder, &["bake", "labelled.toml", "-o", "a.kumite", "--json"]));
    assert!(baked["labels"].as_array().unwrap().iter().any(|l| l["label"] == "straight left"), "{baked}");
    let held = json(&kumite(&folder, &["inspect", "a.kumite", "--json"]))["files"][0].clone();
    assert_eq!(held["format"], "bundle");
    assert!(held["clips"].as_array().unwrap().iter().any(|c| c["name"] == "jab"), "{held}");
    assert_eq!(json(&kumite(&folder, &["label", "labelled.toml", "--json"]))["found"], 0);
    // New clips get the labels of similar tagged ones, whatever those are called.
    let tagged =
        std::fs::read_to_string(folder.join("labelled.toml")).unwrap().replace("straight left", "quick poke left");
    std::fs::write(folder.join("tagged.toml"), tagged).unwrap();
    let joined = json(&kumite(&folder, &["label", "bare.toml", "--like", "tagged.toml", "--json"]));
    assert_eq!(joined["clips"][0]["spans"][0]["label"], "quick poke left", "{joined}");
    let graph =
        json(&kumite(&folder, &["graph", "--library", "labelled.toml", "--coverage", "coverage.svg", "--json"]));
    assert!(std::fs::read_to_string(folder.join("coverage.svg")).unwrap().contains("<polygon"));
    assert_eq!(graph["coverage"]["reach_m"].as_array().unwrap().len(), 3);
    // The library has no block, and the report says what would help.
    let gap = |g: &Value| g["what"] == "there is no block" && g["fix"].as_str().unwrap().contains("kumite label");
    assert!(graph["gaps"].as_array().unwrap().iter().any(gap), "{graph}");
    refused(&folder, &["graph", "--coverage", "a.png"], "svg");
    refused(&folder, &["label", "none.toml"], "no such file");
    refused(&folder, &["tables", "choises"], "choices");
    let table = json(&kumite(&folder, &["tables", "choices", "--library", "labelled.toml", "--json"]));
    assert_eq!(table["clips"], 4);
}

#[test]
fn help_completions_and_manual_pages_are_written() {
    let folder = folder("manual");
    for words in [&["--help"][..], &["convert", "--help"], &["inspect", "--help"], &["demo", "--help"]] {
        let out = kumite(&folder, words);
        assert_eq!(out.status.code(), Some(0));
        assert!(String::from_utf8_lossy(&out.stdout).contains("Examples:"), "{words:?}");
    }
    let out = kumite(&folder, &["completions", "bash"]);
    assert!(String::from_utf8_lossy(&out.stdout).contains("_kumite"));
    let out = kumite(&folder, &["manual", "-o", "man"]);
    assert_eq!(out.status.code(), Some(0));
    let page = std::fs::read_to_string(folder.join("man/kumite-convert.1")).unwrap();
    assert!(page.contains("film strip"), "{page}");
}

#[test]
fn a_ball_is_dodged_and_written() {
    let folder = folder("dodge");
    let words =
        ["dodge", "-o", "d.glb", "-o", "d.bvh", "-o", "d.html", "-o", "d.png", "-o", "d.json", "--json", "--why"];
    let words = [&words[..], &["--poses", "3", "--width", "400"]].concat();
    let (report, again) = (json(&kumite(&folder, &words)), json(&kumite(&folder, &words)));
    assert_eq!(report["outcome"], "avoided", "{report}");
    assert_eq!(report["hash"], again["hash"]);
    assert!(
        report["undisturbed_m"].as_f64().unwrap() < 0.0 && report["clearance_m"].as_f64().unwrap() > 0.0,
        "{report}"
    );
    assert!(!report["candidates"].as_array().unwrap().is_empty());
    for (file, start) in
        [("d.glb", &b"glTF"[..]), ("d.bvh", b"HIERARCHY"), ("d.html", b"<!"), ("d.png", b"\x89PNG"), ("d.json", b"{")]
    {
        assert!(std::fs::read(folder.join(file)).unwrap().starts_with(start), "{file}");
    }
    // A ball that comes too late to avoid is an outcome, not an error.
    let late = json(&kumite(&folder, &["dodge", "--lead", "0.05", "--speed", "60", "--json"]));
    assert_eq!(late["outcome"], "hit", "{late}");
    let scene = "seconds = 3\nseed = 1\n[[character]]\nname = \"Ana\"\nbegin = \"guard-idle\"\n[[throw]]\ntime = 0.5\nat = \"Ana\"\nfrom = [0, 1.6, 9]\nspeed = 12\n";
    std::fs::write(folder.join("scene.toml"), scene).unwrap();
    let played = json(&kumite(&folder, &["play", "scene.toml", "-o", "p.json", "--json"]));
    assert_eq!(played["throws"][0]["outcome"], "dodged", "{played}");
    // Without a file to write the outcome is still printed, by name.
    let report = String::from_utf8(kumite(&folder, &["play", "scene.toml"]).stdout).unwrap();
    assert!(report.starts_with("Ana: 3.0 s") && report.contains("ball at Ana: dodged"), "{report}");
    let counted = json(&kumite(&folder, &["dodge", "--trials", "40", "--seed", "2", "--json"]));
    for key in ["trials", "threatening", "avoidable", "avoided", "from_index", "agreed", "before_edge_end", "adapted"] {
        assert!(counted[key].is_u64(), "{key}: {counted}");
    }
    for path in ["/displacement_m/p50", "/query_us/index/p99", "/query_us/enumerated/p99", "/candidates/index"] {
        assert!(counted.pointer(path).is_some_and(Value::is_number), "{path}: {counted}");
    }
    let table = json(&kumite(&folder, &["tables", "avoidance", "--trials", "20", "--json"]));
    assert_eq!(table["rows"].as_array().unwrap().len(), 4, "{table}");
    assert!(table["naive_ms"].as_f64().unwrap() > 0.0);
    let text = String::from_utf8(kumite(&folder, &["tables", "--trials", "5", "--markdown"]).stdout).unwrap();
    assert!(text.contains("| 496.0 |"), "{text}");
}

/// `cargo dev golden` compares the release build with the same numbers.
#[test]
fn a_debug_build_plays_the_golden_scene() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let golden = std::fs::read_to_string(root.join("docs/golden.json")).unwrap();
    let golden: Value = serde_json::from_str(&golden).unwrap();
    let scene = root.join("scenes/one-world.toml").display().to_string();
    let played = json(&kumite(&folder("golden"), &["play", &scene, "--json"]));
    let hashes: Vec<&str> =
        played["characters"].as_array().unwrap().iter().filter_map(|c| c["hash"].as_str()).collect();
    assert_eq!(golden["scene one-world"].as_str(), Some(hashes.join(" ").as_str()));
}

#[test]
fn impossible_balls_are_refused_and_the_flag_is_named() {
    let folder = folder("dodge-refused");
    for (words, key) in [
        (&["--speed", "nan"][..], "--speed"),
        (&["--speed", "0"], "--speed"),
        (&["--radius", "0"], "--radius"),
        (&["--lead", "-1"], "--lead"),
        (&["--from", "nan,1,2"], "--from"),
        (&["--target", "nose"], "--target"),
        (&["--begin", "moonwalk"], "--begin"),
        (&["--trials", "0"], "--trials"),
        // So slow and near that it touches the body from the start.
        (&["--lead", "0.05", "--speed", "1"], "--lead"),
        (&["--library", "mine.bvh"], "library"),
    ] {
        let error = refused(&folder, &[&["dodge"], words].concat(), key);
        assert!(error["key"].as_str().is_some_and(|k| k.contains(key)), "{error}");
    }
    std::fs::write(folder.join("foreign.kumite"), b"PK\x03\x04 not a bundle").unwrap();
    refused(&folder, &["dodge", "--library", "foreign.kumite"], "not a kumite bundle");
    refused(&folder, &["tables", "cooking"], "avoidance");
    for clip in ["walk", "walk-stop", "stand-idle"] {
        let out = kumite(&folder, &["convert", &format!("embedded:{clip}"), &format!("{clip}.bvh")]);
        assert_eq!(out.status.code(), Some(0));
    }
    let clips: String = ["walk", "walk-stop", "stand-idle"].map(|n| format!("[[clip]]\nfile = \"{n}.bvh\"\n")).concat();
    std::fs::write(folder.join("walks.toml"), format!("[library]\nname = \"walks\"\n{clips}")).unwrap();
    let error = refused(&folder, &["dodge", "--library", "walks.toml"], "no avoid and no block spans");
    assert_eq!(error["key"], "--library");
}

#[test]
fn a_walk_is_planned_played_and_written() {
    let folder = folder("walk");
    let files = ["w.glb", "w.bvh", "w.html", "w.png", "w.svg", "w.json"];
    let mut words = vec!["walk", "--scene", "narrow-gap", "--method", "walk,ems,pff", "--why", "--json"];
    files.iter().for_each(|f| words.extend(["-o", f]));
    words.extend(["--poses", "3", "--width", "400"]);
    let (report, again) = (json(&kumite(&folder, &words)), json(&kumite(&folder, &words)));
    assert_eq!(report["walk"]["outcome"], "arrived", "{report}");
    assert_eq!(report["ems"]["outcome"], "arrived", "{report}");
    // The gap is too narrow for PFF's disc.
    assert_eq!(report["pff"]["outcome"], "lost", "{report}");
    assert_eq!(report["walk"]["hash"], again["walk"]["hash"]);
    for key in [
        "transitions",
        "transition_cost",
        "frames",
        "location_cm",
        "orientation_deg",
        "travel_cm",
        "travel_ratio",
        "collision_frames",
        "search_seconds",
        "evaluations",
    ] {
        assert!(report["ems"]["mean"][key].is_number() && report["ems"]["best"][key].is_number(), "{key}: {report}");
    }
    assert_eq!(report["walk"]["mean"]["collision_frames"], 0.0);
    for (file, start) in files.iter().zip([&b"glTF"[..], b"HIERARCHY", b"<!", b"\x89PNG", b"<svg", b"{"]) {
        assert!(std::fs::read(folder.join(file)).unwrap().starts_with(start), "{file}");
    }
    let blocked = "seconds = 9\n[[character]]\nname = \"a\"\ngoal = { at = [0, 4] }\n[[obstacle]]\nbox = { size = [1, 2, 1], at = [0, 1, 4] }\n";
    std::fs::write(folder.join("blocked.toml"), blocked).unwrap();
    let report = json(&kumite(&folder, &["walk", "--scene", "blocked.toml", "--json"]));
    assert_eq!(report["walk"]["outcome"], "blocked", "{report}");
    assert!(report["walk"]["closest_m"].as_f64().is_some_and(|m| m < 0.9), "{report}");
    let counted = json(&kumite(&folder, &["walk", "--scene", "clutter", "--trials", "4", "--json"]));
    assert_eq!(counted["walk"]["solved"], 4, "{counted}");
    std::fs::write(folder.join("go.toml"), blocked.replace("[0, 1, 4]", "[2, 1, 2]")).unwrap();
    let played = json(&kumite(&folder, &["play", "go.toml", "-o", "p.json", "--json"]));
    assert!(played["quality"]["penetration_cm"].as_f64().is_some_and(|p| p <= 0.0), "{played}");
}

#[test]
fn impossible_walks_are_refused_with_a_reason() {
    let folder = folder("walk-refused");
    let who = "seconds = 9\n[[character]]\nname = \"a\"\n";
    for (file, text) in [
        ("nobody.toml", who.to_owned()),
        (
            "in.toml",
            format!("{who}goal = {{ at = [0, 4] }}\n[[obstacle]]\nsphere = {{ radius = 0.3, at = [0, 1, 0] }}\n"),
        ),
        ("nan.toml", format!("{who}goal = {{ at = [nan, 4] }}\n")),
        ("juggle.toml", format!("{who}goal = {{ at = [0, 4], action = \"juggle\" }}\n")),
    ] {
        std::fs::write(folder.join(file), text).unwrap();
    }
    for (words, fragment) in [
        (&["--scene", "moon"][..], "two-corner"),
        (&["--scene", "none.toml"], "no such file"),
        (&["--scene", "nobody.toml"], "has a goal"),
        (&["--scene", "in.toml"], "starts in obstacle 1"),
        (&["--scene", "nan.toml"], "character 1 goal at is"),
        (&["--scene", "juggle.toml"], "juggle"),
        (&["--method", "hover"], "ems"),
        (&["--trials", "0"], "--trials"),
        (&["--starts", "0"], "--starts"),
        (&["-o", "w.mov"], ".glb"),
    ] {
        refused(&folder, &[&["walk"], words].concat(), fragment);
    }
}

#[test]
fn a_threat_is_braced_for_and_written() {
    let folder = folder("brace");
    let words = [
        "brace",
        "-o",
        "b.glb",
        "-o",
        "b.bvh",
        "-o",
        "b.html",
        "-o",
        "b.png",
        "-o",
        "b.gif",
        "-o",
        "b.json",
        "--timing",
        "t.svg",
        "--poses",
        "3",
        "--width",
        "400",
        "--startle",
        "--why",
        "--json",
    ];
    let one = json(&kumite(&folder, &words));
    assert_eq!((one["planted"].as_bool(), one["guarded"].as_bool()), (Some(true), Some(true)), "{one}");
    assert!(one["com_error_m"].as_f64().unwrap() < 0.01 && one["why"]["rules"][0]["rule"] == "lean", "{one}");
    for name in ["b.glb", "b.bvh", "b.html", "b.png", "b.gif", "b.json", "t.svg"] {
        assert!(std::fs::metadata(folder.join(name)).unwrap().len() > 300, "{name}");
    }
    // Heavier than anybody can stop: capped, not refused.
    let heavy = json(&kumite(&folder, &["brace", "--mass", "1000000", "--json"]));
    assert!(heavy["com_error_m"].as_f64().unwrap() < 0.05, "{heavy}");
    let walks = json(&kumite(&folder, &["brace", "--motion", "walk", "--at", "1.2", "--json"]));
    assert_eq!(walks["planted"], false, "{walks}");
    let counted = json(&kumite(&folder, &["brace", "--trials", "12", "--seed", "3", "--json"]));
    for key in ["trials", "solve_us", "com_error_m", "foot_slide_m", "guarded", "guarded_unbraced"] {
        assert!(!counted[key].is_null(), "{key}: {counted}");
    }
    assert_eq!(counted["not_finite"], 0);
    let again = json(&kumite(&folder, &["brace", "--trials", "12", "--seed", "3", "--json"]));
    assert_eq!(counted["hash"], again["hash"]);
    let table = json(&kumite(&folder, &["tables", "anticipation", "--trials", "5", "--json"]));
    assert_eq!(table["rows"].as_array().unwrap().len(), 3);
}

#[test]
fn threats_that_make_no_sense_are_refused() {
    let folder = folder("brace-refused");
    let table: [(&[&str], &str); 9] = [
        (&["--speed", "0"], "--speed"),
        (&["--speed", "NaN"], "--speed"),
        (&["--from", "0,-1,3"], "above the floor"),
        (&["--from", "0,1,0"], "inside the body"),
        (&["--radius", "0"], "--radius"),
        (&["--mass", "-1"], "--mass"),
        (&["--target", "tail"], "head, chest, belly, hips, legs"),
        (&["--motion", "guard-idle", "--at", "1000"], "--at"),
        (&["-o", "b.xyz"], "the ending says the format"),
    ];
    for (words, fragment) in table {
        refused(&folder, &[&["brace"], words].concat(), fragment);
    }
}
