//! The bundle (`.kumite`): all that characters of one library need at run time, in one file of named sections, each with its own version and checksum.
//!
//! ```text
//! "KUMITE\r\n"  version: u32 (3)  number of sections: u32  length of the rest: u64  XXH3 of the table: u64
//! table, for each section: name (12 bytes, padded with zeros)  version: u32  length: u64  XXH3: u64
//! the sections, in the order of the table
//! ```
//!
//! | section | version | contents |
//! |---|---|---|
//! | `library` | 4 | length of the records (u64), records ([`v3`], postcard), rows of all clips (f32, little-endian), packed without loss |
//! | `interrupts` | 1 | length of the records (u64), records ([`interrupts`], postcard); there only if the library has some |
//!
//! Sections of other names are left out. Version 3 of `library` has its rows as they are. Files of versions 1 and 2 have one checksum and no table, and records of their version. Records before
//! version 3 know fighters only.
//! Bodies, path index, culling planes and the tables to walk with are not in the file: they are made from it in less than half a second, and are larger than
//! all the rest.
//!
//! Records are small and described by types of their own, so that the library's types may change without the file; rows are the clips' own memory and
//! are unpacked, not parsed.
//!
//! Does not: read files, or know anything but `kumite-motion`. Input may be hostile: no panic, memory in proportion to the bytes given.

pub mod interrupts;
mod packed;
pub mod v1;
pub mod v2;
pub mod v3;

use std::borrow::Cow;

use kumite_motion::library::Library;
use kumite_motion::{Clip, LANES};
use serde::Serialize;
use serde::de::DeserializeOwned;
use xxhash_rust::xxh3::xxh3_64;

/// What a bundle begins with. The line break shows transfers that mistook it for text.
const MAGIC: &[u8; 8] = b"KUMITE\r\n";
const HEADER: usize = 8 + 4 + 4 + 8 + 8;
/// Bytes of a section's name, and of its row in the table.
const NAME: usize = 12;
const ROW: usize = NAME + 4 + 8 + 8;

/// The version that is written.
pub const VERSION: u32 = 3;

/// The sections that are known, with their newest versions.
const LIBRARY: (&str, u32) = ("library", 4);
const INTERRUPTS: (&str, u32) = ("interrupts", 1);

/// What is in a file, without reading it all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contents {
    /// Of the file.
    pub version: u32,
    /// In order.
    pub sections: Vec<Section>,
}

/// One section of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// What it is called.
    pub name: String,
    /// Its own version.
    pub version: u32,
    /// Its length, bytes.
    pub bytes: u64,
    /// Whether this program reads sections of this name; others are left out.
    pub known: bool,
}

/// Why bytes are not a bundle that can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// A section of a version this one does not read.
    #[error("section `{section}` of the bundle is of version {found}; this program reads {newest}: bake it again")]
    SectionVersion {
        /// Of which section.
        section: String,
        /// The version found.
        found: u32,
        /// The version that can be read.
        newest: u32,
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
    #[error("the bundle is damaged: the checksum of its {part} does not match; bake it again")]
    Damaged {
        /// Which part: a section, or the table of them.
        part: String,
    },
    /// The contents are whole but make no sense: written by something else.
    #[error("the bundle makes no sense: {why}")]
    Nonsense {
        /// What is wrong.
        why: String,
    },
}

fn nonsense(section: &str, why: impl std::fmt::Display) -> BundleError {
    BundleError::Nonsense { why: format!("section `{section}`: {why}") }
}

/// Records and rows of a section.
fn body<'a>(
    section: &str,
    records: &impl Serialize,
    clips: impl Iterator<Item = &'a Clip>,
) -> Result<Vec<u8>, BundleError> {
    let records = postcard::to_stdvec(records).map_err(|e| nonsense(section, e))?;
    let mut body = (records.len() as u64).to_le_bytes().to_vec();
    body.extend(&records);
    let mut rows = Vec::new();
    for clip in clips {
        rows.reserve(clip.rows().len() * LANES * 4);
        for row in clip.rows() {
            rows.extend(row.iter().flat_map(|v| v.to_le_bytes()));
        }
    }
    if !rows.is_empty() {
        body.extend(packed::pack(&rows));
    }
    Ok(body)
}

/// The records of a section, and the bytes of its rows.
fn records<'a, T: DeserializeOwned>(section: &str, body: &'a [u8]) -> Result<(T, &'a [u8]), BundleError> {
    let (length, rest) = body.split_first_chunk::<8>().ok_or_else(|| nonsense(section, "it is too short"))?;
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let parts = rest.split_at_checked(length).ok_or_else(|| nonsense(section, "records beyond the end"))?;
    Ok((postcard::from_bytes(parts.0).map_err(|e| nonsense(section, e))?, parts.1))
}

/// A library as the bytes of a bundle.
pub fn write(library: &Library) -> Result<Vec<u8>, BundleError> {
    let mut sections = vec![(LIBRARY, body(LIBRARY.0, &v3::LibraryRecord::from(library), library.clips().iter())?)];
    if !library.interrupts().is_empty() {
        let record = interrupts::InterruptsRecord::from(library);
        sections.push((INTERRUPTS, body(INTERRUPTS.0, &record, [].into_iter())?));
    }
    let mut table = Vec::with_capacity(ROW * sections.len());
    for ((name, version), body) in &sections {
        let mut padded = [0; NAME];
        padded[..name.len()].copy_from_slice(name.as_bytes());
        table.extend(padded);
        table.extend(version.to_le_bytes());
        table.extend((body.len() as u64).to_le_bytes());
        table.extend(xxh3_64(body).to_le_bytes());
    }
    let rest = table.len() + sections.iter().map(|s| s.1.len()).sum::<usize>();
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend((sections.len() as u32).to_le_bytes());
    bytes.extend((rest as u64).to_le_bytes());
    bytes.extend(xxh3_64(&table).to_le_bytes());
    bytes.extend(table);
    for (_, body) in sections {
        bytes.extend(body);
    }
    Ok(bytes)
}

fn short(bytes: &[u8], at: usize) -> u32 {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |four| u32::from_le_bytes(*four))
}

fn long(bytes: &[u8], at: usize) -> u64 {
    bytes.get(at..).and_then(|b| b.first_chunk()).map_or(0, |eight| u64::from_le_bytes(*eight))
}

/// A section with its bytes and its checksum.
type Unread<'a> = (Section, &'a [u8], u64);

/// The version, and all sections with their bytes and checksums, which are not compared yet.
fn split(bytes: &[u8]) -> Result<(u32, Vec<Unread<'_>>), BundleError> {
    if !bytes.starts_with(&MAGIC[..bytes.len().min(8)]) || bytes.is_empty() {
        return Err(BundleError::NotABundle);
    }
    let length = |expected: u64| BundleError::Length { found: bytes.len() as u64, expected };
    if bytes.len() < HEADER {
        return Err(length(HEADER as u64));
    }
    let version = short(bytes, 8);
    if version == 0 || version > VERSION {
        return Err(BundleError::Version { found: version });
    }
    let expected = long(bytes, 16).saturating_add(HEADER as u64);
    if bytes.len() as u64 != expected {
        return Err(length(expected));
    }
    let rest = &bytes[HEADER..];
    let section = |name: &str, version: u32, body: &[u8]| Section {
        name: name.to_owned(),
        version,
        bytes: body.len() as u64,
        known: [LIBRARY, INTERRUPTS].iter().any(|known| known.0 == name),
    };
    if version < 3 {
        return Ok((version, vec![(section(LIBRARY.0, version, rest), rest, long(bytes, 24))]));
    }
    let count = short(bytes, 12) as usize;
    let damaged = || BundleError::Damaged { part: "table of sections".to_owned() };
    let (table, mut rest) = rest.split_at_checked(count.saturating_mul(ROW)).ok_or_else(damaged)?;
    if xxh3_64(table) != long(bytes, 24) {
        return Err(damaged());
    }
    let mut sections = Vec::with_capacity(count);
    for row in table.as_chunks::<ROW>().0 {
        let padded = &row[..NAME];
        let name = padded.split(|b| *b == 0).next().unwrap_or_default();
        let name = std::str::from_utf8(name)
            .map_err(|_| BundleError::Nonsense { why: "a section's name is not UTF-8".to_owned() })?;
        let length = usize::try_from(long(row, NAME + 4)).unwrap_or(usize::MAX);
        let (body, others) = rest.split_at_checked(length).ok_or_else(|| nonsense(name, "it is beyond the end"))?;
        rest = others;
        if sections.iter().any(|(s, ..): &Unread<'_>| s.name == name) {
            return Err(nonsense(name, "it is there twice"));
        }
        sections.push((section(name, short(row, NAME), body), body, long(row, NAME + 12)));
    }
    if !rest.is_empty() {
        return Err(BundleError::Nonsense { why: "there are bytes of no section".to_owned() });
    }
    Ok((version, sections))
}

/// What sections a file has. Their checksums are not compared.
pub fn contents(bytes: &[u8]) -> Result<Contents, BundleError> {
    let (version, sections) = split(bytes)?;
    Ok(Contents { version, sections: sections.into_iter().map(|s| s.0).collect() })
}

/// The bytes and the version of a section, if it is there and its checksum matches.
fn checked<'a>(sections: &[Unread<'a>], name: &str) -> Result<Option<(u32, &'a [u8])>, BundleError> {
    let Some((section, body, checksum)) = sections.iter().find(|s| s.0.name == name) else { return Ok(None) };
    if xxh3_64(body) != *checksum {
        return Err(BundleError::Damaged { part: format!("section `{name}`") });
    }
    Ok(Some((section.version, body)))
}

/// The library of a bundle.
pub fn read(bytes: &[u8]) -> Result<Library, BundleError> {
    let (_, sections) = split(bytes)?;
    let (name, newest) = LIBRARY;
    let (version, body) = checked(&sections, name)?.ok_or_else(|| nonsense(name, "it is missing"))?;
    let library = match version {
        1 => {
            let (record, rows) = records::<v1::LibraryRecord>(name, body)?;
            record.into_library(rows, &[], |_| Ok(()))
        }
        2 => {
            let (record, rows) = records::<v2::LibraryRecord>(name, body)?;
            record.into_library(rows, &[])
        }
        3 | 4 => {
            let (record, rows) = records::<v3::LibraryRecord>(name, body)?;
            let rows = if version == 3 { Ok(Cow::Borrowed(rows)) } else { packed::unpack(rows).map(Cow::Owned) };
            record.into_library(&rows.map_err(|why| nonsense(name, why))?)
        }
        found => return Err(BundleError::SectionVersion { section: name.to_owned(), found, newest }),
    };
    let library = library.map_err(|why| nonsense(name, why))?;
    let (name, newest) = INTERRUPTS;
    match checked(&sections, name)? {
        None => Ok(library),
        Some((1, body)) => {
            let (record, rest) = records::<interrupts::InterruptsRecord>(name, body)?;
            if !rest.is_empty() {
                return Err(nonsense(name, "there are bytes after its records"));
            }
            record.into_library(library).map_err(|why| nonsense(name, why))
        }
        Some((found, _)) => Err(BundleError::SectionVersion { section: name.to_owned(), found, newest }),
    }
}
