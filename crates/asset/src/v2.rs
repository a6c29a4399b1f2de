//! Version 2 of the records: version 1, and the blows of attacks.

use kumite_motion::library::Library;
use kumite_motion::{Direction, Height, Role, Strike, StrikeKind};
use serde::{Deserialize, Serialize};

use crate::v1;

/// [`Library`].
#[derive(Debug, Serialize, Deserialize)]
pub struct LibraryRecord {
    /// All that version 1 has.
    pub base: v1::LibraryRecord,
    /// By clip, by span.
    pub strikes: Vec<Vec<Vec<StrikeRecord>>>,
}

/// [`Strike`]; kinds, parts, heights and directions by name.
#[derive(Debug, Serialize, Deserialize)]
#[expect(missing_docs, reason = "as in the strike")]
pub struct StrikeRecord {
    pub kind: String,
    pub part: String,
    pub at: f32,
    pub active: (f32, f32),
    pub height: String,
    pub direction: String,
    pub reach: f32,
    pub long: bool,
    pub speed: f32,
    pub mass: f32,
}

impl From<&Strike> for StrikeRecord {
    fn from(s: &Strike) -> StrikeRecord {
        StrikeRecord {
            kind: s.kind.name().to_owned(),
            part: s.part.name().to_owned(),
            at: s.at,
            active: s.active,
            height: s.height.name().to_owned(),
            direction: s.direction.name().to_owned(),
            reach: s.reach,
            long: s.long,
            speed: s.speed,
            mass: s.mass,
        }
    }
}

impl StrikeRecord {
    fn into_strike(self) -> Option<Strike> {
        let numbers = [self.at, self.active.0, self.active.1, self.reach, self.speed, self.mass];
        if !numbers.iter().all(|n| n.is_finite()) {
            return None;
        }
        Some(Strike {
            kind: StrikeKind::from_name(&self.kind)?,
            part: Role::from_name(&self.part)?,
            at: self.at,
            active: self.active,
            height: Height::from_name(&self.height)?,
            direction: Direction::from_name(&self.direction)?,
            reach: self.reach,
            long: self.long,
            speed: self.speed,
            mass: self.mass,
        })
    }
}

impl From<&Library> for LibraryRecord {
    fn from(library: &Library) -> LibraryRecord {
        let of_span = |s: &kumite_motion::Span| s.strikes.iter().map(StrikeRecord::from).collect();
        LibraryRecord {
            base: library.into(),
            strikes: library.clips().iter().map(|c| c.spans.iter().map(of_span).collect()).collect(),
        }
    }
}

impl LibraryRecord {
    /// With the rows of all clips, one after the other. `walks` says which edges are for walkers; none if it is empty.
    pub(crate) fn into_library(self, rows: &[u8], walks: &[bool]) -> Result<Library, String> {
        let strikes = self.strikes;
        self.base.into_library(rows, walks, |clips| {
            if strikes.len() != clips.len() || strikes.iter().zip(&*clips).any(|(s, c)| s.len() != c.spans.len()) {
                return Err("strikes of other spans".to_owned());
            }
            for (clip, of_clip) in clips.iter_mut().zip(strikes) {
                for (span, of_span) in clip.spans.iter_mut().zip(of_clip) {
                    for record in of_span {
                        let kind = record.kind.clone();
                        let strike = record.into_strike().ok_or_else(|| format!("a strike of kind {kind:?}"))?;
                        span.strikes.push(strike);
                    }
                }
            }
            Ok(())
        })
    }
}
