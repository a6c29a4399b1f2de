use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use glam::{DQuat, DVec3};
use kumite_motion::{Clip, FrameIdx, Joint, JointIdx, Pose, Quat, Skeleton, Vec3, rotation};

use super::{GltfAnimation, GltfChannel, GltfFile, GltfNode, Interpolation, Property};
use crate::{ConvertError, Warning};

/// A joint whose keys move it by less than this does not move, metres: exporters write keys for everything.
const STILL: f32 = 2e-6;
/// A key this close to a frame is on it, frames. Times are `f32`, whose last bit after twenty minutes at 120 Hz is a hundredth of
/// a frame.
const OFF_GRID: f64 = 0.02;
/// Usual rates of film, video and capture, in the order they are tried.
const RATES: [f64; 13] = [24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 72.0, 90.0, 100.0, 120.0, 144.0, 200.0, 240.0];
/// Most numbers in all clips of a file: an hour of fifty joints at 120 Hz has fewer.
const MAX_NUMBERS: f64 = 1e8;

/// One skeleton of a file, in metres. The transforms of nodes above it are baked in, so that its joints are where the file shows them.
#[derive(Clone, Debug)]
pub struct GltfSkeleton {
    /// Name of the node above it, or of its first joint.
    pub name: String,
    pub(super) skeleton: Arc<Skeleton>,
    /// The node of each joint.
    pub(super) nodes: Vec<usize>,
    /// The transform of the nodes above the first joint, which never move.
    pub(super) above: Similarity,
    /// Per joint, the factor from its node's translation to metres, by axis.
    pub(super) units: Vec<Vec3>,
}

/// A transform with one scale for all axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Similarity {
    pub(super) scale: f64,
    pub(super) turn: DQuat,
    pub(super) at: DVec3,
}

impl Similarity {
    const NONE: Similarity = Similarity { scale: 1.0, turn: DQuat::IDENTITY, at: DVec3::ZERO };

    fn point(self, inside: Vec3) -> Vec3 {
        (self.at + self.turn * (inside.as_dvec3() * self.scale)).as_vec3()
    }

    fn child(self, node: &GltfNode) -> Similarity {
        Similarity {
            scale: self.scale * mean_scale(node),
            turn: self.turn * node.rotation.as_dquat(),
            at: self.at + self.turn * (node.translation.as_dvec3() * self.scale),
        }
    }
}

fn mean_scale(node: &GltfNode) -> f64 {
    let scale = node.scale.as_dvec3();
    libm::cbrt(scale.x * scale.y * scale.z)
}

impl GltfSkeleton {
    /// Its joints, parents first. glTF's axes are kumite's.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }
}

impl GltfFile {
    /// The skeletons in the file. Skins that share joints, or whose joints hang on each other's, make one skeleton; without skins, the
    /// animated nodes of each tree do.
    pub fn skeletons(&self) -> Result<(Vec<GltfSkeleton>, Vec<Warning>), ConvertError> {
        let tree = NodeTrees::of(self);
        let mut warnings = Vec::new();
        let skeletons = tree
            .groups()
            .iter()
            .map(|group| self.skeleton_of(&tree, group, &mut warnings))
            .collect::<Result<_, _>>()?;
        Ok((skeletons, warnings))
    }

    /// One clip per animation and skeleton that it moves, sampled at the rate of its keys.
    pub fn to_clips(&self) -> Result<(Vec<Clip>, Vec<Warning>), ConvertError> {
        let (skeletons, mut warnings) = self.skeletons()?;
        let mut clips = Vec::new();
        let mut numbers = 0.0;
        for animation in &self.animations {
            let mut tracks: HashMap<(usize, bool), &GltfChannel> = HashMap::new();
            for channel in &animation.channels {
                match channel.property {
                    Property::Translation => drop(tracks.insert((channel.node, false), channel)),
                    Property::Rotation => drop(tracks.insert((channel.node, true), channel)),
                    Property::Scale => self.check_scale(animation, channel, &mut warnings),
                }
            }
            let moved = |c: &&GltfSkeleton| {
                c.nodes.iter().any(|&n| tracks.contains_key(&(n, false)) || tracks.contains_key(&(n, true)))
            };
            let moved: Vec<&GltfSkeleton> = skeletons.iter().filter(moved).collect();
            if moved.is_empty() {
                continue;
            }
            // All skeletons share one start, so that one that begins to move later still does.
            let start = tracks.values().map(|c| c.times[0]).fold(f32::MAX, f32::min);
            for moving in &moved {
                let own = moving.nodes.iter().flat_map(|&n| [tracks.get(&(n, false)), tracks.get(&(n, true))]);
                let grid = FrameGrid::of(&animation.name, own.flatten().map(|c| &c.times), start, &mut warnings);
                let name = if moved.len() == 1 {
                    animation.name.clone()
                } else {
                    format!("{} {}", moving.name, animation.name)
                };
                clips.push(self.clip(moving, &name, &tracks, grid, &mut numbers)?);
            }
        }
        Ok((clips, warnings))
    }

    fn clip(
        &self,
        moving: &GltfSkeleton,
        name: &str,
        tracks: &HashMap<(usize, bool), &GltfChannel>,
        grid: FrameGrid,
        numbers: &mut f64,
    ) -> Result<Clip, ConvertError> {
        let skeleton = &moving.skeleton;
        *numbers += grid.frames * (skeleton.len() as f64 * 4.0 + skeleton.movers().len() as f64 * 3.0);
        if *numbers > MAX_NUMBERS {
            return Err(ConvertError::TooLong { frames: grid.frames, joints: skeleton.len() });
        }
        let track = |node: usize, turn: bool| tracks.get(&(node, turn)).map(|c| Sampler { channel: c, key: 0 });
        let mut turns: Vec<_> = moving.nodes.iter().map(|&n| track(n, true)).collect();
        let mut moves: Vec<_> =
            skeleton.movers().iter().map(|&j| (j.at(), track(moving.nodes[j.at()], false))).collect();
        let fill = |frame: usize, pose: &mut Pose| {
            let time = grid.start + frame as f64 / grid.fps;
            for (j, (rotation, track)) in pose.rotations.iter_mut().zip(&mut turns).enumerate() {
                *rotation = match track {
                    Some(track) => Quat::from_array(track.sample(time, grid.fps)),
                    None => self.nodes[moving.nodes[j]].rotation,
                };
                if j == 0 {
                    *rotation = (moving.above.turn * rotation.normalize().as_dquat()).as_quat();
                }
            }
            for (place, (j, track)) in pose.translations.iter_mut().zip(&mut moves) {
                let node = match track {
                    Some(track) => Vec3::from_slice(&track.sample(time, grid.fps)),
                    None => self.nodes[moving.nodes[*j]].translation,
                };
                *place = moving.joint_translation(*j, node);
            }
        };
        let fps = grid.fps as f32;
        Ok(Clip::from_fn(name, Arc::clone(skeleton), fps, grid.frames as usize, fill)?)
    }

    fn skeleton_of(
        &self,
        tree: &NodeTrees<'_>,
        group: &[usize],
        warnings: &mut Vec<Warning>,
    ) -> Result<GltfSkeleton, ConvertError> {
        // In depth-first order a node above the first and the last is above all those between.
        let shared = tree.common_ancestor(group[0], group[group.len() - 1]);
        let top = tree.top_animated[shared].unwrap_or(shared);
        let mut inside = HashSet::new();
        for &member in group {
            let mut node = member;
            while inside.insert(node)
                && node != top
                && let Some(parent) = self.nodes[node].parent
            {
                node = parent;
            }
        }
        let mut nodes: Vec<usize> = inside.iter().copied().collect();
        nodes.sort_by_key(|&node| tree.rank[node]);
        let mut above = Similarity::NONE;
        for node in tree.ancestors(top) {
            self.check_node(node, warnings)?;
            above = above.child(&self.nodes[node]);
        }
        let joint_of: HashMap<usize, usize> = nodes.iter().enumerate().map(|(joint, &node)| (node, joint)).collect();
        let mut units = Vec::with_capacity(nodes.len());
        // Product of the scales of a joint and of all nodes above it.
        let mut scales: Vec<f64> = Vec::new();
        let mut joints: Vec<Joint> = Vec::new();
        for (j, &index) in nodes.iter().enumerate() {
            self.check_node(index, warnings)?;
            let node = &self.nodes[index];
            let parent = node.parent.and_then(|p| joint_of.get(&p)).filter(|_| j > 0).copied();
            let (outer, unit) = match parent {
                None => (above.scale, Vec3::ONE),
                Some(parent) => {
                    let above_parent = scales[parent] / mean_scale(&self.nodes[nodes[parent]]).max(1e-30);
                    (scales[parent], (self.nodes[nodes[parent]].scale.as_dvec3() * above_parent).as_vec3())
                }
            };
            scales.push(outer * mean_scale(node));
            units.push(unit);
            let rest = if j == 0 { (above.turn * node.rotation.as_dquat()).as_quat() } else { node.rotation };
            joints.push(Joint {
                name: node.name.clone(),
                parent: parent.map(|p| JointIdx(p as u16)),
                offset: if j == 0 { above.point(node.translation) } else { node.translation * unit },
                rest,
                tip: node.tip.map(|tip| tip * scales[j] as f32),
                moves: (tree.moves[index] * unit).abs().max_element() > STILL,
            });
        }
        let name = self.nodes[self.nodes[top].parent.unwrap_or(top)].name.clone();
        Ok(GltfSkeleton { name, skeleton: Arc::new(Skeleton::new(&joints)?), nodes, above, units })
    }

    fn check_node(&self, index: usize, warnings: &mut Vec<Warning>) -> Result<(), ConvertError> {
        let node = &self.nodes[index];
        let scale = node.scale;
        if mean_scale(node) <= 0.0 {
            return Err(ConvertError::BadScale { node: node.name.clone(), scale: scale.to_array() });
        }
        if scale.max_element() - scale.min_element() > 1e-3 * scale.max_element() {
            let text = format!(
                "node {:?} is scaled by {} x {} x {}; what hangs on it is placed as if by {:.4} all round",
                node.name,
                scale.x,
                scale.y,
                scale.z,
                mean_scale(node)
            );
            warnings.push(Warning { line: None, text });
        }
        Ok(())
    }

    fn check_scale(&self, animation: &GltfAnimation, channel: &GltfChannel, warnings: &mut Vec<Warning>) {
        let node = &self.nodes[channel.node];
        let spline = channel.interpolation == Interpolation::CubicSpline;
        let keys = channel.values.chunks_exact(3).skip(usize::from(spline)).step_by(if spline { 3 } else { 1 });
        let off = |key: &[f32]| (Vec3::from_slice(key) - node.scale).abs().max_element();
        if keys.map(off).fold(0.0, f32::max) > 1e-3 * node.scale.abs().max_element() {
            let text = format!("animation {:?} changes the scale of node {:?}; ignored", animation.name, node.name);
            warnings.push(Warning { line: None, text });
        }
    }
}

/// The clip without its root bone, whose motion is given to its only child. Engines and [`write_glb`](super::write_glb) put such
/// a bone on the ground. `None` if the clip has none: if the first joint is not called a root and its child does not move.
pub fn without_root_bone(clip: &Clip) -> Option<Clip> {
    let skeleton = clip.skeleton();
    let joints = skeleton.to_joints();
    let [root, pelvis, ..] = &joints[..] else { return None };
    let only_child = skeleton.children(JointIdx::ROOT).eq([JointIdx(1)]);
    let called_root = root.name.to_ascii_lowercase().contains("root");
    if !only_child || root.tip.is_some() || !(pelvis.moves || called_root) {
        return None;
    }
    let mut folded = joints[1..].to_vec();
    for joint in &mut folded {
        joint.parent = joint.parent.and_then(|p| p.0.checked_sub(1)).map(JointIdx);
    }
    folded[0] = Joint {
        parent: None,
        offset: root.offset + root.rest * pelvis.offset,
        rest: (root.rest * pelvis.rest).normalize(),
        ..pelvis.clone()
    };
    let skeleton = Arc::new(Skeleton::new(&folded).ok()?);
    let mut all = Pose::default();
    Clip::from_fn(&clip.name, skeleton, clip.fps(), clip.frames(), |frame, pose| {
        clip.pose(FrameIdx(frame as u32), &mut all);
        let (at, turn) = (all.translations[0], all.rotations[0]);
        let (inside, others) = if pelvis.moves {
            (all.translations[1], &all.translations[2..])
        } else {
            (pelvis.offset, &all.translations[1..])
        };
        pose.translations.clear();
        pose.translations.push(at + turn * inside);
        pose.translations.extend(others);
        pose.rotations.clear();
        pose.rotations.extend(&all.rotations[1..]);
        pose.rotations[0] = turn * pose.rotations[0];
    })
    .ok()
}

impl GltfSkeleton {
    /// Where a joint is in its parent, metres, from the translation of its node.
    fn joint_translation(&self, joint: usize, node: Vec3) -> Vec3 {
        if joint > 0 {
            return node * self.units[joint];
        }
        self.above.point(node)
    }

    /// The inverse of `joint_translation`.
    pub(super) fn node_translation(&self, joint: usize, place: Vec3) -> Vec3 {
        if joint > 0 {
            return place / self.units[joint];
        }
        let Similarity { scale, turn, at } = self.above;
        (turn.conjugate() * (place.as_dvec3() - at) / scale).as_vec3()
    }

    /// The rotation of a node, from that of its joint.
    pub(super) fn node_rotation(&self, joint: usize, turn: Quat) -> Quat {
        if joint > 0 {
            return turn;
        }
        (self.above.turn.conjugate() * turn.as_dquat()).as_quat()
    }
}

/// The trees of nodes, with what is asked of them repeatedly.
struct NodeTrees<'a> {
    file: &'a GltfFile,
    /// Place in depth-first order.
    rank: Vec<usize>,
    depth: Vec<usize>,
    /// The topmost animated node among a node and those above it.
    top_animated: Vec<Option<usize>>,
    /// Largest distance of a node's keys from its rest, per axis.
    moves: Vec<Vec3>,
    /// All nodes in depth-first order.
    order: Vec<usize>,
}

impl<'a> NodeTrees<'a> {
    fn of(file: &'a GltfFile) -> NodeTrees<'a> {
        let count = file.nodes.len();
        let mut moves = vec![Vec3::ZERO; count];
        let mut animated = vec![false; count];
        for channel in file.animations.iter().flat_map(|a| &a.channels) {
            animated[channel.node] |= channel.property != Property::Scale;
            if channel.property == Property::Translation {
                let spline = channel.interpolation == Interpolation::CubicSpline;
                let rest = file.nodes[channel.node].translation;
                let far = &mut moves[channel.node];
                for (i, key) in channel.values.chunks_exact(3).enumerate() {
                    let tangent = spline && i % 3 != 1;
                    let key = Vec3::from_slice(key);
                    *far = far.max(if tangent { key.abs() } else { (key - rest).abs() });
                }
            }
        }
        let mut tree = NodeTrees {
            file,
            rank: vec![0; count],
            depth: vec![0; count],
            top_animated: vec![None; count],
            moves,
            order: Vec::with_capacity(count),
        };
        let mut open: Vec<usize> = (0..count).rev().filter(|&i| file.nodes[i].parent.is_none()).collect();
        while let Some(node) = open.pop() {
            tree.rank[node] = tree.order.len();
            tree.order.push(node);
            tree.top_animated[node] = animated[node].then_some(node);
            if let Some(parent) = file.nodes[node].parent {
                tree.depth[node] = tree.depth[parent] + 1;
                tree.top_animated[node] = tree.top_animated[parent].or(tree.top_animated[node]);
            }
            open.extend(file.nodes[node].children.iter().rev());
        }
        tree
    }

    /// The joints of each skeleton, depth first. No group is empty.
    fn groups(&self) -> Vec<Vec<usize>> {
        let nodes = &self.file.nodes;
        let mut member = vec![false; nodes.len()];
        let mut union = UnionFind((0..nodes.len()).collect());
        for skin in &self.file.skins {
            for &joint in &skin.joints {
                member[joint] = true;
                union.join(skin.joints[0], joint);
            }
        }
        let skinless = self.file.skins.is_empty();
        if skinless {
            for channel in self.file.animations.iter().flat_map(|a| &a.channels) {
                member[channel.node] |= channel.property != Property::Scale;
            }
        }
        // The nearest joint above each node; without skins, the root of its tree.
        let mut nearest: Vec<Option<usize>> = vec![None; nodes.len()];
        for &node in &self.order {
            nearest[node] = nodes[node].parent.and_then(|p| if member[p] { Some(p) } else { nearest[p] });
            if skinless {
                nearest[node] = Some(nodes[node].parent.and_then(|p| nearest[p]).unwrap_or(node));
            }
            if member[node]
                && let Some(above) = nearest[node]
            {
                union.join(above, node);
            }
        }
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut group_of: HashMap<usize, usize> = HashMap::new();
        for &node in self.order.iter().filter(|&&n| member[n]) {
            let group = *group_of.entry(union.find(node)).or_insert(groups.len());
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push(node);
        }
        groups
    }

    /// The lowest node that is or is above each of two; the first one's root if they are in different trees.
    fn common_ancestor(&self, a: usize, b: usize) -> usize {
        let (mut x, mut y) = (a, b);
        let up = |node: usize| self.file.nodes[node].parent;
        while x != y {
            let deeper = if self.depth[x] >= self.depth[y] { &mut x } else { &mut y };
            match up(*deeper) {
                Some(parent) => *deeper = parent,
                None => return x,
            }
        }
        x
    }

    /// The nodes above a node, from the root down.
    fn ancestors(&self, node: usize) -> Vec<usize> {
        let mut path: Vec<usize> =
            std::iter::successors(self.file.nodes[node].parent, |&n| self.file.nodes[n].parent).collect();
        path.reverse();
        path
    }
}

/// Disjoint sets of nodes.
struct UnionFind(Vec<usize>);

impl UnionFind {
    fn find(&mut self, mut item: usize) -> usize {
        while self.0[item] != item {
            self.0[item] = self.0[self.0[item]];
            item = self.0[item];
        }
        item
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[b] = a;
    }
}

/// The frames at which an animation is sampled.
#[derive(Clone, Copy)]
struct FrameGrid {
    start: f64,
    fps: f64,
    frames: f64,
}

impl FrameGrid {
    fn of<'a>(
        name: &str,
        keys: impl Iterator<Item = &'a Arc<[f32]>>,
        start: f32,
        warnings: &mut Vec<Warning>,
    ) -> FrameGrid {
        let mut seen = HashSet::new();
        let mut times: Vec<f32> = vec![start];
        for keys in keys {
            if seen.insert(keys.as_ptr()) {
                times.extend(keys.iter());
                // Bounds the list where many channels have times of their own.
                if times.len() > 1 << 20 {
                    times.sort_by(f32::total_cmp);
                    times.dedup();
                }
            }
        }
        times.sort_by(f32::total_cmp);
        times.dedup_by(|b, a| *b - *a < 1e-5);
        let (Some(&first), Some(&last)) = (times.first(), times.last()) else {
            return FrameGrid { start: 0.0, fps: 30.0, frames: 1.0 };
        };
        let (start, length) = (f64::from(first), f64::from(last) - f64::from(first));
        let grid = |fps: f64| FrameGrid { start, fps, frames: (length * fps).round() + 1.0 };
        if times.len() == 1 {
            return grid(30.0);
        }
        let on_grid = |fps: f64| {
            times.iter().all(|&t| {
                let frame = (f64::from(t) - start) * fps;
                (frame - frame.round()).abs() < OFF_GRID
            })
        };
        let least = times.windows(2).map(|pair| f64::from(pair[1]) - f64::from(pair[0])).fold(f64::MAX, f64::min);
        // Evenly spaced keys give their own rate first: 23.976 would pass for 24.
        let even = (times.len() - 1) as f64 / length;
        let whole = even.round();
        let even = if (even - whole).abs() < 1e-4 * whole { whole } else { even };
        let own = |fps: f64| Some(fps).filter(|fps| (10.0..=1000.0).contains(fps));
        let least_gaps = [1.0 / least, (1.0 / least).round()].into_iter().filter_map(own);
        if let Some(fps) = own(even).into_iter().chain(RATES).chain(least_gaps).find(|&fps| on_grid(fps)) {
            return grid(fps);
        }
        let fps = [60.0, 120.0].into_iter().find(|&fps| fps * least >= 1.0).unwrap_or(240.0);
        let text = format!("animation {name:?}: its keys are in no regular rhythm; sampled {fps} times a second");
        warnings.push(Warning { line: None, text });
        grid(fps)
    }
}

/// Samples a channel at ascending times.
struct Sampler<'a> {
    channel: &'a GltfChannel,
    /// The last key that is not after the time sampled last.
    key: usize,
}

impl Sampler<'_> {
    /// The value at a time; vectors leave the fourth number unused.
    fn sample(&mut self, time: f64, fps: f64) -> [f32; 4] {
        let GltfChannel { times, interpolation, property, .. } = self.channel;
        // Keys are on their frame but for rounding.
        let slack = OFF_GRID / fps;
        while times.get(self.key + 1).is_some_and(|&t| f64::from(t) <= time + slack) {
            self.key += 1;
        }
        let (from, to) = (f64::from(times[self.key]), times.get(self.key + 1).map(|&t| f64::from(t)));
        let past = time - from;
        let Some(to) = to.filter(|_| past > slack && *interpolation != Interpolation::Step) else {
            return self.value(self.key, 1);
        };
        let length = to - from;
        let t = (past / length) as f32;
        let (a, b) = (self.value(self.key, 1), self.value(self.key + 1, 1));
        if *interpolation == Interpolation::CubicSpline {
            let (out, into, length) = (self.value(self.key, 2), self.value(self.key + 1, 0), length as f32);
            let (tt, ttt) = (t * t, t * t * t);
            return std::array::from_fn(|i| {
                (2.0 * ttt - 3.0 * tt + 1.0) * a[i]
                    + length * (ttt - 2.0 * tt + t) * out[i]
                    + (3.0 * tt - 2.0 * ttt) * b[i]
                    + length * (ttt - tt) * into[i]
            });
        }
        if *property == Property::Rotation {
            let (a, b) = (Quat::from_array(a).normalize(), Quat::from_array(b).normalize());
            return rotation::slerp(a, b, t).to_array();
        }
        std::array::from_fn(|i| a[i] + (b[i] - a[i]) * t)
    }

    /// Part of a key: 0 is a spline's in-tangent, 1 the value, 2 a spline's out-tangent.
    fn value(&self, key: usize, part: usize) -> [f32; 4] {
        let GltfChannel { interpolation, property, values, .. } = self.channel;
        let (parts, part) = if *interpolation == Interpolation::CubicSpline { (3, part) } else { (1, 0) };
        let mut value = [0.0; 4];
        let width = property.width();
        value[..width].copy_from_slice(&values[(key * parts + part) * width..][..width]);
        value
    }
}
