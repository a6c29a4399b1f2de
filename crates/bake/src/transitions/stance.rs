//! Feet that stand on both sides of a transition stand on the same spot.

use kumite_motion::fk::Tracks;
use kumite_motion::{Clip, Contacts, JointIdx, Role, Roles, Vec2, Vec3};

use super::{ClipFrame, Transition};

/// Shifts the entered clips. Nothing happens where no foot is planted, contacts are unknown, or the skeleton is not the
/// canonical one.
pub(super) fn put(clips: &[Clip], list: &mut [Transition]) {
    let Some(first) = clips.first() else { return };
    let roles = Roles::by_canonical_names(first.skeleton());
    let joint = |role| roles.get(role);
    // Of each part of a foot, what bears the weight there: the toe joint is the ball.
    let parts: Vec<(Contacts, JointIdx)> = [
        (Contacts::LEFT_TOE, joint(Role::LeftToe)),
        (Contacts::LEFT_HEEL, joint(Role::LeftAnkle)),
        (Contacts::RIGHT_TOE, joint(Role::RightToe)),
        (Contacts::RIGHT_HEEL, joint(Role::RightAnkle)),
    ]
    .into_iter()
    .filter_map(|(part, joint)| Some((part, joint?)))
    .collect();
    let tracks: Vec<Tracks> = clips.iter().map(Tracks::of).collect();
    let planted = |(clip, frame): ClipFrame| clips[clip.at()].contacts.get(frame.at()).copied().unwrap_or_default();
    for transition in list {
        let (from, to) = (transition.from, transition.to);
        let both = Contacts::from_bits(planted(from).bits() & planted(to).bits());
        let (mut sum, mut count) = (Vec3::ZERO, 0.0f32);
        for (_, joint) in parts.iter().filter(|(part, _)| both.has(*part)) {
            let stood = tracks[from.0.at()].get(from.1, *joint);
            let stands = transition.align.point(tracks[to.0.at()].get(to.1, *joint));
            sum += stood - stands;
            count += 1.0;
        }
        if count > 0.0 {
            transition.align.shift += Vec2::new(sum.x, sum.z) / count;
        }
    }
}
