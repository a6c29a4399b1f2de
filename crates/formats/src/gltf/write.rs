use glam::{Mat4, Quat, Vec3};
use kumite_motion::{Clip, JointIdx, Pose, Skeleton, WorldPose, fk, rotation};
use serde::Serialize;

use super::body::{self, Mesh, Part};
use super::build::{Accessor, Animation, Builder, Extras, View, ViewTarget};
use super::container;
use super::prop::{self, GltfProp};

/// One character of a take.
#[derive(Clone, Copy, Debug)]
pub struct GltfCharacter<'a> {
    /// Name of its tree of nodes.
    pub name: &'a str,
    /// Its motion. On the canonical skeleton it gets a person's body, on any other a capsule per bone.
    pub clip: &'a Clip,
    /// Colour of belt, gloves and shoes: linear red, green and blue, 0 to 1.
    pub colour: [f32; 3],
}

impl GltfCharacter<'_> {
    /// Colours that are easily told apart, the two of a karate match first.
    pub const COLOURS: [[f32; 3]; 8] = [
        [0.60, 0.02, 0.03],
        [0.02, 0.09, 0.55],
        [0.01, 0.30, 0.09],
        [0.70, 0.33, 0.01],
        [0.22, 0.03, 0.38],
        [0.02, 0.02, 0.02],
        [0.01, 0.36, 0.40],
        [0.72, 0.62, 0.04],
    ];
}

/// A named moment of the take.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GltfMarker {
    /// From the start of the take.
    pub seconds: f32,
    /// What happens: a hit, a step, a decision.
    pub name: String,
    /// The character it happens to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    asset: Asset,
    scene: usize,
    scenes: [Scene<'a>; 1],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<Node<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    meshes: Vec<WrittenMesh<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    materials: Vec<Material>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    skins: Vec<Skin<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    animations: Vec<Animation<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    accessors: Vec<Accessor>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buffer_views: Vec<View>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    buffers: Vec<Buffer>,
}

#[derive(Serialize)]
struct Asset {
    version: &'static str,
    generator: &'static str,
}

#[derive(Serialize)]
struct Scene<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extras: Option<Extras<'a>>,
}

#[derive(Default, Serialize)]
pub(super) struct Node<'a> {
    name: std::borrow::Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    children: Vec<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    translation: Option<[f32; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rotation: Option<[f32; 4]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mesh: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skin: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extras: Option<Tip>,
}

#[derive(Serialize)]
struct Tip {
    tip: [f32; 3],
}

#[derive(Serialize)]
pub(super) struct WrittenMesh<'a> {
    name: &'a str,
    primitives: Vec<Primitive>,
}

#[derive(Clone, Copy, Serialize)]
struct Primitive {
    attributes: Attributes,
    indices: usize,
    material: usize,
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "UPPERCASE")]
struct Attributes {
    position: usize,
    normal: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    joints_0: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weights_0: Option<usize>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Material {
    name: &'static str,
    pbr_metallic_roughness: Surface,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Surface {
    base_color_factor: [f32; 4],
    metallic_factor: f32,
    roughness_factor: f32,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Skin<'a> {
    name: &'a str,
    inverse_bind_matrices: usize,
    joints: Vec<usize>,
    skeleton: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Buffer {
    byte_length: usize,
}

/// A take as one binary file: per character a tree of bones and a body skinned to it, and one animation that plays them all
/// together, with a key for every frame of their clips.
///
/// The first bone of each tree, `root`, is on the ground below the character and turns with it; the clip's own root moves
/// relative to it. Engines take root motion from such a bone. Lengths are written as they are, and read as metres.
pub fn write_glb(name: &str, characters: &[GltfCharacter<'_>], markers: &[GltfMarker]) -> Vec<u8> {
    write_scene(name, characters, &[], markers)
}

/// Like [`write_glb`], with the balls and obstacles around the characters.
pub fn write_scene(
    name: &str,
    characters: &[GltfCharacter<'_>],
    props: &[GltfProp],
    markers: &[GltfMarker],
) -> Vec<u8> {
    let mut take = Take {
        builder: Builder::extending(Vec::new(), 0, 0),
        nodes: Vec::new(),
        scene_roots: Vec::new(),
        meshes: Vec::new(),
        materials: Vec::new(),
        skins: Vec::new(),
        bodies: Vec::new(),
    };
    let extras = (!markers.is_empty()).then_some(Extras { markers });
    let mut animation = Animation { name, channels: Vec::new(), samplers: Vec::new(), extras };
    for character in characters {
        take.add(character, &mut animation);
    }
    for prop in props {
        take.add_prop(prop, &mut animation);
    }
    let Take { builder, nodes, scene_roots, meshes, materials, skins, .. } = take;
    let Builder { data, views, accessors, .. } = builder;
    let document = Document {
        asset: Asset { version: "2.0", generator: "Kumite" },
        scene: 0,
        scenes: [Scene { name, nodes: scene_roots, extras }],
        nodes,
        meshes,
        materials,
        skins,
        animations: if animation.channels.is_empty() { Vec::new() } else { vec![animation] },
        accessors,
        buffer_views: views,
        buffers: if data.is_empty() { Vec::new() } else { vec![Buffer { byte_length: data.len() }] },
    };
    // Serialising fails for maps with keys that are not strings only, and there are none.
    let json = serde_json::to_vec(&document).unwrap_or_default();
    container::pack(&json, &data)
}

struct Take<'a> {
    builder: Builder,
    nodes: Vec<Node<'a>>,
    scene_roots: Vec<usize>,
    meshes: Vec<WrittenMesh<'a>>,
    materials: Vec<Material>,
    skins: Vec<Skin<'a>>,
    /// Surfaces of bodies that are in the buffer already, by skeleton.
    bodies: Vec<(&'a Skeleton, Vec<StoredSurface>)>,
}

/// A surface that is in the buffer.
#[derive(Clone, Copy)]
struct StoredSurface {
    part: Part,
    attributes: Attributes,
    indices: usize,
}

impl<'a> Take<'a> {
    fn add(&mut self, character: &GltfCharacter<'a>, animation: &mut Animation<'_>) {
        let skeleton: &'a Skeleton = character.clip.skeleton();
        let rest = RootBone::of(skeleton.offset(JointIdx::ROOT), Quat::IDENTITY, None);
        let root_name = if skeleton.find("root").is_none() { "root" } else { "root_motion" };
        // Top of the tree, root bone, then one node per joint.
        let top = self.nodes.len();
        let (root, first) = (top + 1, top + 2);
        self.nodes.push(Node { name: character.name.into(), children: vec![root], ..Node::default() });
        self.nodes.push(Node {
            name: root_name.into(),
            children: vec![first],
            translation: placed(rest.at),
            ..Node::default()
        });
        for j in skeleton.joints() {
            let offset = if j == JointIdx::ROOT { skeleton.offset(j) - rest.at } else { skeleton.offset(j) };
            self.nodes.push(Node {
                name: skeleton.name(j).into(),
                children: skeleton.children(j).map(|c| first + c.at()).collect(),
                translation: placed(offset),
                rotation: (skeleton.rest(j) != Quat::IDENTITY).then(|| skeleton.rest(j).to_array()),
                extras: skeleton.tip(j).map(|tip| Tip { tip: tip.to_array() }),
                ..Node::default()
            });
        }
        self.scene_roots.push(top);
        let inverse_bind_matrices = self.bind(skeleton, rest.at);
        self.skins.push(Skin {
            name: character.name,
            inverse_bind_matrices,
            joints: (root..first + skeleton.len()).collect(),
            skeleton: root,
        });
        if let Some(mesh) = self.mesh(character, skeleton) {
            self.scene_roots.push(self.nodes.len());
            self.nodes.push(Node {
                name: format!("{} body", character.name).into(),
                mesh: Some(mesh),
                skin: Some(self.skins.len() - 1),
                ..Node::default()
            });
        }
        self.animate(character.clip, root, animation);
    }

    fn add_prop(&mut self, prop: &'a GltfProp, animation: &mut Animation<'_>) {
        let first = [self.nodes.len(), self.meshes.len(), self.materials.len()];
        let (node, mesh, material) = written_prop(prop, first, &mut self.builder, animation);
        self.scene_roots.push(first[0]);
        self.nodes.push(node);
        self.meshes.push(mesh);
        self.materials.push(material);
    }

    fn bind(&mut self, skeleton: &Skeleton, root: Vec3) -> usize {
        let mut world = WorldPose::default();
        fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
        let inverse = |at: Vec3, turn: Quat| Mat4::from_rotation_translation(turn, at).inverse();
        let matrices: Vec<Mat4> = std::iter::once(inverse(root, Quat::IDENTITY))
            .chain(world.positions.iter().zip(&world.rotations).map(|(&at, &turn)| inverse(at, turn)))
            // The format requires an exact last row, which the inverse only approximates.
            .map(|mut m| {
                (m.x_axis.w, m.y_axis.w, m.z_axis.w, m.w_axis.w) = (0.0, 0.0, 0.0, 1.0);
                m
            })
            .collect();
        self.builder.matrices(&matrices)
    }

    fn mesh(&mut self, character: &GltfCharacter<'a>, skeleton: &'a Skeleton) -> Option<usize> {
        let known = self.bodies.iter().position(|(s, _)| **s == *skeleton);
        let known = known.unwrap_or_else(|| {
            let body = body::of(skeleton);
            let stored = body.iter().map(|(part, mesh)| StoredSurface::new(&mut self.builder, *part, mesh)).collect();
            self.bodies.push((skeleton, stored));
            self.bodies.len() - 1
        });
        let mut primitives = Vec::new();
        for &StoredSurface { part, attributes, indices } in &self.bodies[known].1 {
            let (name, colour, roughness) = match part {
                Part::Suit => ("suit", [0.56, 0.55, 0.52], 0.8),
                Part::Gear => ("gear", character.colour, 0.5),
                Part::Visor => ("visor", [0.012, 0.013, 0.016], 0.25),
            };
            let [r, g, b] = colour;
            let surface =
                Surface { base_color_factor: [r, g, b, 1.0], metallic_factor: 0.0, roughness_factor: roughness };
            primitives.push(Primitive { attributes, indices, material: self.materials.len() });
            self.materials.push(Material { name, pbr_metallic_roughness: surface });
        }
        if primitives.is_empty() {
            return None;
        }
        self.meshes.push(WrittenMesh { name: character.name, primitives });
        Some(self.meshes.len() - 1)
    }

    fn animate(&mut self, clip: &Clip, root: usize, animation: &mut Animation<'_>) {
        let skeleton = clip.skeleton();
        let frames = clip.frames();
        let times = self.builder.times(frames, clip.fps());
        let mut roots = Vec::with_capacity(frames);
        let mut poses = clip.poses();
        let mut before = None;
        for pose in &mut poses {
            let bone = RootBone::of(pose.root(), pose.rotations[0], before);
            before = Some(bone.turn);
            let turn = bone.turn.conjugate();
            pose.set_root(turn * (pose.root() - bone.at));
            pose.rotations[0] = (turn * pose.rotations[0]).normalize();
            roots.push(bone);
        }
        let at: Vec<Vec3> = roots.iter().map(|bone| bone.at).collect();
        let output = self.builder.vectors(&at, ViewTarget::Numbers, false);
        animation.add_channel(root, "translation", times, output);
        let mut turns = Vec::with_capacity(frames);
        let output = continuous(&mut self.builder, &mut turns, roots.iter().map(|bone| bone.turn));
        animation.add_channel(root, "rotation", times, output);
        for (m, mover) in skeleton.movers().iter().enumerate() {
            let places: Vec<Vec3> = poses.iter().map(|pose| pose.translations[m]).collect();
            let output = self.builder.vectors(&places, ViewTarget::Numbers, false);
            animation.add_channel(root + 1 + mover.at(), "translation", times, output);
        }
        for j in skeleton.joints() {
            let output = continuous(&mut self.builder, &mut turns, poses.iter().map(|pose| pose.rotation(j)));
            animation.add_channel(root + 1 + j.at(), "rotation", times, output);
        }
    }
}

/// A prop's node, mesh and material, which will be those of these numbers, and its motion in an animation.
pub(super) fn written_prop<'a>(
    prop: &'a GltfProp,
    [node, mesh, material]: [usize; 3],
    builder: &mut Builder,
    animation: &mut Animation<'_>,
) -> (Node<'a>, WrittenMesh<'a>, Material) {
    let StoredSurface { attributes, indices, .. } =
        StoredSurface::new(builder, Part::Suit, &prop::surface(&prop.shape));
    let [r, g, b] = prop.colour;
    let surface = Surface { base_color_factor: [r, g, b, 1.0], metallic_factor: 0.0, roughness_factor: 0.7 };
    let written = (
        Node {
            name: prop.name.as_str().into(),
            translation: placed(prop.path.first().map_or(prop.at, |p| p.1)),
            rotation: (prop.turn != Quat::IDENTITY).then(|| prop.turn.to_array()),
            mesh: Some(mesh),
            ..Node::default()
        },
        WrittenMesh { name: &prop.name, primitives: vec![Primitive { attributes, indices, material }] },
        Material { name: "prop", pbr_metallic_roughness: surface },
    );
    // Times of keys must grow, from 0 on.
    let mut moments: Vec<(f32, Vec3)> = Vec::with_capacity(prop.path.len());
    for step in prop.path.iter().filter(|step| step.0 >= 0.0) {
        if moments.last().is_none_or(|before| before.0 < step.0) {
            moments.push(*step);
        }
    }
    let (Some(first), Some(last)) = (moments.first().copied(), moments.last().copied()) else { return written };
    let (times, places): (Vec<f32>, Vec<Vec3>) = moments.into_iter().unzip();
    let input = builder.moments(&times);
    let output = builder.vectors(&places, ViewTarget::Numbers, false);
    animation.add_channel(node, "translation", input, output);
    // The format can hide a node only by its size.
    let mut sizes = vec![(0.0, Vec3::ZERO), (first.0, Vec3::ONE), (last.0, Vec3::ZERO)];
    if first.0 <= 0.0 {
        sizes.remove(0);
    }
    sizes.dedup_by(|later, earlier| later.0 <= earlier.0);
    let (times, sizes): (Vec<f32>, Vec<Vec3>) = sizes.into_iter().unzip();
    let input = builder.moments(&times);
    let output = builder.vectors(&sizes, ViewTarget::Numbers, false);
    animation.add_step_channel(node, "scale", input, output);
    written
}

/// Appends rotations, each with the sign that is nearer to the one before, so that interpolation takes the short way.
pub(super) fn continuous(builder: &mut Builder, turns: &mut Vec<Quat>, all: impl Iterator<Item = Quat>) -> usize {
    turns.clear();
    for turn in all {
        let last = turns.last().copied().unwrap_or(Quat::IDENTITY);
        turns.push(if turn.dot(last) < 0.0 { -turn } else { turn });
    }
    builder.rotations(turns)
}

fn placed(at: Vec3) -> Option<[f32; 3]> {
    (at != Vec3::ZERO).then(|| at.to_array())
}

impl StoredSurface {
    fn new(builder: &mut Builder, part: Part, mesh: &Mesh) -> StoredSurface {
        let attributes = Attributes {
            position: builder.vectors(&mesh.positions, ViewTarget::Vertices, true),
            normal: builder.vectors(&mesh.normals, ViewTarget::Vertices, false),
            joints_0: (!mesh.joints.is_empty()).then(|| builder.joints(&mesh.joints)),
            weights_0: (!mesh.weights.is_empty()).then(|| builder.weights(&mesh.weights)),
        };
        StoredSurface { part, attributes, indices: builder.indices(&mesh.triangles) }
    }
}

/// The root bone in one frame: on the ground below the clip's root, with its turn about the vertical.
struct RootBone {
    at: Vec3,
    turn: Quat,
}

impl RootBone {
    /// `before` is its turn in the frame before, which it keeps while the body is nearly upside down, as in a roll, and faces nowhere.
    fn of(root: Vec3, turn: Quat, before: Option<Quat>) -> RootBone {
        let upright = libm::hypotf(turn.y, turn.w) > 0.25;
        let yaw = || rotation::yaw(rotation::twist_angle(turn, Vec3::Y));
        let turn = before.filter(|_| !upright).unwrap_or_else(yaw);
        RootBone { at: Vec3::new(root.x, 0.0, root.z), turn }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_bone_is_below_and_looks_where_the_body_does() {
        let turn = rotation::yaw(2.0) * rotation::about(Vec3::X, 0.7);
        let bone = RootBone::of(Vec3::new(1.0, 0.9, -2.0), turn, None);
        assert_eq!(bone.at, Vec3::new(1.0, 0.0, -2.0));
        assert!(rotation::between(bone.turn, rotation::yaw(2.0)) < 1e-5);
    }
}
