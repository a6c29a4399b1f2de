//! Playing a library: no dead ends, finite numbers, planted feet, the same bits every time.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use std::sync::Arc;

use kumite_keying::embedded;
use kumite_motion::align::{Planar, best_planar};
use kumite_motion::graph::{ClipIdx, Edge, Graph, Join, Node, NodeIdx};
use kumite_motion::library::Library;
use kumite_motion::{Clip, FrameIdx, Pose, Vec2, Vec3, WorldPose, fk};
use kumite_stage::{Chance, Character, Recorder, TICKS, Take};

fn points(clip: &Clip, frame: usize) -> Vec<Vec3> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    clip.pose(FrameIdx(frame as u32), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    world.positions
}

/// Clips that begin and end in the same stance, each of which may follow each.
fn library() -> Library {
    let clips: Vec<Clip> = embedded::clips().unwrap();
    let guard = points(&clips[clips.iter().position(|c| c.name == "jab").unwrap()], 0);
    let same = |a: &[Vec3]| {
        let planar = best_planar(&guard, a);
        a.iter().zip(&guard).map(|(p, q)| (planar.point(*p) - *q).length()).fold(0.0, f32::max) < 0.05
    };
    let clips: Vec<Clip> =
        clips.into_iter().filter(|c| same(&points(c, 0)) && same(&points(c, c.frames() - 1))).collect();
    assert!(clips.len() >= 2, "nothing to play");
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for (i, clip) in clips.iter().enumerate() {
        let last = FrameIdx(clip.frames() as u32 - 1);
        nodes.push(Node { clip: ClipIdx(i as u32), frame: last });
        for (j, next) in clips.iter().enumerate() {
            let align = best_planar(&points(clip, last.at()), &points(next, 0));
            let join = Join { blend: 0.25, align, distance: 0.0 };
            let range = (ClipIdx(j as u32), FrameIdx(0), FrameIdx(next.frames() as u32 - 1));
            let edge =
                Edge::new(NodeIdx(i as u32), NodeIdx(j as u32), range, Some(join), next.seconds(), Planar::IDENTITY);
            edges.push((edge, Vec::new()));
        }
    }
    let graph = Graph::new(nodes, edges).unwrap();
    Library::new("guard", clips, graph).unwrap()
}

fn walk(library: &Arc<Library>, seed: u64, seconds: u32) -> Take {
    let mut chance = Chance::new(seed);
    let node = NodeIdx(chance.below(library.graph().nodes().len() as u32));
    let mut character = Character::new(Arc::clone(library), node, Vec2::new(1.0, 2.0), 0.5);
    let mut recorder = Recorder::default();
    recorder.record(&character, None);
    for _ in 0..seconds * TICKS {
        let began = character.step(|_, next| next[chance.below(next.len() as u32) as usize]);
        recorder.record(&character, began);
    }
    recorder.finish("walk", library.skeleton()).unwrap()
}

#[test]
fn random_walks_hold_the_gates() {
    let library = Arc::new(library());
    for seed in 0..20 {
        let take = walk(&library, seed, 20);
        assert_eq!(take.clip.frames(), 20 * 60 + 1);
        assert!(take.starts.len() >= 2);
        let q = take.quality;
        assert!(q.foot_slide_cm_s <= 2.0, "seed {seed}: {q:?}");
        assert!(q.float_cm <= 1.0, "seed {seed}: {q:?}");
        assert!(q.snap <= 1.5, "seed {seed}: {q:?}");
        assert!(q.planted_share > 0.5, "seed {seed}: {q:?}");
    }
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let library = Arc::new(library());
    assert_eq!(walk(&library, 7, 10).hash, walk(&library, 7, 10).hash);
    assert_ne!(walk(&library, 7, 10).hash, walk(&library, 8, 10).hash);
}

/// Feet that are made to slide by a centimetre a frame are measured as such.
#[test]
fn a_sliding_foot_is_noticed() {
    let library = Arc::new(library());
    let take = walk(&library, 1, 5);
    let moved = Planar { turn: 0.0, shift: Vec2::new(0.01, 0.0) };
    let mut slid = Clip::from_fn("slid", Arc::clone(take.clip.skeleton()), 60.0, take.clip.frames(), |frame, pose| {
        take.clip.pose(FrameIdx(frame as u32), pose);
        for _ in 0..frame {
            moved.apply(pose);
        }
    })
    .unwrap();
    slid.contacts.clone_from(&take.clip.contacts);
    let bad = kumite_stage::Quality::of(&slid, &[]);
    assert!((bad.foot_slide_cm_s - 60.0).abs() < 5.0, "{bad:?}");
}
