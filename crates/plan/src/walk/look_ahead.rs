//! A first path that looks ahead: transitions are tried in the order of how far the floor still is to the goal, and what collides is dropped.
//!
//! Two orders: A* with the potential field as heuristic (weighted, so that it hurries), and a beam that keeps the best few of each depth.
//! A state is a transition just taken, where it lies, and the clip it leads into; states alike are entered once.

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

/// In which order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// The most promising of all first.
    AStar,
    /// The best few of each depth, so many.
    Beam(usize),
}

/// How it looks ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookAheadConfig {
    /// Which first.
    pub order: Order,
    /// States that are entered at most.
    pub states: usize,
    /// How much the way still to go counts against the way gone: more hurries, and finds longer ways.
    pub weight: f32,
    /// States nearer than this, metres, radians and seconds of the same clip, are alike.
    pub alike: (f32, f32, f32),
    /// A path is good enough when eq. 1 at the goal is below this.
    pub enough: f32,
}

impl Default for LookAheadConfig {
    fn default() -> Self {
        LookAheadConfig { order: Order::AStar, states: 8_000, weight: 1.6, alike: (0.2, 0.2, 0.2), enough: 0.5 }
    }
}

/// What was found and how.
#[derive(Clone, Debug, Default)]
pub struct LookAheadResult {
    /// Steps and end of the best path; it does not collide.
    pub path: Option<(Vec<Transition>, GlobalFrame)>,
    /// Eq. 1 at its end.
    pub off: f32,
    /// States entered.
    pub states: usize,
}

/// Nearer to the goal than this states are less alike, metres.
const LAST: f32 = 1.6;
/// Nearer to the goal than this one may stand still, metres; and before one has gone this far.
const NEAR: f32 = 1.5;
const BEGINS: f32 = 0.5;

#[derive(Clone, Copy, Debug)]
struct State {
    parent: u32,
    transition: Transition,
    place: PlanarMatrix,
    /// Cost so far: metres gone and a part for transitions.
    gone: f32,
    depth: u16,
    key: Key,
}

/// States with the same one are alike.
type Key = (u32, i32, i32, i32);

/// A hash of a few integers; nobody chooses them to collide.
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
        // The heap gives the greatest: cheap is great, and old before new.
        other.cost.total_cmp(&self.cost).then(other.state.cmp(&self.state))
    }
}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What is looked at: paths' measure, where they may end, and how far it still is from anywhere.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'l, 'a> {
    /// The measure.
    pub objective: &'l Objective<'a>,
    /// Where paths may end.
    pub ends: &'l Ends,
    /// Grown by as much as the body needs at least.
    pub field: &'l DistanceField,
    /// The same with headings.
    pub heading_field: &'l HeadingField,
}

impl Sight<'_, '_> {
    /// Metres still to go.
    fn left(&self, place: &PlanarMatrix, frame: GlobalFrame, at: Vec2) -> f32 {
        let heading = place.turn + self.objective.tables.turn[frame as usize];
        self.heading_field.distance(at, heading, self.field.distance(at))
    }
}

/// Looking ahead, in slices. Always to be asked with the same [`Sight`].
#[derive(Clone, Debug)]
pub struct LookAhead {
    config: LookAheadConfig,
    states: Vec<State>,
    seen: HashMap<Key, f32, BuildHasherDefault<Mix>>,
    open: BinaryHeap<Waiting>,
    entered: usize,
    /// Total cost, goal term, state and end of the best arrival.
    best: Option<(f32, f32, u32, GlobalFrame)>,
    /// Metres still to go where it is least, and where that is.
    nearest: (f32, Vec2),
}

/// Looks for a path until nothing that waits is better than one that arrived well enough, or all states are used up.
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
    /// Nothing is looked at yet.
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

    /// Enters at most so many states, the most promising first, until one arrives with an eq. 1 of no more than `enough`. `false` when nothing is left
    /// to enter.
    pub fn go(&mut self, sight: &Sight<'_, '_>, entries: usize, enough: f32) -> bool {
        self.run(sight, entries, |best, _| best.1 <= enough)
    }

    /// How it looks.
    pub fn config(&self) -> &LookAheadConfig {
        &self.config
    }

    /// Metres still to go where that is least, and where.
    pub fn nearest(&self) -> (f32, Vec2) {
        self.nearest
    }

    /// States known.
    pub fn states(&self) -> usize {
        self.states.len()
    }

    /// States entered.
    pub fn entered(&self) -> usize {
        self.entered
    }

    /// Eq. 1 at the end of the best path.
    pub fn off(&self) -> f32 {
        self.best.map_or(f32::INFINITY, |b| b.1)
    }

    /// Steps and end of the best path; it does not collide.
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
                continue; // One alike came later and was better.
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

    /// Cost so far and what is still to come.
    fn promise(&mut self, sight: &Sight<'_, '_>, state: u32) -> f32 {
        let State { transition, place, gone, .. } = &self.states[state as usize];
        let at = place.floor_point(sight.objective.tables.place[transition.to as usize]);
        let left = sight.left(place, transition.to, at);
        if left < self.nearest.0 {
            self.nearest = (left, at);
        }
        gone + self.config.weight * left
    }

    /// Plays on from a state: ends that are passed are noted, transitions that can be taken become states.
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
        // All places where something can happen, in order of their frames.
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
                // Nobody stands still on the way but to begin and to arrive.
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
        // The last steps are to be met more exactly.
        let last = (at - sight.objective.goal).length_squared() < LAST * LAST;
        if last {
            (near, turned) = (0.4 * near, 0.4 * turned);
        }
        let tenth = ((soon * sight.objective.tables.fps) as u32).max(1);
        let cell = |v: f32, side: f32| (v / side).floor() as i32;
        let key =
            (2 * (transition.to / tenth) + u32::from(last), cell(at.x, near), cell(at.y, near), cell(heading, turned));
        // One that is as near for clearly less is not alike.
        let before = self.seen.get(&key).copied().unwrap_or(f32::INFINITY);
        if gone < before - 0.05 {
            self.seen.insert(key, gone);
            self.states.push(State { parent, transition, place, gone, depth, key });
        }
    }

    fn arrive(&mut self, sight: &Sight<'_, '_>, state: u32, place: &PlanarMatrix, gone: f32, end: GlobalFrame) {
        let off = sight.objective.goal_term(place, end);
        // As good as a path with 3 m more, but not as good as one that is there.
        let cost = gone + 3.0 * off;
        if self.best.is_none_or(|b| cost < b.0) {
            self.best = Some((cost, off, state, end));
        }
    }
}
