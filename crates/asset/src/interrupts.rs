//! Version 1 of the section of interrupts. Nothing in it is trusted: what it names must be in the library that it is read for.

use kumite_motion::FrameIdx;
use kumite_motion::graph::{ClipIdx, EdgeIdx};
use kumite_motion::interrupt::{Commitment, CommittedPart, Interrupt, Interrupts, Onset};
use kumite_motion::library::Library;
use serde::{Deserialize, Serialize};

/// [`Interrupts`].
#[derive(Debug, Serialize, Deserialize)]
pub struct InterruptsRecord {
    /// Edge, seconds after its first frame, span.
    pub onsets: Vec<(u32, f32, u32)>,
    /// By clip.
    pub clips: Vec<ClipRecord>,
}

/// What is known of one clip.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct ClipRecord {
    /// First frame, frames after it, onset, cost.
    pub ranges: Vec<(u32, u32, u32, f32)>,
    /// First frame, frames after it, why by name.
    pub committed: Vec<(u32, u32, String)>,
}

impl From<&Library> for InterruptsRecord {
    fn from(library: &Library) -> InterruptsRecord {
        let interrupts = library.interrupts();
        let mut clips: Vec<ClipRecord> = library.clips().iter().map(|_| ClipRecord::default()).collect();
        for r in interrupts.ranges() {
            clips[r.clip.at()].ranges.push((r.first.0, r.last.0 - r.first.0, r.onset, r.cost));
        }
        for p in interrupts.committed() {
            clips[p.clip.at()].committed.push((p.first.0, p.last.0 - p.first.0, p.why.name().to_owned()));
        }
        InterruptsRecord { onsets: interrupts.onsets().iter().map(|o| (o.edge.0, o.enter, o.span)).collect(), clips }
    }
}

impl InterruptsRecord {
    /// The library with its interrupts.
    pub(crate) fn into_library(self, library: Library) -> Result<Library, String> {
        let mut onsets = Vec::with_capacity(self.onsets.len());
        for (edge, enter, span) in self.onsets {
            let played = library.graph().edges().get(edge as usize).map(|edge| library.clip(edge.clip));
            let kind = played.and_then(|clip| clip.spans.get(span as usize)).map(|span| span.kind);
            let kind = kind.ok_or_else(|| format!("an onset of span {span} of edge {edge}, which does not exist"))?;
            onsets.push(Onset { edge: EdgeIdx(edge), enter, span, kind });
        }
        let (mut ranges, mut committed) = (Vec::new(), Vec::new());
        let last = |first: u32, more: u32| first.checked_add(more).map(FrameIdx).ok_or("frames beyond all clips");
        for (clip, record) in (0..).map(ClipIdx).zip(self.clips) {
            for (first, more, onset, cost) in record.ranges {
                ranges.push(Interrupt { clip, first: FrameIdx(first), last: last(first, more)?, onset, cost });
            }
            for (first, more, why) in record.committed {
                let why = Commitment::from_name(&why).ok_or_else(|| format!("a part committed by {why:?}"))?;
                committed.push(CommittedPart { clip, first: FrameIdx(first), last: last(first, more)?, why });
            }
        }
        let interrupts = Interrupts::new(onsets, ranges, committed).map_err(|e| e.to_string())?;
        library.with_interrupts(interrupts).map_err(|e| e.to_string())
    }
}
