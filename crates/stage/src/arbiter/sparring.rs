//! What a fighter decides, and how its choice gets onto the stage.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::interrupt;
use kumite_motion::{Contacts, EdgeIdx, Layer, NodeIdx, SpanKind};
use kumite_plan::spar::contest::{Contest, Scores};
use kumite_plan::spar::moves::{GUARD, RATE};
use kumite_plan::spar::tree::{self, Ranked};
use kumite_plan::spar::{Bout, Choice, Fighter, MoveIdx, MoveKind, Moves};
use kumite_plan::{Bend, Leg, Plan, Warp};

use super::{AHEAD, STOP, Turn};
use crate::SparKit;
use crate::sparring::{EACH, SparState, anchors, bend_of, corners, fight, mended, rules};
use crate::world::{CharacterId, Doing, Wish};

/// A guard that is turned by less than this is left as it is, radians.
const LITTLE: f32 = 0.06;
impl Turn<'_> {
    /// Everything a fighter decides in a tick. Says no if there is nobody to fight, or nothing to fight with.
    pub(super) fn spar(&mut self) -> bool {
        let kit = self.kit.spar();
        if !kit.moves.can_fight() {
            return false;
        }
        let Wish::Spar(wish) = &self.world.characters[self.who].wish else { return false };
        let Some(other) = self.world.named(&wish.opponent).filter(|id| *id != self.who) else { return false };
        if self.world.characters[self.who].spar.as_ref().is_none_or(|s| s.opponent != other) {
            self.enter_fight(other, kit);
        }
        let doing = self.world.characters[self.who].doing;
        let Some(spar) = self.world.characters[self.who].spar.as_mut() else { return false };
        if matches!(doing, Doing::Defending(_) | Doing::Reacting(_)) {
            // A ball comes first; the fight goes on from wherever that leads.
            spar.own = false;
            return false;
        }
        let (own, forced) = (spar.own, spar.forced);
        let (f, t) = (&spar.fighter, self.world.tick.saturating_sub(spar.began) / EACH);
        // Who has fallen and is up again stands wherever that led: the table of the fall knows nothing of getting up.
        let up = kit.moves.get(f.doing).kind == MoveKind::Down && f.health > 0.0 && t >= u64::from(f.free);
        if !forced && up {
            self.enter_fight(other, kit);
        } else if forced {
            self.react_to_blow(kit);
        } else if !own {
            self.enter_fight(other, kit);
        } else if self.world.tick.is_multiple_of(EACH) {
            self.take_turn(other, kit);
        }
        self.keep_guard(kit);
        true
    }

    /// Takes up a guard where it stands.
    fn enter_fight(&mut self, other: CharacterId, kit: &SparKit) {
        let Some(guard) = kit.moves.of_kind(MoveKind::Guard).last().copied() else { return };
        let made = kit.moves.get(guard);
        let character = self.character();
        // The guard laid over the body as it is.
        let joints = &character.world().positions;
        let laid = interrupt::lay((joints, character.contacts()), (&made.joints, Contacts::ALL));
        let place = PlanarMatrix::new(&laid).after(&made.begins);
        let shown = anchors(character);
        let (tick, member) = (self.world.tick, &mut self.world.characters[self.who]);
        let old = member.spar.take();
        let mut fighter = Fighter::new(place, guard);
        if let Wish::Spar(wish) = &member.wish {
            (fighter.health, fighter.stamina) = (wish.health, wish.breath);
        }
        if let Some(old) = &old {
            let was = &old.fighter;
            (fighter.health, fighter.stamina, fighter.recent) = (was.health, was.stamina, was.recent);
        }
        let mut state = SparState::new(other, fighter, tick);
        if let Some(old) = old {
            (state.given, state.next_place, state.decisions) = (old.given, old.next_place, old.decisions);
            (state.counts, state.pruned) = (old.counts, old.pruned);
        }
        state.lot = member.chance.unit();
        state.body.0 = shown;
        // Two who come on together would otherwise think in step, and do the same.
        let thought = member.chance.below(GUARD);
        state.began = tick.saturating_sub(u64::from(thought) * EACH);
        (state.fighter.t, state.shown.t) = (thought as u16, thought as u16);
        member.spar = Some(Box::new(state));
        member.character.fights = true;
        self.begin_move(kit, guard, &place, None, 0.3);
    }

    /// Chooses, if it is time to.
    fn take_turn(&mut self, other: CharacterId, kit: &SparKit) {
        let Some(corners) = corners(self.kit, self.world, self.who, other) else { return };
        let member = &self.world.characters[self.who];
        let (Wish::Spar(wish), Some(spar)) = (&member.wish, &member.spar) else { return };
        let Some(theirs) = self.world.characters.get(other).and_then(|m| m.spar.as_ref()) else { return };
        if spar.fighter.health <= 0.0 {
            return;
        }
        let (config, temperature) = (wish.tree, wish.temperature);
        let game = Bout { clairvoyant: config.clairvoyant, ..rules(kit, &corners) };
        let mut belief = fight(&spar.fighter, &theirs.shown);
        if !config.clairvoyant {
            game.hide(&mut belief, 0);
        }
        let moment = game.moment(&belief, 0);
        let mut choices = Vec::new();
        game.choices(&belief, 0, &mut choices);
        if choices.is_empty() {
            return;
        }
        let (mut ranked, mut counts) = (Vec::new(), tree::TreeCounts::default());
        self.host.search(&mut || {
            (ranked, counts) = tree::decide(&game, &belief, 0, &choices, &config, self.host);
        });
        let Some(best) = ranked.first() else { return };
        let deepest = best.depth;
        let coming = game.coming(&belief, 0).is_some_and(|c| c.2 >= 6);
        let pruned = game.pruned.totals();
        let member = &mut self.world.characters[self.who];
        let u = member.chance.unit();
        let chosen = &ranked[tree::choose(&ranked, deepest, temperature, u)];
        if let Some(spar) = &mut member.spar {
            spar.decisions += 1;
            spar.counts.add(&counts);
            spar.pruned.iter_mut().zip(pruned).for_each(|(sum, more)| *sum += more);
        }
        let act = chosen.act;
        let answers = match act {
            Choice::Begin(doing) => {
                matches!(kit.moves.get(doing).kind, MoveKind::Avoid | MoveKind::Block)
                    || moment.sees && matches!(kit.moves.get(doing).kind, MoveKind::Step | MoveKind::Strike)
            }
            Choice::Continue => false,
        };
        let told = describe(&kit.moves, chosen, ranked.len());
        if coming && let Some(theirs) = self.world.characters[other].spar.as_mut() {
            theirs.seen = true;
            theirs.answered |= answers;
        }
        let Choice::Begin(doing) = act else { return };
        let made = kit.moves.get(doing);
        let guards = made.kind == MoveKind::Guard;
        let playing = self.character().playing().edge == made.edge;
        let before = belief.fighters[0];
        game.play(&mut belief, 0, act, &mut Scores::default());
        let mut fighter = belief.fighters[0];
        let turned = fighter.place.turn - game.stance(0, &before).turn;
        let stays = guards && playing && turned.abs() < LITTLE;
        if stays {
            // It goes on as it is; where that is the clip says.
            let character = self.character();
            fighter.place = PlanarMatrix::new(&character.placement()).after(&made.begins);
            let ahead = (character.playing().since - made.enter).max(0.0) * RATE as f32;
            fighter.phase = ahead as u16 % made.known().max(1) as u16;
            fighter.lag = before.lag;
            fighter.lag.since = 0;
        }
        let (place, blend) = (fighter.place, fighter.lag.seconds);
        let tick = self.world.tick;
        if let Some(spar) = self.world.characters[self.who].spar.as_mut() {
            (spar.fighter, spar.began) = (fighter, tick);
            (spar.seen, spar.answered, spar.least) = (false, false, f32::INFINITY);
            spar.stale = true;
        }
        if !stays {
            self.begin_move(kit, doing, &place, bend_of(&fighter.led, 0), blend);
            let character = &mut self.world.characters[self.who].character;
            let off = mended(character, &game, &fighter);
            if let Some((_, way)) = character.bend.as_mut().and_then(|(bend, _)| bend.hand.as_mut()) {
                *way += off;
            }
        }
        if !guards {
            self.tell(made.name.clone(), told);
        }
    }

    /// Plays the reaction to a blow, or falls.
    fn react_to_blow(&mut self, kit: &SparKit) {
        let (tick, member) = (self.world.tick, &mut self.world.characters[self.who]);
        let Some(spar) = member.spar.as_mut() else { return };
        (spar.forced, spar.began) = (false, tick);
        let (doing, place, out) = (spar.fighter.doing, spar.fighter.place, spar.fighter.health <= 0.0);
        let blend = spar.fighter.lag.seconds;
        self.begin_move(kit, doing, &place, None, blend);
        if kit.moves.get(doing).kind == MoveKind::Down {
            let mut seconds = kit.moves.get(doing).ends as f32 / RATE as f32;
            let node = self.end().1;
            let edges = self.way_up(node, out);
            for edge in &edges {
                seconds += self.kit.graph().edge(*edge).seconds;
                self.world.characters[self.who].character.append(Leg::whole(*edge));
            }
            if let Some(spar) = self.world.characters[self.who].spar.as_mut() {
                spar.fighter.free = if out { u16::MAX } else { (seconds * RATE as f32) as u16 };
            }
        }
        self.tell(kit.moves.get(doing).name.clone(), "hit".to_owned());
    }

    /// Puts a move onto the stage so that it begins in a stance.
    fn begin_move(&mut self, kit: &SparKit, doing: MoveIdx, place: &PlanarMatrix, bend: Option<Bend>, blend: f32) {
        let made = kit.moves.get(doing);
        let laid = place.after(&made.begins.inverse());
        let character = self.character();
        let align = character.placement().inverse().after(&laid.planar());
        let down = made.kind == MoveKind::Down;
        let leave = made.enter + made.ends as f32 / RATE as f32;
        let whole = down || made.kind == MoveKind::Guard || leave >= self.kit.graph().edge(made.edge).seconds - 0.02;
        let leave = (!whole).then_some(leave);
        let mut legs = vec![Leg { edge: made.edge, enter: made.enter, leave, join: Some((align, blend)) }];
        let guard = kit.moves.of_kind(MoveKind::Guard).last().map(|g| kit.moves.get(*g));
        if let Some(guard) = guard.filter(|_| !down && made.kind != MoveKind::Guard) {
            let align = made.over.after(&guard.begins.inverse()).planar();
            legs.push(Leg { enter: guard.enter, join: Some((align, 0.3)), ..Leg::whole(guard.edge) });
        }
        let member = &mut self.world.characters[self.who];
        let tempo = match &member.wish {
            Wish::Spar(wish) if !made.forced() => wish.style.tempo,
            _ => 1.0,
        };
        let warp = if tempo == 1.0 { Warp::none() } else { Warp::new(&[(0.0, 30.0)], tempo) };
        member.character.commit(Plan { legs, leave: Some(0.0), warp, bend });
    }

    /// Whoever has nothing else to do stands in guard.
    fn keep_guard(&mut self, kit: &SparKit) {
        let out = self.world.characters[self.who].spar.as_ref().is_some_and(|s| s.fighter.health <= 0.0);
        let graph = self.kit.graph();
        while self.left() < AHEAD {
            if out {
                // Who lies stays down.
                let (last, _) = self.end();
                let leg = self.in_place_at_end(last, STOP);
                let enter = (graph.edge(last).seconds - 1.0).max(0.0);
                self.world.characters[self.who].character.append(Leg { enter, ..leg });
                continue;
            }
            let Some(guard) = kit.moves.of_kind(MoveKind::Guard).last().map(|g| kit.moves.get(*g)) else { return };
            let leg = self.in_place_at_end(guard.edge, STOP);
            self.world.characters[self.who].character.append(leg);
        }
    }

    /// The shortest way, in seconds, from where a fall ends to standing; if it is the end, to lying only.
    fn way_up(&self, from: NodeIdx, out: bool) -> Vec<EdgeIdx> {
        let (graph, library) = (self.kit.graph(), self.kit.library());
        let wanted = |edge: EdgeIdx| {
            let spans = &library.clip(graph.edge(edge).clip).spans;
            let kind = if out { SpanKind::Down } else { SpanKind::Up };
            spans.iter().any(|span| span.kind == kind)
        };
        let count = graph.nodes().len();
        let (mut best, mut by) = (vec![f32::INFINITY; count], vec![None; count]);
        let mut open = vec![from];
        best[from.at()] = 0.0;
        while let Some(at) = (0..open.len()).min_by(|a, b| best[open[*a].at()].total_cmp(&best[open[*b].at()])) {
            let node = open.swap_remove(at);
            for edge in graph.leaving(node, Layer::Fight) {
                if wanted(edge) {
                    let (mut edges, mut here) = (vec![edge], node);
                    while let Some(edge) = by[here.at()] {
                        edges.push(edge);
                        here = graph.edge(edge).from;
                    }
                    edges.reverse();
                    return edges;
                }
                let (to, time) = (graph.edge(edge).to, best[node.at()] + graph.edge(edge).seconds);
                if time < best[to.at()] {
                    (best[to.at()], by[to.at()]) = (time, Some(edge));
                    if !open.contains(&to) {
                        open.push(to);
                    }
                }
            }
        }
        Vec::new()
    }
}

/// Why a choice was made: its score by term and what is expected to follow.
fn describe(moves: &Moves, chosen: &Ranked<Choice>, of: usize) -> String {
    let s = &chosen.score;
    let name = |act: &Choice| match act {
        Choice::Continue => "goes on".to_owned(),
        Choice::Begin(doing) => moves.get(*doing).name.clone(),
    };
    let line: Vec<String> = chosen
        .line
        .iter()
        .skip(1)
        .take(4)
        .map(|(who, act)| format!("{}{}", if *who == 0 { "" } else { "other: " }, name(act)))
        .collect();
    let follows = if line.is_empty() { String::new() } else { format!("; then {}", line.join(", ")) };
    format!(
        "J {:+.2} = given {:.2} - taken {:.2} + control {:.2} - place {:.2} - stall {:.2}; best of {of}{follows}",
        chosen.value, s.given, s.taken, s.control, s.location, s.stall
    )
}
