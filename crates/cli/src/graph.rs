//! `kumite graph`: what a library's graph holds, and what can be reached from where.

use std::fmt::Write as _;
use std::path::Path;

use kumite_bake::graph::seconds_to;
use kumite_motion::{Clip, SpanKind};
use serde_json::{Map, Value, json};

use crate::args::GraphArgs;
use crate::failure::Outcome;
use crate::{Progress, Report, bake};

pub(crate) fn run(args: &GraphArgs, progress: &Progress) -> Outcome<Report> {
    let (library, report) = bake::load(&args.library, Path::new(""), progress)?;
    let graph = library.graph();
    let seconds: f32 = library.clips().iter().map(Clip::seconds).sum();
    let mut text = format!(
        "{}: {} clips, {seconds:.0} s, {} nodes, {} edges\n",
        library.name,
        library.clips().len(),
        graph.nodes().len(),
        graph.edges().len()
    );
    let (mut labels, mut gaps) = (Map::new(), Vec::new());
    for kind in SpanKind::ALL {
        let total: usize = library.clips().iter().flat_map(|c| &c.spans).filter(|s| s.kind == kind).count();
        if total == 0 {
            continue;
        }
        let lost: Vec<_> =
            report.iter().flat_map(|r| &r.labels).filter(|l| l.kind == kind && l.kept < l.total).collect();
        let kept = total - lost.iter().map(|l| l.total - l.kept).sum::<usize>();
        for label in lost {
            gaps.push(format!("{} {}: {} of {} kept", kind.name(), label.label, label.kept, label.total));
        }
        let mut to = seconds_to(&library, kind);
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
    for gap in &gaps {
        let _ = writeln!(text, "    lost: {gap}");
    }
    let kept_share = report.as_ref().map(|r| r.seconds.1 / r.seconds.0.max(1e-6));
    let json = json!({
        "nodes": graph.nodes().len(), "edges": graph.edges().len(),
        "components": report.as_ref().map_or(Value::Null, |r| json!(r.components)),
        "kept_share": kept_share, "synthetic_share": 0.0, "labels": labels, "gaps": gaps,
    });
    Ok(Report { text, json })
}
