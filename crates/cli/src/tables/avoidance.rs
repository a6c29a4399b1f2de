//! Oshita and Masaoka: what a query costs with and without culling and index, ours beside theirs.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_plan::dodge::{DodgeConfig, DodgeScratch, DodgeSearch};
use kumite_stage::attack_trial::Trial;
use kumite_stage::dodge_referee::Exhaustive;
use serde_json::{Value, json};

use crate::args::TablesArgs;
use crate::failure::{CliResult, Failure};
use crate::{Progress, Report, bake, dodge};

/// Table 1 of Oshita and Masaoka: culling, index, milliseconds on a Pentium 4.
const THEIRS: [(bool, bool, f64); 4] =
    [(true, true, 14.0), (true, false, 225.0), (false, true, 18.0), (false, false, 496.0)];
/// A Pentium 4 of their time against one core of a 2.87 GHz Zen 4: an estimate.
const SCALE: f64 = 4.0;
/// Attacks the naive method is timed on: it takes seconds for what the others do in microseconds.
const NAIVE: usize = 20;

pub(crate) fn run(args: &TablesArgs, progress: &Progress) -> CliResult<Report> {
    if args.trials == 0 {
        return Err(Failure::bad("--trials is 0; allowed is at least 1")
            .key("--trials")
            .found("0")
            .allowed("at least 1"));
    }
    let library = Arc::new(bake::load(&args.library, Path::new(""), progress)?.0);
    let defence = dodge::defence(library, DodgeConfig::default());
    let trials: Vec<Trial> = (0..u64::from(args.trials))
        .filter_map(|k| Trial::random(defence.library(), args.seed.wrapping_mul(1_000_003).wrapping_add(k)))
        .collect();
    let bar = progress.bar(4 * trials.len() + NAIVE, "timing");
    let mut scratch = DodgeScratch::default();
    let mut rows = Vec::new();
    for (cull, index, theirs) in THEIRS {
        let (mut micros, mut candidates) = (Vec::new(), 0.0);
        for trial in &trials {
            let mut planner = defence.planner();
            (planner.config.cull, planner.config.use_index) = (cull, index);
            let situation = defence.situation(&trial.character, &trial.ahead);
            let start = ThreadTime::now();
            if let Ok(mut search) = DodgeSearch::new(&planner, &situation, &trial.threats, false) {
                while !search.step(&planner, &mut scratch, u32::MAX) {}
                micros.push(start.elapsed().as_secs_f64() * 1e6);
                let counts = search.counts();
                candidates += f64::from(counts.index + counts.enumerated);
            }
            bar.inc(1);
        }
        let mean = micros.iter().sum::<f64>() / micros.len().max(1) as f64;
        let candidates = candidates / micros.len().max(1) as f64;
        rows.push(json!({
            "culling": cull, "index": index, "theirs_ms": theirs, "theirs_scaled_ms": theirs / SCALE,
            "ours_ms": mean / 1e3, "ours_us": dodge::spread(&mut micros), "candidates": candidates,
        }));
    }
    let exhaustive = Exhaustive::new(defence.library());
    let start = ThreadTime::now();
    for trial in trials.iter().take(NAIVE) {
        exhaustive.all(&trial.character, &trial.threats);
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

fn cells(row: &Value) -> [String; 6] {
    let word = |v: &Value, yes: &str, no: &str| if v == true { yes.to_owned() } else { no.to_owned() };
    let ms =
        |v: &Value| v.as_f64().map_or(String::new(), |v| if v < 1.0 { format!("{v:.4}") } else { format!("{v:.1}") });
    [
        word(&row["culling"], "with culling", "without culling"),
        word(&row["index"], "paths from the grid", "paths enumerated"),
        ms(&row["theirs_ms"]),
        ms(&row["theirs_scaled_ms"]),
        ms(&row["ours_ms"]),
        row["candidates"].as_f64().map_or(String::new(), |v| format!("{v:.1}")),
    ]
}

const HEADS: [&str; 6] = ["condition", "", "theirs, ms", "theirs scaled, ms", "ours, ms", "candidates"];

fn table(json: &Value, markdown: bool) -> String {
    let mut text = String::new();
    let put = |text: &mut String, cells: &[String]| {
        if markdown {
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        } else {
            let widths = [17, 21, 12, 19, 10, 12];
            for (cell, width) in cells.iter().zip(widths) {
                let _ = write!(text, "{cell:<width$}");
            }
            text.push('\n');
        }
    };
    put(&mut text, &HEADS.map(str::to_owned));
    if markdown {
        text += "|---|---|---|---|---|---|\n";
    }
    for row in json["rows"].as_array().into_iter().flatten() {
        put(&mut text, &cells(row));
    }
    let naive = json["naive_ms"].as_f64().unwrap_or(0.0);
    put(
        &mut text,
        &[
            "naive".into(),
            "every path, played".into(),
            String::new(),
            String::new(),
            format!("{naive:.1}"),
            String::new(),
        ],
    );
    text
}

fn html(json: &Value) -> String {
    let row = |tag: &str, cells: &[String]| {
        let cells: String = cells.iter().map(|c| format!("<{tag}>{c}</{tag}>")).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let mut body = row("th", &HEADS.map(str::to_owned));
    for r in json["rows"].as_array().into_iter().flatten() {
        body += &row("td", &cells(r));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Oshita and Masaoka, Table 1</title>\n\
         <style>body{{font:16px system-ui;margin:2rem}}td,th{{padding:.3rem .8rem;text-align:left}}</style>\n\
         <h1>Oshita and Masaoka, Table 1</h1>\n<table>\n{body}</table>\n<p>naive: every path, played: {:.1} ms</p></html>\n",
        json["naive_ms"].as_f64().unwrap_or(0.0)
    )
}
