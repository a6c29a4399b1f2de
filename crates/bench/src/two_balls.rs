//! Two balls shortly after each other at somebody who wanders: how often both are avoided or blocked.

use std::f32::consts::TAU;
use std::sync::Arc;

use kumite_motion::{Chance, Vec2, Vec3};
use kumite_stage::op::{Op, Spawn, ThrowOp};
use kumite_stage::world::{Perception, Wish};
use kumite_stage::{BallOutcome, Kit, Performance, TICKS, Target};
use rayon::prelude::*;

use crate::{figure, holds, world};

struct PairResult {
    gap: f32,
    first: bool,
    both: bool,
    passes: bool,
}

fn one(kit: &Arc<Kit>, seed: u64) -> Option<PairResult> {
    let mut chance = Chance::new(seed);
    let mut between = |low: f32, high: f32| low + (high - low) * chance.unit();
    let spawn = Spawn {
        name: "Ana".into(),
        kit: 0,
        at: Vec2::ZERO,
        facing: between(0.0, TAU),
        begin: None,
        wish: Wish::Wander,
        // Every ball is known as soon as it is thrown, from all round.
        perception: Perception::ALL_ROUND,
        seed,
    };
    let kits = [Arc::clone(kit)];
    let mut played = Performance::default();
    played.step(&kits, &[Op::Spawn(spawn)]);
    for _ in 0..(between(1.0, 4.0) * TICKS as f32) as u32 {
        played.step(&kits, &[]);
    }
    let gap = between(0.15, 0.8);
    let (lead, speed) = (between(0.5, 1.0), between(8.0, 25.0));
    let mut throw = |played: &Performance| {
        let target = Target::ALL[(between(0.0, 5.0) as usize).min(4)];
        let aim = target.place(&played.world.characters.values().next()?.character, 0);
        let turn = between(0.0, TAU);
        let from = aim + Vec3::new(libm::sinf(turn), 0.1, libm::cosf(turn)) * (speed * lead);
        Some(Op::Throw(ThrowOp::football("Ana", target, from, speed)))
    };
    let first = throw(&played)?;
    played.step(&kits, &[first]);
    for _ in 1..(gap * TICKS as f32) as u32 {
        played.step(&kits, &[]);
    }
    let second = throw(&played)?;
    played.step(&kits, &[second]);
    for _ in 0..3 * TICKS {
        played.step(&kits, &[]);
    }
    let good = |k: usize| played.flights[k].end.is_some_and(|e| e.0 != BallOutcome::Hit);
    let passes = played.takes().ok()?.first()?.quality.passes();
    Some(PairResult { gap, first: good(0), both: good(0) && good(1), passes })
}

pub(crate) fn run() {
    let count = std::env::var("KUMITE_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000u64);
    let Some(kit) = world::kit() else { return holds(false) };
    let all: Vec<PairResult> = (0..count).into_par_iter().filter_map(|seed| one(&kit, 70_000 + seed)).collect();
    let share = |of: &dyn Fn(&PairResult) -> bool, among: &dyn Fn(&PairResult) -> bool| {
        let among: Vec<&PairResult> = all.iter().filter(|o| among(o)).collect();
        among.iter().filter(|o| of(o)).count() as f64 / among.len().max(1) as f64
    };
    figure("pairs of balls", all.len() as f64, "");
    figure("both avoided or blocked, share", share(&|o| o.both, &|_| true), "");
    figure("the first avoided or blocked, share", share(&|o| o.first, &|_| true), "");
    for (from, to) in [(0.15, 0.3), (0.3, 0.5), (0.5, 0.8)] {
        let within = move |o: &PairResult| (from..to).contains(&o.gap);
        figure(&format!("both, {from} to {to} s apart, share"), share(&|o| o.both, &within), "");
    }
    figure("takes that pass the gates, share", share(&|o| o.passes, &|_| true), "");
    holds(share(&|o| o.both, &|_| true) >= 0.45 && share(&|o| o.passes, &|_| true) >= 0.99);
}
