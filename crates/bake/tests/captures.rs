//! What is understood of real captures, against the table in their README and what contact sheets show.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kumite_bake::contacts;
use kumite_bake::understand::{NEEDED, roles_by_shape, understand};
use kumite_formats::bvh;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::fk::{self, Tracks};
use kumite_motion::limits::Limit;
use kumite_motion::mirror::reflected;
use kumite_motion::retarget::{RetargetBody, ball_of, retarget};
use kumite_motion::rotation::between;
use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, humanoid};

/// A figure for `cargo dev prove`.
fn figure(name: &str, value: f32, unit: &str) {
    println!("\n{{\"figure\": \"{name}\", \"value\": {value}, \"unit\": \"{unit}\"}}");
}

/// Captures of people: files of a few joints are fixtures of readers.
fn captures() -> Vec<(PathBuf, Clip)> {
    kumite_captures::files("bvh")
        .into_iter()
        .map(|path| {
            let clip = bvh::read(&std::fs::read(&path).unwrap()).unwrap().0.to_clip("capture").unwrap();
            (path, clip)
        })
        .filter(|(_, clip)| clip.skeleton().len() > 10)
        .collect()
}

fn name(path: &Path) -> String {
    path.file_stem().unwrap().to_string_lossy().into_owned()
}

/// File stem → true rate and whether the table is sure of it.
fn true_rates() -> Vec<(String, f32, bool)> {
    let mut rates = Vec::new();
    for folder in kumite_captures::folders() {
        let text = std::fs::read_to_string(folder.join("README.md")).unwrap_or_default();
        for line in text.lines().filter(|l| l.contains(".bvh |")) {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let Some(rate) = cells.get(6) else { continue };
            if let Ok(fps) = rate.trim_end_matches('?').parse() {
                rates.push((name(Path::new(cells[1])), fps, !rate.ends_with('?')));
            }
        }
    }
    rates
}

/// Rates that the motion does not show, or shows to be other than in the table: 77_18 lies, gets up and takes no step (the table has its
/// rate from other takes of the same person); the excerpt falls at 36 m/s² at the table's rate, so it must be one of the 60 fps subjects.
const RATE_EXCEPTIONS: [&str; 2] = ["77_18", "npybvh_example"];

#[test]
fn every_capture_of_a_person_is_understood() {
    let rates = true_rates();
    let (mut people, mut rated) = (0, 0);
    for (path, clip) in captures() {
        let name = name(&path);
        let u = understand(&clip).unwrap_or_else(|| panic!("{name} is not understood"));
        assert!((1.4..2.0).contains(&u.height_m), "{name}: {} m", u.height_m);
        for role in NEEDED {
            assert!(u.roles.value.get(role).is_some(), "{name}: no {}", role.name());
        }
        assert_eq!(u.clip.contacts.len(), u.clip.frames(), "{name}");
        // Also where people lie and crawl, and feet to head is not up.
        let z_up = name == "fair1_zombie";
        assert_eq!(u.up.value.name(), if z_up { "z" } else { "y" }, "{name}: {:?}", u.up);
        let is_cmu = path.to_string_lossy().contains("cmu");
        assert!(!is_cmu || u.bind_pose.is_some(), "{name}: the T-pose of frame 0 was not seen");
        if let Some((_, fps, sure)) = rates.iter().find(|r| r.0 == name)
            && !RATE_EXCEPTIONS.contains(&name.as_str())
        {
            assert!((u.fps.value - fps).abs() < 1.0, "{name}: {:?}, true is {fps}", u.fps);
            assert!(*sure || !u.fps.sure(), "{name}: {:?}, but the table is not sure", u.fps);
            rated += 1;
        }
        assert!(name != "77_18" || !u.fps.sure(), "{:?}", u.fps);
        // Where all joints have names, all roles are found.
        let whole = ["accad_male2", "cmu", "Boxing_Toes"].iter().any(|n| path.to_string_lossy().contains(n));
        assert!(!whole || u.roles.value.is_complete(), "{name}: {:?}", u.roles.value);
        people += 1;
    }
    figure("captures of people understood", people as f32, "");
    figure("true frame rates reproduced", rated as f32, "");
}

/// CMU's captures begin with a T-pose of one frame, and 16_15 with three frames on the way out of it.
#[test]
fn all_frames_of_a_leading_t_pose_are_found() {
    let mut several = 0;
    for (path, clip) in captures().iter().filter(|c| c.0.to_string_lossy().contains("cmu")) {
        let u = understand(clip).unwrap();
        let left_out = clip.frames() - u.clip.frames();
        let arms = |frame: u32| {
            let (mut pose, mut world) = (Pose::default(), WorldPose::default());
            u.clip.pose(FrameIdx(frame), &mut pose);
            fk::pose(u.clip.skeleton(), &pose, &mut world);
            let at = |role: Role| world.position(u.roles.value.get(role).unwrap());
            at(Role::LeftWrist).distance(at(Role::RightWrist)) / u.height_m
        };
        assert!((1..=4).contains(&left_out), "{}: {left_out}", name(path));
        assert!((arms(0) - arms(1)).abs() < 0.04, "{}: {} to {} of the height", name(path), arms(0), arms(1));
        several += usize::from(left_out > 1);
    }
    assert!(several >= 1 || kumite_captures::folders().is_empty());
}

/// A rate is changed only where several flights or steps show it, and never where the header is right.
#[test]
fn no_rate_that_is_right_is_changed() {
    let rates = true_rates();
    for (path, clip) in captures() {
        let name = name(&path);
        let Some((_, fps, sure)) = rates.iter().find(|r| r.0 == name) else { continue };
        let u = understand(&clip).unwrap();
        if u.fps.sure() && u.fps.value != clip.fps() && name != "npybvh_example" {
            assert!(*sure && (u.fps.value - fps).abs() < 1.0, "{name}: {:?}", u.fps);
            assert!(u.evidence.flights.len() >= 2 || u.evidence.swings.len() >= 3, "{name}: {:?}", u.evidence);
            println!("{name}: {} instead of {}, {}", u.fps.value, clip.fps(), u.fps.why);
        } else if u.fps.value != clip.fps() {
            println!(
                "{name}: perhaps {} instead of {}, {} ({:.2})",
                u.fps.value,
                clip.fps(),
                u.fps.why,
                u.fps.confidence
            );
        }
    }
}

/// People who stand in files with +Z up, on skeletons whose legs hang along Y, are not taken for lying.
#[test]
fn people_who_stand_with_z_up_are_not_lying() {
    let mut seen = 0;
    for (path, clip) in captures().iter().filter(|c| {
        ["B3_Walk", "E1_JabLeft", "C3_Run", "E5_HookLeft", "02_01", "13_17"].iter().any(|n| name(&c.0).ends_with(n))
    }) {
        let turn = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
        let skeleton = Arc::clone(clip.skeleton());
        let turned = Clip::from_fn("z", skeleton, clip.fps(), clip.frames(), |frame, pose| {
            clip.pose(FrameIdx(frame as u32), pose);
            pose.translations[0] = turn * pose.translations[0];
            pose.rotations[0] = turn * pose.rotations[0];
        })
        .unwrap();
        let u = understand(&turned).unwrap();
        assert_eq!(u.up.value.name(), "z", "{}: {:?}", name(path), u.up);
        seen += 1;
    }
    assert!(seen == 6 || kumite_captures::folders().is_empty());
}

/// A skeleton with the names of a person that goes on four legs is an animal; people who crawl stay people.
#[test]
fn an_animal_is_not_a_person() {
    let skeleton = Arc::new(humanoid::skeleton());
    let quarter = std::f32::consts::FRAC_PI_2;
    let fox = Clip::from_fn("fox", Arc::clone(&skeleton), 30.0, 60, |frame, pose| {
        let stride = 0.3 * libm::sinf(frame as f32 * 0.4);
        pose.rotations[0] = Quat::from_rotation_x(quarter);
        for (end, top, swing) in [
            (Role::LeftKnee, Role::LeftHip, stride),
            (Role::RightKnee, Role::RightHip, -stride),
            (Role::LeftElbow, Role::LeftShoulder, -stride),
            (Role::RightElbow, Role::RightShoulder, stride),
        ] {
            let rest = skeleton.offset(end.joint()).normalize();
            let down = Quat::from_rotation_arc(rest, Vec3::Z);
            pose.rotations[top.joint().at()] = Quat::from_rotation_x(swing) * down;
        }
    })
    .unwrap();
    assert!(understand(&fox).is_none());
    let crawls = captures().into_iter().filter(|c| name(&c.0).contains("Crawl"));
    assert!(crawls.into_iter().all(|(_, clip)| understand(&clip).is_some()));
}

#[test]
fn roles_are_understood_from_the_shape_alone() {
    let (mut right, mut all) = (0, 0);
    for (path, clip) in captures() {
        let truth = understand(&clip).unwrap().roles.value;
        let found = roles_by_shape(&without_names(&clip));
        // Which of several spine and neck joints is meant only names can say.
        let limbs = Role::ALL.into_iter().filter(|r| !matches!(r, Role::Waist | Role::Back | Role::Neck));
        let same = |r: Role| truth.get(r).is_none() || found.and_then(|f| f.get(r)) == truth.get(r);
        let wrong: Vec<&str> = limbs.filter(|&r| !same(r)).map(Role::name).collect();
        if !wrong.is_empty() {
            println!("{}: {wrong:?}", name(&path));
        }
        right += usize::from(wrong.is_empty());
        all += 1;
    }
    figure("captures whose roles come from the shape alone", right as f32, &format!("of {all}"));
    assert_eq!(right, all);
}

/// A clip whose joint names say nothing.
fn without_names(clip: &Clip) -> Clip {
    let mut joints = clip.skeleton().to_joints();
    for (i, joint) in joints.iter_mut().enumerate() {
        joint.name = format!("joint {i}");
    }
    Clip::new(&clip.name, Arc::new(Skeleton::new(&joints).unwrap()), clip.fps(), &clip.poses()).unwrap()
}

/// Retargets captures whose path contains `from` onto the skeleton of another capture, or the canonical one, and back.
fn there_and_back(from: &str, onto: Option<&str>) {
    let captures = captures();
    let sources: Vec<&(PathBuf, Clip)> = captures.iter().filter(|c| c.0.to_string_lossy().contains(from)).collect();
    if sources.is_empty() {
        kumite_captures::skipped(&format!("retargeting captures of {from}"));
        return;
    }
    let other = match onto {
        Some(name) => {
            let Some((_, clip)) = captures.iter().find(|c| c.0.to_string_lossy().contains(name)) else {
                return kumite_captures::skipped(&format!("retargeting onto {name}"));
            };
            let u = understand(clip).unwrap();
            (Arc::clone(u.clip.skeleton()), u.roles.value, u.anatomy)
        }
        None => {
            let skeleton = Arc::new(humanoid::skeleton());
            let anatomy = Anatomy::of_canonical(&skeleton);
            (skeleton, Roles::canonical(), anatomy)
        }
    };
    let mut slides: Vec<(f32, String)> = Vec::new();
    let mut floats: Vec<(f32, String)> = Vec::new();
    let mut rolls: Vec<f32> = Vec::new();
    let mut angles: Vec<f32> = Vec::new();
    for (path, clip) in sources {
        let u = understand(clip).unwrap();
        let this = RetargetBody { skeleton: u.clip.skeleton(), roles: &u.roles.value, anatomy: &u.anatomy };
        let that = RetargetBody { skeleton: &other.0, roles: &other.1, anatomy: &other.2 };
        let there = retarget(&u.clip, this, that).unwrap();
        let back = retarget(&there, that, this).unwrap();
        let slide = |clip: &Clip, body: &RetargetBody<'_>| {
            contacts::slide(clip, body.roles, body.anatomy, &u.clip.contacts).unwrap_or(0.0)
        };
        // On the source's scale: a taller person's feet slide as much farther as they step.
        let scale = that.anatomy.leg / this.anatomy.leg;
        let grown = (slide(&there, &that) / scale - slide(&u.clip, &this)) * 100.0;
        let name = name(path);
        slides.push((grown, name.clone()));
        floats.push((100.0 * floats_more(&u.clip, &this, &there, &that), name.clone()));
        for frame in 0..u.clip.frames() as u32 {
            let (a, b) = (attitudes(&u.clip, &this, frame), attitudes(&back, &this, frame));
            let pelvis = |clip: &Clip, body: &RetargetBody<'_>| pelvis_of(clip, body, frame);
            rolls.push(between(pelvis(&u.clip, &this), pelvis(&there, &that)).to_degrees());
            angles.extend(a.iter().zip(&b).map(|(p, q)| between(*p, *q).to_degrees()));
        }
    }
    slides.sort_by(|a, b| a.0.total_cmp(&b.0));
    floats.sort_by(|a, b| a.0.total_cmp(&b.0));
    angles.sort_by(f32::total_cmp);
    rolls.sort_by(f32::total_cmp);
    let share = |part: f32| angles[((angles.len() - 1) as f32 * part) as usize];
    let small = slides.iter().filter(|s| s.0 <= 0.5).count();
    let way = format!("{from} onto {}", onto.unwrap_or("the canonical body"));
    figure(&format!("{way}: clips"), slides.len() as f32, "");
    figure(&format!("{way}: slide grows by, median"), slides[slides.len() / 2].0, "cm/s");
    if let Some((worst, name)) = slides.last() {
        figure(&format!("{way}: slide grows by, most ({name})"), *worst, "cm/s");
    }
    figure(&format!("{way}: clips within 0.5 cm/s"), small as f32, "");
    figure(&format!("{way}: a planted foot floats by, most"), floats.last().map_or(0.0, |f| f.0), "cm");
    figure(&format!("{way}: there and back, 99th percentile"), share(0.99), "degrees");
    let within = angles.partition_point(|a| *a <= 2.0) as f32 / angles.len() as f32;
    figure(&format!("{way}: there and back, share within 2 degrees"), within, "");
    figure(&format!("{way}: there and back, most"), share(1.0), "degrees");
    assert_eq!(small, slides.len(), "{:?}", slides.last());
    assert!(floats.last().is_none_or(|f| f.0 <= 1.0), "{floats:?}");
    let roll = |part: f32| rolls[((rolls.len() - 1) as f32 * part) as usize];
    figure(&format!("{way}: pelvis rolls by, median"), roll(0.5), "degrees");
    figure(&format!("{way}: pelvis rolls by, 99th percentile"), roll(0.99), "degrees");
    // Every joint in every frame.
    assert!(share(1.0) <= 2.0, "{}", share(1.0));
}

/// How much farther from the floor a planted ball of the foot is after retargeting, at most, metres.
fn floats_more(clip: &Clip, this: &RetargetBody<'_>, there: &Clip, that: &RetargetBody<'_>) -> f32 {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let mut most = f32::NEG_INFINITY;
    for (frame, contacts) in clip.contacts.iter().enumerate() {
        for (part, ankle) in [(Contacts::LEFT_TOE, Role::LeftAnkle), (Contacts::RIGHT_TOE, Role::RightAnkle)] {
            let mut height = |clip: &Clip, body: &RetargetBody<'_>, floor: f32| {
                clip.pose(FrameIdx(frame as u32), &mut pose);
                fk::pose(clip.skeleton(), &pose, &mut world);
                ball_of(body, &world, ankle).map(|ball| (ball.y - floor).abs())
            };
            if !contacts.has(part) {
                continue;
            }
            // Retargeted motions stand on a floor at 0.
            if let (Some(here), Some(there)) = (height(clip, this, this.anatomy.floor), height(there, that, 0.0)) {
                most = most.max(there - here);
            }
        }
    }
    most.max(0.0)
}

/// Attitude of the pelvis in the canonical body's frame.
fn pelvis_of(clip: &Clip, body: &RetargetBody<'_>, frame: u32) -> Quat {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    clip.pose(FrameIdx(frame), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    body.anatomy.canonical(body.roles, &world, Role::Pelvis).unwrap()
}

/// World rotations of all joints that have a role.
fn attitudes(clip: &Clip, body: &RetargetBody<'_>, frame: u32) -> Vec<Quat> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    clip.pose(FrameIdx(frame), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    body.roles.iter().map(|(_, joint)| world.rotation(joint)).collect()
}

#[test]
fn accad_onto_the_canonical_body_and_back() {
    there_and_back("accad_male2", None);
}

#[test]
fn cmu_onto_the_canonical_body_and_back() {
    there_and_back("cmu", None);
}

#[test]
fn accad_onto_cmu_and_back() {
    there_and_back("accad_male2", Some("14_02"));
}

#[test]
fn cmu_onto_accad_and_back() {
    there_and_back("cmu", Some("JabLeft"));
}

/// Captures on the canonical body stay within the limits of its joints, but for moments and noise.
#[test]
fn the_canonical_body_is_not_contorted() {
    let skeleton = Arc::new(humanoid::skeleton());
    let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(&skeleton));
    let to = RetargetBody { skeleton: &skeleton, roles: &roles, anatomy: &anatomy };
    let mut worst: Vec<(f32, &str, String)> = Vec::new();
    for (path, clip) in captures() {
        let u = understand(&clip).unwrap();
        let from = RetargetBody { skeleton: u.clip.skeleton(), roles: &u.roles.value, anatomy: &u.anatomy };
        let clip = retarget(&u.clip, from, to).unwrap();
        for role in Role::ALL {
            let Some(limit) = Limit::of(role) else { continue };
            let mut over: Vec<f32> = (0..clip.frames() as u32)
                .map(|f| limit.excess(clip.rotation(FrameIdx(f), role.joint())).to_degrees())
                .collect();
            over.sort_by(f32::total_cmp);
            worst.push((over[over.len() * 95 / 100], role.name(), name(&path)));
        }
    }
    worst.sort_by(|a, b| b.0.total_cmp(&a.0));
    let over = worst.iter().filter(|w| w.0 > 15.0).count();
    println!(
        "{over} of {} joints are over their limits by more than 15 degrees; the worst are {:?}",
        worst.len(),
        worst.get(..6)
    );
    // In crouching and lying, three spine joints of the capture become two.
    assert!(over as f32 <= 0.005 * worst.len() as f32, "{:?}", &worst[..over]);
}

/// Reflected captures are mirror images, however the frames of their skeletons are turned. Bones that differ between the sides, and a chest
/// whose middle is measured on a turned fighter, put fists off by up to two hands' breadths.
#[test]
fn reflections_are_mirror_images() {
    for (path, clip) in captures().iter().step_by(7) {
        let u = understand(clip).unwrap();
        let other = reflected(&u.clip, &u.roles.value, &u.anatomy).unwrap();
        let (a, b) = (Tracks::of(&u.clip), Tracks::of(&other));
        let mut worst = 0.0f32;
        for frame in (0..u.clip.frames() as u32).step_by(10) {
            for role in NEEDED {
                let (p, q) = (u.roles.value.get(role).unwrap(), u.roles.value.get(role.mirrored()).unwrap());
                let p = a.get(FrameIdx(frame), p);
                worst = worst.max((Vec3::new(-p.x, p.y, p.z) - b.get(FrameIdx(frame), q)).length());
            }
        }
        assert!(worst < 0.25, "{}: {worst} m", name(path));
    }
}
