//! The part of a glTF document that describes motion, as it is written.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// A list of bounded length: an empty object has two bytes in a file and a hundred in memory.
#[derive(Clone, Debug)]
pub(super) struct List<T>(pub(super) Vec<T>);

/// Real files stay far below: most are accessors, three per joint and animation.
const MAX_ITEMS: usize = 200_000;

impl<T> Default for List<T> {
    fn default() -> Self {
        List(Vec::new())
    }
}

impl<T> std::ops::Deref for List<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = List<T>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<List<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = seq.next_element()? {
                    if items.len() == MAX_ITEMS {
                        return Err(A::Error::custom(format!("at most {MAX_ITEMS} items are read")));
                    }
                    items.push(item);
                }
                Ok(List(items))
            }
        }
        deserializer.deserialize_seq(Items(PhantomData))
    }
}

/// The members of an object in order, each as its JSON text.
#[derive(Clone, Debug, Default)]
pub(super) struct Members(pub(super) Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> Visitor<'de> for All {
            type Value = Members;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    if members.len() == 1000 {
                        return Err(A::Error::custom("at most 1000 members are read"));
                    }
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(All)
    }
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) asset: Asset,
    #[serde(default)]
    pub(super) buffers: List<Buffer>,
    #[serde(default)]
    pub(super) buffer_views: List<BufferView>,
    #[serde(default)]
    pub(super) accessors: List<Accessor>,
    #[serde(default)]
    pub(super) nodes: List<Node>,
    #[serde(default)]
    pub(super) skins: List<Skin>,
    #[serde(default)]
    pub(super) animations: List<Animation>,
    #[serde(default)]
    pub(super) images: List<Image>,
    #[serde(default)]
    pub(super) extensions_required: List<String>,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Asset {
    pub(super) version: String,
    #[serde(default)]
    pub(super) generator: Option<String>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub(super) byte_length: u64,
    #[serde(default)]
    pub(super) uri: Option<String>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub(super) buffer: usize,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) byte_length: u64,
    #[serde(default)]
    pub(super) byte_stride: Option<u64>,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    #[serde(default)]
    pub(super) buffer_view: Option<usize>,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) component_type: u32,
    #[serde(default)]
    pub(super) normalized: bool,
    pub(super) count: u64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    #[serde(default)]
    pub(super) sparse: Option<Sparse>,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Sparse {
    pub(super) count: u64,
    pub(super) indices: SparseIndices,
    pub(super) values: SparseValues,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub(super) buffer_view: usize,
    #[serde(default)]
    pub(super) byte_offset: u64,
    pub(super) component_type: u32,
}

#[derive(Debug, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub(super) buffer_view: usize,
    #[serde(default)]
    pub(super) byte_offset: u64,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Node {
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) children: List<usize>,
    #[serde(default)]
    pub(super) matrix: Option<[f32; 16]>,
    #[serde(default)]
    pub(super) translation: Option<[f32; 3]>,
    #[serde(default)]
    pub(super) rotation: Option<[f32; 4]>,
    #[serde(default)]
    pub(super) scale: Option<[f32; 3]>,
    #[serde(default)]
    pub(super) mesh: Option<usize>,
    #[serde(default, deserialize_with = "tip")]
    pub(super) extras: Option<[f32; 3]>,
}

/// `{"tip": [x, y, z]}` in a node's extras is written by kumite; everything else there belongs to other programs.
fn tip<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[f32; 3]>, D::Error> {
    #[derive(serde::Deserialize)]
    struct Ours {
        tip: [f32; 3],
    }
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str::<Ours>(raw.get()).ok().map(|ours| ours.tip))
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Skin {
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) joints: List<usize>,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Animation {
    #[serde(default)]
    pub(super) name: Option<String>,
    pub(super) channels: List<AnimationChannel>,
    pub(super) samplers: List<Sampler>,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct AnimationChannel {
    pub(super) sampler: usize,
    pub(super) target: Target,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Target {
    #[serde(default)]
    pub(super) node: Option<usize>,
    pub(super) path: String,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Sampler {
    pub(super) input: usize,
    pub(super) output: usize,
    #[serde(default)]
    pub(super) interpolation: Option<String>,
}

#[derive(Debug, serde::Deserialize)]
pub(super) struct Image {
    #[serde(default)]
    pub(super) uri: Option<UriKind>,
}

/// A URI of which only the kind is kept: images are not opened, and embedded ones may be megabytes long.
#[derive(Debug)]
pub(super) struct UriKind {
    /// Whether it refers to another file instead of holding the data.
    pub(super) outside: bool,
}

impl<'de> Deserialize<'de> for UriKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = UriKind;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<UriKind, E> {
                Ok(UriKind { outside: !text.starts_with("data:") })
            }
        }
        deserializer.deserialize_str(Text)
    }
}
