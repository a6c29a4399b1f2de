//! What does depth buy? A fight along a line, of a dozen abstract actions, in ticks of 0.05 s. The definitions of the tree were chosen here, where hundreds of
//! bouts take seconds, before any motion was looked at.

#![allow(clippy::needless_range_loop, reason = "who strikes whom is told by numbers")]

use kumite_motion::Chance;

use crate::pool::Alone;
use crate::spar::contest::{Contest, Scores};
use crate::spar::tree::{self, TreeConfig};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Act {
    Idle,
    In,
    Out,
    Jab,
    Cross,
    Hook,
    Kick,
    Slip,
    Duck,
    Block,
    LightHit,
    HeavyHit,
}
use Act::{Block, Cross, Duck, HeavyHit, Hook, Idle, In, Jab, Kick, LightHit, Out, Slip};

/// Ticks it lasts, from which it can be left, from which it can be left if it landed; contact, 0 for none.
struct Times(u32, u32, u32, u32);

fn times(act: Act) -> Times {
    match act {
        Idle => Times(5, 0, 0, 0),
        In => Times(6, 2, 0, 0),
        Out => Times(7, 2, 0, 0),
        Jab => Times(10, 10, 7, 5),
        Cross => Times(15, 15, 10, 7),
        Hook => Times(15, 15, 11, 8),
        Kick => Times(20, 20, 15, 10),
        Slip => Times(11, 8, 0, 0),
        Duck => Times(13, 10, 0, 0),
        Block => Times(13, 8, 0, 0),
        LightHit => Times(8, 99, 0, 0),
        HeavyHit => Times(12, 99, 0, 0),
    }
}

/// Reach, damage, way, class of a strike.
fn blow(act: Act) -> (f32, f32, f32, u8) {
    match act {
        Jab => (1.10, 1.0, -0.03, 1),
        Cross => (1.10, 2.0, -0.05, 1),
        Hook => (0.95, 2.5, 0.0, 2),
        Kick => (1.35, 3.0, -0.05, 4),
        In => (0.0, 0.0, -0.25, 0),
        Out => (0.0, 0.0, 0.22, 0),
        LightHit => (0.0, 0.0, 0.10, 0),
        HeavyHit => (0.0, 0.0, 0.20, 0),
        _ => (0.0, 0.0, 0.0, 0),
    }
}

/// When a defence helps, ticks, and against which classes.
fn defence(act: Act) -> (u32, u32, u8) {
    match act {
        Slip => (3, 9, 1),
        Duck => (4, 10, 3),
        Block => (4, 12, 7),
        _ => (1, 0, 0),
    }
}

const STRIKES: [Act; 4] = [Jab, Cross, Hook, Kick];

fn strikes(act: Act) -> bool {
    STRIKES.contains(&act)
}

fn stunned(act: Act) -> bool {
    matches!(act, LightHit | HeavyHit)
}

#[derive(Clone, Copy, Debug)]
struct Player {
    act: Act,
    t: u32,
    done: bool,
    landed: bool,
    dealt: f32,
    chain: i32,
    /// Ticks since its last strike in reach.
    since: u32,
}

#[derive(Clone, Copy, Debug)]
struct Line {
    r: f32,
    players: [Player; 2],
    tick: u32,
}

struct Duel {
    delay: u32,
    /// Weight of the damage that each takes: it falls for the one with the initiative.
    fear: [f32; 2],
}

impl Line {
    fn begin(&mut self, who: usize, act: Act) {
        let p = &mut self.players[who];
        (p.act, p.t, p.done, p.landed) = (act, 0, false, false);
    }

    fn tick(&mut self, fear: [f32; 2], scores: &mut Scores) {
        self.tick += 1;
        for p in &mut self.players {
            p.t += 1;
            p.since += 1;
            let (Times(lasts, _, _, contact), way) = (times(p.act), blow(p.act).2);
            let most = if contact > 0 { contact } else { (lasts - 1).clamp(1, 5) };
            if p.t <= most {
                self.r += way / most as f32;
            }
        }
        self.r = self.r.max(0.6);
        let mut landed = [None; 2];
        for who in 0..2 {
            let (p, q) = (self.players[who], self.players[1 - who]);
            let (reach, damage, _, class) = blow(p.act);
            if !strikes(p.act) || p.done || p.t != times(p.act).3 {
                continue;
            }
            self.players[who].done = true;
            if self.r > reach {
                continue;
            }
            self.players[who].since = 0;
            let (from, to, against) = defence(q.act);
            let met = (from..=to).contains(&q.t) && against & class != 0;
            let damage = match (met, q.act) {
                (true, Block) => damage * 0.35,
                (true, _) => 0.0,
                (false, _) => damage,
            };
            if damage > 0.0 {
                landed[who] = Some(damage * libm::powf(0.8, p.chain as f32));
            }
        }
        for who in 0..2 {
            let Some(damage) = landed[who] else { continue };
            self.players[who].dealt += damage;
            self.players[who].landed = true;
            scores[who].given += damage;
            scores[1 - who].taken += fear[1 - who] * damage;
        }
        for who in 0..2 {
            let Some(damage) = landed[who] else { continue };
            let lost = landed[1 - who].is_some_and(|other: f32| other > damage);
            if !lost && self.players[1 - who].act != Block {
                self.players[who].chain += 1;
                self.players[1 - who].chain = 0;
                self.begin(1 - who, if damage >= 2.0 { HeavyHit } else { LightHit });
            }
        }
        for who in 0..2 {
            let off = self.r - 1.0;
            scores[who].location += 0.2 * off * off * 0.05;
            if !stunned(self.players[1 - who].act) {
                self.players[who].chain = 0;
            }
        }
    }
}

impl Duel {
    /// Ended, sees a strike it can answer, landed one that it can follow.
    fn moment(&self, state: &Line, who: usize) -> [bool; 3] {
        let (p, q) = (&state.players[who], &state.players[1 - who]);
        let Times(lasts, leave, follow, _) = times(p.act);
        let ended = p.t >= lasts;
        let free = !ended && !stunned(p.act);
        let sees = free && p.t >= leave && q.t == self.delay && strikes(q.act) && !q.done;
        [ended, sees, free && strikes(p.act) && p.landed && p.t == follow]
    }
}

impl Contest for Duel {
    type State = Line;
    /// Nothing is to go on.
    type Act = Option<Act>;

    fn players(&self, _: &Line) -> usize {
        2
    }

    fn now(&self, state: &Line) -> u32 {
        state.tick
    }

    fn advance(&self, state: &mut Line, until: u32, scores: &mut Scores) {
        loop {
            state.tick(self.fear, scores);
            if state.tick >= until || (0..2).any(|who| self.moment(state, who).contains(&true)) {
                return;
            }
        }
    }

    fn choices(&self, state: &Line, who: usize, out: &mut Vec<Option<Act>>) {
        let [ended, sees, follows] = self.moment(state, who);
        if !(ended || sees || follows) {
            return;
        }
        out.push(if ended { Some(Idle) } else { None });
        let q = &state.players[1 - who];
        if ended || follows {
            if ended {
                out.extend([Some(In), Some(Out)]);
            }
            out.extend(STRIKES.into_iter().filter(|s| state.r - 0.1 <= blow(*s).0).map(Some));
        }
        if sees {
            out.push(Some(Out));
            if state.r <= 1.1 {
                out.push(Some(Jab));
            }
        }
        if sees || strikes(q.act) && !q.done && q.t >= self.delay {
            out.extend([Slip, Duck, Block].map(Some));
        }
    }

    fn play(&self, state: &mut Line, who: usize, act: Option<Act>, _: &mut Scores) {
        if let Some(act) = act {
            state.begin(who, act);
        }
    }

    fn hide(&self, state: &mut Line, who: usize) -> bool {
        let q = &mut state.players[1 - who];
        let hidden = q.t > 0 && q.t < self.delay && q.act != Idle && !stunned(q.act);
        if hidden {
            q.act = Idle;
        }
        hidden
    }

    fn habit(&self, state: &Line, who: usize) -> Option<Option<Act>> {
        let (p, q) = (&state.players[who], &state.players[1 - who]);
        let Times(lasts, leave, ..) = times(p.act);
        let ended = p.t >= lasts;
        let free = ended || !stunned(p.act) && p.t >= leave;
        let sees = strikes(q.act) && !q.done && q.t >= self.delay;
        if free && sees && (ended || q.t == self.delay) {
            let (left, class) = (times(q.act).3.saturating_sub(q.t), blow(q.act).3);
            let helps = |act: &Act| defence(*act).2 & class != 0 && left >= defence(*act).0;
            let wanted = if class & 1 != 0 { [Slip, Block] } else { [Duck, Block] };
            return wanted.into_iter().find(helps).or(ended.then_some(Idle)).map(Some);
        }
        if !ended {
            return None;
        }
        let open = times(q.act).0.saturating_sub(q.t);
        if stunned(q.act) || strikes(q.act) && q.done {
            let punish = |act: &Act| state.r <= blow(*act).0 && open + 2 >= times(*act).3;
            if let Some(act) = STRIKES.into_iter().rev().find(punish) {
                return Some(Some(act));
            }
        }
        Some(Some(Idle))
    }
}

/// Who wins a bout of 60 s, and strikes per fighter in 10 s.
fn bout(depths: [u32; 2], config: &TreeConfig, seed: u64) -> (Option<usize>, f32) {
    let mut chance = Chance::new(seed);
    let mut player =
        || Player { act: Idle, t: chance.below(5), done: false, landed: false, dealt: 0.0, chain: 0, since: 0 };
    let players = [player(), player()];
    let mut state = Line { r: 1.6 + chance.unit(), players, tick: 0 };
    let (mut struck, mut unused) = (0, Scores::default());
    let mut token = 0;
    for _ in 0..1200 {
        state.tick([1.0; 2], &mut unused);
        let seen = state;
        for who in 0..2 {
            let mut belief = seen;
            let mut duel = Duel { delay: 4, fear: [1.0; 2] };
            if !config.clairvoyant {
                duel.hide(&mut belief, who);
            }
            let mut choices = Vec::new();
            duel.choices(&belief, who, &mut choices);
            if choices.is_empty() {
                continue;
            }
            // The one who has the initiative dares more the longer nothing happens.
            let still = seen.players[0].since.min(seen.players[1].since);
            if still <= 30 {
                token = chance.below(2) as usize;
            } else {
                duel.fear[token] = 1.0 - ((still - 30) as f32 / 40.0).min(1.0);
            }
            belief.players.rotate_left(who);
            duel.fear.rotate_left(who);
            belief.tick = 0;
            let config = TreeConfig { depth: depths[who], ..*config };
            let (ranked, _) = tree::decide(&duel, &belief, 0, &choices, &config, &Alone);
            let chosen = ranked[tree::choose(&ranked, ranked[0].depth, 0.15, chance.unit())].act;
            if let Some(act) = chosen {
                struck += u32::from(strikes(act));
                state.begin(who, act);
            }
        }
    }
    let dealt = state.players.map(|p| p.dealt);
    let draw = (dealt[0] - dealt[1]).abs() <= 0.02 * (dealt[0] + dealt[1]);
    ((!draw).then_some(usize::from(dealt[1] > dealt[0])), struck as f32 / 12.0)
}

/// Bouts that the first wins, loses and draws, sides exchanged every other time; strikes.
fn series(depths: [u32; 2], config: &TreeConfig, bouts: u64) -> ([u32; 3], f32) {
    let (mut counts, mut strikes) = ([0; 3], 0.0);
    for k in 0..bouts {
        let swapped = k % 2 == 1;
        let sides = if swapped { [depths[1], depths[0]] } else { depths };
        let (winner, struck) = bout(sides, config, 1000 + k / 2);
        counts[winner.map_or(2, |w| usize::from((w == 1) != swapped))] += 1;
        strikes += struck / bouts as f32;
    }
    (counts, strikes)
}

fn config() -> TreeConfig {
    TreeConfig { horizon: 50, beam: 12, root_beam: 12, nodes: u64::MAX, ..TreeConfig::default() }
}

#[test]
fn deeper_trees_win() {
    for (depths, least) in [([4, 2], 17), ([6, 2], 5), ([6, 4], 4)] {
        let bouts = if depths[0] == 6 { 6 } else { 20 };
        let (counts, strikes) = series(depths, &config(), bouts);
        println!("{depths:?}: {counts:?} of {bouts}, {strikes:.1} strikes in 10 s");
        assert!(counts[0] >= least, "{depths:?}: {counts:?}");
        assert!(strikes > 2.0, "{depths:?}: {strikes} strikes");
    }
}

#[test]
fn equal_depths_are_even() {
    let (counts, strikes) = series([2, 2], &config(), 40);
    assert!(counts[0].abs_diff(counts[1]) <= 16 && counts[2] <= 6, "{counts:?}");
    assert!(strikes > 4.0, "{strikes}");
}
