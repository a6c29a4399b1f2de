//! A bout played by the rules alone, without bodies: quick enough for hundreds of them.

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::{Chance, Vec2};

use crate::pool::Alone;
use crate::spar::bout::{Bout, Corner, Fight, Fighter, Pruned, bearing};
use crate::spar::contest::{Contest, Scores};
use crate::spar::moves::{MoveKind, Moves, RATE};
use crate::spar::policy::Choice;
use crate::spar::table::DefenceTable;
use crate::spar::tree::{self, TreeConfig, TreeCounts};
use crate::spar::{Outcome, Style};

/// From the beginning of an action of the other to its being known, seconds: what people need to see and begin to move.
pub const DELAY: f32 = 0.2;

/// Ticks without a blow in reach after which one of the fighters dares more, and after which it fears nothing.
pub const STILL: (u32, u32) = (90, 210);

/// What is left of the fear of whoever has the initiative, after so many ticks without a blow in reach.
pub fn fear(still: u32) -> f32 {
    let over = still.saturating_sub(STILL.0) as f32 / (STILL.1 - STILL.0) as f32;
    1.0 - over.min(1.0)
}

/// Who fights, and how well it plans.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// How it fights.
    pub style: Style,
    /// Seconds until it sees what the other does.
    pub delay: f32,
    /// How it searches.
    pub tree: TreeConfig,
    /// How much chance there is in its choices.
    pub temperature: f32,
}

impl Entrant {
    /// Of a style and a depth.
    pub fn new(style: Style, depth: u32) -> Entrant {
        Entrant { style, delay: DELAY, tree: TreeConfig { depth, ..TreeConfig::default() }, temperature: 0.12 }
    }
}

/// What came of a bout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tally {
    /// Damage given by each.
    pub given: [f32; 2],
    /// Blows of each in reach: landed, blocked, missed.
    pub blows: [[u32; 3]; 2],
    /// Defences begun by each.
    pub defences: [u32; 2],
    /// Blows of the other that each saw in time.
    pub seen: [u32; 2],
    /// Longest time without a blow, seconds.
    pub gap: f32,
    /// Mean distance, metres.
    pub distance: f32,
    /// Seconds that it took.
    pub seconds: f32,
    /// Different moves of each.
    pub different: [usize; 2],
    /// Decisions of both.
    pub decisions: u32,
    /// What the trees did.
    pub counts: TreeCounts,
    /// What was done: tick, who, name.
    pub log: Vec<(u32, usize, String)>,
}

impl Tally {
    /// Who won; nobody if the damage is within 2 %.
    pub fn winner(&self) -> Option<usize> {
        let [a, b] = self.given;
        ((a - b).abs() > 0.02 * (a + b)).then_some(usize::from(b > a))
    }
}

/// Plays a bout of at most so many seconds. Two that are exchanged give the same bout, exchanged, if their seeds are.
pub fn bout(moves: &Moves, table: &DefenceTable, entrants: [&Entrant; 2], seeds: [u64; 2], seconds: f32) -> Tally {
    let mut tally = Tally::default();
    let Some(guard) = moves.of_kind(MoveKind::Guard).last().copied() else { return tally };
    let mut chances = seeds.map(Chance::new);
    let away = 1.2 + chances[0].unit() + chances[1].unit();
    let stand = |x: f32| {
        let shift = Vec2::new(x, 0.0);
        Fighter::new(PlanarMatrix::new(&Planar { turn: bearing(shift, Vec2::ZERO), shift }), guard)
    };
    let mut fighters = [stand(-0.5 * away), stand(0.5 * away)];
    for (f, chance) in fighters.iter_mut().zip(&mut chances) {
        f.t = chance.below(18) as u16;
    }
    let [a, b] = fighters;
    let mut fight = Fight { fighters: [a, b, a, a], count: 2, now: 0 };
    let mut corners: Vec<Corner> = entrants.iter().map(|e| Corner::new(e.style.clone(), e.delay, moves)).collect();
    let (mut last_blow, mut holds, mut known) = (0u32, None, [Vec::new(), Vec::new()]);
    let mut looks = 0u32;
    while (fight.now as f32) < seconds * RATE as f32 && fight.fighters[..2].iter().all(|f| f.health > 0.0) {
        // All that decide now do so before any of them acts.
        let still = u32::from(fight.fighters[0].since.min(fight.fighters[1].since));
        if still < STILL.0 {
            holds = None;
        } else if holds.is_none() {
            let [a, b] = [chances[0].unit(), chances[1].unit()];
            holds = Some(usize::from(b > a));
        }
        let mut chosen = [None; 2];
        // Nobody thinks in most ticks.
        let looks_up = |who: usize| {
            let game =
                Bout { moves, table, corners: &corners, arena: 6.0, clairvoyant: false, pruned: Pruned::default() };
            let visible = fight.fighters[1 - who].t == corners[who].delay;
            entrants[who].tree.clairvoyant || visible || game.moment(&fight, who).any()
        };
        let thinks = [0, 1].map(looks_up);
        for who in (0..2).filter(|who| thinks[*who]) {
            for (k, corner) in corners.iter_mut().enumerate() {
                corner.fear = if holds == Some(k) { fear(still) } else { 1.0 };
            }
            // Everybody is the first in its own mind.
            let mut belief = fight;
            belief.fighters.swap(0, who);
            let own = if who == 0 { corners.clone() } else { vec![corners[1].clone(), corners[0].clone()] };
            let clairvoyant = entrants[who].tree.clairvoyant;
            let pruned = Pruned::default();
            let game = Bout { moves, table, corners: &own, arena: 6.0, clairvoyant, pruned };
            if !clairvoyant {
                game.hide(&mut belief, 0);
            }
            let mut choices = Vec::new();
            game.choices(&belief, 0, &mut choices);
            if choices.is_empty() {
                continue;
            }
            tally.decisions += 1;
            let (ranked, counts) = tree::decide(&game, &belief, 0, &choices, &entrants[who].tree, &Alone);
            tally.counts.add(&counts);
            let u = chances[who].unit();
            let at = tree::choose(&ranked, ranked[0].depth, entrants[who].temperature, u);
            chosen[who] = Some(ranked[at].act);
        }
        let game = Bout { moves, table, corners: &corners, arena: 6.0, clairvoyant: false, pruned: Pruned::default() };
        let mut unused = Scores::default();
        let before = fight;
        for who in 0..2 {
            if let Some(Choice::Begin(doing)) = chosen[who] {
                let made = moves.get(doing);
                if made.kind != MoveKind::Guard {
                    tally.log.push((fight.now, who, made.name.clone()));
                    known[who].push(doing);
                }
                tally.defences[who] += u32::from(matches!(made.kind, MoveKind::Avoid | MoveKind::Block));
                // Both act on what was, not on what the other just began.
                let mut own = before;
                game.play(&mut own, who, Choice::Begin(doing), &mut unused);
                fight.fighters[who] = own.fighters[who];
            }
        }
        let before = fight;
        // A tick at a time would be exact too; events are enough.
        game.advance(&mut fight, before.now + 1, &mut unused);
        for who in 0..2 {
            let (f, g) = (&before.fighters[who], &fight.fighters[who]);
            if f.doing == g.doing && g.blow > f.blow && g.last != Outcome::Open {
                let reach = g.since == 0;
                tally.blows[who][match g.last {
                    Outcome::Landed => 0,
                    Outcome::Blocked => 1,
                    _ => 2,
                }] += u32::from(reach);
                tally.gap = tally.gap.max((fight.now - last_blow) as f32 / RATE as f32);
                last_blow = fight.now;
            }
            tally.given[1 - who] += (before.fighters[who].health - g.health).max(0.0);
        }
        tally.distance +=
            (game.stance(0, &fight.fighters[0]).shift - game.stance(1, &fight.fighters[1]).shift).length();
        looks += 1;
    }
    tally.distance /= looks.max(1) as f32;
    tally.seconds = fight.now as f32 / RATE as f32;
    tally.gap = tally.gap.max((fight.now - last_blow) as f32 / RATE as f32);
    for (moves, different) in known.iter_mut().zip(&mut tally.different) {
        moves.sort();
        moves.dedup();
        *different = moves.len();
    }
    tally
}
