//! Decisions: what a character should play so that an attack misses it, or meets its guard.
//!
//! Masaki Oshita and Naoki Masaoka, *Generating Avoidance Motion Using Motion Graph*, with the errata that
//! `docs/dodging.md` lists. An attack is a [`Threat`]; where bodies are comes from [`Bodies`]; [`dodge`] finds the path whose avoidance is
//! the smallest that works, with the help of the per-node [`index`] and of [`cull`]; [`adapt`] bends what was chosen
//! to the attack; [`block`] meets it.
//!
//! Does not: read files, know the clock, start threads, or move anybody. Searches are in slices of counts.
//! Same inputs give the same decision on every platform.

pub mod adapt;
pub mod block;
pub mod bodies;
pub mod cull;
pub mod dodge;
pub mod index;
pub mod paths;
mod place;
pub mod terms;
pub mod threat;
pub mod walk;
pub mod warp;

pub use bodies::{Bodies, Pace};
pub use dodge::{Decision, Outcome, Planner, Scratch, Search, Situation};
pub use index::Index;
pub use place::Place;
pub use terms::{Config, Errata, Form, Terms, Weights};
pub use threat::{Threat, ThreatError};
pub use warp::Warp;
