//! Whether the embedded motions move as people do, and whether the judge of that passes people it was not fitted to.
//!
//! The statistics are in `crates/bake/src/judge/people.toml`, so that motions are judged wherever this is run; where the captures are at hand
//! they are measured again. `cargo dev motions` writes them, and docs/people.md.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

mod common;

use std::path::{Path, PathBuf};

use common::{say, seen_actions};
use kumite_bake::analyse::{Class, labelled};
use kumite_bake::judge::people::{Deed, Family, Look, People, Take, judge_people, judge_takes, takes, takes_of};
use kumite_keying::embedded;
use kumite_motion::{Clip, Role, Side, Span, SpanKind, StrikeKind};

/// Captures whose names say what they show: in them, the spans of a kind.
const NAMED: &[(Deed, SpanKind, &[&str])] = &[
    (Deed::Straight, SpanKind::Attack, &["E1_JabLeft", "E15_BodyJabRight", "E16_BodyJabLeft"]),
    (Deed::Straight, SpanKind::Attack, &["E3_CrossLeft", "E4_CrossRight", "E13_BodyCrossLeft"]),
    (Deed::Hook, SpanKind::Attack, &["E5_HookLeft", "E6_HookRight", "E9_BodyHookLeft"]),
    (Deed::OtherBlow, SpanKind::Attack, &["E7_UppercutLeft", "E11_BackfistLeft", "G1_SidekickLeadingLeft", "G5_BackKick"]),
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
    (
        Deed::Walk,
        SpanKind::Walk,
        &["B9_WalkTurnLeft90", "B12_WalkTurnRight90", "16_17", "16_19", "69_20", "69_24"],
    ),
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
    let mut passed = 0;
    for &name in &names {
        let (left_out, rest): (Vec<Take>, Vec<Take>) = takes.iter().cloned().partition(|t| t.clip == name);
        let remarks = judge_takes(&People::fit(&rest), &left_out);
        let faults: Vec<String> = remarks.iter().filter(|r| !r.ok).map(ToString::to_string).collect();
        passed += usize::from(faults.is_empty());
        println!("{name}: {}", if faults.is_empty() { "passes".to_owned() } else { faults.join("; ") });
        remarks.iter().for_each(|r| println!("    {r}"));
    }
    let share = 100.0 * passed as f32 / names.len() as f32;
    say("captures left out", names.len() as f32, "");
    say("captures left out that pass", share, "%");
    assert!(share >= 90.0, "{passed} of {}", names.len());
}

/// What people found robotic, as it was keyed at first: see tests/robotic.
#[test]
fn robotic_motions_are_rejected() {
    let people = People::measured();
    for (clip, takes) in ours() {
        let all = judge_takes(&people, &takes);
        let faults: Vec<String> = all.iter().filter(|r| !r.ok).map(ToString::to_string).collect();
        let band: Vec<String> = all.iter().filter(|r| matches!(r.look, Look::Band)).map(ToString::to_string).collect();
        println!("J {} {}: {} | {}", clip.name, faults.len(), faults.join("; "), band.join(";"));
        if ["walk", "hook", "pivot-left", "pivot-right", "sway-back"].contains(&clip.name.as_str()) {
            let faults: Vec<_> = judge_people(&people, &clip).into_iter().filter(|r| !r.ok).collect();
            println!("{}: {}", clip.name, faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "));
            assert!(!faults.is_empty(), "{} passes", clip.name);
        }
    }
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
        let known = clip.spans.iter().filter_map(Deed::of).count();
        let walks_high = clip.spans.iter().all(|s| s.kind == SpanKind::Walk);
        assert!(known == 0 || !takes.is_empty() || walks_high, "nothing is found in {}", clip.name);
        let walked: Vec<&Take> = takes.iter().filter(|t| t.family == Family::Walk).collect();
        assert!(clip.name != "walk" || walked.len() >= 2, "{} strides", walked.len());
    }
}
