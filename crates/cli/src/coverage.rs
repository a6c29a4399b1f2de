//! What a library can do, as text, JSON and one picture: the coverage part of `kumite graph`.

use std::fmt::Write as _;
use std::sync::Arc;

use kumite_bake::coverage::{self, DIRECTIONS, Gap, GroundReach, HORIZONS, SOON, Spot};
use kumite_bake::offence;
use kumite_bake::repair::{seconds_until, synthetic_share};
use kumite_motion::SpanKind;
use kumite_motion::library::Library;
use kumite_picture::{BodyPoint, Coverage};
use kumite_stage::attack_trial::{Answer, Trial};
use kumite_stage::world::Perception;
use kumite_stage::{Kit, Target};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::bake::{BakeNotes, WALK};
use crate::dodge;

/// Indices of the four named directions among the sixteen.
const COMPASS: [(usize, &str); 4] =
    [(0, "ahead"), (DIRECTIONS / 4, "left"), (DIRECTIONS / 2, "back"), (3 * DIRECTIONS / 4, "right")];
/// Balls thrown at each target.
const BALLS: u64 = 100;

/// Seconds ahead at which balls are known in the table of threats.
const LEADS: [f32; 3] = [0.35, SOON, 0.9];

/// Of the balls at one target, known so long ahead: how many threatened, and of these the shares answered by an unchanged motion, by a motion or a block, and
/// by any means.
struct Answered {
    target: &'static str,
    lead: f32,
    balls: usize,
    by_motion: f32,
    by_motion_or_block: f32,
    defended: f32,
}

/// Throws balls at random moments of wandering.
fn measure_dodges(kits: &[Arc<Kit>]) -> Vec<Answered> {
    let throw = |target: Target, lead: f32, seed: u64| {
        let trial = Trial::random(kits, seed, Perception::ALL_ROUND, Some((target, lead)))?;
        let played = trial.play(kits)?;
        played.threatens(&trial.undisturbed(kits)?.1, kits).then(|| played.answer())
    };
    let answered = |(target, lead): (Target, f32)| {
        let balls = if lead == SOON { BALLS } else { BALLS / 2 };
        let answers: Vec<Answer> = (0..balls).into_par_iter().filter_map(|seed| throw(target, lead, seed)).collect();
        let share =
            |test: fn(&Answer) -> bool| answers.iter().filter(|a| test(a)).count() as f32 / answers.len().max(1) as f32;
        Answered {
            target: target.name(),
            lead,
            balls: answers.len(),
            by_motion: share(|a| *a == Answer::Motion),
            by_motion_or_block: share(|a| matches!(a, Answer::Motion | Answer::Block)),
            defended: share(|a| *a != Answer::Hit),
        }
    };
    LEADS.into_iter().flat_map(|lead| Target::ALL.map(|target| (target, lead))).map(answered).collect()
}

/// Turns on the spot that a walker needs, degrees; each to both sides.
const TURNS: [f32; 4] = [45.0, 90.0, 135.0, 180.0];
/// A turn on the spot goes no farther than this, metres, and is no farther off than this, degrees.
const ON_THE_SPOT: (f32, f32) = (0.5, 23.0);

/// Turns that no clip of a library makes on the spot, degrees; left is positive.
fn missing_turns(library: &Library) -> Vec<f32> {
    let made: Vec<f32> = library
        .clips()
        .iter()
        .filter_map(offence::turns)
        .filter(|t| t.1 <= ON_THE_SPOT.0)
        .map(|t| t.0.to_degrees())
        .collect();
    let both = TURNS.iter().flat_map(|turn| [*turn, -turn]);
    let off = |a: f32, b: f32| kumite_motion::rotation::wrap((a - b).to_radians()).to_degrees().abs();
    both.filter(|turn| !made.iter().any(|m| off(*m, *turn) <= ON_THE_SPOT.1)).collect()
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
    let kits = [dodge::kit(Arc::clone(library))];
    let dodged = measure_dodges(&kits);
    let soon = || dodged.iter().filter(|d| d.lead == SOON);
    let by_motion: Vec<(&str, f32)> = soon().map(|d| (d.target, d.by_motion)).collect();
    let classes = offence::answers(&kits[0]);
    let mut gaps = coverage::gaps(library, made.map(|m| &m.report), made.map(|m| &m.repaired), &reach, &by_motion);
    for ((kind, height, direction), answers) in classes.iter().filter(|c| c.1.thrown > 0 && c.1.answered == 0) {
        let class = format!("{} {}, {}", height.name(), kind.name(), direction.name());
        let what = format!("nothing answers {} ({class})", answers.strikes.join(", "));
        gaps.push(Gap { what, fix: "capture a block or an avoidance that meets it".to_owned() });
    }
    for turn in missing_turns(library) {
        let what = format!("no turn on the spot by {turn:.0} degrees (left is positive)");
        gaps.push(Gap { what, fix: "capture one, or label it as a turn".to_owned() });
    }
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
    for lead in LEADS {
        let of_lead = dodged.iter().filter(|d| d.lead == lead);
        let percent =
            |d: &Answered| format!("{} {:.0} % ({:.0} %)", d.target, 100.0 * d.by_motion_or_block, 100.0 * d.defended);
        let by_target: Vec<String> = of_lead.map(percent).collect();
        let _ = writeln!(
            text,
            "    of balls known {lead} s ahead, answered by a motion or a block (and with bends): {}",
            by_target.join(", ")
        );
    }
    let _ = writeln!(text, "    its own strikes, known {SOON} s ahead, are answered:");
    for ((kind, height, direction), answers) in &classes {
        let mut by: Vec<(&String, &u32)> = answers.by.iter().collect();
        by.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
        let by: Vec<&str> = by.iter().take(3).map(|(name, _)| name.as_str()).collect();
        let _ = writeln!(
            text,
            "        {:<6} {:<9} {:<8} {:>2} of {:>2}  {}",
            height.name(),
            kind.name(),
            direction.name(),
            answers.answered,
            answers.thrown,
            by.join(", ")
        );
    }
    for gap in &gaps {
        let _ = writeln!(text, "    missing: {}\n        nearest fix: {}", gap.what, gap.fix);
    }
    let spot = |s: &Spot| json!({"part": s.part.name(), "at": s.at.to_array(), "seconds": s.seconds, "share": s.share});
    let json = json!({
        "reach_m": HORIZONS.iter().enumerate().map(|(h, s)| json!({"seconds": s, "median": reach.median[h], "best": reach.best[h]})).collect::<Vec<_>>(),
        "dodged": soon().map(|d| (d.target.to_owned(), json!({"by_motion_share": d.by_motion, "defended_share": d.defended}))).collect::<serde_json::Map<_, _>>(),
        "threats": dodged.iter().map(|d| json!({
            "target": d.target, "lead_s": d.lead, "balls": d.balls, "by_motion_share": d.by_motion,
            "by_motion_or_block_share": d.by_motion_or_block, "defended_share": d.defended,
        })).collect::<Vec<_>>(),
        "strike_classes": classes.iter().map(|((kind, height, direction), a)| json!({
            "kind": kind.name(), "height": height.name(), "direction": direction.name(), "strikes": a.strikes,
            "thrown": a.thrown, "answered": a.answered, "by": a.by,
        })).collect::<Vec<_>>(),
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
