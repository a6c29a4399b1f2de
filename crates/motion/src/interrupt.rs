//! Where motion can be left at once, and for what: found at bake, read at run time.
//!
//! An *onset* is where an action is joined in a hurry: its first frame that moves. An *interrupt* is a range of frames of a clip from which an onset can
//! be joined at once. *Committed parts* of clips are not left: nobody takes back a blow that is half thrown.

use crate::align::{Planar, best_planar};
use crate::{Clip, ClipIdx, Contacts, EdgeIdx, FrameIdx, JointIdx, Role, SpanKind, Vec2, Vec3};

/// The first moving frame of an action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Onset {
    /// An edge that plays the action.
    pub edge: EdgeIdx,
    /// Seconds after the edge's first frame: what comes before is cut off.
    pub enter: f32,
    /// Which span of the edge's clip.
    pub span: u32,
    /// What it is.
    pub kind: SpanKind,
}

/// Frames of a clip from which an onset can be joined at once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interrupt {
    /// Which clip is left.
    pub clip: ClipIdx,
    /// The first of them.
    pub first: FrameIdx,
    /// The last of them.
    pub last: FrameIdx,
    /// Position among the onsets.
    pub onset: u32,
    /// Of the farthest of them: how far the body has to go, metres. See [`blend`].
    pub cost: f32,
}

/// Why a part of a clip is not left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Commitment {
    /// A blow that is under way.
    Strike,
    /// No foot is on the floor.
    Flight,
    /// The body is down, goes down or gets up.
    Lying,
}

impl Commitment {
    /// Every reason.
    pub const ALL: [Commitment; 3] = [Commitment::Strike, Commitment::Flight, Commitment::Lying];

    /// As files and reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Commitment::Strike => "strike",
            Commitment::Flight => "flight",
            Commitment::Lying => "lying",
        }
    }

    /// The inverse of [`Commitment::name`].
    pub fn from_name(name: &str) -> Option<Commitment> {
        Commitment::ALL.into_iter().find(|why| why.name() == name)
    }
}

/// Frames of a clip that are not left before they are over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommittedPart {
    /// Of which clip.
    pub clip: ClipIdx,
    /// The first of them.
    pub first: FrameIdx,
    /// The last of them.
    pub last: FrameIdx,
    /// Why.
    pub why: Commitment,
}

/// Longest range of an interrupt, frames. Longer ones are cut: the frames of a lookup are then near each other, and so are their costs.
pub const LONGEST: u32 = 32;

/// All interrupts of a library.
///
/// Invariants: interrupts are sorted by clip, first frame and onset, run forward, are at most [`LONGEST`] frames long and name an onset that exists; committed
/// parts are sorted by clip and first frame, run forward and do not overlap; numbers are finite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interrupts {
    onsets: Box<[Onset]>,
    ranges: Box<[Interrupt]>,
    committed: Box<[CommittedPart]>,
}

/// Why parts do not make interrupts.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InterruptError {
    /// An onset with a moment that is not a number of seconds from 0.
    #[error("onset {onset} is not at a time")]
    BadOnset {
        /// Position of the onset.
        onset: usize,
    },
    /// A range that breaks an invariant of [`Interrupts`].
    #[error("interrupt {interrupt}: {why}")]
    BadRange {
        /// Position of the interrupt.
        interrupt: usize,
        /// Which invariant.
        why: &'static str,
    },
    /// A committed part that runs backward, or into another one.
    #[error("committed part {part} runs backward or into the one before")]
    BadCommitted {
        /// Position of the part.
        part: usize,
    },
}

impl Interrupts {
    /// Sorts and checks.
    pub fn new(
        onsets: Vec<Onset>,
        mut ranges: Vec<Interrupt>,
        mut committed: Vec<CommittedPart>,
    ) -> Result<Interrupts, InterruptError> {
        if let Some(onset) = onsets.iter().position(|o| !(o.enter.is_finite() && o.enter >= 0.0)) {
            return Err(InterruptError::BadOnset { onset });
        }
        ranges.sort_by_key(|r| (r.clip, r.first, r.onset, r.last));
        for (interrupt, range) in ranges.iter().enumerate() {
            let bad = |why| Err(InterruptError::BadRange { interrupt, why });
            if range.last < range.first {
                return bad("it runs backward");
            }
            if range.last.0 - range.first.0 >= LONGEST {
                return bad("it is too long");
            }
            if range.onset as usize >= onsets.len() {
                return bad("there is no such onset");
            }
            if !(range.cost.is_finite() && range.cost >= 0.0) {
                return bad("its cost is not a number of metres");
            }
        }
        committed.sort();
        let runs = |p: &CommittedPart| p.first <= p.last;
        let apart = |a: &CommittedPart, b: &CommittedPart| a.clip < b.clip || a.last < b.first;
        let bad = (0..committed.len()).find(|at| {
            let before = at.checked_sub(1).map(|before| &committed[before]);
            !runs(&committed[*at]) || before.is_some_and(|before| !apart(before, &committed[*at]))
        });
        if let Some(part) = bad {
            return Err(InterruptError::BadCommitted { part });
        }
        Ok(Interrupts { onsets: onsets.into(), ranges: ranges.into(), committed: committed.into() })
    }

    /// Whether there are none: nothing is known about where motion can be left.
    pub fn is_empty(&self) -> bool {
        self.onsets.is_empty() && self.committed.is_empty()
    }

    /// All onsets.
    pub fn onsets(&self) -> &[Onset] {
        &self.onsets
    }

    /// All interrupts, by clip and first frame.
    pub fn ranges(&self) -> &[Interrupt] {
        &self.ranges
    }

    /// The parts of clips that are not left, by clip and first frame.
    pub fn committed(&self) -> &[CommittedPart] {
        &self.committed
    }

    /// The onsets that can be joined from a frame of a clip: their numbers and what joining costs, metres. None in a committed part.
    pub fn at(&self, clip: ClipIdx, frame: FrameIdx) -> impl Iterator<Item = (usize, f32)> + '_ {
        let end = self.ranges.partition_point(|r| (r.clip, r.first) <= (clip, frame));
        let start = self.ranges.partition_point(|r| (r.clip, r.first.0.saturating_add(LONGEST - 1)) < (clip, frame.0));
        let near = &self.ranges[start.min(end)..end];
        near.iter().filter(move |r| r.last >= frame).map(|r| (r.onset as usize, r.cost))
    }

    /// The committed part that a frame of a clip is in.
    pub fn committed_at(&self, clip: ClipIdx, frame: FrameIdx) -> Option<&CommittedPart> {
        let after = self.committed.partition_point(|p| (p.clip, p.first) <= (clip, frame));
        let part = &self.committed[after.checked_sub(1)?];
        (part.clip == clip && part.last >= frame).then_some(part)
    }

    /// Whether a frame of a clip is in a committed part.
    pub fn is_committed(&self, clip: ClipIdx, frame: FrameIdx) -> bool {
        self.committed_at(clip, frame).is_some()
    }

    /// Memory they take, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&*self.onsets) + size_of_val(&*self.ranges) + size_of_val(&*self.committed)
    }

    /// The same with edges and clips numbered otherwise. What names an edge or a clip that is gone goes too.
    #[must_use]
    pub fn renumbered(
        &self,
        edge: impl Fn(EdgeIdx) -> Option<EdgeIdx>,
        clip: impl Fn(ClipIdx) -> Option<ClipIdx>,
    ) -> Interrupts {
        let (mut onsets, mut place) = (Vec::new(), Vec::with_capacity(self.onsets.len()));
        for onset in &self.onsets {
            place.push(edge(onset.edge).map(|edge| {
                onsets.push(Onset { edge, ..*onset });
                onsets.len() as u32 - 1
            }));
        }
        let range = |r: &Interrupt| Some(Interrupt { clip: clip(r.clip)?, onset: place[r.onset as usize]?, ..*r });
        let mut ranges: Vec<Interrupt> = self.ranges.iter().filter_map(range).collect();
        ranges.sort_by_key(|r| (r.clip, r.first, r.onset, r.last));
        let part = |p: &CommittedPart| Some(CommittedPart { clip: clip(p.clip)?, ..*p });
        let mut committed: Vec<CommittedPart> = self.committed.iter().filter_map(part).collect();
        committed.sort();
        Interrupts { onsets: onsets.into(), ranges: ranges.into(), committed: committed.into() }
    }
}

/// Shortest and longest join of an interrupt, seconds.
const BLEND: (f32, f32) = (0.10, 0.35);
/// The cost from which a join takes longest, metres.
const FAR: f32 = 0.14;

/// How long the join of an interrupt takes, seconds, by its cost.
pub fn blend(cost: f32) -> f32 {
    BLEND.0 + (BLEND.1 - BLEND.0) * (cost / FAR).clamp(0.0, 1.0)
}

/// Parts of the feet, and what bears the weight there: the toe joint is the ball.
const SOLES: [(Contacts, Role); 4] = [
    (Contacts::LEFT_TOE, Role::LeftToe),
    (Contacts::LEFT_HEEL, Role::LeftAnkle),
    (Contacts::RIGHT_TOE, Role::RightToe),
    (Contacts::RIGHT_HEEL, Role::RightAnkle),
];
/// Feet that are meant so near to where they stand stay there, metres; otherwise the body stands on one of them and steps with the other.
const STAYS: f32 = 0.10;

/// Gaps of contacts that are no flight: boxers who bounce are off the floor for moments, seconds.
const GAP: f32 = 0.1;

/// What a body stands on in a frame of a clip: what is planted, or, between two contacts, what was or will be planted next to it.
pub fn support(clip: &Clip, frame: FrameIdx) -> Contacts {
    let at = |frame: usize| clip.contacts.get(frame).copied().unwrap_or_default();
    let most = (GAP * clip.fps()) as usize;
    let near = (0..=most).flat_map(|off| [Some(frame.at() + off), frame.at().checked_sub(off)]).flatten();
    near.map(at).find(|contacts| *contacts != Contacts::NONE).unwrap_or_default()
}

/// Lays a pose of the canonical body over another: the turn that fits all joints best, then the shift that puts feet planted in both on one spot. Where
/// the two stances differ too much for that, one foot stays on its spot: the one that leaves the pelvis nearer to where it is. Where no foot is planted in
/// both, the shift is the one that fits all joints best.
pub fn lay(still: (&[Vec3], Contacts), moving: (&[Vec3], Contacts)) -> Planar {
    let align = best_planar(still.0, moving.0);
    let both = Contacts::from_bits(still.1.bits() & moving.1.bits());
    // How far the body has to be shifted so that the planted parts among some come to stand where they stood, and how far they are apart then.
    let shift = |among: Contacts| {
        let off = |(part, role): &(Contacts, Role)| {
            let at = |points: &[Vec3]| points.get(JointIdx::at(role.joint())).copied();
            let off = at(still.0)? - align.point(at(moving.0)?);
            (both.has(*part) && among.has(*part)).then_some(Vec2::new(off.x, off.z))
        };
        let (sum, count) = SOLES.iter().filter_map(off).fold((Vec2::ZERO, 0.0f32), |(s, n), off| (s + off, n + 1.0));
        let mean = sum / count.max(1.0);
        let apart = SOLES.iter().filter_map(off).map(|off| (off - mean).length()).fold(0.0, f32::max);
        (count > 0.0).then_some((mean, apart))
    };
    let Some((mean, apart)) = shift(Contacts::ALL) else { return align };
    let one = [Contacts::LEFT, Contacts::RIGHT].into_iter().filter_map(|foot| Some(shift(foot)?.0));
    let near = one.min_by(|a, b| a.length_squared().total_cmp(&b.length_squared())).unwrap_or(mean);
    Planar { shift: align.shift + if apart <= STAYS { mean } else { near }, ..align }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(clip: u32, first: u32, last: u32, onset: u32) -> Interrupt {
        Interrupt {
            clip: ClipIdx(clip),
            first: FrameIdx(first),
            last: FrameIdx(last),
            onset,
            cost: 0.01 * onset as f32,
        }
    }

    fn part(clip: u32, first: u32, last: u32) -> CommittedPart {
        CommittedPart { clip: ClipIdx(clip), first: FrameIdx(first), last: FrameIdx(last), why: Commitment::Strike }
    }

    fn onsets(count: u32) -> Vec<Onset> {
        (0..count).map(|edge| Onset { edge: EdgeIdx(edge), enter: 0.1, span: 0, kind: SpanKind::Avoid }).collect()
    }

    #[test]
    fn every_frame_finds_its_ranges() {
        let ranges = vec![range(1, 0, 31, 0), range(1, 20, 20, 1), range(1, 21, 40, 0), range(0, 20, 30, 2)];
        let all = Interrupts::new(onsets(3), ranges.clone(), vec![part(1, 50, 60), part(1, 10, 12)]).unwrap();
        for clip in 0..3 {
            for frame in 0..100 {
                let (clip, frame) = (ClipIdx(clip), FrameIdx(frame));
                let mut found: Vec<usize> = all.at(clip, frame).map(|f| f.0).collect();
                let holds = |r: &&Interrupt| r.clip == clip && (r.first..=r.last).contains(&frame);
                let mut expected: Vec<usize> = ranges.iter().filter(holds).map(|r| r.onset as usize).collect();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected, "{clip:?} {frame:?}");
                let inside = clip.0 == 1 && ((10..=12).contains(&frame.0) || (50..=60).contains(&frame.0));
                assert_eq!(all.is_committed(clip, frame), inside, "{clip:?} {frame:?}");
            }
        }
        assert_eq!(all.bytes(), 3 * size_of::<Onset>() + 4 * size_of::<Interrupt>() + 2 * size_of::<CommittedPart>());
        assert!(Interrupts::default().is_empty() && !all.is_empty());
    }

    #[test]
    fn parts_are_checked() {
        let error = |onsets: Vec<Onset>, ranges: &[Interrupt], committed: &[CommittedPart]| {
            Interrupts::new(onsets, ranges.to_vec(), committed.to_vec()).unwrap_err().to_string()
        };
        let late = Onset { enter: f32::NAN, ..onsets(1)[0] };
        assert_eq!(error(vec![late], &[], &[]), "onset 0 is not at a time");
        assert_eq!(error(onsets(1), &[range(0, 3, 2, 0)], &[]), "interrupt 0: it runs backward");
        assert_eq!(error(onsets(1), &[range(0, 0, 32, 0)], &[]), "interrupt 0: it is too long");
        assert_eq!(error(onsets(1), &[range(0, 0, 1, 1)], &[]), "interrupt 0: there is no such onset");
        let dear = Interrupt { cost: f32::INFINITY, ..range(0, 0, 1, 0) };
        assert_eq!(error(onsets(1), &[dear], &[]), "interrupt 0: its cost is not a number of metres");
        let into = "committed part 1 runs backward or into the one before";
        assert_eq!(error(onsets(0), &[], &[part(0, 1, 5), part(0, 5, 9)]), into);
        assert_eq!(error(onsets(0), &[], &[part(0, 1, 5), part(1, 9, 5)]), into);
    }

    #[test]
    fn what_is_gone_takes_its_interrupts_along() {
        let ranges = vec![range(0, 0, 9, 0), range(1, 0, 9, 1), range(2, 0, 9, 0)];
        let all = Interrupts::new(onsets(2), ranges, vec![part(0, 3, 4), part(2, 3, 4)]).unwrap();
        let edge = |e: EdgeIdx| (e.0 == 0).then_some(EdgeIdx(7));
        let kept = all.renumbered(edge, |c| (c.0 != 0).then(|| ClipIdx(c.0 - 1)));
        assert_eq!(kept.onsets(), [Onset { edge: EdgeIdx(7), ..onsets(1)[0] }]);
        assert_eq!(kept.ranges(), [range(1, 0, 9, 0)]);
        assert_eq!(kept.committed(), [part(1, 3, 4)]);
    }

    #[test]
    fn joins_take_longer_the_farther_they_go() {
        assert_eq!((blend(0.0), blend(0.2), blend(9.0)), (0.10, 0.35, 0.35));
        assert!(blend(0.05) < blend(0.06));
    }

    #[test]
    fn short_gaps_of_contacts_are_bridged() {
        let skeleton = std::sync::Arc::new(crate::humanoid::skeleton());
        let rest = crate::Pose::rest(&skeleton);
        let mut clip = Clip::new("bounces", skeleton, 60.0, &vec![rest; 40]).unwrap();
        assert_eq!(support(&clip, FrameIdx(3)), Contacts::NONE);
        clip.contacts = vec![Contacts::NONE; 40];
        clip.contacts[..10].fill(Contacts::LEFT);
        clip.contacts[30..].fill(Contacts::RIGHT);
        let expected = [(9, Contacts::LEFT), (15, Contacts::LEFT), (16, Contacts::NONE), (24, Contacts::RIGHT)];
        for (frame, contacts) in expected {
            assert_eq!(support(&clip, FrameIdx(frame)), contacts, "{frame}");
        }
    }

    #[test]
    fn planted_feet_stay_on_their_spot() {
        let skeleton = crate::humanoid::skeleton();
        let mut world = crate::WorldPose::default();
        crate::fk::pose(&skeleton, &crate::Pose::rest(&skeleton), &mut world);
        let moving = world.positions.clone();
        // Everything but the left foot has gone half a metre ahead.
        let left = [Role::LeftAnkle, Role::LeftToe].map(|r| r.joint().at());
        let ahead = |(joint, p): (usize, &Vec3)| if left.contains(&joint) { *p } else { *p + Vec3::Z * 0.5 };
        let still: Vec<Vec3> = moving.iter().enumerate().map(ahead).collect();
        let align = lay((&still, Contacts::LEFT), (&moving, Contacts::ALL));
        let ball = Role::LeftToe.joint().at();
        assert!((align.point(moving[ball]) - still[ball]).length() < 0.08);
        let free = lay((&still, Contacts::NONE), (&moving, Contacts::ALL));
        assert!((free.point(moving[ball]) - still[ball]).length() > 0.3);
    }
}
