//! Labels on people nobody fitted anything to: what is fitted to one actor is judged on the others, and back.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

mod common;

use common::named::{known_of_cmu, truth_by_name};
use common::{say, seen_actions};
use kumite_bake::analyse::evaluate::{Known, Said, Truth, confusion, fit_to, mirrored_side, said};
use kumite_bake::analyse::{Analysis, Class, Model, analyse};
use kumite_motion::mirror::Mirror;
use kumite_motion::{Clip, Height, Roles, Side, SpanKind};

type Labelled = (Clip, Vec<Known>);

/// ACCAD Male2: one actor, labelled by the names of the files.
fn accad() -> Option<Vec<Labelled>> {
    let clips = kumite_captures::ingredients("accad-male2")?;
    let known = |clip: &Clip| truth_by_name(&clip.name).map(|truth| Known { truth, when: None });
    Some(clips.clips.into_iter().chain(clips.walks).map(|c| (c.clone(), known(&c).into_iter().collect())).collect())
}

/// CMU: many actors, labelled by eye where several things happen, else by the index.
fn cmu() -> Option<Vec<Labelled>> {
    let (fight, walk) = (kumite_captures::ingredients("cmu-fight")?, kumite_captures::ingredients("cmu-walk")?);
    let mut all = Vec::new();
    for clip in fight.clips.into_iter().chain(walk.clips).chain(walk.walks) {
        let known = match clip.name.as_str() {
            "14_02" | "13_17" | "144_07" => seen(&clip.name),
            name => known_of_cmu(name).into_iter().collect(),
        };
        all.push((clip, known));
    }
    Some(all)
}

fn seen(name: &str) -> Vec<Known> {
    let side = |word: &str| match word {
        "left" => Side::Left,
        "right" => Side::Right,
        _ => Side::Middle,
    };
    let known = |a: &common::SeenAction| Known {
        truth: Truth {
            class: a.class(),
            side: a.side.as_deref().map(side),
            height: a.height.as_deref().and_then(Height::from_name),
        },
        when: Some((a.from(), a.to())),
    };
    seen_actions(name).iter().filter(|a| !a.unsure).map(known).collect()
}

/// Something known, and what was said of it by what was fitted to other people.
struct Judged {
    clip: String,
    known: Known,
    said: Option<Said>,
}

/// Whether a clip is of somebody who goes somewhere and does not fight: CMU's of walking, and series A to C of ACCAD.
fn is_locomotion(name: &str) -> bool {
    let accad = name.strip_prefix("Male2_").and_then(|n| n.chars().next());
    match accad {
        Some(series) => ('A'..='C').contains(&series),
        None => !seen_fighting(name),
    }
}

fn seen_fighting(name: &str) -> bool {
    ["13_17", "14_02", "17_10"].contains(&name)
        || ["74_", "76_", "77_", "79_", "90_", "135_", "140_", "144_"].iter().any(|s| name.starts_with(s))
}

fn judged(by: &Model, on: &[Labelled]) -> (Vec<Judged>, Vec<(String, Analysis)>) {
    let (mut all, mut locomotion) = (Vec::new(), Vec::new());
    for (clip, knowns) in on {
        let analysis = analyse(clip, by);
        let judge = |k: &Known| Judged { clip: clip.name.clone(), known: *k, said: said(&analysis, k) };
        all.extend(knowns.iter().map(judge));
        if is_locomotion(&clip.name) {
            locomotion.push((clip.name.clone(), analysis));
        }
    }
    (all, locomotion)
}

fn share(of: &[&Judged], right: impl Fn(&Judged) -> bool) -> f32 {
    100.0 * of.iter().filter(|j| right(j)).count() as f32 / of.len().max(1) as f32
}

#[test]
fn labels_hold_on_people_they_were_not_fitted_to() {
    let (Some(accad), Some(cmu)) = (accad(), cmu()) else { return };
    let (mut all, mut locomotion) = judged(&fit_to(&accad), &cmu);
    let (back, more) = judged(&fit_to(&cmu), &accad);
    let there = all.len();
    all.extend(back);
    locomotion.extend(more);
    let class = |j: &Judged| j.said.map(|s| s.class);
    let kind_right = |j: &Judged| class(j).is_some_and(|c| c.kind() == j.known.truth.class.kind());
    let height_right = |j: &Judged| j.said.and_then(|s| s.height) == j.known.truth.height;
    for (name, judged) in [("CMU by ACCAD", &all[..there]), ("ACCAD by CMU", &all[there..])] {
        println!("{name}");
        let pairs: Vec<(Class, Option<Class>)> = judged.iter().map(|j| (j.known.truth.class, class(j))).collect();
        println!("{}", confusion(&pairs, Class::name));
        for j in judged
            .iter()
            .filter(|j| class(j) != Some(j.known.truth.class) || (j.known.truth.height.is_some() && !height_right(j)))
        {
            let said = j.said.map(|s| (s.class, s.height, s.confidence));
            println!("{} {:?} {:?} {:?}: {said:?}", j.clip, j.known.when, j.known.truth.class, j.known.truth.height);
        }
        let every: Vec<&Judged> = judged.iter().collect();
        println!("kind {:.1} of {}", share(&every, kind_right), every.len());
    }
    let every: Vec<&Judged> = all.iter().collect();
    let strikes: Vec<&Judged> = all.iter().filter(|j| j.known.truth.class.strike().is_some()).collect();
    let high: Vec<&Judged> = all.iter().filter(|j| j.known.truth.height.is_some()).collect();
    let fights = |(_, a): &&(String, Analysis)| a.actions.iter().any(|a| a.class.kind() == SpanKind::Attack);
    let fighting: Vec<&(String, Analysis)> = locomotion.iter().filter(fights).collect();
    for (name, _) in &fighting {
        println!("{name} holds attacks");
    }
    let kind = share(&every, kind_right);
    let strike = share(&strikes, |j| class(j) == Some(j.known.truth.class));
    let height = share(&high, height_right);
    let arm_swing = 100.0 * fighting.len() as f32 / locomotion.len() as f32;
    say("strangers judged", every.len() as f32, "");
    say("strangers, kind right", kind, "%");
    say("strangers, class of strikes right", strike, "%");
    say("strangers, height right", height, "%");
    say("locomotion clips of strangers", locomotion.len() as f32, "");
    say("of these with attacks", arm_swing, "%");
    // Of what is said with a confidence, so many are right.
    let mut sure: Vec<(f32, bool)> =
        all.iter().filter_map(|j| j.said.map(|s| (s.confidence, s.class == j.known.truth.class))).collect();
    let mut off = 0.0f32;
    sure.sort_by(|a, b| a.0.total_cmp(&b.0));
    for bin in sure.chunks(sure.len().div_ceil(5)) {
        let said = 100.0 * bin.iter().map(|s| s.0).sum::<f32>() / bin.len() as f32;
        let right = 100.0 * bin.iter().filter(|s| s.1).count() as f32 / bin.len() as f32;
        println!("said {said:.1} %, right {right:.1} % of {}", bin.len());
        off = off.max((said - right).abs());
    }
    say("confidence off by, at most of five bins", off, "points");
    assert!(off <= 10.0, "confidence is off by {off} points");
    assert!(kind >= 90.0 && strike >= 85.0, "{kind} {strike}");
    assert!(height >= 80.0 && arm_swing <= 2.0, "{height} {arm_swing}");
}

#[test]
fn mirror_images_get_the_labels_of_the_other_side() {
    let Some(clips) = accad() else { return };
    let (model, mut of, mut same) = (Model::default(), 0, 0);
    for (clip, _) in clips.iter().filter(|c| !c.1.is_empty()) {
        let mirrored = Mirror::by_roles(clip.skeleton(), &Roles::canonical()).clip(clip).unwrap();
        let (here, there) = (analyse(clip, &model), analyse(&mirrored, &model));
        let (a, b) = (here.main_action().unwrap(), there.main_action().unwrap());
        of += 1;
        let side = a.side.map(mirrored_side) == b.side;
        if a.class == b.class && side {
            same += 1;
        } else {
            println!("{}: {} {:?}, mirrored {} {:?}", clip.name, a.class, a.side, b.class, b.side);
        }
    }
    assert!(same * 100 >= of * 97, "{same} of {of}");
}
