//! Up, left, and how long a metre is.

use kumite_motion::{Clip, FrameIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};

use super::Found;

/// The axis of a file that points up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Up {
    X,
    Y,
    Z,
}

impl Up {
    /// As JSON writes it.
    pub fn name(self) -> &'static str {
        match self {
            Up::X => "x",
            Up::Y => "y",
            Up::Z => "z",
        }
    }

    pub(crate) fn direction(self) -> Vec3 {
        match self {
            Up::X => Vec3::X,
            Up::Y => Vec3::Y,
            Up::Z => Vec3::Z,
        }
    }

    /// The rotation that makes this axis +Y.
    pub(crate) fn to_y(self) -> Quat {
        kumite_motion::rotation::arc(self.direction(), Vec3::Y)
    }
}

/// A few dozen frames, evenly over the clip.
fn sampled(clip: &Clip) -> Vec<WorldPose> {
    let mut pose = Pose::default();
    let world = |pose: &Pose| {
        let mut world = WorldPose::default();
        fk::pose(clip.skeleton(), pose, &mut world);
        world
    };
    let step = clip.frames().div_ceil(48).max(1);
    let mut sampled = Vec::new();
    for frame in (0..clip.frames()).step_by(step) {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        sampled.push(world(&pose));
    }
    sampled
}

fn upward(world: &WorldPose, roles: &Roles) -> Option<Vec3> {
    let at = |role: Role| roles.get(role).map(|j| world.position(j));
    let feet = (at(Role::LeftAnkle)? + at(Role::RightAnkle)?) * 0.5;
    (at(Role::Head)? - feet).try_normalize()
}

/// Mostly people stand: up is the axis nearest to the mean way from feet to head.
pub(crate) fn up(clip: &Clip, roles: &Roles) -> Found<Up> {
    let sampled = sampled(clip);
    let sum: Vec3 = sampled.iter().filter_map(|w| upward(w, roles)).sum();
    let mean = sum / sampled.len().max(1) as f32;
    let axes = [(mean.x, Up::X), (mean.y, Up::Y), (mean.z, Up::Z)];
    let Some((share, up)) = axes.into_iter().max_by(|a, b| a.0.total_cmp(&b.0)) else {
        return Found::new(Up::Y, 0.0, "nothing to go by");
    };
    // People also lie and crawl. Where the file's own leg bones hang down an axis, that is its up, whatever the person does.
    if let Some(hangs) = legs_hang(clip.skeleton(), roles)
        && hangs != up
        && !stands(&sampled, roles, up, hangs)
    {
        return Found::new(hangs, 0.8, "the leg bones hang down this axis; the person mostly lies or crawls");
    }
    if share < 0.5 {
        return Found::new(Up::Y, 0.4, "the person mostly lies or rolls; +Y is the custom");
    }
    Found::new(up, share.clamp(0.0, 0.99), format!("from feet to head, mean of {} frames", sampled.len()))
}

/// Whether somebody whose legs hang down another axis stands along this one: feet on the file's ground and the pelvis a leg's length
/// above it nearly always, and not on the floor of the other axis.
fn stands(sampled: &[WorldPose], roles: &Roles, up: Up, hangs: Up) -> bool {
    let height = |world: &WorldPose, role: Role, axis: Up| Some(world.position(roles.get(role)?).dot(axis.direction()));
    let (mut standing, mut lying) = (0, 0);
    for world in sampled {
        let leg = |hip: Role, knee: Role, ankle: Role| {
            let at = |role: Role| roles.get(role).map(|j| world.position(j));
            Some(at(hip)?.distance(at(knee)?) + at(knee)?.distance(at(ankle)?))
        };
        let measured = (|| {
            let leg = leg(Role::LeftHip, Role::LeftKnee, Role::LeftAnkle)?;
            let lower = height(world, Role::LeftAnkle, up)?.min(height(world, Role::RightAnkle, up)?);
            Some((leg, lower, height(world, Role::Pelvis, up)?, height(world, Role::Pelvis, hangs)?))
        })();
        let Some((leg, lower, pelvis, above)) = measured else { continue };
        standing += usize::from(lower.abs() < 0.25 * leg && (0.75..1.35).contains(&(pelvis / leg)));
        lying += usize::from((0.0..0.4).contains(&(above / leg)));
    }
    standing * 10 >= sampled.len() * 8 && lying * 10 < sampled.len() * 9
}

/// Whether arms and legs point the same way, across the trunk, nearly all the time: an animal, whatever its joints are called. People who
/// crawl do so on their knees, with the shins level.
pub(crate) fn on_all_fours(clip: &Clip, roles: &Roles) -> bool {
    let sampled = sampled(clip);
    let four_legged = |world: &&WorldPose| -> Option<bool> {
        let at = |role: Role| roles.get(role).map(|j| world.position(j));
        let way = |from: Role, to: Role| Some((at(to)? - at(from)?).normalize_or_zero());
        let legs = (way(Role::LeftHip, Role::LeftAnkle)? + way(Role::RightHip, Role::RightAnkle)?).normalize_or_zero();
        let arms = (way(Role::LeftShoulder, Role::LeftWrist)? + way(Role::RightShoulder, Role::RightWrist)?)
            .normalize_or_zero();
        let trunk = (at(Role::LeftShoulder)? + at(Role::RightShoulder)? - at(Role::LeftHip)? - at(Role::RightHip)?)
            .normalize_or_zero();
        let shins =
            (way(Role::LeftKnee, Role::LeftAnkle)? + way(Role::RightKnee, Role::RightAnkle)?).normalize_or_zero();
        Some(trunk.dot(legs).abs() < 0.5 && arms.dot(legs) > 0.75 && shins.dot(legs) > 0.6)
    };
    let found = sampled.iter().filter(|w| four_legged(w) == Some(true)).count();
    found * 100 >= sampled.len() * 85
}

/// The axis that thighs and shins point down when nothing is turned; none where files lay bones along other axes.
fn legs_hang(skeleton: &Skeleton, roles: &Roles) -> Option<Up> {
    let bones = [Role::LeftKnee, Role::LeftAnkle, Role::RightKnee, Role::RightAnkle];
    let down: Vec3 = bones.iter().filter_map(|&r| roles.get(r)).map(|j| skeleton.offset(j)).sum();
    let down = down.try_normalize()?;
    [Up::X, Up::Y, Up::Z].into_iter().find(|up| down.dot(up.direction()) < -0.8)
}

/// Exchanges left and right, of legs and of arms, where the motion says so: toes point forward, knees too, and left is across.
pub(crate) fn with_sides(clip: &Clip, roles: &Roles) -> Roles {
    let (mut legs, mut arms) = (0.0, 0.0);
    for world in sampled(clip) {
        if let Some(left) = leftward(&world, roles) {
            let across = |l: Role, r: Role| match (roles.get(l), roles.get(r)) {
                (Some(l), Some(r)) => (world.position(l) - world.position(r)).normalize_or_zero().dot(left),
                _ => 0.0,
            };
            legs += across(Role::LeftHip, Role::RightHip);
            arms += across(Role::LeftShoulder, Role::RightShoulder);
        }
    }
    let mut sided = *roles;
    for role in Role::ALL {
        let vote = if role as usize >= Role::LeftHip as usize { legs } else { arms };
        if vote < 0.0 {
            sided.set(role.mirrored(), roles.get(role));
        }
    }
    sided
}

/// Where the left is in one pose, from what points up and forward.
fn leftward(world: &WorldPose, roles: &Roles) -> Option<Vec3> {
    let at = |role: Role| roles.get(role).map(|j| world.position(j));
    let up = upward(world, roles)?;
    let mut forward = Vec3::ZERO;
    for (hip, knee, ankle, toe) in [
        (Role::LeftHip, Role::LeftKnee, Role::LeftAnkle, Role::LeftToe),
        (Role::RightHip, Role::RightKnee, Role::RightAnkle, Role::RightToe),
    ] {
        let (hip, knee, ankle) = (at(hip)?, at(knee)?, at(ankle)?);
        if let Some(toe) = at(toe) {
            forward += (toe - ankle).normalize_or_zero();
        }
        // Where the knee stands out of the line from hip to ankle.
        let line = ankle - hip;
        let out = (knee - hip) - line * ((knee - hip).dot(line) / line.length_squared().max(1e-12));
        forward += out / line.length().max(1e-9) * 3.0;
    }
    up.cross(forward).try_normalize()
}

/// Of the person, sole to crown, in the file's unit: from the legs, which every skeleton has whole. Spines are cut short and heads end
/// anywhere. Hip to ankle is 0.491 of a person's height (Drillis and Contini 1966).
pub(crate) fn height(skeleton: &Skeleton, roles: &Roles) -> f32 {
    let length = |from: Role, to: Role| -> Option<f32> {
        let (mut joint, top) = (roles.get(to)?, roles.get(from)?);
        let mut sum = 0.0;
        while joint != top {
            sum += skeleton.offset(joint).length();
            joint = skeleton.parent(joint)?;
        }
        Some(sum)
    };
    let legs = [(Role::LeftHip, Role::LeftAnkle), (Role::RightHip, Role::RightAnkle)];
    legs.iter().filter_map(|&(a, b)| length(a, b)).sum::<f32>() / 2.0 / 0.491
}

/// Units that files are in, in metres, with the name of each and how common it is.
const UNITS: [(f32, &str, f32); 7] = [
    (1.0, "metres", 1.0),
    (0.01, "centimetres", 1.0),
    (0.001, "millimetres", 0.8),
    (0.0254, "inches", 0.7),
    (0.056_444, "CMU's units of 1/0.45 inch", 0.6),
    (0.1, "decimetres", 0.3),
    (0.3048, "feet", 0.3),
];

/// The unit that makes a person of the skeleton.
pub(crate) fn unit(skeleton: &Skeleton, roles: &Roles) -> Found<f32> {
    let height = height(skeleton, roles);
    // Adults, mostly: 1.74 m, give or take 12 cm.
    let fit = |metres: f32| libm::expf(-0.5 * ((height * metres - 1.74) / 0.12) * ((height * metres - 1.74) / 0.12));
    let best = UNITS.iter().max_by(|a, b| (fit(a.0) * a.2).total_cmp(&(fit(b.0) * b.2)));
    match best {
        Some((metres, name, _)) if fit(*metres) > 0.05 => {
            let confidence = 0.6 + 0.38 * fit(*metres);
            Found::new(*metres, confidence, format!("{name}: the person is {:.2} m tall", height * metres))
        }
        _ => {
            let metres = 1.74 / height.max(1e-9);
            Found::new(metres, 0.4, "no common unit makes a person of it; scaled to 1.74 m")
        }
    }
}
