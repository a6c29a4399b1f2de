use std::sync::Arc;

use kumite_motion::{Clip, Quat, Skeleton, Vec3};
use serde_json::value::RawValue;

use super::build::{Animation, Builder, Extras, ViewTarget};
use super::write::{continuous, written_prop};
use super::{GltfError, GltfErrorKind, GltfFile, GltfMarker, GltfProp, GltfSkeleton, container};
use crate::{ConvertError, Warning};

/// A user's own character, to be written again with other animations. Everything else in the file (meshes, skins, materials,
/// textures, extensions, names and extras) keeps its bytes.
#[derive(Clone, Debug)]
pub struct Rig {
    pub(super) file: GltfFile,
    pub(super) rigged: GltfSkeleton,
    /// Contents of images that were in other files, by their index.
    images: Vec<(usize, Vec<u8>)>,
}

impl Rig {
    /// The skeleton of a file; of several, the one with the most joints.
    pub fn new(file: GltfFile) -> Result<(Rig, Vec<Warning>), ConvertError> {
        let (skeletons, mut warnings) = file.skeletons()?;
        if skeletons.len() > 1 {
            let text = format!("{} skeletons; the one with the most joints is the rig", skeletons.len());
            warnings.push(Warning { line: None, text });
        }
        let most = skeletons.into_iter().rev().max_by_key(|c| c.skeleton().len());
        let rigged = most.ok_or(ConvertError::NoSkeleton)?;
        Ok((Rig { file, rigged, images: Vec::new() }, warnings))
    }

    /// Its joints, in metres, as the file places them.
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        self.rigged.skeleton()
    }

    /// Embeds images that are in other files, so that what is written needs no other file. `resolve` is called as by
    /// [`read`](super::read()); an image that it cannot provide stays outside, with a warning.
    pub fn embed_images(
        &mut self,
        mut resolve: impl FnMut(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Vec<Warning>, GltfError> {
        let mut warnings = Vec::new();
        self.images.clear();
        for (i, image) in items(self.member("images"), "images")?.iter().enumerate() {
            let key = format!("images[{i}].uri");
            let uri: Uri = parsed(image.get(), || key.clone())?;
            let Some(uri) = uri.uri.filter(|uri| !uri.starts_with("data:")) else { continue };
            let image = match container::locate(&uri, &key) {
                Ok(container::Location::File(name)) => resolve(&name).map_err(|why| format!("{name:?}: {why}")),
                Ok(container::Location::Data(data)) => Ok(data),
                Err(error) => Err(error.to_string()),
            };
            match image {
                Ok(data) if mime_type(&data).is_some() => self.images.push((i, data)),
                Ok(_) => warnings.push(left_outside(&uri, "neither PNG, JPEG, WebP nor KTX2")),
                Err(why) => warnings.push(left_outside(&uri, &why)),
            }
        }
        Ok(warnings)
    }

    /// The JSON text of a member of the document.
    pub(super) fn member(&self, name: &str) -> Option<&str> {
        self.file.source.members.0.iter().find(|m| m.0 == name).map(|m| m.1.get())
    }

    /// The file as `.glb`, with these clips as its only animations.
    ///
    /// Clips must be on the rig's skeleton: the same joints in the same tree. Which joints have translations may differ: a pelvis that moves
    /// in a clip is often not marked as moving in the rig.
    pub fn write(&self, clips: &[&Clip]) -> Result<Vec<u8>, GltfError> {
        self.write_scene(clips, &[], &[])
    }

    /// Like [`Rig::write`], with the balls and obstacles around the character, which move in the first animation, and named moments in it.
    pub fn write_scene(
        &self,
        clips: &[&Clip],
        props: &[GltfProp],
        markers: &[GltfMarker],
    ) -> Result<Vec<u8>, GltfError> {
        for clip in clips {
            self.check(clip.skeleton())?;
        }
        let source = &self.file.source;
        let views: Vec<Box<RawValue>> = items(self.member("bufferViews"), "bufferViews")?;
        let accessors: Vec<Box<RawValue>> = items(self.member("accessors"), "accessors")?;
        let mut data = Vec::new();
        let mut starts = Vec::new();
        for buffer in &source.buffers {
            // No value of the format needs a larger alignment.
            data.resize(data.len().next_multiple_of(16), 0);
            starts.push(data.len());
            data.extend(buffer);
        }
        let mut builder = Builder::extending(data, views.len(), accessors.len());
        let mut animations: Vec<Animation<'_>> = clips.iter().map(|clip| self.animate(clip, &mut builder)).collect();
        let [nodes, meshes, materials] = ["nodes", "meshes", "materials"].map(|name| items(self.member(name), name));
        let (nodes, meshes, materials) = (self.split_matrices(nodes?)?, meshes?, materials?);
        let (mut added_nodes, mut added_meshes, mut added_materials) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(animation) = animations.first_mut() {
            animation.extras = (!markers.is_empty()).then_some(Extras { markers });
            for (k, prop) in props.iter().enumerate() {
                let numbers = [nodes.len() + k, meshes.len() + k, materials.len() + k];
                let (node, mesh, material) = written_prop(prop, numbers, &mut builder, animation);
                added_nodes.push(node);
                added_meshes.push(mesh);
                added_materials.push(material);
            }
        }

        let images = self.images(&mut builder)?;
        let mut members: Vec<(&str, String)> = Vec::new();
        let replaced =
            ["animations", "accessors", "bufferViews", "buffers", "nodes", "meshes", "materials", "scenes", "images"];
        for (name, value) in &source.members.0 {
            if !replaced.contains(&&**name) {
                members.push((name, value.get().to_owned()));
            }
        }
        members.push(("images", images));
        let raw = |kept: &[Box<RawValue>]| kept.iter().map(|value| value.get().to_owned()).collect::<Vec<_>>();
        members.push(("scenes", self.scenes(nodes.len()..nodes.len() + added_nodes.len())?));
        members.push(("nodes", list(raw(&nodes).into_iter(), &added_nodes)));
        members.push(("meshes", list(raw(&meshes).into_iter(), &added_meshes)));
        members.push(("materials", list(raw(&materials).into_iter(), &added_materials)));
        if !animations.is_empty() {
            members.push(("animations", text(&animations)));
        }
        members.push(("accessors", list(accessors.iter().map(|a| a.get().to_owned()), &builder.accessors)));
        members.push(("bufferViews", list(moved_views(&views, &starts)?.into_iter(), &builder.views)));
        members.push(("buffers", format!("[{{\"byteLength\":{}}}]", builder.data.len())));
        // The format allows members to be absent, but not to be empty.
        members.retain(|(name, value)| value != "[]" && !(builder.data.is_empty() && *name == "buffers"));
        let members: Vec<String> = members.iter().map(|(name, value)| format!("{}:{value}", text(name))).collect();
        Ok(container::pack(format!("{{{}}}", members.join(",")).as_bytes(), &builder.data))
    }

    fn check(&self, skeleton: &Skeleton) -> Result<(), GltfError> {
        let own = self.skeleton();
        let error =
            |found: String| GltfError::new(GltfErrorKind::Skeleton, "", "a clip on the skeleton of the rig", found);
        if skeleton.len() != own.len() {
            return Err(error(format!("{} joints, not {}", skeleton.len(), own.len())));
        }
        let other = own.joints().find(|&j| own.name(j) != skeleton.name(j) || own.parent(j) != skeleton.parent(j));
        match other {
            Some(j) => Err(error(format!("joint {:?} in the place of {:?}", skeleton.name(j), own.name(j)))),
            None => Ok(()),
        }
    }

    fn animate<'a>(&self, clip: &'a Clip, builder: &mut Builder) -> Animation<'a> {
        let mut animation = Animation { name: &clip.name, channels: Vec::new(), samplers: Vec::new(), extras: None };
        let times = builder.times(clip.frames(), clip.fps());
        let poses = clip.poses();
        for (m, mover) in clip.skeleton().movers().iter().enumerate() {
            let places = poses.iter().map(|p| self.rigged.node_translation(mover.at(), p.translations[m]));
            let output = builder.vectors(&places.collect::<Vec<Vec3>>(), ViewTarget::Numbers, false);
            animation.add_channel(self.rigged.nodes[mover.at()], "translation", times, output);
        }
        let mut turns: Vec<Quat> = Vec::new();
        for j in clip.skeleton().joints() {
            let local = poses.iter().map(|p| self.rigged.node_rotation(j.at(), p.rotation(j)).normalize());
            let output = continuous(builder, &mut turns, local);
            animation.add_channel(self.rigged.nodes[j.at()], "rotation", times, output);
        }
        animation
    }

    /// The images of the file, with those that were embedded pointing to their views.
    fn images(&self, builder: &mut Builder) -> Result<String, GltfError> {
        let mut images = items(self.member("images"), "images")?;
        for (i, data) in &self.images {
            let key = || format!("images[{i}]");
            let mut members: super::json::Members = parsed(images[*i].get(), key)?;
            members.0.retain(|(name, _)| !matches!(&**name, "uri" | "mimeType" | "bufferView"));
            let view = builder.bytes(data).to_string();
            members.0.push(("bufferView".to_owned(), parsed(&view, key)?));
            members.0.push(("mimeType".to_owned(), parsed(&text(mime_type(data).unwrap_or_default()), key)?));
            images[*i] = parsed(&object(&members), key)?;
        }
        Ok(list(images.iter().map(|image| image.get().to_owned()), &[] as &[()]))
    }

    /// The scenes of the file, with more nodes in the one that is shown.
    fn scenes(&self, more: std::ops::Range<usize>) -> Result<String, GltfError> {
        let mut scenes = items(self.member("scenes"), "scenes")?;
        let shown = self.member("scene").and_then(|scene| scene.trim().parse().ok()).unwrap_or(0);
        if let Some(scene) = scenes.get_mut(shown).filter(|_| !more.is_empty()) {
            let key = || format!("scenes[{shown}]");
            let mut members: super::json::Members = parsed(scene.get(), key)?;
            let roots = members.0.iter().find(|m| m.0 == "nodes").map(|m| m.1.get());
            let mut roots: Vec<usize> = roots.map_or(Ok(Vec::new()), |raw| parsed(raw, key))?;
            roots.extend(more);
            let roots = text(&roots);
            members.0.retain(|(name, _)| name != "nodes");
            members.0.push(("nodes".to_owned(), parsed(&roots, key)?));
            *scene = parsed(&object(&members), key)?;
        }
        Ok(list(scenes.iter().map(|scene| scene.get().to_owned()), &[] as &[()]))
    }

    /// The nodes of the file, with the matrices of joints split up: a matrix cannot be animated.
    fn split_matrices(&self, mut nodes: Vec<Box<RawValue>>) -> Result<Vec<Box<RawValue>>, GltfError> {
        for &index in self.rigged.nodes.iter().filter(|&&index| self.file.nodes[index].has_matrix) {
            let node = &self.file.nodes[index];
            let key = || format!("nodes[{index}]");
            let mut members: super::json::Members = parsed(nodes[index].get(), key)?;
            members.0.retain(|(name, _)| !matches!(&**name, "matrix" | "translation" | "rotation" | "scale"));
            for (name, value) in [
                ("translation", text(&node.translation.to_array())),
                ("rotation", text(&node.rotation.to_array())),
                ("scale", text(&node.scale.to_array())),
            ] {
                members.0.push((name.to_owned(), parsed(&value, key)?));
            }
            nodes[index] = parsed(&object(&members), key)?;
        }
        Ok(nodes)
    }
}

#[derive(serde::Deserialize)]
struct Uri {
    #[serde(default)]
    uri: Option<String>,
}

fn left_outside(uri: &str, why: &str) -> Warning {
    Warning { line: None, text: format!("image {uri:?} stays outside the file: {why}") }
}

/// The type of an image by its first bytes, for those that the format and its extensions know.
fn mime_type(data: &[u8]) -> Option<&'static str> {
    match data {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        [0xab, b'K', b'T', b'X', b' ', b'2', b'0', ..] => Some("image/ktx2"),
        _ => None,
    }
}

/// The views of several buffers, rewritten for one buffer in which these start at `starts`.
fn moved_views(views: &[Box<RawValue>], starts: &[usize]) -> Result<Vec<String>, GltfError> {
    let mut moved = Vec::with_capacity(views.len());
    for (i, view) in views.iter().enumerate() {
        let key = || format!("bufferViews[{i}]");
        if view.get().contains("meshopt_compression") {
            let allowed = "data without compression; export without it";
            return Err(GltfError::new(GltfErrorKind::Extension, key(), allowed, "meshopt compression"));
        }
        let place: super::json::BufferView = parsed(view.get(), key)?;
        if place.buffer == 0 {
            moved.push(view.get().to_owned());
            continue;
        }
        let start = starts.get(place.buffer).copied().unwrap_or(0) as u64;
        let mut members: super::json::Members = parsed(view.get(), key)?;
        members.0.retain(|(name, _)| name != "buffer" && name != "byteOffset");
        let mut out = format!("{{\"buffer\":0,\"byteOffset\":{}", start + place.byte_offset);
        for (name, value) in &members.0 {
            out.push_str(&format!(",{}:{}", text(name), value.get()));
        }
        out.push('}');
        moved.push(out);
    }
    Ok(moved)
}

fn items(raw: Option<&str>, key: &str) -> Result<Vec<Box<RawValue>>, GltfError> {
    raw.map_or(Ok(Vec::new()), |raw| parsed(raw, || key.to_owned()))
}

/// Parses a part of JSON that has been read before, so that a failure is a fault here.
fn parsed<'a, T: serde::Deserialize<'a>>(raw: &'a str, key: impl FnOnce() -> String) -> Result<T, GltfError> {
    serde_json::from_str(raw).map_err(|error| GltfError::new(GltfErrorKind::Json, key(), "valid JSON", error))
}

/// A value as JSON; none that is given here can fail.
fn text<T: serde::Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn object(members: &super::json::Members) -> String {
    let members: Vec<String> =
        members.0.iter().map(|(name, value)| format!("{}:{}", text(name), value.get())).collect();
    format!("{{{}}}", members.join(","))
}

fn list<T: serde::Serialize>(kept: impl Iterator<Item = String>, added: &[T]) -> String {
    let all: Vec<String> = kept.chain(added.iter().map(text)).collect();
    format!("[{}]", all.join(","))
}
