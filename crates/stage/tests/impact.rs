//! Hits on stage: what physics shows, what comes of it, and that nobody sees it come and go.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::{Arc, OnceLock};

use kumite_captures::whole_library;
use kumite_motion::{Role, Vec2, Vec3};
use kumite_plan::dodge::DodgeConfig;
use kumite_stage::op::{Begin, Op, Spawn, ThrowOp};
use kumite_stage::world::{Perception, Wish};
use kumite_stage::{Defence, EventKind, Kit, Performance, TICKS, Target};

fn kits() -> &'static [Arc<Kit>] {
    static KITS: OnceLock<Vec<Arc<Kit>>> = OnceLock::new();
    KITS.get_or_init(|| {
        let library = Arc::new(whole_library("embedded").unwrap());
        vec![Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), None))]
    })
}

/// Somebody who sees nothing come, and a ball.
fn ops(begin: &str, target: Target, from: [f32; 3], (speed, radius, mass): (f32, f32, f32)) -> Vec<(u64, Op)> {
    let spawn = Spawn {
        name: "Ana".into(),
        kit: 0,
        at: Vec2::ZERO,
        facing: 0.0,
        begin: Some(Begin::parse(begin)),
        wish: Wish::Stay,
        perception: Perception::BLIND,
        seed: 5,
    };
    let from = Vec3::from_array(from);
    let throw = ThrowOp { at: "Ana".into(), target, sphere: 0, from, lead: None, speed, radius, mass, falls: false };
    vec![(0, Op::Spawn(spawn)), (60, Op::Throw(throw))]
}

#[test]
fn probe() {
    for (begin, target, from, ball, seconds) in [
        ("guard-idle", Target::Chest, [0.0, 1.3, 2.0], (10.0, 0.18, 10.0), 7u64),
        ("stand-idle", Target::Chest, [2.0, 1.3, 0.0], (10.0, 0.18, 10.0), 7),
        ("stand-idle", Target::Chest, [0.0, 1.3, -2.0], (10.0, 0.18, 10.0), 7),
    ] {
        let ops = ops(begin, target, from, ball);
        let mut performance = Performance::default();
        let mut last = None;
        for tick in 0..seconds * u64::from(TICKS) {
            let due: Vec<Op> = ops.iter().filter(|(w, _)| *w == tick).map(|(_, op)| op.clone()).collect();
            performance.step(kits(), &due);
            let member = performance.world.characters.values().next().unwrap();
            let r = member.character.response();
            let phase = r.map(|r| r.phase());
            if phase != last || (tick % 12 == 0 && phase.is_some_and(|p| p != kumite_react::Phase::Fading)) {
                println!(
                    "{:.2} {phase:?} fastest {:?} gap {:?} sunk {:?} off {:?} root {:?}",
                    tick as f32 / 120.0,
                    r.and_then(|r| r.ragdoll()).map(|r| r.fastest()),
                    r.and_then(|r| r.ragdoll()).map(|r| r.gap()),
                    r.and_then(|r| r.ragdoll()).map(|r| r.sunk()),
                    r.map(|r| r.off()),
                    member.character.pose().root()
                );
                last = phase;
            }
        }
        let take = performance.takes().unwrap().remove(0);
        println!(
            "snap {} in {} slide {} snaps {:?}",
            take.quality.snap, take.quality.snap_in_impacts, take.quality.foot_slide_most_cm_s, take.snaps
        );
        for e in &performance.events {
            if !matches!(e.kind, EventKind::Began { .. }) {
                println!("{} {:?}", e.tick as f32 / 120.0, e.kind);
            }
        }
    }
    let _ = Role::Head;
}
