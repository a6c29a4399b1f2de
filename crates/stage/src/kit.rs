//! Everything a library needs at run time: read-only, shareable between threads.

use std::sync::{Arc, OnceLock};

use kumite_motion::graph::Edge;
use kumite_motion::library::Library;
use kumite_motion::rotation::{to_vector, wrap, yaw_of};
use kumite_motion::{Clip, EdgeIdx, FrameIdx, Graph, Layer, NodeIdx, Pose, Role, SpanKind, Vec2, Vec3, WorldPose, fk};

use kumite_plan::spar::{DefenceTable, Moves};

use crate::op::Begin;
use crate::recoveries::Recoveries;
use crate::walk::Walker;
use crate::{Character, Defence};

/// A library with the tables of its planners.
#[derive(Clone, Debug)]
pub struct Kit {
    library: Arc<Library>,
    defence: Option<Defence>,
    walker: Option<Walker>,
    reactions: Vec<Reaction>,
    /// By edge: whether it only idles.
    idle: Vec<bool>,
    /// By edge: whether nothing moves in it.
    still: Vec<bool>,
    /// By edge: whether it ends in guard, and the guard can stay up from there on.
    guarded: Vec<bool>,
    /// An edge of walkers that only idles.
    standing: Option<EdgeIdx>,
    recoveries: Arc<Recoveries>,
    /// What they fight with; worked out when somebody does.
    spar: OnceLock<SparKit>,
}

/// What a library's characters fight with.
#[derive(Clone, Debug)]
pub struct SparKit {
    /// What they can do.
    pub moves: Moves,
    /// What answers what.
    pub table: DefenceTable,
}

/// A motion that answers a hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// Which edge.
    pub edge: EdgeIdx,
    /// Seconds after its first frame at which the reaction begins.
    pub enter: f32,
    /// What was hit, in its label's words.
    pub label: String,
}

impl Kit {
    /// The tables of a library's fighters, and of its walkers if it has any.
    pub fn new(defence: Defence, walker: Option<Walker>) -> Kit {
        Kit::with(Arc::clone(defence.library()), Some(defence), walker)
    }

    /// Only what walkers need: nobody defends itself.
    pub fn walking(walker: Walker) -> Kit {
        Kit::with(Arc::clone(walker.library()), None, Some(walker))
    }

    fn with(library: Arc<Library>, defence: Option<Defence>, walker: Option<Walker>) -> Kit {
        let graph = library.graph();
        let holds = |clip: &Clip, kind: SpanKind| clip.spans.iter().any(|span| span.kind == kind);
        let idles = |clip: &Clip| holds(clip, SpanKind::Idle) && !holds(clip, SpanKind::Walk);
        let idle: Vec<bool> = graph.edges().iter().map(|edge| idles(library.clip(edge.clip))).collect();
        let still = graph.edges().iter().map(|edge| is_still(library.clip(edge.clip), edge)).collect();
        let standing = graph.edges_of(Layer::Walk).find(|edge| idle[edge.at()]);
        let guarded = guarded(&library);
        let recoveries = Arc::new(Recoveries::of(&library));
        Kit {
            reactions: reactions(&library),
            library,
            defence,
            walker,
            idle,
            still,
            guarded,
            standing,
            recoveries,
            spar: OnceLock::new(),
        }
    }

    /// What characters fight with: worked out at the first call.
    pub fn spar(&self) -> &SparKit {
        self.spar.get_or_init(|| {
            let moves = Moves::of(&self.library);
            let table = DefenceTable::of(&moves);
            SparKit { moves, table }
        })
    }

    /// What characters play.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// Its graph.
    pub fn graph(&self) -> &Graph {
        self.library().graph()
    }

    /// What characters defend themselves with, if with anything.
    pub fn defence(&self) -> Option<&Defence> {
        self.defence.as_ref()
    }

    /// What they walk with, if with anything.
    pub fn walker(&self) -> Option<&Walker> {
        self.walker.as_ref()
    }

    /// Sorts edges by how calm they are: idles first, those that go on as they are before those that join, the longest before the end of their clip;
    /// then by how far they go.
    pub(crate) fn calm(&self, edge: EdgeIdx) -> impl Ord + use<> {
        let found = self.library.graph().edge(edge);
        let idle = self.is_idle(edge);
        let left = self.library.clip(found.clip).frames() as u32 - found.first.0;
        let centimetres = (found.displacement.shift.length() * 100.0) as u32;
        (!idle, if idle { 0 } else { centimetres }, found.join.is_some(), std::cmp::Reverse(left))
    }

    /// Whether an edge only idles.
    pub fn is_idle(&self, edge: EdgeIdx) -> bool {
        self.idle.get(edge.at()).copied().unwrap_or_default()
    }

    /// Whether nothing moves in an edge: held poses at the ends of clips.
    pub fn is_still(&self, edge: EdgeIdx) -> bool {
        self.still.get(edge.at()).copied().unwrap_or_default()
    }

    /// Whether an edge ends in guard, with a hand above the waist, and the guard can stay up from there on.
    pub fn is_guarded(&self, edge: EdgeIdx) -> bool {
        self.guarded.get(edge.at()).copied().unwrap_or_default()
    }

    /// Where walkers stand.
    pub fn standing(&self) -> Option<EdgeIdx> {
        self.standing
    }

    /// Motions that answer hits.
    pub fn reactions(&self) -> &[Reaction] {
        &self.reactions
    }

    /// What there is for somebody who was hit.
    pub fn recoveries(&self) -> &Arc<Recoveries> {
        &self.recoveries
    }

    /// The shortest way, in seconds, along fighters' edges to a node from which walks can begin: its edges, and that node.
    pub fn way_to_walk(&self, from: NodeIdx) -> Option<(Vec<EdgeIdx>, NodeIdx)> {
        let graph = self.graph();
        let count = graph.nodes().len();
        let (mut best, mut by) = (vec![f32::INFINITY; count], vec![None; count]);
        let mut open = vec![from];
        best[from.at()] = 0.0;
        while let Some(at) = (0..open.len()).min_by(|a, b| best[open[*a].at()].total_cmp(&best[open[*b].at()])) {
            let node = open.swap_remove(at);
            if graph.leaving(node, Layer::Walk).len() > 0 {
                let (mut edges, mut here) = (Vec::new(), node);
                while let Some(edge) = by[here.at()] {
                    edges.push(edge);
                    here = graph.edge(edge).from;
                }
                edges.reverse();
                return Some((edges, node));
            }
            for edge in graph.leaving(node, Layer::Fight) {
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

    /// Where fighters can begin: the edge that plays a moment of a clip, and seconds after the edge's first frame.
    pub fn entry(&self, begin: &Begin) -> Option<(EdgeIdx, f32)> {
        let graph = self.graph();
        let plays = |edge: &EdgeIdx| self.library.clip(graph.edge(*edge).clip).name == begin.clip;
        let since = |edge: EdgeIdx| {
            let first = graph.edge(edge).first.at() as f32 / self.library.clip(graph.edge(edge).clip).fps();
            (edge, begin.at.map_or(0.0, |at| at - first))
        };
        let mut edges = graph.edges_of(Layer::Fight).filter(plays).map(since);
        edges.find(|(edge, since)| (0.0..graph.edge(*edge).seconds).contains(since))
    }

    /// A fighter at the beginning of an edge that leaves a node, who stands at a place and looks along `facing`.
    pub fn spawn(&self, node: NodeIdx, at: Vec2, facing: f32) -> Character {
        let edge = self.graph().leaving(node, Layer::Fight).next().unwrap_or(EdgeIdx(0));
        self.spawn_on(edge, 0.0, at, facing)
    }

    /// A fighter so many seconds after the first frame of an edge, who stands at a place and looks along `facing`.
    pub fn spawn_on(&self, edge: EdgeIdx, since: f32, at: Vec2, facing: f32) -> Character {
        let spawn = |facing: f32| Character::entering(Arc::clone(self.library()), edge, since, at, facing);
        let off = kumite_motion::rotation::wrap(facing - crate::sense::gaze(&spawn(facing)));
        spawn(facing + off)
    }
}

/// How far above the waist a hand is when the guard is up, metres.
const UP: f32 = 0.05;

/// By edge: whether the guard is up where it ends, and can stay up.
fn guarded(library: &Library) -> Vec<bool> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let up = |edge: &Edge| {
        let clip = library.clip(edge.clip);
        clip.pose(edge.last, &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let height = |role: Role| world.position(role.joint()).y;
        height(Role::LeftWrist).max(height(Role::RightWrist)) > height(Role::Waist) + UP
    };
    let graph = library.graph();
    let up: Vec<bool> = graph.edges().iter().map(up).collect();
    // Nodes from which the guard need never be lowered: those from which it must be are taken away until none is left.
    let mut stays = vec![true; graph.nodes().len()];
    let keeps = |edge: EdgeIdx, stays: &[bool]| up[edge.at()] && stays[graph.edge(edge).to.at()];
    loop {
        let leads_on = |node: usize| graph.leaving(NodeIdx(node as u32), Layer::Fight).any(|edge| keeps(edge, &stays));
        let lost: Vec<usize> = (0..stays.len()).filter(|node| stays[*node] && !leads_on(*node)).collect();
        if lost.is_empty() {
            break;
        }
        lost.iter().for_each(|node| stays[*node] = false);
    }
    (0..up.len() as u32).map(|edge| keeps(EdgeIdx(edge), &stays)).collect()
}

/// A joint that turns faster than this moves, radians per second.
const MOVES: f32 = 0.02;

fn is_still(clip: &Clip, edge: &Edge) -> bool {
    let mut frames = (edge.first.0..edge.last.0).map(|frame| (FrameIdx(frame), FrameIdx(frame + 1)));
    frames.all(|(a, b)| {
        let turn = |joint| to_vector(clip.rotation(a, joint).conjugate() * clip.rotation(b, joint)).length();
        clip.skeleton().joints().all(|joint| turn(joint) * clip.fps() < MOVES)
    })
}

/// The reaction to a hit on a part by something that moves `along` and changes the body's speed by `change`, metres per second: by what was hit,
/// from which side, how hard.
pub(crate) fn reaction_to<'a>(
    reactions: &'a [Reaction],
    character: &Character,
    part: Role,
    along: Vec3,
    change: f32,
) -> Option<&'a Reaction> {
    /// From here on a hit is a heavy one, metres per second.
    const HEAVY: f32 = 0.18;
    /// What comes from farther round comes from behind, radians.
    const BEHIND: f32 = 2.4;
    let wanted = match part {
        Role::Head | Role::Neck => "head",
        Role::LeftHip | Role::RightHip | Role::LeftKnee | Role::RightKnee | Role::LeftAnkle | Role::RightAnkle => "leg",
        // Physics alone shows what hits an arm.
        Role::LeftElbow | Role::RightElbow | Role::LeftWrist | Role::RightWrist => return None,
        _ => "body",
    };
    let turn = wrap(yaw_of(-along) - crate::sense::gaze(character));
    let side = match turn {
        // Reactions to either side would tell a wrong one: a flinch shows it.
        t if t.abs() > BEHIND => return None,
        t if t.abs() < 0.6 => "front",
        t if t > 0.0 => "left",
        _ => "right",
    };
    let score = |label: &str| {
        let aside = label.contains("left") || label.contains("right");
        // From the front heavy ones are those that are not called light.
        let heavy = (label.contains("heavy") || !(aside || label.contains("light"))) == (change >= HEAVY);
        let sided = label.contains(side) || (side == "front" && !aside);
        8 * i32::from(label.contains(wanted)) + 2 * i32::from(sided) + i32::from(heavy)
            - 8 * i32::from(label.contains("stagger"))
    };
    reactions.iter().max_by_key(|r| (score(&r.label), std::cmp::Reverse(r.edge)))
}

pub(crate) fn reactions(library: &Library) -> Vec<Reaction> {
    let graph = library.graph();
    let mut all = Vec::new();
    for index in graph.edges_of(Layer::Fight) {
        let edge = graph.edge(index);
        let clip = library.clip(edge.clip);
        for span in graph.spans(index).iter().map(|s| &clip.spans[s.span as usize]) {
            let enter = span.from - edge.first.at() as f32 / clip.fps();
            if span.kind == SpanKind::React && enter >= -1e-3 && enter < edge.seconds {
                let label = if span.label.is_empty() { clip.name.clone() } else { span.label.clone() };
                all.push(Reaction { edge: index, enter: enter.max(0.0), label });
            }
        }
    }
    all
}
