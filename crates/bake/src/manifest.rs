//! Manifests of libraries (`library.toml`): which clips, what part of them, at what true rate, with which labels and credits.

use std::collections::BTreeMap;

use kumite_motion::{Clip, Direction, Height, Role, Span, SpanKind, Strike, StrikeKind};
use kumite_text::{Lines, TextError};
use serde::Deserialize;

use crate::analyse::{Model, analyse};

/// A manifest as people write it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// About all of it.
    pub library: Header,
    /// The clips, in order.
    #[serde(default)]
    pub clip: Vec<ClipEntry>,
}

/// About the whole library.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// For people.
    pub name: String,
    /// Credits, one line each.
    #[serde(default)]
    pub attribution: Vec<String>,
    /// Frames per second of the library; [`FPS`](crate::prepare::FPS) if left out.
    pub fps: Option<f32>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClipEntry {
    /// Absolute, or relative to the manifest or to `--data`.
    pub file: String,
    /// What the clip is called; the file's name without its ending if left out.
    pub name: Option<String>,
    /// The true frames per second, where the file's header is wrong.
    pub fps: Option<f32>,
    /// Which part to take, seconds at the true rate.
    pub trim: Option<[f32; 2]>,
    /// Whether to add the mirror image.
    #[serde(default)]
    pub mirror: bool,
    /// Whether it is for walking to goals only, and not in the graph that fighters play.
    #[serde(default)]
    pub walk_only: bool,
    /// Joints by the role they play, where the importer takes another or finds none; an empty name opens a role.
    #[serde(default)]
    pub roles: BTreeMap<String, String>,
    /// Labels, in seconds of the part taken; those found in the motion if left out.
    #[serde(default)]
    pub span: Vec<SpanEntry>,
    /// Whether it stays without labels if none are written.
    #[serde(default)]
    pub unlabelled: bool,
    /// Frames per second it is resampled to: the library's, put here by [`read`].
    #[serde(skip)]
    pub rate: Option<f32>,
    /// Its place in the manifest, for errors; put here by [`read`].
    #[serde(skip)]
    path: String,
    /// The line that names its file; put here by [`read`].
    #[serde(skip)]
    pub line: Option<usize>,
}

/// One label.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpanEntry {
    /// attack, avoid, block, step, turn, walk, run, idle, react, down or up.
    pub kind: String,
    /// More exactly.
    #[serde(default)]
    pub label: String,
    /// Start.
    pub from: f32,
    /// End.
    pub to: f32,
    /// When it counts.
    pub active: Option<[f32; 2]>,
    /// Striking or guarding part, by its canonical joint name.
    pub part: Option<String>,
    /// The blows of an attack; those found in the motion if left out.
    #[serde(default)]
    pub strike: Vec<StrikeEntry>,
    /// Its place in the manifest, for errors; put here by [`read`].
    #[serde(skip)]
    line: Option<usize>,
}

/// One blow. What is left out is measured.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StrikeEntry {
    /// straight, hook, uppercut, backfist, front, round, side or knee.
    pub kind: String,
    /// With what, by its canonical joint name.
    pub part: String,
    /// When it is fastest.
    pub at: f32,
    /// When it is dangerous.
    pub active: Option<[f32; 2]>,
    /// low, middle or high.
    pub height: Option<String>,
    /// left, right, middle or upwards.
    pub direction: Option<String>,
    /// Metres from the pelvis along the ground.
    pub reach: Option<f32>,
    /// Metres per second.
    pub speed: Option<f32>,
    /// Kilograms.
    pub mass: Option<f32>,
}

/// Reads a manifest and checks what can be checked without its files.
pub fn read(text: &str) -> Result<Manifest, TextError> {
    let mut manifest: Manifest = kumite_text::read(text)?;
    check(&manifest).map_err(|e| e.located(text))?;
    let lines = Lines::of(text);
    for (c, clip) in manifest.clip.iter_mut().enumerate() {
        clip.rate = manifest.library.fps;
        clip.path = format!("clip.{c}");
        clip.line = lines.find(&format!("clip.{c}.file"));
        for (s, span) in clip.span.iter_mut().enumerate() {
            span.line = lines.find(&format!("clip.{c}.span.{s}"));
        }
    }
    Ok(manifest)
}

fn check(manifest: &Manifest) -> Result<(), TextError> {
    if manifest.clip.is_empty() {
        return Err(TextError::new("clip", "a library needs at least one [[clip]]"));
    }
    if let Some(fps) = manifest.library.fps
        && !(10.0..=240.0).contains(&fps)
    {
        return Err(TextError::value("library.fps", fps, "10 to 240"));
    }
    for (c, clip) in manifest.clip.iter().enumerate() {
        let path = |name: &str| format!("clip.{c}.{name}");
        if let Some(fps) = clip.fps
            && !(1.0..=1000.0).contains(&fps)
        {
            return Err(TextError::value(&path("fps"), fps, "1 to 1000"));
        }
        if let Some([from, to]) = clip.trim
            && !(from.is_finite() && to.is_finite() && 0.0 <= from && from < to)
        {
            return Err(TextError::value(&path("trim"), format!("{from} to {to}"), LATER));
        }
        if let Some(role) = clip.roles.keys().find(|role| Role::from_name(role).is_none()) {
            return Err(TextError::value(&path("roles"), role, &Role::ALL.map(Role::name).join(", ")));
        }
        for (s, span) in clip.span.iter().enumerate() {
            check_span(span, &path(&format!("span.{s}")))?;
        }
    }
    Ok(())
}

const LATER: &str = "two times, the second later";

fn check_span(span: &SpanEntry, at: &str) -> Result<(), TextError> {
    if SpanKind::from_name(&span.kind).is_none() {
        let kinds = SpanKind::ALL.map(SpanKind::name).join(", ");
        return Err(TextError::value(&format!("{at}.kind"), &span.kind, &kinds));
    }
    if let Some(part) = &span.part
        && Role::from_name(part).is_none()
    {
        return Err(TextError::value(&format!("{at}.part"), part, &Role::ALL.map(Role::name).join(", ")));
    }
    for (i, strike) in span.strike.iter().enumerate() {
        check_strike(span, strike, &format!("{at}.strike.{i}"))?;
    }
    if !(span.from.is_finite() && span.to.is_finite() && 0.0 <= span.from && span.from < span.to) {
        return Err(TextError::value(&format!("{at}.to"), format!("{} to {}", span.from, span.to), LATER));
    }
    if let Some([from, to]) = span.active
        && !(span.from <= from && from <= to && to <= span.to)
    {
        return Err(TextError::value(&format!("{at}.active"), format!("{from} to {to}"), "within the span"));
    }
    Ok(())
}

fn check_strike(span: &SpanEntry, strike: &StrikeEntry, at: &str) -> Result<(), TextError> {
    let word = |key: &str, found: &str, allowed: &[&str]| {
        let known = allowed.contains(&found);
        if known { Ok(()) } else { Err(TextError::value(&format!("{at}.{key}"), found, &allowed.join(", "))) }
    };
    word("kind", &strike.kind, &StrikeKind::ALL.map(StrikeKind::name))?;
    let parts = ["left_wrist", "right_wrist", "left_ankle", "right_ankle", "left_knee", "right_knee"];
    word("part", &strike.part, &parts)?;
    if let Some(height) = &strike.height {
        word("height", height, &Height::ALL.map(Height::name))?;
    }
    if let Some(direction) = &strike.direction {
        word("direction", direction, &Direction::ALL.map(Direction::name))?;
    }
    if span.kind != "attack" {
        let found = format!("in a span of kind {}", span.kind);
        return Err(TextError::value(at, found, "strikes in attacks"));
    }
    let [from, to] = strike.active.unwrap_or([strike.at; 2]);
    let within = |t: f32| (span.from..=span.to).contains(&t);
    if !(within(strike.at) && within(from) && within(to) && from <= to) {
        let found = format!("at {}, active {from} to {to}", strike.at);
        return Err(TextError::value(&format!("{at}.at"), found, "within the span"));
    }
    for (key, number) in [("reach", strike.reach), ("speed", strike.speed), ("mass", strike.mass)] {
        if let Some(number) = number.filter(|n| !(0.0..=1000.0).contains(n)) {
            return Err(TextError::value(&format!("{at}.{key}"), number, "0 to 1000"));
        }
    }
    Ok(())
}

/// An arm's length of the canonical body, metres; longer strikes are long.
const ARM: f32 = 0.53;

impl StrikeEntry {
    /// As written, and where nothing is written as the nearest found strike of the part was measured.
    fn strike(&self, found: &[Strike]) -> Option<Strike> {
        let (kind, part) = (StrikeKind::from_name(&self.kind)?, Role::from_name(&self.part)?);
        let nearest = found
            .iter()
            .filter(|s| s.part == part)
            .min_by(|a, b| (a.at - self.at).abs().total_cmp(&(b.at - self.at).abs()))
            .copied();
        let unknown = Strike {
            kind,
            part,
            at: self.at,
            active: (self.at, self.at),
            height: Height::Middle,
            direction: Direction::Middle,
            reach: ARM,
            long: false,
            speed: 0.0,
            mass: 0.0,
        };
        let measured = nearest.unwrap_or(unknown);
        let reach = self.reach.unwrap_or(measured.reach);
        Some(Strike {
            kind,
            part,
            at: self.at,
            active: self.active.map_or(measured.active, |[a, b]| (a, b)),
            height: self.height.as_deref().and_then(Height::from_name).unwrap_or(measured.height),
            direction: self.direction.as_deref().and_then(Direction::from_name).unwrap_or(measured.direction),
            reach,
            long: if self.reach.is_some() { reach > ARM } else { measured.long },
            speed: self.speed.unwrap_or(measured.speed),
            mass: self.mass.unwrap_or(measured.mass),
        })
    }
}

impl ClipEntry {
    /// A whole file, labelled by what happens in it.
    pub fn of_file(file: &str) -> ClipEntry {
        ClipEntry {
            file: file.to_owned(),
            name: None,
            fps: None,
            trim: None,
            mirror: false,
            walk_only: false,
            roles: BTreeMap::new(),
            span: Vec::new(),
            unlabelled: false,
            rate: None,
            path: String::new(),
            line: None,
        }
    }

    /// Puts the blows on the attacks of a labelled clip: those written, or those found in the motion.
    pub fn strike(&self, clip: &mut Clip) {
        if !clip.spans.iter().any(|s| s.kind == SpanKind::Attack) {
            return;
        }
        let analysis = analyse(clip, &Model::default());
        let all: Vec<Strike> = analysis.actions.iter().flat_map(|a| a.strikes.iter().copied()).collect();
        for span in clip.spans.iter_mut().filter(|s| s.kind == SpanKind::Attack) {
            let found: Vec<Strike> = all.iter().filter(|s| (span.from..=span.to).contains(&s.at)).copied().collect();
            let entry = self.span.iter().find(|e| e.from == span.from && e.kind == span.kind.name());
            span.strikes = match entry {
                Some(entry) if !entry.strike.is_empty() => {
                    entry.strike.iter().filter_map(|s| s.strike(&found)).collect()
                }
                _ => found,
            };
            span.strikes.sort_by(|a, b| a.at.total_cmp(&b.at));
        }
    }

    /// Puts the labels on the clip, sorted: those written, which must lie within it and must not overlap, or those found in the motion.
    pub fn label(&self, clip: &mut Clip) -> Result<(), TextError> {
        if self.span.is_empty() && !self.unlabelled {
            clip.spans = analyse(clip, &Model::default()).spans();
            return Ok(());
        }
        let mut spans: Vec<(Option<usize>, Span)> = Vec::with_capacity(self.span.len());
        for (s, entry) in self.span.iter().enumerate() {
            let Some(kind) = SpanKind::from_name(&entry.kind) else { continue };
            if entry.to > clip.seconds() + 1e-3 {
                let allowed = format!("0 to {:.2}, the length of the clip", clip.seconds());
                let error = TextError::value(&format!("{}.span.{s}.to", self.path), entry.to, &allowed);
                return Err(error.at_line(entry.line));
            }
            let mut span = Span::new(kind, &entry.label, entry.from, entry.to);
            span.active = entry.active.map(|[a, b]| (a, b));
            span.part = entry.part.as_deref().and_then(Role::from_name);
            spans.push((entry.line, span));
        }
        spans.sort_by(|a, b| a.1.from.total_cmp(&b.1.from));
        for ((_, before), (line, after)) in spans.iter().zip(&spans[1.min(spans.len())..]) {
            if after.from < before.to {
                let of = |span: &Span| format!("{} from {}", span.kind.name(), span.from);
                let found = format!("{} and {}", of(before), of(after));
                let error = TextError::value(&format!("{}.span", self.path), found, "spans that do not overlap");
                return Err(error.at_line(*line));
            }
        }
        clip.spans = spans.into_iter().map(|(_, span)| span).collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_that_must_work() {
        let manifest = read("[library]\nname = \"my fighter\"\n[[clip]]\nfile = \"jab.bvh\"\n").unwrap();
        assert_eq!((manifest.library.name.as_str(), manifest.clip.len()), ("my fighter", 1));
    }

    #[test]
    fn mistakes_name_line_and_key() {
        const HEAD: &str = "[library]\nname = \"x\"\n[[clip]]\nfile = \"a.bvh\"\n";
        const AVOID: &str = "[[clip.span]]\nkind = \"avoid\"\n";
        const STRIKE: &str =
            "[[clip.span]]\nkind = \"attack\"\nfrom = 0\nto = 1\n[[clip.span.strike]]\npart = \"left_wrist\"\n";
        const HOOK: &str = "[[clip.span.strike]]\nkind = \"hook\"\npart = \"left_wrist\"\nat = 0.5\n";
        for (text, line, key, message) in [
            ("[library]\nname = \"x\"\n".to_owned(), None, "clip", "at least one [[clip]]"),
            (format!("{HEAD}fsp = 60\n"), Some(5), "clip 1 fsp", "did you mean fps?"),
            (format!("{HEAD}fps = 0\n"), Some(5), "clip 1 fps", "is 0; allowed is 1 to 1000"),
            (HEAD.replace("[[clip]]", "fps = 5\n[[clip]]"), Some(3), "library fps", "10 to 240"),
            (format!("{HEAD}roles = {{ haed = \"Bone\" }}\n"), Some(5), "clip 1 roles", "did you mean head?"),
            (format!("{HEAD}trim = [3, 1]\n"), Some(5), "clip 1 trim", "the second later"),
            (format!("{HEAD}{AVOID}from = 2\nto = 1\n"), Some(8), "clip 1 span 1 to", "2 to 1"),
            (
                format!("{HEAD}{AVOID}from = 0\nto = 1\nactive = [0.5, 2]\n"),
                Some(9),
                "clip 1 span 1 active",
                "within the span",
            ),
            (format!("{HEAD}{AVOID}from = 0\nto = 1\npart = \"fist\"\n"), Some(9), "clip 1 span 1 part", "left_wrist"),
            (
                format!("{HEAD}[[clip.span]]\nkind = \"dodge\"\nfrom = 0\nto = 1\n"),
                Some(6),
                "clip 1 span 1 kind",
                "attack, avoid",
            ),
            (
                format!("{HEAD}[[clip.span]]\nkind = \"atack\"\nfrom = 0\nto = 1\n"),
                Some(6),
                "clip 1 span 1 kind",
                "did you mean attack?",
            ),
            (
                format!("{HEAD}{STRIKE}kind = \"hok\"\nat = 0.5\n"),
                Some(11),
                "clip 1 span 1 strike 1 kind",
                "did you mean hook?",
            ),
            (
                format!("{HEAD}{STRIKE}kind = \"hook\"\nat = 2\n"),
                Some(12),
                "clip 1 span 1 strike 1 at",
                "within the span",
            ),
            (
                format!("{HEAD}{STRIKE}kind = \"hook\"\nat = 0.5\nheight = \"head\"\n"),
                Some(13),
                "clip 1 span 1 strike 1 height",
                "low, middle, high",
            ),
            (format!("{HEAD}{AVOID}from = 0\nto = 1\n{HOOK}"), Some(9), "clip 1 span 1 strike 1", "in attacks"),
        ] {
            let error = read(&text).unwrap_err();
            assert_eq!((error.line, error.key.as_deref()), (line, Some(key)), "{error}");
            assert!(error.message.contains(message), "{error}");
        }
    }

    #[test]
    fn labels_that_do_not_fit_their_clip_name_their_line() {
        let skeleton = std::sync::Arc::new(kumite_motion::humanoid::skeleton());
        let mut clip = Clip::from_fn("still", skeleton, 30.0, 31, |_, _| {}).unwrap();
        let text = "[library]\nname = \"x\"\n[[clip]]\nfile = \"a.bvh\"\n[[clip.span]]\nkind = \"walk\"\nfrom = 0\nto = 0.6\n[[clip.span]]\nkind = \"idle\"\nfrom = 0.5\nto = 0.9\n";
        let overlap = read(text).unwrap().clip[0].label(&mut clip).unwrap_err();
        assert_eq!((overlap.line, overlap.key.as_deref()), (Some(9), Some("clip 1 span")), "{overlap}");
        let late = read(&text.replace("0.9", "9")).unwrap().clip[0].label(&mut clip).unwrap_err();
        assert_eq!((late.line, late.key.as_deref()), (Some(9), Some("clip 1 span 2 to")), "{late}");
    }
}
