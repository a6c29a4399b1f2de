//! Benches: each prints one JSON object a line, `{"figure", "value", "unit"}`, ours beside peers measured in the same run on
//! the same input, and at the end `{"holds"}` where a claim is judged. Times are CPU time of the thread, best of several.
//!
//! Data: the folders of `KUMITE_MOCAP`, separated like `PATH`.

mod bake;
mod crowd;
mod fk;
mod mocap;
mod parse;
mod transitions;
mod wander;

use cpu_time::ThreadTime;
use serde_json::json;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let benches: [(&str, fn()); 7] = [
        ("bvh-parse", parse::run),
        ("fk", fk::run),
        ("captures", mocap::run),
        ("transitions", transitions::run),
        ("bake", bake::run),
        ("wander", wander::run),
        ("dodge-crowd", crowd::run),
    ];
    if let Some(unknown) = names.iter().find(|n| benches.iter().all(|b| b.0 != n.as_str())) {
        eprintln!("there is no bench {unknown}; there are {}", benches.map(|b| b.0).join(", "));
        std::process::exit(2);
    }
    for (name, run) in benches {
        if names.is_empty() || names.iter().any(|n| n == name) {
            println!("{}", json!({"bench": name}));
            run();
        }
    }
}

/// Seconds of the quickest of `repeats` runs, after one to warm up.
fn best(repeats: usize, mut work: impl FnMut()) -> f64 {
    work();
    let mut best = f64::INFINITY;
    for _ in 0..repeats {
        let start = ThreadTime::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn figure(name: &str, value: f64, unit: &str) {
    println!("{}", json!({"figure": name, "value": value, "unit": unit}));
}

fn holds(verdict: bool) {
    println!("{}", json!({"holds": verdict}));
}
