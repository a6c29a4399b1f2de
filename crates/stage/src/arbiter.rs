//! Decides for one character, in this order: it was hit, it reacts; a ball is known, it dodges or blocks; it wants to be somewhere, it walks;
//! else it wanders or stays. Every plan that is committed is told with its reason.

use kumite_motion::align::Planar;
use kumite_motion::graph::stand;
use kumite_motion::rotation::{wrap, yaw_of};
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{EdgeIdx, JointIdx, NodeIdx, Quat, Role, SpanKind, Vec2, Vec3};
use kumite_plan::dodge::{DodgeDecision, DodgeScratch, Forecast};
use kumite_plan::walk::{Effort, GoalFitConfig, Method, WalkConfig};
use kumite_plan::{Layer, Leg, Plan, Threat};

use crate::op::{Event, EventKind};
use crate::walk::{Attempt, WalkOutcome, WalkRequest};
use crate::world::{Answer, BallId, CharacterId, Doing, Goal, Wish, World};
use crate::{Character, Kit, Playing, TICKS, reserve, sense};

/// Seconds that characters commit ahead: planners see at least these.
pub const AHEAD: f32 = 2.0;
/// Seconds ahead that ways are compared.
const HORIZON: f32 = 20.0;
/// Less room than this nobody stands up in, metres beyond a disc.
const TIGHT: f32 = -0.15;
/// Ticks between two looks at balls that seemed to miss.
const LOOK_AGAIN: u64 = 12;
/// A join into a reaction, seconds.
const FLINCH: f32 = 0.15;
/// Longest that a hit keeps somebody from deciding, seconds.
const STUNNED: f32 = 0.6;
/// A join into standing where a walk ends, seconds.
const STOP: f32 = 1.0 / 3.0;
/// Seconds until a walker who finds no way looks again.
const AGAIN: f32 = 0.5;

/// A touch that somebody has to react to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blow {
    /// What was hit.
    pub part: Role,
    /// From where the ball came, as a direction in the world.
    pub along: Vec3,
}

/// One character's turn to decide.
pub(crate) struct Turn<'a> {
    pub kit: &'a Kit,
    pub world: &'a mut World,
    pub who: CharacterId,
    pub events: &'a mut Vec<Event>,
    pub scratch: &'a mut DodgeScratch,
}

impl Turn<'_> {
    fn character(&self) -> &Character {
        &self.world.characters[self.who].character
    }

    fn tell(&mut self, what: String, why: String) {
        let (tick, who) = (self.world.tick, Some(self.who));
        self.events.push(Event { tick, who, kind: EventKind::Decided { what, why } });
    }

    /// Everything this character decides in a tick.
    pub(crate) fn decide(&mut self, blow: Option<Blow>, noticed: &[BallId]) {
        self.settle();
        if let Some(blow) = blow
            && self.react(&blow)
        {
            return;
        }
        if !noticed.is_empty() || self.looks_again() {
            self.defend();
        }
        self.go_on();
    }

    /// Whether it is time to look again at balls that nothing was done about: what is played next may have changed.
    fn looks_again(&self) -> bool {
        let member = &self.world.characters[self.who];
        let open = matches!(member.doing, Doing::Own | Doing::Walking(_) | Doing::Arrived | Doing::Waiting(_));
        open && self.world.tick.is_multiple_of(LOOK_AGAIN) && !member.known.is_empty()
    }

    /// What was being done is over when its legs are.
    fn settle(&mut self) {
        let tick = self.world.tick;
        let member = &mut self.world.characters[self.who];
        member.doing = match member.doing {
            Doing::Defending(until) | Doing::Reacting(until) | Doing::Waiting(until) if tick >= until => Doing::Own,
            doing => doing,
        };
        if let Doing::Walking(until) = member.doing
            && tick >= until
        {
            self.arrive();
        }
    }

    /// A walk ends where it was planned to, which may be within a leg: from there one stands.
    fn arrive(&mut self) {
        let place = self.character().pose().root();
        let idle = self.kit.idles(Layer::Walk).first().map(|edge| self.in_place(Layer::Walk, *edge, 0.0, STOP));
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

    /// Lays an edge, entered at some second, so that its root stands where the character's does and faces as it does.
    fn in_place(&self, layer: Layer, edge: EdgeIdx, enter: f32, blend: f32) -> Leg {
        let character = self.character();
        let library = character.repertoire().layer(layer);
        let played = library.graph().edge(edge);
        let clip = library.clip(played.clip);
        let frame = kumite_motion::FrameIdx(played.first.0 + (enter * clip.fps()) as u32);
        let pose = character.pose();
        let root = pose.root();
        let here = Planar { turn: yaw_of(pose.rotation(JointIdx::ROOT) * Vec3::Z), shift: Vec2::new(root.x, root.z) };
        let wanted = here.after(&stand(clip, frame).inverse());
        let align = character.placement().inverse().after(&wanted);
        Leg { join: Some((align, blend)), enter, ..Leg::whole(layer, edge) }
    }

    /// A reaction of the library to a hit, by what was hit and from which side.
    fn react(&mut self, blow: &Blow) -> bool {
        let kit = self.kit;
        let high = matches!(blow.part, Role::Head | Role::Neck);
        let low = matches!(
            blow.part,
            Role::LeftHip | Role::RightHip | Role::LeftKnee | Role::RightKnee | Role::LeftAnkle | Role::RightAnkle
        );
        let wanted = if high {
            "head"
        } else if low {
            "leg"
        } else {
            "body"
        };
        let turn = wrap(yaw_of(-blow.along) - sense::gaze(self.character()));
        let side = if turn > 0.0 { "left" } else { "right" };
        let score = |label: &str| 2 * i32::from(label.contains(wanted)) + i32::from(label.contains(side));
        let best = kit.reactions().iter().max_by_key(|r| (score(&r.label), std::cmp::Reverse(r.edge)));
        let Some(reaction) =
            best.filter(|_| !low || !matches!(self.world.characters[self.who].doing, Doing::Walking(_)))
        else {
            return false;
        };
        let leg = self.in_place(Layer::Fight, reaction.edge, reaction.enter, FLINCH);
        let seconds = kit.graph(Layer::Fight).edge(leg.edge).seconds - leg.enter;
        let until = self.world.tick + (seconds.min(STUNNED) * TICKS as f32) as u64;
        let member = &mut self.world.characters[self.who];
        member.character.commit(Plan::at_once(leg));
        (member.doing, member.answers) = (Doing::Reacting(until), Vec::new());
        self.tell(reaction.label.clone(), format!("hit on the {}", blow.part.name().replace('_', " ")));
        self.go_on();
        true
    }

    /// Balls it knows of that are still to come, as attacks from now on.
    fn threats(&self) -> Vec<(BallId, Threat)> {
        let tick = self.world.tick;
        let member = &self.world.characters[self.who];
        let delay = sense::delay(member);
        let known = member.known.iter().filter(|(_, since)| since + delay <= tick);
        known
            .filter_map(|(id, _)| {
                let ball = self.world.balls.get(*id)?;
                let left = ball.arrives - ball.age(tick);
                Some((*id, Threat::ball(&ball.from(tick), left).ok()?))
            })
            .collect()
    }

    fn defend(&mut self) {
        let threats = self.threats();
        if threats.is_empty() || matches!(self.world.characters[self.who].doing, Doing::Reacting(_)) {
            return;
        }
        let attacks: Vec<Threat> = threats.iter().map(|t| t.1.clone()).collect();
        let balls: Vec<BallId> = threats.iter().map(|t| t.0).collect();
        let playing = self.character().playing();
        if playing.layer == Layer::Walk {
            self.defend_walking(playing, &balls, &attacks);
            return;
        }
        let legs: Vec<Leg> = self.character().legs().iter().copied().collect();
        let ahead: Vec<EdgeIdx> = legs.iter().take_while(|l| l.layer == Layer::Fight).map(|l| l.edge).collect();
        let kit = self.kit;
        let character = &self.world.characters[self.who].character;
        match kit.defence().decide(character, &ahead, &attacks, self.scratch) {
            Ok(decision) => self.take_up(&decision, &balls, None, legs),
            Err(error) => self.tell("does nothing".into(), error.to_string()),
        }
    }

    /// A walker defends itself with what a fighter at the same frame of the same clip would do.
    fn defend_walking(&mut self, playing: Playing, balls: &[BallId], attacks: &[Threat]) {
        let kit = self.kit;
        let Some(as_fighter) = kit.as_fighter(playing) else { return };
        // Whether the walk itself is met is seen by walking a copy.
        if crate::dodge_referee::threatening(self.character(), &[], attacks).first.is_none() {
            return;
        }
        let mut fighter = self.character().clone();
        let here = Leg {
            enter: as_fighter.since,
            join: Some((Planar::IDENTITY, STOP)),
            ..Leg::whole(Layer::Fight, as_fighter.edge)
        };
        fighter.commit(Plan::at_once(here));
        let Ok(decision) = kit.defence().decide(&fighter, &[], attacks, self.scratch) else { return };
        self.take_up(&decision, balls, Some(here), Vec::new());
    }

    /// Commits a decision, if it helps.
    fn take_up(&mut self, decision: &DodgeDecision, balls: &[BallId], first: Option<Leg>, legs: Vec<Leg>) {
        if matches!(decision.forecast, Forecast::Clear | Forecast::Hit) {
            let why = match decision.forecast {
                Forecast::Clear => "the ball misses".to_owned(),
                _ => format!("nothing of {} candidates helps", decision.counts.tested),
            };
            return self.tell("goes on".into(), why);
        }
        let edges = decision.edges.iter().map(|edge| Leg::whole(Layer::Fight, *edge));
        let onward: Vec<Leg> = if decision.edges.is_empty() { legs } else { edges.collect() };
        let plan = Plan {
            now: first.is_some(),
            legs: first.into_iter().chain(onward).collect(),
            warp: decision.warp.clone(),
            bend: decision.bend,
        };
        let guard = decision.block.map(|b| b.wrist);
        let bent = decision.bend.map_or(0.0, |bend| bend.fall.1);
        let member = &mut self.world.characters[self.who];
        member.character.commit(plan);
        member.answers = balls.iter().map(|ball| Answer { ball: *ball, guard }).collect();
        let until = self.world.tick + (self.left().max(bent) * TICKS as f32) as u64;
        self.world.characters[self.who].doing = Doing::Defending(until);
        for ball in balls {
            if let Some(ball) = self.world.balls.get_mut(*ball) {
                ball.answered = true;
            }
        }
        let what = match (decision.block, decision.span) {
            (Some(_), _) => "blocks".to_owned(),
            (None, Some(span)) => self.label(decision, span),
            (None, None) => "bends".to_owned(),
        };
        let why = format!("{} candidates, clears by {:.0} cm", decision.counts.tested, 100.0 * decision.clearance);
        self.tell(what, why);
    }

    fn label(&self, decision: &DodgeDecision, span: u32) -> String {
        let library = self.kit.library();
        let edge = decision.edges.last().copied().unwrap_or(self.character().playing().edge);
        let clip = library.clip(library.graph().edge(edge).clip);
        let label = clip.spans.get(span as usize).map(|s| s.label.clone()).unwrap_or_default();
        if label.is_empty() { clip.name.clone() } else { label }
    }

    /// Keeps what is committed long enough, by what the character wants.
    fn go_on(&mut self) {
        let member = &self.world.characters[self.who];
        if let (Wish::Walk(goal), Doing::Own) = (&member.wish, member.doing) {
            let goal = goal.clone();
            self.walk(&goal);
        }
        while self.left() < AHEAD {
            let before = self.character().legs().len();
            self.extend();
            if self.character().legs().len() == before {
                return;
            }
        }
    }

    /// Path seconds until the committed legs end.
    fn left(&self) -> f32 {
        let character = self.character();
        let repertoire = character.repertoire();
        let playing = character.playing();
        let rest = repertoire.edge(playing.layer, playing.edge).seconds - playing.since;
        let legs = character.legs().iter().map(|l| repertoire.edge(l.layer, l.edge).seconds - l.enter);
        rest + legs.sum::<f32>()
    }

    /// Where the committed legs end.
    fn end(&self) -> (Layer, NodeIdx) {
        let character = self.character();
        let playing = character.playing();
        let (layer, edge) = character.legs().back().map_or((playing.layer, playing.edge), |l| (l.layer, l.edge));
        (layer, character.repertoire().edge(layer, edge).to)
    }

    /// One leg more: anything that leaves room to others, or what stays where it is.
    fn extend(&mut self) {
        let (layer, node) = self.end();
        let kit = self.kit;
        let member = &mut self.world.characters[self.who];
        let wanders = member.wish == Wish::Wander && layer == Layer::Fight;
        let library = std::sync::Arc::clone(member.character.repertoire().layer(layer));
        let graph = library.graph();
        let caused = |e: &EdgeIdx| {
            let clip = library.clip(graph.edge(*e).clip);
            !graph.spans(*e).iter().any(|s| clip.spans[s.span as usize].kind == SpanKind::React)
        };
        let all: Vec<EdgeIdx> = graph.leaving(node).collect();
        let mut edges: Vec<EdgeIdx> = all.iter().copied().filter(caused).collect();
        if edges.is_empty() {
            edges = all;
        }
        // Chance decides the order, what it leads into decides the rest.
        let turn = member.chance.below(edges.len() as u32) as usize;
        edges.rotate_left(turn);
        if !wanders {
            let idle = |e: &EdgeIdx| !kit.idles(layer).contains(e);
            let way = |e: &EdgeIdx| (graph.edge(*e).displacement.shift.length() * 100.0) as u32;
            edges.sort_by_key(|e| (idle(e), way(e)));
        }
        let crowded = self.world.characters.len() > 1 || !self.world.obstacles.is_empty();
        let chosen = if crowded { self.roomiest(layer, &edges) } else { edges[0] };
        self.world.characters[self.who].character.append(Leg::whole(layer, chosen));
    }

    /// The first edge whose way leaves room to everybody and everything; else the one that leaves most.
    fn roomiest(&self, layer: Layer, edges: &[EdgeIdx]) -> EdgeIdx {
        let horizon = AHEAD + 1.5;
        let others = reserve::others(self.world, self.who, horizon);
        let mut best = (f32::NEG_INFINITY, edges[0]);
        for edge in edges {
            let track = reserve::track(self.character(), &[Leg::whole(layer, *edge)], horizon);
            let room = reserve::room(&track, &others, &self.world.obstacles);
            if room > 0.0 {
                return *edge;
            }
            if room > best.0 {
                best = (room, *edge);
            }
        }
        best.1
    }

    /// Plans a walk from where the committed legs end.
    fn walk(&mut self, goal: &Goal) {
        let kit = self.kit;
        let Some(walker) = kit.walker() else {
            self.give_up("the library has no motions to walk with".into());
            return;
        };
        // From a fighting stance one has to get to where walks begin.
        let (layer, node) = self.end();
        let (way, door) = match layer {
            Layer::Walk => (Vec::new(), node),
            Layer::Fight => match kit.way_to_walk(node) {
                Some(way) => way,
                None => return self.give_up("no walk begins in this stance".into()),
            },
        };
        let fresh = self.character().legs().is_empty() && self.character().playing().since == 0.0;
        let way: Vec<Leg> = way.iter().map(|edge| Leg::whole(Layer::Fight, *edge)).collect();
        if !way.is_empty() {
            let track = reserve::track(self.character(), &way, HORIZON);
            if reserve::room(&track, &reserve::others(self.world, self.who, HORIZON), &self.world.obstacles) < TIGHT {
                return self.give_up("there is no room to stand up in".into());
            }
        }
        for leg in &way {
            self.world.characters[self.who].character.append(*leg);
        }
        let obstacles = self.in_the_way();
        let member = &self.world.characters[self.who];
        let (start, placement) = if layer == Layer::Walk && fresh {
            (member.character.playing().edge, member.character.placement())
        } else {
            let Some(edge) = kit.graph(Layer::Walk).leaving(door).next() else { return };
            (edge, placement_at_end(&member.character, kit, edge))
        };
        let begins = walker.place_of(start, &placement);
        let request = WalkRequest {
            at: begins.shift,
            facing: begins.turn,
            begin: None,
            goal: goal.at,
            goal_facing: goal.facing,
            action: goal.action.clone(),
            waypoints: goal.waypoints.clone(),
            obstacles,
        };
        let seed = self.world.characters[self.who].chance.clone().next().into();
        let from = if fresh { None } else { Some((start, placement)) };
        let attempt =
            Attempt::new(walker, &request, Method::Walk, Effort::default(), WalkConfig::default(), seed).map(|a| {
                match from {
                    Some(from) => a.starting_at(from),
                    None => a,
                }
            });
        let mut attempt = match attempt {
            Ok(attempt) => attempt,
            Err(error) => return self.give_up(error.to_string()),
        };
        loop {
            if let Err(error) = attempt.search(Some(&GoalFitConfig::default())) {
                return self.give_up(error.to_string());
            }
            if attempt.judge() {
                break;
            }
        }
        let outcome = attempt.outcome;
        let Some(route) = attempt.legs().filter(|_| outcome == WalkOutcome::Arrived) else {
            let why = match outcome {
                WalkOutcome::Blocked(near) => {
                    format!("the nearest place that can be reached is [{:.2}, {:.2}]", near.x, near.y)
                }
                WalkOutcome::Collides => "every way that was found touches something".to_owned(),
                _ => "no way was found".to_owned(),
            };
            return self.give_up(why);
        };
        let others = reserve::others(self.world, self.who, HORIZON);
        let mut walked = self.character().clone();
        if fresh {
            walked.commit(Plan::at_once(Leg {
                join: Some((walker.align(&walked, route.start), 0.0)),
                ..Leg::whole(Layer::Walk, route.start.0)
            }));
        } else {
            walked.append(Leg { join: Some((walker_join(kit, start), 0.0)), ..Leg::whole(Layer::Walk, start) });
        }
        // Somebody will be in the way at the time: let them pass.
        if reserve::room(&reserve::track(&walked, &route.legs, HORIZON), &others, &[]) < 0.0 {
            return self.give_up("somebody is in the way".into());
        }
        let until =
            self.world.tick + ((if fresh { 0.0 } else { self.left() } + route.seconds) * TICKS as f32).round() as u64;
        let member = &mut self.world.characters[self.who];
        if fresh {
            // The search may have chosen another first step.
            let first = Leg {
                join: Some((walker.align(&member.character, route.start), 0.0)),
                ..Leg::whole(Layer::Walk, route.start.0)
            };
            member
                .character
                .commit(Plan { legs: std::iter::once(first).chain(route.legs).collect(), ..Plan::at_once(first) });
        } else {
            let first = Leg { join: None, ..Leg::whole(Layer::Walk, start) };
            // The same pose in the other graph; where nothing goes on from it, its join leads into what does.
            let own = kit.graph(Layer::Walk).edge(start).join.map_or((Planar::IDENTITY, 0.0), |j| (j.align, j.blend));
            let same = Leg { join: Some(own), ..first };
            member.character.append(if layer == Layer::Fight { same } else { first });
            for leg in route.legs {
                member.character.append(leg);
            }
        }
        member.doing = Doing::Walking(until);
        let what = format!("walks to [{:.2}, {:.2}]", goal.at.x, goal.at.y);
        let why =
            format!("{:.1} s, {} transitions, after {} paths", route.seconds, route.transitions, route.evaluations);
        self.tell(what, why);
    }

    /// Stands and looks again later.
    fn give_up(&mut self, why: String) {
        let tick = self.world.tick;
        let playing = self.character().playing();
        let idles = self.kit.idles(Layer::Walk);
        if playing.layer == Layer::Walk && !idles.contains(&playing.edge) {
            let stand = idles.first().map(|edge| self.in_place(Layer::Walk, *edge, 0.0, STOP));
            if let Some(leg) = stand {
                self.world.characters[self.who].character.commit(Plan::at_once(leg));
            }
        }
        self.world.characters[self.who].doing = Doing::Waiting(tick + (AGAIN * TICKS as f32) as u64);
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
            all.extend(track.last().copied().map(post));
        }
        all
    }
}

/// Lays the clip of a walking edge over the stage where the committed legs end at the same pose.
fn placement_at_end(character: &Character, kit: &Kit, edge: EdgeIdx) -> Planar {
    let repertoire = character.repertoire();
    let mut placement = character.placement();
    for leg in character.legs() {
        let own = repertoire.edge(leg.layer, leg.edge).join.map(|j| j.align);
        placement = placement.after(&leg.join.map(|j| j.0).or(own).unwrap_or(Planar::IDENTITY));
    }
    let entered = kit.graph(Layer::Walk).edge(edge).join.map(|j| j.align).unwrap_or(Planar::IDENTITY);
    placement.after(&entered)
}

/// What lays a walking edge over the end of a leg of the other layer: nothing, or its own join.
fn walker_join(kit: &Kit, start: EdgeIdx) -> Planar {
    kit.graph(Layer::Walk).edge(start).join.map_or(Planar::IDENTITY, |join| join.align)
}
