//! Candidate paths: series of edges from where the playhead is to an edge with an avoidance (or a block) in it.

use kumite_motion::{EdgeIdx, Graph, NodeIdx};

use crate::bodies::Part;
use crate::warp::area;
use crate::{Bodies, Place};

/// Which paths are candidates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// The middle of an avoidance is at most half of this from the attack's time, seconds: eq. 1 of the paper, `T_window`.
    pub window: f32,
    /// Cuts to another place of the library on one path. Without a bound the number of paths grows without one, and
    /// a fighter who changes his mind four times in a second has not decided.
    pub most_cuts: u32,
    /// From one cut to the next, seconds: joins take a third of a second, and one should have done most of its work.
    pub between_cuts: f32,
    /// Paths of the index reach this far beyond their node, seconds: the longest warning and half the window.
    pub horizon: f32,
}

impl Default for Rules {
    /// `window` is the paper's. The others are guesses: on the three libraries they leave up to twenty paths from a node.
    fn default() -> Self {
        Rules { window: 1.0, most_cuts: 3, between_cuts: 0.2, horizon: 1.8 }
    }
}

/// An edge on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// Which.
    pub edge: EdgeIdx,
    /// When its first frame is shown, path seconds from now; negative for the edge being played.
    pub begins: f32,
    /// Lays its clip over the world.
    pub place: Place,
}

/// Edges one after the other; the first has been played for `now` seconds and its clip lies at `place`.
pub fn lay(bodies: &Bodies, edges: &[EdgeIdx], now: f32, place: &Place) -> Vec<Leg> {
    let mut legs = Vec::with_capacity(edges.len());
    lay_into(bodies, edges.iter().copied(), now, place, &mut legs);
    legs
}

/// Like [`lay`], without new memory.
pub fn lay_into(bodies: &Bodies, edges: impl Iterator<Item = EdgeIdx>, now: f32, place: &Place, legs: &mut Vec<Leg>) {
    legs.clear();
    let (mut begins, mut at) = (-now, *place);
    for edge in edges {
        if !legs.is_empty() {
            at = at.after(bodies.align(edge));
        }
        legs.push(Leg { edge, begins, place: at });
        begins += bodies.seconds(edge);
    }
}

/// Goes on after the last leg as the library does by itself, until path second `until`.
pub fn go_on(bodies: &Bodies, graph: &Graph, until: f32, legs: &mut Vec<Leg>) {
    while let Some(last) = legs.last().copied() {
        let begins = last.begins + bodies.seconds(last.edge);
        // Edges last some time, so this ends.
        let Some(edge) = graph.after(last.edge).next() else { return };
        if begins >= until || legs.len() > 200 {
            return;
        }
        legs.push(Leg { edge, begins, place: last.place.after(bodies.align(edge)) });
    }
}

/// What a path leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// An avoidance.
    Avoid,
    /// A block.
    Block,
}

impl Aim {
    /// What of it an edge holds.
    pub fn of(self, bodies: &Bodies, edge: EdgeIdx) -> &[Part] {
        match self {
            Aim::Avoid => bodies.avoids(edge),
            Aim::Block => bodies.blocks(edge),
        }
    }
}

/// A path that leaves a node, as the index keeps it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
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
    pub list: Vec<Path>,
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
    pub fn edges(&self, path: &Path) -> &[EdgeIdx] {
        &self.pool[path.edges.0 as usize..path.edges.1 as usize]
    }

    /// Adds every path from a node whose avoidance has its middle within `range`, path seconds after the node; depth first, in the
    /// graph's order. `cuts` and `since` are those of the edge that leads to the node.
    pub fn enumerate(
        &mut self,
        (bodies, graph, rules, aim): (&Bodies, &Graph, &Rules, Aim),
        node: NodeIdx,
        range: (f32, f32),
        since: f32,
    ) {
        self.open.clear();
        self.way.clear();
        let push = |open: &mut Vec<Open>, node: NodeIdx, begins: f32, depth: u32, cuts: u32, since: f32| {
            for edge in graph.leaving(node).rev() {
                let cut = bodies.is_cut(edge);
                if cut && (cuts >= rules.most_cuts || since < rules.between_cuts) {
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
                    self.list.push(Path { centre, edges, part: part as u32 });
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

/// The stretches of a path, up to path second `until`, whose speed may be changed in one direction.
pub fn stretches(
    bodies: &Bodies,
    edges: impl Iterator<Item = EdgeIdx>,
    now: f32,
    until: f32,
    slower: bool,
    out: &mut Vec<(f32, f32)>,
) {
    out.clear();
    let mut begins = -now;
    for edge in edges {
        let (from, to) = (begins.max(0.0), (begins + bodies.seconds(edge)).min(until));
        begins += bodies.seconds(edge);
        let pace = bodies.pace(edge);
        let may = if slower { pace.may_slow() } else { pace.may_hurry() };
        if !may || to - from < 1e-3 {
            continue;
        }
        match out.last_mut() {
            Some(last) if from - last.1 < 1e-4 => last.1 = to,
            _ => out.push((from, to)),
        }
    }
}

/// `s_time` of eq. 3 for stretches: what makes the middle of an avoidance, now at `centre`, fall on `attack`. `None` where
/// nothing may be adjusted.
pub fn scale(stretches: &[(f32, f32)], centre: f32, attack: f32) -> Option<f32> {
    let adjustable: f32 = stretches.iter().map(|s| area(s.1 - s.0)).sum();
    (adjustable > 1e-3).then(|| 1.0 + (attack - centre) / adjustable)
}
