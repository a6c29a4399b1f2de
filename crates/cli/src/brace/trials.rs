//! Many random threats, judged and counted.

use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_motion::library::Library;
use kumite_react::balance::Case;
use kumite_react::{Body, Brace};
use kumite_stage::brace_referee::Judged;
use kumite_stage::brace_trial::{self, Doing, Played};
use rayon::prelude::*;
use serde_json::json;

use super::{GUARDS, judged};
use crate::dodge::spread;
use crate::{Progress, Report};

/// Seed of one threat of many.
pub(super) fn seed(of_all: u64, number: u32) -> u64 {
    of_all.wrapping_mul(1_000_003).wrapping_add(u64::from(number))
}

pub(super) fn run(library: &Arc<Library>, count: u32, seed: u64, progress: &Progress) -> Report {
    let bar = progress.bar(count as usize, "bracing");
    let one = |number: u32| {
        bar.inc(1);
        let (moment, request) = brace_trial::random(library, self::seed(seed, number))?;
        let body = Body::of(library.skeleton())?;
        let source = moment.character.brace_source(request.seconds);
        let start = ThreadTime::now();
        let _ = Brace::begin(library.skeleton(), &body, &source, &request);
        let us = start.elapsed().as_secs_f64() * 1e6;
        let played = moment.play(&request).ok()?;
        let judged = judged(library, &played);
        Some((number, moment.doing, us, played, judged))
    };
    let all: Vec<(u32, Doing, f64, Played, Judged)> = (0..count).into_par_iter().filter_map(one).collect();
    bar.finish_and_clear();
    let spread_of = |value: &dyn Fn(&(u32, Doing, f64, Played, Judged)) -> Option<f64>| {
        let mut values: Vec<f64> = all.iter().filter_map(value).collect();
        spread(&mut values)
    };
    let com = |t: &(u32, Doing, f64, Played, Judged)| {
        let wanted = t.3.solved.centres[1];
        let off = f64::from(((t.4.centre.x - wanted.x).powi(2) + (t.4.centre.z - wanted.y).powi(2)).sqrt());
        (t.3.brace.planted() && t.3.solved.case != Case::OutOfBalance).then_some(off)
    };
    let guarded = all.iter().filter(|t| t.4.guard <= GUARDS).count();
    let unbraced = all.iter().filter(|t| t.4.unbraced_guard <= GUARDS).count();
    let json = json!({
        "trials": all.len(), "planted": all.iter().filter(|t| t.3.brace.planted()).count(),
        "not_finite": all.iter().filter(|t| !t.4.finite).count(),
        "solve_us": spread_of(&|t| Some(t.2)),
        "com_error_m": spread_of(&com),
        "foot_slide_m": spread_of(&|t| Some(f64::from(t.4.slide))),
        "guarded": guarded, "guarded_unbraced": unbraced,
        "beyond_limits_deg": spread_of(&|t| Some(f64::from(t.4.beyond_limits.to_degrees()))),
        "penetration_m": spread_of(&|t| Some(f64::from(t.4.penetration))),
    });
    let text = format!("{json:#}\n");
    Report { text, json }
}
