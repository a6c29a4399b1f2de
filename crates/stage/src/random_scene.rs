//! Scenes by chance: a few characters among boxes, some on their way somewhere, with balls thrown at them.

use std::f32::consts::TAU;

use kumite_motion::rotation::yaw;
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{Chance, Vec2, Vec3};

use crate::op::{Op, Spawn, ThrowOp};
use crate::walk::{WalkRequest, has_way};
use crate::world::{Goal, Perception, WalkSearch, Wish};
use crate::{TICKS, Target};

/// Half the side of the floor things are on, metres.
const FLOOR: f32 = 4.0;
/// Seconds a scene lasts.
pub const SECONDS: f32 = 15.0;

fn between(chance: &mut Chance, low: f32, high: f32) -> f32 {
    low + (high - low) * chance.unit()
}

fn anywhere(chance: &mut Chance) -> Vec2 {
    Vec2::new(between(chance, -FLOOR, FLOOR), between(chance, -FLOOR, FLOOR))
}

/// The ops of a scene of [`SECONDS`], each with its tick: 1 to 4 characters at least 1.2 m apart and 0.6 m from 0 to 12 boxes, 0 to 6 throws;
/// half of the characters want to be somewhere that a disc of 25 cm can get to.
pub fn random_scene(seed: u64) -> Vec<(u64, Op)> {
    let mut chance = Chance::new(seed);
    let boxes: Vec<Obstacle> = (0..chance.below(13)).map(|_| a_box(&mut chance)).collect();
    let clear = |at: Vec2, room: f32| boxes.iter().all(|o| o.distance(Vec3::new(at.x, o.at.y, at.y)) > room);
    let mut ops: Vec<(u64, Op)> = boxes.iter().map(|o| (0, Op::Place(*o))).collect();
    let (mut places, mut names): (Vec<Vec2>, Vec<String>) = (Vec::new(), Vec::new());
    let wanted = 1 + chance.below(4);
    for _ in 0..200 {
        if names.len() as u32 == wanted {
            break;
        }
        let at = anywhere(&mut chance);
        if !clear(at, 0.6) || places.iter().any(|p| (*p - at).length() < 1.2) {
            continue;
        }
        let name = ["Ana", "Bo", "Cy", "Di"][names.len()].to_owned();
        let facing = between(&mut chance, 0.0, TAU);
        let wish = if chance.below(2) == 0 { goal(&mut chance, at, &boxes) } else { None };
        let spawn = Spawn {
            name: name.clone(),
            kit: 0,
            at,
            facing,
            begin: None,
            wish: wish.map_or(Wish::Wander, Wish::Walk),
            perception: Perception::default(),
            seed: seed.wrapping_mul(31).wrapping_add(names.len() as u64),
        };
        ops.push((0, Op::Spawn(spawn)));
        places.push(at);
        names.push(name);
    }
    for _ in 0..if names.is_empty() { 0 } else { chance.below(7) } {
        let tick = (between(&mut chance, 0.5, SECONDS - 2.0) * TICKS as f32) as u64;
        let who = chance.below(names.len() as u32) as usize;
        let (turn, far) = (between(&mut chance, 0.0, TAU), between(&mut chance, 6.0, 14.0));
        let from = Vec3::new(
            places[who].x + far * libm::sinf(turn),
            between(&mut chance, 0.5, 2.2),
            places[who].y + far * libm::cosf(turn),
        );
        let target = Target::ALL[chance.below(5) as usize];
        let throw = ThrowOp::football(&names[who], target, from, between(&mut chance, 8.0, 25.0));
        ops.push((tick, Op::Throw(ThrowOp { falls: chance.below(2) == 0, ..throw })));
    }
    ops.sort_by_key(|(tick, _)| *tick);
    ops
}

fn a_box(chance: &mut Chance) -> Obstacle {
    let half = 0.5 * Vec3::new(between(chance, 0.2, 0.8), between(chance, 0.2, 0.8), between(chance, 0.2, 0.8));
    let (at, turn) = (anywhere(chance), between(chance, 0.0, TAU));
    Obstacle { shape: Shape::Box { half }, at: Vec3::new(at.x, half.y, at.y), turn: yaw(turn) }
}

/// Somewhere at least 1.5 m away that can be got to.
fn goal(chance: &mut Chance, from: Vec2, boxes: &[Obstacle]) -> Option<Goal> {
    for _ in 0..20 {
        let at = anywhere(chance);
        let request = WalkRequest {
            name: String::new(),
            at: from,
            facing: 0.0,
            begin: None,
            goal: at,
            goal_facing: None,
            action: None,
            waypoints: Vec::new(),
            obstacles: boxes.to_vec(),
        };
        let clear = boxes.iter().all(|o| o.distance(Vec3::new(at.x, o.at.y, at.y)) > 0.5);
        if (at - from).length() > 1.5 && clear && has_way(&request, 0.25) {
            let facing = (chance.below(2) == 0).then(|| between(chance, 0.0, TAU));
            return Some(Goal { at, facing, action: None, waypoints: Vec::new(), search: WalkSearch::default() });
        }
    }
    None
}
