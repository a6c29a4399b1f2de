//! `kumite convert`: edits motions and writes them in another format or as pictures.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use kumite_bake::contacts;
use kumite_bake::understand::find_facing;
use kumite_formats::{bvh, gltf};
use kumite_motion::align::Planar;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::hands;
use kumite_motion::mirror::{Mirror, reflected};
use kumite_motion::retarget::{RetargetBody, retarget};
use kumite_motion::{Clip, FrameIdx, Roles, Vec2, humanoid, sample, settle};
use kumite_picture::Replay;
use serde_json::json;

use crate::args::ConvertArgs;
use crate::failure::{CliResult, Failure};
use crate::rigs::UserRig;
use crate::source::{self, Motion, Source};
use crate::{Progress, Report, exported, inspect, output, picture_flags, print_error, role_flags};

/// What can be written, by ending.
const ENDINGS: [&str; 7] = ["bvh", "glb", "png", "svg", "gif", "mp4", "html"];

/// A clip ready to be written, and the roles of its joints.
type Ready = (Clip, Option<Roles>);

pub(crate) fn run(args: &ConvertArgs, progress: &Progress) -> CliResult<Report> {
    let (output, inputs) = match &args.files[..] {
        [inputs @ .., output] if !inputs.is_empty() => (output.as_path(), inputs),
        files => {
            let found = files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>().join(" ");
            let message = format!("convert needs what to read and what to write; there is only {found:?}");
            return Err(Failure::bad(message).key("OUT").found(found).allowed("IN OUT"));
        }
    };
    if args.watch { watch(args, inputs, output, progress) } else { convert(args, inputs, output, progress) }
}

/// How often `--watch` looks at its files.
const LOOK: Duration = Duration::from_millis(150);

/// Converts now, and again whenever an input changes; what is wrong with it is said, and waited out.
fn watch(args: &ConvertArgs, inputs: &[PathBuf], output: &Path, progress: &Progress) -> CliResult<Report> {
    let changed = |path: &PathBuf| std::fs::metadata(path).and_then(|file| file.modified()).ok();
    let mut seen = None;
    loop {
        let now: Vec<Option<SystemTime>> = inputs.iter().map(changed).collect();
        if seen.as_ref() != Some(&now) {
            seen = Some(now);
            match convert(args, inputs, output, progress) {
                Ok(report) => warn(progress, report.text.trim_end()),
                Err(failure) => print_error(&failure.to_string()),
            }
        }
        std::thread::sleep(LOOK);
    }
}

fn convert(args: &ConvertArgs, inputs: &[PathBuf], output: &Path, progress: &Progress) -> CliResult<Report> {
    args.picture.check()?;
    let ending = output::ending(output, &ENDINGS)?;
    let true_fps = rate("--source-fps", args.source_fps)?;
    output::refuse_inputs(output, inputs.iter().chain(&args.rig).map(PathBuf::as_path))?;
    let rig = match &args.rig {
        Some(path) => Some(UserRig::load(path, &role_flags::parsed(&args.role, &[])?, None)?),
        None => None,
    };
    if rig.is_some() && ending != "glb" {
        let message = "a rig is written as .glb, with its skin and materials";
        return Err(Failure::bad(message).key("--rig").in_file(output).found(format!(".{ending}")).allowed(".glb"));
    }
    for warning in rig.iter().flat_map(|r| &r.warnings) {
        warn(progress, warning);
    }
    let bar = progress.bar(inputs.len() + 1, "converting");
    let (mut clips, mut orders): (Vec<Ready>, Vec<bvh::RotationOrder>) = (Vec::new(), Vec::new());
    for input in inputs {
        let source = source::load(input, true_fps)?;
        if let (Some(motion), false) = (source.motions.first(), args.canonical) {
            orders.clone_from(&motion.orders);
        }
        for warning in inspect::warnings(&source) {
            bar.suspend(|| warn(progress, &format!("{}: {warning}", source.name)));
        }
        clips.extend(edit(&source, args, ending, rig.as_ref())?);
        bar.inc(1);
    }
    let many = ["png", "glb", "html"].contains(&ending);
    if clips.len() > 1 && !many {
        let message = format!("{} motions, but .{ending} holds one; .png, .glb and .html hold several", clips.len());
        return Err(Failure::bad(message).in_file(output).found(format!("{} motions", clips.len())).allowed("1"));
    }
    let Some((clip, roles)) = clips.first() else { return Err(Failure::bad("nothing to convert")) };
    let title = output.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let bytes = match ending {
        "bvh" => bvh::write(&bvh::BvhFile::from_clip_in(clip, &orders)).into_bytes(),
        "svg" => args.picture.strip(clip, *roles).to_svg().into_bytes(),
        "gif" | "mp4" => {
            if ending == "gif" && clip.seconds() > picture_flags::LONGEST_GIF {
                let text = format!(
                    "a GIF holds {} s at most; the rest is left out (--trim chooses; an MP4 holds all of it)",
                    picture_flags::LONGEST_GIF
                );
                bar.suspend(|| warn(progress, &text));
            }
            picture_flags::film(args.picture.strip(clip, *roles), ending, clip.seconds(), 1.0)?
        }
        "glb" => match &rig {
            Some(rig) => {
                let clips: Vec<&Clip> = clips.iter().map(|c| &c.0).collect();
                rig.rig.write(&clips).map_err(|e| Failure::bad(e.to_string()).in_file(output))?
            }
            None => gltf::write_glb(&title, &gltf_characters(&clips), &markers(clip)),
        },
        "html" => {
            let figures = clips
                .iter()
                .enumerate()
                .map(|(i, c)| picture_flags::figure(&c.0, c.1).coloured(picture_flags::colours(i)));
            Replay { title, figures: figures.collect(), ..Replay::default() }.to_html().into_bytes()
        }
        _ if clips.len() > 1 => picture_flags::sheet(&args.picture, &clips),
        _ => args.picture.strip(clip, *roles).render().to_png(),
    };
    output::write(output, &bytes)?;
    bar.finish_and_clear();
    let (frames, joints, fps) = (clip.frames(), clip.skeleton().len(), inspect::rounded(clip.fps()));
    let text = format!("{}: {frames} frames, {joints} joints, {fps} fps\n", output.display());
    let file = output.display().to_string();
    let json = json!({"file": file, "clips": clips.len(), "frames": frames, "joints": joints, "fps": fps});
    Ok(Report { text, json })
}

/// Prints a warning on standard error, unless `--quiet` or `--json` was given.
fn warn(progress: &Progress, text: &str) {
    if !progress.quiet {
        print_error(text);
    }
}

/// Markers for editors of the file: where spans and their active windows begin and end.
pub(crate) fn markers(clip: &Clip) -> Vec<gltf::GltfMarker> {
    let mut markers = Vec::new();
    for span in &clip.spans {
        let what = if span.label.is_empty() { span.kind.name() } else { &span.label };
        let mut mark = |seconds: f32, when: &str| {
            markers.push(gltf::GltfMarker { seconds, name: format!("{what} {when}"), actor: Some(clip.name.clone()) });
        };
        mark(span.from, "begins");
        if let Some((from, to)) = span.active {
            mark(from, "active from");
            mark(to, "active to");
        }
        mark(span.to, "ends");
    }
    markers.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    markers
}

fn gltf_characters(clips: &[Ready]) -> Vec<gltf::GltfCharacter<'_>> {
    let colour = |i: usize| gltf::GltfCharacter::COLOURS[i % gltf::GltfCharacter::COLOURS.len()];
    clips
        .iter()
        .enumerate()
        .map(|(i, (clip, _))| gltf::GltfCharacter { name: &clip.name, clip, colour: colour(i) })
        .collect()
}

fn rate(flag: &str, fps: Option<f32>) -> CliResult<Option<f32>> {
    match fps {
        Some(fps) if !(fps.is_finite() && (1.0..=1000.0).contains(&fps)) => {
            let message = format!("{flag} is {fps}; 1 to 1000 frames per second are allowed");
            Err(Failure::bad(message).key(flag).found(fps.to_string()).allowed("1 to 1000"))
        }
        fps => Ok(fps),
    }
}

/// Applies the requested edits in this order: retarget, trim, settle, move home, mirror, on the spot, loop, resample, axes.
fn edit(source: &Source, args: &ConvertArgs, ending: &str, rig: Option<&UserRig>) -> CliResult<Vec<Ready>> {
    let fps = rate("--fps", args.fps)?;
    let mut clips = Vec::with_capacity(source.motions.len());
    for motion in &source.motions {
        let failed = |e: kumite_motion::ClipError| Failure::bad(e.to_string()).in_file(Path::new(&source.name));
        let (mut clip, roles) = match rig {
            Some(rig) => {
                let worn = retarget_to(source, motion, rig.body())?;
                let hands = hands::of_clip(&worn, &rig.roles);
                (rig.fingers.shown(&worn, &hands), Some(rig.roles))
            }
            None if args.canonical => {
                let skeleton = Arc::new(humanoid::skeleton());
                let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(&skeleton));
                let to = RetargetBody { skeleton: &skeleton, roles: &roles, anatomy: &anatomy };
                (retarget_to(source, motion, to)?, Some(roles))
            }
            // BVH to BVH keeps unit and axes. Everything else, and edits that need to know left and up, works on the clip in metres.
            None if ending == "bvh" && !args.needs_metres() => (motion.raw.clone(), motion.roles()),
            None => (motion.shown().clone(), motion.roles()),
        };
        if let Some((from, to)) = args.trim {
            if !(from.is_finite() && to.is_finite() && 0.0 <= from && from < to && from <= clip.seconds()) {
                let allowed = format!("0 <= FROM < TO, FROM at most {:.2}", clip.seconds());
                let message = format!("--trim is {from},{to}; allowed is {allowed} (seconds)");
                return Err(Failure::bad(message).key("--trim").found(format!("{from},{to}")).allowed(allowed));
            }
            let frame = |t: f32| (t * clip.fps()).round() as usize;
            clip = clip.trimmed(frame(from)..frame(to.min(clip.seconds())) + 1).map_err(failed)?;
        }
        let anatomy = match rig {
            Some(rig) => Some(rig.anatomy.clone()),
            None if args.canonical => Some(Anatomy::of_canonical(clip.skeleton())),
            None => motion.anatomy(),
        };
        if args.settle {
            clip = settled(clip, roles.as_ref(), anatomy.as_ref())
                .map_err(|e| Failure::bad(e).key("--settle").in_file(Path::new(&source.name)))?;
        }
        if args.home {
            let turn = match (&roles, &anatomy) {
                (Some(roles), Some(anatomy)) => find_facing(&clip, roles, anatomy).value,
                _ => 0.0,
            };
            let start = clip.root(FrameIdx(0));
            let away = Planar { turn: 0.0, shift: -Vec2::new(start.x, start.z) };
            clip = Planar { turn: -turn, shift: Vec2::ZERO }.after(&away).apply_clip(&clip).map_err(failed)?;
        }
        if args.mirror {
            clip = match (&roles, &anatomy) {
                (Some(roles), Some(anatomy)) => reflected(&clip, roles, anatomy),
                _ => Mirror::by_names(clip.skeleton()).clip(&clip),
            }
            .map_err(failed)?;
        }
        if args.in_place {
            clip = exported::in_place(&clip).map_err(failed)?;
        }
        if args.looped {
            clip = exported::looped(&clip, !args.in_place).map_err(failed)?;
        }
        if let Some(fps) = fps {
            clip = sample::resample(&clip, fps).map_err(failed)?;
        }
        if let (Some(program), "bvh") = (args.program, ending) {
            clip = exported::for_program(&clip, program).map_err(failed)?;
        }
        clips.push((clip, roles));
    }
    Ok(clips)
}

/// Moved as soles could push it.
fn settled(mut clip: Clip, roles: Option<&Roles>, anatomy: Option<&Anatomy>) -> Result<Clip, String> {
    let (Some(roles), Some(anatomy)) = (roles, anatomy) else {
        return Err("not a person: nobody knows what it stands on".to_owned());
    };
    if clip.contacts.len() != clip.frames() {
        clip.contacts = contacts::detect(&clip, roles, anatomy);
    }
    let Some(bounds) = settle::Bounds::of_clip(&clip) else {
        return Err("hits and falls push from outside: there is nothing to settle by".to_owned());
    };
    settle::clip(&clip, roles, anatomy, &bounds).map_err(|e| e.to_string())
}

/// Retargets a motion to another body.
fn retarget_to(source: &Source, motion: &Motion, to: RetargetBody<'_>) -> CliResult<Clip> {
    let file = Path::new(&source.name);
    let unknown = || Failure::bad("not a person: it cannot be retargeted to another body").in_file(file);
    let (roles, anatomy) = (motion.roles().ok_or_else(unknown)?, motion.anatomy().ok_or_else(unknown)?);
    let clip = motion.shown();
    let from = RetargetBody { skeleton: clip.skeleton(), roles: &roles, anatomy: &anatomy };
    retarget(clip, from, to).map_err(|e| Failure::bad(e.to_string()).in_file(file))
}
