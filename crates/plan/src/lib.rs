//! Decisions: what a character should play so that an attack misses it or meets its guard, and so that it reaches a goal.
//!
//! Planners stand side by side: [`dodge`] finds the path through the graph whose avoidance is the smallest that works, [`block`]
//! the guard that meets the attack, [`walk`] the way through obstacles. What several of them share is at the root: an attack is a
//! [`Threat`], where bodies are comes from [`Bodies`], a path is laid out in [`legs`] and timed by a [`Warp`], a [`bend`] changes a
//! chosen motion a little.
//!
//! Does not: read files, know the clock, start threads, or move anybody. Searches are in slices of counts.
//! The same inputs give the same decision on every platform.

pub mod bend;
pub mod block;
pub mod bodies;
pub mod dodge;
pub mod drift;
pub mod errata;
mod footing;
#[cfg(test)]
mod hand_made;
pub mod heights;
pub mod legs;
pub mod plan;
pub mod pool;
pub mod spar;
pub mod threat;
pub mod walk;
pub mod warp;

pub use bend::Bend;
pub use bodies::Bodies;
pub use drift::Drift;
pub use errata::Form;
pub use plan::{Leg, Plan};
pub use pool::{Alone, Pool};
pub use threat::{Threat, ThreatError};
pub use warp::Warp;
