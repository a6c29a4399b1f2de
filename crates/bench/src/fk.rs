//! Forward kinematics of captured poses: pose by pose, and clip by clip.

use std::hint::black_box;

use glam::{DMat4, DVec3};
use kumite_formats::bvh;
use kumite_motion::fk::{self, Tracks};
use kumite_motion::{Clip, Pose, WorldPose};

use crate::{best, figure, holds, mocap};

pub fn run() {
    let clips: Vec<Clip> = mocap::cmu()
        .iter()
        .filter_map(|data| bvh::read(data).ok()?.0.to_clip("cmu").ok())
        .filter(|clip| clip.skeleton().len() == 31)
        .collect();
    let frames: usize = clips.iter().map(Clip::frames).sum();
    if frames == 0 {
        eprintln!("no CMU captures: fk is not measured");
        return holds(false);
    }
    figure("poses", frames as f64, "");
    let poses: Vec<(usize, Pose)> =
        clips.iter().enumerate().flat_map(|(i, c)| c.poses().into_iter().map(move |p| (i, p))).collect();
    let mut world = WorldPose::default();
    let one = best(15, || {
        for (clip, pose) in &poses {
            fk::pose(clips[*clip].skeleton(), pose, &mut world);
            black_box(&world);
        }
    });
    figure("one pose at a time", frames as f64 / one / 1e6, "M poses/s");
    let mut tracks: Vec<Tracks> = clips.iter().map(Tracks::of).collect();
    let mut whole = |plain: bool| {
        best(15, || {
            for (clip, tracks) in clips.iter().zip(&mut tracks) {
                if plain {
                    tracks.fill_plain(clip)
                } else {
                    tracks.fill(clip)
                }
                black_box(&*tracks);
            }
        })
    };
    let (wide, plain) = (whole(false), whole(true));
    figure("a clip at once", frames as f64 / wide / 1e6, "M poses/s");
    figure("a clip at once, without AVX2", frames as f64 / plain / 1e6, "M poses/s");
    // A clip that fits the second-level cache, as clips of a library do.
    let small = &clips[0];
    let mut track = Tracks::of(small);
    let hot = best(15, || {
        for _ in 0..200 {
            track.fill(small);
            black_box(&track);
        }
    });
    figure("a clip at once, in cache", 200.0 * small.frames() as f64 / hot / 1e6, "M poses/s");
    let naive = best(3, || {
        for (clip, pose) in &poses {
            let skeleton = clips[*clip].skeleton();
            let mut matrices: Vec<DMat4> = Vec::new();
            for joint in skeleton.joints() {
                let at = if joint.0 == 0 { pose.root() } else { skeleton.offset(joint) };
                let local = DMat4::from_rotation_translation(pose.rotation(joint).as_dquat(), DVec3::from(at));
                matrices.push(skeleton.parent(joint).map_or(local, |p| matrices[p.at()] * local));
            }
            black_box(&matrices);
        }
    });
    figure("naive: 4x4 matrices of doubles, a list a pose", frames as f64 / naive / 1e6, "M poses/s");
    figure("one pose at a time over naive", naive / one, "times");
    figure("a clip at once over naive", naive / wide, "times");
    holds(frames as f64 / one >= 3.5e6 && frames as f64 / wide >= 15e6);
}
