//! Where the skin of a rig lies in its rest pose.

use glam::{Mat4, Vec3};
use kumite_motion::JointIdx;

use super::json::{Accessor, BufferView, List};
use super::read::strided;
use super::{GltfFile, Rig};

#[derive(serde::Deserialize)]
struct Node {
    mesh: Option<usize>,
    skin: Option<usize>,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Skin {
    inverse_bind_matrices: Option<usize>,
    joints: List<usize>,
}

#[derive(serde::Deserialize)]
struct Mesh {
    primitives: List<Primitive>,
}

#[derive(serde::Deserialize)]
struct Primitive {
    attributes: Attributes,
}

#[derive(serde::Deserialize)]
struct Attributes {
    #[serde(rename = "POSITION")]
    position: Option<usize>,
    #[serde(rename = "JOINTS_0")]
    joints: Option<usize>,
    #[serde(rename = "WEIGHTS_0")]
    weights: Option<usize>,
}

impl Rig {
    /// Height of the lowest point of the skin that follows one of these joints more than any other, in the rest pose, metres. `None` where there is
    /// no such skin, or it is compressed.
    pub fn lowest_skin(&self, joints: &[JointIdx]) -> Option<f32> {
        let wanted: Vec<usize> = joints.iter().filter_map(|j| self.rigged.nodes.get(j.at()).copied()).collect();
        let numbers =
            Numbers { file: &self.file, accessors: self.part("accessors")?, views: self.part("bufferViews")? };
        let (nodes, skins, meshes) =
            (self.part::<Node>("nodes")?, self.part::<Skin>("skins")?, self.part::<Mesh>("meshes")?);
        let mut lowest = f32::INFINITY;
        // Views may overlap, so that a small file could ask for any amount of work.
        let mut budget = self.file.source.buffers.iter().map(Vec::len).sum::<usize>();
        for node in nodes.iter() {
            let (Some(mesh), Some(skin)) =
                (node.mesh.and_then(|m| meshes.get(m)), node.skin.and_then(|s| skins.get(s)))
            else {
                continue;
            };
            let binds = skin.inverse_bind_matrices.and_then(|index| numbers.of(index, "MAT4", 16));
            let place = |joint: u16| {
                let node = *skin.joints.get(usize::from(joint))?;
                let bind = binds.as_ref().and_then(|all| all.get(usize::from(joint) * 16..)?.get(..16));
                let bind = bind.map_or(Mat4::IDENTITY, Mat4::from_cols_slice);
                Some((wanted.contains(&node), self.file.world(node) * bind))
            };
            let places: Vec<Option<(bool, Mat4)>> = (0..skin.joints.len().min(1 << 12) as u16).map(place).collect();
            for Primitive { attributes: a } in mesh.primitives.iter() {
                let read = || {
                    let positions = numbers.of(a.position?, "VEC3", 3)?;
                    Some((positions, numbers.of(a.joints?, "VEC4", 4)?, numbers.of(a.weights?, "VEC4", 4)?))
                };
                let Some((positions, joints, weights)) = read() else { continue };
                budget = budget.checked_sub(positions.len())?;
                let points = positions.chunks_exact(3).zip(joints.chunks_exact(4)).zip(weights.chunks_exact(4));
                for ((point, joints), weights) in points {
                    let most = (0..4).max_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
                    if let Some(Some((true, place))) = places.get(joints[most] as usize) {
                        lowest = lowest.min(place.transform_point3(Vec3::from_slice(point)).y);
                    }
                }
            }
        }
        lowest.is_finite().then_some(lowest)
    }

    fn part<T: for<'de> serde::Deserialize<'de>>(&self, name: &str) -> Option<List<T>> {
        serde_json::from_str(self.member(name)?).ok()
    }
}

impl GltfFile {
    /// From a node's frame to the world's, at rest.
    fn world(&self, node: usize) -> Mat4 {
        let mut world = Mat4::IDENTITY;
        let mut next = Some(node);
        while let Some(node) = next.and_then(|n| self.nodes.get(n)) {
            world = Mat4::from_scale_rotation_translation(node.scale, node.rotation, node.translation) * world;
            next = node.parent;
        }
        world
    }
}

/// The numbers of a file's accessors.
struct Numbers<'a> {
    file: &'a GltfFile,
    accessors: List<Accessor>,
    views: List<BufferView>,
}

impl Numbers<'_> {
    /// `None` for what is not there, of another kind, sparse or compressed.
    fn of(&self, index: usize, kind: &str, width: usize) -> Option<Vec<f32>> {
        let accessor = self.accessors.get(index).filter(|a| a.kind == kind && a.sparse.is_none())?;
        let view = self.views.get(accessor.buffer_view?)?;
        let size: usize = match accessor.component_type {
            5121 => 1,
            5123 => 2,
            5126 => 4,
            _ => return None,
        };
        let whole = (size * width) as u64;
        let end = usize::try_from(view.byte_offset.checked_add(view.byte_length)?).ok()?;
        let data = self.file.source.buffers.get(view.buffer)?.get(view.byte_offset as usize..end)?;
        let stride = view.byte_stride.unwrap_or(whole).max(whole);
        let items = strided(data, accessor.byte_offset, accessor.count, stride, whole)?;
        let number = |bytes: &[u8]| match *bytes {
            [a] if accessor.normalized => f32::from(a) / 255.0,
            [a] => f32::from(a),
            [a, b] if accessor.normalized => f32::from(u16::from_le_bytes([a, b])) / 65535.0,
            [a, b] => f32::from(u16::from_le_bytes([a, b])),
            [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
            _ => 0.0,
        };
        Some(items.flat_map(|item| item.chunks_exact(size).map(number)).collect())
    }
}
