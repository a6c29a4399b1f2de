//! Writes numbers into a buffer, and the accessors and views that describe them.

use glam::Vec3;
use kumite_motion::Quat;
use serde::Serialize;

/// The buffer, views and accessors of a document being written. Indices start after those of the document that is extended, if one is.
pub(super) struct Builder {
    pub(super) data: Vec<u8>,
    pub(super) views: Vec<View>,
    pub(super) accessors: Vec<Accessor>,
    first_view: usize,
    first_accessor: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    buffer: usize,
    byte_offset: usize,
    byte_length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    buffer_view: usize,
    component_type: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    normalized: bool,
    count: usize,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    min: Vec<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    max: Vec<f32>,
}

#[derive(Serialize)]
pub(super) struct Animation<'a> {
    pub(super) name: &'a str,
    pub(super) channels: Vec<Channel>,
    pub(super) samplers: Vec<Sampler>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) extras: Option<Extras<'a>>,
}

#[derive(Serialize)]
pub(super) struct Channel {
    sampler: usize,
    target: Target,
}

#[derive(Serialize)]
struct Target {
    node: usize,
    path: &'static str,
}

#[derive(Serialize)]
pub(super) struct Sampler {
    input: usize,
    output: usize,
    interpolation: &'static str,
}

#[derive(Clone, Copy, Serialize)]
pub(super) struct Extras<'a> {
    pub(super) markers: &'a [super::GltfMarker],
}

/// The `target` of a view.
#[derive(Clone, Copy)]
pub(super) enum ViewTarget {
    Numbers,
    Vertices,
    Indices,
}

const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

impl Builder {
    /// Extends a document with this data and so many views and accessors.
    pub(super) fn extending(data: Vec<u8>, views: usize, accessors: usize) -> Builder {
        Builder { data, views: Vec::new(), accessors: Vec::new(), first_view: views, first_accessor: accessors }
    }

    fn view(&mut self, bytes: impl IntoIterator<Item = u8>, target: ViewTarget) -> usize {
        self.data.resize(self.data.len().next_multiple_of(4), 0);
        let byte_offset = self.data.len();
        self.data.extend(bytes);
        let target = match target {
            ViewTarget::Numbers => None,
            ViewTarget::Vertices => Some(34962),
            ViewTarget::Indices => Some(34963),
        };
        self.views.push(View { buffer: 0, byte_offset, byte_length: self.data.len() - byte_offset, target });
        self.first_view + self.views.len() - 1
    }

    /// Appends bytes that need no accessor; returns their view.
    pub(super) fn bytes(&mut self, bytes: &[u8]) -> usize {
        self.view(bytes.iter().copied(), ViewTarget::Numbers)
    }

    fn push(&mut self, bytes: impl IntoIterator<Item = u8>, target: ViewTarget, mut accessor: Accessor) -> usize {
        accessor.buffer_view = self.view(bytes, target);
        self.accessors.push(accessor);
        self.first_accessor + self.accessors.len() - 1
    }

    fn floats<const N: usize>(
        &mut self,
        kind: &'static str,
        items: &[[f32; N]],
        target: ViewTarget,
        bounds: bool,
    ) -> usize {
        let bound = |start: f32, pick: fn(f32, f32) -> f32| {
            let folded = items.iter().fold([start; N], |acc, item| std::array::from_fn(|i| pick(acc[i], item[i])));
            if bounds { folded.to_vec() } else { Vec::new() }
        };
        let (min, max) = (bound(f32::MAX, f32::min), bound(f32::MIN, f32::max));
        let bytes = items.iter().flatten().flat_map(|v| v.to_le_bytes());
        let accessor =
            Accessor { buffer_view: 0, component_type: F32, normalized: false, count: items.len(), kind, min, max };
        self.push(bytes, target, accessor)
    }

    /// Appends the times of frames, seconds.
    pub(super) fn times(&mut self, frames: usize, fps: f32) -> usize {
        let times: Vec<[f32; 1]> = (0..frames).map(|frame| [(frame as f64 / f64::from(fps)) as f32]).collect();
        self.floats("SCALAR", &times, ViewTarget::Numbers, true)
    }

    /// Appends moments, seconds, which must grow.
    pub(super) fn moments(&mut self, times: &[f32]) -> usize {
        let times: Vec<[f32; 1]> = times.iter().map(|time| [*time]).collect();
        self.floats("SCALAR", &times, ViewTarget::Numbers, true)
    }

    pub(super) fn rotations(&mut self, turns: &[Quat]) -> usize {
        let turns: Vec<[f32; 4]> = turns.iter().map(|q| q.to_array()).collect();
        self.floats("VEC4", &turns, ViewTarget::Numbers, false)
    }

    pub(super) fn vectors(&mut self, vectors: &[Vec3], target: ViewTarget, bounds: bool) -> usize {
        let vectors: Vec<[f32; 3]> = vectors.iter().map(|v| v.to_array()).collect();
        self.floats("VEC3", &vectors, target, bounds)
    }

    pub(super) fn matrices(&mut self, matrices: &[glam::Mat4]) -> usize {
        let matrices: Vec<[f32; 16]> = matrices.iter().map(glam::Mat4::to_cols_array).collect();
        self.floats("MAT4", &matrices, ViewTarget::Numbers, false)
    }

    /// Appends the joints of vertices, as bytes where they fit.
    pub(super) fn joints(&mut self, joints: &[[u16; 4]]) -> usize {
        let narrow = joints.iter().flatten().all(|&j| j < 256);
        let accessor = |component_type| Accessor {
            buffer_view: 0,
            component_type,
            normalized: false,
            count: joints.len(),
            kind: "VEC4",
            min: Vec::new(),
            max: Vec::new(),
        };
        if narrow {
            self.push(joints.iter().flatten().map(|&j| j as u8), ViewTarget::Vertices, accessor(U8))
        } else {
            self.push(joints.iter().flatten().flat_map(|j| j.to_le_bytes()), ViewTarget::Vertices, accessor(U16))
        }
    }

    /// Appends the weights of vertices, in 255ths.
    pub(super) fn weights(&mut self, weights: &[[u8; 4]]) -> usize {
        let accessor = Accessor {
            buffer_view: 0,
            component_type: U8,
            normalized: true,
            count: weights.len(),
            kind: "VEC4",
            min: Vec::new(),
            max: Vec::new(),
        };
        self.push(weights.iter().flatten().copied(), ViewTarget::Vertices, accessor)
    }

    /// Appends the corners of triangles, in two bytes where they fit.
    pub(super) fn indices(&mut self, indices: &[u32]) -> usize {
        let narrow = indices.iter().all(|&i| i < u32::from(u16::MAX));
        let accessor = Accessor {
            buffer_view: 0,
            component_type: if narrow { U16 } else { U32 },
            normalized: false,
            count: indices.len(),
            kind: "SCALAR",
            min: Vec::new(),
            max: Vec::new(),
        };
        if narrow {
            self.push(indices.iter().flat_map(|&i| (i as u16).to_le_bytes()), ViewTarget::Indices, accessor)
        } else {
            self.push(indices.iter().flat_map(|&i| i.to_le_bytes()), ViewTarget::Indices, accessor)
        }
    }
}

impl Animation<'_> {
    /// Adds a channel for a property of a node, with its sampler.
    pub(super) fn add_channel(&mut self, node: usize, path: &'static str, input: usize, output: usize) {
        self.channels.push(Channel { sampler: self.samplers.len(), target: Target { node, path } });
        self.samplers.push(Sampler { input, output, interpolation: "LINEAR" });
    }

    /// Adds a channel whose values hold until the next one.
    pub(super) fn add_step_channel(&mut self, node: usize, path: &'static str, input: usize, output: usize) {
        self.channels.push(Channel { sampler: self.samplers.len(), target: Target { node, path } });
        self.samplers.push(Sampler { input, output, interpolation: "STEP" });
    }
}
