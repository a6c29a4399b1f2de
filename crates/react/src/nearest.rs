//! The frame of a library that is nearest to a pose and how it moves: exact, and fast enough for every blow.
//!
//! A frame is 32 numbers, seen from the ground below the pelvis and turned with it: where head, hands and feet are and how high the pelvis is, and
//! how fast pelvis, hands and feet move. Blocks of frames that follow each other lie in small boxes: whole boxes are farther than what was
//! found already, and are left out (Holden, *Learned Motion Matching* code, 2020, searches so too).

use kumite_motion::rotation::{yaw, yaw_of};
use kumite_motion::{Quat, Role, Vec3, WorldPose};

/// Numbers of a frame.
pub const WIDTH: usize = 32;
/// Frames of a box, and boxes of a larger one.
const BOX: usize = 16;
const BOXES: usize = 8;
/// Seconds: by how much speeds count beside places, in metres per metre per second. A join takes about as long to take over a speed.
const SPEED: f32 = 0.15;

const PLACES: [Role; 5] = [Role::Head, Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle];
const SPEEDS: [Role; 5] = [Role::Pelvis, Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle];

/// A frame as numbers.
pub type Features = [f32; WIDTH];

/// Of a body now and `seconds` before.
pub fn features(now: &WorldPose, before: &WorldPose, seconds: f32) -> Features {
    let mut out = [0.0; WIDTH];
    let pelvis = now.position(Role::Pelvis.joint());
    let ahead = now.rotation(Role::Pelvis.joint()) * Vec3::Z;
    // A body that lies is turned by its spine: what its pelvis faces is the sky.
    let spine = now.rotation(Role::Pelvis.joint()) * Vec3::Y;
    let facing = if ahead.y.abs() < 0.8 { yaw_of(ahead) } else { yaw_of(spine * -ahead.y.signum()) };
    let turn: Quat = yaw(-facing);
    let ground = Vec3::new(pelvis.x, 0.0, pelvis.z);
    let mut put = |at: usize, v: Vec3| out[at..at + 3].copy_from_slice(&v.to_array());
    for (k, role) in PLACES.into_iter().enumerate() {
        put(3 * k, turn * (now.position(role.joint()) - ground));
    }
    for (k, role) in SPEEDS.into_iter().enumerate() {
        let speed = (now.position(role.joint()) - before.position(role.joint())) / seconds.max(1e-4);
        put(15 + 3 * k, turn * speed * SPEED);
    }
    out[30] = pelvis.y;
    out[31] = spine.y;
    out
}

/// The numbers of many frames.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Nearest {
    frames: Vec<Features>,
    /// Least and greatest of each number in a box, and in a box of boxes.
    boxes: Vec<[Features; 2]>,
    outer: Vec<[Features; 2]>,
}

/// The sum of squares of differences.
#[inline]
fn apart(a: &Features, b: &Features) -> f32 {
    let mut sums = [0.0f32; 8];
    for k in 0..WIDTH / 8 {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let d = a[8 * k + lane] - b[8 * k + lane];
            *sum += d * d;
        }
    }
    sums.iter().sum()
}

/// The same to the nearest point of a box.
#[inline]
fn outside([low, high]: &[Features; 2], at: &Features) -> f32 {
    let mut sums = [0.0f32; 8];
    for k in 0..WIDTH / 8 {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let i = 8 * k + lane;
            let d = (low[i] - at[i]).max(at[i] - high[i]).max(0.0);
            *sum += d * d;
        }
    }
    sums.iter().sum()
}

impl Nearest {
    /// Of frames, best in the order they are played.
    pub fn new(frames: Vec<Features>) -> Nearest {
        let hull = |all: &mut dyn Iterator<Item = [Features; 2]>| {
            let mut hull = [[f32::INFINITY; WIDTH], [f32::NEG_INFINITY; WIDTH]];
            for [low, high] in all {
                for k in 0..WIDTH {
                    hull[0][k] = hull[0][k].min(low[k]);
                    hull[1][k] = hull[1][k].max(high[k]);
                }
            }
            hull
        };
        let boxes: Vec<[Features; 2]> =
            frames.chunks(BOX).map(|some| hull(&mut some.iter().map(|frame| [*frame, *frame]))).collect();
        let outer = boxes.chunks(BOXES).map(|some| hull(&mut some.iter().copied())).collect();
        Nearest { frames, boxes, outer }
    }

    /// How many frames there are.
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The nearest frame, and how far it is: the root of the sum of squares. The first of those that are equally near.
    pub fn find(&self, wanted: &Features) -> Option<(usize, f32)> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            #[expect(unsafe_code, reason = "the feature was detected on the line above")]
            // SAFETY: find_avx2 needs AVX2 and nothing else.
            return unsafe { self.find_avx2(wanted) };
        }
        self.find_plain(wanted)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn find_avx2(&self, wanted: &Features) -> Option<(usize, f32)> {
        self.search(wanted)
    }

    /// As [`Nearest::find`], with the instructions every machine has: same bits.
    pub fn find_plain(&self, wanted: &Features) -> Option<(usize, f32)> {
        self.search(wanted)
    }

    #[inline(always)]
    fn search(&self, wanted: &Features) -> Option<(usize, f32)> {
        // Where the nearest outer box is, a good frame is found first: then most others are left out.
        let mut first = (0, f32::INFINITY);
        let mut bounds = Vec::with_capacity(self.outer.len());
        for (k, hull) in self.outer.iter().enumerate() {
            let bound = outside(hull, wanted);
            bounds.push(bound);
            if bound < first.1 {
                first = (k, bound);
            }
        }
        let mut best = (usize::MAX, f32::INFINITY);
        self.look_into(first.0, wanted, &mut best);
        for (k, bound) in bounds.into_iter().enumerate() {
            if k != first.0 && bound <= best.1 {
                self.look_into(k, wanted, &mut best);
            }
        }
        (best.0 != usize::MAX).then(|| (best.0, best.1.sqrt()))
    }

    #[inline(always)]
    fn look_into(&self, outer: usize, wanted: &Features, best: &mut (usize, f32)) {
        let from = outer * BOXES;
        for (k, hull) in self.boxes.iter().enumerate().skip(from).take(BOXES) {
            if outside(hull, wanted) > best.1 {
                continue;
            }
            for (frame, features) in self.frames.iter().enumerate().skip(k * BOX).take(BOX) {
                let distance = apart(features, wanted);
                if distance < best.1 || (distance == best.1 && frame < best.0) {
                    *best = (frame, distance);
                }
            }
        }
    }

    /// Every frame looked at: what the other is compared with.
    pub fn find_slowly(&self, wanted: &Features) -> Option<(usize, f32)> {
        let mut best = (usize::MAX, f32::INFINITY);
        for (frame, features) in self.frames.iter().enumerate() {
            let distance = apart(features, wanted);
            if distance < best.1 {
                best = (frame, distance);
            }
        }
        (best.0 != usize::MAX).then(|| (best.0, best.1.sqrt()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::Chance;

    fn walk(frames: usize, seed: u64) -> Vec<Features> {
        let mut chance = Chance::new(seed);
        let mut at = [0.0f32; WIDTH];
        (0..frames)
            .map(|frame| {
                let jump = if frame % 200 == 0 { 2.0 } else { 0.05 };
                at.iter_mut().for_each(|v| *v += jump * (chance.unit() - 0.5));
                at
            })
            .collect()
    }

    #[test]
    fn what_is_found_is_the_nearest() {
        let nearest = Nearest::new(walk(5_003, 7));
        let mut chance = Chance::new(9);
        for k in 0..300 {
            let mut wanted = nearest.frames[chance.below(5_003) as usize];
            let noise = [0.0, 0.1, 1.0, 5.0][k % 4];
            wanted.iter_mut().for_each(|v| *v += noise * (chance.unit() - 0.5));
            assert_eq!(nearest.find(&wanted), nearest.find_slowly(&wanted));
            assert_eq!(nearest.find(&wanted), nearest.find_plain(&wanted));
        }
        assert_eq!(Nearest::default().find(&[0.0; WIDTH]), None);
    }
}
