//! Exchanges chosen by a seed, as strips without names: for people who say what they see, and a key of what it was.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use kumite_motion::{Chance, Roles};
use kumite_picture::{Strip, Times, View, Window};
use kumite_plan::spar::moves::MoveKind;
use kumite_stage::op::BlowEvent;
use kumite_stage::spar_trial::Entrant;
use kumite_stage::{EventKind, Kit, TICKS};
use serde_json::json;

use super::one;
use crate::failure::{CliResult, Failure};
use crate::output::Outputs;
use crate::spar_args::SparArgs;
use crate::{Progress, Report, picture_flags};

/// When poses are shown, seconds from the moment a blow arrives: closer together around it.
const POSES: [f32; 8] = [-0.6, -0.42, -0.28, -0.16, -0.07, 0.0, 0.12, 0.32];
const BEFORE: f32 = 0.6;
const AFTER: f32 = 0.32;
/// Blows of both within this are no exchange of an attack and an answer, seconds.
const APART: f32 = 0.6;
/// The two figures as a reader sees them.
const SEEN: [&str; 2] = ["light", "grey"];

/// One exchange from each of so many bouts.
pub(super) fn run(
    args: &SparArgs,
    kit: &Arc<Kit>,
    entrants: &[Entrant; 2],
    (folder, count): (&Path, u32),
    progress: &Progress,
) -> CliResult<Report> {
    if count == 0 || count > 1000 {
        return Err(Failure::bad(format!("--exchanges is {count}; allowed is 1 to 1000")).key("exchanges"));
    }
    let mut outputs = Outputs::default();
    let (mut key, mut rows) = (String::new(), Vec::new());
    let bar = progress.bar(count as usize, "exchanges");
    let (mut number, mut seed) = (0, args.seed);
    while number < count && seed < args.seed + 4 * u64::from(count) {
        let mut chance = Chance::new(seed);
        let (_, performance, _) = one(kit, entrants, args, seed);
        seed += 1;
        let takes = performance.takes().map_err(|e| Failure::bad(e.to_string()))?;
        let last = takes.first().map_or(0.0, |t| t.clip.seconds());
        let ids: Vec<_> = entrants.iter().filter_map(|e| performance.world.named(&e.name)).collect();
        let blows: Vec<(f32, usize, &BlowEvent)> = performance
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::Blow(blow) if blow.reach => {
                    let by = ids.iter().position(|id| *id == blow.by)?;
                    Some((event.tick as f32 / TICKS as f32, by, blow))
                }
                _ => None,
            })
            .collect();
        // What somebody had begun when a blow arrived.
        let begun = |who: usize, time: f32| {
            let last = performance.events.iter().rev().find_map(|event| match &event.kind {
                EventKind::Decided { what, .. } if event.who == Some(ids[who]) => {
                    let at = event.tick as f32 / TICKS as f32;
                    (at < time - 1e-3).then(|| (at, what.clone()))
                }
                _ => None,
            });
            last.filter(|(at, _)| time - at < 0.8).map(|(_, what)| what).unwrap_or_default()
        };
        let moves = &kit.spar().moves;
        let kind = |what: &str| moves.named(what).map(|index| moves.get(index).kind);
        let alone = |(time, by, _): &&(f32, usize, &BlowEvent)| {
            let other = blows.iter().any(|(t, who, _)| who != by && (t - time).abs() < APART);
            let both = kind(&begun(1 - by, *time)) == Some(MoveKind::Strike);
            !other && !both && *time > BEFORE && *time < last - AFTER
        };
        let fit: Vec<_> = blows.iter().filter(alone).collect();
        if fit.is_empty() {
            continue;
        }
        let (time, by, blow) = fit[chance.below(fit.len() as u32) as usize];
        let defence = begun(1 - by, *time);
        let how = match kind(&defence) {
            Some(MoveKind::Block) => "blocks",
            Some(MoveKind::Avoid) => "dodges",
            Some(MoveKind::Step | MoveKind::Turn) => "steps",
            _ => "does nothing",
        };
        number += 1;
        let _ = writeln!(
            key,
            "{number:02}  seed {} at {time:.2} s: {} attacks with {}, {} ({}); {} {how} {defence}",
            seed - 1,
            SEEN[*by],
            blow.name,
            blow.outcome.name(),
            blow.part.map_or("nothing", |part| part.name()),
            SEEN[1 - by],
        );
        rows.push(json!({
            "number": number, "seed": seed - 1, "time": time, "attacker": SEEN[*by], "attack": blow.name,
            "outcome": blow.outcome.name(), "part": blow.part.map(|part| part.name()), "defender": how, "defence": defence,
        }));
        let figures = takes.iter().enumerate().map(|(i, take)| {
            let roles = Some(Roles::canonical());
            picture_flags::figure(&take.clip, roles).coloured(picture_flags::colours(i))
        });
        let strip = Strip {
            figures: figures.collect(),
            times: Times::At(POSES.iter().map(|t| time + t).collect()),
            views: vec![View::three_quarter(), View::side()],
            window: Window::Pose,
            title: Some(String::new()),
            timeline: false,
            captions: false,
            width: args.picture.width.max(2000),
            theme: args.picture.theme(),
            ..Strip::default()
        };
        outputs.stage(&folder.join(format!("{number:02}.png")), &strip.render().to_png())?;
        bar.inc(1);
    }
    bar.finish_and_clear();
    outputs.commit()?;
    Ok(Report { text: key, json: json!({"exchanges": rows}) })
}
