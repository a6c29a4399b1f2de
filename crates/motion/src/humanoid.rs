//! The canonical humanoid: 21 joints with roles, at rest in a T-pose facing +Z with every frame axis-aligned.
//! Everything in a library is retargeted to it.

use crate::{Joint, JointIdx, Quat, Skeleton, Vec3};

/// What a joint is for, whatever its file calls it. The order is that of the canonical skeleton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Role {
    Pelvis,
    Waist,
    Back,
    Neck,
    Head,
    LeftClavicle,
    LeftShoulder,
    LeftElbow,
    LeftWrist,
    RightClavicle,
    RightShoulder,
    RightElbow,
    RightWrist,
    LeftHip,
    LeftKnee,
    LeftAnkle,
    LeftToe,
    RightHip,
    RightKnee,
    RightAnkle,
    RightToe,
}

/// Which half of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Side {
    Left,
    Middle,
    Right,
}

impl Role {
    /// Every role, in the order of the canonical skeleton.
    pub const ALL: [Role; 21] = [
        Role::Pelvis,
        Role::Waist,
        Role::Back,
        Role::Neck,
        Role::Head,
        Role::LeftClavicle,
        Role::LeftShoulder,
        Role::LeftElbow,
        Role::LeftWrist,
        Role::RightClavicle,
        Role::RightShoulder,
        Role::RightElbow,
        Role::RightWrist,
        Role::LeftHip,
        Role::LeftKnee,
        Role::LeftAnkle,
        Role::LeftToe,
        Role::RightHip,
        Role::RightKnee,
        Role::RightAnkle,
        Role::RightToe,
    ];

    /// As joints of the canonical skeleton are named, and as JSON and TOML write it.
    pub fn name(self) -> &'static str {
        match self {
            Role::Pelvis => "pelvis",
            Role::Waist => "waist",
            Role::Back => "back",
            Role::Neck => "neck",
            Role::Head => "head",
            Role::LeftClavicle => "left_clavicle",
            Role::LeftShoulder => "left_shoulder",
            Role::LeftElbow => "left_elbow",
            Role::LeftWrist => "left_wrist",
            Role::RightClavicle => "right_clavicle",
            Role::RightShoulder => "right_shoulder",
            Role::RightElbow => "right_elbow",
            Role::RightWrist => "right_wrist",
            Role::LeftHip => "left_hip",
            Role::LeftKnee => "left_knee",
            Role::LeftAnkle => "left_ankle",
            Role::LeftToe => "left_toe",
            Role::RightHip => "right_hip",
            Role::RightKnee => "right_knee",
            Role::RightAnkle => "right_ankle",
            Role::RightToe => "right_toe",
        }
    }

    /// The inverse of [`Role::name`].
    pub fn from_name(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// The canonical joint of this role.
    #[inline]
    pub fn joint(self) -> JointIdx {
        JointIdx(self as u16)
    }

    /// The role its canonical joint hangs on.
    pub fn parent(self) -> Option<Role> {
        match self {
            Role::Pelvis => None,
            Role::Waist | Role::LeftHip | Role::RightHip => Some(Role::Pelvis),
            Role::Back => Some(Role::Waist),
            Role::Neck | Role::LeftClavicle | Role::RightClavicle => Some(Role::Back),
            other => Some(Role::ALL[other as usize - 1]),
        }
    }

    /// The next role down its own limb; `None` at the ends of limbs and for the trunk below the head.
    pub fn child(self) -> Option<Role> {
        let next = *Role::ALL.get(self as usize + 1)?;
        (next.parent() == Some(self)).then_some(next)
    }

    /// Left, right or neither.
    pub fn side(self) -> Side {
        match self {
            Role::Pelvis | Role::Waist | Role::Back | Role::Neck | Role::Head => Side::Middle,
            Role::LeftClavicle
            | Role::LeftShoulder
            | Role::LeftElbow
            | Role::LeftWrist
            | Role::LeftHip
            | Role::LeftKnee
            | Role::LeftAnkle
            | Role::LeftToe => Side::Left,
            _ => Side::Right,
        }
    }

    /// The same part of the other side; middle roles are their own.
    #[must_use]
    pub fn mirrored(self) -> Role {
        match self.side() {
            Side::Middle => self,
            Side::Left => Role::ALL[self as usize + 4],
            Side::Right => Role::ALL[self as usize - 4],
        }
    }
}

/// Which joint of some skeleton plays which role.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles([Option<JointIdx>; Role::ALL.len()]);

impl Roles {
    /// Of the canonical skeleton.
    pub fn canonical() -> Roles {
        Roles(std::array::from_fn(|i| Some(JointIdx(i as u16))))
    }

    /// By exact canonical joint names; what is not named so stays open.
    pub fn by_canonical_names(skeleton: &Skeleton) -> Roles {
        Roles(std::array::from_fn(|i| skeleton.find(Role::ALL[i].name())))
    }

    /// The joint that plays `role`.
    #[inline]
    pub fn get(&self, role: Role) -> Option<JointIdx> {
        self.0[role as usize]
    }

    /// Assigns a role; `None` opens it.
    pub fn set(&mut self, role: Role, joint: Option<JointIdx>) {
        self.0[role as usize] = joint;
    }

    /// The role a joint plays.
    pub fn role_of(&self, joint: JointIdx) -> Option<Role> {
        Role::ALL.into_iter().find(|&role| self.get(role) == Some(joint))
    }

    /// Whether every role has a joint.
    pub fn is_complete(&self) -> bool {
        self.0.iter().all(Option::is_some)
    }

    /// Roles with a joint, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Role, JointIdx)> + '_ {
        Role::ALL.into_iter().filter_map(|role| Some((role, self.get(role)?)))
    }
}

/// Bone lengths of a person, all in metres.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Proportions {
    /// Sole to ankle joint.
    pub ankle_height: f32,
    pub shin: f32,
    pub thigh: f32,
    /// From the middle of the pelvis to a hip joint, sideways.
    pub hip_half_width: f32,
    /// From the pelvis joint down to the height of the hip joints.
    pub hip_drop: f32,
    pub pelvis_to_waist: f32,
    pub waist_to_back: f32,
    pub back_to_neck: f32,
    pub neck_to_head: f32,
    /// Head joint to the top of the skull.
    pub head: f32,
    /// From the spine to where the collar bone begins, sideways.
    pub clavicle_half_width: f32,
    pub clavicle: f32,
    pub upper_arm: f32,
    pub forearm: f32,
    /// Wrist to knuckles of a fist.
    pub hand: f32,
    /// Ankle to the ball of the foot, along the ground.
    pub foot: f32,
    /// Ball of the foot to the end of the toes.
    pub toe: f32,
}

impl Proportions {
    /// Of a person `height` metres tall: segment lengths as fractions of height after Drillis and Contini 1966
    /// (in Winter, Biomechanics and Motor Control of Human Movement, fig. 4.1), the spine split as de Leva 1996.
    pub fn of_height(height: f32) -> Proportions {
        let h = height;
        Proportions {
            ankle_height: 0.039 * h,
            shin: 0.246 * h,
            thigh: 0.245 * h,
            hip_half_width: 0.052 * h,
            hip_drop: 0.020 * h,
            pelvis_to_waist: 0.075 * h,
            waist_to_back: 0.095 * h,
            back_to_neck: 0.130 * h,
            neck_to_head: 0.050 * h,
            head: 0.100 * h,
            clavicle_half_width: 0.018 * h,
            clavicle: 0.092 * h,
            upper_arm: 0.172 * h,
            forearm: 0.151 * h,
            hand: 0.055 * h,
            foot: 0.080 * h,
            toe: 0.045 * h,
        }
    }
}

/// Height of the default person, metres.
pub const HEIGHT: f32 = 1.78;

/// The canonical skeleton of the default person.
pub fn skeleton() -> Skeleton {
    skeleton_with(&Proportions::of_height(HEIGHT))
}

/// The canonical skeleton with other bone lengths. The soles stand on y = 0 in the rest pose.
pub fn skeleton_with(p: &Proportions) -> Skeleton {
    let joints: Vec<Joint> = Role::ALL
        .into_iter()
        .map(|role| {
            let side = match role.side() {
                Side::Left => 1.0,
                Side::Middle => 0.0,
                Side::Right => -1.0,
            };
            let (offset, tip) = match role {
                Role::Pelvis => (Vec3::new(0.0, p.ankle_height + p.shin + p.thigh + p.hip_drop, 0.0), None),
                Role::Waist => (Vec3::new(0.0, p.pelvis_to_waist, 0.0), None),
                Role::Back => (Vec3::new(0.0, p.waist_to_back, 0.0), None),
                Role::Neck => (Vec3::new(0.0, p.back_to_neck, 0.0), None),
                Role::Head => (Vec3::new(0.0, p.neck_to_head, 0.0), Some(Vec3::new(0.0, p.head, 0.0))),
                Role::LeftClavicle | Role::RightClavicle => {
                    (Vec3::new(side * p.clavicle_half_width, 0.78 * p.back_to_neck, 0.0), None)
                }
                Role::LeftShoulder | Role::RightShoulder => (Vec3::new(side * p.clavicle, 0.0, 0.0), None),
                Role::LeftElbow | Role::RightElbow => (Vec3::new(side * p.upper_arm, 0.0, 0.0), None),
                Role::LeftWrist | Role::RightWrist => {
                    (Vec3::new(side * p.forearm, 0.0, 0.0), Some(Vec3::new(side * p.hand, 0.0, 0.0)))
                }
                Role::LeftHip | Role::RightHip => (Vec3::new(side * p.hip_half_width, -p.hip_drop, 0.0), None),
                Role::LeftKnee | Role::RightKnee => (Vec3::new(0.0, -p.thigh, 0.0), None),
                Role::LeftAnkle | Role::RightAnkle => (Vec3::new(0.0, -p.shin, 0.0), None),
                Role::LeftToe | Role::RightToe => {
                    (Vec3::new(0.0, -0.6 * p.ankle_height, p.foot), Some(Vec3::new(0.0, 0.0, p.toe)))
                }
            };
            Joint {
                name: role.name().to_owned(),
                parent: role.parent().map(Role::joint),
                offset,
                rest: Quat::IDENTITY,
                tip,
                moves: false,
            }
        })
        .collect();
    Skeleton::new(&joints).unwrap_or_else(|_| unreachable!("roles are listed parents first"))
}

/// The axis a hinge bends about, in its own frame at rest; a positive angle bends it the way people do:
/// knees back, elbows forward. `None` for joints that are not hinges.
pub fn hinge_axis(role: Role) -> Option<Vec3> {
    match role {
        Role::LeftKnee | Role::RightKnee => Some(Vec3::X),
        Role::LeftElbow => Some(Vec3::NEG_Y),
        Role::RightElbow => Some(Vec3::Y),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_and_joints_are_the_same_list() {
        let skeleton = skeleton();
        assert_eq!(skeleton.len(), 21);
        for role in Role::ALL {
            assert_eq!(skeleton.name(role.joint()), role.name());
            assert_eq!(Role::from_name(role.name()), Some(role));
            assert_eq!(role.mirrored().mirrored(), role);
            assert_eq!(skeleton.parent(role.joint()), role.parent().map(Role::joint));
        }
        assert_eq!(Role::LeftKnee.mirrored(), Role::RightKnee);
        assert_eq!(Role::RightWrist.mirrored(), Role::LeftWrist);
        assert_eq!(Roles::by_canonical_names(&skeleton), Roles::canonical());
    }

    #[test]
    fn the_default_person_is_as_tall_as_said() {
        let skeleton = skeleton();
        let chain = [Role::Pelvis, Role::Waist, Role::Back, Role::Neck, Role::Head];
        let top: f32 = chain.iter().map(|r| skeleton.offset(r.joint()).y).sum::<f32>()
            + skeleton.tip(Role::Head.joint()).unwrap().y;
        assert!((top - HEIGHT).abs() < 0.03, "{top}");
    }
}
