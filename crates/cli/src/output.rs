//! Writes results: all files complete, or none.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{CliResult, Failure};
use crate::source;

/// Files to be written together: nothing is visible under its name until all of them are complete.
#[derive(Default)]
pub(crate) struct Outputs {
    staged: Vec<(PathBuf, PathBuf)>,
}

impl Outputs {
    /// Writes the bytes beside the destination, under a temporary name.
    pub(crate) fn stage(&mut self, path: &Path, bytes: &[u8]) -> CliResult<()> {
        let name = path.file_name().ok_or_else(|| Failure::bad("an output needs a file name").in_file(path))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{}.part", std::process::id()));
        let staged = path.with_file_name(hidden);
        self.staged.push((staged.clone(), path.to_owned()));
        fs::write(&staged, bytes).map_err(|e| Failure::io(path, "write", &e))
    }

    /// Renames every staged file to its destination.
    pub(crate) fn commit(mut self) -> CliResult<Vec<PathBuf>> {
        let staged = std::mem::take(&mut self.staged);
        let mut written = Vec::with_capacity(staged.len());
        let mut rest = staged.into_iter();
        while let Some((from, to)) = rest.next() {
            if let Err(error) = fs::rename(&from, &to) {
                self.staged.push((from, to.clone()));
                self.staged.extend(rest);
                return Err(Failure::io(&to, "write", &error));
            }
            written.push(to);
        }
        Ok(written)
    }
}

impl Drop for Outputs {
    fn drop(&mut self) {
        for (staged, _) in &self.staged {
            // A leftover that cannot be removed is ignored: the first error matters more.
            let _ = fs::remove_file(staged);
        }
    }
}

/// Writes one file, completely or not at all.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> CliResult<()> {
    let mut outputs = Outputs::default();
    outputs.stage(path, bytes)?;
    outputs.commit()?;
    Ok(())
}

/// Films that are not written, and what to do instead.
const FILMS: [&str; 6] = ["mp4", "webm", "mov", "avi", "mkv", "m4v"];
const INSTEAD: &str = if cfg!(feature = "mp4") {
    "films are written as .mp4 and .gif, 50 frames a second, and as a replay to open in a browser, .html"
} else {
    "films are written as .gif, 50 frames a second, and as a replay to open in a browser, .html (.mp4 was left out when this kumite was built)"
};

/// The ending of a file to write, if it is one of `endings`.
pub(crate) fn ending(path: &Path, endings: &[&'static str]) -> CliResult<&'static str> {
    let found = source::ending(path).unwrap_or_default();
    let built = |ending: &&&str| **ending != "mp4" || cfg!(feature = "mp4");
    if let Some(known) = endings.iter().filter(built).find(|ending| **ending == found) {
        return Ok(known);
    }
    let allowed = endings.iter().filter(built).map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ");
    let message = match &found[..] {
        film if FILMS.contains(&film) => {
            format!("cannot write .{film}: {INSTEAD}; the ending says the format: {allowed}")
        }
        "" => format!("cannot write a file without an ending; the ending says the format: {allowed}"),
        _ => format!("cannot write .{found}; the ending says the format: {allowed}"),
    };
    Err(Failure::bad(message).in_file(path).found(format!(".{found}")).allowed(allowed))
}

/// Refuses to write over what is read.
pub(crate) fn refuse_inputs<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a Path>) -> CliResult<()> {
    let Ok(written) = output.canonicalize() else { return Ok(()) };
    match inputs.into_iter().find(|input| input.canonicalize().is_ok_and(|input| input == written)) {
        Some(_) => Err(Failure::bad("this file is read, so it is not written: choose another name for the output")
            .in_file(output)
            .key("output")),
        None => Ok(()),
    }
}
