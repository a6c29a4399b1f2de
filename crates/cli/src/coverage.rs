//! What a library can do, in words, numbers and one picture: part of `kumite graph`.

use std::fmt::Write as _;
use std::sync::Arc;

use kumite_bake::coverage::{self, DIRECTIONS, GroundReach, HORIZONS, SOON, Spot};
use kumite_bake::repair::{seconds_until, synthetic_share};
use kumite_motion::SpanKind;
use kumite_motion::library::Library;
use kumite_picture::{BodyPoint, Coverage};
use kumite_plan::dodge::{DodgeConfig, DodgeScratch};
use kumite_stage::attack_trial::Trial;
use kumite_stage::{Target, dodge_referee};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::bake::{Made, WALK};
use crate::dodge;

/// Where the words for directions lie among the sixteen.
const COMPASS: [(usize, &str); 4] =
    [(0, "ahead"), (DIRECTIONS / 4, "left"), (DIRECTIONS / 2, "back"), (3 * DIRECTIONS / 4, "right")];
/// Balls thrown at each target.
const BALLS: u64 = 100;

/// By target: the shares of balls seen [`SOON`] ahead, at random moments of wandering, that are avoided by a motion as it is, and by anything.
fn dodged(library: &Arc<Library>) -> Vec<(&'static str, f32, f32)> {
    let defence = dodge::defence(Arc::clone(library), DodgeConfig::default());
    let one = |target: Target, scratch: &mut DodgeScratch, seed: u64| {
        let trial = Trial::aimed(library, seed, Some((target, SOON)))?;
        let decision = defence.decide(&trial.character, &trial.ahead, &trial.threats, scratch).ok()?;
        let threatens = dodge_referee::threatening(&trial.character, &trial.ahead, &trial.threats).first.is_some();
        let ruling = dodge_referee::judge(&trial.character, &decision, &trial.ahead, &trial.threats);
        let motion = ruling.avoided && decision.span.is_some() && decision.clearance >= 0.0;
        threatens.then_some((motion, ruling.avoided || ruling.blocked))
    };
    let of = |target: Target| {
        let balls =
            (0..BALLS).into_par_iter().map_init(DodgeScratch::default, |scratch, seed| one(target, scratch, seed));
        let ends: Vec<(bool, bool)> = balls.flatten_iter().collect();
        let share =
            |test: fn(&(bool, bool)) -> bool| ends.iter().filter(|e| test(e)).count() as f32 / ends.len().max(1) as f32;
        (target.name(), share(|e| e.0), share(|e| e.1))
    };
    Target::ALL.map(of).to_vec()
}

/// All of it.
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) json: Value,
    pub(crate) gaps: Vec<Value>,
    pub(crate) synthetic_share: f32,
    reach: GroundReach,
    spots: Vec<Spot>,
}

pub(crate) fn tell(library: &Arc<Library>, made: Option<&Made>) -> Told {
    let (reach, spots) = (coverage::reach(library), coverage::answers(library));
    let dodged = dodged(library);
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
    let said: Vec<String> = dodged
        .iter()
        .map(|(name, motion, any)| format!("{name} {:.0} % ({:.0} %)", 100.0 * motion, 100.0 * any))
        .collect();
    let _ = writeln!(
        text,
        "    of balls seen {SOON} s ahead, avoided by a motion (and with bends and blocks): {}",
        said.join(", ")
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
    Told { text, json, gaps, synthetic_share: synthetic, reach, spots }
}

impl Told {
    /// The picture, as an SVG document.
    pub(crate) fn picture(&self, library: &Library) -> String {
        let there = |kind: &SpanKind| library.clips().iter().flat_map(|c| &c.spans).any(|s| s.kind == *kind);
        let kinds = SpanKind::ALL.into_iter().filter(there).map(|kind| {
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
            caption: format!("share of the poses from which the place is free within {SOON} s"),
            kinds: kinds.collect(),
        }
        .to_svg()
    }
}
