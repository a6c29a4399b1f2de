//! `kumite play`: a scene, played and written.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use kumite_formats::gltf;
use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{Clip, Role, Roles, Span, SpanKind, Vec3};
use kumite_picture::{Marker, Prop, Replay, Strip, Times};
use kumite_plan::Leg;
use kumite_plan::dodge::DodgeConfig;
use kumite_plan::spar::Outcome;
use kumite_stage::op::BlowEvent;
use kumite_stage::scene::{self, Scene};
use kumite_stage::world::CharacterId;
use kumite_stage::{Event, EventKind, Flight, Kit, Performance, TICKS, Take, jerk_ratio, overlap};
use kumite_text::Lines;
use serde_json::{Value, json};

use crate::args::{PictureArgs, PlayArgs};
use crate::bake::Loaded;
use crate::failure::{CliResult, Failure};
use crate::output::{self, Outputs};
use crate::rigs::{self, Rigs, TakeFile};
use crate::{Progress, Report, bake, dodge, exported, picture_flags, stock_scenes, walk};

const ENDINGS: [&str; 7] = ["glb", "bvh", "html", "png", "gif", "mp4", "json"];
/// Those that hold several characters.
pub(crate) const SEVERAL: [&str; 6] = ["glb", "html", "png", "gif", "mp4", "json"];

pub(crate) fn run(args: &PlayArgs, progress: &Progress) -> CliResult<Report> {
    args.picture.check()?;
    let text = stock_scenes::read(&args.scene)?;
    let scene = scene::read(&text).map_err(|e| stock_scenes::refused(e, &text, &args.scene))?;
    let endings = args.output.iter().map(|path| output::ending(path, &ENDINGS)).collect::<CliResult<Vec<_>>>()?;
    for (path, ending) in args.output.iter().zip(&endings) {
        if *ending == "bvh" && scene.character.len() > 1 {
            return Err(Failure::bad("a BVH holds one character; .glb and .html hold several").in_file(path));
        }
    }
    let names: Vec<&str> = scene.character.iter().map(|c| c.name.as_str()).collect();
    let rigs = Rigs::load(&args.rig, &names, progress)?;
    rigs.say_who_is_drawn(&args.output, progress);
    for path in &args.output {
        output::refuse_inputs(path, rigs.paths().chain([args.scene.as_path()]))?;
    }
    let lines = Lines::of(&text);
    // What is wrong with a name in the scene is said where it stands.
    let located = |failure: Failure| match &failure.key {
        Some(key) if failure.file.is_none() => {
            let line = lines.find(key);
            failure.at_line(line).in_file(&args.scene)
        }
        _ => failure.in_file(&args.scene),
    };
    let loaded = bake::load(&scene.library, &args.scene, None, progress).map_err(located)?;
    let seed = args.seed.unwrap_or(scene.seed);
    let start = Instant::now();
    let played = play(&scene, seed, &loaded).map_err(located)?;
    let json = to_json(&scene, &played, start.elapsed().as_secs_f64());
    let mut outputs = Outputs::default();
    for (path, ending) in args.output.iter().zip(&endings) {
        let title = args.scene.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        if *ending == "glb" {
            take_file(&title, &scene.obstacles(), &played).stage(path, &rigs, &mut outputs)?;
            continue;
        }
        if let ("bvh", Some(take)) = (*ending, played.takes.first()) {
            outputs.stage(path, &exported::bvh_for(&take.clip, args.rig.program))?;
            continue;
        }
        let place = (&scene.obstacles()[..], scene.seconds);
        outputs.stage(path, &written(&args.picture, &title, ending, place, &played, &json)?)?;
    }
    outputs.commit()?;
    let mut text = summary(&played);
    if args.why || args.why_at.is_some() {
        text += &reasons(&played, args.why_at);
    }
    Ok(Report { text, json })
}

/// What a scene gave.
pub(crate) struct Played {
    kit: Arc<Kit>,
    performance: Performance,
    /// One for each character, named after it.
    pub(crate) takes: Vec<Take>,
}

/// Plays a scene from its first tick to its last.
pub(crate) fn play(scene: &Scene, seed: u64, loaded: &Loaded) -> CliResult<Played> {
    let walks = scene.character.iter().any(|a| a.goal.is_some());
    let walker = if walks { Some(walk::walker_of(loaded, true)?) } else { None };
    let library = walker.as_ref().map_or(&loaded.library, |walker| walker.library());
    let names: Vec<&str> = library.clips().iter().map(|c| c.name.as_str()).collect();
    for (k, character) in scene.character.iter().enumerate() {
        if let Some(clip) = character.begin.as_ref().filter(|clip| !names.contains(&clip.as_str())) {
            let says = format!("character {} begins with {clip:?}", character.name);
            return Err(Failure::unknown(&says, clip, names).key(&format!("character.{k}.begin")));
        }
        let Some(action) = character.goal.as_ref().and_then(|goal| goal.action.as_deref()) else { continue };
        let kinds = SpanKind::ALL.map(SpanKind::name);
        let labels = library.clips().iter().flat_map(|clip| &clip.spans).map(|span| span.label.as_str());
        let mut known: Vec<&str> =
            ["stand", "any"].into_iter().chain(kinds).chain(labels).chain(names.clone()).collect();
        known.sort_unstable();
        known.dedup();
        if !known.contains(&action) {
            let says = format!("character {} goes to do {action:?}", character.name);
            return Err(Failure::unknown(&says, action, known).key(&format!("character.{k}.goal.action")));
        }
    }
    let kit = Arc::new(Kit::new(dodge::defence(Arc::clone(library), DodgeConfig::default()), walker.clone()));
    let (ops, ticks) = scene.ops(seed);
    let performance = Performance::play(&[Arc::clone(&kit)], &ops, ticks);
    let takes = performance.takes().map_err(|e| Failure::bad(e.to_string()))?;
    Ok(Played { kit, performance, takes })
}

impl Played {
    /// What a performance gave.
    pub(crate) fn of(kit: Arc<Kit>, performance: Performance) -> CliResult<Played> {
        let takes = performance.takes().map_err(|e| Failure::bad(e.to_string()))?;
        Ok(Played { kit, performance, takes })
    }

    /// What happened.
    pub(crate) fn events(&self) -> &[Event] {
        &self.performance.events
    }

    pub(crate) fn name(&self, event: &Event) -> &str {
        let member = event.who.and_then(|who| self.performance.world.characters.get(who));
        member.map_or("", |m| &m.name)
    }

    fn named(&self, who: CharacterId) -> &str {
        self.performance.world.characters.get(who).map_or("", |m| &m.name)
    }

    /// The motion of a take with what it plays as labels: the name of each clip.
    fn captioned(&self, take: &Take) -> Clip {
        let library = self.kit.library();
        let mut clip = take.clip.clone();
        let ends = take.starts.iter().skip(1).map(|s| s.time).chain([clip.seconds()]);
        let mut spans: Vec<Span> = Vec::new();
        for (start, to) in take.starts.iter().zip(ends).filter(|(start, to)| *to > start.time) {
            let name = self.clip(&start.leg);
            let source = library.clip(library.graph().edge(start.leg.edge).clip);
            match spans.last_mut() {
                Some(last) if last.label == name => last.to = to,
                _ => {
                    let kind = source.spans.first().map_or(SpanKind::Idle, |span| span.kind);
                    spans.push(Span::new(kind, name, start.time, to));
                }
            }
        }
        clip.spans = spans;
        clip
    }

    /// The clip a leg plays, by name.
    fn clip(&self, leg: &Leg) -> &str {
        let library = self.kit.library();
        &library.clip(library.graph().edge(leg.edge).clip).name
    }
}

/// What became of everybody and of every ball, a line each.
pub(crate) fn summary(played: &Played) -> String {
    let mut text = String::new();
    for take in &played.takes {
        let q = take.quality;
        let _ = writeln!(
            text,
            "{}: {:.1} s, {} legs; feet slide {:.2} cm/s, float {:.2} cm, snap {:.2}, balance {:.1} cm; hash {:016x}",
            take.clip.name,
            take.clip.seconds(),
            take.starts.len(),
            q.foot_slide_cm_s,
            q.float_cm,
            q.snap,
            q.balance_cm,
            take.hash
        );
    }
    for event in &played.performance.events {
        let time = event.tick as f32 / TICKS as f32;
        let _ = match &event.kind {
            EventKind::Arrived { off } => {
                writeln!(text, "    {time:.2} s  {} arrives, {:.0} cm from the goal", played.name(event), off * 100.0)
            }
            EventKind::NoWay { why } => writeln!(text, "    {time:.2} s  {} finds no way: {why}", played.name(event)),
            EventKind::Fault(fault) => writeln!(text, "    {time:.2} s  not done: {fault}"),
            EventKind::Blow(blow) => writeln!(text, "    {time:.2} s  {}", told(played, event, blow)),
            EventKind::KnockedOut { by } => {
                writeln!(text, "    {time:.2} s  {} is knocked out by {}", played.name(event), played.named(*by))
            }
            _ => Ok(()),
        };
    }
    for flight in &played.performance.flights {
        let _ = match flight.end {
            Some((outcome, time, part)) => {
                let part = part.map_or(String::new(), |p| format!(" on the {}", p.name().replace('_', " ")));
                writeln!(text, "    {time:.2} s  ball at {}: {}{part}", flight.at, outcome.name())
            }
            None => writeln!(text, "    ball at {}: in the air when the scene ends", flight.at),
        };
    }
    text
}

/// A blow in a sentence.
fn told(played: &Played, event: &Event, blow: &BlowEvent) -> String {
    let (by, at) = (played.named(blow.by), played.name(event));
    let part = blow.part.map_or("", Role::name).replace('_', " ");
    match blow.outcome {
        Outcome::Landed => format!("{by}: {} hits {at}'s {part}, damage {:.1}", blow.name, blow.damage),
        Outcome::Blocked => format!("{by}: {} is blocked by {at}'s {part}", blow.name),
        _ => format!("{by}: {} misses {at} by {:.0} cm", blow.name, 100.0 * blow.gap.max(0.0)),
    }
}

/// Every decision with its reason, or those around a second.
fn reasons(played: &Played, at: Option<f32>) -> String {
    let mut text = String::new();
    for event in &played.performance.events {
        let time = event.tick as f32 / TICKS as f32;
        if at.is_some_and(|at| (at - time).abs() > 0.5) {
            continue;
        }
        let _ = match &event.kind {
            EventKind::Noticed { .. } => writeln!(text, "    {time:.2} s  {} notices a ball", played.name(event)),
            EventKind::Decided { what, why } => {
                writeln!(text, "    {time:.2} s  {}: {what} ({why})", played.name(event))
            }
            _ => Ok(()),
        };
    }
    text
}

fn flight_json(flight: &Flight) -> Value {
    let ball = &flight.ball;
    json!({
        "at": flight.at, "target": ball.target.name(), "thrown": ball.thrown as f32 / TICKS as f32,
        "time": flight.end.map(|e| e.1), "from": ball.ball.from.to_array(), "aim": ball.ball.at(ball.arrives).to_array(),
        "speed": ball.ball.velocity.length(), "radius": ball.ball.radius, "falls": ball.ball.falls, "mass": ball.mass,
        "outcome": flight.end.map(|e| e.0.name()), "part": flight.end.and_then(|e| e.2).map(|p| p.name()),
        "least_m": flight.least.is_finite().then_some(flight.least),
    })
}

fn event_json(played: &Played, event: &Event) -> Option<Value> {
    let (kind, mut more) = match &event.kind {
        EventKind::Spawned => ("spawned", json!({})),
        EventKind::Thrown { .. } => ("thrown", json!({})),
        EventKind::Noticed { .. } => ("noticed", json!({})),
        EventKind::Decided { what, why } => ("decided", json!({"what": what, "why": why})),
        EventKind::BallEnded { outcome, part, at, .. } => {
            (outcome.name(), json!({"part": part.map(|p| p.name()), "place": at.to_array()}))
        }
        EventKind::Arrived { off } => ("arrived", json!({"off_m": off})),
        EventKind::NoWay { why } => ("no way", json!({"why": why.to_string()})),
        EventKind::Fault(fault) => ("fault", json!({"why": fault.to_string()})),
        EventKind::Braced { seconds, planted, .. } => ("braced", json!({"seconds_left": seconds, "planted": planted})),
        EventKind::Struck { part, along, change, damage, extent, gain } => (
            "struck",
            json!({
                "part": part.name(), "along": along.to_array(), "change_m_s": change, "damage_j": damage,
                "extent": extent.name(), "impulse_gain": gain,
            }),
        ),
        EventKind::Staggered => ("stagger", json!({})),
        EventKind::Down => ("down", json!({})),
        EventKind::Up => ("up", json!({})),
        EventKind::Blow(blow) => (blow.outcome.name(), blow_json(played, blow)),
        EventKind::KnockedOut { by } => ("knocked out", json!({"by": played.named(*by)})),
        EventKind::Began { .. } | EventKind::Answered { .. } | EventKind::Searched(_) => return None,
    };
    more["time"] = json!(event.tick as f32 / TICKS as f32);
    more["kind"] = json!(kind);
    more["who"] = json!(played.name(event));
    Some(more)
}

fn blow_json(played: &Played, blow: &BlowEvent) -> Value {
    json!({
        "by": played.named(blow.by), "what": blow.name, "predicted": blow.predicted.name(),
        "part": blow.part.map(|p| p.name()), "damage": blow.damage, "place": blow.at.to_array(), "gap_m": blow.gap,
        "in_reach": blow.reach, "long": blow.long, "seen": blow.seen, "answered": blow.answered,
    })
}

fn to_json(scene: &Scene, played: &Played, seconds: f64) -> Value {
    let takes = &played.takes;
    let clips: Vec<&Clip> = takes.iter().map(|t| &t.clip).collect();
    let obstacles = scene.obstacles();
    let touched = clips.iter().map(|c| overlap::with_obstacles(c, &obstacles).deepest).fold(0.0, f32::max);
    let penetration = 100.0 * overlap::of_bodies(&clips).max(touched);
    let characters: Vec<Value> = takes
        .iter()
        .map(|take| {
            let q = take.quality;
            let legs: Vec<Value> = take
                .starts
                .iter()
                .map(|s| json!({"time": s.time, "edge": s.leg.edge.0, "clip": played.clip(&s.leg), "joined": s.joined}))
                .collect();
            json!({
                "name": take.clip.name,
                "events": legs,
                "quality": {
                    "foot_slide_cm_s": q.foot_slide_cm_s, "foot_slide_most_cm_s": q.foot_slide_most_cm_s,
                    "planted_share": q.planted_share, "snap": q.snap, "snap_in_impacts": q.snap_in_impacts, "snap_at_joins": q.snap_at_joins, "float_cm": q.float_cm,
                    "balance_cm": q.balance_cm, "source_balance_cm": q.source_balance_cm,
                    "jerk_ratio": jerk_ratio(take, played.kit.library()), "penetration_cm": penetration,
                },
                "hash": format!("{:016x}", take.hash),
            })
        })
        .collect();
    json!({
        "seconds": scene.seconds,
        "frames": takes.first().map_or(0, |t| t.clip.frames()),
        "characters": characters,
        "throws": played.performance.flights.iter().map(flight_json).collect::<Vec<_>>(),
        "events": played.performance.events.iter().filter_map(|e| event_json(played, e)).collect::<Vec<_>>(),
        "quality": characters.first().map(|c| c["quality"].clone()),
        "hash": dodge::combined(takes.iter().map(|t| t.hash)),
        "plan_seconds": seconds,
    })
}

/// Writes a take into files whose endings say how.
pub(crate) fn write_take(
    output: &[PathBuf],
    picture: &PictureArgs,
    title: &str,
    played: &Played,
    json: &Value,
) -> CliResult<()> {
    let mut outputs = Outputs::default();
    for path in output {
        let ending = output::ending(path, &SEVERAL)?;
        let seconds = played.takes.first().map_or(0.0, |t| t.clip.seconds());
        outputs.stage(path, &written(picture, title, ending, (&[], seconds), played, json)?)?;
    }
    outputs.commit()?;
    Ok(())
}

pub(crate) fn written(
    picture: &PictureArgs,
    title: &str,
    ending: &str,
    (obstacles, seconds): (&[Obstacle], f32),
    played: &Played,
    json: &Value,
) -> CliResult<Vec<u8>> {
    let title = title.to_owned();
    let (takes, flights) = (&played.takes, &played.performance.flights);
    let balls = || flights.iter().map(|f| Prop::flying(f.ball.ball.radius, drawn(f)));
    let still = |o: &Obstacle| Prop { fit: false, ..walk::prop(o) };
    let props = || obstacles.iter().map(still).chain(balls()).collect::<Vec<_>>();
    // In a strip walls would hide whoever is between them.
    let wall = |o: &&Obstacle| !matches!(o.shape, Shape::Box { half } if half.max_element() > 1.4);
    let low = || obstacles.iter().filter(wall).map(still).chain(balls()).collect::<Vec<_>>();
    let shown: Vec<Clip> = takes.iter().map(|take| played.captioned(take)).collect();
    let clips: Vec<&Clip> = shown.iter().collect();
    let roles = Some(Roles::canonical());
    let figures: Vec<_> = clips
        .iter()
        .enumerate()
        .map(|(i, clip)| picture_flags::figure(clip, roles).coloured(picture_flags::colours(i)))
        .collect();
    let strip = || Strip {
        figures: figures.clone(),
        props: low(),
        times: times(flights, seconds, picture.poses),
        views: picture.views(),
        theme: picture.theme(),
        width: picture.width,
        title: Some(if picture.bare { String::new() } else { title.clone() }),
        timeline: !picture.bare,
        ..Strip::default()
    };
    Ok(match ending {
        "json" => format!("{json}\n").into_bytes(),
        "glb" => take_file(&title, obstacles, played).to_glb(),
        "html" => {
            let markers = markers(played);
            Replay { title: title.clone(), figures: figures.clone(), props: props(), markers }.to_html().into_bytes()
        }
        "gif" | "mp4" => picture_flags::film(strip(), ending, seconds, 1.0)?,
        _ => strip().render().to_png(),
    })
}

/// Which moments tell most: around a touch if just one ball touches anybody, else when balls are nearest and what was done just before, or
/// the extremes of the motion if nothing is thrown.
fn times(flights: &[Flight], seconds: f32, poses: usize) -> Times {
    let mut touches = flights.iter().filter_map(|f| f.end.filter(|end| end.0.touched()).map(|end| (end.1, f)));
    if let (Some((at, flight)), None) = (touches.next(), touches.next()) {
        let near = 0.3 / flight.ball.ball.velocity.length().max(1.0);
        return Times::Touch { at, near, count: poses };
    }
    let ends: Vec<f32> = flights.iter().filter_map(|f| f.end.map(|end| end.1)).filter(|t| *t < seconds).collect();
    if ends.is_empty() || poses < 3 {
        return Times::ByMotion(poses);
    }
    let most = ends.len().min(poses - 2);
    let picked = (0..most).map(|k| ends[k * ends.len() / most]);
    let mut times: Vec<f32> = picked.chain([0.0, seconds]).collect();
    // What is left shows what led to it, the last balls first.
    let before: Vec<f32> = times[..most].iter().rev().map(|t| (t - LEADS).max(0.0)).collect();
    times.extend(before.into_iter().take(poses - times.len()));
    times.sort_by(f32::total_cmp);
    Times::At(times)
}

/// A defence has begun so long before the ball is nearest, seconds.
const LEADS: f32 = 0.3;

/// What is written of a performance into `.glb` files.
pub(crate) fn take_file<'a>(title: &'a str, obstacles: &[Obstacle], played: &'a Played) -> TakeFile<'a> {
    let named = |event: &Event| Some(played.name(event).to_owned()).filter(|name| !name.is_empty());
    let markers = played.performance.events.iter().filter_map(|event| {
        let mark = marker(played, event)?;
        Some(gltf::GltfMarker { seconds: mark.time, name: mark.text, actor: named(event) })
    });
    TakeFile {
        title,
        takes: played.takes.iter().collect(),
        props: rigs::props(obstacles, rigs::thrown(&played.performance.flights)),
        markers: markers.collect(),
    }
}

/// A ball's way as it is drawn: after its flight it drops to the floor, thrown back a little by what it met.
pub(crate) fn drawn(flight: &Flight) -> Vec<(f32, Vec3)> {
    let mut path = flight.path.clone();
    let (Some((outcome, time, _)), Some((_, from))) = (flight.end, path.last().copied()) else { return path };
    let ball = &flight.ball.ball;
    let met = outcome.touched();
    let speed = ball.velocity * if met { -0.15 } else { 1.0 };
    for k in 1..=90 {
        let t = k as f32 / 60.0;
        let mut place = from + speed * t + Vec3::NEG_Y * (4.9 * t * t);
        let landed = place.y <= ball.radius;
        place.y = place.y.max(ball.radius);
        path.push((time + t, place));
        if landed {
            break;
        }
    }
    path
}

/// What is worth a mark on the time line: throws, decisions, ends of balls, arrivals.
fn markers(played: &Played) -> Vec<Marker> {
    played.performance.events.iter().filter_map(|event| marker(played, event)).collect()
}

fn marker(played: &Played, event: &Event) -> Option<Marker> {
    let name = played.name(event);
    let (kind, text, at) = match &event.kind {
        EventKind::Decided { what, why } if why.is_empty() => ("decided", format!("{name}: {what}"), None),
        EventKind::Decided { what, why } => ("decided", format!("{name}: {what}, {why}"), None),
        EventKind::BallEnded { outcome, part, at, .. } => {
            let part = part.map_or(String::new(), |p| format!(", {}", p.name().replace('_', " ")));
            (outcome.name(), format!("{name}: {}{part}", outcome.name()), Some(*at))
        }
        EventKind::Blow(blow) => (blow.outcome.name(), told(played, event, blow), Some(blow.at)),
        EventKind::KnockedOut { .. } => ("knocked out", format!("{name} is knocked out"), None),
        EventKind::Arrived { .. } => ("arrived", format!("{name} arrives"), None),
        EventKind::NoWay { .. } => ("no way", format!("{name} finds no way"), None),
        EventKind::Staggered => ("stagger", format!("{name} staggers"), None),
        EventKind::Down => ("down", format!("{name} is down"), None),
        EventKind::Up => ("up", format!("{name} is up again"), None),
        _ => return None,
    };
    Some(Marker { time: event.tick as f32 / TICKS as f32, kind: kind.into(), text, at })
}
