//! Where motions come from: files by their ending, and the embedded library by name.

use std::path::Path;

use kumite_formats::{Warning, bvh};
use kumite_keying::{KeyingError, embedded, read_motion};
use kumite_motion::{Clip, Roles};

use crate::failure::{Failure, Outcome};

/// Files beyond this are refused: no motion of a person is that long, and all of it is held in memory.
const LARGEST: u64 = 2 << 30;

/// A motion, and how it came in.
pub(crate) struct Source {
    /// As the user named it.
    pub(crate) name: String,
    pub(crate) format: &'static str,
    pub(crate) clips: Vec<Clip>,
    /// Who is what, where it is known.
    pub(crate) roles: Option<Roles>,
    pub(crate) warnings: Vec<Warning>,
}

/// What endings are read, for messages.
const READ: &str = ".bvh, .toml (keys), embedded, embedded:NAME";

/// Reads whatever `path` names.
pub(crate) fn load(path: &Path) -> Outcome<Source> {
    let name = path.display().to_string();
    if name == "embedded" || name.starts_with("embedded:") {
        return embedded_clips(&name);
    }
    match path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase).as_deref() {
        Some("bvh") => from_bvh(path, name),
        Some("toml") => from_keys(path, name),
        other => {
            let found = other.map_or("no ending".to_owned(), |e| format!(".{e}"));
            let message =
                format!("cannot tell what kind of motion this is: {found} is not an ending it knows ({READ})");
            Err(Failure::bad(message).in_file(path).found(found).allowed(READ))
        }
    }
}

fn read(path: &Path) -> Outcome<Vec<u8>> {
    let size = std::fs::metadata(path).map_err(|e| Failure::io(path, "read", &e))?;
    if size.is_dir() {
        return Err(Failure::bad("cannot read: it is a folder; name the files in it").in_file(path));
    }
    if size.len() > LARGEST {
        let found = format!("{} MB", size.len() >> 20);
        let message = format!("too large: {found}; at most {} MB are read", LARGEST >> 20);
        return Err(Failure::bad(message).in_file(path).found(found).allowed(format!("{} MB", LARGEST >> 20)));
    }
    std::fs::read(path).map_err(|e| Failure::io(path, "read", &e))
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

fn from_bvh(path: &Path, name: String) -> Outcome<Source> {
    let bytes = read(path)?;
    let (file, warnings) = bvh::read(&bytes).map_err(|e| {
        Failure::bad(e.to_string())
            .in_file(path)
            .at_line(Some(e.line))
            .found(e.found.clone())
            .allowed(e.allowed.clone())
    })?;
    let clip = file.to_clip(&stem(path)).map_err(|e| Failure::bad(e.to_string()).in_file(path))?;
    let roles = Roles::by_canonical_names(clip.skeleton());
    let roles = roles.is_complete().then_some(roles);
    Ok(Source { name, format: "bvh", clips: vec![clip], roles, warnings })
}

fn keying(error: KeyingError) -> Failure {
    Failure {
        key: error.key.clone(),
        found: error.found.clone(),
        allowed: error.allowed.clone(),
        ..Failure::bad(error.message)
    }
    .at_line(error.line)
}

fn from_keys(path: &Path, name: String) -> Outcome<Source> {
    let bytes = read(path)?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::bad("not UTF-8 text").in_file(path))?;
    let motion = read_motion(&text).map_err(|e| keying(e).in_file(path))?;
    let clips = embedded::clips_of(&motion).map_err(|(_, e)| keying(e).in_file(path))?;
    Ok(Source { name, format: "keys", clips, roles: Some(Roles::canonical()), warnings: Vec::new() })
}

fn embedded_clips(name: &str) -> Outcome<Source> {
    let mut clips = embedded::clips().map_err(|(file, e)| keying(e).in_file(Path::new(&file)))?;
    if let Some(wanted) = name.strip_prefix("embedded:") {
        let names = clips.iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
        clips.retain(|c| c.name == wanted);
        if clips.is_empty() {
            let message = format!("there is no embedded motion {wanted:?}; there are {names}");
            return Err(Failure::bad(message).found(wanted).allowed(names));
        }
    }
    let (roles, warnings) = (Some(Roles::canonical()), Vec::new());
    Ok(Source { name: name.to_owned(), format: "embedded", clips, roles, warnings })
}
