//! Balls at moments of walks through clutter, ten ticks apart and thinned out: how often they are avoided or blocked, beside the same
//! balls at somebody who wanders, and whether the walk still arrives.

use std::sync::Arc;

use kumite_stage::attack_trial::{Answer, Trial};
use kumite_stage::op::{NoWay, Op};
use kumite_stage::walk::{WalkRequest, clutter};
use kumite_stage::world::{Doing, Perception, WalkSearch, World};
use kumite_stage::{EventKind, Kit, Pipeline, TICKS, Target, scene};
use rayon::prelude::*;

use crate::{figure, holds, world};

const WALKS: u64 = 24;
/// Ticks between two moments of a walk.
const EVERY: u64 = 10;
/// Most balls: moments are left out evenly if there are more. The 2,154 of these walks leave every other one, 20 ticks apart.
const BALLS: usize = 1500;
/// Longest that a walk may take beyond what it takes undisturbed, seconds.
const LATE: u64 = 6;
/// Least share of what wanderers defend that walkers have to (chance alone makes a difference of 2 %), and least share of walks that arrive.
const AS_OFTEN: f64 = 0.98;
const ARRIVE: f64 = 0.95;

/// A moment of a walk.
struct Moment {
    world: World,
    /// When the walk arrives if nothing happens, in ticks.
    arrives: u64,
}

/// What became of a ball at a walker.
struct WalkerResult {
    target: Target,
    /// How it was answered; `None` if it would not have hit.
    answer: Option<Answer>,
    arrived: bool,
    /// Why the walk stopped last, if it did.
    stopped: Option<NoWay>,
}

/// The moments of a walk; none if no way was found.
fn moments(kits: &[Arc<Kit>], request: &WalkRequest) -> Vec<Moment> {
    let mut ops = request.ops(WalkSearch::default());
    for op in &mut ops {
        if let Op::Spawn(spawn) = op {
            spawn.perception = Perception::ALL_ROUND;
        }
    }
    let (mut world, mut pipeline) = (World::default(), Pipeline::default());
    let mut worlds = Vec::new();
    pipeline.step(kits, &mut world, &ops);
    while world.characters.values().any(|m| matches!(m.doing, Doing::Walking(_))) {
        if world.tick.is_multiple_of(EVERY) {
            worlds.push(world.clone());
        }
        pipeline.step(kits, &mut world, &[]);
    }
    worlds.into_iter().map(|moment| Moment { world: moment, arrives: world.tick }).collect()
}

/// How a ball was answered; `None` if it would not have hit.
fn answer(kits: &[Arc<Kit>], trial: &Trial) -> Option<Answer> {
    let played = trial.play(kits)?;
    played.threatens(&trial.undisturbed(kits)?.1, kits).then(|| played.answer())
}

/// The ball of a trial, from the same side and as fast, at whoever walks.
fn at_walker(trial: &Trial, moment: &Moment) -> Option<Trial> {
    let (who, walker) = moment.world.characters.iter().next()?;
    let aside = walker.character.pose().root() - trial.world.characters.get(trial.who)?.character.pose().root();
    let mut throw = trial.throw.clone();
    (throw.at, throw.from) = (walker.name.clone(), throw.from + aside);
    Some(Trial { world: moment.world.clone(), who, throw })
}

fn walker(kits: &[Arc<Kit>], trial: &Trial, arrives: u64) -> WalkerResult {
    let (mut world, mut pipeline) = (trial.world.clone(), Pipeline::default());
    let mut ops = vec![Op::Throw(trial.throw.clone())];
    let (mut arrived, mut stopped) = (false, None);
    while !arrived && world.tick < arrives + LATE * u64::from(TICKS) {
        for event in pipeline.step(kits, &mut world, &ops) {
            match &event.kind {
                EventKind::Arrived { .. } => arrived = true,
                EventKind::NoWay { why } => stopped = Some(why.clone()),
                _ => {}
            }
        }
        ops.clear();
    }
    WalkerResult { target: trial.throw.target, answer: answer(kits, trial), arrived, stopped }
}

pub(crate) fn run() {
    let most = std::env::var("KUMITE_WALK_BALLS").ok().and_then(|n| n.parse().ok()).unwrap_or(BALLS);
    let Some(kit) = world::kit() else { return holds(false) };
    let kits = [kit];
    let grid = scene::read(include_str!("../../../scenes/grid.toml")).ok();
    let Some(request) = grid.as_ref().and_then(WalkRequest::first) else { return holds(false) };
    let walks: Vec<Vec<Moment>> =
        (0..WALKS).into_par_iter().map(|seed| moments(&kits, &clutter(&request, 500 + seed))).collect();
    let walked = walks.iter().filter(|moments| !moments.is_empty()).count();
    let all: Vec<Moment> = walks.into_iter().flatten().collect();
    let apart = all.len().div_ceil(most.max(1)).max(1);
    let pairs: Vec<(WalkerResult, Option<Answer>)> = all
        .par_iter()
        .enumerate()
        .filter(|(k, _)| k.is_multiple_of(apart))
        .filter_map(|(k, moment)| {
            let wanderer = Trial::random(&kits, 40_000 + k as u64, Perception::ALL_ROUND, None)?;
            let result = walker(&kits, &at_walker(&wanderer, moment)?, moment.arrives);
            Some((result, answer(&kits, &wanderer)))
        })
        .collect();
    let walking: Vec<Answer> = pairs.iter().filter_map(|p| p.0.answer).collect();
    let wandering: Vec<Answer> = pairs.iter().filter_map(|p| p.1).collect();
    let share = |of: &[Answer], what: &dyn Fn(Answer) -> bool| {
        of.iter().filter(|a| what(**a)).count() as f64 / of.len().max(1) as f64
    };
    let defended = |of: &[Answer]| share(of, &|answer| answer != Answer::Hit);
    let arrived_of = |among: &dyn Fn(&WalkerResult) -> bool| {
        let among: Vec<&WalkerResult> = pairs.iter().map(|p| &p.0).filter(|w| among(w)).collect();
        among.iter().filter(|w| w.arrived).count() as f64 / among.len().max(1) as f64
    };
    let (ratio, arrived) = (defended(&walking) / defended(&wandering), arrived_of(&|_| true));
    figure("walks", walked as f64, "");
    figure("balls at walkers", pairs.len() as f64, "");
    figure("balls at walkers that would hit", walking.len() as f64, "");
    figure("balls at wanderers that would hit", wandering.len() as f64, "");
    figure("walkers avoid or block, share", defended(&walking), "");
    figure("wanderers avoid or block, share", defended(&wandering), "");
    figure("walkers of wanderers", ratio, "");
    for (name, of) in [("walkers", &walking), ("wanderers", &wandering)] {
        for (how, answer) in [("a motion", Answer::Motion), ("a bent motion", Answer::BentMotion)] {
            figure(&format!("{name} avoid by {how}, share"), share(of, &|a| a == answer), "");
        }
        figure(&format!("{name} avoid by bending what they play, share"), share(of, &|a| a == Answer::BentPose), "");
        figure(&format!("{name} block, share"), share(of, &|a| a == Answer::Block), "");
    }
    for target in Target::ALL {
        let walkers = pairs.iter().filter(|p| p.0.target == target);
        let (walking, wandering): (Vec<_>, Vec<_>) = walkers.map(|p| (p.0.answer, p.1)).unzip();
        for (name, of) in [("walkers", walking), ("wanderers", wandering)] {
            let of: Vec<Answer> = of.into_iter().flatten().collect();
            figure(&format!("{name} avoid or block, {}, share", target.name()), defended(&of), "");
        }
    }
    figure("walks that arrive, share", arrived, "");
    figure("walks that arrive after a hit, share", arrived_of(&|w| w.answer == Some(Answer::Hit)), "");
    let defends = |w: &WalkerResult| w.answer.is_some_and(|answer| answer != Answer::Hit);
    figure("walks that arrive after a defence, share", arrived_of(&defends), "");
    for (result, _) in pairs.iter().filter(|p| !p.0.arrived).take(20) {
        eprintln!("does not arrive: {:?}, stopped by {:?}", result.answer, result.stopped);
    }
    holds(walked >= 20 && ratio >= AS_OFTEN && arrived >= ARRIVE);
}
