//! The body drawn around a skeleton: tapered capsules bound to its joints. Does not draw them.
//!
//! Widths of people are fractions of their height after Drillis and Contini 1966 and, for the head and the trunk's
//! depth, the 50th percentiles of NASA-STD-3000; trimmed by eye so that silhouettes read at the size of a thumb.

use kumite_motion::{Clip, FrameIdx, JointIdx, Pose, Role, Roles, Skeleton, Vec3, WorldPose, fk};

/// The part of a body that a shape belongs to. Shapes of one group share a colour and blend into each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Group {
    Torso,
    Head,
    /// Eyes and brows, which show where the figure looks.
    Face,
    /// The back of the head, which shows from above where the figure does not look.
    Hair,
    LeftArm,
    LeftHand,
    LeftLeg,
    LeftFoot,
    RightArm,
    RightHand,
    RightLeg,
    RightFoot,
}

impl Group {
    /// Every group, in the order of their numbers in [`Part::to_numbers`].
    pub const ALL: [Group; 12] = [
        Group::Torso,
        Group::Head,
        Group::Face,
        Group::Hair,
        Group::LeftArm,
        Group::LeftHand,
        Group::LeftLeg,
        Group::LeftFoot,
        Group::RightArm,
        Group::RightHand,
        Group::RightLeg,
        Group::RightFoot,
    ];

    /// Name in text files.
    pub fn name(self) -> &'static str {
        match self {
            Group::Torso => "torso",
            Group::Head => "head",
            Group::Face => "face",
            Group::Hair => "hair",
            Group::LeftArm => "left_arm",
            Group::LeftHand => "left_hand",
            Group::LeftLeg => "left_leg",
            Group::LeftFoot => "left_foot",
            Group::RightArm => "right_arm",
            Group::RightHand => "right_hand",
            Group::RightLeg => "right_leg",
            Group::RightFoot => "right_foot",
        }
    }
}

/// The hull of two balls, each fixed in the frame of a joint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Joint of the first ball.
    pub a: JointIdx,
    /// Its centre in that joint's frame.
    pub at_a: Vec3,
    /// Its radius, in the skeleton's unit.
    pub radius_a: f32,
    /// Joint of the second ball; often the same.
    pub b: JointIdx,
    /// Its centre in that joint's frame.
    pub at_b: Vec3,
    /// Its radius.
    pub radius_b: f32,
    /// Decides its colour and which parts it blends into.
    pub group: Group,
}

impl Part {
    /// Joint a, x, y, z, radius, joint b, x, y, z, radius, group: for files and web pages that draw the same shapes.
    pub fn to_numbers(&self) -> [f32; 11] {
        let (p, q) = (self.at_a, self.at_b);
        [
            f32::from(self.a.0),
            p.x,
            p.y,
            p.z,
            self.radius_a,
            f32::from(self.b.0),
            q.x,
            q.y,
            q.z,
            self.radius_b,
            f32::from(self.group as u8),
        ]
    }
}

/// A [`Part`] in the world: the hull of two balls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cone {
    /// Centre of the first ball.
    pub a: Vec3,
    /// Radius of the first ball.
    pub ra: f32,
    /// Centre of the second ball.
    pub b: Vec3,
    /// Radius of the second ball.
    pub rb: f32,
}

/// The shapes of one skeleton.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// Grouped: parts of one [`Group`] follow each other.
    pub parts: Vec<Part>,
    /// Height of a person in the skeleton's unit; for other skeletons the longest side of the box around the pose.
    pub height: f32,
    /// Whether roles were known, so that the body is shaped like a person.
    pub person: bool,
}

/// Most frames sampled to learn which way faces and soles point.
const SAMPLED_FRAMES: usize = 48;

impl Body {
    /// From the rest pose alone: right for the canonical skeleton and every rig that rests upright.
    pub fn of_skeleton(skeleton: &Skeleton, roles: Option<&Roles>) -> Body {
        let mut world = WorldPose::default();
        fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
        Body::from_poses(skeleton, roles, &[world])
    }

    /// From poses of the clip, because the rest pose of a capture is often collapsed and its joint frames arbitrary.
    /// Assumes that the face points, on average, where the chest points, and that soles are level when a foot is low.
    pub fn of_clip(clip: &Clip, roles: Option<&Roles>) -> Body {
        let skeleton = clip.skeleton();
        let step = clip.frames().div_ceil(SAMPLED_FRAMES).max(1);
        let mut pose = Pose::default();
        let poses: Vec<WorldPose> = (0..clip.frames())
            .step_by(step)
            .map(|frame| {
                let mut world = WorldPose::default();
                clip.pose(FrameIdx(frame as u32), &mut pose);
                fk::pose(skeleton, &pose, &mut world);
                world
            })
            .collect();
        Body::from_poses(skeleton, roles, &poses)
    }

    /// The parts in the world, in order.
    pub fn placed<'a>(&'a self, world: &'a WorldPose) -> impl Iterator<Item = (Cone, Group)> + 'a {
        self.parts.iter().map(|part| {
            let (a, b) = (world.point(part.a, part.at_a), world.point(part.b, part.at_b));
            (Cone { a, ra: part.radius_a, b, rb: part.radius_b }, part.group)
        })
    }

    fn from_poses(skeleton: &Skeleton, roles: Option<&Roles>, poses: &[WorldPose]) -> Body {
        let person = roles.and_then(|roles| Person::measure(skeleton, roles, poses));
        let mut body = match person {
            Some(person) => person.build(),
            None => sticks(skeleton, poses),
        };
        // A stable sort, so that limbs keep their order from the trunk outwards.
        body.parts.sort_by_key(|part| part.group);
        body
    }
}

/// Thin cones along the bones of a skeleton whose roles are unknown.
fn sticks(skeleton: &Skeleton, poses: &[WorldPose]) -> Body {
    let height = poses.iter().map(extent).fold(0.0, f32::max);
    let mut parts = Vec::new();
    let mut bone = |a: JointIdx, b: JointIdx, at_b: Vec3, length: f32, owner: JointIdx| {
        if length > 1e-4 * height {
            let radius = (0.13 * length).clamp(0.006 * height, 0.026 * height).min(0.45 * length);
            let group = group_by_name(skeleton.name(owner));
            parts.push(Part { a, at_a: Vec3::ZERO, radius_a: radius, b, at_b, radius_b: 0.72 * radius, group });
        }
    };
    for joint in skeleton.joints() {
        if let Some(parent) = skeleton.parent(joint) {
            let lengths = poses.iter().map(|w| w.position(joint).distance(w.position(parent)));
            bone(parent, joint, Vec3::ZERO, lengths.fold(0.0, f32::max), joint);
        }
        if let Some(tip) = skeleton.tip(joint) {
            bone(joint, joint, tip, tip.length(), joint);
        }
    }
    if parts.is_empty() {
        // A single joint is drawn as a ball.
        let radius = if height > 0.0 { 0.05 * height } else { 0.05 };
        let (at, root) = (Vec3::ZERO, JointIdx::ROOT);
        parts.push(Part {
            a: root,
            at_a: at,
            radius_a: radius,
            b: root,
            at_b: at,
            radius_b: radius,
            group: Group::Torso,
        });
    }
    Body { parts, height: if height > 0.0 { height } else { 1.0 }, person: false }
}

fn extent(world: &WorldPose) -> f32 {
    let low = world.positions.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = world.positions.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    (high - low).max_element()
}

/// Tells left from right by the usual spellings: `LeftArm`, `l_arm`, `arm.R`, `Arm_L`, `LThumb`, `rShldr`.
fn group_by_name(name: &str) -> Group {
    let name = name.rsplit(':').next().unwrap_or(name);
    let lower = name.to_ascii_lowercase();
    let has_side = |side: char| {
        let rest = lower.strip_prefix(side).map_or("", |_| &name[1..]);
        rest.starts_with(['_', '.', '-'])
            || rest.starts_with(|c: char| c.is_ascii_uppercase())
            || lower.strip_suffix(side).is_some_and(|front| front.ends_with(['_', '.', '-']))
    };
    if lower.contains("left") || has_side('l') {
        Group::LeftArm
    } else if lower.contains("right") || has_side('r') {
        Group::RightArm
    } else {
        Group::Torso
    }
}

/// Joints of a person and the poses to learn from.
struct Person<'a> {
    skeleton: &'a Skeleton,
    poses: &'a [WorldPose],
    roles: &'a Roles,
    height: f32,
    parts: Vec<Part>,
}

/// The joints of one arm and leg.
struct Side {
    left: bool,
    shoulder: JointIdx,
    elbow: JointIdx,
    wrist: JointIdx,
    hip: JointIdx,
    knee: JointIdx,
    ankle: JointIdx,
    toe: Option<JointIdx>,
}

impl<'a> Person<'a> {
    /// `None` if a role is missing that a person cannot be drawn without.
    fn measure(skeleton: &'a Skeleton, roles: &'a Roles, poses: &'a [WorldPose]) -> Option<Person<'a>> {
        let legs =
            [[Role::LeftHip, Role::LeftKnee, Role::LeftAnkle], [Role::RightHip, Role::RightKnee, Role::RightAnkle]];
        let first = poses.first()?;
        if roles.iter().any(|(_, joint)| joint.at() >= skeleton.len()) {
            return None;
        }
        let mut leg = 0.0;
        for [hip, knee, ankle] in legs {
            let [hip, knee, ankle] = [roles.get(hip)?, roles.get(knee)?, roles.get(ankle)?].map(|j| first.position(j));
            leg += 0.5 * (hip.distance(knee) + knee.distance(ankle));
        }
        // Thigh and shin together are 0.491 of the height.
        let height = leg / 0.491;
        (height > 0.0).then_some(Person { skeleton, poses, roles, height, parts: Vec::new() })?.complete()
    }

    fn complete(self) -> Option<Person<'a>> {
        let needed = [
            Role::Pelvis,
            Role::Head,
            Role::LeftShoulder,
            Role::LeftElbow,
            Role::LeftWrist,
            Role::RightShoulder,
            Role::RightElbow,
            Role::RightWrist,
        ];
        needed.iter().all(|&role| self.roles.get(role).is_some()).then_some(self)
    }

    /// Joint of a role; only for roles that `measure` and `complete` have checked, or that have a stand-in.
    fn joint(&self, role: Role) -> JointIdx {
        self.roles.get(role).unwrap_or_else(|| match role {
            Role::Waist | Role::Back => self.roles.get(Role::Back).unwrap_or_else(|| self.joint(Role::Pelvis)),
            Role::Neck => self.skeleton.parent(self.joint(Role::Head)).unwrap_or(JointIdx::ROOT),
            _ => JointIdx::ROOT,
        })
    }

    /// Mean over the poses of a world vector, expressed in a joint's frame.
    fn mean(&self, joint: JointIdx, place: impl Fn(&WorldPose) -> Vec3) -> Vec3 {
        let sum: Vec3 = self.poses.iter().map(|w| w.rotation(joint).inverse() * place(w)).sum();
        sum / self.poses.len() as f32
    }

    fn point(&self, joint: JointIdx, place: impl Fn(&WorldPose) -> Vec3) -> Vec3 {
        self.mean(joint, |w| place(w) - w.position(joint))
    }

    fn ball(&mut self, group: Group, a: (JointIdx, Vec3, f32), b: (JointIdx, Vec3, f32)) {
        let h = self.height;
        let part = Part { a: a.0, at_a: a.1, radius_a: a.2 * h, b: b.0, at_b: b.1, radius_b: b.2 * h, group };
        self.parts.push(part);
    }

    fn build(mut self) -> Body {
        let (_, chest_forward) = self.trunk();
        self.head(chest_forward);
        for left in [true, false] {
            let side = |l: Role, r: Role| if left { l } else { r };
            let half = Side {
                left,
                shoulder: self.joint(side(Role::LeftShoulder, Role::RightShoulder)),
                elbow: self.joint(side(Role::LeftElbow, Role::RightElbow)),
                wrist: self.joint(side(Role::LeftWrist, Role::RightWrist)),
                hip: self.joint(side(Role::LeftHip, Role::RightHip)),
                knee: self.joint(side(Role::LeftKnee, Role::RightKnee)),
                ankle: self.joint(side(Role::LeftAnkle, Role::RightAnkle)),
                toe: self.roles.get(side(Role::LeftToe, Role::RightToe)),
            };
            self.arm(&half);
            self.leg(&half);
        }
        Body { parts: self.parts, height: self.height, person: true }
    }

    /// Pelvis, belly, ribs, shoulders. Returns the chest's joint and its forward in that joint's frame.
    fn trunk(&mut self) -> (JointIdx, Vec3) {
        let h = self.height;
        let [pelvis, neck, ls, rs, lh, rh] =
            [Role::Pelvis, Role::Neck, Role::LeftShoulder, Role::RightShoulder, Role::LeftHip, Role::RightHip]
                .map(|role| self.joint(role));
        let chest = self.joint(Role::Back);
        let hips = |w: &WorldPose| 0.5 * (w.position(lh) + w.position(rh));

        let left = self.mean(pelvis, |w| w.position(lh) - w.position(rh)).normalize_or(Vec3::X);
        let up = self.mean(pelvis, |w| (w.position(chest) - hips(w)).normalize_or(Vec3::Y));
        let (left, up, forward) = frame(left, up);
        let seat = self.point(pelvis, hips);
        for side in [1.0, -1.0] {
            let at = |x: f32, y: f32, z: f32| seat + h * (side * x * left + y * up + z * forward);
            self.ball(Group::Torso, (pelvis, at(0.040, 0.004, -0.008), 0.052), (pelvis, at(0.030, 0.045, 0.0), 0.049));
        }

        let c_left = self.mean(chest, |w| w.position(ls) - w.position(rs)).normalize_or(Vec3::X);
        let c_up = self.mean(chest, |w| (w.position(neck) - w.position(chest)).normalize_or(Vec3::Y));
        let (c_left, c_up, c_forward) = frame(c_left, c_up);
        let collar = self.point(chest, |w| 0.5 * (w.position(ls) + w.position(rs)));
        // Shoulder joints sit at the back of the rib cage, so their depth is left out.
        let top = c_up * collar.dot(c_up) + c_left * collar.dot(c_left);
        for side in [1.0, -1.0] {
            let at = |x: f32, y: f32, z: f32| seat + h * (side * x * left + y * up + z * forward);
            let rib = |x: f32, y: f32, z: f32| top + h * (side * x * c_left + y * c_up + z * c_forward);
            let low = (chest, rib(0.024, -0.115, 0.004), 0.049);
            self.ball(Group::Torso, (pelvis, at(0.018, 0.052, 0.0), 0.044), low);
            self.ball(Group::Torso, low, (chest, rib(0.041, -0.040, 0.008), 0.059));
            // From the neck over the trapezius to the deltoid.
            let shoulder = if side > 0.0 { ls } else { rs };
            let root = (chest, rib(0.018, 0.022, 0.0), 0.032);
            self.ball(Group::Torso, root, (shoulder, Vec3::ZERO, 0.031));
        }
        (chest, c_forward)
    }

    fn head(&mut self, chest_forward: Vec3) {
        let h = self.height;
        let (chest, neck, head) = (self.joint(Role::Back), self.joint(Role::Neck), self.joint(Role::Head));
        // Some suits end the head below its joint: what counts is where the neck leads.
        let from_neck = self.mean(head, |w| w.position(head) - w.position(neck));
        let tip = self.skeleton.tip(head).filter(|tip| tip.length() > 0.02 * h && tip.dot(from_neck) >= 0.0);
        let up = match tip {
            Some(tip) => tip.normalize_or(Vec3::Y),
            None => from_neck.normalize_or(Vec3::Y),
        };
        let ahead = self.mean(head, |w| w.rotation(chest) * chest_forward);
        let forward = (ahead - up * ahead.dot(up)).normalize_or(up.any_orthonormal_vector());
        let left = up.cross(forward);
        let at = |x: f32, y: f32, z: f32| h * (x * left + y * up + z * forward);
        self.ball(Group::Torso, (neck, Vec3::ZERO, 0.031), (head, at(0.0, 0.01, 0.0), 0.029));
        self.ball(Group::Head, (head, at(0.0, 0.066, -0.010), 0.044), (head, at(0.0, 0.060, 0.012), 0.044));
        self.ball(Group::Head, (head, at(0.0, 0.050, 0.012), 0.038), (head, at(0.0, 0.008, 0.026), 0.027));
        self.ball(Group::Hair, (head, at(0.0, 0.070, -0.014), 0.0465), (head, at(0.0, 0.047, -0.018), 0.0395));
        // The nose shows the direction in profile, eyes and brows in every other view.
        self.ball(Group::Head, (head, at(0.0, 0.040, 0.054), 0.007), (head, at(0.0, 0.026, 0.059), 0.0085));
        for side in [1.0, -1.0] {
            let eye = |y: f32| at(side * 0.0205, y, 0.0475);
            self.ball(Group::Face, (head, eye(0.0545), 0.0095), (head, eye(0.0475), 0.0085));
            let brow = |x: f32, y: f32, z: f32| at(side * x, y, z);
            self.ball(
                Group::Face,
                (head, brow(0.010, 0.0715, 0.0515), 0.0042),
                (head, brow(0.034, 0.0715, 0.041), 0.0038),
            );
        }
    }

    fn arm(&mut self, half: &Side) {
        let h = self.height;
        let (arm, hand) =
            if half.left { (Group::LeftArm, Group::LeftHand) } else { (Group::RightArm, Group::RightHand) };
        let zero = Vec3::ZERO;
        self.ball(arm, (half.shoulder, zero, 0.0365), (half.elbow, zero, 0.0245));
        let along = self.mean(half.elbow, |w| w.position(half.wrist) - w.position(half.elbow));
        let muscle = (half.elbow, 0.28 * along, 0.0265);
        self.ball(arm, (half.elbow, zero, 0.0245), muscle);
        self.ball(arm, muscle, (half.wrist, zero, 0.0165));

        let fingers = self.leaves_under(half.wrist);
        if fingers.len() >= 4 {
            self.fingers(half, hand, &fingers);
            return;
        }
        let reach = self
            .skeleton
            .tip(half.wrist)
            .or_else(|| {
                let next = self.skeleton.children(half.wrist).map(|c| self.skeleton.offset(c));
                next.max_by(|a, b| a.length_squared().total_cmp(&b.length_squared()))
            })
            .and_then(Vec3::try_normalize)
            .unwrap_or_else(|| {
                self.mean(half.wrist, |w| w.position(half.wrist) - w.position(half.elbow)).normalize_or(Vec3::X)
            });
        let thumb = self.thumbward(half, reach);
        let at = |along: f32, aside: f32| (half.wrist, h * (along * reach + aside * thumb));
        let mut bone = |from: (f32, f32, f32), to: (f32, f32, f32)| {
            let ((j, a), (_, b)) = (at(from.0, from.1), at(to.0, to.1));
            self.ball(hand, (j, a, from.2), (j, b, to.2));
        };
        // A closed hand: a palm, four knuckles in a row, and the thumb along the first of them.
        bone((0.006, 0.0, 0.0170), (0.024, 0.0, 0.0215));
        for knuckle in [-0.0165, -0.0055, 0.0055, 0.0165] {
            bone((0.024, 0.9 * knuckle, 0.0150), (0.041 - 12.0 * knuckle * knuckle, knuckle, 0.0118));
        }
        bone((0.012, 0.019, 0.0090), (0.034, 0.0245, 0.0075));
    }

    /// Across the hand, to the side of the thumb: whether arms are out or hang at rest, thumbs point forward.
    fn thumbward(&self, half: &Side, reach: Vec3) -> Vec3 {
        let mut rest = WorldPose::default();
        fk::pose(self.skeleton, &Pose::rest(self.skeleton), &mut rest);
        let at = |role: Role| rest.position(self.joint(role));
        let left = at(Role::LeftHip) - at(Role::RightHip);
        let forward = left.cross(at(Role::Head) - at(Role::Pelvis)).normalize_or(Vec3::Z);
        let ahead = rest.rotation(half.wrist).inverse() * forward;
        (ahead - reach * ahead.dot(reach)).normalize_or(reach.any_orthonormal_vector())
    }

    fn leaves_under(&self, joint: JointIdx) -> Vec<JointIdx> {
        let below = self.skeleton.joints().filter(|&j| j != joint && self.skeleton.is_under(j, joint));
        below.filter(|&j| self.skeleton.children(j).next().is_none()).collect()
    }

    /// A palm and thin fingers, for skeletons that have them.
    fn fingers(&mut self, half: &Side, hand: Group, leaves: &[JointIdx]) {
        for &leaf in leaves {
            let tip = self.skeleton.tip(leaf).unwrap_or(Vec3::ZERO);
            if tip.length() > 1e-3 * self.height {
                self.ball(hand, (leaf, Vec3::ZERO, 0.0052), (leaf, tip, 0.0042));
            }
            let mut joint = leaf;
            while joint != half.wrist {
                let Some(parent) = self.skeleton.parent(joint) else { break };
                if self.skeleton.offset(joint).length() > 1e-3 * self.height {
                    let thick = if parent == half.wrist { 0.012 } else { 0.0056 };
                    self.ball(hand, (parent, Vec3::ZERO, thick), (joint, Vec3::ZERO, 0.0056));
                }
                joint = parent;
            }
        }
    }

    fn leg(&mut self, half: &Side) {
        let h = self.height;
        let (leg, foot) =
            if half.left { (Group::LeftLeg, Group::LeftFoot) } else { (Group::RightLeg, Group::RightFoot) };
        let zero = Vec3::ZERO;
        let thigh = self.mean(half.hip, |w| w.position(half.knee) - w.position(half.hip));
        self.ball(leg, (half.hip, 0.03 * thigh, 0.049), (half.hip, 0.35 * thigh, 0.046));
        self.ball(leg, (half.hip, 0.35 * thigh, 0.046), (half.knee, zero, 0.032));

        // The world's down in the ankle's frame, from poses in which the foot is low and its sole therefore level: of those on its feet, if there are any,
        // since feet of somebody who lies or kneels are low, too. Hips that kneel are as high above the ankle as the thigh is long.
        let upright = |w: &WorldPose| w.position(half.hip).y - w.position(half.ankle).y > 1.3 * thigh.length();
        let any = self.poses.iter().any(upright);
        let counts = |w: &WorldPose| !any || upright(w);
        let heights = self.poses.iter().filter(|w| counts(w)).map(|w| w.position(half.ankle).y);
        let lowest = heights.fold(f32::INFINITY, f32::min);
        let low = |w: &WorldPose| counts(w) && w.position(half.ankle).y < lowest + 0.03 * h;
        let down = self.mean(half.ankle, |w| if low(w) { Vec3::NEG_Y } else { Vec3::ZERO }).normalize_or(Vec3::NEG_Y);
        let toe_at = match half.toe {
            Some(toe) => self.mean(half.ankle, |w| w.position(toe) - w.position(half.ankle)),
            None => {
                let pelvis = self.joint(Role::Pelvis);
                let (lh, rh) = (self.joint(Role::LeftHip), self.joint(Role::RightHip));
                let ahead = |w: &WorldPose| {
                    let left = w.position(lh) - w.position(rh);
                    left.cross(w.position(self.joint(Role::Neck)) - w.position(pelvis)).normalize_or(Vec3::Z)
                };
                0.08 * h * self.mean(half.ankle, ahead).normalize_or(Vec3::Z) + 0.022 * h * down
            }
        };
        let forward = (toe_at - down * toe_at.dot(down)).normalize_or(down.any_orthonormal_vector());

        let shin = self.mean(half.knee, |w| w.position(half.ankle) - w.position(half.knee));
        let ahead = self.mean(half.knee, |w| w.rotation(half.ankle) * forward);
        let back = -(ahead - shin * ahead.dot(shin) / shin.length_squared().max(1e-12)).normalize_or(Vec3::ZERO);
        let calf = (half.knee, 0.3 * shin + 0.010 * h * back, 0.0325);
        self.ball(leg, (half.knee, zero, 0.032), calf);
        self.ball(leg, calf, (half.ankle, zero, 0.0205));

        // The sole lies 0.039 h below the ankle; never above the ball of the foot.
        let sole = (0.039 * h).max(toe_at.dot(down) + 0.010 * h);
        let on_sole = |ahead: f32, radius: f32| (sole - radius * h) * down + ahead * h * forward;
        let reach = toe_at.dot(forward) / h;
        let heel = (half.ankle, on_sole(-0.026, 0.019), 0.019);
        let ball = (half.ankle, on_sole(reach, 0.0165), 0.0165);
        self.ball(foot, (half.ankle, -0.004 * h * forward, 0.0205), heel);
        self.ball(foot, heel, ball);
        self.ball(foot, (half.ankle, 0.010 * h * forward, 0.0195), ball);
        let end = match half.toe {
            Some(toe) => {
                let to_toe = |local: Vec3| self.mean(toe, |w| w.rotation(half.ankle) * local).normalize_or(Vec3::ZERO);
                let (t_forward, t_down) = (to_toe(forward), to_toe(down));
                let rest = (sole - toe_at.dot(down)) / h;
                (toe, h * (0.034 * t_forward + (rest - 0.0125) * t_down), 0.0125)
            }
            None => (half.ankle, on_sole(reach + 0.034, 0.0125), 0.0125),
        };
        self.ball(foot, ball, end);
    }
}

/// A right-handed frame from a left axis and a rough up: left, up, forward.
fn frame(left: Vec3, up: Vec3) -> (Vec3, Vec3, Vec3) {
    let forward = left.cross(up).normalize_or(left.any_orthonormal_vector());
    (left, forward.cross(left), forward)
}

/// The ground-plane direction that a person faces; +Z if it cannot be told.
pub fn facing(world: &WorldPose, roles: Option<&Roles>) -> Vec3 {
    let at = |role: Role| roles.and_then(|r| r.get(role)).and_then(|j| world.positions.get(j.at()).copied());
    let pair = |l: Role, r: Role| Some(at(l)? - at(r)?);
    let hips = pair(Role::LeftHip, Role::RightHip);
    let shoulders = pair(Role::LeftShoulder, Role::RightShoulder);
    let left = hips.unwrap_or(Vec3::ZERO) + 0.5 * shoulders.unwrap_or(Vec3::ZERO);
    let forward = left.cross(Vec3::Y);
    Vec3::new(forward.x, 0.0, forward.z).normalize_or(Vec3::Z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{Joint, Quat, humanoid};

    fn canonical() -> Body {
        Body::of_skeleton(&humanoid::skeleton(), Some(&Roles::canonical()))
    }

    #[test]
    fn a_person_stands_on_the_floor_at_the_stated_height() {
        let (skeleton, body) = (humanoid::skeleton(), canonical());
        let mut world = WorldPose::default();
        fk::pose(&skeleton, &Pose::rest(&skeleton), &mut world);
        let cones: Vec<Cone> = body.placed(&world).map(|c| c.0).collect();
        let low = cones.iter().map(|c| (c.a.y - c.ra).min(c.b.y - c.rb)).fold(f32::INFINITY, f32::min);
        let high = cones.iter().map(|c| (c.a.y + c.ra).max(c.b.y + c.rb)).fold(f32::NEG_INFINITY, f32::max);
        assert!(low.abs() < 0.01, "sole at {low}");
        assert!((high - humanoid::HEIGHT).abs() < 0.04, "crown at {high}");
        assert!((body.height - humanoid::HEIGHT).abs() < 0.02);
    }

    #[test]
    fn a_person_is_symmetric() {
        let (skeleton, body) = (humanoid::skeleton(), canonical());
        let mut world = WorldPose::default();
        fk::pose(&skeleton, &Pose::rest(&skeleton), &mut world);
        let mirror = |c: &Cone| Cone { a: c.a * Vec3::new(-1.0, 1.0, 1.0), b: c.b * Vec3::new(-1.0, 1.0, 1.0), ..*c };
        let cones: Vec<Cone> = body.placed(&world).map(|c| c.0).collect();
        for cone in &cones {
            let m = mirror(cone);
            let same =
                |o: &&Cone| o.a.distance(m.a) + o.b.distance(m.b) + (o.ra - m.ra).abs() + (o.rb - m.rb).abs() < 1e-4;
            assert!(cones.iter().any(|o| same(&o)), "{cone:?}");
        }
    }

    #[test]
    fn the_eyes_point_forward_whatever_the_joint_frames() {
        // The canonical skeleton with each joint's frame turned differently, as in captures.
        let plain = humanoid::skeleton();
        let turns: Vec<Quat> = plain.joints().map(|j| Quat::from_rotation_x(j.0 as f32).normalize()).collect();
        let joints: Vec<Joint> = plain
            .to_joints()
            .into_iter()
            .enumerate()
            .map(|(i, mut joint)| {
                let above = joint.parent.map_or(Quat::IDENTITY, |p| turns[p.at()]);
                joint.offset = above.inverse() * joint.offset;
                joint.rest = above.inverse() * turns[i];
                joint.tip = joint.tip.map(|tip| turns[i].inverse() * tip);
                joint
            })
            .collect();
        let turned = Skeleton::new(&joints).unwrap();
        let body = Body::of_skeleton(&turned, Some(&Roles::canonical()));
        let mut world = WorldPose::default();
        fk::pose(&turned, &Pose::rest(&turned), &mut world);
        let head = world.position(Role::Head.joint());
        let face = body.placed(&world).find(|c| c.1 == Group::Face).unwrap().0;
        assert!(face.a.z - head.z > 0.05, "{face:?}");
        let mut straight = WorldPose::default();
        fk::pose(&plain, &Pose::rest(&plain), &mut straight);
        for ((a, _), (b, _)) in body.placed(&world).zip(canonical().placed(&straight)) {
            assert!(a.a.distance(b.a) < 1e-3 && a.b.distance(b.b) < 1e-3, "{a:?} {b:?}");
        }
    }

    #[test]
    fn names_tell_sides() {
        for (name, group) in [
            ("LeftArm", Group::LeftArm),
            ("mixamorig:RightHand", Group::RightArm),
            ("LThumb", Group::LeftArm),
            ("rShldr", Group::RightArm),
            ("lowerBack", Group::Torso),
            ("L", Group::Torso),
            ("arm.R", Group::RightArm),
            ("thigh_l", Group::LeftArm),
            ("r_foot", Group::RightArm),
            ("Lumbar", Group::Torso),
            ("Root", Group::Torso),
            ("", Group::Torso),
            ("脚_r", Group::RightArm),
        ] {
            assert_eq!(group_by_name(name), group, "{name}");
        }
    }

    #[test]
    fn roles_of_another_skeleton_are_not_used() {
        let one =
            Joint { name: "a".into(), parent: None, offset: Vec3::ZERO, rest: Quat::IDENTITY, tip: None, moves: false };
        let body = Body::of_skeleton(&Skeleton::new(&[one]).unwrap(), Some(&Roles::canonical()));
        assert!(!body.person);
        assert_eq!(body.parts.len(), 1);
    }
}
