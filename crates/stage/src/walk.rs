//! A planned walk on the stage: where a character begins, how a path is played, and what became of it.

use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::library::Library;
use kumite_motion::rotation::wrap;
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{Chance, Clip, ClipError, EdgeIdx, FrameIdx, Quat, SpanKind, Vec2, Vec3};
use kumite_plan::walk::{
    DistanceField, Effort, GlobalFrame, GoalFitConfig, Method, Nudges, ObstacleGrid, Query, Solver, Tables, Task,
    Transition, WalkConfig, WalkCounts, WalkError, WalkPath, Walls, least_turning,
};
use kumite_plan::{Alone, Pool};
use kumite_plan::{Leg, Plan};

use crate::course::{self, Course};
use crate::scene::Scene;
use crate::{Character, Host, Recorder, TICKS, Take, overlap};

/// A library to walk with, and its tables.
#[derive(Clone, Debug)]
pub struct Walker {
    library: Arc<Library>,
    tables: Tables,
    /// Whether walks begin slowly where nothing says with what.
    slowly: bool,
}

/// A walk that was played.
#[derive(Clone, Debug)]
pub struct Walked {
    /// The motion.
    pub take: Take,
    /// How far the centre of mass is from the goal at the end, along the floor, metres.
    pub off: f32,
    /// How far the facing is from the goal's, radians; 0 if any will do.
    pub turned: f32,
    /// The same before the last steps were bent, as planned.
    pub before: (f32, f32),
    /// What it looks like from above.
    pub course: Course,
    /// Transitions played.
    pub transitions: usize,
    /// Frames in which a part of the body is in an obstacle, or goes through one on the way to the next.
    pub collision_frames: usize,
    /// Deepest overlap, metres.
    pub penetration: f32,
    /// Deepest overlap with each obstacle, metres.
    pub depths: Vec<f32>,
    /// The edge it began with, and what laid its clip over the stage.
    pub start: (EdgeIdx, Planar),
    /// Its transitions, the last ones fitted to the goal.
    pub played: Vec<Transition>,
}

/// Who travels slower than this may have stood a moment before, metres per second: half of a slow walk.
const SLOW: f32 = 0.4;
/// Over this time, seconds.
const BEGINS: f32 = 0.1;

impl Walker {
    /// Works the tables out; `bends` lets clips be bent a little on the way.
    pub fn new(library: Arc<Library>, bends: Option<&Nudges>) -> Walker {
        let tables = Tables::of(&library, bends);
        Walker { library, tables, slowly: false }
    }

    /// Lets walks begin with somebody who stands or goes slowly, where nothing says with what, instead of in the first stride there is.
    #[must_use]
    pub fn beginning_slowly(self) -> Walker {
        Walker { slowly: true, ..self }
    }

    /// Its library.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// What searches need to know.
    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    /// The clips to walk with, in the order of the tables.
    fn clips(&self) -> impl Iterator<Item = &Clip> {
        self.tables.clip_ids().iter().map(|clip| self.library.clip(*clip))
    }

    /// The edge a walk begins with: the first of a clip that goes on by itself, of the clip named or else of the first that walks; if it is to begin
    /// slowly, of the first that does, or of the one that begins slowest.
    pub fn start_edge(&self, clip: Option<&str>) -> Option<EdgeIdx> {
        let clips: Vec<&Clip> = self.clips().collect();
        let first = |index: usize| self.tables.onward(index).first().map(|o| o.1);
        match clip {
            Some(name) => first(clips.iter().position(|c| c.name == name)?),
            None => {
                let walks = |c: &Clip| c.spans.iter().any(|s| matches!(s.kind, SpanKind::Walk | SpanKind::Run));
                let waits = |c: &Clip| c.spans.iter().any(|s| s.kind == SpanKind::Idle);
                let all = || 0..clips.len();
                let waiting = || all().filter(|i| self.slowly && waits(clips[*i]));
                let order = || all().filter(|i| walks(clips[*i])).chain(waiting()).chain(all());
                let edges = || order().filter_map(first);
                if !self.slowly {
                    return edges().next();
                }
                let slowest = || edges().min_by(|a, b| self.begins_at(*a).total_cmp(&self.begins_at(*b)));
                edges().find(|edge| self.begins_at(*edge) < SLOW).or_else(slowest)
            }
        }
    }

    /// How fast the hips travel along the ground where an edge begins, metres per second.
    fn begins_at(&self, edge: EdgeIdx) -> f32 {
        let edge = self.library.graph().edge(edge);
        let clip = self.library.clip(edge.clip);
        let span = (BEGINS * clip.fps()).max(1.0) as u32;
        let later = (edge.first.0 + span).min(clip.frames() as u32 - 1);
        let moved = clip.root(FrameIdx(later)) - clip.root(edge.first);
        Vec2::new(moved.x, moved.z).length() * clip.fps() / (later.saturating_sub(edge.first.0)).max(1) as f32
    }

    /// All edges that a walk may begin with, where nothing says which: that of [`Walker::start_edge`] first, then those of clips that wait,
    /// from which every way is open, then those of other clips.
    pub fn beginnings(&self) -> Vec<EdgeIdx> {
        let clips: Vec<&Clip> = self.clips().collect();
        let waits = |i: &usize| clips[*i].spans.iter().any(|s| s.kind == SpanKind::Idle);
        let order = (0..clips.len()).filter(waits).chain((0..clips.len()).filter(|i| !waits(i)));
        let others = order.filter_map(|i| self.tables.onward(i).first().map(|o| o.1));
        let mut all: Vec<EdgeIdx> = self.start_edge(None).into_iter().collect();
        for edge in others {
            if !all.contains(&edge) {
                all.push(edge);
            }
        }
        all
    }

    /// Someone who stands at a place, about to walk.
    pub fn spawn(&self, begin: EdgeIdx, at: Vec2, facing: f32) -> Character {
        Character::on(Arc::clone(&self.library), begin, at, facing)
    }

    /// Where the root of an edge's first frame stands and how it faces, its clip laid over the stage by `placement`.
    pub fn place_of(&self, edge: EdgeIdx, placement: &Planar) -> Planar {
        let edge = self.library.graph().edge(edge);
        placement.after(&kumite_motion::graph::stand(self.library.clip(edge.clip), edge.first))
    }

    /// What lays an edge that begins at a placement over what a character plays.
    pub fn align(&self, character: &Character, start: (EdgeIdx, Planar)) -> Planar {
        character.placement().inverse().after(&start.1)
    }

    /// What such a character asks.
    pub fn query(&self, character: &Character, goal: Vec2, facing: Option<f32>, action: Option<&str>) -> Query {
        Query {
            start: (character.playing().edge, character.placement()),
            goal,
            facing,
            action: action.map(str::to_owned),
            waypoints: Vec::new(),
        }
    }

    /// The edges of a path after its first, each with what lays it over the one before where the graph does not, and how long all of it is.
    pub fn edges(
        &self,
        begin: EdgeIdx,
        transitions: &[Transition],
        end: GlobalFrame,
    ) -> (Vec<(EdgeIdx, Option<Planar>)>, f32) {
        let graph = self.library.graph();
        let tables = &self.tables;
        let first = graph.edge(begin);
        let mut edges = Vec::new();
        let mut frames = 0u32;
        let (mut entered, mut at) = (tables.at(first.clip, first.first), tables.at(first.clip, first.last));
        // Plays the clip on until a frame is passed.
        let go_on = |at: &mut GlobalFrame, until: GlobalFrame, edges: &mut Vec<(EdgeIdx, Option<Planar>)>| {
            let onward = tables.onward(tables.clip(*at));
            while *at < until {
                let Some((_, edge, next)) = onward.iter().find(|o| o.0 == *at) else { return };
                edges.push((*edge, None));
                *at = *next;
            }
        };
        for step in transitions {
            go_on(&mut at, step.from, &mut edges);
            frames += step.from - entered;
            let own = graph.edge(step.edge).join.map(|e| e.align);
            let align = step.align.planar();
            edges.push((step.edge, (own != Some(align)).then_some(align)));
            // A bend may not be left again as soon as its edge ends.
            let played = graph.edge(step.edge);
            (entered, at) = (step.to, tables.at(played.clip, played.last));
        }
        go_on(&mut at, end, &mut edges);
        frames += end.saturating_sub(entered);
        (edges, frames as f32 / tables.fps)
    }

    /// An edge, laid over the one before as `align` says where the graph does not.
    fn leg(&self, edge: EdgeIdx, align: Option<Planar>) -> Leg {
        let blend = self.library.graph().edge(edge).join.map_or(1.0 / 3.0, |join| join.blend);
        Leg { join: align.map(|align| (align, blend)), ..Leg::whole(edge) }
    }

    /// Plays a path, as its steps were bent, and looks at what came out.
    fn play(
        &self,
        character: &Character,
        transitions: &[Transition],
        path: &WalkPath,
        before: (f32, f32),
        request: &WalkRequest,
    ) -> Result<Walked, ClipError> {
        let (begin, placement) = (character.playing().edge, character.placement());
        let (edges, seconds) = self.edges(begin, transitions, path.end);
        let mut character = character.clone();
        let legs = edges.iter().map(|(edge, align)| self.leg(*edge, *align)).collect();
        character.commit(Plan { legs, ..Plan::edges(&[]) });
        let mut recorder = Recorder::default();
        recorder.record(&character, None);
        for _ in 0..(seconds * TICKS as f32).round() as u32 {
            let began = character.step(|_, next| next[0]);
            recorder.record(&character, began);
        }
        let take = recorder.finish("walk", self.library.skeleton())?;
        let course = Course::of(&take.clip);
        let facing = course::facing(&take.clip, take.clip.frames() - 1);
        let off = (course.end - request.goal).length();
        let turned = request.goal_facing.map_or(0.0, |f| wrap(facing - f).abs());
        let obstacles = &request.obstacles;
        let met = overlap::with_obstacles(&take.clip, obstacles);
        Ok(Walked {
            off,
            turned,
            before,
            course,
            transitions: path.transitions.iter().filter(|s| s.from != s.to).count(),
            collision_frames: met.frames,
            penetration: met.deepest,
            depths: met.depths,
            take,
            start: (begin, placement),
            played: transitions.to_vec(),
        })
    }
}

/// What a character of a scene wants.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkRequest {
    /// Who walks.
    pub name: String,
    /// Where it stands, metres.
    pub at: Vec2,
    /// How, radians.
    pub facing: f32,
    /// The clip it begins with.
    pub begin: Option<String>,
    /// Where it wants to be.
    pub goal: Vec2,
    /// How to face there, radians.
    pub goal_facing: Option<f32>,
    /// What to do there.
    pub action: Option<String>,
    /// Places to pass.
    pub waypoints: Vec<Vec2>,
    /// What stands in the way.
    pub obstacles: Vec<Obstacle>,
}

impl WalkRequest {
    /// Of the first character with a goal.
    pub fn first(scene: &Scene) -> Option<WalkRequest> {
        (0..scene.character.len()).find_map(|who| WalkRequest::of(scene, who))
    }

    /// Of one character, if it has a goal.
    pub fn of(scene: &Scene, who: usize) -> Option<WalkRequest> {
        let actor = scene.character.get(who)?;
        let goal = actor.goal.as_ref()?;
        Some(WalkRequest {
            name: actor.name.clone(),
            at: Vec2::from_array(actor.at),
            facing: actor.facing.to_radians(),
            begin: actor.begin.clone(),
            goal: Vec2::from_array(goal.at),
            goal_facing: goal.facing.map(f32::to_radians),
            action: goal.action.clone(),
            waypoints: actor.path.iter().map(|p| Vec2::from_array(*p)).collect(),
            obstacles: scene.obstacles(),
        })
    }
}

/// A scene of boxes by chance: each is resized, turned and moved (Chen and Steed, § 6). What stands in start or goal is left out, and scenes
/// without a way for a disc of 25 cm are drawn again.
pub fn clutter(request: &WalkRequest, seed: u64) -> WalkRequest {
    let mut chance = Chance::new(seed);
    let mut made = request.clone();
    for _ in 0..100 {
        made.obstacles = request.obstacles.iter().map(|o| shaken(o, &mut chance)).collect();
        // Nobody can begin in a box, and nobody is asked to end in one.
        let clear = |o: &Obstacle| {
            let flat = |p: Vec2| o.distance(Vec3::new(p.x, o.at.y, p.y));
            flat(request.at) > 0.6 && flat(request.goal) > 0.5
        };
        made.obstacles.retain(clear);
        if has_way(&made, 0.25) {
            break;
        }
    }
    made
}

/// Such a scene with no way to the goal: the goal or the start is walled in, a wall with a gap of 10 to 30 cm stands between them, or the goal lies
/// in an obstacle.
pub fn blocked(request: &WalkRequest, seed: u64) -> WalkRequest {
    let mut made = clutter(request, seed);
    let mut chance = Chance::new(seed ^ 0xb10c);
    let mut wall = |x: f32, z: f32, half: (f32, f32)| {
        let half = Vec3::new(half.0, 1.0, half.1);
        made.obstacles.push(Obstacle { shape: Shape::Box { half }, at: Vec3::new(x, 1.0, z), turn: Quat::IDENTITY });
    };
    let room = 0.9 + 0.6 * chance.unit();
    match chance.below(4) {
        0 | 1 => {
            let at = if chance.below(2) == 0 { request.at } else { request.goal };
            for side in [-room, room] {
                wall(at.x + side, at.y, (0.05, room + 0.05));
                wall(at.x, at.y + side, (room + 0.05, 0.05));
            }
        }
        2 => {
            let (gap, middle) = (0.05 + 0.1 * chance.unit(), 0.5 * (request.at + request.goal));
            let at = middle.x - 2.0 + 4.0 * chance.unit();
            wall(at - gap - 50.0, middle.y, (50.0, 0.1));
            wall(at + gap + 50.0, middle.y, (50.0, 0.1));
        }
        _ => wall(request.goal.x, request.goal.y, (0.2 + 0.3 * chance.unit(), 0.2 + 0.3 * chance.unit())),
    }
    made
}

/// A box of 20 to 80 cm, turned, and up to 1.2 m from where it was.
fn shaken(obstacle: &Obstacle, chance: &mut Chance) -> Obstacle {
    let mut between = |low: f32, high: f32| low + (high - low) * chance.unit();
    let half = 0.5 * Vec3::new(between(0.2, 0.8), between(0.2, 0.8), between(0.2, 0.8));
    let yaw = between(0.0, std::f32::consts::TAU);
    let (x, z) = (between(-1.2, 1.2), between(-1.2, 1.2));
    let at = Vec3::new(obstacle.at.x + x, half.y, obstacle.at.z + z);
    Obstacle { shape: Shape::Box { half }, at, turn: kumite_motion::rotation::yaw(yaw) }
}

/// Whether a disc gets from start to goal between obstacles of any height.
pub fn has_way(request: &WalkRequest, radius: f32) -> bool {
    let ground = ObstacleGrid::new(&request.obstacles, &[], request.at, request.goal, radius);
    let walls = Walls::new(&ground, 0.0, f32::INFINITY);
    DistanceField::new(&ground, &walls, request.goal, radius).route(request.at).is_some()
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WalkOutcome {
    /// At the goal, and nothing was touched.
    Arrived,
    /// No way leads there; the nearest place that can be reached.
    Blocked(Vec2),
    /// The method found no path, or none that ends near the goal.
    Lost,
    /// What was found touches an obstacle.
    Collides,
}

/// The largest errors at the goal that still count as there, metres and radians: before the last steps are bent.
pub const THERE: (f32, f32) = (0.12, 8.0 * std::f32::consts::PI / 180.0);
/// The same afterwards.
pub const CLOSE: (f32, f32) = (0.03, 2.0 * std::f32::consts::PI / 180.0);
/// How much farther an obstacle is kept from after a walk touched it, beside how deep that was, metres; and how much at most.
const MORE: f32 = 0.01;
const ROOM: f32 = 0.12;
/// Searches until a walk that arrives will do although it does not pass the gates.
const SOUND: u32 = 4;
/// After searches that found no way to the goal one looks twice as far, up to so many times.
const FARTHER: u32 = 3;
/// Searches in all.
const ROUNDS: u32 = 10;

/// A path that was found.
#[derive(Clone, Debug)]
struct Found {
    path: WalkPath,
    /// Its steps, the last ones bent.
    transitions: Vec<Transition>,
    /// How far from the goal it ends before they are: metres, radians.
    before: (f32, f32),
    /// Whether it is thought to touch nothing as bent.
    clear: bool,
}

/// One question, one method: searched, played, and searched again with more room where what was played touches something, or with another
/// first step where nothing leads out of where one stands.
#[derive(Clone, Debug)]
pub struct Attempt<'w> {
    walker: &'w Walker,
    request: &'w WalkRequest,
    character: Character,
    method: Method,
    effort: Effort,
    pool: &'w dyn Pool,
    config: WalkConfig,
    seed: u64,
    round: u32,
    /// Searches in a row in which nothing arrived.
    barren: u32,
    /// How much farther each obstacle is kept from, metres: those that were touched.
    room: Vec<f32>,
    /// Of the walker's beginnings, the one tried now.
    first_step: usize,
    /// Whether nothing led out of where it stands.
    stuck_at_start: bool,
    /// Whether no other first step may be tried.
    fixed_start: bool,
    /// The nearest place to the goal that is wide enough to be walked to, where the goal is not.
    closest: Option<Vec2>,
    /// Whether last steps were bent.
    bent: bool,
    /// What the last search found, first what is thought to touch nothing, then by cost.
    found: Vec<Found>,
    /// What was done in all rounds.
    pub counts: WalkCounts,
    /// States of informed starts in all rounds.
    pub states: usize,
    /// Length of the straightened way, metres.
    pub expected: f32,
    /// Its corners.
    pub route: Vec<Vec2>,
    /// What it has to turn at least, radians.
    pub least_turning: f32,
    /// The best that was played, and its path.
    pub best: Option<(Walked, WalkPath)>,
    /// What came of it.
    pub outcome: WalkOutcome,
}

/// A way that was found, to be played.
#[derive(Clone, Debug)]
pub struct Route {
    /// The edge it begins with, and what lays its clip over the stage.
    pub start: (EdgeIdx, Planar),
    /// What is played after it.
    pub legs: Vec<Leg>,
    /// How long all of it takes.
    pub seconds: f32,
    /// Transitions on it.
    pub transitions: usize,
    /// Paths that were judged to find it.
    pub evaluations: u64,
}

impl<'w> Attempt<'w> {
    /// Begins with this edge, laid over the stage like this, and no other.
    #[must_use]
    pub fn starting_at(mut self, (edge, placement): (EdgeIdx, Planar)) -> Attempt<'w> {
        let stands = self.walker.place_of(edge, &placement);
        self.character = self.walker.spawn(edge, stands.shift, stands.turn);
        self.fixed_start = true;
        self
    }

    /// The best that was played, as legs.
    pub fn legs(&self) -> Option<Route> {
        let best = self.best.as_ref()?;
        let begin = best.0.start.0;
        let (edges, seconds) = self.walker.edges(begin, &best.0.played, best.1.end);
        let legs = edges.iter().map(|(edge, align)| self.walker.leg(*edge, *align)).collect();
        let transitions = best.0.transitions;
        Some(Route { start: best.0.start, legs, seconds, transitions, evaluations: self.counts.evaluations })
    }

    /// Nothing is looked at yet. Fails where nothing can be looked for.
    pub fn new(
        walker: &'w Walker,
        request: &'w WalkRequest,
        method: Method,
        effort: Effort,
        config: WalkConfig,
        seed: u64,
    ) -> Result<Attempt<'w>, WalkError> {
        let begin = walker.start_edge(request.begin.as_deref()).ok_or(WalkError::NoWalk)?;
        if !(request.at.is_finite() && request.facing.is_finite()) {
            return Err(WalkError::BadNumber { what: "the start" });
        }
        let character = walker.spawn(begin, request.at, request.facing);
        Ok(Attempt {
            walker,
            request,
            character,
            method,
            effort,
            pool: &Alone,
            config,
            seed,
            round: 0,
            barren: 0,
            room: vec![0.0; request.obstacles.len()],
            first_step: 0,
            stuck_at_start: false,
            fixed_start: false,
            closest: None,
            bent: false,
            found: Vec::new(),
            counts: WalkCounts::default(),
            states: 0,
            expected: 0.0,
            route: Vec::new(),
            least_turning: 0.0,
            best: None,
            outcome: WalkOutcome::Lost,
        })
    }

    /// Lets a pool share the search. What is found does not depend on it.
    #[must_use]
    pub fn with_pool(self, pool: &'w dyn Pool) -> Attempt<'w> {
        Attempt { pool, ..self }
    }

    /// Searches and rehearses until it is there or nothing helps.
    pub fn run(mut self, host: &'w dyn Host) -> Result<Attempt<'w>, WalkError> {
        self.pool = host;
        loop {
            let mut searched = Ok(());
            host.search(&mut || searched = self.search(Some(&GoalFitConfig::default())));
            searched?;
            if self.judge() {
                return Ok(self);
            }
        }
    }

    /// Looks for paths; what takes time. `bends`: how far the last steps are bent.
    pub fn search(&mut self, approach: Option<&GoalFitConfig>) -> Result<(), WalkError> {
        let request = self.request;
        let mut query =
            self.walker.query(&self.character, request.goal, request.goal_facing, request.action.as_deref());
        query.waypoints.clone_from(&request.waypoints);
        self.found.clear();
        self.bent = approach.is_some();
        let (library, tables) = (&self.walker.library, &self.walker.tables);
        let task = match Task::with_room(library, tables, query, &request.obstacles, &self.room, self.config) {
            // Only this first step cannot be taken.
            Err(WalkError::StartCollides { .. }) if self.round > 0 => {
                self.stuck_at_start = true;
                return Ok(());
            }
            task => task?,
        };
        if self.round == 0 {
            self.closest = task.closest;
            if let Some(closest) = task.closest.filter(|_| task.route.is_none()) {
                self.outcome = WalkOutcome::Blocked(closest);
                return Ok(());
            }
            self.route = task.route.as_ref().map(|r| r.0.clone()).unwrap_or_default();
            self.least_turning = least_turning(&self.route, request.facing, request.goal_facing);
        }
        let seed = self.seed.wrapping_add(u64::from(self.round) << 40);
        let mut effort = self.effort;
        let farther = self.barren.min(FARTHER);
        (effort.states, effort.followed) = (effort.states << farther, effort.followed << farther);
        if task.closest.is_some() {
            // Most likely nobody fits through: a short look is enough.
            effort = Effort { starts: 1, states: effort.states / 2, followed: effort.followed / 8, ..effort };
        }
        let mut solver = Solver::new(&task, self.method, effort, seed).with_pool(self.pool);
        solver.run();
        self.stuck_at_start = solver.stuck_at_start() && self.method == Method::Walk;
        let counts = solver.counts();
        self.counts.evaluations += counts.evaluations;
        self.counts.followed += counts.followed;
        self.counts.minima += counts.minima;
        self.states += solver.states();
        if let Some(objective) = solver.objective() {
            if self.round == 0 {
                self.expected = objective.length;
            }
            for path in solver.found() {
                let last = path.transitions.iter().fold(objective.start.1, |place, step| place.after(&step.align));
                let (planned, heading) = objective.arrives(&last, path.end);
                let turned = objective.facing.map_or(0.0, |f| wrap(heading - f).abs());
                let before = ((planned - objective.goal).length(), turned);
                let (transitions, clear) =
                    approach.map_or_else(|| (path.transitions.clone(), true), |config| solver.fitted(path, config));
                let at = if clear { self.found.partition_point(|f| f.clear) } else { self.found.len() };
                self.found.insert(at, Found { path: path.clone(), transitions, before, clear });
            }
        }
        Ok(())
    }

    /// Plays what was found, best first, until one is at the goal and touches nothing. `true` if another search would help no more.
    pub fn judge(&mut self) -> bool {
        if matches!(self.outcome, WalkOutcome::Blocked(_)) {
            return true;
        }
        let (mut touched, mut any) = (false, false);
        for Found { path, transitions, before, .. } in std::mem::take(&mut self.found) {
            let there = before.0 <= THERE.0 && before.1 <= THERE.1;
            any |= there;
            // What ends elsewhere is not played in vain, unless there is nothing else.
            if !there && self.best.is_some() {
                continue;
            }
            let Ok(walked) = self.walker.play(&self.character, &transitions, &path, before, self.request) else {
                continue;
            };
            let close = !self.bent || (walked.off <= CLOSE.0 && walked.turned <= CLOSE.1);
            let outcome = match (walked.collision_frames, there && close) {
                (0, true) => WalkOutcome::Arrived,
                (0, false) => WalkOutcome::Lost,
                _ => WalkOutcome::Collides,
            };
            if there && walked.collision_frames > 0 && !touched {
                // The best of all is the one to learn from.
                touched = true;
                for (room, depth) in self.room.iter_mut().zip(&walked.depths).filter(|(_, depth)| **depth > 0.0) {
                    *room = (*room + depth + MORE).min(ROOM);
                }
            }
            let rank = |o: WalkOutcome, w: &Walked| {
                (o != WalkOutcome::Arrived, !w.take.quality.passes_at_joins(), w.collision_frames)
            };
            let better = self.best.as_ref().is_none_or(|b| rank(outcome, &walked) < rank(self.outcome, &b.0));
            if better {
                self.outcome = outcome;
                self.best = Some((walked, path));
            }
            if self.outcome == WalkOutcome::Arrived
                && self.best.as_ref().is_some_and(|b| b.0.take.quality.passes_at_joins())
            {
                return true;
            }
        }
        if !touched {
            // Some gaps bear no more room, only another path.
            self.room.iter_mut().for_each(|room| *room *= 0.5);
        }
        self.barren = if any { 0 } else { self.barren + 1 };
        self.round += 1;
        let arrived = self.outcome == WalkOutcome::Arrived;
        if arrived && self.round >= SOUND {
            return true;
        }
        if (self.stuck_at_start || !any || arrived) && self.request.begin.is_none() && !self.fixed_start {
            let all = self.walker.beginnings();
            self.first_step = (self.first_step + 1) % all.len().max(1);
            if let Some(edge) = all.get(self.first_step) {
                self.character = self.walker.spawn(*edge, self.request.at, self.request.facing);
            }
        }
        // Who fits through nothing that leads there is blocked; one search shows it.
        if let Some(closest) = self.closest.filter(|_| !arrived) {
            self.outcome = WalkOutcome::Blocked(closest);
            self.best = None;
            return true;
        }
        self.round >= ROUNDS || self.method == Method::Pff
    }
}
