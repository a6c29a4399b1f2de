//! The layer: from the motion that is played into the protective pose, and back. § 4.3: hands on straight lines, elbows by their swivel, knees where
//! they were, centre of mass and neck on lines, a steady head, planted feet.

use kumite_motion::blend::ease;
use kumite_motion::limits::Limit;
use kumite_motion::rotation::{from_vector, slerp, to_vector, wrap, yaw, yaw_of};
use kumite_motion::{Contacts, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk, mass};

use crate::arm_turn::ArmTurn;
use crate::balance::Objective;
use crate::body::{Body, ELBOWS, ElbowWay, TRUNK, towards_elbow};
use crate::clear::{self, Depths};
use crate::in_the_way::{forearm_meets, meets, meets_thigh, thighs};
use crate::lines::{self, Line};
use crate::optimise::{Effort, Vector};
use crate::pose::{Solved, Wanted, solve};
use crate::rules::{Aim, Part, Rule, startle};
use crate::source::Source;
use crate::steady::Steady;
use crate::temper::{HAND_SPEED, TRUNK_SPEED};
use crate::timing::{LOOK_AHEAD, STARTLE_AHEAD, Timing};
use crate::{Impact, ImpactError, SpeedRange, Temper};

/// Passes that bring centre of mass and neck to their lines.
const PASSES: usize = 6;
/// The share of a pelvis' shift that the centre of mass makes with it.
const FOLLOWS: f32 = 0.82;
/// How far the pelvis goes aside in stride so that the neck stays on its line, metres.
const BESIDE: f32 = 0.02;
/// By how much knees bend in stride, as what the pelvis sinks by, metres; none while a leg is as short as this share of its length, all when it is so much longer.
const CROUCH: f32 = 0.06;
const FOLDED: (f32, f32) = (0.5, 0.25);
/// Joints give by so much beyond their limits, radians, before hands leave their lines.
const SLACK: f32 = 0.025;
/// Legs are stretched to this share of their length at most.
const LEG: f32 = 0.992;
/// An ankle below the first height, metres, stays where its motion has it; one above the second goes with the hips. Who walks lifts ankles to 0.3.
const KICKS: (f32, f32) = (0.30, 0.55);
/// Moments of the way into a pose that are rehearsed, and how far a hand may be pushed off its line there before it is led around, metres.
const REHEARSED: usize = 5;
const PUSHED: f32 = 0.015;
/// How much faster than on average a minimum-jerk movement is at its fastest.
const PEAK: f32 = 1.875;

/// What to brace for, and who does.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// What hits.
    pub impact: Impact,
    /// After how many seconds.
    pub seconds: f32,
    /// What else does, later.
    pub also: Option<Impact>,
    /// Who braces.
    pub temper: Temper,
    /// Which speeds count as slow and fast.
    pub speeds: SpeedRange,
    /// Whether it flinches first.
    pub startle: bool,
    /// Whether what is played must not be stopped: whoever walks walks on.
    pub in_stride: bool,
    /// Which way it turned before, and where the balance was then.
    pub again: Option<(f32, Vector)>,
    /// Rules instead of the usual ones.
    pub rules: Option<&'a [&'a dyn Rule]>,
    /// What is minimised, and for how long.
    pub objective: Objective,
    /// See [`Request::objective`].
    pub effort: Effort,
}

impl Request<'_> {
    /// The usual answer of an average person.
    pub fn new(impact: Impact, seconds: f32) -> Request<'static> {
        Request {
            impact,
            seconds,
            also: None,
            temper: Temper::default(),
            speeds: SpeedRange::STAGE,
            startle: false,
            in_stride: false,
            again: None,
            rules: None,
            objective: Objective::default(),
            effort: Effort::default(),
        }
    }
}

/// Where a foot that swings lands early.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Landing {
    foot: usize,
    ankle: Vec3,
    turn: Quat,
}

/// A protective pose being gone into, held and left: plain data, applied to whatever is played.
#[derive(Clone, Debug, PartialEq)]
pub struct Brace {
    body: Body,
    timing: Timing,
    /// Seconds since it began.
    time: f32,
    end: Pose,
    startle: Option<Pose>,
    /// By how much the pelvis is moved in the end.
    shift: Vec3,
    /// Which way the pelvis below faced at first, and by how much it turns until contact, if it goes on: lines and head turn along with it. Radians.
    faced: f32,
    veers: f32,
    /// Of the hands, relative to the carrier; of the neck, likewise; of the centre of mass, in the world.
    hands: [Line; 2],
    neck: Line,
    centre: Line,
    elbows: [ElbowWay; 2],
    /// Arms whose hand cannot go straight: shoulder, elbow and wrist turn.
    turned: [Option<ArmTurn>; 2],
    /// Twists of upper arms and forearms at first.
    twists: [[f32; 2]; 2],
    /// How the head is turned in the end, in the world.
    head: Quat,
    /// How much of the way trunk and hands get in time.
    gets: f32,
    gets_hands: [f32; 2],
    landing: Option<Landing>,
    raised: Option<usize>,
    aim: Aim,
    turns: f32,
    at: Vector,
    /// What was shown last, and how long a tick is.
    steady: Steady,
    tick: f32,
}

/// What is measured on a pose before it is changed.
pub(crate) struct Marks {
    pub(crate) root: Vec3,
    /// Which way the pelvis faces, radians.
    facing: f32,
    pub(crate) neck: Vec3,
    head: Quat,
    centre: Vec3,
    hands: [Vec3; 2],
    collars: [Quat; 2],
    pub(crate) shoulders: [Vec3; 2],
    lies: [[Vec3; 2]; 2],
    twists: [[f32; 2]; 2],
    /// Local turns of shoulder, elbow and wrist.
    arms: [[Quat; 3]; 2],
    pub(crate) hips: [Vec3; 2],
    pub(crate) knees: [Vec3; 2],
    ankles: [Vec3; 2],
    legs: [[Quat; 3]; 2],
    depths: Depths,
}

impl Marks {
    fn of(skeleton: &Skeleton, body: &Body, world: &WorldPose) -> Marks {
        Marks {
            root: world.positions[0],
            facing: yaw_of(world.rotations[0] * Vec3::Z),
            neck: world.position(Role::Neck.joint()),
            head: world.rotation(Role::Head.joint()),
            centre: mass::centre(skeleton, &Roles::canonical(), world),
            hands: body.arms.map(|arm| world.position(arm.joints[3].joint())),
            collars: body.arms.map(|arm| world.rotation(arm.joints[0].joint())),
            shoulders: body.arms.map(|arm| world.position(arm.joints[1].joint())),
            lies: body.arms.map(|arm| arm.lie(world)),
            twists: body.arms.map(|arm| arm.twists(world)),
            arms: body.arms.map(|arm| {
                let [collar, shoulder, elbow, wrist] = arm.joints.map(|j| world.rotation(j.joint()));
                [collar.conjugate() * shoulder, shoulder.conjugate() * elbow, elbow.conjugate() * wrist]
            }),
            hips: body.legs.map(|leg| world.position(leg.joints[0].joint())),
            knees: body.legs.map(|leg| world.position(leg.joints[1].joint())),
            ankles: body.legs.map(|leg| world.position(leg.joints[2].joint())),
            legs: body.legs.map(|leg| leg.attitudes(world)),
            depths: clear::depths(body, world),
        }
    }
}

/// A place along the floor.
fn flat(v: Vec3) -> Vec3 {
    Vec3::new(v.x, 0.0, v.z)
}

impl Brace {
    /// Braces for an impact on a body that plays `source`. Also says how its pose was found.
    pub fn begin(
        skeleton: &Skeleton,
        body: &Body,
        source: &Source,
        request: &Request<'_>,
    ) -> Result<(Brace, Solved), ImpactError> {
        let impact = request.impact.check()?;
        if !(request.seconds.is_finite() && request.seconds > 0.0) {
            return Err(ImpactError::NotFinite { what: "time to contact" });
        }
        let mut world = WorldPose::default();
        let mut marks = |pose: &Pose| {
            fk::pose(skeleton, pose, &mut world);
            Marks::of(skeleton, body, &world)
        };
        let (now, before) = (marks(&source.now), marks(&source.before));
        let rate = 1.0 / source.apart.max(1e-4);
        let planted = !request.in_stride && source.stops(skeleton);
        let pose = source.at_contact(planted);
        let below = marks(pose);
        // Half-way legs in stride are straight, and a neck on a line is higher than on the arc that a trunk would bend along: knees bend, so that they reach. A leg that is raised
        // high is folded already.
        let mut shortest = f32::INFINITY;
        for moment in [&source.now, &source.soon, &source.ahead, &source.contact] {
            let marks = marks(moment);
            let short = |k: usize| (marks.ankles[k] - marks.hips[k]).length() / body.legs[k].length.max(1e-3);
            shortest = shortest.min(short(0)).min(short(1));
        }
        let mut crouched = pose.clone();
        crouched.translations[0].y -=
            if planted { 0.0 } else { CROUCH * ((shortest - FOLDED.0) / FOLDED.1).clamp(0.0, 1.0) };
        let landing = source.lands().filter(|_| planted).map(|swing| {
            let facing = yaw_of(below.legs[swing.foot][2] * Vec3::Z);
            let other = now.ankles[1 - swing.foot];
            let ankle = below.ankles[swing.foot];
            // As far away as its leg reaches with the other foot where it is: a long step at most.
            let step = flat(ankle - other).clamp_length_max(0.8 * body.legs[0].length);
            let ankle = Vec3::new(other.x + step.x, ankle_height(skeleton), other.z + step.z);
            Landing { foot: swing.foot, ankle, turn: yaw(facing) }
        });
        let (mut ankles, mut soles) = ([None; 2], [None; 2]);
        if let Some(landing) = landing {
            (ankles[landing.foot], soles[landing.foot]) = (Some(landing.ankle), Some(landing.turn));
        }
        let (turned, start) = request.again.map_or((None, None), |(side, at)| (Some(side), Some(at)));
        let wanted = Wanted {
            skeleton,
            body,
            source: &crouched,
            impact,
            also: request.also.filter(|impact| impact.check().is_ok()),
            stands: if planted { [true; 2] } else { source.stands },
            ankles,
            soles,
            planted,
            speeds: request.speeds,
            temper: request.temper,
            turned,
            rules: request.rules,
            objective: request.objective,
            effort: request.effort,
            start,
        };
        let solved = solve(&wanted);
        let mut timing = Timing::new(request.speeds.share(impact.speed()), request.seconds, planted, request.startle);
        let end = marks(&solved.pose);
        // In stride everything goes along with the pelvis below.
        let carrier = |m: &Marks| if planted { Vec3::ZERO } else { m.root };
        let veers = if planted { 0.0 } else { wrap(below.facing - now.facing) };
        let turns = if planted { Quat::IDENTITY } else { yaw(now.facing - before.facing) };
        let line = |part: fn(&Marks) -> Vec3, fades: f32| Line {
            from: part(&now) - carrier(&now),
            to: yaw(-veers) * (part(&end) - carrier(&below)),
            speed: (part(&now) - carrier(&now) - turns * (part(&before) - carrier(&before))) * rate,
            fades,
        };
        let hands: [Line; 2] = [line(|m: &Marks| m.hands[0], lines::HAND), line(|m: &Marks| m.hands[1], lines::HAND)];
        let neck = line(|m: &Marks| m.neck, lines::TRUNK);
        let centre = line(|m: &Marks| m.centre, lines::TRUNK);
        let mobility = request.temper.mobility();
        // Arms that balance on one leg or reach behind the body need not go straight; others do unless something is in the way.
        let balances = solved.aim.part == Part::Legs && (planted || !solved.aim.in_front);
        let ends = [(&source.now, carrier(&now)), (&solved.pose, carrier(&below))];
        // Where thighs are meanwhile: they swing on in stride.
        let last = if planted { (timing.reaches, &solved.pose) } else { (request.seconds, &source.contact) };
        let mut passing = [(0.0, &source.now), (STARTLE_AHEAD, &source.soon), (LOOK_AHEAD, &source.ahead), last]
            .map(|(time, pose)| (time, thighs(&marks(pose), planted)));
        if planted {
            (passing[1], passing[2]) = (passing[0], passing[0]);
        }
        let back = yaw(-veers);
        let frames = [(Quat::IDENTITY, carrier(&now)), (back, carrier(&below))];
        let elbow_way = |k: usize, line: &Line| {
            let shoulders = [now.shoulders[k] - carrier(&now), back * (end.shoulders[k] - carrier(&below))];
            let wrists = std::array::from_fn(|step| {
                let way = step as f32 / (ELBOWS - 1) as f32;
                line.at(way, 0.0) - shoulders[0].lerp(shoulders[1], way)
            });
            let collars = [now.collars[k], back * end.collars[k]];
            ElbowWay::new(&body.arms[k], now.lies[k], end.lies[k].map(|v| back * v), wrists, collars)
        };
        let turned = [0, 1].map(|k: usize| {
            let turns = balances
                || forearm_meets(&body.arms[k], &elbow_way(k, &hands[k]), &hands[k], [&now, &end], frames)
                || meets(skeleton, body, k, &hands[k], ends[0], ends[1], veers)
                || meets_thigh(&hands[k], &passing, (timing.reaches, request.seconds), veers);
            turns.then(|| ArmTurn::new(&body.arms[k], &source.now, &solved.pose))
        });
        let ways = [0, 1].map(|k: usize| {
            let straight = (hands[k].to - hands[k].from).length();
            turned[k].as_ref().map_or(straight, |turned| turned.way(&body.arms[k]).max(straight))
        });
        // Who has time to spare takes as long as its hands need.
        timing.take(ways[0].max(ways[1]) * PEAK / (HAND_SPEED * mobility));
        let gets_to = |distance: f32, most: f32| (most * mobility / (timing.fastest() * distance.max(1e-6))).min(1.0);
        let turn = TRUNK.map(|role| {
            let joint = role.joint();
            kumite_motion::rotation::between(source.now.rotation(joint), solved.pose.rotation(joint))
        });
        let gets = gets_to(turn.into_iter().fold(0.0, f32::max), TRUNK_SPEED);
        let startled = (timing.begins > 0.0).then(|| startle(skeleton, body, &solved.aim, &source.soon));
        let mut brace = Brace {
            body: *body,
            timing,
            time: 0.0,
            end: solved.pose.clone(),
            startle: startled,
            shift: end.root - below.root,
            faced: now.facing,
            veers,
            gets_hands: [1.0; 2],
            hands,
            neck,
            centre,
            elbows: [ElbowWay::default(); 2],
            turned,
            twists: now.twists,
            head: end.head,
            gets,
            landing,
            raised: solved.raised,
            aim: solved.aim,
            turns: solved.turns,
            at: solved.at,
            steady: Steady::from(&source.now, &source.before, source.apart),
            tick: source.apart,
        };
        for (hand, line) in brace.hands.iter_mut().enumerate() {
            let part = gets_to(ways[hand], HAND_SPEED);
            line.to = line.from.lerp(line.to, part);
            brace.gets_hands[hand] = part;
            brace.elbows[hand] = elbow_way(hand, line);
        }
        brace.lead_around(skeleton, [&source.now, &source.soon, &source.ahead, pose], planted, request.seconds);
        Ok((brace, solved))
    }

    /// Rehearses the way into the pose: hands that body parts would push off their lines are led around by turning the arm.
    fn lead_around(&mut self, skeleton: &Skeleton, moments: [&Pose; 4], planted: bool, seconds: f32) {
        let mut world = WorldPose::default();
        let mut pose = moments[0].clone();
        for step in 1..=REHEARSED {
            self.time =
                self.timing.begins + (self.timing.reaches - self.timing.begins) * step as f32 / REHEARSED as f32;
            let played = match self.time / if planted { 2.0 } else { 1.0 } {
                time if time < STARTLE_AHEAD / 2.0 => moments[0],
                time if time < (STARTLE_AHEAD + LOOK_AHEAD) / 2.0 => moments[1],
                time if time < (LOOK_AHEAD + seconds) / 2.0 || planted => moments[2],
                _ => moments[3],
            };
            fk::pose(skeleton, played, &mut world);
            let below = Marks::of(skeleton, &self.body, &world);
            let carrier = if planted { Vec3::ZERO } else { below.root };
            let way = self.timing.way(self.time);
            let lines = self.hands.map(|line| carrier + yaw(self.veered(&below)) * line.at(way, self.time));
            pose.clone_from(played);
            self.lay_over(skeleton, &mut pose, &mut world);
            for (k, arm) in self.body.arms.iter().enumerate() {
                let off = (world.position(arm.joints[3].joint()) - lines[k]).length();
                if self.turned[k].is_none() && off > PUSHED {
                    self.turned[k] = Some(ArmTurn::new(arm, moments[0], &self.end));
                }
            }
        }
        self.time = 0.0;
    }

    /// A tick later.
    pub fn advance(&mut self, seconds: f32) {
        self.time += seconds;
        self.tick = seconds;
    }

    /// Seconds since it began.
    pub fn time(&self) -> f32 {
        self.time
    }

    /// Its times.
    pub fn timing(&self) -> &Timing {
        &self.timing
    }

    /// What it is for.
    pub fn aim(&self) -> &Aim {
        &self.aim
    }

    /// Whether it stops the motion below and stands; else it is done in stride.
    pub fn planted(&self) -> bool {
        self.timing.planted
    }

    /// The protective pose.
    pub fn pose(&self) -> &Pose {
        &self.end
    }

    /// Which way it turned and where the balance was: for bracing again.
    pub fn again(&self) -> (f32, Vector) {
        (self.turns, self.at)
    }

    /// Whether a hand goes straight; else it goes around the body.
    pub fn straight(&self, hand: usize) -> bool {
        self.turned[hand].is_none()
    }

    /// It hits.
    pub fn hit(&mut self) {
        self.timing.hit(self.time);
    }

    /// Something else is done: it fades.
    pub fn give_up(&mut self) {
        self.timing.give_up(self.time);
    }

    /// Whether nothing is left of it.
    pub fn over(&self) -> bool {
        self.timing.over(self.time) && self.steady.settled()
    }

    /// Seconds of the motion below per second.
    pub fn rate(&self) -> f32 {
        self.timing.rate(self.time)
    }

    /// What stands, of what the motion below says.
    pub fn contacts(&self, played: Contacts) -> Contacts {
        const FEET: [Contacts; 2] = [Contacts::LEFT, Contacts::RIGHT];
        let mut stands = played;
        let way = self.timing.moved(self.time) * self.timing.shows(self.time);
        if let Some(landing) = self.landing.filter(|_| way > 0.98) {
            stands = stands.with(FEET[landing.foot]);
        }
        if let Some(leg) = self.raised.filter(|_| way > 0.02) {
            stands = stands.without(FEET[leg]);
        }
        stands
    }

    /// Changes the pose that is `played` into the one that is shown. `pose` is the same at first, `world` is that of `pose` afterwards. Called once a tick;
    /// allocates nothing once `world` has grown.
    pub fn apply(&mut self, skeleton: &Skeleton, played: &Pose, pose: &mut Pose, world: &mut WorldPose) {
        self.lay_over(skeleton, pose, world);
        // Legs are brought to where feet stand afterwards.
        let within = |role: Role, turn: Quat, own: Quat| {
            if role >= Role::LeftHip { turn } else { kept_within(role, turn, own, SLACK) }
        };
        self.steady.show(played, pose, self.tick, within);
        fk::pose(skeleton, pose, world);
    }

    fn lay_over(&self, skeleton: &Skeleton, pose: &mut Pose, world: &mut WorldPose) {
        let (timing, time) = (&self.timing, self.time);
        let shows = timing.shows(time);
        fk::pose(skeleton, pose, world);
        if shows <= 0.0 {
            return;
        }
        let played = Marks::of(skeleton, &self.body, world);
        let way = timing.way(time);
        let trunk = way * shows * self.gets;
        if let Some(startle) = &self.startle {
            let share = timing.startled(time) * shows;
            for (q, to) in pose.rotations.iter_mut().zip(&startle.rotations) {
                *q = slerp(*q, *to, share);
            }
        }
        self.turn_trunk(pose, trunk);
        pose.translations[0] += self.shift * trunk;
        self.settle(skeleton, pose, world, &played, (way, shows, trunk));
    }

    /// By how much the motion below has turned by now, if it goes on; radians.
    fn veered(&self, played: &Marks) -> f32 {
        if self.timing.planted { 0.0 } else { played.facing - self.faced }
    }

    fn turn_trunk(&self, pose: &mut Pose, share: f32) {
        let first = usize::from(!self.timing.planted);
        let collars = self.body.arms.map(|arm| arm.joints[0]);
        for role in TRUNK[first..].iter().chain(&collars) {
            let joint = role.joint().at();
            pose.rotations[joint] = slerp(pose.rotations[joint], self.end.rotations[joint], share);
        }
        if let Some(leg) = self.raised {
            for role in self.body.legs[leg].joints {
                let joint = role.joint().at();
                pose.rotations[joint] = slerp(pose.rotations[joint], self.end.rotations[joint], share);
            }
        }
    }

    /// Plants the feet, and brings the centre of mass and the neck to their lines: the pelvis moves, the waist bends.
    fn settle(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        world: &mut WorldPose,
        played: &Marks,
        (way, shows, trunk): (f32, f32, f32),
    ) {
        let carrier = if self.timing.planted { Vec3::ZERO } else { played.root };
        // A foot that lands early is down when the movement is over.
        let feet = self.timing.moved(self.time) * shows * self.gets;
        // Whatever sways while there is time to spare, the weight does not.
        let kept = (way * self.gets).min(self.gets);
        let neck = played.neck.lerp(carrier + yaw(self.veered(played)) * self.neck.at(kept, self.time), shows);
        let centre = if self.timing.planted {
            played.centre.lerp(self.centre.at(kept, self.time), shows)
        } else {
            played.centre
        };
        for pass in 0..PASSES {
            fk::pose(skeleton, pose, world);
            self.plant(skeleton, pose, world, played, feet);
            self.turn_head(skeleton, pose, world, played, trunk);
            self.reach(skeleton, pose, world, played, (way, shows));
            if pass + 1 == PASSES {
                break;
            }
            let off = flat(centre - mass::centre(skeleton, &Roles::canonical(), world)) / FOLLOWS;
            let rest = neck - world.position(Role::Neck.joint()) - off;
            pose.translations[0] += off + Vec3::Y * rest.y;
            let lever = world.position(Role::Neck.joint()) - world.position(Role::Waist.joint());
            let axis = Vec3::Y.cross(flat(rest));
            let turn = from_vector(axis / lever.y.max(0.15));
            let (pelvis, waist) = (world.rotation(Role::Pelvis.joint()), Role::Waist.joint().at());
            let bent = (pelvis.conjugate() * turn * pelvis * pose.rotations[waist]).normalize();
            let within = Limit::of(Role::Waist).map_or(bent, |limit| limit.clamp(bent));
            pose.rotations[waist] = within;
            // What the waist does not bend by any more the back does, by more since it is nearer to the neck.
            let left = to_vector(pelvis * bent * within.conjugate() * pelvis.conjugate());
            if left.length() > 1e-5 {
                let nearer = world.position(Role::Neck.joint()) - world.position(Role::Back.joint());
                let turn = from_vector(left * (lever.y.max(0.15) / nearer.y.max(0.15)));
                let (below, back) = (pelvis * within, Role::Back.joint().at());
                let bent = (below.conjugate() * turn * below * pose.rotations[back]).normalize();
                pose.rotations[back] = kept_within(Role::Back, bent, pose.rotations[back], 0.0);
            }
        }
        // In stride the weight may be a little beside its path: what the trunk cannot bend by, the pelvis gives.
        let left = flat(neck - world.position(Role::Neck.joint()));
        if !self.timing.planted && left.length() > 1e-3 {
            pose.translations[0] += left.clamp_length_max(BESIDE);
            fk::pose(skeleton, pose, world);
            self.plant(skeleton, pose, world, played, feet);
            self.reach(skeleton, pose, world, played, (way, shows));
        }
        // No leg is overstretched: the pelvis sinks until all reach.
        let mut sinks = 0.0f32;
        for (k, leg) in self.body.legs.iter().enumerate().filter(|(k, _)| self.raised != Some(*k)) {
            let own = (played.ankles[k] - played.hips[k]).length();
            let most = (LEG * leg.length).max(own.min(0.999 * leg.length));
            let hip = world.position(leg.joints[0].joint());
            let line = hip - self.ankle(k, played, hip, feet);
            let across = line.x * line.x + line.z * line.z;
            sinks = sinks.max(line.y - (most * most - across).max(0.0).sqrt());
        }
        if sinks > 0.0 {
            pose.translations[0].y -= sinks.min(0.2);
            fk::pose(skeleton, pose, world);
            self.plant(skeleton, pose, world, played, feet);
            self.reach(skeleton, pose, world, played, (way, shows));
        }
        clear::clear(&self.body, skeleton, &played.depths, pose, world);
    }

    /// Where an ankle goes, whose hip has got to `hip`. One that kicks goes with its hip.
    fn ankle(&self, k: usize, played: &Marks, hip: Vec3, share: f32) -> Vec3 {
        match self.landing {
            Some(landing) if landing.foot == k => played.ankles[k].lerp(landing.ankle, share.min(1.0)),
            _ => {
                let kicks = ease((played.ankles[k].y - KICKS.0) / (KICKS.1 - KICKS.0));
                played.ankles[k] + (hip - played.hips[k]) * kicks
            }
        }
    }

    fn plant(&self, skeleton: &Skeleton, pose: &mut Pose, world: &mut WorldPose, played: &Marks, share: f32) {
        for (k, leg) in self.body.legs.iter().enumerate().filter(|(k, _)| self.raised != Some(*k)) {
            let mut held = played.legs[k];
            if let Some(landing) = self.landing.filter(|landing| landing.foot == k) {
                held[2] = slerp(held[2], landing.turn, share.min(1.0));
            }
            let hip = world.position(leg.joints[0].joint());
            leg.place(skeleton, pose, world, held, self.ankle(k, played, hip, share));
        }
    }

    /// The head turns evenly in the world, whatever the trunk does: neck and head share what is left.
    fn turn_head(&self, skeleton: &Skeleton, pose: &mut Pose, world: &mut WorldPose, played: &Marks, share: f32) {
        let (neck, head) = (Role::Neck.joint(), Role::Head.joint());
        let wanted = slerp(played.head, yaw(self.veered(played) - self.veers) * self.head, share);
        let off = wanted * world.rotation(head).conjugate();
        let turned = slerp(Quat::IDENTITY, off, 0.5) * world.rotation(neck);
        // As far as they go: in stride the trunk below may be anywhere.
        let within = |role: Role, turn: Quat| Limit::of(role).map_or(turn, |limit| limit.clamp(turn.normalize()));
        let back = world.rotation(Role::Back.joint());
        pose.rotations[neck.at()] = within(Role::Neck, back.conjugate() * turned);
        pose.rotations[head.at()] = within(Role::Head, turned.conjugate() * wanted);
        fk::pose(skeleton, pose, world);
    }

    /// Hands along their lines, elbows by their swivel.
    fn reach(
        &self,
        skeleton: &Skeleton,
        pose: &mut Pose,
        world: &mut WorldPose,
        played: &Marks,
        (way, shows): (f32, f32),
    ) {
        let carrier = if self.timing.planted { Vec3::ZERO } else { played.root };
        for (k, arm) in self.body.arms.iter().enumerate() {
            if let Some(turned) = &self.turned[k] {
                let share = way.min(1.0) * shows * self.gets_hands[k];
                let turns = turned.at(arm, &played.arms[k], share);
                for (joint, turn) in [arm.joints[1], arm.joints[2], arm.joints[3]].into_iter().zip(turns) {
                    pose.rotations[joint.joint().at()] = turn;
                }
                let wrist = arm.joints[3];
                pose.rotations[wrist.joint().at()] = kept_within(wrist, turns[2], played.arms[k][2], 0.0);
                continue;
            }
            let veered = yaw(self.veered(played));
            let hand = played.hands[k].lerp(carrier + veered * self.hands[k].at(way, self.time), shows);
            let axis = (hand - world.position(arm.joints[1].joint())).normalize_or(Vec3::NEG_Y);
            let own = veered * self.elbows[k].at(way * shows, veered.conjugate() * axis);
            // The motion's own elbow, once the arm is near to it again.
            let out = towards_elbow(axis, own, played.lies[k], ease(1.0 - 2.0 * shows));
            let twists = [0, 1].map(|t| {
                let own = self.twists[k][t] * (1.0 - way.min(1.0));
                own + wrap(played.twists[k][t] - own) * (1.0 - shows)
            });
            let _ = arm.place(pose, world, hand, out, twists);
            let wrist = arm.joints[3].joint().at();
            let turn = slerp(played.arms[k][2], self.end.rotations[wrist], way * shows);
            pose.rotations[wrist] = kept_within(arm.joints[3], turn, played.arms[k][2], 0.0);
        }
        fk::pose(skeleton, pose, world);
    }
}

/// A turn brought within a joint's limit, or as far beyond it as the motion itself has it: between two turns that a joint can make there may be
/// some that it cannot.
fn kept_within(role: Role, turn: Quat, own: Quat, slack: f32) -> Quat {
    let Some(limit) = Limit::of(role) else { return turn };
    let (excess, allowed) = (limit.excess(turn), limit.excess(own).max(slack));
    if excess <= allowed { turn } else { slerp(limit.clamp(turn), turn, allowed / excess) }
}

/// Height of an ankle above the floor when its sole is flat, metres.
fn ankle_height(skeleton: &Skeleton) -> f32 {
    let parts = [Role::Pelvis, Role::LeftHip, Role::LeftKnee, Role::LeftAnkle];
    parts.iter().map(|role| skeleton.offset(role.joint()).y).sum()
}
