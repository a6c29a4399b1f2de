//! Table 1 of Oshita and Masaoka: time of a query with and without culling and index, ours beside theirs.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_plan::dodge::{DodgeConfig, DodgeDecision, DodgeScratch, DodgeSearch, Forecast};
use kumite_stage::Kit;
use kumite_stage::attack_trial::Moment;
use kumite_stage::dodge_referee::Exhaustive;
use serde_json::{Value, json};

use super::{html_page, html_row};
use crate::args::TablesArgs;
use crate::failure::{CliResult, Failure};
use crate::{Progress, Report, bake, dodge};

/// Their table: culling, index, milliseconds on a Pentium 4.
const THEIRS: [(bool, bool, f64); 4] =
    [(true, true, 14.0), (true, false, 225.0), (false, true, 18.0), (false, false, 496.0)];
/// Estimated speed of one core of a 2.87 GHz Zen 4 relative to their Pentium 4.
const SCALE: f64 = 4.0;
/// Attacks that the naive method is timed on: few, because it takes seconds where the others take microseconds.
const NAIVE: usize = 20;

/// Times and answers under one condition.
#[derive(Default)]
struct Condition {
    search_us: Vec<f64>,
    decision_us: Vec<f64>,
    candidates: u32,
    culled: u32,
    /// Counts as the plan expects them: avoided by an unchanged path, by a bent path, by bending the playing motion; blocked;
    /// hit.
    answers: [u32; 5],
}

impl Condition {
    fn add(&mut self, search_us: f64, decision_us: f64, decision: &DodgeDecision) {
        self.search_us.push(search_us);
        self.decision_us.push(decision_us);
        self.candidates += decision.counts.index + decision.counts.enumerated;
        self.culled += decision.counts.culled;
        let answer = match (decision.forecast, decision.span) {
            (Forecast::Clear, _) => return,
            (Forecast::Avoided, Some(_)) if decision.clearance >= 0.0 => 0,
            (Forecast::Avoided, Some(_)) => 1,
            (Forecast::Avoided, None) => 2,
            (Forecast::Blocked, _) => 3,
            (Forecast::Hit, _) => 4,
        };
        self.answers[answer] += 1;
    }

    fn report(mut self) -> Value {
        let count = self.search_us.len().max(1) as f64;
        let answered = f64::from(self.answers.iter().sum::<u32>().max(1));
        let [motion, bent_motion, bent_pose, block, hit] = self.answers.map(|n| f64::from(n) / answered);
        json!({
            "ours_ms": self.search_us.iter().sum::<f64>() / count / 1e3,
            "decision_ms": self.decision_us.iter().sum::<f64>() / count / 1e3,
            "ours_us": dodge::spread(&mut self.search_us), "decision_us": dodge::spread(&mut self.decision_us),
            "candidates": f64::from(self.candidates) / count, "culled": f64::from(self.culled) / count,
            "by_motion_share": motion, "by_bent_motion_share": bent_motion, "by_bent_pose_share": bent_pose,
            "by_block_share": block, "hit_share": hit,
        })
    }
}

pub(crate) fn run(args: &TablesArgs, progress: &Progress) -> CliResult<Report> {
    let count = args.trials.unwrap_or(super::TRIALS);
    if count == 0 {
        return Err(Failure::bad("--trials is 0; allowed is at least 1")
            .key("--trials")
            .found("0")
            .allowed("at least 1"));
    }
    let library = bake::load(&args.library, Path::new(""), None, progress)?.library;
    let config = DodgeConfig { grid: true, cull: true, ..DodgeConfig::default() };
    let kits = [Arc::new(Kit::new(dodge::defence(library, config), None))];
    let Some(defence) = kits[0].defence() else { return Err(Failure::bad("nothing to dodge with")) };
    let trials: Vec<Moment> = (0..u64::from(count))
        .filter_map(|k| Moment::random(&kits, args.seed.wrapping_mul(1_000_003).wrapping_add(k)))
        .collect();
    let bar = progress.bar(4 * trials.len() + NAIVE, "timing");
    let mut scratch = DodgeScratch::default();
    let mut conditions: [Condition; 4] = Default::default();
    for (k, trial) in trials.iter().enumerate() {
        // The first condition pays for loading the caches, so each condition is first equally often.
        for turn in 0..THEIRS.len() {
            let at = (k + turn) % THEIRS.len();
            let (cull, index, _) = THEIRS[at];
            let mut planner = defence.planner();
            (planner.config.cull, planner.config.use_index, planner.config.grid) = (cull, index, index);
            // Their fighters play every edge to its end.
            planner.config.interrupts = false;
            planner.config.at_height = false;
            let situation = defence.situation(&trial.character, &trial.ahead);
            let start = ThreadTime::now();
            if let Ok(mut search) = DodgeSearch::new(&planner, &situation, &trial.threats, false) {
                while !search.step(&planner, &mut scratch, u32::MAX) {}
                let searched = start.elapsed().as_secs_f64() * 1e6;
                let decision = search.decision(&planner, &mut scratch);
                conditions[at].add(searched, start.elapsed().as_secs_f64() * 1e6, &decision);
            }
            bar.inc(1);
        }
    }
    let rows: Vec<Value> = THEIRS
        .iter()
        .zip(conditions)
        .map(|((cull, index, theirs), condition)| {
            let mut row =
                json!({"culling": cull, "index": index, "theirs_ms": theirs, "theirs_scaled_ms": theirs / SCALE});
            if let (Some(row), Value::Object(own)) = (row.as_object_mut(), condition.report()) {
                row.extend(own);
            }
            row
        })
        .collect();
    let exhaustive = Exhaustive::new(defence.library());
    let start = ThreadTime::now();
    for trial in trials.iter().take(NAIVE) {
        exhaustive.all(&trial.character, &trial.ahead, &trial.threats);
        bar.inc(1);
    }
    let naive = start.elapsed().as_secs_f64() * 1e3 / trials.len().clamp(1, NAIVE) as f64;
    bar.finish_and_clear();
    let json = json!({
        "paper": "avoidance", "table": 1, "trials": trials.len(), "rows": rows, "naive_ms": naive,
        "theirs_machine": "Pentium 4, GeForce FX5700", "scaled_by": SCALE,
    });
    let text = if args.html { html(&json) } else { table(&json, args.markdown) };
    Ok(Report { text, json })
}

fn cells(row: &Value) -> [String; HEADS.len()] {
    let word = |v: &Value, yes: &str, no: &str| if v == true { yes.to_owned() } else { no.to_owned() };
    let ms =
        |v: &Value| v.as_f64().map_or(String::new(), |v| if v < 1.0 { format!("{v:.4}") } else { format!("{v:.1}") });
    let percent = |v: &Value| v.as_f64().map_or(String::new(), |v| format!("{:.1} %", 100.0 * v));
    [
        word(&row["culling"], "with culling", "without culling"),
        word(&row["index"], "paths from the grid", "paths enumerated"),
        ms(&row["theirs_ms"]),
        ms(&row["theirs_scaled_ms"]),
        ms(&row["ours_ms"]),
        ms(&row["decision_ms"]),
        row["candidates"].as_f64().map_or(String::new(), |v| format!("{v:.1}")),
        row["culled"].as_f64().map_or(String::new(), |v| format!("{v:.1}")),
        percent(&row["by_motion_share"]),
        percent(&row["by_bent_motion_share"]),
        percent(&row["by_bent_pose_share"]),
        percent(&row["hit_share"]),
    ]
}

/// Per condition: search time beside the paper's, time of the whole decision with bends and blocks, candidates found and culled,
/// and shares of the answers. Culled candidates cannot be bent.
const HEADS: [&str; 12] = [
    "condition",
    "",
    "theirs, ms",
    "theirs scaled, ms",
    "ours, ms",
    "whole decision, ms",
    "candidates",
    "culled",
    "avoided as it is",
    "by a bent path",
    "by a bent pose",
    "hit",
];

fn table(json: &Value, markdown: bool) -> String {
    let mut text = String::new();
    let put = |text: &mut String, cells: &[String]| {
        if markdown {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        } else {
            let widths = [17, 21, 12, 19, 10, 20, 12, 8, 18, 16, 16, 8];
            for (cell, width) in cells.iter().zip(widths) {
                let _ = write!(text, "{cell:<width$}");
            }
            text.push('\n');
        }
    };
    put(&mut text, &HEADS.map(str::to_owned));
    if markdown {
        text += &("|---".repeat(HEADS.len()) + "|\n");
    }
    for row in json["rows"].as_array().into_iter().flatten() {
        put(&mut text, &cells(row));
    }
    let naive = json["naive_ms"].as_f64().unwrap_or(0.0);
    let mut last = [const { String::new() }; HEADS.len()];
    (last[0], last[1], last[4]) = ("naive".into(), "every path, played".into(), format!("{naive:.1}"));
    put(&mut text, &last);
    text
}

fn html(json: &Value) -> String {
    let mut rows = html_row("th", &HEADS.map(str::to_owned));
    for row in json["rows"].as_array().into_iter().flatten() {
        rows += &html_row("td", &cells(row));
    }
    let naive = json["naive_ms"].as_f64().unwrap_or(0.0);
    let body = format!("<table>\n{rows}</table>\n<p>naive: every path, played: {naive:.1} ms</p>");
    html_page("Oshita and Masaoka, Table 1", &body)
}
