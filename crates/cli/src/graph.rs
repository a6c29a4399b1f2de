//! `kumite graph`: what a library's graph holds, and how soon each kind of action is reached, from nodes and from any moment.

use std::fmt::Write as _;

use kumite_bake::graph::{components_of, kept, played_share, seconds_to};
use kumite_bake::repair::seconds_until;
use kumite_bake::transitions::{Cloud, TransitionConfig, each_row};
use kumite_motion::library::Library;
use kumite_motion::{Clip, SpanKind};
use kumite_picture::{DistanceMatrix, GraphCircle, Theme};
use serde_json::{Map, json};

use crate::args::GraphArgs;
use crate::failure::{CliResult, Failure};
use crate::output::Outputs;
use crate::{Progress, Report, bake, coverage, output, reaction};

/// Longest side of a distance matrix, pixels: a larger one would show no more.
const LONGEST_SIDE: usize = 1600;

pub(crate) fn run(args: &GraphArgs, progress: &Progress) -> CliResult<Report> {
    let pictures = [(&args.svg, "svg", "graph"), (&args.matrix, "png", "matrix"), (&args.coverage, "svg", "coverage")];
    // What cannot be written is not worked out.
    for (path, ending, _) in &pictures {
        path.as_ref().map_or(Ok(""), |path| output::ending(path, &[*ending]))?;
    }
    let (library, made) = bake::load_with_notes(&args.library, args.data.as_deref(), progress)?;
    let report = made.as_ref().map(|m| &m.report);
    let coverage = coverage::measure(&library, made.as_ref());
    let graph = library.graph();
    let seconds: f32 = library.clips().iter().map(Clip::seconds).sum();
    let mut text = format!(
        "{}: {} clips, {seconds:.0} s, {} nodes, {} edges\n",
        library.name,
        library.clips().len(),
        graph.nodes().len(),
        graph.edges().len()
    );
    let mut labels = Map::new();
    let gaps = &coverage.gaps;
    for kind in SpanKind::ALL {
        let (kept, total) = kept(&library, kind);
        if total == 0 {
            continue;
        }
        let has_active = matches!(kind, SpanKind::Attack | SpanKind::Avoid | SpanKind::Block);
        let mut to = if has_active { seconds_until(&library, kind) } else { seconds_to(&library, kind) };
        to.sort_by(f32::total_cmp);
        let reached: Vec<f32> = to.iter().copied().filter(|s| s.is_finite()).collect();
        let share = reached.len() as f32 / to.len().max(1) as f32;
        let at = |part: f32| reached.get(((reached.len().max(1) - 1) as f32 * part) as usize).copied();
        let shown = |v: Option<f32>| v.map_or("never".to_owned(), |v| format!("{v:.1} s"));
        let _ = writeln!(
            text,
            "    {:<7} {kept} of {total} kept; from {:.0} % of nodes, within {} (half of them), {} (all)",
            kind.name(),
            share * 100.0,
            shown(at(0.5)),
            shown(at(1.0))
        );
        let value = json!({
            "total": total, "kept": kept, "reachable_share": share,
            "seconds_to": {"p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": at(1.0)},
        });
        labels.insert(kind.name().to_owned(), value);
    }
    let (reaction_text, reaction) = reaction::report(&library);
    text += &reaction_text;
    text += &coverage.text;
    let mut outputs = Outputs::default();
    for (path, _, what) in pictures {
        let Some(path) = path else { continue };
        let bytes = match what {
            "coverage" => coverage.picture(&library).into_bytes(),
            "graph" => GraphCircle { library: &library, theme: Theme::LIGHT }.to_svg().into_bytes(),
            _ => matrix(&library)?.render().to_png(),
        };
        outputs.stage(path, &bytes)?;
    }
    outputs.commit()?;
    // A bundle has no report of its bake; what it holds can be counted all the same.
    let kept_share = report.map_or_else(|| played_share(&library), |r| r.seconds.1 / r.seconds.0.max(1e-6));
    let json = json!({
        "nodes": graph.nodes().len(), "edges": graph.edges().len(),
        "components": report.map_or_else(|| components_of(graph), |r| r.components),
        "kept_share": kept_share, "synthetic_share": coverage.synthetic_share, "labels": labels, "gaps": gaps,
        "coverage": coverage.json, "reaction": reaction,
    });
    Ok(Report { text, json })
}

/// The distances between all frames of a library; a pixel that covers several shows the least.
fn matrix(library: &Library) -> CliResult<DistanceMatrix> {
    let config = TransitionConfig::default();
    let cloud = Cloud::new(library.clips(), &config).map_err(|e| Failure::bad(e.to_string()))?;
    let size = cloud.len().clamp(1, LONGEST_SIDE);
    let pixel = |window: usize| window * size / cloud.len().max(1);
    let mut distances = vec![f32::INFINITY; size * size];
    each_row(&cloud, true, |s, t, row| {
        for (offset, squared) in row.iter().enumerate() {
            let (a, b) = (pixel(s), pixel((t + offset).min(cloud.len() - 1)));
            for at in [a * size + b, b * size + a] {
                distances[at] = distances[at].min(*squared);
            }
        }
    });
    distances.iter_mut().for_each(|d| *d = d.max(0.0).sqrt());
    let firsts: Vec<usize> = (0..cloud.len()).filter(|s| cloud.place(*s).is_some_and(|p| p.1.0 == 0)).collect();
    let graph = library.graph();
    let transitions = graph.edges().iter().filter(|e| e.join.is_some()).map(|edge| {
        let node = graph.node(edge.from);
        (pixel(firsts[node.clip.at()] + node.frame.at()), pixel(firsts[edge.clip.at()] + edge.first.at()))
    });
    let transitions = transitions.collect();
    let mut far: Vec<f32> = graph.edges().iter().filter_map(|e| e.join).map(|e| e.distance).collect();
    far.sort_by(f32::total_cmp);
    let limit = far.get(far.len() * 9 / 10).copied().unwrap_or(0.1);
    let borders = firsts.iter().skip(1).map(|s| pixel(*s)).collect();
    Ok(DistanceMatrix { size, distances, borders, transitions, limit, theme: Theme::LIGHT })
}
