//! Motion files: bytes ⇄ file-shaped structs ⇄ clips.
//!
//! Every format is read in two steps. The first takes bytes and gives the file's own shape plus [`Warning`]s with
//! line numbers; the second turns that shape into [`kumite_motion::Clip`]s. Lengths keep the file's unit and axes:
//! the size of a unit can only be inferred from whole skeletons, which is done elsewhere.
//!
//! Does not: open files or sockets, guess units or axes, drop frames, rename joints. Input may be hostile: readers
//! never panic, never recurse with the file's depth, and use memory in proportion to the bytes given.
//!
//! ```
//! use kumite_formats::bvh;
//!
//! let text = "HIERARCHY\nROOT hips\n{\nOFFSET 0 0 0\nCHANNELS 4 Yposition Zrotation Xrotation Yrotation\n\
//!             End Site\n{\nOFFSET 0 10 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: .0083333\n90 0 0 0\n91 0 0 45\n";
//! let (file, warnings) = bvh::read(text.as_bytes())?;
//! assert!(warnings.is_empty());
//! let clip = file.to_clip("rise")?;
//! assert_eq!((clip.frames(), clip.fps()), (2, 120.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod bvh;
pub mod gltf;
mod warning;

pub use warning::{ConvertError, Warning};
