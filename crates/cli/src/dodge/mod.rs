//! `kumite dodge`: plays one ball and writes the take, or throws many balls and counts the outcomes (`trials`). Decisions are
//! `kumite_plan`'s, the playing is `kumite_stage`'s.

mod trials;

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use kumite_formats::{bvh, gltf};
use kumite_motion::library::Library;
use kumite_motion::{Clip, ClipIdx, EdgeIdx, NodeIdx, Roles, Vec2, Vec3};
use kumite_picture::{Marker, Movie, Prop, Replay, Strip, Times, Window};
use kumite_plan::dodge::{DodgeConfig, DodgeDecision, DodgeScratch, Forecast, Judged, Verdict};
use kumite_plan::threat::Ball;
use kumite_plan::{Bend, Bodies, Threat, ThreatError};
use kumite_stage::Target;
use kumite_stage::dodge_referee::{self, Ruling};
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

/// Builds a library's planning tables, on all cores.
pub(crate) fn defence(library: Arc<Library>, config: DodgeConfig) -> Defence {
    let bodies = Bodies::of(&library, false);
    let index = kumite_bake::indices::index(&library, &bodies, &config.rules);
    Defence::with_index(library, bodies, index, config)
}

pub(crate) fn run(args: &DodgeArgs, progress: &Progress) -> CliResult<Report> {
    let target = check(args)?;
    let library = bake::load(&args.library, Path::new(""), None, progress)?.library;
    let defence = defence(Arc::clone(&library), DodgeConfig::default());
    if !defence.bodies().can_defend() {
        return Err(threat_failure(args, &ThreatError::NoMotions));
    }
    match args.trials {
        Some(count) => Ok(trials::run(&defence, count, args.seed, progress)),
        None => dodge_once(args, target, &defence),
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

fn threat_failure(args: &DodgeArgs, error: &ThreatError) -> Failure {
    let about = |flag: &str, found: String, allowed: &str| {
        Failure::bad(format!("{flag} is {found}: {error}")).key(flag).found(found).allowed(allowed)
    };
    match error {
        ThreatError::NoMotions => about("--library", args.library.clone(), "a library with avoid or block spans"),
        ThreatError::Inside { .. } => about("--lead", args.lead.to_string(), "a ball that does not touch the body yet"),
        _ => Failure::bad(error.to_string()),
    }
}

/// Throws one ball, plays the answer and writes the take.
fn dodge_once(args: &DodgeArgs, target: Target, defence: &Defence) -> CliResult<Report> {
    let library = defence.library();
    let node = start_node(args, library)?;
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
    let direction = (aim - Vec3::from_array(args.from)).normalize_or(Vec3::NEG_Z);
    let from = aim - direction * (args.speed * args.lead);
    let ball = Ball::aimed(from, aim, args.lead, args.radius, args.falls);
    let threats = [Threat::ball(&ball, args.lead).map_err(|e| threat_failure(args, &e))?];
    let planner = defence.planner();
    let mut search = defence.search(&character, &ahead, &threats, args.why).map_err(|e| threat_failure(args, &e))?;
    let mut scratch = DodgeScratch::default();
    while !search.step(&planner, &mut scratch, u32::MAX) {}
    let decision = search.decision(&planner, &mut scratch);
    let ruling = dodge_referee::judge(&character, &decision, &ahead, &threats);
    let threat = dodge_referee::threatening(&character, &ahead, &threats);
    character.follow(&decision.edges, &decision.warp, decision.bend);
    let mut queue = if decision.edges.is_empty() { ahead.clone() } else { Vec::new() }.into_iter().map(|leg| leg.edge);
    for _ in 0..((args.lead + AFTER) * TICKS as f32).round() as u32 {
        let began = character.step(|_, next| queue.next().filter(|e| next.contains(e)).unwrap_or(next[0]));
        recorder.record(&character, began);
    }
    let take = recorder.finish("dodge", library.skeleton()).map_err(|e| Failure::bad(e.to_string()))?;
    let ranked = search.why();
    let q = take.quality;
    let outcome = outcome_name(&decision, &ruling);
    let name = |edges: &[EdgeIdx], span: Option<u32>| path_name(library, edges, span);
    let chosen = match (decision.span, decision.bend) {
        (None, Some(bend)) => bend_name(&bend).to_owned(),
        _ => name(&decision.edges, decision.span),
    };
    let mut text = format!(
        "{outcome}: {}{}\n    passes {:.1} cm from the body; undisturbed {:.1} cm; {} candidates from the index, {} tested\n    \
         feet slide {:.2} cm/s, float {:.2} cm, snap {:.2}; hash {:016x}\n",
        chosen,
        if decision.bend.is_some() { ", bent" } else { "" },
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
            text += &candidate_line(rank + 1, judged, &name(&judged.edges, judged.span));
        }
    }
    let candidates: Vec<Value> = ranked.iter().map(|j| judged_json(j, &name(&j.edges, j.span))).collect();
    let json = json!({
        "outcome": outcome, "what": chosen, "threatening": threat.least < 0.0,
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
        let dodge_take = DodgeTake {
            args,
            take: &take,
            ball: &ball,
            decision: &decision,
            ruling: &ruling,
            title: format!(
                "ball at {:.0} m/s at the {}, seen {:.1} s ahead: {outcome}, {chosen}",
                args.speed,
                target.name(),
                args.lead
            ),
        };
        outputs.stage(path, &dodge_take.encode(&ending, &json))?;
    }
    outputs.commit()?;
    Ok(Report { text, json })
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

fn start_node(args: &DodgeArgs, library: &Library) -> CliResult<NodeIdx> {
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

/// Outcome on the frames that were played.
fn outcome_name(decision: &DodgeDecision, ruling: &Ruling) -> &'static str {
    if ruling.avoided {
        if decision.forecast == Forecast::Clear { "clear" } else { "avoided" }
    } else if ruling.blocked {
        "blocked"
    } else {
        "hit"
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

/// A played ball and all that its files show.
struct DodgeTake<'a> {
    args: &'a DodgeArgs,
    take: &'a Take,
    ball: &'a Ball,
    decision: &'a DodgeDecision,
    ruling: &'a Ruling,
    title: String,
}

impl DodgeTake<'_> {
    /// Positions of the ball over the take; it bounces back from whatever it hits.
    fn path(&self) -> Vec<(f32, Vec3)> {
        let stop = match self.ruling.seen.first {
            Some((time, _)) => time,
            None => self.args.lead + AFTER,
        };
        let mut path = vec![(0.0, self.ball.at(0.0))];
        let steps = ((self.args.lead + AFTER) * 120.0) as u32;
        let direction = self.ball.velocity.normalize_or(Vec3::Z);
        for k in 0..=steps {
            let time = k as f32 / 120.0;
            let position = if time <= stop {
                self.ball.at(time)
            } else {
                let since = time - stop;
                let mut position = self.ball.at(stop) - direction * (2.0 * since) + Vec3::NEG_Y * (4.9 * since * since);
                position.y = position.y.max(self.ball.radius);
                position
            };
            path.push((BEFORE + time, position));
        }
        path
    }

    /// Times for a strip: before the ball hits or passes, exactly then, and a little after.
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

    /// The take in the format of a file ending.
    fn encode(&self, ending: &str, json: &Value) -> Vec<u8> {
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
