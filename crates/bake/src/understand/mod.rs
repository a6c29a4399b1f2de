//! What a capture is: which joint plays which role, which way is up, how long a metre is, where the body faces, whether the header's rate is true.
//! Every finding has a confidence and a reason that a person can check.

mod names;
mod rate;
mod shape;
mod space;

use std::sync::Arc;

use kumite_motion::anatomy::{self, Anatomy};
use kumite_motion::rotation::{between, yaw_of};
use kumite_motion::{Clip, ClipError, FrameIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};

use crate::contacts;
pub use rate::Evidence;
pub use space::Up;

/// Something found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<T> {
    /// The answer.
    pub value: T,
    /// How sure, 0 to 1.
    pub confidence: f32,
    /// Why, in one short phrase.
    pub why: String,
}

impl<T> Found<T> {
    pub(crate) fn new(value: T, confidence: f32, why: impl Into<String>) -> Found<T> {
        Found { value, confidence, why: why.into() }
    }

    /// Whether a program may act on it without asking.
    pub fn sure(&self) -> bool {
        self.confidence >= 0.75
    }
}

/// A pose that is not part of the motion: some programs write one as the first frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindPose {
    /// Arms out to the sides.
    TPose,
    /// Arms down and out.
    APose,
}

/// A frame in which a joint turns faster than any person can.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glitch {
    /// The later of the two frames.
    pub frame: FrameIdx,
    /// Which joint.
    pub joint: kumite_motion::JointIdx,
    /// Degrees per second.
    pub speed_deg: f32,
}

/// Faster than this no joint turns: degrees per second.
pub const GLITCH_DEG: f32 = 4000.0;

/// All that was found out about a clip.
#[derive(Clone, Debug)]
pub struct Understanding {
    /// Which joint plays which role.
    pub roles: Found<Roles>,
    /// Which axis of the file points up.
    pub up: Found<Up>,
    /// Metres in one unit of the file.
    pub unit_m: Found<f32>,
    /// Of the person, sole to crown.
    pub height_m: f32,
    /// Where the person looks in the beginning: turn about the vertical, 0 along +Z, after the axes are put right.
    pub facing: Found<f32>,
    /// Whether the first frame belongs to the motion.
    pub bind_pose: Option<Found<BindPose>>,
    /// True frames per second.
    pub fps: Found<f32>,
    /// What the rate was judged by.
    pub evidence: Evidence,
    /// Impossible turns.
    pub glitches: Vec<Glitch>,
    /// Mean speed of planted feet in the source, metres per second.
    pub slide_m_s: Option<f32>,
    /// The motion with +Y up, in metres, floor at 0, without a bind pose, with contacts; at the file's own rate.
    pub clip: Clip,
    /// How its joint frames lie.
    pub anatomy: Anatomy,
}

/// Understands a clip as it came from a file. `None` if it is not a humanoid, or goes on all fours all the time, as animals do.
pub fn understand(raw: &Clip) -> Option<Understanding> {
    understand_with(raw, &[])
}

/// The same, where somebody knows better which joint plays which role.
pub fn understand_with(raw: &Clip, corrections: &[RoleCorrection]) -> Option<Understanding> {
    let skeleton = raw.skeleton();
    let roles = find_roles(raw, corrections)?;
    let up = space::up(raw, &roles.value);
    if space::on_all_fours(raw, &roles.value) {
        return None;
    }
    let bind_pose = bind_pose(raw, &roles.value, &up.value);
    let unit = space::unit(skeleton, &roles.value);
    let clip = put_right(raw, &up.value, unit.value, bind_pose.as_ref().map_or(0, |b| b.1)).ok()?;
    let bind_pose = bind_pose.map(|b| b.0);
    let mut anatomy = Anatomy::of_clip(&clip, &roles.value)?;
    let mut clip = stand_on_floor(&clip, &anatomy).ok()?;
    anatomy.floor = 0.0;
    clip.contacts = contacts::detect(&clip, &roles.value, &anatomy);
    let facing = find_facing(&clip, &roles.value, &anatomy);
    let (fps, evidence) = rate::judge(&clip, &roles.value, &anatomy);
    // Speeds are of the true rate, where that is known.
    let timed = if fps.sure() { clip.clone().with_fps(fps.value).ok()? } else { clip.clone() };
    if timed.fps() != clip.fps() {
        clip.contacts = contacts::detect(&timed, &roles.value, &anatomy);
    }
    let slide_m_s = contacts::slide(&timed, &roles.value, &anatomy, &clip.contacts);
    let height_m = space::height(skeleton, &roles.value) * unit.value;
    let glitches = find_glitches(&timed);
    let unit_m = unit;
    Some(Understanding {
        roles,
        up,
        unit_m,
        height_m,
        facing,
        bind_pose,
        fps,
        evidence,
        glitches,
        slide_m_s,
        clip,
        anatomy,
    })
}

/// Roles every humanoid has; the others are found in most.
pub const NEEDED: [Role; 15] = [
    Role::Pelvis,
    Role::Back,
    Role::Head,
    Role::LeftShoulder,
    Role::LeftElbow,
    Role::LeftWrist,
    Role::RightShoulder,
    Role::RightElbow,
    Role::RightWrist,
    Role::LeftHip,
    Role::LeftKnee,
    Role::LeftAnkle,
    Role::RightHip,
    Role::RightKnee,
    Role::RightAnkle,
];

fn complete(roles: &Roles) -> bool {
    NEEDED.iter().all(|&role| roles.get(role).is_some())
}

/// Who plays a role in truth; nobody, if `None`.
pub type RoleCorrection = (Role, Option<kumite_motion::JointIdx>);

/// A correction that names what is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RoleError {
    /// No such role.
    Role(String),
    /// No such joint, for this role.
    Joint(Role, String),
}

impl RoleError {
    /// What was written.
    pub fn found(&self) -> &str {
        match self {
            RoleError::Role(name) | RoleError::Joint(_, name) => name,
        }
    }

    /// What could have been.
    pub fn allowed(&self, skeleton: &Skeleton) -> Vec<String> {
        match self {
            RoleError::Role(_) => Role::ALL.map(|role| role.name().to_owned()).to_vec(),
            RoleError::Joint(..) => skeleton.joints().map(|j| skeleton.name(j).to_owned()).collect(),
        }
    }
}

impl std::fmt::Display for RoleError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RoleError::Role(name) => write!(f, "there is no role {name:?}"),
            RoleError::Joint(role, name) => {
                write!(f, "the {} is said to be {name:?}, and no joint is called so", role.name())
            }
        }
    }
}

impl std::error::Error for RoleError {}

/// Finds the joints that corrections name, `(role, joint)`; an empty joint opens a role.
pub fn role_corrections<'a>(
    skeleton: &Skeleton,
    written: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<RoleCorrection>, RoleError> {
    let find = |(role, joint): (&str, &str)| {
        let role = Role::from_name(role).ok_or_else(|| RoleError::Role(role.to_owned()))?;
        match (joint, skeleton.find(joint)) {
            ("", _) => Ok((role, None)),
            (_, Some(found)) => Ok((role, Some(found))),
            _ => Err(RoleError::Joint(role, joint.to_owned())),
        }
    };
    written.into_iter().map(find).collect()
}

fn corrected(mut roles: Roles, corrections: &[RoleCorrection]) -> Roles {
    for (role, joint) in corrections {
        // Nobody plays two roles.
        if let Some(before) = joint.and_then(|j| roles.role_of(j)) {
            roles.set(before, None);
        }
        roles.set(*role, *joint);
    }
    roles
}

fn find_roles(clip: &Clip, corrections: &[RoleCorrection]) -> Option<Found<Roles>> {
    let found = found_roles(clip);
    if corrections.is_empty() {
        return found;
    }
    let halfway = || names::by_names(clip.skeleton()).map(|named| named.1).or_else(|| roles_by_shape(clip));
    let (roles, why) = match found {
        Some(found) => (found.value, found.why),
        None => (halfway().unwrap_or_default(), "little else was found".to_owned()),
    };
    let roles = corrected(roles, corrections);
    let many = corrections.len();
    let why = format!("{many} role{} corrected; {why}", if many == 1 { "" } else { "s" });
    complete(&roles).then(|| Found::new(roles, 1.0, why))
}

fn found_roles(clip: &Clip) -> Option<Found<Roles>> {
    let mut shape = roles_by_shape(clip);
    let named = names::by_names(clip.skeleton());
    // Names know better which of two joints is the head, and which only marks its end.
    if let (Some(shape), Some((_, roles, _))) = (&mut shape, &named)
        && let (Some(crown), Some(head)) = (shape.get(Role::Head), roles.get(Role::Head))
        && clip.skeleton().parent(crown) == Some(head)
    {
        if shape.get(Role::Neck) == Some(head) {
            shape.set(Role::Neck, None);
        }
        shape.set(Role::Head, Some(head));
    }
    match (named, shape) {
        (Some((convention, mut roles, share)), shape) => {
            // What the names leave open the shape may know, where both agree on the limbs.
            let agree = shape.is_some_and(|s| {
                NEEDED.iter().filter(|&&r| r != Role::Back).all(|&r| s.get(r) == roles.get(r) || roles.get(r).is_none())
            });
            if let (true, Some(shape)) = (agree, shape) {
                for role in Role::ALL {
                    let taken = shape.get(role).is_some_and(|j| roles.role_of(j).is_some());
                    if roles.get(role).is_none() && !taken {
                        roles.set(role, shape.get(role));
                    }
                }
            }
            if roles.get(Role::Back).is_none()
                && let Some(shape) = shape
            {
                roles.set(Role::Back, shape.get(Role::Back).or(roles.get(Role::Waist)));
                if roles.get(Role::Back) == roles.get(Role::Waist) {
                    roles.set(Role::Waist, None);
                }
            }
            let why = format!(
                "names of {convention}, {:.0} % found{}",
                share * 100.0,
                if agree { "; the shape agrees" } else { "" }
            );
            let named = complete(&roles).then(|| Found::new(roles, if agree { 0.98 } else { 0.8 }, why));
            named.or_else(|| {
                let why = "the shape of the skeleton; its names are only half understood";
                shape.filter(complete).map(|roles| Found::new(roles, 0.7, why))
            })
        }
        (None, Some(roles)) => complete(&roles).then(|| {
            Found::new(roles, 0.75, "the shape of the skeleton; its names follow no convention that is known")
        }),
        (None, None) => None,
    }
}

/// Roles from the shape and the motion alone, whatever the joints are called.
pub fn roles_by_shape(clip: &Clip) -> Option<Roles> {
    let shape = shape::by_shape(clip.skeleton())?;
    Some(space::with_sides(clip, &shape.roles))
}

/// The roles of a skeleton without a motion, such as a rig: from names and from the shape of its rest pose.
pub fn roles_of(skeleton: &Arc<Skeleton>) -> Option<Roles> {
    roles_with(skeleton, &[])
}

/// The same, where somebody knows better.
pub fn roles_with(skeleton: &Arc<Skeleton>, corrections: &[RoleCorrection]) -> Option<Roles> {
    let rest = Clip::new("rest", Arc::clone(skeleton), 30.0, &[Pose::rest(skeleton)]).ok()?;
    Some(find_roles(&rest, corrections)?.value)
}

/// What is left open, in words; `None` where every role has a joint.
pub fn missing_roles(roles: &Roles) -> Option<String> {
    let open: Vec<&str> = Role::ALL.into_iter().filter(|&r| roles.get(r).is_none()).map(Role::name).collect();
    (!open.is_empty()).then(|| open.join(", "))
}

/// Turned to +Y up and scaled to metres; without the `first` frames, which are a bind pose.
fn put_right(raw: &Clip, up: &Up, unit: f32, first: usize) -> Result<Clip, ClipError> {
    let turn = up.to_y();
    let skeleton = Arc::new(raw.skeleton().scaled(unit));
    let mut out = Clip::from_fn(&raw.name, skeleton, raw.fps(), raw.frames().saturating_sub(first), |frame, pose| {
        raw.pose(FrameIdx((frame + first) as u32), pose);
        pose.translations.iter_mut().for_each(|t| *t *= unit);
        pose.translations[0] = turn * pose.translations[0];
        pose.rotations[0] = turn * pose.rotations[0];
    })?;
    out.spans.clone_from(&raw.spans);
    Ok(out)
}

fn stand_on_floor(clip: &Clip, anatomy: &Anatomy) -> Result<Clip, ClipError> {
    let mut out = Clip::from_fn(&clip.name, Arc::clone(clip.skeleton()), clip.fps(), clip.frames(), |frame, pose| {
        clip.pose(FrameIdx(frame as u32), pose);
        pose.translations[0].y -= anatomy.floor;
    })?;
    out.spans.clone_from(&clip.spans);
    Ok(out)
}

/// Which written pose a frame shows: arms straight out or down, legs straight and hanging.
fn posed(clip: &Clip, roles: &Roles, up: &Up, frame: u32) -> Option<BindPose> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    clip.pose(FrameIdx(frame), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    let at = |role: Role| roles.get(role).map(|j| world.position(j));
    let bone = |a: Role, b: Role| (at(b)? - at(a)?).try_normalize();
    let up_axis = up.direction();
    let mut slopes = Vec::new();
    for [s, e, w, h, k, a] in [
        [Role::LeftShoulder, Role::LeftElbow, Role::LeftWrist, Role::LeftHip, Role::LeftKnee, Role::LeftAnkle],
        [Role::RightShoulder, Role::RightElbow, Role::RightWrist, Role::RightHip, Role::RightKnee, Role::RightAnkle],
    ] {
        let (upper, lower, thigh, shin) = (bone(s, e)?, bone(e, w)?, bone(h, k)?, bone(k, a)?);
        if upper.dot(lower) < 0.94 || thigh.dot(shin) < 0.94 || thigh.dot(up_axis) > -0.9 {
            return None;
        }
        slopes.push(upper.dot(up_axis));
    }
    if (slopes[0] - slopes[1]).abs() > 0.2 {
        return None;
    }
    let slope = 0.5 * (slopes[0] + slopes[1]);
    if slope.abs() < 0.35 {
        Some(BindPose::TPose)
    } else if (-0.9..-0.35).contains(&slope) {
        Some(BindPose::APose)
    } else {
        None
    }
}

/// A written pose lasts no longer, seconds.
const LONGEST_BIND_POSE: f32 = 0.5;

/// The pose that a clip begins with and that is not part of its motion, and for how many frames.
fn bind_pose(clip: &Clip, roles: &Roles, up: &Up) -> Option<(Found<BindPose>, usize)> {
    // It belongs to the motion if the motion continues from it.
    let turned = |frame: u32| {
        let turn = |j| between(clip.rotation(FrameIdx(frame), j), clip.rotation(FrameIdx(frame + 1), j));
        clip.skeleton().joints().map(turn).fold(0.0, f32::max)
    };
    // In a written pose many joints are not turned at all, which no capture has.
    let unturned = |frame: u32| {
        let still = |j: &kumite_motion::JointIdx| between(clip.rotation(FrameIdx(frame), *j), Quat::IDENTITY) < 1e-6;
        clip.skeleton().joints().filter(still).count()
    };
    let leaves = |frame: u32| {
        let (jump, usual) = (turned(frame), turned(frame + 1));
        jump > 0.3 && (jump > 4.0 * usual || unturned(frame) > 2 * unturned(frame + 1) + 2)
    };
    let most = clip.frames().saturating_sub(2).min((LONGEST_BIND_POSE * clip.fps()) as usize + 1) as u32;
    let kind = (most > 0).then(|| posed(clip, roles, up, 0))??;
    // Some programs write it more than once, and what they wrote may itself jump.
    let last = (0..most).take_while(|&f| posed(clip, roles, up, f).is_some()).filter(|&f| leaves(f)).last()?;
    // And some blend from it to the motion: nobody turns that fast.
    let blends = |f: &u32| turned(*f).to_degrees() * clip.fps() > 0.5 * GLITCH_DEG;
    let last = (last + 1..most).take_while(blends).last().unwrap_or(last);
    let name = if kind == BindPose::TPose { "T-pose" } else { "A-pose" };
    let frames = if last == 0 { "frame 0 is".to_owned() } else { format!("frames 0 to {last} lead out of") };
    let turn = turned(last).to_degrees();
    let why = format!("{frames} a {name}, and some joint turns by {turn:.0} degrees to frame {}", last + 1);
    Some((Found::new(kind, 0.95, why), last as usize + 1))
}

/// Where a person looks over the first half second of a clip: turn about the vertical, 0 along +Z.
pub fn find_facing(clip: &Clip, roles: &Roles, anatomy: &Anatomy) -> Found<f32> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let frames = ((0.5 * clip.fps()) as usize).clamp(1, clip.frames());
    let (mut sum, mut count) = (Vec3::ZERO, 0);
    for frame in 0..frames {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        if let Some(ahead) = anatomy::facing(anatomy, roles, &world) {
            sum += ahead;
            count += 1;
        }
    }
    let steady = sum.length() / (count as f32).max(1.0);
    Found::new(yaw_of(sum), 0.9 * steady, "head, chest, pelvis and feet over the first half second")
}

fn find_glitches(clip: &Clip) -> Vec<Glitch> {
    let mut glitches = Vec::new();
    for frame in 1..clip.frames() as u32 {
        for joint in clip.skeleton().joints() {
            let turned = between(clip.rotation(FrameIdx(frame - 1), joint), clip.rotation(FrameIdx(frame), joint));
            let speed_deg = turned.to_degrees() * clip.fps();
            if speed_deg > GLITCH_DEG {
                glitches.push(Glitch { frame: FrameIdx(frame), joint, speed_deg });
            }
        }
    }
    glitches
}
