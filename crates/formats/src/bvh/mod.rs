//! Biovision hierarchies (`.bvh`): a tree of joints, then one row of numbers per frame.
//!
//! There is no standard. What is read here is what the files of CMU, ACCAD, MotionBuilder, Blender and friends hold:
//! any channel order, position channels on any joint, mixed line ends, wrong frame counts, wrapped rows.
//! Position channels *replace* a joint's offset, axis by axis, as those programs do; they are not added to it.

mod convert;
mod error;
mod number;
mod read;
mod write;

pub use error::{BvhError, BvhErrorKind};
use kumite_motion::Vec3;
pub use read::read;
pub use write::write;

/// What a BVH file says, in its own order and unit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BvhFile {
    /// In the order of the text: parents first, and whole limbs together.
    pub joints: Vec<BvhJoint>,
    /// What `Frames:` says; the rows found may differ.
    pub declared_frames: u64,
    /// Seconds from one row to the next, positive.
    pub frame_time: f64,
    /// Rows one after the other, each with one value per channel: lengths in the file's unit, angles in degrees.
    pub values: Vec<f32>,
}

/// One `ROOT` or `JOINT` block.
#[derive(Clone, Debug, PartialEq)]
pub struct BvhJoint {
    /// Repeated names, spaces and colons occur.
    pub name: String,
    /// Position in [`BvhFile::joints`]; `None` for the root only.
    pub parent: Option<usize>,
    /// From the parent.
    pub offset: Vec3,
    /// In the order of their columns. Rotations are applied in this order, the first outermost.
    pub channels: Vec<Channel>,
    /// Where bones without a further joint end. Usually one on leaves and none elsewhere.
    pub end_sites: Vec<Vec3>,
}

/// What one column of the motion drives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channel {
    /// A length or an angle.
    pub kind: ChannelKind,
    /// Along or about which axis.
    pub axis: Axis,
}

/// Length or angle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChannelKind {
    /// Place in the parent's frame, replacing that axis of the offset.
    Position,
    /// Degrees.
    Rotation,
}

/// One of three.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Axis {
    X,
    Y,
    Z,
}

/// In which order three rotations of different axes are written, the outermost first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RotationOrder {
    Xyz,
    Xzy,
    Yxz,
    Yzx,
    /// The commonest in captures: ACCAD and LAFAN have it.
    #[default]
    Zxy,
    Zyx,
}

impl RotationOrder {
    /// All six.
    pub const ALL: [RotationOrder; 6] = [
        RotationOrder::Xyz,
        RotationOrder::Xzy,
        RotationOrder::Yxz,
        RotationOrder::Yzx,
        RotationOrder::Zxy,
        RotationOrder::Zyx,
    ];

    /// The three axes, outermost first.
    pub fn axes(self) -> [Axis; 3] {
        use Axis::{X, Y, Z};
        match self {
            RotationOrder::Xyz => [X, Y, Z],
            RotationOrder::Xzy => [X, Z, Y],
            RotationOrder::Yxz => [Y, X, Z],
            RotationOrder::Yzx => [Y, Z, X],
            RotationOrder::Zxy => [Z, X, Y],
            RotationOrder::Zyx => [Z, Y, X],
        }
    }
}

impl Channel {
    /// All six, as [`Channel::name`] spells them.
    pub const ALL: [Channel; 6] = [
        Channel::position(Axis::X),
        Channel::position(Axis::Y),
        Channel::position(Axis::Z),
        Channel::rotation(Axis::X),
        Channel::rotation(Axis::Y),
        Channel::rotation(Axis::Z),
    ];

    /// A place along `axis`.
    pub const fn position(axis: Axis) -> Channel {
        Channel { kind: ChannelKind::Position, axis }
    }

    /// A turn about `axis`.
    pub const fn rotation(axis: Axis) -> Channel {
        Channel { kind: ChannelKind::Rotation, axis }
    }

    /// As files write it.
    pub fn name(self) -> &'static str {
        match (self.kind, self.axis) {
            (ChannelKind::Position, Axis::X) => "Xposition",
            (ChannelKind::Position, Axis::Y) => "Yposition",
            (ChannelKind::Position, Axis::Z) => "Zposition",
            (ChannelKind::Rotation, Axis::X) => "Xrotation",
            (ChannelKind::Rotation, Axis::Y) => "Yrotation",
            (ChannelKind::Rotation, Axis::Z) => "Zrotation",
        }
    }
}

impl BvhFile {
    /// Values in one row.
    pub fn channels(&self) -> usize {
        self.joints.iter().map(|j| j.channels.len()).sum()
    }

    /// Rows found.
    pub fn frames(&self) -> usize {
        self.values.len().checked_div(self.channels()).unwrap_or(0)
    }

    /// Frames per second. Frame times are rounded in files (`.0083333` means 120), so a rate within 0.01 % of a whole
    /// number is that number; 23.976 stays what it is.
    pub fn fps(&self) -> f32 {
        let exact = 1.0 / self.frame_time;
        let whole = exact.round();
        (if whole >= 1.0 && (exact - whole).abs() <= 1e-4 * whole { whole } else { exact }) as f32
    }
}
