//! What every planner returns: legs to play, how fast, bent how, and why.

use kumite_motion::align::Planar;
use kumite_motion::{EdgeIdx, Graph};

use crate::{Bend, Warp};

/// A range of a clip: from a moment within an edge to the node it leads to, or to where it is left for the next leg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// What it plays.
    pub edge: EdgeIdx,
    /// Seconds after the edge's first frame at which it begins.
    pub enter: f32,
    /// Seconds after the edge's first frame at which it is left; `None` at the edge's end.
    pub leave: Option<f32>,
    /// What lays its clip over that of the leg before, and how long the join takes, seconds; `None` where the graph says.
    pub join: Option<(Planar, f32)>,
}

impl Leg {
    /// A whole edge, joined as the graph has it.
    pub fn whole(edge: EdgeIdx) -> Leg {
        Leg { edge, enter: 0.0, leave: None, join: None }
    }

    /// Seconds after the edge's first frame at which it ends.
    pub fn ends(&self, graph: &Graph) -> f32 {
        self.leave.unwrap_or(graph.edge(self.edge).seconds)
    }

    /// How long it takes, path seconds.
    pub fn seconds(&self, graph: &Graph) -> f32 {
        self.ends(graph) - self.enter
    }
}

/// What to do from now on.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What is played after the leg being played, or instead of it.
    pub legs: Vec<Leg>,
    /// Path seconds from now at which what is being played is left for the first leg; `None` at the end of its edge.
    pub leave: Option<f32>,
    /// How fast, from now on.
    pub warp: Warp,
    /// How it is bent, times from now.
    pub bend: Option<Bend>,
}

impl Plan {
    /// Edges after the one being played, at their own speed.
    pub fn edges(edges: &[EdgeIdx]) -> Plan {
        Plan { legs: edges.iter().map(|edge| Leg::whole(*edge)).collect(), leave: None, warp: Warp::none(), bend: None }
    }

    /// The leg that is being played is left, and this one begun at once.
    pub fn at_once(leg: Leg) -> Plan {
        Plan { legs: vec![leg], leave: Some(0.0), warp: Warp::none(), bend: None }
    }
}
