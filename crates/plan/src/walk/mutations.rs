//! All mutations of one path: bounded first, and followed frame by frame only where they may be better. The work is split into
//! independent parts, so that a pool can share it.

use kumite_motion::Chance;
use kumite_motion::align::PlanarMatrix;

use super::mutation_search::{Candidate, Ends, WalkCounts};
use super::objective::{Objective, Trace, WalkPath};
use super::tables::{GlobalFrame, Transition};
use crate::pool::{self, Pool};

/// Number of parts that detours are split into.
const DETOURS: usize = 8;

/// A part of the work.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Leaves out the transitions from the first number up to the second.
    Hop(usize, usize),
    /// Other ends after this many transitions.
    End(usize),
    /// Exchanges this transition.
    Demote(usize),
    Detours,
}

fn parts(transitions: usize, demote: bool) -> Vec<Part> {
    let hops = |keep: usize| (keep..=transitions).map(move |rest| Part::Hop(keep, rest)).chain([Part::End(keep)]);
    let demotes = 0..if demote { transitions } else { 0 };
    (0..=transitions).flat_map(hops).chain(demotes.map(Part::Demote)).chain([Part::Detours; DETOURS]).collect()
}

/// The best few mutations of a path, best first.
pub(super) fn mutations(
    objective: &Objective<'_>,
    ends: &Ends,
    candidate: &Candidate,
    bound: f32,
    seed: u64,
    pool: &dyn Pool,
) -> (Vec<(WalkPath, Trace)>, WalkCounts) {
    let view = View::new(objective, candidate);
    let parts = parts(candidate.path.transitions.len(), objective.config.demote);
    let most = objective.config.best.max(1);
    let score = |part: usize, bound: f32| {
        let mut scorer = Scorer {
            objective,
            ends,
            candidate,
            view: &view,
            bound,
            found: Vec::new(),
            counts: WalkCounts::default(),
            scratch: Default::default(),
        };
        match parts[part] {
            Part::Hop(keep, rest) => scorer.hop(keep, rest),
            Part::End(keep) => scorer.end(keep),
            Part::Demote(k) => scorer.demote(k),
            Part::Detours => {
                let mut chance = Chance::new(seed.wrapping_add(part as u64));
                (0..objective.config.detours / DETOURS as u32).for_each(|_| scorer.detour(&mut chance));
            }
        }
        (scorer.found, scorer.counts)
    };
    // What one wave finds bounds the next, so that few paths are followed for nothing; the first waves are small because they know least.
    // How the work is split does not depend on the pool.
    let (mut found, mut counts) = (Vec::<(WalkPath, Trace)>::new(), WalkCounts::default());
    let (mut first, mut wave) = (0, 2);
    while first < parts.len() {
        let last = (first + wave).min(parts.len());
        let bound = bound.min(found.get(most - 1).map_or(f32::INFINITY, |f| f.0.cost.total()));
        for (own, more) in pool::map(pool, last - first, |part| score(first + part, bound)) {
            for one in own {
                let at = found.partition_point(|f| f.0.cost.total() <= one.0.cost.total());
                found.insert(at, one);
            }
            found.truncate(most);
            counts.evaluations += more.evaluations;
            counts.followed += more.followed;
        }
        (first, wave) = (last, (2 * wave).min(WAVE));
    }
    (found, counts)
}

/// Most parts in one wave.
const WAVE: usize = 32;

/// One part of the work.
struct Scorer<'s, 'a> {
    objective: &'s Objective<'a>,
    ends: &'s Ends,
    candidate: &'s Candidate,
    view: &'s View,
    /// A path must cost less than this.
    bound: f32,
    /// The best few, best first.
    found: Vec<(WalkPath, Trace)>,
    counts: WalkCounts,
    scratch: (Trace, Vec<Transition>),
}

impl Scorer<'_, '_> {
    /// Lower bound of a path's cost, known before it is followed.
    #[inline]
    fn certain(&self, smooth: f32, arc: f32, place: &PlanarMatrix, end: GlobalFrame) -> f32 {
        let off = (place.floor_point(self.objective.tables.place[end as usize]) - self.objective.goal).length();
        smooth + self.objective.goal_term(place, end) + self.objective.travel_term(arc, off)
    }

    fn bound(&self) -> f32 {
        let own = self.found.get(self.objective.config.best.max(1) - 1).map_or(f32::INFINITY, |f| f.0.cost.total());
        self.bound.min(own)
    }

    /// Follows a path that may be good enough.
    fn follow(&mut self, keep: usize, middle: &[Transition], rest: usize, end: GlobalFrame) {
        let (mut trace, mut transitions) = std::mem::take(&mut self.scratch);
        transitions.clear();
        transitions.extend_from_slice(&self.candidate.path.transitions[..keep]);
        transitions.extend_from_slice(middle);
        transitions.extend_from_slice(&self.candidate.path.transitions[rest..]);
        trace.share(&self.candidate.trace, keep, self.objective.waypoints.len());
        self.counts.followed += 1;
        if let Some(cost) = self.objective.evaluate(&transitions, end, keep, &mut trace, self.bound()) {
            let at = self.found.partition_point(|f| f.0.cost.total() <= cost.total());
            self.found.insert(at, (WalkPath { transitions: transitions.clone(), end, cost }, trace.clone()));
            self.found.truncate(self.objective.config.best.max(1));
        }
        self.scratch = (trace, transitions);
    }

    /// Replaces the transitions from `keep` to `rest` by none or by one root-level transition.
    fn hop(&mut self, keep: usize, rest: usize) {
        let tables = self.objective.tables;
        let (enter, earliest) = self.view.enters[keep];
        let leave = self.view.leaves[rest];
        let (a, b) = (tables.clip(enter), tables.clip(leave));
        let end = self.candidate.path.end;
        let last = rest == self.candidate.path.transitions.len();
        if a == b && rest > keep && leave >= earliest && (!last || self.may_end(earliest, end)) {
            let place = self.view.places[keep].after(&self.view.onto_end[rest]);
            let way = self.objective.way;
            let arc = self.view.arc[keep] + way[leave as usize] - way[enter as usize] + self.view.arc_rest[rest];
            self.counts.evaluations += 1;
            if self.certain(self.view.smooth[keep] + self.view.smooth_rest[rest], arc, &place, end) < self.bound() {
                self.follow(keep, &[], rest, end);
            }
        }
        let roots = tables.roots(a, b);
        let all = tables.transitions();
        for &root in &roots[roots.partition_point(|r| all[*r as usize].from < earliest)..] {
            let transition = all[root as usize];
            if leave < transition.after || (last && !self.may_end(transition.after, end)) {
                continue;
            }
            self.try_one(keep, rest, transition);
        }
    }

    #[inline]
    fn try_one(&mut self, keep: usize, rest: usize, transition: Transition) {
        let way = self.objective.way;
        let (enter, leave) = (self.view.enters[keep].0, self.view.leaves[rest]);
        let place = self.view.places[keep].after(&transition.align).after(&self.view.onto_end[rest]);
        let arc = self.view.arc[keep] + way[transition.from as usize] - way[enter as usize] + way[leave as usize]
            - way[transition.to as usize]
            + self.view.arc_rest[rest];
        self.counts.evaluations += 1;
        let smooth = self.view.smooth[keep] + transition.cost + self.view.smooth_rest[rest];
        if self.certain(smooth, arc, &place, self.candidate.path.end) < self.bound() {
            self.follow(keep, &[transition], rest, self.candidate.path.end);
        }
    }

    /// Whether a path that may branch from frame `after` on may end at frame `end`.
    fn may_end(&self, after: GlobalFrame, end: GlobalFrame) -> bool {
        let ends = self.ends.after(self.objective, after);
        ends.first().is_some_and(|a| *a <= end) && ends.last().is_some_and(|b| end <= *b)
    }

    /// Ends elsewhere: in the clip played after `keep` transitions, or after one more.
    fn end(&mut self, keep: usize) {
        let tables = self.objective.tables;
        let way = self.objective.way;
        let (enter, earliest) = self.view.enters[keep];
        let place = self.view.places[keep];
        let count = self.candidate.path.transitions.len();
        let ends = |search: &Scorer<'_, '_>, after: GlobalFrame| {
            let ends = search.ends.after(search.objective, after);
            let first = search.ends.by_clip[tables.clip(after)].partition_point(|e| *e < after);
            first..first + ends.len()
        };
        for k in ends(self, earliest) {
            let end = self.ends.by_clip[tables.clip(earliest)][k];
            let arc = self.view.arc[keep] + way[end as usize] - way[enter as usize];
            self.counts.evaluations += 1;
            if self.certain(self.view.smooth[keep], arc, &place, end) < self.bound() {
                self.follow(keep, &[], count, end);
            }
        }
        let clip = tables.clip(enter);
        for to in 0..tables.clips() {
            if self.ends.by_clip[to].is_empty() {
                continue;
            }
            let roots = tables.roots(clip, to);
            let all = tables.transitions();
            for &root in &roots[roots.partition_point(|r| all[*r as usize].from < earliest)..] {
                let transition = all[root as usize];
                let then = place.after(&transition.align);
                let arc = self.view.arc[keep] + way[transition.from as usize] - way[enter as usize];
                for k in ends(self, transition.after) {
                    let end = self.ends.by_clip[to][k];
                    self.counts.evaluations += 1;
                    let arc = arc + way[end as usize] - way[transition.to as usize];
                    if self.certain(self.view.smooth[keep] + transition.cost, arc, &then, end) < self.bound() {
                        self.follow(keep, &[transition], count, end);
                    }
                }
            }
        }
    }

    /// Exchanges a transition for the others of its cluster.
    fn demote(&mut self, k: usize) {
        let tables = self.objective.tables;
        let own = self.candidate.path.transitions[k];
        let on = tables.leaving(tables.clip(own.from));
        let Some(position) = on.iter().find(|s| tables.transitions()[**s as usize].edge == own.edge) else { return };
        let (_, earliest) = self.view.enters[k];
        let leave = self.view.leaves[k + 1];
        let last = k + 1 == self.candidate.path.transitions.len();
        for &other in tables.cluster(*position) {
            let transition = tables.transitions()[other as usize];
            if other == *position || transition.from < earliest || leave < transition.after {
                continue;
            }
            if last && !self.may_end(transition.after, self.candidate.path.end) {
                continue;
            }
            self.try_one(k, k + 1, transition);
        }
    }

    /// Goes through a third clip instead of up to two transitions.
    fn detour(&mut self, chance: &mut Chance) {
        let tables = self.objective.tables;
        let all = tables.transitions();
        let count = self.candidate.path.transitions.len() as u32;
        let keep = chance.below(count + 1) as usize;
        let rest = (keep + chance.below(3) as usize).min(count as usize);
        let (enter, earliest) = self.view.enters[keep];
        let leave = self.view.leaves[rest];
        let on = tables.leaving(tables.clip(enter));
        let on = &on[on.partition_point(|s| all[*s as usize].from < earliest)..];
        if on.is_empty() {
            return;
        }
        let one = all[on[chance.below(on.len() as u32) as usize] as usize];
        let roots = tables.roots(tables.clip(one.to), tables.clip(leave));
        let roots = &roots[roots.partition_point(|r| all[*r as usize].from < one.after)..];
        if roots.is_empty() {
            return;
        }
        let two = all[roots[chance.below(roots.len() as u32) as usize] as usize];
        let last = rest == count as usize;
        if leave < two.after || (last && !self.may_end(two.after, self.candidate.path.end)) {
            return;
        }
        let way = self.objective.way;
        let place = self.view.places[keep].after(&one.align).after(&two.align).after(&self.view.onto_end[rest]);
        let arc = self.view.arc[keep] + way[one.from as usize] - way[enter as usize] + way[two.from as usize]
            - way[one.to as usize]
            + way[leave as usize]
            - way[two.to as usize]
            + self.view.arc_rest[rest];
        self.counts.evaluations += 1;
        let smooth = self.view.smooth[keep] + one.cost + two.cost + self.view.smooth_rest[rest];
        if self.certain(smooth, arc, &place, self.candidate.path.end) < self.bound() {
            self.follow(keep, &[one, two], rest, self.candidate.path.end);
        }
    }
}

/// A path summed up from both ends: what comes before each stretch, and what comes after it.
struct View {
    /// Per stretch: its first frame, and the first at which it may be left.
    enters: Vec<(GlobalFrame, GlobalFrame)>,
    /// Per stretch: its last frame.
    leaves: Vec<GlobalFrame>,
    places: Vec<PlanarMatrix>,
    /// From a stretch's placement to that of the last.
    onto_end: Vec<PlanarMatrix>,
    smooth: Vec<f32>,
    /// Cost of all transitions from a stretch on.
    smooth_rest: Vec<f32>,
    arc: Vec<f32>,
    /// Distance after a stretch.
    arc_rest: Vec<f32>,
}

impl View {
    fn new(objective: &Objective<'_>, candidate: &Candidate) -> View {
        let transitions = &candidate.path.transitions;
        let count = transitions.len();
        let way = objective.way;
        let mut enters = vec![(objective.start.0, objective.start_after)];
        enters.extend(transitions.iter().map(|s| (s.to, s.after)));
        let mut leaves: Vec<GlobalFrame> = transitions.iter().map(|s| s.from).collect();
        leaves.push(candidate.path.end);
        let places = candidate.trace.places[..=count].to_vec();
        let mut onto_end = vec![PlanarMatrix::IDENTITY; count + 1];
        let mut smooth_rest = vec![0.0; count + 1];
        let mut arc_rest = vec![0.0; count + 1];
        for k in (0..count).rev() {
            onto_end[k] = transitions[k].align.after(&onto_end[k + 1]);
            smooth_rest[k] = smooth_rest[k + 1] + transitions[k].cost;
            arc_rest[k] = arc_rest[k + 1] + way[leaves[k + 1] as usize] - way[enters[k + 1].0 as usize];
        }
        let (mut smooth, mut arc) = (vec![0.0; count + 1], vec![0.0; count + 1]);
        for k in 0..count {
            smooth[k + 1] = smooth[k] + transitions[k].cost;
            arc[k + 1] = arc[k] + way[leaves[k] as usize] - way[enters[k].0 as usize];
        }
        View { enters, leaves, places, onto_end, smooth, smooth_rest, arc, arc_rest }
    }
}
