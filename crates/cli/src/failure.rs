//! The one way a command fails: a sentence for people, fields for programs, an exit code.

use std::fmt;
use std::path::Path;

use kumite_text::TextError;
use serde_json::{Map, Value, json};

/// Exit code when the machine is at fault: a disk, a missing permission, a used-up budget.
pub(crate) const COULD_NOT: u8 = 1;
/// Exit code when the request is at fault: wrong use, bad input.
pub(crate) const BAD_INPUT: u8 = 2;

/// Why a command stopped. Only what applies is set.
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
    /// Something in the request or in a file is wrong.
    pub(crate) fn bad(message: impl Into<String>) -> Failure {
        Failure { code: BAD_INPUT, message: message.into(), ..Failure::default() }
    }

    /// The operating system said no. A file that is not there is the user's to mend, the rest is the machine's.
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
        // Readers of formats put the line into their sentence already.
        if let Some(line) = self.line
            && !self.message.starts_with("line ")
        {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}", self.message)
    }
}
