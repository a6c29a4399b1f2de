//! The error type of all commands: a message for people, fields for programs, an exit code.

use std::fmt;
use std::path::Path;

use kumite_text::{TextError, hint, nearest, sort_by_nearness};
use serde_json::{Map, Value, json};

/// Exit code for failures of the machine: a full disk, a missing permission.
pub(crate) const COULD_NOT: u8 = 1;
/// Exit code for wrong use or bad input.
pub(crate) const BAD_INPUT: u8 = 2;

/// More names than these are not all listed in a message.
const MANY: usize = 12;

/// The file that was probably meant by one that is not there, in brackets.
pub(crate) fn beside(missing: &Path) -> String {
    let folder = missing.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Ok(entries) = std::fs::read_dir(folder) else {
        return if folder.exists() { String::new() } else { format!(" ({} is not there either)", folder.display()) };
    };
    let names: Vec<String> = entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    let wanted = missing.file_name().unwrap_or_default().to_string_lossy();
    match nearest(&wanted, names.iter().map(String::as_str)) {
        Some(name) => format!(" (did you mean {name}?)"),
        None => String::new(),
    }
}

/// Why a command failed. Fields that do not apply are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) message: String,
    pub(crate) file: Option<String>,
    pub(crate) line: Option<usize>,
    pub(crate) key: Option<String>,
    pub(crate) found: Option<String>,
    pub(crate) allowed: Option<String>,
}

pub(crate) type CliResult<T> = Result<T, Failure>;

impl Failure {
    /// An error in the request or in an input file.
    pub(crate) fn bad(message: impl Into<String>) -> Failure {
        Failure { code: BAD_INPUT, message: message.into(), ..Failure::default() }
    }

    /// An error of the operating system. A missing file counts as bad input, everything else as the machine's failure.
    pub(crate) fn io(file: &Path, doing: &str, error: &std::io::Error) -> Failure {
        let code = match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::IsADirectory => BAD_INPUT,
            _ => COULD_NOT,
        };
        let reason = match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file or folder".to_owned(),
            std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
            std::io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
            _ => error.to_string(),
        };
        let near = if error.kind() == std::io::ErrorKind::NotFound { beside(file) } else { String::new() };
        Failure { code, message: format!("cannot {doing}: {reason}{near}"), ..Failure::default() }.in_file(file)
    }

    /// A name that is not among those there are. Of many, the nearest are shown.
    pub(crate) fn unknown<'a>(says: &str, found: &str, names: impl IntoIterator<Item = &'a str>) -> Failure {
        let names: Vec<&str> = names.into_iter().collect();
        let mut shown = names.clone();
        let more = if names.len() > MANY {
            sort_by_nearness(found, &mut shown);
            shown.truncate(MANY);
            format!(" and {} more", names.len() - MANY)
        } else {
            String::new()
        };
        let message = format!("{says}; there are {}{more}", shown.join(", "));
        Failure::bad(message).found(found).allowed(names.join(", "))
    }

    #[must_use]
    pub(crate) fn in_file(mut self, file: &Path) -> Failure {
        self.file.get_or_insert_with(|| file.display().to_string());
        self
    }

    /// In this file, whatever was said before.
    #[must_use]
    pub(crate) fn of_file(mut self, file: &Path) -> Failure {
        self.file = Some(file.display().to_string());
        self
    }

    #[must_use]
    pub(crate) fn at_line(mut self, line: Option<usize>) -> Failure {
        self.line = line;
        self
    }

    #[must_use]
    pub(crate) fn key(mut self, key: &str) -> Failure {
        self.key = Some(key.to_owned());
        self
    }

    #[must_use]
    pub(crate) fn found(mut self, found: impl Into<String>) -> Failure {
        self.found = Some(found.into());
        self
    }

    #[must_use]
    pub(crate) fn allowed(mut self, allowed: impl Into<String>) -> Failure {
        self.allowed = Some(allowed.into());
        self
    }

    /// The message, with what was probably meant.
    fn sentence(&self) -> String {
        let hint = match (&self.found, &self.allowed) {
            (Some(found), Some(allowed)) if !self.message.contains("did you mean") => hint(found, allowed),
            _ => String::new(),
        };
        format!("{}{hint}", self.message)
    }

    /// `{"error": {…}}`, with the fields that apply.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("message".into(), json!(self.sentence()));
        let texts = [("file", &self.file), ("key", &self.key), ("found", &self.found), ("allowed", &self.allowed)];
        if let Some(line) = self.line {
            error.insert("line".into(), json!(line));
        }
        for (name, text) in texts {
            if let Some(text) = text {
                error.insert(name.into(), json!(text));
            }
        }
        json!({ "error": error })
    }
}

impl From<TextError> for Failure {
    fn from(error: TextError) -> Failure {
        let TextError { message, line, key, found, allowed, .. } = error;
        Failure { line, key, found, allowed, ..Failure::bad(message) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        // Messages of format readers already begin with the line.
        if let Some(line) = self.line
            && !self.message.starts_with("line ")
        {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}", self.sentence())
    }
}
