//! `kumite label`: proposes labels for the clips of a manifest and writes them as a manifest to edit.

use kumite_bake::analyse::like::Groups;
use kumite_bake::analyse::{Action, Analysis, Model, analyse, side_name};
use kumite_motion::{Clip, Roles, Span, Strike};
use kumite_picture::{Sheet, Strip, Times};
use serde_json::{Value, json};

use crate::args::LabelArgs;
use crate::failure::{CliResult, Failure};
use crate::manifest_text::{entry_text, header};
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
    let bar = progress.bar(manifest.clip.len(), "labelling");
    let clips = bake::clips(&manifest, &args.manifest, data, &bar)?;
    bar.finish_and_clear();
    let mut text = header(&manifest.library);
    let (mut clips_json, mut found) = (Vec::new(), 0);
    for (entry, made) in manifest.clip.iter().zip(&clips) {
        // Mirror images are made from the labels of the original.
        let Some(clip) = made.first() else { continue };
        let analysis = analyse(clip, &model);
        let spans = if entry.span.is_empty() {
            let spans = propose_spans(&analysis, groups.as_ref());
            found += spans.len();
            spans
        } else {
            clip.spans.clone()
        };
        if let Some(folder) = &args.strips {
            let mut shown = clip.clone();
            shown.spans.clone_from(&spans);
            std::fs::create_dir_all(folder).map_err(|e| Failure::io(folder, "make", &e))?;
            output::write(&folder.join(format!("{}.png", clip.name.replace(['/', '\\'], "-"))), &strips(&shown))?;
        }
        text += &entry_text(entry, &analysis.rests, &spans);
        clips_json.push(clip_json(clip, &analysis, &spans));
    }
    let json = json!({ "clips": clips_json, "found": found });
    if let Some(path) = &args.output {
        output::write(path, text.as_bytes())?;
        text = format!("{}: {} clips, {found} labels found\n", path.display(), manifest.clip.len());
    }
    Ok(Report { text, json })
}

fn propose_spans(analysis: &Analysis, groups: Option<&Groups>) -> Vec<Span> {
    let Some(groups) = groups else { return analysis.spans() };
    let labelled: Vec<Span> = analysis.actions.iter().filter(|a| a.moves()).filter_map(|a| groups.span(a)).collect();
    // Actions that match no group keep the label found by analysis.
    let free = |s: &Span| labelled.iter().all(|l| s.to <= l.from || l.to <= s.from);
    let mut spans: Vec<Span> = analysis.spans().into_iter().filter(free).chain(labelled.iter().cloned()).collect();
    spans.sort_by(|a, b| a.from.total_cmp(&b.from));
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
        "kind": action.class.kind().name(), "class": action.class.name(),
        "side": action.side.map(side_name), "height": action.height.map(|h| h.name()),
        "strikes": action.strikes.iter().map(strike_json).collect::<Vec<_>>(), "vacated": vacated,
    })
}

pub(crate) fn clip_json(clip: &Clip, analysis: &Analysis, spans: &[Span]) -> Value {
    let span = |s: &Span| {
        json!({
            "kind": s.kind.name(), "label": s.label, "from": s.from, "to": s.to,
            "active": s.active.map(|(a, b)| [a, b]), "part": s.part.map(|p| p.name()),
        })
    };
    json!({
        "clip": clip.name,
        "actions": analysis.actions.iter().map(action_json).collect::<Vec<_>>(),
        "spans": spans.iter().map(span).collect::<Vec<_>>(),
        "rests": analysis.rests.iter().map(|(a, b)| [a, b]).collect::<Vec<_>>(),
    })
}
