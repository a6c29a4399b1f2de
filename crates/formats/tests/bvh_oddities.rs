//! Odd and malformed files: which are read, with which warnings, and which are refused, with which errors.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout, reason = "a test")]

use kumite_formats::bvh;

const HEAD: &str = "HIERARCHY\nROOT hips\n{\n\tOFFSET 0 0 0\n\tCHANNELS 3 Xposition Yposition Zposition\n\
                    \tEnd Site\n\t{\n\t\tOFFSET 0 1 0\n\t}\n}\n";
const MOTION: &str = "MOTION\nFrames: 2\nFrame Time: 0.0333333\n";

fn file(rows: &str) -> String {
    format!("{HEAD}{MOTION}{rows}")
}

/// Expects these values and warnings.
#[track_caller]
fn check_read(text: impl AsRef<[u8]>, values: &[f32], warnings: &[&str]) {
    let (file, found) = bvh::read(text.as_ref()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(file.values, values);
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), warnings);
}

#[test]
fn layouts_that_are_read_without_a_warning() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, -6.5];
    for rows in [
        "1 2 3\n4 5 -6.5\n",
        "1 2 3\n4 5 -6.5",
        "1 2 3\r\n4 5 -6.5\r\n",
        "1 2 3\n4 5 -6.5\r\n",
        "1 2 3\r4 5 -6.5\r",
        "\n\n1\t2  3 \t\n\n   4 5 -6.5   \n\n\n",
        "+1 2. 3.0e0\n4E0 0.5e1 -65e-1\n",
        "1 2 3\n4 5 -6.5\n\u{1a}\0\0",
        "1.000000000000000000000000 2 3\n4 5 -6.50000000000000000000000000000001\n",
    ] {
        check_read(file(rows), &values, &[]);
    }
    let text = file("1 2 3\n4 5 -6.5\n");
    check_read(format!("\u{feff}{text}"), &values, &[]);
    check_read(text.replace('\n', "\r\n"), &values, &[]);
    check_read(text.replace('\n', "\r"), &values, &[]);
    check_read(text.to_lowercase(), &values, &[]);
    check_read(text.to_uppercase(), &values, &[]);
    check_read(text.replace("\n{", " {").replace("\n\t{", "{"), &values, &[]);
    check_read(text.replace("Frame Time:", "Frame   Time :\t"), &values, &[]);
    check_read(text.replace("Frames:", "Frames").replace("Frame Time:", "FrameTime"), &values, &[]);
    let one_line = HEAD.replace("hips\n", "hips {").replacen("{\n{", "{", 1).replace('\n', " ");
    check_read(
        format!("{}{MOTION}1 2 3\n4 5 -6.5\n", one_line.replacen("{{", "{", 1).replacen("{ {", "{", 1)),
        &values,
        &[],
    );
}

#[test]
fn layouts_that_are_read_with_a_warning() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let odd_lines = "rows of 3 values do not match the lines; values were counted instead";
    for (rows, warnings) in [
        (
            "1 2 3\n4 5 6\n7 8",
            vec!["line 16: the last row is cut short: 2 values where 3 are needed; the rest is dropped"],
        ),
        (
            "1 2 3\n4 5 6 7",
            vec!["line 15: the last row is followed by more values: 4 values where 3 are needed; the rest is dropped"],
        ),
        ("1 2 3\n4 5 6\n}\n", vec!["line 16: ignored what follows the last row: \"}\""]),
        ("1 2 3\n4 5 6\nthe end 1 2 3", vec!["line 16: ignored what follows the last row: \"the\""]),
        ("1 2\n3\n4 5\n6\n", vec![&*format!("line 14: {odd_lines}")]),
        ("1 2 3 4 5 6\n", vec![&*format!("line 14: {odd_lines}")]),
        ("1 2 3 4\n5 6\n", vec![&*format!("line 14: {odd_lines}")]),
        (
            "1\n2\n3\n4\n5\n6\n7\n",
            vec![&*format!("line 14: {odd_lines}"), "line 20: the last row is cut short: 1 values; dropped"],
        ),
    ] {
        check_read(file(rows), &values, &warnings);
    }
    let miscounted = "the header says 7 frames, 2 were found; all found are used";
    check_read(file("1 2 3\n4 5 6\n").replace("Frames: 2", "Frames: 7"), &values, &[miscounted]);
    check_read(file("").replace("Frames: 2", "Frames: 0"), &[], &[]);
    let nameless = file("1 2 3\n4 5 6\n").replace("ROOT hips", "ROOT");
    check_read(nameless, &values, &["line 2: a joint without a name; called \"joint0\""]);
    let forked = file("1 2 3\n4 5 6\n").replace("}\n}", "}\n\tEnd Site\n\t{\n\t\tOFFSET 1 0 0\n\t}\n}");
    let text = "line 10: joint \"hips\" has several end sites; the first is where its bone ends";
    check_read(forked, &values, &[text]);
}

#[test]
fn names_keep_their_spaces_and_colons_and_may_repeat() {
    let text = file("1 2 3\n4 5 6\n").replace("hips", " mixamorig:Left Arm ").replace(
        "\tEnd",
        "\tJOINT End {\n\tOFFSET 1 1 1\n\t}\n\tJOINT End\n\t{\n\tOFFSET 2 2 2\n\tCHANNELS 0\n\t}\n\tEnd",
    );
    let (file, _) = bvh::read(text.as_bytes()).unwrap();
    assert_eq!(file.joints.iter().map(|j| &*j.name).collect::<Vec<_>>(), ["mixamorig:Left Arm", "End", "End"]);
    assert_eq!(file.joints.iter().map(|j| j.parent).collect::<Vec<_>>(), [None, Some(0), Some(0)]);
    assert_eq!(file.to_clip("names").unwrap().skeleton().len(), 3);
}

#[test]
fn rates_are_whole_where_the_file_meant_them_to_be() {
    for (time, fps) in [
        (".0083333", 120.0),
        ("0.008333", 120.0),
        ("0.0333333", 30.0),
        (".033333", 30.0),
        ("0.01", 100.0),
        ("0.0417083750417", 23.976),
        ("0.0166667", 60.0),
        ("0.0083", 120.481_93),
        ("2", 0.5),
    ] {
        let (file, _) = bvh::read(file("1 2 3\n4 5 6\n").replace("0.0333333", time).as_bytes()).unwrap();
        assert!((file.fps() - fps).abs() < 1e-4, "{time}: {}", file.fps());
    }
}

#[test]
fn errors_name_the_line_and_what_is_allowed() {
    let good = file("1 2 3\n4 5 6\n");
    let swap = |from: &str, to: &str| {
        assert!(good.contains(from), "{from:?}");
        good.replacen(from, to, 1).into_bytes()
    };
    let rows = |rows: &str| file(rows).into_bytes();
    let many = |rows: &str| file(rows).replace("Frames: 2", "Frames: 4").into_bytes();
    let table: Vec<(&str, Vec<u8>, usize, &str)> = vec![
        ("empty", vec![], 1, "expected HIERARCHY, found the end of the file"),
        ("blank", b" \n\n ".to_vec(), 3, "expected HIERARCHY, found the end of the file"),
        ("binary", vec![0xff; 100], 1, "expected HIERARCHY, found \""),
        ("another format", b"Kaydara FBX Binary  \0".to_vec(), 1, "expected HIERARCHY, found \"Kaydara\""),
        ("no root", swap("ROOT", "JOINT"), 2, "expected ROOT, found \"JOINT\""),
        ("only a head", b"HIERARCHY\n".to_vec(), 2, "expected ROOT, found the end of the file"),
        ("no brace", swap("hips\n{\n", "hips\n"), 3, "expected {, found \"OFFSET\""),
        ("no offset", swap("\tOFFSET 0 0 0\n", ""), 9, "expected OFFSET and three numbers, found \"}\""),
        (
            "two offsets",
            swap("\tOFFSET 0 0 0\n", "\tOFFSET 0 0 0\n\tOFFSET 1 1 1\n"),
            5,
            "expected one OFFSET per joint",
        ),
        (
            "short offset",
            swap("OFFSET 0 0 0", "OFFSET 0 0"),
            5,
            "line 5, column 2: expected a number (OFFSET has three), found \"CHANNELS\"",
        ),
        (
            "word in offset",
            swap("OFFSET 0 0 0", "OFFSET 0 zero 0"),
            4,
            "column 11: expected a number (OFFSET has three), found \"zero\"",
        ),
        ("nan in offset", swap("OFFSET 0 0 0", "OFFSET 0 nan 0"), 4, "found \"nan\""),
        ("huge offset", swap("OFFSET 0 0 0", "OFFSET 0 1e39 0"), 4, "found \"1e39\""),
        (
            "long offset",
            swap("OFFSET 0 0 0", "OFFSET 0 0 0 0"),
            4,
            "expected OFFSET, CHANNELS, JOINT, End Site or }, found \"0\"",
        ),
        (
            "seven channels",
            swap("CHANNELS 3", "CHANNELS 7"),
            5,
            "expected a number of channels from 0 to 6, found \"7\"",
        ),
        ("four billion channels", swap("CHANNELS 3", "CHANNELS 4000000000"), 5, "from 0 to 6, found \"4000000000\""),
        ("minus one channel", swap("CHANNELS 3", "CHANNELS -1"), 5, "from 0 to 6, found \"-1\""),
        ("uncounted channels", swap("CHANNELS 3", "CHANNELS"), 5, "from 0 to 6, found \"Xposition\""),
        (
            "unknown channel",
            swap("Xposition", "Xrot"),
            5,
            "a channel name (Xposition, Yposition, Zposition, Xrotation, Yrotation, Zrotation), found \"Xrot\"",
        ),
        ("too few channels", swap("CHANNELS 3", "CHANNELS 4"), 6, "expected a channel name"),
        (
            "too many channels",
            swap("CHANNELS 3", "CHANNELS 2"),
            5,
            "expected OFFSET, CHANNELS, JOINT, End Site or }, found \"Zposition\"",
        ),
        (
            "position twice",
            swap("Yposition", "Xposition"),
            5,
            "expected each position channel once per joint, found \"Xposition\"",
        ),
        ("channels twice", swap("\tEnd", "\tCHANNELS 0\n\tEnd"), 6, "expected one CHANNELS per joint"),
        (
            "late channels",
            swap("\tCHANNELS", "\tJOINT a { OFFSET 0 0 0 }\n\tCHANNELS"),
            6,
            "expected CHANNELS before the joint's children",
        ),
        (
            "no channels",
            swap("\tCHANNELS 3 Xposition Yposition Zposition\n", ""),
            9,
            "expected CHANNELS in at least one joint, found none",
        ),
        ("empty end site", swap("\t\tOFFSET 0 1 0\n", ""), 8, "expected OFFSET, found \"}\""),
        ("joint in an end site", swap("\t\tOFFSET 0 1 0\n", "\t\tJOINT a\n"), 8, "expected OFFSET, found \"JOINT\""),
        ("unclosed", swap("\t}\n}\n", "\t}\n"), 10, "End Site or }, found \"MOTION\""),
        ("cut in the tree", HEAD.as_bytes()[..48].to_vec(), 5, "found the end of the file"),
        ("closed twice", swap("}\n}\n", "}\n}\n}\n"), 11, "expected MOTION, found \"}\""),
        (
            "two skeletons",
            swap("MOTION", "ROOT other\n{\n}\nMOTION"),
            11,
            "several skeletons are not read, found \"ROOT\"",
        ),
        ("no motion", HEAD.as_bytes().to_vec(), 11, "expected MOTION, found the end of the file"),
        ("no frame count", swap("Frames: 2\n", ""), 12, "expected Frames:, found \"Frame\""),
        ("frames in words", swap("Frames: 2", "Frames: two"), 12, "expected a whole number of frames, found \"two\""),
        ("negative frames", swap("Frames: 2", "Frames: -2"), 12, "expected a whole number of frames, found \"-2\""),
        (
            "endless frames",
            swap("Frames: 2", "Frames: 99999999999999999999999"),
            12,
            "expected a whole number of frames",
        ),
        ("no frame time", swap("Frame Time: 0.0333333\n", ""), 13, "expected Frame Time:, found \"1\""),
        (
            "frame time zero",
            swap("0.0333333", "0"),
            13,
            "expected seconds between two frames, 0.0001 to 10, found \"0\"",
        ),
        ("frame time negative", swap("0.0333333", "-1"), 13, "seconds between two frames"),
        ("frame time nan", swap("0.0333333", "nan"), 13, "expected the seconds between two frames, found \"nan\""),
        (
            "frame time with comma",
            swap("0.0333333", "0,0333"),
            13,
            "expected the seconds between two frames, found \"0,0333\"",
        ),
        (
            "cut in the header",
            good.as_bytes()[..good.find("Time").unwrap()].to_vec(),
            13,
            "expected Frame Time:, found \"Frame\"",
        ),
        ("nan", rows("1 2 3\n4 nan 6\n"), 15, "line 15, column 3: expected a number, found \"nan\""),
        ("infinity", rows("1 2 3\n4 5 -inf\n"), 15, "column 5: expected a number, found \"-inf\""),
        ("beyond f32", rows("1 2 3\n4 5 1e39\n"), 15, "found \"1e39\""),
        ("Windows nan", rows("1 2 -1.#IND\n4 5 6\n"), 14, "found \"-1.#IND\""),
        ("commas", rows("1, 2, 3\n4, 5, 6\n"), 14, "column 1: expected a number, found \"1,\""),
        ("word before the end", rows("1 2 3\nend\n"), 15, "expected a number, found \"end\""),
        ("word in the last row", rows("1 2 3\n4 5 six\n"), 15, "expected a number, found \"six\""),
        (
            "short row",
            many("1 2 3\n4 5\n7 8 9\n1 2 3\n"),
            15,
            "expected 3 values in this row, one per channel, found 2",
        ),
        (
            "long row",
            many("1 2 3\n4 5 6 7\n7 8 9\n1 2 3\n"),
            15,
            "expected 3 values in this row, one per channel, found 4",
        ),
        ("a short and a long row", many("1 2 3\n4 5\n6 7 8 9\n1 2 3\n1 2 3\n"), 15, "found 2"),
        (
            "a column too many",
            many("1 2 3 4\n1 2 3 4\n1 2 3 4\n1 2 3 4\n"),
            14,
            "expected 3 values in this row, one per channel, found 4",
        ),
    ];
    assert!(table.len() >= 30);
    for (name, bytes, line, fragment) in table {
        let error = bvh::read(&bytes).expect_err(name);
        let shown = error.to_string();
        assert!(shown.contains(fragment), "{name}: {shown}");
        assert!(error.line == line && shown.starts_with(&format!("line {line}")), "{name}: {shown}");
        assert!(!error.allowed.is_empty() && !error.found.is_empty(), "{name}");
    }
}

#[test]
fn hostile_counts_and_depths_cost_no_more_than_their_bytes() {
    let vast = file("1 2 3\n").replace("Frames: 2", "Frames: 99999999999");
    let (read, warnings) = bvh::read(vast.as_bytes()).unwrap();
    assert!(read.values.capacity() < 100 && warnings.len() == 1);

    let deep = |depth: usize| {
        let block = "JOINT a\n{\nOFFSET 0 1 0\nCHANNELS 1 Xrotation\n";
        format!("HIERARCHY\nROOT{}{}MOTION\nFrames: 0\nFrame Time: 1\n", &block.repeat(depth)[5..], "}\n".repeat(depth))
    };
    let (read, _) = bvh::read(deep(60_000).as_bytes()).unwrap();
    assert_eq!(read.joints.len(), 60_000);
    let error = bvh::read(deep(1_000_000).as_bytes()).unwrap_err();
    assert_eq!(error.to_string(), "line 262142: expected at most 65535 joints, found more");

    let error = bvh::read(file(&format!("1 2 {}\n", "x".repeat(10_000_000))).as_bytes()).unwrap_err();
    assert!(error.found.len() < 100);
}
