//! Hits: how long physics takes, alone, beside MuJoCo and in a snapshot; the nearest pose among 40,000, exact; how far a ball moves what it hits; and what
//! comes of random hits. `KUMITE_IMPACT_SEED` takes another seed than the claim's, `KUMITE_IMPACT_SHARE` a share of its hits.

use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_motion::rotation::yaw;
use kumite_motion::{Chance, Contacts, Role, Vec3, WorldPose, fk};
use kumite_react::nearest::{Features, Nearest, WIDTH, features};
use kumite_react::ragdoll::parts::PARTS;
use kumite_react::ragdoll::{Physics, Pull, Ragdoll};
use kumite_react::response::Settings;
use kumite_react::{Impact, Phase, Request, Response, Touch};
use kumite_stage::brace_trial::Moment;
use kumite_stage::impact_trial::{self, How, Kind, Outcome};
use kumite_stage::recoveries::Recoveries;
use rayon::prelude::*;

use crate::{best, figure, holds, ragdoll_peer};

const TICK: f32 = 1.0 / 120.0;
const SEED: u64 = 20;
/// Volleyballs, shoves, cannonballs.
const COUNTS: [u64; 3] = [1000, 500, 250];
const FRAMES: usize = 40_000;

pub(crate) fn run() {
    let Some(library) = kumite_captures::whole_library("embedded") else { return holds(false) };
    let library = Arc::new(library);
    let recoveries = Recoveries::of(&library);
    let quick = steps(&library, &recoveries) & search(&library);
    if let Some(build) = recoveries.build() {
        ragdoll_peer::measure(build);
    }
    let shows = moves(&library, &recoveries) & energy(&library, &recoveries);
    let well = hits(&library, &recoveries);
    holds(quick && shows && well);
}

/// A number from the environment.
fn asked(name: &str, usual: f64) -> f64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// How far a football at 25 m/s moves what it hits within 150 ms, at least: from all round, at several moments of standing, glancing blows left out.
fn moves(library: &Arc<kumite_motion::library::Library>, recoveries: &Recoveries) -> bool {
    const SPEED: f32 = 25.0;
    let mut all = true;
    for (name, part, bound) in [
        ("head", Role::Head, 0.08),
        ("forearm", Role::LeftElbow, 0.06),
        ("chest", Role::Back, 0.03),
        ("pelvis", Role::Pelvis, 0.015),
    ] {
        let one = |k: u32| {
            let moment = Moment::named(
                library,
                ["stand-idle", "guard-idle"][k as usize % 2],
                Some(0.5 + 0.2 * (k / 2 % 4) as f32),
            )?;
            let target = moment.aim(0.4, part, k / 8);
            let along = yaw(std::f32::consts::TAU * (k as f32) / 24.0) * Vec3::NEG_Z;
            let impact = Impact { target, velocity: along * SPEED, radius: 0.11, mass: 0.45 };
            let how = How { braced: false, ..How::default() };
            let outcome = impact_trial::play(&moment, recoveries, &Request::new(impact, 0.4), how)?.outcome;
            let direct = outcome.touch.is_some_and(|(_, t)| t.part == part && t.closing() > 0.9 * SPEED);
            direct.then_some(outcome.moved)
        };
        let moved: Vec<f32> = (0..72u32).into_par_iter().filter_map(one).collect();
        let least = moved.iter().copied().fold(f32::INFINITY, f32::min);
        figure(&format!("direct hits on the {name}"), moved.len() as f64, "");
        figure(&format!("{name} moves within 150 ms, at least"), 100.0 * f64::from(least), "cm");
        all &= least.is_finite() && least >= bound;
    }
    all
}

/// How much the energy of a limp body grows at most while it flies and falls, thrown from random poses with random pushes.
fn energy(library: &Arc<kumite_motion::library::Library>, recoveries: &Recoveries) -> bool {
    let Some(build) = recoveries.build() else { return false };
    let mut chance = Chance::new(SEED);
    let (mut most, mut widest) = (0.0f32, 0.0f32);
    for _ in 0..40 {
        let Some(moment) = Moment::random(library, &mut chance) else { continue };
        let mut world = moment.character.world().clone();
        world.positions.iter_mut().for_each(|p| p.y += 1.5);
        let mut ragdoll = Ragdoll::new(build, &world, &world, TICK, &[]);
        let part = chance.below(PARTS as u32) as usize;
        let push = Vec3::new(chance.unit() - 0.5, chance.unit() - 0.5, chance.unit() - 0.5).normalize_or(Vec3::X);
        let place = ragdoll.place(part).0;
        // As fast as a football makes it.
        ragdoll.push(part, push * (15.0 * build.parts()[part].mass).min(15.0), place);
        let (mut physics, first) = (Physics::default(), ragdoll.energy());
        for _ in 0..180 {
            ragdoll.step(&mut physics, &world, &Pull::LIMP, TICK);
            most = most.max(ragdoll.energy() / first - 1.0);
            widest = widest.max(ragdoll.gap());
        }
    }
    figure("energy of a limp body grows, at most", 100.0 * f64::from(most), "%");
    figure("widest gap of a limp body", 100.0 * f64::from(widest), "cm");
    most <= 0.02
}

/// Microseconds of a tick of physics by phase, over one hit with a football and one with a cannonball.
fn steps(library: &Arc<kumite_motion::library::Library>, recoveries: &Recoveries) -> bool {
    let Some(build) = recoveries.build() else { return false };
    let (mut pose, mut world) = (kumite_motion::Pose::default(), WorldPose::default());
    let Some(clip) = library.clips().iter().find(|c| c.name == "stand-idle") else { return false };
    clip.pose(kumite_motion::FrameIdx(60), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    let mut times: [Vec<f64>; 2] = Default::default();
    let mut clones = Vec::new();
    for _ in 0..20 {
        for (mass, speed) in [(0.45, 25.0), (10.0, 10.0)] {
            let mut physics = kumite_react::ragdoll::Physics::default();
            let mut response = Response::begin(build, [&world, &world], TICK, [true; 2], &[], Settings::default());
            let at = world.position(Role::Back.joint()) + Vec3::Z * 0.1;
            response.touch(&Touch { part: Role::Back, at, normal: Vec3::Z, velocity: Vec3::NEG_Z * speed, mass });
            for tick in 0..300 {
                let (mut pose, mut world) = (pose.clone(), world.clone());
                let fast = response.in_window() || tick < 22;
                let start = ThreadTime::now();
                response.step(&mut physics, Contacts::ALL, TICK, &mut pose, &mut world);
                let taken = start.elapsed().as_secs_f64() * 1e6;
                if response.ragdoll().is_some() && !response.asleep() {
                    times[usize::from(fast)].push(taken);
                }
                if tick == 40 && response.phase() == Phase::Falling {
                    clones.push(best(5, || drop(std::hint::black_box(response.clone()))) * 1e6);
                }
            }
        }
    }
    let median = |values: &mut Vec<f64>| {
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
    };
    let [free, window] = times.each_mut().map(median);
    let clone = median(&mut clones);
    figure("ragdoll step, free", free, "us");
    figure("ragdoll step, in the impact window", window, "us");
    figure("clone of a ragdoll", clone, "us");
    free <= 90.0 && window <= 250.0 && clone <= 300.0
}

/// The nearest of 40,000 frames: the library's own, again and again with a little noise, so that none is found twice.
fn search(library: &kumite_motion::library::Library) -> bool {
    let mut chance = Chance::new(SEED);
    let mut own: Vec<Features> = Vec::new();
    let (mut pose, mut world, mut before) =
        (kumite_motion::Pose::default(), WorldPose::default(), WorldPose::default());
    for clip in library.clips() {
        for frame in 0..clip.frames() as u32 {
            clip.pose(kumite_motion::FrameIdx(frame), &mut pose);
            std::mem::swap(&mut world, &mut before);
            fk::pose(clip.skeleton(), &pose, &mut world);
            if frame > 0 {
                own.push(features(&world, &before, 1.0 / clip.fps()));
            }
        }
    }
    let mut frames = Vec::with_capacity(FRAMES);
    while frames.len() < FRAMES && !own.is_empty() {
        // Each round is another performer: a little off all the way through.
        let off: Vec<f32> = (0..WIDTH).map(|_| 0.06 * (chance.unit() - 0.5)).collect();
        let round = own.iter().map(|f| std::array::from_fn(|k| f[k] + off[k]));
        frames.extend(round.take(FRAMES - frames.len()));
    }
    let nearest = Nearest::new(frames);
    let wanted: Vec<Features> = (0..400)
        .map(|_| {
            let base = own[chance.below(own.len() as u32) as usize];
            std::array::from_fn(|k| base[k] + 0.1 * (chance.unit() - 0.5))
        })
        .collect();
    let exact = wanted.iter().filter(|w| nearest.find(w) == nearest.find_slowly(w)).count();
    let per = |find: &dyn Fn(&Features) -> Option<(usize, f32)>| {
        best(5, || {
            wanted.iter().for_each(|w| {
                std::hint::black_box(find(w));
            })
        }) * 1e6
            / wanted.len() as f64
    };
    let (quick, slow) = (per(&|w| nearest.find(w)), per(&|w| nearest.find_slowly(w)));
    figure("nearest pose of 40,000 frames", quick, "us");
    figure("every frame looked at", slow, "us");
    figure("nearest poses that are, share", exact as f64 / wanted.len() as f64, "");
    exact == wanted.len() && quick <= 80.0
}

fn hits(library: &Arc<kumite_motion::library::Library>, recoveries: &Recoveries) -> bool {
    let from = asked("KUMITE_IMPACT_SEED", SEED as f64) as u64;
    let counts = COUNTS.map(|count| (count as f64 * asked("KUMITE_IMPACT_SHARE", 1.0)) as u64);
    let play = |kind: Kind, count: u64, braced: bool| -> Vec<(u64, Outcome, f64)> {
        let one = |seed: u64| {
            let (moment, request) = impact_trial::random(library, from * 1_000_003 + seed, kind)?;
            let struck = impact_trial::play(&moment, recoveries, &request, How { braced, ..How::default() })?;
            let take = struck.recorder.finish("hit", library.skeleton()).ok()?;
            struck.outcome.touch.is_some().then_some((seed, struck.outcome, f64::from(take.quality.snap)))
        };
        (0..count).into_par_iter().filter_map(one).collect()
    };
    let share = |of: usize, all: usize| of as f64 / all.max(1) as f64;
    let guards = |o: &Outcome| {
        let arms = [Role::LeftElbow, Role::RightElbow, Role::LeftWrist, Role::RightWrist];
        o.touch.is_some_and(|(_, touch)| arms.contains(&touch.part))
    };
    let (braced, open) = (play(Kind::Volleyball, counts[0], true), play(Kind::Volleyball, counts[0], false));
    let first = |all: &[(u64, Outcome, f64)]| share(all.iter().filter(|t| guards(&t.1)).count(), all.len());
    let gained = 100.0 * (first(&braced) - first(&open));
    let at_head = |o: &Outcome| o.touch.is_some_and(|(_, t)| matches!(t.part, Role::Head | Role::Neck));
    let heads: Vec<(f32, f32)> = open
        .iter()
        .filter(|t| at_head(&t.1))
        .filter_map(|t| Some((braced.iter().find(|b| b.0 == t.0)?.1.head_load, t.1.head_load)))
        .collect();
    let lighter = share(heads.iter().filter(|(with, without)| with < without).count(), heads.len());
    let back = share(braced.iter().filter(|t| t.1.recovered.is_some_and(|s| s <= 1.5)).count(), braced.len());
    let change = |o: &Outcome| o.touch.map_or(0.0, |(_, touch)| touch.change());
    let mut shoves = play(Kind::Shove, counts[1], false);
    shoves.retain(|t| (0.25..=0.9).contains(&change(&t.1)));
    let upright = share(shoves.iter().filter(|t| t.1.down.is_none() && t.1.recovered.is_some()).count(), shoves.len());
    let ways = ways(library, recoveries, from, counts[1]);
    let mut thrown = play(Kind::Cannonball, counts[2], false);
    thrown.retain(|t| change(&t.1) > 1.3);
    let down = share(thrown.iter().filter(|t| t.1.down.is_some()).count(), thrown.len());
    let up = share(thrown.iter().filter(|t| t.1.up.is_some_and(|s| s <= 6.0)).count(), thrown.len());
    let rest = thrown.iter().filter_map(|t| t.1.rest).fold(0.0, f32::max);
    let at_rest = share(thrown.iter().filter(|t| t.1.rest.is_some_and(|r| r <= 0.05)).count(), thrown.len());
    let all = || braced.iter().chain(&open).chain(&shoves).chain(&thrown);
    let gap = all().map(|t| t.1.gap).fold(0.0, f32::max);
    let wide = share(all().filter(|t| t.1.gap <= 0.01).count(), all().count());
    let sunk = all().map(|t| t.1.sunk).fold(0.0, f32::max);
    let calm = share(all().filter(|t| t.2 <= 1.5).count(), all().count());
    for (name, value, unit) in [
        ("hits by volleyballs", braced.len() as f64, ""),
        ("first touch on hand or forearm, braced", first(&braced), ""),
        ("first touch on hand or forearm, unbraced", first(&open), ""),
        ("first touches on hand or forearm gained", gained, "points"),
        ("hits on the head", heads.len() as f64, ""),
        ("head load lower than unbraced, share", lighter, ""),
        ("upright and back within 1.5 s, share", back, ""),
        ("shoves of 0.25 to 0.9 m/s", shoves.len() as f64, ""),
        ("upright after them, share", upright, ""),
        ("hits above 1.3 m/s", thrown.len() as f64, ""),
        ("down after them, share", down, ""),
        ("up again within 6 s, share", up, ""),
        ("at rest below 0.05 rad/s, share", at_rest, ""),
        ("fastest joint at rest", f64::from(rest), "rad/s"),
        ("widest gap of a joint", 100.0 * f64::from(gap), "cm"),
        ("hits with gaps of 1 cm at most, share", wide, ""),
        ("deepest below the floor", 100.0 * f64::from(sunk), "cm"),
        ("takes with a snap of 1.5 at most outside impacts, share", calm, ""),
    ] {
        figure(name, value, unit);
    }
    gained >= 50.0 && lighter >= 0.9 && back >= 0.9 && upright >= 0.9 && down >= 0.9 && up >= 0.9 && ways
}

/// Which way shoves from all round carry people 0.6 s after they touch, how far they turn them, and for how long both feet are off the floor.
fn ways(library: &Arc<kumite_motion::library::Library>, recoveries: &Recoveries, from: u64, count: u64) -> bool {
    let one = |seed: u64| {
        let (moment, request) = impact_trial::random_from_anywhere(library, from * 1_000_003 + seed, Kind::Shove)?;
        let how = How { braced: false, ..How::default() };
        let outcome = impact_trial::play(&moment, recoveries, &request, how)?.outcome;
        outcome.touch.filter(|(_, touch)| (0.25..=0.9).contains(&touch.change())).map(|_| outcome)
    };
    let all: Vec<Outcome> = (0..count).into_par_iter().filter_map(one).collect();
    let at = |values: &mut Vec<f32>, share: f32| {
        values.sort_by(f32::total_cmp);
        let place = ((values.len() as f32 * share) as usize).min(values.len().saturating_sub(1));
        values.get(place).map_or(f64::NAN, |value| f64::from(*value))
    };
    let mut aside: Vec<f32> = all.iter().filter_map(Outcome::aside).map(f32::to_degrees).collect();
    let mut turned: Vec<f32> = all.iter().map(|o| o.turned.abs().to_degrees()).collect();
    let mut floats: Vec<f32> = all.iter().map(|o| o.floats).collect();
    let floats = at(&mut floats, 0.99);
    let (middle, most) = (at(&mut aside, 0.5), at(&mut aside, 0.9));
    figure("carried aside of a push, median", middle, "degrees");
    figure("carried aside of a push, 90 %", most, "degrees");
    figure("turned by a push, 90 %", at(&mut turned, 0.9), "degrees");
    figure("both feet off the floor after a push, 99 %", floats, "s");
    middle <= 15.0 && most <= 40.0 && floats <= 0.1
}
