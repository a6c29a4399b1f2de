//! What analysis looks at: positions, velocities and accelerations of the joints, and which way the body faces.

use kumite_motion::anatomy::{Anatomy, facing};
use kumite_motion::rotation::{wrap, yaw_of};
use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Role, Roles, Vec3, WorldPose, fk};

/// Velocities are differences over twice this time, accelerations come from three moments this far apart, seconds: captures of 30 frames per second
/// hold no more detail, and those of 120 are then no noisier.
const APART: f32 = 1.0 / 30.0;
/// Squared accelerations are averaged over this time, seconds: the moment within a strike at which its acceleration changes sign is not rest.
const ENERGY_OVER: f32 = 0.15;
/// The facing is averaged over this time, seconds: a brief twist is not a turn of the body.
const FACING_OVER: f32 = 0.5;

/// Number of joints of the canonical body.
const JOINTS: usize = Role::ALL.len();

/// A clip of the canonical body as signals over time.
#[derive(Clone, Debug)]
pub struct Signals {
    /// Frames per second.
    pub fps: f32,
    /// By frame and role, metres.
    positions: Vec<[Vec3; JOINTS]>,
    /// By frame: radians about +Y, smoothed, never wrapped.
    facing: Vec<f32>,
    /// By frame: root mean square of the joints' accelerations, metres per second squared.
    effort: Vec<f32>,
    /// By frame: root mean square of the joints' speeds, metres per second.
    speed: Vec<f32>,
    /// By frame: what is planted.
    planted: Vec<Contacts>,
    /// Hip to ankle, metres.
    pub leg: f32,
    /// Shoulder to wrist, metres.
    pub arm: f32,
    /// Height of the floor, metres.
    pub floor: f32,
    apart: usize,
}

impl Signals {
    /// Of a clip of the canonical body in metres. Contacts that the clip lacks are detected.
    pub fn of(clip: &Clip) -> Signals {
        let roles = Roles::canonical();
        let anatomy = Anatomy::of_canonical(clip.skeleton());
        let planted = if clip.contacts.len() == clip.frames() {
            clip.contacts.clone()
        } else {
            crate::contacts::detect(clip, &roles, &anatomy)
        };
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        let (mut positions, mut yaws) = (Vec::with_capacity(clip.frames()), Vec::with_capacity(clip.frames()));
        for frame in 0..clip.frames() as u32 {
            clip.pose(FrameIdx(frame), &mut pose);
            fk::pose(clip.skeleton(), &pose, &mut world);
            positions.push(Role::ALL.map(|r| world.position(r.joint())));
            let ahead = facing(&anatomy, &roles, &world).unwrap_or(Vec3::Z);
            let yaw = yaw_of(ahead);
            yaws.push(yaws.last().map_or(yaw, |before: &f32| before + wrap(yaw - before)));
        }
        let bone = |a: Role, b: Role| positions[0][a.joint().at()].distance(positions[0][b.joint().at()]);
        let arm = bone(Role::LeftShoulder, Role::LeftElbow) + bone(Role::LeftElbow, Role::LeftWrist);
        let fps = clip.fps();
        let mut signals = Signals {
            fps,
            positions,
            facing: smoothed(&yaws, frames(FACING_OVER, fps)),
            effort: Vec::new(),
            speed: Vec::new(),
            planted,
            leg: anatomy.leg,
            arm,
            floor: anatomy.floor,
            apart: frames(APART, fps),
        };
        let squares: Vec<f32> = (0..signals.frames())
            .map(|f| Role::ALL.iter().map(|&r| signals.acceleration(f, r).length_squared()).sum::<f32>())
            .collect();
        let root = |squares: &[f32]| -> Vec<f32> {
            smoothed(squares, frames(ENERGY_OVER, fps)).iter().map(|s| libm::sqrtf(s / JOINTS as f32)).collect()
        };
        signals.effort = root(&squares);
        let squares: Vec<f32> = (0..signals.frames())
            .map(|f| Role::ALL.iter().map(|&r| signals.velocity(f, r).length_squared()).sum::<f32>())
            .collect();
        signals.speed = root(&squares);
        signals
    }

    /// Number of frames.
    pub fn frames(&self) -> usize {
        self.positions.len()
    }

    /// The time of a frame, seconds.
    pub fn time(&self, frame: usize) -> f32 {
        frame as f32 / self.fps
    }

    /// The frame at a time.
    pub fn frame(&self, seconds: f32) -> usize {
        (libm::roundf(seconds * self.fps).max(0.0) as usize).min(self.frames().saturating_sub(1))
    }

    /// A duration in frames, at least one.
    pub fn frames_in(&self, seconds: f32) -> usize {
        frames(seconds, self.fps)
    }

    /// Where a joint is.
    pub fn at(&self, frame: usize, role: Role) -> Vec3 {
        self.positions[frame.min(self.frames() - 1)][role.joint().at()]
    }

    /// Velocity of a joint, metres per second.
    pub fn velocity(&self, frame: usize, role: Role) -> Vec3 {
        let (a, b) = (frame.saturating_sub(self.apart), (frame + self.apart).min(self.frames() - 1));
        (self.at(b, role) - self.at(a, role)) * (self.fps / (b - a).max(1) as f32)
    }

    /// Velocity relative to the pelvis: without where the whole body goes, metres per second.
    pub fn own_velocity(&self, frame: usize, role: Role) -> Vec3 {
        self.velocity(frame, role) - self.velocity(frame, Role::Pelvis)
    }

    /// Acceleration of a joint, metres per second squared; zero at the clip's ends, where it cannot be measured.
    pub fn acceleration(&self, frame: usize, role: Role) -> Vec3 {
        if frame < self.apart || frame + self.apart >= self.frames() {
            return Vec3::ZERO;
        }
        let step = self.apart as f32 / self.fps;
        (self.at(frame + self.apart, role) - self.at(frame, role) * 2.0 + self.at(frame - self.apart, role))
            / (step * step)
    }

    /// Which way the body faces, radians about +Y.
    pub fn facing(&self, frame: usize) -> f32 {
        self.facing[frame.min(self.frames() - 1)]
    }

    /// Root mean square of all joints' accelerations around a frame, metres per second squared: Shum, Komura and Yamazaki's sum of
    /// squares, in a readable unit.
    pub fn effort(&self, frame: usize) -> f32 {
        self.effort[frame.min(self.frames() - 1)]
    }

    /// Root mean square of all joints' speeds around a frame, metres per second.
    pub fn speed(&self, frame: usize) -> f32 {
        self.speed[frame.min(self.frames() - 1)]
    }

    /// What is planted.
    pub fn planted(&self, frame: usize) -> Contacts {
        self.planted.get(frame).copied().unwrap_or_default()
    }

    /// Whether both feet are planted.
    pub fn both_stand(&self, frame: usize) -> bool {
        let planted = self.planted(frame);
        planted.any(Contacts::LEFT) && planted.any(Contacts::RIGHT)
    }

    /// A direction in the frame of a body that faces `yaw`: x to the left, y up, z ahead.
    pub fn in_body_frame(direction: Vec3, yaw: f32) -> Vec3 {
        let (sine, cosine) = libm::sincosf(yaw);
        Vec3::new(cosine * direction.x - sine * direction.z, direction.y, sine * direction.x + cosine * direction.z)
    }

    /// Distance of two poses, their places on the floor and headings taken off: root mean square over the joints, metres.
    pub fn pose_distance(&self, a: usize, b: usize) -> f32 {
        let local = |frame: usize, role: Role| {
            let at = self.at(frame, role) - self.at(frame, Role::Pelvis);
            let seen = Signals::in_body_frame(at, self.facing(frame));
            Vec3::new(seen.x, self.at(frame, role).y, seen.z)
        };
        let sum: f32 = Role::ALL.iter().map(|&r| (local(a, r) - local(b, r)).length_squared()).sum();
        libm::sqrtf(sum / JOINTS as f32)
    }
}

fn frames(seconds: f32, fps: f32) -> usize {
    (libm::roundf(seconds * fps) as usize).max(1)
}

/// Moving average over about `width` frames, fewer at the ends.
fn smoothed(values: &[f32], width: usize) -> Vec<f32> {
    let mut sums = vec![0.0f64];
    for value in values {
        sums.push(sums[sums.len() - 1] + f64::from(*value));
    }
    let half = width / 2;
    (0..values.len())
        .map(|f| {
            let (a, b) = (f.saturating_sub(half), (f + half + 1).min(values.len()));
            ((sums[b] - sums[a]) / (b - a) as f64) as f32
        })
        .collect()
}
