//! Duits, *Choices*: actions classified by joints with large accelerations (Shum, Komura and Yamazaki) and by joint-angle
//! ranges (Duits).
//!
//! His tables give no success rate: there were twenty clips, the ranges were made for them, and four actions were named by hand.
//! Our rates are measured on labelled clips, each classified with parameters fitted to all the others.

use std::path::Path;

use kumite_bake::analyse::Class;
use kumite_bake::analyse::evaluate::{Answer, Score, Truth, confusion, figures, leave_one_out};
use kumite_keying::embedded;
use kumite_motion::{Clip, Span};
use serde_json::{Value, json};

use crate::args::TablesArgs;
use crate::failure::{CliResult, Failure};
use crate::{Progress, Report, bake, source};

pub(crate) fn run(args: &TablesArgs, progress: &Progress) -> CliResult<Report> {
    let clips = if args.library == source::BUILT_IN {
        embedded::clips().map_err(|(file, e)| Failure::bad(e.to_string()).in_file(Path::new(&file)))?
    } else {
        let path = Path::new(&args.library);
        let manifest = bake::manifest(path)?;
        let bar = progress.bar(manifest.clip.len(), "reading");
        let clips = bake::clips(&manifest, path, args.data.as_deref(), &bar)?.concat();
        bar.finish_and_clear();
        clips
    };
    let known: Vec<(Clip, Truth)> = clips.into_iter().filter_map(|c| truth(&c).map(|t| (c, t))).collect();
    if known.len() < 2 {
        let message = format!("{} of its clips have labels; comparing needs two or more", known.len());
        return Err(Failure::bad(message).key("library").found(args.library.clone()));
    }
    let answers = leave_one_out(&known);
    let figures = figures(&answers);
    let percent = |s: Score| format!("{:.0} % ({} of {})", 100.0 * s.share(), s.right, s.of);
    let rows = [
        ("class, by joints with large accelerations (Shum et al.)", figures.class),
        ("class, by joint-angle ranges (Duits)", figures.class_by_ranges),
        ("kind, by joints with large accelerations", figures.kind),
        ("kind, by joint-angle ranges", figures.kind_by_ranges),
        ("side", figures.side),
        ("height", figures.height),
    ];
    let mut text = format!("{}: {} labelled clips, each judged by the others\n\n", args.library, known.len());
    if args.markdown {
        text += "| | right |\n|---|---|\n";
    }
    for (name, score) in rows {
        text += &if args.markdown {
            format!("| {name} | {} |\n", percent(score))
        } else {
            format!("    {name:<58} {}\n", percent(score))
        };
    }
    let table = |pick: fn(&Answer) -> Option<Class>| {
        confusion(&answers.iter().map(|a| (a.truth.class, pick(a))).collect::<Vec<_>>(), Class::name)
    };
    let (by_acceleration, by_ranges) = (table(|a| a.by_acceleration), table(|a| a.by_ranges));
    if args.markdown {
        text += &format!(
            "\nBy joints with large accelerations:\n\n{by_acceleration}\nBy joint-angle ranges:\n\n{by_ranges}"
        );
    }
    let wrong = answers.iter().filter(|a| a.by_acceleration != Some(a.truth.class));
    let wrong: Vec<Value> = wrong
        .map(|a| json!({"clip": a.clip, "is": a.truth.class.name(), "said": a.by_acceleration.map(Class::name)}))
        .collect();
    let json = json!({
        "clips": known.len(),
        "class_share": {"acceleration": figures.class.share(), "ranges": figures.class_by_ranges.share()},
        "kind_share": {"acceleration": figures.kind.share(), "ranges": figures.kind_by_ranges.share()},
        "side_share": figures.side.share(), "height_share": figures.height.share(), "wrong": wrong,
    });
    Ok(Report { text, json })
}

/// What the clip shows, by its longest labelled span.
fn truth(clip: &Clip) -> Option<Truth> {
    let longest = |a: &&Span, b: &&Span| (a.to - a.from).total_cmp(&(b.to - b.from));
    Truth::of_span(clip.spans.iter().max_by(longest)?)
}
