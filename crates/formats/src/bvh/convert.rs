use std::sync::Arc;

use glam::{DMat3, DQuat};
use kumite_motion::{Clip, FrameIdx, Joint, JointIdx, Pose, Quat, Skeleton, Vec3};

use super::{Axis, BvhFile, BvhJoint, Channel, ChannelKind, RotationOrder};
use crate::ConvertError;

/// Angles written from clips are rounded to this many steps in a degree: through a chain of ten joints that is worth
/// a hundredth of a millimetre at arm's length, and files stay half as long as with every digit.
const STEPS_PER_DEGREE: f64 = 1e4;

impl BvhFile {
    /// The motion as a clip, in the file's unit and axes.
    pub fn to_clip(&self, name: &str) -> Result<Clip, ConvertError> {
        let channels = self.channels();
        if self.values.is_empty() || channels == 0 {
            return Err(ConvertError::NoFrames);
        }
        if !self.values.len().is_multiple_of(channels) {
            return Err(ConvertError::WrongShape { values: self.values.len(), channels });
        }
        let skeleton = Arc::new(self.to_skeleton()?);
        let columns = Columns::of(&self.joints);
        let mut turns = HalfTurns { sines: vec![0.0; channels], cosines: vec![0.0; channels], reduced: Vec::new() };
        let fill = |frame: usize, pose: &mut Pose| {
            let row = &self.values[frame * channels..][..channels];
            turns.fill(row);
            for (rotation, (from, to)) in pose.rotations.iter_mut().zip(&columns.rotations) {
                *rotation = columns.axes[*from..*to].iter().fold(Quat::IDENTITY, |q, &(axis, column)| {
                    turned(q, axis, turns.sines[column], turns.cosines[column])
                });
            }
            for &(mover, axis, column) in &columns.positions {
                pose.translations[mover][axis as usize] = row[column];
            }
        };
        Ok(Clip::from_fn(name, skeleton, self.fps(), self.values.len() / channels, fill)?)
    }

    /// The joints alone; end sites become tips.
    pub fn to_skeleton(&self) -> Result<Skeleton, ConvertError> {
        let joint = |j: &BvhJoint| Joint {
            name: j.name.clone(),
            // Out of range becomes a parent that no joint has before it, which the skeleton refuses.
            parent: j.parent.map(|parent| JointIdx(u16::try_from(parent).unwrap_or(u16::MAX))),
            offset: j.offset,
            rest: Quat::IDENTITY,
            tip: j.end_sites.first().copied(),
            moves: j.channels.iter().any(|c| c.kind == ChannelKind::Position),
        };
        Ok(Skeleton::new(&self.joints.iter().map(joint).collect::<Vec<_>>())?)
    }

    /// The clip as a file, with every joint's rotations in one order.
    ///
    /// A BVH joint has no rotation at rest, so offsets are turned into the rest pose and rotations are relative to it:
    /// the joints are where they were, in the rest pose and in every frame. Angles are rounded to 0.0001 degrees and
    /// unwound from frame to frame, so that curves can be edited.
    pub fn from_clip(clip: &Clip, order: RotationOrder) -> BvhFile {
        BvhFile::from_clip_in(clip, &vec![order; clip.skeleton().len()])
    }

    /// The same with an order for each joint; those without one get the default.
    pub fn from_clip_in(clip: &Clip, orders: &[RotationOrder]) -> BvhFile {
        let order = |j: JointIdx| orders.get(j.at()).copied().unwrap_or_default();
        let skeleton = clip.skeleton();
        let rest = rest_in_world(skeleton);
        let above = |j: JointIdx| skeleton.parent(j).map_or(Quat::IDENTITY, |parent| rest[parent.at()]);
        let mut joints: Vec<BvhJoint> = skeleton
            .joints()
            .map(|j| BvhJoint {
                // Most readers end a name at a blank.
                name: skeleton.name(j).split_whitespace().collect::<Vec<_>>().join("_"),
                parent: skeleton.parent(j).map(JointIdx::at),
                offset: above(j) * skeleton.offset(j),
                channels: order(j).axes().map(Channel::rotation).to_vec(),
                end_sites: skeleton.tip(j).map(|tip| rest[j.at()] * tip).into_iter().collect(),
            })
            .collect();
        for mover in skeleton.movers() {
            joints[mover.at()].channels.splice(0..0, [Axis::X, Axis::Y, Axis::Z].map(Channel::position));
        }
        // A leaf without one stops most readers.
        let mut leaf = vec![true; joints.len()];
        joints.iter().filter_map(|j| j.parent).for_each(|parent| leaf[parent] = false);
        for (joint, _) in joints.iter_mut().zip(leaf).filter(|(joint, leaf)| *leaf && joint.end_sites.is_empty()) {
            joint.end_sites.push(Vec3::ZERO);
        }
        let mut values = Vec::with_capacity(clip.frames() * joints.iter().map(|j| j.channels.len()).sum::<usize>());
        let mut before = vec![[0.0; 3]; joints.len()];
        let mut pose = Pose::default();
        for frame in 0..clip.frames() {
            clip.pose(FrameIdx(frame as u32), &mut pose);
            let mut movers = skeleton.movers().iter().zip(&pose.translations).peekable();
            for (j, before) in skeleton.joints().zip(&mut before) {
                if let Some((_, place)) = movers.next_if(|(mover, _)| **mover == j) {
                    values.extend((above(j) * *place).to_array());
                }
                let local = above(j).as_dquat() * pose.rotation(j).as_dquat() * rest[j.at()].as_dquat().conjugate();
                *before = euler(local.normalize(), order(j), *before);
                values
                    .extend(before.map(|radians| {
                        (libm::rint(radians.to_degrees() * STEPS_PER_DEGREE) / STEPS_PER_DEGREE) as f32
                    }));
            }
        }
        let frame_time = 1.0 / f64::from(clip.fps());
        BvhFile { joints, declared_frames: clip.frames() as u64, frame_time, values }
    }
}

impl BvhFile {
    /// The order in which each joint's rotations are written; the default where there are not three of different axes.
    pub fn orders(&self) -> Vec<RotationOrder> {
        let of = |joint: &BvhJoint| {
            let turns = joint.channels.iter().filter(|c| c.kind == ChannelKind::Rotation).map(|c| c.axis);
            let axes: Vec<Axis> = turns.collect();
            RotationOrder::ALL.into_iter().find(|order| order.axes()[..] == axes[..]).unwrap_or_default()
        };
        self.joints.iter().map(of).collect()
    }
}

/// Which column drives what.
struct Columns {
    /// Per joint, its range of `axes`.
    rotations: Vec<(usize, usize)>,
    axes: Vec<(Axis, usize)>,
    /// Position among the moving joints, axis, column.
    positions: Vec<(usize, Axis, usize)>,
}

impl Columns {
    fn of(joints: &[BvhJoint]) -> Columns {
        let mut columns = Columns { rotations: Vec::new(), axes: Vec::new(), positions: Vec::new() };
        let (mut column, mut mover) = (0, 0);
        for (j, joint) in joints.iter().enumerate() {
            let from = columns.axes.len();
            for channel in &joint.channels {
                match channel.kind {
                    ChannelKind::Rotation => columns.axes.push((channel.axis, column)),
                    ChannelKind::Position => columns.positions.push((mover, channel.axis, column)),
                }
                column += 1;
            }
            columns.rotations.push((from, columns.axes.len()));
            // The root always moves; see `Skeleton::movers`.
            mover += usize::from(j == 0 || joint.channels.iter().any(|c| c.kind == ChannelKind::Position));
        }
        columns
    }
}

/// Sines and cosines of half of every angle of a row.
///
/// `libm` takes one at a time and would cost more than reading the text; here a plain loop over the row is compiled to
/// whatever width the target has, with the same bits for any.
struct HalfTurns {
    sines: Vec<f32>,
    cosines: Vec<f32>,
    reduced: Vec<f32>,
}

impl HalfTurns {
    fn fill(&mut self, degrees: &[f32]) {
        // Far beyond any capture; the quadrant below is only found in whole numbers that `f32` has.
        if degrees.iter().any(|d| d.abs() > 1e5) {
            self.reduced.clear();
            self.reduced.extend(degrees.iter().map(|d| d % 720.0));
            half_turns(&self.reduced, &mut self.sines, &mut self.cosines);
        } else {
            half_turns(degrees, &mut self.sines, &mut self.cosines);
        }
    }
}

fn half_turns(degrees: &[f32], sines: &mut [f32], cosines: &mut [f32]) {
    /// Added and taken away again, it leaves the nearest whole number, which is also in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    for ((degrees, sine), cosine) in degrees.iter().zip(sines).zip(cosines) {
        let sum = degrees * (1.0 / 180.0) + ROUND;
        let quadrant = sum.to_bits();
        // Half of what is left is within an eighth of a turn, where these Taylor series err by less than 1e-7.
        let x = (degrees - 180.0 * (sum - ROUND)) * (std::f32::consts::PI / 360.0);
        let xx = x * x;
        let s = x * (1.0 - xx * (1.0 / 6.0 - xx * (1.0 / 120.0 - xx * (1.0 / 5040.0 - xx * (1.0 / 362_880.0)))));
        let c = 1.0
            - xx * (0.5 - xx * (1.0 / 24.0 - xx * (1.0 / 720.0 - xx * (1.0 / 40_320.0 - xx * (1.0 / 3_628_800.0)))));
        let odd = quadrant & 1 != 0;
        let (s, c) = if odd { (c, s) } else { (s, c) };
        *sine = f32::from_bits(s.to_bits() ^ ((quadrant & 2) << 30));
        *cosine = f32::from_bits(c.to_bits() ^ ((quadrant.wrapping_add(1) & 2) << 30));
    }
}

/// `q` times a turn about one axis, given by sine and cosine of its half.
#[inline]
fn turned(q: Quat, axis: Axis, s: f32, c: f32) -> Quat {
    let (x, y, z, w) = (q.x, q.y, q.z, q.w);
    match axis {
        Axis::X => Quat::from_xyzw(x * c + w * s, y * c + z * s, z * c - y * s, w * c - x * s),
        Axis::Y => Quat::from_xyzw(x * c - z * s, y * c + w * s, z * c + x * s, w * c - y * s),
        Axis::Z => Quat::from_xyzw(x * c + y * s, y * c - x * s, z * c + w * s, w * c - z * s),
    }
}

fn rest_in_world(skeleton: &Skeleton) -> Vec<Quat> {
    let mut rest: Vec<Quat> = Vec::with_capacity(skeleton.len());
    for j in skeleton.joints() {
        let above = skeleton.parent(j).map_or(Quat::IDENTITY, |parent| rest[parent.at()]);
        rest.push((above * skeleton.rest(j)).normalize());
    }
    rest
}

/// The angles of `q` in the given order, radians, as near as they can be to those of the frame before.
fn euler(q: DQuat, order: RotationOrder, before: [f64; 3]) -> [f64; 3] {
    use std::f64::consts::{PI, TAU};
    let [a, b, c] = order.axes().map(|axis| axis as usize);
    // Whether a, b, c go round as x, y, z do.
    let sign = if (b + 3 - a) % 3 == 1 { 1.0 } else { -1.0 };
    let columns = DMat3::from_quat(q).to_cols_array_2d();
    let at = |row: usize, column: usize| columns[column][row];
    let cosine = libm::sqrt(at(a, a) * at(a, a) + at(a, b) * at(a, b));
    // Where the outer axes fall together only their sum is known: the first then stays as it was.
    let first = if cosine < 1e-6 { before[0] } else { libm::atan2(-sign * at(b, c), at(c, c)) };
    let second = libm::atan2(sign * at(a, c), cosine);
    // From what the first leaves, not from the matrix: near that place both are mostly noise, but this pair fits.
    let (s, c1) = libm::sincos(first);
    let left = |column: usize| c1 * at(b, column) + sign * s * at(c, column);
    let third = libm::atan2(sign * left(a), left(b));
    let near = |angles: [f64; 3]| {
        std::array::from_fn(|i| angles[i] - TAU * libm::rint((angles[i] - before[i]) / TAU)) as [f64; 3]
    };
    let far = |angles: &[f64; 3]| angles.iter().zip(&before).map(|(x, y)| (x - y).abs()).sum::<f64>();
    let (one, other) = (near([first, second, third]), near([first + PI, PI - second, third + PI]));
    if far(&other) < far(&one) { other } else { one }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_turns_are_those_of_libm() {
        let mut turns = HalfTurns { sines: vec![0.0; 1], cosines: vec![0.0; 1], reduced: Vec::new() };
        let mut worst = 0.0_f64;
        for step in -200_000..200_000 {
            let degrees = step as f32 * 0.013;
            turns.fill(&[degrees]);
            let (s, c) = libm::sincos(f64::from(degrees).to_radians() * 0.5);
            worst = worst.max((f64::from(turns.sines[0]) - s).abs()).max((f64::from(turns.cosines[0]) - c).abs());
        }
        assert!(worst < 1.5e-7, "{worst}");
        turns.fill(&[1.0e9 + 90.0]);
        let (s, _) = libm::sincos(f64::from(1.0e9_f32 + 90.0).to_radians() * 0.5);
        assert!((f64::from(turns.sines[0]) - s).abs() < 1e-6);
    }

    #[test]
    fn angles_come_back_in_every_order_even_where_the_outer_axes_meet() {
        use RotationOrder::{Xyz, Xzy, Yxz, Yzx, Zxy, Zyx};
        for order in [Xyz, Xzy, Yxz, Yzx, Zxy, Zyx] {
            for second in [-90.0, -89.9999, -45.0, 0.0, 30.0, 89.99, 90.0_f64] {
                for (first, third) in [(0.0, 0.0), (170.0, -100.0), (-20.0, 60.0)] {
                    let about = |axis: Axis, degrees: f64| match axis {
                        Axis::X => DQuat::from_rotation_x(degrees.to_radians()),
                        Axis::Y => DQuat::from_rotation_y(degrees.to_radians()),
                        Axis::Z => DQuat::from_rotation_z(degrees.to_radians()),
                    };
                    let compose = |angles: [f64; 3]| {
                        let [a, b, c] = order.axes();
                        about(a, angles[0]) * about(b, angles[1]) * about(c, angles[2])
                    };
                    let q = compose([first, second, third]).as_quat().as_dquat().normalize();
                    let back = compose(euler(q, order, [0.3, 0.2, 0.1]).map(f64::to_degrees));
                    let apart = (q.conjugate() * back).normalize();
                    let degrees = 2.0 * apart.xyz().length().to_degrees();
                    assert!(degrees < 1e-4, "{order:?} {first} {second} {third}: {degrees}");
                }
            }
        }
    }
}
