//! Fights on stage.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kumite_captures::whole_library;
use kumite_plan::spar::moves::Moves;

#[test]
fn dump() {
    let library = whole_library("embedded").unwrap();
    let start = std::time::Instant::now();
    let moves = Moves::of(&library);
    println!("{:?} {} moves, {} targets", start.elapsed(), moves.all().len(), moves.targets().len());
    for m in moves.all() {
        let c = m.carries();
        println!(
            "{:?} {:26} on {:?} ends {} leave {} act {:?} carries x{:+.2} z{:+.2} {:+.0}° guard {:?}",
            m.kind, m.name, m.onset, m.ends, m.leave, m.active, c.shift.x, c.shift.y, c.turn.to_degrees(), m.guard
        );
        for b in &m.blows {
            println!("      {:?} {:?} {:?} at {} act {:?} back {} place {:.2} way {:.2} dmg {:.2} long {}", b.part, b.kind, b.height, b.at, b.active, b.back, b.place, b.way, b.damage, b.long);
        }
    }
    let i = library.interrupts();
    let guard = moves.named("guard").unwrap();
    let g = moves.get(guard);
    let n = |clip, frame: u32| i.at(clip, kumite_motion::FrameIdx(frame)).count();
    println!("onsets {} from guard {:?}", i.onsets().len(), (0..16).map(|k| n(g.clip.0, k * 30)).collect::<Vec<_>>());
    let b = moves.get(moves.named("guard bounce").unwrap());
    println!("from bounce {:?}", (0..16).map(|k| n(b.clip.0, k * 15)).collect::<Vec<_>>());
    println!("body at guard {:.2?} {:?}", g.body(0), moves.targets());
}
