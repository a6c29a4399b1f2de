//! Loads motions: files by their ending, embedded motions by name. Does not edit or convert them.

use std::path::{Component, Path};

use kumite_bake::understand::understand_with;
use kumite_bake::{Understanding, understand};
use kumite_formats::bvh::RotationOrder;
use kumite_formats::{Warning, bvh, gltf};
use kumite_keying::embedded::{self, EmbeddedShelf, Shelf};
use kumite_keying::{MotionFile, StanceFile, read_motion, read_stance};
use kumite_motion::anatomy::Anatomy;
use kumite_motion::{Clip, Pose, Roles};
use kumite_text::TextError;

use crate::failure::{CliResult, Failure};
use crate::role_flags;

/// Larger files are refused, bytes: no motion of a person is that long, and all of it is held in memory.
const LARGEST: u64 = 2 << 30;

/// One clip of a source.
pub(crate) struct Motion {
    /// Exactly as in the file: its unit, its axes, all frames.
    pub(crate) raw: Clip,
    /// What the importer concluded; `None` if nothing had to be concluded, or nothing could be.
    pub(crate) understanding: Option<Understanding>,
    /// Whether its joints are the canonical ones.
    canonical: bool,
    /// The order in which the file writes the rotations of each joint; empty where it has none.
    pub(crate) orders: Vec<RotationOrder>,
}

impl Motion {
    /// In metres with +Y up, as far as is known.
    pub(crate) fn shown(&self) -> &Clip {
        self.understanding.as_ref().map_or(&self.raw, |u| &u.clip)
    }

    /// Roles of the joints, if known.
    pub(crate) fn roles(&self) -> Option<Roles> {
        if self.canonical { Some(Roles::canonical()) } else { self.understanding.as_ref().map(|u| u.roles.value) }
    }

    /// Orientation of the joint frames, if known.
    pub(crate) fn anatomy(&self) -> Option<Anatomy> {
        match &self.understanding {
            Some(u) => Some(u.anatomy.clone()),
            None => self.canonical.then(|| Anatomy::of_canonical(self.raw.skeleton())),
        }
    }

    /// A clip from a file, whose skeleton may be of any kind, with what is known better about it.
    fn of_any_skeleton(raw: Clip, known: Known<'_>) -> CliResult<Motion> {
        let raw = match known.fps {
            Some(fps) => raw.with_fps(fps).map_err(|e| Failure::bad(e.to_string()))?,
            None => raw,
        };
        let names = known.roles.iter().map(|(role, joint)| (role.as_str(), joint.as_str()));
        let corrections = role_flags::pairs(names, raw.skeleton())?;
        let ours = Roles::by_canonical_names(raw.skeleton()) == Roles::canonical() && raw.skeleton().len() == 21;
        let (understanding, canonical) = (understand_with(&raw, &corrections), ours && corrections.is_empty());
        Ok(Motion { understanding, raw, canonical, orders: Vec::new() })
    }

    fn canonical(raw: Clip) -> Motion {
        Motion { raw, understanding: None, canonical: true, orders: Vec::new() }
    }

    /// What a library needs to know of it. `fps` replaces the rate of embedded motions; that of files was already replaced
    /// when they were loaded.
    pub(crate) fn understood(&self, fps: Option<f32>) -> CliResult<Option<Understanding>> {
        if self.understanding.is_some() || !self.canonical {
            return Ok(self.understanding.clone());
        }
        Ok(match fps {
            Some(fps) => understand(&self.raw.clone().with_fps(fps).map_err(|e| Failure::bad(e.to_string()))?),
            None => understand(&self.raw),
        })
    }
}

/// The motions of one file or name.
pub(crate) struct Source {
    /// As the user named it.
    pub(crate) name: String,
    pub(crate) format: &'static str,
    pub(crate) motions: Vec<Motion>,
    pub(crate) warnings: Vec<Warning>,
}

/// Inputs that can be read, for messages.
const READ: &str = ".bvh, .glb, .gltf, .vrm, .toml (keys), .kumite, x.kumite:NAME, embedded, embedded:NAME";

/// Endings of files with captured motions.
pub(crate) const MOTIONS: [&str; 4] = ["bvh", "glb", "gltf", "vrm"];

/// What to do about motions in formats that are not read.
const ELSEWHERE: [(&str, &str); 8] = [
    ("fbx", FROM_BLENDER),
    ("usd", FROM_BLENDER),
    ("usda", FROM_BLENDER),
    ("usdc", FROM_BLENDER),
    ("usdz", FROM_BLENDER),
    ("blend", FROM_BLENDER),
    ("asf", FROM_ACCLAIM),
    ("amc", FROM_ACCLAIM),
];
const FROM_BLENDER: &str = "open it in Blender and export glTF (.glb) with its animations";
const FROM_ACCLAIM: &str = "the same captures are published as BVH; or open ASF and AMC in Blender and export BVH";

/// Name of the library that comes with kumite.
pub(crate) const BUILT_IN: &str = "embedded";

/// What is known better about a file than it says, or than can be found out.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Known<'a> {
    /// The true frame rate, if the header's is wrong.
    pub(crate) fps: Option<f32>,
    /// Roles and the joints that play them.
    pub(crate) roles: &'a [(String, String)],
}

/// Loads what `path` names; `fps` is the true frame rate if the header's is wrong.
pub(crate) fn load(path: &Path, fps: Option<f32>) -> CliResult<Source> {
    load_known(path, Known { fps, roles: &[] })
}

/// Loads what `path` names, with what is known better about it.
pub(crate) fn load_known(path: &Path, known: Known<'_>) -> CliResult<Source> {
    let name = path.display().to_string();
    if let Some(wanted) = name.strip_prefix(BUILT_IN)
        && (wanted.is_empty() || wanted.starts_with(':'))
    {
        return embedded_clips(&name, wanted.strip_prefix(':'));
    }
    // One motion of a library, unless there is a file of this very name.
    if let Some((bundle, wanted)) = name.rsplit_once(':')
        && ending(Path::new(bundle)).as_deref() == Some("kumite")
        && !path.exists()
    {
        let mut source = from_bundle(Path::new(bundle), name.clone())?;
        only(&mut source.motions, |motion| &motion.raw.name, wanted)
            .map_err(|failure| failure.in_file(Path::new(bundle)))?;
        return Ok(source);
    }
    match ending(path).as_deref() {
        Some("bvh") => from_bvh(path, name, known),
        Some("glb" | "gltf" | "vrm") => from_gltf(path, name, known),
        Some("toml") => from_keys(path, name),
        Some("kumite") => from_bundle(path, name),
        _ if path.is_dir() => {
            let message = "this is a folder; name the files in it, or make a library of it with `kumite bake`";
            Err(Failure::bad(message).in_file(path).allowed(READ))
        }
        other => {
            if let Some((ending, advice)) = ELSEWHERE.into_iter().find(|(ending, _)| Some(*ending) == other) {
                let message = format!("this is a .{ending} file, which kumite does not read: {advice}");
                return Err(Failure::bad(message).in_file(path).found(format!(".{ending}")).allowed(READ));
            }
            let known = other.map_or("it has no ending".to_owned(), |e| format!(".{e} is not a known ending"));
            let there = if path.exists() { "" } else { "there is no such file, and " };
            let message = format!("{there}{known}; motions are {READ}");
            let found = other.map_or(name, |e| format!(".{e}"));
            Err(Failure::bad(message).in_file(path).found(found).allowed(READ))
        }
    }
}

pub(crate) fn ending(path: &Path) -> Option<String> {
    path.extension().and_then(|e| e.to_str()).map(str::to_ascii_lowercase)
}

pub(crate) fn read(path: &Path) -> CliResult<Vec<u8>> {
    let size = std::fs::metadata(path).map_err(|e| Failure::io(path, "read", &e))?;
    if size.is_dir() {
        return Err(Failure::bad("cannot read: it is a folder; name the files in it").in_file(path));
    }
    if size.len() > LARGEST {
        let found = format!("{} MB", size.len() >> 20);
        let message = format!("too large: {found}; at most {} MB are read", LARGEST >> 20);
        return Err(Failure::bad(message).in_file(path).found(found).allowed(format!("{} MB", LARGEST >> 20)));
    }
    std::fs::read(path).map_err(|e| Failure::io(path, "read", &e))
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

fn from_bvh(path: &Path, name: String, known: Known<'_>) -> CliResult<Source> {
    let bytes = read(path)?;
    let (file, warnings) = bvh::read(&bytes).map_err(|e| {
        Failure::bad(e.to_string())
            .in_file(path)
            .at_line(Some(e.line))
            .found(e.found.clone())
            .allowed(e.allowed.clone())
    })?;
    // Errors here are about missing frames, so they are reported at the last line.
    let last = bytes.iter().filter(|b| **b == b'\n').count().max(1);
    let clip = file.to_clip(&stem(path)).map_err(|e| Failure::bad(e.to_string()).in_file(path).at_line(Some(last)))?;
    let motion = Motion { orders: file.orders(), ..Motion::of_any_skeleton(clip, known).map_err(|e| e.in_file(path))? };
    Ok(Source { name, format: "bvh", motions: vec![motion], warnings })
}

/// Reads a glTF document with the files it names, which must be in its own folder.
pub(crate) fn read_gltf(path: &Path) -> CliResult<(gltf::GltfFile, Vec<Warning>)> {
    let bytes = read(path)?;
    gltf::read(&bytes, |name| beside(path, name)).map_err(|e| {
        Failure::bad(e.to_string())
            .in_file(path)
            .at_line(e.line)
            .key(&e.key)
            .found(e.found.clone())
            .allowed(e.allowed.clone())
    })
}

/// Reads a file in or below the folder of another; names and links that lead out of it are refused.
pub(crate) fn beside(path: &Path, name: &str) -> Result<Vec<u8>, String> {
    let wanted = Path::new(name);
    if !wanted.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir)) {
        return Err("it leaves the folder of the file that names it".to_owned());
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let real = |p: &Path| p.canonicalize().map_err(|e| e.to_string());
    // The name stays inside, but a link may lead out.
    let (home, file) = (real(folder)?, real(&folder.join(wanted))?);
    if !file.starts_with(&home) {
        return Err("it leaves the folder of the file that names it".to_owned());
    }
    if std::fs::metadata(&file).map_err(|e| e.to_string())?.len() > LARGEST {
        return Err("it is too large".to_owned());
    }
    std::fs::read(&file).map_err(|e| e.to_string())
}

fn from_gltf(path: &Path, name: String, known: Known<'_>) -> CliResult<Source> {
    let (file, mut warnings) = read_gltf(path)?;
    let (clips, more) = file.to_clips().map_err(|e| Failure::bad(e.to_string()).in_file(path))?;
    warnings.extend(more);
    let clips = if clips.is_empty() { rest_pose_clips(&file, path, &mut warnings)? } else { clips };
    let motion =
        |c: Clip| Motion::of_any_skeleton(gltf::without_root_bone(&c).unwrap_or(c), known).map_err(|e| e.in_file(path));
    let motions = clips.into_iter().map(motion).collect::<CliResult<_>>()?;
    Ok(Source { name, format: "gltf", motions, warnings })
}

/// The rest poses of a file without animations, as clips of one frame.
fn rest_pose_clips(file: &gltf::GltfFile, path: &Path, warnings: &mut Vec<Warning>) -> CliResult<Vec<Clip>> {
    let failed = |e: &dyn std::fmt::Display| Failure::bad(e.to_string()).in_file(path);
    let (skeletons, _) = file.skeletons().map_err(|e| failed(&e))?;
    if skeletons.is_empty() {
        return Err(Failure::bad("the file holds neither a skeleton nor an animation of one").in_file(path));
    }
    let text = "no animation: this is a rig, shown in its rest pose".to_owned();
    warnings.push(Warning { line: None, text });
    let still = |c: &gltf::GltfSkeleton| Clip::new(&c.name, c.skeleton().clone(), 30.0, &[Pose::rest(c.skeleton())]);
    skeletons.iter().map(still).collect::<Result<_, _>>().map_err(|e| failed(&e))
}

fn from_keys(path: &Path, name: String) -> CliResult<Source> {
    let bytes = read(path)?;
    let text = String::from_utf8(bytes).map_err(|_| Failure::bad("not UTF-8 text").in_file(path))?;
    let clips = read_motion(&text).and_then(|motion| embedded::clips_with(&motion, &Folder { path }));
    let clips = clips.map_err(|e| Failure::from(e.located(&text)).in_file(path))?;
    let motions = clips.into_iter().map(Motion::canonical).collect();
    Ok(Source { name, format: "keys", motions, warnings: Vec::new() })
}

/// Motions and stances in the folder of a keyed motion, and those that come with kumite.
struct Folder<'a> {
    path: &'a Path,
}

impl Folder<'_> {
    fn text(&self, name: &str) -> Option<String> {
        beside(self.path, &format!("{name}.toml")).ok().and_then(|bytes| String::from_utf8(bytes).ok())
    }
}

impl Shelf for Folder<'_> {
    fn motion(&self, name: &str) -> Result<Option<MotionFile>, TextError> {
        let own = self.text(name).map(|text| read_motion(&text));
        own.map_or_else(|| EmbeddedShelf.motion(name), |own| own.map(Some))
    }

    fn stance(&self, name: &str) -> Result<Option<StanceFile>, TextError> {
        let own = self.text(&format!("stances/{name}")).map(|text| read_stance(&text));
        own.map_or_else(|| EmbeddedShelf.stance(name), |own| own.map(Some))
    }
}

/// The clips of a library, including its bridges.
fn from_bundle(path: &Path, name: String) -> CliResult<Source> {
    let library = kumite_asset::read(&read(path)?).map_err(|e| Failure::bad(e.to_string()).in_file(path))?;
    let motions = library.into_clips().into_iter().map(Motion::canonical).collect();
    Ok(Source { name, format: "bundle", motions, warnings: Vec::new() })
}

fn embedded_clips(name: &str, wanted: Option<&str>) -> CliResult<Source> {
    let failed = |(file, e): embedded::FileError| Failure::from(e).in_file(Path::new(&file));
    let mut clips = embedded::clips().map_err(failed)?;
    clips.extend(embedded::walks().map_err(failed)?);
    if let Some(wanted) = wanted {
        only(&mut clips, |clip| &clip.name, wanted)?;
    }
    let motions = clips.into_iter().map(Motion::canonical).collect();
    Ok(Source { name: name.to_owned(), format: BUILT_IN, motions, warnings: Vec::new() })
}

/// Keeps what has this name; there must be something.
fn only<T>(all: &mut Vec<T>, name: impl Fn(&T) -> &String, wanted: &str) -> CliResult<()> {
    if !all.iter().any(|one| name(one) == wanted) {
        let names = all.iter().map(|one| name(one).as_str());
        return Err(Failure::unknown(&format!("there is no motion {wanted:?}"), wanted, names));
    }
    all.retain(|one| name(one) == wanted);
    Ok(())
}
