//! The potential field of Chen and Steed, § 3: the distance to the goal from every cell of the floor, the route that descends it, and
//! that route pulled straight.

use kumite_motion::Vec2;
use kumite_motion::rotation::wrap;

use super::obstacle_grid::{Lattice, ObstacleGrid};

/// Steps to a neighbour and across a corner, in units of a fifth of a cell (chamfer 5-7: 2 % off at most after scaling).
const STRAIGHT: u32 = 5;
const ACROSS: u32 = 7;
const NEVER: u32 = u32::MAX;

/// Distances to the goal over the floor.
#[derive(Clone, Debug)]
pub struct DistanceField {
    lattice: Lattice,
    /// Whether a cell may be entered.
    open: Vec<bool>,
    /// Fifths of a cell to the goal; [`NEVER`] where it cannot be reached.
    potential: Vec<u32>,
    goal: Vec2,
    /// How much obstacles were grown, metres.
    pub radius: f32,
}

/// How far each cell is from the nearest obstacle that cannot be passed.
#[derive(Clone, Debug)]
pub struct Walls {
    distances: Vec<f32>,
}

impl Walls {
    /// Obstacles that end below `over` are stepped over, those that begin above `under` are passed underneath.
    pub fn new(ground: &ObstacleGrid, over: f32, under: f32) -> Walls {
        Walls { distances: ground.distances(over, under) }
    }

    /// Distance at a point, metres.
    pub fn distance(&self, ground: &ObstacleGrid, p: Vec2) -> f32 {
        self.distances[ground.lattice().at(p)]
    }
}

impl DistanceField {
    /// Floods the floor, obstacles grown by a radius. A goal closer than that to an obstacle counts as reached at the nearest open cell, if
    /// there is one within the radius.
    pub fn new(ground: &ObstacleGrid, walls: &Walls, goal: Vec2, radius: f32) -> DistanceField {
        let lattice = *ground.lattice();
        let open: Vec<bool> = walls.distances.iter().map(|d| *d > radius).collect();
        let mut field = DistanceField { lattice, open, potential: Vec::new(), goal, radius };
        let seed = field.nearest_open(goal, radius + 2.0 * lattice.cell);
        field.potential = field.flood(seed);
        field
    }

    /// The open cell nearest to a point, within a distance.
    fn nearest_open(&self, p: Vec2, within: f32) -> Option<usize> {
        let Lattice { width, depth, cell, .. } = self.lattice;
        let (x, z) = self.lattice.cell_of(p);
        if self.open[z * width + x] {
            return Some(z * width + x);
        }
        let reach = (within / cell).ceil() as usize;
        let mut best: Option<(f32, usize)> = None;
        for j in z.saturating_sub(reach)..=(z + reach).min(depth - 1) {
            for i in x.saturating_sub(reach)..=(x + reach).min(width - 1) {
                let off = (self.lattice.middle(i, j) - p).length();
                let at = j * width + i;
                if self.open[at] && off <= within && best.is_none_or(|b| off < b.0) {
                    best = Some((off, at));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// Distances from a cell to all cells that can be reached from it: Dial's buckets, since steps are small whole numbers.
    fn flood(&self, seed: Option<usize>) -> Vec<u32> {
        let Lattice { width, depth, .. } = self.lattice;
        let mut far = vec![NEVER; width * depth];
        let Some(seed) = seed else { return far };
        far[seed] = 0;
        let ring = ACROSS as usize + 1;
        let mut buckets: Vec<Vec<u32>> = vec![Vec::new(); ring];
        buckets[0].push(seed as u32);
        let (mut now, mut waiting) = (0u32, 1usize);
        while waiting > 0 {
            let bucket = std::mem::take(&mut buckets[now as usize % ring]);
            waiting -= bucket.len();
            for cell in bucket {
                let cell = cell as usize;
                if far[cell] != now {
                    continue;
                }
                let (x, z) = (cell % width, cell / width);
                for (dx, dz) in NEIGHBOURS {
                    let (i, j) = (x.wrapping_add_signed(dx), z.wrapping_add_signed(dz));
                    if i >= width || j >= depth || !self.open[j * width + i] {
                        continue;
                    }
                    // Nothing passes between two cells that touch at a corner only.
                    let across = dx != 0 && dz != 0;
                    if across && !(self.open[z * width + i] && self.open[j * width + x]) {
                        continue;
                    }
                    let then = now + if across { ACROSS } else { STRAIGHT };
                    if then < far[j * width + i] {
                        far[j * width + i] = then;
                        buckets[then as usize % ring].push((j * width + i) as u32);
                        waiting += 1;
                    }
                }
            }
            now += 1;
        }
        far
    }

    /// Metres to the goal over the floor; infinite where it cannot be reached. A closed cell takes its best neighbour's.
    #[inline]
    pub fn distance(&self, p: Vec2) -> f32 {
        let here = self.potential[self.lattice.at(p)];
        if here != NEVER {
            return here as f32 * self.lattice.cell / STRAIGHT as f32;
        }
        self.beside(p)
    }

    #[cold]
    fn beside(&self, p: Vec2) -> f32 {
        let Lattice { width, depth, cell, .. } = self.lattice;
        let (x, z) = self.lattice.cell_of(p);
        let reach = (self.radius / cell).ceil() as usize + 2;
        let mut best = f32::INFINITY;
        for j in (z.saturating_sub(reach)..=(z + reach).min(depth - 1)).step_by(2) {
            for i in (x.saturating_sub(reach)..=(x + reach).min(width - 1)).step_by(2) {
                let there = self.potential[j * width + i];
                if there != NEVER {
                    let off = (self.lattice.middle(i, j) - p).length();
                    best = best.min(2.0 * off + there as f32 * cell / STRAIGHT as f32);
                }
            }
        }
        best
    }

    /// The route from a place to the goal, pulled straight: its corners, both ends included. `None` if there is none.
    pub fn route(&self, from: Vec2) -> Option<Vec<Vec2>> {
        let Lattice { width, depth, cell, .. } = self.lattice;
        let mut at = self.nearest_open(from, self.radius + 2.0 * cell)?;
        if self.potential[at] == NEVER {
            return None;
        }
        let mut chain = vec![from];
        // Steepest descent; the first of equal neighbours.
        while self.potential[at] > 0 {
            let (x, z) = (at % width, at / width);
            let mut next = (self.potential[at], at);
            for (dx, dz) in NEIGHBOURS {
                let (i, j) = (x.wrapping_add_signed(dx), z.wrapping_add_signed(dz));
                if i < width && j < depth {
                    let there = self.potential[j * width + i];
                    let blocked = dx != 0 && dz != 0 && !(self.open[z * width + i] && self.open[j * width + x]);
                    if there < next.0 && !blocked {
                        next = (there, j * width + i);
                    }
                }
            }
            if next.1 == at {
                break;
            }
            at = next.1;
            chain.push(self.lattice.middle(at % width, at / width));
        }
        chain.push(self.goal);
        Some(self.straighten(&chain))
    }

    /// Drops corners for as long as the line from the last one kept is free.
    fn straighten(&self, chain: &[Vec2]) -> Vec<Vec2> {
        let mut corners: Vec<Vec2> = chain.first().copied().into_iter().collect();
        let mut at = 0;
        while at + 1 < chain.len() {
            let mut next = at + 1;
            while next + 1 < chain.len() && self.sees(chain[at], chain[next + 1]) {
                next += 1;
            }
            corners.push(chain[next]);
            at = next;
        }
        // Draw each corner towards the line between its neighbours until it touches the obstacle it goes around.
        for _ in 0..8 {
            let mut k = 1;
            while k + 1 < corners.len() {
                let (before, after) = (corners[k - 1], corners[k + 1]);
                if self.sees(before, after) {
                    corners.remove(k);
                    continue;
                }
                let line = after - before;
                let share = (corners[k] - before).dot(line) / line.length_squared().max(1e-9);
                let onto = before + line * share.clamp(0.05, 0.95);
                let (mut near, mut far) = (0.0f32, 1.0f32);
                for _ in 0..6 {
                    let middle = 0.5 * (near + far);
                    let p = corners[k].lerp(onto, middle);
                    if self.sees(before, p) && self.sees(p, after) { near = middle } else { far = middle }
                }
                corners[k] = corners[k].lerp(onto, near);
                k += 1;
            }
        }
        // Merge corners closer than a cell.
        let close = 1.5 * self.lattice.cell;
        let mut k = 1;
        while k + 2 < corners.len() {
            if (corners[k] - corners[k + 1]).length() < close && self.sees(corners[k - 1], corners[k + 1]) {
                corners.remove(k);
            } else {
                k += 1;
            }
        }
        corners
    }

    /// Whether a straight line passes open cells only; its ends may be closer to an obstacle than the field allows.
    fn sees(&self, a: Vec2, b: Vec2) -> bool {
        let length = (b - a).length();
        let transitions = (length / (0.25 * self.lattice.cell)).ceil().max(1.0) as usize;
        let near_end = |p: Vec2| (p - self.goal).length().min((p - a).length()) <= self.lattice.cell;
        (0..=transitions).all(|k| {
            let p = a.lerp(b, k as f32 / transitions as f32);
            self.open[self.lattice.at(p)] || near_end(p)
        })
    }

    /// The place nearest to the goal among those that can be reached from here.
    pub fn closest(&self, from: Vec2) -> Vec2 {
        let width = self.lattice.width;
        let reached = self.flood(self.nearest_open(from, self.radius + 2.0 * self.lattice.cell));
        let place = |k: usize| self.lattice.middle(k % width, k / width);
        let cells = (0..reached.len()).filter(|k| reached[*k] != NEVER);
        let best =
            cells.map(|k| ((place(k) - self.goal).length_squared(), k)).reduce(|a, b| if b.0 < a.0 { b } else { a });
        best.map_or(from, |b| place(b.1))
    }

    /// Whether obstacles let a disc of the field's radius stand at a point.
    pub fn is_open(&self, p: Vec2) -> bool {
        self.lattice.holds(p) && self.open[self.lattice.at(p)]
    }
}

const NEIGHBOURS: [(isize, isize); 8] = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)];

/// Length of a line of corners, metres.
pub fn length(corners: &[Vec2]) -> f32 {
    corners.windows(2).map(|w| (w[1] - w[0]).length()).sum()
}

/// The least turning on a route with corners, radians, facing `begin` at its start and, if given, `end` at the goal.
pub fn least_turning(corners: &[Vec2], begin: f32, end: Option<f32>) -> f32 {
    let mut headings = vec![begin];
    headings.extend(corners.windows(2).map(|w| libm::atan2f(w[1].x - w[0].x, w[1].y - w[0].y)));
    headings.extend(end);
    turning(&headings)
}

/// Total turning over a row of headings, to either side, radians.
pub fn turning(headings: &[f32]) -> f32 {
    headings.windows(2).map(|w| wrap(w[1] - w[0]).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::volume::{Obstacle, Shape};
    use kumite_motion::{Quat, Vec3};

    fn wall(x: f32, z: f32, half: (f32, f32)) -> Obstacle {
        let half = Vec3::new(half.0, 1.0, half.1);
        Obstacle { shape: Shape::Box { half }, at: Vec3::new(x, 1.0, z), turn: Quat::IDENTITY }
    }

    fn field(obstacles: &[Obstacle], goal: Vec2, radius: f32) -> DistanceField {
        let ground = ObstacleGrid::new(obstacles, &[], Vec2::ZERO, goal, 0.6);
        DistanceField::new(&ground, &Walls::new(&ground, 0.0, 2.0), goal, radius)
    }

    #[test]
    fn a_free_way_is_one_straight_line() {
        let field = field(&[], Vec2::new(3.0, 4.0), 0.3);
        assert_eq!(field.route(Vec2::ZERO), Some(vec![Vec2::ZERO, Vec2::new(3.0, 4.0)]));
        assert!((field.distance(Vec2::ZERO) - 5.0).abs() < 0.4);
    }

    /// The shortest way round the end of a wall has one corner, at the wall's end grown by the radius.
    #[test]
    fn the_way_bends_at_the_end_of_a_wall() {
        let goal = Vec2::new(0.0, 4.0);
        for radius in [0.0, 0.4] {
            let wall = wall(-1.5, 2.0, (2.5, 0.1));
            let field = field(&[wall], goal, radius);
            let route = field.route(Vec2::ZERO).unwrap();
            let straight = [Vec2::new(1.0 + radius, 1.9 - radius), Vec2::new(1.0 + radius, 2.1 + radius)];
            let exact = straight[0].length() + (straight[1] - straight[0]).length() + (goal - straight[1]).length();
            assert!((length(&route) - exact).abs() < 0.25, "{route:?} is {} not {exact}", length(&route));
            assert!(route.len() <= 5, "{route:?}");
            for pair in route.windows(2) {
                let at = |k: u32| pair[0].lerp(pair[1], k as f32 / 100.0);
                // A line may cut the corner of a cell.
                assert!((0..=100).all(|k| wall.distance(Vec3::new(at(k).x, 1.0, at(k).y)) > radius - 0.05));
            }
        }
    }

    #[test]
    fn a_walled_goal_is_not_reached_and_the_nearest_place_is_beside_the_wall() {
        let goal = Vec2::new(0.0, 3.0);
        let sides = [
            wall(0.0, 2.0, (1.1, 0.1)),
            wall(0.0, 4.0, (1.1, 0.1)),
            wall(-1.0, 3.0, (0.1, 1.1)),
            wall(1.0, 3.0, (0.1, 1.1)),
        ];
        let field = field(&sides, goal, 0.1);
        assert_eq!(field.route(Vec2::ZERO), None);
        assert_eq!(field.distance(Vec2::ZERO), f32::INFINITY);
        let closest = field.closest(Vec2::ZERO);
        // 0.1 m of wall and the disc's radius off.
        assert!((closest - goal).length() < 1.35 && (closest - goal).length() > 1.15, "{closest}");
    }

    #[test]
    fn a_goal_inside_an_obstacle_has_no_way() {
        let field = field(&[wall(0.0, 3.0, (0.5, 0.5))], Vec2::new(0.0, 3.0), 0.0);
        assert_eq!(field.route(Vec2::ZERO), None);
    }
}
