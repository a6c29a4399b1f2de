//! Benches. Each prints one JSON object per line, `{"figure", "value", "unit"}`, and at the end `{"holds"}`: whether its claim holds.
//! Peers are measured in the same run on the same input. Times are CPU times of the thread, best of several runs.
//!
//! Data: the folders of `KUMITE_MOCAP`, separated like `PATH`.

mod bake;
mod brace_stage;
mod crowd;
mod film;
mod fk;
mod impact;
mod mocap;
mod parse;
mod peer;
mod ragdoll_peer;
mod spar;
mod tick;
mod transitions;
mod two_balls;
mod walk_balls;
mod wander;
mod world;

use cpu_time::ThreadTime;
use serde_json::json;

fn main() {
    let names: Vec<String> = std::env::args().skip(1).collect();
    let benches: [(&str, fn()); 15] = [
        ("bvh-parse", parse::run),
        ("fk", fk::run),
        ("captures", mocap::run),
        ("transitions", transitions::run),
        ("bake", bake::run),
        ("film", film::run),
        ("tick", tick::run),
        ("two-balls", two_balls::run),
        ("walk-balls", walk_balls::run),
        ("brace-stage", brace_stage::run),
        ("impact", impact::run),
        ("spar", spar::run),
        ("wander", wander::run),
        ("world", world::run),
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

/// Seconds of the fastest of `repeats` runs, after one to warm up.
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

/// Most memory this process has held, KiB, if the system tells.
fn peak_memory_kib() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}

fn figure(name: &str, value: f64, unit: &str) {
    println!("{}", json!({"figure": name, "value": value, "unit": unit}));
}

fn holds(verdict: bool) {
    println!("{}", json!({"holds": verdict}));
}
