//! How often the classifiers are right on clips of known content, each classified with numbers fitted to all others.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use kumite_motion::mirror::Mirror;
use kumite_motion::{Clip, Height, Roles, Side, Span, SpanKind};

use super::class::Class;
use super::features::Row;
use super::ranges::{Intervals, Ranges};
use super::{Action, Analysis, Heights, Model, Part, Tree, analyse};

/// What a clip is known to show; what is not known is not scored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// The class with the largest share of its motion.
    pub class: Class,
    /// Side of the limb, or the side the body moves to.
    pub side: Option<Side>,
    /// Of a strike or a guard.
    pub height: Option<Height>,
}

impl Truth {
    /// From the words of a label: the class named, or else the kind's own; side and height where they are named. `None` without a class.
    pub fn of_span(span: &Span) -> Option<Truth> {
        let words: Vec<&str> = span.label.split_whitespace().collect();
        let named = words.iter().find_map(|w| Class::from_name(w)).filter(|c| c.kind() == span.kind);
        let class = named.or_else(|| Class::from_name(span.kind.name()))?;
        let side = |word: &&str| match *word {
            "left" => Some(Side::Left),
            "right" => Some(Side::Right),
            _ => None,
        };
        let height = words.iter().find_map(|w| Height::from_name(w));
        Some(Truth { class, side: words.iter().find_map(side), height })
    }
}

/// What is known of a clip and what the classifiers said.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Which clip.
    pub clip: String,
    /// What is known.
    pub truth: Truth,
    /// Class found by [`Tree`].
    pub by_acceleration: Option<Class>,
    /// Class found by [`Intervals`].
    pub by_ranges: Option<Class>,
    /// Side found.
    pub side: Option<Side>,
    /// Height found.
    pub height: Option<Height>,
}

/// What is known of a moment of a clip, or of the whole clip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Known {
    /// What is known.
    pub truth: Truth,
    /// Seconds; a blow's first and last are the moment in which it is fastest. `None` for the clip's main action.
    pub when: Option<(f32, f32)>,
}

impl Known {
    /// The same of the mirror image.
    #[must_use]
    pub fn mirrored(mut self) -> Known {
        self.truth.side = self.truth.side.map(mirrored_side);
        self
    }
}

/// The other side.
pub fn mirrored_side(side: Side) -> Side {
    match side {
        Side::Left => Side::Right,
        Side::Right => Side::Left,
        Side::Middle => Side::Middle,
    }
}

/// What was said of something known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said {
    /// Its class.
    pub class: Class,
    /// Its side.
    pub side: Option<Side>,
    /// Its height.
    pub height: Option<Height>,
    /// The number that the height was told from.
    height_in_legs: f32,
    /// What the class was told from.
    row: Row,
    /// How sure, 0 to 1.
    pub confidence: f32,
}

/// How far the fastest moment of a blow may be from the one known, seconds.
const NEAR: f32 = 0.15;

/// What an analysis says of something known; `None` where a blow was not found.
pub fn said(analysis: &Analysis, known: &Known) -> Option<Said> {
    let whole = |action: &Action, class: Class| Said {
        class,
        side: action.side,
        height: action.height,
        height_in_legs: action.height_in_legs,
        row: action.row,
        confidence: action.confidence,
    };
    let Some((from, to)) = known.when else {
        let class = analysis.main_class()?;
        let of = analysis.actions.iter().filter(|a| a.class == class);
        return of.max_by(|a, b| a.weight.total_cmp(&b.weight)).map(|a| whole(a, class));
    };
    if known.truth.class.kind() == SpanKind::Attack {
        for action in &analysis.actions {
            for (at, strike) in action.strikes.iter().enumerate() {
                if (strike.at - from).abs() < NEAR && known.truth.side.is_none_or(|s| s == strike.part.side()) {
                    return Some(Said {
                        class: Class::from_name(strike.kind.name())?,
                        side: Some(strike.part.side()),
                        height: Some(strike.height),
                        height_in_legs: action.told[at].height_in_legs,
                        row: action.told[at].row,
                        confidence: action.told[at].confidence,
                    });
                }
            }
        }
        return None;
    }
    let shared = |a: &&Action| a.core.1.min(to) - a.core.0.max(from);
    let action = analysis.actions.iter().max_by(|a, b| shared(a).total_cmp(&shared(b)))?;
    Some(whole(action, action.class))
}

/// Fits the tree and the heights to what is known of some clips, taken apart with nothing fitted, and to their mirror images.
pub fn fit_to(clips: &[(Clip, Vec<Known>)]) -> Model {
    let unfitted = Model { tree: Tree::unfitted(), ..Model::default() };
    let (mut rows, mut heights) = (Vec::new(), Vec::new());
    for (clip, knowns) in clips {
        let mirrored = Mirror::by_roles(clip.skeleton(), &Roles::canonical()).clip(clip).ok();
        for (clip, mirrored) in mirrored.iter().map(|m| (m, true)).chain([(clip, false)]) {
            let analysis = analyse(clip, &unfitted);
            for known in knowns {
                let known = if mirrored { known.mirrored() } else { *known };
                let Some(said) = said(&analysis, &known) else { continue };
                rows.push((said.row, known.truth.class));
                if let Some((part, height)) = part_of(known.truth.class).zip(known.truth.height)
                    && said.height.is_some()
                {
                    heights.push((part, said.height_in_legs, height));
                }
            }
        }
    }
    Model { tree: Tree::fit(&rows), heights: Heights::fit(&heights) }
}

/// What the height of a class is measured of.
fn part_of(class: Class) -> Option<Part> {
    match class {
        Class::Straight | Class::Hook | Class::Uppercut | Class::Backfist => Some(Part::Fist),
        Class::Front | Class::Round | Class::SideKick => Some(Part::Foot),
        Class::Block => Some(Part::Guard),
        _ => None,
    }
}

/// Examples for both classifiers: one per clip, its main action.
struct Example {
    clip: usize,
    row: Row,
    ranges: Ranges,
    class: Class,
    at: Option<(Part, f32, Height)>,
}

fn example(clip: usize, analysis: &Analysis, truth: &Truth) -> Option<Example> {
    let action = analysis.main_action()?;
    let part = match action.class.kind() {
        kumite_motion::SpanKind::Block => Some(Part::Guard),
        kumite_motion::SpanKind::Attack => {
            let foot = action.strikes.first().is_some_and(|s| super::strokes::is_foot(s.part));
            Some(if foot { Part::Foot } else { Part::Fist })
        }
        _ => None,
    };
    let at = part.zip(truth.height).map(|(part, height)| (part, action.height_in_legs, height));
    Some(Example { clip, row: action.row, ranges: action.ranges, class: truth.class, at })
}

/// Fits both classifiers to all clips but one (`usize::MAX` leaves none out).
fn fit(examples: &[Example], without: usize) -> (Model, Intervals) {
    let others = || examples.iter().filter(move |e| e.clip != without);
    let rows: Vec<(Row, Class)> = others().map(|e| (e.row, e.class)).collect();
    let heights: Vec<(Part, f32, Height)> = others().filter_map(|e| e.at).collect();
    let ranges: Vec<(Ranges, Class)> = others().map(|e| (e.ranges, e.class)).collect();
    (Model { tree: Tree::fit(&rows), heights: Heights::fit(&heights) }, Intervals::fit(&ranges))
}

/// Fits both classifiers to all clips.
pub fn fit_all(clips: &[(Clip, Truth)]) -> (Model, Intervals) {
    fit(&examples(clips), usize::MAX)
}

fn examples(clips: &[(Clip, Truth)]) -> Vec<Example> {
    let model = Model::default();
    clips.iter().enumerate().filter_map(|(i, (clip, truth))| example(i, &analyse(clip, &model), truth)).collect()
}

/// Classifies every clip with what was fitted to all others.
pub fn leave_one_out(clips: &[(Clip, Truth)]) -> Vec<Answer> {
    let examples = examples(clips);
    let answer = |(i, (clip, truth)): (usize, &(Clip, Truth))| {
        let (model, intervals) = fit(&examples, i);
        let analysis = analyse(clip, &model);
        let main = analysis.main_action();
        let mut weights = BTreeMap::<Class, f32>::new();
        for action in &analysis.actions {
            let class = if action.moves() { intervals.classify(&action.ranges) } else { Some(Class::Idle) };
            *weights.entry(class.unwrap_or(Class::Idle)).or_default() += action.weight;
        }
        Answer {
            clip: clip.name.clone(),
            truth: *truth,
            by_acceleration: analysis.main_class(),
            by_ranges: weights.iter().max_by(|a, b| a.1.total_cmp(b.1)).map(|w| *w.0),
            side: main.and_then(|a| a.side),
            height: main.and_then(|a| a.height),
        }
    };
    clips.iter().enumerate().map(answer).collect()
}

/// A count of right answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Right answers.
    pub right: usize,
    /// All.
    pub of: usize,
}

impl Score {
    fn count(answers: impl Iterator<Item = bool>) -> Score {
        answers.fold(Score::default(), |s, right| Score { right: s.right + usize::from(right), of: s.of + 1 })
    }

    /// 0 to 1.
    pub fn share(&self) -> f32 {
        self.right as f32 / self.of.max(1) as f32
    }
}

/// The figures of many answers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// Finest class, by acceleration.
    pub class: Score,
    /// Kind of span, by acceleration.
    pub kind: Score,
    /// Finest class, by ranges.
    pub class_by_ranges: Score,
    /// Kind of span, by ranges.
    pub kind_by_ranges: Score,
    /// Where the side is known.
    pub side: Score,
    /// Where the height is known.
    pub height: Score,
}

/// Counts right answers.
pub fn figures(answers: &[Answer]) -> Figures {
    let class =
        |pick: fn(&Answer) -> Option<Class>| Score::count(answers.iter().map(|a| pick(a) == Some(a.truth.class)));
    let kind = |pick: fn(&Answer) -> Option<Class>| {
        Score::count(answers.iter().map(|a| pick(a).is_some_and(|c| c.kind() == a.truth.class.kind())))
    };
    Figures {
        class: class(|a| a.by_acceleration),
        kind: kind(|a| a.by_acceleration),
        class_by_ranges: class(|a| a.by_ranges),
        kind_by_ranges: kind(|a| a.by_ranges),
        side: Score::count(answers.iter().filter(|a| a.truth.side.is_some()).map(|a| a.side == a.truth.side)),
        height: Score::count(answers.iter().filter(|a| a.truth.height.is_some()).map(|a| a.height == a.truth.height)),
    }
}

/// A confusion table as Markdown: what is known in rows, what was said in columns.
pub fn confusion<T: Ord + Copy>(pairs: &[(T, Option<T>)], name: impl Fn(T) -> &'static str) -> String {
    let columns: BTreeSet<Option<T>> = pairs.iter().map(|p| p.1).chain(pairs.iter().map(|p| Some(p.0))).collect();
    let columns: Vec<Option<T>> = columns.into_iter().collect();
    let rows: BTreeSet<T> = pairs.iter().map(|p| p.0).collect();
    let head = |c: &Option<T>| c.map_or("none", &name);
    let mut text = format!("| is \\ said | {} |\n", columns.iter().map(head).collect::<Vec<_>>().join(" | "));
    let _ = writeln!(text, "|{}", "---|".repeat(columns.len() + 1));
    for row in rows {
        let count = |c: &Option<T>| pairs.iter().filter(|p| p.0 == row && p.1 == *c).count();
        let cells: Vec<String> =
            columns.iter().map(|c| if count(c) == 0 { String::new() } else { count(c).to_string() }).collect();
        let _ = writeln!(text, "| {} | {} |", name(row), cells.join(" | "));
    }
    text
}
