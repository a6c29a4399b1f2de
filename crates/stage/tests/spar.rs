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

#[test]
fn rehearse() {
    use kumite_plan::spar::rehearsal::{Entrant, bout};
    use kumite_plan::spar::{DefenceTable, Style};
    let library = whole_library("embedded").unwrap();
    let moves = Moves::of(&library);
    let start = std::time::Instant::now();
    let table = DefenceTable::of(&moves);
    println!("table {:?}", start.elapsed());
    let text = std::env::var("PAIRS").unwrap_or("2-2,4-2,4-4".into());
    let n: u64 = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(6);
    for pair in text.split(',') {
        let (a, b) = pair.split_once('-').unwrap();
        let entrant = |t: &str| {
            let (d, s) = t.split_once(':').unwrap_or((t, "general"));
            Entrant::new(Style::named(s).unwrap(), d.parse().unwrap())
        };
        let (a, b) = (entrant(a), entrant(b));
        let mut wins = [0; 3];
        let start = std::time::Instant::now();
        let mut sum = kumite_plan::spar::rehearsal::Tally::default();
        let (mut strikes, mut reached, mut landed, mut secs) = ([0.0f32; 2], 0, 0, 0.0f32);
        let mut def = 0;
        for k in 0..n {
            let swap = k % 2 == 1;
            let e = if swap { [&b, &a] } else { [&a, &b] };
            let t = bout(&moves, &table, e, [k * 2 + 1, k * 2 + 2], 60.0);
            wins[t.winner().map_or(2, |w| usize::from((w == 1) != swap))] += 1;
            for w in 0..2 {
                strikes[w ^ usize::from(swap)] += t.blows[w].iter().sum::<u32>() as f32;
                reached += t.blows[w].iter().sum::<u32>();
                landed += t.blows[w][0];
                def += t.defences[w];
            }
            secs += t.seconds;
            sum.gap = sum.gap.max(t.gap);
            sum.distance += t.distance / n as f32;
            sum.decisions += t.decisions;
            sum.counts.add(&t.counts);
            if k == 0 && n <= 2 {
                for (tick, who, name) in t.log.iter().take(60) {
                    println!("   {:.2} {} {}", *tick as f32 / 60.0, ["A", "          B"][*who], name);
                }
            }
            if k == 0 { println!("  {:?} {:?} {:?}", t.blows, t.different, t.given); }
        }
        let el = start.elapsed().as_secs_f32();
        println!(
            "{pair}: {wins:?} strikes/10s {:.1}/{:.1} landed {:.2} defences {} gap {:.1} dist {:.2} secs {:.0} decisions {} nodes {} leaves {} {:.1}s {:.2} us/node",
            strikes[0] / secs * 10.0, strikes[1] / secs * 10.0, landed as f32 / reached.max(1) as f32, def, sum.gap, sum.distance, secs,
            sum.decisions, sum.counts.nodes, sum.counts.leaves, el, el * 1e6 / sum.counts.nodes as f32
        );
    }
}

#[test]
fn watch() {
    use kumite_motion::{Role, Vec2};
    use kumite_plan::dodge::DodgeConfig;
    use kumite_stage::{Defence, EventKind, Kit, Performance, TICKS, scene};
    use std::sync::Arc;
    let library = Arc::new(whole_library("embedded").unwrap());
    let kits = vec![Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), None))];
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/duel.toml")).unwrap();
    let seed = std::env::var("SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(7);
    let scene = scene::read(&text).unwrap();
    let (ops, ticks) = scene.ops(seed);
    let mut p = Performance::default();
    let ops: Vec<_> = ops.into_iter().map(|o| o.1).collect();
    let mut seen = 0;
    for tick in 0..ticks {
        p.step(&kits, if tick == 0 { &ops } else { &[] });
        let ids: Vec<_> = p.world.characters.keys().collect();
        let moves = &kits[0].spar().moves;
        while seen < p.events.len() {
            let e = &p.events[seen];
            let name = e.who.map_or("", |w| &p.world.characters[w].name);
            match &e.kind {
                EventKind::Decided { what, why } => println!("  {:.2} {name}: {what} {}", e.tick as f32 / TICKS as f32, &why[..why.len().min(0)]),
                EventKind::Blow(b) => println!("      {:.2} {} at {name}: {:?} predicted {:?} gap {:.3} {:?}", e.tick as f32 / TICKS as f32, b.name, b.outcome, b.predicted, b.gap, b.part),
                _ => {}
            }
            seen += 1;
        }
        if tick % 60 == 59 {
            let at: Vec<Vec2> = ids.iter().map(|i| { let r = p.world.characters[*i].character.world().position(Role::Pelvis.joint()); Vec2::new(r.x, r.z) }).collect();
            let model: Vec<_> = ids.iter().map(|i| { let s = p.world.characters[*i].spar.as_ref().unwrap(); let m = moves.get(s.fighter.doing); s.fighter.place.after(m.stance(s.fighter.t as u32)) }).collect();
            let gaze: Vec<f32> = ids.iter().map(|i| kumite_stage::sense::gaze(&p.world.characters[*i].character)).collect();
            let b = |k: usize| kumite_plan::spar::bout::bearing(at[k], at[1 - k]);
            println!("{:.1} r {:.2} model {:.2}; off {:.2} {:.2}; gaze err {:.0} {:.0} model {:.0} {:.0}", (tick + 1) as f32 / 120.0, (at[0] - at[1]).length(), (model[0].shift - model[1].shift).length(),
                (at[0] - model[0].shift).length(), (at[1] - model[1].shift).length(),
                kumite_motion::rotation::wrap(gaze[0] - b(0)).to_degrees(), kumite_motion::rotation::wrap(gaze[1] - b(1)).to_degrees(),
                kumite_motion::rotation::wrap(model[0].turn - b(0)).to_degrees(), kumite_motion::rotation::wrap(model[1].turn - b(1)).to_degrees());
        }
    }
    for t in p.takes().unwrap() {
        println!("{} {:?} snaps {:?}", t.clip.name, t.quality, t.snaps);
    }
}
