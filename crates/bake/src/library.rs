//! From clips that are ready to the library characters play.

use std::collections::BTreeSet;
use std::sync::Arc;

use kumite_motion::library::{Library, LibraryError};
use kumite_motion::{Clip, ClipError, EdgeIdx};

use crate::graph::{self, BuildError, GraphConfig, Report};
use crate::rehearse::rehearse;
use crate::repair::{self, RepairConfig, Repaired};
use crate::transitions::{self, TransitionConfig, TransitionError, Transitions};

/// How a library is made.
#[derive(Clone, Debug, PartialEq)]
pub struct BakeConfig {
    /// Where motions pass into each other.
    pub transitions: TransitionConfig,
    /// What is kept of that.
    pub graph: GraphConfig,
    /// How what is lost or far away is brought near; `None` leaves the graph as it is.
    pub repair: Option<RepairConfig>,
}

impl Default for BakeConfig {
    fn default() -> BakeConfig {
        BakeConfig {
            transitions: TransitionConfig::default(),
            graph: GraphConfig::default(),
            repair: Some(RepairConfig::default()),
        }
    }
}

/// A library, and what became of its clips.
#[derive(Clone, Debug)]
pub struct Baked {
    /// For the run time.
    pub library: Library,
    /// What the graph kept and lost.
    pub report: Report,
    /// All that was found, of which the graph keeps a part.
    pub transitions: Transitions,
    /// How many of them looked bad when they were played, and are not in it.
    pub rehearsed_out: usize,
    /// What was repaired.
    pub repaired: Repaired,
}

/// Why clips do not make a library.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BakeError {
    /// They cannot be compared.
    #[error("these clips do not make a library: {0}")]
    Transitions(TransitionError),
    /// They do not make a graph that can be played forever.
    #[error("these clips do not make a library: {0}")]
    Graph(BuildError),
    /// The parts do not fit together: a fault of the builder.
    #[error("these clips do not make a library: {0}")]
    Library(LibraryError),
    /// A clip has no mirror image.
    #[error("these clips do not make a library: {0}")]
    Mirror(ClipError),
}

/// Taking out bad transitions lets in others that were not rehearsed; after this many rounds the rest is accepted.
const ROUNDS: usize = 12;

/// Makes the library. Same clips, same library, on any number of threads.
pub fn bake(name: &str, mut clips: Vec<Clip>, config: &BakeConfig) -> Result<Baked, BakeError> {
    let mut transitions = transitions::find(&clips, &config.transitions).map_err(BakeError::Transitions)?;
    let (mut rehearsed, mut rehearsed_out) = (BTreeSet::new(), 0);
    let mut round = 0;
    loop {
        round += 1;
        let (graph, report) = graph::build(&clips, &transitions, &config.graph).map_err(BakeError::Graph)?;
        let library = Arc::new(Library::new(name, clips, graph).map_err(BakeError::Library)?);
        let transition_of = |edge: EdgeIdx| {
            let edge = library.graph().edge(edge);
            let node = library.graph().nodes()[edge.from.at()];
            ((node.clip, node.frame), (edge.clip, edge.first))
        };
        let new: Vec<EdgeIdx> = (0..library.graph().edges().len() as u32)
            .map(EdgeIdx)
            .filter(|e| library.graph().edge(*e).join.is_some() && rehearsed.insert(transition_of(*e)))
            .collect();
        let bad = if round <= ROUNDS { rehearse(&library, &new) } else { Vec::new() };
        let bad: BTreeSet<_> = bad.into_iter().map(transition_of).collect();
        let library = Arc::unwrap_or_clone(library);
        if bad.is_empty() {
            let (library, repaired) = mend(library, &transitions, config)?;
            return Ok(Baked { library, report, transitions, rehearsed_out, repaired });
        }
        rehearsed_out += bad.len();
        transitions.list.retain(|t| !bad.contains(&(t.from, t.to)));
        clips = library.into_clips();
    }
}

fn mend(library: Library, transitions: &Transitions, config: &BakeConfig) -> Result<(Library, Repaired), BakeError> {
    let Some(repair) = &config.repair else { return Ok((library, Repaired::default())) };
    repair::repair(&library, transitions.window_seconds, repair).map_err(BakeError::Library)
}
