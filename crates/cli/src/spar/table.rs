//! The table of offence and defence: which defences answer which blows, and when they have to begin.

use std::fmt::Write as _;

use kumite_picture::{Answer, AnswerTable};
use kumite_plan::spar::moves::{MoveKind, RATE};
use kumite_plan::spar::table::{LEADS, Pairing, STEP};
use kumite_stage::Kit;
use serde_json::{Value, json};

use crate::Report;
use crate::failure::{CliResult, Failure};
use crate::spar_args::SparArgs;

pub(super) fn run(args: &SparArgs, kit: &Kit) -> CliResult<Report> {
    let moves = &kit.spar().moves;
    let pairings = kit.spar().table.pairings();
    let (mut text, mut rows) = (String::new(), Vec::new());
    let works = |p: &Pairing| p.works & !1 != 0;
    let mut last = None;
    for p in pairings.iter().filter(|p| works(p)) {
        let (strike, defence) = (moves.get(p.blow.0), moves.get(p.defence));
        if last != Some(p.blow) {
            let blow = &strike.blows[p.blow.1];
            let _ = writeln!(
                text,
                "{} (blow {}: {} {}, arrives after {:.2} s)",
                strike.name,
                p.blow.1 + 1,
                blow.height.name(),
                blow.direction.name(),
                blow.at as f32 / RATE as f32
            );
            last = Some(p.blow);
        }
        let when: String = (1..LEADS).map(|k| if p.works >> k & 1 == 1 { '#' } else { '.' }).collect();
        let mark = if p.by_class { "" } else { "  (not by its class)" };
        let best = p.best as f32 / RATE as f32;
        let _ = writeln!(text, "    {:<24} {when}  best {best:.2} s before{mark}", defence.name);
        rows.push(json!({
            "strike": strike.name, "blow": p.blow.1, "defence": defence.name, "best_s": best, "by_class": p.by_class,
            "works_s": (1..LEADS).filter(|k| p.works >> k & 1 == 1).map(|k| k as f32 * STEP as f32 / RATE as f32).collect::<Vec<_>>(),
        }));
    }
    let agree = pairings.iter().filter(|p| works(p) == p.by_class).count();
    let share = agree as f64 / pairings.len().max(1) as f64;
    let _ = writeln!(
        text,
        "{} blows against {} defences: geometry and classes agree in {:.0} %",
        pairings.len() / (moves.of_kind(MoveKind::Avoid).len() + moves.of_kind(MoveKind::Block).len()).max(1),
        moves.of_kind(MoveKind::Avoid).len() + moves.of_kind(MoveKind::Block).len(),
        100.0 * share
    );
    let json: Value = json!({"pairs": rows, "class_agreement_share": share});
    for path in &args.output {
        match crate::source::ending(path).as_deref() {
            Some("svg") => crate::output::write(path, drawn(kit, &args.library).to_svg().as_bytes())?,
            Some("json") => crate::output::write(path, format!("{json}\n").as_bytes())?,
            Some("txt" | "md") => crate::output::write(path, text.as_bytes())?,
            ending => {
                let found = ending.unwrap_or_default().to_owned();
                let message = format!("cannot write {found:?}; the table is written as .svg, .json, .txt");
                return Err(Failure::bad(message).in_file(path).found(found));
            }
        }
    }
    Ok(Report { text, json })
}

/// The table as a picture: blows against defences.
fn drawn(kit: &Kit, library: &str) -> AnswerTable {
    let moves = &kit.spar().moves;
    let mut picture = AnswerTable { title: format!("What answers what: {library}"), ..AnswerTable::default() };
    let (mut last, mut defences) = (None, Vec::new());
    for p in kit.spar().table.pairings() {
        let strike = moves.get(p.blow.0);
        if last != Some(p.blow) {
            let one = strike.blows.len() == 1;
            let name = if one { strike.name.clone() } else { format!("{} {}", strike.name, p.blow.1 + 1) };
            picture.rows.push(name);
            picture.answers.push(Vec::new());
            last = Some(p.blow);
        }
        if picture.rows.len() == 1 {
            defences.push(moves.get(p.defence).name.clone());
        }
        let share = (p.works & !1).count_ones() as f32 / (LEADS - 1) as f32;
        if let Some(row) = picture.answers.last_mut() {
            row.push(Answer { share, expected: p.by_class });
        }
    }
    picture.columns = defences;
    picture
}
