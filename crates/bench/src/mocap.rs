//! Captures for the benches, and a bench that checks how they are read against an independent reader.

use std::sync::Arc;

use glam::{DMat3, DVec3};
use kumite_bake::understand;
use kumite_formats::bvh;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::fk::Tracks;
use kumite_motion::retarget::{RetargetBody, retarget};
use kumite_motion::sample::resample;
use kumite_motion::{Clip, FrameIdx, Roles, humanoid};

use crate::{figure, holds};

/// Contents of the captures of the CMU skeleton (31 joints).
pub fn cmu() -> Vec<Vec<u8>> {
    let cmu = kumite_captures::files("bvh").into_iter().filter(|p| p.to_string_lossy().contains("cmu"));
    cmu.filter_map(|p| std::fs::read(p).ok()).collect()
}

/// CMU captures on the canonical body at a frame rate, one after the other until `enough` says so.
pub fn canonical_clips(fps: f32, enough: impl Fn(&[Clip]) -> bool) -> Vec<Clip> {
    let skeleton = Arc::new(humanoid::skeleton());
    let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(&skeleton));
    let to = RetargetBody { skeleton: &skeleton, roles: &roles, anatomy: &anatomy };
    let canonical = |data: &[u8]| {
        let raw = bvh::read(data).ok()?.0.to_clip("cmu").ok()?;
        let u = understand(&raw)?;
        let from = RetargetBody { skeleton: u.clip.skeleton(), roles: &u.roles.value, anatomy: &u.anatomy };
        let clip = retarget(&u.clip, from, to).ok()?.with_fps(u.fps.value).ok()?;
        resample(&clip, fps).ok()
    };
    let mut clips: Vec<Clip> = Vec::new();
    for data in cmu() {
        if enough(&clips) {
            break;
        }
        clips.extend(canonical(&data));
    }
    clips
}

/// Reads every capture, and compares all joints of every tenth frame with an independent reader.
pub fn run() {
    let (mut read, mut failed, mut frames, mut bytes) = (0, 0, 0, 0);
    let (mut worst, mut worst_back) = (0.0f64, 0.0f64);
    for path in kumite_captures::files("bvh") {
        let Ok(data) = std::fs::read(&path) else { continue };
        bytes += data.len();
        let Ok((file, _)) = bvh::read(&data) else {
            eprintln!("{}: not read", path.display());
            failed += 1;
            continue;
        };
        let Ok(clip) = file.to_clip("capture") else {
            failed += 1;
            continue;
        };
        let again = bvh::BvhFile::from_clip(&clip, bvh::RotationOrder::default());
        let again = bvh::read(bvh::write(&again).as_bytes()).ok().and_then(|(f, _)| f.to_clip("again").ok());
        let truth = naive(&String::from_utf8_lossy(&data));
        let height = truth.iter().flatten().map(|p| p.y).fold(f64::MIN, f64::max)
            - truth.iter().flatten().map(|p| p.y).fold(f64::MAX, f64::min);
        // To metres from any unit, assuming that people in captures are 1.75 m tall; tiny synthetic skeletons do not matter here.
        let metre = if truth.len() > 1 && clip.skeleton().len() > 10 { 1.75 / height } else { 1.0 / 1.75 };
        // Without this check a capture that the independent reader could not read would count as right.
        let complete = truth.len() == clip.frames().div_ceil(10)
            && truth.iter().all(|joints| joints.len() == clip.skeleton().len() && joints.iter().all(|p| p.is_finite()));
        if !complete {
            eprintln!("{}: the independent reader found other frames or joints", path.display());
            failed += 1;
            continue;
        }
        let tracks = Tracks::of(&clip);
        let back = again.as_ref().map(Tracks::of);
        for (index, joints) in truth.iter().enumerate() {
            let frame = FrameIdx((index * 10) as u32);
            for (joint, p) in clip.skeleton().joints().zip(joints) {
                let at = tracks.get(frame, joint).as_dvec3();
                worst = worst.max((at - *p).length() * metre * 1000.0);
                if let Some(back) = &back {
                    worst_back = worst_back.max((back.get(frame, joint).as_dvec3() - at).length() * metre * 1000.0);
                }
            }
        }
        if again.is_none() {
            failed += 1;
        }
        frames += clip.frames();
        read += 1;
    }
    figure("captures read", f64::from(read), "");
    figure("captures not read", f64::from(failed), "");
    figure("frames", frames as f64, "");
    figure("size", bytes as f64 / 1e6, "MB");
    figure("largest joint error against an independent reader", worst, "mm");
    figure("largest joint error after writing and reading again", worst_back, "mm");
    holds(read > 0 && failed == 0 && worst <= 0.1 && worst_back <= 0.1);
}

/// World positions of all joints in every tenth frame, by an independent reader that works on words, matrices and doubles.
fn naive(text: &str) -> Vec<Vec<DVec3>> {
    struct Joint {
        parent: Option<usize>,
        offset: DVec3,
        channels: Vec<String>,
    }
    let mut joints: Vec<Joint> = Vec::new();
    let (mut open, mut pending): (Vec<Option<usize>>, Option<usize>) = (Vec::new(), None);
    let mut words = text.split_whitespace().peekable();
    let number = |w: Option<&str>| w.and_then(|w| w.parse::<f64>().ok()).unwrap_or(f64::NAN);
    while let Some(word) = words.next() {
        match word {
            "ROOT" | "JOINT" => {
                let parent = open.iter().rev().copied().flatten().next();
                joints.push(Joint { parent, offset: DVec3::ZERO, channels: Vec::new() });
                pending = Some(joints.len() - 1);
                words.next(); // Its name, which may be a keyword.
            }
            "End" => pending = None,
            "{" => open.push(pending.take()),
            "}" => {
                open.pop();
            }
            "OFFSET" => {
                let v = DVec3::new(number(words.next()), number(words.next()), number(words.next()));
                if let Some(Some(joint)) = open.last() {
                    joints[*joint].offset = v;
                }
            }
            "CHANNELS" => {
                let count = number(words.next()) as usize;
                let names = (0..count).filter_map(|_| words.next()).map(str::to_owned).collect();
                if let Some(Some(joint)) = open.last() {
                    joints[*joint].channels = names;
                }
            }
            "Time:" => break,
            _ => {}
        }
    }
    words.next();
    let values: Vec<f64> = words.map_while(|w| w.parse().ok()).collect();
    let width: usize = joints.iter().map(|j| j.channels.len()).sum();
    let mut out = Vec::new();
    for row in values.chunks_exact(width.max(1)).step_by(10) {
        let mut row = row.iter();
        let mut world: Vec<(DVec3, DMat3)> = Vec::new();
        for joint in &joints {
            let (mut at, mut turn) = (joint.offset, DMat3::IDENTITY);
            for channel in &joint.channels {
                let v = *row.next().unwrap_or(&f64::NAN);
                let angle = v.to_radians();
                match channel.as_str() {
                    "Xposition" => at.x = v,
                    "Yposition" => at.y = v,
                    "Zposition" => at.z = v,
                    "Xrotation" => turn *= DMat3::from_rotation_x(angle),
                    "Yrotation" => turn *= DMat3::from_rotation_y(angle),
                    _ => turn *= DMat3::from_rotation_z(angle),
                }
            }
            let (origin, frame) = joint.parent.map_or((DVec3::ZERO, DMat3::IDENTITY), |p| world[p]);
            world.push((origin + frame * at, frame * turn));
        }
        out.push(world.into_iter().map(|w| w.0).collect());
    }
    out
}
