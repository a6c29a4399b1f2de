//! Low threats from before: the trunk bows until hands get to their way. The thesis leans the pelvis alone (§ 3.4), from which arms of ordinary
//! length do not reach it.

use kumite_motion::rotation::from_vector;
use kumite_motion::{Role, Vec3};

use super::block::short_of;
use super::{Controls, Rule, Setting, Stance};
use crate::body::TRUNK;

/// Shares of waist and back, and how far both bow at most, radians.
const SHARES: [(Role, f32); 2] = [(Role::Waist, 0.45), (Role::Back, 0.55)];
const MOST: f32 = 0.75;
/// Radians for a metre that hands are short of: shoulders are 0.4 m above the waist.
const RATE: f32 = 3.5;

/// Bows towards what is low.
#[derive(Clone, Copy, Debug)]
pub struct Stoop;

impl Rule for Stoop {
    fn name(&self) -> &'static str {
        "stoop"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        let aim = setting.aim();
        if !aim.in_front {
            return;
        }
        // What is short after one bow is looked at once more: shoulders come nearer on an arc.
        for _ in 0..2 {
            let short = 0.5 * (short_of(setting, controls, stance, 0) + short_of(setting, controls, stance, 1));
            if short <= 0.0 {
                return;
            }
            let ahead = stance.world.rotation(Role::Pelvis.joint()) * Vec3::Z;
            let axis = Vec3::Y.cross((ahead - aim.along * 0.5).normalize_or(ahead));
            let bow = axis * (short * RATE).min(MOST * 0.6) * (1.0 - aim.head);
            let turns = TRUNK.map(|role| {
                let share = SHARES.into_iter().find(|s| s.0 == role).map_or(0.0, |s| s.1);
                from_vector(bow * share)
            });
            stance.turn_trunk(setting.skeleton, turns);
        }
    }
}
