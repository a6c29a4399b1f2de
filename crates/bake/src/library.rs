//! From clips that are ready to the library characters play.

use std::fmt;

use kumite_motion::library::{Library, LibraryError};
use kumite_motion::volume::{self, Volumes};
use kumite_motion::{Clip, Roles};

use crate::graph::{self, BuildError, GraphConfig, Report};
use crate::transitions::{self, TransitionConfig, TransitionError, Transitions};

/// How a library is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakeConfig {
    /// Where motions pass into each other.
    pub transitions: TransitionConfig,
    /// What is kept of that.
    pub graph: GraphConfig,
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
}

/// Why clips do not make a library.
#[derive(Clone, Debug, PartialEq)]
pub enum BakeError {
    /// They cannot be compared.
    Transitions(TransitionError),
    /// They cannot be played for ever.
    Graph(BuildError),
    /// The parts do not fit. A fault of the builder.
    Library(LibraryError),
}

impl fmt::Display for BakeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "these clips do not make a library: ")?;
        match self {
            BakeError::Transitions(error) => error.fmt(f),
            BakeError::Graph(error) => error.fmt(f),
            BakeError::Library(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BakeError {}

/// Makes the library. Same clips, same library, on any number of threads.
pub fn bake(name: &str, clips: Vec<Clip>, config: &BakeConfig) -> Result<Baked, BakeError> {
    let transitions = transitions::find(&clips, &config.transitions).map_err(BakeError::Transitions)?;
    let (graph, report) = graph::build(&clips, &transitions, &config.graph).map_err(BakeError::Graph)?;
    let spheres = volume::fit(clips[0].skeleton(), &Roles::canonical());
    let volumes = Volumes::of(&graph, &clips, spheres);
    let library = Library::new(name, clips, graph, volumes).map_err(BakeError::Library)?;
    Ok(Baked { library, report, transitions })
}
