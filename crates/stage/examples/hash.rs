//! Hashes of what the embedded motions give, from keys to frames: the same numbers natively, on any number of threads, and in wasm.

#![allow(unsafe_code, reason = "a name that wasm exports must not be mangled")]

use std::sync::Arc;

use kumite_bake::library::{BakeConfig, bake};
use kumite_bake::walking::{WalkingConfig, walking};
use kumite_keying::embedded;
use kumite_motion::library::Library;
use kumite_motion::{NodeIdx, Vec2};
use kumite_plan::dodge::DodgeConfig;
use kumite_plan::walk::{Effort, GoalFitConfig, Method, WalkConfig};
use kumite_stage::attack_trial::Trial;
use kumite_stage::walk::{Attempt, WalkRequest, Walker, clutter};
use kumite_stage::world::Perception;
use kumite_stage::{BallOutcome, Chance, Character, Defence, EventKind, Kit, Performance, Recorder, TICKS, scene};

fn library() -> Option<Arc<Library>> {
    Some(Arc::new(bake("embedded", embedded::clips().ok()?, &BakeConfig::default()).ok()?.library))
}

/// A walk of 20 s wherever chance leads. 0 if something went wrong, here and below.
#[unsafe(no_mangle)]
pub extern "C" fn wander(seed: u32) -> u64 {
    let Some(library) = library() else { return 0 };
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

/// Twenty balls at random moments, each in its own world.
#[unsafe(no_mangle)]
pub extern "C" fn dodges(seed: u32) -> u64 {
    let Some(library) = library() else { return 0 };
    let kits = [Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), None))];
    let mut all = 0u64;
    for number in 0..20 {
        let trial = Trial::random(&kits, u64::from(seed) * 1000 + number, Perception::ALL_ROUND, None);
        let Some(played) = trial.and_then(|trial| trial.play(&kits)) else { return 0 };
        all = all.rotate_left(5) ^ played.take.hash;
    }
    all
}

/// A scene with dodges, a walk and throws on one clock, played on the bundle that is made of the keys.
#[unsafe(no_mangle)]
pub extern "C" fn one_world(seed: u32) -> u64 {
    let Ok(bundle) = kumite_asset::read(include_bytes!("../../../library/embedded.kumite")) else { return 0 };
    let library = Arc::new(bundle);
    let walker = Walker::new(Arc::clone(&library), Some(&Default::default()));
    let kits = [Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), Some(walker)))];
    let Ok(scene) = scene::read(include_str!("../../../scenes/one-world.toml")) else { return 0 };
    let (ops, ticks) = scene.ops(seed.into());
    let played = Performance::play(&kits, &ops, ticks);
    let dodged = played.flights.iter().any(|f| f.end.is_some_and(|end| end.0 == BallOutcome::Dodged));
    let arrived = played.events.iter().any(|e| matches!(e.kind, EventKind::Arrived { .. }));
    let Ok(takes) = played.takes() else { return 0 };
    if dodged && arrived { takes.iter().fold(0, |all: u64, take| all.rotate_left(5) ^ take.hash) } else { 0 }
}

/// Three walks through clutter.
#[unsafe(no_mangle)]
pub extern "C" fn walks(seed: u32) -> u64 {
    let Some(library) = library() else { return 0 };
    let Some(more) = embedded::walks().ok() else { return 0 };
    let Ok(baked) = walking(&library, more, &WalkingConfig::default()) else { return 0 };
    let walker = Walker::new(Arc::new(baked.library), Some(&Default::default()));
    let Ok(grid) = scene::read(include_str!("../../../scenes/grid.toml")) else { return 0 };
    let Some(request) = WalkRequest::first(&grid) else { return 0 };
    let mut all = 0u64;
    for number in 0..3 {
        let seed = u64::from(seed) * 1000 + number;
        let request = clutter(&request, seed);
        let config = WalkConfig::default();
        let Ok(mut attempt) = Attempt::new(&walker, &request, Method::Walk, Effort::default(), config, seed) else {
            return 0;
        };
        loop {
            if attempt.search(Some(&GoalFitConfig::default())).is_err() {
                return 0;
            }
            if attempt.judge() {
                break;
            }
        }
        all = all.rotate_left(5) ^ attempt.best.map_or(1, |(walked, _)| walked.take.hash);
    }
    all
}
