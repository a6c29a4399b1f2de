//! Balls of every kind at fighters, walkers and idlers: what is neither dodged nor blocked is braced for, what misses is not, nothing snaps, walkers walk on.
//! `KUMITE_BRACE_SEED` takes other balls than the claim's, `KUMITE_BRACE_BALLS` fewer.

use std::sync::Arc;

use kumite_stage::attack_trial::Trial;
use kumite_stage::op::{Op, ThrowOp};
use kumite_stage::walk::{WalkRequest, clutter};
use kumite_stage::world::{Doing, Perception, WalkSearch, Wish, World};
use kumite_stage::world_referee::{self, Shown};
use kumite_stage::{BallOutcome, Chance, EventKind, Kit, Performance, Pipeline, TICKS, scene};
use rayon::prelude::*;

use crate::{figure, holds, world};

/// Balls, and walks whose moments a third of them are thrown at.
const BALLS: u64 = 2000;
const WALKS: u64 = 12;
/// How long a ball is followed after it should have arrived, seconds: until whoever braced stands as before.
const AFTER: f32 = 2.0;
/// Seconds that must be left when a ball is known for it to be braced for; within this of it either is right.
const LEAST: f32 = 0.25;
const EITHER: f32 = 0.02;
/// Longest that a walk may take beyond what it takes undisturbed, seconds.
const LATE: u64 = 8;
const SEED: u64 = 90_000;

/// Who is thrown at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
    Fighter,
    Walker,
    Idler,
}

/// What became of a ball.
struct Outcome {
    who: Who,
    threatens: bool,
    /// Seconds left when it was known, if it was.
    left: Option<f32>,
    answered: bool,
    /// Whether it was braced for, and standing.
    braced: Option<bool>,
    ended: Option<BallOutcome>,
    snap: f32,
    undisturbed_snap: f32,
    /// Of walkers that brace: whether they arrive.
    arrives: Option<bool>,
}

fn shown(kits: &[Arc<Kit>], trial: &Trial, thrown: bool) -> Option<(Performance, Shown)> {
    let first = trial.world.characters.get(trial.who)?.character.pose().clone();
    let mut shown = Shown { from: trial.world.tick, poses: vec![first] };
    let mut performance = Performance::of(trial.world.clone(), Arc::new(kumite_plan::Alone));
    let mut ops = if thrown { vec![Op::Throw(trial.throw.clone())] } else { Vec::new() };
    for _ in 0..((trial.throw.lead.unwrap_or_default() + AFTER) * TICKS as f32) as u64 {
        performance.step(kits, &ops);
        ops.clear();
        shown.poses.push(performance.world.characters.get(trial.who)?.character.pose().clone());
    }
    Some((performance, shown))
}

fn one(kits: &[Arc<Kit>], who: Who, trial: &Trial, arrives: u64) -> Option<Outcome> {
    let ((played, _), (still, undisturbed)) = (shown(kits, trial, true)?, shown(kits, trial, false)?);
    let flight = played.flights.first()?;
    let until = undisturbed.from + undisturbed.poses.len() as u64 - 1;
    let library = kits.first()?.library();
    let ball = flight.ball.ball;
    let seen =
        world_referee::look(&[(&undisturbed, &**library)], flight.ball.thrown, until, ball.radius, |age| ball.at(age));
    let first = |find: &dyn Fn(&EventKind) -> bool| played.events.iter().find(|e| find(&e.kind)).map(|e| e.tick);
    let known = first(&|kind| matches!(kind, EventKind::Noticed { .. }));
    let answered = first(&|kind| matches!(kind, EventKind::Answered { .. }));
    let braced = played.events.iter().find_map(|e| match e.kind {
        EventKind::Braced { planted, .. } => Some(planted),
        _ => None,
    });
    let left = known.zip(seen.touch).map(|(known, touch)| touch.0 - known as f32 / TICKS as f32);
    let snap = |performance: &Performance| Some(performance.takes().ok()?.first()?.quality.snap);
    let arrives = (who == Who::Walker && braced.is_some()).then(|| arrives_after(kits, trial, arrives));
    Some(Outcome {
        who,
        threatens: seen.touch.is_some(),
        left,
        answered: answered.is_some(),
        braced,
        ended: flight.end.map(|end| end.0),
        snap: snap(&played)?,
        undisturbed_snap: snap(&still)?,
        arrives,
    })
}

/// Whether a walker still gets to where it wanted to be.
fn arrives_after(kits: &[Arc<Kit>], trial: &Trial, arrives: u64) -> bool {
    let (mut world, mut pipeline) = (trial.world.clone(), Pipeline::default());
    let mut ops = vec![Op::Throw(trial.throw.clone())];
    while world.tick < arrives + LATE * u64::from(TICKS) {
        let events = pipeline.step(kits, &mut world, &ops);
        if events.iter().any(|e| matches!(e.kind, EventKind::Arrived { .. })) {
            return true;
        }
        ops.clear();
    }
    false
}

/// The moments of walks through clutter, ten ticks apart, and when each arrives.
fn moments(kits: &[Arc<Kit>], request: &WalkRequest) -> Vec<(World, u64)> {
    let (mut world, mut pipeline, mut worlds) = (World::default(), Pipeline::default(), Vec::new());
    pipeline.step(kits, &mut world, &request.ops(WalkSearch::default()));
    while world.characters.values().any(|m| matches!(m.doing, Doing::Walking(_))) {
        if world.tick.is_multiple_of(10) {
            worlds.push(world.clone());
        }
        pipeline.step(kits, &mut world, &[]);
    }
    worlds.into_iter().map(|moment| (moment, world.tick)).collect()
}

/// A ball of any kind: 3 to 30 m/s, marbles to medicine balls.
fn any_ball(throw: &mut ThrowOp, seed: u64) {
    let mut chance = Chance::new(seed);
    let between = |low: f32, high: f32, share: f32| low * (high / low).powf(share);
    (throw.speed, throw.radius) = (3.0 + 27.0 * chance.unit(), between(0.03, 0.2, chance.unit()));
    throw.mass = between(0.05, 5.0, chance.unit());
}

fn trial(kits: &[Arc<Kit>], walks: &[(World, u64)], seed: u64, k: u64) -> Option<(Who, Trial, u64)> {
    let perception = if k.is_multiple_of(2) { Perception::default() } else { Perception::ALL_ROUND };
    let mut trial = Trial::random(kits, seed + k, perception, None)?;
    any_ball(&mut trial.throw, seed + k);
    let (who, mut arrives) = ([Who::Fighter, Who::Walker, Who::Idler][(k % 3) as usize], 0);
    match who {
        Who::Fighter => {}
        Who::Idler => {
            // Long enough that it stands.
            let mut pipeline = Pipeline::default();
            trial.world.characters.values_mut().for_each(|member| member.wish = Wish::Stay);
            for _ in 0..3 * TICKS {
                pipeline.step(kits, &mut trial.world, &[]);
            }
        }
        Who::Walker => {
            let (world, ends) = walks.get((k as usize * 7) % walks.len().max(1))?;
            let (walker, member) = world.characters.iter().next()?;
            let aside = member.character.pose().root() - trial.world.characters.get(trial.who)?.character.pose().root();
            let mut throw = trial.throw.clone();
            (throw.at, throw.from) = (member.name.clone(), throw.from + aside);
            let mut world = world.clone();
            world.characters.values_mut().for_each(|member| member.perception = perception);
            (trial, arrives) = (Trial { world, who: walker, throw }, *ends);
        }
    }
    Some((who, trial, arrives))
}

pub(crate) fn run() {
    let asked = |name: &str, usual: u64| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual);
    let (balls, from) = (asked("KUMITE_BRACE_BALLS", BALLS), asked("KUMITE_BRACE_SEED", SEED));
    let Some(kit) = world::kit() else { return holds(false) };
    let kits = [kit];
    let grid = scene::read(include_str!("../../../scenes/grid.toml")).ok();
    let Some(request) = grid.as_ref().and_then(WalkRequest::first) else { return holds(false) };
    let walks: Vec<(World, u64)> =
        (0..WALKS).into_par_iter().flat_map_iter(|seed| moments(&kits, &clutter(&request, 700 + seed))).collect();
    let all: Vec<Outcome> = (0..balls)
        .into_par_iter()
        .filter_map(|k| {
            let (who, trial, arrives) = trial(&kits, &walks, from, k)?;
            one(&kits, who, &trial, arrives)
        })
        .collect();
    let count = |of: &dyn Fn(&Outcome) -> bool| all.iter().filter(|o| of(o)).count() as f64;
    let due = |o: &Outcome| o.threatens && !o.answered && o.left.is_some_and(|left| left >= LEAST + EITHER);
    let braced = |o: &Outcome| o.braced.is_some();
    figure("balls", all.len() as f64, "");
    figure("that would hit", count(&|o| o.threatens), "");
    figure("dodged or blocked", count(&|o| o.threatens && o.answered), "");
    figure("known too late or never", count(&|o| o.threatens && !o.answered && !due(o)), "");
    let share =
        |of: &dyn Fn(&Outcome) -> bool| count(&|o| due(o) && of(o) && braced(o)) / count(&|o| due(o) && of(o)).max(1.0);
    for (name, who) in [("fighters", Who::Fighter), ("walkers", Who::Walker), ("idlers", Who::Idler)] {
        figure(&format!("{name}: to be braced for"), count(&|o| due(o) && o.who == who), "");
        figure(&format!("{name}: of these braced for, share"), share(&|o| o.who == who), "");
    }
    let whole = share(&|_| true);
    figure("to be braced for", count(&due), "");
    figure("of these braced for, share", whole, "");
    let needless = count(&|o| braced(o) && !o.threatens && !o.answered);
    figure("braced for although they miss", needless, "");
    figure(
        "of those braced for met by hand or forearm",
        count(&|o| braced(o) && o.ended == Some(BallOutcome::Braced)),
        "",
    );
    figure("of those braced for hit the body", count(&|o| braced(o) && o.ended == Some(BallOutcome::Hit)), "");
    figure(
        "of those braced for that miss because of it",
        count(&|o| braced(o) && o.threatens && o.ended == Some(BallOutcome::Missed)),
        "",
    );
    figure("planted", count(&|o| o.braced == Some(true)), "");
    let quiet = |o: &Outcome| o.snap <= 1.5;
    let calm = |o: &Outcome| braced(o) && o.undisturbed_snap <= 1.5;
    let smooth = count(&|o| calm(o) && quiet(o)) / count(&calm).max(1.0);
    figure("takes of braces with a snap of 1.5 at most, share", smooth, "");
    figure("largest snap of these", all.iter().filter(|o| calm(o)).map(|o| f64::from(o.snap)).fold(0.0, f64::max), "");
    let walkers = count(&|o| o.arrives.is_some());
    let arrived = count(&|o| o.arrives == Some(true)) / walkers.max(1.0);
    figure("walkers that brace", walkers, "");
    figure(
        "of these in stride, share",
        count(&|o| o.arrives.is_some() && o.braced == Some(false)) / walkers.max(1.0),
        "",
    );
    figure("of these arrive, share", arrived, "");
    holds(whole >= 0.99 && needless == 0.0 && smooth >= 0.99 && arrived >= 0.95);
}
