//! From a folder of clips to takes on a character of one's own.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::{BVH, folder, json, kumite, refused};
use serde_json::Value;

/// Motions in a folder become a library that can dodge; what is not a person is left out and named. What was decided can be edited and baked again.
#[test]
fn a_folder_is_enough() {
    let folder = folder("folder");
    std::fs::create_dir_all(folder.join("clips/more")).unwrap();
    for (name, below) in [("jab", ""), ("duck", "more/"), ("guard-idle", ""), ("slip-left", ""), ("block-high", "")] {
        let file = format!("clips/{below}{name}.bvh");
        assert!(kumite(&folder, &["convert", &format!("embedded:{name}"), &file]).status.success());
    }
    std::fs::write(folder.join("clips/table.bvh"), BVH).unwrap();
    std::fs::write(folder.join("clips/notes.txt"), "by hand").unwrap();
    let out = kumite(&folder, &["bake", "clips", "-o", "mine.kumite", "--manifest", "mine.toml", "--json"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stdout));
    let report = json(&out);
    assert_eq!(report["clips"], 5, "{report}");
    let decided = report["decided"].as_array().unwrap();
    assert!(decided.len() == 1 && decided[0].as_str().unwrap().contains("table.bvh is left out"), "{report}");
    // What to look at first is listed and drawn; what was left out before is left out again.
    let labels = json(&kumite(&folder, &["label", "clips", "--strips", "strips", "-o", "labels.toml", "--json"]));
    assert_eq!(labels["clips"].as_array().unwrap().len(), 5, "{labels}");
    let unsure = labels["check"].as_array().unwrap();
    assert!(unsure.iter().all(|label| label["confidence"].as_f64().is_some_and(|sure| sure < 0.9)), "{labels}");
    assert_eq!(folder.join("strips/check-first.png").is_file(), !unsure.is_empty());
    assert!(folder.join("strips/jab.png").is_file());
    let kept = kumite(&folder, &["label", "labels.toml", "--data", "clips", "-o", "again.toml"]);
    assert!(String::from_utf8_lossy(&kept.stdout).contains("--again finds them anew"));
    let kinds = |report: &Value| {
        let labels = report["labels"].as_array().unwrap().iter();
        labels.map(|l| l["kind"].as_str().unwrap().to_owned()).collect::<std::collections::BTreeSet<_>>()
    };
    assert!(["attack", "avoid", "block"].iter().all(|kind| kinds(&report).contains(*kind)), "{report}");
    let dodged = json(&kumite(&folder, &["dodge", "--library", "mine.kumite", "--lead", "1", "--json"]));
    assert!(dodged["candidates"].is_object() || dodged["outcome"].is_string(), "{dodged}");
    // One of its motions.
    let one = json(&kumite(&folder, &["convert", "mine.kumite:jab", "jab.bvh", "--json"]));
    assert!(one["frames"].as_u64().is_some_and(|frames| frames > 10), "{one}");
    refused(&folder, &["convert", "mine.kumite:jap", "jap.bvh"], "there is no motion \"jap\"; there are ");
    // The folder itself is a library, too.
    assert!(kumite(&folder, &["graph", "--library", "clips"]).status.success());
    let text = std::fs::read_to_string(folder.join("mine.toml")).unwrap();
    assert!(
        text.contains("file = \"more/duck.bvh\"") && text.contains("found in the motion") && text.contains(" %"),
        "{text}"
    );
    std::fs::write(folder.join("edited.toml"), text.replace("label = \"duck\"", "label = \"deep duck\"")).unwrap();
    let again = json(&kumite(&folder, &["bake", "edited.toml", "--data", "clips", "-o", "b.kumite", "--json"]));
    assert!(again["labels"].as_array().unwrap().iter().any(|l| l["label"] == "deep duck"), "{again}");
    assert_eq!(kinds(&again), kinds(&report));
    let bare = json(&kumite(&folder, &["bake", "clips", "--unlabelled", "-o", "c.kumite", "--json"]));
    assert_eq!(bare["labels"].as_array().unwrap().len(), 0, "{bare}");
    refused(&folder, &["dodge", "--library", "c.kumite"], "nothing to dodge with");
    refused(&folder, &["bake", "mine.toml", "--data", "clips", "-o", "mine.toml"], "choose another name");
    std::fs::create_dir_all(folder.join("empty")).unwrap();
    refused(&folder, &["bake", "empty", "-o", "x.kumite"], "no motions");
}

/// Whatever writes motion writes it on the user's character, with what is around it.
#[test]
fn takes_are_written_on_rigs_with_balls_and_obstacles() {
    let folder = folder("rigs");
    assert!(kumite(&folder, &["convert", "embedded:jab", "hero.glb"]).status.success());
    let text = |name: &str| String::from_utf8_lossy(&std::fs::read(folder.join(name)).unwrap()).into_owned();
    let rig = ["--rig", "hero.glb"];
    for (words, props) in [
        (&["dodge", "-o", "dodge.glb"][..], &["ball 1"][..]),
        (&["brace", "-o", "brace.glb"], &["ball 1"]),
        (&["walk", "--scene", "door", "-o", "walk.glb"], &["box 1", "box 2"]),
    ] {
        let out = kumite(&folder, &[words, &rig].concat());
        assert!(out.status.success(), "{words:?}: {}", String::from_utf8_lossy(&out.stderr));
        let written = text(words[words.len() - 1]);
        for name in props.iter().chain(&["suit"]) {
            assert!(written.contains(&format!("\"name\":\"{name}\"")), "{words:?}: {name}");
        }
        let found = json(&kumite(&folder, &["inspect", words[words.len() - 1], "--json"]))["files"][0].clone();
        assert_eq!(found["roles"].as_object().unwrap().len(), 21, "{words:?}");
    }
    let scene = "library = \"embedded\"\nseconds = 2\n[[character]]\nname = \"Ana\"\nat = [0, 0]\n[[character]]\nname = \"Bo\"\nat = [2, 0]\n\
                 [[throw]]\ntime = 0.2\nat = \"Ana\"\ntarget = \"head\"\nfrom = [0, 1.6, 5]\nspeed = 12\n";
    std::fs::write(folder.join("scene.toml"), scene).unwrap();
    assert!(kumite(&folder, &["play", "scene.toml", "-o", "two.glb", "--rig", "Ana=hero.glb"]).status.success());
    assert!(folder.join("two-Ana.glb").is_file() && !folder.join("two-Bo.glb").exists());
    let rest = text("two.glb");
    assert!(rest.contains("\"name\":\"Bo\"") && rest.contains("\"name\":\"ball 1\""), "{}", &rest[..400]);
    assert!(!rest.contains("\"name\":\"Ana\""), "Ana is in her own file");
    assert!(rest.contains("markers"), "events are marked");
    refused(&folder, &["play", "scene.toml", "-o", "x.glb", "--rig", "Anna=hero.glb"], "Ana, Bo");
    refused(&folder, &["dodge", "-o", "hero.glb", "--rig", "hero.glb"], "choose another name");
}
