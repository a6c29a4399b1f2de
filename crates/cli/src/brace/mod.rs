//! `kumite brace`: one threat, braced for and written; or many, counted (`trials`); or the figures of the thesis (`figures`). The pose is
//! `kumite_react`'s, the playing `kumite_stage`'s.

mod diagram;
mod figures;
mod impacts;
mod trials;
mod why;

use std::path::Path;
use std::sync::Arc;

use kumite_formats::gltf::GltfMarker;
use kumite_motion::library::Library;
use kumite_motion::{Role, Roles, Vec3};
use kumite_picture::{Marker, Prop, Replay, Strip, Times, Window};
use kumite_react::balance::Objective;
use kumite_react::response::Settings;
use kumite_react::{Impact, ImpactError, Request, SpeedRange, Temper, time_to_contact};
use kumite_stage::Take;
use kumite_stage::brace_referee::{self, Judged, Promise};
use kumite_stage::brace_trial::{Moment, Played};
use kumite_stage::impact_trial::{self, How, Outcome};
use kumite_stage::recoveries::Recoveries;
use serde_json::{Value, json};

use crate::args::BraceArgs;
use crate::failure::{CliResult, Failure};
use crate::output::{self, Outputs};
use crate::rigs::{self, Rigs, TakeFile};
use crate::{Progress, Report, bake, exported, picture_flags, source};

/// The clip that plays when nothing else is asked for, if the library has it.
const GUARD: &str = "guard-idle";
const ENDINGS: [&str; 7] = ["glb", "bvh", "html", "png", "gif", "mp4", "json"];
/// A hand or forearm this near to a threat's way guards, metres.
pub(crate) const GUARDS: f32 = 0.12;

pub(crate) fn run(args: &BraceArgs, progress: &Progress) -> CliResult<Report> {
    check(args)?;
    let rigs = Rigs::load(&args.rig, &[], progress)?;
    rigs.say_who_is_drawn(&args.output, progress);
    let library = bake::load(&args.library, Path::new(""), args.data.as_deref(), progress)?.library;
    if let Some(folder) = &args.figures {
        return figures::run(&library, folder);
    }
    match (args.trials, args.trial) {
        (Some(count), None) => {
            let mut report = trials::run(&library, count, args.seed, progress);
            if let (Some(how), Value::Object(json)) = (how(args), &mut report.json) {
                json.insert("impacts".into(), impacts::run(&library, count, args.seed, how, progress));
                // What was asked for first.
                for key in ["recovered", "knocked_down", "joint_gap_m"] {
                    json.insert(key.into(), json["impacts"][key].clone());
                }
                report.text = format!("{:#}\n", Value::Object(json.clone()));
            }
            Ok(report)
        }
        (_, Some(number)) => {
            let seed = trials::seed(args.seed, number);
            let trial = match args.hits {
                Some(kind) => impact_trial::random(&library, seed, kind.into()),
                None => kumite_stage::brace_trial::random(&library, seed),
            };
            let (moment, request) = trial.ok_or_else(|| Failure::bad("no moment was found to brace at"))?;
            brace_once(args, &moment, &request, &rigs)
        }
        (None, None) => {
            let moment = moment(args, &library)?;
            let request = request(args, &moment)?;
            brace_once(args, &moment, &request, &rigs)
        }
    }
}

fn bad(key: &str, found: String, allowed: &str) -> Failure {
    Failure::bad(format!("{key} is {found}; allowed is {allowed}")).key(key).found(found).allowed(allowed)
}

fn check(args: &BraceArgs) -> CliResult<()> {
    args.picture.check()?;
    if !args.from.iter().all(|v| v.is_finite() && v.abs() <= 1000.0) {
        return Err(bad("--from", format!("{:?}", args.from), "finite numbers, within 1000 m"));
    }
    let numbers = [
        ("--speed", args.speed, kumite_react::SLOWEST..=kumite_react::FASTEST, "0.1 to 200 m/s"),
        ("--radius", args.radius, 1e-4..=2.0, "more than 0, at most 2 m"),
        ("--mass", args.mass, 1e-6..=1e9, "more than 0 kg"),
        ("--response-ms", args.response_ms, 0.0..=500.0, "0 (no physics) to 500 ms"),
        ("--lead", args.lead.unwrap_or(1.0), 0.05..=10.0, "0.05 to 10 s"),
        ("--age", args.age, 0.0..=120.0, "0 to 120"),
        ("--fitness", args.fitness, 0.0..=1.0, "0 to 1"),
        ("--boldness", args.boldness, 0.0..=1.0, "0 to 1"),
    ];
    if let Some((key, found, _, allowed)) = numbers.into_iter().find(|(_, value, range, _)| !range.contains(value)) {
        return Err(bad(key, found.to_string(), allowed));
    }
    if args.trials == Some(0) {
        return Err(bad("--trials", "0".into(), "at least 1"));
    }
    if let (Some(count), Some(number)) = (args.trials, args.trial)
        && number >= count
    {
        return Err(bad("--trial", number.to_string(), &format!("less than the {count} of --trials")));
    }
    for path in &args.output {
        output::ending(path, &ENDINGS)?;
    }
    part(&args.target).map(|_| ())
}

/// The part of a name, and which of its spheres.
fn part(name: &str) -> CliResult<(Role, u32)> {
    Ok(match name {
        "head" => (Role::Head, 0),
        "chest" => (Role::Back, 0),
        "belly" => (Role::Waist, 0),
        "hips" => (Role::Pelvis, 0),
        "legs" => (Role::LeftHip, 2),
        _ => return Err(bad("--target", format!("{name:?}"), "head, chest, belly, hips, legs")),
    })
}

/// What plays.
fn moment(args: &BraceArgs, library: &Arc<Library>) -> CliResult<Moment> {
    let asked = args.motion.as_deref();
    let any = || library.clips().first().map(|clip| clip.name.clone()).unwrap_or_default();
    let has_guard = library.clips().iter().any(|clip| clip.name == GUARD);
    let name = asked.map_or_else(|| if has_guard { GUARD.to_owned() } else { any() }, str::to_owned);
    Moment::named(library, &name, args.at).ok_or_else(|| {
        let of = library.clips().iter().find(|clip| clip.name == name);
        match (args.at, of) {
            (Some(at), Some(clip)) => bad(
                "--at",
                at.to_string(),
                &format!("0 to {:.2} s of {}, where it is played", clip.seconds(), clip.name),
            ),
            _ => {
                let names: Vec<&str> = library.clips().iter().map(|c| c.name.as_str()).collect();
                bad("--motion", format!("{name:?}"), &names.join(", "))
            }
        }
    })
}

fn failure(error: &ImpactError) -> Failure {
    let key = match error {
        ImpactError::Speed { .. } => "--speed",
        ImpactError::Size { .. } => "--radius",
        ImpactError::Mass { .. } => "--mass",
        ImpactError::NotFinite { .. } => "--from",
    };
    Failure::bad(error.to_string()).key(key)
}

/// What comes: aimed at where its target will be.
fn request(args: &BraceArgs, moment: &Moment) -> CliResult<Request<'static>> {
    let (role, which) = part(&args.target)?;
    let speeds = if args.thesis_speeds { SpeedRange::THESIS } else { SpeedRange::STAGE };
    let from = Vec3::from_array(args.from);
    if from.y < args.radius {
        return Err(bad("--from", format!("{:?}", args.from), "a place above the floor"));
    }
    let mut seconds = args.lead.unwrap_or(0.5);
    let aim = |seconds: f32| match args.unbraced {
        true => moment.aim(seconds, role, which),
        false => moment.aim_braced(seconds, role, which),
    };
    let mut target = aim(seconds);
    let gaze = moment.character.world().rotation(Role::Head.joint()) * Vec3::Z;
    for _ in 0..2 {
        let to = (from - target).normalize_or(Vec3::Z);
        seconds = args.lead.unwrap_or_else(|| time_to_contact(speeds.share(args.speed), gaze.dot(to)));
        target = aim(seconds);
    }
    let spheres = moment.character.library().spheres();
    let near = spheres.iter().map(|s| (moment.character.world().point(s.joint, s.offset) - from).length() - s.radius);
    let depth = args.radius - near.fold(f32::INFINITY, f32::min);
    if depth > 0.0 {
        let found = format!("{:?}", args.from);
        let message = format!("--from is {found}: the threat is already {:.0} cm inside the body", depth * 100.0);
        return Err(Failure::bad(message).key("--from").found(found).allowed("a place outside the body"));
    }
    let velocity = (target - from).normalize_or(Vec3::NEG_Z) * args.speed;
    let impact = Impact { target, velocity, radius: args.radius, mass: args.mass };
    let temper = Temper { age: args.age, fitness: args.fitness, boldness: args.boldness };
    let objective = if args.printed { Objective::Printed } else { Objective::Weighted };
    let impact = impact.check().map_err(|e| failure(&e))?;
    Ok(Request { temper, speeds, startle: args.startle, objective, ..Request::new(impact, seconds) })
}

/// How what hits is answered; `None` without physics.
fn how(args: &BraceArgs) -> Option<How> {
    let settings = Settings { seconds: args.response_ms / 1000.0, ..Settings::default() };
    (args.response_ms > 0.0).then_some(How { braced: !args.unbraced, settings, returns: args.r#return.into() })
}

/// What the referee sees of a brace.
pub(crate) fn judged(library: &Library, played: &Played) -> Judged {
    let timing = played.brace.timing();
    let promise = Promise {
        target: played.impact.target,
        along: played.impact.along(),
        contact: played.seconds,
        reaches: timing.reaches,
        leaves: timing.leaves,
        planted: played.brace.planted(),
    };
    brace_referee::judge(library.skeleton(), &played.shown, &promise)
}

fn brace_once(args: &BraceArgs, moment: &Moment, request: &Request<'_>, rigs: &Rigs) -> CliResult<Report> {
    let library = moment.character.library();
    let played = moment.play(request).map_err(|e| failure(&e))?;
    let judged = judged(library, &played);
    let mut played = played;
    let mut came = None;
    if let Some(how) = how(args)
        && let Some(struck) = impact_trial::play(moment, &Recoveries::of(library), request, how)
    {
        (played.recorder, played.path) = (struck.recorder, struck.path);
        played.touch = struck.outcome.touch.map(|(time, touch)| (time, touch.part));
        came = Some(struck.outcome);
    }
    let take = played.recorder.clone().finish("brace", library.skeleton()).map_err(|e| Failure::bad(e.to_string()))?;
    let part = played.touch.map(|(_, part)| part.name().replace('_', " "));
    let guarded = judged.guard <= GUARDS;
    let mut text = format!(
        "{}, {}: {}\n    hands {:.0} cm from its way ({:.0} cm unbraced), centre of mass {:.1} cm from where it is wanted\n    \
         feet slide {:.2} cm, snap {:.2}; {} poses tried; hash {:016x}\n",
        if guarded { "guarded" } else { "braced" },
        if played.brace.planted() { "planted" } else { "in stride" },
        part.as_ref().map_or_else(|| "it misses".to_owned(), |part| format!("it meets the {part}")),
        judged.guard * 100.0,
        judged.unbraced_guard * 100.0,
        100.0 * played.solved.terms.balance,
        judged.slide * 100.0,
        take.quality.snap,
        played.solved.evaluations,
        take.hash
    );
    if let Some(came) = came.as_ref().filter(|came| came.touch.is_some()) {
        text += &format!("    {}\n", told(came));
    }
    if args.why {
        text += &why::text(library, &played, request);
    }
    let mut json = one_json(&played, &judged, &take, &why::json(library, &played, request));
    json["impact"] = came.as_ref().map_or(Value::Null, came_json);
    let mut outputs = Outputs::default();
    for path in &args.output {
        let ending = source::ending(path).unwrap_or_default();
        if ending == "glb" {
            output::refuse_inputs(path, rigs.paths())?;
            let title = title(&played);
            let props = rigs::props([], [(played.impact.radius, played.path.clone())]);
            let markers = moments(&played).map(|(seconds, _, name)| GltfMarker { seconds, name, actor: None });
            let file = TakeFile { title: &title, takes: vec![&take], props, markers: markers.collect() };
            file.stage(path, rigs, &mut outputs)?;
            continue;
        }
        outputs.stage(path, &encode(args, &played, &take, (&ending, &json))?)?;
    }
    outputs.commit()?;
    if let Some(path) = &args.timing {
        output::write(path, diagram::svg(played.brace.timing()).as_bytes())?;
    }
    Ok(Report { text, json })
}

/// What came of a hit, for people.
fn told(came: &Outcome) -> String {
    let change = came.touch.map_or(0.0, |(_, touch)| touch.change());
    let mut text =
        format!("pushed by {change:.2} m/s, the part that was hit moves {:.0} cm in 150 ms", came.moved * 100.0);
    if let Some(answer) = &came.answer {
        text += &format!("; {answer}");
    }
    if let Some(down) = came.down {
        text += &format!("; down after {down:.1} s");
    }
    match (came.up, came.recovered) {
        (Some(up), _) => text += &format!(", up after {up:.1} s"),
        (None, Some(back)) => text += &format!("; back after {back:.2} s"),
        (None, None) => {}
    }
    text
}

fn came_json(came: &Outcome) -> Value {
    json!({
        "extent": came.extent.map(|e| e.name()), "change_m_s": came.touch.map(|(_, t)| t.change()), "moved_m": came.moved,
        "answer": came.answer, "head_load_m_s": came.head_load, "joint_gap_m": came.gap, "below_floor_m": came.sunk,
        "down_s": came.down, "up_s": came.up, "recovered_s": came.recovered, "rest_rad_s": came.rest,
    })
}

fn one_json(played: &Played, judged: &Judged, take: &Take, why: &Value) -> Value {
    let terms = played.solved.terms;
    json!({
        "planted": played.brace.planted(), "met": played.touch.map(|t| t.1.name()), "seconds_left": played.seconds,
        "guarded": judged.guard <= GUARDS, "guard_m": judged.guard, "unbraced_guard_m": judged.unbraced_guard,
        "com_error_m": terms.balance, "case": played.solved.case.number(), "foot_slide_m": judged.slide,
        "evaluations": played.solved.evaluations, "why": why,
        "seconds": take.clip.seconds(), "frames": take.clip.frames(),
        "quality": {"foot_slide_cm_s": take.quality.foot_slide_cm_s, "snap": take.quality.snap, "snaps_s": take.snaps.iter().map(|snap| snap.time).collect::<Vec<_>>(), "float_cm": take.quality.float_cm},
        "hash": format!("{:016x}", take.hash),
    })
}

fn title(played: &Played) -> String {
    format!("braces for {:.0} m/s at the {}", played.impact.speed(), played.solved.aim.part.name())
}

/// What happens when: seconds, kind, and in words.
fn moments(played: &Played) -> impl Iterator<Item = (f32, &'static str, String)> {
    let timing = played.brace.timing();
    let touch = played.touch.map(|(time, part)| (time, "hit", part.name().to_owned()));
    [(0.0, "seen", "the threat is known".to_owned()), (timing.reaches, "braced", "braced".to_owned())]
        .into_iter()
        .chain(touch)
        .chain([(timing.leaves, "recovers", "recovers".to_owned())])
}

/// The take in the format of a file ending, other than `.glb`.
fn encode(args: &BraceArgs, played: &Played, take: &Take, (ending, json): (&str, &Value)) -> CliResult<Vec<u8>> {
    let clip = &take.clip;
    let figure = picture_flags::figure(clip, Some(Roles::canonical()));
    let ball = || Prop::flying(played.impact.radius, played.path.clone());
    let picture = &args.picture;
    // What comes is beside the body when it is 30 cm from where it touches.
    let near = 0.3 / played.impact.speed();
    let at = played.touch.map_or(played.seconds, |touch| touch.0);
    let times = Times::Touch { at, near, count: picture.poses };
    let title = title(played);
    let strip = || Strip {
        figures: vec![figure.clone()],
        props: vec![ball()],
        title: Some(if picture.bare { String::new() } else { title.clone() }),
        times: times.clone(),
        window: Window::World,
        ..picture.strip(clip, Some(Roles::canonical()))
    };
    Ok(match ending {
        "json" => format!("{json}\n").into_bytes(),
        "bvh" => exported::bvh_for(clip, args.rig.program),
        "html" => {
            let mark = |(time, kind, text): (f32, &str, String)| Marker { time, kind: kind.into(), text, at: None };
            let markers = moments(played).map(mark).collect();
            Replay { title, figures: vec![figure], props: vec![ball()], markers }.to_html().into_bytes()
        }
        "gif" | "mp4" => picture_flags::film(strip(), ending, clip.seconds(), 0.5)?,
        _ => strip().render().to_png(),
    })
}
