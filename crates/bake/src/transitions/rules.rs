//! Which frames may be left and entered, and which feet must agree.

use kumite_motion::blend::Velocity;
use kumite_motion::{Clip, Contacts, FrameIdx, JointIdx, Pose, Role, Roles};

use kumite_stage::SNAP_UNIT;

use super::cloud::Cloud;
use super::{TransitionConfig, quantile, successors};

/// Where motion may branch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Policy {
    /// Wherever two motions are alike.
    Anywhere,
    /// Where little moves: in the quietest share of the library's frames, 0 to 1 (Duits: while the acting joints are
    /// at rest). Long stretches of action stay whole without anyone having labelled them.
    Windows {
        /// Share of the frames.
        quietest: f32,
    },
    /// Between actions only (Shum, Komura and Yamazaki 2007): left where one ends, entered where one begins.
    ActionEnds,
}

/// What may be done at one window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Whether the frame may be left.
    pub leave: bool,
    /// Whether it may be entered.
    pub enter: bool,
    /// Left and right foot planted; `None` where contacts have not been detected.
    pub feet: Option<(bool, bool)>,
}

impl Rule {
    /// Whether motion may leave here and go on there. Feet may be lifted in a join but not set down: a foot that was
    /// in the air and has to stand at once slides to its place. A body on the ground keeps one of its planted feet.
    #[inline]
    pub fn joins(self, there: Rule) -> bool {
        let feet = match (self.feet, there.feet) {
            (Some((left, right)), Some((l, r))) => (l <= left) && (r <= right) && ((l || r) == (left || right)),
            _ => true,
        };
        self.leave && there.enter && feet
    }
}

/// Rules as numbers, and for each number which others it joins: the form the search asks millions of times.
#[derive(Clone, Debug)]
pub(super) struct Codes {
    of: Vec<u8>,
    joins: [u32; 32],
}

impl Codes {
    pub(super) fn new(rules: &[Rule]) -> Codes {
        let decode = |code: usize| Rule {
            leave: code & 1 != 0,
            enter: code & 2 != 0,
            feet: (code < 16).then_some((code & 4 != 0, code & 8 != 0)),
        };
        let encode = |rule: &Rule| {
            let feet = rule.feet.map_or(16, |(left, right)| u8::from(left) << 2 | u8::from(right) << 3);
            u8::from(rule.leave) | u8::from(rule.enter) << 1 | feet
        };
        let mut joins = [0u32; 32];
        for (from, mask) in joins.iter_mut().enumerate() {
            for to in 0..32 {
                *mask |= u32::from(decode(from).joins(decode(to))) << to;
            }
        }
        Codes { of: rules.iter().map(encode).collect(), joins }
    }

    /// Whether motion may leave one window and go on in another. Never, if one does not exist.
    #[inline]
    pub(super) fn joins(&self, leave: usize, enter: usize) -> bool {
        match (self.of.get(leave), self.of.get(enter)) {
            (Some(a), Some(b)) => self.joins[usize::from(a & 31)] >> (b & 31) & 1 != 0,
            _ => false,
        }
    }
}

/// How near, in seconds, an action's end counts as its end.
const NEAR_END: f32 = 0.07;
/// Shum, Komura and Yamazaki allow no transition where accelerations are large; we do not where more than this share of frames
/// is calmer.
const CALM: f32 = 0.5;

/// The rules of all windows of a cloud. Those across two clips allow nothing.
pub fn rules(clips: &[Clip], cloud: &Cloud, config: &TransitionConfig) -> Vec<Rule> {
    let mut rules = vec![Rule::default(); cloud.len()];
    let fps = clips.first().map_or(30.0, Clip::fps);
    let near = (NEAR_END * fps).round() as usize;
    let activity = match config.policy {
        Policy::Anywhere => Vec::new(),
        _ => activity(cloud, fps),
    };
    let calm = |share: f32| quantile(activity.iter().copied().filter(|a| a.is_finite()).collect(), share);
    let calmest = match config.policy {
        Policy::Windows { quietest } => calm(quietest),
        _ => calm(CALM),
    };
    let jolts = jolts(clips, config.jolt_percentile);
    let mut ends = Vec::new();
    for (window, rule) in rules.iter_mut().enumerate() {
        let Some((clip_idx, frame)) = cloud.place(window) else { continue };
        let clip = &clips[clip_idx.at()];
        let last = clip.frames() - 1;
        let (leave, enter) = match config.policy {
            Policy::Anywhere => (true, true),
            Policy::Windows { .. } => {
                let quiet = activity[window] <= calmest;
                // A clip's very ends are always open, or short clips could not be had at all.
                (quiet || frame.at() == last, quiet || frame.at() == 0)
            }
            Policy::ActionEnds => {
                if frame.at() == 0 {
                    ends = match config.action_ends.get(clip_idx.at()) {
                        Some(given) => given.clone(),
                        None => action_ends(clip, &activity[window..window + clip.frames()], calmest),
                    };
                }
                let at_end = ends.iter().any(|e| e.at().abs_diff(frame.at()) <= near);
                (at_end || frame.at() == last, at_end || frame.at() == 0)
            }
        };
        let inside = clip.spans.iter().any(|span| {
            let at = frame.0 as f32;
            config.unbroken.contains(&span.kind) && at > span.from * fps + 1e-3 && at < span.to * fps - 1e-3
        });
        let inside = inside || jolts[clip_idx.at()][frame.at()];
        let planted = (clip.contacts.len() == clip.frames()).then(|| clip.contacts[frame.at()]);
        let feet = planted.map(|c| (c.any(Contacts::LEFT), c.any(Contacts::RIGHT)));
        // Leaving where a clip begins, or entering where it ends, would play nothing of it (Duits).
        *rule = Rule { leave: leave && !inside && frame.0 > 0, enter: enter && !inside && frame.at() < last, feet };
    }
    rules
}

/// Frames next to a jolt, per clip: a step of some joint's angular velocity that nearly all in the library are
/// smaller than. A transition there would carry a glitch of the capture over into another motion.
fn jolts(clips: &[Clip], share: f32) -> Vec<Vec<bool>> {
    // Hands and toes flutter, too little to be seen.
    let loose = clips.first().map_or(Vec::new(), |clip| {
        let roles = Roles::by_canonical_names(clip.skeleton());
        let ends = [Role::LeftWrist, Role::RightWrist, Role::LeftToe, Role::RightToe];
        ends.into_iter().filter_map(|r| roles.get(r)).map(JointIdx::at).collect()
    });
    let (mut poses, mut turns) = ([Pose::default(), Pose::default()], [Velocity::default(), Velocity::default()]);
    let mut all = Vec::new();
    // The largest of each frame.
    let steps: Vec<Vec<f32>> = clips
        .iter()
        .map(|clip| {
            let mut steps = vec![0.0f32; clip.frames()];
            for frame in 0..clip.frames() {
                poses.swap(0, 1);
                clip.pose(FrameIdx(frame as u32), &mut poses[1]);
                if frame > 0 {
                    turns.swap(0, 1);
                    turns[1] = Velocity::between(&poses[0], &poses[1], 1.0 / clip.fps());
                }
                if frame > 1 {
                    let pairs = turns[0].rotations.iter().zip(&turns[1].rotations).enumerate();
                    let start = all.len();
                    all.extend(pairs.filter(|p| !loose.contains(&p.0)).map(|(_, (a, b))| (*b - *a).length()));
                    steps[frame - 1] = all[start..].iter().copied().fold(0.0, f32::max);
                }
            }
            steps
        })
        .collect();
    // In a library without glitches the largest steps are motion like any other: a jolt is also half of what is rare in
    // captures, at 60 frames per second.
    let fps = clips.first().map_or(60.0, Clip::fps);
    let most = quantile(all, share).max(0.5 * SNAP_UNIT * 60.0 / fps);
    let near = |steps: &Vec<f32>| {
        let jolt = |frame: usize| {
            let around = frame.saturating_sub(2)..(frame + 3).min(steps.len());
            steps[around].iter().any(|s| *s > most)
        };
        (0..steps.len()).map(jolt).collect()
    };
    steps.iter().map(near).collect()
}

/// How much moves at each window: the distance to the window a frame later.
fn activity(cloud: &Cloud, fps: f32) -> Vec<f32> {
    let mut activity = vec![f32::INFINITY; cloud.len()];
    for (window, distance) in successors(cloud, fps, 0.0, 1) {
        activity[window] = distance;
        // The last frame of a clip has no successor, and moves as the one before did.
        activity[window + 1] = distance;
    }
    activity
}

/// Frames between actions, from what is labelled and from how the body stands: ends of spans, and the calm centres of
/// double support.
fn action_ends(clip: &Clip, activity: &[f32], calmest: f32) -> Vec<FrameIdx> {
    let last = clip.frames() - 1;
    let at = |seconds: f32| ((seconds * clip.fps()).round() as usize).min(last);
    let mut ends: Vec<usize> = clip.spans.iter().flat_map(|s| [at(s.from), at(s.to)]).collect();
    let both = |c: &Contacts| c.any(Contacts::LEFT) && c.any(Contacts::RIGHT);
    let mut frame = 0;
    while frame < clip.contacts.len().min(clip.frames()) {
        let length = clip.contacts[frame..].iter().take_while(|c| both(c)).count();
        let centre = frame + length / 2;
        if length > 0 && activity.get(centre).is_some_and(|a| *a <= calmest) {
            ends.push(centre);
        }
        frame += length.max(1);
    }
    ends.extend([0, last]);
    ends.sort_unstable();
    ends.dedup();
    ends.into_iter().map(|f| FrameIdx(f as u32)).collect()
}
