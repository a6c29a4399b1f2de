//! A scene from its first tick to its last: ops in, takes, flights and events out. The same kits and ops give the same bits.

use std::sync::Arc;

use kumite_motion::{ClipError, Role, Vec3};

use crate::op::{BallOutcome, Event, EventKind, Op};
use crate::world::{BallId, CharacterId, FlyingBall, World};
use crate::{Host, Kit, Pipeline, Recorder, TICKS, Take};

/// Ops, each with the tick it is applied in, by tick.
pub type Recording = Vec<(u64, Op)>;

/// The way of a ball, and how it ended.
#[derive(Clone, Debug)]
pub struct Flight {
    /// Which.
    pub id: BallId,
    /// As it was thrown.
    pub ball: FlyingBall,
    /// At whom, by name.
    pub at: String,
    /// Seconds and places, one for each tick of its flight.
    pub path: Vec<(f32, Vec3)>,
    /// How, when in seconds, and what it met; `None` if the scene ended before.
    pub end: Option<(BallOutcome, f32, Option<Role>)>,
    /// Nearest it came to anybody, metres; negative is the depth.
    pub least: f32,
}

/// A scene being played.
#[derive(Clone, Debug, Default)]
pub struct Performance {
    /// Its world.
    pub world: World,
    /// What happened so far.
    pub events: Vec<Event>,
    /// What was thrown so far.
    pub flights: Vec<Flight>,
    /// What was done from outside so far: with the same kits and first world it gives all of this again.
    pub recording: Recording,
    pipeline: Pipeline,
    recorders: Vec<(CharacterId, Recorder)>,
}

impl Performance {
    /// Begins with a world that there is already; a host helps with its searches.
    pub fn of(world: World, host: Arc<dyn Host>) -> Performance {
        Performance { world, pipeline: Pipeline::on(host), ..Performance::default() }
    }

    /// Plays ops for a number of ticks, and the one that shows where the last of them ends.
    pub fn play(kits: &[Arc<Kit>], ops: &[(u64, Op)], ticks: u64) -> Performance {
        let mut performance = Performance::default();
        let mut next = 0;
        let mut due: Vec<Op> = Vec::new();
        for tick in 0..=ticks {
            due.clear();
            while let Some((_, op)) = ops.get(next).filter(|(when, _)| *when <= tick) {
                due.push(op.clone());
                next += 1;
            }
            performance.step(kits, &due);
        }
        performance
    }

    /// One tick.
    pub fn step(&mut self, kits: &[Arc<Kit>], ops: &[Op]) {
        let tick = self.world.tick;
        self.recording.extend(ops.iter().map(|op| (tick, op.clone())));
        let seconds = (tick + 1) as f32 / TICKS as f32;
        let events = self.pipeline.step(kits, &mut self.world, ops);
        for event in events {
            match &event.kind {
                EventKind::Thrown { ball, flying } => {
                    let at = self.world.characters.get(flying.at).map(|m| m.name.clone()).unwrap_or_default();
                    let path = vec![(tick as f32 / TICKS as f32, flying.place(tick))];
                    let least = f32::INFINITY;
                    self.flights.push(Flight { id: *ball, ball: *flying, at, path, end: None, least });
                }
                EventKind::BallEnded { ball, outcome, part, at, least } => {
                    if let Some(flight) = self.flights.iter_mut().find(|f| f.id == *ball) {
                        flight.end = Some((*outcome, seconds, *part));
                        flight.least = *least;
                        flight.path.push((seconds, *at));
                    }
                }
                _ => {}
            }
        }
        self.events.extend_from_slice(events);
        for flight in self.flights.iter_mut().filter(|f| f.end.is_none()) {
            if let Some(ball) = self.world.balls.get(flight.id) {
                flight.path.push((seconds, ball.place(self.world.tick)));
                flight.least = ball.least;
            }
        }
        for (who, began) in self.pipeline.began() {
            let character = &self.world.characters[*who].character;
            let at = match self.recorders.iter().position(|r| r.0 == *who) {
                Some(at) => at,
                None => {
                    self.recorders.push((*who, Recorder::default()));
                    self.recorders.len() - 1
                }
            };
            self.recorders[at].1.record(character, *began);
        }
    }

    /// The takes, one for each character in the order they came on.
    pub fn takes(&self) -> Result<Vec<Take>, ClipError> {
        let take = |(who, recorder): &(CharacterId, Recorder)| {
            let member = &self.world.characters[*who];
            recorder.clone().finish(&member.name, member.character.library().skeleton())
        };
        self.recorders.iter().map(take).collect()
    }
}
