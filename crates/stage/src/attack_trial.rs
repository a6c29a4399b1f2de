//! Random attacks at random moments: what dodging is measured by.

use std::sync::Arc;

use kumite_motion::graph::{Layer, NodeIdx};
use kumite_motion::library::Library;
use kumite_motion::{Vec2, Vec3};
use kumite_plan::threat::Ball;
use kumite_plan::{Leg, Threat};

use crate::wander::{play_on, wander};
use crate::{Chance, Character, Target};

/// A character, what it would do, and what comes at it.
#[derive(Clone, Debug)]
pub struct Trial {
    /// At the moment the attack is seen.
    pub character: Character,
    /// What it plays next if nothing happens.
    pub ahead: Vec<Leg>,
    /// The ball.
    pub ball: Ball,
    /// The same as an attack.
    pub threats: Vec<Threat>,
    /// What it is thrown at.
    pub target: Target,
    /// Seconds from seeing to hitting.
    pub lead: f32,
}

/// Radius of the balls of trials, metres: a football.
pub const RADIUS: f32 = 0.11;

impl Trial {
    /// A random ball, 8 to 30 m/s from all round, seen 0.3 to 1.2 s ahead, at a random moment of wandering. `None` where the numbers make
    /// no attack, which does not happen with a library that plays.
    pub fn random(library: &Arc<Library>, seed: u64) -> Option<Trial> {
        Trial::aimed(library, seed, None)
    }

    /// The same at a target and with a lead, seconds, if they are given.
    pub fn aimed(library: &Arc<Library>, seed: u64, given: Option<(Target, f32)>) -> Option<Trial> {
        let mut chance = Chance::new(seed);
        let unit = |chance: &mut Chance| (chance.next() >> 8) as f32 / 16_777_216.0;
        let nodes: Vec<NodeIdx> = library.graph().nodes_of(Layer::Fight).collect();
        let node = *nodes.get(chance.below(nodes.len().max(1) as u32) as usize)?;
        let at = Vec2::new(unit(&mut chance) * 4.0 - 2.0, unit(&mut chance) * 4.0 - 2.0);
        let mut character = Character::new(Arc::clone(library), node, at, unit(&mut chance) * std::f32::consts::TAU);
        let ticks = 60 + chance.below(360);
        for _ in 0..ticks {
            character.step(|_, next| next[chance.below(next.len() as u32) as usize]);
        }
        let ahead = wander(library, character.playing().edge, 4.0, &mut chance);
        let target = Target::ALL[chance.below(5) as usize];
        let (speed, lead) = (8.0 + 22.0 * unit(&mut chance), 0.3 + 0.9 * unit(&mut chance));
        let (target, lead) = given.unwrap_or((target, lead));
        let (around, up) = (unit(&mut chance) * std::f32::consts::TAU, unit(&mut chance) * 0.6 - 0.1);
        let which = chance.next();
        let aim = target.place(&play_on(&character, &ahead, lead), which);
        let (s, c) = libm::sincosf(around);
        let (rise, flat) = libm::sincosf(up);
        let mut from = aim + Vec3::new(s * flat, rise, c * flat) * (speed * lead);
        from.y = from.y.max(0.15);
        let ball = Ball::aimed(from, aim, lead, RADIUS, chance.below(2) == 0);
        let threats = vec![Threat::ball(&ball, lead).ok()?];
        Some(Trial { character, ahead, ball, threats, target, lead })
    }
}
