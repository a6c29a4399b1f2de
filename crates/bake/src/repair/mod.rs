//! Connectivity repair: short synthetic motions (*bridges*) that lead to what the graph lost or reaches too late, and back.
//!
//! A bridge leaves a pose at its speed and ends in the pose where another motion begins. It is contact-aware: a foot that stands at both
//! ends stays where it is and says where the other motion is laid (*interpolated*); the other foot, if its two places differ, is
//! lifted and set down (*stepped*); lying bodies are moved as a whole; where the poses are close no bridge is needed and the motions are
//! joined directly. Every bridge is laid between the motions it joins and judged as they are ([`judge`](crate::judge)): what no person does is not used.
//!
//! Actions that are to be found from everywhere are best begun in a pose that many others pass through. These *hub poses* are the
//! nodes that most bridges lead from or to; [`Repaired::hubs`] names them.

mod bridge;
mod fit;
mod lost;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::graph::{Edge, Graph, Join, Node, NodeIdx, SpanRef, stand};
use kumite_motion::library::{Library, LibraryError};
use kumite_motion::{Clip, ClipIdx, EdgeIdx, FrameIdx, Layer, Role, SpanKind};

use crate::graph::UNBROKEN;
use crate::rehearse::rehearse;
use fit::{Fit, Stance, TURNS, fit_of, stances};

/// How a graph is repaired.
#[derive(Clone, Debug, PartialEq)]
pub struct RepairConfig {
    /// Spans of these kinds are to be in the graph each in one edge; of the other kinds half of each is enough.
    pub unbroken: Vec<SpanKind>,
    /// Avoidances are to begin within this time of every node, seconds. Infinite asks for nothing.
    pub avoid_within: f32,
    /// Whether after each labelled standing motion each other may follow, through one step at most.
    pub each_follows_each: bool,
    /// Poses farther apart are not bridged: metres, root mean square over the joints once a foot stands on its place.
    pub most_apart: f32,
    /// Poses nearer than this are joined without a bridge, metres.
    pub direct: f32,
    /// Bridges last at most this long, seconds.
    pub longest: f32,
    /// Between two lying poses, which need longer bridges. Seconds.
    pub longest_lying: f32,
}

impl Default for RepairConfig {
    /// No labelled motion is lost. The limits are guesses that the judge and the eye agreed with on the embedded motions and ACCAD.
    fn default() -> RepairConfig {
        RepairConfig {
            unbroken: UNBROKEN.to_vec(),
            avoid_within: f32::INFINITY,
            each_follows_each: false,
            most_apart: 0.6,
            direct: 0.07,
            longest: 0.8,
            longest_lying: 2.0,
        }
    }
}

impl RepairConfig {
    /// For libraries of which everything is to be at hand: any standing motion after any other, and steps and turns whole. How soon avoidances begin is
    /// the business of interrupts.
    pub fn agile() -> RepairConfig {
        let whole = [SpanKind::Step, SpanKind::Turn].into_iter().filter(|kind| !UNBROKEN.contains(kind));
        let unbroken = UNBROKEN.iter().copied().chain(whole).collect();
        RepairConfig { each_follows_each: true, unbroken, ..RepairConfig::default() }
    }
}

/// What was done.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repaired {
    /// Synthetic motions that were added, and their seconds.
    pub bridges: usize,
    /// Of all bridges together.
    pub bridge_seconds: f32,
    /// Joins that needed no bridge.
    pub joins: usize,
    /// Bridges that no person could do, and that were not used.
    pub implausible: usize,
    /// Poses that two or more bridges lead from or to, the busiest first, with how many do.
    pub hubs: Vec<(Node, usize)>,
    /// What could not be repaired, in words.
    pub left: Vec<String>,
}

/// How reports about spans that could not be brought back end.
pub(crate) const NO_WAY: &str = "has no plausible way in or out";
/// Clips made here begin with this word.
const MARK: &str = "bridge ";

/// Whether a clip is a synthetic bridge.
pub fn is_bridge(clip: &Clip) -> bool {
    clip.name.starts_with(MARK)
}

/// Share of the seconds played on a random walk that are synthetic: `edges` edges from node 0, each way out as likely as the others.
pub fn synthetic_share(library: &Library, edges: usize) -> f32 {
    let graph = library.graph();
    // Knuth's linear congruential generator: the same walk everywhere.
    let mut random = 1u64;
    let (mut node, mut synthetic, mut all) = (NodeIdx(0), 0.0f64, 0.0f64);
    for _ in 0..edges {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let ways = graph.leaving(node, Layer::Fight);
        let pick = (random >> 33) as usize % ways.len().max(1);
        let Some(edge) = ways.clone().nth(pick) else { break };
        let edge = graph.edge(edge);
        all += f64::from(edge.seconds);
        if is_bridge(library.clip(edge.clip)) {
            synthetic += f64::from(edge.seconds);
        }
        node = edge.to;
    }
    (synthetic / all.max(1e-9)) as f32
}

/// What can be begun: frames of a clip up to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Target {
    clip: ClipIdx,
    first: u32,
    last: u32,
    /// Position in the draft's nodes.
    to: usize,
}

/// A graph in the making.
struct Draft {
    clips: Vec<Clip>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    /// Where captured clips end.
    captured: usize,
    feet: Vec<Vec<Stance>>,
    done: Repaired,
    /// How many edges there were before.
    given: usize,
    refused: BTreeSet<(Node, ClipIdx, u32)>,
    config: RepairConfig,
    fade: f32,
}

/// Feet that have less far to go stay where they are, metres.
const STAYS: f32 = 0.03;
/// Shortest bridge, seconds; seconds added per metre of a step; highest speed of the body, metres per second.
const SHORTEST: f32 = 0.2;
const PER_STEP: f32 = 0.35;
const FASTEST: f32 = 1.1;
/// Bridges between lying poses: shortest, seconds, and seconds per metre between the poses.
const LYING: (f32, f32) = (0.3, 2.0);
/// A bridge too quick to be plausible is tried again this many times as long.
const SLOWER: [f32; 4] = [1.0, 1.25, 1.5, 1.9];
/// Where an avoidance cannot begin in time it may begin later by up to this factor: a frame less than twice the time.
const LATEST: f32 = 1.94;
/// Candidates tried for each repair, nearest first.
const TRIES: usize = 8;
/// Of these, at most this many between the same two clips.
const ALIKE: usize = 4;

/// Joins that look bad when played are not used again; after this many rounds the rest is accepted.
const ROUNDS: usize = 4;

/// Repairs a library's graph: bridges and joins are made, played on a stage, and made otherwise where that looks bad. Same library, same
/// result, on any number of threads.
pub fn repair(library: &Library, fade: f32, config: &RepairConfig) -> Result<(Library, Repaired), LibraryError> {
    let mut refused = BTreeSet::new();
    let mut round = 0;
    loop {
        round += 1;
        let (mended, done) = once(library, fade, config, &refused)?;
        let mended = Arc::new(mended);
        let old: BTreeSet<(Node, ClipIdx, FrameIdx)> = edges_with_origin(library, |_| true).map(|c| c.1).collect();
        let new: Vec<(EdgeIdx, (Node, ClipIdx, FrameIdx))> =
            edges_with_origin(&mended, |e| e.join.is_some()).filter(|c| !old.contains(&c.1)).collect();
        let edges: Vec<EdgeIdx> = new.iter().map(|c| c.0).collect();
        let bad: BTreeSet<EdgeIdx> = rehearse(&mended, &edges).into_iter().collect();
        if bad.is_empty() || round == ROUNDS {
            return Ok((Arc::unwrap_or_clone(mended), done));
        }
        for (edge, (node, clip, first)) in new.iter().filter(|c| bad.contains(&c.0)) {
            // A bad join into or out of a bridge rules out the pair of motions that the bridge joins.
            let graph = mended.graph();
            if is_bridge(mended.clip(*clip)) {
                for after in graph.after(*edge) {
                    let after = graph.edge(after);
                    refused.insert((*node, after.clip, after.first.0));
                }
            } else if is_bridge(mended.clip(node.clip)) {
                let end = graph.edge(*edge).from;
                for before in graph.edges().iter().filter(|e| e.to == end) {
                    refused.insert((*graph.node(before.from), *clip, first.0));
                }
            } else {
                refused.insert((*node, *clip, first.0));
            }
        }
    }
}

/// Edges of a library with the node they leave and where they begin.
fn edges_with_origin(
    library: &Library,
    which: impl Fn(&Edge) -> bool,
) -> impl Iterator<Item = (EdgeIdx, (Node, ClipIdx, FrameIdx))> {
    let graph = library.graph();
    let edges = graph.edges().iter().enumerate().filter(move |e| which(e.1));
    edges.map(|(i, e)| (EdgeIdx(i as u32), (*graph.node(e.from), e.clip, e.first)))
}

fn once(
    library: &Library,
    fade: f32,
    config: &RepairConfig,
    refused: &BTreeSet<(Node, ClipIdx, u32)>,
) -> Result<(Library, Repaired), LibraryError> {
    let graph = library.graph();
    let clips = library.clips().to_vec();
    let mut draft = Draft {
        captured: clips.len(),
        feet: clips.iter().map(stances).collect(),
        clips,
        nodes: graph.nodes().to_vec(),
        edges: graph.edges().to_vec(),
        done: Repaired::default(),
        given: graph.edges().len(),
        refused: refused.clone(),
        config: config.clone(),
        fade,
    };
    draft.bring_back();
    if config.each_follows_each {
        draft.follow();
    }
    if config.avoid_within.is_finite() {
        draft.quicken();
    }
    draft.finish(&library.name, library.attribution.clone())
}

impl Draft {
    fn seconds(&self, fit: &Fit, a: &Stance, b: &Stance) -> f32 {
        if fit.support.is_none() {
            return LYING.0 + LYING.1 * fit.apart;
        }
        let body = (a.at(Role::Pelvis) - fit.align.point(b.at(Role::Pelvis))).length();
        let head = (a.at(Role::Head) - fit.align.point(b.at(Role::Head))).length();
        let step = if fit.swing > STAYS { SHORTEST + PER_STEP * fit.swing } else { SHORTEST };
        step.max(body / FASTEST).max(head / (1.5 * FASTEST)).max(0.8 * fit.apart + 0.12)
    }

    fn stance(&self, clip: ClipIdx, frame: u32) -> &Stance {
        let of_clip = &self.feet[clip.at()];
        &of_clip[(frame as usize).min(of_clip.len() - 1)]
    }

    fn node(&mut self, node: Node) -> usize {
        match self.nodes.iter().position(|n| *n == node) {
            Some(at) => at,
            None => {
                self.nodes.push(node);
                self.nodes.len() - 1
            }
        }
    }

    fn leaves(&self, node: usize) -> bool {
        self.edges.iter().any(|e| e.from.at() == node)
    }

    /// Whatever other edges begin with, of captured clips.
    fn targets(&self) -> Vec<Target> {
        let all: BTreeSet<Target> = self
            .edges
            .iter()
            .filter(|e| e.clip.at() < self.captured)
            .map(|e| Target { clip: e.clip, first: e.first.0, last: e.last.0, to: e.to.at() })
            .collect();
        all.into_iter().collect()
    }

    /// Takes the nearest of some joins that a person could do, and says where it leaves.
    fn best_of(&mut self, joins: Vec<(usize, Target)>, longest: f32, tries: usize) -> Option<usize> {
        let mut fits: Vec<(f32, usize, Target, Fit)> = Vec::new();
        for (from, target) in joins {
            let node = self.nodes[from];
            let (a, b) = (*self.stance(node.clip, node.frame.0), *self.stance(target.clip, target.first));
            let Some(fit) = fit_of(&a, &b) else { continue };
            let seconds = self.seconds(&fit, &a, &b);
            let lying = fit.support.is_none();
            let near = if lying {
                seconds <= self.config.longest_lying
            } else {
                seconds <= longest && fit.apart <= self.config.most_apart
            };
            if near {
                fits.push((fit.apart + 0.3 * seconds, from, target, fit));
            }
        }
        fits.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut like: BTreeMap<(ClipIdx, ClipIdx), usize> = BTreeMap::new();
        fits.retain(|(_, from, target, _)| {
            let count = like.entry((self.nodes[*from].clip, target.clip)).or_default();
            *count += 1;
            *count <= ALIKE
        });
        fits.truncate(tries);
        let found = fits.into_iter().find(|(_, from, target, fit)| self.join(*from, *target, fit, longest));
        found.map(|f| f.1)
    }

    /// Joins a node and what follows, by a bridge if they are far apart. Whether a person could do it.
    fn join(&mut self, from: usize, target: Target, fit: &Fit, longest: f32) -> bool {
        let node = self.nodes[from];
        if self.refused.contains(&(node, target.clip, target.first)) {
            return false;
        }
        if fit.apart <= self.config.direct && fit.swing <= 2.0 * STAYS && fit.pivot.abs() <= TURNS {
            self.edge(from, target, Some(Join { blend: self.fade, align: fit.align, distance: fit.apart }));
            self.done.joins += 1;
            return true;
        }
        // A bridge that is there already may end where this one would.
        let b = *self.stance(target.clip, target.first);
        let ends: Vec<usize> = self
            .edges
            .iter()
            .filter(|e| e.from.at() == from && e.clip.at() >= self.captured)
            .map(|e| e.to.at())
            .collect();
        for end in ends {
            let n = self.nodes[end];
            let near = fit_of(self.stance(n.clip, n.frame.0), &b);
            if let Some(near) =
                near.filter(|f| f.apart <= self.config.direct && f.swing <= 2.0 * STAYS && f.pivot.abs() <= TURNS)
            {
                self.edge(end, target, Some(Join { blend: self.fade, align: near.align, distance: near.apart }));
                self.done.joins += 1;
                return true;
            }
        }
        let a = *self.stance(node.clip, node.frame.0);
        let shortest = self.seconds(fit, &a, &b);
        let longest = if fit.support.is_none() { self.config.longest_lying } else { longest };
        let slower = SLOWER.iter().map(|s| (s * shortest).min(longest.max(shortest)));
        let Some(bridge) = slower.into_iter().find_map(|seconds| self.bridge(node, target, fit, seconds)) else {
            self.refused.insert((node, target.clip, target.first));
            self.done.implausible += 1;
            return false;
        };
        let last = bridge.frames() as u32 - 1;
        let clip = ClipIdx(self.clips.len() as u32);
        self.feet.push(stances(&bridge));
        self.clips.push(bridge);
        self.nodes.push(Node { clip, frame: FrameIdx(last) });
        let end = self.nodes.len() - 1;
        let join = Join { blend: 0.5 * self.fade, align: Planar::IDENTITY, distance: 0.0 };
        self.edge(from, Target { clip, first: 0, last, to: end }, Some(join));
        self.edge(end, target, Some(Join { blend: self.fade, align: fit.align, distance: 0.0 }));
        true
    }

    fn edge(&mut self, from: usize, target: Target, join: Option<Join>) {
        let clip = &self.clips[target.clip.at()];
        let (first, last) = (FrameIdx(target.first), FrameIdx(target.last));
        let seconds = (target.last - target.first) as f32 / clip.fps();
        let displacement = stand(clip, first).inverse().after(&stand(clip, last));
        let (from, to) = (NodeIdx(from as u32), NodeIdx(target.to as u32));
        self.edges.push(Edge::new(from, to, (target.clip, first, last), join, seconds, displacement));
    }

    /// From nodes that are too far from any avoidance, one is begun at once.
    fn quicken(&mut self) {
        let starts = self.avoidances();
        if starts.is_empty() {
            return;
        }
        // Ends of bridges that come in on the way are close to what they lead to, and are looked at too.
        let mut node = 0;
        while node < self.nodes.len() {
            node += 1;
            let node = node - 1;
            if self.soonest(node, &starts) <= self.config.avoid_within {
                continue;
            }
            let joins = starts.iter().map(|t| (node, *t)).collect();
            if self.best_of(joins, LATEST * self.config.avoid_within, TRIES).is_none() {
                let n = self.nodes[node];
                let name = &self.clips[n.clip.at()].name;
                self.done.left.push(format!(
                    "an avoidance begins late from {name} at {:.2} s",
                    n.frame.0 as f32 / self.clips[n.clip.at()].fps()
                ));
            }
        }
    }

    /// Edges that play an avoidance, begun as late as they may be.
    fn avoidances(&self) -> Vec<Target> {
        let mut found = BTreeSet::new();
        for edge in self.edges.iter().filter(|e| e.clip.at() < self.captured) {
            let clip = &self.clips[edge.clip.at()];
            for span in clip.spans.iter().filter(|s| s.kind == SpanKind::Avoid) {
                let (from, to) = (libm::floorf(span.from * clip.fps() + 1e-3) as u32, span.to * clip.fps());
                let last = edge.last.0 as f32 >= to.min((clip.frames() - 1) as f32) - 1e-3;
                let stands = |f: u32| self.stance(edge.clip, f).stands(0) || self.stance(edge.clip, f).stands(1);
                if edge.first.0 <= from && last && stands(from) {
                    found.insert(Target { clip: edge.clip, first: from, last: edge.last.0, to: edge.to.at() });
                }
            }
        }
        found.into_iter().collect()
    }

    /// Seconds from a node to the start of an avoidance, one or two edges on.
    fn soonest(&self, node: usize, starts: &[Target]) -> f32 {
        let begins = |e: &Edge| {
            let fps = self.clips[e.clip.at()].fps();
            let t = starts.iter().filter(|t| t.clip == e.clip && e.first.0 <= t.first && t.last <= e.last.0);
            t.map(|t| (t.first - e.first.0) as f32 / fps).fold(f32::INFINITY, f32::min)
        };
        let leaving = |n: usize| self.edges.iter().filter(move |e| e.from.at() == n);
        leaving(node)
            .map(|e| begins(e).min(e.seconds + leaving(e.to.at()).map(&begins).fold(f32::INFINITY, f32::min)))
            .fold(f32::INFINITY, f32::min)
    }

    /// After each labelled standing motion each other can follow, through one edge in between at most.
    fn follow(&mut self) {
        let motions = self.motions();
        self.meet_in_stances(&motions);
        for (_, _, one) in &motions {
            for (clip, span, other) in &motions {
                if one.iter().any(|t| self.follows(t.to, *clip, *span)) {
                    continue;
                }
                let joins = one.iter().flat_map(|a| other.iter().map(move |b| (a.to, *b))).collect();
                let longest = self.config.longest;
                if self.best_of(joins, longest, TRIES).is_none() {
                    let name = |t: &[Target]| t.first().map_or("", |t| &self.clips[t.clip.at()].name).to_owned();
                    self.done.left.push(format!("{} cannot follow {}", name(other), name(one)));
                }
            }
        }
    }

    /// Idles, and motions that lead from one stance into another, are joined with whatever begins or ends in the same stance: through them
    /// each motion finds each other, and few bridges are needed.
    fn meet_in_stances(&mut self, motions: &[(ClipIdx, usize, Vec<Target>)]) {
        let direct = |draft: &Draft, from: Node, to: Target| {
            let (a, b) = (draft.stance(from.clip, from.frame.0), draft.stance(to.clip, to.first));
            fit_of(a, b)
                .filter(|fit| fit.apart <= draft.config.direct && fit.swing <= 2.0 * STAYS && fit.pivot.abs() <= TURNS)
        };
        let connects: Vec<bool> = motions
            .iter()
            .map(|(clip, span, played)| {
                let idles = self.clips[clip.at()].spans[*span].kind == SpanKind::Idle;
                idles || !played.iter().any(|a| played.iter().any(|b| direct(self, self.nodes[a.to], *b).is_some()))
            })
            .collect();
        for ((_, _, one), first) in motions.iter().zip(&connects) {
            for ((clip, span, other), second) in motions.iter().zip(&connects) {
                let leaving = |draft: &Draft, n: usize| {
                    draft.edges.iter().any(|e| e.from.at() == n && draft.shows(e, *clip, *span))
                };
                if !(*first || *second) || one.iter().any(|t| leaving(self, t.to)) {
                    continue;
                }
                let pairs = one.iter().flat_map(|a| other.iter().map(move |b| (a.to, *b)));
                let fits = pairs.filter_map(|(from, to)| Some((from, to, direct(self, self.nodes[from], to)?)));
                let nearest = fits.min_by(|a, b| a.2.apart.total_cmp(&b.2.apart).then((a.0, a.1).cmp(&(b.0, b.1))));
                if let Some((from, to, fit)) = nearest {
                    self.join(from, to, &fit, self.config.longest);
                }
            }
        }
    }

    /// The longest span of each clip that stays on its feet, with the edges that play it.
    fn motions(&self) -> Vec<(ClipIdx, usize, Vec<Target>)> {
        let mut motions = Vec::new();
        for (index, clip) in self.clips[..self.captured].iter().enumerate() {
            if clip.spans.iter().any(|s| matches!(s.kind, SpanKind::Down | SpanKind::Up)) {
                continue;
            }
            let length = |s: usize| clip.spans[s].to - clip.spans[s].from;
            let Some(span) = (0..clip.spans.len()).max_by(|&a, &b| length(a).total_cmp(&length(b))) else { continue };
            let clip_idx = ClipIdx(index as u32);
            let playing = self.edges.iter().filter(|e| self.shows(e, clip_idx, span));
            let target = |e: &Edge| Target { clip: e.clip, first: e.first.0, last: e.last.0, to: e.to.at() };
            let mut playing: BTreeSet<Target> = playing.map(target).collect();
            if let Some(earliest) = playing.first().copied() {
                // From its first frame too, whether or not an edge begins there yet: that is where it is in its stance.
                playing.insert(Target { first: 0, ..earliest });
                motions.push((clip_idx, span, playing.into_iter().collect()));
            }
        }
        motions
    }

    /// Whether an edge plays a span: all of an action, a good part of a continuous motion.
    fn shows(&self, edge: &Edge, clip: ClipIdx, span: usize) -> bool {
        let c = &self.clips[clip.at()];
        let s = &c.spans[span];
        if edge.clip != clip {
            return false;
        }
        if self.config.unbroken.contains(&s.kind) {
            return crate::graph::span_in(c, s.from, s.to, edge.first.0, edge.last.0) == Some(true);
        }
        let (first, last) = (edge.first.0 as f32 / c.fps(), edge.last.0 as f32 / c.fps());
        last.min(s.to) - first.max(s.from) >= 0.3f32.min(0.5 * (s.to - s.from))
    }

    fn follows(&self, node: usize, clip: ClipIdx, span: usize) -> bool {
        let leaving = |n: usize| self.edges.iter().filter(move |e| e.from.at() == n);
        leaving(node).any(|e| self.shows(e, clip, span) || leaving(e.to.at()).any(|e| self.shows(e, clip, span)))
    }

    /// The nodes that can be reached from the first, which is connected with the whole original graph.
    fn reached(&self) -> Vec<bool> {
        let ends = self.edges.iter().map(|e| (e.from.at(), e.to.at()));
        crate::graph::reached(self.nodes.len(), ends, &[0])
    }

    /// Pairs that already failed are left out.
    fn prune(&mut self) {
        let reached = self.reached();
        let new = self.edges[self.given..].iter().filter(|e| reached[e.from.at()]).count();
        self.edges.retain(|e| reached[e.from.at()]);
        let mut played = vec![false; self.clips.len()];
        self.edges.iter().for_each(|e| played[e.clip.at()] = true);
        let stays = |clip: usize| clip < self.captured || played[clip];
        let place = places(self.clips.len(), stays, ClipIdx);
        let nodes = places(self.nodes.len(), |n| reached[n], NodeIdx);
        for e in &mut self.edges {
            let range = (place[e.clip.at()], e.first, e.last);
            *e = Edge::new(nodes[e.from.at()], nodes[e.to.at()], range, e.join, e.seconds, e.displacement);
        }
        let old = std::mem::take(&mut self.nodes).into_iter().enumerate();
        let moved = |n: Node| Node { clip: place[n.clip.at()], ..n };
        self.nodes = old.filter(|n| reached[n.0]).map(|n| moved(n.1)).collect();
        let clips = std::mem::take(&mut self.clips).into_iter().enumerate();
        self.clips = clips.filter(|c| c.0 < self.captured || played[c.0]).map(|c| c.1).collect();
        let bridges = &self.clips[self.captured..];
        self.done.bridges = bridges.len();
        self.done.bridge_seconds = bridges.iter().map(Clip::seconds).sum();
        self.done.joins = new - 2 * bridges.len();
    }

    /// Poses that two or more bridges lead from or to, the busiest first.
    fn hubs(&self) -> Vec<(Node, usize)> {
        let mut used: BTreeMap<Node, usize> = BTreeMap::new();
        for edge in &self.edges {
            if edge.clip.at() >= self.captured {
                *used.entry(self.nodes[edge.from.at()]).or_default() += 1;
            } else if self.nodes[edge.from.at()].clip.at() >= self.captured {
                *used.entry(Node { clip: edge.clip, frame: edge.first }).or_default() += 1;
            }
        }
        let mut hubs: Vec<(Node, usize)> = used.into_iter().filter(|u| u.1 > 1).collect();
        hubs.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
        hubs
    }

    fn finish(mut self, name: &str, attribution: Vec<String>) -> Result<(Library, Repaired), LibraryError> {
        self.prune();
        self.done.hubs = self.hubs();
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_key(|n| self.nodes[*n]);
        let mut place = vec![NodeIdx(0); order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = NodeIdx(new as u32));
        let nodes = order.iter().map(|&n| self.nodes[n]).collect();
        let clips = self.clips;
        let edges = self.edges.into_iter().map(|e| {
            let clip = &clips[e.clip.at()];
            let spans = clip.spans.iter().enumerate().filter_map(|(index, s)| {
                let whole = crate::graph::span_in(clip, s.from, s.to, e.first.0, e.last.0)?;
                Some(SpanRef { span: index as u32, whole })
            });
            let range = (e.clip, e.first, e.last);
            let edge = Edge::new(place[e.from.at()], place[e.to.at()], range, e.join, e.seconds, e.displacement);
            (edge, spans.collect())
        });
        let edges: Vec<(Edge, Vec<SpanRef>)> = edges.collect();
        let graph = Graph::new(nodes, edges).map_err(|_| LibraryError::OtherGraph { edge: 0 })?;
        let mut library = Library::new(name, clips, graph)?;
        library.attribution = attribution;
        Ok((library, self.done))
    }
}

/// New places of those that stay, in their order.
fn places<T>(count: usize, stays: impl Fn(usize) -> bool, place: impl Fn(u32) -> T) -> Vec<T> {
    let mut next = 0;
    let places = (0..count).map(|i| {
        let here = next;
        next += u32::from(stays(i));
        place(here)
    });
    places.collect()
}

/// Seconds from each node to the start of the nearest span of a kind that is played whole, by the shortest way; infinite where there is none.
pub fn seconds_until(library: &Library, kind: SpanKind) -> Vec<f32> {
    let graph = library.graph();
    let mut seconds = vec![f32::INFINITY; graph.nodes().len()];
    for (index, edge) in graph.edges().iter().enumerate() {
        let clip = library.clip(edge.clip);
        for span in graph.spans(EdgeIdx(index as u32)).iter().filter(|s| s.whole) {
            let span = &clip.spans[span.span as usize];
            if span.kind == kind {
                let lead = (span.from - edge.first.0 as f32 / clip.fps()).max(0.0);
                seconds[edge.from.at()] = seconds[edge.from.at()].min(lead);
            }
        }
    }
    crate::graph::carried_back(graph, seconds)
}
