//! The tables that decisions read: worked out once for a library, node by node, in parallel.

use kumite_motion::NodeIdx;
use kumite_motion::library::Library;
use kumite_plan::Bodies;
use kumite_plan::dodge::{Avoidances, NodeIndex, PathIndex, PathRules};
use rayon::prelude::*;

/// The per-node index of a library, with the cells of its grid or without. The same on any number of threads.
pub fn index(library: &Library, bodies: &Bodies, rules: &PathRules, grid: bool) -> PathIndex {
    let (graph, avoidances) = (library.graph(), Avoidances::of(bodies));
    let nodes = (0..graph.nodes().len() as u32).into_par_iter().map(NodeIdx);
    let made: Vec<NodeIndex> =
        nodes.map(|node| NodeIndex::of((bodies, &avoidances), graph, rules, grid, node)).collect();
    PathIndex::join(&avoidances, rules, made)
}
