//! How long it takes from anywhere to an action of a kind.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use kumite_motion::graph::SpanRef;
use kumite_motion::library::Library;
use kumite_motion::{EdgeIdx, Graph, SpanKind};

/// Seconds from each node to the start of the nearest edge that plays a span of this kind, by the shortest way; infinite where there is none.
/// Of walks, runs, steps, turns and idles a part will do.
pub fn seconds_to(library: &Library, kind: SpanKind) -> Vec<f32> {
    let graph = library.graph();
    let may_break = matches!(kind, SpanKind::Walk | SpanKind::Run | SpanKind::Idle | SpanKind::Step | SpanKind::Turn);
    let mut seconds = vec![f32::INFINITY; graph.nodes().len()];
    let mut arriving: Vec<Vec<usize>> = vec![Vec::new(); graph.nodes().len()];
    // Whole microseconds, so that the heap has an order.
    let mut open: BinaryHeap<Reverse<(u64, usize)>> = BinaryHeap::new();
    for (index, edge) in graph.edges().iter().enumerate() {
        arriving[edge.to.at()].push(index);
        let clip = library.clip(edge.clip);
        let plays = |s: &SpanRef| (s.whole || may_break) && clip.spans[s.span as usize].kind == kind;
        let plays = graph.spans(EdgeIdx(index as u32)).iter().any(plays);
        if plays && seconds[edge.from.at()] > 0.0 {
            seconds[edge.from.at()] = 0.0;
            open.push(Reverse((0, edge.from.at())));
        }
    }
    while let Some(Reverse((cost, node))) = open.pop() {
        if cost as f32 * 1e-6 > seconds[node] + 1e-4 {
            continue;
        }
        for &index in &arriving[node] {
            let edge = &graph.edges()[index];
            let longer = cost + (f64::from(edge.seconds) * 1e6) as u64;
            if (longer as f32) * 1e-6 + 1e-5 < seconds[edge.from.at()] {
                seconds[edge.from.at()] = longer as f32 * 1e-6;
                open.push(Reverse((longer, edge.from.at())));
            }
        }
    }
    seconds
}

/// Seconds from each node to something, from those of the nodes it begins at: the least over all ways there. Graphs are small and times
/// short: relaxed until nothing changes.
pub(crate) fn carried_back(graph: &Graph, mut seconds: Vec<f32>) -> Vec<f32> {
    loop {
        let mut changed = false;
        for edge in graph.edges() {
            let by = edge.seconds + seconds[edge.to.at()];
            if by + 1e-5 < seconds[edge.from.at()] {
                seconds[edge.from.at()] = by;
                changed = true;
            }
        }
        if !changed {
            return seconds;
        }
    }
}
