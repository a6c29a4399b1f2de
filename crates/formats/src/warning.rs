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
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvertError {
    /// A skeleton without motion.
    #[error("the file holds a skeleton but no frames of motion")]
    NoFrames,
    /// Nothing that could move.
    #[error("the file holds no skeleton: no skin and no animated nodes")]
    NoSkeleton,
    /// The number of values is not that of whole frames. Files that were read never are; built ones may be.
    #[error("{values} values are not whole frames of {channels} channels")]
    WrongShape {
        /// How many values there are.
        values: usize,
        /// How many one frame has.
        channels: usize,
    },
    /// A node of a joint, or above one, that is mirrored or flat.
    #[error("node {node:?} is scaled by {} x {} x {}; a joint cannot be mirrored or flat", scale[0], scale[1], scale[2])]
    BadScale {
        /// Its name.
        node: String,
        /// Its scale.
        scale: [f32; 3],
    },
    /// Times so far apart that the frames between them cannot be meant.
    #[error("{frames} frames of {joints} joints are too many")]
    TooLong {
        /// How many frames it would be.
        frames: f64,
        /// Of how many joints.
        joints: usize,
    },
    /// The joints are not a tree.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The frames are not poses.
    #[error(transparent)]
    Clip(#[from] ClipError),
}
