//! Figures of one action, measured the same way on keyed and captured motion.

use kumite_motion::anatomy::Anatomy;
use kumite_motion::{Clip, Role, Roles, Vec2, Vec3, mass, sample};

use super::bounds::RATE;
use super::film::Film;

/// How the active phase of an action is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// A strike: around its fastest moment, as long as the hand has at least 0.3 of its peak speed.
    Strike,
    /// A dodge: as long as the head is at least half as far from where it was as it gets.
    Head,
    /// A duck: as long as the head is at least half as far below where it was as it gets.
    Low,
    /// A block: as long as the hand is at least half as far from where it was as it gets, as the chest sees it.
    Hand,
    /// Steps: how long a foot is on its way, on average.
    Swing,
    /// A walk: the mean time from one foot's landing to the next.
    Stride,
}

/// What was measured. Lengths in metres of the default person.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Length of the active phase, seconds.
    pub active_seconds: f32,
    /// Peak speed of the faster hand, metres per second.
    pub hand_speed: f32,
    /// Peak speed of the faster foot, metres per second.
    pub foot_speed: f32,
    /// Farthest distance of a hand from its shoulder, as a share of the arm.
    pub reach: f32,
    /// How far the head gets from where it was, metres.
    pub head_travel: f32,
    /// How far the centre of mass gets from where it was, along the floor, metres.
    pub mass_travel: f32,
}

/// Measures an action.
pub fn figures(clip: &Clip, roles: &Roles, anatomy: &Anatomy, window: Window) -> Option<Figures> {
    let even = sample::resample(clip, 2.0 * RATE).ok()?;
    let film = Film::of(&even, roles, anatomy);
    let rate = 2.0 * RATE;
    let track = |role| film.track(role);
    let hands = [track(Role::LeftWrist)?, track(Role::RightWrist)?];
    let feet = [track(Role::LeftAnkle)?, track(Role::RightAnkle)?];
    let (head, chest) = (track(Role::Head)?, track(Role::Back)?);
    let peak =
        |tracks: &[Vec<Vec3>; 2]| tracks.iter().map(|t| top(&speeds(t, rate)).1).fold(0.0, f32::max) / film.scale;
    let flat = |v: Vec3| Vec2::new(v.x, v.z).length();
    let farthest = |list: &[f32]| top(list).1 / film.scale;
    let masses: Vec<Vec3> = film.worlds.iter().map(|w| mass::centre(film.skeleton, roles, w)).collect();
    let away: Vec<f32> = head.iter().map(|p| (*p - head[0]).length()).collect();
    let reach = [
        [Role::LeftShoulder, Role::LeftElbow, Role::LeftWrist],
        [Role::RightShoulder, Role::RightElbow, Role::RightWrist],
    ];
    let mut stretch = 0.0f32;
    for [shoulder, elbow, wrist] in reach {
        for frame in 0..film.frames() {
            let (s, e, w) = (film.at(frame, shoulder)?, film.at(frame, elbow)?, film.at(frame, wrist)?);
            stretch = stretch.max((w - s).length() / ((e - s).length() + (w - e).length()));
        }
    }
    // As the chest sees them, so that a hand that only rides along does not move.
    let seen: Vec<Vec<Vec3>> =
        hands.iter().map(|hand| hand.iter().zip(&chest).map(|(h, c)| *h - *c).collect()).collect();
    let active_seconds = match window {
        Window::Strike => {
            let each = [0, 1].map(|i| speeds(&seen[i], rate));
            let fast = if top(&each[0]).1 > top(&each[1]).1 { &each[0] } else { &each[1] };
            around(fast, 0.3) as f32 / rate
        }
        Window::Head => around(&away, 0.5) as f32 / rate,
        Window::Low => {
            let below: Vec<f32> = head.iter().map(|p| (head[0].y - p.y).max(0.0)).collect();
            around(&below, 0.5) as f32 / rate
        }
        Window::Hand => {
            let each = [0, 1].map(|i| seen[i].iter().map(|p| (*p - seen[i][0]).length()).collect::<Vec<f32>>());
            let far = if top(&each[0]).1 > top(&each[1]).1 { &each[0] } else { &each[1] };
            around(far, 0.5) as f32 / rate
        }
        Window::Swing => {
            let mut swings = Vec::new();
            for foot in &feet {
                let speeds = speeds(foot, rate);
                let runs = speeds.chunk_by(|a, b| (*a > 0.3 * film.scale) == (*b > 0.3 * film.scale));
                // Shorter ones are heels that rise or feet that turn on the spot.
                swings.extend(runs.filter(|r| r[0] > 0.3 * film.scale && r.len() >= 8).map(<[f32]>::len));
            }
            swings.iter().sum::<usize>() as f32 / swings.len().max(1) as f32 / rate
        }
        Window::Stride => {
            let mut landings = Vec::new();
            for foot in &feet {
                let speeds = speeds(foot, rate);
                let landed = |i: &usize| speeds[i - 1] >= 0.6 * film.scale && speeds[*i] < 0.6 * film.scale;
                landings.extend((1..speeds.len()).filter(landed));
            }
            landings.sort_unstable();
            let steps: Vec<usize> =
                landings.windows(2).map(|w| w[1] - w[0]).filter(|&n| (12..60).contains(&n)).collect();
            steps.iter().sum::<usize>() as f32 / steps.len().max(1) as f32 / rate
        }
    };
    Some(Figures {
        active_seconds,
        hand_speed: peak(&hands),
        foot_speed: peak(&feet),
        reach: stretch,
        head_travel: farthest(&away),
        mass_travel: farthest(&masses.iter().map(|p| flat(*p - masses[0])).collect::<Vec<_>>()),
    })
}

fn speeds(track: &[Vec3], rate: f32) -> Vec<f32> {
    track.windows(3).map(|w| (w[2] - w[0]).length() * 0.5 * rate).collect()
}

fn top(list: &[f32]) -> (usize, f32) {
    super::worst(list.iter().copied()).unwrap_or((0, 0.0))
}

/// How many values in a row around the greatest are at least this share of it.
fn around(list: &[f32], share: f32) -> usize {
    let (at, most) = top(list);
    let enough = |v: &&f32| **v >= share * most;
    list[..at.min(list.len())].iter().rev().take_while(enough).count() + list[at..].iter().take_while(enough).count()
}
