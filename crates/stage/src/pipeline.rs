//! One tick of a world: ops, sense, decide, advance, contacts. The pipeline is scratch: dropping it between two ticks changes nothing.

use std::sync::Arc;

use kumite_motion::interrupt::Commitment;
use kumite_motion::{Chance, Layer, NodeIdx, Role, SpanKind, Vec3};
use kumite_plan::Leg;
use kumite_plan::threat::{Ball, LONGEST};
use kumite_plan::{Alone, Pool};
use kumite_react::Touch;
use kumite_react::response::Settings;

use crate::arbiter::{Blow, Scratch, Turn};
use crate::character::StepBuffers;
use crate::op::{BallOutcome, Event, EventKind, Fault, Op, Spawn, ThrowOp};
use crate::world::{BallId, CastMember, CharacterId, Doing, FlyingBall, Perception, Wish, World};
use crate::{Character, Kit, Return, TICKS, blows, contact, jostle, sense, sparring};

/// Least height that a ball thrown from any distance begins at, metres above its radius.
const ABOVE_FLOOR: f32 = 0.04;
/// How far a ball flies on after it should have arrived, metres, and for how long at most, seconds.
const BEYOND: (f32, f32) = (2.5, 1.0);

/// What a caller does for the searches of a pipeline: lends threads, and may look at a clock before and after. What is found does not depend on it.
pub trait Host: Pool + Send {
    /// Runs a search.
    fn search(&self, work: &mut dyn FnMut()) {
        work();
    }
}

impl Host for Alone {}

/// Events that a tick may have without growing its buffer.
const EVENTS: usize = 64;

/// Buffers, and this tick's events.
#[derive(Clone, Debug)]
pub struct Pipeline {
    host: Arc<dyn Host>,
    events: Vec<Event>,
    began: Vec<(CharacterId, Option<Leg>)>,
    ids: Vec<CharacterId>,
    balls: Vec<BallId>,
    noticed: Vec<BallId>,
    bodies: Vec<(CharacterId, Vec<Vec3>, Vec<Vec3>)>,
    scratch: Scratch,
    steps: StepBuffers,
}

impl Default for Pipeline {
    fn default() -> Self {
        Pipeline::on(Arc::new(Alone))
    }
}

impl Pipeline {
    /// With the help of a host.
    pub fn on(host: Arc<dyn Host>) -> Pipeline {
        Pipeline {
            host,
            events: Vec::with_capacity(EVENTS),
            began: Vec::new(),
            ids: Vec::new(),
            balls: Vec::new(),
            noticed: Vec::new(),
            bodies: Vec::new(),
            scratch: Scratch::default(),
            steps: StepBuffers::default(),
        }
    }

    /// Advances a world by one tick. The events are those of this tick.
    pub fn step(&mut self, kits: &[Arc<Kit>], world: &mut World, ops: &[Op]) -> &[Event] {
        self.events.clear();
        for op in ops {
            if let Err(fault) = self.apply(kits, world, op) {
                self.events.push(Event { tick: world.tick, who: None, kind: EventKind::Fault(fault) });
            }
        }
        self.ids.clear();
        self.ids.extend(world.characters.keys());
        self.decide(kits, world);
        self.advance(world);
        self.contacts(world);
        jostle::bodies(kits, world, &self.bodies);
        jostle::stumble(world, &self.bodies);
        blows::contacts(kits, world, &self.bodies, &mut self.events);
        world.tick += 1;
        &self.events
    }

    /// What each character began in the last tick, in the order of their ids.
    pub fn began(&self) -> &[(CharacterId, Option<Leg>)] {
        &self.began
    }

    fn apply(&mut self, kits: &[Arc<Kit>], world: &mut World, op: &Op) -> Result<(), Fault> {
        match op {
            Op::Spawn(spawn) => {
                let id = come_on(kits, world, spawn)?;
                self.events.push(Event { tick: world.tick, who: Some(id), kind: EventKind::Spawned });
            }
            Op::Throw(throw) => {
                let flying = self::throw(kits, world, throw)?;
                let ball = world.balls.insert(flying);
                let kind = EventKind::Thrown { ball, flying };
                self.events.push(Event { tick: world.tick, who: Some(flying.at), kind });
            }
            Op::Place(obstacle) => world.obstacles.push(*obstacle),
            Op::Wish { who, wish } => {
                let id = world.named(who).ok_or_else(|| Fault::Nobody { name: who.clone() })?;
                let member = &mut world.characters[id];
                (member.wish, member.doing) = (wish.clone(), Doing::Own);
            }
            Op::Cue { who, ball } => {
                let id = world.named(who).ok_or_else(|| Fault::Nobody { name: who.clone() })?;
                let known = world.tick.saturating_sub(sense::delay(&world.characters[id]));
                world.characters[id].known.push((*ball, known));
            }
        }
        Ok(())
    }

    /// Sense, then decide, one character after the other: who comes later sees what was committed before.
    fn decide(&mut self, kits: &[Arc<Kit>], world: &mut World) {
        sparring::look(kits, world);
        for k in 0..self.ids.len() {
            let who = self.ids[k];
            self.sense(world, who);
            let Some(kit) = kits.get(world.characters[who].kit) else { continue };
            let blow = world.characters[who].blow.take();
            let (events, scratch, host) = (&mut self.events, &mut self.scratch, &*self.host);
            Turn { kit, world, who, events, scratch, host }.decide(blow, &self.noticed);
        }
    }

    /// Balls that came into view long enough ago become known.
    fn sense(&mut self, world: &mut World, who: CharacterId) {
        self.noticed.clear();
        let tick = world.tick;
        let World { characters, balls, .. } = world;
        let member = &mut characters[who];
        member.known.retain(|(id, _)| balls.contains_key(*id));
        for (id, ball) in balls.iter() {
            if member.known.iter().all(|k| k.0 != id) && sense::in_view(member, ball, tick) {
                member.known.push((id, tick));
            }
        }
        let delay = sense::delay(member);
        for (id, since) in &member.known {
            if since + delay == tick {
                self.noticed.push(*id);
                self.events.push(Event { tick, who: Some(who), kind: EventKind::Noticed { ball: *id } });
            }
        }
    }

    fn advance(&mut self, world: &mut World) {
        self.began.clear();
        let joining = world.characters.values().filter(|member| member.character.joining()).count();
        if let Some(member) = world.characters.values().next() {
            let joints = member.character.library().skeleton().len();
            self.steps.make_room(self.ids.len(), joining, joints);
        }
        self.bodies.resize_with(self.ids.len(), Default::default);
        for (who, body) in self.ids.iter().zip(&mut self.bodies) {
            let member = &mut world.characters[*who];
            let library = Arc::clone(member.character.library());
            body.0 = *who;
            contact::place(library.spheres(), member.character.world(), &mut body.1);
            let began = member.character.step_within(&mut self.steps, |_, next| next[0]);
            contact::place(library.spheres(), member.character.world(), &mut body.2);
            self.began.push((*who, began));
            if began.is_some() {
                let kind = EventKind::Began { source: member.character.source() };
                self.events.push(Event { tick: world.tick, who: Some(*who), kind });
            }
        }
    }

    /// Balls against bodies, swept over the tick.
    fn contacts(&mut self, world: &mut World) {
        self.balls.clear();
        self.balls.extend(world.balls.keys());
        for id in &self.balls {
            let tick = world.tick;
            let Some(ball) = world.balls.get(*id).copied() else { continue };
            let way = [ball.place(tick), ball.place(tick + 1)];
            let mut first: Option<(f32, CharacterId, Touch)> = None;
            let mut least = f32::INFINITY;
            for (who, before, after) in &self.bodies {
                // Nothing of a body is farther than 1.3 m from its root.
                let near = (world.characters[*who].character.pose().root() - way[1]).length();
                if near > 1.6 + ball.ball.radius + (way[1] - way[0]).length() {
                    continue;
                }
                let spheres = world.characters[*who].character.library().spheres();
                let pass = contact::sweep(spheres, before, after, way, ball.ball.radius);
                least = least.min(pass.least);
                if let Some((time, part)) = pass.touch
                    && first.is_none_or(|f| time < f.0)
                {
                    let (sphere, mass) = ([before[pass.sphere], after[pass.sphere]], ball.mass);
                    first = Some((time, *who, contact::touch(part, sphere, way, time, ball.ball.radius, mass)));
                }
            }
            let least = ball.least.min(least);
            if let Some(ball) = world.balls.get_mut(*id) {
                ball.least = least;
            }
            if let Some((time, who, touch)) = first {
                let part = touch.part;
                let member = &mut world.characters[who];
                let guards = |role: Role| part == role || Some(part) == role.parent();
                let blocked = member.answers.iter().any(|a| a.ball == *id && a.guard.is_some_and(guards));
                let braced = !blocked && member.meets_braced(*id, part);
                let outcome = match (blocked, braced) {
                    (true, _) => BallOutcome::Blocked,
                    (false, true) => BallOutcome::Braced,
                    (false, false) => BallOutcome::Hit,
                };
                let along = (way[1] - way[0]).normalize_or(Vec3::NEG_Z);
                member.blow = Some(Blow { part, along, touch, ready: outcome != BallOutcome::Hit });
                let at = way[0].lerp(way[1], time);
                let kind = EventKind::BallEnded { ball: *id, outcome, part: Some(part), at, least };
                self.events.push(Event { tick, who: Some(who), kind });
                world.balls.remove(*id);
                continue;
            }
            let speed = ball.ball.velocity.length().max(1e-3);
            let after = (BEYOND.0 / speed).clamp(0.1, BEYOND.1);
            if ball.age(tick) > ball.arrives + after || way[1].y < -1.0 {
                let outcome = if ball.answered { BallOutcome::Dodged } else { BallOutcome::Missed };
                let kind = EventKind::BallEnded { ball: *id, outcome, part: None, at: way[1], least };
                self.events.push(Event { tick, who: Some(ball.at), kind });
                world.balls.remove(*id);
            }
        }
    }
}

/// A character comes on.
fn come_on(kits: &[Arc<Kit>], world: &mut World, spawn: &Spawn) -> Result<CharacterId, Fault> {
    if world.named(&spawn.name).is_some() {
        return Err(Fault::NameTaken { name: spawn.name.clone() });
    }
    if !(spawn.at.is_finite() && spawn.facing.is_finite()) {
        return Err(Fault::NotFinite { what: "where a character comes on" });
    }
    let kit = kits.get(spawn.kit).ok_or_else(|| Fault::NoSuch { what: format!("kit {}", spawn.kit) })?;
    let mut chance = Chance::new(spawn.seed);
    let walker = kit.walker().filter(|_| matches!(spawn.wish, Wish::Walk(_)));
    let graph = kit.library().graph();
    let character = match (walker, &spawn.begin) {
        (Some(walker), begin) => {
            let edge = walker.start_edge(begin.as_ref().map(|begin| begin.clip.as_str()));
            let edge = edge.ok_or_else(|| Fault::NoSuch { what: "motion to begin a walk with".into() })?;
            // Walks are planned from where the pelvis faces.
            Character::on(Arc::clone(kit.library()), edge, spawn.at, spawn.facing)
        }
        (None, Some(begin)) => {
            let what = || match begin.at {
                Some(at) => format!("clip {:?} to begin with that is played {at} s after its first frame", begin.clip),
                None => format!("clip {:?} to begin with", begin.clip),
            };
            let (edge, since) = kit.entry(begin).ok_or_else(|| Fault::NoSuch { what: what() })?;
            kit.spawn_on(edge, since, spawn.at, spawn.facing)
        }
        (None, None) => {
            // On one's feet and unhurt, if the library has such a pose.
            let lies = |node: &NodeIdx| {
                let node = graph.node(*node);
                let spans = &kit.library().clip(node.clip).spans;
                if spans.iter().any(|s| s.kind == SpanKind::React) {
                    return true;
                }
                let part = kit.library().interrupts().committed_at(node.clip, node.frame);
                part.is_some_and(|part| part.why == Commitment::Lying)
            };
            let all: Vec<NodeIdx> = graph.nodes_of(Layer::Fight).collect();
            let upright: Vec<NodeIdx> = all.iter().copied().filter(|node| !lies(node)).collect();
            let nodes = if upright.is_empty() { all } else { upright };
            let node = nodes.get(chance.below(nodes.len().max(1) as u32) as usize);
            let node = node.ok_or_else(|| Fault::NoSuch { what: "motion to begin with".into() })?;
            kit.spawn(*node, spawn.at, spawn.facing)
        }
    };
    Ok(world.characters.insert(CastMember {
        name: spawn.name.clone(),
        kit: spawn.kit,
        character,
        perception: spawn.perception,
        known: Vec::new(),
        wish: spawn.wish.clone(),
        doing: Doing::Own,
        chance,
        answers: Vec::new(),
        braced: None,
        refused: 0,
        blow: None,
        response: Settings::default(),
        returns: Return::default(),
        damage: 0.0,
        spar: None,
    }))
}

/// A ball leaves for where its target will be if nothing happens.
pub(crate) fn throw(kits: &[Arc<Kit>], world: &World, throw: &ThrowOp) -> Result<FlyingBall, Fault> {
    let at = world.named(&throw.at).ok_or_else(|| Fault::Nobody { name: throw.at.clone() })?;
    let numbers = [throw.speed, throw.radius, throw.mass, throw.lead.unwrap_or(1.0)];
    if !(throw.from.is_finite() && numbers.iter().all(|v| v.is_finite() && *v > 0.0)) {
        return Err(Fault::NotFinite { what: "a number of a throw, or not above 0," });
    }
    let aim = |seconds: f32| throw.target.place(&later(kits, world, at, seconds), throw.sphere);
    let (ball, arrives) = if let Some(lead) = throw.lead {
        let aim = aim(lead);
        let along = (aim - throw.from).normalize_or(Vec3::NEG_Z);
        let mut from = aim - along * (throw.speed * lead);
        from.y = from.y.max(throw.radius + ABOVE_FLOOR);
        (Ball::aimed(from, aim, lead, throw.radius, throw.falls), lead)
    } else {
        // Where the target will be when the ball arrives depends on when that is: twice is enough.
        let now = throw.target.place(&world.characters[at].character, throw.sphere);
        let mut arrives = (now - throw.from).length() / throw.speed;
        let mut place = throw.from;
        for _ in 0..2 {
            place = aim(arrives);
            arrives = ((place - throw.from).length() / throw.speed).max(1.0 / TICKS as f32);
        }
        (Ball::aimed(throw.from, place, arrives, throw.radius, throw.falls), arrives)
    };
    Ok(FlyingBall {
        ball,
        thrown: world.tick,
        at,
        target: throw.target,
        arrives,
        mass: throw.mass,
        least: f32::INFINITY,
        answered: false,
    })
}

/// A character some seconds from now, if nothing happens.
fn later(kits: &[Arc<Kit>], world: &World, who: CharacterId, seconds: f32) -> Character {
    let ticks = (seconds.min(LONGEST) * TICKS as f32).round() as u32;
    let (mut copy, mut committed) = (world.characters[who].character.clone(), true);
    for _ in 0..ticks {
        copy.step(|_, next| {
            committed = false;
            next[0]
        });
    }
    if committed {
        return copy;
    }
    // What comes after the committed legs only the world can tell.
    let mut world = world.clone();
    world.balls.clear();
    world.characters.values_mut().for_each(|member| member.perception = Perception::BLIND);
    let mut pipeline = Pipeline::default();
    for _ in 0..ticks {
        pipeline.step(kits, &mut world, &[]);
    }
    world.characters.remove(who).map_or(copy, |member| member.character)
}
