//! What several tests of graphs and libraries need.

#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::panic,
    reason = "helpers of tests; each file uses its own part"
)]

pub(crate) mod named;

use std::path::Path;
use std::sync::Arc;

use kumite_bake::analyse::Class;
use kumite_motion::library::Library;
use kumite_motion::{Chance, EdgeIdx, Graph, Side, SpanKind, Vec2};
use kumite_stage::{Character, Recorder, TICKS, Take};
use serde::Deserialize;

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TruthFile {
    action: Vec<SeenAction>,
}

/// An action that people saw in a capture.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SeenAction {
    pub(crate) kind: String,
    pub(crate) class: String,
    pub(crate) side: Option<String>,
    pub(crate) height: Option<String>,
    /// When a fist is fastest; what lasts has `from` and `to` instead.
    pub(crate) at: Option<f32>,
    pub(crate) from: Option<f32>,
    pub(crate) to: Option<f32>,
    /// Left out of the score.
    #[serde(default)]
    pub(crate) unsure: bool,
}

impl SeenAction {
    pub(crate) fn from(&self) -> f32 {
        self.from.or(self.at).unwrap()
    }

    pub(crate) fn to(&self) -> f32 {
        self.to.or(self.at).unwrap()
    }

    pub(crate) fn class(&self) -> Class {
        Class::from_name(&self.class).unwrap()
    }

    pub(crate) fn is_attack(&self) -> bool {
        self.kind == SpanKind::Attack.name()
    }

    pub(crate) fn has_side(&self, side: Side) -> bool {
        self.side.as_deref() == Some(if side == Side::Left { "left" } else { "right" })
    }
}

/// What people saw in a capture, from `tests/truth`.
pub(crate) fn seen_actions(clip: &str) -> Vec<SeenAction> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/truth/cmu-{clip}.toml"));
    let text = std::fs::read_to_string(path).unwrap();
    kumite_text::read::<TruthFile>(&text).unwrap_or_else(|e| panic!("{clip}: {e}")).action
}
