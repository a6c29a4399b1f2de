//! A limb that has met something goes no farther: what is played is held back until it has turned.

use std::sync::Arc;

use kumite_motion::hinge::flexion;
use kumite_motion::rotation::about;
use kumite_motion::{Pose, Role, Skeleton, Vec3, fk, humanoid, ik};

use kumite_react::steady::Steady;

use crate::Character;
use crate::character::TICK;
use crate::world::CharacterId;

/// What holds a limb back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stop {
    /// A wrist or an ankle.
    pub(crate) part: Role,
    /// Where it was stopped.
    pub(crate) at: Vec3,
    /// Into what was met.
    pub(crate) way: Vec3,
    /// Seconds that are left of it.
    pub(crate) left: f32,
    /// Whether it has been behind the stop: it is over when it comes out again.
    pub(crate) held: bool,
    /// Whose sphere was met, and where that was last.
    pub(crate) on: (CharacterId, usize),
    pub(crate) centre: Vec3,
}

/// Longest that a limb is held back, seconds: by then blows have turned.
pub(crate) const LONGEST: f32 = 0.6;
/// What is met is soft, metres: a limb slows down and comes away over this.
const SOFT: f32 = 0.03;
/// Farthest that a limb is held back, and nearest that its end comes to its top, metres.
const FARTHEST: f32 = 0.35;
const NEAREST: f32 = 0.2;
/// The last moments let go by degrees, seconds.
const LETS_GO: f32 = 0.2;
/// How long a blow is felt by both, seconds: what is shown meanwhile is its doing.
const JOLT: f32 = 0.1;

impl Stop {
    /// Whether the blow is still felt.
    pub(crate) fn fresh(&self) -> bool {
        LONGEST - self.left < JOLT
    }
}

impl Character {
    /// Holds back what is stopped, a tick further.
    pub(crate) fn hold_back(&mut self, skeleton: &Arc<Skeleton>, pose: &mut Pose) {
        self.jolted = (self.jolted - TICK).max(0.0);
        let Some(stop) = &mut self.stop else { return };
        stop.left -= TICK;
        let depth = self.hold(skeleton, pose);
        if let Some(stop) = &mut self.stop {
            stop.held |= depth > SOFT;
            // Out again: over, once it has been in.
            if stop.left <= 0.0 || depth < -SOFT && (stop.held || !stop.fresh()) {
                self.stop = None;
            }
        }
    }

    /// Holds back what is stopped in what is shown already.
    pub(crate) fn hold_at_once(&mut self) {
        let skeleton = Arc::clone(self.library().skeleton());
        let mut base = std::mem::take(&mut self.base[0]);
        self.hold(&skeleton, &mut base);
        if let Some(steady) = &mut self.steady {
            steady.amend(&base, TICK);
        }
        let mut pose = self.take_pose();
        let arm = |part: Role| matches!(part, Role::LeftWrist | Role::RightWrist);
        match self.stop.filter(|stop| arm(stop.part)).and_then(|stop| ik::Chain::of_canonical(stop.part)) {
            // What is shown of an arm is what the base is, with what gives way over it.
            Some(limb) => {
                for joint in [limb.top, limb.hinge, limb.end] {
                    pose.rotations[joint.at()] = (base.rotations[joint.at()] * self.given(joint)).normalize();
                }
            }
            // Legs are planted over their base.
            None => {
                self.hold(&skeleton, &mut pose);
            }
        }
        self.base[0] = base;
        fk::pose(&skeleton, &pose, &mut self.world);
        self.give_pose(pose);
    }

    /// Keeps what was made of the motion below from jumping, but where a blow is felt.
    pub(crate) fn keep_steady(&mut self, played: &Pose, pose: &mut Pose) {
        let acts = self.bend.is_some() || self.second.is_some() || self.stop.is_some();
        if !acts && self.steady.as_ref().is_none_or(|steady| steady.settled()) {
            self.steady = None;
            return;
        }
        let [now, before] = &self.base;
        let steady = self.steady.get_or_insert_with(|| Box::new(Steady::from(now, before, TICK)));
        if self.jolted > 0.0 {
            for hinge in [Role::LeftElbow, Role::RightElbow] {
                keep_folded(pose, hinge, played);
            }
            // What is below has to be known when the blow is over, too.
            steady.watch(played, pose, TICK);
        } else {
            steady.show(played, pose, TICK, |_, turn, _| turn);
        }
    }

    /// Brings a pose's limb out of what stops it; says how deep it was, metres.
    fn hold(&mut self, skeleton: &Arc<Skeleton>, pose: &mut Pose) -> f32 {
        let Some(stop) = self.stop else { return f32::NEG_INFINITY };
        let Some(limb) = ik::Chain::of_canonical(stop.part) else { return f32::NEG_INFINITY };
        fk::pose(skeleton, pose, &mut self.world);
        let end = self.world.position(stop.part.joint());
        let depth = (end - stop.at).dot(stop.way);
        if depth <= -SOFT {
            return depth;
        }
        // No deeper than the surface, and slower where it is near.
        let shown = if depth < SOFT { -(SOFT - depth) * (SOFT - depth) / (4.0 * SOFT) } else { 0.0 };
        let share = kumite_motion::blend::ease(stop.left / LETS_GO);
        // Not into the shoulder or the hip that it hangs on.
        let arm = end - self.world.position(limb.top);
        let along = (stop.way.dot(arm) / arm.length().max(1e-6)).max(0.25);
        let most = ((arm.length() - NEAREST) / along).clamp(0.0, FARTHEST);
        let target = end - stop.way * ((depth - shown) * share).min(most);
        limb.reach(skeleton, target, pose, &mut self.world);
        depth
    }

    /// A blow is felt.
    pub(crate) fn jolt(&mut self) {
        self.jolted = JOLT;
    }
}

/// A folded elbow, radians.
const FOLDED: f32 = 2.7;

/// What a limb that is stopped makes of its elbow folds it no farther than elbows fold, or than its motion does.
fn keep_folded(pose: &mut Pose, hinge: Role, played: &Pose) {
    let Some(axis) = humanoid::hinge_axis(hinge) else { return };
    let over = flexion(pose, hinge) - FOLDED.max(flexion(played, hinge));
    if over > 0.0 {
        let turn = &mut pose.rotations[hinge.joint().at()];
        *turn = (*turn * about(axis, -over)).normalize();
    }
}
