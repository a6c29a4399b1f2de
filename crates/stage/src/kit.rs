//! Everything a library needs at run time: read-only, shareable between threads.

use std::collections::BTreeMap;
use std::sync::Arc;

use kumite_motion::library::Library;
use kumite_motion::{Clip, EdgeIdx, Graph, NodeIdx, SpanKind};
use kumite_plan::Layer;

use crate::walk::Walker;
use crate::{Character, Defence, Playing, Repertoire};

/// A library with the tables of its planners.
#[derive(Clone, Debug)]
pub struct Kit {
    defence: Defence,
    walker: Option<Walker>,
    /// Per node of the fighting graph: the node of the walking graph with the same pose, and the other way round.
    to_walk: BTreeMap<NodeIdx, NodeIdx>,
    to_fight: BTreeMap<NodeIdx, NodeIdx>,
    /// Clip of the fighting library for each of the walking library's, where it has it.
    fight_clip: Vec<Option<u32>>,
    reactions: Vec<Reaction>,
    idles: [Vec<EdgeIdx>; 2],
}

/// A motion that answers a hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// Which edge of the fighting graph.
    pub edge: EdgeIdx,
    /// Seconds after its first frame at which the reaction begins.
    pub enter: f32,
    /// What was hit, in its label's words.
    pub label: String,
}

/// Whether a clip holds a span of a kind.
fn holds(clip: &Clip, kind: SpanKind) -> bool {
    clip.spans.iter().any(|span| span.kind == kind)
}

/// Edges whose clip only idles.
fn idles(library: &Library) -> Vec<EdgeIdx> {
    let still = |clip: &Clip| holds(clip, SpanKind::Idle) && !holds(clip, SpanKind::Walk);
    (0..library.graph().edges().len() as u32)
        .map(EdgeIdx)
        .filter(|e| still(library.clip(library.graph().edge(*e).clip)))
        .collect()
}

impl Kit {
    /// A fighting library's tables, and what to walk with.
    pub fn new(defence: Defence, walker: Option<Walker>) -> Kit {
        let fight = Arc::clone(defence.library());
        let (mut to_walk, mut to_fight, mut fight_clip) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
        if let Some(walk) = walker.as_ref().map(Walker::library) {
            let same = |clip: &Clip| {
                fight.clips().iter().position(|c| c.name == clip.name && c.frames() == clip.frames()).map(|i| i as u32)
            };
            fight_clip = walk.clips().iter().map(same).collect();
            for (index, node) in walk.graph().nodes().iter().enumerate() {
                let Some(clip) = fight_clip[node.clip.at()] else { continue };
                let twin = fight.graph().nodes().iter().position(|n| n.clip.0 == clip && n.frame == node.frame);
                if let Some(twin) = twin {
                    to_fight.insert(NodeIdx(index as u32), NodeIdx(twin as u32));
                    to_walk.insert(NodeIdx(twin as u32), NodeIdx(index as u32));
                }
            }
        }
        let reactions = reactions(&fight);
        let walk_idles = walker.as_ref().map(|w| idles(w.library())).unwrap_or_default();
        Kit { idles: [idles(&fight), walk_idles], defence, walker, to_walk, to_fight, fight_clip, reactions }
    }

    /// The library fighters play.
    pub fn library(&self) -> &Arc<Library> {
        self.defence.library()
    }

    /// What characters defend themselves with.
    pub fn defence(&self) -> &Defence {
        &self.defence
    }

    /// What they walk with, if with anything.
    pub fn walker(&self) -> Option<&Walker> {
        self.walker.as_ref()
    }

    /// Both libraries.
    pub fn repertoire(&self) -> Repertoire {
        Repertoire { fight: Arc::clone(self.library()), walk: self.walker.as_ref().map(|w| Arc::clone(w.library())) }
    }

    /// The graph of a layer.
    pub fn graph(&self, layer: Layer) -> &Graph {
        match (layer, &self.walker) {
            (Layer::Walk, Some(walker)) => walker.library().graph(),
            _ => self.library().graph(),
        }
    }

    /// The node of the other layer with the same pose.
    pub fn twin(&self, layer: Layer, node: NodeIdx) -> Option<NodeIdx> {
        match layer {
            Layer::Fight => self.to_walk.get(&node).copied(),
            Layer::Walk => self.to_fight.get(&node).copied(),
        }
    }

    /// Edges of a layer that stay where they are.
    pub fn idles(&self, layer: Layer) -> &[EdgeIdx] {
        &self.idles[usize::from(layer == Layer::Walk)]
    }

    /// Motions that answer hits.
    pub fn reactions(&self) -> &[Reaction] {
        &self.reactions
    }

    /// Where in the fighting graph a character is that walks: an edge that shows the same frame of the same clip.
    pub fn as_fighter(&self, playing: Playing) -> Option<Playing> {
        if playing.layer == Layer::Fight {
            return Some(playing);
        }
        let walk = self.walker.as_ref()?.library();
        let edge = walk.graph().edge(playing.edge);
        let clip = self.fight_clip[edge.clip.at()]?;
        let fps = walk.clip(edge.clip).fps();
        let time = edge.first.at() as f32 / fps + playing.since;
        let edges = self.library().graph().edges();
        // Of those that show it, the one whose way ends last leaves most of what is ahead as it is.
        let shows = |i: &u32| {
            let e = &edges[*i as usize];
            e.clip.0 == clip && e.first.at() as f32 / fps <= time && time < e.last.at() as f32 / fps
        };
        let found = (0..edges.len() as u32).filter(shows).max_by_key(|i| edges[*i as usize].first)?;
        let since = time - edges[found as usize].first.at() as f32 / fps;
        Some(Playing { layer: Layer::Fight, edge: EdgeIdx(found), since })
    }

    /// The shortest way, in seconds, from a fighting node to one from which walks can begin: its edges, and the walking node there.
    pub fn way_to_walk(&self, from: NodeIdx) -> Option<(Vec<EdgeIdx>, NodeIdx)> {
        let graph = self.library().graph();
        let count = graph.nodes().len();
        let (mut best, mut by) = (vec![f32::INFINITY; count], vec![None; count]);
        let mut open = vec![from];
        best[from.at()] = 0.0;
        while let Some(at) = (0..open.len()).min_by(|a, b| best[open[*a].at()].total_cmp(&best[open[*b].at()])) {
            let node = open.swap_remove(at);
            if let Some(twin) = self.to_walk.get(&node) {
                let (mut edges, mut here) = (Vec::new(), node);
                while let Some(edge) = by[here.at()] {
                    edges.push(edge);
                    here = graph.edge(edge).from;
                }
                edges.reverse();
                return Some((edges, *twin));
            }
            for edge in graph.leaving(node) {
                let (to, time) = (graph.edge(edge).to, best[node.at()] + graph.edge(edge).seconds);
                if time < best[to.at()] {
                    (best[to.at()], by[to.at()]) = (time, Some(edge));
                    if !open.contains(&to) {
                        open.push(to);
                    }
                }
            }
        }
        None
    }

    /// Someone who stands at a place and looks along `facing`.
    pub fn spawn(&self, layer: Layer, edge: EdgeIdx, at: kumite_motion::Vec2, facing: f32) -> Character {
        let first = Character::with(self.repertoire(), layer, edge, at, facing);
        let off = kumite_motion::rotation::wrap(facing - crate::sense::gaze(&first));
        Character::with(self.repertoire(), layer, edge, at, facing + off)
    }
}

fn reactions(library: &Library) -> Vec<Reaction> {
    let graph = library.graph();
    let mut all = Vec::new();
    for index in 0..graph.edges().len() as u32 {
        let edge = graph.edge(EdgeIdx(index));
        let clip = library.clip(edge.clip);
        for span in graph.spans(EdgeIdx(index)).iter().map(|s| &clip.spans[s.span as usize]) {
            let enter = span.from - edge.first.at() as f32 / clip.fps();
            if span.kind == SpanKind::React && enter >= -1e-3 && enter < edge.seconds {
                let label = if span.label.is_empty() { clip.name.clone() } else { span.label.clone() };
                all.push(Reaction { edge: EdgeIdx(index), enter: enter.max(0.0), label });
            }
        }
    }
    all
}
