//! Tables 1 and 2 of Chen and Steed: path finding and following (PFF) and environment-aware motion sampling (EMS), ours beside
//! theirs; then all methods side by side, and the time of an evaluation.

use std::fmt::Write as _;
use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_plan::walk::{Effort, Method, Task, WalkConfig};
use kumite_plan::{Alone, Pool};
use kumite_stage::Kit;
use kumite_stage::walk::{WalkOutcome, WalkRequest, Walker};
use serde_json::{Value, json};

use super::{html_page, html_row};
use crate::args::TablesArgs;
use crate::failure::CliResult;
use crate::rayon_pool::RayonPool;
use crate::walk::{Row, TimedHost, attempt, kit, number, refused, request, row, summary};
use crate::{Progress, Report};

/// The paper's figures: two-corner average and optimal, cluttered average, optimal and grid; PFF, EMS.
type Theirs = [(f64, f64); 5];
/// Name in the paper, our key, and their figures.
const ROWS: [(&str, &str, Theirs); 7] = [
    ("# of transitions", "transitions", [(12.5, 11.3), (12.0, 9.0), (22.7, 11.4), (18.0, 5.0), (27.0, 6.0)]),
    ("transition costs", "transition_cost", [(3.74, 3.88), (3.97, 3.23), (6.5, 3.41), (5.63, 1.6), (5.5, 1.28)]),
    ("# of frames", "frames", [(338.4, 327.6), (335.0, 297.0), (490.1, 275.0), (394.0, 230.0), (287.0, 230.0)]),
    ("location, cm", "location_cm", [(10.1, 11.16), (9.74, 28.41), (32.88, 30.13), (20.59, 8.86), (24.45, 11.67)]),
    ("orientation, °", "orientation_deg", [(2.03, 7.2), (0.05, 0.16), (12.99, 5.82), (0.48, 0.05), (0.93, 2.86)]),
    (
        "travel, cm",
        "travel_cm",
        [(1058.36, 966.41), (1075.7, 907.89), (1481.69, 831.87), (1211.8, 810.11), (854.44, 807.23)],
    ),
    ("search, s", "search_seconds", [(106.2, 39.03), (70.43, 21.34), (740.82, 38.13), (686.94, 3.85), (332.3, 3.86)]),
];
/// Rows that the paper does not have.
const OURS: [(&str, &str); 5] = [
    ("travel of the way", "travel_ratio"),
    ("after bending, cm", "warped_location_cm"),
    ("after bending, °", "warped_orientation_deg"),
    ("frames in collision", "collision_frames"),
    ("evaluations", "evaluations"),
];
/// Estimated speed of one core of a 2.87 GHz Zen 4 relative to their 2.8 GHz P9700.
const SCALE: f64 = 2.5;
/// Random starts of each search, of which the best local minimum is taken.
const STARTS: u32 = 5;
/// CPU seconds that every method gets for a walk where all are compared.
const BUDGET: f64 = 1.0;
/// Trials per scene, as in the paper.
const TRIALS: u64 = 10;
const COLUMNS: [&str; 5] =
    ["two-corner average", "two-corner optimal", "cluttered average", "cluttered optimal", "grid"];

fn rows(
    kits: &[Arc<Kit>],
    scene: &str,
    method: Method,
    effort: Effort,
    seeds: std::ops::Range<u64>,
) -> CliResult<Vec<Row>> {
    let (mut rows, host) = (Vec::new(), TimedHost::new(1));
    for seed in seeds {
        let request = request(scene, seed)?;
        let walked = attempt(kits, &request, (method, effort), &host, seed);
        let (trial, seconds) = walked.map_err(|e| refused(&e, scene))?;
        rows.push(row(&trial, seconds));
    }
    Ok(rows)
}

/// Runs one method on a budget of CPU time, doubling the effort until the next run would exceed it. Returns the best run, with
/// the time spent on all of them as its first value.
fn budgeted(kits: &[Arc<Kit>], scene: &str, method: Method, seed: u64) -> CliResult<Row> {
    let (request, host) = (request(scene, seed)?, TimedHost::new(1));
    let mut effort = Effort { starts: 1, states: 1000, beam: 25, ..Effort::default() };
    let (mut spent, mut best) = (0.0, None::<Row>);
    loop {
        let walked = attempt(kits, &request, (method, effort), &host, seed);
        let (trial, seconds) = walked.map_err(|e| refused(&e, scene))?;
        let new = row(&trial, seconds);
        spent += seconds;
        let rank = |r: &Row| (r.outcome != WalkOutcome::Arrived, r.cost);
        if best.as_ref().is_none_or(|b| rank(&new) < rank(b)) {
            best = Some(new.clone());
        }
        if spent + 2.0 * seconds > BUDGET || effort.starts >= 1 << 12 {
            let mut best = best.unwrap_or(new);
            if let Some(first) = best.values.first_mut() {
                first.1 = spent;
            }
            return Ok(best);
        }
        (effort.starts, effort.states, effort.beam) = (2 * effort.starts, 2 * effort.states, 2 * effort.beam);
    }
}

/// Times of one evaluation, nanoseconds.
struct Speed {
    /// Within a search.
    within: f64,
    /// From scratch.
    whole: f64,
    /// Testing every point against every obstacle.
    naive: f64,
    /// Wall-clock speed-up of two threads over one in the same search.
    two_threads: f64,
}

fn speed(walker: &Walker, request: &WalkRequest) -> Option<Speed> {
    let character = walker.spawn(walker.start_edge(None)?, request.at, request.facing);
    let query = walker.query(&character, request.goal, request.goal_facing, None);
    let task = Task::new(walker.library(), walker.tables(), query, &request.obstacles, WalkConfig::default()).ok()?;
    let two = RayonPool::new(2);
    let [(solver, one, spent), (_, both, _)] = [&Alone as &dyn Pool, &two].map(|pool| {
        let effort = Effort { starts: 8, ..Effort::default() };
        let mut solver = kumite_plan::walk::Solver::new(&task, Method::Ems, effort, 1).with_pool(pool);
        let start = (std::time::Instant::now(), ThreadTime::now());
        solver.run();
        (solver, start.0.elapsed().as_secs_f64(), start.1.elapsed().as_secs_f64())
    });
    let two_threads = one / both;
    let within = spent * 1e9 / solver.counts().evaluations.max(1) as f64;
    let (objective, paths) = (solver.objective()?, solver.found());
    let time = |count: usize, f: &dyn Fn(&kumite_plan::walk::WalkPath) -> f32| {
        let start = ThreadTime::now();
        let mut sum = 0.0;
        for path in paths.iter().cycle().take(count) {
            sum += f(path);
        }
        std::hint::black_box(sum);
        start.elapsed().as_secs_f64() * 1e9 / count as f64
    };
    let whole = time(200, &|p| objective.whole(&p.transitions, p.end).total());
    let naive = time(20, &|p| objective.naive(&p.transitions, p.end).total());
    (!paths.is_empty()).then_some(Speed { within, whole, naive, two_threads })
}

pub(crate) fn run(args: &TablesArgs, progress: &Progress) -> CliResult<Report> {
    // As in the paper, motions are changed only at the end of the walk.
    let plain = [kit(&args.library, args.data.as_deref(), false, progress)?];
    let bar = progress.bar(8, "walking");
    let effort = Effort { starts: STARTS, ..Effort::default() };
    let first = args.seed.wrapping_mul(1_000_003);
    let mut columns: Vec<[Value; 2]> = Vec::new();
    for (scene, trials) in [("two-corner", TRIALS), ("clutter", TRIALS), ("grid", 1)] {
        let mut both = Vec::new();
        for method in [Method::Pff, Method::Ems] {
            both.push(summary(&rows(&plain, scene, method, effort, first..first + trials)?));
            bar.inc(1);
        }
        if trials > 1 {
            columns.push([both[0]["mean"].clone(), both[1]["mean"].clone()]);
        }
        columns.push([both[0]["best"].clone(), both[1]["best"].clone()]);
    }
    let nudged = [kit(&args.library, args.data.as_deref(), true, progress)?];
    let mut methods = Vec::new();
    for method in Method::ALL {
        let all: CliResult<Vec<Row>> =
            (first..first + TRIALS).map(|seed| budgeted(&nudged, "clutter", method, seed)).collect();
        let summary = summary(&all?);
        methods.push(json!({
            "method": method.name(), "solved": summary["solved"], "trials": TRIALS, "excess_turning_deg": summary["mean_arrived"]["excess_turning_deg"],
            "transitions": summary["mean_arrived"]["transitions"], "travel_ratio": summary["mean_arrived"]["travel_ratio"],
            "search_seconds": summary["mean"]["search_seconds"], "collision_frames": summary["mean"]["collision_frames"],
        }));
    }
    bar.finish_and_clear();
    let request = request("two-corner", 0)?;
    let speed = plain[0].walker().and_then(|walker| speed(walker, &request));
    let row = |name: &str, key: &str, cells: &dyn Fn(usize, &[Value; 2]) -> Value| {
        let cells: Vec<Value> = columns.iter().enumerate().map(|(k, both)| cells(k, both)).collect();
        json!({"row": name, "key": key, "columns": cells})
    };
    let mut table: Vec<Value> = ROWS
        .iter()
        .map(|(name, key, theirs)| (*name, *key, Some(theirs)))
        .chain(OURS.iter().map(|(name, key)| (*name, *key, None)))
        .map(|(name, key, theirs)| {
            row(name, key, &|k, [pff, ems]| {
                json!({
                    "theirs_pff": theirs.map(|t| t[k].0), "theirs_ems": theirs.map(|t| t[k].1),
                    "pff": pff[key], "ems": ems[key],
                })
            })
        })
        .collect();
    // The paper does not give the length of its courses, but EMS and PFF can be compared.
    if let Some((_, key, theirs)) = ROWS.iter().find(|r| r.1 == "travel_cm") {
        table.push(row("travel, EMS of PFF", "travel_of_pff", &|k, [pff, ems]| {
            let ours = ems[key].as_f64().zip(pff[key].as_f64()).map(|(ems, pff)| ems / pff);
            json!({"theirs_ems": theirs[k].1 / theirs[k].0, "ems": ours})
        }));
    }
    let json = json!({
        "paper": "environment", "library": args.library, "trials": TRIALS, "columns": COLUMNS, "rows": table, "methods": methods,
        "budget_seconds": BUDGET,
        "evaluation_ns": speed.as_ref().map(|s| s.within), "whole_evaluation_ns": speed.as_ref().map(|s| s.whole),
        "naive_evaluation_ns": speed.as_ref().map(|s| s.naive), "evaluations_per_second": speed.as_ref().map(|s| 1e9 / s.within),
        "two_threads_gain": speed.as_ref().map(|s| s.two_threads), "scaled_by": SCALE,
    });
    let text = if args.html { html(&json) } else { text(&json, args.markdown) };
    Ok(Report { text, json })
}

fn cell(value: &Value, key: &str) -> String {
    match value.as_f64() {
        None => "–".into(),
        Some(v) if ["search_seconds", "travel_ratio", "travel_of_pff"].contains(&key) => format!("{v:.2}"),
        Some(v) if v.abs() >= 100.0 => format!("{v:.0}"),
        Some(v) => format!("{v:.1}"),
    }
}

/// One table per scene column, as rows of cells.
fn tables(json: &Value) -> Vec<(String, Vec<[String; 5]>)> {
    COLUMNS
        .iter()
        .enumerate()
        .map(|(k, title)| {
            let rows = json["rows"].as_array().into_iter().flatten().map(|row| {
                let (c, key) = (&row["columns"][k], row["key"].as_str().unwrap_or_default());
                let name = row["row"].as_str().unwrap_or_default().to_owned();
                [
                    name,
                    cell(&c["theirs_pff"], key),
                    cell(&c["theirs_ems"], key),
                    cell(&c["pff"], key),
                    cell(&c["ems"], key),
                ]
            });
            ((*title).to_owned(), rows.collect())
        })
        .collect()
}

const HEADS: [&str; 5] = ["", "theirs PFF", "theirs EMS", "ours PFF", "ours EMS"];
const METHODS: &str =
    "all methods, cluttered, a second of one core for each walk; travel and turns of those that arrived";
const METHOD_HEADS: [&str; 5] = ["method", "solved of 10", "travel of the way", "excess turning, °", "search, s"];

fn methods(json: &Value) -> Vec<[String; 5]> {
    let row = |m: &Value| {
        [
            m["method"].as_str().unwrap_or_default().to_owned(),
            m["solved"].to_string(),
            cell(&m["travel_ratio"], "travel_ratio"),
            cell(&m["excess_turning_deg"], ""),
            cell(&m["search_seconds"], "search_seconds"),
        ]
    };
    json["methods"].as_array().into_iter().flatten().map(row).collect()
}

fn speeds(json: &Value) -> String {
    format!(
        "an evaluation in a search {:.0} ns, from scratch {:.0} ns, every point against every obstacle {:.0} ns; two threads search {:.2} times as fast as one",
        number(&json["evaluation_ns"]),
        number(&json["whole_evaluation_ns"]),
        number(&json["naive_evaluation_ns"]),
        number(&json["two_threads_gain"])
    )
}

fn text(json: &Value, markdown: bool) -> String {
    let mut text = String::new();
    let mut put = |title: &str, heads: &[&str; 5], rows: &[[String; 5]]| {
        let _ = writeln!(text, "{}{title}", if markdown { "\n**" } else { "\n" }.to_owned());
        if markdown {
            text.truncate(text.trim_end().len());
            let _ = writeln!(text, "**\n\n| {} |\n|---|---|---|---|---|", heads.join(" | "));
        } else {
            let _ = writeln!(text, "{:<22}{:>18}{:>18}{:>18}{:>18}", heads[0], heads[1], heads[2], heads[3], heads[4]);
        }
        for r in rows {
            let _ = match markdown {
                true => writeln!(text, "| {} |", r.join(" | ")),
                false => writeln!(text, "{:<22}{:>18}{:>18}{:>18}{:>18}", r[0], r[1], r[2], r[3], r[4]),
            };
        }
    };
    for (title, rows) in tables(json) {
        put(&title, &HEADS, &rows);
    }
    put(METHODS, &METHOD_HEADS, &methods(json));
    let _ = writeln!(text, "\n{}", speeds(json));
    text
}

fn html(json: &Value) -> String {
    let mut body = String::new();
    let mut put = |title: &str, heads: &[&str; 5], rows: &[[String; 5]]| {
        let rows: String = rows.iter().map(|r| html_row("td", r)).collect();
        let heads = html_row("th", &heads.map(str::to_owned));
        let _ = write!(body, "<h2>{title}</h2>\n<table>\n{heads}{rows}</table>\n");
    };
    for (title, rows) in tables(json) {
        put(&title, &HEADS, &rows);
    }
    put(METHODS, &METHOD_HEADS, &methods(json));
    let _ = write!(body, "<p>{}</p>", speeds(json));
    html_page("Chen and Steed, Tables 1 and 2", &body)
}
