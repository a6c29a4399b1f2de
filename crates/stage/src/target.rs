//! The parts of a body that attacks are aimed at.

use kumite_motion::{Role, Vec3};

use crate::Character;

/// What a ball is thrown at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Target {
    Head,
    Chest,
    Hips,
    Arms,
    Legs,
}

impl Target {
    /// All of them.
    pub const ALL: [Target; 5] = [Target::Head, Target::Chest, Target::Hips, Target::Arms, Target::Legs];

    /// As written in flags and files.
    pub fn name(self) -> &'static str {
        match self {
            Target::Head => "head",
            Target::Chest => "chest",
            Target::Hips => "hips",
            Target::Arms => "arms",
            Target::Legs => "legs",
        }
    }

    /// The inverse of [`Target::name`].
    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|t| t.name() == name)
    }

    /// Whether it is the head or the torso.
    pub fn is_core(self) -> bool {
        matches!(self, Target::Head | Target::Chest | Target::Hips)
    }

    /// The parts that belong to it.
    pub fn parts(self) -> &'static [Role] {
        match self {
            Target::Head => &[Role::Head],
            Target::Chest => &[Role::Back],
            Target::Hips => &[Role::Pelvis],
            Target::Arms => &[Role::LeftElbow, Role::RightElbow, Role::LeftShoulder, Role::RightShoulder],
            Target::Legs => &[Role::LeftKnee, Role::RightKnee, Role::LeftHip, Role::RightHip],
        }
    }

    /// Where it is: the middle of one of its spheres.
    pub fn place(self, character: &Character, which: u32) -> Vec3 {
        let spheres = character.library().spheres();
        let own: Vec<_> = spheres.iter().filter(|s| self.parts().contains(&s.part)).collect();
        let sphere = own.get(which as usize % own.len().max(1)).copied().or(spheres.first());
        sphere.map_or(character.pose().root(), |s| character.world().point(s.joint, s.offset))
    }
}
