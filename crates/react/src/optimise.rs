//! Two small optimisers with bounded work: Levenberg-Marquardt on residuals, and BFGS on any sum, as the thesis uses. Which of them
//! the balance uses was measured; see docs/bracing.md.

/// Parameters: pelvis position and seven controls.
pub const N: usize = 10;
/// Residuals.
pub const M: usize = 52;

/// Parameters, or a step of them.
pub type Vector = [f32; N];

/// How much work is done at most, and when it is enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Steps that are taken at most.
    pub iterations: u32,
    /// Steps that improve by less than this share end it.
    pub enough: f32,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { iterations: 8, enough: 3e-3 }
    }
}

/// What came of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// The best parameters.
    pub at: Vector,
    /// The sum there.
    pub value: f32,
    /// How often the sum was worked out.
    pub evaluations: u32,
    /// Steps that were taken.
    pub iterations: u32,
}

/// Minimises half the sum of squares of `residuals`, which also brings its argument within bounds. `steps` are those of the
/// differences. Marquardt 1963, with scaled damping.
pub fn least_squares(
    start: Vector,
    steps: &Vector,
    effort: Effort,
    mut residuals: impl FnMut(&mut Vector, &mut [f32; M]),
) -> Found {
    let sum = |r: &[f32; M]| 0.5 * r.iter().map(|v| v * v).sum::<f32>();
    let (mut x, mut r) = (start, [0.0; M]);
    residuals(&mut x, &mut r);
    let mut found = Found { at: x, value: sum(&r), evaluations: 1, iterations: 0 };
    let mut damping = 1e-2f64;
    let mut jacobian = [[0.0f32; M]; N];
    while found.iterations < effort.iterations && found.value.is_finite() {
        for (k, column) in jacobian.iter_mut().enumerate() {
            let (mut y, mut there) = (x, [0.0; M]);
            y[k] += steps[k];
            residuals(&mut y, &mut there);
            // At an upper bound the step is taken back into the allowed range.
            let mut step = y[k] - x[k];
            if step.abs() < 0.1 * steps[k] {
                y = x;
                y[k] -= steps[k];
                residuals(&mut y, &mut there);
                step = y[k] - x[k];
                found.evaluations += 1;
            }
            let rate = if step == 0.0 { 0.0 } else { 1.0 / step };
            column.iter_mut().zip(&there).zip(&r).for_each(|((c, a), b)| *c = (a - b) * rate);
        }
        found.evaluations += N as u32;
        found.iterations += 1;
        let dot = |a: &[f32; M], b: &[f32; M]| a.iter().zip(b).map(|(p, q)| f64::from(p * q)).sum::<f64>();
        let mut normal = [[0.0f64; N]; N];
        let mut slope = [0.0f64; N];
        for i in 0..N {
            slope[i] = -dot(&jacobian[i], &r);
            for j in 0..=i {
                normal[i][j] = dot(&jacobian[i], &jacobian[j]);
                normal[j][i] = normal[i][j];
            }
        }
        let before = found.value;
        // Most steps are good at once; each refusal costs one evaluation.
        for _ in 0..4 {
            let mut damped = normal;
            (0..N).for_each(|i| damped[i][i] += damping * (normal[i][i] + 1e-6));
            let Some(step) = solve(damped, slope) else { break };
            let (mut y, mut there) = (x, [0.0; M]);
            (0..N).for_each(|i| y[i] += step[i] as f32);
            residuals(&mut y, &mut there);
            found.evaluations += 1;
            let value = sum(&there);
            if value < found.value {
                (x, r, found.at, found.value) = (y, there, y, value);
                damping = (0.2 * damping).max(1e-6);
                break;
            }
            damping *= 8.0;
        }
        if before - found.value <= effort.enough * before {
            break;
        }
    }
    found
}

/// Solves a symmetric positive system by Cholesky's method.
fn solve(mut a: [[f64; N]; N], b: [f64; N]) -> Option<[f64; N]> {
    for i in 0..N {
        for j in 0..=i {
            let rest: f64 = (0..j).map(|k| a[i][k] * a[j][k]).sum();
            if i == j {
                let square = a[i][i] - rest;
                if !(square > 0.0 && square.is_finite()) {
                    return None;
                }
                a[i][i] = square.sqrt();
            } else {
                a[i][j] = (a[i][j] - rest) / a[j][j];
            }
        }
    }
    let mut x = b;
    for i in 0..N {
        x[i] = (x[i] - (0..i).map(|k| a[i][k] * x[k]).sum::<f64>()) / a[i][i];
    }
    for i in (0..N).rev() {
        x[i] = (x[i] - (i + 1..N).map(|k| a[k][i] * x[k]).sum::<f64>()) / a[i][i];
    }
    Some(x)
}

/// Minimises any sum by Broyden, Fletcher, Goldfarb and Shanno's method with differences to both sides, as the thesis does.
pub fn bfgs(start: Vector, steps: &Vector, effort: Effort, mut value: impl FnMut(&mut Vector) -> f32) -> Found {
    let mut x = start;
    let first = value(&mut x);
    let mut found = Found { at: x, value: first, evaluations: 1, iterations: 0 };
    let mut inverse = [[0.0f32; N]; N];
    // Parameters differ in scale: metres and shares.
    (0..N).for_each(|i| inverse[i][i] = steps[i] * steps[i] * 100.0);
    let mut slope = gradient(&x, steps, &mut value, &mut found.evaluations);
    while found.iterations < effort.iterations {
        found.iterations += 1;
        let mut step = inverse.map(|row| -row.iter().zip(&slope).map(|(a, b)| a * b).sum::<f32>());
        let mut down: f32 = step.iter().zip(&slope).map(|(a, b)| a * b).sum();
        if down >= 0.0 {
            step = std::array::from_fn(|i| -slope[i] * inverse[i][i].abs());
            down = step.iter().zip(&slope).map(|(a, b)| a * b).sum();
        }
        let before = found.value;
        let (mut scale, mut taken) = (1.0f32, None);
        for _ in 0..12 {
            let mut y: Vector = std::array::from_fn(|i| x[i] + scale * step[i]);
            let there = value(&mut y);
            found.evaluations += 1;
            if there <= before + 1e-4 * scale * down {
                taken = Some((y, there));
                break;
            }
            scale *= 0.5;
        }
        let Some((y, there)) = taken else { break };
        let next = gradient(&y, steps, &mut value, &mut found.evaluations);
        let s: Vector = std::array::from_fn(|i| y[i] - x[i]);
        let g: Vector = std::array::from_fn(|i| next[i] - slope[i]);
        update(&mut inverse, &s, &g);
        (x, slope, found.at, found.value) = (y, next, y, there);
        if before - there <= effort.enough * before.abs() {
            break;
        }
    }
    found
}

fn gradient(x: &Vector, steps: &Vector, value: &mut impl FnMut(&mut Vector) -> f32, evaluations: &mut u32) -> Vector {
    *evaluations += 2 * N as u32;
    std::array::from_fn(|k| {
        let (mut low, mut high) = (*x, *x);
        low[k] -= steps[k];
        high[k] += steps[k];
        let (a, b) = (value(&mut low), value(&mut high));
        if high[k] > low[k] { (b - a) / (high[k] - low[k]) } else { 0.0 }
    })
}

/// Brings the inverse Hessian up to date, if the curvature is positive.
fn update(inverse: &mut [[f32; N]; N], s: &Vector, g: &Vector) {
    let sg: f32 = s.iter().zip(g).map(|(a, b)| a * b).sum();
    if sg <= 1e-9 {
        return;
    }
    let hg: Vector = std::array::from_fn(|i| inverse[i].iter().zip(g).map(|(a, b)| a * b).sum());
    let ghg: f32 = g.iter().zip(&hg).map(|(a, b)| a * b).sum();
    for i in 0..N {
        for j in 0..N {
            inverse[i][j] += (1.0 + ghg / sg) * s[i] * s[j] / sg - (hg[i] * s[j] + s[i] * hg[j]) / sg;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A long curved valley in the first two parameters, bowls in the others.
    fn valley(x: &Vector) -> [f32; M] {
        let mut r = [0.0; M];
        r[0] = 10.0 * (x[1] - x[0] * x[0]);
        r[1] = 1.0 - x[0];
        (2..N).for_each(|k| r[k] = x[k] - 0.1 * k as f32);
        r
    }

    #[test]
    fn both_find_the_end_of_a_valley() {
        let effort = Effort { iterations: 200, enough: 0.0 };
        let start = [-1.2, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let by_squares = least_squares(start, &[1e-3; N], effort, |x, r| *r = valley(x));
        let by_bfgs = bfgs(start, &[1e-3; N], effort, |x| valley(x).iter().map(|v| v * v).sum());
        for found in [by_squares, by_bfgs] {
            assert!((found.at[0] - 1.0).abs() < 0.02 && (found.at[9] - 0.9).abs() < 0.01, "{found:?}");
        }
        assert!(by_squares.evaluations < by_bfgs.evaluations, "{by_squares:?} {by_bfgs:?}");
    }

    #[test]
    fn work_is_bounded_and_bounds_are_kept() {
        let effort = Effort { iterations: 5, enough: 0.0 };
        let found = least_squares([0.5; N], &[1e-3; N], effort, |x, r| {
            x.iter_mut().for_each(|v| *v = v.clamp(0.0, 1.0));
            *r = [0.0; M];
            (0..N).for_each(|k| r[k] = x[k] - 2.0);
        });
        assert!(found.iterations <= 5 && found.at.iter().all(|v| *v == 1.0), "{found:?}");
    }
}
