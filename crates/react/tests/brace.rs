//! The layer on a body that stands still: where it begins, where it ends, what stays put, and what it makes of nonsense.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kumite_motion::rotation::{about, between};
use kumite_motion::{Contacts, Pose, Role, Roles, Skeleton, Vec3, WorldPose, fk, humanoid, mass};
use kumite_react::balance::{Case, Objective};
use kumite_react::{Body, Brace, Impact, Request, Source, Swing, Temper};

fn standing(skeleton: &Skeleton) -> Pose {
    let mut pose = Pose::rest(skeleton);
    for (role, side) in [(Role::LeftShoulder, 1.0), (Role::RightShoulder, -1.0)] {
        pose.rotations[role.joint().at()] = about(Vec3::Z, -1.25 * side);
    }
    for (elbow, axis) in [(Role::LeftElbow, Vec3::NEG_Y), (Role::RightElbow, Vec3::Y)] {
        pose.rotations[elbow.joint().at()] = about(axis, 0.4);
    }
    // Knees a little bent: hips sink over planted feet.
    for (hip, knee, ankle) in
        [(Role::LeftHip, Role::LeftKnee, Role::LeftAnkle), (Role::RightHip, Role::RightKnee, Role::RightAnkle)]
    {
        pose.rotations[hip.joint().at()] = about(Vec3::X, -0.25);
        pose.rotations[knee.joint().at()] = about(Vec3::X, 0.5);
        pose.rotations[ankle.joint().at()] = about(Vec3::X, -0.25);
    }
    pose.translations[0].y -= 0.875 * (1.0 - libm::cosf(0.25));
    pose
}

fn source(pose: &Pose) -> Source {
    Source {
        now: pose.clone(),
        before: pose.clone(),
        apart: 1.0 / 120.0,
        soon: pose.clone(),
        ahead: pose.clone(),
        contact: pose.clone(),
        stands: [true; 2],
        swing: None,
    }
}

fn frontal() -> Impact {
    Impact { target: Vec3::new(0.0, 1.62, 0.05), velocity: Vec3::new(0.0, -1.0, -18.0), radius: 0.11, mass: 0.43 }
}

fn world_of(skeleton: &Skeleton, pose: &Pose) -> WorldPose {
    let mut world = WorldPose::default();
    fk::pose(skeleton, pose, &mut world);
    world
}

/// What is shown `time` seconds after it began.
fn shown(skeleton: &Skeleton, brace: &Brace, below: &Pose, time: f32) -> (Pose, WorldPose) {
    let (mut brace, mut pose, mut world) = (brace.clone(), below.clone(), WorldPose::default());
    // Tick by tick, as on the stage.
    let ticks = (time * 120.0).ceil().max(1.0);
    for _ in 0..ticks as u32 {
        brace.advance(time / ticks);
        pose.clone_from(below);
        brace.apply(skeleton, below, &mut pose, &mut world);
    }
    (pose, world)
}

#[test]
fn it_begins_in_the_motion_and_ends_in_it() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let (brace, _) = Brace::begin(&skeleton, &body, &source(&pose), &Request::new(frontal(), 0.6)).unwrap();
    let over = brace.timing().leaves + brace.timing().recovers;
    for time in [0.0, over - 1e-3, over + 0.1] {
        let (shown, _) = shown(&skeleton, &brace, &pose, time);
        for role in Role::ALL {
            let off = between(shown.rotation(role.joint()), pose.rotation(role.joint()));
            assert!(off < 0.02, "{role:?} at {time}: {off}");
        }
        assert!((shown.root() - pose.root()).length() < 2e-3);
    }
}

#[test]
fn at_contact_hands_are_before_the_face_and_the_weight_is_where_it_is_wanted() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let (brace, solved) = Brace::begin(&skeleton, &body, &source(&pose), &Request::new(frontal(), 0.6)).unwrap();
    let (_, world) = shown(&skeleton, &brace, &pose, 0.6);
    let before = world_of(&skeleton, &pose);
    for role in [Role::LeftAnkle, Role::RightAnkle] {
        assert!((world.position(role.joint()) - before.position(role.joint())).length() < 2e-3, "{role:?} moved");
    }
    let centre = mass::centre(&skeleton, &Roles::canonical(), &world);
    assert!((centre.x - solved.centres[1].x).abs() < 0.01 && (centre.z - solved.centres[1].y).abs() < 0.01);
    assert!(solved.case == Case::Balanced && !solved.fell_back);
    // The head has gone back, the hands are up and before it.
    let at = |w: &WorldPose, role: Role| w.position(role.joint());
    assert!(at(&world, Role::Head).z < at(&before, Role::Head).z - 0.05);
    for wrist in [Role::LeftWrist, Role::RightWrist] {
        assert!(
            at(&world, wrist).y > 1.35 && at(&world, wrist).z > at(&world, Role::Head).z + 0.1,
            "{}",
            at(&world, wrist)
        );
    }
}

#[test]
fn hands_go_straight() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let (brace, _) = Brace::begin(&skeleton, &body, &source(&pose), &Request::new(frontal(), 0.6)).unwrap();
    for (k, wrist) in [Role::LeftWrist, Role::RightWrist].into_iter().enumerate() {
        let at = |time: f32| shown(&skeleton, &brace, &pose, time).1.position(wrist.joint());
        let (from, to) = (at(0.0), at(brace.timing().reaches));
        let along = (to - from).normalize();
        for step in 0..20 {
            let off = at(brace.timing().reaches * step as f32 / 20.0) - from;
            let off = (off - along * off.dot(along)).length();
            assert!(!brace.straight(k) || off < 0.02, "{wrist:?} strays by {off}");
        }
    }
}

#[test]
fn who_is_frail_gets_only_part_of_the_way_and_who_is_timid_cowers() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let lifted = |temper: Temper| {
        let mut request = Request::new(frontal(), 0.3);
        request.temper = temper;
        let begun = Brace::begin(&skeleton, &body, &source(&pose), &request);
        shown(&skeleton, &begun.unwrap().0, &pose, 0.3).1.position(Role::LeftWrist.joint()).y
    };
    let usual = Temper::default();
    assert!(lifted(Temper { age: 90.0, fitness: 0.0, ..usual }) < lifted(usual) - 0.05);
    assert!(Temper { boldness: 0.0, ..usual }.strength() > Temper { boldness: 1.0, ..usual }.strength());
}

#[test]
fn who_moves_braces_in_stride_and_a_foot_that_nearly_lands_lands() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let mut walking = source(&pose);
    walking.before.translations[0].z -= 1.2 / 120.0;
    walking.contact.translations[0].z += 0.7;
    let request = Request::new(frontal(), 0.6);
    let (brace, _) = Brace::begin(&skeleton, &body, &walking, &request).unwrap();
    assert!(!brace.planted() && brace.rate() == 1.0);
    let mut swinging = source(&pose);
    swinging.stands = [true, false];
    for (share, planted) in [(0.3, false), (0.7, true)] {
        swinging.swing = Some(Swing { foot: 1, share });
        let (mut brace, _) = Brace::begin(&skeleton, &body, &swinging, &request).unwrap();
        assert_eq!(brace.planted(), planted, "{share}");
        brace.advance(0.6);
        assert_eq!(brace.contacts(Contacts::LEFT) == Contacts::ALL, planted);
    }
}

#[test]
fn the_printed_objective_can_be_had_and_balances_worse() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let off = |objective: Objective| {
        let mut request = Request::new(frontal(), 0.6);
        request.objective = objective;
        Brace::begin(&skeleton, &body, &source(&pose), &request).unwrap().1.terms.balance
    };
    assert!(off(Objective::Weighted) < 0.005, "{}", off(Objective::Weighted));
    assert!(off(Objective::Printed) >= off(Objective::Weighted));
}

#[test]
fn nonsense_is_refused_or_answered_by_finite_poses() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let begin =
        |impact: Impact, seconds: f32| Brace::begin(&skeleton, &body, &source(&pose), &Request::new(impact, seconds));
    let ball = frontal();
    assert!(begin(Impact { velocity: Vec3::ZERO, ..ball }, 0.6).is_err());
    assert!(begin(Impact { target: Vec3::NAN, ..ball }, 0.6).is_err());
    assert!(begin(ball, f32::NAN).is_err() && begin(ball, 0.0).is_err());
    // From below, from above, inside the body, as heavy as a ship: something finite.
    let odd = [
        Impact { velocity: Vec3::Y * 20.0, ..ball },
        Impact { velocity: Vec3::NEG_Y * 20.0, ..ball },
        Impact { target: Vec3::new(0.0, 1.0, 0.0), ..ball },
        Impact { mass: 1e6, radius: 2.0, ..ball },
        Impact { target: Vec3::new(40.0, -30.0, 5.0), ..ball },
    ];
    for impact in odd {
        let (brace, solved) = begin(impact, 0.5).unwrap();
        for tick in 0..120 {
            let (pose, _) = shown(&skeleton, &brace, &pose, tick as f32 / 60.0);
            assert!(pose.is_finite(), "{impact:?}");
        }
        assert!(solved.pose.is_finite());
    }
}

#[test]
fn the_side_of_a_second_threat_is_covered_by_its_arm() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let from = |x: f32| Impact { velocity: Vec3::new(-x, 0.0, -1.0).normalize() * 18.0, ..frontal() };
    let (first, second) = (from(0.6), from(-0.9));
    let mut request = Request::new(first, 0.6);
    let wrist = |request: &Request<'_>| {
        let (_, solved) = Brace::begin(&skeleton, &body, &source(&pose), request).unwrap();
        world_of(&skeleton, &solved.pose).position(Role::RightWrist.joint())
    };
    let alone = wrist(&request);
    request.also = Some(second);
    let both = wrist(&request);
    // Out to the right, on the way of the second.
    assert!(both.x < alone.x - 0.04, "{both} with, {alone} without the second");
}

#[test]
fn a_brace_that_is_found_again_from_where_it_was_takes_less_work() {
    let skeleton = humanoid::skeleton();
    let (body, pose) = (Body::of(&skeleton).unwrap(), standing(&skeleton));
    let mut request = Request::new(frontal(), 0.6);
    let (brace, cold) = Brace::begin(&skeleton, &body, &source(&pose), &request).unwrap();
    request.again = Some(brace.again());
    request.impact.target.x += 0.01;
    let (_, warm) = Brace::begin(&skeleton, &body, &source(&pose), &request).unwrap();
    assert!(
        warm.evaluations <= cold.evaluations && warm.terms.balance < 0.01,
        "{} and {}",
        warm.evaluations,
        cold.evaluations
    );
    assert_eq!(warm.turns, cold.turns);
}
