//! All that the run time needs, in one place.

use std::sync::Arc;

use crate::align::Planar;
use crate::interrupt::{self, Interrupts, Onset};
use crate::volume::{self, BodySphere};
use crate::{Clip, ClipIdx, EdgeIdx, FrameIdx, Graph, Layer, Pose, Roles, Skeleton, WorldPose, fk};

/// Skeleton, clips, graph and body: read-only, and shareable between threads.
///
/// Invariants: at least one clip; all clips are of the one skeleton; the graph's frames and spans exist, and so do those of the interrupts.
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
    interrupts: Interrupts,
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
    /// An onset, interrupt or committed part of other clips or another graph.
    #[error("{what} {index} names an edge, a span or frames that the library does not have")]
    OtherInterrupts {
        /// Onset, interrupt or committed part.
        what: &'static str,
        /// Its position.
        index: usize,
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
        let (clips, interrupts) = (clips.into(), Interrupts::default());
        Ok(Library { name: name.to_owned(), attribution: Vec::new(), skeleton, clips, graph, spheres, interrupts })
    }

    /// The same library with interrupts, if they are of its clips and its graph.
    pub fn with_interrupts(self, interrupts: Interrupts) -> Result<Library, LibraryError> {
        let holds = |clip: ClipIdx, last: FrameIdx| self.clips.get(clip.at()).is_some_and(|c| last.at() < c.frames());
        let other = |what, index: Option<usize>| index.map(|index| LibraryError::OtherInterrupts { what, index });
        let onset = interrupts.onsets().iter().position(|onset| {
            let edge = self.graph.edges().get(onset.edge.at());
            !edge.is_some_and(|edge| {
                let span = self.clips[edge.clip.at()].spans.get(onset.span as usize);
                onset.enter < edge.seconds && span.is_some_and(|span| span.kind == onset.kind)
            })
        });
        let range = interrupts.ranges().iter().position(|r| !holds(r.clip, r.last));
        let part = interrupts.committed().iter().position(|p| !holds(p.clip, p.last));
        let found = other("onset", onset).or(other("interrupt", range)).or(other("committed part", part));
        match found {
            Some(error) => Err(error),
            None => Ok(Library { interrupts, ..self }),
        }
    }

    /// This library for fighters, and another of the same body for walkers: one table of clips, one graph. Its interrupts are kept,
    /// those of `walks` are not.
    pub fn with_walks(self, walks: &Library) -> Result<Library, LibraryError> {
        let mut clips = self.clips.into_vec();
        let mut place = Vec::with_capacity(walks.clips.len());
        // What no walker plays is left out.
        let played: Vec<ClipIdx> = walks.graph.edges().iter().map(|edge| edge.clip).collect();
        for (clip, index) in walks.clips.iter().zip((0..).map(ClipIdx)) {
            let same = clips.iter().position(|known| known.name == clip.name && known == clip);
            place.push(same.unwrap_or(clips.len()));
            if same.is_none() && played.contains(&index) {
                clips.push(clip.clone());
            }
        }
        // Edges of fighters keep their order; those of walkers come between them.
        let old: Vec<EdgeIdx> = self.graph.edges_of(Layer::Fight).collect();
        let graph = self.graph.with_walks(&walks.graph.with_clips(|clip| ClipIdx(place[clip.at()] as u32)));
        let graph = graph.map_err(|_| LibraryError::OtherGraph { edge: 0 })?;
        let new: Vec<EdgeIdx> = graph.edges_of(Layer::Fight).collect();
        let moved = |edge: EdgeIdx| new.get(old.binary_search(&edge).ok()?).copied();
        let interrupts = self.interrupts.renumbered(moved, Some);
        let mut library = Library::new(&self.name, clips, graph)?;
        library.attribution = self.attribution;
        library.with_interrupts(interrupts)
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
        // Edges of one layer keep their order.
        let kept: Vec<EdgeIdx> = self.graph.edges_of(layer).collect();
        let moved = |edge: EdgeIdx| Some(EdgeIdx(kept.binary_search(&edge).ok()? as u32));
        let interrupts = self.interrupts.renumbered(moved, |clip| place[clip.at()]);
        let mut library = Library::new(&self.name, clips, graph)?;
        library.attribution.clone_from(&self.attribution);
        library.with_interrupts(interrupts)
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

    /// Where motion can be left at once, and for what; empty where that was not looked for.
    pub fn interrupts(&self) -> &Interrupts {
        &self.interrupts
    }

    /// How an onset is joined from a frame of a clip at some cost: what lays its clip over the one that is left, and how long the join takes, seconds.
    pub fn join_onset(&self, clip: ClipIdx, frame: FrameIdx, onset: &Onset, cost: f32) -> (Planar, f32) {
        let edge = self.graph.edge(onset.edge);
        let entered = &self.clips[edge.clip.at()];
        let placed = |clip: &Clip, frame: FrameIdx| {
            let (mut pose, mut world) = (Pose::default(), WorldPose::default());
            let frame = FrameIdx(frame.0.min(clip.frames() as u32 - 1));
            clip.pose(frame, &mut pose);
            fk::pose(&self.skeleton, &pose, &mut world);
            (world.positions, interrupt::support(clip, frame))
        };
        let left = placed(&self.clips[clip.at()], frame);
        let at = edge.first.0 + libm::roundf(onset.enter * entered.fps()) as u32;
        let entered = placed(entered, FrameIdx(at));
        (interrupt::lay((&left.0, left.1), (&entered.0, entered.1)), interrupt::blend(cost))
    }

    /// The spheres that cover the body, and the joints that carry them.
    pub fn spheres(&self) -> &[BodySphere] {
        &self.spheres
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Edge, Join, Node, NodeIdx};
    use crate::humanoid;

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

    #[test]
    fn interrupts_are_kept_and_follow_their_edges() {
        use crate::interrupt::{Commitment, CommittedPart, Interrupt};
        use crate::{Span, SpanKind};
        let mut clips = vec![clip(1.75, 31)];
        clips[0].spans.push(Span::new(SpanKind::Avoid, "", 0.1, 0.9));
        let onset = Onset { edge: EdgeIdx(0), enter: 0.1, span: 0, kind: SpanKind::Avoid };
        let (zero, ten) = (FrameIdx(0), FrameIdx(10));
        let range = Interrupt { clip: ClipIdx(0), first: zero, last: ten, onset: 0, cost: 0.05 };
        let part = CommittedPart { clip: ClipIdx(0), first: FrameIdx(12), last: FrameIdx(30), why: Commitment::Flight };
        let make = |onset, range, part| Interrupts::new(vec![onset], vec![range], vec![part]).unwrap();
        let fight = Library::new("fight", clips.clone(), graph(30)).unwrap();
        let error = |interrupts| fight.clone().with_interrupts(interrupts).unwrap_err().to_string();
        let lacks = "names an edge, a span or frames that the library does not have";
        assert_eq!(error(make(Onset { edge: EdgeIdx(1), ..onset }, range, part)), format!("onset 0 {lacks}"));
        assert_eq!(error(make(Onset { enter: 1.0, ..onset }, range, part)), format!("onset 0 {lacks}"));
        assert_eq!(error(make(Onset { span: 1, ..onset }, range, part)), format!("onset 0 {lacks}"));
        assert_eq!(error(make(Onset { kind: SpanKind::Step, ..onset }, range, part)), format!("onset 0 {lacks}"));
        let far = Interrupt { first: FrameIdx(30), last: FrameIdx(31), ..range };
        assert_eq!(error(make(onset, far, part)), format!("interrupt 0 {lacks}"));
        let long = CommittedPart { last: FrameIdx(31), ..part };
        assert_eq!(error(make(onset, range, long)), format!("committed part 0 {lacks}"));

        let fight = fight.with_interrupts(make(onset, range, part)).unwrap();
        let mut other = clip(1.75, 31);
        other.name = "walk".into();
        let walks = Library::new("walks", vec![other], graph(30)).unwrap().in_layer(Layer::Walk);
        let both = fight.clone().with_walks(&walks).unwrap();
        assert_eq!(both.interrupts(), fight.interrupts());
        assert_eq!(both.only(Layer::Fight).unwrap(), Library { name: "fight".into(), ..fight.clone() });
        assert!(both.only(Layer::Walk).unwrap().interrupts().is_empty());
        assert_eq!(fight.clone().in_layer(Layer::Fight).interrupts(), fight.interrupts());
    }
}
