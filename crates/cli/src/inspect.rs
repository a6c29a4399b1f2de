//! `kumite inspect`: what a file holds.

use std::fmt::Write as _;

use kumite_motion::{Clip, Span};
use serde_json::{Value, json};

use crate::args::InspectArgs;
use crate::failure::Outcome;
use crate::source::{self, Source};
use crate::{Progress, Report};

pub(crate) fn run(args: &InspectArgs, progress: &Progress) -> Outcome<Report> {
    let bar = progress.bar(args.files.len(), "reading");
    let (mut text, mut files) = (String::new(), Vec::new());
    for path in &args.files {
        let source = source::load(path)?;
        describe(&source, &mut text);
        files.push(to_json(&source));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Report { text, json: json!({"files": files}) })
}

fn describe(source: &Source, text: &mut String) {
    let _ = writeln!(text, "{}", source.name);
    for clip in &source.clips {
        let joints = clip.skeleton().len();
        if source.clips.len() > 1 {
            let _ = writeln!(text, "  {}", clip.name);
        }
        let _ = writeln!(
            text,
            "    {}, {joints} joint{}, {} frame{} at {} fps, {:.2} s",
            source.format,
            plural(joints),
            clip.frames(),
            plural(clip.frames()),
            rounded(clip.fps()),
            clip.seconds()
        );
        for span in &clip.spans {
            let _ = write!(text, "    {:<7} {:.2} to {:.2} s  {}", span.kind.name(), span.from, span.to, span.label);
            if let Some((from, to)) = span.active {
                let _ = write!(text, "  (active {from:.2} to {to:.2})");
            }
            text.push('\n');
        }
    }
    for warning in &source.warnings {
        let _ = writeln!(text, "    warning: {warning}");
    }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A rate without the noise of floats.
pub(crate) fn rounded(fps: f32) -> f64 {
    (f64::from(fps) * 1000.0).round() / 1000.0
}

fn seconds(v: f32) -> f64 {
    (f64::from(v) * 10_000.0).round() / 10_000.0
}

fn span_json(span: &Span) -> Value {
    let mut value = json!({
        "kind": span.kind.name(), "label": span.label, "from": seconds(span.from), "to": seconds(span.to),
    });
    if let Some((from, to)) = span.active {
        value["active"] = json!([seconds(from), seconds(to)]);
    }
    if let Some(part) = span.part {
        value["part"] = json!(part.name());
    }
    value
}

fn clip_json(clip: &Clip) -> Value {
    json!({
        "name": clip.name, "frames": clip.frames(), "fps": rounded(clip.fps()), "seconds": seconds(clip.seconds()),
        "spans": clip.spans.iter().map(span_json).collect::<Vec<_>>(),
    })
}

fn to_json(source: &Source) -> Value {
    let warnings: Vec<String> = source.warnings.iter().map(ToString::to_string).collect();
    let mut value = json!({"file": source.name, "format": source.format});
    if let [clip] = &source.clips[..] {
        value["joints"] = json!(clip.skeleton().len());
        value["frames"] = json!(clip.frames());
        value["fps"] = json!(rounded(clip.fps()));
        value["seconds"] = json!(seconds(clip.seconds()));
    }
    value["clips"] = source.clips.iter().map(clip_json).collect();
    value["warnings"] = json!(warnings);
    value
}
