//! The motion below a brace, at the moments that matter.

use kumite_motion::{Pose, Roles, Skeleton, Vec2, WorldPose, fk, mass};

/// Bodies that move faster than this along the ground brace in stride, metres per second.
const STRIDE: f32 = 0.5;
/// A swinging foot that has done this share of its swing lands early.
const LANDS: f32 = 0.5;

/// The motion below, at the moments that matter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Source {
    /// As it is, and a little before.
    pub now: Pose,
    /// See [`Source::now`].
    pub before: Pose,
    /// How much before, seconds.
    pub apart: f32,
    /// At the look-ahead of the startle, [`crate::timing::STARTLE_AHEAD`].
    pub soon: Pose,
    /// At the look-ahead of the pose, [`crate::timing::LOOK_AHEAD`].
    pub ahead: Pose,
    /// When it hits, if nothing is done.
    pub contact: Pose,
    /// Which feet stand.
    pub stands: [bool; 2],
    /// The foot that swings, if just one does.
    pub swing: Option<Swing>,
}

/// A foot in the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Swing {
    /// 0 is the left.
    pub foot: usize,
    /// How much of its swing is done, 0..1.
    pub share: f32,
}

impl Source {
    /// Whether whoever braces stops and stands, if it may; else it braces in stride.
    pub fn stops(&self, skeleton: &Skeleton) -> bool {
        let mut world = WorldPose::default();
        let mut centre = |pose: &Pose| {
            fk::pose(skeleton, pose, &mut world);
            mass::centre(skeleton, &Roles::canonical(), &world)
        };
        let moved = centre(&self.now) - centre(&self.before);
        let fast = Vec2::new(moved.x, moved.z).length() > STRIDE * self.apart.max(1e-4);
        !fast && (self.stands == [true; 2] || self.lands().is_some())
    }

    /// The foot that lands early, if one does.
    pub(crate) fn lands(&self) -> Option<Swing> {
        self.swing.filter(|swing| swing.share >= LANDS)
    }

    /// As it is when it hits: who stops stands one look-ahead on.
    pub fn at_contact(&self, stops: bool) -> &Pose {
        if stops { &self.ahead } else { &self.contact }
    }
}
