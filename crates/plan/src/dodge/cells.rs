//! The cells around a node that avoidances vacate: which cells, and one bit per path in each.

use kumite_motion::Vec3;

/// Side of a cell, metres (§ 5.1).
pub(super) const CELL: f32 = 0.1;

/// Cells to each side and up that are indexed: nothing beyond 51.2 m is indexed or found.
const EXTENT: i32 = 512;

/// The cell that a point is in, as one number.
pub(super) fn key(p: Vec3) -> Option<u32> {
    let cell = |v: f32| {
        let v = (v / CELL).floor();
        let extent = EXTENT as f32;
        (-extent..extent).contains(&v).then_some((v + extent) as u32)
    };
    Some(cell(p.x)? << 20 | cell(p.y)? << 10 | cell(p.z)?)
}

/// A place around which cells are vacated.
#[derive(Clone, Copy, Debug)]
pub(super) struct RasterBall {
    pub(super) centre: Vec3,
    pub(super) reach: f32,
}

/// A range of cells, the end exclusive, along each axis.
#[derive(Clone, Copy)]
struct Bounds {
    low: [i32; 3],
    high: [i32; 3],
}

impl Bounds {
    const NONE: Bounds = Bounds { low: [EXTENT; 3], high: [-EXTENT; 3] };

    /// The cells that a ball may touch.
    fn of(ball: &RasterBall) -> Bounds {
        let cell = |v: Vec3| (v / CELL).floor().to_array().map(|v| v as i32);
        let (low, high) = (cell(ball.centre - Vec3::splat(ball.reach)), cell(ball.centre + Vec3::splat(ball.reach)));
        Bounds { low: low.map(|v| v.max(-EXTENT)), high: high.map(|v| v.saturating_add(1).min(EXTENT)) }
    }

    fn and(self, other: &Bounds) -> Bounds {
        let pick = |a: [i32; 3], b: [i32; 3], f: fn(i32, i32) -> i32| [f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2])];
        Bounds { low: pick(self.low, other.low, i32::min), high: pick(self.high, other.high, i32::max) }
    }

    fn len(&self, axis: usize) -> usize {
        usize::try_from(self.high[axis] - self.low[axis]).unwrap_or(0)
    }
}

/// Cells in columns along z, one bit each.
struct Columns {
    bounds: Bounds,
    /// Words of one column.
    words: usize,
    bits: Vec<u64>,
}

impl Columns {
    fn new(bounds: Bounds) -> Columns {
        let words = bounds.len(2).div_ceil(64);
        Columns { bounds, words, bits: vec![0; bounds.len(0) * bounds.len(1) * words] }
    }

    /// First word of a column.
    fn at(&self, x: i32, y: i32) -> usize {
        let (x, y) = ((x - self.bounds.low[0]) as usize, (y - self.bounds.low[1]) as usize);
        (x * self.bounds.len(1) + y) * self.words
    }

    /// Sets the cells that a ball touches.
    fn add(&mut self, ball: &RasterBall, squares: &mut [Vec<f32>; 3]) {
        let own = Bounds::of(ball);
        let centre = ball.centre.to_array();
        for (axis, out) in squares.iter_mut().enumerate() {
            out.clear();
            out.extend((own.low[axis]..own.high[axis]).map(|cell| {
                let corner = cell as f32 * CELL;
                let off = centre[axis].clamp(corner, corner + CELL) - centre[axis];
                off * off
            }));
        }
        let most = largest_square(ball.reach);
        let [xs, ys, zs] = squares;
        for (x, dx) in (own.low[0]..).zip(xs.iter()) {
            for (y, dy) in (own.low[1]..).zip(ys.iter()) {
                let sum = dx + dy;
                if sum > most {
                    continue;
                }
                // Squares fall towards the centre's cell and rise after it.
                let (mut from, mut to) = (0, zs.len());
                while from < to && sum + zs[from] > most {
                    from += 1;
                }
                while from < to && sum + zs[to - 1] > most {
                    to -= 1;
                }
                let shift = (own.low[2] - self.bounds.low[2]) as usize;
                let column = self.at(x, y);
                set_range(&mut self.bits[column..column + self.words], from + shift, to + shift);
            }
        }
    }
}

/// The largest number whose square root is at most `reach`, so that squares can be compared with the same result as lengths.
pub(super) fn largest_square(reach: f32) -> f32 {
    let mut square = reach * reach;
    while square.sqrt() > reach {
        square = square.next_down();
    }
    while square.next_up().sqrt() <= reach {
        square = square.next_up();
    }
    square
}

fn set_range(words: &mut [u64], from: usize, to: usize) {
    for (index, word) in words.iter_mut().enumerate() {
        let (first, end) = (from.max(index * 64), to.min(index * 64 + 64));
        if first < end {
            *word |= (u64::MAX >> (64 - (end - first))) << (first % 64);
        }
    }
}

/// The cells that paths vacate, sorted: their keys, and `words` words each with one bit per path.
pub(super) fn vacated_cells(paths: &[Vec<RasterBall>], words: usize) -> (Vec<u32>, Vec<u64>) {
    let bounds: Vec<Bounds> =
        paths.iter().map(|balls| balls.iter().fold(Bounds::NONE, |all, b| all.and(&Bounds::of(b)))).collect();
    let whole = bounds.iter().fold(Bounds::NONE, Bounds::and);
    let mut union = Columns::new(whole);
    let mut one = Columns::new(whole);
    let mut squares = [const { Vec::new() }; 3];
    // The words of all paths' columns that are not empty, and where each begins.
    let (mut columns, mut kept) = (Vec::new(), Vec::new());
    for (number, (balls, bounds)) in paths.iter().zip(&bounds).enumerate() {
        balls.iter().for_each(|ball| one.add(ball, &mut squares));
        for x in bounds.low[0]..bounds.high[0] {
            for y in bounds.low[1]..bounds.high[1] {
                let at = one.at(x, y);
                for (word, all) in (at..).zip(&mut union.bits[at..at + one.words]) {
                    let bits = std::mem::take(&mut one.bits[word]);
                    if bits != 0 {
                        *all |= bits;
                        columns.push((word as u32, number as u32));
                        kept.push(bits);
                    }
                }
            }
        }
    }
    // The number of cells before each word.
    let mut before = Vec::with_capacity(union.bits.len());
    let mut keys = Vec::new();
    let high = whole.len(1) * union.words;
    for (at, word) in union.bits.iter().enumerate() {
        before.push(keys.len());
        let (x, y, z) = (at / high.max(1), at % high.max(1) / union.words.max(1), at % union.words.max(1) * 64);
        let place = |axis: usize, v: usize| (whole.low[axis] + EXTENT) as u32 + v as u32;
        let base = place(0, x) << 20 | place(1, y) << 10;
        let mut left = *word;
        while left != 0 {
            keys.push(base | place(2, z + left.trailing_zeros() as usize));
            left &= left - 1;
        }
    }
    let mut masks = vec![0u64; keys.len() * words];
    for ((word, number), bits) in columns.into_iter().zip(kept) {
        let (word, number) = (word as usize, number as usize);
        let mut left = bits;
        while left != 0 {
            // A run of cells of one path is a run of cells of the union too.
            let first = left.trailing_zeros();
            let length = (left >> first).trailing_ones();
            let below = union.bits[word] & ((1u64 << first) - 1);
            let start = before[word] + below.count_ones() as usize;
            for cell in start..start + length as usize {
                masks[cell * words + number / 64] |= 1 << (number % 64);
            }
            left &= u64::MAX.checked_shl(first + length).unwrap_or(0);
        }
    }
    (keys, masks)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kumite_motion::Chance;

    use super::*;

    /// Cell by cell, as the definition says.
    fn one_by_one(paths: &[Vec<RasterBall>], words: usize) -> (Vec<u32>, Vec<u64>) {
        let mut cells = BTreeMap::<u32, Vec<u64>>::new();
        for (number, ball) in paths.iter().enumerate().flat_map(|(n, balls)| balls.iter().map(move |b| (n, b))) {
            let (centre, reach) = (ball.centre, ball.reach);
            let (low, high) = (centre - Vec3::splat(reach), centre + Vec3::splat(reach));
            let range = |low: f32, high: f32| (low / CELL).floor() as i32..=(high / CELL).floor() as i32;
            for (x, y) in range(low.x, high.x).flat_map(|x| range(low.y, high.y).map(move |y| (x, y))) {
                for z in range(low.z, high.z) {
                    let corner = Vec3::new(x as f32, y as f32, z as f32) * CELL;
                    let nearest = centre.clamp(corner, corner + Vec3::splat(CELL));
                    let middle = corner + Vec3::splat(0.5 * CELL);
                    if let (true, Some(key)) = ((nearest - centre).length() <= reach, key(middle)) {
                        cells.entry(key).or_insert_with(|| vec![0; words])[number / 64] |= 1 << (number % 64);
                    }
                }
            }
        }
        (cells.keys().copied().collect(), cells.into_values().flatten().collect())
    }

    #[test]
    fn columns_give_what_single_cells_give() {
        let mut chance = Chance::new(5);
        for (count, wide) in [(0, 1.0), (1, 0.5), (70, 1.5), (3, 9.0), (2, 60.0)] {
            let mut number = |size: f32| (chance.below(100_000) as f32 / 50_000.0 - 1.0) * size;
            let mut ball = || RasterBall {
                centre: Vec3::new(number(wide), number(1.0), number(wide)),
                reach: 0.25 + number(0.08),
            };
            let paths: Vec<Vec<RasterBall>> = (0..count).map(|n| (0..n % 7).map(|_| ball()).collect()).collect();
            let words = paths.len().div_ceil(64);
            assert_eq!(vacated_cells(&paths, words), one_by_one(&paths, words), "{count} paths, {wide} m");
        }
    }
}
