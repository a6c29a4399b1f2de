//! A body as bracing needs it: its limbs, and the parts that must not get into each other.

use std::f32::consts::{PI, TAU};

use kumite_motion::ik::{self, Chain, Limb};
use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, arc, swing_twist, twist_angle, wrap};
use kumite_motion::{Pose, Quat, Role, Side, Skeleton, Vec3, WorldPose};

/// Left, then right.
pub const SIDES: [Side; 2] = [Side::Left, Side::Right];
/// Joints that lean and turn, from the pelvis up.
pub const TRUNK: [Role; 5] = [Role::Pelvis, Role::Waist, Role::Back, Role::Neck, Role::Head];
/// An arm is stretched to this share of its length at most: beyond it elbows lock.
pub const STRETCH: f32 = 0.95;
/// Kilograms of a person of no particular size.
pub const MASS: f32 = 70.0;

/// The joints of one arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arm {
    /// 1 for the left, -1 for the right.
    pub side: f32,
    /// Collar bone, shoulder, elbow, wrist.
    pub joints: [Role; 4],
    /// Its bones.
    pub limb: Limb,
    /// Shoulder to wrist, stretched, metres.
    pub length: f32,
    /// Wrist to the middle of the hand, metres.
    pub palm: f32,
}

/// The joints of one leg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leg {
    /// 1 for the left, -1 for the right.
    pub side: f32,
    /// Hip, knee, ankle.
    pub joints: [Role; 3],
    /// For nudging it.
    pub chain: Chain,
    /// Hip to ankle, stretched, metres.
    pub length: f32,
}

/// Both arms and both legs, measured once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Left, then right.
    pub arms: [Arm; 2],
    /// Left, then right.
    pub legs: [Leg; 2],
    /// From the head's joint to its middle, in its frame.
    pub head: Vec3,
}

impl Body {
    /// Of the canonical skeleton, or one with its frames; `None` without its limbs.
    pub fn of(skeleton: &Skeleton) -> Option<Body> {
        let arm = |wrist: Role| {
            let elbow = wrist.parent()?;
            let shoulder = elbow.parent()?;
            let limb = Limb::of(skeleton, wrist)?;
            Some(Arm {
                side: if wrist.side() == Side::Left { 1.0 } else { -1.0 },
                joints: [shoulder.parent()?, shoulder, elbow, wrist],
                limb,
                length: limb.upper.length() + limb.lower.length(),
                palm: 0.5 * skeleton.tip(wrist.joint()).unwrap_or(Vec3::ZERO).length(),
            })
        };
        let leg = |ankle: Role| {
            let knee = ankle.parent()?;
            let limb = Limb::of(skeleton, ankle)?;
            Some(Leg {
                side: if ankle.side() == Side::Left { 1.0 } else { -1.0 },
                joints: [knee.parent()?, knee, ankle],
                chain: Chain::of_canonical(ankle)?,
                length: limb.upper.length() + limb.lower.length(),
            })
        };
        Some(Body {
            arms: [arm(Role::LeftWrist)?, arm(Role::RightWrist)?],
            legs: [leg(Role::LeftAnkle)?, leg(Role::RightAnkle)?],
            head: skeleton.tip(Role::Head.joint()).unwrap_or(Vec3::Y * 0.18) * 0.5,
        })
    }

    /// The middle of the head.
    pub fn head_at(&self, world: &WorldPose) -> Vec3 {
        world.point(Role::Head.joint(), self.head)
    }
}

impl Arm {
    /// Elbows hang down and a little out, in the frame of the chest; those of an arm that reaches down point back and out.
    fn pole(&self, world: &WorldPose, axis: Vec3) -> Vec3 {
        let chest = world.rotation(Role::Back.joint());
        let down = (chest.conjugate() * axis).dot(Vec3::NEG_Y).max(0.0);
        chest * Vec3::new(0.15 * self.side, -1.0, -0.1).lerp(Vec3::new(0.85 * self.side, 0.0, -0.4), down * down)
    }

    /// Where the elbow of a rule stands: turned away from the body by `swivel` from hanging, for a wrist at a place.
    pub fn elbow(&self, world: &WorldPose, wrist: Vec3, swivel: f32) -> Vec3 {
        let axis = (wrist - world.position(self.joints[1].joint())).normalize_or(Vec3::NEG_Y);
        about(axis, self.side * swivel) * square_to(axis, self.pole(world, axis))
    }

    /// How the arm lies: the unit direction from shoulder to wrist, and that in which the elbow stands out, square to it.
    pub fn lie(&self, world: &WorldPose) -> [Vec3; 2] {
        let [_, shoulder, elbow, wrist] = self.joints.map(|j| world.position(j.joint()));
        let axis = (wrist - shoulder).normalize_or(Vec3::NEG_Y);
        // A straight arm's elbow stands out where its hinge would bend it.
        let hinge = axis.cross(world.rotation(self.joints[1].joint()) * self.limb.axis);
        [axis, square_to(axis, square(axis, elbow - shoulder) + hinge * 0.01)]
    }

    /// Puts the wrist at a place, with the elbow standing out towards `out`; the twists are added about upper arm and forearm,
    /// which moves neither elbow nor wrist. Positions in `world` are those of `pose` down to the shoulder; below they are not brought
    /// up to date. Returns the world rotation of the forearm.
    pub fn place(&self, pose: &mut Pose, world: &WorldPose, target: Vec3, out: Vec3, twists: [f32; 2]) -> Quat {
        let [collar, shoulder, elbow, _] = self.joints.map(Role::joint);
        let solved = self.solve(world, target, out);
        let bones = [self.limb.upper, self.limb.lower].map(|b| b.normalize_or(Vec3::X));
        let upper = solved.upper * about(bones[0], twists[0]);
        let fore = solved.upper * solved.hinge * about(bones[1], twists[1]);
        let local = (world.rotation(collar).conjugate() * upper).normalize();
        // A shoulder turns about the upper arm as far as shoulders do; the forearm turns the rest.
        let over = self.over_twisted(local);
        let upper = upper * about(bones[0], -over);
        pose.rotations[shoulder.at()] = (local * about(bones[0], -over)).normalize();
        pose.rotations[elbow.at()] = (upper.conjugate() * fore).normalize();
        fore
    }

    /// How far a shoulder on a collar bone is beyond its limit, radians, with the wrist at a place seen from it and the elbow standing out.
    fn strain(&self, collar: Quat, wrist: Vec3, out: Vec3) -> f32 {
        let solved = self.limb.solve(&ik::Reach { from: Vec3::ZERO, target: wrist, pole: out, swivel: 0.0 });
        Limit::of(self.joints[1]).map_or(0.0, |limit| limit.excess(collar.conjugate() * solved.upper))
    }

    /// How far a shoulder is twisted beyond its limit, radians.
    fn over_twisted(&self, local: Quat) -> f32 {
        let Some(Limit::Ball { bone, centre, twist, .. }) = Limit::of(self.joints[1]) else { return 0.0 };
        let (_, roll) = swing_twist(centre.conjugate() * local, bone);
        let angle = twist_angle(roll, bone);
        let over = angle - angle.clamp(twist.0, twist.1);
        // Half a turn is as far to the left as to the right: nothing may jump there.
        let room = (PI - twist.1.max(-twist.0)).max(1e-3);
        over * (1.0 - (over / room) * (over / room)).max(0.0)
    }

    fn solve(&self, world: &WorldPose, target: Vec3, out: Vec3) -> ik::SolvedLimb {
        let from = world.position(self.joints[1].joint());
        self.limb.solve(&ik::Reach { from, target, pole: out, swivel: 0.0 })
    }

    /// By how much upper arm and forearm are twisted beyond what [`Arm::place`] would give them where they are: captures have what a
    /// hinge has not.
    pub fn twists(&self, world: &WorldPose) -> [f32; 2] {
        let [_, shoulder, elbow, wrist] = self.joints.map(Role::joint);
        let solved = self.solve(world, world.position(wrist), self.lie(world)[1]);
        let upper = solved.upper.conjugate() * world.rotation(shoulder);
        let fore = (solved.upper * solved.hinge).conjugate() * world.rotation(elbow);
        let bones = [self.limb.upper, self.limb.lower].map(|b| b.normalize_or(Vec3::X));
        [twist_angle(upper, bones[0]), twist_angle(fore, bones[1])]
    }

    /// A hand with its fingers along one direction and its palm towards another, in the world.
    pub fn hand(&self, fingers: Vec3, palm: Vec3) -> Quat {
        let x = fingers.normalize_or(Vec3::Y) * self.side;
        let y = -(palm - x * palm.dot(x)).normalize_or(x.any_orthonormal_vector());
        let z = x.cross(y);
        // Columns are where the axes of the wrist go.
        let matrix = [x, y, z];
        from_axes(matrix)
    }
}

/// The part of a vector that is square to a unit axis.
fn square(axis: Vec3, v: Vec3) -> Vec3 {
    v - axis * v.dot(axis)
}

/// The same as a unit vector.
fn square_to(axis: Vec3, v: Vec3) -> Vec3 {
    square(axis, v).try_normalize().unwrap_or_else(|| axis.any_orthonormal_vector())
}

/// The way of an elbow while its wrist goes along a line: carried along without a twist, and turned about the arm by what is then missing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElbowWay {
    /// Along the way, evenly: from shoulder to wrist, and where the elbow would stand out if nothing turned it.
    lies: [[Vec3; 2]; ELBOWS],
    /// By how much it turns on the whole way, radians.
    turn: f32,
}

/// Places of an [`ElbowWay`].
pub const ELBOWS: usize = 9;

impl ElbowWay {
    /// Of an arm whose wrist goes along `wrists`, seen from the shoulder, from how it lies at first to how it lies in the end, on a collar bone that turns
    /// from one attitude to another. Of the two ways round it takes the one that strains the shoulder less.
    pub fn new(arm: &Arm, from: [Vec3; 2], to: [Vec3; 2], wrists: [Vec3; ELBOWS], collars: [Quat; 2]) -> ElbowWay {
        let mut lies = [from; ELBOWS];
        for k in 1..ELBOWS {
            let axis = wrists[k].normalize_or(lies[k - 1][0]);
            lies[k] = [axis, carried(lies[k - 1], axis)];
        }
        let out = carried(lies[ELBOWS - 1], to[0]);
        let turn = angle_about(to[0], out, to[1]);
        let strain = |turn: f32| {
            let way = ElbowWay { lies, turn };
            let one = |k: usize| {
                let share = k as f32 / (ELBOWS - 1) as f32;
                let collar = kumite_motion::rotation::slerp(collars[0], collars[1], share);
                arm.strain(collar, wrists[k], way.at(share, lies[k][0]))
            };
            (1..ELBOWS - 1).map(one).sum::<f32>() + 0.25 * turn.abs()
        };
        let other = turn - TAU.copysign(turn);
        ElbowWay { lies, turn: if strain(other) < strain(turn) { other } else { turn } }
    }

    /// Where the elbow stands out when this much of the way is done and the arm points along `axis`.
    pub fn at(&self, way: f32, axis: Vec3) -> Vec3 {
        let at = way.clamp(0.0, 1.0) * (ELBOWS - 1) as f32;
        let first = (at as usize).min(ELBOWS - 2);
        let (a, b) = (carried(self.lies[first], axis), carried(self.lies[first + 1], axis));
        let out = square_to(axis, a.lerp(b, at - first as f32));
        about(axis, self.turn * way) * out
    }
}

/// An elbow carried along by the shortest turn of its arm.
fn carried(lie: [Vec3; 2], axis: Vec3) -> Vec3 {
    square_to(axis, arc(lie[0], axis) * lie[1])
}

/// The angle from one direction to another about an axis that both are square to.
fn angle_about(axis: Vec3, from: Vec3, to: Vec3) -> f32 {
    libm::atan2f(from.cross(to).dot(axis), from.dot(to))
}

/// Where an elbow stands out, turned by a share towards how another arm lies.
pub fn towards_elbow(axis: Vec3, own: Vec3, other: [Vec3; 2], share: f32) -> Vec3 {
    if share <= 0.0 {
        return own;
    }
    about(axis, wrap(angle_about(axis, own, carried(other, axis))) * share) * own
}

/// The rotation that lays the axes on three unit vectors that are square to each other.
fn from_axes([x, y, z]: [Vec3; 3]) -> Quat {
    let trace = x.x + y.y + z.z;
    let q = if trace > 0.0 {
        Quat::from_xyzw(y.z - z.y, z.x - x.z, x.y - y.x, 1.0 + trace)
    } else if x.x > y.y && x.x > z.z {
        Quat::from_xyzw(1.0 + x.x - y.y - z.z, x.y + y.x, z.x + x.z, y.z - z.y)
    } else if y.y > z.z {
        Quat::from_xyzw(x.y + y.x, 1.0 + y.y - x.x - z.z, y.z + z.y, z.x - x.z)
    } else {
        Quat::from_xyzw(z.x + x.z, y.z + z.y, 1.0 + z.z - x.x - y.y, x.y - y.x)
    };
    q.normalize()
}

impl Leg {
    /// Puts the ankle at a place with the knee where it was: thigh, shin and foot keep `held`, their attitudes in the world, as far as they can; the
    /// foot altogether. `world` is that of `pose` before and after.
    pub fn place(&self, skeleton: &Skeleton, pose: &mut Pose, world: &mut WorldPose, held: [Quat; 3], target: Vec3) {
        for (role, wanted) in self.joints.into_iter().zip(held) {
            let joint = role.joint();
            let parent = skeleton.parents()[joint.at()];
            let turn = world.rotation(parent);
            pose.rotations[joint.at()] = (turn.conjugate() * wanted).normalize();
            // Only this leg has moved.
            world.positions[joint.at()] = world.position(parent) + turn * skeleton.offset(joint);
            world.rotations[joint.at()] = wanted;
        }
        self.chain.reach_within(0.995, skeleton, target, pose, world);
    }

    /// How thigh, shin and foot lie in the world.
    pub fn attitudes(&self, world: &WorldPose) -> [Quat; 3] {
        self.joints.map(|role| world.rotation(role.joint()))
    }
}

/// Radii of parts that keep clear of each other, metres: forearm and hand, head, trunk; a little more than the referee's.
const FOREARM: f32 = 0.045;
const HEAD: f32 = 0.11;
const TRUNK_RADIUS: f32 = 0.13;

/// Pairs that [`clash`] looks at.
pub const CLASHES: usize = 11;

/// How deep arms are in head, trunk and each other, metres, smooth and 0 where they are clear.
pub fn clash(body: &Body, world: &WorldPose) -> [f32; CLASHES] {
    let at = |role: Role| world.position(role.joint());
    let head = body.head_at(world);
    let fore = body.arms.map(|arm| {
        let wrist = arm.joints[3];
        let hand = world.point(wrist.joint(), Vec3::X * (arm.side * 2.0 * arm.palm));
        [at(arm.joints[2]), at(wrist), hand]
    });
    let trunk = [at(Role::Pelvis), at(Role::Neck)];
    let mut depths = [0.0; CLASHES];
    for (side, [elbow, wrist, hand]) in fore.iter().enumerate() {
        depths[4 * side] = HEAD + FOREARM - apart([*elbow, *wrist], [head, head]);
        depths[4 * side + 1] = HEAD + FOREARM - apart([*wrist, *hand], [head, head]);
        depths[4 * side + 2] = TRUNK_RADIUS + FOREARM - apart([*elbow, *wrist], trunk);
        depths[4 * side + 3] = TRUNK_RADIUS + FOREARM - apart([*wrist, *hand], trunk);
    }
    let arms = |a: usize, b: usize| apart([fore[0][a], fore[0][a + 1]], [fore[1][b], fore[1][b + 1]]);
    let nearest = arms(0, 0).min(arms(0, 1)).min(arms(1, 0)).min(arms(1, 1));
    depths[8] = 2.0 * FOREARM - nearest;
    for (side, arm) in body.arms.iter().enumerate() {
        let (shoulder, elbow) = (at(arm.joints[1]), at(arm.joints[2]));
        depths[9 + side] = HEAD + 0.5 * FOREARM + 0.02 - apart([shoulder.lerp(elbow, 0.3), elbow], [head, head]);
    }
    depths.map(|depth| depth.max(0.0))
}

/// Least distance of two segments, metres.
pub fn apart(first: [Vec3; 2], second: [Vec3; 2]) -> f32 {
    let (a, b) = closest(first, second);
    (first[0].lerp(first[1], a) - second[0].lerp(second[1], b)).length()
}

/// Where two segments are nearest to each other, as shares of their lengths.
pub(crate) fn closest([p, q]: [Vec3; 2], [r, s]: [Vec3; 2]) -> (f32, f32) {
    let (u, v, w) = (q - p, s - r, p - r);
    let (uu, vv, uv) = (u.length_squared().max(1e-9), v.length_squared().max(1e-9), u.dot(v));
    let (uw, vw) = (u.dot(w), v.dot(w));
    let whole = uu * vv - uv * uv;
    let a = if whole > 1e-9 { ((uv * vw - uw * vv) / whole).clamp(0.0, 1.0) } else { 0.5 };
    let b = ((uv * a + vw) / vv).clamp(0.0, 1.0);
    (((uv * b - uw) / uu).clamp(0.0, 1.0), b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{fk, humanoid};

    #[test]
    fn an_arm_put_back_where_it_is_does_not_move() {
        let skeleton = humanoid::skeleton();
        let body = Body::of(&skeleton).unwrap();
        let mut pose = Pose::rest(&skeleton);
        for (k, role) in
            [Role::LeftShoulder, Role::LeftElbow, Role::RightShoulder, Role::RightElbow].into_iter().enumerate()
        {
            let turn = Vec3::new(0.3, 0.5 - 0.4 * k as f32, 0.4);
            let axis = humanoid::hinge_axis(role).unwrap_or(turn.normalize());
            pose.rotations[role.joint().at()] =
                about(axis, 0.9) * about(Vec3::X, if humanoid::hinge_axis(role).is_some() { 0.4 } else { 0.0 });
        }
        let (mut world, mut again) = (WorldPose::default(), WorldPose::default());
        fk::pose(&skeleton, &pose, &mut world);
        let mut moved = pose.clone();
        for arm in &body.arms {
            let wrist = world.position(arm.joints[3].joint());
            let _ = arm.place(&mut moved, &world, wrist, arm.lie(&world)[1], arm.twists(&world));
        }
        fk::pose(&skeleton, &moved, &mut again);
        for role in [Role::LeftElbow, Role::LeftWrist, Role::RightElbow, Role::RightWrist] {
            assert!((world.position(role.joint()) - again.position(role.joint())).length() < 1e-3, "{role:?}");
            let off = kumite_motion::rotation::between(world.rotation(role.joint()), again.rotation(role.joint()));
            assert!(off < 0.02, "{role:?} {off}");
        }
    }

    #[test]
    fn hands_point_and_face_where_they_are_told() {
        let body = Body::of(&humanoid::skeleton()).unwrap();
        for arm in &body.arms {
            let hand = arm.hand(Vec3::Y, Vec3::Z);
            assert!((hand * Vec3::X * arm.side - Vec3::Y).length() < 1e-5);
            assert!((hand * Vec3::NEG_Y - Vec3::Z).length() < 1e-5);
        }
    }
}
