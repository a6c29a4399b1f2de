//! Strokes: single sweeps of a hand or foot, from slow through fast to slow. Strikes, blocks, steps and returns are made of them.

use kumite_motion::{Role, Vec3};

use super::Signals;

/// A stroke reaches at least this speed relative to the pelvis, metres per second.
const FASTEST: f32 = 1.2;
/// A stroke begins and ends where its speed falls below this share of its greatest.
const SLOW: f32 = 0.4;
/// A hand or foot stays while it is within these metres of the stroke's end, and for these seconds at most.
const STAYS: (f32, f32) = (0.10, 1.0);

/// The apex is looked for this long before and after the greatest speed, seconds; longer after it for feet.
const APEX: (f32, f32) = (0.05, 0.2);
const APEX_OF_FOOT: f32 = 0.35;

/// One sweep of one hand or foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Wrist or ankle.
    pub part: Role,
    /// First frame, frame of the greatest speed, last frame.
    pub frames: (usize, usize, usize),
    /// Greatest speed relative to the pelvis, metres per second.
    pub speed: f32,
    /// Unit direction of the greatest velocity in the body's frame: x left, y up, z forward.
    pub heading: Vec3,
    /// Where the part ends relative to the shoulder or hip, in arm or leg lengths: x left, y up, z forward.
    pub end: Vec3,
    /// Where it starts, in the same frame and unit.
    pub start: Vec3,
    /// Height of the part above the floor at the end, leg lengths.
    pub height: f32,
    /// Greatest height on the way, leg lengths.
    pub highest: f32,
    /// Path length, metres.
    pub length: f32,
    /// How straight the path is: distance between its ends over its length, 0 to 1.
    pub straight: f32,
    /// How long the part stays near the end, seconds.
    pub stays: f32,
    /// Where the part ends relative to the pelvis, metres: x left, y up, z forward.
    pub place: Vec3,
    /// The frame around the greatest speed in which the part is farthest from its shoulder or hip.
    pub apex: usize,
    /// How far that is, arm or leg lengths.
    pub reach: f32,
    /// How much of that it gained since the stroke became fast.
    pub gained: f32,
    /// Cosine of the angle between the greatest velocity and the line from shoulder or hip to the part at the apex.
    pub radial: f32,
    /// How long the part is near its place at the apex, before and after it, seconds.
    pub dwells: f32,
    /// Height of the part above the floor at the apex, leg lengths.
    pub apex_height: f32,
    /// Where the part is at the apex relative to the shoulder or hip, arm or leg lengths.
    pub apex_at: Vec3,
}

/// The shoulder or hip that a part of a limb belongs to.
pub fn anchor(part: Role) -> Role {
    match part {
        Role::LeftElbow | Role::LeftWrist => Role::LeftShoulder,
        Role::RightElbow | Role::RightWrist => Role::RightShoulder,
        Role::LeftKnee | Role::LeftAnkle => Role::LeftHip,
        _ => Role::RightHip,
    }
}

/// Whether a part belongs to a leg.
pub fn is_leg(part: Role) -> bool {
    matches!(anchor(part), Role::LeftHip | Role::RightHip)
}

/// Whether a part is an ankle.
pub fn is_foot(part: Role) -> bool {
    matches!(part, Role::LeftAnkle | Role::RightAnkle)
}

/// Hands and feet.
pub const PARTS: [Role; 4] = [Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle];

/// Every stroke of a part, in order.
pub fn strokes(signals: &Signals, part: Role) -> Vec<Stroke> {
    let speed: Vec<f32> = (0..signals.frames()).map(|f| signals.own_velocity(f, part).length()).collect();
    let mut found: Vec<Stroke> = Vec::new();
    let reach = signals.frames_in(0.08);
    for peak in 0..speed.len() {
        let around = peak.saturating_sub(reach)..(peak + reach + 1).min(speed.len());
        let top = speed[peak];
        // The first of equals is the peak.
        if top < FASTEST || around.clone().any(|f| speed[f] > top || (speed[f] == top && f < peak)) {
            continue;
        }
        let edge = |frames: &mut dyn Iterator<Item = usize>| {
            let (mut last, mut least) = (peak, top);
            for f in frames {
                if speed[f] < least {
                    (last, least) = (f, speed[f]);
                } else if least < 0.9 * top && speed[f] > 1.3 * least + 0.2 {
                    break;
                }
                if least < SLOW * top && least < 0.5 {
                    break;
                }
            }
            last
        };
        let first = edge(&mut (0..peak).rev());
        let last = edge(&mut (peak + 1..speed.len()));
        found.push(measure(signals, part, (first, peak, last), top));
    }
    found
}

fn measure(signals: &Signals, part: Role, frames: (usize, usize, usize), speed: f32) -> Stroke {
    let (first, peak, last) = frames;
    let yaw = signals.facing(peak);
    let leg_part = is_foot(part);
    let limb = if leg_part { signals.leg } else { signals.arm };
    let from_anchor = |f: usize| Signals::in_body_frame(signals.at(f, part) - signals.at(f, anchor(part)), yaw) / limb;
    let own = |f: usize| signals.at(f, part) - signals.at(f, Role::Pelvis);
    let length: f32 = (first..last).map(|f| (own(f + 1) - own(f)).length()).sum();
    let height = |f: usize| (signals.at(f, part).y - signals.floor) / signals.leg;
    let end = own(last);
    let look = (last + signals.frames_in(STAYS.1)).min(signals.frames());
    let stays = (last..look).take_while(|&f| (own(f) - end).length() < STAYS.0).count();
    let far = |f: usize| (signals.at(f, part) - signals.at(f, anchor(part))).length() / limb;
    let near = signals.frames_in(APEX.0);
    let reaching = if leg_part { APEX_OF_FOOT } else { APEX.1 };
    let until = (peak + signals.frames_in(reaching)).min(signals.frames() - 1);
    let apex =
        (peak.saturating_sub(near)..=until).fold(peak, |best, f| if far(f) > far(best) + 1e-6 { f } else { best });
    let fast = (0..peak).rev().find(|&f| signals.own_velocity(f, part).length() < 0.5 * speed).unwrap_or(0);
    let out = Signals::in_body_frame(signals.at(apex, part) - signals.at(apex, anchor(part)), yaw);
    let heading = Signals::in_body_frame(signals.own_velocity(peak, part), yaw).normalize_or_zero();
    let there = own(apex);
    let around =
        |frames: &mut dyn Iterator<Item = usize>| frames.take_while(|&f| (own(f) - there).length() < STAYS.0).count();
    let dwells = around(&mut (apex + 1..signals.frames())) + around(&mut (0..=apex).rev());
    Stroke {
        apex,
        reach: far(apex),
        gained: far(apex) - far(fast),
        radial: heading.dot(out.normalize_or_zero()),
        dwells: dwells as f32 / signals.fps,
        // A foot comes down while its leg is still straight: its highest counts.
        apex_height: if leg_part { (peak..=until).map(height).fold(0.0, f32::max) } else { height(apex) },
        apex_at: from_anchor(apex),
        part,
        frames,
        speed,
        heading,
        end: from_anchor(last),
        start: from_anchor(first),
        height: height(last),
        highest: (first..=last).map(height).fold(0.0, f32::max),
        length,
        straight: (own(last) - own(first)).length() / length.max(1e-3),
        stays: stays as f32 / signals.fps,
        place: Signals::in_body_frame(own(last), yaw),
    }
}
