//! A slow and obvious judge of braces: looks at the frames that were shown, and shares forward kinematics, joint limits, segment masses and the
//! points of soles with what it judges, nothing else.

use std::sync::Arc;

use kumite_motion::anatomy::Anatomy;
use kumite_motion::limits::Limit;
use kumite_motion::retarget::{RetargetBody, ball_of, heel_of};
use kumite_motion::rotation::{between, slerp, wrap, yaw, yaw_of};
use kumite_motion::{Contacts, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk, mass};

use crate::{Character, TICKS};

/// What was shown, tick by tick, beside the motion below.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// As shown.
    pub poses: Vec<Pose>,
    /// Without brace and planted feet.
    pub below: Vec<Pose>,
    /// What stands.
    pub contacts: Vec<Contacts>,
}

impl Shown {
    /// One tick more.
    pub fn add(&mut self, character: &Character) {
        self.poses.push(character.pose().clone());
        self.below.push(character.base().clone());
        self.contacts.push(character.contacts());
    }
}

/// What a brace was for and what it promised.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Promise {
    /// Where the threat is aimed, and its unit direction.
    pub target: Vec3,
    /// See [`Promise::target`].
    pub along: Vec3,
    /// When it hits, when the pose is reached, and when it is left: seconds.
    pub contact: f32,
    /// See [`Promise::contact`].
    pub reaches: f32,
    /// See [`Promise::contact`].
    pub leaves: f32,
    /// Whether it stands.
    pub planted: bool,
}

/// What was seen. Lengths in metres, angles in radians.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Judged {
    /// Whether every number is finite.
    pub finite: bool,
    /// Farthest that a joint is beyond its limit, and beyond where the motion below has it.
    pub beyond_limits: f32,
    /// Which joint that is.
    pub beyond_which: Option<Role>,
    /// The same of ankles and toes: planting turns them as well.
    pub feet_beyond_limits: f32,
    /// Farthest that a foot got while it stood.
    pub slide: f32,
    /// The centre of mass at contact, on the ground; and farthest from that of the motion below until then.
    pub centre: Vec3,
    /// See [`Judged::centre`].
    pub centre_off: f32,
    /// How near a hand or forearm is to the threat's way, before the target, at contact.
    pub guard: f32,
    /// The same of the motion below.
    pub unbraced_guard: f32,
    /// Fastest a hand gets.
    pub hand_speed: f32,
    /// Farthest each hand strays from a straight line.
    pub strays: [f32; 2],
    /// How fast each hand was at first.
    pub first_speeds: [f32; 2],
    /// Farthest the neck does.
    pub neck_strays: f32,
    /// How fast it was at first.
    pub neck_speed: f32,
    /// Mean distance of the head from a straight line, and that of a plain blend.
    pub wobble: f32,
    /// See [`Judged::wobble`].
    pub plain_wobble: f32,
    /// Deepest that parts are in each other, beyond what the motion below has.
    pub penetration: f32,
    /// Which, and how many seconds after it began.
    pub penetrates: Option<(Role, Role)>,
    /// See [`Judged::penetrates`].
    pub penetrates_at: f32,
}

/// Parts as capsules: from, to, radius. Half of mean breadths of men (Winter 2009).
const PARTS: [(Role, Role, f32); 12] = [
    (Role::Pelvis, Role::Waist, 0.12),
    (Role::Waist, Role::Back, 0.12),
    (Role::Back, Role::Neck, 0.12),
    (Role::LeftElbow, Role::LeftWrist, 0.035),
    (Role::RightElbow, Role::RightWrist, 0.035),
    (Role::LeftShoulder, Role::LeftElbow, 0.045),
    (Role::RightShoulder, Role::RightElbow, 0.045),
    (Role::LeftHip, Role::LeftKnee, 0.07),
    (Role::RightHip, Role::RightKnee, 0.07),
    (Role::LeftKnee, Role::LeftAnkle, 0.045),
    (Role::RightKnee, Role::RightAnkle, 0.045),
    (Role::Head, Role::Head, 0.10),
];
/// Pairs that are looked at: the rest are neighbours, or cannot meet before others do. The head and hands are added.
const PAIRS: [(usize, usize); 30] = [
    (3, 0),
    (3, 1),
    (3, 2),
    (3, 11),
    (3, 4),
    (3, 6),
    (3, 7),
    (3, 8),
    (4, 0),
    (4, 1),
    (4, 2),
    (4, 11),
    (4, 5),
    (4, 7),
    (4, 8),
    (5, 11),
    (6, 11),
    (5, 6),
    (7, 8),
    (7, 10),
    (8, 9),
    (9, 10),
    (12, 0),
    (12, 1),
    (12, 2),
    (12, 11),
    (13, 0),
    (13, 1),
    (13, 2),
    (13, 11),
];
/// Radius of a hand, metres.
const HAND: f32 = 0.035;

fn capsules(skeleton: &Skeleton, world: &WorldPose) -> [([Vec3; 2], f32, Role); 14] {
    let at = |role: Role| world.position(role.joint());
    let tip = |role: Role| world.point(role.joint(), skeleton.tip(role.joint()).unwrap_or(Vec3::ZERO));
    std::array::from_fn(|k| match k {
        11 => {
            let middle = at(Role::Head).lerp(tip(Role::Head), 0.5);
            ([middle, middle], PARTS[11].2, Role::Head)
        }
        12 => ([at(Role::LeftWrist), tip(Role::LeftWrist)], HAND, Role::LeftWrist),
        13 => ([at(Role::RightWrist), tip(Role::RightWrist)], HAND, Role::RightWrist),
        _ => ([at(PARTS[k].0), at(PARTS[k].1)], PARTS[k].2, PARTS[k].0),
    })
}

/// Depth of every pair, metres; negative is apart.
fn depths(skeleton: &Skeleton, world: &WorldPose) -> [f32; PAIRS.len()] {
    let parts = capsules(skeleton, world);
    PAIRS.map(|(a, b)| parts[a].1 + parts[b].1 - sampled_distance(parts[a].0, parts[b].0))
}

/// Least distance of two segments, by looking at points a tenth apart and then finer around the nearest.
fn sampled_distance(a: [Vec3; 2], b: [Vec3; 2]) -> f32 {
    let (mut best, mut at, mut step) = (f32::INFINITY, (0.5f32, 0.5f32), 0.1f32);
    for _ in 0..3 {
        let centre = at;
        for i in -5..=5 {
            for j in -5..=5 {
                let s = (centre.0 + i as f32 * step).clamp(0.0, 1.0);
                let t = (centre.1 + j as f32 * step).clamp(0.0, 1.0);
                let distance = (a[0].lerp(a[1], s) - b[0].lerp(b[1], t)).length();
                if distance < best {
                    (best, at) = (distance, (s, t));
                }
            }
        }
        step *= 0.2;
    }
    best
}

/// How near the nearer forearm or hand is to the way of a threat, between it and the target, metres.
pub fn guards(skeleton: &Skeleton, world: &WorldPose, target: Vec3, along: Vec3) -> f32 {
    let way = [target - along * 0.05, target - along * 1.2];
    let parts = capsules(skeleton, world);
    [3, 4, 12, 13].into_iter().map(|k| sampled_distance(parts[k].0, way)).fold(f32::INFINITY, f32::min)
}

/// Farthest of points from the straight line through the first and the last.
fn strays(points: &[Vec3]) -> f32 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0.0 };
    let along = (*last - *first).normalize_or(Vec3::ZERO);
    let off = points.iter().map(|p| *p - *first).map(|v| (v - along * v.dot(along)).length());
    off.fold(0.0, f32::max)
}

/// Mean distance of points from the straight line through the first and the last.
fn wobbles(points: &[Vec3]) -> f32 {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0.0 };
    let along = (*last - *first).normalize_or(Vec3::ZERO);
    let off = points.iter().map(|p| *p - *first).map(|v| (v - along * v.dot(along)).length());
    off.sum::<f32>() / points.len() as f32
}

/// Looks at a brace from its first tick until it is left.
pub fn judge(skeleton: &Arc<Skeleton>, shown: &Shown, promise: &Promise) -> Judged {
    let ticks = |seconds: f32| ((seconds * TICKS as f32).round() as usize).min(shown.poses.len().saturating_sub(1));
    let (contact, reached, left) = (ticks(promise.contact), ticks(promise.reaches), ticks(promise.leaves));
    let roles = Roles::canonical();
    let mut judged = Judged { finite: shown.poses.iter().all(Pose::is_finite), ..Judged::default() };
    let (mut world, mut below) = (WorldPose::default(), WorldPose::default());
    let (mut hands, mut necks, mut heads) = ([Vec::new(), Vec::new()], Vec::new(), Vec::new());
    let anatomy = Anatomy::of_canonical(skeleton);
    let body = RetargetBody { skeleton, roles: &roles, anatomy: &anatomy };
    let mut stood: [Option<(Contacts, Vec3)>; 2] = [None; 2];
    let mut source_depths = [f32::NEG_INFINITY; PAIRS.len()];
    let mut own_depths = [(f32::NEG_INFINITY, 0usize); PAIRS.len()];
    let limits: Vec<(Role, Limit)> = Role::ALL.into_iter().filter_map(|r| Some((r, Limit::of(r)?))).collect();
    let mut allowed = vec![0.0f32; limits.len()];
    let mut excess = vec![0.0f32; limits.len()];
    for tick in 0..=left {
        let (pose, source) = (&shown.poses[tick], &shown.below[tick]);
        fk::pose(skeleton, pose, &mut world);
        fk::pose(skeleton, source, &mut below);
        for (k, (role, limit)) in limits.iter().enumerate() {
            allowed[k] = allowed[k].max(limit.excess(source.rotation(role.joint())));
            excess[k] = excess[k].max(limit.excess(pose.rotation(role.joint())));
        }
        for ((own, source), (a, b)) in own_depths
            .iter_mut()
            .zip(&mut source_depths)
            .zip(depths(skeleton, &world).into_iter().zip(depths(skeleton, &below)))
        {
            *source = source.max(b);
            if a > own.0 {
                *own = (a, tick);
            }
        }
        let feet = [
            (Role::LeftAnkle, Contacts::LEFT_HEEL, Contacts::LEFT_TOE),
            (Role::RightAnkle, Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE),
        ];
        for (stood, (ankle, heel, toe)) in stood.iter_mut().zip(feet) {
            // What stands on its ball may roll over it: the heel counts only where the ball is in the air.
            let contacts = shown.contacts[tick];
            let part = if contacts.any(toe) { Some(toe) } else { contacts.any(heel).then_some(heel) };
            let at =
                part.and_then(|p| if p == toe { ball_of(&body, &world, ankle) } else { heel_of(&body, &world, ankle) });
            let here = part.zip(at);
            let since = stood.filter(|s| here.is_some_and(|h| h.0 == s.0)).or(here);
            if let (Some((_, from)), Some((_, at))) = (since, here) {
                judged.slide = judged.slide.max(Vec3::new(at.x - from.x, 0.0, at.z - from.z).length());
            }
            *stood = since;
        }
        let centres = [&world, &below].map(|w| mass::centre(skeleton, &roles, w));
        if tick <= contact {
            let off = centres[0] - centres[1];
            judged.centre_off = judged.centre_off.max(Vec3::new(off.x, 0.0, off.z).length());
        }
        // In stride lines are seen from the pelvis below, which turns.
        let carrier = if promise.planted { Vec3::ZERO } else { source.root() };
        if tick <= reached {
            let back = if promise.planted { Quat::IDENTITY } else { yaw(-turned(shown, tick)) };
            let seen = |role: Role| back * (world.position(role.joint()) - carrier);
            let wrists = [Role::LeftWrist, Role::RightWrist].map(seen);
            hands.iter_mut().zip(wrists).for_each(|(path, at)| path.push(at));
            necks.push(seen(Role::Neck));
            heads.push(seen(Role::Head));
        }
        if tick == contact {
            judged.centre = centres[0];
            judged.guard = guards(skeleton, &world, promise.target, promise.along);
            judged.unbraced_guard = guards(skeleton, &below, promise.target, promise.along);
        }
    }
    for (k, (role, _)) in limits.iter().enumerate() {
        let over = excess[k] - allowed[k];
        if matches!(role, Role::LeftAnkle | Role::RightAnkle | Role::LeftToe | Role::RightToe) {
            judged.feet_beyond_limits = judged.feet_beyond_limits.max(over);
        } else if over > judged.beyond_limits {
            (judged.beyond_limits, judged.beyond_which) = (over, Some(*role));
        }
    }
    for (k, (a, b)) in PAIRS.into_iter().enumerate() {
        let deeper = own_depths[k].0 - source_depths[k].max(0.0);
        if deeper > judged.penetration {
            let parts = capsules(skeleton, &world);
            (judged.penetration, judged.penetrates) = (deeper, Some((parts[a].2, parts[b].2)));
            judged.penetrates_at = own_depths[k].1 as f32 / TICKS as f32;
        }
    }
    for (k, path) in hands.iter().enumerate() {
        judged.strays[k] = strays(path);
        let speed = |pair: &[Vec3]| (pair[1] - pair[0]).length() * TICKS as f32;
        judged.first_speeds[k] = path.windows(2).next().map_or(0.0, speed);
        judged.hand_speed = path.windows(2).map(speed).fold(judged.hand_speed, f32::max);
    }
    judged.neck_strays = strays(&necks);
    judged.neck_speed = necks.windows(2).next().map_or(0.0, |pair| (pair[1] - pair[0]).length() * TICKS as f32);
    judged.wobble = wobbles(&heads);
    let turned = if promise.planted { 0.0 } else { turned(shown, reached) };
    judged.plain_wobble = plain_wobble(skeleton, shown, reached, turned, promise.planted);
    judged
}

/// By how much the pelvis below has turned until a tick, radians.
fn turned(shown: &Shown, tick: usize) -> f32 {
    let facing = |pose: &Pose| yaw_of(pose.rotation(Role::Pelvis.joint()) * Vec3::Z);
    wrap(facing(&shown.below[tick]) - facing(&shown.below[0]))
}

/// The wobble of a blend joint by joint between the same two poses, with the pelvis moved so that the centre of mass is on its line.
fn plain_wobble(skeleton: &Skeleton, shown: &Shown, reached: usize, veers: f32, planted: bool) -> f32 {
    let roles = Roles::canonical();
    let mut world = WorldPose::default();
    let mut centre = |pose: &Pose| {
        fk::pose(skeleton, pose, &mut world);
        mass::centre(skeleton, &roles, &world)
    };
    let (first, last) = (&shown.poses[0], &shown.poses[reached]);
    let (from, to) = (centre(first), centre(last));
    let mut heads = Vec::new();
    let mut out = WorldPose::default();
    for tick in 0..=reached {
        let way = tick as f32 / reached.max(1) as f32;
        let mut pose = first.clone();
        for (q, p) in pose.rotations.iter_mut().zip(&last.rotations) {
            *q = slerp(*q, *p, way);
        }
        pose.translations[0] = first.root().lerp(last.root(), way);
        let off = from.lerp(to, way) - centre(&pose);
        pose.translations[0] += Vec3::new(off.x, 0.0, off.z);
        fk::pose(skeleton, &pose, &mut out);
        let carrier = if planted { Vec3::ZERO } else { shown.below[0].root().lerp(shown.below[reached].root(), way) };
        heads.push(yaw(-veers * way) * (out.position(Role::Head.joint()) - carrier));
    }
    wobbles(&heads)
}

/// How far the head of one pose is turned from that of another, radians.
pub fn head_turned(skeleton: &Skeleton, a: &Pose, b: &Pose) -> f32 {
    let mut world = WorldPose::default();
    let mut head = |pose: &Pose| {
        fk::pose(skeleton, pose, &mut world);
        world.rotation(Role::Head.joint())
    };
    between(head(a), head(b))
}
