//! The tables that decisions read: worked out once for a library, node by node, on as many threads as there are.

use kumite_motion::NodeIdx;
use kumite_motion::library::Library;
use kumite_plan::Bodies;
use kumite_plan::dodge::{NodeIndex, PathIndex, PathRules};

/// The per-node index of a library. The same on any number of threads.
pub fn index(library: &Library, bodies: &Bodies, rules: &PathRules, threads: usize) -> PathIndex {
    let graph = library.graph();
    let nodes: Vec<NodeIdx> = (0..graph.nodes().len() as u32).map(NodeIdx).collect();
    let share = nodes.len().div_ceil(threads.max(1)).max(1);
    let work = |part: &[NodeIdx]| -> Vec<NodeIndex> {
        part.iter().map(|&node| NodeIndex::of(bodies, graph, rules, node)).collect()
    };
    let made = if threads <= 1 || cfg!(target_arch = "wasm32") {
        work(&nodes)
    } else {
        std::thread::scope(|scope| {
            let parts: Vec<_> = nodes.chunks(share).map(|part| scope.spawn(move || work(part))).collect();
            // A thread that panicked has said so; its nodes are worked out again here.
            let parts = parts.into_iter().zip(nodes.chunks(share));
            parts.flat_map(|(part, nodes)| part.join().unwrap_or_else(|_| work(nodes))).collect()
        })
    };
    PathIndex::join(bodies, rules, made)
}
