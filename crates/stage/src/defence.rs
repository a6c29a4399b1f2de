//! What a library's characters defend themselves with, and how a decision gets onto the stage.

use std::sync::Arc;

use kumite_motion::align::PlanarMatrix;
use kumite_motion::library::Library;
use kumite_motion::{Pose, Vec3, WorldPose, fk};
use kumite_plan::dodge::{
    CullingPlanes, DodgeConfig, DodgeDecision, DodgePlanner, DodgeScratch, DodgeSearch, PathIndex, Running, Situation,
};
use kumite_plan::{Bodies, Drift, Form, Leg, Threat, ThreatError};

use crate::Character;
use crate::character::{JoinPoses, TICK};

/// Tables of one library, shared by all its characters.
#[derive(Clone, Debug)]
pub struct Defence {
    library: Arc<Library>,
    bodies: Bodies,
    index: PathIndex,
    planes: CullingPlanes,
    /// How decisions are made.
    pub config: DodgeConfig,
}

impl Defence {
    /// Works the tables out on this thread; those of the grid and for culling only if `config` asks for them.
    pub fn new(library: Arc<Library>, config: DodgeConfig) -> Defence {
        let bodies = Bodies::of(&library, false);
        let index = PathIndex::of(&bodies, library.graph(), &config.rules, config.grid);
        let planes = if config.cull { CullingPlanes::of(&bodies) } else { CullingPlanes::default() };
        Defence::with_tables(library, bodies, (index, planes), config)
    }

    /// From tables made elsewhere, of the same library.
    pub fn with_tables(
        library: Arc<Library>,
        bodies: Bodies,
        (index, planes): (PathIndex, CullingPlanes),
        config: DodgeConfig,
    ) -> Defence {
        Defence { library, bodies, index, planes, config }
    }

    /// Where bodies are.
    pub fn bodies(&self) -> &Bodies {
        &self.bodies
    }

    /// Paths by node.
    pub fn index(&self) -> &PathIndex {
        &self.index
    }

    /// For culling.
    pub fn planes(&self) -> &CullingPlanes {
        &self.planes
    }

    /// Of which library.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// For one decision.
    pub fn planner(&self) -> DodgePlanner<'_> {
        let (bodies, index, planes) = (&self.bodies, &self.index, &self.planes);
        DodgePlanner { bodies, library: &self.library, index, planes, config: self.config }
    }

    /// What a character carries out.
    fn running(&self, character: &Character) -> Running {
        let drift = character.running_join().map(|join| self.drift(&join));
        Running { drift, bend: character.bend(), warp: character.warp() }
    }

    /// A join as it moves the centres of bodies.
    fn drift(&self, join: &JoinPoses) -> Drift {
        let mut world = WorldPose::default();
        let mut centres = |pose: &Pose| -> Vec<Vec3> {
            fk::pose(self.library.skeleton(), pose, &mut world);
            let spheres = self.library.spheres().iter().map(|s| world.point(s.joint, s.offset));
            spheres.chain(world.positions.iter().copied()).collect()
        };
        let [a, b, c, d] = [&join.shown[0], &join.shown[1], &join.motion[0], &join.motion[1]].map(&mut centres);
        self.bodies.drift([&a, &b], [&c, &d], TICK, (join.seconds, join.since))
    }

    /// Where a character's playhead is. `ahead` is what it will play next if nothing happens.
    pub fn situation<'a>(&self, character: &Character, ahead: &'a [Leg]) -> Situation<'a> {
        let playing = character.playing();
        Situation {
            edge: playing.edge,
            since: playing.since,
            place: PlanarMatrix::new(&character.placement()),
            leave: character.leaves(),
            ahead,
            drift: character.next_join().map(|join| self.drift(&join)),
            base: Some(character.joined_from()),
            running: character.following().then(|| self.running(character)),
        }
    }

    /// Decides for a character, all at once. Attacks that touch it already are refused.
    pub fn decide(
        &self,
        character: &Character,
        ahead: &[Leg],
        threats: &[Threat],
        scratch: &mut DodgeScratch,
    ) -> Result<DodgeDecision, ThreatError> {
        let planner = self.planner();
        let mut search = self.search(character, ahead, threats, false)?;
        while !search.step(&planner, scratch, u32::MAX) {}
        Ok(search.decision(&planner, scratch))
    }

    /// A decision in slices.
    pub fn search(
        &self,
        character: &Character,
        ahead: &[Leg],
        threats: &[Threat],
        why: bool,
    ) -> Result<DodgeSearch, ThreatError> {
        if !Arc::ptr_eq(character.library(), &self.library) && **character.library() != *self.library {
            return Err(ThreatError::Foreign);
        }
        let planner = self.planner();
        let search = DodgeSearch::new(&planner, &self.situation(character, ahead), threats, why)?;
        let depth = search.inside(&planner);
        if depth > 0.0 { Err(ThreatError::Inside { depth }) } else { Ok(search) }
    }

    /// Whether printed forms are in use.
    pub fn printed(&self) -> bool {
        let e = self.config.errata;
        [e.avoidance, e.body, e.timescale, e.adjustable, e.sampling, e.culling].contains(&Form::Printed)
    }
}
