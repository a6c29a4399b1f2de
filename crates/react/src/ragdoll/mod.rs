//! A body of rigid parts that joints hold together and motors pull towards a pose: what shows a blow.
//!
//! Shown are joint *rotations*, laid over the skeleton by forward kinematics, so nothing stretches. All of it is state and is cloned with its
//! owner: solvers start from the impulses of the tick before. [`Physics`] is scratch.

pub mod parts;

use std::fmt;
use std::sync::Arc;

use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, between as between_turns, to_vector, twist_angle, wrap};
use kumite_motion::volume::{BodySphere, Obstacle, Shape};
use kumite_motion::{Pose, Quat, Role, Skeleton, Vec3, WorldPose, fk, humanoid};
use rapier3d::prelude::{
    BroadPhaseBvh, CCDSolver, CoefficientCombineRule, ColliderBuilder, ColliderHandle, ColliderSet,
    GenericJointBuilder, Group, ImpulseJointHandle, ImpulseJointSet, IntegrationParameters, InteractionGroups,
    InteractionTestMode, IslandManager, JointAxesMask, JointAxis, MassProperties, MotorModel, MultibodyJointSet,
    NarrowPhase, PhysicsPipeline, Pose as Rigid, RigidBodyBuilder, RigidBodyHandle, RigidBodySet, RigidBodyType,
    Rotation, SharedShape, SoftBodySet, Vector as EngineVec3,
};

use parts::{FEET, PARENTS, PARTS, Part, ROLES};

/// Metres per second squared.
pub const GRAVITY: f32 = 9.81;
/// Steps of the solver in a tick: on one's feet, on the ground, and when limbs turn fast.
const STEPS: [usize; 3] = [4, 7, 16];
/// What the floor holds a body with.
const FRICTION: f32 = 0.8;
/// How firm the floor is under a fall, hertz; the engine's own is 60.
const FLOOR: f32 = 400.0;
/// A part lands that would be this near to the floor after the tick, metres. A tick in which it turns farther than this, radians, or falls farther, metres, is cut into so many
/// at most, each with so many rounds in every step of the solver.
const LANDS: f32 = 0.01;
const SLICE: (f32, f32) = (0.15, 0.015);
const SLICES: usize = 3;
const SLICED: usize = 3;
/// What is shown when it is hit may have a heel this deep in the floor, metres; one that is deeper is lifted.
const PRESSED: f32 = 0.006;
/// Motions turn joints no faster than this, radians per second.
const JUMPS: f32 = 30.0;
/// A joint is stopped when it is this far beyond where its motion has it *and* beyond its limit, radians, and by this, times what it holds with.
const BEYOND: f32 = 0.02;
const STOP: f32 = 4.0;

/// How much stiffer elbows and knees are across their axis, and how much more that is damped.
const HINGE: (f32, f32) = (4.0, 2.0);
/// Moment of inertia of a person about its hips, kg m² (Chaffin and Andersson 1991: 9 to 12 for somebody who stands).
const INERTIA: f32 = 9.0;

/// Memory of the solver. It carries nothing from one tick to the next.
#[derive(Default)]
pub struct Physics {
    pipeline: PhysicsPipeline,
    ccd: CCDSolver,
    multibodies: MultibodyJointSet,
    soft: SoftBodySet,
}

impl Clone for Physics {
    fn clone(&self) -> Physics {
        Physics::default()
    }
}

impl fmt::Debug for Physics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Physics")
    }
}

/// A body's parts, measured once.
#[derive(Clone, Debug)]
pub struct Build {
    skeleton: Arc<Skeleton>,
    parts: [Part; PARTS],
    /// Heights of joints at rest.
    rest: WorldPose,
}

impl Build {
    /// Of the canonical skeleton; `None` of any other.
    pub fn of(skeleton: &Arc<Skeleton>, spheres: &[BodySphere]) -> Option<Build> {
        let mut rest = WorldPose::default();
        fk::pose(skeleton, &Pose::rest(skeleton), &mut rest);
        Some(Build { skeleton: Arc::clone(skeleton), parts: parts::measure(skeleton, spheres)?, rest })
    }

    /// Whose parts they are.
    pub fn skeleton(&self) -> &Skeleton {
        &self.skeleton
    }

    /// What the parts are.
    pub fn parts(&self) -> &[Part; PARTS] {
        &self.parts
    }

    /// How high a joint is when its body stands at rest, metres.
    pub fn resting(&self, role: Role) -> f32 {
        self.rest.position(role.joint()).y
    }

    /// How deep a body would be in the floor whose parts lie like this, metres.
    fn sunk(&self, world: &WorldPose) -> f32 {
        let low = |(role, part): (&Role, &Part)| {
            part.ends.map(|end| world.point(role.joint(), end).y).into_iter().fold(f32::INFINITY, f32::min)
                - part.radius
        };
        -ROLES.iter().zip(&self.parts).map(low).fold(0.0, f32::min)
    }

    /// Where the centre of mass of a body would be whose parts lie like this.
    pub fn centre(&self, world: &WorldPose) -> Vec3 {
        let one = |(role, part): (&Role, &Part)| world.point(role.joint(), part.centre) * part.mass;
        let mass: f32 = self.parts.iter().map(|p| p.mass).sum();
        ROLES.iter().zip(&self.parts).map(one).fold(Vec3::ZERO, |a, b| a + b) / mass.max(1e-6)
    }
}

/// How strongly a body is pulled, in this tick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Of each joint, 1 is what it holds with; the first is of the whole body towards where its motion has the pelvis.
    pub strength: [f32; PARTS],
    /// How much of its damping each joint keeps.
    pub damping: [f32; PARTS],
    /// How much of its weight a body feels, 0..1: motion that is tracked carries its own.
    pub weight: f32,
    /// Whether joints move with their motion; else they are slowed down to where it has them.
    pub chase: bool,
    /// Whether joints beyond their limits are pulled back. Who lies is held as it came to lie: a stop that comes and goes would not let it rest.
    pub stops: bool,
    /// How quickly parts stop rolling, per second: flesh is no steel ball.
    pub drag: f32,
    /// Whether limbs turn fast: more steps of the solver.
    pub fast: bool,
}

impl Pull {
    /// Nothing holds it: it falls as it may.
    pub const LIMP: Pull = Pull {
        strength: [0.0; PARTS],
        damping: [0.0; PARTS],
        weight: 1.0,
        chase: false,
        stops: true,
        drag: 0.0,
        fast: true,
    };
}

/// A body that is simulated.
#[derive(Clone)]
pub struct Ragdoll {
    build: Arc<Build>,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    joints: ImpulseJointSet,
    islands: IslandManager,
    broad: BroadPhaseBvh,
    narrow: NarrowPhase,
    parts: [RigidBodyHandle; PARTS],
    held: [ImpulseJointHandle; PARTS],
    /// What of the feet touches the floor, and which of them slide over it.
    soles: [ColliderHandle; 2],
    slick: [bool; 2],
    /// Which feet are nailed down.
    pinned: [bool; 2],
    /// What was aimed at in the last tick: attitudes of parts relative to their parents, and where the pelvis was.
    aims: [Quat; PARTS],
    pelvis: Vec3,
    drag: f32,
    /// How parts lay before the last tick, and how long that took.
    last: [Quat; PARTS],
    seconds: f32,
}

impl fmt::Debug for Ragdoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ragdoll").field("pinned", &self.pinned).finish_non_exhaustive()
    }
}

impl Ragdoll {
    /// As it was shown now and `seconds` before, with what stands around it.
    pub fn new(build: &Arc<Build>, now: &WorldPose, before: &WorldPose, seconds: f32, around: &[Obstacle]) -> Ragdoll {
        let (mut bodies, mut colliders) = (RigidBodySet::new(), ColliderSet::new());
        let mut joints = ImpulseJointSet::new();
        let own = InteractionGroups::new(Group::GROUP_1, Group::GROUP_2, InteractionTestMode::And);
        let world = InteractionGroups::new(Group::GROUP_2, Group::GROUP_1, InteractionTestMode::And);
        let mut parts = [RigidBodyHandle::invalid(); PARTS];
        let mut held = [ImpulseJointHandle::invalid(); PARTS];
        let mut soles = [ColliderHandle::invalid(); 2];
        let lift = Vec3::Y * (build.sunk(now) - PRESSED).max(0.0);
        for (index, part) in build.parts.iter().enumerate() {
            let joint = ROLES[index].joint();
            let (place, turn) = (now.position(joint) + lift, now.rotation(joint));
            let rate = 1.0 / seconds.max(1e-4);
            let spin = to_vector(turn * before.rotation(joint).conjugate()) * rate;
            // Of the centre of its mass.
            let speed = (now.point(joint, part.centre) - before.point(joint, part.centre)) * rate;
            let props = MassProperties::with_principal_inertia_frame(
                there(part.centre),
                part.mass,
                there(part.inertia),
                there_turn(part.along),
            );
            let body = RigidBodyBuilder::dynamic()
                .pose(rigid(place, turn))
                .linvel(there(speed))
                .angvel(there(spin))
                .additional_mass_properties(props)
                .can_sleep(false);
            parts[index] = bodies.insert(body);
            let capsule =
                ColliderBuilder::capsule_from_endpoints(there(part.ends[0]), there(part.ends[1]), part.radius)
                    .density(0.0)
                    .friction(FRICTION)
                    .restitution(0.0)
                    .collision_groups(own);
            let capsule = colliders.insert_with_parent(capsule, parts[index], &mut bodies);
            soles.iter_mut().zip(FEET).filter(|sole| sole.1 == index).for_each(|sole| *sole.0 = capsule);
            // Else a push before the first step would meet a body that weighs nothing.
            if let Some(body) = bodies.get_mut(parts[index]) {
                body.recompute_mass_properties_from_colliders(&colliders);
            }
        }
        let mut aims = [Quat::IDENTITY; PARTS];
        for index in 1..PARTS {
            aims[index] = relative(now, index);
            let joint = GenericJointBuilder::new(JointAxesMask::LIN_AXES)
                .local_frame1(rigid(anchor(now, index), aims[index]))
                .motor_model(JointAxis::AngX, MotorModel::ForceBased)
                .motor_model(JointAxis::AngY, MotorModel::ForceBased)
                .motor_model(JointAxis::AngZ, MotorModel::ForceBased)
                .contacts_enabled(false)
                .build();
            held[index] = joints.insert(parts[PARENTS[index]], parts[index], joint, true);
        }
        let floor = ColliderBuilder::new(SharedShape::halfspace(there(Vec3::Y)))
            .friction(FRICTION)
            .restitution(0.0)
            .collision_groups(world);
        colliders.insert(floor);
        for obstacle in around {
            let shape = match obstacle.shape {
                Shape::Sphere { radius } => ColliderBuilder::ball(radius),
                Shape::Capsule { half, radius } => ColliderBuilder::capsule_y(half, radius),
                Shape::Cylinder { half, radius } => ColliderBuilder::cylinder(half, radius),
                Shape::Box { half } => ColliderBuilder::cuboid(half.x, half.y, half.z),
            };
            let shape = shape.position(rigid(obstacle.at, obstacle.turn));
            colliders.insert(shape.friction(FRICTION).collision_groups(world));
        }
        Ragdoll {
            build: Arc::clone(build),
            bodies,
            colliders,
            joints,
            islands: IslandManager::new(),
            broad: BroadPhaseBvh::default(),
            narrow: NarrowPhase::new(),
            parts,
            held,
            soles,
            slick: [false; 2],
            pinned: [false; 2],
            aims,
            pelvis: now.position(Role::Pelvis.joint()),
            drag: 0.0,
            last: std::array::from_fn(
                |k| {
                    if k == 0 { before.rotation(Role::Pelvis.joint()) } else { relative(before, k) }
                },
            ),
            seconds,
        }
    }

    /// What it is made of.
    pub fn build(&self) -> &Arc<Build> {
        &self.build
    }

    /// Nails feet to where they are, or lets them go.
    pub fn pin(&mut self, feet: [bool; 2]) {
        for ((pinned, wanted), index) in self.pinned.iter_mut().zip(feet).zip(FEET) {
            if *pinned != wanted {
                *pinned = wanted;
                let kind = if wanted { RigidBodyType::KinematicPositionBased } else { RigidBodyType::Dynamic };
                if let Some(body) = self.bodies.get_mut(self.parts[index]) {
                    body.set_body_type(kind, true);
                    if wanted {
                        body.set_linvel(there(Vec3::ZERO), true);
                        body.set_angvel(there(Vec3::ZERO), true);
                    }
                }
            }
        }
    }

    /// Lets feet slide over the floor, or not: one on its way would trip over a floor that holds it before its motion has it stand.
    pub fn slide(&mut self, feet: [bool; 2]) {
        for ((slick, wanted), sole) in self.slick.iter_mut().zip(feet).zip(self.soles) {
            if *slick != wanted {
                *slick = wanted;
                if let Some(sole) = self.colliders.get_mut(sole) {
                    sole.set_friction(if wanted { 0.0 } else { FRICTION });
                    sole.set_friction_combine_rule(CoefficientCombineRule::Min);
                }
            }
        }
    }

    /// Which feet are nailed down.
    pub fn pinned(&self) -> [bool; 2] {
        self.pinned
    }

    /// A push at a place of the world, newton seconds.
    pub fn push(&mut self, part: usize, impulse: Vec3, at: Vec3) {
        if let Some(body) = self.parts.get(part).and_then(|handle| self.bodies.get_mut(*handle)) {
            body.apply_impulse_at_point(there(impulse), there(at), true);
        }
    }

    /// Makes everything faster that is not nailed down, metres per second.
    pub fn drift(&mut self, by: Vec3) {
        for (index, handle) in self.parts.iter().enumerate() {
            let nailed = FEET.iter().zip(self.pinned).any(|(foot, pinned)| *foot == index && pinned);
            if let Some(body) = self.bodies.get_mut(*handle).filter(|_| !nailed) {
                body.set_linvel(body.linvel() + there(by), true);
            }
        }
    }

    /// How much of its length a leg is stretched to, 0..1.
    pub fn stretched(&self, foot: usize) -> f32 {
        let [hip, knee, ankle] = [FEET[foot] - 2, FEET[foot] - 1, FEET[foot]];
        let joint = |index: usize| self.build.skeleton.offset(ROLES[index].joint()).length();
        (self.place(ankle).0 - self.place(hip).0).length() / (joint(knee) + joint(ankle)).max(1e-6)
    }

    /// How fast a place of a part moves.
    pub fn speed_at(&self, part: usize, at: Vec3) -> Vec3 {
        self.parts
            .get(part)
            .and_then(|handle| self.bodies.get(*handle))
            .map_or(Vec3::ZERO, |b| here(b.velocity_at_point(there(at))))
    }

    /// A tick of `seconds` towards a motion.
    pub fn step(&mut self, physics: &mut Physics, motion: &WorldPose, pull: &Pull, seconds: f32) {
        (self.last, self.seconds) = (self.attitudes(), seconds);
        self.aim(motion, pull, seconds);
        if pull.drag != self.drag {
            self.drag = pull.drag;
            for handle in self.parts {
                if let Some(body) = self.bodies.get_mut(handle) {
                    body.set_angular_damping(pull.drag);
                }
            }
        }
        let slices = if pull.weight > 0.0 { self.slices(seconds) } else { 1 };
        let mut parameters = IntegrationParameters { dt: seconds / slices as f32, ..IntegrationParameters::default() };
        let steps = match pull {
            Pull { fast: true, .. } => STEPS[2],
            Pull { weight, .. } if *weight > 0.0 => STEPS[1],
            _ => STEPS[0],
        };
        parameters.num_solver_iterations = steps;
        if slices > 1 {
            parameters.num_internal_pgs_iterations = SLICED;
        }
        parameters.warmstart_joints = true;
        parameters.max_ccd_substeps = 0;
        // Falling limbs come down by several centimetres in a tick: the floor is felt before they are in it.
        parameters.normalized_prediction_distance = 0.1;
        parameters.static_contact_softness.natural_frequency = FLOOR;
        for _ in 0..slices {
            physics.pipeline.step(
                there(Vec3::NEG_Y * (GRAVITY * pull.weight)),
                &parameters,
                &mut self.islands,
                &mut self.broad,
                &mut self.narrow,
                &mut self.bodies,
                &mut self.colliders,
                &mut self.joints,
                &mut physics.multibodies,
                &mut physics.soft,
                &mut physics.ccd,
                &(),
                &(),
            );
        }
    }

    /// Into how many parts a tick is cut. Places at which a part may touch the floor are found once and turn with it from then on: of one that is about to land, and turns
    /// far meanwhile, they are not its lowest ones any more. And a trunk that lands on an arm would pull its elbow apart.
    fn slices(&self, seconds: f32) -> usize {
        let needs = |(handle, part): (&RigidBodyHandle, &Part)| {
            let Some(body) = self.bodies.get(*handle) else { return 0.0 };
            let lands = part.ends.into_iter().any(|end| {
                let at = body.position() * there(end);
                at.y - part.radius + body.velocity_at_point(at).y * seconds < LANDS
            });
            let (turns, falls) = (body.angvel().length() * seconds, -body.linvel().y * seconds);
            if lands { (turns / SLICE.0).max(falls / SLICE.1) } else { 0.0 }
        };
        let most = self.parts.iter().zip(&self.build.parts).map(needs).fold(0.0, f32::max);
        (most.ceil() as usize).clamp(1, SLICES)
    }

    /// Sets the motors.
    fn aim(&mut self, motion: &WorldPose, pull: &Pull, seconds: f32) {
        const AXES: [JointAxis; 3] = [JointAxis::AngX, JointAxis::AngY, JointAxis::AngZ];
        let rate = 1.0 / seconds.max(1e-4);
        for (index, role) in ROLES.into_iter().enumerate().skip(1) {
            let wanted = relative(motion, index);
            let spin = to_vector(self.aims[index].conjugate() * wanted) * rate;
            // What jumps is another motion, and is not chased.
            let spin = if spin.length() > JUMPS || !pull.chase { Vec3::ZERO } else { spin };
            self.aims[index] = wanted;
            let full = self.build.parts[index].hold;
            let (mut stiffness, mut damping) = (full.0 * pull.strength[index], full.1 * pull.damping[index]);
            let (aim, spin, stopped) =
                if pull.stops { self.stopped(motion, index, wanted, spin) } else { (wanted, spin, false) };
            if stopped {
                (stiffness, damping) = (stiffness.max(STOP * full.0), damping.max(full.1));
            }
            let Some(joint) = self.joints.get_mut(self.held[index], false) else { continue };
            joint.data.local_frame1 = rigid(anchor(motion, index), aim);
            // Elbows and knees are hinges: across their axis they give less.
            let hinge = humanoid::hinge_axis(role).map(|axis| axis.abs().to_array());
            for (k, (axis, rate)) in AXES.into_iter().zip(spin.to_array()).enumerate() {
                let (more, slows) = if hinge.is_some_and(|axis| axis[k] < 0.5) { HINGE } else { (1.0, 1.0) };
                joint.data.set_motor(axis, 0.0, rate, stiffness * more, damping * slows);
            }
        }
        // The whole body towards where its motion has the pelvis.
        let pelvis = motion.position(Role::Pelvis.joint());
        let speed = (pelvis - self.pelvis) * rate;
        let (speed, strength) = (if speed.length() > 10.0 { Vec3::ZERO } else { speed }, pull.strength[0]);
        self.pelvis = pelvis;
        if strength > 0.0 {
            self.carry(motion, pelvis, speed, strength, seconds);
        }
    }

    /// A joint that is beyond its limit is pulled back to it, whatever it aims at.
    fn stopped(&self, motion: &WorldPose, index: usize, wanted: Quat, spin: Vec3) -> (Quat, Vec3, bool) {
        let (Some(limit), Some(now)) = (Limit::of(ROLES[index]), self.turned(index)) else {
            return (wanted, spin, false);
        };
        // Collar bones turn with the motion.
        let between = between(motion, index);
        let here = between.conjugate() * now;
        let beyond = limit.excess(here);
        if beyond <= limit.excess(between.conjugate() * wanted) + BEYOND {
            return (wanted, spin, false);
        }
        (between * nearest_within(&limit, here), Vec3::ZERO, true)
    }

    /// Attitude of a part relative to its parent.
    fn turned(&self, index: usize) -> Option<Quat> {
        let own = here_turn(self.bodies.get(self.parts[index])?.rotation());
        Some(here_turn(self.bodies.get(self.parts[PARENTS[index]])?.rotation()).conjugate() * own)
    }

    /// Pulls the pelvis: nobody walks on by its joints alone.
    fn carry(&mut self, motion: &WorldPose, place: Vec3, speed: Vec3, strength: f32, seconds: f32) {
        /// Angular frequency, radians per second: as fast as people sway back.
        const SWAY: f32 = 7.0;
        let mass: f32 = self.build.parts.iter().map(|p| p.mass).sum();
        let turn = motion.rotation(Role::Pelvis.joint());
        let Some(body) = self.bodies.get_mut(self.parts[0]) else { return };
        let rate = SWAY * strength.sqrt();
        // Implicit in the speed, so that no strength overshoots.
        let soft = 1.0 / (1.0 + 2.0 * rate * seconds);
        let pull = (place - here(body.translation())) * (rate * rate)
            + (speed - here(body.linvel())) * (2.0 * rate * strength.sqrt());
        let off = to_vector(turn * here_turn(body.rotation()).conjugate());
        body.apply_impulse(there(pull * (0.5 * mass * seconds * soft)), true);
        let torque = off * (rate * rate) - here(body.angvel()) * (2.0 * rate * strength.sqrt());
        body.apply_torque_impulse(there(torque * (INERTIA * seconds * soft)), true);
    }

    /// Lays the rotations over a pose: what is not simulated stays as its motion has it.
    pub fn read(&self, motion: &WorldPose, pose: &mut Pose) {
        let Some(pelvis) = self.bodies.get(self.parts[0]) else { return };
        pose.set_root(here(pelvis.translation()));
        pose.rotations[0] = here_turn(pelvis.rotation()).normalize();
        for (index, role) in ROLES.into_iter().enumerate().skip(1) {
            if let Some(turn) = self.turned(index) {
                let local = between(motion, index).conjugate() * turn;
                pose.rotations[role.joint().at()] = local.normalize();
            }
        }
    }

    /// As [`Ragdoll::read`], with where its joints then are.
    pub fn show(&self, motion: &WorldPose, pose: &mut Pose, world: &mut WorldPose) {
        self.read(motion, pose);
        fk::pose(&self.build.skeleton, pose, world);
    }

    /// Farthest that two parts are apart at their joint, metres.
    pub fn gap(&self) -> f32 {
        self.widest().1
    }

    /// The joint at which two parts are farthest apart, and how far, metres.
    pub fn widest(&self) -> (Role, f32) {
        let mut widest = (Role::Pelvis, 0.0f32);
        for (index, role) in ROLES.into_iter().enumerate().skip(1) {
            let Some(joint) = self.joints.get(self.held[index]) else { continue };
            let (Some(a), Some(b)) = (self.bodies.get(joint.body1()), self.bodies.get(joint.body2())) else { continue };
            let (first, second) = (joint.data.local_frame1.translation, joint.data.local_frame2.translation);
            let apart = (a.position() * first - b.position() * second).length();
            if apart > widest.1 {
                widest = (role, apart);
            }
        }
        widest
    }

    /// Fastest that any joint turned in the last tick, radians per second: from how parts lie, not from what the solver calls their speed, which holds
    /// what it pushes joints together with too.
    pub fn fastest(&self) -> f32 {
        let turned = |index: usize| {
            let now = if index == 0 { self.place(0).1 } else { self.turned(index).unwrap_or_default() };
            between_turns(self.last[index], now)
        };
        (0..PARTS).map(turned).fold(0.0, f32::max) / self.seconds.max(1e-4)
    }

    /// Nothing moves any more.
    pub fn rest(&mut self) {
        for handle in self.parts {
            if let Some(body) = self.bodies.get_mut(handle) {
                body.set_linvel(there(Vec3::ZERO), true);
                body.set_angvel(there(Vec3::ZERO), true);
            }
        }
        self.last = self.attitudes();
    }

    /// How parts lie against each other, and the pelvis in the world.
    fn attitudes(&self) -> [Quat; PARTS] {
        std::array::from_fn(|k| if k == 0 { self.place(0).1 } else { self.turned(k).unwrap_or_default() })
    }

    /// Centre of mass, and how fast it moves.
    pub fn centre(&self) -> (Vec3, Vec3) {
        let (mut place, mut speed, mut mass) = (Vec3::ZERO, Vec3::ZERO, 0.0);
        for (handle, part) in self.parts.iter().zip(&self.build.parts) {
            if let Some(body) = self.bodies.get(*handle) {
                place += here(body.center_of_mass()) * part.mass;
                speed += here(body.linvel()) * part.mass;
                mass += part.mass;
            }
        }
        (place / mass.max(1e-6), speed / mass.max(1e-6))
    }

    /// Energy of movement and height, joules.
    pub fn energy(&self) -> f32 {
        let one = |(handle, part): (&RigidBodyHandle, &Part)| {
            self.bodies.get(*handle).map_or(0.0, |b| b.kinetic_energy() + part.mass * GRAVITY * b.center_of_mass().y)
        };
        self.parts.iter().zip(&self.build.parts).map(one).sum()
    }

    /// Deepest that any part is below the floor, metres.
    pub fn sunk(&self) -> f32 {
        self.deepest().1
    }

    /// The part that is deepest below the floor, and how deep, metres.
    pub fn deepest(&self) -> (Role, f32) {
        let mut deepest = (Role::Pelvis, 0.0f32);
        for (index, role) in ROLES.into_iter().enumerate() {
            let (Some(body), part) = (self.bodies.get(self.parts[index]), &self.build.parts[index]) else { continue };
            let low = part.ends.map(|end| (body.position() * there(end)).y - part.radius);
            let below = -low[0].min(low[1]);
            if below > deepest.1 {
                deepest = (role, below);
            }
        }
        deepest
    }

    /// Where a part's joint is, and how it is turned.
    pub fn place(&self, index: usize) -> (Vec3, Quat) {
        let body = self.parts.get(index).and_then(|handle| self.bodies.get(*handle));
        body.map_or((Vec3::ZERO, Quat::IDENTITY), |b| (here(b.translation()), here_turn(b.rotation())))
    }
}

/// The nearest turn within a limit. A hinge that is folded by more than half a turn goes back the way it came, not through all that it may do.
fn nearest_within(limit: &Limit, turn: Quat) -> Quat {
    let Limit::Hinge { axis, range, .. } = *limit else { return limit.clamp(turn) };
    let (angle, middle) = (twist_angle(turn, axis), 0.5 * (range.0 + range.1));
    let unwound = middle + wrap(angle - middle);
    limit.clamp((turn * about(axis, unwound.clamp(range.0, range.1) - unwound)).normalize())
}

/// Attitude of a part relative to its parent, in a motion.
fn relative(motion: &WorldPose, index: usize) -> Quat {
    motion.rotation(ROLES[PARENTS[index]].joint()).conjugate() * motion.rotation(ROLES[index].joint())
}

/// From a part's parent to its own joint's frame before it turns: the collar bone's for an arm.
fn between(motion: &WorldPose, index: usize) -> Quat {
    match ROLES[index].parent() {
        Some(role @ (Role::LeftClavicle | Role::RightClavicle)) => {
            motion.rotation(Role::Back.joint()).conjugate() * motion.rotation(role.joint())
        }
        _ => Quat::IDENTITY,
    }
}

/// Where a part hangs on its parent, in the parent's frame.
fn anchor(motion: &WorldPose, index: usize) -> Vec3 {
    let parent = ROLES[PARENTS[index]].joint();
    motion.rotation(parent).conjugate() * (motion.position(ROLES[index].joint()) - motion.position(parent))
}

/// To the engine's vectors and back: it has a glam of its own (see the workspace's `Cargo.toml`).
fn there(v: Vec3) -> EngineVec3 {
    EngineVec3::from_array(v.to_array())
}

fn there_turn(q: Quat) -> Rotation {
    Rotation::from_array(q.to_array())
}

fn rigid(place: Vec3, turn: Quat) -> Rigid {
    Rigid::from_parts(there(place), there_turn(turn))
}

fn here(v: EngineVec3) -> Vec3 {
    Vec3::from_array(v.to_array())
}

fn here_turn(q: &Rotation) -> Quat {
    Quat::from_array(q.to_array())
}
