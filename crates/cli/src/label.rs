//! `kumite label`: proposes labels for the clips of a manifest and writes them as a manifest to edit.

use kumite_bake::analyse::like::Groups;
use kumite_bake::analyse::{Action, Analysis, Model, analyse, side_name};
use kumite_motion::{Clip, Roles, Span, Strike};
use kumite_picture::{Sheet, Strip, Times};
use serde_json::{Value, json};

use crate::args::LabelArgs;
use crate::failure::{CliResult, Failure};
use crate::manifest_text::{CHECK, entry_text, header};
use crate::{Progress, Report, bake, output, picture_flags};

pub(crate) fn run(args: &LabelArgs, progress: &Progress) -> CliResult<Report> {
    let model = Model::default();
    let data = args.data.as_deref();
    let groups = match &args.like {
        Some(path) => {
            let tagged = bake::manifest(path)?;
            let bar = progress.bar(tagged.clip.len(), "reading labels");
            let clips = bake::clips(&tagged, path, data, &bar)?.concat();
            bar.finish_and_clear();
            Some(Groups::of(&clips, &model))
        }
        None => None,
    };
    let mut manifest = bake::manifest(&args.manifest)?;
    for entry in &mut manifest.clip {
        if args.again {
            entry.span.clear();
        }
        // What is not written is found below.
        entry.unlabelled = true;
    }
    if let Some(path) = &args.output {
        output::refuse_inputs(path, [args.manifest.as_path()])?;
    }
    let bake::Gathered { manifest, clips, .. } = bake::gather_listed(manifest, &args.manifest, data, progress)?;
    let mut text = header(&manifest.library);
    let (mut clips_json, mut found, mut doubts) = (Vec::new(), 0, Vec::new());
    for (entry, made) in manifest.clip.iter().zip(&clips) {
        // Mirror images are made from the labels of the original.
        let Some(clip) = made.first() else { continue };
        let analysis = analyse(clip, &model);
        let spans = if entry.span.is_empty() {
            let spans = propose_spans(&analysis, groups.as_ref());
            found += spans.len();
            spans
        } else {
            clip.spans.iter().map(|span| (span.clone(), 1.0)).collect()
        };
        let unsure = spans.iter().filter(|s| s.1 < CHECK);
        doubts.extend(unsure.map(|(span, sure)| Doubt { clip, span: span.clone(), sure: *sure }));
        if let Some(folder) = &args.strips {
            let mut shown = clip.clone();
            shown.spans = spans.iter().map(|s| s.0.clone()).collect();
            std::fs::create_dir_all(folder).map_err(|e| Failure::io(folder, "make", &e))?;
            output::write(&folder.join(format!("{}.png", clip.name.replace(['/', '\\'], "-"))), &strips(&shown))?;
        }
        text += &entry_text(entry, &analysis.rests, &spans);
        clips_json.push(clip_json(clip, &analysis, &spans));
    }
    doubts.sort_by(|a, b| a.sure.total_cmp(&b.sure));
    if let Some(folder) = &args.strips
        && !doubts.is_empty()
    {
        output::write(&folder.join("check-first.png"), &to_check(&doubts))?;
    }
    let doubts_json: Vec<Value> = doubts.iter().map(Doubt::json).collect();
    let json = json!({ "clips": clips_json, "found": found, "check": doubts_json });
    if let Some(path) = &args.output {
        output::write(path, text.as_bytes())?;
        text = format!("{}: {} clips, {found} labels found\n", path.display(), manifest.clip.len());
        if found == 0 {
            text += "    its labels were kept; --again finds them anew\n";
        }
        if !doubts.is_empty() {
            text += &format!("check these {} first, the least sure on top:\n", doubts.len());
            doubts.iter().for_each(|doubt| text += &format!("    {}\n", doubt.line()));
        }
    }
    Ok(Report { text, json })
}

/// A label that should be looked at.
struct Doubt<'a> {
    clip: &'a Clip,
    span: Span,
    sure: f32,
}

impl Doubt<'_> {
    fn line(&self) -> String {
        let Span { kind, label, from, to, .. } = &self.span;
        let what = format!("{} {label}", kind.name());
        format!("{:3.0} %  {} {from:.2}-{to:.2} s: {}", 100.0 * self.sure, self.clip.name, what.trim_end())
    }

    fn json(&self) -> Value {
        json!({
            "clip": self.clip.name, "kind": self.span.kind.name(), "label": self.span.label,
            "from": self.span.from, "to": self.span.to, "confidence": self.sure,
        })
    }
}

/// Most labels in the picture of what to check first.
const MOST_STRIPS: usize = 24;

/// A film strip of each label to check, the least sure on top, as PNG.
fn to_check(doubts: &[Doubt<'_>]) -> Vec<u8> {
    fn strip<'a>(doubt: &Doubt<'a>) -> Strip<'a> {
        let (from, to) = (doubt.span.from, doubt.span.to.max(doubt.span.from + 0.01));
        let moments = (0..8).map(|i| from + (to - from) * i as f32 / 7.0).collect();
        Strip {
            times: Times::At(moments),
            title: Some(doubt.line()),
            row_height: 150,
            width: 1000,
            ..Strip::of(picture_flags::figure(doubt.clip, Some(Roles::canonical())))
        }
    }
    let strips: Vec<Strip<'_>> = doubts.iter().take(MOST_STRIPS).map(strip).collect();
    Sheet { rows: strips.len(), strips, columns: 1, ..Sheet::default() }.render(0).to_png()
}

/// The labels found in a clip, each with how sure it is.
fn propose_spans(analysis: &Analysis, groups: Option<&Groups>) -> Vec<(Span, f32)> {
    let Some(groups) = groups else { return analysis.sure_spans() };
    let like = |a: &Action| groups.span(a).map(|span| (span, a.confidence));
    let labelled: Vec<(Span, f32)> = analysis.actions.iter().filter(|a| a.moves()).filter_map(like).collect();
    // Actions that match no group keep the label found by analysis.
    let free = |s: &(Span, f32)| labelled.iter().all(|(l, _)| s.0.to <= l.from || l.to <= s.0.from);
    let found = analysis.sure_spans().into_iter().filter(free);
    let mut spans: Vec<(Span, f32)> = found.chain(labelled.iter().cloned()).collect();
    spans.sort_by(|a, b| a.0.from.total_cmp(&b.0.from));
    spans
}

/// Seconds and number of poses in one row.
const ROW: (f32, usize) = (4.0, 20);

/// Draws a clip in rows of a few seconds, with its labels below, as PNG.
fn strips(clip: &Clip) -> Vec<u8> {
    let rows = (clip.seconds() / ROW.0).ceil().max(1.0) as usize;
    let seconds = if rows == 1 { clip.seconds() } else { ROW.0 };
    let row = |row: usize| {
        let time = |pose: usize| (row as f32 + pose as f32 / (ROW.1 - 1) as f32) * seconds;
        let moments = (0..ROW.1).map(time).filter(|t| *t <= clip.seconds() + 1e-3).collect();
        let title = if row == 0 { clip.name.clone() } else { String::new() };
        Strip {
            times: Times::At(moments),
            title: Some(title),
            row_height: 150,
            width: 1600,
            ..Strip::of(picture_flags::figure(clip, Some(Roles::canonical())))
        }
    };
    let sheet = Sheet { strips: (0..rows).map(row).collect(), columns: 1, rows, ..Sheet::default() };
    sheet.render(0).to_png()
}

fn strike_json(s: &Strike) -> Value {
    json!({
        "kind": s.kind.name(), "part": s.part.name(), "at": s.at, "active": [s.active.0, s.active.1],
        "height": s.height.name(), "direction": s.direction.name(), "reach_m": s.reach,
        "reach": if s.long { "long" } else { "short" }, "speed_m_s": s.speed, "mass_kg": s.mass,
    })
}

fn action_json(action: &Action) -> Value {
    let vacated = action.vacated.iter();
    let vacated: Vec<Value> =
        vacated.map(|v| json!({"part": v.part.name(), "from": v.from, "to": v.to, "by_m": v.by})).collect();
    json!({
        "from": action.from, "to": action.to, "core": [action.core.0, action.core.1],
        "kind": action.class.kind().name(), "class": action.class.name(), "confidence": action.confidence,
        "side": action.side.map(side_name), "height": action.height.map(|h| h.name()),
        "strikes": action.strikes.iter().map(strike_json).collect::<Vec<_>>(), "vacated": vacated,
    })
}

pub(crate) fn clip_json(clip: &Clip, analysis: &Analysis, spans: &[(Span, f32)]) -> Value {
    let span = |(s, sure): &(Span, f32)| {
        json!({
            "kind": s.kind.name(), "label": s.label, "from": s.from, "to": s.to,
            "active": s.active.map(|(a, b)| [a, b]), "part": s.part.map(|p| p.name()), "confidence": sure,
        })
    };
    json!({
        "clip": clip.name,
        "actions": analysis.actions.iter().map(action_json).collect::<Vec<_>>(),
        "spans": spans.iter().map(span).collect::<Vec<_>>(),
        "rests": analysis.rests.iter().map(|(a, b)| [a, b]).collect::<Vec<_>>(),
    })
}
