//! The bundle (`.kumite`): a [`Library`] in one file, versioned and checksummed.
//!
//! ```text
//! "KUMITE\r\n"  version: u32  flags: u32 (0)  length of the rest: u64  XXH3 of the rest: u64
//! length of the records: u64  records (postcard)  rows of all clips (f32, little-endian, 4-byte aligned)
//! ```
//!
//! Records are small and described by types of their own ([`v1`], [`v2`]), so that the library's types may change without the file; rows are the
//! clips' own memory and are copied, not parsed.
//!
//! Does not: read files, or know anything but `kumite-motion`. Input may be hostile: no panic, memory in proportion to the bytes given.

pub mod v1;
pub mod v2;

use std::fmt;

use kumite_motion::library::Library;

/// What a bundle begins with. The line break shows transfers that mistook it for text.
const MAGIC: &[u8; 8] = b"KUMITE\r\n";
const HEADER: usize = 8 + 4 + 4 + 8 + 8;

/// The version that is written.
pub const VERSION: u32 = 2;

/// Why bytes are not a bundle that can be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BundleError {
    /// It begins with something else.
    #[error("this is not a kumite bundle; `kumite bake` makes one from a manifest")]
    NotABundle,
    /// Written by a version this one does not read.
    #[error("the bundle is of version {found}; this program reads 1 to {VERSION}: bake it again")]
    Version {
        /// The version found.
        found: u32,
    },
    /// Shorter or longer than it says.
    #[error("the bundle is cut short or has extra bytes: {found} bytes, {expected} expected")]
    Length {
        /// Bytes there are.
        found: u64,
        /// Bytes there should be.
        expected: u64,
    },
    /// The contents are not those that were written.
    #[error("the bundle is damaged: its checksum does not match; bake it again")]
    Damaged,
    /// The contents are whole but make no sense: written by something else.
    #[error("the bundle makes no sense: {why}")]
    Nonsense {
        /// What is wrong.
        why: String,
    },
}

/// A library as bytes.
pub fn write(library: &Library) -> Result<Vec<u8>, BundleError> {
    let records = postcard::to_stdvec(&v2::LibraryRecord::from(library));
    let records = records.map_err(|e| BundleError::Nonsense { why: e.to_string() })?;
    let mut rest = (records.len() as u64).to_le_bytes().to_vec();
    rest.extend(&records);
    for clip in library.clips() {
        for row in clip.rows() {
            rest.extend(row.iter().flat_map(|v| v.to_le_bytes()));
        }
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend(0u32.to_le_bytes());
    bytes.extend((rest.len() as u64).to_le_bytes());
    bytes.extend(xxhash_rust::xxh3::xxh3_64(&rest).to_le_bytes());
    bytes.extend(rest);
    Ok(bytes)
}

/// A library from bytes.
pub fn read(bytes: &[u8]) -> Result<Library, BundleError> {
    let number = |at: usize| -> u64 {
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(eight)
    };
    if !bytes.starts_with(&MAGIC[..bytes.len().min(8)]) || bytes.is_empty() {
        return Err(BundleError::NotABundle);
    }
    let length = |expected: u64| BundleError::Length { found: bytes.len() as u64, expected };
    if bytes.len() < HEADER + 8 {
        return Err(length((HEADER + 8) as u64));
    }
    let version = number(8) as u32;
    if version == 0 || version > VERSION {
        return Err(BundleError::Version { found: version });
    }
    let expected = number(16).saturating_add(HEADER as u64);
    if bytes.len() as u64 != expected {
        return Err(length(expected));
    }
    let rest = &bytes[HEADER..];
    if xxhash_rust::xxh3::xxh3_64(rest) != number(24) {
        return Err(BundleError::Damaged);
    }
    let records = usize::try_from(number(HEADER)).unwrap_or(usize::MAX);
    let nonsense = |why: &dyn fmt::Display| BundleError::Nonsense { why: why.to_string() };
    let body = &rest[8..];
    let (records, rows) = body.split_at_checked(records).ok_or_else(|| nonsense(&"records beyond the end"))?;
    let library = match version {
        1 => {
            let record: v1::LibraryRecord = postcard::from_bytes(records).map_err(|e| nonsense(&e))?;
            record.into_library(rows)
        }
        _ => {
            let record: v2::LibraryRecord = postcard::from_bytes(records).map_err(|e| nonsense(&e))?;
            record.into_library(rows)
        }
    };
    library.map_err(|why| BundleError::Nonsense { why })
}
