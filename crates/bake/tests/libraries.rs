//! The manifests that come with kumite: they can be read, credit their sources, and fit their captures.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

use std::path::Path;

use kumite_bake::manifest;
use kumite_motion::SpanKind;

const LIBRARIES: [&str; 4] = ["accad-male2", "cmu-fight", "cmu-walk", "paper-environment"];

#[test]
fn every_library_credits_its_source() {
    for name in LIBRARIES {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../libraries/{name}.toml"));
        let manifest =
            manifest::read(&std::fs::read_to_string(path).unwrap()).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(!manifest.library.attribution.is_empty(), "{name} credits nobody");
    }
}

/// Fights have attacks and avoidances, walks have walks, and the paper's library has the paper's rate.
#[test]
fn labels_fit_their_captures() {
    for name in LIBRARIES {
        let Some(clips) = kumite_captures::clips(name) else { continue };
        let has = |kind| clips.iter().flat_map(|c| &c.spans).any(|s| s.kind == kind);
        match name {
            "accad-male2" => assert!(has(SpanKind::Attack) && has(SpanKind::Avoid) && has(SpanKind::Block)),
            "cmu-fight" => assert!(has(SpanKind::Attack) && has(SpanKind::Avoid)),
            _ => assert!(has(SpanKind::Walk)),
        }
        let fps = if name == "paper-environment" { 30.0 } else { 60.0 };
        assert!(clips.iter().all(|c| c.fps() == fps), "{name}");
    }
}
