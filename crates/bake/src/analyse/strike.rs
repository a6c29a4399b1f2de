//! Strikes: striking part, time, height, direction, reach, speed, and the mass behind them.

use kumite_motion::mass::SEGMENTS;
use kumite_motion::{Direction, Height, Role, Strike, StrikeKind, Vec3};

use super::Signals;
use super::strokes::{Stroke, anchor};

/// Body mass that striking masses are worked out for, kilograms.
const PERSON: f32 = 75.0;
/// A strike is dangerous while it is faster than this share of its greatest speed, and until it is farthest out.
const DANGEROUS: f32 = 0.5;
/// Cosines from which a strike counts as going up, or to a side.
const UP: f32 = 0.7;
const ACROSS: f32 = 0.5;

/// The height class of a blow that lands `legs` leg lengths above the floor, given where middle and high begin.
pub fn height_of(legs: f32, [middle, high]: [f32; 2]) -> Height {
    if legs > high {
        Height::High
    } else if legs > middle {
        Height::Middle
    } else {
        Height::Low
    }
}

/// Measures a strike. `limits` are where middle and high begin, in legs.
pub fn measure(signals: &Signals, stroke: &Stroke, kind: StrikeKind, limits: [f32; 2]) -> Strike {
    let (peak, part) = (stroke.frames.1, stroke.part);
    let fast = |f: &usize| signals.own_velocity(*f, part).length() > DANGEROUS * stroke.speed;
    let from = (0..=peak).rev().take_while(fast).last().unwrap_or(peak);
    let until = (peak..signals.frames()).take_while(fast).last().unwrap_or(peak).max(stroke.apex);
    let velocity = signals.velocity(peak, part);
    let along = velocity.normalize_or_zero();
    let share: f32 = SEGMENTS
        .iter()
        .filter(|s| carries(part, s.from))
        .map(|s| {
            let end = s.to.unwrap_or(s.from);
            let moves = signals.velocity(peak, s.from).lerp(signals.velocity(peak, end), s.centre);
            s.share * (moves.dot(along) / velocity.length().max(0.1)).clamp(0.0, 1.0)
        })
        .sum();
    let heading = Signals::in_body_frame(velocity, signals.facing(peak)).normalize_or_zero();
    let direction = if heading.y > UP {
        Direction::Upwards
    } else if heading.x > ACROSS {
        Direction::Left
    } else if heading.x < -ACROSS {
        Direction::Right
    } else {
        Direction::Middle
    };
    let out = signals.at(stroke.apex, part) - signals.at(stroke.apex, Role::Pelvis);
    let reach = Vec3::new(out.x, 0.0, out.z).length();
    Strike {
        kind,
        part,
        active: (signals.time(from), signals.time(until)),
        at: signals.time(peak),
        height: height_of(stroke.apex_height, limits),
        direction,
        reach,
        long: reach > signals.arm,
        speed: velocity.length(),
        mass: share * PERSON,
    }
}

/// Whether a segment is part of the striking limb or of the upper trunk, which goes with it.
fn carries(part: Role, segment: Role) -> bool {
    segment == Role::Back
        || match anchor(part) {
            Role::LeftShoulder => matches!(segment, Role::LeftShoulder | Role::LeftElbow | Role::LeftWrist),
            Role::RightShoulder => matches!(segment, Role::RightShoulder | Role::RightElbow | Role::RightWrist),
            Role::LeftHip => matches!(segment, Role::LeftHip | Role::LeftKnee | Role::LeftAnkle),
            _ => matches!(segment, Role::RightHip | Role::RightKnee | Role::RightAnkle),
        }
}
