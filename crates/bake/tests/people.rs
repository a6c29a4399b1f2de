//! The embedded motions beside people: every active phase within the range of captures of the same action, 25 % to either side.
//!
//! The ranges are in the table of docs/motions.md, so that this fails wherever it is run; where the captures are at hand they are
//! measured again and the table is held to them. `cargo dev motions` writes it.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

mod common;

use std::path::Path;

use common::seen_actions;
use kumite_bake::analyse::Class;
use kumite_bake::judge::{Act, ActionFigures, figures};
use kumite_keying::embedded;
use kumite_motion::fk::Tracks;
use kumite_motion::{Clip, FrameIdx, Role, Side, Span, SpanKind};

/// Captures of the same action.
#[derive(Clone, Copy)]
enum Like {
    /// Captures whose names say what they show; in them all spans of a kind.
    Named(SpanKind, &'static [&'static str]),
    /// What was labelled by eye (tests/truth): blocks of a height, ducks, hooks, straights with the hand of the foot in front or with the other.
    Seen(Sight, &'static [&'static str]),
    /// A moment of a capture that was found by eye later: from when to when, seconds.
    Moment(&'static str, f32, f32),
}
use Like::{Moment, Named, Seen};

#[derive(Clone, Copy, PartialEq)]
enum Sight {
    Straight { leading: bool },
    Hook,
    Duck,
    Block(&'static str),
}

/// How an action is measured.
#[derive(Clone, Copy)]
enum By {
    Strike,
    Dodge,
    Duck,
    Block,
    Step,
}

const DODGES: [Like; 2] = [
    Named(SpanKind::Avoid, &["E19_DodgeLeft", "E20_DodgeRight"]),
    // A slip to the right.
    Moment("13_17", 36.0, 36.65),
];
const SWAYS: [Like; 3] = [
    Moment("13_17", 25.2, 25.95),
    Moment("13_17", 34.95, 35.6),
    // With the feet planted; to the sides.
    Named(SpanKind::Avoid, &["E19_DodgeLeft", "E20_DodgeRight"]),
];
const DUCKS: [Like; 4] = [
    Named(SpanKind::Avoid, &["E21_DuckLeft"]),
    Seen(Sight::Duck, &["13_17", "14_02"]),
    Named(SpanKind::Down, &["77_09"]),
    Moment("76_03", 6.49, 7.4),
];
const JABS: [Like; 2] = [
    Named(SpanKind::Attack, &["E1_JabLeft", "E15_BodyJabRight", "E16_BodyJabLeft"]),
    Seen(Sight::Straight { leading: true }, &["13_17", "14_02"]),
];

const CROSSES: [Like; 2] = [
    Named(SpanKind::Attack, &["E3_CrossLeft", "E4_CrossRight", "E13_BodyCrossLeft"]),
    Seen(Sight::Straight { leading: false }, &["13_17", "14_02"]),
];
const HOOKS: [Like; 2] = [
    Named(SpanKind::Attack, &["E5_HookLeft", "E6_HookRight", "E9_BodyHookLeft"]),
    Seen(Sight::Hook, &["13_17", "14_02"]),
];
const SIDESTEPS: [Like; 1] =
    [Named(SpanKind::Step, &["E9_SideStepLeft", "C24_QuickSidestepLeft", "C25_QuickSidestepRight"])];
const HIGH_BLOCKS: [Like; 2] = [
    Named(SpanKind::Block, &["E11_BlockLeftHigh", "E13_BlockRightHigh", "E17_BlockMiddleHigh"]),
    Seen(Sight::Block("high"), &["144_07"]),
];
const LOW_BLOCKS: [Like; 2] = [
    Named(SpanKind::Block, &["E12_BlockLeftLow", "E15_BlockLeftMiddle", "E18_BlockMiddleLow"]),
    Seen(Sight::Block("low"), &["144_07"]),
];
/// Motions that captures show too, the kind of the span that is measured, how it is measured, and captures of the same action.
const ROWS: &[(&str, SpanKind, By, &[Like])] = &[
    ("jab", SpanKind::Attack, By::Strike, &JABS),
    ("jab-step", SpanKind::Attack, By::Strike, &JABS),
    ("cross", SpanKind::Attack, By::Strike, &CROSSES),
    ("hook", SpanKind::Attack, By::Strike, &HOOKS),
    ("slip-left", SpanKind::Avoid, By::Dodge, &DODGES),
    ("slip-right", SpanKind::Avoid, By::Dodge, &DODGES),
    ("sway-back", SpanKind::Avoid, By::Dodge, &SWAYS),
    ("duck", SpanKind::Avoid, By::Duck, &DUCKS),
    ("bob-and-weave", SpanKind::Avoid, By::Duck, &DUCKS),
    ("sidestep", SpanKind::Avoid, By::Step, &SIDESTEPS),
    ("block-high", SpanKind::Block, By::Block, &HIGH_BLOCKS),
    ("block-low", SpanKind::Block, By::Block, &LOW_BLOCKS),
    ("step-forward", SpanKind::Step, By::Step, &[Named(SpanKind::Step, &["E3_Advance"])]),
    ("step-back", SpanKind::Step, By::Step, &[Named(SpanKind::Step, &["E5_Retreat"])]),
    (
        "step-left",
        SpanKind::Step,
        By::Step,
        &[Named(SpanKind::Step, &["E9_SideStepLeft", "B22_SideStepLeft", "C24_QuickSidestepLeft"])],
    ),
    (
        "step-right",
        SpanKind::Step,
        By::Step,
        // One to the left, because no capture steps to the right in guard.
        &[Named(SpanKind::Step, &["E9_SideStepLeft", "B23_SideStepRight", "C25_QuickSidestepRight"])],
    ),
    ("pivot-left", SpanKind::Turn, By::Step, &[Named(SpanKind::Turn, &["E2_TurnAroundLeft"])]),
    ("pivot-right", SpanKind::Turn, By::Step, &[Named(SpanKind::Turn, &["E1_TurnAroundRight"])]),
    ("guard-to-stand", SpanKind::Step, By::Step, &[Named(SpanKind::Turn, &["D4_ReadyToRelax"])]),
    ("stand-to-guard", SpanKind::Step, By::Step, &[Named(SpanKind::Turn, &["D1_StandToReady"])]),
    (
        "walk",
        SpanKind::Walk,
        By::Step,
        &[Named(SpanKind::Walk, &["B1_StandToWalk", "B2_WalkToStand", "B3_Walk", "02_01", "07_01", "16_15", "69_01"])],
    ),
    ("walk-turn-left", SpanKind::Walk, By::Step, &TURNS),
    ("walk-turn-right", SpanKind::Walk, By::Step, &TURNS),
    ("walk-stop", SpanKind::Walk, By::Step, &[Named(SpanKind::Walk, &["B1_StandToWalk", "B2_WalkToStand", "16_34"])]),
    ("hit-head", SpanKind::React, By::Dodge, &[]),
    ("hit-body", SpanKind::React, By::Dodge, &[]),
    ("rear-hook", SpanKind::Attack, By::Strike, &HOOKS),
    ("body-hook", SpanKind::Attack, By::Strike, &HOOKS),
    ("rear-body-hook", SpanKind::Attack, By::Strike, &HOOKS),
    ("lead-uppercut", SpanKind::Attack, By::Strike, &[Named(SpanKind::Attack, &["E7_UppercutLeft"])]),
    ("body-jab", SpanKind::Attack, By::Strike, &JABS),
    ("body-cross", SpanKind::Attack, By::Strike, &CROSSES),
    ("slip-left-quick", SpanKind::Avoid, By::Dodge, &DODGES),
    ("slip-right-quick", SpanKind::Avoid, By::Dodge, &DODGES),
    ("lean-left", SpanKind::Avoid, By::Dodge, &DODGES),
    ("lean-right", SpanKind::Avoid, By::Dodge, &DODGES),
    ("snap-back", SpanKind::Avoid, By::Dodge, &SWAYS),
    ("squat", SpanKind::Avoid, By::Duck, &DUCKS),
    ("weave-left", SpanKind::Avoid, By::Duck, &DUCKS),
    ("weave-right", SpanKind::Avoid, By::Duck, &DUCKS),
    ("sidestep-right", SpanKind::Avoid, By::Step, &SIDESTEPS),
    ("sidestep-left-quick", SpanKind::Avoid, By::Step, &SIDESTEPS),
    ("sidestep-right-quick", SpanKind::Avoid, By::Step, &SIDESTEPS),
    ("block-high-right", SpanKind::Block, By::Block, &HIGH_BLOCKS),
    ("block-low-right", SpanKind::Block, By::Block, &LOW_BLOCKS),
    ("guard-turn-left-90", SpanKind::Turn, By::Step, &[Named(SpanKind::Turn, &["E2_TurnAroundLeft"])]),
    ("guard-turn-right-90", SpanKind::Turn, By::Step, &[Named(SpanKind::Turn, &["E1_TurnAroundRight"])]),
];
/// What is outside the range all the same, and by which figure: blows and blocks with planted feet where the people in the captures step, quick ones
/// that are quicker, turns that are. The page says so too; whatever gets better has to leave this list.
const OUTSIDE: &[(&str, &str)] = &[
    ("rear-hook", "foot"),
    ("body-hook", "foot"),
    ("rear-body-hook", "foot"),
    ("lead-uppercut", "foot"),
    ("lead-uppercut", "mass"),
    ("body-cross", "foot"),
    ("slip-right-quick", "hand"),
    ("squat", "mass"),
    ("sidestep-right", "hand"),
    ("sidestep-right-quick", "hand"),
    ("block-high-right", "foot"),
    ("block-high-right", "mass"),
    ("block-low-right", "foot"),
    ("block-low-right", "mass"),
    ("guard-turn-left-90", "hand"),
    ("guard-turn-left-90", "foot"),
    ("guard-turn-right-90", "hand"),
    ("guard-turn-right-90", "foot"),
];
/// What no capture shows, or none so that it could be measured in the same way: combinations of blows that have rows of their own, kicks (their figures are
/// of hands), and whatever nobody was captured doing.
const ALONE: &[&str] = &[
    "kick",
    "knee",
    "elbow",
    "backfist",
    "overhand",
    "rear-uppercut",
    "one-two",
    "cross-hook",
    "double-jab",
    "dip",
    "twist",
    "hollow",
    "limbo",
    "pull-back",
    "step-out",
    "hip-sway",
    "leg-pull",
    "hop",
    "jump",
    "skip",
    "middle",
    "parry",
    "cover-up",
    "brush",
    "check",
    "short",
    "step-forward-",
    "step-back-",
    "45",
    "135",
    "180",
    "hit-",
    "stagger",
    "knock-down",
    "lie-",
    "get-up",
];
const TURNS: [Like; 1] =
    [Named(SpanKind::Walk, &["B9_WalkTurnLeft90", "B12_WalkTurnRight90", "16_17", "16_19", "69_20", "69_24"])];

fn measured(clip: &Clip, span: &Span, by: By) -> Vec<ActionFigures> {
    let act = match by {
        By::Strike => {
            let part = span.strikes.first().map_or(span.part, |s| Some(s.part));
            Act::Strike(part.unwrap_or_else(|| panic!("{}: no hand strikes in {}", clip.name, span.label)))
        }
        By::Dodge => Act::Dodge,
        By::Duck => Act::Duck,
        By::Block => Act::Block,
        By::Step => Act::Step,
    };
    figures(clip, span, act)
}

/// Whether the hand is on the side of the foot that is in front, along the direction of the blow.
fn leads(clip: &Clip, wrist: Role, at: f32) -> bool {
    let tracks = Tracks::of(clip);
    let frame = FrameIdx(((at * clip.fps()) as u32).min(clip.frames() as u32 - 1));
    let place = |role: Role| tracks.get(frame, role.joint());
    let blow = place(wrist) - place(Role::Pelvis);
    let mut feet = place(Role::LeftAnkle) - place(Role::RightAnkle);
    if wrist == Role::RightWrist {
        feet = -feet;
    }
    blow.x * feet.x + blow.z * feet.z > 0.0
}

/// The spans of a capture that were labelled by eye.
fn seen(clip: &Clip, sight: Sight) -> Vec<Span> {
    let mut spans = Vec::new();
    for action in seen_actions(&clip.name).iter().filter(|action| !action.unsure) {
        let wrist = if action.has_side(Side::Left) { Role::LeftWrist } else { Role::RightWrist };
        let is = match sight {
            Sight::Straight { leading } => {
                action.class() == Class::Straight && leads(clip, wrist, action.from()) == leading
            }
            Sight::Hook => action.class() == Class::Hook,
            Sight::Duck => action.class() == Class::Duck,
            Sight::Block(height) => action.class() == Class::Block && action.height.as_deref() == Some(height),
        };
        if is {
            let around = if action.at.is_some() { 0.1 } else { 0.0 };
            let mut span = Span::new(SpanKind::Attack, &action.class, action.from() - around, action.to() + around);
            span.part = Some(wrist);
            spans.push(span);
        }
    }
    spans
}

fn say(who: &str, f: &ActionFigures) {
    let [active, hand, foot, reach, mass] = columns(f);
    println!(
        "    {who} {:.2}: active {active:.3} hand {hand:.2} foot {foot:.2} reach {reach:.3} mass {mass:.3}",
        f.active.0
    );
}

/// The figures of all captures of an action, and their names.
fn people(captured: &[Clip], by: By, likes: &[Like]) -> (Vec<ActionFigures>, String) {
    let clip = |name: &str| {
        let found = captured.iter().find(|c| c.name.trim_start_matches("Male2_") == name);
        found.unwrap_or_else(|| panic!("{name} is in no library of captures"))
    };
    let (mut all, mut who) = (Vec::new(), Vec::<(String, usize)>::new());
    let mut add = |clip: &Clip, spans: &[Span]| {
        let found: Vec<ActionFigures> = spans.iter().flat_map(|span| measured(clip, span, by)).collect();
        let name = clip.name.trim_start_matches("Male2_");
        assert!(!found.is_empty(), "nothing like it in {name}");
        found.iter().for_each(|f| say(name, f));
        match who.iter_mut().find(|(n, _)| n == name) {
            Some((_, count)) => *count += found.len(),
            None => who.push((name.to_owned(), found.len())),
        }
        all.extend(found);
    };
    for like in likes {
        match *like {
            Named(kind, names) => {
                for clip in names.iter().map(|name| clip(name)) {
                    let spans: Vec<Span> = clip.spans.iter().filter(|s| s.kind == kind).cloned().collect();
                    add(clip, &spans);
                }
            }
            Seen(sight, names) => names.iter().map(|name| clip(name)).for_each(|clip| add(clip, &seen(clip, sight))),
            Moment(name, from, to) => add(clip(name), &[Span::new(SpanKind::Avoid, "", from, to)]),
        }
    }
    let who: Vec<String> =
        who.into_iter().map(|(name, count)| if count == 1 { name } else { format!("{name} ({count})") }).collect();
    (all, if who.is_empty() { "none".to_owned() } else { who.join(", ") })
}

/// The columns of the table.
const HEAD: &str =
    "| motion | active, s | hand, m/s | foot, m/s | reach | mass, m | people |\n|---|---|---|---|---|---|---|\n";

fn columns(f: &ActionFigures) -> [f32; 5] {
    [f.active_seconds(), f.hand_speed, f.foot_speed, f.reach, f.mass_travel]
}

/// Least and most of a column, to the two places the table shows.
fn range(all: &[ActionFigures], column: usize) -> Option<(f32, f32)> {
    let values = || all.iter().map(|f| (columns(f)[column] * 100.0).round() / 100.0);
    (!all.is_empty()).then(|| (values().fold(f32::INFINITY, f32::min), values().fold(f32::NEG_INFINITY, f32::max)))
}

fn shown((least, most): (f32, f32)) -> String {
    if least == most { format!("{least:.2}") } else { format!("{least:.2}-{most:.2}") }
}

fn read(text: &str) -> (f32, f32) {
    let (least, most) = text.split_once('-').unwrap_or((text, text));
    (least.parse().unwrap(), most.parse().unwrap())
}

const BEGIN: &str = "<!-- measured -->\n";
const END: &str = "<!-- end -->";

fn page() -> (std::path::PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/motions.md");
    (path.clone(), std::fs::read_to_string(path).unwrap())
}

fn ours(clips: &[Clip], name: &str, kind: SpanKind, by: By) -> Vec<ActionFigures> {
    let clip = clips.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no motion {name}"));
    let found: Vec<ActionFigures> =
        clip.spans.iter().filter(|s| s.kind == kind).flat_map(|s| measured(clip, s, by)).collect();
    assert!(!found.is_empty(), "{name} does nothing");
    found
}

const LIST_BEGIN: &str = "<!-- motions -->\n";
const LIST_END: &str = "<!-- end of motions -->";

/// Every embedded motion with what it is for, by family, as the page lists them.
fn list() -> String {
    let mut families: Vec<(&str, Vec<String>)> = FAMILIES.iter().map(|(title, _)| (*title, Vec::new())).collect();
    for (path, text) in embedded::MOTIONS.iter().chain(embedded::WALKS) {
        let motion = kumite_keying::read_motion(text).unwrap();
        let clips = embedded::clips_of(&motion).unwrap();
        let kind = if path.starts_with("walks/") { None } else { clips[0].spans.first().map(|s| s.kind) };
        let family = kind.map_or(FAMILIES.len() - 1, |kind| FAMILIES.iter().position(|f| f.1.contains(&kind)).unwrap());
        let names: Vec<String> = clips.iter().map(|c| format!("`{}`", c.name)).collect();
        families[family].1.push(format!("| {} | {:.2} | {} |\n", names.join(", "), clips[0].seconds(), motion.about));
    }
    let table = |(title, rows): &(&str, Vec<String>)| {
        format!("### {title}\n\n| motion | s | what it is |\n|---|---|---|\n{}\n", rows.concat())
    };
    families.iter().filter(|f| !f.1.is_empty()).map(table).collect()
}

/// Headings of the list, and the kinds of the first span of what stands below them; the last is for walks.
const FAMILIES: [(&str, &[SpanKind]); 8] = [
    ("Waiting, steps and turns", &[SpanKind::Idle, SpanKind::Step, SpanKind::Turn]),
    ("Walking", &[SpanKind::Walk, SpanKind::Run]),
    ("Attacks", &[SpanKind::Attack]),
    ("Avoidances", &[SpanKind::Avoid]),
    ("Blocks", &[SpanKind::Block]),
    ("Reactions", &[SpanKind::React]),
    ("Falls, lying and getting up", &[SpanKind::Down, SpanKind::Up]),
    ("For walking to goals only", &[]),
];

#[test]
fn the_page_lists_every_motion() {
    let (path, page) = page();
    let (before, rest) = page.split_once(LIST_BEGIN).unwrap();
    let (_, after) = rest.split_once(LIST_END).unwrap();
    let fresh = format!("{before}{LIST_BEGIN}{}{LIST_END}{after}", list());
    if std::env::var_os("KUMITE_WRITE").is_some() {
        std::fs::write(&path, fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/motions.md is out of date: run `cargo dev motions`");
    }
}

/// What people do is measured again wherever the captures are.
#[test]
fn the_table_is_what_is_measured() {
    let mut captured = Vec::new();
    for library in ["accad-male2", "cmu-fight", "cmu-walk"] {
        let Some(clips) = kumite_captures::clips(library) else { return };
        captured.extend(clips);
    }
    let clips = embedded::clips().unwrap();
    let mut table = HEAD.to_owned();
    for &(name, kind, by, likes) in ROWS {
        println!("{name}");
        let ours = ours(&clips, name, kind, by);
        ours.iter().for_each(|f| say("ours", f));
        let (theirs, who) = people(&captured, by, likes);
        let cells: Vec<String> = (0..5)
            .map(|column| {
                let ours = shown(range(&ours, column).unwrap());
                range(&theirs, column).map_or(ours.clone(), |theirs| format!("{ours} ({})", shown(theirs)))
            })
            .collect();
        table += &format!("| {name} | {} | {who} |\n", cells.join(" | "));
    }
    let (path, page) = page();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let fresh = format!("{before}{BEGIN}{table}{END}{after}");
    if std::env::var_os("KUMITE_WRITE").is_some() {
        std::fs::write(&path, fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/motions.md is out of date: run `cargo dev motions`");
    }
}

#[test]
fn every_active_phase_is_in_the_range_of_people() {
    let clips = embedded::clips().unwrap();
    // Every motion but those that only wait has a row.
    for clip in &clips {
        let waits = clip.spans.iter().all(|s| s.kind == SpanKind::Idle);
        let alone = ALONE.iter().any(|part| clip.name.contains(part));
        assert!(waits || alone || ROWS.iter().any(|row| row.0 == clip.name), "{} is not compared", clip.name);
    }
    let (_, page) = page();
    let table = page.split_once(BEGIN).unwrap().1.split_once(END).unwrap().0;
    let mut off = Vec::new();
    for &(name, kind, by, likes) in ROWS {
        let row =
            table.lines().find(|l| l.starts_with(&format!("| {name} |"))).unwrap_or_else(|| panic!("no row {name}"));
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 7, "{row}");
        let ours = ours(&clips, name, kind, by);
        for (column, what) in ["active", "hand", "foot", "reach", "mass"].into_iter().enumerate() {
            let cell = cells[column + 1];
            let Some((_, theirs)) = cell.split_once(" (") else {
                assert!(likes.is_empty(), "{name}, {what}: no range in {cell}");
                continue;
            };
            let ((a, b), (least, most)) = (range(&ours, column).unwrap(), read(theirs.trim_end_matches(')')));
            let outside = a < 0.75 * least || b > 1.25 * most;
            let known = OUTSIDE.contains(&(name, what));
            if known && !outside {
                off.push(format!("{name}, {what}: is within the range now"));
            }
            if outside && !known {
                off.push(format!(
                    "{name}, {what}: {} is not within {:.2} to {:.2}",
                    shown((a, b)),
                    0.75 * least,
                    1.25 * most
                ));
            }
        }
    }
    assert!(off.is_empty(), "{} of {} rows:\n{}", off.len(), ROWS.len(), off.join("\n"));
}
