/// Which joint of a [`Skeleton`](crate::Skeleton), in its parent-before-child order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JointIdx(pub u16);

/// Which frame of a [`Clip`](crate::Clip).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameIdx(pub u32);

impl JointIdx {
    /// The root of every skeleton.
    pub const ROOT: JointIdx = JointIdx(0);

    /// Position in arrays that hold one value per joint.
    #[inline]
    pub fn at(self) -> usize {
        usize::from(self.0)
    }
}

impl FrameIdx {
    /// Position in arrays that hold one value per frame.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}
