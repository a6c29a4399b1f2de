//! glTF 2.0 (`.glb`, `.gltf`): skeletons and animations in, characters with a body out.
//!
//! Reading takes nodes, skins and animations and leaves the rest alone: textures and meshes of a rig are carried to the
//! output byte for byte ([`Rig`]). Writing gives every character a tree of bones under a root bone that carries its motion
//! over the ground, and a skinned body made on the spot ([`write_glb`]).
//!
//! ```
//! use kumite_formats::gltf::{self, GltfCharacter};
//! use kumite_motion::{Clip, Pose, humanoid};
//!
//! let skeleton = humanoid::skeleton();
//! let clip = Clip::new("stand", skeleton.clone().into(), 30.0, &vec![Pose::rest(&skeleton); 10])?;
//! let bytes = gltf::write_glb("take", &[GltfCharacter { name: "Ana", clip: &clip, colour: GltfCharacter::COLOURS[0] }], &[]);
//!
//! let (file, _) = gltf::read(&bytes, |name| Err(format!("{name} is not here")))?;
//! let (clips, _) = file.to_clips()?;
//! let back = gltf::without_root_bone(&clips[0]).ok_or("no root bone")?;
//! assert_eq!(back.skeleton(), clip.skeleton());
//! assert_eq!((back.frames(), back.fps()), (10, 30.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod body;
mod build;
mod clips;
mod container;
mod error;
mod json;
mod read;
mod rig;
mod write;

use std::sync::Arc;

pub use clips::{GltfSkeleton, without_root_bone};
pub use error::{GltfError, GltfErrorKind};
use kumite_motion::{Quat, Vec3};
pub use read::read;
pub use rig::Rig;
pub use write::{GltfCharacter, GltfMarker, write_glb};

/// What a glTF file says about motion, in its own order.
#[derive(Clone, Debug)]
pub struct GltfFile {
    /// All of them, whether they are joints or not. They form trees.
    pub nodes: Vec<GltfNode>,
    /// Which nodes carry which meshes.
    pub skins: Vec<GltfSkin>,
    /// In the order of the file.
    pub animations: Vec<GltfAnimation>,
    /// The program that wrote it, as it calls itself.
    pub generator: String,
    source: Source,
}

/// What a rig needs to be written again.
#[derive(Clone, Debug)]
struct Source {
    members: json::Members,
    buffers: Vec<Vec<u8>>,
}

/// One node, placed in its parent.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfNode {
    /// Made up from its number where the file has none.
    pub name: String,
    /// Position in [`GltfFile::nodes`].
    pub parent: Option<usize>,
    /// Positions in [`GltfFile::nodes`].
    pub children: Vec<usize>,
    /// In the parent's frame, in its unit.
    pub translation: Vec3,
    /// Unit length.
    pub rotation: Quat,
    /// A mirrored node has one negative component.
    pub scale: Vec3,
    /// Written as a matrix, which animations cannot drive.
    pub has_matrix: bool,
    /// Whether it shows something.
    pub has_mesh: bool,
    /// Where its bone ends, if it is a leaf that we wrote.
    pub tip: Option<Vec3>,
}

/// The joints of one or more meshes.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfSkin {
    /// Empty where the file has none.
    pub name: String,
    /// Positions in [`GltfFile::nodes`]; at least one.
    pub joints: Vec<usize>,
}

/// Channels that play together.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfAnimation {
    /// Made up from its number where the file has none.
    pub name: String,
    /// Those that move nodes.
    pub channels: Vec<GltfChannel>,
}

/// How one property of one node goes.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfChannel {
    /// Position in [`GltfFile::nodes`].
    pub node: usize,
    /// What of it.
    pub property: Property,
    /// Between keys.
    pub interpolation: Interpolation,
    /// Seconds, growing; at least one.
    pub times: Arc<[f32]>,
    /// Per time one vector or quaternion; with its two tangents around it for splines.
    pub values: Arc<[f32]>,
}

/// What of a node can be animated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Property {
    Translation,
    Rotation,
    Scale,
}

impl Property {
    fn numbers(self) -> usize {
        if self == Property::Rotation { 4 } else { 3 }
    }
}

/// What happens between two keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Straight, and spherical for rotations.
    Linear,
    /// The first holds until the second.
    Step,
    /// Hermite, with tangents.
    CubicSpline,
}
