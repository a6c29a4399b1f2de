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
}
