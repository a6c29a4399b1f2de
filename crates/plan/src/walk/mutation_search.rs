//! The Monte-Carlo search of Arikan and Forsyth 2002, as Chen and Steed use it: start from a random path and mutate the
//! best few until none gets better.

use std::collections::BTreeSet;

use kumite_motion::Chance;
use kumite_motion::hash::fnv1a;

use super::mutations;
use super::objective::{Objective, Trace, WalkPath};
use super::tables::{GlobalFrame, Transition};
use crate::pool::{Alone, Pool};

/// How much work was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkCounts {
    /// Paths whose cost was computed or bounded.
    pub evaluations: u64,
    /// Those among them that were followed frame by frame.
    pub followed: u64,
    /// Local minima found.
    pub minima: u32,
}

/// Where paths may end, and how many transitions away that is.
#[derive(Clone, Debug)]
pub struct Ends {
    /// Frames per clip, in order.
    pub by_clip: Vec<Vec<GlobalFrame>>,
    /// How many more transitions each needs to reach an end; [`u16::MAX`] if it cannot.
    to_go: Vec<u16>,
}

impl Ends {
    /// The ends of an objective, thinned out to `apart` frames.
    pub fn new(objective: &Objective<'_>, apart: u32) -> Ends {
        let tables = objective.tables;
        let mut by_clip = vec![Vec::new(); tables.clips()];
        for at in (0..objective.ends.len() as u32).filter(|at| objective.ends[*at as usize]) {
            let list: &mut Vec<GlobalFrame> = &mut by_clip[tables.clip(at)];
            if list.last().is_none_or(|last| at - last >= apart || !objective.ends[at as usize - 1]) {
                list.push(at);
            }
        }
        let transitions = tables.transitions();
        let can_end = |s: &Transition| by_clip[tables.clip(s.to)].last().is_some_and(|last| *last >= s.after);
        let mut to_go: Vec<u16> = transitions.iter().map(|s| if can_end(s) { 0 } else { u16::MAX }).collect();
        loop {
            let mut changed = false;
            for (i, transition) in transitions.iter().enumerate() {
                let on = tables.leaving(tables.clip(transition.to));
                let from = on.partition_point(|s| transitions[*s as usize].from < transition.after);
                let best = on[from..].iter().map(|s| to_go[*s as usize]).min().unwrap_or(u16::MAX).saturating_add(1);
                if best < to_go[i] {
                    to_go[i] = best;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
        Ends { by_clip, to_go }
    }

    /// The ends of a path that may branch or end from frame `after` on.
    pub fn after<'e>(&'e self, objective: &Objective<'_>, after: GlobalFrame) -> &'e [GlobalFrame] {
        let list = &self.by_clip[objective.tables.clip(after)];
        let first = list.partition_point(|e| *e < after);
        let Some(begin) = list.get(first) else { return &[] };
        let last = objective.prompt.map_or(list.len(), |prompt| list.partition_point(|e| *e <= begin + prompt));
        &list[first..last]
    }
}

/// One of the best paths so far.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) path: WalkPath,
    pub(super) trace: Trace,
    cost: f32,
    hash: u64,
    mutated: bool,
}

/// A search in progress.
#[derive(Clone, Debug)]
pub struct MutationSearch<'a> {
    objective: Objective<'a>,
    ends: Ends,
    chance: Chance,
    candidates: Vec<Candidate>,
    /// Hashes of paths already mutated: § 6.
    explored: BTreeSet<u64>,
    best: Option<WalkPath>,
    counts: WalkCounts,
    pool: &'a dyn Pool,
}

impl<'a> MutationSearch<'a> {
    /// A search that has not begun.
    pub fn new(objective: Objective<'a>, seed: u64) -> MutationSearch<'a> {
        let ends = Ends::new(&objective, ((0.1 * objective.tables.fps) as u32).max(1));
        MutationSearch {
            objective,
            ends,
            chance: Chance::new(seed),
            candidates: Vec::new(),
            explored: BTreeSet::new(),
            best: None,
            counts: WalkCounts::default(),
            pool: &Alone,
        }
    }

    /// Lets a pool share the scoring of mutations. What is found does not depend on it.
    #[must_use]
    pub fn with_pool(self, pool: &'a dyn Pool) -> MutationSearch<'a> {
        MutationSearch { pool, ..self }
    }

    /// What paths cost.
    pub fn objective(&self) -> &Objective<'a> {
        &self.objective
    }

    /// Where they may end.
    pub fn ends(&self) -> &Ends {
        &self.ends
    }

    /// How much work was done.
    pub fn counts(&self) -> WalkCounts {
        self.counts
    }

    /// The best of all starts.
    pub fn best(&self) -> Option<&WalkPath> {
        self.best.as_ref()
    }

    /// The best few of this start, best first.
    pub fn candidates(&self) -> impl Iterator<Item = &WalkPath> {
        self.candidates.iter().map(|c| &c.path)
    }

    /// Forgets the candidates.
    pub fn clear(&mut self) {
        self.candidates.clear();
        self.explored.clear();
    }

    /// Forgets the candidates and starts again from a random path. `false` if none was found.
    pub fn restart(&mut self) -> bool {
        self.clear();
        for _ in 0..64 {
            if let Some((transitions, end)) = self.random() {
                return self.seed(transitions, end);
            }
        }
        false
    }

    /// Adds a path to the candidates. `false` if it cannot be played.
    pub fn seed(&mut self, transitions: Vec<Transition>, end: GlobalFrame) -> bool {
        if !self.objective.legal(&transitions, end) {
            return false;
        }
        let mut trace = self.objective.begin();
        self.counts.evaluations += 1;
        self.counts.followed += 1;
        let Some(cost) = self.objective.evaluate(&transitions, end, 0, &mut trace, f32::INFINITY) else { return false };
        self.enter(WalkPath { transitions, end, cost }, trace);
        true
    }

    /// Random transitions from the start to an end, about as long as the route.
    fn random(&mut self) -> Option<(Vec<Transition>, GlobalFrame)> {
        let tables = self.objective.tables;
        let all = tables.transitions();
        let long = self.objective.expected * (0.5 + self.chance.unit());
        let (mut at, mut earliest, mut arc) = (self.objective.start.0, self.objective.start_after, 0.0f32);
        let mut transitions: Vec<Transition> = Vec::new();
        while transitions.len() < 200 {
            let ends = self.ends.after(&self.objective, earliest);
            if arc >= long && !ends.is_empty() {
                let end = ends[self.chance.below(ends.len() as u32) as usize];
                return Some((transitions, end));
            }
            let on = tables.leaving(tables.clip(at));
            let on = &on[on.partition_point(|s| all[*s as usize].from < earliest)..];
            let leads = |s: &&u32| self.ends.to_go[**s as usize] != u16::MAX;
            // Once far enough, take the shortest sequence to an end.
            let nearest = on.iter().map(|s| self.ends.to_go[*s as usize]).min();
            let fits = |s: &&u32| leads(s) && (arc < long || Some(self.ends.to_go[**s as usize]) == nearest);
            let count = on.iter().filter(fits).count() as u32;
            if count == 0 {
                return None;
            }
            let pick = *on.iter().filter(fits).nth(self.chance.below(count) as usize)?;
            let transition = all[pick as usize];
            arc += tables.arc[transition.from as usize] - tables.arc[at as usize];
            (at, earliest) = (transition.to, transition.after);
            transitions.push(transition);
        }
        None
    }

    /// Adds a path to the candidates if it is among the best few.
    fn enter(&mut self, path: WalkPath, trace: Trace) {
        let cost = path.cost.total();
        let hash = hash(&path);
        if self.candidates.iter().any(|c| c.hash == hash) {
            return;
        }
        if self.best.as_ref().is_none_or(|b| cost < b.cost.total()) {
            self.best = Some(path.clone());
        }
        let mutated = self.explored.contains(&hash);
        let at = self.candidates.partition_point(|c| c.cost <= cost);
        self.candidates.insert(at, Candidate { path, trace, cost, hash, mutated });
        self.candidates.truncate(self.objective.config.best.max(1));
    }

    /// Continues for about so many evaluations. Returns `true` at a local minimum: no mutation is better than the worst candidate.
    pub fn step(&mut self, evaluations: u64) -> bool {
        let until = self.counts.evaluations + evaluations;
        while self.counts.evaluations < until {
            let Some(next) = self.candidates.iter().position(|c| !c.mutated) else {
                self.counts.minima += 1;
                return true;
            };
            self.candidates[next].mutated = true;
            let candidate = self.candidates[next].clone();
            self.explored.insert(candidate.hash);
            let seed = (u64::from(self.chance.below(u32::MAX)) << 32) + u64::from(self.chance.below(u32::MAX));
            let (found, counts) =
                mutations::mutations(&self.objective, &self.ends, &candidate, self.bound(), seed, self.pool);
            self.counts.evaluations += counts.evaluations;
            self.counts.followed += counts.followed;
            for (path, trace) in found {
                self.enter(path, trace);
            }
        }
        false
    }
    fn bound(&self) -> f32 {
        if self.candidates.len() < self.objective.config.best {
            f32::INFINITY
        } else {
            self.candidates.last().map_or(f32::INFINITY, |c| c.cost)
        }
    }
}

/// Over what a path plays.
fn hash(path: &WalkPath) -> u64 {
    let words = path.transitions.iter().flat_map(|s| [s.from, s.to, s.align.turn.to_bits()]).chain([path.end]);
    fnv1a(words.flat_map(u32::to_le_bytes))
}
