//! A path through clips and its cost: eq. 1-7 of Chen and Steed, re-evaluated from the first change on.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::rotation::wrap;
use kumite_motion::volume::Obstacle;
use kumite_motion::{Vec2, Vec3};

use super::obstacle_grid::ObstacleGrid;
use super::tables::{GlobalFrame, Tables, Transition};
use super::{Form, WalkConfig};

/// The cost of a path, term by term.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WalkCost {
    /// `Error_smooth`: the sum over its transitions.
    pub smooth: f32,
    /// Eq. 1 at the goal.
    pub goal: f32,
    /// Eq. 1-3 at the places it should pass, and eq. 4 for PFF.
    pub waypoints: f32,
    /// Collisions: the first half of eq. 7.
    pub collide: f32,
    /// Distance travelled: the second half of eq. 7.
    pub travel: f32,
}

impl WalkCost {
    /// The sum: `Cost`.
    pub fn total(&self) -> f32 {
        self.smooth + self.goal + self.waypoints + self.collide + self.travel
    }
}

/// A sequence of transitions, and where it ends.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkPath {
    /// In order.
    pub transitions: Vec<Transition>,
    /// Its last frame.
    pub end: GlobalFrame,
    /// Its cost.
    pub cost: WalkCost,
}

/// What paths are measured against.
#[derive(Clone, Debug)]
pub struct Objective<'a> {
    /// Tables of the library.
    pub tables: &'a Tables,
    /// The obstacles.
    pub ground: &'a ObstacleGrid,
    /// Weights.
    pub config: &'a WalkConfig,
    /// First frame, and the placement of its clip.
    pub start: (GlobalFrame, PlanarMatrix),
    /// First frame at which the path may branch.
    pub start_after: GlobalFrame,
    /// Where to be at the end.
    pub goal: Vec2,
    /// How to face at the end, radians.
    pub facing: Option<f32>,
    /// Whether a path may end with each frame.
    pub ends: &'a [bool],
    /// A path must end within this many frames of the first possible end; `None` for any time.
    pub prompt: Option<u32>,
    /// Places to pass.
    pub waypoints: Vec<Vec2>,
    /// Length of the straightened route, metres.
    pub length: f32,
    /// Expected distance, as `way` counts it.
    pub expected: f32,
    /// Cost of a metre beyond that; `None` for eq. 7.
    pub metre: Option<f32>,
    /// Whether obstacles and distance cost (EMS); if not, straying from waypoints does by eq. 4 (PFF).
    pub implicit: bool,
    /// Distance since the beginning of the clip for every frame, as eq. 6 counts it.
    pub way: &'a [f32],
}

/// Partial sums of a path's cost: before each of its stretches and after the last.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// Placement of each stretch's clip.
    pub places: Vec<PlanarMatrix>,
    smooth: Vec<f32>,
    arc: Vec<f32>,
    collide: Vec<f32>,
    /// Per stretch, per waypoint: least squared distance so far.
    nearest: Vec<f32>,
}

impl Trace {
    fn truncate(&mut self, stretch: usize, waypoints: usize) {
        self.places.truncate(stretch + 1);
        self.smooth.truncate(stretch + 1);
        self.arc.truncate(stretch + 1);
        self.collide.truncate(stretch + 1);
        self.nearest.truncate((stretch + 1) * waypoints);
    }

    /// Copies what another trace knows before a stretch.
    pub fn share(&mut self, other: &Trace, stretch: usize, waypoints: usize) {
        self.places.clear();
        self.smooth.clear();
        self.arc.clear();
        self.collide.clear();
        self.nearest.clear();
        self.places.extend_from_slice(&other.places[..=stretch]);
        self.smooth.extend_from_slice(&other.smooth[..=stretch]);
        self.arc.extend_from_slice(&other.arc[..=stretch]);
        self.collide.extend_from_slice(&other.collide[..=stretch]);
        self.nearest.extend_from_slice(&other.nearest[..(stretch + 1) * waypoints]);
    }
}

impl<'a> Objective<'a> {
    /// Whether a path can be played and ends as it should.
    pub fn legal(&self, transitions: &[Transition], end: GlobalFrame) -> bool {
        let (mut at, mut earliest) = (self.start.0, self.start_after);
        for transition in transitions {
            if self.tables.clip(transition.from) != self.tables.clip(at) || transition.from < earliest {
                return false;
            }
            (at, earliest) = (transition.to, transition.after);
        }
        self.tables.clip(end) == self.tables.clip(at) && end >= earliest && self.ends[end as usize]
    }

    /// The trace of a path that has not begun.
    pub fn begin(&self) -> Trace {
        Trace {
            places: vec![self.start.1],
            smooth: vec![0.0],
            arc: vec![0.0],
            collide: vec![0.0],
            nearest: vec![f32::INFINITY; self.waypoints.len()],
        }
    }

    /// Eq. 1: weighted squared errors of position and facing at the end.
    #[inline]
    pub fn goal_term(&self, place: &PlanarMatrix, end: GlobalFrame) -> f32 {
        let off = place.floor_point(self.tables.place[end as usize]) - self.goal;
        let turn = self.facing.map_or(0.0, |facing| wrap(place.turn + self.tables.turn[end as usize] - facing));
        self.config.location * off.length_squared() + self.config.orientation * turn * turn
    }

    /// Cost of the distance travelled: the second half of eq. 7.
    #[inline]
    pub fn travel_term(&self, arc: f32, off: f32) -> f32 {
        if !self.implicit {
            return 0.0;
        }
        if let Some(metre) = self.metre {
            return metre * (arc + off - self.expected).max(0.0);
        }
        let more = self.config.travel * ((arc + off) / self.expected - 1.0);
        more * more
    }

    /// Cost of passing the waypoints at these squared distances.
    #[inline]
    fn waypoint_term(&self, nearest: &[f32]) -> f32 {
        let weight = self.config.location;
        if self.implicit {
            return nearest.iter().fold(0.0, |sum, d| sum + weight * d);
        }
        // Eq. 4 at the frame that eq. 2 chose.
        let body = self.tables.body;
        let penalty = |d: f32| {
            if self.config.follow_power == 2.0 {
                d / (body * body)
            } else {
                libm::powf(d.sqrt() / body, self.config.follow_power)
            }
        };
        nearest.iter().map(|d| weight * d + penalty(*d)).sum()
    }

    /// Cost of a collision sum: the first half of eq. 7.
    #[inline]
    fn collide_term(&self, sum: f32) -> f32 {
        let weighed = self.config.collide * sum;
        weighed * weighed
    }

    /// Cost of a path of which `trace` knows everything before stretch `known`; afterwards it knows the rest. Returns `None` as soon as the
    /// cost is certain to reach `bound`; `trace` is then invalid after `known`.
    pub fn evaluate(
        &self,
        transitions: &[Transition],
        end: GlobalFrame,
        known: usize,
        trace: &mut Trace,
        bound: f32,
    ) -> Option<WalkCost> {
        let count = self.waypoints.len();
        trace.truncate(known, count);
        // Obstacles last: they are most of the work.
        for stretch in known..=transitions.len() {
            let (first, last) = self.stretch(transitions, end, stretch);
            let place = trace.places[stretch];
            trace.nearest.extend_from_within(stretch * count..(stretch + 1) * count);
            let nearest = &mut trace.nearest[(stretch + 1) * count..];
            self.pass(first, last, &place, nearest);
            trace.arc.push(trace.arc[stretch] + self.way[last as usize] - self.way[first as usize]);
            let (align, cost) = transitions.get(stretch).map_or((None, 0.0), |s| (Some(s.align), s.cost));
            trace.smooth.push(trace.smooth[stretch] + cost);
            trace.places.push(align.map_or(place, |align| place.after(&align)));
            trace.collide.push(trace.collide[stretch]);
        }
        let rest = self.cost(trace, transitions.len(), end).total() - self.collide_term(trace.collide[known]);
        if rest + self.collide_term(trace.collide[known]) >= bound {
            return None;
        }
        if self.implicit {
            for stretch in known..=transitions.len() {
                let (first, last) = self.stretch(transitions, end, stretch);
                let (place, before) = (trace.places[stretch], trace.collide[stretch]);
                let within = |sum: f32| rest + self.collide_term(before + sum) < bound;
                let sum = self.collisions(first, last, &place, stretch == transitions.len(), within);
                if !within(sum) {
                    return None;
                }
                trace.collide[stretch + 1] = before + sum;
            }
        }
        let cost = self.cost(trace, transitions.len(), end);
        (cost.total() < bound).then_some(cost)
    }

    /// First and last frame of a stretch.
    #[inline]
    fn stretch(&self, transitions: &[Transition], end: GlobalFrame, stretch: usize) -> (GlobalFrame, GlobalFrame) {
        let first = if stretch == 0 { self.start.0 } else { transitions[stretch - 1].to };
        (first, transitions.get(stretch).map_or(end, |s| s.from))
    }

    fn cost(&self, trace: &Trace, last: usize, end: GlobalFrame) -> WalkCost {
        let place = &trace.places[last];
        let off = (place.floor_point(self.tables.place[end as usize]) - self.goal).length();
        WalkCost {
            smooth: trace.smooth[last + 1],
            goal: self.goal_term(place, end),
            waypoints: self.waypoint_term(&trace.nearest[(last + 1) * self.waypoints.len()..]),
            collide: self.collide_term(trace.collide[last + 1]),
            travel: self.travel_term(trace.arc[last + 1], off),
        }
    }

    /// Cost of a whole path from its beginning.
    pub fn whole(&self, transitions: &[Transition], end: GlobalFrame) -> WalkCost {
        let mut trace = self.begin();
        self.evaluate(transitions, end, 0, &mut trace, f32::INFINITY).unwrap_or_default()
    }

    /// Cost without shortcuts: every frame, every point, every obstacle. Fast evaluation is tested against it and timed beside it.
    pub fn naive(&self, transitions: &[Transition], end: GlobalFrame) -> WalkCost {
        let tables = self.tables;
        let hop = (tables.fps / 30.0).round().max(1.0) as u32;
        let mut place = self.start.1;
        let (mut smooth, mut arc, mut collide) = (0.0, 0.0, 0.0);
        let mut nearest = vec![f32::INFINITY; self.waypoints.len()];
        for stretch in 0..=transitions.len() {
            let (first, last) = self.stretch(transitions, end, stretch);
            for at in first..=last {
                let here = place.floor_point(tables.place[at as usize]);
                for (waypoint, nearest) in self.waypoints.iter().zip(&mut nearest) {
                    *nearest = nearest.min((here - *waypoint).length_squared());
                }
            }
            let stop = if stretch == transitions.len() { last + 1 } else { last.max(first + 1) };
            for at in (first..stop).step_by(hop as usize) {
                let next = (at + hop).min(stop - 1).max(at);
                let mut met = 0u32;
                for ((p, q), radius) in tables.points(at).iter().zip(tables.points(next)).zip(&tables.radii) {
                    let (p, q) = (place.point(*p), place.point(*q));
                    let touches = |o: &&Obstacle| o.meets(p, q, radius + self.config.margin).is_some();
                    met += self.ground.obstacles().iter().filter(touches).count() as u32;
                }
                collide += met as f32 / tables.radii.len() as f32 * 30.0 * hop as f32 / tables.fps;
            }
            arc += self.way[last as usize] - self.way[first as usize];
            if let Some(transition) = transitions.get(stretch) {
                smooth += transition.cost;
                place = place.after(&transition.align);
            }
        }
        let off = (place.floor_point(tables.place[end as usize]) - self.goal).length();
        WalkCost {
            smooth,
            goal: self.goal_term(&place, end),
            waypoints: self.waypoint_term(&nearest),
            collide: if self.implicit { self.collide_term(collide) } else { 0.0 },
            travel: self.travel_term(arc, off),
        }
    }

    /// Updates the least squared distances to the waypoints with the frames of a stretch.
    fn pass(&self, first: GlobalFrame, last: GlobalFrame, place: &PlanarMatrix, nearest: &mut [f32]) {
        let frames = &self.tables.place[first as usize..=last as usize];
        let long = self.tables.arc[last as usize] - self.tables.arc[first as usize];
        for (waypoint, nearest) in self.waypoints.iter().zip(nearest) {
            // Move the waypoint into the clip's frame instead of every frame into the world.
            let seen = place.floor_point_back(*waypoint);
            let begin = (frames[0] - seen).length() - long;
            if begin > 0.0 && begin * begin >= *nearest {
                continue;
            }
            let least = frames.iter().map(|p| (*p - seen).length_squared()).fold(f32::INFINITY, f32::min);
            *nearest = nearest.min(least);
        }
    }

    /// The sum of eq. 5 over the frames of a stretch, scaled to 30 frames per second. The last frame counts only if the path `ends` with it.
    /// Stops as soon as `go_on` rejects the sum so far.
    pub fn collisions(
        &self,
        first: GlobalFrame,
        last: GlobalFrame,
        place: &PlanarMatrix,
        ends: bool,
        mut go_on: impl FnMut(f32) -> bool,
    ) -> f32 {
        if self.ground.obstacles().is_empty() {
            return 0.0;
        }
        let tables = self.tables;
        let printed = self.config.errata.points == Form::Printed;
        // Tests are swept, so thirty a second are enough.
        let hop = if printed { 1 } else { (tables.fps / 30.0).round().max(1.0) as u32 };
        let scale = match self.config.errata.frames {
            Form::Ours => 30.0 * hop as f32 / tables.fps,
            Form::Printed => 1.0,
        };
        let stop = if ends { last + 1 } else { last.max(first + 1) };
        // Of this clip: whoever stands or steps is slower and narrower than whoever runs.
        let clip = tables.clip(first);
        let (widest, stride) = (tables.clip_reach[clip], tables.stride[clip]);
        let mut sum = 0.0;
        let mut at = first;
        while at < stop {
            let here = place.floor_point(tables.place[at as usize]);
            let free = self.ground.free(here) - self.config.margin;
            let slack = free - widest;
            if slack > 0.0 {
                // The centre of mass takes at least this many frames to get near.
                at += ((slack / stride.max(1e-6)) as u32 / hop).clamp(1, 1 << 16) * hop;
                continue;
            }
            let next = (at + hop).min(stop - 1).max(at);
            if free <= tables.reach[at as usize].max(tables.reach[next as usize]) + stride * hop as f32 {
                let met =
                    if printed { self.joints_inside(at, here, place) } else { self.points_met(at, next, here, place) };
                if met > 0.0 {
                    sum += met * scale;
                    if !go_on(sum) {
                        return sum;
                    }
                }
            }
            at += hop;
        }
        sum
    }

    /// Eq. 5 with spheres along the bones, swept to where they are in the next frame.
    fn points_met(&self, at: GlobalFrame, next: GlobalFrame, here: Vec2, place: &PlanarMatrix) -> f32 {
        let near = self.ground.near(here);
        if near.is_empty() {
            return 0.0;
        }
        let points = self.tables.points(at);
        let after = self.tables.points(next);
        let mut met = 0u32;
        for ((p, q), radius) in points.iter().zip(after).zip(&self.tables.radii) {
            let radius = radius + self.config.margin;
            let flat = place.floor_point(Vec2::new(p.x, p.z));
            let free = self.ground.free(flat) - radius;
            if free > 0.0 && free * free > (*q - *p).length_squared() {
                continue;
            }
            let (p, q) = (Vec3::new(flat.x, p.y, flat.y), place.point(*q));
            met += near.iter().filter(|o| self.ground.meets(**o, p, q, radius)).count() as u32;
        }
        met as f32 / points.len() as f32
    }

    /// Eq. 5 as printed: obstacle i is tested against joints from number i on.
    fn joints_inside(&self, at: GlobalFrame, here: Vec2, place: &PlanarMatrix) -> f32 {
        let joints = self.tables.joints(at);
        let mut met = 0u32;
        for &obstacle in self.ground.near(here) {
            let from = match self.config.errata.inner {
                Form::Ours => 0,
                Form::Printed => (obstacle as usize).min(joints.len()),
            };
            met += joints[from..].iter().filter(|j| self.ground.inside(obstacle, place.point(**j))).count() as u32;
        }
        met as f32 / joints.len().max(1) as f32
    }

    /// Where a path ends and how it faces there, given the placement of its last clip.
    pub fn arrives(&self, place: &PlanarMatrix, end: GlobalFrame) -> (Vec2, f32) {
        (place.floor_point(self.tables.place[end as usize]), wrap(place.turn + self.tables.turn[end as usize]))
    }
}
