//! Keyed motions: stances and key poses written by people in TOML, compiled to clips of the canonical humanoid.
//!
//! A motion names what moves and when, relative to a stance; the compiler adds what bodies do by themselves: minimum-jerk
//! paths, hips that lead the chest that leads the hands, weight over the feet, knees and elbows where they belong, planted feet
//! that do not move, breath. `docs/keying.md` explains the language.
//!
//! Does not: read files, or know the clock. Same keys give the same bits.

mod compile;
mod curve;
pub mod embedded;
mod error;
mod file;

pub use compile::{FPS, compile, mirrored};
pub use curve::Ease;
pub use error::KeyingError;
pub use file::{Attitude, Fist, Foot, FootPlace, Hand, Key, MotionFile, SpanKey, StanceFile, Step};

/// Reads a stance.
pub fn read_stance(text: &str) -> Result<StanceFile, KeyingError> {
    toml::from_str(text).map_err(|e| KeyingError::from_toml(text, &e))
}

/// Reads a motion and checks what can be checked without its stance.
pub fn read_motion(text: &str) -> Result<MotionFile, KeyingError> {
    let motion: MotionFile = toml::from_str(text).map_err(|e| KeyingError::from_toml(text, &e))?;
    compile::check(&motion)?;
    Ok(motion)
}
