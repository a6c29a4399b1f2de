//! All that the run time needs, in one place.

use std::sync::Arc;

use crate::volume::{self, BodySphere};
use crate::{Clip, ClipIdx, Graph, Layer, Roles, Skeleton};

/// Skeleton, clips, graph and body: read-only, and shareable between threads.
///
/// Invariants: at least one clip; all clips are of the one skeleton; the graph's frames and spans exist.
#[derive(Clone, Debug, PartialEq)]
pub struct Library {
    /// For people.
    pub name: String,
    /// Credits, one line each.
    pub attribution: Vec<String>,
    skeleton: Arc<Skeleton>,
    clips: Box<[Clip]>,
    graph: Graph,
    spheres: Box<[BodySphere]>,
}

/// Why parts do not make a library.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LibraryError {
    /// There are no clips.
    #[error("a library needs at least one clip")]
    NoClips,
    /// A clip of another skeleton than the first.
    #[error("clip {} has another skeleton than the first", clip.0)]
    OtherSkeleton {
        /// The other clip.
        clip: ClipIdx,
    },
    /// The graph has no edges of a layer.
    #[error("nothing in this library can be played this way")]
    NoLayer,
    /// The graph plays frames or spans that its clips do not have.
    #[error("edge {edge} plays frames or spans that the clips do not have")]
    OtherGraph {
        /// Position of the edge.
        edge: usize,
    },
}

impl Library {
    /// Checks that the parts fit.
    pub fn new(name: &str, clips: Vec<Clip>, graph: Graph) -> Result<Library, LibraryError> {
        let skeleton = Arc::clone(clips.first().ok_or(LibraryError::NoClips)?.skeleton());
        if let Some(other) = clips.iter().position(|c| **c.skeleton() != *skeleton) {
            return Err(LibraryError::OtherSkeleton { clip: ClipIdx(other as u32) });
        }
        for (index, edge) in graph.edges().iter().enumerate() {
            let idx = crate::EdgeIdx(index as u32);
            let fits = clips.get(edge.clip.at()).is_some_and(|clip| {
                let spans = graph.spans(idx).iter().all(|s| (s.span as usize) < clip.spans.len());
                spans && edge.last.at() < clip.frames()
            });
            if !fits {
                return Err(LibraryError::OtherGraph { edge: index });
            }
        }
        let spheres = volume::fit(&skeleton, &Roles::by_canonical_names(&skeleton)).into();
        Ok(Library { name: name.to_owned(), attribution: Vec::new(), skeleton, clips: clips.into(), graph, spheres })
    }

    /// This library for fighters, and another of the same body for walkers: one table of clips, one graph.
    pub fn with_walks(self, walks: &Library) -> Result<Library, LibraryError> {
        let mut clips = self.clips.into_vec();
        let mut place = Vec::with_capacity(walks.clips.len());
        for clip in &walks.clips {
            let same = clips.iter().position(|known| known.name == clip.name && known == clip);
            place.push(same.unwrap_or(clips.len()));
            if same.is_none() {
                clips.push(clip.clone());
            }
        }
        let graph = self.graph.with_walks(&walks.graph.with_clips(|clip| ClipIdx(place[clip.at()] as u32)));
        let graph = graph.map_err(|_| LibraryError::OtherGraph { edge: 0 })?;
        let mut library = Library::new(&self.name, clips, graph)?;
        library.attribution = self.attribution;
        Ok(library)
    }

    /// The same library with all of its graph in one layer.
    #[must_use]
    pub fn in_layer(self, layer: Layer) -> Library {
        Library { graph: self.graph.in_layer(layer), ..self }
    }

    /// One layer of this library alone, without clips that only the other plays.
    pub fn only(&self, layer: Layer) -> Result<Library, LibraryError> {
        let other = if layer == Layer::Fight { Layer::Walk } else { Layer::Fight };
        let (own, others) = (self.clips_of(layer), self.clips_of(other));
        let mut place = vec![None; self.clips.len()];
        let mut clips = Vec::new();
        for (index, clip) in (0..).map(ClipIdx).zip(&self.clips) {
            if own.contains(&index) || !others.contains(&index) {
                place[index.at()] = Some(ClipIdx(clips.len() as u32));
                clips.push(clip.clone());
            }
        }
        let graph = self.graph.only(layer).ok_or(LibraryError::NoLayer)?;
        let graph = graph.with_clips(|clip| place[clip.at()].unwrap_or(clip));
        let mut library = Library::new(&self.name, clips, graph)?;
        library.attribution.clone_from(&self.attribution);
        Ok(library)
    }

    /// The clips that edges of a layer play, in order.
    pub fn clips_of(&self, layer: Layer) -> Vec<ClipIdx> {
        let mut plays = vec![false; self.clips.len()];
        for edge in self.graph.edges().iter().filter(|edge| edge.layer == layer) {
            plays[edge.clip.at()] = true;
        }
        (0..).map(ClipIdx).zip(plays).filter(|(_, plays)| *plays).map(|(clip, _)| clip).collect()
    }

    /// The clips again, to make another library of.
    pub fn into_clips(self) -> Vec<Clip> {
        self.clips.into_vec()
    }

    /// The one all clips are of.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// All clips.
    pub fn clips(&self) -> &[Clip] {
        &self.clips
    }

    /// One clip.
    #[inline]
    pub fn clip(&self, clip: ClipIdx) -> &Clip {
        &self.clips[clip.at()]
    }

    /// Where motion may branch and what can be played from there.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The spheres that cover the body, and the joints that carry them.
    pub fn spheres(&self) -> &[BodySphere] {
        &self.spheres
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::Planar;
    use crate::graph::{Edge, Join, Node, NodeIdx};
    use crate::{FrameIdx, Pose, humanoid};

    fn clip(height: f32, frames: usize) -> Clip {
        let skeleton = Arc::new(humanoid::skeleton_with(&humanoid::Proportions::of_height(height)));
        let rest = Pose::rest(&skeleton);
        Clip::new("stand", skeleton, 30.0, &vec![rest; frames]).unwrap()
    }

    fn graph(last: u32) -> Graph {
        let node = Node { clip: ClipIdx(0), frame: FrameIdx(last) };
        let join = Join { blend: 0.1, align: Planar::IDENTITY, distance: 0.0 };
        let range = (ClipIdx(0), FrameIdx(0), FrameIdx(last));
        let seconds = last as f32 / 30.0;
        let edge = Edge::new(NodeIdx(0), NodeIdx(0), range, Some(join), seconds, Planar::IDENTITY);
        Graph::new(vec![node], vec![(edge, Vec::new())]).unwrap()
    }

    #[test]
    fn parts_must_fit() {
        let clips = vec![clip(1.75, 31), clip(1.75, 10)];
        let (fits, long) = (graph(30), graph(31));
        let library = Library::new("standing", clips.clone(), fits.clone()).unwrap();
        assert_eq!((library.clips().len(), library.graph().edges().len()), (2, 1));
        let error = |clips: Vec<Clip>, graph: Graph| Library::new("", clips, graph).unwrap_err();
        assert_eq!(error(Vec::new(), fits.clone()), LibraryError::NoClips);
        assert_eq!(error(clips.clone(), long), LibraryError::OtherGraph { edge: 0 });
        let mixed = vec![clip(1.75, 31), clip(1.6, 31)];
        assert_eq!(error(mixed, fits), LibraryError::OtherSkeleton { clip: ClipIdx(1) });
    }
}
