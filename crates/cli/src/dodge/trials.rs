//! Throws many random balls and reports decisions, outcomes on the played frames, CPU time, and faults found by the judge.

use std::fmt::Write as _;

use cpu_time::ThreadTime;
use kumite_plan::dodge::{DodgeDecision, DodgeScratch, DodgeSearch};
use kumite_stage::attack_trial::Trial;
use kumite_stage::dodge_referee::{self, Exhaustive, Ruling};
use kumite_stage::{Defence, Quality, Recorder, TICKS, Take, Target};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::{AFTER, combined, spread};
use crate::{Progress, Report, judged};

/// Candidates that the search evaluates in one tick.
const SLICE: u32 = 64;
/// Balls at head or torso seen at least this long ahead should be defended, seconds.
const IN_TIME: f32 = 0.6;
/// Ranges of lead that are counted separately, seconds; leads of trials are 0.3 to 1.2.
const LEADS: [(f32, f32); 3] = [(0.3, 0.6), (0.6, 0.9), (0.9, 1.2)];

/// How an attack was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Answer {
    /// An avoidance that clears the ball unchanged.
    Motion,
    /// An avoidance that clears the ball after bending.
    BentMotion,
    /// A bend of the motion that was playing anyway.
    BentPose,
    /// A block with a wrist.
    Block,
    /// The ball hit.
    Hit,
}

impl Answer {
    const ALL: [Answer; 5] = [Answer::Motion, Answer::BentMotion, Answer::BentPose, Answer::Block, Answer::Hit];

    fn of(decision: &DodgeDecision, ruling: &Ruling) -> Answer {
        match (decision.span, decision.clearance) {
            _ if !ruling.avoided => {
                if ruling.blocked {
                    Answer::Block
                } else {
                    Answer::Hit
                }
            }
            (Some(_), clearance) if clearance >= 0.0 => Answer::Motion,
            (Some(_), _) => Answer::BentMotion,
            (None, _) => Answer::BentPose,
        }
    }

    /// Key in JSON.
    fn key(self) -> &'static str {
        match self {
            Answer::Motion => "by_motion",
            Answer::BentMotion => "by_bent_motion",
            Answer::BentPose => "by_bent_pose",
            Answer::Block => "by_block",
            Answer::Hit => "hit",
        }
    }
}

/// Decision, outcome and figures of one threatening ball.
struct TrialResult {
    target: Target,
    lead: f32,
    answer: Answer,
    decision: DodgeDecision,
    /// CPU time on a ball not seen before: of the search, and of the whole decision with bends and blocks.
    search_us: f64,
    decision_us: f64,
    /// CPU time of the search repeated without the index.
    enumerated_us: f64,
    enumerated: u32,
    /// Whether an avoiding path was found before the playing edge ended.
    before_edge_end: bool,
    /// If any path avoids the ball unchanged: cost of the chosen path over the optimum's (if such a path was chosen), and
    /// the optimum's clearance, metres.
    optimum: Option<(Option<f64>, f32)>,
    /// Mean displacement of the body's spheres, against undisturbed playback, when the ball arrives, metres.
    displacement: Option<f64>,
    quality: Quality,
    undisturbed: Quality,
    /// Faults found by the judge in the take, and in undisturbed playback.
    faults: Vec<&'static str>,
    undisturbed_faults: Vec<&'static str>,
    hash: u64,
}

/// What happened to one ball.
enum Thrown {
    /// It misses the character anyway.
    Harmless,
    /// It touched the body from the start.
    Refused,
    Threatening(Box<TrialResult>),
}

pub(super) fn run(defence: &Defence, count: u32, seed: u64, progress: &Progress) -> Report {
    let bar = progress.bar(count as usize, "throwing");
    let exhaustive = Exhaustive::new(defence.library());
    let throw_one = |scratch: &mut DodgeScratch, k: u32| {
        let number = seed.wrapping_mul(1_000_003).wrapping_add(u64::from(k));
        let trial = Trial::random(defence.library(), number);
        bar.inc(1);
        trial.and_then(|trial| throw(defence, &exhaustive, &trial, scratch))
    };
    let thrown: Vec<Thrown> =
        (0..count).into_par_iter().map_init(DodgeScratch::default, throw_one).flatten_iter().collect();
    bar.finish_and_clear();
    report(defence, &thrown)
}

/// Decides, plays and judges one ball.
fn throw(defence: &Defence, exhaustive: &Exhaustive, trial: &Trial, scratch: &mut DodgeScratch) -> Option<Thrown> {
    let planner = defence.planner();
    let start = ThreadTime::now();
    let search = defence.search(&trial.character, &trial.ahead, &trial.threats, false);
    let begun = start.elapsed();
    let undisturbed = dodge_referee::threatening(&trial.character, &trial.ahead, &trial.threats);
    if undisturbed.first.is_none() {
        return Some(Thrown::Harmless);
    }
    let Ok(mut search) = search else { return Some(Thrown::Refused) };
    let start = ThreadTime::now();
    let mut slices = 1;
    while !search.step(&planner, scratch, SLICE) {
        slices += 1;
    }
    let searched = begun + start.elapsed();
    let decision = search.decision(&planner, scratch);
    let decided = begun + start.elapsed();
    let (enumerated_us, enumerated) = enumerate(defence, trial, scratch);
    let playing = trial.character.playing();
    let left = defence.library().graph().edge(playing.edge).seconds - playing.since;
    let ruling = dodge_referee::judge(&trial.character, &decision, &trial.ahead, &trial.threats);
    let found = exhaustive.all(&trial.character, &trial.threats);
    let optimum = found.iter().min_by(|a, b| a.cost.total_cmp(&b.cost)).map(|best| {
        // The plan's edges continue beyond the avoidance until the attack is over.
        let own = found.iter().filter(|f| decision.span.is_some() && decision.edges.starts_with(&f.edges));
        (own.map(|f| f.cost).min_by(f32::total_cmp).map(|own| f64::from(own / best.cost)), best.clearance)
    });
    let answer = Answer::of(&decision, &ruling);
    let (take, without) = (play(trial, Some(&decision))?, play(trial, None)?);
    Some(Thrown::Threatening(Box::new(TrialResult {
        target: trial.target,
        lead: trial.lead,
        answer,
        search_us: searched.as_secs_f64() * 1e6,
        decision_us: decided.as_secs_f64() * 1e6,
        enumerated_us,
        enumerated,
        before_edge_end: answer == Answer::Motion && (slices - 1) as f32 / TICKS as f32 <= left,
        optimum,
        displacement: ruling.avoided.then(|| displacement(trial, &decision)).flatten(),
        quality: take.quality,
        undisturbed: without.quality,
        faults: judged::faults(&take),
        undisturbed_faults: judged::faults(&without),
        hash: take.hash,
        decision,
    })))
}

/// CPU time of a search without the index in microseconds, and its number of candidates.
fn enumerate(defence: &Defence, trial: &Trial, scratch: &mut DodgeScratch) -> (f64, u32) {
    let mut planner = defence.planner();
    planner.config.use_index = false;
    let start = ThreadTime::now();
    let situation = defence.situation(&trial.character, &trial.ahead);
    let Ok(mut search) = DodgeSearch::new(&planner, &situation, &trial.threats, false) else { return (0.0, 0) };
    while !search.step(&planner, scratch, u32::MAX) {}
    (start.elapsed().as_secs_f64() * 1e6, search.counts().enumerated)
}

/// Mean distance between the body's spheres in the take and in undisturbed playback when the ball arrives, metres.
fn displacement(trial: &Trial, decision: &DodgeDecision) -> Option<f64> {
    let moved = dodge_referee::shown(&trial.character, Some(decision), &trial.ahead, trial.lead);
    let stayed = dodge_referee::shown(&trial.character, None, &trial.ahead, trial.lead);
    let (a, b) = (moved.frames.last()?, stayed.frames.last()?);
    let mean = a.iter().zip(b).map(|(p, q)| (*p - *q).length()).sum::<f32>() / a.len().max(1) as f32;
    Some(f64::from(mean))
}

/// Plays from the moment the attack is seen until well after it has passed; undisturbed without a decision.
fn play(trial: &Trial, decision: Option<&DodgeDecision>) -> Option<Take> {
    let mut character = trial.character.clone();
    let mut recorder = Recorder::default();
    recorder.record(&character, None);
    if let Some(decision) = decision {
        character.follow(&decision.edges, &decision.warp, decision.bend);
    }
    let undisturbed = decision.is_none_or(|d| d.edges.is_empty());
    let mut queue = if undisturbed { trial.ahead.clone() } else { Vec::new() }.into_iter().map(|leg| leg.edge);
    for _ in 0..((trial.lead + AFTER) * TICKS as f32) as u32 {
        let began = character.step(|_, next| queue.next().filter(|e| next.contains(e)).unwrap_or(next[0]));
        recorder.record(&character, began);
    }
    recorder.finish("trial", character.library().skeleton()).ok()
}

/// A share; null if there is no whole.
fn share(part: usize, whole: usize) -> Value {
    if whole == 0 { Value::Null } else { json!(part as f64 / whole as f64) }
}

/// Counts answers by kind.
fn answers(of: &[&TrialResult]) -> Map<String, Value> {
    let count = |answer: Answer| of.iter().filter(|o| o.answer == answer).count();
    let mut all: Map<String, Value> =
        Answer::ALL.iter().map(|answer| (answer.key().to_owned(), json!(count(*answer)))).collect();
    all.insert("threatening".into(), json!(of.len()));
    all.insert("by_bend".into(), json!(count(Answer::BentMotion) + count(Answer::BentPose)));
    all.insert("defended".into(), json!(of.len() - count(Answer::Hit)));
    all
}

fn report(defence: &Defence, thrown: &[Thrown]) -> Report {
    let results: Vec<&TrialResult> =
        thrown.iter().filter_map(|t| if let Thrown::Threatening(o) = t { Some(&**o) } else { None }).collect();
    let refused = thrown.iter().filter(|t| matches!(t, Thrown::Refused)).count();
    let count = |test: &dyn Fn(&TrialResult) -> bool| results.iter().filter(|o| test(o)).count();
    let of = |value: &dyn Fn(&TrialResult) -> f64| spread(&mut results.iter().map(|o| value(o)).collect::<Vec<_>>());
    let mean = |value: &dyn Fn(&TrialResult) -> f64| {
        results.iter().map(|o| value(o)).sum::<f64>() / results.len().max(1) as f64
    };
    let avoided = |o: &TrialResult| !matches!(o.answer, Answer::Block | Answer::Hit);
    let all = results.len();
    let avoidable = count(&|o| o.optimum.is_some());
    let ratios: Vec<f64> = results.iter().filter_map(|o| o.optimum?.0).collect();
    let agreed = |o: &TrialResult| o.optimum.is_some_and(|(ratio, _)| ratio.is_some_and(|r| r <= 1.01));
    let core = |o: &TrialResult| o.target.is_core() && o.lead >= IN_TIME;
    let targets: Map<String, Value> = Target::ALL
        .iter()
        .map(|target| {
            let own: Vec<&TrialResult> = results.iter().copied().filter(|o| o.target == *target).collect();
            (target.name().to_owned(), Value::Object(answers(&own)))
        })
        .collect();
    let leads: Map<String, Value> = LEADS
        .iter()
        .map(|(from, to)| {
            let own: Vec<&TrialResult> = results.iter().copied().filter(|o| (*from..*to).contains(&o.lead)).collect();
            (format!("{from:.1}-{to:.1} s"), Value::Object(answers(&own)))
        })
        .collect();
    let by_answer: Map<String, Value> = Answer::ALL
        .iter()
        .map(|answer| {
            let own = results.iter().filter(|o| o.answer == *answer).map(|o| &o.faults);
            (answer.key().to_owned(), judged::count(own))
        })
        .collect();
    let disagreed: Vec<Value> = results
        .iter()
        .filter(|o| o.optimum.is_some() && !agreed(o))
        .map(|o| {
            json!({
                "target": o.target.name(), "ratio": o.optimum.and_then(|b| b.0), "optimum_clears_m": o.optimum.map(|b| b.1),
                "planned_m": o.decision.clearance, "forecast": o.decision.forecast.name(), "candidates": o.decision.counts.index,
            })
        })
        .collect();
    let mut displacement: Vec<f64> = results.iter().filter_map(|o| o.displacement).collect();
    let mut json = json!({
        "hash": combined(results.iter().map(|o| o.hash)),
        "trials": thrown.len(), "threatening": all, "refused": refused,
        "avoided": count(&avoided), "blocked": count(&|o| o.answer == Answer::Block),
        "adapted": count(&|o| o.decision.bend.is_some()),
        "answers": answers(&results), "targets": targets, "leads": leads,
        "avoidable": avoidable,
        "avoided_of_avoidable_share": share(count(&|o| o.optimum.is_some() && avoided(o)), avoidable),
        "agreed": count(&agreed), "agreed_share": share(count(&agreed), avoidable),
        "cost_ratio": if ratios.is_empty() { Value::Null } else { json!(ratios.iter().sum::<f64>() / ratios.len() as f64) },
        "from_index": count(&|o| o.decision.counts.in_grid > 0),
        "from_index_share": share(count(&|o| o.decision.counts.in_grid > 0), all),
        "before_edge_end": count(&|o| o.before_edge_end),
        "before_edge_end_share": share(count(&|o| o.before_edge_end), all),
        "core_seen": count(&core), "core_defended": count(&|o| core(o) && o.answer != Answer::Hit),
        "core_defended_share": share(count(&|o| core(o) && o.answer != Answer::Hit), count(&core)),
        "decision_us": of(&|o| o.decision_us),
        "query_us": {"index": of(&|o| o.search_us), "enumerated": of(&|o| o.enumerated_us)},
        "candidates": {"index": mean(&|o| f64::from(o.decision.counts.index)), "enumerated": mean(&|o| f64::from(o.enumerated))},
        "displacement_m": spread(&mut displacement),
    });
    let how_good = json!({
        "quality_failures": count(&|o| !o.quality.passes()),
        "quality_failures_at_joins": count(&|o| !o.quality.passes_at_joins()),
        "undisturbed_quality_failures": count(&|o| !o.undisturbed.passes()),
        "foot_slide_cm_s": of(&|o| f64::from(o.quality.foot_slide_cm_s)), "float_cm": of(&|o| f64::from(o.quality.float_cm)),
        "snap": of(&|o| f64::from(o.quality.snap)), "snap_at_joins": of(&|o| f64::from(o.quality.snap_at_joins)),
        "balance_cm": of(&|o| f64::from(o.quality.balance_cm)),
        "source_balance_cm": of(&|o| f64::from(o.quality.source_balance_cm)),
        "judge": {"by_answer": by_answer, "undisturbed": judged::count(results.iter().map(|o| &o.undisturbed_faults))},
        "disagreed": disagreed,
        "index_bytes": defence.index().bytes(), "index_paths": defence.index().avoid.len(),
        "index_cells": defence.index().avoid.cells(), "bodies_bytes": defence.bodies().bytes(),
        "planes_bytes": defence.planes().bytes(),
    });
    if let (Some(all), Some(more)) = (json.as_object_mut(), how_good.as_object()) {
        all.extend(more.clone());
    }
    Report { text: text(&json), json }
}

/// The report as text.
fn text(json: &Value) -> String {
    let percent = |v: &Value| v.as_f64().map_or("none".to_owned(), |v| format!("{:.1} %", v * 100.0));
    let us = |v: &Value| {
        format!("p50 {:.0}, p99 {:.0} µs", v["p50"].as_f64().unwrap_or(0.0), v["p99"].as_f64().unwrap_or(0.0))
    };
    let mut text = format!(
        "{} balls, {} threatening: {} avoided, {} blocked\n",
        json["trials"], json["threatening"], json["avoided"], json["blocked"]
    );
    let _ = writeln!(
        text,
        "    {} avoidable by a path as it is: {} avoided, {} at the exhaustive optimum\n    \
         head and torso seen {IN_TIME} s ahead: {} of {} avoided or blocked ({})\n    \
         whole decision {}; of it the search {}; search without the index {}",
        json["avoidable"],
        percent(&json["avoided_of_avoidable_share"]),
        percent(&json["agreed_share"]),
        json["core_defended"],
        json["core_seen"],
        percent(&json["core_defended_share"]),
        us(&json["decision_us"]),
        us(&json["query_us"]["index"]),
        us(&json["query_us"]["enumerated"]),
    );
    let _ = writeln!(text, "    target  balls  motion  bent motion  bent pose  block  hit");
    for (name, row) in json["targets"].as_object().into_iter().flatten() {
        let part =
            |key: &str| 100.0 * row[key].as_f64().unwrap_or(0.0) / row["threatening"].as_f64().unwrap_or(1.0).max(1.0);
        let _ = writeln!(
            text,
            "    {name:<6} {:>6}  {:>4.1} %       {:>4.1} %     {:>4.1} %  {:>3.1} %  {:>4.1} %",
            row["threatening"].as_f64().unwrap_or(0.0),
            part("by_motion"),
            part("by_bent_motion"),
            part("by_bent_pose"),
            part("by_block"),
            part("hit"),
        );
    }
    text
}
