//! Version 1 of the section `walk`: a library without joints and without the rows that the section `library` has already.

use std::collections::BTreeMap;

use kumite_motion::Clip;
use kumite_motion::library::Library;
use serde::{Deserialize, Serialize};

use crate::v1::RowReader;
use crate::v2;

/// Clips that take their rows from one clip at most: what is read stays in proportion to the bytes given.
const MOST_SHARING: usize = 4;

/// The [`Library`] that characters walk with, of the skeleton of the other one.
#[derive(Debug, Serialize, Deserialize)]
pub struct WalkRecord {
    /// As in the section `library`, without joints.
    pub library: v2::LibraryRecord,
    /// By clip: the clip of the section `library` that has the same rows; the rows of all others follow the records.
    pub shared: Vec<Option<u32>>,
}

impl WalkRecord {
    /// The record of `walk`, and its clips whose rows must be written.
    pub(crate) fn of<'a>(walk: &'a Library, library: &Library) -> Result<(WalkRecord, Vec<&'a Clip>), String> {
        if walk.skeleton() != library.skeleton() {
            return Err("the library to walk with has another skeleton".to_owned());
        }
        let bits = |clip: &Clip| -> Vec<u32> { clip.rows().iter().flatten().map(|v| v.to_bits()).collect() };
        let mut known = BTreeMap::new();
        for (index, clip) in library.clips().iter().enumerate() {
            known.entry(bits(clip)).or_insert((index as u32, 0));
        }
        let mut own = Vec::new();
        let mut shared = Vec::with_capacity(walk.clips().len());
        for clip in walk.clips() {
            shared.push(match known.get_mut(&bits(clip)) {
                Some((index, sharing)) if *sharing < MOST_SHARING => {
                    *sharing += 1;
                    Some(*index)
                }
                _ => {
                    own.push(clip);
                    None
                }
            });
        }
        let mut record = v2::LibraryRecord::from(walk);
        record.base.joints.clear();
        Ok((WalkRecord { library: record, shared }, own))
    }

    /// With the rows that are not shared, one clip after the other.
    pub(crate) fn into_library(self, rows: &[u8], library: &Library) -> Result<Library, String> {
        let (skeleton, shared) = (library.skeleton(), self.shared);
        if shared.len() != self.library.base.clips.len() {
            return Err("rows of other clips".to_owned());
        }
        let mut sharing = vec![0; library.clips().len()];
        let mut rows = RowReader { bytes: rows };
        let walk = self.library.into_library_with(skeleton, |index, clip| match shared[index] {
            None => rows.take(clip, skeleton),
            Some(other) => {
                let count = sharing.get_mut(other as usize).ok_or("rows of a clip that is not there")?;
                *count += 1;
                if *count > MOST_SHARING {
                    return Err(format!("more than {MOST_SHARING} clips with the same rows"));
                }
                Ok(library.clips()[other as usize].rows().to_vec())
            }
        })?;
        rows.finish()?;
        Ok(walk)
    }
}
