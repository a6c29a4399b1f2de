//! Where tests and benches find real captures, none of which is in the repository, and libraries of them. Never shipped.
//!
//! They are looked for below the folders of `KUMITE_MOCAP`, separated like `PATH`, or else beside the repository.

#![allow(clippy::panic, reason = "only tests and benches use it")]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kumite_bake::analyse::labelled;
use kumite_bake::kit::{Ingredients, bake_fight, bake_kit};
use kumite_bake::library::Baked;
use kumite_bake::manifest::{self, Header};
use kumite_bake::prepare::prepare;
use kumite_bake::repair::RepairConfig;
use kumite_bake::understand;
use kumite_formats::bvh;
use kumite_keying::embedded;
use kumite_motion::library::Library;
use kumite_motion::{Clip, humanoid};

/// Says that a test did not run, or ran on less, for want of something: a line on standard output, and one in the file that the
/// environment variable `KUMITE_SKIPPED` names, so that a run of all tests can count them. Every test that can be skipped says so here.
#[expect(clippy::print_stdout, reason = "said to whoever runs the tests")]
pub fn skipped(what: &str) {
    let thread = std::thread::current();
    let line = format!("skipped: {what} ({})", thread.name().unwrap_or("unnamed"));
    println!("{line}");
    if let Some(path) = std::env::var_os("KUMITE_SKIPPED") {
        // One write, so that lines of tests that run at the same time do not mix.
        let file = std::fs::OpenOptions::new().create(true).append(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(format!("{line}\n").as_bytes()));
        written.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
}

/// The folders that are there.
pub fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = match std::env::var_os("KUMITE_MOCAP") {
        Some(given) => std::env::split_paths(&given).collect(),
        None => vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mocap")],
    };
    folders.retain(|f| f.is_dir());
    folders
}

/// Every file with this ending below the folders, sorted. Records when there are none, so that a test that has nothing to look
/// at is not taken for one that looked.
pub fn files(ending: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = folders();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e.eq_ignore_ascii_case(ending)) {
                files.push(path);
            }
        }
    }
    files.sort();
    if files.is_empty() {
        skipped(&format!("all real .{ending} captures; there are none in the folders of KUMITE_MOCAP"));
    }
    files
}

/// What a manifest in `libraries/`, or `embedded`, is made from. `None`, and a line that says so, where one of its captures is missing.
///
/// # Panics
/// Where the manifest or a capture is wrong: this is for tests.
pub fn ingredients(name: &str) -> Option<Ingredients> {
    if name == "embedded" {
        let compiled = |made: Result<Vec<Clip>, embedded::FileError>| {
            made.unwrap_or_else(|(file, error)| panic!("{file}: {error}"))
        };
        let mut clips = compiled(embedded::clips());
        clips.iter_mut().for_each(labelled::add_strikes);
        return Some(Ingredients {
            name: name.to_owned(),
            attribution: Vec::new(),
            clips,
            walks: compiled(embedded::walks()),
            repair: RepairConfig::agile(),
        });
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../libraries/{name}.toml"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let manifest = manifest::read(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
    let skeleton = Arc::new(humanoid::skeleton());
    let (mut clips, mut walks) = (Vec::new(), Vec::new());
    for entry in &manifest.clip {
        let Some(file) = folders().iter().map(|f| f.join(&entry.file)).find(|f| f.is_file()) else {
            skipped(&format!("library {name}; {} is not in the folders of KUMITE_MOCAP", entry.file));
            return None;
        };
        let stem = file.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let bytes = std::fs::read(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let raw = bvh::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", file.display())).0.to_clip(&stem);
        let raw = raw.and_then(|raw| {
            Ok(match entry.fps {
                Some(fps) => raw.with_fps(fps)?,
                None => raw,
            })
        });
        let raw = raw.unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let made = prepare(understand(&raw).as_ref(), entry, entry.name.as_ref().unwrap_or(&stem), &skeleton);
        let kind = if entry.walk_only { &mut walks } else { &mut clips };
        kind.extend(made.unwrap_or_else(|e| panic!("{}: {e}", file.display())));
    }
    let Header { attribution, .. } = manifest.library;
    Some(Ingredients { name: name.to_owned(), attribution, clips, walks, repair: RepairConfig::default() })
}

/// The clips of [`ingredients`] that fight.
///
/// # Panics
/// As [`ingredients`].
pub fn clips(name: &str) -> Option<Vec<Clip>> {
    Some(ingredients(name)?.clips)
}

/// The library of these clips, as `kumite bake` makes it.
///
/// # Panics
/// Where they do not make one.
pub fn library(name: &str) -> Option<Baked> {
    Some(bake_fight(ingredients(name)?).unwrap_or_else(|e| panic!("{name}: {e}")).0)
}

/// A library with both of its layers, fighters' and walkers'; `None` where its captures are not there.
///
/// # Panics
/// As [`library`].
pub fn whole_library(name: &str) -> Option<Library> {
    if name == "embedded" {
        // The committed bundle; a test of the command line proves that it is what these motions bake to.
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library/embedded.kumite");
        let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        return Some(kumite_asset::read(&bytes).unwrap_or_else(|e| panic!("{}: {e}", path.display())));
    }
    Some(bake_kit(ingredients(name)?).unwrap_or_else(|e| panic!("{name}: {e}")).library)
}
