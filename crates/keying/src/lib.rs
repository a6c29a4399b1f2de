//! Keyed motions: stances and key poses written by people in TOML, compiled to clips of the canonical humanoid.
//!
//! A motion names what moves and when, relative to a stance; the compiler adds what bodies do by themselves: minimum-jerk
//! paths, hips that lead the chest that leads the hands, weight over the feet, knees and elbows where they belong, planted feet
//! that do not move, breath. `docs/keying.md` explains the language.
//!
//! Does not: read files, or know the clock. Same keys give the same bits.

mod check;
mod compile;
mod curve;
pub mod embedded;
mod file;
mod flight;
mod leg;
mod manner;
mod variant;

pub use compile::{FPS, compile, mirrored};
pub use curve::Ease;
pub use file::{
    Attitude, Early, Fist, Flight, Foot, FootPlace, Key, MotionFile, Place, Shoulder, SpanKey, StanceFile, Step,
};

pub use manner::Manner;

use kumite_text::TextError;

/// Reads a stance.
pub fn read_stance(text: &str) -> Result<StanceFile, TextError> {
    kumite_text::read(text)
}

/// Reads a motion and checks what can be checked without its stance.
pub fn read_motion(text: &str) -> Result<MotionFile, TextError> {
    let motion: MotionFile = kumite_text::read(text)?;
    check::check(&motion).map_err(|e| e.located(text))?;
    Ok(motion)
}
