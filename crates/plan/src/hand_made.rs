//! A small library made by hand, for tests: every number in it can be worked out on paper. Uses `kumite_motion` only, so that tests of
//! other crates may include this file.
//!
//! All clips have 60 frames per second, last a second and begin standing at the origin, facing +Z, with hanging arms:
//!
//! | clip | what happens | span |
//! |---|---|---|
//! | `stand` | nothing | |
//! | `sidestep` | all of the body goes 0.5 m along +X from 0.2 to 0.5 s | avoid 0.2-0.8, active 0.5-0.8 |
//! | `leap` | 1.0 m in the same time | the same |
//! | `crouch` | 0.5 m down in the same time | the same |
//! | `guard` | the left hand goes before the chest | block 0.2-0.8, active 0.5-0.8 |
//!
//! `stand` may branch in its middle and at its end, the others at their ends; every clip may follow every other, with a join of 0.2 s.

use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::blend::ease;
use kumite_motion::graph::{ClipIdx, Edge, Join, Layer, Node, SpanRef};
use kumite_motion::interrupt::{Interrupt, Interrupts, Onset};
use kumite_motion::library::Library;
use kumite_motion::rotation::about;
use kumite_motion::{
    Clip, Contacts, EdgeIdx, FrameIdx, Graph, NodeIdx, Pose, Role, Span, SpanKind, Vec2, Vec3, WorldPose, fk, humanoid,
    ik,
};

/// Frames per second.
pub(crate) const FPS: f32 = 60.0;
/// Last frame of every clip.
pub(crate) const LAST: u32 = 60;
/// The frame in which `stand` may branch.
pub(crate) const MIDDLE: u32 = 30;
/// Of the joins, seconds.
pub(crate) const BLEND: f32 = 0.2;
/// Where the guarding wrist is.
pub(crate) const GUARD: Vec3 = Vec3::new(0.05, 1.25, 0.42);

/// Names in the order of the clips.
pub(crate) const CLIPS: [&str; 5] = ["stand", "sidestep", "leap", "crouch", "guard"];

/// How much of its movement a clip has made, 0..1.
pub(crate) fn moved(seconds: f32) -> f32 {
    ease((seconds - 0.2) / 0.3)
}

/// Where a clip's pelvis is, seen from where it began.
pub(crate) fn way(clip: &str, seconds: f32) -> Vec3 {
    let whole = match clip {
        "sidestep" => Vec3::X * 0.5,
        "leap" => Vec3::X,
        "crouch" => Vec3::NEG_Y * 0.5,
        _ => Vec3::ZERO,
    };
    whole * moved(seconds)
}

/// Standing with hanging arms.
pub(crate) fn standing() -> Pose {
    let skeleton = humanoid::skeleton();
    let mut pose = Pose::rest(&skeleton);
    for (role, angle) in [(Role::LeftShoulder, -1.4), (Role::RightShoulder, 1.4)] {
        pose.rotations[role.joint().at()] = about(Vec3::Z, angle);
    }
    pose
}

fn clip(name: &str) -> Clip {
    let skeleton = Arc::new(humanoid::skeleton());
    let mut world = WorldPose::default();
    let mut clip = Clip::from_fn(name, Arc::clone(&skeleton), FPS, LAST as usize + 1, |frame, pose| {
        let seconds = frame as f32 / FPS;
        *pose = standing();
        pose.translations[0] += way(name, seconds);
        if name == "guard" {
            fk::pose(&skeleton, pose, &mut world);
            let hanging = world.position(Role::LeftWrist.joint());
            let arm = ik::Chain::of_canonical(Role::LeftWrist).unwrap();
            arm.reach(&skeleton, hanging.lerp(GUARD, moved(seconds)), pose, &mut world);
        }
    })
    .unwrap();
    clip.contacts = vec![Contacts::ALL; LAST as usize + 1];
    let kind = match name {
        "stand" => None,
        "guard" => Some(SpanKind::Block),
        _ => Some(SpanKind::Avoid),
    };
    clip.spans.extend(kind.map(|kind| Span {
        active: Some((0.5, 0.8)),
        part: (kind == SpanKind::Block).then_some(Role::LeftWrist),
        ..Span::new(kind, name, 0.2, 0.8)
    }));
    clip
}

/// The library with some of its clips; `stand` is always the first.
pub(crate) fn library_of(names: &[&str]) -> Library {
    let clips: Vec<Clip> = names.iter().map(|name| clip(name)).collect();
    let frame = |clip: usize, frame: u32| Node { clip: ClipIdx(clip as u32), frame: FrameIdx(frame) };
    // The middle of `stand`, then the ends of all clips.
    let mut nodes = vec![frame(0, MIDDLE)];
    nodes.extend((0..clips.len()).map(|clip| frame(clip, LAST)));
    let end = |clip: usize| NodeIdx(clip as u32 + 1);
    let mut edges = Vec::new();
    let goes_on = (ClipIdx(0), FrameIdx(MIDDLE), FrameIdx(LAST));
    edges.push((Edge::new(NodeIdx(0), end(0), goes_on, None, 0.5, Planar::IDENTITY), Vec::new()));
    for (from, node) in nodes.iter().enumerate() {
        let stands = clips[node.clip.at()].root(node.frame);
        for (to, clip) in clips.iter().enumerate() {
            let entered = clip.root(FrameIdx(0));
            let shift = Vec2::new(stands.x - entered.x, stands.z - entered.z);
            let join = Join { blend: BLEND, align: Planar { turn: 0.0, shift }, distance: 0.01 };
            let (until, last) = if to == 0 { (NodeIdx(0), MIDDLE) } else { (end(to), LAST) };
            let carried = clip.root(FrameIdx(last)) - entered;
            let displacement = Planar { turn: 0.0, shift: Vec2::new(carried.x, carried.z) };
            let range = (ClipIdx(to as u32), FrameIdx(0), FrameIdx(last));
            let spans = (0..clip.spans.len() as u32).map(|span| SpanRef { span, whole: true }).collect();
            let seconds = last as f32 / FPS;
            edges.push((Edge::new(NodeIdx(from as u32), until, range, Some(join), seconds, displacement), spans));
        }
    }
    let graph = Graph::new(nodes, edges).unwrap();
    Library::new("hand-made", clips, graph).unwrap()
}

/// The library with some of its clips, where standing can be left at once for the first moving frame of all others, 0.2 s after their beginning.
pub(crate) fn library_with_interrupts(names: &[&str]) -> Library {
    let library = library_of(names);
    let onset = |name: &&str| {
        let kind = if *name == "guard" { SpanKind::Block } else { SpanKind::Avoid };
        Onset { edge: edge(&library, NodeIdx(0), name), enter: 0.2, span: 0, kind }
    };
    let onsets: Vec<Onset> = names[1..].iter().map(onset).collect();
    let pieces = [(0, MIDDLE - 1), (MIDDLE, LAST - 1)];
    let range = |(onset, (first, last)): (u32, (u32, u32))| Interrupt {
        clip: ClipIdx(0),
        first: FrameIdx(first),
        last: FrameIdx(last),
        onset,
        cost: 0.05,
    };
    let ranges = (0..onsets.len() as u32).flat_map(|onset| pieces.map(|piece| (onset, piece))).map(range).collect();
    let interrupts = Interrupts::new(onsets, ranges, Vec::new()).unwrap();
    library.with_interrupts(interrupts).unwrap()
}

/// The library with all of its clips.
pub(crate) fn library() -> Library {
    library_of(&CLIPS)
}

/// The edge that leaves a node and plays a clip from its first frame.
pub(crate) fn edge(library: &Library, from: NodeIdx, name: &str) -> EdgeIdx {
    let clip = library.clips().iter().position(|c| c.name == name).unwrap();
    let plays = |e: &EdgeIdx| {
        let edge = library.graph().edge(*e);
        edge.clip.at() == clip && edge.first.0 == 0
    };
    library.graph().leaving(from, Layer::Fight).find(plays).unwrap()
}

/// The first half of `stand`, entered from its own end.
pub(crate) fn standing_edge(library: &Library) -> EdgeIdx {
    edge(library, NodeIdx(1), "stand")
}
