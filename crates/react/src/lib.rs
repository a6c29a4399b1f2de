//! Bracing for what can be neither dodged nor blocked: the protective pose and the way into it, after Hermens, *Anticipating
//! Impacts* (2006), chapters 3 and 4. [`Impact`] says what comes, [`rules`] turn it into a pose, [`balance`] puts that pose on
//! its feet, [`timing`] says when, and a [`Brace`] plays it as a layer over whatever the body is doing.
//!
//! Does not: read files, know the clock, start threads, or decide whether anybody braces.
//! Same inputs give the same bits on every platform. A brace is plain data; applying it allocates nothing.

mod arm_turn;
pub mod balance;
pub mod body;
mod brace;
pub mod catch;
mod clear;
mod fall;
mod flinch;
mod impact;
mod in_the_way;
mod lines;
pub mod nearest;
pub mod optimise;
pub mod pose;
pub mod ragdoll;
pub mod response;
pub mod rules;
mod source;
pub mod steady;
pub mod temper;
pub mod timing;
pub mod touch;

pub use body::Body;
pub use brace::{Brace, Request};
pub use impact::{FASTEST, Impact, ImpactError, SLOWEST, SpeedRange, time_to_contact};
pub use pose::{Solved, Wanted, solve};
pub use response::{Phase, Response};
pub use source::{Source, Swing};
pub use temper::Temper;
pub use timing::Timing;
pub use touch::{Extent, Touch};
