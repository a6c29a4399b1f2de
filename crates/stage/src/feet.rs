//! Planted feet stay planted, through joins and warps: what the clip calls planted is held where it came down.

use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::ease;
use kumite_motion::retarget::{Actor, ball_of};
use kumite_motion::{Contacts, Pose, Role, Roles, Skeleton, Vec3, WorldPose, ik};
use std::sync::Arc;

/// How long a foot takes from its hold back to its motion, seconds.
const RELEASE: f32 = 0.20;
/// How long the floor takes to get hold of the ball of a foot, and to lose it, seconds.
const GRIP: f32 = 0.12;
/// A foot is let go when its motion has gone farther than this from its hold, metres: the clip means another place.
const TORN: f32 = 0.25;
/// A leg is stretched to this share of its length at most, and freely to the other.
const REACH: f32 = 0.999;
const FREE: f32 = 0.96;

/// The hold of one foot.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Hold {
    /// Where the ball of the foot stands, while planted.
    at: Option<Vec3>,
    /// What is left of an old hold: from the motion's place to the shown one, when it was let go, and how long ago.
    rest: Vec3,
    since: f32,
    /// How firmly the floor holds the ball of the foot, 0..1: captures float and sink a little.
    grip: f32,
}

/// Both feet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Feet {
    holds: [Hold; 2],
}

impl Feet {
    /// Moves the legs so that planted feet stand where they stood. `world` is that of `pose` before and after.
    pub(crate) fn plant(
        &mut self,
        skeleton: &Arc<Skeleton>,
        anatomy: &Anatomy,
        contacts: Contacts,
        seconds: f32,
        pose: &mut Pose,
        world: &mut WorldPose,
    ) {
        let roles = Roles::canonical();
        let actor = Actor { skeleton, roles: &roles, anatomy };
        let feet = [
            (Role::LeftAnkle, Contacts::LEFT, Contacts::LEFT_TOE),
            (Role::RightAnkle, Contacts::RIGHT, Contacts::RIGHT_TOE),
        ];
        for (hold, (ankle, foot, toe)) in self.holds.iter_mut().zip(feet) {
            let Some(ball) = ball_of(&actor, world, ankle) else { continue };
            let step = if contacts.any(toe) { seconds / GRIP } else { -seconds / GRIP };
            hold.grip = (hold.grip + step).clamp(0.0, 1.0);
            let mut offset = hold.offset(ball, contacts.any(foot), seconds);
            offset.y = -ball.y * ease(hold.grip);
            if offset.length_squared() > 1e-12 {
                let target = world.position(ankle.joint()) + offset;
                move_ankle(skeleton, pose, world, ankle, target);
            }
        }
    }
}

impl Hold {
    /// By how much the foot is moved from where its motion has it.
    fn offset(&mut self, ball: Vec3, planted: bool, seconds: f32) -> Vec3 {
        let left = if self.since < RELEASE { self.rest * (1.0 - ease(self.since / RELEASE)) } else { Vec3::ZERO };
        if planted {
            // It comes down where it is shown, on the floor.
            let at = *self.at.get_or_insert_with(|| Vec3::new(ball.x + left.x, 0.0, ball.z + left.z));
            let offset = Vec3::new(at.x - ball.x, 0.0, at.z - ball.z);
            if offset.length() <= TORN {
                self.rest = offset;
                self.since = 0.0;
                return offset;
            }
        }
        if self.at.take().is_none() {
            self.since += seconds;
        }
        if self.since < RELEASE { self.rest * (1.0 - ease(self.since / RELEASE)) } else { Vec3::ZERO }
    }
}

/// Bends a canonical leg so that its ankle comes to `target`, or as near as the leg is long, with the foot's attitude kept.
fn move_ankle(skeleton: &Skeleton, pose: &mut Pose, world: &mut WorldPose, ankle: Role, target: Vec3) {
    let (Some(limb), Some(chain)) = (ik::Limb::of(skeleton, ankle), ik::Chain::of_canonical(ankle)) else { return };
    let from = world.position(chain.top);
    let line = target - from;
    let a = world.position(chain.end);
    // Near its full length a knee straightens by degrees for millimetres: the leg gives in softly before, but not where its motion
    // is as straight itself.
    let whole = limb.length_at(0.0);
    let (free, longest) = (((a - from).length()).clamp(FREE * whole, REACH * whole), REACH * whole);
    let room = (longest - free).max(0.002 * whole);
    let length = line.length();
    let target = if length > free {
        from + line * ((free + room * (1.0 - libm::expf(-(length - free) / room))) / length)
    } else {
        target
    };
    chain.reach(skeleton, target, pose, world);
}
