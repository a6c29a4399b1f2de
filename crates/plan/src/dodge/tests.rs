//! Decisions on the library made by hand, against answers worked out on paper and slow, obvious references.

use std::sync::OnceLock;

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::blend::{Inertia, Velocity};
use kumite_motion::library::Library;
use kumite_motion::{EdgeIdx, NodeIdx, Pose, Vec2, Vec3};
use proptest::prelude::*;

use super::clearance::body_at;
use super::*;
use crate::hand_made::{CLIPS, edge, library_of, library_with_interrupts, standing_edge};
use crate::threat::{Ball, STEP};
use crate::{Bend, Warp};

/// Everything that decisions with a library read.
struct Fixture {
    library: Library,
    bodies: Bodies,
    index: PathIndex,
    planes: CullingPlanes,
}

impl Fixture {
    fn of(names: &[&str]) -> Fixture {
        Fixture::with(library_of(names))
    }

    fn with(library: Library) -> Fixture {
        let bodies = Bodies::of(&library, false);
        let index = PathIndex::of(&bodies, library.graph(), &PathRules::default(), true);
        let planes = CullingPlanes::of(&bodies);
        Fixture { library, bodies, index, planes }
    }

    fn planner(&self, config: DodgeConfig) -> DodgePlanner<'_> {
        let Fixture { library, bodies, index, planes } = self;
        DodgePlanner { bodies, library, index, planes, config }
    }

    /// Standing at the origin for 0.1 s, and what would come next.
    fn situation(&self) -> Situation<'static> {
        Situation {
            edge: standing_edge(&self.library),
            since: 0.1,
            place: PlanarMatrix::IDENTITY,
            leave: None,
            ahead: &[],
            drift: None,
            base: None,
            running: None,
        }
    }

    fn decide(&self, threats: &[Threat]) -> DodgeDecision {
        let planner = self.planner(DodgeConfig::default());
        planner.decide(&self.situation(), threats, &mut DodgeScratch::default()).unwrap()
    }

    fn clip(&self, edge: EdgeIdx) -> &str {
        &self.library.clip(self.library.graph().edge(edge).clip).name
    }
}

fn all() -> &'static Fixture {
    static ALL: OnceLock<Fixture> = OnceLock::new();
    ALL.get_or_init(|| Fixture::of(&CLIPS))
}

/// When the active window of whatever follows the current edge has its middle: 0.4 s are left of that edge.
const ON_TIME: f32 = 1.05;

/// A straight ball from the front to a place in the character's plane.
fn ball(x: f32, y: f32, arrives: f32) -> Threat {
    let target = Vec3::new(x, y, 0.0);
    Threat::ball(&Ball::aimed(target + Vec3::new(0.0, 0.0, 12.0), target, arrives, 0.11, false), arrives).unwrap()
}

/// The least distance of attack and body with 960 looks a second, every sphere, no bound: eq. 7 as one would write it down.
fn brute_force(bodies: &Bodies, threats: &[Threat], scratch: &DodgeScratch, bend: Option<&Bend>) -> f32 {
    brute_force_moved(bodies, threats, scratch, bend, |_| Vec3::ZERO)
}

/// [`brute_force`] with a body that is carried somewhere else as a whole.
fn brute_force_moved(
    bodies: &Bodies,
    threats: &[Threat],
    scratch: &DodgeScratch,
    bend: Option<&Bend>,
    moved: impl Fn(f32) -> Vec3,
) -> f32 {
    let mut row = bodies.row();
    let mut least = f32::INFINITY;
    for sphere in threats.iter().flat_map(|t| &t.spheres) {
        let looks = (sphere.places.len() - 1) * 16;
        for k in 0..=looks {
            let (step, share) = ((k / 16).min(sphere.places.len() - 2), k as f32 / 16.0);
            let p = sphere.places[step].lerp(sphere.places[step + 1], share - step as f32);
            let time = sphere.start + share * STEP;
            let u = scratch.warp.at(time).0;
            let leg = scratch.legs.iter().rposition(|l| l.begins <= u).unwrap();
            body_at(bodies, &scratch.legs, &scratch.warp, None, time, leg, &mut row);
            let place = scratch.legs[leg].place;
            if let Some(bend) = bend {
                bend.bend(bodies, &place, time, &mut row);
            }
            for j in 0..bodies.spheres() {
                let d = (place.point(row.get(j)) + moved(time) - p).length() - bodies.radius(j) - sphere.radius;
                least = least.min(d);
            }
        }
    }
    least
}

/// A body that is this far from its motion and moves this fast against it, all of it alike.
fn drift(bodies: &Bodies, offset: Vec3, speed: Vec3, seconds: f32, since: f32) -> Drift {
    let still = vec![Vec3::ZERO; bodies.centres()];
    let at = |p: Vec3| vec![p; bodies.centres()];
    bodies.drift([&at(offset - speed * 0.01), &at(offset)], [&still, &still], 0.01, (seconds, since))
}

/// Lays a path out in the scratch: the current edge, then these clips, with a warp.
fn lay_out(fixture: &Fixture, names: &[&str], warp: Warp, scratch: &mut DodgeScratch) {
    let situation = fixture.situation();
    let mut edges = vec![situation.edge];
    for name in names {
        edges.push(edge(&fixture.library, fixture.library.graph().edge(edges[edges.len() - 1]).to, name));
    }
    scratch.legs.lay(&fixture.bodies, edges.into_iter(), situation.since, &situation.place);
    scratch.legs.go_on(&fixture.bodies, fixture.library.graph(), 4.0);
    scratch.warp = warp;
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    /// Swept looks 60 times a second find what 960 looks find.
    #[test]
    fn clearance_is_what_many_looks_find(
        x in -0.9f32..1.3, y in 0.1f32..2.0, arrives in 0.4f32..1.6, clip in 1usize..4, scale in 0.6f32..1.8, aside in -4.0f32..4.0,
    ) {
        let fixture = all();
        let planner = fixture.planner(DodgeConfig::default());
        let mut scratch = DodgeScratch::default();
        lay_out(fixture, &[CLIPS[clip]], Warp::new(&[(0.0, 0.4)], scale), &mut scratch);
        let target = Vec3::new(x, y, 0.0);
        let from = target + Vec3::new(aside, 0.5, 9.0);
        let threats = [Threat::ball(&Ball::aimed(from, target, arrives, 0.11, true), arrives).unwrap()];
        let slow = brute_force(&fixture.bodies, &threats, &scratch, None);
        let fast = planner.clearance(&threats, &mut scratch);
        prop_assume!(slow < 0.6);
        // A leap accelerates by 64 m/s²: that bends its way by 2 mm in a step, more where it is played faster.
        prop_assert!((fast - slow).abs() < 6e-3, "{fast} but {slow}");
    }

    /// With a bend too.
    #[test]
    fn bent_clearance_is_what_many_looks_find(x in -0.5f32..0.5, y in 0.6f32..1.8, lean in -0.5f32..0.5, shift in -0.2f32..0.2) {
        let fixture = all();
        let planner = fixture.planner(DodgeConfig::default());
        let mut scratch = DodgeScratch::default();
        lay_out(fixture, &[], Warp::none(), &mut scratch);
        let bend = Bend {
            lean: Vec3::Z * lean,
            shift: Vec3::X * shift,
            rise: (0.2, 0.6),
            fall: (1.2, 1.5),
            ..Bend::default()
        };
        let threats = [ball(x, y, 0.9)];
        scratch.bend = Some(bend);
        let fast = planner.clearance(&threats, &mut scratch);
        let slow = brute_force(&fixture.bodies, &threats, &scratch, Some(&bend));
        prop_assert!((fast - slow).abs() < 4e-3, "{fast} but {slow}");
    }

    /// Carried away by a drift, which the join of the next leg takes over: as the stage joins a standing pose that is moved as a whole.
    #[test]
    fn drifting_clearance_is_what_many_looks_find(
        x in -0.9f32..1.3, y in 0.1f32..2.0, arrives in 0.2f32..0.9, offset in -0.4f32..0.4, speed in -2.0f32..2.0,
        seconds in 0.2f32..0.8, ran in 0.0f32..1.0, turn in -3.0f32..3.0, clip in 0usize..4,
    ) {
        let fixture = all();
        let planner = fixture.planner(DodgeConfig::default());
        let mut scratch = DodgeScratch::default();
        lay_out(fixture, &[CLIPS[clip]], Warp::none(), &mut scratch);
        let (since, way) = (seconds * ran, Vec3::new(1.0, 0.3, -0.5));
        let at = |p: f32| Pose { translations: vec![way * p], rotations: Vec::new() };
        let moved = |join: &Inertia, since: f32| {
            let mut pose = at(0.0);
            join.apply(since, &mut pose);
            pose.translations[0]
        };
        let (still, speeds) = (Velocity::between(&at(0.0), &at(0.0), 1.0), Velocity::between(&at(0.0), &at(speed), 1.0));
        let first = Inertia::new(&at(offset), &speeds, &at(0.0), &still, seconds);
        let joins = scratch.legs[1].begins;
        let [before, then] = [-1e-3, 1e-3].map(|h| moved(&first, joins + since + h));
        let there = Pose { translations: vec![0.5 * (before + then)], rotations: Vec::new() };
        let speeds = Velocity { translations: vec![(then - before) / 2e-3], rotations: Vec::new() };
        let second = Inertia::new(&there, &speeds, &at(0.0), &still, crate::hand_made::BLEND);
        let carried =
            |time: f32| if time < joins { moved(&first, time + since) } else { moved(&second, time - joins) };
        // At 6 m/s: many looks must be near each other.
        let target = Vec3::new(x, y, 0.0);
        let from = target + Vec3::Z * (6.0 * arrives);
        let threats = [Threat::ball(&Ball::aimed(from, target, arrives, 0.11, false), arrives).unwrap()];
        let slow = brute_force_moved(&fixture.bodies, &threats, &scratch, None, carried);
        // Turned as a whole, nothing else changes.
        let place = PlanarMatrix::new(&Planar { turn, shift: Vec2::new(1.0, 2.0) });
        scratch.legs.iter_mut().for_each(|l| l.place = place.after(&l.place));
        let mut there = threats;
        there[0].spheres[0].places.iter_mut().for_each(|p| *p = place.point(*p));
        let way = place.rotate(way);
        scratch.drift = Some(drift(&fixture.bodies, way * offset, way * speed, seconds, since));
        let fast = planner.clearance(&there, &mut scratch);
        prop_assume!(slow < 0.6);
        prop_assert!((fast - slow).abs() < 8e-3, "{fast} but {slow}");
        // The steps that bends are fitted on know of it too.
        let steps = planner.near_steps(&there, 0.0, &mut scratch);
        prop_assert!(slow.abs() < 0.01 || steps.is_empty() == (slow > 0.0), "{} steps, {slow}", steps.len());
    }

    /// What bit planes call a hit is one, in every place and at every speed.
    #[test]
    fn culling_discards_no_candidate_that_avoids(
        y in 0.1f32..1.9, arrives in 0.5f32..1.5, clip in 1usize..4, scale in 0.7f32..1.6,
    ) {
        let fixture = all();
        let planner = fixture.planner(DodgeConfig::default());
        let mut scratch = DodgeScratch::default();
        lay_out(fixture, &[CLIPS[clip]], Warp::new(&[(0.0, 0.4)], scale), &mut scratch);
        // Past the body at every distance, most of all at those that barely touch.
        for x in (-30..70).map(|k| k as f32 * 0.02) {
            let threats = [ball(x, y, arrives)];
            if fixture.planes.hit(&scratch.legs[1], &scratch.warp, &threats, crate::Form::Ours, f32::NEG_INFINITY) {
                let clearance = planner.clearance(&threats, &mut scratch);
                prop_assert!(clearance < 0.0, "{x}: {clearance}");
            }
        }
    }

    /// Slices, index and culling change how much is done, never what is chosen.
    #[test]
    fn shortcuts_do_not_change_the_decision(x in -0.3f32..0.3, y in 0.2f32..1.7, arrives in 0.5f32..1.6) {
        let fixture = all();
        let threats = [ball(x, y, arrives)];
        let whole = fixture.decide(&threats);
        let planner = fixture.planner(DodgeConfig::default());
        let (situation, mut scratch) = (fixture.situation(), DodgeScratch::default());
        let mut search = DodgeSearch::new(&planner, &situation, &threats, false).unwrap();
        let mut slices = 0;
        while !search.step(&planner, &mut scratch, 1) {
            slices += 1;
        }
        prop_assert_eq!(&search.decision(&planner, &mut scratch), &whole);
        prop_assert!(slices >= whole.counts.tested / 2);
        for (use_index, cull) in [(false, true), (true, true), (true, false), (false, false)] {
            let planner = fixture.planner(DodgeConfig { use_index, grid: use_index, cull, ..DodgeConfig::default() });
            let other = planner.decide(&situation, &threats, &mut scratch).unwrap();
            if whole.span.is_some() && whole.forecast == Forecast::Avoided && whole.clearance >= 0.0 {
                prop_assert_eq!((&other.legs, other.cost, other.bend), (&whole.legs, whole.cost, whole.bend));
            }
            prop_assert_eq!(other.forecast == Forecast::Clear, whole.forecast == Forecast::Clear);
        }
    }
}

/// Where one clip follows another the body goes on from where it is: also for an attack that comes just then.
#[test]
fn nothing_jumps_from_one_leg_to_the_next() {
    let fixture = all();
    let planner = fixture.planner(DodgeConfig::default());
    let mut scratch = DodgeScratch::default();
    lay_out(fixture, &["sidestep"], Warp::none(), &mut scratch);
    assert!((scratch.legs[2].begins - 1.4).abs() < 1e-5 && (scratch.legs[2].place.shift.x - 0.5).abs() < 1e-5);
    for (x, arrives) in (0..60).map(|k| (0.2 + 0.01 * k as f32, 1.39 + 0.0004 * k as f32)) {
        let threats = [ball(x, 1.2, arrives)];
        let slow = brute_force(&fixture.bodies, &threats, &scratch, None);
        let fast = planner.clearance(&threats, &mut scratch);
        assert!((fast - slow).abs() < 6e-3, "{x} {arrives}: {fast} but {slow}");
    }
}

/// Bit planes do find hits: an empty plane would pass the test above.
#[test]
fn culling_finds_hits() {
    let fixture = all();
    let mut scratch = DodgeScratch::default();
    lay_out(fixture, &["sidestep"], Warp::none(), &mut scratch);
    let hit = |x: f32| {
        fixture.planes.hit(
            &scratch.legs[1],
            &scratch.warp,
            &[ball(x, 1.2, ON_TIME)],
            crate::Form::Ours,
            f32::NEG_INFINITY,
        )
    };
    assert!(hit(0.5) && !hit(-0.1));
}

#[test]
fn a_ball_that_misses_needs_no_defence() {
    let decision = all().decide(&[ball(2.5, 1.2, ON_TIME)]);
    assert_eq!((decision.forecast, decision.legs.len(), decision.origin), (Forecast::Clear, 0, Origin::Nothing));
    assert!(decision.bend.is_none() && decision.block.is_none());
    assert!(decision.clearance > 0.3, "{}", decision.clearance);
}

/// A ball at the chest in 0.3 s, a body that is half a metre aside and comes back over more than a second: it misses. Had the body come
/// back already, or if it is carried from where the ball would miss it, it does not.
#[test]
fn a_drift_decides_what_has_to_be_avoided() {
    let fixture = all();
    let planner = fixture.planner(DodgeConfig::default());
    let decide = |threat: &Threat, drift: Option<&Drift>| {
        let situation = Situation { drift: drift.cloned(), ..fixture.situation() };
        planner.decide(&situation, std::slice::from_ref(threat), &mut DodgeScratch::default()).unwrap()
    };
    let aside = |seconds, since| drift(&fixture.bodies, Vec3::X * 0.7, Vec3::ZERO, seconds, since);
    let (at_chest, beside) = (ball(0.0, 1.2, 0.3), ball(0.7, 1.2, 0.3));
    assert_ne!(decide(&at_chest, None).forecast, Forecast::Clear);
    assert_eq!(decide(&at_chest, Some(&aside(1.5, 0.0))).forecast, Forecast::Clear);
    assert_eq!(decide(&beside, None).forecast, Forecast::Clear);
    let hit = decide(&beside, Some(&aside(1.5, 0.0)));
    assert!(hit.forecast != Forecast::Clear && hit.clearance < 0.0, "{hit:?}");
    // What is over changes nothing.
    for threat in [at_chest, beside, ball(-0.1, 1.2, ON_TIME), ball(0.1, 0.5, 0.9)] {
        let known = decide(&threat, None);
        let over = DodgeDecision { counts: known.counts, ..decide(&threat, Some(&aside(0.3, 0.3))) };
        assert_eq!(over, known);
    }
}

/// A second ball while the body comes back from a bend: what is decided clears it from where the body really is.
#[test]
fn decisions_clear_the_body_that_drifts() {
    let fixture = all();
    let planner = fixture.planner(DodgeConfig::default());
    let mut bent = 0;
    for k in 0..12 {
        let (offset, seconds) = (Vec3::X * (0.03 * k as f32), 0.6);
        let drift = drift(&fixture.bodies, offset, Vec3::ZERO, seconds, 0.0);
        let situation = Situation { drift: Some(drift), ..fixture.situation() };
        let threats = [ball(0.3, 1.4, 0.4)];
        let decision = planner.decide(&situation, &threats, &mut DodgeScratch::default()).unwrap();
        let mut scratch = DodgeScratch::default();
        lay_out(fixture, &[], Warp::none(), &mut scratch);
        let carried = |time: f32| offset * (1.0 - kumite_motion::blend::ease(time / seconds));
        let found = brute_force_moved(&fixture.bodies, &threats, &scratch, decision.bend.as_ref(), carried);
        match decision.forecast {
            Forecast::Clear => assert!(found > -5e-3, "{k}: {found}"),
            Forecast::Avoided => assert!(found > 0.025, "{k}: {found}"),
            _ => {}
        }
        bent += u32::from(decision.bend.is_some());
    }
    assert!(bent >= 2, "{bent}");
}

/// A bend that was decided on for a ball goes on: it needs no other, and another ball may need one. What is decided then takes its place.
#[test]
fn what_is_carried_out_goes_on_until_something_is_decided() {
    let fixture = Fixture::of(&["stand", "guard"]);
    let planner = fixture.planner(DodgeConfig::default());
    let bent = (0..12).find_map(|k| {
        let first = ball(0.12, 1.0 + 0.06 * k as f32, 0.9);
        let decision = fixture.decide(std::slice::from_ref(&first));
        decision.bend.filter(|_| decision.forecast == Forecast::Avoided).map(|bend| (first, bend))
    });
    let (first, bend) = bent.unwrap();
    for past in [0.1, 0.2, 0.3] {
        let situation = |running: Option<Running>| Situation { since: 0.1 + past, running, ..fixture.situation() };
        let running = Running { drift: None, bend: Some(bend.later(past)), warp: Warp::none() };
        let decide = |running: Option<Running>| {
            planner.decide(&situation(running), &[first.later(past)], &mut DodgeScratch::default()).unwrap()
        };
        assert_ne!(decide(None).forecast, Forecast::Clear);
        let again = decide(Some(running));
        assert_eq!((again.forecast, again.bend), (Forecast::Clear, None), "{past}");
    }
}

/// Both step out of the way in time; the smaller step leaves the ball nearer, so it costs less.
#[test]
fn the_smaller_of_two_avoidances_is_chosen() {
    let fixture = Fixture::of(&["stand", "leap", "sidestep"]);
    let threats = [ball(-0.1, 1.2, ON_TIME)];
    let decision = fixture.decide(&threats);
    assert_eq!((decision.forecast, decision.origin), (Forecast::Avoided, Origin::Index));
    assert_eq!(fixture.clip(decision.legs[0].edge), "sidestep");
    assert!((decision.warp.scale() - 1.0).abs() < 1e-3, "on time as it is: {}", decision.warp.scale());
    let mut scratch = DodgeScratch::default();
    lay_out(&fixture, &["sidestep"], Warp::none(), &mut scratch);
    let clearance = brute_force(&fixture.bodies, &threats, &scratch, None);
    assert!((decision.clearance - clearance).abs() < 5e-3, "{} but {clearance}", decision.clearance);
    // Eq. 9: nothing is scaled. Eq. 8: the clearance over 0.5 m. Eq. 4-6: the overlap with the body that stood there, summed along the way.
    let mut row = fixture.bodies.row();
    fixture.bodies.sample(decision.legs[0].edge, 0.2, &mut row);
    let looks = (0..8000).map(|k| Vec3::new(-0.1, 1.2, 1.0 - k as f32 * 0.25e-3));
    let depth = |p: Vec3, j: usize| (fixture.bodies.radius(j) + 0.11 - (row.get(j) - p).length()).max(0.0);
    let vacated: f32 = looks.map(|p| (0..fixture.bodies.spheres()).map(|j| depth(p, j)).sum::<f32>() * 0.25e-3).sum();
    let avoidance = (1.0 - vacated / (2.0 * 0.21 * 0.21)).max(0.0);
    assert!((decision.cost.timescale - 0.25).abs() < 1e-3, "{:?}", decision.cost);
    assert!((decision.cost.body - decision.clearance / 0.5).abs() < 1e-5, "{:?}", decision.cost);
    assert!((decision.cost.avoidance - avoidance).abs() < 2e-3, "{:?} but {avoidance}", decision.cost);
    // Where the sidestep would be hit at its end, the leap is what is left.
    let blocked = [threats[0].clone(), ball(0.5, 1.2, ON_TIME)];
    let decision = fixture.decide(&blocked);
    assert_eq!(fixture.clip(decision.legs[0].edge), "leap");
}

/// With a warning of 0.2 s more or less the path is played slower or faster, and its middle meets the attack.
#[test]
fn the_middle_of_the_avoidance_is_laid_over_the_attack() {
    let fixture = Fixture::of(&["stand", "sidestep"]);
    for arrives in [ON_TIME, ON_TIME + 0.2] {
        let decision = fixture.decide(&[ball(0.0, 1.3, arrives)]);
        if decision.span.is_none() {
            continue;
        }
        let middle = decision.warp.when(ON_TIME);
        assert!((middle - arrives).abs() < 0.151, "{middle} and {arrives}");
        assert_eq!(fixture.clip(decision.legs[0].edge), "sidestep");
    }
}

/// A library that can only guard bends out of the way by a little or guards; what it forecasts is what brute force finds.
#[test]
fn bends_clear_the_attack_by_what_they_promise() {
    let fixture = Fixture::of(&["stand", "guard"]);
    let mut bent = 0;
    for k in 0..24 {
        let threats = [ball(0.12, 1.0 + 0.03 * k as f32, 0.9)];
        let decision = fixture.decide(&threats);
        let Some(bend) = decision.bend.filter(|_| decision.forecast == Forecast::Avoided) else { continue };
        let mut scratch = DodgeScratch::default();
        lay_out(&fixture, &[], Warp::none(), &mut scratch);
        let (with, without) = (
            brute_force(&fixture.bodies, &threats, &scratch, Some(&bend)),
            brute_force(&fixture.bodies, &threats, &scratch, None),
        );
        assert!(without < 0.0 && with > 0.025, "{without} and {with}");
        assert!(bend.size > 0.0 && bend.size <= 1.0);
        bent += 1;
    }
    assert!(bent >= 3, "{bent}");
}

/// A library with nothing to avoid or block with can bend what it plays, if it is asked to.
#[test]
fn what_cannot_defend_can_bend() {
    let fixture = Fixture::of(&["stand"]);
    let planner = fixture.planner(DodgeConfig { bend_only: true, ..DodgeConfig::default() });
    let mut bent = 0;
    for k in 0..12 {
        let threats = [ball(0.12, 1.0 + 0.06 * k as f32, 0.9)];
        let decision = planner.decide(&fixture.situation(), &threats, &mut DodgeScratch::default()).unwrap();
        assert!(decision.legs.is_empty() && decision.block.is_none());
        assert_eq!(decision.bend.is_some(), decision.forecast == Forecast::Avoided);
        bent += u32::from(decision.bend.is_some());
    }
    assert!(bent >= 3, "{bent}");
}

/// A ball that comes in no time hits.
#[test]
fn what_comes_too_soon_hits() {
    let decision = all().decide(&[ball(0.0, 1.2, 0.08)]);
    assert_eq!((decision.forecast, decision.bend, decision.legs.len()), (Forecast::Hit, None, 0));
}

/// The index of a node holds exactly the paths that a traversal of the graph finds, by time.
#[test]
fn the_index_holds_what_a_traversal_finds() {
    let fixture = all();
    let (bodies, graph, rules) = (&fixture.bodies, fixture.library.graph(), PathRules::default());
    for (kind, table) in [(DefenceKind::Avoid, &fixture.index.avoid), (DefenceKind::Block, &fixture.index.block)] {
        for node in (0..graph.nodes().len() as u32).map(NodeIdx) {
            for range in [(-1.0, 1.8), (0.3, 0.7), (0.64, 0.66), (0.65, 0.651), (1.0, 1.7)] {
                let mut found = Paths::default();
                found.enumerate((bodies, graph, &rules, kind), node, range, f32::INFINITY);
                let mut slow: Vec<(Vec<EdgeIdx>, u32)> =
                    found.list.iter().map(|p| (found.edges(p).to_vec(), p.part)).collect();
                let (listed, _) = table.between(node, range);
                let mut fast: Vec<_> = listed.iter().map(|p| (table.edges(p).to_vec(), p.part)).collect();
                assert!(listed.is_sorted_by(|a, b| a.centre <= b.centre));
                slow.sort();
                fast.sort();
                assert_eq!(fast, slow, "{kind:?} {node:?} {range:?}");
            }
        }
    }
    // By hand: from a node each avoidance directly, after half a second of standing, or after a whole second of it.
    let (listed, _) = fixture.index.avoid.between(NodeIdx(1), (0.0, 1.2));
    let centres: Vec<f32> = listed.iter().map(|p| p.centre).collect();
    assert_eq!(centres.iter().filter(|c| (**c - 0.65).abs() < 1e-4).count(), 3, "{centres:?}");
    assert_eq!(centres.iter().filter(|c| (**c - 1.15).abs() < 1e-4).count(), 3, "{centres:?}");
}

/// A path whose avoidance leaves a cell that the ball passes has its bit set: its bound may not be raised.
#[test]
fn no_avoidance_of_a_passed_cell_goes_unmarked() {
    let fixture = all();
    let node = fixture.library.graph().edge(fixture.situation().edge).to;
    let (listed, first) = fixture.index.avoid.between(node, (0.6, 0.7));
    for (x, y) in [(0.0, 1.2), (0.1, 0.5), (-0.1, 1.6)] {
        let mut bits = Vec::new();
        fixture.index.avoid.mark(node, [Vec3::new(x, y, 1.0), Vec3::new(x, y, -1.0)], 0.11, &mut bits);
        for (k, path) in listed.iter().enumerate() {
            let name = fixture.clip(fixture.index.avoid.edges(path)[0]);
            let marked = bits[(first + k) / 64] >> ((first + k) % 64) & 1 == 1;
            assert!(marked, "{name} leaves {x} {y}");
        }
    }
    let mut bits = Vec::new();
    fixture.index.avoid.mark(node, [Vec3::new(4.0, 1.0, 1.0), Vec3::new(4.0, 1.0, -1.0)], 0.11, &mut bits);
    assert!(bits.iter().all(|b| *b == 0), "nothing is four metres aside");
}

/// A search that goes on after the character has reached its next edge decides as one that begins there.
#[test]
fn a_rebased_search_decides_as_a_fresh_one() {
    let fixture = all();
    let planner = fixture.planner(DodgeConfig::default());
    let mut scratch = DodgeScratch::default();
    let threats = [ball(0.0, 1.3, 1.5)];
    let mut search = DodgeSearch::new(&planner, &fixture.situation(), &threats, false).unwrap();
    search.step(&planner, &mut scratch, 1);
    let next = fixture.library.graph().after(fixture.situation().edge).next().unwrap();
    let later = Situation { edge: next, since: 0.05, ..fixture.situation() };
    search.rebase(&planner, &later, 0.45).unwrap();
    while !search.step(&planner, &mut scratch, 3) {}
    let rebased = search.decision(&planner, &mut scratch);
    let fresh = planner.decide(&later, &[threats[0].later(0.45)], &mut scratch).unwrap();
    assert_eq!((&rebased.legs, rebased.forecast, rebased.cost), (&fresh.legs, fresh.forecast, fresh.cost));
}

/// Where the character stands and which way it faces changes nothing but the place of everything.
#[test]
fn decisions_turn_with_the_character() {
    let fixture = all();
    let planner = fixture.planner(DodgeConfig::default());
    let place = PlanarMatrix::new(&Planar { turn: 2.0, shift: Vec2::new(-3.0, 5.0) });
    let mut scratch = DodgeScratch::default();
    for y in [0.4, 1.2, 1.6] {
        let here = ball(0.05, y, ON_TIME);
        let mut there = here.clone();
        there.spheres[0].places.iter_mut().for_each(|p| *p = place.point(*p));
        let one = planner.decide(&fixture.situation(), &[here], &mut scratch).unwrap();
        let other = planner.decide(&Situation { place, ..fixture.situation() }, &[there], &mut scratch).unwrap();
        assert_eq!((one.forecast, &one.legs), (other.forecast, &other.legs));
        assert!((one.clearance - other.clearance).abs() < 1e-3);
    }
}

#[test]
fn what_cannot_be_decided_is_refused() {
    let fixture = all();
    let planner = fixture.planner(DodgeConfig::default());
    let threats = [ball(0.0, 1.2, 1.0)];
    let refused = |situation: &Situation<'_>, threats: &[Threat]| {
        planner.decide(situation, threats, &mut DodgeScratch::default()).unwrap_err()
    };
    let here = fixture.situation();
    assert_eq!(refused(&here, &[]), ThreatError::Empty);
    assert_eq!(refused(&Situation { edge: EdgeIdx(9999), ..here.clone() }, &threats), ThreatError::Foreign);
    assert_eq!(refused(&Situation { since: f32::NAN, ..here.clone() }, &threats), ThreatError::Foreign);
    let idle = Fixture::of(&["stand"]);
    let decision =
        idle.planner(DodgeConfig::default()).decide(&idle.situation(), &threats, &mut DodgeScratch::default());
    assert_eq!(decision.unwrap_err(), ThreatError::NoMotions);
}

/// The list of reasons has every candidate once, those that avoid first and by cost.
#[test]
fn reasons_are_ranked() {
    let fixture = all();
    let planner = fixture.planner(DodgeConfig::default());
    let mut scratch = DodgeScratch::default();
    let mut search = DodgeSearch::new(&planner, &fixture.situation(), &[ball(-0.1, 1.2, ON_TIME)], true).unwrap();
    while !search.step(&planner, &mut scratch, u32::MAX) {}
    let why = search.why();
    let costs: Vec<f32> =
        why.iter().filter_map(|j| if let Verdict::Avoids(cost) = j.verdict { Some(cost) } else { None }).collect();
    assert!(!costs.is_empty() && costs.is_sorted(), "{costs:?}");
    assert!(matches!(why[0].verdict, Verdict::Avoids(_)));
    let decision = search.decision(&planner, &mut scratch);
    assert_eq!(Some(&why[0].edges[0]), decision.legs.first().map(|leg| &leg.edge));
    assert!((decision.cost.total(&Weights::default()) - costs[0]).abs() < 1e-6);
    assert_eq!(why.iter().filter(|j| j.span.is_none()).count(), 1, "doing nothing is looked at once");
}

/// A ball at the head in 0.45 s: paths from the node ahead are 0.9 s away, what is played is left for the crouch at once. From its onset the
/// crouch takes 0.3 s until it is active.
#[test]
fn what_is_played_is_left_at_once() {
    let names = ["stand", "crouch", "guard"];
    let (fixture, slow) = (Fixture::with(library_with_interrupts(&names)), Fixture::of(&names));
    let threats = [ball(0.0, 1.65, 0.45)];
    let decision = fixture.decide(&threats);
    assert_eq!((decision.forecast, decision.origin), (Forecast::Avoided, Origin::Interrupt));
    assert_eq!((decision.leave, decision.legs[0].enter), (Some(0.0), 0.2));
    assert_eq!(fixture.clip(decision.legs[0].edge), "crouch");
    assert_eq!(decision.span, Some((decision.legs[0].edge, 0)));
    assert!(decision.clearance > 0.0 && decision.cost.join > 0.1, "{decision:?}");
    assert!(slow.decide(&threats).span.is_none());
    // As it is played: brute force finds what was planned.
    let (planner, mut scratch) = (fixture.planner(DodgeConfig::default()), DodgeScratch::default());
    let situation = fixture.situation();
    scratch.legs.begin(&fixture.bodies, situation.edge, situation.since, &situation.place);
    scratch.legs.leave(0.0);
    decision.legs.iter().for_each(|leg| scratch.legs.push(&fixture.bodies, leg));
    scratch.legs.go_on(&fixture.bodies, planner.graph(), 2.0);
    let found = brute_force(&fixture.bodies, &threats, &scratch, None);
    assert!((found - decision.clearance).abs() < 8e-3, "{found} but {}", decision.clearance);
    // The paper's fighters play every edge to its end.
    let paper = DodgeConfig { interrupts: false, at_height: false, ..DodgeConfig::default() };
    let waits = fixture.planner(paper).decide(&situation, &threats, &mut DodgeScratch::default()).unwrap();
    assert!(waits.span.is_none() && waits.counts.interrupts == 0);
}

/// In 1.2 s nothing that is begun now is still active: the leg after the one being played is left, 0.6 s from now or later.
#[test]
fn legs_ahead_are_left_in_time() {
    let fixture = Fixture::with(library_with_interrupts(&["stand", "crouch"]));
    let goes_on = EdgeIdx(0);
    let ahead = [crate::Leg::whole(goes_on)];
    let situation = Situation { ahead: &ahead, ..fixture.situation() };
    let planner = fixture.planner(DodgeConfig { use_index: false, ..DodgeConfig::default() });
    let planner = DodgePlanner {
        config: DodgeConfig { rules: PathRules { window: 0.01, ..PathRules::default() }, ..planner.config },
        ..planner
    };
    let threats = [ball(0.0, 1.65, 1.2)];
    let decision = planner.decide(&situation, &threats, &mut DodgeScratch::default()).unwrap();
    assert_eq!((decision.forecast, decision.origin, decision.leave), (Forecast::Avoided, Origin::Interrupt, None));
    assert_eq!((decision.legs[0].edge, decision.legs[1].enter), (goes_on, 0.2));
    // 0.4 s are left of the edge being played.
    let begins = 0.4 + decision.legs[0].leave.unwrap();
    assert!((0.6 - 1e-4..=0.9).contains(&begins), "{begins}");
}
