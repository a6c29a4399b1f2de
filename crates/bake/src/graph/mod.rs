//! From clips and transitions to the graph that characters walk on: no dead ends by construction, and an account of
//! what was lost.
//!
//! Nodes are the frames that transitions leave; an edge plays a clip from there, or from where a transition enters,
//! to the next node. Only the largest strongly connected component is kept (Kovar, Gleicher and Pighin 2002, § 3.3):
//! from each of its nodes every other can be reached. That may cost rare and vital motions, so [`Report`] says for
//! every label what was lost and why.

mod connect;
mod reach;
mod report;

use std::collections::{BTreeMap, BTreeSet};

use kumite_motion::graph::{Edge, GraphError, Join, Node, SpanRef, stand};
use kumite_motion::library::Library;
use kumite_motion::{Clip, ClipIdx, FrameIdx, Graph, NodeIdx, SpanKind};

use crate::transitions::{Transition, Transitions};
pub(crate) use connect::reached;
pub(crate) use reach::carried_back;
pub use reach::seconds_to;
pub use report::{LabelLoss, Lost, Report, UNBROKEN, Why, keeps, kept};

/// How the graph is built.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphConfig {
    /// Nodes of one clip are at least this far apart, seconds. Nearer transitions are near-copies; without this edges
    /// of one frame arise.
    pub node_seconds: f32,
    /// After a join the motion runs at least this long before it may branch again, or half as long where its clip ends
    /// before. Seconds.
    pub edge_seconds: f32,
    /// Edges that leave one node, the clip's own continuation included. A few more where connection needs them.
    pub most_leaving: usize,
    /// Joins from one node into one clip enter it at least this far apart, seconds: the ways out should lead to
    /// different motions.
    pub target_gap_seconds: f32,
    /// Spans of these kinds count as kept only if one edge plays all of them; of other kinds half is enough.
    pub unbroken: Vec<SpanKind>,
}

impl Default for GraphConfig {
    /// Guesses that give edges of 0.4 to 0.7 s on CMU and ACCAD; no study has been made.
    fn default() -> Self {
        Self {
            node_seconds: 0.2,
            edge_seconds: 0.3,
            most_leaving: 12,
            target_gap_seconds: 0.5,
            unbroken: vec![SpanKind::Attack, SpanKind::Avoid],
        }
    }
}

/// Why there is no graph.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// No motion can be repeated: nothing leads back to where it came from.
    #[error("{transitions} transitions, and none leads back: no motion can go on forever")]
    NoLoop {
        /// How many transitions there were to try.
        transitions: usize,
    },
    /// Transitions that are not of these clips.
    #[error("the transitions are not of these clips")]
    OtherClips,
    /// The parts violate an invariant of [`Graph`]: a fault of the builder.
    #[error(transparent)]
    Graph(GraphError),
}

/// An edge in the making.
#[derive(Clone, Copy, Debug)]
struct EdgeDraft {
    from: usize,
    to: usize,
    clip: ClipIdx,
    first: u32,
    /// The transition that enters; `None` where the clip continues.
    transition: Option<usize>,
}

/// Builds the graph. Same input, same graph.
pub fn build(clips: &[Clip], transitions: &Transitions, config: &GraphConfig) -> Result<(Graph, Report), BuildError> {
    let list = &transitions.list;
    let in_clip = |(clip, frame): (ClipIdx, FrameIdx)| clips.get(clip.at()).is_some_and(|c| frame.at() < c.frames());
    if !list.iter().all(|t| in_clip(t.from) && in_clip(t.to)) {
        return Err(BuildError::OtherClips);
    }
    let nodes = choose_nodes(clips, list, config);
    let drafts = draft_edges(clips, list, &nodes, config);
    let ends: Vec<(usize, usize)> = drafts.iter().map(|w| (w.from, w.to)).collect();
    let components = connect::components(nodes.len(), &ends);
    let Some(core) = largest(clips, &nodes, &drafts, &components) else {
        return Err(BuildError::NoLoop { transitions: list.len() });
    };
    let inside: Vec<usize> =
        (0..drafts.len()).filter(|&w| [drafts[w].from, drafts[w].to].iter().all(|n| components[*n] == core)).collect();
    let kept = thin_out(clips, transitions, &nodes, &drafts, &inside, config);
    let (kept_nodes, kept_drafts) = join_chains(&nodes, &drafts, &kept);
    let graph = finish(clips, transitions, &nodes, &kept_nodes, &kept_drafts)?;
    let mut report = report::account(clips, &graph, &nodes, &drafts, &components, core, config);
    report.long_transitions =
        graph.edges().iter().filter(|e| e.join.is_some_and(|join| join.distance > transitions.limit)).count();
    Ok((graph, report))
}

/// How many parts a graph falls into, in each of which every node can be reached from every other.
pub fn components_of(graph: &Graph) -> usize {
    let ends: Vec<(usize, usize)> = graph.edges().iter().map(|e| (e.from.at(), e.to.at())).collect();
    let of: BTreeSet<usize> = connect::components(graph.nodes().len(), &ends).into_iter().collect();
    of.len()
}

/// Share of the seconds of a library's clips that some edge plays.
pub fn played_share(library: &Library) -> f32 {
    let mut played: Vec<Vec<bool>> = library.clips().iter().map(|c| vec![false; c.frames()]).collect();
    for edge in library.graph().edges() {
        if let Some(frames) = played.get_mut(edge.clip.at()).and_then(|c| c.get_mut(edge.first.at()..=edge.last.at())) {
            frames.fill(true);
        }
    }
    let seconds = |count: &dyn Fn(&[bool]) -> usize| -> f32 {
        library.clips().iter().zip(&played).map(|(clip, frames)| count(frames) as f32 / clip.fps()).sum()
    };
    seconds(&|frames| frames.iter().filter(|f| **f).count()) / seconds(&|frames| frames.len()).max(1e-6)
}

/// Frames that may be left, far enough apart. The best transition between each two clips chooses first, then all by
/// distance: a clip that is seldom reached must not lose its only way to a near-copy of a common one.
fn choose_nodes(clips: &[Clip], list: &[Transition], config: &GraphConfig) -> Vec<Node> {
    let mut by_distance: Vec<&Transition> = list.iter().collect();
    by_distance.sort_by(|a, b| a.distance.total_cmp(&b.distance).then((a.from, a.to).cmp(&(b.from, b.to))));
    let mut seen = BTreeSet::new();
    let (first, rest): (Vec<&Transition>, Vec<&Transition>) =
        by_distance.into_iter().partition(|t| seen.insert((t.from.0, t.to.0)));
    let mut chosen: Vec<BTreeSet<u32>> = vec![BTreeSet::new(); clips.len()];
    for transition in first.into_iter().chain(rest) {
        let (clip, FrameIdx(frame)) = transition.from;
        let gap = ((config.node_seconds * clips[clip.at()].fps()).round() as u32).max(1);
        let taken = &mut chosen[clip.at()];
        if taken.range((frame + 1).saturating_sub(gap)..frame + gap).next().is_none() {
            taken.insert(frame);
        }
    }
    let node = |clip: usize| move |frame: u32| Node { clip: ClipIdx(clip as u32), frame: FrameIdx(frame) };
    chosen.into_iter().enumerate().flat_map(|(clip, frames)| frames.into_iter().map(node(clip))).collect()
}

/// What can be played from each node.
fn draft_edges(clips: &[Clip], list: &[Transition], nodes: &[Node], config: &GraphConfig) -> Vec<EdgeDraft> {
    let mut drafts = Vec::new();
    for (from, pair) in nodes.windows(2).enumerate() {
        if pair[0].clip == pair[1].clip {
            drafts.push(EdgeDraft { from, to: from + 1, clip: pair[0].clip, first: pair[0].frame.0, transition: None });
        }
    }
    for (index, transition) in list.iter().enumerate() {
        let Ok(from) = nodes.binary_search(&Node { clip: transition.from.0, frame: transition.from.1 }) else {
            continue;
        };
        let (clip, FrameIdx(first)) = transition.to;
        let run = ((config.edge_seconds * clips[clip.at()].fps()).round() as u32).max(1);
        // The first node far enough on, or the clip's last.
        let far = nodes.partition_point(|n| (n.clip, n.frame.0) < (clip, first + run));
        let near = |at: usize| nodes.get(at).is_some_and(|n| n.clip == clip && n.frame.0 > first);
        let to = if near(far) { Some(far) } else { far.checked_sub(1).filter(|at| near(*at)) };
        if let Some(to) = to {
            drafts.push(EdgeDraft { from, to, clip, first, transition: Some(index) });
        }
    }
    drafts
}

/// The component that plays the longest part of the clips. `None` if none has an edge inside.
fn largest(clips: &[Clip], nodes: &[Node], drafts: &[EdgeDraft], components: &[usize]) -> Option<usize> {
    let mut ranges: BTreeMap<usize, Vec<(ClipIdx, u32, u32)>> = BTreeMap::new();
    for draft in drafts.iter().filter(|w| components[w.from] == components[w.to]) {
        ranges.entry(components[draft.from]).or_default().push((draft.clip, draft.first, nodes[draft.to].frame.0));
    }
    let longest = |ranges: Vec<(ClipIdx, u32, u32)>| {
        report::union(ranges).iter().map(|r| f64::from(r.2 - r.1) / f64::from(clips[r.0.at()].fps())).sum::<f64>()
    };
    let sized: Vec<(usize, f64)> = ranges.into_iter().map(|(c, ranges)| (c, longest(ranges))).collect();
    // Among equals the one found first.
    sized.into_iter().reduce(|best, other| if other.1 > best.1 { other } else { best }).map(|best| best.0)
}

/// Keeps at most `most_leaving` edges out of each node, as different as possible, with all nodes and unbroken spans still within
/// reach. Long transitions, and joins that are over at once, are kept only where reach needs them.
fn thin_out(
    clips: &[Clip],
    transitions: &Transitions,
    nodes: &[Node],
    drafts: &[EdgeDraft],
    inside: &[usize],
    config: &GraphConfig,
) -> Vec<usize> {
    let distance = |w: usize| drafts[w].transition.map_or(0.0, |t| transitions.list[t].distance);
    let mut keep = vec![false; drafts.len()];
    let mut leaving: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    // Joins in quick succession jerk a body back and forth.
    let hasty = |w: usize| {
        let played = (nodes[drafts[w].to].frame.0 - drafts[w].first) as f32 / clips[drafts[w].clip.at()].fps();
        drafts[w].transition.is_some() && played < 0.5 * config.edge_seconds
    };
    let usual = inside.iter().filter(|w| distance(**w) <= transitions.limit && !hasty(**w));
    usual.for_each(|&w| leaving.entry(drafts[w].from).or_default().push(w));
    for out in leaving.values_mut() {
        out.sort_by(|&a, &b| {
            let natural = drafts[b].transition.is_none().cmp(&drafts[a].transition.is_none());
            natural.then(distance(a).total_cmp(&distance(b))).then(a.cmp(&b))
        });
        // Round by round: the best way into each clip, then the second best, …; joins near ones already taken are
        // left out.
        let mut taken: Vec<usize> = Vec::new();
        let mut waiting = out.clone();
        while taken.len() < config.most_leaving && !waiting.is_empty() {
            let mut round = BTreeSet::new();
            let before = taken.len();
            waiting.retain(|&w| {
                let gap = config.target_gap_seconds * clips[drafts[w].clip.at()].fps();
                let like = |&t: &usize| {
                    drafts[t].clip == drafts[w].clip && (drafts[t].first.abs_diff(drafts[w].first) as f32) < gap
                };
                if taken.iter().any(like) {
                    return false;
                }
                let take = taken.len() < config.most_leaving && round.insert(drafts[w].clip);
                if take {
                    taken.push(w);
                }
                !take
            });
            if taken.len() == before {
                break;
            }
        }
        taken.iter().for_each(|&w| keep[w] = true);
    }
    // Each unbroken span that some edge plays keeps the nearest that does.
    for (clip, span) in clips.iter().enumerate().flat_map(|(c, clip)| clip.spans.iter().map(move |s| (c, s))) {
        if !config.unbroken.contains(&span.kind) {
            continue;
        }
        let plays = |&&w: &&usize| {
            drafts[w].clip.at() == clip
                && span_in(&clips[clip], span.from, span.to, drafts[w].first, nodes[drafts[w].to].frame.0)
                    .is_some_and(|x| x)
        };
        let playing: Vec<usize> = inside.iter().filter(plays).copied().collect();
        if !playing.iter().any(|&w| keep[w])
            && let Some(&w) = playing.iter().min_by(|&&a, &&b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)))
        {
            keep[w] = true;
        }
    }
    let ends: Vec<connect::End> = (0..drafts.len())
        .map(|w| connect::End { from: drafts[w].from, to: drafts[w].to, length: f64::from(distance(w)) })
        .collect();
    connect::reconnect(nodes.len(), &ends, inside, &mut keep);
    inside.iter().copied().filter(|&w| keep[w]).collect()
}

/// Nodes that only the clip's own continuation leaves are not branches: edges run through them.
fn join_chains(nodes: &[Node], drafts: &[EdgeDraft], kept: &[usize]) -> (Vec<usize>, Vec<EdgeDraft>) {
    let mut next = vec![None; nodes.len()];
    let mut branches = vec![false; nodes.len()];
    for &w in kept {
        match drafts[w].transition {
            None => next[drafts[w].from] = Some(drafts[w].to),
            Some(_) => branches[drafts[w].from] = true,
        }
    }
    // Clips run forward, so what comes next has a higher number: going backwards, each end is known when it is needed.
    let mut end: Vec<usize> = (0..nodes.len()).collect();
    for node in (0..nodes.len()).rev() {
        if let (false, Some(next)) = (branches[node], next[node]) {
            end[node] = end[next];
        }
    }
    let drafts: Vec<EdgeDraft> = kept
        .iter()
        .map(|&w| EdgeDraft { to: end[drafts[w].to], ..drafts[w] })
        .filter(|w| end[w.from] == w.from)
        .collect();
    let used: BTreeSet<usize> = drafts.iter().map(|w| w.from).collect();
    (used.into_iter().collect(), drafts)
}

fn finish(
    clips: &[Clip],
    transitions: &Transitions,
    nodes: &[Node],
    kept: &[usize],
    drafts: &[EdgeDraft],
) -> Result<Graph, BuildError> {
    let index = |node: usize| NodeIdx(kept.partition_point(|k| *k < node) as u32);
    let edges = drafts.iter().map(|draft| {
        let clip = &clips[draft.clip.at()];
        let (first, last) = (FrameIdx(draft.first), nodes[draft.to].frame);
        let seconds = (last.0 - first.0) as f32 / clip.fps();
        let join = draft.transition.map(|t| {
            let Transition { align, distance, .. } = transitions.list[t];
            Join { blend: transitions.window_seconds, align, distance }
        });
        let displacement = stand(clip, first).inverse().after(&stand(clip, last));
        let range = (draft.clip, first, last);
        let edge = Edge::new(index(draft.from), index(draft.to), range, join, seconds, displacement);
        let within = clip.spans.iter().enumerate().filter_map(|(span, s)| {
            let whole = span_in(clip, s.from, s.to, first.0, last.0)?;
            Some(SpanRef { span: span as u32, whole })
        });
        (edge, within.collect())
    });
    Graph::new(kept.iter().map(|k| nodes[*k]).collect(), edges.collect()).map_err(BuildError::Graph)
}

/// Whether frames `first..=last` play all of an interval in seconds; `None` if they play nothing of it.
pub(crate) fn span_in(clip: &Clip, from: f32, to: f32, first: u32, last: u32) -> Option<bool> {
    let (from, to) = (from * clip.fps(), (to * clip.fps()).min((clip.frames() - 1) as f32));
    let (first, last) = (first as f32, last as f32);
    let overlaps = from < last - 1e-3 && to > first + 1e-3;
    overlaps.then_some(from >= first - 1e-3 && to <= last + 1e-3)
}
