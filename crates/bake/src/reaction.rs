//! How soon an action can begin, from any moment.

use kumite_motion::interrupt::{Commitment, Onset, blend};
use kumite_motion::library::Library;
use kumite_motion::{Chance, ClipIdx, EdgeIdx, FrameIdx, Layer, SpanKind};

use crate::graph::carried_back;
use crate::interrupts::{self, ACTIONS};

/// Shortest and longest wandering before a moment, seconds: long enough to forget where it began.
const WANDERS: (f32, f32) = (4.0, 12.0);
/// Nobody waits longer, seconds.
const LONGEST: f32 = 10.0;

/// A moment of wandering, and how long it takes from there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wait {
    /// What is played.
    pub clip: ClipIdx,
    /// When in it, seconds.
    pub at: f32,
    /// Until the onset; infinite where there is no way.
    pub seconds: f32,
}

/// Waits for one kind of action.
#[derive(Clone, Debug, PartialEq)]
pub struct KindReaction {
    /// Which.
    pub kind: SpanKind,
    /// One for each moment, the shortest first.
    pub waits: Vec<Wait>,
    /// From the same moments if motion could be left at nodes only, seconds, the shortest first.
    pub from_nodes: Vec<f32>,
}

/// How soon actions begin from random moments of wandering.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// Moments that were looked at: upright, outside committed parts.
    pub moments: usize,
    /// Share of the moments that were not looked at, by why.
    pub left_out: [(Commitment, f32); Commitment::ALL.len()],
    /// For each kind that the library has an onset of.
    pub kinds: Vec<KindReaction>,
}

impl KindReaction {
    /// The wait that a share of the moments does not exceed, seconds.
    pub fn quantile(&self, share: f32) -> f32 {
        let rank = (self.waits.len().max(1) - 1) as f32 * share;
        self.waits.get(rank.round() as usize).map_or(f32::INFINITY, |w| w.seconds)
    }

    /// The same from nodes.
    pub fn quantile_from_nodes(&self, share: f32) -> f32 {
        let rank = (self.from_nodes.len().max(1) - 1) as f32 * share;
        self.from_nodes.get(rank.round() as usize).copied().unwrap_or(f32::INFINITY)
    }

    /// The longest waits, of different clips.
    pub fn worst(&self, count: usize) -> Vec<Wait> {
        let mut worst: Vec<Wait> = Vec::new();
        for wait in self.waits.iter().rev() {
            if worst.len() < count && worst.iter().all(|w| w.clip != wait.clip) {
                worst.push(*wait);
            }
        }
        worst
    }
}

impl Reaction {
    /// Share of the moments that were not looked at.
    pub fn left_out_share(&self) -> f32 {
        self.left_out.iter().map(|l| l.1).sum()
    }
}

/// Looks at random moments of wandering. What is played goes on until the onset can be joined: from where motion can be left at once, or from a node.
pub fn measure(library: &Library, moments: usize, seed: u64) -> Reaction {
    let (graph, known) = (library.graph(), library.interrupts());
    let edges: Vec<EdgeIdx> = graph.edges_of(Layer::Fight).collect();
    let kinds: Vec<SpanKind> = ACTIONS.into_iter().filter(|k| known.onsets().iter().any(|o| o.kind == *k)).collect();
    let ways: Vec<Ways> = kinds.iter().map(|kind| Ways::to(library, *kind)).collect();
    let mut left_out = Commitment::ALL.map(|why| (why, 0.0));
    let mut all: Vec<KindReaction> =
        kinds.iter().map(|kind| KindReaction { kind: *kind, waits: Vec::new(), from_nodes: Vec::new() }).collect();
    let (mut chance, mut tried) = (Chance::new(seed), 0usize);
    let mut looked_at = 0;
    while looked_at < moments && tried < 20 * moments && !edges.is_empty() {
        tried += 1;
        let mut walk = Walk { library, edge: edges[chance.below(edges.len() as u32) as usize], since: 0.0 };
        walk.go(WANDERS.0 + (WANDERS.1 - WANDERS.0) * chance.unit(), &mut chance);
        let (clip, frame) = walk.frame();
        if let Some(part) = known.committed_at(clip, frame) {
            left_out.iter_mut().filter(|l| l.0 == part.why).for_each(|l| l.1 += 1.0);
            continue;
        }
        looked_at += 1;
        let natural: Vec<f32> = ways.iter().map(|w| w.seconds(library, &walk)).collect();
        let mut soonest = natural.clone();
        // What is looked for must not change which moments come next.
        let (mut ahead, mut onward) = (walk.clone(), chance.clone());
        let step = 1.0 / library.clip(clip).fps();
        let mut gone = 0.0;
        while gone < LONGEST && soonest.iter().any(|s| *s > gone) {
            let (clip, frame) = ahead.frame();
            for (number, cost) in known.at(clip, frame) {
                let onset = &known.onsets()[number];
                if let Some(kind) = kinds.iter().position(|k| *k == onset.kind) {
                    soonest[kind] = soonest[kind].min(gone);
                }
                for (seconds, kind) in on_the_way(library, onset, cost) {
                    if let Some(kind) = kinds.iter().position(|k| *k == kind) {
                        soonest[kind] = soonest[kind].min(gone + seconds);
                    }
                }
            }
            ahead.go(step, &mut onward);
            gone += step;
        }
        for ((kind, seconds), natural) in all.iter_mut().zip(soonest).zip(natural) {
            kind.waits.push(Wait { clip, at: frame.at() as f32 * step, seconds });
            kind.from_nodes.push(natural);
        }
    }
    for kind in &mut all {
        kind.waits
            .sort_by(|a, b| a.seconds.total_cmp(&b.seconds).then(a.clip.cmp(&b.clip)).then(a.at.total_cmp(&b.at)));
        kind.from_nodes.sort_by(f32::total_cmp);
    }
    left_out.iter_mut().for_each(|l| l.1 /= tried.max(1) as f32);
    Reaction { moments: looked_at, left_out, kinds: all }
}

/// What can be joined from the beginning of a step, a turn or an attack, as planners do where nothing can be joined at once: after how many seconds, and of
/// which kind. It is left when its own join is over, or a little later.
fn on_the_way(library: &Library, onset: &Onset, cost: f32) -> Vec<(f32, SpanKind)> {
    let (graph, known) = (library.graph(), library.interrupts());
    let edge = graph.edge(onset.edge);
    let mut found = Vec::new();
    if !matches!(onset.kind, SpanKind::Step | SpanKind::Turn | SpanKind::Attack) {
        return found;
    }
    for hop in [0.0, 0.15] {
        let seconds = blend(cost).max(0.2) + hop;
        if onset.enter + seconds < edge.seconds {
            let fps = library.clip(edge.clip).fps();
            let frame = FrameIdx(edge.first.0 + ((onset.enter + seconds) * fps).round() as u32);
            let defends = |kind: SpanKind| matches!(kind, SpanKind::Avoid | SpanKind::Block);
            let kinds = known.at(edge.clip, frame).map(|(number, _)| known.onsets()[number].kind);
            found.extend(kinds.filter(|kind| defends(*kind)).map(|kind| (seconds, kind)));
        }
    }
    found
}

/// A playhead without a body.
#[derive(Clone)]
struct Walk<'a> {
    library: &'a Library,
    edge: EdgeIdx,
    since: f32,
}

impl Walk<'_> {
    fn go(&mut self, seconds: f32, chance: &mut Chance) {
        let graph = self.library.graph();
        self.since += seconds;
        while self.since >= graph.edge(self.edge).seconds {
            self.since -= graph.edge(self.edge).seconds;
            let next = graph.after(self.edge);
            let at = chance.below(next.len().max(1) as u32) as usize;
            let Some(edge) = next.clone().nth(at) else { return };
            self.edge = edge;
        }
    }

    fn frame(&self) -> (ClipIdx, FrameIdx) {
        let edge = self.library.graph().edge(self.edge);
        let clip = self.library.clip(edge.clip);
        let frame = edge.first.at() + (self.since * clip.fps() + 1e-3) as usize;
        (edge.clip, FrameIdx(frame.min(clip.frames() - 1) as u32))
    }
}

/// Ways through the graph to the onsets of a kind.
struct Ways {
    /// By clip, the frames of onsets and the last frames of what has to be played whole.
    onsets: Vec<Vec<(usize, usize)>>,
    /// By node, seconds.
    from: Vec<f32>,
}

impl Ways {
    fn to(library: &Library, kind: SpanKind) -> Ways {
        let graph = library.graph();
        let mut onsets = vec![Vec::new(); library.clips().len()];
        for onset in library.interrupts().onsets().iter().filter(|o: &&Onset| o.kind == kind) {
            let (clip, frame) = interrupts::place(library, onset);
            onsets[clip.at()].push((frame, graph.edge(onset.edge).last.at()));
        }
        let mut ways = Ways { onsets, from: vec![f32::INFINITY; graph.nodes().len()] };
        for index in graph.edges_of(Layer::Fight) {
            let edge = graph.edge(index);
            let lead = ways.within(library, index, edge.first.at());
            ways.from[edge.from.at()] = ways.from[edge.from.at()].min(lead);
        }
        ways.from = carried_back(graph, ways.from);
        ways
    }

    /// Seconds from a frame of an edge to the next onset in it that is played to its end.
    fn within(&self, library: &Library, edge: EdgeIdx, frame: usize) -> f32 {
        let edge = library.graph().edge(edge);
        let ahead = self.onsets[edge.clip.at()].iter().filter(|(at, last)| *at >= frame && *last <= edge.last.at());
        let next = ahead.map(|(at, _)| at - frame).min();
        next.map_or(f32::INFINITY, |frames| frames as f32 / library.clip(edge.clip).fps())
    }

    fn seconds(&self, library: &Library, walk: &Walk<'_>) -> f32 {
        let edge = library.graph().edge(walk.edge);
        let onwards = edge.seconds - walk.since + self.from[edge.to.at()];
        onwards.min(self.within(library, walk.edge, walk.frame().1.at()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kumite_motion::align::Planar;
    use kumite_motion::graph::{Edge, Graph, Join, Node, NodeIdx, SpanRef};
    use kumite_motion::interrupt::{CommittedPart, Interrupt, Interrupts};
    use kumite_motion::{Clip, Pose, Span, humanoid};

    use super::*;

    /// Two seconds over and over, with an avoidance that begins at half a second; it can be joined from frames 60 to 91, and frames 100 to 111 are committed.
    fn library(interrupts: bool) -> Library {
        let skeleton = Arc::new(humanoid::skeleton());
        let rest = Pose::rest(&skeleton);
        let mut clip = Clip::new("loop", skeleton, 60.0, &vec![rest; 121]).unwrap();
        clip.spans.push(Span::new(SpanKind::Avoid, "", 0.5, 1.0));
        let join = Join { blend: 0.1, align: Planar::IDENTITY, distance: 0.0 };
        let range = (ClipIdx(0), FrameIdx(0), FrameIdx(120));
        let edge = Edge::new(NodeIdx(0), NodeIdx(0), range, Some(join), 2.0, Planar::IDENTITY);
        let spans = vec![SpanRef { span: 0, whole: true }];
        let node = Node { clip: ClipIdx(0), frame: FrameIdx(120) };
        let graph = Graph::new(vec![node], vec![(edge, spans)]).unwrap();
        let onset = Onset { edge: EdgeIdx(0), enter: 0.5, span: 0, kind: SpanKind::Avoid };
        let range = Interrupt { clip: ClipIdx(0), first: FrameIdx(60), last: FrameIdx(91), onset: 0, cost: 0.1 };
        let (first, last) = (FrameIdx(100), FrameIdx(111));
        let part = CommittedPart { clip: ClipIdx(0), first, last, why: Commitment::Strike };
        let ranges = if interrupts { vec![range] } else { Vec::new() };
        let all = Interrupts::new(vec![onset], ranges, vec![part]).unwrap();
        Library::new("loop", vec![clip], graph).unwrap().with_interrupts(all).unwrap()
    }

    #[test]
    fn waits_are_what_they_are() {
        let reaction = measure(&library(true), 2000, 3);
        assert_eq!((reaction.moments, reaction.kinds.len()), (2000, 1));
        assert!((reaction.left_out_share() - 0.1).abs() < 0.02, "{}", reaction.left_out_share());
        for wait in &reaction.kinds[0].waits {
            let frame = (wait.at * 60.0).round();
            let expected = match frame as u32 {
                0..=30 => 30.0 - frame,
                31..=59 => 60.0 - frame,
                60..=91 => 0.0,
                _ => 150.0 - frame,
            };
            assert!((wait.seconds * 60.0 - expected).abs() <= 1.1, "{wait:?}, expected {expected} frames");
        }
        let kind = &reaction.kinds[0];
        assert!(kind.quantile(1.0) < 1.0 && kind.quantile_from_nodes(1.0) > 1.9);
        assert_eq!(kind.worst(3).len(), 1, "one place for each clip");
        let without = measure(&library(false), 2000, 3);
        assert_eq!(without.kinds[0].from_nodes, kind.from_nodes);
        let waits: Vec<f32> = without.kinds[0].waits.iter().map(|w| w.seconds).collect();
        assert_eq!(waits, kind.from_nodes);
    }
}
