//! The `kumite` command: raw arguments to a checked request to a run. The only crate that reads files, prints, or
//! knows the time.

mod args;
mod bake;
mod convert;
mod coverage;
mod demo;
mod dodge;
mod failure;
mod graph;
mod inspect;
mod judged;
mod label;
mod manual;
mod output;
mod picture_flags;
mod play;
mod rayon_pool;
mod source;
mod tables;
mod walk;

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use args::{Cli, Command};
use failure::{BAD_INPUT, CliResult, Failure};

/// What a command has to say: lines for people, one object for programs.
pub(crate) struct Report {
    pub(crate) text: String,
    pub(crate) json: Value,
}

/// How a command shows that it is at work.
pub(crate) struct Progress {
    pub(crate) quiet: bool,
}

impl Progress {
    /// A bar on standard error, if that is a terminal and nobody asked for silence.
    pub(crate) fn bar(&self, length: usize, what: &str) -> ProgressBar {
        if self.quiet {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(length as u64).with_message(what.to_owned());
        match ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len}") {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return wrong_use(&error),
    };
    let progress = Progress { quiet: cli.quiet || cli.json };
    let done = run(&cli.command, &progress);
    match done {
        Ok(report) if cli.json => {
            say(&format!("{}\n", report.json));
            ExitCode::SUCCESS
        }
        Ok(report) => {
            say(&report.text);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            if cli.json {
                say(&format!("{}\n", failure.to_json()));
            } else {
                complain(&failure.to_string());
            }
            ExitCode::from(failure.code)
        }
    }
}

/// To standard output. Whoever closed it has seen enough.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// To standard error.
pub(crate) fn complain(text: &str) {
    let _ = writeln!(std::io::stderr(), "kumite: {text}");
}

fn run(command: &Command, progress: &Progress) -> CliResult<Report> {
    match command {
        Command::Demo(args) => demo::run(args, progress),
        Command::Inspect(args) => inspect::run(args, progress),
        Command::Convert(args) => convert::run(args, progress),
        Command::Label(args) => label::run(args, progress),
        Command::Bake(args) => bake::run(args, progress),
        Command::Graph(args) => graph::run(args, progress),
        Command::Play(args) => play::run(args, progress),
        Command::Dodge(args) => dodge::run(args, progress),
        Command::Walk(args) => walk::run(args, progress),
        Command::Tables(args) => tables::run(args, progress),
        Command::Completions(args) => manual::completions(args),
        Command::Manual(args) => manual::pages(args),
    }
}

/// Help goes to standard output and is no error; anything else is one message, also as JSON if asked for.
fn wrong_use(error: &clap::Error) -> ExitCode {
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if asked || !std::env::args_os().any(|a| a == "--json") {
        let _ = error.print();
        return ExitCode::from(if asked { 0 } else { BAD_INPUT });
    }
    let text = error.to_string();
    let message = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    say(&format!("{}\n", Failure::bad(message).to_json()));
    ExitCode::from(BAD_INPUT)
}
