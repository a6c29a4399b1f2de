//! Braces on the embedded motions: what the referee sees of random threats, what it does not overlook, and the row of the arbiter.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::{Arc, OnceLock};

use kumite_captures::whole_library;
use kumite_motion::library::Library;
use kumite_motion::rotation::about;
use kumite_motion::{Contacts, Role, Vec2, Vec3};
use kumite_plan::dodge::DodgeConfig;
use kumite_react::Request;
use kumite_react::balance::Case;
use kumite_stage::brace_referee::{Judged, Promise, judge};
use kumite_stage::brace_trial::{Moment, Played, random};
use kumite_stage::op::{Begin, Op, Spawn, ThrowOp};
use kumite_stage::walk::Walker;
use kumite_stage::world::{Perception, Wish};
use kumite_stage::{BallOutcome, Defence, EventKind, Kit, Performance, Pipeline, TICKS, Target, World};

fn library() -> &'static Arc<Library> {
    static LIBRARY: OnceLock<Arc<Library>> = OnceLock::new();
    LIBRARY.get_or_init(|| Arc::new(whole_library("embedded").unwrap()))
}

fn kits() -> &'static [Arc<Kit>] {
    static KITS: OnceLock<Vec<Arc<Kit>>> = OnceLock::new();
    KITS.get_or_init(|| {
        let walker = Walker::new(Arc::clone(library()), Some(&Default::default()));
        vec![Arc::new(Kit::new(Defence::new(Arc::clone(library()), DodgeConfig::default()), Some(walker)))]
    })
}

fn promise(played: &Played) -> Promise {
    let timing = played.brace.timing();
    Promise {
        target: played.impact.target,
        along: played.impact.along(),
        contact: played.seconds,
        reaches: timing.reaches,
        leaves: timing.leaves,
        planted: played.brace.planted(),
    }
}

fn judged(played: &Played) -> Judged {
    judge(library().skeleton(), &played.shown, &promise(played))
}

/// A ball at the head of somebody in guard, from the front.
fn frontal() -> Played {
    let moment = Moment::named(library(), "guard-idle", None).unwrap();
    let target = moment.aim(0.6, Role::Head, 0);
    let velocity = Vec3::new(0.0, -0.5, -18.0);
    let impact = kumite_react::Impact { target, velocity, radius: 0.11, mass: 0.43 };
    moment.play(&Request::new(impact, 0.6)).unwrap()
}

#[test]
fn random_threats_are_braced_for_as_promised() {
    let (mut trials, mut balanced, mut planted, mut guarded, mut frontal, mut quiet) = (0, 0, 0, 0, 0, 0);
    for seed in 0..60 {
        let (moment, request) = random(library(), 77_000 + seed).unwrap();
        let played = moment.play(&request).unwrap();
        let judged = judged(&played);
        assert!(judged.finite, "{seed}");
        assert!(judged.slide < 0.01, "{seed}: slides {}", judged.slide);
        assert!(judged.beyond_limits.to_degrees() < 8.0, "{seed}: {judged:?}");
        trials += 1;
        quiet += u32::from(judged.penetration <= 0.02);
        if played.brace.planted() && played.solved.case != Case::OutOfBalance {
            let off = Vec2::new(judged.centre.x, judged.centre.z) - played.solved.centres[1];
            planted += 1;
            balanced += u32::from(off.length() <= 0.01);
        } else if !played.brace.planted() {
            assert!(judged.centre_off < 0.03, "{seed}: {}", judged.centre_off);
        }
        let aim = &played.solved.aim;
        if aim.eccentricity.abs() < 1.05 && aim.part != kumite_react::rules::Part::Legs && played.seconds >= 0.4 {
            frontal += 1;
            guarded += u32::from(judged.guard <= 0.12);
        }
    }
    assert!(planted > 20 && f64::from(balanced) >= 0.95 * f64::from(planted), "{balanced} of {planted}");
    assert!(frontal > 5 && f64::from(guarded) >= 0.9 * f64::from(frontal), "{guarded} of {frontal}");
    assert!(f64::from(quiet) >= 0.9 * f64::from(trials), "{quiet} of {trials}");
}

#[test]
fn the_referee_sees_deliberate_faults() {
    let good = frontal();
    let sees = judged(&good);
    assert!(sees.guard < 0.12 && sees.unbraced_guard < 1.0 && sees.slide < 0.002, "{sees:?}");
    assert!(sees.beyond_limits < 0.04 && sees.penetration < 0.02 && sees.neck_strays < 0.01, "{sees:?}");
    let with = |change: &dyn Fn(usize, &mut kumite_motion::Pose)| {
        let mut bad = good.clone();
        bad.shown.poses.iter_mut().enumerate().for_each(|(tick, pose)| change(tick, pose));
        judged(&bad)
    };
    // The body slides by 3 cm, from half-way on.
    let slid = with(&|tick, pose| pose.translations[0].x += if tick > 20 { 0.03 } else { 0.0 });
    assert!(slid.slide > 0.025, "{slid:?}");
    assert!((slid.centre - sees.centre).length() > 0.025);
    // An elbow bends backwards.
    let bent = with(&|_, pose| pose.rotations[Role::LeftElbow.joint().at()] = about(Vec3::Y, 1.2));
    assert!(bent.beyond_limits.to_degrees() > 20.0 && bent.beyond_which == Some(Role::LeftElbow), "{bent:?}");
    // Arms hang: nothing is before the face.
    let open = with(&|_, pose| {
        for (role, side) in [(Role::LeftShoulder, 1.0), (Role::RightShoulder, -1.0)] {
            pose.rotations[role.joint().at()] = about(Vec3::Z, -1.4 * side);
        }
        for role in [Role::LeftElbow, Role::RightElbow] {
            pose.rotations[role.joint().at()] = kumite_motion::Quat::IDENTITY;
        }
    });
    assert!(open.guard > 0.2, "{open:?}");
    // A forearm across the chest, right through it.
    let through = with(&|_, pose| {
        pose.rotations[Role::LeftShoulder.joint().at()] = about(Vec3::Z, -1.4);
        pose.rotations[Role::LeftElbow.joint().at()] = about(Vec3::Z, -1.5);
    });
    assert!(through.penetration > 0.05, "{through:?}");
    // Not a number.
    assert!(!with(&|_, pose| pose.translations[0].y = f32::NAN).finite);
}

#[test]
fn a_planted_brace_stops_the_motion_and_resumes_it() {
    let played = frontal();
    assert!(played.brace.planted());
    let ticks = |seconds: f32| (seconds * TICKS as f32) as usize;
    let below = &played.shown.below;
    let leaves = ticks(played.seconds);
    let moved = |a: usize, b: usize| (below[a].root() - below[b].root()).length();
    assert!(moved(leaves - 12, leaves) < 1e-5, "it still moves");
    assert!(played.shown.contacts.iter().take(leaves).all(|c| c.has(Contacts::LEFT_TOE) || c.has(Contacts::RIGHT_TOE)));
    assert!(played.touch.is_some_and(|touch| matches!(
        touch.1,
        Role::LeftWrist | Role::RightWrist | Role::LeftElbow | Role::RightElbow
    )));
}

/// Somebody who stands, and a ball.
fn thrown(target: Target, from: Vec3, speed: f32, perception: Perception) -> Performance {
    let spawn = Spawn {
        name: "Ana".into(),
        kit: 0,
        at: Vec2::ZERO,
        facing: 0.0,
        begin: Some(Begin::parse("stand-idle")),
        wish: Wish::Stay,
        perception,
        seed: 5,
    };
    let mut ball = ThrowOp::football("Ana", target, from, speed);
    ball.lead = Some(0.45);
    let ops = [(0, Op::Spawn(spawn)), (60, Op::Throw(ball))];
    Performance::play(kits(), &ops, 400)
}

fn braces(performance: &Performance) -> usize {
    performance.events.iter().filter(|e| matches!(e.kind, EventKind::Braced { .. })).count()
}

#[test]
fn what_is_neither_dodged_nor_blocked_is_braced_for() {
    // From all round at every part: each ball that hits was answered, braced for, or known too late.
    let (mut braced, mut smooth) = (0, 0);
    for (k, target) in Target::ALL.into_iter().cycle().take(300).enumerate() {
        let from = kumite_motion::rotation::yaw(k as f32 * 0.9) * Vec3::new(0.0, 1.4, 9.0);
        let played = thrown(target, from, 16.0, Perception::ALL_ROUND);
        let answered = played.events.iter().any(|e| matches!(e.kind, EventKind::Answered { .. }));
        let outcome = played.flights[0].end.unwrap().0;
        assert!(answered || braces(&played) == 1, "{target:?} from {from}: {outcome:?}, nothing was done");
        if outcome == BallOutcome::Braced {
            assert_eq!(braces(&played), 1);
        }
        if braces(&played) > 0 {
            braced += 1;
            smooth += u32::from(played.takes().unwrap()[0].quality.snap <= 1.5);
        }
    }
    println!("{braced} braced for");
    assert!(braced >= 3 && smooth == braced, "{smooth} of {braced}");
}

#[test]
fn nobody_braces_for_what_misses_or_is_not_known() {
    let wide = {
        let mut played = Performance::default();
        let spawn = |op: Op, played: &mut Performance| played.step(kits(), &[op]);
        let character = Spawn {
            name: "Ana".into(),
            kit: 0,
            at: Vec2::ZERO,
            facing: 0.0,
            begin: Some(Begin::parse("stand-idle")),
            wish: Wish::Stay,
            perception: Perception::ALL_ROUND,
            seed: 5,
        };
        let far = Spawn { name: "Bo".into(), at: Vec2::new(1.2, -3.0), ..character.clone() };
        spawn(Op::Spawn(character), &mut played);
        spawn(Op::Spawn(far), &mut played);
        // At Bo, past Ana.
        spawn(Op::Throw(ThrowOp::football("Bo", Target::Head, Vec3::new(1.2, 1.6, 8.0), 20.0)), &mut played);
        for _ in 0..240 {
            played.step(kits(), &[]);
        }
        let ana = played.world.named("Ana");
        played.events.iter().filter(|e| matches!(e.kind, EventKind::Braced { .. }) && e.who == ana).count()
    };
    assert_eq!(wide, 0);
    assert_eq!(braces(&thrown(Target::Chest, Vec3::new(0.0, 1.4, -9.0), 16.0, Perception::BLIND)), 0);
}

#[test]
fn a_snapshot_in_the_middle_of_a_brace_goes_on_the_same() {
    let spawn = Spawn {
        name: "Ana".into(),
        kit: 0,
        at: Vec2::ZERO,
        facing: 0.0,
        begin: Some(Begin::parse("stand-idle")),
        wish: Wish::Stay,
        perception: Perception::ALL_ROUND,
        seed: 5,
    };
    // Any ball that she braces for.
    let (mut world, mut pipeline) = (World::default(), Pipeline::default());
    for k in 0..20 {
        (world, pipeline) = (World::default(), Pipeline::default());
        let from = kumite_motion::rotation::yaw(k as f32 * 0.9) * Vec3::new(0.0, 1.4, 9.0);
        let mut ball = ThrowOp::football("Ana", Target::ALL[k % 5], from, 16.0);
        ball.lead = Some(0.45);
        pipeline.step(kits(), &mut world, &[Op::Spawn(spawn.clone())]);
        pipeline.step(kits(), &mut world, &[Op::Throw(ball)]);
        for _ in 0..20 {
            pipeline.step(kits(), &mut world, &[]);
        }
        if world.characters.values().any(|m| m.character.brace().is_some()) {
            break;
        }
    }
    let bracing = world.characters.values().any(|m| m.character.brace().is_some());
    let mut copy = world.clone();
    for _ in 0..300 {
        pipeline.step(kits(), &mut world, &[]);
        Pipeline::default().step(kits(), &mut copy, &[]);
    }
    let pose = |world: &World| world.characters.values().next().unwrap().character.pose().clone();
    assert!(bracing, "nothing was braced for");
    assert_eq!(pose(&world), pose(&copy));
    assert!(world.characters.values().all(|m| m.character.brace().is_none()), "it never ends");
}
