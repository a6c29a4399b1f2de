//! The pages that say what files may hold, against the parsers that read them: every key is on its page and every key of a page is read.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod common;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use common::{folder, json, kumite};

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    std::fs::read_to_string(path).unwrap()
}

/// The text from a heading to the next of the same depth or less.
fn section<'a>(page: &'a str, heading: &str) -> &'a str {
    let from = page.find(&format!("\n{heading}")).unwrap_or_else(|| panic!("no {heading}")) + 1;
    let depth = heading.chars().take_while(|c| *c == '#').count();
    let rest = &page[from + heading.len()..];
    let ends = (1..=depth).filter_map(|d| rest.find(&format!("\n{} ", "#".repeat(d)))).min();
    &rest[..ends.unwrap_or(rest.len())]
}

/// The keys in the first column of a section's tables.
fn keys(section: &str) -> BTreeSet<String> {
    let rows = section.lines().filter(|l| l.starts_with("| `"));
    let first = rows.map(|row| row.split('|').nth(1).unwrap());
    first
        .flat_map(|cell| cell.split(',').map(|key| key.trim().trim_matches('`').to_owned()).collect::<Vec<_>>())
        .collect()
}

/// What a parser allows where this text has the unknown key `zzz`.
fn allowed(name: &str, text: &str, command: &[&str]) -> BTreeSet<String> {
    let folder = folder(name);
    std::fs::write(folder.join("file.toml"), text).unwrap();
    let out = kumite(&folder, command);
    assert_eq!(out.status.code(), Some(2), "{text}");
    let answer = json(&out);
    let allowed = answer["error"]["allowed"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    allowed.replace(" or ", ", ").split(", ").map(str::to_owned).collect()
}

#[test]
fn the_page_of_scenes_has_every_key() {
    let page = page("scene.md");
    let play = |text: &str| allowed("page-of-scenes", text, &["play", "file.toml", "--json"]);
    let head = "seconds = 1\n[[character]]\nname = \"A\"\n";
    let tables = BTreeSet::from(["character", "throw", "obstacle"].map(str::to_owned));
    let scene: BTreeSet<String> = play("zzz = 1\n").difference(&tables).cloned().collect();
    for (heading, read) in [
        ("## The scene", scene),
        ("## `[[character]]`", play(&format!("{head}zzz = 1\n"))),
        ("### `style` as a table", play(&format!("{head}style = {{ zzz = 1 }}\n"))),
        ("## `[[throw]]`", play(&format!("{head}[[throw]]\nzzz = 1\n"))),
        ("## `[[obstacle]]`", play(&format!("{head}[[obstacle]]\nzzz = 1\n"))),
    ] {
        let mut written = section(&page, heading);
        // The table of a character's keys ends where those of its style begin.
        written = written.split("\n### ").next().unwrap();
        assert_eq!(keys(written), read, "{heading}");
    }
    let goal = play(&format!("{head}goal = {{ at = [0, 0], zzz = 1 }}\n"));
    let written = section(&page, "### `goal`");
    assert!(goal.iter().all(|key| written.contains(key.as_str())), "{goal:?}");
    for (shape, row) in [("box", "`box`"), ("sphere", "`sphere`"), ("capsule", "`capsule`")] {
        let read = play(&format!("{head}[[obstacle]]\n{shape} = {{ zzz = 1 }}\n"));
        let line = page.lines().find(|l| l.starts_with(&format!("| {row}"))).unwrap();
        assert!(read.iter().all(|key| line.contains(&format!("`{key}"))), "{line}: {read:?}");
    }
}

#[test]
fn the_page_of_libraries_has_every_key() {
    let page = page("library.md");
    let bake = |text: &str| allowed("page-of-libraries", text, &["bake", "file.toml", "-o", "x.kumite", "--json"]);
    let head = "[library]\nname = \"x\"\n[[clip]]\nfile = \"a.bvh\"\n";
    let span = "[[clip.span]]\nkind = \"attack\"\nfrom = 0\nto = 1\n";
    let without =
        |keys: BTreeSet<String>, table: &str| keys.into_iter().filter(|k| k != table).collect::<BTreeSet<_>>();
    for (heading, read) in [
        ("## `[library]`", bake("[library]\nzzz = 1\n")),
        ("## `[[clip]]`", without(bake(&format!("{head}zzz = 1\n")), "span")),
        ("## `[[clip.span]]`", without(bake(&format!("{head}{span}zzz = 1\n")), "strike")),
        ("## `[[clip.span.strike]]`", bake(&format!("{head}{span}[[clip.span.strike]]\nzzz = 1\n"))),
    ] {
        let written: BTreeSet<String> = keys(section(&page, heading));
        assert_eq!(written, read, "{heading}");
    }
}

/// Every block of the given kind on a page.
fn blocks(page: &str) -> Vec<String> {
    page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

#[test]
fn every_scene_on_a_page_plays() {
    let folder = folder("scenes-of-pages");
    let mut played = 0;
    for name in ["scene.md", "walking.md", "first-fight.md"] {
        for scene in blocks(&page(name)).iter().filter(|text| text.contains("[[character]]")) {
            std::fs::write(folder.join("scene.toml"), scene).unwrap();
            let out = kumite(&folder, &["play", "scene.toml", "--json"]);
            assert_eq!(out.status.code(), Some(0), "{name}: {}", String::from_utf8_lossy(&out.stdout));
            played += 1;
        }
    }
    assert!(played >= 4, "{played}");
}

#[test]
fn every_manifest_on_a_page_bakes() {
    let folder: PathBuf = folder("manifests-of-pages");
    for clip in ["jab", "duck", "walk", "guard-idle"] {
        kumite(&folder, &["convert", &format!("embedded:{clip}"), &format!("{clip}.bvh"), "-q"]);
    }
    let manifests: Vec<String> = blocks(&page("library.md")).into_iter().filter(|t| t.contains("[[clip]]")).collect();
    assert!(manifests.len() >= 2);
    for manifest in manifests {
        std::fs::write(folder.join("library.toml"), &manifest).unwrap();
        let out = kumite(&folder, &["label", "library.toml", "--json"]);
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stdout));
        if manifest.matches("[[clip]]").count() > 1 {
            let out = kumite(&folder, &["bake", "library.toml", "-o", "x.kumite", "--json"]);
            assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stdout));
        }
    }
}
