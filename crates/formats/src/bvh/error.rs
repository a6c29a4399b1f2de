use std::fmt;

/// Why a BVH file cannot be read: where, what was found, and what would have been right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BvhError {
    /// What kind of fault it is.
    pub kind: BvhErrorKind,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in bytes.
    pub column: usize,
    /// As in the file, cut if long.
    pub found: String,
    /// What may stand there.
    pub allowed: String,
}

/// Kinds of fault in a BVH file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BvhErrorKind {
    /// Another word than the format wants there.
    Syntax,
    /// Something that is not a finite number.
    Number,
    /// The file stops too early.
    EndOfFile,
    /// A row of motion with too few or too many values.
    Row,
    /// A count beyond what is read.
    Limit,
}

impl fmt::Display for BvhError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BvhError { line, column, found, allowed, .. } = self;
        match self.kind {
            BvhErrorKind::Syntax => write!(f, "line {line}: expected {allowed}, found {found:?}"),
            BvhErrorKind::Number => write!(f, "line {line}, column {column}: expected {allowed}, found {found:?}"),
            BvhErrorKind::EndOfFile | BvhErrorKind::Row | BvhErrorKind::Limit => {
                write!(f, "line {line}: expected {allowed}, found {found}")
            }
        }
    }
}

impl std::error::Error for BvhError {}
