//! The rules of a fight: who stands where and does what, when blows arrive and what they do.

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::rotation::wrap;
use kumite_motion::{Role, Vec2, Vec3};

use crate::spar::contest::{PLAYERS, Scores};
use crate::spar::moves::{Blow, Move, MoveIdx, MoveKind, Moves, RATE, Region};
use crate::spar::shape::{Lag, Led, Meeting};
use crate::spar::style::Style;
use crate::spar::table::DefenceTable;

/// What became of a blow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// It has not arrived yet.
    #[default]
    Open,
    /// It hit.
    Landed,
    /// A guard met it.
    Blocked,
    /// It met nothing.
    Missed,
}

impl Outcome {
    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Open => "open",
            Outcome::Landed => "struck",
            Outcome::Blocked => "blocked",
            Outcome::Missed => "missed",
        }
    }
}

/// Ticks from the arrival of a blow until it may be left: landed, blocked.
pub const FOLLOWS: (u32, u32) = (6, 12);
/// Ticks that a light and a heavy hit stun.
pub const STUN: (f32, f32) = (21.0, 36.0);
/// Shorter with every hit of a chain.
pub const CHAIN: f32 = 0.8;
/// Damage from which a hit is heavy.
pub const HEAVY: f32 = 1.5;
/// Who is hit is pushed by so much at least, metres.
pub const PUSH: f32 = 0.18;
/// Damage within moments that knocks somebody down.
pub const KNOCK_DOWN: f32 = 4.5;
/// How fast that is forgotten, per second.
pub const FORGET: f32 = 1.6;
/// Ticks from a knock-down until one stands again.
pub const DOWN: u32 = 260;
/// What one can take.
pub const HEALTH: f32 = 22.0;
/// Largest turn that an action is laid with beside its own, radians, by what it is.
pub(crate) const TURN: f32 = 0.27;
/// A guard shuffles round by this much at most.
const SHUFFLE: f32 = 0.17;
/// What a blow costs, in light hits: nobody strikes for the sake of it.
const EFFORT: f32 = 0.28;
/// How much more it costs who is out of breath: so many times as much.
const WEARY: f32 = 2.0;
/// Breath that a blow takes, and that comes back in a second.
pub const BREATH: (f32, f32) = (0.07, 0.03);
/// Moves that are remembered as used.
const RECENT: usize = 6;

/// What a fighter did before, as the others still see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Before {
    /// The stance it began in.
    pub place: PlanarMatrix,
    /// What.
    pub doing: MoveIdx,
    /// Ticks it had been doing it when it was left.
    pub t: u16,
    /// See [`Fighter::phase`].
    pub phase: u16,
}

/// One fighter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fighter {
    /// The stance that what it does began in.
    pub place: PlanarMatrix,
    /// What it does.
    pub doing: MoveIdx,
    /// Since so many ticks.
    pub t: u16,
    /// The next of its blows.
    pub blow: u8,
    /// What became of the last.
    pub last: Outcome,
    /// When it arrived.
    pub arrived: u16,
    /// Ticks after which a reaction may be left.
    pub free: u16,
    /// Hits in a row that it has landed.
    pub chain: u8,
    /// Ticks since its last blow in reach.
    pub since: u16,
    /// When its blow should touch, ticks.
    pub hits: u16,
    /// Which way its blow comes.
    pub way: Vec3,
    /// Limb and hips that are led.
    pub led: Led,
    /// What is left of the join into what it does.
    pub lag: Lag,
    /// Ticks of motion that a guard which goes on has behind it besides those since it was thought about last.
    pub phase: u16,
    /// What it did before.
    pub before: Before,
    /// What it can still take.
    pub health: f32,
    /// Breath: 1 is fresh.
    pub stamina: f32,
    /// Damage of the last moments.
    pub hurt: f32,
    /// What it has done lately.
    pub recent: [MoveIdx; RECENT],
}

impl Fighter {
    /// Somebody in guard.
    pub fn new(place: PlanarMatrix, guard: MoveIdx) -> Fighter {
        Fighter {
            place,
            doing: guard,
            t: 0,
            blow: 0,
            last: Outcome::Open,
            arrived: 0,
            free: 0,
            chain: 0,
            since: 0,
            hits: 0,
            way: Vec3::Z,
            led: Led::default(),
            lag: Lag::default(),
            phase: 0,
            before: Before { place, doing: guard, t: 0, phase: 0 },
            health: HEALTH,
            stamina: 1.0,
            hurt: 0.0,
            recent: [MoveIdx(u16::MAX); RECENT],
        }
    }
}

/// All fighters at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fight {
    /// The first `count` of them.
    pub fighters: [Fighter; PLAYERS],
    /// How many.
    pub count: usize,
    /// Ticks.
    pub now: u32,
}

/// What is the same for all of a decision: how fighters fight.
#[derive(Clone, Debug)]
pub struct Corner {
    /// How.
    pub style: Style,
    /// Ticks until it sees what another does.
    pub delay: u16,
    /// Factor on w_D⁻: who has the initiative dares more.
    pub fear: f32,
    /// Where it should be, if anywhere.
    pub goal: Option<Vec2>,
    /// Move by move: what it adds when it lands.
    pub favours: Vec<f32>,
}

impl Corner {
    /// A fighter of a style.
    pub fn new(style: Style, delay: f32, moves: &Moves) -> Corner {
        let likes = |made: &Move| {
            let found = style.favourites.iter().find(|(name, _)| *name == made.name);
            found.map_or(0.0, |(_, bonus)| *bonus)
        };
        let favours = moves.all().iter().map(likes).collect();
        let delay = libm::roundf(delay.clamp(0.0, 2.0) * RATE as f32) as u16;
        Corner { style, delay, fear: 1.0, goal: None, favours }
    }
}

/// A fight with its rules.
#[derive(Debug)]
pub struct Bout<'a> {
    /// What can be done.
    pub moves: &'a Moves,
    /// What answers what.
    pub table: &'a DefenceTable,
    /// Who fights how.
    pub corners: &'a [Corner],
    /// Half of the arena's width, metres.
    pub arena: f32,
    /// Whether everything is seen at once.
    pub clairvoyant: bool,
    /// What was left out, and why.
    pub pruned: Pruned,
}

/// Choices that were left out, by reason.
#[derive(Debug, Default)]
pub struct Pruned {
    /// All that were looked at.
    pub looked: std::sync::atomic::AtomicU64,
    /// Blows that do not reach.
    pub reach: std::sync::atomic::AtomicU64,
    /// Defences against nothing.
    pub needless: std::sync::atomic::AtomicU64,
    /// What would end inside the other.
    pub inside: std::sync::atomic::AtomicU64,
}

impl Pruned {
    /// Looked at, out of reach, needless, inside.
    pub fn totals(&self) -> [u64; 4] {
        [&self.looked, &self.reach, &self.needless, &self.inside].map(|c| c.load(std::sync::atomic::Ordering::Relaxed))
    }
}

pub(crate) fn count(counter: &std::sync::atomic::AtomicU64, by: u64) {
    counter.fetch_add(by, std::sync::atomic::Ordering::Relaxed);
}

impl Bout<'_> {
    /// What a fighter does.
    #[inline]
    pub fn made(&self, f: &Fighter) -> &Move {
        self.moves.get(f.doing)
    }

    /// Ticks of motion that a fighter of some tempo has behind it.
    #[inline]
    pub(crate) fn motion(&self, who: usize, t: u32) -> u32 {
        let tempo = self.corners[who].style.tempo;
        if tempo == 1.0 { t } else { (t as f32 / tempo) as u32 }
    }

    /// Ticks that some ticks of motion take a fighter.
    #[inline]
    pub(crate) fn takes(&self, who: usize, ticks: u32) -> u32 {
        let tempo = self.corners[who].style.tempo;
        if tempo == 1.0 { ticks } else { libm::ceilf(ticks as f32 * tempo) as u32 }
    }

    /// Where a fighter stands and looks now.
    #[inline]
    pub fn stance(&self, who: usize, f: &Fighter) -> PlanarMatrix {
        f.place.after(self.made(f).stance(self.motion(who, u32::from(f.t))))
    }

    /// Where a fighter stands and looks so many ticks from now, if it goes on.
    #[inline]
    pub fn stance_in(&self, who: usize, f: &Fighter, ticks: u32) -> PlanarMatrix {
        f.place.after(self.made(f).stance(self.motion(who, u32::from(f.t) + ticks)))
    }

    /// A fighter as far as another can see it: what is too young to be known looks like what was done before.
    #[inline]
    pub fn seen(&self, by: usize, f: &Fighter) -> Fighter {
        let hidden = !self.clairvoyant && f.t < self.corners[by].delay && !self.made(f).forced();
        if hidden { Self::hidden(f) } else { *f }
    }

    /// A fighter as it would be had it gone on with what it did before.
    pub(crate) fn hidden(f: &Fighter) -> Fighter {
        let Before { place, doing, t, phase } = f.before;
        let (lag, led) = (Lag::default(), Led::default());
        Fighter { place, doing, t: t.saturating_add(f.t), phase, lag, led, blow: u8::MAX, ..*f }
    }

    /// When what a fighter does is over, ticks.
    #[inline]
    pub fn ends(&self, who: usize, f: &Fighter) -> u32 {
        let made = self.made(f);
        if made.forced() { u32::from(f.free) } else { self.takes(who, made.ends) }
    }

    /// When a blow may be left for the next, once it has arrived.
    pub fn follows(&self, who: usize, f: &Fighter) -> u32 {
        let arrived = u32::from(f.arrived);
        let blow = self.made(f).blows.last();
        match f.last {
            _ if blow.is_some_and(|blow| blow.leg) => self.takes(who, blow.map_or(0, |blow| blow.back)),
            Outcome::Landed => arrived + FOLLOWS.0,
            Outcome::Blocked => arrived + FOLLOWS.1,
            _ => self.takes(who, blow.map_or(0, |blow| blow.back)),
        }
    }

    /// Whether what a fighter does may be left now.
    pub fn may_leave(&self, who: usize, f: &Fighter) -> bool {
        let made = self.made(f);
        let t = u32::from(f.t);
        if made.forced() {
            return t >= u32::from(f.free);
        }
        match made.kind {
            MoveKind::Strike => f.blow as usize >= made.blows.len() && t >= self.follows(who, f),
            _ => t >= self.takes(who, made.leave),
        }
    }

    /// The blow that is still to come of a fighter.
    #[inline]
    pub fn open_blow(&self, f: &Fighter) -> Option<&Blow> {
        self.made(f).blows.get(f.blow as usize)
    }

    /// What a blow that arrives now meets.
    pub fn meets(&self, who: usize, f: &Fighter, blow: &Blow, enemy: usize, q: &Fighter) -> (Outcome, Option<Role>) {
        let met = self.sweep(who, f, blow, enemy, q);
        met.map_or((Outcome::Missed, None), |met: Meeting| (met.outcome(), Some(met.part)))
    }

    /// Damage of a blow that lands on a part, or is blocked.
    pub fn damage(&self, who: usize, f: &Fighter, blow: &Blow, part: Option<Role>, outcome: Outcome) -> f32 {
        let region = match part.map(Region::of) {
            Some(Region::Head) => 1.2,
            Some(Region::Leg) => 0.8,
            _ => 1.0,
        };
        let blocked = if outcome == Outcome::Blocked { 0.5 } else { 1.0 };
        let breath = 0.6 + 0.4 * f.stamina;
        let chain = if f.chain == 0 { 1.0 } else { libm::powf(CHAIN, f32::from(f.chain.min(8))) };
        blow.damage * self.corners[who].style.power * region * blocked * breath * chain
    }

    /// What a blow of a style is worth to the one who lands it.
    pub(crate) fn worth(&self, who: usize, doing: MoveIdx, blow: &Blow) -> f32 {
        let style = &self.corners[who].style;
        let range = if blow.long { style.given.1 } else { style.given.0 };
        let kick = matches!(blow.part, Role::LeftAnkle | Role::RightAnkle | Role::LeftKnee | Role::RightKnee);
        range * if kick { style.kicks } else { 1.0 } + self.corners[who].favours.get(doing.at()).copied().unwrap_or(0.0)
    }

    /// A fighter begins a move where it stands.
    pub(crate) fn begin(&self, fight: &mut Fight, who: usize, doing: MoveIdx, scores: &mut Scores) {
        let enemy = self.enemy(fight, who);
        let mut f = fight.fighters[who];
        let made = self.moves.get(doing);
        let stance = self.stance(who, &f);
        let body = self.moving(who, &f, u32::from(f.t));
        // Whoever goes on in guard is seen to.
        let again = made.kind == MoveKind::Guard && f.doing == doing;
        if f.t >= self.corners[enemy].delay || self.made(&f).forced() || again {
            f.before = Before { place: f.place, doing: f.doing, t: f.t, phase: f.phase };
        } else {
            // What was hidden is left before anybody saw it.
            f.before.t += f.t;
        }
        let seen = self.seen(who, &fight.fighters[enemy]);
        let turn = match made.kind {
            MoveKind::Step | MoveKind::Turn | MoveKind::Guard => self.steer(who, &stance, made, enemy, &seen),
            _ => 0.0,
        };
        f.phase = if again { (f.phase + f.t) % made.known().max(1) as u16 } else { 0 };
        f.place = stance.after(&PlanarMatrix::new(&Planar { turn, shift: Vec2::ZERO }));
        (f.doing, f.t, f.blow, f.last, f.arrived, f.free) = (doing, 0, 0, Outcome::Open, 0, 0);
        (f.led, f.hits) = (Led::default(), 0);
        f.lag = self.lag(who, (&body.0, &body.1), &f);
        if let Some(blow) = made.blows.first() {
            let aim = self.aim(who, &f, blow, 0, enemy, &seen);
            f.place = f.place.after(&PlanarMatrix::new(&Planar { turn: aim.turn, shift: Vec2::ZERO }));
            f.lag = self.lag(who, (&body.0, &body.1), &f);
            (f.led, f.hits, f.way) = (aim.led, aim.hits as u16, aim.way);
            f.stamina = (f.stamina - BREATH.0 * made.blows.len() as f32).max(0.2);
        }
        if made.kind == MoveKind::Block {
            f.led = self.meet(who, &f, made, enemy, &seen);
        }
        // Short and seldom used actions are liked.
        let used = f.recent.iter().filter(|m| **m == doing).count() as f32;
        let long = self.takes(who, made.ends) as f32 / RATE as f32;
        if made.kind == MoveKind::Guard {
            scores[who].control -= 0.01;
        } else {
            let effort = EFFORT * made.blows.len() as f32 * (1.0 + WEARY * (1.0 - f.stamina));
            scores[who].control -= 0.05 * long + 0.16 * used + effort;
            f.recent.rotate_right(1);
            f.recent[0] = doing;
        }
        match made.kind {
            MoveKind::Avoid => scores[who].control += self.corners[who].style.avoid_bonus,
            MoveKind::Block => scores[who].control += self.corners[who].style.block_bonus,
            _ => {}
        }
        fight.fighters[who] = f;
    }

    /// How far a step or a turn is turned beside its own way so that it ends facing the other.
    pub fn steer(&self, who: usize, stance: &PlanarMatrix, made: &Move, enemy: usize, seen: &Fighter) -> f32 {
        let most = if made.kind == MoveKind::Guard { SHUFFLE } else { TURN };
        let left = self.takes(who, made.ends);
        let other = self.stance_in(enemy, seen, left);
        let end = stance.after(made.carries());
        wrap(bearing(end.shift, other.shift) - end.turn).clamp(-most, most)
    }

    /// The one a fighter fights: the nearest.
    #[inline]
    pub fn enemy(&self, fight: &Fight, who: usize) -> usize {
        if fight.count == 2 {
            return 1 - who;
        }
        let at = |k: usize| self.stance(k, &fight.fighters[k]).shift;
        let others = (0..fight.count).filter(|k| *k != who);
        others.min_by(|a, b| (at(*a) - at(who)).length().total_cmp(&(at(*b) - at(who)).length())).unwrap_or(who)
    }

    /// Blows of all that arrive in this tick, at once.
    pub(crate) fn resolve(&self, fight: &mut Fight, scores: &mut Scores) {
        let mut landed: [Option<(f32, Role, Vec3)>; PLAYERS] = [None; PLAYERS];
        let before = *fight;
        for who in 0..fight.count {
            let f = before.fighters[who];
            let Some(blow) = self.open_blow(&f) else { continue };
            if f.t < f.hits {
                continue;
            }
            let enemy = self.enemy(&before, who);
            let q = &before.fighters[enemy];
            let (outcome, part) = self.meets(who, &f, blow, enemy, q);
            let damage = self.damage(who, &f, blow, part, outcome);
            let made = self.made(&f);
            let g = &mut fight.fighters[who];
            (g.last, g.arrived, g.blow) = (outcome, g.t, g.blow + 1);
            let near = (self.stance(enemy, q).shift - self.stance(who, &f).shift).length() < 1.7;
            if near {
                g.since = 0;
            }
            // The next blow of a combination is aimed anew, from where it stands.
            if let Some(next) = made.blows.get(g.blow as usize) {
                let aim = self.aim(who, &f, next, u32::from(f.t), enemy, &self.seen(who, q));
                (g.led, g.hits, g.way) = (aim.led, aim.hits as u16, aim.way);
            }
            if outcome == Outcome::Missed {
                g.chain = 0;
                continue;
            }
            scores[who].given += damage * self.worth(who, f.doing, blow);
            scores[enemy].taken += damage * self.corners[enemy].style.taken * self.corners[enemy].fear;
            let g = &mut fight.fighters[enemy];
            g.health -= damage;
            if outcome == Outcome::Landed {
                landed[who] = part.map(|part| (damage, part, f.way));
            }
        }
        for who in 0..fight.count {
            let Some((damage, part, way)) = landed[who] else { continue };
            let enemy = self.enemy(&before, who);
            // Of two that hit each other at once the harder one goes on.
            if landed[enemy].is_some_and(|other| other.0 > damage) {
                continue;
            }
            fight.fighters[who].chain = fight.fighters[who].chain.saturating_add(1);
            let chain = fight.fighters[who].chain;
            self.strike(fight, enemy, damage, part, way, chain);
        }
    }

    /// Somebody is hit: it reacts, or falls.
    pub fn strike(&self, fight: &mut Fight, who: usize, damage: f32, part: Role, way: Vec3, chain: u8) {
        let body = self.moving(who, &fight.fighters[who], u32::from(fight.fighters[who].t));
        let kicks = self.made(&fight.fighters[who]).blows.iter().any(|blow| blow.leg);
        let q = &mut fight.fighters[who];
        let stance = q.place.after(self.made(q).stance(self.motion(who, u32::from(q.t))));
        q.hurt += damage;
        q.chain = 0;
        let from = stance.rotate_back(-way);
        let heavy = damage >= HEAVY;
        let fall = if q.hurt >= KNOCK_DOWN || q.health <= 0.0 { self.moves.fall(from.z < 0.0) } else { None };
        let Some(doing) = fall.or_else(|| self.moves.reaction(Region::of(part), from.x, heavy)) else { return };
        let stun = if heavy { STUN.1 } else { STUN.0 } * libm::powf(CHAIN, f32::from(chain.saturating_sub(1)));
        let free = if fall.is_some() { DOWN } else { (stun as u32).max(8) };
        if fall.is_some() {
            q.hurt = 0.0;
        }
        // Who is hit is pushed, if the reaction does not carry it away itself.
        let along = Vec2::new(way.x, way.z).normalize_or(Vec2::ZERO);
        let carries = stance.floor_point(self.moves.get(doing).carries().shift) - stance.shift;
        let push = along * (PUSH - carries.dot(along)).clamp(0.0, PUSH);
        let stance = PlanarMatrix::new(&Planar { turn: stance.turn, shift: stance.shift + push });
        q.before = Before { place: stance, doing, t: 0, phase: 0 };
        (q.place, q.doing, q.t, q.free) = (stance, doing, 0, free as u16);
        (q.blow, q.last, q.arrived, q.phase) = (0, Outcome::Open, 0, 0);
        (q.led, q.lag) = (Led::default(), Lag::default());
        let mut lag = self.lag(who, (&body.0, &body.1), &fight.fighters[who]);
        // A leg in the air has a longer way back.
        lag.seconds = lag.seconds.max(if kicks { 2.0 * FLINCH } else { FLINCH });
        fight.fighters[who].lag = lag;
    }
}

/// Joins into reactions take so long at least, seconds.
pub const FLINCH: f32 = 0.12;

/// Bearing from one place to another: the turn of somebody who looks along it.
#[inline]
pub fn bearing(from: Vec2, to: Vec2) -> f32 {
    let way = to - from;
    libm::atan2f(way.x, way.y)
}
