//! Throws many random balls and reports decisions, outcomes on the played frames, CPU time, and faults found by the judge.

use std::fmt::Write as _;
use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_motion::interrupt::Commitment;
use kumite_motion::{FrameIdx, SpanKind};
use kumite_plan::dodge::{DodgeDecision, DodgeScratch, DodgeSearch};
use kumite_stage::attack_trial::{Answer, Moment, Trial};
use kumite_stage::dodge_referee::Exhaustive;
use kumite_stage::world::Perception;
use kumite_stage::{Character, Defence, Kit, Quality, Snap, TICKS, Target};
use rayon::prelude::*;
use serde_json::{Map, Value, json};

use super::{combined, spread};
use crate::{Progress, Report, judged};

/// Candidates that the search evaluates in one tick.
const SLICE: u32 = 64;
/// Balls at the head seen at least this long ahead are counted separately, seconds.
const IN_TIME: f32 = 0.6;
/// Balls known so long ahead leave time for a motion: people take 0.15 s to begin and 0.3 s to slip. Seconds.
const COMFORTABLE: f32 = 0.45;
/// Who defends by a motion should have moved by then, seconds after the ball is known.
const SOON: f64 = 0.30;
/// Ranges of lead that are counted separately, seconds; leads of trials are 0.3 to 1.2.
const LEADS: [(f32, f32); 3] = [(0.3, 0.6), (0.6, 0.9), (0.9, 1.2)];

/// Key of an answer in JSON.
fn key(answer: Answer) -> &'static str {
    match answer {
        Answer::Motion => "by_motion",
        Answer::BentMotion => "by_bent_motion",
        Answer::BentPose => "by_bent_pose",
        Answer::Block => "by_block",
        Answer::BentBlock => "by_bent_block",
        Answer::Hit => "hit",
    }
}

/// What was decided when a ball became known, and what that took.
struct Decided {
    decision: DodgeDecision,
    /// CPU time on a ball not seen before: of the search, and of the whole decision with bends and blocks.
    search_us: f64,
    decision_us: f64,
    /// CPU time of the search repeated without the index.
    enumerated_us: f64,
    enumerated: u32,
    /// Whether the search was over before the playing edge ended.
    before_edge_end: bool,
    /// If any path avoids the ball unchanged: cost of the chosen path over the optimum's (if such a path was chosen), and
    /// the optimum's clearance, metres.
    optimum: Option<(Option<f64>, f32)>,
}

/// Decision, outcome and figures of one threatening ball.
struct TrialResult {
    /// Which of the balls, as `--trial` counts them.
    number: u32,
    target: Target,
    /// Seconds left when it became known; 0 if it never did.
    lead: f32,
    /// Whether it came while the character was on its feet and did not run.
    upright: bool,
    answer: Answer,
    /// Whether the answer bends what is played.
    adapted: bool,
    decided: Option<Decided>,
    /// Mean displacement of the body's spheres, against undisturbed playback, when the ball arrives, metres.
    displacement: Option<f64>,
    /// When head or trunk had moved by 5 cm, seconds after the ball was known.
    moved: Option<f64>,
    quality: Quality,
    snaps: Vec<Snap>,
    undisturbed: Quality,
    /// Faults found by the judge in the take, and in undisturbed playback.
    faults: Vec<&'static str>,
    undisturbed_faults: Vec<&'static str>,
    /// Whether the world's log is what the referee sees, where that can be told.
    log_is_right: Option<bool>,
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

/// Seed of one ball of many.
pub(super) fn seed(of_all: u64, number: u32) -> u64 {
    of_all.wrapping_mul(1_000_003).wrapping_add(u64::from(number))
}

pub(super) fn run(
    (kits, defence): (&[Arc<Kit>], &Defence),
    count: u32,
    seed: u64,
    perception: Perception,
    progress: &Progress,
) -> Report {
    let exhaustive = Exhaustive::new(defence.library());
    let random = |k: u32| Trial::random(kits, self::seed(seed, k), perception, None);
    // Decisions first, one by one: what is timed is one core's work on a ball not seen before, and nothing else runs beside it.
    let bar = progress.bar(count as usize, "deciding");
    let mut scratch = DodgeScratch::default();
    let mut decide_one = |k: u32| {
        bar.inc(1);
        let moment = random(k)?.moment(kits)?;
        Some(decide(defence, &moment, &mut scratch))
    };
    let decided: Vec<_> = (0..count).map(|k| (k, decide_one(k))).collect();
    bar.finish_and_clear();
    let bar = progress.bar(count as usize, "throwing");
    let throw_one = |(k, decided): (u32, Option<Option<Decided>>)| {
        bar.inc(1);
        throw(kits, &exhaustive, (k, &random(k)?), decided)
    };
    let thrown: Vec<Thrown> = decided.into_par_iter().filter_map(throw_one).collect();
    bar.finish_and_clear();
    report(defence, &thrown)
}

/// Plays and judges one ball.
fn throw(
    kits: &[Arc<Kit>],
    exhaustive: &Exhaustive,
    (number, trial): (u32, &Trial),
    decided: Option<Option<Decided>>,
) -> Option<Thrown> {
    let moment = trial.moment(kits);
    let (undisturbed, played) = (trial.undisturbed(kits)?, trial.play(kits)?);
    if !played.threatens(&undisturbed.1, kits) {
        return Some(Thrown::Harmless);
    }
    let decided = match (decided, &moment) {
        (Some(None), _) => return Some(Thrown::Refused),
        (Some(Some(decided)), Some(at)) => {
            Some(Decided { optimum: optimum(exhaustive, at, &decided.decision), ..decided })
        }
        _ => None,
    };
    let answer = played.answer();
    let known = moment.as_ref().map(|m| trial.throw.lead.unwrap_or_default() - m.lead);
    let avoided = !matches!(answer, Answer::Block | Answer::BentBlock | Answer::Hit);
    Some(Thrown::Threatening(Box::new(TrialResult {
        number,
        target: trial.throw.target,
        upright: moment.as_ref().is_some_and(|m| is_upright(&m.character)),
        lead: moment.map_or(0.0, |m| m.lead),
        answer,
        adapted: played.decision.as_ref().is_some_and(|d| d.bend.is_some()),
        decided,
        displacement: if avoided { played.displacement(&undisturbed.1, kits).map(f64::from) } else { None },
        moved: known.and_then(|known| played.moved_after(known, &undisturbed.1, kits)).map(f64::from),
        quality: played.take.quality,
        snaps: played.take.snaps.clone(),
        undisturbed: undisturbed.0.quality,
        faults: judged::faults(&played.take),
        undisturbed_faults: judged::faults(&undisturbed.0),
        log_is_right: played.log_is_right(),
        hash: played.take.hash,
    })))
}

/// Whether a character is on its feet and does not run.
fn is_upright(character: &Character) -> bool {
    let (library, source) = (character.library(), character.source());
    let clip = library.clip(source.clip);
    let runs_or_lies = |kind: SpanKind| matches!(kind, SpanKind::Run | SpanKind::Down | SpanKind::Up);
    let inside = clip.spans.iter().any(|s| runs_or_lies(s.kind) && s.from <= source.time && source.time <= s.to);
    let frame = FrameIdx((source.time * clip.fps()) as u32);
    let committed = library.interrupts().committed_at(source.clip, frame);
    !inside && committed.is_none_or(|part| part.why != Commitment::Lying)
}

/// Decides in slices, as a game would; `None` if there is nothing to decide any more.
fn decide(defence: &Defence, at: &Moment, scratch: &mut DodgeScratch) -> Option<Decided> {
    let planner = defence.planner();
    let start = ThreadTime::now();
    let mut search = defence.search(&at.character, &at.ahead, &at.threats, false).ok()?;
    let mut slices = 1;
    while !search.step(&planner, scratch, SLICE) {
        slices += 1;
    }
    let searched = start.elapsed();
    let decision = search.decision(&planner, scratch);
    let decided = start.elapsed();
    let (enumerated_us, enumerated) = enumerate(defence, at, scratch);
    let playing = at.character.playing();
    let left = playing.left(defence.library().graph());
    Some(Decided {
        decision,
        search_us: searched.as_secs_f64() * 1e6,
        decision_us: decided.as_secs_f64() * 1e6,
        enumerated_us,
        enumerated,
        before_edge_end: (slices - 1) as f32 / TICKS as f32 <= left,
        optimum: None,
    })
}

/// If any path avoids the ball: what the chosen one costs of the cheapest, and how far that clears.
fn optimum(exhaustive: &Exhaustive, at: &Moment, decision: &DodgeDecision) -> Option<(Option<f64>, f32)> {
    let found = exhaustive.all(&at.character, &at.ahead, &at.threats);
    let best = found.iter().min_by(|a, b| a.cost.total_cmp(&b.cost))?;
    let own = found.iter().filter(|f| f.is(decision));
    Some((own.map(|f| f.cost).min_by(f32::total_cmp).map(|own| f64::from(own / best.cost)), best.clearance))
}

/// CPU time of a search without the index in microseconds, and its number of candidates.
fn enumerate(defence: &Defence, at: &Moment, scratch: &mut DodgeScratch) -> (f64, u32) {
    let mut planner = defence.planner();
    planner.config.use_index = false;
    let start = ThreadTime::now();
    let situation = defence.situation(&at.character, &at.ahead);
    let Ok(mut search) = DodgeSearch::new(&planner, &situation, &at.threats, false) else { return (0.0, 0) };
    while !search.step(&planner, scratch, u32::MAX) {}
    (start.elapsed().as_secs_f64() * 1e6, search.counts().enumerated)
}

/// A share; null if there is no whole.
fn share(part: usize, whole: usize) -> Value {
    if whole == 0 { Value::Null } else { json!(part as f64 / whole as f64) }
}

/// Counts answers by kind.
fn answers(of: &[&TrialResult]) -> Map<String, Value> {
    let count = |answer: Answer| of.iter().filter(|o| o.answer == answer).count();
    let mut all: Map<String, Value> =
        Answer::ALL.iter().map(|answer| (key(*answer).to_owned(), json!(count(*answer)))).collect();
    all.insert("threatening".into(), json!(of.len()));
    all.insert("by_bend".into(), json!(count(Answer::BentMotion) + count(Answer::BentPose) + count(Answer::BentBlock)));
    all.insert("defended".into(), json!(of.len() - count(Answer::Hit)));
    all.insert("defended_share".into(), share(of.len() - count(Answer::Hit), of.len()));
    all.insert("by_motion_or_block_share".into(), share(count(Answer::Motion) + count(Answer::Block), of.len()));
    all
}

fn report(defence: &Defence, thrown: &[Thrown]) -> Report {
    let results: Vec<&TrialResult> =
        thrown.iter().filter_map(|t| if let Thrown::Threatening(o) = t { Some(&**o) } else { None }).collect();
    let refused = thrown.iter().filter(|t| matches!(t, Thrown::Refused)).count();
    let count = |test: &dyn Fn(&TrialResult) -> bool| results.iter().filter(|o| test(o)).count();
    // A hit is followed by a reaction, which is no answer: its quality is told apart.
    let of = |value: &dyn Fn(&TrialResult) -> f64| {
        spread(&mut results.iter().filter(|o| o.answer != Answer::Hit).map(|o| value(o)).collect::<Vec<_>>())
    };
    let decided: Vec<&Decided> = results.iter().filter_map(|o| o.decided.as_ref()).collect();
    let of_decided =
        |value: &dyn Fn(&Decided) -> f64| spread(&mut decided.iter().map(|d| value(d)).collect::<Vec<_>>());
    let mean =
        |value: &dyn Fn(&Decided) -> f64| decided.iter().map(|d| value(d)).sum::<f64>() / decided.len().max(1) as f64;
    let optimum = |o: &TrialResult| o.decided.as_ref().and_then(|d| d.optimum);
    let in_grid = |o: &TrialResult| o.decided.as_ref().is_some_and(|d| d.decision.counts.in_grid > 0);
    let in_time = |o: &TrialResult| o.answer == Answer::Motion && o.decided.as_ref().is_some_and(|d| d.before_edge_end);
    let blocked = |o: &TrialResult| matches!(o.answer, Answer::Block | Answer::BentBlock);
    let avoided = |o: &TrialResult| !blocked(o) && o.answer != Answer::Hit;
    let all = results.len();
    let avoidable = count(&|o| optimum(o).is_some());
    let ratios: Vec<f64> = decided.iter().filter_map(|d| d.optimum?.0).collect();
    let agreed = |o: &TrialResult| optimum(o).is_some_and(|(ratio, _)| ratio.is_some_and(|r| r <= 1.01));
    let targets: Map<String, Value> = Target::ALL
        .iter()
        .map(|target| {
            let own: Vec<&TrialResult> = results.iter().copied().filter(|o| o.target == *target).collect();
            (target.name().to_owned(), Value::Object(answers(&own)))
        })
        .collect();
    let upright_head: Vec<&TrialResult> =
        results.iter().copied().filter(|o| o.target == Target::Head && o.upright && o.lead >= IN_TIME).collect();
    let leads: Map<String, Value> = LEADS
        .iter()
        .map(|(from, to)| {
            let own: Vec<&TrialResult> = results.iter().copied().filter(|o| (*from..*to).contains(&o.lead)).collect();
            (format!("{from:.1}-{to:.1} s"), Value::Object(answers(&own)))
        })
        .collect();
    let comfortable: Map<String, Value> = Target::ALL
        .iter()
        .map(|target| {
            let own = results.iter().copied().filter(|o| o.target == *target && o.lead >= COMFORTABLE);
            (target.name().to_owned(), Value::Object(answers(&own.collect::<Vec<_>>())))
        })
        .collect();
    let by_answer: Map<String, Value> = Answer::ALL
        .iter()
        .map(|answer| {
            let own = results.iter().filter(|o| o.answer == *answer).map(|o| &o.faults);
            (key(*answer).to_owned(), judged::count(own))
        })
        .collect();
    let disagreed: Vec<Value> = results
        .iter()
        .filter(|o| !agreed(o))
        .filter_map(|o| {
            let decision = &o.decided.as_ref()?.decision;
            let (ratio, clears) = optimum(o)?;
            Some(json!({
                "trial": o.number, "target": o.target.name(), "ratio": ratio, "optimum_clears_m": clears, "planned_m": decision.clearance,
                "forecast": decision.forecast.name(), "candidates": decision.counts.index,
            }))
        })
        .collect();
    let failed = results.iter().filter(|o| o.answer != Answer::Hit && !o.quality.passes());
    let beyond_gates: Vec<Value> = failed
        .map(|o| {
            let snap = |s: &Snap| json!({"time": s.time, "joint": s.role.name(), "size": s.size});
            json!({
                "trial": o.number, "answer": key(o.answer), "foot_slide_cm_s": o.quality.foot_slide_cm_s,
                "float_cm": o.quality.float_cm, "snaps": o.snaps.iter().map(snap).collect::<Vec<_>>(),
            })
        })
        .collect();
    let by_motion: Vec<&TrialResult> = results.iter().copied().filter(|o| o.answer == Answer::Motion).collect();
    let mut moved: Vec<f64> = by_motion.iter().filter_map(|o| o.moved).collect();
    let soon = moved.iter().filter(|seconds| **seconds <= SOON).count();
    let mut displacement: Vec<f64> = results.iter().filter_map(|o| o.displacement).collect();
    let mut json = json!({
        "hash": combined(results.iter().map(|o| o.hash)),
        "trials": thrown.len(), "threatening": all, "refused": refused, "unseen": all - decided.len(),
        "log_right": count(&|o| o.log_is_right == Some(true)), "log_wrong": count(&|o| o.log_is_right == Some(false)),
        "avoided": count(&avoided), "blocked": count(&blocked),
        "adapted": count(&|o| o.adapted),
        "answers": answers(&results), "targets": targets, "leads": leads, "known_in_time": comfortable,
        "upright_head_in_time": answers(&upright_head),
        "avoidable": avoidable,
        "avoided_of_avoidable_share": share(count(&|o| optimum(o).is_some() && avoided(o)), avoidable),
        "agreed": count(&agreed), "agreed_share": share(count(&agreed), avoidable),
        "cost_ratio": if ratios.is_empty() { Value::Null } else { json!(ratios.iter().sum::<f64>() / ratios.len() as f64) },
        "from_index": count(&in_grid),
        "from_index_share": share(count(&in_grid), all),
        "before_edge_end": count(&in_time),
        "before_edge_end_share": share(count(&in_time), all),
        "decision_us": of_decided(&|d| d.decision_us),
        "query_us": {"index": of_decided(&|d| d.search_us), "enumerated": of_decided(&|d| d.enumerated_us)},
        "candidates": {"index": mean(&|d| f64::from(d.decision.counts.index)), "enumerated": mean(&|d| f64::from(d.enumerated)),
            "interrupts": mean(&|d| f64::from(d.decision.counts.interrupts)), "tested": mean(&|d| f64::from(d.decision.counts.tested)),
            "bounded": mean(&|d| f64::from(d.decision.counts.bounded))},
        "displacement_m": spread(&mut displacement),
        "moved_after_s": spread(&mut moved), "moved_soon_share": share(soon, by_motion.len()),
    });
    let how_good = json!({
        "quality_failures": count(&|o| o.answer != Answer::Hit && !o.quality.passes()),
        "quality_failures_at_joins": count(&|o| o.answer != Answer::Hit && !o.quality.passes_at_joins()),
        "hit_quality_failures": count(&|o| o.answer == Answer::Hit && !o.quality.passes()),
        "undisturbed_quality_failures": count(&|o| !o.undisturbed.passes()),
        "foot_slide_cm_s": of(&|o| f64::from(o.quality.foot_slide_cm_s)), "float_cm": of(&|o| f64::from(o.quality.float_cm)),
        "snap": of(&|o| f64::from(o.quality.snap)), "snap_at_joins": of(&|o| f64::from(o.quality.snap_at_joins)),
        "balance_cm": of(&|o| f64::from(o.quality.balance_cm)),
        "source_balance_cm": of(&|o| f64::from(o.quality.source_balance_cm)),
        "judge": {"by_answer": by_answer, "undisturbed": judged::count(results.iter().map(|o| &o.undisturbed_faults))},
        "beyond_gates": beyond_gates, "disagreed": disagreed,
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
         {} by an avoidance or a block as it is; of those at the head {}\n    \
         whole decision {}; of it the search {}; search without the index {}",
        json["avoidable"],
        percent(&json["avoided_of_avoidable_share"]),
        percent(&json["agreed_share"]),
        percent(&json["answers"]["by_motion_or_block_share"]),
        percent(&json["targets"]["head"]["by_motion_or_block_share"]),
        us(&json["decision_us"]),
        us(&json["query_us"]["index"]),
        us(&json["query_us"]["enumerated"]),
    );
    let _ = writeln!(text, "    target  balls  motion  bent motion  bent pose  block  bent block  hit");
    for (name, row) in json["targets"].as_object().into_iter().flatten() {
        let part =
            |key: &str| 100.0 * row[key].as_f64().unwrap_or(0.0) / row["threatening"].as_f64().unwrap_or(1.0).max(1.0);
        let _ = writeln!(
            text,
            "    {name:<6} {:>6}  {:>4.1} %       {:>4.1} %     {:>4.1} %  {:>3.1} %  {:>4.1} %  {:>4.1} %",
            row["threatening"].as_f64().unwrap_or(0.0),
            part("by_motion"),
            part("by_bent_motion"),
            part("by_bent_pose"),
            part("by_block"),
            part("by_bent_block"),
            part("hit"),
        );
    }
    text
}
