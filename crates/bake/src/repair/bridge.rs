//! The synthetic motion between two poses, and whether a person could do it.

use std::sync::Arc;

use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::{Inertia, Velocity, ease};
use kumite_motion::graph::Node;
use kumite_motion::ik::Chain;
use kumite_motion::limits::Limit;
use kumite_motion::rotation::slerp;
use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Quat, Role, Roles, Vec3, WorldPose, fk};

use super::fit::{FEET, Fit, TURNS};
use super::{Draft, MARK, STAYS, Target};
use crate::judge::{Finding, Verdict, judge};

/// Lift of a foot: share of the step's length, and its least and most, metres.
const LIFT: (f32, f32, f32) = (0.22, 0.03, 0.12);
/// How much of the motions around a bridge is judged with it, seconds.
const CONTEXT: f32 = 0.35;

/// A lying body loses the speed it comes in with over this time, seconds.
const SETTLES: f32 = 0.4;
/// Faults the captures already have are accepted up to this many times their size there.
const NO_WORSE: f32 = 1.1;
/// Ends of limbs, which are held above the floor.
const ENDS: [&[Role]; 4] =
    [&[Role::LeftAnkle, Role::LeftToe], &[Role::RightAnkle, Role::RightToe], &[Role::LeftWrist], &[Role::RightWrist]];

impl Draft {
    /// The synthetic motion from a node to what follows, in the place of the node's clip; `None` if no person does that.
    pub(super) fn bridge(&self, node: Node, target: Target, fit: &Fit, seconds: f32) -> Option<Clip> {
        let (from, to) = (&self.clips[node.clip.at()], &self.clips[target.clip.at()]);
        let fps = from.fps();
        let skeleton = from.skeleton();
        let (a, b) = (self.stance(node.clip, node.frame.0), self.stance(target.clip, target.first));
        let frames = (libm::roundf(seconds * fps) as usize).max(4);
        let seconds = frames as f32 / fps;
        let pose = |clip: &Clip, frame: u32| {
            let mut pose = Pose::default();
            clip.pose(FrameIdx(frame.min(clip.frames() as u32 - 1)), &mut pose);
            pose
        };
        let speed = |clip: &Clip, frame: u32| {
            let (x, y) = if frame == 0 { (0, 1) } else { (frame - 1, frame) };
            Velocity::between(&pose(clip, x), &pose(clip, y), 1.0 / clip.fps())
        };
        let left = pose(from, node.frame.0);
        let mut entered = pose(to, target.first);
        fit.align.apply(&mut entered);
        let still = Velocity {
            translations: vec![Vec3::ZERO; entered.translations.len()],
            rotations: vec![Vec3::ZERO; entered.rotations.len()],
        };
        let speed = speed(from, node.frame.0);
        // Lying poses need longer bridges; their motion settles sooner, or limbs would be carried beyond what joints allow.
        let lying = fit.support.is_none();
        let settling = lying.then(|| Inertia::new(&entered, &speed, &entered, &still, seconds.min(SETTLES)));
        let inertia = Inertia::new(&left, if lying { &still } else { &speed }, &entered, &still, seconds);
        let world_of = |pose: &Pose| {
            let mut world = WorldPose::default();
            fk::pose(skeleton, pose, &mut world);
            world
        };
        let (world_a, world_b) = (world_of(&left), world_of(&entered));
        let before = (node.frame.0 > 0).then(|| world_of(&pose(from, node.frame.0 - 1)));
        let lifted = (LIFT.0 * fit.swing).clamp(LIFT.1, LIFT.2);
        let mut contacts = Vec::with_capacity(frames + 1);
        let made = Clip::from_fn(
            &format!("{MARK}{} to {}", from.name, to.name),
            Arc::clone(skeleton),
            fps,
            frames + 1,
            |frame, out| {
                let t = frame as f32 / fps;
                let u = frame as f32 / frames as f32;
                out.clone_from(&entered);
                inertia.apply(t, out);
                if let Some(settling) = &settling {
                    within_limits(&left, &entered, ease(u), out);
                    settling.apply(t, out);
                }
                let mut world = world_of(out);
                if fit.support.is_none() {
                    // A lying body does not sink through the floor: no part gets lower than the lowest of both poses.
                    let floor = lowest(&world_a) + (lowest(&world_b) - lowest(&world_a)) * ease(u);
                    let root = &mut out.translations[Role::Pelvis.joint().at()];
                    root.y += (floor - lowest(&world)).max(0.0);
                    fk::pose(skeleton, out, &mut world);
                    for ends in ENDS {
                        let under = ends.iter().map(|r| {
                            let y = |w: &WorldPose| w.position(r.joint()).y;
                            y(&world_a).min(y(&world_b)) - y(&world)
                        });
                        let under = under.fold(0.0, f32::max);
                        let Some(chain) = Chain::of_canonical(ends[0]).filter(|_| under > 0.0) else { continue };
                        chain.reach(skeleton, world.position(ends[0].joint()) + Vec3::Y * under, out, &mut world);
                    }
                    contacts.push(Contacts::NONE);
                    return;
                }
                let mut planted = Contacts::NONE;
                for (foot, (ankle, toe, parts)) in FEET.into_iter().enumerate() {
                    let Some(chain) = Chain::of_canonical(ankle) else { continue };
                    let (toe_a, toe_b) = (world_a.position(toe.joint()), world_b.position(toe.joint()));
                    let stays = Some(foot) == fit.support || (a.stands(foot) && b.stands(foot) && fit.swing <= STAYS);
                    let at = if stays {
                        let bits = if u < 0.5 { a.planted.bits() } else { b.planted.bits() };
                        // A foot that turns stands on its ball.
                        let turns = Some(foot) == fit.support && fit.pivot.abs() > TURNS;
                        let toes = Contacts::LEFT_TOE.with(Contacts::RIGHT_TOE).bits();
                        let bits = if turns { toes } else { bits };
                        planted = planted.with(Contacts::from_bits(bits & parts.bits()));
                        // The ball is held; only its height goes over to where it will be.
                        Vec3::new(toe_a.x, toe_a.y + (toe_b.y - toe_a.y) * ease(u), toe_a.z)
                    } else {
                        let leaves = if a.stands(foot) { 0.08 } else { 0.0 };
                        if u <= leaves && a.stands(foot) {
                            planted = planted.with(Contacts::from_bits(a.planted.bits() & parts.bits()));
                        } else if u >= 0.94 && b.stands(foot) {
                            planted = planted.with(Contacts::from_bits(b.planted.bits() & parts.bits()));
                        }
                        let s = ((u - leaves) / (0.94 - leaves)).clamp(0.0, 1.0);
                        let (keep, drift) = fade_out(s, seconds * (0.94 - leaves));
                        let velocity = match &before {
                            Some(before) if !a.stands(foot) => (toe_a - before.position(toe.joint())) * fps,
                            _ => Vec3::ZERO,
                        };
                        let sine = libm::sinf(std::f32::consts::PI * s);
                        let way = toe_b + (toe_a - toe_b) * keep + velocity * drift + Vec3::Y * (lifted * sine * sine);
                        // Nothing goes through the floor.
                        Vec3::new(way.x, way.y.max(toe_a.y.min(toe_b.y)), way.z)
                    };
                    let attitude: Quat =
                        slerp(world_a.rotation(ankle.joint()), world_b.rotation(ankle.joint()), ease(u));
                    let Some(knee) = ankle.parent() else { continue };
                    out.rotations[ankle.joint().at()] =
                        (world.rotation(knee.joint()).conjugate() * attitude).normalize();
                    fk::pose(skeleton, out, &mut world);
                    let off = world.position(toe.joint()) - world.position(ankle.joint());
                    chain.reach(skeleton, at - off, out, &mut world);
                }
                contacts.push(planted);
            },
        );
        let mut made = made.ok()?;
        made.contacts = contacts;
        self.plausible(node, target, fit, &made).then_some(made)
    }

    /// Judged between what comes before and after; faults that the captures have there themselves do not count.
    fn plausible(&self, node: Node, target: Target, fit: &Fit, bridge: &Clip) -> bool {
        let (from, to) = (&self.clips[node.clip.at()], &self.clips[target.clip.at()]);
        let context = (CONTEXT * from.fps()) as usize;
        let before = node.frame.at().min(context);
        let after = (to.frames() - 1 - target.first as usize).min(context);
        let middle = before..before + bridge.frames();
        let mut contacts = Vec::new();
        let clip = Clip::from_fn(
            "bridged",
            Arc::clone(from.skeleton()),
            from.fps(),
            before + bridge.frames() + after,
            |frame, out| {
                if frame < middle.start {
                    let at = node.frame.at() - before + frame;
                    from.pose(FrameIdx(at as u32), out);
                    contacts.push(self.stance(node.clip, at as u32).planted);
                } else if frame < middle.end {
                    bridge.pose(FrameIdx((frame - middle.start) as u32), out);
                    contacts.push(bridge.contacts[frame - middle.start]);
                } else {
                    let at = target.first + 1 + (frame - middle.end) as u32;
                    to.pose(FrameIdx(at), out);
                    fit.align.apply(out);
                    contacts.push(self.stance(target.clip, at).planted);
                }
            },
        );
        let Ok(mut clip) = clip else { return false };
        clip.contacts = contacts;
        let verdict = judge(&clip, &Roles::canonical(), &Anatomy::of_canonical(clip.skeleton()));
        if verdict.passes() {
            return true;
        }
        // Each of the two poses, held: what is wrong with it already.
        let borrowed = [(from, node.frame.0), (to, target.first)].map(|(clip, at)| {
            let held = Clip::from_fn("held", Arc::clone(clip.skeleton()), clip.fps(), 2 * context + 1, |_, out| {
                clip.pose(FrameIdx(at), out);
            });
            held.map(|c| judge(&c, &Roles::canonical(), &Anatomy::of_canonical(c.skeleton()))).unwrap_or_default()
        });
        let borrowed: Vec<&Finding> = borrowed.iter().flat_map(Verdict::faults).collect();
        // The join after the bridge is softened when it is played: there only what lasts counts.
        let own = middle.start..middle.end.saturating_sub(2);
        !verdict.faults().any(|f| {
            own.contains(&f.frame)
                && !borrowed.iter().any(|b| (b.what, b.part) == (f.what, f.part) && f.measured <= NO_WORSE * b.measured)
        })
    }
}

/// Weights of an offset and of its speed, `s` of the way through `whole` seconds: as in inertialised joins.
fn fade_out(s: f32, whole: f32) -> (f32, f32) {
    let rest = 1.0 - s;
    let cube = rest * rest * rest;
    (cube * (1.0 + 3.0 * s + 6.0 * s * s), whole * s * cube * (1.0 + 3.0 * s))
}

/// Joints go from one pose to the other within what they can do. Where the poses themselves exceed that (lying poses are seldom captured well), the excess
/// is faded out and in: the short way between them may lead through impossible poses.
fn within_limits(from: &Pose, to: &Pose, way: f32, out: &mut Pose) {
    for (role, limit) in Role::ALL.into_iter().filter_map(|r| Some((r, Limit::of(r)?))) {
        let joint = role.joint().at();
        let (a, b) = (from.rotations[joint], to.rotations[joint]);
        let (can_a, can_b) = (limit.clamp(a), limit.clamp(b));
        let beyond_a = slerp(Quat::IDENTITY, can_a.conjugate() * a, 1.0 - way);
        let beyond_b = slerp(Quat::IDENTITY, can_b.conjugate() * b, way);
        out.rotations[joint] = (slerp(can_a, can_b, way) * beyond_a * beyond_b).normalize();
    }
}

/// Height of the lowest joint of the trunk and the knees, metres.
fn lowest(world: &WorldPose) -> f32 {
    let trunk = [Role::Pelvis, Role::Neck, Role::Head, Role::LeftShoulder, Role::RightShoulder, Role::LeftKnee];
    trunk.iter().chain(&[Role::RightKnee]).map(|r| world.position(r.joint()).y).fold(f32::INFINITY, f32::min)
}
