//! What holds for every file: it is read back as it was written, and no bytes make the reader fail.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod common;

use std::time::Instant;

use common::{Chance, fuzz_seconds, mutate};
use glam::{Quat, Vec3};
use kumite_formats::bvh::{self, Axis, BvhFile, BvhJoint, Channel, RotationOrder};
use kumite_motion::{Clip, FrameIdx, Joint, JointIdx, Pose, Skeleton, fk::Tracks};
use proptest::prelude::*;

fn numbers(bound: f32) -> impl Strategy<Value = f32> {
    prop_oneof![
        3 => -bound..bound,
        1 => (-1000..1000i32).prop_map(|v| v as f32 * 0.25),
        1 => Just(0.0),
        1 => -1e-6..1e-6f32,
    ]
}

fn vectors(bound: f32) -> impl Strategy<Value = Vec3> {
    [numbers(bound), numbers(bound), numbers(bound)].prop_map(Vec3::from_array)
}

fn metres() -> impl Strategy<Value = Vec3> {
    [-1.0..1.0f32, -1.0..1.0f32, -1.0..1.0f32].prop_map(Vec3::from_array)
}

/// Channels of one joint: positions in any order, before or after up to three rotations about any axes.
fn channels() -> impl Strategy<Value = Vec<Channel>> {
    let axes = [Axis::X, Axis::Y, Axis::Z];
    let positions = proptest::sample::subsequence(axes.to_vec(), 0..=3).prop_shuffle();
    let rotations = proptest::collection::vec(proptest::sample::select(axes.to_vec()), 0..=3);
    (positions, rotations, any::<bool>()).prop_map(|(positions, rotations, first)| {
        let positions = positions.into_iter().map(Channel::position);
        let rotations = rotations.into_iter().map(Channel::rotation);
        if first { positions.chain(rotations).collect() } else { rotations.chain(positions).collect() }
    })
}

prop_compose! {
    /// Joints in the order of the text, with any number of children and end sites.
    fn files()(
        joints in proptest::collection::vec((
            "[A-Za-z_:][A-Za-z0-9_: .]{0,12}[a-z]",
            vectors(100.0),
            channels(),
            any::<u8>(),
            proptest::collection::vec(vectors(10.0), 0..2),
        ), 1..24),
        frames in 0usize..5,
        frame_time in 0.001..0.1f64,
    )(
        values in proptest::collection::vec(
            numbers(400.0),
            frames * (1 + joints.iter().map(|j| j.2.len()).sum::<usize>()),
        ),
        joints in Just(joints),
        frames in Just(frames),
        frame_time in Just(frame_time),
    ) -> BvhFile {
        let mut open: Vec<usize> = Vec::new();
        let mut made: Vec<BvhJoint> = Vec::new();
        for (i, (name, offset, channels, up, end_sites)) in joints.into_iter().enumerate() {
            open.truncate((open.len() - usize::from(up) % open.len().max(1)).max(usize::from(i > 0)));
            let parent = open.last().copied();
            made.push(BvhJoint { name, parent, offset, channels, end_sites });
            open.push(i);
        }
        made[0].channels.retain(|c| *c != Channel::position(Axis::Y));
        made[0].channels.insert(0, Channel::position(Axis::Y));
        let channels: usize = made.iter().map(|j| j.channels.len()).sum();
        let values = values[..(frames * channels).min(values.len()) / channels * channels].to_vec();
        let declared_frames = (values.len() / channels) as u64;
        BvhFile { joints: made, declared_frames, frame_time, values }
    }
}

prop_compose! {
    /// Clips with rest rotations and moving joints, in any tree.
    fn clips()(
        joints in proptest::collection::vec((metres(), metres(), any::<u16>(), any::<bool>(), any::<bool>()), 1..20),
        frames in 1usize..12,
        seed in any::<u64>(),
    ) -> Clip {
        let turn = |v: Vec3| Quat::from_xyzw(v.x, v.y, v.z, 0.5).normalize();
        let joints: Vec<Joint> = joints.into_iter().enumerate().map(|(i, (offset, rest, parent, tip, moves))| Joint {
            name: format!("joint {i}"),
            parent: (i > 0).then(|| JointIdx(parent % i.max(1) as u16)),
            offset,
            rest: turn(rest),
            tip: tip.then_some(rest),
            moves,
        }).collect();
        let mut chance = Chance::new(seed);
        let mut number = move || 2.0 * chance.unit() - 1.0;
        Clip::from_fn("any", Skeleton::new(&joints).unwrap().into(), 60.0, frames, |_, pose: &mut Pose| {
            for q in &mut pose.rotations {
                *q = turn(Vec3::new(number(), number(), number()));
            }
            for t in &mut pose.translations {
                *t = Vec3::new(number(), number(), number());
            }
        }).unwrap()
    }
}

proptest! {
    #[test]
    fn written_files_come_back_to_the_bit(file in files()) {
        let (back, warnings) = bvh::read(bvh::write(&file).as_bytes()).unwrap();
        prop_assert!(warnings.is_empty(), "{warnings:?}");
        prop_assert_eq!(&back, &file);
        if file.frames() > 0 {
            prop_assert_eq!(back.to_clip("a").unwrap(), file.to_clip("a").unwrap());
        }
    }

    #[test]
    fn clips_written_in_any_order_put_their_joints_where_they_were(clip in clips(), order in 0usize..6) {
        use RotationOrder::{Xyz, Xzy, Yxz, Yzx, Zxy, Zyx};
        let order = [Xyz, Xzy, Yxz, Yzx, Zxy, Zyx][order];
        let (file, _) = bvh::read(bvh::write(&BvhFile::from_clip(&clip, order)).as_bytes()).unwrap();
        let back = file.to_clip("back").unwrap();
        prop_assert_eq!((back.frames(), back.fps()), (clip.frames(), clip.fps()));
        let (was, is) = (Tracks::of(&clip), Tracks::of(&back));
        for joint in clip.skeleton().joints() {
            let name = clip.skeleton().name(joint).replace(' ', "_");
            let found = back.skeleton().find(&name).unwrap();
            for frame in (0..clip.frames() as u32).map(FrameIdx) {
                prop_assert!((was.get(frame, joint) - is.get(frame, found)).length() < 1e-4);
            }
        }
    }
}

/// Small, so that most mutations hit something that matters.
fn seeds() -> Vec<Vec<u8>> {
    let joint = |name: &str, inside: &str| {
        format!("JOINT {name}\n{{\n\tOFFSET 1.5 -2 .5\n\tCHANNELS 3 Zrotation Xrotation Yrotation\n{inside}}}\n")
    };
    let end = "End Site\n{\n\tOFFSET 0 1 0\n}\n";
    let tree = format!("HIERARCHY\nROOT{}", &joint("hips", &(joint("a", end) + &joint("b", end)))[5..]);
    let row = "1.25 -20.0625 300 0.0000 12.5e-1 -0 7 8 9";
    vec![
        format!("{tree}MOTION\nFrames: 3\nFrame Time: .0083333\n{row}\n{row}\n{row}\n").into_bytes(),
        format!("{tree}MOTION\r\nFrames: 1\r\nFrame Time: 0.04\r\n{}\r\n", row.replace(' ', "\r\n")).into_bytes(),
    ]
}

#[test]
fn mutated_files_are_read_or_refused() {
    let seeds = seeds();
    let mut chance = Chance::new(20_26);
    let started = Instant::now();
    let (mut tried, mut read) = (0_u32, 0_u32);
    while started.elapsed().as_secs_f64() < fuzz_seconds() {
        let bytes = mutate(&mut chance, &seeds);
        tried += 1;
        match bvh::read(&bytes) {
            Ok((file, warnings)) => {
                read += 1;
                assert!(file.values.len() <= bytes.len() && file.joints.len() <= bytes.len() / 6 + 1);
                assert!(file.values.capacity() <= bytes.len() + 8 && warnings.len() < 10);
                if let Ok(clip) = file.to_clip("mutated") {
                    let again = bvh::read(bvh::write(&BvhFile::from_clip(&clip, RotationOrder::Yxz)).as_bytes());
                    assert!(again.is_ok(), "{}", String::from_utf8_lossy(&bytes));
                }
            }
            Err(error) => {
                assert!(error.to_string().len() < 600, "{error}");
                assert!(error.line <= 1 + bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count());
            }
        }
    }
    assert!(read > 0 && read < tried, "{read} of {tried}");
    println!("{tried} mutated files, {read} of them could be read");
}
