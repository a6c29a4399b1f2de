//! Looks at the frames of a take around a hit, and shares nothing but forward kinematics with what made them.

use kumite_motion::{Clip, FrameIdx, Pose, Role, Vec3, WorldPose, fk};

/// What is seen of a hit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judged {
    /// Greatest change of the speed of the part that was hit from just before to within 50 ms, metres per second, and which way that is.
    pub jolt: Vec3,
    /// Lowest that any joint gets, metres.
    pub lowest: f32,
    /// Lowest that the pelvis gets, metres.
    pub pelvis: f32,
    /// Up-axis of the trunk in the last frame.
    pub upright: f32,
    /// Whether all numbers are.
    pub finite: bool,
}

/// Judges a take in which a part is hit after some seconds.
pub fn judge(clip: &Clip, hit: f32, part: Role) -> Judged {
    let mut worlds: Vec<WorldPose> = Vec::with_capacity(clip.frames());
    let mut pose = Pose::default();
    for frame in 0..clip.frames() as u32 {
        clip.pose(FrameIdx(frame), &mut pose);
        let mut world = WorldPose::default();
        fk::pose(clip.skeleton(), &pose, &mut world);
        worlds.push(world);
    }
    // The far end of the part: joints at which parts begin move less.
    let reach = part.child().map_or_else(
        || clip.skeleton().tip(part.joint()).unwrap_or(Vec3::Y * 0.1),
        |child| clip.skeleton().offset(child.joint()),
    );
    let at = |frame: usize| worlds[frame].point(part.joint(), reach);
    let speed = |frame: usize| (at(frame + 1) - at(frame)) * clip.fps();
    let first = (hit * clip.fps()).floor().max(1.0) as usize;
    let frames = first..(first + (0.05 * clip.fps()) as usize + 1).min(worlds.len().saturating_sub(1));
    let before = if first + 1 < worlds.len() { speed(first - 1) } else { Vec3::ZERO };
    let jolt =
        frames.map(|frame| speed(frame) - before).fold(Vec3::ZERO, |a, b| if b.length() > a.length() { b } else { a });
    let lowest = worlds.iter().flat_map(|w| w.positions.iter().map(|p| p.y)).fold(f32::INFINITY, f32::min);
    let pelvis = worlds.iter().map(|w| w.position(Role::Pelvis.joint()).y).fold(f32::INFINITY, f32::min);
    let upright = worlds.last().map_or(0.0, |w| (w.rotation(Role::Back.joint()) * Vec3::Y).y);
    let finite = worlds.iter().all(|w| w.positions.iter().all(|p| p.is_finite()));
    Judged { jolt, lowest, pelvis, upright, finite }
}
