//! The `kumite` command: parses arguments, runs a command, prints its report. The only crate that reads files, prints, or
//! asks for the time.

mod args;
mod bake;
mod brace;
mod convert;
mod coverage;
mod demo;
mod dodge;
mod exported;
mod failure;
mod graph;
mod inspect;
mod judged;
mod label;
mod manifest_text;
mod manual;
mod output;
mod output_args;
mod picture_flags;
mod play;
mod rayon_pool;
mod reaction;
mod rigs;
mod role_flags;
mod source;
mod spar;
mod spar_args;
mod stock_scenes;
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

/// Result of a command: lines for people, one JSON object for programs.
pub(crate) struct Report {
    pub(crate) text: String,
    pub(crate) json: Value,
}

/// Whether and how a command shows progress.
pub(crate) struct Progress {
    pub(crate) quiet: bool,
}

impl Progress {
    /// A bar on standard error, hidden if that is not a terminal or `--quiet` was given.
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
        Err(error) => return usage_error(&error),
    };
    let progress = Progress { quiet: cli.quiet || cli.json };
    let done = run(&cli.command, &progress);
    match done {
        Ok(report) if cli.json => {
            print(&format!("{}\n", report.json));
            ExitCode::SUCCESS
        }
        Ok(report) => {
            print(&report.text);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            if cli.json {
                print(&format!("{}\n", failure.to_json()));
            } else {
                print_error(&failure.to_string());
            }
            ExitCode::from(failure.code)
        }
    }
}

/// Prints to standard output. Errors are ignored: a closed pipe means that the reader has seen enough.
fn print(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints to standard error.
pub(crate) fn print_error(text: &str) {
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
        Command::Brace(args) => brace::run(args, progress),
        Command::Walk(args) => walk::run(args, progress),
        Command::Spar(args) => spar::run(args, progress),
        Command::Tables(args) => tables::run(args, progress),
        Command::Completions(args) => manual::completions(args),
        Command::Manual(args) => manual::pages(args),
    }
}

/// What to write instead of a library without its flag.
fn misplaced_library(error: &clap::Error) -> Option<String> {
    let context =
        error.get(clap::error::ContextKind::InvalidArg).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    let Some(clap::error::ContextValue::String(found)) = context else { return None };
    let library = source::ending(std::path::Path::new(found)).is_some_and(|e| e == "kumite" || e == "toml");
    (library && !found.starts_with('-'))
        .then(|| format!("{found:?} has no flag before it: a library is given as --library {found}"))
}

/// Help and version go to standard output with exit code 0; any other error is one message, as JSON with `--json`.
fn usage_error(error: &clap::Error) -> ExitCode {
    let help = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let meant = misplaced_library(error);
    if help || !std::env::args_os().any(|a| a == "--json") {
        match &meant {
            Some(message) => print_error(message),
            None => drop(error.print()),
        }
        return ExitCode::from(if help { 0 } else { BAD_INPUT });
    }
    let text = error.to_string();
    let first = || text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let message = meant.unwrap_or_else(first);
    print(&format!("{}\n", Failure::bad(message).to_json()));
    ExitCode::from(BAD_INPUT)
}
