//! The error type of all commands: a message for people, fields for programs, an exit code.

use std::fmt;
use std::path::Path;

use kumite_text::TextError;
use serde_json::{Map, Value, json};

/// Exit code for failures of the machine: a full disk, a missing permission.
pub(crate) const COULD_NOT: u8 = 1;
/// Exit code for wrong use or bad input.
pub(crate) const BAD_INPUT: u8 = 2;

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
        Failure { code, message: format!("cannot {doing}: {reason}"), ..Failure::default() }.in_file(file)
    }

    #[must_use]
    pub(crate) fn in_file(mut self, file: &Path) -> Failure {
        self.file.get_or_insert_with(|| file.display().to_string());
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

    /// `{"error": {…}}`, with the fields that apply.
    pub(crate) fn to_json(&self) -> Value {
        let mut error = Map::new();
        error.insert("message".into(), json!(self.message));
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
        write!(f, "{}", self.message)
    }
}
