//! Malformed and hostile glTF: refused with the place and what is allowed, at a cost bounded by its bytes.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{Chance, fuzz_seconds, mutate};
use kumite_formats::gltf::{self, GltfCharacter, Rig};
use kumite_motion::{Clip, Pose, humanoid};
use serde_json::{Value, json};

/// Two joints that turn and move; times, places and rotations in one buffer of 12 + 36 + 48 bytes.
fn good() -> Value {
    json!({
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"name": "a", "children": [1]}, {"name": "b", "translation": [0, 1, 0]}],
        "skins": [{"joints": [0, 1]}],
        "animations": [{"name": "walk",
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "translation"}},
                {"sampler": 1, "target": {"node": 1, "path": "rotation"}}],
            "samplers": [{"input": 0, "output": 1}, {"input": 0, "output": 2, "interpolation": "LINEAR"}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 2, "componentType": 5126, "count": 3, "type": "VEC4"}],
        "bufferViews": [{"buffer": 0, "byteLength": 12}, {"buffer": 0, "byteOffset": 12, "byteLength": 36},
            {"buffer": 0, "byteOffset": 48, "byteLength": 48}],
        "buffers": [{"byteLength": 96, "uri": "data.bin"}],
    })
}

fn data() -> Vec<u8> {
    let mut values = vec![0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 0.0_f32];
    values.extend([0.0, 0.0, 0.0, 1.0].repeat(3));
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

fn glb(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let mut bytes = b"glTF\x02\0\0\0\0\0\0\0".to_vec();
    for (kind, data) in [(b"JSON", json), (b"BIN\0", binary)] {
        bytes.extend((data.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(data);
    }
    let length = bytes.len() as u32;
    bytes[8..12].copy_from_slice(&length.to_le_bytes());
    bytes
}

/// Reads and converts: the number of clips, or the error as it is shown.
fn outcome(bytes: &[u8], binary: &[u8]) -> Result<usize, String> {
    let (file, _) = gltf::read(bytes, |name| {
        assert_eq!(name, "data.bin", "nothing else may be asked for");
        Ok(binary.to_vec())
    })
    .map_err(|e| e.to_string())?;
    Ok(file.to_clips().map_err(|e| e.to_string())?.0.len())
}

#[test]
fn errors_name_the_place_and_what_is_allowed() {
    assert_eq!(outcome(good().to_string().as_bytes(), &data()), Ok(1));
    type Defect = (&'static str, &'static str, Value, &'static str);
    let table: Vec<Defect> = vec![
        ("version", "/asset/version", json!("1.0"), "asset.version: expected 2.0, found 1.0"),
        ("type of a list", "/nodes", json!({}), "nodes: expected a list, found invalid type: map"),
        (
            "type of an index",
            "/skins/0/joints/1",
            json!("1"),
            "skins[0].joints[1]: expected usize, found invalid type: string",
        ),
        ("negative count", "/accessors/0/count", json!(-3), "accessors[0].count: expected u64, found invalid value"),
        ("fraction", "/accessors/0/count", json!(1.5), "accessors[0].count: "),
        ("matrix of 15", "/nodes/0/matrix", json!(vec![0; 15]), "nodes[0].matrix: expected an array of length 16"),
        (
            "missing buffer",
            "/bufferViews/0/buffer",
            json!(1),
            "bufferViews[0].buffer: expected the number of one of 1 buffers, found 1",
        ),
        ("view beyond", "/bufferViews/2/byteLength", json!(49), "bufferViews[2]: expected data within 96 bytes"),
        (
            "view that wraps",
            "/bufferViews/2/byteOffset",
            json!(u64::MAX),
            "bufferViews[2]: expected data within 96 bytes",
        ),
        (
            "accessor beyond",
            "/accessors/1/count",
            json!(4),
            "accessors[1]: expected data within 36 bytes, found 4 beyond its end",
        ),
        (
            "accessor that wraps",
            "/accessors/1/byteOffset",
            json!(u64::MAX),
            "accessors[1]: expected data within 36 bytes",
        ),
        (
            "four billion numbers",
            "/accessors/1/count",
            json!(4_000_000_000_u64),
            "accessors[1].count: expected no more numbers than the buffers hold",
        ),
        (
            "numbers of nothing",
            "/accessors/1",
            json!({"componentType": 5126, "count": 99_999_999_999_u64, "type": "VEC3"}),
            "no more numbers than the buffers hold",
        ),
        (
            "missing view",
            "/accessors/1/bufferView",
            json!(7),
            "accessors[1].bufferView: expected the number of one of 3 bufferViews, found 7",
        ),
        ("stride", "/bufferViews/1/byteStride", json!(8), "bufferViews[1].byteStride: expected 12 to 252, found 8"),
        (
            "huge stride",
            "/bufferViews/1/byteStride",
            json!(1_u64 << 60),
            "bufferViews[1].byteStride: expected 12 to 252",
        ),
        ("component", "/accessors/1/componentType", json!(5124), "accessors[1].componentType: expected 5126 (float)"),
        ("not normalised", "/accessors/1/componentType", json!(5120), "accessors[1].normalized: expected true"),
        (
            "kind",
            "/accessors/2/type",
            json!("VEC3"),
            "accessors[2].type: expected \"VEC4\" for animations[0].samplers[1].output, found \"VEC3\"",
        ),
        (
            "missing sampler",
            "/animations/0/channels/1/sampler",
            json!(2),
            "animations[0].channels[1].sampler: expected the number of one of 2 samplers",
        ),
        (
            "missing accessor",
            "/animations/0/samplers/0/input",
            json!(9),
            "animations[0].samplers[0].input: expected the number of one of 3 accessors",
        ),
        (
            "missing node",
            "/animations/0/channels/1/target/node",
            json!(2),
            "animations[0].channels[1].target.node: expected the number of one of 2 nodes",
        ),
        (
            "path",
            "/animations/0/channels/1/target/path",
            json!("colour"),
            "target.path: expected translation, rotation, scale or weights, found \"colour\"",
        ),
        (
            "interpolation",
            "/animations/0/samplers/1/interpolation",
            json!("BEZIER"),
            "expected LINEAR, STEP or CUBICSPLINE, found \"BEZIER\"",
        ),
        (
            "spline without tangents",
            "/animations/0/samplers/1/interpolation",
            json!("CUBICSPLINE"),
            "expected 36 numbers for 3 times, found 12",
        ),
        ("fewer values than times", "/accessors/1/count", json!(2), "expected 9 numbers for 3 times, found 6"),
        ("times that stand still", "/bufferViews/0/byteOffset", json!(12), "expected times that grow, found 0 after 0"),
        ("no times", "/accessors/0/count", json!(0), "samplers[0].input: expected at least one time, found none"),
        (
            "sparse index",
            "/accessors/1/sparse",
            json!({"count": 1, "indices": {"bufferView": 2, "byteOffset": 12, "componentType": 5125},
                "values": {"bufferView": 1}}),
            "accessors[1].sparse.indices: expected less than 3",
        ),
        (
            "sparse beyond",
            "/accessors/1/sparse",
            json!({"count": 99, "indices": {"bufferView": 2, "componentType": 5121}, "values": {"bufferView": 1}}),
            "accessors[1].sparse.indices: expected data within 48 bytes",
        ),
        (
            "sparse type",
            "/accessors/1/sparse",
            json!({"count": 1, "indices": {"bufferView": 2, "componentType": 5126}, "values": {"bufferView": 1}}),
            "expected 5121, 5123 or 5125",
        ),
        ("ring", "/nodes/1/children", json!([0]), "nodes[0]: expected nodes that form trees, found a ring of children"),
        ("own child", "/nodes/1/children", json!([1]), "nodes[1].children[0]: expected a node without another parent"),
        (
            "child twice",
            "/nodes/0/children",
            json!([1, 1]),
            "nodes[0].children[1]: expected a node without another parent",
        ),
        (
            "missing child",
            "/nodes/0/children",
            json!([5]),
            "nodes[0].children[0]: expected the number of one of 2 nodes, found 5",
        ),
        (
            "missing joint",
            "/skins/0/joints",
            json!([0, 2]),
            "skins[0].joints[1]: expected the number of one of 2 nodes, found 2",
        ),
        ("no joints", "/skins/0/joints", json!([]), "skins[0].joints: expected at least one node, found none"),
        (
            "flat matrix",
            "/nodes/0/matrix",
            json!([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]),
            "nodes[0].matrix: expected a matrix that keeps three dimensions",
        ),
        ("no rotation", "/nodes/0/rotation", json!([0, 0, 0, 0]), "nodes[0].rotation: expected a rotation of length 1"),
        ("beyond f32", "/nodes/0/translation", json!([1e300, 0, 0]), "nodes[0].translation: expected finite numbers"),
        ("flat joint", "/nodes/0/scale", json!([0, 0, 0]), "a joint cannot be mirrored or flat"),
        (
            "short buffer",
            "/buffers/0/byteLength",
            json!(97),
            "buffers[0]: expected 97 bytes, as byteLength says, found 96",
        ),
        (
            "no chunk",
            "/buffers/0",
            json!({"byteLength": 96}),
            "buffers[0]: expected a binary chunk or an address, found none",
        ),
        (
            "host",
            "/buffers/0/uri",
            json!("https://host/data.bin"),
            "buffers[0].uri: expected a file in the folder of the document, found \"https://host/data.bin\"",
        ),
        ("upwards", "/buffers/0/uri", json!("../data.bin"), "expected a file in the folder of the document"),
        ("coded upwards", "/buffers/0/uri", json!("%2e%2E/data.bin"), "expected a file in the folder of the document"),
        ("absolute", "/buffers/0/uri", json!("/data.bin"), "expected a file in the folder of the document"),
        ("drive", "/buffers/0/uri", json!("C:\\data.bin"), "expected a file in the folder of the document"),
        ("bad base64", "/buffers/0/uri", json!("data:;base64,####"), "expected data in base64"),
        (
            "compressed",
            "/extensionsRequired",
            json!(["EXT_meshopt_compression"]),
            "extensionsRequired[0]: expected no compression of animations",
        ),
    ];
    assert!(table.len() >= 20);
    for (name, pointer, value, fragment) in table {
        let mut document = good();
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match document.pointer_mut(parent).unwrap() {
            Value::Array(items) => items[key.parse::<usize>().unwrap()] = value,
            parent => parent[key] = value,
        }
        let error = outcome(document.to_string().as_bytes(), &data()).expect_err(name);
        assert!(error.contains(fragment), "{name}: {error}");
    }
}

#[test]
fn broken_containers_and_text_are_refused() {
    let json = good().to_string();
    let sound = glb(json.as_bytes(), &data());
    let changed = |at: usize, byte: u8| {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        bytes
    };
    let table: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty", vec![], "expected a .glb file or JSON that starts with {, found an empty file"),
        ("other", b"HIERARCHY".to_vec(), "expected a .glb file or JSON that starts with {, found something else"),
        ("cut head", b"glTF\x02\0".to_vec(), "expected a version, found the end of the file"),
        ("version 1", changed(4, 1), "expected a binary container of version 2, found version 1"),
        ("too long", changed(10, 9), "bytes, as the header says"),
        ("cut", sound[..sound.len() - 1].to_vec(), "bytes, as the header says"),
        ("first chunk", changed(16, b'X'), "expected a JSON chunk first, found XSON"),
        ("chunk beyond", changed(14, 9), "expected a chunk as long as it says, found the end of the file"),
        ("text", b"{\n\"asset\": {\"version\": \"2.0\"},\n\"nodes\": [}".to_vec(), "line 3: nodes"),
        ("cut text", json.as_bytes()[..100].to_vec(), "line 1: "),
        ("more text", format!("{json} x").into_bytes(), "line 1: expected valid JSON, found trailing characters"),
        ("no asset", b"{}".to_vec(), "expected valid JSON, found missing field `asset`"),
        ("twice", b"{\"asset\":{\"version\":\"2.0\"},\"nodes\":[],\"nodes\":[]}".to_vec(), "duplicate field"),
        ("deep", "{\"a\":".repeat(100_000).into_bytes(), "line 1: "),
    ];
    for (name, bytes, fragment) in table {
        let error = outcome(&bytes, &data()).expect_err(name);
        assert!(error.contains(fragment), "{name}: {error}");
    }
}

/// Small files that declare large contents are refused, or read in time and memory in proportion to their length.
#[test]
fn hostile_sizes_cost_no_more_than_their_bytes() {
    let started = Instant::now();
    let with = |members: Value| {
        let mut document = good();
        for (key, value) in members.as_object().unwrap() {
            document[key] = value.clone();
        }
        outcome(document.to_string().as_bytes(), &data())
    };
    let many = vec![json!({}); 300_000];
    assert!(with(json!({"nodes": many})).unwrap_err().contains("at most 200000 items"));
    assert!(with(json!({"nodes": many[..70_000]})).unwrap_err().contains("expected at most 65535 nodes, found 70000"));
    // One deep chain of joints.
    let chain: Vec<Value> =
        (0..60_000).map(|i| if i < 59_999 { json!({"children": [i + 1]}) } else { json!({}) }).collect();
    let joints: Vec<usize> = (0..60_000).collect();
    assert_eq!(with(json!({"nodes": chain, "skins": [{"joints": joints}]})), Ok(1));
    let skins: Vec<Value> = (0..60_000).map(|i| json!({"joints": [i]})).collect();
    assert_eq!(with(json!({"nodes": chain, "skins": skins})), Ok(1));
    // Two keys 1e30 s apart.
    let ages = glb(
        good().to_string().replace("\"uri\":\"data.bin\",", "").replace(",\"uri\":\"data.bin\"", "").as_bytes(),
        &{
            let mut data = data();
            data[8..12].copy_from_slice(&1e30_f32.to_le_bytes());
            data
        },
    );
    let error = outcome(&ages, &[]).unwrap_err();
    assert!(error.contains("are too many"), "{error}");
    // Many accessors on the same bytes.
    let accessors: Vec<Value> = (0..100_000)
        .map(|i| {
            if i == 0 {
                good()["accessors"][0].clone()
            } else {
                json!({"componentType": 5126, "count": 9_000, "type": "VEC3"})
            }
        })
        .collect();
    let samplers: Vec<Value> = (0..99_000).map(|i| json!({"input": 0, "output": i + 1})).collect();
    let channels: Vec<Value> =
        (0..99_000).map(|i| json!({"sampler": i, "target": {"node": 0, "path": "translation"}})).collect();
    let error = with(json!({"accessors": accessors, "animations": [{"samplers": samplers, "channels": channels}]}))
        .unwrap_err();
    assert!(error.contains("expected 9 numbers for 3 times"), "{error}");
    assert!(started.elapsed().as_secs_f64() < 10.0, "{:?}", started.elapsed());
}

#[test]
fn mutated_files_are_read_or_refused() {
    let clip =
        Clip::new("seed", Arc::new(humanoid::skeleton()), 30.0, &vec![Pose::rest(&humanoid::skeleton()); 3]).unwrap();
    let take = gltf::write_glb("seed", &[GltfCharacter { name: "A", clip: &clip, colour: [0.5; 3] }], &[]);
    // The JSON of a take, without most of its data, which has no influence on the reader.
    let text = take[20..].iter().take_while(|&&b| b != 0).copied().collect::<Vec<u8>>();
    let seeds = [good().to_string().into_bytes(), glb(good().to_string().as_bytes(), &data()), glb(&text, &[0; 400])];
    let mut chance = Chance::new(7);
    let started = Instant::now();
    let (mut tried, mut read) = (0_u32, 0_u32);
    while started.elapsed().as_secs_f64() < fuzz_seconds() {
        let mut bytes = mutate(&mut chance, &seeds);
        // Most mutations change the length; unless the header is corrected, it is all that the reader would complain of.
        if let Some(length) = bytes.starts_with(b"glTF").then_some(bytes.len() as u32).filter(|_| chance.below(4) > 0)
            && let Some(field) = bytes.get_mut(8..12)
        {
            field.copy_from_slice(&length.to_le_bytes());
        }
        tried += 1;
        match gltf::read(&bytes, |_| Ok(data())) {
            Ok((file, _)) => {
                read += 1;
                if let Ok((clips, _)) = file.to_clips() {
                    assert!(clips.iter().map(|c| c.frames() * c.skeleton().len()).sum::<usize>() < 200_000_000);
                }
                if let Ok((rig, _)) = Rig::new(file) {
                    let clip =
                        Clip::new("rest", Arc::clone(rig.skeleton()), 30.0, &[Pose::rest(rig.skeleton())]).unwrap();
                    if let Ok(written) = rig.write(&[&clip]) {
                        assert!(gltf::read(&written, |_| Err(String::new())).is_ok());
                    }
                }
            }
            Err(error) => assert!(error.to_string().len() < 600, "{error}"),
        }
    }
    assert!(read > 0 && read < tried, "{read} of {tried}");
    println!("{tried} mutated files, {read} of them could be read");
}
