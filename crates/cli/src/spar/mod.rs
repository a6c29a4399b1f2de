//! `kumite spar`: two fighters that plan against each other, once or many times.

mod bouts;
mod exchanges;
mod table;
mod why;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use kumite_motion::Role;
use kumite_plan::spar::style::STYLES;
use kumite_plan::spar::{Style, TreeConfig};
use kumite_stage::spar_trial::{self, BoutLook, BoutReport, Entrant};
use kumite_stage::sparring::SparWish;
use kumite_stage::{Host, Kit, Performance};
use serde_json::{Value, json};

use crate::failure::{CliResult, Failure};
use crate::output::Outputs;
use crate::rigs::Rigs;
use crate::spar_args::SparArgs;
use crate::walk::TimedHost;
use crate::{Progress, Report, bake, dodge, play, source};

pub(crate) fn run(args: &SparArgs, progress: &Progress) -> CliResult<Report> {
    args.picture.check()?;
    let entrants = [entrant(&args.a, "Ana", "a")?, entrant(&args.b, "Bo", "b")?];
    if !(args.seconds.is_finite() && args.seconds > 0.0 && args.seconds <= 3600.0) {
        let message = format!("--seconds is {}; allowed is more than 0, at most 3600", args.seconds);
        return Err(Failure::bad(message).key("seconds").found(args.seconds.to_string()));
    }
    let names = [entrants[0].name.as_str(), entrants[1].name.as_str()];
    if names[0] == names[1] {
        return Err(Failure::bad("both fighters have the same name").key("name").found(names[0].to_owned()));
    }
    let rigs = Rigs::load(&args.rig, &names, progress)?;
    rigs.say_who_is_drawn(&args.output, progress);
    for path in args.output.iter().filter(|_| !args.table) {
        crate::output::ending(path, &play::SEVERAL)?;
    }
    for path in &args.output {
        crate::output::refuse_inputs(path, rigs.paths())?;
    }
    let loaded = bake::load(&args.library, source::BUILT_IN.as_ref(), None, progress)?;
    let kit = dodge::kit(Arc::clone(&loaded.library));
    if !kit.spar().moves.can_fight() {
        let message = "the library has no attacks or no guard to fight with";
        return Err(Failure::bad(message).key("library").found(args.library.clone()));
    }
    if args.table {
        return table::run(args, &kit);
    }
    if let Some(folder) = &args.strips {
        return exchanges::run(args, &kit, &entrants, (folder, args.exchanges), progress);
    }
    if let Some(bouts) = args.bouts {
        return bouts::run(args, &kit, &entrants, bouts, progress);
    }
    if !(1..=20).contains(&args.rounds) {
        let message = format!("--rounds is {}; allowed is 1 to 20", args.rounds);
        return Err(Failure::bad(message).key("rounds").found(args.rounds.to_string()));
    }
    let start = Instant::now();
    let host = Arc::new(TimedHost::default());
    let lent: Arc<dyn Host> = Arc::clone(&host) as _;
    let starts = starts(&entrants, args, args.seed);
    let asked = (args.seed, args.seconds, args.rounds);
    let mut fought = spar_trial::rounds(&[Arc::clone(&kit)], &entrants, starts, asked, &lent);
    let wall = start.elapsed().as_secs_f64();
    fought.iter_mut().for_each(|(report, performance)| report.look = BoutLook::of(performance));
    let reports: Vec<BoutReport> = fought.iter().map(|f| f.0.clone()).collect();
    let json = to_json(&reports, host.seconds(), wall);
    let title = format!("{} and {}", entrants[0].name, entrants[1].name);
    let (mut text, mut outputs) = (String::new(), Outputs::default());
    let count = fought.len();
    for (k, (report, performance)) in fought.into_iter().enumerate() {
        let played = play::Played::of(Arc::clone(&kit), performance)?;
        let own = |path: &PathBuf| if count == 1 { path.clone() } else { numbered(path, k + 1) };
        let (models, rest): (Vec<_>, Vec<_>) =
            args.output.iter().map(own).partition(|path| source::ending(path).as_deref() == Some("glb"));
        play::write_take(&rest, &args.picture, &title, &played, &json)?;
        for path in &models {
            play::take_file(&title, &[], &played).stage(path, &rigs, &mut outputs)?;
        }
        if count > 1 {
            let _ = writeln!(text, "Round {}", k + 1);
        }
        text += &play::summary(&played);
        let _ = writeln!(text, "{}", summary(&entrants, &report));
        if let Some(path) = &args.why {
            crate::output::write(&own(path), why::page(&played, &kit).as_bytes())?;
        }
    }
    outputs.commit()?;
    if count > 1 {
        let all: Vec<&BoutReport> = reports.iter().collect();
        let result = spar_trial::winner_of(&all).map_or("nobody", |k| entrants[k].name.as_str());
        let _ = writeln!(text, "{result} wins after {count} rounds");
    }
    Ok(Report { text, json })
}

/// The file of a round: `fight.png` becomes `fight-2.png`.
fn numbered(path: &Path, number: usize) -> PathBuf {
    let part = |part: Option<&std::ffi::OsStr>| part.map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    path.with_file_name(format!("{}-{number}.{}", part(path.file_stem()), part(path.extension())))
}

fn starts(entrants: &[Entrant; 2], args: &SparArgs, seed: u64) -> [spar_trial::Start; 2] {
    match args.within {
        Some(within) => spar_trial::random_starts(entrants, seed, within),
        None => spar_trial::facing_starts(2.2),
    }
}

/// Plays one bout; and the CPU seconds that planning took of it.
fn one(kit: &Arc<Kit>, entrants: &[Entrant; 2], args: &SparArgs, seed: u64) -> (BoutReport, Performance, f64) {
    let starts = starts(entrants, args, seed);
    let host = Arc::new(TimedHost::default());
    let lent: Arc<dyn Host> = Arc::clone(&host) as _;
    let (mut report, performance) = spar_trial::bout(&[Arc::clone(kit)], entrants, starts, (seed, args.seconds), lent);
    report.look = BoutLook::of(&performance);
    (report, performance, host.seconds())
}

/// From `style=infighter,depth=4,name=Ana`.
fn entrant(text: &str, name: &str, key: &str) -> CliResult<Entrant> {
    let wrong = |found: &str, allowed: &str| {
        let message = format!("--{key} has {found:?}; allowed is {allowed}");
        // What is near is looked for among names, without the key before them.
        let near = found.split_once('=').filter(|(what, _)| allowed.contains("style:") && *what == "style");
        let near = near.map_or(found.split('=').next().unwrap_or(found), |(_, value)| value);
        Failure::bad(format!("{message}{}", kumite_text::hint(near, allowed))).key(key).found(found).allowed(allowed)
    };
    let (mut style, mut tree, mut name) = (Style::default(), TreeConfig::default(), name.to_owned());
    let (mut delay, mut temperature) = (None, None);
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let (what, value) = part.split_once('=').unwrap_or((part, ""));
        let number = || value.parse::<f32>().ok().filter(|v| v.is_finite());
        match what {
            "style" => {
                let known = format!("style: {}", STYLES.join(", "));
                style = Style::named(value).ok_or_else(|| wrong(part, &known))?;
            }
            "depth" => {
                let depth = value.parse::<u32>().ok().filter(|depth| (1..=12).contains(depth));
                tree.depth = depth.ok_or_else(|| wrong(part, "a depth of 1 to 12"))?;
            }
            "name" if !value.is_empty() => value.clone_into(&mut name),
            "delay" => {
                let seconds = number().filter(|v| (0.0..=2.0).contains(v));
                delay = Some(seconds.ok_or_else(|| wrong(part, "0 to 2 seconds"))?);
            }
            "chance" => {
                let chance = number().filter(|v| (0.0..=10.0).contains(v));
                temperature = Some(chance.ok_or_else(|| wrong(part, "0 to 10 light hits"))?);
            }
            "nodes" => {
                tree.nodes = value.parse().map_err(|_| wrong(part, "a number of nodes"))?;
            }
            "clairvoyant" => tree.clairvoyant = true,
            "plies" => tree.count = kumite_plan::spar::tree::Count::Plies,
            "zero-sum" => tree.model = kumite_plan::spar::tree::Model::ZeroSum,
            "printed" => tree.model = kumite_plan::spar::tree::Model::Printed,
            _ => {
                let known = "style=, depth=, name=, delay=, chance=, nodes=, clairvoyant, plies, zero-sum, printed";
                return Err(wrong(part, known));
            }
        }
    }
    let mut wish = SparWish::new("", style, tree.depth);
    wish.tree = tree;
    wish.delay = delay.unwrap_or(wish.delay);
    wish.temperature = temperature.unwrap_or(wish.temperature);
    Ok(Entrant { name, wish })
}

/// A bout in a sentence.
fn summary(entrants: &[Entrant; 2], report: &BoutReport) -> String {
    let who = |k: usize| &entrants[k].name;
    let [a, b] = &report.sides;
    let result = match (report.winner(), report.out) {
        (Some(k), Some(_)) => format!("{} wins by knock-out", who(k)),
        (Some(k), None) => format!("{} wins", who(k)),
        (None, _) => "a draw".to_owned(),
    };
    format!(
        "{result} after {:.1} s: damage {:.1} to {:.1}, {} and {} blows, {} and {} of them landed",
        report.seconds, a.damage, b.damage, a.blows, b.blows, a.landed, b.landed
    )
}

/// Figures over all bouts; wins and damage are totals, errors are means.
fn to_json(reports: &[BoutReport], plan_seconds: f64, wall: f64) -> Value {
    let n = reports.len().max(1) as f64;
    let both = |f: &dyn Fn(&BoutReport, usize) -> f64| [0, 1].map(|k| reports.iter().map(|r| f(r, k)).sum::<f64>());
    let sum = |f: &dyn Fn(&BoutReport) -> f64| reports.iter().map(f).sum::<f64>();
    let mut gaps: Vec<f64> = reports.iter().flat_map(|r| r.gaps.iter().map(|g| f64::from(*g))).collect();
    let share = |a: f64, b: f64| if b > 0.0 { a / b } else { 0.0 };
    let side = |f: fn(&spar_trial::Side) -> f64| both(&|r, k| f(&r.sides[k]));
    let total = |f: fn(&spar_trial::Side) -> f64| side(f).iter().sum::<f64>();
    let scene = sum(&|r| f64::from(r.seconds));
    let pruned: Vec<f64> = (0..4).map(|k| sum(&|r| (r.sides[0].pruned[k] + r.sides[1].pruned[k]) as f64)).collect();
    let reach = total(|s| f64::from(s.reach));
    let wins = [0, 1].map(|k| reports.iter().filter(|r| r.winner() == Some(k)).count());
    let long = [0, 1].map(|k| share(side(|s| f64::from(s.long))[k], side(|s| f64::from(s.blows))[k]));
    // Rows are what the rules said, columns what was shown: landed, blocked, missed.
    let told: Vec<Vec<u32>> =
        (0..3).map(|i| (0..3).map(|j| reports.iter().map(|r| r.told[i][j]).sum()).collect()).collect();
    let mut json = json!({
        "bouts": reports.len(),
        "wins": wins,
        "draws": reports.iter().filter(|r| r.winner().is_none()).count(),
        "knock_outs": reports.iter().filter(|r| r.out.is_some()).count(),
        "damage": side(|s| f64::from(s.damage)),
        "strikes": side(|s| f64::from(s.blows)),
        "strikes_in_10_s": side(|s| f64::from(s.blows)).map(|v| share(10.0 * v, scene)),
        "hits": side(|s| f64::from(s.landed)),
        "landed_share": share(total(|s| f64::from(s.landed)), reach),
        "blocked_share": share(total(|s| f64::from(s.blocked)), reach),
        "long_share": long,
        "answered_share": share(total(|s| f64::from(s.answered)), total(|s| f64::from(s.seen))),
        "seen": total(|s| f64::from(s.seen)),
        "gap_s": dodge::spread(&mut gaps),
        "distinct_actions": side(|s| s.different as f64).map(|v| v / n),
        "neutral_share": share(sum(&|r| f64::from(r.neutral.0)), sum(&|r| f64::from(r.frames))),
        "held_share": share(sum(&|r| f64::from(r.neutral.1)), sum(&|r| f64::from(r.neutral.0))),
        "reached_in_time_share": share(sum(&|r| f64::from(u8::from(in_time(r)))), n),
        "reached_in_8_s_share": share(sum(&|r| f64::from(u8::from(r.reached.is_some_and(|t| t <= 8.0)))), n),
        "distance_m": sum(&|r| f64::from(r.distance)) / n,
        "distance_error_m": side(|s| f64::from(s.off.0)).map(|v| v / n),
        "facing_error_deg": side(|s| f64::from(s.off.1.to_degrees())).map(|v| v / n),
        "circled_deg_most": reports.iter().map(|r| r.circled.to_degrees()).fold(0.0, f32::max),
        "predicted_share": share(sum(&|r| f64::from(r.predicted.0)), sum(&|r| f64::from(r.predicted.1))),
        "contact_shown_share": share(sum(&|r| f64::from(r.shown.0)), sum(&|r| f64::from(r.shown.1))),
        "overlap_cm_most": reports.iter().map(|r| 100.0 * r.look.deepest).fold(0.0, f32::max),
        "overlap_frames_share": share(sum(&|r| f64::from(r.look.overlapping.0)), sum(&|r| f64::from(r.look.overlapping.1))),
        "snap_most": reports.iter().map(|r| r.look.snap).fold(0.0, f32::max),
        "snaps_in_a_minute": share(60.0 * sum(&|r| f64::from(r.look.snaps)), scene),
        "foot_slide_cm_s_most": reports.iter().map(|r| r.look.slide).fold(0.0, f32::max),
        "told": told,
        "decisions": total(|s| f64::from(s.decisions)),
        "nodes": total(|s| s.counts.nodes as f64),
        "leaves": total(|s| s.counts.leaves as f64),
        "beyond_beam": total(|s| s.counts.beyond_beam as f64),
        "cut_by_alpha_beta": total(|s| s.counts.cut as f64),
        "pruned_share": {"reach": share(pruned[1], pruned[0]), "needless": share(pruned[2], pruned[0]), "inside": share(pruned[3], pruned[0])},
        "plan_seconds": plan_seconds,
        "wall_seconds": wall,
        "scene_seconds": scene,
        "hash": dodge::combined(reports.iter().map(|r| r.hash)),
    });
    json["beyond"] = json!({"overlaps": overlaps(reports), "snaps": snapped(reports)});
    json
}

/// Whether both were where they wanted to be within 3 s and 0.7 s for every metre they began apart.
fn in_time(report: &BoutReport) -> bool {
    report.reached.is_some_and(|time| time <= 3.0 + 0.7 * report.start)
}

/// Which parts overlap by more than 3 cm, the most frequent first.
fn overlaps(reports: &[BoutReport]) -> Vec<Value> {
    let mut all: Vec<([Role; 2], usize, f32)> = Vec::new();
    for (pair, frames, deepest) in reports.iter().flat_map(|r| &r.look.pairs) {
        match all.iter_mut().find(|f| f.0 == *pair) {
            Some(f) => (f.1, f.2) = (f.1 + frames, f.2.max(*deepest)),
            None => all.push((*pair, *frames, *deepest)),
        }
    }
    all.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let name = |role: Role| role.name();
    all.iter().map(|(pair, frames, deepest)| json!([name(pair[0]), name(pair[1]), frames, 100.0 * deepest])).collect()
}

/// What snaps by more than 1.5 outside impacts: bout, second, joint, how much.
fn snapped(reports: &[BoutReport]) -> Vec<Value> {
    let one = |(k, r): (usize, &BoutReport)| {
        r.look.snapped.iter().map(|(time, role, size)| json!([k, time, role.name(), size])).collect::<Vec<_>>()
    };
    reports.iter().enumerate().flat_map(one).collect()
}
