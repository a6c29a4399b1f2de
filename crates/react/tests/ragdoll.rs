//! A simulated body: what physics asks of it, and that nothing is seen of it where nothing happens.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use kumite_motion::rotation::about;
use kumite_motion::{Contacts, Pose, Role, Roles, Vec3, WorldPose, fk, humanoid, volume};
use kumite_react::ragdoll::parts::part_of;
use kumite_react::ragdoll::{Build, Physics, Pull, Ragdoll};
use kumite_react::response::{PART_ONE, REST, Settings};
use kumite_react::{Phase, Response, Touch};

const TICK: f32 = 1.0 / 120.0;

fn standing() -> (Arc<Build>, Pose, WorldPose) {
    let skeleton = Arc::new(humanoid::skeleton());
    let build = Arc::new(Build::of(&skeleton, &volume::fit(&skeleton, &Roles::canonical())).unwrap());
    let mut pose = Pose::rest(&skeleton);
    pose.rotations[Role::LeftShoulder.joint().at()] = about(Vec3::Z, -1.3);
    pose.rotations[Role::RightShoulder.joint().at()] = about(Vec3::Z, 1.3);
    pose.rotations[Role::LeftElbow.joint().at()] = about(Vec3::NEG_Y, 0.4);
    pose.rotations[Role::RightElbow.joint().at()] = about(Vec3::Y, 0.4);
    let mut world = WorldPose::default();
    fk::pose(&skeleton, &pose, &mut world);
    (build, pose, world)
}

/// Hits a body that stands and follows it: what is shown, tick by tick, and the response in the end.
fn hit(touch: Option<Touch>, ticks: usize) -> (Vec<WorldPose>, Response, f32, f32) {
    let (build, pose, world) = standing();
    let mut response = Response::begin(&build, [&world, &world], TICK, [true; 2], &[], Settings::default());
    if let Some(touch) = touch {
        response.touch(&touch);
    }
    let (mut physics, mut shown, mut gap, mut sunk) = (Physics::default(), Vec::new(), 0.0f32, 0.0f32);
    for _ in 0..ticks {
        let (mut pose, mut world) = (pose.clone(), world.clone());
        response.step(&mut physics, Contacts::ALL, TICK, &mut pose, &mut world);
        if let Some(ragdoll) = response.ragdoll() {
            gap = gap.max(ragdoll.gap());
            sunk = sunk.max(ragdoll.sunk());
        }
        shown.push(world);
    }
    (shown, response, gap, sunk)
}

fn ball(part: Role, at: Vec3, mass: f32, speed: f32) -> Touch {
    Touch { part, at, normal: Vec3::Z, velocity: Vec3::NEG_Z * speed, mass }
}

#[test]
fn whoever_is_not_pushed_stands_still() {
    let (_, _, world) = standing();
    let (shown, ..) = hit(None, 120);
    for (tick, shown) in shown.iter().enumerate() {
        let off = |a: &Vec3, b: &Vec3| (*a - *b).length();
        let most = shown.positions.iter().zip(&world.positions).map(|(a, b)| off(a, b)).fold(0.0, f32::max);
        assert!(most < 0.001, "tick {tick}: {most}");
    }
}

/// The bounds: what a football at 25 m/s has to move within 150 ms.
#[test]
fn a_ball_shows() {
    for (part, least) in [(Role::Head, 0.08), (Role::LeftElbow, 0.06), (Role::Back, 0.03), (Role::Pelvis, 0.015)] {
        let (build, _, world) = standing();
        let (joint, body) = (part_of(part), build.parts()[part_of(part)]);
        let role = kumite_react::ragdoll::parts::ROLES[joint].joint();
        let place = |world: &WorldPose| world.point(role, body.centre);
        let (shown, response, gap, _) = hit(Some(ball(part, place(&world) + Vec3::Z * 0.05, 0.45, 25.0)), 42);
        let moved = shown[..18].iter().map(|w| (place(w) - place(&world)).length()).fold(0.0, f32::max);
        assert!(moved >= least, "{}: {moved}", part.name());
        assert!(moved < 0.4, "{}: {moved}", part.name());
        // It gives way the way it is pushed, and its joints hold together.
        assert!(shown[..18].iter().any(|w| place(w).z < place(&world).z - 0.5 * least));
        assert!(gap <= 0.01, "{}: {gap}", part.name());
        assert_eq!(response.phase(), Phase::Fading, "{PART_ONE} s after the response physics is over");
    }
}

#[test]
fn energy_of_a_limp_body_does_not_grow() {
    let (build, _, mut world) = standing();
    world.positions.iter_mut().for_each(|p| p.y += 3.0);
    let mut ragdoll = Ragdoll::new(&build, &world, &world, TICK, &[]);
    ragdoll.push(part_of(Role::Head), Vec3::new(3.0, 1.0, -14.0), world.position(Role::Head.joint()));
    ragdoll.push(part_of(Role::LeftWrist), Vec3::new(0.0, 4.0, 3.0), world.position(Role::LeftWrist.joint()));
    let (mut physics, first) = (Physics::default(), ragdoll.energy());
    for tick in 0..180 {
        ragdoll.step(&mut physics, &world, &Pull::LIMP, TICK);
        assert!(ragdoll.energy() <= 1.02 * first, "tick {tick}: {} of {first}", ragdoll.energy());
        assert!(ragdoll.gap() <= 0.01, "tick {tick}: {}", ragdoll.gap());
    }
    // Down by then, and not through the floor.
    assert!(ragdoll.centre().0.y < 1.5 && ragdoll.sunk() < 0.05);
}

#[test]
fn a_cannonball_throws_it_down_and_it_comes_to_rest() {
    let (_, _, world) = standing();
    let at = world.position(Role::Back.joint()) + Vec3::Z * 0.1;
    let (shown, response, gap, sunk) = hit(Some(ball(Role::Back, at, 10.0, 10.0)), 360);
    assert_eq!(response.phase(), Phase::Lying);
    assert!(response.rests());
    let ragdoll = response.ragdoll().unwrap();
    assert!(ragdoll.fastest() <= REST, "{}", ragdoll.fastest());
    assert!(ragdoll.centre().0.y < 0.35 && ragdoll.centre().0.z < -0.3, "{}", ragdoll.centre().0);
    assert!(gap <= 0.01, "{gap}");
    assert!(sunk <= 0.01, "{sunk}");
    assert!(shown.iter().all(|w| w.positions.iter().all(|p| p.is_finite() && p.y > -0.05)));
}

#[test]
fn a_clone_in_the_middle_of_a_fall_falls_on_the_same_way() {
    let (build, pose, world) = standing();
    let mut response = Response::begin(&build, [&world, &world], TICK, [true; 2], &[], Settings::default());
    response.touch(&ball(Role::Back, world.position(Role::Back.joint()), 10.0, 10.0));
    let mut physics = Physics::default();
    let step = |response: &mut Response, physics: &mut Physics| {
        let (mut pose, mut world) = (pose.clone(), world.clone());
        response.step(physics, Contacts::ALL, TICK, &mut pose, &mut world);
        pose
    };
    for tick in 0..240 {
        let mut copy = response.clone();
        let shown = step(&mut response, &mut physics);
        if tick % 20 == 7 {
            // New scratch for the copy: nothing may be kept there.
            assert_eq!(step(&mut copy, &mut Physics::default()), shown, "tick {tick}");
        }
    }
}

/// How a fall ends: the tick in which a hand is first down, that in which the head is, if ever, and how fast the head then is, metres per second.
fn comes_down(along: Vec3, protects: bool) -> (Option<usize>, Option<usize>, f32) {
    let (build, pose, world) = standing();
    let mut physics = Physics::default();
    let at = world.position(Role::Back.joint()) - along * 0.1 + Vec3::Y * 0.1;
    let touch = Touch { part: Role::Back, at, normal: -along, velocity: along * 10.0, mass: 10.0 };
    let mut response = Response::begin(&build, [&world, &world], TICK, [true; 2], &[], Settings::default());
    response.touch(&touch);
    let mut limp = Ragdoll::new(&build, &world, &world, TICK, &[]);
    let [once, rest] = touch.impulse(build.parts()[part_of(Role::Back)].mass);
    limp.push(part_of(Role::Back), once + rest, at);
    let (mut hand, mut head, mut fast) = (None, None, 0.0f32);
    for tick in 0..240 {
        let (mut pose, mut world) = (pose.clone(), world.clone());
        if protects {
            response.step(&mut physics, Contacts::ALL, TICK, &mut pose, &mut world);
        } else {
            limp.step(&mut physics, &world, &Pull::LIMP, TICK);
        }
        let Some(body) = (if protects { response.ragdoll() } else { Some(&limp) }) else { break };
        let low = |role: Role, centre: Vec3| {
            let (place, turn) = body.place(part_of(role));
            place + turn * centre
        };
        let palm = |role: Role| low(role, build.parts()[part_of(role)].centre).y < 0.09;
        if hand.is_none() && (palm(Role::LeftWrist) || palm(Role::RightWrist)) {
            hand = Some(tick);
        }
        let part = &build.parts()[part_of(Role::Head)];
        let crown = low(Role::Head, part.ends[1]);
        if crown.y - part.radius < 0.02 && head.is_none() {
            head = Some(tick);
            fast = -body.speed_at(part_of(Role::Head), crown).y;
        }
    }
    (hand, head, fast)
}

/// Falls to all sides: hands are down before the head, and the head comes down slowly, if at all: slower than that of a body that does nothing about it, and below
/// 3.5 m/s, from about where heads on hard floors are hurt.
#[test]
fn falls_protect_the_head() {
    let (mut first, mut speeds, mut told) = (0, [0.0f32; 2], String::new());
    for k in 0..8 {
        let along = kumite_motion::rotation::yaw(std::f32::consts::TAU * k as f32 / 8.0) * Vec3::Z;
        let (hand, head, fast) = comes_down(along, true);
        let (_, limp_head, limp_fast) = comes_down(along, false);
        assert!(limp_head.is_some(), "a body that does nothing falls on its head too");
        first += u32::from(hand.is_some_and(|hand| head.is_none_or(|head| hand < head)));
        speeds = [speeds[0] + fast.max(0.0), speeds[1] + limp_fast.max(0.0)];
        told += &format!("{k}: hand {hand:?}, head {head:?} at {fast:.1} m/s, limp {limp_head:?} at {limp_fast:.1}\n");
        assert!(fast < 3.5, "{told}");
    }
    assert!(first >= 7 && speeds[0] < 0.7 * speeds[1], "hands first {first}, {speeds:?} of 8\n{told}");
}

/// A ball that folds an elbow by more than half a turn does not send it through all that elbows do: it goes back the way it came.
#[test]
fn an_elbow_that_is_folded_too_far_goes_back_the_way_it_came() {
    let (build, _, world) = standing();
    let elbow = Role::LeftElbow;
    let axis = humanoid::hinge_axis(elbow).unwrap();
    let mut folded = Pose::rest(build.skeleton());
    folded.rotations[elbow.joint().at()] = about(axis, 190f32.to_radians());
    folded.set_root(world.position(Role::Pelvis.joint()) + Vec3::Y);
    let (mut start, mut shown, mut pose) = (WorldPose::default(), WorldPose::default(), folded.clone());
    fk::pose(build.skeleton(), &folded, &mut start);
    let mut ragdoll = Ragdoll::new(&build, &start, &start, TICK, &[]);
    // Towards half of what it may do.
    folded.rotations[elbow.joint().at()] = about(axis, 80f32.to_radians());
    fk::pose(build.skeleton(), &folded, &mut start);
    let mut physics = Physics::default();
    for tick in 0..30 {
        ragdoll.step(&mut physics, &start, &Pull { weight: 0.0, stops: true, ..Pull::LIMP }, TICK);
        ragdoll.show(&start, &mut pose, &mut shown);
        let angle = kumite_motion::rotation::twist_angle(pose.rotations[elbow.joint().at()], axis).to_degrees();
        let angle = if angle < -90.0 { angle + 360.0 } else { angle };
        assert!((60.0..200.0).contains(&angle), "tick {tick}: {angle}");
    }
}
