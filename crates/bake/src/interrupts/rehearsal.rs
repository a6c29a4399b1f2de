//! Interrupts are played before they go into a library.

use std::collections::BTreeMap;
use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::interrupt::{Onset, blend};
use kumite_motion::library::Library;
use kumite_motion::{Clip, ClipIdx, Contacts, EdgeIdx, FrameIdx, Role, Roles, Vec2};
use kumite_plan::{Leg, Plan};
use kumite_stage::{Character, Quality, Recorder, TICKS};
use rayon::prelude::*;

use super::{Candidate, ClipFrames, cost, onsets};
use crate::judge::{Finding, Verdict, What, judge};

/// A join may not snap by more than this beyond what the clips have, in units of [`kumite_stage::SNAP_UNIT`]; takes are held to 1.5.
const SNAP: f32 = 1.0;
/// Planted feet may not slide faster than this after a join, centimetres per second on average, nor float higher, centimetres.
const SLIDE: f32 = 2.0;
const FLOAT: f32 = 1.0;
/// Nobody changes feet in the air for longer, seconds, unless the action itself does. Takes have so many frames per second.
const ALOFT: f32 = 0.1;
const TAKE_FPS: f32 = 60.0;
/// A foot of a take leaves the floor up to a frame before that of its clip, and is back up to a frame later.
const ROUNDED: usize = 2;
/// How long the motion is played before the join, so that feet stand, and after it, seconds.
const RUN_UP: f32 = 0.25;
const AFTER: f32 = 0.5;
/// Ticks before the join that are looked at too.
const SEEN_BEFORE: u32 = 4;
/// Faults that the clips have themselves are accepted up to this many times their size there.
const NO_WORSE: f32 = 1.1;
/// Pieces that look good only in part are halved down to so many frames.
const SHORTEST: usize = 4;

/// What rehearsals are judged by.
pub(super) struct Rehearsal<'a> {
    library: &'a Arc<Library>,
    clips: &'a [ClipFrames],
    onsets: &'a [Onset],
    /// Faults of each clip, and of each onset for as long as it is rehearsed.
    of_clips: Vec<Faults>,
    of_onsets: Vec<Faults>,
    /// By onset: frames of a take, in a row, without a foot on the floor.
    aloft: Vec<usize>,
}

type Faults = BTreeMap<(What, Option<Role>), f32>;

fn faults(verdict: &Verdict) -> Faults {
    verdict.faults().map(|f: &Finding| ((f.what, f.part), f.measured)).collect()
}

fn judged(clip: &Clip) -> Faults {
    faults(&judge(clip, &Roles::canonical(), &Anatomy::of_canonical(clip.skeleton())))
}

/// The longest run of frames without a foot on the floor.
fn aloft(contacts: &[Contacts]) -> usize {
    let runs = contacts.chunk_by(|a, b| (*a == Contacts::NONE) == (*b == Contacts::NONE));
    runs.filter(|run| run[0] == Contacts::NONE).map(<[Contacts]>::len).max().unwrap_or(0)
}

/// Every other frame: at the rate at which the judge measures speeds it is done in half the time.
fn halved(clip: &Clip) -> Option<Clip> {
    let mut half = Clip::from_fn(
        &clip.name,
        Arc::clone(clip.skeleton()),
        0.5 * clip.fps(),
        clip.frames().div_ceil(2),
        |frame, pose| clip.pose(FrameIdx(2 * frame as u32), pose),
    )
    .ok()?;
    half.contacts = clip.contacts.iter().step_by(2).copied().collect();
    Some(half)
}

impl<'a> Rehearsal<'a> {
    pub(super) fn new(library: &'a Arc<Library>, clips: &'a [ClipFrames], onsets: &'a [Onset]) -> Rehearsal<'a> {
        let of_onset = |onset: &Onset| {
            let (clip, frame) = onsets::place(library, onset);
            let clip = library.clip(clip);
            let after = (AFTER * clip.fps()) as usize + 1;
            let mut faults =
                clip.trimmed(frame..(frame + after).min(clip.frames())).map(|c| judged(&c)).unwrap_or_default();
            // And as characters play it if nothing is left for it: planting feet may sink a heel.
            let played = play(library, onset.edge, onset.enter, None).and_then(|(played, _)| halved(&played));
            for (what, measured) in played.map(|clip| judged(&clip)).unwrap_or_default() {
                let known = faults.entry(what).or_insert(measured);
                *known = known.max(measured);
            }
            faults
        };
        let aloft = |onset: &Onset| {
            let (clip, frame) = onsets::place(library, onset);
            let clip = library.clip(clip);
            let contacts = clip.contacts.iter().skip(frame).take((AFTER * clip.fps()) as usize).copied();
            (aloft(&contacts.collect::<Vec<_>>()) as f32 * TAKE_FPS / clip.fps()) as usize
        };
        Rehearsal {
            library,
            clips,
            onsets,
            aloft: onsets.iter().map(aloft).collect(),
            of_clips: library.clips().par_iter().map(judged).collect(),
            of_onsets: onsets.par_iter().map(of_onset).collect(),
        }
    }

    /// What can be kept of the frames from `first` to `last`.
    pub(super) fn keep(
        &self,
        clip: ClipIdx,
        players: &[Option<EdgeIdx>],
        candidate: &Candidate,
    ) -> Vec<(usize, usize)> {
        let Candidate { first, last, .. } = *candidate;
        let mut known = BTreeMap::new();
        let mut pass =
            |frame: usize| *known.entry(frame).or_insert_with(|| self.passes(clip, players, candidate, frame));
        let (mut kept, mut open): (Vec<(usize, usize)>, _) = (Vec::new(), vec![(first, last)]);
        while let Some((first, last)) = open.pop() {
            let middle = usize::midpoint(first, last);
            let passed = [first, middle, last].map(&mut pass);
            if passed == [true; 3] {
                // From left to right: what touches the piece before belongs to it.
                match kept.last_mut() {
                    Some(before) if before.1 + 1 == first => before.1 = last,
                    _ => kept.push((first, last)),
                }
            } else if passed != [false; 3] {
                if last - first >= SHORTEST {
                    open.extend([(middle + 1, last), (first, middle)]);
                } else if last > first {
                    open.extend((first..=last).rev().map(|frame| (frame, frame)));
                }
            }
        }
        kept
    }

    fn passes(&self, clip: ClipIdx, players: &[Option<EdgeIdx>], candidate: &Candidate, frame: usize) -> bool {
        let Some(edge) = players[frame] else { return false };
        let Some((played, quality)) = self.play(clip, edge, candidate, frame) else { return false };
        quality.snap <= SNAP
            && quality.foot_slide_cm_s <= SLIDE
            && quality.float_cm <= FLOAT
            && aloft(&played.contacts) <= ROUNDED + self.aloft[candidate.onset].max((ALOFT * played.fps()) as usize)
            && self.plausible(&played, clip, candidate.onset)
    }

    fn plausible(&self, played: &Clip, clip: ClipIdx, onset: usize) -> bool {
        let own = [&self.of_clips[clip.at()], &self.of_onsets[onset]];
        let known = |what: &(What, Option<Role>), measured: f32| {
            own.iter().filter_map(|faults| faults.get(what)).any(|own| measured <= NO_WORSE * own)
        };
        let verdict = halved(played).map(|clip| judged(&clip));
        verdict.is_some_and(|faults| faults.iter().all(|(what, measured)| known(what, *measured)))
    }

    /// Plays the join from a frame of a clip, which an edge plays: the last frames before it and some after.
    fn play(&self, clip: ClipIdx, edge: EdgeIdx, candidate: &Candidate, frame: usize) -> Option<(Clip, Quality)> {
        let onset = &self.onsets[candidate.onset];
        let (entered, at) = onsets::place(self.library, onset);
        let align = cost(self.clips[clip.at()].at(frame), self.clips[entered.at()].at(at))?.1;
        let first = self.library.graph().edge(edge).first.at();
        let since = (frame - first) as f32 / self.library.clip(clip).fps();
        play(self.library, edge, since, Some((onset, (align, blend(candidate.cost)))))
    }
}

/// Plays an edge up to a moment, seconds after its first frame, and then an onset with its join, or just goes on.
fn play(
    library: &Arc<Library>,
    edge: EdgeIdx,
    since: f32,
    onset: Option<(&Onset, (Planar, f32))>,
) -> Option<(Clip, Quality)> {
    let graph = library.graph();
    let mut character = Character::on(Arc::clone(library), edge, Vec2::ZERO, 0.0);
    // The run-up may begin before the edge does: the clip has those frames, or holds its first.
    let run_up = Leg { enter: since - RUN_UP, join: Some((Planar::IDENTITY, 0.0)), ..Leg::whole(edge) };
    character.commit(Plan::at_once(run_up));
    let leg = onset.map(|(onset, join)| Leg { enter: onset.enter, join: Some(join), ..Leg::whole(onset.edge) });
    let mut recorder = Recorder::default();
    let ticks = (RUN_UP * TICKS as f32).round() as u32;
    for tick in 0..ticks + (AFTER * TICKS as f32) as u32 {
        let commits = leg.filter(|_| tick == ticks);
        if let Some(leg) = commits {
            character.commit(Plan::at_once(leg));
        }
        // After the onset its clip goes on by itself where it can.
        let began = character.step(|_, next| {
            let on = next.iter().find(|e| graph.edge(**e).join.is_none());
            on.or(next.first()).copied().unwrap_or(edge)
        });
        if tick + SEEN_BEFORE >= ticks {
            recorder.record(&character, commits.or(began));
        }
    }
    recorder.unbalanced(library.skeleton()).ok()
}
