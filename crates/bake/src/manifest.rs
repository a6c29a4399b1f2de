//! Manifests of libraries (`library.toml`): which clips, what part of them, at what true rate, with which labels, thanks to whom.

use std::fmt;

use kumite_motion::{Clip, Direction, Height, Role, Span, SpanKind, Strike, StrikeKind};
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
    /// Whom to thank, a line each.
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
    /// The true frames per second, where the header lies.
    pub fps: Option<f32>,
    /// Which part to take, seconds at the true rate.
    pub trim: Option<[f32; 2]>,
    /// Whether to add the mirror image.
    #[serde(default)]
    pub mirror: bool,
    /// Labels, in seconds of the part taken.
    #[serde(default)]
    pub span: Vec<SpanEntry>,
    /// Frames per second it is resampled to: the library's, put here by [`read`].
    #[serde(skip)]
    pub rate: Option<f32>,
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

/// What is wrong with a manifest.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ManifestError {
    /// One sentence.
    pub message: String,
    /// Where, counted from 1, if it is in the text.
    pub line: Option<usize>,
    /// Which key.
    pub key: Option<String>,
    /// What stands there.
    pub found: Option<String>,
    /// What may stand there.
    pub allowed: Option<String>,
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => write!(f, "{}", self.message),
        }
    }
}

impl std::error::Error for ManifestError {}

/// Letters to change, add or leave out to get from one word to the other (Levenshtein 1966).
fn unlike(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let least = (corner + usize::from(x != *y)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], least);
        }
    }
    row[b.len()]
}

/// The allowed word that is nearly the one found.
fn near<'a>(found: &str, allowed: &'a str) -> Option<&'a str> {
    let words = allowed.split([',', ' ', '`']).filter(|w| w.len() > 1);
    let best = words.min_by_key(|w| unlike(found, w))?;
    (unlike(found, best) <= 2).then_some(best)
}

fn value(key: String, found: impl fmt::Display, allowed: &str) -> ManifestError {
    let found = found.to_string();
    let mut message = format!("{key} is {found}; allowed is {allowed}");
    if let Some(near) = near(&found, allowed) {
        message += &format!(" (is {near} meant?)");
    }
    ManifestError { message, line: None, key: Some(key), found: Some(found), allowed: Some(allowed.to_owned()) }
}

/// Reads a manifest and checks what can be checked without its files.
pub fn read(text: &str) -> Result<Manifest, ManifestError> {
    let mut manifest: Manifest = toml::from_str(text).map_err(|e| ManifestError {
        message: {
            let message = e.message().trim_end().replace('\n', "; ");
            let unknown = message.strip_prefix("unknown field `").and_then(|m| m.split_once('`'));
            match unknown.and_then(|(found, rest)| near(found, rest)) {
                Some(near) => format!("{message} (is {near} meant?)"),
                None => message,
            }
        },
        line: e.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1),
        ..ManifestError::default()
    })?;
    if manifest.clip.is_empty() {
        let message = "a library needs at least one [[clip]]".to_owned();
        return Err(ManifestError { message, key: Some("clip".into()), ..ManifestError::default() });
    }
    if let Some(fps) = manifest.library.fps
        && !(10.0..=240.0).contains(&fps)
    {
        return Err(value("library fps".to_owned(), fps, "10 to 240"));
    }
    for clip in &mut manifest.clip {
        clip.rate = manifest.library.fps;
    }
    for (i, clip) in manifest.clip.iter().enumerate() {
        let key = |name: &str| format!("clip {} ({}) {name}", i + 1, clip.file);
        if let Some(fps) = clip.fps
            && !(1.0..=1000.0).contains(&fps)
        {
            return Err(value(key("fps"), fps, "1 to 1000"));
        }
        if let Some([from, to]) = clip.trim
            && !(from.is_finite() && to.is_finite() && 0.0 <= from && from < to)
        {
            return Err(value(key("trim"), format!("{from} to {to}"), "two times, the second later"));
        }
        for span in &clip.span {
            if SpanKind::from_name(&span.kind).is_none() {
                return Err(value(key("span kind"), &span.kind, &SpanKind::ALL.map(SpanKind::name).join(", ")));
            }
            if let Some(part) = &span.part
                && Role::from_name(part).is_none()
            {
                return Err(value(key("span part"), part, &Role::ALL.map(Role::name).join(", ")));
            }
            for strike in &span.strike {
                check_strike(span, strike, &key)?;
            }
            if !(span.from.is_finite() && span.to.is_finite() && 0.0 <= span.from && span.from < span.to) {
                let found = format!("{} to {}", span.from, span.to);
                return Err(value(key("span"), found, "two times, the second later"));
            }
            if let Some([from, to]) = span.active
                && !(span.from <= from && from <= to && to <= span.to)
            {
                return Err(value(key("span active"), format!("{from} to {to}"), "within the span"));
            }
        }
    }
    Ok(manifest)
}

fn check_strike(span: &SpanEntry, strike: &StrikeEntry, key: &dyn Fn(&str) -> String) -> Result<(), ManifestError> {
    let word = |what: &str, found: &str, known: bool, allowed: &[&str]| {
        if known { Ok(()) } else { Err(value(key(&format!("strike {what}")), found, &allowed.join(", "))) }
    };
    let kinds = StrikeKind::ALL.map(StrikeKind::name);
    word("kind", &strike.kind, kinds.contains(&strike.kind.as_str()), &kinds)?;
    let parts = ["left_wrist", "right_wrist", "left_ankle", "right_ankle", "left_knee", "right_knee"];
    word("part", &strike.part, parts.contains(&strike.part.as_str()), &parts)?;
    if let Some(height) = &strike.height {
        let heights = Height::ALL.map(Height::name);
        word("height", height, heights.contains(&height.as_str()), &heights)?;
    }
    if let Some(direction) = &strike.direction {
        let directions = Direction::ALL.map(Direction::name);
        word("direction", direction, directions.contains(&direction.as_str()), &directions)?;
    }
    let [from, to] = strike.active.unwrap_or([strike.at; 2]);
    if span.kind != "attack" {
        return Err(value(key("strike"), format!("in a span of kind {}", span.kind), "strikes in attacks"));
    }
    let within = |t: f32| (span.from..=span.to).contains(&t);
    if !(within(strike.at) && within(from) && within(to) && from <= to) {
        return Err(value(key("strike"), format!("at {}, active {from} to {to}", strike.at), "within the span"));
    }
    for (what, number) in [("reach", strike.reach), ("speed", strike.speed), ("mass", strike.mass)] {
        if number.is_some_and(|n| !(0.0..=1000.0).contains(&n)) {
            return Err(value(key(&format!("strike {what}")), number.unwrap_or_default(), "0 to 1000"));
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

    /// Puts the labels on the clip, sorted. They must lie in it and must not overlap others of their kind.
    pub fn label(&self, clip: &mut Clip) -> Result<(), ManifestError> {
        let mut spans: Vec<Span> = Vec::with_capacity(self.span.len());
        for entry in &self.span {
            let Some(kind) = SpanKind::from_name(&entry.kind) else { continue };
            if entry.to > clip.seconds() + 1e-3 {
                let allowed = format!("0 to {:.2}, the length of the clip", clip.seconds());
                return Err(value(format!("{} span to", self.file), entry.to, &allowed));
            }
            let mut span = Span::new(kind, &entry.label, entry.from, entry.to);
            span.active = entry.active.map(|[a, b]| (a, b));
            span.part = entry.part.as_deref().and_then(Role::from_name);
            spans.push(span);
        }
        spans.sort_by(|a, b| a.from.total_cmp(&b.from));
        for pair in spans.windows(2) {
            if pair[1].from < pair[0].to {
                let found = format!(
                    "{} from {} and {} from {}",
                    pair[0].kind.name(),
                    pair[0].from,
                    pair[1].kind.name(),
                    pair[1].from
                );
                return Err(value(format!("{} spans", self.file), found, "spans that do not overlap"));
            }
        }
        clip.spans = spans;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str, fragment: &str) {
        let error = read(text).unwrap_err().to_string();
        assert!(error.contains(fragment), "{error}");
    }

    #[test]
    fn the_least_that_must_work() {
        let manifest = read("[library]\nname = \"my fighter\"\n[[clip]]\nfile = \"jab.bvh\"\n").unwrap();
        assert_eq!((manifest.library.name.as_str(), manifest.clip.len()), ("my fighter", 1));
    }

    #[test]
    fn mistakes_get_one_clear_error() {
        let head = "[library]\nname = \"x\"\n[[clip]]\nfile = \"a.bvh\"\n";
        refused("[library]\nname = \"x\"\n", "at least one [[clip]]");
        refused(&format!("{head}fsp = 60\n"), "line 5: unknown field `fsp`");
        refused(&format!("{head}fps = 0\n"), "1 to 1000");
        refused(&head.replace("[[clip]]", "fps = 5\n[[clip]]"), "10 to 240");
        refused(&format!("{head}trim = [3, 1]\n"), "the second later");
        let span = |rest: &str| format!("{head}[[clip.span]]\nkind = \"avoid\"\n{rest}");
        refused(&span("from = 2\nto = 1\n"), "2 to 1");
        refused(&span("from = 0\nto = 1\nactive = [0.5, 2]\n"), "within the span");
        refused(&span("from = 0\nto = 1\npart = \"fist\"\n"), "left_wrist");
        refused(&format!("{head}[[clip.span]]\nkind = \"dodge\"\nfrom = 0\nto = 1\n"), "attack, avoid");
        refused(&format!("{head}[[clip.span]]\nkind = \"atack\"\nfrom = 0\nto = 1\n"), "is attack meant?");
        refused(&format!("{head}fsp = 60\n"), "is fps meant?");
        let strike = |rest: &str| {
            let span = "[[clip.span]]\nkind = \"attack\"\nfrom = 0\nto = 1\n[[clip.span.strike]]\n";
            format!("{head}{span}part = \"left_wrist\"\n{rest}")
        };
        refused(&strike("kind = \"hok\"\nat = 0.5\n"), "is hook meant?");
        refused(&strike("kind = \"hook\"\nat = 2\n"), "within the span");
        refused(&strike("kind = \"hook\"\nat = 0.5\nheight = \"head\"\n"), "low, middle, high");
        refused(
            &span("from = 0\nto = 1\n[[clip.span.strike]]\nkind = \"hook\"\npart = \"left_wrist\"\nat = 0.5\n"),
            "in attacks",
        );
    }
}
