//! Random mixed scenes on one clock: nobody freezes, nobody walks through anybody, and the log is what the frames show.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use kumite_motion::rotation::to_vector;
use kumite_motion::{Clip, FrameIdx, Pose};
use kumite_plan::dodge::DodgeConfig;
use kumite_stage::op::Op;
use kumite_stage::random_scene::{SECONDS, random_scene};
use kumite_stage::walk::Walker;
use kumite_stage::world::CharacterId;
use kumite_stage::world_referee::{self, Shown};
use kumite_stage::{BallOutcome, Defence, Event, EventKind, Kit, Performance, TICKS, Take, overlap};

use crate::{figure, holds};

/// What one scene showed.
#[derive(Clone, Debug, Default)]
struct Counts {
    characters: u32,
    frozen: u32,
    /// Deepest overlap with something, and with that or somebody, metres; not within a second of a defence.
    touched: f32,
    overlap: f32,
    balls: u32,
    /// Balls whose least distance is within 3 mm of a touch.
    close: u32,
    agreed: u32,
    hit: u32,
    gates: u32,
    /// Takes that fail by the snaps of impacts alone.
    impacts: u32,
    goals: u32,
    arrived: u32,
    no_way: u32,
    faults: u32,
}

/// The kit of the embedded library, with walks.
pub(crate) fn kit() -> Option<Arc<Kit>> {
    let library = Arc::new(kumite_captures::whole_library("embedded")?);
    let walker = Walker::new(Arc::clone(&library), Some(&Default::default()));
    Some(Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), Some(walker))))
}

/// Whether no joint turns by more than 1 degree a second for a whole second.
fn freezes(clip: &Clip) -> bool {
    let fps = clip.fps();
    let moves = |frame: usize| {
        clip.skeleton().joints().any(|joint| {
            let (a, b) = (FrameIdx(frame as u32), FrameIdx(frame as u32 + 1));
            let turn = to_vector(clip.rotation(a, joint).conjugate() * clip.rotation(b, joint)) * fps;
            turn.length() > 1.0f32.to_radians()
        })
    };
    let mut still = 0;
    for frame in 0..clip.frames().saturating_sub(1) {
        still = if moves(frame) { 0 } else { still + 1 };
        if still as f32 > fps {
            return true;
        }
    }
    false
}

/// Snaps this soon before or after a hit reaction begins are those of an impact, seconds.
const IMPACT: f32 = 0.25;

/// Whether a take that began with the scene passes the gates but for snaps around hits.
pub(crate) fn only_impacts(performance: &Performance, take: &Take) -> bool {
    let named = |who: &CharacterId| performance.world.characters.get(*who).is_some_and(|m| m.name == take.clip.name);
    let reacts = |e: &&Event| matches!(&e.kind, EventKind::Decided { why, .. } if why.starts_with("hit on"));
    let own = performance.events.iter().filter(|e| e.who.as_ref().is_some_and(named));
    let hits: Vec<f32> = own.filter(reacts).map(|e| e.tick as f32 / TICKS as f32).collect();
    let near = |snap: &f32| hits.iter().any(|hit| (hit - snap).abs() <= IMPACT);
    !take.quality.passes() && take.quality.steady() && take.snaps.iter().map(|snap| &snap.time).all(near)
}

fn scene(kit: &Arc<Kit>, seed: u64) -> Counts {
    let ops = random_scene(seed);
    let kits = [Arc::clone(kit)];
    let ticks = (SECONDS * TICKS as f32) as u64;
    let (mut performance, mut next) = (Performance::default(), 0);
    let mut shown: Vec<Vec<Pose>> = Vec::new();
    for tick in 0..ticks {
        let mut due = Vec::new();
        while let Some((_, op)) = ops.get(next).filter(|(when, _)| *when <= tick) {
            due.push(op.clone());
            next += 1;
        }
        performance.step(&kits, &due);
        for (k, (_, member)) in performance.world.characters.iter().enumerate() {
            if shown.len() <= k {
                shown.push(vec![member.character.pose().clone()]);
            }
            shown[k].push(member.character.pose().clone());
        }
    }
    let mut counts = Counts::default();
    let shown: Vec<Shown> = shown.into_iter().map(|poses| Shown { from: 0, poses }).collect();
    let cast: Vec<(&Shown, &kumite_motion::library::Library)> = shown.iter().map(|s| (s, &**kit.library())).collect();
    for flight in &performance.flights {
        let Some((outcome, time, _)) = flight.end else { continue };
        counts.balls += 1;
        counts.hit += u32::from(outcome == BallOutcome::Hit);
        let until = (time * TICKS as f32).round() as u64;
        let ball = flight.ball.ball;
        let seen = world_referee::look(&cast, flight.ball.thrown, until, ball.radius, |age| ball.at(age));
        let touched = outcome.touched();
        if seen.least.abs() > 0.003 && seen.touch.is_some() != touched {
            eprintln!("seed {seed}: logged {outcome:?} at {time}, seen {seen:?}, thrown {}", flight.ball.thrown);
        }
        counts.close += u32::from(seen.least.abs() <= 0.003);
        counts.agreed += u32::from(seen.least.abs() > 0.003 && seen.touch.is_some() == touched);
    }
    let takes = performance.takes().unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let clips: Vec<&Clip> = takes.iter().map(|t| &t.clip).collect();
    let obstacles = &performance.world.obstacles;
    // Whoever has just defended itself may be anywhere.
    let acts = |what: &str| !(what.starts_with("walks") || ["goes on", "does nothing"].contains(&what));
    let defends = |e: &Event| matches!(&e.kind, EventKind::Decided { what, .. } if acts(what));
    let defences: Vec<f32> =
        performance.events.iter().filter(|e| defends(e)).map(|e| e.tick as f32 / TICKS as f32).collect();
    let quiet = |frame: usize| {
        let time = frame as f32 / 60.0;
        defences.iter().all(|d| !(*d - 1.0..*d + 2.0).contains(&time))
    };
    let deepest = |depths: &[f32]| {
        depths.iter().enumerate().filter(|(frame, _)| quiet(*frame)).map(|(_, d)| *d).fold(0.0, f32::max)
    };
    let touched = clips.iter().map(|c| deepest(&overlap::with_obstacles(c, obstacles).by_frame)).fold(0.0, f32::max);
    counts.touched = touched;
    counts.overlap = touched.max(deepest(&overlap::of_bodies_by_frame(&clips)));
    for take in takes.iter().filter(|t| !t.quality.passes()) {
        eprintln!("seed {seed}, {}: {:?}", take.clip.name, take.quality);
    }
    for take in takes.iter().filter(|t| freezes(&t.clip)) {
        let began: Vec<String> = performance
            .events
            .iter()
            .filter_map(|e| match &e.kind {
                EventKind::Began { source }
                    if performance.world.characters.get(e.who?).is_some_and(|m| m.name == take.clip.name) =>
                {
                    Some(format!(
                        "{:.2}:{}@{:.2}",
                        e.tick as f32 / 120.0,
                        kit.library().clip(source.clip).name,
                        source.time
                    ))
                }
                EventKind::Arrived { .. } => Some(format!("{:.2} ARR", e.tick as f32 / 120.0)),
                _ => None,
            })
            .collect();
        eprintln!("FROZEN seed {seed} {}: {}", take.clip.name, began.join(" "));
    }
    counts.characters = takes.len() as u32;
    counts.frozen = takes.iter().filter(|t| freezes(&t.clip)).count() as u32;
    counts.gates = takes.iter().filter(|t| t.quality.passes()).count() as u32;
    counts.impacts = takes.iter().filter(|t| only_impacts(&performance, t)).count() as u32;
    let wants = |op: &(u64, Op)| matches!(&op.1, Op::Spawn(s) if matches!(s.wish, kumite_stage::world::Wish::Walk(_)));
    counts.goals = ops.iter().filter(|op| wants(op)).count() as u32;
    for event in &performance.events {
        counts.arrived += u32::from(matches!(event.kind, EventKind::Arrived { .. }));
        counts.no_way += u32::from(matches!(event.kind, EventKind::NoWay { .. }));
        counts.faults += u32::from(matches!(event.kind, EventKind::Fault(_)));
    }
    counts
}

pub(crate) fn run() {
    let count = std::env::var("KUMITE_SCENES").ok().and_then(|n| n.parse().ok()).unwrap_or(500u64);
    let Some(kit) = kit() else { return holds(false) };
    let next = AtomicU64::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return done;
            }
            done.push((seed, scene(&kit, 41_000 + seed)));
        }
    };
    let mut all: Vec<(u64, Counts)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
    });
    all.sort_by_key(|s| s.0);
    let sum = |value: fn(&Counts) -> u32| f64::from(all.iter().map(|s| value(&s.1)).sum::<u32>());
    let (characters, balls, close) = (sum(|c| c.characters), sum(|c| c.balls), sum(|c| c.close));
    let shallow = all.iter().filter(|s| s.1.overlap <= 0.03).count() as f64 / all.len().max(1) as f64;
    let deepest = all.iter().max_by(|a, b| a.1.overlap.total_cmp(&b.1.overlap));
    figure("scenes", all.len() as f64, "");
    figure("characters", characters, "");
    figure("characters that freeze for a second", sum(|c| c.frozen), "");
    figure("share of scenes with overlaps of 3 cm at most", shallow, "");
    figure("deepest overlap", deepest.map_or(0.0, |s| f64::from(s.1.overlap) * 100.0), "cm");
    figure("balls", balls, "");
    figure("balls within 3 mm of a touch", close, "");
    figure("of the others the log is right in", sum(|c| c.agreed) / (balls - close).max(1.0), "");
    figure("balls that hit", sum(|c| c.hit), "");
    figure("share of takes that pass the gates", sum(|c| c.gates) / characters.max(1.0), "");
    figure("takes that fail only within 0.25 s of a hit", sum(|c| c.impacts), "");
    figure(
        "share of takes that pass the gates outside of impacts",
        sum(|c| c.gates + c.impacts) / characters.max(1.0),
        "",
    );
    figure("goals", sum(|c| c.goals), "");
    figure("arrived", sum(|c| c.arrived), "");
    figure("searches that found no way", sum(|c| c.no_way), "");
    figure("faults", sum(|c| c.faults), "");
    for (seed, counts) in
        all.iter().filter(|s| s.1.overlap > 0.03 || s.1.frozen > 0 || s.1.gates < s.1.characters).take(20)
    {
        eprintln!("seed {seed}: {counts:?}");
    }
    holds(
        sum(|c| c.frozen) == 0.0
            && shallow >= 0.98
            && deepest.is_some_and(|s| s.1.overlap <= 0.15)
            && sum(|c| c.agreed) == balls - close
            // Impacts are told apart.
            && sum(|c| c.gates + c.impacts) >= 0.99 * characters,
    );
}
