use kumite_motion::Vec3;

use super::{BvhError, BvhErrorKind, BvhFile, BvhJoint, Channel, ChannelKind, number};
use crate::Warning;

/// As many as a skeleton can index.
const MAX_JOINTS: usize = u16::MAX as usize;
/// Of something found that is quoted in an error.
const MAX_QUOTE: usize = 40;

/// Reads a BVH file: its joints and all whole rows of motion.
///
/// Memory is in proportion to `bytes`, whatever counts the file declares.
pub fn read(bytes: &[u8]) -> Result<(BvhFile, Vec<Warning>), BvhError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = Reader { bytes, at: 0, counted: (0, 1), warnings: Vec::new() };
    let joints = reader.hierarchy()?;
    let channels = joints.iter().map(|j| j.channels.len()).sum();
    if channels == 0 {
        return Err(reader.error(BvhErrorKind::Limit, reader.at, "CHANNELS in at least one joint", "none"));
    }
    let (declared_frames, frame_time) = reader.motion_header()?;
    let values = reader.motion(channels, declared_frames)?;
    Ok((BvhFile { joints, declared_frames, frame_time, values }, reader.warnings))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// A place and its line: lines are counted on from there, since warnings come in order.
    counted: (usize, usize),
    warnings: Vec<Warning>,
}

impl<'a> Reader<'a> {
    fn hierarchy(&mut self) -> Result<Vec<BvhJoint>, BvhError> {
        self.keyword("HIERARCHY")?;
        self.keyword("ROOT")?;
        let mut joints = Vec::new();
        let mut open = Vec::new();
        self.open_joint(&mut joints, &mut open)?;
        while let Some(block) = open.last_mut() {
            let (joint, start) = (block.joint, self.next());
            let word = self.word();
            match &*word.to_ascii_uppercase() {
                b"OFFSET" if block.has_offset => return Err(self.syntax(start, "one OFFSET per joint")),
                b"OFFSET" => {
                    block.has_offset = true;
                    joints[joint].offset = self.offset()?;
                }
                b"CHANNELS" if block.has_channels => return Err(self.syntax(start, "one CHANNELS per joint")),
                // Columns go in the order of the text, so these would not be where anyone looks for them.
                b"CHANNELS" if joints.len() > joint + 1 => {
                    return Err(self.syntax(start, "CHANNELS before the joint's children"));
                }
                b"CHANNELS" => {
                    block.has_channels = true;
                    joints[joint].channels = self.channels()?;
                }
                b"JOINT" => self.open_joint(&mut joints, &mut open)?,
                b"END" | b"ENDSITE" => {
                    self.rest_of_line();
                    let site = self.end_site()?;
                    joints[joint].end_sites.push(site);
                    if joints[joint].end_sites.len() == 2 {
                        let name = &joints[joint].name;
                        let text = format!("joint {name:?} has several end sites; the first is where its bone ends");
                        self.warn(start, text);
                    }
                }
                b"}" if !block.has_offset => return Err(self.syntax(start, "OFFSET and three numbers")),
                b"}" => {
                    open.pop();
                }
                _ => return Err(self.syntax(start, "OFFSET, CHANNELS, JOINT, End Site or }")),
            }
        }
        Ok(joints)
    }

    fn open_joint(&mut self, joints: &mut Vec<BvhJoint>, open: &mut Vec<Block>) -> Result<(), BvhError> {
        let start = self.at;
        if joints.len() == MAX_JOINTS {
            let allowed = format!("at most {MAX_JOINTS} joints");
            return Err(self.error(BvhErrorKind::Limit, start, &allowed, "more"));
        }
        let mut name = String::from_utf8_lossy(self.rest_of_line()).into_owned();
        if name.is_empty() {
            name = format!("joint{}", joints.len());
            self.warn(start, format!("a joint without a name; called {name:?}"));
        }
        self.keyword("{")?;
        let parent = open.last().map(|block| block.joint);
        open.push(Block { joint: joints.len(), has_offset: false, has_channels: false });
        joints.push(BvhJoint { name, parent, offset: Vec3::ZERO, channels: Vec::new(), end_sites: Vec::new() });
        Ok(())
    }

    fn end_site(&mut self) -> Result<Vec3, BvhError> {
        self.keyword("{")?;
        self.keyword("OFFSET")?;
        let offset = self.offset()?;
        self.keyword("}")?;
        Ok(offset)
    }

    fn offset(&mut self) -> Result<Vec3, BvhError> {
        let mut offset = [0.0; 3];
        for value in &mut offset {
            *value = self.number("a number (OFFSET has three)")? as f32;
        }
        Ok(Vec3::from_array(offset))
    }

    fn channels(&mut self) -> Result<Vec<Channel>, BvhError> {
        let start = self.next();
        let count = match std::str::from_utf8(self.word()).ok().and_then(|w| w.parse::<usize>().ok()) {
            Some(count @ 0..=6) => count,
            _ => return Err(self.syntax(start, "a number of channels from 0 to 6")),
        };
        let mut channels = Vec::with_capacity(count);
        for _ in 0..count {
            let start = self.next();
            let word = self.word();
            let named = Channel::ALL.into_iter().find(|c| word.eq_ignore_ascii_case(c.name().as_bytes()));
            let Some(channel) = named else {
                return Err(self.syntax(
                    start,
                    "a channel name (Xposition, Yposition, Zposition, Xrotation, Yrotation, Zrotation)",
                ));
            };
            if channel.kind == ChannelKind::Position && channels.contains(&channel) {
                return Err(self.syntax(start, "each position channel once per joint"));
            }
            channels.push(channel);
        }
        Ok(channels)
    }

    fn motion_header(&mut self) -> Result<(u64, f64), BvhError> {
        let start = self.next();
        if self.bytes[self.at..].get(..4).is_some_and(|w| w.eq_ignore_ascii_case(b"ROOT")) {
            return Err(self.syntax_word(start, "MOTION; files with several skeletons are not read"));
        }
        self.keyword("MOTION")?;
        self.label("frames", "Frames:")?;
        let start = self.next();
        let Some(frames) = std::str::from_utf8(self.word()).ok().and_then(|w| w.parse().ok()) else {
            return Err(self.syntax(start, "a whole number of frames"));
        };
        self.label("frametime", "Frame Time:")?;
        let start = self.next();
        let frame_time = self.number("the seconds between two frames")?;
        // Faster than any camera, slower than any motion: milliseconds or microseconds written as seconds are caught here.
        if !(1e-4..=10.0).contains(&frame_time) {
            return Err(self.number_error(start, "seconds between two frames, 0.0001 to 10"));
        }
        Ok((frames, frame_time))
    }

    /// A label up to its colon, whatever blanks are in it, or up to its number if the colon is missing.
    fn label(&mut self, letters: &str, shown: &str) -> Result<(), BvhError> {
        let start = self.next();
        let mut wanted = letters.bytes();
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b':' | b'0'..=b'9' | b'+' | b'-' | b'.' if wanted.len() == 0 => {
                    self.at += usize::from(byte == b':');
                    return Ok(());
                }
                0..=b' ' => self.at += 1,
                _ if wanted.next().is_some_and(|w| byte.eq_ignore_ascii_case(&w)) => self.at += 1,
                _ => break,
            }
        }
        Err(self.syntax_word(start, shown))
    }

    /// All values of whole rows.
    fn motion(&mut self, channels: usize, declared: u64) -> Result<Vec<f32>, BvhError> {
        // A value takes two bytes at least: whatever count is declared, no more memory than the file is worth.
        let room = declared.saturating_mul(channels as u64).min((self.bytes.len() - self.at) as u64 / 2 + 1);
        let mut values: Vec<f32> = Vec::with_capacity(room as usize);
        let mut lines = Lines::new(channels, self.at);
        let bytes = self.bytes;
        let mut at = self.at;
        loop {
            // One blank between two values is the rule; anything else is looked at closely.
            let one_blank = bytes.get(at) == Some(&b' ') && bytes.get(at + 1).is_some_and(|&b| b > b' ');
            if one_blank {
                at += 1;
            } else {
                let (mut ended, mut next) = (false, at);
                while let Some(&byte) = bytes.get(next).filter(|&&b| b <= b' ') {
                    ended |= byte == b'\n' || byte == b'\r';
                    next += 1;
                }
                if ended || next == bytes.len() {
                    lines.end(values.len());
                    lines.start = next;
                }
                at = next;
                if at == bytes.len() {
                    break;
                }
            }
            if let Some((value, end)) = number::plain(bytes, at) {
                values.push(value);
                at = end;
                continue;
            }
            let end = self.word_end(at);
            match number::word(&bytes[at..end]) {
                Some(value) => values.push(value as f32),
                None if lines.is_complete(values.len(), declared) && at == lines.start => {
                    let text = format!("ignored what follows the last row: {:?}", quote(&bytes[at..end]));
                    self.warn(at, text);
                    break;
                }
                None => return Err(self.number_error(at, "a number")),
            }
            at = end;
        }
        self.finish_rows(values, &lines, declared)
    }

    fn finish_rows(&mut self, mut values: Vec<f32>, lines: &Lines, declared: u64) -> Result<Vec<f32>, BvhError> {
        let channels = lines.channels;
        let (rows, rest) = (values.len() / channels, values.len() % channels);
        if let Some((start, count)) = lines.odd {
            let only_last = start == lines.last;
            let one_row_per_line = lines.whole * 2 > lines.count;
            let counted = values.len() as u64 == declared.saturating_mul(channels as u64);
            if only_last && !counted && (lines.whole > 0 || rows == 0) {
                let what = if count < channels { "is cut short" } else { "is followed by more values" };
                self.warn(
                    start,
                    format!("the last row {what}: {count} values where {channels} are needed; the rest is dropped"),
                );
            } else if !one_row_per_line && (counted || lines.aligned) {
                self.warn(
                    start,
                    format!("rows of {channels} values do not match the lines; values were counted instead"),
                );
                if rest != 0 {
                    self.warn(lines.last, format!("the last row is cut short: {rest} values; dropped"));
                }
            } else {
                let allowed = format!("{channels} values in this row, one per channel");
                let found = format!("{count}");
                return Err(self.error(BvhErrorKind::Row, start, &allowed, &found));
            }
        }
        if rows as u64 != declared {
            self.warnings.push(Warning {
                line: None,
                text: format!("the header says {declared} frames, {rows} were found; all found are used"),
            });
        }
        values.truncate(rows * channels);
        Ok(values)
    }

    /// Past blanks; where the next word starts.
    fn next(&mut self) -> usize {
        while self.bytes.get(self.at).is_some_and(|&b| b <= b' ') {
            self.at += 1;
        }
        self.at
    }

    fn word_end(&self, at: usize) -> usize {
        self.bytes[at..].iter().position(|&b| b <= b' ').map_or(self.bytes.len(), |length| at + length)
    }

    /// The next word; braces are words of their own. Empty at the end of the file.
    fn word(&mut self) -> &'a [u8] {
        let start = self.next();
        let brace = |b: u8| b == b'{' || b == b'}';
        let length = match &self.bytes[start..] {
            [first, ..] if brace(*first) => 1,
            rest => rest.iter().position(|&b| b <= b' ' || brace(b)).unwrap_or(rest.len()),
        };
        self.at = start + length;
        &self.bytes[start..self.at]
    }

    /// Up to the end of the line or an opening brace, without blanks around.
    fn rest_of_line(&mut self) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|b| matches!(b, b'\n' | b'\r' | b'{')).unwrap_or(rest.len());
        self.at += length;
        rest[..length].trim_ascii()
    }

    fn keyword(&mut self, wanted: &str) -> Result<(), BvhError> {
        let start = self.next();
        if self.word().eq_ignore_ascii_case(wanted.as_bytes()) {
            return Ok(());
        }
        Err(self.syntax(start, wanted))
    }

    fn number(&mut self, allowed: &str) -> Result<f64, BvhError> {
        let start = self.next();
        number::word(self.word()).ok_or_else(|| self.number_error(start, allowed))
    }

    fn warn(&mut self, at: usize, text: String) {
        let line = self.line(at);
        self.warnings.push(Warning { line: Some(line), text });
    }

    fn line(&mut self, at: usize) -> usize {
        let (from, line) = if self.counted.0 <= at { self.counted } else { (0, 1) };
        self.counted = (at, line + line_ends(self.bytes, from, at));
        self.counted.1
    }

    /// The word between `at` and the reader's place is not what it should be.
    fn syntax(&self, at: usize, allowed: &str) -> BvhError {
        let word = &self.bytes[at..self.at.max(at)];
        if word.is_empty() {
            return self.error(BvhErrorKind::EndOfFile, at, allowed, "the end of the file");
        }
        self.error(BvhErrorKind::Syntax, at, allowed, &quote(word))
    }

    /// The word at `at` is not what it should be.
    fn syntax_word(&mut self, at: usize, allowed: &str) -> BvhError {
        self.at = at;
        self.word();
        self.syntax(at, allowed)
    }

    fn number_error(&self, at: usize, allowed: &str) -> BvhError {
        let word = &self.bytes[at..self.word_end(at)];
        if word.is_empty() {
            return self.error(BvhErrorKind::EndOfFile, at, allowed, "the end of the file");
        }
        self.error(BvhErrorKind::Number, at, allowed, &quote(word))
    }

    fn error(&self, kind: BvhErrorKind, at: usize, allowed: &str, found: &str) -> BvhError {
        let before = &self.bytes[..at];
        let column = at - before.iter().rposition(|&b| b == b'\n' || b == b'\r').map_or(0, |end| end + 1) + 1;
        let line = 1 + line_ends(self.bytes, 0, at);
        BvhError { kind, line, column, found: found.to_owned(), allowed: allowed.to_owned() }
    }
}

/// A joint whose closing brace has not come yet.
struct Block {
    joint: usize,
    has_offset: bool,
    has_channels: bool,
}

/// How the values are spread over the lines.
struct Lines {
    channels: usize,
    /// Where the line in work starts.
    start: usize,
    /// Values before that line.
    before: usize,
    /// Lines with values.
    count: usize,
    /// Lines that are one row.
    whole: usize,
    /// Where the last line with values starts.
    last: usize,
    /// The first line that is not one row, and how many values it has.
    odd: Option<(usize, usize)>,
    /// Whether rows that end, end with a line.
    aligned: bool,
}

impl Lines {
    fn new(channels: usize, start: usize) -> Lines {
        Lines { channels, start, before: 0, count: 0, whole: 0, last: 0, odd: None, aligned: true }
    }

    fn end(&mut self, total: usize) {
        let found = total - self.before;
        if found == 0 {
            return;
        }
        self.count += 1;
        self.last = self.start;
        if found == self.channels {
            self.whole += 1;
        } else {
            self.odd.get_or_insert((self.start, found));
        }
        let crossed = total / self.channels != self.before / self.channels;
        self.aligned &= !crossed || total.is_multiple_of(self.channels);
        self.before = total;
    }

    fn is_complete(&self, total: usize, declared: u64) -> bool {
        total.is_multiple_of(self.channels) && (total / self.channels) as u64 >= declared
    }
}

/// Line ends between two places: LF, CR, or both together.
fn line_ends(bytes: &[u8], from: usize, to: usize) -> usize {
    let ends = |at: usize| match bytes[at] {
        b'\n' => true,
        b'\r' => bytes.get(at + 1) != Some(&b'\n'),
        _ => false,
    };
    (from..to).filter(|&at| ends(at)).count()
}

fn quote(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(&word[..word.len().min(4 * MAX_QUOTE)]);
    if text.chars().count() <= MAX_QUOTE {
        return text.into_owned();
    }
    text.chars().take(MAX_QUOTE).chain("...".chars()).collect()
}
