//! How soon actions begin from any moment, as text and JSON: the part of `kumite graph` about reaction time.

use std::fmt::Write as _;

use kumite_bake::reaction::{self, KindReaction, Wait};
use kumite_motion::Clip;
use kumite_motion::library::Library;
use serde_json::{Map, Value, json};

/// Moments that are looked at.
const MOMENTS: usize = 20_000;
/// Places that are named for each kind.
const WORST: usize = 3;

/// Text for people and the object `reaction`, which is null where the library has no interrupts.
pub(crate) fn report(library: &Library) -> (String, Value) {
    let interrupts = library.interrupts();
    if interrupts.is_empty() {
        let text = "    where motion can be left at once is not known: the bundle is older; `kumite bake` it again\n";
        return (text.to_owned(), Value::Null);
    }
    let measured = reaction::measure(library, MOMENTS, 0);
    let clips: usize = library.clips().iter().map(|clip: &Clip| size_of_val(clip.rows())).sum();
    let share = interrupts.bytes() as f32 / clips.max(1) as f32;
    let why = measured.left_out.iter().map(|(why, share)| format!("{} {:.1} %", why.name(), 100.0 * share));
    let mut text = format!(
        "    from {} moments of wandering; {:.1} % of them left out ({}); interrupts are {:.1} % of the clips' size\n",
        measured.moments,
        100.0 * measured.left_out_share(),
        why.collect::<Vec<_>>().join(", "),
        100.0 * share
    );
    let shown = |seconds: f32| if seconds.is_finite() { format!("{seconds:.2} s") } else { "never".to_owned() };
    let name = |wait: &Wait| &library.clip(wait.clip).name;
    let mut kinds = Map::new();
    for kind in &measured.kinds {
        let worst = kind.worst(WORST);
        let places = worst.iter().map(|w| format!("{} from {} at {:.2} s", shown(w.seconds), name(w), w.at));
        let _ = writeln!(
            text,
            "    {:<7} begins within {} (half of them), {} (95 %); from nodes alone {}, {}; longest {}",
            kind.kind.name(),
            shown(kind.quantile(0.5)),
            shown(kind.quantile(0.95)),
            shown(kind.quantile_from_nodes(0.5)),
            shown(kind.quantile_from_nodes(0.95)),
            places.collect::<Vec<_>>().join(", ")
        );
        let worst: Vec<Value> =
            worst.iter().map(|w| json!({"clip": name(w), "at": w.at, "seconds": finite(w.seconds)})).collect();
        let value = json!({
            "onsets": interrupts.onsets().iter().filter(|o| o.kind == kind.kind).count(),
            "seconds": quantiles(kind, KindReaction::quantile),
            "seconds_from_nodes": quantiles(kind, KindReaction::quantile_from_nodes),
            "worst": worst,
        });
        kinds.insert(kind.kind.name().to_owned(), value);
    }
    let left_out: Map<String, Value> =
        measured.left_out.iter().map(|(why, share)| (why.name().to_owned(), json!(share))).collect();
    let json = json!({
        "moments": measured.moments, "left_out_share": measured.left_out_share(), "committed_share": left_out,
        "interrupts": interrupts.ranges().len(), "bytes": interrupts.bytes(), "share_of_clips": share, "kinds": kinds,
    });
    (text, json)
}

fn quantiles(kind: &KindReaction, at: impl Fn(&KindReaction, f32) -> f32) -> Value {
    json!({"p50": finite(at(kind, 0.5)), "p95": finite(at(kind, 0.95)), "max": finite(at(kind, 1.0))})
}

/// JSON has no infinity.
fn finite(seconds: f32) -> Option<f32> {
    seconds.is_finite().then_some(seconds)
}
