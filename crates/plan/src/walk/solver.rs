//! Searching a task by one method, in slices. What was found comes best first.

use super::goal_fit::{GoalFitConfig, fit_to_goal};
use super::look_ahead::{LookAhead, LookAheadConfig, Order, Sight, look_ahead};
use super::mutation_search::{MutationSearch, WalkCounts};
use super::objective::{Objective, WalkPath};
use super::tables::Transition;
use super::task::Task;
use crate::Pool;

/// How paths are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Obstacles inside the cost, from random starts: Chen and Steed, § 5.
    Ems,
    /// A route first, then motions that follow it: § 4.
    Pff,
    /// Looking ahead, keeping the best few of each depth.
    Beam,
    /// Looking ahead, the most promising first.
    AStar,
    /// Ours: looking ahead, then mutations as in EMS.
    Walk,
}

impl Method {
    /// All of them.
    pub const ALL: [Method; 5] = [Method::Ems, Method::Pff, Method::Beam, Method::AStar, Method::Walk];

    /// As written in flags.
    pub fn name(self) -> &'static str {
        match self {
            Method::Ems => "ems",
            Method::Pff => "pff",
            Method::Beam => "beam",
            Method::AStar => "astar",
            Method::Walk => "walk",
        }
    }

    /// The inverse of [`Method::name`].
    pub fn from_name(name: &str) -> Option<Method> {
        Method::ALL.into_iter().find(|m| m.name() == name)
    }
}

/// How much work a search may do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Starts, each mutated until none gets better.
    pub starts: u32,
    /// States for looking ahead.
    pub states: usize,
    /// Width of the beam.
    pub beam: usize,
    /// Most paths followed frame by frame in one start.
    pub followed: u64,
    /// Most paths to keep.
    pub keep: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { starts: 4, states: 8000, beam: 200, followed: 40_000, keep: 12 }
    }
}

/// Whether a path needs no other start: goal and collision terms no worse than 12 cm and 4° at the goal.
fn good(path: &WalkPath) -> bool {
    path.cost.goal + path.cost.collide < 0.32
}

/// Whether a path is also short enough to stop the search. Places that were asked for must be passed within 20 cm.
fn fine(path: &WalkPath, asked: bool) -> bool {
    good(path) && path.cost.total() < FINE && (!asked || path.cost.waypoints < 0.5)
}

/// Cost below which a path is fine: about a detour of a metre and eight transitions.
const FINE: f32 = 4.0;
/// Looking ahead is stuck at the start if it runs out of states before this many and gets no closer than a metre (eq. 1): mutations and
/// chance then have nothing to work with.
const STUCK_AT_START: (usize, f32) = (1000, 11.0);
/// Evaluations between two checks of the effort.
const SLICE: u64 = 20_000;
/// States expanded in one slice of looking ahead.
const ENTRIES: usize = 500;
/// Looking ahead hands a path to mutations each time eq. 1 falls below the next of these: mutations are better at the last decimetres.
const HAND_ON: [f32; 4] = [3.0, 1.5, 0.7, 0.3];

/// The starts of a walk: weight and similarity of looking ahead ([`LookAheadConfig`]), or a random start.
const LOOKS: [Option<(f32, f32)>; 4] = [Some((1.6, 0.2)), Some((2.5, 0.3)), None, Some((3.0, 0.2))];

/// Weight and similarity for further looks once a path arrives.
const PATIENT: [(f32, f32); 2] = [(1.2, 0.2), (1.0, 0.2)];

/// What the solver is doing.
#[derive(Clone, Debug)]
enum Phase {
    /// Looking ahead; the number of hand-ons so far.
    Look(Box<LookAhead>, usize),
    /// Mutating what looking ahead found.
    Improve(Box<LookAhead>, usize),
    /// About to begin the next start.
    Next,
    /// Mutating a random path.
    Chance,
}

/// A search by one method.
#[derive(Clone, Debug)]
pub struct Solver<'t> {
    task: &'t Task<'t>,
    method: Method,
    effort: Effort,
    search: Option<MutationSearch<'t>>,
    started: u32,
    states: usize,
    found: Vec<WalkPath>,
    phase: Phase,
    /// Looking ahead hardly left the start.
    stuck_at_start: bool,
    /// How often it looked ahead again after a path arrived.
    again: usize,
    /// Paths followed until the last start.
    followed: u64,
}

impl<'t> Solver<'t> {
    /// A search that has not begun.
    pub fn new(task: &'t Task<'t>, method: Method, effort: Effort, seed: u64) -> Solver<'t> {
        let objective = match method {
            Method::Ems => task.ems(),
            Method::Pff => task.pff(),
            Method::Beam | Method::AStar | Method::Walk => task.free(),
        };
        let search = objective.map(|objective| MutationSearch::new(objective, seed));
        Solver {
            task,
            method,
            effort,
            search,
            started: 0,
            states: 0,
            found: Vec::new(),
            phase: Phase::Next,
            stuck_at_start: false,
            again: 0,
            followed: 0,
        }
    }

    /// Lets a pool share the scoring of mutations. What is found does not depend on it.
    #[must_use]
    pub fn with_pool(self, pool: &'t dyn Pool) -> Solver<'t> {
        Solver { search: self.search.map(|search| search.with_pool(pool)), ..self }
    }

    /// What paths are measured against; `None` where the method has no route.
    pub fn objective(&self) -> Option<&Objective<'t>> {
        self.search.as_ref().map(MutationSearch::objective)
    }

    /// Continues for about so many evaluations. Returns `true` when it is done.
    pub fn step(&mut self, evaluations: u64) -> bool {
        let Some(search) = &mut self.search else { return true };
        let field = &self.task.field;
        let asked = !self.task.query.waypoints.is_empty();
        match std::mem::replace(&mut self.phase, Phase::Next) {
            Phase::Next => {
                if matches!(self.method, Method::Beam | Method::AStar) {
                    let order = if self.method == Method::Beam { Order::Beam(self.effort.beam) } else { Order::AStar };
                    let config = LookAheadConfig { order, states: self.effort.states, ..LookAheadConfig::default() };
                    let sight = Sight {
                        objective: search.objective(),
                        ends: search.ends(),
                        field,
                        heading_field: &self.task.heading_field,
                    };
                    let looked = look_ahead(&sight, config);
                    self.states += looked.states;
                    if let Some((transitions, end)) = looked.path {
                        search.seed(transitions, end);
                    }
                    keep(&mut self.found, search.candidates(), self.effort.keep);
                    return true;
                }
                if self.started >= self.effort.starts.max(u32::from(self.method == Method::Walk)) {
                    return true;
                }
                // A walk looks ahead first, with other settings if that leads nowhere, and leaves one start to chance: what two looks do not find
                // more states seldom do. If a path arrives but is not fine it looks again, more patiently; with places to pass that is left to chance.
                let there = self.started > 0 && self.found.iter().any(good);
                let look = match self.method {
                    Method::Walk if there && !asked => {
                        let Some(patient) = PATIENT.get(self.again) else { return true };
                        self.again += 1;
                        Some(*patient)
                    }
                    Method::Walk if !there => LOOKS.get(self.started as usize).copied().flatten(),
                    _ => None,
                };
                self.started += 1;
                if let Some((weight, alike)) = look {
                    let alike = (alike, alike, alike);
                    let config =
                        LookAheadConfig { states: self.effort.states / 2, weight, alike, ..LookAheadConfig::default() };
                    self.phase = Phase::Look(Box::new(LookAhead::new(search.objective(), config)), 0);
                    return false;
                }
                // Stuck at the start, a random path would not get away either.
                if !self.stuck_at_start && search.restart() {
                    self.phase = Phase::Chance;
                }
            }
            Phase::Look(mut ahead, mut handed) => {
                let sight = Sight {
                    objective: search.objective(),
                    ends: search.ends(),
                    field,
                    heading_field: &self.task.heading_field,
                };
                let enough = HAND_ON.get(handed).copied().unwrap_or_default();
                let before = ahead.states();
                let more = ahead.go(&sight, ENTRIES, enough) && ahead.entered() < ahead.config().states;
                self.states += ahead.states() - before;
                let arrived = ahead.off() <= enough;
                if !more {
                    self.stuck_at_start = ahead.states() < STUCK_AT_START.0 && ahead.off() > STUCK_AT_START.1;
                }
                if !arrived && more {
                    self.phase = Phase::Look(ahead, handed);
                    return false;
                }
                while HAND_ON.get(handed).is_some_and(|next| ahead.off() <= *next) {
                    handed += 1;
                }
                search.clear();
                if let Some((transitions, end)) = ahead.path() {
                    search.seed(transitions, end);
                }
                if self.stuck_at_start {
                    keep(&mut self.found, search.candidates(), self.effort.keep);
                    return false;
                }
                // Nothing is left to look at, so this is the last path handed on.
                self.phase = Phase::Improve(ahead, if more { handed } else { usize::MAX });
            }
            Phase::Improve(ahead, handed) => {
                let spent = search.counts().followed > self.followed + self.effort.followed;
                if !search.step(evaluations.min(SLICE)) && !spent {
                    self.phase = Phase::Improve(ahead, handed);
                    return false;
                }
                self.followed = search.counts().followed;
                keep(&mut self.found, search.candidates(), self.effort.keep);
                if self.found.iter().any(|path| fine(path, asked)) {
                    return true;
                }
                if handed < HAND_ON.len() && !self.found.iter().any(good) {
                    self.phase = Phase::Look(ahead, handed);
                }
            }
            Phase::Chance => {
                let spent = search.counts().followed > self.followed + self.effort.followed;
                if !search.step(evaluations.min(SLICE)) && !spent {
                    self.phase = Phase::Chance;
                    return false;
                }
                self.followed = search.counts().followed;
                keep(&mut self.found, search.candidates(), self.effort.keep);
                if self.method == Method::Walk && self.found.iter().any(|path| fine(path, asked)) {
                    return true;
                }
            }
        }
        false
    }

    /// Works until it is done.
    pub fn run(&mut self) {
        while !self.step(u64::MAX / 2) {}
    }

    /// What was found, best first.
    pub fn found(&self) -> &[WalkPath] {
        &self.found
    }

    /// How much work was done.
    pub fn counts(&self) -> WalkCounts {
        self.search.as_ref().map_or(WalkCounts::default(), MutationSearch::counts)
    }

    /// Whether looking ahead got stuck at the start: only another first step can help.
    pub fn stuck_at_start(&self) -> bool {
        self.stuck_at_start
    }

    /// States created by looking ahead.
    pub fn states(&self) -> usize {
        self.states
    }

    /// The transitions of a path with its last steps fitted to the goal, and whether that path arrives and touches nothing. If it does not,
    /// fewer steps are nudged, each by more.
    pub fn fitted(&self, path: &WalkPath, config: &GoalFitConfig) -> (Vec<Transition>, bool) {
        let Some(objective) = self.objective() else { return (path.transitions.clone(), true) };
        let mut first = None;
        for share in [1, 2, 3] {
            let config = GoalFitConfig { most: config.most.div_ceil(share), ..*config };
            let transitions = fit_to_goal(objective, &path.transitions, path.end, &config);
            let place = transitions.iter().fold(objective.start.1, |place, transition| place.after(&transition.align));
            let there = objective.goal_term(&place, path.end) < 0.01;
            if there && (!objective.implicit || objective.whole(&transitions, path.end).collide == 0.0) {
                return (transitions, true);
            }
            first = first.or(Some(transitions));
        }
        (first.unwrap_or_default(), false)
    }
}

/// Merges candidates into a list of the best.
fn keep<'p>(found: &mut Vec<WalkPath>, pool: impl Iterator<Item = &'p WalkPath>, most: usize) {
    for path in pool {
        if !found.contains(path) {
            let at = found.partition_point(|f| f.cost.total() <= path.cost.total());
            found.insert(at, path.clone());
        }
    }
    found.truncate(most);
}
