//! What became of the library in the graph.

use std::collections::BTreeMap;

use kumite_motion::graph::Edge;
use kumite_motion::library::Library;
use kumite_motion::{Clip, ClipIdx, Graph, Span, SpanKind};

use super::{EdgeDraft, GraphConfig, Node, connect, span_in};

/// Why a span is not in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Why {
    /// No transition enters its clip before it, or none leaves after it.
    Unconnected,
    /// It can be left for the graph, but not entered from it.
    NoWayIn,
    /// It can be entered from the graph, but nothing leads back.
    NoWayOut,
    /// It hangs together with other motions only.
    Apart,
}

impl Why {
    /// In the user's words.
    pub fn text(self) -> &'static str {
        match self {
            Why::Unconnected => "no transition enters before it or leaves after it",
            Why::NoWayIn => "nothing leads to it",
            Why::NoWayOut => "nothing leads back from it",
            Why::Apart => "it hangs together with other motions only",
        }
    }
}

/// A span that is not in the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Lost {
    /// Of which clip.
    pub clip: ClipIdx,
    /// Position in its spans.
    pub span: u32,
    /// What can still be played of it, 0 to 1.
    pub share: f32,
    /// The cause.
    pub why: Why,
}

/// What became of all spans of one label.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelLoss {
    /// What they are.
    pub kind: SpanKind,
    /// More exactly; may be empty.
    pub label: String,
    /// How many there are in the clips.
    pub total: usize,
    /// How many the graph plays.
    pub kept: usize,
    /// The others.
    pub lost: Vec<Lost>,
}

/// What became of the library in the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Strongly connected components before all but one were left out; single nodes count.
    pub components: usize,
    /// Nodes before and after.
    pub nodes: (usize, usize),
    /// Edges before and after.
    pub edges: (usize, usize),
    /// Edges entered by transitions farther than ordinary ones, for the sake of what would be lost without.
    pub long_transitions: usize,
    /// Length of all clips, and of what of them the graph plays. Seconds.
    pub seconds: (f32, f32),
    /// Per kind and label, in that order.
    pub labels: Vec<LabelLoss>,
    /// Clips of which nothing is played.
    pub lost_clips: Vec<ClipIdx>,
}

/// Overlapping frame ranges put together.
pub(super) fn union(mut ranges: Vec<(ClipIdx, u32, u32)>) -> Vec<(ClipIdx, u32, u32)> {
    ranges.sort_unstable();
    let mut out: Vec<(ClipIdx, u32, u32)> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if last.0 == range.0 && range.1 <= last.2 => last.2 = last.2.max(range.2),
            _ => out.push(range),
        }
    }
    out
}

/// Actions: only whole are they of use.
pub const UNBROKEN: [SpanKind; 3] = [SpanKind::Attack, SpanKind::Avoid, SpanKind::Block];

/// Whether edges play a span: all of it in one edge if it must not be broken, otherwise at least half.
pub fn keeps(clip: &Clip, at: ClipIdx, span: &Span, edges: &[Edge], unbroken: &[SpanKind]) -> bool {
    let of_clip = edges.iter().filter(|e| e.clip == at);
    if unbroken.contains(&span.kind) {
        return of_clip.into_iter().any(|e| span_in(clip, span.from, span.to, e.first.0, e.last.0) == Some(true));
    }
    share(clip, span, &union(of_clip.map(|e| (at, e.first.0, e.last.0)).collect())) >= 0.5
}

/// How many spans of a kind a library's graph keeps, by [`keeps`], and how many there are.
pub fn kept(library: &Library, kind: SpanKind) -> (usize, usize) {
    let clips = (0..library.clips().len() as u32).map(ClipIdx).map(|c| (c, library.clip(c)));
    let spans = clips.flat_map(|(at, clip)| clip.spans.iter().filter(|s| s.kind == kind).map(move |s| (at, clip, s)));
    let edges = library.graph().edges();
    spans.fold((0, 0), |(kept, all), (at, clip, s)| (kept + usize::from(keeps(clip, at, s, edges, &UNBROKEN)), all + 1))
}

/// The share of a span that some ranges of its clip play.
fn share(clip: &Clip, span: &Span, played: &[(ClipIdx, u32, u32)]) -> f32 {
    let (from, to) = (span.from * clip.fps(), (span.to * clip.fps()).min((clip.frames() - 1) as f32));
    let part = |r: &(ClipIdx, u32, u32)| (to.min(r.2 as f32) - from.max(r.1 as f32)).max(0.0);
    (played.iter().map(part).sum::<f32>() / (to - from).max(1e-3)).min(1.0)
}

pub(super) fn account(
    clips: &[Clip],
    graph: &Graph,
    nodes: &[Node],
    drafts: &[EdgeDraft],
    components: &[usize],
    core: usize,
    config: &GraphConfig,
) -> Report {
    let played = union(graph.edges().iter().map(|e| (e.clip, e.first.0, e.last.0)).collect());
    let members: Vec<usize> = (0..nodes.len()).filter(|n| components[*n] == core).collect();
    let onwards = connect::reached(nodes.len(), drafts.iter().map(|w| (w.from, w.to)), &members);
    let back = connect::reached(nodes.len(), drafts.iter().map(|w| (w.to, w.from)), &members);
    let mut labels: BTreeMap<(SpanKind, &str), LabelLoss> = BTreeMap::new();
    for (index, clip) in clips.iter().enumerate() {
        let clip_idx = ClipIdx(index as u32);
        for (number, span) in clip.spans.iter().enumerate() {
            let loss = labels.entry((span.kind, &span.label)).or_insert_with(|| LabelLoss {
                kind: span.kind,
                label: span.label.clone(),
                total: 0,
                kept: 0,
                lost: Vec::new(),
            });
            loss.total += 1;
            if keeps(clip, clip_idx, span, graph.edges(), &config.unbroken) {
                loss.kept += 1;
                continue;
            }
            let touches = |w: &&EdgeDraft| {
                let within = span_in(clip, span.from, span.to, w.first, nodes[w.to].frame.0);
                w.clip == clip_idx
                    && if config.unbroken.contains(&span.kind) { within == Some(true) } else { within.is_some() }
            };
            let playing: Vec<&EdgeDraft> = drafts.iter().filter(touches).collect();
            let why = if playing.is_empty() {
                Why::Unconnected
            } else if playing.iter().any(|w| onwards[w.from]) {
                Why::NoWayOut
            } else if playing.iter().any(|w| back[w.to]) {
                Why::NoWayIn
            } else {
                Why::Apart
            };
            let of_clip: Vec<_> = played.iter().filter(|r| r.0 == clip_idx).copied().collect();
            loss.lost.push(Lost { clip: clip_idx, span: number as u32, share: share(clip, span, &of_clip), why });
        }
    }
    let seconds = |r: &(ClipIdx, u32, u32)| (r.2 - r.1) as f32 / clips[r.0.at()].fps();
    let lost_clips = (0..clips.len() as u32).map(ClipIdx).filter(|c| played.iter().all(|r| r.0 != *c)).collect();
    Report {
        components: components.iter().max().map_or(0, |c| c + 1),
        nodes: (nodes.len(), graph.nodes().len()),
        edges: (drafts.len(), graph.edges().len()),
        long_transitions: 0,
        seconds: (clips.iter().map(Clip::seconds).sum(), played.iter().map(seconds).sum()),
        labels: labels.into_values().collect(),
        lost_clips,
    }
}
