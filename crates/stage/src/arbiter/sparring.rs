//! What a fighter decides, and how its choice gets onto the stage.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::interrupt;
use kumite_motion::{Contacts, EdgeIdx, Layer, NodeIdx, Role, SpanKind, Vec3};
use kumite_plan::spar::bout::Pruned;
use kumite_plan::spar::contest::{Contest, Scores};
use kumite_plan::spar::moves::{GUARDS, RATE};
use kumite_plan::spar::tree::{self, Ranked};
use kumite_plan::spar::{Bout, Choice, Fighter, Move, MoveIdx, MoveKind, Moves};
use kumite_plan::{Bend, Leg, Plan, Warp};

use super::{AHEAD, STOP, Turn};
use crate::SparKit;
use crate::sparring::{ARENA, EACH, SparState, corners, fight, reach_out};
use crate::world::{CharacterId, Doing, Wish};

/// Joins into reactions take so long, seconds.
const FLINCH: f32 = 0.12;
/// A guard that is turned by less than this is left as it is, radians.
const LITTLE: f32 = 0.06;
/// A guarding hand is moved by so much at most, metres.
const MEETS: f32 = 0.26;

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
        if forced {
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
        let (tick, member) = (self.world.tick, &mut self.world.characters[self.who]);
        let old = member.spar.take();
        let mut fighter = Fighter::new(place, guard);
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
        member.spar = Some(Box::new(state));
        self.begin_move(kit, guard, &place, None, Some(0.25));
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
        let game = Bout {
            moves: &kit.moves,
            table: &kit.table,
            corners: &corners,
            arena: ARENA,
            clairvoyant: config.clairvoyant,
            pruned: Pruned::default(),
        };
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
            fighter.place = PlanarMatrix::new(&self.character().placement()).after(&made.begins);
        }
        let bend = match made.kind {
            MoveKind::Strike => reach_out(&game, &fighter, &belief.fighters[1], 0),
            MoveKind::Block => meet(&game, &fighter, made, &belief.fighters[1]),
            _ => None,
        };
        let place = fighter.place;
        let tick = self.world.tick;
        if let Some(spar) = self.world.characters[self.who].spar.as_mut() {
            (spar.fighter, spar.began) = (fighter, tick);
            (spar.seen, spar.answered, spar.least) = (false, false, f32::INFINITY);
        }
        if !stays {
            self.begin_move(kit, doing, &place, bend, None);
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
        self.begin_move(kit, doing, &place, None, Some(FLINCH));
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
    fn begin_move(
        &mut self,
        kit: &SparKit,
        doing: MoveIdx,
        place: &PlanarMatrix,
        bend: Option<Bend>,
        blend: Option<f32>,
    ) {
        let made = kit.moves.get(doing);
        let laid = place.after(&made.begins.inverse());
        let character = self.character();
        // The farther the body has to go the longer it takes.
        let joints = character.world().positions.iter().zip(&made.joints);
        let (sum, number) =
            joints.fold((0.0, 0.0f32), |(sum, n), (a, b)| (sum + (*a - laid.point(*b)).length_squared(), n + 1.0));
        let needed = interrupt::blend((sum / number.max(1.0)).sqrt());
        let blend = blend.map_or(needed, |least| least.max(needed));
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

/// Moves a guarding hand onto the way of the blow it is meant for.
fn meet(game: &Bout<'_>, fighter: &Fighter, made: &Move, other: &Fighter) -> Option<Bend> {
    let blow = game.open_blow(other)?;
    let wrist = made.guard.filter(|role| matches!(role, Role::LeftWrist | Role::RightWrist))?;
    let k = GUARDS.iter().position(|role| *role == wrist)?;
    let left = blow.at.saturating_sub(u32::from(other.t));
    let hand = fighter.place.point(*made.body(left).get(game.moves.targets().len() + k)?);
    let off = other.aim - other.way * 0.10 - hand;
    let way = off.normalize_or(Vec3::ZERO) * off.length().min(MEETS);
    let at = left as f32 / RATE as f32;
    let (rise, fall) = ((0.0, (at - 0.02).max(0.05)), (at + 0.12, at + 0.4));
    Some(Bend { hand: Some((wrist, way)), rise, fall, size: way.length() / MEETS, ..Bend::default() })
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
