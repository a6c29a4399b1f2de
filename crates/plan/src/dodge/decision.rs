//! What a decision says: what to play, what is expected to come of it, and why.

use kumite_motion::EdgeIdx;

use super::AvoidanceCost;
use crate::block::Block;
use crate::{Bend, Leg, Plan, Warp};

/// What the plan expects. Whether it comes true is measured on what is played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forecast {
    /// The attack misses without any defence: what is being carried out goes on.
    Clear,
    /// The chosen path, bent or not, avoids it.
    Avoided,
    /// A guard meets it.
    Blocked,
    /// Nothing found avoids or blocks it: brace.
    Hit,
}

impl Forecast {
    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            Forecast::Clear => "clear",
            Forecast::Avoided => "avoided",
            Forecast::Blocked => "blocked",
            Forecast::Hit => "hit",
        }
    }
}

/// Where a candidate came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// What is played if nothing is done.
    Nothing,
    /// An avoidance in the edge being played.
    Playing,
    /// The node's index.
    Index,
    /// A traversal of the graph.
    Graph,
    /// Leaving what is played before its edge ends.
    Interrupt,
    /// Other steps of a walk.
    Swerve,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It avoids, for this cost.
    Avoids(f32),
    /// It is hit, this deep, metres.
    Hit(f32),
    /// Bit planes prove a hit.
    Culled,
    /// Its speed would have to change too much.
    OutOfScale,
    /// Its lower bound was above the best cost: not evaluated.
    Bounded,
}

/// One candidate and its verdict, for explanations.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Edges after the one being played.
    pub edges: Vec<EdgeIdx>,
    /// When what is played is left before its edge ends, path seconds from now.
    pub leave: Option<f32>,
    /// Position of the span in the last edge's clip; `None` for doing nothing.
    pub span: Option<u32>,
    /// Factor on adjustable durations.
    pub scale: f32,
    /// Its cost by term, as far as it was evaluated.
    pub cost: AvoidanceCost,
    /// Least distance between attack and body, metres; negative is the depth.
    pub clearance: f32,
    /// What became of it.
    pub verdict: Verdict,
}

/// How much work was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DodgeCounts {
    /// Candidates from the index.
    pub index: u32,
    /// Those among them whose grid cells the attack passes: the paper's candidates.
    pub in_grid: u32,
    /// Candidates that leave what is played before its edge ends.
    pub interrupts: u32,
    /// Candidates from traversing the graph.
    pub enumerated: u32,
    /// Culled by bit planes.
    pub culled: u32,
    /// Tested exactly.
    pub tested: u32,
    /// Skipped because of their lower bound.
    pub bounded: u32,
}

/// What to play, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct DodgeDecision {
    /// What the plan expects.
    pub forecast: Forecast,
    /// What to play after the current leg; empty to carry on as before.
    pub legs: Vec<Leg>,
    /// Path seconds from now at which the current leg is left for them; `None` at the end of its edge.
    pub leave: Option<f32>,
    /// How their speed changes.
    pub warp: Warp,
    /// How the motion is bent, if it is.
    pub bend: Option<Bend>,
    /// Where and how the attack is met, if it is.
    pub block: Option<Block>,
    /// Cost of the chosen path, before bending.
    pub cost: AvoidanceCost,
    /// Least distance between attack and body on the chosen path before bending, metres; negative is the depth.
    pub clearance: f32,
    /// The avoidance or block: the edge that plays it and its position among the spans of that edge's clip.
    pub span: Option<(EdgeIdx, u32)>,
    /// Where the chosen path came from.
    pub origin: Origin,
    /// How much work was done.
    pub counts: DodgeCounts,
    /// Whether the graph had to be traversed.
    pub traversed: bool,
}

impl DodgeDecision {
    /// The decision as a plan. One that carries on as before needs what that is: the legs ahead, and when the current one is left.
    pub fn plan(&self, ahead: &[Leg], leave: Option<f32>) -> Plan {
        let (legs, leave) =
            if self.legs.is_empty() { (ahead.to_vec(), leave) } else { (self.legs.clone(), self.leave) };
        Plan { legs, leave, warp: self.warp.clone(), bend: self.bend }
    }

    /// The plan of a decision that took `seconds` to be made while the character played on, counted from now on. What should have been entered
    /// meanwhile is entered as much later in it, so that everything comes when it was meant to.
    pub fn plan_later(&self, seconds: f32, ahead: &[Leg], leave: Option<f32>) -> Plan {
        let mut plan = self.plan(ahead, leave);
        if !self.legs.is_empty() {
            let due = self.leave.map(|leave| leave - seconds);
            plan.leave = due.map(|due| due.max(0.0));
            if let (Some(first), Some(due)) = (plan.legs.first_mut(), due.filter(|due| *due < 0.0)) {
                first.enter -= due;
            }
        }
        plan.warp = self.warp.later(seconds);
        plan.bend = self.bend.map(|bend| bend.later(seconds));
        plan
    }
}

#[cfg(test)]
mod tests {
    use kumite_motion::align::Planar;

    use super::*;

    /// A decision made 0.05 s ago.
    #[test]
    fn a_late_plan_counts_from_its_beginning() {
        let leg = Leg { enter: 0.2, join: Some((Planar::IDENTITY, 0.1)), ..Leg::whole(EdgeIdx(3)) };
        let bend = Bend { rise: (0.1, 0.4), fall: (0.5, 0.9), ..Bend::default() };
        let mut decision = DodgeDecision {
            forecast: Forecast::Avoided,
            legs: vec![leg],
            leave: Some(0.3),
            warp: Warp::new(&[(0.2, 0.6)], 1.5),
            bend: Some(bend),
            block: None,
            cost: AvoidanceCost::default(),
            clearance: 0.1,
            span: None,
            origin: Origin::Interrupt,
            counts: DodgeCounts::default(),
            traversed: false,
        };
        let plan = decision.plan_later(0.05, &[], None);
        assert_eq!((plan.leave, plan.legs[0].enter, plan.bend), (Some(0.25), 0.2, Some(bend.later(0.05))));
        assert!((plan.warp.when(0.8) - (decision.warp.when(0.85) - 0.05)).abs() < 1e-5);
        // What should have been left at once is entered later.
        decision.leave = Some(0.0);
        let plan = decision.plan_later(0.05, &[], None);
        assert_eq!((plan.leave, plan.legs[0].enter), (Some(0.0), 0.25));
        // At the end of the edge that is still being played nothing changes, and what is only bent goes on with what is ahead.
        decision.leave = None;
        assert_eq!(decision.plan_later(0.05, &[], None).leave, None);
        decision.legs.clear();
        let ahead = [Leg::whole(EdgeIdx(1))];
        let plan = decision.plan_later(0.05, &ahead, Some(0.4));
        assert_eq!((plan.legs, plan.leave), (ahead.to_vec(), Some(0.4)));
    }
}
