//! What a tick of one character takes, and a snapshot of ten.

use std::hint::black_box;
use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_motion::Vec2;
use kumite_stage::op::{Op, Spawn};
use kumite_stage::world::{Goal, Perception, WalkSearch, Wish};
use kumite_stage::{Kit, Pipeline, TICKS, World};

use crate::{figure, holds, world};

/// Ticks that are timed at a time: five seconds, in which a walker does not arrive.
const TIMED: u32 = 5 * TICKS;
/// How often.
const REPEATS: usize = 40;
/// Microseconds that a tick and a snapshot may take.
const TICK: f64 = 8.0;
const SNAPSHOT: f64 = 20.0;

fn spawn(name: String, at: Vec2, wish: Wish, seed: u64) -> Op {
    let perception = Perception::default();
    Op::Spawn(Spawn { name, kit: 0, at, facing: 0.0, begin: None, wish, perception, seed })
}

/// A world some time after these came on.
fn after(kits: &[Arc<Kit>], ops: &[Op], ticks: u32) -> World {
    let (mut world, mut pipeline) = (World::default(), Pipeline::default());
    pipeline.step(kits, &mut world, ops);
    for _ in 1..ticks {
        pipeline.step(kits, &mut world, &[]);
    }
    world
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    of.get(of.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// Microseconds of one tick: the median of several runs of the same ticks.
fn per_tick(kits: &[Arc<Kit>], world: &World) -> f64 {
    let mut pipeline = Pipeline::default();
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let mut world = world.clone();
        let start = ThreadTime::now();
        for _ in 0..TIMED {
            black_box(pipeline.step(kits, &mut world, &[]));
        }
        times.push(start.elapsed().as_secs_f64());
    }
    median(times) * 1e6 / f64::from(TIMED)
}

/// Microseconds of one snapshot, the same way.
fn per_snapshot(world: &World) -> f64 {
    const MANY: u32 = 500;
    let mut times = Vec::new();
    for _ in 0..REPEATS {
        let start = ThreadTime::now();
        for _ in 0..MANY {
            black_box(world.clone());
        }
        times.push(start.elapsed().as_secs_f64());
    }
    median(times) * 1e6 / f64::from(MANY)
}

pub(crate) fn run() {
    let Some(kit) = world::kit() else { return holds(false) };
    let kits = [kit];
    let goal = Goal {
        at: Vec2::new(0.0, 12.0),
        facing: None,
        action: None,
        waypoints: Vec::new(),
        search: WalkSearch::default(),
    };
    let one = |wish: Wish| after(&kits, &[spawn("Ana".into(), Vec2::ZERO, wish, 1)], TICKS);
    let mut slowest = 0.0f64;
    for (name, wish) in [("idle", Wish::Stay), ("wandering", Wish::Wander), ("walking", Wish::Walk(goal.clone()))] {
        let time = per_tick(&kits, &one(wish));
        slowest = slowest.max(time);
        figure(&format!("a tick, {name}"), time, "µs");
    }
    let wish = |k: u32| match k % 3 {
        0 => Wish::Wander,
        1 => Wish::Stay,
        _ => Wish::Walk(Goal { at: Vec2::new(3.0 * k as f32, 12.0), ..goal.clone() }),
    };
    let ten: Vec<Op> =
        (0..10).map(|k| spawn(format!("character {k}"), Vec2::new(3.0 * k as f32, 0.0), wish(k), k.into())).collect();
    let ten = after(&kits, &ten, 2 * TICKS);
    let snapshot = per_snapshot(&ten);
    figure("a snapshot of ten", snapshot, "µs");
    figure("a tick of ten, each", per_tick(&kits, &ten) / 10.0, "µs");
    holds(slowest <= TICK && snapshot <= SNAPSHOT);
}
