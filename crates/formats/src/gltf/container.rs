//! Around the JSON of glTF: the binary container, data URIs, names of other files.

use super::{GltfError, GltfErrorKind};

const MAGIC: &[u8] = b"glTF";
const JSON: [u8; 4] = *b"JSON";
const BIN: [u8; 4] = *b"BIN\0";

/// The JSON text of a `.glb` or `.gltf`, and the binary chunk if there is one.
pub(super) fn unpack(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), GltfError> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        return match text.iter().find(|b| !b.is_ascii_whitespace()) {
            Some(b'{') => Ok((text, None)),
            Some(_) => Err(GltfError::container("a .glb file or JSON that starts with {", "something else")),
            None => Err(GltfError::container("a .glb file or JSON that starts with {", "an empty file")),
        };
    };
    let (version, rest) = read_u32(rest).ok_or_else(|| truncated("a version"))?;
    if version != 2 {
        return Err(GltfError::container("a binary container of version 2", format!("version {version}")));
    }
    let (length, rest) = read_u32(rest).ok_or_else(|| truncated("a length"))?;
    let length = length as usize;
    if length < 12 || length > bytes.len() {
        let found = format!("{} bytes", bytes.len());
        return Err(GltfError::container(&format!("{length} bytes, as the header says"), found));
    }
    let rest = &rest[..length - 12];
    let (kind, json, rest) = chunk(rest)?;
    if kind != JSON {
        return Err(GltfError::container("a JSON chunk first", String::from_utf8_lossy(&kind).escape_debug()));
    }
    // The format has readers ignore further chunks.
    match rest.is_empty() {
        true => Ok((json, None)),
        false => {
            let (kind, binary, _) = chunk(rest)?;
            Ok((json, (kind == BIN).then_some(binary)))
        }
    }
}

/// A `.glb` with this JSON and this binary chunk.
pub(super) fn pack(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let padded = |length: usize| length.next_multiple_of(4);
    let mut length = 12 + 8 + padded(json.len());
    if !binary.is_empty() {
        length += 8 + padded(binary.len());
    }
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(MAGIC);
    bytes.extend(2_u32.to_le_bytes());
    bytes.extend((length as u32).to_le_bytes());
    bytes.extend((padded(json.len()) as u32).to_le_bytes());
    bytes.extend(JSON);
    bytes.extend(json);
    bytes.resize(bytes.len().next_multiple_of(4), b' ');
    if !binary.is_empty() {
        bytes.extend((padded(binary.len()) as u32).to_le_bytes());
        bytes.extend(BIN);
        bytes.extend(binary);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

fn read_u32(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (number, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*number), rest))
}

/// Kind of a chunk, its data, and the bytes after it.
type Chunk<'a> = ([u8; 4], &'a [u8], &'a [u8]);

fn chunk(bytes: &[u8]) -> Result<Chunk<'_>, GltfError> {
    let (length, rest) = read_u32(bytes).ok_or_else(|| truncated("a chunk"))?;
    let (kind, rest) = rest.split_first_chunk().ok_or_else(|| truncated("a chunk"))?;
    let (data, rest) = rest.split_at_checked(length as usize).ok_or_else(|| truncated("a chunk as long as it says"))?;
    Ok((*kind, data, rest))
}

fn truncated(allowed: &str) -> GltfError {
    GltfError::container(allowed, "the end of the file")
}

/// Where a URI says that a buffer or an image is.
pub(super) enum Location {
    /// In the URI itself, decoded.
    Data(Vec<u8>),
    /// In another file. The name is decoded and checked: relative, with forward slashes, below the folder of the document.
    File(String),
}

/// Decodes a URI, and refuses any that leads outside the folder of the document.
pub(super) fn locate(uri: &str, key: &str) -> Result<Location, GltfError> {
    let refuse = |allowed: &str| GltfError::new(GltfErrorKind::Uri, key, allowed, format!("{uri:?}"));
    if let Some(data) = uri.get(..5).filter(|s| s.eq_ignore_ascii_case("data:")).map(|_| &uri[5..]) {
        let (kind, text) = data.split_once(',').ok_or_else(|| refuse("a data address with a comma"))?;
        if !kind.to_ascii_lowercase().ends_with(";base64") {
            return Err(refuse("data in base64"));
        }
        return Ok(Location::Data(base64(text.as_bytes()).ok_or_else(|| refuse("data in base64"))?));
    }
    let name = percent_decoded(uri).ok_or_else(|| refuse("a file name with proper percent codes"))?;
    let leaves = name.starts_with(['/', '~'])
        || name.contains(['\\', ':'])
        || name.chars().any(char::is_control)
        || name.split('/').any(|part| part == ".." || part.is_empty());
    if leaves {
        return Err(refuse("a file in the folder of the document"));
    }
    Ok(Location::File(name))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let (digits, after) = rest.split_first_chunk::<2>()?;
        let digit = |b: u8| char::from(b).to_digit(16);
        bytes.push((16 * digit(digits[0])? + digit(digits[1])?) as u8);
        rest = after;
    }
    // A name that still has codes in it was encoded twice to get past the checks.
    String::from_utf8(bytes).ok().filter(|name| !name.contains('%'))
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let text = text.trim_ascii();
    let end = text.iter().rposition(|&b| b != b'=').map_or(0, |last| last + 1);
    if text.len() - end > 2 || end % 4 == 1 {
        return None;
    }
    let mut bytes = Vec::with_capacity(end * 3 / 4);
    for group in text[..end].chunks(4) {
        let mut bits = 0_u32;
        for &byte in group {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'a'..=b'z' => byte - b'a' + 26,
                b'0'..=b'9' => byte - b'0' + 52,
                b'+' | b'-' => 62,
                b'/' | b'_' => 63,
                _ => return None,
            };
            bits = bits << 6 | u32::from(value);
        }
        bits <<= 6 * (4 - group.len());
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_come_back() {
        for (json, binary) in [(&b"{}"[..], &b""[..]), (b"{\"a\":1}", b"12345")] {
            let bytes = pack(json, binary);
            assert_eq!(bytes.len() % 4, 0);
            let (text, data) = unpack(&bytes).unwrap();
            assert_eq!(text.trim_ascii(), json);
            assert_eq!(data.is_none(), binary.is_empty());
            assert!(data.unwrap_or_default().starts_with(binary));
        }
    }

    #[test]
    fn base64_of_every_length() {
        for (text, bytes) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg", "foob"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(base64(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
        }
        for text in ["Z", "Zm9v!", "Zg===", "Z=g="] {
            assert_eq!(base64(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn only_files_in_the_folder_are_asked_for() {
        let file = |uri: &str| match locate(uri, "").map_err(|e| e.to_string()) {
            Ok(Location::File(name)) => Some(name),
            _ => None,
        };
        assert_eq!(file("my%20data/a.bin").as_deref(), Some("my data/a.bin"));
        assert_eq!(file("a..b.bin").as_deref(), Some("a..b.bin"));
        for uri in [
            "../a.bin",
            "a/../../b",
            "/etc/passwd",
            "C:/a.bin",
            "c:a",
            "a\\b",
            "%2e%2e/a",
            "%2Fetc",
            "%252e%252e/a",
            "http://host/a",
            "HTTPS://host/a",
            "file:///a",
            "//host/a",
            "",
            "a//b",
            "%zz",
            "%",
            "a\0b",
            "~/a",
            "data:,x",
            "data:;base64,!",
            "..",
        ] {
            assert_eq!(file(uri), None, "{uri}");
        }
    }
}
