//! Avoiding an attack: Masaki Oshita and Naoki Masaoka, *Generating Avoidance Motion Using Motion Graph*, with the errata that
//! `docs/dodging.md` lists.
//!
//! Candidates are paths that lead to an avoidance near the attack's time ([`PathIndex`] has most of them). A [`DodgeSearch`] works them out
//! in the order of what each costs at least, in slices, and stops as soon as the best is proved. What avoids by little or too much is
//! bent; where nothing avoids, [`crate::block`] is asked.

mod as_shown;
mod candidate_cost;
mod candidate_paths;
mod cells;
mod clearance;
mod cost;
mod culling;
mod decision;
mod fit_bend;
mod index;
mod leaving;
mod search;
#[cfg(test)]
mod tests;
mod walking;

pub use as_shown::Base;
pub use candidate_paths::{AvoidancePath, DefenceKind, PathRules, Paths};
pub use clearance::DodgeScratch;
pub(crate) use clearance::{away, body_at, nearest};
pub use cost::{AvoidanceCost, DodgeConfig, DodgeErrata, Weights};
pub(crate) use cost::{join_cost, timescale_cost};
pub use culling::CullingPlanes;
pub use decision::{DodgeCounts, DodgeDecision, Forecast, Judged, Origin, Verdict};
pub use index::{Avoidances, NodeIndex, PathIndex, PathTable};
pub use search::DodgeSearch;

use kumite_motion::align::PlanarMatrix;
use kumite_motion::interrupt::Interrupts;
use kumite_motion::library::Library;
use kumite_motion::{EdgeIdx, Graph};

use crate::bodies::DefenceSpan;
use crate::{Bend, Bodies, Drift, Leg, Threat, ThreatError, Warp};

/// Everything that decisions read.
#[derive(Clone, Copy, Debug)]
pub struct DodgePlanner<'a> {
    /// Where bodies are along edges.
    pub bodies: &'a Bodies,
    /// Whose bodies they are.
    pub library: &'a Library,
    /// Paths by node.
    pub index: &'a PathIndex,
    /// Bit planes for culling.
    pub planes: &'a CullingPlanes,
    /// Settings.
    pub config: DodgeConfig,
}

/// Where the playhead is.
#[derive(Clone, Debug, PartialEq)]
pub struct Situation<'a> {
    /// The edge being played.
    pub edge: EdgeIdx,
    /// Seconds since its first frame.
    pub since: f32,
    /// Placement of its clip in the world.
    pub place: PlanarMatrix,
    /// Path seconds from now at which it is left if nothing is decided; `None` at its end.
    pub leave: Option<f32>,
    /// What will be played next if nothing is decided.
    pub ahead: &'a [Leg],
    /// What carries the body away from its motion once something is decided: a plan takes the place of the one being carried out.
    pub drift: Option<Drift>,
    /// The poses that this is about; without them plans are as good as centres of bodies have them.
    pub base: Option<Base>,
    /// What goes on as long as nothing is decided; without it the same drift, and nothing bent or scaled.
    pub running: Option<Running>,
}

/// What is left of the plan being carried out, apart from its edges. Times count from now.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// What carries the body away from its motion.
    pub drift: Option<Drift>,
    /// How the motion is bent.
    pub bend: Option<Bend>,
    /// How its speed changes.
    pub warp: Warp,
}

impl<'a> DodgePlanner<'a> {
    /// Where motion may branch.
    pub fn graph(&self) -> &'a Graph {
        self.library.graph()
    }

    /// Where what is played can be left at once.
    pub fn interrupts(&self) -> &'a Interrupts {
        self.library.interrupts()
    }

    /// Whether an avoidance is one against the attack that comes first, or one of those that do.
    pub(crate) fn answers(&self, part: &DefenceSpan, threats: &[Threat]) -> bool {
        let soonest = threats.iter().map(|t| t.arrives).fold(f32::INFINITY, f32::min);
        let mut first = threats.iter().filter(|t| t.arrives <= soonest).flat_map(Threat::heights);
        !self.config.at_height || threats.is_empty() || first.any(|height| part.heights.answer(height))
    }

    /// Decides in one go.
    pub fn decide(
        &self,
        situation: &Situation<'_>,
        threats: &[Threat],
        scratch: &mut DodgeScratch,
    ) -> Result<DodgeDecision, ThreatError> {
        let mut search = DodgeSearch::new(self, situation, threats, false)?;
        while !search.step(self, scratch, u32::MAX) {}
        Ok(search.decision(self, scratch))
    }
}
