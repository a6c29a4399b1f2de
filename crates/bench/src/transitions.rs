//! Finding transitions: distances of all pairs of windows in five minutes of captures, beside numpy.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use kumite_bake::graph::{GraphConfig, build};
use kumite_bake::transitions::{Cloud, TransitionConfig, each_row, find};
use kumite_motion::fk::Tracks;
use kumite_motion::volume;
use kumite_motion::{Clip, FrameIdx, JointIdx, Pose, Roles};
use serde_json::Value;

use crate::{best, figure, holds, mocap, peak_memory_kib, peer};

const FPS: f32 = 30.0;
const FRAMES: usize = 300 * FPS as usize;

pub fn run() {
    let clips = mocap::canonical_clips(FPS, |clips| clips.iter().map(Clip::frames).sum::<usize>() >= FRAMES);
    let frames: usize = clips.iter().map(Clip::frames).sum();
    if frames < FRAMES {
        eprintln!("{frames} frames of CMU captures, {FRAMES} are needed: transitions are not measured");
        return holds(false);
    }
    figure("clips", clips.len() as f64, "");
    figure("frames", frames as f64, "");
    let read = peak_memory_mb();
    let config = TransitionConfig::default();
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let (Ok(one), Ok(two)) = (on(1), on(2)) else { return holds(false) };
    let mut found = None;
    let seconds = best(5, || found = one.install(|| find(&clips, &config).ok()));
    let Some(found) = found else { return holds(false) };
    let rate = found.pairs as f64 / seconds;
    figure("pairs", found.pairs as f64, "");
    figure("transitions", found.list.len() as f64, "");
    figure("limit of the distance", f64::from(found.limit) * 100.0, "cm");
    figure("limit for long transitions", f64::from(found.long_limit) * 100.0, "cm");
    figure("find, one thread", rate / 1e6, "M pairs/s");
    let start = Instant::now();
    black_box(two.install(|| find(&clips, &config).is_ok()));
    figure("find, two threads, wall", start.elapsed().as_secs_f64(), "s");
    if let Ok((graph, report)) = build(&clips, &found, &GraphConfig::default()) {
        figure("graph", best(3, || _ = black_box(build(&clips, &found, &GraphConfig::default()))) * 1e3, "ms");
        figure("edges", graph.edges().len() as f64, "");
        figure("played by the graph", f64::from(report.seconds.1 / report.seconds.0), "share");
        let spheres = volume::fit(clips[0].skeleton(), &Roles::canonical());
        figure("spheres", spheres.len() as f64, "");
    }
    // Memory must grow with the frames, not with their square.
    let twice: Vec<Clip> = clips.iter().chain(&clips).cloned().collect();
    let once = peak_memory_mb();
    black_box(one.install(|| find(&twice, &config).is_ok()));
    if let (Some(read), Some(once), Some(twice)) = (read, once, peak_memory_mb()) {
        figure("peak after reading the captures", read, "MB");
        figure("peak after finding", once, "MB");
        figure("peak after finding in twice the frames", twice, "MB");
    }
    // The peer gets all frames as one clip.
    let poses: Vec<Pose> = clips.iter().flat_map(Clip::poses).take(FRAMES).collect();
    let Ok(all) = Clip::new("all", Arc::clone(clips[0].skeleton()), FPS, &poses) else { return holds(false) };
    let Ok(cloud) = Cloud::new(std::slice::from_ref(&all), &config) else { return holds(false) };
    let pairs = (FRAMES * (FRAMES - 1) / 2) as f64;
    let measure = |wide: bool| {
        let mut nearest = [f32::INFINITY; 8];
        let seconds = best(5, || {
            each_row(&cloud, wide, |_, _, row| {
                for chunk in row.as_chunks::<8>().0 {
                    for (a, d) in nearest.iter_mut().zip(chunk) {
                        *a = if d < a { *d } else { *a };
                    }
                }
            });
        });
        black_box(nearest);
        pairs / seconds
    };
    let (wide, plain) = (measure(true), measure(false));
    figure("distances", wide / 1e6, "M pairs/s");
    figure("distances, without AVX2", plain / 1e6, "M pairs/s");
    let peer = match numpy(&all, cloud.window()) {
        Ok(peer) => peer,
        Err(why) => {
            eprintln!("numpy is not measured: {why}");
            return holds(wide >= 150e6);
        }
    };
    figure("numpy", peer.rate / 1e6, "M pairs/s");
    figure("kumite over numpy", wide / peer.rate, "times");
    figure("find over numpy, which only computes distances", rate / peer.rate, "times");
    let worst = compare(&cloud, &peer.samples);
    figure("pairs compared with numpy's", peer.samples.len() as f64, "");
    figure("largest difference to numpy", worst * 1e6, "mm²");
    holds(wide >= 150e6 && wide / peer.rate >= 3.0 && worst < 1e-4);
}

/// Figures of the peer: pairs a second, and samples of its squared distances by frame and frame.
struct Peer {
    rate: f64,
    samples: Vec<(usize, usize, f64)>,
}

/// Runs the peer.
fn numpy(all: &Clip, window: usize) -> Result<Peer, String> {
    let folder = peer::folder("numpy");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let tracks = Tracks::of(all);
    let joints = tracks.joints();
    let places = (0..all.frames() as u32).flat_map(|f| (0..joints as u16).map(move |j| (FrameIdx(f), JointIdx(j))));
    let bytes: Vec<u8> = places.flat_map(|(f, j)| tracks.get(f, j).to_array()).flat_map(f32::to_le_bytes).collect();
    let file = folder.join("positions");
    std::fs::write(&file, bytes).map_err(|e| e.to_string())?;
    let numbers = [all.frames(), joints, window].map(|n| n.to_string());
    let words = [&file.to_string_lossy(), numbers[0].as_str(), &numbers[1], &numbers[2]];
    let out = peer::python("numpy", "transitions.py", &words)?;
    let number = |v: &Value| v.as_f64().ok_or_else(|| "the peer's answer cannot be read".to_owned());
    let mut samples = Vec::new();
    for sample in out["samples"].as_array().into_iter().flatten() {
        let [s, t, d] = [0, 1, 2].map(|k| number(&sample[k]));
        samples.push((s? as usize, t? as usize, d?));
    }
    Ok(Peer { rate: number(&out["pairs"])? / number(&out["seconds"])?, samples })
}

/// Largest difference of squared distances, square metres. Our windows are centred on their frame and the peer's start at it, so
/// indices differ by half a window.
fn compare(cloud: &Cloud, samples: &[(usize, usize, f64)]) -> f64 {
    let lead = cloud.window() / 2;
    let mut by_row: Vec<(usize, usize, f64)> = samples.iter().map(|s| (s.0 + lead, s.1 + lead, s.2)).collect();
    by_row.sort_by_key(|s| (s.0, s.1));
    let mut worst = 0.0f64;
    each_row(cloud, true, |s, t, row| {
        let start = by_row.partition_point(|sample| sample.0 < s);
        for sample in by_row[start..].iter().take_while(|sample| sample.0 == s) {
            if let Some(d) = sample.1.checked_sub(t).and_then(|k| row.get(k)) {
                worst = worst.max((f64::from(*d) - sample.2).abs());
            }
        }
    });
    worst
}

fn peak_memory_mb() -> Option<f64> {
    Some(peak_memory_kib()? / 1000.0)
}
