//! Where tests and benches find real captures: none is in the repository. Never shipped.
//!
//! They are looked for below the folders of `KUMITE_MOCAP`, separated like `PATH`, or else beside the repository.

use std::path::{Path, PathBuf};

/// The folders that are there.
pub fn folders() -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = match std::env::var_os("KUMITE_MOCAP") {
        Some(given) => std::env::split_paths(&given).collect(),
        None => vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mocap")],
    };
    folders.retain(|f| f.is_dir());
    folders
}

/// Every file with this ending below the folders, sorted. Says in one line when there are none, so that a test that has nothing to look
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
        #[expect(clippy::print_stdout, reason = "said to whoever runs the tests")]
        {
            println!("skipped: all real .{ending} captures; there are none in the folders of KUMITE_MOCAP");
        }
    }
    files
}
