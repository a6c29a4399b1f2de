use super::*;
use crate::{Chance, Span, humanoid};
use std::sync::Arc;

const FPS: f32 = 60.0;
const WIDE: Bounds = Bounds { along: 1e3, down: 1e3, inset: 0.0 };

fn square(half: f32) -> Vec<Vec2> {
    support::hull(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(x, z)| Vec2::new(x, z) * half))
}

/// A centre of mass one metre up that is carried sideways and back, within `seconds` there.
fn aside(far: f32, seconds: f32) -> Vec<Vec3> {
    let there = |t: f32| ease((t / seconds).clamp(0.0, 1.0));
    (0..150)
        .map(|i| {
            let t = i as f32 / FPS - 0.4;
            Vec3::new(far * (there(t) - there(t - seconds - 0.4)), 1.0, 0.0)
        })
        .collect()
}

fn zero_moment_points(path: &[Vec3]) -> Vec<Vec2> {
    let accelerations = path.windows(3).map(|w| (w[0] - w[1] * 2.0 + w[2]) * (FPS * FPS));
    accelerations
        .zip(&path[1..])
        .map(|(a, c)| Vec2::new(c.x, c.z) - Vec2::new(a.x, a.z) * (c.y / (9.81 + a.y)))
        .collect()
}

/// By hand: minimum jerk over 0.2 m in 0.25 s peaks at 5.77 · 0.2 / 0.0625 = 18 m/s², which puts the zero-moment point 18 / 9.81 = 1.9 m beside the
/// feet. Soles that reach 0.25 m aside give no more than about 0.25 g.
#[test]
fn a_body_goes_aside_only_as_fast_as_its_soles_push() {
    let keyed = aside(0.2, 0.25);
    let far = |points: &[Vec2]| points.iter().map(|p| p.x.abs()).fold(0.0, f32::max);
    assert!(far(&zero_moment_points(&keyed)) > 1.7);
    let soles = vec![square(0.25); keyed.len()];
    let settled = path(&keyed, &soles, FPS, &WIDE);
    assert!(far(&zero_moment_points(&settled)) < 0.25 + 0.01, "{}", far(&zero_moment_points(&settled)));
    let farthest = settled.iter().map(|c| c.x).fold(0.0, f32::max);
    assert!((0.08..0.25).contains(&farthest), "it still goes there: {farthest}");
    for end in [0, 1, 148, 149] {
        assert!((settled[end] - keyed[end]).length() < 1e-6, "both ends stay");
    }
}

#[test]
fn what_soles_can_do_is_left_alone() {
    let keyed = aside(0.05, 0.8);
    let settled = path(&keyed, &vec![square(0.25); keyed.len()], FPS, &WIDE);
    assert!(settled.iter().zip(&keyed).all(|(a, b)| (*a - *b).length() < 1e-6));
    // And what has been settled stays nearly as it is.
    let keyed = aside(0.2, 0.25);
    let soles = vec![square(0.25); keyed.len()];
    let once = path(&keyed, &soles, FPS, &WIDE);
    let twice = path(&once, &soles, FPS, &WIDE);
    let most = once.iter().zip(&twice).map(|(a, b)| (*a - *b).length()).fold(0.0, f32::max);
    assert!(most < 2e-3, "{most}");
}

/// Ten centimetres down in 0.15 s want 5.77 · 0.1 / 0.0225 = 26 m/s²: the floor would have to pull.
#[test]
fn nobody_sinks_faster_than_the_floor_lets_him() {
    let keyed: Vec<Vec3> = aside(0.1, 0.15).into_iter().map(|c| Vec3::new(0.0, 1.0 - c.x, 0.0)).collect();
    let bounds = Bounds { down: 4.0, ..WIDE };
    let settled = path(&keyed, &vec![square(0.25); keyed.len()], FPS, &bounds);
    let lowest = |path: &[Vec3]| {
        path.windows(3).map(|w| (w[0].y - w[1].y * 2.0 + w[2].y) * FPS * FPS).fold(f32::INFINITY, f32::min)
    };
    assert!(lowest(&keyed) < -20.0 && lowest(&settled) > -4.6, "{} {}", lowest(&keyed), lowest(&settled));
}

#[test]
fn odd_input_comes_back() {
    let bounds = Bounds { along: 3.0, down: 4.0, inset: 0.02 };
    let keyed = aside(0.2, 0.25);
    assert_eq!(path(&[], &[], FPS, &bounds), []);
    assert_eq!(path(&keyed[..1], &[square(0.2)], FPS, &bounds), keyed[..1]);
    assert_eq!(path(&keyed, &vec![Vec::new(); keyed.len()], FPS, &bounds), keyed, "in flight all the time");
    let mut broken = keyed.clone();
    broken[7].x = f32::NAN;
    assert!(path(&broken, &vec![square(0.2); keyed.len()], FPS, &bounds)[7].x.is_nan());
    // A sole that is a line or a point is none.
    let narrow = path(&keyed, &vec![vec![Vec2::ZERO, Vec2::X]; keyed.len()], FPS, &bounds);
    assert!(narrow.iter().all(|c| c.is_finite()));
    // On the floor, in the air, on the floor: finite, and it falls as it did.
    let soles: Vec<Vec<Vec2>> =
        (0..keyed.len()).map(|i| if (60..80).contains(&i) { Vec::new() } else { square(0.2) }).collect();
    let settled = path(&keyed, &soles, FPS, &bounds);
    assert!(settled.iter().all(|c| c.is_finite()));
    let bent = |path: &[Vec3], i: usize| (path[i - 1] - path[i] * 2.0 + path[i + 1]) * FPS * FPS;
    assert!((60..80).all(|i| (bent(&settled, i) - bent(&keyed, i)).length() < 0.35));
}

/// The canonical body on both feet, thrown from side to side, with knees that bend.
fn thrown(frames: usize) -> Clip {
    let skeleton = Arc::new(humanoid::skeleton());
    let mut clip = Clip::from_fn("thrown", Arc::clone(&skeleton), FPS, frames, |frame, pose| {
        let mut world = WorldPose::default();
        *pose = Pose::rest(&skeleton);
        fk::pose(&skeleton, pose, &mut world);
        let feet = [Role::LeftAnkle, Role::RightAnkle].map(|r| (r, world.position(r.joint())));
        let over = aside(0.12, 0.2).get(frame).map_or(0.0, |c| c.x);
        pose.set_root(pose.root() + Vec3::new(over, -0.06, 0.0));
        fk::pose(&skeleton, pose, &mut world);
        for (ankle, at) in feet {
            crate::ik::place(&skeleton, pose, &mut world, ankle, at, Vec3::Z, 0.0);
        }
    })
    .unwrap();
    clip.contacts = vec![Contacts::ALL; frames];
    clip
}

#[test]
fn planted_feet_stay_while_the_body_is_moved() {
    let thrown = thrown(150);
    let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(thrown.skeleton()));
    let bounds = Bounds { along: 3.0, down: 4.0, inset: 0.02 };
    let settled = clip(&thrown, &roles, &anatomy, &bounds).unwrap();
    let (before, after) = (fk::Tracks::of(&thrown), fk::Tracks::of(&settled));
    let mut most = 0.0f32;
    for frame in (0..150).map(FrameIdx) {
        for role in [Role::LeftAnkle, Role::LeftToe, Role::RightAnkle, Role::RightToe] {
            let moved = after.get(frame, role.joint()) - before.get(frame, role.joint());
            assert!(moved.length() < 1e-4, "{frame:?} {role:?} {moved}");
        }
        most = most.max((after.get(frame, JOINT) - before.get(frame, JOINT)).length());
    }
    assert!(most > 0.02, "the pelvis moves: {most}");
    assert_eq!(settled, clip(&thrown, &roles, &anatomy, &bounds).unwrap(), "the same bits");
    assert_eq!(settled.contacts, thrown.contacts);
}

const JOINT: crate::JointIdx = crate::JointIdx(Role::Pelvis as u16);

#[test]
fn clips_that_stand_on_nothing_come_back() {
    let (roles, mut thrown) = (Roles::canonical(), thrown(40));
    let anatomy = Anatomy::of_canonical(thrown.skeleton());
    let bounds = Bounds::of(SpanKind::Attack).unwrap();
    let one = thrown.trimmed(0..1).unwrap();
    assert_eq!(clip(&one, &roles, &anatomy, &bounds).unwrap(), one);
    thrown.contacts = vec![Contacts::NONE; 40];
    assert_eq!(clip(&thrown, &roles, &anatomy, &bounds).unwrap(), thrown);
    thrown.contacts.clear();
    assert_eq!(clip(&thrown, &roles, &anatomy, &bounds).unwrap(), thrown);
    assert_eq!(clip(&thrown, &Roles::default(), &anatomy, &bounds).unwrap(), thrown);
}

#[test]
fn noise_on_any_contacts_stays_finite() {
    let (roles, mut noisy) = (Roles::canonical(), thrown(90));
    let anatomy = Anatomy::of_canonical(noisy.skeleton());
    let mut chance = Chance::new(5);
    for contacts in &mut noisy.contacts {
        *contacts = Contacts::from_bits((chance.unit() * 16.0) as u8);
    }
    let settled = clip(&noisy, &roles, &anatomy, &Bounds::of(SpanKind::Step).unwrap()).unwrap();
    assert_eq!(settled.frames(), 90);
}

#[test]
fn bounds_are_the_widest_of_what_happens() {
    let mut clip = thrown(30);
    assert_eq!(Bounds::of_clip(&clip), Bounds::of(SpanKind::Step));
    clip.spans = [SpanKind::Attack, SpanKind::Step].map(|kind| Span::new(kind, "", 0.0, 0.4)).to_vec();
    let both = Bounds::of_clip(&clip).unwrap();
    assert_eq!((both.along, both.inset), (6.4, -0.005));
    clip.spans.push(Span::new(SpanKind::React, "", 0.0, 0.1));
    assert_eq!(Bounds::of_clip(&clip), None, "hits push from outside");
}
