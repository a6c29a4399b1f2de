//! `kumite bake`: builds a library from a manifest. Also loads libraries for other commands.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use indicatif::ProgressBar;
use kumite_bake::graph::{self, LabelLoss, Lost, UNBROKEN, keeps};
use kumite_bake::library::{self, BakeConfig, Baked};
use kumite_bake::manifest::{self, ClipEntry, Manifest};
use kumite_bake::prepare::{PrepareError, prepare};
use kumite_bake::repair::{self, RepairConfig, Repaired};
use kumite_keying::embedded;
use kumite_motion::library::Library;
use kumite_motion::{Clip, humanoid};
use serde_json::{Value, json};

use crate::args::BakeArgs;
use crate::failure::{CliResult, Failure};
use crate::{Progress, Report, output, source};

pub(crate) fn run(args: &BakeArgs, progress: &Progress) -> CliResult<Report> {
    let start = Instant::now();
    let (baked, building) = from_manifest(&args.manifest, args.data.as_deref(), progress)?;
    let bytes = kumite_asset::write(&baked.library).map_err(|e| Failure::bad(e.to_string()).in_file(&args.output))?;
    output::write(&args.output, &bytes)?;
    let library = &baked.library;
    let frames: usize = library.clips().iter().map(Clip::frames).sum();
    let seconds: f32 = library.clips().iter().map(Clip::seconds).sum();
    let (nodes, edges) = (library.graph().nodes().len(), library.graph().edges().len());
    // Lost when the graph was built, and not brought back by repair.
    let gone = |l: &&Lost| {
        let clip = library.clip(l.clip);
        !keeps(clip, l.clip, &clip.spans[l.span as usize], library.graph().edges(), &UNBROKEN)
    };
    let labels = baked.report.labels.iter().map(|l| (l, l.total - l.lost.iter().filter(gone).count()));
    let labels: Vec<(&LabelLoss, usize)> = labels.collect();
    let labels_json: Vec<Value> = (labels.iter())
        .map(|(l, kept)| json!({"kind": l.kind.name(), "label": l.label, "total": l.total, "kept": kept}))
        .collect();
    let mut text = format!(
        "{}: {} clips, {seconds:.0} s, {nodes} nodes, {edges} edges, {:.1} MB in {:.1} s\n",
        args.output.display(),
        library.clips().len(),
        bytes.len() as f64 / 1e6,
        start.elapsed().as_secs_f64()
    );
    for (label, kept) in labels.iter().filter(|l| l.1 < l.0.total) {
        text += &format!("    {} {}: {kept} of {} kept\n", label.kind.name(), label.label, label.total);
    }
    let json = json!({
        "clips": library.clips().len(), "frames": frames, "seconds": seconds, "nodes": nodes, "edges": edges,
        "synthetic_share": repair::synthetic_share(library, WALK), "bridges": baked.repaired.bridges, "bytes": bytes.len(), "wall_seconds": start.elapsed().as_secs_f64(),
        "pairs_per_second": baked.transitions.pairs as f64 / building.max(1e-9), "labels": labels_json,
        "kept_share": baked.report.seconds.1 / baked.report.seconds.0.max(1e-6),
    });
    Ok(Report { text, json })
}

/// Number of edges in the random walk that shares are measured on.
pub(crate) const WALK: usize = 20_000;

/// Reports of a bake; a bundle does not hold them.
pub(crate) struct BakeNotes {
    pub(crate) report: graph::Report,
    pub(crate) repaired: Repaired,
}

/// Loads a library by name: `embedded`, a bundle, or a manifest, relative to the file `beside`.
pub(crate) fn load(name: &str, beside: &Path, progress: &Progress) -> CliResult<(Library, Option<BakeNotes>)> {
    load_with(name, beside, None, progress)
}

/// Loads a library as [`load`] does; the files of a manifest are relative to `data`.
pub(crate) fn load_with(
    name: &str,
    beside: &Path,
    data: Option<&Path>,
    progress: &Progress,
) -> CliResult<(Library, Option<BakeNotes>)> {
    let with_notes = |baked: Baked| (baked.library, Some(BakeNotes { report: baked.report, repaired: baked.repaired }));
    if name == "embedded" {
        let clips = embedded::clips().map_err(|(file, e)| Failure::bad(e.to_string()).in_file(Path::new(&file)))?;
        return Ok(with_notes(build("embedded", clips, RepairConfig::agile())?));
    }
    let path = relative(name, beside);
    match source::ending(&path).as_deref() {
        Some("kumite") => {
            let bytes = source::read(&path)?;
            let library = kumite_asset::read(&bytes).map_err(|e| Failure::bad(e.to_string()).in_file(&path))?;
            Ok((library, None))
        }
        Some("toml") => Ok(with_notes(from_manifest(&path, data, progress)?.0)),
        _ => {
            let allowed = "embedded, a .kumite bundle, or a .toml manifest";
            Err(Failure::bad(format!("library is {name:?}; allowed is {allowed}"))
                .key("library")
                .found(name)
                .allowed(allowed))
        }
    }
}

fn relative(name: &str, beside: &Path) -> PathBuf {
    beside.parent().unwrap_or(Path::new("")).join(name)
}

/// Reads a manifest.
pub(crate) fn manifest(path: &Path) -> CliResult<Manifest> {
    let text = String::from_utf8(source::read(path)?).map_err(|_| Failure::bad("not UTF-8 text").in_file(path))?;
    manifest::read(&text).map_err(|e| Failure::from(e).in_file(path))
}

/// Loads and prepares the clips of each entry of the manifest at `path`.
pub(crate) fn clips(
    manifest: &Manifest,
    path: &Path,
    data: Option<&Path>,
    bar: &ProgressBar,
) -> CliResult<Vec<Vec<Clip>>> {
    let skeleton = Arc::new(humanoid::skeleton());
    let entry = |entry: &ClipEntry| {
        let file = match data {
            Some(folder) => folder.join(&entry.file),
            None => relative(&entry.file, path),
        };
        let found = source::load(&file, entry.fps)?;
        let mut clips = Vec::new();
        for motion in &found.motions {
            let name = match (&entry.name, found.motions.len()) {
                (Some(name), 1) => name.clone(),
                _ => motion.raw.name.clone(),
            };
            let understood = motion.understood(entry.fps).map_err(|e| e.in_file(&file))?;
            let made = prepare(understood.as_ref(), entry, &name, &skeleton);
            clips.extend(made.map_err(|e| match e {
                PrepareError::Label(error) => Failure::from(error).in_file(path),
                other => Failure::bad(other.to_string()).in_file(&file),
            })?);
        }
        bar.inc(1);
        Ok(clips)
    };
    manifest.clip.iter().map(entry).collect()
}

/// Bakes the library, and returns it with the seconds that took once its clips were prepared.
fn from_manifest(path: &Path, data: Option<&Path>, progress: &Progress) -> CliResult<(Baked, f64)> {
    let manifest = manifest(path)?;
    let bar = progress.bar(manifest.clip.len() + 1, "baking");
    let clips = clips(&manifest, path, data, &bar)?.concat();
    let start = Instant::now();
    let mut baked = build(&manifest.library.name, clips, RepairConfig::default()).map_err(|e| e.in_file(path))?;
    baked.library.attribution = manifest.library.attribution;
    bar.finish_and_clear();
    Ok((baked, start.elapsed().as_secs_f64()))
}

fn build(name: &str, clips: Vec<Clip>, repair: RepairConfig) -> CliResult<Baked> {
    let config = BakeConfig { repair: Some(repair), ..BakeConfig::default() };
    library::bake(name, clips, &config).map_err(|e| Failure::bad(e.to_string()))
}
