//! Walking to a goal: planned from where the committed legs end, around what stands in the way, past others in time.

use kumite_motion::align::Planar;
use kumite_motion::graph::stand;
use kumite_motion::rotation::wrap;
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{EdgeIdx, FrameIdx, Layer, Quat, SpanKind, Vec2, Vec3};
use kumite_plan::walk::WalkConfig;
use kumite_plan::{Leg, Plan};

use super::{STOP, Turn};
use crate::op::{Event, EventKind, NoWay};
use crate::reserve::{self, Track};
use crate::walk::{Attempt, Route, WalkOutcome, WalkRequest, Walker};
use crate::walk_trial::WalkSearched;
use crate::world::{Doing, Goal, Wish};
use crate::{Character, TICKS};

/// Seconds ahead that ways are compared.
const HORIZON: f32 = 20.0;
/// Less room than this nobody stands up in, metres.
const TIGHT: f32 = 0.0;
/// Ticks between two looks of a walker at who might have got in its way, and how many seconds ahead it looks.
const LOOK: u64 = 24;
const FORESEEN: f32 = 1.2;
/// Nobody who is farther away than this gets in the way within that time, metres.
const FAR: f32 = 5.0;
/// A walker stops for whoever would come this near, metres.
const TOUCH: f32 = 0.03;
/// Seconds until a walker who finds no way looks again: twice as long each time, as far as the second.
const AGAIN: (f32, f32) = (0.5, 4.0);

/// Within so many seconds somebody who is not walking looks for a moment to get into a walk, and how far apart these are.
const JOINS: (f32, f32) = (0.8, 0.05);
/// A walk that begins with its back to the goal is as bad as one that begins so many seconds later, by radian.
const TURNED: f32 = 0.15;
/// How many of them are tried before the way along fighters' edges is.
const TRIED: usize = 3;

/// Where a walk begins.
struct Start {
    /// Fighters' edges that lead there from where the edge being played ends.
    way: Vec<Leg>,
    /// Its first leg, and what lays that over the stage.
    first: (Leg, Planar),
    /// When what is being played is left for it, path seconds from now; `None` at the end of its edge.
    leave: Option<f32>,
    /// Whether the character has not begun anything, so that any other first edge will do.
    free: bool,
}

impl Turn<'_> {
    /// A walk ends where it was planned to, which may be within a leg: from there one stands.
    pub(super) fn arrive(&mut self) {
        let place = self.character().pose().root();
        let idle = self.kit.standing().map(|edge| self.in_place(edge, 0.0, STOP));
        let member = &mut self.world.characters[self.who];
        let off = match &member.wish {
            Wish::Walk(goal) => (Vec2::new(place.x, place.z) - goal.at).length(),
            _ => 0.0,
        };
        if let Some(leg) = idle {
            member.character.commit(Plan::at_once(leg));
        }
        (member.doing, member.wish) = (Doing::Arrived, Wish::Stay);
        let tick = self.world.tick;
        self.events.push(Event { tick, who: Some(self.who), kind: EventKind::Arrived { off } });
    }

    /// Stops a walk that somebody got in the way of meanwhile.
    pub(super) fn watch_way(&mut self) {
        let member = &self.world.characters[self.who];
        if !(matches!(member.doing, Doing::Walking(_)) && self.world.tick.is_multiple_of(LOOK)) {
            return;
        }
        let place = member.character.pose().root();
        let own = &mut self.scratch.own;
        own.follow(&member.character, FORESEEN);
        let mut met = false;
        for (id, other) in &self.world.characters {
            if id == self.who || (other.character.pose().root() - place).length() > FAR {
                continue;
            }
            self.scratch.other.follow(&other.character, FORESEEN);
            met |= own.room(0, std::slice::from_ref(&self.scratch.other), &[], TOUCH) < TOUCH;
        }
        if met {
            self.give_up(NoWay::Somebody);
        }
    }

    /// Plans a walk from where the committed legs end.
    pub(super) fn walk(&mut self, goal: &Goal) {
        let planned = self.plan_walk(goal);
        match planned {
            Ok((walking, route)) => {
                let seconds = self.until_walk(&walking, &route);
                let member = &mut self.world.characters[self.who];
                member.character = walking;
                member.refused = 0;
                member.doing = Doing::Walking(self.world.tick + (seconds * TICKS as f32).round() as u64);
                let what = format!("walks to [{:.2}, {:.2}]", goal.at.x, goal.at.y);
                let why = format!(
                    "{:.1} s, {} transitions, after {} paths",
                    route.seconds, route.transitions, route.evaluations
                );
                self.tell(what, why);
            }
            Err(why) => self.give_up(why),
        }
    }

    /// Seconds until a walk that was taken up arrives: it may end within its last leg.
    fn until_walk(&self, walking: &Character, route: &Route) -> f32 {
        let graph = self.kit.graph();
        let playing = walking.playing();
        let last = route.legs.len() + 1;
        let before = walking.legs().len().checked_sub(last);
        let Some(before) = before else { return route.seconds };
        let legs = walking.legs().iter().take(before).map(|leg| leg.seconds(graph));
        playing.left(graph) + legs.sum::<f32>() + route.seconds
    }

    /// The character with a walk committed, or why there is none.
    fn plan_walk(&mut self, goal: &Goal) -> Result<(Character, Route), NoWay> {
        let walker = self.kit.walker().ok_or(NoWay::Library)?;
        let mut walking = self.character().clone();
        if !self.has_not_begun() {
            // What was only meant to pass the time is left out, so that the walk begins where the edge being played ends.
            walking.commit(Plan::edges(&[]));
        }
        let start = self.start_of_walk(&walking, goal)?;
        start.way.iter().for_each(|leg| walking.append(*leg));
        let others = reserve::others(self.world, self.who, HORIZON);
        let room = |walking: &Character, obstacles: &[Obstacle]| {
            Track::of(walking, HORIZON).room(0, &others, obstacles, reserve::KEEP)
        };
        if !start.way.is_empty() && room(&walking, &self.world.obstacles) < TIGHT {
            return Err(NoWay::Room);
        }
        let route = self.find_route(walker, goal, &start)?;
        let legs = |first: Leg| std::iter::once(first).chain(route.legs.iter().copied());
        if start.free {
            // The search may have chosen another first step.
            let align = walker.align(&walking, route.start);
            let first = Leg { join: Some((align, 0.0)), ..Leg::whole(route.start.0) };
            walking.commit(Plan { legs: legs(first).collect(), ..Plan::at_once(first) });
        } else if start.leave.is_some() {
            walking.commit(Plan { legs: legs(start.first.0).collect(), leave: start.leave, ..Plan::edges(&[]) });
        } else {
            legs(start.first.0).for_each(|leg| walking.append(leg));
        }
        // Somebody will be in the way at the time: let them pass.
        if room(&walking, &[]) < reserve::KEEP {
            return Err(NoWay::Somebody);
        }
        Ok((walking, route))
    }

    /// Whether the character stands in the first frame of a walk that was not taken up yet.
    fn has_not_begun(&self) -> bool {
        let (character, playing) = (self.character(), self.character().playing());
        let walks = self.kit.graph().edge(playing.edge).layer == Layer::Walk;
        character.legs().is_empty() && playing.since == 0.0 && walks
    }

    /// Where a walk can begin: by a join into one out of what is being played, or where fighters' edges lead to walks. Each try takes another first step.
    fn start_of_walk(&self, character: &Character, goal: &Goal) -> Result<Start, NoWay> {
        let playing = character.playing();
        let free = self.has_not_begun();
        if free {
            let first = (Leg::whole(playing.edge), character.placement());
            return Ok(Start { way: Vec::new(), first, leave: None, free });
        }
        let tried = self.world.characters[self.who].refused as usize;
        let mut joins = self.joins_into_walk(character, goal);
        let way = self.way_to_walk(character, tried);
        if tried < joins.len().min(TRIED) || way.is_err() && !joins.is_empty() {
            let at = tried % joins.len();
            return Ok(joins.swap_remove(at));
        }
        way
    }

    /// The way along fighters' edges from where the edge being played ends to where walks begin.
    fn way_to_walk(&self, character: &Character, tried: usize) -> Result<Start, NoWay> {
        let graph = self.kit.graph();
        let (edges, door) = self.kit.way_to_walk(graph.edge(character.playing().edge).to).ok_or(NoWay::Stance)?;
        let way: Vec<Leg> = edges.into_iter().map(Leg::whole).collect();
        // The clip that goes on by itself first.
        let mut steps: Vec<EdgeIdx> = graph.leaving(door, Layer::Walk).collect();
        steps.sort_by_key(|edge| graph.edge(*edge).join.is_some());
        let edge = *steps.get(tried % steps.len().max(1)).ok_or(NoWay::Stance)?;
        let first = Leg::whole(edge);
        let lie = |placement: Planar, leg: &Leg| placement.after(&reserve::lay(character.library(), leg));
        let placement = way.iter().chain([&first]).fold(character.placement(), lie);
        Ok(Start { way, first: (first, placement), leave: None, free: false })
    }

    /// The moments at which what is being played can be left for a walk, the best first: soon, near, and towards the goal. One for each onset.
    fn joins_into_walk(&self, character: &Character, goal: &Goal) -> Vec<Start> {
        let (library, playing) = (self.kit.library(), character.playing());
        let (graph, interrupts) = (library.graph(), library.interrupts());
        let played = graph.edge(playing.edge);
        let clip = library.clip(played.clip);
        let until = JOINS.0.min(playing.left(graph));
        let mut found: Vec<(f32, usize, Start)> = Vec::new();
        for at in (0..).map(|step| step as f32 * JOINS.1).take_while(|at| *at < until) {
            let frame = (played.first.at() as f32 + (playing.since + at) * clip.fps()).round();
            let frame = FrameIdx((frame as u32).min(clip.frames() as u32 - 1));
            for (number, cost) in interrupts.at(played.clip, frame) {
                let onset = &interrupts.onsets()[number];
                if onset.kind != SpanKind::Walk || found.iter().any(|f| f.1 == number) {
                    continue;
                }
                let join = library.join_onset(played.clip, frame, onset, cost);
                let placement = character.placement().after(&join.0);
                let edge = graph.edge(onset.edge);
                let begins = placement.after(&stand(library.clip(edge.clip), edge.first));
                let wanted = goal.at - begins.shift;
                let turned = wrap(libm::atan2f(wanted.x, wanted.y) - begins.turn).abs();
                let first = Leg { enter: onset.enter, join: Some(join), ..Leg::whole(onset.edge) };
                let score = at + cost + TURNED * turned;
                let start = Start { way: Vec::new(), first: (first, placement), leave: Some(at), free: false };
                found.push((score, number, start));
            }
        }
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.into_iter().map(|f| f.2).collect()
    }

    /// Searches a way and rehearses it.
    fn find_route(&mut self, walker: &Walker, goal: &Goal, start: &Start) -> Result<Route, NoWay> {
        let first = (start.first.0.edge, start.first.1);
        let begins = walker.place_of(first.0, &first.1);
        let request = WalkRequest {
            name: self.world.characters[self.who].name.clone(),
            at: begins.shift,
            facing: begins.turn,
            begin: None,
            goal: goal.at,
            goal_facing: goal.facing,
            action: goal.action.clone(),
            waypoints: goal.waypoints.clone(),
            obstacles: self.in_the_way(),
        };
        let member = &self.world.characters[self.who];
        let (search, own) = (goal.search, member.chance.clone().next().into());
        // The same search would fail again.
        let seed = search.seed.unwrap_or(own).wrapping_add(member.refused.into());
        let attempt = Attempt::new(walker, &request, search.method, search.effort, WalkConfig::default(), seed)?;
        // Whoever stands in a clip of its own choice begins with that one.
        let any = start.free && walker.start_edge(None) == Some(first.0);
        let attempt = if any { attempt } else { attempt.starting_at(first) };
        let attempt = attempt.run(self.host)?;
        let (tick, who, outcome) = (self.world.tick, Some(self.who), attempt.outcome);
        let kind = EventKind::Searched(Box::new(WalkSearched::of(&attempt)));
        self.events.push(Event { tick, who, kind });
        let will_do = |_: &_| search.anyway || outcome == WalkOutcome::Arrived;
        attempt.legs().filter(will_do).ok_or(NoWay::NotFound(outcome))
    }

    /// Stands and looks again later.
    fn give_up(&mut self, why: NoWay) {
        let tick = self.world.tick;
        let playing = self.character().playing().edge;
        let stands = match self.kit.graph().edge(playing).layer {
            Layer::Walk => self.kit.is_idle(playing),
            // Fighters' steps to where walks begin need room: whoever has none stands where it is.
            Layer::Fight => why != NoWay::Room && self.world.characters[self.who].refused == 0,
        };
        if !stands {
            let stand = self.kit.standing().map(|edge| self.in_place(edge, 0.0, STOP));
            if let Some(leg) = stand {
                self.world.characters[self.who].character.commit(Plan::at_once(leg));
            }
        }
        let member = &mut self.world.characters[self.who];
        let wait = (AGAIN.0 * (1u32 << member.refused.min(8)) as f32).min(AGAIN.1);
        member.refused += 1;
        member.doing = Doing::Waiting(tick + (wait * TICKS as f32) as u64);
        self.events.push(Event { tick, who: Some(self.who), kind: EventKind::NoWay { why } });
    }

    /// Obstacles, and everybody else as posts where they stand and will stand.
    fn in_the_way(&self) -> Vec<Obstacle> {
        let mut all = self.world.obstacles.clone();
        let post = |at: Vec2| Obstacle {
            shape: Shape::Cylinder { half: 0.9, radius: reserve::DISC },
            at: Vec3::new(at.x, 0.9, at.y),
            turn: Quat::IDENTITY,
        };
        for track in reserve::others(self.world, self.who, HORIZON) {
            // Whoever walks on is avoided in time, not in space.
            all.extend(track.end().map(post));
        }
        all
    }
}
