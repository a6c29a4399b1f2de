use crate::{JointIdx, Quat, Vec3};

/// One joint as an importer or a rig describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Names need not be unique: files exist that repeat them.
    pub name: String,
    /// `None` for the first joint only.
    pub parent: Option<JointIdx>,
    /// From the parent, in the parent's frame.
    pub offset: Vec3,
    /// Local rotation in the rest pose; identity in BVH.
    pub rest: Quat,
    /// Where the bone of a leaf ends, in the joint's own frame.
    pub tip: Option<Vec3>,
    /// Whether clips move this joint in its parent's frame. The root always moves.
    pub moves: bool,
}

/// The tree of joints that poses and clips are about.
///
/// Invariants: at least one joint; joint 0 is the only root; every parent precedes its children.
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    names: Box<[Box<str>]>,
    parents: Box<[JointIdx]>, // The root's is itself.
    offsets: Box<[Vec3]>,
    rest: Box<[Quat]>,
    tips: Box<[Option<Vec3>]>,
    movers: Box<[JointIdx]>,
}

/// Why joints do not make a skeleton.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SkeletonError {
    /// There are none.
    #[error("a skeleton needs at least one joint")]
    NoJoints,
    /// More than a `u16` can index.
    #[error("{joints} joints; at most {max} are allowed", max = u16::MAX)]
    TooManyJoints {
        /// How many were given.
        joints: usize,
    },
    /// A joint whose parent does not precede it, or a second root.
    #[error("joint {joint}: its parent must come before it, and only joint 0 has none")]
    BadParent {
        /// The joint's position in the list.
        joint: usize,
    },
    /// An offset, rest rotation or tip that is not a number, or a rotation of length zero.
    #[error("joint {joint}: offset or rest rotation is not finite")]
    NotFinite {
        /// The joint's position in the list.
        joint: usize,
    },
}

impl Skeleton {
    /// Checks the joints and lays them out flat.
    pub fn new(joints: &[Joint]) -> Result<Skeleton, SkeletonError> {
        if joints.is_empty() {
            return Err(SkeletonError::NoJoints);
        }
        if joints.len() > usize::from(u16::MAX) {
            return Err(SkeletonError::TooManyJoints { joints: joints.len() });
        }
        for (i, joint) in joints.iter().enumerate() {
            let ordered = match joint.parent {
                None => i == 0,
                Some(parent) => parent.at() < i,
            };
            if !ordered {
                return Err(SkeletonError::BadParent { joint: i });
            }
            let finite = joint.offset.is_finite()
                && joint.rest.is_finite()
                && joint.rest.length_squared() > 1e-12
                && joint.tip.is_none_or(Vec3::is_finite);
            if !finite {
                return Err(SkeletonError::NotFinite { joint: i });
            }
        }
        let movers = (0..joints.len()).filter(|&i| i == 0 || joints[i].moves).map(|i| JointIdx(i as u16));
        Ok(Skeleton {
            names: joints.iter().map(|j| j.name.as_str().into()).collect(),
            parents: joints.iter().map(|j| j.parent.unwrap_or(JointIdx::ROOT)).collect(),
            offsets: joints.iter().map(|j| j.offset).collect(),
            rest: joints.iter().map(|j| j.rest.normalize()).collect(),
            tips: joints.iter().map(|j| j.tip).collect(),
            movers: movers.collect(),
        })
    }

    /// The joints as they would be given to [`Skeleton::new`].
    pub fn to_joints(&self) -> Vec<Joint> {
        let mut joints: Vec<Joint> = self
            .joints()
            .map(|j| Joint {
                name: self.name(j).to_owned(),
                parent: self.parent(j),
                offset: self.offset(j),
                rest: self.rest(j),
                tip: self.tip(j),
                moves: false,
            })
            .collect();
        for mover in &self.movers {
            joints[mover.at()].moves = true;
        }
        joints
    }

    /// Number of joints, at least 1.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// All joints, parents first.
    pub fn joints(&self) -> impl ExactSizeIterator<Item = JointIdx> + DoubleEndedIterator + Clone + use<> {
        (0..self.len() as u16).map(JointIdx)
    }

    /// `None` for the root.
    #[inline]
    pub fn parent(&self, joint: JointIdx) -> Option<JointIdx> {
        (joint != JointIdx::ROOT).then(|| self.parents[joint.at()])
    }

    /// Parent of every joint; the root's is itself.
    #[inline]
    pub fn parents(&self) -> &[JointIdx] {
        &self.parents
    }

    /// Name as in the source.
    pub fn name(&self, joint: JointIdx) -> &str {
        &self.names[joint.at()]
    }

    /// The first joint of that exact name.
    pub fn find(&self, name: &str) -> Option<JointIdx> {
        self.names.iter().position(|n| &**n == name).map(|i| JointIdx(i as u16))
    }

    /// From the parent, in the parent's frame.
    #[inline]
    pub fn offset(&self, joint: JointIdx) -> Vec3 {
        self.offsets[joint.at()]
    }

    /// Offset of every joint.
    #[inline]
    pub fn offsets(&self) -> &[Vec3] {
        &self.offsets
    }

    /// Local rotation in the rest pose.
    #[inline]
    pub fn rest(&self, joint: JointIdx) -> Quat {
        self.rest[joint.at()]
    }

    /// Where the bone of a leaf ends, in the joint's own frame.
    #[inline]
    pub fn tip(&self, joint: JointIdx) -> Option<Vec3> {
        self.tips[joint.at()]
    }

    /// Joints whose translation is animated, ascending; the root is always the first.
    #[inline]
    pub fn movers(&self) -> &[JointIdx] {
        &self.movers
    }

    /// Direct children, in order.
    pub fn children(&self, joint: JointIdx) -> impl Iterator<Item = JointIdx> + '_ {
        self.joints().filter(move |&j| self.parent(j) == Some(joint))
    }

    /// Whether `joint` is `ancestor` or below it.
    pub fn is_under(&self, mut joint: JointIdx, ancestor: JointIdx) -> bool {
        while joint > ancestor {
            joint = self.parents[joint.at()];
        }
        joint == ancestor
    }

    /// The same tree with every length multiplied; for units.
    pub fn scaled(&self, factor: f32) -> Skeleton {
        let mut scaled = self.clone();
        scaled.offsets.iter_mut().for_each(|o| *o *= factor);
        scaled.tips.iter_mut().flatten().for_each(|t| *t *= factor);
        scaled
    }
}
