//! Characters on a stage: each plays edges of its library's graph, blended and with planted feet, in ticks of 1/120 s; what happened is a
//! [`Take`] with numbers for its quality.
//!
//! Does not: read files, know the clock, or start threads. Same library, same seed: the same bits on every platform.

pub mod attack_trial;
pub mod balance;
mod character;
pub mod course;
mod defence;
pub mod dodge_referee;
mod feet;
mod jerk;
pub mod overlap;
mod quality;
pub mod scene;
mod take;
mod target;
pub mod walk;
pub mod wander;

pub use character::{Character, Playing, Repertoire};
pub use defence::Defence;
pub use jerk::jerk_ratio;
pub use kumite_motion::Chance;
pub use quality::{NOISY, Quality, SNAP_UNIT, Source};
pub use take::{Event, Recorder, Take};
pub use target::Target;

/// Ticks in one second; one [`Character::step`] is one tick.
pub const TICKS: u32 = 120;
