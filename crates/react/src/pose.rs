//! The sustained pose: rules, limbs and balance together. Every evaluation starts from the motion's own pose, moves the pelvis, plants the
//! feet and runs the rules again (§ 3.3).

use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, to_vector};
use kumite_motion::{Pose, Quat, Role, Roles, Skeleton, Vec2, Vec3, WorldPose, fk, mass};

use crate::balance::{Case, Objective, Terms, ground, towards};
use crate::body::{Body, CLASHES, MASS, TRUNK, clash};
use crate::optimise::{Effort, Found, M, N, Vector, bfgs, least_squares};
use crate::rules::{Aim, Controls, Part, Rule, Setting, Stance, legs_raised, rules_for, turn_side};
use crate::{Impact, SpeedRange, Temper};

/// What a pose is wanted for.
#[derive(Clone, Copy, Debug)]
pub struct Wanted<'a> {
    /// Whose.
    pub skeleton: &'a Skeleton,
    /// Its limbs.
    pub body: &'a Body,
    /// The motion's own pose at the time.
    pub source: &'a Pose,
    /// What is about to hit.
    pub impact: Impact,
    /// What else is, later and from another side.
    pub also: Option<Impact>,
    /// Which feet stand.
    pub stands: [bool; 2],
    /// Where ankles are to be, if not where the motion has them.
    pub ankles: [Option<Vec3>; 2],
    /// How feet are turned in the world, if not as the motion has them.
    pub soles: [Option<Quat>; 2],
    /// Whether legs and pelvis may be changed; if not the centre of mass stays where it is.
    pub planted: bool,
    /// Which speeds count as slow and fast.
    pub speeds: SpeedRange,
    /// Who braces.
    pub temper: Temper,
    /// Which way it turned before, if it did.
    pub turned: Option<f32>,
    /// Rules instead of the usual ones.
    pub rules: Option<&'a [&'a dyn Rule]>,
    /// What is minimised.
    pub objective: Objective,
    /// How long it is looked for.
    pub effort: Effort,
    /// Where to begin, if something is known.
    pub start: Option<Vector>,
}

/// A sustained pose.
#[derive(Clone, Debug, PartialEq)]
pub struct Solved {
    /// The pose, and what the rules alone make of it.
    pub pose: Pose,
    /// See [`Solved::pose`].
    pub unbalanced: Pose,
    /// What the threat is, as the body sees it.
    pub aim: Aim,
    /// Which way it turns: 1 to the left.
    pub turns: f32,
    /// Where the parameters ended: to begin with the next time.
    pub at: Vector,
    /// The centre of mass on the ground: after the rules, where it is wanted, and where it is.
    pub centres: [Vec2; 3],
    /// Which case of Fig. 3.10.
    pub case: Case,
    /// What the balance cost.
    pub terms: Terms,
    /// The leg that is raised, if one is.
    pub raised: Option<usize>,
    /// Which feet stand.
    pub stands: [bool; 2],
    /// Evaluations of the pose.
    pub evaluations: u32,
    /// Whether no better pose than the first guess was found.
    pub fell_back: bool,
}

/// Differences of parameters: metres and shares.
const STEPS: Vector = [2e-3, 2e-3, 2e-3, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01];
/// The thesis' differences.
const PRINTED_STEPS: Vector = [0.01; N];
/// How far the pelvis is moved at most, metres.
const FARTHEST: f32 = 0.30;
/// How far knees give, metres: for the smallest threat, and more for the fastest and largest.
const SINK: (f32, f32) = (0.025, 0.05);
/// The share of a pelvis' shift that the centre of mass makes with it: legs follow half.
const FOLLOWS: f32 = 0.82;
/// A leg is stretched to this share of its length freely.
const LEG: f32 = 0.985;

/// Whoever cannot get its weight this near to where it is wanted on one leg, metres, keeps both on the floor.
const BALANCED: f32 = 0.01;
/// How far out a knee is raised, radians.
const OUT: f32 = 0.26;

/// What one unit of each residual is worth: metres or radians.
mod worth {
    pub(super) const BALANCE: f32 = 0.002;
    pub(super) const HANDS: f32 = 0.08;
    pub(super) const TORSO: f32 = 0.25;
    pub(super) const HEIGHT: f32 = 0.06;
    pub(super) const FEET: f32 = 0.003;
    pub(super) const CLASH: f32 = 0.008;
    pub(super) const LIMIT: f32 = 0.01;
    pub(super) const CONTROL: f32 = 0.5;
}

/// Joints whose limits the balance keeps an eye on.
const LIMITED: [Role; 8] = [
    Role::Waist,
    Role::Back,
    Role::Neck,
    Role::Head,
    Role::LeftShoulder,
    Role::RightShoulder,
    Role::LeftAnkle,
    Role::RightAnkle,
];

/// A pose being worked on.
struct Work<'a> {
    wanted: &'a Wanted<'a>,
    setting: Setting<'a>,
    rules: &'a [&'a dyn Rule],
    raised: Option<usize>,
    /// Raised this much, 0..1.
    raise: f32,
    ankles: [Vec3; 2],
    legs: [[Quat; 3]; 2],
    limits: [Option<Limit>; LIMITED.len()],
    /// What the rules alone give: hands, trunk, pelvis height.
    hands: [Vec3; 2],
    trunk: [Quat; TRUNK.len()],
    height: f32,
    centre: Vec2,
}

/// Finds the pose.
pub fn solve(wanted: &Wanted<'_>) -> Solved {
    let mut world = WorldPose::default();
    fk::pose(wanted.skeleton, wanted.source, &mut world);
    let aim = Aim::of(&wanted.impact, wanted.body, &world);
    let raised = raises(wanted, &aim, &world);
    let solved = solve_on(wanted, &aim, raised, world.clone());
    // Feet that are far apart carry nobody's weight on one of them alone.
    if raised.is_some() && solved.terms.balance > BALANCED {
        return solve_on(wanted, &aim, None, world);
    }
    solved
}

/// The same on both feet, or with one leg raised. `world` is that of the motion's own pose.
fn solve_on(wanted: &Wanted<'_>, aim: &Aim, raised: Option<usize>, world: WorldPose) -> Solved {
    let (skeleton, body, aim) = (wanted.skeleton, wanted.body, *aim);
    let second = wanted.also.map(|impact| Aim::of(&impact, body, &world)).filter(|second| second.side != aim.side);
    let turns = turn_side(&aim, &world, wanted.turned);
    let setting = Setting {
        skeleton,
        body,
        aims: [aim, second.map_or(aim, |second| Aim { apart: true, ..second })],
        turns,
        gain: aim.gain() * wanted.temper.strength(),
        planted: wanted.planted,
        raised,
    };
    let (speed, size) = (wanted.speeds.share(wanted.impact.speed()), wanted.impact.size());
    let controls = Controls::of(speed, size);
    let strength = 0.5 * (speed + size);
    let ankles = [0, 1].map(|k| wanted.ankles[k].unwrap_or(world.position(body.legs[k].joints[2].joint())));
    let mut legs = body.legs.map(|leg| leg.attitudes(&world));
    for (leg, turn) in legs.iter_mut().zip(wanted.soles) {
        leg[2] = turn.unwrap_or(leg[2]);
    }
    let mut work = Work {
        wanted,
        setting,
        rules: wanted.rules.unwrap_or_else(|| rules_for(&setting)),
        raised,
        raise: 0.65 + 0.35 * strength,
        ankles,
        legs,
        limits: LIMITED.map(Limit::of),
        hands: [Vec3::ZERO; 2],
        trunk: [Quat::IDENTITY; TRUNK.len()],
        height: wanted.source.root().y - if wanted.planted { SINK.0 + SINK.1 * strength } else { 0.0 },
        centre: Vec2::ZERO,
    };
    let mut stance = Stance { pose: wanted.source.clone(), world };
    let source_centre = ground(mass::centre(skeleton, &Roles::canonical(), &stance.world));
    let mut start: Vector = [0.0; N];
    start[3..].copy_from_slice(&controls.to_array());
    work.build(&start, &mut stance);
    let unbalanced = stance.pose.clone();
    let here = ground(mass::centre(skeleton, &Roles::canonical(), &stance.world));
    work.hands = work.hands_of(&stance);
    work.trunk = TRUNK.map(|role| stance.world.rotation(role.joint()));
    let mut stands = wanted.stands;
    work.centre = match raised {
        Some(leg) => {
            stands[leg] = false;
            let foot = &body.legs[1 - leg];
            let toe = foot.joints[2].child().map_or(ankles[1 - leg], |toe| stance.world.position(toe.joint()));
            ground(ankles[1 - leg].lerp(toe, 0.4))
        }
        None if wanted.planted => here - ground(aim.across()) * towards(wanted.impact.push(MASS)),
        None => source_centre,
    };
    let case = Case::of(skeleton, &stance.world, stands, here, work.centre);
    // A good first guess: the pelvis takes the centre of mass along.
    let guess = (work.centre - here) / FOLLOWS;
    (start[0], start[1], start[2]) = (guess.x, work.height - wanted.source.root().y, guess.y);
    let found = work.optimise(wanted.start.unwrap_or(start), &mut stance);
    let fell_back = !(found.value.is_finite() && found.at.iter().all(|v| v.is_finite()));
    let at = if fell_back { start } else { found.at };
    work.build(&at, &mut stance);
    let centre = ground(mass::centre(skeleton, &Roles::canonical(), &stance.world));
    Solved {
        unbalanced,
        aim,
        turns,
        at,
        centres: [here, work.centre, centre],
        case,
        terms: work.terms(&stance, centre),
        raised,
        stands,
        evaluations: found.evaluations,
        fell_back,
        pose: stance.pose,
    }
}

/// The leg that a threat to the legs is saved by raising: the nearer one, if the other stands.
fn raises(wanted: &Wanted<'_>, aim: &Aim, world: &WorldPose) -> Option<usize> {
    if aim.part != Part::Legs || !wanted.planted || wanted.stands != [true; 2] {
        return None;
    }
    let near = |k: usize| {
        let [hip, _, ankle] = wanted.body.legs[k].joints.map(|j| world.position(j.joint()));
        crate::body::apart([hip, ankle], [aim.target, aim.target]) - 0.3 * aim.along.dot(-hip)
    };
    Some(usize::from(near(1) < near(0)))
}

impl Work<'_> {
    fn hands_of(&self, stance: &Stance) -> [Vec3; 2] {
        self.setting.body.arms.map(|arm| stance.world.position(arm.joints[3].joint()))
    }

    /// The pose of some parameters.
    fn build(&self, x: &Vector, stance: &mut Stance) {
        let (skeleton, body) = (self.setting.skeleton, self.setting.body);
        stance.pose.clone_from(self.wanted.source);
        stance.pose.translations[0] += Vec3::new(x[0], x[1], x[2]);
        stance.update(skeleton);
        let mut controls = [0.0; 7];
        controls.copy_from_slice(&x[3..]);
        let controls = Controls::from_array(controls);
        for rule in self.rules {
            rule.apply(&self.setting, &controls, stance);
        }
        for (k, leg) in body.legs.iter().enumerate() {
            if self.raised == Some(k) {
                let [hip, knee, _] = leg.joints.map(Role::joint);
                let (lift, bend) = legs_raised(self.raise);
                // Up from straight below the hip, and out: it does not cross the other leg, whichever way the hips turn.
                let out = about(Vec3::Z, OUT * leg.side);
                stance.pose.rotations[hip.at()] = (out * about(Vec3::X, -lift)).normalize();
                stance.pose.rotations[knee.at()] = about(Vec3::X, bend);
                stance.pose.rotations[leg.joints[2].joint().at()] = about(Vec3::X, 0.25);
                stance.update(skeleton);
            } else {
                leg.place(skeleton, &mut stance.pose, &mut stance.world, self.legs[k], self.ankles[k]);
            }
        }
    }

    fn optimise(&self, start: Vector, stance: &mut Stance) -> Found {
        let bound = |x: &mut Vector| {
            x[..3].iter_mut().for_each(|v| *v = v.clamp(-FARTHEST, FARTHEST));
            x[3..].iter_mut().for_each(|v| *v = v.clamp(0.0, 1.0));
        };
        let effort = self.wanted.effort;
        let mut residuals = |x: &mut Vector, r: &mut [f32; M]| {
            bound(x);
            self.build(x, stance);
            self.residuals(x, stance, r);
        };
        match self.wanted.objective {
            Objective::Weighted => least_squares(start, &STEPS, effort, residuals),
            Objective::WeightedBfgs => {
                let mut r = [0.0; M];
                bfgs(start, &STEPS, effort, |x| {
                    residuals(x, &mut r);
                    0.5 * r.iter().map(|v| v * v).sum::<f32>()
                })
            }
            Objective::Printed => bfgs(start, &PRINTED_STEPS, effort, |x| {
                bound(x);
                self.build(x, stance);
                let centre = ground(mass::centre(self.setting.skeleton, &Roles::canonical(), &stance.world));
                let t = self.terms(stance, centre);
                t.balance + t.hands + t.torso + t.height + t.feet
            }),
        }
    }

    /// Weighted terms, each smooth.
    fn residuals(&self, x: &Vector, stance: &Stance, out: &mut [f32; M]) {
        let (world, body) = (&stance.world, self.setting.body);
        let mut put = out.iter_mut();
        let mut add = |value: f32, worth: f32| {
            if let Some(slot) = put.next() {
                *slot = value / worth;
            }
        };
        let centre = ground(mass::centre(self.setting.skeleton, &Roles::canonical(), world)) - self.centre;
        add(centre.x, worth::BALANCE);
        add(centre.y, worth::BALANCE);
        for (hand, at) in self.hands_of(stance).into_iter().zip(self.hands) {
            (hand - at).to_array().into_iter().for_each(|v| add(v, worth::HANDS));
        }
        for (role, at) in TRUNK.into_iter().zip(self.trunk) {
            let off = to_vector(at.conjugate() * world.rotation(role.joint()));
            off.to_array().into_iter().for_each(|v| add(v, worth::TORSO));
        }
        add(stance.pose.root().y - self.height, worth::HEIGHT);
        for (k, leg) in body.legs.iter().enumerate() {
            let stretched = (world.position(leg.joints[0].joint()) - self.ankles[k]).length() / leg.length - LEG;
            let off = if self.raised == Some(k) { 0.0 } else { stretched.max(0.0) * leg.length };
            add(off, worth::FEET);
        }
        let depths: [f32; CLASHES] = clash(body, world);
        depths.into_iter().for_each(|v| add(v, worth::CLASH));
        for (role, limit) in LIMITED.into_iter().zip(&self.limits) {
            // What the motion itself exceeds is not held against the pose.
            let excess = |pose: &Pose| limit.map_or(0.0, |limit| limit.excess(pose.rotation(role.joint())));
            add((excess(&stance.pose) - excess(self.wanted.source)).max(0.0), worth::LIMIT);
        }
        let (speed, size) = (self.wanted.speeds.share(self.wanted.impact.speed()), self.wanted.impact.size());
        let wanted = Controls::of(speed, size).to_array();
        for (value, at) in x[3..].iter().zip(wanted) {
            add(value - at, worth::CONTROL);
        }
    }

    fn terms(&self, stance: &Stance, centre: Vec2) -> Terms {
        let hands = self.hands_of(stance).into_iter().zip(self.hands).map(|(a, b)| (a - b).length());
        let trunk = TRUNK.into_iter().zip(self.trunk);
        let turned = trunk.map(|(role, at)| to_vector(at.conjugate() * stance.world.rotation(role.joint())).length());
        let feet = [0, 1].map(|k| {
            let ankle = stance.world.position(self.setting.body.legs[k].joints[2].joint());
            if self.raised == Some(k) { 0.0 } else { (ankle - self.ankles[k]).length() }
        });
        Terms {
            balance: (centre - self.centre).length(),
            hands: hands.fold(0.0, f32::max),
            torso: turned.fold(0.0, f32::max),
            height: (stance.pose.root().y - self.height).abs(),
            feet: feet[0].max(feet[1]),
            clash: clash(self.setting.body, &stance.world).into_iter().fold(0.0, f32::max),
        }
    }
}
