//! Keys to frames.

use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::blend::ease;
use kumite_motion::rotation::{about, slerp, wrap, yaw};
use kumite_motion::{
    Clip, Contacts, Pose, Quat, Role, Roles, Skeleton, Span, SpanKind, Vec2, Vec3, WorldPose, fk, ik, mass, mirror,
};

use crate::curve::{Curve, Knot};
use crate::error::KeyingError;
use crate::file::{Attitude, Fist, Foot, FootPlace, Hand, Key, MotionFile, StanceFile};

/// Frames per second of what is compiled.
pub const FPS: f32 = 60.0;

/// A leg is never stretched beyond this share of its length: the pelvis sinks instead.
const LEG_REACH: f32 = 0.995;

/// What must hold of a motion whatever its stance.
pub(crate) fn check(motion: &MotionFile) -> Result<(), KeyingError> {
    let motion = &motion.expanded();
    let within = |key: String, t: f32| {
        if t.is_finite() && (0.0..=motion.seconds).contains(&t) {
            return Ok(());
        }
        Err(KeyingError::value(key, t, &format!("0 to {} (seconds of the motion)", motion.seconds)))
    };
    if !(motion.seconds.is_finite() && motion.seconds > 0.0 && motion.seconds <= 600.0) {
        return Err(KeyingError::value("seconds", motion.seconds, "more than 0, at most 600"));
    }
    if motion.name.trim().is_empty() {
        return Err(KeyingError::value("name", "empty", "a name"));
    }
    for (i, key) in motion.key.iter().enumerate() {
        within(format!("key {} at", i + 1), key.at)?;
    }
    for (i, step) in motion.step.iter().enumerate() {
        within(format!("step {} from", i + 1), step.from)?;
        within(format!("step {} to", i + 1), step.to)?;
        if step.to <= step.from {
            return Err(KeyingError::value(format!("step {} to", i + 1), step.to, "later than from"));
        }
        let earlier = motion.step[..i].iter().filter(|s| s.foot == step.foot);
        if earlier.clone().any(|s| s.from < step.to && step.from < s.to) {
            return Err(KeyingError::new(format!("step {}: the same foot is already on its way then", i + 1)));
        }
    }
    for (i, span) in motion.span.iter().enumerate() {
        within(format!("span {} from", i + 1), span.from)?;
        within(format!("span {} to", i + 1), span.to)?;
        if span.to < span.from {
            return Err(KeyingError::value(format!("span {} to", i + 1), span.to, "not before from"));
        }
        if let Some([from, to]) = span.active
            && !(span.from <= from && from <= to && to <= span.to)
        {
            return Err(KeyingError::value(
                format!("span {} active", i + 1),
                format!("{from} to {to}"),
                "within the span",
            ));
        }
        if SpanKind::from_name(&span.kind).is_none() {
            let names = SpanKind::ALL.map(SpanKind::name).join(", ");
            return Err(KeyingError::value(format!("span {} kind", i + 1), &span.kind, &names));
        }
        if let Some(part) = &span.part
            && Role::from_name(part).is_none()
        {
            let names = Role::ALL.map(Role::name).join(", ");
            return Err(KeyingError::value(format!("span {} part", i + 1), part, &names));
        }
    }
    Ok(())
}

/// The motion as a clip of the canonical skeleton. Its stance stands at the origin, facing +Z, when it begins.
pub fn compile(motion: &MotionFile, stance: &StanceFile, skeleton: &Arc<Skeleton>) -> Result<Clip, KeyingError> {
    check(motion)?;
    let motion = &motion.expanded();
    let body = Body::new(motion, stance, skeleton);
    let frames = libm::roundf(motion.seconds * FPS) as usize + 1;
    let mut contacts = Vec::with_capacity(frames);
    let mut clip = Clip::from_fn(&motion.name, Arc::clone(skeleton), FPS, frames, |frame, pose| {
        contacts.push(body.pose(frame as f32 / FPS, pose));
    })
    .map_err(|e| KeyingError::new(format!("these keys do not make a motion: {e}")))?;
    clip.contacts = contacts;
    clip.spans = motion
        .span
        .iter()
        .filter_map(|s| {
            let mut span = Span::new(SpanKind::from_name(&s.kind)?, &s.label, s.from, s.to);
            span.active = s.active.map(|[a, b]| (a, b));
            span.part = s.part.as_deref().and_then(Role::from_name);
            Some(span)
        })
        .collect();
    Ok(clip)
}

/// The left-right variant, under the name the file gives it.
pub fn mirrored(motion: &MotionFile, clip: &Clip) -> Option<Clip> {
    let name = motion.mirror.as_ref()?;
    let pairs = mirror::Mirror::by_roles(clip.skeleton(), &Roles::canonical());
    let mut clip = pairs.clip(clip).ok()?;
    clip.name.clone_from(name);
    Some(clip)
}

/// One arm's curves.
struct Arm {
    wrist: Role,
    /// Wrist in the chest's frame, in the stance.
    rest: Vec3,
    moved: Curve,
    /// Radians; x is the elbow's swivel, y and z the fist's roll and bend.
    turned: Curve,
    fist: Fist,
    elbow: f32,
}

/// One leg's curves.
struct Leg {
    ankle: Role,
    toe: Role,
    place: FootPlace,
    /// Ankle to ball of the foot, flat on the floor, and the height of the ball's joint above the floor.
    bone: Vec3,
    ball_height: f32,
    heel: Curve,
    /// Times of leaving and landing, the stance gone to, the lift.
    steps: Vec<(f32, f32, Planar, f32)>,
}

struct Body<'a> {
    stance: &'a StanceFile,
    skeleton: &'a Skeleton,
    roles: Roles,
    balance: f32,
    lead: f32,
    glide: f32,
    life: f32,
    seconds: f32,
    shift: Curve,
    weight: Curve,
    hips: Curve,
    chest: Curve,
    head: Curve,
    arms: [Arm; 2],
    legs: [Leg; 2],
}

fn radians(degrees: f32) -> f32 {
    degrees.to_radians()
}

fn attitude(a: &Attitude) -> Vec3 {
    Vec3::new(radians(a.turn), radians(a.lean), radians(a.tilt))
}

/// Turn, lean, tilt to a rotation: turned first, then leaned forward and tilted to the left in that direction.
fn rotation(a: Vec3) -> Quat {
    yaw(a.x) * about(Vec3::X, a.y) * about(Vec3::Z, -a.z)
}

impl<'a> Body<'a> {
    fn new(motion: &MotionFile, stance: &'a StanceFile, skeleton: &'a Skeleton) -> Body<'a> {
        // Every channel that is keyed at all leaves from the stance and, unless told otherwise, returns to it.
        let curve = |pick: &dyn Fn(&Key) -> Option<Vec3>| {
            let knot = |at: f32, value: Vec3, key: Option<&Key>| Knot {
                at,
                value,
                ease: key.map(|k| k.ease).unwrap_or_default(),
                hold: key.is_some_and(|k| k.hold),
            };
            let mut knots: Vec<Knot> = motion.key.iter().filter_map(|k| Some(knot(k.at, pick(k)?, Some(k)))).collect();
            if knots.is_empty() {
                return Curve::default();
            }
            let keyed = |t: f32| knots.iter().any(|k| k.at == t);
            let (first, last) = (!keyed(0.0), motion.returns && !keyed(motion.seconds));
            knots.extend(first.then(|| knot(0.0, Vec3::ZERO, None)));
            knots.extend(last.then(|| knot(motion.seconds, Vec3::ZERO, None)));
            Curve::through(knots)
        };
        let leg = |foot: Foot, ankle: Role, toe: Role, place: FootPlace| {
            let bone = skeleton.offset(toe.joint());
            Leg {
                ankle,
                toe,
                place,
                bone,
                // The rest pose stands on the floor: what is left under the ball is the sole.
                ball_height: standing_height(skeleton) + bone.y,
                heel: curve(&|k| {
                    let heel = if foot == Foot::Left { k.left_heel } else { k.right_heel };
                    heel.map(|h| Vec3::new(radians(h), 0.0, 0.0))
                }),
                steps: motion
                    .step
                    .iter()
                    .filter(|s| s.foot == foot)
                    .map(|s| {
                        let to = Planar { turn: radians(s.turn), shift: Vec2::from_array(s.by) };
                        (s.from, s.to, to, s.lift)
                    })
                    .collect(),
            }
        };
        let arm = |wrist: Role, fist: Fist, elbow: f32| Arm {
            wrist,
            rest: Vec3::ZERO,
            moved: Curve::default(),
            turned: curve(&|k| {
                let (fist, elbow) =
                    if wrist == Role::LeftWrist { (k.left_fist, k.left_elbow) } else { (k.right_fist, k.right_elbow) };
                (fist.is_some() || elbow.is_some()).then(|| {
                    let fist = fist.unwrap_or_default();
                    Vec3::new(radians(elbow.unwrap_or(0.0)), radians(fist.roll), radians(fist.bend))
                })
            }),
            fist,
            elbow,
        };
        let mut legs = [
            leg(Foot::Left, Role::LeftAnkle, Role::LeftToe, stance.left_foot),
            leg(Foot::Right, Role::RightAnkle, Role::RightToe, stance.right_foot),
        ];
        for leg in &mut legs {
            leg.steps.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let mut body = Body {
            stance,
            skeleton,
            roles: Roles::canonical(),
            balance: motion.balance,
            lead: motion.lead,
            glide: motion.glide,
            life: motion.life,
            seconds: motion.seconds,
            shift: curve(&|k| k.shift.map(Vec3::from_array)),
            weight: curve(&|k| k.weight.map(|w| Vec3::new(w - stance.weight, 0.0, 0.0))),
            hips: curve(&|k| k.hips.as_ref().map(attitude)),
            chest: curve(&|k| k.chest.as_ref().map(attitude)),
            head: curve(&|k| k.head.as_ref().map(attitude)),
            arms: [
                arm(Role::LeftWrist, stance.left_fist, stance.left_elbow),
                arm(Role::RightWrist, stance.right_fist, stance.right_elbow),
            ],
            legs,
        };
        // Hands live in the chest's frame, so that they go with it; places in the stance's frame are brought there through
        // the chest as it will be at that key.
        let rest_chest = body.chest_frame(None);
        let rest = [stance.left_hand, stance.right_hand].map(|p| rest_chest.inverse(Vec3::from_array(p)));
        let moved = [Foot::Left, Foot::Right].map(|side| {
            let at = side as usize;
            curve(&|k| {
                let hand = if side == Foot::Left { k.left_hand } else { k.right_hand }?;
                Some(match hand {
                    Hand::By(offset) => rest_chest.rotation.conjugate() * Vec3::from_array(offset),
                    Hand::To(place) => {
                        let frame = body.stance_at(k.at);
                        body.chest_frame(Some(k.at)).inverse(frame.point(Vec3::from_array(place))) - rest[at]
                    }
                })
            })
        });
        for ((arm, rest), moved) in body.arms.iter_mut().zip(rest).zip(moved) {
            arm.rest = rest;
            arm.moved = moved;
        }
        body
    }

    /// Where the stance has got to: half-way between where each foot's step has brought it.
    fn stance_at(&self, t: f32) -> Planar {
        let [a, b] = [0, 1].map(|i| self.legs[i].stance_at(t).0);
        Planar { turn: a.turn + 0.5 * wrap(b.turn - a.turn), shift: (a.shift + b.shift) * 0.5 }
    }

    /// The trunk's frame: the stance's, evened out over the glide. Over one step of a steady walk that gives a steady speed.
    fn frame_at(&self, t: f32) -> Planar {
        const PARTS: i32 = 24;
        if self.glide <= 0.0 {
            return self.stance_at(t);
        }
        let mut sum = Planar::IDENTITY;
        for part in 0..PARTS {
            let at = t + self.glide * ((part as f32 + 0.5) / PARTS as f32 - 0.5);
            let frame = self.stance_at(at);
            sum.turn += frame.turn / PARTS as f32;
            sum.shift += frame.shift / PARTS as f32;
        }
        sum
    }

    /// The chest's place and attitude, in the stance itself (`None`) or at a moment.
    fn chest_frame(&self, t: Option<f32>) -> Frame {
        let mut pose = Pose::rest(self.skeleton);
        let mut world = WorldPose::default();
        match t {
            Some(t) => {
                let _ = self.trunk(t, &mut pose, &mut world);
            }
            None => {
                let still = Body {
                    shift: Curve::default(),
                    weight: Curve::default(),
                    hips: Curve::default(),
                    chest: Curve::default(),
                    head: Curve::default(),
                    arms: [0, 1].map(|i| self.arms[i].still()),
                    legs: [0, 1].map(|i| self.legs[i].still()),
                    life: 0.0,
                    ..*self
                };
                let _ = still.trunk(0.0, &mut pose, &mut world);
            }
        }
        Frame { place: world.position(Role::Back.joint()), rotation: world.rotation(Role::Back.joint()) }
    }

    /// Breath and sway: slow sines of whole periods, so that idles loop.
    fn alive(&self, t: f32, slow: f32, phase: f32) -> f32 {
        if self.life == 0.0 {
            return 0.0;
        }
        let cycles = libm::roundf(self.seconds * slow).max(1.0);
        self.life * libm::sinf(std::f32::consts::TAU * cycles * t / self.seconds + phase)
    }

    /// Pelvis, spine, head and legs, balanced. Returns what is planted.
    fn trunk(&self, t: f32, pose: &mut Pose, world: &mut WorldPose) -> Contacts {
        let (hips_time, chest_time) = (self.early(t, self.lead), self.early(t, 0.5 * self.lead));
        let frame = self.frame_at(hips_time);
        let turn = yaw(frame.turn);
        let breath = self.alive(t, 0.27, 0.0);
        let sway =
            Vec3::new(self.alive(t, 0.11, 1.0), self.alive(t, 0.27, 0.6) * 0.5, self.alive(t, 0.17, 2.0)) * 0.006;
        let pelvis = turn * rotation(attitude(&self.stance.hips) + self.hips.at(hips_time));
        let chest_life = Vec3::new(self.alive(t, 0.13, 0.3) * 0.012, -breath * 0.010, self.alive(t, 0.09, 2.0) * 0.006);
        let chest = turn * rotation(attitude(&self.stance.chest) + self.chest.at(chest_time) + chest_life);
        let head_life = Vec3::new(self.alive(t, 0.15, 4.0) * 0.015, self.alive(t, 0.21, 1.5) * 0.008, 0.0);
        let head = turn * rotation(attitude(&self.stance.head) + self.head.at(t) + head_life);
        pose.rotations[Role::Pelvis.joint().at()] = pelvis;
        let spine = pelvis.conjugate() * chest;
        let half = slerp(Quat::IDENTITY, spine, 0.45);
        pose.rotations[Role::Waist.joint().at()] = half;
        pose.rotations[Role::Back.joint().at()] = half.conjugate() * spine;
        let nod = chest.conjugate() * head;
        let neck = slerp(Quat::IDENTITY, nod, 0.5);
        pose.rotations[Role::Neck.joint().at()] = neck;
        pose.rotations[Role::Head.joint().at()] = neck.conjugate() * nod;

        let shift = self.shift.at(hips_time) + sway;
        let height = self.stance.pelvis_height + shift.y;
        let feet = [0, 1].map(|i| self.legs[i].at(t));
        let homes = [0, 1].map(|i| self.legs[i].home(&frame));
        let share = self.stance.weight + self.weight.at(hips_time).x;
        let middle = |foot: &FootAt| foot.ball - foot.ahead() * 0.35 * self.legs[0].bone.z;
        // While gliding the weight is shared between where the feet belong, not where they happen to be.
        let under = [0, 1].map(|i| middle(if self.glide > 0.0 { &homes[i] } else { &feet[i] }));
        let wanted = under[1].lerp(under[0], share) + turn * Vec3::new(shift.x, 0.0, shift.z);
        pose.set_root(Vec3::new(wanted.x, height, wanted.z));
        // Three rounds leave less than a millimetre: legs follow the pelvis and shift the mass a little.
        for _ in 0..3 {
            self.place_legs(&feet, pose, world);
            let centre = mass::centre(self.skeleton, &self.roles, world);
            let off = (Vec3::new(wanted.x - centre.x, 0.0, wanted.z - centre.z)) * self.balance;
            let root = pose.root() + off;
            pose.set_root(Vec3::new(root.x, height, root.z));
        }
        self.sink_to_reach(&feet, pose, world);
        self.place_legs(&feet, pose, world);
        feet[0].contacts(Foot::Left).with(feet[1].contacts(Foot::Right))
    }

    /// Lowers the pelvis until both ankles are within reach.
    fn sink_to_reach(&self, feet: &[FootAt; 2], pose: &mut Pose, world: &mut WorldPose) {
        fk::pose(self.skeleton, pose, world);
        let mut root = pose.root();
        for (leg, foot) in self.legs.iter().zip(feet) {
            let Some(limb) = ik::Limb::of(self.skeleton, leg.ankle) else { continue };
            let Some(hip) = leg.ankle.parent().and_then(Role::parent) else { continue };
            let hip = world.position(hip.joint()) - pose.root() + root;
            let ankle = leg.ankle_at(foot);
            let flat = Vec2::new(hip.x - ankle.x, hip.z - ankle.z).length_squared();
            let longest = LEG_REACH * limb.length_at(0.0);
            let highest = ankle.y + (longest * longest - flat).max(0.0).sqrt();
            root.y -= (hip.y - highest).max(0.0);
        }
        pose.set_root(root);
    }

    fn place_legs(&self, feet: &[FootAt; 2], pose: &mut Pose, world: &mut WorldPose) {
        fk::pose(self.skeleton, pose, world);
        let pelvis = world.rotation(Role::Pelvis.joint()) * Vec3::Z;
        for (leg, foot) in self.legs.iter().zip(feet) {
            // Knees point between the toes and the hips, nearer the toes.
            let pole = foot.ahead() * 0.75 + Vec3::new(pelvis.x, 0.0, pelvis.z) * 0.25;
            ik::place(self.skeleton, pose, world, leg.ankle, leg.ankle_at(foot), pole, 0.0);
            let Some(knee) = leg.ankle.parent() else { continue };
            let attitude = yaw(foot.turn) * about(Vec3::X, foot.pitch);
            pose.rotations[leg.ankle.joint().at()] = world.rotation(knee.joint()).conjugate() * attitude;
            // Toes stay on the floor while the heel rises.
            let flat = 1.0 - 0.7 * ease(foot.lift / 0.03);
            pose.rotations[leg.toe.joint().at()] = about(Vec3::X, -foot.pitch.max(0.0) * flat);
        }
        fk::pose(self.skeleton, pose, world);
    }

    fn early(&self, t: f32, lead: f32) -> f32 {
        // Ahead in the middle, but not at the ends: the motion starts and stops as one.
        let room = 0.25f32.min(0.25 * self.seconds);
        let fade = (t / room).min((self.seconds - t) / room).clamp(0.0, 1.0);
        t + lead * ease(fade)
    }

    fn pose(&self, t: f32, pose: &mut Pose) -> Contacts {
        pose.rotations.fill(Quat::IDENTITY);
        let mut world = WorldPose::default();
        let contacts = self.trunk(t, pose, &mut world);
        for arm in &self.arms {
            self.place_arm(arm, t, pose, &mut world);
        }
        contacts
    }

    fn place_arm(&self, arm: &Arm, t: f32, pose: &mut Pose, world: &mut WorldPose) {
        let side = if arm.wrist == Role::LeftWrist { 1.0 } else { -1.0 };
        let (Some(elbow), Some(limb)) = (arm.wrist.parent(), ik::Limb::of(self.skeleton, arm.wrist)) else { return };
        let (Some(shoulder), Some(clavicle)) = (elbow.parent(), elbow.parent().and_then(Role::parent)) else { return };
        let chest = Frame { place: world.position(Role::Back.joint()), rotation: world.rotation(Role::Back.joint()) };
        let bob = Vec3::new(self.alive(t, 0.19, side) * 0.5, self.alive(t, 0.27, 0.8), self.alive(t, 0.23, 2.0 * side))
            * 0.006;
        let target = chest.point(arm.rest + arm.moved.at(t) + bob);
        // The shoulder goes along with a far reach: nothing below 70 % of the arm, its whole range at full stretch.
        let line = target - world.position(shoulder.joint());
        let stretch = ((line.length() / limb.length_at(0.0) - 0.70) / 0.35).clamp(0.0, 1.0);
        let out = self.skeleton.offset(shoulder.joint()).normalize_or(Vec3::X);
        let to = (chest.rotation.conjugate() * line).normalize_or(out);
        let share = 0.30 * ease(stretch);
        pose.rotations[clavicle.joint().at()] = slerp(Quat::IDENTITY, kumite_motion::rotation::arc(out, to), share);
        fk::pose(self.skeleton, pose, world);
        let turned = arm.turned.at(t);
        let pole = chest.rotation * ik::default_pole(arm.wrist);
        let swivel = side * (radians(arm.elbow) + turned.x);
        ik::place(self.skeleton, pose, world, arm.wrist, target, pole, swivel);
        let (roll, bend) = (radians(arm.fist.roll) + turned.y, radians(arm.fist.bend) + turned.z);
        pose.rotations[arm.wrist.joint().at()] = about(Vec3::X, roll) * about(Vec3::Z, -side * bend);
        fk::pose(self.skeleton, pose, world);
    }
}

impl Arm {
    fn still(&self) -> Arm {
        Arm { moved: Curve::default(), turned: Curve::default(), ..*self }
    }
}

/// Height of the ankle joint above the sole.
fn standing_height(skeleton: &Skeleton) -> f32 {
    [Role::Pelvis, Role::LeftHip, Role::LeftKnee, Role::LeftAnkle].iter().map(|r| skeleton.offset(r.joint()).y).sum()
}

struct Frame {
    place: Vec3,
    rotation: Quat,
}

impl Frame {
    fn point(&self, local: Vec3) -> Vec3 {
        self.place + self.rotation * local
    }

    fn inverse(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.place)
    }
}

/// A foot at a moment.
struct FootAt {
    /// Ball of the foot as it would stand flat; y is 0.
    ball: Vec3,
    turn: f32,
    /// Positive raises the heel, about the ball; negative the toes, about the heel.
    pitch: f32,
    lift: f32,
    planted: bool,
}

impl FootAt {
    fn ahead(&self) -> Vec3 {
        yaw(self.turn) * Vec3::Z
    }

    fn contacts(&self, foot: Foot) -> Contacts {
        let (heel, toe) = match foot {
            Foot::Left => (Contacts::LEFT_HEEL, Contacts::LEFT_TOE),
            Foot::Right => (Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE),
        };
        const FLAT: f32 = 1e-4;
        let mut contacts = Contacts::NONE;
        if self.planted && self.pitch <= FLAT {
            contacts = contacts.with(heel);
        }
        if self.planted && self.pitch >= -FLAT {
            contacts = contacts.with(toe);
        }
        contacts
    }
}

impl Leg {
    fn still(&self) -> Leg {
        Leg { heel: Curve::default(), steps: Vec::new(), ..*self }
    }

    /// The stance this foot belongs to, how high it swings, and whether it is planted.
    fn stance_at(&self, t: f32) -> (Planar, f32, bool) {
        let mut from = Planar::IDENTITY;
        for &(leave, land, to, lift) in &self.steps {
            if t >= land {
                from = to;
                continue;
            }
            if t <= leave {
                break;
            }
            let s = (t - leave) / (land - leave);
            let share = ease(s);
            let between =
                Planar { turn: from.turn + wrap(to.turn - from.turn) * share, shift: from.shift.lerp(to.shift, share) };
            let height = 16.0 * s * s * (1.0 - s) * (1.0 - s);
            return (between, lift * height, lift == 0.0);
        }
        (from, 0.0, true)
    }

    fn at(&self, t: f32) -> FootAt {
        let (stance, lift, planted) = self.stance_at(t);
        let pitch = radians(self.place.heel) + self.heel.at(t).x;
        FootAt { pitch, lift, planted, ..self.home(&stance) }
    }

    /// The foot where it belongs in a stance.
    fn home(&self, stance: &Planar) -> FootAt {
        let ball = stance.point(Vec3::new(self.place.at[0], 0.0, self.place.at[1]));
        let turn = stance.turn + radians(self.place.turn);
        FootAt { ball, turn, pitch: radians(self.place.heel), lift: 0.0, planted: true }
    }

    /// Where the ankle joint is.
    fn ankle_at(&self, foot: &FootAt) -> Vec3 {
        let level = yaw(foot.turn);
        let tipped = level * about(Vec3::X, foot.pitch);
        let joint = foot.ball + Vec3::Y * (self.ball_height + foot.lift);
        if foot.pitch >= 0.0 {
            return joint - tipped * self.bone;
        }
        // The heel's corner is on the floor, a little behind and right below the ankle.
        let corner = Vec3::new(0.0, -(self.ball_height - self.bone.y), -0.3 * self.bone.z);
        let flat_ankle = joint - level * self.bone;
        flat_ankle + level * corner - tipped * corner
    }
}
