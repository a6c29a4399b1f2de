//! What a search needs to know about a library, worked out once: where the body is in every frame, how far clips go, where they may be
//! left.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::graph::stand;
use kumite_motion::library::Library;
use kumite_motion::rotation::wrap;
use kumite_motion::{ClipIdx, EdgeIdx, FrameIdx, Layer, Pose, Role, Roles, SpanKind, Vec2, Vec3, WorldPose, fk, mass};

use super::transition_clusters::{Leaf, clusters};

/// A frame among the frames of all clips, which are numbered one clip after the other.
pub type GlobalFrame = u32;

/// A possibility to leave one frame and continue at another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// The edge of the graph that begins with it.
    pub edge: EdgeIdx,
    /// The frame that is left.
    pub from: GlobalFrame,
    /// The frame that is entered.
    pub to: GlobalFrame,
    /// The first frame at which the path may branch again.
    pub after: GlobalFrame,
    /// Lays the entered clip over the one left.
    pub align: PlanarMatrix,
    /// Its share of `Error_smooth`.
    pub cost: f32,
}

/// Small turns and shifts where a clip could branch, which a join hides: added as transitions of a clip into itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nudges {
    /// Turn to either side, radians.
    pub turn: f32,
    /// Shift forwards and backwards, metres.
    pub shift: f32,
    /// Least time between two, seconds.
    pub apart: f32,
    /// Cost of one; a median transition costs 0.3.
    pub cost: f32,
}

impl Default for Nudges {
    /// About as much as steps of one walk differ anyway.
    fn default() -> Self {
        Nudges { turn: 5.0f32.to_radians(), shift: 0.05, apart: 0.3, cost: 0.05 }
    }
}

/// Tables of a library's walkers. Clips are those that walking edges play, numbered in their order.
#[derive(Clone, Debug)]
pub struct Tables {
    /// Which clip of the library each is, and the other way round.
    clips: Vec<ClipIdx>,
    number: Vec<Option<u16>>,
    /// Frames per second.
    pub fps: f32,
    /// First frame of each clip; one more at the end.
    starts: Vec<GlobalFrame>,
    clip_of: Vec<u16>,
    /// `locate`: the centre of mass on the floor, in the clip's frame.
    pub(super) place: Vec<Vec2>,
    /// `orient`, radians.
    pub(super) turn: Vec<f32>,
    /// Path length of the centre of mass since the clip began, metres.
    pub(super) arc: Vec<f32>,
    /// That length with standing still counted as going at [`DAWDLE`].
    pub(super) way: Vec<f32>,
    /// That length with anything slower counted as going at [`PACE`], plus [`TURNING`] for turns.
    pub(super) effort: Vec<f32>,
    /// By clip: farthest that the centre of mass moves in a frame, metres.
    pub(super) stride: Vec<f32>,
    /// Spheres along the bones, of each frame.
    points: Vec<Vec3>,
    pub(super) radii: Vec<f32>,
    joints: Vec<Vec3>,
    joint_count: usize,
    /// How far the spheres reach from the centre of mass along the floor.
    pub(super) reach: Vec<f32>,
    /// The largest of `reach`, by clip.
    pub(super) clip_reach: Vec<f32>,
    /// And of all.
    pub reach_most: f32,
    /// Radius that encloses every pose while going somewhere: `r_body`, metres.
    pub body: f32,
    /// Half the width of a walking body, arms included: the tenth percentile over its poses, metres.
    pub narrow: f32,
    /// Some motion steps over obstacles that end below this, metres.
    pub over: f32,
    /// Some motion passes under obstacles that begin above this, metres.
    pub under: f32,
    /// Radius of the tightest turn of any motion, metres.
    pub tightest: f32,
    /// Whether some motion turns on the spot.
    pub pivots: bool,
    /// Whether a frame stands still on both feet.
    pub(super) still: Vec<bool>,
    transitions: Vec<Transition>,
    /// Positions in `transitions` of those that leave each clip, by frame.
    leaving: Vec<Vec<u32>>,
    /// Per pair of clips the best transition of each cluster; the members of each cluster; the cluster of each transition.
    roots: Vec<Vec<u32>>,
    members: Vec<Vec<u32>>,
    root_of: Vec<u32>,
    /// Where each clip continues past a node: the node's frame, the edge, and the frame where that ends.
    onward: Vec<Vec<(GlobalFrame, EdgeIdx, GlobalFrame)>>,
}

/// The transitions of a cluster leave and enter within this of each other, seconds.
const CLUSTER: f32 = 0.15;
/// Cost of a transition of median distance: about what both tables of the paper have per transition.
const MEDIAN_COST: f32 = 0.3;
/// A body slower than this stands, metres per second.
const STILL: f32 = 0.12;
/// Standing still counts as going at this speed, metres per second, so that waiting is not free.
const DAWDLE: f32 = 0.5;
/// Metres that a radian of turning counts as: two more steps straight on are better than two turns.
pub(super) const TURNING: f32 = 1.0;
/// Anything slower counts as this speed, metres per second, so that dawdling is not free.
const PACE: f32 = 1.0;
/// Duration of two steps, over which the sway of bodies and hips averages out, seconds.
pub const SWAY: f32 = 1.0;
/// A turn by at least [`CORNER`] radians over at least [`ROUND`] metres goes round a corner, not on the spot.
const CORNER: f32 = 1.0;
const ROUND: f32 = 0.5;
/// Whoever goes round it is at least this fast, metres per second; slower bodies shuffle on the spot.
const GOING: f32 = 0.5;
/// Whoever turns by [`CORNER`] and gets no farther than this turns on the spot, metres.
const SPOT: f32 = 0.35;
/// A body faster than this goes somewhere, metres per second.
const GOES: f32 = 0.4;

impl Tables {
    /// Works out the tables of a library whose graph should be dense for walkers. `nudges` adds transitions.
    pub fn of(library: &Library, nudges: Option<&Nudges>) -> Tables {
        let clips = library.clips_of(Layer::Walk);
        let mut number = vec![None; library.clips().len()];
        for (k, clip) in clips.iter().enumerate() {
            number[clip.at()] = u16::try_from(k).ok();
        }
        let fps = clips.first().map_or(30.0, |clip| library.clip(*clip).fps());
        let spheres = library.spheres();
        let roles = Roles::canonical();
        let mut tables = Tables {
            fps,
            starts: vec![0],
            clip_of: Vec::new(),
            place: Vec::new(),
            turn: Vec::new(),
            arc: Vec::new(),
            way: Vec::new(),
            effort: Vec::new(),
            stride: vec![0.0; clips.len()],
            points: Vec::new(),
            radii: spheres.iter().map(|s| s.radius).collect(),
            joints: Vec::new(),
            joint_count: library.skeleton().len(),
            reach: Vec::new(),
            clip_reach: vec![0.0; clips.len()],
            reach_most: 0.0,
            body: 0.0,
            narrow: 0.0,
            over: 0.0,
            under: f32::INFINITY,
            tightest: 1.0,
            pivots: false,
            still: Vec::new(),
            transitions: Vec::new(),
            leaving: vec![Vec::new(); clips.len()],
            roots: vec![Vec::new(); clips.len() * clips.len()],
            members: Vec::new(),
            root_of: Vec::new(),
            onward: vec![Vec::new(); clips.len()],
            number,
            clips,
        };
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        for index in 0..tables.clips.len() {
            let clip = library.clip(tables.clips[index]);
            let first = tables.place.len();
            for frame in 0..clip.frames() {
                let idx = FrameIdx(frame as u32);
                clip.pose(idx, &mut pose);
                fk::pose(clip.skeleton(), &pose, &mut world);
                let centre = mass::centre(clip.skeleton(), &roles, &world);
                let at = Vec2::new(centre.x, centre.z);
                let gone = if frame == 0 { 0.0 } else { (at - tables.place[first + frame - 1]).length() };
                tables.arc.push(if frame == 0 { 0.0 } else { tables.arc[first + frame - 1] + gone });
                tables.stride[index] = tables.stride[index].max(gone);
                tables.place.push(at);
                tables.turn.push(stand(clip, idx).turn);
                tables.clip_of.push(index as u16);
                let mut reach = 0.0f32;
                for sphere in spheres {
                    let p = world.point(sphere.joint, sphere.offset);
                    reach = reach.max((Vec2::new(p.x, p.z) - at).length() + sphere.radius);
                    tables.points.push(p);
                }
                tables.joints.extend_from_slice(&world.positions);
                tables.reach.push(reach);
                tables.clip_reach[index] = tables.clip_reach[index].max(reach);
            }
            tables.starts.push(tables.place.len() as u32);
            let quarter = ((0.25 * fps) as usize).max(1);
            for frame in 0..clip.frames() {
                let (a, b) = (frame.saturating_sub(quarter), (frame + quarter).min(clip.frames() - 1));
                let speed = (tables.place[first + b] - tables.place[first + a]).length() * fps / (b - a).max(1) as f32;
                let contacts = clip.contacts.get(frame).copied().unwrap_or_default();
                let both = contacts.any(kumite_motion::Contacts::LEFT) && contacts.any(kumite_motion::Contacts::RIGHT);
                let still = speed < STILL && both;
                tables.still.push(still);
                let gone = if frame == 0 { 0.0 } else { tables.arc[first + frame] - tables.arc[first + frame - 1] };
                let before = if frame == 0 { 0.0 } else { tables.way[first + frame - 1] };
                tables.way.push(before + if still && frame > 0 { gone.max(DAWDLE / fps) } else { gone });
            }
        }
        tables.labour();
        tables.reach_most = tables.reach.iter().copied().fold(0.0, f32::max);
        tables.measure(library);
        tables.gather_transitions(library, nudges);
        tables
    }

    /// Fills in `effort`. Hips turn back and forth with each step, so the facing is averaged before its turns are counted.
    fn labour(&mut self) {
        let half = (0.5 * SWAY * self.fps) as usize;
        for clip in 0..self.clips() {
            let frames = self.starts[clip] as usize..self.starts[clip + 1] as usize;
            let mut facing = self.turn[frames.clone()].to_vec();
            for f in 1..facing.len() {
                facing[f] = facing[f - 1] + wrap(facing[f] - facing[f - 1]);
            }
            let steady = |f: usize| {
                let near = half.min(f).min(facing.len() - 1 - f);
                facing[f - near..=f + near].iter().sum::<f32>() / (2 * near + 1) as f32
            };
            let mut effort = 0.0;
            for f in 0..facing.len() {
                if f > 0 {
                    let at = frames.start + f;
                    effort += (self.arc[at] - self.arc[at - 1]).max(PACE / self.fps);
                    effort += TURNING * (steady(f) - steady(f - 1)).abs();
                }
                self.effort.push(effort);
            }
        }
    }

    /// Measures how wide a moving body is, how low it ducks and how high it steps.
    fn measure(&mut self, library: &Library) {
        let count = self.radii.len();
        let feet: Vec<usize> = (library.spheres().iter().enumerate())
            .filter(|(_, s)| matches!(s.part, Role::LeftAnkle | Role::RightAnkle | Role::LeftKnee | Role::RightKnee))
            .map(|(i, _)| i)
            .collect();
        let left = |i: usize| matches!(library.spheres()[i].part, Role::LeftAnkle | Role::LeftKnee);
        let mut widths = Vec::new();
        for clip in 0..self.clips() {
            let frames = self.starts[clip] as usize..self.starts[clip + 1] as usize;
            let half = ((0.1 * self.fps) as usize).max(1);
            for f in frames.clone() {
                let (a, b) = (f.saturating_sub(half).max(frames.start), (f + half).min(frames.end - 1));
                let way = self.place[b] - self.place[a];
                if way.length() * self.fps / (b - a).max(1) as f32 <= GOES {
                    continue;
                }
                self.body = self.body.max(self.reach[f]);
                let aside = way.perp().normalize_or(Vec2::X);
                let points = &self.points[f * count..(f + 1) * count];
                let out = |(p, r): (&Vec3, &f32)| (Vec2::new(p.x, p.z) - self.place[f]).dot(aside).abs() + r;
                widths.push(points.iter().zip(&self.radii).map(out).fold(0.0, f32::max));
                let top = points.iter().zip(&self.radii).map(|(p, r)| p.y + r).fold(0.0, f32::max);
                self.under = self.under.min(top);
                let lowest = |side: bool| {
                    let own = feet.iter().filter(|i| left(**i) == side);
                    own.map(|i| points[*i].y - self.radii[*i]).fold(f32::INFINITY, f32::min)
                };
                let lifted = lowest(true).max(lowest(false));
                if lifted.is_finite() {
                    self.over = self.over.max(lifted);
                }
            }
        }
        widths.sort_by(f32::total_cmp);
        self.narrow = widths.get(widths.len() / 10).copied().unwrap_or(0.3);
        if self.body == 0.0 {
            self.body = self.reach_most;
        }
        let (tightest, pivots) = self.turns();
        (self.tightest, self.pivots) = (tightest.unwrap_or(1.0), pivots);
    }

    /// Radius of the tightest turn by [`CORNER`] or more over [`ROUND`] or more, and whether there are turns on the spot.
    fn turns(&self) -> (Option<f32>, bool) {
        let (mut tightest, mut pivots): (Option<f32>, bool) = (None, false);
        for clip in 0..self.clips() {
            let frames = self.starts[clip] as usize..self.starts[clip + 1] as usize;
            for first in frames.clone().step_by(2) {
                for last in (first..frames.end).step_by(2) {
                    let arc = self.arc[last] - self.arc[first];
                    let turned = wrap(self.turn[last] - self.turn[first]).abs();
                    let going = arc * self.fps >= GOING * (last - first) as f32;
                    pivots |= turned >= CORNER && arc <= SPOT;
                    if arc >= ROUND && going && turned >= CORNER && tightest.is_none_or(|t| arc / turned < t) {
                        tightest = Some(arc / turned);
                    }
                }
            }
        }
        (tightest, pivots)
    }

    /// Gathers the transitions of the graph and their clusters.
    fn gather_transitions(&mut self, library: &Library, nudges: Option<&Nudges>) {
        let graph = library.graph();
        let clips = self.clips();
        // By the frame they leave, whichever other layer has it too.
        let mut edges: Vec<EdgeIdx> = graph.edges_of(Layer::Walk).collect();
        edges.sort_by_key(|edge| *graph.node(graph.edge(*edge).from));
        let mut distances: Vec<f32> = edges.iter().filter_map(|e| Some(graph.edge(*e).join?.distance)).collect();
        distances.sort_by(f32::total_cmp);
        let scale = MEDIAN_COST / distances.get(distances.len() / 2).copied().unwrap_or(1.0).max(1e-6);
        let mut pairs: Vec<Vec<u32>> = vec![Vec::new(); clips * clips];
        for edge_idx in edges {
            let edge = graph.edge(edge_idx);
            let node = graph.node(edge.from);
            let from = self.at(node.clip, node.frame);
            let after = self.at(edge.clip, edge.last);
            let left = self.clip(from);
            let Some(join) = edge.join else {
                self.onward[left].push((from, edge_idx, after));
                continue;
            };
            let transition = Transition {
                edge: edge_idx,
                from,
                to: self.at(edge.clip, edge.first),
                after,
                align: PlanarMatrix::new(&join.align),
                cost: join.distance * scale,
            };
            let position = self.transitions.len() as u32;
            self.leaving[left].push(position);
            pairs[left * clips + self.clip(after)].push(position);
            self.transitions.push(transition);
        }
        self.onward.iter_mut().for_each(|o| o.sort_by_key(|e| e.0));
        for clip in 0..if nudges.is_some() { clips } else { 0 } {
            for transition in self.nudged(clip, &nudges.copied().unwrap_or_default()) {
                let position = self.transitions.len() as u32;
                self.leaving[clip].push(position);
                pairs[clip * clips + clip].push(position);
                self.transitions.push(transition);
            }
        }
        let transitions = &self.transitions;
        self.leaving.iter_mut().for_each(|l| l.sort_by_key(|s| (transitions[*s as usize].from, *s)));
        self.root_of = vec![0; self.transitions.len()];
        let spread = (CLUSTER * self.fps).max(1.0) as u32;
        for (pair, list) in pairs.iter().enumerate() {
            let leaf = |s: &u32| {
                let transition = &self.transitions[*s as usize];
                Leaf { leaves: transition.from, enters: transition.to, distance: transition.cost }
            };
            let leaves: Vec<Leaf> = list.iter().map(leaf).collect();
            let (order, branches) = clusters(&leaves);
            let mut open: Vec<usize> = if branches.is_empty() { Vec::new() } else { vec![0] };
            while let Some(at) = open.pop() {
                let branch = &branches[at];
                let own = &order[branch.members.start as usize..branch.members.end as usize];
                let wide = |value: fn(&Leaf) -> u32| {
                    let all = || own.iter().map(|i| value(&leaves[*i as usize]));
                    all().max().unwrap_or(0) - all().min().unwrap_or(0)
                };
                match branch.parts {
                    Some(parts) if wide(|l| l.leaves) > spread || wide(|l| l.enters) > spread => {
                        open.extend(parts.iter().rev().map(|p| *p as usize));
                    }
                    _ => {
                        let root = self.members.len() as u32;
                        self.roots[pair].push(list[branch.best as usize]);
                        for i in own {
                            self.root_of[list[*i as usize] as usize] = root;
                        }
                        self.members.push(own.iter().map(|i| list[*i as usize]).collect());
                    }
                }
            }
            let transitions = &self.transitions;
            self.roots[pair].sort_by_key(|s| (transitions[*s as usize].from, *s));
        }
    }

    /// The nudges of a clip: where it continues past a node while it goes somewhere.
    fn nudged(&self, clip: usize, nudges: &Nudges) -> Vec<Transition> {
        let onward = &self.onward[clip];
        let apart = (nudges.apart * self.fps).max(1.0) as u32;
        let mut transitions = Vec::new();
        let mut last: Option<GlobalFrame> = None;
        for &(node, edge, _) in onward {
            let later = onward.iter().map(|o| o.2).find(|next| *next >= node + apart);
            let (Some(after), true) = (later, last.is_none_or(|l| node >= l + apart / 2)) else { continue };
            if self.still[node as usize] && self.still[after as usize] {
                continue;
            }
            last = Some(node);
            let at = self.place[node as usize];
            let (sin, cos) = libm::sincosf(self.turn[node as usize]);
            let ahead = Vec2::new(sin, cos) * nudges.shift;
            let aligns = [(-nudges.turn, Vec2::ZERO), (nudges.turn, Vec2::ZERO), (0.0, ahead), (0.0, -ahead)];
            let nudge = |(turn, shift)| {
                let align = PlanarMatrix::about(at, turn, shift);
                Transition { edge, from: node, to: node, after, align, cost: nudges.cost }
            };
            transitions.extend(aligns.map(nudge));
        }
        transitions
    }

    /// The number of a clip, if anybody walks with it.
    pub fn number(&self, clip: ClipIdx) -> Option<usize> {
        self.number.get(clip.at()).copied().flatten().map(usize::from)
    }

    /// Which clips of the library these are, in order.
    pub fn clip_ids(&self) -> &[ClipIdx] {
        &self.clips
    }

    /// Number of a clip's frame among all frames; 0 if nobody walks with the clip.
    #[inline]
    pub fn at(&self, clip: ClipIdx, frame: FrameIdx) -> GlobalFrame {
        self.number(clip).map_or(0, |number| self.starts[number] + frame.0)
    }

    /// The clip of a frame.
    #[inline]
    pub fn clip(&self, at: GlobalFrame) -> usize {
        self.clip_of[at as usize] as usize
    }

    /// The clip of a frame, and its number in it.
    pub fn frame(&self, at: GlobalFrame) -> (ClipIdx, FrameIdx) {
        let clip = self.clip(at);
        (self.clips[clip], FrameIdx(at - self.starts[clip]))
    }

    /// A clip's first frame.
    #[inline]
    pub(super) fn clip_start(&self, clip: usize) -> GlobalFrame {
        self.starts[clip]
    }

    /// One past a clip's last frame.
    #[inline]
    pub fn clip_end(&self, clip: usize) -> GlobalFrame {
        self.starts[clip + 1]
    }

    /// Number of clips.
    pub fn clips(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of frames of all clips.
    pub fn frames(&self) -> usize {
        self.place.len()
    }

    /// All transitions.
    pub fn transitions(&self) -> &[Transition] {
        &self.transitions
    }

    /// Positions of the transitions that leave a clip, by the frame they leave.
    pub fn leaving(&self, clip: usize) -> &[u32] {
        &self.leaving[clip]
    }

    /// Positions of the root-level transitions from one clip to another, by the frame they leave.
    #[inline]
    pub fn roots(&self, from: usize, to: usize) -> &[u32] {
        &self.roots[from * self.clips() + to]
    }

    /// Number of root-level transitions.
    pub fn root_count(&self) -> usize {
        self.members.len()
    }

    /// Positions of the transitions in the same cluster.
    pub fn cluster(&self, transition: u32) -> &[u32] {
        &self.members[self.root_of[transition as usize] as usize]
    }

    /// Where a clip continues past a node: the node's frame, the edge, the frame where that ends.
    pub fn onward(&self, clip: usize) -> &[(GlobalFrame, EdgeIdx, GlobalFrame)] {
        &self.onward[clip]
    }

    /// Centres of the spheres in a frame, in its clip's frame.
    #[inline]
    pub(super) fn points(&self, at: GlobalFrame) -> &[Vec3] {
        let count = self.radii.len();
        &self.points[at as usize * count..(at as usize + 1) * count]
    }

    /// Positions of the joints in a frame, in its clip's frame.
    pub(super) fn joints(&self, at: GlobalFrame) -> &[Vec3] {
        &self.joints[at as usize * self.joint_count..(at as usize + 1) * self.joint_count]
    }

    /// Whether a path may begin at a frame: whether the graph branches there.
    pub fn begins(&self, at: GlobalFrame) -> bool {
        let clip = self.clip(at);
        let node = |s: &u32| self.transitions[*s as usize].from == at;
        self.onward[clip].iter().any(|o| o.0 == at) || self.leaving[clip].iter().any(node)
    }

    /// Whether each frame shows an action and can be reached: a kind of span, a label, a clip's name, or `stand` for any frame that stands
    /// still.
    pub fn showing(&self, library: &Library, action: &str) -> Vec<bool> {
        let mut shows = vec![false; self.frames()];
        if action == STAND {
            shows.copy_from_slice(&self.still);
        } else {
            let kind = SpanKind::from_name(action);
            for (index, clip) in self.clips.iter().map(|clip| library.clip(*clip)).enumerate() {
                for (frame, show) in
                    shows[self.starts[index] as usize..self.starts[index + 1] as usize].iter_mut().enumerate()
                {
                    let time = frame as f32 / self.fps;
                    let within = |s: &&kumite_motion::Span| s.from <= time && time <= s.to;
                    let named = clip.spans.iter().filter(within).any(|s| Some(s.kind) == kind || s.label == action);
                    *show = named || clip.name == action || action == ANY;
                }
            }
        }
        // A path can reach a clip from its first entry to its last node.
        for clip in 0..self.clips() {
            let first = self.transitions.iter().filter(|s| self.clip(s.to) == clip).map(|s| s.after).min();
            let last = self.onward[clip]
                .iter()
                .map(|o| o.2)
                .chain(self.transitions.iter().filter(|s| self.clip(s.to) == clip).map(|s| s.after))
                .max();
            let range = first.zip(last);
            for at in self.starts[clip]..self.starts[clip + 1] {
                if !range.is_some_and(|(a, b)| (a..=b).contains(&at)) {
                    shows[at as usize] = false;
                }
            }
        }
        shows
    }
}

/// The action of standing still on both feet.
pub const STAND: &str = "stand";
/// Any frame.
pub const ANY: &str = "any";
