//! Candidate paths: series of edges from where the playhead is to an edge with an avoidance (or a block) in it.

use kumite_motion::{EdgeIdx, Graph, NodeIdx};

use crate::bodies::{Bodies, DefenceSpan};

/// Which paths are candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathRules {
    /// The middle of an avoidance is at most half of this from the attack's time, seconds: eq. 1 of the paper, `T_window`.
    pub window: f32,
    /// Cuts to another place of the library on one path. Without a bound the number of paths grows without one, and
    /// a fighter who changes his mind four times in a second has not decided.
    pub most_joins: u32,
    /// From one cut to the next, seconds: joins take a third of a second, and one should have done most of its work.
    pub between_joins: f32,
    /// Paths of the index reach this far beyond their node, seconds: the longest warning and half the window.
    pub horizon: f32,
}

impl Default for PathRules {
    /// `window` is the paper's. The others are guesses: on the three libraries they leave up to twenty paths from a node.
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
    /// What of it an edge holds.
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
    /// Middle of its avoidance, path seconds after the node: `t_avoid` less what is left of the current edge.
    pub centre: f32,
    /// Its edges in the pool.
    pub edges: (u32, u32),
    /// Which of the last edge's avoidances.
    pub part: u32,
}

/// Paths and the edges they are made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paths {
    /// The paths.
    pub list: Vec<AvoidancePath>,
    /// Their edges.
    pub pool: Vec<EdgeIdx>,
    open: Vec<Open>,
    way: Vec<EdgeIdx>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Open {
    edge: EdgeIdx,
    begins: f32,
    depth: u32,
    cuts: u32,
    /// Since the last cut.
    since: f32,
}

impl Paths {
    /// All edges of a path.
    pub fn edges(&self, path: &AvoidancePath) -> &[EdgeIdx] {
        &self.pool[path.edges.0 as usize..path.edges.1 as usize]
    }

    /// Adds every path from a node whose avoidance has its middle within `range`, path seconds after the node; depth first, in the
    /// graph's order. `cuts` and `since` are those of the edge that leads to the node.
    pub fn enumerate(
        &mut self,
        (bodies, graph, rules, aim): (&Bodies, &Graph, &PathRules, DefenceKind),
        node: NodeIdx,
        range: (f32, f32),
        since: f32,
    ) {
        self.open.clear();
        self.way.clear();
        let push = |open: &mut Vec<Open>, node: NodeIdx, begins: f32, depth: u32, cuts: u32, since: f32| {
            for edge in graph.leaving(node).rev() {
                let cut = bodies.has_join(edge);
                if cut && (cuts >= rules.most_joins || since < rules.between_joins) {
                    continue;
                }
                let (cuts, since) = if cut { (cuts + 1, 0.0) } else { (cuts, since) };
                open.push(Open { edge, begins, depth, cuts, since });
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
                push(&mut self.open, graph.edge(at.edge).to, begins, at.depth + 1, at.cuts, since);
            }
        }
    }
}
