//! How far attacks stay from the body along a laid-out path: eq. 7, swept between samples.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::{Contacts, Role, Vec3};

use super::DodgePlanner;
use super::as_shown::AsShown;
use super::leaving::Leaving;
use crate::bodies::{Bodies, Joints, Row};
use crate::footing::{Footing, GOES};
use crate::legs::{Layout, PlacedLeg};
use crate::threat::{STEP, Sphere, Threat};
use crate::{Bend, Drift, Form, Warp};

/// Buffers that decisions reuse. They carry nothing from one decision to the next.
#[derive(Clone, Debug, Default)]
pub struct DodgeScratch {
    pub(crate) legs: Layout,
    pub(super) stretches: Vec<(f32, f32)>,
    pub(crate) warp: Warp,
    pub(super) rows: [Row; 2],
    pub(super) bits: Vec<u64>,
    pub(crate) leavings: Vec<Leaving>,
    pub(crate) radii: Vec<f32>,
    /// The attack's steps near the body: number, leg, and a lower bound of the distance.
    approach: Vec<(usize, usize, f32)>,
    /// What carries the body away from the laid-out path.
    pub(crate) drift: Option<Drift>,
    /// The bend of the laid-out path.
    pub(crate) bend: Option<Bend>,
    /// What the last clearance test found.
    pub(crate) met: Met,
    /// The steps it looked at, and how far away the attack is in each.
    looked: Vec<(AttackStep, f32)>,
    pub(super) as_shown: AsShown,
}

impl DodgeScratch {
    /// Resizes the rows to these bodies.
    pub(crate) fn fit(&mut self, bodies: &Bodies) {
        if self.rows[0].values.len() != 3 * bodies.width() {
            self.rows = [bodies.row(), bodies.row()];
            self.radii = padded_radii(bodies);
        }
    }

    /// Adds the steps of the path that was tested last in which the attack may be nearest, in order; says where they are.
    pub(super) fn nearest_steps(&self, out: &mut Vec<AttackStep>) -> (usize, usize) {
        let rough = self.looked.iter().map(|step| step.1).fold(f32::INFINITY, f32::min);
        let from = out.len();
        out.extend(self.looked.iter().filter(|step| step.1 <= rough + ASTRAY).map(|step| step.0));
        out[from..].sort_unstable();
        (from, out.len())
    }

    /// How far the drift carries the body at most at a stage time on a leg, metres.
    pub(crate) fn drifted(&self, time: f32, leg: usize) -> f32 {
        self.drift.as_ref().map_or(0.0, |d| d.reach(&self.legs, &self.warp, time, leg))
    }
}

/// A step of an attack: of which of its spheres, which step, on which leg of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AttackStep {
    sphere: u32,
    step: u32,
    leg: u32,
}

/// A step of an attack near the body, in the frame of the leg's clip.
#[derive(Clone, Debug)]
pub(crate) struct NearStep {
    /// Stage time of its middle.
    time: f32,
    place: PlanarMatrix,
    /// The joints as it begins.
    joints: Joints,
    way: [Vec3; 2],
    radius: f32,
    /// The spheres that are near, the nearest first.
    near: Vec<NearSphere>,
}

#[derive(Clone, Copy, Debug)]
struct NearSphere {
    part: Role,
    /// Where it begins and ends the step.
    places: [Vec3; 2],
    radius: f32,
    /// From the attack, metres; negative is the depth.
    gap: f32,
}

impl NearStep {
    /// Distance of the attack from the unbent body, metres, and from which part.
    pub(crate) fn nearest(&self) -> (f32, Role) {
        self.near.first().map_or((f32::INFINITY, Role::Pelvis), |near| (near.gap, near.part))
    }
}

/// A moment of a body that is to be bent.
pub(crate) struct WhileBent {
    /// Stage seconds from now.
    pub(crate) time: f32,
    pub(crate) place: PlanarMatrix,
    pub(crate) joints: Joints,
    /// What it stands on, and will stand on next if it goes somewhere.
    pub(crate) footing: Footing,
}

/// When an attack is near the body, and where it is nearest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Met {
    /// First and last stage time within [`NEAR`].
    pub(crate) from: f32,
    pub(crate) to: f32,
    /// Stage time of the nearest step, and where the attack begins and ends it, in the world.
    pub(crate) time: f32,
    pub(crate) way: [Vec3; 2],
    least: f32,
}

/// Longest time until a walker's other foot is put down, seconds.
const STRIDE: f32 = 0.6;
/// Farthest that centres are from the body as it will be shown, but for one path in a hundred, metres; twice, for two steps.
pub(super) const ASTRAY: f32 = 0.08;
/// Attacks closer than this are near, metres.
const NEAR: f32 = 0.15;

impl DodgePlanner<'_> {
    /// Least distance between attacks and body along the laid-out path; negative is the depth.
    pub(crate) fn clearance(&self, threats: &[Threat], scratch: &mut DodgeScratch) -> f32 {
        self.clearance_above(f32::NEG_INFINITY, threats, scratch)
    }

    /// Like [`DodgePlanner::clearance`], but returns as soon as the distance falls below `floor`.
    pub(super) fn clearance_above(&self, floor: f32, threats: &[Threat], scratch: &mut DodgeScratch) -> f32 {
        let bodies = self.bodies;
        scratch.fit(bodies);
        let mut least = f32::INFINITY;
        scratch.met = Met { from: f32::INFINITY, least: f32::INFINITY, ..Met::default() };
        let bend = scratch.bend;
        let coarse = self.config.errata.sampling == Form::Printed;
        scratch.looked.clear();
        for (number, sphere) in threats.iter().flat_map(|t| &t.spheres).enumerate() {
            let nearest_step = approach(bodies, sphere, coarse, scratch);
            // The nearest step first: a hit is usually there, and otherwise its distance rules most of the others out.
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
                        body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), now, leg, front);
                        if let Some(bend) = &bend {
                            bend.bend(bodies, &scratch.legs[leg].place, now, front);
                        }
                    }
                    let after = leg_at(&scratch.legs, scratch.warp.at(next).0, leg);
                    body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), next, after, back);
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
                    let step = AttackStep { sphere: number as u32, step: k as u32, leg: leg as u32 };
                    scratch.looked.push((step, d));
                    if least < floor {
                        return least;
                    }
                    if d < NEAR {
                        scratch.met.from = scratch.met.from.min(time);
                        scratch.met.to = scratch.met.to.max(time + STEP);
                        // The first of equally near steps.
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

    /// The clearance of the laid-out path on the body as it will be shown, in these steps. Leaves the body as it is after them in the second row,
    /// on the leg that is returned.
    pub(super) fn clearance_shown(
        &self,
        threats: &[Threat],
        steps: &[AttackStep],
        scratch: &mut DodgeScratch,
    ) -> (f32, usize) {
        let (mut least, mut held) = (f32::INFINITY, (0, 0, 0));
        for &AttackStep { sphere: number, step, leg } in steps {
            let Some(sphere) = threats.iter().flat_map(|t| &t.spheres).nth(number as usize) else { continue };
            let (k, leg) = (step as usize, leg as usize);
            let (time, pair) = (sphere.start + k as f32 * STEP, [sphere.places[k], sphere.places[k + 1]]);
            let DodgeScratch { legs, warp, rows: [front, back], as_shown, .. } = scratch;
            if held != (number, k, leg) {
                as_shown.body(self.library, (legs, warp), (time.max(0.0), leg), front);
            }
            let after = leg_at(legs, warp.at(time + STEP).0, leg);
            as_shown.body(self.library, (legs, warp), (time + STEP, after), back);
            if after != leg {
                carry(self.bodies, &legs[leg].place, &legs[after].place, front);
            }
            let [p, q] = pair.map(|p| legs[after].place.point_back(p));
            least = least.min(nearest(front, back, p, q, &scratch.radii) - sphere.radius);
            scratch.rows.swap(0, 1);
            held = (number, k + 1, after);
        }
        scratch.rows.swap(0, 1);
        (least, held.2)
    }

    /// The steps in which an attack comes within `near` of the laid-out, unbent path, the nearest first.
    pub(crate) fn near_steps(&self, threats: &[Threat], near: f32, scratch: &mut DodgeScratch) -> Vec<NearStep> {
        let bodies = self.bodies;
        scratch.fit(bodies);
        let mut out: Vec<NearStep> = Vec::new();
        for sphere in threats.iter().flat_map(|t| &t.spheres) {
            approach(bodies, sphere, false, scratch);
            let mut held: Option<(usize, usize)> = None;
            for at in 0..scratch.approach.len() {
                let (k, leg, bound) = scratch.approach[at];
                let time = sphere.start + k as f32 * STEP;
                if bound >= near || time < 0.0 {
                    continue;
                }
                let after = leg_at(&scratch.legs, scratch.warp.at(time + STEP).0, leg);
                let place = scratch.legs[leg].place;
                let [a, b] = &mut scratch.rows;
                if held != Some((k, leg)) {
                    body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), time, leg, a);
                }
                body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), time + STEP, after, b);
                held = (after == leg).then_some((k + 1, leg));
                if after != leg {
                    carry(bodies, &scratch.legs[after].place, &place, b);
                }
                let way = [place.point_back(sphere.places[k]), place.point_back(sphere.places[k + 1])];
                if nearest(a, b, way[0], way[1], &scratch.radii) - sphere.radius < near {
                    let of = |j: usize| {
                        let (places, radius) = ([a.get(j), b.get(j)], bodies.radius(j));
                        // Most are farther away than both may come nearer in a step.
                        let (start, end) = (places[0] - way[0], places[1] - way[1]);
                        let far = near + radius + sphere.radius + 0.5 * (end - start).length();
                        if (0.5 * (start + end)).length_squared() > far * far {
                            return None;
                        }
                        let gap = apart(places, way) - radius - sphere.radius;
                        (gap < near).then(|| NearSphere { part: bodies.part(j), places, radius, gap })
                    };
                    let mut near: Vec<NearSphere> = (0..bodies.spheres()).filter_map(of).collect();
                    near.sort_by(|a, b| a.gap.total_cmp(&b.gap));
                    let (time, joints, radius) = (time + 0.5 * STEP, bodies.joints(a), sphere.radius);
                    out.push(NearStep { time, place, joints, way, radius, near });
                }
                scratch.rows.swap(0, 1);
            }
        }
        out.sort_by(|a, b| a.nearest().0.total_cmp(&b.nearest().0));
        out
    }

    /// The body along the laid-out path while a bend rises, holds and falls.
    pub(crate) fn while_bent(&self, rise: (f32, f32), fall: (f32, f32), scratch: &DodgeScratch) -> [WhileBent; 5] {
        let (coming, going) = (0.5 * (rise.0 + rise.1), 0.5 * (fall.0 + fall.1));
        [coming, rise.1, 0.5 * (rise.1 + fall.0), fall.0, going].map(|time| {
            let (u, rate) = scratch.warp.at(time);
            let leg = leg_at(&scratch.legs, u, 0);
            let (mut row, at) = (self.bodies.row(), scratch.legs[leg]);
            body_at(self.bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), time, leg, &mut row);
            let joints = self.bodies.joints(&row);
            let joint = |role: Role| joints[role.joint().at()];
            let support = self.bodies.support(at.edge, at.seconds(u));
            let mut footing = Footing::standing(support, joint);
            let speed = self.bodies.speed(at.edge, at.seconds(u)) * rate;
            if speed.length() > GOES {
                let (next, stance) = self.next_foothold(support, u, leg, scratch);
                footing.going(speed, next, |role| stance[role.joint().at()]);
            }
            WhileBent { time, place: at.place, joints, footing }
        })
    }

    /// The foot that is put down next after path time `u` on a leg, and the joints when it is, in the frame of that leg's clip.
    fn next_foothold(&self, support: Contacts, u: f32, leg: usize, scratch: &DodgeScratch) -> (Contacts, Joints) {
        let place = scratch.legs[leg].place;
        let mut later = leg;
        for ahead in (1..=(STRIDE / STEP) as u32).map(|step| u + step as f32 * STEP) {
            later = leg_at(&scratch.legs, ahead, later);
            let at = scratch.legs[later];
            let then = self.bodies.support(at.edge, at.seconds(ahead));
            let put = [Contacts::LEFT, Contacts::RIGHT].into_iter().find(|foot| then.any(*foot) && !support.any(*foot));
            if let Some(foot) = put {
                let mut joints = self.bodies.stance(at.edge, at.seconds(ahead)).0;
                joints.iter_mut().for_each(|p| *p = place.point_back(at.place.point(*p)));
                return (Contacts::from_bits(foot.bits() & then.bits()), joints);
            }
        }
        (Contacts::NONE, [Vec3::ZERO; Role::ALL.len()])
    }

    /// Whether the attacks stay at least `clear` away from the bent body in these steps.
    pub(crate) fn clears(&self, clear: f32, steps: &[NearStep], bend: &Bend) -> bool {
        let most = bend.most();
        // What is deeper than a bend moves anything stays inside; what is farther away than that cannot come near.
        let deep = steps.first().is_some_and(|step| step.nearest().0 + most < clear);
        !deep
            && steps.iter().take_while(|step| step.nearest().0 < clear + most).all(|step| {
                let bent = bend.at(&step.place, step.time, &step.joints);
                step.near.iter().take_while(|near| near.gap < clear + most).all(|near| {
                    let places = near.places.map(|p| bent.point(near.part, p));
                    apart(places, step.way) - near.radius - step.radius >= clear
                })
            })
    }
}

impl DodgePlanner<'_> {
    /// Whether a bend moves the nearest sphere of a step out of the attack's way.
    pub(crate) fn moves_away(&self, step: &NearStep, clear: f32, bend: &Bend) -> bool {
        let Some(near) = step.near.first() else { return true };
        let bent = bend.at(&step.place, step.time, &step.joints);
        apart(near.places.map(|p| bent.point(near.part, p)), step.way) - near.radius - step.radius >= clear
    }
}

/// Least distance of two points that move evenly.
#[inline]
fn apart(a: [Vec3; 2], b: [Vec3; 2]) -> f32 {
    let (start, end) = (a[0] - b[0], a[1] - b[1]);
    let way = end - start;
    let t = (-start.dot(way) / way.length_squared().max(1e-20)).clamp(0.0, 1.0);
    (start + way * t).length()
}

/// Radii of the spheres, in whole rows; joints and padding among them get one that nothing comes near.
pub(super) fn padded_radii(bodies: &Bodies) -> Vec<f32> {
    let width = bodies.spheres().next_multiple_of(crate::bodies::LANES);
    (0..width).map(|j| if j < bodies.spheres() { bodies.radius(j) } else { -1e4 }).collect()
}

/// The leg shown at path time `u`, searched for from leg `from` on.
pub(super) fn leg_at(legs: &[PlacedLeg], u: f32, from: usize) -> usize {
    let mut at = from;
    while legs.get(at + 1).is_some_and(|l| l.begins <= u) {
        at += 1;
    }
    at
}

/// How much farther than in its frame a body may reach within a step, because it moves and because of joins. Metres.
const MOVES: f32 = 0.25;
/// The same for a bend.
const BENDS: f32 = 0.6;
/// Attacks so far away are not near yet, metres: a metre, and what a join may carry a body.
const FAR: f32 = 2.0;
/// The longest step of a body, metres.
const BODY_STEP: f32 = 0.1;

/// Lists the steps of an attack that may matter on the laid-out path, in order. Returns the position of the nearest.
fn approach(bodies: &Bodies, sphere: &Sphere, coarse: bool, scratch: &mut DodgeScratch) -> usize {
    let moves = MOVES + if scratch.bend.is_some() { BENDS } else { 0.0 };
    let DodgeScratch { legs, warp, approach, drift, .. } = scratch;
    approach.clear();
    let (mut leg, mut nearest) = (0, (0, f32::INFINITY));
    let (mut skipped, closer) = (0, sphere.longest_step() + BODY_STEP);
    for (k, pair) in sphere.places.windows(2).enumerate() {
        let time = sphere.start + k as f32 * STEP;
        if time + STEP < 0.0 || k < skipped || (coarse && !k.is_multiple_of(3)) {
            continue;
        }
        let u = warp.at(time.max(0.0)).0;
        leg = leg_at(legs, u, leg);
        let at = legs[leg];
        let (pelvis, extent) = bodies.middle(at.edge, at.seconds(u));
        let mut bound = away(pair, at.place.point(pelvis)) - extent - moves - sphere.radius;
        if let Some(drift) = drift {
            bound -= drift.reach(legs, warp, time.max(0.0), leg);
        }
        // Anything farther than a metre costs the same.
        if bound <= 1.0 {
            if bound < nearest.1 {
                nearest = (approach.len(), bound);
            }
            approach.push((k, leg, bound));
        } else {
            // As long as neither attack nor body can come near, nothing is looked at.
            skipped = k + ((bound - FAR) / closer).max(1.0) as usize;
        }
    }
    nearest.0
}

/// The body at a stage time on a leg, in the frame of the leg's clip.
pub(crate) fn body_at(
    bodies: &Bodies,
    legs: &Layout,
    warp: &Warp,
    drift: Option<&Drift>,
    time: f32,
    leg: usize,
    row: &mut Row,
) {
    // Where a clip simply continues, the join of the edge that entered it continues too: same clip, same placement.
    let mut leg = leg;
    while leg > 0 && legs[leg].blend <= 0.0 {
        leg -= 1;
    }
    let at = legs[leg];
    let (u, _) = warp.at(time);
    // The edge being played was entered at its natural speed.
    let (joined, rate) = if leg == 0 {
        (if drift.is_some() { f32::INFINITY } else { time - at.begins }, 1.0)
    } else {
        let began = warp.when(at.begins);
        (time - began, warp.at(began).1)
    };
    bodies.sample(at.edge, at.seconds(u), row);
    if let Some(join) = legs.join(bodies, leg) {
        bodies.add_join_offsets(join, at.blend, joined, rate, row);
    }
    if let Some(drift) = drift {
        drift.add(bodies, legs, warp, time, leg, row);
    }
}

/// Moves a row from the frame of one placement into that of another.
pub(super) fn carry(bodies: &Bodies, from: &PlanarMatrix, to: &PlanarMatrix, row: &mut Row) {
    for j in 0..bodies.spheres() + 21 {
        row.set(j, to.point_back(from.point(row.get(j))));
    }
}

/// Distance from a point to a line segment.
pub(crate) fn away(pair: &[Vec3], p: Vec3) -> f32 {
    let way = pair[1] - pair[0];
    let t = ((p - pair[0]).dot(way) / way.length_squared().max(1e-12)).clamp(0.0, 1.0);
    (pair[0] + way * t - p).length()
}

/// Least distance between a point that moves from `p` to `q` and the surfaces of spheres that move from row `a` to row `b`, all evenly.
/// The widest instructions of the machine are used; the bits do not depend on them.
#[inline]
pub(crate) fn nearest(a: &Row, b: &Row, p: Vec3, q: Vec3, radii: &[f32]) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[expect(unsafe_code, reason = "the feature was detected on the line above")]
        // SAFETY: nearest_avx2 needs AVX2 and nothing else.
        return unsafe { nearest_avx2(a, b, p, q, radii) };
    }
    nearest_plain(a, b, p, q, radii)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn nearest_avx2(a: &Row, b: &Row, p: Vec3, q: Vec3, radii: &[f32]) -> f32 {
    nearest_plain(a, b, p, q, radii)
}

#[inline(always)]
fn nearest_plain(a: &Row, b: &Row, p: Vec3, q: Vec3, radii: &[f32]) -> f32 {
    const N: usize = crate::bodies::LANES;
    let r = radii.as_chunks::<N>().0;
    let count = r.len();
    let [ax, ay, az] = a.lanes().map(|lane| &lane[..count]);
    let [bx, by, bz] = b.lanes().map(|lane| &lane[..count]);
    let mut least = [f32::INFINITY; N];
    for c in 0..count {
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
