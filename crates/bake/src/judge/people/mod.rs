//! Whether a motion of a library moves as people do. Stricter than [`judge`](super::judge()), which only says whether a body could.
//!
//! What people do was measured on captures: per family of actions the curve of every channel, aligned at its onset and its height,
//! with a band round it, and single figures. It is in `people.toml` beside this file: statistics only, and the names of the captures.
//! `cargo dev motions` measures them again; the table of docs/people.md is made from them.
//!
//! A motion is rejected for curves that leave the band, for a zero-moment point outside its soles, for pushes and drops that no floor
//! gives, for hips that do not lead the fist, for clavicles and a neck that do not take part, for strides that repeat exactly, and for stillness that
//! people do not have, each beside what captures of its sort do.

mod action;
mod channel;
mod figure;
mod file;
mod motion;

use std::collections::BTreeMap;
use std::fmt;

use kumite_motion::{Clip, Span};

pub use action::{Deed, Family, Sort};
pub use channel::{Channel, PARTS};
pub use figure::Figure;
use motion::Motion;

/// One action, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Take {
    /// The clip it is in.
    pub clip: String,
    /// What it is.
    pub family: Family,
    /// When it begins and is at its height, seconds of the clip.
    pub at: (f32, f32),
    /// Per channel, in the order of [`Channel::ALL`], its curve.
    pub curves: Vec<Vec<f32>>,
    /// Whatever figures mean something for it.
    pub figures: BTreeMap<Figure, f32>,
}

impl Take {
    /// Forgets what the skeleton of a capture cannot show: clavicles that never move were not captured.
    pub fn forget_unseen(&mut self) {
        let still = |curve: &[f32]| curve.iter().all(|v| v.abs() < 1e-2);
        for (channel, curve) in Channel::ALL.iter().zip(&mut self.curves) {
            if *channel == Channel::OwnClavicle && still(curve) {
                curve.clear();
                self.figures.remove(&Figure::Clavicle);
            }
        }
    }
}

/// Measures every action of a clip that its spans name.
pub fn takes(clip: &Clip) -> Vec<Take> {
    let named: Vec<(Span, Deed)> = clip.spans.iter().filter_map(|s| Some((s.clone(), Deed::of(s)?))).collect();
    takes_of(clip, &named)
}

/// Measures every action of a clip in these spans, which are of these deeds.
pub fn takes_of(clip: &Clip, spans: &[(Span, Deed)]) -> Vec<Take> {
    let Some(motion) = Motion::of(clip) else { return Vec::new() };
    let actions = spans.iter().flat_map(|(span, deed)| action::actions(&motion, span, *deed));
    let mut takes: Vec<Take> = actions
        .map(|action| Take {
            clip: clip.name.clone(),
            family: action.family,
            at: (action.onset as f32 / motion::RATE, action.peak as f32 / motion::RATE),
            curves: channel::curves(&motion, &action),
            figures: figure::figures(&motion, &action).into_iter().collect(),
        })
        .collect();
    let changes: Vec<Option<f32>> = (0..takes.len()).map(|i| stride_change(&takes, i)).collect();
    for (take, change) in takes.iter_mut().zip(changes) {
        take.figures.extend(change.map(|change| (Figure::StrideChange, change)));
    }
    takes
}

/// How far a stride is from the most similar other one: people do not walk like a metronome.
fn stride_change(takes: &[Take], at: usize) -> Option<f32> {
    let strides = || takes.iter().enumerate().filter(|(_, take)| take.family == Family::Walk);
    let own = &strides().find(|(i, _)| *i == at)?.1.curves;
    let change = |other: &[Vec<f32>]| {
        let pairs = own.iter().zip(other).zip(Channel::ALL).filter(|(_, channel)| channel.is_angle());
        let apart: Vec<f32> = pairs.flat_map(|((a, b), _)| a.iter().zip(b).map(|(a, b)| (a - b).abs())).collect();
        apart.iter().sum::<f32>() / apart.len().max(1) as f32
    };
    strides().filter(|(i, _)| *i != at).map(|(_, take)| change(&take.curves)).min_by(f32::total_cmp)
}

/// Least and most of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Least.
    pub least: f32,
    /// Most.
    pub most: f32,
}

impl Range {
    /// How much to either side of the range is still within it, of its ends.
    pub const MARGIN: f32 = 0.15;

    fn of(values: &[f32]) -> Range {
        let least = values.iter().copied().fold(f32::INFINITY, f32::min);
        Range { least, most: values.iter().copied().fold(f32::NEG_INFINITY, f32::max) }
    }

    /// Whether a figure is like people's: within their range, [`Range::MARGIN`] of its ends to either side and what measuring is off by. Of what is a
    /// fault the less the better.
    pub fn holds(self, figure: Figure, value: f32) -> bool {
        let low = self.least - Range::MARGIN * self.least.abs() - figure.noise();
        let high = self.most + Range::MARGIN * self.most.abs() + figure.noise();
        match figure {
            Figure::Outside | Figure::Frozen | Figure::Quiet | Figure::MassStill => value <= high,
            Figure::Drop => value >= low,
            _ => (low..=high).contains(&value),
        }
    }
}

/// Where the curves of people go: their mean, and how far to either side is still like them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// Per moment.
    pub mean: Vec<f32>,
    /// Per moment: two standard deviations, or 15 % of the range of all curves where that is more.
    pub half: Vec<f32>,
}

impl Band {
    /// How many moments of a curve are within, and of how many.
    fn inside(&self, curve: &[f32]) -> (usize, usize) {
        let moments = curve.iter().zip(self.mean.iter().zip(&self.half));
        let count = moments.len();
        (moments.filter(|(v, (mean, half))| (*v - *mean).abs() <= **half).count(), count)
    }
}

/// What people do in a family of actions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Habit {
    /// The captures it was measured on, and how many actions of each.
    pub captures: Vec<(String, usize)>,
    /// Per channel; empty where fewer than two captures show the action, and for families of several actions.
    pub bands: Vec<Band>,
    /// Least and most of captures that show one action alone; else of the captures' medians; of all takes where there is only one capture.
    pub figures: BTreeMap<Figure, Range>,
    /// Least and most of the medians of all captures; of all takes where there is only one capture. The judge goes by these.
    pub limits: BTreeMap<Figure, Range>,
}

/// What people do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct People {
    /// By family.
    pub habits: BTreeMap<Family, Habit>,
}

/// Share of the range of all captured curves of a channel that a band reaches to either side at least.
const RANGE_SHARE: f32 = 0.15;
/// Deviations that a band reaches to either side at least.
const DEVIATIONS: f32 = 2.0;

impl People {
    /// Those of the captures named in `people.toml`. Nobody, if the file were damaged, which a test excludes.
    pub fn measured() -> People {
        file::read(include_str!("people.toml")).unwrap_or_default()
    }

    /// As it is written to `people.toml`.
    pub fn to_text(&self) -> String {
        file::write(self)
    }

    /// Measures what these takes have in common. Every capture counts the same, however many takes it holds.
    pub fn fit(takes: &[Take]) -> People {
        let mut families: BTreeMap<Family, Vec<&Take>> = BTreeMap::new();
        takes.iter().for_each(|take| families.entry(take.family).or_default().push(take));
        let alone = |take: &Take| takes.iter().filter(|other| other.clip == take.clip).count() == 1;
        let habits = families.into_iter().map(|(family, takes)| (family, habit(&takes, &alone)));
        People { habits: habits.collect() }
    }
}

/// `alone` says whether a take is the only one of its capture: figures are those of such captures, where there are two or more of them. Who does one thing after
/// another, and travels, pushes harder for it.
fn habit(takes: &[&Take], alone: &dyn Fn(&Take) -> bool) -> Habit {
    let mut captures: Vec<(String, usize)> = Vec::new();
    for take in takes {
        match captures.iter_mut().find(|(name, _)| *name == take.clip) {
            Some((_, count)) => *count += 1,
            None => captures.push((take.clip.clone(), 1)),
        }
    }
    let weight = |take: &Take| {
        let count = captures.iter().find(|(name, _)| *name == take.clip).map_or(1, |c| c.1);
        1.0 / (captures.len() * count) as f32
    };
    let bands = if captures.len() < 2 || takes.iter().any(|take| !take.family.is_one_action()) {
        Vec::new()
    } else {
        Channel::ALL
            .iter()
            .enumerate()
            .map(|(i, channel)| {
                let curves: Vec<(&[f32], f32)> = takes.iter().map(|t| (t.curves[i].as_slice(), weight(t))).collect();
                band(&curves, channel.least_band())
            })
            .collect()
    };
    let all =
        |takes: &[&Take], figure| takes.iter().filter_map(|t| t.figures.get(&figure).copied()).collect::<Vec<f32>>();
    let single: Vec<&Take> = takes.iter().copied().filter(|take| alone(take)).collect();
    let (mut figures, mut limits) = (BTreeMap::new(), BTreeMap::new());
    for &figure in Figure::ALL {
        let medians: Vec<f32> = captures.iter().filter_map(|(name, _)| median(takes, name, figure)).collect();
        let values = if medians.len() > 1 { medians } else { all(takes, figure) };
        if values.is_empty() {
            continue;
        }
        let of_single = all(&single, figure);
        figures.insert(figure, Range::of(if of_single.len() > 1 { &of_single } else { &values }));
        limits.insert(figure, Range::of(&values));
    }
    Habit { captures, bands, figures, limits }
}

/// The median of a figure over the takes of a clip.
fn median(takes: &[&Take], clip: &str, figure: Figure) -> Option<f32> {
    let of_clip = takes.iter().filter(|t| t.clip == clip);
    let mut values: Vec<f32> = of_clip.filter_map(|t| t.figures.get(&figure).copied()).collect();
    values.sort_by(f32::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { 0.5 * (upper + values[middle - 1]) })
}

/// The band of curves and their weights, as far as two of them go.
fn band(curves: &[(&[f32], f32)], least: f32) -> Band {
    let all = || curves.iter().flat_map(|(curve, _)| curve.iter().copied());
    let range = all().fold(f32::NEG_INFINITY, f32::max) - all().fold(f32::INFINITY, f32::min);
    let mut band = Band::default();
    for moment in 0.. {
        let values: Vec<(f32, f32)> = curves.iter().filter_map(|(c, w)| Some((*c.get(moment)?, *w))).collect();
        if values.len() < 2 {
            break;
        }
        let sum: f32 = values.iter().map(|v| v.1).sum();
        let mean = values.iter().map(|v| v.0 * v.1).sum::<f32>() / sum;
        let squares = values.iter().map(|v| (v.0 - mean) * (v.0 - mean) * v.1).sum::<f32>() / sum;
        // As n / (n - 1) for equal weights.
        let repeated = values.iter().map(|v| (v.1 / sum) * (v.1 / sum)).sum::<f32>();
        let deviation = libm::sqrtf(squares / (1.0 - repeated).max(1e-3));
        band.mean.push(mean);
        band.half.push((DEVIATIONS * deviation).max(RANGE_SHARE * range).max(least));
    }
    band
}

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Look {
    /// Share of curves within the band, percent; at least.
    Band,
    /// A figure of the action; at most what people of its sort do.
    Most(Figure),
    /// At least.
    Least(Figure),
}

impl Look {
    /// As written in tables.
    pub fn name(self) -> &'static str {
        match self {
            Look::Band => "band",
            Look::Most(figure) | Look::Least(figure) => figure.name(),
        }
    }
}

/// One thing that was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remark {
    /// In which actions.
    pub family: Family,
    /// What.
    pub look: Look,
    /// What it is.
    pub measured: f32,
    /// Its bound.
    pub allowed: f32,
    /// Whether it keeps the bound.
    pub ok: bool,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (measured, allowed) = (self.measured, self.allowed);
        let family = self.family.name();
        match self.look {
            Look::Band => {
                write!(f, "{family}: {measured:.0} % of the curves in the band of people, at least {allowed:.0}")
            }
            Look::Most(figure) => {
                write!(f, "{family}: {} {measured:.2} {}, at most {allowed:.2}", figure.name(), figure.unit())
            }
            Look::Least(figure) => {
                write!(f, "{family}: {} {measured:.2} {}, at least {allowed:.2}", figure.name(), figure.unit())
            }
        }
    }
}

/// So much of the curves has to be in the band, percent: nearly every capture keeps it that is left out of the statistics and judged by the others (the
/// test `captures_left_out_pass` says how many). Where the band is made of few captures, a further person is often outside it.
fn least_in_band(habit: &Habit) -> f32 {
    if habit.captures.len() >= 4 { 75.0 } else { 60.0 }
}

/// What people of the sort do, and so much more, is still allowed: what captures left out need.
const MORE: f32 = 1.15;

/// Share of the moments of all channels of these takes that is in the band of their family, percent; `None` without one.
pub fn in_band(habit: &Habit, takes: &[&Take]) -> Option<f32> {
    if habit.bands.is_empty() {
        return None;
    }
    let (mut inside, mut all) = (0, 0);
    for take in takes {
        for (band, curve) in habit.bands.iter().zip(&take.curves) {
            let (a, b) = band.inside(curve);
            inside += a;
            all += b;
        }
    }
    (all > 0).then(|| 100.0 * inside as f32 / all as f32)
}

/// Per channel, the share of its moments in the band, percent; worst first.
pub fn channels_in_band(habit: &Habit, takes: &[&Take]) -> Vec<(Channel, f32)> {
    let mut shares: Vec<(Channel, f32)> = (Channel::ALL.iter().zip(&habit.bands).enumerate())
        .map(|(i, (&channel, band))| {
            let counts = takes.iter().map(|t| band.inside(&t.curves[i]));
            let (inside, all) = counts.fold((0, 0), |sum, c| (sum.0 + c.0, sum.1 + c.1));
            (channel, 100.0 * inside as f32 / all.max(1) as f32)
        })
        .collect();
    shares.sort_by(|a, b| a.1.total_cmp(&b.1));
    shares
}

/// The actions of a clip by family.
pub fn by_family(takes: &[Take]) -> BTreeMap<Family, Vec<&Take>> {
    let mut families: BTreeMap<Family, Vec<&Take>> = BTreeMap::new();
    takes.iter().for_each(|take| families.entry(take.family).or_default().push(take));
    families
}

/// The median of a figure over the takes of one clip.
pub fn typical(takes: &[&Take], figure: Figure) -> Option<f32> {
    median(takes, takes.first()?.clip.as_str(), figure)
}

/// Judges the actions of one clip by what people do. Nothing is said of actions that no capture shows.
pub fn judge_takes(people: &People, takes: &[Take]) -> Vec<Remark> {
    let mut remarks = Vec::new();
    for (family, takes) in by_family(takes) {
        let mut add = |look, measured: f32, allowed: f32| {
            let ok = if matches!(look, Look::Most(_)) { measured <= allowed } else { measured >= allowed };
            remarks.push(Remark { family, look, measured, allowed, ok });
        };
        if let Some(habit) = people.habits.get(&family)
            && let Some(share) = in_band(habit, &takes)
        {
            add(Look::Band, share, least_in_band(habit));
        }
        for (figure, slack) in LOOKS {
            let alike: Vec<Range> = alike(family, *figure).iter().filter_map(|f| people.limit(*f, *figure)).collect();
            let Some(value) = typical(&takes, *figure).filter(|_| !alike.is_empty()) else { continue };
            let range = Range { least: least(&alike), most: most(&alike) };
            match figure {
                Figure::Drop => add(Look::Least(*figure), value, MORE * range.least - slack),
                Figure::Lag | Figure::Separation | Figure::Clavicle | Figure::NeckAndHead | Figure::StrideChange => {
                    add(Look::Least(*figure), value, range.least / MORE - slack)
                }
                _ => add(Look::Most(*figure), value, MORE * range.most + slack),
            }
        }
    }
    remarks
}

/// The figures that are judged, and how much more than people's is allowed beside their share: what is within the noise of measuring.
const LOOKS: &[(Figure, f32)] = &[
    (Figure::Push, 0.5),
    (Figure::Outside, 3.0),
    (Figure::Drop, 0.5),
    // A frame of a capture at 30 frames per second.
    (Figure::Lag, 33.0),
    (Figure::Separation, 2.0),
    (Figure::Clavicle, 8.0),
    (Figure::NeckAndHead, 3.0),
    (Figure::StrideChange, 0.2),
    // Shorter stillness is not seen.
    (Figure::Frozen, 0.15),
    (Figure::Quiet, 5.0),
];

/// The families whose captures bound a figure of one: those of its sort for what floors give, those of the same blow for the chain from the hips to
/// the fist, itself for waiting.
fn alike(family: Family, figure: Figure) -> Vec<Family> {
    let straights = [Family::RearStraight, Family::LeadStraight];
    let hooks = [Family::RearHook, Family::LeadHook];
    match (family.sort(), figure) {
        (Sort::Wait, Figure::Quiet) if family != Family::Stand => vec![Family::Guard, Family::Bounce],
        // On one foot while a leg flies round, a body is no point: only where it is pushed says something.
        (Sort::Kick, Figure::Outside) | (Sort::Wait, _) | (_, Figure::Quiet) => Vec::new(),
        // Turns on the spot are steps; those that were captured are slow.
        (Sort::Step | Sort::Turn, Figure::Drop) => of_sorts(&[Sort::Step, Sort::Turn]),
        (_, Figure::Lag | Figure::Separation | Figure::Clavicle | Figure::NeckAndHead) => {
            [straights, hooks].into_iter().find(|pair| pair.contains(&family)).map_or(Vec::new(), Vec::from)
        }
        (sort, _) => of_sorts(&[sort]),
    }
}

fn of_sorts(sorts: &[Sort]) -> Vec<Family> {
    Family::ALL.iter().copied().filter(|f| sorts.contains(&f.sort())).collect()
}

fn least(ranges: &[Range]) -> f32 {
    ranges.iter().map(|r| r.least).fold(f32::INFINITY, f32::min)
}

fn most(ranges: &[Range]) -> f32 {
    ranges.iter().map(|r| r.most).fold(f32::NEG_INFINITY, f32::max)
}

/// Judges a motion by what people do: see the module.
pub fn judge_people(people: &People, clip: &Clip) -> Vec<Remark> {
    judge_takes(people, &takes(clip))
}

impl People {
    /// The hardest downward acceleration with a foot down in captures of the sort of a family, metres per second squared.
    pub fn hardest_drop(&self, family: Family) -> Option<f32> {
        let drops = alike(family, Figure::Drop).into_iter().filter_map(|f| self.limit(f, Figure::Drop));
        drops.map(|range| range.least).min_by(f32::total_cmp)
    }

    fn limit(&self, family: Family, figure: Figure) -> Option<Range> {
        self.habits.get(&family)?.limits.get(&figure).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_read_and_written_without_change() {
        let text = include_str!("people.toml");
        let people = file::read(text).unwrap();
        assert!(people.habits.len() > 10, "{}", people.habits.len());
        assert_eq!(people.to_text(), text);
    }

    #[test]
    fn a_band_is_two_deviations_or_a_share_of_the_range() {
        // The first moments are apart by 2, the second are the same, the third only one has.
        let band = band(&[(&[0.0, 10.0, 1.0], 0.5), (&[2.0, 10.0], 0.5)], 0.1);
        assert_eq!(band.mean, [1.0, 10.0]);
        assert!((band.half[0] - 2.0 * 2.0f32.sqrt()).abs() < 1e-4, "{:?}", band.half);
        assert!((band.half[1] - 1.5).abs() < 1e-4, "{:?}", band.half);
        assert_eq!(band.inside(&[5.0, 11.0, 0.0]), (1, 2));
    }
}
