//! The rules of a fight: who stands where and does what, when blows arrive and what they do.

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::rotation::wrap;
use kumite_motion::{Role, Vec2, Vec3};

use crate::spar::contest::{PLAYERS, Scores};
use crate::spar::moves::{Blow, GUARDS, Move, MoveIdx, MoveKind, Moves, RATE, Region};
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
pub const HEAVY: f32 = 1.15;
/// Who is hit is pushed by so much at least, metres.
pub const PUSH: f32 = 0.12;
/// Damage within moments that knocks somebody down.
pub const KNOCK_DOWN: f32 = 4.5;
/// How fast that is forgotten, per second.
pub const FORGET: f32 = 1.6;
/// Ticks from a knock-down until one stands again.
pub const DOWN: u32 = 260;
/// What one can take.
pub const HEALTH: f32 = 40.0;
/// How far the guard of a block is from what it can meet, metres.
const MEETS: f32 = 0.27;
/// How far before and behind where it is aimed a blow still hits, metres.
const SWEEP: (f32, f32) = (0.22, 0.05);
/// Largest turn that an action is laid with beside its own, radians, by what it is.
const TURN: f32 = 0.27;
/// A guard shuffles round by this much at most.
const SHUFFLE: f32 = 0.17;
/// Blows whose aim is off by no more than this reach, metres.
const REACHED: f32 = 0.03;
/// What striking costs, in light hits: nobody strikes for the sake of it.
const EFFORT: f32 = 0.25;
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
    /// Where its blow is aimed, and the way it comes.
    pub aim: Vec3,
    /// Way of the blow.
    pub way: Vec3,
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
            aim: Vec3::ZERO,
            way: Vec3::Z,
            before: Before { place, doing: guard, t: 0 },
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

/// Aim of a blow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// Where the middle of the striking part is when it meets the target, as near as it gets.
    pub at: Vec3,
    /// Which way it goes then.
    pub way: Vec3,
    /// How far the action is turned beside its own way, radians.
    pub turn: f32,
    /// How far the striking part is moved from where its motion arrives, and the hips.
    pub offset: Vec3,
    /// Hips go along by this.
    pub shift: Vec3,
    /// How far it falls short, metres.
    pub short: f32,
    /// What it is aimed at: position among [`Moves::targets`].
    pub target: usize,
}

impl Aim {
    /// Whether it reaches.
    pub fn reaches(&self) -> bool {
        self.short < REACHED
    }
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

    /// What a fighter does as far as another can see it: where it began, what, and since when.
    #[inline]
    pub fn seen(&self, by: usize, f: &Fighter) -> (PlanarMatrix, MoveIdx, u32) {
        let hidden = !self.clairvoyant && f.t < self.corners[by].delay && !self.made(f).forced();
        if hidden {
            (f.before.place, f.before.doing, u32::from(f.before.t) + u32::from(f.t))
        } else {
            (f.place, f.doing, u32::from(f.t))
        }
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

    /// Aims a blow of a move begun in stance `place` at a body that is seen at `seen`, when the blow arrives.
    pub fn aim(
        &self,
        who: usize,
        place: &PlanarMatrix,
        blow: &Blow,
        passed: u32,
        other: (usize, &(PlanarMatrix, MoveIdx, u32)),
    ) -> Aim {
        let (enemy, (begun, doing, t)) = other;
        let left = self.takes(who, blow.at).saturating_sub(passed);
        let body = self.moves.get(*doing).body(self.motion(enemy, t + left));
        let region = Region::aimed(blow.height);
        let natural = place.point(blow.place);
        // The nearest sphere of what it is aimed at.
        let mut best = (f32::INFINITY, 0, Vec3::ZERO);
        for (k, target) in self.moves.targets().iter().enumerate() {
            if Region::of(target.part) != region
                || matches!(target.part, Role::Pelvis | Role::LeftKnee | Role::RightKnee)
            {
                continue;
            }
            let centre = begun.point(body[k]);
            let away = (centre - natural).length();
            if away < best.0 {
                best = (away, k, centre);
            }
        }
        let (_, target, centre) = best;
        // The action is turned so that the blow goes towards it, as far as that may be.
        let to = Vec2::new(centre.x, centre.z) - place.shift;
        let goes = Vec2::new(natural.x, natural.z) - place.shift;
        let bearing = |v: Vec2| libm::atan2f(v.x, v.y);
        let turn = wrap(bearing(to) - bearing(goes)).clamp(-TURN, TURN);
        let turned = place.after(&PlanarMatrix::new(&Planar { turn, shift: Vec2::ZERO }));
        let (natural, way) = (turned.point(blow.place), turned.rotate(blow.way));
        let radius = self.moves.targets()[target].radius + blow.radius;
        let wanted = centre - way * radius;
        let mut off = wanted - natural;
        // What is nearer than the blow goes is met on the way.
        let along = off.dot(way);
        if along < 0.0 {
            off -= way * along.max(-blow.early);
        }
        let ahead = Vec3::new(to.x, 0.0, to.y).normalize_or(Vec3::Z);
        let farther = off.dot(ahead).clamp(0.0, blow.stretch);
        let shift = ahead * farther;
        let hand = off - shift;
        let reached = hand.length().min(blow.limit);
        let offset = hand.normalize_or(Vec3::ZERO) * reached;
        let short = hand.length() - reached;
        let at = if along < 0.0 { wanted - (hand - offset) } else { natural + shift + offset };
        Aim { at, way, turn, offset, shift, short, target }
    }

    /// What a blow that arrives now meets.
    pub fn meets(&self, f: &Fighter, blow: &Blow, enemy: usize, q: &Fighter) -> (Outcome, Option<Role>) {
        let made = self.made(q);
        if matches!(made.kind, MoveKind::Down | MoveKind::Up) {
            return (Outcome::Missed, None);
        }
        let tick = self.motion(enemy, u32::from(q.t));
        meets(self.moves, made, tick, &q.place, (f.aim, f.way, blow.radius))
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
        // Whoever goes on in guard is seen to.
        let again = made.kind == MoveKind::Guard && self.made(&f).kind == MoveKind::Guard;
        if f.t >= self.corners[enemy].delay || self.made(&f).forced() || again {
            f.before = Before { place: f.place, doing: f.doing, t: f.t };
        } else {
            // What was hidden is left before anybody saw it.
            f.before.t += f.t;
        }
        let target = self.seen(who, &fight.fighters[enemy]);
        let turn = match made.kind {
            MoveKind::Strike => 0.0,
            MoveKind::Step | MoveKind::Turn | MoveKind::Guard => self.steer(who, &stance, made, enemy, &target),
            _ => 0.0,
        };
        f.place = stance.after(&PlanarMatrix::new(&Planar { turn, shift: Vec2::ZERO }));
        (f.doing, f.t, f.blow, f.last, f.arrived, f.free) = (doing, 0, 0, Outcome::Open, 0, 0);
        if let Some(blow) = made.blows.first() {
            let aim = self.aim(who, &f.place, blow, 0, (enemy, &target));
            f.place = f.place.after(&PlanarMatrix::new(&Planar { turn: aim.turn, shift: Vec2::ZERO }));
            (f.aim, f.way) = (aim.at, aim.way);
            f.stamina = (f.stamina - 0.05 * made.blows.len() as f32).max(0.2);
        }
        // Short and seldom used actions are liked.
        let used = f.recent.iter().filter(|m| **m == doing).count() as f32;
        let long = self.takes(who, made.ends) as f32 / RATE as f32;
        if made.kind == MoveKind::Guard {
            scores[who].control -= 0.01;
        } else {
            let effort = if made.strikes() { EFFORT } else { 0.0 };
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
    pub fn steer(
        &self,
        who: usize,
        stance: &PlanarMatrix,
        made: &Move,
        enemy: usize,
        (begun, doing, t): &(PlanarMatrix, MoveIdx, u32),
    ) -> f32 {
        let most = if made.kind == MoveKind::Guard { SHUFFLE } else { TURN };
        let left = self.takes(who, made.ends);
        let other = begun.after(self.moves.get(*doing).stance(self.motion(enemy, t + left)));
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
            if u32::from(f.t) < self.takes(who, blow.at) {
                continue;
            }
            let enemy = self.enemy(&before, who);
            let q = &before.fighters[enemy];
            let (outcome, part) = self.meets(&f, blow, enemy, q);
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
                let aim = self.aim(who, &g.place, next, u32::from(g.t), (enemy, &self.seen(who, q)));
                (g.aim, g.way) = (aim.at, aim.way);
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
        q.before = Before { place: stance, doing, t: 0 };
        (q.place, q.doing, q.t, q.free) = (stance, doing, 0, free as u16);
        (q.blow, q.last, q.arrived) = (0, Outcome::Open, 0);
    }
}

/// Of a forearm, metres.
const FOREARM: f32 = 0.06;

/// How far two stretches of a line are from each other, by looks along the first.
fn apart(a: [Vec3; 2], b: [Vec3; 2]) -> f32 {
    let way = b[1] - b[0];
    let looks = (0..=4).map(|k| a[0].lerp(a[1], k as f32 * 0.25));
    let away = looks.map(|p| {
        let t = ((p - b[0]).dot(way) / way.length_squared().max(1e-9)).clamp(0.0, 1.0);
        (b[0] + way * t - p).length()
    });
    away.fold(f32::INFINITY, f32::min)
}

/// Bearing from one place to another: the turn of somebody who looks along it.
#[inline]
pub fn bearing(from: Vec2, to: Vec2) -> f32 {
    let way = to - from;
    libm::atan2f(way.x, way.y)
}

/// What a blow that comes to a place meets of a body in some move: a guard that is meant to, or the first that it can hit.
pub fn meets(
    moves: &Moves,
    made: &Move,
    tick: u32,
    place: &PlanarMatrix,
    (aim, way, radius): (Vec3, Vec3, f32),
) -> (Outcome, Option<Role>) {
    let body = made.body(tick);
    // Seen from the body.
    let (aim, way) = (place.point_back(aim), place.rotate_back(way));
    let nearest = |p: Vec3, before: f32, behind: f32| {
        let along = (p - aim).dot(way).clamp(-before, behind);
        ((aim + way * along - p).length(), along)
    };
    if made.kind == MoveKind::Block && (made.active.0..=made.active.1).contains(&tick) {
        let targets = moves.targets().len();
        let both = made.name.contains("cover");
        for (k, role) in GUARDS.iter().enumerate() {
            let guards = Some(*role) == made.guard || both && k < 2;
            if guards && nearest(body[targets + k], 0.4, 0.0).0 < MEETS {
                return (Outcome::Blocked, Some(*role));
            }
        }
    }
    // Forearms that are up are in the way of what comes between them and the body.
    if matches!(made.kind, MoveKind::Guard | MoveKind::Step | MoveKind::Turn | MoveKind::Avoid | MoveKind::Block) {
        let arms = &body[moves.targets().len()..];
        for (wrist, elbow) in [(0, 4), (1, 5)] {
            let (before, behind) = (aim - way * SWEEP.0, aim - way * FOREARM);
            if apart([before, behind], [arms[wrist], arms[elbow]]) < FOREARM + radius {
                return (Outcome::Blocked, Some(GUARDS[wrist]));
            }
        }
    }
    let mut first: Option<(f32, Role)> = None;
    for (k, target) in moves.targets().iter().enumerate() {
        let (away, along) = nearest(body[k], SWEEP.0, SWEEP.1);
        if away < target.radius + radius + 0.005 && first.is_none_or(|f| along < f.0) {
            first = Some((along, target.part));
        }
    }
    first.map_or((Outcome::Missed, None), |(_, part)| (Outcome::Landed, Some(part)))
}
