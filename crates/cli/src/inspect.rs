//! `kumite inspect`: shows what a file holds and what the importer concludes from it.

use std::fmt::Write as _;

use kumite_bake::Understanding;
use kumite_bake::understand::missing_roles;
use kumite_motion::hands::{self, HandShape};
use kumite_motion::{Role, Roles, Side, Skeleton, Span};
use serde_json::{Map, Value, json};

use crate::args::InspectArgs;
use crate::failure::CliResult;
use crate::source::{self, Motion, Source};
use crate::{Progress, Report, judged, rigs, role_flags};

pub(crate) fn run(args: &InspectArgs, progress: &Progress) -> CliResult<Report> {
    let roles = role_flags::written(&role_flags::parsed(&args.role, &[])?);
    let bar = progress.bar(args.files.len(), "reading");
    let (mut text, mut files) = (String::new(), Vec::new());
    for path in &args.files {
        let source = source::load_known(path, source::Known { fps: None, roles: &roles })?;
        describe(&source, &mut text);
        files.push(to_json(&source));
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Report { text, json: json!({"files": files}) })
}

fn describe(source: &Source, text: &mut String) {
    let _ = writeln!(text, "{}", source.name);
    for motion in &source.motions {
        let clip = &motion.raw;
        let joints = clip.skeleton().len();
        if source.motions.len() > 1 {
            let _ = writeln!(text, "  {}", clip.name);
        }
        let _ = writeln!(
            text,
            "    {}, {joints} joint{}, {} frame{} at {} fps, {:.2} s",
            source.format,
            plural(joints),
            clip.frames(),
            plural(clip.frames()),
            rounded(clip.fps()),
            clip.seconds()
        );
        if let Some(u) = &motion.understanding {
            findings(u, text);
            named_roles(&u.roles.value, clip.skeleton(), text);
        } else if motion.roles().is_none() {
            let _ = writeln!(text, "    not a person: no two legs and two arms were found in its joints");
        }
        for span in &clip.spans {
            let _ = write!(text, "    {:<7} {:.2} to {:.2} s  {}", span.kind.name(), span.from, span.to, span.label);
            if let Some((from, to)) = span.active {
                let _ = write!(text, "  (active {from:.2} to {to:.2})");
            }
            text.push('\n');
        }
        if source.format == "keys" {
            let faults = judged::faults_of_keyed(clip);
            let verdict = if faults.is_empty() { "a person could do this" } else { "no person does this" };
            let _ = writeln!(text, "    judge    {verdict}");
            for fault in faults {
                let _ = writeln!(text, "        {fault}");
            }
        }
    }
    for warning in warnings(source) {
        let _ = writeln!(text, "    warning: {warning}");
    }
}

/// Writes each finding on a line, with its confidence.
fn findings(u: &Understanding, text: &mut String) {
    let mut line = |what: &str, value: String, confidence: f32, why: &str| {
        let _ = writeln!(text, "    {what:<8} {value:<22} {:>3.0} %  {why}", confidence * 100.0);
    };
    let count = u.roles.value.iter().count();
    line("roles", format!("{count} of {}", Role::ALL.len()), u.roles.confidence, &u.roles.why);
    line("up", format!("+{}", u.up.value.name().to_uppercase()), u.up.confidence, &u.up.why);
    line("unit", format!("{} m", trimmed(u.unit_m.value)), u.unit_m.confidence, &u.unit_m.why);
    line("facing", format!("{:.0} degrees", u.facing.value.to_degrees()), u.facing.confidence, &u.facing.why);
    line("rate", format!("{} fps", rounded(u.fps.value)), u.fps.confidence, &u.fps.why);
    if let Some(slide) = u.slide_m_s {
        line("feet", format!("slide {:.1} cm/s", slide * 100.0), 1.0, "mean while planted, in the source itself");
    }
}

/// Which joint plays which role, a line for each part of the body.
fn named_roles(roles: &Roles, skeleton: &Skeleton, text: &mut String) {
    for (side, part) in [(Side::Middle, "trunk"), (Side::Left, "left"), (Side::Right, "right")] {
        let short = |role: Role| role.name().trim_start_matches("left_").trim_start_matches("right_");
        let one = |role: Role| match roles.get(role) {
            Some(joint) => format!("{} {}", short(role), skeleton.name(joint)),
            None => format!("{} -", short(role)),
        };
        let all: Vec<String> = Role::ALL.into_iter().filter(|r| r.side() == side).map(one).collect();
        let _ = writeln!(text, "      {part:<6} {}", all.join(", "));
    }
}

fn trimmed(v: f32) -> String {
    format!("{v:.6}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Warnings of the file's reader, and findings that contradict the file or are unsure.
pub(crate) fn warnings(source: &Source) -> Vec<String> {
    let mut warnings: Vec<String> = source.warnings.iter().map(ToString::to_string).collect();
    for (motion, u) in source.motions.iter().filter_map(|m| Some((m, m.understanding.as_ref()?))) {
        let left_out = motion.raw.frames().saturating_sub(u.clip.frames());
        warnings.extend(u.bind_pose.iter().map(|b| format!("{}; pictures and retargeting leave it out", b.why)));
        let header = u.clip.fps();
        if (u.fps.value - header).abs() > 0.5 {
            let (is, verb) = (rounded(u.fps.value), if u.fps.sure() { "is" } else { "may be" });
            let text = format!(
                "the header says {} fps, but the true rate {verb} {is} ({}): `--source-fps {is}` corrects it",
                rounded(header),
                u.fps.why
            );
            warnings.push(text);
        }
        if !u.glitches.is_empty() {
            let worst = u.glitches.iter().max_by(|a, b| a.speed_deg.total_cmp(&b.speed_deg));
            let at = worst.map_or(String::new(), |g| {
                let joint = u.clip.skeleton().name(g.joint);
                // Frame numbers of the file, in which the bind pose counts.
                let frame = g.frame.0 + left_out as u32;
                format!("; the worst is {joint} in frame {frame}, {:.0} degrees a second", g.speed_deg)
            });
            warnings.push(format!("{} glitches: joints that turn faster than a person can{at}", u.glitches.len()));
        }
        if let Some(missing) = missing_roles(&u.roles.value) {
            warnings.push(rigs::no_joints(&missing));
        }
        if !u.unit_m.sure() {
            warnings.push(format!("the unit is a guess: {}", u.unit_m.why));
        }
        if !u.up.sure() {
            warnings.push(format!("which way is up is a guess: {}", u.up.why));
        }
    }
    warnings
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A rate rounded to three decimals, to hide float noise.
pub(crate) fn rounded(fps: f32) -> f64 {
    (f64::from(fps) * 1000.0).round() / 1000.0
}

fn seconds(v: f32) -> f64 {
    (f64::from(v) * 10_000.0).round() / 10_000.0
}

fn span_json(span: &Span) -> Value {
    let mut value = json!({
        "kind": span.kind.name(), "label": span.label, "from": seconds(span.from), "to": seconds(span.to),
    });
    if let Some((from, to)) = span.active {
        value["active"] = json!([seconds(from), seconds(to)]);
    }
    if let Some(part) = span.part {
        value["part"] = json!(part.name());
    }
    value
}

fn found(confidence: f32, why: &str) -> Value {
    json!({"confidence": seconds(confidence), "why": why})
}

/// One clip: what it holds, and what was found out about it.
fn clip_json(motion: &Motion) -> Map<String, Value> {
    let clip = &motion.raw;
    let mut value = Map::new();
    let mut set = |key: &str, v: Value| {
        value.insert(key.to_owned(), v);
    };
    set("name", json!(clip.name));
    set("joints", json!(clip.skeleton().len()));
    set("frames", json!(clip.frames()));
    set("fps", json!(rounded(clip.fps())));
    set("seconds", json!(seconds(clip.seconds())));
    let name = |(role, joint): (Role, _)| (role.name().to_owned(), json!(clip.skeleton().name(joint)));
    set("roles", Value::Object(motion.roles().iter().flat_map(|r| r.iter().map(name).collect::<Vec<_>>()).collect()));
    let missing = |role: &Role| motion.roles().is_some_and(|roles| roles.get(*role).is_none());
    set("missing_roles", Role::ALL.into_iter().filter(missing).map(|role| json!(role.name())).collect());
    if let Some(u) = &motion.understanding {
        set("up", json!(u.up.value.name()));
        set("unit_m", json!(u.unit_m.value));
        set("height_m", json!(seconds(u.height_m)));
        set("facing_deg", json!(seconds(u.facing.value.to_degrees())));
        set("true_fps", json!(rounded(u.fps.value)));
        set("glitches", json!(u.glitches.len()));
        set("foot_slide_cm_s", json!(u.slide_m_s.map(|s| seconds(s * 100.0))));
        let mut findings = json!({
            "roles": found(u.roles.confidence, &u.roles.why),
            "up": found(u.up.confidence, &u.up.why),
            "unit_m": found(u.unit_m.confidence, &u.unit_m.why),
            "facing_deg": found(u.facing.confidence, &u.facing.why),
            "true_fps": found(u.fps.confidence, &u.fps.why),
        });
        if let Some(bind) = &u.bind_pose {
            findings["bind_pose"] = found(bind.confidence, &bind.why);
        }
        set("bind_pose", json!(u.bind_pose.is_some()));
        set("findings", findings);
    } else if motion.roles().is_some() {
        set("up", json!("y"));
        set("unit_m", json!(1.0));
        set("height_m", json!(seconds(kumite_motion::humanoid::HEIGHT)));
    }
    let shapes = motion.roles().map(|roles| hands::of_clip(clip, &roles)).unwrap_or_default();
    let with_hands = |span: &Span| {
        let mut value = span_json(span);
        // When it counts, or half-way.
        let (from, to) = span.active.unwrap_or((span.from, span.to));
        if let Some(held) = shapes.get((0.5 * (from + to) * clip.fps()) as usize) {
            value["hands"] = json!(held.map(HandShape::name));
        }
        value
    };
    set("spans", clip.spans.iter().map(with_hands).collect());
    value
}

/// The file with all its clips; if there is only one, its fields are also given for the file itself.
fn to_json(source: &Source) -> Value {
    let clips: Vec<Map<String, Value>> = source.motions.iter().map(clip_json).collect();
    let mut value = Map::new();
    value.insert("file".to_owned(), json!(source.name));
    value.insert("format".to_owned(), json!(source.format));
    if let [clip] = &clips[..] {
        value.extend(
            clip.iter().filter(|(key, _)| *key != "name" && *key != "spans").map(|(k, v)| (k.clone(), v.clone())),
        );
    }
    value.insert("clips".to_owned(), json!(clips));
    value.insert("warnings".to_owned(), json!(warnings(source)));
    Value::Object(value)
}
