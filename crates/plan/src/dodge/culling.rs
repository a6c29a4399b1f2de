//! Culling by bit planes (§ 5.2 of the paper, there on the GPU): nine horizontal slices for every
//! twentieth of a second of each edge with an avoidance.
//!
//! A set bit means: an attack whose centre is in that cell at any time of that bucket is certainly inside the body. So a set bit on the
//! attack's path proves a hit, and nothing that the exact test would keep is culled. The printed form tests against the union of the body
//! over the whole edge; that union contains the start pose, which every good dodge vacates. It is kept for comparison.

use kumite_motion::{EdgeIdx, Vec3};

use super::cells::largest_square;
use crate::legs::PlacedLeg;
use crate::threat::{STEP, Threat};
use crate::{Bodies, Form, Warp};

/// Horizontal slices (§ 5.2).
const SLICES: usize = 9;
/// Height of a slice, metres.
const HIGH: f32 = 0.22;
/// Side of a cell, metres, and cells to a side.
const SIDE: f32 = 0.06;
const CELLS: usize = 32;
/// Length of a time bucket, seconds.
const BUCKET: f32 = 0.05;
/// Least radius of attacks that are culled, metres.
const LEAST: f32 = 0.10;
/// How far joins and planted feet move a body away from its clip, metres; culling allows for it.
const SLACK: f32 = 0.03;
/// Samples of the attack inside the printed union above which a candidate is culled. The paper does not give its threshold.
const PIXELS: u32 = 4;

type Plane = [u32; SLICES * CELLS];

#[derive(Clone, Debug, PartialEq)]
struct EdgePlanes {
    edge: EdgeIdx,
    /// Middle of the planes, in the clip's frame.
    middle: Vec3,
    buckets: Vec<Plane>,
    union: Box<Plane>,
}

/// The planes of all edges with an avoidance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CullingPlanes {
    edges: Vec<EdgePlanes>,
}

fn cell(p: Vec3) -> Option<(usize, u32)> {
    let at = |v: f32| (v / SIDE + 0.5 * CELLS as f32).floor();
    let (x, z, y) = (at(p.x), at(p.z), (p.y / HIGH).floor());
    let inside = |v: f32, n: usize| v >= 0.0 && v < n as f32;
    (inside(x, CELLS) && inside(z, CELLS) && inside(y, SLICES)).then(|| (y as usize * CELLS + z as usize, x as u32))
}

fn corner(word: usize, bit: u32) -> Vec3 {
    let (y, z) = (word / CELLS, word % CELLS);
    let at = |v: f32| (v - 0.5 * CELLS as f32) * SIDE;
    Vec3::new(at(bit as f32), y as f32 * HIGH, at(z as f32))
}

impl CullingPlanes {
    /// Works out the planes of a library's bodies.
    pub fn of(bodies: &Bodies) -> CullingPlanes {
        let edges = (0..bodies.edges() as u32).map(EdgeIdx).filter(|e| !bodies.avoids(*e).is_empty());
        let squares = |j: usize| (largest_square(reach(bodies, j)), largest_square(bodies.radius(j)));
        let squares: Vec<(f32, f32)> = (0..bodies.spheres()).map(squares).collect();
        CullingPlanes { edges: edges.map(|edge| EdgePlanes::of(bodies, edge, &squares)).collect() }
    }

    /// Memory used, bytes.
    pub fn bytes(&self) -> usize {
        self.edges.iter().map(|e| (e.buckets.len() + 1) * size_of::<Plane>()).sum()
    }

    /// Whether an attack certainly hits the body on a leg; in the printed form, whether it touches the union of the leg's edge too often.
    /// Nothing is said of the time before `from`.
    pub fn hit(&self, leg: &PlacedLeg, warp: &Warp, threats: &[Threat], form: Form, from: f32) -> bool {
        let Ok(at) = self.edges.binary_search_by_key(&leg.edge, |e| e.edge) else { return false };
        let planes = &self.edges[at];
        let mut touched = 0;
        for sphere in threats.iter().flat_map(|t| &t.spheres).filter(|s| s.radius >= LEAST) {
            for (k, pair) in sphere.places.windows(2).enumerate() {
                let time = sphere.start + k as f32 * STEP;
                if time < from {
                    continue;
                }
                // Most of an attack's path is far away.
                let near = leg.place.point_back(pair[0]) - planes.middle;
                if near.x.abs().max(near.z.abs()) > 2.0 {
                    continue;
                }
                for share in [0.0, 0.25, 0.5, 0.75] {
                    let local = leg.place.point_back(pair[0].lerp(pair[1], share)) - planes.middle;
                    let Some((word, bit)) = cell(local) else { continue };
                    match form {
                        Form::Printed => {
                            touched += planes.union[word] >> bit & 1;
                            if touched > PIXELS {
                                return true;
                            }
                        }
                        Form::Ours => {
                            let since = leg.seconds(warp.at(time + share * STEP).0);
                            let bucket =
                                (since >= 0.0).then(|| planes.buckets.get((since / BUCKET) as usize)).flatten();
                            if bucket.is_some_and(|plane| plane[word] >> bit & 1 == 1) {
                                return true;
                            }
                        }
                    }
                }
            }
        }
        false
    }
}

/// Size of a cell.
const SIZE: Vec3 = Vec3::new(SIDE, HIGH, SIDE);

/// How far from a sphere's centre the centre of the least attack is certainly inside it, metres.
fn reach(bodies: &Bodies, j: usize) -> f32 {
    bodies.radius(j) + LEAST - SLACK
}

impl EdgePlanes {
    /// `squares` has, for each sphere, what squared lengths are compared with: its reach and its radius.
    fn of(bodies: &Bodies, edge: EdgeIdx, squares: &[(f32, f32)]) -> EdgePlanes {
        let mut middle = bodies.pelvis(edge, 0.5 * bodies.seconds(edge));
        middle.y = 0.0;
        let count = (bodies.seconds(edge) / BUCKET).floor() as usize;
        let mut out =
            EdgePlanes { edge, middle, buckets: Vec::with_capacity(count), union: Box::new([0; SLICES * CELLS]) };
        // A sample every 1/120 s; in between nothing moves by more than the slack.
        let looks = 6;
        let mut rows = vec![bodies.row(); looks + 1];
        for bucket in 0..count {
            for (k, row) in rows.iter_mut().enumerate() {
                let time = (bucket as f32 + k as f32 / looks as f32) * BUCKET;
                bodies.sample_joined(edge, time, row);
            }
            let mut plane: Plane = [0; SLICES * CELLS];
            for (j, &(reach_square, radius_square)) in squares.iter().enumerate() {
                let (reach, first) = (reach(bodies, j), rows[0].get(j) - middle);
                // Distance of the far corner.
                let far = |low: f32, side: f32, c: f32| (low - c).abs().max((low + side - c).abs());
                for_cells(first, reach, reach_square, far, |word, bit| {
                    let low = corner(word, bit);
                    let high = low + SIZE;
                    let inside = rows[1..].iter().all(|row| {
                        let c = row.get(j) - middle;
                        (low - c).abs().max((high - c).abs()).length() <= reach
                    });
                    plane[word] |= u32::from(inside) << bit;
                });
                // The first row is the last one of the bucket before.
                for row in &rows[usize::from(bucket > 0)..] {
                    // Distance of the middle.
                    let near = |low: f32, side: f32, c: f32| low + 0.5 * side - c;
                    let union = &mut out.union;
                    for_cells(row.get(j) - middle, bodies.radius(j), radius_square, near, |word, bit| {
                        union[word] |= 1 << bit;
                    });
                }
            }
            out.buckets.push(plane);
        }
        out
    }
}

/// The cells whose distance from `centre`, made of the distances that `along` gives for a cell's low end and side along each axis, is at most `reach`;
/// `most` is the [`largest_square`] of that.
fn for_cells(
    centre: Vec3,
    reach: f32,
    most: f32,
    along: impl Fn(f32, f32, f32) -> f32,
    mut each: impl FnMut(usize, u32),
) {
    let range = |v: f32, side: f32, cells: usize, middle: f32| {
        let (low, high) = ((v - reach) / side + middle, (v + reach) / side + middle);
        // Casts cut off, which is the floor of what is not negative.
        let high = if high < 0.0 { 0 } else { (high as usize + 1).min(cells) };
        (low.max(0.0) as usize).min(cells)..high
    };
    let half = 0.5 * CELLS as f32;
    let square = |low: f32, side: f32, c: f32| {
        let v = along(low, side, c);
        v * v
    };
    let flat = |cell: usize| (cell as f32 - half) * SIDE;
    let (mut squares, columns) = ([0.0; CELLS], range(centre.x, SIDE, CELLS, half));
    for x in columns.clone() {
        squares[x] = square(flat(x), SIDE, centre.x);
    }
    for y in range(centre.y, HIGH, SLICES, 0.0) {
        let high = square(y as f32 * HIGH, HIGH, centre.y);
        if high > most {
            continue;
        }
        for z in range(centre.z, SIDE, CELLS, half) {
            let deep = square(flat(z), SIDE, centre.z);
            if high + deep > most {
                continue;
            }
            for x in columns.clone() {
                if squares[x] + high + deep <= most {
                    each(y * CELLS + z, x as u32);
                }
            }
        }
    }
}
