//! Strokes: single sweeps of a hand or foot, from slow over fast to slow again. Strikes, blocks, steps and returns are made of them.

use kumite_motion::{Role, Vec3};

use super::Signals;

/// A stroke gets at least this fast; metres per second of a hand or foot relative to the pelvis.
const FASTEST: f32 = 1.2;
/// A sweep begins and ends where the speed is below this share of its fastest.
const SLOW: f32 = 0.4;
/// How near the end of a stroke counts as still there, metres; and for how long it is looked, seconds.
const STAYS: (f32, f32) = (0.10, 1.0);

/// The apex is looked for so long before and after the greatest speed, seconds.
/// Feet take longer.
const APEX: (f32, f32) = (0.05, 0.2);
const APEX_OF_FOOT: f32 = 0.35;

/// One sweep of one hand or foot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stroke {
    /// Wrist or ankle.
    pub part: Role,
    /// First frame, frame of the greatest speed, last frame.
    pub frames: (usize, usize, usize),
    /// Greatest speed beside the pelvis, metres per second.
    pub speed: f32,
    /// Its direction in the body's own frame: x left, y up, z forward; unit length.
    pub heading: Vec3,
    /// Where the part is seen from the shoulder or hip at the end, in lengths of the arm or leg: x left, y up, z forward.
    pub end: Vec3,
    /// Where it is seen from there at the start.
    pub start: Vec3,
    /// Height of the part above the floor at the end, in lengths of the leg.
    pub height: f32,
    /// Highest on the way, in lengths of the leg.
    pub highest: f32,
    /// Path length, metres.
    pub length: f32,
    /// How straight the path is: distance between its ends over its length, 0 to 1.
    pub straight: f32,
    /// How long the part stays near the end, seconds.
    pub stays: f32,
    /// Where the part is at the end seen from the pelvis, metres: x left, y up, z forward.
    pub place: Vec3,
    /// The frame where the part is farthest from the shoulder or hip, about the fastest one.
    pub apex: usize,
    /// How far that is, in lengths of the arm or leg.
    pub reach: f32,
    /// How much of that was gained since the stroke became fast.
    pub gained: f32,
    /// Cosine of the angle between the greatest velocity and the line from shoulder or hip to the part at the apex.
    pub radial: f32,
    /// How long the part stays near where it is at the apex, seconds.
    pub dwells: f32,
    /// Height of the part at the apex above the floor, in lengths of the leg.
    pub apex_height: f32,
    /// Where the part is at the apex seen from the shoulder or hip, in lengths of the arm or leg.
    pub apex_at: Vec3,
}

/// What the part hangs on.
pub fn anchor(part: Role) -> Role {
    match part {
        Role::LeftWrist => Role::LeftShoulder,
        Role::RightWrist => Role::RightShoulder,
        Role::LeftAnkle => Role::LeftHip,
        _ => Role::RightHip,
    }
}

/// Whether a part is a foot's.
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
    let from_anchor = |f: usize| Signals::seen_from(signals.at(f, part) - signals.at(f, anchor(part)), yaw) / limb;
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
    let out = Signals::seen_from(signals.at(apex, part) - signals.at(apex, anchor(part)), yaw);
    let heading = Signals::seen_from(signals.own_velocity(peak, part), yaw).normalize_or_zero();
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
        // Feet come down while the leg is still straight.
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
        place: Signals::seen_from(own(last), yaw),
    }
}
