//! What characters notice: a ball is known some time after it comes into view, or when somebody is told.

use kumite_motion::rotation::{wrap, yaw_of};
use kumite_motion::{Role, Vec3};

use crate::world::{BallId, CastMember, FlyingBall};
use crate::{Character, TICKS};

/// Where a character looks, as a turn about the vertical: along its gaze, or along its pelvis when it lies.
pub fn gaze(character: &Character) -> f32 {
    let world = character.world();
    let head = world.rotation(Role::Head.joint()) * Vec3::Z;
    let lies = (world.rotation(Role::Pelvis.joint()) * Vec3::Y).y < 0.5;
    yaw_of(if lies { world.rotation(Role::Pelvis.joint()) * Vec3::Z } else { head })
}

/// Whether a ball is in somebody's field of view.
pub fn in_view(member: &CastMember, ball: &FlyingBall, tick: u64) -> bool {
    let eyes = member.character.world().position(Role::Head.joint());
    let to = ball.place(tick) - eyes;
    let flat = Vec3::new(to.x, 0.0, to.z);
    // What is right above or below is seen.
    flat.length() < 0.1 || wrap(yaw_of(flat) - gaze(&member.character)).abs() <= member.perception.half_view
}

/// Ticks from coming into view to being known.
pub fn delay(member: &CastMember) -> u64 {
    (member.perception.delay.max(0.0) * TICKS as f32).round() as u64
}

/// Whether a ball becomes known in this tick.
pub fn notices(member: &CastMember, id: BallId, ball: &FlyingBall, tick: u64) -> bool {
    match member.known.iter().find(|known| known.0 == id) {
        Some((_, since)) => since + delay(member) == tick,
        None => delay(member) == 0 && in_view(member, ball, tick),
    }
}
