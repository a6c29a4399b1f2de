//! Fights: what depth and breath buy, whether fighters find and keep their distance, whether what is predicted is shown, how it looks, how long planning takes; the
//! same of a library of captures if there is one. `KUMITE_SPAR_SEED` takes another seed than the claim's, `KUMITE_SPAR_SHARE` a share of its bouts.

use std::sync::{Arc, Mutex};

use cpu_time::ThreadTime;
use kumite_plan::dodge::DodgeConfig;
use kumite_plan::spar::tree::Model;
use kumite_plan::spar::{Style, TreeConfig};
use kumite_plan::{Alone, Pool};
use kumite_stage::spar_trial::{self, BoutLook, BoutReport, Entrant};
use kumite_stage::sparring::SparWish;
use kumite_stage::{Defence, Host, Kit};
use rayon::prelude::*;

use crate::{figure, holds};

/// Not looked at while weights were chosen.
const SEED: u64 = 2_100;
/// A bout, seconds.
const BOUT: f32 = 60.0;

/// Times searches, seconds of the CPU each.
#[derive(Debug, Default)]
struct Timed(Mutex<Vec<f64>>);

impl Pool for Timed {
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        Alone.run(parts, work);
    }
}

impl Host for Timed {
    fn search(&self, work: &mut dyn FnMut()) {
        let start = ThreadTime::now();
        work();
        if let Ok(mut times) = self.0.lock() {
            times.push(start.elapsed().as_secs_f64());
        }
    }
}

/// Who: style and depth.
type Who = (&'static str, u32);

fn entrant(name: &str, (style, depth): Who) -> Entrant {
    let style = Style::named(style).unwrap_or_default();
    Entrant { name: name.to_owned(), wish: SparWish::new("", style, depth) }
}

struct Fights {
    kits: Vec<Arc<Kit>>,
    scale: f32,
    seed: u64,
}

impl Fights {
    /// Bouts of two; names are exchanged every other time, so that none is lucky. Frames are looked at in the first of them only.
    fn bouts(&self, pair: [Who; 2], count: u64, seconds: f32, within: f32, looked: u64) -> Vec<BoutReport> {
        let count = ((count as f32 * self.scale) as u64).max(2);
        let one = |k: u64| {
            let names = if k.is_multiple_of(2) { ["Ana", "Bo"] } else { ["Bo", "Ana"] };
            let pair = [entrant(names[0], pair[0]), entrant(names[1], pair[1])];
            let seed = self.seed + k;
            let starts = if within > 0.0 {
                spar_trial::random_starts(&pair, seed, within)
            } else {
                spar_trial::facing_starts(2.2)
            };
            let (mut report, played) = spar_trial::bout(&self.kits, &pair, starts, (seed, seconds), Arc::new(Alone));
            if k < looked {
                report.look = BoutLook::of(&played);
            }
            report
        };
        (0..count).into_par_iter().map(one).collect()
    }
}

/// Share that the first wins, draws as half; and the share of draws.
fn won(reports: &[BoutReport]) -> (f64, f64) {
    let n = reports.len().max(1) as f64;
    let wins = reports.iter().filter(|r| r.winner() == Some(0)).count() as f64;
    let draws = reports.iter().filter(|r| r.winner().is_none()).count() as f64;
    ((wins + 0.5 * draws) / n, draws / n)
}

fn share(of: f64, all: f64) -> f64 {
    if all > 0.0 { of / all } else { 0.0 }
}

fn asked(name: &str, usual: f64) -> f64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

pub(crate) fn run() {
    let fights = |name: &str| {
        let library = kumite_captures::whole_library(name)?;
        let kit = Kit::new(Defence::new(Arc::new(library), DodgeConfig::default()), None);
        let (scale, seed) = (asked("KUMITE_SPAR_SHARE", 1.0) as f32, asked("KUMITE_SPAR_SEED", SEED as f64) as u64);
        Some(Fights { kits: vec![Arc::new(kit)], scale, seed })
    };
    let Some(embedded) = fights("embedded") else { return holds(false) };
    // What takes longest comes last.
    let mut well = vec![speed(&embedded), manners(&embedded, ""), starts(&embedded), paths(&embedded)];
    if let Some(captured) = fights("accad-male2").filter(|f| f.kits[0].spar().moves.can_fight()) {
        // Few motions, of one capture: told, not judged.
        manners(&captured, " (ACCAD)");
    }
    well.push(depths(&embedded));
    holds(well.iter().all(|w| *w));
}

/// Who wins.
fn depths(fights: &Fights) -> bool {
    let general = |depth| ("general", depth);
    let (deep, draws) = won(&fights.bouts([general(4), general(2)], 200, BOUT, 0.0, 0));
    figure("depth 4 against 2, wins, share", deep, "");
    figure("draws of these, share", draws, "");
    let (equal, even) = won(&fights.bouts([general(4), general(4)], 1000, BOUT, 0.0, 0));
    figure("equal depth, wins of the first, share", equal, "");
    figure("draws at equal depth, share", even, "");
    let (six, _) = won(&fights.bouts([general(6), general(4)], 60, BOUT, 0.0, 0));
    figure("depth 6 against 4, wins, share", six, "");
    let (most, _) = won(&fights.bouts([general(6), general(2)], 60, BOUT, 0.0, 0));
    figure("depth 6 against 2, wins, share", most, "");
    let (tired, _) = won(&fights.bouts([general(4), ("tired", 4)], 100, BOUT, 0.0, 0));
    figure("fresh against tired at equal depth, wins, share", tired, "");
    // The tired against the fresh of depth 2: the deeper the better.
    let weary = [2, 4].map(|depth| won(&fights.bouts([("tired", depth), general(2)], 60, BOUT, 0.0, 0)).0);
    figure("tired at depth 2 against fresh at 2, wins, share", weary[0], "");
    figure("tired at depth 4 against fresh at 2, wins, share", weary[1], "");
    let (clever, _) = won(&fights.bouts([("tired", 6), general(2)], 60, BOUT, 0.0, 0));
    figure("tired at depth 6 against fresh at 2, wins, share", clever, "");
    // 95 % of bouts like these have at least this share (Wilson 1927).
    let n = 200.0 * f64::from(fights.scale);
    let z = 1.645;
    let low =
        (deep + z * z / (2.0 * n) - z * ((deep * (1.0 - deep) + z * z / (4.0 * n)) / n).sqrt()) / (1.0 + z * z / n);
    figure("depth 4 against 2, lower bound, share", low, "");
    let monotone = weary[0] <= weary[1] && weary[1] <= clever + 0.05 && six >= 0.5 && most >= deep - 0.05;
    figure("wins grow with depth, fresh and tired", f64::from(u8::from(monotone)), "");
    monotone
        && deep >= 0.86
        && low >= 0.8
        && draws <= 0.15
        && (equal - 0.5).abs() <= 0.05
        && tired >= 0.8
        && clever > 0.5
}

/// How it is fought and how it looks, 100 bouts of 30 s.
fn manners(fights: &Fights, of: &str) -> bool {
    let figure = |name: &str, value: f64, unit: &str| figure(&format!("{name}{of}"), value, unit);
    let reports = fights.bouts([("general", 4), ("general", 4)], 100, 30.0, 0.0, u64::MAX);
    let sum = |f: &dyn Fn(&BoutReport) -> f64| reports.iter().map(f).sum::<f64>();
    let side = |f: &dyn Fn(&spar_trial::Side) -> f64| sum(&|r| r.sides.iter().map(f).sum());
    let seconds = sum(&|r| f64::from(r.seconds));
    let rate = 5.0 * side(&|s| f64::from(s.blows)) / seconds;
    let landed = share(side(&|s| f64::from(s.landed)), side(&|s| f64::from(s.reach)));
    let answered = share(side(&|s| f64::from(s.answered)), side(&|s| f64::from(s.seen)));
    let mut gaps: Vec<f32> = reports.iter().flat_map(|r| r.gaps.iter().copied()).collect();
    gaps.sort_by(f32::total_cmp);
    let gap = f64::from(gaps.get(gaps.len() * 95 / 100).copied().unwrap_or(f32::INFINITY));
    let varied = sum(&|r| f64::from(u8::from(r.sides.iter().all(|s| s.different >= 8)))) / reports.len() as f64;
    let predicted = share(sum(&|r| f64::from(r.predicted.0)), sum(&|r| f64::from(r.predicted.1)));
    let shown = share(sum(&|r| f64::from(r.shown.0)), sum(&|r| f64::from(r.shown.1)));
    let inside = share(sum(&|r| f64::from(r.look.overlapping.0)), sum(&|r| f64::from(r.look.overlapping.1)));
    let deepest = reports.iter().map(|r| r.look.deepest).fold(0.0, f32::max);
    let smooth = sum(&|r| f64::from(u8::from(r.look.snap <= 1.5))) / reports.len() as f64;
    let slide = reports.iter().map(|r| r.look.slide).fold(0.0, f32::max);
    figure("strikes of each in 10 s", rate, "");
    figure("strikes in reach that land, share", landed, "");
    figure("strikes seen in time that are answered, share", answered, "");
    figure("gaps between strikes, 95 %", gap, "s");
    figure("bouts with 8 different actions of each in 30 s, share", varied, "");
    figure("outcomes as predicted, share", predicted, "");
    figure("hits with contact within 3 cm, share", shown, "");
    figure("frames with an overlap of 3 cm at most, share", 1.0 - inside, "");
    figure("deepest overlap", 100.0 * f64::from(deepest), "cm");
    figure("bouts with a snap of 1.5 at most outside impacts, share", smooth, "");
    figure("feet slide, most", f64::from(slide), "cm/s");
    (3.0..=9.0).contains(&rate)
        && (0.25..=0.6).contains(&landed)
        && answered >= 0.3
        && gap <= 5.0
        && predicted >= 0.9
        && shown >= 0.9
}

/// Distance and facing from random starts; styles.
fn starts(fights: &Fights) -> bool {
    let reports = fights.bouts([("general", 4), ("general", 4)], 200, 20.0, 6.0, 0);
    let n = reports.len() as f64;
    let soon = |r: &&BoutReport| r.reached.is_some_and(|t| t <= 3.0 + 0.7 * r.start);
    let in_time = reports.iter().filter(soon).count() as f64 / n;
    let at_all = reports.iter().filter(|r| r.reached.is_some_and(|t| t <= 8.0)).count() as f64 / n;
    let (neutral, held) = reports.iter().fold((0u32, 0u32), |s, r| (s.0 + r.neutral.0, s.1 + r.neutral.1));
    let frames: u32 = reports.iter().map(|r| r.frames).sum();
    let held = share(f64::from(held), f64::from(neutral));
    let circled = reports.iter().map(|r| r.circled.to_degrees()).fold(0.0, f32::max);
    figure("starts that reach distance and facing in time, share", in_time, "");
    figure("within 8 s, share", at_all, "");
    figure("neutral frames, share", share(f64::from(neutral), f64::from(frames)), "");
    // Fights that never pause have none, and nothing to say of them.
    if neutral > 0 {
        figure("neutral frames at distance and facing, share", held, "");
    }
    figure("largest turn about each other without a strike", f64::from(circled), "deg");
    let mean = |style: &'static str| {
        let reports = fights.bouts([(style, 4), (style, 4)], 40, 30.0, 0.0, 0);
        let long: u32 = reports.iter().flat_map(|r| r.sides.iter().map(|s| s.long)).sum();
        let all: u32 = reports.iter().flat_map(|r| r.sides.iter().map(|s| s.blows)).sum();
        let distance = reports.iter().map(|r| f64::from(r.distance)).sum::<f64>() / reports.len() as f64;
        (distance, share(f64::from(long), f64::from(all)))
    };
    let [near, middle, far] = ["infighter", "general", "outboxer"].map(mean);
    figure("mean distance of infighters", near.0, "m");
    figure("mean distance of generals", middle.0, "m");
    figure("mean distance of outboxers", far.0, "m");
    figure("long strikes of infighters, share", near.1, "");
    figure("long strikes of outboxers, share", far.1, "");
    in_time >= 0.95 && at_all >= 1.0 && held >= 0.8 && near.0 < middle.0 && middle.0 < far.0 && near.1 < far.1
}

/// Fighters who have places to pass while they fight: 20 bouts of 40 s.
fn paths(fights: &Fights) -> bool {
    let count = ((20.0 * fights.scale) as u64).max(2);
    let path = [(1.5, 1.0), (3.0, 2.5), (1.5, 4.0), (-0.5, 3.0)].map(|(x, y)| kumite_motion::Vec2::new(x, y));
    let one = |k: u64| {
        let mut pair = [entrant("Ana", ("path follower", 4)), entrant("Bo", ("path follower", 4))];
        pair.iter_mut().for_each(|e| e.wish.path = path.to_vec());
        let starts = spar_trial::facing_starts(2.2);
        spar_trial::bout(&fights.kits, &pair, starts, (fights.seed + k, 40.0), Arc::new(Alone)).0
    };
    let reports: Vec<BoutReport> = (0..count).into_par_iter().map(one).collect();
    let n = reports.len() as f64;
    let passed = reports.iter().filter(|r| r.sides.iter().all(|s| s.places == path.len())).count() as f64 / n;
    let blows: u32 = reports.iter().flat_map(|r| r.sides.iter().map(|s| s.blows)).sum();
    let seconds: f64 = reports.iter().map(|r| f64::from(r.seconds)).sum();
    figure("paths of which both passed all places, share", passed, "");
    figure("strikes of each in 10 s along a path", 5.0 * f64::from(blows) / seconds, "");
    passed >= 1.0
}

/// One bout of 30 s with a tree: times of its decisions in order, and what came of it.
fn planned(fights: &Fights, tree: TreeConfig) -> (Vec<f64>, BoutReport) {
    let host = Arc::new(Timed::default());
    let lent: Arc<dyn Host> = Arc::clone(&host) as _;
    let mut pair = [entrant("Ana", ("general", tree.depth)), entrant("Bo", ("general", tree.depth))];
    pair.iter_mut().for_each(|e| e.wish.tree = tree);
    let starts = spar_trial::facing_starts(2.2);
    let (report, _) = spar_trial::bout(&fights.kits, &pair, starts, (fights.seed, 30.0), lent);
    let mut times = host.0.lock().map(|times| times.clone()).unwrap_or_default();
    times.sort_by(f64::total_cmp);
    (times, report)
}

/// CPU seconds of planning, of 30 s at depth 3 and 5; what prunings, alpha-beta and ordering leave out.
fn speed(fights: &Fights) -> bool {
    let tree = |depth: u32| TreeConfig { depth, ..TreeConfig::default() };
    let sum = |r: &BoutReport, f: &dyn Fn(&spar_trial::Side) -> u64| r.sides.iter().map(f).sum::<u64>() as f64;
    let ((three, at_three), (five, _)) = (planned(fights, tree(3)), planned(fights, tree(5)));
    let (seconds, nodes) = (three.iter().sum::<f64>(), sum(&at_three, &|s| s.counts.nodes));
    figure("planning of 30 s at depth 3", seconds, "s");
    figure("planning of 30 s at depth 5", five.iter().sum::<f64>(), "s");
    let at = |share: f64| five.get((five.len() as f64 * share) as usize).copied().unwrap_or(0.0);
    let within = five.iter().filter(|t| **t <= 5e-3).count() as f64 / five.len().max(1) as f64;
    figure("a decision at depth 5, half of them", 1e3 * at(0.5), "ms");
    figure("a decision at depth 5, 95 %", 1e3 * at(0.95), "ms");
    figure("decisions at depth 5 within 5 ms, share", within, "");
    figure("nodes a second", nodes / seconds.max(1e-9), "1/s");
    let looked = sum(&at_three, &|s| s.pruned[0]);
    for (k, name) in ["out of reach", "needless defence", "inside the other"].into_iter().enumerate() {
        let left_out = sum(&at_three, &|s| s.pruned[k + 1]);
        figure(&format!("choices left out, {name}, share"), share(left_out, looked), "");
    }
    figure("choices beyond the beam beside nodes", share(sum(&at_three, &|s| s.counts.beyond_beam), nodes), "");
    // Nodes of a decision with alpha-beta beside those of the plain tree, in bouts of the same model.
    let each = |tree: TreeConfig| {
        let (times, report) = planned(fights, TreeConfig { model: Model::ZeroSum, ..tree });
        sum(&report, &|s| s.counts.nodes) / times.len().max(1) as f64
    };
    let plain = each(TreeConfig { cuts: false, ..tree(3) });
    figure("nodes of a decision, alpha-beta, best first, of the plain tree's, share", each(tree(3)) / plain, "");
    let worst = each(TreeConfig { ordered: false, ..tree(3) });
    figure("nodes of a decision, alpha-beta, worst first, of the plain tree's, share", worst / plain, "");
    seconds <= 1.0 && five.iter().sum::<f64>() <= 30.0
}
