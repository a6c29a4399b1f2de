//! Bouts from random starts, and what is measured of them on the frames that are shown.

use std::sync::Arc;

use kumite_motion::hash::fnv1a;
use kumite_motion::rotation::wrap;
use kumite_motion::{Chance, Clip, Role, Vec2};
use kumite_plan::spar::bout::bearing;
use kumite_plan::spar::moves::MoveKind;
use kumite_plan::spar::{Outcome, TreeCounts};

use crate::op::{Begin, BlowEvent, EventKind, Op, Spawn};
use crate::sparring::SparWish;
use crate::world::{CharacterId, Perception, Wish, World};
use crate::{Host, Kit, Performance, Quality, TICKS, overlap, scene_spar, sense};

/// Who fights.
#[derive(Clone, Debug, PartialEq)]
pub struct Entrant {
    /// Chance goes by the name, so that who comes first does not matter.
    pub name: String,
    /// How it fights; the opponent is filled in.
    pub wish: SparWish,
}

/// How far off still counts as where one wants to be, metres, radians.
const THERE: (f32, f32) = (0.2, 0.349);
/// Nothing is neutral within this of an attack or a reaction, ticks.
const CALM: u64 = TICKS as u64;

/// What came of one fighter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Side {
    /// Damage given.
    pub damage: f32,
    /// Blows: all, in reach, landed, blocked.
    pub blows: u32,
    /// In reach.
    pub reach: u32,
    /// Landed.
    pub landed: u32,
    /// Blocked.
    pub blocked: u32,
    /// Long ones.
    pub long: u32,
    /// Of the other's blows, those it saw in time, and those it answered.
    pub seen: u32,
    /// Answered.
    pub answered: u32,
    /// Different actions.
    pub different: usize,
    /// Mean error in neutral frames: metres, radians.
    pub off: (f32, f32),
    /// Decisions, and what they took.
    pub decisions: u32,
    /// Of its trees.
    pub counts: TreeCounts,
    /// Choices that were looked at, did not reach, were needless, ended inside.
    pub pruned: [u64; 4],
    /// Places of its path that it passed.
    pub places: usize,
    /// What it could still take in the end, and its breath.
    pub left: (f32, f32),
}

/// How a bout looks, over all frames of both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoutLook {
    /// Deepest overlap of the bodies, metres.
    pub deepest: f32,
    /// Frames that overlap by more than 3 cm, and all.
    pub overlapping: (u32, u32),
    /// Which parts those are: in how many frames, and how deep at most, metres.
    pub pairs: Vec<([Role; 2], usize, f32)>,
    /// What snaps by more than 1.5: when, which joint, by how much.
    pub snapped: Vec<(f32, Role, f32)>,
    /// Largest snap outside impacts, and in them, in units of captures.
    pub snap: f32,
    /// In impacts.
    pub snap_in_impacts: f32,
    /// Frames of joints that snap by more than 1.5.
    pub snaps: u32,
    /// Mean slide of planted feet, centimetres per second, of the worse.
    pub slide: f32,
    /// Mean distance of planted feet from the floor, centimetres, of the worse.
    pub float: f32,
}

impl BoutLook {
    /// Looks at all frames.
    pub fn of(performance: &Performance) -> BoutLook {
        let Ok(takes) = performance.takes() else { return BoutLook::default() };
        let clips: Vec<&Clip> = takes.iter().map(|t| &t.clip).collect();
        let depths = overlap::of_bodies_by_frame(&clips);
        let pairs = match clips[..] {
            [a, b] => overlap::pairs_of_bodies([a, b], 0.03),
            _ => Vec::new(),
        };
        let snapped = takes.iter().flat_map(|t| t.snaps.iter().map(|s| (s.time, s.role, s.size))).collect();
        let most = |f: fn(&Quality) -> f32| takes.iter().map(|t| f(&t.quality)).fold(0.0, f32::max);
        BoutLook {
            deepest: depths.iter().copied().fold(0.0, f32::max),
            overlapping: (depths.iter().filter(|d| **d > 0.03).count() as u32, depths.len() as u32),
            pairs,
            snapped,
            snap: most(|q| q.snap),
            snap_in_impacts: most(|q| q.snap_in_impacts),
            snaps: takes.iter().map(|t| t.snaps.len() as u32).sum(),
            slide: most(|q| q.foot_slide_cm_s),
            float: most(|q| q.float_cm),
        }
    }
}

/// What came of a bout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoutReport {
    /// In the order of the entrants.
    pub sides: [Side; 2],
    /// Who was knocked out.
    pub out: Option<usize>,
    /// Seconds.
    pub seconds: f32,
    /// Times between blows, seconds.
    pub gaps: Vec<f32>,
    /// When both were first where they wanted to be, seconds.
    pub reached: Option<f32>,
    /// How far apart they began, metres.
    pub start: f32,
    /// Neutral frames since then, and those of them in which both were where they wanted to be.
    pub neutral: (u32, u32),
    /// All frames.
    pub frames: u32,
    /// Mean distance, metres.
    pub distance: f32,
    /// Blows whose outcome was as the rules said, of all.
    pub predicted: (u32, u32),
    /// What the rules said, and what was shown: landed, blocked, missed.
    pub told: [[u32; 3]; 3],
    /// Hits that showed contact within 3 cm, of all.
    pub shown: (u32, u32),
    /// Of the frames that were recorded.
    pub look: BoutLook,
    /// Largest turn about each other without a blow, radians.
    pub circled: f32,
    /// Over all frames of both, by name.
    pub hash: u64,
}

impl BoutReport {
    /// Who won: by knock-out, or by more than 2 % of the damage.
    pub fn winner(&self) -> Option<usize> {
        if let Some(out) = self.out {
            return Some(1 - out);
        }
        let [a, b] = [self.sides[0].damage, self.sides[1].damage];
        ((a - b).abs() > 0.02 * (a + b)).then_some(usize::from(b > a))
    }
}

/// Where and how somebody comes on.
pub type Start = (Vec2, f32);

/// Two starts within some distance of each other, facing anywhere: chance goes by the names.
pub fn random_starts(entrants: &[Entrant; 2], seed: u64, within: f32) -> [Start; 2] {
    let start = |k: usize| {
        let mut chance = Chance::new(seed ^ fnv1a(entrants[k].name.bytes()).rotate_left(17));
        let (turn, away) = (std::f32::consts::TAU * chance.unit(), 0.5 * within * chance.unit().sqrt());
        let (sine, cosine) = libm::sincosf(turn);
        (Vec2::new(sine, cosine) * away.max(0.3), std::f32::consts::TAU * chance.unit())
    };
    let [a, mut b] = [start(0), start(1)];
    if (a.0 - b.0).length() < 0.7 {
        b.0 = -a.0;
    }
    [a, b]
}

/// Face to face, so far apart.
pub fn facing_starts(away: f32) -> [Start; 2] {
    [(Vec2::new(0.0, -0.5 * away), 0.0), (Vec2::new(0.0, 0.5 * away), std::f32::consts::PI)]
}

/// The ops that begin a bout.
pub fn ops(entrants: &[Entrant; 2], starts: [Start; 2], seed: u64, seconds: f32) -> Vec<Op> {
    let spawn = |k: usize| {
        let mut wish = entrants[k].wish.clone();
        (wish.opponent, wish.seconds) = (entrants[1 - k].name.clone(), seconds);
        Op::Spawn(Spawn {
            name: entrants[k].name.clone(),
            kit: 0,
            at: starts[k].0,
            facing: starts[k].1,
            begin: Some(Begin { clip: "guard-bounce".to_owned(), at: None }),
            wish: Wish::Spar(Box::new(wish)),
            perception: Perception::default(),
            seed: scene_spar::seed(seed, &entrants[k].name),
        })
    };
    let mut ops = vec![spawn(0), spawn(1)];
    if let Op::Spawn(s) = &mut ops[0]
        && s.name.is_empty()
    {
        s.begin = None;
    }
    ops
}

/// Plays and measures a bout of at most so many seconds; a knock-out ends it three seconds later.
pub fn bout(
    kits: &[Arc<Kit>],
    entrants: &[Entrant; 2],
    starts: [Start; 2],
    (seed, seconds): (u64, f32),
    host: Arc<dyn Host>,
) -> (BoutReport, Performance) {
    let mut ops = ops(entrants, starts, seed, seconds);
    // A library without that clip begins anywhere.
    let has = kits[0].library().clips().iter().any(|clip| clip.name == "guard-bounce");
    for op in &mut ops {
        if let Op::Spawn(spawn) = op
            && !has
        {
            spawn.begin = None;
        }
    }
    let mut performance = Performance::of(World::default(), host);
    let mut watch = Watch::default();
    let ticks = (seconds * TICKS as f32) as u64;
    let mut until = ticks;
    for tick in 0..ticks {
        performance.step(kits, if tick == 0 { &ops } else { &[] });
        watch.look(&performance.world, &kits[0], entrants);
        let new = watch.events..performance.events.len();
        watch.events = new.end;
        for event in &performance.events[new] {
            match &event.kind {
                EventKind::Blow(blow) => watch.blow(tick, blow),
                EventKind::KnockedOut { .. } if watch.report.out.is_none() => {
                    watch.report.out = watch.ids.iter().position(|id| Some(*id) == event.who);
                    until = until.min(tick + 3 * u64::from(TICKS));
                }
                _ => {}
            }
        }
        if tick >= until {
            break;
        }
    }
    (watch.finish(&performance), performance)
}

/// Share of what was lost that comes back between two rounds.
const REST: f32 = 0.5;

/// Rounds one after the other: each begins with what the last one left, and half of what was lost comes back in between. A knock-out ends it all.
pub fn rounds(
    kits: &[Arc<Kit>],
    entrants: &[Entrant; 2],
    starts: [Start; 2],
    (seed, seconds, count): (u64, f32, u32),
    host: &Arc<dyn Host>,
) -> Vec<(BoutReport, Performance)> {
    let mut fresh = entrants.clone();
    let mut fought: Vec<(BoutReport, Performance)> = Vec::new();
    for round in 0..u64::from(count) {
        let seed = seed.wrapping_add(round.wrapping_mul(1_000_003));
        let (report, performance) = bout(kits, &fresh, starts, (seed, seconds), Arc::clone(host));
        for (k, side) in report.sides.iter().enumerate() {
            let (first, wish) = (&entrants[k].wish, &mut fresh[k].wish);
            wish.health = side.left.0 + REST * (first.health - side.left.0);
            wish.breath = side.left.1 + REST * (first.breath - side.left.1);
        }
        let over = report.out.is_some();
        fought.push((report, performance));
        if over {
            break;
        }
    }
    fought
}

/// Who won of several rounds: by knock-out, by more rounds, or else by more than 2 % of all damage.
pub fn winner_of(rounds: &[&BoutReport]) -> Option<usize> {
    if let Some(out) = rounds.last().and_then(|last| last.out) {
        return Some(1 - out);
    }
    let won = [0, 1].map(|k| rounds.iter().filter(|r| r.winner() == Some(k)).count());
    if won[0] != won[1] {
        return Some(usize::from(won[1] > won[0]));
    }
    let [a, b] = [0, 1].map(|k| rounds.iter().map(|r| r.sides[k].damage).sum::<f32>());
    ((a - b).abs() > 0.02 * (a + b)).then_some(usize::from(b > a))
}

/// How far off each of two is: metres, radians.
type Errors = [(f32, f32); 2];

/// What is kept while a bout is watched.
#[derive(Default)]
struct Watch {
    report: BoutReport,
    ids: Vec<CharacterId>,
    events: usize,
    last_blow: u64,
    /// When anybody last struck or reacted.
    busy: u64,
    bearing: f32,
    turned: f32,
    sums: [(f32, f32); 2],
    moves: [Vec<u16>; 2],
    near: f32,
    /// Neutral ticks that wait until a second has passed without anything: they do not count if a strike begins.
    waiting: Vec<(u64, bool, Errors)>,
}

impl Watch {
    fn look(&mut self, world: &World, kit: &Kit, entrants: &[Entrant; 2]) {
        self.ids = entrants.iter().filter_map(|e| world.named(&e.name)).collect();
        let [a, b] = self.ids[..] else { return };
        let place = |id: CharacterId| {
            let at = world.characters[id].character.world().position(Role::Pelvis.joint());
            Vec2::new(at.x, at.z)
        };
        let (at, tick) = ([place(a), place(b)], world.tick);
        let r = (at[0] - at[1]).length();
        if self.report.frames == 0 {
            self.report.start = r;
            self.bearing = bearing(at[0], at[1]);
        }
        self.report.frames += 1;
        self.near += r;
        let now = bearing(at[0], at[1]);
        self.turned += wrap(now - self.bearing);
        self.bearing = now;
        self.report.circled = self.report.circled.max(self.turned.abs());
        let mut errors = [(0.0, 0.0); 2];
        let mut calm = true;
        let mean = 0.5 * (entrants[0].wish.style.distance + entrants[1].wish.style.distance);
        for (k, id) in [a, b].into_iter().enumerate() {
            let member = &world.characters[id];
            let Some(spar) = &member.spar else { continue };
            let kind = kit.spar().moves.get(spar.fighter.doing).kind;
            calm &= matches!(kind, MoveKind::Guard | MoveKind::Step | MoveKind::Turn);
            if kind != MoveKind::Guard && !self.moves[k].contains(&spar.fighter.doing.0) {
                self.moves[k].push(spar.fighter.doing.0);
            }
            let facing = wrap(bearing(at[k], at[1 - k]) - sense::gaze(&member.character));
            // Unequal styles settle between the two.
            errors[k] = (r - mean, facing);
        }
        let span = 0.5 * (entrants[0].wish.style.distance - entrants[1].wish.style.distance).abs();
        let there = errors.iter().all(|(dr, turn)| dr.abs() <= THERE.0 + span && turn.abs() <= THERE.1);
        if there && self.report.reached.is_none() {
            self.report.reached = Some(tick as f32 / TICKS as f32);
        }
        if !calm {
            self.busy = tick;
            self.waiting.clear();
        } else if tick > self.busy + CALM && self.report.reached.is_some() {
            self.waiting.push((tick, there, errors));
        }
        while let Some(first) = self.waiting.first().copied().filter(|w| w.0 + CALM <= tick) {
            self.waiting.remove(0);
            self.report.neutral.0 += 1;
            self.report.neutral.1 += u32::from(first.1);
            for (sum, error) in self.sums.iter_mut().zip(first.2) {
                *sum = (sum.0 + error.0.abs(), sum.1 + error.1.abs());
            }
        }
    }

    fn blow(&mut self, tick: u64, blow: &BlowEvent) {
        let Some(k) = self.ids.iter().position(|id| *id == blow.by) else { return };
        self.report.gaps.push((tick - self.last_blow) as f32 / TICKS as f32);
        (self.last_blow, self.turned) = (tick, 0.0);
        let side = &mut self.report.sides[k];
        side.damage += blow.damage;
        side.blows += 1;
        side.long += u32::from(blow.long);
        side.reach += u32::from(blow.reach);
        side.landed += u32::from(blow.reach && blow.outcome == Outcome::Landed);
        side.blocked += u32::from(blow.reach && blow.outcome == Outcome::Blocked);
        let other = &mut self.report.sides[1 - k];
        other.seen += u32::from(blow.seen);
        other.answered += u32::from(blow.seen && blow.answered);
        self.report.predicted.0 += u32::from(blow.predicted == blow.outcome);
        self.report.predicted.1 += 1;
        let at = |outcome: Outcome| match outcome {
            Outcome::Landed => 0,
            Outcome::Blocked => 1,
            Outcome::Missed | Outcome::Open => 2,
        };
        self.report.told[at(blow.predicted)][at(blow.outcome)] += 1;
        if blow.outcome == Outcome::Landed {
            self.report.shown.0 += u32::from(blow.gap.abs() <= 0.03);
            self.report.shown.1 += 1;
        }
    }

    fn finish(mut self, performance: &Performance) -> BoutReport {
        let world = &performance.world;
        self.report.seconds = world.seconds();
        self.report.distance = self.near / self.report.frames.max(1) as f32;
        let count = self.report.neutral.0.max(1) as f32;
        for k in 0..2 {
            let side = &mut self.report.sides[k];
            side.off = (self.sums[k].0 / count, self.sums[k].1 / count);
            side.different = self.moves[k].len();
            let spar = self.ids.get(k).and_then(|id| world.characters[*id].spar.as_ref());
            if let Some(spar) = spar {
                (side.decisions, side.counts, side.pruned) = (spar.decisions, spar.counts, spar.pruned);
                (side.places, side.left) = (spar.next_place, (spar.fighter.health, spar.fighter.stamina));
            }
        }
        let mut named: Vec<(&str, CharacterId)> =
            self.ids.iter().map(|id| (world.characters[*id].name.as_str(), *id)).collect();
        named.sort();
        let bits = named.iter().flat_map(|(_, id)| {
            let pose = world.characters[*id].character.pose();
            let numbers: Vec<f32> = pose.translations.iter().flat_map(|t| t.to_array()).collect();
            let turns: Vec<f32> = pose.rotations.iter().flat_map(|q| q.to_array()).collect();
            numbers.into_iter().chain(turns).flat_map(|v| v.to_bits().to_le_bytes()).collect::<Vec<u8>>()
        });
        self.report.hash = fnv1a(bits);
        self.report
    }
}
