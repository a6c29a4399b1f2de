//! The judge: every embedded motion passes, broken ones are caught, captures of people mostly pass.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

use std::sync::Arc;

use kumite_bake::judge::{Act, Verdict, What, figures, judge, judge_floor};
use kumite_bake::understand::understand;
use kumite_formats::bvh;
use kumite_keying::embedded;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::rotation::about;
use kumite_motion::{Clip, Pose, Role, Roles, Span, SpanKind, Vec3};

/// Captures in folders of this name, by the names of their files.
fn captures(folder: &str) -> Vec<(String, Clip)> {
    let mut paths = kumite_captures::files("bvh");
    paths.retain(|path| path.parent().is_some_and(|p| p.ends_with(folder)));
    if paths.is_empty() {
        kumite_captures::skipped(&format!("judging captures of {folder}"));
    }
    paths
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name.clone(), bvh::read(&std::fs::read(path).unwrap()).unwrap().0.to_clip(&name).unwrap())
        })
        .collect()
}

#[test]
fn every_motion_of_the_library_passes() {
    let mut faults = Vec::new();
    for clip in embedded::clips().unwrap().into_iter().chain(embedded::walks().unwrap()) {
        let verdict = judge(&clip, &Roles::canonical(), &Anatomy::of_canonical(clip.skeleton()));
        faults.extend(verdict.faults().map(|f| format!("{}: {f}", clip.name)));
        faults.extend(judge_floor(&clip).faults().map(|f| format!("{}: {f}", clip.name)));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Changes the poses of an embedded motion; contacts stay as keyed.
fn broken(name: &str, mut change: impl FnMut(f32, &mut Pose)) -> Verdict {
    let clip = embedded::clips().unwrap().into_iter().find(|c| c.name == name).unwrap();
    let mut poses = clip.poses();
    for (frame, pose) in poses.iter_mut().enumerate() {
        change(frame as f32 / clip.fps(), pose);
    }
    let mut bad = Clip::new(name, Arc::clone(clip.skeleton()), clip.fps(), &poses).unwrap();
    bad.contacts = clip.contacts;
    judge(&bad, &Roles::canonical(), &Anatomy::of_canonical(bad.skeleton()))
}

#[track_caller]
fn caught(verdict: &Verdict, what: What) {
    let found: Vec<String> = verdict.findings.iter().filter(|f| f.what == what).map(ToString::to_string).collect();
    assert!(verdict.faults().any(|f| f.what == what), "{what:?} not caught: {found:?}");
}

#[test]
fn sliding_feet_are_caught() {
    let slide = |t: f32, pose: &mut Pose| pose.set_root(pose.root() + Vec3::new(0.32 * t, 0.0, 0.0));
    caught(&broken("guard-idle", slide), What::MeanFootSlide);
    let short = |t: f32, pose: &mut Pose| pose.set_root(pose.root() + Vec3::X * (2.0 * (t - 3.0)).clamp(0.0, 0.3));
    caught(&broken("guard-idle", short), What::FootSlide);
}

#[test]
fn elbows_bent_backwards_are_caught() {
    let verdict = broken("guard-idle", |t, pose| {
        if (2.0..2.3).contains(&t) {
            pose.rotations[Role::LeftElbow.joint().at()] = about(Vec3::Y, 0.9);
        }
    });
    caught(&verdict, What::JointLimit);
}

#[test]
fn arms_through_the_ribs_are_caught() {
    let verdict = broken("stand-idle", |t, pose| {
        if (2.0..3.0).contains(&t) {
            // Straight down, then inwards.
            pose.rotations[Role::RightShoulder.joint().at()] = about(Vec3::Z, 2.0);
        }
    });
    caught(&verdict, What::Penetration);
}

#[test]
fn teleports_are_caught() {
    let verdict = broken("walk", |t, pose| {
        if t > 2.0 {
            pose.set_root(pose.root() + Vec3::new(0.0, 0.0, 0.12));
        }
    });
    caught(&verdict, What::BodyAcceleration);
}

#[test]
fn a_lean_that_would_fall_is_caught() {
    let mut first = None;
    let verdict = broken("stand-idle", |_, pose| {
        let held = first.get_or_insert_with(|| pose.clone());
        pose.clone_from(held);
        let lean = about(Vec3::Z, 0.3);
        pose.set_root(lean * pose.root());
        pose.rotations[0] = lean * pose.rotations[0];
    });
    caught(&verdict, What::Balance);
}

#[test]
fn hovering_is_caught() {
    let verdict = broken("stand-idle", |t, pose| {
        let up = 0.4 * kumite_motion::blend::ease(((t - 1.0) / 0.4).clamp(0.0, 1.0));
        pose.set_root(pose.root() + Vec3::Y * up);
    });
    caught(&verdict, What::FreeFall);
}

#[test]
fn falling_faster_than_things_fall_is_caught() {
    let verdict = broken("stand-idle", |t, pose| {
        let down = 0.3 * kumite_motion::blend::ease(((t - 1.0) / 0.22).clamp(0.0, 1.0));
        pose.set_root(pose.root() - Vec3::Y * down);
    });
    caught(&verdict, What::Drop);
}

#[test]
fn feet_in_the_floor_are_caught() {
    caught(&broken("jab", |_, pose| pose.set_root(pose.root() - Vec3::Y * 0.05)), What::Sunk);
}

#[test]
fn jitter_is_caught() {
    let mut step = 0;
    let verdict = broken("jab", |_, pose| {
        step += 1;
        let shake = if step / 2 % 2 == 0 { 0.5 } else { -0.5 };
        let shoulder = &mut pose.rotations[Role::RightShoulder.joint().at()];
        *shoulder = about(Vec3::Z, shake) * *shoulder;
    });
    caught(&verdict, What::HandJerk);
}

#[test]
fn very_short_clips_are_judged_too() {
    let clip = embedded::clips().unwrap().swap_remove(0);
    for frames in 1..8 {
        let short = clip.trimmed(0..frames).unwrap();
        let verdict = judge(&short, &Roles::canonical(), &Anatomy::of_canonical(short.skeleton()));
        assert!(verdict.passes() && !verdict.findings.is_empty(), "{frames}");
        let span = Span::new(SpanKind::Walk, "", 0.0, 9.0);
        for act in [Act::Strike(Role::LeftWrist), Act::Dodge, Act::Duck, Act::Block] {
            assert_eq!(figures(&short, &span, act).len(), 1, "{act:?}, {frames} frames");
        }
        assert!(figures(&short, &span, Act::Step).is_empty());
    }
}

/// The bounds were measured on one fighter. Many captures of others have glitches or false rates: they are held to what passes now.
#[test]
fn people_pass() {
    let folders = ["combat/accad_male2", "locomotion/accad_male2", "combat/cmu", "locomotion/cmu"];
    for (folder, least) in folders.into_iter().zip([0.89, 0.77, 0.31, 0.72]) {
        let (mut passed, mut count) = (0, 0);
        for (name, raw) in captures(folder) {
            let Some(found) = understand(&raw) else { continue };
            let clip = found.clip.clone().with_fps(found.fps.value).unwrap();
            let verdict = judge(&clip, &found.roles.value, &found.anatomy);
            verdict.faults().for_each(|f| println!("{name}: {f}"));
            count += 1;
            passed += usize::from(verdict.passes());
        }
        println!("{folder}: {passed} of {count} pass");
        assert!(passed as f32 >= least * count as f32, "{passed} of {count}");
    }
}

/// Of each figure, 98 of 100 measurements on captures are within the judge's bound. Lying poses are left out: they are off balance, and
/// their ankles are captured badly.
#[test]
fn bounds_hold_for_nearly_all_captures() {
    let mut all: Vec<(What, String, f32, f32)> = Vec::new();
    let mut beyond = Vec::new();
    for folder in ["combat/accad_male2", "locomotion/accad_male2"] {
        for (_, raw) in captures(folder).into_iter().filter(|c| !["Lie", "Crawl"].iter().any(|l| c.0.contains(l))) {
            let Some(found) = understand(&raw) else { continue };
            let verdict = judge(&found.clip, &found.roles.value, &found.anatomy);
            for f in verdict.findings {
                let part = f.part.map_or("body", |p| p.name());
                all.push((
                    f.what,
                    part.trim_start_matches("left_").trim_start_matches("right_").to_owned(),
                    f.measured,
                    f.allowed,
                ));
            }
        }
    }
    let mut kinds: Vec<(What, String)> = all.iter().map(|a| (a.0, a.1.clone())).collect();
    kinds.sort();
    kinds.dedup();
    for (what, part) in kinds {
        let mut values: Vec<f32> = all.iter().filter(|a| a.0 == what && a.1 == part).map(|a| a.2).collect();
        values.sort_by(f32::total_cmp);
        let at = |share: f32| values[((values.len() - 1) as f32 * share) as usize];
        let allowed = all.iter().find(|a| a.0 == what && a.1 == part).unwrap().3;
        if at(0.98) > allowed {
            beyond.push(format!("{}, {part}: {} of {allowed}", what.name(), at(0.98)));
        }
        println!(
            "{} {allowed}, {part}: {:.3} {:.3} {:.3} {:.3} {:.3}",
            what.name(),
            at(0.5),
            at(0.9),
            at(0.95),
            at(0.98),
            at(1.0)
        );
    }
    assert!(beyond.is_empty(), "{beyond:?}");
}
