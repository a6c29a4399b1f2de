//! All that the run time needs, read-only and shareable: clips on one skeleton, and the graph over them.

use std::fmt;
use std::sync::Arc;

use crate::graph::{ClipIdx, Graph};
use crate::{Clip, Skeleton};

/// Clips of one body, and where motion may go from where.
///
/// Invariants: at least one clip; all on one skeleton; the graph names only frames that are there.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    name: String,
    clips: Vec<Clip>,
    graph: Graph,
    attribution: Vec<String>,
}

/// Why clips and a graph do not make a library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LibraryError {
    /// There are none.
    NoClips,
    /// A clip is on another skeleton than the first.
    OtherSkeleton {
        /// Its name.
        clip: String,
    },
    /// The graph names a clip or frame that is not there.
    OutOfRange {
        /// Which node of the graph, or which edge.
        place: usize,
    },
}

impl fmt::Display for LibraryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LibraryError::NoClips => write!(f, "a library needs at least one clip"),
            LibraryError::OtherSkeleton { clip } => write!(f, "clip {clip:?} is on another skeleton than the first"),
            LibraryError::OutOfRange { place } => write!(f, "place {place} of the graph is beyond the clips"),
        }
    }
}

impl std::error::Error for LibraryError {}

impl Library {
    /// Checks that everything fits together.
    pub fn new(name: &str, clips: Vec<Clip>, graph: Graph, attribution: Vec<String>) -> Result<Library, LibraryError> {
        let first = clips.first().ok_or(LibraryError::NoClips)?;
        if let Some(other) = clips.iter().find(|c| c.skeleton() != first.skeleton()) {
            return Err(LibraryError::OtherSkeleton { clip: other.name.clone() });
        }
        let frames = |clip: ClipIdx| clips.get(clip.at()).map_or(0, Clip::frames);
        if let Some(place) = graph.nodes().iter().position(|n| n.frame.at() >= frames(n.clip)) {
            return Err(LibraryError::OutOfRange { place });
        }
        if let Some(place) = graph.edges().iter().position(|e| e.last.at() >= frames(e.clip)) {
            return Err(LibraryError::OutOfRange { place });
        }
        Ok(Library { name: name.to_owned(), clips, graph, attribution })
    }

    /// For people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The body.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        self.clips[0].skeleton()
    }

    /// Every clip.
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// One clip.
    #[inline]
    pub fn clip(&self, clip: ClipIdx) -> &Clip {
        &self.clips[clip.at()]
    }

    /// Where motion may go.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Whom to thank, a line each.
    pub fn attribution(&self) -> &[String] {
        &self.attribution
    }
}
