//! What fighters may choose, in which order it is looked at, and what they do by habit.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::rotation::wrap;

use crate::spar::bout::{BREATH, Bout, FORGET, Fight, Fighter, Outcome, bearing, count};
use crate::spar::contest::{Contest, Scores};
use crate::spar::moves::{MoveIdx, MoveKind, RATE};
use crate::spar::shape::{Lag, Led};

/// What a fighter chooses: a move, or to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Choice {
    /// What is being done is gone on with.
    Continue,
    /// Something else is begun.
    Begin(MoveIdx),
}

/// Blows that are looked at, steps that are.
const STRIKES: usize = 4;
const STEPS: usize = 3;
/// Most strikes of a library that are looked at.
const MOST_STRIKES: usize = 64;
const DEFENCES: usize = 3;
/// Nearer than this is too near for anybody, metres.
const CROWDED: f32 = 0.72;
/// Nobody goes nearer than this, metres from pelvis to pelvis.
const APART: f32 = 0.58;
/// Errors of distance and facing that hardly count, metres and radians.
const NEAR: f32 = 0.1;
const AHEAD: f32 = 0.15;
/// Ticks after which standing about costs.
const PATIENCE: u16 = 90;
/// Nobody strikes at who is farther away than this, metres.
const FAR: f32 = 1.75;

/// Why somebody may choose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// What it did is over.
    pub ended: bool,
    /// It sees a blow coming, and can do something about it.
    pub sees: bool,
    /// Its own blow has arrived, or the other's has gone by: it may be followed.
    pub follows: bool,
}

impl Moment {
    /// Whether it may.
    pub fn any(self) -> bool {
        self.ended || self.sees || self.follows
    }
}

impl Bout<'_> {
    /// Whether a fighter may choose now, and why.
    pub fn moment(&self, fight: &Fight, who: usize) -> Moment {
        let f = &fight.fighters[who];
        let made = self.made(f);
        let t = u32::from(f.t);
        if t >= self.ends(who, f) {
            return Moment { ended: true, ..Moment::default() };
        }
        let done = made.strikes() && f.blow as usize >= made.blows.len();
        let defends = matches!(made.kind, MoveKind::Avoid | MoveKind::Block) && t == self.takes(who, made.leave);
        let follows = defends || done && t == self.follows(who, f);
        let q = &fight.fighters[self.enemy(fight, who)];
        let becomes_visible = q.t == self.delay(who) && self.open_blow(q).is_some();
        Moment { ended: false, sees: becomes_visible && self.may_leave(who, f), follows }
    }

    fn delay(&self, who: usize) -> u16 {
        if self.clairvoyant { 1 } else { self.corners[who].delay }
    }

    /// Ticks until a blow arrives that a fighter sees coming.
    pub fn coming(&self, fight: &Fight, who: usize) -> Option<(MoveIdx, usize, u32)> {
        let enemy = self.enemy(fight, who);
        let q = &fight.fighters[enemy];
        self.open_blow(q).filter(|_| q.t >= self.delay(who))?;
        Some((q.doing, q.blow as usize, u32::from(q.hits.saturating_sub(q.t))))
    }

    /// What the place of somebody at the end of something costs.
    fn off(&self, who: usize, stance: &PlanarMatrix, other: &PlanarMatrix) -> f32 {
        let style = &self.corners[who].style;
        let r = (other.shift - stance.shift).length();
        let turn = wrap(bearing(stance.shift, other.shift) - stance.turn);
        let (dr, wide) = (r - style.distance, self.arena - 0.5);
        let wall = (stance.shift.abs() - kumite_motion::Vec2::splat(wide)).max(kumite_motion::Vec2::ZERO).length();
        let goal = self.corners[who].goal.map_or(0.0, |goal| {
            // Farther than two metres it is only far.
            style.place_weight * (goal - stance.shift).length().min(2.0)
        });
        // Farther than three metres it is only far. In proportion to the error but for the last of it: squares would hardly care about a foot.
        let soft = |off: f32, little: f32| (off * off + little * little).sqrt() - little;
        let dr = dr.clamp(-3.0, 3.0);
        // Nobody likes to stand chest to chest.
        let crowded = (CROWDED - r).max(0.0);
        12.0 * crowded * crowded
            + style.distance_weight * soft(dr, NEAR)
            + style.facing_weight * soft(turn, AHEAD)
            + 4.0 * wall * wall
            + goal
    }

    /// Moves that end best, of a kind: steps and turns.
    fn steps(&self, fight: &Fight, who: usize, most: usize, away: bool, out: &mut Vec<Choice>) {
        let enemy = self.enemy(fight, who);
        let f = &fight.fighters[who];
        let seen = self.seen(who, &fight.fighters[enemy]);
        let stance = self.stance(who, f);
        let mut best = [(f32::INFINITY, MoveIdx(0)); STEPS];
        for kind in [MoveKind::Step, MoveKind::Turn] {
            for index in self.moves.of_kind(kind) {
                let made = self.moves.get(*index);
                let turn = self.steer(who, &stance, made, enemy, &seen);
                let begun = stance.after(&PlanarMatrix::new(&kumite_motion::align::Planar {
                    turn,
                    shift: kumite_motion::Vec2::ZERO,
                }));
                let end = begun.after(made.carries());
                let left = self.takes(who, made.ends);
                let other = self.stance_in(enemy, &seen, left);
                let r = (other.shift - end.shift).length();
                count(&self.pruned.looked, 1);
                if r < APART {
                    count(&self.pruned.inside, 1);
                    continue;
                }
                let used = f.recent.iter().filter(|m| **m == *index).count() as f32;
                let mut cost = self.off(who, &end, &other) + 0.12 * used + 0.3 * left as f32 / RATE as f32;
                if away {
                    cost = -r + 0.02 * left as f32;
                }
                if cost < best[STEPS - 1].0 {
                    best[STEPS - 1] = (cost, *index);
                    best.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                }
            }
        }
        let found = best.iter().take(most).filter(|(cost, _)| cost.is_finite());
        out.extend(found.map(|(_, index)| Choice::Begin(*index)));
    }

    /// Blows that reach, those worth most first. `within` are ticks in which they must arrive.
    fn strikes(&self, fight: &Fight, who: usize, most: usize, within: u32, out: &mut Vec<Choice>) {
        let enemy = self.enemy(fight, who);
        let (f, q) = (&fight.fighters[who], &fight.fighters[enemy]);
        let stance = self.stance(who, f);
        let seen = self.seen(who, q);
        let all = self.moves.of_kind(MoveKind::Strike);
        count(&self.pruned.looked, all.len() as u64);
        let r = (self.stance(enemy, q).shift - stance.shift).length();
        if r > FAR || matches!(self.made(q).kind, MoveKind::Down | MoveKind::Up) {
            count(&self.pruned.reach, all.len() as u64);
            return;
        }
        // Joins are left out of this look: they are the same for all.
        let start = Fighter { place: stance, lag: Lag::default(), led: Led::default(), ..*f };
        // Those worth most are looked at first, and no more than are wanted.
        let mut worth = [(f32::NEG_INFINITY, MoveIdx(0)); MOST_STRIKES];
        let mut known = 0;
        for index in all {
            let made = self.moves.get(*index);
            let blow = &made.blows[0];
            if self.takes(who, blow.at) > within || known == MOST_STRIKES {
                continue;
            }
            // What carries on after the blow must not end inside the other.
            if r - made.carries().shift.y < APART {
                count(&self.pruned.inside, 1);
                continue;
            }
            // A quick look before the slow one: nothing is aimed by more than this.
            let reach = blow.place.x * blow.place.x + blow.place.z * blow.place.z;
            if !(-0.45..=0.5).contains(&(r - reach.sqrt())) {
                count(&self.pruned.reach, 1);
                continue;
            }
            let used = f.recent.iter().filter(|m| **m == *index).count() as f32;
            let value = blow.damage * self.worth(who, *index, blow) - 0.12 * used - 0.02 * blow.at as f32;
            worth[known] = (value, *index);
            known += 1;
        }
        let worth = &mut worth[..known];
        worth.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let begun = out.len();
        for (_, index) in worth.iter() {
            if out.len() - begun >= most {
                break;
            }
            let aim = self.aim(who, &start, &self.moves.get(*index).blows[0], 0, enemy, &seen);
            if aim.reaches() {
                out.push(Choice::Begin(*index));
            } else {
                count(&self.pruned.reach, 1);
            }
        }
    }

    fn defences(&self, fight: &Fight, who: usize, out: &mut Vec<Choice>) {
        let all = (self.moves.of_kind(MoveKind::Avoid).len() + self.moves.of_kind(MoveKind::Block).len()) as u64;
        count(&self.pruned.looked, all);
        let Some((doing, blow, left)) = self.coming(fight, who) else {
            count(&self.pruned.needless, all);
            return;
        };
        let left = self.motion(who, left);
        let answers = self.table.answers(doing, blow, left);
        let f = &fight.fighters[who];
        let mut found: Vec<MoveIdx> = answers.iter().flatten().copied().collect();
        found.sort_by_key(|m| f.recent.contains(m));
        out.extend(found.into_iter().take(DEFENCES).map(Choice::Begin));
    }

    /// The guard that goes on.
    pub fn guard(&self, f: &Fighter) -> MoveIdx {
        let all = self.moves.of_kind(MoveKind::Guard);
        if self.made(f).kind == MoveKind::Guard { f.doing } else { all.last().copied().unwrap_or(f.doing) }
    }
}

impl Contest for Bout<'_> {
    type State = Fight;
    type Act = Choice;

    fn players(&self, fight: &Fight) -> usize {
        fight.count
    }

    fn now(&self, fight: &Fight) -> u32 {
        fight.now
    }

    fn advance(&self, fight: &mut Fight, until: u32, scores: &mut Scores) {
        loop {
            // To the next thing that happens to anybody.
            let mut ticks = until.saturating_sub(fight.now).max(1);
            for who in 0..fight.count {
                let f = &fight.fighters[who];
                let t = u32::from(f.t);
                let mut soon = |at: u32| {
                    if at > t {
                        ticks = ticks.min(at - t);
                    }
                };
                soon(self.ends(who, f));
                let made = self.made(f);
                if self.open_blow(f).is_some() {
                    soon(u32::from(f.hits));
                    soon(u32::from(self.delay(self.enemy(fight, who))));
                } else if made.strikes() {
                    soon(self.follows(who, f));
                } else if matches!(made.kind, MoveKind::Avoid | MoveKind::Block) {
                    soon(self.takes(who, made.leave));
                }
            }
            fight.now += ticks;
            let seconds = ticks as f32 / RATE as f32;
            for f in &mut fight.fighters[..fight.count] {
                f.t = f.t.saturating_add(ticks as u16);
                f.since = f.since.saturating_add(ticks as u16);
                f.hurt = (f.hurt - FORGET * seconds).max(0.0);
                f.stamina = (f.stamina + BREATH.1 * seconds).min(1.0);
            }
            self.resolve(fight, scores);
            for (who, score) in scores.iter_mut().enumerate().take(fight.count) {
                let enemy = self.enemy(fight, who);
                let (f, q) = (&fight.fighters[who], &fight.fighters[enemy]);
                let (own, other) = (self.stance(who, f), self.stance(enemy, q));
                score.location += self.off(who, &own, &other) * seconds;
                if f.since > PATIENCE {
                    score.stall += self.corners[who].style.stall * seconds;
                }
                if !self.made(q).forced() && fight.fighters[who].last != Outcome::Landed {
                    fight.fighters[who].chain = 0;
                }
            }
            if fight.now >= until || (0..fight.count).any(|who| self.moment(fight, who).any()) {
                return;
            }
        }
    }

    fn choices(&self, fight: &Fight, who: usize, out: &mut Vec<Choice>) {
        let moment = self.moment(fight, who);
        if !moment.any() {
            return;
        }
        let f = &fight.fighters[who];
        if moment.ended {
            self.defences(fight, who, out);
            self.strikes(fight, who, STRIKES, u32::MAX, out);
            out.push(Choice::Begin(self.guard(f)));
            self.steps(fight, who, STEPS, false, out);
            return;
        }
        out.push(Choice::Continue);
        if moment.follows {
            self.strikes(fight, who, STRIKES, u32::MAX, out);
        }
        if moment.sees {
            self.defences(fight, who, out);
            self.steps(fight, who, 1, true, out);
            let left = self.coming(fight, who).map_or(0, |c| c.2);
            self.strikes(fight, who, 1, left, out);
        }
    }

    fn play(&self, fight: &mut Fight, who: usize, act: Choice, scores: &mut Scores) {
        if let Choice::Begin(doing) = act {
            self.begin(fight, who, doing, scores);
        }
    }

    fn hide(&self, fight: &mut Fight, who: usize) -> bool {
        let mut hidden = false;
        for k in (0..fight.count).filter(|k| *k != who) {
            let q = &fight.fighters[k];
            if q.t >= self.corners[who].delay || self.made(q).forced() {
                continue;
            }
            // Guard after guard is no secret.
            hidden |= q.before.doing != q.doing;
            fight.fighters[k] = Self::hidden(q);
        }
        hidden
    }

    fn habit(&self, fight: &Fight, who: usize) -> Option<Choice> {
        let moment = self.moment(fight, who);
        if !moment.any() {
            return None;
        }
        let f = &fight.fighters[who];
        if let Some((doing, blow, left)) = self.coming(fight, who) {
            let answer = self.table.answers(doing, blow, self.motion(who, left))[0];
            return match answer {
                Some(defence) => Some(Choice::Begin(defence)),
                None => moment.ended.then(|| Choice::Begin(self.guard(f))),
            };
        }
        if moment.sees {
            return None;
        }
        // Whoever is open is punished.
        let enemy = self.enemy(fight, who);
        let q = &fight.fighters[enemy];
        let made = self.made(q);
        let open = if made.forced() {
            u32::from(q.free).saturating_sub(u32::from(q.t))
        } else if made.strikes() && self.open_blow(q).is_none() && u32::from(q.t) >= u32::from(self.delay(who)) {
            self.follows(enemy, q).saturating_sub(u32::from(q.t))
        } else {
            0
        };
        if open > 8 {
            let mut found = Vec::new();
            self.strikes(fight, who, 1, open + 6, &mut found);
            if let Some(act) = found.first() {
                return Some(*act);
            }
        }
        moment.ended.then(|| Choice::Begin(self.guard(f)))
    }
}
