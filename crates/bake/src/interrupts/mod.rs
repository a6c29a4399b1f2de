//! Where motion can be left at once, and for what: all frames that are played against the onsets of all actions.
//!
//! A frame and an onset are laid over each other once, and compared by place and velocity of all joints, by what is planted, and by how far the hands have to
//! go. What is near enough is put together to ranges of frames; each is rehearsed at its first, middle and last frame, and shortened or left out where the
//! join snaps, slides or is no person's.

mod committed;
mod onsets;
mod rehearsal;

use std::sync::Arc;

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::fk::Tracks;
use kumite_motion::interrupt::{self, CommittedPart, Interrupt, Interrupts, LONGEST, Onset};
use kumite_motion::library::{Library, LibraryError};
use kumite_motion::{Clip, ClipIdx, Contacts, EdgeIdx, FrameIdx, JointIdx, Layer, Role, SpanKind, Vec3};
use rayon::prelude::*;

pub(crate) use onsets::place;
use rehearsal::Rehearsal;

/// Joints of the canonical body.
const JOINTS: usize = Role::ALL.len();
/// How much forearms and hands count beside the rest of the body: arms are light and quick.
const ARMS: f32 = 0.35;
/// A difference of 1 m/s counts as so many metres: about as far as a join of a third of a second carries it.
const VELOCITY_SECONDS: f32 = 0.08;
/// How much of the way of the hand that has farther to go is added to the cost.
const HANDS: f32 = 0.1;
/// Joins that cost more are not tried, metres.
const BOUND: f32 = 0.36;
/// A foot planted on both sides may be meant so far from where it stands, metres: its leg takes that up, or it steps.
const STANDS: f32 = 0.45;
/// The farthest way of a hand, metres.
const FARTHEST: f32 = 0.9;
/// A foot in the air that has to stand at once may be so high above its place and so far beside it, metres.
const COMES_DOWN: (f32, f32) = (0.15, 0.50);
/// So many onsets of a kind are looked for at each frame, the cheapest first, and so many are rehearsed for that. Defences have to fit what comes, of
/// the rest any will do.
fn choices(kind: SpanKind) -> (usize, usize) {
    if matches!(kind, SpanKind::Avoid | SpanKind::Block) { (6, 15) } else { (4, 12) }
}
/// The sole of a foot that stays may turn about its ball so far, metres at the heel: faster than this it would be seen to slide.
const HEEL_TURNS: f32 = 0.18;
/// A join that pushes the body harder than this is not rehearsed, metres per second squared. The judge allows less.
const PUSH: f32 = 24.0;

/// Kinds of actions that fighters join in a hurry.
pub const ACTIONS: [SpanKind; 5] = [SpanKind::Attack, SpanKind::Avoid, SpanKind::Block, SpanKind::Step, SpanKind::Turn];
/// The same, and walks, which whoever left one gets back to.
pub const KINDS: [SpanKind; 6] =
    [SpanKind::Attack, SpanKind::Avoid, SpanKind::Block, SpanKind::Step, SpanKind::Turn, SpanKind::Walk];

/// Finds the interrupts of a library. Same library, same interrupts, on any number of threads.
pub fn find(library: &Library) -> Result<Library, LibraryError> {
    let library = Arc::new(library.clone());
    let clips: Vec<ClipFrames> = library.clips().par_iter().map(ClipFrames::of).collect();
    let plain = library.skeleton().len() == JOINTS && library.skeleton().movers().len() == 1;
    if !plain {
        return Ok(Arc::unwrap_or_clone(library));
    }
    let committed: Vec<CommittedPart> = committed::find(&library, &clips);
    let onsets = onsets::find(&library, &clips);
    let rehearsal = Rehearsal::new(&library, &clips, &onsets);
    let ranges: Vec<Vec<Interrupt>> = (0..clips.len() as u32)
        .into_par_iter()
        .with_max_len(1)
        .map(|clip| of_clip(&library, &clips, &onsets, &committed, &rehearsal, ClipIdx(clip)))
        .collect();
    drop(rehearsal);
    let made = Interrupts::new(onsets, ranges.concat(), committed);
    let made = made.map_err(|_| LibraryError::OtherInterrupts { what: "interrupt", index: 0 })?;
    Arc::unwrap_or_clone(library).with_interrupts(made)
}

/// A clip as it is compared.
struct ClipFrames {
    fps: f32,
    joints: Vec<[Vec3; JOINTS]>,
    /// Metres per second.
    speeds: Vec<[Vec3; JOINTS]>,
    contacts: Vec<Contacts>,
    support: Vec<Contacts>,
}

impl ClipFrames {
    fn of(clip: &Clip) -> ClipFrames {
        let tracks = Tracks::of(clip);
        let last = clip.frames() - 1;
        let joint = |index: usize| JointIdx(index.min(clip.skeleton().len() - 1) as u16);
        let at = |frame: usize| std::array::from_fn(|j| tracks.get(FrameIdx(frame as u32), joint(j)));
        let joints: Vec<[Vec3; JOINTS]> = (0..=last).map(at).collect();
        let speeds = (0..=last).map(|frame| {
            let (a, b) = (frame.saturating_sub(1), (frame + 1).min(last));
            let rate = clip.fps() / (b - a).max(1) as f32;
            std::array::from_fn(|j| (joints[b][j] - joints[a][j]) * rate)
        });
        let contacts = (0..=last).map(|frame| clip.contacts.get(frame).copied().unwrap_or_default());
        let support = (0..=last as u32).map(|frame| interrupt::support(clip, FrameIdx(frame)));
        ClipFrames {
            fps: clip.fps(),
            speeds: speeds.collect(),
            contacts: contacts.collect(),
            support: support.collect(),
            joints,
        }
    }

    fn frames(&self) -> usize {
        self.joints.len()
    }
}

/// A frame of a clip.
#[derive(Clone, Copy)]
struct Frame<'a> {
    joints: &'a [Vec3; JOINTS],
    speeds: &'a [Vec3; JOINTS],
    contacts: Contacts,
}

impl ClipFrames {
    fn at(&self, frame: usize) -> Frame<'_> {
        Frame { joints: &self.joints[frame], speeds: &self.speeds[frame], contacts: self.support[frame] }
    }
}

const LIGHT: [Role; 4] = [Role::LeftElbow, Role::LeftWrist, Role::RightElbow, Role::RightWrist];
const HEELS: [Contacts; 2] = [Contacts::LEFT_HEEL, Contacts::RIGHT_HEEL];
const FEET: [(Contacts, Role); 2] = [(Contacts::LEFT, Role::LeftToe), (Contacts::RIGHT, Role::RightToe)];

/// What leaving one frame for another costs, metres, and how they are laid over each other; `None` where feet do not allow it.
fn cost(left: Frame<'_>, entered: Frame<'_>) -> Option<(f32, Planar)> {
    // The body goes on standing on a foot that it stands on.
    let shared = left.contacts.bits() & entered.contacts.bits();
    let keeps = FEET.iter().any(|(foot, _)| left.contacts.any(*foot) && entered.contacts.any(*foot));
    if shared == 0 && !keeps {
        return None;
    }
    let align = interrupt::lay((left.joints, left.contacts), (entered.joints, entered.contacts));
    let matrix = PlanarMatrix::new(&align);
    for (foot, ball) in FEET {
        let off = matrix.point(entered.joints[ball.joint().at()]) - left.joints[ball.joint().at()];
        let beside = Vec3::new(off.x, 0.0, off.z).length();
        let fits = match (left.contacts.any(foot), entered.contacts.any(foot)) {
            (true, true) => beside <= STANDS,
            (false, true) => beside <= COMES_DOWN.1 && -off.y <= COMES_DOWN.0,
            (_, false) => true,
        };
        let (Some(ankle), Some(heel)) = (ball.parent(), HEELS.iter().find(|heel| foot.has(**heel))) else { continue };
        let ankle = matrix.point(entered.joints[ankle.joint().at()]) - left.joints[ankle.joint().at()] - off;
        let flat = left.contacts.has(*heel) && entered.contacts.has(*heel);
        if !fits || (flat && Vec3::new(ankle.x, 0.0, ankle.z).length() > HEEL_TURNS) {
            return None;
        }
    }
    let (mut sum, mut weights) = (0.0f32, 0.0f32);
    for joint in 0..JOINTS {
        let place = (matrix.point(entered.joints[joint]) - left.joints[joint]).length_squared();
        let speed = (matrix.rotate(entered.speeds[joint]) - left.speeds[joint]).length_squared();
        let weight = if LIGHT.iter().any(|role| role.joint().at() == joint) { ARMS } else { 1.0 };
        sum += weight * (place + VELOCITY_SECONDS * VELOCITY_SECONDS * speed);
        weights += weight;
    }
    let hand = |role: Role| (matrix.point(entered.joints[role.joint().at()]) - left.joints[role.joint().at()]).length();
    let hands = hand(Role::LeftWrist).max(hand(Role::RightWrist));
    let cost = (sum / weights).sqrt() + HANDS * hands;
    // The largest accelerations of a quintic decay of an offset, and of a velocity.
    let pelvis = Role::Pelvis.joint().at();
    let far = (matrix.point(entered.joints[pelvis]) - left.joints[pelvis]).length();
    let fast = (matrix.rotate(entered.speeds[pelvis]) - left.speeds[pelvis]).length();
    let seconds = interrupt::blend(cost);
    let push = 5.77 * far / (seconds * seconds) + 3.94 * fast / seconds;
    (hands <= FARTHEST && push <= PUSH).then_some((cost, align))
}

/// The edge that plays each frame of a clip, where one does; a frame at which an edge ends belongs to what follows.
fn players(library: &Library, clip: ClipIdx) -> Vec<Option<EdgeIdx>> {
    let mut players = vec![None; library.clip(clip).frames()];
    for (index, edge) in (0..).map(EdgeIdx).zip(library.graph().edges()).filter(|(_, edge)| edge.clip == clip) {
        for player in &mut players[edge.first.at()..edge.last.at()] {
            player.get_or_insert(index);
        }
    }
    players
}

/// Frames that one edge plays and an onset might be joined from.
struct Candidate {
    onset: usize,
    first: usize,
    last: usize,
    cost: f32,
}

fn of_clip(
    library: &Library,
    clips: &[ClipFrames],
    onsets: &[Onset],
    committed: &[CommittedPart],
    rehearsal: &Rehearsal<'_>,
    clip: ClipIdx,
) -> Vec<Interrupt> {
    let players = players(library, clip);
    let here = &clips[clip.at()];
    // Walkers branch by themselves.
    let walks = library.graph().edges_of(Layer::Walk).any(|edge| library.graph().edge(edge).clip == clip);
    let mut open = vec![true; here.frames()];
    for part in committed.iter().filter(|p| p.clip == clip) {
        open[part.first.at()..=part.last.at()].fill(false);
    }
    let mut candidates = Vec::new();
    for (number, onset) in onsets.iter().enumerate().filter(|(_, onset)| !(walks && onset.kind == SpanKind::Walk)) {
        let (entered, at) = onsets::place(library, onset);
        let target = clips[entered.at()].at(at);
        let costs: Vec<Option<f32>> = (0..here.frames())
            .map(|frame| {
                // An action is not left for its own beginning.
                let same = entered == clip && frame.abs_diff(at) < (0.2 * here.fps) as usize;
                let may = open[frame] && players[frame].is_some() && !same;
                may.then(|| cost(here.at(frame), target)).flatten().map(|c| c.0).filter(|c| *c <= BOUND)
            })
            .collect();
        candidates.extend(pieces(number, &costs));
    }
    candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost).then((a.first, a.onset).cmp(&(b.first, b.onset))));
    // By frame and kind: how many were found, and how many were tried.
    let mut counts = vec![[(0usize, 0usize); KINDS.len()]; here.frames()];
    let mut found = Vec::new();
    for candidate in candidates {
        let kind = KINDS.iter().position(|k| *k == onsets[candidate.onset].kind).unwrap_or(0);
        let frames = candidate.first..=candidate.last;
        let (wanted, most) = choices(KINDS[kind]);
        if frames.clone().all(|frame| counts[frame][kind].0 >= wanted || counts[frame][kind].1 >= most) {
            continue;
        }
        counts[frames].iter_mut().for_each(|c| c[kind].1 += 1);
        for (first, last) in rehearsal.keep(clip, &players, &candidate) {
            counts[first..=last].iter_mut().for_each(|c| c[kind].0 += 1);
            let (first, last) = (FrameIdx(first as u32), FrameIdx(last as u32));
            found.push(Interrupt { clip, first, last, onset: candidate.onset as u32, cost: candidate.cost });
        }
    }
    found
}

/// Frames in a row that are near enough, in pieces of about the same length and none longer than [`LONGEST`].
fn pieces(onset: usize, costs: &[Option<f32>]) -> Vec<Candidate> {
    let mut pieces = Vec::new();
    let mut start = 0;
    for run in costs.chunk_by(|a, b| a.is_some() == b.is_some()) {
        let first = start;
        start += run.len();
        if run[0].is_none() {
            continue;
        }
        let count = run.len().div_ceil(LONGEST as usize);
        for piece in 0..count {
            let (from, to) = (piece * run.len() / count, (piece + 1) * run.len() / count);
            let cost = run[from..to].iter().flatten().copied().fold(0.0, f32::max);
            pieces.push(Candidate { onset, first: first + from, last: first + to - 1, cost });
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_cut_evenly() {
        let costs: Vec<Option<f32>> = (0..80).map(|f| (f != 10).then_some(f as f32)).collect();
        let cut: Vec<(usize, usize, f32)> = pieces(3, &costs).iter().map(|c| (c.first, c.last, c.cost)).collect();
        assert_eq!(cut, [(0, 9, 9.0), (11, 33, 33.0), (34, 56, 56.0), (57, 79, 79.0)]);
    }
}
