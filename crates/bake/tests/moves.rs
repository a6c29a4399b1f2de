//! Whether the embedded motions move as people do, and whether the judge of that passes people it was not fitted to.
//!
//! The statistics are in `crates/bake/src/judge/people.toml`, so that motions are judged wherever this is run; where the captures are at hand
//! they are measured again. `cargo dev motions` writes them, and docs/people.md.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

mod common;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::{say, seen_actions};
use kumite_bake::analyse::{Class, labelled};
use kumite_bake::judge::people::{
    Deed, Family, Figure, Habit, Look, People, Remark, Sort, Take, by_family, in_band, judge_takes, takes, takes_of,
    typical,
};
use kumite_formats::bvh;
use kumite_keying::embedded;
use kumite_motion::blend::ease;
use kumite_motion::rotation::about;
use kumite_motion::{Clip, Pose, Quat, Role, Side, Span, SpanKind, StrikeKind, Vec3};

/// Captures whose names say what they show: in them, the spans of a kind.
const NAMED: &[(Deed, SpanKind, &[&str])] = &[
    (Deed::Straight, SpanKind::Attack, &["E1_JabLeft", "E15_BodyJabRight", "E16_BodyJabLeft"]),
    (Deed::Straight, SpanKind::Attack, &["E3_CrossLeft", "E4_CrossRight", "E13_BodyCrossLeft"]),
    (Deed::Hook, SpanKind::Attack, &["E5_HookLeft", "E6_HookRight", "E9_BodyHookLeft"]),
    (
        Deed::OtherBlow,
        SpanKind::Attack,
        &["E7_UppercutLeft", "E11_BackfistLeft", "G1_SidekickLeadingLeft", "G5_BackKick"],
    ),
    (Deed::FrontKick, SpanKind::Attack, &["G2_FrontKick", "G17_PushKickLeft", "135_04"]),
    (
        Deed::RoundKick,
        SpanKind::Attack,
        &["G8_RoundhouseLeft", "G9_RoundhouseRight", "G10_RoundhouseLeadingLeft", "G14_RoundhouseBodyLeft"],
    ),
    (Deed::Slip, SpanKind::Avoid, &["E19_DodgeLeft", "E20_DodgeRight"]),
    (Deed::Duck, SpanKind::Avoid, &["E21_DuckLeft"]),
    (Deed::Duck, SpanKind::Down, &["77_09"]),
    (Deed::BlockHigh, SpanKind::Block, &["E11_BlockLeftHigh", "E13_BlockRightHigh", "E17_BlockMiddleHigh"]),
    (Deed::BlockMiddle, SpanKind::Block, &["E15_BlockLeftMiddle"]),
    (Deed::BlockLow, SpanKind::Block, &["E12_BlockLeftLow", "E18_BlockMiddleLow"]),
    (Deed::Step, SpanKind::Step, &["E3_Advance", "E5_Retreat", "E9_SideStepLeft"]),
    (
        Deed::Step,
        SpanKind::Step,
        &["B22_SideStepLeft", "B23_SideStepRight", "C24_QuickSidestepLeft", "C25_QuickSidestepRight"],
    ),
    (Deed::Step, SpanKind::Turn, &["D1_StandToReady", "D4_ReadyToRelax"]),
    (Deed::Turn, SpanKind::Turn, &["E1_TurnAroundRight", "E2_TurnAroundLeft"]),
    (
        Deed::Walk,
        SpanKind::Walk,
        &["B1_StandToWalk", "B2_WalkToStand", "B3_Walk", "02_01", "07_01", "16_15", "69_01", "16_34"],
    ),
    (Deed::Walk, SpanKind::Walk, &["B9_WalkTurnLeft90", "B12_WalkTurnRight90", "16_17", "16_19", "69_20", "69_24"]),
];
/// Moments of captures that were found by eye, or whole captures, seconds.
const MOMENTS: &[(Deed, &str, f32, f32)] = &[
    (Deed::Slip, "13_17", 36.0, 36.65),
    (Deed::Sway, "13_17", 25.2, 25.95),
    (Deed::Sway, "13_17", 34.95, 35.6),
    (Deed::Duck, "76_03", 6.49, 7.4),
    (Deed::Stand, "A1_Stand", 0.0, 99.0),
    (Deed::Stand, "A2_Sway", 0.0, 99.0),
    (Deed::Guard, "13_17", 0.0, 99.0),
    (Deed::Guard, "14_02", 0.0, 99.0),
    (Deed::Bounce, "E8_Bounce", 0.8, 6.0),
];
/// Captures in which every action was labelled by eye.
const SEEN: [&str; 3] = ["13_17", "14_02", "144_07"];

/// The spans of a capture that were labelled by eye.
fn seen(name: &str) -> Vec<(Span, Deed)> {
    let mut spans = Vec::new();
    for action in seen_actions(name).iter().filter(|action| !action.unsure) {
        let deed = match (action.class(), action.height.as_deref()) {
            (Class::Straight, _) => Deed::Straight,
            (Class::Hook, _) => Deed::Hook,
            (Class::Duck, _) => Deed::Duck,
            (Class::Block, Some("high")) => Deed::BlockHigh,
            (Class::Block, Some("middle")) => Deed::BlockMiddle,
            (Class::Block, Some("low")) => Deed::BlockLow,
            _ => continue,
        };
        let around = if action.at.is_some() { 0.1 } else { 0.0 };
        let mut span = Span::new(SpanKind::Attack, &action.class, action.from() - around, action.to() + around);
        span.part = Some(if action.has_side(Side::Left) { Role::LeftWrist } else { Role::RightWrist });
        spans.push((span, deed));
    }
    spans
}

fn strikes_as(kind: StrikeKind, deed: Deed) -> bool {
    match deed {
        Deed::Straight => kind == StrikeKind::Straight,
        Deed::Hook => kind == StrikeKind::Hook,
        Deed::FrontKick => kind == StrikeKind::Front,
        Deed::RoundKick => kind == StrikeKind::Round,
        _ => true,
    }
}

/// Every action of the captures, measured; `None` where they are not at hand.
fn captured() -> Option<Vec<Take>> {
    let mut clips: Vec<Clip> = Vec::new();
    for library in ["accad-male2", "cmu-fight", "cmu-walk"] {
        clips.extend(kumite_captures::clips(library)?);
    }
    clips.iter_mut().for_each(|c| c.name = c.name.trim_start_matches("Male2_").to_owned());
    let mut all = Vec::new();
    for clip in &clips {
        let mut spans: Vec<(Span, Deed)> = Vec::new();
        for (deed, kind, names) in NAMED.iter().filter(|row| row.2.contains(&clip.name.as_str())) {
            for span in clip.spans.iter().filter(|span| span.kind == *kind) {
                let mut span = span.clone();
                span.strikes.retain(|strike| strikes_as(strike.kind, *deed));
                span.strikes.truncate(1);
                if *kind == SpanKind::Attack && span.strikes.is_empty() {
                    continue;
                }
                spans.push((span, *deed));
            }
            assert!(!spans.is_empty(), "nothing like {deed:?} in {names:?}: {}", clip.name);
        }
        for (deed, _, from, to) in MOMENTS.iter().filter(|row| row.1 == clip.name) {
            spans.push((Span::new(SpanKind::Idle, "", *from, to.min(clip.seconds())), *deed));
        }
        if SEEN.contains(&clip.name.as_str()) {
            spans.extend(seen(&clip.name));
        }
        if !spans.is_empty() {
            all.extend(takes_of(clip, &spans));
        }
    }
    all.iter_mut().for_each(Take::forget_unseen);
    Some(all)
}

/// Every embedded motion with its actions.
fn ours() -> Vec<(Clip, Vec<Take>)> {
    let mut clips = embedded::clips().unwrap();
    clips.extend(embedded::walks().unwrap());
    clips.iter_mut().for_each(labelled::add_strikes);
    clips.into_iter().map(|clip| (takes(&clip), clip)).map(|(takes, clip)| (clip, takes)).collect()
}

fn file(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

#[test]
fn the_statistics_are_what_is_measured() {
    let Some(takes) = captured() else { return };
    let text = People::fit(&takes).to_text();
    let path = file("src/judge/people/people.toml");
    if std::env::var_os("KUMITE_WRITE").is_some() {
        std::fs::write(&path, text).unwrap();
    } else {
        let old = std::fs::read_to_string(&path).unwrap();
        assert!(old == text, "{} is out of date: run `cargo dev motions`", path.display());
    }
}

/// The judge may not only know the captures it was made of: each is left out of the statistics and then judged by them.
#[test]
fn captures_left_out_pass() {
    let Some(takes) = captured() else { return };
    let mut names: Vec<&str> = takes.iter().map(|t| t.clip.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let (mut passed, mut shares) = (0, Vec::new());
    for &name in &names {
        let (left_out, rest): (Vec<Take>, Vec<Take>) = takes.iter().cloned().partition(|t| t.clip == name);
        let remarks = judge_takes(&People::fit(&rest), &left_out);
        shares.extend(remarks.iter().filter(|r| r.look == Look::Band).map(|r| r.measured));
        let faults: Vec<String> = remarks.iter().filter(|r| !r.ok).map(ToString::to_string).collect();
        passed += usize::from(faults.is_empty());
        println!("{name}: {}", if faults.is_empty() { "passes".to_owned() } else { faults.join("; ") });
        remarks.iter().for_each(|r| println!("    {r}"));
    }
    let share = 100.0 * passed as f32 / names.len() as f32;
    say("captures left out", names.len() as f32, "");
    say("captures left out that pass", share, "%");
    shares.sort_by(f32::total_cmp);
    let like = shares.iter().filter(|s| **s >= INSIDE).count();
    say("actions left out, median share in the band", shares[shares.len() / 2], "%");
    say("actions left out with 90 % in the band", 100.0 * like as f32 / shares.len() as f32, "%");
    assert!(share >= 90.0, "{passed} of {}", names.len());
}

/// What people found robotic, and when it happens: these motions as they were keyed before they were compared with people, in `tests/robotic`.
const ROBOTIC: [(&str, Deed, SpanKind, f32, f32); 5] = [
    ("walk", Deed::Walk, SpanKind::Walk, 0.3, 3.6),
    ("hook", Deed::Hook, SpanKind::Attack, 0.05, 0.9),
    ("pivot-left", Deed::Turn, SpanKind::Turn, 0.14, 0.8),
    ("pivot-right", Deed::Turn, SpanKind::Turn, 0.14, 0.8),
    ("sway-back", Deed::Sway, SpanKind::Avoid, 0.05, 1.15),
];

/// One of them, with its poses changed.
fn robotic(name: &str, change: impl Fn(f32, &mut Pose)) -> Vec<Take> {
    let (_, deed, kind, from, to) = ROBOTIC.into_iter().find(|row| row.0 == name).unwrap();
    let bytes = std::fs::read(file(&format!("tests/robotic/{name}.bvh"))).unwrap();
    let keyed = bvh::read(&bytes).unwrap().0.to_clip(name).unwrap();
    let mut poses = keyed.poses();
    for (frame, pose) in poses.iter_mut().enumerate() {
        change(frame as f32 / keyed.fps(), pose);
    }
    let clip = Clip::new(name, Arc::clone(keyed.skeleton()), keyed.fps(), &poses).unwrap();
    let mut span = Span::new(kind, name, from, to);
    span.part = (deed == Deed::Hook).then_some(Role::LeftWrist);
    takes_of(&clip, &[(span, deed)])
}

#[test]
fn robotic_motions_are_rejected() {
    let people = People::measured();
    for (name, ..) in ROBOTIC {
        let takes = robotic(name, |_, _| {});
        let faults: Vec<String> = faults(&people, &takes).iter().map(ToString::to_string).collect();
        println!("{name}: {}", faults.join("; "));
        assert!(!takes.is_empty() && !faults.is_empty(), "{name} passes with {} actions", takes.len());
    }
}

/// Whether the judge finds this fault only once the poses are changed.
#[track_caller]
fn caught(name: &str, look: Look, change: impl Fn(f32, &mut Pose)) {
    let people = People::measured();
    let finds = |takes: &[Take]| faults(&people, takes).iter().any(|remark| remark.look == look);
    assert!(!finds(&robotic(name, |_, _| {})), "{} before", look.name());
    assert!(finds(&robotic(name, change)), "{} is not caught", look.name());
}

#[test]
fn a_drop_that_no_floor_gives_is_caught() {
    let drop = |t: f32, pose: &mut Pose| {
        let down = 0.25 * ease(((t - 0.5) / 0.3).clamp(0.0, 1.0));
        pose.set_root(pose.root() - Vec3::Y * down);
    };
    caught("hook", Look::Least(Figure::Drop), drop);
}

#[test]
fn a_trunk_that_turns_in_one_piece_is_caught() {
    let stiff = |_: f32, pose: &mut Pose| {
        for role in [Role::Waist, Role::Back] {
            pose.rotations[role.joint().at()] = Quat::IDENTITY;
        }
    };
    caught("hook", Look::Least(Figure::Separation), stiff);
}

#[test]
fn curves_of_another_action_are_caught() {
    // Squats through the whole blow, and nods.
    let other = |t: f32, pose: &mut Pose| {
        for role in [Role::LeftKnee, Role::RightKnee, Role::Head, Role::Pelvis, Role::Back] {
            let joint = &mut pose.rotations[role.joint().at()];
            *joint *= about(Vec3::X, 0.6 * libm::sinf(12.0 * t));
        }
    };
    caught("hook", Look::Band, other);
}

fn faults(people: &People, takes: &[Take]) -> Vec<Remark> {
    judge_takes(people, takes).into_iter().filter(|r| !r.ok).collect()
}

const BEGIN: &str = "<!-- measured -->\n";
const END: &str = "<!-- end -->";

/// The figures of a motion's actions of one family beside those of people.
fn cells(figures: &[Figure], habit: Option<&Habit>, takes: &[&Take]) -> Vec<String> {
    let cell = |figure: &Figure| {
        let Some(value) = typical(takes, *figure) else { return "–".to_owned() };
        let text = shown(value, *figure);
        let range = habit.and_then(|habit| habit.figures.get(figure));
        if range.is_some_and(|range| !range.holds(*figure, value)) { format!("**{text}**") } else { text }
    };
    figures.iter().map(cell).collect()
}

fn shown(value: f32, figure: Figure) -> String {
    let text = format!("{value:.*}", figure.places());
    if text.trim_start_matches(['-', '0', '.']).is_empty() { "0".to_owned() } else { text }
}

/// One table per family: people first, then every embedded motion that shows it.
fn tables(people: &People, ours: &[(Clip, Vec<Take>)]) -> String {
    let mut text = String::new();
    for family in Family::ALL {
        let of_family: Vec<(&Clip, Vec<&Take>)> = (ours.iter())
            .map(|(clip, takes)| (clip, takes.iter().filter(|t| t.family == *family).collect::<Vec<_>>()))
            .filter(|(_, takes)| !takes.is_empty())
            .collect();
        if of_family.is_empty() {
            continue;
        }
        let habit = people.habits.get(family);
        let measured = |figure: &&Figure| of_family.iter().any(|(_, takes)| typical(takes, **figure).is_some());
        let figures: Vec<Figure> = Figure::ALL.iter().filter(measured).copied().collect();
        let heads: Vec<String> =
            figures.iter().map(|f| format!("{} {}", f.name().replace('_', " "), f.unit()).trim().to_owned()).collect();
        text += &format!("### {}\n\n", family.name());
        if let Some(habit) = habit {
            let who: Vec<String> = habit.captures.iter().map(|(name, count)| format!("{name} ({count})")).collect();
            text += &format!("People: {}.\n\n", who.join(", "));
        }
        text += &format!(
            "| motion | in the band, % | {} | judge |\n|---|---|{}---|\n",
            heads.join(" | "),
            "---|".repeat(figures.len())
        );
        if let Some(habit) = habit {
            let range = |figure: &Figure| match habit.figures.get(figure) {
                Some(range) => format!("{} to {}", shown(range.least, *figure), shown(range.most, *figure)),
                None => "–".to_owned(),
            };
            text += &format!("| *people* | | {} | |\n", figures.iter().map(range).collect::<Vec<_>>().join(" | "));
        }
        for (clip, takes) in of_family {
            let share = habit.and_then(|habit| in_band(habit, &takes));
            let share =
                share.map_or("–".to_owned(), |s| if s < INSIDE { format!("**{s:.0}**") } else { format!("{s:.0}") });
            let own: Vec<Take> = takes.iter().map(|t| (*t).clone()).collect();
            let faults: Vec<&str> = faults(people, &own).iter().map(|r| r.look.name()).collect();
            let verdict = if faults.is_empty() { "passes".to_owned() } else { faults.join(", ").replace('_', " ") };
            text +=
                &format!("| {} | {share} | {} | {verdict} |\n", clip.name, cells(&figures, habit, &takes).join(" | "));
        }
        text.push('\n');
    }
    text
}

/// So much of a motion's curves should be in the band, percent.
const INSIDE: f32 = 90.0;

/// The page is what the library does now.
#[test]
fn the_page_is_what_is_measured() {
    let path = file("../../docs/people.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let fresh = format!("{before}{BEGIN}{}{END}{after}", tables(&People::measured(), &ours()));
    if std::env::var_os("KUMITE_WRITE").is_some() {
        std::fs::write(&path, fresh).unwrap();
    } else {
        assert!(page == fresh, "docs/people.md is out of date: run `cargo dev motions`");
    }
}

/// How much of the library moves as people do, as `cargo dev prove` reads it.
#[test]
fn figures_of_the_library() {
    let people = People::measured();
    let ours = ours();
    let (mut banded, mut inside, mut rejected, mut rows, mut within, mut dropping) = (0, 0, 0, 0, 0, 0);
    let mut outside = [0.0f32; 5];
    for (clip, takes) in &ours {
        rejected += usize::from(!faults(&people, takes).is_empty());
        for (family, takes) in by_family(takes) {
            let sort = match family.sort() {
                Sort::Blow | Sort::Dodge | Sort::Block | Sort::Turn => 0,
                Sort::Step => 1,
                Sort::Walk => 2,
                Sort::Kick => 3,
                Sort::Wait => 4,
            };
            outside[sort] = outside[sort].max(typical(&takes, Figure::Outside).unwrap_or_default());
            if let (Some(hardest), Some(drop)) = (people.hardest_drop(family), typical(&takes, Figure::Drop)) {
                dropping += usize::from(drop < hardest);
            }
            let Some(habit) = people.habits.get(&family) else { continue };
            if let Some(share) = in_band(habit, &takes) {
                banded += 1;
                inside += usize::from(share >= INSIDE);
            }
            for (figure, range) in &habit.figures {
                let Some(value) = typical(&takes, *figure) else { continue };
                rows += 1;
                within += usize::from(range.holds(*figure, value));
                if !range.holds(*figure, value) {
                    println!(
                        "{} {}: {} {value:.2}, people {:.2} to {:.2}",
                        clip.name,
                        family.name(),
                        figure.name(),
                        range.least,
                        range.most
                    );
                }
            }
        }
    }
    say("motions looked at", ours.iter().filter(|(_, takes)| !takes.is_empty()).count() as f32, "");
    say("motions the judge rejects", rejected as f32, "");
    say("motions with a band", banded as f32, "");
    say("of these inside it at 90 % of their frames", 100.0 * inside as f32 / banded as f32, "%");
    say("figures beside people's", rows as f32, "");
    say("of these within their range", 100.0 * within as f32 / rows as f32, "%");
    say("zero-moment point outside the soles, worst blow, dodge, block or turn", outside[0], "%");
    say("zero-moment point outside the soles, worst step", outside[1], "%");
    say("zero-moment point outside the soles, worst walk", outside[2], "%");
    // Without a bound: see docs/people.md.
    say("zero-moment point outside the soles, worst kick", outside[3], "%");
    say("motions that drop harder than people with a foot down", dropping as f32, "");
    assert!(banded > 20 && rows > 200, "{banded} bands, {rows} figures");
}

/// For people who look at one figure: everything about every motion.
#[test]
fn every_action_is_found() {
    for (clip, takes) in ours() {
        for take in &takes {
            let figures: Vec<String> =
                take.figures.iter().map(|(f, v)| format!("{} {v:.*}", f.name(), f.places())).collect();
            println!("{} {} {:.2}-{:.2}: {}", clip.name, take.family.name(), take.at.0, take.at.1, figures.join(" "));
        }
        // Short walks have no stride that people's could be compared with, small turns no step.
        let small = |deed: &Deed| matches!(deed, Deed::Walk | Deed::Turn);
        let known = clip.spans.iter().filter_map(Deed::of).filter(|deed| !small(deed)).count();
        assert!(known == 0 || !takes.is_empty(), "nothing is found in {}", clip.name);
        let walked: Vec<&Take> = takes.iter().filter(|t| t.family == Family::Walk).collect();
        assert!(clip.name != "walk" || walked.len() >= 2, "{} strides", walked.len());
    }
}
