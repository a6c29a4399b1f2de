//! Where bodies are along every edge: the body volumes of the dodging paper, at the clips' own rate and with joins included.
//!
//! The paper samples an edge every tenth of a second; a fast dodge moves half a step in that time, and a join moves a body by
//! centimetres. Edges share frames, so one row per frame takes no more memory.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::blend::decay;
use kumite_motion::library::Library;
use kumite_motion::{Contacts, EdgeIdx, FrameIdx, Layer, Pose, Role, Vec2, Vec3, WorldPose, fk, interrupt};

use crate::heights::Heights;

/// Spheres are padded to whole rows of this many.
pub const LANES: usize = 8;

/// Where the joints of the canonical body are.
pub(crate) type Joints = [Vec3; Role::ALL.len()];

/// How the speed of an edge may be changed (§ 4.1 of the paper).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// May be slowed down.
    Fast,
    /// May not be changed.
    Even,
    /// May be sped up.
    Slow,
    /// May be slowed down and sped up.
    Still,
}

impl Pace {
    /// Whether durations may grow.
    pub fn may_slow(self) -> bool {
        matches!(self, Pace::Fast | Pace::Still)
    }

    /// Whether durations may shrink.
    pub fn may_hurry(self) -> bool {
        matches!(self, Pace::Slow | Pace::Still)
    }
}

/// An avoidance or a block inside an edge. Seconds from the edge's first frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DefenceSpan {
    /// Start of the span.
    pub from: f32,
    /// End of the span.
    pub to: f32,
    /// When the body is out of the way, or the guard is up.
    pub active: (f32, f32),
    /// The guarding part of a block.
    pub role: Option<Role>,
    /// Position among the clip's spans.
    pub span: u32,
    /// At which heights an avoidance answers.
    pub heights: Heights,
}

impl DefenceSpan {
    /// Middle of the active window, which is put on the attack's time.
    pub fn centre(&self) -> f32 {
        0.5 * (self.active.0 + self.active.1)
    }
}

/// Centres of all spheres and joints at one moment, one row per coordinate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// x, then y, then z.
    pub values: Vec<f32>,
    width: usize,
}

impl Row {
    /// One centre.
    #[inline]
    pub fn get(&self, j: usize) -> Vec3 {
        Vec3::new(self.values[j], self.values[self.width + j], self.values[2 * self.width + j])
    }

    /// The three coordinates in blocks.
    #[inline]
    pub(crate) fn lanes(&self) -> [&[[f32; LANES]]; 3] {
        let (x, rest) = self.values.split_at(self.width);
        let (y, z) = rest.split_at(self.width);
        [x.as_chunks().0, y.as_chunks().0, z.as_chunks().0]
    }

    /// Moves one centre.
    #[inline]
    pub fn set(&mut self, j: usize, p: Vec3) {
        self.values[j] = p.x;
        self.values[self.width + j] = p.y;
        self.values[2 * self.width + j] = p.z;
    }
}

#[derive(Clone, Debug, PartialEq)]
struct EdgeInfo {
    /// The clip's first frame among all frames.
    frames: u32,
    first: f32,
    fps: f32,
    last: u32,
    seconds: f32,
    align: PlanarMatrix,
    blend: f32,
    join: Option<u32>,
    pace: Pace,
    avoids: (u32, u32),
    blocks: (u32, u32),
}

/// The frames of a clip among the rows.
#[derive(Clone, Copy)]
struct ClipFrames {
    start: u32,
    last: u32,
    fps: f32,
}

/// The spheres of every frame of a library, the joins, and what each edge can defend against.
#[derive(Clone, Debug, PartialEq)]
pub struct Bodies {
    /// Spheres, then the 21 joints with radius 0, then padding far away.
    spheres: usize,
    width: usize,
    radii: Vec<f32>,
    parts: Vec<Role>,
    /// Per frame: x, y, z, each `width` long, in the clip's frame.
    rows: Vec<f32>,
    /// Per frame: where the pelvis is, and how far the surface reaches from it, metres. Settles most tests without touching a row.
    middles: Vec<(Vec3, f32)>,
    /// Per frame: what the body stands on.
    support: Vec<Contacts>,
    /// Per join: the offset and its speed, each laid out like a row.
    joins: Vec<f32>,
    edges: Vec<EdgeInfo>,
    kept: Vec<DefenceSpan>,
    /// Farthest that any surface gets from the pelvis, metres.
    reach: f32,
}

/// Frames within which a moment is half way between two.
const EARLIER: f32 = 1e-2;
/// Quantiles of the edges' speeds below which an edge is still, and slow; the rest are fast. With the printed 0.3 / 0.1 / 0.0 m/s
/// nothing could be sped up: 83 % of fight motion is faster than 0.3 m/s and none is still.
const STILL: f32 = 0.25;
const SLOW: f32 = 0.5;
/// Metres per second, as printed in § 4.1: fast above the first, slow below the second.
const PRINTED: (f32, f32) = (0.3, 0.1);

impl Bodies {
    /// Works out the bodies of a library. `printed_speeds` uses the paper's thresholds of speed.
    pub fn of(library: &Library, printed_speeds: bool) -> Bodies {
        let body = library.spheres();
        let joints = library.skeleton().len();
        let width = (body.len() + joints).div_ceil(LANES) * LANES;
        let mut radii = vec![0.0; width];
        let mut parts = vec![Role::Pelvis; width];
        for (j, sphere) in body.iter().enumerate() {
            radii[j] = sphere.radius;
            parts[j] = sphere.part;
        }
        let (mut rows, mut starts, mut middles, mut support) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        let mut reach = 0.0f32;
        for clip in library.clips() {
            starts.push((rows.len() / (3 * width)) as u32);
            for frame in 0..clip.frames() as u32 {
                support.push(interrupt::support(clip, FrameIdx(frame)));
                clip.pose(FrameIdx(frame), &mut pose);
                fk::pose(clip.skeleton(), &pose, &mut world);
                let at = rows.len();
                rows.resize(at + 3 * width, 1e6);
                let mut put = |j: usize, p: Vec3| {
                    rows[at + j] = p.x;
                    rows[at + width + j] = p.y;
                    rows[at + 2 * width + j] = p.z;
                };
                let mut extent = 0.0f32;
                for (j, sphere) in body.iter().enumerate() {
                    let p = world.point(sphere.joint, sphere.offset);
                    extent = extent.max((p - pose.root()).length() + sphere.radius);
                    put(j, p);
                }
                reach = reach.max(extent);
                middles.push((world.positions[0], extent));
                for (j, p) in world.positions.iter().enumerate() {
                    put(body.len() + j, *p);
                }
            }
        }
        let mut bodies = Bodies {
            spheres: body.len(),
            width,
            radii,
            parts,
            rows,
            middles,
            support,
            joins: Vec::new(),
            edges: Vec::new(),
            kept: Vec::new(),
            reach: reach + 0.1,
        };
        bodies.add_edges(library, &starts);
        bodies.set_heights();
        bodies.set_paces(library, printed_speeds);
        bodies
    }

    fn add_edges(&mut self, library: &Library, starts: &[u32]) {
        let graph = library.graph();
        for (index, edge) in graph.edges().iter().enumerate() {
            let clip = library.clip(edge.clip);
            let first = edge.first.0 as f32 / clip.fps();
            let mut info = EdgeInfo {
                frames: starts[edge.clip.at()],
                first,
                fps: clip.fps(),
                last: clip.frames() as u32 - 1,
                seconds: edge.seconds,
                align: PlanarMatrix::IDENTITY,
                blend: 0.0,
                join: None,
                pace: Pace::Even,
                avoids: (0, 0),
                blocks: (0, 0),
            };
            if let Some(join) = &edge.join {
                info.align = PlanarMatrix::new(&join.align);
                info.blend = join.blend;
                // Walkers have tens of thousands, and play a handful: theirs are worked out when they are laid out.
                if join.blend > 0.0 && edge.layer == Layer::Fight {
                    let node = graph.node(edge.from);
                    let left = library.clip(node.clip);
                    let old =
                        ClipFrames { start: starts[node.clip.at()], last: left.frames() as u32 - 1, fps: left.fps() };
                    let new = ClipFrames { start: info.frames, last: info.last, fps: info.fps };
                    info.join = Some((self.joins.len() / (6 * self.width)) as u32);
                    let mut joins = std::mem::take(&mut self.joins);
                    self.push_join((old, node.frame.0), (new, edge.first.0), &info.align, &mut joins);
                    self.joins = joins;
                }
            }
            let kinds = [kumite_motion::SpanKind::Avoid, kumite_motion::SpanKind::Block];
            let mut ranges = [(0, 0); 2];
            for (range, kind) in ranges.iter_mut().zip(kinds) {
                range.0 = self.kept.len() as u32;
                for within in graph.spans(EdgeIdx(index as u32)) {
                    let span = &clip.spans[within.span as usize];
                    // A block may lack its return to guard, but its active window must be in the edge.
                    let (from, to) = span.active.unwrap_or((span.from, span.to));
                    let active = (from - first, to - first);
                    let in_edge = active.0 >= 0.0 && active.1 <= edge.seconds + 1e-3;
                    let whole = within.whole || (kind == kumite_motion::SpanKind::Block && in_edge);
                    if span.kind == kind && whole {
                        let (from, to) = ((span.from - first).max(0.0), (span.to - first).min(edge.seconds));
                        self.kept.push(DefenceSpan {
                            from,
                            to,
                            active,
                            role: span.part,
                            span: within.span,
                            heights: Heights::default(),
                        });
                    }
                }
                range.1 = self.kept.len() as u32;
            }
            (info.avoids, info.blocks) = (ranges[0], ranges[1]);
            self.edges.push(info);
        }
    }

    /// A join entered from a pose at natural speed: offset and its speed, in the frame of the entered clip.
    fn push_join(&self, old: (ClipFrames, u32), new: (ClipFrames, u32), align: &PlanarMatrix, out: &mut Vec<f32>) {
        // Coordinate by coordinate, so that the compiler takes several centres at a time.
        let width = self.width;
        let row = |clip: ClipFrames, frame: u32| {
            let (x, rest) = self.rows[(clip.start + frame) as usize * 3 * width..][..3 * width].split_at(width);
            let (y, z) = rest.split_at(width);
            [x, y, z]
        };
        let around = |(clip, frame): (ClipFrames, u32)| {
            let (a, b) = (frame.saturating_sub(1), (frame + 1).min(clip.last));
            (row(clip, frame), row(clip, a), row(clip, b), clip.fps / (b - a).max(1) as f32)
        };
        let ((old, old_a, old_b, old_rate), (new, new_a, new_b, new_rate)) = (around(old), around(new));
        let at = out.len();
        out.resize(at + 6 * width, 0.0);
        let mut lanes = out[at..].chunks_exact_mut(width);
        let mut lane = || lanes.next().unwrap_or_default();
        let [ox, oy, oz, sx, sy, sz] = [lane(), lane(), lane(), lane(), lane(), lane()];
        for j in 0..width {
            let point = |row: [&[f32]; 3]| Vec3::new(row[0][j], row[1][j], row[2][j]);
            let offset = align.point_back(point(old)) - point(new);
            let left = (point(old_b) - point(old_a)) * old_rate;
            let speed = align.rotate_back(left) - (point(new_b) - point(new_a)) * new_rate;
            (ox[j], oy[j], oz[j]) = (offset.x, offset.y, offset.z);
            (sx[j], sy[j], sz[j]) = (speed.x, speed.y, speed.z);
        }
    }

    /// Adds the join from one edge, left after so many seconds, into another, to the nearest frame of each.
    pub(crate) fn add_join(
        &self,
        left: (EdgeIdx, f32),
        entered: (EdgeIdx, f32),
        align: &PlanarMatrix,
        out: &mut Vec<f32>,
    ) {
        let at = |(edge, seconds): (EdgeIdx, f32)| {
            let info = &self.edges[edge.at()];
            (ClipFrames { start: info.frames, last: info.last, fps: info.fps }, self.frame_at(edge, seconds))
        };
        self.push_join(at(left), at(entered), align, out);
    }

    /// The join of the graph with which an edge begins, if there is one and it is kept.
    #[inline]
    pub(crate) fn join(&self, edge: EdgeIdx) -> Option<&[f32]> {
        let join = self.edges[edge.at()].join? as usize;
        Some(&self.joins[join * 6 * self.width..][..6 * self.width])
    }

    fn set_heights(&mut self) {
        for edge in (0..self.edges.len() as u32).map(EdgeIdx) {
            let (first, last) = self.edges[edge.at()].avoids;
            for at in first as usize..last as usize {
                let DefenceSpan { from, active, .. } = self.kept[at];
                self.kept[at].heights = Heights::of(self, edge, from, active);
            }
        }
    }

    fn set_paces(&mut self, library: &Library, printed: bool) {
        // End effectors: hands and feet, as joints.
        let ends = [Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle];
        let ends = ends.map(|role| self.spheres + role.joint().at());
        let fastest: Vec<f32> = library
            .graph()
            .edges()
            .iter()
            .zip(&self.edges)
            .map(|(edge, info)| {
                let frames = (edge.first.0..edge.last.0).flat_map(|f| ends.map(|j| (f, j)));
                let step = |(f, j): (u32, usize)| {
                    (self.frame((info.frames + f + 1) as usize, j) - self.frame((info.frames + f) as usize, j)).length()
                };
                frames.map(step).fold(0.0, f32::max) * info.fps
            })
            .collect();
        let fights = fastest.iter().zip(library.graph().edges()).filter(|(_, edge)| edge.layer == Layer::Fight);
        let mut sorted: Vec<f32> = fights.map(|(speed, _)| *speed).collect();
        sorted.sort_by(f32::total_cmp);
        let at = |share: f32| sorted.get((sorted.len() as f32 * share) as usize).copied().unwrap_or(0.0);
        let (still, slow, fast) = if printed { (0.0, PRINTED.1, PRINTED.0) } else { (at(STILL), at(SLOW), at(SLOW)) };
        for (info, v) in self.edges.iter_mut().zip(fastest) {
            info.pace = if v < still {
                Pace::Still
            } else if v < slow {
                Pace::Slow
            } else if v > fast {
                Pace::Fast
            } else {
                Pace::Even
            };
        }
    }

    #[inline]
    fn frame(&self, frame: usize, j: usize) -> Vec3 {
        let at = frame * 3 * self.width + j;
        Vec3::new(self.rows[at], self.rows[at + self.width], self.rows[at + 2 * self.width])
    }

    /// Number of edges.
    pub fn edges(&self) -> usize {
        self.edges.len()
    }

    /// Number of spheres.
    pub fn spheres(&self) -> usize {
        self.spheres
    }

    /// Number of centres in a [`Row`]: spheres, then joints.
    pub fn centres(&self) -> usize {
        self.spheres + Role::ALL.len().min(self.width - self.spheres)
    }

    /// Radius of a sphere.
    #[inline]
    pub fn radius(&self, j: usize) -> f32 {
        self.radii[j]
    }

    /// Which part of the body a sphere belongs to.
    pub fn part(&self, j: usize) -> Role {
        self.parts[j]
    }

    /// The spheres of a part.
    pub fn of_part(&self, part: Role) -> impl Iterator<Item = usize> + '_ {
        (0..self.spheres).filter(move |&j| self.parts[j] == part)
    }

    /// Position of a joint among the centres of a [`Row`].
    pub fn joint(&self, role: Role) -> usize {
        self.spheres + role.joint().at()
    }

    /// How far the body reaches from its pelvis, metres.
    pub fn reach(&self) -> f32 {
        self.reach
    }

    /// Duration of an edge.
    #[inline]
    pub fn seconds(&self, edge: EdgeIdx) -> f32 {
        self.edges[edge.at()].seconds
    }

    /// How its speed may be changed.
    #[inline]
    pub fn pace(&self, edge: EdgeIdx) -> Pace {
        self.edges[edge.at()].pace
    }

    /// Lays the edge's clip over the clip of the edge before.
    #[inline]
    pub fn align(&self, edge: EdgeIdx) -> &PlanarMatrix {
        &self.edges[edge.at()].align
    }

    /// Whether it begins with a join, instead of simply continuing its clip.
    #[inline]
    pub fn has_join(&self, edge: EdgeIdx) -> bool {
        self.edges[edge.at()].blend > 0.0
    }

    /// How long its join takes, seconds; 0 without one.
    #[inline]
    pub fn blend(&self, edge: EdgeIdx) -> f32 {
        self.edges[edge.at()].blend
    }

    /// Avoidances that lie entirely in an edge.
    pub fn avoids(&self, edge: EdgeIdx) -> &[DefenceSpan] {
        let (a, b) = self.edges[edge.at()].avoids;
        &self.kept[a as usize..b as usize]
    }

    /// Blocks whose active window lies in an edge.
    pub fn blocks(&self, edge: EdgeIdx) -> &[DefenceSpan] {
        let (a, b) = self.edges[edge.at()].blocks;
        &self.kept[a as usize..b as usize]
    }

    /// Whether the library has any avoidance or block.
    pub fn can_defend(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Memory used, bytes.
    pub fn bytes(&self) -> usize {
        4 * (self.rows.len() + self.joins.len() + 4 * self.middles.len())
            + self.support.len()
            + self.edges.len() * size_of::<EdgeInfo>()
    }

    /// A row to sample into.
    pub fn row(&self) -> Row {
        Row { values: vec![1e6; 3 * self.width], width: self.width }
    }

    /// Number of centres per coordinate, padding included.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All centres `seconds` into an edge, in the frame of its clip, without any join.
    pub fn sample(&self, edge: EdgeIdx, seconds: f32, out: &mut Row) {
        let info = &self.edges[edge.at()];
        let at = ((info.first + seconds) * info.fps).clamp(0.0, info.last as f32);
        let a = (at as u32).min(info.last);
        let b = (a + 1).min(info.last);
        let t = at - a as f32;
        let length = 3 * self.width;
        let a = &self.rows[(info.frames + a) as usize * length..][..length];
        let b = &self.rows[(info.frames + b) as usize * length..][..length];
        let out = &mut out.values[..length];
        for k in 0..length {
            out[k] = a[k] + (b[k] - a[k]) * t;
        }
    }

    /// [`Bodies::sample`] with the join of the graph, entered at natural speed.
    pub fn sample_joined(&self, edge: EdgeIdx, seconds: f32, out: &mut Row) {
        self.sample(edge, seconds, out);
        if let Some(join) = self.join(edge) {
            self.add_join_offsets(join, self.blend(edge), seconds, 1.0, out);
        }
    }

    /// Adds what is left of a join of `blend` seconds that began `joined` stage seconds ago, when the clip ran at `rate` of its natural speed.
    pub(crate) fn add_join_offsets(&self, join: &[f32], blend: f32, joined: f32, rate: f32, out: &mut Row) {
        if joined >= blend {
            return;
        }
        // The weights with which the stage joins rotations. Joins move a body by centimetres, and on positions the same weights give the
        // same to millimetres.
        let (keep, drift) = decay(joined, blend);
        let drift = drift * rate;
        let length = 3 * self.width;
        let (offset, speed) = join.split_at(length);
        let (out, speed) = (&mut out.values[..length], &speed[..length]);
        for k in 0..length {
            out[k] = out[k] + offset[k] * keep + speed[k] * drift;
        }
    }

    /// The frame of an edge's clip that is shown `seconds` into it: the nearest, the earlier of two. Ticks often fall between two.
    #[inline]
    pub fn frame_at(&self, edge: EdgeIdx, seconds: f32) -> u32 {
        let info = &self.edges[edge.at()];
        ((info.first + seconds) * info.fps - EARLIER).round().clamp(0.0, info.last as f32) as u32
    }

    /// What the body stands on in the nearest frame.
    pub(crate) fn support(&self, edge: EdgeIdx, seconds: f32) -> Contacts {
        self.support[(self.edges[edge.at()].frames + self.frame_at(edge, seconds)) as usize]
    }

    /// Where the joints are in the nearest frame, and what the body stands on.
    pub(crate) fn stance(&self, edge: EdgeIdx, seconds: f32) -> (Joints, Contacts) {
        let at = (self.edges[edge.at()].frames + self.frame_at(edge, seconds)) as usize;
        (std::array::from_fn(|joint| self.frame(at, self.spheres + joint)), self.support[at])
    }

    /// The joints of a row.
    pub(crate) fn joints(&self, row: &Row) -> Joints {
        std::array::from_fn(|joint| row.get(self.spheres + joint))
    }

    /// How fast the pelvis moves along the ground, metres per second, over a tenth of a second.
    pub(crate) fn speed(&self, edge: EdgeIdx, seconds: f32) -> Vec2 {
        let went = self.pelvis(edge, seconds + 0.05) - self.pelvis(edge, seconds - 0.05);
        Vec2::new(went.x, went.z) * 10.0
    }

    /// Where the pelvis is, in the frame of the clip.
    #[inline]
    pub fn pelvis(&self, edge: EdgeIdx, seconds: f32) -> Vec3 {
        self.middle(edge, seconds).0
    }

    /// Where the pelvis is, and how far the body reaches from it, metres.
    #[inline]
    pub(crate) fn middle(&self, edge: EdgeIdx, seconds: f32) -> (Vec3, f32) {
        let info = &self.edges[edge.at()];
        let frame = ((info.first + seconds) * info.fps).clamp(0.0, info.last as f32) as u32;
        self.middles[(info.frames + frame) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::{BLEND, CLIPS, FPS, LAST, edge, library, standing_edge};
    use kumite_motion::NodeIdx;
    use proptest::prelude::*;

    /// The world pose of a clip of the library between two frames, as the renderer would interpolate centres.
    fn centres(library: &Library, clip: usize, seconds: f32) -> Vec<Vec3> {
        let clip = &library.clips()[clip];
        let at = |frame: u32| {
            let (mut pose, mut world) = (Pose::default(), WorldPose::default());
            clip.pose(FrameIdx(frame.min(LAST)), &mut pose);
            fk::pose(clip.skeleton(), &pose, &mut world);
            let spheres = library.spheres().iter().map(|s| world.point(s.joint, s.offset));
            spheres.chain(world.positions.iter().copied()).collect::<Vec<_>>()
        };
        let frame = (seconds * FPS).floor();
        let (a, b) = (at(frame as u32), at(frame as u32 + 1));
        a.iter().zip(&b).map(|(a, b)| a.lerp(*b, seconds * FPS - frame)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

        /// Once the join is over a row is the forward kinematics of the clip.
        #[test]
        fn rows_are_the_forward_kinematics_of_the_clip(clip in 0usize..CLIPS.len(), share in 0.0f32..1.0) {
            let library = library();
            let bodies = Bodies::of(&library, false);
            let edge = edge(&library, NodeIdx(1), CLIPS[clip]);
            let seconds = share * bodies.seconds(edge);
            let mut row = bodies.row();
            bodies.sample(edge, seconds, &mut row);
            for (j, truth) in centres(&library, clip, seconds).into_iter().enumerate() {
                prop_assert!((row.get(j) - truth).length() < 1e-4, "{j}: {} and {truth}", row.get(j));
            }
        }
    }

    /// A join begins with the pose that was left, in the place where it was left, and moves on as fast as that did.
    #[test]
    fn a_join_begins_where_the_last_clip_ended() {
        let library = library();
        let bodies = Bodies::of(&library, false);
        // From the end of the crouch into standing: half a metre up.
        let crouched = NodeIdx(1 + CLIPS.iter().position(|c| *c == "crouch").unwrap() as u32);
        let edge = edge(&library, crouched, "stand");
        let mut row = bodies.row();
        bodies.sample_joined(edge, 0.0, &mut row);
        for (j, truth) in centres(&library, 3, 1.0).into_iter().enumerate() {
            assert!((row.get(j) - truth).length() < 1e-4);
        }
        let height = |joined: f32, row: &mut Row| {
            bodies.sample_joined(edge, joined, row);
            row.get(bodies.joint(Role::Pelvis)).y
        };
        // Half-way the quintic has kept half of the offset; at the end nothing.
        let (low, half, high) = (height(0.0, &mut row), height(0.5 * BLEND, &mut row), height(BLEND, &mut row));
        assert!((half - 0.5 * (low + high)).abs() < 1e-4, "{low} {half} {high}");
        assert!((high - low - 0.5).abs() < 1e-4);
    }

    #[test]
    fn edges_know_their_defences_and_how_they_are_entered() {
        let library = library();
        let bodies = Bodies::of(&library, false);
        let [stand, sidestep, guard] = ["stand", "sidestep", "guard"].map(|name| edge(&library, NodeIdx(0), name));
        assert!(bodies.avoids(stand).is_empty() && bodies.blocks(stand).is_empty());
        let avoid = bodies.avoids(sidestep)[0];
        assert_eq!((avoid.from, avoid.to, avoid.active, avoid.span), (0.2, 0.8, (0.5, 0.8), 0));
        assert!((avoid.centre() - 0.65).abs() < 1e-6);
        assert_eq!(bodies.blocks(guard)[0].role, Some(Role::LeftWrist));
        assert!(bodies.has_join(sidestep));
        let goes_on = library.graph().leaving(NodeIdx(0), Layer::Fight).next().unwrap();
        assert!(!bodies.has_join(goes_on), "the clip simply goes on");
        // Standing does not move: still, so that it may be played slower and faster.
        assert!(bodies.pace(stand).may_slow() || bodies.pace(stand).may_hurry());
        assert!(bodies.pace(standing_edge(&library)) == bodies.pace(stand));
    }

    /// Nothing of a body is farther from its pelvis than it is said to reach.
    #[test]
    fn no_surface_is_out_of_reach() {
        let library = library();
        let bodies = Bodies::of(&library, false);
        let mut row = bodies.row();
        for edge in (0..bodies.edges() as u32).map(EdgeIdx) {
            for k in 0..=20 {
                let seconds = bodies.seconds(edge) * k as f32 / 20.0;
                bodies.sample(edge, seconds, &mut row);
                let pelvis = row.get(bodies.joint(Role::Pelvis));
                for j in 0..bodies.spheres() {
                    assert!((row.get(j) - pelvis).length() + bodies.radius(j) <= bodies.reach());
                }
            }
        }
    }
}
