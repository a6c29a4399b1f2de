//! Many random threats that hit, braced for and not: what physics and recovery make of them.

use std::sync::Arc;

use kumite_motion::Role;
use kumite_motion::library::Library;
use kumite_stage::impact_trial::{self, How, Kind, Outcome};
use kumite_stage::recoveries::Recoveries;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::Progress;
use crate::dodge::{combined, spread};

/// Volleyballs have to be over by then, seconds; whoever went down has to stand by then.
const BACK: f32 = 1.5;
const UP: f32 = 6.0;

/// One threat that was played.
struct Trial {
    number: u32,
    at_head: bool,
    outcome: Outcome,
    unbraced: Option<Outcome>,
    snap: f64,
    snap_in_impact: f64,
    slide: f64,
    hash: u64,
}

fn one(library: &Arc<Library>, recoveries: &Recoveries, seed: u64, number: u32, kind: Kind, how: How) -> Option<Trial> {
    let (moment, request) = impact_trial::random(library, super::trials::seed(seed, number), kind)?;
    let struck = impact_trial::play(&moment, recoveries, &request, how)?;
    let open = How { braced: false, ..how };
    let unbraced = match kind {
        Kind::Volleyball => Some(impact_trial::play(&moment, recoveries, &request, open)?.outcome),
        _ => None,
    };
    let head = |o: &Outcome| o.touch.is_some_and(|(_, t)| matches!(t.part, Role::Head | Role::Neck));
    let take = struck.recorder.finish("impact", library.skeleton()).ok()?;
    Some(Trial {
        number,
        at_head: unbraced.as_ref().is_some_and(head),
        outcome: struck.outcome,
        unbraced,
        snap: f64::from(take.quality.snap),
        snap_in_impact: f64::from(take.quality.snap_in_impacts),
        slide: f64::from(take.quality.foot_slide_cm_s),
        hash: take.hash,
    })
}

/// Whether the first touch is a hand or forearm.
fn guards(outcome: &Outcome) -> bool {
    let guard = |part: Role| matches!(part, Role::LeftElbow | Role::RightElbow | Role::LeftWrist | Role::RightWrist);
    outcome.touch.is_some_and(|(_, touch)| guard(touch.part))
}

/// As many volleyballs as asked for, half as many shoves and a quarter as many cannonballs.
pub(super) fn run(library: &Arc<Library>, count: u32, seed: u64, how: How, progress: &Progress) -> Value {
    let recoveries = Recoveries::of(library);
    let play = |kind: Kind, count: u32, how: How| {
        let bar = progress.bar(count as usize, "hitting");
        let all: Vec<Trial> = (0..count)
            .into_par_iter()
            .filter_map(|number| {
                bar.inc(1);
                one(library, &recoveries, seed, number, kind, how)
            })
            .collect();
        bar.finish_and_clear();
        all
    };
    let open = How { braced: false, ..how };
    let balls = play(Kind::Volleyball, count, how);
    let shoves = play(Kind::Shove, count.div_ceil(2), open);
    let heavy = play(Kind::Cannonball, count.div_ceil(4), open);
    let share = |of: &[Trial], which: &dyn Fn(&Trial) -> bool| {
        of.iter().filter(|t| which(t)).count() as f64 / of.len().max(1) as f64
    };
    let hit = |of: Vec<Trial>| of.into_iter().filter(|t| t.outcome.touch.is_some()).collect::<Vec<_>>();
    let (balls, shoves, heavy) = (hit(balls), hit(shoves), hit(heavy));
    // Glancing shoves may push less than was meant: what counts is what arrived.
    let change = |t: &Trial| t.outcome.touch.map_or(0.0, |(_, touch)| touch.change());
    let (steps, rest): (Vec<Trial>, Vec<Trial>) = shoves.into_iter().partition(|t| (0.25..=0.9).contains(&change(t)));
    let (thrown, grazed): (Vec<Trial>, Vec<Trial>) = heavy.into_iter().partition(|t| change(t) > 1.3);
    let heads: Vec<&Trial> = balls.iter().filter(|t| t.at_head).collect();
    let lighter =
        heads.iter().filter(|t| t.unbraced.as_ref().is_some_and(|u| t.outcome.head_load < u.head_load)).count();
    let by = |seconds: Option<f32>, limit: f32| seconds.is_some_and(|s| s <= limit);
    let everyone = || balls.iter().chain(&steps).chain(&thrown).chain(&rest).chain(&grazed);
    let spread_of = |value: &dyn Fn(&Trial) -> Option<f64>| {
        let mut values: Vec<f64> = everyone().filter_map(value).collect();
        spread(&mut values)
    };
    let worst = |value: &dyn Fn(&Trial) -> Option<f64>, of: &[Trial]| {
        let mut ranked: Vec<(f64, u32)> = of.iter().filter_map(|t| Some((value(t)?, t.number))).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        ranked.truncate(6);
        json!(ranked)
    };
    // By number, with what and when.
    let deepest = |of: &[Trial]| {
        let mut ranked: Vec<&Trial> = of.iter().collect();
        ranked.sort_by(|a, b| b.outcome.sunk.total_cmp(&a.outcome.sunk));
        let about =
            |t: &&Trial| json!([t.number, t.outcome.sunk, t.outcome.sunk_at.map(|(s, part)| json!([s, part.name()]))]);
        json!(ranked.iter().take(4).map(about).collect::<Vec<_>>())
    };
    json!({
        "hits": balls.len(),
        "first_touch_guard_share": share(&balls, &|t| guards(&t.outcome)),
        "first_touch_guard_unbraced_share": share(&balls, &|t| t.unbraced.as_ref().is_some_and(guards)),
        "head_hits": heads.len(), "head_load_lower_share": lighter as f64 / heads.len().max(1) as f64,
        "recovered": share(&balls, &|t| by(t.outcome.recovered, BACK) && t.outcome.down.is_none()),
        "steps": {
            "hits": steps.len(), "upright_share": share(&steps, &|t| t.outcome.down.is_none() && t.outcome.recovered.is_some()),
            "snap_within_share": share(&steps, &|t| t.snap <= 1.5), "worst_snap": worst(&|t| Some(t.snap), &steps),
        },
        "knocked_down": share(&thrown, &|t| t.outcome.down.is_some()),
        "thrown": {
            "hits": thrown.len(), "up_again_share": share(&thrown, &|t| by(t.outcome.up, UP)),
            "rest_rad_s": spread_of(&|t| t.outcome.rest.map(f64::from)),
            "at_rest_share": share(&thrown, &|t| t.outcome.rest.is_some_and(|r| r <= 0.05)),
            "up_s": spread_of(&|t| t.outcome.up.map(f64::from)),
            "snap_within_share": share(&thrown, &|t| t.snap <= 1.5), "worst_snap": worst(&|t| Some(t.snap), &thrown),
        },
        "joint_gap_m": spread_of(&|t| Some(f64::from(t.outcome.gap))),
        "below_floor_m": spread_of(&|t| Some(f64::from(t.outcome.sunk))),
        "snap": spread_of(&|t| Some(t.snap)), "snap_in_impacts": spread_of(&|t| Some(t.snap_in_impact)),
        "snap_within_share": everyone().filter(|t| t.snap <= 1.5).count() as f64 / everyone().count().max(1) as f64,
        "foot_slide_within_share": everyone().filter(|t| t.slide <= 2.0).count() as f64 / everyone().count().max(1) as f64,
        "worst_snap": worst(&|t| Some(t.snap), &balls),
        "worst_below_floor": {
            "volleyball": deepest(&balls), "shove": deepest(&steps), "cannonball": deepest(&thrown),
        },
        "worst_rest": worst(&|t| t.outcome.rest.map(f64::from), &thrown),
        "still_upright": thrown.iter().filter(|t| t.outcome.down.is_none()).map(|t| t.number).collect::<Vec<_>>(),
        "impulse_gain": how.settings.gain, "response_ms": how.settings.seconds * 1000.0,
        "impact_hash": combined(everyone().map(|t| t.hash)),
    })
}
