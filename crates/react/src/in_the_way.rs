//! Whether the body is in the way of a hand that would go straight: then its arm is led around.

use kumite_motion::blend::ease;
use kumite_motion::ik::Reach;
use kumite_motion::rotation::yaw;
use kumite_motion::{Pose, Quat, Role, Skeleton, Vec3, WorldPose, fk};

use crate::body::{Arm, Body, ElbowWay, apart};
use crate::brace::Marks;
use crate::lines::Line;

/// Radii that hands keep clear of on their way, metres: head and trunk, each with a hand; and the shoulder, which an arm cannot fold up to.
const CLEAR: (f32, f32, f32) = (0.17, 0.18, 0.27);

/// And of a thigh, with a hand.
const CLEAR_THIGH: f32 = 0.15;
/// Distances that forearm and hand keep from the middles of trunk and thighs, and by how much less may be left, metres.
const FOREARM: (f32, f32, f32) = (0.15, 0.10, 0.015);

/// Hips and knees, seen from the pelvis of somebody in stride.
pub(crate) fn thighs(marks: &Marks, planted: bool) -> [[Vec3; 2]; 2] {
    let carrier = if planted { Vec3::ZERO } else { marks.root };
    [0, 1].map(|k: usize| [marks.hips[k] - carrier, marks.knees[k] - carrier])
}

/// Whether a hand on its line meets a thigh, whose places are known at some moments. Hands take the first of the times to the end of their lines, and the body turns by
/// `veers` in the second.
pub(crate) fn meets_thigh(
    line: &Line,
    passing: &[(f32, [[Vec3; 2]; 2]); 4],
    (takes, contact): (f32, f32),
    veers: f32,
) -> bool {
    const STEPS: usize = 12;
    let far = |share: f32| {
        let time = share * takes;
        let hand = yaw(veers * time / contact.max(1e-3)) * line.from.lerp(line.to, ease(share));
        let next = passing.iter().position(|p| p.0 > time).unwrap_or(passing.len() - 1).max(1);
        let ((from, a), (to, b)) = (passing[next - 1], passing[next]);
        let part = ((time - from) / (to - from).max(1e-3)).clamp(0.0, 1.0);
        let apart = |leg: usize| {
            let thigh = [0, 1].map(|end: usize| a[leg][end].lerp(b[leg][end], part));
            apart([hand, hand], thigh)
        };
        [apart(0), apart(1)]
    };
    let (first, last) = (far(0.0), far(1.0));
    (1..STEPS).any(|step| {
        let here = far(step as f32 / STEPS as f32);
        // Where the line itself begins or ends as near it does not matter.
        (0..2).any(|leg| here[leg] < CLEAR_THIGH.min(first[leg]).min(last[leg]) - 0.01)
    })
}

/// Whether a hand's line meets head, trunk or its own shoulder, which an arm cannot fold up to.
pub(crate) fn meets(
    skeleton: &Skeleton,
    body: &Body,
    hand: usize,
    line: &Line,
    (start, from): (&Pose, Vec3),
    (end, to): (&Pose, Vec3),
    veers: f32,
) -> bool {
    let arm = &body.arms[hand];
    let mut world = WorldPose::default();
    let mut parts = |pose: &Pose, carrier: Vec3| {
        fk::pose(skeleton, pose, &mut world);
        let at = |role: Role| world.position(role.joint()) - carrier;
        [body.head_at(&world) - carrier, at(Role::Pelvis), at(Role::Neck), at(arm.joints[1])]
    };
    let (a, b) = (parts(start, from), parts(end, to).map(|part| yaw(-veers) * part));
    (1..=9).any(|step| {
        let way = step as f32 / 10.0;
        let [head, pelvis, neck, shoulder] = [0, 1, 2, 3].map(|k: usize| a[k].lerp(b[k], way));
        let at = line.from.lerp(line.to, way);
        let spine = neck - pelvis;
        let up = ((at - pelvis).dot(spine) / spine.length_squared().max(1e-6)).clamp(0.0, 1.0);
        [(head, CLEAR.0), (pelvis + spine * up, CLEAR.1), (shoulder, CLEAR.2)].into_iter().any(|(centre, clear)| {
            // Where the line itself begins or ends as near it does not matter.
            let clear = clear.min((line.from - centre).length()).min((line.to - centre).length());
            (at - centre).length() < clear - 0.01
        })
    })
}

/// Whether forearm or hand meet trunk or thighs while the wrist goes along its line. The frames take both ends to where the line is seen from.
pub(crate) fn forearm_meets(
    arm: &Arm,
    elbows: &ElbowWay,
    line: &Line,
    ends: [&Marks; 2],
    frames: [(Quat, Vec3); 2],
) -> bool {
    const STEPS: usize = 10;
    let k = usize::from(arm.side < 0.0);
    let seen = |end: usize, part: fn(&Marks, usize) -> Vec3, leg: usize| {
        let (turn, carrier) = frames[end];
        turn * (part(ends[end], leg) - carrier)
    };
    let depths = |step: usize| {
        let way = step as f32 / STEPS as f32;
        let at = |part: fn(&Marks, usize) -> Vec3, leg: usize| seen(0, part, leg).lerp(seen(1, part, leg), way);
        let (from, target) = (at(|m, k| m.shoulders[k], k), line.from.lerp(line.to, way));
        let axis = (target - from).normalize_or(Vec3::NEG_Y);
        let solved = arm.limb.solve(&Reach { from, target, pole: elbows.at(way, axis), swivel: 0.0 });
        let elbow = from + solved.upper * arm.limb.upper;
        let fingers = target + (target - elbow).normalize_or(axis) * (2.0 * arm.palm);
        let parts = [
            ([at(|m, _| m.root, 0), at(|m, _| m.neck, 0)], FOREARM.0),
            ([at(|m, leg| m.hips[leg], 0), at(|m, leg| m.knees[leg], 0)], FOREARM.1),
            ([at(|m, leg| m.hips[leg], 1), at(|m, leg| m.knees[leg], 1)], FOREARM.1),
        ];
        parts.map(|(part, keeps)| (keeps - apart([elbow, target], part).min(apart([target, fingers], part))).max(0.0))
    };
    let (first, last) = (depths(0), depths(STEPS));
    (1..STEPS).any(|step| {
        let here = depths(step);
        // Where it begins or ends as deep it does not matter.
        (0..3).any(|part| here[part] > first[part].max(last[part]) + FOREARM.2)
    })
}
