//! Many bouts, counted.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Instant;

use kumite_stage::Kit;
use kumite_stage::spar_trial::{BoutReport, Entrant};
use rayon::prelude::*;

use super::{one, to_json};
use crate::failure::{CliResult, Failure};
use crate::spar_args::SparArgs;
use crate::{Progress, Report};

/// Every bout has a seed of its own: of two equal ones with names exchanged the second would only be the first again.
pub(super) fn run(
    args: &SparArgs,
    kit: &Arc<Kit>,
    entrants: &[Entrant; 2],
    bouts: u32,
    progress: &Progress,
) -> CliResult<Report> {
    if bouts == 0 || bouts > 100_000 {
        let message = format!("--bouts is {bouts}; allowed is 1 to 100000");
        return Err(Failure::bad(message).key("bouts").found(bouts.to_string()));
    }
    let bar = progress.bar(bouts as usize, "bouts");
    let start = Instant::now();
    let fought: Vec<(BoutReport, f64)> = (0..bouts)
        .into_par_iter()
        .map(|k| {
            // Names carry chance: they are exchanged every other time, so that no name is lucky.
            let mut pair = entrants.clone();
            if k % 2 == 1 {
                let names = [pair[1].name.clone(), pair[0].name.clone()];
                pair.iter_mut().zip(names).for_each(|(entrant, name)| entrant.name = name);
            }
            let (report, _, planned) = one(kit, &pair, args, args.seed.wrapping_add(u64::from(k)));
            bar.inc(1);
            (report, planned)
        })
        .collect();
    bar.finish_and_clear();
    let seconds: f64 = fought.iter().map(|f| f.1).sum();
    let reports: Vec<BoutReport> = fought.into_iter().map(|f| f.0).collect();
    let json = to_json(&reports, seconds, start.elapsed().as_secs_f64());
    let mut text = String::new();
    for (key, value) in json.as_object().into_iter().flatten() {
        let _ = writeln!(text, "    {key:<22} {value}");
    }
    Ok(Report { text, json })
}
