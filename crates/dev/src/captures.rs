//! Finds captures for tests. None is in the repository: they are looked for beside it and installed from package registries.

use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::{command, root, target};

/// The folders that tests look in, in the format of `KUMITE_MOCAP`: separated like `PATH`.
pub fn known() -> String {
    let mut folders: Vec<PathBuf> = match std::env::var_os("KUMITE_MOCAP") {
        Some(given) => std::env::split_paths(&given).collect(),
        None => vec![root().join("../shared/mocap")],
    };
    folders.push(target().join("captures"));
    folders.retain(|f| f.is_dir());
    std::env::join_paths(folders).map(|p| p.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Installs the captures that are missing, prints how many there are, and returns [`known`].
pub fn gather() -> String {
    let captures = target().join("captures");
    for (name, install) in
        [("assimp", install_from_debian as fn(&Path) -> Option<()>), ("bvhtoolbox", install_from_pypi)]
    {
        let folder = captures.join(name);
        if folder.is_dir() {
            continue;
        }
        let _ = fs::create_dir_all(&folder);
        if install(&folder).is_none() {
            let _ = fs::remove_dir_all(&folder);
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

fn run_quietly(words: &[&str], folder: &Path) -> Option<()> {
    let out = command(words).current_dir(folder).output().ok()?;
    out.status.success().then_some(())
}

fn install_from_debian(folder: &Path) -> Option<()> {
    if run_quietly(&["apt-get", "download", "assimp-testmodels"], folder).is_none() {
        run_quietly(&["apt-get", "update"], folder)?;
        run_quietly(&["apt-get", "download", "assimp-testmodels"], folder)?;
    }
    let package = first_file(folder, "deb")?;
    run_quietly(&["dpkg-deb", "-x", &package, "unpacked"], folder)?;
    let models = folder.join("unpacked/usr/share/assimp/models/BVH");
    for entry in fs::read_dir(models).ok()?.flatten() {
        fs::copy(entry.path(), folder.join(entry.file_name())).ok()?;
    }
    fs::remove_dir_all(folder.join("unpacked")).ok()?;
    fs::remove_file(folder.join(package)).ok()
}

fn install_from_pypi(folder: &Path) -> Option<()> {
    let pip = ["python3", "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"];
    run_quietly(&[&pip[..], &["bvhtoolbox==0.1.3"]].concat(), folder)?;
    let archive = first_file(folder, "gz")?;
    run_quietly(&["tar", "xzf", &archive, "--wildcards", "--strip-components=3", "*.bvh"], folder)?;
    fs::remove_file(folder.join(archive)).ok()
}

fn first_file(folder: &Path, ending: &str) -> Option<String> {
    let found =
        fs::read_dir(folder).ok()?.flatten().map(|e| e.path()).find(|p| p.extension().is_some_and(|e| e == ending))?;
    Some(found.file_name()?.to_string_lossy().into_owned())
}
