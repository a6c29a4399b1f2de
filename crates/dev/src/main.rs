//! `cargo dev`: commands for working on kumite.
//!
//! Never shipped. Knows the other crates only by name: it calls cargo, git and the package managers.

mod captures;
mod claims;
mod golden;
mod measure;
mod prove;
mod report;
mod steps;
mod test_times;
mod tidy;

use std::process::ExitCode;

const HELP: &str = "cargo dev <command>

  test [-p NAME]   every check that a change must pass; with -p only one crate
  prove [CLAIM…]   measures claims into docs/results.json: those named, `all`, or those without a result; --list lists them
  bench [NAME…]    measures speed beside peers, in one run
  tidy             checks documents against code: crates, dependencies, paths, quoted figures
  report           writes docs/results.md, and figures quoted elsewhere, from docs/results.json
  golden [--write] compares hashes of scenes, dodges and walks with docs/golden.json
  embed            bakes the keyed motions into library/embedded.kumite, which the command line is built with
  motions          measures people on captures; writes the tables of docs/motions.md and docs/people.md: the embedded motions beside them
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let rest = args.get(1..).unwrap_or_default();
    let done = match args.first().map(String::as_str) {
        Some("test") => match rest {
            [] => steps::test_all(),
            [flag, name] if flag == "-p" => steps::test_one(name),
            _ => Err(HELP.to_owned()),
        },
        Some("prove") => prove::prove(rest),
        Some("bench") => steps::bench(rest),
        Some("tidy") => tidy::tidy(),
        Some("report") => report::write(),
        Some("golden") => match rest {
            [] => golden::golden(false),
            [flag] if flag == "--write" => golden::golden(true),
            _ => Err(HELP.to_owned()),
        },
        Some("embed") => steps::embed(),
        Some("motions") => steps::motions(),
        _ => Err(HELP.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
