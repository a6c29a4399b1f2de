//! Fights on stage: what a fighter wants and where it stands in its fight, and blows against bodies as they are shown.

use std::sync::Arc;

use kumite_motion::{Role, Vec2, Vec3};
use kumite_plan::Bend;
use kumite_plan::spar::bout::{Pruned, STUN};
use kumite_plan::spar::contest::PLAYERS;
use kumite_plan::spar::moves::{GUARDS, MoveKind, RATE};
use kumite_plan::spar::{Bout, Corner, Fight, Fighter, Outcome, Style, TreeConfig, TreeCounts};

use crate::op::{BlowEvent, Event, EventKind};
use crate::stop::{LONGEST, Stop};
use crate::world::{CharacterId, World};
use crate::{Kit, contact};

/// Ticks of the stage in one tick of a fight.
pub const EACH: u64 = 2;

/// From the beginning of an action of the other to its being known, seconds. With 0.2 s hardly any blow can be met: 72 % of those in reach land, with
/// this 56 % (20 bouts at depth 4, seed 1).
pub const DELAY: f32 = 0.15;

/// How somebody wants to fight.
#[derive(Clone, Debug, PartialEq)]
pub struct SparWish {
    /// Against whom, by name.
    pub opponent: String,
    /// How.
    pub style: Style,
    /// How it plans.
    pub tree: TreeConfig,
    /// From the beginning of an action of the other to its being known, seconds.
    pub delay: f32,
    /// How much chance there is in its choices, in light hits.
    pub temperature: f32,
    /// Places to pass, one after the other.
    pub path: Vec<Vec2>,
    /// How long the bout is, seconds: who is behind dares more when it nears its end.
    pub seconds: f32,
}

impl SparWish {
    /// Against somebody, in a style, planning so deep.
    pub fn new(opponent: &str, style: Style, depth: u32) -> SparWish {
        SparWish {
            opponent: opponent.to_owned(),
            style,
            tree: TreeConfig { depth: depth.clamp(1, 12), ..TreeConfig::default() },
            delay: DELAY,
            temperature: 0.12,
            path: Vec::new(),
            seconds: 60.0,
        }
    }
}

/// Where a fighter stands in its fight.
#[derive(Clone, Debug, PartialEq)]
pub struct SparState {
    /// Against whom.
    pub opponent: CharacterId,
    /// As the rules have it.
    pub fighter: Fighter,
    /// As it was when this tick began: what the other decides upon.
    pub shown: Fighter,
    /// When what it does began.
    pub began: u64,
    /// A reaction that is to be played.
    pub forced: bool,
    /// Nobody else's plan is being carried out.
    pub own: bool,
    /// Whether it has the initiative.
    pub dares: bool,
    /// Whether that has been drawn in this exchange.
    pub drawn: bool,
    /// A number for that draw.
    pub lot: f32,
    /// Whether the blow that is under way was seen in time by the other, and answered.
    pub seen: bool,
    /// Whether the other did something about it.
    pub answered: bool,
    /// Nearest that the blow under way has come.
    pub least: f32,
    /// Damage it has given.
    pub given: f32,
    /// Which of its places it goes to next.
    pub next_place: usize,
    /// Decisions so far.
    pub decisions: u32,
    /// What its searches did so far.
    pub counts: TreeCounts,
    /// Choices that were looked at, did not reach, were needless, ended inside.
    pub pruned: [u64; 4],
}

impl SparState {
    pub(crate) fn new(opponent: CharacterId, fighter: Fighter, tick: u64) -> SparState {
        SparState {
            opponent,
            fighter,
            shown: fighter,
            began: tick,
            forced: false,
            own: true,
            dares: false,
            drawn: false,
            lot: 0.0,
            seen: false,
            answered: false,
            least: f32::INFINITY,
            given: 0.0,
            next_place: 0,
            decisions: 0,
            counts: TreeCounts::default(),
            pruned: [0; 4],
        }
    }
}

/// What everybody sees of everybody in this tick, before anybody decides: equal ticks are simultaneous.
pub(crate) fn look(world: &mut World) {
    let tick = world.tick;
    for member in world.characters.values_mut() {
        if let Some(spar) = &mut member.spar {
            let t = tick.saturating_sub(spar.began) / EACH;
            let passed = (t as u16).saturating_sub(spar.fighter.t);
            spar.fighter.t = t.min(60_000) as u16;
            spar.fighter.since = spar.fighter.since.saturating_add(passed);
            let seconds = f32::from(passed) / RATE as f32;
            spar.fighter.hurt = (spar.fighter.hurt - kumite_plan::spar::bout::FORGET * seconds).max(0.0);
            spar.fighter.stamina = (spar.fighter.stamina + 0.02 * seconds).min(1.0);
            spar.shown = spar.fighter;
        }
    }
    let ids: Vec<CharacterId> =
        world.characters.iter().filter(|(_, member)| member.spar.is_some()).map(|(id, _)| id).collect();
    for who in &ids {
        draw_lots(world, *who);
        pass_places(world, *who);
    }
}

/// After some time without a blow in reach one of two dares more: the one with the higher lot, drawn anew in each exchange.
fn draw_lots(world: &mut World, who: CharacterId) {
    let long = u32::from(still(world, who)) >= kumite_plan::spar::rehearsal::STILL.0;
    let lot = |id: CharacterId| world.characters.get(id).and_then(|m| m.spar.as_ref()).map(|s| (s.lot, s.opponent));
    let Some((own, opponent)) = lot(who) else { return };
    let higher = lot(opponent).is_none_or(|(theirs, _)| own > theirs);
    let member = &mut world.characters[who];
    let Some(spar) = member.spar.as_mut() else { return };
    match (long, spar.drawn) {
        (true, false) => (spar.drawn, spar.dares) = (true, higher),
        (false, true) => {
            (spar.drawn, spar.dares) = (false, false);
            spar.lot = member.chance.unit();
        }
        _ => {}
    }
}

/// Places of a path that have been passed.
fn pass_places(world: &mut World, who: CharacterId) {
    let member = &mut world.characters[who];
    let at = member.character.pose().root();
    let (crate::world::Wish::Spar(wish), Some(spar)) = (&member.wish, member.spar.as_mut()) else { return };
    if wish.path.get(spar.next_place).is_some_and(|place| (Vec2::new(at.x, at.z) - *place).length() < PASSED) {
        spar.next_place += 1;
    }
}

/// A place of a path has been passed when one has been so near to it, metres.
const PASSED: f32 = 0.7;

/// Moves hand or foot, and hips, so that a blow of what a fighter does meets what it is aimed at. Times from when that began.
pub(crate) fn reach_out(game: &Bout<'_>, fighter: &Fighter, other: &Fighter, passed: u32) -> Option<Bend> {
    let blow = game.open_blow(fighter)?;
    let aim = game.aim(0, &fighter.place, blow, passed, (1, &game.seen(0, other)));
    let limb = matches!(blow.part, Role::LeftWrist | Role::RightWrist | Role::LeftAnkle | Role::RightAnkle);
    let arrives = blow.at as f32 * game.corners[0].style.tempo;
    let at = (arrives - passed as f32).max(3.0) / RATE as f32;
    let hand = limb.then_some((blow.part, aim.offset));
    let shift = if passed == 0 { aim.shift } else { Vec3::ZERO };
    let (rise, fall) = ((0.0, (at - 0.01).max(0.03)), (at + 0.08, at + 0.36));
    let size = (aim.offset.length() / blow.limit.max(0.01)).clamp(0.0, 1.0);
    Some(Bend { hand, shift, rise, fall, size, ..Bend::default() })
}

/// How fighters fight, the one first and its opponent second.
pub(crate) fn corners(kit: &Kit, world: &World, who: CharacterId, other: CharacterId) -> Option<Vec<Corner>> {
    let moves = &kit.spar().moves;
    let corner = |id: CharacterId| {
        let member = world.characters.get(id)?;
        let crate::world::Wish::Spar(wish) = &member.wish else {
            return Some(Corner::new(Style::default(), DELAY, moves));
        };
        let mut corner = Corner::new(wish.style.clone(), wish.delay, moves);
        if let Some(spar) = &member.spar {
            corner.goal = wish.path.get(spar.next_place).copied();
            let still = u32::from(still(world, id));
            if spar.dares {
                corner.fear = kumite_plan::spar::rehearsal::fear(still);
            }
            // Behind, and short of time.
            let rival = world.characters.get(spar.opponent).and_then(|m| m.spar.as_ref()).map_or(0.0, |s| s.given);
            let late = (world.seconds() / wish.seconds.max(1.0) - 0.6).max(0.0) / 0.4;
            let behind = ((rival - spar.given) / (rival + spar.given + 1.0)).max(0.0);
            if late > 0.0 && behind > 0.1 {
                corner.style = corner.style.losing(late * (4.0 * behind).min(1.0));
            }
        }
        Some(corner)
    };
    Some(vec![corner(who)?, corner(other)?])
}

/// Ticks of a fight since anybody of a pair struck in reach.
pub(crate) fn still(world: &World, who: CharacterId) -> u16 {
    let since = |id: CharacterId| world.characters.get(id).and_then(|m| m.spar.as_ref()).map(|s| s.shown.since);
    let other = world.characters.get(who).and_then(|m| m.spar.as_ref()).map(|s| s.opponent);
    let own = since(who).unwrap_or(0);
    other.and_then(since).map_or(own, |other| own.min(other))
}

/// A fight between one, who comes first, and its opponent.
pub(crate) fn fight(one: &Fighter, other: &Fighter) -> Fight {
    let mut fighters = [*one; PLAYERS];
    fighters[1] = *other;
    Fight { fighters, count: 2, now: 0 }
}

/// How near a blow has to come to count as met, metres.
const TOUCH: f32 = 0.015;
/// Ticks of a fight that a blow is waited for after it should have arrived.
const LATE: u32 = 4;
/// Ticks before a blow should arrive from which on it may.
const SOON: u32 = 7;

type Bodies = [(CharacterId, Vec<Vec3>, Vec<Vec3>)];

/// What a blow met in this tick.
struct Met {
    by: CharacterId,
    event: BlowEvent,
    other: CharacterId,
    way: Vec3,
    stop: Option<Stop>,
}

/// Blows against bodies as they are shown, swept over the tick. All of a tick are judged before any of them does anything.
pub(crate) fn contacts(kits: &[Arc<Kit>], world: &mut World, bodies: &Bodies, events: &mut Vec<Event>) {
    let mut met = Vec::new();
    for (by, before, after) in bodies {
        if world.characters[*by].spar.is_some() {
            met.extend(arrives(kits, world, *by, (before, after), bodies));
        }
    }
    apply(kits, world, &met);
    push_apart(world);
    let tick = world.tick;
    for m in met {
        let (by, other) = (m.by, m.other);
        events.push(Event { tick, who: Some(other), kind: EventKind::Blow(m.event) });
        let out = world.characters[other].spar.as_ref().is_some_and(|s| s.fighter.health <= 0.0 && s.forced);
        if out {
            events.push(Event { tick, who: Some(other), kind: EventKind::KnockedOut { by } });
        }
    }
}

/// Trunks keep so far from each other, metres, and are pushed apart by so much in a tick at most.
const TRUNKS: f32 = 0.46;
const PUSHED: f32 = 0.005;

/// Bodies do not stand in each other.
fn push_apart(world: &mut World) {
    let ids: Vec<(CharacterId, CharacterId)> =
        world.characters.iter().filter_map(|(id, m)| Some((id, m.spar.as_ref()?.opponent))).collect();
    let mut pushes = Vec::new();
    for (who, other) in ids {
        let (Some(a), Some(b)) = (world.characters.get(who), world.characters.get(other)) else { continue };
        let flat = |character: &crate::Character, role: Role| {
            let place = character.world().position(role.joint());
            Vec2::new(place.x, place.z)
        };
        let near = |role: Role| {
            let way = flat(&a.character, role) - flat(&b.character, role);
            (way.length(), way)
        };
        let low =
            a.character.world().position(Role::Back.joint()).y.min(b.character.world().position(Role::Back.joint()).y);
        let (distance, way) = [Role::Pelvis, Role::Back]
            .map(near)
            .into_iter()
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .unwrap_or((f32::INFINITY, Vec2::X));
        if distance < TRUNKS && low > 0.7 {
            pushes.push((who, way.normalize_or(Vec2::X) * (0.5 * (TRUNKS - distance)).min(PUSHED)));
        }
    }
    for (who, way) in pushes {
        let member = &mut world.characters[who];
        member.character.push(way);
        if let Some(spar) = member.spar.as_mut() {
            spar.fighter.place.shift += way;
        }
    }
}

/// What the blow that is under way meets in this tick, if it is over then.
fn arrives(
    kits: &[Arc<Kit>],
    world: &mut World,
    by: CharacterId,
    own: (&[Vec3], &[Vec3]),
    bodies: &Bodies,
) -> Option<Met> {
    let tick = world.tick;
    let member = &world.characters[by];
    let kit = kits.get(member.kit)?;
    let moves = &kit.spar().moves;
    let spar = member.spar.as_ref()?;
    let made = moves.get(spar.fighter.doing);
    let blow = *made.blows.get(spar.fighter.blow as usize)?;
    let other = spar.opponent;
    let rival = world.characters.get(other)?;
    let theirs = rival.spar.as_ref()?;
    let corners = corners(kit, world, by, other)?;
    let bout = Bout {
        moves,
        table: &kit.spar().table,
        corners: &corners,
        arena: ARENA,
        clairvoyant: false,
        pruned: Pruned::default(),
    };
    let t = ((tick + 1).saturating_sub(spar.began) / EACH) as u32;
    let at = (blow.at as f32 * corners[0].style.tempo) as u32;
    if t + SOON < at {
        return None;
    }
    let (_, their_before, their_after) = bodies.iter().find(|b| b.0 == other)?;
    let spheres = member.character.library().spheres();
    let rival_spheres = rival.character.library().spheres();
    let rival_made = moves.get(theirs.fighter.doing);
    let rival_t = ((tick + 1).saturating_sub(theirs.began) / EACH) as u32;
    let lies = matches!(rival_made.kind, MoveKind::Down | MoveKind::Up);
    let motion = (rival_t as f32 / corners[1].style.tempo) as u32;
    let guards =
        rival_made.kind == MoveKind::Block && (rival_made.active.0..=rival_made.active.1 + 2).contains(&motion);
    let up = !matches!(rival_made.kind, MoveKind::React | MoveKind::Strike) && !lies;
    let (mut first, mut nearest): (Option<(f32, Role, bool)>, f32) = (None, spar.least);
    for (k, sphere) in spheres.iter().enumerate().filter(|(_, s)| s.part == blow.part) {
        let way = [own.0[k], own.1[k]];
        for (j, target) in rival_spheres.iter().enumerate() {
            let meant = guards && is_guard(rival_made.guard, rival_made.name.contains("cover"), target.part);
            let guard = meant || up && is_forearm(target.part);
            if !(guard || counts(target.part)) {
                continue;
            }
            let one = std::slice::from_ref(target);
            let radius = sphere.radius + TOUCH + if meant { 0.04 } else { 0.0 };
            let pass = contact::sweep(one, &their_before[j..=j], &their_after[j..=j], way, radius);
            if counts(target.part) {
                nearest = nearest.min(pass.least + TOUCH);
            }
            if let Some((time, part)) = pass.touch
                && first.is_none_or(|f| time < f.0)
            {
                first = Some((time, part, guard));
            }
        }
    }
    // As the rules of the tree see the moment at which it is meant to arrive.
    let meant = (rival_t + at).saturating_sub(t);
    let seen_fight = fight(&spar.fighter, &Fighter { t: meant as u16, ..theirs.fighter });
    let [f, q, ..] = &seen_fight.fighters;
    let (predicted, _) = bout.meets(f, &blow, 1, q);
    let over = t > at + LATE;
    let first = if lies { None } else { first };
    if first.is_none() && !over {
        world.characters[by].spar.as_mut()?.least = nearest;
        return None;
    }
    let outcome = match first {
        Some((_, _, true)) => Outcome::Blocked,
        Some(_) => Outcome::Landed,
        None => Outcome::Missed,
    };
    let part = first.map(|f| f.1);
    let damage = if first.is_some() { bout.damage(0, &spar.fighter, &blow, part, outcome) } else { 0.0 };
    let end = member.character.world().position(blow.part.joint());
    let way = spar.fighter.way;
    let limb = matches!(blow.part, Role::LeftWrist | Role::RightWrist | Role::LeftAnkle | Role::RightAnkle);
    let stop = (first.is_some() && limb).then_some(Stop { part: blow.part, at: end, way, left: LONGEST, held: false });
    let places = [&member.character, &rival.character].map(|c| c.world().position(Role::Pelvis.joint()));
    let away = places[1] - places[0];
    let event = BlowEvent {
        by,
        name: made.name.clone(),
        outcome,
        predicted,
        part,
        damage,
        at: end,
        gap: nearest,
        reach: Vec2::new(away.x, away.z).length() < 1.6,
        long: blow.long,
        seen: spar.seen,
        answered: spar.answered,
    };
    Some(Met { by, event, other, way, stop })
}

/// Does what the blows of a tick do, all at once.
fn apply(kits: &[Arc<Kit>], world: &mut World, met: &[Met]) {
    let tick = world.tick;
    for m in met {
        let Some(spar) = world.characters[m.by].spar.as_mut() else { continue };
        let t = ((tick + 1).saturating_sub(spar.began) / EACH) as u16;
        let f = &mut spar.fighter;
        (f.last, f.arrived, f.blow) = (m.event.outcome, t, f.blow + 1);
        if m.event.reach {
            f.since = 0;
        }
        if m.event.outcome == Outcome::Missed {
            f.chain = 0;
        }
        (spar.least, spar.given) = (f32::INFINITY, spar.given + m.event.damage);
        let own = *f;
        world.characters[m.by].character.stop = m.stop.or(world.characters[m.by].character.stop);
        if let Some(theirs) = world.characters[m.other].spar.as_mut() {
            theirs.fighter.health -= m.event.damage;
        }
        aim_next(kits, world, m, Fighter { t, ..own });
    }
    for m in met.iter().filter(|m| m.event.outcome == Outcome::Landed) {
        // Of two that hit each other at once the harder one goes on.
        let harder = |o: &&Met| o.by == m.other && o.other == m.by && o.event.outcome == Outcome::Landed;
        if met.iter().filter(harder).any(|o| o.event.damage > m.event.damage) {
            continue;
        }
        let Some(kit) = kits.get(world.characters[m.other].kit) else { continue };
        let Some(corners) = corners(kit, world, m.other, m.by) else { continue };
        let Some(own) = world.characters[m.by].spar.as_mut() else { continue };
        own.fighter.chain = own.fighter.chain.saturating_add(1);
        let (chain, attacker) = (own.fighter.chain, own.fighter);
        let Some(theirs) = world.characters[m.other].spar.as_mut() else { continue };
        let t = ((tick + 1).saturating_sub(theirs.began) / EACH) as u16;
        theirs.fighter.t = t;
        let mut both = fight(&theirs.fighter, &attacker);
        let bout = Bout {
            moves: &kit.spar().moves,
            table: &kit.spar().table,
            corners: &corners,
            arena: ARENA,
            clairvoyant: false,
            pruned: Pruned::default(),
        };
        bout.strike(&mut both, 0, m.event.damage, m.event.part.unwrap_or(Role::Back), m.way, chain);
        theirs.fighter = both.fighters[0];
        (theirs.began, theirs.forced) = (tick + 1, true);
    }
}

/// The next blow of a combination is aimed anew.
fn aim_next(kits: &[Arc<Kit>], world: &mut World, m: &Met, own: Fighter) {
    let Some(kit) = kits.get(world.characters[m.by].kit) else { return };
    let moves = &kit.spar().moves;
    let Some(blow) = moves.get(own.doing).blows.get(own.blow as usize) else { return };
    let Some(corners) = corners(kit, world, m.by, m.other) else { return };
    let Some(theirs) = world.characters[m.other].spar.as_ref().map(|s| s.fighter) else { return };
    let (table, pruned) = (&kit.spar().table, Pruned::default());
    let game = Bout { moves, table, corners: &corners, arena: ARENA, clairvoyant: false, pruned };
    let passed = u32::from(own.t);
    let aim = game.aim(0, &own.place, blow, passed, (1, &game.seen(0, &theirs)));
    let bend = reach_out(&game, &own, &theirs, passed);
    let member = &mut world.characters[m.by];
    if let Some(spar) = member.spar.as_mut() {
        (spar.fighter.aim, spar.fighter.way) = (aim.at, aim.way);
    }
    member.character.second = bend.map(|bend| (bend, 0.0));
}

/// Half of the width of the arena, metres.
pub const ARENA: f32 = 6.0;

/// Whether a blow on a part counts.
fn counts(part: Role) -> bool {
    !matches!(
        part,
        Role::LeftClavicle
            | Role::RightClavicle
            | Role::LeftShoulder
            | Role::RightShoulder
            | Role::LeftElbow
            | Role::RightElbow
            | Role::LeftWrist
            | Role::RightWrist
            | Role::LeftAnkle
            | Role::RightAnkle
            | Role::LeftToe
            | Role::RightToe
    )
}

/// Whether a part belongs to the limb that guards.
fn is_guard(guard: Option<Role>, both: bool, part: Role) -> bool {
    let of = |guard: Role| part == guard || Some(part) == guard.parent();
    guard.is_some_and(of) || both && GUARDS[..2].iter().any(|role| of(*role))
}

/// Whether a part is in the way when the guard is up.
fn is_forearm(part: Role) -> bool {
    matches!(part, Role::LeftElbow | Role::RightElbow | Role::LeftWrist | Role::RightWrist)
}

/// Longest that a hit stuns, seconds.
pub const LONGEST_STUN: f32 = STUN.1 / RATE as f32;
