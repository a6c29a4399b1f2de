//! Fighters at close quarters: bodies keep out of each other (Shum, Komura and Yamazaki 2007, § 6, without their particles). Every part of one is a capsule that is kept
//! out of every part of the other in the tick in which they would meet: arms turn in shoulder and elbow, heads and trunks bend, legs in the air turn in hip and knee,
//! and whole bodies are pushed over the floor. Parts that near each other slow down before they touch. What has given way comes back like a spring that does not swing.

use std::sync::Arc;

use kumite_motion::hinge::flexion;
use kumite_motion::rotation::{from_vector, to_vector};
use kumite_motion::{Contacts, JointIdx, Pose, Quat, Role, Skeleton, Vec2, Vec3, WorldPose, fk, humanoid};
use kumite_plan::spar::MoveKind;

use crate::character::TICK;
use crate::world::{CastMember, CharacterId, World};
use crate::{Character, Kit};

/// Joints that give way, and how far at most, radians.
const GIVING: [(Role, f32); 11] = [
    (Role::Waist, 0.15),
    (Role::Back, 0.25),
    (Role::Neck, 0.4),
    (Role::LeftShoulder, 1.3),
    (Role::RightShoulder, 1.3),
    (Role::LeftElbow, 1.0),
    (Role::RightElbow, 1.0),
    (Role::LeftHip, 0.6),
    (Role::RightHip, 0.6),
    (Role::LeftKnee, 0.8),
    (Role::RightKnee, 0.8),
];

/// What gives way how.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Trunk,
    Head,
    Upper,
    Lower,
    Hand,
    Thigh,
    Shin,
    Foot,
}

/// A part of a body: from one joint to another, its radius in metres, what it is, and on which side it hangs.
struct Part(Role, Role, f32, Kind, usize);

/// Radii are halves of mean breadths of men of 1.78 m; trunks by their depth.
const PARTS: [Part; 19] = [
    Part(Role::Pelvis, Role::Waist, 0.12, Kind::Trunk, 0),
    Part(Role::Waist, Role::Back, 0.12, Kind::Trunk, 0),
    Part(Role::Back, Role::Neck, 0.12, Kind::Trunk, 0),
    Part(Role::LeftHip, Role::RightHip, 0.1, Kind::Trunk, 0),
    Part(Role::LeftShoulder, Role::RightShoulder, 0.07, Kind::Trunk, 0),
    Part(Role::Neck, Role::Head, 0.06, Kind::Head, 0),
    Part(Role::Head, Role::Head, 0.1, Kind::Head, 0),
    Part(Role::LeftShoulder, Role::LeftElbow, 0.045, Kind::Upper, 0),
    Part(Role::RightShoulder, Role::RightElbow, 0.045, Kind::Upper, 1),
    Part(Role::LeftElbow, Role::LeftWrist, 0.037, Kind::Lower, 0),
    Part(Role::RightElbow, Role::RightWrist, 0.037, Kind::Lower, 1),
    Part(Role::LeftWrist, Role::LeftWrist, 0.04, Kind::Hand, 0),
    Part(Role::RightWrist, Role::RightWrist, 0.04, Kind::Hand, 1),
    Part(Role::LeftHip, Role::LeftKnee, 0.075, Kind::Thigh, 0),
    Part(Role::RightHip, Role::RightKnee, 0.075, Kind::Thigh, 1),
    Part(Role::LeftKnee, Role::LeftAnkle, 0.05, Kind::Shin, 0),
    Part(Role::RightKnee, Role::RightAnkle, 0.05, Kind::Shin, 1),
    Part(Role::LeftAnkle, Role::LeftToe, 0.04, Kind::Foot, 0),
    Part(Role::RightAnkle, Role::RightToe, 0.04, Kind::Foot, 1),
];
const COUNT: usize = PARTS.len();
/// From the joint of the head to its middle, and from a wrist to the knuckles, metres.
const HEAD: f32 = 0.1;
const HAND: f32 = 0.08;
/// Bodies are soft: they may press on each other by so much, metres.
const PRESS: f32 = 0.01;
/// Parts nearer than this slow down, metres: they may come nearer by this share of what is left in a tick.
const NEAR: f32 = 0.12;
const SLOWS: f32 = 0.33;
/// What is inside all the same comes out by so much in a tick, metres.
const OUT: f32 = 0.012;
/// How often the worst pair of a tick is mended at most, and what is left alone, metres.
const ROUNDS: usize = 24;
const LITTLE: f32 = 0.001;
/// Most pairs of parts that are near each other.
const PAIRS: usize = 128;
/// What has given way comes back so quickly, per second, and so fast at most, radians per second.
const RETURNS: f32 = 8.0;
const SLOW: f32 = 3.5;
/// Farthest that a joint turns in one mending, radians.
const STEP: f32 = 0.3;
/// Bodies are pushed apart by so much a second for each metre they are too deep, metres per second at most, and get there by so much in a second.
const PUSH: f32 = 18.0;
const PUSHED: f32 = 1.5;
const SPEEDS_UP: f32 = 25.0;
/// Trunks and legs begin to make room this far before they touch, metres.
const SLACK: f32 = 0.07;
/// A shin that strikes is so deep in what it meets before it is turned away, metres.
const SHIN: f32 = 0.015;
/// A limb that strikes and knocks something aside faster than this is felt, metres per second.
const KNOCK: f32 = 0.6;

/// How far joints are out of their way, where they were when the tick began, how fast they go; and the push over the floor, metres per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Apart {
    off: [Vec3; GIVING.len()],
    from: [Vec3; GIVING.len()],
    speed: [Vec3; GIVING.len()],
    push: Vec2,
}

impl Character {
    /// What gave way comes back, a tick further.
    pub(crate) fn give_way(&mut self, pose: &mut Pose) {
        let Some(apart) = &mut self.gives else { return };
        for (k, (role, _)) in GIVING.iter().enumerate() {
            apart.from[k] = apart.off[k];
            if apart.off[k] == Vec3::ZERO && apart.speed[k] == Vec3::ZERO {
                continue;
            }
            let pull = -apart.off[k] * (RETURNS * RETURNS) - apart.speed[k] * (2.0 * RETURNS);
            apart.speed[k] = (apart.speed[k] + pull * TICK).clamp_length_max(SLOW);
            apart.off[k] += apart.speed[k] * TICK;
            if apart.off[k].length_squared() < 1e-8 && apart.speed[k].length_squared() < 1e-6 {
                (apart.off[k], apart.speed[k]) = (Vec3::ZERO, Vec3::ZERO);
            }
            let turn = &mut pose.rotations[role.joint().at()];
            *turn = (*turn * from_vector(apart.off[k])).normalize();
        }
    }
}

impl Character {
    /// How far a joint has given way.
    pub(crate) fn given(&self, joint: JointIdx) -> Quat {
        let at = GIVING.iter().position(|(role, _)| role.joint() == joint);
        self.gives.as_ref().zip(at).map_or(Quat::IDENTITY, |(apart, k)| from_vector(apart.off[k]))
    }
}

type Capsules = [[Vec3; 2]; COUNT];

fn capsules(world: &WorldPose) -> Capsules {
    let at = |role: Role| world.position(role.joint());
    std::array::from_fn(|k| {
        let Part(from, to, _, kind, _) = PARTS[k];
        match kind {
            Kind::Head if from == to => [at(from), world.rotation(from.joint()) * (Vec3::Y * HEAD) + at(from)],
            Kind::Hand => {
                let elbow = from.parent().map_or(at(from), at);
                [at(from), at(from) + (at(from) - elbow).normalize_or(Vec3::Z) * HAND]
            }
            _ => [at(from), at(to)],
        }
    })
}

/// Nearest points of two segments (Ericson 2005, § 5.1.9).
fn nearest([p, q]: [Vec3; 2], [r, s]: [Vec3; 2]) -> (Vec3, Vec3) {
    let (u, v, w) = (q - p, s - r, p - r);
    let (uu, vv, uv) = (u.length_squared().max(1e-12), v.length_squared().max(1e-12), u.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    let whole = uu * vv - uv * uv;
    let along = if whole > 1e-9 { ((uv * vw - uw * vv) / whole).clamp(0.0, 1.0) } else { 0.5 };
    let other = ((uv * along + vw) / vv).clamp(0.0, 1.0);
    let along = ((uv * other - uw) / uu).clamp(0.0, 1.0);
    (p + u * along, r + v * other)
}

/// Distance of two parts less what they may press on each other, metres: below 0 they are inside.
fn distance(one: &Capsules, i: usize, other: &Capsules, j: usize) -> f32 {
    let (p, q) = nearest(one[i], other[j]);
    (p - q).length() - PARTS[i].2 - PARTS[j].2 + PRESS
}

/// One of two while they are parted.
struct Side {
    id: CharacterId,
    skeleton: Arc<Skeleton>,
    pose: Pose,
    world: WorldPose,
    apart: Box<Apart>,
    /// Which legs stand.
    stands: [bool; 2],
    /// The limb that strikes, and whether its blow may meet something now.
    strikes: Option<(Role, bool)>,
    lies: bool,
}

impl Side {
    fn of(id: CharacterId, member: &mut CastMember, lies: bool, strikes: Option<(Role, bool)>) -> Side {
        let character = &mut member.character;
        let contacts = character.contacts();
        let feet = [(Contacts::LEFT_HEEL, Contacts::LEFT_TOE), (Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE)];
        Side {
            id,
            skeleton: Arc::clone(character.library().skeleton()),
            world: std::mem::take(&mut character.world),
            apart: character.gives.take().unwrap_or_default(),
            pose: character.take_pose(),
            stands: feet.map(|(heel, toe)| contacts.any(heel) || contacts.any(toe)),
            strikes,
            lies,
        }
    }

    /// Puts it back.
    fn leave(mut self, member: &mut CastMember) {
        let apart = &mut self.apart;
        for k in 0..GIVING.len() {
            apart.speed[k] = ((apart.off[k] - apart.from[k]) / TICK).clamp_length_max(SLOW);
        }
        let character = &mut member.character;
        if apart.push != Vec2::ZERO {
            character.push(apart.push * TICK);
            if let Some(spar) = member.spar.as_mut() {
                spar.fighter.place.shift += apart.push * TICK;
            }
        }
        character.world = self.world;
        character.gives = Some(self.apart);
        character.give_pose(self.pose);
    }

    /// Whether a part belongs to the limb that strikes.
    fn striking(&self, k: usize) -> bool {
        let Part(from, _, _, kind, side) = PARTS[k];
        let Some((end, _)) = self.strikes else { return false };
        let limb = match kind {
            Kind::Upper | Kind::Lower | Kind::Hand => [Role::LeftWrist, Role::RightWrist][side],
            Kind::Thigh | Kind::Shin | Kind::Foot => [Role::LeftAnkle, Role::RightAnkle][side],
            _ => return false,
        };
        end == limb || end == from
    }

    /// Whether what a part meets is the blow's own business.
    fn free(&self, k: usize) -> bool {
        let end = matches!(PARTS[k].3, Kind::Hand | Kind::Foot);
        // Elbows and knees strike with what is around them.
        let bare = self.strikes.is_some_and(|(end, _)| Some(end) == PARTS[k].0.parent() || end == PARTS[k].0);
        self.strikes.is_some_and(|s| s.1) && self.striking(k) && (end || bare)
    }

    /// How readily a part gives way beside others.
    fn ease(&self, k: usize, beside: usize) -> f32 {
        let Part(.., kind, side) = PARTS[k];
        if self.lies {
            return 0.0;
        }
        // A limb that strikes knocks arms aside; heads and trunks turn it away.
        if self.striking(k) && matches!(PARTS[beside].3, Kind::Upper | Kind::Lower | Kind::Hand) {
            return 0.03;
        }
        match kind {
            Kind::Hand | Kind::Lower => 1.0,
            Kind::Upper => 0.7,
            Kind::Head => 0.3,
            Kind::Trunk => 0.06,
            Kind::Thigh | Kind::Shin | Kind::Foot if self.stands[side] => 0.0,
            Kind::Thigh | Kind::Shin | Kind::Foot => 0.5,
        }
    }

    /// Moves a place on a part along `way` by turning what it hangs on: the smallest turns that do it.
    fn give(&mut self, k: usize, at: Vec3, way: Vec3, far: f32) {
        let Part(.., kind, side) = PARTS[k];
        // Positions among those that give way, and how readily they do.
        let joints: [(usize, f32); 3] = match kind {
            Kind::Trunk => [(0, 1.0), (1, 1.0), (1, 0.0)],
            Kind::Head => [(0, 0.2), (1, 0.5), (2, 1.0)],
            Kind::Upper => [(3 + side, 1.0), (1, 0.04), (1, 0.0)],
            Kind::Lower | Kind::Hand => [(3 + side, 1.0), (5 + side, 1.0), (1, 0.02)],
            Kind::Thigh => [(7 + side, 1.0), (7 + side, 0.0), (7 + side, 0.0)],
            Kind::Shin | Kind::Foot => [(7 + side, 1.0), (9 + side, 1.0), (7 + side, 0.0)],
        };
        let mut rows = [Vec3::ZERO; 3];
        let mut sum = 0.0;
        for (row, (joint, weight)) in rows.iter_mut().zip(joints) {
            let role = GIVING[joint].0;
            let own = (at - self.world.position(role.joint())).cross(way);
            *row = match humanoid::hinge_axis(role) {
                Some(axis) => {
                    let axis = self.world.rotation(role.joint()) * axis;
                    axis * axis.dot(own)
                }
                None => own,
            };
            sum += weight * row.length_squared();
        }
        // What stands in line with its joint cannot be turned away: a little of nothing.
        let scale = far / (sum + 0.004);
        for (row, (joint, weight)) in rows.into_iter().zip(joints) {
            if weight == 0.0 {
                continue;
            }
            let (role, most) = GIVING[joint];
            let at = role.joint();
            let turn = (row * (weight * scale)).clamp_length_max(STEP);
            let mut more = self.world.rotation(at).conjugate() * turn;
            if let Some(axis) = humanoid::hinge_axis(role) {
                // Neither past straight nor past folded.
                let (now, by) = (flexion(&self.pose, role), more.dot(axis));
                more = axis * by.clamp((0.02 - now).min(0.0), (2.5 - now).max(0.0));
            }
            let off = &mut self.apart.off[joint];
            let whole = to_vector(from_vector(*off) * from_vector(more)).clamp_length_max(most);
            let local = &mut self.pose.rotations[at.at()];
            *local = (*local * from_vector(*off).conjugate() * from_vector(whole)).normalize();
            *off = whole;
        }
        fk::pose(&self.skeleton, &self.pose, &mut self.world);
    }

    /// Goes apart over the floor as fast as is wanted, by and by.
    fn push(&mut self, wanted: Vec2) {
        let wanted = if self.lies { Vec2::ZERO } else { wanted.clamp_length_max(PUSHED) };
        let change = (wanted - self.apart.push).clamp_length_max(SPEEDS_UP * TICK);
        self.apart.push += change;
        if wanted == Vec2::ZERO && self.apart.push.length_squared() < 1e-8 {
            self.apart.push = Vec2::ZERO;
        }
    }
}

/// Two parts that are near each other, and how near they may be.
#[derive(Clone, Copy, Default)]
struct Pair {
    parts: [u8; 2],
    least: f32,
    before: f32,
}

/// Bodies of opponents do not stand in each other.
pub(crate) fn crowd(kits: &[Arc<Kit>], world: &mut World) {
    let mut done: [Option<[CharacterId; 2]>; 8] = [None; 8];
    for k in 0..done.len() {
        let next = world.characters.iter().find_map(|(id, member)| {
            let other = member.spar.as_ref()?.opponent;
            let rival = world.characters.get(other)?;
            // In the order of names, so that who came first does not matter.
            let pair = if member.name <= rival.name { [id, other] } else { [other, id] };
            (!done.contains(&Some(pair))).then_some(pair)
        });
        let Some(pair) = next else { return };
        done[k] = Some(pair);
        part(kits, world, pair);
    }
}

/// What somebody strikes with, and whether its blow may meet something now; whether it lies.
fn doing(kits: &[Arc<Kit>], member: &CastMember, tick: u64) -> (Option<(Role, bool)>, bool) {
    let (Some(kit), Some(spar)) = (kits.get(member.kit), member.spar.as_ref()) else { return (None, false) };
    let made = kit.spar().moves.get(spar.fighter.doing);
    let lies = matches!(made.kind, MoveKind::Down | MoveKind::Up);
    let strikes = made.blows.get(spar.fighter.blow as usize).map(|blow| {
        let tempo = match &member.wish {
            crate::world::Wish::Spar(wish) => wish.style.tempo,
            _ => 1.0,
        };
        (blow.part, spar.may_meet(blow, tempo, tick))
    });
    (strikes, lies)
}

fn part(kits: &[Arc<Kit>], world: &mut World, ids: [CharacterId; 2]) {
    let tick = world.tick;
    let roots = ids.map(|id| world.characters[id].character.pose().root());
    let away = roots[0] - roots[1];
    let idle = |id: CharacterId| world.characters[id].character.gives.is_none();
    if away.length() > 2.4 && ids.into_iter().all(idle) {
        return;
    }
    let mut earlier = WorldPose::default();
    let before = ids.map(|id| {
        let character = &world.characters[id].character;
        fk::pose(character.library().skeleton(), &character.before, &mut earlier);
        capsules(&earlier)
    });
    let mut sides = ids.map(|id| {
        let member = &mut world.characters[id];
        let (strikes, lies) = doing(kits, member, tick);
        Side::of(id, member, lies, strikes)
    });
    let mut bodies = [capsules(&sides[0].world), capsules(&sides[1].world)];
    let mut pairs = [Pair::default(); PAIRS];
    let mut count = 0;
    for i in 0..COUNT {
        for j in 0..COUNT {
            let now = distance(&bodies[0], i, &bodies[1], j);
            if now > 0.3 || sides[0].free(i) || sides[1].free(j) || count == PAIRS {
                continue;
            }
            let was = distance(&before[0], i, &before[1], j);
            let blow = sides[0].striking(i) || sides[1].striking(j);
            // A shin strikes with its lower half, which is met before its middle is inside.
            let shin = |k: usize, side: &Side| PARTS[k].3 == Kind::Shin && side.striking(k);
            let least = if shin(i, &sides[0]) || shin(j, &sides[1]) {
                -SHIN
            } else if was < 0.0 {
                (was + OUT).min(0.0)
            } else if was < NEAR && !blow {
                was * (1.0 - SLOWS)
            } else {
                0.0
            };
            pairs[count] = Pair { parts: [i as u8, j as u8], least, before: was };
            count += 1;
        }
    }
    let mut knocked = false;
    for round in 0..ROUNDS {
        let mut worst: Option<(f32, Pair)> = None;
        for pair in &pairs[..count] {
            let [i, j] = pair.parts.map(usize::from);
            let short = pair.least - distance(&bodies[0], i, &bodies[1], j);
            let moves = sides[0].ease(i, j) + sides[1].ease(j, i) > 0.0;
            if short > LITTLE && moves && worst.is_none_or(|w| short > w.0) {
                worst = Some((short, *pair));
            }
        }
        let Some((short, pair)) = worst else { break };
        let [i, j] = pair.parts.map(usize::from);
        let (p, q) = nearest(bodies[0][i], bodies[1][j]);
        let way = (p - q).normalize_or(away.normalize_or(Vec3::X));
        let mut ease = [sides[0].ease(i, j), sides[1].ease(j, i)];
        if round >= ROUNDS / 2 {
            // One of the two can give no more: the other has to.
            ease = ease.map(|e| if e > 0.0 { 1.0 } else { 0.0 });
        }
        let whole = ease[0] + ease[1];
        knocked |= (sides[0].striking(i) || sides[1].striking(j)) && short > KNOCK * TICK && pair.before > 0.0;
        for (k, (part, at, way)) in [(i, p, way), (j, q, -way)].into_iter().enumerate() {
            if ease[k] > 0.0 {
                sides[k].give(part, at, way, short * ease[k] / whole);
                bodies[k] = capsules(&sides[k].world);
            }
        }
    }
    // What is still inside, and trunks, heads and legs that press on each other, are made room for by the feet.
    let mut room = Vec2::ZERO;
    for pair in &pairs[..count] {
        let [i, j] = pair.parts.map(usize::from);
        let heavy = |k: usize| !matches!(PARTS[k].3, Kind::Upper | Kind::Lower | Kind::Hand);
        // Trunks begin a little before they touch.
        let (own, slack) = if heavy(i) && heavy(j) { (1.0, SLACK) } else { (0.5, -0.01) };
        let short = slack - distance(&bodies[0], i, &bodies[1], j);
        if short > 0.0 {
            let (p, q) = nearest(bodies[0][i], bodies[1][j]);
            let flat = Vec2::new((p - q).x, (p - q).z);
            let apart = Vec2::new(away.x, away.z).normalize_or(Vec2::X);
            // Never towards each other.
            let way = (flat.normalize_or(apart) + apart).normalize_or(apart);
            let more = way * (short * PUSH * own);
            room = if more.length_squared() > room.length_squared() { more } else { room };
        }
    }
    let share = if sides[0].lies != sides[1].lies { 1.0 } else { 0.5 };
    for (side, way) in sides.iter_mut().zip([room, -room]) {
        side.push(way * share);
    }
    for side in sides {
        let member = &mut world.characters[side.id];
        side.leave(member);
        if knocked {
            member.character.jolt();
        }
    }
}
