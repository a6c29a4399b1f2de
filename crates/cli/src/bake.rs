//! `kumite bake`: builds a bundle from a manifest. Also loads libraries for other commands.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use indicatif::ProgressBar;
use kumite_asset::BundleError;
use kumite_bake::analyse::labelled;
use kumite_bake::graph::{self, LabelLoss, Lost, UNBROKEN, keeps};
use kumite_bake::interrupts;
use kumite_bake::kit::{self, Ingredients};
use kumite_bake::manifest::{self, ClipEntry, Header, Manifest};
use kumite_bake::prepare::{PrepareError, prepare};
use kumite_bake::repair::{self, RepairConfig, Repaired};
use kumite_bake::walking::{self, WalkingConfig};
use kumite_keying::{Manner, embedded};
use kumite_motion::Layer;
use kumite_motion::library::{Library, LibraryError};
use kumite_motion::{Clip, humanoid};
use serde_json::{Value, json};

use crate::args::BakeArgs;
use crate::failure::{self, CliResult, Failure};
use crate::{Progress, Report, manifest_text, output, source};

/// The library that comes with kumite, as `cargo dev embed` bakes it from the keyed motions.
const BUILT_IN_BUNDLE: &[u8] = include_bytes!("../../../library/embedded.kumite");

pub(crate) fn run(args: &BakeArgs, progress: &Progress) -> CliResult<Report> {
    let start = Instant::now();
    output::refuse_inputs(&args.output, [args.manifest.as_path()])?;
    output::ending(&args.output, &["kumite"])?;
    let manner = Manner::from_name(&args.manner).unwrap_or_default();
    let (mut decided, mut check) = (Vec::new(), 0);
    let from = match args.manifest.to_str() {
        Some(source::BUILT_IN) => built_in(manner)?,
        _ if manner != Manner::Fresh => {
            let message = "only the motions that come with kumite are keyed, and can be carried in another manner";
            return Err(Failure::bad(message).key("--manner").found(manner.name()).allowed("fresh"));
        }
        _ => {
            let mut gathered = gather(&args.manifest, args.data.as_deref(), args.unlabelled, progress)?;
            if let Some(path) = &args.write_manifest {
                output::refuse_inputs(path, [args.manifest.as_path()])?;
                output::write(path, manifest_text::whole(&gathered).as_bytes())?;
            }
            check = manifest_text::to_check(&gathered);
            decided = std::mem::take(&mut gathered.decided);
            gathered.ingredients()
        }
    };
    let building = Instant::now();
    let kit = kit::bake_kit(from).map_err(|e| Failure::bad(e.to_string()).in_file(&args.manifest))?;
    let building = building.elapsed().as_secs_f64();
    let (baked, walk) = (kit.fight, kit.walk.ok());
    let pairs = baked.transitions.pairs + walk.as_ref().map_or(0, |w| w.transitions.pairs);
    let failed = |e: BundleError| Failure::bad(e.to_string()).in_file(&args.output);
    let bytes = kumite_asset::write(&kit.library).map_err(failed)?;
    let sections: Vec<String> =
        kumite_asset::contents(&bytes).map_err(failed)?.sections.into_iter().map(|s| s.name).collect();
    output::write(&args.output, &bytes)?;
    let library = &baked.library;
    let walk = walk.map(|w| (w.library.clips().len(), w.library.graph().edges().len()));
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
    let mut kinds: Vec<(&str, usize)> = Vec::new();
    for (label, _) in &labels {
        match kinds.iter_mut().find(|kind| kind.0 == label.kind.name()) {
            Some(kind) => kind.1 += label.total,
            None => kinds.push((label.kind.name(), label.total)),
        }
    }
    let spans: usize = kinds.iter().map(|kind| kind.1).sum();
    let counted: Vec<String> = kinds.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
    let _ = match spans {
        0 => writeln!(text, "    no labels: nobody can dodge, block or strike with it"),
        _ => {
            let advice = match (check, &args.write_manifest) {
                (0, _) => String::new(),
                (_, Some(path)) => format!(", marked `# check` in {}", path.display()),
                (_, None) => ", which `--manifest OUT.toml` marks `# check`".to_owned(),
            };
            writeln!(text, "    {spans} labels: {}; {check} to check{advice}", counted.join(", "))
        }
    };
    let found = kit.library.interrupts();
    let _ = writeln!(
        text,
        "    {} onsets can be joined at once from {} ranges",
        found.onsets().len(),
        found.ranges().len()
    );
    if let Some((clips, edges)) = walk {
        text += &format!("    to walk with: {clips} clips, {edges} edges\n");
    }
    for (label, kept) in labels.iter().filter(|l| l.1 < l.0.total) {
        text += &format!("    {} {}: {kept} of {} kept\n", label.kind.name(), label.label, label.total);
    }
    let json = json!({
        "decided": decided, "clips": library.clips().len(), "frames": frames, "seconds": seconds, "nodes": nodes, "edges": edges,
        "synthetic_share": repair::synthetic_share(library, WALK), "bridges": baked.repaired.bridges, "bytes": bytes.len(), "wall_seconds": start.elapsed().as_secs_f64(),
        "pairs_per_second": pairs as f64 / building.max(1e-9), "labels": labels_json,
        "spans": spans, "spans_by_kind": kinds.iter().map(|(kind, count)| ((*kind).to_owned(), json!(count))).collect::<serde_json::Map<_, _>>(),
        "spans_to_check": check,
        "walk_clips": walk.map_or(0, |w| w.0), "walk_edges": walk.map_or(0, |w| w.1), "sections": sections,
        "onsets": found.onsets().len(), "interrupts": found.ranges().len(), "interrupt_bytes": found.bytes(),
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

/// A library that was loaded.
pub(crate) struct Loaded {
    /// As the user named it.
    name: String,
    /// Fighters can play it; walkers may not, see [`Loaded::with_walks`].
    pub(crate) library: Arc<Library>,
    walks: Walks,
}

/// What walkers play.
enum Walks {
    /// It is in the library.
    There,
    /// It is baked if it is asked for: from the clips that fighters play, and these.
    Clips(Vec<Clip>),
    /// The bundle has none; the version of its section.
    Missing(u32),
}

/// Bundles hold what walkers play since this version of their section.
const WALKS_SINCE: u32 = 3;

impl Loaded {
    /// Whether it comes with kumite.
    pub(crate) fn is_built_in(&self) -> bool {
        self.name == source::BUILT_IN
    }

    /// The library with what walkers play.
    pub(crate) fn with_walks(&self) -> CliResult<Arc<Library>> {
        match &self.walks {
            Walks::There => Ok(Arc::clone(&self.library)),
            Walks::Clips(more) => {
                let baked = kit::bake_walk(&self.library, more.clone()).map_err(|e| self.cannot_walk(&e))?;
                let library = Library::clone(&self.library).with_walks(&baked.library);
                Ok(Arc::new(library.map_err(|e| self.cannot_walk(&e))?))
            }
            Walks::Missing(version) if *version < WALKS_SINCE => {
                Err(self.cannot_walk(&format!("bundles of version {version} hold none; `kumite bake` it again")))
            }
            Walks::Missing(_) => {
                Err(self.cannot_walk(&"`kumite bake` found none in its manifest that walk, run or stand"))
            }
        }
    }

    /// Its walkers alone, without mirror images, which are never stored apart: baked now.
    pub(crate) fn unmirrored_walks(&self) -> CliResult<Arc<Library>> {
        let library = self.with_walks()?;
        let baked = walking::unmirrored(&library, &WalkingConfig::default()).map_err(|e| self.cannot_walk(&e))?;
        Ok(Arc::new(baked.library))
    }

    fn cannot_walk(&self, why: &dyn std::fmt::Display) -> Failure {
        let name = &self.name;
        Failure::bad(format!("{name} has no motions to walk with: {why}")).key("--library").found(name.clone())
    }
}

/// Loads a library by name: the built-in one, a bundle, or a manifest, relative to the file `beside`. The files of a manifest are relative to
/// `data`, if given.
pub(crate) fn load(name: &str, beside: &Path, data: Option<&Path>, progress: &Progress) -> CliResult<Loaded> {
    Ok(match named(name, beside)? {
        Named::BuiltIn => unpack(name, BUILT_IN_BUNDLE, Path::new(name), progress)?,
        Named::Bundle(path) => unpack(name, &source::read(&path)?, &path, progress)?,
        Named::Clips(path) => fight(name, gather(&path, data, false, progress)?.ingredients(), &path)?.0,
    })
}

/// Loads what fighters play of a library; a manifest is baked, with reports. A bundle that is older has no interrupts.
pub(crate) fn load_with_notes(
    name: &str,
    data: Option<&Path>,
    progress: &Progress,
) -> CliResult<(Arc<Library>, Option<BakeNotes>)> {
    let wrong = |e: LibraryError, path: &Path| Failure::bad(e.to_string()).in_file(path);
    let unpacked = |path: &Path| {
        let library = load(name, Path::new(""), data, progress)?.library;
        library.only(Layer::Fight).map_err(|e| wrong(e, path))
    };
    Ok(match named(name, Path::new(""))? {
        Named::Clips(path) => {
            let (loaded, notes) = fight(name, gather(&path, data, false, progress)?.ingredients(), &path)?;
            let library = interrupts::find(&loaded.library).map_err(|e| wrong(e, &path))?;
            (Arc::new(library), Some(notes))
        }
        Named::Bundle(path) => (Arc::new(unpacked(&path)?), None),
        Named::BuiltIn => (Arc::new(unpacked(Path::new(name))?), None),
    })
}

/// Where a library comes from.
enum Named {
    BuiltIn,
    Bundle(PathBuf),
    /// A manifest, or a folder of motions.
    Clips(PathBuf),
}

fn named(name: &str, beside: &Path) -> CliResult<Named> {
    if name == source::BUILT_IN {
        return Ok(Named::BuiltIn);
    }
    let path = relative(name, beside);
    match source::ending(&path).as_deref() {
        Some("kumite") => Ok(Named::Bundle(path)),
        Some("toml") => Ok(Named::Clips(path)),
        _ if path.is_dir() => Ok(Named::Clips(path)),
        _ => {
            let allowed = "embedded, a .kumite bundle, a .toml manifest, or a folder of motions";
            let near = if path.exists() { String::new() } else { failure::beside(&path) };
            let near = if near.contains("did you mean") { near } else { String::new() };
            Err(Failure::bad(format!("library is {name:?}; allowed is {allowed}{near}"))
                .key("library")
                .found(name)
                .allowed(allowed))
        }
    }
}

/// The library of a bundle.
fn unpack(name: &str, bytes: &[u8], path: &Path, progress: &Progress) -> CliResult<Loaded> {
    let failed = |e: BundleError| Failure::bad(e.to_string()).in_file(path);
    let contents = kumite_asset::contents(bytes).map_err(failed)?;
    let library = Arc::new(kumite_asset::read(bytes).map_err(failed)?);
    for section in contents.sections.iter().filter(|s| !s.known && !progress.quiet) {
        let text = format!("{}: section `{}` is left out: this program does not know it", path.display(), section.name);
        crate::print_error(&text);
    }
    let version = contents.sections.iter().filter(|s| s.known).map(|s| s.version).max().unwrap_or_default();
    let walks = if library.clips_of(Layer::Walk).is_empty() { Walks::Missing(version) } else { Walks::There };
    Ok(Loaded { name: name.to_owned(), library, walks })
}

/// Bakes what fighters play.
fn fight(name: &str, from: Ingredients, path: &Path) -> CliResult<(Loaded, BakeNotes)> {
    let (baked, more) = kit::bake_fight(from).map_err(|e| Failure::bad(e.to_string()).in_file(path))?;
    let notes = BakeNotes { report: baked.report, repaired: baked.repaired };
    let (name, library) = (name.to_owned(), Arc::new(baked.library));
    Ok((Loaded { name, library, walks: Walks::Clips(more) }, notes))
}

/// What the built-in library is made from.
fn built_in(manner: Manner) -> CliResult<Ingredients> {
    let failed = |(file, e): embedded::FileError| Failure::bad(e.to_string()).in_file(Path::new(&file));
    let mut clips = embedded::clips_in(manner).map_err(failed)?;
    // Keys say what strikes and when; how fast, how high and how far is measured.
    clips.iter_mut().for_each(labelled::add_strikes);
    Ok(Ingredients {
        name: match manner {
            Manner::Fresh => source::BUILT_IN.to_owned(),
            other => format!("{}, {}", source::BUILT_IN, other.name()),
        },
        attribution: Vec::new(),
        clips,
        walks: embedded::walks_in(manner).map_err(failed)?,
        repair: RepairConfig::agile(),
    })
}

fn relative(name: &str, beside: &Path) -> PathBuf {
    beside.parent().unwrap_or(Path::new("")).join(name)
}

/// Reads a manifest, or lists a folder as one.
pub(crate) fn manifest(path: &Path) -> CliResult<Manifest> {
    if path.is_dir() {
        return listed(path);
    }
    if source::ending(path).is_some_and(|ending| source::MOTIONS.contains(&ending.as_str())) {
        let message = "this is a motion; a library is made from a folder of motions or from a manifest that lists them";
        let found = source::ending(path).unwrap_or_default();
        return Err(Failure::bad(message).in_file(path).found(format!(".{found}")).allowed("a folder, .toml"));
    }
    let text = String::from_utf8(source::read(path)?).map_err(|_| Failure::bad("not UTF-8 text").in_file(path))?;
    manifest::read(&text).map_err(|e| {
        if text.lines().any(|line| line.trim() == "[[character]]") {
            let message = "this is a scene; a library is a manifest with [library] and [[clip]]s, a folder of motions or a bundle. `kumite play` plays \
                           scenes";
            return Failure::bad(message).in_file(path).found("a scene").allowed("a manifest, a folder, a bundle");
        }
        Failure::from(e).in_file(path)
    })
}

/// The motions in a folder and below it, by name.
fn listed(folder: &Path) -> CliResult<Manifest> {
    let (mut open, mut files) = (vec![folder.to_owned()], Vec::new());
    while let Some(inside) = open.pop() {
        for entry in std::fs::read_dir(&inside).map_err(|e| Failure::io(&inside, "read", &e))? {
            let path = entry.map_err(|e| Failure::io(&inside, "read", &e))?.path();
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            match source::ending(&path) {
                _ if hidden || path.is_symlink() => {}
                _ if path.is_dir() => open.push(path),
                Some(ending) if source::MOTIONS.contains(&ending.as_str()) => files.push(path),
                _ => {}
            }
        }
    }
    files.sort();
    if files.is_empty() {
        let allowed = source::MOTIONS.map(|ending| format!(".{ending}")).join(", ");
        let message = format!("no motions are in this folder; it may hold {allowed}");
        return Err(Failure::bad(message).in_file(folder).allowed(allowed));
    }
    let relative = |file: &PathBuf| file.strip_prefix(folder).unwrap_or(file).to_string_lossy().replace('\\', "/");
    let name = folder.canonicalize().ok().and_then(|f| Some(f.file_name()?.to_string_lossy().into_owned()));
    Ok(Manifest {
        library: Header { name: name.unwrap_or_else(|| "motions".to_owned()), attribution: Vec::new(), fps: None },
        clip: files.iter().map(|file| ClipEntry::of_file(&relative(file))).collect(),
    })
}

/// A manifest with what it lists.
pub(crate) struct Gathered {
    pub(crate) manifest: Manifest,
    /// For each entry: its clips, the mirror image after the original.
    pub(crate) clips: Vec<Vec<Clip>>,
    /// What the importer decided that the files do not say, and what it left out, a line each.
    pub(crate) decided: Vec<String>,
}

impl Gathered {
    /// What a library is made from.
    fn ingredients(self) -> Ingredients {
        let (mut fights, mut walks) = (Vec::new(), Vec::new());
        for (entry, clips) in self.manifest.clip.iter().zip(self.clips) {
            if entry.walk_only { &mut walks } else { &mut fights }.extend(clips);
        }
        let Header { name, attribution, .. } = self.manifest.library;
        Ingredients { name, attribution, clips: fights, walks, repair: RepairConfig::default() }
    }
}

/// Loads, prepares and labels what a manifest or a folder lists. What a folder holds beside people's motions is left out, and said; what a manifest
/// names must be there.
fn gather(path: &Path, data: Option<&Path>, unlabelled: bool, progress: &Progress) -> CliResult<Gathered> {
    let mut manifest = manifest(path)?;
    manifest.clip.iter_mut().for_each(|entry| entry.unlabelled |= unlabelled);
    gather_listed(manifest, path, data, progress)
}

/// The same for a manifest that was read before.
pub(crate) fn gather_listed(
    mut manifest: Manifest,
    path: &Path,
    data: Option<&Path>,
    progress: &Progress,
) -> CliResult<Gathered> {
    let bar = progress.bar(manifest.clip.len(), "reading");
    let (folder, beside) = (path.is_dir(), if path.is_dir() { path.join("library.toml") } else { path.to_owned() });
    let (mut kept, mut clips, mut decided) = (Vec::new(), Vec::new(), Vec::new());
    for mut entry in std::mem::take(&mut manifest.clip) {
        match load_entry(&entry, &beside, data, &mut decided) {
            Ok((made, fps)) => {
                entry.fps = entry.fps.or(fps);
                clips.push(made);
                kept.push(entry);
            }
            Err(failure) if folder => decided.push(format!("{} is left out: {}", entry.file, failure.message)),
            Err(failure) => return Err(failure),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if kept.is_empty() {
        let why = decided.first().cloned().unwrap_or_default();
        return Err(Failure::bad(format!("no motion of a person is in this folder: {why}")).in_file(path));
    }
    if !progress.quiet {
        decided.iter().for_each(|line| crate::print_error(line));
    }
    manifest.clip = kept;
    Ok(Gathered { manifest, clips, decided })
}

/// Loads and prepares the clips of each entry of the manifest at `path`.
pub(crate) fn clips(
    manifest: &Manifest,
    path: &Path,
    data: Option<&Path>,
    bar: &ProgressBar,
) -> CliResult<Vec<Vec<Clip>>> {
    let beside = if path.is_dir() { path.join("library.toml") } else { path.to_owned() };
    let entry = |entry: &ClipEntry| {
        bar.inc(1);
        Ok(load_entry(entry, &beside, data, &mut Vec::new())?.0)
    };
    manifest.clip.iter().map(entry).collect()
}

/// Loads and prepares the clips of an entry. Says what was decided about it, and returns the rate it was given if its header has another.
fn load_entry(
    entry: &ClipEntry,
    path: &Path,
    data: Option<&Path>,
    decided: &mut Vec<String>,
) -> CliResult<(Vec<Clip>, Option<f32>)> {
    let file = match data {
        Some(folder) => folder.join(&entry.file),
        None => relative(&entry.file, path),
    };
    let roles: Vec<(String, String)> = entry.roles.iter().map(|(role, joint)| (role.clone(), joint.clone())).collect();
    let known = source::Known { fps: entry.fps, roles: &roles };
    let found = source::load_known(&file, known).map_err(|failure| match entry.line {
        // A file that is not there, or a name in a library: the manifest is what is wrong.
        Some(_) if failure.file.is_none() || !file.exists() => {
            let elsewhere = match data {
                None if !file.exists() => "; `--data DIR` says which folder its files are in",
                _ => "",
            };
            let (named, why) = (file.display().to_string(), &failure.message);
            let message = format!("the file of this clip is {named:?}: {why}{elsewhere}");
            Failure { message, ..failure.key("file").at_line(entry.line) }.of_file(path)
        }
        _ => failure,
    })?;
    let skeleton = Arc::new(humanoid::skeleton());
    let (mut clips, mut rate) = (Vec::new(), None);
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
        if let Some(fps) = understood.as_ref().and_then(|u| kumite_bake::prepare::corrected_rate(u, entry)) {
            decided.push(format!(
                "{}: the header says {} frames per second; {fps} is taken, since {}",
                entry.file,
                motion.raw.fps(),
                understood.as_ref().map(|u| u.fps.why.clone()).unwrap_or_default()
            ));
            rate = Some(fps);
        } else if let Some(u) = understood.as_ref().filter(|u| entry.fps.is_none() && u.fps.value != u.clip.fps()) {
            decided.push(format!(
                "{}: the header's {} frames per second are taken, but it may be {}: {}; `fps` in a manifest settles it",
                entry.file,
                motion.raw.fps(),
                u.fps.value,
                u.fps.why
            ));
        }
    }
    Ok((clips, rate))
}
