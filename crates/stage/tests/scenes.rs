//! The scenes of the repository.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

#[test]
fn every_scene_can_be_read() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(kumite_stage::scene::read(&text).is_ok(), "{}: {:?}", path.display(), kumite_stage::scene::read(&text));
        count += 1;
    }
    assert!(count > 0);
}
