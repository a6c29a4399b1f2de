//! Shell completions and manual pages, generated from the definitions of the arguments.

use clap::CommandFactory;
use serde_json::json;

use crate::Report;
use crate::args::{Cli, CompletionsArgs, ManualArgs};
use crate::failure::{CliResult, Failure};
use crate::output::Outputs;

pub(crate) fn completions(args: &CompletionsArgs) -> CliResult<Report> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "kumite", &mut script);
    let text = String::from_utf8_lossy(&script).into_owned();
    Ok(Report { json: json!({"shell": args.shell.to_string(), "script": text}), text })
}

pub(crate) fn pages(args: &ManualArgs) -> CliResult<Report> {
    std::fs::create_dir_all(&args.output).map_err(|e| Failure::io(&args.output, "make the folder", &e))?;
    let mut command = Cli::command();
    command.build();
    let mut outputs = Outputs::default();
    let mut all = vec![(String::from("kumite"), command.clone())];
    for sub in command.get_subcommands().filter(|c| c.get_name() != "help") {
        all.push((format!("kumite-{}", sub.get_name()), sub.clone().name(format!("kumite-{}", sub.get_name()))));
    }
    for (name, command) in all {
        let mut page = Vec::new();
        let made = clap_mangen::Man::new(command).render(&mut page);
        made.map_err(|e| Failure::io(&args.output, "make the page", &e))?;
        outputs.stage(&args.output.join(format!("{name}.1")), &page)?;
    }
    let files: Vec<String> = outputs.commit()?.iter().map(|p| p.display().to_string()).collect();
    Ok(Report { text: files.iter().map(|f| format!("{f}\n")).collect(), json: json!({"files": files}) })
}
