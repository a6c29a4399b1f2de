//! Bundles: what goes in comes out, and what is damaged is refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kumite_asset::{BundleError, read, write};
use kumite_keying::embedded;
use kumite_motion::FrameIdx;
use kumite_motion::align::Planar;
use kumite_motion::graph::{ClipIdx, Edge, Graph, Join, Node, NodeIdx, SpanRef};
use kumite_motion::library::Library;

/// The embedded clips, each played whole and then again.
fn library() -> Library {
    let clips = embedded::clips().unwrap();
    let (mut nodes, mut edges) = (Vec::new(), Vec::new());
    for (i, clip) in clips.iter().enumerate() {
        let (node, clip_idx) = (NodeIdx(i as u32), ClipIdx(i as u32));
        let last = FrameIdx(clip.frames() as u32 - 1);
        nodes.push(Node { clip: clip_idx, frame: last });
        let join = Join { blend: 0.2, align: Planar::IDENTITY, distance: 0.01 };
        let range = (clip_idx, FrameIdx(0), last);
        let spans = (0..clip.spans.len() as u32).map(|span| SpanRef { span, whole: true }).collect();
        edges.push((Edge::new(node, node, range, Some(join), clip.seconds(), Planar::IDENTITY), spans));
    }
    let graph = Graph::new(nodes, edges).unwrap();
    let mut library = Library::new("embedded", clips, graph).unwrap();
    library.attribution = vec!["us".into()];
    library
}

#[test]
fn what_goes_in_comes_out() {
    let library = library();
    let bytes = write(&library).unwrap();
    assert_eq!(read(&bytes).unwrap(), library);
    assert_eq!(write(&read(&bytes).unwrap()).unwrap(), bytes);
}

#[test]
fn every_damaged_byte_is_noticed() {
    let bytes = write(&library()).unwrap();
    for at in (0..bytes.len()).step_by(bytes.len() / 500).chain(0..64) {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        // Four bytes of flags are not used yet.
        if !(12..16).contains(&at) {
            assert!(read(&bad).is_err(), "byte {at}");
        }
    }
    for length in [0, 1, 7, 8, 20, 39, 40, bytes.len() / 2, bytes.len() - 1] {
        assert!(read(&bytes[..length]).is_err(), "cut at {length}");
    }
}

#[test]
fn errors_say_what_to_do() {
    let bytes = write(&library()).unwrap();
    assert_eq!(read(b"HIERARCHY\nROOT Hips").unwrap_err(), BundleError::NotABundle);
    let mut newer = bytes.clone();
    newer[8] = 9;
    let text = read(&newer).unwrap_err().to_string();
    assert!(text.contains("version 9") && text.contains("bake it again"), "{text}");
    let text = read(&bytes[..bytes.len() - 1]).unwrap_err().to_string();
    assert!(text.contains("cut"), "{text}");
}

#[test]
fn ten_minutes_load_in_a_moment() {
    let library = library();
    let seconds: f32 = library.clips().iter().map(|c| c.seconds()).sum();
    let bytes = write(&library).unwrap();
    let start = std::time::Instant::now();
    let rounds = 5;
    for _ in 0..rounds {
        assert!(read(&bytes).is_ok());
    }
    let ten_minutes = start.elapsed().as_secs_f32() / rounds as f32 * 600.0 / seconds;
    // 50 ms is the aim in release; this runs with debug assertions, beside other tests.
    assert!(ten_minutes < 0.5, "{ten_minutes} s");
}
