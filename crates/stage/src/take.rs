//! What happened: frames, events, a hash.

use std::sync::Arc;

use kumite_motion::hands::{self, Hands};
use kumite_motion::hash::fnv1a;
use kumite_motion::library::Library;
use kumite_motion::{Clip, ClipError, Contacts, Pose, Role, Skeleton, WorldPose, fk};

use kumite_plan::Leg;

use crate::quality::{self, Quality, Source};
use crate::{Character, TICKS};

/// Frames per second of a take.
pub(crate) const FPS: u32 = 60;

/// A leg that began.
#[derive(Clone, Debug, PartialEq)]
pub struct LegStart {
    /// From the start of the take, seconds.
    pub time: f32,
    /// What began.
    pub leg: Leg,
    /// Whether a join leads into it.
    pub joined: bool,
}

/// A joint whose turning changes too suddenly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Snap {
    /// When, seconds.
    pub time: f32,
    /// Which joint.
    pub role: Role,
    /// How much, as [`Quality::snap`].
    pub size: f32,
}

/// One character's recorded motion.
#[derive(Clone, Debug)]
pub struct Take {
    /// The frames, with contacts.
    pub clip: Clip,
    /// What began when.
    pub starts: Vec<LegStart>,
    /// Shapes of both hands, one for each frame.
    pub hands: Vec<Hands>,
    /// How good it is.
    pub quality: Quality,
    /// The joints that snap by more than the gate allows.
    pub snaps: Vec<Snap>,
    /// Over the bits of all frames.
    pub hash: u64,
}

/// Collects a take tick by tick.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    tick: u32,
    poses: Vec<Pose>,
    contacts: Vec<Contacts>,
    /// Whether a join began on a frame or between it and the one before.
    joins: Vec<bool>,
    joined: bool,
    sources: Vec<Source>,
    /// Whether a blow acted on a frame or between it and the one before.
    impacts: Vec<bool>,
    impact: bool,
    library: Option<Arc<Library>>,
    starts: Vec<LegStart>,
}

impl Recorder {
    /// Looks at a character after its step; `began` is what the step returned.
    pub fn record(&mut self, character: &Character, began: Option<Leg>) {
        let time = self.tick as f32 / TICKS as f32;
        if let Some(leg) = began {
            let own = character.library().graph().edge(leg.edge).join;
            let joined = own.is_some() || leg.join.is_some();
            self.joined |= joined;
            self.starts.push(LegStart { time, leg, joined });
        }
        self.impact |= character.in_impact();
        if self.tick.is_multiple_of(TICKS / FPS) {
            self.impacts.push(std::mem::take(&mut self.impact));
            self.poses.push(character.pose().clone());
            self.contacts.push(character.contacts());
            self.joins.push(std::mem::take(&mut self.joined));
            self.sources.push(character.source());
            self.library.get_or_insert_with(|| Arc::clone(character.library()));
        }
        self.tick += 1;
    }

    /// The take.
    pub fn finish(self, name: &str, skeleton: &Arc<Skeleton>) -> Result<Take, ClipError> {
        let (clip, mut quality) = self.clip(name, skeleton)?;
        let mut snaps = Vec::new();
        if let Some(library) = &self.library {
            quality = quality.beside(&clip, library, &self.sources, &self.impacts);
            if !quality.passes() {
                snaps = quality::snaps(&clip, library, &self.sources, &self.impacts);
            }
        }
        let hands = self.hands();
        Ok(Take { clip, starts: self.starts, hands, quality, snaps, hash: hash(&self.poses) })
    }

    /// What the clips that were played do with the hands, and where these were.
    fn hands(&self) -> Vec<Hands> {
        let Some(library) = &self.library else { return Vec::new() };
        let mut world = WorldPose::default();
        let of = |(pose, source): (&Pose, &Source)| {
            fk::pose(library.skeleton(), pose, &mut world);
            let spans = &library.clip(source.clip).spans;
            let span = spans.iter().find(|span| span.from <= source.time && source.time <= span.to);
            hands::shapes(span, |role| Some(world.position(role.joint())))
        };
        self.poses.iter().zip(&self.sources).map(of).collect()
    }

    /// Only what can be told from the frames alone, quickly.
    pub fn rehearsed(self, skeleton: &Arc<Skeleton>) -> Result<Quality, ClipError> {
        Ok(self.clip("rehearsal", skeleton)?.1)
    }

    /// The frames, and how good they are apart from balance, which takes longest.
    pub fn unbalanced(self, skeleton: &Arc<Skeleton>) -> Result<(Clip, Quality), ClipError> {
        let (clip, mut quality) = self.clip("rehearsal", skeleton)?;
        if let Some(library) = &self.library {
            quality = quality.with_snap(&clip, library, &self.sources, &self.impacts);
        }
        Ok((clip, quality))
    }

    fn clip(&self, name: &str, skeleton: &Arc<Skeleton>) -> Result<(Clip, Quality), ClipError> {
        let mut clip = Clip::new(name, Arc::clone(skeleton), FPS as f32, &self.poses)?;
        clip.contacts.clone_from(&self.contacts);
        let quality = Quality::of(&clip, &self.joins);
        Ok((clip, quality))
    }
}

/// Over the bits of every number.
fn hash(poses: &[Pose]) -> u64 {
    let numbers = poses.iter().flat_map(|p| {
        let places = p.translations.iter().flat_map(|t| t.to_array());
        places.chain(p.rotations.iter().flat_map(|q| q.to_array()))
    });
    fnv1a(numbers.flat_map(|v| v.to_bits().to_le_bytes()))
}
