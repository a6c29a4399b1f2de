//! Local minima of the distances, of what the rules allow.

use super::cloud::Cloud;
use super::kernel::Sink;
use super::rules::Codes;

/// A transition in the making: windows instead of frames.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) leave: u32,
    pub(super) enter: u32,
    squared: f32,
}

/// Collects the minima of one band. A pair of windows is one if none of its eight neighbours that are allowed is
/// nearer: where the nearest pair of a valley may not be a transition, the best pair that may be one is taken instead.
pub(super) struct Minima<'a> {
    cloud: &'a Cloud,
    rules: &'a Codes,
    limit: f32,
    gap: usize,
    per_frame: usize,
    band: usize,
    found: Vec<Candidate>,
}

impl<'a> Minima<'a> {
    pub(super) fn new(
        cloud: &'a Cloud,
        rules: &'a Codes,
        limit: f32,
        gap: usize,
        per_frame: usize,
        band: usize,
    ) -> Minima<'a> {
        Minima { cloud, rules, limit, gap, per_frame, band, found: Vec::new() }
    }

    /// The best of each window and direction.
    pub(super) fn finish(mut self) -> Vec<Candidate> {
        let band = self.band as u32;
        // All pairs have one window in this band and one there or later.
        let key = |c: &Candidate| {
            let forward = c.leave < c.enter;
            (if forward { c.leave } else { c.enter } - band, forward)
        };
        self.found.sort_by(|a, b| {
            let nearer = a.squared.total_cmp(&b.squared);
            key(a).cmp(&key(b)).then(nearer).then((a.leave, a.enter).cmp(&(b.leave, b.enter)))
        });
        let (mut last, mut count) = (None, 0);
        self.found.retain(|c| {
            count = if last == Some(key(c)) { count + 1 } else { 1 };
            last = Some(key(c));
            count <= self.per_frame
        });
        self.found
    }

    /// `rows` are cut to the pair and its eight neighbours.
    #[inline]
    fn consider(&mut self, s: usize, t: usize, rows: [[f32; 3]; 3]) {
        // Only within one clip: all windows of another are later than those of this.
        if t < s + self.gap && self.cloud.owner(s) == self.cloud.owner(t) {
            return;
        }
        for forward in [true, false] {
            let allowed = |s: usize, t: usize| if forward { self.rules.joins(s, t) } else { self.rules.joins(t, s) };
            if !allowed(s, t) {
                continue;
            }
            // Among equals the first in reading order is the minimum. Those beside come first: they beat most.
            const AROUND: [(usize, usize); 8] = [(1, 0), (1, 2), (0, 1), (2, 1), (0, 0), (2, 2), (0, 2), (2, 0)];
            let d = rows[1][1];
            let beaten = AROUND.iter().any(|&(down, right)| {
                let v = rows[down][right];
                let lower = v < d || (v == d && (down, right) < (1, 1));
                lower && s + down >= 1 && t + right >= 1 && allowed(s + down - 1, t + right - 1)
            });
            if !beaten {
                let (leave, enter) = if forward { (s, t) } else { (t, s) };
                self.found.push(Candidate { leave: leave as u32, enter: enter as u32, squared: d });
            }
        }
    }
}

impl Sink for Minima<'_> {
    #[inline(always)]
    fn row(&mut self, s: usize, t: usize, above: &[f32], here: &[f32], below: &[f32]) {
        if self.cloud.place(s).is_none() {
            return;
        }
        // On and below the diagonal everything has been seen.
        let first = 1 + (s + 1).saturating_sub(t);
        let inner = here.len() - 1;
        if first >= inner {
            return;
        }
        let around = |k: usize| [above, here, below].map(|row| [row[k - 1], row[k], row[k + 1]]);
        let (chunks, rest) = here[first..inner].as_chunks::<8>();
        let mut last = [f32::INFINITY; 8];
        last[..rest.len()].copy_from_slice(rest);
        for (chunk, distances) in chunks.iter().chain([&last]).enumerate() {
            let mut near = 0u32;
            for (bit, d) in distances.iter().enumerate() {
                near |= u32::from(*d < self.limit) << bit;
            }
            while near != 0 {
                let at = first + chunk * 8 + near.trailing_zeros() as usize;
                near &= near - 1;
                self.consider(s, t + at - 1, around(at));
            }
        }
    }
}
