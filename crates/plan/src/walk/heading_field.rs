//! Distances to the goal for a body that has a heading, and turns on the spot only if its library has motions for it.
//!
//! The field of Chen and Steed has no headings, and leads into corners that no motion can turn out of. Here a state is a cell and one of
//! sixteen headings; a move goes straight on, or turns by one heading after an arc as tight as the library's tightest turn, at a cost. Only
//! looking ahead uses it, so it may be coarse.

use kumite_motion::Vec2;

use super::distance_field::{DistanceField, Walls};
use super::obstacle_grid::{Lattice, ObstacleGrid};
use super::tables::TURNING;

/// Headings in order of their angle from z to x. Knight's moves lie between axes and diagonals, so that every move ends on a cell.
const WAYS: [(i32, i32); 16] = [
    (0, 1),
    (1, 2),
    (1, 1),
    (2, 1),
    (1, 0),
    (2, -1),
    (1, -1),
    (1, -2),
    (0, -1),
    (-1, -2),
    (-1, -1),
    (-2, -1),
    (-1, 0),
    (-2, 1),
    (-1, 1),
    (-1, 2),
];
const HEADINGS: usize = WAYS.len();
/// Radius of the turning circle in cells, which follows from the lengths of the moves before each turn.
const RADIUS: f32 = 5.0;
/// More than the longest move, in hundredths of a cell.
const LONGEST: usize = 320;
const NEVER: u32 = u32::MAX;
/// Most cells; larger floors get larger cells.
const CELLS: f32 = 200_000.0;
/// How far the flood continues after it has reached the start, metres: paths that stray need distances too.
const BEYOND: f32 = 4.0;
/// Added where no distance is known, metres.
const ASTRAY: f32 = 2.0;

/// A place from which some last motion leads to the goal without touching anything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    /// Where it begins.
    pub at: Vec2,
    /// Its heading there, radians.
    pub heading: f32,
    /// Distance from there to the goal, metres.
    pub way: f32,
}

/// Distances to the goal by cell and heading.
#[derive(Clone, Debug, Default)]
pub struct HeadingField {
    lattice: Lattice,
    /// Hundredths of a cell; [`NEVER`] where unknown.
    potential: Vec<u32>,
    /// Unknown distances are larger than this, metres.
    known: f32,
}

/// Number of moves in a heading before it may turn.
fn turn_moves(heading: usize) -> i32 {
    // Moves along an axis are short.
    if heading.is_multiple_of(4) { 2 } else { 1 }
}

fn hundredths(heading: usize, moves: i32) -> u32 {
    let (x, z) = WAYS[heading];
    (100.0 * moves as f32 * ((x * x + z * z) as f32).sqrt()) as u32
}

impl HeadingField {
    /// Floods backwards from the tails. `radius` is that of the tightest turn, metres, and `pivots` says whether there are turns on the spot beside it;
    /// obstacles are grown as in `field`.
    pub fn new(
        ground: &ObstacleGrid,
        walls: &Walls,
        field: &DistanceField,
        from: Vec2,
        tails: &[Tail],
        (radius, pivots): (f32, bool),
    ) -> HeadingField {
        let fine = ground.lattice();
        let size = Vec2::new(fine.width as f32, fine.depth as f32) * fine.cell;
        let cell = (radius / RADIUS).clamp(0.08, 0.2).max((size.x * size.y / CELLS).sqrt());
        let (width, depth) = ((size.x / cell).ceil().max(1.0) as usize, (size.y / cell).ceil().max(1.0) as usize);
        let lattice = Lattice { origin: fine.origin, cell, width, depth };
        let mut heading_field = HeadingField { lattice, potential: Vec::new(), known: 0.0 };
        let mut open = vec![false; width * depth];
        for z in 0..depth {
            for x in 0..width {
                open[z * width + x] = walls.distance(ground, heading_field.lattice.middle(x, z)) > field.radius;
            }
        }
        heading_field.flood(&open, from, tails, pivots);
        heading_field
    }

    /// The open cell nearest to a point.
    fn nearest(&self, open: &[bool], p: Vec2, cells: usize) -> Option<(usize, usize)> {
        let (x, z) = self.lattice.cell_of(p);
        if open[z * self.lattice.width + x] {
            return Some((x, z));
        }
        let mut best: Option<(f32, (usize, usize))> = None;
        for j in z.saturating_sub(cells)..=(z + cells).min(self.lattice.depth - 1) {
            for i in x.saturating_sub(cells)..=(x + cells).min(self.lattice.width - 1) {
                let off = (self.lattice.middle(i, j) - p).length();
                if open[j * self.lattice.width + i] && best.is_none_or(|b| off < b.0) {
                    best = Some((off, (i, j)));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// Distances and states of the tails, by distance.
    fn seeds(&self, open: &[bool], tails: &[Tail]) -> Vec<(u32, u32)> {
        let mut seeds = Vec::new();
        let reach = (0.5 / self.lattice.cell).ceil() as usize;
        for tail in tails {
            let Some((x, z)) = self.nearest(open, tail.at, reach) else { continue };
            let off = (self.lattice.middle(x, z) - tail.at).length();
            let (low, share) = bin(tail.heading);
            for (heading, turned) in [(low, share), ((low + 1) % HEADINGS, 1.0 - share)] {
                let units = 100.0 * ((tail.way + off) / self.lattice.cell + RADIUS * 0.4 * turned);
                seeds.push((units as u32, ((z * self.lattice.width + x) * HEADINGS + heading) as u32));
            }
        }
        seeds.sort_unstable();
        seeds
    }

    fn flood(&mut self, open: &[bool], from: Vec2, tails: &[Tail], pivots: bool) {
        // A turn by one heading, in hundredths of a cell.
        let turn = (100.0 * TURNING * std::f32::consts::TAU / HEADINGS as f32 / self.lattice.cell) as u32;
        let ring = LONGEST + turn as usize;
        let (width, depth) = (self.lattice.width, self.lattice.depth);
        let mut far = vec![NEVER; width * depth * HEADINGS];
        let reach = (0.6 / self.lattice.cell).ceil() as usize;
        let seeds = self.seeds(open, tails);
        let begin = self.nearest(open, from, reach).map(|(x, z)| z * width + x);
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); ring];
        let (mut now, mut waiting, mut next) = (0u32, 0usize, 0usize);
        let mut until = NEVER;
        while (waiting > 0 || next < seeds.len()) && now < until {
            if waiting == 0 {
                now = now.max(seeds[next].0);
            }
            while let Some(&(units, state)) = seeds.get(next).filter(|s| s.0 <= now) {
                next += 1;
                if units < far[state as usize] {
                    far[state as usize] = now;
                    buckets[now as usize % ring].push(state);
                    waiting += 1;
                }
            }
            let bucket = std::mem::take(&mut buckets[now as usize % ring]);
            waiting -= bucket.len();
            for state in bucket {
                let state = state as usize;
                if far[state] != now {
                    continue;
                }
                let (cell, heading) = (state / HEADINGS, state % HEADINGS);
                if Some(cell) == begin && until == NEVER {
                    until = now + (100.0 * BEYOND / self.lattice.cell) as u32 + turn * HEADINGS as u32;
                }
                let (x, z) = (cell % width, cell / width);
                // Predecessors: straight on, or a move with a neighbouring heading.
                let before = [heading, (heading + 1) % HEADINGS, (heading + HEADINGS - 1) % HEADINGS];
                for way in before[1..].iter().filter(|_| pivots) {
                    let (then, at) = (now + turn, cell * HEADINGS + way);
                    if then < far[at] {
                        far[at] = then;
                        buckets[then as usize % ring].push(at as u32);
                        waiting += 1;
                    }
                }
                for (k, way) in before.into_iter().enumerate() {
                    let moves = if k == 0 { 1 } else { turn_moves(way) };
                    let (dx, dz) = (WAYS[way].0 as isize, WAYS[way].1 as isize);
                    let back = |n: isize, half: isize| {
                        let (i, j) = (
                            x.wrapping_add_signed(-n * dx + half * (dx / 2)),
                            z.wrapping_add_signed(-n * dz + half * (dz / 2)),
                        );
                        (i < width && j < depth && open[j * width + i]).then(|| j * width + i)
                    };
                    // All cells on the way must be open; for a knight's move, the one in between.
                    let Some(there) = back(moves as isize, 0) else { continue };
                    if (1..moves as isize).any(|n| back(n, 0).is_none()) || back(moves as isize, 1).is_none() {
                        continue;
                    }
                    let then = now + hundredths(way, moves) + if k == 0 { 0 } else { turn };
                    let at = there * HEADINGS + way;
                    if then < far[at] {
                        far[at] = then;
                        buckets[then as usize % ring].push(at as u32);
                        waiting += 1;
                    }
                }
            }
            now += 1;
        }
        // States still waiting when the flood ends keep a distance that is possible but may not be the least.
        self.potential = far;
        self.known = now as f32 * self.lattice.cell / 100.0;
    }

    /// Metres to go from a place with a heading; at least `plain`, the distance without headings.
    pub fn distance(&self, p: Vec2, heading: f32, plain: f32) -> f32 {
        if self.potential.is_empty() {
            return plain;
        }
        let (low, share) = bin(heading);
        let high = (low + 1) % HEADINGS;
        let (x, z) = self.lattice.cell_of(p);
        let one = |heading: usize| {
            let here = self.potential[(z * self.lattice.width + x) * HEADINGS + heading];
            if here != NEVER { Some(here) } else { self.beside(x, z, heading) }
        };
        let units = match (one(low), one(high)) {
            (Some(a), Some(b)) => a as f32 + (b as f32 - a as f32) * share,
            (Some(a), None) => a as f32 + 100.0 * RADIUS * share,
            (None, Some(b)) => b as f32 + 100.0 * RADIUS * (1.0 - share),
            (None, None) => return (plain + ASTRAY).max(self.known),
        };
        // Within a cell: closer the farther ahead.
        let (sin, cos) = libm::sincosf(heading);
        let on = (p - self.lattice.middle(x, z)).dot(Vec2::new(sin, cos)).clamp(-self.lattice.cell, self.lattice.cell);
        (units * self.lattice.cell / 100.0 - on).max(plain)
    }

    #[cold]
    fn beside(&self, x: usize, z: usize, heading: usize) -> Option<u32> {
        let mut best: Option<u32> = None;
        for j in z.saturating_sub(2)..=(z + 2).min(self.lattice.depth - 1) {
            for i in x.saturating_sub(2)..=(x + 2).min(self.lattice.width - 1) {
                let there = self.potential[(j * self.lattice.width + i) * HEADINGS + heading];
                if there != NEVER {
                    let more = 200 * (i.abs_diff(x) + j.abs_diff(z)) as u32;
                    best = Some(best.map_or(there + more, |b| b.min(there + more)));
                }
            }
        }
        best
    }
}

/// The heading below an angle, and the fraction of the way to the next.
fn bin(angle: f32) -> (usize, f32) {
    let turns = angle / std::f32::consts::TAU;
    let at = (turns - turns.floor()) * HEADINGS as f32;
    ((at as usize) % HEADINGS, at - at.floor())
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::volume::{Obstacle, Shape};
    use kumite_motion::{Quat, Vec3};
    use std::f32::consts::{FRAC_PI_2, PI};

    fn heading_field(obstacles: &[Obstacle], tail: Tail) -> (HeadingField, DistanceField) {
        let from = Vec2::new(0.0, -3.0);
        let ground = ObstacleGrid::new(obstacles, &[], from, tail.at, 0.6);
        let walls = Walls::new(&ground, 0.0, f32::INFINITY);
        let field = DistanceField::new(&ground, &walls, tail.at, 0.25);
        (HeadingField::new(&ground, &walls, &field, from, &[tail], (0.5, false)), field)
    }

    /// Straight on is as far as it looks; who looks away, or should arrive looking elsewhere, has a turning circle to go.
    #[test]
    fn turning_takes_room() {
        let (heading_field, field) = heading_field(&[], Tail { at: Vec2::new(0.0, 3.0), heading: 0.0, way: 0.0 });
        let left = |x: f32, z: f32, heading: f32| {
            let at = Vec2::new(x, z);
            heading_field.distance(at, heading, field.distance(at))
        };
        let straight = left(0.0, -3.0, 0.0);
        assert!((straight - 6.0).abs() < 0.3, "{straight}");
        // Half a circle and back: at least two quarter turns more.
        let away = left(0.0, -3.0, PI);
        assert!(away > straight + 0.5 * PI, "{away}");
        // Beside the goal it is not there yet.
        let aside = left(0.6, 3.0, FRAC_PI_2);
        assert!(aside > 2.0, "{aside}");
    }

    /// Never nearer than without headings, and known wherever the floor is open.
    #[test]
    fn no_heading_is_nearer_than_none() {
        let half = Vec3::new(2.0, 1.0, 0.1);
        let wall = Obstacle { shape: Shape::Box { half }, at: Vec3::new(0.8, 1.0, 0.0), turn: Quat::IDENTITY };
        let (heading_field, field) = heading_field(&[wall], Tail { at: Vec2::new(0.0, 3.0), heading: 0.0, way: 0.4 });
        for k in 0..400 {
            let at = Vec2::new((k % 20) as f32 * 0.2 - 2.0, (k / 20) as f32 * 0.3 - 3.0);
            let plain = field.distance(at);
            let far = heading_field.distance(at, k as f32, plain);
            assert!(far >= plain && (far.is_finite() || plain.is_infinite()), "{at} {far} {plain}");
        }
        // Towards the wall's near end one goes round it.
        let round = heading_field.distance(Vec2::new(0.0, -1.0), 0.0, 0.0);
        assert!(round > 5.0, "{round}");
    }
}
