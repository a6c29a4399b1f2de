//! What every planner returns: legs to play, how fast, bent how, and why.

use kumite_motion::EdgeIdx;
use kumite_motion::align::Planar;

use crate::{Bend, Warp};

/// A range of a clip, from a moment within an edge to the node that edge leads to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Whose end it plays to.
    pub edge: EdgeIdx,
    /// Seconds after the edge's first frame at which it begins.
    pub enter: f32,
    /// What lays its clip over that of the leg before, and how long the join takes, seconds; `None` where the graph says.
    pub join: Option<(Planar, f32)>,
}

impl Leg {
    /// A whole edge, joined as the graph has it.
    pub fn whole(edge: EdgeIdx) -> Leg {
        Leg { edge, enter: 0.0, join: None }
    }
}

/// What to do from now on.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What is played after the leg being played, or instead of it.
    pub legs: Vec<Leg>,
    /// Whether the first leg begins now: what is being played is left at once.
    pub now: bool,
    /// How fast, from now on.
    pub warp: Warp,
    /// How it is bent, times from now.
    pub bend: Option<Bend>,
}

impl Plan {
    /// Edges after the one being played, at their own speed.
    pub fn edges(edges: &[EdgeIdx]) -> Plan {
        Plan { legs: edges.iter().map(|edge| Leg::whole(*edge)).collect(), now: false, warp: Warp::none(), bend: None }
    }

    /// The leg that is being played is left, and this one begun at once.
    pub fn at_once(leg: Leg) -> Plan {
        Plan { legs: vec![leg], now: true, warp: Warp::none(), bend: None }
    }
}
