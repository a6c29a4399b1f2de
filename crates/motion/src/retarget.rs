//! The same motion on another body: other proportions, other joint frames, the same feet on the ground.

use std::sync::Arc;

use glam::{Mat4, Vec4};

use crate::anatomy::Anatomy;
use crate::blend::ease;
use crate::ik::Chain;
use crate::rotation::about;
use crate::{Clip, ClipError, Contacts, FrameIdx, JointIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};

/// One side of a retarget: a skeleton, the roles of its joints, and how its frames lie.
#[derive(Clone, Copy, Debug)]
pub struct RetargetBody<'a> {
    /// The joints.
    pub skeleton: &'a Arc<Skeleton>,
    /// Which joint plays which role.
    pub roles: &'a Roles,
    /// Measured on a clip of it or on its rest pose.
    pub anatomy: &'a Anatomy,
}

/// Time before landing and after leaving over which the ground takes and loses its hold of a foot, seconds.
const HAND_OVER: f32 = 0.15;

/// Plays a clip of one body on another. Lengths scale with the legs; attitudes are kept; the balls of planted feet go where the source's
/// went on its own scale, so what was planted stays planted. The floor ends up at 0. Needs the clip's contacts for that.
pub fn retarget(clip: &Clip, from: RetargetBody<'_>, to: RetargetBody<'_>) -> Result<Clip, ClipError> {
    retarget_along(clip, from, to, to.anatomy.leg / from.anatomy.leg)
}

/// The same in a scene, where obstacles, balls and others stay where they are: hips and feet go where the source's went along the ground,
/// so that shorter legs take longer steps.
pub fn retarget_in_scene(clip: &Clip, from: RetargetBody<'_>, to: RetargetBody<'_>) -> Result<Clip, ClipError> {
    retarget_along(clip, from, to, 1.0)
}

/// `ground` is the scale of ways along the ground.
fn retarget_along(clip: &Clip, from: RetargetBody<'_>, to: RetargetBody<'_>, ground: f32) -> Result<Clip, ClipError> {
    let scale = to.anatomy.leg / from.anatomy.leg;
    let scales = Vec3::new(ground, scale, ground);
    let legs = [Side::new(&from, &to, Role::LeftAnkle), Side::new(&from, &to, Role::RightAnkle)];
    let feet = [
        (Contacts::LEFT_HEEL, Contacts::LEFT_TOE, Role::LeftAnkle),
        (Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE, Role::RightAnkle),
    ];
    let holds = feet
        .map(|(heel, toe, ankle)| (hold(clip, heel.with(toe)), offsets(clip, &from, &to, ground, (heel, toe), ankle)));
    let drivers = drivers(&from, &to);
    let (mut pose, mut source) = (Pose::default(), WorldPose::default());
    let mut world = WorldPose::default();
    let mut out = Clip::from_fn(&clip.name, Arc::clone(to.skeleton), clip.fps(), clip.frames(), |frame, out| {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut source);
        let hips = place_pelvis(&from, &to, scales, &source);
        pose_as(&to, &drivers, &source, Quat::IDENTITY, hips, out, &mut world);
        let stands = [0, 1].map(|k| {
            let (leg, (hold, offsets)) = (legs[k].as_ref()?, &holds[k]);
            let ball = ball_of(&from, &source, leg.foot).filter(|_| hold[frame] > 0.0)?;
            let wanted = Vec3::new(ball.x, ball.y - from.anatomy.floor, ball.z) * scales + offsets[frame];
            let ankle = world.position(leg.leg.end) + wanted - ball_of(&to, &world, leg.foot)?;
            let hip = world.position(leg.leg.top) - hips;
            let carries = upright(hips + hip - ankle);
            let length = leg.stretch(&source, &world);
            Some((leg, Stand { hip, ankle, wanted, hold: hold[frame], carries, length }))
        });
        let (shift, roll) = carry(hips, &stands.map(|s| s.map(|(_, stand)| stand)));
        if shift != Vec3::ZERO {
            pose_as(&to, &drivers, &source, roll, hips + shift, out, &mut world);
        }
        for (leg, stand) in stands.into_iter().flatten() {
            leg.plant(&to, &stand, out, &mut world);
        }
    })?;
    out.contacts.clone_from(&clip.contacts);
    out.spans.clone_from(&clip.spans);
    Ok(out)
}

/// Per joint of the target: which source joint turns it, and the constant between their frames.
fn drivers(from: &RetargetBody<'_>, to: &RetargetBody<'_>) -> Vec<Option<(JointIdx, Quat)>> {
    let mut drivers = vec![None; to.skeleton.len()];
    for (role, joint) in to.roles.iter() {
        let turn = (|| {
            let turn = from.anatomy.frame(role)? * to.anatomy.frame(role)?.conjugate();
            Some((from.roles.get(role)?, turn))
        })();
        drivers[joint.at()] = turn;
    }
    drivers
}

/// Half way between the hips, or the pelvis where there are no hips.
fn middle(world: &WorldPose, body: &RetargetBody<'_>) -> Vec3 {
    let hips = [Role::LeftHip, Role::RightHip].map(|r| body.roles.get(r).map(|j| world.position(j)));
    match hips {
        [Some(l), Some(r)] => (l + r) * 0.5,
        _ => world.position(body.roles.get(Role::Pelvis).unwrap_or(JointIdx::ROOT)),
    }
}

/// Where the middle of the hips goes. Heights are measured from the hips: they are what the legs hold up.
fn place_pelvis(from: &RetargetBody<'_>, to: &RetargetBody<'_>, scales: Vec3, source: &WorldPose) -> Vec3 {
    let s = middle(source, from);
    let height = (s.y - from.anatomy.floor - from.anatomy.ankle) * scales.y + to.anatomy.ankle;
    Vec3::new(s.x * scales.x, height, s.z * scales.z)
}

/// The source's attitudes, but for a pelvis that rolls, with the hips at a place.
fn pose_as(
    to: &RetargetBody<'_>,
    drivers: &[Option<(JointIdx, Quat)>],
    source: &WorldPose,
    roll: Quat,
    hips: Vec3,
    out: &mut Pose,
    world: &mut WorldPose,
) {
    let pelvis = to.roles.get(Role::Pelvis);
    out.clone_from(&Pose::rest(to.skeleton));
    // Parents first; joints without a driver keep their rest rotation.
    world.rotations.clear();
    for joint in to.skeleton.joints() {
        let above = to.skeleton.parent(joint).map_or(Quat::IDENTITY, |p| world.rotations[p.at()]);
        if let Some((driver, turn)) = drivers[joint.at()] {
            let roll = if Some(joint) == pelvis { roll } else { Quat::IDENTITY };
            out.rotations[joint.at()] = (above.conjugate() * roll * source.rotation(driver) * turn).normalize();
        }
        world.rotations.push(above * out.rotations[joint.at()]);
    }
    fk::pose(to.skeleton, out, world);
    let shift = hips - middle(world, to);
    // A bone under the pelvis that stands for the place on the ground moves along the ground; the pelvis rises and sinks on it.
    let own = pelvis.filter(|p| *p != JointIdx::ROOT);
    let own = own.and_then(|p| Some((p, to.skeleton.movers().binary_search(&p).ok()?)));
    match own {
        Some((pelvis, mover)) => {
            let above = to.skeleton.parent(pelvis).map_or(Quat::IDENTITY, |p| world.rotation(p));
            out.translations[0] += Vec3::new(shift.x, 0.0, shift.z);
            out.translations[mover] += above.conjugate() * Vec3::new(0.0, shift.y, 0.0);
        }
        None => out.translations[0] += shift,
    }
    fk::pose(to.skeleton, out, world);
}

/// A foot the ground holds.
#[derive(Clone, Copy)]
struct Stand {
    /// Its hip from the middle of both.
    hip: Vec3,
    /// Where its ankle goes, and its ball.
    ankle: Vec3,
    wanted: Vec3,
    /// How firmly, 0..1.
    hold: f32,
    /// How much of the body the leg may carry, 0..1.
    carries: f32,
    /// From hip to ankle, when the leg is as straight as the source's.
    length: f32,
}

/// How much of a body a leg from ankle to hip may carry, 0..1: nothing where it lies along the ground.
fn upright(leg: Vec3) -> f32 {
    ease((leg.y / leg.length().max(1e-6) - 0.4) / 0.4)
}

/// By how much the hips move and roll so that legs on the ground are as straight as the source's: hips of another width and legs of
/// another length would otherwise flex a straight leg or leave it short of the ground, and the original could not be recovered on the way
/// back. The smallest such change, found by Gauss and Newton; none where no foot is held.
fn carry(hips: Vec3, stands: &[Option<Stand>; 2]) -> (Vec3, Quat) {
    let across = match stands {
        [Some(left), Some(right)] => left.hip - right.hip,
        [Some(one), None] | [None, Some(one)] => one.hip,
        [None, None] => return (Vec3::ZERO, Quat::IDENTITY),
    };
    // A roll lifts one hip and lowers the other.
    let axis = across.cross(Vec3::Y).normalize_or(Vec3::Z);
    // Shift, and roll by its lever.
    let mut change = Vec4::ZERO;
    for _ in 0..16 {
        let roll = about(axis, change.w / LEVER);
        // Of |change|^2 + sum of weight * (stretch - length)^2.
        let (mut matrix, mut right) = (Mat4::IDENTITY, -change);
        for stand in stands.iter().flatten() {
            let hip = roll * stand.hip;
            let line = hips + change.truncate() + hip - stand.ankle;
            let stretch = line.length().max(1e-6);
            let along = line / stretch;
            let along = along.extend(stand.carries * along.dot(axis.cross(hip)) / LEVER);
            let weight = FIRM * stand.hold / (1.0 - stand.hold + FIRM / STIFF);
            matrix += Mat4::from_cols(along * along.x, along * along.y, along * along.z, along * along.w) * weight;
            right += along * ((stand.length - stretch) * weight);
        }
        let step = matrix.inverse() * right;
        change += step;
        if step.length_squared() < 1e-12 {
            break;
        }
    }
    (change.truncate(), about(axis, change.w / LEVER))
}

/// How much straightness counts beside staying, for a foot held by half, and for one held wholly.
const FIRM: f32 = 4.0;
const STIFF: f32 = 4000.0;
/// A roll counts as much as moving this far for a radian, metres.
const LEVER: f32 = 0.19;

/// One leg of the target.
struct Side {
    foot: Role,
    leg: Chain,
    /// Its hip, knee and ankle in the source.
    source: [JointIdx; 3],
}

impl Side {
    fn new(from: &RetargetBody<'_>, to: &RetargetBody<'_>, ankle: Role) -> Option<Side> {
        let knee = ankle.parent()?;
        let hip = knee.parent()?;
        let source = [from.roles.get(hip)?, from.roles.get(knee)?, from.roles.get(ankle)?];
        let axis = to.anatomy.frame(hip)? * Vec3::X;
        let leg = Chain { top: to.roles.get(hip)?, hinge: to.roles.get(knee)?, end: to.roles.get(ankle)?, axis };
        Some(Side { foot: ankle, leg, source })
    }

    /// From hip to ankle, as straight as the source's leg is.
    fn stretch(&self, source: &WorldPose, world: &WorldPose) -> f32 {
        let lengths = |world: &WorldPose, [hip, knee, ankle]: [JointIdx; 3]| {
            let [hip, knee, ankle] = [hip, knee, ankle].map(|j| world.position(j));
            ((ankle - hip).length(), (knee - hip).length() + (ankle - knee).length())
        };
        let (far, whole) = lengths(source, self.source);
        lengths(world, [self.leg.top, self.leg.hinge, self.leg.end]).1 * far / whole.max(1e-6)
    }

    /// Bends the leg so that the ball of the foot stands where it is wanted, as far as the ground holds it.
    fn plant(&self, to: &RetargetBody<'_>, stand: &Stand, out: &mut Pose, world: &mut WorldPose) {
        let Some(own) = ball_of(to, world, self.foot) else { return };
        let (hip, ankle) = (world.position(self.leg.top), world.position(self.leg.end));
        let [now, then] = [ankle - hip, ankle + stand.wanted - own - hip];
        // Round the hip and not straight across, and as straight as the source until the ground is sure of it: what a leg loses of its
        // straightness on the way to the ground could not be recovered on the way back.
        let sure = stand.hold * stand.hold * stand.hold;
        let straight = now.length() + (stand.length - now.length()) * stand.hold;
        let length = straight + (then.length() - straight) * sure;
        let target = hip + now.lerp(then, stand.hold).normalize_or(Vec3::NEG_Y) * length;
        self.leg.reach_within(0.9999, to.skeleton, target, out, world);
    }
}

/// The bottom of the ball of a foot, in the world. `ankle` says which foot.
pub fn ball_of(body: &RetargetBody<'_>, world: &WorldPose, ankle: Role) -> Option<Vec3> {
    let attitude = body.anatomy.canonical(body.roles, world, ankle)?;
    let toe = ankle.child().and_then(|toe| body.roles.get(toe));
    Some(match toe {
        Some(toe) => world.position(toe) - attitude * Vec3::Y * body.anatomy.toe,
        // Where it would be on a person of that leg.
        None => {
            let ahead = Vec3::new(0.0, -body.anatomy.ankle, 0.16 * body.anatomy.leg);
            world.position(body.roles.get(ankle)?) + attitude * ahead
        }
    })
}

/// How far the heel's corner reaches behind the ankle, in legs.
const HEEL: f32 = 0.05;

/// The bottom of the heel, in the world. `ankle` says which foot.
pub fn heel_of(body: &RetargetBody<'_>, world: &WorldPose, ankle: Role) -> Option<Vec3> {
    let attitude = body.anatomy.canonical(body.roles, world, ankle)?;
    Some(world.position(body.roles.get(ankle)?) + attitude * heel_below(body))
}

/// From ankle to the heel's bottom in the frame of a canonical foot.
fn heel_below(body: &RetargetBody<'_>) -> Vec3 {
    Vec3::new(0.0, -body.anatomy.ankle, -HEEL * body.anatomy.leg)
}

/// From ankle to the ball's bottom in the frame of a canonical foot.
fn foot_of(body: &RetargetBody<'_>, world: &WorldPose, ankle: Role) -> Option<Vec3> {
    let attitude = body.anatomy.canonical(body.roles, world, ankle)?;
    let at = world.position(body.roles.get(ankle)?);
    Some(attitude.conjugate() * (ball_of(body, world, ankle)? - at))
}

/// By how much the ball of the target's foot stands beside where the source's stood, in each frame: feet are of different length, and
/// it is the ankle that must be under the leg when the sole is flat. Constant while the ball is planted, so that it does not slide; while
/// only the heel is, so that the heel does not; passing over in between.
fn offsets(
    clip: &Clip,
    from: &RetargetBody<'_>,
    to: &RetargetBody<'_>,
    ground: f32,
    (heel, toe): (Contacts, Contacts),
    ankle: Role,
) -> Vec<Vec3> {
    let frames = clip.contacts.len().min(clip.frames());
    let mut offsets = vec![Vec3::ZERO; clip.frames()];
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    fk::pose(to.skeleton, &Pose::rest(to.skeleton), &mut world);
    let Some(own) = foot_of(to, &world, ankle) else { return offsets };
    // Attitude of the foot, and by how much the target's foot is longer than the source's: from ankle and from heel to ball.
    let mut feet = Vec::with_capacity(frames);
    for frame in 0..frames {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let attitude = from.anatomy.canonical(from.roles, &world, ankle);
        let (Some(attitude), Some(source)) = (attitude, foot_of(from, &world, ankle)) else { return offsets };
        let ahead = attitude * (own - source * ground);
        let longer = attitude * (own - heel_below(to) - (source - heel_below(from)) * ground);
        feet.push((attitude, ahead, longer));
    }
    let foot = heel.with(toe);
    let mut stands: Vec<(usize, usize)> = Vec::new();
    let mut frame = 0;
    while frame < frames {
        let end = frame + clip.contacts[frame..frames].iter().take_while(|c| c.any(foot)).count();
        if end == frame {
            frame += 1;
            continue;
        }
        // One offset a stand, taken where the sole is flattest.
        let flat = |f: &usize| (feet[*f].0 * Vec3::Y).y;
        let flattest = (frame..end).max_by(|a, b| flat(a).total_cmp(&flat(b)).then(b.cmp(a))).unwrap_or(frame);
        let ball = Vec3::new(feet[flattest].1.x, 0.0, feet[flattest].1.z);
        offsets[frame..end].fill(ball);
        // Where only the heel stands the foot turns about it, and meets the ball's offset where the ball comes down or left.
        let mut start = frame;
        while start < end {
            let on_heel = |f: usize| !clip.contacts[f].any(toe);
            let stop = (start..end).find(|f| on_heel(*f) != on_heel(start)).unwrap_or(end);
            if on_heel(start) {
                let meets = if stop < end {
                    stop
                } else if start > frame {
                    start - 1
                } else {
                    flattest
                };
                (start..stop).for_each(|f| offsets[f] = ball + feet[f].2 - feet[meets].2);
            }
            start = stop;
        }
        stands.push((frame, end));
        frame = end;
    }
    for frame in 0..offsets.len() {
        let next = stands.partition_point(|s| s.0 <= frame);
        let before = next.checked_sub(1).map(|i| stands[i].1);
        offsets[frame] = match (before, stands.get(next)) {
            (Some(end), _) if frame < end => offsets[frame],
            (Some(end), Some(&(start, _))) => {
                offsets[end - 1].lerp(offsets[start], ease((frame + 1 - end) as f32 / (start + 1 - end) as f32))
            }
            (Some(end), None) => offsets[end - 1],
            (None, Some(&(start, _))) => offsets[start],
            (None, None) => Vec3::ZERO,
        };
    }
    offsets
}

/// How firmly the ground holds a foot in each frame, 0..1: wholly while any part of it is planted, fading in and out around that.
fn hold(clip: &Clip, foot: Contacts) -> Vec<f32> {
    let mut hold = vec![0.0f32; clip.frames()];
    let reach = (HAND_OVER * clip.fps()).max(1.0);
    let near = reach.ceil() as usize;
    for (frame, _) in clip.contacts.iter().enumerate().filter(|c| c.1.any(foot)) {
        let first = frame.saturating_sub(near);
        for (other, held) in hold.iter_mut().enumerate().skip(first).take(frame + near + 1 - first) {
            *held = held.max(ease(1.0 - other.abs_diff(frame) as f32 / reach));
        }
    }
    hold
}
