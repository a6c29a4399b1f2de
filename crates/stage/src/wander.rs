//! Characters nobody asks anything of: which legs chance leads them along, and playing a copy of one on.

use kumite_motion::graph::EdgeIdx;
use kumite_motion::library::Library;
use kumite_plan::Leg;

use crate::{Chance, Character, TICKS};

/// Where chance would lead from an edge, for at least so many seconds.
pub fn wander(library: &Library, from: EdgeIdx, seconds: f32, chance: &mut Chance) -> Vec<Leg> {
    let graph = library.graph();
    let (mut edge, mut gone, mut way) = (from, 0.0, Vec::new());
    while gone < seconds && way.len() < 1000 {
        let next = graph.after(edge);
        let count = next.len() as u32;
        let Some(chosen) = next.clone().nth(chance.below(count.max(1)) as usize) else { break };
        edge = chosen;
        gone += graph.edge(edge).seconds;
        way.push(Leg::whole(edge));
    }
    way
}

/// Plays a copy on, along `ahead`.
pub fn play_on(character: &Character, ahead: &[Leg], seconds: f32) -> Character {
    let mut copy = character.clone();
    let mut queue = ahead.iter().map(|leg| leg.edge);
    for _ in 0..(seconds * TICKS as f32).round() as u32 {
        copy.step(|_, next| queue.next().filter(|e| next.contains(e)).unwrap_or(next[0]));
    }
    copy
}
