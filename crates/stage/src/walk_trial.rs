//! Walks as a world plays them: one character, a goal, what stands in the way; and what can be measured on it.

use std::sync::Arc;

use kumite_motion::Vec2;
use kumite_motion::rotation::wrap;
use kumite_plan::walk::{WalkCounts, WalkError, WalkPath};

use crate::course::{self, Course};
use crate::op::{Begin, EventKind, NoWay, Op, Spawn};
use crate::walk::{Attempt, WalkOutcome, WalkRequest};
use crate::world::{Goal, Perception, WalkSearch, Wish, World};
use crate::{Host, Kit, Performance, TICKS, Take, overlap};

/// What a search for a way came to.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkSearched {
    /// As rehearsed.
    pub outcome: WalkOutcome,
    /// What was done.
    pub counts: WalkCounts,
    /// Length of the straightened way, metres.
    pub expected: f32,
    /// Its corners.
    pub route: Vec<Vec2>,
    /// What it has to turn at least, radians.
    pub least_turning: f32,
    /// The best that was found.
    pub best: Option<FoundPath>,
}

/// A path that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPath {
    /// As planned.
    pub path: WalkPath,
    /// How far from the goal it ends before its last steps are bent: metres, radians.
    pub before: (f32, f32),
    /// Transitions played.
    pub transitions: usize,
    /// How long it takes.
    pub seconds: f32,
}

impl WalkSearched {
    pub(crate) fn of(attempt: &Attempt<'_>) -> WalkSearched {
        let best = attempt.best.as_ref().map(|(walked, path)| FoundPath {
            path: path.clone(),
            before: walked.before,
            transitions: walked.transitions,
            seconds: attempt.legs().map_or(0.0, |route| route.seconds),
        });
        WalkSearched {
            outcome: attempt.outcome,
            counts: attempt.counts,
            expected: attempt.expected,
            route: attempt.route.clone(),
            least_turning: attempt.least_turning,
            best,
        }
    }
}

/// A walk that was played, from its first tick to the one in which it arrives.
#[derive(Clone, Debug)]
pub struct PlayedWalk {
    /// The motion.
    pub take: Take,
    /// How far the centre of mass is from the goal at the end, along the floor, metres.
    pub off: f32,
    /// How far the facing is from the goal's, radians; 0 if any will do.
    pub turned: f32,
    /// What it looks like from above.
    pub course: Course,
    /// Frames in which a part of the body is in an obstacle, or goes through one on the way to the next.
    pub collision_frames: usize,
    /// Deepest overlap, metres.
    pub penetration: f32,
}

/// What became of a request to walk.
#[derive(Clone, Debug)]
pub struct WalkTrial {
    /// The search.
    pub searched: WalkSearched,
    /// What was played of what it found.
    pub played: Option<PlayedWalk>,
}

impl WalkRequest {
    /// The request as the ops of a first tick.
    pub fn ops(&self, search: WalkSearch) -> Vec<Op> {
        let goal = Goal {
            at: self.goal,
            facing: self.goal_facing,
            action: self.action.clone(),
            waypoints: self.waypoints.clone(),
            search,
        };
        let spawn = Spawn {
            name: self.name.clone(),
            kit: 0,
            at: self.at,
            facing: self.facing,
            begin: self.begin.as_deref().map(Begin::parse),
            wish: Wish::Walk(goal),
            perception: Perception::default(),
            seed: 0,
        };
        self.obstacles.iter().map(|o| Op::Place(*o)).chain([Op::Spawn(spawn)]).collect()
    }

    /// Plays the request until the walker arrives, or finds no way. Fails where nothing can be searched for.
    pub fn play(&self, kits: &[Arc<Kit>], search: WalkSearch, host: &Arc<dyn Host>) -> Result<WalkTrial, WalkError> {
        let mut performance = Performance::of(World::default(), Arc::clone(host));
        performance.step(kits, &self.ops(search));
        let (mut searched, mut goes) = (None, true);
        for event in &performance.events {
            match &event.kind {
                EventKind::Searched(found) => searched = Some((**found).clone()),
                EventKind::NoWay { why: NoWay::Refused(error) } => return Err(error.clone()),
                EventKind::NoWay { .. } => goes = false,
                _ => {}
            }
        }
        let searched = searched.ok_or(WalkError::NoWalk)?;
        let Some(ticks) = searched.best.as_ref().filter(|_| goes).map(|b| (b.seconds * TICKS as f32).round() as u64)
        else {
            return Ok(WalkTrial { searched, played: None });
        };
        for _ in 0..ticks {
            performance.step(kits, &[]);
        }
        let take = performance.takes().ok().and_then(|takes| takes.into_iter().next());
        Ok(WalkTrial { played: take.map(|take| self.measure(take)), searched })
    }

    fn measure(&self, take: Take) -> PlayedWalk {
        let course = Course::of(&take.clip);
        let facing = course::facing(&take.clip, take.clip.frames() - 1);
        let met = overlap::with_obstacles(&take.clip, &self.obstacles);
        PlayedWalk {
            off: (course.end - self.goal).length(),
            turned: self.goal_facing.map_or(0.0, |wanted| wrap(facing - wanted).abs()),
            course,
            collision_frames: met.frames,
            penetration: met.deepest,
            take,
        }
    }
}
