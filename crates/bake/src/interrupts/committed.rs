//! Parts of clips that are not left: blows under way, flight, lying.

use kumite_motion::anatomy::Anatomy;
use kumite_motion::interrupt::{Commitment, CommittedPart};
use kumite_motion::library::Library;
use kumite_motion::{Clip, ClipIdx, Contacts, FrameIdx, Role, Span, SpanKind};

use super::ClipFrames;

/// A blow is under way while its part has this share of its greatest speed.
const UNDER_WAY: f32 = 0.5;
/// Its greatest speed is looked for so long before it counts, seconds.
const BEFORE: f32 = 0.15;
/// Feet whose joints are so much higher than when they stand are off the floor, metres ...
const OFF_THE_FLOOR: f32 = 0.04;
/// ... and if both are so for so long, the body flies, seconds.
const FLIES: f32 = 0.05;
/// Hips lower than this share of the legs: no stance of a fighter.
const LOW: f32 = 0.42;

/// All of them, by clip and first frame; where two reasons meet the first of [`Commitment::ALL`] is given.
pub(super) fn find(library: &Library, clips: &[ClipFrames]) -> Vec<CommittedPart> {
    let anatomy = Anatomy::of_canonical(library.skeleton());
    let mut parts = Vec::new();
    for ((clip, frames), index) in library.clips().iter().zip(clips).zip((0..).map(ClipIdx)) {
        let reasons = reasons(clip, frames, &anatomy);
        let mut start = 0;
        for run in reasons.chunk_by(|a, b| a == b) {
            let first = FrameIdx(start);
            start += run.len() as u32;
            if let Some(why) = run[0] {
                parts.push(CommittedPart { clip: index, first, last: FrameIdx(start - 1), why });
            }
        }
    }
    parts
}

fn reasons(clip: &Clip, frames: &ClipFrames, anatomy: &Anatomy) -> Vec<Option<Commitment>> {
    let mut reasons = vec![None; clip.frames()];
    for span in &clip.spans {
        let mut fill = |from: usize, to: usize, why| reasons[from..=to].fill(Some(why));
        match span.kind {
            SpanKind::Attack => {
                blows(clip, frames, span).into_iter().for_each(|(from, to)| fill(from, to, Commitment::Strike))
            }
            SpanKind::Down | SpanKind::Up => {
                fill(frame_at(clip, span.from), frame_at(clip, span.to), Commitment::Lying)
            }
            _ => {}
        }
    }
    for (frame, reason) in reasons.iter_mut().enumerate() {
        if frames.joints[frame][Role::Pelvis.joint().at()].y - anatomy.floor < LOW * anatomy.leg {
            reason.get_or_insert(Commitment::Lying);
        }
    }
    let high = |frame: usize| {
        let above = |role: Role, stands: f32| frames.joints[frame][role.joint().at()].y - anatomy.floor - stands;
        let feet = [(Role::LeftAnkle, Role::LeftToe), (Role::RightAnkle, Role::RightToe)];
        let off = |(ankle, toe)| above(ankle, anatomy.ankle).min(above(toe, anatomy.toe)) > OFF_THE_FLOOR;
        frames.contacts[frame] == Contacts::NONE && feet.into_iter().all(off)
    };
    let high: Vec<bool> = (0..clip.frames()).map(high).collect();
    let mut start = 0;
    for run in high.chunk_by(|a, b| a == b) {
        let range = start..start + run.len();
        start = range.end;
        if run[0] && run.len() as f32 >= FLIES * clip.fps() {
            reasons[range].iter_mut().for_each(|r| *r = r.or(Some(Commitment::Flight)));
        }
    }
    reasons
}

fn frame_at(clip: &Clip, seconds: f32) -> usize {
    ((seconds * clip.fps()).round().max(0.0) as usize).min(clip.frames() - 1)
}

/// First and last frame of each blow of an attack that is not taken back.
fn blows(clip: &Clip, frames: &ClipFrames, span: &Span) -> Vec<(usize, usize)> {
    if !span.strikes.is_empty() {
        return span.strikes.iter().map(|s| blow(clip, frames, s.part, s.active)).collect();
    }
    let ends = [Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle];
    let active = span.active.unwrap_or((span.from, span.to));
    let fastest = |role: &Role| {
        let window = frame_at(clip, active.0)..=frame_at(clip, active.1);
        window.map(|frame| speed(frames, *role, frame)).fold(0.0, f32::max)
    };
    let part = span.part.or_else(|| ends.into_iter().max_by(|a, b| fastest(a).total_cmp(&fastest(b))));
    part.map(|part| blow(clip, frames, part, active)).into_iter().collect()
}

/// From half of the part's greatest speed until it no longer counts, and with a leg until its foot stands.
fn blow(clip: &Clip, frames: &ClipFrames, part: Role, active: (f32, f32)) -> (usize, usize) {
    let (from, end) = (frame_at(clip, active.0 - BEFORE), frame_at(clip, active.1));
    let peak = (from..=end).max_by(|a, b| speed(frames, part, *a).total_cmp(&speed(frames, part, *b))).unwrap_or(end);
    let half = UNDER_WAY * speed(frames, part, peak);
    let first = (0..=peak).rev().take_while(|frame| speed(frames, part, *frame) >= half).last().unwrap_or(peak);
    let foot = match part {
        Role::LeftHip | Role::LeftKnee | Role::LeftAnkle | Role::LeftToe => Some(Contacts::LEFT),
        Role::RightHip | Role::RightKnee | Role::RightAnkle | Role::RightToe => Some(Contacts::RIGHT),
        _ => None,
    };
    let loaded = |frame: &usize| foot.is_none_or(|foot| frames.contacts[*frame].any(foot));
    let last = (end.max(peak)..frames.frames()).find(loaded).unwrap_or(frames.frames() - 1);
    (first.min(last), last)
}

/// Metres per second, as the pelvis sees it: a hand that only rides along does not strike.
fn speed(frames: &ClipFrames, part: Role, frame: usize) -> f32 {
    let speeds = &frames.speeds[frame];
    (speeds[part.joint().at()] - speeds[Role::Pelvis.joint().at()]).length()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kumite_motion::rotation::about;
    use kumite_motion::{Pose, Vec3, humanoid};

    use super::*;

    /// Two seconds at 60 frames per second.
    fn clip(change: impl Fn(f32, &mut Pose)) -> Clip {
        let skeleton = Arc::new(humanoid::skeleton());
        let made = Clip::from_fn("acts", Arc::clone(&skeleton), 60.0, 121, |frame, pose| {
            *pose = Pose::rest(&skeleton);
            change(frame as f32 / 60.0, pose);
        });
        let mut clip = made.unwrap();
        clip.contacts = vec![Contacts::ALL; 121];
        clip
    }

    fn committed(clip: &Clip) -> Vec<(usize, usize, Commitment)> {
        let reasons = reasons(clip, &ClipFrames::of(clip), &Anatomy::of_canonical(clip.skeleton()));
        let (mut start, mut parts) = (0, Vec::new());
        for run in reasons.chunk_by(|a, b| a == b) {
            parts.extend(run[0].map(|why| (start, start + run.len() - 1, why)));
            start += run.len();
        }
        parts
    }

    /// A limb that swings by a radian between 0.8 and 1.2 s, fastest at 1 s: half as fast a sixth of a turn away.
    fn swing(role: Role) -> impl Fn(f32, &mut Pose) {
        move |time, pose| {
            let way = ((time - 0.8) / 0.4).clamp(0.0, 1.0);
            let angle = 0.5 - 0.5 * libm::cosf(way * std::f32::consts::PI);
            pose.rotations[role.joint().at()] = about(Vec3::NEG_X, angle);
        }
    }

    #[test]
    fn blows_are_under_way_from_half_their_speed() {
        let mut span = Span::new(SpanKind::Attack, "", 0.7, 1.5);
        (span.active, span.part) = (Some((0.95, 1.1)), Some(Role::RightAnkle));
        let mut kick = clip(swing(Role::RightHip));
        kick.spans.push(span);
        kick.contacts[50..90].fill(Contacts::LEFT);
        let [(first, last, why)] = committed(&kick)[..] else { panic!("{:?}", committed(&kick)) };
        assert!(first.abs_diff(52) <= 1, "half the speed is reached at 0.87 s, not in frame {first}");
        assert_eq!((last, why), (90, Commitment::Strike), "until the foot stands");
        kick.contacts[50..90].fill(Contacts::ALL);
        assert_eq!(committed(&kick)[0].1, 66, "a foot that stands is over with its active window");
        // Without a part the fastest one is taken.
        kick.spans[0].part = None;
        assert_eq!(committed(&kick)[0].1, 66);
    }

    #[test]
    fn flights_and_lying_bodies_are_not_left() {
        let mut jump = clip(|time, pose| {
            if (0.5..0.9).contains(&time) {
                pose.translations[0].y += 0.2;
            }
        });
        assert_eq!(committed(&jump), [], "feet that are planted do not fly");
        jump.contacts[30..54].fill(Contacts::NONE);
        assert_eq!(committed(&jump), [(30, 53, Commitment::Flight)]);
        let mut low = clip(|time, pose| {
            if time >= 1.0 {
                pose.translations[0].y = 0.2;
            }
        });
        assert_eq!(committed(&low), [(60, 120, Commitment::Lying)]);
        low.spans.push(Span::new(SpanKind::Down, "", 0.5, 1.2));
        assert_eq!(committed(&low), [(30, 120, Commitment::Lying)]);
    }
}
