//! `kumite walk`: one way through clutter, played and written; or many, counted and compared.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use cpu_time::ThreadTime;
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{Roles, Vec3};
use kumite_picture::{GroundPlan, Layout, Marker, Prop, Replay, Strip};
use kumite_plan::walk::{Effort, Method, Nudges, WalkError, WalkPath};
use kumite_plan::{Alone, Pool};
use kumite_stage::walk::{WalkOutcome, WalkRequest, Walker, blocked, clutter};
use kumite_stage::walk_trial::WalkTrial;
use kumite_stage::world::WalkSearch;
use kumite_stage::{Host, Kit, scene};
use serde_json::{Map, Value, json};

use crate::args::WalkArgs;
use crate::bake::Loaded;
use crate::failure::{CliResult, Failure};
use crate::output::{self, Outputs};
use crate::rayon_pool::RayonPool;
use crate::rigs::{self, Rigs, TakeFile};
use crate::{Progress, Report, bake, exported, judged, picture_flags, source, stock_scenes};

const ENDINGS: [&str; 8] = ["glb", "bvh", "html", "png", "svg", "gif", "mp4", "json"];

/// The grid by chance.
const CLUTTER: &str = "clutter";
/// The same, with the way to the goal shut.
const BLOCKED: &str = "blocked";

/// One attempt in numbers.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) outcome: WalkOutcome,
    /// By the names of the command's JSON; without what was never played.
    pub(crate) values: Vec<(&'static str, f64)>,
    pub(crate) cost: f64,
    /// Whether it passes the quality gates, and with snaps looked for at joins only.
    pub(crate) quality: (bool, bool),
    /// What the judge of plausible motion says against it.
    pub(crate) faults: Vec<&'static str>,
    /// Of the take; 0 where nothing was played.
    pub(crate) hash: u64,
}

pub(crate) fn run(args: &WalkArgs, progress: &Progress) -> CliResult<Report> {
    let methods = check(args)?;
    let rigs = Rigs::load(&args.rig, &[], progress)?;
    rigs.say_who_is_drawn(&args.output, progress);
    let kits = [kit(&args.library, args.data.as_deref(), !args.unbent, progress)?];
    let effort = Effort { starts: args.starts, ..Effort::default() };
    match args.trials {
        Some(count) => trials(args, &kits, &methods, effort, count, progress),
        None => one(args, &kits, &methods, effort, &rigs),
    }
}

/// A kit that walks; `bent` lets clips be mirrored, and bent a little on the way.
pub(crate) fn kit(name: &str, data: Option<&Path>, bent: bool, progress: &Progress) -> CliResult<Arc<Kit>> {
    let walker = walker_of(&bake::load(name, Path::new(""), data, progress)?, bent)?;
    Ok(Arc::new(Kit::walking(walker)))
}

/// What walks with a library that is loaded already.
pub(crate) fn walker_of(loaded: &Loaded, bent: bool) -> CliResult<Walker> {
    let library = if bent { loaded.with_walks()? } else { loaded.unmirrored_walks()? };
    let walker = Walker::new(library, bent.then(Nudges::default).as_ref());
    // Of other people's clips, the first may begin in mid-air; those that come with kumite begin in a stride.
    Ok(if loaded.is_built_in() { walker } else { walker.beginning_slowly() })
}

fn check(args: &WalkArgs) -> CliResult<Vec<Method>> {
    args.picture.check()?;
    let value = |key: &str, found: String, allowed: &str| {
        Failure::bad(format!("{key} is {found}; allowed is {allowed}")).key(key).found(found).allowed(allowed)
    };
    if args.trials == Some(0) {
        return Err(value("--trials", "0".into(), "at least 1"));
    }
    if !(1..=10_000).contains(&args.starts) {
        return Err(value("--starts", args.starts.to_string(), "1 to 10000"));
    }
    for path in &args.output {
        output::ending(path, &ENDINGS)?;
    }
    let names = Method::ALL.map(Method::name).join(", ");
    let method = |name: &String| Method::from_name(name).ok_or_else(|| value("--method", format!("{name:?}"), &names));
    args.method.iter().map(method).collect()
}

/// What a scene asks; `clutter` depends on the seed.
pub(crate) fn request(name: &str, seed: u64) -> CliResult<WalkRequest> {
    let base = if name == CLUTTER || name == BLOCKED { "grid" } else { name };
    let path = Path::new(name);
    let text = match stock_scenes::stock(base) {
        Some(text) => text.to_owned(),
        None if source::ending(path).as_deref() == Some("toml") => stock_scenes::read(path)?,
        None => {
            let names: Vec<&str> = stock_scenes::walks().chain([CLUTTER, BLOCKED]).collect();
            let allowed = format!("{}, or a .toml file", names.join(", "));
            let message = format!("--scene is {name:?}; allowed is {allowed}{}", kumite_text::hint(name, &allowed));
            return Err(Failure::bad(message).key("--scene").found(name).allowed(allowed));
        }
    };
    let scene = scene::read(&text).map_err(|e| stock_scenes::refused(e, &text, path))?;
    let asked = WalkRequest::first(&scene).ok_or_else(|| {
        Failure::bad("nobody in this scene has a goal; a character needs goal = { at = [x, z] }")
            .key("goal")
            .in_file(path)
    })?;
    Ok(match name {
        CLUTTER => clutter(&asked, seed),
        BLOCKED => blocked(&asked, seed),
        _ => asked,
    })
}

pub(crate) fn refused(error: &WalkError, name: &str) -> Failure {
    let key = match error {
        WalkError::NoAction { .. } => "goal",
        WalkError::StartCollides { .. } | WalkError::BadNumber { .. } => "at",
        WalkError::NoWalk => "library",
    };
    Failure::bad(format!("{name}: {error}")).key(key)
}

/// A host that times searches, in CPU seconds of the thread that asks for them, and lends threads if it has any.
#[derive(Debug, Default)]
pub(crate) struct TimedHost {
    pool: Option<RayonPool>,
    nanoseconds: AtomicU64,
}

impl TimedHost {
    pub(crate) fn new(threads: usize) -> Arc<TimedHost> {
        Arc::new(TimedHost { pool: Some(RayonPool::new(threads)), ..TimedHost::default() })
    }

    /// What searches took since it was last asked.
    pub(crate) fn seconds(&self) -> f64 {
        self.nanoseconds.swap(0, Ordering::Relaxed) as f64 * 1e-9
    }
}

impl Pool for TimedHost {
    fn run(&self, parts: usize, work: &(dyn Fn(usize) + Sync)) {
        match &self.pool {
            Some(pool) => pool.run(parts, work),
            None => Alone.run(parts, work),
        }
    }
}

impl Host for TimedHost {
    fn search(&self, work: &mut dyn FnMut()) {
        let start = ThreadTime::now();
        work();
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

/// A request, searched for and walked in a world of its own; and the CPU seconds of searching.
pub(crate) fn attempt(
    kits: &[Arc<Kit>],
    request: &WalkRequest,
    (method, effort): (Method, Effort),
    host: &Arc<TimedHost>,
    seed: u64,
) -> Result<(WalkTrial, f64), WalkError> {
    let search = WalkSearch { method, effort, seed: Some(seed), anyway: true };
    let lent: Arc<dyn Host> = Arc::clone(host) as _;
    let trial = request.play(kits, search, &lent)?;
    Ok((trial, host.seconds()))
}

/// A walk in numbers.
pub(crate) fn row(trial: &WalkTrial, seconds: f64) -> Row {
    let searched = &trial.searched;
    let mut values = vec![("search_seconds", seconds), ("evaluations", searched.counts.evaluations as f64)];
    let (mut cost, mut quality, mut faults, mut hash) = (f64::INFINITY, (false, false), Vec::new(), 0);
    if let (Some(found), Some(walked)) = (&searched.best, &trial.played) {
        cost = f64::from(found.path.cost.total());
        let q = walked.take.quality;
        quality = (q.passes(), q.passes_at_joins());
        faults = judged::faults(&walked.take);
        hash = walked.take.hash;
        let travel = f64::from(walked.course.travel);
        values.extend([
            ("transitions", found.transitions as f64),
            ("transition_cost", f64::from(found.path.cost.smooth)),
            ("frames", f64::from(walked.take.clip.seconds()) * 30.0),
            ("location_cm", f64::from(found.before.0) * 100.0),
            ("orientation_deg", f64::from(found.before.1).to_degrees()),
            ("warped_location_cm", f64::from(walked.off) * 100.0),
            ("warped_orientation_deg", f64::from(walked.turned).to_degrees()),
            ("travel_cm", travel * 100.0),
            ("travel_ratio", travel / f64::from(searched.expected).max(1e-6)),
            ("turning_deg", f64::from(walked.course.turning).to_degrees()),
            ("excess_turning_deg", f64::from(walked.course.turning - searched.least_turning).to_degrees()),
            ("waiting_s", f64::from(walked.course.waiting)),
            ("collision_frames", walked.collision_frames as f64),
            ("penetration_cm", f64::from(walked.penetration) * 100.0),
            ("cost", cost),
            ("foot_slide_cm_s", f64::from(q.foot_slide_cm_s)),
            ("float_cm", f64::from(q.float_cm)),
            ("snap", f64::from(q.snap)),
            ("snap_at_joins", f64::from(q.snap_at_joins)),
            ("balance_cm", f64::from(q.balance_cm)),
            ("source_balance_cm", f64::from(q.source_balance_cm)),
        ]);
    }
    Row { outcome: searched.outcome, values, cost, quality, faults, hash }
}

/// Means over all that were played and over those that arrived, and the one that costs least.
pub(crate) fn summary(rows: &[Row]) -> Value {
    let played: Vec<&Row> = rows.iter().filter(|r| r.cost.is_finite()).collect();
    let object = |values: &[(&str, f64)]| -> Map<String, Value> {
        values.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect()
    };
    let best = played.iter().min_by(|a, b| a.cost.total_cmp(&b.cost));
    let mean = |of: &[&Row]| -> Map<String, Value> {
        let names = of.first().into_iter().flat_map(|first| first.values.iter().map(|v| v.0));
        let one = |name: &str| {
            let all = of.iter().filter_map(|r| r.values.iter().find(|v| v.0 == name)).map(|v| v.1);
            json!(all.sum::<f64>() / of.len() as f64)
        };
        names.map(|name| (name.to_owned(), one(name))).collect()
    };
    let arrived: Vec<&Row> = rows.iter().filter(|r| r.outcome == WalkOutcome::Arrived).collect();
    let count = |fate: fn(&WalkOutcome) -> bool| rows.iter().filter(|r| fate(&r.outcome)).count();
    // The farthest off of those that arrived.
    let worst =
        |name: &str| arrived.iter().filter_map(|r| r.values.iter().find(|v| v.0 == name)).map(|v| v.1).reduce(f64::max);
    let farthest: Map<String, Value> =
        ["location_cm", "orientation_deg", "warped_location_cm", "warped_orientation_deg", "collision_frames"]
            .map(|name| (name.to_owned(), json!(worst(name))))
            .into_iter()
            .collect();
    let mut slowest: Vec<f64> = rows.iter().filter_map(|r| Some(r.values.first()?.1)).collect();
    json!({
        "trials": rows.len(), "solved": count(|f| *f == WalkOutcome::Arrived), "blocked": count(|f| matches!(f, WalkOutcome::Blocked(_))),
        "lost": count(|f| *f == WalkOutcome::Lost), "collided": count(|f| *f == WalkOutcome::Collides),
        "quality_failures": played.iter().filter(|r| !r.quality.0).count(),
        "quality_failures_at_joins": played.iter().filter(|r| !r.quality.1).count(),
        "judge": judged::count(played.iter().map(|r| &r.faults)),
        "search_seconds": crate::dodge::spread(&mut slowest),
        "hash": crate::dodge::combined(rows.iter().map(|r| r.hash)),
        "worst_arrived": farthest, "mean_arrived": mean(&arrived), "mean": mean(&played), "best": best.map(|b| object(&b.values)),
    })
}

pub(crate) fn word(fate: WalkOutcome) -> &'static str {
    match fate {
        WalkOutcome::Arrived => "arrived",
        WalkOutcome::Blocked(_) => "blocked",
        WalkOutcome::Lost => "lost",
        WalkOutcome::Collides => "collides",
    }
}

fn trials(
    args: &WalkArgs,
    kits: &[Arc<Kit>],
    methods: &[Method],
    effort: Effort,
    count: u32,
    progress: &Progress,
) -> CliResult<Report> {
    let bar = progress.bar(count as usize * methods.len(), "walking");
    let threads = picture_flags::threads().max(1) as u32;
    let (mut text, mut json) = (String::new(), Map::new());
    let seed = |k: u32| args.seed.wrapping_mul(1_000_003).wrapping_add(u64::from(k));
    for &method in methods {
        let part = |part: u32| -> CliResult<Vec<(u32, Row)>> {
            let (mut rows, host) = (Vec::new(), TimedHost::new(1));
            for k in (part..count).step_by(threads as usize) {
                let request = request(&args.scene, seed(k))?;
                let walked = attempt(kits, &request, (method, effort), &host, seed(k));
                let (trial, seconds) = walked.map_err(|e| refused(&e, &args.scene))?;
                rows.push((k, row(&trial, seconds)));
                bar.inc(1);
            }
            Ok(rows)
        };
        let parts: Vec<CliResult<Vec<(u32, Row)>>> = std::thread::scope(|scope| {
            let parts: Vec<_> = (0..threads).map(|p| scope.spawn(move || part(p))).collect();
            let join =
                |t: std::thread::ScopedJoinHandle<'_, _>| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e));
            parts.into_iter().map(join).collect()
        });
        let mut rows: Vec<(u32, Row)> = parts.into_iter().collect::<CliResult<Vec<_>>>()?.concat();
        rows.sort_by_key(|r| r.0);
        // What another look with `--seed` is worth.
        let failed = rows.iter().filter(|r| matches!(r.1.outcome, WalkOutcome::Lost | WalkOutcome::Collides));
        let failed: Vec<u64> = failed.map(|r| seed(r.0)).collect();
        let rows: Vec<Row> = rows.into_iter().map(|r| r.1).collect();
        let mut told = summary(&rows);
        told["failed_seeds"] = json!(failed);
        let _ = writeln!(
            text,
            "{}: {} of {} arrived, {} blocked, {} lost, {} touch something; half of the searches within {:.3} s, all within {:.3} s",
            method.name(),
            told["solved"],
            count,
            told["blocked"],
            told["lost"],
            told["collided"],
            number(&told["search_seconds"]["p50"]),
            number(&told["search_seconds"]["max"]),
        );
        let arrived = |key: &str| number(&told["mean_arrived"][key]);
        if told["solved"] != 0 {
            let _ = writeln!(
                text,
                "    of those that arrived: cost {:.2}, {:.1} transitions, {:.2} of the way, {:.0}° of excess turning, {:.1} s waited; {:.1} cm and {:.1}° \
                 before the last steps are bent, {:.1} cm and {:.1}° after",
                arrived("cost"),
                arrived("transitions"),
                arrived("travel_ratio"),
                arrived("excess_turning_deg"),
                arrived("waiting_s"),
                arrived("location_cm"),
                arrived("orientation_deg"),
                arrived("warped_location_cm"),
                arrived("warped_orientation_deg"),
            );
        }
        if let Some(first) = failed.first() {
            let _ = writeln!(text, "    the first that did not: --seed {first}");
        }
        json.insert(method.name().to_owned(), told);
    }
    bar.finish_and_clear();
    json.insert("scene".into(), json!(args.scene));
    json.insert("trials".into(), json!(count));
    Ok(Report { text, json: Value::Object(json) })
}

pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or(f64::NAN)
}

fn one(args: &WalkArgs, kits: &[Arc<Kit>], methods: &[Method], effort: Effort, rigs: &Rigs) -> CliResult<Report> {
    let host = TimedHost::new(picture_flags::threads());
    let request = request(&args.scene, args.seed)?;
    let (mut text, mut json) = (String::new(), Map::new());
    let mut done = Vec::new();
    for &method in methods {
        let walked = attempt(kits, &request, (method, effort), &host, args.seed);
        let (trial, seconds) = walked.map_err(|e| refused(&e, &args.scene))?;
        let row = row(&trial, seconds);
        let (outcome, searched) = (trial.searched.outcome, &trial.searched);
        let mut told = summary(std::slice::from_ref(&row));
        told["outcome"] = json!(word(outcome));
        let _ = write!(text, "{}: {}", method.name(), word(outcome));
        if let WalkOutcome::Blocked(closest) = outcome {
            let off = (closest - request.goal).length();
            told["closest"] = json!([closest.x, closest.y]);
            told["closest_m"] = json!(off);
            let _ = write!(
                text,
                "; the nearest place that can be reached is [{:.2}, {:.2}], {off:.2} m from the goal",
                closest.x, closest.y
            );
        }
        if let (Some(found), Some(walked)) = (&searched.best, &trial.played) {
            let (q, path) = (walked.take.quality, &found.path);
            let _ = write!(
                text,
                "; {} transitions, {:.1} s, {:.2} m ({:.2} of the way), turns {:.0}° ({:.0}° at least), waits {:.1} s\n    {:.1} cm and {:.1}° from the goal, {:.1} cm and {:.1}° before the \
                 last steps were bent; {} frames touch something\n    feet slide {:.2} cm/s, float {:.2} cm, snap {:.2}; hash {:016x}; {} paths \
                 judged in {seconds:.3} s",
                found.transitions,
                walked.take.clip.seconds(),
                walked.course.travel,
                walked.course.travel / searched.expected.max(1e-6),
                walked.course.turning.to_degrees(),
                searched.least_turning.to_degrees(),
                walked.course.waiting,
                walked.off * 100.0,
                walked.turned.to_degrees(),
                found.before.0 * 100.0,
                found.before.1.to_degrees(),
                walked.collision_frames,
                q.foot_slide_cm_s,
                q.float_cm,
                q.snap,
                walked.take.hash,
                searched.counts.evaluations,
            );
            let t = path.cost;
            told["cost"] = json!({"smooth": t.smooth, "goal": t.goal, "waypoints": t.waypoints, "collide": t.collide, "travel": t.travel});
            told["hash"] = json!(format!("{:016x}", walked.take.hash));
            if args.why {
                let _ = write!(
                    text,
                    "\n    cost {:.3}: transitions {:.3}, goal {:.3}, corners {:.3}, collisions {:.3}, travel {:.3}; expected way {:.2} m",
                    t.total(),
                    t.smooth,
                    t.goal,
                    t.waypoints,
                    t.collide,
                    t.travel,
                    searched.expected
                );
                text += &steps(kits, path);
            }
        }
        text.push('\n');
        json.insert(method.name().to_owned(), told);
        done.push((method, trial));
    }
    json.insert("scene".into(), json!(args.scene));
    let walked = done.iter().find_map(|(_, trial)| Some(&trial.played.as_ref()?.take));
    if let Some(take) = walked
        && let Some(touches) = rigs.touches(take, &request.obstacles)?
    {
        let _ = match touches.frames {
            0 => writeln!(text, "    on the rig: 0 frames touch something"),
            frames => writeln!(
                text,
                "    on the rig: {frames} frames touch something, by up to {:.1} cm: its shape is not that of the body that was planned with",
                touches.deepest * 100.0
            ),
        };
        json.insert("rig".into(), json!({"collision_frames": touches.frames, "deepest_m": touches.deepest}));
    }
    let json = Value::Object(json);
    let mut outputs = Outputs::default();
    for path in &args.output {
        let ending = source::ending(path).unwrap_or_default();
        let walked = done.iter().find_map(|(_, trial)| Some(&trial.played.as_ref()?.take));
        match (ending.as_str(), walked) {
            ("glb", Some(take)) => {
                output::refuse_inputs(path, rigs.paths())?;
                let props = rigs::props(&request.obstacles, []);
                let file = TakeFile { title: "walk", takes: vec![take], props, markers: Vec::new() };
                file.stage(path, rigs, &mut outputs)?;
            }
            _ => match written(args, &request, &done, &ending, &json) {
                Some(bytes) => outputs.stage(path, &bytes?)?,
                // That there is no way is an answer, not a failure.
                None => {
                    let _ = writeln!(text, "    {} is not written: there is no walk to show", path.display());
                }
            },
        }
    }
    outputs.commit()?;
    Ok(Report { text, json })
}

/// What a path leaves and enters, a line each.
fn steps(kits: &[Arc<Kit>], path: &WalkPath) -> String {
    let mut text = String::new();
    let Some(walker) = kits[0].walker() else { return text };
    let (library, fps) = (walker.library(), walker.tables().fps);
    for step in &path.transitions {
        let ((from, leaves), (to, enters)) = (walker.tables().frame(step.from), walker.tables().frame(step.to));
        let (from, leaves) = (&library.clip(from).name, leaves.0 as f32 / fps);
        let _ = if step.from == step.to {
            write!(text, "\n    bends {from} at {leaves:.2} s by {:.1}°", step.align.turn.to_degrees())
        } else {
            let (to, enters) = (&library.clip(to).name, enters.0 as f32 / fps);
            write!(text, "\n    leaves {from} at {leaves:.2} s for {to} at {enters:.2} s, {:.3}", step.cost)
        };
    }
    text
}

/// An obstacle as pictures have it.
pub(crate) fn prop(obstacle: &Obstacle) -> Prop {
    use kumite_picture::{Cone, Shape as Drawn};
    let end = |half: f32| obstacle.at + obstacle.turn * (Vec3::Y * half);
    Prop::still(match obstacle.shape {
        Shape::Sphere { radius } => Drawn::ball(obstacle.at, radius),
        Shape::Capsule { half, radius } => Drawn::Cone(Cone { a: end(-half), ra: radius, b: end(half), rb: radius }),
        Shape::Cylinder { half, radius } => Drawn::Cylinder { a: end(-half), b: end(half), radius },
        Shape::Box { half } => Drawn::Block { centre: obstacle.at, half, turn: obstacle.turn },
    })
}

fn written(
    args: &WalkArgs,
    request: &WalkRequest,
    done: &[(Method, WalkTrial)],
    ending: &str,
    json: &Value,
) -> Option<CliResult<Vec<u8>>> {
    if ending == "json" {
        return Some(Ok(format!("{json}\n").into_bytes()));
    }
    let (method, trial, take) = done.iter().find_map(|(m, t)| Some((m, t, &t.played.as_ref()?.take)))?;
    let clip = &take.clip;
    let title = format!("{}: {}, {}", args.scene, method.name(), word(trial.searched.outcome));
    let props = || request.obstacles.iter().map(|o| Prop { fit: false, ..prop(o) }).collect::<Vec<_>>();
    let picture = &args.picture;
    let figure = picture_flags::figure(clip, Some(Roles::canonical()));
    // Walls would hide who walks between them.
    let wall = |o: &&Obstacle| !matches!(o.shape, Shape::Box { half } if half.max_element() > 1.4);
    let low = request.obstacles.iter().filter(wall).map(|o| Prop { fit: false, ..prop(o) }).collect::<Vec<_>>();
    let strip = || Strip {
        props: low.clone(),
        title: Some(title.clone()),
        layout: Layout::Travel,
        ..picture.strip(clip, Some(Roles::canonical()))
    };
    Some(Ok(match ending {
        "bvh" => exported::bvh_for(clip, args.rig.program),
        "svg" => plan(&args.scene, request, done, picture.width.min(900), picture.theme())?.to_svg().into_bytes(),
        "html" => {
            let cuts = take.starts.iter().filter(|e| e.joined);
            let markers =
                cuts.map(|e| Marker { time: e.time, kind: "join".into(), text: "transition".into(), at: None });
            Replay { title, figures: vec![figure], props: props(), markers: markers.collect() }.to_html().into_bytes()
        }
        "gif" | "mp4" => return Some(picture_flags::film(strip(), ending, clip.seconds(), 1.0)),
        _ if args.picture.view.contains(&crate::args::ViewArg::Top) => {
            plan(&args.scene, request, done, picture.width.min(900), picture.theme())?.render().to_png()
        }
        _ => strip().render().to_png(),
    }))
}

/// All walks from above.
fn plan<'a>(
    scene: &str,
    request: &'a WalkRequest,
    done: &'a [(Method, WalkTrial)],
    width: usize,
    theme: kumite_picture::Theme,
) -> Option<GroundPlan<'a>> {
    let takes: Vec<_> = done.iter().filter_map(|(m, t)| Some((&t.played.as_ref()?.take.clip, m.name()))).collect();
    let route = done.first().map(|d| d.1.searched.route.clone())?;
    Some(GroundPlan {
        takes,
        routes: vec![route],
        obstacles: &request.obstacles,
        goal: (request.goal, request.goal_facing),
        title: scene.to_owned(),
        width,
        theme,
    })
}
