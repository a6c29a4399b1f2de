//! What somebody is told who misspells a name or asks for what is not there: where it stands, what there is, and what was probably meant.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use common::{folder, json, kumite, refused};

#[test]
fn near_spellings_on_the_command_line_are_named() {
    let folder = folder("spelling");
    assert!(kumite(&folder, &["convert", "embedded:jab", "jab.bvh"]).status.success());
    std::fs::write(folder.join("mine.toml"), "").unwrap();
    for (words, meant) in [
        (&["convert", "embedded:jap", "x.png"][..], "jab"),
        (&["convert", "jba.bvh", "x.png"], "jab.bvh"),
        (&["convert", "jab.bvh", "x.glbb"], ".glb"),
        (&["inspect", "embeded"], "embedded"),
        (&["inspect", "jab.bhv"], ".bvh"),
        (&["bake", "mine.tml", "-o", "x.kumite"], "mine.toml"),
        (&["dodge", "--library", "embeded"], "embedded"),
        (&["dodge", "--target", "haed"], "head"),
        (&["dodge", "--begin", "jabb"], "jab"),
        (&["dodge", "--begin", "jabb@0.2"], "jab"),
        (&["brace", "--target", "chset"], "chest"),
        (&["walk", "--scene", "dor"], "door"),
        (&["walk", "--method", "emz"], "ems"),
        (&["play", "two-bals"], "two-balls"),
        (&["spar", "--a", "style=infigher"], "infighter"),
        (&["spar", "--b", "stlye=infighter"], "style"),
        (&["tables", "choises"], "choices"),
    ] {
        let expected = format!("(did you mean {meant}?)");
        let error = refused(&folder, words, &expected);
        assert!(error["message"].as_str().unwrap().ends_with(&expected), "{words:?}: {error}");
    }
    // Words of flags with a fixed choice.
    for (words, meant) in [
        (&["convert", "jab.bvh", "x.bvh", "--for", "blendr"][..], "blender"),
        (&["dodge", "-o", "x.bvh", "--for", "unrael"], "unreal"),
        (&["play", "duel", "--view", "frnt"], "front"),
        (&["bake", "embedded", "-o", "x.kumite", "--manner", "tird"], "tired"),
    ] {
        refused(&folder, words, &format!("a similar value exists: '{meant}'"));
    }
}

#[test]
fn near_spellings_in_scenes_are_named_with_their_line() {
    let folder = folder("scene-spelling");
    const SCENE: &str = "library = \"embedded\"\nseconds = 2\n[[character]]\nname = \"Ana\"\nat = [0, 0]\nbegin = \"guard-idle\"\n\
                         [[character]]\nname = \"Bo\"\nat = [0, 2]\nopponent = \"Ana\"\nstyle = \"outboxer\"\n\
                         [[throw]]\ntime = 0.2\nat = \"Ana\"\ntarget = \"head\"\nfrom = [0, 1.6, 5]\nspeed = 12\n";
    std::fs::write(folder.join("scene.toml"), SCENE).unwrap();
    assert!(kumite(&folder, &["play", "scene.toml"]).status.success());
    for (right, wrong, line, meant) in [
        ("library = \"embedded\"", "library = \"embeded\"", 1, "embedded"),
        ("seconds", "secods", 2, "seconds"),
        ("begin = \"guard-idle\"", "begin = \"guard-idel\"", 6, "guard-idle"),
        ("opponent = \"Ana\"", "opponent = \"Anna\"", 10, "Ana"),
        ("opponent", "oponent", 10, "opponent"),
        ("\"outboxer\"", "\"outboxr\"", 11, "outboxer"),
        ("at = \"Ana\"", "at = \"ana\"", 14, "Ana"),
        ("\"head\"", "\"haed\"", 15, "head"),
        ("speed", "sped", 17, "speed"),
        ("style = \"outboxer\"", "goal = { at = [3, 3], action = \"stnad\" }", 11, "stand"),
    ] {
        let scene = SCENE.replacen(right, wrong, 1);
        let scene = if wrong.contains("goal") { scene.replace("opponent = \"Ana\"", "facing = 0") } else { scene };
        std::fs::write(folder.join("scene.toml"), scene).unwrap();
        let error = refused(&folder, &["play", "scene.toml"], &format!("(did you mean {meant}?)"));
        assert_eq!((&error["line"], &error["file"]), (&line.into(), &"scene.toml".into()), "{wrong}: {error}");
    }
}

#[test]
fn near_spellings_in_manifests_are_named_with_their_line() {
    let folder = folder("manifest-spelling");
    assert!(kumite(&folder, &["convert", "embedded:jab", "jab.bvh"]).status.success());
    let manifest = |file: &str, kind: &str, part: &str| {
        let text = format!(
            "[library]\nname = \"x\"\n[[clip]]\nfile = \"{file}\"\n[[clip.span]]\nkind = \"{kind}\"\npart = \"{part}\"\nfrom = 0\nto = 0.5\n"
        );
        std::fs::write(folder.join("mine.toml"), text).unwrap();
    };
    for (file, kind, part, line, meant) in [
        ("jba.bvh", "attack", "left_wrist", 4, "jab.bvh"),
        ("embedded:jap", "attack", "left_wrist", 4, "jab"),
        ("jab.bvh", "atack", "left_wrist", 6, "attack"),
        ("jab.bvh", "attack", "left_wirst", 7, "left_wrist"),
    ] {
        manifest(file, kind, part);
        let error = refused(&folder, &["bake", "mine.toml", "-o", "x.kumite"], &format!("(did you mean {meant}?)"));
        assert_eq!((&error["line"], &error["file"]), (&line.into(), &"mine.toml".into()), "{error}");
    }
    // A clip that is not there: by which manifest, on which line, in which folder.
    manifest("clips/jab.bvh", "attack", "left_wrist");
    let error = refused(&folder, &["bake", "mine.toml", "--data", "data", "-o", "x.kumite"], "mine.toml: line 4");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("data/clips/jab.bvh") && message.contains("data/clips is not there"), "{error}");
}

/// Files that are not motions, and formats that are not written, come with what to do instead.
#[test]
fn what_to_do_instead_is_said() {
    let folder = folder("instead");
    assert!(kumite(&folder, &["convert", "embedded:jab", "jab.bvh"]).status.success());
    refused(&folder, &["inspect", "."], "this is a folder; name the files in it, or make a library of it");
    refused(&folder, &["bake", "jab.bvh", "-o", "x.kumite"], "this is a motion; a library is made from a folder");
    refused(&folder, &["label", "jab.bvh"], "this is a motion; a library is made from a folder");
    std::fs::write(folder.join("jab"), "").unwrap();
    refused(&folder, &["inspect", "jab"], "it has no ending; motions are .bvh");
    for ending in ["fbx", "usd", "usdz", "blend"] {
        refused(&folder, &["inspect", &format!("take.{ending}")], "open it in Blender and export glTF");
    }
    refused(&folder, &["inspect", "take.asf"], "are published as BVH");
    for words in [
        &["convert", "jab.bvh"][..],
        &["dodge", "-o"],
        &["play", "duel", "-o"],
        &["walk", "--scene", "door", "-o"],
        &["spar", "-o"],
    ] {
        refused(&folder, &[words, &["x.webm"]].concat(), "films are written as ");
        refused(&folder, &[words, &["x"]].concat(), "cannot write a file without an ending");
    }
}

/// Files in the wrong place: which place they belong to.
#[test]
fn files_given_for_something_else_are_named_as_what_they_are() {
    let folder = folder("misplaced");
    assert!(kumite(&folder, &["convert", "embedded:jab", "jab.bvh"]).status.success());
    std::fs::write(folder.join("mine.kumite"), "").unwrap();
    let manifest = "[library]\nname = \"x\"\n[[clip]]\nfile = \"clips/jab.bvh\"\n";
    std::fs::write(folder.join("mine.toml"), manifest).unwrap();
    std::fs::write(folder.join("scene.toml"), "[[character]]\nname = \"Ana\"\nat = [0, 0]\n").unwrap();
    for (words, says) in [
        (&["dodge", "--library", "mine.kumit"][..], "(did you mean mine.kumite?)"),
        (&["graph", "--library", "mine.txt"], "allowed is embedded, a .kumite bundle, a .toml manifest"),
        (&["dodge", "-o", "x.glb", "--rig", "jab.bvh"], "a rig is a .glb, .gltf or .vrm file"),
        (&["convert", "jab.bvh", "x.glb", "--rig", "jab.bvh"], "a rig is a .glb, .gltf or .vrm file"),
        (&["dodge", "--library", "mine.toml"], "`--data DIR` says which folder its files are in"),
        (&["graph", "--library", "mine.toml"], "`--data DIR` says which folder its files are in"),
        (&["graph", "mine.kumite"], "a library is given as --library mine.kumite"),
        (&["walk", "mine.toml"], "a library is given as --library mine.toml"),
        (&["dodge", "-o", "x.glb", "--rig", "Ana=hero.glb"], "nobody has a name here: write --rig hero.glb"),
        (&["walk", "--scene", "mine.toml"], "this is a manifest of clips; a scene has [[character]]s"),
        (&["play", "mine.toml"], "this is a manifest of clips; a scene has [[character]]s"),
        (&["dodge", "--library", "scene.toml"], "this is a scene; a library is a manifest"),
        (&["bake", "scene.toml", "-o", "x.kumite"], "this is a scene; a library is a manifest"),
    ] {
        let error = refused(&folder, words, says);
        assert!(error["message"].as_str().unwrap().contains(says), "{words:?}: {error}");
    }
}

/// A scene lasts as long as it says for everybody, walkers keep their names, and what became of them is told.
#[test]
fn walkers_have_names_outcomes_and_the_seconds_of_the_scene() {
    let folder = folder("walkers");
    let scene = "seconds = 3\n[[character]]\nname = \"Ana\"\nat = [0, 0]\ngoal = { at = [0, 12] }\n[[character]]\nname = \"Bo\"\nat = [3, 0]\n\
                 [[throw]]\ntime = 0.5\nat = \"Bo\"\ntarget = \"head\"\nfrom = [3, 1.6, 6]\nspeed = 12\n";
    std::fs::write(folder.join("scene.toml"), scene).unwrap();
    let report = json(&kumite(&folder, &["play", "scene.toml", "-o", "take.glb", "-o", "take.html", "--json"]));
    assert_eq!(report["frames"], 3 * 60 + 1, "{report}");
    let takes = json(&kumite(&folder, &["inspect", "take.glb", "--json"]));
    let clips = takes["files"][0]["clips"].as_array().unwrap();
    assert!(clips.len() == 2 && clips.iter().all(|clip| clip["frames"] == 181), "{takes}");
    for file in ["take.glb", "take.html"] {
        let text = String::from_utf8_lossy(&std::fs::read(folder.join(file)).unwrap()).into_owned();
        assert!(text.contains("\"name\":\"Ana\"") && text.contains("\"name\":\"Bo\""), "{file}");
        assert!(!text.contains("cut Ana"), "{file}");
    }
    let told = String::from_utf8(kumite(&folder, &["play", "scene.toml"]).stdout).unwrap();
    assert!(["dodged", "blocked", "hit", "missed"].iter().any(|word| told.contains(word)), "{told}");
}

/// What `play` says of the feet of a take is what `inspect` finds in it, to a centimetre a second.
#[test]
fn feet_slide_as_little_in_a_file_as_it_was_said() {
    let folder = folder("slide");
    for (words, at) in [
        (&["dodge", "-o", "take.bvh"][..], "/quality/foot_slide_cm_s"),
        (&["walk", "--scene", "door", "-o", "take.bvh"], "/walk/mean/foot_slide_cm_s"),
    ] {
        let said = json(&kumite(&folder, &[words, &["--json"]].concat()));
        let said = said.pointer(at).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{at}: {said}"));
        let found = json(&kumite(&folder, &["inspect", "take.bvh", "--json"]));
        let text = found.to_string();
        let slide =
            text.split("foot_slide_cm_s\":").nth(1).and_then(|t| t.split([',', '}']).next()).unwrap_or("nothing");
        let slide: f64 = slide.parse().unwrap_or_else(|_| panic!("{found}"));
        assert!((slide - said).abs() < 1.0, "{words:?}: {said} and {slide}");
    }
}
