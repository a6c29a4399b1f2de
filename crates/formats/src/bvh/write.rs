use std::fmt::Write;

use kumite_motion::Vec3;

use super::BvhFile;

/// The file as text: the same bytes for the same file, every number with as few digits as bring it back exactly.
///
/// Joints are written limb by limb, as the nested blocks demand; columns follow them. Joints whose parent does not
/// come before them are left out.
pub fn write(file: &BvhFile) -> String {
    let channels = file.channels();
    let mut first_columns = Vec::with_capacity(file.joints.len());
    let mut children = vec![Vec::new(); file.joints.len()];
    let mut column = 0;
    for (j, joint) in file.joints.iter().enumerate() {
        first_columns.push(column);
        column += joint.channels.len();
        if let Some(parent) = joint.parent.filter(|&parent| parent < j) {
            children[parent].push(j);
        }
    }
    let mut text = String::with_capacity(200 * file.joints.len() + 8 * file.values.len());
    let mut columns = Vec::with_capacity(channels);
    text.push_str("HIERARCHY\n");
    if !file.joints.is_empty() {
        let mut open = vec![(0, 0)];
        open_joint(&mut text, file, 0, 0);
        columns.extend(first_columns[0]..first_columns[0] + file.joints[0].channels.len());
        while let Some((joint, next)) = open.pop() {
            let depth = open.len();
            if let Some(&child) = children[joint].get(next) {
                open.push((joint, next + 1));
                open_joint(&mut text, file, child, depth + 1);
                columns.extend(first_columns[child]..first_columns[child] + file.joints[child].channels.len());
                open.push((child, 0));
            } else {
                indent(&mut text, depth);
                text.push_str("}\n");
            }
        }
    }
    let rows = file.values.chunks_exact(channels.max(1));
    // Writing to a string cannot fail, here and below.
    let _ = write!(text, "MOTION\nFrames: {}\nFrame Time: {}\n", rows.len(), file.frame_time);
    for row in rows {
        for (i, &column) in columns.iter().enumerate() {
            if i > 0 {
                text.push(' ');
            }
            number(&mut text, row[column]);
        }
        text.push('\n');
    }
    text
}

fn open_joint(text: &mut String, file: &BvhFile, j: usize, depth: usize) {
    let joint = &file.joints[j];
    indent(text, depth);
    text.push_str(if depth == 0 { "ROOT " } else { "JOINT " });
    // What would end the name or the line.
    let breaks = |c: char| c.is_control() || c == '{' || c == '}';
    text.push_str(joint.name.trim().replace(breaks, "_").as_str());
    text.push('\n');
    indent(text, depth);
    text.push_str("{\n");
    offset(text, joint.offset, depth + 1);
    indent(text, depth + 1);
    let _ = write!(text, "CHANNELS {}", joint.channels.len());
    for channel in &joint.channels {
        text.push(' ');
        text.push_str(channel.name());
    }
    text.push('\n');
    for &site in &joint.end_sites {
        indent(text, depth + 1);
        text.push_str("End Site\n");
        indent(text, depth + 1);
        text.push_str("{\n");
        offset(text, site, depth + 2);
        indent(text, depth + 1);
        text.push_str("}\n");
    }
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n('\t', depth));
}

fn offset(text: &mut String, offset: Vec3, depth: usize) {
    indent(text, depth);
    text.push_str("OFFSET");
    for value in offset.to_array() {
        text.push(' ');
        number(text, value);
    }
    text.push('\n');
}

fn number(text: &mut String, value: f32) {
    // No reader can tell the two zeros apart.
    let value = if value == 0.0 { 0.0 } else { value };
    let _ = write!(text, "{value}");
}
