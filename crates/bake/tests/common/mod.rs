//! What several tests of graphs and libraries need.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests; each file uses its own part"
)]

use std::sync::Arc;

use kumite_motion::library::Library;
use kumite_motion::{Chance, EdgeIdx, Graph, Vec2};
use kumite_stage::{Character, Recorder, TICKS, Take};

/// A figure, as `cargo dev prove` reads it.
pub(crate) fn say(figure: &str, value: f32, unit: &str) {
    println!("{{\"figure\": \"{figure}\", \"value\": {value}, \"unit\": \"{unit}\"}}");
}

/// Whether every node reaches every other.
pub(crate) fn connected(graph: &Graph) -> bool {
    [false, true].into_iter().all(|backwards| {
        let mut seen = vec![false; graph.nodes().len()];
        let mut open = vec![0];
        seen[0] = true;
        while let Some(node) = open.pop() {
            for edge in graph.edges() {
                let (from, to) = if backwards { (edge.to, edge.from) } else { (edge.from, edge.to) };
                if from.at() == node && !std::mem::replace(&mut seen[to.at()], true) {
                    open.push(to.at());
                }
            }
        }
        seen.into_iter().all(|s| s)
    })
}

/// Plays a character; `choose` says what follows.
pub(crate) fn played(mut character: Character, seconds: f32, mut choose: impl FnMut(&[EdgeIdx]) -> EdgeIdx) -> Take {
    let mut recorder = Recorder::default();
    recorder.record(&character, None);
    for _ in 0..(seconds * TICKS as f32) as u32 {
        let began = character.step(|_, next| {
            assert!(!next.is_empty(), "a dead end");
            choose(next)
        });
        recorder.record(&character, began);
    }
    recorder.finish("walk", character.library().skeleton()).unwrap()
}

/// Plays edges at random.
pub(crate) fn random_walk(library: &Arc<Library>, seed: u64, seconds: f32) -> Take {
    let mut chance = Chance::new(seed);
    let first = EdgeIdx(chance.below(library.graph().edges().len() as u32));
    let character = Character::on(Arc::clone(library), first, Vec2::ZERO, 0.0);
    played(character, seconds, |next| next[chance.below(next.len() as u32) as usize])
}
