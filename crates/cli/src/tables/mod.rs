//! `kumite tables`: the papers' experiments, ours beside theirs; one module per paper.

mod avoidance;
mod choices;
mod environment;

use crate::args::TablesArgs;
use crate::failure::{CliResult, Failure};
use crate::{Progress, Report};

/// Papers whose tables are run again.
const PAPERS: &str = "avoidance, choices, environment";

pub(crate) fn run(args: &TablesArgs, progress: &Progress) -> CliResult<Report> {
    match args.paper.as_str() {
        "avoidance" => avoidance::run(args, progress),
        "choices" => choices::run(args, progress),
        "environment" => environment::run(args, progress),
        other => {
            let message = format!("there are no tables of {other:?}; allowed is {PAPERS}");
            Err(Failure::bad(message).key("PAPER").found(other).allowed(PAPERS))
        }
    }
}
