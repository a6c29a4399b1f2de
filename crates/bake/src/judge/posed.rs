//! Every frame of a clip, placed in the world.

use kumite_motion::anatomy::Anatomy;
use kumite_motion::rotation::to_vector;
use kumite_motion::{Clip, FrameIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};

/// Leg of the person the bounds are given for, metres. Other legs scale lengths and speeds.
const LEG: f32 = 0.874;

pub(crate) struct PosedClip<'a> {
    pub(crate) skeleton: &'a Skeleton,
    pub(crate) roles: &'a Roles,
    pub(crate) anatomy: &'a Anatomy,
    pub(crate) worlds: Vec<WorldPose>,
    /// This person's size, 1 for the default one.
    pub(crate) scale: f32,
    fps: f32,
}

impl<'a> PosedClip<'a> {
    pub(crate) fn of(clip: &'a Clip, roles: &'a Roles, anatomy: &'a Anatomy) -> PosedClip<'a> {
        let mut pose = Pose::default();
        let worlds = (0..clip.frames() as u32)
            .map(|frame| {
                let mut world = WorldPose::default();
                clip.pose(FrameIdx(frame), &mut pose);
                fk::pose(clip.skeleton(), &pose, &mut world);
                world
            })
            .collect();
        let scale = (anatomy.leg / LEG).max(0.1);
        PosedClip { skeleton: clip.skeleton(), roles, anatomy, worlds, scale, fps: clip.fps() }
    }

    pub(crate) fn frames(&self) -> usize {
        self.worlds.len()
    }

    /// At least one.
    pub(crate) fn frames_in(&self, seconds: f32) -> usize {
        (libm::roundf(seconds * self.fps) as usize).max(1)
    }

    pub(crate) fn at(&self, frame: usize, role: Role) -> Option<Vec3> {
        Some(self.worlds.get(frame)?.position(self.roles.get(role)?))
    }

    /// The tip of the bone of a role, in the world.
    pub(crate) fn tip(&self, frame: usize, role: Role) -> Option<Vec3> {
        let joint = self.roles.get(role)?;
        Some(self.worlds.get(frame)?.point(joint, self.skeleton.tip(joint)?))
    }

    pub(crate) fn track(&self, role: Role) -> Option<Vec<Vec3>> {
        (0..self.frames()).map(|f| self.at(f, role)).collect()
    }

    /// The rotation the canonical joint would have in its parent.
    pub(crate) fn local(&self, frame: usize, role: Role) -> Option<Quat> {
        let world = self.worlds.get(frame)?;
        let above = self.anatomy.canonical(self.roles, world, role.parent()?)?;
        Some((above.conjugate() * self.anatomy.canonical(self.roles, world, role)?).normalize())
    }

    /// How the joint turns from each frame to the next: axis times angle, in the frame of what it hangs on.
    pub(crate) fn turns(&self, role: Role) -> Option<Vec<Vec3>> {
        let locals: Option<Vec<Quat>> = match role.parent() {
            Some(_) => (0..self.frames()).map(|f| self.local(f, role)).collect(),
            None => (0..self.frames()).map(|f| Some(self.worlds[f].rotation(self.roles.get(role)?))).collect(),
        };
        Some(locals?.windows(2).map(|w| to_vector((w[1] * w[0].conjugate()).normalize())).collect())
    }
}
