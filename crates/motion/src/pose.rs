use crate::{JointIdx, Quat, Skeleton, Vec3};

/// One moment of a character: joint rotations in their parents' frames, and where the moving joints are.
#[derive(Debug, Default, PartialEq)]
pub struct Pose {
    /// One per [`Skeleton::movers`]: translation in the parent's frame. The first is the root's place in the world.
    pub translations: Vec<Vec3>,
    /// One per joint, unit length.
    pub rotations: Vec<Quat>,
}

/// Where every joint is in the world.
#[derive(Debug, Default, PartialEq)]
pub struct WorldPose {
    /// One per joint.
    pub positions: Vec<Vec3>,
    /// One per joint.
    pub rotations: Vec<Quat>,
}

// By hand, because a derived `clone_from` allocates.
impl Clone for Pose {
    fn clone(&self) -> Pose {
        Pose { translations: self.translations.clone(), rotations: self.rotations.clone() }
    }

    fn clone_from(&mut self, other: &Pose) {
        self.translations.clone_from(&other.translations);
        self.rotations.clone_from(&other.rotations);
    }
}

impl Clone for WorldPose {
    fn clone(&self) -> WorldPose {
        WorldPose { positions: self.positions.clone(), rotations: self.rotations.clone() }
    }

    fn clone_from(&mut self, other: &WorldPose) {
        self.positions.clone_from(&other.positions);
        self.rotations.clone_from(&other.rotations);
    }
}

impl Pose {
    /// The pose the skeleton was built in.
    pub fn rest(skeleton: &Skeleton) -> Pose {
        Pose {
            translations: skeleton.movers().iter().map(|&j| skeleton.offset(j)).collect(),
            rotations: skeleton.joints().map(|j| skeleton.rest(j)).collect(),
        }
    }

    /// Where the root is.
    #[inline]
    pub fn root(&self) -> Vec3 {
        self.translations[0]
    }

    /// Moves the root to `place`.
    #[inline]
    pub fn set_root(&mut self, place: Vec3) {
        self.translations[0] = place;
    }

    /// Local rotation of a joint.
    #[inline]
    pub fn rotation(&self, joint: JointIdx) -> Quat {
        self.rotations[joint.at()]
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.translations.iter().all(|t| t.is_finite()) && self.rotations.iter().all(|q| q.is_finite())
    }
}

impl WorldPose {
    /// Where a joint is.
    #[inline]
    pub fn position(&self, joint: JointIdx) -> Vec3 {
        self.positions[joint.at()]
    }

    /// How a joint's frame is turned in the world.
    #[inline]
    pub fn rotation(&self, joint: JointIdx) -> Quat {
        self.rotations[joint.at()]
    }

    /// A point given in a joint's frame, in the world.
    #[inline]
    pub fn point(&self, joint: JointIdx, local: Vec3) -> Vec3 {
        self.positions[joint.at()] + self.rotations[joint.at()] * local
    }
}
