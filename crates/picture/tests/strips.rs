//! Pictures of ordinary and unusual motions: figures are visible and inside their cells, and the bytes are always the same.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use std::sync::Arc;

use kumite_motion::{
    Clip, Contacts, Joint, JointIdx, Pose, Quat, Role, Roles, Skeleton, Span, SpanKind, Vec3, humanoid, rotation,
};
use kumite_picture::{
    Body, Colours, Figure, Floor, Group, Image, Layout, Movie, Prop, Shape, Sheet, Strip, Theme, Times, Trails, View,
    Window,
};

/// A crude walk with swinging arms, in which everything moves.
fn stroll(frames: usize) -> Clip {
    let skeleton = Arc::new(humanoid::skeleton());
    let rest = Pose::rest(&skeleton);
    let mut clip = Clip::from_fn("stroll", skeleton, 30.0, frames, |frame, pose| {
        pose.clone_from(&rest);
        let t = frame as f32 / 30.0;
        pose.set_root(rest.root() + Vec3::new(0.0, 0.0, 1.2 * t));
        let swing = libm::sinf(6.0 * t);
        let mut turn =
            |role: Role, axis: Vec3, angle: f32| pose.rotations[role.joint().at()] = rotation::about(axis, angle);
        turn(Role::LeftShoulder, Vec3::Z, -1.3);
        turn(Role::RightShoulder, Vec3::Z, 1.3);
        turn(Role::LeftHip, Vec3::X, 0.5 * swing);
        turn(Role::RightHip, Vec3::X, -0.5 * swing);
        turn(Role::LeftElbow, Vec3::Y, -0.6 + 0.3 * swing);
    })
    .unwrap();
    clip.contacts = (0..frames).map(|f| if f % 20 < 10 { Contacts::LEFT } else { Contacts::RIGHT }).collect();
    let mut span = Span::new(SpanKind::Attack, "<jab> & more", 0.1, 0.6);
    span.active = Some((0.2, 0.3));
    clip.spans = vec![span, Span::new(SpanKind::Walk, "", 0.0, 1.0)];
    clip
}

fn small<'a>(clip: &'a Clip) -> Strip<'a> {
    Strip { width: 400, row_height: 120, times: Times::Even(4), ..Strip::of(Figure::new(clip)) }
}

/// Saturated pixels: limbs, not floor.
fn colourful(image: &Image) -> Vec<(usize, usize)> {
    let vivid = |p: [u8; 4]| p[..3].iter().max().unwrap() - p[..3].iter().min().unwrap() > 60;
    let places = (0..image.height()).flat_map(|y| (0..image.width()).map(move |x| (x, y)));
    places.filter(|(x, y)| image.get(*x, *y).is_some_and(vivid)).collect()
}

fn joint(name: &str, parent: Option<u16>, offset: Vec3) -> Joint {
    Joint { name: name.into(), parent: parent.map(JointIdx), offset, rest: Quat::IDENTITY, tip: None, moves: false }
}

fn still(joints: &[Joint]) -> Clip {
    let skeleton = Arc::new(Skeleton::new(joints).unwrap());
    let rest = Pose::rest(&skeleton);
    Clip::new("still", skeleton, 30.0, &[rest.clone(), rest]).unwrap()
}

#[test]
fn both_sides_are_seen_and_stay_inside() {
    let clip = stroll(40);
    let image = Strip { timeline: false, captions: false, title: Some(String::new()), ..small(&clip) }.render();
    let seen = colourful(&image);
    let warm = seen.iter().filter(|(x, y)| image.get(*x, *y).is_some_and(|p| p[0] > p[2])).count();
    assert!(warm > 200 && seen.len() - warm > 200, "{warm} of {}", seen.len());
    let edge = |(x, y): &(usize, usize)| *x < 4 || *y < 3 || *x + 4 > image.width() || *y + 3 > image.height();
    assert!(!seen.iter().any(edge));
}

#[test]
fn the_figure_of_each_moment_is_in_its_own_cell() {
    let clip = stroll(40);
    let strip =
        Strip { trails: Trails { hands: false, feet: false, seconds: 0.0 }, window: Window::World, ..small(&clip) };
    let image = Strip { timeline: false, captions: false, title: Some(String::new()), ..strip }.render();
    let columns: Vec<usize> = colourful(&image).iter().map(|p| p.0).collect();
    // All cells are equally wide here, with empty space between them.
    let cell = (image.width() as f32 - 18.0) / 4.0;
    for border in 1..4 {
        let x = 9.0 + border as f32 * cell;
        assert!(columns.iter().all(|c| (*c as f32 - x).abs() > 1.0), "border {border}");
    }
}

#[test]
fn bytes_do_not_depend_on_the_run_or_the_threads() {
    let clip = stroll(40);
    let strip = small(&clip);
    let first = strip.render().to_png();
    assert_eq!(first, strip.render().to_png());
    let on = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    for threads in [1, 3] {
        assert_eq!(first, on(threads).install(|| strip.render().to_png()), "{threads} threads");
    }
    assert_eq!(strip.to_svg(), strip.to_svg());
    let movie = Movie { range: Some((0.0, 0.3)), ..Movie::default() };
    let gif = Strip { width: 100, ..small(&clip) }.to_gif(&movie);
    assert_eq!(gif, on(1).install(|| Strip { width: 100, ..small(&clip) }.to_gif(&movie)));
    assert!(gif.starts_with(b"GIF89a"));
}

#[test]
fn every_layout_view_and_theme_draws() {
    let clip = stroll(60);
    for layout in [Layout::Row, Layout::Travel] {
        for theme in [Theme::LIGHT, Theme::DARK] {
            for floor in [Floor::Auto, Floor::At(-0.1), Floor::None] {
                let views = vec![View::front(), View::side(), View::top(), View::new("level", 20.0, 0.0)];
                let strip = Strip { layout, theme, floor, views, ..small(&clip) };
                assert!(colourful(&strip.render()).len() > 400, "{layout:?} {floor:?}");
                assert!(strip.to_svg().len() > 4000);
            }
        }
    }
}

#[test]
fn svg_tags_are_balanced_and_text_is_escaped() {
    let clip = stroll(20);
    let svg = small(&clip).to_svg();
    assert!(svg.contains("&lt;jab&gt; &amp; more"));
    assert!(!svg.contains("NaN") && !svg.contains("inf"));
    for tag in ["svg", "g", "defs", "mask", "linearGradient", "text"] {
        let opened = svg.matches(&format!("<{tag} ")).count() + svg.matches(&format!("<{tag}>")).count();
        assert_eq!(opened, svg.matches(&format!("</{tag}>")).count(), "{tag}");
    }
}

#[test]
fn degenerate_and_long_skeletons_draw() {
    let one = still(&[joint("a", None, Vec3::ZERO)]);
    let stacked =
        still(&[joint("a", None, Vec3::ZERO), joint("b", Some(0), Vec3::ZERO), joint("c", Some(1), Vec3::ZERO)]);
    let mut long = vec![joint("j0", None, Vec3::ZERO)];
    for i in 1..200u16 {
        let way = Vec3::new(libm::sinf(f32::from(i)), 0.4, libm::cosf(f32::from(i))) * 0.1;
        long.push(joint(&format!("left{i}"), Some(i - 1), way));
    }
    let long = still(&long);
    for clip in [&one, &stacked, &long] {
        for layout in [Layout::Row, Layout::Travel] {
            let strip = Strip { layout, ..small(clip) };
            let image = strip.render();
            let paper = image.get(0, 0).unwrap();
            assert!(image.pixels().iter().filter(|p| **p != paper).count() > 50, "{}", clip.name);
            assert!(!strip.to_svg().contains("NaN"));
        }
    }
}

#[test]
fn any_unit_gives_the_same_figure() {
    let metres = stroll(20);
    let plain = |clip: &Clip| {
        let roles = Some(Roles::canonical());
        let figure = Figure { roles, ..Figure::new(clip) };
        let strip = Strip { grid: false, figures: vec![figure], title: Some(String::new()), ..small(clip) };
        colourful(&strip.render()).len() as f32
    };
    let expected = plain(&metres);
    for factor in [1e-4, 100.0, 1e5] {
        let skeleton = Arc::new(metres.skeleton().scaled(factor));
        let mut poses = metres.poses();
        poses.iter_mut().flat_map(|p| &mut p.translations).for_each(|t| *t *= factor);
        let mut clip = Clip::new("scaled", skeleton, 30.0, &poses).unwrap();
        (clip.contacts, clip.spans) = (metres.contacts.clone(), metres.spans.clone());
        let found = plain(&clip);
        assert!((found / expected - 1.0).abs() < 0.02, "{factor}: {found} against {expected}");
    }
}

#[test]
fn empty_and_extreme_strips_draw() {
    let clip = stroll(1);
    for strip in [
        small(&clip),
        Strip::default(),
        Strip { views: Vec::new(), ..small(&clip) },
        Strip { times: Times::At(Vec::new()), ..small(&clip) },
        Strip { times: Times::At(vec![-3.0, 99.0, f32::NAN]), ..small(&clip) },
        Strip { times: Times::Even(0), ..small(&clip) },
        Strip { times: Times::ByMotion(5), ..small(&clip) },
        Strip { width: 0, row_height: 0, ..small(&clip) },
        Strip { times: Times::Even(300), ..small(&clip) },
    ] {
        for layout in [Layout::Row, Layout::Travel] {
            let strip = Strip { layout, ..strip.clone() };
            assert!(strip.render().to_png().len() > 60);
            assert!(strip.to_svg().ends_with("</svg>\n"));
        }
    }
    assert!(Strip::default().to_gif(&Movie::default()).starts_with(b"GIF"));
    assert!(Sheet::default().render(0).width() > 0);
}

#[test]
fn props_and_opponents_are_drawn() {
    let clip = stroll(30);
    let red = kumite_picture::Rgb(220, 30, 30);
    let ball = Prop { colour: Some(red), fit: true, ..Prop::flying(0.15, vec![(0.0, Vec3::X), (1.0, Vec3::Y)]) };
    assert_eq!(ball.place(0.5), 0.5 * (Vec3::X + Vec3::Y));
    assert_eq!(ball.place(-1.0), Vec3::X);
    assert_eq!(ball.place(9.0), Vec3::Y);
    let wall = Prop::still(Shape::block(Vec3::new(1.0, 0.5, 0.0), Vec3::new(0.1, 0.5, 0.5)));
    let pole = Prop::still(Shape::Cylinder { a: Vec3::ZERO, b: Vec3::Y, radius: 0.05 });
    let other = Figure { starts_at: 0.3, ..Figure::new(&clip).coloured(Colours::SECOND) };
    let figures = vec![Figure::new(&clip), other];
    let bare = Strip { figures: figures.clone(), ..small(&clip) };
    let full = Strip { figures, props: vec![ball, wall, pole], ..small(&clip) };
    let reddish = |image: &Image| image.pixels().iter().filter(|p| p[0] > 120 && p[1] < 60 && p[2] < 60).count();
    assert!(reddish(&full.render()) > reddish(&bare.render()) + 30);
    assert!(full.to_svg().len() > bare.to_svg().len());
}

#[test]
fn moments_crowd_where_things_move() {
    let skeleton = Arc::new(humanoid::skeleton());
    let rest = Pose::rest(&skeleton);
    // Still for a second, an arm turn within a fifth of a second, still again.
    let clip = Clip::from_fn("flick", skeleton, 60.0, 121, |frame, pose| {
        pose.clone_from(&rest);
        let t = ((frame as f32 / 60.0 - 1.0) / 0.2).clamp(0.0, 1.0);
        pose.rotations[Role::LeftShoulder.joint().at()] = rotation::about(Vec3::Z, 1.5 * t);
    })
    .unwrap();
    let strip = Strip { times: Times::ByMotion(9), ..small(&clip) };
    let times: Vec<f32> = strip
        .to_svg()
        .split(" s</text>")
        .filter_map(|text| text.rsplit('>').next()?.parse().ok())
        .filter(|t: &f32| *t <= 2.0)
        .collect();
    assert!(times.iter().filter(|t| (0.95..=1.25).contains(*t)).count() >= 4, "{times:?}");
}

#[test]
fn sheets_have_pages() {
    let clip = stroll(10);
    let strips = vec![small(&clip); 5];
    let sheet = Sheet { title: "all".into(), strips, columns: 2, rows: 1, width: 300, ..Sheet::default() };
    assert_eq!(sheet.pages(), 3);
    for page in 0..4 {
        let image = sheet.render(page);
        assert_eq!(image.width(), 300);
        assert_eq!(colourful(&image).is_empty(), page == 3);
        assert!(sheet.to_svg(page).ends_with("</svg>\n"));
    }
}

#[test]
fn skeletons_with_fingers_get_thin_fingers() {
    let mut joints = humanoid::skeleton().to_joints();
    for finger in 0..5u16 {
        let base = joints.len() as u16;
        let wrist = Role::LeftWrist.joint().0;
        joints.push(joint("finger", Some(wrist), Vec3::new(0.08, 0.0, 0.02 * (f32::from(finger) - 2.0))));
        joints.push(joint("tip", Some(base), Vec3::new(0.03, 0.0, 0.0)));
    }
    let body = Body::of_skeleton(&Skeleton::new(&joints).unwrap(), Some(&Roles::canonical()));
    let hand: Vec<f32> = body.parts.iter().filter(|p| p.group == Group::LeftHand).map(|p| p.radius_b).collect();
    assert_eq!(hand.len(), 10);
    assert!(hand.iter().all(|r| *r < 0.012));
}
