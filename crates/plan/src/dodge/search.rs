//! The search: doing nothing, then the index, lowest bound first, then the graph; in slices of a number of candidates.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::{EdgeIdx, Layer};

use super::candidate_cost::{CLOSE, SURE};
use super::clearance::{AttackStep, DodgeScratch, away, body_at, nearest, padded_radii};
use super::cost::timescale_cost;
use super::leaving::Leaving;
use super::{
    AvoidanceCost, AvoidancePath, Base, DefenceKind, DodgeCounts, DodgeDecision, DodgePlanner, Forecast, Judged,
    Origin, Paths, Running, Situation, Verdict, fit_bend,
};
use crate::legs::{Layout, scale, stretches};
use crate::threat::{STEP, Threat, ThreatError};
use crate::{Drift, Form, Leg, Warp, block};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Candidate {
    pub(super) origin: Origin,
    pub(super) path: AvoidancePath,
    /// Middle of its avoidance, path seconds from now.
    pub(super) centre: f32,
    pub(super) scale: f32,
    pub(super) timescale: f32,
    /// Lower bound of its cost.
    pub(super) bound: f32,
    /// Whether its avoidance may vacate a cell that the attack passes.
    pub(super) on_way: bool,
    /// How what is played is left for it before its edge ends.
    pub(super) leaving: Option<Leaving>,
}

/// A candidate that may be the best.
#[derive(Clone, Copy, Debug)]
struct Finalist {
    /// What it costs, or at least.
    cost: f32,
    /// In the queue.
    number: usize,
    /// Among the verdicts that were told.
    told: usize,
    /// The steps of the attack in which it is nearest, among those kept; `None` if it was not tested.
    steps: Option<(usize, usize)>,
}

impl Finalist {
    fn cheapest_last(&self, other: &Finalist) -> std::cmp::Ordering {
        other.cost.total_cmp(&self.cost).then(other.number.cmp(&self.number))
    }
}

/// A decision in progress. It owns what it needs between slices, so that a worker can hold it while the character plays on.
#[derive(Clone, Debug)]
pub struct DodgeSearch {
    pub(super) situation: (EdgeIdx, f32, PlanarMatrix),
    leave: Option<f32>,
    ahead: Vec<Leg>,
    drift: Option<Drift>,
    base: Option<Base>,
    running: Option<Running>,
    pub(super) threats: Vec<Threat>,
    pub(super) attack: f32,
    pub(super) ends: f32,
    queue: Vec<Candidate>,
    next: usize,
    enumerated: Paths,
    stage: Stage,
    pub(super) best: Option<(f32, usize, AvoidanceCost, f32)>,
    /// What may be the best; in the end the cheapest last.
    finalists: Vec<Finalist>,
    steps: Vec<AttackStep>,
    /// The shallowest hits, candidates and depths, the shallowest first: worth bending.
    pub(super) hits: Vec<(usize, f32)>,
    nothing: f32,
    counts: DodgeCounts,
    traversed: bool,
    /// The shallowest hit as it is, and the least bend that was found.
    failed: Option<DodgeDecision>,
    bent: Option<DodgeDecision>,
    answer: Option<DodgeDecision>,
    pub(super) why: Option<Vec<Judged>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Nothing,
    /// Whoever walks goes on walking if a small bend of the walk will do.
    BendWalk,
    Listed,
    Traversal,
    /// What comes near the best is judged as it will be shown.
    Final,
    /// The best path is bent a little.
    Tune,
    /// No path avoids by itself: in this order a small bend of one of the shallowest hits; a block; a large bend of one of them; a bend of
    /// doing nothing.
    Bend(u32),
    BendNothing,
    Block,
    Done,
}

/// So many hits are bent.
pub(super) const BENT: usize = 3;
/// A fitted bend or a search for a block takes as long as about so many candidates.
const FITTING: u32 = 8;

impl DodgeSearch {
    /// Checks the situation and the threats. Nothing is evaluated yet. `why` records a verdict for every candidate.
    pub fn new(
        planner: &DodgePlanner<'_>,
        situation: &Situation<'_>,
        threats: &[Threat],
        why: bool,
    ) -> Result<DodgeSearch, ThreatError> {
        let fits = |e: &EdgeIdx| e.at() < planner.bodies.edges();
        if !(fits(&situation.edge) && situation.ahead.iter().all(|leg| fits(&leg.edge)) && situation.since.is_finite())
        {
            return Err(ThreatError::Foreign);
        }
        if !(planner.bodies.can_defend() || planner.config.bend_only) {
            return Err(ThreatError::NoMotions);
        }
        let attack = threats.iter().map(|t| t.arrives).fold(f32::INFINITY, f32::min);
        if !(attack.is_finite() && attack > 0.0) {
            return Err(if threats.is_empty() { ThreatError::Empty } else { ThreatError::Time { arrives: attack } });
        }
        let ends = threats.iter().map(Threat::ends).fold(0.0, f32::max);
        Ok(DodgeSearch {
            situation: (situation.edge, situation.since, situation.place),
            leave: situation.leave,
            ahead: situation.ahead.to_vec(),
            drift: situation.drift.clone(),
            base: situation.base.clone(),
            running: situation.running.clone(),
            threats: threats.to_vec(),
            attack,
            ends,
            queue: Vec::new(),
            next: 0,
            enumerated: Paths::default(),
            stage: Stage::Nothing,
            best: None,
            finalists: Vec::new(),
            steps: Vec::new(),
            hits: Vec::with_capacity(BENT + 1),
            nothing: 0.0,
            counts: DodgeCounts::default(),
            traversed: false,
            failed: None,
            bent: None,
            answer: None,
            why: why.then(Vec::new),
        })
    }

    /// How deep the attacks are inside the body now, metres; negative is the distance.
    pub fn inside(&self, planner: &DodgePlanner<'_>) -> f32 {
        let mut row = planner.bodies.row();
        let (edge, since, place) = self.situation;
        let mut now = Layout::default();
        now.begin(planner.bodies, edge, since, &place);
        let drift = self.running.as_ref().map_or(&self.drift, |r| &r.drift);
        body_at(planner.bodies, &now, &Warp::none(), drift.as_ref(), 0.0, 0, &mut row);
        if let Some(bend) = self.running.as_ref().and_then(|r| r.bend) {
            bend.bend(planner.bodies, &place, 0.0, &mut row);
        }
        let radii = padded_radii(planner.bodies);
        let firsts = self.threats.iter().flat_map(|t| &t.spheres).filter_map(|s| {
            let at = ((-s.start) / STEP).max(0.0);
            let p = place.point_back(*s.places.get(at as usize)?);
            (s.start <= 0.0).then(|| s.radius - nearest(&row, &row, p, p, &radii))
        });
        firsts.fold(f32::NEG_INFINITY, f32::max)
    }

    /// Distance between attack and body now: d0 as printed.
    pub(super) fn distance_now(&self, planner: &DodgePlanner<'_>) -> f32 {
        (-self.inside(planner)).max(0.0)
    }

    pub(super) fn edges<'b>(&'b self, planner: &DodgePlanner<'b>, candidate: &Candidate) -> &'b [EdgeIdx] {
        match candidate.origin {
            Origin::Index => planner.index.avoid.edges(&candidate.path),
            Origin::Graph => self.enumerated.edges(&candidate.path),
            Origin::Nothing | Origin::Playing | Origin::Interrupt | Origin::Swerve => &[],
        }
    }

    /// Evaluates at most `budget` candidates. Returns whether the decision is final.
    pub fn step(&mut self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch, budget: u32) -> bool {
        let mut left = budget.max(1);
        scratch.drift.clone_from(&self.drift);
        while left > 0 {
            match self.stage {
                Stage::Nothing => {
                    left -= 1;
                    self.lay_nothing(planner, scratch);
                    scratch.bend = None;
                    if let Some(running) = &self.running {
                        scratch.drift.clone_from(&running.drift);
                        scratch.bend = running.bend;
                        scratch.warp.clone_from(&running.warp);
                    }
                    self.nothing = planner.clearance(&self.threats, scratch);
                    scratch.bend = None;
                    scratch.drift.clone_from(&self.drift);
                    if let Some(why) = &mut self.why {
                        let verdict =
                            if self.nothing >= 0.0 { Verdict::Avoids(0.0) } else { Verdict::Hit(-self.nothing) };
                        let clearance = self.nothing;
                        why.push(Judged {
                            edges: self.ahead.iter().map(|leg| leg.edge).collect(),
                            leave: None,
                            span: None,
                            scale: 1.0,
                            cost: AvoidanceCost::default(),
                            clearance,
                            verdict,
                        });
                    }
                    if self.nothing >= 0.0 {
                        self.stage = Stage::Done;
                    } else if planner.graph().edge(self.situation.0).layer == Layer::Walk {
                        self.stage = Stage::BendWalk;
                    } else {
                        self.list(planner, scratch);
                        self.stage = Stage::Listed;
                    }
                }
                Stage::Listed | Stage::Traversal => {
                    let best = self.best.map_or(f32::INFINITY, |b| b.0);
                    match self.queue.get(self.next).copied() {
                        // Sorted by bound, so nothing after one that is too high can be better.
                        Some(candidate) if candidate.bound < CLOSE * best => {
                            left -= 1;
                            self.work_out(planner, &candidate, scratch);
                            self.next += 1;
                        }
                        _ => self.run_out(planner, scratch),
                    }
                }
                Stage::Final => {
                    left = left.saturating_sub(2);
                    self.judge_finalist(planner, scratch);
                }
                Stage::BendWalk | Stage::Tune | Stage::Bend(_) | Stage::BendNothing | Stage::Block => {
                    left = left.saturating_sub(FITTING);
                    self.fit(planner, scratch);
                }
                Stage::Done => return true,
            }
        }
        self.stage == Stage::Done
    }

    fn work_out(&mut self, planner: &DodgePlanner<'_>, candidate: &Candidate, scratch: &mut DodgeScratch) {
        let mut counts = self.counts;
        let (verdict, cost, clearance) = planner.judge(self, candidate, scratch, &mut counts);
        self.counts = counts;
        let told = self.why.as_ref().map_or(0, Vec::len);
        let may_cost = planner.may_cost(verdict, &cost);
        let (number, tested) = (self.next, verdict != Verdict::Bounded);
        self.finalists.extend(may_cost.map(|cost| {
            let steps = tested.then(|| scratch.nearest_steps(&mut self.steps));
            Finalist { cost, number, told, steps }
        }));
        self.rank(self.next, verdict, cost, clearance);
        self.tell(planner, candidate, verdict, cost, clearance);
    }

    /// Keeps a candidate if it is the best, or among the shallowest hits.
    fn rank(&mut self, number: usize, verdict: Verdict, cost: AvoidanceCost, clearance: f32) {
        match verdict {
            Verdict::Avoids(total) if self.best.is_none_or(|b| total < b.0) => {
                self.best = Some((total, number, cost, clearance));
            }
            Verdict::Hit(depth) => {
                let at = self.hits.partition_point(|hit| hit.1 <= depth);
                self.hits.insert(at, (number, depth));
                self.hits.truncate(BENT);
            }
            _ => {}
        }
    }

    /// Whether finalists have to be judged as they will be shown.
    fn after_listing(&mut self) -> Stage {
        let close = self.best.map_or(f32::INFINITY, |best| CLOSE * best.0);
        let alone = self.finalists.iter().filter(|f| f.cost < close).count() == 1;
        if self.base.is_none() || (alone && self.best.is_some_and(|best| best.3 > SURE)) {
            return self.decided();
        }
        self.finalists.sort_by(Finalist::cheapest_last);
        self.best = None;
        Stage::Final
    }

    fn decided(&self) -> Stage {
        if self.best.is_some() { Stage::Tune } else { Stage::Bend(0) }
    }

    /// Judges the cheapest of the finalists that are left as it will be shown.
    fn judge_finalist(&mut self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch) {
        let close = self.best.map_or(f32::INFINITY, |best| CLOSE * best.0);
        let cheapest = self.finalists.pop().filter(|finalist| finalist.cost < close);
        let (Some(finalist), Some(base)) = (cheapest, self.base.take()) else {
            self.stage = self.decided();
            return;
        };
        let Finalist { number, told, .. } = finalist;
        let candidate = self.queue[number];
        let mut counts = self.counts;
        let (verdict, cost, clearance) = match finalist.steps {
            Some((from, to)) => planner.judge_shown(self, (&candidate, &self.steps[from..to]), &base, scratch),
            None => planner.judge(self, &candidate, scratch, &mut counts),
        };
        (self.base, self.counts) = (Some(base), counts);
        self.hits.retain(|hit| hit.0 != number);
        match planner.may_cost(verdict, &cost).filter(|_| finalist.steps.is_none() && verdict != Verdict::Bounded) {
            Some(cost) => {
                let steps = Some(scratch.nearest_steps(&mut self.steps));
                let tested = Finalist { cost, steps, ..finalist };
                let at = self.finalists.partition_point(|f| Finalist::cheapest_last(f, &tested).is_le());
                self.finalists.insert(at, tested);
            }
            None => self.rank(number, verdict, cost, clearance),
        }
        if let Some(judged) = self.why.as_mut().and_then(|why| why.get_mut(told)) {
            (judged.verdict, judged.cost, judged.clearance) = (verdict, cost, clearance);
        }
    }

    fn tell(
        &mut self,
        planner: &DodgePlanner<'_>,
        candidate: &Candidate,
        verdict: Verdict,
        cost: AvoidanceCost,
        clearance: f32,
    ) {
        if self.why.is_none() {
            return;
        }
        let onset = candidate.leaving.and_then(|l| planner.interrupts().onsets().get(l.onset as usize));
        let edges = onset.map_or_else(|| self.edges(planner, candidate).to_vec(), |onset| vec![onset.edge]);
        let last = edges.last().copied().unwrap_or(self.situation.0);
        let span = planner.bodies.avoids(last).get(candidate.path.part as usize).map(|p| p.span);
        let leave = candidate.leaving.map(|leaving| leaving.at);
        let judged = Judged { edges, leave, span, scale: candidate.scale, cost, clearance, verdict };
        if let Some(why) = &mut self.why {
            why.push(judged);
        }
    }

    /// Nothing left in the queue can be better: traverse the graph if the index may be incomplete, else finish.
    fn run_out(&mut self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch) {
        let rest = self.next.min(self.queue.len())..self.queue.len();
        self.counts.bounded += rest.len() as u32;
        for number in rest {
            let candidate = self.queue[number];
            let told = self.why.as_ref().map_or(0, Vec::len);
            self.finalists.push(Finalist { cost: candidate.bound, number, told, steps: None });
            let cost = AvoidanceCost { timescale: candidate.timescale, ..AvoidanceCost::default() };
            self.tell(planner, &candidate, Verdict::Bounded, cost, 0.0);
        }
        self.next = self.queue.len();
        let (edge, since, _) = self.situation;
        let left = planner.bodies.seconds(edge) - since;
        let half = 0.5 * planner.config.rules.window;
        let beyond = self.attack + half - left > planner.index.horizon();
        if self.stage == Stage::Traversal || (planner.config.use_index && !beyond) {
            self.stage = self.after_listing();
            return;
        }
        self.stage = Stage::Traversal;
        self.traversed = true;
        let range = (self.attack - half - left, self.attack + half - left);
        // Only what is beyond the index.
        let range = if planner.config.use_index { (range.0.max(planner.index.horizon()), range.1) } else { range };
        let rules = planner.config.rules;
        let mut found = std::mem::take(&mut self.enumerated);
        found.enumerate(
            (planner.bodies, planner.graph(), &rules, DefenceKind::Avoid),
            planner.graph().edge(edge).to,
            range,
            f32::INFINITY,
        );
        self.enumerated = found;
        let paths = std::mem::take(&mut self.enumerated.list);
        let mut listed: Vec<Candidate> = paths
            .iter()
            .filter_map(|path| self.candidate(planner, (Origin::Graph, path), left, true, scratch))
            .collect();
        self.enumerated.list = paths;
        self.counts.enumerated += listed.len() as u32;
        sort(&mut listed);
        self.queue.extend(listed);
    }

    /// A path with the speed that puts its avoidance on time; `None` if no allowed speed does.
    fn candidate(
        &self,
        planner: &DodgePlanner<'_>,
        (origin, path): (Origin, &AvoidancePath),
        left: f32,
        on_way: bool,
        scratch: &mut DodgeScratch,
    ) -> Option<Candidate> {
        let (edge, since, _) = self.situation;
        let centre = path.centre + left;
        let mut made =
            Candidate { origin, path: *path, centre, scale: 1.0, timescale: 0.0, bound: 0.0, on_way, leaving: None };
        let edges = self.edges(planner, &made);
        let last = edges.last().copied().unwrap_or(edge);
        let part = planner.bodies.avoids(last).get(path.part as usize).filter(|p| planner.answers(p, &self.threats))?;
        let edges = std::iter::once(edge).chain(edges.iter().copied());
        stretches(planner.bodies, edges, since, centre, self.attack > centre, &mut scratch.stretches);
        let scaled = scale(&scratch.stretches, centre, self.attack);
        let fits = scaled.and_then(|s| Some((s, timescale_cost(s, &planner.config)?)));
        let half = 0.5 * (part.active.1 - part.active.0);
        let on_time = (self.attack - centre).abs() <= half && planner.config.errata.adjustable == Form::Ours;
        (made.scale, made.timescale) = match fits {
            Some(fits) => fits,
            // No speed can change enough, but the avoidance is active when the attack comes anyway.
            None if on_time => (1.0, timescale_cost(1.0, &planner.config)?),
            None => return None,
        };
        let weights = &planner.config.weights;
        let passed = if on_way || planner.config.errata.avoidance == Form::Printed { 0.0 } else { weights.avoidance };
        made.bound = weights.timescale * made.timescale + passed;
        Some(made)
    }

    /// Queues the candidates of the current edge and of its node's index.
    fn list(&mut self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch) {
        let (edge, since, place) = self.situation;
        let left = planner.bodies.seconds(edge) - since;
        let half = 0.5 * planner.config.rules.window;
        for (part, found) in planner.bodies.avoids(edge).iter().enumerate() {
            let centre = found.centre() - since;
            // It must not have begun yet.
            if found.from >= since && (centre - self.attack).abs() < half {
                let path = AvoidancePath { centre: centre - left, edges: (0, 0), part: part as u32 };
                self.queue.extend(self.candidate(planner, (Origin::Playing, &path), left, true, scratch));
            }
        }
        if planner.config.use_index {
            let node = planner.graph().edge(edge).to;
            let table = &planner.index.avoid;
            let range = (self.attack - half - left, self.attack + half - left);
            let (paths, first) = table.between(node, range);
            self.counts.index = paths.len() as u32;
            scratch.bits.clear();
            let grid = planner.config.grid && table.cells() > 0;
            if grid && !paths.is_empty() {
                for sphere in self.threats.iter().flat_map(|t| &t.spheres) {
                    for pair in sphere.places.windows(2) {
                        let (p, q) = (place.point_back(pair[0]), place.point_back(pair[1]));
                        // Only the part of the attack's path close to the character matters (§ 6).
                        if away(&[p, q], planner.bodies.pelvis(edge, since)) > 4.0 {
                            continue;
                        }
                        table.mark(node, [p, q], sphere.radius, &mut scratch.bits);
                    }
                }
            }
            for (k, path) in paths.iter().enumerate() {
                let number = first + k;
                let on_way = scratch.bits.get(number / 64).is_some_and(|w| w >> (number % 64) & 1 == 1);
                self.counts.in_grid += u32::from(on_way);
                // The cells are those of a body that nothing carries away.
                let on_way = on_way || !grid || self.drift.is_some();
                let candidate = self.candidate(planner, (Origin::Index, path), left, on_way, scratch);
                self.queue.extend(candidate);
            }
        }
        self.list_leavings(planner, scratch);
        sort(&mut self.queue);
    }

    /// Queues the avoidances for which what is played can be left before its edge ends.
    fn list_leavings(&mut self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch) {
        self.lay_nothing(planner, scratch);
        let DodgeScratch { legs, leavings, .. } = scratch;
        planner.leavings(DefenceKind::Avoid, &self.threats, legs, leavings);
        let Some(timescale) = timescale_cost(1.0, &planner.config) else { return };
        let weights = &planner.config.weights;
        self.counts.interrupts = leavings.len() as u32;
        self.queue.extend(leavings.iter().map(|leaving| {
            let bound = weights.timescale * timescale + weights.join * leaving.price();
            let path = AvoidancePath { centre: 0.0, edges: (0, 0), part: leaving.part };
            let (origin, leaving) = (Origin::Interrupt, Some(*leaving));
            Candidate { origin, path, centre: self.attack, scale: 1.0, timescale, bound, on_way: true, leaving }
        }));
    }

    /// Where the playhead is, without what carries the body away.
    pub(super) fn now(&self) -> Situation<'_> {
        let ((edge, since, place), leave) = (self.situation, self.leave);
        Situation { edge, since, place, leave, ahead: &self.ahead, drift: None, base: None, running: None }
    }

    /// The decision: final once [`DodgeSearch::step`] has returned `true`; before that the best path so far, not bent yet.
    pub fn decision(&self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch) -> DodgeDecision {
        if let Some(answer) = &self.answer {
            return answer.clone();
        }
        match self.best {
            Some(_) => self.best_path(planner, scratch),
            None if self.nothing >= 0.0 => self.doing_nothing(Forecast::Clear),
            None => self.doing_nothing(Forecast::Hit),
        }
    }

    pub(super) fn doing_nothing(&self, forecast: Forecast) -> DodgeDecision {
        DodgeDecision {
            forecast,
            legs: Vec::new(),
            leave: None,
            warp: Warp::none(),
            bend: None,
            block: None,
            cost: AvoidanceCost::default(),
            clearance: self.nothing,
            span: None,
            origin: Origin::Nothing,
            counts: self.counts,
            traversed: self.traversed,
        }
    }

    /// The best path that avoids, laid out.
    fn best_path(&self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch) -> DodgeDecision {
        let mut decision = self.doing_nothing(Forecast::Avoided);
        if let Some((_, number, cost, clearance)) = self.best {
            (decision.cost, decision.clearance) = (cost, clearance);
            self.fill(planner, &self.queue[number], scratch, &mut decision);
        }
        decision
    }

    /// The next of the stages that bend and block.
    fn fit(&mut self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch) {
        let threats = std::mem::take(&mut self.threats);
        let size = |d: &Option<DodgeDecision>| d.as_ref().and_then(|d| d.bend).map_or(f32::INFINITY, |a| a.size);
        self.stage = match self.stage {
            Stage::BendWalk => {
                self.answer = self
                    .adjust_walk(planner, &threats, fit_bend::LARGE, scratch)
                    .or_else(|| self.swerve(planner, &threats, scratch));
                if self.answer.is_some() { Stage::Done } else { Stage::Listed }
            }
            Stage::Tune => {
                let mut decision = self.best_path(planner, scratch);
                if decision.clearance < fit_bend::clean(self.attack, scratch) {
                    decision.bend =
                        fit_bend::rescue(planner, &threats, (2.0 * fit_bend::SMALLEST, decision.clearance), scratch);
                }
                self.answer = Some(decision);
                Stage::Done
            }
            // The smallest of bends will do.
            Stage::Bend(k) => {
                match self.hits.get(k as usize).copied().filter(|_| size(&self.bent) > fit_bend::SMALLEST) {
                    Some((number, depth)) => {
                        let mut decision = self.doing_nothing(Forecast::Hit);
                        decision.clearance = -depth;
                        self.fill(planner, &self.queue[number], scratch, &mut decision);
                        if let Some(bend) =
                            fit_bend::rescue(planner, &threats, (0.97 * size(&self.bent), -depth), scratch)
                        {
                            self.bent = Some(DodgeDecision {
                                forecast: Forecast::Avoided,
                                bend: Some(bend),
                                ..decision.clone()
                            });
                        }
                        self.failed.get_or_insert(decision);
                        Stage::Bend(k + 1)
                    }
                    None if size(&self.bent) <= fit_bend::LARGE => {
                        self.answer = self.bent.take();
                        Stage::Done
                    }
                    None => Stage::Block,
                }
            }
            Stage::Block => {
                let situation = Situation { drift: self.drift.clone(), ..self.now() };
                let guard = block::find(planner, &situation, &threats, scratch);
                let blocked = guard.map(|guard| DodgeDecision {
                    legs: guard.legs,
                    leave: guard.leave,
                    warp: guard.warp,
                    span: guard.span,
                    bend: guard.bend,
                    block: Some(guard.block),
                    ..self.doing_nothing(Forecast::Blocked)
                });
                self.answer = blocked.or_else(|| self.bent.take());
                if self.answer.is_some() { Stage::Done } else { Stage::BendNothing }
            }
            _ => {
                let bent = if planner.graph().edge(self.situation.0).layer == Layer::Walk {
                    self.adjust_walk(planner, &threats, 1.0, scratch)
                } else {
                    self.lay_nothing(planner, scratch);
                    let bend = fit_bend::rescue(planner, &threats, (1.0, f32::INFINITY), scratch);
                    let bend =
                        bend.and_then(|bend| fit_bend::heed(planner, &threats, Some(bend), self.attack, scratch));
                    bend.map(|bend| DodgeDecision { bend: Some(bend), ..self.doing_nothing(Forecast::Avoided) })
                };
                let failed = self.failed.take().unwrap_or_else(|| self.doing_nothing(Forecast::Hit));
                self.answer = Some(bent.unwrap_or(failed));
                Stage::Done
            }
        };
        self.threats = threats;
        if self.stage == Stage::Listed {
            self.list(planner, scratch);
        }
    }

    pub(super) fn lay_nothing(&self, planner: &DodgePlanner<'_>, scratch: &mut DodgeScratch) {
        planner.lay_committed(&self.now(), self.ends + 1.0, &mut scratch.legs);
        scratch.warp.set(&[], 1.0);
    }

    fn fill(
        &self,
        planner: &DodgePlanner<'_>,
        candidate: &Candidate,
        scratch: &mut DodgeScratch,
        out: &mut DodgeDecision,
    ) {
        let Some((last, part)) = planner.lay_out(self, candidate, scratch) else { return };
        out.legs.clear();
        // The plan includes what follows the avoidance for as long as the attack lasts.
        let until = scratch.warp.at(self.ends).0;
        let kept = scratch.legs[1..].iter().enumerate().take_while(|(k, l)| *k < last || l.begins < until);
        out.legs.extend(kept.map(|(_, l)| l.leg(planner.bodies)));
        out.leave = scratch.legs.left_at(planner.bodies);
        out.warp = scratch.warp.clone();
        out.span = Some((scratch.legs[last].edge, part.span));
        out.origin = candidate.origin;
    }

    /// Starts over from the edge that the character has reached meanwhile, `seconds` after the search began.
    pub fn rebase(
        &mut self,
        planner: &DodgePlanner<'_>,
        situation: &Situation<'_>,
        seconds: f32,
    ) -> Result<(), ThreatError> {
        let threats: Vec<Threat> = self.threats.iter().map(|t| t.later(seconds)).collect();
        let why = self.why.is_some();
        let mut fresh = DodgeSearch::new(planner, situation, &threats, why)?;
        fresh.counts = self.counts;
        // Paths that continue through the edge now played are exactly those that its node's index lists.
        *self = fresh;
        Ok(())
    }

    /// The candidates, ranked: those that avoid by cost, then those skipped, then hits by depth. Empty unless asked for.
    pub fn why(&self) -> Vec<Judged> {
        let mut list = self.why.clone().unwrap_or_default();
        let rank = |j: &Judged| match j.verdict {
            Verdict::Avoids(cost) => (0, cost),
            Verdict::Bounded => (1, j.cost.timescale),
            Verdict::Hit(depth) => (2, depth),
            Verdict::Culled => (3, 0.0),
            Verdict::OutOfScale => (4, 0.0),
        };
        list.sort_by(|a, b| rank(a).0.cmp(&rank(b).0).then(rank(a).1.total_cmp(&rank(b).1)));
        list
    }

    /// How much work has been done.
    pub fn counts(&self) -> DodgeCounts {
        self.counts
    }

    /// Whether the decision is final.
    pub fn done(&self) -> bool {
        self.stage == Stage::Done
    }
}

/// By bound; equal bounds keep the order of the index.
fn sort(queue: &mut [Candidate]) {
    queue.sort_by(|a, b| a.bound.total_cmp(&b.bound));
}
