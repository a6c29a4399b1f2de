//! The same motion on another body: other proportions, other joint frames, the same feet on the ground.

use std::sync::Arc;

use crate::anatomy::Anatomy;
use crate::blend::ease;
use crate::ik::Chain;
use crate::{Clip, ClipError, Contacts, FrameIdx, JointIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};

/// One side of a retarget: a skeleton, who is what in it, and how its frames lie.
#[derive(Clone, Copy, Debug)]
pub struct Actor<'a> {
    /// The joints.
    pub skeleton: &'a Arc<Skeleton>,
    /// Who is what.
    pub roles: &'a Roles,
    /// Measured on a clip of it or on its rest pose.
    pub anatomy: &'a Anatomy,
}

/// Time before landing and after leaving over which the ground takes and loses its hold of a foot, seconds.
const HAND_OVER: f32 = 0.15;

/// Plays a clip of one body on another. Lengths scale with the legs; attitudes are kept; the balls of planted feet go where the source's
/// went on its own scale, so what was planted stays planted. The floor ends up at 0. Needs the clip's contacts for that.
pub fn retarget(clip: &Clip, from: Actor<'_>, to: Actor<'_>) -> Result<Clip, ClipError> {
    let scale = to.anatomy.leg / from.anatomy.leg;
    let legs = [Side::new(&from, &to, Role::LeftAnkle), Side::new(&from, &to, Role::RightAnkle)];
    let feet = [
        (Contacts::LEFT_HEEL, Contacts::LEFT_TOE, Role::LeftAnkle),
        (Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE, Role::RightAnkle),
    ];
    let holds = feet
        .map(|(heel, toe, ankle)| (hold(clip, heel.with(toe)), offsets(clip, &from, &to, scale, (heel, toe), ankle)));
    let drivers = drivers(&from, &to);
    let (mut pose, mut source) = (Pose::default(), WorldPose::default());
    let mut world = WorldPose::default();
    let mut out = Clip::from_fn(&clip.name, Arc::clone(to.skeleton), clip.fps(), clip.frames(), |frame, out| {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut source);
        out.clone_from(&Pose::rest(to.skeleton));
        // Attitudes, parents first; what nobody drives keeps its rest.
        world.rotations.clear();
        for joint in to.skeleton.joints() {
            let above = to.skeleton.parent(joint).map_or(Quat::IDENTITY, |p| world.rotations[p.at()]);
            if let Some((driver, turn)) = drivers[joint.at()] {
                out.rotations[joint.at()] = (above.conjugate() * source.rotation(driver) * turn).normalize();
            }
            world.rotations.push(above * out.rotations[joint.at()]);
        }
        place_pelvis(&from, &to, scale, &source, out, &mut world);
        for (leg, (hold, offsets)) in legs.iter().zip(&holds) {
            let Some(leg) = leg else { continue };
            if let (Some(ball), true) = (ball_of(&from, &source, leg.foot), hold[frame] > 0.0) {
                let wanted = Vec3::new(ball.x, ball.y - from.anatomy.floor, ball.z) * scale + offsets[frame];
                leg.plant(&to, wanted, hold[frame], out, &mut world);
            }
        }
    })?;
    out.contacts.clone_from(&clip.contacts);
    out.spans.clone_from(&clip.spans);
    Ok(out)
}

/// Per joint of the target: which source joint turns it, and the constant between their frames.
fn drivers(from: &Actor<'_>, to: &Actor<'_>) -> Vec<Option<(JointIdx, Quat)>> {
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

fn place_pelvis(
    from: &Actor<'_>,
    to: &Actor<'_>,
    scale: f32,
    source: &WorldPose,
    out: &mut Pose,
    world: &mut WorldPose,
) {
    // Heights are measured from the hips: they are what the legs hold up.
    let middle = |world: &WorldPose, actor: &Actor<'_>| {
        let hips = [Role::LeftHip, Role::RightHip].map(|r| actor.roles.get(r).map(|j| world.position(j)));
        match hips {
            [Some(l), Some(r)] => (l + r) * 0.5,
            _ => world.position(actor.roles.get(Role::Pelvis).unwrap_or(JointIdx::ROOT)),
        }
    };
    fk::pose(to.skeleton, out, world);
    let s = middle(source, from);
    let height = (s.y - from.anatomy.floor - from.anatomy.ankle) * scale + to.anatomy.ankle;
    let wanted = Vec3::new(s.x * scale, height, s.z * scale);
    let shift = wanted - middle(world, to);
    // A bone under the pelvis that stands for the place on the ground moves along the ground; the pelvis rises and sinks on it.
    let pelvis = to.roles.get(Role::Pelvis).filter(|p| *p != JointIdx::ROOT);
    let own = pelvis.and_then(|p| Some((p, to.skeleton.movers().binary_search(&p).ok()?)));
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

/// One leg of the target.
struct Side {
    foot: Role,
    leg: Chain,
}

impl Side {
    fn new(from: &Actor<'_>, to: &Actor<'_>, ankle: Role) -> Option<Side> {
        let knee = ankle.parent()?;
        let hip = knee.parent()?;
        from.roles.get(ankle)?;
        let axis = to.anatomy.frame(hip)? * Vec3::X;
        let leg = Chain { top: to.roles.get(hip)?, hinge: to.roles.get(knee)?, end: to.roles.get(ankle)?, axis };
        Some(Side { foot: ankle, leg })
    }

    /// Bends the leg so that the ball of the foot stands where it is wanted, as far as the ground holds it.
    fn plant(&self, to: &Actor<'_>, wanted: Vec3, hold: f32, out: &mut Pose, world: &mut WorldPose) {
        let Some(own) = ball_of(to, world, self.foot) else { return };
        let target = world.position(self.leg.end) + (wanted - own) * hold;
        self.leg.reach(to.skeleton, target, out, world);
    }
}

/// The bottom of the ball of a foot, in the world. `ankle` says which foot.
pub fn ball_of(actor: &Actor<'_>, world: &WorldPose, ankle: Role) -> Option<Vec3> {
    let attitude = actor.anatomy.canonical(actor.roles, world, ankle)?;
    let toe = ankle.child().and_then(|toe| actor.roles.get(toe));
    Some(match toe {
        Some(toe) => world.position(toe) - attitude * Vec3::Y * actor.anatomy.toe,
        // Where it would be on a person of that leg.
        None => {
            let ahead = Vec3::new(0.0, -actor.anatomy.ankle, 0.16 * actor.anatomy.leg);
            world.position(actor.roles.get(ankle)?) + attitude * ahead
        }
    })
}

/// How far the heel's corner reaches behind the ankle, in legs.
const HEEL: f32 = 0.05;

/// The bottom of the heel, in the world. `ankle` says which foot.
pub fn heel_of(actor: &Actor<'_>, world: &WorldPose, ankle: Role) -> Option<Vec3> {
    let attitude = actor.anatomy.canonical(actor.roles, world, ankle)?;
    Some(world.position(actor.roles.get(ankle)?) + attitude * heel_below(actor))
}

/// From ankle to the heel's bottom in the frame of a canonical foot.
fn heel_below(actor: &Actor<'_>) -> Vec3 {
    Vec3::new(0.0, -actor.anatomy.ankle, -HEEL * actor.anatomy.leg)
}

/// From ankle to the ball's bottom in the frame of a canonical foot.
fn foot_of(actor: &Actor<'_>, world: &WorldPose, ankle: Role) -> Option<Vec3> {
    let attitude = actor.anatomy.canonical(actor.roles, world, ankle)?;
    let at = world.position(actor.roles.get(ankle)?);
    Some(attitude.conjugate() * (ball_of(actor, world, ankle)? - at))
}

/// By how much the ball of the target's foot stands beside where the source's stood, in each frame: feet are of different length, and
/// it is the ankle that must be under the leg when the sole is flat. Constant while the ball is planted, so that it does not slide; while
/// only the heel is, so that the heel does not; passing over in between.
fn offsets(
    clip: &Clip,
    from: &Actor<'_>,
    to: &Actor<'_>,
    scale: f32,
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
        let ahead = attitude * (own - source * scale);
        let longer = attitude * (own - heel_below(to) - (source - heel_below(from)) * scale);
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
