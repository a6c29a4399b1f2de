//! Whether a motion could be a person's: joints within their ranges, feet that stand where they are planted, limbs beside
//! and not inside each other, weight over the feet when nothing moves, free fall in the air, speeds people reach.
//!
//! It judges any clip, keyed or captured, by the same numbers, which were measured on captures (see [`bounds`]). It says what
//! was measured, what is allowed and in which frame, whether or not it passes, so that a person can look there.

pub mod bounds;
mod measure;
pub mod people;
mod posed;
mod solid;

use std::fmt;

use kumite_motion::anatomy::Anatomy;
use kumite_motion::limits::Limit;
use kumite_motion::{Clip, Contacts, Role, Roles, Vec2, Vec3, mass, sample, support};

pub use measure::{Act, ActionFigures, figures};
use posed::PosedClip;
pub use solid::{Solid, solids};

/// What was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum What {
    /// A joint beyond its range, degrees.
    JointLimit,
    /// A planted foot that moves along the floor, metres per second.
    FootSlide,
    /// All planted feet on average, metres per second.
    MeanFootSlide,
    /// A sole below the floor, metres.
    Sunk,
    /// A part of the body below the floor, metres.
    UnderFloor,
    /// Two parts of the body in the same place, metres.
    Penetration,
    /// The centre of mass outside the soles while nothing moves, metres.
    Balance,
    /// An acceleration in the air that is not gravity's, metres per second squared.
    FreeFall,
    /// A hand, metres per second.
    HandSpeed,
    /// A foot, metres per second.
    FootSpeed,
    /// The pelvis, metres per second.
    BodySpeed,
    /// The pelvis, metres per second squared.
    BodyAcceleration,
    /// The centre of mass falls faster than things fall, metres per second squared more.
    Drop,
    /// The centre of mass is pushed along the floor, metres per second squared.
    Push,
    /// A joint, degrees per second.
    JointSpeed,
    /// A joint, degrees per second squared.
    JointAcceleration,
    /// A hand's path, metres per second cubed.
    HandJerk,
}

impl What {
    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            What::JointLimit => "joint beyond its range, degrees",
            What::FootSlide => "planted foot slides, m/s",
            What::MeanFootSlide => "planted feet slide on average, m/s",
            What::Sunk => "sole below the floor, m",
            What::UnderFloor => "below the floor, m",
            What::Penetration => "body inside itself, m",
            What::Balance => "off balance while still, m",
            What::FreeFall => "not gravity in the air, m/s2",
            What::HandSpeed => "hand speed, m/s",
            What::FootSpeed => "foot speed, m/s",
            What::BodySpeed => "body speed, m/s",
            What::BodyAcceleration => "body acceleration, m/s2",
            What::Drop => "falls faster than gravity by, m/s2",
            What::Push => "pushed along the floor, m/s2",
            What::JointSpeed => "joint speed, degrees/s",
            What::JointAcceleration => "joint acceleration, degrees/s2",
            What::HandJerk => "hand jerk, m/s3",
        }
    }
}

/// The worst of one kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Finding {
    /// Of which kind.
    pub what: What,
    /// Which part of the body.
    pub part: Option<Role>,
    /// The worst there is.
    pub measured: f32,
    /// The most there may be.
    pub allowed: f32,
    /// Where it is, in the clip's frames.
    pub frame: usize,
    /// Whether it may be.
    pub ok: bool,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part = self.part.map_or("body", Role::name);
        let (name, measured, allowed) = (self.what.name(), self.measured, self.allowed);
        write!(f, "{name}: {measured:.3} of {allowed:.3}, {part}, frame {}", self.frame)
    }
}

/// All that was found about a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// One per kind and part, bad or good. Kinds that do not apply (free fall in a clip without a jump) are left out.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Whether nothing was found that no person does.
    pub fn passes(&self) -> bool {
        self.findings.iter().all(|f| f.ok)
    }

    /// The findings beyond their bounds.
    pub fn faults(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|f| !f.ok)
    }

    /// The finding of a kind that comes nearest to its bound, or goes farthest beyond.
    pub fn worst(&self, what: What) -> Option<&Finding> {
        let share = |f: &Finding| f.measured / f.allowed.max(1e-9);
        self.findings.iter().filter(|f| f.what == what).max_by(|a, b| share(a).total_cmp(&share(b)))
    }

    fn add(&mut self, what: What, part: Option<Role>, worst: Option<(usize, f32)>, allowed: f32) {
        if let Some((frame, measured)) = worst {
            self.findings.push(Finding { what, part, measured, allowed, frame, ok: measured <= allowed });
        }
    }
}

/// Judges a clip in metres with +Y up and its floor at [`Anatomy::floor`].
///
/// Contacts are those of the clip; without any they are detected. Parts the skeleton lacks are not judged.
pub fn judge(clip: &Clip, roles: &Roles, anatomy: &Anatomy) -> Verdict {
    let mut verdict = Verdict::default();
    let posed = PosedClip::of(clip, roles, anatomy);
    let found;
    let contacts = if clip.contacts.len() == clip.frames() {
        &clip.contacts
    } else {
        found = crate::contacts::detect(clip, roles, anatomy);
        &found
    };
    joint_limits(&posed, &mut verdict);
    foot_slide(clip, roles, anatomy, contacts, &mut verdict);
    penetration(&posed, &mut verdict);
    balance(&posed, contacts, &mut verdict);
    free_fall(clip, &posed, &mut verdict);
    // Speeds are compared at one rate: a rate of 120 shows noise that one of 30 does not.
    if let Ok(even) = sample::resample(clip, bounds::RATE) {
        let scale = clip.fps() / even.fps();
        let from = verdict.findings.len();
        speeds(&PosedClip::of(&even, roles, anatomy), &mut verdict);
        for finding in &mut verdict.findings[from..] {
            let frame = libm::roundf(finding.frame as f32 * scale) as usize;
            finding.frame = frame.min(clip.frames() - 1);
        }
    }
    verdict
}

/// Whether anything but a sole of a canonical clip is below the floor. Only of motions whose floor is known: captures of people who lie sink into mats
/// that the importer knows nothing of.
pub fn judge_floor(clip: &Clip) -> Verdict {
    let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(clip.skeleton()));
    let posed = PosedClip::of(clip, &roles, &anatomy);
    let mut verdict = Verdict::default();
    for solid in solids().iter().filter(|s| !matches!(s.role, Role::LeftAnkle | Role::RightAnkle)) {
        let under = |frame| solid.placed(&posed, frame).map_or(0.0, |p| p.under(anatomy.floor).max(0.0));
        let under: Vec<f32> = (0..posed.frames()).map(under).collect();
        let worst = worst(sustained(&under, posed.frames_in(bounds::SUSTAINED_TOUCH)));
        verdict.add(What::UnderFloor, Some(solid.role), worst, bounds::UNDER_FLOOR);
    }
    verdict
}

/// The largest value and where it is.
fn worst(values: impl IntoIterator<Item = f32>) -> Option<(usize, f32)> {
    values.into_iter().enumerate().max_by(|a, b| a.1.total_cmp(&b.1))
}

/// What is kept up for some frames: the least of each window. A single frame of a capture may be noise.
fn sustained(values: &[f32], frames: usize) -> Vec<f32> {
    let frames = frames.clamp(1, values.len().max(1));
    values.windows(frames).map(|w| w.iter().copied().fold(f32::INFINITY, f32::min)).collect()
}

fn joint_limits(posed: &PosedClip, verdict: &mut Verdict) {
    for role in Role::ALL {
        let Some(limit) = Limit::of(role) else { continue };
        let excess: Vec<f32> =
            (0..posed.frames()).filter_map(|f| Some(limit.excess(posed.local(f, role)?).to_degrees())).collect();
        if excess.len() == posed.frames() {
            let worst = worst(sustained(&excess, posed.frames_in(bounds::SUSTAINED_LIMIT)));
            verdict.add(What::JointLimit, Some(role), worst, bounds::limit_excess_deg(role));
        }
    }
}

fn foot_slide(clip: &Clip, roles: &Roles, anatomy: &Anatomy, contacts: &[Contacts], verdict: &mut Verdict) {
    let Some(feet) = crate::contacts::soles(clip, roles, anatomy) else { return };
    let parts = [
        (Role::LeftAnkle, 0, 0, Contacts::LEFT_HEEL),
        (Role::LeftToe, 0, 1, Contacts::LEFT_TOE),
        (Role::RightAnkle, 1, 0, Contacts::RIGHT_HEEL),
        (Role::RightToe, 1, 1, Contacts::RIGHT_TOE),
    ];
    // Over a window, so that the noise of a marker, which goes back and forth, does not count as a slide.
    let window = (libm::roundf(bounds::SLIDE_OVER * clip.fps()) as usize).max(1);
    for (role, foot, point, part) in parts {
        let track = &feet[foot].points[point];
        let slides = (0..track.len().saturating_sub(window)).map(|f| {
            if !contacts[f..=f + window].iter().all(|c| c.has(part)) {
                return 0.0;
            }
            let gone = track[f + window] - track[f];
            Vec2::new(gone.x, gone.z).length() * clip.fps() / window as f32
        });
        verdict.add(What::FootSlide, Some(role), worst(slides), bounds::SLIDE);
    }
    for (role, foot, point, _) in parts {
        let below: Vec<f32> = feet[foot].points[point].iter().map(|p| (anatomy.floor - p.y).max(0.0)).collect();
        let frames = (libm::roundf(bounds::SUSTAINED_TOUCH * clip.fps()) as usize).max(1);
        verdict.add(What::Sunk, Some(role), worst(sustained(&below, frames)), bounds::SUNK * anatomy.leg);
    }
    let mean = crate::contacts::slide(clip, roles, anatomy, contacts);
    verdict.add(What::MeanFootSlide, None, mean.map(|m| (0, m)), bounds::MEAN_SLIDE);
}

fn penetration(posed: &PosedClip, verdict: &mut Verdict) {
    let solids = solids();
    let pairs = solid::pairs(&solids);
    let mut depths = vec![Vec::with_capacity(posed.frames()); pairs.len()];
    for frame in 0..posed.frames() {
        let placed: Vec<_> = solids.iter().map(|s| s.placed(posed, frame)).collect();
        for (depths, &(a, b)) in depths.iter_mut().zip(&pairs) {
            let depth = match (&placed[a], &placed[b]) {
                (Some(a), Some(b)) => a.depth(b),
                _ => 0.0,
            };
            depths.push(depth.max(0.0));
        }
    }
    for (depths, &(a, b)) in depths.iter().zip(&pairs) {
        let worst = worst(sustained(depths, posed.frames_in(bounds::SUSTAINED_TOUCH)));
        verdict.add(What::Penetration, Some(solids[a].role), worst, solid::allowed(&solids[a], &solids[b]));
    }
}

fn balance(posed: &PosedClip, contacts: &[Contacts], verdict: &mut Verdict) {
    let parts = [Role::Pelvis, Role::Head, Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle];
    let reach = posed.frames_in(bounds::STILL_FOR);
    let (mut worst, mut any) = ((0, 0.0f32), false);
    for (frame, &planted) in contacts.iter().enumerate() {
        // Whoever lies needs no balance.
        let lies =
            posed.at(frame, Role::Pelvis).is_some_and(|p| p.y - posed.anatomy.floor < bounds::LIES * posed.anatomy.leg);
        if lies || planted == Contacts::NONE || frame < reach || frame + reach >= posed.frames() {
            continue;
        }
        let moved = parts.iter().filter_map(|&r| {
            let here = posed.at(frame, r)?;
            let far = |f: usize| posed.at(f, r).map_or(0.0, |p| (p - here).length());
            Some(far(frame - reach).max(far(frame + reach)).max(far(frame + reach / 2)).max(far(frame - reach / 2)))
        });
        if moved.fold(0.0, f32::max) > bounds::STILL * posed.scale {
            continue;
        }
        let points = support::sole_points(posed.skeleton, posed.roles, &posed.worlds[frame], planted);
        let centre = mass::centre(posed.skeleton, posed.roles, &posed.worlds[frame]);
        let outside = -support::margin(&support::hull(&points), Vec2::new(centre.x, centre.z)) / posed.scale;
        any = true;
        if outside.is_finite() && outside > worst.1 {
            worst = (frame, outside);
        }
    }
    verdict.add(What::Balance, None, any.then_some(worst), bounds::OFF_BALANCE);
}

/// In every flight a parabola is laid through the height of the centre of mass.
fn free_fall(clip: &Clip, posed: &PosedClip, verdict: &mut Verdict) {
    let Some(feet) = crate::contacts::soles(clip, posed.roles, posed.anatomy) else { return };
    let high = |frame: usize| {
        let heights = feet.iter().flat_map(|foot| foot.points.iter().map(|track| track[frame].y));
        heights.fold(f32::INFINITY, f32::min) - posed.anatomy.floor > bounds::FLIGHT_HEIGHT * posed.scale
            && posed.at(frame, Role::Pelvis).is_some_and(|p| p.y - posed.anatomy.floor > 0.9 * posed.anatomy.leg)
    };
    let (mut start, mut worst) = (0, None::<(usize, f32)>);
    for frame in 0..=posed.frames() {
        if frame < posed.frames() && high(frame) {
            continue;
        }
        if (frame - start) as f32 >= bounds::FLIGHT_FOR * clip.fps() {
            let heights: Vec<f32> =
                (start..frame).map(|f| mass::centre(posed.skeleton, posed.roles, &posed.worlds[f]).y).collect();
            let off = (acceleration(&heights, clip.fps()) + 9.81).abs();
            if worst.is_none_or(|w| off > w.1) {
                worst = Some((usize::midpoint(start, frame), off));
            }
        }
        start = frame + 1;
    }
    verdict.add(What::FreeFall, None, worst, bounds::NOT_GRAVITY);
}

/// Second derivative of the parabola nearest to evenly spaced values.
fn acceleration(values: &[f32], fps: f32) -> f32 {
    let n = values.len() as f64;
    let middle = 0.5 * (n - 1.0);
    // Against the second Legendre-like polynomial x² - mean of x², which is square to constants and slopes.
    let spread = (n * n - 1.0) / 12.0;
    let (mut sum, mut weight) = (0.0, 0.0);
    for (i, &value) in values.iter().enumerate() {
        let x = i as f64 - middle;
        let p = x * x - spread;
        sum += p * f64::from(value);
        weight += p * p;
    }
    (2.0 * sum / weight.max(1e-12)) as f32 * fps * fps
}

fn speeds(posed: &PosedClip, verdict: &mut Verdict) {
    let rate = bounds::RATE;
    let masses: Vec<Vec3> = posed.worlds.iter().map(|w| mass::centre(posed.skeleton, posed.roles, w)).collect();
    // Parabolas through a fifth of a second: a floor and two feet do no more in less.
    let accelerations: Vec<Vec3> = masses
        .windows(bounds::PUSH_FRAMES)
        .map(|w| Vec3::from_array([0, 1, 2].map(|i| acceleration(&w.iter().map(|p| p[i]).collect::<Vec<_>>(), rate))))
        .collect();
    verdict.add(What::Drop, None, worst(accelerations.iter().map(|a| (-a.y - 9.81).max(0.0))), bounds::DROP);
    verdict.add(What::Push, None, worst(accelerations.iter().map(|a| Vec2::new(a.x, a.z).length())), bounds::PUSH);
    let tracks = |role: Role| posed.track(role).map(|t| t.iter().map(|p| *p / posed.scale).collect::<Vec<_>>());
    let speed = |t: &[Vec3]| worst(t.windows(2).map(|w| (w[1] - w[0]).length() * rate));
    for (role, what, allowed) in [
        (Role::LeftWrist, What::HandSpeed, bounds::HAND_SPEED),
        (Role::RightWrist, What::HandSpeed, bounds::HAND_SPEED),
        (Role::LeftAnkle, What::FootSpeed, bounds::FOOT_SPEED),
        (Role::RightAnkle, What::FootSpeed, bounds::FOOT_SPEED),
        (Role::Pelvis, What::BodySpeed, bounds::BODY_SPEED),
    ] {
        let Some(track) = tracks(role) else { continue };
        verdict.add(what, Some(role), speed(&track), allowed);
        if what == What::BodySpeed {
            let pushes = track.windows(3).map(|w| (w[2] - w[1] * 2.0 + w[0]).length() * rate * rate);
            verdict.add(What::BodyAcceleration, Some(role), worst(pushes), bounds::BODY_ACCELERATION);
        }
        if what == What::HandSpeed {
            let jerks = track.windows(4).map(|w| (w[3] - w[2] * 3.0 + w[1] * 3.0 - w[0]).length());
            verdict.add(What::HandJerk, Some(role), worst(jerks.map(|j| j * rate * rate * rate)), bounds::HAND_JERK);
        }
    }
    for role in Role::ALL {
        let Some(turns) = posed.turns(role) else { continue };
        let speed = worst(turns.iter().map(|v| v.length().to_degrees() * rate));
        verdict.add(What::JointSpeed, Some(role), speed, bounds::joint_speed_deg(role));
        let change = worst(turns.windows(2).map(|w| (w[1] - w[0]).length().to_degrees() * rate * rate));
        verdict.add(What::JointAcceleration, Some(role), change, bounds::joint_acceleration_deg(role));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thrown_stone_falls_at_g() {
        let heights: Vec<f32> = (0..12).map(|i| i as f32 / 30.0).map(|t| 1.0 + 2.0 * t - 4.905 * t * t).collect();
        assert!((acceleration(&heights, 30.0) + 9.81).abs() < 1e-2);
    }

    #[test]
    fn one_bad_frame_is_not_sustained() {
        assert_eq!(sustained(&[0.0, 9.0, 0.0, 3.0, 4.0], 2), [0.0, 0.0, 0.0, 3.0]);
        assert_eq!(worst([1.0, 5.0, 2.0]), Some((1, 5.0)));
    }
}
