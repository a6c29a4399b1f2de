//! Finding the avoidance: candidates, their evaluation, and an anytime search that stops as soon as it has proved the best.

mod candidate_paths;
mod cost;
mod culling;
mod fit_bend;
mod index;
mod search;

pub use candidate_paths::{AvoidancePath, DefenceKind, PathRules, Paths};
pub(crate) use cost::timescale_cost;
pub use cost::{AvoidanceCost, DodgeConfig, DodgeErrata, Weights};
pub use culling::CullingPlanes;
pub use index::{NodeIndex, PathIndex, PathTable};

use kumite_motion::align::PlanarMatrix;
use kumite_motion::{EdgeIdx, Graph, Vec3};

use crate::bend::Bend;
use crate::block::{self, Block};
use crate::bodies::{Bodies, DefenceSpan, Row};
use crate::legs::{Leg, go_on, lay_into, scale, stretches};
use crate::threat::{STEP, Sphere, Threat, ThreatError};
use crate::{Form, Warp};

/// Everything a decision reads and nobody writes.
#[derive(Clone, Copy, Debug)]
pub struct DodgePlanner<'a> {
    /// Where bodies are.
    pub bodies: &'a Bodies,
    /// Where motion may branch.
    pub graph: &'a Graph,
    /// Paths by node.
    pub index: &'a PathIndex,
    /// For culling.
    pub planes: &'a CullingPlanes,
    /// How.
    pub config: DodgeConfig,
}

/// Where the playhead is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Situation<'a> {
    /// The edge being played.
    pub edge: EdgeIdx,
    /// Seconds since its first frame.
    pub since: f32,
    /// Lays its clip over the world.
    pub place: PlanarMatrix,
    /// What will be played next if nothing happens: *do nothing*.
    pub ahead: &'a [EdgeIdx],
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Forecast {
    /// The attack misses what is played anyway.
    Clear,
    /// A path avoids it.
    Avoided,
    /// A guard meets it.
    Blocked,
    /// Nothing found avoids or blocks it: brace.
    Hit,
}

impl Forecast {
    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            Forecast::Clear => "clear",
            Forecast::Avoided => "avoided",
            Forecast::Blocked => "blocked",
            Forecast::Hit => "hit",
        }
    }
}

/// Where a candidate comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// What is played anyway.
    Nothing,
    /// An avoidance in the edge being played.
    Playing,
    /// The node's index.
    PathIndex,
    /// A traversal of the graph.
    Graph,
}

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// It avoids, for this cost.
    Avoids(f32),
    /// It is hit this deep, metres.
    Hit(f32),
    /// Bit planes prove a hit.
    Culled,
    /// Its speed would have to change too much.
    OutOfScale,
    /// Its bound was above the best cost: never worked out.
    Bounded,
}

/// One candidate, for people.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Edges after the one being played.
    pub edges: Vec<EdgeIdx>,
    /// Number of the span in the last edge's clip; `None` for *do nothing*.
    pub span: Option<u32>,
    /// By how much adjustable durations are multiplied.
    pub scale: f32,
    /// What it costs by term, as far as it was worked out.
    pub cost: AvoidanceCost,
    /// Least distance of attack and body, metres; negative is the depth.
    pub clearance: f32,
    /// What became of it.
    pub verdict: Verdict,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DodgeCounts {
    /// Candidates from the index.
    pub index: u32,
    /// Of these, the ones whose cells of the grid the attack passes: the paper's candidates.
    pub in_grid: u32,
    /// Candidates from traversing the graph.
    pub enumerated: u32,
    /// Culled by bit planes.
    pub culled: u32,
    /// Tested exactly.
    pub tested: u32,
    /// Left out because of their bound.
    pub bounded: u32,
}

/// What to play, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct DodgeDecision {
    /// How it ends, as far as the plan can tell.
    pub forecast: Forecast,
    /// Edges to play after the current one; none to go on as before.
    pub edges: Vec<EdgeIdx>,
    /// Their speed.
    pub warp: Warp,
    /// How the motion is bent to the attack.
    pub bend: Option<Bend>,
    /// Where and how the attack is met, if it is.
    pub block: Option<Block>,
    /// Of the path chosen, before adapting.
    pub cost: AvoidanceCost,
    /// Least distance of attack and body on the chosen path, before adapting; negative is the depth. Metres.
    pub clearance: f32,
    /// Number of the avoidance or block in the last edge's clip.
    pub span: Option<u32>,
    /// Where it came from.
    pub origin: Origin,
    /// How much was done.
    pub counts: DodgeCounts,
    /// Whether the graph had to be traversed.
    pub traversed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    origin: Origin,
    path: AvoidancePath,
    /// Seconds of path until the middle of its avoidance, from now.
    centre: f32,
    scale: f32,
    timescale: f32,
    /// No less than its cost.
    bound: f32,
    /// Whether it may move away from where the attack passes.
    on_way: bool,
}

/// Memory that decisions reuse; between two of them it holds nothing.
#[derive(Clone, Debug, Default)]
pub struct DodgeScratch {
    pub(crate) legs: Vec<Leg>,
    stretches: Vec<(f32, f32)>,
    pub(crate) warp: Warp,
    rows: [Row; 2],
    bits: Vec<u64>,
    radii: Vec<f32>,
    /// Steps of an attack near the body: number, leg, and a distance that it does not get below.
    approach: Vec<(usize, usize, f32)>,
    /// How the laid-out path is bent.
    pub(crate) bend: Option<Bend>,
    /// What the last look along a path met.
    pub(crate) met: Met,
}

impl DodgeScratch {
    /// Makes room for bodies of this size.
    fn fit(&mut self, bodies: &Bodies) {
        if self.rows[0].values.len() != 3 * bodies.width() {
            self.rows = [bodies.row(), bodies.row()];
            self.radii = padded_radii(bodies);
        }
    }
}

/// A step of an attack near a body, in the place of the leg.
#[derive(Clone, Debug)]
pub(crate) struct NearStep {
    time: f32,
    place: PlanarMatrix,
    rows: [Row; 2],
    way: [Vec3; 2],
    radius: f32,
    radii: Vec<f32>,
}

/// When an attack is near a body, and where it is nearest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Met {
    /// First and last stage second within [`NEAR`].
    pub(crate) from: f32,
    pub(crate) to: f32,
    /// Stage second of the nearest step, and the way of the attack in it, in the world.
    pub(crate) time: f32,
    pub(crate) way: [Vec3; 2],
    least: f32,
}

/// An attack is near within this, metres.
const NEAR: f32 = 0.15;

/// A decision in the making. It owns all it needs between slices, so that a worker can hold it while the character plays on.
#[derive(Clone, Debug)]
pub struct DodgeSearch {
    situation: (EdgeIdx, f32, PlanarMatrix),
    ahead: Vec<EdgeIdx>,
    threats: Vec<Threat>,
    attack: f32,
    ends: f32,
    queue: Vec<Candidate>,
    next: usize,
    enumerated: Paths,
    stage: Stage,
    best: Option<(f32, usize, AvoidanceCost, f32)>,
    /// Least deep hit: candidate and depth; `None` for the candidate is *do nothing*.
    least: Option<(Option<usize>, f32)>,
    nothing: f32,
    counts: DodgeCounts,
    traversed: bool,
    why: Option<Vec<Judged>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Nothing,
    Listed,
    Traversal,
    Done,
}

/// Metres by which a clear path must miss, before adapting: half of it is what the stage's joins and planted feet move a body against the plan.
pub const MARGIN: f32 = 0.0;

impl<'a> DodgePlanner<'a> {
    /// A decision in one go.
    pub fn decide(
        &self,
        situation: &Situation<'_>,
        threats: &[Threat],
        scratch: &mut DodgeScratch,
    ) -> Result<DodgeDecision, ThreatError> {
        let mut search = DodgeSearch::new(self, situation, threats, false)?;
        while !search.step(self, scratch, u32::MAX) {}
        Ok(search.decision(self, scratch))
    }

    /// Path, warp and body of a candidate into the scratch.
    fn lay_out(
        &self,
        search: &DodgeSearch,
        candidate: &Candidate,
        scratch: &mut DodgeScratch,
    ) -> Option<(usize, DefenceSpan)> {
        let (edge, since, place) = search.situation;
        let edges = search.edges(self, candidate);
        lay_into(self.bodies, std::iter::once(edge).chain(edges.iter().copied()), since, &place, &mut scratch.legs);
        let last = scratch.legs.len() - 1;
        let part = *DefenceKind::Avoid.of(self.bodies, scratch.legs[last].edge).get(candidate.path.part as usize)?;
        go_on(self.bodies, self.graph, search.ends + 1.0, &mut scratch.legs);
        let DodgeScratch { legs, stretches: list, warp, .. } = scratch;
        let edges = legs[..=last].iter().map(|l| l.edge);
        stretches(self.bodies, edges, since, candidate.centre, candidate.scale > 1.0, list);
        warp.set(list, candidate.scale);
        Some((last, part))
    }

    /// Least distance of attacks and body along the laid-out path: eq. 7, swept.
    pub(crate) fn clearance(&self, threats: &[Threat], scratch: &mut DodgeScratch) -> f32 {
        self.clearance_above(f32::NEG_INFINITY, threats, scratch)
    }

    /// Likewise, but given up as soon as it is below `floor`: how far below is then not asked.
    fn clearance_above(&self, floor: f32, threats: &[Threat], scratch: &mut DodgeScratch) -> f32 {
        let bodies = self.bodies;
        scratch.fit(bodies);
        let mut least = f32::INFINITY;
        scratch.met = Met { from: f32::INFINITY, least: f32::INFINITY, ..Met::default() };
        let bend = scratch.bend;
        let coarse = self.config.errata.sampling == Form::Printed;
        for sphere in threats.iter().flat_map(|t| &t.spheres) {
            let nearest_step = approach(bodies, sphere, coarse, scratch);
            // First where the attack is nearest: what is hit is hit there, and else most of the rest cannot be nearer.
            let count = scratch.approach.len();
            for (from, to) in [(nearest_step.saturating_sub(1), count), (0, nearest_step.saturating_sub(1))] {
                let mut held: Option<(usize, usize)> = None;
                for at in from..to {
                    let (k, leg, bound) = scratch.approach[at];
                    if bound >= least.max(NEAR) {
                        continue;
                    }
                    let (time, pair) = (sphere.start + k as f32 * STEP, [sphere.places[k], sphere.places[k + 1]]);
                    let (now, next) = (time.max(0.0), if coarse { time.max(0.0) } else { time + STEP });
                    let [front, back] = &mut scratch.rows;
                    if held != Some((k, leg)) {
                        body_at(bodies, &scratch.legs, &scratch.warp, now, leg, front);
                        if let Some(bend) = &bend {
                            bend.bend(bodies, &scratch.legs[leg].place, now, front);
                        }
                    }
                    let after = leg_at(&scratch.legs, scratch.warp.at(next).0, leg);
                    body_at(bodies, &scratch.legs, &scratch.warp, next, after, back);
                    if let Some(bend) = &bend {
                        bend.bend(bodies, &scratch.legs[after].place, next, back);
                    }
                    if after != leg {
                        carry(bodies, &scratch.legs[leg].place, &scratch.legs[after].place, front);
                    }
                    let place = &scratch.legs[after].place;
                    let (p, q) = (place.point_back(pair[0]), place.point_back(if coarse { pair[0] } else { pair[1] }));
                    let d = nearest(front, back, p, q, &scratch.radii) - sphere.radius;
                    least = least.min(d);
                    if least < floor {
                        return least;
                    }
                    if d < NEAR {
                        scratch.met.from = scratch.met.from.min(time);
                        scratch.met.to = scratch.met.to.max(time + STEP);
                        // Of steps equally near the first.
                        if (d, time) < (scratch.met.least, scratch.met.time) {
                            (scratch.met.least, scratch.met.time, scratch.met.way) = (d, time, pair);
                        }
                    }
                    scratch.rows.swap(0, 1);
                    held = Some((k + 1, after));
                }
            }
        }
        least
    }

    /// The steps of the attacks that come near the laid-out, unbent path.
    pub(crate) fn near_steps(&self, threats: &[Threat], near: f32, scratch: &DodgeScratch) -> Vec<NearStep> {
        let (bodies, radii) = (self.bodies, padded_radii(self.bodies));
        let mut out = Vec::new();
        for sphere in threats.iter().flat_map(|t| &t.spheres) {
            for (k, pair) in sphere.places.windows(2).enumerate() {
                let time = sphere.start + k as f32 * STEP;
                if time < 0.0 {
                    continue;
                }
                let u = scratch.warp.at(time).0;
                let Some(leg) = scratch.legs.iter().rposition(|l| l.begins <= u) else { continue };
                let at = scratch.legs[leg];
                let pelvis = at.place.point(bodies.pelvis(at.edge, u - at.begins));
                if away(pair, pelvis) > bodies.reach() + sphere.radius + near {
                    continue;
                }
                let (mut a, mut b) = (bodies.row(), bodies.row());
                body_at(bodies, &scratch.legs, &scratch.warp, time, leg, &mut a);
                let after = leg_at(&scratch.legs, scratch.warp.at(time + STEP).0, leg);
                body_at(bodies, &scratch.legs, &scratch.warp, time + STEP, after, &mut b);
                if after != leg {
                    carry(bodies, &scratch.legs[after].place, &at.place, &mut b);
                }
                let way = [at.place.point_back(pair[0]), at.place.point_back(pair[1])];
                let radius = sphere.radius;
                if nearest(&a, &b, way[0], way[1], &radii) - radius < near {
                    out.push(NearStep { time, place: at.place, rows: [a, b], way, radius, radii: radii.clone() });
                }
            }
        }
        out
    }

    /// The body of the laid-out path while a bend comes and goes: stage time, place and row.
    pub(crate) fn while_bent(
        &self,
        rise: (f32, f32),
        fall: (f32, f32),
        scratch: &DodgeScratch,
    ) -> Vec<(f32, PlanarMatrix, Row)> {
        let (coming, going) = (0.5 * (rise.0 + rise.1), 0.5 * (fall.0 + fall.1));
        let rows = [coming, rise.1, 0.5 * (rise.1 + fall.0), fall.0, going].map(|time| {
            let leg = leg_at(&scratch.legs, scratch.warp.at(time).0, 0);
            let mut row = self.bodies.row();
            body_at(self.bodies, &scratch.legs, &scratch.warp, time, leg, &mut row);
            (time, scratch.legs[leg].place, row)
        });
        rows.into()
    }

    /// Whether the attacks stay at least `clear` away on these steps with the body bent.
    pub(crate) fn clears(&self, clear: f32, steps: &[NearStep], bend: &Bend, rows: &mut [Row; 2]) -> bool {
        steps.iter().all(|step| {
            for (k, row) in rows.iter_mut().enumerate() {
                row.values.copy_from_slice(&step.rows[k].values);
                bend.bend(self.bodies, &step.place, step.time + k as f32 * STEP, row);
            }
            let [a, b] = rows;
            nearest(a, b, step.way[0], step.way[1], &step.radii) - step.radius >= clear
        })
    }

    /// What the attack would have met had the body stayed as it was when the avoidance began: the least distance (d0 of eq. 8) and the overlap
    /// that was vacated, along the attack's way (eq. 4-5).
    fn stayed(
        &self,
        search: &DodgeSearch,
        last: usize,
        part: &DefenceSpan,
        moved: u128,
        scratch: &mut DodgeScratch,
    ) -> (f32, f32) {
        let bodies = self.bodies;
        scratch.fit(bodies);
        let leg = scratch.legs[last];
        let (from, to) = (scratch.warp.when(leg.begins + part.from), scratch.warp.when(leg.begins + part.to));
        let [row, _] = &mut scratch.rows;
        body_at(bodies, &scratch.legs, &scratch.warp, from.max(0.0), last, row);
        let (mut least, mut vacated) = (f32::INFINITY, 0.0f32);
        let pelvis = row.get(bodies.spheres());
        for sphere in search.threats.iter().flat_map(|t| &t.spheres) {
            for (k, pair) in sphere.places.windows(2).enumerate() {
                let time = sphere.start + k as f32 * STEP;
                if time + STEP < 0.0 {
                    continue;
                }
                let (p, q) = (leg.place.point_back(pair[0]), leg.place.point_back(pair[1]));
                if away(&[p, q], pelvis) > bodies.reach() + sphere.radius + 1.0 {
                    continue;
                }
                let d = nearest(row, row, p, q, &scratch.radii) - sphere.radius;
                least = least.min(d);
                if d >= 0.0 || time + STEP < from || time > to {
                    continue;
                }
                let way = q - p;
                let length = way.length().max(1e-9);
                let (cut, rest) = (((from - time) / STEP).max(0.0) * length, ((to - time) / STEP).min(1.0) * length);
                for j in (0..bodies.spheres()).filter(|j| moved >> (*j).min(127) & 1 == 1) {
                    let to_centre = row.get(j) - p;
                    let along = to_centre.dot(way) / length;
                    let aside = (to_centre.length_squared() - along * along).max(0.0).sqrt();
                    vacated += cost::overlap(bodies.radius(j) + sphere.radius, aside, cut - along, rest - along);
                }
            }
        }
        (least, vacated)
    }

    /// d0 of eq. 8 before its floor at 0, and the first term (eq. 6).
    fn avoidance(
        &self,
        search: &DodgeSearch,
        candidate: &Candidate,
        last: usize,
        part: &DefenceSpan,
        scratch: &mut DodgeScratch,
    ) -> (f32, f32) {
        let moved = self.index.vacated(scratch.legs[last].edge, candidate.path.part as usize);
        let (stayed, vacated) = self.stayed(search, last, part, moved, scratch);
        let radius = search.threats.iter().flat_map(|t| &t.spheres).map(|s| s.radius).fold(0.0, f32::max);
        let saturated = self.config.saturation * (radius + 0.1) * (radius + 0.1);
        let term = match self.config.errata.avoidance {
            Form::Ours => cost::avoidance(vacated, saturated),
            Form::Printed => self.printed_avoidance(search, last, part, scratch),
        };
        (stayed, term)
    }

    /// Eq. 4-6 as printed: a time integral, each 1/20 s, also of what is metres away.
    fn printed_avoidance(
        &self,
        search: &DodgeSearch,
        last: usize,
        part: &DefenceSpan,
        scratch: &mut DodgeScratch,
    ) -> f32 {
        let bodies = self.bodies;
        let leg = scratch.legs[last];
        let (from, to) = (scratch.warp.when(leg.begins + part.from), scratch.warp.when(leg.begins + part.to));
        let (mut start, mut row) = (bodies.row(), bodies.row());
        body_at(bodies, &scratch.legs, &scratch.warp, from.max(0.0), last, &mut start);
        let (mut sum, step) = (0.0, 0.05);
        let mut time = from.max(0.0);
        while time < to {
            body_at(bodies, &scratch.legs, &scratch.warp, time, last, &mut row);
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

    /// Works one candidate out. The scratch then holds its path.
    fn judge(
        &self,
        search: &DodgeSearch,
        candidate: &Candidate,
        scratch: &mut DodgeScratch,
        counts: &mut DodgeCounts,
    ) -> (Verdict, AvoidanceCost, f32) {
        let mut cost = AvoidanceCost { timescale: candidate.timescale, ..AvoidanceCost::default() };
        let Some((last, part)) = self.lay_out(search, candidate, scratch) else {
            return (Verdict::OutOfScale, cost, 0.0);
        };
        if self.config.cull
            && self.planes.hit(&scratch.legs[last], &scratch.warp, &search.threats, self.config.errata.culling)
        {
            counts.culled += 1;
            return (Verdict::Culled, cost, f32::NEG_INFINITY);
        }
        // A hit matters only while nothing avoids, and only if none was shallower.
        let floor = match (&search.why, search.best, search.least) {
            (Some(_), ..) | (None, None, None) => f32::NEG_INFINITY,
            (None, Some(_), _) => MARGIN,
            (None, None, Some((_, depth))) => -depth,
        };
        let mut stayed = None;
        if let (None, Some(best)) = (&search.why, search.best) {
            // What the body would have met had it stayed is soon found, and says what the way costs at least.
            let (d0, avoidance) = self.avoidance(search, candidate, last, &part, scratch);
            cost.avoidance = avoidance;
            if cost.total(&self.config.weights) >= best.0 {
                counts.bounded += 1;
                return (Verdict::Bounded, cost, 0.0);
            }
            stayed = Some(d0);
        }
        counts.tested += 1;
        let clearance = self.clearance_above(floor, &search.threats, scratch);
        if clearance < MARGIN {
            return (Verdict::Hit(-clearance), cost, clearance);
        }
        let stayed = stayed.unwrap_or_else(|| {
            let (d0, avoidance) = self.avoidance(search, candidate, last, &part, scratch);
            cost.avoidance = avoidance;
            d0
        });
        let d0 = match self.config.errata.body {
            Form::Ours => stayed.max(0.0),
            Form::Printed => search.now(self, scratch),
        };
        cost.body = cost::body(clearance, d0, &self.config);
        (Verdict::Avoids(cost.total(&self.config.weights)), cost, clearance)
    }
}

/// Surfaces' radii, with joints and padding out of every reach.
fn padded_radii(bodies: &Bodies) -> Vec<f32> {
    (0..bodies.width()).map(|j| if j < bodies.spheres() { bodies.radius(j) } else { -1e4 }).collect()
}

/// The leg shown at a path second, looking on from one that is not after it.
fn leg_at(legs: &[Leg], u: f32, from: usize) -> usize {
    let mut at = from;
    while legs.get(at + 1).is_some_and(|l| l.begins <= u) {
        at += 1;
    }
    at
}

/// A body reaches at most so much farther in a step than in its frame: by what it moves, and by its joins. Metres.
const MOVES: f32 = 0.25;
/// And by what it is bent.
const BENDS: f32 = 0.6;

/// Lists the steps of an attack that count along the laid-out path, in their order, and says which is nearest to the pelvis.
fn approach(bodies: &Bodies, sphere: &Sphere, coarse: bool, scratch: &mut DodgeScratch) -> usize {
    let moves = MOVES + if scratch.bend.is_some() { BENDS } else { 0.0 };
    let DodgeScratch { legs, warp, approach, .. } = scratch;
    approach.clear();
    let (mut leg, mut nearest) = (0, (0, f32::INFINITY));
    for (k, pair) in sphere.places.windows(2).enumerate() {
        let time = sphere.start + k as f32 * STEP;
        if time + STEP < 0.0 || (coarse && !k.is_multiple_of(3)) {
            continue;
        }
        let u = warp.at(time.max(0.0)).0;
        leg = leg_at(legs, u, leg);
        let at = legs[leg];
        let (pelvis, extent) = bodies.middle(at.edge, u - at.begins);
        let bound = away(pair, at.place.point(pelvis)) - extent - moves - sphere.radius;
        // What passes at arm's length and half a metre more costs the same as anything farther.
        if bound <= 1.0 {
            if bound < nearest.1 {
                nearest = (approach.len(), bound);
            }
            approach.push((k, leg, bound));
        }
    }
    nearest.0
}

/// The body at a stage time on a leg, in the leg's place.
pub(crate) fn body_at(bodies: &Bodies, legs: &[Leg], warp: &Warp, time: f32, leg: usize, row: &mut Row) {
    // Where a clip simply goes on, the join of the edge that entered it goes on too: same clip, same place.
    let mut leg = leg;
    while leg > 0 && !bodies.has_join(legs[leg].edge) {
        leg -= 1;
    }
    let at = legs[leg];
    let (u, _) = warp.at(time);
    // The edge being played began at its natural speed.
    let (joined, rate) = if leg == 0 {
        (time - at.begins, 1.0)
    } else {
        let began = warp.when(at.begins);
        (time - began, warp.at(began).1)
    };
    bodies.sample(at.edge, u - at.begins, joined, rate, row);
}

/// A row from one place into another.
fn carry(bodies: &Bodies, from: &PlanarMatrix, to: &PlanarMatrix, row: &mut Row) {
    for j in 0..bodies.spheres() + 21 {
        row.set(j, to.point_back(from.point(row.get(j))));
    }
}

/// How far a straight piece of way stays from a point.
fn away(pair: &[Vec3], p: Vec3) -> f32 {
    let way = pair[1] - pair[0];
    let t = ((p - pair[0]).dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0);
    (pair[0] + way * t - p).length()
}

/// Least distance between a point that moves from `p` to `q` and spheres that move from one row to the next, all at once.
#[inline]
pub(crate) fn nearest(a: &Row, b: &Row, p: Vec3, q: Vec3, radii: &[f32]) -> f32 {
    const N: usize = crate::bodies::LANES;
    let width = radii.len();
    let ([ax, ay, az], [bx, by, bz]) = (a.lanes(width), b.lanes(width));
    let r = radii.as_chunks::<N>().0;
    let mut least = [f32::INFINITY; N];
    for c in 0..r.len() {
        for k in 0..N {
            let (sx, sy, sz) = (ax[c][k] - p.x, ay[c][k] - p.y, az[c][k] - p.z);
            let (wx, wy, wz) = (bx[c][k] - q.x - sx, by[c][k] - q.y - sy, bz[c][k] - q.z - sz);
            let along = -(sx * wx + sy * wy + sz * wz);
            let t = (along / (wx * wx + wy * wy + wz * wz).max(1e-20)).clamp(0.0, 1.0);
            let (dx, dy, dz) = (sx + wx * t, sy + wy * t, sz + wz * t);
            let d = (dx * dx + dy * dy + dz * dz).sqrt() - r[c][k];
            least[k] = if d < least[k] { d } else { least[k] };
        }
    }
    least.into_iter().fold(f32::INFINITY, f32::min)
}
