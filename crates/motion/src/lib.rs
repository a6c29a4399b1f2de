//! Skeletons, poses and clips as plain data, and the mathematics on them: sampling, forward and
//! inverse kinematics, blending, alignment, mirroring, balance.
//!
//! Conventions, everywhere past the importers: right-handed, +Y up, +Z forward, +X to the
//! character's left; metres, seconds, kilograms, radians; quaternions xyzw.
//!
//! Does not: read files, know the clock, start threads, or decide anything.
//! Same inputs give the same bits on every platform: transcendental functions come from `libm`.
//!
//! ```
//! use kumite_motion::{fk, humanoid, Pose, WorldPose};
//!
//! let skeleton = humanoid::skeleton();
//! let pose = Pose::rest(&skeleton);
//! let mut world = WorldPose::default();
//! fk::pose(&skeleton, &pose, &mut world);
//! let head = skeleton.find("head").unwrap();
//! assert!(world.positions[head.at()].y > 1.4);
//! ```

mod chance;
mod clip;
mod index;
mod pose;
mod skeleton;

pub mod align;
pub mod anatomy;
pub mod blend;
pub mod feet;
pub mod fk;
pub mod graph;
pub mod hands;
pub mod hash;
pub mod hinge;
pub mod humanoid;
pub mod ik;
pub mod interrupt;
pub mod library;
pub mod limits;
pub mod mass;
pub mod mirror;
pub mod retarget;
pub mod rotation;
pub mod sample;
pub mod settle;
pub mod span;
pub mod support;
pub mod volume;

pub use chance::Chance;
pub use clip::{Clip, ClipError, LANES};
pub use glam::{Quat, Vec2, Vec3};
pub use graph::{ClipIdx, EdgeIdx, Graph, Layer, NodeIdx};
pub use humanoid::{Role, Roles, Side};
pub use index::{FrameIdx, JointIdx};
pub use pose::{Pose, WorldPose};
pub use skeleton::{Joint, Skeleton, SkeletonError};
pub use span::{Contacts, Direction, Height, Span, SpanKind, Strike, StrikeKind};
