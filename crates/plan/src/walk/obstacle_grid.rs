//! Where obstacles are: which are near a point, how far the floor around it is free, and whether a moving sphere meets one.

use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{Vec2, Vec3};

/// Side of a cell, metres (Chen and Steed, § 6).
const CELL: f32 = 0.05;
/// Nobody reaches above this, metres.
const CEILING: f32 = 2.3;
/// Most cells; larger floors get larger cells.
const CELLS: f32 = 1_000_000.0;
/// Floor around start, goal and obstacles, metres.
const MARGIN: f32 = 2.0;
/// Obstacles farther than this from start and goal are ignored, metres.
const FAR: f32 = 60.0;
/// Side of the coarse cells that list their obstacles, in fine cells.
const COARSE: usize = 8;

/// A lattice of square cells on the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Lattice {
    /// Its corner with the smallest x and z.
    pub origin: Vec2,
    /// Side of a cell, metres.
    pub cell: f32,
    /// Cells along x.
    pub width: usize,
    /// Cells along z.
    pub depth: usize,
}

impl Lattice {
    /// The cell a point is in, or the nearest.
    #[inline]
    pub fn cell_of(&self, p: Vec2) -> (usize, usize) {
        let q = (p - self.origin) / self.cell;
        // The cast makes negative numbers and NaN 0.
        ((q.x as usize).min(self.width - 1), (q.y as usize).min(self.depth - 1))
    }

    /// Position in arrays of one value per cell.
    #[inline]
    pub fn at(&self, p: Vec2) -> usize {
        let (x, z) = self.cell_of(p);
        z * self.width + x
    }

    /// Middle of a cell.
    #[inline]
    pub fn middle(&self, x: usize, z: usize) -> Vec2 {
        self.origin + Vec2::new(x as f32 + 0.5, z as f32 + 0.5) * self.cell
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.width * self.depth
    }

    /// Whether a point is on it.
    pub fn holds(&self, p: Vec2) -> bool {
        let q = (p - self.origin) / self.cell;
        q.x >= 0.0 && q.y >= 0.0 && q.x < self.width as f32 && q.y < self.depth as f32
    }
}

/// Obstacles and the free floor between them.
#[derive(Clone, Debug)]
pub struct ObstacleGrid {
    obstacles: Vec<Obstacle>,
    /// Extra distance kept from each obstacle, metres.
    room: Vec<f32>,
    /// Axis-aligned box of each obstacle, that room included.
    bounds: Vec<[Vec3; 2]>,
    lattice: Lattice,
    /// Lower bound of the distance along the floor from each cell's middle to the nearest obstacle of any height, metres.
    free: Vec<f32>,
    /// Obstacles over each coarse cell: positions in `near`.
    starts: Vec<u32>,
    near: Vec<u32>,
    /// Coarse cells along x.
    coarse: usize,
}

impl ObstacleGrid {
    /// A grid for queries between two places. `room` is the extra distance kept from each of the first obstacles, `reach` how far a body
    /// reaches from where it stands, metres.
    pub fn new(obstacles: &[Obstacle], room: &[f32], from: Vec2, to: Vec2, reach: f32) -> ObstacleGrid {
        let mut kept = Vec::new();
        let mut rooms = Vec::new();
        let mut bounds = Vec::new();
        let (mut low, mut high) = (from.min(to), from.max(to));
        for (index, obstacle) in obstacles.iter().enumerate() {
            let more = room.get(index).copied().unwrap_or_default().max(0.0);
            let [a, b] = around(obstacle);
            let (a, b) = (a - more, b + more);
            let (near, far) = (Vec2::new(a.x, a.z), Vec2::new(b.x, b.z));
            let gap = |p: Vec2| (p.clamp(near, far) - p).length();
            if a.y > CEILING || b.y < 0.0 || gap(from).min(gap(to)) > FAR || !a.is_finite() || !b.is_finite() {
                continue;
            }
            kept.push(*obstacle);
            rooms.push(more);
            bounds.push([a, b]);
            let clip = |p: Vec2| p.clamp(from.min(to) - FAR, from.max(to) + FAR);
            (low, high) = (low.min(clip(near)), high.max(clip(far)));
        }
        let (low, high) = (low - MARGIN, high + MARGIN);
        let size = high - low;
        let cell = CELL.max((size.x * size.y / CELLS).sqrt());
        let lattice = Lattice {
            origin: low,
            cell,
            width: (size.x / cell).ceil().max(1.0) as usize,
            depth: (size.y / cell).ceil().max(1.0) as usize,
        };
        let mut ground = ObstacleGrid {
            obstacles: kept,
            room: rooms,
            bounds,
            lattice,
            free: Vec::new(),
            starts: Vec::new(),
            near: Vec::new(),
            coarse: 0,
        };
        ground.free = ground.distances(f32::NEG_INFINITY, f32::INFINITY);
        // A point is up to half a diagonal from the middle of its cell, and so is an obstacle.
        let slack = 1.5 * cell;
        ground.free.iter_mut().for_each(|f| *f = (*f - slack).max(0.0));
        ground.list(reach);
        ground
    }

    /// Distance from each cell to the nearest cell with an obstacle in it, metres. Obstacles that end below `over` or begin above `under`
    /// do not count.
    pub fn distances(&self, over: f32, under: f32) -> Vec<f32> {
        let Lattice { width, depth, cell, .. } = self.lattice;
        let mut squared = vec![f32::INFINITY; width * depth];
        for ((obstacle, room), [a, b]) in self.obstacles.iter().zip(&self.room).zip(&self.bounds) {
            if b.y <= over || a.y >= under {
                continue;
            }
            let (x0, z0) = self.lattice.cell_of(Vec2::new(a.x - cell, a.z - cell));
            let (x1, z1) = self.lattice.cell_of(Vec2::new(b.x + cell, b.z + cell));
            let (bottom, top) = (a.y.max(0.0).max(over.min(b.y)), b.y.min(CEILING).min(under.max(a.y)));
            let transitions = ((top - bottom) / CELL).ceil().clamp(1.0, 60.0);
            for z in z0..=z1 {
                for x in x0..=x1 {
                    let at = &mut squared[z * width + x];
                    if *at == 0.0 {
                        continue;
                    }
                    let m = self.lattice.middle(x, z);
                    let high = |k: u32| bottom + (top - bottom) * k as f32 / transitions;
                    if (0..=transitions as u32)
                        .any(|k| obstacle.distance(Vec3::new(m.x, high(k), m.y)) <= 0.5 * cell + room)
                    {
                        *at = 0.0;
                    }
                }
            }
        }
        transform(&mut squared, width, depth);
        squared.iter_mut().for_each(|d| *d = d.sqrt() * cell);
        squared
    }

    /// Lists for each coarse cell the obstacles that a body standing in it may meet.
    fn list(&mut self, reach: f32) {
        self.coarse = self.lattice.width.div_ceil(COARSE);
        let deep = self.lattice.depth.div_ceil(COARSE);
        let side = COARSE as f32 * self.lattice.cell;
        let range = |[a, b]: &[Vec3; 2]| {
            let cell = |p: Vec2| {
                let q = (p - self.lattice.origin) / side;
                ((q.x as usize).min(self.coarse - 1), (q.y as usize).min(deep - 1))
            };
            (cell(Vec2::new(a.x - reach, a.z - reach)), cell(Vec2::new(b.x + reach, b.z + reach)))
        };
        let mut starts = vec![0u32; self.coarse * deep + 1];
        let each = |bounds: &[[Vec3; 2]], f: &mut dyn FnMut(usize, u32)| {
            for (i, bound) in bounds.iter().enumerate() {
                let ((x0, z0), (x1, z1)) = range(bound);
                for z in z0..=z1 {
                    (x0..=x1).for_each(|x| f(z * self.coarse + x, i as u32));
                }
            }
        };
        each(&self.bounds, &mut |cell, _| starts[cell + 1] += 1);
        for cell in 1..starts.len() {
            starts[cell] += starts[cell - 1];
        }
        let mut next = starts.clone();
        let mut near = vec![0u32; starts.last().copied().unwrap_or(0) as usize];
        each(&self.bounds, &mut |cell, i| {
            near[next[cell] as usize] = i;
            next[cell] += 1;
        });
        (self.starts, self.near) = (starts, near);
    }

    /// The cells.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The obstacles that can be met.
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// Radius around a point within which the floor is certainly free, metres.
    #[inline]
    pub fn free(&self, p: Vec2) -> f32 {
        self.free.get(self.lattice.at(p)).copied().unwrap_or(0.0)
    }

    /// Obstacles that a body standing here may meet.
    #[inline]
    pub fn near(&self, p: Vec2) -> &[u32] {
        let (x, z) = self.lattice.cell_of(p);
        let cell = (z / COARSE) * self.coarse + x / COARSE;
        &self.near[self.starts[cell] as usize..self.starts[cell + 1] as usize]
    }

    /// Whether a sphere that moves evenly meets an obstacle. Exact to [`kumite_motion::volume::TOUCH`].
    #[inline]
    pub fn meets(&self, obstacle: u32, from: Vec3, to: Vec3, radius: f32) -> bool {
        let [a, b] = &self.bounds[obstacle as usize];
        let (low, high) = (from.min(to) - radius, from.max(to) + radius);
        if low.x > b.x || low.y > b.y || low.z > b.z || high.x < a.x || high.y < a.y || high.z < a.z {
            return false;
        }
        let radius = radius + self.room[obstacle as usize];
        self.obstacles[obstacle as usize].meets(from, to, radius).is_some()
    }

    /// Whether a point is in an obstacle: `isInside` of Chen and Steed, eq. 5.
    #[inline]
    pub fn inside(&self, obstacle: u32, p: Vec3) -> bool {
        self.obstacles[obstacle as usize].distance(p) < 0.0
    }
}

/// Axis-aligned box of an obstacle.
fn around(obstacle: &Obstacle) -> [Vec3; 2] {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|a| (obstacle.turn * a).abs());
    let half = match obstacle.shape {
        Shape::Sphere { radius } => Vec3::splat(radius),
        Shape::Capsule { half, radius } => axes[1] * half + Vec3::splat(radius),
        Shape::Cylinder { half, radius } => {
            let rim = (Vec3::ONE - axes[1] * axes[1]).max(Vec3::ZERO);
            axes[1] * half + Vec3::new(rim.x.sqrt(), rim.y.sqrt(), rim.z.sqrt()) * radius
        }
        Shape::Box { half } => axes[0] * half.x + axes[1] * half.y + axes[2] * half.z,
    };
    [obstacle.at - half, obstacle.at + half]
}

/// Squared Euclidean distances in cells, from zeros and infinities: Felzenszwalb and Huttenlocher 2012, one pass along each axis.
fn transform(grid: &mut [f32], width: usize, depth: usize) {
    let longest = width.max(depth);
    let mut line = vec![0.0f32; longest];
    let (mut tops, mut edges) = (vec![0usize; longest], vec![0.0f32; longest + 1]);
    for x in 0..width {
        (0..depth).for_each(|z| line[z] = grid[z * width + x]);
        envelope(&line[..depth], &mut tops, &mut edges, |z, value| grid[z * width + x] = value);
    }
    for z in 0..depth {
        line[..width].copy_from_slice(&grid[z * width..(z + 1) * width]);
        envelope(&line[..width], &mut tops, &mut edges, |x, value| grid[z * width + x] = value);
    }
}

/// The lower envelope of parabolas on one line.
fn envelope(line: &[f32], tops: &mut [usize], edges: &mut [f32], mut put: impl FnMut(usize, f32)) {
    let mut count = 0usize;
    for (q, &height) in line.iter().enumerate().filter(|(_, h)| h.is_finite()) {
        let meet = |top: usize| {
            let (a, b) = (q as f32, top as f32);
            ((height + a * a) - (line[top] + b * b)) / (2.0 * a - 2.0 * b)
        };
        while count > 0 && meet(tops[count - 1]) <= edges[count - 1] {
            count -= 1;
        }
        edges[count] = if count == 0 { f32::NEG_INFINITY } else { meet(tops[count - 1]) };
        tops[count] = q;
        count += 1;
    }
    let mut k = 0;
    for q in 0..line.len() {
        if count == 0 {
            put(q, f32::INFINITY);
            continue;
        }
        while k + 1 < count && edges[k + 1] < q as f32 {
            k += 1;
        }
        let off = q as f32 - tops[k] as f32;
        put(q, line[tops[k]] + off * off);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{Chance, rotation};

    fn some(count: u32, seed: u64) -> Vec<Obstacle> {
        let mut chance = Chance::new(seed);
        let mut unit = || chance.unit();
        (0..count)
            .map(|k| {
                let half = Vec3::new(0.1 + 0.4 * unit(), 0.1 + 0.4 * unit(), 0.1 + 0.4 * unit());
                let shape = match k % 4 {
                    0 => Shape::Box { half },
                    1 => Shape::Sphere { radius: half.x },
                    2 => Shape::Capsule { half: half.y, radius: half.x },
                    _ => Shape::Cylinder { half: half.y, radius: half.x },
                };
                let at = Vec3::new(6.0 * unit() - 3.0, 0.8 * unit(), 6.0 * unit() - 3.0);
                let turn = rotation::from_vector(Vec3::new(unit(), unit(), unit()) * 3.0);
                Obstacle { shape, at, turn }
            })
            .collect()
    }

    #[test]
    fn boxes_enclose_what_they_are_around() {
        for obstacle in some(40, 1) {
            let [a, b] = around(&obstacle);
            let mut chance = Chance::new(2);
            for _ in 0..2000 {
                let p = obstacle.at + (Vec3::new(chance.unit(), chance.unit(), chance.unit()) - 0.5) * 3.0;
                if obstacle.distance(p) < 0.0 {
                    assert!(p.cmpge(a - 1e-4).all() && p.cmple(b + 1e-4).all(), "{obstacle:?} {p}");
                }
            }
        }
    }

    /// What is called free is free, for every height, and every obstacle near is listed.
    #[test]
    fn free_floor_is_free() {
        let obstacles = some(30, 3);
        let reach = 0.7;
        let ground = ObstacleGrid::new(&obstacles, &[], Vec2::splat(-4.0), Vec2::splat(4.0), reach);
        let mut chance = Chance::new(4);
        let (mut near, mut close) = (0, 0);
        for _ in 0..20_000 {
            let p = Vec3::new(8.0 * chance.unit() - 4.0, 2.0 * chance.unit(), 8.0 * chance.unit() - 4.0);
            let flat = Vec2::new(p.x, p.z);
            let free = ground.free(flat);
            for (i, o) in ground.obstacles().iter().enumerate() {
                let distance = o.distance(p);
                assert!(distance.max(0.0) >= free - 1e-4, "{p} is {distance} from {o:?}, not {free}");
                if distance < reach {
                    near += 1;
                    assert!(ground.near(flat).contains(&(i as u32)));
                }
            }
            close += u32::from(free > 0.2);
        }
        assert!(near > 1000 && close > 1000);
    }

    #[test]
    fn distances_between_cells_are_euclidean() {
        let ground = ObstacleGrid::new(&some(5, 5), &[], Vec2::splat(-1.0), Vec2::splat(1.0), 0.5);
        let found = ground.distances(f32::NEG_INFINITY, f32::INFINITY);
        let Lattice { width, depth, cell, .. } = *ground.lattice();
        let full: Vec<(usize, usize)> =
            (0..width * depth).filter(|k| found[*k] == 0.0).map(|k| (k % width, k / width)).collect();
        assert!(!full.is_empty());
        for k in (0..width * depth).step_by(37) {
            let (x, z) = ((k % width) as f32, (k / width) as f32);
            let slow = full.iter().map(|f| libm::hypotf(f.0 as f32 - x, f.1 as f32 - z)).fold(f32::INFINITY, f32::min);
            assert!((slow * cell - found[k]).abs() < 1e-3);
        }
    }

    #[test]
    fn an_empty_floor_is_free_for_ever() {
        let ground = ObstacleGrid::new(&[], &[], Vec2::ZERO, Vec2::new(3.0, 0.0), 0.5);
        assert_eq!(ground.free(Vec2::new(1.0, 0.0)), f32::INFINITY);
        assert!(ground.near(Vec2::ZERO).is_empty());
    }
}
