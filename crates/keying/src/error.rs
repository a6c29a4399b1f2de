use std::fmt;

/// What is wrong with keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KeyingError {
    /// One sentence.
    pub message: String,
    /// Where, counted from 1, if it is in the text.
    pub line: Option<usize>,
    /// Which key.
    pub key: Option<String>,
    /// What stands there.
    pub found: Option<String>,
    /// What may stand there.
    pub allowed: Option<String>,
}

impl KeyingError {
    pub(crate) fn new(message: impl Into<String>) -> KeyingError {
        KeyingError { message: message.into(), ..KeyingError::default() }
    }

    pub(crate) fn value(key: impl Into<String>, found: impl fmt::Display, allowed: &str) -> KeyingError {
        let (key, found) = (key.into(), found.to_string());
        KeyingError {
            message: format!("{key} is {found}; allowed is {allowed}"),
            line: None,
            key: Some(key),
            found: Some(found),
            allowed: Some(allowed.to_owned()),
        }
    }

    pub(crate) fn from_toml(text: &str, error: &toml::de::Error) -> KeyingError {
        let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
        let message = error.message().trim_end().replace('\n', "; ");
        KeyingError { message, line, ..KeyingError::default() }
    }
}

impl fmt::Display for KeyingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => write!(f, "{}", self.message),
        }
    }
}

impl std::error::Error for KeyingError {}
