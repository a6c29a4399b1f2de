//! From raw clips to a library: what a capture is (which joint plays which role, which way is up, how long a metre is, what the true
//! rate is), where feet are planted.
//!
//! Does not: read files, know the clock, or run while characters play. Same clips give the same answers.

pub mod analyse;
pub mod contacts;
pub mod coverage;
pub mod graph;
pub mod indices;
pub mod interrupts;
pub mod judge;
pub mod kit;
pub mod library;
pub mod manifest;
pub mod offence;
pub mod prepare;
pub mod reaction;
pub mod rehearse;
pub mod repair;
pub mod transitions;
pub mod understand;
pub mod walking;

pub use understand::{Found, Understanding, understand};
