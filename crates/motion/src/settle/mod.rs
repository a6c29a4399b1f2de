//! Weight: a body is moved only as soles can push it.
//!
//! What the floor gives acts at one point, the zero-moment point (Vukobratović and Borovac 2004). Of a body whose mass is taken to be at its
//! centre `c` it is at `c - c.y / (g + c.y'') c''` on the floor, and it must be within the soles; the force there cannot pull. [`path`] finds
//! the way of the centre nearest to a given one for which both hold, and [`clip`] moves pelvis and trunk of any motion along it. Feet
//! stay where they are, in the air they go where they went, and place and speed at both ends are kept.
//!
//! Does not: find out which feet are planted, move feet, or know pushes from outside (hits, falls, hands on the floor).

mod ground;
mod nearest;

use crate::anatomy::Anatomy;
use crate::blend::ease;
use crate::ik::Chain;
use crate::rotation::from_vector;
use crate::{
    Clip, ClipError, Contacts, FrameIdx, Pose, Quat, Role, Roles, Skeleton, SpanKind, Vec2, Vec3, WorldPose, fk, mass,
    support,
};
use ground::Ground;
use nearest::{Limit, Row, nearest};

/// Metres per second squared.
const GRAVITY: f64 = 9.81;
/// A change of the path is as smooth as this many seconds.
const SMOOTH: f64 = 0.12;
/// Around a flight bodies push off and are caught harder than anywhere else, seconds.
const AROUND_FLIGHT: f32 = 0.14;
/// How much of the way of the hips the head does not go along, for the trunk leans against it.
const LEAN: f32 = 0.75;
/// The centre of mass is moved no farther than this, metres, where keys ask for what no soles could do; and how firmly that counts.
const FARTHEST: f64 = 0.10;
const FIRM: f64 = 2.0;
/// The trunk leans no farther than this, radians.
const MOST_LEAN: f32 = 0.2;
/// Legs are stretched to this share of their length, or as far as they already are.
const LEG_REACH: f32 = 0.9985;
/// Frames over which the pelvis gives way at 60 a second, in seconds.
const GIVE: f32 = 0.12;
/// Hands that strike are on time and in place in their active window, and so long around it they go back to the chest's, seconds.
const HANDS: f32 = 0.16;
/// The centre of mass is found by so many rounds of moving the pelvis and reaching with the legs: less than a tenth of a millimetre is left.
const ROUNDS: usize = 3;

/// What a body on its soles does at most, of one kind of action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// Acceleration of the centre of mass along the floor, m/s².
    pub along: f32,
    /// Acceleration downwards with a foot on the floor, m/s².
    pub down: f32,
    /// How far from the edge of the soles the zero-moment point stays, metres; less on one narrow sole.
    pub inset: f32,
}

/// Bounds of each kind, from peaks of accelerations, smoothed at 6 Hz, of the ACCAD captures on the canonical body that `docs/motions.md` names:
/// straights 3.0 to 4.4 m/s² along the floor and hooks 3.3; dodges below 2 in a sway and 4 in a sidestep; turns 3.2 to 3.7; steps 4.1 forward and
/// 6.4 aside; changes of stance 2.7; downwards 4.1 in side steps, and no more in anything else on the floor. What smoothing takes off a peak is
/// left to be had, a tenth to a sixth.
const BOUNDS: [(SpanKind, Bounds); 8] = [
    (SpanKind::Attack, Bounds { along: 3.8, down: 4.2, inset: -0.005 }),
    (SpanKind::Avoid, Bounds { along: 4.6, down: 5.2, inset: -0.008 }),
    (SpanKind::Block, Bounds { along: 4.6, down: 4.6, inset: -0.01 }),
    (SpanKind::Step, Bounds { along: 6.4, down: 4.2, inset: 0.02 }),
    (SpanKind::Turn, Bounds { along: 4.2, down: 4.2, inset: 0.0 }),
    (SpanKind::Walk, Bounds { along: 4.0, down: 4.6, inset: 0.0 }),
    (SpanKind::Run, Bounds { along: 8.0, down: 9.81, inset: 0.0 }),
    (SpanKind::Idle, Bounds { along: 2.7, down: 4.6, inset: 0.02 }),
];

impl Bounds {
    /// Of an action; `None` where bodies are pushed by something else than their soles: hit, falling, lying, getting up.
    pub fn of(kind: SpanKind) -> Option<Bounds> {
        BOUNDS.iter().find(|(k, _)| *k == kind).map(|(_, bounds)| *bounds)
    }

    /// Of all that happens in a clip. A clip without spans may hold anything: it has the widest there are on the floor, those of a step.
    pub fn of_clip(clip: &Clip) -> Option<Bounds> {
        if clip.spans.is_empty() {
            return Bounds::of(SpanKind::Step);
        }
        Bounds::of_kinds(clip.spans.iter().map(|span| span.kind))
    }

    /// Of several kinds: the widest. `None` if there is none, or one that has none.
    pub fn of_kinds(kinds: impl Iterator<Item = SpanKind>) -> Option<Bounds> {
        let wider = |a: Bounds, b: Bounds| Bounds {
            along: a.along.max(b.along),
            down: a.down.max(b.down),
            inset: a.inset.min(b.inset),
        };
        let all: Option<Vec<Bounds>> = kinds.map(Bounds::of).collect();
        all?.into_iter().reduce(wider)
    }
}

/// The way of the centre of mass nearest to `centres` that soles could push it along. `soles` are the hulls of what bears
/// ([`soles()`]), empty in flight. As many centres come back; where nothing has to change they are the same.
pub fn path(centres: &[Vec3], soles: &[Vec<Vec2>], fps: f32, bounds: &Bounds) -> Vec<Vec3> {
    let frames = centres.len().min(soles.len());
    let grounded = soles.iter().any(|s| s.len() >= 3);
    if frames < 5 || frames != centres.len() || !grounded || centres.iter().any(|c| !c.is_finite()) {
        return centres.to_vec();
    }
    let fps = f64::from(fps);
    let smooth = (SMOOTH * fps) * (SMOOTH * fps) * (SMOOTH * fps) * (SMOOTH * fps);
    let heights = settled_heights(centres, soles, fps, smooth, f64::from(bounds.down));
    let ground: Vec<Ground> = centres.iter().map(|c| Ground::new(f64::from(c.x), f64::from(c.z))).collect();
    // Height over what the floor gives: how far the zero-moment point is ahead of the centre for an acceleration of one.
    let lever: Vec<f64> = (0..frames)
        .map(|i| (heights[i] / (GRAVITY + bend(&heights, i, fps)).max(0.3 * GRAVITY)).clamp(0.0, 0.4))
        .collect();
    let flies = |i: usize| soles[i].len() < 3;
    let hulls: Vec<Vec<Ground>> = soles.iter().map(|s| inset(s, f64::from(bounds.inset))).collect();
    let own_bend = |i: usize| {
        let at = |k: usize| ground[k.clamp(0, frames - 1)];
        if i == 0 || i + 1 == frames { Ground::ZERO } else { (at(i - 1) - at(i) * 2.0 + at(i + 1)) * (fps * fps) }
    };
    let rows = |i: usize| {
        let scale = lever[i] * fps * fps;
        let point = Row { own: 1.0 + 2.0 * scale, beside: -scale };
        if flies(i) { Row::bend(scale) } else { point }
    };
    // In flight whatever a body does its centre falls: it keeps the acceleration it has.
    let stands = |i: usize, p: Ground| if flies(i) { own_bend(i) * lever[i] } else { into(&hulls[i], p) };
    let gentle = |i: usize, p: Ground| {
        let most = f64::from(bounds.along) * lever[i];
        let length = p.length();
        if flies(i) || length <= most { p } else { p * (most / length) }
    };
    // Hips farther from where they were keyed would take the feet off the floor: what asks for that is settled by half.
    let near = |i: usize, p: Ground| {
        let (at, far) = (ground[i] * FIRM, FARTHEST * FIRM);
        let line = p - at;
        let length = line.length();
        if length <= far { p } else { at + line * (far / length) }
    };
    let limits = [
        Limit { rows: (0..frames).map(rows).collect(), allowed: &stands },
        Limit { rows: (0..frames).map(|i| Row::bend(lever[i] * fps * fps)).collect(), allowed: &gentle },
        Limit { rows: vec![Row { own: FIRM, beside: 0.0 }; frames], allowed: &near },
    ];
    let settled = nearest(&ground, &limits, smooth);
    let place = |(p, y): (&Ground, &f64)| Vec3::new(p.x as f32, *y as f32, p.z as f32);
    settled.iter().zip(&heights).map(place).collect()
}

/// How steeply the line from toe to ankle rises when the heel begins to lift, and when nothing but the ball of the foot bears, radians.
const HEEL_LIFTS: (f32, f32) = (0.35, 0.79);
/// The same when the ball begins to lift, and when only the heel bears: a heel is round, and a fifth of the foot bears at least.
const BALL_LIFTS: (f32, f32) = (0.25, -0.1);
const HEEL_BEARS: f32 = 0.2;

/// The hull of what bears. As a heel lifts, the rearmost point that bears rolls from it to the ball, and the other way round when the ball does:
/// what is said to be planted jumps there.
pub fn soles(skeleton: &Skeleton, roles: &Roles, world: &WorldPose, contacts: Contacts) -> Vec<Vec2> {
    let mut points = support::sole_points(skeleton, roles, world, contacts);
    for (ankle, toe, heel_part, toe_part) in [
        (Role::LeftAnkle, Role::LeftToe, Contacts::LEFT_HEEL, Contacts::LEFT_TOE),
        (Role::RightAnkle, Role::RightToe, Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE),
    ] {
        if contacts.has(toe_part) == contacts.has(heel_part) {
            continue;
        }
        let (Some(ankle), Some(toe)) = (roles.get(ankle), roles.get(toe)) else { continue };
        let bone = world.position(ankle) - world.position(toe);
        let rise = libm::atan2f(bone.y, libm::sqrtf(bone.x * bone.x + bone.z * bone.z));
        let down = |(from, to): (f32, f32)| 1.0 - ((rise - from) / (to - from)).clamp(0.0, 1.0);
        let [heel, ball] = [ankle, toe].map(|joint| Vec2::new(world.position(joint).x, world.position(joint).z));
        // What is lifted as it would be flat, drawn towards what is not.
        let (lifted, at, bears) = if contacts.has(toe_part) {
            (heel_part, ball, down(HEEL_LIFTS))
        } else {
            (toe_part, heel, down(BALL_LIFTS).max(HEEL_BEARS))
        };
        let flat = support::sole_points(skeleton, roles, world, lifted);
        points.extend(flat.into_iter().map(|p| at.lerp(p, bears)));
    }
    support::hull(&points)
}

/// Second difference over time.
fn bend(values: &[f64], i: usize, fps: f64) -> f64 {
    if i == 0 || i + 1 >= values.len() {
        return 0.0;
    }
    (values[i - 1] - 2.0 * values[i] + values[i + 1]) * fps * fps
}

/// Heights that the floor could give: it pushes, and legs give way no faster than `down`.
fn settled_heights(centres: &[Vec3], soles: &[Vec<Vec2>], fps: f64, smooth: f64, down: f64) -> Vec<f64> {
    // As far as heights go a tenth of a second squared brings accelerations to the size of lengths.
    const SCALE: f64 = 0.1;
    let near = (f64::from(AROUND_FLIGHT) * fps) as usize;
    let flies = |i: usize| soles[i].len() < 3;
    let around = |i: usize| (i.saturating_sub(near)..=(i + near).min(soles.len() - 1)).any(flies);
    let free: Vec<bool> = (0..centres.len()).map(around).collect();
    let keyed: Vec<Ground> = centres.iter().map(|c| Ground::new(f64::from(c.y), 0.0)).collect();
    let own: Vec<f64> = centres.iter().map(|c| f64::from(c.y)).collect();
    let pushes = |i: usize, a: Ground| match (flies(i), free[i]) {
        (true, _) => Ground::new(bend(&own, i, fps) * SCALE, 0.0),
        (_, true) => a,
        _ => Ground::new(a.x.max(-down * SCALE), 0.0),
    };
    let rows = vec![Row::bend(SCALE * fps * fps); keyed.len()];
    nearest(&keyed, &[Limit { rows, allowed: &pushes }], smooth).into_iter().map(|p| p.x).collect()
}

/// A hull drawn in towards its middle, so that its nearest edge comes in by `by`, but never to less than a third.
fn inset(hull: &[Vec2], by: f64) -> Vec<Ground> {
    let corners: Vec<Ground> = hull.iter().map(|p| Ground::new(f64::from(p.x), f64::from(p.y))).collect();
    if corners.is_empty() {
        return corners;
    }
    let middle = corners.iter().fold(Ground::ZERO, |sum, c| sum + *c) * (1.0 / corners.len() as f64);
    let room = f64::from(support::margin(hull, Vec2::new(middle.x as f32, middle.z as f32))).max(1e-3);
    let share = (1.0 - by / room).max(1.0 / 3.0);
    corners.iter().map(|c| middle + (*c - middle) * share).collect()
}

/// The point of a convex hull, counter-clockwise, that is nearest to `p`.
fn into(hull: &[Ground], p: Ground) -> Ground {
    let edges = || (0..hull.len()).map(|i| (hull[i], hull[(i + 1) % hull.len()]));
    if edges().all(|(a, b)| (b - a).perp_dot(p - a) >= 0.0) {
        return p;
    }
    let on_edge = |(a, b): (Ground, Ground)| {
        let along = b - a;
        a + along * ((p - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0)
    };
    let nearest = edges().map(on_edge).min_by(|a, b| (*a - p).length_squared().total_cmp(&(*b - p).length_squared()));
    nearest.unwrap_or(p)
}

/// How far the trunk leans for its head not to go along with all of a move of the hips: about a horizontal axis, in the world. `trunk` is the
/// height of the neck over the waist.
pub fn lean_against(moved: Vec3, trunk: f32) -> Quat {
    let back = Vec3::new(-moved.x, 0.0, -moved.z) * (LEAN / trunk.max(0.1));
    from_vector(Vec3::Y.cross(back).clamp_length_max(MOST_LEAN))
}

/// The same motion, moved as soles could move it: see the module. Clips whose planted feet are not known, or that nothing is planted in, come
/// back as they are.
pub fn clip(clip: &Clip, roles: &Roles, anatomy: &Anatomy, bounds: &Bounds) -> Result<Clip, ClipError> {
    let Some(body) = Settler::new(clip, roles, anatomy) else { return Ok(clip.clone()) };
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let frames = clip.frames();
    let (mut centres, mut standing) = (Vec::with_capacity(frames), Vec::with_capacity(frames));
    for frame in 0..frames {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let over_floor = Vec3::Y * anatomy.floor;
        centres.push(mass::centre(clip.skeleton(), roles, &world) - over_floor);
        standing.push(soles(clip.skeleton(), roles, &world, clip.contacts[frame]));
    }
    let settled = path(&centres, &standing, clip.fps(), bounds);
    let moves: Vec<Vec3> = settled.iter().zip(&centres).map(|(to, from)| *to - *from).collect();
    if moves.iter().all(|m| m.length_squared() < 1e-12) {
        return Ok(clip.clone());
    }
    let needs: Vec<f32> = (0..frames).map(|frame| body.pose(clip, frame, moves[frame], 0.0, &mut pose)).collect();
    let sinks = given_way(&needs, libm::roundf(GIVE * clip.fps()) as usize);
    let mut made = Clip::from_fn(&clip.name, clip.skeleton().clone(), clip.fps(), frames, |frame, pose| {
        let _ = body.pose(clip, frame, moves[frame], sinks[frame], pose);
    })?;
    made.contacts.clone_from(&clip.contacts);
    made.spans.clone_from(&clip.spans);
    Ok(made)
}

/// By how much a pelvis gives way that must at least by `needs`: it begins to before and ends after. At both ends it does not.
fn given_way(needs: &[f32], reach: usize) -> Vec<f32> {
    let around = |list: &[f32], of: &dyn Fn(&[f32]) -> f32| -> Vec<f32> {
        (0..list.len()).map(|i| of(&list[i.saturating_sub(reach)..(i + reach + 1).min(list.len())])).collect()
    };
    let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
    let most = around(needs, &|part| part.iter().copied().fold(0.0, f32::max));
    let even = around(&most, &mean);
    let from_end = |i: usize| i.min(needs.len() - 1 - i) as f32 / (2 * reach).max(1) as f32;
    even.iter().enumerate().map(|(i, sink)| sink * ease(from_end(i).min(1.0))).collect()
}

/// The joints that are moved.
struct Settler<'a> {
    roles: &'a Roles,
    legs: [Chain; 2],
    arms: [(Role, Option<Chain>); 2],
}

impl<'a> Settler<'a> {
    fn new(clip: &Clip, roles: &'a Roles, anatomy: &Anatomy) -> Option<Settler<'a>> {
        if clip.contacts.len() != clip.frames() || clip.contacts.iter().all(|c| *c == Contacts::NONE) {
            return None;
        }
        let chain = |end: Role, axis: Vec3| {
            let hinge = end.parent()?;
            let top = hinge.parent()?;
            let axis = anatomy.frame(top)? * axis;
            Some(Chain { top: roles.get(top)?, hinge: roles.get(hinge)?, end: roles.get(end)?, axis })
        };
        let legs = [chain(Role::LeftAnkle, Vec3::X)?, chain(Role::RightAnkle, Vec3::X)?];
        let arms =
            [(Role::LeftWrist, Vec3::NEG_Y), (Role::RightWrist, Vec3::Y)].map(|(end, axis)| (end, chain(end, axis)));
        Some(Settler { roles, legs, arms })
    }

    /// How surely a hand is where its motion has it: it strikes or guards then.
    fn held(clip: &Clip, hand: Role, seconds: f32) -> f32 {
        let window = |from: f32, to: f32| ease((1.0 - (from - seconds).max(seconds - to) / HANDS).clamp(0.0, 1.0));
        let spans = clip.spans.iter().filter(|s| s.part == Some(hand)).filter_map(|s| s.active);
        spans.map(|(from, to)| window(from, to)).fold(0.0, f32::max)
    }

    /// A frame with its centre of mass moved, sunk so far, all feet where they were. Returns how far it is still too high for its legs.
    fn pose(&self, clip: &Clip, frame: usize, moved: Vec3, sink: f32, pose: &mut Pose) -> f32 {
        let skeleton = clip.skeleton();
        let mut world = WorldPose::default();
        clip.pose(FrameIdx(frame as u32), pose);
        fk::pose(skeleton, pose, &mut world);
        let before = world.clone();
        let centre = mass::centre(skeleton, self.roles, &before) + moved;
        let [pelvis, waist, neck] = [Role::Pelvis, Role::Waist, Role::Neck].map(|r| self.roles.get(r));
        if let (Some(pelvis), Some(waist), Some(neck)) = (pelvis, waist, neck) {
            let trunk = (world.position(neck) - world.position(waist)).length();
            let lean = lean_against(moved, trunk);
            let above = skeleton.parent(waist).unwrap_or(pelvis);
            pose.rotations[waist.at()] = (world.rotation(above).conjugate() * lean * world.rotation(waist)).normalize();
            fk::pose(skeleton, pose, &mut world);
            // The head looks where it looked.
            if let Some(on) = skeleton.parent(neck) {
                pose.rotations[neck.at()] = (world.rotation(on).conjugate() * before.rotation(neck)).normalize();
            }
        }
        pose.translations[0] += moved;
        let mut short = 0.0f32;
        for _ in 0..ROUNDS {
            fk::pose(skeleton, pose, &mut world);
            for leg in &self.legs {
                leg.reach_within(LEG_REACH, skeleton, before.position(leg.end), pose, &mut world);
            }
            let off = centre - mass::centre(skeleton, self.roles, &world);
            pose.translations[0] += Vec3::new(off.x, 0.0, off.z);
        }
        pose.translations[0].y -= sink;
        fk::pose(skeleton, pose, &mut world);
        for leg in &self.legs {
            short = short.max(too_high(leg, &before, &world));
            leg.reach_within(LEG_REACH, skeleton, before.position(leg.end), pose, &mut world);
        }
        for (hand, arm) in &self.arms {
            let Some(arm) = arm else { continue };
            let held = Settler::held(clip, *hand, frame as f32 / clip.fps());
            if held > 0.0 {
                let to = world.position(arm.end).lerp(before.position(arm.end), held);
                arm.reach_within(0.985, skeleton, to, pose, &mut world);
            }
        }
        short
    }
}

/// How far a hip must come down for its leg to reach where the ankle was, stretched no farther than it was or [`LEG_REACH`].
fn too_high(leg: &Chain, before: &WorldPose, world: &WorldPose) -> f32 {
    let [top, hinge, end] = [leg.top, leg.hinge, leg.end].map(|j| before.position(j));
    let longest = (LEG_REACH * ((hinge - top).length() + (end - hinge).length())).max((end - top).length());
    let line = world.position(leg.top) - end;
    let flat = line.x * line.x + line.z * line.z;
    (line.y - (longest * longest - flat).max(0.0).sqrt()).max(0.0)
}

#[cfg(test)]
mod tests;
