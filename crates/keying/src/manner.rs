//! How a fighter carries itself: the same keys fresh, tired, or with left and right exchanged.

use kumite_motion::mirror::Mirror;
use kumite_motion::{Clip, Roles};

use crate::file::{MotionFile, StanceFile};

/// How the motions of a library are carried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manner {
    /// As keyed.
    #[default]
    Fresh,
    /// Slower and smaller, the guard low, the feet wide, the breath heavy.
    Tired,
    /// Right foot and right hand in front.
    Southpaw,
}

/// What a tired fighter does, beside a fresh one.
mod tired {
    /// Times as long: rounds in which boxers are tired have a quarter fewer blows. A guess by eye within that.
    pub(super) const PACE: f32 = 1.25;
    /// Times as far.
    pub(super) const AMOUNT: f32 = 0.9;
    /// How much lower raised hands are, metres.
    pub(super) const GUARD: f32 = 0.11;
    /// Times as wide a stance.
    pub(super) const WIDTH: f32 = 1.15;
    /// How much lower the pelvis is, metres.
    pub(super) const SAG: f32 = 0.012;
    /// How much farther the trunk leans, degrees; the head hangs by half of it.
    pub(super) const SLUMP: f32 = 6.0;
    /// Times as much breath, and how much of it motions have that are keyed without.
    pub(super) const BREATH: (f32, f32) = (1.8, 0.3);
    /// Hands above this height, metres, are a guard.
    pub(super) const RAISED: f32 = 1.1;
}

impl Manner {
    /// Every manner.
    pub const ALL: [Manner; 3] = [Manner::Fresh, Manner::Tired, Manner::Southpaw];

    /// As the command line writes it.
    pub fn name(self) -> &'static str {
        match self {
            Manner::Fresh => "fresh",
            Manner::Tired => "tired",
            Manner::Southpaw => "southpaw",
        }
    }

    /// The inverse of [`Manner::name`].
    pub fn from_name(name: &str) -> Option<Manner> {
        Manner::ALL.into_iter().find(|manner| manner.name() == name)
    }

    /// A stance carried in this manner. Whoever lies down rests already.
    pub(crate) fn stance(self, mut stance: StanceFile) -> StanceFile {
        if self != Manner::Tired || stance.balance == 0.0 {
            return stance;
        }
        stance.pelvis_height -= tired::SAG;
        for foot in [&mut stance.left_foot, &mut stance.right_foot] {
            foot.at[0] *= tired::WIDTH;
        }
        for hand in [&mut stance.left_hand, &mut stance.right_hand] {
            if hand[1] > tired::RAISED {
                hand[1] -= tired::GUARD;
            }
        }
        stance.chest.lean += tired::SLUMP;
        stance.head.lean += 0.5 * tired::SLUMP;
        stance
    }

    /// A motion carried in this manner. Flights take as long as gravity says.
    pub(crate) fn motion(self, motion: MotionFile) -> MotionFile {
        if self != Manner::Tired {
            return motion;
        }
        let pace = if motion.flight.is_empty() { tired::PACE } else { 1.0 };
        let mut slow = motion.varied(tired::AMOUNT, pace);
        slow.life = (motion.life + tired::BREATH.1) * tired::BREATH.0;
        slow
    }

    /// A compiled clip in this manner.
    pub(crate) fn clip(self, clip: Clip) -> Clip {
        if self != Manner::Southpaw {
            return clip;
        }
        let mirror = Mirror::by_roles(clip.skeleton(), &Roles::canonical());
        let name = exchanged(&clip.name);
        mirror.clip(&clip).map_or(clip, |mut image| {
            image.name = name;
            image
        })
    }
}

/// A name with left and right exchanged.
fn exchanged(name: &str) -> String {
    let swap = |word: &str| match word {
        "left" => "right".to_owned(),
        "right" => "left".to_owned(),
        other => other.to_owned(),
    };
    name.split('-').map(swap).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::embedded;
    use kumite_motion::fk::Tracks;
    use kumite_motion::{FrameIdx, Role};

    #[test]
    fn the_tired_are_slower_lower_and_wider() {
        let pick = |manner| embedded::clips_in(manner).unwrap().into_iter().find(|c| c.name == "jab").unwrap();
        let (fresh, tired) = (pick(Manner::Fresh), pick(Manner::Tired));
        assert!((tired.seconds() / fresh.seconds() - 1.25).abs() < 0.02);
        let at = |clip: &Clip, role: Role| Tracks::of(clip).get(FrameIdx(0), role.joint());
        assert!(at(&tired, Role::LeftWrist).y < at(&fresh, Role::LeftWrist).y - 0.08);
        assert!(at(&tired, Role::LeftToe).x > at(&fresh, Role::LeftToe).x + 0.005);
        assert!((tired.spans[0].from / fresh.spans[0].from - 1.25).abs() < 1e-3);
    }

    #[test]
    fn southpaws_lead_with_the_right() {
        let clips = embedded::clips_in(Manner::Southpaw).unwrap();
        let jab = clips.iter().find(|c| c.name == "jab").unwrap();
        assert_eq!((jab.spans[0].part, jab.spans[0].label.as_str()), (Some(Role::RightWrist), "jab right"));
        let fresh = embedded::clips().unwrap();
        let (left, right) =
            (fresh.iter().find(|c| c.name == "slip-left"), clips.iter().find(|c| c.name == "slip-right"));
        let head = |clip: &Clip| Tracks::of(clip).get(FrameIdx(25), Role::Head.joint());
        let (a, b) = (head(left.unwrap()), head(right.unwrap()));
        assert!((a.x + b.x).abs() < 1e-4 && (a.y - b.y).abs() < 1e-4);
    }
}
