//! What answers what: every blow against every defence, by geometry, for every moment that the defence may be begun at.
//!
//! The paper makes this table from classes of height and direction and has experts mend it (§ 5.4). Here bodies decide: slips answer straights because the head
//! is gone when the fist arrives.

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::{Height, Role, Vec2};

use crate::spar::bout::{self, Outcome};
use crate::spar::moves::{Move, MoveIdx, MoveKind, Moves, Region};

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
        let Some(guard) = moves.of_kind(MoveKind::Guard).first().map(|g| moves.get(*g)) else { return table };
        let mut defences: Vec<MoveIdx> = moves.of_kind(MoveKind::Avoid).to_vec();
        defences.extend(moves.of_kind(MoveKind::Block));
        // The quickest and smallest first.
        let size = |index: &MoveIdx| moves.get(*index).ends;
        defences.sort_by_key(|index| (size(index), *index));
        let mut blows = 0;
        for (at, made) in moves.all().iter().enumerate() {
            table.first.push(blows);
            blows += made.blows.len();
            for (k, blow) in made.blows.iter().enumerate() {
                let mut answers = [[None; 4]; LEADS];
                // An opponent who stands just where the blow arrives, and looks at the striker.
                let region = Region::aimed(blow.height);
                let targets = moves.targets().iter().enumerate();
                let aimed = targets.filter(|(_, t)| {
                    Region::of(t.part) == region && !matches!(t.part, Role::LeftKnee | Role::RightKnee)
                });
                let tall = |k: usize| (guard.body(0)[k].y - blow.place.y).abs();
                let Some((target, hit)) = aimed.min_by(|a, b| tall(a.0).total_cmp(&tall(b.0))) else { continue };
                let wanted = blow.place + blow.way * (hit.radius + blow.radius);
                let turned = PlanarMatrix::new(&Planar { turn: std::f32::consts::PI, shift: Vec2::ZERO });
                let there = turned.point(guard.body(0)[target]);
                let shift = Vec2::new(wanted.x - there.x, wanted.z - there.z);
                let place = PlanarMatrix::new(&Planar { turn: std::f32::consts::PI, shift });
                let mut aim = blow.place;
                aim.y = guard.body(0)[target].y - blow.way.y * (hit.radius + blow.radius);
                for defence in &defences {
                    let tried = moves.get(*defence);
                    let mut works = 0u32;
                    for (lead, slot) in answers.iter_mut().enumerate() {
                        let tick = lead as u32 * STEP;
                        let (outcome, _) = bout::meets(moves, tried, tick, &place, (aim, blow.way, blow.radius));
                        if outcome == Outcome::Landed {
                            continue;
                        }
                        works |= 1 << lead;
                        if let Some(free) = slot.iter_mut().find(|free| free.is_none()) {
                            *free = Some(*defence);
                        }
                    }
                    let best = longest(works);
                    let by_class = by_class(blow.height, tried);
                    table.pairings.push(Pairing {
                        blow: (MoveIdx(at as u16), k),
                        defence: *defence,
                        works,
                        best,
                        by_class,
                    });
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
