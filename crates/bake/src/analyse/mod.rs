//! What happens in a clip: cut into actions, each classified, with its strikes, its guard, the space it leaves, and where it rests.
//!
//! Clips are of the canonical body in metres. Fitted numbers stand beside the data they were fitted to: those of the classes in [`tree`],
//! those of the heights in [`Heights`]. [`ranges`] is the other classifier; `kumite tables choices` compares them.

pub mod avoid;
pub mod class;
pub mod evaluate;
pub mod features;
pub mod labelled;
pub mod like;
pub mod ranges;
pub mod segment;
pub mod signals;
pub mod strike;
pub mod strokes;
pub mod tree;

use kumite_motion::{Clip, Height, Role, Side, Span, SpanKind, Strike};

pub use avoid::{Space, Vacated};
pub use class::Class;
use features::{Feature, Measured, Row, describe, is_kick, is_punch};
use ranges::Ranges;
use segment::Piece;
pub use signals::Signals;
use strokes::{PARTS, Stroke, is_foot};
pub use tree::Tree;

/// Where *middle* and *high* begin, in leg lengths above the floor. Fitted to ACCAD Male2 by the names of its files, halfway between
/// neighbouring examples; no strike there is aimed low, so where *middle* begins for strikes is a guess: the height of the hips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Heights {
    /// Of a fist when the arm is longest.
    pub punch: [f32; 2],
    /// Of an ankle when the leg is longest.
    pub kick: [f32; 2],
    /// Of a guarding hand while it is held.
    pub block: [f32; 2],
}

impl Default for Heights {
    fn default() -> Heights {
        Heights { punch: [0.9, 1.309], kick: [0.9, 1.511], block: [1.181, 1.523] }
    }
}

impl Heights {
    /// Halfway between the heights of neighbouring examples; limits without examples keep their default.
    pub fn fit(examples: &[(Part, f32, Height)]) -> Heights {
        let mut heights = Heights::default();
        for (part, limits) in
            [(Part::Fist, &mut heights.punch), (Part::Foot, &mut heights.kick), (Part::Guard, &mut heights.block)]
        {
            for (limit, above) in limits.iter_mut().zip([Height::Middle, Height::High]) {
                let sides = examples.iter().filter(|e| e.0 == part).map(|e| (e.1, e.2 >= above)).collect();
                if let Some(fitted) = tree::best_limit(sides) {
                    *limit = fitted;
                }
            }
        }
        heights
    }
}

/// What a height is measured of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Part {
    Fist,
    Foot,
    Guard,
}

/// All fitted numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// What an action is.
    pub tree: Tree,
    /// How high it is.
    pub heights: Heights,
}

/// What a blow was told from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The action's numbers with this blow as the one described.
    pub row: Row,
    /// What its height was told from: leg lengths above the floor.
    pub height_in_legs: f32,
    /// How sure its kind is, 0 to 1.
    pub confidence: f32,
}

/// A clip range that starts and ends at rest or in double support.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// When it begins, seconds.
    pub from: f32,
    /// When it ends, seconds.
    pub to: f32,
    /// The part of it in which the body moves, seconds.
    pub core: (f32, f32),
    /// Its class.
    pub class: Class,
    /// Side of the striking or guarding limb, or the side the body moves to; `None` for actions without a side.
    pub side: Option<Side>,
    /// Height of the guard, or of the fastest strike.
    pub height: Option<Height>,
    /// Blows, in order of time.
    pub strikes: Vec<Strike>,
    /// What each blow was told from.
    pub told: Vec<Told>,
    /// How sure its class is, 0 to 1: of those at 0.9, nine in ten are right.
    pub confidence: f32,
    /// When the blow is dangerous, the guard is up, or the body is out of the way, seconds.
    pub active: Option<(f32, f32)>,
    /// The striking or guarding part.
    pub part: Option<Role>,
    /// Targets on the body whose place becomes free.
    pub vacated: Vec<Vacated>,
    /// Whether anything moves.
    busy: bool,
    /// Effort summed over its time: its share of the clip's motion.
    pub weight: f32,
    /// The number that [`Action::height`] classifies: leg lengths above the floor.
    pub height_in_legs: f32,
    /// What [`tree`] classifies it by.
    pub row: Row,
    /// What [`mod@ranges`] classifies it by.
    pub ranges: Ranges,
}

/// A clip taken apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Analysis {
    /// In order, without gaps.
    pub actions: Vec<Action>,
    /// When the body rests on both feet, seconds: transitions may be made there.
    pub rests: Vec<(f32, f32)>,
}

/// Takes a clip of the canonical body apart.
pub fn analyse(clip: &Clip, model: &Model) -> Analysis {
    let signals = Signals::of(clip);
    let segments = segment::segment(&signals);
    let mut strokes: Vec<Stroke> = PARTS.iter().flat_map(|&part| strokes::strokes(&signals, part)).collect();
    strokes.sort_by_key(|s| s.frames.1);
    let space = Space::of(clip.skeleton());
    let job = Job { clip, signals: &signals, strokes: &strokes, space: &space, model };
    let pieces = segments.pieces.iter().flat_map(|piece| job.split_combinations(piece));
    let actions = pieces.map(|piece| job.action(&piece)).collect();
    let rests = segments.rests.iter().map(|&(a, b)| (signals.time(a), signals.time(b))).collect();
    Analysis { actions, rests }
}

struct Job<'a> {
    clip: &'a Clip,
    signals: &'a Signals,
    strokes: &'a [Stroke],
    space: &'a Space,
    model: &'a Model,
}

/// Strokes of one limb closer together than this are one strike, seconds.
const NEXT_STRIKE: f32 = 0.2;
/// A strike is the wind-up of the next one of the same limb if that follows within these seconds and it is slower than this share of it.
const WINDS_UP: (f32, f32) = (0.45, 0.7);
/// Strikes farther apart than this are not one combination, seconds.
const APART: f32 = 0.3;
/// So much before and after its fastest moment belongs to a strike, seconds.
const WIND_UP: f32 = 0.4;
const BACK: f32 = 0.4;
/// Shorter movements are not actions, seconds.
const TWITCH: f32 = 0.15;
/// An arm that swings this close to a kick does so for balance, seconds.
const WITH_A_KICK: f32 = 0.6;
/// A guard is up, or the body out of the way, while its displacement is above this share of its largest.
const UP: f32 = 0.7;
/// Smaller displacements (metres) and turns (radians) have no side.
const ASIDE: f32 = 0.06;
/// A hand that is drawn towards its shoulder by more than this while the other guards does not guard itself, arm lengths.
const DRAWN_BACK: f32 = 0.12;
/// How sure it is that a body at rest rests: not quite, since a held guard is rest too.
const STILL: f32 = 0.95;
/// Hands that both rise or both sink by more than this guard together, metres.
const GOES: f32 = 0.08;

impl Job<'_> {
    /// Splits combinations from each other and from what is before and after them, at the calmest frame between.
    fn split_combinations(&self, piece: &Piece) -> Vec<Piece> {
        let signals = self.signals;
        let whole = vec![*piece];
        let Some((a, b)) = piece.core else { return whole };
        let measured = features::measure(signals, piece, self.strokes);
        let class = self.model.tree.classify(&measured.row);
        if class.kind() != SpanKind::Attack {
            return whole;
        }
        let strikes = self.strikes(piece, &measured, class);
        let apart = signals.frames_in(APART);
        // What must not be cut: from each strike's start to the end of its way back.
        let mut kept: Vec<(usize, usize)> = Vec::new();
        for (strike, stroke) in &strikes {
            let from = stroke.frames.0.max(stroke.frames.1.saturating_sub(signals.frames_in(WIND_UP)));
            let to = (signals.frame(strike.active.1) + signals.frames_in(BACK)).min(b);
            match kept.last_mut() {
                Some(last) if from < last.1 + apart => last.1 = last.1.max(to),
                _ => kept.push((from.max(a), to)),
            }
        }
        let mut cuts = Vec::new();
        // Before the first and after the last strike the cut is near it: what is farther off is an action of its own.
        let near = signals.frames_in(BACK);
        let (first, last) = (kept.first().map_or(a, |k| k.0), kept.last().map_or(b, |k| k.1));
        let mut gaps = Vec::new();
        if first >= a + 2 * apart {
            gaps.push((first.saturating_sub(near).max(a), first));
        }
        gaps.extend(kept.windows(2).filter(|w| w[1].0 >= w[0].1 + 2 * apart).map(|w| (w[0].1, w[1].0)));
        if b >= last + 2 * apart {
            gaps.push((last, (last + near).min(b)));
        }
        for (from, to) in gaps {
            // On both feet if possible.
            let least = |both: bool| {
                let fit = (from..=to).filter(|&f| signals.both_stand(f) || !both);
                fit.min_by(|&x, &y| signals.effort(x).total_cmp(&signals.effort(y)))
            };
            let calmest = least(true).or_else(|| least(false));
            cuts.extend(calmest.filter(|c| *c > piece.frames.0 + apart && *c + apart < piece.frames.1));
        }
        let mut ends = vec![piece.frames.0];
        ends.extend(cuts);
        ends.push(piece.frames.1);
        let part = |w: &[usize]| Piece { frames: (w[0], w[1]), core: Some((w[0].max(a), w[1].min(b))) };
        ends.windows(2).map(part).collect()
    }

    fn action(&self, piece: &Piece) -> Action {
        let signals = self.signals;
        let measured = features::measure(signals, piece, self.strokes);
        let (a, b) = piece.core.unwrap_or(piece.frames);
        let mut class = match piece.core {
            Some(_) if b - a < signals.frames_in(TWITCH) => Class::Idle,
            Some(_) => self.model.tree.classify(&measured.row),
            // Nothing moves: a body on the floor stays down.
            None if measured.get(Feature::Hip) < 0.7 => Class::Down,
            None => Class::Idle,
        };
        let strikes = if class.kind() == SpanKind::Attack { self.strikes(piece, &measured, class) } else { Vec::new() };
        if strikes.len() > 1 {
            class = Class::Combo;
        }
        let best = strikes.iter().max_by(|x, y| x.0.speed.total_cmp(&y.0.speed)).copied();
        let mut action = Action {
            from: signals.time(piece.frames.0),
            to: signals.time(piece.frames.1),
            core: (signals.time(a), signals.time(b)),
            class,
            side: None,
            height: None,
            strikes: strikes.iter().map(|s| s.0).collect(),
            told: strikes.iter().map(|s| self.told(&measured, &s.1)).collect(),
            confidence: if piece.core.is_some() { self.model.tree.confidence(&measured.row) } else { STILL },
            active: None,
            part: None,
            vacated: Vec::new(),
            busy: piece.core.is_some_and(|c| c.1 - c.0 >= signals.frames_in(TWITCH)),
            weight: (a..=b).map(|f| signals.effort(f)).sum::<f32>() / signals.fps,
            height_in_legs: 0.0,
            row: measured.row,
            ranges: ranges::ranges(signals, piece),
        };
        // As sure as its blows are on the whole.
        if !action.told.is_empty() {
            action.confidence = action.told.iter().map(|t| t.confidence).sum::<f32>() / action.told.len() as f32;
        }
        match class.kind() {
            SpanKind::Attack => {
                if let Some((strike, stroke)) = best {
                    action.side = Some(strike.part.side());
                    action.height = Some(strike.height);
                    action.active = Some(strike.active);
                    action.part = Some(strike.part);
                    action.height_in_legs = stroke.apex_height;
                }
            }
            SpanKind::Block => self.guard(piece, &mut action),
            SpanKind::Avoid => {
                action.vacated = self.space.vacated(self.clip, piece.frames.0, b);
                action.side = aside(measured.head.x);
                if class == Class::Duck || action.side.is_none() {
                    action.side = aside(measured.head.x + measured.net.x);
                }
                action.active = self.time_near_maximum(piece, |f| {
                    (signals.at(f, Role::Head) - signals.at(piece.frames.0, Role::Head)).length()
                });
            }
            SpanKind::Turn => action.side = aside(measured.turn),
            SpanKind::Step if measured.net.x.abs() > measured.net.z.abs().min(0.3) => {
                action.side = aside(measured.net.x);
            }
            _ => {}
        }
        action
    }

    fn told(&self, measured: &Measured, stroke: &Stroke) -> Told {
        let row = self.row_of(measured, stroke);
        let confidence = self.model.tree.strike_confidence(&row, is_foot(stroke.part));
        Told { row, height_in_legs: stroke.apex_height, confidence }
    }

    /// The numbers of an action with one stroke as the one described.
    fn row_of(&self, measured: &Measured, stroke: &Stroke) -> Row {
        let mut row = measured.row;
        describe(self.signals, stroke, &mut row);
        if is_foot(stroke.part) {
            row[Feature::FootUp as usize] = stroke.highest;
        }
        row
    }

    /// The blows of an attack, each with the stroke it is measured from.
    fn strikes(&self, piece: &Piece, measured: &Measured, class: Class) -> Vec<(Strike, Stroke)> {
        let (signals, tree) = (self.signals, &self.model.tree);
        let within = |s: &&Stroke| (piece.frames.0..=piece.frames.1).contains(&s.frames.1);
        let mut found: Vec<(Strike, Stroke)> = Vec::new();
        for stroke in self.strokes.iter().filter(within) {
            let kick = is_kick(stroke);
            let row = self.row_of(measured, stroke);
            if !(kick || is_punch(stroke)) || !tree.is_strike(&row, kick) {
                continue;
            }
            let limits = if kick { self.model.heights.kick } else { self.model.heights.punch };
            let Some(kind) = tree.strike_class(&row, kick).strike() else { continue };
            let strike = strike::measure(signals, stroke, kind, limits);
            // A slow leg that is raised for balance does not kick.
            if kick && stroke.speed < 3.0 {
                continue;
            }
            match found.iter_mut().rev().find(|f| f.0.part == strike.part && strike.at - f.0.at < NEXT_STRIKE) {
                Some(same) if same.0.speed < strike.speed => *same = (strike, *stroke),
                Some(_) => {}
                None => found.push((strike, *stroke)),
            }
        }
        let all = found.clone();
        found.retain(|(s, _)| {
            let after = |o: &&(Strike, Stroke)| o.0.part == s.part && o.0.at > s.at && o.0.at - s.at < WINDS_UP.0;
            !all.iter().filter(after).any(|(o, _)| s.speed < WINDS_UP.1 * o.speed)
        });
        if class == Class::Knee {
            return Vec::new();
        }
        let kicks: Vec<f32> = found.iter().filter(|f| is_kick(&f.1)).map(|f| f.0.at).collect();
        found.retain(|f| is_kick(&f.1) || !kicks.iter().any(|k| (k - f.0.at).abs() < WITH_A_KICK));
        found
    }

    /// The time around the maximum of `far` during which it stays above [`UP`] of that maximum.
    fn time_near_maximum(&self, piece: &Piece, far: impl Fn(usize) -> f32) -> Option<(f32, f32)> {
        let (a, b) = piece.core?;
        let most = (a..=b).fold(a, |best, f| if far(f) > far(best) { f } else { best });
        let up = |f: &usize| far(*f) > UP * far(most);
        let from = (a..=most).rev().take_while(up).last()?;
        let to = (most..=b).take_while(up).last()?;
        Some((self.signals.time(from), self.signals.time(to)))
    }

    /// Which hand guards, how high, and when.
    fn guard(&self, piece: &Piece, action: &mut Action) {
        let signals = self.signals;
        let Some((a, b)) = piece.core else { return };
        let start = piece.frames.0;
        let most = (a..=b).fold(a, |best, f| {
            if signals.pose_distance(start, f) > signals.pose_distance(start, best) { f } else { best }
        });
        let hands = [Role::LeftWrist, Role::RightWrist];
        let out =
            |f: usize, hand: Role| (signals.at(f, hand) - signals.at(f, strokes::anchor(hand))).length() / signals.arm;
        let gained = hands.map(|h| out(most, h) - out(start, h));
        let rises = hands.map(|h| signals.at(most, h).y - signals.at(start, h).y);
        let legs = hands.map(|h| (signals.at(most, h).y - signals.floor) / signals.leg);
        let together = rises[0] * rises[1] > 0.0 && rises.iter().all(|r| r.abs() > GOES);
        let both = together && gained.iter().all(|g| *g > -DRAWN_BACK);
        let moved = hands.map(|h| {
            let seen =
                |f: usize| Signals::in_body_frame(signals.at(f, h) - signals.at(f, Role::Back), signals.facing(f));
            (seen(most) - seen(start)).length() / signals.arm
        });
        let left = moved[0] + 2.0 * gained[0] > moved[1] + 2.0 * gained[1];
        let (side, height) = match (both, left) {
            (true, _) => (Side::Middle, 0.5 * (legs[0] + legs[1])),
            (false, true) => (Side::Left, legs[0]),
            (false, false) => (Side::Right, legs[1]),
        };
        action.side = Some(side);
        action.height_in_legs = height;
        action.height = Some(strike::height_of(height, self.model.heights.block));
        action.part = match side {
            Side::Right => Some(Role::RightWrist),
            _ => Some(Role::LeftWrist),
        };
        action.active = self.time_near_maximum(piece, |f| signals.pose_distance(start, f));
    }
}

fn aside(left: f32) -> Option<Side> {
    if left > ASIDE {
        Some(Side::Left)
    } else if left < -ASIDE {
        Some(Side::Right)
    } else {
        None
    }
}

/// A side as written in labels.
pub fn side_name(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Middle => "middle",
        Side::Right => "right",
    }
}

impl Action {
    /// Whether anything happens in it.
    pub fn moves(&self) -> bool {
        self.busy
    }

    /// The label of its span: class, height unless it is the usual one, side. A class with the same name as its kind is left out.
    pub fn label(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        if self.class.kind().name() != self.class.name() {
            words.push(self.class.name());
        }
        match (self.class.kind(), self.height) {
            (SpanKind::Block, Some(height)) => words.push(height.name()),
            (SpanKind::Attack, Some(height)) if height != Height::High => words.push(height.name()),
            _ => {}
        }
        words.extend(self.side.map(side_name));
        words.join(" ")
    }

    /// As a span of its clip.
    pub fn span(&self) -> Span {
        let mut span = Span::new(self.class.kind(), &self.label(), self.core.0, self.core.1);
        span.active = self.active.map(|(a, b)| (a.max(span.from), b.min(span.to)));
        span.part = self.part;
        span.strikes.clone_from(&self.strikes);
        span
    }
}

/// Neighbouring actions of these kinds with the same label make one span.
const FLOWING: [SpanKind; 4] = [SpanKind::Walk, SpanKind::Run, SpanKind::Idle, SpanKind::Down];
/// Shorter spans are not worth a label, seconds.
const SHORTEST: f32 = 0.1;

impl Analysis {
    /// The spans of the clip, which do not overlap: one per action, but neighbouring walks and rests are merged.
    pub fn spans(&self) -> Vec<Span> {
        self.sure_spans().into_iter().map(|s| s.0).collect()
    }

    /// The same, each with how sure its class is, 0 to 1.
    pub fn sure_spans(&self) -> Vec<(Span, f32)> {
        let mut spans: Vec<(Span, f32)> = Vec::new();
        for action in &self.actions {
            let span = action.span();
            let seconds = span.to - span.from;
            if seconds < SHORTEST {
                continue;
            }
            match spans.last_mut() {
                Some((last, sure))
                    if FLOWING.contains(&span.kind) && last.kind == span.kind && last.label == span.label =>
                {
                    // As sure as its parts, by their time.
                    let before = last.to - last.from;
                    *sure = (*sure * before + action.confidence * seconds) / (before + seconds);
                    last.to = span.to;
                }
                Some((last, _)) if span.from < last.to => {
                    last.to = span.from.max(last.from);
                    spans.push((span, action.confidence));
                }
                _ => spans.push((span, action.confidence)),
            }
        }
        spans
    }

    /// The class with the largest share of the clip's motion.
    pub fn main_class(&self) -> Option<Class> {
        let mut weights = std::collections::BTreeMap::<Class, f32>::new();
        for action in &self.actions {
            *weights.entry(action.class).or_default() += action.weight;
        }
        let heaviest = weights.iter().max_by(|a, b| a.1.total_cmp(b.1));
        heaviest.map(|(class, _)| *class)
    }

    /// The action with the largest share of the clip's motion.
    pub fn main_action(&self) -> Option<&Action> {
        self.actions.iter().max_by(|a, b| a.weight.total_cmp(&b.weight))
    }
}
