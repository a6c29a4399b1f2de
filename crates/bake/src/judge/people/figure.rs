//! Single figures of actions: what an animator would ask for.

use kumite_motion::rotation::between;
use kumite_motion::{Contacts, Vec2, Vec3};

use super::action::{Action, Family, Sort, frames};
use super::motion::{Motion, RATE, rate, smooth};

macro_rules! figures {
    ($($figure:ident $name:literal $unit:literal $places:literal $says:literal,)*) => {
        /// A figure of an action.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Figure { $(#[doc = $says] $figure,)* }

        impl Figure {
            /// Every figure.
            pub const ALL: &[Figure] = &[$(Figure::$figure,)*];

            /// As written in files.
            pub fn name(self) -> &'static str {
                match self { $(Figure::$figure => $name,)* }
            }

            /// Its unit.
            pub fn unit(self) -> &'static str {
                match self { $(Figure::$figure => $unit,)* }
            }

            /// Places after the point that mean something.
            pub fn places(self) -> usize {
                match self { $(Figure::$figure => $places,)* }
            }

            /// For people.
            pub fn says(self) -> &'static str {
                match self { $(Figure::$figure => $says,)* }
            }
        }
    };
}

figures! {
    Push "push" "m/s²" 1 "peak horizontal acceleration of the centre of mass",
    Outside "outside" "%" 0 "frames with a foot down whose zero-moment point is more than 5 cm outside the soles",
    Drop "drop" "m/s²" 1 "hardest downward acceleration of the centre of mass with a foot down",
    KneeFrom "knee_from" "°" 0 "rear knee when the blow begins",
    KneeTo "knee_to" "°" 0 "rear knee when the blow is fastest, and a tenth of a second on, the straighter of both",
    Lean "lean" "°" 0 "the trunk's greatest angle to the vertical, from the onset to 0.2 s after the blow",
    HeadTravel "head_travel" "cm" 0 "how far the head gets from where it was at the onset, until 0.3 s after the blow",
    FistSpeed "fist_speed" "m/s" 1 "greatest speed of the fist",
    RecoilSpeed "recoil_speed" "m/s" 1 "speed of the fist 0.15 s after it was fastest",
    RecoilStart "recoil_start" "s" 2 "from the fist's greatest speed to when it comes back with 0.5 m/s",
    SecondPulse "second_pulse" "°/s" 0 "how fast the pelvis turns on with the blow, 0.05 to 0.17 s after it, at most",
    WayBack "way_back" "cm" 0 "how far the fist's way back is from its way out, as the chest sees it, at most",
    Lag "lag" "ms" 0 "from the pelvis' fastest turn to the fist's greatest speed",
    Separation "separation" "°" 0 "how far the chest turns against the pelvis, to either side of its mean, 0.3 s round the blow",
    Clavicle "clavicle" "°" 0 "range of the clavicle that strikes, 0.3 s round the blow",
    NeckAndHead "neck_and_head" "°" 0 "by how much neck and head turn apart",
    Frozen "frozen" "s" 2 "longest time, until half a second after the height, in which the joints turn by less than 8 °/s on average",
    TrunkRoll "trunk_roll" "°" 1 "range of the trunk's tilt over a stride",
    TrunkPitch "trunk_pitch" "°" 1 "range of the trunk's lean over a stride",
    HeadPitch "head_pitch" "°" 1 "range of the head's lean over a stride",
    Obliquity "obliquity" "°" 1 "range of the pelvis' tilt over a stride",
    StanceKnee "stance_knee" "°" 0 "the standing knee at its straightest, 20 to 55 % of the stride",
    HeelStrike "heel_strike" "°" 0 "toes up at heel strike",
    SwingPeak "swing_peak" "%" 0 "when in the stride the swinging knee is most bent",
    KneeHumps "knee_humps" "" 0 "how often the knee bends after 45 % of the stride: peaks of more than 3°",
    StrideChange "stride_change" "°" 1 "how far the joints are from those of the most similar other stride, on average",
    HeadLeads "head_leads" "ms" 0 "how long the head turns before the way does",
    BounceRate "bounce_rate" "Hz" 2 "bounces a second",
    BounceVariation "bounce_variation" "%" 0 "standard deviation of the time between bounces, of its mean",
    BounceHeight "bounce_height" "cm" 1 "how far the pelvis goes up and down, on average",
    BounceTravel "bounce_travel" "cm" 0 "how far apart on the floor the pelvis gets",
    Quiet "quiet" "%" 0 "frames in which the joints turn by less than 8 °/s on average",
    MassStill "mass_still" "%" 0 "frames in which the centre of mass goes slower than 2 cm/s",
}

impl Figure {
    /// What measuring is off by: captures have 30 frames per second, and joints of markers wobble.
    pub(super) fn noise(self) -> f32 {
        match self {
            Figure::Outside => 3.0,
            Figure::Frozen => 0.1,
            Figure::RecoilStart => 0.015,
            Figure::Lag | Figure::HeadLeads => 15.0,
            Figure::Drop => 0.3,
            _ => 0.0,
        }
    }
}

/// The zero-moment point may be so far outside the soles, metres: captures are no better.
const OUTSIDE: f32 = 0.05;
/// Joints that turn slower than this on average are still, degrees per second.
const STILL: f32 = 8.0;
/// A centre of mass slower than this is still, metres per second.
const MASS_STILL: f32 = 0.02;
/// A body that goes somewhere is faster than this, metres per second.
const GOES: f32 = 0.35;
/// A fist that comes back is faster than this, metres per second.
const COMES_BACK: f32 = 0.5;
/// Frames at either end of a clip that the second derivative of a smoothed path knows too little about.
const ENDS: usize = 3;

/// Every figure that means something for an action.
pub(super) fn figures(motion: &Motion, action: &Action) -> Vec<(Figure, f32)> {
    // Whoever was captured in the guard for long enough boxed: how hard that pushes says nothing of waiting.
    let mut found = if action.family == Family::Guard { Vec::new() } else { physics(motion, action) };
    if action.family.sort() != Sort::Walk {
        found.push((Figure::Frozen, frozen(motion, action)));
    }
    match action.family {
        Family::RearStraight | Family::LeadStraight | Family::RearHook | Family::LeadHook => {
            found.extend(blow(motion, action));
        }
        Family::Walk => found.extend(stride(motion, action)),
        Family::WalkTurn => found.extend(head_leads(motion, action).map(|ms| (Figure::HeadLeads, ms))),
        Family::Bounce => found.extend(bounce(motion, action)),
        _ => {}
    }
    if action.family.sort() == Sort::Wait {
        let share = |still: usize| 100.0 * still as f32 / action.window.len() as f32;
        let window = || action.window.clone();
        found.push((Figure::Quiet, share(window().filter(|&f| motion.activity[f] < STILL).count())));
        let speed = |f: usize| Vec2::new(motion.mass_velocity[f].x, motion.mass_velocity[f].z).length();
        found.push((Figure::MassStill, share(window().filter(|&f| speed(f) < MASS_STILL).count())));
    }
    found.retain(|(_, value)| value.is_finite());
    found
}

fn physics(motion: &Motion, action: &Action) -> Vec<(Figure, f32)> {
    let inner = action.window.start.max(ENDS)..action.window.end.min(motion.frames.saturating_sub(ENDS));
    let down = |f: &usize| motion.contacts[*f] != Contacts::NONE;
    let push = |f: usize| Vec2::new(motion.mass_acceleration[f].x, motion.mass_acceleration[f].z).length();
    let drop = inner.clone().filter(down).map(|f| motion.mass_acceleration[f].y).fold(0.0, f32::min);
    let points: Vec<f32> = inner.clone().filter_map(|f| motion.outside[f]).collect();
    let outside = points.iter().filter(|p| **p > OUTSIDE).count();
    vec![
        (Figure::Push, inner.map(push).fold(0.0, f32::max)),
        (Figure::Outside, 100.0 * outside as f32 / points.len() as f32),
        (Figure::Drop, drop),
    ]
}

fn frozen(motion: &Motion, action: &Action) -> f32 {
    // What comes before an action is no part of it; whoever has done it does not stop.
    let within = if action.family.sort() == Sort::Wait {
        action.window.clone()
    } else {
        action.onset..(action.peak + frames(0.5)).min(motion.frames)
    };
    let runs = motion.activity[within].chunk_by(|a, b| (*a < STILL) == (*b < STILL));
    runs.filter(|run| run[0] < STILL).map(<[f32]>::len).max().unwrap_or(0) as f32 / RATE
}

/// Most minus least.
fn range(values: &[f32]) -> f32 {
    let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    most - values.iter().copied().fold(f32::INFINITY, f32::min)
}

fn most(values: impl IntoIterator<Item = f32>) -> f32 {
    values.into_iter().fold(f32::NEG_INFINITY, f32::max)
}

/// Where a curve is highest, between frames too.
fn summit(values: &[f32], within: std::ops::Range<usize>) -> f32 {
    let at = within.max_by(|a, b| values[*a].total_cmp(&values[*b])).unwrap_or(0);
    let (Some(before), Some(after)) = (at.checked_sub(1).map(|f| values[f]), values.get(at + 1)) else {
        return at as f32;
    };
    let bend = before - 2.0 * values[at] + after;
    at as f32 + if bend < 0.0 { (0.5 * (before - after) / bend).clamp(-0.5, 0.5) } else { 0.0 }
}

fn blow(motion: &Motion, action: &Action) -> Vec<(Figure, f32)> {
    let (own, onset, peak) = (action.own, action.onset, action.peak);
    let last = motion.frames - 1;
    let until = |seconds: f32| (peak + frames(seconds)).min(last);
    let around = peak.saturating_sub(frames(0.3))..until(0.3) + 1;
    let rear = match action.family {
        Family::RearStraight | Family::RearHook => own,
        _ => 1 - own,
    };
    let knee = &motion.knees[rear];
    let turn: Vec<f32> = rate(&motion.pelvis.turn).iter().map(|v| v * action.sign).collect();
    let chest = &motion.chest.turn[around.clone()];
    let middle = chest.iter().sum::<f32>() / chest.len() as f32;
    let clavicle = &motion.clavicles[own][around.clone()];
    let speed = &motion.hand_speed[own];
    let seen = |f: usize| motion.hands[own][f] - motion.chest_at[f];
    // How far out the fist is, and where on its way back.
    let reach: Vec<f32> = (0..=last).map(|f| (motion.hands[own][f] - motion.shoulders[own][f]).length()).collect();
    let coming = rate(&reach);
    let back = (peak..=until(0.5)).find(|&f| coming[f] < -COMES_BACK);
    let farthest =
        peak + (0..=until(0.2) - peak).max_by(|a, b| reach[peak + a].total_cmp(&reach[peak + b])).unwrap_or(0);
    let half = 0.5 * (reach[onset] + reach[farthest]);
    let way_back = (farthest..=until(0.6))
        .take_while(|&f| reach[f] > half)
        .map(|f| (onset..=farthest).map(|out| (seen(f) - seen(out)).length()).fold(f32::INFINITY, f32::min));
    let before = peak.saturating_sub(frames(0.35))..until(0.15) + 1;
    let neck = &motion.neck_and_head[around.clone()];
    let mut found = vec![
        (Figure::KneeFrom, knee[onset]),
        (Figure::KneeTo, knee[peak].min(knee[until(0.1)])),
        (Figure::Lean, most(motion.trunk[onset..=until(0.2)].iter().copied())),
        (
            Figure::HeadTravel,
            100.0 * most((onset..=until(0.3)).map(|f| (motion.head_at[f] - motion.head_at[onset]).length())),
        ),
        (Figure::FistSpeed, speed[peak]),
        (Figure::Lag, 1000.0 * (peak as f32 - summit(&turn, before)) / RATE),
        (Figure::Separation, most(chest.iter().map(|v| (v - middle).abs()))),
        (Figure::Clavicle, most(clavicle.iter().map(|q| between(clavicle[0], *q).to_degrees()))),
        (Figure::NeckAndHead, range(neck)),
        (Figure::RecoilSpeed, speed[until(0.15)]),
        (Figure::WayBack, 100.0 * most(way_back)),
        (Figure::SecondPulse, most(turn[until(0.05)..=until(0.17)].iter().copied())),
    ];
    found.extend(back.map(|f| (Figure::RecoilStart, (f - peak) as f32 / RATE)));
    found
}

fn stride(motion: &Motion, action: &Action) -> Vec<(Figure, f32)> {
    let (own, onset, peak) = (action.own, action.onset, action.peak);
    let whole = onset..peak;
    let at = |share: f32| onset + (share * (peak - onset) as f32) as usize;
    let knee = &motion.knees[own];
    let swing = at(0.45)..peak;
    let summit = summit(knee, swing.clone());
    let near = onset.saturating_sub(2)..(onset + 3).min(motion.frames);
    vec![
        (Figure::TrunkRoll, range(&motion.chest_in_world.tilt[whole.clone()])),
        (Figure::TrunkPitch, range(&motion.chest_in_world.lean[whole.clone()])),
        (Figure::HeadPitch, range(&motion.head_in_world.lean[whole.clone()])),
        (Figure::Obliquity, range(&motion.pelvis.tilt[whole])),
        (Figure::StanceKnee, knee[at(0.2)..at(0.55)].iter().copied().fold(f32::INFINITY, f32::min)),
        (Figure::HeelStrike, most(motion.foot_pitch[own][near].iter().copied())),
        (Figure::SwingPeak, 100.0 * (summit - onset as f32) / (peak - onset) as f32),
        (Figure::KneeHumps, humps(&knee[swing], 3.0) as f32),
    ]
}

/// How often values rise and then fall by at least this much.
fn humps(values: &[f32], by: f32) -> usize {
    let Some(&first) = values.first() else { return 0 };
    let (mut low, mut high, mut count, mut rising) = (first, first, 0, false);
    for &value in values {
        if rising {
            high = high.max(value);
            if value < high - by {
                (rising, low) = (false, value);
                count += 1;
            }
        } else {
            low = low.min(value);
            if value > low + by {
                (rising, high) = (true, value);
            }
        }
    }
    count
}

/// By how many milliseconds the turning of the head has to be delayed to look most like the turning of the way; none where nothing goes.
fn head_leads(motion: &Motion, action: &Action) -> Option<f32> {
    let reach = frames(0.8) as isize;
    let slow: [Vec<f32>; 2] = [0, 2].map(|i| {
        let axis: Vec<f32> = motion.mass_velocity.iter().map(|v| v[i]).collect();
        smooth(&axis, 1.5)
    });
    let goes = |f: &usize| Vec2::new(slow[0][*f], slow[1][*f]).length() > GOES;
    let (from, to) = (action.window.clone().find(goes)?, action.window.clone().rev().find(goes)? + 1);
    // Who stands goes no way: that of the nearest frame in which it goes.
    let mut way: Vec<f32> = Vec::new();
    for f in (0..motion.frames).map(|f| f.clamp(from, to - 1)) {
        let turn = libm::atan2f(slow[0][f], slow[1][f]).to_degrees();
        way.push(way.last().map_or(turn, |last| last + turn - last - 360.0 * libm::roundf((turn - last) / 360.0)));
    }
    let turning = |track: &[f32]| smooth(&rate(track), 1.5)[from..to].to_vec();
    let (head, way) = (turning(&motion.head_in_world.turn), turning(&way));
    let alike = |lag: isize| {
        let pairs = head.iter().enumerate().filter_map(|(f, h)| Some((*h, *way.get(f.checked_add_signed(lag)?)?)));
        correlation(pairs)
    };
    (-reach..=reach).max_by(|a, b| alike(*a).total_cmp(&alike(*b))).map(|lag| 1000.0 * lag as f32 / RATE)
}

fn correlation(pairs: impl Iterator<Item = (f32, f32)> + Clone) -> f32 {
    let n = pairs.clone().count().max(1) as f32;
    let (a, b) = pairs.clone().fold((0.0, 0.0), |s, p| (s.0 + p.0 / n, s.1 + p.1 / n));
    let sums = pairs.fold((0.0, 0.0, 0.0), |s, p| {
        let (x, y) = (p.0 - a, p.1 - b);
        (s.0 + x * y, s.1 + x * x, s.2 + y * y)
    });
    sums.0 / libm::sqrtf((sums.1 * sums.2).max(1e-9))
}

fn bounce(motion: &Motion, action: &Action) -> Vec<(Figure, f32)> {
    let heights: Vec<f32> = motion.pelvis_at.iter().map(|p| p.y).collect();
    let heights = smooth(&heights, 6.0);
    // Summits at least a quarter of a second apart, 1 cm above the lows between them.
    let (mut summits, mut swings): (Vec<usize>, Vec<f32>) = (Vec::new(), Vec::new());
    let (mut low, mut high) = (action.window.start, action.window.start);
    let mut rising = true;
    for f in action.window.clone() {
        if rising {
            if heights[f] > heights[high] {
                high = f;
            } else if heights[f] < heights[high] - 0.01 {
                summits.push(high);
                swings.push(heights[high] - heights[low]);
                (rising, low) = (false, f);
            }
        } else if heights[f] < heights[low] {
            low = f;
        } else if heights[f] > heights[low] + 0.01 {
            (rising, high) = (true, f);
        }
    }
    let times: Vec<f32> = summits.windows(2).map(|w| (w[1] - w[0]) as f32 / RATE).collect();
    let mean = |values: &[f32]| values.iter().sum::<f32>() / values.len() as f32;
    let period = mean(&times);
    let spread = libm::sqrtf(mean(&times.iter().map(|t| (t - period) * (t - period)).collect::<Vec<_>>()));
    let places = || action.window.clone().map(|f| motion.pelvis_at[f]).map(|p| Vec3::new(p.x, 0.0, p.z));
    let travel = most(places().step_by(4).flat_map(|a| places().step_by(4).map(move |b| (a - b).length())));
    vec![
        (Figure::BounceRate, 1.0 / period),
        (Figure::BounceVariation, 100.0 * spread / period),
        (Figure::BounceHeight, 100.0 * mean(&swings)),
        (Figure::BounceTravel, 100.0 * travel),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn humps_are_counted_by_their_prominence() {
        assert_eq!(humps(&[0.0, 10.0, 0.0], 3.0), 1);
        assert_eq!(humps(&[55.0, 40.0, 60.0, 10.0], 3.0), 1);
        assert_eq!(humps(&[30.0, 55.0, 40.0, 60.0, 10.0], 3.0), 2);
        assert_eq!(humps(&[0.0, 2.0, 0.0], 3.0), 0);
    }

    #[test]
    fn a_summit_is_found_between_frames() {
        let values: Vec<f32> = (0..9).map(|f| -(f as f32 - 4.25) * (f as f32 - 4.25)).collect();
        assert!((summit(&values, 0..9) - 4.25).abs() < 1e-4);
    }

    #[test]
    fn likeness_is_one_for_the_same_and_minus_one_for_the_opposite() {
        let line = (0..9).map(|i| i as f32);
        assert!((correlation(line.clone().map(|x| (x, 2.0 * x + 1.0))) - 1.0).abs() < 1e-4);
        assert!((correlation(line.map(|x| (x, -x))) + 1.0).abs() < 1e-4);
    }
}
