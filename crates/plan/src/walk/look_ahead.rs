//! Finding a first path by looking ahead: transitions are tried in the order of their distance to the goal, and those that collide are
//! dropped.
//!
//! Two orders: A* with the distance field as a heuristic (weighted, so that it is greedy), and a beam that keeps the best few of each
//! depth. A state is a transition just taken and the placement of the clip it leads into; similar states are expanded once.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashMap};
use std::hash::{BuildHasherDefault, Hasher};

use kumite_motion::Vec2;
use kumite_motion::align::PlanarMatrix;
use kumite_motion::rotation::wrap;

use super::distance_field::DistanceField;
use super::heading_field::HeadingField;
use super::mutation_search::Ends;
use super::objective::Objective;
use super::tables::{GlobalFrame, Transition};

/// In which order states are expanded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// The most promising first.
    AStar,
    /// At each depth the best, this many.
    Beam(usize),
}

/// Settings of looking ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookAheadConfig {
    /// In which order.
    pub order: Order,
    /// Most states to expand.
    pub states: usize,
    /// Weight of the distance to go against the distance gone: a higher one is faster and finds longer paths.
    pub weight: f32,
    /// States of the same clip closer than this are similar: metres, radians, seconds.
    pub alike: (f32, f32, f32),
    /// A path is good enough when eq. 1 at the goal is below this.
    pub enough: f32,
}

impl Default for LookAheadConfig {
    fn default() -> Self {
        LookAheadConfig { order: Order::AStar, states: 8_000, weight: 1.6, alike: (0.2, 0.2, 0.2), enough: 0.5 }
    }
}

/// What looking ahead found.
#[derive(Clone, Debug, Default)]
pub struct LookAheadResult {
    /// Transitions and last frame of the best path; it does not collide.
    pub path: Option<(Vec<Transition>, GlobalFrame)>,
    /// Eq. 1 at its end.
    pub off: f32,
    /// States expanded.
    pub states: usize,
}

/// Closer to the goal than this, states are told apart more finely, metres.
const LAST: f32 = 1.6;
/// A path may stand still closer to the goal than this, metres; and before it has gone this far.
const NEAR: f32 = 1.5;
const BEGINS: f32 = 0.5;

#[derive(Clone, Copy, Debug)]
struct State {
    parent: u32,
    transition: Transition,
    place: PlanarMatrix,
    /// Cost so far: metres gone plus the cost of transitions.
    gone: f32,
    depth: u16,
    key: Key,
}

/// States with the same key are similar.
type Key = (u32, i32, i32, i32);

/// A fast hash of a few integers that no adversary chooses.
#[derive(Clone, Debug, Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|b| self.write_u32(u32::from(*b)));
    }

    fn write_u32(&mut self, word: u32) {
        self.0 = (self.0.rotate_left(26) ^ u64::from(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_i32(&mut self, word: i32) {
        self.write_u32(word as u32);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Waiting {
    cost: f32,
    state: u32,
}

impl Eq for Waiting {}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        // The heap returns the greatest: the cheapest, and the oldest of equals.
        other.cost.total_cmp(&self.cost).then(other.state.cmp(&self.state))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What looking ahead reads: the objective, where paths may end, and distances to the goal.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'l, 'a> {
    /// What paths cost.
    pub objective: &'l Objective<'a>,
    /// Where paths may end.
    pub ends: &'l Ends,
    /// Distances without headings, obstacles grown by the least room a body needs.
    pub field: &'l DistanceField,
    /// Distances with headings.
    pub heading_field: &'l HeadingField,
}

impl Sight<'_, '_> {
    /// Metres still to go.
    fn left(&self, place: &PlanarMatrix, frame: GlobalFrame, at: Vec2) -> f32 {
        let heading = place.turn + self.objective.tables.turn[frame as usize];
        self.heading_field.distance(at, heading, self.field.distance(at))
    }
}

/// Looking ahead in slices. Every call must get the same [`Sight`].
#[derive(Clone, Debug)]
pub struct LookAhead {
    config: LookAheadConfig,
    states: Vec<State>,
    seen: HashMap<Key, f32, BuildHasherDefault<Mix>>,
    open: BinaryHeap<Waiting>,
    entered: usize,
    /// Total cost, goal term, state and end of the best arrival.
    best: Option<(f32, f32, u32, GlobalFrame)>,
    /// The least distance still to go, metres, and where.
    nearest: (f32, Vec2),
}

/// Looks for a path until nothing waiting can beat one that arrived well enough, or all states are used up.
pub fn look_ahead(sight: &Sight<'_, '_>, config: LookAheadConfig) -> LookAheadResult {
    let mut ahead = LookAhead::new(sight.objective, config);
    match config.order {
        Order::AStar => {
            ahead.run(sight, config.states, |best, least| best.1 <= config.enough && best.0 <= least);
        }
        Order::Beam(width) => ahead.beam(sight, width),
    }
    LookAheadResult { path: ahead.path(), off: ahead.off(), states: ahead.states() }
}

impl LookAhead {
    /// A search that has not begun.
    pub fn new(objective: &Objective<'_>, config: LookAheadConfig) -> LookAhead {
        let start = objective.start;
        let root = Transition {
            edge: kumite_motion::EdgeIdx(u32::MAX),
            from: start.0,
            to: start.0,
            after: objective.start_after,
            align: PlanarMatrix::IDENTITY,
            cost: 0.0,
        };
        let root =
            State { parent: u32::MAX, transition: root, place: start.1, gone: 0.0, depth: 0, key: Key::default() };
        LookAhead {
            config,
            states: vec![root],
            seen: HashMap::default(),
            open: BinaryHeap::from([Waiting { cost: 0.0, state: 0 }]),
            entered: 0,
            best: None,
            nearest: (f32::INFINITY, start.1.floor_point(objective.tables.place[start.0 as usize])),
        }
    }

    /// Expands up to `entries` states, the most promising first, until one arrives with an eq. 1 of at most `enough`. Returns `false` when
    /// nothing is left to expand.
    pub fn go(&mut self, sight: &Sight<'_, '_>, entries: usize, enough: f32) -> bool {
        self.run(sight, entries, |best, _| best.1 <= enough)
    }

    /// Its settings.
    pub fn config(&self) -> &LookAheadConfig {
        &self.config
    }

    /// The least distance still to go, metres, and where.
    pub fn nearest(&self) -> (f32, Vec2) {
        self.nearest
    }

    /// States known.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// States expanded.
    pub fn entered(&self) -> usize {
        self.entered
    }

    /// Eq. 1 at the end of the best path.
    pub fn off(&self) -> f32 {
        self.best.map_or(f32::INFINITY, |b| b.1)
    }

    /// Transitions and last frame of the best path; it does not collide.
    pub fn path(&self) -> Option<(Vec<Transition>, GlobalFrame)> {
        let (_, _, state, end) = self.best?;
        let mut transitions = Vec::new();
        let mut at = state;
        while at != 0 {
            transitions.push(self.states[at as usize].transition);
            at = self.states[at as usize].parent;
        }
        transitions.reverse();
        Some((transitions, end))
    }

    fn run(
        &mut self,
        sight: &Sight<'_, '_>,
        entries: usize,
        enough: impl Fn((f32, f32, u32, GlobalFrame), f32) -> bool,
    ) -> bool {
        let until = self.entered + entries;
        while let Some(Waiting { state, cost }) = self.open.pop() {
            let State { key, gone, .. } = self.states[state as usize];
            if self.seen.get(&key).is_some_and(|least| *least < gone) {
                continue; // A similar state that came later was better.
            }
            if self.entered >= until || self.best.is_some_and(|b| enough(b, cost)) {
                self.open.push(Waiting { state, cost });
                return true;
            }
            self.entered += 1;
            let from = self.states.len();
            self.expand(sight, state);
            for new in from..self.states.len() {
                let cost = self.promise(sight, new as u32);
                if cost.is_finite() {
                    self.open.push(Waiting { cost, state: new as u32 });
                }
            }
        }
        false
    }

    fn beam(&mut self, sight: &Sight<'_, '_>, width: usize) {
        let mut level = vec![0u32];
        while !level.is_empty() && self.entered < self.config.states {
            let from = self.states.len();
            for &state in &level {
                self.expand(sight, state);
                self.entered += 1;
            }
            let mut next: Vec<Waiting> = Vec::new();
            for state in from as u32..self.states.len() as u32 {
                let cost = self.promise(sight, state);
                if cost.is_finite() {
                    next.push(Waiting { cost, state });
                }
            }
            next.sort_by(|a, b| b.cmp(a));
            next.truncate(width);
            let least = next.first().map_or(f32::INFINITY, |w| w.cost);
            if self.best.is_some_and(|b| b.1 <= self.config.enough && b.0 <= least) {
                break;
            }
            level = next.into_iter().map(|w| w.state).collect();
        }
    }

    /// Cost so far plus the weighted distance to go.
    fn promise(&mut self, sight: &Sight<'_, '_>, state: u32) -> f32 {
        let State { transition, place, gone, .. } = &self.states[state as usize];
        let at = place.floor_point(sight.objective.tables.place[transition.to as usize]);
        let left = sight.left(place, transition.to, at);
        if left < self.nearest.0 {
            self.nearest = (left, at);
        }
        gone + self.config.weight * left
    }

    /// Plays on from a state: passed ends are noted as arrivals, possible transitions become states.
    fn expand(&mut self, sight: &Sight<'_, '_>, state: u32) {
        let tables = sight.objective.tables;
        let State { transition, place, gone, depth, .. } = self.states[state as usize];
        if depth > 120 {
            return;
        }
        let clip = tables.clip(transition.to);
        let all = tables.transitions();
        let on = tables.leaving(clip);
        let on = &on[on.partition_point(|s| all[*s as usize].from < transition.after)..];
        let ends = sight.ends.after(sight.objective, transition.after);
        // Transitions and ends together, in the order of their frames.
        let (mut s, mut e) = (0, 0);
        let mut clear = transition.to;
        loop {
            let next_step = on.get(s).map_or(GlobalFrame::MAX, |k| all[*k as usize].from);
            let next_end = ends.get(e).copied().unwrap_or(GlobalFrame::MAX);
            let at = next_step.min(next_end);
            if at == GlobalFrame::MAX || sight.objective.collisions(clear, at, &place, at == next_end, |_| false) > 0.0
            {
                return;
            }
            clear = at.max(clear);
            let gone = gone + sight.objective.way[at as usize] - sight.objective.way[transition.to as usize];
            if at == next_end {
                self.arrive(sight, state, &place, gone, at);
                e += 1;
            }
            if at == next_step {
                let next = all[on[s] as usize];
                let then = place.after(&next.align);
                // Stand still only at the beginning and near the goal.
                let far = (then.floor_point(tables.place[next.to as usize]) - sight.objective.goal).length_squared()
                    > NEAR * NEAR;
                if !(tables.still[next.to as usize] && far && gone > BEGINS) {
                    self.add(sight, state, next, then, gone + next.cost, depth + 1);
                }
                s += 1;
            }
        }
    }

    fn add(
        &mut self,
        sight: &Sight<'_, '_>,
        parent: u32,
        transition: Transition,
        place: PlanarMatrix,
        gone: f32,
        depth: u16,
    ) {
        let at = place.floor_point(sight.objective.tables.place[transition.to as usize]);
        let heading = wrap(place.turn);
        let (mut near, mut turned, soon) = self.config.alike;
        // The last steps must be more exact.
        let last = (at - sight.objective.goal).length_squared() < LAST * LAST;
        if last {
            (near, turned) = (0.4 * near, 0.4 * turned);
        }
        let tenth = ((soon * sight.objective.tables.fps) as u32).max(1);
        let cell = |v: f32, side: f32| (v / side).floor() as i32;
        // Within the clip: states of two clips are never similar, and which are does not depend on the clips before.
        let tables = sight.objective.tables;
        let clip = tables.clip(transition.to);
        let moment = (transition.to - tables.clip_start(clip)) / tenth;
        let moment = ((clip as u32) << 16) + 2 * moment + u32::from(last);
        let key = (moment, cell(at.x, near), cell(at.y, near), cell(heading, turned));
        // A clearly cheaper one replaces a similar state.
        let before = self.seen.get(&key).copied().unwrap_or(f32::INFINITY);
        if gone < before - 0.05 {
            self.seen.insert(key, gone);
            self.states.push(State { parent, transition, place, gone, depth, key });
        }
    }

    fn arrive(&mut self, sight: &Sight<'_, '_>, state: u32, place: &PlanarMatrix, gone: f32, end: GlobalFrame) {
        let off = sight.objective.goal_term(place, end);
        // An error of 1 in eq. 1 counts as much as 3 m more to walk.
        let cost = gone + 3.0 * off;
        if self.best.is_none_or(|b| cost < b.0) {
            self.best = Some((cost, off, state, end));
        }
    }
}
