//! glTF 2.0 (`.glb`, `.gltf`): skeletons and animations in, characters with a body out.
//!
//! Reading takes nodes, skins and animations and leaves the rest alone: textures and meshes of a rig are carried to the
//! output byte for byte ([`Rig`]). Writing gives every character a tree of bones under a root bone that carries its motion
//! over the ground, and a skinned body that is generated for it ([`write_glb`]).
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
mod prop;
mod read;
mod rig;
mod skin;
mod write;

use std::sync::Arc;

pub use clips::{GltfSkeleton, without_root_bone};
pub use error::{GltfError, GltfErrorKind};
use kumite_motion::{Quat, Vec3};
pub use prop::GltfProp;
pub use read::read;
pub use rig::Rig;
pub use write::{GltfCharacter, GltfMarker, write_glb, write_scene};

/// What a glTF file says about motion, in its own order.
#[derive(Clone, Debug)]
pub struct GltfFile {
    /// All nodes, joints or not. They form trees.
    pub nodes: Vec<GltfNode>,
    /// Sets of joints that meshes are bound to.
    pub skins: Vec<GltfSkin>,
    /// In the order of the file.
    pub animations: Vec<GltfAnimation>,
    /// The program that wrote it, as it calls itself.
    pub generator: String,
    source: Source,
}

/// What is kept to write a rig again.
#[derive(Clone, Debug)]
struct Source {
    members: json::Members,
    buffers: Vec<Vec<u8>>,
}

/// One node.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfNode {
    /// From its number where the file has no name.
    pub name: String,
    /// Position in [`GltfFile::nodes`].
    pub parent: Option<usize>,
    /// Positions in [`GltfFile::nodes`].
    pub children: Vec<usize>,
    /// In the parent's frame and unit.
    pub translation: Vec3,
    /// Unit length.
    pub rotation: Quat,
    /// Mirrored nodes have one negative component.
    pub scale: Vec3,
    /// Whether the file has it as a matrix, which cannot be animated.
    pub has_matrix: bool,
    /// Whether it has a mesh.
    pub has_mesh: bool,
    /// Where its bone ends, as kumite writes it for leaves.
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
    /// From its number where the file has no name.
    pub name: String,
    /// Those that animate nodes.
    pub channels: Vec<GltfChannel>,
}

/// One animated property of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct GltfChannel {
    /// Position in [`GltfFile::nodes`].
    pub node: usize,
    /// Which property.
    pub property: Property,
    /// How values between keys are found.
    pub interpolation: Interpolation,
    /// Times of the keys, ascending, at least one. Seconds.
    pub times: Arc<[f32]>,
    /// One vector or quaternion per key; for splines between its two tangents.
    pub values: Arc<[f32]>,
}

/// An animated property of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Property {
    Translation,
    Rotation,
    Scale,
}

impl Property {
    /// How many numbers a value has.
    fn width(self) -> usize {
        if self == Property::Rotation { 4 } else { 3 }
    }
}

/// How values between two keys are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Linear; spherical for rotations.
    Linear,
    /// The earlier key's value.
    Step,
    /// Cubic Hermite with the tangents of the keys.
    CubicSpline,
}
