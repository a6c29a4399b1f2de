//! What other programs want of a motion: on the spot or travelling, repeatable, in their unit and axes.

use std::sync::Arc;

use clap::ValueEnum;
use kumite_formats::bvh;
use kumite_motion::{Clip, ClipError, FrameIdx, Quat, Vec3};

use crate::args::ConvertArgs;

impl ConvertArgs {
    /// Whether an edit needs to know left, up and how long a metre is.
    pub(crate) fn needs_metres(&self) -> bool {
        self.settle || self.home || self.mirror || self.in_place || self.looped || self.program.is_some()
    }
}

/// Whose unit and axes are written.
#[derive(ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProgramArg {
    /// Metres, +Y up: what its importer takes unless told otherwise
    Blender,
    /// Centimetres, +Z up
    Unreal,
    /// Metres, +Y up
    Unity,
}

/// Two numbers of a flag.
pub(crate) fn pair(text: &str) -> Result<(f32, f32), String> {
    let (from, to) = text.split_once(',').ok_or("expected two numbers separated by a comma")?;
    let number = |t: &str| t.trim().parse().map_err(|_| format!("{t:?} is not a number"));
    Ok((number(from)?, number(to)?))
}

/// The end is led into the beginning over this time, seconds, and over half of the motion at most.
const LED: f32 = 0.4;

/// The root stays over the place where it begins.
pub(crate) fn in_place(clip: &Clip) -> Result<Clip, ClipError> {
    let start = clip.root(FrameIdx(0));
    edited(clip, |_, pose_root| Vec3::new(start.x, pose_root.y, start.z))
}

fn edited(clip: &Clip, root: impl Fn(usize, Vec3) -> Vec3) -> Result<Clip, ClipError> {
    let made = Clip::from_fn(&clip.name, Arc::clone(clip.skeleton()), clip.fps(), clip.frames(), |frame, pose| {
        clip.pose(FrameIdx(frame as u32), pose);
        pose.translations[0] = root(frame, pose.translations[0]);
    })?;
    Ok(carried(made, clip))
}

/// With the spans and contacts of the original.
fn carried(mut made: Clip, clip: &Clip) -> Clip {
    made.spans.clone_from(&clip.spans);
    made.contacts.clone_from(&clip.contacts);
    made
}

/// The last frame shows the first one's pose. Heading and place on the floor go on unless `heading` is false: then the root comes back too.
pub(crate) fn looped(clip: &Clip, travels: bool) -> Result<Clip, ClipError> {
    let last = clip.frames() - 1;
    let ends = FrameIdx(last as u32);
    let joints: Vec<_> = clip.skeleton().joints().collect();
    let mut away: Vec<Quat> = joints
        .iter()
        .map(|&j| (clip.rotation(ends, j).inverse() * clip.rotation(FrameIdx(0), j)).normalize())
        .collect();
    if travels {
        // The root's way back in the world, without its turn about the vertical.
        let (first, end) = (clip.rotation(FrameIdx(0), joints[0]), clip.rotation(ends, joints[0]));
        let back = (first * end.inverse()).normalize();
        let turn = Quat::from_xyzw(0.0, back.y, 0.0, back.w);
        let turn = if turn.length_squared() > 1e-12 { turn.normalize() } else { Quat::IDENTITY };
        away[0] = (end.inverse() * (turn.inverse() * back) * end).normalize();
    }
    let mut gone = clip.root(FrameIdx(0)) - clip.root(ends);
    if travels {
        (gone.x, gone.z) = (0.0, 0.0);
    }
    let over = ((LED * clip.fps()) as usize).clamp(1, (last / 2).max(1));
    let made = Clip::from_fn(&clip.name, Arc::clone(clip.skeleton()), clip.fps(), clip.frames(), |frame, pose| {
        clip.pose(FrameIdx(frame as u32), pose);
        let t = (frame + over).saturating_sub(last) as f32 / over as f32;
        let share = t * t * (3.0 - 2.0 * t);
        pose.translations[0] += gone * share;
        for (rotation, away) in pose.rotations.iter_mut().zip(&away) {
            let short = if away.w < 0.0 { -*away } else { *away };
            *rotation = (*rotation * Quat::IDENTITY.slerp(short, share)).normalize();
        }
    })?;
    Ok(carried(made, clip))
}

/// A clip in metres with +Y up in the unit and axes of a program.
pub(crate) fn for_program(clip: &Clip, program: ProgramArg) -> Result<Clip, ClipError> {
    let (unit, turn) = match program {
        ProgramArg::Blender | ProgramArg::Unity => return Ok(clip.clone()),
        ProgramArg::Unreal => (100.0, Quat::from_rotation_x(std::f32::consts::FRAC_PI_2)),
    };
    let skeleton = Arc::new(clip.skeleton().scaled(unit));
    let made = Clip::from_fn(&clip.name, skeleton, clip.fps(), clip.frames(), |frame, pose| {
        clip.pose(FrameIdx(frame as u32), pose);
        pose.translations.iter_mut().for_each(|place| *place *= unit);
        pose.translations[0] = turn * pose.translations[0];
        pose.rotations[0] = turn * pose.rotations[0];
    })?;
    Ok(carried(made, clip))
}

/// A take in the unit and axes of a program, as BVH.
pub(crate) fn bvh_for(clip: &Clip, program: Option<ProgramArg>) -> Vec<u8> {
    // A clip stays one when it is scaled and turned, so the original is never what is written here.
    let turned = program.and_then(|program| for_program(clip, program).ok());
    let clip = turned.as_ref().unwrap_or(clip);
    bvh::write(&bvh::BvhFile::from_clip(clip, bvh::RotationOrder::default())).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_keying::embedded;
    use kumite_motion::rotation::between;

    fn walk() -> Clip {
        let mut walks = embedded::walks().unwrap();
        let at = walks.iter().position(|c| c.root(FrameIdx(c.frames() as u32 - 1)).z > 1.0).unwrap();
        walks.swap_remove(at)
    }

    #[test]
    fn in_place_stays_and_keeps_its_height() {
        let clip = walk();
        let made = in_place(&clip).unwrap();
        let ends = FrameIdx(clip.frames() as u32 - 1);
        let (a, b) = (made.root(FrameIdx(0)), made.root(ends));
        assert_eq!((a.x, a.z), (b.x, b.z));
        assert_eq!(made.root(ends).y, clip.root(ends).y);
    }

    #[test]
    fn a_loop_ends_as_it_begins_and_travels_if_it_may() {
        let clip = walk();
        let ends = FrameIdx(clip.frames() as u32 - 1);
        for travels in [true, false] {
            let made = looped(&clip, travels).unwrap();
            for j in made.skeleton().joints().skip(1) {
                assert!(between(made.rotation(ends, j), made.rotation(FrameIdx(0), j)) < 1e-3);
            }
            let gone = made.root(ends) - made.root(FrameIdx(0));
            assert!(gone.y.abs() < 1e-4, "{gone}");
            assert_eq!(gone.z.abs() < 1e-4, !travels, "{gone}");
        }
    }

    #[test]
    fn unreal_gets_centimetres_with_z_up() {
        let clip = walk();
        let made = for_program(&clip, ProgramArg::Unreal).unwrap();
        let (a, b) = (clip.root(FrameIdx(0)), made.root(FrameIdx(0)));
        assert!((b.z - 100.0 * a.y).abs() < 1e-2 && (b.y + 100.0 * a.z).abs() < 1e-2, "{a} {b}");
    }
}
