//! Where actions begin to move.

use kumite_motion::interrupt::Onset;
use kumite_motion::library::Library;
use kumite_motion::rotation::to_vector;
use kumite_motion::{Clip, ClipIdx, EdgeIdx, FrameIdx, JointIdx, Layer, Span, SpanKind, mass};
use kumite_stage::NOISY;

use super::{ACTIONS, ClipFrames};
use crate::graph::UNBROKEN;

/// A joint that turns faster moves, radians per second: 30 degrees.
const TURNS: f32 = 30.0 * std::f32::consts::PI / 180.0;
/// A centre of mass that goes faster moves, metres per second.
const GOES: f32 = 0.1;

/// One onset for each action that fighters play, and those of walks, by edge.
pub(super) fn find(library: &Library, clips: &[ClipFrames]) -> Vec<Onset> {
    let mut onsets = Vec::new();
    for clip_idx in library.clips_of(Layer::Fight) {
        let clip = library.clip(clip_idx);
        for (number, span) in (0u32..).zip(&clip.spans).filter(|(_, span)| ACTIONS.contains(&span.kind)) {
            let at = |seconds: f32| ((seconds * clip.fps()).round().max(0.0) as usize).min(clip.frames() - 1);
            let moving = (at(span.from)..at(span.to)).find(|frame| moves(clip, &clips[clip_idx.at()], *frame));
            let Some(frame) = moving else { continue };
            onsets.extend(enter(library, clip_idx, number, span.kind, frame));
        }
    }
    onsets.extend(walks(library));
    onsets.sort_by_key(|onset| (onset.edge, onset.span));
    onsets
}

/// Moments of a walk at which it may be joined are at least so far apart, seconds, and about so many in all.
const STEPS: f32 = 0.12;
const JOINED: f32 = 1200.0;

/// Where walks can be joined: at the nodes of walkers, in every phase of a step, so that whoever left a walk gets back into one.
fn walks(library: &Library) -> Vec<Onset> {
    let graph = library.graph();
    let mut onsets = Vec::new();
    let clips = library.clips_of(Layer::Walk);
    let walked: f32 = clips.iter().map(|clip| library.clip(*clip).seconds()).sum();
    let apart = STEPS.max(walked / JOINED);
    for clip_idx in clips {
        let clip = library.clip(clip_idx);
        let onward = |index: &EdgeIdx| graph.edge(*index).clip == clip_idx && graph.edge(*index).join.is_none();
        let mut edges: Vec<EdgeIdx> = graph.edges_of(Layer::Walk).filter(onward).collect();
        edges.sort_by_key(|index| (graph.edge(*index).first, *index));
        let mut last = f32::NEG_INFINITY;
        for edge in edges {
            let at = graph.edge(edge).first.at() as f32 / clip.fps();
            let goes = |span: &Span| span.kind == SpanKind::Walk && (span.from..span.to).contains(&at);
            let Some(span) = clip.spans.iter().position(goes).filter(|_| at - last >= apart) else { continue };
            last = at;
            onsets.push(Onset { edge, enter: 0.0, span: span as u32, kind: SpanKind::Walk });
        }
    }
    onsets
}

/// The edge that plays an action from a frame on and is over soonest after it; of steps and turns a part will do.
fn enter(library: &Library, clip: ClipIdx, span: u32, kind: SpanKind, frame: usize) -> Option<Onset> {
    let graph = library.graph();
    let plays = |index: &EdgeIdx| {
        let edge = graph.edge(*index);
        edge.clip == clip && edge.first.at() <= frame && frame < edge.last.at()
    };
    let whole = |index: &EdgeIdx| graph.spans(*index).iter().any(|s| s.span == span && s.whole);
    let edges: Vec<EdgeIdx> = graph.edges_of(Layer::Fight).filter(plays).collect();
    let soonest = edges.iter().filter(|e| whole(e)).min_by_key(|e| (graph.edge(**e).last, **e));
    let longest = || edges.iter().max_by_key(|e| (graph.edge(**e).last, std::cmp::Reverse(**e)));
    let edge = *soonest.or_else(|| longest().filter(|_| !UNBROKEN.contains(&kind)))?;
    let enter = (frame - graph.edge(edge).first.at()) as f32 / library.clip(clip).fps();
    Some(Onset { edge, enter, span, kind })
}

/// The clip and the frame of an onset.
pub(crate) fn place(library: &Library, onset: &Onset) -> (ClipIdx, usize) {
    let edge = library.graph().edge(onset.edge);
    let clip = library.clip(edge.clip);
    (edge.clip, (edge.first.at() + (onset.enter * clip.fps()).round() as usize).min(clip.frames() - 1))
}

/// Whether something moves between a frame and the next.
fn moves(clip: &Clip, frames: &ClipFrames, frame: usize) -> bool {
    let (here, next) = (FrameIdx(frame as u32), FrameIdx((frame + 1).min(clip.frames() - 1) as u32));
    let quiet = |joint: &JointIdx| !NOISY.iter().any(|role| role.joint() == *joint);
    let turns = clip.skeleton().joints().filter(quiet).any(|joint| {
        let turn = clip.rotation(here, joint).conjugate() * clip.rotation(next, joint);
        to_vector(turn).length() * clip.fps() > TURNS
    });
    turns || mass_speed(frames, frame) > GOES
}

/// Speed of the centre of mass, metres per second; hands and head, which have no joint at their ends, count as their joints.
fn mass_speed(frames: &ClipFrames, frame: usize) -> f32 {
    let speed = |role: kumite_motion::Role| frames.speeds[frame][role.joint().at()];
    let parts = mass::SEGMENTS.iter().map(|s| speed(s.from).lerp(speed(s.to.unwrap_or(s.from)), s.centre) * s.share);
    parts.sum::<kumite_motion::Vec3>().length()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kumite_motion::align::Planar;
    use kumite_motion::graph::{Edge, Graph, Join, Node, NodeIdx, SpanRef};
    use kumite_motion::rotation::about;
    use kumite_motion::{Pose, Role, Vec3, humanoid};

    use super::*;

    /// Two seconds at 60 frames per second of a body that does something from a frame on.
    fn library(kind: SpanKind, change: impl Fn(f32, &mut Pose)) -> Library {
        let skeleton = Arc::new(humanoid::skeleton());
        let clip = Clip::from_fn("acts", Arc::clone(&skeleton), 60.0, 121, |frame, pose| {
            *pose = Pose::rest(&skeleton);
            change((frame as f32 / 60.0 - 0.8).max(0.0), pose);
        });
        let mut clip = clip.unwrap();
        clip.spans.push(Span::new(kind, "", 0.5, 1.9));
        let join = Join { blend: 0.1, align: Planar::IDENTITY, distance: 0.0 };
        let edge = |first: u32, last: u32, node: u32| {
            let range = (ClipIdx(0), FrameIdx(first), FrameIdx(last));
            let seconds = (last - first) as f32 / 60.0;
            let spans = vec![SpanRef { span: 0, whole: first <= 30 && last >= 114 }];
            (Edge::new(NodeIdx(node), NodeIdx(node), range, Some(join), seconds, Planar::IDENTITY), spans)
        };
        let node = |frame: u32| Node { clip: ClipIdx(0), frame: FrameIdx(frame) };
        let nodes = vec![node(80), node(115), node(120)];
        let graph = Graph::new(nodes, vec![edge(0, 80, 0), edge(12, 115, 1), edge(6, 120, 2)]).unwrap();
        Library::new("acts", vec![clip], graph).unwrap()
    }

    fn onsets(library: &Library) -> Vec<(u32, f32)> {
        let clips: Vec<ClipFrames> = library.clips().iter().map(ClipFrames::of).collect();
        find(library, &clips).iter().map(|o| (o.edge.0, o.enter)).collect()
    }

    #[test]
    fn lead_ins_are_cut_off() {
        // An elbow at 40 degrees a second, from 0.8 s on: frame 48, on the edge that begins at frame 12 and is over soonest.
        let bends = |time: f32, pose: &mut Pose| {
            let elbow = Role::LeftElbow.joint().at();
            pose.rotations[elbow] = about(Vec3::NEG_Y, time * 40f32.to_radians());
        };
        assert_eq!(onsets(&library(SpanKind::Avoid, bends)), [(1, 0.6)]);
        // Half as fast is not yet motion, nor is a wrist; a body that drifts is.
        let slow = |time: f32, pose: &mut Pose| bends(0.5 * time, pose);
        assert_eq!(onsets(&library(SpanKind::Avoid, slow)), []);
        let wrist = |time: f32, pose: &mut Pose| {
            pose.rotations[Role::LeftWrist.joint().at()] = about(Vec3::X, time * 2.0);
        };
        assert_eq!(onsets(&library(SpanKind::Avoid, wrist)), []);
        let drifts = |time: f32, pose: &mut Pose| pose.translations[0].x += 0.25 * time;
        assert_eq!(onsets(&library(SpanKind::Avoid, drifts)), [(1, 0.6)]);
        assert_eq!(onsets(&library(SpanKind::Idle, drifts)), []);
    }
}
