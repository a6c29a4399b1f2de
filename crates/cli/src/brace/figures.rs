//! The figures of the thesis, redrawn with our character: each a row of poses, with the ball that is about to hit, and the centre of mass on the floor
//! before (light) and after (dark) it is balanced.

use std::path::Path;
use std::sync::Arc;

use kumite_motion::library::Library;
use kumite_motion::rotation::yaw;
use kumite_motion::{Clip, Pose, Role, Roles, Vec2, Vec3};
use kumite_picture::{Figure, Prop, Rgb, Shape, Sheet, Strip, Theme, Times, Trails, View, Window};
use kumite_react::{Impact, Request, SpeedRange};
use kumite_stage::brace_trial::{Moment, Played};
use serde_json::json;

use crate::Report;
use crate::failure::{CliResult, Failure};
use crate::output::Outputs;

/// Colours of the centre of mass after the rules, where it is wanted, and of the threat.
const RULES: Rgb = Rgb(240, 200, 60);
const WANTED: Rgb = Rgb(222, 110, 20);

/// One pose of a figure.
#[derive(Clone)]
struct Cell {
    pose: Pose,
    /// Where the threat is, and how large.
    ball: Option<(Vec3, f32)>,
    /// The centre of mass after the rules and where it is wanted.
    centres: Option<[Vec2; 2]>,
}

/// A threat at the head of whoever stands in guard, from an angle to the left, degrees.
fn threat(moment: &Moment, part: Role, angle: f32, speed: f32, size: (f32, f32), seconds: f32) -> Request<'static> {
    let target = moment.aim_braced(seconds, part, 0);
    let from = yaw(angle.to_radians()) * Vec3::Z;
    let velocity = (Vec3::NEG_Y * 0.08 - from).normalize_or(Vec3::NEG_Z) * speed;
    let impact = Impact { target, velocity, radius: size.0, mass: size.1 };
    Request { speeds: SpeedRange::STAGE, ..Request::new(impact, seconds) }
}

fn played(moment: &Moment, request: &Request<'_>) -> CliResult<Played> {
    moment.play(request).map_err(|e| Failure::bad(e.to_string()))
}

/// The pose as it is shown when the threat hits.
fn braced(played: &Played) -> Cell {
    let impact = played.impact;
    let pose = kumite_stage::brace_trial::at_contact(played).unwrap_or(&played.solved.pose).clone();
    let ball = impact.target - impact.along() * (impact.radius + 0.45);
    let [here, wanted, _] = played.solved.centres;
    Cell { pose, ball: Some((ball, impact.radius)), centres: Some([here, wanted]) }
}

/// One row of poses.
fn strip<'a>(clip: &'a Clip, cells: &[Cell], title: &str, views: Vec<View>, marks: bool) -> Strip<'a> {
    let mut props = Vec::new();
    let hidden = Vec3::new(400.0, -90.0, 400.0);
    let mut flying = |radius: f32, colour: Option<Rgb>, at: &dyn Fn(&Cell) -> Option<Vec3>| {
        let path = cells.iter().enumerate().flat_map(|(k, cell)| {
            let place = at(cell).unwrap_or(hidden);
            [(k as f32 - 0.4, place), (k as f32 + 0.4, place)]
        });
        let path: Vec<(f32, Vec3)> = path.collect();
        props.push(Prop { shape: Shape::ball(Vec3::ZERO, radius), path, colour, fit: false, trail: 0.0, shown: None });
    };
    // Balls of different sizes are different props.
    for (k, cell) in cells.iter().enumerate() {
        if let Some((place, radius)) = cell.ball {
            let own = cell.clone();
            flying(radius, None, &|other| (other.ball == own.ball && std::ptr::eq(other, &cells[k])).then_some(place));
        }
    }
    if marks {
        for (which, colour) in [(0, RULES), (1, WANTED)] {
            let at = |cell: &Cell| cell.centres.map(|c| Vec3::new(c[which].x, 0.012, c[which].y));
            flying(0.035, Some(colour), &at);
        }
    }
    Strip {
        props,
        title: Some(title.to_owned()),
        times: Times::At((0..cells.len()).map(|k| k as f32).collect()),
        views,
        window: Window::World,
        captions: false,
        timeline: false,
        trails: Trails { hands: false, feet: false, seconds: 0.0 },
        width: 1500,
        row_height: 360,
        ..Strip::of(Figure::with_roles(clip, Roles::canonical()))
    }
}

/// Rows of one figure, each with its title.
struct Drawn {
    name: &'static str,
    rows: Vec<(String, Vec<Cell>)>,
    views: Vec<View>,
    marks: bool,
}

pub(super) fn run(library: &Arc<Library>, folder: &Path) -> CliResult<Report> {
    std::fs::create_dir_all(folder).map_err(|e| Failure::io(folder, "make the folder", &e))?;
    let guard = Moment::named(library, super::GUARD, None);
    let standing = Moment::named(library, "stand-idle", None).or_else(|| Moment::named(library, "walk", Some(0.1)));
    let walking = Moment::named(library, "walk", Some(1.1));
    let missing = || Failure::bad("the library has no guard, standing and walking motions to draw these with");
    let (guard, standing, walking) =
        (guard.ok_or_else(missing)?, standing.ok_or_else(missing)?, walking.ok_or_else(missing)?);
    let drawn = all(&guard, &standing, &walking)?;
    let mut outputs = Outputs::default();
    for figure in &drawn {
        let mut clips = Vec::new();
        for (_, cells) in &figure.rows {
            let poses: Vec<Pose> = cells.iter().map(|cell| cell.pose.clone()).collect();
            let clip = Clip::new("poses", Arc::clone(library.skeleton()), 1.0, &poses);
            clips.push(clip.map_err(|e| Failure::bad(e.to_string()))?);
        }
        let rows = figure.rows.iter().zip(&clips);
        let strips: Vec<Strip<'_>> =
            rows.map(|((title, cells), clip)| strip(clip, cells, title, figure.views.clone(), figure.marks)).collect();
        let bytes = match &strips[..] {
            [one] => one.render().to_png(),
            _ => {
                let sheet = Sheet {
                    columns: 1,
                    rows: strips.len(),
                    strips,
                    width: 1500,
                    theme: Theme::LIGHT,
                    ..Sheet::default()
                };
                sheet.render(0).to_png()
            }
        };
        outputs.stage(&folder.join(format!("brace-{}.png", figure.name)), &bytes)?;
    }
    let files: Vec<String> = outputs.commit()?.iter().map(|p| p.display().to_string()).collect();
    Ok(Report { text: files.iter().map(|f| format!("{f}\n")).collect(), json: json!({"files": files}) })
}

fn all(guard: &Moment, standing: &Moment, walking: &Moment) -> CliResult<Vec<Drawn>> {
    let volley = (0.105, 0.27);
    let plain = |pose: &Pose| Cell { pose: pose.clone(), ball: None, centres: None };
    let view = || vec![View::three_quarter()];
    let mut drawn = Vec::new();
    // 1.2: the motion, the rules, the balance.
    let request = threat(walking, Role::Head, 25.0, 24.0, (0.12, 1.0), 0.5);
    let one = played(walking, &request)?;
    let source = if one.brace.planted() { &one.source.ahead } else { &one.source.contact };
    let with = |pose: &Pose, cell: Cell| Cell { pose: pose.clone(), ..cell };
    let cells = vec![
        with(source, braced(&one)),
        with(&one.solved.unbalanced, braced(&one)),
        with(&one.solved.pose, braced(&one)),
    ];
    drawn.push(Drawn {
        name: "1-2",
        rows: vec![("the motion; what the rules make of it; in balance".into(), cells)],
        views: view(),
        marks: true,
    });
    // 3.2: side, size, speed.
    let row = |cells: CliResult<Vec<Cell>>| cells;
    let sides = [-80.0, -40.0, 0.0, 40.0, 80.0].map(|a| threat(guard, Role::Head, a, 18.0, volley, 0.55));
    let sizes = [(0.03, 0.05), (0.06, 0.2), (0.1, 0.6), (0.15, 2.0), (0.2, 5.0)]
        .map(|size| threat(guard, Role::Head, 15.0, 18.0, size, 0.55));
    let speeds = [4.0, 10.0, 17.0, 24.0, 30.0].map(|speed| threat(guard, Role::Head, 15.0, speed, volley, 0.55));
    let mut rows = Vec::new();
    for (title, requests) in [
        ("from the right to the left", &sides),
        ("from a small ball to a large one", &sizes),
        ("from a slow ball to a fast one", &speeds),
    ] {
        let mut cells = vec![plain(guard.character.pose())];
        cells.extend(row(requests.iter().map(|r| Ok(braced(&played(guard, r)?))).collect())?);
        rows.push((title.to_owned(), cells));
    }
    drawn.push(Drawn { name: "3-2", rows: rows.clone(), views: view(), marks: false });
    // 3.9: before and after the balance, twice.
    let mut cells = Vec::new();
    for (moment, angle) in [(guard, 20.0), (standing, -35.0)] {
        let one = played(moment, &threat(moment, Role::Head, angle, 26.0, (0.15, 2.0), 0.6))?;
        cells.extend([with(&one.solved.unbalanced, braced(&one)), with(&one.solved.pose, braced(&one))]);
    }
    drawn.push(Drawn {
        name: "3-9",
        rows: vec![("before and after the balance, in guard and standing".into(), cells)],
        views: vec![View::side()],
        marks: true,
    });
    // 3.10: the cases that arise.
    let (mut cells, mut cases) = (Vec::new(), Vec::new());
    for (moment, angle, size) in [(guard, 0.0, volley), (guard, 60.0, (0.2, 5.0)), (standing, -70.0, (0.2, 5.0))] {
        let one = played(moment, &threat(moment, Role::Back, angle, 28.0, size, 0.6))?;
        cases.push(one.solved.case.number().to_string());
        cells.push(braced(&one));
    }
    drawn.push(Drawn {
        name: "3-10",
        rows: vec![(
            format!(
                "the centre of mass after the rules (light) and where it is wanted (dark): cases {}",
                cases.join(", ")
            ),
            cells,
        )],
        views: vec![View::three_quarter(), View::top()],
        marks: true,
    });
    // 3.11: from behind.
    let one = played(standing, &threat(standing, Role::Head, 170.0, 20.0, volley, 0.7))?;
    let two = played(guard, &threat(guard, Role::Head, -150.0, 20.0, volley, 0.7))?;
    drawn.push(Drawn {
        name: "3-11",
        rows: vec![("at the head from behind".into(), vec![braced(&one), braced(&two)])],
        views: vec![View::three_quarter(), View::side()],
        marks: false,
    });
    // 3.12: head, between, pelvis; and what the thesis leaves to others: side, legs.
    let aimed = [
        (Role::Head, 10.0),
        (Role::Back, 10.0),
        (Role::Waist, 10.0),
        (Role::Pelvis, 10.0),
        (Role::Waist, 110.0),
        (Role::LeftKnee, 30.0),
    ];
    let mut cells = vec![plain(standing.character.pose())];
    for (part, angle) in aimed {
        cells.push(braced(&played(standing, &threat(standing, part, angle, 20.0, (0.13, 1.0), 0.6))?));
    }
    drawn.push(Drawn {
        name: "3-12",
        rows: vec![("at the head, the chest, the belly, the hips, the side, the legs".into(), cells)],
        views: view(),
        marks: false,
    });
    // 5.1: speeds just before the impact.
    let cells: CliResult<Vec<Cell>> = [4.0, 12.0, 20.0, 30.0]
        .iter()
        .map(|speed| Ok(braced(&played(standing, &threat(standing, Role::Head, 20.0, *speed, (0.12, 0.6), 0.6))?)))
        .collect();
    drawn.push(Drawn {
        name: "5-1",
        rows: vec![("at 4, 12, 20 and 30 m/s".into(), cells?)],
        views: vec![View::three_quarter(), View::side()],
        marks: false,
    });
    Ok(drawn)
}
