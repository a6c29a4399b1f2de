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
    // How many labels there are is told, and what was decided bakes to the same bytes.
    let by_kind: u64 = report["spans_by_kind"].as_object().unwrap().values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(report["spans"], by_kind, "{report}");
    assert_eq!(report["spans_to_check"], text.matches("# check").count(), "{report}");
    let told = kumite(&folder, &["bake", "mine.toml", "--data", "clips", "-o", "same.kumite"]).stdout;
    assert!(
        String::from_utf8_lossy(&told).contains(&format!(" {by_kind} labels: ")),
        "{}",
        String::from_utf8_lossy(&told)
    );
    let bytes = |name: &str| std::fs::read(folder.join(name)).unwrap();
    assert!(bytes("same.kumite") == bytes("mine.kumite"), "an unedited manifest gives another library");
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

/// A rig of ours with names that say nothing and without the ends of its bones.
fn strange_rig(folder: &std::path::Path) {
    assert!(kumite(folder, &["convert", "embedded:stand-idle", "hero.glb"]).status.success());
    let bytes = std::fs::read(folder.join("hero.glb")).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let mut document: Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    for (k, node) in document["nodes"].as_array_mut().unwrap().iter_mut().enumerate() {
        if node.get("mesh").is_none() {
            node["name"] = format!("Bone.{k:03}").into();
            node.as_object_mut().unwrap().remove("extras");
        }
    }
    let mut text = document.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let rest = &bytes[20 + length..];
    let mut out = b"glTF".to_vec();
    let whole = (20 + text.len() + rest.len()) as u32;
    for number in [2, whole, text.len() as u32, 0x4E4F_534A] {
        out.extend(number.to_le_bytes());
    }
    out.extend(text.into_iter().chain(rest.iter().copied()));
    std::fs::write(folder.join("strange.glb"), out).unwrap();
}

/// The lowest that both ankles of a written rig get.
fn ankles(folder: &std::path::Path, file: &str, names: [&str; 2]) -> f32 {
    use kumite_motion::{FrameIdx, Pose, WorldPose, fk};
    let bytes = std::fs::read(folder.join(file)).unwrap();
    let (file, _) = kumite_formats::gltf::read(&bytes, |_| Err(String::new())).unwrap();
    let clip = file.to_clips().unwrap().0.remove(0);
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    clip.pose(FrameIdx(clip.frames() as u32 / 2), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    let height = |name: &str| world.position(clip.skeleton().find(name).unwrap()).y;
    height(names[0]).min(height(names[1]))
}

/// Heads and toes may be leaves of any name; roles are listed, missing ones are warned of, and both can be corrected.
#[test]
fn roles_of_strange_rigs_are_found_listed_and_corrected() {
    let folder = folder("strange-rig");
    strange_rig(&folder);
    let roles = |words: &[&str]| {
        let found =
            json(&kumite(&folder, &[&["inspect", "strange.glb", "--json"], words].concat()))["files"][0].clone();
        (found["roles"].clone(), found["missing_roles"].as_array().unwrap().len(), found["warnings"].to_string())
    };
    let (found, missing, warnings) = roles(&[]);
    assert_eq!((found.as_object().unwrap().len(), missing), (21, 0), "{found}");
    assert!(!warnings.contains("no joint was found"), "{warnings}");
    let told = kumite(&folder, &["inspect", "strange.glb"]).stdout;
    let told = String::from_utf8(told).unwrap();
    for role in ["neck", "head", "left_ankle", "left_toe", "right_wrist"] {
        let short = role.trim_start_matches("left_").trim_start_matches("right_");
        assert!(told.contains(&format!("{short} {}", found[role].as_str().unwrap())), "{role}: {told}");
    }
    let (_, missing, warnings) = roles(&["--role", "left_toe=", "--role", "right_toe="]);
    assert!(missing == 2 && warnings.contains("no joint was found for left_toe, right_toe"), "{warnings}");
    let neck = found["neck"].as_str().unwrap().to_owned();
    let (other, missing, _) = roles(&["--role", &format!("head={neck}")]);
    assert!(other["head"] == neck.as_str() && missing == 1, "{other}");
    // With and without toes, soles are on the floor: ankles are as high as on the body itself.
    let names = ["left_ankle", "right_ankle"].map(|role| found[role].as_str().unwrap());
    let stand = ["convert", "embedded:stand-idle", "worn.glb", "--rig", "strange.glb"];
    assert!(kumite(&folder, &["convert", "embedded:stand-idle", "own.glb"]).status.success());
    let own = ankles(&folder, "own.glb", ["left_ankle", "right_ankle"]);
    for more in [&[][..], &["--role", "left_toe=", "--role", "right_toe="]] {
        let out = kumite(&folder, &[&stand[..], more].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let high = ankles(&folder, "worn.glb", names);
        assert!((high - own).abs() < 0.015, "{more:?}: {high} and {own}");
        assert_eq!(String::from_utf8_lossy(&out.stderr).contains("no joint was found"), !more.is_empty());
    }
    let rig = ["dodge", "-o", "x.glb", "--rig", "strange.glb", "--role"];
    refused(&folder, &[&rig[..], &["haed=Bone.005"]].concat(), "(did you mean head?)");
    refused(&folder, &[&rig[..], &["head=Bone.05"]].concat(), "(did you mean Bone.00");
    refused(&folder, &[&rig[..], &["head"]].concat(), "[NAME:]ROLE=JOINT");
    refused(&folder, &[&rig[..], &["Ana:head=Bone.005"]].concat(), "nobody has a name here");
    // A clip of a manifest takes the same corrections.
    let manifest = "[library]\nname = \"x\"\n[[clip]]\nfile = \"strange.glb\"\nroles = { head = \"Bone.05\" }\n";
    std::fs::write(folder.join("mine.toml"), manifest).unwrap();
    refused(&folder, &["bake", "mine.toml", "-o", "x.kumite"], "(did you mean Bone.00");
}

/// A replay does not show the rig, and says so; how the rig meets obstacles is told beside how the planned body does.
#[test]
fn what_is_drawn_and_judged_of_a_rig_is_said() {
    let folder = folder("drawn");
    assert!(kumite(&folder, &["convert", "embedded:jab", "hero.glb"]).status.success());
    let walk = ["walk", "--scene", "door", "-o", "x.html", "-o", "x.glb", "--rig", "hero.glb"];
    let out = kumite(&folder, &walk);
    assert!(String::from_utf8_lossy(&out.stderr).contains("x.html shows kumite's own figure"));
    assert!(String::from_utf8_lossy(&out.stdout).contains("on the rig: "), "{}", String::from_utf8_lossy(&out.stdout));
    let report = json(&kumite(&folder, &[&walk[..], &["--json"]].concat()));
    assert!(report["rig"]["collision_frames"].is_u64(), "{report}");
    let alone = kumite(&folder, &["dodge", "-o", "y.glb", "--rig", "hero.glb"]);
    assert!(!String::from_utf8_lossy(&alone.stderr).contains("own figure"));
}

/// A library whose first walking clip begins in full run: a walk begins with somebody slower.
#[test]
fn walks_of_baked_folders_begin_slowly() {
    let folder = folder("slow-start");
    std::fs::create_dir_all(folder.join("clips")).unwrap();
    assert!(kumite(&folder, &["convert", "embedded:walk", "clips/a.bvh", "--trim", "1.5,3"]).status.success());
    assert!(kumite(&folder, &["convert", "embedded:walk", "clips/b.bvh"]).status.success());
    assert!(kumite(&folder, &["convert", "embedded:stand-idle", "clips/c.bvh"]).status.success());
    assert!(kumite(&folder, &["bake", "clips", "-o", "mine.kumite"]).status.success());
    std::fs::write(
        folder.join("scene.toml"),
        "seconds = 10\n[[character]]\nname = \"Ana\"\nat = [0, 0]\ngoal = { at = [0, 3] }\n",
    )
    .unwrap();
    let out = kumite(&folder, &["walk", "--library", "mine.kumite", "--scene", "scene.toml", "-o", "walk.bvh"]);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = std::fs::read(folder.join("walk.bvh")).unwrap();
    let clip = kumite_formats::bvh::read(&text).unwrap().0.to_clip("walk").unwrap();
    let at = |frame: u32| clip.root(kumite_motion::FrameIdx(frame));
    let moved = at(6) - at(0);
    let speed = (moved.x * moved.x + moved.z * moved.z).sqrt() * clip.fps() / 6.0;
    assert!(speed < 0.5, "begins at {speed} m/s");
}

/// `--from` is a place: the ball flies from there as long as it takes.
#[test]
fn balls_are_thrown_from_where_it_is_said() {
    let folder = folder("from");
    let ball = |words: &[&str]| {
        let out = kumite(&folder, &[&["dodge", "-o", "x.glb"], words].concat());
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        let bytes = std::fs::read(folder.join("x.glb")).unwrap();
        let (file, _) = kumite_formats::gltf::read(&bytes, |_| Err(String::new())).unwrap();
        let ball = file.nodes.iter().position(|node| node.name == "ball 1").unwrap();
        let moves = |c: &&kumite_formats::gltf::GltfChannel| {
            c.node == ball && c.property == kumite_formats::gltf::Property::Translation
        };
        let way = file.animations[0].channels.iter().find(moves).unwrap();
        kumite_motion::Vec3::from_slice(&way.values[..3])
    };
    let place = kumite_motion::Vec3::new(3.0, 1.5, 4.0);
    assert!((ball(&["--from", "3,1.5,4"]) - place).length() < 0.3);
    // With a lead it is a side.
    assert!((ball(&["--from", "3,1.5,4", "--lead", "0.9", "--speed", "20"]) - place).length() > 5.0);
    refused(&folder, &["dodge", "--from", "300,1.5,0"], "flies for 20.0 s at 15 m/s");
    refused(&folder, &["dodge", "--from", "0,-1,3"], "a ball above the floor");
}
