//! Parsing BVH: from bytes in memory to numbers and to clips, beside a peer and a naive parser.

use std::hint::black_box;

use kumite_formats::bvh;

use crate::{best, figure, holds, mocap};

pub fn run() {
    let files = mocap::cmu();
    let bytes: usize = files.iter().map(Vec::len).sum();
    if bytes == 0 {
        eprintln!("no CMU captures: parsing is not measured");
        return holds(false);
    }
    let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
    figure("CMU files", files.len() as f64, "");
    figure("size", bytes as f64 / 1e6, "MB");
    let ours = best(9, || {
        for data in &files {
            black_box(bvh::read(data).is_ok());
        }
    });
    let peer = best(3, || {
        for data in &files {
            black_box(bvh_anim::from_bytes(&data[..]).is_ok());
        }
    });
    let words = best(3, || {
        for data in &files {
            let text = String::from_utf8_lossy(data);
            let numbers: Vec<f32> = text.split_ascii_whitespace().filter_map(|w| w.parse().ok()).collect();
            black_box(numbers.len());
        }
    });
    let parsed: Vec<bvh::BvhFile> = files.iter().filter_map(|d| Some(bvh::read(d).ok()?.0)).collect();
    let clips = best(5, || {
        for file in &parsed {
            black_box(file.to_clip("cmu").is_ok());
        }
    });
    figure("kumite", rate(ours), "MB/s");
    figure("bvh_anim 0.4", rate(peer), "MB/s");
    figure("naive: split on white space, str::parse", rate(words), "MB/s");
    figure("kumite over bvh_anim", peer / ours, "times");
    figure("kumite, numbers to clip", rate(clips), "MB/s");
    figure("kumite, bytes to clip", rate(ours + clips), "MB/s");
    holds(rate(ours) >= 400.0 && peer / ours >= 3.0);
}
