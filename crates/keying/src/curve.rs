//! Curves through keys: minimum jerk between rests, smooth through the others.

use kumite_motion::Vec3;

/// How a curve arrives at a key.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ease {
    /// Fastest half-way: the minimum-jerk profile of Flash and Hogan 1985.
    #[default]
    Smooth,
    /// Fastest late: a strike.
    Snap,
    /// Fastest early: a recovery that settles.
    Settle,
    /// Does not rest where it turns round, but springs back: the fist of a blow, a bounce.
    Whip,
}

/// A value a curve passes through.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Knot {
    /// Seconds.
    pub(crate) at: f32,
    pub(crate) value: Vec3,
    pub(crate) ease: Ease,
    /// Whether the curve stops here even though it continues in the same direction.
    pub(crate) hold: bool,
}

/// A value over time. Constant before its first and after its last knot.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Curve {
    /// With their slopes and accelerations.
    knots: Vec<(Knot, Vec3, Vec3)>,
}

impl Curve {
    /// Through the knots, in order of time; of two at the same time the later in the list counts.
    pub(crate) fn through(mut knots: Vec<Knot>) -> Curve {
        knots.sort_by(|a, b| a.at.total_cmp(&b.at));
        let mut unique: Vec<Knot> = Vec::with_capacity(knots.len());
        for knot in knots {
            match unique.last_mut() {
                Some(last) if last.at == knot.at => *last = knot,
                _ => unique.push(knot),
            }
        }
        let shapes: Vec<(Vec3, Vec3)> = (0..unique.len()).map(|i| (slope(&unique, i), spring(&unique, i))).collect();
        Curve { knots: unique.into_iter().zip(shapes).map(|(knot, (slope, spring))| (knot, slope, spring)).collect() }
    }

    pub(crate) fn at(&self, seconds: f32) -> Vec3 {
        let next = self.knots.partition_point(|(knot, ..)| knot.at <= seconds);
        let (Some((a, from, leaves)), Some((b, to, arrives))) =
            (next.checked_sub(1).and_then(|i| self.knots.get(i)), self.knots.get(next))
        else {
            return self.knots.get(next).or(self.knots.last()).map_or(Vec3::ZERO, |(knot, ..)| knot.value);
        };
        let whole = b.at - a.at;
        let mut s = (seconds - a.at) / whole;
        // A warp of time would break the slopes of a curve that does not rest at both ends.
        if *from == Vec3::ZERO && *to == Vec3::ZERO && *leaves == Vec3::ZERO {
            s = match b.ease {
                Ease::Smooth | Ease::Whip => s,
                Ease::Snap => s * (0.45 + 0.55 * s),
                Ease::Settle => 1.0 - (1.0 - s) * (0.45 + 0.55 * (1.0 - s)),
            };
        }
        // The quintic with given ends, slopes and accelerations.
        let (s3, s4, s5) = (s * s * s, s * s * s * s, s * s * s * s * s);
        let rise = 10.0 * s3 - 15.0 * s4 + 6.0 * s5;
        let way = a.value
            + (b.value - a.value) * rise
            + *from * (whole * (s - 6.0 * s3 + 8.0 * s4 - 3.0 * s5))
            + *to * (whole * (-4.0 * s3 + 7.0 * s4 - 3.0 * s5));
        if *leaves == Vec3::ZERO && *arrives == Vec3::ZERO {
            return way;
        }
        let square = 0.5 * whole * whole;
        way + *leaves * (square * (s * s - 3.0 * s3 + 3.0 * s4 - s5)) + *arrives * (square * (s3 - 2.0 * s4 + s5))
    }
}

/// Catmull and Rom's slope, and none where the curve starts, ends, holds or (component by component) turns round.
fn slope(knots: &[Knot], i: usize) -> Vec3 {
    if i == 0 || i + 1 == knots.len() || knots[i].hold {
        return Vec3::ZERO;
    }
    let (a, b, c) = (&knots[i - 1], &knots[i], &knots[i + 1]);
    let before = (b.value - a.value) / (b.at - a.at);
    let after = (c.value - b.value) / (c.at - b.at);
    let one = |p: f32, q: f32| {
        if p * q <= 0.0 {
            return 0.0;
        }
        let middle = 0.5 * (p + q);
        // The quintic stays monotone up to about 1.8 times the slower side.
        middle.signum() * middle.abs().min(1.8 * p.abs().min(q.abs()))
    };
    Vec3::new(one(before.x, after.x), one(before.y, after.y), one(before.z, after.z))
}

/// The acceleration at a key that whips: that of the parabola through it and both neighbours, where the curve turns round.
fn spring(knots: &[Knot], i: usize) -> Vec3 {
    if i == 0 || i + 1 == knots.len() || knots[i].ease != Ease::Whip {
        return Vec3::ZERO;
    }
    let (a, b, c) = (&knots[i - 1], &knots[i], &knots[i + 1]);
    let (before, after) = ((b.value - a.value) / (b.at - a.at), (c.value - b.value) / (c.at - b.at));
    let one = |p: f32, q: f32| if p * q < 0.0 { 2.0 * (q - p) / (c.at - a.at) } else { 0.0 };
    Vec3::new(one(before.x, after.x), one(before.y, after.y), one(before.z, after.z))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn knot(at: f32, x: f32) -> Knot {
        Knot { at, value: Vec3::new(x, 0.0, 0.0), ease: Ease::Smooth, hold: false }
    }

    #[test]
    fn curves_meet_their_knots_and_stay_between_them() {
        let curve = Curve::through(vec![knot(1.0, 2.0), knot(0.0, 0.0), knot(2.0, 3.0), knot(3.0, -1.0)]);
        for (t, x) in [(-1.0, 0.0), (0.0, 0.0), (1.0, 2.0), (2.0, 3.0), (3.0, -1.0), (9.0, -1.0)] {
            assert!((curve.at(t).x - x).abs() < 1e-5, "{t}");
        }
        for i in 0..300 {
            let x = curve.at(i as f32 * 0.01).x;
            assert!((-1.001..3.001).contains(&x), "{x}");
        }
    }

    #[test]
    fn curves_have_no_corners() {
        let mut knots = vec![knot(0.0, 0.0), knot(0.3, 1.0), knot(0.5, 1.5), knot(1.0, 0.2)];
        knots[3].ease = Ease::Settle;
        let curve = Curve::through(knots);
        let h = 1e-3;
        let speed = |t: f32| (curve.at(t + h).x - curve.at(t).x) / h;
        for t in [0.0, 0.3, 0.5, 1.0] {
            assert!((speed(t) - speed(t - h)).abs() < 0.15, "{t}: {} {}", speed(t - h), speed(t));
        }
    }

    /// Out by 1 in 0.2 s and back in 0.3: a parabola would turn at 2 (1 / 0.2 + 1 / 0.3) / 0.5 = 33 a second squared.
    #[test]
    fn whips_spring_back_where_others_rest() {
        let way = |ease: Ease| {
            let mut knots = vec![knot(0.0, 0.0), knot(0.2, 1.0), knot(0.5, 0.0)];
            knots[1].ease = ease;
            Curve::through(knots)
        };
        let speed = |curve: &Curve, t: f32| (curve.at(t + 5e-4).x - curve.at(t - 5e-4).x) * 1e3;
        let (whip, smooth) = (way(Ease::Whip), way(Ease::Smooth));
        // And a little more, for it is faster still in the middle of its way back.
        assert!((-0.45..-0.30).contains(&speed(&whip, 0.21)), "{}", speed(&whip, 0.21));
        assert!(speed(&smooth, 0.21).abs() < 0.13);
        assert!((whip.at(0.2).x - 1.0).abs() < 1e-6 && (0..50).all(|i| whip.at(0.01 * i as f32).x < 1.0001));
    }

    #[test]
    fn nothing_keyed_is_nothing_moved() {
        assert_eq!(Curve::through(Vec::new()).at(1.0), Vec3::ZERO);
    }
}
