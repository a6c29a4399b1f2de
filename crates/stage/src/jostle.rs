//! Bodies that get into each other are pushed apart, and their joints pull them back to their motion; feet that stand stay (Shum, Komura and
//! Yamazaki 2007, § 6). Legs that walk into something are stopped by it, and stumble.

use std::sync::Arc;

use kumite_motion::volume::{BodySphere, Obstacle};
use kumite_motion::{Role, Vec3};
use kumite_react::Touch;
use kumite_react::ragdoll::parts::part_of;

use crate::arbiter::Blow;
use crate::world::{CharacterId, World};
use crate::{Kit, TICKS};

/// Spheres are thicker than the body they cover: so deep into each other bodies touch, metres.
const TOUCH: f32 = 0.03;
/// How quickly an overlap is pushed out, per second.
const OUT: f32 = 6.0;
/// The mass that a part is pushed with, kilograms: its own would not move the rest.
const WEIGHT: f32 = 8.0;
/// Nobody is farther from its root than this, metres.
const FAR: f32 = 1.3;
/// A leg this deep in something has walked into it, metres, if it goes on into it at this speed, metres per second. Ways that are planned come nearer
/// than [`TOUCH`] to what they pass.
const INTO: f32 = 0.06;
const GOES: f32 = 0.6;
/// The mass that stops with a leg, kilograms.
const STOPS: f32 = 20.0;

/// Where somebody's spheres were and are.
pub(crate) type Placed = (CharacterId, Vec<Vec3>, Vec<Vec3>);

/// A pair of spheres that overlap: which, and how deep.
struct Overlap {
    pair: [usize; 2],
    depth: f32,
}

fn deepest(spheres: [&[BodySphere]; 2], places: [&[Vec3]; 2]) -> Option<Overlap> {
    let mut deepest: Option<Overlap> = None;
    for (i, (a, p)) in spheres[0].iter().zip(places[0]).enumerate() {
        for (j, (b, q)) in spheres[1].iter().zip(places[1]).enumerate() {
            let both = a.radius + b.radius - TOUCH;
            let apart = (*p - *q).length_squared();
            if apart < both * both {
                let depth = both - apart.sqrt();
                if deepest.as_ref().is_none_or(|d| depth > d.depth) {
                    deepest = Some(Overlap { pair: [i, j], depth });
                }
            }
        }
    }
    deepest
}

/// Pushes apart whoever overlaps.
pub(crate) fn bodies(kits: &[Arc<Kit>], world: &mut World, placed: &[Placed]) {
    for (k, first) in placed.iter().enumerate() {
        for second in &placed[k + 1..] {
            let who = [first.0, second.0];
            // Fighters keep their own distance: blows stop where they land, and push.
            if who.iter().all(|id| world.characters[*id].spar.is_some()) {
                continue;
            }
            let root = |id: CharacterId, world: &World| world.characters[id].character.pose().root();
            if (root(who[0], world) - root(who[1], world)).length() > 2.0 * FAR {
                continue;
            }
            let libraries = who.map(|id| Arc::clone(world.characters[id].character.library()));
            let spheres = [libraries[0].spheres(), libraries[1].spheres()];
            let Some(Overlap { pair: [i, j], depth }) = deepest(spheres, [&first.2, &second.2]) else { continue };
            let (a, b) = ([first.1[i], first.2[i]], [second.1[j], second.2[j]]);
            let normal = (a[1] - b[1]).normalize_or(Vec3::X);
            let closing = -((a[1] - a[0]) - (b[1] - b[0])).dot(normal) * TICKS as f32;
            let push = normal * (0.5 * WEIGHT * (closing.clamp(0.0, 4.0) + OUT * depth));
            let at = a[1].lerp(b[1], 0.5);
            for (id, part, push) in [(who[0], spheres[0][i].part, push), (who[1], spheres[1][j].part, -push)] {
                let around = near(&world.obstacles, at);
                let member = &mut world.characters[id];
                if let Some(kit) = kits.get(member.kit) {
                    member.character.nudge(kit.recoveries(), part_of(part), push, at, &around);
                }
            }
        }
    }
}

fn near(obstacles: &[Obstacle], place: Vec3) -> Vec<Obstacle> {
    obstacles.iter().filter(|o| o.distance(place) < 2.0).copied().collect()
}

/// Whoever walks into something is stopped by it.
pub(crate) fn stumble(world: &mut World, placed: &[Placed]) {
    if world.obstacles.is_empty() {
        return;
    }
    for (who, before, after) in placed {
        let member = &world.characters[*who];
        if member.character.response().is_some() || member.blow.is_some() {
            continue;
        }
        let library = Arc::clone(member.character.library());
        let legs = |part: Role| matches!(part, Role::LeftKnee | Role::RightKnee | Role::LeftHip | Role::RightHip);
        let blow = library.spheres().iter().zip(before).zip(after).filter(|((s, _), _)| legs(s.part)).find_map(
            |((sphere, a), b)| {
                let inside = |o: &&Obstacle| o.distance(*b) < sphere.radius - INTO;
                let obstacle = world.obstacles.iter().find(inside)?;
                let speed = (*b - *a) * TICKS as f32;
                // Out of the obstacle is where the distance grows.
                let slope = |axis: Vec3| obstacle.distance(*b + axis * 1e-3) - obstacle.distance(*b - axis * 1e-3);
                let out = Vec3::new(slope(Vec3::X), 0.0, slope(Vec3::Z)).normalize_or(Vec3::ZERO);
                if -speed.dot(out) < GOES {
                    return None;
                }
                let touch = Touch { part: sphere.part, at: *b, normal: -out, velocity: -speed, mass: STOPS };
                Some(Blow { part: sphere.part, along: out, touch, ready: false })
            },
        );
        if let Some(blow) = blow {
            world.characters[*who].blow = Some(blow);
        }
    }
}
