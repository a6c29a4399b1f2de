//! The path nearest to a given one that keeps within convex limits: a quadratic programme over the whole path, by the alternating direction
//! method of multipliers (Boyd et al. 2011, *Distributed optimization and statistical learning via ADMM*, section 5) with one banded
//! Cholesky factor for all rounds.

use super::ground::Ground;

/// What is limited in a frame: `own` times the path there and `beside` times it in both neighbouring frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) own: f64,
    pub(super) beside: f64,
}

impl Row {
    /// `scale` times the second difference.
    pub(super) fn bend(scale: f64) -> Row {
        Row { own: -2.0 * scale, beside: scale }
    }

    fn of(&self, path: &[Ground], frame: usize) -> Ground {
        path[frame] * self.own + (path[frame - 1] + path[frame + 1]) * self.beside
    }
}

/// One row for every frame, and the nearest allowed value of each.
pub(super) struct Limit<'a> {
    pub(super) rows: Vec<Row>,
    pub(super) allowed: &'a dyn Fn(usize, Ground) -> Ground,
}

/// Rounds at most. After about a hundred nothing moves by a tenth of a millimetre in motions of the library.
const ROUNDS: usize = 160;
/// How firmly limits pull beside closeness to the path. Changes how fast, not where it ends.
const PULL: f64 = 0.3;
/// Less than this between two rounds is the end, metres.
const NEAR: f64 = 1e-5;
/// Over-relaxation; 1.5 to 1.8 is usual.
const RELAX: f64 = 1.6;
/// Place and speed of both ends stay: so many frames.
const HELD: usize = 2;

/// The path nearest to `path` within all limits. What counts is how far it is moved, and `smooth` times how sharply the change bends.
pub(super) fn nearest(path: &[Ground], limits: &[Limit<'_>], smooth: f64) -> Vec<Ground> {
    let frames = path.len();
    if frames <= 2 * HELD {
        return path.to_vec();
    }
    let even = vec![Row::bend(1.0); frames];
    let mut matrix = Banded::identity(frames);
    matrix.add_square(&even, smooth);
    for limit in limits {
        matrix.add_square(&limit.rows, PULL);
    }
    let matrix = matrix.holding_ends().factored();
    let mut moved = vec![Ground::ZERO; frames];
    // Per limit and frame: what is allowed, and what the path was short of it in all rounds so far.
    let mut states: Vec<Vec<(Ground, Ground)>> = limits
        .iter()
        .map(|limit| {
            let start = |i: usize| {
                let own = if inner(i, frames) { limit.rows[i].of(path, i) } else { Ground::ZERO };
                ((limit.allowed)(i, own) - own, Ground::ZERO)
            };
            (0..frames).map(start).collect()
        })
        .collect();
    // Where nothing is asked for beyond what is allowed, nothing moves.
    if states.iter().flatten().all(|(short, _)| short.length_squared() < NEAR * NEAR) {
        return path.to_vec();
    }
    for _ in 0..ROUNDS {
        let before = moved;
        let mut wanted = vec![Ground::ZERO; frames];
        for (limit, state) in limits.iter().zip(&states) {
            for i in 1..frames - 1 {
                let pull = (state[i].0 - state[i].1) * PULL;
                let row = limit.rows[i];
                wanted[i] += pull * row.own;
                wanted[i - 1] += pull * row.beside;
                wanted[i + 1] += pull * row.beside;
            }
        }
        matrix.solve(&mut wanted);
        moved = wanted;
        let mut change = 0.0f64;
        for (a, b) in moved.iter().zip(&before) {
            change = change.max((*a - *b).length_squared());
        }
        for (limit, state) in limits.iter().zip(&mut states) {
            for (i, (row, state)) in limit.rows.iter().zip(state).enumerate().take(frames - 1).skip(1) {
                let own = row.of(path, i);
                let (before, short) = *state;
                let now = row.of(&moved, i) * RELAX + before * (1.0 - RELAX);
                let allowed = (limit.allowed)(i, own + now + short) - own;
                *state = (allowed, short + now - allowed);
            }
        }
        if change < NEAR * NEAR {
            break;
        }
    }
    path.iter().zip(&moved).map(|(p, m)| *p + *m).collect()
}

fn inner(frame: usize, frames: usize) -> bool {
    frame > 0 && frame + 1 < frames
}

/// A symmetric positive definite matrix with two diagonals beside the main one: `[own, next, next but one]` of each row.
struct Banded(Vec<[f64; 3]>);

impl Banded {
    fn identity(size: usize) -> Banded {
        Banded(vec![[1.0, 0.0, 0.0]; size])
    }

    /// Adds `weight` times the product of the transpose of tridiagonal rows with them.
    fn add_square(&mut self, rows: &[Row], weight: f64) {
        for (i, Row { own, beside }) in rows.iter().copied().enumerate().take(rows.len().saturating_sub(1)).skip(1) {
            let (b, o, n) = (weight * beside * beside, weight * own * own, weight * own * beside);
            self.0[i - 1][0] += b;
            self.0[i][0] += o;
            self.0[i + 1][0] += b;
            self.0[i - 1][1] += n;
            self.0[i][1] += n;
            self.0[i - 1][2] += b;
        }
    }

    /// With the ends out of the equations: they stay at zero.
    fn holding_ends(mut self) -> Banded {
        let size = self.0.len();
        for i in (0..HELD).chain(size - HELD..size) {
            self.0[i] = [1.0, 0.0, 0.0];
            for back in 1..=2.min(i) {
                self.0[i - back][back] = 0.0;
            }
        }
        self
    }

    /// To its Cholesky factor, stored the same way, with the inverse of the main diagonal.
    fn factored(mut self) -> Factor {
        let size = self.0.len();
        for i in 0..size {
            let [own, next, over] = self.0[i];
            let root = own.max(1e-12).sqrt();
            let (a, b) = (next / root, over / root);
            self.0[i] = [1.0 / root, a, b];
            if i + 1 < size {
                self.0[i + 1][0] -= a * a;
                self.0[i + 1][1] -= a * b;
            }
            if i + 2 < size {
                self.0[i + 2][0] -= b * b;
            }
        }
        Factor(self.0)
    }
}

struct Factor(Vec<[f64; 3]>);

impl Factor {
    /// The solution for a right-hand side, in its place; its ends are taken as zero.
    fn solve(&self, side: &mut [Ground]) {
        let size = side.len();
        side[..HELD].fill(Ground::ZERO);
        side[size - HELD..].fill(Ground::ZERO);
        for i in 0..size {
            let [inverse, next, over] = self.0[i];
            side[i] *= inverse;
            let value = side[i];
            if i + 1 < size {
                side[i + 1] -= value * next;
            }
            if i + 2 < size {
                side[i + 2] -= value * over;
            }
        }
        for i in (0..size).rev() {
            let [inverse, next, over] = self.0[i];
            let after = |k: usize| side.get(i + k).copied().unwrap_or(Ground::ZERO);
            side[i] = (side[i] - after(1) * next - after(2) * over) * inverse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A single frame may not be above 1: the frame is moved there and, when changes need not be smooth, nothing else is.
    #[test]
    fn what_is_allowed_stays_and_what_is_not_moves_least() {
        let mut path = vec![Ground::ZERO; 12];
        path[6].x = 3.0;
        let rows = vec![Row { own: 1.0, beside: 0.0 }; 12];
        let low = |_: usize, p: Ground| Ground::new(p.x.min(1.0), p.z);
        let moved = nearest(&path, &[Limit { rows, allowed: &low }], 0.0);
        for (i, p) in moved.iter().enumerate() {
            let wanted = if i == 6 { 1.0 } else { 0.0 };
            assert!((p.x - wanted).abs() < 1e-4 && p.z == 0.0, "{i}: {p:?}");
        }
    }

    /// Against a matrix multiplied out by hand: rows [1 -2 1] squared, plus one.
    #[test]
    fn banded_systems_are_solved() {
        let rows = vec![Row::bend(1.0); 9];
        let mut matrix = Banded::identity(9);
        matrix.add_square(&rows, 1.0);
        let truth: Vec<Ground> = [0.0, 0.0, 1.0, -2.0, 3.0, 0.5, 0.25, 0.0, 0.0].map(|x| Ground::new(x, -x)).to_vec();
        let bend = |p: &[Ground], i: usize| p[i - 1] - p[i] * 2.0 + p[i + 1];
        let mut side = truth.clone();
        for i in 1..8 {
            let bent = bend(&truth, i);
            side[i - 1] += bent;
            side[i] -= bent * 2.0;
            side[i + 1] += bent;
        }
        matrix.holding_ends().factored().solve(&mut side);
        for (a, b) in side.iter().zip(&truth) {
            assert!((*a - *b).length() < 1e-12, "{a:?} {b:?}");
        }
    }
}
