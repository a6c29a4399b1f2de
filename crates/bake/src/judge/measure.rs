//! Figures of single actions, measured the same way on keyed and captured motion.
//!
//! Clips are on the canonical skeleton, and labelled: a span says roughly when, the motion says exactly. Speeds are those of the
//! world, of wrists and ankles.

use std::ops::Range;

use kumite_motion::anatomy::Anatomy;
use kumite_motion::{Clip, Role, Roles, Span, Vec2, Vec3, mass, sample};

use super::posed::PosedClip;

/// What acts, and with it how the active phase is found and how far a reach is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// A blow of this hand. Active around its fastest moment, as long as the hand has half its peak speed, as the chest
    /// sees it. Reach: wrist from shoulder, as a share of the arm.
    Strike(Role),
    /// A dodge of the head. Active as long as the head is half as far from where it was as it gets. Reach: that distance, metres.
    Dodge,
    /// A duck. Active as long as the head is half as far below where it was as it gets. Reach: that depth, metres.
    Duck,
    /// A block. Active as long as the hand is half as far from where it was as it gets, as the chest sees it; the hand that gets
    /// farther blocks. Reach: as of strikes, while active.
    Block,
    /// Steps of a foot, each measured by itself. Active while the ball of the foot is on its way. Reach: from where it left to where it lands,
    /// metres.
    Step,
}

/// What was measured of one action. Lengths in metres of the default person.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ActionFigures {
    /// When it is active, seconds of the clip.
    pub active: (f32, f32),
    /// Peak speed of the hand that acts, or of the faster one, metres per second.
    pub hand_speed: f32,
    /// Peak speed of the foot that acts, or of the faster one, metres per second.
    pub foot_speed: f32,
    /// See [`Act`].
    pub reach: f32,
    /// How far apart on the floor the centre of mass is at any two moments, metres.
    pub mass_travel: f32,
}

impl ActionFigures {
    /// Length of the active phase, seconds.
    pub fn active_seconds(&self) -> f32 {
        self.active.1 - self.active.0
    }
}

/// Frames per second at which it is measured.
const RATE: f32 = 60.0;
/// Speeds and travels of a strike are measured over this many seconds around its fastest moment: a step may go with it.
const AROUND: f32 = 0.4;
/// A ball of a foot faster than this is on its way, metres per second.
const UNDER_WAY: f32 = 0.3;
/// A foot on its way for less is a heel that rises, seconds ...
const SHORTEST_STEP: f32 = 0.13;
/// ... and one that lands nearer to where it left turns on the spot or is set down anew, metres.
const LEAST_STEP: f32 = 0.12;

/// Measures what happens in a span: one action, or every step that begins in it.
pub fn figures(clip: &Clip, span: &Span, act: Act) -> Vec<ActionFigures> {
    let roles = Roles::canonical();
    let anatomy = Anatomy::of_canonical(clip.skeleton());
    let Ok(even) = sample::resample(clip, RATE) else { return Vec::new() };
    let posed = PosedClip::of(&even, &roles, &anatomy);
    let action = Action::of(&posed, &roles);
    action.map_or_else(Vec::new, |action| action.figures(span, act))
}

/// Tracks of a whole clip.
struct Action {
    /// Left, right.
    hands: [Vec<Vec3>; 2],
    feet: [Vec<Vec3>; 2],
    balls: [Vec<Vec3>; 2],
    /// Wrists from the chest: a hand that only rides along does not move.
    seen: [Vec<Vec3>; 2],
    /// Wrists from shoulders, as shares of the arms.
    stretch: [Vec<f32>; 2],
    head: Vec<Vec3>,
    masses: Vec<Vec2>,
    frames: usize,
}

impl Action {
    fn of(posed: &PosedClip, roles: &Roles) -> Option<Action> {
        let track = |role| posed.track(role);
        let hands = [track(Role::LeftWrist)?, track(Role::RightWrist)?];
        let elbows = [track(Role::LeftElbow)?, track(Role::RightElbow)?];
        let shoulders = [track(Role::LeftShoulder)?, track(Role::RightShoulder)?];
        let chest = track(Role::Back)?;
        let share = |side: usize, f: usize| {
            let [s, e, w] = [shoulders[side][f], elbows[side][f], hands[side][f]];
            (w - s).length() / ((e - s).length() + (w - e).length())
        };
        Some(Action {
            seen: [0, 1].map(|side| hands[side].iter().zip(&chest).map(|(h, c)| *h - *c).collect()),
            stretch: [0, 1].map(|side| (0..posed.frames()).map(|f| share(side, f)).collect()),
            feet: [track(Role::LeftAnkle)?, track(Role::RightAnkle)?],
            balls: [track(Role::LeftToe)?, track(Role::RightToe)?],
            head: track(Role::Head)?,
            masses: (posed.worlds.iter())
                .map(|w| mass::centre(posed.skeleton, roles, w))
                .map(|m| Vec2::new(m.x, m.z))
                .collect(),
            frames: posed.frames(),
            hands,
        })
    }

    fn figures(&self, span: &Span, act: Act) -> Vec<ActionFigures> {
        let frame = |t: f32| (libm::roundf(t.max(0.0) * RATE) as usize).min(self.frames.saturating_sub(1));
        let whole = frame(span.from)..frame(span.to) + 1;
        let away = |track: &[Vec3]| -> Vec<f32> {
            track[whole.clone()].iter().map(|p| (*p - track[whole.start]).length()).collect()
        };
        match act {
            Act::Strike(part) => {
                let side = usize::from(part == Role::RightWrist);
                let fast = speeds(&self.seen[side]);
                let active = around(&fast, whole, 0.5);
                let peak = active.start + top(&fast[active.clone()]).0;
                let half = (AROUND * RATE) as usize;
                let wide = peak.saturating_sub(half)..(peak + half + 1).min(self.frames);
                let hand_speed = top(&speeds(&self.hands[side])[active.clone()]).1;
                let reach = top(&self.stretch[side][active.start..wide.end]).1;
                vec![ActionFigures { hand_speed, reach, ..self.over(active, wide, &[side], &[0, 1]) }]
            }
            Act::Dodge | Act::Duck => {
                let far: Vec<f32> = if act == Act::Dodge {
                    away(&self.head)
                } else {
                    self.head[whole.clone()].iter().map(|p| (self.head[whole.start].y - p.y).max(0.0)).collect()
                };
                let active = shifted(around(&far, 0..far.len(), 0.5), whole.start);
                vec![ActionFigures { reach: top(&far).1, ..self.over(active, whole, &[0, 1], &[0, 1]) }]
            }
            Act::Block => {
                let each = [0, 1].map(|side| away(&self.seen[side]));
                let side = usize::from(top(&each[1]).1 > top(&each[0]).1);
                let active = shifted(around(&each[side], 0..each[side].len(), 0.5), whole.start);
                let reach = top(&self.stretch[side][active.clone()]).1;
                vec![ActionFigures { reach, ..self.over(active, whole, &[side], &[0, 1]) }]
            }
            Act::Step => (0..2).flat_map(|side| self.steps(side, &whole)).collect(),
        }
    }

    fn steps(&self, side: usize, within: &Range<usize>) -> Vec<ActionFigures> {
        let (ball, fast) = (&self.balls[side], speeds(&self.balls[side]));
        let (mut from, mut found) = (0, Vec::new());
        for run in fast.chunk_by(|a, b| (*a > UNDER_WAY) == (*b > UNDER_WAY)) {
            let swing = from..from + run.len();
            from = swing.end;
            let whole = swing.start > 0 && swing.end < fast.len();
            let length = (ball[swing.end.min(self.frames - 1)] - ball[swing.start]).length();
            let long = run.len() as f32 >= SHORTEST_STEP * RATE && length >= LEAST_STEP;
            if run[0] > UNDER_WAY && whole && long && within.contains(&swing.start) {
                found.push(ActionFigures { reach: length, ..self.over(swing.clone(), swing, &[0, 1], &[side]) });
            }
        }
        found
    }

    /// Peak speeds and the travel of the mass over these frames.
    fn over(&self, active: Range<usize>, frames: Range<usize>, hands: &[usize], feet: &[usize]) -> ActionFigures {
        let peak = |tracks: &[Vec<Vec3>; 2], sides: &[usize]| {
            sides.iter().map(|&side| top(&speeds(&tracks[side])[frames.clone()]).1).fold(0.0, f32::max)
        };
        let masses = &self.masses[frames.clone()];
        let apart = masses.iter().flat_map(|a| masses.iter().map(|b| (*a - *b).length()));
        ActionFigures {
            active: (active.start as f32 / RATE, active.end as f32 / RATE),
            hand_speed: peak(&self.hands, hands),
            foot_speed: peak(&self.feet, feet),
            reach: 0.0,
            mass_travel: apart.fold(0.0, f32::max),
        }
    }
}

/// Per frame; the first and the last have those of their neighbours.
fn speeds(track: &[Vec3]) -> Vec<f32> {
    let last = track.len().saturating_sub(1);
    (0..track.len())
        .map(|f| {
            let (a, b) = (f.saturating_sub(1), (f + 1).min(last));
            (track[b] - track[a]).length() * RATE / (b - a).max(1) as f32
        })
        .collect()
}

fn top(list: &[f32]) -> (usize, f32) {
    super::worst(list.iter().copied()).unwrap_or((0, 0.0))
}

/// The frames in a row around the greatest value of these frames that have at least this share of it.
fn around(list: &[f32], within: Range<usize>, share: f32) -> Range<usize> {
    let (at, most) = top(&list[within.clone()]);
    let at = at + within.start;
    let enough = |v: &&f32| **v >= share * most;
    at - list[..at].iter().rev().take_while(enough).count()..at + list[at..].iter().take_while(enough).count()
}

fn shifted(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}
