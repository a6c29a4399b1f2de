//! Fights: players that plan against each other with a game tree over actions (Shum, Komura and Yamazaki 2007; Duits).
//!
//! [`contest`] says what a game is, [`tree`] searches any of them.

#[cfg(test)]
mod abstract_duel;
pub mod contest;
pub mod moves;
pub mod tree;
