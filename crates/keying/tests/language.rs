//! The language: what keys mean, and what is refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kumite_keying::{embedded, read_motion};
use kumite_motion::fk::Tracks;
use kumite_motion::{Clip, Contacts, FrameIdx, JointIdx, Role, Vec3};

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

#[test]
fn what_makes_no_sense_is_refused() {
    for (keys, line, key, message) in [
        ("[[key]]\nat = 0.5\nleft_foot = { by = [0.0, 0.1, 0.0] }", 6, "key 1 left_foot", "a step has to lift it"),
        ("[[flight]]\nfrom = 0.4\nto = 0.6", 5, "flight 1 from", "both feet have to be lifted"),
        ("[[flight]]\nfrom = 0.1\nto = 0.3", 5, "flight 1 from", "no time to push off"),
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
