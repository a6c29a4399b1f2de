//! Worlds: replays and snapshots give the same bits, events are what the frames show, characters see balls and keep off each other.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use kumite_captures::whole_library;
use kumite_motion::{EdgeIdx, FrameIdx, Pose, Role, SpanKind, Vec2, Vec3};
use kumite_plan::dodge::DodgeConfig;
use kumite_plan::{Leg, Plan, Pool, Warp};
use kumite_stage::op::{Begin, Op, Spawn, ThrowOp};
use kumite_stage::walk::Walker;
use kumite_stage::world::{Goal, Perception, WalkSearch, Wish};
use kumite_stage::world_referee::{self, Shown};
use kumite_stage::{
    BallOutcome, Defence, EventKind, Fault, Host, Kit, Performance, Pipeline, TICKS, Target, World, overlap, scene,
};

fn kits() -> &'static [Arc<Kit>] {
    static KITS: OnceLock<Vec<Arc<Kit>>> = OnceLock::new();
    KITS.get_or_init(|| {
        let library = Arc::new(whole_library("embedded").unwrap());
        let walker = Walker::new(Arc::clone(&library), Some(&Default::default()));
        vec![Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), Some(walker)))]
    })
}

fn spawn(name: &str, at: [f32; 2], wish: Wish) -> Op {
    Op::Spawn(Spawn {
        name: name.to_owned(),
        kit: 0,
        at: Vec2::from_array(at),
        facing: 0.0,
        begin: matches!(wish, Wish::Wander | Wish::Stay).then(|| Begin::parse("guard-idle")),
        wish,
        perception: Perception::default(),
        seed: 5,
    })
}

fn throw(at: &str, from: [f32; 3], speed: f32, target: Target) -> Op {
    Op::Throw(ThrowOp::football(at, target, Vec3::from_array(from), speed))
}

/// The ops due at a tick.
fn due(ops: &[(u64, Op)], tick: u64) -> Vec<Op> {
    ops.iter().filter(|(when, _)| *when == tick).map(|(_, op)| op.clone()).collect()
}

fn poses(world: &World) -> Vec<Pose> {
    world.characters.values().map(|m| m.character.pose().clone()).collect()
}

/// A scene with dodges, a walk, throws and a hit; and how many ticks it lasts.
fn mixed() -> (Vec<(u64, Op)>, u64) {
    let text = include_str!("../../../scenes/one-world.toml");
    let scene = scene::read(text).unwrap();
    scene.ops(scene.seed)
}

fn hashes(played: &Performance) -> Vec<u64> {
    played.takes().unwrap().iter().map(|take| take.hash).collect()
}

/// Ops given tick by tick, one of them of a ball that was not planned, and then again from what was recorded.
#[test]
fn a_recording_gives_the_same_bits() {
    let (ops, ticks) = mixed();
    let mut live = Performance::default();
    for tick in 0..=ticks {
        let mut due = due(&ops, tick);
        if tick == 900 {
            let ball = live.world.balls.keys().next();
            assert!(ball.is_none(), "nothing flies then");
            due.push(throw("Bo", [2.0, 1.5, -9.0], 10.0, Target::Hips));
        }
        live.step(kits(), &due);
    }
    let again = Performance::play(kits(), &live.recording, ticks);
    assert_eq!(hashes(&again), hashes(&live));
    assert_eq!(again.events, live.events);
    let planned = Performance::play(kits(), &ops, ticks);
    assert_ne!(hashes(&planned), hashes(&live));
    // It is the scene it is meant to be.
    let ends: Vec<BallOutcome> = planned.flights.iter().filter_map(|f| f.end).map(|end| end.0).collect();
    assert!(ends.contains(&BallOutcome::Dodged) && ends.contains(&BallOutcome::Hit), "{ends:?}");
    assert!(planned.events.iter().any(|e| matches!(e.kind, EventKind::Arrived { .. })));
}

#[test]
fn a_snapshot_is_all_there_is_and_the_pipeline_holds_nothing() {
    let (ops, ticks) = mixed();
    let (mut world, mut pipeline) = (World::default(), Pipeline::default());
    let mut snapshots = Vec::new();
    for tick in 0..ticks {
        if tick % 50 == 0 {
            snapshots.push(world.clone());
        }
        pipeline.step(kits(), &mut world, &due(&ops, tick));
    }
    let end = poses(&world);
    for (k, mut world) in snapshots.into_iter().enumerate() {
        for tick in world.tick..ticks {
            // A new pipeline every tick, or one for all.
            if k % 2 == 0 {
                pipeline = Pipeline::default();
            }
            pipeline.step(kits(), &mut world, &due(&ops, tick));
        }
        assert_eq!(poses(&world), end, "from tick {}", 50 * k);
    }
}

/// As many threads as it says.
#[derive(Debug)]
struct Threads(usize);

impl Pool for Threads {
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..self.0 {
                scope.spawn(|| {
                    while let Some(part) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|part| *part < parts) {
                        work(part);
                    }
                });
            }
        });
    }
}

impl Host for Threads {}

#[test]
fn threads_that_are_lent_change_nothing() {
    let (ops, ticks) = mixed();
    let alone = hashes(&Performance::play(kits(), &ops, ticks));
    for threads in [1, 2, 8] {
        let mut played = Performance::of(World::default(), Arc::new(Threads(threads)));
        for tick in 0..=ticks {
            played.step(kits(), &due(&ops, tick));
        }
        assert_eq!(hashes(&played), alone, "{threads} threads");
    }
}

/// How balls end by the log is how they end in the frames, looked at slowly.
#[test]
fn outcomes_are_those_of_the_frames() {
    let mut ops = vec![(0, spawn("Ana", [0.0, 0.0], Wish::Wander))];
    for k in 0..8u64 {
        let turn = k as f32 * 0.7;
        let from = [8.0 * libm::sinf(turn), 1.5, 8.0 * libm::cosf(turn)];
        ops.push((60 + 150 * k, throw("Ana", from, 12.0, Target::ALL[k as usize % 5])));
    }
    let mut played = Performance::default();
    let mut shown = Shown { from: 0, poses: Vec::new() };
    for tick in 0..1400 {
        played.step(kits(), &due(&ops, tick));
        let pose = played.world.characters.values().next().unwrap().character.pose().clone();
        if shown.poses.is_empty() {
            shown.poses.push(pose.clone());
        }
        shown.poses.push(pose);
    }
    let mut ends = [0; 4];
    for flight in &played.flights {
        let (outcome, time, _) = flight.end.unwrap();
        let until = (time * TICKS as f32).round() as u64;
        let ball = flight.ball.ball;
        let library = kits()[0].library();
        let seen = world_referee::look(&[(&shown, library)], flight.ball.thrown, until, 0.11, |age| ball.at(age));
        let touched = outcome.touched();
        assert!(seen.least.abs() < 0.003 || seen.touch.is_some() == touched, "{outcome:?} and {seen:?}");
        ends[outcome as usize] += 1;
    }
    assert_eq!(played.flights.len(), 8);
    assert!(ends[BallOutcome::Hit as usize] > 0 && ends[BallOutcome::Dodged as usize] > 0, "{ends:?}");
}

/// The referee itself: a ball through the body touches it, one beside it does not.
#[test]
fn a_body_in_the_way_is_seen() {
    let played = Performance::play(kits(), &[(0, spawn("Ana", [0.0, 0.0], Wish::Stay))], 60);
    let pose = poses(&played.world).remove(0);
    let shown = Shown { from: 0, poses: vec![pose; 60] };
    let look = |x: f32| {
        world_referee::look(&[(&shown, kits()[0].library())], 0, 59, 0.11, |age| Vec3::new(x, 1.2, 3.0 - 12.0 * age))
    };
    assert!(look(0.0).touch.is_some());
    assert!(look(3.0).touch.is_none() && look(3.0).least > 1.0);
}

#[test]
fn unseen_balls_come_as_a_surprise() {
    let behind = |cue: bool| {
        let mut played = Performance::default();
        played.step(kits(), &[spawn("Ana", [0.0, 0.0], Wish::Stay), throw("Ana", [0.0, 1.6, -9.0], 9.0, Target::Head)]);
        let ball = played.flights[0].id;
        let cues = if cue { vec![Op::Cue { who: "Ana".into(), ball }] } else { Vec::new() };
        played.step(kits(), &cues);
        for _ in 0..180 {
            played.step(kits(), &[]);
        }
        let noticed = played.events.iter().any(|e| matches!(e.kind, EventKind::Noticed { .. }));
        (noticed, played.flights[0].end.unwrap().0)
    };
    assert_eq!(behind(false), (false, BallOutcome::Hit));
    let (noticed, outcome) = behind(true);
    assert!(noticed && outcome != BallOutcome::Hit, "{outcome:?}");
}

/// Half a second of sight takes longer than 0.15 s, and who sees all round sees what comes from behind.
#[test]
fn what_is_noticed_is_settable_per_character() {
    let noticed = |perception: &str, z: f32| {
        let text = format!(
            "seconds = 2\n[[character]]\nname = \"Ana\"\nbegin = \"guard-idle\"\n{perception}\n\
             [[throw]]\ntime = 0.5\nat = \"Ana\"\nfrom = [0, 1.6, {z}]\nspeed = 9\n"
        );
        let (ops, ticks) = scene::read(&text).unwrap().ops(1);
        let played = Performance::play(kits(), &ops, ticks);
        let mut noticed = played.events.iter().filter(|e| matches!(e.kind, EventKind::Noticed { .. }));
        noticed.next().map(|e| e.tick)
    };
    assert_eq!(noticed("", 9.0), Some(60 + 18));
    assert_eq!(noticed("perception = { delay = 0.5 }", 9.0), Some(60 + 60));
    assert_eq!(noticed("", -9.0), None);
    assert_eq!(noticed("perception = { delay = 0, view = 180 }", -9.0), Some(60));
}

#[test]
fn a_hit_shows_and_nobody_freezes() {
    let play = |balls: &[Op]| {
        let mut played = Performance::default();
        played.step(kits(), &[spawn("Ana", [0.0, 0.0], Wish::Stay)]);
        played.step(kits(), balls);
        for _ in 0..300 {
            played.step(kits(), &[]);
        }
        played
    };
    let (struck, calm) = (play(&[throw("Ana", [0.3, 1.6, -6.0], 14.0, Target::Head)]), play(&[]));
    let hit = struck.events.iter().find(|e| matches!(e.kind, EventKind::Struck { .. }));
    let hit = hit.unwrap_or_else(|| panic!("{:?}", struck.events)).tick;
    assert!(struck.events.iter().any(|e| e.tick > hit && matches!(e.kind, EventKind::Began { .. })));

    let [struck, calm] = [struck, calm].map(|played| played.takes().unwrap().remove(0));
    assert!(struck.quality.passes());
    let nods = |seconds: f32| {
        let frame = FrameIdx(((hit as f32 / TICKS as f32 + seconds) * struck.clip.fps()) as u32);
        let [a, b] = [&struck.clip, &calm.clip]
            .map(|c| c.rotation(frame, Role::Neck.joint()) * c.rotation(frame, Role::Head.joint()));
        a.angle_between(b).to_degrees()
    };
    let most = [0.05, 0.1, 0.15, 0.2].map(nods).into_iter().fold(0.0, f32::max);
    assert!(most > 4.0, "the head moves by {most} degrees");
}

#[test]
fn two_walkers_who_meet_do_not_walk_through_each_other() {
    let goal = |z: f32| {
        Wish::Walk(Goal {
            at: Vec2::new(0.0, z),
            facing: None,
            action: None,
            waypoints: Vec::new(),
            search: WalkSearch::default(),
        })
    };
    let mut back = spawn("Bo", [0.05, 5.0], goal(-1.0));
    if let Op::Spawn(spawn) = &mut back {
        spawn.facing = std::f32::consts::PI;
    }
    let ops = [(0, spawn("Ana", [0.0, 0.0], goal(6.0))), (0, back)];
    let played = Performance::play(kits(), &ops, 20 * u64::from(TICKS));
    let takes = played.takes().unwrap();
    let depth = overlap::of_bodies(&takes.iter().map(|t| &t.clip).collect::<Vec<_>>());
    assert!(depth < 0.03, "{depth} m");
    let arrived = played.events.iter().filter(|e| matches!(e.kind, EventKind::Arrived { .. })).count();
    assert_eq!(arrived, 2);
    assert!(takes.iter().all(|t| (t.clip.seconds() - 20.0).abs() < 0.1));
}

#[test]
fn what_cannot_be_done_is_a_fault_and_the_tick_goes_on() {
    let (mut world, mut pipeline) = (World::default(), Pipeline::default());
    let ops = [
        spawn("Ana", [0.0, 0.0], Wish::Wander),
        spawn("Ana", [3.0, 0.0], Wish::Wander),
        spawn("Bo", [f32::NAN, 0.0], Wish::Wander),
        throw("Cy", [0.0, 1.0, 5.0], 10.0, Target::Head),
        throw("Ana", [0.0, 1.0, 5.0], f32::INFINITY, Target::Head),
    ];
    let faults: Vec<Fault> = pipeline
        .step(kits(), &mut world, &ops)
        .iter()
        .filter_map(|e| if let EventKind::Fault(fault) = &e.kind { Some(fault.clone()) } else { None })
        .collect();
    let named = |name: &str| name.to_owned();
    assert_eq!(faults[0], Fault::NameTaken { name: named("Ana") });
    assert!(matches!(faults[1], Fault::NotFinite { .. }) && matches!(faults[3], Fault::NotFinite { .. }));
    assert_eq!(faults[2], Fault::Nobody { name: named("Cy") });
    assert_eq!((world.characters.len(), world.balls.len(), world.tick), (1, 0, 1));
}

/// Whoever is in guard stays in guard, reacts to nothing that did not happen, and does not wait for the end of an idle to do something.
#[test]
fn wanderers_keep_their_guard() {
    let kit = &kits()[0];
    let (graph, library) = (kit.graph(), kit.library());
    let (mut legs, mut left_idles) = (0, 0);
    for seed in 0..20 {
        let Op::Spawn(spawn) = spawn("Ana", [0.0, 0.0], Wish::Wander) else { unreachable!() };
        let (mut world, mut pipeline) = (World::default(), Pipeline::default());
        pipeline.step(kits(), &mut world, &[Op::Spawn(Spawn { seed: 900 + seed, ..spawn })]);
        for _ in 0..20 * TICKS {
            pipeline.step(kits(), &mut world, &[]);
            for began in pipeline.began().iter().filter_map(|(_, began)| *began) {
                let clip = library.clip(graph.edge(began.edge).clip);
                assert!(kit.is_guarded(began.edge), "seed {seed}: {} lowers the guard", clip.name);
                let mut spans = graph.spans(began.edge).iter().map(|s| clip.spans[s.span as usize].kind);
                assert!(spans.all(|kind| kind != SpanKind::React), "seed {seed}: {}", clip.name);
                legs += 1;
                left_idles += u32::from(began.leave.is_some());
            }
        }
    }
    assert!(legs > 200 && left_idles > 20, "{legs} legs, {left_idles} idles left");
}

/// What is asked for is what plays, at the very moment.
#[test]
fn characters_begin_where_they_are_told() {
    let kit = &kits()[0];
    let (edge, since) = kit.entry(&Begin::parse("jab@0.4")).unwrap();
    let character = kit.spawn_on(edge, since, Vec2::new(1.0, 2.0), 0.5);
    let source = character.source();
    assert_eq!(kit.library().clip(source.clip).name, "jab");
    assert!((source.time - 0.4).abs() < 1e-4, "{}", source.time);
    let root = character.pose().root();
    assert!((Vec2::new(root.x, root.z) - Vec2::new(1.0, 2.0)).length() < 0.05, "{root}");
    assert_eq!(kit.entry(&Begin::parse("jab@99")), None);
    assert_eq!(kit.entry(&Begin::parse("no such clip")), None);
    assert_eq!(Begin::parse("a@b"), Begin { clip: "a@b".into(), at: None });
    assert_eq!(Begin::parse("a@b@1.5"), Begin { clip: "a@b".into(), at: Some(1.5) });
}

/// A plan may leave what is played a little later: until then nothing changes but for soles, which the floor gets hold of a little ahead; then its first leg
/// plays, and nothing jumps.
#[test]
fn a_plan_leaves_what_is_played_in_its_time() {
    let kit = &kits()[0];
    let (library, graph) = (kit.library(), kit.graph());
    let interrupts = library.interrupts();
    let begins =
        (0..30).map(|k| 0.1 * k as f32).map(|at| (at, kit.entry(&Begin { clip: "guard-idle".into(), at: Some(at) })));
    let lasts =
        |(_, entry): &(f32, Option<(EdgeIdx, f32)>)| entry.is_some_and(|(e, s)| graph.edge(e).seconds - s > 0.3);
    let (at, entry) = begins.into_iter().find(lasts).unwrap();
    let (edge, since) = entry.unwrap();
    let mut character = kit.spawn_on(edge, since, Vec2::ZERO, 0.0);
    let mut waits = character.clone();
    let later = 0.2;
    let clip = graph.edge(edge).clip;
    let frame = FrameIdx(((at + later) * library.clip(clip).fps()).round() as u32);
    let mut ready = interrupts.at(clip, frame);
    let (number, cost) = ready.find(|(number, _)| interrupts.onsets()[*number].kind == SpanKind::Avoid).unwrap();
    let onset = &interrupts.onsets()[number];
    let join = Some(library.join_onset(clip, frame, onset, cost));
    let leg = Leg { enter: onset.enter, join, ..Leg::whole(onset.edge) };
    character.commit(Plan { legs: vec![leg], leave: Some(later), warp: Warp::none(), bend: None });
    assert!((character.leaves().unwrap() - later).abs() < 1e-6);
    let speed = |a: &Pose, b: &Pose| (b.root() - a.root()).length() * TICKS as f32;
    for tick in 1..=60 {
        let before = character.pose().clone();
        let began = character.step(|_, next| next[0]);
        waits.step(|_, next| next[0]);
        assert_eq!(began.is_some(), tick == 24, "tick {tick}");
        assert_eq!(character.pose() == waits.pose(), tick < 24, "tick {tick}");
        assert!(speed(&before, character.pose()) < 3.0, "tick {tick}");
    }
    assert_eq!((character.playing().edge, character.leaves()), (onset.edge, None));
}
