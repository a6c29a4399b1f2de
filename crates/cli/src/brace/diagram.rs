//! When what happens, as SVG: Fig. 4.1 of the thesis with our times.

use std::fmt::Write as _;

use kumite_react::Timing;
use kumite_react::timing::LOOK_AHEAD;

/// Pixels.
const WIDTH: f32 = 900.0;
const LEFT: f32 = 130.0;
/// Heights of the lines: motion, startle pose, protective pose.
const ROWS: [(f32, &str); 3] = [(230.0, "motion"), (150.0, "startle"), (70.0, "protective pose")];

/// Blue is the motion, orange the pose, black what is shown on the way between them; widths of regions are milliseconds.
pub(super) fn svg(timing: &Timing) -> String {
    let over = timing.leaves + timing.recovers;
    let x = |time: f32| LEFT + (WIDTH - LEFT - 30.0) * time / (over + 0.2);
    let (motion, startle, pose) = (ROWS[0].0, ROWS[1].0, ROWS[2].0);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"300\" viewBox=\"0 0 {WIDTH} 300\" \
         font-family=\"Noto Sans, Helvetica, Arial, sans-serif\" font-size=\"13\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fbfaf7\"/>\n"
    );
    let mut line = |from: (f32, f32), to: (f32, f32), colour: &str, more: &str| {
        let _ = writeln!(
            out,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{colour}\" stroke-width=\"2.5\" {more}/>",
            from.0, from.1, to.0, to.1
        );
    };
    line((LEFT - 40.0, motion), (x(0.0), motion), "#3567b0", "");
    if timing.planted {
        // It slows down and stands still, one look-ahead on.
        line((x(0.0), motion), (x(2.0 * LOOK_AHEAD), motion), "#3567b0", "stroke-dasharray=\"7 4\"");
        line((x(2.0 * LOOK_AHEAD), motion), (x(timing.leaves), motion), "#3567b0", "stroke-dasharray=\"1 6\"");
        line((x(timing.leaves), motion), (x(over), motion), "#3567b0", "stroke-dasharray=\"7 4\"");
    } else {
        line((x(0.0), motion), (x(over), motion), "#3567b0", "");
    }
    line((x(over), motion), (x(over + 0.2), motion), "#3567b0", "");
    let from = if timing.begins > 0.0 {
        line((x(0.0), motion), (x(timing.begins), startle), "#222", "");
        startle
    } else {
        motion
    };
    line((x(timing.begins), from), (x(timing.reaches), pose), "#222", "");
    line((x(timing.reaches), pose), (x(timing.leaves), pose), "#d8741a", "");
    line((x(timing.leaves), pose), (x(over), motion), "#222", "");
    let marks = [
        (0.0, "known"),
        (timing.begins, ""),
        (timing.reaches, "braced"),
        (timing.contact, "contact"),
        (timing.leaves, "leaves"),
        (over, "over"),
    ];
    for (time, _) in marks {
        line((x(time), 40.0), (x(time), 245.0), "#bbb", "stroke-dasharray=\"2 4\" style=\"stroke-width:1\"");
    }
    for (k, (time, name)) in marks.into_iter().enumerate() {
        let y = if k % 2 == 0 { 22.0 } else { 36.0 };
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{y}\" text-anchor=\"middle\">{name}</text>", x(time));
    }
    for pair in marks.windows(2).filter(|pair| pair[1].0 > pair[0].0 + 0.01) {
        let middle = 0.5 * (x(pair[0].0) + x(pair[1].0));
        let ms = 1000.0 * (pair[1].0 - pair[0].0);
        let _ = writeln!(out, "<text x=\"{middle:.1}\" y=\"268\" text-anchor=\"middle\" fill=\"#555\">{ms:.0}</text>");
    }
    let _ = writeln!(out, "<text x=\"{LEFT}\" y=\"288\" text-anchor=\"end\" fill=\"#555\">milliseconds</text>");
    for (y, name) in ROWS {
        if name != "startle" || timing.begins > 0.0 {
            let _ = writeln!(out, "<text x=\"8\" y=\"{:.1}\">{name}</text>", y + 4.0);
        }
    }
    out + "</svg>\n"
}
