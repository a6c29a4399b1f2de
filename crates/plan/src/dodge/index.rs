//! The per-node grid index (§ 5.1 of the paper): which paths move the body away from a cell, and when.
//!
//! Every node keeps all paths within the horizon, sorted by the time of their avoidance, so that a query is a range of them;
//! and for each 10 cm cell around the node one bit per path whose avoidance vacates that cell. A path without a bit in any cell that
//! the attack passes has `e_avoidance` = 1; that bounds its cost, and it seldom has to be evaluated.
//!
//! The printed index forgets the times, and finds nothing where no cell is met.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::{EdgeIdx, Graph, Layer, NodeIdx, Vec3};

use super::candidate_paths::{AvoidancePath, DefenceKind, PathRules, Paths};
use super::cells::{CELL, RasterBall, key, vacated_cells};
use crate::Bodies;
use crate::bodies::{DefenceSpan, Row};

/// Attacks up to this radius are looked up by the cells their centre passes; larger ones in the cells around too. Metres.
const NOMINAL: f32 = 0.12;
/// Spacing of samples along an attack's path, metres; cells are grown by half of it so that none is missed.
const LOOK: f32 = 0.04;
/// A sphere vacates its place if it moves this far during the avoidance, metres.
pub(super) const VACATED: f32 = 0.02;

/// Paths and cells of all nodes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathIndex {
    /// Paths to avoidances.
    pub avoid: PathTable,
    /// Paths to blocks; no cells, since a block goes to the attack instead of away from it.
    pub block: PathTable,
    /// Which spheres each avoidance moves away, by edge and part.
    vacated: Vec<(EdgeIdx, Vec<u128>)>,
    horizon: f32,
}

/// Paths of all nodes to one kind of defence, by time, and their cells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathTable {
    /// First path of each node; one more at the end.
    starts: Vec<u32>,
    paths: Vec<AvoidancePath>,
    pool: Vec<EdgeIdx>,
    /// First cell of each node; one more at the end.
    cells_of: Vec<u32>,
    keys: Vec<u32>,
    /// First word of each node.
    masks_of: Vec<u32>,
    masks: Vec<u64>,
    /// Middle of each node's grid, in the frame of the node's clip.
    middles: Vec<Vec3>,
}

/// The index of one node; [`PathIndex::join`] puts them together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeIndex {
    avoid: Paths,
    block: Paths,
    middle: Vec3,
    /// Sorted.
    keys: Vec<u32>,
    /// A row of words for each key.
    masks: Vec<u64>,
}

/// What every avoidance of a library moves away, by edge and part; shared by all nodes.
#[derive(Clone, Debug)]
pub struct Avoidances {
    edges: Vec<(EdgeIdx, Vec<Avoidance>)>,
}

#[derive(Clone, Debug)]
struct Avoidance {
    /// The spheres that move away, one bit each.
    moved: u128,
    /// Where the body is when it begins.
    start: Row,
}

impl Avoidances {
    /// Works them out, edge by edge.
    pub fn of(bodies: &Bodies) -> Avoidances {
        let edges = (0..bodies.edges() as u32).map(EdgeIdx).filter(|e| !bodies.avoids(*e).is_empty());
        let parts = |edge| bodies.avoids(edge).iter().map(|part| Avoidance::of(bodies, edge, part)).collect();
        Avoidances { edges: edges.map(|edge| (edge, parts(edge))).collect() }
    }

    fn get(&self, edge: EdgeIdx, part: u32) -> Option<&Avoidance> {
        let at = self.edges.binary_search_by_key(&edge, |e| e.0).ok()?;
        self.edges[at].1.get(part as usize)
    }
}

impl Avoidance {
    fn of(bodies: &Bodies, edge: EdgeIdx, part: &DefenceSpan) -> Avoidance {
        let (mut row, mut start) = (bodies.row(), bodies.row());
        bodies.sample(edge, part.from, &mut start);
        let mut moved = 0u128;
        let looks = 32;
        for k in 1..=looks {
            let time = part.from + (part.to - part.from) * k as f32 / looks as f32;
            bodies.sample(edge, time, &mut row);
            for j in 0..bodies.spheres().min(128) {
                if (row.get(j) - start.get(j)).length() > VACATED {
                    moved |= 1 << j;
                }
            }
        }
        Avoidance { moved, start }
    }
}

impl NodeIndex {
    /// Works out the index of one node, with the cells of its grid or without. Nodes are independent of each other.
    pub fn of(
        (bodies, avoidances): (&Bodies, &Avoidances),
        graph: &Graph,
        rules: &PathRules,
        grid: bool,
        node: NodeIdx,
    ) -> NodeIndex {
        let mut out = NodeIndex::default();
        // Whether the edge that leads here has a join is known only at run time, so the rule about joins in quick succession starts
        // afresh at the node.
        let range = (f32::NEG_INFINITY, rules.horizon);
        out.avoid.enumerate((bodies, graph, rules, DefenceKind::Avoid), node, range, f32::INFINITY);
        out.block.enumerate((bodies, graph, rules, DefenceKind::Block), node, range, f32::INFINITY);
        for paths in [&mut out.avoid, &mut out.block] {
            let pool = std::mem::take(&mut paths.pool);
            paths.list.sort_by(|a, b| {
                let edges = |p: &AvoidancePath| &pool[p.edges.0 as usize..p.edges.1 as usize];
                a.centre.total_cmp(&b.centre).then_with(|| edges(a).cmp(edges(b))).then(a.part.cmp(&b.part))
            });
            paths.pool = pool;
        }
        let Some(first) = graph.leaving(node, Layer::Fight).next() else { return out };
        // The node's position in the frame of its clip: the first edge's pelvis, laid over the clip that is left.
        out.middle = bodies.align(first).point(bodies.pelvis(first, 0.0));
        out.middle.y = 0.0;
        if !grid {
            return out;
        }
        let balls = |path: &AvoidancePath| {
            let edges = out.avoid.edges(path);
            let mut place = PlanarMatrix::IDENTITY;
            for edge in edges {
                place = place.after(bodies.align(*edge));
            }
            let avoidance = edges.last().and_then(|last| avoidances.get(*last, path.part));
            avoidance.map_or(Vec::new(), |avoidance| {
                let moved = (0..bodies.spheres().min(128)).filter(|j| avoidance.moved >> j & 1 == 1);
                // Joins move bodies a few centimetres away from their clips.
                let ball = |j: usize| RasterBall {
                    centre: place.point(avoidance.start.get(j)) - out.middle,
                    reach: bodies.radius(j) + NOMINAL + 0.5 * LOOK + 0.05,
                };
                moved.map(ball).collect()
            })
        };
        let balls: Vec<Vec<RasterBall>> = out.avoid.list.iter().map(balls).collect();
        (out.keys, out.masks) = vacated_cells(&balls, out.avoid.list.len().div_ceil(64));
        out
    }
}

impl PathIndex {
    /// Works out all nodes, one after the other. The cells of the grid take most of the time, and are needed only where [`DodgeConfig::grid`] is set.
    ///
    /// [`DodgeConfig::grid`]: super::DodgeConfig::grid
    pub fn of(bodies: &Bodies, graph: &Graph, rules: &PathRules, grid: bool) -> PathIndex {
        let avoidances = Avoidances::of(bodies);
        let node = |n| NodeIndex::of((bodies, &avoidances), graph, rules, grid, NodeIdx(n));
        PathIndex::join(&avoidances, rules, (0..graph.nodes().len() as u32).map(node).collect())
    }

    /// Puts the nodes together, in order.
    pub fn join(avoidances: &Avoidances, rules: &PathRules, nodes: Vec<NodeIndex>) -> PathIndex {
        let mut index = PathIndex { horizon: rules.horizon, ..PathIndex::default() };
        for node in nodes {
            index.avoid.push(&node.avoid, (&node.keys, &node.masks), node.middle);
            index.block.push(&node.block, (&[], &[]), node.middle);
        }
        index.avoid.close();
        index.block.close();
        let moved = |(edge, parts): &(EdgeIdx, Vec<Avoidance>)| (*edge, parts.iter().map(|p| p.moved).collect());
        index.vacated = avoidances.edges.iter().map(moved).collect();
        index
    }

    /// How far its paths reach beyond their nodes, seconds.
    pub fn horizon(&self) -> f32 {
        self.horizon
    }

    /// Which spheres an avoidance moves away.
    pub fn vacated(&self, edge: EdgeIdx, part: usize) -> u128 {
        let found = self.vacated.binary_search_by_key(&edge, |v| v.0).ok();
        found.and_then(|at| self.vacated[at].1.get(part).copied()).unwrap_or(u128::MAX)
    }

    /// Memory used, bytes.
    pub fn bytes(&self) -> usize {
        let table = |t: &PathTable| {
            t.paths.len() * size_of::<AvoidancePath>()
                + 4 * (t.starts.len() + t.pool.len() + t.cells_of.len() + t.keys.len() + t.masks_of.len())
                + 8 * t.masks.len()
                + 12 * t.middles.len()
        };
        table(&self.avoid) + table(&self.block) + self.vacated.iter().map(|v| 4 + 16 * v.1.len()).sum::<usize>()
    }
}

impl PathTable {
    fn push(&mut self, paths: &Paths, (keys, masks): (&[u32], &[u64]), middle: Vec3) {
        self.starts.push(self.paths.len() as u32);
        self.cells_of.push(self.keys.len() as u32);
        self.masks_of.push(self.masks.len() as u32);
        self.middles.push(middle);
        for path in &paths.list {
            let start = self.pool.len() as u32;
            self.pool.extend(paths.edges(path));
            self.paths.push(AvoidancePath { edges: (start, self.pool.len() as u32), ..*path });
        }
        self.keys.extend(keys);
        self.masks.extend(masks);
    }

    fn close(&mut self) {
        self.starts.push(self.paths.len() as u32);
        self.cells_of.push(self.keys.len() as u32);
    }

    /// Number of paths.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Number of cells that some avoidance vacates.
    pub fn cells(&self) -> usize {
        self.keys.len()
    }

    /// Edges of a path.
    #[inline]
    pub fn edges(&self, path: &AvoidancePath) -> &[EdgeIdx] {
        &self.pool[path.edges.0 as usize..path.edges.1 as usize]
    }

    /// The paths of a node whose defence has its middle within `range` (exclusive), path seconds after the node, and the position of the
    /// first among all paths of the node.
    pub fn between(&self, node: NodeIdx, range: (f32, f32)) -> (&[AvoidancePath], usize) {
        let (Some(&from), Some(&to)) = (self.starts.get(node.at()), self.starts.get(node.at() + 1)) else {
            return (&[], 0);
        };
        let paths = &self.paths[from as usize..to as usize];
        let (a, b) = (paths.partition_point(|p| p.centre <= range.0), paths.partition_point(|p| p.centre < range.1));
        (&paths[a..b.max(a)], a)
    }

    /// Sets the bits of the node's paths that vacate a cell which a sphere passes on the straight line `way`, in the frame of the node's clip.
    pub fn mark(&self, node: NodeIdx, way: [Vec3; 2], radius: f32, bits: &mut Vec<u64>) {
        let (Some(&from), Some(&to)) = (self.cells_of.get(node.at()), self.cells_of.get(node.at() + 1)) else { return };
        let count = (self.starts[node.at() + 1] - self.starts[node.at()]) as usize;
        let words = count.div_ceil(64);
        bits.resize(words, 0);
        let keys = &self.keys[from as usize..to as usize];
        let masks = &self.masks[self.masks_of[node.at()] as usize..][..keys.len() * words];
        let around = ((radius - NOMINAL).max(0.0) / CELL).ceil() as i32;
        let looks = ((way[1] - way[0]).length() / LOOK).ceil().max(1.0);
        let mut last = None;
        for k in 0..=looks as usize {
            let p = way[0].lerp(way[1], k as f32 / looks) - self.middles[node.at()];
            let middle = key(p);
            if around == 0 && (middle.is_none() || middle == last) {
                continue;
            }
            last = middle;
            for (x, y) in (-around..=around).flat_map(|x| (-around..=around).map(move |y| (x, y))) {
                for z in -around..=around {
                    let Some(key) = key(p + Vec3::new(x as f32, y as f32, z as f32) * CELL) else { continue };
                    if let Ok(at) = keys.binary_search(&key) {
                        for (bit, mask) in bits.iter_mut().zip(&masks[at * words..]) {
                            *bit |= mask;
                        }
                    }
                }
            }
        }
    }
}
