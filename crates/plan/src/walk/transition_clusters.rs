//! Transitions clustered into trees, for searches that choose coarsely first.
//!
//! Arikan and Forsyth 2002 and Chen and Steed (§ 3) search edges of a dense graph; most of them are near-copies of
//! each other. One tree per pair of clips groups those that leave and enter at nearly the same time, with the best of
//! each group on top.

/// What clustering needs to know about a transition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leaf {
    /// Frame that is left.
    pub leaves: u32,
    /// Frame that is entered.
    pub enters: u32,
    /// How different the two frames are.
    pub distance: f32,
}

/// One group of transitions between two clips. The first is the root.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Position of the group's best transition in the list that was clustered.
    pub best: u32,
    /// Members, as a range of [`clusters`]' order.
    pub members: std::ops::Range<u32>,
    /// Positions of the parts in the list of branches; none for a single transition.
    pub parts: Option<[u32; 2]>,
}

/// Clusters the transitions of one pair of clips. Returns the order of the members, and the branches: the root first,
/// every branch before its parts.
///
/// A group is split at its widest gap in the time left or entered until single transitions remain: `O(n log n)` for
/// even splits, and no distance matrix.
pub fn clusters(transitions: &[Leaf]) -> (Vec<u32>, Vec<Branch>) {
    let mut order: Vec<u32> = (0..transitions.len() as u32).collect();
    let mut branches = Vec::new();
    if transitions.is_empty() {
        return (order, branches);
    }
    let mut open = vec![(0usize, transitions.len(), None::<(usize, usize)>)];
    while let Some((start, end, above)) = open.pop() {
        let members = &mut order[start..end];
        let nearer = |a: &&u32, b: &&u32| {
            let distance = |i: u32| transitions[i as usize].distance;
            distance(**a).total_cmp(&distance(**b)).then(a.cmp(b))
        };
        let best = members.iter().min_by(nearer).copied().unwrap_or_default();
        let index = branches.len();
        if let Some((parent, side)) = above
            && let Some(parts) = branches.get_mut(parent).and_then(|b: &mut Branch| b.parts.as_mut())
        {
            parts[side] = index as u32;
        }
        let whole = end - start;
        let parts = (whole > 1).then_some([0, 0]);
        branches.push(Branch { best, members: start as u32..end as u32, parts });
        if whole > 1 {
            let middle = start + split(transitions, members);
            open.push((middle, end, Some((index, 1))));
            open.push((start, middle, Some((index, 0))));
        }
    }
    (order, branches)
}

/// Sorts the members along the axis with the wider spread and returns where the second part begins: at the widest gap
/// of the middle half, so that trees stay shallow.
fn split(transitions: &[Leaf], members: &mut [u32]) -> usize {
    let times = |i: u32| [transitions[i as usize].leaves, transitions[i as usize].enters];
    let spread = |axis: usize| {
        let values = || members.iter().map(|i| times(*i)[axis]);
        values().max().unwrap_or(0) - values().min().unwrap_or(0)
    };
    let axis = usize::from(spread(1) > spread(0));
    members.sort_by_key(|i| (times(*i)[axis], times(*i)[1 - axis], *i));
    let count = members.len();
    let (low, high) = ((count / 4).max(1), (count - count / 4).min(count - 1));
    let gap = |k: usize| times(members[k])[axis] - times(members[k - 1])[axis];
    (low..=high).max_by_key(|k| (gap(*k), std::cmp::Reverse(k.abs_diff(count / 2)))).unwrap_or(1)
}
