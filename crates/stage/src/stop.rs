//! A limb that has met something goes no farther: what is played is held back until it has turned.

use std::sync::Arc;

use kumite_motion::{Pose, Role, Skeleton, Vec3, fk, ik};

use crate::Character;
use crate::character::TICK;

/// What holds a limb back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stop {
    /// A wrist or an ankle.
    pub(crate) part: Role,
    /// Where it was stopped.
    pub(crate) at: Vec3,
    /// The way it went.
    pub(crate) way: Vec3,
    /// Seconds that are left of it.
    pub(crate) left: f32,
    /// Whether it has been behind the stop: it is over when it comes out again.
    pub(crate) held: bool,
}

/// Longest that a limb is held back, seconds: by then every blow has turned.
pub(crate) const LONGEST: f32 = 0.6;
/// What is met gives way, metres per second, for so long, seconds.
const GIVES: f32 = 0.6;
const FOR: f32 = 0.10;
/// Farthest that a limb is held back, and nearest that its end comes to its top, metres.
const FARTHEST: f32 = 0.22;
const NEAREST: f32 = 0.24;
/// The last moments let go by degrees, seconds.
const LETS_GO: f32 = 0.15;

impl Character {
    /// Holds back what is stopped.
    pub(crate) fn hold_back(&mut self, skeleton: &Arc<Skeleton>, pose: &mut Pose) {
        let Some(stop) = &mut self.stop else { return };
        let Some(limb) = ik::Chain::of_canonical(stop.part) else {
            self.stop = None;
            return;
        };
        if LONGEST - stop.left < FOR {
            stop.at += stop.way * (GIVES * TICK);
        }
        stop.left -= TICK;
        fk::pose(skeleton, pose, &mut self.world);
        let end = self.world.position(stop.part.joint());
        let depth = (end - stop.at).dot(stop.way);
        if depth <= 0.0 {
            // Out again: over, once it has been in.
            if stop.held || stop.left <= 0.0 {
                self.stop = None;
            }
            return;
        }
        stop.held = true;
        let share = (stop.left / LETS_GO).clamp(0.0, 1.0);
        let mut target = end - stop.way * (depth * share).min(FARTHEST);
        // Not into the shoulder or the hip that it hangs on.
        let top = self.world.position(limb.top);
        let away = target - top;
        if away.length() < NEAREST {
            target = top + away.normalize_or(stop.way) * NEAREST;
        }
        if stop.left <= 0.0 {
            self.stop = None;
        }
        limb.reach(skeleton, target, pose, &mut self.world);
    }
}
