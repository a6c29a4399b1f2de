//! A small change of a chosen motion: a lean of the spine, a shift of the hips over planted feet, a moved hand, each within human limits.
//! It makes a near miss clean and a wide one small; § 7 of the dodging paper leaves that to future work.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::blend::ease;
use kumite_motion::ik::SoftReach;
use kumite_motion::limits::Limit;
use kumite_motion::rotation::from_vector;
use kumite_motion::{Pose, Quat, Role, Skeleton, Vec3, WorldPose, fk, ik};

use crate::bodies::{Bodies, Joints, Row};
use crate::footing::Footing;

/// What is added to a motion, and when. Times are stage seconds from the decision.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bend {
    /// Lean of the spine as a rotation vector in the world, radians; shared by waist, back and neck.
    pub lean: Vec3,
    /// Shift of the hips in the world, metres; the feet stay.
    pub shift: Vec3,
    /// A wrist and how far it moves in the world, metres.
    pub hand: Option<(Role, Vec3)>,
    /// Where the head turns to, as a direction in the world; zero if it stays as it is.
    pub eyes: Vec3,
    /// When it grows from nothing to full size.
    pub rise: (f32, f32),
    /// When it shrinks to nothing again.
    pub fall: (f32, f32),
    /// Size as a share of the largest allowed bend, 0..1.
    pub size: f32,
}

/// Largest lean, radians: 38 degrees over three joints, well within the range of each.
pub(crate) const LEAN: f32 = 0.66;
/// Largest shift of the hips along the ground and down, metres: the knees allow it, the feet stay.
pub(crate) const ASIDE: f32 = 0.30;
pub(crate) const DOWN: f32 = 0.24;
/// Farthest that a hand is moved, metres.
pub(crate) const HAND: f32 = 0.35;
/// Share of the lean that each joint takes; the head turns partly back to keep the eyes level.
const SPINE: [(Role, f32); 4] = [(Role::Waist, 0.4), (Role::Back, 0.35), (Role::Neck, 0.25), (Role::Head, -0.4)];

/// How much of a turn of the head each joint takes, and the largest such turn, radians.
const TURN: [(Role, f32); 2] = [(Role::Neck, 0.4), (Role::Head, 0.6)];
const MOST_TURN: f32 = 1.0;

impl Bend {
    /// How much of it is applied at a time, 0..1.
    pub fn weight(&self, time: f32) -> f32 {
        let share = |(from, to): (f32, f32)| ease((time - from) / (to - from).max(1e-3));
        share(self.rise) * (1.0 - share(self.fall))
    }

    /// The rest of it, `seconds` later.
    pub fn later(&self, seconds: f32) -> Bend {
        let [rise, fall] = [self.rise, self.fall].map(|(from, to)| (from - seconds, to - seconds));
        Bend { rise, fall, ..*self }
    }

    /// Whether it is over.
    pub fn over(&self, time: f32) -> bool {
        time >= self.fall.1
    }

    /// Bends a canonical pose. Planting the feet exactly is left to the caller.
    pub fn apply(&self, time: f32, skeleton: &Skeleton, pose: &mut Pose, world: &mut WorldPose) {
        let share = self.weight(time);
        if share <= 0.0 {
            return;
        }
        let mut shift = self.shift * share;
        if shift != Vec3::ZERO {
            // The feet stay; the hips sink where the legs would not reach.
            fk::pose(skeleton, pose, world);
            let at = |role: Role| world.position(role.joint());
            let legs = LEGS.map(|[hip, knee, ankle]| [at(hip), at(knee), at(ankle)]);
            shift.y -= sink(&legs, shift);
            pose.translations[0] += shift;
            fk::pose(skeleton, pose, world);
            for ([_, _, ankle], [hip, _, end]) in LEGS.into_iter().zip(legs) {
                if let Some(leg) = ik::Chain::of_canonical(ankle) {
                    leg.reach_softly(SoftReach::LEG, (end - hip).length(), skeleton, end, pose, world);
                }
            }
        }
        let mut above = pose.rotations[0];
        let mut neck = above;
        for (role, part) in SPINE {
            if role == Role::Neck {
                neck = above;
            }
            turn_joint(role, self.lean * (part * share), &above, pose);
            above *= pose.rotations[role.joint().at()];
        }
        if self.eyes != Vec3::ZERO {
            let ahead = above * Vec3::Z;
            let axis = ahead.cross(self.eyes);
            let angle = libm::atan2f(axis.length(), ahead.dot(self.eyes)).min(MOST_TURN);
            let turn = axis.normalize_or(Vec3::ZERO) * (angle * share);
            for (role, part) in TURN {
                turn_joint(role, turn * part, &neck, pose);
                neck *= pose.rotations[role.joint().at()];
            }
        }
        let Some((wrist, way)) = self.hand else { return };
        let Some(arm) = ik::Chain::of_canonical(wrist) else { return };
        fk::pose(skeleton, pose, world);
        let (own, end) = (world.position(arm.end) - world.position(arm.top), world.position(arm.end));
        arm.reach_softly(SoftReach::ARM, own.length(), skeleton, end + way * share, pose, world);
    }

    /// Whether a body that stands on `footing` can be bent like this: it is not lying, its legs reach the feet and its arm the hand, it does not
    /// fall backwards, and it keeps its balance.
    pub(crate) fn fits(&self, place: &PlanarMatrix, time: f32, joints: &Joints, footing: &Footing) -> bool {
        let at = |role: Role| joints[role.joint().at()];
        if self.hand.is_some() && self.lean == Vec3::ZERO && self.shift == Vec3::ZERO {
            return self.hand_fits(place, time, joints);
        }
        let shift = place.rotate_back(self.shift) * self.weight(time);
        let sunk = sinks(&LEGS.map(|leg| leg.map(at)), shift);
        let ahead = (at(Role::LeftHip) - at(Role::RightHip)).cross(Vec3::Y).normalize_or(Vec3::ZERO);
        let trunk = (at(Role::Neck) - at(Role::Pelvis)).normalize_or(Vec3::Y);
        let bent = from_vector(place.rotate_back(self.lean) * self.weight(time)) * trunk;
        // Whoever lies in the air has no lean left.
        let lies = -trunk.dot(ahead) > BACKWARD && self.lean != Vec3::ZERO;
        let over = lies || -bent.dot(ahead) > BACKWARD.max(-trunk.dot(ahead));
        let upright = sunk <= DEEPEST && at(Role::Pelvis).y + shift.y - sunk >= LOWEST && !over;
        upright && kicks_reach(&LEGS.map(|leg| leg.map(at)), shift) && self.keeps_balance(place, time, joints, footing)
    }

    /// Whether the moved hand is as near to its shoulder as arms get, or as the motion itself has it, and not past it, where the arm would turn over.
    pub(crate) fn hand_fits(&self, place: &PlanarMatrix, time: f32, joints: &Joints) -> bool {
        let Some((wrist, way)) = self.hand else { return true };
        let (Some(elbow), Some(shoulder)) = (wrist.parent(), wrist.parent().and_then(Role::parent)) else {
            return false;
        };
        let [top, hinge, end] = [shoulder, elbow, wrist].map(|role| joints[role.joint().at()]);
        let whole = (hinge - top).length() + (end - hinge).length();
        let (own, moved) = (end - top, end + place.rotate_back(way) * self.weight(time) - top);
        let [near, far] = [own, moved].map(|line| line.length() / whole.max(1e-6));
        let past = moved.dot(own) < PAST * moved.length() * own.length();
        (ARM.0.min(near)..=ARM.1.max(near)).contains(&far) && !past
    }

    /// Whether the bent body keeps its balance.
    fn keeps_balance(&self, place: &PlanarMatrix, time: f32, joints: &Joints, footing: &Footing) -> bool {
        let joint = |role: Role| joints[role.joint().at()];
        let levels = self.levels(place, self.weight(time), joints);
        let bent = |role: Role| {
            let (level, share) = joint_chain(role);
            let p = joint(role);
            if level == 0 { p + levels[0].shift * share } else { levels[level].point(p) }
        };
        footing.holds(joint, bent)
    }

    /// Farthest that it moves any part, metres.
    pub(crate) fn most(&self) -> f32 {
        1.3 * self.lean.length() + 1.8 * self.shift.length() + self.hand.map_or(0.0, |(_, way)| way.length())
    }

    /// How each level of the spine moves a point, `share` of the bend applied: the rotations of the levels below, then its own, all shifted with
    /// the hips.
    fn levels(&self, place: &PlanarMatrix, share: f32, joints: &Joints) -> [SpineTurn; 4] {
        let (lean, mut shift) = (place.rotate_back(self.lean) * share, place.rotate_back(self.shift) * share);
        if shift != Vec3::ZERO {
            shift.y -= sink(&LEGS.map(|leg| leg.map(|role| joints[role.joint().at()])), shift);
        }
        let mut levels = [SpineTurn { axes: [Vec3::X, Vec3::Y, Vec3::Z], shift }; 4];
        if lean != Vec3::ZERO {
            for k in 0..3 {
                let turn: Quat = from_vector(lean * SPINE[k].1);
                let pivot = joints[SPINE[k].0.joint().at()];
                let below = levels[k];
                levels[k + 1] = below.after(turn, pivot);
            }
        }
        levels
    }

    /// [`Bend::apply`] for spheres, approximately: rotations about the joints of the spine, legs sheared between moved hips and still feet.
    pub(crate) fn bend(&self, bodies: &Bodies, place: &PlanarMatrix, time: f32, row: &mut Row) {
        let share = self.weight(time);
        if share <= 0.0 {
            return;
        }
        let bent = self.at(place, time, &bodies.joints(row));
        for j in 0..bodies.spheres() {
            row.set(j, bent.point(bodies.part(j), row.get(j)));
        }
    }

    /// How it moves the spheres of a body at a time.
    pub(crate) fn at(&self, place: &PlanarMatrix, time: f32, joints: &Joints) -> BentBody {
        let share = self.weight(time);
        let hand = self.hand.map(|(wrist, way)| (wrist, place.rotate_back(way) * share));
        BentBody { levels: self.levels(place, share, joints), hand }
    }
}

/// Turns a joint below `above` by a rotation vector in the world, within its limit. Captured poses beyond the limit stay as they are.
fn turn_joint(role: Role, turn: Vec3, above: &Quat, pose: &mut Pose) {
    let own = pose.rotations[role.joint().at()];
    let local = (above.conjugate() * from_vector(turn) * *above * own).normalize();
    let within = |limit: Limit| if limit.excess(own) > 0.0 { own } else { limit.clamp(local) };
    pose.rotations[role.joint().at()] = Limit::of(role).map_or(local, within);
}

/// What a bend does to the spheres of a body.
pub(crate) struct BentBody {
    levels: [SpineTurn; 4],
    hand: Option<(Role, Vec3)>,
}

impl BentBody {
    /// Where a point of a part goes.
    #[inline]
    pub(crate) fn point(&self, part: Role, p: Vec3) -> Vec3 {
        let (level, legs) = chain(part);
        let p = if level == 0 { p + self.levels[0].shift * legs } else { self.levels[level].point(p) };
        self.hand.map_or(p, |(wrist, way)| p + way * arm_share(part, wrist))
    }
}

/// Whether bending moves a part at all.
pub(crate) fn moves(part: Role) -> bool {
    chain(part) != (0, 0.0)
}

/// A rotation and a shift, as columns.
#[derive(Clone, Copy)]
struct SpineTurn {
    axes: [Vec3; 3],
    shift: Vec3,
}

impl SpineTurn {
    #[inline]
    fn point(&self, p: Vec3) -> Vec3 {
        self.axes[0] * p.x + self.axes[1] * p.y + self.axes[2] * p.z + self.shift
    }

    /// A turn about a pivot, then this.
    fn after(&self, turn: Quat, pivot: Vec3) -> SpineTurn {
        let flat = SpineTurn { shift: Vec3::ZERO, ..*self };
        let axes = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| flat.point(turn * axis));
        SpineTurn { axes, shift: self.point(pivot - turn * pivot) }
    }
}

/// Hips, knees and ankles.
const LEGS: [[Role; 3]; 2] =
    [[Role::LeftHip, Role::LeftKnee, Role::LeftAnkle], [Role::RightHip, Role::RightKnee, Role::RightAnkle]];
/// Share of its full length to which a leg may stretch.
const STRETCH: f32 = 0.985;
/// An ankle below the first height may stand, one above the second kicks. Metres.
const KICKS: (f32, f32) = (0.30, 0.55);

/// How far shifted hips sink so that both ankles stay in reach, at most [`DEEPEST`]. Metres.
fn sink(legs: &[[Vec3; 3]; 2], shift: Vec3) -> f32 {
    sinks(legs, shift).min(DEEPEST)
}

/// [`sink`] without its limit.
fn sinks(legs: &[[Vec3; 3]; 2], shift: Vec3) -> f32 {
    let one = |[hip, knee, ankle]: &[Vec3; 3]| {
        let now = (*hip - *ankle).length();
        let most = (((*hip - *knee).length() + (*knee - *ankle).length()) * STRETCH).max(now);
        let moved = *hip + shift - *ankle;
        let flat = moved.x * moved.x + moved.z * moved.z;
        moved.y - (most * most - flat).max(0.0).sqrt()
    };
    // Smoothed where the leg reaches its longest.
    let soft = (0.3 * shift.length()).clamp(1e-6, 0.03);
    let gently = |deep: f32| {
        let over = (deep + soft).max(0.0);
        if deep < soft { over * over / (4.0 * soft) } else { deep }
    };
    // Nobody sinks for a foot that kicks.
    let stands = |[_, _, ankle]: &[Vec3; 3]| 1.0 - ease((ankle.y - KICKS.0) / (KICKS.1 - KICKS.0));
    legs.iter().map(|leg| gently(one(leg)) * stands(leg)).fold(0.0, f32::max)
}

/// Whether a leg that kicks gets to where its motion has the foot without being stretched: it is quick, and would stop dead.
fn kicks_reach(legs: &[[Vec3; 3]; 2], shift: Vec3) -> bool {
    legs.iter().filter(|leg| leg[2].y > KICKS.0).all(|[hip, knee, ankle]| {
        let free = SoftReach::LEG.free.1 * ((*hip - *knee).length() + (*knee - *ankle).length());
        (*hip + shift - *ankle).length() <= free.max((*hip - *ankle).length())
    })
}

/// Farthest that hips sink on their own, metres.
const DEEPEST: f32 = 0.25;
/// Bent hips stay above this, metres: captured crouches are higher, lying poses are lower and are not bent.
const LOWEST: f32 = 0.36;

/// Least and greatest distance of a moved hand from its shoulder, in arm lengths: nearer the elbow would flip, farther it would lock.
pub(crate) const ARM: (f32, f32) = (0.35, 0.95);
/// And how far about its shoulder: the cosine of 60 degrees.
const PAST: f32 = 0.5;
/// How far a trunk may be leant back, unless the motion itself leans farther: the sine of 25 degrees.
const BACKWARD: f32 = 0.42;

/// How many joints of the spine carry a joint, and its share of the shift of the hips.
fn joint_chain(role: Role) -> (usize, f32) {
    match role {
        Role::Pelvis | Role::LeftHip | Role::RightHip | Role::Waist => (0, 1.0),
        Role::LeftKnee | Role::RightKnee => (0, 0.5),
        Role::LeftAnkle | Role::RightAnkle | Role::LeftToe | Role::RightToe => (0, 0.0),
        Role::Back => (1, 1.0),
        Role::Head => (3, 1.0),
        _ => (2, 1.0),
    }
}

/// How many joints of the spine carry a part, and its share of the shift of the hips.
fn chain(part: Role) -> (usize, f32) {
    match part {
        Role::Pelvis => (0, 1.0),
        Role::LeftHip | Role::RightHip => (0, 0.75),
        Role::LeftKnee | Role::RightKnee => (0, 0.25),
        Role::LeftAnkle | Role::RightAnkle | Role::LeftToe | Role::RightToe => (0, 0.0),
        Role::Waist => (1, 1.0),
        Role::Neck | Role::Head => (3, 1.0),
        _ => (2, 1.0),
    }
}

/// Share of a wrist's displacement that a part takes.
pub(crate) fn arm_share(part: Role, wrist: Role) -> f32 {
    let elbow = wrist.parent();
    if part == wrist {
        1.0
    } else if Some(part) == elbow {
        0.7
    } else if Some(part) == elbow.and_then(Role::parent) {
        0.25
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::{library, standing, standing_edge};
    use kumite_motion::humanoid;
    use proptest::prelude::*;

    fn positions(pose: &Pose) -> WorldPose {
        let mut world = WorldPose::default();
        fk::pose(&humanoid::skeleton(), pose, &mut world);
        world
    }

    fn bent(bend: &Bend, time: f32) -> (Pose, WorldPose) {
        let (mut pose, mut world) = (standing(), WorldPose::default());
        bend.apply(time, &humanoid::skeleton(), &mut pose, &mut world);
        let world = positions(&pose);
        (pose, world)
    }

    #[test]
    fn it_rises_holds_and_falls() {
        let bend = Bend { shift: Vec3::X * 0.1, rise: (0.2, 0.6), fall: (1.0, 1.4), ..Bend::default() };
        for (time, weight) in [(0.0, 0.0), (0.2, 0.0), (0.4, 0.5), (0.6, 1.0), (0.9, 1.0), (1.2, 0.5), (1.4, 0.0)] {
            assert!((bend.weight(time) - weight).abs() < 1e-5, "{time}: {}", bend.weight(time));
        }
        assert!(!bend.over(1.39) && bend.over(1.4));
        let before = positions(&standing());
        assert_eq!(bent(&bend, 0.1).1.positions, before.positions, "nothing shows before it rises");
        assert_eq!(bent(&bend, 1.5).1.positions, before.positions, "nor when it is over");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        /// Hips go where they are sent, or lower where the legs would not reach; ankles stay; no joint passes its limit.
        #[test]
        fn feet_stay_and_limits_hold(angle in 0.0f32..6.2, size in 0.0f32..1.0, down in 0.0f32..1.0) {
            let (sin, cos) = libm::sincosf(angle);
            let way = Vec3::new(sin, 0.0, cos);
            let bend = Bend {
                lean: Vec3::Y.cross(way) * (LEAN * size),
                shift: way * (ASIDE * size) + Vec3::NEG_Y * (DOWN * down),
                rise: (0.0, 0.1),
                fall: (1.0, 1.1),
                ..Bend::default()
            };
            let before = positions(&standing());
            let (pose, after) = bent(&bend, 0.5);
            let at = |world: &WorldPose, role: Role| world.position(role.joint());
            for ankle in [Role::LeftAnkle, Role::RightAnkle] {
                let slid = (at(&after, ankle) - at(&before, ankle)).length();
                prop_assert!(slid < 2e-3, "{ankle:?} slides by {slid}");
            }
            let went = at(&after, Role::Pelvis) - at(&before, Role::Pelvis) - bend.shift;
            prop_assert!(Vec3::new(went.x, 0.0, went.z).length() < 1e-5 && went.y <= 1e-5 && went.y >= -DEEPEST, "{went}");
            for (role, _) in SPINE {
                let limit = Limit::of(role).unwrap();
                prop_assert!(limit.excess(pose.rotations[role.joint().at()]) < 1e-3, "{role:?}");
            }
            // The head goes the way the spine leans.
            let head = at(&after, Role::Head) - at(&before, Role::Head) - (at(&after, Role::Pelvis) - at(&before, Role::Pelvis));
            prop_assert!(head.dot(way) >= -1e-4, "{head}");
        }

        /// A hand that can be reached is where it was sent, and the other one where it was.
        #[test]
        fn a_moved_hand_is_where_it_was_sent(x in -0.1f32..0.1, y in 0.12f32..0.3, z in 0.0f32..0.2) {
            let way = Vec3::new(x, y, z);
            let bend =
                Bend { hand: Some((Role::LeftWrist, way)), rise: (0.0, 0.1), fall: (1.0, 1.1), ..Bend::default() };
            let before = positions(&standing());
            let (_, after) = bent(&bend, 0.5);
            let moved = |role: Role| after.position(role.joint()) - before.position(role.joint());
            prop_assert!((moved(Role::LeftWrist) - way).length() < 2e-3, "{} but {way}", moved(Role::LeftWrist));
            prop_assert!(moved(Role::RightWrist).length() < 1e-5);
        }

        /// Spheres are bent as the pose is: the trunk and the head to 3 cm, feet not at all.
        #[test]
        fn spheres_bend_with_the_pose(angle in 0.0f32..6.2, size in 0.0f32..0.7) {
            let (sin, cos) = libm::sincosf(angle);
            let way = Vec3::new(sin, 0.0, cos);
            let bend = Bend {
                lean: Vec3::Y.cross(way) * (LEAN * size),
                shift: way * (ASIDE * size),
                rise: (0.0, 0.1),
                fall: (1.0, 1.1),
                ..Bend::default()
            };
            let library = library();
            let bodies = Bodies::of(&library, false);
            let mut row = bodies.row();
            bodies.sample(standing_edge(&library), 0.3, &mut row);
            bend.bend(&bodies, &PlanarMatrix::IDENTITY, 0.5, &mut row);
            let (_, world) = bent(&bend, 0.5);
            for (j, sphere) in library.spheres().iter().enumerate() {
                let off = (row.get(j) - world.point(sphere.joint, sphere.offset)).length();
                let most = match sphere.part {
                    Role::Pelvis | Role::Waist | Role::Back | Role::Neck | Role::Head => 0.03,
                    Role::LeftAnkle | Role::RightAnkle | Role::LeftToe | Role::RightToe => 0.03,
                    _ => 0.12,
                };
                prop_assert!(off < most, "{:?} {off}", sphere.part);
            }
        }
    }

    /// A spine that is at its limit already is not bent past it; one that is past it stays as captured.
    #[test]
    fn a_spine_at_its_limit_stays_there() {
        let (skeleton, mut world) = (humanoid::skeleton(), WorldPose::default());
        let bend = Bend { lean: Vec3::X * LEAN, rise: (0.0, 0.1), fall: (1.0, 1.1), ..Bend::default() };
        let waist = Role::Waist.joint().at();
        let limit = Limit::of(Role::Waist).unwrap();
        for (share, past) in [(0.9, false), (1.0, false), (1.5, true)] {
            let mut pose = standing();
            let far = from_vector(Vec3::X * 3.0);
            let most = limit.clamp(far);
            pose.rotations[waist] = from_vector(most.to_scaled_axis() * share);
            let before = pose.rotations[waist];
            assert_eq!(limit.excess(before) > 1e-3, past);
            bend.apply(0.5, &skeleton, &mut pose, &mut world);
            let after = pose.rotations[waist];
            assert!(
                if past { after == before } else { limit.excess(after) < 1e-3 },
                "{share}: {}",
                limit.excess(after)
            );
        }
    }

    /// What nobody does: falling over backwards, or hips through the floor.
    #[test]
    fn impossible_bends_do_not_fit() {
        let library = library();
        let bodies = Bodies::of(&library, false);
        let mut row = bodies.row();
        bodies.sample(standing_edge(&library), 0.3, &mut row);
        let fits = |bend: Bend| {
            let bend = Bend { rise: (0.0, 0.1), fall: (1.0, 1.1), ..bend };
            bend.fits(&PlanarMatrix::IDENTITY, 0.5, &bodies.joints(&row), &Footing::default())
        };
        let lean = |angle: f32| Bend { lean: Vec3::X * angle, ..Bend::default() };
        assert!(fits(Bend::default()) && fits(lean(0.6)), "forward");
        assert!(fits(lean(-0.3)) && !fits(lean(-0.6)), "backward by 17 and by 34 degrees");
        let shift = |shift: Vec3| Bend { shift, ..Bend::default() };
        assert!(fits(shift(Vec3::NEG_Y * 0.2)) && !fits(shift(Vec3::NEG_Y * 0.7)));
        assert!(fits(shift(Vec3::X * 0.3)) && !fits(shift(Vec3::X * 0.9)));
        let hand = |way: Vec3| Bend { hand: Some((Role::LeftWrist, way)), ..Bend::default() };
        assert!(fits(hand(Vec3::Y * 0.2)) && !fits(hand(Vec3::NEG_Y * 0.3)), "an arm is no longer than it is");
    }
}
