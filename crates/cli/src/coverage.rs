//! What a library can do, as text, JSON and one picture: the coverage part of `kumite graph`.

use std::fmt::Write as _;
use std::sync::Arc;

use kumite_bake::coverage::{self, DIRECTIONS, GroundReach, HORIZONS, SOON, Spot};
use kumite_bake::repair::{seconds_until, synthetic_share};
use kumite_motion::SpanKind;
use kumite_motion::library::Library;
use kumite_picture::{BodyPoint, Coverage};
use kumite_stage::Target;
use kumite_stage::attack_trial::{Answer, Trial};
use kumite_stage::world::Perception;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::bake::{BakeNotes, WALK};
use crate::dodge;

/// Indices of the four named directions among the sixteen.
const COMPASS: [(usize, &str); 4] =
    [(0, "ahead"), (DIRECTIONS / 4, "left"), (DIRECTIONS / 2, "back"), (3 * DIRECTIONS / 4, "right")];
/// Balls thrown at each target.
const BALLS: u64 = 100;

/// Per target: of balls seen [`SOON`] ahead at random moments, the shares avoided by an unchanged motion, and defended by any means.
fn measure_dodges(library: &Arc<Library>) -> Vec<(&'static str, f32, f32)> {
    let kits = [dodge::kit(Arc::clone(library))];
    let throw = |target: Target, seed: u64| {
        let trial = Trial::random(&kits, seed, Perception::ALL_ROUND, Some((target, SOON)))?;
        let played = trial.play(&kits)?;
        played.threatens(&trial.undisturbed(&kits)?.1, &kits).then(|| played.answer())
    };
    let shares = |target: Target| {
        let answers: Vec<Answer> = (0..BALLS).into_par_iter().filter_map(|seed| throw(target, seed)).collect();
        let share =
            |test: fn(&Answer) -> bool| answers.iter().filter(|a| test(a)).count() as f32 / answers.len().max(1) as f32;
        (target.name(), share(|a| *a == Answer::Motion), share(|a| *a != Answer::Hit))
    };
    Target::ALL.map(shares).to_vec()
}

/// Coverage of one library.
pub(crate) struct CoverageReport {
    pub(crate) text: String,
    pub(crate) json: Value,
    pub(crate) gaps: Vec<Value>,
    pub(crate) synthetic_share: f32,
    reach: GroundReach,
    spots: Vec<Spot>,
}

pub(crate) fn measure(library: &Arc<Library>, made: Option<&BakeNotes>) -> CoverageReport {
    let (reach, spots) = (coverage::reach(library), coverage::answers(library));
    let dodged = measure_dodges(library);
    let by_motion: Vec<(&str, f32)> = dodged.iter().map(|(name, motion, _)| (*name, *motion)).collect();
    let gaps = coverage::gaps(library, made.map(|m| &m.report), made.map(|m| &m.repaired), &reach, &by_motion);
    let synthetic = synthetic_share(library, WALK);
    let (captured, bridges) = coverage::counts(library);
    let mut text = format!(
        "    {captured} captured motions, {bridges} bridges between them: {:.1} % of a random walk is synthetic\n",
        100.0 * synthetic
    );
    for (h, horizon) in HORIZONS.iter().enumerate() {
        let far: Vec<String> = COMPASS.iter().map(|(d, name)| format!("{:.1} m {name}", reach.median[h][*d])).collect();
        let _ = writeln!(text, "    in {horizon:.0} s half of the poses get at least {}", far.join(", "));
    }
    let by_target: Vec<String> = dodged
        .iter()
        .map(|(name, motion, any)| format!("{name} {:.0} % ({:.0} %)", 100.0 * motion, 100.0 * any))
        .collect();
    let _ = writeln!(
        text,
        "    of balls seen {SOON} s ahead, avoided by a motion (and with bends and blocks): {}",
        by_target.join(", ")
    );
    for gap in &gaps {
        let _ = writeln!(text, "    missing: {}\n        nearest fix: {}", gap.what, gap.fix);
    }
    let spot = |s: &Spot| json!({"part": s.part.name(), "at": s.at.to_array(), "seconds": s.seconds, "share": s.share});
    let json = json!({
        "reach_m": HORIZONS.iter().enumerate().map(|(h, s)| json!({"seconds": s, "median": reach.median[h], "best": reach.best[h]})).collect::<Vec<_>>(),
        "dodged": dodged.iter().map(|(name, motion, any)| ((*name).to_owned(), json!({"by_motion_share": motion, "defended_share": any}))).collect::<serde_json::Map<_, _>>(),
        "vacated": spots.iter().map(spot).collect::<Vec<_>>(),
    });
    let gaps = gaps.iter().map(|g| json!({"what": g.what, "fix": g.fix})).collect();
    CoverageReport { text, json, gaps, synthetic_share: synthetic, reach, spots }
}

impl CoverageReport {
    /// Draws it as an SVG document.
    pub(crate) fn picture(&self, library: &Library) -> String {
        let occurs = |kind: &SpanKind| library.clips().iter().flat_map(|c| &c.spans).any(|s| s.kind == *kind);
        let kinds = SpanKind::ALL.into_iter().filter(occurs).map(|kind| {
            let mut until = match kind {
                SpanKind::Attack | SpanKind::Avoid | SpanKind::Block => seconds_until(library, kind),
                _ => kumite_bake::graph::seconds_to(library, kind),
            };
            until.sort_by(f32::total_cmp);
            (kind.name().to_owned(), until[until.len() / 2], until[until.len() - 1])
        });
        let reach = HORIZONS.iter().zip(&self.reach.median).map(|(s, far)| (format!("{s:.0} s"), far.to_vec()));
        let point = |s: &Spot| BodyPoint { at: s.at, radius: s.radius, share: s.share };
        Coverage {
            title: format!("{}: what it can do", library.name),
            reach: reach.collect(),
            points: self.spots.iter().map(point).collect(),
            caption: format!("share of the poses from which the point can be moved away within {SOON} s"),
            kinds: kinds.collect(),
        }
        .to_svg()
    }
}
