//! Walks with a library made by hand: walking straight on, turning to either side, standing.

use std::sync::{Arc, OnceLock};

use kumite_motion::align::Planar;
use kumite_motion::graph::{Edge, Join, Node, stand};
use kumite_motion::library::Library;
use kumite_motion::rotation::{wrap, yaw};
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{
    Chance, Clip, ClipIdx, Contacts, EdgeIdx, FrameIdx, Graph, Layer, NodeIdx, Quat, Vec2, Vec3, humanoid,
};

use super::*;
use crate::Pool;
use crate::hand_made::standing;

const FPS: f32 = 30.0;
/// Every clip lasts two seconds and may branch every third of a second.
const LAST: u32 = 60;
const BRANCH: u32 = 10;
/// Of the walks, metres per second, and of the turns, radians per second.
const SPEED: f32 = 1.2;
const TURN: f32 = 1.0;

fn clip(name: &str, speed: f32, turn: f32) -> Clip {
    let skeleton = Arc::new(humanoid::skeleton());
    let (mut at, mut facing) = (Vec3::ZERO, 0.0f32);
    let mut clip = Clip::from_fn(name, skeleton, FPS, LAST as usize + 1, |frame, pose| {
        if frame > 0 {
            facing += turn / FPS;
            at += yaw(facing - 0.5 * turn / FPS) * Vec3::Z * (speed / FPS);
        }
        *pose = standing();
        pose.translations[0] += at;
        pose.rotations[0] = yaw(facing);
    })
    .unwrap();
    clip.contacts = vec![Contacts::ALL; LAST as usize + 1];
    clip
}

fn library() -> &'static Library {
    static MADE: OnceLock<Library> = OnceLock::new();
    MADE.get_or_init(|| {
        let clips = vec![
            clip("stand", 0.0, 0.0),
            clip("walk", SPEED, 0.0),
            clip("left", SPEED, TURN),
            clip("right", SPEED, -TURN),
        ];
        let frames = (1..=LAST / BRANCH).map(|k| k * BRANCH);
        let nodes: Vec<Node> = (0..clips.len() as u32)
            .flat_map(|clip| frames.clone().map(move |frame| Node { clip: ClipIdx(clip), frame: FrameIdx(frame) }))
            .collect();
        let to = |clip: u32, frame: u32| nodes.iter().position(|n| (n.clip.0, n.frame.0) == (clip, frame)).unwrap();
        let mut edges = Vec::new();
        for (from, node) in nodes.iter().enumerate() {
            let from = NodeIdx(from as u32);
            let mut add = |clip: u32, first: u32, join: Option<Join>| {
                let range = (ClipIdx(clip), FrameIdx(first), FrameIdx(first + BRANCH));
                let until = NodeIdx(to(clip, first + BRANCH) as u32);
                let seconds = BRANCH as f32 / FPS;
                edges.push((Edge::new(from, until, range, join, seconds, Planar::IDENTITY), Vec::new()));
            };
            if node.frame.0 < LAST {
                add(node.clip.0, node.frame.0, None);
            }
            for clip in 0..clips.len() as u32 {
                let align = stand(&clips[node.clip.at()], node.frame)
                    .after(&stand(&clips[clip as usize], FrameIdx(0)).inverse());
                add(clip, 0, Some(Join { blend: 0.2, align, distance: 0.02 }));
            }
        }
        Library::new("walking", clips, Graph::new(nodes, edges).unwrap().in_layer(Layer::Walk)).unwrap()
    })
}

fn tables() -> &'static Tables {
    static MADE: OnceLock<Tables> = OnceLock::new();
    MADE.get_or_init(|| Tables::of(library(), Some(&Nudges::default())))
}

fn box_at(x: f32, z: f32, half: (f32, f32)) -> Obstacle {
    Obstacle {
        shape: Shape::Box { half: Vec3::new(half.0, 1.0, half.1) },
        at: Vec3::new(x, 1.0, z),
        turn: Quat::IDENTITY,
    }
}

/// From standing at the origin, facing +Z.
fn task(goal: Vec2, facing: Option<f32>, obstacles: &[Obstacle]) -> Result<Task<'static>, WalkError> {
    let plays = |e: &Edge| e.clip == ClipIdx(0) && e.first.0 == 0;
    let start = EdgeIdx(library().graph().edges().iter().position(plays).unwrap() as u32);
    let query = Query { start: (start, Planar::IDENTITY), goal, facing, action: None, waypoints: Vec::new() };
    Task::new(library(), tables(), query, obstacles, WalkConfig::default())
}

#[test]
fn tables_measure_the_clips() {
    let tables = tables();
    let frame = |clip: u32, frame: u32| tables.at(ClipIdx(clip), FrameIdx(frame)) as usize;
    let gone = |clip: u32| tables.arc[frame(clip, LAST)] - tables.arc[frame(clip, 0)];
    assert!(gone(0).abs() < 1e-4 && (gone(1) - 2.0 * SPEED).abs() < 1e-3, "{} {}", gone(0), gone(1));
    // Standing two seconds counts as a metre on the way of EMS, and as two where waiting and turning count.
    assert!((tables.way[frame(0, LAST)] - 1.0).abs() < 0.02 && (tables.effort[frame(0, LAST)] - 2.0).abs() < 0.02);
    assert!((tables.effort[frame(1, LAST)] - 2.0 * SPEED).abs() < 1e-3);
    assert!(tables.effort[frame(2, LAST)] > 2.0 * SPEED + 0.5 * 2.0 * TURN, "a metre for each radian");
    assert!((tables.tightest - SPEED / TURN).abs() < 0.1, "{}", tables.tightest);
    assert!(tables.still[frame(0, 30)] && !tables.still[frame(1, 30)]);
    assert_eq!(tables.frame(frame(2, 7) as GlobalFrame), (ClipIdx(2), FrameIdx(7)));
    // Hanging arms, half a shoulder's width and a hand.
    assert!(tables.narrow > 0.2 && tables.narrow < 0.5, "{}", tables.narrow);
    // Every transition is in the cluster of its root, and leaves and enters close to it.
    for pair in 0..16 {
        for &root in tables.roots(pair / 4, pair % 4) {
            let best = tables.transitions()[root as usize];
            for &member in tables.cluster(root) {
                let one = tables.transitions()[member as usize];
                assert!(best.cost <= one.cost && best.from.abs_diff(one.from) <= 4 && best.to.abs_diff(one.to) <= 4);
            }
        }
    }
}

/// Fast evaluation is the naive one: every frame, every sphere, every obstacle. Also from the middle on.
#[test]
fn costs_are_those_of_naive_evaluation() {
    let obstacles = [box_at(0.3, 1.5, (0.3, 0.2)), box_at(-1.0, 3.0, (0.2, 0.4))];
    let task = task(Vec2::new(0.0, 5.0), Some(0.0), &obstacles).unwrap();
    let mut collided = 0;
    for objective in [task.ems().unwrap(), task.free().unwrap()] {
        let mut chance = Chance::new(11);
        for _ in 0..60 {
            // A random row of transitions, legal by construction.
            let (mut at, mut earliest, mut path) = (objective.start.0, objective.start_after, Vec::new());
            for _ in 0..1 + chance.below(5) {
                let on = tables().leaving(tables().clip(at));
                let on: Vec<u32> =
                    on.iter().copied().filter(|t| tables().transitions()[*t as usize].from >= earliest).collect();
                let pick = tables().transitions()[on[chance.below(on.len() as u32) as usize] as usize];
                (at, earliest) = (pick.to, pick.after);
                path.push(pick);
            }
            let end = earliest;
            let (fast, slow) = (objective.whole(&path, end), objective.naive(&path, end));
            let close = |a: f32, b: f32| (a - b).abs() <= 1e-3 * (1.0 + b.abs());
            assert!(close(fast.total(), slow.total()) && close(fast.collide, slow.collide), "{fast:?} but {slow:?}");
            collided += u32::from(slow.collide > 0.0);
            // What is known of the first half need not be worked out again.
            let mut trace = objective.begin();
            objective.evaluate(&path, end, 0, &mut trace, f32::INFINITY).unwrap();
            let known = path.len() / 2;
            assert_eq!(objective.evaluate(&path, end, known, &mut trace, f32::INFINITY), Some(fast));
            assert_eq!(objective.evaluate(&path, end, 0, &mut trace, fast.total() * 0.99), None);
        }
    }
    assert!(collided > 10, "{collided}");
}

/// Straight on there is nothing to decide: six metres, and stand.
#[test]
fn a_goal_straight_ahead_is_walked_to_by_every_method() {
    let task = task(Vec2::new(0.0, 6.0), Some(0.0), &[]).unwrap();
    for method in Method::ALL {
        let mut solver = Solver::new(&task, method, Effort::default(), 3);
        solver.run();
        let path = &solver.found()[0];
        let objective = solver.objective().unwrap();
        assert!(objective.legal(&path.transitions, path.end));
        let (fitted, _) = solver.fitted(path, &GoalFitConfig::default());
        let last = fitted.iter().fold(objective.start.1, |place, t| place.after(&t.align));
        let (there, heading) = objective.arrives(&last, path.end);
        assert!((there - task.query.goal).length() < 0.05 && wrap(heading).abs() < 0.05, "{} {there}", method.name());
        assert!(tables().still[path.end as usize], "it stands there");
    }
}

/// A wall across the way: round it, and touching nothing.
#[test]
fn a_wall_is_walked_around() {
    let wall = [box_at(0.6, 3.0, (1.2, 0.1))];
    let task = task(Vec2::new(0.0, 7.0), None, &wall).unwrap();
    for method in [Method::Walk, Method::AStar, Method::Beam] {
        let mut solver = Solver::new(&task, method, Effort::default(), 5);
        solver.run();
        let path = &solver.found()[0];
        let objective = solver.objective().unwrap();
        assert_eq!(objective.naive(&path.transitions, path.end).collide, 0.0, "{}", method.name());
        assert!(method != Method::Walk || path.cost.goal < 0.32, "{:?}", path.cost);
    }
}

/// Nudges turn about the centre of mass or shift it, and leave the clip where it is.
#[test]
fn nudges_act_on_the_centre_of_mass() {
    let (tables, nudges) = (tables(), Nudges::default());
    let mut seen = [0; 2];
    for nudge in tables.transitions().iter().filter(|t| t.from == t.to) {
        let at = tables.place[nudge.to as usize];
        let moved = (nudge.align.floor_point(at) - at).length();
        let turned = wrap(nudge.align.turn).abs();
        let kind = usize::from(turned > 1e-3);
        let wanted = [(nudges.shift, 0.0), (0.0, nudges.turn)][kind];
        assert!((moved - wanted.0).abs() < 1e-4 && (turned - wanted.1).abs() < 1e-4, "{moved} {turned}");
        assert_eq!(nudge.cost, nudges.cost);
        seen[kind] += 1;
    }
    assert!(seen[0] > 0 && seen[0] == seen[1], "{seen:?}");
}

/// How the work is shared changes nothing.
#[test]
fn any_pool_finds_the_same_paths() {
    #[derive(Debug)]
    struct Backwards;
    impl Pool for Backwards {
        fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
            (0..parts).rev().for_each(work);
        }
    }
    let task = task(Vec2::new(1.5, 5.0), Some(0.5), &[box_at(0.0, 2.5, (0.3, 0.3))]).unwrap();
    let run = |pool: Option<&'static dyn Pool>| {
        let solver = Solver::new(&task, Method::Ems, Effort { starts: 2, ..Effort::default() }, 9);
        let mut solver = pool.map_or(solver.clone(), |pool| solver.clone().with_pool(pool));
        solver.run();
        (solver.counts(), solver.found().to_vec())
    };
    assert_eq!(run(None), run(Some(&Backwards)));
}

/// Slices too.
#[test]
fn slices_find_the_same_paths() {
    let task = task(Vec2::new(-1.0, 5.0), None, &[box_at(0.0, 2.5, (0.3, 0.3))]).unwrap();
    let run = |slice: u64| {
        let mut solver = Solver::new(&task, Method::Walk, Effort::default(), 9);
        while !solver.step(slice) {}
        solver.found().to_vec()
    };
    assert_eq!(run(u64::MAX / 2), run(20_000));
}

/// A path that ends a hand's breadth off is nudged onto the goal, by no more than allowed at each place.
#[test]
fn last_steps_are_fitted_to_the_goal() {
    let config = GoalFitConfig::default();
    // The straight walk of four seconds, and where it ends.
    let straight = task(Vec2::new(0.0, 4.8), Some(0.0), &[]).unwrap();
    let mut solver = Solver::new(&straight, Method::Walk, Effort::default(), 1);
    solver.run();
    let path = solver.found()[0].clone();
    // The last is a metre farther on: out of reach.
    let goals = [(Vec2::new(0.12, 0.0), 0.0), (Vec2::new(-0.05, 0.1), 0.1), (Vec2::ZERO, -0.15), (Vec2::Y, 0.0)];
    for (off, turn) in goals {
        let last = path.transitions.iter().fold(straight.ems().unwrap().start.1, |place, t| place.after(&t.align));
        let (ends, heading) = straight.ems().unwrap().arrives(&last, path.end);
        let task = task(ends + off, Some(heading + turn), &[]).unwrap();
        let objective = task.free().unwrap();
        let fitted = fit_to_goal(&objective, &path.transitions, path.end, &config);
        let last = fitted.iter().fold(objective.start.1, |place, t| place.after(&t.align));
        let (there, faces) = objective.arrives(&last, path.end);
        if off != Vec2::Y {
            assert!((there - (ends + off)).length() < 2e-3, "{there} but {}", ends + off);
            assert!(wrap(faces - heading - turn).abs() < 2e-3);
        }
        assert!(fitted.len() > path.transitions.len(), "clips are nudged where they go on, too");
        for nudge in fitted.iter().filter(|t| t.from == t.to && !path.transitions.contains(t)) {
            // Seen at the centre of mass, where it is nudged.
            let at = tables().place[nudge.to as usize];
            let moved = (nudge.align.floor_point(at) - at).length();
            assert!(moved <= config.shift + 1e-4 && wrap(nudge.align.turn).abs() <= config.turn + 1e-4, "{moved}");
        }
    }
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let refused = |goal: Vec2, obstacles: &[Obstacle]| task(goal, None, obstacles).map(|_| ()).unwrap_err();
    let goal = Vec2::new(0.0, 4.0);
    assert_eq!(refused(Vec2::new(f32::NAN, 0.0), &[]), WalkError::BadNumber { what: "the goal" });
    assert_eq!(
        refused(goal, &[box_at(2.0, 2.0, (0.1, 0.1)), box_at(0.0, 0.0, (0.2, 0.2))]),
        WalkError::StartCollides { obstacle: 1 }
    );
    // Walled in: there is no route, and the nearest place is on this side.
    let walls = [
        box_at(0.0, 2.0, (2.1, 0.1)),
        box_at(0.0, -2.0, (2.1, 0.1)),
        box_at(2.0, 0.0, (0.1, 2.1)),
        box_at(-2.0, 0.0, (0.1, 2.1)),
    ];
    let task = task(goal, None, &walls).unwrap();
    assert!(task.route.is_none() && task.ems().is_none() && task.pff().is_none());
    let closest = task.closest.unwrap();
    assert!(closest.y < 2.0 && closest.y > 1.0, "{closest}");
}
