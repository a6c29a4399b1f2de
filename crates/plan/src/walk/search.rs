//! The Monte-Carlo search of Arikan and Forsyth 2002, as Chen and Steed use it: from a random path, mutate the best few until none gets better.

use std::collections::BTreeSet;

use kumite_motion::Chance;

use super::path::{Aim, Path, Trace};
use super::tables::{At, Rigid, Step};

/// What was done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Paths whose cost was worked out or bounded.
    pub evaluations: u64,
    /// Of these, those that had to be followed frame by frame.
    pub followed: u64,
    /// Local minima found.
    pub minima: u32,
}

/// Where paths may end, and how near to that each transition is.
#[derive(Clone, Debug)]
pub struct Ends {
    /// Per clip some frames, in order.
    pub by_clip: Vec<Vec<At>>,
    /// Per transition, how many more are needed to get to an end; [`u16::MAX`] if none leads there.
    to_go: Vec<u16>,
}

impl Ends {
    /// Frames of an aim, thinned out to `apart` frames.
    pub fn new(aim: &Aim<'_>, apart: u32) -> Ends {
        let tables = aim.tables;
        let mut by_clip = vec![Vec::new(); tables.clips()];
        for at in (0..aim.ends.len() as u32).filter(|at| aim.ends[*at as usize]) {
            let list: &mut Vec<At> = &mut by_clip[tables.clip(at)];
            if list.last().is_none_or(|last| at - last >= apart || !aim.ends[at as usize - 1]) {
                list.push(at);
            }
        }
        let steps = tables.steps();
        let can_end = |s: &Step| by_clip[tables.clip(s.to)].last().is_some_and(|last| *last >= s.after);
        let mut to_go: Vec<u16> = steps.iter().map(|s| if can_end(s) { 0 } else { u16::MAX }).collect();
        loop {
            let mut changed = false;
            for (i, step) in steps.iter().enumerate() {
                let on = tables.leaving(tables.clip(step.to));
                let from = on.partition_point(|s| steps[*s as usize].from < step.after);
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

    /// Those at which a path that entered at `after` may end.
    pub fn after<'e>(&'e self, aim: &Aim<'_>, after: At) -> &'e [At] {
        let list = &self.by_clip[aim.tables.clip(after)];
        let first = list.partition_point(|e| *e < after);
        let Some(begin) = list.get(first) else { return &[] };
        let last = aim.prompt.map_or(list.len(), |prompt| list.partition_point(|e| *e <= begin + prompt));
        &list[first..last]
    }
}

/// A path of the pool.
#[derive(Clone, Debug)]
struct Candidate {
    path: Path,
    trace: Trace,
    cost: f32,
    hash: u64,
    mutated: bool,
}

/// A search in progress.
#[derive(Clone, Debug)]
pub struct Search<'a> {
    aim: Aim<'a>,
    ends: Ends,
    chance: Chance,
    pool: Vec<Candidate>,
    /// Paths that were mutated already, by hash: § 6.
    explored: BTreeSet<u64>,
    best: Option<Path>,
    counts: Counts,
    scratch: (Trace, Vec<Step>),
}

impl<'a> Search<'a> {
    /// Nothing is looked at yet.
    pub fn new(aim: Aim<'a>, seed: u64) -> Search<'a> {
        let ends = Ends::new(&aim, ((0.1 * aim.tables.fps) as u32).max(1));
        Search {
            aim,
            ends,
            chance: Chance::new(seed),
            pool: Vec::new(),
            explored: BTreeSet::new(),
            best: None,
            counts: Counts::default(),
            scratch: Default::default(),
        }
    }

    /// What paths are measured against.
    pub fn aim(&self) -> &Aim<'a> {
        &self.aim
    }

    /// Where they may end.
    pub fn ends(&self) -> &Ends {
        &self.ends
    }

    /// What was done so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The best of all starts.
    pub fn best(&self) -> Option<&Path> {
        self.best.as_ref()
    }

    /// The best few of this start, best first.
    pub fn pool(&self) -> impl Iterator<Item = &Path> {
        self.pool.iter().map(|c| &c.path)
    }

    /// Forgets the pool.
    pub fn clear(&mut self) {
        self.pool.clear();
        self.explored.clear();
    }

    /// Forgets the pool and starts again from a random path. `false` if none was found.
    pub fn restart(&mut self) -> bool {
        self.clear();
        for _ in 0..64 {
            if let Some((steps, end)) = self.random() {
                return self.seed(steps, end);
            }
        }
        false
    }

    /// Puts a path into the pool. `false` if it cannot be played.
    pub fn seed(&mut self, steps: Vec<Step>, end: At) -> bool {
        if !self.aim.legal(&steps, end) {
            return false;
        }
        let mut trace = self.aim.begin();
        self.counts.evaluations += 1;
        self.counts.followed += 1;
        let Some(terms) = self.aim.evaluate(&steps, end, 0, &mut trace, f32::INFINITY) else { return false };
        self.enter(Path { steps, end, terms }, trace);
        true
    }

    /// A random row of transitions that leads from the start to an end, about as long as the way is.
    fn random(&mut self) -> Option<(Vec<Step>, At)> {
        let tables = self.aim.tables;
        let all = tables.steps();
        let long = self.aim.expected * (0.5 + self.chance.unit());
        let (mut at, mut earliest, mut arc) = (self.aim.start.0, self.aim.start_after, 0.0f32);
        let mut steps: Vec<Step> = Vec::new();
        while steps.len() < 200 {
            let ends = self.ends.after(&self.aim, earliest);
            if arc >= long && !ends.is_empty() {
                let end = ends[self.chance.below(ends.len() as u32) as usize];
                return Some((steps, end));
            }
            let on = tables.leaving(tables.clip(at));
            let on = &on[on.partition_point(|s| all[*s as usize].from < earliest)..];
            let leads = |s: &&u32| self.ends.to_go[**s as usize] != u16::MAX;
            // Far enough, the shortest row to an end.
            let nearest = on.iter().map(|s| self.ends.to_go[*s as usize]).min();
            let fits = |s: &&u32| leads(s) && (arc < long || Some(self.ends.to_go[**s as usize]) == nearest);
            let count = on.iter().filter(fits).count() as u32;
            if count == 0 {
                return None;
            }
            let pick = *on.iter().filter(fits).nth(self.chance.below(count) as usize)?;
            let step = all[pick as usize];
            arc += tables.arc[step.from as usize] - tables.arc[at as usize];
            (at, earliest) = (step.to, step.after);
            steps.push(step);
        }
        None
    }

    /// Takes a path into the pool if it is among the best few.
    fn enter(&mut self, path: Path, trace: Trace) {
        let cost = path.terms.cost();
        let hash = hash(&path);
        if self.pool.iter().any(|c| c.hash == hash) {
            return;
        }
        if self.best.as_ref().is_none_or(|b| cost < b.terms.cost()) {
            self.best = Some(path.clone());
        }
        let mutated = self.explored.contains(&hash);
        let at = self.pool.partition_point(|c| c.cost <= cost);
        self.pool.insert(at, Candidate { path, trace, cost, hash, mutated });
        self.pool.truncate(self.aim.config.best.max(1));
    }

    /// Works on for about so many evaluations. `true` when no mutation of the pool is better than its worst: a local minimum.
    pub fn step(&mut self, evaluations: u64) -> bool {
        let until = self.counts.evaluations + evaluations;
        while self.counts.evaluations < until {
            let Some(next) = self.pool.iter().position(|c| !c.mutated) else {
                self.counts.minima += 1;
                return true;
            };
            self.pool[next].mutated = true;
            let candidate = self.pool[next].clone();
            self.explored.insert(candidate.hash);
            self.mutate(&candidate);
        }
        false
    }

    /// What is certain of a path's cost before it is followed.
    #[inline]
    fn certain(&self, smooth: f32, arc: f32, place: &Rigid, end: At) -> f32 {
        let off = (place.point(self.aim.tables.place[end as usize]) - self.aim.goal).length();
        smooth + self.aim.goal_term(place, end) + self.aim.travel_term(arc, off)
    }

    fn bound(&self) -> f32 {
        if self.pool.len() < self.aim.config.best {
            f32::INFINITY
        } else {
            self.pool.last().map_or(f32::INFINITY, |c| c.cost)
        }
    }

    /// Follows a path that may be good enough.
    fn follow(&mut self, candidate: &Candidate, keep: usize, middle: &[Step], rest: usize, end: At) {
        let bound = self.bound();
        let (mut trace, mut steps) = std::mem::take(&mut self.scratch);
        steps.clear();
        steps.extend_from_slice(&candidate.path.steps[..keep]);
        steps.extend_from_slice(middle);
        steps.extend_from_slice(&candidate.path.steps[rest..]);
        trace.share(&candidate.trace, keep, self.aim.waypoints.len());
        self.counts.followed += 1;
        if let Some(terms) = self.aim.evaluate(&steps, end, keep, &mut trace, bound) {
            self.enter(Path { steps: steps.clone(), end, terms }, trace.clone());
        }
        self.scratch = (trace, steps);
    }

    /// All hops and demotes of a path, and some detours.
    fn mutate(&mut self, candidate: &Candidate) {
        let view = View::new(&self.aim, candidate);
        let count = candidate.path.steps.len();
        for keep in 0..=count {
            for rest in keep..=count {
                self.hop(candidate, &view, keep, rest);
            }
            self.end(candidate, &view, keep);
        }
        if self.aim.config.demote {
            (0..count).for_each(|k| self.demote(candidate, &view, k));
        }
        (0..self.aim.config.detours).for_each(|_| self.detour(candidate, &view));
    }

    /// Leaves out the steps from `keep` to `rest`, and puts none or one root-level transition in their place.
    fn hop(&mut self, candidate: &Candidate, view: &View, keep: usize, rest: usize) {
        let tables = self.aim.tables;
        let (enter, earliest) = view.enters[keep];
        let leave = view.leaves[rest];
        let (a, b) = (tables.clip(enter), tables.clip(leave));
        let end = candidate.path.end;
        let last = rest == candidate.path.steps.len();
        if a == b && rest > keep && leave >= earliest && (!last || self.may_end(earliest, end)) {
            let place = view.places[keep].after(&view.onto_end[rest]);
            let way = self.aim.way();
            let arc = view.arc[keep] + way[leave as usize] - way[enter as usize] + view.arc_rest[rest];
            self.counts.evaluations += 1;
            if self.certain(view.smooth[keep] + view.smooth_rest[rest], arc, &place, end) < self.bound() {
                self.follow(candidate, keep, &[], rest, end);
            }
        }
        let roots = tables.roots(a, b);
        let all = tables.steps();
        for &root in &roots[roots.partition_point(|r| all[*r as usize].from < earliest)..] {
            let step = all[root as usize];
            if leave < step.after || (last && !self.may_end(step.after, end)) {
                continue;
            }
            self.try_one(candidate, view, keep, rest, step);
        }
    }

    #[inline]
    fn try_one(&mut self, candidate: &Candidate, view: &View, keep: usize, rest: usize, step: Step) {
        let way = self.aim.way();
        let (enter, leave) = (view.enters[keep].0, view.leaves[rest]);
        let place = view.places[keep].after(&step.align).after(&view.onto_end[rest]);
        let arc = view.arc[keep] + way[step.from as usize] - way[enter as usize] + way[leave as usize]
            - way[step.to as usize]
            + view.arc_rest[rest];
        self.counts.evaluations += 1;
        let smooth = view.smooth[keep] + step.cost + view.smooth_rest[rest];
        if self.certain(smooth, arc, &place, candidate.path.end) < self.bound() {
            self.follow(candidate, keep, &[step], rest, candidate.path.end);
        }
    }

    /// Whether a path that may branch again from `after` on may end at a frame.
    fn may_end(&self, after: At, end: At) -> bool {
        let ends = self.ends.after(&self.aim, after);
        ends.first().is_some_and(|a| *a <= end) && ends.last().is_some_and(|b| end <= *b)
    }

    /// Ends elsewhere: in the clip that is played after `keep` steps, or after one more.
    fn end(&mut self, candidate: &Candidate, view: &View, keep: usize) {
        let tables = self.aim.tables;
        let way = self.aim.way();
        let (enter, earliest) = view.enters[keep];
        let place = view.places[keep];
        let count = candidate.path.steps.len();
        let ends = |search: &Search<'_>, after: At| {
            let ends = search.ends.after(&search.aim, after);
            let first = search.ends.by_clip[tables.clip(after)].partition_point(|e| *e < after);
            first..first + ends.len()
        };
        for k in ends(self, earliest) {
            let end = self.ends.by_clip[tables.clip(earliest)][k];
            let arc = view.arc[keep] + way[end as usize] - way[enter as usize];
            self.counts.evaluations += 1;
            if self.certain(view.smooth[keep], arc, &place, end) < self.bound() {
                self.follow(candidate, keep, &[], count, end);
            }
        }
        let clip = tables.clip(enter);
        for to in 0..tables.clips() {
            if self.ends.by_clip[to].is_empty() {
                continue;
            }
            let roots = tables.roots(clip, to);
            let all = tables.steps();
            for &root in &roots[roots.partition_point(|r| all[*r as usize].from < earliest)..] {
                let step = all[root as usize];
                let then = place.after(&step.align);
                let arc = view.arc[keep] + way[step.from as usize] - way[enter as usize];
                for k in ends(self, step.after) {
                    let end = self.ends.by_clip[to][k];
                    self.counts.evaluations += 1;
                    let arc = arc + way[end as usize] - way[step.to as usize];
                    if self.certain(view.smooth[keep] + step.cost, arc, &then, end) < self.bound() {
                        self.follow(candidate, keep, &[step], count, end);
                    }
                }
            }
        }
    }

    /// Exchanges a step for the others of its cluster.
    fn demote(&mut self, candidate: &Candidate, view: &View, k: usize) {
        let tables = self.aim.tables;
        let own = candidate.path.steps[k];
        let on = tables.leaving(tables.clip(own.from));
        let Some(position) = on.iter().find(|s| tables.steps()[**s as usize].edge == own.edge) else { return };
        let (_, earliest) = view.enters[k];
        let leave = view.leaves[k + 1];
        let last = k + 1 == candidate.path.steps.len();
        for &other in tables.cluster(*position) {
            let step = tables.steps()[other as usize];
            if other == *position || step.from < earliest || leave < step.after {
                continue;
            }
            if last && !self.may_end(step.after, candidate.path.end) {
                continue;
            }
            self.try_one(candidate, view, k, k + 1, step);
        }
    }

    /// Goes through a third clip instead of one, two or no steps.
    fn detour(&mut self, candidate: &Candidate, view: &View) {
        let tables = self.aim.tables;
        let all = tables.steps();
        let count = candidate.path.steps.len() as u32;
        let keep = self.chance.below(count + 1) as usize;
        let rest = (keep + self.chance.below(3) as usize).min(count as usize);
        let (enter, earliest) = view.enters[keep];
        let leave = view.leaves[rest];
        let on = tables.leaving(tables.clip(enter));
        let on = &on[on.partition_point(|s| all[*s as usize].from < earliest)..];
        if on.is_empty() {
            return;
        }
        let one = all[on[self.chance.below(on.len() as u32) as usize] as usize];
        let roots = tables.roots(tables.clip(one.to), tables.clip(leave));
        let roots = &roots[roots.partition_point(|r| all[*r as usize].from < one.after)..];
        if roots.is_empty() {
            return;
        }
        let two = all[roots[self.chance.below(roots.len() as u32) as usize] as usize];
        let last = rest == count as usize;
        if leave < two.after || (last && !self.may_end(two.after, candidate.path.end)) {
            return;
        }
        let way = self.aim.way();
        let place = view.places[keep].after(&one.align).after(&two.align).after(&view.onto_end[rest]);
        let arc = view.arc[keep] + way[one.from as usize] - way[enter as usize] + way[two.from as usize]
            - way[one.to as usize]
            + way[leave as usize]
            - way[two.to as usize]
            + view.arc_rest[rest];
        self.counts.evaluations += 1;
        let smooth = view.smooth[keep] + one.cost + two.cost + view.smooth_rest[rest];
        if self.certain(smooth, arc, &place, candidate.path.end) < self.bound() {
            self.follow(candidate, keep, &[one, two], rest, candidate.path.end);
        }
    }
}

/// A path from both of its ends: what is there before each stretch, and what comes after it.
struct View {
    /// Per stretch: its first frame, and from where on it may be left.
    enters: Vec<(At, At)>,
    /// Its last frame.
    leaves: Vec<At>,
    places: Vec<Rigid>,
    /// From a stretch's place to the last one's.
    onto_end: Vec<Rigid>,
    smooth: Vec<f32>,
    /// Of all steps from a stretch on.
    smooth_rest: Vec<f32>,
    arc: Vec<f32>,
    /// Way after a stretch.
    arc_rest: Vec<f32>,
}

impl View {
    fn new(aim: &Aim<'_>, candidate: &Candidate) -> View {
        let steps = &candidate.path.steps;
        let count = steps.len();
        let way = aim.way();
        let mut enters = vec![(aim.start.0, aim.start_after)];
        enters.extend(steps.iter().map(|s| (s.to, s.after)));
        let mut leaves: Vec<At> = steps.iter().map(|s| s.from).collect();
        leaves.push(candidate.path.end);
        let places = candidate.trace.places[..=count].to_vec();
        let mut onto_end = vec![Rigid::new(&kumite_motion::align::Planar::IDENTITY); count + 1];
        let mut smooth_rest = vec![0.0; count + 1];
        let mut arc_rest = vec![0.0; count + 1];
        for k in (0..count).rev() {
            onto_end[k] = steps[k].align.after(&onto_end[k + 1]);
            smooth_rest[k] = smooth_rest[k + 1] + steps[k].cost;
            arc_rest[k] = arc_rest[k + 1] + way[leaves[k + 1] as usize] - way[enters[k + 1].0 as usize];
        }
        let (mut smooth, mut arc) = (vec![0.0; count + 1], vec![0.0; count + 1]);
        for k in 0..count {
            smooth[k + 1] = smooth[k] + steps[k].cost;
            arc[k + 1] = arc[k] + way[leaves[k] as usize] - way[enters[k].0 as usize];
        }
        View { enters, leaves, places, onto_end, smooth, smooth_rest, arc, arc_rest }
    }
}

/// FNV-1a over what a path plays.
fn hash(path: &Path) -> u64 {
    let words = path.steps.iter().flat_map(|s| [s.from, s.to, s.align.turn.to_bits()]).chain([path.end]);
    words
        .flat_map(u32::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3))
}
