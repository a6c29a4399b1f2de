//! Blows against bodies as they are shown: what they meet, what that does, and limbs that are stopped by it.

use std::sync::Arc;

use kumite_motion::{Role, Vec2, Vec3};
use kumite_plan::spar::moves::MoveKind;
use kumite_plan::spar::shape::{LATE, SOON, TOUCH, in_the_way, striking};
use kumite_plan::spar::{Fighter, Outcome};

use crate::op::{BlowEvent, Event, EventKind};
use crate::sparring::{EACH, bend_of, corners, fight, mended, rules};
use crate::stop::{LONGEST, Stop};
use crate::world::{CharacterId, World};
use crate::{Kit, contact, give};

type Bodies = [(CharacterId, Vec<Vec3>, Vec<Vec3>)];

/// What a blow met in this tick.
struct Met {
    by: CharacterId,
    event: BlowEvent,
    other: CharacterId,
    way: Vec3,
    stop: Option<Stop>,
}

/// Blows against bodies as they are shown, swept over the tick. All of a tick are judged before any of them does anything.
pub(crate) fn contacts(kits: &[Arc<Kit>], world: &mut World, bodies: &Bodies, events: &mut Vec<Event>) {
    let mut met = Vec::new();
    follow(world, bodies);
    for (by, before, after) in bodies {
        if world.characters[*by].spar.is_some() {
            met.extend(arrives(kits, world, *by, (before, after), bodies));
        }
    }
    apply(kits, world, &met);
    give::crowd(kits, world);
    let tick = world.tick;
    for m in met {
        let (by, other) = (m.by, m.other);
        events.push(Event { tick, who: Some(other), kind: EventKind::Blow(m.event) });
        let out = world.characters[other].spar.as_ref().is_some_and(|s| s.fighter.health <= 0.0 && s.forced);
        if out {
            events.push(Event { tick, who: Some(other), kind: EventKind::KnockedOut { by } });
        }
    }
}

/// What stops a limb takes the stop along.
fn follow(world: &mut World, bodies: &Bodies) {
    for (by, ..) in bodies {
        let Some(stop) = world.characters[*by].character.stop.filter(Stop::fresh) else { continue };
        let Some((_, _, after)) = bodies.iter().find(|b| b.0 == stop.on.0) else { continue };
        let Some(centre) = after.get(stop.on.1) else { continue };
        let moved = *centre - stop.centre;
        let character = &mut world.characters[*by].character;
        if let Some(stop) = &mut character.stop {
            (stop.centre, stop.at) = (*centre, stop.at + moved);
        }
        character.hold_at_once();
    }
}

/// What touched first in a tick: when in it, which spheres.
struct First {
    time: f32,
    own: usize,
    theirs: usize,
}

/// What the blow that is under way meets in this tick, if it is over then.
fn arrives(
    kits: &[Arc<Kit>],
    world: &mut World,
    by: CharacterId,
    own: (&[Vec3], &[Vec3]),
    bodies: &Bodies,
) -> Option<Met> {
    let tick = world.tick;
    let member = &world.characters[by];
    let kit = kits.get(member.kit)?;
    let spar = member.spar.as_ref()?;
    let made = kit.spar().moves.get(spar.fighter.doing);
    let blow = *made.blows.get(spar.fighter.blow as usize)?;
    let other = spar.opponent;
    let rival = world.characters.get(other)?;
    let theirs = rival.spar.as_ref()?;
    let corners = corners(kit, world, by, other)?;
    let bout = rules(kit.spar(), &corners);
    let ticks = |began: u64| (tick + 1).saturating_sub(began);
    let mut predicted = spar.predicted;
    if spar.stale || theirs.stale {
        let at = |f: &Fighter, began: u64| Fighter { t: (ticks(began) / EACH) as u16, ..*f };
        let (f, q) = (at(&spar.fighter, spar.began), at(&theirs.fighter, theirs.began));
        (predicted, _) = bout.meets(0, &f, &blow, 1, &q);
    }
    // In ticks of the stage.
    let (now, tempo) = (ticks(spar.began) as f32, corners[0].style.tempo);
    let stage = |motion: f32| motion * tempo * EACH as f32;
    let over = now > stage((blow.at + LATE) as f32);
    let mut nearest = spar.least;
    let lies = matches!(kit.spar().moves.get(theirs.fighter.doing).kind, MoveKind::Down | MoveKind::Up);
    let mut first: Option<First> = None;
    if now >= stage(blow.at.saturating_sub(SOON) as f32) && !lies {
        let (_, their_before, their_after) = bodies.iter().find(|b| b.0 == other)?;
        let spheres = member.character.library().spheres();
        let rival_spheres = rival.character.library().spheres();
        for k in striking(spheres, blow.part) {
            let sphere = &spheres[k];
            let way = [own.0[k], own.1[k]];
            let pass = contact::sweep(rival_spheres, their_before, their_after, way, sphere.radius + TOUCH);
            nearest = nearest.min(pass.least + TOUCH);
            if let Some((time, _)) = pass.touch
                && first.as_ref().is_none_or(|f| time < f.time)
            {
                first = Some(First { time, own: k, theirs: pass.sphere });
            }
        }
    }
    if first.is_none() && !over {
        let spar = world.characters[by].spar.as_mut()?;
        (spar.least, spar.predicted, spar.stale) = (nearest, predicted, false);
        return None;
    }
    let part = first.as_ref().map(|f| rival.character.library().spheres()[f.theirs].part);
    let outcome = match part {
        Some(part) if in_the_way(part) => Outcome::Blocked,
        Some(_) => Outcome::Landed,
        None => Outcome::Missed,
    };
    let damage = if first.is_some() { bout.damage(0, &spar.fighter, &blow, part, outcome) } else { 0.0 };
    let mut end = member.character.world().position(blow.part.joint());
    let limb = matches!(blow.part, Role::LeftWrist | Role::RightWrist | Role::LeftAnkle | Role::RightAnkle);
    let mut stop = None;
    if let (Some(First { time, own: k, theirs: j }), Some((_, before, after))) =
        (&first, bodies.iter().find(|b| b.0 == other))
    {
        // Where the striking part was when it touched, and what it may not go into.
        let fist = own.0[*k].lerp(own.1[*k], *time);
        let centre = before[*j].lerp(after[*j], *time);
        end += fist - own.1[*k] + (after[*j] - centre);
        let way = (centre - fist).normalize_or(spar.fighter.way);
        let (part, on) = (blow.part, (other, *j));
        stop = limb.then_some(Stop { part, at: end, way, left: LONGEST, held: false, on, centre: after[*j] });
        nearest = (fist - centre).length()
            - member.character.library().spheres()[*k].radius
            - rival.character.library().spheres()[*j].radius;
    }
    let places = [&member.character, &rival.character].map(|c| c.world().position(Role::Pelvis.joint()));
    let away = places[1] - places[0];
    let event = BlowEvent {
        by,
        name: made.name.clone(),
        outcome,
        predicted,
        part,
        damage,
        at: end,
        gap: nearest,
        reach: Vec2::new(away.x, away.z).length() < 1.6,
        long: blow.long,
        seen: spar.seen,
        answered: spar.answered,
    };
    Some(Met { by, event, other, way: spar.fighter.way, stop })
}

/// Does what the blows of a tick do, all at once.
fn apply(kits: &[Arc<Kit>], world: &mut World, met: &[Met]) {
    let tick = world.tick;
    for m in met {
        let Some(spar) = world.characters[m.by].spar.as_mut() else { continue };
        let t = ((tick + 1).saturating_sub(spar.began) / EACH) as u16;
        let f = &mut spar.fighter;
        (f.last, f.arrived, f.blow) = (m.event.outcome, t, f.blow + 1);
        if m.event.reach {
            f.since = 0;
        }
        if m.event.outcome == Outcome::Missed {
            f.chain = 0;
        }
        (spar.least, spar.given, spar.stale) = (f32::INFINITY, spar.given + m.event.damage, true);
        let own = *f;
        let character = &mut world.characters[m.by].character;
        if m.stop.is_some() {
            character.stop = m.stop;
            character.jolt();
            character.hold_at_once();
        }
        if let Some(theirs) = world.characters[m.other].spar.as_mut() {
            theirs.fighter.health -= m.event.damage;
        }
        aim_next(kits, world, m, Fighter { t, ..own });
    }
    for m in met.iter().filter(|m| m.event.outcome == Outcome::Landed) {
        world.characters[m.other].character.jolt();
        // Of two that hit each other at once the harder one goes on.
        let harder = |o: &&Met| o.by == m.other && o.other == m.by && o.event.outcome == Outcome::Landed;
        if met.iter().filter(harder).any(|o| o.event.damage > m.event.damage) {
            continue;
        }
        let Some(kit) = kits.get(world.characters[m.other].kit) else { continue };
        let Some(corners) = corners(kit, world, m.other, m.by) else { continue };
        let Some(own) = world.characters[m.by].spar.as_mut() else { continue };
        own.fighter.chain = own.fighter.chain.saturating_add(1);
        let (chain, attacker) = (own.fighter.chain, own.fighter);
        let Some(theirs) = world.characters[m.other].spar.as_mut() else { continue };
        let t = ((tick + 1).saturating_sub(theirs.began) / EACH) as u16;
        theirs.fighter.t = t;
        let mut both = fight(&theirs.fighter, &attacker);
        let bout = rules(kit.spar(), &corners);
        bout.strike(&mut both, 0, m.event.damage, m.event.part.unwrap_or(Role::Back), m.way, chain);
        theirs.fighter = both.fighters[0];
        (theirs.began, theirs.forced, theirs.stale) = (tick + 1, true, true);
    }
}

/// The next blow of a combination is aimed anew.
fn aim_next(kits: &[Arc<Kit>], world: &mut World, m: &Met, own: Fighter) {
    let Some(kit) = kits.get(world.characters[m.by].kit) else { return };
    let Some(blow) = kit.spar().moves.get(own.doing).blows.get(own.blow as usize) else { return };
    let Some(corners) = corners(kit, world, m.by, m.other) else { return };
    let Some(theirs) = world.characters[m.other].spar.as_ref().map(|s| s.fighter) else { return };
    let game = rules(kit.spar(), &corners);
    let passed = u32::from(own.t);
    let aim = game.aim(0, &own, blow, passed, 1, &game.seen(0, &theirs));
    let member = &mut world.characters[m.by];
    if let Some(spar) = member.spar.as_mut() {
        (spar.fighter.led, spar.fighter.hits, spar.fighter.way) = (aim.led, aim.hits as u16, aim.way);
    }
    member.character.second = bend_of(&aim.led, passed).map(|bend| (bend, 0.0));
    let aimed = Fighter { led: aim.led, hits: aim.hits as u16, way: aim.way, ..own };
    let off = mended(&member.character, &game, &aimed);
    if let Some((_, way)) = member.character.second.as_mut().and_then(|(bend, _)| bend.hand.as_mut()) {
        *way += off;
    }
}
