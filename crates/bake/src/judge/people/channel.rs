//! The curves of an action, aligned at its onset and its height.

use kumite_motion::Vec2;
use kumite_motion::rotation::between;

use super::action::{Action, Family};
use super::motion::{Motion, RATE};

/// A curve has this many parts from onset to height, and as many after it.
pub const PARTS: usize = 8;
/// How long after the height it is looked at, seconds.
const AFTER: f32 = 0.5;

macro_rules! channels {
    ($($channel:ident $name:literal $least:literal,)*) => {
        /// What is compared over the course of an action. *Own* is the side that acts, *other* the other. Degrees, metres per second, metres per
        /// second squared. What turns, leans or tilts is counted from the onset, because stances differ; in walks from its mean.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "the names say it")]
        pub enum Channel { $($channel,)* }

        impl Channel {
            /// Every channel.
            pub const ALL: &[Channel] = &[$(Channel::$channel,)*];

            /// As written in files.
            pub fn name(self) -> &'static str {
                match self { $(Channel::$channel => $name,)* }
            }

            /// A band is never narrower than this to either side: what markers and another body's proportions amount to.
            pub fn least_band(self) -> f32 {
                match self { $(Channel::$channel => $least,)* }
            }
        }
    };
}

channels! {
    PelvisTurn "pelvis_turn" 3.0,
    PelvisLean "pelvis_lean" 2.0,
    PelvisTilt "pelvis_tilt" 2.0,
    ChestTurn "chest_turn" 3.0,
    ChestLean "chest_lean" 2.0,
    ChestTilt "chest_tilt" 2.0,
    HeadTurn "head_turn" 3.0,
    HeadLean "head_lean" 3.0,
    Trunk "trunk" 2.0,
    OwnKnee "own_knee" 4.0,
    OtherKnee "other_knee" 4.0,
    OwnElbow "own_elbow" 4.0,
    OtherElbow "other_elbow" 4.0,
    OwnClavicle "own_clavicle" 3.0,
    OwnFootPitch "own_foot_pitch" 4.0,
    OtherFootPitch "other_foot_pitch" 4.0,
    MassSpeed "mass_speed" 0.05,
    MassRise "mass_rise" 0.05,
    MassPush "mass_push" 0.5,
    MassLift "mass_lift" 0.5,
    OwnHandSpeed "own_hand_speed" 0.2,
    OtherHandSpeed "other_hand_speed" 0.2,
    OwnFootSpeed "own_foot_speed" 0.2,
    OtherFootSpeed "other_foot_speed" 0.2,
    HeadSpeed "head_speed" 0.1,
}

impl Channel {
    /// Whether it is an angle.
    pub(super) fn is_angle(self) -> bool {
        self <= Channel::OtherFootPitch
    }

    /// Whether only its change counts.
    fn changes(self) -> bool {
        use Channel::{ChestLean, ChestTilt, ChestTurn, HeadLean, HeadTurn, PelvisLean, PelvisTilt, PelvisTurn, Trunk};
        matches!(
            self,
            PelvisTurn | PelvisLean | PelvisTilt | ChestTurn | ChestLean | ChestTilt | HeadTurn | HeadLean | Trunk
        )
    }

    fn track(self, motion: &Motion, action: &Action) -> Vec<f32> {
        let (own, other, onset) = (action.own, 1 - action.own, action.onset);
        let signed = |values: &[f32]| values.iter().map(|v| v * action.sign).collect();
        let ground = |v: &kumite_motion::Vec3| Vec2::new(v.x, v.z).length();
        match self {
            Channel::PelvisTurn => signed(&motion.pelvis.turn),
            Channel::PelvisLean => motion.pelvis.lean.clone(),
            Channel::PelvisTilt => signed(&motion.pelvis.tilt),
            Channel::ChestTurn => signed(&motion.chest.turn),
            Channel::ChestLean => motion.chest.lean.clone(),
            Channel::ChestTilt => signed(&motion.chest.tilt),
            Channel::HeadTurn => signed(&motion.head.turn),
            Channel::HeadLean => motion.head.lean.clone(),
            Channel::Trunk => motion.trunk.clone(),
            Channel::OwnKnee => motion.knees[own].clone(),
            Channel::OtherKnee => motion.knees[other].clone(),
            Channel::OwnElbow => motion.elbows[own].clone(),
            Channel::OtherElbow => motion.elbows[other].clone(),
            Channel::OwnClavicle => {
                let track = &motion.clavicles[own];
                track.iter().map(|q| between(track[onset], *q).to_degrees()).collect()
            }
            Channel::OwnFootPitch => motion.foot_pitch[own].clone(),
            Channel::OtherFootPitch => motion.foot_pitch[other].clone(),
            Channel::MassSpeed => motion.mass_velocity.iter().map(ground).collect(),
            Channel::MassRise => motion.mass_velocity.iter().map(|v| v.y).collect(),
            Channel::MassPush => motion.mass_acceleration.iter().map(ground).collect(),
            Channel::MassLift => motion.mass_acceleration.iter().map(|v| v.y).collect(),
            Channel::OwnHandSpeed => motion.hand_speed[own].clone(),
            Channel::OtherHandSpeed => motion.hand_speed[other].clone(),
            Channel::OwnFootSpeed => motion.foot_speed[own].clone(),
            Channel::OtherFootSpeed => motion.foot_speed[other].clone(),
            Channel::HeadSpeed => motion.head_speed.clone(),
        }
    }
}

/// Moments of an action at which curves are compared, frames of its [`Motion`]: [`PARTS`] from onset to height at the action's own pace, then as many over
/// half a second. Of walks, one stride. Fewer where the clip ends before.
fn moments(motion: &Motion, action: &Action) -> Vec<f32> {
    let (onset, peak) = (action.onset as f32, action.peak as f32);
    if action.family == Family::Walk {
        let parts = 2 * PARTS;
        return (0..=parts).map(|i| onset + (peak - onset) * i as f32 / parts as f32).collect();
    }
    let out = (0..=PARTS).map(|i| onset + (peak - onset) * i as f32 / PARTS as f32);
    let after = (1..=PARTS).map(|i| peak + AFTER * RATE * i as f32 / PARTS as f32);
    out.chain(after).take_while(|&f| f <= (motion.frames - 1) as f32).collect()
}

/// The curve of every channel, in the order of [`Channel::ALL`].
pub(super) fn curves(motion: &Motion, action: &Action) -> Vec<Vec<f32>> {
    let moments = moments(motion, action);
    let curve = |channel: &Channel| {
        let track = channel.track(motion, action);
        let at = |moment: f32| {
            let frame = (moment as usize).min(track.len() - 1);
            let next = (frame + 1).min(track.len() - 1);
            track[frame] + (track[next] - track[frame]) * (moment - frame as f32)
        };
        let mut curve: Vec<f32> = moments.iter().map(|&m| at(m)).collect();
        if channel.changes() {
            let home = if action.family == Family::Walk {
                curve.iter().sum::<f32>() / curve.len().max(1) as f32
            } else {
                curve.first().copied().unwrap_or(0.0)
            };
            curve.iter_mut().for_each(|v| *v -= home);
        }
        curve
    };
    Channel::ALL.iter().map(curve).collect()
}
