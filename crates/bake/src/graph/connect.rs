//! Which nodes reach which: components, reachability, and keeping a graph connected.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The strongly connected component of each node; components are numbered as their first nodes are. Tarjan 1972
/// without recursion: graphs here are chains of thousands of nodes, too deep for a stack of calls.
pub(super) fn components(nodes: usize, edges: &[(usize, usize)]) -> Vec<usize> {
    const NONE: usize = usize::MAX;
    let (starts, targets) = by_source(nodes, edges.iter().copied());
    let (mut order, mut low) = (vec![NONE; nodes], vec![NONE; nodes]);
    let (mut component, mut stack) = (vec![NONE; nodes], Vec::new());
    let (mut clock, mut count) = (0, 0);
    for root in 0..nodes {
        if order[root] != NONE {
            continue;
        }
        // Node and the next of its edges to look at.
        let mut calls = vec![(root, starts[root])];
        while let Some((node, edge)) = calls.pop() {
            if edge == starts[node] {
                order[node] = clock;
                low[node] = clock;
                clock += 1;
                stack.push(node);
            }
            if edge < starts[node + 1] {
                calls.push((node, edge + 1));
                let to = targets[edge];
                if order[to] == NONE {
                    calls.push((to, starts[to]));
                } else if component[to] == NONE {
                    low[node] = low[node].min(order[to]);
                }
                continue;
            }
            if low[node] == order[node] {
                while let Some(member) = stack.pop() {
                    component[member] = count;
                    if member == node {
                        break;
                    }
                }
                count += 1;
            }
            if let Some(&(above, _)) = calls.last() {
                low[above] = low[above].min(low[node]);
            }
        }
    }
    // Renumbered by first node, so that the numbers do not depend on the order of the search.
    let mut names = vec![NONE; count];
    let mut next = 0;
    for c in &mut component {
        if names[*c] == NONE {
            names[*c] = next;
            next += 1;
        }
        *c = names[*c];
    }
    component
}

/// Where the edges of each node start, one more at the end, and where they lead.
fn by_source(nodes: usize, edges: impl Iterator<Item = (usize, usize)> + Clone) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; nodes + 1];
    edges.clone().for_each(|(from, _)| starts[from + 1] += 1);
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut at = starts.clone();
    let mut targets = vec![0; starts[nodes]];
    for (from, to) in edges {
        targets[at[from]] = to;
        at[from] += 1;
    }
    (starts, targets)
}

/// Nodes that can be reached from some, which count as reached.
pub(crate) fn reached(nodes: usize, edges: impl Iterator<Item = (usize, usize)> + Clone, from: &[usize]) -> Vec<bool> {
    let (starts, targets) = by_source(nodes, edges);
    let mut reached = vec![false; nodes];
    let mut open = from.to_vec();
    from.iter().for_each(|&n| reached[n] = true);
    while let Some(node) = open.pop() {
        for &to in &targets[starts[node]..starts[node + 1]] {
            if !std::mem::replace(&mut reached[to], true) {
                open.push(to);
            }
        }
    }
    reached
}

/// One way between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) from: usize,
    pub(super) to: usize,
    /// What it costs to take it in: metres of distance.
    pub(super) length: f64,
}

/// Takes back in what strong connection needs: `among` connects its nodes, and with what two trees of cheapest ways
/// add, so does what is kept of it. One tree leads from a root to every node, one from every node to it (Dijkstra
/// 1959); ways already kept cost nothing.
pub(super) fn reconnect(nodes: usize, ends: &[End], among: &[usize], keep: &mut [bool]) {
    let Some(&first) = among.first() else { return };
    let root = ends[first].from;
    for backwards in [false, true] {
        let turned = |w: usize| if backwards { (ends[w].to, ends[w].from) } else { (ends[w].from, ends[w].to) };
        let (starts, ways) = by_source(nodes, among.iter().map(|&w| (turned(w).0, w)));
        let mut cost = vec![u64::MAX; nodes];
        let mut by = vec![None; nodes];
        let mut open = BinaryHeap::from([Reverse((0u64, root))]);
        cost[root] = 0;
        while let Some(Reverse((spent, node))) = open.pop() {
            if spent > cost[node] {
                continue;
            }
            for &w in &ways[starts[node]..starts[node + 1]] {
                // In whole micrometres, and never free: sums of whole numbers do not depend on their order.
                let price = if keep[w] { 0 } else { 1 + (ends[w].length * 1e6) as u64 };
                let (to, total) = (turned(w).1, spent.saturating_add(price));
                if total < cost[to] {
                    cost[to] = total;
                    by[to] = Some(w);
                    open.push(Reverse((total, to)));
                }
            }
        }
        by.into_iter().flatten().for_each(|w| keep[w] = true);
    }
}

#[cfg(test)]
mod tests {
    use kumite_motion::Chance;

    use super::*;

    fn random_graph(seed: u64) -> (usize, Vec<(usize, usize)>) {
        let mut chance = Chance::new(seed);
        let nodes = 1 + chance.below(30);
        let edges = 0..chance.below(80);
        let mut node = || chance.below(nodes) as usize;
        (nodes as usize, edges.map(|_| (node(), node())).collect())
    }

    #[test]
    fn components_are_sets_of_nodes_that_reach_each_other() {
        for seed in 0..300 {
            let (nodes, edges) = random_graph(seed);
            let found = components(nodes, &edges);
            let reach: Vec<Vec<bool>> = (0..nodes).map(|n| reached(nodes, edges.iter().copied(), &[n])).collect();
            for a in 0..nodes {
                for b in 0..nodes {
                    assert_eq!(found[a] == found[b], reach[a][b] && reach[b][a], "seed {seed}, {a} and {b}");
                }
            }
        }
    }

    #[test]
    fn a_chain_of_a_hundred_thousand_is_no_trouble() {
        let nodes = 100_000;
        let mut edges: Vec<(usize, usize)> = (1..nodes).map(|n| (n - 1, n)).collect();
        assert_eq!(components(nodes, &edges).iter().max(), Some(&(nodes - 1)));
        edges.push((nodes - 1, 0));
        assert!(components(nodes, &edges).iter().all(|c| *c == 0));
    }

    #[test]
    fn whatever_was_dropped_connection_comes_back() {
        for seed in 0..300 {
            let (nodes, edges) = random_graph(seed);
            let found = components(nodes, &edges);
            let among: Vec<usize> =
                (0..edges.len()).filter(|&e| found[edges[e].0] == 0 && found[edges[e].1] == 0).collect();
            let mut chance = Chance::new(seed + 7);
            let mut keep: Vec<bool> = (0..edges.len()).map(|_| chance.below(4) == 0).collect();
            let before = keep.clone();
            let ends: Vec<End> = edges.iter().map(|&(from, to)| End { from, to, length: 0.1 }).collect();
            reconnect(nodes, &ends, &among, &mut keep);
            let kept: Vec<(usize, usize)> = among.iter().filter(|e| keep[**e]).map(|e| edges[*e]).collect();
            let again = components(nodes, &kept);
            let core: Vec<usize> = (0..nodes).filter(|n| found[*n] == 0).collect();
            if !among.is_empty() {
                assert!(core.iter().all(|n| again[*n] == again[core[0]]), "seed {seed}");
            }
            assert!(keep.iter().zip(&before).filter(|(k, b)| *k != *b).count() <= 2 * core.len());
        }
    }
}
