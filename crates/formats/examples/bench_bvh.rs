//! How fast BVH is read: ours, the best peer crate, and a ceiling, on one core in CPU time.
//!
//!     cargo run --release -p kumite-formats --example bench_bvh -- FOLDER
//!
//! One JSON object per line: task, peer, value, unit, and what it was measured on. Best of several repeats.

#![allow(clippy::print_stdout, reason = "a program whose output is its result")]

use std::error::Error;
use std::hint::black_box;

use cpu_time::ThreadTime;
use kumite_formats::bvh;

const REPEATS: usize = 15;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("give a folder of .bvh files")?;
    let mut paths: Vec<_> =
        std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    paths.retain(|path| path.extension().is_some_and(|e| e == "bvh"));
    paths.sort();
    let files: Vec<Vec<u8>> = paths.iter().map(std::fs::read).collect::<Result<_, _>>()?;
    let bytes: usize = files.iter().map(Vec::len).sum();
    let read: Vec<bvh::BvhFile> = files.iter().map(|f| Ok(bvh::read(f)?.0)).collect::<Result<_, bvh::BvhError>>()?;
    let frames: usize = read.iter().map(bvh::BvhFile::frames).sum();

    let row = |task: &str, peer: &str, value: f64, unit: &str| {
        println!(
            "{{\"task\":\"{task}\",\"peer\":\"{peer}\",\"value\":{value:.3},\"unit\":\"{unit}\",\"files\":{},\
             \"bytes\":{bytes},\"frames\":{frames}}}",
            files.len()
        );
    };
    let megabytes = bytes as f64 / 1e6;
    let ours = best(|| files.iter().try_for_each(|f| bvh::read(f).map(|file| drop(black_box(file)))))?;
    row("bvh_parse", "kumite", megabytes / ours, "MB/s");
    let peer = best(|| files.iter().try_for_each(|f| bvh_anim::from_bytes(&f[..]).map(|file| drop(black_box(file)))))?;
    row("bvh_parse", "bvh_anim 0.4", megabytes / peer, "MB/s");
    let ceiling = best(|| files.iter().try_for_each(|f| split_and_parse(f)))?;
    row("bvh_parse", "split + std parse", megabytes / ceiling, "MB/s");
    row("bvh_parse_ratio", "bvh_anim 0.4", peer / ours, "x");
    let convert = best(|| read.iter().try_for_each(|f| f.to_clip("clip").map(|clip| drop(black_box(clip)))))?;
    row("bvh_to_clip", "kumite", megabytes / convert, "MB/s");
    row("bvh_to_clip", "kumite", frames as f64 / convert / 1e6, "Mframes/s");
    let clips: Vec<_> = read.iter().map(|f| f.to_clip("clip")).collect::<Result<_, _>>()?;
    let write = best(|| {
        for clip in &clips {
            black_box(bvh::write(&bvh::BvhFile::from_clip(clip, bvh::RotationOrder::default())));
        }
        Ok::<(), bvh::BvhError>(())
    })?;
    row("bvh_write", "kumite", frames as f64 / write / 1e6, "Mframes/s");
    Ok(())
}

/// Seconds of the quickest repeat.
fn best<E>(mut work: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut best = f64::MAX;
    for _ in 0..REPEATS {
        let started = ThreadTime::now();
        work()?;
        best = best.min(started.elapsed().as_secs_f64());
    }
    Ok(best)
}

/// What a reader that only splits and parses would do with the motion; no tree, no checks.
fn split_and_parse(file: &[u8]) -> Result<(), Box<dyn Error>> {
    let text = std::str::from_utf8(file)?;
    let motion = text.find("Frame Time:").ok_or("no motion")? + "Frame Time:".len();
    let values: Vec<f32> = text[motion..].split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    black_box(values);
    Ok(())
}
