//! A thousand characters, each attacked once a second, at 60 frames a second on two cores.

use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_plan::Threat;
use kumite_plan::dodge::{DodgeConfig, DodgeScratch};
use kumite_plan::threat::Ball;
use kumite_stage::Target;
use kumite_stage::attack_trial::Moment;
use kumite_stage::wander::{play_on, wander};
use kumite_stage::{Chance, Character, Defence, Kit};

use crate::{figure, holds};

const CHARACTERS: usize = 1000;
const FRAMES: usize = 600;
const CORES: usize = 2;

/// A character of the crowd.
struct Fighter {
    character: Character,
    chance: Chance,
    /// Frame within each second at which it is attacked.
    attacked_at: usize,
}

/// CPU seconds of each frame, and of each decision.
fn play(defence: &Defence, mut crowd: Vec<Fighter>) -> (Vec<f64>, Vec<f64>) {
    let mut scratch = DodgeScratch::default();
    let (mut frames, mut decisions) = (Vec::new(), Vec::new());
    for frame in 0..FRAMES {
        // Balls are made before the clock starts: in a game, other code throws them.
        let mut thrown = Vec::new();
        for (k, fighter) in crowd.iter_mut().enumerate().filter(|(_, f)| frame % 60 == f.attacked_at) {
            let ahead = wander(defence.library(), fighter.character.playing().edge, 3.0, &mut fighter.chance);
            let lead = 0.3 + 0.9 * (fighter.chance.below(1000) as f32 / 1000.0);
            let target = Target::ALL[fighter.chance.below(5) as usize];
            let aim = target.place(&play_on(&fighter.character, &ahead, lead), fighter.chance.next());
            let turn = fighter.chance.below(6283) as f32 / 1000.0;
            let (s, c) = libm::sincosf(turn);
            let from = aim + glam::Vec3::new(s, 0.1, c) * (15.0 * lead);
            if let Ok(threat) = Threat::ball(&Ball::aimed(from, aim, lead, 0.11, false), lead) {
                thrown.push((k, ahead, threat));
            }
        }
        let start = ThreadTime::now();
        for (k, ahead, threat) in thrown {
            let fighter = &mut crowd[k];
            let begun = ThreadTime::now();
            let decision = defence.decide(&fighter.character, &ahead, &[threat], &mut scratch);
            decisions.push(begun.elapsed().as_secs_f64());
            if let Ok(decision) = decision {
                fighter.character.commit(decision.plan(&ahead, fighter.character.leaves()));
            }
        }
        for fighter in &mut crowd {
            for _ in 0..2 {
                let chance = &mut fighter.chance;
                fighter.character.step(|_, next| next[chance.below(next.len() as u32) as usize]);
            }
        }
        frames.push(start.elapsed().as_secs_f64());
    }
    (frames, decisions)
}

pub(crate) fn run() {
    let Some(library) = kumite_captures::whole_library("embedded") else { return holds(false) };
    let kits = [Arc::new(Kit::new(Defence::new(Arc::new(library), DodgeConfig::default()), None))];
    let Some(defence) = kits[0].defence() else { return holds(false) };
    let crowd: Vec<Fighter> = (0..CHARACTERS)
        .filter_map(|k| {
            let character = Moment::random(&kits, k as u64)?.character;
            Some(Fighter { character, chance: Chance::new(k as u64), attacked_at: k % 60 })
        })
        .collect();
    figure("characters", crowd.len() as f64, "");
    figure("decisions a second", crowd.len() as f64, "");
    let mut halves: Vec<Vec<Fighter>> = (0..CORES).map(|_| Vec::new()).collect();
    for (k, fighter) in crowd.into_iter().enumerate() {
        halves[k % CORES].push(fighter);
    }
    let played: Vec<(Vec<f64>, Vec<f64>)> = std::thread::scope(|scope| {
        let threads: Vec<_> = halves.into_iter().map(|half| scope.spawn(|| play(defence, half))).collect();
        threads.into_iter().filter_map(|t| t.join().ok()).collect()
    });
    // A frame is done when the slower core has done its half.
    let mut frames: Vec<f64> = (0..FRAMES).map(|f| played.iter().map(|p| p.0[f]).fold(0.0, f64::max) * 1e3).collect();
    let mut decisions: Vec<f64> = played.iter().flat_map(|p| p.1.iter().map(|s| s * 1e6)).collect();
    frames.sort_by(f64::total_cmp);
    decisions.sort_by(f64::total_cmp);
    let at = |v: &[f64], share: f64| v.get((v.len() as f64 * share) as usize).copied().unwrap_or(f64::INFINITY);
    figure("a frame's CPU time, p50", at(&frames, 0.5), "ms");
    figure("a frame's CPU time, p99", at(&frames, 0.99), "ms");
    figure("a decision with bending and blocking, p50", at(&decisions, 0.5), "µs");
    figure("a decision with bending and blocking, p99", at(&decisions, 0.99), "µs");
    holds(played.len() == CORES && at(&frames, 0.99) <= 16.0);
}
