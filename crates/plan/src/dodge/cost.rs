//! The cost of a candidate: the three terms of § 4.2, and the settings of the whole planner.

use crate::Form;

/// Which equations are taken as printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DodgeErrata {
    /// Eq. 4-6: overlap integrated over time with E = 0.5, far attacks included, branches in the printed order.
    pub avoidance: Form,
    /// Eq. 7-8: d0 is the distance now, when the attack is still far, and what comes no farther away costs 1.
    pub body: Form,
    /// Eq. 9: a constant at s = 1, negative scales by their size, nothing discarded.
    pub timescale: Form,
    /// § 4.1: paths with nothing to adjust are dropped even if they are on time.
    pub adjustable: Form,
    /// § 4.2: samples every 1/20 s, so that fast attacks pass through unseen.
    pub sampling: Form,
    /// § 5.2: culls by the union of the body over the whole edge, above a number of pixels.
    pub culling: Form,
}

/// Weights of eq. 10.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// `w_a`.
    pub avoidance: f32,
    /// `w_b`.
    pub body: f32,
    /// `w_t`.
    pub timescale: f32,
    /// Of leaving what is played before its edge ends.
    pub join: f32,
}

impl Default for Weights {
    /// The paper's are all 1; it does not leave edges.
    fn default() -> Self {
        Weights { avoidance: 1.0, body: 1.0, timescale: 1.0, join: 0.5 }
    }
}

/// How candidates are found and evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DodgeConfig {
    /// Which paths are candidates.
    pub rules: super::PathRules,
    /// Weights of the cost terms.
    pub weights: Weights,
    /// Which equations are taken as printed.
    pub errata: DodgeErrata,
    /// `E_avoidance` for an attack of radius r is this times (r + 0.1 m)², square metres: the overlap integrated along a path
    /// through the middle of a sphere of 10 cm is exactly (r + 0.1)², and an attack on head or chest meets two at once.
    pub saturation: f32,
    /// `D_body`, metres: not in the paper.
    pub body_scale: f32,
    /// `E_time`.
    pub time_scale: f32,
    /// Whether what is played may be left before its edge ends. The paper's fighters cannot.
    pub interrupts: bool,
    /// Whether an avoidance has to carry away what is as high as the attack comes in. The paper's need not.
    pub at_height: bool,
    /// Whether bit planes cull candidates before the exact test.
    pub cull: bool,
    /// Whether candidates come from the index; if not, the graph is traversed.
    pub use_index: bool,
    /// Whether those that vacate no cell of the attack's way are put last, by the grid of § 5.1. It costs more than it saves.
    pub grid: bool,
    /// Whether a library without avoidances and blocks is accepted: what is played can still be bent.
    pub bend_only: bool,
}

impl Default for DodgeConfig {
    fn default() -> Self {
        DodgeConfig {
            rules: super::PathRules::default(),
            weights: Weights::default(),
            errata: DodgeErrata::default(),
            saturation: 2.0,
            body_scale: 0.5,
            time_scale: 4.0,
            interrupts: true,
            at_height: true,
            cull: false,
            use_index: true,
            grid: false,
            bend_only: false,
        }
    }
}

/// The cost of one candidate, term by term; each from 0 (good) to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AvoidanceCost {
    /// How little of the vacated space the attack passes through: eq. 6.
    pub avoidance: f32,
    /// How far away the attack passes: eq. 8.
    pub body: f32,
    /// How much the speed changes: eq. 9.
    pub timescale: f32,
    /// How far the body has to go to join it in a hurry, and how late that is.
    pub join: f32,
}

impl AvoidanceCost {
    /// The weighted sum: eq. 10.
    pub fn total(&self, weights: &Weights) -> f32 {
        weights.avoidance * self.avoidance
            + weights.body * self.body
            + weights.timescale * self.timescale
            + weights.join * self.join
    }
}

/// Eq. 9; `None` discards the candidate.
pub(crate) fn timescale_cost(scale: f32, config: &DodgeConfig) -> Option<f32> {
    match config.errata.timescale {
        Form::Ours => {
            let off = scale.max(1.0 / scale);
            (scale > 0.0 && off <= config.time_scale).then(|| off / config.time_scale)
        }
        Form::Printed => {
            let size = scale.abs().max(1e-3);
            Some(if size > 1.0 { size / config.time_scale } else { 1.0 / (size * config.time_scale) })
        }
    }
}

/// A join that costs this much is the dearest, metres.
const DEAREST: f32 = 0.36;

/// Added for each second that it is put off: whoever waits until the last moment seems not to have seen the attack.
const LATE: f32 = 4.0;

/// Added for an avoidance that is only just active when the attack comes: it would be over too soon, or wait for it.
const OFF: f32 = 0.6;

/// Of leaving what is played, path seconds from now, by a join whose cost is in metres, for what is `off` its middle when the attack comes, 0..1.
pub(crate) fn join_cost(at: f32, metres: f32, off: f32) -> f32 {
    (metres / DEAREST).min(1.0) + LATE * at + OFF * off
}

/// Eq. 8: `stayed` is d0, both are metres. As printed, whatever comes no farther away costs 1 and whatever does by a hair costs nothing, so that a millimetre
/// decides; ours begins at 0 and grows with every change of the distance, twice as steeply where the body comes nearer.
pub(super) fn body(distance: f32, stayed: f32, config: &DodgeConfig) -> f32 {
    let farther = (distance - stayed) / config.body_scale;
    match config.errata.body {
        Form::Printed if farther <= 0.0 => 1.0,
        _ => farther.max(-2.0 * farther).min(1.0),
    }
}

/// Eq. 6, with its branches in the order that works.
pub(super) fn avoidance(vacated: f32, saturated: f32) -> f32 {
    (1.0 - vacated / saturated).max(0.0)
}

/// The overlap of a sphere that passes another at distance `aside`, their radii summing to `radii`, integrated along the
/// path from `from` to `to`, both measured from the nearest point: eq. 4 over length instead of time.
pub(super) fn overlap(radii: f32, aside: f32, from: f32, to: f32) -> f32 {
    if aside >= radii {
        return 0.0;
    }
    let half = (radii * radii - aside * aside).max(0.0).sqrt();
    let (from, to) = (from.max(-half), to.min(half));
    if to <= from {
        return 0.0;
    }
    let b = aside.max(1e-6);
    let whole = |x: f32| radii * x - 0.5 * (x * (b * b + x * x).sqrt() + b * b * libm::asinhf(x / b));
    (whole(to) - whole(from)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn overlaps_are_the_sums_of_small_steps(radii in 0.05f32..0.6, aside in 0.0f32..0.7, from in -1.0f32..1.0, length in 0.0f32..2.0) {
            let to = from + length;
            let steps = 4000;
            let width = length / steps as f32;
            let depth = |k: usize| {
                let x = from + (k as f32 + 0.5) * width;
                (radii - (aside * aside + x * x).sqrt()).max(0.0)
            };
            let slow: f32 = (0..steps).map(|k| depth(k) * width).sum();
            prop_assert!((overlap(radii, aside, from, to) - slow).abs() < 1e-4, "{} and {slow}", overlap(radii, aside, from, to));
        }
    }

    #[test]
    fn terms_are_what_the_notes_say() {
        let config = DodgeConfig::default();
        assert_eq!(timescale_cost(1.0, &config), Some(0.25));
        assert_eq!(timescale_cost(0.5, &config), Some(0.5));
        assert_eq!(timescale_cost(4.5, &config), None);
        assert_eq!(timescale_cost(-1.0, &config), None);
        let printed =
            DodgeConfig { errata: DodgeErrata { timescale: Form::Printed, ..DodgeErrata::default() }, ..config };
        assert_eq!(timescale_cost(-2.0, &printed), Some(0.5));
        assert_eq!((body(0.1, 0.1, &config), body(0.2, 0.0, &config), body(9.0, 0.0, &config)), (0.0, 0.4, 1.0));
        assert_eq!((body(0.0, 0.125, &config), body(0.1, 0.5, &config)), (0.5, 1.0));
        assert_eq!((avoidance(0.0, 0.1), avoidance(0.2, 0.1)), (1.0, 0.0));
        // Head on through one sphere: the square of the radii.
        assert!((overlap(0.21, 0.0, -1.0, 1.0) - 0.21 * 0.21).abs() < 1e-4);
    }
}
