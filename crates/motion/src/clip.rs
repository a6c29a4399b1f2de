use std::sync::Arc;

use crate::{Contacts, FrameIdx, JointIdx, Pose, Quat, Skeleton, Span, Vec3};

/// Frames stored side by side, so that one AVX register holds one component of all of them.
pub const LANES: usize = 8;

/// Frames of one motion on one skeleton, evenly spaced in time.
///
/// Laid out as blocks of [`LANES`] frames; within a block every number of a pose is a row of `LANES` floats:
/// x, y, z, w of each joint's rotation, then x, y, z of each moving joint. Whole-clip work then runs at
/// register width without shuffles, and neighbouring frames, which sampling needs together, share cache lines.
///
/// Invariants: at least one frame; positive finite rate; all numbers finite; rotations of unit length; the last
/// block is filled up with copies of the last frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Clip {
    /// For people; usually the file's name without its ending.
    pub name: String,
    skeleton: Arc<Skeleton>,
    fps: f32,
    frames: usize,
    rows: Vec<[f32; LANES]>,
    /// Which parts of the feet are planted, one per frame; empty where contacts have not been detected.
    pub contacts: Vec<Contacts>,
    /// Labelled intervals, by start.
    pub spans: Vec<Span>,
}

/// Why poses do not make a clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ClipError {
    /// There are none.
    #[error("a clip needs at least one frame")]
    NoFrames,
    /// Frames per second that are not a positive number.
    #[error("{fps} frames per second; a positive number is needed")]
    BadRate {
        /// What was given.
        fps: f32,
    },
    /// A pose of another skeleton.
    #[error("frame {frame} is not a pose of this skeleton")]
    WrongShape {
        /// Which frame.
        frame: usize,
    },
    /// A number that is not finite, or a rotation of length zero.
    #[error("frame {frame} holds a number that is not finite")]
    NotFinite {
        /// Which frame.
        frame: usize,
    },
    /// More frames than any motion has.
    #[error("{frames:.0} frames are more than any motion has; is a rate wrong?")]
    TooLong {
        /// How many it would be.
        frames: f64,
    },
}

impl Clip {
    /// Checks poses and lays them out. Rotations are normalised and put on the same side of the
    /// quaternion sphere as in the frame before, so that neighbours can be blended component by component.
    pub fn new(name: &str, skeleton: Arc<Skeleton>, fps: f32, poses: &[Pose]) -> Result<Clip, ClipError> {
        Clip::from_fn(name, skeleton, fps, poses.len(), |frame, pose| pose.clone_from(&poses[frame]))
    }

    /// As [`Clip::new`], from a function that fills in the pose of each frame.
    pub fn from_fn(
        name: &str,
        skeleton: Arc<Skeleton>,
        fps: f32,
        frames: usize,
        mut fill: impl FnMut(usize, &mut Pose),
    ) -> Result<Clip, ClipError> {
        if frames == 0 {
            return Err(ClipError::NoFrames);
        }
        if !(fps.is_finite() && fps > 0.0) {
            return Err(ClipError::BadRate { fps });
        }
        let (joints, movers) = (skeleton.len(), skeleton.movers().len());
        let blocks = frames.div_ceil(LANES);
        let stride = 4 * joints + 3 * movers;
        let mut clip = Clip {
            name: name.to_owned(),
            skeleton,
            fps,
            frames,
            rows: vec![[0.0; LANES]; blocks * stride],
            contacts: Vec::new(),
            spans: Vec::new(),
        };
        let mut pose = Pose::rest(&clip.skeleton);
        let mut before = pose.rotations.clone();
        for frame in 0..blocks * LANES {
            if frame < frames {
                fill(frame, &mut pose);
                if pose.rotations.len() != joints || pose.translations.len() != movers {
                    return Err(ClipError::WrongShape { frame });
                }
                for (q, last) in pose.rotations.iter_mut().zip(&mut before) {
                    // What is of unit length already keeps its bits: mirroring twice must change none.
                    if (q.length_squared() - 1.0).abs() > 1e-6 {
                        *q = q.normalize();
                    }
                    if q.dot(*last) < 0.0 {
                        *q = -*q;
                    }
                    *last = *q;
                }
                if !pose.is_finite() {
                    return Err(ClipError::NotFinite { frame });
                }
            }
            clip.store(frame, &pose);
        }
        Ok(clip)
    }

    fn store(&mut self, frame: usize, pose: &Pose) {
        let (stride, lane) = (self.rows_per_block(), frame % LANES);
        let block = &mut self.rows[frame / LANES * stride..][..stride];
        let (rotations, translations) = block.split_at_mut(4 * pose.rotations.len());
        for (rows, q) in rotations.chunks_exact_mut(4).zip(&pose.rotations) {
            for (row, v) in rows.iter_mut().zip(q.to_array()) {
                row[lane] = v;
            }
        }
        for (rows, t) in translations.chunks_exact_mut(3).zip(&pose.translations) {
            for (row, v) in rows.iter_mut().zip(t.to_array()) {
                row[lane] = v;
            }
        }
    }

    /// From rows as [`Clip::rows`] gives them: checked, not converted.
    pub fn from_rows(
        name: &str,
        skeleton: Arc<Skeleton>,
        fps: f32,
        frames: usize,
        rows: Vec<[f32; LANES]>,
    ) -> Result<Clip, ClipError> {
        let clip = Clip { name: name.to_owned(), skeleton, fps, frames, rows, contacts: Vec::new(), spans: Vec::new() };
        if frames == 0 {
            return Err(ClipError::NoFrames);
        }
        if !(fps.is_finite() && fps > 0.0) {
            return Err(ClipError::BadRate { fps });
        }
        let stride = clip.rows_per_block();
        if clip.rows.len() != clip.blocks() * stride {
            return Err(ClipError::WrongShape { frame: 0 });
        }
        for (block, rows) in clip.rows.chunks_exact(stride).enumerate() {
            let (rotations, translations) = rows.split_at(4 * clip.skeleton.len());
            let mut fine = [true; LANES];
            for q in rotations.as_chunks::<4>().0 {
                for (lane, fine) in fine.iter_mut().enumerate() {
                    let square = q.iter().map(|row| row[lane] * row[lane]).sum::<f32>();
                    // Not a number fails the comparison too.
                    *fine &= (square - 1.0).abs() < 1e-4;
                }
            }
            for row in translations {
                for (lane, fine) in fine.iter_mut().enumerate() {
                    *fine &= row[lane].is_finite();
                }
            }
            if let Some(lane) = fine.iter().position(|f| !f) {
                return Err(ClipError::NotFinite { frame: block * LANES + lane });
            }
        }
        Ok(clip)
    }

    /// All rows of all blocks, as they are stored. See the type's layout.
    pub fn rows(&self) -> &[[f32; LANES]] {
        &self.rows
    }

    /// The joints it moves.
    #[inline]
    pub fn skeleton(&self) -> &Arc<Skeleton> {
        &self.skeleton
    }

    /// Frames per second.
    #[inline]
    pub fn fps(&self) -> f32 {
        self.fps
    }

    /// Number of frames, at least 1.
    #[inline]
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// From the first frame to the last, seconds. A clip of one frame lasts no time.
    #[inline]
    pub fn seconds(&self) -> f32 {
        (self.frames - 1) as f32 / self.fps
    }

    /// Number of blocks of [`LANES`] frames.
    #[inline]
    pub fn blocks(&self) -> usize {
        self.frames.div_ceil(LANES)
    }

    /// Rows in one block: four per joint, three per moving joint.
    #[inline]
    pub fn rows_per_block(&self) -> usize {
        4 * self.skeleton.len() + 3 * self.skeleton.movers().len()
    }

    /// One block's rows. See the type's layout.
    #[inline]
    pub fn block(&self, block: usize) -> &[[f32; LANES]] {
        let stride = self.rows_per_block();
        &self.rows[block * stride..][..stride]
    }

    /// Local rotation of one joint in one frame.
    #[inline]
    pub fn rotation(&self, frame: FrameIdx, joint: JointIdx) -> Quat {
        let (block, lane) = (self.block(frame.at() / LANES), frame.at() % LANES);
        let rows = &block[4 * joint.at()..][..4];
        Quat::from_xyzw(rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane])
    }

    /// Where the root is in one frame.
    #[inline]
    pub fn root(&self, frame: FrameIdx) -> Vec3 {
        self.translation(frame, 0)
    }

    /// Translation in one frame of the joint that is `mover`-th in [`Skeleton::movers`].
    #[inline]
    pub fn translation(&self, frame: FrameIdx, mover: usize) -> Vec3 {
        let (block, lane) = (self.block(frame.at() / LANES), frame.at() % LANES);
        let rows = &block[4 * self.skeleton.len() + 3 * mover..][..3];
        Vec3::new(rows[0][lane], rows[1][lane], rows[2][lane])
    }

    /// One frame, into a pose that is reused.
    pub fn pose(&self, frame: FrameIdx, out: &mut Pose) {
        let (block, lane) = (self.block(frame.at() / LANES), frame.at() % LANES);
        let (rotations, translations) = block.split_at(4 * self.skeleton.len());
        out.rotations.clear();
        out.rotations
            .extend(rotations.chunks_exact(4).map(|r| Quat::from_xyzw(r[0][lane], r[1][lane], r[2][lane], r[3][lane])));
        out.translations.clear();
        out.translations.extend(translations.chunks_exact(3).map(|r| Vec3::new(r[0][lane], r[1][lane], r[2][lane])));
    }

    /// All frames, for offline work that wants them side by side.
    pub fn poses(&self) -> Vec<Pose> {
        (0..self.frames as u32)
            .map(|frame| {
                let mut pose = Pose::default();
                self.pose(FrameIdx(frame), &mut pose);
                pose
            })
            .collect()
    }

    /// The same frames at another rate: the remedy for a file whose header gives a wrong rate. Contacts and spans keep their frames.
    pub fn with_fps(mut self, fps: f32) -> Result<Clip, ClipError> {
        if !(fps.is_finite() && fps > 0.0) {
            return Err(ClipError::BadRate { fps });
        }
        let stretch = self.fps / fps;
        self.fps = fps;
        for span in &mut self.spans {
            span.scale_time(stretch);
        }
        Ok(self)
    }

    /// Frames `range` only, with the contacts and the spans that lie wholly inside.
    pub fn trimmed(&self, range: std::ops::Range<usize>) -> Result<Clip, ClipError> {
        let range = range.start.min(self.frames)..range.end.min(self.frames);
        let mut clip = Clip::from_fn(&self.name, Arc::clone(&self.skeleton), self.fps, range.len(), |frame, pose| {
            self.pose(FrameIdx((range.start + frame) as u32), pose);
        })?;
        clip.contacts = self.contacts.get(range.clone()).unwrap_or_default().to_vec();
        let (from, to) = (range.start as f32 / self.fps, (range.end - 1) as f32 / self.fps);
        clip.spans = self.spans.iter().filter(|s| s.from >= from && s.to <= to).cloned().collect();
        clip.spans.iter_mut().for_each(|s| s.shift_time(-from));
        Ok(clip)
    }
}
