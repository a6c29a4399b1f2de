//! The classifier by joint-angle ranges (Duits, § 3.1.1 and tables 2-3): how far each joint turns in an action, at whatever speed, compared
//! with the examples of each class. The method is his; his numbers are for one set of captures, so ours are fitted.

use std::collections::BTreeMap;

use kumite_motion::{Role, Vec3};

use super::Signals;
use super::class::Class;
use super::segment::Piece;

/// Number of ranges of an action.
pub const RANGES: usize = 19;

/// Ranges of an action, degrees and metres. The first arm and the first leg are those that move more, not the left ones: examples of one side then
/// serve for both, and sides are told apart elsewhere.
pub type Ranges = [f32; RANGES];

/// Names of the ranges, as shown to people.
pub const NAMES: [&str; RANGES] = [
    "root ahead, m",
    "root aside, m",
    "root turn",
    "root height, m",
    "trunk lean",
    "trunk turn",
    "first arm up",
    "first arm about",
    "first elbow",
    "second arm up",
    "second arm about",
    "second elbow",
    "first leg up",
    "first leg about",
    "first knee",
    "second leg up",
    "second leg about",
    "second knee",
    "root path, m",
];

fn spread(values: impl Iterator<Item = f32>) -> f32 {
    let (low, high) = values.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    (high - low).max(0.0)
}

/// Angles without jumps of whole turns.
fn unwrapped(angles: impl Iterator<Item = f32>) -> Vec<f32> {
    let mut out: Vec<f32> = Vec::new();
    for angle in angles {
        let last = out.last().copied().unwrap_or(angle);
        out.push(last + kumite_motion::rotation::wrap(angle - last));
    }
    out
}

fn flexion(signals: &Signals, f: usize, a: Role, b: Role, c: Role) -> f32 {
    let (u, v) = (signals.at(f, a) - signals.at(f, b), signals.at(f, c) - signals.at(f, b));
    libm::acosf(u.normalize_or_zero().dot(v.normalize_or_zero()).clamp(-1.0, 1.0)).to_degrees()
}

/// How far each joint turns in an action.
pub fn ranges(signals: &Signals, piece: &Piece) -> Ranges {
    let (a, b) = piece.core.unwrap_or(piece.frames);
    let yaw = signals.facing(piece.frames.0);
    let frames = || a..=b;
    let root = |f: usize| Signals::in_body_frame(signals.at(f, Role::Pelvis) - signals.at(a, Role::Pelvis), yaw);
    let trunk = |f: usize| (signals.at(f, Role::Neck) - signals.at(f, Role::Pelvis)).normalize_or_zero();
    let heading = |f: usize, left: Role, right: Role| {
        let across = signals.at(f, left) - signals.at(f, right);
        libm::atan2f(-across.z, across.x)
    };
    let twist = unwrapped(
        frames()
            .map(|f| heading(f, Role::LeftShoulder, Role::RightShoulder) - heading(f, Role::LeftHip, Role::RightHip)),
    );
    let limb = |[top, middle, end]: [Role; 3]| {
        let out = |f: usize| Signals::in_body_frame(signals.at(f, middle) - signals.at(f, top), signals.facing(f));
        let up = |v: Vec3| libm::asinf(v.normalize_or_zero().y.clamp(-1.0, 1.0)).to_degrees();
        // A vertical limb has no heading: weighted by how level the limb is.
        let about =
            |v: Vec3| libm::atan2f(v.x, v.z).to_degrees() * Vec3::new(v.x, 0.0, v.z).length() / v.length().max(1e-6);
        [
            spread(frames().map(|f| up(out(f)))),
            spread(frames().map(|f| about(out(f)))),
            spread(frames().map(|f| flexion(signals, f, top, middle, end))),
        ]
    };
    let sorted = |mut pair: [[f32; 3]; 2]| {
        // The limb that does more, by all three of its ranges.
        pair.sort_by(|x, y| y.iter().sum::<f32>().total_cmp(&x.iter().sum::<f32>()));
        pair
    };
    let arms = sorted([
        limb([Role::LeftShoulder, Role::LeftElbow, Role::LeftWrist]),
        limb([Role::RightShoulder, Role::RightElbow, Role::RightWrist]),
    ]);
    let legs = sorted([
        limb([Role::LeftHip, Role::LeftKnee, Role::LeftAnkle]),
        limb([Role::RightHip, Role::RightKnee, Role::RightAnkle]),
    ]);
    let path: f32 = (a..b).map(|f| (root(f + 1) - root(f)).length()).sum();
    let [[a0, a1, a2], [b0, b1, b2]] = arms;
    let [[c0, c1, c2], [d0, d1, d2]] = legs;
    [
        spread(frames().map(|f| root(f).z)),
        spread(frames().map(|f| root(f).x)),
        spread(frames().map(|f| signals.facing(f))).to_degrees(),
        spread(frames().map(|f| signals.at(f, Role::Pelvis).y)),
        spread(frames().map(|f| libm::acosf(trunk(f).y.clamp(-1.0, 1.0)).to_degrees())),
        spread(twist.into_iter()).to_degrees(),
        a0,
        a1,
        a2,
        b0,
        b1,
        b2,
        c0,
        c1,
        c2,
        d0,
        d1,
        d2,
        path,
    ]
}

/// For each class, the intervals that its examples' ranges lie in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Intervals {
    /// Least and most of each range, by class.
    classes: BTreeMap<Class, [(f32, f32); RANGES]>,
    /// Spread of each range over all examples: the unit for distances outside an interval.
    widths: [f32; RANGES],
}

/// Intervals are widened by this share of the spread to either side, because no two strikes are alike.
const WIDENED: f32 = 0.2;
/// Cost of an interval e times as wide, relative to lying one whole spread outside.
const WIDE: f32 = 0.05;

impl Intervals {
    /// The intervals that hold the examples of each class.
    pub fn fit(examples: &[(Ranges, Class)]) -> Intervals {
        let mut widths = [0.0; RANGES];
        for (k, width) in widths.iter_mut().enumerate() {
            // Of the middle 80 %, so that one run of nine metres does not make all other examples look alike.
            let mut values: Vec<f32> = examples.iter().map(|e| e.0[k]).collect();
            values.sort_by(f32::total_cmp);
            let at = |share: f32| values.get((share * values.len() as f32) as usize).copied().unwrap_or(0.0);
            *width = (at(0.9) - at(0.1)).max(1e-3);
        }
        let mut classes: BTreeMap<Class, [(f32, f32); RANGES]> = BTreeMap::new();
        for (ranges, class) in examples {
            let held = classes.entry(*class).or_insert([(f32::INFINITY, f32::NEG_INFINITY); RANGES]);
            for ((low, high), value) in held.iter_mut().zip(ranges) {
                (*low, *high) = (low.min(*value), high.max(*value));
            }
        }
        for held in classes.values_mut() {
            for ((low, high), width) in held.iter_mut().zip(&widths) {
                (*low, *high) = (*low - WIDENED * width, *high + WIDENED * width);
            }
        }
        Intervals { classes, widths }
    }

    /// The class whose intervals fit most tightly: ranges outside them cost, and so do wide intervals, which would fit anything.
    pub fn classify(&self, ranges: &Ranges) -> Option<Class> {
        let cost = |held: &[(f32, f32); RANGES]| -> f32 {
            let parts = held.iter().zip(ranges).zip(&self.widths).map(|((&(low, high), &value), width)| {
                let outside = (low - value).max(value - high).max(0.0) / width;
                outside.min(1.0) + WIDE * libm::logf((high - low) / width)
            });
            parts.sum()
        };
        self.classes.iter().min_by(|a, b| cost(a.1).total_cmp(&cost(b.1))).map(|(class, _)| *class)
    }
}
