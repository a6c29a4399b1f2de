//! `kumite convert`: one motion into another format or into pictures.

use std::path::Path;

use kumite_formats::bvh;
use kumite_motion::mirror::Mirror;
use kumite_motion::{Clip, Roles, sample};
use serde_json::json;

use crate::args::ConvertArgs;
use crate::failure::{Failure, Outcome};
use crate::source::{self, Source};
use crate::{Progress, Report, inspect, look, output};

/// What endings are written, for messages.
const WRITTEN: &str = ".bvh, .png, .svg, .gif";

pub(crate) fn run(args: &ConvertArgs, progress: &Progress) -> Outcome<Report> {
    args.look.check()?;
    let ending = ending(&args.output)?;
    let bar = progress.bar(args.inputs.len() + 1, "converting");
    let mut clips: Vec<(Clip, Option<Roles>)> = Vec::new();
    for input in &args.inputs {
        let source = source::load(input)?;
        for warning in &source.warnings {
            bar.suspend(|| eprintln!("kumite: {}: {warning}", source.name));
        }
        for clip in edit(source, args)? {
            clips.push(clip);
        }
        bar.inc(1);
    }
    if clips.len() > 1 && ending != "png" {
        let message = format!("{} motions, but only a contact sheet (.png) shows more than one", clips.len());
        return Err(Failure::bad(message).in_file(&args.output).found(format!("{} motions", clips.len())).allowed("1"));
    }
    let Some((clip, roles)) = clips.first() else { return Err(Failure::bad("nothing to convert")) };
    let bytes = match ending {
        "bvh" => bvh::write(&bvh::BvhFile::from_clip(clip, bvh::RotationOrder::default())).into_bytes(),
        "svg" => args.look.strip(clip, *roles).to_svg().into_bytes(),
        "gif" => look::gif(&args.look, clip, *roles),
        _ if clips.len() > 1 => look::sheet(&args.look, &clips),
        _ => args.look.strip(clip, *roles).render().to_png(),
    };
    output::write(&args.output, &bytes)?;
    bar.finish_and_clear();
    let (frames, joints, fps) = (clip.frames(), clip.skeleton().len(), inspect::rounded(clip.fps()));
    let text = format!("{}: {frames} frames, {joints} joints, {fps} fps\n", args.output.display());
    let json = json!({"file": args.output.display().to_string(), "clips": clips.len(), "frames": frames, "joints": joints, "fps": fps});
    Ok(Report { text, json })
}

fn ending(path: &Path) -> Outcome<&'static str> {
    let found = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    ["bvh", "png", "svg", "gif"].into_iter().find(|e| *e == found).ok_or_else(|| {
        let message = format!("cannot write {found:?}; the ending says the format: {WRITTEN}");
        Failure::bad(message).in_file(path).found(found.clone()).allowed(WRITTEN)
    })
}

fn rate(flag: &str, fps: Option<f32>) -> Outcome<Option<f32>> {
    match fps {
        Some(fps) if !(fps.is_finite() && (1.0..=1000.0).contains(&fps)) => {
            let message = format!("{flag} is {fps}; 1 to 1000 frames per second are allowed");
            Err(Failure::bad(message).key(flag).found(fps.to_string()).allowed("1 to 1000"))
        }
        fps => Ok(fps),
    }
}

/// The true rate, the wanted part, the other side, the wanted rate, in this order.
fn edit(source: Source, args: &ConvertArgs) -> Outcome<Vec<(Clip, Option<Roles>)>> {
    let (true_fps, fps) = (rate("--source-fps", args.source_fps)?, rate("--fps", args.fps)?);
    let roles = source.roles;
    let mut clips = Vec::with_capacity(source.clips.len());
    for mut clip in source.clips {
        let failed = |e: kumite_motion::ClipError| Failure::bad(e.to_string()).in_file(Path::new(&source.name));
        if let Some(fps) = true_fps {
            clip = clip.with_fps(fps).map_err(failed)?;
        }
        if let Some((from, to)) = args.trim {
            if !(from.is_finite() && to.is_finite() && 0.0 <= from && from < to && from <= clip.seconds()) {
                let allowed = format!("0 <= FROM < TO, FROM at most {:.2}", clip.seconds());
                let message = format!("--trim is {from},{to}; allowed is {allowed} (seconds)");
                return Err(Failure::bad(message).key("--trim").found(format!("{from},{to}")).allowed(allowed));
            }
            let frame = |t: f32| (t * clip.fps()).round() as usize;
            clip = clip.trimmed(frame(from)..frame(to) + 1).map_err(failed)?;
        }
        if args.mirror {
            let pairs = match &roles {
                Some(roles) => Mirror::by_roles(clip.skeleton(), roles),
                None => Mirror::by_names(clip.skeleton()),
            };
            clip = pairs.clip(&clip).map_err(failed)?;
        }
        if let Some(fps) = fps {
            clip = sample::resample(&clip, fps).map_err(failed)?;
        }
        clips.push((clip, roles));
    }
    Ok(clips)
}
