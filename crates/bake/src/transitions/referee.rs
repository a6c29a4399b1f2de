//! The distance of two windows, slowly: all points of both gathered, laid over each other, compared one by one.
//! Judges the fast one.

use kumite_motion::align::best_planar;
use kumite_motion::fk::Tracks;
use kumite_motion::{Clip, FrameIdx, JointIdx, Vec3};

/// All points of the window centred on a frame; beyond the clip's ends its first and last pose stand still. A joint
/// of weight n comes n times.
pub fn points(clip: &Clip, centre: usize, window: usize, weights: &[u32]) -> Vec<Vec3> {
    let tracks = Tracks::of(clip);
    let mut points = Vec::new();
    for row in 0..window {
        let frame = (centre + row).saturating_sub(window / 2).min(clip.frames() - 1);
        for (joint, weight) in weights.iter().enumerate() {
            let p = tracks.get(FrameIdx(frame as u32), JointIdx(joint as u16));
            points.extend(std::iter::repeat_n(p, *weight as usize));
        }
    }
    points
}

/// Root of the mean squared distance after the best planar motion, metres.
pub fn distance(still: &[Vec3], moving: &[Vec3]) -> f64 {
    // Far from the origin the angle of the planar motion would cost digits of the place.
    let about = |points: &[Vec3]| {
        let mean = |axis: usize| points.iter().map(|p| f64::from(p[axis])).sum::<f64>() / points.len() as f64;
        let mean = Vec3::new(mean(0) as f32, 0.0, mean(2) as f32);
        points.iter().map(|p| *p - mean).collect::<Vec<Vec3>>()
    };
    let (still, moving) = (about(still), about(moving));
    let planar = best_planar(&still, &moving);
    let sum: f64 = still.iter().zip(&moving).map(|(p, q)| f64::from((*p - planar.point(*q)).length_squared())).sum();
    (sum / still.len() as f64).sqrt()
}
