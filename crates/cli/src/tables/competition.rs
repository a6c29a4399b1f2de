//! Shum, Komura and Yamazaki, *Simulating Competitive Interactions using Singly Captured Motions*: what depth buys under several definitions of it, what
//! being tired costs, how long a fight takes, what prunings and alpha-beta leave out.
//!
//! The paper gives no win rates: depth 4 "always" wins against depth 2, and the tired boxer loses at equal depth and wins with a much deeper tree. Ours are
//! bouts by the rules alone, where hundreds take seconds; `kumite spar --bouts` fights them on the stage.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_plan::spar::rehearsal::{self, Entrant, Tally};
use kumite_plan::spar::tree::{Count, Model};
use kumite_plan::spar::{Style, TreeConfig};
use kumite_stage::SparKit;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{html_page, html_row};
use crate::args::TablesArgs;
use crate::failure::{CliResult, Failure};
use crate::{Progress, Report, bake, dodge};

/// Seconds of a bout, and how many of each pair if nothing is said.
const BOUT: f32 = 20.0;
const BOUTS: u32 = 4;

/// One definition of the tree, and what the paper says of it.
struct Definition {
    name: &'static str,
    change: fn(&mut Entrant),
    theirs: &'static str,
}

const DEFINITIONS: [Definition; 5] = [
    Definition { name: "choices of each, hidden while young", change: |_| {}, theirs: "" },
    Definition { name: "everything is seen at once", change: |e| e.tree.clairvoyant = true, theirs: "always" },
    Definition {
        name: "plies in total, seen at once (as printed)",
        change: |e| {
            e.tree.clairvoyant = true;
            e.tree.count = Count::Plies;
        },
        theirs: "always",
    },
    Definition { name: "plies in total, hidden while young", change: |e| e.tree.count = Count::Plies, theirs: "" },
    Definition { name: "zero-sum, alpha-beta", change: |e| e.tree.model = Model::ZeroSum, theirs: "always" },
];

/// Its name, its head and its rows.
type Table = (String, Vec<String>, Vec<Vec<String>>);

/// Bouts of two, slots exchanged every other time.
fn bouts(kit: &SparKit, pair: [&Entrant; 2], count: u32, seed: u64) -> Vec<Tally> {
    let one = |k: u32| {
        let (first, second) = if k.is_multiple_of(2) { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
        let base = seed.wrapping_mul(0x9E37_79B9).wrapping_add(u64::from(k));
        let mut tally = rehearsal::bout(&kit.moves, &kit.table, [first, second], [2 * base + 1, 2 * base + 2], BOUT);
        if k % 2 == 1 {
            tally.given.swap(0, 1);
            tally.blows.swap(0, 1);
        }
        tally
    };
    (0..count).into_par_iter().map(one).collect()
}

/// Share won by the first, draws as half.
fn won(tallies: &[Tally]) -> f64 {
    let worth = |t: &Tally| match t.winner() {
        Some(0) => 1.0,
        Some(_) => 0.0,
        None => 0.5,
    };
    tallies.iter().map(worth).sum::<f64>() / tallies.len().max(1) as f64
}

fn entrant(style: &str, depth: u32) -> Entrant {
    Entrant::new(Style::named(style).unwrap_or_default(), depth)
}

pub(crate) fn run(args: &TablesArgs, progress: &Progress) -> CliResult<Report> {
    let library = Arc::clone(&bake::load(&args.library, Path::new(""), args.data.as_deref(), progress)?.library);
    let kit = dodge::kit(library);
    let kit = kit.spar();
    if !kit.moves.can_fight() {
        let message = "the library has no attacks or no guard to fight with";
        return Err(Failure::bad(message).key("library").found(args.library.clone()));
    }
    let count = args.trials.unwrap_or(BOUTS).clamp(2, 2000);
    let bar = progress.bar(DEFINITIONS.len() + 12, "bouts");
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let mut tables: Vec<Table> = Vec::new();
    // What depth buys, by definition.
    let (mut rows, mut definitions) = (Vec::new(), Vec::new());
    for definition in &DEFINITIONS {
        let [mut deep, mut shallow] = [entrant("general", 4), entrant("general", 2)];
        (definition.change)(&mut deep);
        (definition.change)(&mut shallow);
        let tallies = bouts(kit, [&deep, &shallow], count, args.seed);
        let (share, blows) = (won(&tallies), rate(&tallies));
        rows.push(vec![definition.name.into(), percent(share), definition.theirs.into(), format!("{blows:.1}")]);
        definitions.push(json!({"definition": definition.name, "deep_wins_share": share, "blows_in_10_s": blows}));
        bar.inc(1);
    }
    let head = ["depth 4 against 2", "wins", "paper", "blows of each in 10 s"].map(str::to_owned).to_vec();
    tables.push(("What depth buys".into(), head, rows));
    // The matrix of depths, fresh and tired. Pairs that are others with names exchanged are not fought again.
    let (mut rows, mut matrix) = (Vec::new(), Vec::new());
    let mut fresh: Vec<((u32, u32), f64)> = Vec::new();
    for (style, depth) in [("general", 6), ("general", 4), ("general", 2), ("tired", 6), ("tired", 4), ("tired", 2)] {
        let mut row = vec![format!("{}, depth {depth}", if style == "general" { "fresh" } else { "tired" })];
        for other in [2, 4, 6] {
            let known = fresh.iter().find(|f| f.0 == (other, depth)).map(|f| 1.0 - f.1);
            let share = match known.filter(|_| style == "general") {
                Some(share) => share,
                None if style == "general" && depth == other => 0.5,
                None => won(&bouts(kit, [&entrant(style, depth), &entrant("general", other)], count, args.seed + 1)),
            };
            if style == "general" {
                fresh.push(((depth, other), share));
            }
            row.push(percent(share));
            matrix.push(json!({"style": style, "depth": depth, "against": other, "wins_share": share}));
        }
        rows.push(row);
        bar.inc(2);
    }
    let head = ["", "against 2", "against 4", "against 6"].map(str::to_owned).to_vec();
    tables.push(("Wins against the fresh of each depth, draws as half".into(), head, rows));
    bar.finish_and_clear();
    // How long it takes, and what is left out.
    let (rows, speed) = speed(kit, args.seed);
    let head = ["30 s of two fighters", "seconds", "nodes", "of the plain tree"].map(str::to_owned).to_vec();
    tables.push((
        "What it takes (paper: 300 s at depth 3 on a Pentium 4, prunings halve the choices)".into(),
        head,
        rows,
    ));
    let title = format!("Competition: {count} bouts of {BOUT:.0} s each, {}", args.library);
    let json = json!({"bouts": count, "definitions": definitions, "matrix": matrix, "speed": speed});
    Ok(Report { text: print(args, &title, &tables), json })
}

/// Blows of each in ten seconds.
fn rate(tallies: &[Tally]) -> f64 {
    let blows: u32 = tallies.iter().flat_map(|t| t.blows.iter().flatten()).sum();
    5.0 * f64::from(blows) / tallies.iter().map(|t| f64::from(t.seconds)).sum::<f64>().max(1e-9)
}

/// The same 30 s with trees that leave out more and more: CPU seconds and nodes.
fn speed(kit: &SparKit, seed: u64) -> (Vec<Vec<String>>, Vec<Value>) {
    let plain = TreeConfig { depth: 3, ..TreeConfig::default() };
    let zero_sum = TreeConfig { model: Model::ZeroSum, ..plain };
    let ways = [
        ("depth 3, self-interested (the default's model)", plain),
        ("depth 3, zero-sum, plain tree", TreeConfig { cuts: false, ..zero_sum }),
        ("depth 3, zero-sum, alpha-beta, worst first", TreeConfig { ordered: false, ..zero_sum }),
        ("depth 3, zero-sum, alpha-beta, best first", zero_sum),
        ("depth 5, zero-sum, plain tree", TreeConfig { depth: 5, cuts: false, ..zero_sum }),
        ("depth 5, zero-sum, alpha-beta, worst first", TreeConfig { depth: 5, ordered: false, ..zero_sum }),
        ("depth 5, zero-sum, alpha-beta, best first", TreeConfig { depth: 5, ..zero_sum }),
    ];
    let (mut rows, mut data, mut whole) = (Vec::new(), Vec::new(), 0u64);
    for (name, tree) in ways {
        let fighter = Entrant { tree, ..entrant("general", tree.depth) };
        let begun = ThreadTime::now();
        let tally = rehearsal::bout(&kit.moves, &kit.table, [&fighter, &fighter], [seed + 1, seed + 2], 30.0);
        let seconds = begun.elapsed().as_secs_f64();
        // Bouts differ with what is chosen: nodes are told by decision.
        let nodes = tally.counts.nodes / u64::from(tally.decisions.max(1));
        if !tree.cuts {
            whole = nodes;
        }
        let share = if tree.model == Model::ZeroSum && whole > 0 { nodes as f64 / whole as f64 } else { 1.0 };
        let beside = if tree.model == Model::ZeroSum { format!("{:.0} %", 100.0 * share) } else { String::new() };
        rows.push(vec![name.to_owned(), format!("{seconds:.2}"), format!("{nodes} a decision"), beside]);
        data.push(json!({
            "tree": name, "seconds": seconds, "nodes_per_decision": nodes, "of_plain_share": share,
            "nodes_per_second": tally.counts.nodes as f64 / seconds.max(1e-9), "decisions": tally.decisions,
        }));
    }
    (rows, data)
}

fn print(args: &TablesArgs, title: &str, tables: &[Table]) -> String {
    if args.html {
        let table = |(name, head, rows): &Table| {
            let body: String = rows.iter().map(|row| html_row("td", row)).collect();
            format!("<h2>{name}</h2>\n<table>{}{body}</table>\n", html_row("th", head))
        };
        return html_page(title, &tables.iter().map(table).collect::<String>());
    }
    let mut text = format!("{title}\n");
    for (name, head, rows) in tables {
        let _ = writeln!(text, "\n{name}\n");
        for (k, row) in std::iter::once(head).chain(rows).enumerate() {
            let _ = if args.markdown {
                writeln!(text, "| {} |", row.join(" | "))
            } else {
                let first = row.first().map_or("", String::as_str);
                let rest: String = row.iter().skip(1).map(|c| format!("{c:<18}")).collect();
                writeln!(text, "    {first:<48} {}", rest.trim_end())
            };
            if k == 0 && args.markdown {
                let _ = writeln!(text, "|{}", "---|".repeat(row.len()));
            }
        }
    }
    text
}
