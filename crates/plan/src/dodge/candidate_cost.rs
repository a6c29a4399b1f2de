//! Evaluation of one candidate: its cost, or how deep it is hit.

use kumite_motion::Vec3;

use super::clearance::{AttackStep, DodgeScratch, away, body_at, carry, nearest};
use super::cost;
use super::index::VACATED;
use super::search::{BENT, Candidate, DodgeSearch};
use super::{AvoidanceCost, Base, DefenceKind, DodgeCounts, DodgePlanner, Verdict};
use crate::Form;
use crate::bodies::DefenceSpan;
use crate::legs::stretches;
use crate::threat::STEP;

/// Farthest that a join carries a part from its motion beyond the pelvis, metres.
const JOINS: f32 = 0.6;

/// Bodies are not planned finer than this, metres.
const HAIR: f32 = 0.0002;
/// Hits up to this depth may turn out to be none, metres.
const SHALLOW: f32 = 0.03;
/// Costs so many times the lowest may turn out to be lower.
pub(super) const CLOSE: f32 = 1.03;
/// What clears by this is not hit after all, metres.
pub(super) const SURE: f32 = 0.05;

impl DodgePlanner<'_> {
    /// Lays a candidate out in the scratch: its legs and its warp. Returns the leg with the avoidance, and the avoidance.
    pub(super) fn lay_out(
        &self,
        search: &DodgeSearch,
        candidate: &Candidate,
        scratch: &mut DodgeScratch,
    ) -> Option<(usize, DefenceSpan)> {
        if let Some(leaving) = &candidate.leaving {
            scratch.warp.set(&[], 1.0);
            let until = search.ends + 1.0;
            return self.lay_leaving(&search.now(), leaving, DefenceKind::Avoid, until, &mut scratch.legs);
        }
        let (edge, since, place) = search.situation;
        let edges = search.edges(self, candidate);
        scratch.legs.lay(self.bodies, std::iter::once(edge).chain(edges.iter().copied()), since, &place);
        let last = scratch.legs.len() - 1;
        let part = *DefenceKind::Avoid.of(self.bodies, scratch.legs[last].edge).get(candidate.path.part as usize)?;
        scratch.legs.go_on(self.bodies, self.graph(), search.ends + 1.0);
        let DodgeScratch { legs, stretches: list, warp, .. } = scratch;
        let edges = legs[..=last].iter().map(|l| l.edge);
        stretches(self.bodies, edges, since, candidate.centre, candidate.scale > 1.0, list);
        warp.set(list, candidate.scale);
        Some((last, part))
    }

    /// What the attack would have met if the body had stayed as it was when the avoidance began: the least distance (d0 of eq. 8), and the
    /// overlap with the spheres that moved away, integrated along the attack's path (eq. 4-5).
    fn stayed(
        &self,
        search: &DodgeSearch,
        last: usize,
        part: &DefenceSpan,
        (mut moved, shown): (u128, bool),
        scratch: &mut DodgeScratch,
    ) -> (f32, f32) {
        let bodies = self.bodies;
        scratch.fit(bodies);
        let leg = scratch.legs[last];
        let (from, to) = (scratch.warp.when(leg.when(part.from.max(leg.enter))), scratch.warp.when(leg.when(part.to)));
        let DodgeScratch { legs, warp, rows: [row, passed], as_shown, drift, .. } = scratch;
        if shown {
            as_shown.body(self.library, (legs, warp), (from.max(0.0), last), row);
            // A join moves what its motion does not.
            for j in (0..bodies.spheres().min(128)).filter(|j| (row.get(*j) - passed.get(*j)).length() > VACATED) {
                moved |= 1 << j;
            }
        } else {
            body_at(bodies, legs, warp, drift.as_ref(), from.max(0.0), last, row);
        }
        let (mut least, mut vacated) = (f32::INFINITY, 0.0f32);
        let (pelvis, extent) = bodies.middle(leg.edge, leg.seconds(scratch.warp.at(from.max(0.0)).0));
        // A join may reach farther than the motion does.
        let extent = extent + JOINS + (row.get(bodies.spheres()) - pelvis).length();
        for sphere in search.threats.iter().flat_map(|t| &t.spheres) {
            let gap = |pair: &[Vec3]| {
                let way = [leg.place.point_back(pair[0]), leg.place.point_back(pair[1])];
                (away(&way, pelvis) - extent - sphere.radius, way)
            };
            let coming = (-sphere.start / STEP - 1.0).ceil().max(0.0) as usize;
            let places = &sphere.places;
            if places.len() < coming + 2 {
                continue;
            }
            // About the nearest step first: with its distance most of the others are settled.
            let middle = leg.place.point(pelvis);
            let (mut first, mut after) = (coming, places.len() - 1);
            while after - first > 1 {
                let at = usize::midpoint(first, after);
                let nearer = (places[at] - middle).length_squared() < (places[at - 1] - middle).length_squared();
                if nearer { first = at } else { after = at }
            }
            let [p, q] = gap(&places[first..first + 2]).1;
            least = least.min(nearest(row, row, p, q, &scratch.radii) - sphere.radius);
            let closer = sphere.longest_step().max(1e-3);
            let mut next = coming;
            while let Some(pair) = places.get(next..next + 2) {
                let k = next;
                next += 1;
                let (bound, [p, q]) = gap(pair);
                if bound >= least.max(0.0) {
                    // The body stays, and the attack comes nearer by a step at a time at most.
                    next = k + ((bound - least.max(0.0)) / closer).max(1.0) as usize;
                    continue;
                }
                let d = nearest(row, row, p, q, &scratch.radii) - sphere.radius;
                least = least.min(d);
                let time = sphere.start + k as f32 * STEP;
                if d >= 0.0 || time + STEP < from || time > to {
                    continue;
                }
                let way = q - p;
                let length = way.length().max(1e-9);
                let (first, rest) = (((from - time) / STEP).max(0.0) * length, ((to - time) / STEP).min(1.0) * length);
                for j in (0..bodies.spheres()).filter(|j| moved >> (*j).min(127) & 1 == 1) {
                    let to_centre = row.get(j) - p;
                    let far = bodies.radius(j) + sphere.radius + length;
                    if to_centre.length_squared() > far * far {
                        continue;
                    }
                    let along = to_centre.dot(way) / length;
                    let aside = (to_centre.length_squared() - along * along).max(0.0).sqrt();
                    vacated += cost::overlap(bodies.radius(j) + sphere.radius, aside, first - along, rest - along);
                }
            }
        }
        (least, vacated)
    }

    /// d0 of eq. 8, which may still be negative, and the avoidance term (eq. 6).
    fn avoidance(
        &self,
        search: &DodgeSearch,
        candidate: &Candidate,
        last: usize,
        part: &DefenceSpan,
        shown: bool,
        scratch: &mut DodgeScratch,
    ) -> (f32, f32) {
        let moved = self.index.vacated(scratch.legs[last].edge, candidate.path.part as usize);
        let (stayed, vacated) = self.stayed(search, last, part, (moved, shown), scratch);
        let radius = search.threats.iter().flat_map(|t| &t.spheres).map(|s| s.radius).fold(0.0, f32::max);
        let saturated = self.config.saturation * (radius + 0.1) * (radius + 0.1);
        let term = match self.config.errata.avoidance {
            Form::Ours => cost::avoidance(vacated, saturated),
            Form::Printed => self.printed_avoidance(search, last, part, scratch),
        };
        (stayed, term)
    }

    /// Eq. 4-6 as printed: an integral over time in steps of 1/20 s that also counts attacks metres away.
    fn printed_avoidance(
        &self,
        search: &DodgeSearch,
        last: usize,
        part: &DefenceSpan,
        scratch: &mut DodgeScratch,
    ) -> f32 {
        let bodies = self.bodies;
        let leg = scratch.legs[last];
        let (from, to) = (scratch.warp.when(leg.when(part.from.max(leg.enter))), scratch.warp.when(leg.when(part.to)));
        let (mut start, mut row) = (bodies.row(), bodies.row());
        body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), from.max(0.0), last, &mut start);
        let (mut sum, step) = (0.0, 0.05);
        let mut time = from.max(0.0);
        while time < to {
            body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), time, last, &mut row);
            for sphere in search.threats.iter().flat_map(|t| &t.spheres) {
                let at = ((time - sphere.start) / STEP).max(0.0) as usize;
                let Some(p) = sphere.places.get(at).map(|p| leg.place.point_back(*p)) else { continue };
                for j in 0..bodies.spheres() {
                    let d = (start.get(j) - p).length() - (row.get(j) - p).length();
                    sum += (-d).max(0.0) * step;
                }
            }
            time += step;
        }
        (1.0 - sum / 0.5).max(0.0)
    }

    /// Evaluates one candidate: verdict, cost and clearance. Leaves its path laid out in the scratch.
    pub(super) fn judge(
        &self,
        search: &DodgeSearch,
        candidate: &Candidate,
        scratch: &mut DodgeScratch,
        counts: &mut DodgeCounts,
    ) -> (Verdict, AvoidanceCost, f32) {
        let join = candidate.leaving.map_or(0.0, |leaving| leaving.price());
        let mut cost = AvoidanceCost { timescale: candidate.timescale, join, ..AvoidanceCost::default() };
        let Some((last, part)) = self.lay_out(search, candidate, scratch) else {
            return (Verdict::OutOfScale, cost, 0.0);
        };
        // Bit planes know nothing of a drift; on this leg it lasts for one join at most.
        let settled =
            scratch.drift.as_ref().map_or(f32::NEG_INFINITY, |d| d.ends(&scratch.legs[..=last], &scratch.warp));
        // Nor of any join but the graph's.
        if self.config.cull
            && !scratch.legs[last].joins_by_itself()
            && self.planes.hit(&scratch.legs[last], &scratch.warp, &search.threats, self.config.errata.culling, settled)
        {
            counts.culled += 1;
            return (Verdict::Culled, cost, f32::NEG_INFINITY);
        }
        // How deep a hit is matters only while nothing avoids, and only if it is among the shallowest so far; or if it may be none.
        let deepest = search.hits.get(BENT - 1).map_or(f32::NEG_INFINITY, |hit| -hit.1);
        let floor = match (&search.why, search.best) {
            (Some(_), _) => f32::NEG_INFINITY,
            (None, Some(_)) => -SHALLOW,
            (None, None) => deepest.min(-SHALLOW),
        };
        let mut stayed = None;
        if let (None, Some(best)) = (&search.why, search.best) {
            // The avoidance term is cheap to find and already bounds the cost from below.
            let (d0, avoidance) = self.avoidance(search, candidate, last, &part, false, scratch);
            cost.avoidance = avoidance;
            if cost.total(&self.config.weights) >= CLOSE * best.0 {
                counts.bounded += 1;
                return (Verdict::Bounded, cost, 0.0);
            }
            stayed = Some(d0);
        }
        counts.tested += 1;
        let clearance = self.clearance_above(floor, &search.threats, scratch);
        if clearance < -SHALLOW {
            return (Verdict::Hit(-clearance), cost, clearance);
        }
        let stayed = stayed.unwrap_or_else(|| {
            let (d0, avoidance) = self.avoidance(search, candidate, last, &part, false, scratch);
            cost.avoidance = avoidance;
            d0
        });
        self.rule(search, clearance, stayed, cost)
    }

    /// [`DodgePlanner::judge`] on the body as it will be shown.
    pub(super) fn judge_shown(
        &self,
        search: &DodgeSearch,
        (candidate, steps): (&Candidate, &[AttackStep]),
        base: &Base,
        scratch: &mut DodgeScratch,
    ) -> (Verdict, AvoidanceCost, f32) {
        let join = candidate.leaving.map_or(0.0, |leaving| leaving.price());
        let mut cost = AvoidanceCost { timescale: candidate.timescale, join, ..AvoidanceCost::default() };
        let Some((last, part)) = self.lay_out(search, candidate, scratch) else {
            return (Verdict::OutOfScale, cost, 0.0);
        };
        let until = scratch.warp.at(search.ends).0;
        scratch.as_shown.lay(self.library, base, &scratch.legs, &scratch.warp, until);
        let (clearance, leg) = self.clearance_shown(&search.threats, steps, scratch);
        let clearance = clearance - HAIR;
        if clearance < 0.0 {
            return (Verdict::Hit(-clearance), cost, clearance);
        }
        if leg != last {
            let DodgeScratch { legs, rows: [_, passed], .. } = scratch;
            carry(self.bodies, &legs[leg].place, &legs[last].place, passed);
        }
        let (stayed, avoidance) = self.avoidance(search, candidate, last, &part, true, scratch);
        cost.avoidance = avoidance;
        self.rule(search, clearance + HAIR, stayed, cost)
    }

    fn rule(
        &self,
        search: &DodgeSearch,
        clearance: f32,
        stayed: f32,
        mut cost: AvoidanceCost,
    ) -> (Verdict, AvoidanceCost, f32) {
        if clearance < 0.0 {
            return (Verdict::Hit(-clearance), cost, clearance);
        }
        let d0 = match self.config.errata.body {
            Form::Ours => stayed.max(0.0),
            Form::Printed => search.distance_now(self),
        };
        cost.body = cost::body(clearance, d0, &self.config);
        (Verdict::Avoids(cost.total(&self.config.weights)), cost, clearance)
    }

    /// What a candidate may cost that was judged on centres; `None` if it is hit for certain.
    pub(super) fn may_cost(&self, verdict: Verdict, cost: &AvoidanceCost) -> Option<f32> {
        match verdict {
            Verdict::Avoids(total) => Some(total),
            Verdict::Hit(depth) if depth > SHALLOW => None,
            Verdict::Hit(_) | Verdict::Bounded => Some(cost.total(&self.config.weights)),
            _ => None,
        }
    }
}
