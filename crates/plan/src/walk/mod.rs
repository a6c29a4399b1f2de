//! Where a character should go so that it reaches a goal through clutter: Je-Ren Chen and Anthony Steed, *Planning Plausible Human
//! Animation with Environment-aware Motion Sampling*, with the errata that `docs/walking.md` lists.
//!
//! A [`Query`] says from where to where. [`Tables`] know the library, [`Ground`] the obstacles, a [`Field`] the shortest way over the floor.
//! A [`Path`] is a row of transitions between clips; an [`Aim`] knows what it costs. [`Search`] mutates paths until none gets
//! better, with obstacles in the cost (EMS) or along a way found before (PFF); [`informed`] finds a first path by looking ahead;
//! [`approach`] bends the last steps onto the goal.
//!
//! Does not: read files, know the clock, or move anybody. Searches are in slices of counts. Threads are started only where somebody asks for more
//! than one, and change nothing but the time.

pub mod approach;
mod crew;
pub mod field;
pub mod ground;
pub mod headed;
pub mod informed;
pub mod path;
mod score;
pub mod search;
pub mod solve;
pub mod tables;
pub mod task;
pub mod tree;

pub use crate::Form;
pub use field::Field;
pub use ground::Ground;
pub use headed::Headed;
pub use path::{Aim, Path, Terms};
pub use search::{Counts, Search};
pub use solve::{Effort, Method, Solver};
pub use tables::{At, Rigid, Step, Tables};
pub use task::{Query, Task, WalkError};

/// Which equations are taken as printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Errata {
    /// Eq. 5: joints without thickness, looked at once a frame, so that thin obstacles pass between.
    pub points: Form,
    /// Eq. 5: the inner sum starts at j = i. Counts only where joints are looked at.
    pub inner: Form,
    /// Eq. 7: a sum over frames, whatever their rate.
    pub frames: Form,
    /// Eq. 6: standing still is no detour.
    pub travel: Form,
}

/// How paths are judged and searched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// `w_l`, per square metre: 30 cm count as much as 10° (§ 4).
    pub location: f32,
    /// `w_o`, per square radian.
    pub orientation: f32,
    /// `w_d`: not in the paper. 10 makes a detour of 10 % as bad as 30 cm.
    pub travel: f32,
    /// What a metre of detour costs where turning and waiting count as way (ours): as much as five median transitions.
    pub metre: f32,
    /// Of the collision sum: 1 is as printed, and lets a foot pass through a box for less than a transition costs.
    pub collide: f32,
    /// `pow_follow`.
    pub follow_power: f32,
    /// `d_step`, metres.
    pub follow_step: f32,
    /// Obstacles are kept this far from, metres: joins and planted feet move a body a little from where its clip has it.
    pub margin: f32,
    /// Candidates that are mutated.
    pub best: usize,
    /// Pairs of transitions through a third clip tried in each round and candidate. 0 is the paper.
    pub detours: u32,
    /// Whether transitions are exchanged for others of their cluster. The paper did not.
    pub demote: bool,
    /// Printed forms.
    pub errata: Errata,
}

impl Default for Config {
    fn default() -> Self {
        let ten = 10.0f32.to_radians();
        Config {
            location: 1.0 / (0.3 * 0.3),
            orientation: 1.0 / (ten * ten),
            travel: 10.0,
            metre: 1.5,
            collide: 40.0,
            follow_power: 2.0,
            follow_step: 0.3,
            margin: 0.02,
            best: 3,
            detours: 2000,
            demote: true,
            errata: Errata::default(),
        }
    }
}
