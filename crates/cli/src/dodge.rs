//! `kumite dodge`: one ball, played and written; or many, counted and judged.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_formats::{bvh, gltf};
use kumite_motion::library::Library;
use kumite_motion::{Clip, ClipIdx, EdgeIdx, NodeIdx, Roles, Vec2, Vec3};
use kumite_picture::{Marker, Movie, Prop, Replay, Strip, Times, Window};
use kumite_plan::dodge::{DodgeConfig, DodgeDecision, DodgeScratch, DodgeSearch, Forecast, Judged, Verdict};
use kumite_plan::threat::Ball;
use kumite_plan::{Bend, Bodies, Threat, ThreatError};
use kumite_stage::Target;
use kumite_stage::attack_trial::Trial;
use kumite_stage::dodge_referee::{self, Exhaustive, Ruling};
use kumite_stage::wander::{play_on, wander};
use kumite_stage::{Chance, Character, Defence, Recorder, TICKS, Take};
use serde_json::{Value, json};

use crate::args::DodgeArgs;
use crate::failure::{CliResult, Failure};
use crate::output::Outputs;
use crate::{Progress, Report, bake, picture_flags, source};

/// Seconds shown before the ball is seen and after it has passed.
const BEFORE: f32 = 0.3;
const AFTER: f32 = 1.2;
const ENDINGS: &str = ".glb, .bvh, .html, .png, .gif, .json";

/// A library's tables, made on all cores.
pub(crate) fn defence(library: Arc<Library>, config: DodgeConfig) -> Defence {
    let bodies = Bodies::of(&library, false);
    let index = kumite_bake::indices::index(&library, &bodies, &config.rules, picture_flags::threads());
    Defence::with_index(library, bodies, index, config)
}

pub(crate) fn run(args: &DodgeArgs, progress: &Progress) -> CliResult<Report> {
    let target = check(args)?;
    let library = Arc::new(bake::load(&args.library, Path::new(""), progress)?.0);
    let defence = defence(Arc::clone(&library), DodgeConfig::default());
    if !defence.bodies().can_defend() {
        return Err(wrong(args, &ThreatError::NoMotions));
    }
    match args.trials {
        Some(count) => Ok(trials(&defence, count, args.seed, progress)),
        None => one(args, target, &defence),
    }
}

fn check(args: &DodgeArgs) -> CliResult<Target> {
    args.picture.check()?;
    let value = |key: &str, found: String, allowed: &str| {
        Err(Failure::bad(format!("{key} is {found}; allowed is {allowed}")).key(key).found(found).allowed(allowed))
    };
    if !args.from.iter().all(|v| v.is_finite() && v.abs() <= 1000.0) {
        return value("--from", format!("{:?}", args.from), "finite numbers, within 1000 m");
    }
    if !(args.speed.is_finite() && args.speed > 0.0 && args.speed <= 200.0) {
        return value("--speed", args.speed.to_string(), "more than 0, at most 200 m/s");
    }
    if !(args.radius.is_finite() && args.radius > 0.0 && args.radius <= 2.0) {
        return value("--radius", args.radius.to_string(), "more than 0, at most 2 m");
    }
    if !(args.lead.is_finite() && args.lead > 0.0 && args.lead <= 10.0) {
        return value("--lead", args.lead.to_string(), "more than 0, at most 10 s");
    }
    if args.trials == Some(0) {
        return value("--trials", "0".into(), "at least 1");
    }
    for path in &args.output {
        let ending = source::ending(path).unwrap_or_default();
        if !["glb", "bvh", "html", "png", "gif", "json"].contains(&ending.as_str()) {
            let message = format!("cannot write {ending:?}; the ending says the format: {ENDINGS}");
            return Err(Failure::bad(message).in_file(path).found(ending).allowed(ENDINGS));
        }
    }
    match Target::from_name(&args.target) {
        Some(target) => Ok(target),
        None => value("--target", format!("{:?}", args.target), "head, chest, hips, arms, legs"),
    }
}

fn wrong(args: &DodgeArgs, error: &ThreatError) -> Failure {
    let about = |flag: &str, found: String, allowed: &str| {
        Failure::bad(format!("{flag} is {found}: {error}")).key(flag).found(found).allowed(allowed)
    };
    match error {
        ThreatError::NoMotions => about("--library", args.library.clone(), "a library with avoid or block spans"),
        ThreatError::Inside { .. } => about("--lead", args.lead.to_string(), "a ball that does not touch the body yet"),
        _ => Failure::bad(error.to_string()),
    }
}

/// One ball.
fn one(args: &DodgeArgs, target: Target, defence: &Defence) -> CliResult<Report> {
    let library = defence.library();
    let node = begin(args, library)?;
    let mut chance = Chance::new(args.seed);
    let mut character = Character::new(Arc::clone(library), node, Vec2::ZERO, 0.0);
    let mut recorder = Recorder::default();
    recorder.record(&character, None);
    let before = (BEFORE * TICKS as f32).round() as u32;
    for _ in 0..before {
        let began = character.step(|_, next| next[0]);
        recorder.record(&character, began);
    }
    let ahead = wander(library, character.playing().edge, args.lead + 4.0, &mut chance);
    let aim = target.place(&play_on(&character, &ahead, args.lead), 0);
    let way = (aim - Vec3::from_array(args.from)).normalize_or(Vec3::NEG_Z);
    let from = aim - way * (args.speed * args.lead);
    let ball = Ball::aimed(from, aim, args.lead, args.radius, args.falls);
    let threats = [Threat::ball(&ball, args.lead).map_err(|e| wrong(args, &e))?];
    let planner = defence.planner();
    let mut search = defence.search(&character, &ahead, &threats, args.why).map_err(|e| wrong(args, &e))?;
    let mut scratch = DodgeScratch::default();
    while !search.step(&planner, &mut scratch, u32::MAX) {}
    let decision = search.decision(&planner, &mut scratch);
    let ruling = dodge_referee::judge(&character, &decision, &ahead, &threats);
    let threat = dodge_referee::threatening(&character, &ahead, &threats);
    character.follow(&decision.edges, &decision.warp, decision.bend);
    let mut queue = if decision.edges.is_empty() { ahead.clone() } else { Vec::new() }.into_iter();
    for _ in 0..((args.lead + AFTER) * TICKS as f32).round() as u32 {
        let began = character.step(|_, next| queue.next().filter(|e| next.contains(e)).unwrap_or(next[0]));
        recorder.record(&character, began);
    }
    let take = recorder.finish("dodge", library.skeleton()).map_err(|e| Failure::bad(e.to_string()))?;
    let ranked = search.why();
    let q = take.quality;
    let fate = fate(&decision, &ruling);
    let name = |edges: &[EdgeIdx], span: Option<u32>| what(library, edges, span);
    let chosen = match (decision.span, decision.bend) {
        (None, Some(bend)) => bend_name(&bend).to_owned(),
        _ => name(&decision.edges, decision.span),
    };
    let mut text = format!(
        "{fate}: {}{}\n    passes {:.1} cm from the body; undisturbed {:.1} cm; {} candidates from the index, {} tested\n    \
         feet slide {:.2} cm/s, float {:.2} cm, snap {:.2}; hash {:016x}\n",
        chosen,
        if decision.bend.is_some() { ", adapted" } else { "" },
        ruling.seen.least * 100.0,
        threat.least * 100.0,
        decision.counts.index,
        decision.counts.tested,
        q.foot_slide_cm_s,
        q.float_cm,
        q.snap,
        take.hash
    );
    if let Some(block) = decision.block {
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
        let _ = writeln!(text, "    rank  cost   avoid  body   time   scale  clears    what");
        for (rank, judged) in ranked.iter().enumerate() {
            text += &line(rank + 1, judged, &name(&judged.edges, judged.span));
        }
    }
    let candidates: Vec<Value> = ranked.iter().map(|j| judged_json(j, &name(&j.edges, j.span))).collect();
    let json = json!({
        "outcome": fate, "what": chosen, "threatening": threat.least < 0.0,
        "clearance_m": ruling.seen.least, "undisturbed_m": threat.least, "planned_clearance_m": decision.clearance,
        "cost": {"avoidance": decision.cost.avoidance, "body": decision.cost.body, "timescale": decision.cost.timescale},
        "time_scale": decision.warp.scale(), "adapted": decision.bend.is_some(),
        "block": decision.block.map(|b| json!({
            "wrist": b.wrist.name(), "time": b.time, "height": format!("{:?}", b.height).to_lowercase(),
            "side": format!("{:?}", b.side).to_lowercase(), "parry": b.parry,
        })),
        "candidates": candidates, "edges": decision.edges.iter().map(|e| e.0).collect::<Vec<_>>(),
        "seconds": take.clip.seconds(), "frames": take.clip.frames(),
        "quality": {"foot_slide_cm_s": q.foot_slide_cm_s, "planted_share": q.planted_share, "snap": q.snap, "float_cm": q.float_cm},
        "hash": format!("{:016x}", take.hash),
    });
    let mut outputs = Outputs::default();
    for path in &args.output {
        let ending = source::ending(path).unwrap_or_default();
        let made = Made {
            args,
            take: &take,
            ball: &ball,
            decision: &decision,
            ruling: &ruling,
            title: format!(
                "ball at {:.0} m/s at the {}, seen {:.1} s ahead: {fate}, {chosen}",
                args.speed,
                target.name(),
                args.lead
            ),
        };
        outputs.stage(path, &made.written(&ending, &json))?;
    }
    outputs.commit()?;
    Ok(Report { text, json })
}

/// A bend in a word.
fn bend_name(bend: &Bend) -> &'static str {
    if bend.hand.is_some() {
        "hand drawn aside"
    } else if bend.shift.y < -0.1 {
        "sinks"
    } else {
        "leans aside"
    }
}

fn begin(args: &DodgeArgs, library: &Library) -> CliResult<NodeIdx> {
    let nodes = library.graph().nodes();
    let of = |name: &str| {
        let clip = ClipIdx(library.clips().iter().position(|c| c.name == name)? as u32);
        Some(NodeIdx(nodes.iter().position(|n| n.clip == clip)? as u32))
    };
    match &args.begin {
        Some(name) => of(name).ok_or_else(|| {
            let names = library.clips().iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
            Failure::bad(format!("--begin is {name:?}; there are {names}"))
                .key("--begin")
                .found(name.clone())
                .allowed(names)
        }),
        None => Ok(of("guard-idle").unwrap_or(NodeIdx(Chance::new(args.seed).below(nodes.len() as u32)))),
    }
}

/// As the final frames have it.
fn fate(decision: &DodgeDecision, ruling: &Ruling) -> &'static str {
    if ruling.avoided {
        if decision.forecast == Forecast::Clear { "clear" } else { "avoided" }
    } else if ruling.blocked {
        "blocked"
    } else {
        "hit"
    }
}

/// A path in words: the span it leads to, or the clips it goes through.
fn what(library: &Library, edges: &[EdgeIdx], span: Option<u32>) -> String {
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

fn line(rank: usize, judged: &Judged, name: &str) -> String {
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
        "    {rank:>4}  {verdict} {:<6.3} {:<6.3} {:<6.3} {:<6.2} {clears} {name}\n",
        t.avoidance, t.body, t.timescale, judged.scale
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
        "time_scale": judged.scale, "clearance_m": judged.clearance.is_finite().then_some(judged.clearance),
        "edges": judged.edges.iter().map(|e| e.0).collect::<Vec<_>>(),
    })
}

struct Made<'a> {
    args: &'a DodgeArgs,
    take: &'a Take,
    ball: &'a Ball,
    decision: &'a DodgeDecision,
    ruling: &'a Ruling,
    title: String,
}

impl Made<'_> {
    /// The ball's way over the take's time. What blocks or is hit throws it back.
    fn path(&self) -> Vec<(f32, Vec3)> {
        let stop = match self.ruling.seen.first {
            Some((time, _)) => time,
            None => self.args.lead + AFTER,
        };
        let mut path = vec![(0.0, self.ball.at(0.0))];
        let steps = ((self.args.lead + AFTER) * 120.0) as u32;
        let speed = self.ball.velocity.normalize_or(Vec3::Z);
        for k in 0..=steps {
            let time = k as f32 / 120.0;
            let place = if time <= stop {
                self.ball.at(time)
            } else {
                let since = time - stop;
                let mut place = self.ball.at(stop) - speed * (2.0 * since) + Vec3::NEG_Y * (4.9 * since * since);
                place.y = place.y.max(self.ball.radius);
                place
            };
            path.push((BEFORE + time, place));
        }
        path
    }

    /// The moments that matter: up to the one at which the ball meets or passes, which is one of them, and a little after it.
    fn moments(&self, poses: usize) -> Vec<f32> {
        let meets = self.ruling.seen.first.map_or(self.args.lead, |(time, _)| time);
        let after = (poses / 4).min(poses.saturating_sub(1));
        let before = poses - after - 1;
        let (early, late) = (meets.min(0.75) / before.max(1) as f32, 0.36 / after.max(1) as f32);
        (0..poses)
            .map(|k| k as f32 - before as f32)
            .map(|k| BEFORE + meets + k * if k < 0.0 { early } else { late })
            .collect()
    }

    fn written(&self, ending: &str, json: &Value) -> Vec<u8> {
        let clip: &Clip = &self.take.clip;
        let figure = picture_flags::figure(clip, Some(Roles::canonical()));
        let ball = || Prop::flying(self.ball.radius, self.path());
        let picture = &self.args.picture;
        let times = Times::At(self.moments(picture.poses));
        let strip = || Strip {
            figures: vec![figure.clone()],
            props: vec![ball()],
            title: Some(self.title.clone()),
            times: times.clone(),
            window: Window::World,
            ..picture.strip(clip, Some(Roles::canonical()))
        };
        match ending {
            "json" => format!("{json}\n").into_bytes(),
            "bvh" => bvh::write(&bvh::BvhFile::from_clip(clip, bvh::RotationOrder::default())).into_bytes(),
            "glb" => gltf::write_glb(
                "dodge",
                &[gltf::GltfCharacter { name: "dodge", clip, colour: gltf::GltfCharacter::COLOURS[0] }],
                &[],
            ),
            "html" => {
                let mut markers = vec![Marker {
                    time: BEFORE,
                    kind: "seen".into(),
                    text: "the ball is seen".into(),
                    at: Some(self.ball.from),
                }];
                if let Some((time, part)) = self.ruling.seen.first {
                    let kind = if self.ruling.blocked { "blocked" } else { "hit" };
                    markers.push(Marker {
                        time: BEFORE + time,
                        kind: kind.into(),
                        text: part.name().into(),
                        at: Some(self.ball.at(time)),
                    });
                } else {
                    let kind = if self.decision.forecast == Forecast::Clear { "clear" } else { "avoided" };
                    markers.push(Marker {
                        time: BEFORE + self.args.lead,
                        kind: kind.into(),
                        text: self.title.clone(),
                        at: None,
                    });
                }
                let replay = Replay { title: self.title.clone(), figures: vec![figure], props: vec![ball()], markers };
                replay.to_html().into_bytes()
            }
            "gif" => Strip { width: picture.width.min(480), row_height: 420, ..strip() }
                .to_gif(&Movie { speed: 0.5, ..Movie::default() }),
            _ => strip().render().to_png(),
        }
    }
}

/// p50, p95, p99 and max.
pub(crate) fn spread(values: &mut [f64]) -> Value {
    values.sort_by(f64::total_cmp);
    let at =
        |share: f64| values.get(((values.len() as f64 * share) as usize).min(values.len().saturating_sub(1))).copied();
    json!({"p50": at(0.5), "p95": at(0.95), "p99": at(0.99), "max": at(1.0)})
}

/// One hash of many takes, in their order.
pub(crate) fn combined(hashes: impl Iterator<Item = u64>) -> String {
    let fold = |sum: u64, hash: u64| (sum.rotate_left(5) ^ hash).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", hashes.fold(0xcbf2_9ce4_8422_2325, fold))
}

/// CPU time of a search without the index.
fn enumerated(defence: &Defence, trial: &Trial, scratch: &mut DodgeScratch) -> (f64, u32) {
    let mut planner = defence.planner();
    planner.config.use_index = false;
    let start = ThreadTime::now();
    let search = DodgeSearch::new(&planner, &defence.situation(&trial.character, &trial.ahead), &trial.threats, false);
    let Ok(mut search) = search else { return (0.0, 0) };
    while !search.step(&planner, scratch, u32::MAX) {}
    (start.elapsed().as_secs_f64() * 1e6, search.counts().enumerated)
}

/// Candidates a slice of the search works out in one tick.
const SLICE: u32 = 64;

fn trials(defence: &Defence, count: u32, seed: u64, progress: &Progress) -> Report {
    let bar = progress.bar(count as usize, "throwing");
    let threads = picture_flags::threads().max(1) as u32;
    let counted = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                let bar = &bar;
                scope.spawn(move || {
                    let mut sum = Count::default();
                    let exhaustive = Exhaustive::new(defence.library());
                    for k in (part..count).step_by(threads as usize) {
                        let number = seed.wrapping_mul(1_000_003).wrapping_add(u64::from(k));
                        if let Some(trial) = Trial::random(defence.library(), number) {
                            let hash = sum.add(defence, &exhaustive, &trial);
                            sum.hashes.extend(hash.map(|hash| (k, hash)));
                        }
                        bar.inc(1);
                    }
                    sum
                })
            })
            .collect();
        parts.into_iter().filter_map(|p| p.join().ok()).fold(Count::default(), Count::with)
    });
    bar.finish_and_clear();
    counted.report(defence)
}

#[derive(Default)]
struct Count {
    trials: u32,
    threatening: u32,
    avoidable: u32,
    avoidable_avoided: u32,
    avoided: u32,
    blocked: u32,
    from_index: u32,
    agreed: u32,
    adapted: u32,
    in_time: u32,
    refused: u32,
    core: u32,
    core_defended: u32,
    /// By target: threatening and defended.
    by_target: [(u32, u32); 5],
    ratios: Vec<f64>,
    displacement: Vec<f64>,
    index_us: Vec<f64>,
    enumerated_us: Vec<f64>,
    adapt_us: Vec<f64>,
    index_candidates: f64,
    enumerated_candidates: f64,
    quality_failures: u32,
    undisturbed_failures: u32,
    slides: Vec<f64>,
    snaps: Vec<f64>,
    floats: Vec<f64>,
    disagreed: Vec<Value>,
    /// Of the takes, by the number of the trial.
    hashes: Vec<(u32, u64)>,
}

impl Count {
    fn with(mut self, other: Count) -> Count {
        let sums: [(&mut u32, u32); 15] = [
            (&mut self.trials, other.trials),
            (&mut self.threatening, other.threatening),
            (&mut self.avoidable, other.avoidable),
            (&mut self.avoidable_avoided, other.avoidable_avoided),
            (&mut self.avoided, other.avoided),
            (&mut self.blocked, other.blocked),
            (&mut self.from_index, other.from_index),
            (&mut self.agreed, other.agreed),
            (&mut self.adapted, other.adapted),
            (&mut self.in_time, other.in_time),
            (&mut self.refused, other.refused),
            (&mut self.core, other.core),
            (&mut self.core_defended, other.core_defended),
            (&mut self.quality_failures, other.quality_failures),
            (&mut self.undisturbed_failures, other.undisturbed_failures),
        ];
        sums.into_iter().for_each(|(a, b)| *a += b);
        for (a, b) in self.by_target.iter_mut().zip(other.by_target) {
            *a = (a.0 + b.0, a.1 + b.1);
        }
        self.ratios.extend(other.ratios);
        self.displacement.extend(other.displacement);
        self.index_us.extend(other.index_us);
        self.enumerated_us.extend(other.enumerated_us);
        self.adapt_us.extend(other.adapt_us);
        self.slides.extend(other.slides);
        self.snaps.extend(other.snaps);
        self.floats.extend(other.floats);
        self.disagreed.extend(other.disagreed);
        self.hashes.extend(other.hashes);
        self.index_candidates += other.index_candidates;
        self.enumerated_candidates += other.enumerated_candidates;
        self
    }

    /// Decides, plays and judges one trial; the hash of its take.
    fn add(&mut self, defence: &Defence, exhaustive: &Exhaustive, trial: &Trial) -> Option<u64> {
        self.trials += 1;
        let undisturbed = dodge_referee::threatening(&trial.character, &trial.ahead, &trial.threats);
        if undisturbed.first.is_none() {
            return None;
        }
        let planner = defence.planner();
        let mut scratch = DodgeScratch::default();
        // The first decision pays for the scratch's memory.
        let _ = defence.decide(&trial.character, &trial.ahead, &trial.threats, &mut scratch);
        let start = ThreadTime::now();
        let search = defence.search(&trial.character, &trial.ahead, &trial.threats, false);
        let Ok(mut search) = search else {
            self.refused += 1;
            return None;
        };
        self.threatening += 1;
        let mut slices = 1;
        while !search.step(&planner, &mut scratch, SLICE) {
            slices += 1;
        }
        self.index_us.push(start.elapsed().as_secs_f64() * 1e6);
        let start = ThreadTime::now();
        let decision = search.decision(&planner, &mut scratch);
        self.adapt_us.push(start.elapsed().as_secs_f64() * 1e6);
        let (micros, candidates) = enumerated(defence, trial, &mut scratch);
        self.enumerated_us.push(micros);
        self.enumerated_candidates += f64::from(candidates);
        self.index_candidates += f64::from(decision.counts.index);
        self.from_index += u32::from(!decision.traversed);
        let playing = trial.character.playing();
        let left = defence.library().graph().edge(playing.edge).seconds - playing.since;
        self.in_time += u32::from((slices - 1) as f32 / TICKS as f32 <= left);
        let ruling = dodge_referee::judge(&trial.character, &decision, &trial.ahead, &trial.threats);
        let defended = ruling.avoided || ruling.blocked;
        self.avoided += u32::from(ruling.avoided);
        self.blocked += u32::from(!ruling.avoided && ruling.blocked);
        self.adapted += u32::from(decision.bend.is_some());
        let slot = Target::ALL.iter().position(|t| *t == trial.target).unwrap_or(0);
        self.by_target[slot].0 += 1;
        self.by_target[slot].1 += u32::from(defended);
        if trial.target.is_core() && trial.lead >= 0.6 {
            self.core += 1;
            self.core_defended += u32::from(defended);
        }
        let found = exhaustive.all(&trial.character, &trial.threats);
        if let Some(best) = found.iter().map(|f| f.cost).min_by(f32::total_cmp) {
            self.avoidable += 1;
            self.avoidable_avoided += u32::from(ruling.avoided);
            // The plan's edges go on beyond the avoidance as far as the attack lasts.
            let own = found.iter().filter(|f| decision.span.is_some() && decision.edges.starts_with(&f.edges));
            let own = own.map(|f| f.cost).min_by(f32::total_cmp);
            let ratio = own.map(|own| f64::from(own / best));
            self.ratios.extend(ratio);
            if ratio.is_some_and(|r| r <= 1.01) {
                self.agreed += 1;
            } else {
                let clears = found.iter().find(|f| f.cost == best).map(|f| f.clearance);
                self.disagreed.push(json!({
                    "target": trial.target.name(), "ratio": ratio, "optimum_clears_m": clears, "planned_m": decision.clearance,
                    "outcome": decision.forecast.name(), "candidates": decision.counts.index,
                }));
            }
        }
        let hash = self.measure(trial, Some(&decision));
        self.measure(trial, None);
        if ruling.avoided {
            let seconds = trial.lead;
            let plan = (&decision.edges[..], &decision.warp, decision.bend);
            let ahead = if decision.edges.is_empty() { &trial.ahead[..] } else { &[] };
            let moved = dodge_referee::samples(&trial.character, Some(plan), ahead, seconds);
            let stayed = dodge_referee::samples(&trial.character, None, &trial.ahead, seconds);
            if let (Some(a), Some(b)) = (moved.frames.last(), stayed.frames.last()) {
                let mean = a.iter().zip(b).map(|(p, q)| (*p - *q).length()).sum::<f32>() / a.len().max(1) as f32;
                self.displacement.push(f64::from(mean));
            }
        }
        hash
    }

    /// Quality of the take from a little before the attack is seen to well after it has passed.
    fn measure(&mut self, trial: &Trial, decision: Option<&DodgeDecision>) -> Option<u64> {
        let mut character = trial.character.clone();
        let mut recorder = Recorder::default();
        recorder.record(&character, None);
        if let Some(decision) = decision {
            character.follow(&decision.edges, &decision.warp, decision.bend);
        }
        let goes_on = decision.is_none_or(|d| d.edges.is_empty());
        let mut queue = if goes_on { trial.ahead.clone() } else { Vec::new() }.into_iter();
        for _ in 0..((trial.lead + AFTER) * TICKS as f32) as u32 {
            let began = character.step(|_, next| queue.next().filter(|e| next.contains(e)).unwrap_or(next[0]));
            recorder.record(&character, began);
        }
        let Ok(take) = recorder.finish("trial", character.library().skeleton()) else { return None };
        let q = take.quality;
        let failed = !q.passes();
        if decision.is_none() {
            self.undisturbed_failures += u32::from(failed);
            return None;
        }
        self.slides.push(f64::from(q.foot_slide_cm_s));
        self.snaps.push(f64::from(q.snap));
        self.floats.push(f64::from(q.float_cm));
        self.quality_failures += u32::from(failed);
        Some(take.hash)
    }

    fn report(mut self, defence: &Defence) -> Report {
        let share = |a: u32, b: u32| if b == 0 { Value::Null } else { json!(f64::from(a) / f64::from(b)) };
        let each = |sum: f64| if self.threatening == 0 { 0.0 } else { sum / f64::from(self.threatening) };
        let mean_ratio = if self.ratios.is_empty() {
            Value::Null
        } else {
            json!(self.ratios.iter().sum::<f64>() / self.ratios.len() as f64)
        };
        let targets: serde_json::Map<String, Value> = Target::ALL
            .iter()
            .zip(self.by_target)
            .map(|(t, (all, good))| (t.name().to_owned(), json!({"threatening": all, "defended": good})))
            .collect();
        self.hashes.sort_unstable();
        let json = json!({
            "hash": combined(self.hashes.iter().map(|h| h.1)),
            "trials": self.trials, "threatening": self.threatening, "avoidable": self.avoidable, "avoided": self.avoided,
            "blocked": self.blocked, "from_index": self.from_index, "agreed": self.agreed, "cost_ratio": mean_ratio,
            "displacement_m": spread(&mut self.displacement),
            "query_us": {"index": spread(&mut self.index_us), "enumerated": spread(&mut self.enumerated_us)},
            "adapt_us": spread(&mut self.adapt_us),
            "candidates": {"index": each(self.index_candidates), "enumerated": each(self.enumerated_candidates)},
            "before_edge_end": self.in_time, "adapted": self.adapted, "refused": self.refused,
            "avoided_of_avoidable_share": share(self.avoidable_avoided, self.avoidable),
            "agreed_share": share(self.agreed, self.avoidable),
            "from_index_share": share(self.from_index, self.threatening),
            "before_edge_end_share": share(self.in_time, self.threatening),
            "core_seen": self.core, "core_defended": self.core_defended,
            "core_defended_share": share(self.core_defended, self.core),
            "targets": targets,
            "quality_failures": self.quality_failures, "undisturbed_quality_failures": self.undisturbed_failures,
            "foot_slide_cm_s": spread(&mut self.slides), "snap": spread(&mut self.snaps), "float_cm": spread(&mut self.floats),
            "disagreed": self.disagreed, "index_bytes": defence.index().bytes(), "index_paths": defence.index().avoid.len(),
            "index_cells": defence.index().avoid.cells(), "bodies_bytes": defence.bodies().bytes(),
            "planes_bytes": defence.planes().bytes(),
        });
        let percent = |v: &Value| v.as_f64().map_or("none".to_owned(), |v| format!("{:.1} %", v * 100.0));
        let mut text = format!(
            "{} balls, {} threatening: {} avoided, {} blocked; {} adapted\n",
            self.trials, self.threatening, self.avoided, self.blocked, self.adapted
        );
        let us = |v: &Value| {
            format!("p50 {:.1}, p99 {:.1} µs", v["p50"].as_f64().unwrap_or(0.0), v["p99"].as_f64().unwrap_or(0.0))
        };
        let _ = writeln!(
            text,
            "    {} avoidable by a path as it is: {} avoided, {} at the exhaustive optimum\n    \
             head and torso seen 0.6 s ahead: {} of {} avoided or blocked ({})\n    \
             query by index {}; enumerated {}; adapting and blocking {}",
            self.avoidable,
            percent(&json["avoided_of_avoidable_share"]),
            percent(&json["agreed_share"]),
            self.core_defended,
            self.core,
            percent(&json["core_defended_share"]),
            us(&json["query_us"]["index"]),
            us(&json["query_us"]["enumerated"]),
            us(&json["adapt_us"]),
        );
        for (target, (all, good)) in Target::ALL.iter().zip(self.by_target) {
            let _ = writeln!(text, "    {:<6} {good} of {all} avoided or blocked", target.name());
        }
        Report { text, json }
    }
}
