//! Decides for one character, in this order: it was hit, it reacts; a ball is known, it dodges or blocks; it has an opponent, it spars; it wants to be
//! somewhere, it walks; else it wanders or stays. Every plan that is committed is told with its reason.

mod bracing;
mod defending;
mod reacting;
mod sparring;
mod walking;

use kumite_motion::align::Planar;
use kumite_motion::graph::stand;
use kumite_motion::rotation::yaw_of;
use kumite_motion::{EdgeIdx, FrameIdx, JointIdx, Layer, NodeIdx, SpanKind, Vec2, Vec3};
use kumite_plan::Leg;
use kumite_plan::dodge::DodgeScratch;

pub use defending::LOOK_AGAIN;
pub use reacting::Blow;

use crate::op::{Event, EventKind};
use crate::reserve::{self, Track, WayOn};
use crate::world::{BallId, CharacterId, Doing, Wish, World};
use crate::{Character, Host, Kit};

/// Seconds that characters commit ahead: planners see at least these.
pub const AHEAD: f32 = 2.0;
/// Seconds beyond what is committed that ways of others are compared.
const HORIZON: f32 = 4.0;
/// Whoever idles does so for at least this long, seconds.
const LEAST_IDLE: f32 = 0.2;
/// Whoever is in something steps out of it if that leaves so much more room, metres.
const CLEARS: f32 = 0.02;
/// A join into standing where a walk ends, seconds.
const STOP: f32 = 1.0 / 3.0;

/// Buffers that decisions reuse. They carry nothing from one decision to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    dodge: DodgeScratch,
    own: Track,
    other: Track,
}

/// One character's turn to decide.
pub(crate) struct Turn<'a> {
    pub kit: &'a Kit,
    pub world: &'a mut World,
    pub who: CharacterId,
    pub events: &'a mut Vec<Event>,
    pub scratch: &'a mut Scratch,
    pub host: &'a dyn Host,
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
        self.watch_recovery();
        if let Some(blow) = blow
            && self.react(&blow)
        {
            return;
        }
        if !noticed.is_empty() || self.looks_again() {
            self.defend(!noticed.is_empty());
        }
        if matches!(self.world.characters[self.who].wish, Wish::Spar(_)) && self.spar() {
            return;
        }
        self.watch_way();
        self.go_on();
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

    /// Lays an edge, entered at some second, so that its root stands where the character's does and faces as it does.
    fn in_place(&self, edge: EdgeIdx, enter: f32, blend: f32) -> Leg {
        let character = self.character();
        let played = self.kit.graph().edge(edge);
        let clip = self.kit.library().clip(played.clip);
        let frame = FrameIdx(played.first.0 + (enter * clip.fps()) as u32);
        let pose = character.pose();
        let root = pose.root();
        let here = Planar { turn: yaw_of(pose.rotation(JointIdx::ROOT) * Vec3::Z), shift: Vec2::new(root.x, root.z) };
        let wanted = here.after(&stand(clip, frame).inverse());
        let align = character.placement().inverse().after(&wanted);
        Leg { join: Some((align, blend)), enter, ..Leg::whole(edge) }
    }

    /// Keeps what is committed long enough, by what the character wants.
    fn go_on(&mut self) {
        let member = &self.world.characters[self.who];
        if let (Wish::Walk(goal), Doing::Own) = (&member.wish, member.doing) {
            let goal = goal.clone();
            self.walk(&goal);
        }
        while self.left() < AHEAD {
            self.extend();
        }
    }

    /// Path seconds until the committed legs end.
    fn left(&self) -> f32 {
        let (character, graph) = (self.character(), self.kit.graph());
        let playing = character.playing();
        playing.left(graph) + character.legs().iter().map(|leg| leg.seconds(graph)).sum::<f32>()
    }

    /// The last edge that is committed, and where it ends.
    fn end(&self) -> (EdgeIdx, NodeIdx) {
        let character = self.character();
        let edge = character.legs().back().map_or(character.playing().edge, |leg| leg.edge);
        (edge, self.kit.graph().edge(edge).to)
    }

    /// One leg more: anything that leaves room to others, or what stays where it is.
    fn extend(&mut self) {
        let (last, node) = self.end();
        let (kit, library) = (self.kit, self.kit.library());
        let graph = kit.graph();
        let member = &mut self.world.characters[self.who];
        let fights = graph.leaving(node, Layer::Fight);
        let wanders = member.wish == Wish::Wander;
        let all: Vec<EdgeIdx> =
            if wanders && fights.len() > 0 { fights.collect() } else { graph.after(last).collect() };
        let caused = |e: &EdgeIdx| {
            let clip = library.clip(graph.edge(*e).clip);
            !graph
                .spans(*e)
                .iter()
                .any(|s| matches!(clip.spans[s.span as usize].kind, SpanKind::React | SpanKind::Down))
        };
        let mut edges: Vec<EdgeIdx> = all.iter().copied().filter(caused).collect();
        if edges.is_empty() {
            edges = all;
        }
        // Chance decides the order, what it leads into decides the rest.
        let turn = member.chance.below(edges.len() as u32) as usize;
        edges.rotate_left(turn);
        if wanders {
            // Nobody does the same thing over and over.
            let (playing, legs) = (member.character.playing().edge, member.character.legs());
            let again = |e: &EdgeIdx| playing == *e || legs.iter().any(|leg| leg.edge == *e);
            // Whoever got among the walkers goes back to where fighters branch.
            let fights = |e: &EdgeIdx| graph.leaving(graph.edge(*e).to, Layer::Fight).len() > 0;
            // Nor lowers the guard on the way to where it is raised again, or goes where only reactions to hits lead on.
            let lowers = |e: &EdgeIdx| kit.is_guarded(last) && !kit.is_guarded(*e);
            let trapped = |e: &EdgeIdx| !graph.leaving(graph.edge(*e).to, Layer::Fight).any(|next| caused(&next));
            edges.sort_by_key(|e| (!fights(e), trapped(e), lowers(e), again(e)));
        } else {
            edges.sort_by_key(|e| kit.calm(*e));
        }
        let crowded = self.world.characters.len() > 1 || !self.world.obstacles.is_empty();
        let (chosen, free) = if crowded { self.roomiest(&edges) } else { (edges[0], true) };
        // Whoever has no room for anything idles.
        let idles = edges.iter().copied().filter(|edge| !free && kit.is_idle(*edge)).min_by_key(|edge| kit.calm(*edge));
        let chosen = idles.unwrap_or(chosen);
        // Nobody holds a pose for long: whoever would, stands and breathes, unless that lowers the guard.
        let still = kit.is_still(chosen) && kit.is_still(last) && !(wanders && kit.is_guarded(chosen));
        let holds = if free { still } else { idles.is_none() };
        let leg = kit.standing().filter(|_| holds).map_or(Leg::whole(chosen), |edge| self.in_place_at_end(edge, STOP));
        if wanders && !crowded && kit.is_idle(leg.edge) && leg.join.is_none() {
            return self.leave_idle(leg.edge);
        }
        self.world.characters[self.who].character.append(leg);
    }

    /// Idles for some time, then does something that can be begun at once.
    fn leave_idle(&mut self, edge: EdgeIdx) {
        let (library, graph) = (self.kit.library(), self.kit.graph());
        let (interrupts, idle) = (library.interrupts(), graph.edge(edge));
        let member = &mut self.world.characters[self.who];
        let leave = idle.seconds * member.chance.unit();
        let frame = FrameIdx(idle.first.0 + (leave * library.clip(idle.clip).fps()) as u32);
        // Nobody dodges what does not come, or lowers the guard for nothing.
        let lowers = |next: EdgeIdx| self.kit.is_guarded(edge) && !self.kit.is_guarded(next);
        let acts = |number: &usize| {
            let onset = &interrupts.onsets()[*number];
            matches!(onset.kind, SpanKind::Attack | SpanKind::Step) && !lowers(onset.edge)
        };
        let mut ready: Vec<(usize, f32)> = interrupts.at(idle.clip, frame).filter(|(number, _)| acts(number)).collect();
        let at = member.chance.below(ready.len().max(1) as u32) as usize;
        let character = &mut member.character;
        if ready.is_empty() || leave < LEAST_IDLE {
            return character.append(Leg::whole(edge));
        }
        let (number, cost) = ready.swap_remove(at);
        let onset = &interrupts.onsets()[number];
        let join = Some(library.join_onset(idle.clip, frame, onset, cost));
        character.append(Leg { leave: Some(leave), ..Leg::whole(edge) });
        character.append(Leg { enter: onset.enter, join, ..Leg::whole(onset.edge) });
    }

    /// Lays an edge so that its root stands where the committed legs end.
    fn in_place_at_end(&self, edge: EdgeIdx, blend: f32) -> Leg {
        let (library, graph) = (self.kit.library(), self.kit.graph());
        let stands = |edge: EdgeIdx, frame: FrameIdx| stand(library.clip(graph.edge(edge).clip), frame);
        let last = self.end().0;
        let ends = stands(last, graph.edge(last).last);
        let align = ends.after(&stands(edge, graph.edge(edge).first).inverse());
        Leg { join: Some((align, blend)), ..Leg::whole(edge) }
    }

    /// The first edge that leaves room to everybody and everything, else the one that leaves most; and whether there is room enough.
    fn roomiest(&self, edges: &[EdgeIdx]) -> (EdgeIdx, bool) {
        let begins = self.left();
        let others = reserve::others(self.world, self.who, begins + HORIZON);
        let character = self.character();
        let library = character.library();
        let lie = |placement: Planar, leg: &Leg| placement.after(&reserve::lay(library, leg));
        let placement = character.legs().iter().fold(character.placement(), lie);
        match WayOn::new(self.kit, others, &self.world.obstacles).first_free(edges, &placement, begins) {
            Ok(edge) => (edge, true),
            Err([(edge, room), _]) if room >= reserve::KEEP => (edge, true),
            // Whoever was pushed into something gets out of it.
            Err([(_, room), (edge, end)]) if room < 0.0 && end > room.max(-0.01) + CLEARS => (edge, true),
            Err([(edge, _), _]) => (edge, false),
        }
    }
}
