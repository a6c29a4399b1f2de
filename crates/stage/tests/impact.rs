//! Hits on stage: what physics shows, what comes of it, and that nobody sees it come and go.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::{Arc, OnceLock};

use kumite_captures::whole_library;
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{Clip, Pose, Quat, Role, Vec2, Vec3};
use kumite_plan::dodge::DodgeConfig;
use kumite_react::response::Settings;
use kumite_react::{Impact, Request};
use kumite_stage::brace_trial::Moment;
use kumite_stage::impact_trial::{self, How, Kind, Struck};
use kumite_stage::op::{Begin, Op, Spawn, ThrowOp};
use kumite_stage::recoveries::Recoveries;
use kumite_stage::world::{Perception, Wish};
use kumite_stage::{Defence, EventKind, Kit, Performance, Pipeline, TICKS, Target, impact_referee, overlap};

fn kits() -> &'static [Arc<Kit>] {
    static KITS: OnceLock<Vec<Arc<Kit>>> = OnceLock::new();
    KITS.get_or_init(|| {
        let library = Arc::new(whole_library("embedded").unwrap());
        vec![Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), None))]
    })
}

fn recoveries() -> &'static Recoveries {
    kits()[0].recoveries()
}

/// Somebody who sees nothing come, and a ball.
fn ops(begin: &str, target: Target, from: [f32; 3], (speed, radius, mass): (f32, f32, f32)) -> Vec<(u64, Op)> {
    let spawn = Spawn {
        name: "Ana".into(),
        kit: 0,
        at: Vec2::ZERO,
        facing: 0.0,
        begin: Some(Begin::parse(begin)),
        wish: Wish::Stay,
        perception: Perception::BLIND,
        seed: 5,
    };
    let from = Vec3::from_array(from);
    let throw = ThrowOp { at: "Ana".into(), target, sphere: 0, from, lead: None, speed, radius, mass, falls: false };
    vec![(0, Op::Spawn(spawn)), (60, Op::Throw(throw))]
}

fn times(played: &Performance, kind: impl Fn(&EventKind) -> bool) -> Vec<f32> {
    played.events.iter().filter(|e| kind(&e.kind)).map(|e| e.tick as f32 / TICKS as f32).collect()
}

/// A ball at a part of somebody who stands, from the front.
fn struck(part: Role, mass: f32, speed: f32, settings: Settings) -> Struck {
    let moment = Moment::named(kits()[0].library(), "stand-idle", Some(1.0)).unwrap();
    let target = moment.aim(0.4, part, 0);
    let impact = Impact { target, velocity: Vec3::NEG_Z * speed, radius: 0.11, mass };
    // Physics alone: no motion answers.
    let how = How { braced: false, settings, returns: kumite_stage::Return::Original };
    impact_trial::play(&moment, recoveries(), &Request::new(impact, 0.4), how).unwrap()
}

fn clip(struck: &Struck) -> Clip {
    struck.recorder.clone().finish("struck", kits()[0].library().skeleton()).unwrap().clip
}

/// The bounds, on stage.
#[test]
fn a_football_shows() {
    for (part, least) in [(Role::Head, 0.08), (Role::Back, 0.03), (Role::Pelvis, 0.015)] {
        let struck = struck(part, 0.45, 25.0, Settings::default());
        let (_, touch) = struck.outcome.touch.unwrap();
        assert_eq!(touch.part, part);
        assert!(struck.outcome.moved >= least, "{}: {}", part.name(), struck.outcome.moved);
        assert!(struck.outcome.gap <= 0.01 && struck.outcome.recovered.unwrap() < 1.5, "{:?}", struck.outcome);
    }
}

#[test]
fn a_cannonball_throws_down_and_it_gets_up() {
    let ops = ops("guard-idle", Target::Chest, [0.0, 1.3, 2.0], (10.0, 0.18, 10.0));
    let played = Performance::play(kits(), &ops, 8 * u64::from(TICKS));
    let hit = times(&played, |k| matches!(k, EventKind::Struck { .. }));
    let (down, up) = (times(&played, |k| *k == EventKind::Down), times(&played, |k| *k == EventKind::Up));
    assert_eq!((hit.len(), down.len(), up.len()), (1, 1, 1), "{hit:?} {down:?} {up:?}");
    assert!(hit[0] < down[0] && down[0] < up[0] && up[0] - hit[0] < 6.0);
    let take = played.takes().unwrap().remove(0);
    assert!(take.quality.snap <= 1.5 && take.quality.foot_slide_cm_s <= 2.0, "{:?}", take.quality);
    let judged = impact_referee::judge(&take.clip, hit[0], Role::LeftElbow);
    assert!(judged.pelvis < 0.3 && judged.upright > 0.8 && judged.lowest > -0.05 && judged.finite, "{judged:?}");
}

/// Captured ways up may last as long as their edge: that they are over is told all the same.
#[test]
fn captured_people_get_up() {
    let Some(library) = whole_library("cmu-fight") else { return };
    let kits = [Arc::new(Kit::new(Defence::new(Arc::new(library), DodgeConfig::default()), None))];
    let ops = ops("13_17", Target::Chest, [0.0, 1.3, 2.0], (10.0, 0.18, 10.0));
    let played = Performance::play(&kits, &ops, 12 * u64::from(TICKS));
    let (down, up) = (times(&played, |k| *k == EventKind::Down), times(&played, |k| *k == EventKind::Up));
    assert!(down.len() == 1 && up.len() == 1 && up[0] > down[0], "{down:?} {up:?}");
}

#[test]
fn a_shove_is_caught_by_steps() {
    let ops = ops("stand-idle", Target::Chest, [0.0, 1.3, 2.0], (10.0, 0.15, 4.0));
    let played = Performance::play(kits(), &ops, 3 * u64::from(TICKS));
    assert_eq!(times(&played, |k| *k == EventKind::Staggered).len(), 1);
    assert!(times(&played, |k| *k == EventKind::Down).is_empty());
    let take = played.takes().unwrap().remove(0);
    assert!(take.quality.snap <= 1.5, "{:?}", take.quality);
    let judged = impact_referee::judge(&take.clip, 0.66, Role::Back);
    assert!(judged.pelvis > 0.6 && judged.upright > 0.7 && judged.jolt.z < -0.5, "{judged:?}");
    assert!(played.world.characters.values().all(|m| m.damage > 0.0 && m.character.response().is_none()));
}

#[test]
fn random_hits_keep_their_promises() {
    let library = kits()[0].library();
    for (kind, count) in [(Kind::Volleyball, 16), (Kind::Shove, 10), (Kind::Cannonball, 6)] {
        let (mut hits, mut well) = (0, 0);
        for seed in 0..count {
            let (moment, request) = impact_trial::random(library, 4_200 + seed, kind).unwrap();
            let how = How { braced: kind == Kind::Volleyball, ..How::default() };
            let outcome = impact_trial::play(&moment, recoveries(), &request, how).unwrap().outcome;
            let Some((_, touch)) = outcome.touch else { continue };
            hits += 1;
            assert!(outcome.gap <= 0.015 && outcome.sunk <= 0.015, "{kind:?} {seed}: {outcome:?}");
            well += i32::from(match kind {
                Kind::Cannonball if touch.change() > 1.3 => {
                    outcome.down.is_some() && outcome.up.is_some_and(|up| up < 6.0)
                }
                Kind::Cannonball => true,
                _ => outcome.down.is_none() && outcome.recovered.is_some_and(|back| back < 1.5),
            });
        }
        assert!(hits * 10 >= count as i32 * 8 && well * 10 >= hits * 9, "{kind:?}: {well} of {hits} of {count}");
    }
}

/// Pushes from all round carry people the way they push, turn them little and leave a foot on the floor.
#[test]
fn people_go_where_they_are_pushed() {
    let library = kits()[0].library();
    let how = How { braced: false, ..How::default() };
    let played = |seed: u64| {
        let (moment, request) = impact_trial::random_from_anywhere(library, 9_000_000 + seed, Kind::Shove)?;
        let outcome = impact_trial::play(&moment, recoveries(), &request, how)?.outcome;
        outcome.touch.filter(|(_, touch)| (0.25..=0.9).contains(&touch.change())).map(|_| outcome)
    };
    let all: Vec<impact_trial::Outcome> = (0..300).filter_map(played).collect();
    let sorted = |mut values: Vec<f32>| {
        values.sort_by(f32::total_cmp);
        move |share: f32| values[(values.len() as f32 * share) as usize]
    };
    let aside = sorted(all.iter().filter_map(|o| o.aside()).map(f32::to_degrees).collect());
    let turned = sorted(all.iter().map(|o| o.turned.abs().to_degrees()).collect());
    let floats = all.iter().map(|o| o.floats).fold(0.0, f32::max);
    assert!(all.len() > 250 && aside(0.5) <= 15.0 && aside(0.9) <= 38.0, "{} {}", aside(0.5), aside(0.9));
    assert!(turned(0.5) <= 18.0 && turned(0.9) <= 33.0, "{} {}", turned(0.5), turned(0.9));
    assert!(floats <= 0.05, "{floats}");
}

/// Clones in the middle of a fall, continued by a new pipeline, give the same bits.
#[test]
fn a_snapshot_in_the_middle_of_a_fall_is_enough() {
    let ops = ops("guard-idle", Target::Chest, [0.0, 1.3, 2.0], (10.0, 0.18, 10.0));
    let due = |tick: u64| ops.iter().filter(|(when, _)| *when == tick).map(|(_, op)| op.clone()).collect::<Vec<Op>>();
    let mut pipeline = Pipeline::default();
    let (mut world, mut copies) = (kumite_stage::World::default(), Vec::new());
    let pose = |world: &kumite_stage::World| world.characters.values().next().unwrap().character.pose().clone();
    let mut shown: Vec<Pose> = Vec::new();
    for tick in 0..700 {
        if [80, 100, 130, 220, 300].contains(&tick) {
            copies.push((tick, world.clone()));
        }
        pipeline.step(kits(), &mut world, &due(tick));
        shown.push(pose(&world));
    }
    for (from, mut copy) in copies {
        let mut other = Pipeline::default();
        for tick in from..from + 120 {
            other.step(kits(), &mut copy, &due(tick));
            assert_eq!(pose(&copy), shown[tick as usize], "from {from}, tick {tick}");
        }
    }
}

/// A touch that pushes nothing: physics comes and goes, and nothing is seen of it.
#[test]
fn coming_and_going_is_invisible() {
    let with = |gain: f32| struck(Role::Back, 0.45, 25.0, Settings { gain, ..Settings::default() });
    let nothing = with(0.0);
    assert!(nothing.outcome.simulated > 30);
    assert!(nothing.outcome.moved < 0.005, "{}", nothing.outcome.moved);
    let take = nothing.recorder.clone().finish("struck", kits()[0].library().skeleton()).unwrap();
    assert!(take.quality.snap < 0.3 && take.quality.snap_in_impacts < 0.3, "{:?}", take.quality);
    // What is seen then is the push.
    assert!(with(1.0).outcome.moved > 6.0 * nothing.outcome.moved);
}

#[test]
fn the_referee_sees_deliberate_faults() {
    let good = struck(Role::Head, 0.45, 25.0, Settings::default());
    let (hit, _) = good.outcome.touch.unwrap();
    let judged = |clip: &Clip| impact_referee::judge(clip, hit, Role::Head);
    let sees = judged(&clip(&good));
    assert!(sees.jolt.z < -1.0 && sees.lowest > -0.05 && sees.upright > 0.8 && sees.finite, "{sees:?}");
    // A hit that nobody feels.
    let numb = struck(Role::Head, 0.45, 25.0, Settings { gain: 0.0, ..Settings::default() });
    assert!(judged(&clip(&numb)).jolt.length() < 0.3, "{:?}", judged(&clip(&numb)));
    // A body that is pulled towards what hits it.
    let pulled = struck(Role::Head, 0.45, 25.0, Settings { gain: -1.0, ..Settings::default() });
    assert!(judged(&clip(&pulled)).jolt.z > 1.0);
    // A body that sinks into the floor, and one that is not a number.
    let with = |change: &dyn Fn(&mut Pose)| {
        let whole = clip(&good);
        let poses = |frame: usize, pose: &mut Pose| {
            whole.pose(kumite_motion::FrameIdx(frame as u32), pose);
            change(pose);
        };
        Clip::from_fn("bad", Arc::clone(whole.skeleton()), whole.fps(), whole.frames(), poses)
    };
    assert!(judged(&with(&|pose| pose.translations[0].y -= 0.2).unwrap()).lowest < -0.1);
}

#[test]
fn the_search_finds_what_is_nearest() {
    let found = recoveries();
    assert!(found.searched() > 1_000, "{}", found.searched());
    assert!(found.steps().len() >= 3 && found.falls().len() >= 3 && found.rises().len() >= 3);
    let moment = Moment::named(kits()[0].library(), "stand-idle", Some(1.0)).unwrap();
    let target = moment.aim(0.4, Role::Back, 0);
    let impact = Impact { target, velocity: Vec3::NEG_Z * 15.0, radius: 0.11, mass: 1.0 };
    let how = How { braced: false, returns: kumite_stage::Return::Search, ..How::default() };
    let struck = impact_trial::play(&moment, found, &Request::new(impact, 0.4), how).unwrap();
    assert!(struck.outcome.answer.is_some() && struck.outcome.recovered.is_some(), "{:?}", struck.outcome);
}

/// Somebody who plays a walk and looks at nothing.
fn walker(name: &str, at: Vec2, facing: f32) -> Op {
    Op::Spawn(Spawn {
        name: name.into(),
        kit: 0,
        at,
        facing,
        begin: Some(Begin::parse("walk@0.6")),
        wish: Wish::Stay,
        perception: Perception::BLIND,
        seed: 5,
    })
}

/// A box that is put before somebody who walks stops its leg; it stumbles or falls, and is on its feet in the end.
#[test]
fn whoever_walks_into_a_box_stumbles() {
    let half = Vec3::new(0.4, 0.25, 0.2);
    let box_at = |z: f32| Obstacle { shape: Shape::Box { half }, at: Vec3::new(0.0, 0.25, z), turn: Quat::IDENTITY };
    let play = |z: f32| {
        let ops = [(0, walker("Ana", Vec2::ZERO, 0.0)), (20, Op::Place(box_at(z)))];
        Performance::play(kits(), &ops, 8 * u64::from(TICKS))
    };
    let (near, far) = (play(0.6), play(30.0));
    let struck = |played: &Performance| {
        let legs = |part: Role| matches!(part, Role::LeftKnee | Role::RightKnee | Role::LeftHip | Role::RightHip);
        times(played, |k| matches!(k, EventKind::Struck { part, .. } if legs(*part)))
    };
    assert!(struck(&far).is_empty() && !struck(&near).is_empty(), "{:?} {:?}", struck(&far), struck(&near));
    let take = near.takes().unwrap().remove(0);
    let judged = impact_referee::judge(&take.clip, struck(&near)[0], Role::LeftKnee);
    assert!(judged.finite && judged.upright > 0.7 && judged.lowest > -0.05, "{judged:?}");
}

/// Two who walk into each other are pushed apart; played each alone they would be deep in each other.
#[test]
fn bodies_that_meet_are_pushed_apart() {
    let [one, other] = [walker("Ana", Vec2::ZERO, 0.0), walker("Ben", Vec2::new(0.1, 0.7), std::f32::consts::PI)];
    let play = |ops: &[Op]| {
        let ops: Vec<(u64, Op)> = ops.iter().map(|op| (0, op.clone())).collect();
        let played = Performance::play(kits(), &ops, u64::from(TICKS));
        let clips: Vec<Clip> = played.takes().unwrap().into_iter().map(|take| take.clip).collect();
        clips
    };
    let (alone, both) = ([&one, &other].map(|op| play(std::slice::from_ref(op))).concat(), play(&[one, other]));
    let deep = |clips: &[Clip]| overlap::of_bodies(&clips.iter().collect::<Vec<_>>());
    assert!(deep(&alone) > 0.2, "{}", deep(&alone));
    assert!(deep(&both) < 0.5 * deep(&alone), "{} of {}", deep(&both), deep(&alone));
}
