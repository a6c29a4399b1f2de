//! Real captures for tests. None is in the repository: they are looked for beside it and installed from package registries.

use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::{command, root, target};

/// The folders tests look in, as `KUMITE_MOCAP` wants them: separated like `PATH`.
pub fn known() -> String {
    let mut folders: Vec<PathBuf> = match std::env::var_os("KUMITE_MOCAP") {
        Some(given) => std::env::split_paths(&given).collect(),
        None => vec![root().join("../shared/mocap")],
    };
    folders.push(target().join("captures"));
    folders.retain(|f| f.is_dir());
    std::env::join_paths(folders).map(|p| p.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Installs what can be had, then [`known`]. Says in one line what there is.
pub fn gather() -> String {
    let folder = target().join("captures");
    for (name, install) in [("assimp", debian as fn(&Path) -> Option<()>), ("bvhtoolbox", pypi)] {
        let place = folder.join(name);
        if place.is_dir() {
            continue;
        }
        let _ = fs::create_dir_all(&place);
        if install(&place).is_none() {
            let _ = fs::remove_dir_all(&place);
            println!("{name}: could not be installed; its captures are skipped");
        }
    }
    let folders = known();
    let count: usize = std::env::split_paths(&folders).map(|f| count(&f)).sum();
    println!("{count} captures to test with");
    folders
}

fn count(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    entries
        .flatten()
        .map(|entry| {
            let path = entry.path();
            if path.is_dir() { count(&path) } else { usize::from(path.extension().is_some_and(|e| e == "bvh")) }
        })
        .sum()
}

fn quiet(words: &[&str], folder: &Path) -> Option<()> {
    let out = command(words).current_dir(folder).output().ok()?;
    out.status.success().then_some(())
}

fn debian(place: &Path) -> Option<()> {
    if quiet(&["apt-get", "download", "assimp-testmodels"], place).is_none() {
        quiet(&["apt-get", "update"], place)?;
        quiet(&["apt-get", "download", "assimp-testmodels"], place)?;
    }
    let package = first(place, "deb")?;
    quiet(&["dpkg-deb", "-x", &package, "unpacked"], place)?;
    let models = place.join("unpacked/usr/share/assimp/models/BVH");
    for entry in fs::read_dir(models).ok()?.flatten() {
        fs::copy(entry.path(), place.join(entry.file_name())).ok()?;
    }
    fs::remove_dir_all(place.join("unpacked")).ok()?;
    fs::remove_file(place.join(package)).ok()
}

fn pypi(place: &Path) -> Option<()> {
    let pip = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"];
    quiet(&[&pip[..], &["bvhtoolbox==0.1.3"]].concat(), place)?;
    let archive = first(place, "gz")?;
    quiet(&["tar", "xzf", &archive, "--wildcards", "--strip-components=3", "*.bvh"], place)?;
    fs::remove_file(place.join(archive)).ok()
}

fn first(place: &Path, ending: &str) -> Option<String> {
    let found =
        fs::read_dir(place).ok()?.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == ending))?;
    Some(found.file_name()?.to_string_lossy().into_owned())
}
