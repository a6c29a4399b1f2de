//! Clips as clouds of weighted points, ready to be compared.

use kumite_motion::fk::Tracks;
use kumite_motion::{Clip, ClipIdx, FrameIdx, Vec3};

use super::{TransitionConfig, TransitionError};

/// The points of all frames of all clips, one clip after the other.
///
/// Every clip is led in and out by half a window of its first and its last pose held still, so that each frame is the
/// centre of a window: a clip that starts or ends at rest joins there, and one that starts in motion looks as
/// different from a standstill as it is.
#[derive(Clone, Debug)]
pub struct Cloud {
    /// Frames in a window.
    pub(super) window: usize,
    /// Points compared by place, then points compared by velocity.
    pub(super) points: usize,
    /// Square roots of the weights of the former; the weights of a window add up to 1, so that distances are means.
    pub(super) roots: Vec<f32>,
    /// Points of one frame after the other, times the square root of their weight; heights from the mean height.
    values: Vec<[f32; 3]>,
    /// Which clip each padded frame is of.
    owner: Vec<u32>,
    /// Padded frame of each clip's first window; one more at the end.
    starts: Vec<usize>,
    frames: Vec<usize>,
    /// Mean place on the ground of each window that exists, metres.
    centres: Vec<[f64; 2]>,
}

impl Cloud {
    /// Gathers the points. All clips must be of one skeleton and one rate.
    pub fn new(clips: &[Clip], config: &TransitionConfig) -> Result<Cloud, TransitionError> {
        let first = clips.first().ok_or(TransitionError::NoClips)?;
        let (joints, fps) = (first.skeleton().len(), first.fps());
        for (index, clip) in clips.iter().enumerate() {
            let clip_idx = ClipIdx(index as u32);
            if clip.skeleton().parents() != first.skeleton().parents() {
                return Err(TransitionError::OtherSkeleton { clip: clip_idx });
            }
            if (clip.fps() / fps - 1.0).abs() > 1e-4 {
                return Err(TransitionError::OtherRate { clip: clip_idx, fps: clip.fps(), first: fps });
            }
        }
        let given: Vec<f32> = if config.weights.is_empty() { vec![1.0; joints] } else { config.weights.clone() };
        let usable = given.len() == joints && given.iter().all(|w| w.is_finite() && *w >= 0.0);
        let total: f64 = given.iter().map(|w| f64::from(*w)).sum();
        if !usable || total <= 0.0 {
            return Err(TransitionError::BadWeights { joints });
        }
        let window = ((config.window_seconds * fps).round() as usize).max(2);
        let used: Vec<(usize, f32)> = given
            .iter()
            .enumerate()
            .filter(|(_, w)| **w > 0.0)
            .map(|(joint, w)| (joint, (f64::from(*w) / total / window as f64).sqrt() as f32))
            .collect();
        let moving = config.velocity_seconds > 0.0;
        let mut cloud = Cloud {
            window,
            points: used.len() * (1 + usize::from(moving)),
            roots: used.iter().map(|u| u.1).collect(),
            values: Vec::new(),
            owner: Vec::new(),
            starts: vec![0],
            frames: clips.iter().map(Clip::frames).collect(),
            centres: Vec::new(),
        };
        let mut tracks = Tracks::default();
        for (index, clip) in clips.iter().enumerate() {
            tracks.fill(clip);
            cloud.push(index, &tracks, &used, moving.then_some(0.5 * fps * config.velocity_seconds));
        }
        cloud.lower();
        cloud.centre();
        Ok(cloud)
    }

    fn push(&mut self, index: usize, tracks: &Tracks, used: &[(usize, f32)], moving: Option<f32>) {
        let last = tracks.frames() - 1;
        let at = |frame: usize, joint: usize| {
            tracks.get(FrameIdx(frame.min(last) as u32), kumite_motion::JointIdx(joint as u16))
        };
        let padded = tracks.frames() + self.window - 1;
        for row in 0..padded {
            let frame = row.saturating_sub(self.window / 2).min(last);
            self.values.extend(used.iter().map(|&(joint, root)| (at(frame, joint) * root).to_array()));
            if let Some(scale) = moving {
                // A held pose does not move, so neither do the points that stand for its velocity.
                let held = row < self.window / 2 || row > last + self.window / 2;
                self.values.extend(used.iter().map(|&(joint, root)| {
                    let step = at(frame + 1, joint) - at(frame.saturating_sub(1), joint);
                    (if held { Vec3::ZERO } else { step * (scale * root) }).to_array()
                }));
            }
            self.owner.push(index as u32);
        }
        self.starts.push(self.owner.len());
    }

    /// Heights from their mean. Only differences matter, and small numbers keep more digits.
    fn lower(&mut self) {
        let (mut sum, mut weight) = (0.0f64, 0.0f64);
        for frame in self.values.chunks_exact(self.points) {
            for (p, root) in frame.iter().zip(&self.roots) {
                sum += f64::from(p[1]) * f64::from(*root);
                weight += f64::from(*root) * f64::from(*root);
            }
        }
        let mean = (sum / weight.max(f64::MIN_POSITIVE)) as f32;
        for frame in self.values.chunks_exact_mut(self.points) {
            for (p, root) in frame.iter_mut().zip(&self.roots) {
                p[1] -= root * mean;
            }
        }
    }

    fn centre(&mut self) {
        let mut sums = Vec::with_capacity(self.len());
        for frame in self.values.chunks_exact(self.points) {
            let mut sum = [0.0f64; 2];
            for (p, root) in frame.iter().zip(&self.roots) {
                let root = f64::from(*root);
                sum = [sum[0] + f64::from(p[0]) * root, sum[1] + f64::from(p[2]) * root];
            }
            sums.push(sum);
        }
        let weight: f64 = self.roots.iter().map(|r| f64::from(*r) * f64::from(*r)).sum::<f64>() * self.window as f64;
        let mean = |window: &[[f64; 2]]| {
            let sum = window.iter().fold([0.0; 2], |a, b| [a[0] + b[0], a[1] + b[1]]);
            sum.map(|v| v / weight)
        };
        self.centres = sums.windows(self.window).map(mean).collect();
    }

    /// Frames in a window.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Padded frames; windows are numbered by the padded frame they start at.
    pub fn len(&self) -> usize {
        self.owner.len()
    }

    /// Never: there is at least one clip.
    pub fn is_empty(&self) -> bool {
        self.owner.is_empty()
    }

    /// Windows that lie in one clip: as many as there are frames.
    pub fn windows(&self) -> usize {
        self.frames.iter().sum()
    }

    /// The clip and the frame a window is centred on; `None` for windows across two clips.
    #[inline]
    pub fn place(&self, window: usize) -> Option<(ClipIdx, FrameIdx)> {
        let clip = *self.owner.get(window)?;
        let frame = window - self.starts[clip as usize];
        (frame < self.frames[clip as usize]).then_some((ClipIdx(clip), FrameIdx(frame as u32)))
    }

    /// The window centred on a frame of a clip.
    pub fn window_at(&self, clip: ClipIdx, frame: FrameIdx) -> usize {
        self.starts[clip.at()] + frame.at()
    }

    /// Of a window that does not reach beyond the last frame.
    #[inline]
    pub(super) fn centre_of(&self, window: usize) -> [f64; 2] {
        self.centres[window]
    }

    #[inline]
    pub(super) fn owner(&self, frame: usize) -> u32 {
        self.owner[frame]
    }

    #[inline]
    pub(super) fn frame(&self, frame: usize) -> &[[f32; 3]] {
        &self.values[frame * self.points..][..self.points]
    }
}
