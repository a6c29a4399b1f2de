//! Characters on a stage: each plays edges of its library's graph, blended and with planted feet, in ticks of 1/120 s; what happened is a
//! [`Take`] with numbers for its quality.
//!
//! Does not: read files, know the clock, or start threads. Same library, same seed: the same bits on every platform.

pub mod arbiter;
pub mod attack_trial;
pub mod balance;
mod blows;
pub mod brace_referee;
pub mod brace_trial;
mod braced;
mod character;
pub mod contact;
pub mod course;
mod defence;
pub mod dodge_referee;
mod give;
pub mod impact_referee;
pub mod impact_trial;
mod jerk;
mod jostle;
mod kit;
pub mod op;
pub mod overlap;
pub mod performance;
mod pipeline;
mod quality;
pub mod random_scene;
pub mod recoveries;
pub mod reserve;
pub mod scene;
pub mod scene_spar;
pub mod sense;
pub mod spar_trial;
pub mod sparring;
mod stop;
mod struck;
mod take;
mod target;
pub mod walk;
pub mod walk_trial;
pub mod wander;
pub mod world;
pub mod world_referee;

pub use character::{Character, Playing};
pub use defence::Defence;
pub use jerk::jerk_ratio;
pub use kit::{Kit, Reaction, SparKit};
pub use kumite_motion::Chance;
pub use op::{BallOutcome, Event, EventKind, Fault, NoWay, Op};
pub use performance::{Flight, Performance};
pub use pipeline::{Host, Pipeline};
pub use quality::{NOISY, Quality, SNAP_UNIT, Source};
pub use struck::Return;
pub use take::{LegStart, Recorder, Snap, Take};
pub use target::Target;
pub use world::World;

/// Ticks in one second; one [`Character::step`] is one tick.
pub const TICKS: u32 = 120;
