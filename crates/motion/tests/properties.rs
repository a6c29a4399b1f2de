//! What must hold of any motion, on random ones.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::blend::{self, Inertia, Velocity};
use kumite_motion::fk::{self, Tracks};
use kumite_motion::ik::{self, Limb, Reach};
use kumite_motion::limits::Limit;
use kumite_motion::mirror::Mirror;
use kumite_motion::rotation::{about, between, from_vector, to_vector};
use kumite_motion::{
    Chance, Clip, Contacts, FrameIdx, Joint, JointIdx, Pose, Quat, Role, Roles, Skeleton, Span, SpanKind, Vec3,
    WorldPose, humanoid, sample,
};
use proptest::prelude::*;

fn vector(range: f32) -> impl Strategy<Value = Vec3> {
    (-range..range, -range..range, -range..range).prop_map(|(x, y, z)| Vec3::new(x, y, z))
}

/// A smooth random motion of the canonical humanoid: every channel a slow sine.
fn motion() -> impl Strategy<Value = Clip> {
    let channels = proptest::collection::vec((vector(0.7), 0.2f32..2.0, 0.0f32..6.0), 22);
    (channels, 2usize..70, prop_oneof![Just(24.0f32), Just(30.0), Just(60.0), Just(120.0), Just(23.976)]).prop_map(
        |(channels, frames, fps)| {
            let skeleton = Arc::new(humanoid::skeleton());
            let mut clip = Clip::from_fn("random", skeleton, fps, frames, |frame, pose| {
                let t = frame as f32 / fps;
                let at = |&(size, rate, phase): &(Vec3, f32, f32)| size * libm::sinf(rate * t * 6.0 + phase);
                for (q, channel) in pose.rotations.iter_mut().zip(&channels) {
                    *q = from_vector(at(channel));
                }
                pose.set_root(Vec3::new(0.0, 1.0, 0.0) + at(&channels[21]));
            })
            .unwrap();
            clip.contacts = (0..frames).map(|f| Contacts::from_bits((f / 5) as u8 & 15)).collect();
            clip.spans = vec![Span::new(SpanKind::Attack, "jab left", 0.0, clip.seconds())];
            clip
        },
    )
}

/// Any tree, some joints with translations of their own.
fn odd_clip() -> impl Strategy<Value = Clip> {
    (proptest::collection::vec((0usize..1000, vector(1.0), any::<bool>()), 1..40), 1usize..30, 0u64..1000).prop_map(
        |(joints, frames, seed)| {
            let joints: Vec<Joint> = joints
                .into_iter()
                .enumerate()
                .map(|(i, (parent, offset, moves))| Joint {
                    name: format!("j{i}"),
                    parent: (i > 0).then(|| JointIdx((parent % i.max(1)) as u16)),
                    offset,
                    rest: Quat::IDENTITY,
                    tip: None,
                    moves,
                })
                .collect();
            let skeleton = Arc::new(Skeleton::new(&joints).unwrap());
            let mut chance = Chance::new(seed);
            let mut random = || 2.0 * chance.unit() - 1.0;
            Clip::from_fn("odd", skeleton, 30.0, frames, |_, pose| {
                for q in &mut pose.rotations {
                    *q = from_vector(Vec3::new(random(), random(), random()) * 2.0);
                }
                for t in &mut pose.translations {
                    *t = Vec3::new(random(), random(), random());
                }
            })
            .unwrap()
        },
    )
}

fn world_of(clip: &Clip, seconds: f32) -> WorldPose {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    sample::pose_at(clip, seconds, &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    world
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whole_clip_fk_is_pose_by_pose_fk(clip in odd_clip()) {
        let mut tracks = Tracks::default();
        tracks.fill(&clip);
        let mut plain = Tracks::default();
        plain.fill_plain(&clip);
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        for frame in 0..clip.frames() as u32 {
            clip.pose(FrameIdx(frame), &mut pose);
            fk::pose(clip.skeleton(), &pose, &mut world);
            for joint in clip.skeleton().joints() {
                let (a, b) = (tracks.get(FrameIdx(frame), joint), plain.get(FrameIdx(frame), joint));
                prop_assert_eq!(a.to_array().map(f32::to_bits), b.to_array().map(f32::to_bits));
                prop_assert!((a - world.position(joint)).length() < 1e-4);
            }
        }
    }

    #[test]
    fn a_clip_gives_back_its_poses(clip in odd_clip()) {
        let poses = clip.poses();
        let again = Clip::new("again", Arc::clone(clip.skeleton()), clip.fps(), &poses).unwrap();
        for (frame, pose) in poses.iter().enumerate() {
            for joint in clip.skeleton().joints() {
                prop_assert!(between(again.rotation(FrameIdx(frame as u32), joint), pose.rotation(joint)) < 1e-5);
            }
            prop_assert_eq!(again.root(FrameIdx(frame as u32)), pose.root());
        }
    }

    /// Resampled positions stay within a hair of the segment between the neighbouring source frames, source frames are
    /// met exactly, and there and back is the same motion.
    #[test]
    fn resampling_stays_within_the_motion(clip in motion(), fps in 10.0f32..240.0) {
        let other = sample::resample(&clip, fps).unwrap();
        prop_assert!(other.seconds() <= clip.seconds() + 1e-3);
        prop_assert!(clip.seconds() - other.seconds() <= 1.0 / fps + 1e-3);
        prop_assert_eq!(other.contacts.len(), other.frames());
        prop_assert_eq!(&other.spans, &clip.spans);
        let fastest = Tracks::of(&clip);
        let step = (1..clip.frames() as u32).flat_map(|f| clip.skeleton().joints().map(move |j| (f, j)))
            .map(|(f, j)| (fastest.get(FrameIdx(f), j) - fastest.get(FrameIdx(f - 1), j)).length()).fold(0.0, f32::max);
        for frame in 0..other.frames() {
            let t = frame as f32 / fps;
            let (straight, curved) = (world_of(&clip, t), world_of(&other, t));
            for (p, q) in straight.positions.iter().zip(&curved.positions) {
                prop_assert!((*p - *q).length() < 0.25 * step + 1e-4, "{} m off, fastest step {}", (*p - *q).length(), step);
            }
        }
        let double = sample::resample(&clip, 2.0 * clip.fps()).unwrap();
        let back = sample::resample(&double, clip.fps()).unwrap();
        prop_assert_eq!(back.frames(), clip.frames());
        let (a, b) = (Tracks::of(&clip), Tracks::of(&back));
        for frame in 0..clip.frames() as u32 {
            for joint in clip.skeleton().joints() {
                prop_assert!((a.get(FrameIdx(frame), joint) - b.get(FrameIdx(frame), joint)).length() < 1e-4);
            }
        }
    }

    #[test]
    fn mirroring_twice_changes_no_bit(clip in motion()) {
        let mirror = Mirror::by_roles(clip.skeleton(), &Roles::canonical());
        let once = mirror.clip(&clip).unwrap();
        prop_assert_eq!(&mirror.clip(&once).unwrap(), &clip);
        // And once puts every joint where a mirror would.
        let (a, b) = (Tracks::of(&clip), Tracks::of(&once));
        for role in Role::ALL {
            let (p, q) = (a.get(FrameIdx(1), role.joint()), b.get(FrameIdx(1), role.mirrored().joint()));
            prop_assert!((Vec3::new(-p.x, p.y, p.z) - q).length() < 1e-5);
        }
        prop_assert_eq!(once.spans[0].label.as_str(), "jab right");
    }

    #[test]
    fn ik_reaches_what_is_reachable(direction in vector(1.0), share in 0.35f32..0.999, swivel in -3.0f32..3.0, pole in vector(1.0), turn in vector(2.0)) {
        prop_assume!(direction.length() > 0.1 && pole.length() > 0.1 && pole.normalize().cross(direction.normalize()).length() > 0.05);
        let skeleton = humanoid::skeleton();
        for end in [Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle] {
            let limb = Limb::of(&skeleton, end).unwrap();
            let shortest = limb.length_at(limb.flexion.1);
            let length = shortest + share * (limb.length_at(0.0) - shortest);
            let (hinge, top) = (end.parent().unwrap(), end.parent().unwrap().parent().unwrap());
            let mut pose = Pose::rest(&skeleton);
            pose.rotations[0] = from_vector(turn);
            let mut world = WorldPose::default();
            fk::pose(&skeleton, &pose, &mut world);
            let from = world.position(top.joint());
            let target = from + direction.normalize() * length;
            let held = world.rotation(end.joint());
            let miss = ik::place(&skeleton, &mut pose, &mut world, end, target, pole, swivel);
            prop_assert!(miss < 1e-4);
            prop_assert!((world.position(end.joint()) - target).length() < 1e-4);
            prop_assert!(between(world.rotation(end.joint()), held) < 1e-3);
            // A pure bend of the right sign, and the hinge where pole and swivel say.
            let bend = to_vector(pose.rotation(hinge.joint()));
            prop_assert!(bend.dot(limb.axis) > -1e-4);
            prop_assert!(bend.cross(limb.axis).length() < 1e-4);
            let found = ik::swivel_of(from, world.position(hinge.joint()), target, pole);
            if bend.length() > 0.1 {
                prop_assert!(libm::sinf(0.5 * (found - swivel)).abs() < 5e-3, "{found} {swivel}");
            }
        }
    }

    #[test]
    fn ik_stretches_towards_what_is_out_of_reach(direction in vector(1.0), far in 1.0f32..20.0) {
        prop_assume!(direction.length() > 0.1);
        let skeleton = humanoid::skeleton();
        let limb = Limb::of(&skeleton, Role::LeftWrist).unwrap();
        let target = direction.normalize() * (limb.length_at(0.0) + far);
        let bent = limb.solve(&Reach { from: Vec3::ZERO, target, pole: Vec3::new(0.3, -1.0, 0.2), swivel: 0.0 });
        let end = bent.upper * (limb.upper + bent.hinge * limb.lower);
        prop_assert!((bent.miss - far).abs() < 1e-3);
        prop_assert!((end.normalize() - target.normalize()).length() < 1e-3);
    }

    #[test]
    fn cross_fades_end_exactly(a in motion(), b in motion(), t in 0.0f32..1.0) {
        let (p, q) = (a.poses().swap_remove(0), b.poses().swap_remove(0));
        let mut out = Pose::default();
        blend::cross_fade(&p, &q, 0.0, &mut out);
        prop_assert_eq!(&out, &p);
        blend::cross_fade(&p, &q, 1.0, &mut out);
        prop_assert_eq!(&out, &q);
        blend::cross_fade(&p, &q, t, &mut out);
        for (joint, q_out) in out.rotations.iter().enumerate() {
            let whole = between(p.rotations[joint], q.rotations[joint]);
            prop_assert!(between(p.rotations[joint], *q_out) <= whole * t + 1e-3);
        }
    }

    /// Position and speed of every channel run through an inertialised join without a step, and the join ends exactly on
    /// the new motion.
    #[test]
    fn inertialised_joins_are_c1(a in motion(), b in motion(), seconds in 0.1f32..0.6) {
        let h = 1e-3f32;
        // Straight-line continuations of two poses with known speeds, so that the truth is exact.
        let speed_of = |clip: &Clip| {
            let poses = clip.poses();
            (poses[0].clone(), Velocity::between(&poses[0], &poses[1], 1.0 / clip.fps()))
        };
        let moved = |pose: &Pose, v: &Velocity, t: f32| Pose {
            translations: pose.translations.iter().zip(&v.translations).map(|(p, v)| *p + *v * t).collect(),
            rotations: pose.rotations.iter().zip(&v.rotations).map(|(q, v)| from_vector(*v * t) * *q).collect(),
        };
        let ((from, v_from), (to, v_to)) = (speed_of(&a), speed_of(&b));
        let join = Inertia::new(&from, &v_from, &to, &v_to, seconds);
        let at = |t: f32| {
            let mut pose = moved(&to, &v_to, t);
            join.apply(t, &mut pose);
            pose
        };
        let start = at(0.0);
        for (p, q) in start.rotations.iter().zip(&from.rotations) {
            prop_assert!(between(*p, *q) < 1e-4);
        }
        prop_assert!((start.root() - from.root()).length() < 1e-5);
        let after = Velocity::between(&start, &at(h), h);
        let scale = 1.0 + v_from.rotations.iter().chain(&v_to.rotations).map(|v| v.length()).fold(0.0, f32::max) / seconds;
        for (v, w) in after.rotations.iter().zip(&v_from.rotations) {
            prop_assert!((*v - *w).length() < 0.05 * scale, "{v} {w}");
        }
        for (v, w) in after.translations.iter().zip(&v_from.translations) {
            prop_assert!((*v - *w).length() < 0.05 * scale, "{v} {w}");
        }
        prop_assert_eq!(at(seconds), moved(&to, &v_to, seconds));
        // No step at the end either.
        let before = at(seconds - 1e-4);
        for (p, q) in before.rotations.iter().zip(&moved(&to, &v_to, seconds - 1e-4).rotations) {
            prop_assert!(between(*p, *q) < 1e-3);
        }
    }

    #[test]
    fn limits_clamp_to_their_inside(turn in vector(3.0)) {
        let q = from_vector(turn);
        for role in Role::ALL {
            let Some(limit) = Limit::of(role) else { continue };
            let inside = limit.clamp(q);
            prop_assert!(limit.excess(inside) < 2e-3, "{role:?} {}", limit.excess(inside));
            if limit.excess(q) == 0.0 {
                prop_assert_eq!(inside, q);
            }
        }
    }

    #[test]
    fn moving_a_clip_about_moves_every_joint(clip in motion(), turn in -3.0f32..3.0, x in -3.0f32..3.0) {
        let planar = Planar { turn, shift: kumite_motion::Vec2::new(x, -x) };
        let (a, b) = (Tracks::of(&clip), Tracks::of(&planar.apply_clip(&clip).unwrap()));
        for joint in clip.skeleton().joints() {
            prop_assert!((planar.point(a.get(FrameIdx(0), joint)) - b.get(FrameIdx(0), joint)).length() < 1e-5);
        }
    }
}

#[test]
fn people_are_within_their_limits_at_rest_and_in_a_crouch() {
    for role in Role::ALL {
        if let Some(limit) = Limit::of(role) {
            assert_eq!(limit.excess(Quat::IDENTITY), 0.0, "{role:?}");
        }
    }
    let knee = Limit::of(Role::LeftKnee).unwrap();
    assert_eq!(knee.excess(about(Vec3::X, 1.5)), 0.0);
    assert!(knee.excess(about(Vec3::X, -1.0)) > 0.5, "knees do not bend forward");
    let elbow = Limit::of(Role::RightElbow).unwrap();
    assert_eq!(elbow.excess(about(Vec3::Y, 2.0)), 0.0);
    assert!(elbow.excess(about(Vec3::Y, -1.0)) > 0.5, "elbows do not bend backward");
    // Arms hanging, arms forward, arms overhead.
    let shoulder = Limit::of(Role::LeftShoulder).unwrap();
    for q in [about(Vec3::Z, -1.5), about(Vec3::Y, -1.5), about(Vec3::Z, 1.4)] {
        assert_eq!(shoulder.excess(q), 0.0, "{q}");
    }
    let hip = Limit::of(Role::LeftHip).unwrap();
    assert_eq!(hip.excess(about(Vec3::X, -1.6)), 0.0, "a thigh can be raised to the horizontal");
    assert!(hip.excess(about(Vec3::X, 1.6)) > 0.3, "but not behind");
}

#[test]
fn bad_input_is_refused_with_a_reason() {
    let skeleton = Arc::new(humanoid::skeleton());
    let pose = Pose::rest(&skeleton);
    let clip = |fps: f32, poses: &[Pose]| Clip::new("x", Arc::clone(&skeleton), fps, poses).unwrap_err().to_string();
    assert!(clip(30.0, &[]).contains("at least one frame"));
    assert!(clip(0.0, std::slice::from_ref(&pose)).contains("positive"));
    assert!(clip(f32::NAN, std::slice::from_ref(&pose)).contains("positive"));
    let mut short = pose.clone();
    short.rotations.pop();
    assert!(clip(30.0, &[pose.clone(), short]).contains("frame 1"));
    let mut bad = pose.clone();
    bad.translations[0].x = f32::NAN;
    assert!(clip(30.0, &[bad]).contains("not finite"));
    let mut zero = pose.clone();
    zero.rotations[3] = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    assert!(clip(30.0, &[zero]).contains("not finite"));
    let mut joints = skeleton.to_joints();
    joints[4].parent = Some(JointIdx(9));
    assert!(Skeleton::new(&joints).unwrap_err().to_string().contains("joint 4"));
    joints[4].parent = None;
    assert!(Skeleton::new(&joints).is_err());
    assert!(Skeleton::new(&[]).is_err());
}

#[test]
fn trimming_keeps_what_lies_inside() {
    let skeleton = Arc::new(humanoid::skeleton());
    let poses = vec![Pose::rest(&skeleton); 31];
    let mut clip = Clip::new("x", skeleton, 30.0, &poses).unwrap();
    clip.contacts = (0..31).map(|f| Contacts::from_bits(f as u8 & 15)).collect();
    clip.spans = vec![Span::new(SpanKind::Step, "", 0.0, 0.2), Span::new(SpanKind::Idle, "", 0.5, 0.8)];
    let part = clip.trimmed(10..25).unwrap();
    assert_eq!((part.frames(), part.contacts.len(), part.spans.len()), (15, 15, 1));
    assert!((part.spans[0].from - (0.5 - 10.0 / 30.0)).abs() < 1e-5);
    assert_eq!(part.contacts[0], Contacts::from_bits(10));
    assert!(clip.trimmed(31..40).is_err());
}
