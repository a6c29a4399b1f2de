//! The decaying offset of a body against the motion that it plays: what is left of a join that no edge of the graph has, such as the one
//! out of a bend that was given up.

use std::sync::Arc;

use kumite_motion::Vec3;
use kumite_motion::blend::{decay, decay_rate};

use crate::bodies::{Bodies, Row};
use crate::legs::PlacedLeg;
use crate::warp::Warp;

/// An inertialised join on centres, in the world. It takes the place of the join with which the edge being played began.
#[derive(Clone, Debug, PartialEq)]
pub struct Drift {
    /// Offset and its speed at the join's beginning, each laid out like a [`Row`]: metres, metres per second.
    values: Arc<[f32]>,
    /// Largest offset and largest speed of any centre.
    most: (f32, f32),
    /// Of the whole join, and how long ago it began. Stage seconds.
    seconds: f32,
    since: f32,
}

impl Bodies {
    /// A join of `seconds` that began `since` seconds ago, from what was `shown` into a `motion`. Both are centres in the order of a
    /// [`Row`], in the world, at two moments `step` seconds apart: the last of what was shown and the first of the motion lie together.
    pub fn drift(&self, shown: [&[Vec3]; 2], motion: [&[Vec3]; 2], step: f32, (seconds, since): (f32, f32)) -> Drift {
        let width = self.width();
        let mut values = vec![0.0; 6 * width];
        let mut most = (0.0f32, 0.0f32);
        let centres = shown[0].iter().zip(shown[1]).zip(motion[0].iter().zip(motion[1]));
        for (j, ((before, left), (entered, later))) in centres.enumerate().take(width) {
            let offset = *left - *entered;
            let speed = ((*left - *before) - (*later - *entered)) / step;
            most = (most.0.max(offset.length()), most.1.max(speed.length()));
            for (k, v) in offset.to_array().into_iter().chain(speed.to_array()).enumerate() {
                values[k * width + j] = v;
            }
        }
        Drift { values: values.into(), most, seconds, since }
    }
}

impl Drift {
    /// Weights of offset and speed at a stage time from now on a leg of a laid-out path; `None` once it is over. A leg that begins with a
    /// join takes over what is left, and fades it in its own time.
    fn weights(&self, legs: &[PlacedLeg], warp: &Warp, time: f32, leg: usize) -> Option<(f32, f32)> {
        let (mut began, mut whole) = (-self.since, self.seconds);
        // Weights at the beginning of the join in progress, and how fast they changed.
        let (mut at, mut rate) = ((1.0, 0.0), (0.0, 1.0));
        for leg in legs.iter().take(leg + 1).skip(1).filter(|l| l.blend > 0.0) {
            let now = warp.when(leg.begins);
            if now - began >= whole {
                return None;
            }
            let ((keep, drift), (keeping, drifting)) = (decay(now - began, whole), decay_rate(now - began, whole));
            (at, rate) = (
                (at.0 * keep + rate.0 * drift, at.1 * keep + rate.1 * drift),
                (at.0 * keeping + rate.0 * drifting, at.1 * keeping + rate.1 * drifting),
            );
            (began, whole) = (now, leg.blend);
        }
        let (keep, drift) = decay(time - began, whole);
        (time - began < whole).then_some((at.0 * keep + rate.0 * drift, at.1 * keep + rate.1 * drift))
    }

    /// When it is over on a laid-out path, stage seconds from now.
    pub(crate) fn ends(&self, legs: &[PlacedLeg], warp: &Warp) -> f32 {
        let joins = legs.iter().skip(1).filter(|l| l.blend > 0.0);
        joins.fold(self.seconds - self.since, |ends, leg| {
            let now = warp.when(leg.begins);
            if now < ends { now + leg.blend } else { ends }
        })
    }

    /// Farthest that it carries any centre at a stage time from now on a leg, metres.
    pub(crate) fn reach(&self, legs: &[PlacedLeg], warp: &Warp, time: f32, leg: usize) -> f32 {
        let weights = self.weights(legs, warp, time, leg);
        weights.map_or(0.0, |(offset, speed)| offset.abs() * self.most.0 + speed.abs() * self.most.1)
    }

    /// Adds it to the body at a stage time from now on a leg, in the frame of the leg's clip.
    pub(crate) fn add(&self, bodies: &Bodies, legs: &[PlacedLeg], warp: &Warp, time: f32, leg: usize, row: &mut Row) {
        let Some((keep, drift)) = self.weights(legs, warp, time, leg) else { return };
        let (width, place) = (bodies.width(), &legs[leg].place);
        let mut lanes = self.values.chunks_exact(width);
        let mut lane = || lanes.next().unwrap_or_default();
        let [ox, oy, oz, sx, sy, sz] = [lane(), lane(), lane(), lane(), lane(), lane()].map(|lane| &lane[..width]);
        let (x, rest) = row.values[..3 * width].split_at_mut(width);
        let (y, z) = rest.split_at_mut(width);
        for j in 0..width {
            let offset = Vec3::new(ox[j], oy[j], oz[j]) * keep + Vec3::new(sx[j], sy[j], sz[j]) * drift;
            let offset = place.rotate_back(offset);
            (x[j], y[j], z[j]) = (x[j] + offset.x, y[j] + offset.y, z[j] + offset.z);
        }
    }
}
