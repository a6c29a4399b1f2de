//! Playing speed: adjustable stretches of a path are scaled by one factor, with ramps so that the speed never jumps.
//!
//! Oshita and Masaoka, § 4.1, eq. 2-3, scale whole edges and leave the jumps in speed to 'smooth time warping'. Here the rate is
//! 1 + (s - 1) m(u), with m a trapezoid over each stretch: time is C1, and s is still found in closed form because
//! the area under m takes the place of `t_avoid_adjustable`.

/// Longest ramp at the ends of a stretch, seconds of the unscaled path.
pub const RAMP: f32 = 0.08;

/// Area under the trapezoid of a stretch: its length minus one ramp.
#[inline]
pub fn area(length: f32) -> f32 {
    length - RAMP.min(0.5 * length)
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Knot {
    /// Path seconds, unscaled.
    u: f32,
    /// Stage seconds.
    t: f32,
    /// dt/du; straight to the next knot.
    w: f32,
}

/// Maps stage time to path time, both from now.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Warp {
    /// Empty if nothing is scaled.
    knots: Vec<Knot>,
    scale: f32,
}

impl Warp {
    /// Nothing is scaled.
    pub fn none() -> Warp {
        Warp { knots: Vec::new(), scale: 1.0 }
    }

    /// Multiplies the durations of stretches by `scale`. They are (from, to) in path seconds, sorted and disjoint.
    pub fn new(stretches: &[(f32, f32)], scale: f32) -> Warp {
        let mut warp = Warp::none();
        warp.set(stretches, scale);
        warp
    }

    /// [`Warp::new`] into existing memory.
    pub fn set(&mut self, stretches: &[(f32, f32)], scale: f32) {
        self.knots.clear();
        self.scale = scale;
        if scale == 1.0 {
            return;
        }
        let mut last = Knot { u: 0.0, t: 0.0, w: 1.0 };
        self.knots.push(last);
        for &(from, to) in stretches {
            let ramp = RAMP.min(0.5 * (to - from));
            for (u, w) in [(from, 1.0), (from + ramp, scale), (to - ramp, scale), (to, 1.0)] {
                let t = last.t + 0.5 * (last.w + w) * (u - last.u);
                last = Knot { u, t, w };
                self.knots.push(last);
            }
        }
    }

    /// Multiplies durations by `scale` from now until path time `to`, and takes `ramp` path seconds to get there and as long to get back.
    pub fn set_eased(&mut self, scale: f32, ramp: f32, to: f32) {
        self.knots.clear();
        self.scale = scale;
        if scale == 1.0 {
            return;
        }
        let mut last = Knot { u: 0.0, t: 0.0, w: 1.0 };
        self.knots.push(last);
        for (u, w) in [(ramp, scale), (to.max(ramp), scale), (to.max(ramp) + ramp, 1.0)] {
            let t = last.t + 0.5 * (last.w + w) * (u - last.u);
            last = Knot { u, t, w };
            self.knots.push(last);
        }
    }

    /// The rest of it, from `seconds` of stage time on.
    pub fn later(&self, seconds: f32) -> Warp {
        let path = self.at(seconds).0;
        let knots = self.knots.iter().map(|k| Knot { u: k.u - path, t: k.t - seconds, ..*k }).collect();
        Warp { knots, scale: self.scale }
    }

    /// Factor on the durations of adjustable stretches; above 1 is slower.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// What it is made of: path seconds and stage seconds per path second, straight in between, 1 outside. Empty if nothing is scaled.
    pub fn corners(&self) -> Vec<(f32, f32)> {
        self.knots.iter().map(|knot| (knot.u, knot.w)).collect()
    }

    /// Whether a stage time is past all scaling.
    pub fn ended(&self, t: f32) -> bool {
        self.knots.last().is_none_or(|k| t >= k.t)
    }

    /// Path seconds at a stage time, and path seconds per stage second there.
    pub fn at(&self, t: f32) -> (f32, f32) {
        let next = self.knots.partition_point(|k| k.t <= t);
        let Some(a) = next.checked_sub(1).and_then(|i| self.knots.get(i)) else { return (t, 1.0) };
        let Some(b) = self.knots.get(next) else { return (a.u + (t - a.t), 1.0) };
        let past = t - a.t;
        let slope = (b.w - a.w) / (b.u - a.u).max(1e-9);
        // The root of w u + slope u² / 2 = past, in the form that does not cancel.
        let root = (a.w * a.w + 2.0 * slope * past).max(0.0).sqrt();
        let u = 2.0 * past / (a.w + root).max(1e-9);
        (a.u + u, 1.0 / (a.w + slope * u).max(1e-6))
    }

    /// Stage time at which a path time is shown.
    pub fn when(&self, u: f32) -> f32 {
        let next = self.knots.partition_point(|k| k.u <= u);
        let Some(a) = next.checked_sub(1).and_then(|i| self.knots.get(i)) else { return u };
        let Some(b) = self.knots.get(next) else { return a.t + (u - a.u) };
        let slope = (b.w - a.w) / (b.u - a.u).max(1e-9);
        a.t + a.w * (u - a.u) + 0.5 * slope * (u - a.u) * (u - a.u)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn time_goes_on_evenly_and_back(a in 0.0f32..0.5, length in 0.02f32..1.0, scale in 0.26f32..4.0, t in 0.0f32..4.0) {
            let warp = Warp::new(&[(a, a + length), (a + length + 0.1, a + length + 0.3)], scale);
            let (u, rate) = warp.at(t);
            prop_assert!((warp.when(u) - t).abs() < 2e-4, "{} and {t}", warp.when(u));
            // The rate is 1/w, and w goes straight from 1 to the scale along a ramp: so fast the rate changes at most.
            let (ramp, least) = (RAMP.min(0.5 * length), scale.min(1.0));
            let steepest = (scale - 1.0).abs() / ramp / (least * least * least);
            let h = 2e-3;
            let slope = (warp.at(t + h).0 - warp.at((t - h).max(0.0)).0) / (h + h.min(t));
            prop_assert!((slope - rate).abs() < steepest * h + 2e-3, "{slope} and {rate}");
            // C1: no jump of the rate.
            prop_assert!((warp.at(t + 1e-4).1 - rate).abs() < steepest * 1e-4 + 2e-3, "{} and {rate}", warp.at(t + 1e-4).1);
            // Closed form of the whole.
            let whole = area(length) + area(0.2);
            let end = a + length + 0.3;
            prop_assert!((warp.when(end) - (end + (scale - 1.0) * whole)).abs() < 1e-3);
        }
    }

    #[test]
    fn the_rest_of_a_warp_goes_on_with_it() {
        let warp = Warp::new(&[(0.1, 0.6), (0.8, 1.0)], 1.7);
        for (past, t) in (0..20).flat_map(|p| (0..20).map(move |t| (0.1 * p as f32, 0.1 * t as f32))) {
            let (rest, whole) = (warp.later(past), warp.at(past + t));
            let (u, rate) = rest.at(t);
            assert!((u + warp.at(past).0 - whole.0).abs() < 1e-4 && (rate - whole.1).abs() < 1e-2, "{past} {t}");
            assert!((rest.when(u) - t).abs() < 1e-4);
        }
    }

    #[test]
    fn no_scale_is_no_warp() {
        let warp = Warp::new(&[(0.0, 1.0)], 1.0);
        assert_eq!(warp, Warp::none());
        assert_eq!((warp.at(0.7), warp.when(0.7)), ((0.7, 1.0), 0.7));
    }
}
