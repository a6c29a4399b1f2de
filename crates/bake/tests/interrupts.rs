//! Motion can be left at once: how soon, at what price, and how it looks.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::panic, reason = "helpers of tests")]

mod common;

use std::sync::{Arc, OnceLock};

use common::say;
use kumite_bake::judge::judge;
use kumite_bake::library::{BakeConfig, bake};
use kumite_bake::reaction::{self, Reaction};
use kumite_bake::{interrupts, reaction::KindReaction};
use kumite_motion::anatomy::Anatomy;
use kumite_motion::interrupt::Interrupt;
use kumite_motion::library::Library;
use kumite_motion::{Clip, EdgeIdx, FrameIdx, Layer, Roles, SpanKind, Vec2};
use kumite_plan::{Leg, Plan};
use kumite_stage::{Character, Recorder, TICKS, Take};

const MOMENTS: usize = 2000;

/// The committed bundle, read once for all tests; a test of the command line proves that it is what the keys give.
fn embedded() -> &'static Arc<Library> {
    static MADE: OnceLock<Arc<Library>> = OnceLock::new();
    MADE.get_or_init(|| Arc::new(kumite_captures::whole_library("embedded").unwrap().only(Layer::Fight).unwrap()))
}

/// Says the figures of a library, and holds its tables to a tenth of its clips.
fn measured(name: &str, library: &Library) -> Reaction {
    let found = library.interrupts();
    let clips: usize = library.clips().iter().map(|c: &Clip| size_of_val(c.rows())).sum();
    let share = found.bytes() as f32 / clips as f32;
    say(&format!("{name}: onsets"), found.onsets().len() as f32, "");
    say(&format!("{name}: interrupts"), found.ranges().len() as f32, "");
    say(&format!("{name}: interrupts, share of the clips' size"), 100.0 * share, "%");
    assert!(share <= 0.1, "{share}");
    let reaction = reaction::measure(library, MOMENTS, 1);
    assert_eq!(reaction.moments, MOMENTS);
    say(&format!("{name}: moments that are not left"), 100.0 * reaction.left_out_share(), "%");
    for kind in &reaction.kinds {
        let until = format!("{name}: until {} from any moment", kind.kind.name());
        say(&format!("{until}, median"), kind.quantile(0.5), "s");
        say(&format!("{until}, 95 %"), kind.quantile(0.95), "s");
        say(&format!("{until}, from nodes alone, median"), kind.quantile_from_nodes(0.5), "s");
        say(&format!("{until}, from nodes alone, 95 %"), kind.quantile_from_nodes(0.95), "s");
        for worst in kind.worst(3) {
            println!("    {} at {:.2} s: {:.2} s", library.clip(worst.clip).name, worst.at, worst.seconds);
        }
        assert!(kind.quantile(0.5) < kind.quantile_from_nodes(0.5), "{name}: {}", kind.kind.name());
    }
    reaction
}

/// Bounds of the median and of 95 %, seconds.
#[track_caller]
fn check(reaction: &Reaction, bounds: &[(SpanKind, f32, f32)]) {
    for (kind, half, most) in bounds {
        let of: &KindReaction = reaction.kinds.iter().find(|k| k.kind == *kind).unwrap();
        let found = (of.quantile(0.5), of.quantile(0.95));
        assert!(found.0 <= *half && found.1 <= *most, "{}: {found:?}", kind.name());
    }
}

#[test]
fn embedded_reacts_at_once() {
    let reaction = measured("embedded", embedded());
    let bounds = [
        // Kicks have a foot in the air, and are not left for what takes two.
        (SpanKind::Avoid, 0.0, 0.25),
        (SpanKind::Attack, 0.0, 0.20),
        (SpanKind::Block, 0.0, 0.40),
        (SpanKind::Step, 0.0, 0.25),
        (SpanKind::Turn, 0.05, 0.70),
    ];
    check(&reaction, &bounds);
    // A third of the motions are attacks.
    assert!(reaction.left_out_share() <= 0.10, "{}", reaction.left_out_share());
}

/// Outside walks and runs avoidances and blocks are as near as the rest; nobody stops a run for a slip within a step.
#[test]
fn accad_reacts() {
    let Some(baked) = kumite_captures::library("accad-male2") else { return };
    let library = interrupts::find(&baked.library).unwrap();
    let reaction = measured("accad-male2", &library);
    let bounds = [
        (SpanKind::Avoid, 0.05, 1.3),
        (SpanKind::Attack, 0.0, 0.8),
        (SpanKind::Block, 0.0, 0.8),
        (SpanKind::Step, 0.0, 0.9),
    ];
    check(&reaction, &bounds);
    let goes = |kind| matches!(kind, SpanKind::Walk | SpanKind::Run);
    for kind in &reaction.kinds {
        let stays = kind.waits.iter().filter(|wait| {
            let spans = &library.clip(wait.clip).spans;
            !spans.iter().any(|s| goes(s.kind) && s.from <= wait.at && wait.at <= s.to)
        });
        let stays: Vec<f32> = stays.map(|wait| wait.seconds).collect();
        let most = stays[stays.len() * 95 / 100];
        say(&format!("accad-male2: until {} from any moment of no walk or run, 95 %", kind.kind.name()), most, "s");
        assert!(most <= 0.5, "{}: {most}", kind.kind.name());
    }
}

#[test]
fn cmu_reacts() {
    let Some(baked) = kumite_captures::library("cmu-fight") else { return };
    let library = interrupts::find(&baked.library).unwrap();
    let bounds = [
        (SpanKind::Avoid, 0.1, 0.8),
        (SpanKind::Attack, 0.0, 0.3),
        (SpanKind::Block, 0.0, 0.8),
        (SpanKind::Step, 0.0, 0.8),
    ];
    check(&measured("cmu-fight", &library), &bounds);
}

/// Plays an edge from its beginning to a frame and then an onset: the last frames before it and half a second after. Without an onset, what is played goes on.
///
/// `None` for frames that only walkers play.
fn join(library: &Arc<Library>, range: &Interrupt, frame: u32, joins: bool) -> Option<Take> {
    let graph = library.graph();
    let plays = |e: &EdgeIdx| {
        let edge = graph.edge(*e);
        edge.clip == range.clip && edge.first.0 <= frame && frame < edge.last.0
    };
    let edge = graph.edges_of(Layer::Fight).find(plays)?;
    let clip = library.clip(range.clip);
    let since = (frame - graph.edge(edge).first.0) as f32 / clip.fps();
    let onset = &library.interrupts().onsets()[range.onset as usize];
    let join = library.join_onset(range.clip, FrameIdx(frame), onset, range.cost);
    let leg = Leg { enter: onset.enter, join: Some(join), ..Leg::whole(onset.edge) };
    let mut character = Character::on(Arc::clone(library), edge, Vec2::ZERO, 0.0);
    let mut recorder = Recorder::default();
    let ticks = (since * TICKS as f32).round() as u32;
    for tick in 0..ticks + TICKS / 2 {
        if tick == ticks && joins {
            character.commit(Plan::at_once(leg));
        }
        let began = character.step(|_, next| next[0]);
        if tick + 4 >= ticks {
            recorder.record(&character, if tick == ticks && joins { Some(leg) } else { began });
        }
    }
    Some(recorder.finish("joined", library.skeleton()).unwrap())
}

/// Not as rehearsals play it: edges are played from their beginning, and every quality of the take counts.
#[test]
fn ends_of_ranges_can_be_joined() {
    let library = embedded();
    let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(library.skeleton()));
    let (mut played, mut bad, mut worst) = (0u32, Vec::new(), (0.0f32, 0.0f32));
    let (mut joined, mut undisturbed, mut walked) = (0u32, 0u32, 0u32);
    for range in library.interrupts().ranges().iter().step_by(41) {
        for frame in [range.first.0, range.last.0] {
            let (Some(take), Some(without)) = (join(library, range, frame, true), join(library, range, frame, false))
            else {
                walked += 1;
                continue;
            };
            played += 1;
            worst = (worst.0.max(take.quality.snap), worst.1.max(take.quality.foot_slide_cm_s));
            if !take.quality.passes() {
                bad.push((library.clip(range.clip).name.clone(), frame, range.onset, take.quality));
            }
            let fails = |clip: &Clip| u32::from(!judge(clip, &roles, &anatomy).passes());
            joined += fails(&take.clip);
            undisturbed += fails(&without.clip);
        }
    }
    let share = |count: u32| 100.0 * count as f32 / played as f32;
    say("embedded: interrupts that fail the gates", share(bad.len() as u32), "%");
    say("embedded: snap of interrupts, worst", worst.0, "of 1.5");
    say("embedded: slide after interrupts, worst", worst.1, "cm/s");
    say("embedded: half seconds after interrupts that no person plays", share(joined), "%");
    say("embedded: the same half seconds, undisturbed", share(undisturbed), "%");
    assert!(50 * walked <= played, "{walked} of {played} are played by walkers only");
    assert!(bad.is_empty(), "{} of {played}: {:?}", bad.len(), &bad[..bad.len().min(3)]);
    assert!(share(joined) <= share(undisturbed) + 1.0);
}

#[test]
fn strikes_are_committed_until_they_are_over() {
    let library = embedded();
    let jab = library.clips().iter().position(|c| c.name == "jab").unwrap();
    let span = library.clips()[jab].spans.iter().find(|s| s.kind == SpanKind::Attack).unwrap();
    let (fps, clip) = (library.clips()[jab].fps(), kumite_motion::ClipIdx(jab as u32));
    let inside = |seconds: f32| library.interrupts().is_committed(clip, FrameIdx((seconds * fps) as u32));
    let (from, to) = span.active.unwrap();
    assert!(inside(0.5 * (from + to)) && inside(to));
    assert!(!inside(span.from) && !inside(to + 0.1) && !inside(from - 0.15));
    for part in library.interrupts().committed() {
        for frame in part.first.0..=part.last.0 {
            assert_eq!(library.interrupts().at(part.clip, FrameIdx(frame)).count(), 0);
        }
    }
}

#[test]
fn threads_change_nothing() {
    let names = ["guard-idle", "jab", "slip-left", "step-back"];
    let mut clips = kumite_captures::clips("embedded").unwrap();
    clips.retain(|c| names.contains(&c.name.as_str()));
    let library = bake("few", clips, &BakeConfig { repair: None, ..BakeConfig::default() }).unwrap().library;
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let found = interrupts::find(&library).unwrap();
    assert!(!found.interrupts().ranges().is_empty());
    assert_eq!(one.install(|| interrupts::find(&library)).unwrap(), found);
}
