//! Bundles: what goes in comes out, and what is damaged is refused.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kumite_asset::interrupts::{ClipRecord, InterruptsRecord};
use kumite_asset::{BundleError, contents, read, write};
use kumite_keying::embedded;
use kumite_motion::align::Planar;
use kumite_motion::graph::{ClipIdx, Edge, Graph, Join, Node, NodeIdx, SpanRef};
use kumite_motion::interrupt::{Commitment, CommittedPart, Interrupt, Interrupts, Onset};
use kumite_motion::library::Library;
use kumite_motion::{Clip, EdgeIdx, FrameIdx, Layer, SpanKind};

/// Clips, each played whole and then again.
fn looped(clips: Vec<Clip>) -> Library {
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
    let mut library = Library::new("mine", clips, graph).unwrap();
    library.attribution = vec!["us".into()];
    library
}

/// The embedded motions for fighters; three of them, one under another name, and one more for walkers.
fn library() -> Library {
    let clips = embedded::clips().unwrap();
    let mut walks = clips[..3].to_vec();
    walks[1].name += " again";
    walks.extend(embedded::walks().unwrap().into_iter().take(1));
    looped(clips).with_walks(&looped(walks)).unwrap()
}

/// An edge that plays an action, and the position of that among its clip's spans.
fn action(library: &Library) -> (EdgeIdx, u32) {
    let acts = |e: &Edge| library.clip(e.clip).spans.iter().position(|s| s.kind == SpanKind::Avoid);
    let found = library.graph().edges().iter().enumerate().find_map(|(index, edge)| Some((index, acts(edge)?)));
    let (edge, span) = found.unwrap();
    (EdgeIdx(edge as u32), span as u32)
}

/// The same, with interrupts.
fn reacting() -> Library {
    let library = library();
    let (edge, span) = action(&library);
    let onset = Onset { edge, enter: 0.05, span, kind: SpanKind::Avoid };
    let (clip, first) = (ClipIdx(1), FrameIdx(3));
    let ranges = (0..4).map(|clip| Interrupt { clip: ClipIdx(clip), first, last: FrameIdx(9), onset: 0, cost: 0.07 });
    let part = CommittedPart { clip, first, last: FrameIdx(5), why: Commitment::Flight };
    let interrupts = Interrupts::new(vec![onset], ranges.collect(), vec![part]).unwrap();
    library.with_interrupts(interrupts).unwrap()
}

/// A file of version 2, which has no sections.
fn version_2(library: &Library) -> Vec<u8> {
    let records = postcard::to_stdvec(&kumite_asset::v2::LibraryRecord::from(library)).unwrap();
    let rows = library.clips().iter().flat_map(|c| c.rows().iter().flatten()).flat_map(|v| v.to_le_bytes());
    let rest: Vec<u8> = (records.len() as u64).to_le_bytes().into_iter().chain(records.clone()).chain(rows).collect();
    let checksum = xxhash_rust::xxh3::xxh3_64(&rest);
    let head = [2u64.to_le_bytes(), (rest.len() as u64).to_le_bytes(), checksum.to_le_bytes()];
    [b"KUMITE\r\n".to_vec(), head.concat(), rest].concat()
}

/// A file with one more section.
fn with_section(bytes: &[u8], name: &[u8; 12], version: u32, body: &[u8]) -> Vec<u8> {
    let count = u32::from_le_bytes(*bytes[12..].first_chunk().unwrap());
    let (table, bodies) = bytes[32..].split_at(32 * count as usize);
    let row = [&name[..], &version.to_le_bytes(), &(body.len() as u64).to_le_bytes()].concat();
    let table = [table, &row, &xxhash_rust::xxh3::xxh3_64(body).to_le_bytes()].concat();
    let length = (table.len() + bodies.len() + body.len()) as u64;
    let head = [&bytes[..12], &(count + 1).to_le_bytes(), &length.to_le_bytes()].concat();
    [&head[..], &xxhash_rust::xxh3::xxh3_64(&table).to_le_bytes(), &table, bodies, body].concat()
}

fn names(bytes: &[u8]) -> Vec<(String, bool)> {
    contents(bytes).unwrap().sections.into_iter().map(|s| (s.name, s.known)).collect()
}

#[test]
fn what_goes_in_comes_out() {
    let library = library();
    assert_eq!(library.clips_of(Layer::Walk).len(), 4);
    assert_eq!(library.clips().len(), embedded::clips().unwrap().len() + 2, "clips of both layers are there once");
    let bytes = write(&library).unwrap();
    assert_eq!(read(&bytes).unwrap(), library);
    assert_eq!(write(&read(&bytes).unwrap()).unwrap(), bytes);
    assert_eq!(names(&bytes), [("library".to_owned(), true)]);
    let reacting = reacting();
    let bytes = write(&reacting).unwrap();
    assert_eq!(read(&bytes).unwrap(), reacting);
    assert_eq!(write(&read(&bytes).unwrap()).unwrap(), bytes);
    assert_eq!(names(&bytes), [("library".to_owned(), true), ("interrupts".to_owned(), true)]);
}

#[test]
fn older_files_are_read() {
    let library = library().only(Layer::Fight).unwrap();
    let bytes = version_2(&library);
    assert_eq!(contents(&bytes).unwrap().version, 2);
    assert_eq!(read(&bytes).unwrap(), library);
    let mut bad = bytes.clone();
    bad[1000] ^= 1;
    assert_eq!(read(&bad).unwrap_err(), BundleError::Damaged { part: "section `library`".into() });
}

#[test]
fn unknown_sections_are_left_out() {
    let library = library();
    let more = with_section(&write(&library).unwrap(), b"onsets\0\0\0\0\0\0", 1, b"whatever");
    assert_eq!(read(&more).unwrap(), library);
    assert_eq!(names(&more)[1], ("onsets".to_owned(), false));
}

/// Records that no program of ours writes.
#[test]
fn hostile_interrupts_are_refused() {
    type Clips = Vec<ClipRecord>;
    let library = library();
    let bytes = write(&library).unwrap();
    let (edge, span) = action(&library);
    let frames = library.clips()[0].frames() as u32;
    let good = (edge.0, 0.05f32, span);
    let file = |record: &InterruptsRecord, version: u32, more: &[u8]| {
        let records = postcard::to_stdvec(record).unwrap();
        let body = [&(records.len() as u64).to_le_bytes()[..], &records, more].concat();
        with_section(&bytes, b"interrupts\0\0", version, &body)
    };
    let refused = |onsets: &[(u32, f32, u32)], clips: Clips, why: &str| {
        let text = read(&file(&InterruptsRecord { onsets: onsets.to_vec(), clips }, 1, b"")).unwrap_err().to_string();
        assert!(text.contains("`interrupts`") && text.contains(why), "{text}");
    };
    let range = |first: u32, more: u32, onset: u32, cost: f32| {
        vec![ClipRecord { ranges: vec![(first, more, onset, cost)], committed: Vec::new() }]
    };
    let part = |first: u32, more: u32, why: &str| {
        vec![ClipRecord { ranges: Vec::new(), committed: vec![(first, more, why.to_owned())] }]
    };
    assert!(read(&file(&InterruptsRecord { onsets: vec![good], clips: range(0, 31, 0, 0.1) }, 1, b"")).is_ok());
    refused(&[(u32::MAX, 0.05, span)], Vec::new(), "does not exist");
    refused(&[(edge.0, 0.05, u32::MAX)], Vec::new(), "does not exist");
    refused(&[(edge.0, f32::NAN, span)], Vec::new(), "not at a time");
    refused(&[(edge.0, 1e9, span)], Vec::new(), "onset 0 names an edge");
    refused(&[good], range(0, 1, 1, 0.1), "no such onset");
    refused(&[good], range(0, 32, 0, 0.1), "too long");
    refused(&[good], range(u32::MAX, 1, 0, 0.1), "beyond all clips");
    refused(&[good], range(frames, 0, 0, 0.1), "interrupt 0 names");
    refused(&[good], range(0, 1, 0, f32::INFINITY), "its cost");
    refused(&[good], part(0, frames, "strike"), "committed part 0 names");
    refused(&[good], part(0, 1, "boredom"), "boredom");
    let twice =
        vec![ClipRecord { ranges: Vec::new(), committed: vec![(0, 5, "lying".into()), (5, 5, "lying".into())] }];
    refused(&[good], twice, "into the one before");
    let none = || (0..=library.clips().len()).map(|_| ClipRecord::default());
    let beyond: Clips = none().chain(range(0, 1, 0, 0.1)).collect();
    refused(&[good], beyond, "interrupt 0 names");

    let empty = InterruptsRecord { onsets: Vec::new(), clips: Vec::new() };
    let text = read(&file(&empty, 2, b"")).unwrap_err().to_string();
    assert!(text.contains("`interrupts`") && text.contains("version 2") && text.contains("bake it again"), "{text}");
    let text = read(&file(&empty, 1, b"more")).unwrap_err().to_string();
    assert!(text.contains("after its records"), "{text}");
    for body in [&b""[..], b"1234567", &u64::MAX.to_le_bytes(), &[&1u64.to_le_bytes()[..], &[0xff]].concat()] {
        let text = read(&with_section(&bytes, b"interrupts\0\0", 1, body)).unwrap_err().to_string();
        assert!(text.contains("`interrupts`"), "{text}");
    }
    // A list that says it is longer than the file is refused without room being made for it.
    let claims = [&6u64.to_le_bytes()[..], &[0xff, 0xff, 0xff, 0xff, 0x0f, 0]].concat();
    assert!(read(&with_section(&bytes, b"interrupts\0\0", 1, &claims)).is_err());
}

#[test]
fn every_damaged_byte_is_noticed() {
    let bytes = write(&reacting()).unwrap();
    let section = bytes.len() - 64..bytes.len();
    for at in (0..bytes.len()).step_by(bytes.len() / 500).chain(0..96).chain(section) {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        assert!(read(&bad).is_err(), "byte {at}");
    }
    for length in [0, 1, 7, 8, 20, 31, 32, 39, 40, bytes.len() / 2, bytes.len() - 1] {
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
    for (at, part) in [(40, "table of sections"), (64 + 9, "section `library`"), (bytes.len() - 1, "section `library`")]
    {
        let mut bad = bytes.clone();
        bad[at] ^= 1;
        let text = read(&bad).unwrap_err().to_string();
        assert!(text.contains(part) && text.contains("bake it again"), "{text}");
    }
    let text = read(&with_section(&bytes, b"library\0\0\0\0\0", 1, b"")).unwrap_err().to_string();
    assert!(text.contains("twice"), "{text}");
    let alone =
        [&b"KUMITE\r\n"[..], &3u32.to_le_bytes(), &[0; 12], &xxhash_rust::xxh3::xxh3_64(b"").to_le_bytes()].concat();
    let text = read(&alone).unwrap_err().to_string();
    assert!(text.contains("`library`: it is missing"), "{text}");
    let text = read(&with_section(&alone, b"library\0\0\0\0\0", 7, b"")).unwrap_err().to_string();
    assert!(text.contains("`library`") && text.contains("version 7") && text.contains("bake it again"), "{text}");
    let text = read(&with_section(&alone, b"library\0\0\0\0\0", 3, b"")).unwrap_err().to_string();
    assert!(text.contains("`library`: it is too short"), "{text}");
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
