use std::fmt;

use kumite_motion::{ClipError, SkeletonError};

/// Something in a file that was odd but could be read; the import went on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Counted from 1; `None` where the format has no lines or the remark is about the whole file.
    pub line: Option<usize>,
    /// One sentence: what was found and what was done about it.
    pub text: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.text)
    }
}

/// Why a file that could be read does not make a clip.
#[derive(Clone, Debug, PartialEq)]
pub enum ConvertError {
    /// A skeleton without motion.
    NoFrames,
    /// The number of values is not that of whole frames. Files that were read never are; built ones may be.
    WrongShape {
        /// How many values there are.
        values: usize,
        /// How many one frame has.
        channels: usize,
    },
    /// The joints are not a tree.
    Skeleton(SkeletonError),
    /// The frames are not poses.
    Clip(ClipError),
}

impl fmt::Display for ConvertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConvertError::NoFrames => f.write_str("the file holds a skeleton but no frames of motion"),
            ConvertError::WrongShape { values, channels } => {
                write!(f, "{values} values are not whole frames of {channels} channels")
            }
            ConvertError::Skeleton(error) => error.fmt(f),
            ConvertError::Clip(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ConvertError {}

impl From<SkeletonError> for ConvertError {
    fn from(error: SkeletonError) -> Self {
        ConvertError::Skeleton(error)
    }
}

impl From<ClipError> for ConvertError {
    fn from(error: ClipError) -> Self {
        ConvertError::Clip(error)
    }
}
