//! What answers what: every blow against every defence, by geometry, for every moment that the defence may be begun at.
//!
//! The paper makes this table from classes of height and direction and has experts mend it (§ 5.4). Here bodies decide: slips answer straights because the head
//! is gone when the fist arrives.

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::{Height, Role, Vec2};

use crate::spar::bout::{Bout, Corner, Fighter, Outcome, Pruned};
use crate::spar::moves::{Blow, Move, MoveIdx, MoveKind, Moves, Region};
use crate::spar::style::Style;

/// Ticks between two moments that are looked at, and how many.
pub const STEP: u32 = 3;
/// How many moments.
pub const LEADS: usize = 14;

/// How a defence fares against a blow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pairing {
    /// The move that strikes, and which of its blows.
    pub blow: (MoveIdx, usize),
    /// What answers it.
    pub defence: MoveIdx,
    /// Moments before the arrival at which it may begin, one bit each, [`STEP`] apart.
    pub works: u32,
    /// The best of them: the middle of the longest run, ticks before the arrival.
    pub best: u32,
    /// Whether classes of height and direction say so too.
    pub by_class: bool,
}

/// The table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DefenceTable {
    pairings: Vec<Pairing>,
    /// By blow and moment: the defences that work, the quickest first.
    answers: Vec<[[Option<MoveIdx>; 4]; LEADS]>,
    /// Where the blows of a move begin.
    first: Vec<usize>,
}

impl DefenceTable {
    /// Tries all blows of a library against all its defences.
    pub fn of(moves: &Moves) -> DefenceTable {
        let mut table = DefenceTable::default();
        let Some(guard) = moves.of_kind(MoveKind::Guard).last().copied() else { return table };
        let mut defences: Vec<MoveIdx> = moves.of_kind(MoveKind::Avoid).to_vec();
        defences.extend(moves.of_kind(MoveKind::Block));
        // The quickest and smallest first.
        let size = |index: &MoveIdx| moves.get(*index).ends;
        defences.sort_by_key(|index| (size(index), *index));
        let corners = [Corner::new(Style::default(), 0.0, moves), Corner::new(Style::default(), 0.0, moves)];
        let game = Bout {
            moves,
            table: &DefenceTable::default(),
            corners: &corners,
            arena: 6.0,
            clairvoyant: true,
            pruned: Pruned::default(),
        };
        let mut blows = 0;
        for (at, made) in moves.all().iter().enumerate() {
            table.first.push(blows);
            blows += made.blows.len();
            for (k, blow) in made.blows.iter().enumerate() {
                let strike = (MoveIdx(at as u16), k);
                let mut answers = [[None; 4]; LEADS];
                let (f, q) = opposite(&game, (strike.0, k), blow, guard);
                for defence in &defences {
                    let tried = moves.get(*defence);
                    let mut works = 0u32;
                    for (lead, slot) in answers.iter_mut().enumerate() {
                        let met = answered(&game, &f, blow, &q, *defence, lead as u32 * STEP);
                        if met == Outcome::Landed {
                            continue;
                        }
                        works |= 1 << lead;
                        if let Some(free) = slot.iter_mut().find(|free| free.is_none()) {
                            *free = Some(*defence);
                        }
                    }
                    let (best, by_class) = (longest(works), by_class(blow.height, tried));
                    table.pairings.push(Pairing { blow: strike, defence: *defence, works, best, by_class });
                }
                table.answers.push(answers);
            }
        }
        table
    }

    /// Defences against a blow that arrives in so many ticks, the quickest first.
    #[inline]
    pub fn answers(&self, doing: MoveIdx, blow: usize, ticks: u32) -> &[Option<MoveIdx>; 4] {
        const NONE: [Option<MoveIdx>; 4] = [None; 4];
        let at = self.first.get(doing.at()).map_or(usize::MAX, |first| first + blow);
        self.answers.get(at).map_or(&NONE, |row| &row[((ticks / STEP) as usize).min(LEADS - 1)])
    }

    /// Every blow against every defence.
    pub fn pairings(&self) -> &[Pairing] {
        &self.pairings
    }
}

/// A striker whose blow is about to touch, and an opponent in guard who stands just where it arrives and looks at the striker.
fn opposite(game: &Bout<'_>, (doing, k): (MoveIdx, usize), blow: &Blow, guard: MoveIdx) -> (Fighter, Fighter) {
    let moves = game.moves;
    let body = moves.get(guard).body(0);
    let wanted = match Region::aimed(blow.height) {
        Region::Head => Role::Head,
        Region::Body => Role::Back,
        Region::Leg => Role::LeftHip,
    };
    let target = moves.targets().iter().position(|t| t.part == wanted).unwrap_or(0);
    let turned = PlanarMatrix::new(&Planar { turn: std::f32::consts::PI, shift: Vec2::ZERO });
    let there = turned.point(body[target]);
    let place = blow.place + blow.way * (0.5 * moves.targets()[target].radius);
    let shift = Vec2::new(place.x - there.x, place.z - there.z);
    let q = Fighter::new(PlanarMatrix::new(&Planar { turn: std::f32::consts::PI, shift }), guard);
    let mut f = Fighter { doing, blow: k as u8, ..Fighter::new(PlanarMatrix::IDENTITY, guard) };
    let aim = game.aim(0, &f, blow, 0, 1, &q);
    f.place = f.place.after(&PlanarMatrix::new(&Planar { turn: aim.turn, shift: Vec2::ZERO }));
    (f.led, f.hits, f.way) = (aim.led, aim.hits as u16, aim.way);
    (f, q)
}

/// What becomes of a blow if the opponent begins a defence so many ticks before it would touch.
fn answered(game: &Bout<'_>, f: &Fighter, blow: &Blow, q: &Fighter, defence: MoveIdx, lead: u32) -> Outcome {
    let begun = Fighter { t: f.hits.saturating_sub(lead as u16), ..*f };
    let body = game.moving(1, q, 1);
    let mut q = Fighter { doing: defence, t: 0, ..*q };
    q.lag = game.lag(1, (&body.0, &body.1), &q);
    let made = game.moves.get(defence);
    if made.kind == MoveKind::Block {
        q.led = game.meet(1, &q, made, 0, &begun);
    }
    game.meets(0, &begun, blow, 1, &q).0
}

/// The middle of the longest run of bits, in ticks.
fn longest(works: u32) -> u32 {
    let (mut best, mut begun) = ((0, 0), None);
    for k in 0..=LEADS as u32 {
        match (works >> k & 1 == 1, begun) {
            (true, None) => begun = Some(k),
            (false, Some(from)) => {
                if k - from > best.0 {
                    best = (k - from, from);
                }
                begun = None;
            }
            _ => {}
        }
    }
    (best.1 + best.0 / 2) * STEP
}

/// What height and words say, as in the paper.
fn by_class(height: Height, defence: &Move) -> bool {
    let says = |words: &[&str]| words.iter().any(|word| defence.name.contains(word));
    match (height, defence.kind) {
        (Height::High, MoveKind::Block) => says(&["high", "cover", "parry"]),
        (Height::Middle, MoveKind::Block) => says(&["middle", "cover"]),
        (Height::Low, MoveKind::Block) => says(&["low", "shin"]),
        (Height::High, _) => says(&["slip", "sway", "duck", "weave", "dip", "snap", "lean", "squat", "limbo", "back"]),
        (Height::Middle, _) => says(&["hip", "hollow", "twist", "back", "sidestep", "step out"]),
        (Height::Low, _) => says(&["knee", "leg", "hop", "jump", "back", "step out"]),
    }
}
