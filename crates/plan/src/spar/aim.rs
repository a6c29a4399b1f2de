//! Where blows and guards are led: an action is turned, hips go along and the limb is moved, each within limits, so that a blow meets what it is meant for.

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::rotation::wrap;
use kumite_motion::{Role, Vec2, Vec3};

use crate::spar::bout::{Bout, Fighter, TURN};
use crate::spar::moves::{Blow, Move, Region};
use crate::spar::shape::{Led, PATH, SOON};

/// How far from the middle of what it is meant for a blow passes, as a share of both radii: nobody strikes at the skin.
const DEEP: f32 = 0.45;
/// Blows that fall short of that by no more than this still touch, metres.
const REACHED: f32 = 0.03;
/// Farthest that a guarding hand is led, metres.
pub const MEETS: f32 = 0.26;
/// And in each tick that there is for it.
const QUICK: f32 = 0.02;
/// How far before what it is meant for a blow is met by a guard, in steps of its way.
const BEFORE: usize = 2;

/// Aim of a blow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// How far the action is turned beside its own way, radians.
    pub turn: f32,
    /// Limb and hips.
    pub led: Led,
    /// How far it falls short, metres.
    pub short: f32,
    /// When it should touch, ticks of the striker's move in the fight's time.
    pub hits: u32,
    /// Which way it goes then.
    pub way: Vec3,
}

impl Aim {
    /// Whether it reaches.
    pub fn reaches(&self) -> bool {
        self.short < REACHED
    }
}

impl Bout<'_> {
    /// Aims a blow of a move that a fighter has begun `passed` ticks ago at another as it is seen. Its action may be turned only when it begins.
    pub fn aim(&self, who: usize, f: &Fighter, blow: &Blow, passed: u32, enemy: usize, seen: &Fighter) -> Aim {
        let at = |j: usize| {
            let tick = (u32::from(seen.t) + self.step_at(who, blow, j)).saturating_sub(passed);
            (tick, self.motion(enemy, tick))
        };
        let region = Region::aimed(blow.height);
        let natural = f.place.point(blow.place);
        let end = at(SOON as usize);
        let mut best = (f32::INFINITY, 0, Vec3::ZERO);
        for k in self.moves.aims(region) {
            let centre = self.place_of(seen, *k as usize, end);
            let away = (centre - natural).length_squared();
            if away < best.0 {
                best = (away, *k as usize, centre);
            }
        }
        let (_, target, centre) = best;
        // The action is turned so that the blow goes towards it, as far as that may be.
        let turn = if passed > 0 {
            0.0
        } else {
            let to = Vec2::new(centre.x, centre.z) - f.place.shift;
            let goes = Vec2::new(natural.x, natural.z) - f.place.shift;
            let bearing = |v: Vec2| libm::atan2f(v.x, v.y);
            wrap(bearing(to) - bearing(goes)).clamp(-TURN, TURN)
        };
        let place = f.place.after(&PlanarMatrix::new(&Planar { turn, shift: Vec2::ZERO }));
        let last = blow.strikers.1.max(1) as usize - 1;
        let radius = self.moves.targets()[target].radius + self.moves.strikers(blow).get(last).copied().unwrap_or(0.05);
        // Where it comes nearest, its own join included.
        let mut off = [Vec3::ZERO; PATH];
        let mut nearest = (f32::INFINITY, 0);
        for (j, off) in off.iter_mut().enumerate() {
            let own = place.point(self.moves.path(blow, j)[last]) + self.lag_of(f, blow, self.step_at(who, blow, j));
            *off = self.place_of(seen, target, at(j)) - own;
            let away = off.length();
            if away < nearest.0 {
                nearest = (away, j);
            }
        }
        let (away, j) = nearest;
        let need = off[j] * (1.0 - (DEEP * radius / away.max(1e-6)).min(1.0));
        let along = place.rotate(blow.along);
        // What the limb is too short for the hips make up.
        let excess = (need.dot(along) - blow.spare).max(0.0);
        let flat = Vec3::new(along.x, 0.0, along.z).normalize_or(Vec3::ZERO);
        let shift = flat * excess.min(blow.stretch);
        let mut hand = need - shift;
        hand -= along * (hand.dot(along) - blow.spare).max(0.0);
        let time = self.step_at(who, blow, j).saturating_sub(passed) as f32;
        let reached = hand.length().min(blow.limit.min(QUICK * time));
        let offset = hand.normalize_or(Vec3::ZERO) * reached;
        let short = (need - shift - offset).length();
        let whole = self.step_at(who, blow, j).max(passed + 3);
        let limb = matches!(blow.part, Role::LeftWrist | Role::RightWrist | Role::LeftAnkle | Role::RightAnkle);
        let led = Led {
            part: Some(blow.part),
            offset: if limb { offset } else { Vec3::ZERO },
            shift,
            rise: (passed as u16, whole as u16),
        };
        // Knees and elbows are brought nearer with the hips only.
        let short = if limb { short } else { (need - shift).length() };
        let touches = |j: &usize| {
            let weight = led.weight(self.step_at(who, blow, *j) as f32);
            (off[*j] - (led.offset + shift) * weight).length() < radius
        };
        let first = (0..PATH).find(touches).unwrap_or(SOON as usize);
        let hits = self.step_at(who, blow, first).max(passed + 1);
        Aim { turn, led, short, hits, way: place.rotate(blow.way) }
    }

    /// Leads the guarding hand of a block onto the way of the blow that is seen coming.
    pub(crate) fn meet(&self, who: usize, f: &Fighter, made: &Move, enemy: usize, seen: &Fighter) -> Led {
        let none = Led::default();
        let Some(blow) = self.open_blow(seen) else { return none };
        let Some(wrist) = made.guard.filter(|role| matches!(role, Role::LeftWrist | Role::RightWrist)) else {
            return none;
        };
        let last = blow.strikers.1.max(1) as usize - 1;
        // The step at which it should touch, a little earlier: the guard is before the body.
        let first = (0..PATH).find(|j| self.step_at(enemy, blow, *j) >= u32::from(seen.hits)).unwrap_or(SOON as usize);
        let j = first.saturating_sub(BEFORE);
        let arrives = self.step_at(enemy, blow, j);
        let left = arrives.saturating_sub(u32::from(seen.t));
        let fist = seen.place.point(self.moves.path(blow, j)[last])
            + self.lag_of(seen, blow, arrives)
            + (seen.led.offset + seen.led.shift) * seen.led.weight(arrives as f32);
        let k = crate::spar::shape::ANCHORS.iter().position(|role| *role == wrist).unwrap_or(0);
        let hand = self.anchors(who, f, left)[k];
        let off = fist - hand;
        let offset = off.normalize_or(Vec3::ZERO) * off.length().min(MEETS.min(QUICK * left as f32));
        Led { part: Some(wrist), offset, shift: Vec3::ZERO, rise: (0, left.max(3) as u16) }
    }
}
