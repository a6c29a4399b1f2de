//! Walks through clutter on the embedded library, searched, played and judged by the slow referee.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::sync::{Arc, OnceLock};

use kumite_bake::walking::{WalkingConfig, walking};
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{Chance, Quat, Vec2, Vec3};
use kumite_plan::walk::{
    Effort, GoalFitConfig, Method, MutationSearch, Nudges, Task, WalkConfig, WalkErrata, WalkError,
};
use kumite_plan::{Alone, Form, Pool};
use kumite_stage::course::Course;
use kumite_stage::scene;
use kumite_stage::walk::{Attempt, WalkOutcome, WalkRequest, Walker, blocked, clutter, has_way};

fn walker() -> &'static Walker {
    static WALKER: OnceLock<Walker> = OnceLock::new();
    WALKER.get_or_init(|| {
        let library = kumite_captures::library("embedded").unwrap().library;
        let more = kumite_keying::embedded::walks().unwrap();
        let baked = walking(&library, more, &WalkingConfig { mirror: true, ..WalkingConfig::default() }).unwrap();
        Walker::new(Arc::new(baked.library), Some(&Nudges::default()))
    })
}

fn request(name: &str) -> WalkRequest {
    let path = format!("{}/../../scenes/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    WalkRequest::first(&scene::read(&std::fs::read_to_string(path).unwrap()).unwrap()).unwrap()
}

fn attempt(request: &WalkRequest, method: Method, seed: u64) -> Result<Attempt<'_>, WalkError> {
    let mut attempt = Attempt::new(walker(), request, method, Effort::default(), WalkConfig::default(), seed)?;
    loop {
        attempt.search(Some(&GoalFitConfig::default()))?;
        if attempt.judge() {
            return Ok(attempt);
        }
    }
}

#[track_caller]
fn arrives(name: &str, request: &WalkRequest, method: Method, seed: u64) -> (Course, f32) {
    let attempt = attempt(request, method, seed).unwrap();
    assert_eq!(attempt.outcome, WalkOutcome::Arrived, "{name}");
    let (walked, path) = attempt.best.as_ref().unwrap();
    assert_eq!(walked.collision_frames, 0, "{name}");
    assert!(walked.before.0 <= 0.12 && walked.before.1.to_degrees() <= 8.0, "{name}: {:?}", walked.before);
    assert!(walked.off <= 0.03 && walked.turned.to_degrees() <= 2.0, "{name}: {} {}", walked.off, walked.turned);
    let q = walked.take.quality;
    assert!(q.foot_slide_cm_s <= 2.0 && q.float_cm <= 1.0 && q.snap <= 1.5, "{name}: {q:?}");
    assert!(path.cost.total().is_finite());
    (walked.course, attempt.least_turning)
}

fn wall(x: f32, z: f32, half: (f32, f32)) -> Obstacle {
    let half = Vec3::new(half.0, 1.0, half.1);
    Obstacle { shape: Shape::Box { half }, at: Vec3::new(x, 1.0, z), turn: Quat::IDENTITY }
}

fn plain(goal: Vec2, obstacles: Vec<Obstacle>) -> WalkRequest {
    WalkRequest {
        name: "a".to_owned(),
        at: Vec2::ZERO,
        facing: 0.0,
        begin: None,
        goal,
        goal_facing: Some(0.0),
        action: None,
        waypoints: Vec::new(),
        obstacles,
    }
}

#[test]
fn the_stock_scenes_are_walked_through() {
    for name in ["two-corner", "grid", "door", "cul-de-sac", "spiral"] {
        arrives(name, &request(name), Method::Walk, 0);
    }
}

/// Nobody passes the bar upright or the log with both feet on the floor: each needs the motion made for it.
#[test]
fn bars_are_ducked_under_and_logs_stepped_over() {
    for name in ["low-bar", "log"] {
        arrives(name, &request(name), Method::Walk, 0);
    }
}

/// Chen and Steed, § 6: EMS passes gaps narrower than twice the body's radius, PFF knows no way through.
#[test]
fn a_narrow_gap_is_passed_by_ems_and_not_by_pff() {
    let request = request("narrow-gap");
    assert!(walker().tables().body > 0.4, "the gap is 80 cm");
    arrives("narrow-gap", &request, Method::Ems, 0);
    let pff = attempt(&request, Method::Pff, 0).unwrap();
    assert!(pff.best.is_none() && pff.outcome == WalkOutcome::Lost);
}

/// A way through clutter is walked without zigzags or stops.
#[test]
fn clutter_has_a_way_and_it_is_found() {
    let grid = request("grid");
    let mut excess = 0.0;
    for seed in 0..6 {
        let made = clutter(&grid, seed);
        assert!(has_way(&made, 0.25));
        assert_eq!(made, clutter(&grid, seed));
        let (course, least) = arrives(&format!("clutter {seed}"), &made, Method::Walk, seed);
        assert!(course.waiting < 0.3, "{seed}: {course:?}");
        excess += (course.turning - least).to_degrees() / 6.0;
    }
    assert!(excess < 45.0, "{excess}° more than the way turns, on average");
}

#[test]
fn the_same_seed_walks_the_same_frames() {
    let request = clutter(&request("grid"), 3);
    let hash = || attempt(&request, Method::Walk, 5).unwrap().best.unwrap().0.take.hash;
    assert_eq!(hash(), hash());
}

#[test]
fn a_walled_goal_is_blocked_and_the_nearest_place_is_named() {
    let sides = vec![
        wall(0.0, 3.0, (1.1, 0.1)),
        wall(0.0, 5.0, (1.1, 0.1)),
        wall(-1.0, 4.0, (0.1, 1.1)),
        wall(1.0, 4.0, (0.1, 1.1)),
    ];
    let walled = plain(Vec2::new(0.0, 4.0), sides);
    let WalkOutcome::Blocked(closest) = attempt(&walled, Method::Walk, 0).unwrap().outcome else {
        panic!("not blocked")
    };
    let off = (closest - walled.goal).length();
    assert!((1.1..1.4).contains(&off), "{closest} is {off} m off");
    // So is a goal inside an obstacle.
    let inside = plain(Vec2::new(0.0, 4.0), vec![wall(0.0, 4.0, (0.6, 0.6))]);
    assert!(matches!(attempt(&inside, Method::Walk, 0).unwrap().outcome, WalkOutcome::Blocked(_)));
}

/// Walled-in goals and starts, gaps too narrow for anybody, goals in obstacles: each is reported as blocked, with a place that can be reached.
#[test]
fn blocked_goals_are_blocked_soon() {
    let grid = request("grid");
    for seed in 0..16 {
        let made = blocked(&grid, seed);
        let begun = std::time::Instant::now();
        let WalkOutcome::Blocked(closest) = attempt(&made, Method::Walk, seed).unwrap().outcome else {
            panic!("{seed} is not blocked")
        };
        // Ten times what a release build needs at most.
        assert!(begun.elapsed().as_secs_f32() < 10.0, "{seed}");
        assert!(!has_way(&made, 0.25));
        assert!(has_way(&WalkRequest { goal: closest, ..made.clone() }, 0.05), "{seed}: {closest}");
    }
}

/// Pools share the work and change nothing.
#[test]
fn any_pool_walks_the_same_frames_as_one_thread() {
    for (seed, method) in [(3, Method::Walk), (4, Method::Ems)] {
        let request = clutter(&request("grid"), seed);
        let walk = |pool: &dyn Pool| {
            let attempt = Attempt::new(walker(), &request, method, Effort::default(), WalkConfig::default(), seed);
            let mut attempt = attempt.unwrap().with_pool(pool);
            attempt.search(Some(&GoalFitConfig::default())).unwrap();
            attempt.judge();
            (attempt.counts, attempt.best.unwrap().0.take.hash)
        };
        let one = walk(&Alone);
        assert_eq!(one, walk(&Threads(2)));
        assert_eq!(one, walk(&Threads(3)));
    }
}

/// A pool of so many threads.
#[derive(Debug)]
struct Threads(usize);

impl Pool for Threads {
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            for thread in 0..self.0 {
                scope.spawn(move || (thread..parts).step_by(self.0).rev().for_each(work));
            }
        });
    }
}

#[test]
fn impossible_requests_are_refused_with_a_reason() {
    let goal = Vec2::new(0.0, 4.0);
    let refused = |request: &WalkRequest| attempt(request, Method::Walk, 0).map(|_| ()).unwrap_err().to_string();
    assert!(refused(&plain(goal, vec![wall(0.0, 0.0, (0.3, 0.3))])).contains("starts in obstacle 1"));
    assert!(refused(&plain(Vec2::new(f32::NAN, 0.0), Vec::new())).contains("the goal is not a finite number"));
    assert!(
        refused(&WalkRequest { at: Vec2::new(f32::INFINITY, 0.0), ..plain(goal, Vec::new()) })
            .contains("the start is not")
    );
    let mut odd = wall(0.0, 2.0, (0.1, 0.1));
    odd.at.x = f32::NAN;
    assert!(refused(&plain(goal, vec![odd])).contains("an obstacle is not"));
    let action = Some("juggle".to_owned());
    assert!(refused(&WalkRequest { action, ..plain(goal, Vec::new()) }).contains("\"juggle\""));
    arrives("an empty scene", &plain(goal, Vec::new()), Method::Walk, 0);
}

#[test]
fn ten_thousand_obstacles_are_walked_past_in_time() {
    let mut chance = Chance::new(1);
    let mut obstacles = Vec::new();
    while obstacles.len() < 10_000 {
        let (x, z) = (80.0 * chance.unit() - 40.0, 80.0 * chance.unit() - 40.0);
        if (x.abs() > 0.8 || !(-0.8..5.0).contains(&z)) && x.abs() + z.abs() > 1.0 {
            obstacles.push(wall(x, z, (0.05 + 0.1 * chance.unit(), 0.05 + 0.1 * chance.unit())));
        }
    }
    let begun = std::time::Instant::now();
    arrives("10,000 obstacles", &plain(Vec2::new(0.0, 4.0), obstacles), Method::Walk, 0);
    assert!(begun.elapsed().as_secs_f32() < 20.0);
}

/// Eq. 1-7 from the first change on, with culling, are those of every frame, every point and every obstacle.
#[test]
fn incremental_evaluation_agrees_with_the_naive_one() {
    let walker = walker();
    let request = clutter(&request("grid"), 1);
    let character = walker.spawn(walker.start_edge(None).unwrap(), request.at, request.facing);
    let query = walker.query(&character, request.goal, request.goal_facing, None);
    let task = Task::new(walker.library(), walker.tables(), query, &request.obstacles, WalkConfig::default()).unwrap();
    let mut collided = 0;
    for (seed, objective) in [task.ems().unwrap(), task.pff().unwrap()].into_iter().enumerate() {
        let mut search = MutationSearch::new(objective, seed as u64);
        for _ in 0..6 {
            assert!(search.restart());
            // Enough mutations that the beginnings of paths have not been evaluated for a while.
            search.step(3000);
            for path in search.candidates() {
                let slow = search.objective().naive(&path.transitions, path.end);
                let near = |a: f32, b: f32| (a - b).abs() <= 1e-3 * (1.0 + a.abs());
                let fast = path.cost;
                assert!(search.objective().legal(&path.transitions, path.end));
                let pairs = [
                    (fast.smooth, slow.smooth),
                    (fast.goal, slow.goal),
                    (fast.waypoints, slow.waypoints),
                    (fast.collide, slow.collide),
                    (fast.travel, slow.travel),
                ];
                // Depths are sampled on the way of fast feet, and summed over everything a path runs through.
                let collides = |a: f32, b: f32| (a - b).abs() <= 1e-2 * (1.0 + a.abs());
                let all = pairs.iter().enumerate().all(|(k, (a, b))| near(*a, *b) || (k == 3 && collides(*a, *b)));
                assert!(all, "{fast:?} and {slow:?}");
                collided += u32::from(slow.collide > 0.0);
            }
        }
    }
    println!("{collided} of the paths compared collide");
    assert!(collided > 0);
}

/// As printed, eq. 5 tests joints only: a pole of a centimetre fits between them, and the body walks through it.
#[test]
fn printed_collisions_let_thin_poles_pass() {
    let walker = walker();
    let pole = |x: f32| Obstacle {
        shape: Shape::Cylinder { half: 1.0, radius: 0.005 },
        at: Vec3::new(x, 1.0, 2.0),
        turn: Quat::IDENTITY,
    };
    let request = plain(Vec2::new(0.0, 4.0), vec![pole(0.07)]);
    let character = walker.spawn(walker.start_edge(None).unwrap(), request.at, request.facing);
    let sums: Vec<f32> = [Form::Printed, Form::Ours]
        .into_iter()
        .map(|points| {
            let config = WalkConfig { errata: WalkErrata { points, ..WalkErrata::default() }, ..WalkConfig::default() };
            let query = walker.query(&character, request.goal, request.goal_facing, None);
            let task = Task::new(walker.library(), walker.tables(), query, &request.obstacles, config).unwrap();
            let objective = task.ems().unwrap();
            let clip = walker.tables().clip(objective.start.0);
            objective.collisions(
                objective.start.0,
                walker.tables().clip_end(clip) - 1,
                &objective.start.1,
                true,
                |_| true,
            )
        })
        .collect();
    assert!(sums[1] > 4.0 * sums[0] && sums[1] > 0.0, "{sums:?}");
}

#[test]
fn waypoints_attract_the_path() {
    let place = Vec2::new(0.7, 2.5);
    // Several searches: one may pass there by chance.
    let nearest = |waypoints: Vec<Vec2>| {
        let request = WalkRequest { waypoints, ..plain(Vec2::new(0.0, 5.0), Vec::new()) };
        let nearest = (0..4).map(|seed| {
            let attempt = attempt(&request, Method::Walk, seed).unwrap();
            let clip = &attempt.best.as_ref().unwrap().0.take.clip;
            let places = kumite_stage::course::places(clip);
            places.iter().map(|p| (*p - place).length()).fold(f32::INFINITY, f32::min)
        });
        nearest.sum::<f32>() / 4.0
    };
    let (with, without) = (nearest(vec![place]), nearest(Vec::new()));
    assert!(with < without - 0.1, "{with} m with, {without} m without");
}
