//! Random walks through libraries: no dead ends, finite numbers, and the quality gates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cpu_time::ThreadTime;
use kumite_motion::library::Library;
use kumite_motion::{FrameIdx, JointIdx, Layer, NodeIdx, Vec2};
use kumite_plan::{Leg, Plan};
use kumite_stage::{Chance, Character, Quality, Recorder, TICKS};

use crate::{figure, holds};

/// Length of a walk, seconds.
const SECONDS: u32 = 20;
/// Share of walks that must keep each gate: not all, because some chains of joins occur that no rehearsal at bake tried.
const WITHIN: f64 = 0.997;

/// Walks each library of `KUMITE_LIBRARIES` `KUMITE_WANDERS` times, by default 10,000.
pub fn run() {
    let count = std::env::var("KUMITE_WANDERS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let names =
        std::env::var("KUMITE_LIBRARIES").unwrap_or_else(|_| "embedded,accad-male2,cmu-fight,cmu-walk".to_owned());
    let mut all = true;
    for name in names.split(',') {
        let Some(baked) = kumite_captures::library(name) else {
            all = false;
            continue;
        };
        let rehearsed_out = baked.rehearsed_out as f64;
        all &= measure(name, &Arc::new(baked.library), count, false);
        figure(&format!("{name}: joins rehearsed out"), rehearsed_out, "");
    }
    if names.split(',').any(|name| name == "embedded") {
        let library = kumite_captures::whole_library("embedded").and_then(|library| library.only(Layer::Fight).ok());
        let Some(library) = library else { return holds(false) };
        all &= measure("embedded, interrupted", &Arc::new(library), count, true);
    }
    holds(all);
}

/// Seconds between two attempts to leave what is played, on average.
const INTERRUPTED_EVERY: f32 = 0.5;
/// As planners have it: a join that began so little ago is not left for another, ticks.
const HARDLY_BEGUN: u32 = TICKS / 5;

/// Leaves what is played for something that can be joined at once, if there is anything.
fn interrupt(character: &mut Character, chance: &mut Chance) -> Option<Leg> {
    let (library, source) = (Arc::clone(character.library()), character.source());
    let clip = library.clip(source.clip);
    let frame = FrameIdx(((source.time * clip.fps()).round() as u32).min(clip.frames() as u32 - 1));
    let ready: Vec<(usize, f32)> = library.interrupts().at(source.clip, frame).collect();
    let (number, cost) = *ready.get(chance.below(ready.len().max(1) as u32) as usize)?;
    let onset = &library.interrupts().onsets()[number];
    let join = Some(library.join_onset(source.clip, frame, onset, cost));
    let leg = Leg { enter: onset.enter, join, ..Leg::whole(onset.edge) };
    character.commit(Plan::at_once(leg));
    Some(leg)
}

/// Quality of one walk, and the number of edges it played.
fn walk(library: &Arc<Library>, seed: u64, interrupted: bool) -> (Quality, usize) {
    let mut chance = Chance::new(seed);
    let node = NodeIdx(chance.below(library.graph().nodes().len() as u32));
    let mut character = Character::new(Arc::clone(library), node, Vec2::ZERO, 0.0);
    let mut recorder = Recorder::default();
    recorder.record(&character, None);
    let joins = |leg: &Leg| leg.join.is_some() || library.graph().edge(leg.edge).join.is_some();
    let mut joined = HARDLY_BEGUN;
    for _ in 0..SECONDS * TICKS {
        let leaves = interrupted && chance.unit() < 1.0 / (INTERRUPTED_EVERY * TICKS as f32);
        let left = if leaves && joined >= HARDLY_BEGUN { interrupt(&mut character, &mut chance) } else { None };
        let began = character.step(|_, next| next[chance.below(next.len() as u32) as usize]);
        let began = left.or(began);
        joined = if began.as_ref().is_some_and(joins) { 0 } else { joined + 1 };
        recorder.record(&character, began);
    }
    // Fails if any number of the take is not finite.
    let take = recorder.finish("walk", library.skeleton()).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
    let last = FrameIdx(take.clip.frames() as u32 - 1);
    assert!(take.clip.root(last).is_finite() && take.clip.rotation(last, JointIdx::ROOT).is_finite());
    (take.quality, take.starts.len())
}

/// Prints the figures of one library; whether all gates held.
fn measure(name: &str, library: &Arc<Library>, count: u64, interrupted: bool) -> bool {
    let next = AtomicU64::new(0);
    let work = || {
        let (start, mut done) = (ThreadTime::now(), Vec::new());
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return (done, start.elapsed().as_secs_f64());
            }
            done.push((seed, walk(library, seed, interrupted)));
        }
    };
    let threads: Vec<_> = std::thread::scope(|scope| {
        let all: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        all.into_iter().map(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e))).collect()
    });
    let seconds: f64 = threads.iter().map(|t| t.1).sum();
    let mut walks: Vec<(u64, (Quality, usize))> = threads.into_iter().flat_map(|t| t.0).collect();
    walks.sort_by_key(|w| w.0);
    let mean = |value: fn(&Quality) -> f32| {
        walks.iter().map(|w| f64::from(value(&w.1.0))).sum::<f64>() / walks.len().max(1) as f64
    };
    let worst = |value: fn(&Quality) -> f32| {
        let most = walks.iter().max_by(|a, b| value(&a.1.0).total_cmp(&value(&b.1.0)));
        most.map_or((0, 0.0), |w| (w.0, f64::from(value(&w.1.0))))
    };
    figure(&format!("{name}: walks of {SECONDS} s"), walks.len() as f64, "");
    figure(&format!("{name}: edges played"), walks.iter().map(|w| w.1.1 as f64).sum(), "");
    figure(&format!("{name}: seconds of motion a second of one core"), count as f64 * f64::from(SECONDS) / seconds, "");
    let mut held = !walks.is_empty();
    for (what, unit, value, most) in [
        ("planted feet slide", "cm/s", (|q| q.foot_slide_cm_s) as fn(&Quality) -> f32, 2.0),
        ("planted feet float", "cm", |q| q.float_cm, 1.0),
        ("snap at joins", "", |q| q.snap_at_joins, 1.5),
    ] {
        let (seed, most_seen) = worst(value);
        let within = walks.iter().filter(|w| value(&w.1.0) <= most).count() as f64 / walks.len().max(1) as f64;
        figure(&format!("{name}: {what}, mean of walks"), mean(value), unit);
        figure(&format!("{name}: {what}, worst walk"), most_seen, unit);
        figure(&format!("{name}: {what}, share of walks within {most}"), within, unit);
        eprintln!("{name}: {what}: worst with seed {seed}");
        held &= within >= WITHIN && mean(value) <= f64::from(most);
    }
    for (what, value) in [
        ("snap over all frames, worst walk", (|q| q.snap) as fn(&Quality) -> f32),
        ("balance, worst walk cm", |q| q.balance_cm),
    ] {
        let (seed, most_seen) = worst(value);
        figure(&format!("{name}: {what}"), most_seen, "");
        eprintln!("{name}: {what}: seed {seed}");
    }
    let smooth = walks.iter().filter(|w| w.1.0.snap <= 1.5).count() as f64 / walks.len().max(1) as f64;
    figure(&format!("{name}: snap over all frames, share of walks within 1.5"), smooth, "");
    figure(&format!("{name}: balance, mean of walks"), mean(|q| q.balance_cm), "cm");
    figure(&format!("{name}: balance of the sources, mean of walks"), mean(|q| q.source_balance_cm), "cm");
    held
}
