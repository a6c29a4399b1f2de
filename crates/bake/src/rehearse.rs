//! Every join is played once before it goes into a library: playing shows what a distance between poses cannot.

use std::sync::Arc;

use kumite_motion::library::Library;
use kumite_motion::{EdgeIdx, Graph, Vec2};
use kumite_stage::{Character, Recorder, TICKS};
use rayon::prelude::*;

/// A join may not snap by more than this, in units of [`kumite_stage::SNAP_UNIT`]; takes are held to 1.5.
const SNAP: f32 = 1.0;
/// Planted feet may not slide faster than this around a join, centimetres per second on average.
const SLIDE: f32 = 4.0;
/// Run-ups tried for each join: a join may begin before the previous one is over.
const RUN_UPS: usize = 4;
/// How long the motion is played after the join, seconds: as long as joins last.
const AFTER: f32 = 0.4;

/// Those of some joins of a library that look bad when they are played, sorted.
pub fn rehearse(library: &Arc<Library>, joins: &[EdgeIdx]) -> Vec<EdgeIdx> {
    let graph = library.graph();
    let before = run_ups(graph);
    let bad = |join: &EdgeIdx| {
        before[graph.edge(*join).from.at()].iter().any(|run_up| !passes(library, &before, *run_up, *join))
    };
    let mut bad: Vec<EdgeIdx> = joins.par_iter().copied().filter(bad).collect();
    bad.sort();
    bad
}

/// Per node some edges that lead to it, the shortest first.
fn run_ups(graph: &Graph) -> Vec<Vec<EdgeIdx>> {
    let mut before = vec![Vec::new(); graph.nodes().len()];
    let mut edges: Vec<EdgeIdx> = (0..graph.edges().len() as u32).map(EdgeIdx).collect();
    edges.sort_by(|a, b| graph.edge(*a).seconds.total_cmp(&graph.edge(*b).seconds).then(a.cmp(b)));
    for edge in edges {
        let to = &mut before[graph.edge(edge).to.at()];
        if to.len() < RUN_UPS {
            to.push(edge);
        }
    }
    before
}

fn passes(library: &Arc<Library>, before: &[Vec<EdgeIdx>], run_up: EdgeIdx, join: EdgeIdx) -> bool {
    let graph = library.graph();
    // Feet are planted before the run-up begins: where they stand then is where they may be torn from at the join.
    let start = before[graph.edge(run_up).from.at()].first().copied().unwrap_or(run_up);
    let mut script = [run_up, join].into_iter();
    let mut character = Character::on(Arc::clone(library), start, Vec2::ZERO, 0.0);
    let mut recorder = Recorder::default();
    recorder.record(&character, None);
    let seconds = graph.edge(start).seconds + graph.edge(run_up).seconds + AFTER;
    for _ in 0..(seconds * TICKS as f32) as u32 {
        let began = character.step(|_, next| {
            // After the join the clip continues by itself where it can: another join would be another rehearsal.
            let on = next.iter().find(|e| graph.edge(**e).join.is_none());
            script.next().or_else(|| on.or(next.first()).copied()).unwrap_or(join)
        });
        recorder.record(&character, began.filter(|leg| leg.edge == join));
    }
    let quality = recorder.rehearsed(library.skeleton());
    quality.is_ok_and(|q| q.snap_at_joins <= SNAP && q.foot_slide_cm_s <= SLIDE)
}
