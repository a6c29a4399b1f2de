use std::fmt;

/// Why a glTF file cannot be read, or a rig cannot carry a clip: where, what was found, what would have been right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GltfError {
    /// What kind of fault it is.
    pub kind: GltfErrorKind,
    /// Line of the JSON text, from 1; for syntax errors only.
    pub line: Option<usize>,
    /// The place in the document, such as `accessors[3].bufferView`; empty for the file as a whole.
    pub key: String,
    /// What the file has, shortened if long.
    pub found: String,
    /// What is allowed there.
    pub allowed: String,
}

/// Kinds of fault in a glTF file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum GltfErrorKind {
    /// Not a GLB container, or a broken one.
    Container,
    /// Not JSON, or a value of the wrong type.
    Json,
    /// A value the format does not allow there.
    Value,
    /// An index of something that is not in the file.
    Index,
    /// Data that reaches beyond its buffer.
    Range,
    /// A URI that is refused, or cannot be read.
    Uri,
    /// Nodes that do not form trees.
    Tree,
    /// More than this reader accepts.
    Limit,
    /// A required extension that is not understood.
    Extension,
    /// A clip that is not on the rig's skeleton.
    Skeleton,
}

impl GltfError {
    pub(crate) fn new(
        kind: GltfErrorKind,
        key: impl Into<String>,
        allowed: impl Into<String>,
        found: impl fmt::Display,
    ) -> GltfError {
        let found: String = found.to_string();
        let found =
            if found.chars().count() > 60 { found.chars().take(60).chain("...".chars()).collect() } else { found };
        GltfError { kind, line: None, key: key.into(), found, allowed: allowed.into() }
    }

    pub(crate) fn container(allowed: &str, found: impl fmt::Display) -> GltfError {
        GltfError::new(GltfErrorKind::Container, "", allowed, found)
    }
}

impl fmt::Display for GltfError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "expected {}, found {}", self.allowed, self.found)
    }
}

impl std::error::Error for GltfError {}
