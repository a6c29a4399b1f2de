//! Straight ways with a running start: § 4.3 leads hands, neck and centre of mass along lines.

use kumite_motion::Vec3;

/// How soon a hand's own speed is gone, per second: at 2 m/s across its line it strays by 2 cm.
pub(crate) const HAND: f32 = 37.0;
/// And that of the trunk: a neck at 2 m/s across its line strays by 1 cm.
pub(crate) const TRUNK: f32 = 70.0;

/// From one place to another, straight but for the speed it begins with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Line {
    pub(crate) from: Vec3,
    pub(crate) to: Vec3,
    /// Metres per second at first.
    pub(crate) speed: Vec3,
    /// How soon it is gone, per second.
    pub(crate) fades: f32,
}

impl Line {
    /// Where it is after some seconds, `way` of it done.
    pub(crate) fn at(&self, way: f32, time: f32) -> Vec3 {
        let coasted = self.speed * (time * libm::expf(-self.fades * time));
        self.from + (self.to - self.from) * way + coasted
    }
}
