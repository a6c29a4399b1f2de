//! Cuts a motion into actions, in the middle of double support where the body is calm (Shum, Komura and Yamazaki 2007, § 3).

use super::Signals;

/// Below this acceleration a body is at rest in any clip; root mean square over the joints, metres per second squared. People
/// who stand stay below 2, a slow slip reaches 4 (ACCAD Male2 A1, E19, E20).
const CALM: f32 = 3.0;
/// At rest a body is also slower than this, root mean square over the joints, metres per second: the return from a slip is slow and even, but not rest.
const SLOW: f32 = 0.12;
/// A boxer who bounces all the time is never still: in such a clip, frames count as calm up to this many times the level that this share
/// of its frames stays below.
const TIMES_CALMEST: f32 = 1.25;
const CALMEST: f32 = 0.3;
/// But nobody rests who moves faster than this, metres per second.
const FASTEST_REST: f32 = 0.9;
/// A lull, as between two combinations, is calmer than this share of the maximum within these seconds on either side.
const LULL: (f32, f32) = (0.4, 0.8);
/// Shorter moments of calm on both feet are not cut at, seconds.
const SHORTEST_CALM: f32 = 0.05;
/// Calm of this length is a rest, and of this length an action of its own, seconds.
const REST: (f32, f32) = (0.1, 1.2);
/// How much of a long rest goes to the action before it and to the one after, seconds.
const MARGIN: f32 = 0.2;
/// A body has left the pose it began with when it is farther from it than this, root mean square over the joints, metres.
const DEPARTED: f32 = 0.06;
/// And has come back when the distance has fallen below this share of its largest.
const RETURNED: f32 = 0.6;
/// What follows a pose that was held for longer is not a return from it, seconds.
const LONGEST_HOLD: f32 = 2.5;

/// A stretch between two cuts. Frames, the last included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// First and last frame: at rest, in double support, or at the clip's end.
    pub frames: (usize, usize),
    /// The part in which something happens; `None` if nothing does.
    pub core: Option<(usize, usize)>,
}

/// Where a clip is cut, and where it rests.
#[derive(Clone, Debug, PartialEq)]
pub struct Segments {
    /// In order, without gaps: each begins with the frame the one before ends with.
    pub pieces: Vec<Piece>,
    /// First and last frame of each stretch in which both feet stand and little moves.
    pub rests: Vec<(usize, usize)>,
    /// Effort below which the clip counts as calm, metres per second squared.
    pub calm: f32,
}

/// Cuts a clip.
pub fn segment(signals: &Signals) -> Segments {
    let last = signals.frames() - 1;
    let calm = CALM.max(TIMES_CALMEST * calmest(signals, Signals::effort));
    let slow = SLOW.max(TIMES_CALMEST * calmest(signals, Signals::speed)).min(FASTEST_REST);
    let rests_at = |f: usize| signals.effort(f) < calm && signals.speed(f) < slow;
    let mut rests = Vec::new();
    let mut cuts = vec![0];
    for (a, b) in runs(signals.frames(), |f| signals.both_stand(f) && rests_at(f)) {
        let frames = b - a + 1;
        if frames >= signals.frames_in(REST.0) {
            rests.push((a, b));
        }
        if frames > signals.frames_in(REST.1) {
            let margin = signals.frames_in(MARGIN);
            cuts.extend([a + margin, b - margin]);
        } else if frames >= signals.frames_in(SHORTEST_CALM) {
            cuts.push(usize::midpoint(a, b));
        }
    }
    let busy = |f: usize| !rests_at(f);
    for (a, b) in runs(signals.frames(), busy) {
        cuts.extend((a..=b).filter(|&f| signals.both_stand(f) && lull(signals, a, b, f)));
    }
    cuts.push(last);
    cuts.sort_unstable();
    cuts.retain(|&c| c == 0 || c == last || (c > 2 && c + 2 < last));
    cuts.dedup();
    let core = |a: usize, b: usize| Some(((a..=b).find(|&f| busy(f))?, (a..=b).rev().find(|&f| busy(f))?));
    let mut pieces: Vec<Piece> =
        cuts.windows(2).map(|w| Piece { frames: (w[0], w[1]), core: core(w[0], w[1]) }).collect();
    join_returns(signals, &mut pieces);
    Segments { pieces, rests, calm }
}

/// Whether a frame of a busy stretch is the calmest near it, and much calmer than what comes before and after.
fn lull(signals: &Signals, first: usize, last: usize, frame: usize) -> bool {
    let around = signals.frames_in(LULL.1);
    let (before, after) = (frame.saturating_sub(around).max(first)..frame, frame + 1..(frame + around).min(last) + 1);
    let effort = |f: usize| signals.effort(f);
    let near = signals.frames_in(0.25);
    let calmest = (frame.saturating_sub(near)..=(frame + near).min(signals.frames() - 1))
        .all(|f| effort(f) > effort(frame) || (effort(f) == effort(frame) && f >= frame));
    let most = |frames: std::ops::Range<usize>| frames.map(effort).fold(0.0, f32::max);
    calmest && effort(frame) < LULL.0 * most(before).min(most(after))
}

/// The level that the calmest frames of a clip stay below.
fn calmest(signals: &Signals, of: impl Fn(&Signals, usize) -> f32) -> f32 {
    let mut values: Vec<f32> = (0..signals.frames()).map(|f| of(signals, f)).collect();
    values.sort_by(f32::total_cmp);
    values[(CALMEST * values.len() as f32) as usize]
}

/// Merges what was cut while a block or a slip was held: leaving and coming back are one action.
fn join_returns(signals: &Signals, pieces: &mut Vec<Piece>) {
    let mut at = 0;
    while at + 1 < pieces.len() {
        let (first, second) = (pieces[at], pieces[at + 1]);
        let (start, cut, end) = (first.frames.0, second.frames.0, second.frames.1);
        let away = signals.pose_distance(start, cut);
        let hold = match (first.core, second.core) {
            (Some(a), Some(b)) => signals.time(b.0.saturating_sub(a.1)),
            _ => f32::INFINITY,
        };
        if away > DEPARTED && signals.pose_distance(start, end) < RETURNED * away && hold < LONGEST_HOLD {
            let core = first.core.zip(second.core).map(|(a, b)| (a.0, b.1));
            pieces[at] = Piece { frames: (start, end), core };
            pieces.remove(at + 1);
        } else {
            at += 1;
        }
    }
}

/// First and last frame of every maximal stretch in which `holds` is true.
pub fn runs(frames: usize, holds: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
    let mut runs = Vec::new();
    let mut start = None;
    for frame in 0..=frames {
        match (frame < frames && holds(frame), start) {
            (true, None) => start = Some(frame),
            (false, Some(a)) => {
                runs.push((a, frame - 1));
                start = None;
            }
            _ => {}
        }
    }
    runs
}
