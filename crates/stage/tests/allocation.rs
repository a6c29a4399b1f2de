//! A world that is settled takes no memory: ticks in which nothing is committed allocate nothing, after the first second.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]
#![allow(unsafe_code, reason = "an allocator that counts")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use kumite_captures::whole_library;
use kumite_motion::{Vec2, Vec3};
use kumite_plan::dodge::DodgeConfig;
use kumite_stage::arbiter::LOOK_AGAIN;
use kumite_stage::op::{Op, Spawn, ThrowOp};
use kumite_stage::walk::Walker;
use kumite_stage::world::{Goal, Perception, WalkSearch, Wish};
use kumite_stage::{Defence, EventKind, Kit, Pipeline, TICKS, Target, World};

/// What rapier allocates in a tick of one body at most: a tick may take several of its steps.
const LISTS_OF_A_TICK: u64 = 32;

thread_local! {
    /// Allocations of this thread: those of the harness's own do not count.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator, counted.
struct Counting;

// SAFETY: every call is the system's.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn spawn(name: &str, at: [f32; 2], wish: Wish) -> Op {
    Op::Spawn(Spawn {
        name: name.to_owned(),
        kit: 0,
        at: Vec2::from_array(at),
        facing: 0.0,
        begin: None,
        wish,
        perception: Perception::default(),
        seed: 3,
    })
}

/// Legs that everybody has ahead of it.
fn committed(world: &World) -> Vec<usize> {
    world.characters.values().map(|m| m.character.legs().len()).collect()
}

#[test]
fn ticks_that_commit_nothing_allocate_nothing() {
    let library = Arc::new(whole_library("embedded").unwrap());
    let walker = Walker::new(Arc::clone(&library), Some(&Default::default()));
    let kits = [Arc::new(Kit::new(Defence::new(library, DodgeConfig::default()), Some(walker)))];
    let goal = Goal {
        at: Vec2::new(4.0, 5.0),
        facing: None,
        action: None,
        waypoints: Vec::new(),
        search: WalkSearch::default(),
    };
    let ops = [
        spawn("wanders", [0.0, 0.0], Wish::Wander),
        spawn("stays", [-4.0, 0.0], Wish::Stay),
        spawn("walks", [4.0, -3.0], Wish::Walk(goal)),
    ];
    let (mut world, mut pipeline) = (World::default(), Pipeline::default());
    pipeline.step(&kits, &mut world, &ops);
    let (mut quiet, mut began, mut flying, mut struck_ticks, mut took) = (0, 0, 0, 0, Vec::new());
    while world.tick < 20 * u64::from(TICKS) {
        // A slow ball now and then, at each in turn.
        let at = ["wanders", "stays", "walks"][(world.tick / 200 % 3) as usize];
        let ball = ThrowOp::football(at, Target::Head, Vec3::new(0.0, 1.5, 14.0), 9.0);
        let mut due = if world.tick.is_multiple_of(200) { vec![Op::Throw(ball)] } else { Vec::new() };
        // And some from so near that there is no time to do anything.
        if world.tick % 600 == 500 {
            due.push(Op::Throw(ThrowOp::football("stays", Target::Chest, Vec3::new(-4.0, 1.2, 3.0), 22.0)));
        }
        let (tick, before) = (world.tick, committed(&world));
        let counted = COUNT.get();
        let events = pipeline.step(&kits, &mut world, &due);
        let allocated = COUNT.get() - counted;
        let decides = events.iter().any(|e| !matches!(e.kind, EventKind::Began { .. } | EventKind::BallEnded { .. }));
        let begins = pipeline.began().iter().map(|b| usize::from(b.1.is_some()));
        let kept = before.iter().zip(begins.clone()).map(|(legs, begun)| legs - begun).eq(committed(&world));
        // Now and then balls that nothing was done about are looked at again.
        let looks_again = tick.is_multiple_of(LOOK_AGAIN) && world.characters.values().any(|m| !m.known.is_empty());
        if tick < u64::from(TICKS) || decides || !kept || looks_again {
            continue;
        }
        quiet += 1;
        began += begins.sum::<usize>();
        flying += usize::from(!world.balls.is_empty());
        // Of whoever is struck, on a guard too, bodies are moved by rapier, whose step lists joints, contacts and islands anew: small lists,
        // a few in every tick.
        let struck = world.characters.values().filter(|m| m.character.response().is_some()).count() as u64;
        struck_ticks += u64::from(struck > 0);
        if allocated > LISTS_OF_A_TICK * struck {
            took.push((tick, allocated));
        }
    }
    assert!(took.is_empty(), "ticks and allocations: {took:?}");
    assert!(struck_ticks > 10, "{struck_ticks}");
    assert!(quiet > 1500 && began > 20 && flying > 300, "{quiet} ticks, {began} legs began, {flying} with a ball");
}
