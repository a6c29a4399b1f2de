//! What people do: the bounds of the judge.
//!
//! Measured: 110 captures of one martial artist (Open Motion Project, ACCAD, The Ohio State University: 56 of combat, 54 of
//! locomotion, at 30 and 120 frames per second), each judged as a whole. The bounds of speeds, accelerations, jerk, slides,
//! pushes, drops and sunk soles are what 98 of 100 of them stay below, both sides of the body taken together, and a margin. For hands,
//! feet and the body as a whole the margin is a quarter. For single joints and for pushes it is a half: with a quarter ten more of the
//! fights would fail, nearly all of them kicks, by one joint each, and bridges out of a walk push harder than anyone here does.
//! The test `figures_of_the_captures` measures them again. Those marked *chosen* are not measured but set by hand.
//!
//! That nine of ten of these fights pass is therefore no proof on strangers: the bounds were made on them. Of other people's
//! captures fewer pass; the test `people_pass` says how many.

use kumite_motion::Role;

/// Frames per second at which speeds are measured.
pub const RATE: f32 = 30.0;
/// A joint is beyond its range when it stays there so long, seconds.
pub const SUSTAINED_LIMIT: f32 = 0.06;
/// Two parts are in each other when they stay so, seconds.
pub const SUSTAINED_TOUCH: f32 = 0.1;
/// Time over which the slide of a planted foot is measured, seconds.
pub const SLIDE_OVER: f32 = 0.1;
/// Metres per second; fighters drag and turn their feet, and what is detected as planted is still coming to rest.
pub const SLIDE: f32 = 0.54;
/// Mean over all that is planted, metres per second.
pub const MEAN_SLIDE: f32 = 0.28;
/// A sole below the floor, as a share of the leg.
pub const SUNK: f32 = 0.03;
/// Anything but a sole below the floor, metres. Chosen: mats give way a little, and so do the figures of people who lie on them.
pub const UNDER_FLOOR: f32 = 0.04;
/// A pelvis below this share of the leg's length is that of somebody who lies or kneels. Chosen.
pub const LIES: f32 = 0.42;
/// Overlap of a hand with anything, metres: hands rest on hips and cover faces. Chosen.
pub const HAND_TOUCH: f32 = 0.06;
/// Overlap of arms and legs with trunk and head, metres. Chosen: nearly all captures have none.
pub const TRUNK_TOUCH: f32 = 0.02;
/// Overlap of limbs, metres. Chosen: nearly all captures have none.
pub const LIMB_TOUCH: f32 = 0.03;
/// Nothing moves farther than this, metres, ...
pub const STILL: f32 = 0.015;
/// ... in this time before and after, seconds: it is still.
pub const STILL_FOR: f32 = 0.2;
/// Centre of mass outside the soles, metres. The captures' 98th percentile; more is a fall that has begun.
pub const OFF_BALANCE: f32 = 0.04;
/// Soles this high, metres, ...
pub const FLIGHT_HEIGHT: f32 = 0.09;
/// ... for so long, seconds, are a flight.
pub const FLIGHT_FOR: f32 = 0.16;
/// Difference from gravity, metres per second squared. Chosen: few captures fly, and short flights are hard to fit.
pub const NOT_GRAVITY: f32 = 4.5;
/// Metres per second.
pub const HAND_SPEED: f32 = 11.8;
/// Metres per second.
pub const FOOT_SPEED: f32 = 13.2;
/// Metres per second.
pub const BODY_SPEED: f32 = 5.75;
/// Metres per second squared.
pub const BODY_ACCELERATION: f32 = 36.0;
/// Frames of the parabolas through the path of the centre of mass.
pub const PUSH_FRAMES: usize = 6;
/// By how much the centre of mass may fall faster than things fall, metres per second squared.
pub const DROP: f32 = 2.35;
/// Metres per second squared: what soles hold, and a little more in landings.
pub const PUSH: f32 = 12.5;
/// Metres per second cubed.
pub const HAND_JERK: f32 = 7170.0;

/// Degrees by which a joint may exceed the ranges of [`kumite_motion::limits`]. Chosen.
pub fn limit_excess_deg(role: Role) -> f32 {
    match role {
        // Skeletons differ in where the pelvis ends, and how it is tilted in them.
        Role::Waist => 30.0,
        _ => 8.0,
    }
}

/// Degrees per second.
pub fn joint_speed_deg(role: Role) -> f32 {
    match role {
        Role::Pelvis => 860.0,
        Role::Waist => 530.0,
        Role::Back => 600.0,
        Role::Neck => 630.0,
        Role::Head => 530.0,
        Role::LeftClavicle | Role::RightClavicle => 760.0,
        Role::LeftShoulder | Role::RightShoulder => 1800.0,
        // These captures hold no wrists; the forearm's roll, which the canonical hand carries, is in their elbows.
        Role::LeftElbow | Role::RightElbow | Role::LeftWrist | Role::RightWrist => 2150.0,
        Role::LeftHip | Role::RightHip => 1215.0,
        Role::LeftKnee | Role::RightKnee => 1750.0,
        Role::LeftAnkle | Role::RightAnkle => 1170.0,
        Role::LeftToe | Role::RightToe => 2460.0,
    }
}

/// Degrees per second squared.
pub fn joint_acceleration_deg(role: Role) -> f32 {
    match role {
        Role::Pelvis => 15_200.0,
        Role::Waist => 16_300.0,
        Role::Back => 17_500.0,
        Role::Neck => 21_800.0,
        Role::Head => 20_800.0,
        Role::LeftClavicle | Role::RightClavicle => 19_600.0,
        Role::LeftShoulder | Role::RightShoulder => 44_400.0,
        Role::LeftElbow | Role::RightElbow | Role::LeftWrist | Role::RightWrist => 73_600.0,
        Role::LeftHip | Role::RightHip => 38_300.0,
        Role::LeftKnee | Role::RightKnee => 69_300.0,
        Role::LeftAnkle | Role::RightAnkle => 45_500.0,
        Role::LeftToe | Role::RightToe => 113_500.0,
    }
}
