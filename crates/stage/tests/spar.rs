//! Fights on stage: they are fought, they are the same whoever comes first, deeper trees win, odd wishes are survived.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::{Arc, OnceLock};

use kumite_captures::whole_library;
use kumite_motion::Vec2;
use kumite_plan::dodge::DodgeConfig;
use kumite_plan::spar::moves::MoveKind;
use kumite_plan::spar::rehearsal;
use kumite_plan::spar::{Style, TreeConfig};
use kumite_plan::{Alone, Pool};
use kumite_stage::spar_trial::{self, BoutReport, Entrant};
use kumite_stage::sparring::SparWish;
use kumite_stage::{Defence, EventKind, Host, Kit, Performance, scene};

fn kits() -> &'static [Arc<Kit>] {
    static KITS: OnceLock<Vec<Arc<Kit>>> = OnceLock::new();
    KITS.get_or_init(|| {
        let library = Arc::new(whole_library("embedded").unwrap());
        vec![Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), None))]
    })
}

fn entrant(name: &str, style: &str, depth: u32) -> Entrant {
    Entrant { name: name.to_owned(), wish: SparWish::new("", Style::named(style).unwrap(), depth) }
}

fn fought(entrants: &[Entrant; 2], starts: [spar_trial::Start; 2], seed: u64, host: Arc<dyn Host>) -> BoutReport {
    spar_trial::bout(kits(), entrants, starts, (seed, 12.0), host).0
}

#[test]
fn a_library_of_fighters_has_moves_of_all_kinds() {
    let moves = &kits()[0].spar().moves;
    for (kind, least) in [
        (MoveKind::Guard, 1),
        (MoveKind::Strike, 20),
        (MoveKind::Avoid, 20),
        (MoveKind::Block, 10),
        (MoveKind::Step, 10),
        (MoveKind::Turn, 8),
        (MoveKind::React, 15),
    ] {
        assert!(moves.of_kind(kind).len() >= least, "{kind:?}: {}", moves.of_kind(kind).len());
    }
}

#[test]
fn a_duel_is_fought_within_reach_and_face_to_face() {
    let report = fought(
        &[entrant("Ana", "general", 4), entrant("Bo", "general", 4)],
        spar_trial::facing_starts(2.4),
        7,
        Arc::new(Alone),
    );
    for side in &report.sides {
        assert!(side.blows >= 3 && side.landed >= 1 && side.different >= 5, "{side:?}");
    }
    assert!(report.reached.is_some_and(|time| time < 5.0), "{:?}", report.reached);
    assert!((0.7..1.6).contains(&report.distance), "{}", report.distance);
}

/// Slots exchanged: the same take, names exchanged with them.
#[test]
fn who_comes_first_does_not_matter() {
    let [a, b] = [entrant("Ana", "infighter", 4), entrant("Bo", "outboxer", 2)];
    let starts = spar_trial::random_starts(&[a.clone(), b.clone()], 5, 4.0);
    let played = |pair: [Entrant; 2], starts| {
        let (report, played) = spar_trial::bout(kits(), &pair, starts, (5, 15.0), Arc::new(Alone));
        let mut takes: Vec<(String, u64)> =
            played.takes().unwrap().iter().map(|take| (take.clip.name.clone(), take.hash)).collect();
        takes.sort();
        (report, takes)
    };
    let (one, first) = played([a.clone(), b.clone()], starts);
    let (other, second) = played([b, a], [starts[1], starts[0]]);
    // All frames of both, bit for bit.
    assert_eq!(first, second);
    assert_eq!((one.hash, first.len()), (other.hash, 2));
    assert_eq!(one.sides[0].damage, other.sides[1].damage);
    assert!(one.sides[0].blows + one.sides[1].blows > 4, "{one:?}");
}

/// Rounds begin with what the last one left, and a knock-out ends them.
#[test]
fn rounds_are_fought_with_what_is_left() {
    let mut pair = [entrant("Ana", "general", 2), entrant("Bo", "general", 2)];
    let host: Arc<dyn Host> = Arc::new(Alone);
    let starts = spar_trial::facing_starts(2.0);
    let rounds = spar_trial::rounds(kits(), &pair, starts, (3, 8.0, 2), &host);
    assert_eq!(rounds.len(), 2);
    let lost = |k: usize| pair[k].wish.health - rounds[0].0.sides[k].left.0;
    let hurt = [0, 1].map(|k| (lost(k) - rounds[0].0.sides[1 - k].damage).abs());
    assert!(hurt.iter().all(|off| *off < 1e-3), "{hurt:?}");
    let damage: f32 = rounds.iter().map(|r| r.0.sides[0].damage + r.0.sides[1].damage).sum();
    assert!(damage > 0.0);
    // Who can take next to nothing is out in the first.
    pair[0].wish.health = 0.1;
    pair[1].wish.health = 0.1;
    let rounds = spar_trial::rounds(kits(), &pair, starts, (3, 15.0, 3), &host);
    assert_eq!(rounds.len(), 1);
    assert_eq!(spar_trial::winner_of(&[&rounds[0].0]), rounds[0].0.out.map(|out| 1 - out));
}

/// Blows end as the rules said before they arrived, and touch where they land; limbs do not flip and feet do not slide.
#[test]
fn what_the_rules_say_is_shown() {
    let (mut predicted, mut shown) = ((0, 0), (0, 0));
    for seed in [61, 62, 63] {
        let pair = [entrant("Ana", "general", 4), entrant("Bo", "general", 2)];
        let starts = spar_trial::facing_starts(2.0);
        let (report, played) = spar_trial::bout(kits(), &pair, starts, (seed, 30.0), Arc::new(Alone));
        predicted = (predicted.0 + report.predicted.0, predicted.1 + report.predicted.1);
        shown = (shown.0 + report.shown.0, shown.1 + report.shown.1);
        let look = spar_trial::BoutLook::of(&played);
        assert!(look.slide <= 2.0 && look.float <= 1.0, "{look:?}");
        assert!(look.snaps <= 2 && look.snap < 4.0, "{look:?}");
        assert!(look.overlapping.0 * 500 < look.overlapping.1, "{look:?}");
    }
    assert!(predicted.1 > 50 && predicted.0 * 100 >= predicted.1 * 85, "{predicted:?}");
    assert!(shown.1 > 25 && shown.0 * 100 >= shown.1 * 90, "{shown:?}");
}

/// Runs parts backwards.
#[derive(Debug)]
struct Backwards;

impl Pool for Backwards {
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..parts).rev().for_each(work);
    }
}

impl Host for Backwards {}

#[test]
fn a_pool_changes_nothing() {
    let pair = [entrant("Ana", "general", 4), entrant("Bo", "general", 4)];
    let starts = spar_trial::facing_starts(2.0);
    let (alone, helped) = (fought(&pair, starts, 3, Arc::new(Alone)), fought(&pair, starts, 3, Arc::new(Backwards)));
    assert_eq!(alone, helped);
}

/// By the rules alone, where bouts are quick.
#[test]
fn deeper_trees_win_with_real_moves() {
    let spar = kits()[0].spar();
    let fighter = |depth| rehearsal::Entrant::new(Style::default(), depth);
    let (deep, shallow) = (fighter(4), fighter(2));
    let mut wins = 0;
    for k in 0..8u64 {
        let pair = if k % 2 == 0 { [&deep, &shallow] } else { [&shallow, &deep] };
        let tally = rehearsal::bout(&spar.moves, &spar.table, pair, [2 * k + 1, 2 * k + 2], 40.0);
        wins += u32::from(tally.winner() == Some((k % 2) as usize));
    }
    assert!(wins >= 6, "{wins} of 8");
}

#[test]
fn odd_wishes_are_survived() {
    for (depth, starts) in [
        (0, spar_trial::facing_starts(2.0)),
        (50, spar_trial::facing_starts(2.0)),
        (2, [(Vec2::ZERO, 0.0), (Vec2::ZERO, 0.0)]),
    ] {
        let mut pair = [entrant("Ana", "general", depth), entrant("Bo", "general", depth)];
        for e in &mut pair {
            e.wish.tree = TreeConfig { nodes: 2_000, ..e.wish.tree };
        }
        let (report, played): (BoutReport, Performance) =
            spar_trial::bout(kits(), &pair, starts, (1, 3.0), Arc::new(Alone));
        assert!(report.seconds > 2.9);
        assert!(played.world.characters.values().all(|m| m.character.pose().root().is_finite()));
        assert!(!played.events.iter().any(|e| matches!(e.kind, EventKind::Fault(_))));
    }
    let with = |keys: &str| format!("seconds = 1\n[[character]]\nname = \"a\"\n{keys}\n[[character]]\nname = \"b\"\n");
    for (keys, key) in [
        ("opponent = \"c\"", "opponent"),
        ("opponent = \"b\"\nstyle = \"drunk\"", "style"),
        ("opponent = \"b\"\nstyle = { distance = nan }", "style"),
        ("opponent = \"b\"\ndepth = 50", "depth"),
    ] {
        let error = scene::read(&with(keys)).unwrap_err();
        assert!(error.key.as_deref().is_some_and(|k| k.contains(key)), "{keys}: {error}");
    }
}
