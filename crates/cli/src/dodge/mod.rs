//! `kumite dodge`: a scene of one character and one ball, played and written; or many balls, counted (`trials`). Decisions are
//! `kumite_plan`'s, the playing is `kumite_stage`'s.

mod trials;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use kumite_formats::gltf::GltfMarker;
use kumite_motion::library::Library;
use kumite_motion::{Clip, EdgeIdx, Roles, Vec2, Vec3};
use kumite_picture::{Marker, Passing, Prop, Replay, Strip, Times, Window};
use kumite_plan::dodge::{CullingPlanes, DodgeConfig, DodgeDecision, DodgeScratch, Judged, Verdict};
use kumite_plan::{Bend, Bodies, ThreatError};
use kumite_stage::attack_trial::{AFTER, Trial};
use kumite_stage::op::{Begin, Spawn, ThrowOp};
use kumite_stage::world::{Perception, Wish};
use kumite_stage::{BallOutcome, Defence, EventKind, Flight, Kit, Op, Performance, TICKS, Take, Target, dodge_referee};
use serde_json::{Value, json};

use crate::args::{DodgeArgs, ViewArg};
use crate::failure::{CliResult, Failure};
use crate::output::{self, Outputs};
use crate::rigs::{self, Rigs, TakeFile};
use crate::{Progress, Report, bake, exported, picture_flags, play, source};

/// Seconds shown before the ball is thrown.
const BEFORE: f32 = 0.3;
/// Whom it is thrown at.
const NAME: &str = "dodge";
/// The clip that plays when nothing else is asked for, if the library has it.
const GUARD: &str = "guard-idle";
const ENDINGS: [&str; 7] = ["glb", "bvh", "html", "png", "gif", "mp4", "json"];

/// Where the ball comes from if nothing is said, and seconds that it flies.
const FROM: Vec3 = Vec3::new(0.0, 1.6, 6.0);
const LEAD: f32 = 0.8;
/// A ball flies no longer than this, seconds.
const LONGEST_FLIGHT: f32 = 10.0;

/// How long the ball flies, seconds: as was asked, or as its way to the middle of somebody who stands at the origin takes.
fn flies(args: &DodgeArgs) -> f32 {
    let way = |from: [f32; 3]| (Vec3::from_array(from) - Vec3::Y * 1.2).length() / args.speed;
    args.lead.unwrap_or_else(|| args.from.map_or(LEAD, way))
}

/// Builds a library's planning tables, on all cores.
pub(crate) fn defence(library: Arc<Library>, config: DodgeConfig) -> Defence {
    let bodies = Bodies::of(&library, false);
    let index = || kumite_bake::indices::index(&library, &bodies, &config.rules, config.grid);
    let planes = || if config.cull { CullingPlanes::of(&bodies) } else { CullingPlanes::default() };
    let tables = rayon::join(index, planes);
    Defence::with_tables(library, bodies, tables, config)
}

/// A kit that only fights.
pub(crate) fn kit(library: Arc<Library>) -> Arc<Kit> {
    Arc::new(Kit::new(defence(library, DodgeConfig::default()), None))
}

/// What the characters of this command notice.
fn perception(args: &DodgeArgs) -> Perception {
    if args.perceive { Perception::default() } else { Perception::ALL_ROUND }
}

pub(crate) fn run(args: &DodgeArgs, progress: &Progress) -> CliResult<Report> {
    let target = check(args)?;
    let rigs = Rigs::load(&args.rig, &[], progress)?;
    rigs.say_who_is_drawn(&args.output, progress);
    let kits = [kit(bake::load(&args.library, Path::new(""), args.data.as_deref(), progress)?.library)];
    let defence = kits[0].defence().filter(|defence| defence.bodies().can_defend());
    let defence = defence.ok_or_else(|| threat_failure(args, &ThreatError::NoMotions))?;
    match (args.trials, args.trial) {
        (Some(count), None) => Ok(trials::run((&kits, defence), count, args.seed, perception(args), progress)),
        (_, Some(number)) => dodge_once(args, one_of_trials(args, number, &kits)?, (&kits, defence), &rigs),
        (None, None) => dodge_once(args, scene(args, target, &kits)?, (&kits, defence), &rigs),
    }
}

fn check(args: &DodgeArgs) -> CliResult<Target> {
    args.picture.check()?;
    let value = |key: &str, found: String, allowed: &str| {
        Err(Failure::bad(format!("{key} is {found}; allowed is {allowed}")).key(key).found(found).allowed(allowed))
    };
    if let Some(from) = args.from.filter(|from| !from.iter().all(|v| v.is_finite() && v.abs() <= 1000.0)) {
        return value("--from", format!("{from:?}"), "finite numbers, within 1000 m");
    }
    if !(args.speed.is_finite() && args.speed > 0.0 && args.speed <= 200.0) {
        return value("--speed", args.speed.to_string(), "more than 0, at most 200 m/s");
    }
    if !(args.radius.is_finite() && args.radius > 0.0 && args.radius <= 2.0) {
        return value("--radius", args.radius.to_string(), "more than 0, at most 2 m");
    }
    let lead = flies(args);
    if !(lead.is_finite() && lead > 0.0 && lead <= LONGEST_FLIGHT) {
        return match (args.lead, args.from) {
            (None, Some(from)) => {
                let found = format!("{from:?}, from where it flies for {lead:.1} s at {} m/s", args.speed);
                value("--from", found, "a place from which it flies for at most 10 s; or a faster --speed")
            }
            _ => value("--lead", lead.to_string(), "more than 0, at most 10 s"),
        };
    }
    if let (None, Some([_, y, _])) = (args.lead, args.from)
        && y < args.radius
    {
        return value("--from", format!("{y} m high"), "a ball above the floor");
    }
    if args.trials == Some(0) {
        return value("--trials", "0".into(), "at least 1");
    }
    for path in &args.output {
        output::ending(path, &ENDINGS)?;
    }
    match Target::from_name(&args.target) {
        Some(target) => Ok(target),
        None => value("--target", format!("{:?}", args.target), "head, chest, hips, arms, legs"),
    }
}

fn threat_failure(args: &DodgeArgs, error: &ThreatError) -> Failure {
    let about = |flag: &str, found: String, allowed: &str| {
        Failure::bad(format!("{flag} is {found}: {error}")).key(flag).found(found).allowed(allowed)
    };
    match error {
        ThreatError::NoMotions => about("--library", args.library.clone(), "a library with avoid or block spans"),
        ThreatError::Inside { .. } => match (args.lead, args.from) {
            (None, Some(from)) => about("--from", format!("{from:?}"), "a place outside the body"),
            _ => about("--lead", flies(args).to_string(), "a ball that does not touch the body yet"),
        },
        _ => Failure::bad(error.to_string()),
    }
}

/// The scene of one ball: who is there, what is thrown, and in which tick.
struct OneBall {
    spawn: Spawn,
    throw: ThrowOp,
    thrown: u64,
}

fn scene(args: &DodgeArgs, target: Target, kits: &[Arc<Kit>]) -> CliResult<OneBall> {
    let (begin, before) = begin(args, &kits[0])?;
    let spawn = Spawn {
        name: NAME.to_owned(),
        kit: 0,
        at: Vec2::ZERO,
        facing: 0.0,
        begin,
        wish: Wish::Wander,
        perception: perception(args),
        seed: args.seed,
    };
    let throw = ThrowOp {
        lead: if args.from.is_some() { args.lead } else { Some(flies(args)) },
        radius: args.radius,
        falls: args.falls,
        ..ThrowOp::football(NAME, target, args.from.map_or(FROM, Vec3::from_array), args.speed)
    };
    Ok(OneBall { spawn, throw, thrown: ((before * TICKS as f32).round() as u64).max(1) })
}

/// One of the random balls.
fn one_of_trials(args: &DodgeArgs, number: u32, kits: &[Arc<Kit>]) -> CliResult<OneBall> {
    let count = args.trials.unwrap_or_default();
    if number >= count {
        let allowed = format!("less than the {count} of --trials");
        let message = format!("--trial is {number}; allowed is {allowed}");
        return Err(Failure::bad(message).key("--trial").found(number.to_string()).allowed(allowed));
    }
    let seed = trials::seed(args.seed, number);
    let trial = Trial::random(kits, seed, perception(args), None);
    let Trial { world, throw, .. } = trial.ok_or_else(|| Failure::bad("the ball could not be thrown"))?;
    Ok(OneBall { spawn: Trial::begins(seed, perception(args)).0, throw, thrown: world.tick })
}

/// Plays the scene of one ball and writes the take.
fn dodge_once(
    args: &DodgeArgs,
    ball: OneBall,
    (kits, defence): (&[Arc<Kit>], &Defence),
    rigs: &Rigs,
) -> CliResult<Report> {
    let library = defence.library();
    let OneBall { spawn, throw, thrown } = ball;
    let (target, speed, lead) = (throw.target, throw.speed, throw.lead.unwrap_or_else(|| flies(args)));
    let ops = [(0, Op::Spawn(spawn)), (thrown, Op::Throw(throw.clone()))];
    let ticks = thrown + ((lead + AFTER) * TICKS as f32).round() as u64;
    let performance = Performance::play(kits, &ops, ticks);
    let missing = || Failure::bad("the ball could not be thrown");
    let flight = performance.flights.first().ok_or_else(missing)?;
    let take = performance.takes().map_err(|e| Failure::bad(e.to_string()))?.into_iter().next().ok_or_else(missing)?;
    // The decision again, from the same world, for what was considered and what would have happened.
    let world = Performance::play(kits, &ops[..1], thrown - 1).world;
    let trial = Trial { world, who: flight.ball.at, throw };
    let moment = trial.moment(kits);
    let (mut ranked, mut considered) = (Vec::new(), None);
    let undisturbed = match &moment {
        Some(moment) => {
            let search = defence.search(&moment.character, &moment.ahead, &moment.threats, args.why);
            let mut search = search.map_err(|e| threat_failure(args, &e))?;
            let (planner, mut scratch) = (defence.planner(), DodgeScratch::default());
            while !search.step(&planner, &mut scratch, u32::MAX) {}
            considered = Some(search.decision(&planner, &mut scratch));
            ranked = search.why();
            dodge_referee::threatening(&moment.character, &[], &moment.threats).least
        }
        None => flight.least,
    };
    let answered = performance.events.iter().rev().find_map(|event| match &event.kind {
        EventKind::Answered { decision } => Some(&**decision),
        _ => None,
    });
    let decision = answered.or(considered.as_ref());
    let q = take.quality;
    let outcome = outcome_name(flight);
    let name = |edges: &[EdgeIdx], span: Option<u32>| path_name(library, edges, span);
    let chosen = match decision.map(|d| (d.span, d.bend)) {
        None => "never sees it".to_owned(),
        Some((None, Some(bend))) => bend_name(&bend).to_owned(),
        Some((span, _)) => name(&span.map_or_else(Vec::new, |(edge, _)| vec![edge]), span.map(|s| s.1)),
    };
    let bent = decision.is_some_and(|d| d.bend.is_some());
    let counts = decision.map(|d| d.counts).unwrap_or_default();
    let mut text = format!(
        "{outcome}: {chosen}{}\n    passes {:.1} cm from the body; undisturbed {:.1} cm; {} candidates from the index, {} tested\n    \
         feet slide {:.2} cm/s, float {:.2} cm, snap {:.2}; hash {:016x}\n",
        if bent { ", bent" } else { "" },
        flight.least * 100.0,
        undisturbed * 100.0,
        counts.index,
        counts.tested,
        q.foot_slide_cm_s,
        q.float_cm,
        q.snap,
        take.hash
    );
    if let Some(block) = decision.and_then(|d| d.block) {
        let how = if block.parry { "parry" } else { "block" };
        let _ = writeln!(
            text,
            "    {how} with the {} after {:.2} s, {:?}, from {:?}",
            block.wrist.name().replace('_', " "),
            block.time,
            block.height,
            block.side
        );
    }
    if args.why {
        let _ = writeln!(text, "    rank  cost   avoid  body   time   join   scale  clears    what");
        for (rank, judged) in ranked.iter().enumerate() {
            let when = judged.leave.map_or(String::new(), |leave| format!(", begun after {leave:.2} s"));
            text += &candidate_line(rank + 1, judged, &(name(&judged.edges, judged.span) + &when));
        }
    }
    let json = one_json(flight, decision, undisturbed, &take, (outcome, &chosen), &ranked, library);
    let title = format!(
        "ball at {:.0} m/s at the {}, seen {:.1} s ahead: {outcome}, {chosen}",
        speed,
        target.name(),
        moment.map_or(0.0, |m| m.lead)
    );
    let mut outputs = Outputs::default();
    for path in &args.output {
        let ending = source::ending(path).unwrap_or_default();
        if ending == "glb" {
            output::refuse_inputs(path, rigs.paths())?;
            let props = rigs::props([], rigs::thrown(std::slice::from_ref(flight)));
            let markers = vec![GltfMarker { seconds: meets(flight), name: title.clone(), actor: None }];
            TakeFile { title: &title, takes: vec![&take], props, markers }.stage(path, rigs, &mut outputs)?;
            continue;
        }
        outputs.stage(path, &encode(args, &performance, flight, &take, &title, (&ending, &json))?)?;
    }
    outputs.commit()?;
    Ok(Report { text, json })
}

fn one_json(
    flight: &Flight,
    decision: Option<&DodgeDecision>,
    undisturbed: f32,
    take: &Take,
    (outcome, chosen): (&str, &str),
    ranked: &[Judged],
    library: &Library,
) -> Value {
    let q = take.quality;
    let finite = |v: f32| v.is_finite().then_some(v);
    let candidates: Vec<Value> = ranked.iter().map(|j| judged_json(j, &path_name(library, &j.edges, j.span))).collect();
    json!({
        "outcome": outcome, "what": chosen, "threatening": undisturbed < 0.0,
        "clearance_m": finite(flight.least), "undisturbed_m": finite(undisturbed), "planned_clearance_m": decision.map(|d| d.clearance),
        "cost": decision.map(|d| json!({"avoidance": d.cost.avoidance, "body": d.cost.body, "timescale": d.cost.timescale, "join": d.cost.join})),
        "time_scale": decision.map(|d| d.warp.scale()), "adapted": decision.is_some_and(|d| d.bend.is_some()),
        "block": decision.and_then(|d| d.block).map(|b| json!({
            "wrist": b.wrist.name(), "time": b.time, "height": format!("{:?}", b.height).to_lowercase(),
            "side": format!("{:?}", b.side).to_lowercase(), "parry": b.parry,
        })),
        "candidates": candidates, "edges": decision.map(|d| d.legs.iter().map(|leg| leg.edge.0).collect::<Vec<_>>()),
        "seconds": take.clip.seconds(), "frames": take.clip.frames(),
        "quality": {"foot_slide_cm_s": q.foot_slide_cm_s, "planted_share": q.planted_share, "snap": q.snap, "float_cm": q.float_cm},
        "hash": format!("{:016x}", take.hash),
    })
}

/// Short name of a bend.
fn bend_name(bend: &Bend) -> &'static str {
    if bend.hand.is_some() {
        "hand drawn aside"
    } else if bend.shift.y < -0.1 {
        "sinks"
    } else {
        "leans aside"
    }
}

/// What to begin with, what was asked for, or a guard, or any; and seconds until the ball is thrown.
fn begin(args: &DodgeArgs, kit: &Kit) -> CliResult<(Option<Begin>, f32)> {
    let library = kit.library();
    let Some(asked) = &args.begin else {
        let guard = Begin::parse(GUARD);
        return Ok((kit.entry(&guard).map(|_| guard), BEFORE));
    };
    let begin = Begin::parse(asked);
    let Some((_, since)) = kit.entry(&begin) else {
        let of = library.clips().iter().find(|clip| clip.name == begin.clip);
        let says = format!("--begin is {asked:?}");
        let (Some(_), Some(clip)) = (begin.at, of) else {
            let names = library.clips().iter().map(|c| c.name.as_str());
            return Err(Failure::unknown(&says, &begin.clip, names).key("--begin"));
        };
        let allowed = format!("0 to {:.2} s of {}, where it is played", clip.seconds(), clip.name);
        return Err(Failure::bad(format!("{says}; there are {allowed}")).key("--begin").found(asked).allowed(allowed));
    };
    // The ball is thrown at the moment that was asked for, so it begins a little before.
    let before = if begin.at.is_some() { since.min(BEFORE) } else { BEFORE };
    Ok((Some(Begin { at: begin.at.map(|at| at - before), ..begin }), before))
}

/// Outcome as it was played.
fn outcome_name(flight: &Flight) -> &'static str {
    match flight.end.map(|end| end.0) {
        Some(BallOutcome::Hit) => "hit",
        Some(BallOutcome::Blocked) => "blocked",
        Some(BallOutcome::Braced) => "braced",
        Some(BallOutcome::Dodged) => "avoided",
        Some(BallOutcome::Missed) | None => "clear",
    }
}

/// Name of a path: the label of the span it leads to.
fn path_name(library: &Library, edges: &[EdgeIdx], span: Option<u32>) -> String {
    let Some(span) = span else { return "goes on".into() };
    let labelled = edges.iter().rev().find_map(|e| {
        let within = library.graph().spans(*e).iter().any(|s| s.span == span);
        let clip = library.clip(library.graph().edge(*e).clip);
        let found = clip
            .spans
            .get(span as usize)
            .filter(|s| within && matches!(s.kind, kumite_motion::SpanKind::Avoid | kumite_motion::SpanKind::Block))?;
        Some(if found.label.is_empty() { clip.name.clone() } else { found.label.clone() })
    });
    labelled.unwrap_or_else(|| "what it plays already".into())
}

fn candidate_line(rank: usize, judged: &Judged, name: &str) -> String {
    let t = judged.cost;
    let verdict = match judged.verdict {
        Verdict::Avoids(cost) => format!("{cost:<6.3}"),
        Verdict::Hit(_) => "hit   ".into(),
        Verdict::Culled => "culled".into(),
        Verdict::OutOfScale => "speed ".into(),
        Verdict::Bounded => "worse ".into(),
    };
    let clears =
        if judged.clearance.is_finite() { format!("{:>6.1} cm", judged.clearance * 100.0) } else { "       ".into() };
    format!(
        "    {rank:>4}  {verdict} {:<6.3} {:<6.3} {:<6.3} {:<6.3} {:<6.2} {clears} {name}\n",
        t.avoidance, t.body, t.timescale, t.join, judged.scale
    )
}

fn judged_json(judged: &Judged, name: &str) -> Value {
    let (verdict, cost) = match judged.verdict {
        Verdict::Avoids(cost) => ("avoids", Some(cost)),
        Verdict::Hit(_) => ("hit", None),
        Verdict::Culled => ("culled", None),
        Verdict::OutOfScale => ("out of scale", None),
        Verdict::Bounded => ("bounded", None),
    };
    let t = judged.cost;
    json!({
        "what": name, "verdict": verdict, "cost": cost, "avoidance": t.avoidance, "body": t.body, "timescale": t.timescale,
        "join": t.join, "leaves_after_s": judged.leave, "time_scale": judged.scale, "clearance_m": judged.clearance.is_finite().then_some(judged.clearance),
        "edges": judged.edges.iter().map(|e| e.0).collect::<Vec<_>>(),
    })
}

/// Times for a strip: before the ball hits or passes, exactly then, and a little after.
fn moments(thrown: f32, meets: f32, poses: usize) -> Vec<f32> {
    let after = (poses / 4).min(poses.saturating_sub(1));
    let before = poses - after - 1;
    let (early, late) = ((meets - thrown).min(0.75) / before.max(1) as f32, 0.36 / after.max(1) as f32);
    (0..poses).map(|k| k as f32 - before as f32).map(|k| meets + k * if k < 0.0 { early } else { late }).collect()
}

/// When a ball meets somebody, or passes, seconds.
fn meets(flight: &Flight) -> f32 {
    let met = flight.end.filter(|end| end.2.is_some());
    met.map_or(flight.ball.thrown as f32 / TICKS as f32 + flight.ball.arrives, |end| end.1)
}

/// The take in the format of a file ending, other than `.glb`.
fn encode(
    args: &DodgeArgs,
    performance: &Performance,
    flight: &Flight,
    take: &Take,
    title: &str,
    (ending, json): (&str, &Value),
) -> CliResult<Vec<u8>> {
    let clip: &Clip = &take.clip;
    let figure = picture_flags::figure(clip, Some(Roles::canonical()));
    let ball = || Prop::flying(flight.ball.ball.radius, play::drawn(flight));
    let picture = &args.picture;
    let met = flight.end.filter(|end| end.2.is_some());
    let thrown = flight.ball.thrown as f32 / TICKS as f32;
    let meets = meets(flight);
    let passing =
        met.is_none().then(|| Passing::of(&figure, &ball(), (meets - 0.15, meets + 0.25), (meets - 0.6).max(thrown)));
    let views = match (&passing, picture.view.as_slice()) {
        (Some(passing), [ViewArg::Auto]) => passing.views.to_vec(),
        _ => picture.views(),
    };
    let times = Times::At(moments(thrown, passing.map_or(meets, |p| p.time), picture.poses));
    let strip = || Strip {
        views: views.clone(),
        figures: vec![figure.clone()],
        props: vec![ball()],
        title: Some(if picture.bare { String::new() } else { title.to_owned() }),
        times: times.clone(),
        window: Window::World,
        ..picture.strip(clip, Some(Roles::canonical()))
    };
    Ok(match ending {
        "json" => format!("{json}\n").into_bytes(),
        "bvh" => exported::bvh_for(clip, args.rig.program),
        "html" => {
            let seen = performance.events.iter().filter(|e| matches!(e.kind, EventKind::Noticed { .. }));
            let mut markers: Vec<Marker> = seen
                .map(|event| Marker {
                    time: event.tick as f32 / TICKS as f32,
                    kind: "seen".into(),
                    text: "the ball is seen".into(),
                    at: Some(flight.ball.place(event.tick)),
                })
                .collect();
            let text = met.and_then(|end| end.2).map_or_else(|| title.to_owned(), |part| part.name().into());
            let at = met.and_then(|_| flight.path.last()).map(|last| last.1);
            markers.push(Marker { time: meets, kind: outcome_name(flight).into(), text, at });
            let replay = Replay { title: title.to_owned(), figures: vec![figure], props: vec![ball()], markers };
            replay.to_html().into_bytes()
        }
        "gif" | "mp4" => picture_flags::film(strip(), ending, clip.seconds(), 0.5)?,
        _ => strip().render().to_png(),
    })
}

/// Percentiles 50, 95 and 99, and the maximum.
pub(crate) fn spread(values: &mut [f64]) -> Value {
    values.sort_by(f64::total_cmp);
    let at =
        |share: f64| values.get(((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1))).copied();
    json!({"p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": at(1.0)})
}

/// Combines the hashes of takes, in their order.
pub(crate) fn combined(hashes: impl Iterator<Item = u64>) -> String {
    let fold = |sum: u64, hash: u64| (sum.rotate_left(5) ^ hash).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", hashes.fold(0xcbf2_9ce4_8422_2325, fold))
}
