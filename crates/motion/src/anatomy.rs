//! How the joint frames of any skeleton lie in the body: what is needed to carry a pose from one to another.
//!
//! Joint frames differ wildly between sources, and in many a pose of zero rotations is no human pose at all. So the axes of
//! each segment are measured on the motion itself: along the bone, about the hinge, across the hips, up from a planted sole.

use crate::humanoid::{Role, Roles, Side};
use crate::{Clip, FrameIdx, Pose, Quat, Skeleton, Vec3, WorldPose, fk};

/// Frames looked at, at most: evenly over the clip.
const LOOKS: usize = 240;

/// A skeleton's segments, measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Anatomy {
    /// Per role: from the canonical joint frame (axis-aligned in a T-pose facing +Z) to the joint's own, so that
    /// `world rotation * frame` is the rotation the canonical joint would have.
    frames: [Option<Quat>; Role::ALL.len()],
    /// Hip to ankle along the bones, in the clip's unit.
    pub leg: f32,
    /// Height of the floor.
    pub floor: f32,
    /// Height of the ankle joints above the floor when the soles are flat on it.
    pub ankle: f32,
    /// Height of the toe joints above the floor, or where they would be on a skeleton without toes.
    pub toe: f32,
}

impl Anatomy {
    /// From the canonical joint frame to the joint's own.
    pub fn frame(&self, role: Role) -> Option<Quat> {
        self.frames[role as usize]
    }

    /// The rotation the canonical joint of that role would have in the world.
    pub fn canonical(&self, roles: &Roles, world: &WorldPose, role: Role) -> Option<Quat> {
        Some(world.rotation(roles.get(role)?) * self.frame(role)?)
    }

    /// Of the canonical skeleton, or one with its frames.
    pub fn of_canonical(skeleton: &Skeleton) -> Anatomy {
        let down = |roles: &[Role]| roles.iter().map(|r| skeleton.offset(r.joint()).y).sum::<f32>();
        let ankle = down(&[Role::Pelvis, Role::LeftHip, Role::LeftKnee, Role::LeftAnkle]);
        Anatomy {
            frames: [Some(Quat::IDENTITY); Role::ALL.len()],
            leg: -down(&[Role::LeftKnee, Role::LeftAnkle]),
            floor: 0.0,
            ankle,
            toe: ankle + down(&[Role::LeftToe]),
        }
    }

    /// Of the pose a rig was built in, taken to be a T- or A-pose facing +Z with the soles on the floor.
    pub fn of_rest(skeleton: &Skeleton, roles: &Roles) -> Option<Anatomy> {
        let mut world = WorldPose::default();
        fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
        Anatomy::of_worlds(skeleton, roles, &[world], true)
    }

    /// Measured on a motion with +Y up. `None` without legs or arms.
    pub fn of_clip(clip: &Clip, roles: &Roles) -> Option<Anatomy> {
        let step = clip.frames().div_ceil(LOOKS).max(1);
        let mut pose = Pose::default();
        let worlds: Vec<WorldPose> = (0..clip.frames())
            .step_by(step)
            .map(|frame| {
                let mut world = WorldPose::default();
                clip.pose(FrameIdx(frame as u32), &mut pose);
                fk::pose(clip.skeleton(), &pose, &mut world);
                world
            })
            .collect();
        Anatomy::of_worlds(clip.skeleton(), roles, &worlds, false)
    }

    fn of_worlds(skeleton: &Skeleton, roles: &Roles, worlds: &[WorldPose], rest: bool) -> Option<Anatomy> {
        let measured = Measured { skeleton, roles, worlds, rest };
        measured.anatomy()
    }
}

struct Measured<'a> {
    skeleton: &'a Skeleton,
    roles: &'a Roles,
    worlds: &'a [WorldPose],
    rest: bool,
}

/// Two directions of a segment, in its joint's frame.
#[derive(Clone, Copy)]
struct Axes {
    first: Vec3,
    second: Vec3,
}

impl Axes {
    fn basis(self) -> Option<Quat> {
        let x = self.first.try_normalize()?;
        let y = (self.second - x * self.second.dot(x)).try_normalize()?;
        Some(Quat::from_mat3(&glam::Mat3::from_cols(x, y, x.cross(y))).normalize())
    }

    /// From the canonical frame, in which the same axes lie along `canonical`, to the joint's.
    fn relative_to(self, canonical: Axes) -> Option<Quat> {
        Some((self.basis()? * canonical.basis()?.conjugate()).normalize())
    }
}

impl Measured<'_> {
    fn at(&self, world: &WorldPose, role: Role) -> Option<Vec3> {
        Some(world.position(self.roles.get(role)?))
    }

    /// Mean of a world direction as the joint of `role` sees it.
    fn mean(&self, role: Role, mut direction: impl FnMut(&WorldPose) -> Option<Vec3>) -> Option<Vec3> {
        let joint = self.roles.get(role)?;
        let mut sum = Vec3::ZERO;
        for world in self.worlds {
            if let Some(d) = direction(world) {
                sum += world.rotation(joint).conjugate() * d;
            }
        }
        (sum.length() > 1e-6).then(|| sum.normalize())
    }

    fn between(&self, from: Role, to: Role) -> impl Fn(&WorldPose) -> Option<Vec3> + '_ {
        move |world| (self.at(world, to)? - self.at(world, from)?).try_normalize()
    }

    /// Towards the first of several joints that does not sit in the same point.
    fn towards(&self, from: Role, ends: &'static [Role]) -> impl Fn(&WorldPose) -> Option<Vec3> + '_ {
        let apart = |end: &&Role| {
            let line = |w: &WorldPose| Some((self.at(w, **end)? - self.at(w, from)?).length() > 0.02 * self.size(w));
            self.worlds.first().and_then(line).unwrap_or(false)
        };
        let end = ends.iter().find(apart).copied();
        move |world| self.between(from, end?)(world)
    }

    /// From right to left through a pair of joints; shoulders where the collar bones begin in one point.
    fn across(&self, pairs: &'static [(Role, Role)]) -> impl Fn(&WorldPose) -> Option<Vec3> + '_ {
        move |world| {
            pairs.iter().find_map(|&(l, r)| {
                let line = self.at(world, l)? - self.at(world, r)?;
                (line.length() > 1e-4 * self.size(world)).then(|| line.normalize())
            })
        }
    }

    fn size(&self, world: &WorldPose) -> f32 {
        match (self.at(world, Role::LeftHip), self.at(world, Role::LeftKnee)) {
            (Some(a), Some(b)) => (a - b).length(),
            _ => 1.0,
        }
    }

    fn anatomy(&self) -> Option<Anatomy> {
        const HIPS: &[(Role, Role)] = &[(Role::LeftHip, Role::RightHip)];
        const SHOULDERS: &[(Role, Role)] = &[(Role::LeftShoulder, Role::RightShoulder)];
        let (floor, toe, flat) = self.floor()?;
        // How far the foot's bone falls from ankle to toes when the sole is flat; mean of both feet.
        let mut falls: Vec<f32> = Vec::new();
        let mut frames = [None; Role::ALL.len()];
        let mut set = |role: Role, axes: Option<Axes>, canonical: Axes| {
            frames[role as usize] = axes.and_then(|a| a.relative_to(canonical));
        };
        let upright = Axes { first: Vec3::Y, second: Vec3::X };

        // Trunk: up the spine, and left.
        let pelvis_left = self.mean(Role::Pelvis, self.across(HIPS))?;
        let pelvis_up =
            self.mean(Role::Pelvis, self.towards(Role::Pelvis, &[Role::Waist, Role::Back, Role::Neck, Role::Head]))?;
        set(
            Role::Pelvis,
            Some(Axes { first: pelvis_left, second: pelvis_up }),
            Axes { first: Vec3::X, second: Vec3::Y },
        );
        let (hips, shoulders) = (self.across(HIPS), self.across(SHOULDERS));
        let waist = (|| {
            let first = self.mean(Role::Waist, self.towards(Role::Waist, &[Role::Back, Role::Neck, Role::Head]))?;
            let second = self.mean(Role::Waist, |w| Some(hips(w)? + shoulders(w)?))?;
            Some(Axes { first, second })
        })();
        set(Role::Waist, waist, upright);
        let back = Axes {
            first: self.mean(Role::Back, self.towards(Role::Back, &[Role::Neck, Role::Head]))?,
            second: self.mean(Role::Back, self.across(SHOULDERS))?,
        };
        set(Role::Back, Some(back), upright);

        // Neck and head: their own bones, and the left of the joint below on average.
        let neck_up = self.mean(Role::Neck, self.between(Role::Neck, Role::Head));
        let neck = neck_up.map(|first| Axes { first, second: self.settled(Role::Neck, first, Role::Back, &back) });
        set(Role::Neck, neck, upright);
        let base = neck.unwrap_or(back);
        let head_up = self.roles.get(Role::Head).and_then(|j| self.skeleton.tip(j)).filter(|t| t.length() > 1e-6);
        // Without a tip, or with one that points at the nose rather than the crown, the head goes on as the neck does.
        let onward = self.mean(Role::Head, |w| {
            let below = if neck.is_some() { Role::Neck } else { Role::Back };
            Some(w.rotation(self.roles.get(below)?) * base.first)
        });
        let onward = onward.unwrap_or(base.first);
        let head_up = head_up.and_then(Vec3::try_normalize).filter(|tip| tip.dot(onward) > 0.7).unwrap_or(onward);
        let below = if neck.is_some() { Role::Neck } else { Role::Back };
        let head = Axes { first: head_up, second: self.settled(Role::Head, head_up, below, &base) };
        set(Role::Head, self.roles.get(Role::Head).map(|_| head), upright);

        for side in [Side::Left, Side::Right] {
            let of = |role: Role| if side == Side::Left { role } else { role.mirrored() };
            let sign = if side == Side::Left { 1.0 } else { -1.0 };
            // Arms: along the bone, about the elbow.
            let (clavicle, shoulder, elbow, wrist) =
                (of(Role::LeftClavicle), of(Role::LeftShoulder), of(Role::LeftElbow), of(Role::LeftWrist));
            let chest_up = |w: &WorldPose| Some(w.rotation(self.roles.get(Role::Back)?) * back.first);
            let collar = (|| {
                let first = self.mean(clavicle, self.between(clavicle, shoulder))?;
                Some(Axes { first, second: self.mean(clavicle, chest_up)? })
            })();
            set(clavicle, collar, Axes { first: Vec3::X * sign, second: Vec3::Y });
            let bend = self.hinge(shoulder, elbow, wrist, |w| Some(-sign * chest_up(w)?));
            let limb = |role: Role, end: Role| {
                Some(Axes { first: self.mean(role, self.between(role, end))?, second: self.mean(role, &bend)? })
            };
            let arm = Axes { first: Vec3::X * sign, second: Vec3::NEG_Y * sign };
            let (upper, lower) = (limb(shoulder, elbow)?, limb(elbow, wrist)?);
            set(shoulder, Some(upper), arm);
            set(elbow, Some(lower), arm);
            let hand = self.roles.get(wrist).map(|joint| {
                let tip = self.skeleton.tip(joint).or_else(|| {
                    self.skeleton.children(joint).map(|c| self.skeleton.offset(c)).find(|o| o.length() > 1e-6)
                });
                let first =
                    tip.and_then(Vec3::try_normalize).filter(|t| t.dot(lower.first) > 0.8).unwrap_or(lower.first);
                Axes { first, second: self.carried(wrist, first, &lower) }
            });
            set(wrist, hand, arm);
            // Legs: along the bone, about the knee; feet by the sole.
            let (hip, knee, ankle_role, toe_role) =
                (of(Role::LeftHip), of(Role::LeftKnee), of(Role::LeftAnkle), of(Role::LeftToe));
            let bend = self.hinge(hip, knee, ankle_role, self.across(HIPS));
            let limb = |role: Role, end: Role| {
                Some(Axes { first: self.mean(role, self.between(role, end))?, second: self.mean(role, &bend)? })
            };
            let leg = Axes { first: Vec3::NEG_Y, second: Vec3::X };
            set(hip, Some(limb(hip, knee)?), leg);
            set(knee, Some(limb(knee, ankle_role)?), leg);
            let [flat, others] = [side == Side::Right, side != Side::Right].map(|right| &flat[usize::from(right)]);
            let other = self.sole(ankle_role.mirrored(), toe_role.mirrored(), others, &bend, f32::INFINITY);
            let slope = other.map_or(f32::INFINITY, |sole| slope(&sole));
            let sole = self.sole(ankle_role, toe_role, flat, &bend, slope);
            if let (Some(sole), Some(from), Some(to)) = (sole, self.roles.get(ankle_role), self.roles.get(toe_role)) {
                let world = &self.worlds[0];
                let bone = world.rotation(from).conjugate() * (world.position(to) - world.position(from));
                falls.push(-bone.dot(sole.first));
            }
            let standing = Axes { first: Vec3::Y, second: Vec3::Z };
            set(ankle_role, sole, standing);
            let toes = sole.and_then(|sole| self.toes(ankle_role, toe_role, &sole, flat));
            set(toe_role, toes, standing);
        }
        let leg = self.worlds.first().and_then(|w| {
            let (h, k, a) = (self.at(w, Role::LeftHip)?, self.at(w, Role::LeftKnee)?, self.at(w, Role::LeftAnkle)?);
            Some((h - k).length() + (k - a).length())
        })?;
        let ankle = match falls[..] {
            [] => NO_TOES * leg,
            _ => toe + falls.iter().sum::<f32>() / falls.len() as f32,
        };
        Some(Anatomy { frames, leg, floor, ankle, toe })
    }

    /// The second axis of a joint, from that of the joint below it on average over the motion. A fighter's head is turned on his chest all the
    /// time, so the average is off; but frames are built along the body, so the nearest axis of the joint's own is meant.
    fn settled(&self, role: Role, first: Vec3, below: Role, before: &Axes) -> Vec3 {
        let mean = self.mean(role, |w| Some(w.rotation(self.roles.get(below)?) * before.second));
        let mean = mean.unwrap_or(before.second);
        let across = |axis: Vec3| (axis - first * axis.dot(first)).normalize_or_zero();
        let axes = [Vec3::X, Vec3::NEG_X, Vec3::Y, Vec3::NEG_Y, Vec3::Z, Vec3::NEG_Z];
        let own = axes.into_iter().filter(|a| a.dot(first).abs() < 0.5).map(across);
        let nearest = own.max_by(|a, b| a.dot(mean).total_cmp(&b.dot(mean)));
        nearest.filter(|a| a.dot(across(mean)) > 0.75).unwrap_or(mean)
    }

    /// A second axis carried over from the joint before, on the assumption that frames agree when nothing is turned; checked by
    /// whether the bones then agree, and measured on the motion where they do not.
    fn carried(&self, role: Role, first: Vec3, before: &Axes) -> Vec3 {
        if first.dot(before.first) > 0.6 {
            return before.second;
        }
        let line = self.across(&[(Role::LeftShoulder, Role::RightShoulder)]);
        self.mean(role, line).unwrap_or(before.second)
    }

    /// The axis a limb bends about, in the world, signed so that bending is positive: measured where it is bent, else `otherwise`.
    fn hinge<'b>(
        &'b self,
        top: Role,
        hinge: Role,
        end: Role,
        otherwise: impl Fn(&WorldPose) -> Option<Vec3> + 'b,
    ) -> impl Fn(&WorldPose) -> Option<Vec3> + 'b {
        // In the upper joint's frame: weighted by the bend, so straight poses, where the axis is noise, do not count.
        let joint = self.roles.get(top);
        let mut sum = Vec3::ZERO;
        if let (Some(joint), false) = (joint, self.rest) {
            for world in self.worlds {
                if let (Some(a), Some(b)) = (self.between(top, hinge)(world), self.between(hinge, end)(world)) {
                    let cross = a.cross(b);
                    // Under 12 degrees the plane of the limb is not to be trusted.
                    if cross.length() > 0.2 {
                        sum += world.rotation(joint).conjugate() * cross;
                    }
                }
            }
        }
        let enough = sum.length() > 0.02 * self.worlds.len() as f32 && sum.length() > 1e-6;
        let local = enough.then(|| sum.normalize());
        move |world| match (local, joint) {
            (Some(axis), Some(joint)) => Some(world.rotation(joint) * axis),
            _ => otherwise(world),
        }
    }

    /// Up from the sole and along the foot, in the ankle's frame. `other` is the slope of the other foot's bone when its sole is flat.
    fn sole(
        &self,
        ankle: Role,
        toe: Role,
        flat: &[usize],
        bend: impl Fn(&WorldPose) -> Option<Vec3>,
        other: f32,
    ) -> Option<Axes> {
        let joint = self.roles.get(ankle)?;
        let mut up = Vec3::ZERO;
        for &look in flat {
            up += self.worlds[look].rotation(joint).conjugate() * Vec3::Y;
        }
        let mut up = up.try_normalize()?;
        let ahead = self.mean(ankle, self.between(ankle, toe)).or_else(|| {
            let tip = self.skeleton.tip(joint).and_then(Vec3::try_normalize);
            // Without toes the knee says where forward is: square to its axis.
            tip.filter(|t| t.dot(up).abs() < 0.9).or_else(|| Some(self.mean(ankle, bend)?.cross(up)))
        })?;
        // A fighter's rear heel may never come down: both feet are alike, and the other's may. No ankle is so high that the foot's bone
        // falls by more than a third of a right angle when the sole is flat.
        let slope = slope(&Axes { first: up, second: ahead });
        let flat_slope = if slope > other + RAISED { other } else { slope.clamp(0.08, 0.60) };
        let aside = up.cross(ahead).try_normalize()?;
        up = crate::rotation::about(aside, slope - flat_slope) * up;
        Some(Axes { first: up, second: ahead })
    }

    fn toes(&self, ankle: Role, toe: Role, sole: &Axes, flat: &[usize]) -> Option<Axes> {
        let (ankle, joint) = (self.roles.get(ankle)?, self.roles.get(toe)?);
        let (mut up, mut ahead) = (Vec3::ZERO, Vec3::ZERO);
        for &look in flat {
            let world = &self.worlds[look];
            let to_toe = world.rotation(joint).conjugate() * world.rotation(ankle);
            up += to_toe * sole.first;
            ahead += to_toe * sole.second;
        }
        Some(Axes { first: up.try_normalize()?, second: ahead.try_normalize()? })
    }

    /// Heights of floor and toe joint, and for each foot the looks in which it stands still and low.
    fn floor(&self) -> Option<(f32, f32, [Vec<usize>; 2])> {
        let last = self.worlds.len() - 1;
        let mut flat: [Vec<usize>; 2] = [Vec::new(), Vec::new()];
        let (mut ankles, mut toes) = (Vec::new(), Vec::new());
        let size = self.size(&self.worlds[0]);
        for (foot, (ankle, toe)) in
            flat.iter_mut().zip([(Role::LeftAnkle, Role::LeftToe), (Role::RightAnkle, Role::RightToe)])
        {
            let at = |look: usize| self.at(&self.worlds[look], ankle);
            let mut order: Vec<(f32, usize)> = Vec::new();
            for look in 0..=last {
                let (here, before, after) = (at(look)?, at(look.saturating_sub(1))?, at((look + 1).min(last))?);
                let moved = (after - before).length() / size;
                order.push((here.y / size + 0.5 * moved, look));
            }
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            foot.extend(order[..order.len().div_ceil(8)].iter().map(|o| o.1));
            for &look in foot.iter() {
                ankles.push(at(look)?.y);
                toes.extend(self.at(&self.worlds[look], toe).map(|t| t.y));
            }
        }
        let low = |values: &mut Vec<f32>| {
            values.sort_by(f32::total_cmp);
            values.get(values.len() / 4).copied()
        };
        let toe = TOE * size;
        let floor = match low(&mut toes) {
            Some(height) => height - toe,
            None => low(&mut ankles)? - 2.0 * NO_TOES * size,
        };
        Some((floor, toe, flat))
    }
}

/// By how much a foot's bone falls along the foot, radians.
fn slope(sole: &Axes) -> f32 {
    libm::asinf((-sole.first.dot(sole.second)).clamp(-1.0, 1.0))
}

/// A foot that is steeper than the other by this, radians, has its heel raised.
const RAISED: f32 = 0.1;

/// Height of the toe joint above the sole, as a share of the thigh: half the thickness of a shod forefoot.
const TOE: f32 = 0.06;
/// Height of the ankle above the sole where there are no toes to measure it by, as a share of the leg (Drillis and
/// Contini 1966).
const NO_TOES: f32 = 0.08;

/// Which way a body faces, from the attitude of its head, chest, pelvis and feet: a unit direction on the ground.
///
/// The head counts most: a fighting stance is turned away from where the fighter looks.
pub fn facing(anatomy: &Anatomy, roles: &Roles, world: &WorldPose) -> Option<Vec3> {
    let ahead = |role: Role| {
        let forward = anatomy.canonical(roles, world, role)? * Vec3::Z;
        Some(Vec3::new(forward.x, 0.0, forward.z))
    };
    let weigh = |role: Role, weight: f32| ahead(role).unwrap_or(Vec3::ZERO) * weight;
    let sum = weigh(Role::Head, 0.6)
        + weigh(Role::Back, 0.2)
        + weigh(Role::Pelvis, 0.2)
        + weigh(Role::LeftAnkle, 0.1)
        + weigh(Role::RightAnkle, 0.1);
    sum.try_normalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::humanoid;
    use crate::rotation::{about, between};
    use std::sync::Arc;

    #[test]
    fn the_canonical_skeleton_measures_as_itself() {
        let skeleton = Arc::new(humanoid::skeleton());
        let roles = Roles::canonical();
        let clip = Clip::from_fn("bends", Arc::clone(&skeleton), 30.0, 40, |frame, pose| {
            pose.rotations.fill(Quat::IDENTITY);
            let t = frame as f32 / 40.0;
            for role in [Role::LeftElbow, Role::RightElbow, Role::LeftKnee, Role::RightKnee] {
                let axis = humanoid::hinge_axis(role).unwrap();
                pose.rotations[role.joint().at()] = about(axis, 0.2 + t);
            }
            for role in [Role::LeftHip, Role::RightHip] {
                pose.rotations[role.joint().at()] = about(Vec3::X, -0.5 * (0.2 + t));
            }
            for role in [Role::LeftAnkle, Role::RightAnkle] {
                pose.rotations[role.joint().at()] = about(Vec3::X, -0.5 * (0.2 + t));
            }
        })
        .unwrap();
        let measured = Anatomy::of_clip(&clip, &roles).unwrap();
        let truth = Anatomy::of_canonical(&skeleton);
        for role in Role::ALL {
            let off = between(measured.frame(role).unwrap(), truth.frame(role).unwrap());
            assert!(off.to_degrees() < 1.0, "{role:?} {}", off.to_degrees());
        }
        assert!((measured.leg - truth.leg).abs() < 1e-4);
    }
}
