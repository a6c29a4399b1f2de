//! The thesis' own examples, rule by rule, on a body that stands with hanging arms and faces +Z.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kumite_motion::rotation::{about, to_vector, twist_angle};
use kumite_motion::{Pose, Role, Skeleton, Vec3, humanoid};
use kumite_react::rules::{
    Aim, Block, Controls, Lean, Part, RearHead, Recoil, Ribs, Rule, Setting, Stance, TABLE, Turn, turn_side,
};
use kumite_react::{Body, Impact};

fn standing(skeleton: &Skeleton) -> Stance {
    let mut pose = Pose::rest(skeleton);
    for (role, side) in [(Role::LeftShoulder, 1.0), (Role::RightShoulder, -1.0)] {
        pose.rotations[role.joint().at()] = about(Vec3::Z, -1.3 * side);
    }
    let mut stance = Stance { pose, ..Stance::default() };
    stance.update(skeleton);
    stance
}

/// A ball at a part, from a direction.
fn ball(stance: &Stance, part: Role, from: Vec3) -> Impact {
    let target = stance.world.position(part.joint()) + Vec3::Y * 0.08;
    Impact { target, velocity: -from.normalize() * 20.0, radius: 0.11, mass: 0.43 }
}

struct Tried {
    before: Stance,
    after: Stance,
    aim: Aim,
}

/// Applies rules, all of them fully.
fn tried(rules: &[&dyn Rule], part: Role, from: Vec3) -> Tried {
    let skeleton = humanoid::skeleton();
    let body = Body::of(&skeleton).unwrap();
    let before = standing(&skeleton);
    let aim = Aim::of(&ball(&before, part, from), &body, &before.world);
    let turns = turn_side(&aim, &before.world, None);
    let setting =
        Setting { skeleton: &skeleton, body: &body, aims: [aim; 2], turns, gain: 1.0, planted: true, raised: None };
    let mut after = before.clone();
    let controls = Controls { lean: 1.0, turn: 1.0, recoil: 1.0, reach: [0.5; 2], swivel: [0.5; 2] };
    rules.iter().for_each(|rule| rule.apply(&setting, &controls, &mut after));
    Tried { before, after, aim }
}

impl Tried {
    fn moved(&self, role: Role) -> Vec3 {
        self.after.world.position(role.joint()) - self.before.world.position(role.joint())
    }

    fn yaw(&self, role: Role) -> f32 {
        let turn = self.after.world.rotation(role.joint()) * self.before.world.rotation(role.joint()).conjugate();
        twist_angle(turn, Vec3::Y)
    }
}

const FRONT: Vec3 = Vec3::Z;
const LEFT: Vec3 = Vec3::X;

#[test]
fn from_the_front_it_leans_back_and_from_the_left_to_the_right() {
    let front = tried(&[&Lean], Role::Head, FRONT).moved(Role::Head);
    assert!(front.z < -0.2 && front.x.abs() < 1e-3, "{front}");
    let left = tried(&[&Lean], Role::Head, LEFT).moved(Role::Head);
    assert!(left.x < -0.2 && left.z.abs() < 1e-3, "{left}");
    let behind = tried(&[&Lean], Role::Head, -FRONT).moved(Role::Head);
    assert!(behind.z > 0.2, "{behind}");
}

#[test]
fn the_pelvis_response_leans_towards_the_threat() {
    // Weights are those of distances, so a threat at the pelvis' own place is all the pelvis'.
    let tried = tried(&[&Lean], Role::Pelvis, FRONT);
    assert!(tried.aim.head < 0.2, "{:?}", tried.aim);
    assert!(tried.moved(Role::Head).z > 0.03, "{}", tried.moved(Role::Head));
}

#[test]
fn from_the_left_it_turns_right_neck_first() {
    let tried = tried(&[&Turn], Role::Head, LEFT);
    assert!(tried.yaw(Role::Head) < -1.0, "{}", tried.yaw(Role::Head));
    let (neck, trunk) = (tried.yaw(Role::Head) - tried.yaw(Role::Back), tried.yaw(Role::Back));
    assert!(neck.abs() > trunk.abs() && trunk < 0.0, "{neck} {trunk}");
    assert!(neck.abs().to_degrees() < 66.0 && trunk.abs().to_degrees() < 41.0);
}

#[test]
fn straight_ahead_it_turns_away_from_the_shoulder_that_leads() {
    let skeleton = humanoid::skeleton();
    let body = Body::of(&skeleton).unwrap();
    let mut stance = standing(&skeleton);
    // The left shoulder leads when the body is turned to the right and the head looks ahead.
    stance.pose.rotations[Role::Pelvis.joint().at()] = about(Vec3::Y, -0.6);
    stance.pose.rotations[Role::Neck.joint().at()] = about(Vec3::Y, 0.6);
    stance.update(&skeleton);
    let aim = Aim::of(&ball(&stance, Role::Head, FRONT), &body, &stance.world);
    assert_eq!(turn_side(&aim, &stance.world, None), -1.0);
    // It keeps turning as it did, as long as the threat stays ahead.
    assert_eq!(turn_side(&aim, &stance.world, Some(1.0)), 1.0);
    let aside = Aim { eccentricity: 0.9, ..aim };
    assert_eq!(turn_side(&aside, &stance.world, Some(1.0)), -1.0);
}

#[test]
fn recoil_buries_the_head_between_the_shoulders() {
    let tried = tried(&[&Recoil], Role::Head, FRONT);
    for shoulder in [Role::LeftShoulder, Role::RightShoulder] {
        assert!(tried.moved(shoulder).y > 0.05, "{shoulder:?} {}", tried.moved(shoulder));
    }
    assert!(tried.moved(Role::Head).length() < 1e-5);
}

#[test]
fn hands_block_between_the_threat_and_the_head() {
    let tried = tried(&[&Lean, &Turn, &Recoil, &Block], Role::Head, FRONT);
    for wrist in [Role::LeftWrist, Role::RightWrist] {
        let at = tried.after.world.position(wrist.joint()) - tried.aim.target;
        let off = at - tried.aim.along * at.dot(tried.aim.along);
        assert!(at.dot(tried.aim.along) < -0.1, "{wrist:?} is not before the target: {at}");
        assert!(off.length() < 0.12, "{wrist:?} is {} m off the way", off.length());
    }
    // Elbows hang: none is above its wrist.
    for (elbow, wrist) in [(Role::LeftElbow, Role::LeftWrist), (Role::RightElbow, Role::RightWrist)] {
        let at = |role: Role| tried.after.world.position(role.joint()).y;
        assert!(at(elbow) < at(wrist));
    }
}

#[test]
fn large_threats_are_met_closer_than_small_ones() {
    let skeleton = humanoid::skeleton();
    let body = Body::of(&skeleton).unwrap();
    let before = standing(&skeleton);
    let aim = Aim::of(&ball(&before, Role::Head, FRONT), &body, &before.world);
    let setting = Setting {
        skeleton: &skeleton,
        body: &body,
        aims: [aim; 2],
        turns: 1.0,
        gain: 1.0,
        planted: true,
        raised: None,
    };
    let reach = |size: f32| {
        let mut stance = before.clone();
        Block.apply(&setting, &Controls::of(0.5, size), &mut stance);
        let at = |role: Role| stance.world.position(role.joint());
        (at(Role::LeftWrist) - at(Role::LeftShoulder)).length()
    };
    assert!(
        reach(0.0) > reach(0.5) + 0.05 && reach(0.5) > reach(0.9) + 0.02,
        "{} {} {}",
        reach(0.0),
        reach(0.5),
        reach(0.9)
    );
}

#[test]
fn from_behind_hands_go_behind_the_head_wherever_it_comes_from() {
    let palms = |from: Vec3| {
        let tried = tried(&[&Lean, &Turn, &Recoil, &Block, &RearHead], Role::Head, from);
        assert!(!tried.aim.in_front && tried.aim.part == Part::Head);
        let head = tried.after.world.rotation(Role::Head.joint());
        let neck = tried.after.world.position(Role::Head.joint());
        [Role::LeftWrist, Role::RightWrist].map(|w| head.conjugate() * (tried.after.world.position(w.joint()) - neck))
    };
    for from in [-FRONT, Vec3::new(0.3, 0.2, -1.0)] {
        for palm in palms(from) {
            assert!(palm.z < -0.05 && palm.y > -0.05, "{palm}");
        }
    }
}

#[test]
fn the_side_of_the_torso_is_covered_by_the_elbow() {
    let tried = tried(&[&Lean, &Turn, &Recoil, &Ribs], Role::Waist, LEFT);
    assert!(!tried.aim.in_front && tried.aim.part == Part::Torso);
    let at = |role: Role| tried.after.world.position(role.joint());
    let (elbow, shoulder) = (at(Role::LeftElbow), at(Role::LeftShoulder));
    assert!(elbow.y < shoulder.y - 0.2, "{elbow} {shoulder}");
}

#[test]
fn the_table_is_the_thesis_in_our_axes() {
    let row = |role: Role| TABLE.into_iter().find(|most| most.joint == role).unwrap();
    assert_eq!((row(Role::Neck).x, row(Role::Neck).y, row(Role::Neck).z), (50.0, 65.0, 50.0));
    assert_eq!((row(Role::LeftElbow).x, row(Role::LeftShoulder).z), (150.0, 30.0));
}

/// A rule that a user might write: looks at the sky.
#[derive(Debug)]
struct LookUp;

impl Rule for LookUp {
    fn name(&self) -> &'static str {
        "look up"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        let joint = Role::Head.joint().at();
        stance.pose.rotations[joint] *= about(Vec3::X, -0.5 * controls.turn);
        stance.update(setting.skeleton);
    }
}

#[test]
fn users_bring_their_own_rules() {
    let tried = tried(&[&Lean, &LookUp], Role::Head, FRONT);
    let plain = self::tried(&[&Lean], Role::Head, FRONT);
    let turn =
        plain.after.world.rotation(Role::Head.joint()).conjugate() * tried.after.world.rotation(Role::Head.joint());
    assert!((to_vector(turn).x + 0.5).abs() < 1e-3);
}
