//! What changes a world from outside, what happened in it, and what could not be done.

use kumite_motion::volume::Obstacle;
use kumite_motion::{Role, Vec2, Vec3};

use crate::world::{BallId, CharacterId, Perception, Wish};
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
    /// The clip it begins with; the kit's choice if there is none.
    pub begin: Option<String>,
    /// What it wants.
    pub wish: Wish,
    /// What it notices.
    pub perception: Perception,
    /// Where its chance begins.
    pub seed: u64,
}

/// A ball at a part of a character, aimed at where that part will be.
#[derive(Clone, Debug, PartialEq)]
pub struct ThrowOp {
    /// At whom.
    pub at: String,
    /// At which part.
    pub target: Target,
    /// From where, metres.
    pub from: Vec3,
    /// Metres per second.
    pub speed: f32,
    /// Metres.
    pub radius: f32,
    /// Kilograms.
    pub mass: f32,
    /// Whether it falls or flies straight.
    pub falls: bool,
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
}

impl BallOutcome {
    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            BallOutcome::Hit => "hit",
            BallOutcome::Blocked => "blocked",
            BallOutcome::Dodged => "dodged",
            BallOutcome::Missed => "missed",
        }
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
    },
    /// A character knows of a ball.
    Noticed {
        /// Which.
        ball: BallId,
    },
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
    },
    /// A walker is where it wanted to be.
    Arrived {
        /// How far from the goal, metres.
        off: f32,
    },
    /// A walker finds no way.
    NoWay {
        /// Why not.
        why: String,
    },
    /// Something could not be done; the tick went on.
    Fault(Fault),
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
