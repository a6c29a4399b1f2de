//! Whether a clip runs at the rate its header says, judged by how bodies fall.

use kumite_motion::anatomy::{self, Anatomy};
use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Role, Roles, Vec3, WorldPose, fk, mass};

use super::Found;

/// Metres per second squared.
const GRAVITY: f32 = 9.81;

/// What was measured at the header's rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Downward accelerations fitted to flights, metres per second squared.
    pub flights: Vec<f32>,
    /// Times feet are off the ground on forward steps of half a leg's length or longer, seconds.
    pub swings: Vec<f32>,
    /// Greatest downward acceleration over 0.15 s that centre of mass and hips share, metres per second squared.
    pub drop: f32,
    /// 99.5th percentile of the faster hand's speed, metres per second.
    pub hand: f32,
}

/// Flights agree if the fastest fall is slower than this many times the slowest.
const AGREE: f32 = 1.6;

/// The true rate: the header's, or half of it.
pub(crate) fn judge(clip: &Clip, roles: &Roles, anatomy: &Anatomy) -> (Found<f32>, Evidence) {
    let evidence = measure(clip, roles, anatomy);
    let fps = clip.fps();
    let half = 0.5 * fps;
    // No studio captures at 15 or 12.5 frames per second.
    if half < 24.0 {
        return (Found::new(fps, 0.8, "the header; half of it would be no capture rate"), evidence);
    }
    // Odds for half the rate against the header's, as a sum of logarithms.
    let mut odds = -1.0;
    let mut why: Vec<String> = Vec::new();
    for &g in &evidence.flights {
        // At half the rate accelerations are a quarter.
        let off = |g: f32| ((g - GRAVITY) / (0.35 * GRAVITY)).clamp(-3.0, 3.0);
        odds += off(g) * off(g) - off(g / 4.0) * off(g / 4.0);
    }
    let mut flights = evidence.flights.clone();
    flights.sort_by(f32::total_cmp);
    if let Some(g) = flights.get(flights.len() / 2) {
        let times = if flights.len() == 1 { String::new() } else { format!(", middle of {}", flights.len()) };
        why.push(format!("free fall at {g:.1} m/s²{times}"));
    }
    if evidence.drop > 1.1 * GRAVITY {
        odds += 10.0 * (evidence.drop / GRAVITY - 1.0);
        why.push(format!("the body drops at {:.1} g", evidence.drop / GRAVITY));
    }
    let mut swings = evidence.swings.clone();
    swings.sort_by(f32::total_cmp);
    if swings.len() >= 3 {
        let middle = swings[swings.len() / 2];
        // Steps take 0.3 to 0.55 s of swing, walking or running.
        let off = |t: f32| (libm::logf(t / 0.40) / 0.30).clamp(-4.0, 4.0);
        odds += off(middle) * off(middle) - off(2.0 * middle) * off(2.0 * middle);
        why.push(format!("feet swing for {middle:.2} s"));
    }
    if evidence.hand > 11.0 {
        odds += 0.5 * (evidence.hand - 11.0) + 1.0;
        why.push(format!("hands reach {:.0} m/s", evidence.hand));
    }
    let value = if odds > 0.0 { half } else { fps };
    // Quick hands alone are no proof, nor is one fall: suits drift, and one flight may be a carried body. Steps, or flights that agree, are.
    let agree = flights.len() >= 2 && flights[flights.len() - 1] < AGREE * flights[0];
    let decisive = if value == fps {
        !flights.is_empty() || swings.len() >= 3
    } else {
        agree || swings.len() >= 3 && flights.iter().all(|g| *g > 2.0 * GRAVITY)
    };
    let confidence = if decisive { 1.0 / (1.0 + libm::expf(-odds.abs())) } else { 0.6 };
    // Where bodies fall at the wrong speed at either rate, something else is wrong.
    let fall = flights.get(flights.len() / 2).map(|g| g * (value / fps) * (value / fps));
    let odd = fall.is_some_and(|g| (g / GRAVITY - 1.0).abs() > 0.35);
    let confidence = if odd { confidence.min(0.6) } else { confidence };
    let why = if why.is_empty() { "the header; nothing in the motion tells".to_owned() } else { why.join(", ") };
    (Found::new(value, confidence, why), evidence)
}

fn measure(clip: &Clip, roles: &Roles, anatomy: &Anatomy) -> Evidence {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let (mut centres, mut low, mut hands): (Vec<Vec3>, Vec<f32>, [Vec<Vec3>; 2]) = Default::default();
    let (mut ankles, mut hips, mut ahead): ([Vec<Vec3>; 2], Vec<Vec3>, Vec<Vec3>) = Default::default();
    for frame in 0..clip.frames() as u32 {
        clip.pose(FrameIdx(frame), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let at = |role: Role| roles.get(role).map_or(Vec3::ZERO, |j| world.position(j));
        centres.push(mass::centre(clip.skeleton(), roles, &world));
        hips.push((at(Role::LeftHip) + at(Role::RightHip)) * 0.5);
        ahead.push(anatomy::facing(anatomy, roles, &world).unwrap_or(Vec3::ZERO));
        low.push(world.positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min) - anatomy.floor);
        for (i, role) in [Role::LeftWrist, Role::RightWrist].into_iter().enumerate() {
            hands[i].push(at(role));
        }
        for (i, role) in [Role::LeftAnkle, Role::RightAnkle].into_iter().enumerate() {
            ankles[i].push(at(role));
        }
    }
    Evidence {
        flights: flights(clip, &centres, &low),
        swings: swings(clip, &ankles, &ahead, anatomy),
        drop: drop(&centres, &hips, clip.fps()),
        hand: hand_speed(&hands, clip.fps()),
    }
}

/// Runs of frames for which a condition holds.
fn runs(frames: usize, holds: impl Fn(usize) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut runs = Vec::new();
    let mut start = None;
    for frame in 0..=frames {
        match (start, frame < frames && holds(frame)) {
            (None, true) => start = Some(frame),
            (Some(from), false) => {
                runs.push(from..frame);
                start = None;
            }
            _ => {}
        }
    }
    runs
}

fn flights(clip: &Clip, centres: &[Vec3], low: &[f32]) -> Vec<f32> {
    let free = |f: usize| clip.contacts.get(f).is_some_and(|c| *c == Contacts::NONE) && low[f] > 0.05;
    let mut found = Vec::new();
    for run in runs(clip.frames(), free) {
        // The first and last eighth still push and already land.
        let trim = run.len() / 8;
        let run = run.start + trim..run.end - trim;
        let seconds = run.len() as f32 / clip.fps();
        if run.len() < 6 || !(0.07..1.2).contains(&seconds) {
            continue;
        }
        let (g, rest) = parabola(&centres[run.clone()], clip.fps());
        let rise = g * seconds * seconds / 8.0;
        // A flight, not a carried body: the parabola explains the height, and it is high enough to be measured.
        if rise > 0.012 && rest < 0.12 * rise {
            found.push(g);
        }
    }
    found
}

/// Least squares: downward acceleration, and the root mean square of what is left over.
fn parabola(centres: &[Vec3], fps: f32) -> (f32, f32) {
    let n = centres.len() as f64;
    let time = |i: usize| (i as f64 - 0.5 * (n - 1.0)) / f64::from(fps);
    let (mut s2, mut s4, mut y0, mut y1, mut y2) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (i, p) in centres.iter().enumerate() {
        let (t, y) = (time(i), f64::from(p.y));
        s2 += t * t;
        s4 += t * t * t * t;
        y0 += y;
        y1 += t * y;
        y2 += t * t * y;
    }
    let determinant = n * s4 - s2 * s2;
    let a = (n * y2 - s2 * y0) / determinant;
    let c = (s4 * y0 - s2 * y2) / determinant;
    let b = y1 / s2;
    let rest: f64 = centres
        .iter()
        .enumerate()
        .map(|(i, p)| {
            let t = time(i);
            let off = f64::from(p.y) - (a * t * t + b * t + c);
            off * off
        })
        .sum();
    ((-2.0 * a) as f32, (rest / n).sqrt() as f32)
}

fn swings(clip: &Clip, ankles: &[Vec<Vec3>; 2], ahead: &[Vec3], anatomy: &Anatomy) -> Vec<f32> {
    let mut found = Vec::new();
    for (track, part) in ankles.iter().zip([Contacts::LEFT, Contacts::RIGHT]) {
        for run in runs(clip.frames(), |f| clip.contacts.get(f).is_some_and(|c| !c.any(part))) {
            if run.start == 0 || run.end == clip.frames() {
                continue;
            }
            let gone = track[run.end] - track[run.start];
            let gone = Vec3::new(gone.x, 0.0, gone.z);
            // Only steps ahead are of a known pace; backwards and sideways people are slow or quick as they like.
            let forward = gone.normalize_or_zero().dot(ahead[(run.start + run.end) / 2]) > 0.7;
            if forward && gone.length() > 0.5 * anatomy.leg {
                found.push(run.len() as f32 / clip.fps());
            }
        }
    }
    found
}

fn drop(centres: &[Vec3], hips: &[Vec3], fps: f32) -> f32 {
    let window = (((0.15 * fps).round() as usize) + 1).max(5);
    let mut greatest = 0.0f32;
    // Both: a kick shakes the modelled centre of mass, a bow the hips.
    for (a, b) in centres.windows(window).zip(hips.windows(window)) {
        greatest = greatest.max(parabola(a, fps).0.min(parabola(b, fps).0));
    }
    greatest
}

fn hand_speed(hands: &[Vec<Vec3>; 2], fps: f32) -> f32 {
    let mut speeds: Vec<f32> =
        hands.iter().flat_map(|track| track.windows(2).map(|w| (w[1] - w[0]).length() * fps)).collect();
    speeds.sort_by(f32::total_cmp);
    speeds.get(speeds.len() * 995 / 1000).copied().unwrap_or(0.0)
}
