//! Reading a clip between its frames, and rewriting it at another rate.

use std::sync::Arc;

use crate::rotation::{from_vector, nlerp, to_vector};
use crate::{Clip, ClipError, Contacts, FrameIdx, JointIdx, Pose, Quat, Vec3};

/// More frames than this are a mistake in a rate: a day at 120 frames per second is ten million.
const MOST_FRAMES: f64 = 2e7;

/// The two frames around a moment and how far it is from the first to the second, 0..1. Times outside the clip are held at its ends.
#[inline]
pub fn around(clip: &Clip, seconds: f32) -> (FrameIdx, FrameIdx, f32) {
    let last = clip.frames() - 1;
    let at = (seconds * clip.fps()).clamp(0.0, last as f32);
    let first = (at as usize).min(last);
    (FrameIdx(first as u32), FrameIdx((first + 1).min(last) as u32), at - first as f32)
}

/// The pose at any time, linear between frames. `out` is reused; nothing is allocated once it has grown.
pub fn pose_at(clip: &Clip, seconds: f32, out: &mut Pose) {
    let (a, b, t) = around(clip, seconds);
    clip.pose(a, out);
    if t == 0.0 {
        return;
    }
    let skeleton = clip.skeleton();
    for (joint, q) in skeleton.joints().zip(&mut out.rotations) {
        *q = nlerp(*q, clip.rotation(b, joint), t);
    }
    for (mover, place) in out.translations.iter_mut().enumerate() {
        *place = place.lerp(clip.translation(b, mover), t);
    }
}

/// [`pose_at`] for the root and some joints; the others of `out` stay as they are.
pub fn joints_at(clip: &Clip, seconds: f32, joints: impl Iterator<Item = JointIdx>, out: &mut Pose) {
    let (a, b, t) = around(clip, seconds);
    for joint in joints {
        let q = clip.rotation(a, joint);
        out.rotations[joint.at()] = if t == 0.0 { q } else { nlerp(q, clip.rotation(b, joint), t) };
    }
    out.translations[0] = clip.translation(a, 0).lerp(clip.translation(b, 0), t);
}

/// The rotation of one joint at any time, as [`pose_at`] has it.
pub fn rotation_at(clip: &Clip, seconds: f32, joint: JointIdx) -> Quat {
    let (a, b, t) = around(clip, seconds);
    let q = clip.rotation(a, joint);
    if t == 0.0 { q } else { nlerp(q, clip.rotation(b, joint), t) }
}

/// What is planted at any time: what both neighbouring frames agree on, or the one frame it falls on. [`Contacts::NONE`] if the clip has no contacts.
pub fn contacts_at(clip: &Clip, seconds: f32) -> Contacts {
    let (a, b, t) = around(clip, seconds);
    // Times are floats: a hair beside a frame is on it.
    let (a, b) = if t < 1e-3 {
        (a, a)
    } else if t > 0.999 {
        (b, b)
    } else {
        (a, b)
    };
    let get = |frame: FrameIdx| clip.contacts.get(frame.at()).map_or(0, |c| c.bits());
    Contacts::from_bits(get(a) & get(b))
}

/// The same motion at another rate, from the first frame on; the last frame falls at or before the source's last.
///
/// Cubic between frames, so that raising 30 to 120 frames per second leaves no corners in the velocity. The
/// curve goes through every source frame. A rate within one part in a million of the source's copies the frames.
pub fn resample(clip: &Clip, fps: f32) -> Result<Clip, ClipError> {
    if !(fps.is_finite() && fps > 0.0) {
        return Err(ClipError::BadRate { fps });
    }
    if (fps / clip.fps() - 1.0).abs() < 1e-6 {
        return Ok(clip.clone());
    }
    // The slack keeps the last frame when the ratio is whole but its float is not.
    let frames = f64::from(clip.seconds()) * f64::from(fps) + 1e-3;
    if frames > MOST_FRAMES {
        return Err(ClipError::TooLong { frames });
    }
    let frames = frames as usize + 1;
    let source = |frame: usize| frame as f64 / f64::from(fps);
    let mut window: [Pose; 4] = Default::default();
    let mut loaded = None;
    let mut out = Clip::from_fn(&clip.name, Arc::clone(clip.skeleton()), fps, frames, |frame, pose| {
        let at = source(frame) * f64::from(clip.fps());
        let last = clip.frames() - 1;
        let first = (at as usize).min(last.saturating_sub(1));
        let t = (at - first as f64).clamp(0.0, 1.0) as f32;
        if loaded != Some(first) {
            for (k, pose) in window.iter_mut().enumerate() {
                clip.pose(FrameIdx((first + k).saturating_sub(1).min(last) as u32), pose);
            }
            loaded = Some(first);
        }
        cubic(&window, t, pose);
    })?;
    if !clip.contacts.is_empty() {
        out.contacts = (0..frames).map(|frame| contacts_at(clip, source(frame) as f32)).collect();
    }
    out.spans.clone_from(&clip.spans);
    Ok(out)
}

/// Between the two middle poses: Hermite with the slopes of Catmull and Rom, shortened where a channel turns round
/// (Fritsch and Carlson 1980), so that no channel leaves the range of the two frames it runs between.
fn cubic(window: &[Pose; 4], t: f32, out: &mut Pose) {
    let [before, a, b, after] = window;
    out.rotations.clear();
    out.rotations.extend((0..a.rotations.len()).map(|j| {
        // In the frame of the second pose rotations between neighbours are small, and vectors do.
        let here = a.rotations[j];
        let relative = |q: Quat| to_vector(here.conjugate() * q);
        here * from_vector(hermite(
            relative(before.rotations[j]),
            Vec3::ZERO,
            relative(b.rotations[j]),
            relative(after.rotations[j]),
            t,
        ))
    }));
    out.translations.clear();
    out.translations.extend(
        (0..a.translations.len())
            .map(|m| hermite(before.translations[m], a.translations[m], b.translations[m], after.translations[m], t)),
    );
}

fn hermite(before: Vec3, a: Vec3, b: Vec3, after: Vec3, t: f32) -> Vec3 {
    let one = |before: f32, a: f32, b: f32, after: f32| {
        let step = b - a;
        let slope = |into: f32, out: f32| if into * out <= 0.0 { 0.0 } else { 0.5 * (into + out) };
        let limit = |m: f32| m.clamp(-3.0 * step.abs(), 3.0 * step.abs());
        let (m0, m1) = (limit(slope(a - before, step)), limit(slope(step, after - b)));
        let (t2, t3) = (t * t, t * t * t);
        a + step * (3.0 * t2 - 2.0 * t3) + m0 * (t3 - 2.0 * t2 + t) + m1 * (t3 - t2)
    };
    Vec3::new(one(before.x, a.x, b.x, after.x), one(before.y, a.y, b.y, after.y), one(before.z, a.z, b.z, after.z))
}
