//! Graphs of the embedded motions and of real captures: walked at random, they never end, never break, and say what
//! they lack.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

mod common;

use std::sync::Arc;

use common::{connected, random_walk};
use kumite_bake::graph::{BuildError, GraphConfig, Report, Why, build};
use kumite_bake::transitions::{Policy, TransitionConfig, Transitions, find};
use kumite_bake::understand;
use kumite_formats::bvh;
use kumite_keying::embedded;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::Velocity;
use kumite_motion::library::Library;
use kumite_motion::retarget::{RetargetBody, retarget};
use kumite_motion::sample::resample;
use kumite_motion::{
    Chance, Clip, ClipIdx, EdgeIdx, FrameIdx, Graph, JointIdx, Layer, NodeIdx, Pose, Role, Roles, Span, SpanKind, Vec2,
    Vec3, fk, humanoid,
};
use kumite_stage::{Character, NOISY, TICKS, Take};

/// Captures below the folders of `KUMITE_MOCAP` whose path holds `part`, on the canonical body at 30 frames per
/// second; at most so many seconds.
fn captures(part: &str, most: f32) -> Vec<Clip> {
    let mut files = kumite_captures::files("bvh");
    files.retain(|f| f.to_string_lossy().contains(part));
    let skeleton = Arc::new(humanoid::skeleton());
    let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(&skeleton));
    let to = RetargetBody { skeleton: &skeleton, roles: &roles, anatomy: &anatomy };
    let mut clips: Vec<Clip> = Vec::new();
    for file in files {
        if clips.iter().map(Clip::seconds).sum::<f32>() > most {
            break;
        }
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        let raw = bvh::read(&std::fs::read(&file).unwrap()).unwrap().0.to_clip(&name).unwrap();
        let Some(u) = understand(&raw) else { continue };
        let from = RetargetBody { skeleton: u.clip.skeleton(), roles: &u.roles.value, anatomy: &u.anatomy };
        let clip = retarget(&u.clip, from, to).unwrap().with_fps(u.fps.value).unwrap();
        clips.push(resample(&clip, 30.0).unwrap());
    }
    if clips.is_empty() {
        kumite_captures::skipped(&format!("graphs of captures of {part}"));
    }
    clips
}

fn graph_of(clips: &[Clip], policy: Policy) -> (Graph, Report, Transitions) {
    let transitions = find(clips, &TransitionConfig { policy, ..TransitionConfig::default() }).unwrap();
    let (graph, report) = build(clips, &transitions, &GraphConfig::default()).unwrap();
    (graph, report, transitions)
}

/// Invariants of every graph, whatever the clips.
fn check_graph(clips: &[Clip], graph: &Graph, report: &Report) {
    assert!(connected(graph));
    for (index, edge) in graph.edges().iter().enumerate() {
        let clip = &clips[edge.clip.at()];
        assert!(edge.last.at() < clip.frames() && edge.seconds > 0.0);
        for (number, span) in clip.spans.iter().enumerate() {
            if !matches!(span.kind, SpanKind::Attack | SpanKind::Avoid) {
                continue;
            }
            let (from, to) = (span.from * clip.fps(), span.to * clip.fps());
            for cut in [edge.first, edge.last] {
                let inside = (cut.0 as f32) > from + 1e-3 && (cut.0 as f32) < to - 1e-3;
                assert!(!inside, "edge {index} cuts span {number} of {}", clip.name);
            }
        }
        let (root, end) = (clip.root(edge.first), clip.root(edge.last));
        let far = Vec3::new(end.x - root.x, 0.0, end.z - root.z).length();
        assert!((edge.displacement.shift.length() - far).abs() < 1e-3);
    }
    for loss in &report.labels {
        assert_eq!(loss.total, loss.kept + loss.lost.len());
    }
    assert_eq!(report.nodes.1, graph.nodes().len());
    assert!(report.seconds.1 <= report.seconds.0 + 1e-3);
}

/// The fastest joint of a clip, metres per second.
fn fastest(clip: &Clip) -> f32 {
    let tracks = fk::Tracks::of(clip);
    let joints = (0..clip.skeleton().len() as u16).map(JointIdx);
    let frames = 1..clip.frames() as u32;
    let speeds = joints.flat_map(|j| {
        let at = |f: u32| tracks.get(FrameIdx(f), j);
        frames.clone().map(move |f| (at(f) - at(f - 1)).length()).collect::<Vec<_>>()
    });
    speeds.fold(0.0, f32::max) * clip.fps()
}

/// Ticks between the frames of a clip of 30 frames per second.
const TICKS_PER_FRAME: usize = 4;
const FRAME: f32 = 1.0 / 30.0;

/// Largest step of each joint's angular velocity in the two frames after a join, radians per second, on one random walk: before feet are
/// planted, and with them.
fn steps_at_joins(library: &Arc<Library>, seed: u64, seconds: f32) -> [Vec<f32>; 2] {
    let mut chance = Chance::new(seed);
    let first = EdgeIdx(chance.below(library.graph().edges().len() as u32));
    let mut character = Character::on(Arc::clone(library), first, Vec2::ZERO, 0.0);
    let mut last: [Vec<Pose>; 2] = Default::default();
    let mut steps = [(); 2].map(|()| vec![0.0f32; library.skeleton().len()]);
    let mut since_join = usize::MAX;
    for tick in 1..=(seconds * TICKS as f32) as usize {
        let began = character.step(|_, next| next[chance.below(next.len() as u32) as usize]);
        if began.is_some_and(|leg| library.graph().edge(leg.edge).join.is_some()) {
            since_join = 0;
        }
        if !tick.is_multiple_of(TICKS_PER_FRAME) {
            continue;
        }
        for ((last, steps), pose) in last.iter_mut().zip(&mut steps).zip([character.base(), character.pose()]) {
            if let ([.., a, b], true) = (&last[..], since_join < 2) {
                let (into, out) = (Velocity::between(a, b, FRAME), Velocity::between(b, pose, FRAME));
                for (step, (v, w)) in steps.iter_mut().zip(into.rotations.iter().zip(&out.rotations)) {
                    *step = step.max((*w - *v).length());
                }
            }
            last.push(pose.clone());
            last.drain(..last.len().saturating_sub(2));
        }
        since_join = since_join.saturating_add(1);
    }
    steps
}

/// The step of angular velocity that one in a thousand of these joints' steps inside the clips exceeds, radians per second.
fn natural_step(clips: &[Clip], joints: &[Role]) -> f32 {
    let mut steps = Vec::new();
    for clip in clips {
        let turns: Vec<Velocity> = clip.poses().windows(2).map(|p| Velocity::between(&p[0], &p[1], FRAME)).collect();
        for pair in turns.windows(2) {
            let at = |v: &Velocity, role: &Role| v.rotations[role.joint().at()];
            steps.extend(joints.iter().map(|role| (at(&pair[1], role) - at(&pair[0], role)).length()));
        }
    }
    steps.sort_by(f32::total_cmp);
    steps[steps.len() - 1 - steps.len() / 1000]
}

/// On a hundred random walks no joint steps at a join by more than 1.5 times what the clips have by themselves, before feet are planted and
/// after; nor does any of those that takes are judged by, compared with the same joints of the clips.
fn check_joins(name: &str, library: &Arc<Library>) {
    let mut most = [(); 2].map(|()| vec![0.0f32; library.skeleton().len()]);
    for seed in 0..100 {
        for (most, steps) in most.iter_mut().zip(steps_at_joins(library, seed, 20.0)) {
            most.iter_mut().zip(steps).for_each(|(most, step)| *most = most.max(step));
        }
    }
    let quiet: Vec<Role> = Role::ALL.into_iter().filter(|role| !NOISY.contains(role)).collect();
    for joints in [&Role::ALL[..], &quiet] {
        // Toes of CMU's walks are where markers swap: what their steps are measured by is noise itself.
        if name == "CMU" && joints.len() == Role::ALL.len() {
            continue;
        }
        let natural = natural_step(library.clips(), joints);
        for (steps, which) in most.iter().zip(["before feet are planted", "shown"]) {
            let times = |role: &Role| steps[role.joint().at()] / natural;
            let worst = joints.iter().max_by(|a, b| times(a).total_cmp(&times(b))).unwrap();
            println!("  {name} at joins, {which}: {} {:.2} of {natural:.1} rad/s", worst.name(), times(worst));
            assert!(times(worst) <= 1.5, "{name}, {which}: {} {} times the clips' own", worst.name(), times(worst));
        }
    }
}

fn check_library(name: &str, clips: &[Clip], policy: Policy) -> Report {
    let (graph, report, transitions) = graph_of(clips, policy);
    check_graph(clips, &graph, &report);
    let library = Arc::new(Library::new(name, clips.to_vec(), graph.clone()).unwrap());
    check_joins(name, &library);
    let walks: Vec<Take> = (0..20).map(|seed| random_walk(&library, seed, 20.0)).collect();
    let most = |value: fn(&Take) -> f32| walks.iter().map(value).fold(0.0, f32::max);
    let fastest = most(|take| fastest(&take.clip));
    let snap = most(|take| take.quality.snap_at_joins);
    let slide = most(|take| take.quality.foot_slide_cm_s);
    let lengths: f32 = graph.edges().iter().map(|e| e.seconds).sum();
    println!(
        "{name} {policy:?}: {} clips, {} transitions below {:.1} cm, {} components, nodes {:?}, edges {:?} of {:.2} s, \
         seconds {:?}, {} clips lost, {} long transitions, fastest {fastest:.1} m/s, snap {snap:.2}, \
         slide {slide:.1} cm/s",
        clips.len(),
        transitions.list.len(),
        transitions.limit * 100.0,
        report.components,
        report.nodes,
        report.edges,
        lengths / graph.edges().len() as f32,
        report.seconds,
        report.lost_clips.len(),
        report.long_transitions,
    );
    for loss in report.labels.iter().filter(|l| !l.lost.is_empty()) {
        println!("  {} {:?}: {} of {} kept", loss.kind.name(), loss.label, loss.kept, loss.total);
    }
    // A little above what is measured: 12.1 m/s where nobody kicks, 1.10 and 0.1 cm/s. A join that breaks moves metres in a frame; the toes of
    // kicks are faster by themselves.
    let by_themselves = clips.iter().map(self::fastest).fold(0.0, f32::max);
    assert!(
        fastest < 14.0f32.max(1.25 * by_themselves) && snap <= 1.25 && slide <= 0.3,
        "{fastest} m/s, snap {snap}, slide {slide} cm/s"
    );
    report
}

#[test]
fn embedded_motions_make_a_graph() {
    let clips: Vec<Clip> = embedded::clips().unwrap().iter().map(|c| resample(c, 30.0).unwrap()).collect();
    check_library("embedded", &clips, Policy::Anywhere);
    check_library("embedded", &clips, Policy::Windows { quietest: 0.4 });
    check_library("embedded", &clips, Policy::ActionEnds);
}

#[test]
fn captures_of_accad_make_a_graph() {
    let clips = captures("combat/accad_male2", 150.0);
    if !clips.is_empty() {
        check_library("ACCAD", &clips, Policy::Anywhere);
        check_library("ACCAD", &clips, Policy::Windows { quietest: 0.4 });
    }
}

#[test]
fn captures_of_cmu_make_a_graph() {
    let clips = captures("locomotion/cmu", 150.0);
    if !clips.is_empty() {
        check_library("CMU", &clips, Policy::Anywhere);
    }
}

/// A body that sways, differently for each seed, and stands still at both ends.
fn swayer(seed: u64, frames: usize, lift: f32) -> Clip {
    let skeleton = Arc::new(humanoid::skeleton());
    let mut chance = Chance::new(seed);
    let tilt: Vec<f32> = (0..skeleton.len()).map(|_| chance.below(100) as f32 / 250.0).collect();
    let name = format!("swayer {seed}");
    Clip::from_fn(&name, Arc::clone(&skeleton), 30.0, frames, |frame, pose| {
        *pose = Pose::rest(&skeleton);
        let phase = frame as f32 / (frames - 1) as f32;
        let ease = libm::sinf(std::f32::consts::PI * phase);
        for (joint, tilt) in tilt.iter().enumerate().skip(1) {
            pose.rotations[joint] = kumite_motion::rotation::from_vector(Vec3::X * (tilt * ease * ease));
        }
        pose.translations[0] += Vec3::new(0.1 * ease * ease, lift, 0.0);
    })
    .unwrap()
}

#[test]
fn random_libraries_make_graphs_without_dead_ends() {
    for seed in 0..12 {
        let mut chance = Chance::new(seed);
        let mut clips: Vec<Clip> = (0..2 + chance.below(4))
            .map(|k| swayer(10 * seed + u64::from(k), 30 + chance.below(60) as usize, 0.0))
            .collect();
        for clip in &mut clips {
            let middle = 0.5 * clip.seconds();
            clip.spans.push(Span::new(SpanKind::Avoid, "sway", middle - 0.3, middle + 0.3));
        }
        let transitions = TransitionConfig { percentile: 1.0, ..TransitionConfig::default() };
        let found = find(&clips, &transitions).unwrap();
        for most_leaving in [1, 3, 100] {
            let config = GraphConfig { most_leaving, ..GraphConfig::default() };
            let (graph, report) = build(&clips, &found, &config).unwrap();
            check_graph(&clips, &graph, &report);
            assert!(report.lost_clips.is_empty(), "seed {seed}: {:?}", report.lost_clips);
            assert_eq!(report.labels[0].kept, clips.len(), "{:?}", report.labels);
            let library = Library::new("swayers", clips.clone(), graph.clone()).unwrap();
            assert!(random_walk(&Arc::new(library), seed, 5.0).clip.frames() > 200);
            // The cap is exceeded only to keep the graph connected.
            let ways =
                (0..graph.nodes().len() as u32).map(|n| graph.leaving(NodeIdx(n), Layer::Fight).len()).sum::<usize>();
            assert!(ways <= graph.nodes().len() * (most_leaving + 3));
            assert_eq!(build(&clips, &found, &config).unwrap().0, graph);
        }
    }
}

#[test]
fn losses_are_reported() {
    // The third hovers three metres up: nothing is like it but itself.
    let mut clips = vec![swayer(1, 60, 0.0), swayer(2, 60, 0.0), swayer(3, 60, 3.0), swayer(4, 90, 0.0)];
    let duck = |from, to| Span::new(SpanKind::Avoid, "duck", from, to);
    clips[0].spans = vec![duck(0.5, 1.5), Span::new(SpanKind::Idle, "", 0.0, 1.9)];
    clips[2].spans = vec![duck(0.5, 1.5)];
    let config = TransitionConfig { percentile: 1.0, ..TransitionConfig::default() };
    let mut found = find(&clips, &config).unwrap();
    // And nothing leads back from the fourth, nor to it from itself.
    found.list.retain(|t| t.from.0 != ClipIdx(3));
    clips[3].spans = vec![Span::new(SpanKind::Attack, "jab", 0.5, 2.0)];
    let (graph, report) = build(&clips, &found, &GraphConfig::default()).unwrap();
    check_graph(&clips, &graph, &report);
    assert_eq!(report.lost_clips, [ClipIdx(2), ClipIdx(3)]);
    let said: Vec<String> = report
        .labels
        .iter()
        .map(|l| {
            let lost: Vec<String> = l.lost.iter().map(|l| format!("{} {:?}", l.clip.0, l.why)).collect();
            format!("{} {}: {}/{} [{}]", l.kind.name(), l.label, l.kept, l.total, lost.join(", "))
        })
        .collect();
    assert_eq!(said, ["attack jab: 0/1 [3 Unconnected]", "avoid duck: 1/2 [2 Apart]", "idle : 1/1 []"]);
    assert!(!Why::Apart.text().is_empty());
}

#[test]
fn without_a_way_back_there_is_no_graph() {
    let clips = [swayer(1, 40, 0.0), swayer(2, 40, 3.0)];
    let mut found = find(&clips, &TransitionConfig::default()).unwrap();
    found.list.clear();
    let error = build(&clips, &found, &GraphConfig::default()).unwrap_err();
    assert_eq!(error, BuildError::NoLoop { transitions: 0 });
    assert!(error.to_string().contains("none leads back"));
    let found = find(&clips, &TransitionConfig { percentile: 1.0, ..TransitionConfig::default() }).unwrap();
    assert!(matches!(build(&clips[..0], &found, &GraphConfig::default()), Err(BuildError::OtherClips)));
}
