//! Version 3 of the records: version 2, and which edges are for walkers.

use kumite_motion::Layer;
use kumite_motion::library::Library;
use serde::{Deserialize, Serialize};

use crate::v2;

/// [`Library`].
#[derive(Debug, Serialize, Deserialize)]
pub struct LibraryRecord {
    /// All that version 2 has.
    pub base: v2::LibraryRecord,
    /// By edge: whether it is for walkers.
    pub walks: Vec<bool>,
}

impl From<&Library> for LibraryRecord {
    fn from(library: &Library) -> LibraryRecord {
        let walks = library.graph().edges().iter().map(|edge| edge.layer == Layer::Walk);
        LibraryRecord { base: library.into(), walks: walks.collect() }
    }
}

impl LibraryRecord {
    /// With the rows of all clips, one after the other.
    pub(crate) fn into_library(self, rows: &[u8]) -> Result<Library, String> {
        if self.walks.len() != self.base.base.edges.len() {
            return Err("layers of other edges".to_owned());
        }
        self.base.into_library(rows, &self.walks)
    }
}
