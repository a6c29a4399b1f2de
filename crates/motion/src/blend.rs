//! From one motion into another: cross-fades and inertialised joins.

use crate::rotation::{from_vector, slerp, to_vector};
use crate::{JointIdx, Pose, Quat, Vec3};

/// An ease from 0 to 1 with no speed and no acceleration at either end: the minimum-jerk profile of Flash and Hogan 1985.
pub fn ease(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * t * (10.0 - 15.0 * t + 6.0 * t * t)
}

/// The pose `t` of the way from `a` to `b`, joint by joint along the shorter way. Ends are exact.
pub fn cross_fade(a: &Pose, b: &Pose, t: f32, out: &mut Pose) {
    if t <= 0.0 || t >= 1.0 {
        return out.clone_from(if t <= 0.0 { a } else { b });
    }
    out.rotations.clear();
    out.rotations.extend(a.rotations.iter().zip(&b.rotations).map(|(&p, &q)| slerp(p, q, t)));
    out.translations.clear();
    out.translations.extend(a.translations.iter().zip(&b.translations).map(|(p, q)| p.lerp(*q, t)));
}

/// Rates of change of a pose: metres and radians per second, rotations in the parent's frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Velocity {
    /// One per moving joint.
    pub translations: Vec<Vec3>,
    /// One per joint: angular velocity.
    pub rotations: Vec<Vec3>,
}

impl Velocity {
    /// From two poses `seconds` apart.
    pub fn between(a: &Pose, b: &Pose, seconds: f32) -> Velocity {
        let mut velocity = Velocity::default();
        velocity.set(a, b, seconds);
        velocity
    }

    /// [`Velocity::between`] into existing memory.
    pub fn set(&mut self, a: &Pose, b: &Pose, seconds: f32) {
        let rate = 1.0 / seconds.max(1e-6);
        self.translations.clear();
        self.translations.extend(a.translations.iter().zip(&b.translations).map(|(p, q)| (*q - *p) * rate));
        self.rotations.clear();
        let turns = a.rotations.iter().zip(&b.rotations);
        self.rotations.extend(turns.map(|(p, q)| to_vector(*q * p.conjugate()) * rate));
    }
}

/// An inertialised join (Bollo, GDC 2018): the new motion plays at once, and the difference to the old one at the
/// moment of the join, in pose *and* speed, is added to it and fades away.
///
/// Differs from Bollo's: his scalar decay along the axis of the offset loses speed across that axis. Here the offset is a
/// rotation vector and its speed is brought into the same coordinates, so the join is C1 for any pair of motions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inertia {
    seconds: f32,
    translations: Vec<(Vec3, Vec3)>,
    rotations: Vec<(Vec3, Vec3)>,
}

impl Inertia {
    /// A join that leaves `from` at `from_speed` for `to` at `to_speed` and is over after `seconds`.
    pub fn new(from: &Pose, from_speed: &Velocity, to: &Pose, to_speed: &Velocity, seconds: f32) -> Inertia {
        let mut inertia = Inertia::default();
        inertia.set((from, from_speed), (to, to_speed), seconds);
        inertia
    }

    /// [`Inertia::new`] into existing memory.
    pub fn set(&mut self, (from, from_speed): (&Pose, &Velocity), (to, to_speed): (&Pose, &Velocity), seconds: f32) {
        let place = |m: usize| {
            let offset = from.translations[m] - to.translations[m];
            (offset, from_speed.translations[m] - to_speed.translations[m])
        };
        let turn = |j: usize| {
            let difference = from.rotations[j] * to.rotations[j].conjugate();
            let offset = to_vector(difference);
            // The old angular velocity is that of exp(offset) * new: w_old = J(offset) offset' + exp(offset) w_new.
            let extra = from_speed.rotations[j] - difference * to_speed.rotations[j];
            (offset, inverse_left_jacobian(offset, extra))
        };
        self.seconds = seconds;
        self.translations.clear();
        self.translations.extend((0..to.translations.len()).map(place));
        self.rotations.clear();
        self.rotations.extend((0..to.rotations.len()).map(turn));
    }

    /// Empty, with room for a body of so many joints.
    pub fn with_room(joints: usize) -> Inertia {
        Inertia { seconds: 0.0, translations: Vec::with_capacity(1), rotations: Vec::with_capacity(joints) }
    }

    /// How long the join lasts.
    pub fn seconds(&self) -> f32 {
        self.seconds
    }

    /// What it is made of: per moving joint an offset in metres, per joint one as a rotation vector, and how fast each grows at first.
    pub fn offsets(&self) -> [&[(Vec3, Vec3)]; 2] {
        [&self.translations, &self.rotations]
    }

    /// Adds what is left of the offset to the new motion's pose, `since` seconds after the join. After the end the pose stays exactly as it is.
    pub fn apply(&self, since: f32, pose: &mut Pose) {
        if since >= self.seconds {
            return;
        }
        let (keep, drift) = decay(since, self.seconds);
        self.add(keep, drift, pose);
    }

    /// [`Inertia::apply`] for the root and some joints.
    pub fn apply_to(&self, since: f32, joints: impl Iterator<Item = JointIdx>, pose: &mut Pose) {
        if since >= self.seconds {
            return;
        }
        let (keep, drift) = decay(since, self.seconds);
        for (place, (offset, speed)) in pose.translations.iter_mut().zip(&self.translations) {
            *place += *offset * keep + *speed * drift;
        }
        for joint in joints {
            let (offset, speed) = self.rotations[joint.at()];
            let q = &mut pose.rotations[joint.at()];
            *q = (from_vector(offset * keep + speed * drift) * *q).normalize();
        }
    }

    /// Adds `keep` of the offset and `drift` of its speed, seconds, to a pose.
    pub fn add(&self, keep: f32, drift: f32, pose: &mut Pose) {
        for (place, (offset, speed)) in pose.translations.iter_mut().zip(&self.translations) {
            *place += *offset * keep + *speed * drift;
        }
        for (q, (offset, speed)) in pose.rotations.iter_mut().zip(&self.rotations) {
            let turn: Quat = from_vector(*offset * keep + *speed * drift);
            *q = (turn * *q).normalize();
        }
    }
}

/// Weights of an offset and of its speed at time `t` of a decay that takes `whole` seconds: the quintic polynomials that
/// start at (1, 0) and (0, slope 1) with no acceleration, and end at zero with no speed and no acceleration.
pub fn decay(t: f32, whole: f32) -> (f32, f32) {
    let s = (t / whole).clamp(0.0, 1.0);
    let rest = 1.0 - s;
    let cube = rest * rest * rest;
    (cube * (1.0 + 3.0 * s + 6.0 * s * s), whole * s * cube * (1.0 + 3.0 * s))
}

/// How fast the weights of [`decay`] change, per second.
pub fn decay_rate(t: f32, whole: f32) -> (f32, f32) {
    let s = (t / whole).clamp(0.0, 1.0);
    let square = (1.0 - s) * (1.0 - s);
    (-30.0 * s * s * square / whole, square * (1.0 + 2.0 * s - 15.0 * s * s))
}

/// Angular velocity `w` of exp(x) as the rate of change of the rotation vector `x`.
fn inverse_left_jacobian(x: Vec3, w: Vec3) -> Vec3 {
    let angle = x.length();
    let cross = x.cross(w);
    if angle < 1e-3 {
        return w - 0.5 * cross + x.cross(cross) / 12.0;
    }
    let half = 0.5 * angle;
    let factor = (1.0 - half / libm::tanf(half)) / (angle * angle);
    w - 0.5 * cross + factor * x.cross(cross)
}
