//! Characters on a stage: each plays edges of its library's graph, blended and with planted feet, in ticks of 1/120 s; what happened is a
//! [`Take`] with numbers for its quality.
//!
//! Does not: read files, know the clock, or start threads. Same library, same seed: the same bits on every platform.

mod character;
pub mod clearance;
mod compare;
pub mod course;
mod defence;
mod feet;
mod quality;
pub mod referee;
pub mod scene;
mod take;
pub mod trial;
pub mod walk;

pub use character::{Character, Playing};
pub use compare::{jerk_ratio, obstacle_penetration_cm, penetration_cm};
pub use defence::Defence;
pub use kumite_motion::Chance;
pub use quality::{NOISY, Quality, SNAP_UNIT};
pub use take::{Event, Recorder, Take};

/// Ticks in one second; one [`Character::step`] is one tick.
pub const TICKS: u32 = 120;
