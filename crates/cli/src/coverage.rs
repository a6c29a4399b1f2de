//! What a library can do, in words, numbers and one picture: part of `kumite graph`.

use std::fmt::Write as _;

use kumite_bake::coverage::{self, DIRECTIONS, GroundReach, HORIZONS, SOON, Spot};
use kumite_bake::repair::{seconds_until, synthetic_share};
use kumite_motion::library::Library;
use kumite_motion::{Role, SpanKind};
use kumite_picture::{Coverage, Place};
use serde_json::{Value, json};

use crate::bake::{Made, WALK};

/// Where the words for directions lie among the sixteen.
const COMPASS: [(usize, &str); 4] =
    [(0, "ahead"), (DIRECTIONS / 4, "left"), (DIRECTIONS / 2, "back"), (3 * DIRECTIONS / 4, "right")];
/// Parts threats are aimed at, and what people call them.
const AIMED: [(Role, &str); 5] = [
    (Role::Head, "head"),
    (Role::Back, "chest"),
    (Role::Waist, "belly"),
    (Role::Pelvis, "hips"),
    (Role::LeftKnee, "legs"),
];

/// All of it.
pub(crate) struct Told {
    pub(crate) text: String,
    pub(crate) json: Value,
    pub(crate) gaps: Vec<Value>,
    pub(crate) synthetic_share: f32,
    reach: GroundReach,
    spots: Vec<Spot>,
}

pub(crate) fn tell(library: &Library, made: Option<&Made>) -> Told {
    let (reach, spots) = (coverage::reach(library), coverage::answers(library));
    let gaps = coverage::gaps(library, made.map(|m| &m.report), made.map(|m| &m.repaired), &reach, &spots);
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
    let best = |part: Role| spots.iter().filter(|s| s.part == part).map(|s| s.share).fold(0.0, f32::max);
    let dodged: Vec<String> = AIMED.iter().map(|(part, name)| format!("{name} {:.0} %", 100.0 * best(*part))).collect();
    let _ = writeln!(text, "    dodged in time ({SOON} s), of what is aimed at the: {}", dodged.join(", "));
    for gap in &gaps {
        let _ = writeln!(text, "    missing: {}\n        nearest fix: {}", gap.what, gap.fix);
    }
    let spot = |s: &Spot| json!({"part": s.part.name(), "at": s.at.to_array(), "seconds": s.seconds, "share": s.share});
    let json = json!({
        "reach_m": HORIZONS.iter().enumerate().map(|(h, s)| json!({"seconds": s, "median": reach.median[h], "best": reach.best[h]})).collect::<Vec<_>>(),
        "answered": spots.iter().map(spot).collect::<Vec<_>>(),
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
        let place = |s: &Spot| Place { at: s.at, radius: s.radius, share: s.share };
        Coverage {
            title: format!("{}: what it can do", library.name),
            reach: reach.collect(),
            places: self.spots.iter().map(place).collect(),
            caption: format!("share of the poses from which the place is free within {SOON} s"),
            kinds: kinds.collect(),
        }
        .to_svg()
    }
}
