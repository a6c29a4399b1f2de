//! Walking to a goal through clutter: Je-Ren Chen and Anthony Steed, *Planning Plausible Human
//! Animation with Environment-aware Motion Sampling*, with the errata that `docs/walking.md` lists.
//!
//! A [`Query`] says from where to where; a [`Task`] is a query with everything that is worked out before the search. [`Tables`] describe
//! the library, an [`ObstacleGrid`] the obstacles, a [`DistanceField`] the shortest route over the floor. A [`WalkPath`] is a
//! sequence of transitions between clips; an [`Objective`] says what it costs. A [`Solver`] runs one method: [`MutationSearch`] mutates paths until none
//! gets better, with obstacles in the cost (EMS) or along a route found before (PFF); [`LookAhead`] finds a first path;
//! [`fit_to_goal`] fits the last steps to the goal.
//!
//! Does not: read files, know the clock, or move anybody. Searches are in slices of counts. A [`crate::Pool`] that is handed in
//! changes nothing but the time.

mod distance_field;
mod goal_fit;
mod heading_field;
mod look_ahead;
mod mutation_search;
mod mutations;
mod objective;
mod obstacle_grid;
mod solver;
mod tables;
mod task;
#[cfg(test)]
mod tests;
pub mod transition_clusters;

pub use distance_field::{DistanceField, Walls, least_turning, length, turning};
pub use goal_fit::{GoalFitConfig, fit_to_goal};
pub use heading_field::{HeadingField, Tail};
pub use look_ahead::{LookAhead, LookAheadConfig, LookAheadResult, Order, Sight, look_ahead};
pub use mutation_search::{Ends, MutationSearch, WalkCounts};
pub use objective::{Objective, Trace, WalkCost, WalkPath};
pub use obstacle_grid::{Lattice, ObstacleGrid};
pub use solver::{Effort, Method, Solver};
pub use tables::{ANY, GlobalFrame, Nudges, STAND, SWAY, Tables, Transition};
pub use task::{Query, Task, WalkError};

use crate::Form;

/// Which equations are taken as printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WalkErrata {
    /// Eq. 5: joints are points, tested once per frame, so that thin obstacles slip between them.
    pub points: Form,
    /// Eq. 5: the inner sum starts at j = i. Matters only if `points` is printed too.
    pub inner: Form,
    /// Eq. 7: a sum over frames, whatever the frame rate.
    pub frames: Form,
    /// Eq. 6: standing still is no detour.
    pub travel: Form,
}

/// Weights of the cost, and how paths are mutated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalkConfig {
    /// `w_l`, per square metre: 30 cm count as much as 10° (§ 4).
    pub location: f32,
    /// `w_o`, per square radian.
    pub orientation: f32,
    /// `w_d`: not in the paper. 10 makes a detour of 10 % as bad as 30 cm.
    pub travel: f32,
    /// Cost of a metre of detour in our objective, where turning and waiting count as distance: as much as five median transitions.
    pub metre: f32,
    /// Weight of the collision sum: 1 is as printed, and makes a foot through a box cheaper than a transition.
    pub collide: f32,
    /// `pow_follow`.
    pub follow_power: f32,
    /// `d_step`, metres.
    pub follow_step: f32,
    /// Distance kept from obstacles, metres: joins and planted feet move a body slightly away from its clip.
    pub margin: f32,
    /// How many of the best paths are mutated.
    pub best: usize,
    /// Random pairs of transitions through a third clip, per mutated path. The paper has none.
    pub detours: u32,
    /// Whether transitions are exchanged for others of their cluster. The paper leaves that out of its results.
    pub demote: bool,
    /// Which equations are taken as printed.
    pub errata: WalkErrata,
}

impl Default for WalkConfig {
    fn default() -> Self {
        let ten = 10.0f32.to_radians();
        WalkConfig {
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
            errata: WalkErrata::default(),
        }
    }
}
