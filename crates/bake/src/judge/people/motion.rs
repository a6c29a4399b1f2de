//! A clip of the canonical body as curves over time: what the statistics and the judge look at.

use kumite_motion::anatomy::Anatomy;
use kumite_motion::rotation::between;
use kumite_motion::{Clip, Contacts, Pose, Quat, Role, Roles, Vec2, Vec3, WorldPose, fk, mass, sample, support};

use crate::judge::posed::PosedClip;

/// Frames per second of all curves.
pub(super) const RATE: f32 = 60.0;
/// Above this the path of the centre of mass is noise of markers, hertz.
const MASS_HERTZ: f32 = 6.0;
/// The same of single joints, which strike.
const JOINT_HERTZ: f32 = 12.0;
/// Half the time over which the turning of joints is measured, frames: shorter times show markers that tremble.
const ACTIVITY_FRAMES: usize = 3;
/// Metres per second squared.
const GRAVITY: f32 = 9.81;
/// A body that nearly falls freely presses on the floor with less than this share of its weight: it has no zero-moment point.
const PRESSES: f32 = 0.2;

/// A heel or a ball this much higher than a standing one's still touches the floor, metres ...
const HEEL_RISES: f32 = 0.04;
const BALL_RISES: f32 = 0.03;
/// ... unless it is faster than this, metres per second: it swings.
const DRAGS: f32 = 1.5;
/// Captures know their floor to this, metres.
const FLOOR_OFF: f32 = 0.05;

/// Which way a part faces, degrees: turned to the left, leaning forward, tilted to the right (its left side up).
pub(super) struct Facing {
    pub(super) turn: Vec<f32>,
    pub(super) lean: Vec<f32>,
    pub(super) tilt: Vec<f32>,
}

impl Facing {
    fn of(rotations: impl Iterator<Item = Quat>) -> Facing {
        let mut facing = Facing { turn: Vec::new(), lean: Vec::new(), tilt: Vec::new() };
        for q in rotations {
            let (ahead, left) = (q * Vec3::Z, q * Vec3::X);
            let turn = libm::atan2f(ahead.x, ahead.z).to_degrees();
            // Without jumps of a whole turn.
            let turn = facing.turn.last().map_or(turn, |last| last + wrap_degrees(turn - last));
            facing.turn.push(turn);
            facing.lean.push(libm::asinf((-ahead.y).clamp(-1.0, 1.0)).to_degrees());
            facing.tilt.push(libm::asinf(left.y.clamp(-1.0, 1.0)).to_degrees());
        }
        for track in [&mut facing.turn, &mut facing.lean, &mut facing.tilt] {
            *track = smooth(track, JOINT_HERTZ);
        }
        facing
    }
}

fn wrap_degrees(angle: f32) -> f32 {
    angle - 360.0 * libm::roundf(angle / 360.0)
}

/// Curves of a clip. Pairs are left and right; lengths in metres, angles in degrees.
pub(super) struct Motion {
    pub(super) frames: usize,
    pub(super) pelvis: Facing,
    /// As the pelvis sees it.
    pub(super) chest: Facing,
    /// As the chest sees it.
    pub(super) head: Facing,
    pub(super) chest_in_world: Facing,
    pub(super) head_in_world: Facing,
    /// Of the line from the pelvis to the neck to the vertical.
    pub(super) trunk: Vec<f32>,
    /// Between neck and head, each from its parent: 0 where they turn as one.
    pub(super) neck_and_head: Vec<f32>,
    /// Flexion, 0 for a straight leg.
    pub(super) knees: [Vec<f32>; 2],
    /// Flexion, 0 for a straight arm.
    pub(super) elbows: [Vec<f32>; 2],
    pub(super) clavicles: [Vec<Quat>; 2],
    /// Toes up.
    pub(super) foot_pitch: [Vec<f32>; 2],
    pub(super) pelvis_at: Vec<Vec3>,
    pub(super) head_at: Vec<Vec3>,
    pub(super) chest_at: Vec<Vec3>,
    pub(super) hands: [Vec<Vec3>; 2],
    pub(super) shoulders: [Vec<Vec3>; 2],
    pub(super) feet: [Vec<Vec3>; 2],
    pub(super) balls: [Vec<Vec3>; 2],
    pub(super) hand_speed: [Vec<f32>; 2],
    pub(super) foot_speed: [Vec<f32>; 2],
    pub(super) head_speed: Vec<f32>,
    pub(super) mass_velocity: Vec<Vec3>,
    pub(super) mass_acceleration: Vec<Vec3>,
    /// Mean speed of all joints, degrees per second.
    pub(super) activity: Vec<f32>,
    pub(super) contacts: Vec<Contacts>,
    /// How far the zero-moment point is outside the soles, metres, negative inside; none where nothing is planted.
    pub(super) outside: Vec<Option<f32>>,
}

impl Motion {
    /// `None` if the clip is too short to be looked at.
    pub(super) fn of(clip: &Clip) -> Option<Motion> {
        let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(clip.skeleton()));
        let even = sample::resample(clip, RATE).ok().filter(|even| even.frames() >= 2 * ACTIVITY_FRAMES + 2)?;
        let contacts = if even.contacts.len() == even.frames() {
            even.contacts.clone()
        } else {
            crate::contacts::detect(&even, &roles, &anatomy)
        };
        let posed = PosedClip::of(&even, &roles, &anatomy);
        let frames = posed.frames();
        let rotation = |frame: usize, role: Role| posed.worlds[frame].rotation(role.joint());
        let relative = |role: Role, from: Role| (0..frames).map(move |f| (from, role, f));
        let seen = |(from, role, f): (Role, Role, usize)| rotation(f, from).conjugate() * rotation(f, role);
        let track = |role: Role| Some(smooth_path(&posed.track(role)?, JOINT_HERTZ));
        let pair = |left: Role, right: Role| Some([track(left)?, track(right)?]);
        let speed = |path: &[Vec3]| velocity(path).iter().map(|v| v.length()).collect::<Vec<f32>>();
        let speeds = |paths: &[Vec<Vec3>; 2]| [speed(&paths[0]), speed(&paths[1])];

        let masses: Vec<Vec3> = posed.worlds.iter().map(|w| mass::centre(posed.skeleton, &roles, w)).collect();
        let masses = smooth_path(&masses, MASS_HERTZ);
        let mass_velocity = velocity(&masses);
        let mass_acceleration = velocity(&mass_velocity);
        let down = soles_down(&posed, &contacts)?;
        let outside = (0..frames)
            .map(|f| {
                let push = mass_acceleration[f];
                let presses = GRAVITY + push.y;
                if contacts[f] == Contacts::NONE || presses < PRESSES * GRAVITY {
                    return None;
                }
                let point = masses[f] - push * ((masses[f].y - anatomy.floor) / presses);
                let soles = support::sole_points(posed.skeleton, &roles, &posed.worlds[f], down[f]);
                Some(-support::margin(&support::hull(&soles), Vec2::new(point.x, point.z)))
            })
            .collect();

        let bend = |top: &[Vec3], hinge: &[Vec3], end: &[Vec3]| -> Vec<f32> {
            (0..frames).map(|f| angle(hinge[f] - top[f], end[f] - hinge[f])).collect()
        };
        let hips = pair(Role::LeftHip, Role::RightHip)?;
        let knees = pair(Role::LeftKnee, Role::RightKnee)?;
        let feet = pair(Role::LeftAnkle, Role::RightAnkle)?;
        let balls = pair(Role::LeftToe, Role::RightToe)?;
        let hands = pair(Role::LeftWrist, Role::RightWrist)?;
        let elbows = pair(Role::LeftElbow, Role::RightElbow)?;
        let shoulders = pair(Role::LeftShoulder, Role::RightShoulder)?;
        let (pelvis_at, neck_at, head_at) = (track(Role::Pelvis)?, track(Role::Neck)?, track(Role::Head)?);
        // At rest the line from ankle to ball slopes down: that is a flat foot.
        let mut rest = WorldPose::default();
        fk::pose(posed.skeleton, &Pose::rest(posed.skeleton), &mut rest);
        let flat = pitch(rest.position(Role::LeftToe.joint()) - rest.position(Role::LeftAnkle.joint()));
        let foot_pitch = [0, 1].map(|side| {
            smooth(&(0..frames).map(|f| pitch(balls[side][f] - feet[side][f]) - flat).collect::<Vec<_>>(), JOINT_HERTZ)
        });
        Some(Motion {
            frames,
            pelvis: Facing::of((0..frames).map(|f| rotation(f, Role::Pelvis))),
            chest: Facing::of(relative(Role::Back, Role::Pelvis).map(seen)),
            head: Facing::of(relative(Role::Head, Role::Back).map(seen)),
            chest_in_world: Facing::of((0..frames).map(|f| rotation(f, Role::Back))),
            head_in_world: Facing::of((0..frames).map(|f| rotation(f, Role::Head))),
            trunk: (0..frames).map(|f| angle(neck_at[f] - pelvis_at[f], Vec3::Y)).collect(),
            neck_and_head: (0..frames)
                .map(|f| {
                    let local = |role| posed.local(f, role).unwrap_or(Quat::IDENTITY);
                    between(local(Role::Neck), local(Role::Head)).to_degrees()
                })
                .collect(),
            knees: [0, 1].map(|side| bend(&hips[side], &knees[side], &feet[side])),
            elbows: [0, 1].map(|side| bend(&shoulders[side], &elbows[side], &hands[side])),
            clavicles: [Role::LeftClavicle, Role::RightClavicle]
                .map(|role| (0..frames).map(|f| posed.local(f, role).unwrap_or(Quat::IDENTITY)).collect()),
            foot_pitch,
            hand_speed: speeds(&hands),
            foot_speed: speeds(&feet),
            head_speed: speed(&head_at),
            chest_at: track(Role::Back)?,
            shoulders,
            pelvis_at,
            head_at,
            hands,
            feet,
            balls,
            mass_velocity,
            mass_acceleration,
            activity: activity(&posed),
            contacts,
            outside,
        })
    }
}

/// Which parts of the soles can carry weight: those that are planted, and those so low and slow that they touch the floor, since feet that drag and
/// turn carry too.
fn soles_down(posed: &PosedClip, planted: &[Contacts]) -> Option<Vec<Contacts>> {
    let mut rest = WorldPose::default();
    fk::pose(posed.skeleton, &Pose::rest(posed.skeleton), &mut rest);
    let mut down = planted.to_vec();
    for (role, rises, part) in [
        (Role::LeftAnkle, HEEL_RISES, Contacts::LEFT_HEEL),
        (Role::LeftToe, BALL_RISES, Contacts::LEFT_TOE),
        (Role::RightAnkle, HEEL_RISES, Contacts::RIGHT_HEEL),
        (Role::RightToe, BALL_RISES, Contacts::RIGHT_TOE),
    ] {
        let path = smooth_path(&posed.track(role)?, JOINT_HERTZ);
        let mut heights: Vec<f32> = path.iter().map(|p| p.y).collect();
        heights.sort_by(f32::total_cmp);
        // Some figures stand higher than their floor, and feet on mats lower.
        let level = rest.position(role.joint()).y;
        let level = heights[heights.len() / 10].clamp(level - FLOOR_OFF, level + FLOOR_OFF);
        for (f, speed) in velocity(&path).iter().enumerate() {
            if path[f].y < level + rises && speed.length() < DRAGS {
                down[f] = down[f].with(part);
            }
        }
    }
    Some(down)
}

/// Degrees.
fn angle(a: Vec3, b: Vec3) -> f32 {
    libm::atan2f(a.cross(b).length(), a.dot(b)).to_degrees()
}

fn pitch(line: Vec3) -> f32 {
    libm::atan2f(line.y, libm::hypotf(line.x, line.z)).to_degrees()
}

fn activity(posed: &PosedClip) -> Vec<f32> {
    let last = posed.frames() - 1;
    let turns = |role: Role, a: usize, b: usize| match role.parent() {
        Some(_) => Some(between(posed.local(a, role)?, posed.local(b, role)?)),
        None => Some(between(posed.worlds[a].rotation(role.joint()), posed.worlds[b].rotation(role.joint()))),
    };
    (0..=last)
        .map(|f| {
            let (a, b) = (f.saturating_sub(ACTIVITY_FRAMES), (f + ACTIVITY_FRAMES).min(last));
            let sum: f32 = Role::ALL.iter().filter_map(|&role| turns(role, a, b)).sum();
            (sum / Role::ALL.len() as f32).to_degrees() * RATE / (b - a) as f32
        })
        .collect()
}

/// Per second, by central differences.
pub(super) fn rate(values: &[f32]) -> Vec<f32> {
    let last = values.len().saturating_sub(1);
    (0..values.len())
        .map(|f| {
            let (a, b) = (f.saturating_sub(1), (f + 1).min(last));
            (values[b] - values[a]) * RATE / (b - a).max(1) as f32
        })
        .collect()
}

fn velocity(path: &[Vec3]) -> Vec<Vec3> {
    let axes = [0, 1, 2].map(|i| rate(&path.iter().map(|p| p[i]).collect::<Vec<_>>()));
    (0..path.len()).map(|f| Vec3::new(axes[0][f], axes[1][f], axes[2][f])).collect()
}

pub(super) fn smooth_path(path: &[Vec3], hertz: f32) -> Vec<Vec3> {
    let axes = [0, 1, 2].map(|i| smooth(&path.iter().map(|p| p[i]).collect::<Vec<_>>(), hertz));
    (0..path.len()).map(|f| Vec3::new(axes[0][f], axes[1][f], axes[2][f])).collect()
}

/// A Butterworth filter of the second order, forwards and back, so that nothing is delayed. The ends are continued by their mirror images.
pub(super) fn smooth(values: &[f32], hertz: f32) -> Vec<f32> {
    let pad = 12.min(values.len().saturating_sub(2));
    let [Some(&first), Some(&last)] = [values.first(), values.last()] else { return Vec::new() };
    let before = (1..=pad).rev().map(|i| 2.0 * first - values[i]);
    let after = (1..=pad).map(|i| 2.0 * last - values[values.len() - 1 - i]);
    let mut all: Vec<f64> = before.chain(values.iter().copied()).chain(after).map(f64::from).collect();
    for _ in 0..2 {
        low_pass(&mut all, f64::from(hertz));
        all.reverse();
    }
    all[pad..pad + values.len()].iter().map(|v| *v as f32).collect()
}

fn low_pass(values: &mut [f64], hertz: f64) {
    let k = libm::tan(std::f64::consts::PI * hertz / f64::from(RATE));
    let (root, whole) = (std::f64::consts::SQRT_2 * k, 1.0 + std::f64::consts::SQRT_2 * k + k * k);
    let (b, a1, a2) = (k * k / whole, 2.0 * (k * k - 1.0) / whole, (1.0 - root + k * k) / whole);
    let Some(&first) = values.first() else { return };
    // At rest at the first value.
    let (mut p, mut q) = (first * (1.0 - b), first * (b - a2));
    for value in values {
        let x = *value;
        let y = b * x + p;
        p = 2.0 * b * x - a1 * y + q;
        q = b * x - a2 * y;
        *value = y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smoothing_keeps_what_is_slow_and_takes_what_is_fast() {
        let wave = |hertz: f32| -> Vec<f32> {
            (0..120).map(|f| libm::sinf(std::f32::consts::TAU * hertz * f as f32 / RATE)).collect()
        };
        let most = |values: &[f32]| values[30..90].iter().fold(0.0f32, |m, v| m.max(v.abs()));
        assert!((most(&smooth(&wave(1.0), 6.0)) - 1.0).abs() < 0.02);
        // Twice the corner frequency, forwards and back: 1 / (1 + 2^4).
        assert!((most(&smooth(&wave(12.0), 6.0)) - 0.04).abs() < 0.025);
        let line: Vec<f32> = (0..40).map(|f| 0.1 * f as f32).collect();
        assert!(smooth(&line, 6.0).iter().zip(&line).all(|(a, b)| (a - b).abs() < 1e-3));
    }
}
