//! `kumite tables`: repeats the experiments of papers and shows our figures beside theirs; one module per paper.

mod anticipation;
mod avoidance;
mod choices;
mod competition;
mod environment;

use crate::args::TablesArgs;
use crate::failure::{CliResult, Failure};
use crate::{Progress, Report};

/// Names of the papers.
/// Attacks that are timed if nothing is said.
const TRIALS: u32 = 400;

const PAPERS: &str = "anticipation, avoidance, choices, competition, environment";

pub(crate) fn run(args: &TablesArgs, progress: &Progress) -> CliResult<Report> {
    match args.paper.as_str() {
        "anticipation" => anticipation::run(args, progress),
        "avoidance" => avoidance::run(args, progress),
        "choices" => choices::run(args, progress),
        "competition" => competition::run(args, progress),
        "environment" => environment::run(args, progress),
        other => {
            let message = format!("there are no tables of {other:?}; allowed are {PAPERS}");
            Err(Failure::bad(message).key("PAPER").found(other).allowed(PAPERS))
        }
    }
}

/// A row of an HTML table; `tag` is `th` or `td`.
fn html_row(tag: &str, cells: &[String]) -> String {
    let cells: String = cells.iter().map(|c| format!("<{tag}>{c}</{tag}>")).collect();
    format!("<tr>{cells}</tr>\n")
}

/// An HTML page around a body of tables.
fn html_page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n\
         <style>body{{font:16px system-ui;margin:2rem}}td,th{{padding:.3rem .8rem;text-align:left}}</style>\n\
         <h1>{title}</h1>\n{body}</html>\n"
    )
}
