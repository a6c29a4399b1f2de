//! § 3.2.3: the back of the head is turned to the threat, by its size: the neck first, the rest by back, waist and pelvis.

use std::f32::consts::{PI, TAU};

use kumite_motion::rotation::{about, wrap, yaw_of};
use kumite_motion::{Role, Vec3, WorldPose};

use super::{Aim, Controls, Rule, Setting, Stance, row};
use crate::body::TRUNK;

/// How what the neck does not turn is shared out.
const SHARES: [(Role, f32); 3] = [(Role::Back, 0.5), (Role::Waist, 0.3), (Role::Pelvis, 0.2)];
/// Threats this near to straight ahead are turned away from by stance, radians.
const FRONTAL: f32 = 0.2;

/// Turns away.
#[derive(Clone, Copy, Debug)]
pub struct Turn;

/// Which way to turn: 1 to the left, -1 to the right. From the left one turns right; what comes straight ahead is turned away from by
/// the shoulder that leads, or as `before`.
pub fn turn_side(aim: &Aim, world: &WorldPose, before: Option<f32>) -> f32 {
    if aim.eccentricity.abs() > FRONTAL {
        return -aim.eccentricity.signum();
    }
    let ahead = |role: Role| -aim.along.dot(world.position(role.joint()));
    let leads = if ahead(Role::LeftShoulder) >= ahead(Role::RightShoulder) { 1.0 } else { -1.0 };
    before.unwrap_or(-leads)
}

impl Rule for Turn {
    fn name(&self) -> &'static str {
        "turn"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        let aim = setting.aim();
        let face = yaw_of(stance.world.rotation(Role::Head.joint()) * Vec3::Z);
        // Turned this way until the face looks where the threat is going.
        let away = wrap(yaw_of(aim.along) - face);
        let angle = if away * setting.turns >= 0.0 { away.abs() } else { TAU - away.abs() };
        let angle = angle.min(PI);
        let strength = (controls.turn * setting.gain).min(1.2);
        let most = |role: Role| row(role).y.to_radians();
        let neck = angle.min(most(Role::Neck));
        let rest = angle - neck;
        let turns = TRUNK.map(|role| {
            let share = SHARES.into_iter().find(|s| s.0 == role).map_or(0.0, |s| s.1);
            let turn = match role {
                Role::Neck | Role::Head => 0.5 * neck,
                Role::Pelvis if !setting.planted => 0.0,
                _ => (rest * share).min(most(role)),
            };
            about(Vec3::Y, turn * strength * setting.turns)
        });
        stance.turn_trunk(setting.skeleton, turns);
    }
}
