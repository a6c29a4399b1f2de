//! The referee's own time warp: stage seconds added up in small steps along the path.

/// From path seconds to stage seconds and back, both from the same moment.
pub(super) struct Schedule {
    /// Stage seconds after each step of the path.
    times: Vec<f64>,
}

/// Steps of a path in a second.
const STEPS: f32 = 1000.0;

impl Schedule {
    /// From stage seconds per path second, which are 1 from path second `until` on.
    pub(super) fn new(slowness: impl Fn(f32) -> f32, until: f32) -> Schedule {
        let mut times = vec![0.0];
        let mut time = 0.0f64;
        for step in 0..(until.max(0.0) * STEPS).ceil() as usize {
            time += f64::from(slowness((step as f32 + 0.5) / STEPS)) / f64::from(STEPS);
            times.push(time);
        }
        Schedule { times }
    }

    /// Stretches of the path last `scale` times as long, with ramps at their ends.
    pub(super) fn of_stretches(stretches: &[(f32, f32)], scale: f32, ramp: f32, until: f32) -> Schedule {
        // How much of the scale counts at a path second: a trapezoid over each stretch.
        let weight = |u: f32| {
            let inside = stretches.iter().map(|(from, to)| (u - from).min(to - u) / ramp.min(0.5 * (to - from)));
            inside.fold(0.0, f32::max).min(1.0)
        };
        Schedule::new(|u| 1.0 + (scale - 1.0) * weight(u), until)
    }

    /// From the corners of a polyline: path seconds, and stage seconds per path second.
    pub(super) fn of_corners(corners: &[(f32, f32)]) -> Schedule {
        let slowness = |u: f32| {
            let sides = corners.windows(2).find(|side| side[0].0 <= u && u < side[1].0);
            sides.map_or(1.0, |side| {
                let ((u0, w0), (u1, w1)) = (side[0], side[1]);
                w0 + (w1 - w0) * (u - u0) / (u1 - u0)
            })
        };
        Schedule::new(slowness, corners.last().map_or(0.0, |corner| corner.0))
    }

    fn last(&self) -> usize {
        self.times.len() - 1
    }

    /// Stage second at which a path second is shown; outside the path time runs as it does.
    pub(super) fn when(&self, u: f32) -> f32 {
        let at = u * STEPS;
        if at <= 0.0 {
            return u;
        }
        let k = at as usize;
        if k >= self.last() {
            return self.times[self.last()] as f32 + (u - self.last() as f32 / STEPS);
        }
        (self.times[k] + (self.times[k + 1] - self.times[k]) * f64::from(at - k as f32)) as f32
    }

    /// Path second that is shown at a stage second.
    pub(super) fn path(&self, time: f32) -> f32 {
        if time <= 0.0 {
            return time;
        }
        let k = self.times.partition_point(|t| *t <= f64::from(time)) - 1;
        let past = f64::from(time) - self.times[k];
        if k == self.last() {
            return k as f32 / STEPS + past as f32;
        }
        ((k as f64 + past / (self.times[k + 1] - self.times[k])) / f64::from(STEPS)) as f32
    }

    /// Path seconds per stage second at a path second.
    pub(super) fn rate(&self, u: f32) -> f32 {
        let k = (u * STEPS).max(0.0) as usize;
        if u < 0.0 || k >= self.last() {
            1.0
        } else {
            (1.0 / (f64::from(STEPS) * (self.times[k + 1] - self.times[k]))) as f32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A path second played twice as slowly, with ramps of 0.1 s, lasts 1 + (1 - 0.1) s: areas of trapezoids.
    #[test]
    fn times_are_what_a_hand_computes() {
        let stretches = Schedule::of_stretches(&[(0.5, 1.5)], 2.0, 0.1, 2.0);
        let corners = Schedule::of_corners(&[(0.0, 1.0), (0.5, 1.0), (0.6, 2.0), (1.4, 2.0), (1.5, 1.0)]);
        for schedule in [&stretches, &corners] {
            for (path, time) in [(0.25, 0.25), (0.5, 0.5), (0.6, 0.65), (1.0, 1.45), (1.5, 2.4), (2.0, 2.9)] {
                assert!((schedule.when(path) - time).abs() < 1e-4, "{path}: {}", schedule.when(path));
                assert!((schedule.path(time) - path).abs() < 1e-4, "{time}: {}", schedule.path(time));
            }
            for (path, rate) in [(0.2, 1.0), (0.55, 1.0 / 1.5), (1.0, 0.5), (1.8, 1.0)] {
                assert!((schedule.rate(path) - rate).abs() < 5e-3, "{path}: {}", schedule.rate(path));
            }
        }
    }
}
