//! Random walks on the embedded motions and on captures keep the quality gates. `cargo dev prove wander` makes ten thousand of them.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use kumite_motion::{NodeIdx, Vec2};
use kumite_stage::{Chance, Character, Recorder, TICKS};

fn walks(name: &str) {
    let Some(baked) = kumite_captures::library(name) else { return };
    let library = Arc::new(baked.library);
    let (mut slide, mut beyond) = (0.0, Vec::new());
    for seed in 0..100 {
        let mut chance = Chance::new(seed);
        let node = NodeIdx(chance.below(library.graph().nodes().len() as u32));
        let mut character = Character::new(Arc::clone(&library), node, Vec2::ZERO, 0.0);
        let mut recorder = Recorder::default();
        recorder.record(&character, None);
        for _ in 0..20 * TICKS {
            let began = character.step(|_, next| next[chance.below(next.len() as u32) as usize]);
            recorder.record(&character, began);
        }
        // A clip is made of finite numbers only, or not at all.
        let q = recorder.finish("walk", library.skeleton()).unwrap().quality;
        slide += q.foot_slide_cm_s / 100.0;
        if q.foot_slide_cm_s > 2.0 || q.snap_at_joins > 1.5 || q.float_cm > 1.0 {
            beyond.push((seed, q));
        }
    }
    assert!(slide <= 2.0, "{name}: {slide} cm/s");
    assert!(beyond.len() <= 1, "{name}: {beyond:?}");
}

#[test]
fn walks_on_the_embedded_motions() {
    walks("embedded");
}

#[test]
fn walks_on_accad() {
    walks("accad-male2");
}

#[test]
fn walks_on_cmu_fights() {
    walks("cmu-fight");
}

#[test]
fn walks_on_cmu_walks() {
    walks("cmu-walk");
}
