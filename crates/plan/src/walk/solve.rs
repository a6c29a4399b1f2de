//! A task searched by one method, in slices, and what was found, best first.

use super::approach::{self, ApproachConfig};
use super::informed::{self, InformedConfig, Order};
use super::path::{Aim, Path};
use super::search::{Counts, Search};
use super::tables::Step;
use super::task::Task;

/// How paths are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Obstacles inside the cost, from random starts: Chen and Steed, § 5.
    Ems,
    /// A way first, then motions that follow it: § 4.
    Pff,
    /// Looking ahead with the best few of each depth.
    Beam,
    /// Looking ahead with the most promising first.
    AStar,
    /// An informed start, then mutations as in EMS: ours.
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

/// How much is looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Starts, each mutated until nothing gets better.
    pub starts: u32,
    /// States of an informed start.
    pub states: usize,
    /// Width of the beam.
    pub beam: usize,
    /// Paths followed frame by frame in one start at most.
    pub followed: u64,
    /// Paths that are kept.
    pub keep: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { starts: 4, states: 8000, beam: 200, followed: 40_000, keep: 12 }
    }
}

/// Whether a path needs no better start: eq. 1 at the goal and collisions of no more than 12 cm and 4°.
fn good(path: &Path) -> bool {
    path.terms.goal + path.terms.collide < 0.32
}

/// Looking ahead that ran out of states before so many and came no nearer than a metre (eq. 1) is hemmed in where it stands: mutations and
/// chance have nothing to start from.
const HEMMED: (usize, f32) = (1000, 11.0);
/// Evaluations between two looks at what was used up.
const SLICE: u64 = 20_000;

/// A search by one method.
#[derive(Clone, Debug)]
pub struct Solver<'t> {
    task: &'t Task<'t>,
    method: Method,
    effort: Effort,
    search: Option<Search<'t>>,
    started: u32,
    states: usize,
    found: Vec<Path>,
    at_minimum: bool,
    /// Looking ahead hardly left the start.
    hemmed: bool,
    /// Until the last start.
    followed: u64,
}

impl<'t> Solver<'t> {
    /// Nothing is looked at yet.
    pub fn new(task: &'t Task<'t>, method: Method, effort: Effort, seed: u64) -> Solver<'t> {
        let aim = if method == Method::Pff { task.pff() } else { task.ems() };
        let search = aim.map(|aim| Search::new(aim, seed));
        Solver {
            task,
            method,
            effort,
            search,
            started: 0,
            states: 0,
            found: Vec::new(),
            at_minimum: true,
            hemmed: false,
            followed: 0,
        }
    }

    /// What paths are measured against; `None` where the method knows no way.
    pub fn aim(&self) -> Option<&Aim<'t>> {
        self.search.as_ref().map(Search::aim)
    }

    /// Works on for about so many evaluations. `true` when it is done.
    pub fn step(&mut self, evaluations: u64) -> bool {
        let Some(search) = &mut self.search else { return true };
        if self.at_minimum {
            let looks = match self.method {
                Method::Beam | Method::AStar => 1,
                Method::Walk => self.effort.starts.max(1),
                Method::Ems | Method::Pff => self.effort.starts,
            };
            if self.started >= looks {
                return true;
            }
            self.started += 1;
            let order = match self.method {
                Method::Beam => Some((Order::Beam(self.effort.beam), 1.6, self.effort.states)),
                Method::AStar => Some((Order::AStar, 1.6, self.effort.states)),
                // The first start looks ahead in a hurry, the next two are left to chance; if none of them led there, the fourth has patience.
                // Where the first hardly left the start, patience is next, and chance is left out.
                Method::Walk if self.hemmed => Some((Order::AStar, 1.2, 6 * self.effort.states)),
                Method::Walk if self.started > 3 && self.found.first().is_some_and(good) => return true,
                Method::Walk if self.started == 1 => Some((Order::AStar, 1.6, self.effort.states)),
                Method::Walk if self.started == 4 => Some((Order::AStar, 1.2, 6 * self.effort.states)),
                _ => None,
            };
            if let Some((order, weight, states)) = order {
                let mut config = InformedConfig { order, states, weight, ..InformedConfig::default() };
                if self.started > 1 {
                    config.alike = (0.1, 0.1, 0.1);
                }
                let looked = informed::look(search.aim(), search.ends(), &self.task.field, &config);
                self.states += looked.states;
                self.hemmed = looked.states < HEMMED.0 && looked.off > HEMMED.1;
                search.clear();
                if let Some((steps, end)) = looked.path {
                    search.seed(steps, end);
                }
                if self.method == Method::Walk && self.hemmed {
                    keep(&mut self.found, search.pool(), self.effort.keep);
                    return self.started > 1;
                }
                if self.method != Method::Walk {
                    keep(&mut self.found, search.pool(), self.effort.keep);
                    return true;
                }
            } else if !search.restart() {
                return false;
            }
            self.at_minimum = false;
        }
        if search.step(evaluations.min(SLICE)) || search.counts().followed > self.followed + self.effort.followed {
            self.at_minimum = true;
            self.followed = search.counts().followed;
            keep(&mut self.found, search.pool(), self.effort.keep);
        }
        false
    }

    /// Works until it is done.
    pub fn run(&mut self) {
        while !self.step(u64::MAX / 2) {}
    }

    /// What was found, best first.
    pub fn found(&self) -> &[Path] {
        &self.found
    }

    /// What was done.
    pub fn counts(&self) -> Counts {
        self.search.as_ref().map_or(Counts::default(), Search::counts)
    }

    /// Whether looking ahead hardly left the start: only another first step can help.
    pub fn hemmed(&self) -> bool {
        self.hemmed
    }

    /// States of informed starts.
    pub fn states(&self) -> usize {
        self.states
    }

    /// A path with its last steps bent onto the goal.
    pub fn bent(&self, path: &Path, config: &ApproachConfig) -> Vec<Step> {
        self.aim().map_or_else(|| path.steps.clone(), |aim| approach::bend(aim, &path.steps, path.end, config))
    }
}

/// Takes the best into a list.
fn keep<'p>(found: &mut Vec<Path>, pool: impl Iterator<Item = &'p Path>, most: usize) {
    for path in pool {
        if !found.contains(path) {
            let at = found.partition_point(|f| f.terms.cost() <= path.terms.cost());
            found.insert(at, path.clone());
        }
    }
    found.truncate(most);
}
