//! Manifests as text to edit.

use std::fmt::Write as _;

use kumite_bake::analyse::{Model, analyse};
use kumite_bake::manifest::{ClipEntry, Header};
use kumite_motion::{Clip, Span};

use crate::bake::Gathered;

/// What was gathered, with what was decided about it: rates as they are taken, labels as they were found.
pub(crate) fn whole(gathered: &Gathered) -> String {
    let mut text = String::new();
    for line in &gathered.decided {
        let _ = writeln!(text, "# {line}");
    }
    text += &header(&gathered.manifest.library);
    for (entry, clips) in gathered.manifest.clip.iter().zip(&gathered.clips) {
        // Mirror images are made from the labels of the original.
        let Some(clip) = clips.first() else { continue };
        // Labels that were written are known; those that were found are as sure as the analysis was.
        text += &entry_text(entry, &[], &sure_spans(entry, clip));
    }
    text
}

fn sure_spans(entry: &ClipEntry, clip: &Clip) -> Vec<(Span, f32)> {
    if entry.span.is_empty() && !entry.unlabelled {
        analyse(clip, &Model::default()).sure_spans()
    } else {
        clip.spans.iter().map(|span| (span.clone(), 1.0)).collect()
    }
}

/// How many labels should be looked at.
pub(crate) fn to_check(gathered: &Gathered) -> usize {
    let entries = gathered.manifest.clip.iter().zip(&gathered.clips);
    let unsure = |(entry, clips): (&ClipEntry, &Vec<Clip>)| {
        clips.first().map_or(0, |clip| sure_spans(entry, clip).iter().filter(|s| s.1 < CHECK).count())
    };
    entries.map(unsure).sum()
}

/// Writes a text as a TOML string.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

pub(crate) fn header(header: &Header) -> String {
    let mut text = format!("[library]\nname = {}\n", quoted(&header.name));
    if let Some(fps) = header.fps {
        let _ = writeln!(text, "fps = {fps}");
    }
    if !header.attribution.is_empty() {
        text += "attribution = [\n";
        for line in &header.attribution {
            let _ = writeln!(text, "    {},", quoted(line));
        }
        text += "]\n";
    }
    text
}

pub(crate) fn entry_text(entry: &ClipEntry, rests: &[(f32, f32)], spans: &[(Span, f32)]) -> String {
    let mut text = format!("\n[[clip]]\nfile = {}\n", quoted(&entry.file));
    if let Some(name) = &entry.name {
        let _ = writeln!(text, "name = {}", quoted(name));
    }
    if let Some(fps) = entry.fps {
        let _ = writeln!(text, "fps = {fps}");
    }
    if let Some([from, to]) = entry.trim {
        let _ = writeln!(text, "trim = [{from}, {to}]");
    }
    if entry.mirror {
        text += "mirror = true\n";
    }
    if entry.walk_only {
        text += "walk_only = true\n";
    }
    if !entry.roles.is_empty() {
        let roles: Vec<String> =
            entry.roles.iter().map(|(role, joint)| format!("{role} = {}", quoted(joint))).collect();
        let _ = writeln!(text, "roles = {{ {} }}", roles.join(", "));
    }
    let rests: Vec<String> = rests.iter().map(|(a, b)| format!("{a:.2}-{b:.2}")).collect();
    if !rests.is_empty() {
        let _ = writeln!(text, "# rests at {}", rests.join(", "));
    }
    if entry.span.is_empty() && spans.is_empty() {
        text += "unlabelled = true\n";
    } else if entry.span.is_empty() {
        text += "# the labels were found in the motion; those to check say so\n";
    }
    for (span, sure) in spans {
        text += &span_text(span, *sure);
    }
    text
}

/// The shortest text that reads as the same number, with a point.
fn number(value: f32) -> String {
    format!("{value:?}")
}

/// A label less sure than this should be looked at.
pub(crate) const CHECK: f32 = 0.85;

fn span_text(span: &Span, sure: f32) -> String {
    let percent = 100.0 * sure;
    let note = match sure {
        1.0.. => String::new(),
        CHECK.. => format!("    # {percent:.0} %"),
        _ => format!("    # check: {percent:.0} %"),
    };
    let mut text = format!("\n[[clip.span]]\nkind = {}{note}\n", quoted(span.kind.name()));
    if !span.label.is_empty() {
        let _ = writeln!(text, "label = {}", quoted(&span.label));
    }
    // As many digits as it takes to read the same numbers back: what is baked from this text is the same to the last bit.
    let (from, to) = (span.from, span.to);
    let within = |t: f32| number(t.clamp(from, to));
    let _ = writeln!(text, "from = {}\nto = {}", number(from), number(to));
    if let Some((a, b)) = span.active {
        let _ = writeln!(text, "active = [{}, {}]", within(a), within(b));
    }
    if let Some(part) = span.part {
        let _ = writeln!(text, "part = {}", quoted(part.name()));
    }
    for s in &span.strikes {
        let _ = writeln!(
            text,
            "\n[[clip.span.strike]]\nkind = {}\npart = {}\nat = {}\nactive = [{}, {}]\nheight = {}\ndirection = {}\n\
             reach = {}    # metres, {}\nspeed = {}    # metres per second\nmass = {}    # kilograms",
            quoted(s.kind.name()),
            quoted(s.part.name()),
            within(s.at),
            within(s.active.0),
            within(s.active.1),
            quoted(s.height.name()),
            quoted(s.direction.name()),
            number(s.reach),
            if s.long { "long" } else { "short" },
            number(s.speed),
            number(s.mass)
        );
    }
    text
}
