//! Fighters at close quarters: arms that would be inside the other give way, and trunks are pushed apart (Shum, Komura and Yamazaki 2007, § 6, without their particles).
//! What gives way does so like a spring that does not swing, and comes back when there is room.

use std::sync::Arc;

use kumite_motion::{Pose, Role, Skeleton, Vec2, Vec3, fk, ik};

use crate::Character;
use crate::character::TICK;
use crate::world::{CharacterId, World};

/// How far an arm is out of its way, how fast it goes, and how much farther it should be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Give {
    offset: Vec3,
    speed: Vec3,
    wanted: Option<Vec3>,
}

/// Farthest that an arm gives way in a tick, metres; how quickly it comes back, per second, and how fast at most, metres per second.
const QUICK: f32 = 0.03;
const RETURNS: f32 = 9.0;
const SLOW: f32 = 1.0;
/// Farthest that an arm gives way, metres.
const MOST: f32 = 0.2;
/// An arm so deep in a trunk pushes both apart, metres.
const DEEP: f32 = 0.04;
/// Nearest that a hand comes to its shoulder, metres.
const NEAREST: f32 = 0.2;
/// Spheres cover bodies, and are so much thicker than arms are.
const THICK: f32 = 1.2;
/// Bodies may press on each other by so much, metres.
const PRESS: f32 = 0.01;
/// Fastest that trunks are pushed apart, metres in a tick.
const PUSHED: f32 = 0.01;

/// Arms: wrist and elbow.
const ARMS: [(Role, Role); 2] = [(Role::LeftWrist, Role::LeftElbow), (Role::RightWrist, Role::RightElbow)];

fn is_arm(part: Role) -> bool {
    ARMS.iter().any(|(wrist, elbow)| part == *wrist || part == *elbow)
}

fn is_trunk(part: Role) -> bool {
    matches!(part, Role::Head | Role::Neck | Role::Back | Role::Waist | Role::Pelvis | Role::LeftHip | Role::RightHip)
}

impl Character {
    /// Whether an arm is out of its way.
    pub(crate) fn gives_way(&self) -> bool {
        self.gives.iter().any(|give| give.offset != Vec3::ZERO)
    }

    /// Arms that give way, a tick further.
    pub(crate) fn give_way(&mut self, skeleton: &Arc<Skeleton>, pose: &mut Pose) {
        for (k, (wrist, _)) in ARMS.into_iter().enumerate() {
            let give = &mut self.gives[k];
            if let Some(more) = give.wanted.take() {
                // At once, as far as an arm is quick: what jumps is made steady.
                let before = give.offset;
                give.offset = (before + more.clamp_length_max(QUICK)).clamp_length_max(MOST);
                give.speed = (give.offset - before) / TICK;
            } else {
                let pull = -give.offset * (RETURNS * RETURNS) - give.speed * (2.0 * RETURNS);
                give.speed = (give.speed + pull * TICK).clamp_length_max(SLOW);
                give.offset += give.speed * TICK;
            }
            if give.offset.length_squared() < 1e-8 && give.speed.length_squared() < 1e-6 {
                *give = Give::default();
                continue;
            }
            let offset = give.offset;
            let Some(arm) = ik::Chain::of_canonical(wrist) else { continue };
            fk::pose(skeleton, pose, &mut self.world);
            let end = self.world.position(wrist.joint());
            // Not into the shoulder that it hangs on.
            let top = self.world.position(arm.top);
            let along = (end - top).normalize_or(Vec3::Z);
            let most = ((end - top).length() - NEAREST).max(0.0);
            let back = offset.dot(along).min(0.0);
            arm.reach(skeleton, end + offset + along * (-back - most).max(0.0), pose, &mut self.world);
        }
    }
}

/// Where somebody's spheres are.
fn placed(character: &Character) -> Vec<(Role, Vec3, f32)> {
    let spheres = character.library().spheres().iter();
    spheres.map(|s| (s.part, character.world().point(s.joint, s.offset), s.radius)).collect()
}

/// The deepest of some spheres of one in some of another.
struct Inside {
    depth: f32,
    /// Which way is out.
    way: Vec3,
    /// What is in what.
    own: Role,
    part: Role,
}

fn deepest(
    one: &[(Role, Vec3, f32)],
    other: &[(Role, Vec3, f32)],
    pick: impl Fn(Role) -> bool,
    of: impl Fn(Role) -> bool,
) -> Option<Inside> {
    let mut found: Option<Inside> = None;
    for (role, p, r) in one.iter().filter(|s| pick(s.0)) {
        for (part, q, s) in other.iter().filter(|s| of(s.0)) {
            let (way, both) = (*p - *q, if is_trunk(*role) { r + s } else { (r + s) / THICK } - PRESS);
            if way.length_squared() < both * both {
                let depth = both - way.length();
                if found.as_ref().is_none_or(|f| depth > f.depth) {
                    found = Some(Inside { depth, way: way.normalize_or(Vec3::X), own: *role, part: *part });
                }
            }
        }
    }
    found
}

/// Bodies of opponents do not stand in each other.
pub(crate) fn crowd(world: &mut World) {
    let pairs: Vec<(CharacterId, CharacterId)> =
        world.characters.iter().filter_map(|(id, m)| Some((id, m.spar.as_ref()?.opponent))).collect();
    let mut pushes: Vec<(CharacterId, Vec2, [Option<Vec3>; 2])> = Vec::new();
    for (who, other) in pairs {
        let (Some(a), Some(b)) = (world.characters.get(who), world.characters.get(other)) else { continue };
        let away = a.character.pose().root() - b.character.pose().root();
        if away.length() > 2.2 {
            continue;
        }
        let (own, theirs) = (placed(&a.character), placed(&b.character));
        let (mut arms, mut push) = ([None; 2], Vec2::ZERO);
        for (slot, (wrist, elbow)) in arms.iter_mut().zip(ARMS) {
            // A limb that has struck is stopped by what it met.
            if a.character.stop.is_some_and(|stop| stop.part == wrist && stop.fresh()) {
                continue;
            }
            let arm = |part: Role| part == wrist || part == elbow;
            // A limb that strikes goes its way, and what is in that way meets it.
            if a.spar.as_ref().is_some_and(|spar| spar.strikes_with(wrist)) {
                continue;
            }
            let strikes = |part: Role| {
                let own = ARMS.iter().find(|(wrist, elbow)| part == *wrist || part == *elbow);
                own.is_some_and(|(wrist, _)| b.spar.as_ref().is_some_and(|spar| spar.strikes_with(*wrist)))
            };
            if let Some(Inside { depth, way, own, part }) = deepest(&own, &theirs, arm, |part| !strikes(part)) {
                // A forearm moves less than its hand does.
                let share = if is_arm(part) { 0.5 } else { 1.0 } * if own == elbow { 1.6 } else { 1.0 };
                *slot = Some(way * depth * share);
                // An arm that is deep in a trunk has no room: the bodies make it.
                if is_trunk(part) && depth > DEEP {
                    let flat = Vec2::new(away.x, away.z).normalize_or(Vec2::X);
                    push = flat * PUSHED * 0.5;
                }
            }
        }
        if let Some(Inside { depth, way, .. }) = deepest(&own, &theirs, is_trunk, is_trunk) {
            let flat = Vec2::new(way.x, way.z).normalize_or(Vec2::new(away.x, away.z).normalize_or(Vec2::X));
            push = flat * (0.5 * depth).min(PUSHED);
        }
        pushes.push((who, push, arms));
    }
    for (who, push, arms) in pushes {
        let member = &mut world.characters[who];
        for (give, wanted) in member.character.gives.iter_mut().zip(arms) {
            give.wanted = wanted;
        }
        if push != Vec2::ZERO {
            member.character.push(push);
            if let Some(spar) = member.spar.as_mut() {
                spar.fighter.place.shift += push;
            }
        }
    }
}
