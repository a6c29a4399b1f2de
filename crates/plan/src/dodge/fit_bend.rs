//! Fitting a bend to an attack: the smallest that turns a hit into a miss, or one that makes a wide avoidance smaller.

use kumite_motion::{Role, Vec3};

use super::{DodgePlanner, DodgeScratch};
use crate::bend::{ASIDE, Bend, DOWN, HAND, LEAN};
use crate::threat::{STEP, Threat};

/// Least time for a full bend, seconds; with less warning the bend is smaller.
const QUICKEST: f32 = 0.32;
/// A bent body clears the attack by at least this, metres: joins and feet on the stage differ from the plan by less.
pub(super) const CLEAN: f32 = 0.03;
/// Bending brings nothing near that is farther than this from the unbent body, metres.
const REACH: f32 = 0.6;
/// Above this size a block is preferred, if there is one.
pub(super) const LARGE: f32 = 0.5;
/// An avoidance that clears by more than this is made smaller, down to half of it, metres.
pub(super) const WIDE: f32 = 0.14;

/// Rise, fall, and the largest size the time allows.
type Timing = ((f32, f32), (f32, f32), f32);

/// When a bend must have risen and may fall, for the attack found by the last clearance test; `None` if there is no time.
fn timing(scratch: &DodgeScratch) -> Option<Timing> {
    let met = scratch.met;
    let ready = met.from - 0.02;
    (met.from.is_finite() && ready > 0.10)
        .then(|| (((ready - 0.5).max(0.0), ready), (met.to + 0.04, met.to + 0.6), (ready / QUICKEST).min(1.0)))
}

/// The smallest bend, over a few directions, that makes the laid-out path, which is hit, avoid the attack. `None` if none is enough.
pub(crate) fn rescue(planner: &DodgePlanner<'_>, threats: &[Threat], scratch: &mut DodgeScratch) -> Option<Bend> {
    scratch.bend = None;
    planner.clearance(threats, scratch);
    let (rise, fall, most) = timing(scratch)?;
    let [p, q] = scratch.met.way;
    let ahead = (q - p).normalize_or(Vec3::Z);
    let side = ahead.cross(Vec3::Y).normalize_or(Vec3::X);
    let back = Vec3::new(ahead.x, 0.0, ahead.z).normalize_or(Vec3::ZERO);
    let down = Vec3::NEG_Y;
    let steps = planner.near_steps(threats, REACH, scratch);
    let bends = planner.while_bent(rise, fall, scratch);
    let mut rows = [planner.bodies.row(), planner.bodies.row()];
    let mut best: Option<Bend> = None;
    let mut attempt = |best: &mut Option<Bend>, made: &dyn Fn(f32) -> Bend| {
        let limit = best.as_ref().map_or(most, |b| (0.97 * b.size).min(most));
        let mut clean = |share: f32| {
            let bend = made(share);
            bends.iter().all(|(time, place, row)| bend.fits(planner.bodies, place, *time, row))
                && planner.clears(CLEAN, &steps, &bend, &mut rows)
        };
        if !clean(limit) {
            return;
        }
        // Halving between 0 and the limit. Clearance need not grow with size, so the result is clean but not always the least.
        let (mut below, mut found) = (0.0, limit);
        for _ in 0..4 {
            let middle = 0.5 * (below + found);
            if clean(middle) {
                found = middle;
            } else {
                below = middle;
            }
        }
        *best = Some(Bend { size: found, ..made(found) });
    };
    for way in [side, -side, down, side + down, down - side, side + 0.5 * back, 0.5 * back - side, back + down] {
        let along = Vec3::new(way.x, 0.0, way.z);
        let sunk = (-way.y).clamp(0.0, 1.0);
        attempt(&mut best, &|share| Bend {
            lean: Vec3::Y.cross(along) * (LEAN * share),
            shift: (along * ASIDE + down * (DOWN * sunk)) * share,
            rise,
            fall,
            ..Bend::default()
        });
    }
    // Hips alone, the trunk upright.
    if best.is_none_or(|b| b.size > LARGE) {
        for way in [side, -side] {
            attempt(&mut best, &|share| Bend {
                lean: Vec3::Y.cross(way) * (-0.5 * LEAN * share),
                shift: (way * 1.15 + down * 0.2) * (ASIDE * share),
                rise,
                fall,
                ..Bend::default()
            });
        }
    }
    // A hand or forearm in the attack's path may simply be drawn aside.
    if best.is_none_or(|b| b.size > 0.3) {
        for wrist in [Role::LeftWrist, Role::RightWrist] {
            for way in [side, -side, down, -down, back] {
                attempt(&mut best, &|share| Bend {
                    hand: Some((wrist, way * (HAND * share))),
                    rise,
                    fall,
                    ..Bend::default()
                });
            }
        }
    }
    best
}

/// Bends the laid-out path, which avoids by `clearance`: away from the attack if that is too close, towards it if it is wide.
pub(crate) fn tune(
    planner: &DodgePlanner<'_>,
    threats: &[Threat],
    clearance: f32,
    scratch: &mut DodgeScratch,
) -> Option<Bend> {
    if clearance < CLEAN {
        return rescue(planner, threats, scratch);
    }
    if clearance <= WIDE {
        return None;
    }
    scratch.bend = None;
    planner.clearance(threats, scratch);
    // The attack is nowhere near, so take its position when it arrives.
    let time = threats.iter().map(|t| t.arrives).fold(f32::INFINITY, f32::min);
    let sphere = threats.iter().flat_map(|t| &t.spheres).next()?;
    let step = (((time - sphere.start) / STEP).max(0.0) as usize).min(sphere.places.len().saturating_sub(2));
    let (p, q) = (*sphere.places.get(step)?, *sphere.places.get(step + 1)?);
    let ahead = (q - p).normalize_or(Vec3::Z);
    let leg = scratch.legs.iter().rev().find(|l| l.begins <= scratch.warp.at(time).0)?;
    let body = leg.place.point(planner.bodies.pelvis(leg.edge, leg.seconds(scratch.warp.at(time).0))) + Vec3::Y * 0.5;
    let gap = (p - body) - ahead * (p - body).dot(ahead);
    let along = Vec3::new(gap.x, 0.0, gap.z).normalize_or(Vec3::ZERO);
    let (rise, fall) = (((time - 0.6).max(0.0), (time - 0.1).max(0.05)), (time + 0.15, time + 0.7));
    let made = |share: f32| Bend {
        lean: Vec3::Y.cross(along) * (LEAN * share),
        shift: along * (ASIDE * share) + Vec3::Y * (gap.normalize_or(Vec3::ZERO).y.max(0.0) * 0.5 * DOWN * share),
        rise,
        fall,
        size: share,
        ..Bend::default()
    };
    let bends = planner.while_bent(rise, fall, scratch);
    let found = [0.5, 0.4, 0.3, 0.2, 0.1].into_iter().find(|&share| {
        scratch.bend = Some(made(share));
        bends.iter().all(|(time, place, row)| made(share).fits(planner.bodies, place, *time, row))
            && planner.clearance(threats, scratch) >= 0.5 * WIDE
    });
    scratch.bend = None;
    found.map(made)
}
