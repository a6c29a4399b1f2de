//! Fights on stage: what a fighter wants and where it stands in its fight.

use std::sync::Arc;

use kumite_motion::{Role, Vec2, Vec3};
use kumite_plan::Bend;
use kumite_plan::spar::bout::{BREATH, HEALTH, Pruned};
use kumite_plan::spar::contest::PLAYERS;
use kumite_plan::spar::moves::{Blow, RATE};
use kumite_plan::spar::rehearsal::DELAY;
use kumite_plan::spar::shape::{ANCHORS, Anchors, COUNT, LETS_GO, Led, PATH, SOON, striking};
use kumite_plan::spar::{Bout, Corner, Fight, Fighter, Moves, Outcome, Style, TreeConfig, TreeCounts};

use crate::world::{CharacterId, World};
use crate::{Kit, TICKS};

/// Ticks of the stage in one tick of a fight.
pub const EACH: u64 = 2;

/// Half of the width of the arena, metres.
pub const ARENA: f32 = 6.0;

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
    /// What it can still take, and its breath, when it begins: later rounds begin with what is left.
    pub health: f32,
    /// 1 is fresh.
    pub breath: f32,
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
            health: HEALTH,
            breath: 1.0,
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
    /// Where its joints were shown last, and how they moved.
    pub body: (Anchors, Anchors),
    /// What the rules say becomes of its blow, as both have begun what they do.
    pub predicted: Outcome,
    /// Whether somebody has begun something since.
    pub stale: bool,
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
    /// Whether a blow of what it does may meet something in a tick.
    pub(crate) fn may_meet(&self, blow: &Blow, tempo: f32, tick: u64) -> bool {
        let now = (tick + 1).saturating_sub(self.began) as f32;
        now >= blow.at.saturating_sub(SOON) as f32 * tempo * EACH as f32
    }

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
            body: ([Vec3::ZERO; COUNT], [Vec3::ZERO; COUNT]),
            predicted: Outcome::Open,
            stale: true,
            given: 0.0,
            next_place: 0,
            decisions: 0,
            counts: TreeCounts::default(),
            pruned: [0; 4],
        }
    }
}

/// What everybody sees of everybody in this tick, before anybody decides: equal ticks are simultaneous.
pub(crate) fn look(kits: &[Arc<Kit>], world: &mut World) {
    let tick = world.tick;
    for member in world.characters.values_mut() {
        if let Some(spar) = &mut member.spar {
            let (now, before) = (anchors(&member.character), spar.body.0);
            for k in 0..COUNT {
                // Who has just come on does not move.
                let first = before[k] == Vec3::ZERO;
                spar.body.1[k] = if first { Vec3::ZERO } else { (now[k] - before[k]) * TICKS as f32 };
            }
            spar.body.0 = now;
            let t = tick.saturating_sub(spar.began) / EACH;
            let passed = (t as u16).saturating_sub(spar.fighter.t);
            spar.fighter.t = t.min(60_000) as u16;
            spar.fighter.since = spar.fighter.since.saturating_add(passed);
            let seconds = f32::from(passed) / RATE as f32;
            spar.fighter.hurt = (spar.fighter.hurt - kumite_plan::spar::bout::FORGET * seconds).max(0.0);
            spar.fighter.stamina = (spar.fighter.stamina + BREATH.1 * seconds).min(1.0);
            let Some(kit) = kits.get(member.kit).filter(|_| tick.is_multiple_of(EACH)) else { continue };
            // What is known of a body begins with the body that is shown.
            let tempo = match &member.wish {
                crate::world::Wish::Spar(wish) => wish.style.tempo,
                _ => 1.0,
            };
            let corner = Corner {
                favours: Vec::new(),
                ..Corner::new(Style { tempo, ..Style::default() }, 0.0, &Moves::default())
            };
            let corners = [corner];
            let game = rules(kit.spar(), &corners);
            spar.fighter.lag = game.seen_as(0, &spar.fighter, (&spar.body.0, &spar.body.1));
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

/// What leads a limb on the stage as the rules have it: times from when the move began, or from `passed` ticks later.
pub(crate) fn bend_of(led: &Led, passed: u32) -> Option<Bend> {
    let part = led.part?;
    let limb = matches!(part, Role::LeftWrist | Role::RightWrist | Role::LeftAnkle | Role::RightAnkle);
    let at = |tick: u16| (f32::from(tick) - passed as f32).max(0.0) / RATE as f32;
    let (from, whole) = (at(led.rise.0), at(led.rise.1));
    let hand = limb.then_some((part, led.offset));
    let (rise, fall) = ((from, whole), (whole + LETS_GO.0, whole + LETS_GO.1));
    let size = (led.offset.length() / 0.3).clamp(0.0, 1.0);
    Some(Bend { hand, shift: led.shift, rise, fall, size, ..Bend::default() })
}

/// A limb is led by so much more at most because its join goes another way than the rules think, metres.
const MENDED: f32 = 0.15;

/// The rules know of a join where joints go, not how limbs turn: what is really going to be shown says how much more the limb that strikes is to be led.
pub(crate) fn mended(character: &crate::Character, game: &Bout<'_>, fighter: &Fighter) -> Vec3 {
    let Some(blow) = game.open_blow(fighter) else { return Vec3::ZERO };
    let due = (0..PATH).find(|j| game.step_at(0, blow, *j) >= u32::from(fighter.hits));
    let step = due.unwrap_or(PATH - 1);
    let mut rehearsed = character.clone();
    for (bend, _) in rehearsed.bend.iter_mut().chain(&mut rehearsed.second) {
        bend.hand = bend.hand.filter(|(part, _)| *part != blow.part);
    }
    let ticks = game.step_at(0, blow, step).saturating_sub(u32::from(fighter.t));
    for _ in 0..u64::from(ticks) * EACH {
        rehearsed.step(|_, next| next[0]);
    }
    let spheres = rehearsed.library().spheres();
    let Some(striker) = striking(spheres, blow.part).last().map(|k| &spheres[*k]) else { return Vec3::ZERO };
    let shown = rehearsed.world().point(striker.joint, striker.offset);
    let bare = Fighter { led: Led { offset: Vec3::ZERO, ..fighter.led }, ..*fighter };
    let last = game.moves.strikers(blow).len().saturating_sub(1);
    (game.way_of(0, &bare, blow, step, last) - shown).clamp_length_max(MENDED)
}

/// Where the joints of a body are that say where the rest is.
pub(crate) fn anchors(character: &crate::Character) -> Anchors {
    ANCHORS.map(|role| character.world().position(role.joint()))
}

/// A fight of one, who comes first, and its opponent, with its rules.
pub(crate) fn rules<'a>(kit: &'a crate::SparKit, corners: &'a [Corner]) -> Bout<'a> {
    let (moves, table, pruned) = (&kit.moves, &kit.table, Pruned::default());
    Bout { moves, table, corners, arena: ARENA, clairvoyant: false, pruned }
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
    let mut both = vec![corner(who)?, corner(other)?];
    // Two who each wait for the other to come would stand apart for good: whose lot is higher thinks that the other stays.
    let lot = |id: CharacterId| world.characters.get(id).and_then(|m| m.spar.as_ref()).map(|s| s.lot);
    if lot(who).zip(lot(other)).is_some_and(|(own, theirs)| own > theirs) {
        both[1].style.distance_weight = 0.0;
    }
    Some(both)
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
