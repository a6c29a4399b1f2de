//! Fights: players that plan against each other with a game tree over actions (Shum, Komura and Yamazaki 2007; Duits).
//!
//! [`contest`] says what a game is and [`tree`] searches any of them; [`moves`] is what a library's fighters can do, [`table`] which defences answer which blows,
//! [`bout`] the rules of a fight, [`shape`] where bodies are in it, [`aim`] where blows go, [`policy`] what may be chosen in it, [`style`] how somebody fights.

#[cfg(test)]
mod abstract_duel;
pub mod aim;
pub mod bout;
pub mod contest;
pub mod moves;
pub mod policy;
mod reactions;
pub mod rehearsal;
pub mod shape;
pub mod style;
pub mod table;
pub mod tree;

pub use bout::{Bout, Corner, Fight, Fighter, Outcome};
pub use contest::{Contest, Score};
pub use moves::{Move, MoveIdx, MoveKind, Moves};
pub use policy::Choice;
pub use style::Style;
pub use table::DefenceTable;
pub use tree::{TreeConfig, TreeCounts, TreeSearch};
