use std::sync::Arc;

use glam::{Mat3, Quat, Vec3};

use super::container::{self, Location};
use super::json::{self, Document, Members};
use super::{
    GltfAnimation, GltfChannel, GltfError, GltfErrorKind, GltfFile, GltfNode, GltfSkin, Interpolation, Property, Source,
};
use crate::Warning;

/// As many as a skeleton has indices for.
const MAX_NODES: usize = u16::MAX as usize;
/// In all buffers of a document.
const MAX_BYTES: u64 = 2 << 30;
/// Numbers that may be decoded beyond what the buffers hold: sparse accessors need no buffer.
const SPARE_NUMBERS: u64 = 1 << 20;

/// Reads the nodes, skins and animations of a `.glb` or `.gltf`.
///
/// `resolve` returns the contents of another file that the document refers to. Names are relative, with forward slashes, and checked not to leave
/// the document's folder: never hosts, absolute paths or `..`.
pub fn read(
    bytes: &[u8],
    mut resolve: impl FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<(GltfFile, Vec<Warning>), GltfError> {
    let (text, binary) = container::unpack(bytes)?;
    let document: Document = parse(text)?;
    let members: Members = parse(text)?;
    if !document.asset.version.starts_with("2.") {
        return Err(bad_value("asset.version", "2.0", &document.asset.version));
    }
    for (i, name) in document.extensions_required.iter().enumerate() {
        // Other required extensions change only how things look; the two of this ending compress the numbers.
        if name.ends_with("meshopt_compression") {
            let allowed = "no compression of animations; export without it";
            return Err(GltfError::new(GltfErrorKind::Extension, format!("extensionsRequired[{i}]"), allowed, name));
        }
    }
    let mut warnings = Vec::new();
    let outside = document.images.iter().filter(|i| i.uri.as_ref().is_some_and(|uri| uri.outside)).count();
    if outside > 0 {
        warnings.push(warning(format!("{outside} images are in other files; they were not looked at")));
    }
    let buffers = buffers(&document, binary, &mut resolve)?;
    let nodes = nodes(&document, &mut warnings)?;
    let skins = skins(&document, nodes.len())?;
    let animations = Decoder::new(&document, &buffers).animations(&mut warnings)?;
    let generator = document.asset.generator.unwrap_or_default();
    Ok((GltfFile { nodes, skins, animations, generator, source: Source { members, buffers } }, warnings))
}

fn parse<'a, T: serde::Deserialize<'a>>(text: &'a [u8]) -> Result<T, GltfError> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let parsed = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
        let key = error.path().to_string();
        json_error(error.inner(), if key == "." { String::new() } else { key })
    })?;
    reader.end().map_err(|error| json_error(&error, String::new()))?;
    Ok(parsed)
}

fn json_error(error: &serde_json::Error, key: String) -> GltfError {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(&*message, |(message, _)| message);
    let (found, allowed) = message.split_once(", expected ").unwrap_or((message, "valid JSON"));
    let line = (!error.is_data()).then_some(error.line());
    GltfError { line, ..GltfError::new(GltfErrorKind::Json, key, allowed, found) }
}

fn bad_value(key: impl Into<String>, allowed: impl Into<String>, found: impl std::fmt::Display) -> GltfError {
    GltfError::new(GltfErrorKind::Value, key, allowed, found)
}

fn warning(text: String) -> Warning {
    Warning { line: None, text }
}

fn item<'a, T>(items: &'a [T], index: usize, what: &str, key: impl FnOnce() -> String) -> Result<&'a T, GltfError> {
    items.get(index).ok_or_else(|| {
        GltfError::new(GltfErrorKind::Index, key(), format!("the number of one of {} {what}", items.len()), index)
    })
}

fn buffers(
    document: &Document,
    binary: Option<&[u8]>,
    resolve: &mut dyn FnMut(&str) -> Result<Vec<u8>, String>,
) -> Result<Vec<Vec<u8>>, GltfError> {
    let mut buffers = Vec::with_capacity(document.buffers.len().min(64));
    let mut bytes = 0u64;
    for (i, buffer) in document.buffers.iter().enumerate() {
        let key = || format!("buffers[{i}]");
        let mut data = match &buffer.uri {
            None if i == 0 => binary
                .ok_or_else(|| GltfError::new(GltfErrorKind::Container, key(), "a binary chunk or an address", "none"))?
                .to_vec(),
            None => return Err(GltfError::new(GltfErrorKind::Uri, key(), "an address", "none")),
            Some(uri) => match container::locate(uri, &format!("{}.uri", key()))? {
                Location::Data(data) => data,
                Location::File(name) => resolve(&name).map_err(|why| {
                    let found = format!("{name:?}: {why}");
                    GltfError::new(GltfErrorKind::Uri, format!("{}.uri", key()), "a file that can be read", found)
                })?,
            },
        };
        if (data.len() as u64) < buffer.byte_length {
            let allowed = format!("{} bytes, as byteLength says", buffer.byte_length);
            return Err(GltfError::new(GltfErrorKind::Range, key(), allowed, data.len()));
        }
        data.truncate(buffer.byte_length as usize);
        // Counted each time: several buffers may refer to one file, and each is a copy.
        bytes += data.len() as u64;
        if bytes > MAX_BYTES {
            let allowed = format!("{} MB in all buffers together", MAX_BYTES >> 20);
            return Err(GltfError::new(GltfErrorKind::Range, key(), allowed, format!("{} MB", bytes >> 20)));
        }
        buffers.push(data);
    }
    Ok(buffers)
}

fn nodes(document: &Document, warnings: &mut Vec<Warning>) -> Result<Vec<GltfNode>, GltfError> {
    let count = document.nodes.len();
    if count > MAX_NODES {
        let allowed = format!("at most {MAX_NODES} nodes");
        return Err(GltfError::new(GltfErrorKind::Limit, "nodes", allowed, count));
    }
    let mut nodes = Vec::with_capacity(count);
    for (i, node) in document.nodes.iter().enumerate() {
        nodes.push(read_node(node, i, warnings)?);
    }
    for (i, node) in document.nodes.iter().enumerate() {
        for (c, &child) in node.children.iter().enumerate() {
            let key = || format!("nodes[{i}].children[{c}]");
            item(&nodes, child, "nodes", key)?;
            if let Some(other) = nodes[child].parent.replace(i) {
                let found = format!("node {child}, which is already a child of {other}");
                return Err(GltfError::new(GltfErrorKind::Tree, key(), "a node without another parent", found));
            }
            nodes[i].children.push(child);
        }
    }
    // Every node has at most one parent, so whatever cannot be reached from the roots is in a ring.
    let mut reached: Vec<usize> = (0..count).filter(|&i| nodes[i].parent.is_none()).collect();
    let mut at = 0;
    while let Some(&node) = reached.get(at) {
        reached.extend(&nodes[node].children);
        at += 1;
    }
    if reached.len() < count {
        let mut inside = vec![false; count];
        reached.iter().for_each(|&node| inside[node] = true);
        let lost = inside.iter().position(|reached| !reached).unwrap_or(0);
        let key = format!("nodes[{lost}]");
        return Err(GltfError::new(GltfErrorKind::Tree, key, "nodes that form trees", "a ring of children"));
    }
    Ok(nodes)
}

fn read_node(node: &json::Node, i: usize, warnings: &mut Vec<Warning>) -> Result<GltfNode, GltfError> {
    let key = |member: &str| format!("nodes[{i}].{member}");
    let name = node.name.clone().unwrap_or_else(|| format!("node{i}"));
    let mut placed = GltfNode {
        parent: None,
        children: Vec::new(),
        translation: node.translation.map_or(Vec3::ZERO, Vec3::from_array),
        rotation: node.rotation.map_or(Quat::IDENTITY, Quat::from_array),
        scale: node.scale.map_or(Vec3::ONE, Vec3::from_array),
        has_matrix: node.matrix.is_some(),
        has_mesh: node.mesh.is_some(),
        tip: node.extras.map(Vec3::from_array).filter(|tip| tip.is_finite()),
        name,
    };
    if let Some(m) = node.matrix {
        if !m.iter().all(|v| v.is_finite()) {
            return Err(bad_value(key("matrix"), "finite numbers", "others"));
        }
        let columns = [0, 4, 8].map(|c| Vec3::new(m[c], m[c + 1], m[c + 2]));
        let scale = Vec3::from_array(columns.map(Vec3::length));
        if scale.min_element() < 1e-12 {
            return Err(bad_value(key("matrix"), "a matrix that keeps three dimensions", "one that flattens them"));
        }
        let [x, y, z] = [0, 1, 2].map(|c| columns[c] / scale[c]);
        if x.dot(y).abs().max(y.dot(z).abs()).max(z.dot(x).abs()) > 1e-3 {
            warnings.push(warning(format!("node {:?} is sheared; its shear is ignored", placed.name)));
        }
        let mirror = if x.cross(y).dot(z) < 0.0 { -1.0 } else { 1.0 };
        let x = x * mirror;
        let y = (y - x * x.dot(y)).normalize();
        placed.rotation = Quat::from_mat3(&Mat3::from_cols(x, y, x.cross(y)));
        placed.scale = Vec3::new(scale.x * mirror, scale.y, scale.z);
        placed.translation = Vec3::new(m[12], m[13], m[14]);
    }
    if !placed.translation.is_finite() {
        return Err(bad_value(key("translation"), "finite numbers", placed.translation));
    }
    if !placed.scale.is_finite() {
        return Err(bad_value(key("scale"), "finite numbers", placed.scale));
    }
    let length = placed.rotation.length();
    if !(length.is_finite() && length > 1e-6) {
        return Err(bad_value(key("rotation"), "a rotation of length 1", format!("{:?}", placed.rotation.to_array())));
    }
    placed.rotation = placed.rotation.normalize();
    Ok(placed)
}

fn skins(document: &Document, nodes: usize) -> Result<Vec<GltfSkin>, GltfError> {
    let mut skins = Vec::with_capacity(document.skins.len());
    for (i, skin) in document.skins.iter().enumerate() {
        if skin.joints.is_empty() {
            return Err(bad_value(format!("skins[{i}].joints"), "at least one node", "none"));
        }
        if let Some(at) = skin.joints.iter().position(|&joint| joint >= nodes) {
            let key = format!("skins[{i}].joints[{at}]");
            let allowed = format!("the number of one of {nodes} nodes");
            return Err(GltfError::new(GltfErrorKind::Index, key, allowed, skin.joints[at]));
        }
        skins.push(GltfSkin { name: skin.name.clone().unwrap_or_default(), joints: skin.joints.to_vec() });
    }
    Ok(skins)
}

/// Decodes accessors into numbers, each once.
struct Decoder<'a> {
    document: &'a Document,
    buffers: &'a [Vec<u8>],
    decoded: Vec<Option<Arc<[f32]>>>,
    /// How many more numbers may be decoded: views may overlap, so that a small file could ask for any amount.
    budget: u64,
}

impl<'a> Decoder<'a> {
    fn new(document: &'a Document, buffers: &'a [Vec<u8>]) -> Decoder<'a> {
        let budget = buffers.iter().map(|b| b.len() as u64).sum::<u64>() + SPARE_NUMBERS;
        Decoder { document, buffers, decoded: vec![None; document.accessors.len()], budget }
    }

    fn animations(&mut self, warnings: &mut Vec<Warning>) -> Result<Vec<GltfAnimation>, GltfError> {
        let document = self.document;
        let mut animations = Vec::with_capacity(document.animations.len());
        for (i, animation) in document.animations.iter().enumerate() {
            let mut channels = Vec::new();
            let mut skipped = 0;
            for (c, channel) in animation.channels.iter().enumerate() {
                let key = || format!("animations[{i}].channels[{c}]");
                let at = || format!("{}.sampler", key());
                let sampler = item(&animation.samplers, channel.sampler, "samplers", at)?;
                let property = match &*channel.target.path {
                    "translation" => Property::Translation,
                    "rotation" => Property::Rotation,
                    "scale" => Property::Scale,
                    "weights" | "pointer" => {
                        skipped += 1;
                        continue;
                    }
                    other => {
                        let allowed = "translation, rotation, scale or weights";
                        return Err(bad_value(format!("{}.target.path", key()), allowed, format!("{other:?}")));
                    }
                };
                // A channel without a node belongs to an extension.
                let Some(node) = channel.target.node else { continue };
                item(&document.nodes, node, "nodes", || format!("{}.target.node", key()))?;
                let key = format!("animations[{i}].samplers[{}]", channel.sampler);
                channels.push(self.channel(sampler, node, property, &key)?);
            }
            if skipped > 0 {
                warnings.push(warning(format!("animation {i}: {skipped} channels move no node and are ignored")));
            }
            let name = animation.name.clone().unwrap_or_else(|| format!("animation{i}"));
            animations.push(GltfAnimation { name, channels });
        }
        Ok(animations)
    }

    fn channel(
        &mut self,
        sampler: &json::Sampler,
        node: usize,
        property: Property,
        key: &str,
    ) -> Result<GltfChannel, GltfError> {
        let interpolation = match sampler.interpolation.as_deref() {
            None | Some("LINEAR") => Interpolation::Linear,
            Some("STEP") => Interpolation::Step,
            Some("CUBICSPLINE") => Interpolation::CubicSpline,
            Some(other) => {
                let allowed = "LINEAR, STEP or CUBICSPLINE";
                return Err(bad_value(format!("{key}.interpolation"), allowed, format!("{other:?}")));
            }
        };
        let times = self.decode(sampler.input, "SCALAR", &format!("{key}.input"))?;
        let kind = if property == Property::Rotation { "VEC4" } else { "VEC3" };
        let values = self.decode(sampler.output, kind, &format!("{key}.output"))?;
        if times.is_empty() {
            return Err(bad_value(format!("{key}.input"), "at least one time", "none"));
        }
        if let Some(at) = times.windows(2).position(|pair| pair[1] <= pair[0]) {
            let found = format!("{} after {}", times[at + 1], times[at]);
            return Err(bad_value(format!("{key}.input"), "times that grow", found));
        }
        let each = property.width() * if interpolation == Interpolation::CubicSpline { 3 } else { 1 };
        if values.len() != times.len() * each {
            let allowed = format!("{} numbers for {} times", times.len() * each, times.len());
            return Err(bad_value(format!("{key}.output"), allowed, values.len()));
        }
        Ok(GltfChannel { node, property, interpolation, times, values })
    }

    fn decode(&mut self, index: usize, kind: &str, key: &str) -> Result<Arc<[f32]>, GltfError> {
        let accessor = item(&self.document.accessors, index, "accessors", || key.to_owned())?;
        let at = format!("accessors[{index}]");
        if accessor.kind != kind {
            return Err(bad_value(format!("{at}.type"), format!("{kind:?} for {key}"), format!("{:?}", accessor.kind)));
        }
        if let Some(numbers) = &self.decoded[index] {
            return Ok(Arc::clone(numbers));
        }
        let width = match kind {
            "SCALAR" => 1,
            "VEC3" => 3,
            _ => 4,
        };
        let total = accessor.count.saturating_mul(width);
        self.budget = self.budget.checked_sub(total).ok_or_else(|| {
            let allowed = "no more numbers than the buffers hold";
            GltfError::new(GltfErrorKind::Limit, format!("{at}.count"), allowed, accessor.count)
        })?;
        let component = Component::of(accessor.component_type, accessor.normalized, &at)?;
        let size = width * component.size();
        let mut numbers = vec![0.0; total as usize];
        if let Some(view) = accessor.buffer_view {
            let data = self.view(view, &format!("{at}.bufferView"))?;
            let stride = self.document.buffer_views[view].byte_stride.unwrap_or(size);
            if stride < size || stride > 252 {
                let key = format!("bufferViews[{view}].byteStride");
                return Err(bad_value(key, format!("{size} to 252"), stride));
            }
            let items = strided(data, accessor.byte_offset, accessor.count, stride, size)
                .ok_or_else(|| out_of_range(&at, accessor.count, data.len()))?;
            for (out, item) in numbers.chunks_exact_mut(width as usize).zip(items) {
                component.decode(item, out);
            }
        }
        if let Some(sparse) = &accessor.sparse {
            self.patch(sparse, component, width, &mut numbers, &format!("{at}.sparse"))?;
        }
        if !numbers.iter().all(|v| v.is_finite()) {
            return Err(bad_value(at, "finite numbers", "others"));
        }
        let numbers: Arc<[f32]> = numbers.into();
        self.decoded[index] = Some(Arc::clone(&numbers));
        Ok(numbers)
    }

    fn patch(
        &self,
        sparse: &json::Sparse,
        component: Component,
        width: u64,
        numbers: &mut [f32],
        key: &str,
    ) -> Result<(), GltfError> {
        let (size, width) = (width * component.size(), width as usize);
        let index_size = match sparse.indices.component_type {
            5121 => 1,
            5123 => 2,
            5125 => 4,
            other => return Err(bad_value(format!("{key}.indices.componentType"), "5121, 5123 or 5125", other)),
        };
        let indices = self.view(sparse.indices.buffer_view, &format!("{key}.indices.bufferView"))?;
        let indices = strided(indices, sparse.indices.byte_offset, sparse.count, index_size, index_size)
            .ok_or_else(|| out_of_range(&format!("{key}.indices"), sparse.count, indices.len()))?;
        let values = self.view(sparse.values.buffer_view, &format!("{key}.values.bufferView"))?;
        let values = strided(values, sparse.values.byte_offset, sparse.count, size, size)
            .ok_or_else(|| out_of_range(&format!("{key}.values"), sparse.count, values.len()))?;
        for (index, item) in indices.zip(values) {
            let index = index.iter().rev().fold(0_usize, |v, &byte| v << 8 | usize::from(byte));
            let Some(out) = numbers.get_mut(index.saturating_mul(width)..).and_then(|n| n.get_mut(..width)) else {
                let allowed = format!("less than {}", numbers.len() / width);
                return Err(GltfError::new(GltfErrorKind::Index, format!("{key}.indices"), allowed, index));
            };
            component.decode(item, out);
        }
        Ok(())
    }

    fn view(&self, index: usize, key: &str) -> Result<&'a [u8], GltfError> {
        let view = item(&self.document.buffer_views, index, "bufferViews", || key.to_owned())?;
        let at = || format!("bufferViews[{index}]");
        let buffer = item(self.buffers, view.buffer, "buffers", || format!("{}.buffer", at()))?;
        let end = view.byte_offset.checked_add(view.byte_length).filter(|&end| end <= buffer.len() as u64);
        let end = end.ok_or_else(|| out_of_range(&at(), view.byte_length, buffer.len()))?;
        Ok(&buffer[view.byte_offset as usize..end as usize])
    }
}

fn out_of_range(key: &str, count: u64, length: usize) -> GltfError {
    let found = format!("{count} beyond its end");
    GltfError::new(GltfErrorKind::Range, key, format!("data within {length} bytes"), found)
}

/// `count` items of `size` bytes, or `None` if they do not lie within the data.
pub(super) fn strided(
    data: &[u8],
    offset: u64,
    count: u64,
    stride: u64,
    size: u64,
) -> Option<impl Iterator<Item = &[u8]>> {
    let last = count.saturating_sub(1).checked_mul(stride)?;
    let needed = if count == 0 { offset } else { offset.checked_add(last)?.checked_add(size)? };
    let data = data.get(offset as usize..).filter(|_| needed <= data.len() as u64)?;
    Some((0..count as usize).map(move |i| &data[i * stride as usize..][..size as usize]))
}

#[derive(Clone, Copy)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    F32,
}

impl Component {
    fn of(code: u32, normalized: bool, key: &str) -> Result<Component, GltfError> {
        match (code, normalized) {
            (5126, _) => Ok(Component::F32),
            (5120, true) => Ok(Component::I8),
            (5121, true) => Ok(Component::U8),
            (5122, true) => Ok(Component::I16),
            (5123, true) => Ok(Component::U16),
            (5120..=5123, false) => Err(bad_value(format!("{key}.normalized"), "true for whole numbers here", "false")),
            _ => Err(bad_value(format!("{key}.componentType"), "5126 (float) or 5120 to 5123, normalized", code)),
        }
    }

    fn size(self) -> u64 {
        match self {
            Component::I8 | Component::U8 => 1,
            Component::I16 | Component::U16 => 2,
            Component::F32 => 4,
        }
    }

    fn decode(self, bytes: &[u8], out: &mut [f32]) {
        for (out, bytes) in out.iter_mut().zip(bytes.chunks_exact(self.size() as usize)) {
            *out = match (self, bytes) {
                (Component::I8, &[a]) => (f32::from(a as i8) / 127.0).max(-1.0),
                (Component::U8, &[a]) => f32::from(a) / 255.0,
                (Component::I16, &[a, b]) => (f32::from(i16::from_le_bytes([a, b])) / 32767.0).max(-1.0),
                (Component::U16, &[a, b]) => f32::from(u16::from_le_bytes([a, b])) / 65535.0,
                (Component::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
                _ => 0.0,
            };
        }
    }
}
