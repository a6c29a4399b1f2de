//! Fitting a bend to an attack: the smallest that turns a hit into a miss.

use kumite_motion::{Role, Vec3};

use super::clearance::{ASTRAY, NearStep, WhileBent};
use super::{DodgePlanner, DodgeScratch};
use crate::bend::{ARM as REACHED, ASIDE, Bend, DOWN, HAND, LEAN, arm_share, moves};
use crate::threat::{STEP, Threat};

/// Least time for a full bend, seconds; with less warning the bend is smaller.
const QUICKEST: f32 = 0.32;
/// A bent body clears the attack by at least this, metres: joins and feet on the stage differ from the plan by less.
pub(super) const CLEAN: f32 = 0.03;
/// And by so much more at the beginning of a join made on the run, metres: it is planned on centres, and played on rotations.
const JOINING: f32 = 0.04;
/// Bending brings nothing near that is farther than this from the unbent body, metres.
const REACH: f32 = 0.6;
/// Above this size a block is preferred, if there is one.
pub(super) const LARGE: f32 = 0.5;
/// The first size that is tried; then twice as large ones. And how often the first that helps is halved.
pub(super) const SMALLEST: f32 = 0.0625;
const HALVINGS: usize = 3;
/// A bend of this size moves nothing by more than a few millimetres.
const UNSEEN: f32 = 0.005;
/// No bend of full size moves a part farther, metres.
const MOST: f32 = 1.6;
/// Share of a shift by which hips give way to a lean.
const COUNTER: f32 = 0.4;

/// Rise, fall, and the largest size the time allows.
type Timing = ((f32, f32), (f32, f32), f32);

/// When a bend must have risen and may fall, for the attack found by the last clearance test; `None` if there is no time.
fn timing(scratch: &DodgeScratch) -> Option<Timing> {
    let met = scratch.met;
    let ready = met.from - 0.02;
    (met.from.is_finite() && ready > 0.10)
        .then(|| (((ready - 0.5).max(0.0), ready), (met.to + 0.04, met.to + 0.6), (ready / QUICKEST).min(1.0)))
}

/// How far the attack should stay from the laid-out path, metres.
pub(super) fn clean(attack: f32, scratch: &DodgeScratch) -> f32 {
    let shown = scratch.legs.iter().rev().find(|leg| leg.begins <= scratch.warp.at(attack).0);
    let Some(leg) = shown.filter(|leg| leg.joins_by_itself()) else { return CLEAN };
    let joined = (attack - scratch.warp.when(leg.begins)) / leg.blend.max(1e-3);
    CLEAN + JOINING * (1.0 - joined).clamp(0.0, 1.0)
}

/// The smallest bend below a size, over a few directions, that makes the laid-out path, which is hit, avoid the attack. `None` if none is enough.
/// `known` is how far the attack stays from it, metres, where that is known better than from centres.
pub(crate) fn rescue(
    planner: &DodgePlanner<'_>,
    threats: &[Threat],
    (below, known): (f32, f32),
    scratch: &mut DodgeScratch,
) -> Option<Bend> {
    scratch.bend = None;
    let rough = planner.clearance(threats, scratch);
    let (rise, fall, most) = timing(scratch)?;
    let most = most.min(below);
    let margin = clean(scratch.met.time, scratch) + (rough - known).clamp(0.0, ASTRAY);
    let [p, q] = scratch.met.way;
    let ahead = (q - p).normalize_or(Vec3::Z);
    let side = ahead.cross(Vec3::Y).normalize_or(Vec3::X);
    let back = Vec3::new(ahead.x, 0.0, ahead.z).normalize_or(Vec3::ZERO);
    let down = Vec3::NEG_Y;
    // Few steps are near enough to matter to a small bend.
    let near = |size: f32| REACH.min(margin + MOST * size);
    let mut steps = planner.near_steps(threats, near(most.min(2.0 * SMALLEST)), scratch);
    let first = &steps.first()?.clone();
    let met = first.nearest().1;
    if !moves(met) {
        return None;
    }
    let bodies = planner.while_bent(rise, fall, scratch);
    let fits = |bend: &Bend, body: &WhileBent| bend.fits(&body.place, body.time, &body.joints, &body.footing);
    let bent = |made: Made, size: f32, steps: &[NearStep]| {
        let bend = Bend { rise, fall, size, ..made.bend(size) };
        let clears = planner.clears(margin, steps, &bend) && bodies.iter().all(|body| fits(&bend, body));
        clears.then_some(bend)
    };
    let ways = [side, -side, down, side + down, down - side, side + 0.5 * back, 0.5 * back - side, back + down];
    let hands = [Role::LeftWrist, Role::RightWrist].map(|wrist| [side, -side, down, -down, back].map(|w| (wrist, w)));
    let mut made: Vec<(Made, f32)> = Vec::with_capacity(28);
    for way in ways {
        made.push((Made::Lean { way, hips: 1.0 }, 0.0));
        // Hips may give way to the other side, as whoever leans keeps the balance.
        if way != down {
            made.push((Made::Lean { way, hips: -COUNTER }, 0.0));
        }
    }
    made.extend([side, -side].map(|way| (Made::Hips(way), LARGE)));
    // What does not move the part that is met out of the way does not help.
    made.retain(|(made, _)| planner.moves_away(first, margin, &Bend { rise, fall, ..made.bend(most) }));
    // A hand or forearm in the attack's path may simply be drawn aside, if nothing smaller helps.
    let hands = hands.as_flattened().iter().filter(|(wrist, _)| arm_share(met, *wrist) > 0.0);
    made.extend(hands.map(|(wrist, way)| (Made::Hand(*wrist, *way), 0.3)));
    // The smallest first: what is too small is told by the nearest step alone.
    let (mut last, mut wide) = (0.0, false);
    for size in [SMALLEST, 2.0 * SMALLEST, 4.0 * SMALLEST, 8.0 * SMALLEST, 1.0] {
        let size = size.min(most);
        let mut best: Option<Bend> = None;
        made.retain(|(made, from)| {
            let bend = Bend { rise, fall, ..made.bend(size) };
            if size <= *from || !planner.moves_away(first, margin, &bend) {
                return true;
            }
            // What nobody can do is not done more of.
            if !fits(&bend, &bodies[bodies.len() / 2]) {
                return false;
            }
            // More steps are near enough to matter to a large bend.
            if !wide && last >= 2.0 * SMALLEST {
                wide = true;
                steps = planner.near_steps(threats, near(most), scratch);
            }
            let limit = best.map_or(size, |b| 0.97 * b.size);
            if let Some(mut found) = bent(*made, limit, &steps) {
                // Clearance need not grow with size, so the result is clean but not always the least.
                let mut below = last;
                for _ in 0..HALVINGS {
                    let middle = 0.5 * (below + found.size);
                    match bent(*made, middle, &steps) {
                        Some(bend) => found = bend,
                        None => below = middle,
                    }
                }
                best = Some(found);
            }
            true
        });
        if best.is_some() || size >= most {
            // What nobody would see is not bent.
            return best.filter(|bend| bend.size > UNSEEN);
        }
        last = size;
    }
    None
}

/// How far before the face a raised hand is, how far below the eyes, and how far it is raised at most, metres.
const BEFORE_FACE: f32 = 0.28;
const BELOW_EYES: f32 = 0.10;
const RAISED: f32 = 0.45;
/// What comes lower than this below the head is not met by a hand before the face, metres.
const LOW: f32 = 0.75;
/// How much of an attack's rise or fall the head follows: people turn their eyes for that.
const NOD: f32 = 0.3;
/// Nobody turns the head farther than this to look, cosine: what comes from behind is not looked at.
const SEEN: f32 = -0.35;

/// What a person does beside bending what is played, or walking slower: the eyes turn to the attack, and the hand on that side comes up if that keeps it out
/// of the way.
pub(crate) fn heed(
    planner: &DodgePlanner<'_>,
    threats: &[Threat],
    bend: Option<Bend>,
    attack: f32,
    scratch: &mut DodgeScratch,
) -> Option<Bend> {
    let sphere = threats.iter().flat_map(|t| &t.spheres).next()?;
    let at = ((attack - sphere.start) / STEP).max(1.0) as usize;
    let at = at.min(sphere.places.len().checked_sub(2)?);
    let (p, way) = (sphere.places[at], sphere.places[at] - sphere.places[at + 1]);
    let eyes = Vec3::new(way.x, NOD * way.y, way.z).normalize_or(Vec3::ZERO);
    let looking = bend.unwrap_or(Bend {
        rise: ((attack - 0.55).max(0.0), (attack - 0.1).max(0.1)),
        fall: (attack + 0.05, attack + 0.6),
        ..Bend::default()
    });
    let bodies = planner.while_bent(looking.rise, looking.fall, scratch);
    let body = &bodies[2];
    let joint = |role: Role| body.joints[role.joint().at()];
    let left = body.place.rotate(joint(Role::LeftShoulder) - joint(Role::RightShoulder)).normalize_or(Vec3::X);
    let front = left.cross(Vec3::Y);
    if eyes == Vec3::ZERO || front.dot(eyes) < SEEN {
        return bend;
    }
    let looking = Bend { eyes, ..looking };
    let bent = looking.at(&body.place, body.time, &body.joints);
    let place = |role: Role| body.place.point(bent.point(role, joint(role)));
    let wrist = if left.dot(eyes) > 0.0 { Role::LeftWrist } else { Role::RightWrist };
    let raised = wrist.parent().zip(wrist.parent().and_then(Role::parent)).and_then(|(elbow, shoulder)| {
        let [top, hinge, end, head] = [shoulder, elbow, wrist, Role::Head].map(place);
        let arm = (hinge - top).length() + (end - hinge).length();
        let wanted = head + eyes * BEFORE_FACE - Vec3::Y * BELOW_EYES;
        let way = (wanted - end).clamp_length_max(RAISED);
        let reaches = (REACHED.0 * arm..REACHED.1 * arm).contains(&(end + way - top).length());
        (looking.hand.is_none() && reaches && p.y > head.y - LOW).then_some(way)
    });
    if let Some(way) = raised {
        let with_hand = Bend { hand: Some((wrist, way)), ..looking };
        if !bodies.iter().all(|body| with_hand.hand_fits(&body.place, body.time, &body.joints)) {
            return Some(looking);
        }
        scratch.bend = Some(with_hand);
        let clearance = planner.clearance(threats, scratch);
        scratch.bend = None;
        if clearance >= CLEAN {
            return Some(with_hand);
        }
    }
    Some(looking)
}

/// A way to bend, for any size.
#[derive(Clone, Copy)]
enum Made {
    /// The trunk leans along a way, the hips go with it by a share.
    Lean { way: Vec3, hips: f32 },
    /// Hips alone, the trunk upright.
    Hips(Vec3),
    /// A hand is drawn aside.
    Hand(Role, Vec3),
}

impl Made {
    fn bend(self, size: f32) -> Bend {
        let down = Vec3::NEG_Y;
        match self {
            Made::Lean { way, hips } => {
                let along = Vec3::new(way.x, 0.0, way.z);
                let sunk = (-way.y).clamp(0.0, 1.0);
                Bend {
                    lean: Vec3::Y.cross(along) * (LEAN * size),
                    shift: (along * (ASIDE * hips) + down * (DOWN * sunk)) * size,
                    ..Bend::default()
                }
            }
            Made::Hips(way) => Bend {
                lean: Vec3::Y.cross(way) * (-0.5 * LEAN * size),
                shift: (way * 1.15 + down * 0.2) * (ASIDE * size),
                ..Bend::default()
            },
            Made::Hand(wrist, way) => Bend { hand: Some((wrist, way * (HAND * size))), ..Bend::default() },
        }
    }
}
