//! Candidate paths: series of edges from where the playhead is to an edge with an avoidance (or a block) in it.

use kumite_motion::{EdgeIdx, Graph, Layer, NodeIdx};

use crate::bodies::{Bodies, DefenceSpan};

/// Which paths are candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRules {
    /// The middle of an avoidance is within half of this of the attack's time, seconds: `T_window` of eq. 1.
    pub window: f32,
    /// Joins on one path at most. Without a limit the number of paths grows without bound, and a fighter that changes course four times
    /// in a second looks undecided.
    pub most_joins: u32,
    /// Least time from one join to the next, seconds: a join takes a third of a second and should be mostly over.
    pub between_joins: f32,
    /// How far indexed paths reach beyond their node, seconds: the longest warning plus half the window.
    pub horizon: f32,
}

impl Default for PathRules {
    /// `window` is the paper's. The others are guesses that leave up to twenty paths per node on the three libraries.
    fn default() -> Self {
        PathRules { window: 1.0, most_joins: 3, between_joins: 0.2, horizon: 1.8 }
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DefenceKind {
    /// An avoidance.
    Avoid,
    /// A block.
    Block,
}

impl DefenceKind {
    /// The defences of this kind in an edge.
    pub fn of(self, bodies: &Bodies, edge: EdgeIdx) -> &[DefenceSpan] {
        match self {
            DefenceKind::Avoid => bodies.avoids(edge),
            DefenceKind::Block => bodies.blocks(edge),
        }
    }
}

/// A path that leaves a node, as the index keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AvoidancePath {
    /// Middle of its avoidance, path seconds after the node: `t_avoid` minus what is left of the current edge.
    pub centre: f32,
    /// Its edges, as a range of the pool.
    pub edges: (u32, u32),
    /// Position among the last edge's avoidances (or blocks).
    pub part: u32,
}

/// Paths and the edges they are made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paths {
    /// The paths.
    pub list: Vec<AvoidancePath>,
    /// The edges of all paths, one path after the other.
    pub pool: Vec<EdgeIdx>,
    open: Vec<Open>,
    way: Vec<EdgeIdx>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Open {
    edge: EdgeIdx,
    begins: f32,
    depth: u32,
    joins: u32,
    /// Seconds since the last join.
    since: f32,
}

impl Paths {
    /// All edges of a path.
    pub fn edges(&self, path: &AvoidancePath) -> &[EdgeIdx] {
        &self.pool[path.edges.0 as usize..path.edges.1 as usize]
    }

    /// Adds every path from a node to a defence whose middle is within `range` (exclusive), path seconds after the node; depth first, in the
    /// graph's order. `since` is how long ago the last join was when the node is reached, seconds.
    pub fn enumerate(
        &mut self,
        (bodies, graph, rules, aim): (&Bodies, &Graph, &PathRules, DefenceKind),
        node: NodeIdx,
        range: (f32, f32),
        since: f32,
    ) {
        self.open.clear();
        self.way.clear();
        let push = |open: &mut Vec<Open>, node: NodeIdx, begins: f32, depth: u32, joins: u32, since: f32| {
            for edge in graph.leaving(node, Layer::Fight).rev() {
                let has_join = bodies.has_join(edge);
                if has_join && (joins >= rules.most_joins || since < rules.between_joins) {
                    continue;
                }
                let (joins, since) = if has_join { (joins + 1, 0.0) } else { (joins, since) };
                open.push(Open { edge, begins, depth, joins, since });
            }
        };
        push(&mut self.open, node, 0.0, 0, 0, since);
        while let Some(at) = self.open.pop() {
            self.way.truncate(at.depth as usize);
            self.way.push(at.edge);
            for (part, found) in aim.of(bodies, at.edge).iter().enumerate() {
                let centre = at.begins + found.centre();
                if centre > range.0 && centre < range.1 {
                    let start = self.pool.len() as u32;
                    self.pool.extend(&self.way);
                    let edges = (start, self.pool.len() as u32);
                    self.list.push(AvoidancePath { centre, edges, part: part as u32 });
                }
            }
            let begins = at.begins + bodies.seconds(at.edge);
            if begins < range.1 {
                let since = at.since + bodies.seconds(at.edge);
                push(&mut self.open, graph.edge(at.edge).to, begins, at.depth + 1, at.joins, since);
            }
        }
    }
}
