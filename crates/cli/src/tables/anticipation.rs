//! Hermens, *Anticipating Impacts*: her times and angles beside ours, and the three ways to balance a pose, on the same random threats.

use std::fmt::Write as _;
use std::path::Path;

use cpu_time::ThreadTime;
use kumite_react::balance::Objective;
use kumite_react::optimise::Effort;
use kumite_react::{Body, Brace, Request};
use kumite_stage::brace_trial;
use serde_json::{Value, json};

use super::{html_page, html_row};
use crate::args::TablesArgs;
use crate::failure::CliResult;
use crate::{Progress, Report, bake};

/// What the thesis says, what we do.
const CHOICES: [[&str; 3]; 8] = [
    [
        "time to contact",
        "0.25 to 1.0 s by speed, 1.0 to 1.2 times by angle",
        "the real time left; as hers for the command",
    ],
    ["movement into the pose", "all of the time to contact", "0.25 to 0.45 s by speed; spare time is swayed through"],
    ["startle", "15/120 s", "15/120 s, left out with less than 0.4 s"],
    ["look-ahead of startle and pose", "1/12 and 1/6 s", "1/12 and 1/6 s"],
    ["hold when nothing hits", "1/3 s", "1/3 s"],
    ["recovery", "260 + 375 ms", "215 ms hold and 500 ms blend"],
    ["centre of mass towards the threat", "10 cm", "10 to 15 cm by what it would push a body"],
    ["size", "one number", "mean of radius (0.03 to 0.2 m) and mass (0.05 to 5 kg), on logarithmic scales"],
];

/// One way to balance.
struct Way {
    name: &'static str,
    objective: Objective,
    effort: Effort,
}

struct Measured {
    us: Vec<f64>,
    evaluations: Vec<f64>,
    off: Vec<f64>,
    hands: Vec<f64>,
}

fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let at = ((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1));
    values.get(at).copied().unwrap_or(f64::NAN)
}

pub(crate) fn run(args: &TablesArgs, progress: &Progress) -> CliResult<Report> {
    let library = bake::load(&args.library, Path::new(""), args.data.as_deref(), progress)?.library;
    let usual = Effort::default();
    let ways = [
        Way { name: "weighted squares, Levenberg-Marquardt", objective: Objective::Weighted, effort: usual },
        Way {
            name: "weighted squares, BFGS",
            objective: Objective::WeightedBfgs,
            effort: Effort { iterations: 40, ..usual },
        },
        Way {
            name: "as printed (eq. 3.3), BFGS",
            objective: Objective::Printed,
            effort: Effort { iterations: 40, ..usual },
        },
    ];
    let count = args.trials.unwrap_or(super::TRIALS);
    let bar = progress.bar(count as usize, "bracing");
    let mut measured: Vec<Measured> = ways
        .iter()
        .map(|_| Measured { us: Vec::new(), evaluations: Vec::new(), off: Vec::new(), hands: Vec::new() })
        .collect();
    for number in 0..count {
        bar.inc(1);
        let seed = args.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(number));
        let (Some((moment, request)), Some(body)) = (brace_trial::random(&library, seed), Body::of(library.skeleton()))
        else {
            continue;
        };
        let source = moment.character.brace_source(request.seconds);
        for (way, row) in ways.iter().zip(&mut measured) {
            let request = Request { objective: way.objective, effort: way.effort, ..request };
            let start = ThreadTime::now();
            let Ok((_, solved)) = Brace::begin(library.skeleton(), &body, &source, &request) else { continue };
            row.us.push(start.elapsed().as_secs_f64() * 1e6);
            row.evaluations.push(f64::from(solved.evaluations));
            row.off.push(f64::from(solved.terms.balance));
            row.hands.push(f64::from(solved.terms.hands));
        }
    }
    bar.finish_and_clear();
    let head =
        ["balance", "µs, half", "µs, 99 %", "poses, half", "within 1 cm", "hands give, half, cm"].map(str::to_owned);
    let mut rows = Vec::new();
    let mut data = Vec::new();
    for (way, row) in ways.iter().zip(&mut measured) {
        let within = row.off.iter().filter(|off| **off <= 0.01).count() as f64 / row.off.len().max(1) as f64;
        let (half, most) = (percentile(&mut row.us, 0.5), percentile(&mut row.us, 0.99));
        let (poses, hands) = (percentile(&mut row.evaluations, 0.5), percentile(&mut row.hands, 0.5));
        rows.push([
            way.name.to_owned(),
            format!("{half:.0}"),
            format!("{most:.0}"),
            format!("{poses:.0}"),
            format!("{:.1} %", 100.0 * within),
            format!("{:.1}", 100.0 * hands),
        ]);
        data.push(json!({
            "balance": way.name, "solve_us_p50": half, "solve_us_p99": most, "evaluations_p50": poses,
            "com_within_share": within, "hands_m_p50": hands,
        }));
    }
    let choices: Vec<Value> =
        CHOICES.iter().map(|[what, theirs, ours]| json!({"what": what, "theirs": theirs, "ours": ours})).collect();
    let json = json!({"trials": count, "rows": data, "choices": choices});
    let title = format!("{} random threats, {}", count, args.library);
    let choice_head = ["", "thesis", "here"].map(str::to_owned);
    let choice_rows: Vec<Vec<String>> = CHOICES.iter().map(|row| row.map(str::to_owned).to_vec()).collect();
    let text = if args.html {
        let table = |head: &[String], rows: &[Vec<String>]| {
            let body: String = rows.iter().map(|row| html_row("td", row)).collect();
            format!("<table>{}{body}</table>\n", html_row("th", head))
        };
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.to_vec()).collect();
        html_page(&title, &(table(&head, &rows) + &table(&choice_head, &choice_rows)))
    } else {
        let mut text = format!("{title}\n\n");
        let mut line = |cells: &[String]| {
            let _ = match args.markdown {
                true => writeln!(text, "| {} |", cells.join(" | ")),
                false => {
                    writeln!(text, "    {}", cells.iter().map(|c| format!("{c:<40}")).collect::<String>().trim_end())
                }
            };
        };
        line(&head);
        if args.markdown {
            line(&head.clone().map(|_| "---".to_owned()));
        }
        rows.iter().for_each(|row| line(row));
        line(&[]);
        line(&choice_head);
        if args.markdown {
            line(&choice_head.clone().map(|_| "---".to_owned()));
        }
        choice_rows.iter().for_each(|row| line(row));
        text
    };
    Ok(Report { text, json })
}
