//! Baking CMU captures at 30 frames per second: seconds and memory for one to five minutes of motion. `KUMITE_PLOT` names an SVG
//! file to draw them in.

use std::fmt::Write as _;
use std::time::Instant;

use kumite_bake::library::{BakeConfig, bake};
use kumite_motion::Clip;

use crate::{figure, holds, mocap, peak_memory_kib};

/// Minutes of motion, at most.
const MINUTES: usize = 5;
const FPS: f32 = 30.0;

pub fn run() {
    let clips = mocap::canonical_clips(FPS, |clips| seconds(clips) >= 60.0 * MINUTES as f32);
    let all = seconds(&clips);
    figure("CMU motion", f64::from(all), "s");
    let mut rows: Vec<(f64, f64, f64)> = Vec::new();
    for minutes in 1..=MINUTES {
        let mut seconds = 0.0;
        let some: Vec<Clip> = (clips.iter())
            .take_while(|c| {
                let before = seconds;
                seconds += c.seconds();
                before < 60.0 * minutes as f32
            })
            .cloned()
            .collect();
        let frames: usize = some.iter().map(Clip::frames).sum();
        // Resets the peak of memory.
        let _ = std::fs::write("/proc/self/clear_refs", "5");
        let start = Instant::now();
        let baked = bake("CMU", some, &BakeConfig::default()).unwrap_or_else(|e| panic!("{e}"));
        let wall = start.elapsed().as_secs_f64();
        let memory = peak_memory_kib().unwrap_or(0.0) / 1024.0;
        figure(&format!("{frames} frames: whole bake"), wall, "s");
        figure(&format!("{frames} frames: memory"), memory, "MB");
        figure(&format!("{frames} frames: edges"), baked.library.graph().edges().len() as f64, "");
        rows.push((frames as f64, wall, memory));
    }
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return holds(false) };
    // Compared with a straight line through the first two rows: quadratic growth would end far above it.
    let slope = rows.get(1).map_or(0.0, |second| (second.2 - first.2) / (second.0 - first.0));
    let straight = first.2 + slope * (last.0 - first.0);
    figure("memory at the end over a straight line through the first two", last.2 / straight, "times");
    if let Some(path) = std::env::var_os("KUMITE_PLOT") {
        std::fs::write(&path, plot(&rows)).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    }
    holds(all >= 290.0 && last.1 < 20.0 && last.2 < 500.0 && last.2 < 1.5 * straight);
}

fn seconds(clips: &[Clip]) -> f32 {
    clips.iter().map(Clip::seconds).sum()
}

fn plot(rows: &[(f64, f64, f64)]) -> String {
    let (x_most, y_most) = (rows.last().map_or(1.0, |r| r.0) * 1.1, 100.0);
    let x = |frames: f64| 60.0 + 520.0 * frames / x_most;
    let y = |mb: f64| 320.0 - 280.0 * mb / y_most;
    let mut svg = String::from(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 620 370\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"620\" height=\"370\" fill=\"#faf9f6\"/>\n",
    );
    for mb in [0.0, 20.0, 40.0, 60.0, 80.0, 100.0] {
        let at = y(mb);
        let _ = writeln!(
            svg,
            "<path stroke=\"#cdc8bf\" d=\"M60 {at:.1}H580\"/><text x=\"52\" y=\"{:.1}\" text-anchor=\"end\">{mb}</text>",
            at + 4.0
        );
    }
    let points: Vec<String> = rows.iter().map(|r| format!("{:.1},{:.1}", x(r.0), y(r.2))).collect();
    let _ = writeln!(
        svg,
        "<polyline fill=\"none\" stroke=\"#ce4842\" stroke-width=\"2\" points=\"{}\"/>",
        points.join(" ")
    );
    for r in rows {
        let _ = writeln!(
            svg,
            "<circle cx=\"{0:.1}\" cy=\"{1:.1}\" r=\"4\" fill=\"#ce4842\"/><text x=\"{0:.1}\" y=\"340\" text-anchor=\"middle\">{2}</text>\
             <text x=\"{0:.1}\" y=\"{3:.1}\" text-anchor=\"middle\">{4:.1} s</text>",
            x(r.0),
            y(r.2),
            r.0,
            y(r.2) - 10.0,
            r.1
        );
    }
    svg +=
        "<text x=\"60\" y=\"24\">Memory of a bake, MB, by frames of motion; above the points its time</text>\n</svg>\n";
    svg
}
