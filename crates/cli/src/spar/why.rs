//! Why fighters did what they did, as one page.

use std::fmt::Write as _;

use kumite_stage::{EventKind, Kit, TICKS};

use crate::play::Played;

/// Every decision with its score by term and what was expected to follow.
pub(super) fn page(played: &Played, kit: &Kit) -> String {
    let mut rows = String::new();
    for event in played.events() {
        let time = event.tick as f32 / TICKS as f32;
        let name = escape(played.name(event));
        match &event.kind {
            EventKind::Decided { what, why } => {
                let _ = writeln!(
                    rows,
                    "<tr><td>{time:.2}</td><td>{name}</td><td>{}</td><td>{}</td></tr>",
                    escape(what),
                    escape(why)
                );
            }
            EventKind::Blow(blow) => {
                let _ = writeln!(
                    rows,
                    "<tr class=\"{}\"><td>{time:.2}</td><td>{name}</td><td>{} {}</td><td>damage {:.2}, predicted {}, {:.0} mm</td></tr>",
                    blow.outcome.name(),
                    escape(&blow.name),
                    blow.outcome.name(),
                    blow.damage,
                    blow.predicted.name(),
                    1000.0 * blow.gap
                );
            }
            _ => {}
        }
    }
    let moves = kit.spar().moves.all().len();
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Why they did it</title>\n\
         <style>body{{font:15px system-ui;margin:2rem}}td{{padding:.2rem .7rem;vertical-align:top}}\
         .struck{{background:#fbe3e0}}.blocked{{background:#e3ecfb}}.missed{{color:#777}}</style>\n\
         <h1>Why they did it</h1>\n<p>{moves} moves. J is what a choice is worth in light hits, at the end of the line that everybody prefers: damage given and taken,\
         control (short, seldom used and favoured actions), place (distance and facing over time) and stall.</p>\n<table>{rows}</table></html>\n"
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}
