//! Graphs of the embedded motions and of real captures: walked at random, they never end, never break, and say what
//! they lack.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kumite_bake::graph::{BuildError, GraphConfig, Report, Why, build};
use kumite_bake::transitions::{Policy, TransitionConfig, Transitions, find};
use kumite_bake::understand;
use kumite_formats::bvh;
use kumite_keying::embedded;
use kumite_motion::align::Planar;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::{Inertia, Velocity};
use kumite_motion::retarget::{RetargetBody, retarget};
use kumite_motion::sample::{contacts_at, pose_at, resample};
use kumite_motion::{
    Clip, ClipIdx, Contacts, EdgeIdx, FrameIdx, Graph, NodeIdx, Pose, Role, Roles, Span, SpanKind, Vec3, WorldPose, fk,
    humanoid,
};
use kumite_stage::NOISY;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// Captures below the folders of `KUMITE_MOCAP` whose path holds `part`, on the canonical body at 30 frames per
/// second; at most so many seconds.
fn captures(part: &str, most: f32) -> Vec<Clip> {
    let folders: Vec<PathBuf> = match std::env::var_os("KUMITE_MOCAP") {
        Some(given) => std::env::split_paths(&given).collect(),
        None => vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/mocap")],
    };
    let mut files = Vec::new();
    folders.iter().for_each(|f| walk(f, &mut files));
    files.retain(|f| f.to_string_lossy().contains(part));
    files.sort();
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
        println!("no captures of {part}: skipped");
    }
    clips
}

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            walk(&path, found);
        } else if path.extension().is_some_and(|e| e == "bvh") {
            found.push(path);
        }
    }
}

fn graph_of(clips: &[Clip], policy: Policy) -> (Graph, Report, Transitions) {
    let transitions = find(clips, &TransitionConfig { policy, ..TransitionConfig::default() }).unwrap();
    let (graph, report) = build(clips, &transitions, &GraphConfig::default()).unwrap();
    (graph, report, transitions)
}

/// What everyone may rely on, whatever the clips.
fn check_graph(clips: &[Clip], graph: &Graph, report: &Report) {
    // Every node reaches every other.
    for backwards in [false, true] {
        let mut seen = vec![false; graph.nodes().len()];
        let mut open = vec![0];
        seen[0] = true;
        while let Some(node) = open.pop() {
            for edge in graph.edges() {
                let (from, to) = if backwards { (edge.to, edge.from) } else { (edge.from, edge.to) };
                if from.at() == node && !std::mem::replace(&mut seen[to.at()], true) {
                    open.push(to.at());
                }
            }
        }
        assert!(seen.iter().all(|s| *s));
    }
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

/// What was seen on a walk.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Of any joint, metres per second.
    fastest: f32,
    /// Largest step of a joint's angular velocity at a join, radians per second: of any joint, and of those that count in takes.
    snaps: [f32; 2],
    /// Speed of toes that the source says are planted: sum in metres per second, and how often it was looked at.
    /// Nothing plants them yet.
    slide: (f64, u32),
}

const DT: f32 = 1.0 / 30.0;

/// Plays edges at random with inertialised joins, and looks at every frame.
fn random_walk(clips: &[Clip], graph: &Graph, seed: u64, seconds: f32) -> Seen {
    let mut random = Random(seed);
    let mut edge = EdgeIdx(random.below(graph.edges().len()) as u32);
    let (mut time, mut place, mut join): (f32, Planar, Option<(Inertia, f32)>) = (0.0, Planar::IDENTITY, None);
    let (mut pose, mut world, mut before) = (Pose::default(), WorldPose::default(), Vec::<Vec3>::new());
    let (mut seen, mut since_join) = (Seen::default(), 9);
    let (mut last_pose, mut last_turns): (Option<Pose>, Option<Vec<Vec3>>) = (None, None);
    let mut last_planted = Contacts::NONE;
    let at = |edge: EdgeIdx, time: f32, place: &Planar, out: &mut Pose| {
        let e = graph.edge(edge);
        let clip = &clips[e.clip.at()];
        pose_at(clip, e.first.0 as f32 / clip.fps() + time, out);
        place.apply(out);
    };
    for _ in 0..(seconds / DT) as usize {
        time += DT;
        while time > graph.edge(edge).seconds {
            let ways: Vec<EdgeIdx> = graph.after(edge).collect();
            assert!(!ways.is_empty(), "a dead end");
            let next = ways[random.below(ways.len())];
            let end = graph.edge(edge).seconds;
            if let Some(begin) = graph.edge(next).join {
                let shown = |since_end: f32| {
                    let mut pose = Pose::default();
                    at(edge, end + since_end, &place, &mut pose);
                    if let Some((inertia, since)) = &join {
                        inertia.apply(since + (end - time) + since_end + DT, &mut pose);
                    }
                    pose
                };
                let (last, earlier) = (shown(0.0), shown(-DT));
                let there = place.after(&begin.align);
                let [mut first, mut later] = [Pose::default(), Pose::default()];
                at(next, 0.0, &there, &mut first);
                at(next, DT, &there, &mut later);
                let speeds = (Velocity::between(&earlier, &last, DT), Velocity::between(&first, &later, DT));
                let inertia = Inertia::new(&last, &speeds.0, &first, &speeds.1, begin.blend.max(0.1));
                place = there;
                join = Some((inertia, time - end - DT));
                since_join = 0;
            }
            time -= end;
            edge = next;
        }
        at(edge, time, &place, &mut pose);
        if let Some((inertia, since)) = &mut join {
            *since += DT;
            inertia.apply(*since, &mut pose);
        }
        assert!(pose.is_finite(), "not a number");
        fk::pose(clips[0].skeleton(), &pose, &mut world);
        for (now, then) in world.positions.iter().zip(&before) {
            seen.fastest = seen.fastest.max((*now - *then).length() / DT);
        }
        let e = graph.edge(edge);
        let clip = &clips[e.clip.at()];
        let planted = contacts_at(clip, e.first.0 as f32 / clip.fps() + time);
        for (part, toe) in [(Contacts::LEFT_TOE, Role::LeftToe), (Contacts::RIGHT_TOE, Role::RightToe)] {
            if planted.has(part) && last_planted.has(part) && !before.is_empty() {
                let step = world.positions[toe.joint().at()] - before[toe.joint().at()];
                seen.slide.0 += f64::from(Vec3::new(step.x, 0.0, step.z).length() / DT);
                seen.slide.1 += 1;
            }
        }
        last_planted = planted;
        let turns = last_pose.as_ref().map(|last| Velocity::between(last, &pose, DT).rotations);
        if let (Some(now), Some(then), true) = (&turns, &last_turns, since_join < 2) {
            for (joint, (a, b)) in now.iter().zip(then).enumerate() {
                let step = (*a - *b).length();
                seen.snaps[0] = seen.snaps[0].max(step);
                seen.snaps[1] = if counts(joint) { seen.snaps[1].max(step) } else { seen.snaps[1] };
            }
        }
        since_join += 1;
        (last_pose, last_turns) = (Some(pose.clone()), turns);
        before.clone_from(&world.positions);
    }
    seen
}

/// As in the quality of takes.
fn counts(joint: usize) -> bool {
    NOISY.iter().all(|r| r.joint().at() != joint)
}

/// Steps of angular velocities of some joints that only one in a thousand inside the clips is larger than, radians per second.
fn natural_snap(clips: &[Clip], counts: fn(usize) -> bool) -> f32 {
    let mut steps = Vec::new();
    for clip in clips {
        let poses = clip.poses();
        let turns: Vec<Velocity> = poses.windows(2).map(|p| Velocity::between(&p[0], &p[1], DT)).collect();
        for pair in turns.windows(2) {
            let both = pair[0].rotations.iter().zip(&pair[1].rotations).enumerate();
            steps.extend(both.filter(|b| counts(b.0)).map(|(_, (a, b))| (*a - *b).length()));
        }
    }
    steps.sort_by(f32::total_cmp);
    steps[steps.len() - 1 - steps.len() / 1000]
}

/// Mean speed of planted toes in the clips themselves, metres per second.
fn natural_slide(clips: &[Clip]) -> f64 {
    let (mut sum, mut count) = (0.0, 0u32);
    for clip in clips {
        let tracks = fk::Tracks::of(clip);
        for frame in 1..clip.contacts.len() as u32 {
            for (part, toe) in [(Contacts::LEFT_TOE, Role::LeftToe), (Contacts::RIGHT_TOE, Role::RightToe)] {
                if (frame - 1..=frame).all(|f| clip.contacts[f as usize].has(part)) {
                    let [a, b] = [frame - 1, frame].map(|f| tracks.get(FrameIdx(f), toe.joint()));
                    sum += f64::from(Vec3::new(b.x - a.x, 0.0, b.z - a.z).length() * clip.fps());
                    count += 1;
                }
            }
        }
    }
    sum / f64::from(count)
}

fn check_library(name: &str, clips: &[Clip], policy: Policy) -> Report {
    let (graph, report, transitions) = graph_of(clips, policy);
    check_graph(clips, &graph, &report);
    // `KUMITE_WALKS=10000` is the whole claim.
    let count = std::env::var("KUMITE_WALKS").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
    let walks: Vec<Seen> = (0..count).map(|seed| random_walk(clips, &graph, seed, 20.0)).collect();
    let most = |value: fn(&Seen) -> f32| walks.iter().map(value).fold(0.0, f32::max);
    let fastest = most(|s| s.fastest);
    let snap = most(|s| s.snaps[1]) / natural_snap(clips, counts);
    let any = most(|s| s.snaps[0]) / natural_snap(clips, |_| true);
    let slide = walks.iter().map(|s| s.slide.0).sum::<f64>() / walks.iter().map(|s| f64::from(s.slide.1)).sum::<f64>();
    let lengths: f32 = graph.edges().iter().map(|e| e.seconds).sum();
    println!(
        "{name} {policy:?}: {} clips, {} transitions below {:.1} cm, {} components, nodes {:?}, edges {:?} of {:.2} s, \
         seconds {:?}, {} clips lost, {} long transitions, fastest {fastest:.1} m/s, snap {snap:.2}, \
         slide {:.1} cm/s, in the clips {:.1}",
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
        slide * 100.0,
        natural_slide(clips) * 100.0,
    );
    for loss in report.labels.iter().filter(|l| !l.lost.is_empty()) {
        println!("  {} {:?}: {} of {} kept", loss.kind.name(), loss.label, loss.kept, loss.total);
    }
    // Hands of real fighters reach 12 m/s, of jumping kickers' feet 15; a join that breaks moves metres in a sixtieth
    // of a second.
    assert!(fastest < 25.0, "{fastest} m/s");
    assert!(snap <= 1.5, "{snap} times the captures' own");
    // Toes of CMU's walks are where markers swap: what their snaps are measured by is noise itself.
    assert!(any <= 1.5 || name == "CMU", "{any} times the captures' own, of any joint");
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

/// Someone who sways, with a step of his own per seed, and stands still at both ends.
fn swayer(seed: u64, frames: usize, lift: f32) -> Clip {
    let skeleton = Arc::new(humanoid::skeleton());
    let mut random = Random(seed);
    let tilt: Vec<f32> = (0..skeleton.len()).map(|_| random.below(100) as f32 / 250.0).collect();
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
        let mut random = Random(seed);
        let mut clips: Vec<Clip> =
            (0..2 + random.below(4)).map(|k| swayer(10 * seed + k as u64, 30 + random.below(60), 0.0)).collect();
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
            random_walk(&clips, &graph, seed, 20.0);
            // The cap gives way to connection only.
            let ways = (0..graph.nodes().len() as u32).map(|n| graph.leaving(NodeIdx(n)).len()).sum::<usize>();
            assert!(ways <= graph.nodes().len() * (most_leaving + 3));
            assert_eq!(build(&clips, &found, &config).unwrap().0, graph);
        }
    }
}

#[test]
fn what_is_lost_is_said() {
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
