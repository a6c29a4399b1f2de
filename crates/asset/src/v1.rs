//! Version 1 of the records.

use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::graph::{ClipIdx, Edge, Graph, Join, Layer, Node, NodeIdx, SpanRef};
use kumite_motion::library::Library;
use kumite_motion::{
    Clip, Contacts, FrameIdx, Joint, JointIdx, LANES, Quat, Role, Skeleton, Span, SpanKind, Vec2, Vec3,
};
use serde::{Deserialize, Serialize};

type Three = [f32; 3];

/// [`Library`].
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as in the library")]
pub struct LibraryRecord {
    pub name: String,
    pub attribution: Vec<String>,
    pub joints: Vec<JointRecord>,
    pub clips: Vec<ClipRecord>,
    pub nodes: Vec<(u32, u32)>,
    pub edges: Vec<EdgeRecord>,
}

/// [`Joint`].
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as in the skeleton")]
pub struct JointRecord {
    pub name: String,
    pub parent: Option<u16>,
    pub offset: Three,
    pub rest: [f32; 4],
    pub tip: Option<Three>,
    pub moves: bool,
}

/// [`Clip`], without its rows.
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as in the clip")]
pub struct ClipRecord {
    pub name: String,
    pub fps: f32,
    pub frames: u32,
    pub contacts: Vec<u8>,
    pub spans: Vec<SpanRecord>,
}

/// [`Span`]; kinds and parts by name.
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as in the span")]
pub struct SpanRecord {
    pub kind: String,
    pub label: String,
    pub from: f32,
    pub to: f32,
    pub active: Option<(f32, f32)>,
    pub part: Option<String>,
}

/// [`Edge`] with its spans.
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as in the graph")]
pub struct EdgeRecord {
    pub from: u32,
    pub to: u32,
    pub clip: u32,
    pub first: u32,
    pub last: u32,
    /// Blend, alignment (turn, x, z), distance.
    pub entry: Option<(f32, Three, f32)>,
    pub seconds: f32,
    pub displacement: Three,
    pub spans: Vec<(u32, bool)>,
}

fn planar(p: &Planar) -> Three {
    [p.turn, p.shift.x, p.shift.y]
}

fn to_planar([turn, x, z]: Three) -> Planar {
    Planar { turn, shift: Vec2::new(x, z) }
}

impl From<&Library> for LibraryRecord {
    fn from(library: &Library) -> LibraryRecord {
        let graph = library.graph();
        LibraryRecord {
            name: library.name.clone(),
            attribution: library.attribution.clone(),
            joints: library.skeleton().to_joints().iter().map(JointRecord::from).collect(),
            clips: library.clips().iter().map(ClipRecord::from).collect(),
            nodes: graph.nodes().iter().map(|n| (n.clip.0, n.frame.0)).collect(),
            edges: (0..graph.edges().len() as u32)
                .map(|i| {
                    let index = kumite_motion::graph::EdgeIdx(i);
                    let edge = graph.edge(index);
                    EdgeRecord {
                        from: edge.from.0,
                        to: edge.to.0,
                        clip: edge.clip.0,
                        first: edge.first.0,
                        last: edge.last.0,
                        entry: edge.join.map(|e| (e.blend, planar(&e.align), e.distance)),
                        seconds: edge.seconds,
                        displacement: planar(&edge.displacement),
                        spans: graph.spans(index).iter().map(|s| (s.span, s.whole)).collect(),
                    }
                })
                .collect(),
        }
    }
}

impl From<&Joint> for JointRecord {
    fn from(joint: &Joint) -> JointRecord {
        JointRecord {
            name: joint.name.clone(),
            parent: joint.parent.map(|p| p.0),
            offset: joint.offset.to_array(),
            rest: joint.rest.to_array(),
            tip: joint.tip.map(|t| t.to_array()),
            moves: joint.moves,
        }
    }
}

impl From<&Clip> for ClipRecord {
    fn from(clip: &Clip) -> ClipRecord {
        let span = |s: &Span| SpanRecord {
            kind: s.kind.name().to_owned(),
            label: s.label.clone(),
            from: s.from,
            to: s.to,
            active: s.active,
            part: s.part.map(|p| p.name().to_owned()),
        };
        ClipRecord {
            name: clip.name.clone(),
            fps: clip.fps(),
            frames: clip.frames() as u32,
            contacts: clip.contacts.iter().map(|c| c.bits()).collect(),
            spans: clip.spans.iter().map(span).collect(),
        }
    }
}

/// Rows of a clip, as it keeps them.
type Rows = Vec<[f32; LANES]>;

/// Takes the rows of a clip from the bytes that are left.
fn take_rows(bytes: &mut &[u8], clip: &ClipRecord, skeleton: &Skeleton) -> Result<Rows, String> {
    let stride = 4 * skeleton.len() + 3 * skeleton.movers().len();
    let wanted = (clip.frames as usize).div_ceil(LANES).saturating_mul(stride * LANES * 4);
    let (own, others) = bytes.split_at_checked(wanted).ok_or("rows are missing")?;
    *bytes = others;
    let rows = own.as_chunks::<{ 4 * LANES }>().0.iter().map(|row| {
        let mut out = [0.0f32; LANES];
        for (value, four) in out.iter_mut().zip(row.as_chunks::<4>().0) {
            *value = f32::from_le_bytes(*four);
        }
        out
    });
    Ok(rows.collect())
}

impl LibraryRecord {
    /// The skeleton of all clips.
    fn skeleton(&self) -> Result<Arc<Skeleton>, String> {
        let joints: Vec<Joint> = (self.joints.iter())
            .map(|j| Joint {
                name: j.name.clone(),
                parent: j.parent.map(JointIdx),
                offset: Vec3::from_array(j.offset),
                rest: Quat::from_array(j.rest),
                tip: j.tip.map(Vec3::from_array),
                moves: j.moves,
            })
            .collect();
        Ok(Arc::new(Skeleton::new(&joints).map_err(|e| e.to_string())?))
    }

    /// With the rows of all clips, one after the other, and `more` applied to the clips before the library is made. `walks` says which edges
    /// are for walkers; none if it is empty.
    pub(crate) fn into_library(
        self,
        mut rows: &[u8],
        walks: &[bool],
        more: impl FnOnce(&mut [Clip]) -> Result<(), String>,
    ) -> Result<Library, String> {
        let skeleton = self.skeleton()?;
        let mut clips = Vec::with_capacity(self.clips.len());
        for record in self.clips {
            let rows = take_rows(&mut rows, &record, &skeleton)?;
            clips.push(record.into_clip(&skeleton, rows)?);
        }
        if !rows.is_empty() {
            return Err("there are rows of no clip".to_owned());
        }
        more(&mut clips)?;
        let nodes = self.nodes.into_iter().map(|(c, f)| Node { clip: ClipIdx(c), frame: FrameIdx(f) }).collect();
        let edges = self
            .edges
            .into_iter()
            .enumerate()
            .map(|(index, e)| {
                let join = e.entry.map(|(blend, align, distance)| Join { blend, align: to_planar(align), distance });
                let range = (ClipIdx(e.clip), FrameIdx(e.first), FrameIdx(e.last));
                let displacement = to_planar(e.displacement);
                let spans = e.spans.into_iter().map(|(span, whole)| SpanRef { span, whole }).collect();
                let mut edge = Edge::new(NodeIdx(e.from), NodeIdx(e.to), range, join, e.seconds, displacement);
                if walks.get(index) == Some(&true) {
                    edge.layer = Layer::Walk;
                }
                (edge, spans)
            })
            .collect();
        let graph = Graph::new(nodes, edges).map_err(|e| e.to_string())?;
        let mut library = Library::new(&self.name, clips, graph).map_err(|e| e.to_string())?;
        library.attribution = self.attribution;
        Ok(library)
    }
}

impl ClipRecord {
    fn into_clip(self, skeleton: &Arc<Skeleton>, rows: Rows) -> Result<Clip, String> {
        let clip = Clip::from_rows(&self.name, Arc::clone(skeleton), self.fps, self.frames as usize, rows);
        let mut clip = clip.map_err(|e| format!("clip {:?}: {e}", self.name))?;
        if !self.contacts.is_empty() && self.contacts.len() != clip.frames() {
            return Err(format!("clip {:?}: contacts of {} frames", self.name, self.contacts.len()));
        }
        clip.contacts = self.contacts.into_iter().map(Contacts::from_bits).collect();
        for s in self.spans {
            let kind = SpanKind::from_name(&s.kind).ok_or_else(|| format!("a span of kind {:?}", s.kind))?;
            let mut span = Span::new(kind, &s.label, s.from, s.to);
            span.active = s.active;
            span.part = s.part.as_deref().and_then(Role::from_name);
            clip.spans.push(span);
        }
        Ok(clip)
    }
}
