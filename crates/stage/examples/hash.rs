//! The hash of a walk on the embedded motions, from keys to frames: the same number natively, on any number of threads, and in wasm.

#![allow(unsafe_code, reason = "a name that wasm exports must not be mangled")]

use std::sync::Arc;

use kumite_bake::library::{BakeConfig, bake};
use kumite_keying::embedded;
use kumite_motion::{NodeIdx, Vec2};
use kumite_stage::{Chance, Character, Recorder, TICKS};

/// Bakes the embedded motions and walks 20 s on them. 0 if something went wrong.
#[unsafe(no_mangle)]
pub extern "C" fn hash(seed: u32) -> u64 {
    let baked = embedded::clips().ok().and_then(|clips| bake("embedded", clips, &BakeConfig::default()).ok());
    let Some(library) = baked.map(|b| Arc::new(b.library)) else { return 0 };
    let mut chance = Chance::new(seed.into());
    let node = NodeIdx(chance.below(library.graph().nodes().len() as u32));
    let mut character = Character::new(Arc::clone(&library), node, Vec2::ZERO, 0.0);
    let mut recorder = Recorder::default();
    recorder.record(&character, None);
    for _ in 0..20 * TICKS {
        let began = character.step(|_, next| next[chance.below(next.len() as u32) as usize]);
        recorder.record(&character, began);
    }
    recorder.finish("walk", library.skeleton()).map_or(0, |take| take.hash)
}
