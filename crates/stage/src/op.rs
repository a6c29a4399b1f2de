//! What changes a world from outside, what happened in it, and what could not be done.

use kumite_motion::volume::Obstacle;
use kumite_motion::{Role, Vec2, Vec3};
use kumite_plan::dodge::DodgeDecision;
use kumite_plan::spar::Outcome;
use kumite_plan::walk::WalkError;
use kumite_react::Extent;

use crate::walk::WalkOutcome;
use crate::walk_trial::WalkSearched;
use crate::world::{BallId, CharacterId, FlyingBall, Perception, Wish};
use crate::{Source, Target};

/// Something that somebody outside did. Recorded with its tick it makes a run repeatable.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// A character comes on.
    Spawn(Spawn),
    /// A ball is thrown.
    Throw(ThrowOp),
    /// Something stands in the way.
    Place(Obstacle),
    /// A character wants something else.
    Wish {
        /// Who.
        who: String,
        /// What.
        wish: Wish,
    },
    /// Somebody is told of a ball that it cannot see.
    Cue {
        /// Who.
        who: String,
        /// Of which.
        ball: BallId,
    },
}

/// A character that comes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Spawn {
    /// Unique in its world.
    pub name: String,
    /// Position among the kits.
    pub kit: usize,
    /// On the ground, metres.
    pub at: Vec2,
    /// Radians.
    pub facing: f32,
    /// What it begins with; the kit's choice if there is nothing.
    pub begin: Option<Begin>,
    /// What it wants.
    pub wish: Wish,
    /// What it notices.
    pub perception: Perception,
    /// Where its chance begins.
    pub seed: u64,
}

/// A moment of a clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Begin {
    /// Which clip.
    pub clip: String,
    /// Seconds after its first frame; `None` for wherever it can be entered.
    pub at: Option<f32>,
}

impl Begin {
    /// From `CLIP` or `CLIP@SECONDS`. What follows an `@` and is no time belongs to the name.
    pub fn parse(text: &str) -> Begin {
        let timed = text.rsplit_once('@').and_then(|(clip, at)| Some((clip, at.parse::<f32>().ok()?)));
        match timed.filter(|(_, at)| at.is_finite() && *at >= 0.0) {
            Some((clip, at)) => Begin { clip: clip.to_owned(), at: Some(at) },
            None => Begin { clip: text.to_owned(), at: None },
        }
    }
}

/// A ball at a part of a character, aimed at where that part will be.
#[derive(Clone, Debug, PartialEq)]
pub struct ThrowOp {
    /// At whom.
    pub at: String,
    /// At which part.
    pub target: Target,
    /// Which of the spheres of that part, counted round.
    pub sphere: u32,
    /// From where, metres.
    pub from: Vec3,
    /// Seconds it flies. If given, `from` is only where it comes from, and it begins so far away that it arrives just then.
    pub lead: Option<f32>,
    /// Metres per second.
    pub speed: f32,
    /// Metres.
    pub radius: f32,
    /// Kilograms.
    pub mass: f32,
    /// Whether it falls or flies straight.
    pub falls: bool,
}

impl ThrowOp {
    /// A football that flies straight.
    pub fn football(at: &str, target: Target, from: Vec3, speed: f32) -> ThrowOp {
        let at = at.to_owned();
        ThrowOp { at, target, sphere: 0, from, lead: None, speed, radius: 0.11, mass: 0.27, falls: false }
    }
}

/// How a ball ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BallOutcome {
    /// Its first touch was no guard.
    Hit,
    /// Its first touch was a guard that was meant for it.
    Blocked,
    /// It touched nobody, and a plan that was committed names it.
    Dodged,
    /// It touched nobody.
    Missed,
    /// Its first touch was a hand or forearm of a brace that was meant for it.
    Braced,
}

impl BallOutcome {
    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            BallOutcome::Hit => "hit",
            BallOutcome::Blocked => "blocked",
            BallOutcome::Dodged => "dodged",
            BallOutcome::Missed => "missed",
            BallOutcome::Braced => "braced",
        }
    }

    /// Whether it touched somebody.
    pub fn touched(self) -> bool {
        matches!(self, BallOutcome::Hit | BallOutcome::Blocked | BallOutcome::Braced)
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// At the end of which tick.
    pub tick: u64,
    /// To whom, if to somebody.
    pub who: Option<CharacterId>,
    /// What.
    pub kind: EventKind,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A character came on.
    Spawned,
    /// Another leg is played.
    Began {
        /// What is shown.
        source: Source,
    },
    /// A ball was thrown.
    Thrown {
        /// Which.
        ball: BallId,
        /// As it leaves.
        flying: FlyingBall,
    },
    /// A character knows of a ball.
    Noticed {
        /// Which.
        ball: BallId,
    },
    /// A plan that answers balls was committed; it is told as decided too.
    Answered {
        /// All of it.
        decision: Box<DodgeDecision>,
    },
    /// A character braces for a ball that it can neither dodge nor block; it is told as decided too.
    Braced {
        /// Which.
        ball: BallId,
        /// Seconds that are left.
        seconds: f32,
        /// Whether it stands for it; else it is done in stride.
        planted: bool,
    },
    /// A way was searched for; what comes of it is told too.
    Searched(Box<WalkSearched>),
    /// A plan was committed.
    Decided {
        /// What is done.
        what: String,
        /// Why that.
        why: String,
    },
    /// A ball's way is over, or it touched somebody.
    BallEnded {
        /// Which.
        ball: BallId,
        /// How.
        outcome: BallOutcome,
        /// What it met.
        part: Option<Role>,
        /// Where it was.
        at: Vec3,
        /// Nearest it came to anybody, metres; negative is the depth.
        least: f32,
    },
    /// A character was hit; what comes of it is told too.
    Struck {
        /// On what.
        part: Role,
        /// By something that came this way.
        along: Vec3,
        /// By how much that changes the speed of the whole body, metres per second.
        change: f32,
        /// What it does to it, joules weighed by region.
        damage: f32,
        /// How far it gives way.
        extent: Extent,
        /// What pushes are multiplied by.
        gain: f32,
    },
    /// Steps catch a hit.
    Staggered,
    /// A character lies on the ground because of a hit.
    Down,
    /// It stands again.
    Up,
    /// A blow of a fighter arrived, or should have; the fighter it was meant for is the one it is told of.
    Blow(BlowEvent),
    /// A fighter can take no more.
    KnockedOut {
        /// By whom.
        by: CharacterId,
    },
    /// A walker is where it wanted to be.
    Arrived {
        /// How far from the goal, metres.
        off: f32,
    },
    /// A walker finds no way.
    NoWay {
        /// Why not.
        why: NoWay,
    },
    /// Something could not be done; the tick went on.
    Fault(Fault),
}

/// What became of a blow.
#[derive(Clone, Debug, PartialEq)]
pub struct BlowEvent {
    /// Who struck.
    pub by: CharacterId,
    /// With what action.
    pub name: String,
    /// What was seen to happen.
    pub outcome: Outcome,
    /// What the rules of the tree say of the same moment.
    pub predicted: Outcome,
    /// What was met.
    pub part: Option<Role>,
    /// Damage, in light hits.
    pub damage: f32,
    /// Where the striking part was.
    pub at: Vec3,
    /// How near it came to what it met, or at all, metres; negative is the depth.
    pub gap: f32,
    /// Whether the other stood within reach of anything when it was struck.
    pub reach: bool,
    /// Whether the blow reaches far.
    pub long: bool,
    /// Whether the other could see it in time, and answered it.
    pub seen: bool,
    /// Whether it did something about it.
    pub answered: bool,
}

/// Why a walker finds no way.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoWay {
    /// Its library does not walk.
    #[error("the library has no motions to walk with")]
    Library,
    /// Nothing leads from what it plays to where walks begin.
    #[error("no walk begins in this stance")]
    Stance,
    /// Getting to where walks begin would touch something or somebody.
    #[error("there is no room to stand up in")]
    Room,
    /// Somebody else will be there at the time.
    #[error("somebody is in the way")]
    Somebody,
    /// There is nothing to search for.
    #[error("{0}")]
    Refused(#[from] WalkError),
    /// The search found nothing that will do.
    #[error("{}", not_found(.0))]
    NotFound(WalkOutcome),
}

fn not_found(outcome: &WalkOutcome) -> String {
    match outcome {
        WalkOutcome::Blocked(near) => {
            format!("the nearest place that can be reached is [{:.2}, {:.2}]", near.x, near.y)
        }
        WalkOutcome::Collides => "every way that was found touches something".to_owned(),
        _ => "no way was found".to_owned(),
    }
}

/// What could not be done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// An op names somebody who is not there.
    #[error("nobody is called {name:?}")]
    Nobody {
        /// The name.
        name: String,
    },
    /// Two characters would have one name.
    #[error("there is a {name:?} already")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// There is no such kit, or no such clip in it.
    #[error("there is no {what}")]
    NoSuch {
        /// What.
        what: String,
    },
    /// A number of an op is not finite.
    #[error("{what} is not a finite number")]
    NotFinite {
        /// Which.
        what: &'static str,
    },
}
