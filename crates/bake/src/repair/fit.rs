//! How two poses can be laid over each other: on a foot that stands in both, or anywhere for lying bodies.

use kumite_motion::align::{Planar, best_planar};
use kumite_motion::anatomy::Anatomy;
use kumite_motion::rotation::{wrap, yaw_of};
use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Role, Roles, Vec2, Vec3, WorldPose, fk};

/// One pose as bridging sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stance {
    /// By role, metres, in the clip's place.
    pub joints: [Vec3; Role::ALL.len()],
    pub planted: Contacts,
}

pub(super) const FEET: [(Role, Role, Contacts); 2] =
    [(Role::LeftAnkle, Role::LeftToe, Contacts::LEFT), (Role::RightAnkle, Role::RightToe, Contacts::RIGHT)];

impl Stance {
    pub(super) fn at(&self, role: Role) -> Vec3 {
        self.joints[role.joint().at()]
    }

    /// Which way a foot points.
    pub(super) fn foot_yaw(&self, foot: usize) -> f32 {
        yaw_of(self.at(FEET[foot].1) - self.at(FEET[foot].0))
    }

    /// Which way the hips point.
    pub(super) fn body_yaw(&self) -> f32 {
        yaw_of((self.at(Role::LeftHip) - self.at(Role::RightHip)).cross(Vec3::Y))
    }

    /// Whether the body lies on the floor rather than on its feet: lower than any crouch of the captures (hips at 0.37 m or more).
    pub(super) fn lies(&self) -> bool {
        self.at(Role::Pelvis).y < 0.31 && self.at(Role::Neck).y < 0.5
    }

    pub(super) fn stands(&self, foot: usize) -> bool {
        self.planted.any(FEET[foot].2)
    }
}

pub(super) fn stances(clip: &Clip) -> Vec<Stance> {
    let detected;
    let contacts = if clip.contacts.len() == clip.frames() {
        &clip.contacts
    } else {
        detected = crate::contacts::detect(clip, &Roles::canonical(), &Anatomy::of_canonical(clip.skeleton()));
        &detected
    };
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    (0..clip.frames())
        .map(|frame| {
            clip.pose(FrameIdx(frame as u32), &mut pose);
            fk::pose(clip.skeleton(), &pose, &mut world);
            let planted = contacts.get(frame).copied().unwrap_or_default();
            Stance { joints: Role::ALL.map(|r| world.position(r.joint())), planted }
        })
        .collect()
}

/// How two poses can be joined.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    /// Lays the second over the first.
    pub align: Planar,
    /// The foot that stays, and how far the other has to go, metres; lying bodies stand on neither.
    pub support: Option<usize>,
    pub swing: f32,
    /// Root mean square over the joints, metres.
    pub apart: f32,
    /// How far the foot that stays turns on its ball, radians.
    pub pivot: f32,
}

/// The foot that stays may turn on its ball, by these shares of what the body would have to turn otherwise, and by this much at most, radians.
const PIVOTS: [f32; 4] = [0.0, 0.4, 0.7, 1.0];
const MOST_PIVOT: f32 = 1.0;
/// What a radian of that is worth, metres.
const PIVOTING: f32 = 0.08;
/// Smaller turns are ignored, radians.
pub(super) const TURNS: f32 = 0.07;

/// Lays `b` so that a foot that stands in both stays where it is; of two such feet the one that leaves less to do. Of two poses that lie
/// `b` is laid where it is nearest.
pub(super) fn fit_of(a: &Stance, b: &Stance) -> Option<Fit> {
    if a.lies() && b.lies() {
        let align = best_planar(&a.joints, &b.joints);
        return Some(Fit { align, support: None, swing: 0.0, apart: apart(a, b, &align), pivot: 0.0 });
    }
    let mut best: Option<Fit> = None;
    for (support, (_, toe, _)) in FEET.iter().enumerate() {
        if !(a.stands(support) && b.stands(support)) {
            continue;
        }
        let held = wrap(a.foot_yaw(support) - b.foot_yaw(support));
        let facing = wrap(held - wrap(a.body_yaw() - b.body_yaw()));
        for share in PIVOTS {
            let pivot = (facing * share).clamp(-MOST_PIVOT, MOST_PIVOT);
            let turn = wrap(held - pivot);
            let turned = Planar { turn, shift: Vec2::ZERO };
            let (stood, stands) = (a.at(*toe), turned.point(b.at(*toe)));
            let align = Planar { turn, shift: Vec2::new(stood.x - stands.x, stood.z - stands.z) };
            let other = FEET[1 - support].1;
            let swing = (a.at(other) - align.point(b.at(other))).length();
            let fit = Fit { align, support: Some(support), swing, apart: apart(a, b, &align), pivot };
            if best.is_none_or(|b| fit.apart + PIVOTING * fit.pivot.abs() < b.apart + PIVOTING * b.pivot.abs()) {
                best = Some(fit);
            }
        }
    }
    best
}

/// Root mean square over the joints, metres.
fn apart(a: &Stance, b: &Stance, align: &Planar) -> f32 {
    let squares: f32 = a.joints.iter().zip(&b.joints).map(|(p, q)| (*p - align.point(*q)).length_squared()).sum();
    libm::sqrtf(squares / a.joints.len() as f32)
}
