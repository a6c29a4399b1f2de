//! Malformed BVH at the command line: exit 2, one message with a line, nothing written, within two seconds and 200 MB.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::path::Path;
use std::process::Command;
use std::time::Instant;

const GOOD: &str = "HIERARCHY\nROOT Hips\n{\n\tOFFSET 0 0 0\n\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
\tJOINT Spine\n\t{\n\t\tOFFSET 0 10 0\n\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n\t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 5 0\n\t\t}\n\t}\n}\n\
MOTION\nFrames: 2\nFrame Time: 0.0333333\n0 90 0 0 0 0 1 2 3\n0 90 1 0 0 0 4 5 6\n";

/// Name of the defect, and how it is made: the first text is replaced by the second, or the whole file if the first is empty.
const KINDS: [(&str, &str, &str); 35] = [
    ("an empty file", "", ""),
    ("only white space", "", "\n\n  \n"),
    ("another kind of file", "", "\u{89}PNG\r\n\u{1a}\n and so on"),
    ("another first word", "HIERARCHY", "HIERARCY"),
    ("no root", "ROOT Hips", "JOINT Hips"),
    ("no brace after the root", "ROOT Hips\n{", "ROOT Hips\n"),
    ("no offset", "\tOFFSET 0 0 0\n", ""),
    ("an offset of two numbers", "OFFSET 0 10 0", "OFFSET 0 10"),
    ("an offset that is a word", "OFFSET 0 10 0", "OFFSET 0 ten 0"),
    ("an offset that is not a number", "OFFSET 0 10 0", "OFFSET 0 nan 0"),
    ("an infinite offset", "OFFSET 0 10 0", "OFFSET 0 1e999 0"),
    ("no channels", "\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n", "\t\tCHANNELS\n"),
    ("a number of channels that is a word", "CHANNELS 3", "CHANNELS three"),
    ("a negative number of channels", "CHANNELS 3", "CHANNELS -3"),
    ("more channels than a joint has", "CHANNELS 3", "CHANNELS 4000000000"),
    ("fewer channels than said", "CHANNELS 6 Xposition", "CHANNELS 7 Xposition"),
    ("an unknown channel", "Zrotation Xrotation Yrotation\n\t\tEnd", "Zrotation Xrot Yrotation\n\t\tEnd"),
    ("a joint that is not closed", "\t}\n}\nMOTION", "MOTION"),
    ("one brace too many", "}\n}\nMOTION", "}\n}\n}\nMOTION"),
    ("an end site without an offset", "\t\t\tOFFSET 0 5 0\n", ""),
    ("an end site that is not closed", "OFFSET 0 5 0\n\t\t}\n\t}\n}\n", "OFFSET 0 5 0\n"),
    ("a second root", "MOTION", "ROOT Other\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION"),
    ("no motion", "MOTION\nFrames: 2\nFrame Time: 0.0333333\n0 90 0 0 0 0 1 2 3\n0 90 1 0 0 0 4 5 6\n", ""),
    ("no frames line", "Frames: 2\n", ""),
    ("a number of frames that is a word", "Frames: 2", "Frames: two"),
    ("no frame time", "Frame Time: 0.0333333\n", ""),
    ("a frame time of zero", "0.0333333", "0"),
    ("a negative frame time", "0.0333333", "-0.03"),
    ("a frame time in microseconds", "0.0333333", "33333"),
    ("a frame time shorter than any camera's", "0.0333333", "1e-9"),
    ("a frame time that is a word", "0.0333333", "fast"),
    ("a word among the values", "0 90 1 0 0 0 4 5 6", "0 90 1 0 zero 0 4 5 6"),
    ("a value that is not a number", "0 90 1 0 0 0 4 5 6", "0 90 1 0 NaN 0 4 5 6"),
    ("no frames at all", "0 90 0 0 0 0 1 2 3\n0 90 1 0 0 0 4 5 6\n", ""),
    ("not even one whole frame", "0 90 0 0 0 0 1 2 3\n0 90 1 0 0 0 4 5 6\n", "0 90 0\n"),
];

fn check(folder: &Path, what: &str, bytes: &[u8]) {
    let (file, out) = (folder.join("bad.bvh"), folder.join("out.bvh"));
    std::fs::write(&file, bytes).unwrap();
    let start = Instant::now();
    // Limits the whole address space, program and stacks included, so memory in use stays below it.
    let script = "ulimit -v 200000; exec \"$0\" convert \"$1\" \"$2\" --json";
    let done = Command::new("sh")
        .arg("-c")
        .arg(script)
        .arg(env!("CARGO_BIN_EXE_kumite"))
        .args([&file, &out])
        .output()
        .unwrap();
    let seconds = start.elapsed().as_secs_f32();
    let (output, errors) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert_eq!(done.status.code(), Some(2), "{what}: {output} {errors}");
    assert!(errors.is_empty(), "{what}: {errors}");
    let error = &serde_json::from_str::<serde_json::Value>(&output).unwrap()["error"];
    assert!(error["message"].as_str().is_some_and(|m| m.len() > 15), "{what}: {output}");
    assert!(error["file"].is_string() && error["line"].is_u64(), "{what}: {output}");
    assert!(!out.exists(), "{what}: something was written");
    assert!(seconds < 2.0, "{what}: {seconds} s");
}

#[test]
fn malformed_files_are_refused() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hostile");
    std::fs::create_dir_all(&folder).unwrap();
    for (what, from, to) in KINDS {
        let text = if from.is_empty() { to.to_owned() } else { GOOD.replacen(from, to, 1) };
        assert_ne!(text, GOOD, "{what}: nothing was broken");
        check(&folder, what, text.as_bytes());
    }
    let root = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\n".to_owned();
    let deep = root + &"JOINT b\n{\nOFFSET 0 0 0\nCHANNELS 0\n".repeat(1_000_000);
    check(&folder, "a million nested joints", deep.as_bytes());
    let many = GOOD.replace("Frames: 2", "Frames: 99999999999999").replace("0 90 1 0 0 0 4 5 6", "x");
    check(&folder, "more frames than there are atoms", many.as_bytes());
}
