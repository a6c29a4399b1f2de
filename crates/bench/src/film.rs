//! Films of an embedded motion, in CPU time of all threads, beside drawing every frame as a still.

use std::hint::black_box;

use cpu_time::ProcessTime;
use kumite_keying::embedded;
use kumite_motion::Roles;
use kumite_picture::{Figure, Movie, Strip, Times};

use crate::{figure, holds};

/// Frames per second of what is written.
const FPS: f32 = 50.0;

pub fn run() {
    let clips = embedded::clips().unwrap_or_default();
    // On the spot, and of a camera that follows.
    let named = |name: &str| clips.iter().find(|clip| clip.name == name);
    let (Some(jab), Some(walk)) = (named("jab"), named("walk")) else { return holds(false) };
    for (clip, what) in [(jab, "jab"), (walk, "walk")] {
        let frames = (clip.seconds() * FPS).floor() + 1.0;
        let strip = Strip { width: 480, row_height: 420, ..Strip::of(Figure::with_roles(clip, Roles::canonical())) };
        let movie = Movie { fps: FPS, ..Movie::default() };
        let per_frame = |seconds: f64| 1000.0 * seconds / f64::from(frames);
        figure(&format!("{what}, frames"), f64::from(frames), "");
        let gif = best(|| drop(black_box(strip.to_gif(&movie))));
        figure(&format!("{what}, GIF, a frame"), per_frame(gif), "ms");
        let mp4 = best(|| drop(black_box(strip.to_mp4(&movie))));
        figure(&format!("{what}, MP4, a frame"), per_frame(mp4), "ms");
        let stills = (0..frames as usize).step_by(8).map(|i| Times::At(vec![i as f32 / FPS]));
        let stills: Vec<Strip<'_>> = stills.map(|times| Strip { times, ..strip.clone() }).collect();
        let still = best(|| stills.iter().for_each(|strip| drop(black_box(strip.render())))) / stills.len() as f64;
        figure(&format!("{what}, a still"), 1000.0 * still, "ms");
    }
    holds(true);
}

/// CPU seconds of all threads, of the faster of three runs.
fn best(mut work: impl FnMut()) -> f64 {
    let mut once = || {
        let start = ProcessTime::now();
        work();
        start.elapsed().as_secs_f64()
    };
    (0..3).map(|_| once()).fold(f64::INFINITY, f64::min)
}
