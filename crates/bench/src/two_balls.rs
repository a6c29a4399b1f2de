//! Two balls shortly after each other at somebody who wanders: how often both are avoided or blocked.

use std::f32::consts::TAU;
use std::sync::Arc;

use kumite_motion::{Chance, Pose, Vec2, Vec3};
use kumite_stage::op::{Op, Spawn, ThrowOp};
use kumite_stage::world::{Perception, Wish};
use kumite_stage::world_referee::{self, Shown};
use kumite_stage::{BallOutcome, Kit, Performance, TICKS, Target};
use rayon::prelude::*;

use crate::{figure, holds, world};

struct PairResult {
    gap: f32,
    first: bool,
    both: bool,
    passes: bool,
    /// Whether no joint snaps by more than 1.5.
    smooth: bool,
    /// Whether it fails by the snaps of impacts alone.
    impact: bool,
    /// Balls whose least distance is beyond 3 mm, and those of them that ended as the referee sees it.
    clear: u32,
    right: u32,
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
    let mut poses: Vec<Pose> = Vec::new();
    let mut step = |played: &mut Performance, ops: &[Op]| {
        played.step(&kits, ops);
        let shown = played.world.characters.values().next().map(|member| member.character.pose().clone());
        // The first pose is shown before the first tick is over, too.
        let first = poses.is_empty();
        poses.extend(shown.iter().cloned());
        poses.extend(shown.filter(|_| first));
    };
    step(&mut played, &[Op::Spawn(spawn)]);
    for _ in 0..(between(1.0, 4.0) * TICKS as f32) as u32 {
        step(&mut played, &[]);
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
    step(&mut played, &[first]);
    for _ in 1..(gap * TICKS as f32) as u32 {
        step(&mut played, &[]);
    }
    let second = throw(&played)?;
    step(&mut played, &[second]);
    for _ in 0..3 * TICKS {
        step(&mut played, &[]);
    }
    let good = |k: usize| played.flights[k].end.is_some_and(|e| !matches!(e.0, BallOutcome::Hit | BallOutcome::Braced));
    let take = played.takes().ok()?.into_iter().next()?;
    let (passes, smooth) = (take.quality.passes(), take.quality.snap <= 1.5);
    if !smooth {
        eprintln!("{seed}: {:?}, {:?}", take.snaps, played.flights.iter().map(|f| f.end).collect::<Vec<_>>());
    }
    let impact = world::only_impacts(&played, &take);
    let shown = Shown { from: 0, poses };
    let cast = [(&shown, &**kit.library())];
    let (mut clear, mut right) = (0, 0);
    for flight in &played.flights {
        let Some((outcome, time, _)) = flight.end else { continue };
        let until = (time * TICKS as f32).round() as u64;
        let ball = flight.ball.ball;
        let seen = world_referee::look(&cast, flight.ball.thrown, until, ball.radius, |age| ball.at(age));
        if seen.least.abs() > 0.003 {
            clear += 1;
            let touched = outcome.touched();
            right += u32::from(seen.touch.is_some() == touched);
        }
    }
    Some(PairResult { gap, first: good(0), both: good(0) && good(1), passes, smooth, impact, clear, right })
}

pub(crate) fn run() {
    let count = std::env::var("KUMITE_PAIRS").ok().and_then(|n| n.parse().ok()).unwrap_or(2000u64);
    let first = std::env::var("KUMITE_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(70_000u64);
    let Some(kit) = world::kit() else { return holds(false) };
    let all: Vec<PairResult> = (0..count).into_par_iter().filter_map(|pair| one(&kit, first + pair)).collect();
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
    figure("takes with a snap of 1.5 at most, share", share(&|o| o.smooth, &|_| true), "");
    figure("takes that fail only within 0.25 s of a hit, share", share(&|o| o.impact, &|_| true), "");
    let (clear, right) = all.iter().fold((0, 0), |sum, o| (sum.0 + o.clear, sum.1 + o.right));
    figure("balls that end farther than 3 mm from a touch", f64::from(clear), "");
    figure("of these the log is right in, share", f64::from(right) / f64::from(clear.max(1)), "");
    let defended = share(&|o| o.both, &|_| true) >= 0.45;
    holds(defended && all.iter().all(|o| o.smooth) && share(&|o| o.passes, &|_| true) >= 0.99 && right == clear);
}
