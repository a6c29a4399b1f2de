//! An action as a row of numbers, for [`Tree`](super::Tree).

use kumite_motion::{Contacts, Role, Side, Vec3};

use super::Signals;
use super::segment::Piece;
use super::strokes::{Stroke, anchor, is_foot};

/// What is measured of an action. Heights and reaches are in leg or arm lengths, so that people of all sizes compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "`Feature::name` describes them")]
pub enum Feature {
    Hip,
    Rise,
    FootUp,
    Punch,
    Path,
    Pace,
    Drop,
    HeadAway,
    HandAway,
    Held,
    Away,
    Back,
    Net,
    Turn,
    Clear,
    Upwards,
    Outwards,
    Gained,
    Sagittal,
    Lateral,
    Sweep,
    KneeUp,
    Jolt,
    HeadSide,
    HeadBack,
    HeadSpeed,
    Passes,
    Aloft,
}

impl Feature {
    /// Every feature, in the order of the rows.
    pub const ALL: [Feature; 28] = [
        Feature::Hip,
        Feature::Rise,
        Feature::FootUp,
        Feature::Punch,
        Feature::Path,
        Feature::Pace,
        Feature::Drop,
        Feature::HeadAway,
        Feature::HandAway,
        Feature::Held,
        Feature::Away,
        Feature::Back,
        Feature::Net,
        Feature::Turn,
        Feature::Clear,
        Feature::Upwards,
        Feature::Outwards,
        Feature::Gained,
        Feature::Sagittal,
        Feature::Lateral,
        Feature::Sweep,
        Feature::KneeUp,
        Feature::Jolt,
        Feature::HeadSide,
        Feature::HeadBack,
        Feature::HeadSpeed,
        Feature::Passes,
        Feature::Aloft,
    ];

    /// How much it differs between people who do the same thing, in its unit: so near a threshold the answer is a guess.
    pub fn blur(self) -> f32 {
        match self {
            Feature::Hip | Feature::Rise | Feature::Clear | Feature::Gained | Feature::Drop | Feature::HeadBack => 0.1,
            Feature::FootUp | Feature::KneeUp | Feature::Upwards | Feature::Back | Feature::HandAway => 0.15,
            Feature::Net | Feature::HeadAway | Feature::Held => 0.15,
            Feature::Lateral | Feature::Sagittal | Feature::Outwards | Feature::HeadSpeed | Feature::Pace => 0.25,
            Feature::HeadSide | Feature::Away | Feature::Aloft => 0.05,
            Feature::Jolt | Feature::Path => 0.4,
            Feature::Punch | Feature::Passes => 1.0,
            Feature::Turn => 10.0,
            Feature::Sweep => 20.0,
        }
    }

    /// What it is, with its unit, as shown to people.
    pub fn name(self) -> &'static str {
        match self {
            Feature::Hip => "lower of the hip's heights at start and end, legs",
            Feature::Rise => "rise of the hip from start to end, legs",
            Feature::FootUp => "highest a straight leg's ankle gets above the other ankle, legs",
            Feature::Punch => "fastest punch beyond the body's own speed, m/s",
            Feature::Path => "way of the pelvis along the ground, m",
            Feature::Pace => "its mean speed, m/s",
            Feature::Drop => "how far the head sinks, m",
            Feature::HeadAway => "how far the head gets from over the feet, m",
            Feature::HandAway => "how far a hand gets from its place beside the chest, arms",
            Feature::Held => "longest time a hand that moved fast stays where it got, s",
            Feature::Away => "how pose_distance the first pose the body gets, m",
            Feature::Back => "how pose_distance the first the last pose is, as a share of that",
            Feature::Net => "distance of the pelvis from start to end, m",
            Feature::Turn => "turn from start to end, degrees",
            Feature::Clear => "height of the lower ankle in a jump, legs",
            Feature::Upwards => "upward part of the strike's direction",
            Feature::Outwards => "part of the strike's direction to its own side and backwards",
            Feature::Gained => "length the arm gains in the strike, arms",
            Feature::Sagittal => "part of the kicking leg's direction ahead of the pelvis",
            Feature::Lateral => "part of the kick's way, from the bent leg on, that lies across it",
            Feature::Sweep => "angle the raised leg sweeps over the ground, degrees",
            Feature::KneeUp => "highest a bent knee gets, legs",
            Feature::Jolt => "head's acceleration over the hands'",
            Feature::HeadSide => "how far the head goes to a side, m",
            Feature::HeadBack => "how far the head goes back, m",
            Feature::HeadSpeed => "fastest the head moves beside the feet, m/s",
            Feature::Passes => "how often a foot passes the other on the way",
            Feature::Aloft => "share of the time in which no foot stands",
        }
    }
}

/// The numbers of one action, in the order of [`Feature::ALL`].
pub type Row = [f32; Feature::ALL.len()];

/// An action measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// Its numbers.
    pub row: Row,
    /// The punch that the row describes.
    pub punch: Option<Stroke>,
    /// The kick that the row describes.
    pub kick: Option<Stroke>,
    /// Largest displacement of the head relative to the feet: x left, y up, z ahead, metres.
    pub head: Vec3,
    /// The frame of it.
    pub farthest: usize,
    /// Displacement of the pelvis from start to end, in the same axes.
    pub net: Vec3,
    /// Turn from start to end, radians, positive to the left.
    pub turn: f32,
}

impl Measured {
    /// One of its numbers.
    pub fn get(&self, feature: Feature) -> f32 {
        self.row[feature as usize]
    }
}

/// A fist that gets less far from its shoulder than this strikes nothing, arm lengths.
const LEAST_REACH: f32 = 0.6;
/// A hand that moves forward this fast is swung at something, even if the arm does not extend; metres per second.
const SWUNG: f32 = 5.0;
/// A hand that stays longer than this where it arrived was placed there and did not strike; seconds.
const LONGEST_DWELL: f32 = 0.28;
/// A leg counts as straight from this share of its length.
const STRAIGHT_LEG: f32 = 0.75;

/// Whether a stroke is a hand that goes out to something, and neither returns from it nor settles there.
pub fn is_punch(stroke: &Stroke) -> bool {
    let hand = !is_foot(stroke.part);
    let comes_back = stroke.start.length() - stroke.end.length() > 0.2;
    // Along the arm, or sweeping forward as hooks do.
    let out = stroke.radial > 0.3
        || (stroke.heading.z > 0.3 && (stroke.gained > 0.03 || (stroke.speed > SWUNG && !comes_back)));
    hand && out && stroke.reach > LEAST_REACH && stroke.dwells < LONGEST_DWELL
}

fn side_of(role: Role) -> f32 {
    if role.side() == Side::Left { 1.0 } else { -1.0 }
}

/// Measures an action. `strokes` are those of the whole clip.
pub fn measure(signals: &Signals, piece: &Piece, strokes: &[Stroke]) -> Measured {
    let (start, end) = piece.frames;
    let (a, b) = piece.core.unwrap_or(piece.frames);
    let yaw = signals.facing(start);
    let seen = |v: Vec3| Signals::in_body_frame(v, yaw);
    let hip = |f: usize| (signals.at(f, Role::Pelvis).y - signals.floor) / signals.leg;
    let seconds = signals.time(b - a).max(0.1);
    let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
    let path: f32 = (a..b).map(|f| flat(signals.at(f + 1, Role::Pelvis) - signals.at(f, Role::Pelvis)).length()).sum();
    let feet = |f: usize| (signals.at(f, Role::LeftAnkle) + signals.at(f, Role::RightAnkle)) * 0.5;
    let head = |f: usize| seen(signals.at(f, Role::Head) - Vec3::new(feet(f).x, signals.floor, feet(f).z));
    let head_at_start = head(start);
    let farther = |best: usize, f: usize| {
        let away = |f: usize| (head(f) - head_at_start).length();
        if away(f) > away(best) + 1e-6 { f } else { best }
    };
    let farthest = (a..=b).fold(a, farther);
    let away = (a..=b).map(|f| signals.pose_distance(start, f)).fold(0.0, f32::max);
    let hand = |f: usize, role: Role| {
        Signals::in_body_frame(signals.at(f, role) - signals.at(f, Role::Back), signals.facing(f)) / signals.arm
    };
    let hands = [Role::LeftWrist, Role::RightWrist];
    let hand_away =
        hands.iter().flat_map(|&r| (a..=b).map(move |f| (hand(f, r) - hand(start, r)).length())).fold(0.0, f32::max);
    let within: Vec<&Stroke> = strokes.iter().filter(|s| (start..=end).contains(&s.frames.1)).collect();
    let faster = |best: Option<&'_ Stroke>, s: &Stroke| best.is_none_or(|b| s.speed > b.speed);
    let (mut punch, mut kick): (Option<&Stroke>, Option<&Stroke>) = (None, None);
    let mut held = 0.0f32;
    for &stroke in &within {
        let leg = is_foot(stroke.part);
        if is_punch(stroke) && faster(punch, stroke) {
            punch = Some(stroke);
        }
        if !leg && stroke.speed > 1.5 {
            held = held.max(stroke.stays.max(if stroke.radial > 0.3 { stroke.dwells } else { 0.0 }));
        }
        if is_kick(stroke) && faster(kick, stroke) {
            kick = Some(stroke);
        }
    }
    let far = |f: usize, part: Role| (signals.at(f, part) - signals.at(f, anchor(part))).length() / signals.leg;
    let height = |f: usize, role: Role| (signals.at(f, role).y - signals.floor) / signals.leg;
    let (mut foot_up, mut knee_up) = (0.0f32, 0.0f32);
    for f in a..=b {
        let lower = height(f, Role::LeftAnkle).min(height(f, Role::RightAnkle));
        for (ankle, knee) in [(Role::LeftAnkle, Role::LeftKnee), (Role::RightAnkle, Role::RightKnee)] {
            if far(f, ankle) > STRAIGHT_LEG {
                // Who leaps kicks nobody: both feet are up.
                foot_up = foot_up.max(height(f, ankle) - 0.7 * lower);
            } else {
                knee_up = knee_up.max(height(f, knee));
            }
        }
    }
    let top = |roles: &[Role]| {
        let all = roles.iter().flat_map(|&r| (a..=b).map(move |f| signals.acceleration(f, r).length()));
        all.fold(0.0, f32::max)
    };
    let turn = signals.facing(end) - signals.facing(start);
    let net = seen(signals.at(end, Role::Pelvis) - signals.at(start, Role::Pelvis));
    let clear = (a..=b).map(|f| height(f, Role::LeftAnkle).min(height(f, Role::RightAnkle))).fold(0.0, f32::max);
    let pace = path / seconds;
    let sunk = (a..=b).map(|f| head_at_start.y - head(f).y).fold(0.0, f32::max);
    let moved = head(farthest) - head_at_start;
    let mut row = [0.0; Feature::ALL.len()];
    let mut set = |feature: Feature, value: f32| row[feature as usize] = value;
    set(Feature::Hip, hip(start).min(hip(end)));
    set(Feature::Rise, hip(end) - hip(start));
    set(Feature::FootUp, foot_up);
    set(Feature::Path, path);
    set(Feature::Pace, pace);
    set(Feature::Drop, sunk);
    set(Feature::HeadAway, moved.length());
    set(Feature::HandAway, hand_away);
    set(Feature::Held, held);
    set(Feature::Away, away);
    set(Feature::Back, signals.pose_distance(start, end) / away.max(0.02));
    set(Feature::Net, flat(net).length());
    set(Feature::Turn, turn.abs().to_degrees());
    set(Feature::Clear, clear);
    set(Feature::KneeUp, knee_up);
    set(Feature::Jolt, top(&[Role::Head, Role::Neck]) / top(&hands).max(1.0));
    set(Feature::HeadSide, moved.x.abs());
    set(Feature::HeadBack, -moved.z);
    let step = signals.frames_in(1.0 / 30.0);
    let speed = |f: usize| (head((f + step).min(end)) - head(f)).length() * signals.fps / step as f32;
    set(Feature::HeadSpeed, (a..b).map(speed).fold(0.0, f32::max));
    set(Feature::Passes, passes(signals, a, b) as f32);
    let aloft = (a..=b).filter(|&f| signals.planted(f) == Contacts::NONE).count();
    set(Feature::Aloft, aloft as f32 / (b - a + 1) as f32);
    if let Some(punch) = punch {
        describe(signals, punch, &mut row);
    }
    if let Some(kick) = kick {
        describe(signals, kick, &mut row);
    }
    Measured { row, punch: punch.copied(), kick: kick.copied(), head: moved, farthest, net, turn }
}

/// Who goes slower than this, metres per second, over this time, seconds, goes nowhere.
const GOES: (f32, f32) = (0.25, 0.6);
/// A foot is past the other from this distance on, leg lengths.
const PAST: f32 = 0.12;

/// How often a foot passes the other along the way of the pelvis: feet of people who walk do with every step, those of fighters
/// who advance or retreat do not.
fn passes(signals: &Signals, a: usize, b: usize) -> usize {
    let half = signals.frames_in(0.5 * GOES.1);
    let (mut count, mut ahead, mut before) = (0, None, Vec3::ZERO);
    for f in a..=b {
        let (from, to) = (f.saturating_sub(half).max(a), (f + half).min(b));
        let gone = signals.at(to, Role::Pelvis) - signals.at(from, Role::Pelvis);
        let way = Vec3::new(gone.x, 0.0, gone.z);
        if way.length() < GOES.0 * signals.time(to - from) {
            continue;
        }
        // Who sways forth and back passes nothing.
        if way.dot(before) < 0.0 {
            ahead = None;
        }
        before = way;
        let apart = (signals.at(f, Role::LeftAnkle) - signals.at(f, Role::RightAnkle)).dot(way.normalize_or_zero());
        if apart.abs() > PAST * signals.leg {
            let left = apart > 0.0;
            count += usize::from(ahead.is_some_and(|before| before != left));
            ahead = Some(left);
        }
    }
    count
}

/// Writes the numbers of one stroke into the row of its action.
pub fn describe(signals: &Signals, stroke: &Stroke, row: &mut Row) {
    let pace = row[Feature::Pace as usize];
    let mut set = |feature: Feature, value: f32| row[feature as usize] = value;
    if is_foot(stroke.part) {
        let [sagittal, lateral, sweep] = measure_kick(signals, stroke);
        set(Feature::Sagittal, sagittal);
        set(Feature::Lateral, lateral);
        set(Feature::Sweep, sweep);
    } else {
        set(Feature::Punch, stroke.speed - pace);
        set(Feature::Upwards, stroke.heading.y);
        set(Feature::Outwards, (stroke.heading.x * side_of(stroke.part)).max(0.0) - stroke.heading.z);
        set(Feature::Gained, stroke.gained);
    }
}

/// Whether a stroke is a foot that goes up or across, not down.
pub fn is_kick(stroke: &Stroke) -> bool {
    is_foot(stroke.part) && stroke.highest > 0.3 && stroke.heading.y > -0.3
}

/// A kick takes about this long from the bent knee to its greatest speed, and from there to the straight leg, seconds.
const CHAMBER: f32 = 0.4;
const THRUST: f32 = 0.25;
/// A foot above this height is raised, leg lengths.
const RAISED: f32 = 0.8;

/// [`Feature::Sagittal`], [`Feature::Lateral`] and [`Feature::Sweep`] of a kick.
fn measure_kick(signals: &Signals, kick: &Stroke) -> [f32; 3] {
    let (peak, part) = (kick.frames.1, kick.part);
    let leg = |f: usize| signals.at(f, part) - signals.at(f, anchor(part));
    let pick = |from: usize, to: usize, better: &dyn Fn(f32, f32) -> bool| {
        (from..=to).fold(from, |best, f| if better(leg(f).length(), leg(best).length()) { f } else { best })
    };
    let last = (peak + signals.frames_in(THRUST)).min(signals.frames() - 1);
    let apex = pick(peak, last, &|a, b| a > b + 1e-5);
    let bent = pick(apex.saturating_sub(signals.frames_in(CHAMBER)), apex, &|a, b| a < b);
    let level = |v: Vec3| Vec3::new(v.x, 0.0, v.z).normalize_or_zero();
    let across = level(signals.at(apex, Role::LeftHip) - signals.at(apex, Role::RightHip));
    let lead = level(leg(apex));
    let way = (leg(apex) - leg(bent)).normalize_or_zero();
    let lateral = way.dot(lead.cross(Vec3::Y)) * side_of(part);
    // The raised leg's turn about the vertical, added up frame by frame so that it does not wrap.
    let (mut least, mut most, mut angle) = (0.0f32, 0.0f32, 0.0f32);
    let mut before: Option<Vec3> = None;
    let around = signals.frames_in(CHAMBER);
    for f in peak.saturating_sub(around)..=(peak + around).min(signals.frames() - 1) {
        let raised = (signals.at(f, part).y - signals.floor) / signals.leg > RAISED;
        let here = level(leg(f));
        if let Some(last) = before.filter(|_| raised) {
            angle += libm::atan2f(last.cross(here).y, last.dot(here));
            (least, most) = (least.min(angle), most.max(angle));
        }
        before = raised.then_some(here);
    }
    [leg(apex).normalize_or_zero().dot(across.cross(Vec3::Y)), lateral, (most - least).to_degrees()]
}
