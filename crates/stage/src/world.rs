//! All state of a stage: plain data. A clone is a snapshot, and nothing else is needed to go on from it.

use kumite_motion::volume::Obstacle;
use kumite_motion::{Chance, Role, Vec2, Vec3};
use kumite_plan::threat::Ball;
use kumite_plan::walk::{Effort, Method};
use kumite_react::response::Settings;
use slotmap::{SlotMap, new_key_type};

use crate::arbiter::Blow;
use crate::sparring::{SparState, SparWish};
use crate::{Character, Return, TICKS, Target};

new_key_type! {
    /// Which character of a world.
    pub struct CharacterId;
    /// Which ball of a world.
    pub struct BallId;
}

/// Everything there is on a stage, at the beginning of a tick.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Ticks since it began.
    pub tick: u64,
    /// Who is there.
    pub characters: SlotMap<CharacterId, CastMember>,
    /// What flies.
    pub balls: SlotMap<BallId, FlyingBall>,
    /// What stands in the way.
    pub obstacles: Vec<Obstacle>,
}

impl World {
    /// Seconds since it began.
    pub fn seconds(&self) -> f32 {
        self.tick as f32 / TICKS as f32
    }

    /// The character of a name.
    pub fn named(&self, name: &str) -> Option<CharacterId> {
        self.characters.iter().find(|(_, member)| member.name == name).map(|(id, _)| id)
    }
}

/// A character with what it knows and wants.
#[derive(Clone, Debug)]
pub struct CastMember {
    /// Unique in its world.
    pub name: String,
    /// Position of its kit among those handed to each step.
    pub kit: usize,
    /// Its body and what it plays.
    pub character: Character,
    /// What it notices.
    pub perception: Perception,
    /// Balls it knows of, and since which tick.
    pub known: Vec<(BallId, u64)>,
    /// What it wants.
    pub wish: Wish,
    /// What it is doing about it.
    pub doing: Doing,
    /// Its own source of chance.
    pub chance: Chance,
    /// Balls the committed plan names, and what it blocks them with.
    pub answers: Vec<Answer>,
    /// The ball it braced for last.
    pub braced: Option<BallId>,
    /// How often it has found no way since it last did.
    pub refused: u32,
    /// What hit it in the last tick.
    pub blow: Option<Blow>,
    /// How long physics alone acts after a hit, and how strongly.
    pub response: Settings,
    /// What it goes back to after a hit.
    pub returns: Return,
    /// What hits have done to it so far, joules weighed by region.
    pub damage: f32,
    /// Its fight, if it is in one.
    pub spar: Option<Box<SparState>>,
}

/// A ball that a committed plan is meant to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Which.
    pub ball: BallId,
    /// The guarding wrist, if it is to be met.
    pub guard: Option<Role>,
}

/// What a character notices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Perception {
    /// From coming into view to being known, seconds: people take 0.12 to 0.2 s to move after a cue.
    pub delay: f32,
    /// Half of the field of view about the gaze, radians.
    pub half_view: f32,
}

impl Perception {
    /// Whatever is thrown is known at once, from all round.
    pub const ALL_ROUND: Perception = Perception { delay: 0.0, half_view: 4.0 };
    /// Nothing is ever known of what is thrown.
    pub const BLIND: Perception = Perception { delay: 1e6, half_view: -1.0 };
}

impl Default for Perception {
    fn default() -> Self {
        Perception { delay: 0.15, half_view: 110.0f32.to_radians() }
    }
}

/// What a character wants.
#[derive(Clone, Debug, PartialEq)]
pub enum Wish {
    /// Whatever chance leads to.
    Wander,
    /// To be somewhere.
    Walk(Goal),
    /// To stay where it is.
    Stay,
    /// To beat somebody.
    Spar(Box<SparWish>),
}

/// Where a walker wants to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// On the ground, metres.
    pub at: Vec2,
    /// How to face there, radians.
    pub facing: Option<f32>,
    /// What to do there.
    pub action: Option<String>,
    /// Places to pass.
    pub waypoints: Vec<Vec2>,
    /// How the way there is searched for.
    pub search: WalkSearch,
}

/// How a way is searched for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WalkSearch {
    /// By which method.
    pub method: Method,
    /// How hard.
    pub effort: Effort,
    /// Where its chance begins; the character's own if not given.
    pub seed: Option<u64>,
    /// Whether the best that is found is walked although it ends elsewhere or touches something: to look at what a method finds.
    pub anyway: bool,
}

impl Default for WalkSearch {
    fn default() -> Self {
        WalkSearch { method: Method::Walk, effort: Effort::default(), seed: None, anyway: false }
    }
}

/// What a character is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// What it wishes.
    Own,
    /// A dodge, a block or a bend, until this tick.
    Defending(u64),
    /// A reaction to a hit, until this tick: nothing is decided meanwhile.
    Reacting(u64),
    /// A planned walk that arrives at this tick.
    Walking(u64),
    /// It is where it wanted to be.
    Arrived,
    /// It waits and looks again at this tick, because somebody is in the way or there was no way.
    Waiting(u64),
}

/// A ball in the air.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlyingBall {
    /// From the moment it was thrown.
    pub ball: Ball,
    /// When.
    pub thrown: u64,
    /// At whom.
    pub at: CharacterId,
    /// At which part.
    pub target: Target,
    /// When it is meant to arrive, seconds after it was thrown.
    pub arrives: f32,
    /// Kilograms.
    pub mass: f32,
    /// Nearest it has come to any body, metres; negative is the depth.
    pub least: f32,
    /// Whether a plan that names it was committed.
    pub answered: bool,
}

impl FlyingBall {
    /// Where it is at a tick.
    pub fn place(&self, tick: u64) -> Vec3 {
        self.ball.at(self.age(tick))
    }

    /// Seconds since it was thrown.
    pub fn age(&self, tick: u64) -> f32 {
        tick.saturating_sub(self.thrown) as f32 / TICKS as f32
    }

    /// The same ball seen from a tick on.
    pub fn from(&self, tick: u64) -> Ball {
        let age = self.age(tick);
        let pull = if self.ball.falls { kumite_plan::threat::GRAVITY } else { Vec3::ZERO };
        Ball { from: self.ball.at(age), velocity: self.ball.velocity + pull * age, ..self.ball }
    }
}
