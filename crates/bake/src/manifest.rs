//! Manifests of libraries (`library.toml`): which clips, what part of them, at what true rate, with which labels, thanks to whom.

use std::fmt;

use kumite_motion::{Clip, Role, Span, SpanKind};
use serde::Deserialize;

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

fn value(key: String, found: impl fmt::Display, allowed: &str) -> ManifestError {
    let found = found.to_string();
    let message = format!("{key} is {found}; allowed is {allowed}");
    ManifestError { message, line: None, key: Some(key), found: Some(found), allowed: Some(allowed.to_owned()) }
}

/// Reads a manifest and checks what can be checked without its files.
pub fn read(text: &str) -> Result<Manifest, ManifestError> {
    let mut manifest: Manifest = toml::from_str(text).map_err(|e| ManifestError {
        message: e.message().trim_end().replace('\n', "; "),
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

impl ClipEntry {
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
    }
}
