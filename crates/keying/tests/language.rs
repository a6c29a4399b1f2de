//! The language: what keys mean, and what is refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kumite_keying::{embedded, read_motion};
use kumite_motion::fk;
use kumite_motion::fk::Tracks;
use kumite_motion::{Clip, Contacts, FrameIdx, JointIdx, Pose, Quat, Role, Roles, Vec3, WorldPose, mass};

fn clip(keys: &str) -> Clip {
    let text = format!("name = \"test\"\nstance = \"guard\"\nseconds = 1.0\n{keys}");
    embedded::clips_of(&read_motion(&text).unwrap()).unwrap().swap_remove(0)
}

fn at(clip: &Clip, seconds: f32, joint: JointIdx) -> Vec3 {
    Tracks::of(clip).get(FrameIdx((seconds * clip.fps()).round() as u32), joint)
}

#[test]
fn hands_get_where_they_are_sent() {
    let there = Vec3::new(0.02, 1.40, 0.60);
    let clip = clip("[[key]]\nat = 0.5\nchest = { turn = -20, lean = 5 }\nleft_hand = { to = [0.02, 1.40, 0.60] }");
    assert!((at(&clip, 0.5, Role::LeftWrist.joint()) - there).length() < 2e-3);
}

#[test]
fn hands_moved_by_nothing_ride_on_the_chest() {
    let clip = clip("[[key]]\nat = 0.5\nshift = [0.0, -0.1, 0.0]");
    let on_chest = |t: f32| at(&clip, t, Role::RightWrist.joint()) - at(&clip, t, Role::Back.joint());
    assert!((on_chest(0.5) - on_chest(0.0)).length() < 1e-3);
    assert!(at(&clip, 0.5, Role::RightWrist.joint()).y < at(&clip, 0.0, Role::RightWrist.joint()).y - 0.09);
}

#[test]
fn hands_trail_behind_where_the_trunk_goes() {
    let clip = clip("trail = 0.06\n[[key]]\nat = 0.5\nshift = [0.0, -0.1, 0.0]");
    let on_chest = |t: f32| (at(&clip, t, Role::RightWrist.joint()) - at(&clip, t, Role::Back.joint())).y;
    let still = on_chest(0.0);
    // Less at first: near its ends a motion moves as one.
    assert!(on_chest(0.2) > still + 3e-3, "left behind above: {}", on_chest(0.2) - still);
    assert!(on_chest(0.5) < still - 5e-3, "carried on below: {}", on_chest(0.5) - still);
    assert!((on_chest(1.0) - still).abs() < 1e-4);
}

#[test]
fn a_pivot_turns_the_stance_about_the_ball() {
    let clip = clip(
        "[[step]]\nfoot = \"left\"\nfrom = 0.2\nto = 0.6\nturn = 40\nlift = 0\n\
         [[step]]\nfoot = \"right\"\nfrom = 0.2\nto = 0.6\nturn = 40\nabout = \"left\"",
    );
    let [ball, other] = [Role::LeftToe, Role::RightToe].map(Role::joint);
    assert!((at(&clip, 0.0, ball) - at(&clip, 0.4, ball)).length() < 1e-4);
    let apart = |t: f32| (at(&clip, t, other) - at(&clip, t, ball)).length();
    assert!((apart(0.0) - apart(1.0)).abs() < 1e-3);
    let turned = |t: f32| {
        let line = at(&clip, t, ball) - at(&clip, t, other);
        kumite_motion::rotation::yaw_of(line).to_degrees()
    };
    assert!((turned(1.0) - turned(0.0) - 40.0).abs() < 0.1);
    assert!(clip.contacts[24].has(Contacts::LEFT_TOE) && !clip.contacts[24].has(Contacts::LEFT_HEEL));
}

#[test]
fn a_motion_can_end_in_another_stance() {
    let clip = clip(
        "ends = \"stand\"\nchange = [0.1, 0.9]\n\
         [[step]]\nfoot = \"right\"\nfrom = 0.2\nto = 0.5\n[[step]]\nfoot = \"left\"\nfrom = 0.5\nto = 0.8",
    );
    let stand = embedded::clips().unwrap().into_iter().find(|c| c.name == "stand-idle").unwrap();
    for role in Role::ALL {
        let off = at(&clip, 1.0, role.joint()) - at(&stand, 0.0, role.joint());
        assert!(off.length() < 2e-3, "{role:?} {off}");
    }
}

#[test]
fn feet_in_the_air_get_where_they_are_sent() {
    let kick = "[[step]]\nfoot = \"right\"\nfrom = 0.1\nto = 0.9\nlift = 0.02\n\
                [[key]]\nat = 0.5\nweight = 1.0\nright_foot = { to = [-0.05, 0.6, 0.5] }\nright_point = 30";
    let kicked = clip(kick);
    let there = Vec3::new(-0.05, 0.6, 0.5);
    assert!((at(&kicked, 0.5, Role::RightAnkle.joint()) - there).length() < 2e-3);
    // It comes back to where it left, and the standing foot stays.
    for (role, t) in [(Role::RightToe, 1.0), (Role::LeftToe, 0.5)] {
        assert!((at(&kicked, t, role.joint()) - at(&kicked, 0.0, role.joint())).length() < 1e-3, "{role:?}");
    }
    assert!(kicked.contacts[30] == Contacts::LEFT && kicked.contacts[0].any(Contacts::RIGHT));
    let bent = |clip: &Clip| {
        let [hip, knee, ankle] = [Role::RightHip, Role::RightKnee, Role::RightAnkle].map(|r| at(clip, 0.5, r.joint()));
        (knee - hip.lerp(ankle, 0.5)).x
    };
    let turned_out = clip(&format!("{kick}\nright_knee = 40"));
    assert!(bent(&turned_out) < bent(&kicked) - 0.03, "a right knee turned outwards is farther to the right");
}

#[test]
fn flights_lift_everything_and_land() {
    let text = "[[step]]\nfoot = \"left\"\nfrom = 0.4\nto = 0.6\nlift = 0.01\n[[step]]\nfoot = \"right\"\nfrom = 0.4\nto = 0.6\nlift = 0.01\n\
                [[flight]]\nfrom = 0.4\nto = 0.6";
    let flown = clip(text);
    let risen = |t: f32| at(&flown, t, Role::Pelvis.joint()).y - at(&flown, 0.0, Role::Pelvis.joint()).y;
    assert!((0.03..0.08).contains(&risen(0.5)) && risen(0.25) < -0.02, "{} {}", risen(0.5), risen(0.25));
    assert_eq!(flown.contacts[30], Contacts::NONE);
    assert!(flown.contacts[20].any(Contacts::LEFT) && flown.contacts[40].any(Contacts::RIGHT));
}

#[test]
fn variants_go_less_far_and_are_sooner_there() {
    let variant = read_motion("name = \"low\"\nlike = \"duck\"\namount = 0.5\npace = 0.8").unwrap();
    let variant = embedded::clips_of(&variant).unwrap().swap_remove(0);
    let duck = embedded::clips().unwrap().into_iter().find(|c| c.name == "duck").unwrap();
    assert!((variant.seconds() - 0.8 * duck.seconds()).abs() < 0.02);
    let deepest = |clip: &Clip| {
        let heights = (0..clip.frames() as u32).map(|f| Tracks::of(clip).get(FrameIdx(f), Role::Head.joint()).y);
        heights.fold(f32::INFINITY, f32::min)
    };
    let stands = at(&duck, 0.0, Role::Head.joint()).y;
    let share = (stands - deepest(&variant)) / (stands - deepest(&duck));
    assert!((0.35..0.65).contains(&share), "{share}");
    assert_eq!((variant.spans[0].label.as_str(), variant.spans[0].from), ("duck", 0.8 * duck.spans[0].from));
}

#[test]
fn whoever_falls_lies_and_gets_up_again() {
    let clips = embedded::clips().unwrap();
    let find = |name: &str| clips.iter().find(|c| c.name == name).unwrap();
    let pelvis = |clip: &Clip, t: f32| at(clip, t, Role::Pelvis.joint()).y;
    for (down, lie, up) in [
        ("knock-down-back", "lie-back", "get-up-back"),
        ("knock-down-forward", "lie-front", "get-up-front"),
        ("knock-down-left", "lie-side", "get-up-side"),
    ] {
        let [down, lie, up] = [down, lie, up].map(find);
        assert!(pelvis(down, 0.0) > 0.8 && pelvis(down, down.seconds()) < 0.25, "{}", down.name);
        assert!(pelvis(lie, 1.0) < 0.25 && pelvis(up, up.seconds()) > 0.8, "{}", up.name);
    }
}

/// The largest acceleration of the centre of mass along the floor, metres per second squared.
fn pushed(clip: &Clip) -> f32 {
    let (roles, tracks) = (Roles::canonical(), Tracks::of(clip));
    let rotations = vec![Quat::IDENTITY; clip.skeleton().len()];
    let mut world = WorldPose { rotations, ..Default::default() };
    let centres: Vec<Vec3> = (0..clip.frames() as u32)
        .map(|frame| {
            world.positions = clip.skeleton().joints().map(|j| tracks.get(FrameIdx(frame), j)).collect();
            mass::centre(clip.skeleton(), &roles, &world)
        })
        .collect();
    let along = |w: &[Vec3]| (w[0] - w[1] * 2.0 + w[2]).with_y(0.0).length() * clip.fps() * clip.fps();
    centres.windows(3).map(along).fold(0.0, f32::max)
}

/// Motions of `library/weight` are keyed so that soles can push them: none harder than 8 m/s², about what captured people do, where those they
/// are to replace go up to 13; planted feet stay.
#[test]
fn motions_with_weight_are_pushed_by_soles() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../library");
    let read = |path: &std::path::Path| {
        let motion = read_motion(&std::fs::read_to_string(path).unwrap()).unwrap();
        embedded::clips_of(&motion).unwrap().swap_remove(0)
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(folder.join("weight")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let (anew, before) = (read(&path), read(&folder.join(path.file_name().unwrap())));
        assert_eq!(anew.name, before.name);
        let (now, then) = (pushed(&anew), pushed(&before));
        assert!(now < 8.0 && now < then + 1.5, "{}: {now} m/s², {then} before", anew.name);
        let tracks = Tracks::of(&anew);
        for (part, toe) in [(Contacts::LEFT_TOE, Role::LeftToe), (Contacts::RIGHT_TOE, Role::RightToe)] {
            for frame in (1..anew.frames()).filter(|f| anew.contacts[*f].has(part) && anew.contacts[*f - 1].has(part)) {
                let [a, b] = [frame - 1, frame].map(|f| tracks.get(FrameIdx(f as u32), toe.joint()));
                assert!((b - a).length() < 1e-3, "{}: {toe:?} slides in frame {frame}", anew.name);
            }
        }
        seen += 1;
    }
    assert!(seen >= 15, "{seen} motions");
}

/// The weight thrown onto the front foot and back within half a second: settled, it goes there more gently, and the fist still arrives.
#[test]
fn what_is_settled_is_pushed_by_its_soles() {
    let keys = "[[span]]\nkind = \"attack\"\nfrom = 0.0\nto = 1.0\n\
                [[key]]\nat = 0.4\nshift = [0.0, -0.02, 0.08]\nweight = 0.8\nleft_hand = { to = [0.02, 1.40, 0.60] }";
    let (keyed, settled) = (clip(keys), clip(&format!("settle = 1\n{keys}")));
    assert!(pushed(&keyed) > 7.0 && pushed(&settled) < 5.0, "{} {}", pushed(&keyed), pushed(&settled));
    let there = Vec3::new(0.02, 1.40, 0.60);
    assert!((at(&settled, 0.4, Role::LeftWrist.joint()) - there).length() < 5e-3);
    for foot in [Role::LeftToe, Role::RightToe, Role::LeftAnkle, Role::RightAnkle] {
        assert!((at(&settled, 0.4, foot.joint()) - at(&keyed, 0.4, foot.joint())).length() < 1e-4, "{foot:?}");
    }
}

#[test]
fn parts_run_ahead_each_by_its_own_time() {
    let keys = "lead = 0.0\n[[key]]\nat = 0.5\nhips = { turn = 20 }\nchest = { turn = 20 }\nhead = { turn = 20 }";
    let (plain, early) = (clip(keys), clip(&format!("early = {{ hips = 0.06, chest = -0.04, head = 0.1 }}\n{keys}")));
    let turned = |clip: &Clip, joint: Role| {
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        clip.pose(FrameIdx(20), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let ahead = world.rotation(joint.joint()) * Vec3::Z;
        kumite_motion::rotation::yaw_of(ahead).to_degrees()
    };
    let sooner = |joint: Role| turned(&early, joint) - turned(&plain, joint);
    assert!(sooner(Role::Pelvis) > 2.0, "{}", sooner(Role::Pelvis));
    assert!(sooner(Role::Back) < -1.0, "{}", sooner(Role::Back));
    assert!(sooner(Role::Head) > 2.0, "{}", sooner(Role::Head));
}

#[test]
fn shoulders_move_of_themselves() {
    let shrug = clip("[[key]]\nat = 0.5\nleft_shoulder = { forward = 15, up = 10 }");
    let on_chest = |t: f32| at(&shrug, t, Role::LeftShoulder.joint()) - at(&shrug, t, Role::Back.joint());
    let moved = on_chest(0.5) - on_chest(0.0);
    assert!(moved.z > 0.02 && moved.y > 0.01, "{moved}");
}

/// No metronome: the beats between the first and the last are early or late, by less than is said.
#[test]
fn repetitions_may_be_uneven() {
    let lows = |vary: &str| {
        let keys = format!("[[key]]\nat = 0.1\nshift = [0.0, -0.04, 0.0]\nevery = 0.2\ntimes = 5\n{vary}");
        let rises = "[[key]]\nat = 0.2\nshift = [0.0, 0.0, 0.0]\nevery = 0.2\ntimes = 4";
        let clip = clip(&format!("lead = 0.0\n{keys}\n{rises}"));
        let height = |frame: u32| Tracks::of(&clip).get(FrameIdx(frame), Role::Pelvis.joint()).y;
        (1..60).filter(|&f| height(f) < height(f - 1) && height(f) <= height(f + 1)).collect::<Vec<u32>>()
    };
    let (even, uneven) = (lows(""), lows("vary = 0.3"));
    assert_eq!((even.len(), uneven.len()), (5, 5));
    assert_eq!((even[0], even[4]), (uneven[0], uneven[4]));
    assert!(even != uneven && even.iter().zip(&uneven).all(|(a, b)| a.abs_diff(*b) <= 4), "{even:?} {uneven:?}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (keys, line, key, message) in [
        ("[[key]]\nat = 0.5\nleft_foot = { by = [0.0, 0.1, 0.0] }", 6, "key 1 left_foot", "a step has to lift it"),
        ("[[flight]]\nfrom = 0.4\nto = 0.6", 5, "flight 1 from", "both feet have to be lifted"),
        ("[[flight]]\nfrom = 0.1\nto = 0.3", 5, "flight 1 from", "no time to push off"),
        ("early = { hips = 2.0 }", 4, "early hips", "-0.5 to 0.5"),
        ("[[key]]\nat = 0.5\nvary = 0.9", 6, "key 1 vary", "0 to 0.4"),
        ("[[step]]\nfoot = \"left\"\nfrom = 0.4\nto = 0.5\npeak = 1.0", 8, "step 1 peak", "0.1 to 0.9"),
        ("amount = -1.0", 4, "amount", "more than 0"),
        ("ends = \"stand\"", 4, "ends", "belong together"),
        ("ends = \"stand\"\nchange = [0.5, 0.5]", 5, "change 2", "is 0.5; allowed is later than from"),
        ("[[key]]\nat = 2.0", 5, "key 1 at", "is 2; allowed is 0 to 1"),
        ("[[key]]\nat = 0.1\nevery = 0.5\ntimes = 3\n[[key]]\nat = 0.2", 5, "key 1 at", "is 1.1"),
        ("[[key]]\nat = 0.5\nevery = 0.1", 4, "key 1", "belong together"),
        ("[[key]]\nat = 0.5\nleft_hnad = { by = [0, 0, 0] }", 6, "key 1 left_hnad", "did you mean left_hand?"),
        ("[[span]]\nkind = \"dodge\"\nfrom = 0\nto = 1", 5, "span 1 kind", "avoid"),
        ("[[step]]\nfoot = \"left\"\nfrom = 0.5\nto = 0.4", 7, "step 1 to", "later than from"),
    ] {
        let text = format!("name = \"test\"\nstance = \"guard\"\nseconds = 1.0\n{keys}");
        let error = read_motion(&text).unwrap_err();
        assert_eq!((error.line, error.key.as_deref()), (Some(line), Some(key)), "{error}");
        assert!(error.message.contains(message), "{error}");
    }
    let text = "name = \"test\"\nseconds = 1.0\nstance = \"gaurd\"\n";
    let error = embedded::clips_of(&read_motion(text).unwrap()).unwrap_err().located(text);
    assert_eq!((error.line, error.key.as_deref()), (Some(3), Some("stance")), "{error}");
    assert!(error.message.contains("did you mean guard?"), "{error}");
}
