//! Random balls at random moments of wandering: what dodging is measured by. A trial is a world and a throw; the pipeline plays it.

use std::f32::consts::TAU;
use std::sync::Arc;

use kumite_motion::{Role, Vec2, Vec3, WorldPose, fk};
use kumite_plan::dodge::DodgeDecision;
use kumite_plan::threat::Ball;
use kumite_plan::{Alone, Leg, Threat};

use crate::op::{BallOutcome, EventKind, Op, Spawn, ThrowOp};
use crate::world::{CharacterId, Perception, Wish, World};
use crate::world_referee::{self, Seen, Shown};
use crate::{Chance, Character, Flight, Kit, Performance, Pipeline, TICKS, Take, Target, pipeline, sense};

/// How long a trial is played on after its ball should have arrived, seconds.
pub const AFTER: f32 = 1.2;
/// How far off the balls of trials seem to come from, metres: so far that all of a body is in the same direction.
const FAR: f32 = 100.0;
/// A defence that is bent by no more than this is still the motion that was captured, metres.
pub const TOUCHED_UP: f32 = 0.08;
/// A body that is so far from where it would have been has moved, metres.
pub const MOVED: f32 = 0.05;
/// Balls so near to the body are looked at, metres.
const NEAR: f32 = 0.5;
/// Name of whoever is thrown at.
const NAME: &str = "trial";

/// A world in which a ball is about to be thrown.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Before the tick of the throw.
    pub world: World,
    /// At whom.
    pub who: CharacterId,
    /// The ball.
    pub throw: ThrowOp,
}

/// A character that has just got to know of a ball, what it would do, and what comes at it.
#[derive(Clone, Debug)]
pub struct Moment {
    /// When it has to decide.
    pub character: Character,
    /// What it plays next if nothing happens.
    pub ahead: Vec<Leg>,
    /// The ball, from now on.
    pub ball: Ball,
    /// The same as an attack.
    pub threats: Vec<Threat>,
    /// What it is thrown at.
    pub target: Target,
    /// Seconds that are left.
    pub lead: f32,
}

/// A trial that was played.
#[derive(Clone, Debug)]
pub struct PlayedTrial {
    /// From the throw until [`AFTER`] the ball should have arrived.
    pub take: Take,
    /// The ball and what became of it.
    pub flight: Flight,
    /// The last answer that was committed before the ball met something or was over.
    pub decision: Option<DodgeDecision>,
    /// Farthest that a bend moves any sphere of the body while the ball is within [`NEAR`] of it, metres.
    pub bent: f32,
    /// The frames.
    pub shown: Shown,
    /// What the referee sees on them.
    pub seen: Seen,
}

/// How an attack was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// An avoidance, bent by at most [`TOUCHED_UP`].
    Motion,
    /// An avoidance that is bent more than that.
    BentMotion,
    /// A bend of the motion that was playing anyway.
    BentPose,
    /// A block with a wrist, moved by at most [`TOUCHED_UP`].
    Block,
    /// A block whose wrist is moved farther.
    BentBlock,
    /// The ball hit.
    Hit,
}

impl Answer {
    /// All of them.
    pub const ALL: [Answer; 6] =
        [Answer::Motion, Answer::BentMotion, Answer::BentPose, Answer::Block, Answer::BentBlock, Answer::Hit];
}

impl Trial {
    /// Who comes on in a random trial, how many ticks it wanders before the throw, and the chance that decides on the rest.
    pub fn begins(seed: u64, perception: Perception) -> (Spawn, u32, Chance) {
        let mut chance = Chance::new(seed);
        let at = Vec2::new(chance.unit() * 4.0 - 2.0, chance.unit() * 4.0 - 2.0);
        let facing = chance.unit() * TAU;
        let ticks = 60 + chance.below(360);
        let spawn = Spawn {
            name: NAME.to_owned(),
            kit: 0,
            at,
            facing,
            begin: None,
            wish: Wish::Wander,
            perception,
            seed: chance.next().into(),
        };
        (spawn, ticks, chance)
    }

    /// A random ball, 8 to 30 m/s from all round, thrown 0.3 to 1.2 s before it arrives, at a random moment of wandering. `given` are a
    /// target and a lead, seconds, instead of random ones.
    pub fn random(kits: &[Arc<Kit>], seed: u64, perception: Perception, given: Option<(Target, f32)>) -> Option<Trial> {
        let (spawn, ticks, mut chance) = Trial::begins(seed, perception);
        let (mut world, mut pipeline) = (World::default(), Pipeline::default());
        pipeline.step(kits, &mut world, &[Op::Spawn(spawn)]);
        for _ in 1..ticks {
            pipeline.step(kits, &mut world, &[]);
        }
        let target = Target::ALL[chance.below(5) as usize];
        let (speed, lead) = (8.0 + 22.0 * chance.unit(), 0.3 + 0.9 * chance.unit());
        let (target, lead) = given.unwrap_or((target, lead));
        let (around, up) = (chance.unit() * TAU, chance.unit() * 0.6 - 0.1);
        let (sphere, falls) = (chance.next(), chance.below(2) == 0);
        let (who, root) = world.characters.iter().next().map(|(who, m)| (who, m.character.pose().root()))?;
        let ((s, c), (rise, flat)) = (libm::sincosf(around), libm::sincosf(up));
        let from = root + Vec3::new(s * flat, rise, c * flat) * FAR;
        let throw = ThrowOp { sphere, lead: Some(lead), falls, ..ThrowOp::football(NAME, target, from, speed) };
        Some(Trial { world, who, throw })
    }

    /// When the character gets to know of the ball, before it decides; `None` if it never does.
    pub fn moment(&self, kits: &[Arc<Kit>]) -> Option<Moment> {
        let (mut world, mut pipeline) = (self.world.clone(), Pipeline::default());
        let flying = pipeline::throw(kits, &world, &self.throw).ok()?;
        let ball = world.balls.insert(flying);
        while world.balls.contains_key(ball) {
            let member = world.characters.get(self.who)?;
            if sense::notices(member, ball, &flying, world.tick) {
                let character = member.character.clone();
                let (seen, lead) = (flying.from(world.tick), flying.arrives - flying.age(world.tick));
                let threats = vec![Threat::ball(&seen, lead).ok()?];
                let ahead = character.legs().iter().copied().collect();
                return Some(Moment { character, ahead, ball: seen, threats, target: flying.target, lead });
            }
            pipeline.step(kits, &mut world, &[]);
        }
        None
    }

    /// How many ticks it is played for.
    fn ticks(&self) -> u64 {
        ((self.throw.lead.unwrap_or_default() + AFTER) * TICKS as f32) as u64
    }

    /// Plays it, with or without the throw. Returns also how far bends moved the body while the ball was near.
    fn perform(&self, kits: &[Arc<Kit>], thrown: bool) -> Option<(Performance, Shown, f32)> {
        let world = self.world.clone();
        let first = world.characters.get(self.who)?.character.pose().clone();
        let mut shown = Shown { from: world.tick, poses: vec![first] };
        let mut performance = Performance::of(world, Arc::new(Alone));
        let mut ops = if thrown { vec![Op::Throw(self.throw.clone())] } else { Vec::new() };
        let (mut unbent, mut bent): (Option<Character>, f32) = (None, 0.0);
        for _ in 0..=self.ticks() {
            let told = performance.events.len();
            performance.step(kits, &ops);
            ops.clear();
            let character = &performance.world.characters.get(self.who)?.character;
            shown.poses.push(character.pose().clone());
            if let Some(unbent) = &mut unbent {
                let _ = unbent.step(|_, next| next[0]);
                if let Some(flight) = performance.flights.first().filter(|f| f.end.is_none()) {
                    bent = bent.max(apart(character, unbent, flight));
                }
            }
            let answers = &performance.events[told..];
            if answers.iter().any(|e| matches!(e.kind, EventKind::Answered { .. })) {
                unbent = Some(character.unbent());
            }
        }
        Some((performance, shown, bent))
    }

    /// Plays it as if nothing were thrown.
    pub fn undisturbed(&self, kits: &[Arc<Kit>]) -> Option<(Take, Shown)> {
        let (performance, shown, _) = self.perform(kits, false)?;
        Some((performance.takes().ok()?.into_iter().next()?, shown))
    }

    /// Plays it.
    pub fn play(&self, kits: &[Arc<Kit>]) -> Option<PlayedTrial> {
        let (performance, shown, bent) = self.perform(kits, true)?;
        let flight = performance.flights.first()?.clone();
        let over = (flight.end?.1 * TICKS as f32).round() as u64;
        let mut answers = performance.events.iter().filter(|e| e.tick < over).filter_map(|e| match &e.kind {
            EventKind::Answered { decision } => Some((**decision).clone()),
            _ => None,
        });
        let decision = answers.next_back();
        let take = performance.takes().ok()?.into_iter().next()?;
        let seen = look(kits, &shown, &flight, over)?;
        Some(PlayedTrial { take, flight, decision, bent, shown, seen })
    }
}

/// Farthest that two bodies have a sphere apart, if the ball is near one of them, metres.
fn apart(a: &Character, b: &Character, flight: &Flight) -> f32 {
    let Some((_, ball)) = flight.path.last() else { return 0.0 };
    let spheres = a.library().spheres().iter();
    let places = spheres.map(|s| (a.world().point(s.joint, s.offset), b.world().point(s.joint, s.offset), s.radius));
    let near = places.clone().any(|(p, _, radius)| (p - *ball).length() - radius - flight.ball.ball.radius < NEAR);
    if near { places.map(|(p, q, _)| (p - q).length()).fold(0.0, f32::max) } else { 0.0 }
}

/// What the referee sees of a ball until a tick.
fn look(kits: &[Arc<Kit>], shown: &Shown, flight: &Flight, until: u64) -> Option<Seen> {
    let ball = flight.ball.ball;
    let cast = [(shown, &**kits.first()?.library())];
    Some(world_referee::look(&cast, flight.ball.thrown, until, ball.radius, |age| ball.at(age)))
}

impl Moment {
    /// Of a random trial, whose ball is known from all round as soon as it is thrown.
    pub fn random(kits: &[Arc<Kit>], seed: u64) -> Option<Moment> {
        Trial::random(kits, seed, Perception::ALL_ROUND, None)?.moment(kits)
    }
}

impl PlayedTrial {
    /// How the ball was answered, as the referee sees it.
    pub fn answer(&self) -> Answer {
        let blocked = self.flight.end.is_some_and(|end| end.0 == BallOutcome::Blocked);
        match (&self.decision, self.seen.touch) {
            (_, Some(_)) if blocked && self.bent <= TOUCHED_UP => Answer::Block,
            (_, Some(_)) if blocked => Answer::BentBlock,
            (_, Some(_)) => Answer::Hit,
            (Some(decision), None) if decision.span.is_some() && self.bent <= TOUCHED_UP => Answer::Motion,
            (Some(decision), None) if decision.span.is_some() => Answer::BentMotion,
            _ => Answer::BentPose,
        }
    }

    /// Whether the log says of touches what the referee sees; `None` within 3 mm of a touch.
    pub fn log_is_right(&self) -> Option<bool> {
        let touched = self.flight.end.is_some_and(|e| e.0.touched());
        (self.seen.least.abs() > 0.003).then_some(touched == self.seen.touch.is_some())
    }

    /// Whether the ball would have hit if nothing had been done.
    pub fn threatens(&self, undisturbed: &Shown, kits: &[Arc<Kit>]) -> bool {
        let until = undisturbed.from + undisturbed.poses.len() as u64 - 1;
        look(kits, undisturbed, &self.flight, until).is_some_and(|seen| seen.touch.is_some())
    }

    /// Seconds from the moment at which the ball was known until head or trunk is [`MOVED`] from where it would have been; `None` if it never is.
    pub fn moved_after(&self, known: f32, undisturbed: &Shown, kits: &[Arc<Kit>]) -> Option<f32> {
        let library = kits.first()?.library();
        let (mut a, mut b) = (WorldPose::default(), WorldPose::default());
        let first = (known * TICKS as f32).round() as usize;
        let pairs = self.shown.poses.iter().zip(&undisturbed.poses).skip(first);
        let moved = pairs.map(|(pose, other)| {
            fk::pose(library.skeleton(), pose, &mut a);
            fk::pose(library.skeleton(), other, &mut b);
            let apart = |role: Role| (a.position(role.joint()) - b.position(role.joint())).length();
            apart(Role::Head).max(apart(Role::Back))
        });
        let tick = moved.into_iter().position(|far| far >= MOVED)?;
        Some(tick as f32 / TICKS as f32)
    }

    /// Mean distance of the body's spheres from where they would have been when the ball arrives, metres.
    pub fn displacement(&self, undisturbed: &Shown, kits: &[Arc<Kit>]) -> Option<f32> {
        let library = kits.first()?.library();
        let tick = (self.flight.ball.arrives * TICKS as f32).round() as usize;
        let (mut a, mut b) = (WorldPose::default(), WorldPose::default());
        fk::pose(library.skeleton(), self.shown.poses.get(tick)?, &mut a);
        fk::pose(library.skeleton(), undisturbed.poses.get(tick)?, &mut b);
        let apart =
            library.spheres().iter().map(|s| (a.point(s.joint, s.offset) - b.point(s.joint, s.offset)).length());
        Some(apart.sum::<f32>() / library.spheres().len().max(1) as f32)
    }
}
