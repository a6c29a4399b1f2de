//! What a decision says: what to play, what is expected to come of it, and why.

use kumite_motion::EdgeIdx;

use super::AvoidanceCost;
use crate::block::Block;
use crate::{Bend, Warp};

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forecast {
    /// The attack misses what is played anyway.
    Clear,
    /// A path avoids it.
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

/// Where a candidate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// What is played anyway.
    Nothing,
    /// An avoidance in the edge being played.
    Playing,
    /// The node's index.
    Index,
    /// A traversal of the graph.
    Graph,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It avoids, for this cost.
    Avoids(f32),
    /// It is hit this deep, metres.
    Hit(f32),
    /// Bit planes prove a hit.
    Culled,
    /// Its speed would have to change too much.
    OutOfScale,
    /// Its bound was above the best cost: never worked out.
    Bounded,
}

/// One candidate, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Edges after the one being played.
    pub edges: Vec<EdgeIdx>,
    /// Number of the span in the last edge's clip; `None` for *do nothing*.
    pub span: Option<u32>,
    /// By how much adjustable durations are multiplied.
    pub scale: f32,
    /// What it costs by term, as far as it was worked out.
    pub cost: AvoidanceCost,
    /// Least distance of attack and body, metres; negative is the depth.
    pub clearance: f32,
    /// What became of it.
    pub verdict: Verdict,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DodgeCounts {
    /// Candidates from the index.
    pub index: u32,
    /// Of these, the ones whose cells of the grid the attack passes: the paper's candidates.
    pub in_grid: u32,
    /// Candidates from traversing the graph.
    pub enumerated: u32,
    /// Culled by bit planes.
    pub culled: u32,
    /// Tested exactly.
    pub tested: u32,
    /// Left out because of their bound.
    pub bounded: u32,
}

/// What to play, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct DodgeDecision {
    /// How it ends, as far as the plan can tell.
    pub forecast: Forecast,
    /// Edges to play after the current one; none to go on as before.
    pub edges: Vec<EdgeIdx>,
    /// Their speed.
    pub warp: Warp,
    /// How the motion is bent to the attack.
    pub bend: Option<Bend>,
    /// Where and how the attack is met, if it is.
    pub block: Option<Block>,
    /// Of the path chosen, before adapting.
    pub cost: AvoidanceCost,
    /// Least distance of attack and body on the chosen path, before adapting; negative is the depth. Metres.
    pub clearance: f32,
    /// Number of the avoidance or block in the last edge's clip.
    pub span: Option<u32>,
    /// Where it came from.
    pub origin: Origin,
    /// How much was done.
    pub counts: DodgeCounts,
    /// Whether the graph had to be traversed.
    pub traversed: bool,
}
