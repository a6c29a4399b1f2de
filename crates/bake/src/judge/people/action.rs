//! What happens in a span: which action it is, and when it begins and is at its height.

use std::ops::Range;

use kumite_motion::{Role, Span, SpanKind, StrikeKind, Vec3};

use super::motion::{Motion, RATE, rate, smooth};

/// What somebody does, as a span or the name of a capture says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Deed {
    Straight,
    Hook,
    FrontKick,
    RoundKick,
    /// Any other blow: uppercuts, elbows, side kicks. Too few captures show one to compare it with.
    OtherBlow,
    Slip,
    Sway,
    Duck,
    OtherDodge,
    BlockHigh,
    BlockMiddle,
    BlockLow,
    OtherBlock,
    Step,
    Turn,
    Walk,
    Stand,
    Guard,
    Bounce,
}

impl Deed {
    /// What a span of a library says; `None` where nothing is compared: hits, falls, runs, walks that people were not captured in.
    pub fn of(span: &Span) -> Option<Deed> {
        let says = |word: &str| span.label.contains(word);
        let kind = span.strikes.first().map(|strike| strike.kind);
        Some(match span.kind {
            SpanKind::Attack if ["overhand", "elbow"].into_iter().any(says) => Deed::OtherBlow,
            SpanKind::Attack => match kind {
                Some(StrikeKind::Straight) => Deed::Straight,
                Some(StrikeKind::Hook) => Deed::Hook,
                Some(StrikeKind::Front) => Deed::FrontKick,
                Some(StrikeKind::Round) => Deed::RoundKick,
                _ => Deed::OtherBlow,
            },
            SpanKind::Avoid if says("slip") || says("lean") => Deed::Slip,
            SpanKind::Avoid if says("sway back") || says("snap back") => Deed::Sway,
            SpanKind::Avoid if ["duck", "squat", "dip"].into_iter().any(says) => Deed::Duck,
            SpanKind::Avoid if says("sidestep") => Deed::Step,
            SpanKind::Avoid => Deed::OtherDodge,
            SpanKind::Block if says("block high") => Deed::BlockHigh,
            SpanKind::Block if says("block middle") => Deed::BlockMiddle,
            SpanKind::Block if says("block low") => Deed::BlockLow,
            SpanKind::Block => Deed::OtherBlock,
            // Labels of walks that turn lie over a label of the walk.
            SpanKind::Turn if says("walk") => return None,
            SpanKind::Turn => Deed::Turn,
            SpanKind::Step => Deed::Step,
            SpanKind::Walk if ["step", "back", "under"].into_iter().any(says) => return None,
            SpanKind::Walk => Deed::Walk,
            SpanKind::Idle if says("bounce") => Deed::Bounce,
            SpanKind::Idle if says("guard") => Deed::Guard,
            SpanKind::Idle => Deed::Stand,
            SpanKind::Run | SpanKind::React | SpanKind::Down | SpanKind::Up => return None,
        })
    }
}

/// Kinds of action whose pushes and soles are judged alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Sort {
    Blow,
    Kick,
    Dodge,
    Block,
    Step,
    Turn,
    Walk,
    Wait,
}

macro_rules! families {
    ($($family:ident $name:literal $sort:ident,)*) => {
        /// Actions that are compared with each other.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names say it")]
        pub enum Family { $($family,)* }

        impl Family {
            /// Every family.
            pub const ALL: &[Family] = &[$(Family::$family,)*];

            /// As written in files.
            pub fn name(self) -> &'static str {
                match self { $(Family::$family => $name,)* }
            }

            /// Of what sort it is.
            pub fn sort(self) -> Sort {
                match self { $(Family::$family => Sort::$sort,)* }
            }
        }
    };
}

families! {
    RearStraight "rear-straight" Blow,
    LeadStraight "lead-straight" Blow,
    RearHook "rear-hook" Blow,
    LeadHook "lead-hook" Blow,
    OtherBlow "other-blow" Blow,
    FrontKick "front-kick" Kick,
    RoundKick "round-kick" Kick,
    OtherKick "other-kick" Kick,
    Slip "slip" Dodge,
    Sway "sway" Dodge,
    Duck "duck" Dodge,
    OtherDodge "other-dodge" Dodge,
    BlockHigh "block-high" Block,
    BlockMiddle "block-middle" Block,
    BlockLow "block-low" Block,
    OtherBlock "other-block" Block,
    StepForward "step-forward" Step,
    StepBack "step-back" Step,
    StepAside "step-aside" Step,
    Turn "turn" Turn,
    Walk "walk" Walk,
    WalkTurn "walk-turn" Walk,
    Stand "stand" Wait,
    Guard "guard" Wait,
    Bounce "bounce" Wait,
}

impl Family {
    /// Whether its actions are alike enough to lay a band round them.
    pub(super) fn is_one_action(self) -> bool {
        let many = [Family::OtherBlow, Family::OtherKick, Family::OtherDodge, Family::OtherBlock, Family::WalkTurn];
        self.sort() != Sort::Wait && !many.contains(&self)
    }

    /// The inverse of [`Family::name`].
    pub fn from_name(name: &str) -> Option<Family> {
        Family::ALL.iter().copied().find(|family| family.name() == name)
    }
}

/// One action of a clip. Frames are those of [`Motion`].
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Action {
    pub(super) family: Family,
    /// The side that acts: 0 left, 1 right.
    pub(super) own: usize,
    /// -1 where it is seen in the mirror, so that all go the same way.
    pub(super) sign: f32,
    /// When it begins.
    pub(super) onset: usize,
    /// When the blow is fastest, the dodge or block farthest, the foot has landed; of walks the next heel strike of the same foot.
    pub(super) peak: usize,
    /// What belongs to it: pushes and soles are looked at there.
    pub(super) window: Range<usize>,
}

/// What belongs to an action, before it begins and after its height, seconds.
const BEFORE: f32 = 0.5;
const AFTER: f32 = 0.8;
/// A blow begins with this share of its greatest speed ...
const BEGINS: f32 = 0.1;
/// ... and at most so long before it, seconds: people who move all the time never stand still.
const LONGEST_WAY_OUT: f32 = 0.5;
/// A ball of a foot faster than this is on its way, metres per second ...
const UNDER_WAY: f32 = 0.3;
/// ... for so long at least, seconds ...
const SHORTEST_STEP: f32 = 0.13;
/// ... and so far, metres.
const LEAST_STEP: f32 = 0.12;
/// A stride of a walk, seconds and metres per second; slower ones begin and end it.
const STRIDE: (f32, f32) = (0.7, 1.7);
const SLOWEST_WALK: f32 = 0.6;
/// An ankle so far ahead of the pelvis is about to strike the floor, metres.
const HEEL_AHEAD: f32 = 0.15;
/// A walk that turns by more than this is compared with walks that turn, degrees.
pub(super) const TURNS: f32 = 45.0;

pub(super) fn frames(seconds: f32) -> usize {
    libm::roundf(seconds.max(0.0) * RATE) as usize
}

/// Every action in a span.
pub(super) fn actions(motion: &Motion, span: &Span, deed: Deed) -> Vec<Action> {
    let last = motion.frames - 1;
    let whole = frames(span.from).min(last)..frames(span.to).min(last) + 1;
    if whole.len() < 2 {
        return Vec::new();
    }
    match deed {
        Deed::Straight | Deed::Hook | Deed::FrontKick | Deed::RoundKick | Deed::OtherBlow => {
            let strikes = span.strikes.iter().map(|s| (s.part, s.at));
            let named = span.part.filter(|_| span.strikes.is_empty()).map(|part| (part, 0.5 * (span.from + span.to)));
            let near = if span.strikes.is_empty() { 0.5 * (span.to - span.from) } else { 0.12 };
            strikes.chain(named).filter_map(|(part, at)| blow(motion, deed, part, at - near..at + near)).collect()
        }
        Deed::Slip | Deed::Sway | Deed::Duck | Deed::OtherDodge => dodge(motion, deed, whole).into_iter().collect(),
        Deed::BlockHigh | Deed::BlockMiddle | Deed::BlockLow | Deed::OtherBlock => {
            vec![block(motion, deed, whole)]
        }
        Deed::Step | Deed::Turn => (0..2).flat_map(|side| steps(motion, deed, side, &whole)).collect(),
        Deed::Walk => walk(motion, whole),
        Deed::Stand | Deed::Guard | Deed::Bounce => {
            let family = match deed {
                Deed::Stand => Family::Stand,
                Deed::Guard => Family::Guard,
                _ => Family::Bounce,
            };
            vec![Action { family, own: 1, sign: 1.0, onset: whole.start, peak: whole.end - 1, window: whole }]
        }
    }
}

/// The window around an action that lies between these frames.
fn window(motion: &Motion, onset: usize, peak: usize) -> Range<usize> {
    onset.saturating_sub(frames(BEFORE))..(peak + frames(AFTER) + 1).min(motion.frames)
}

fn greatest(values: &[f32]) -> usize {
    (0..values.len()).max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0)
}

/// The last frame before `peak`, no earlier than `from`, whose value is below this share of the peak's; else the one with the least.
fn begins(values: &[f32], from: usize, peak: usize, share: f32) -> usize {
    let below = (from..peak).rev().find(|f| values[*f] < share * values[peak]);
    below.unwrap_or_else(|| (from..=peak).min_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(from))
}

fn blow(motion: &Motion, deed: Deed, part: Role, near: Range<f32>) -> Option<Action> {
    let kicks = matches!(part, Role::LeftAnkle | Role::RightAnkle | Role::LeftKnee | Role::RightKnee);
    let own = usize::from(matches!(part, Role::RightWrist | Role::RightElbow | Role::RightAnkle | Role::RightKnee));
    let speed = if kicks { &motion.foot_speed[own] } else { &motion.hand_speed[own] };
    let from = frames(near.start).min(motion.frames - 1);
    let to = (frames(near.end) + 1).min(motion.frames);
    let peak = from + greatest(speed.get(from..to)?);
    let onset = begins(speed, peak.saturating_sub(frames(LONGEST_WAY_OUT)), peak, BEGINS);
    if peak < onset + 3 {
        return None;
    }
    let leads = leads(motion, own, onset, peak);
    let family = match deed {
        Deed::Straight if leads => Family::LeadStraight,
        Deed::Straight => Family::RearStraight,
        Deed::Hook if leads => Family::LeadHook,
        Deed::Hook => Family::RearHook,
        Deed::FrontKick => Family::FrontKick,
        Deed::RoundKick => Family::RoundKick,
        _ if kicks => Family::OtherKick,
        _ => Family::OtherBlow,
    };
    Some(Action { family, own, sign: sign(own), onset, peak, window: window(motion, onset, peak) })
}

fn sign(own: usize) -> f32 {
    if own == 0 { -1.0 } else { 1.0 }
}

/// Whether the hand is on the side of the foot that is in front, along the direction of the blow.
fn leads(motion: &Motion, own: usize, onset: usize, peak: usize) -> bool {
    let blow = motion.hands[own][peak] - motion.pelvis_at[peak];
    let feet = motion.feet[own][onset] - motion.feet[1 - own][onset];
    blow.x * feet.x + blow.z * feet.z > 0.0
}

/// The unit vector to the left of where somebody looks, along the floor: fighters stand side-on and look ahead.
fn left(motion: &Motion, frame: usize) -> Vec3 {
    let turn = motion.head_in_world.turn[frame].to_radians();
    Vec3::new(libm::cosf(turn), 0.0, -libm::sinf(turn))
}

fn dodge(motion: &Motion, deed: Deed, whole: Range<usize>) -> Option<Action> {
    let home = motion.head_at[whole.start];
    let far: Vec<f32> = (motion.head_at.iter())
        .map(|p| if deed == Deed::Duck { (home.y - p.y).max(0.0) } else { (*p - home).length() })
        .collect();
    let peak = whole.start + greatest(&far[whole.clone()]);
    let onset = begins(&far, whole.start, peak, BEGINS);
    if peak < onset + 3 {
        return None;
    }
    let aside = (motion.head_at[peak] - home).dot(left(motion, onset));
    let own = usize::from(aside < 0.0);
    let family = match deed {
        Deed::Slip => Family::Slip,
        Deed::Sway => Family::Sway,
        Deed::Duck => Family::Duck,
        _ => Family::OtherDodge,
    };
    Some(Action { family, own, sign: sign(own), onset, peak, window: window(motion, onset, peak) })
}

fn block(motion: &Motion, deed: Deed, whole: Range<usize>) -> Action {
    let seen = |side: usize, f: usize| motion.hands[side][f] - motion.chest_at[f];
    let far = |side: usize| -> Vec<f32> {
        (0..motion.frames).map(|f| (seen(side, f) - seen(side, whole.start)).length()).collect()
    };
    let far = [far(0), far(1)];
    let most = |side: usize| whole.start + greatest(&far[side][whole.clone()]);
    let own = usize::from(far[1][most(1)] > far[0][most(0)]);
    let peak = most(own);
    let onset = begins(&far[own], whole.start, peak, BEGINS);
    let family = match deed {
        Deed::BlockHigh => Family::BlockHigh,
        Deed::BlockMiddle => Family::BlockMiddle,
        Deed::BlockLow => Family::BlockLow,
        _ => Family::OtherBlock,
    };
    Action { family, own, sign: sign(own), onset, peak, window: window(motion, onset, peak) }
}

fn steps(motion: &Motion, deed: Deed, own: usize, whole: &Range<usize>) -> Vec<Action> {
    let ball = &motion.balls[own];
    let axes = [0, 1, 2].map(|i| rate(&ball.iter().map(|p| p[i]).collect::<Vec<_>>()));
    let speed: Vec<f32> = (0..ball.len()).map(|f| Vec3::new(axes[0][f], axes[1][f], axes[2][f]).length()).collect();
    // Which way the whole turn goes.
    let turn = motion.pelvis.turn[whole.end - 1] - motion.pelvis.turn[whole.start];
    let (mut from, mut found) = (0, Vec::new());
    for run in speed.chunk_by(|a, b| (*a > UNDER_WAY) == (*b > UNDER_WAY)) {
        let (onset, peak) = (from, from + run.len());
        from = peak;
        let inside = onset > 0 && peak < ball.len() && whole.contains(&onset);
        if run[0] <= UNDER_WAY || !inside || run.len() < frames(SHORTEST_STEP) {
            continue;
        }
        let way = ball[peak] - ball[onset];
        if way.length() < LEAST_STEP {
            continue;
        }
        let aside = way.dot(left(motion, onset));
        let ahead = way.dot(left(motion, onset).cross(Vec3::Y));
        let (family, sign) = match deed {
            Deed::Turn => (Family::Turn, turn.signum()),
            _ if aside.abs() > ahead.abs() => (Family::StepAside, aside.signum()),
            _ if ahead > 0.0 => (Family::StepForward, sign(own)),
            _ => (Family::StepBack, sign(own)),
        };
        found.push(Action { family, own, sign, onset, peak, window: window(motion, onset, peak) });
    }
    found
}

/// Frames in which a heel strikes the floor: the ankle is farthest ahead of the pelvis, on the way it goes.
fn heel_strikes(motion: &Motion, side: usize, whole: &Range<usize>) -> Vec<usize> {
    let path = super::motion::smooth_path(&motion.pelvis_at, 2.0);
    let axes = [0, 2].map(|i| rate(&path.iter().map(|p| p[i]).collect::<Vec<_>>()));
    let ahead: Vec<f32> = (0..motion.frames)
        .map(|f| {
            let way = Vec3::new(axes[0][f], 0.0, axes[1][f]).normalize_or_zero();
            (motion.feet[side][f] - motion.pelvis_at[f]).dot(way)
        })
        .collect();
    let ahead = smooth(&ahead, 8.0);
    let inner = whole.start.max(1)..whole.end.min(motion.frames - 1);
    let tops = inner.filter(|&f| ahead[f] > HEEL_AHEAD && ahead[f] >= ahead[f - 1] && ahead[f] > ahead[f + 1]);
    let mut strikes: Vec<usize> = Vec::new();
    for top in tops {
        match strikes.last_mut() {
            Some(last) if top - *last < frames(0.6) => {
                if ahead[top] > ahead[*last] {
                    *last = top;
                }
            }
            _ => strikes.push(top),
        }
    }
    strikes
}

/// Strides, and of a walk that turns the whole of it.
fn walk(motion: &Motion, whole: Range<usize>) -> Vec<Action> {
    let mut found = Vec::new();
    let path: Vec<f32> = motion.pelvis.turn[whole.clone()].to_vec();
    let turn = path.iter().fold(0.0f32, |most, t| most.max((t - path[0]).abs()));
    if turn > TURNS {
        let sign = (path[path.len() - 1] - path[0]).signum();
        let (onset, peak) = (whole.start, whole.end - 1);
        found.push(Action { family: Family::WalkTurn, own: 1, sign, onset, peak, window: whole.clone() });
    }
    for own in 0..2 {
        for pair in heel_strikes(motion, own, &whole).windows(2) {
            let [onset, peak] = [pair[0], pair[1]];
            let seconds = (peak - onset) as f32 / RATE;
            let speed = (motion.pelvis_at[peak] - motion.pelvis_at[onset]).length() / seconds;
            let straight = (motion.pelvis.turn[peak] - motion.pelvis.turn[onset]).abs() < TURNS / 3.0;
            let forward =
                (motion.pelvis_at[peak] - motion.pelvis_at[onset]).dot(left(motion, onset).cross(Vec3::Y)) > 0.0;
            let strides = (STRIDE.0..STRIDE.1).contains(&seconds) && speed > SLOWEST_WALK;
            if straight && strides && forward {
                found.push(Action { family: Family::Walk, own, sign: sign(own), onset, peak, window: whole.clone() });
            }
        }
    }
    found
}
