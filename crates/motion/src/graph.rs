//! The motion graph as the run time sees it: where motion may branch, and what can be played from there.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::align::Planar;
use crate::rotation::yaw_of;
use crate::{Clip, FrameIdx, JointIdx, Vec2, Vec3};

/// Which clip of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClipIdx(pub u32);

/// Which node of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIdx(pub u32);

/// Which edge of a [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EdgeIdx(pub u32);

impl ClipIdx {
    /// Position in arrays that hold one value per clip.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl NodeIdx {
    /// Position in arrays that hold one value per node.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

impl EdgeIdx {
    /// Position in arrays that hold one value per edge.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// Where an edge may be played. Both layers share clips, and nodes where they have the same frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Layer {
    /// Where fighters branch: few, well rehearsed ways.
    #[default]
    Fight,
    /// Where walkers branch: nearly anywhere.
    Walk,
}

/// A pose where motion may branch: the frame of a clip at which an edge ends and others begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Node {
    /// Of which clip.
    pub clip: ClipIdx,
    /// Of which frame.
    pub frame: FrameIdx,
}

/// A span that happens within an edge, in the count of its clip's spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpanRef {
    /// Position in [`Clip::spans`](crate::Clip::spans).
    pub span: u32,
    /// Whether all of it lies in the edge. Attacks and avoidances always do.
    pub whole: bool,
}

/// The blend an edge begins with where it does not simply continue its node's clip: what a transition found at bake
/// becomes in the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Join {
    /// Over which the difference between the pose left and the pose entered fades, seconds. May outlast the edge.
    pub blend: f32,
    /// Lays the entered clip over the one left, both in their clips' own places.
    pub align: Planar,
    /// Of the windows around both frames, metres, root mean square.
    pub distance: f32,
}

/// A range of a clip, played from one node to the next.
#[derive(Clone, Debug, PartialEq)]
pub struct Edge {
    /// For whom it is.
    pub layer: Layer,
    /// Where it begins.
    pub from: NodeIdx,
    /// Where it ends: the node of its last frame.
    pub to: NodeIdx,
    /// What is played.
    pub clip: ClipIdx,
    /// Shown at the moment the node `from` is reached, in its place.
    pub first: FrameIdx,
    /// After the first.
    pub last: FrameIdx,
    /// `None` where the clip simply continues.
    pub join: Option<Join>,
    /// From `first` to `last`.
    pub seconds: f32,
    /// The root's place on the ground and its heading at `last`, seen from those at `first`: how far the edge carries.
    pub displacement: Planar,
    spans: Range<u32>,
}

impl Edge {
    /// An edge for fighters; the graph fills in its spans.
    pub fn new(
        from: NodeIdx,
        to: NodeIdx,
        (clip, first, last): (ClipIdx, FrameIdx, FrameIdx),
        join: Option<Join>,
        seconds: f32,
        displacement: Planar,
    ) -> Edge {
        Edge { layer: Layer::Fight, from, to, clip, first, last, join, seconds, displacement, spans: 0..0 }
    }
}

/// Nodes and edges in flat arrays, edges sorted by the node they leave.
///
/// Invariants: at least one node; every node has an edge that leaves it, and where an edge of a layer leads to it, one of that layer; every edge runs forward in its clip, ends at
/// the frame of the node it leads to, and, where it has no join, begins at the frame of the node it leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    nodes: Box<[Node]>,
    edges: Box<[Edge]>,
    /// Where the edges of each node begin, those for fighters and those for walkers; one more at the end.
    leaving: Box<[[u32; 2]]>,
    spans: Box<[SpanRef]>,
}

/// Why nodes and edges do not make a graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphError {
    /// There are no nodes.
    #[error("a graph needs at least one node")]
    Empty,
    /// Nothing leaves a node.
    #[error("nothing leaves node {}", node.0)]
    DeadEnd {
        /// The node that nothing leaves.
        node: NodeIdx,
    },
    /// An edge breaks an invariant of [`Graph`].
    #[error("edge {edge}: {why}")]
    BadEdge {
        /// Its position in the list that was given.
        edge: usize,
        /// Which invariant.
        why: &'static str,
    },
}

impl Graph {
    /// Checks and sorts. `spans` says what happens within each edge.
    pub fn new(nodes: Vec<Node>, edges: Vec<(Edge, Vec<SpanRef>)>) -> Result<Graph, GraphError> {
        if nodes.is_empty() {
            return Err(GraphError::Empty);
        }
        for (index, (edge, _)) in edges.iter().enumerate() {
            let bad = |why| Err(GraphError::BadEdge { edge: index, why });
            let (Some(from), Some(to)) = (nodes.get(edge.from.at()), nodes.get(edge.to.at())) else {
                return bad("there is no such node");
            };
            if edge.last <= edge.first {
                return bad("it does not run forward");
            }
            if *to != (Node { clip: edge.clip, frame: edge.last }) {
                return bad("it does not end at its node's frame");
            }
            if edge.join.is_none() && *from != (Node { clip: edge.clip, frame: edge.first }) {
                return bad("it does not begin at its node's frame and has no join");
            }
            let sound = edge
                .join
                .is_none_or(|e| e.blend.is_finite() && e.blend >= 0.0 && e.distance.is_finite() && finite(&e.align));
            if !(sound && edge.seconds.is_finite() && edge.seconds > 0.0 && finite(&edge.displacement)) {
                return bad("a number is not finite, or it lasts no time");
            }
        }
        let mut edges = edges;
        edges.sort_by_key(|(e, _)| (e.from, e.layer, e.join.is_some(), e.clip, e.first));
        let mut counts = vec![[0u32; 2]; nodes.len()];
        for (edge, _) in &edges {
            counts[edge.from.at()][edge.layer as usize] += 1;
        }
        let stuck = edges.iter().find(|(e, _)| counts[e.to.at()][e.layer as usize] == 0).map(|(e, _)| e.to);
        let unused = counts.iter().position(|count| *count == [0, 0]).map(|node| NodeIdx(node as u32));
        if let Some(node) = unused.or(stuck) {
            return Err(GraphError::DeadEnd { node });
        }
        let mut leaving = Vec::with_capacity(nodes.len() + 1);
        let mut start = 0;
        for [fight, walk] in counts {
            leaving.push([start, start + fight]);
            start += fight + walk;
        }
        leaving.push([start, start]);
        let mut spans = Vec::new();
        let edges = edges.into_iter().map(|(mut edge, within)| {
            let start = spans.len() as u32;
            spans.extend(within);
            edge.spans = start..spans.len() as u32;
            edge
        });
        Ok(Graph { edges: edges.collect(), nodes: nodes.into(), leaving: leaving.into(), spans: spans.into() })
    }

    /// All nodes, by clip and frame.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All edges, by the node they leave.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// One node.
    #[inline]
    pub fn node(&self, node: NodeIdx) -> &Node {
        &self.nodes[node.at()]
    }

    /// One edge.
    #[inline]
    pub fn edge(&self, edge: EdgeIdx) -> &Edge {
        &self.edges[edge.at()]
    }

    /// What can be played from a node in a layer, the clip's own continuation first where there is one. Empty where only the other layer
    /// has the node.
    #[inline]
    pub fn leaving(
        &self,
        node: NodeIdx,
        layer: Layer,
    ) -> impl ExactSizeIterator<Item = EdgeIdx> + DoubleEndedIterator + Clone + use<> {
        let ([fight, walk], [end, _]) = (self.leaving[node.at()], self.leaving[node.at() + 1]);
        match layer {
            Layer::Fight => fight..walk,
            Layer::Walk => walk..end,
        }
        .map(EdgeIdx)
    }

    /// What can be played after an edge in its layer: never empty.
    #[inline]
    pub fn after(&self, edge: EdgeIdx) -> impl ExactSizeIterator<Item = EdgeIdx> + DoubleEndedIterator + Clone + use<> {
        let edge = self.edge(edge);
        self.leaving(edge.to, edge.layer)
    }

    /// The nodes that edges of a layer leave, in order.
    pub fn nodes_of(&self, layer: Layer) -> impl DoubleEndedIterator<Item = NodeIdx> + Clone + '_ {
        (0..self.nodes.len() as u32).map(NodeIdx).filter(move |node| self.leaving(*node, layer).len() > 0)
    }

    /// The edges of a layer, in order.
    pub fn edges_of(&self, layer: Layer) -> impl DoubleEndedIterator<Item = EdgeIdx> + Clone + '_ {
        (0..self.edges.len() as u32).map(EdgeIdx).filter(move |edge| self.edge(*edge).layer == layer)
    }

    /// The same graph with its clips numbered otherwise.
    #[must_use]
    pub fn with_clips(&self, place: impl Fn(ClipIdx) -> ClipIdx) -> Graph {
        let mut graph = self.clone();
        graph.nodes.iter_mut().for_each(|node| node.clip = place(node.clip));
        graph.edges.iter_mut().for_each(|edge| edge.clip = place(edge.clip));
        graph
    }

    /// The same graph for somebody else: all its edges in one layer.
    #[must_use]
    pub fn in_layer(mut self, layer: Layer) -> Graph {
        self.edges.iter_mut().for_each(|edge| edge.layer = layer);
        for node in 0..self.nodes.len() {
            let (start, end) = (self.leaving[node][0], self.leaving[node + 1][0]);
            self.leaving[node][1] = if layer == Layer::Fight { end } else { start };
        }
        self
    }

    /// One layer alone; `None` if it is empty.
    pub fn only(&self, layer: Layer) -> Option<Graph> {
        let kept: Vec<NodeIdx> = self.nodes_of(layer).collect();
        let mut place = vec![NodeIdx(0); self.nodes.len()];
        for (new, old) in (0..).map(NodeIdx).zip(&kept) {
            place[old.at()] = new;
        }
        let edges = self.edges_of(layer).map(|index| {
            let edge = self.edge(index);
            let (from, to) = (place[edge.from.at()], place[edge.to.at()]);
            (Edge { from, to, ..edge.clone() }, self.spans(index).to_vec())
        });
        Graph::new(kept.iter().map(|node| *self.node(*node)).collect(), edges.collect()).ok()
    }

    /// This graph for fighters, with the edges of another over the same clips for walkers. Nodes at the same frame become one.
    pub fn with_walks(self, walks: &Graph) -> Result<Graph, GraphError> {
        let mut nodes = self.nodes.to_vec();
        let mut known: BTreeMap<Node, NodeIdx> = (0..).map(NodeIdx).zip(&nodes).map(|(i, n)| (*n, i)).collect();
        let place: Vec<NodeIdx> = walks
            .nodes
            .iter()
            .map(|node| {
                *known.entry(*node).or_insert_with(|| {
                    nodes.push(*node);
                    NodeIdx(nodes.len() as u32 - 1)
                })
            })
            .collect();
        let mut edges = Vec::with_capacity(self.edges.len() + walks.edges.len());
        let spans = |graph: &Graph, index: usize| graph.spans(EdgeIdx(index as u32)).to_vec();
        edges.extend(self.edges.iter().enumerate().map(|(i, edge)| (edge.clone(), spans(&self, i))));
        edges.extend(walks.edges.iter().enumerate().map(|(i, edge)| {
            let (from, to) = (place[edge.from.at()], place[edge.to.at()]);
            (Edge { layer: Layer::Walk, from, to, ..edge.clone() }, spans(walks, i))
        }));
        Graph::new(nodes, edges)
    }

    /// What happens within an edge.
    #[inline]
    pub fn spans(&self, edge: EdgeIdx) -> &[SpanRef] {
        let range = &self.edge(edge).spans;
        &self.spans[range.start as usize..range.end as usize]
    }
}

/// Where the root is on the ground in a frame, and which way it looks.
pub fn stand(clip: &Clip, frame: FrameIdx) -> Planar {
    let place = clip.root(frame);
    let ahead = clip.rotation(frame, JointIdx::ROOT) * Vec3::Z;
    Planar { turn: yaw_of(ahead), shift: Vec2::new(place.x, place.z) }
}

fn finite(planar: &Planar) -> bool {
    planar.turn.is_finite() && planar.shift.is_finite()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(clip: u32, frame: u32) -> Node {
        Node { clip: ClipIdx(clip), frame: FrameIdx(frame) }
    }

    fn edge(from: u32, to: u32, clip: u32, range: (u32, u32), jump: bool) -> (Edge, Vec<SpanRef>) {
        let join = jump.then_some(Join { blend: 0.3, align: Planar::IDENTITY, distance: 0.01 });
        let range = (ClipIdx(clip), FrameIdx(range.0), FrameIdx(range.1));
        (Edge::new(NodeIdx(from), NodeIdx(to), range, join, 0.5, Planar::IDENTITY), Vec::new())
    }

    #[track_caller]
    fn check(nodes: &[Node], edges: &[(Edge, Vec<SpanRef>)], expected: &str) {
        let error = Graph::new(nodes.to_vec(), edges.to_vec()).map(|_| ()).map_err(|e| e.to_string());
        assert_eq!(error.err().unwrap_or_default(), expected);
    }

    #[test]
    fn graphs_are_checked() {
        let nodes = [node(0, 10), node(0, 20)];
        let (on, back) = (edge(0, 1, 0, (10, 20), false), edge(1, 0, 0, (5, 10), true));
        check(&nodes, &[on.clone(), back.clone()], "");
        check(&[], &[], "a graph needs at least one node");
        check(&nodes, std::slice::from_ref(&on), "nothing leaves node 1");
        check(&nodes, &[on.clone(), edge(1, 7, 0, (5, 10), true)], "edge 1: there is no such node");
        check(&nodes, &[edge(1, 0, 0, (10, 10), true), on.clone()], "edge 0: it does not run forward");
        check(&nodes, &[edge(1, 0, 0, (5, 11), true), on.clone()], "edge 0: it does not end at its node's frame");
        let no_join = "edge 0: it does not begin at its node's frame and has no join";
        check(&nodes, &[edge(1, 0, 0, (5, 10), false), on], no_join);
    }

    #[test]
    fn edges_are_found_by_node() {
        let nodes = vec![node(0, 10), node(0, 20)];
        let whole = vec![SpanRef { span: 3, whole: true }];
        let (on, _) = edge(0, 1, 0, (10, 20), false);
        let edges = vec![edge(1, 0, 0, (5, 10), true), edge(0, 1, 0, (2, 20), true), (on, whole.clone())];
        let graph = Graph::new(nodes, edges).unwrap();
        let from = |n: u32| graph.leaving(NodeIdx(n), Layer::Fight).map(|e| graph.edge(e).first.0).collect::<Vec<_>>();
        assert_eq!((from(0), from(1)), (vec![10, 2], vec![5]));
        assert_eq!((graph.spans(EdgeIdx(0)), graph.spans(EdgeIdx(1))), (&whole[..], &[][..]));
        assert_eq!(graph.after(EdgeIdx(2)).count(), 2);
    }

    #[test]
    fn walks_share_nodes_with_fights() {
        let fight = Graph::new(
            vec![node(0, 10), node(0, 20)],
            vec![edge(0, 1, 0, (10, 20), false), edge(1, 0, 0, (5, 10), true)],
        );
        let walk = Graph::new(
            vec![node(0, 15), node(0, 20)],
            vec![edge(0, 1, 0, (15, 20), false), edge(1, 0, 0, (3, 15), true)],
        );
        let fight = fight.unwrap();
        let walk = walk.unwrap().in_layer(Layer::Walk);
        let graph = fight.clone().with_walks(&walk).unwrap();
        assert_eq!(graph.nodes(), [node(0, 10), node(0, 20), node(0, 15)]);
        let first = |n: u32, layer| graph.leaving(NodeIdx(n), layer).map(|e| graph.edge(e).first.0).collect::<Vec<_>>();
        assert_eq!(
            (first(0, Layer::Fight), first(1, Layer::Fight), first(2, Layer::Fight)),
            (vec![10], vec![5], vec![])
        );
        assert_eq!((first(0, Layer::Walk), first(1, Layer::Walk), first(2, Layer::Walk)), (vec![], vec![3], vec![15]));
        assert_eq!(graph.only(Layer::Fight).unwrap(), fight);
        assert_eq!(graph.only(Layer::Walk).unwrap().edges().len(), 2);
        assert_eq!(walk.leaving(NodeIdx(0), Layer::Walk).len(), 1);
        assert_eq!(walk.leaving(NodeIdx(0), Layer::Fight).len(), 0);
        assert_eq!(graph.nodes_of(Layer::Walk).collect::<Vec<_>>(), [NodeIdx(1), NodeIdx(2)]);
        let step = graph.leaving(NodeIdx(2), Layer::Walk).next().unwrap();
        assert_eq!(graph.after(step).map(|e| graph.edge(e).layer).collect::<Vec<_>>(), [Layer::Walk]);
    }
}
