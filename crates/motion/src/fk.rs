//! Forward kinematics: where the joints are, for one pose and for a whole clip.

use crate::{Clip, FrameIdx, JointIdx, LANES, Pose, Quat, Skeleton, Vec3, WorldPose};

/// Places every joint of one pose in the world. `out` is reused; nothing is allocated once it has grown.
pub fn pose(skeleton: &Skeleton, pose: &Pose, out: &mut WorldPose) {
    let joints = skeleton.len();
    out.positions.resize(joints, Vec3::ZERO);
    out.rotations.resize(joints, Quat::IDENTITY);
    let (parents, offsets) = (&skeleton.parents()[..joints], &skeleton.offsets()[..joints]);
    let (positions, rotations) = (&mut out.positions[..joints], &mut out.rotations[..joints]);
    let locals = &pose.rotations[..joints];
    positions[0] = pose.translations[0];
    rotations[0] = locals[0];
    if let [_, movers @ ..] = skeleton.movers()
        && !movers.is_empty()
    {
        return pose_with_movers(skeleton, pose, out);
    }
    for joint in 1..joints {
        let parent = parents[joint].at();
        let turn = rotations[parent];
        positions[joint] = positions[parent] + turn * offsets[joint];
        rotations[joint] = turn * locals[joint];
    }
}

/// [`pose()`] for some joints, parents before children, of a skeleton whose root alone moves; the others of `out` stay as they are.
pub fn joints(skeleton: &Skeleton, pose: &Pose, joints: impl Iterator<Item = JointIdx>, out: &mut WorldPose) {
    for joint in joints {
        let (at, local) = (joint.at(), pose.rotations[joint.at()]);
        (out.positions[at], out.rotations[at]) = match skeleton.parent(joint) {
            Some(parent) => {
                let turn = out.rotations[parent.at()];
                (out.positions[parent.at()] + turn * skeleton.offset(joint), turn * local)
            }
            None => (pose.translations[0], local),
        };
    }
}

fn pose_with_movers(skeleton: &Skeleton, pose: &Pose, out: &mut WorldPose) {
    let mut movers = skeleton.movers()[1..].iter().zip(&pose.translations[1..]).peekable();
    for joint in 1..skeleton.len() {
        let parent = skeleton.parents()[joint].at();
        let offset = match movers.next_if(|(mover, _)| mover.at() == joint) {
            Some((_, translation)) => *translation,
            None => skeleton.offsets()[joint],
        };
        let turn = out.rotations[parent];
        out.positions[joint] = out.positions[parent] + turn * offset;
        out.rotations[joint] = turn * pose.rotations[joint];
    }
}

/// World positions of all joints in all frames of a clip, in blocks of [`LANES`] frames as in [`Clip`]:
/// per block and joint a row of x, one of y and one of z.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tracks {
    joints: usize,
    frames: usize,
    rows: Vec<[f32; LANES]>,
    /// World rotations of the block in work, four rows per joint.
    scratch: Vec<[f32; LANES]>,
}

impl Tracks {
    /// Of a new clip.
    pub fn of(clip: &Clip) -> Tracks {
        let mut tracks = Tracks::default();
        tracks.fill(clip);
        tracks
    }

    /// Number of joints.
    pub fn joints(&self) -> usize {
        self.joints
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.frames
    }

    /// Where a joint is in a frame.
    #[inline]
    pub fn get(&self, frame: FrameIdx, joint: JointIdx) -> Vec3 {
        let rows = &self.rows[(frame.at() / LANES * self.joints + joint.at()) * 3..][..3];
        let lane = frame.at() % LANES;
        Vec3::new(rows[0][lane], rows[1][lane], rows[2][lane])
    }

    /// Three rows per joint of one block of frames.
    #[inline]
    pub fn block(&self, block: usize) -> &[[f32; LANES]] {
        &self.rows[block * self.joints * 3..][..self.joints * 3]
    }

    /// Recomputes everything, reusing memory. The widest instructions of the machine are used; the bits do not depend on them.
    pub fn fill(&mut self, clip: &Clip) {
        self.make_room(clip);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "the feature was detected on the line above")]
            // SAFETY: fill_avx2 needs AVX2 and nothing else.
            unsafe {
                fill_avx2(clip, &mut self.rows, &mut self.scratch);
            }
            return;
        }
        fill_blocks(clip, &mut self.rows, &mut self.scratch);
    }

    /// As [`Tracks::fill`], with the instructions every machine has. For tests and benches of the other.
    pub fn fill_plain(&mut self, clip: &Clip) {
        self.make_room(clip);
        fill_blocks(clip, &mut self.rows, &mut self.scratch);
    }

    fn make_room(&mut self, clip: &Clip) {
        self.joints = clip.skeleton().len();
        self.frames = clip.frames();
        self.rows.resize(clip.blocks() * self.joints * 3, [0.0; LANES]);
        self.scratch.resize(self.joints * 4, [0.0; LANES]);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn fill_avx2(clip: &Clip, out: &mut [[f32; LANES]], scratch: &mut [[f32; LANES]]) {
    fill_blocks(clip, out, scratch);
}

type Row = [f32; LANES];

#[inline(always)]
fn fill_blocks(clip: &Clip, out: &mut [Row], scratch: &mut [Row]) {
    let skeleton = clip.skeleton();
    let joints = skeleton.len();
    let (parents, offsets) = (&skeleton.parents()[..joints], &skeleton.offsets()[..joints]);
    let (turns, _) = scratch.as_chunks_mut::<4>();
    for (block, positions) in out.chunks_exact_mut(joints * 3).enumerate() {
        let (locals, moved) = clip.block(block).split_at(joints * 4);
        let ((places, _), (locals, _), (moved, _)) =
            (positions.as_chunks_mut::<3>(), locals.as_chunks::<4>(), moved.as_chunks::<3>());
        let mut movers = skeleton.movers()[1..].iter().zip(&moved[1..]).peekable();
        places[0] = moved[0];
        turns[0] = locals[0];
        for joint in 1..joints {
            let parent = parents[joint].at();
            let offset: [Row; 3] = match movers.next_if(|(mover, _)| mover.at() == joint) {
                Some((_, rows)) => *rows,
                None => offsets[joint].to_array().map(|v| [v; LANES]),
            };
            (places[joint], turns[joint]) = place(&places[parent], &turns[parent], &offset, &locals[joint]);
        }
    }
}

/// One joint in all lanes: its place and rotation in the world from its parent's.
#[inline(always)]
fn place(at: &[Row; 3], above: &[Row; 4], offset: &[Row; 3], local: &[Row; 4]) -> ([Row; 3], [Row; 4]) {
    let (mut place, mut turn) = ([[0.0; LANES]; 3], [[0.0; LANES]; 4]);
    for k in 0..LANES {
        let (x, y, z, w) = (above[0][k], above[1][k], above[2][k], above[3][k]);
        let (ox, oy, oz) = (offset[0][k], offset[1][k], offset[2][k]);
        // q * v * q⁻¹ as v + 2 w (u × v) + 2 u × (u × v).
        let (tx, ty, tz) = (2.0 * (y * oz - z * oy), 2.0 * (z * ox - x * oz), 2.0 * (x * oy - y * ox));
        place[0][k] = at[0][k] + ox + w * tx + (y * tz - z * ty);
        place[1][k] = at[1][k] + oy + w * ty + (z * tx - x * tz);
        place[2][k] = at[2][k] + oz + w * tz + (x * ty - y * tx);
        let (lx, ly, lz, lw) = (local[0][k], local[1][k], local[2][k], local[3][k]);
        turn[0][k] = w * lx + x * lw + (y * lz - z * ly);
        turn[1][k] = w * ly + y * lw + (z * lx - x * lz);
        turn[2][k] = w * lz + z * lw + (x * ly - y * lx);
        turn[3][k] = w * lw - x * lx - (y * ly + z * lz);
    }
    (place, turn)
}
