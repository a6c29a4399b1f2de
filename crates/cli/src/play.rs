//! `kumite play`: a scene, played and written.

use std::sync::Arc;
use std::time::Instant;

use kumite_formats::{bvh, gltf};
use kumite_motion::{Clip, ClipIdx, EdgeIdx, NodeIdx, Roles, Vec2, Vec3};
use kumite_picture::{Marker, Movie, Prop, Replay, Strip, Times};
use kumite_plan::dodge::{DodgeConfig, DodgeScratch};
use kumite_plan::threat::Ball;
use kumite_plan::walk::{Effort, Method};
use kumite_plan::{Alone, Threat, ThreatError};
use kumite_stage::Target;
use kumite_stage::scene::{self, Scene, Throw};
use kumite_stage::walk::WalkRequest;
use kumite_stage::wander::{play_on, wander};
use kumite_stage::{Chance, Character, Defence, Recorder, TICKS, Take, dodge_referee, jerk_ratio, overlap};
use serde_json::{Value, json};

use crate::args::PlayArgs;
use crate::bake::Loaded;
use crate::failure::{CliResult, Failure};
use crate::output::Outputs;
use crate::{Progress, Report, bake, dodge, picture_flags, source, walk};

const WRITTEN: &str = ".glb, .bvh, .html, .png, .gif, .json";

pub(crate) fn run(args: &PlayArgs, progress: &Progress) -> CliResult<Report> {
    args.picture.check()?;
    let text = String::from_utf8(source::read(&args.scene)?);
    let text = text.map_err(|_| Failure::bad("not UTF-8 text").in_file(&args.scene))?;
    let scene = scene::read(&text).map_err(|e| Failure::from(e).in_file(&args.scene))?;
    let endings: Vec<String> = args.output.iter().map(|p| source::ending(p).unwrap_or_default()).collect();
    for (path, ending) in args.output.iter().zip(&endings) {
        if !["glb", "bvh", "html", "png", "gif", "json"].contains(&ending.as_str()) {
            let message = format!("cannot write {ending:?}; the ending says the format: {WRITTEN}");
            return Err(Failure::bad(message).in_file(path).found(ending.clone()).allowed(WRITTEN));
        }
        if ending == "bvh" && scene.character.len() > 1 {
            return Err(Failure::bad("a BVH holds one character; .glb and .html hold several").in_file(path));
        }
    }
    let loaded = bake::load(&scene.library, &args.scene, None, progress)?;
    let start = Instant::now();
    let Played { takes, balls } =
        play(&scene, args.seed.unwrap_or(scene.seed), &loaded, progress).map_err(|e| e.in_file(&args.scene))?;
    let played = start.elapsed().as_secs_f64();
    let mut json = to_json(&scene, &loaded.library, &takes, played);
    json["throws"] =
        balls.iter().map(|b| json!({"time": b.marker.time, "at": b.marker.text, "outcome": b.marker.kind})).collect();
    let mut outputs = Outputs::default();
    for (path, ending) in args.output.iter().zip(&endings) {
        outputs.stage(path, &written(args, ending, &scene, &takes, &balls, &json))?;
    }
    outputs.commit()?;
    let text = takes.iter().zip(&scene.character).map(|(take, actor)| {
        let q = take.quality;
        format!(
            "{}: {:.1} s, {} edges; feet slide {:.2} cm/s, float {:.2} cm, snap {:.2}, balance {:.1} cm; hash {:016x}\n",
            actor.name,
            take.clip.seconds(),
            take.events.len(),
            q.foot_slide_cm_s,
            q.float_cm,
            q.snap,
            q.balance_cm,
            take.hash
        )
    });
    Ok(Report { text: text.collect(), json })
}

/// What a scene gave.
pub(crate) struct Played {
    /// One for each character.
    pub(crate) takes: Vec<Take>,
    /// What was thrown, by the time of the scene, and what became of it.
    pub(crate) balls: Vec<Thrown>,
}

/// A ball of a scene.
pub(crate) struct Thrown {
    pub(crate) prop: Prop,
    pub(crate) marker: Marker,
}

/// A ball is thrown at a character, which decides what to do: its way as a prop, and how it ended.
fn throw(
    thrown: &Throw,
    defence: &Defence,
    character: &mut Character,
    chance: &mut Chance,
) -> Result<(Thrown, Vec<EdgeIdx>), ThreatError> {
    let target = Target::from_name(&thrown.target).unwrap_or(Target::Head);
    let from = Vec3::from_array(thrown.from);
    let library = defence.library();
    let ahead = wander(library, character.playing().edge, 6.0, chance);
    // Where the target will be when the ball arrives, which depends on where it will be: twice is enough.
    let mut lead = (target.place(character, 0) - from).length() / thrown.speed;
    let mut aim = target.place(&play_on(character, &ahead, lead.min(5.0)), 0);
    lead = (aim - from).length() / thrown.speed;
    aim = target.place(&play_on(character, &ahead, lead.min(5.0)), 0);
    let ball = Ball::aimed(from, aim, lead, thrown.radius, false);
    let threats = [Threat::ball(&ball, lead)?];
    let decision = defence.decide(character, &ahead, &threats, &mut DodgeScratch::default())?;
    let ruling = dodge_referee::judge(character, &decision, &ahead, &threats);
    character.follow(&decision.edges, &decision.warp, decision.bend);
    let (ends, kind) = match ruling.seen.first {
        None => (lead + 1.0, "avoided"),
        Some((time, _)) => (time, if ruling.blocked { "blocked" } else { "hit" }),
    };
    let steps = (ends * 60.0).ceil() as u32;
    let path = (0..=steps).map(|k| {
        let time = (k as f32 / 60.0).min(ends);
        (thrown.time + time, ball.at(time))
    });
    let marker = Marker {
        time: thrown.time + ends.min(lead),
        kind: kind.into(),
        text: thrown.at.clone(),
        at: Some(ball.at(ends.min(lead))),
    };
    let left = if decision.edges.is_empty() { ahead } else { Vec::new() };
    Ok((Thrown { prop: Prop::flying(thrown.radius, path.collect()), marker }, left))
}

/// One take for each character of a scene.
pub(crate) fn play(scene: &Scene, seed: u64, loaded: &Loaded, progress: &Progress) -> CliResult<Played> {
    let library = &loaded.library;
    let bar = progress.bar(scene.character.len(), "playing");
    let (mut takes, mut balls) = (Vec::new(), Vec::new());
    let defence = (!scene.throw.is_empty()).then(|| dodge::defence(Arc::clone(library), DodgeConfig::default()));
    let walker = match scene.character.iter().any(|a| a.goal.is_some()) {
        true => Some(walk::walker_of(loaded, true)?),
        false => None,
    };
    for (i, actor) in scene.character.iter().enumerate() {
        if let (Some(walker), Some(request)) = (&walker, WalkRequest::of(scene, i)) {
            let (mut attempt, _) = walk::attempt(walker, &request, Method::Walk, Effort::default(), &Alone, seed)
                .map_err(|e| walk::refused(&e, &actor.name))?;
            let (walked, _) = attempt.best.take().ok_or_else(|| {
                let why = walk::word(attempt.outcome);
                Failure::bad(format!("{} does not get to its goal: {why}", actor.name)).key("goal").found(why)
            })?;
            takes.push(walked.take);
            bar.inc(1);
            continue;
        }
        let mut chance = Chance::new(seed.wrapping_add((i as u64) << 32));
        let nodes = library.graph().nodes();
        let begins = |clip: &str| {
            let clip = ClipIdx(library.clips().iter().position(|c| c.name == clip)? as u32);
            Some(NodeIdx(nodes.iter().position(|n| n.clip == clip)? as u32))
        };
        let node = match &actor.begin {
            Some(clip) => begins(clip).ok_or_else(|| {
                let names = library.clips().iter().map(|c| c.name.as_str()).collect::<Vec<_>>().join(", ");
                let message = format!("character {} begins with {clip:?}; there are {names}", actor.name);
                Failure::bad(message).key("begin").found(clip.clone()).allowed(names)
            })?,
            None => NodeIdx(chance.below(nodes.len() as u32)),
        };
        let mut character =
            Character::new(Arc::clone(library), node, Vec2::from_array(actor.at), actor.facing.to_radians());
        let mut recorder = Recorder::default();
        recorder.record(&character, None);
        let mut own: Vec<&Throw> = scene.throw.iter().filter(|t| t.at == actor.name).collect();
        own.sort_by(|a, b| b.time.total_cmp(&a.time));
        let mut queue = Vec::new().into_iter();
        for tick in 0..(scene.seconds * TICKS as f32).round() as u32 {
            if let Some(defence) = &defence
                && own.last().is_some_and(|t| t.time * TICKS as f32 <= tick as f32)
                && let Some(thrown) = own.pop()
            {
                let (ball, ahead) = throw(thrown, defence, &mut character, &mut chance).map_err(|e| {
                    Failure::bad(format!("throw at {} after {} s: {e}", thrown.at, thrown.time)).key("throw")
                })?;
                balls.push(ball);
                queue = ahead.into_iter();
            }
            let began = character.step(|_, next| {
                let planned = queue.next().filter(|e| next.contains(e));
                planned.unwrap_or_else(|| next[chance.below(next.len() as u32) as usize])
            });
            recorder.record(&character, began);
        }
        takes.push(recorder.finish(&actor.name, library.skeleton()).map_err(|e| Failure::bad(e.to_string()))?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(Played { takes, balls })
}

fn to_json(scene: &Scene, library: &kumite_motion::library::Library, takes: &[Take], played: f64) -> Value {
    let clips: Vec<&Clip> = takes.iter().map(|t| &t.clip).collect();
    let obstacles = scene.obstacles();
    let touched = clips.iter().map(|c| overlap::with_obstacles(c, &obstacles).deepest).fold(0.0, f32::max);
    let penetration = 100.0 * overlap::of_bodies(&clips).max(touched);
    let characters: Vec<Value> = takes
        .iter()
        .zip(&scene.character)
        .map(|(take, actor)| {
            let q = take.quality;
            let events: Vec<Value> = take
                .events
                .iter()
                .map(|e| {
                    // Who walks to a goal does so on a graph of its own.
                    let clip = actor.goal.is_none().then(|| library.clip(library.graph().edge(e.leg.edge).clip).name.as_str());
                    json!({"time": e.time, "edge": e.leg.edge.0, "clip": clip, "joined": e.joined})
                })
                .collect();
            json!({
                "name": actor.name,
                "events": events,
                "quality": {
                    "foot_slide_cm_s": q.foot_slide_cm_s, "foot_slide_most_cm_s": q.foot_slide_most_cm_s,
                    "planted_share": q.planted_share, "snap": q.snap, "snap_at_joins": q.snap_at_joins, "float_cm": q.float_cm,
                    "balance_cm": q.balance_cm, "source_balance_cm": q.source_balance_cm,
                    "jerk_ratio": actor.goal.is_none().then(|| jerk_ratio(take, library)), "penetration_cm": penetration,
                },
                "hash": format!("{:016x}", take.hash),
            })
        })
        .collect();
    json!({
        "seconds": scene.seconds,
        "frames": takes.first().map_or(0, |t| t.clip.frames()),
        "characters": characters,
        "events": characters.first().map(|c| c["events"].clone()),
        "quality": characters.first().map(|c| c["quality"].clone()),
        "hash": characters.first().map(|c| c["hash"].clone()),
        "plan_seconds": played,
    })
}

fn written(args: &PlayArgs, ending: &str, scene: &Scene, takes: &[Take], balls: &[Thrown], json: &Value) -> Vec<u8> {
    let still: Vec<Prop> = scene.obstacles().iter().map(walk::prop).collect();
    let props = || still.iter().cloned().chain(balls.iter().map(|b| b.prop.clone())).collect::<Vec<_>>();
    let clips: Vec<&Clip> = takes.iter().map(|t| &t.clip).collect();
    let roles = Some(Roles::canonical());
    let figures: Vec<_> = clips
        .iter()
        .enumerate()
        .map(|(i, clip)| picture_flags::figure(clip, roles).coloured(picture_flags::colours(i)))
        .collect();
    let title = args.scene.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let strip = || Strip {
        figures: figures.clone(),
        props: props(),
        times: Times::Even(args.picture.poses),
        views: args.picture.views(),
        theme: args.picture.theme(),
        width: args.picture.width,
        title: Some(title.clone()),
        ..Strip::default()
    };
    match ending {
        "json" => format!("{json}\n").into_bytes(),
        "bvh" => clips.first().map_or(Vec::new(), |clip| {
            bvh::write(&bvh::BvhFile::from_clip(clip, bvh::RotationOrder::default())).into_bytes()
        }),
        "glb" => {
            let colour = |i: usize| gltf::GltfCharacter::COLOURS[i % gltf::GltfCharacter::COLOURS.len()];
            let actors: Vec<gltf::GltfCharacter<'_>> = clips
                .iter()
                .enumerate()
                .map(|(i, clip)| gltf::GltfCharacter { name: &clip.name, clip, colour: colour(i) })
                .collect();
            gltf::write_glb(&title, &actors, &[])
        }
        "html" => {
            let event = |(i, take): (usize, &Take)| {
                let name = scene.character.get(i).map(|c| c.name.clone()).unwrap_or_default();
                let cuts = take.events.iter().filter(|e| e.joined);
                cuts.map(move |e| Marker { time: e.time, kind: "join".into(), text: name.clone(), at: None })
                    .collect::<Vec<_>>()
            };
            let mut markers: Vec<Marker> = takes.iter().enumerate().flat_map(event).collect();
            markers.extend(balls.iter().map(|b| b.marker.clone()));
            Replay { title: title.clone(), figures: figures.clone(), props: props(), markers }.to_html().into_bytes()
        }
        "gif" => {
            let movie = Movie { range: Some((0.0, scene.seconds.min(picture_flags::LONGEST_GIF))), ..Movie::default() };
            Strip { width: args.picture.width.min(480), ..strip() }.to_gif(&movie)
        }
        _ => strip().render().to_png(),
    }
}
