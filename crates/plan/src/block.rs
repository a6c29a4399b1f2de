//! Blocking an attack: captured block spans that put the guarding limb in the attack's path in time. The paper leaves blocks out (§ 4.2).

use kumite_motion::{EdgeIdx, Role, Vec3};

use crate::bend::{Bend, HAND};
use crate::bodies::{DefenceSpan, Row};
use crate::dodge::{
    AvoidancePath, DefenceKind, DodgePlanner, DodgeScratch, Situation, away, body_at, nearest, timescale_cost,
};
use crate::legs::{scale, stretches};
use crate::threat::{STEP, Threat};
use crate::{Bodies, Leg, Warp};

/// How high an attack comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Height {
    High,
    Middle,
    Low,
}

/// From which side an attack comes, as the defender sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Side {
    Front,
    Left,
    Right,
    Behind,
}

/// How an attack is met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Block {
    /// The guarding wrist.
    pub wrist: Role,
    /// When, stage seconds from the decision.
    pub time: f32,
    /// Where, in the world.
    pub at: Vec3,
    /// How high it comes in.
    pub height: Height,
    /// From which side.
    pub side: Side,
    /// Whether the limb sweeps across the attack's path and deflects it, instead of standing in it.
    pub parry: bool,
}

/// A block and what is played for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Guard {
    /// What is played after the current leg.
    pub legs: Vec<Leg>,
    /// Path seconds from now at which the current leg is left for it; `None` at the end of its edge.
    pub leave: Option<f32>,
    /// How their speed changes.
    pub warp: Warp,
    /// Moves the guarding hand to the attack, if it has to be.
    pub bend: Option<Bend>,
    /// Where and how they meet.
    pub block: Block,
    /// The edge that plays the block, and its position among the spans of that edge's clip.
    pub span: Option<(EdgeIdx, u32)>,
}

/// A limb that moves across the attack's path faster than this parries, metres per second.
const PARRY: f32 = 1.0;
/// How much farther than in its frame a body may reach within a step, because it moves and because of joins. Metres.
const MOVES: f32 = 0.25;
/// Farthest that any part of a body moves within a step, metres.
const BODY_STEP: f32 = 0.2;
/// Samples within one step of the attack: contacts are timed to 1/240 s.
const LOOKS: usize = 4;

/// So many ways to leave what is played are tried.
const MOST: usize = 32;

/// The guarding wrists of a block.
fn wrists(part: &DefenceSpan) -> Vec<Role> {
    match part.role {
        Some(role @ (Role::LeftWrist | Role::RightWrist)) => vec![role],
        Some(Role::LeftElbow) => vec![Role::LeftWrist],
        Some(Role::RightElbow) => vec![Role::RightWrist],
        _ => vec![Role::LeftWrist, Role::RightWrist],
    }
}

/// Whether a sphere belongs to the guard: hand or forearm.
pub fn guards(part: Role, wrist: Role) -> bool {
    part == wrist || Some(part) == wrist.parent()
}

/// The best block: the one whose guard has to be moved least, then the least change of speed.
pub fn find(
    planner: &DodgePlanner<'_>,
    situation: &Situation<'_>,
    threats: &[Threat],
    scratch: &mut DodgeScratch,
) -> Option<Guard> {
    let bodies = planner.bodies;
    scratch.fit(bodies);
    scratch.drift = situation.drift.clone();
    let attack = threats.iter().map(|t| t.arrives).fold(f32::INFINITY, f32::min);
    let ends = threats.iter().map(Threat::ends).fold(0.0, f32::max);
    let left = bodies.seconds(situation.edge) - situation.since;
    let half = 0.5 * planner.config.rules.window;
    let node = planner.graph().edge(situation.edge).to;
    let (listed, _) = planner.index.block.between(node, (attack - half - left, attack + half - left));
    let own = bodies.blocks(situation.edge).iter().enumerate().map(|(k, part)| {
        let path = AvoidancePath { centre: part.centre() - situation.since - left, edges: (0, 0), part: k as u32 };
        (path, &[] as &[EdgeIdx])
    });
    let listed = listed.iter().map(|p| (*p, planner.index.block.edges(p)));
    let mut best: Option<(f32, Guard)> = None;
    for (path, edges) in own.chain(listed) {
        let last = edges.last().copied().unwrap_or(situation.edge);
        let Some(part) = DefenceKind::Block.of(bodies, last).get(path.part as usize).copied() else { continue };
        let centre = path.centre + left;
        let route = std::iter::once(situation.edge).chain(edges.iter().copied());
        scratch.legs.lay(bodies, route, situation.since, &situation.place);
        let depth = scratch.legs.len();
        let mut list = Vec::new();
        let edges = scratch.legs.iter().map(|l| l.edge);
        stretches(bodies, edges, situation.since, centre, attack > centre, &mut list);
        let fits = scale(&list, centre, attack).and_then(|s| Some((s, timescale_cost(s, &planner.config)?)));
        let on_time = (attack - centre).abs() <= 0.5 * (part.active.1 - part.active.0);
        let fits = fits.or_else(|| Some((1.0, timescale_cost(1.0, &planner.config)?)).filter(|_| on_time));
        let Some((scaled, price)) = fits.filter(|(_, price)| best.as_ref().is_none_or(|b| *price < b.0)) else {
            continue;
        };
        scratch.legs.go_on(bodies, planner.graph(), ends + 1.0);
        scratch.warp.set(&list, scaled);
        consider(planner, situation, threats, (depth - 1, part, price), scratch, &mut best);
    }
    scratch.warp.set(&[], 1.0);
    let mut leavings = std::mem::take(&mut scratch.leavings);
    planner.lay_committed(situation, attack, &mut scratch.legs);
    planner.leavings(DefenceKind::Block, threats, &scratch.legs, &mut leavings);
    // The cheapest first: once one blocks, the dearer ones need not be looked at.
    leavings.sort_by(|a, b| a.price().total_cmp(&b.price()));
    for leaving in leavings.iter().take(MOST) {
        let price = timescale_cost(1.0, &planner.config).unwrap_or(0.0);
        let price = price + planner.config.weights.join * leaving.price();
        if best.as_ref().is_some_and(|b| price >= b.0) {
            break;
        }
        let laid = planner.lay_leaving(situation, leaving, DefenceKind::Block, ends + 1.0, &mut scratch.legs);
        if let Some((last, part)) = laid {
            consider(planner, situation, threats, (last, part, price), scratch, &mut best);
        }
    }
    scratch.leavings = leavings;
    best.map(|b| b.1)
}

/// Keeps the block of the laid-out path, `part` of leg `last`, if that is better than the best so far.
fn consider(
    planner: &DodgePlanner<'_>,
    situation: &Situation<'_>,
    threats: &[Threat],
    (last, part, price): (usize, DefenceSpan, f32),
    scratch: &mut DodgeScratch,
    best: &mut Option<(f32, Guard)>,
) {
    let ends = threats.iter().map(Threat::ends).fold(0.0, f32::max);
    for wrist in wrists(&part) {
        let Some((way, block, bend)) = meet(planner, situation, threats, wrist, scratch) else { continue };
        let price = price + way / HAND;
        if best.as_ref().is_none_or(|b| price < b.0) {
            let until = scratch.warp.at(ends).0;
            let kept = scratch.legs[1..].iter().enumerate().take_while(|(k, l)| *k < last || l.begins < until);
            let legs = kept.map(|(_, l)| l.leg(planner.bodies)).collect();
            let (leave, warp) = (scratch.legs.left_at(planner.bodies), scratch.warp.clone());
            let span = Some((scratch.legs[last].edge, part.span));
            *best = Some((price, Guard { legs, leave, warp, bend, block, span }));
        }
    }
}

/// Nearest that a moved hand comes to its shoulder, in arm lengths, unless its motion has it nearer, and at how many moments of its way that is
/// looked at.
const NEAR_SHOULDER: f32 = 0.34;
const ON_ITS_WAY: usize = 12;

/// Whether a hand, on its way to where a bend moves it and back, stays clear of its shoulder: one that passes close by flings its elbow about.
fn keeps_off_shoulder(bodies: &Bodies, bend: &Bend, wrist: Role, scratch: &DodgeScratch) -> bool {
    let (Some((_, way)), Some(elbow)) = (bend.hand, wrist.parent()) else { return true };
    let Some(shoulder) = elbow.parent() else { return true };
    let mut row = bodies.row();
    [bend.rise, bend.fall].into_iter().all(|(from, to)| {
        (1..ON_ITS_WAY).all(|k| {
            let time = from + (to - from) * k as f32 / ON_ITS_WAY as f32;
            let leg = leg_for(scratch, time);
            body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), time, leg, &mut row);
            let [shoulder, elbow, hand] = [shoulder, elbow, wrist].map(|role| row.get(bodies.joint(role)));
            let arm = (elbow - shoulder).length() + (hand - elbow).length();
            let moved = hand + scratch.legs[leg].place.rotate_back(way * bend.weight(time));
            (moved - shoulder).length() >= (NEAR_SHOULDER * arm).min((hand - shoulder).length())
        })
    })
}

/// Whether a wrist's forearm or hand meets the attack before the rest of the body on the laid-out path, as it is or moved. Returns how far
/// it is moved, the block and the bend.
fn meet(
    planner: &DodgePlanner<'_>,
    situation: &Situation<'_>,
    threats: &[Threat],
    wrist: Role,
    scratch: &mut DodgeScratch,
) -> Option<(f32, Block, Option<Bend>)> {
    let bodies = planner.bodies;
    let (guard, other) = contacts(bodies, threats, wrist, None, scratch);
    let tell =
        |time: f32, at: Vec3, scratch: &DodgeScratch| tell(planner, situation, threats, wrist, time, at, scratch);
    if let Some((time, at)) = guard
        && other.is_none_or(|o| time < o.0)
    {
        return Some((0.0, tell(time, at, scratch), None));
    }
    // Move the guard to where the attack is a few decimetres before the body.
    let (hit, _) = other?;
    let sphere = threats.iter().flat_map(|t| &t.spheres).next()?;
    let mut row = bodies.row();
    let mut best: Option<(f32, f32, Vec3, Bend)> = None;
    for before in [0.10, 0.18, 0.26, 0.34, 0.44] {
        let step = ((hit - sphere.start) / STEP).max(0.0);
        let speed = (sphere.places.get(step as usize + 1)?.distance(*sphere.places.get(step as usize)?)) / STEP;
        let time = hit - before / speed.max(0.5);
        let at = ((time - sphere.start) / STEP).max(0.0);
        let (p, q) = (*sphere.places.get(at as usize)?, *sphere.places.get(at as usize + 1)?);
        let target = p.lerp(q, at.fract());
        let leg = leg_for(scratch, time);
        body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), time, leg, &mut row);
        let place = scratch.legs[leg].place;
        let now = place.point(row.get(bodies.joint(wrist)));
        let shoulder = place.point(row.get(bodies.joint(wrist.parent()?.parent()?)));
        let elbow = place.point(row.get(bodies.joint(wrist.parent()?)));
        let arm = (elbow - shoulder).length() + (now - elbow).length();
        let way = target - now;
        let ready = time - 0.03;
        if way.length() > HAND || (target - shoulder).length() > 0.97 * arm || ready < 0.12 {
            continue;
        }
        let bend = Bend {
            hand: Some((wrist, way)),
            rise: ((ready - 0.35).max(0.0), ready),
            fall: (hit + 0.12, hit + 0.6),
            ..Bend::default()
        };
        if best.as_ref().is_none_or(|b| way.length() < b.0) {
            let (guard, other) = contacts(bodies, threats, wrist, Some(&bend), scratch);
            if let Some((time, at)) = guard
                && other.is_none_or(|o| time < o.0)
                && keeps_off_shoulder(bodies, &bend, wrist, scratch)
            {
                best = Some((way.length(), time, at, bend));
            }
        }
    }
    best.map(|(way, time, at, bend)| (way, tell(time, at, scratch), Some(bend)))
}

fn leg_for(scratch: &DodgeScratch, time: f32) -> usize {
    let u = scratch.warp.at(time.max(0.0)).0;
    scratch.legs.iter().rposition(|l| l.begins <= u).unwrap_or(0)
}

type Contact = Option<(f32, Vec3)>;

/// The first contact: of the guard, or of the rest of the body, or of both.
fn contacts(
    bodies: &Bodies,
    threats: &[Threat],
    wrist: Role,
    bend: Option<&Bend>,
    scratch: &DodgeScratch,
) -> (Contact, Contact) {
    let (mut guard, mut other): (Contact, Contact) = (None, None);
    let mut row: Row = bodies.row();
    let first = |guard: &Contact, other: &Contact| {
        guard.iter().chain(other).map(|contact| contact.0).fold(f32::INFINITY, f32::min)
    };
    for sphere in threats.iter().flat_map(|t| &t.spheres) {
        let closer = sphere.longest_step() + BODY_STEP;
        let mut skipped = (-sphere.start / STEP).ceil().max(0.0) as usize;
        for (k, pair) in sphere.places.windows(2).enumerate() {
            let time = sphere.start + k as f32 * STEP;
            if first(&guard, &other) < time {
                break;
            }
            if k < skipped {
                continue;
            }
            let leg = leg_for(scratch, time);
            let at = scratch.legs[leg];
            let (pelvis, extent) = bodies.middle(at.edge, at.seconds(scratch.warp.at(time).0));
            let reach = extent + sphere.radius + MOVES + bend.map_or(0.0, Bend::most) + scratch.drifted(time, leg);
            let apart = away(pair, at.place.point(pelvis)) - reach;
            if apart > 0.0 {
                // Attack and body come nearer by so much in a step at most; what a join may carry the body is left.
                skipped = k + 1 + ((apart - MOVES) / closer).max(0.0) as usize;
                continue;
            }
            for look in 0..LOOKS {
                let share = look as f32 / LOOKS as f32;
                let now = time + share * STEP;
                if first(&guard, &other) < now {
                    break;
                }
                let leg = leg_for(scratch, now);
                let place = &scratch.legs[leg].place;
                body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), now, leg, &mut row);
                if let Some(bend) = bend {
                    bend.bend(bodies, place, now, &mut row);
                }
                let [p, end] = [pair[0].lerp(pair[1], share), pair[1]].map(|p| place.point_back(p));
                // What the attack does not come near in the rest of the step need not be looked at again.
                if nearest(&row, &row, p, end, &scratch.radii) - sphere.radius > BODY_STEP {
                    break;
                }
                for j in 0..bodies.spheres() {
                    if (row.get(j) - p).length() < bodies.radius(j) + sphere.radius {
                        let met = if guards(bodies.part(j), wrist) { &mut guard } else { &mut other };
                        if met.is_none_or(|met| now < met.0) {
                            *met = Some((now, pair[0].lerp(pair[1], share)));
                        }
                    }
                }
            }
        }
    }
    (guard, other)
}

fn tell(
    planner: &DodgePlanner<'_>,
    situation: &Situation<'_>,
    threats: &[Threat],
    wrist: Role,
    time: f32,
    at: Vec3,
    scratch: &DodgeScratch,
) -> Block {
    let bodies = planner.bodies;
    let (mut row, mut later) = (bodies.row(), bodies.row());
    let leg = leg_for(scratch, time);
    body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), time, leg, &mut row);
    body_at(bodies, &scratch.legs, &scratch.warp, scratch.drift.as_ref(), time + STEP, leg, &mut later);
    let height = |role: Role| row.get(bodies.joint(role)).y;
    let height = if at.y > height(Role::Neck) - 0.08 {
        Height::High
    } else if at.y > height(Role::Pelvis) + 0.1 {
        Height::Middle
    } else {
        Height::Low
    };
    let way = threats.iter().flat_map(|t| &t.spheres).find_map(|s| {
        let k = ((time - s.start) / STEP).max(0.0) as usize;
        Some(*s.places.get(k + 1)? - *s.places.get(k)?)
    });
    let way = way.unwrap_or(Vec3::NEG_Z).normalize_or(Vec3::NEG_Z);
    // The line of the shoulders gives the facing.
    let place = scratch.legs.get(leg).map_or(situation.place, |l| l.place);
    let left = row.get(bodies.joint(Role::LeftShoulder)) - row.get(bodies.joint(Role::RightShoulder));
    let left = place.rotate(Vec3::new(left.x, 0.0, left.z)).normalize_or(Vec3::X);
    let front = left.cross(Vec3::Y);
    let (ahead, aside) = (-way.dot(front), -way.dot(left));
    let side = if ahead.abs() >= aside.abs() {
        if ahead > 0.0 { Side::Front } else { Side::Behind }
    } else if aside > 0.0 {
        Side::Left
    } else {
        Side::Right
    };
    let hand = bodies.joint(wrist);
    let speed = place.rotate(later.get(hand) - row.get(hand)) / STEP;
    let across = (speed - way * speed.dot(way)).length();
    Block { wrist, time, at, height, side, parry: across > PARRY }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dodge::{CullingPlanes, DodgeConfig, PathIndex, PathRules};
    use crate::hand_made::{GUARD, library_of, standing_edge};
    use crate::threat::Ball;
    use kumite_motion::align::PlanarMatrix;

    /// What the library that can only guard does against a ball from a side to a place.
    fn guard(from: Vec3, target: Vec3, arrives: f32) -> Option<Guard> {
        let library = library_of(&["stand", "guard"]);
        let bodies = Bodies::of(&library, false);
        let index = PathIndex::of(&bodies, library.graph(), &PathRules::default(), true);
        let planes = CullingPlanes::of(&bodies);
        let config = DodgeConfig::default();
        let planner = DodgePlanner { bodies: &bodies, library: &library, index: &index, planes: &planes, config };
        let place = PlanarMatrix::IDENTITY;
        let situation = Situation {
            edge: standing_edge(&library),
            since: 0.1,
            place,
            leave: None,
            ahead: &[],
            drift: None,
            base: None,
            running: None,
        };
        let threats = [Threat::ball(&Ball::aimed(from, target, arrives, 0.11, false), arrives).unwrap()];
        find(&planner, &situation, &threats, &mut DodgeScratch::default())
    }

    /// The raised hand is on the way of a ball to the chest: it is met there, before the chest, as it is.
    #[test]
    fn a_guard_on_the_way_meets_the_attack_first() {
        let target = Vec3::new(GUARD.x, GUARD.y, 0.0);
        let found = guard(target + Vec3::Z * 12.0, target, 1.05).unwrap();
        let Block { wrist, time, at, height, side, .. } = found.block;
        assert_eq!((wrist, height, side), (Role::LeftWrist, Height::Middle, Side::Front));
        assert_eq!((found.legs.len(), found.bend, found.span.map(|s| s.1)), (1, None, Some(0)));
        // The ball is a hand's and its own radius before the wrist, which is 0.42 m before the chest: at 11.4 m/s.
        assert!(at.z > GUARD.z && at.z < GUARD.z + 0.3, "{at}");
        let expected = 1.05 - at.z / (12.0 / 1.05);
        assert!((time - expected).abs() < 1.0 / 240.0, "{time} but {expected}");
    }

    /// Above the hand by 20 cm: the guard is moved about as far as it has to be.
    #[test]
    fn a_guard_beside_the_way_is_moved_onto_it() {
        let target = Vec3::new(GUARD.x, GUARD.y + 0.2, 0.0);
        let found = guard(target + Vec3::Z * 12.0, target, 1.05).unwrap();
        let (wrist, way) = found.bend.unwrap().hand.unwrap();
        assert_eq!(wrist, Role::LeftWrist);
        assert!((way.y - 0.2).abs() < 0.03 && way.length() < HAND, "{way}");
        assert!(found.block.time < 1.05);
    }

    #[test]
    fn what_the_arm_cannot_reach_is_not_blocked() {
        assert_eq!(guard(Vec3::new(0.1, 0.2, 12.0), Vec3::new(0.1, 0.2, 0.0), 1.05), None, "shins");
        assert_eq!(guard(Vec3::new(0.0, 1.2, -12.0), Vec3::new(0.0, 1.2, 0.0), 1.05), None, "from behind");
    }
}
