//! Writes pages as SVG: outlines in painter's order, one gradient per colour, text as text. Does not lay pages out.

use std::fmt::Write;

use kumite_motion::{Vec2, Vec3};

use crate::camera::Camera;
use crate::page::{Anchor, Mark, Page, Panel, Solid};
use crate::shape::{Shape, flanks, hull, project_cone};
use crate::theme::{Rgb, Theme};

/// Colour of outlines: this fraction of the way from a body's colour to the theme's shade.
const OUTLINE: f32 = 0.55;

pub(crate) fn page(page: &Page) -> String {
    let mut out = Writer::default();
    let (w, h) = (page.width, page.height);
    out.put(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         font-family=\"Noto Sans, Helvetica, Arial, sans-serif\">\n"
    ));
    out.put(format_args!("<rect width=\"{w}\" height=\"{h}\" fill=\"{}\"/>\n", page.theme.paper.hex()));
    gradients(&mut out, page);
    for panel in &page.panels {
        let Panel { x, y, width, height, .. } = panel;
        out.put(format_args!("<svg x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\">\n"));
        floor(&mut out, panel, &page.theme);
        solids(&mut out, panel, &page.theme);
        trails(&mut out, panel);
        out.put(format_args!("</svg>\n"));
    }
    for mark in &page.marks {
        flat_mark(&mut out, mark);
    }
    out.put(format_args!("</svg>\n"));
    out.text
}

#[derive(Default)]
struct Writer {
    text: String,
}

impl Writer {
    fn put(&mut self, args: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(args);
    }
}

fn gradients(out: &mut Writer, page: &Page) {
    let mut colours: Vec<Rgb> = page.panels.iter().flat_map(|p| p.solids.iter().map(|s| s.colour)).collect();
    colours.sort_by_key(|c| (c.0, c.1, c.2));
    colours.dedup();
    out.put(format_args!("<defs>\n"));
    for colour in colours {
        let light = colour.mix(Rgb(255, 255, 255), 0.22).hex();
        let dark = colour.mix(page.theme.shade, 0.30).hex();
        out.put(format_args!(
            "<linearGradient id=\"{}\" x1=\".2\" y1=\"0\" x2=\".7\" y2=\"1\"><stop stop-color=\"{light}\"/>\
             <stop offset=\".45\" stop-color=\"{}\"/><stop offset=\"1\" stop-color=\"{dark}\"/></linearGradient>\n",
            id(colour),
            colour.hex(),
        ));
    }
    // Masks that fade the floor out on all sides.
    for (name, x, y, stops) in [
        (
            "beside",
            1,
            0,
            "<stop stop-color=\"#000\"/><stop offset=\".22\" stop-color=\"#fff\"/>\
                          <stop offset=\".78\" stop-color=\"#fff\"/><stop offset=\"1\" stop-color=\"#000\"/>",
        ),
        (
            "beyond",
            0,
            1,
            "<stop stop-color=\"#000\"/><stop offset=\".5\" stop-color=\"#fff\"/>\
                          <stop offset=\".92\" stop-color=\"#fff\"/><stop offset=\"1\" stop-color=\"#000\"/>",
        ),
    ] {
        out.put(format_args!(
            "<linearGradient id=\"{name}-ramp\" x2=\"{x}\" y2=\"{y}\">{stops}</linearGradient>\
             <mask id=\"{name}\" maskContentUnits=\"objectBoundingBox\">\
             <rect width=\"1\" height=\"1\" fill=\"url(#{name}-ramp)\"/></mask>\n"
        ));
    }
    out.put(format_args!("</defs>\n"));
}

fn id(colour: Rgb) -> String {
    format!("c{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

/// Grid, footprints, and shadows straight below the bodies.
fn floor(out: &mut Writer, panel: &Panel, theme: &Theme) {
    let camera = &panel.camera;
    let Some(level) = panel.floor else { return };
    let (w, h) = (panel.width as f32, panel.height as f32);
    // Begins where the floor of rendered pictures has faded out.
    let top = (camera.centre.y - 0.8 * h * (1.6 * camera.back.y).clamp(0.12, 1.0)).clamp(0.0, h);
    let corners = [(0.0, top), (w, top), (w, h), (0.0, h)].map(|(x, y)| camera.on_floor(Vec2::new(x, y), level));
    let [Some(a), Some(b), Some(c), Some(d)] = corners else {
        let y = camera.project(Vec3::new(camera.target.x, level, camera.target.z)).y;
        out.put(format_args!("<path d=\"M0 {y:.1}H{w}\" stroke=\"{}\"/>\n", theme.grid.hex()));
        return;
    };
    out.put(format_args!("<g mask=\"url(#beside)\"><g mask=\"url(#beyond)\">\n"));
    let paper = theme.floor.hex();
    out.put(format_args!("<rect y=\"{top:.1}\" width=\"{w}\" height=\"{:.1}\" fill=\"{paper}\"/>\n", h - top));
    if panel.grid > 0.0 {
        let (low, high) = (a.min(b).min(c).min(d), a.max(b).max(c).max(d));
        let mut path = String::new();
        for axis in [Vec3::X, Vec3::Z] {
            let other = Vec3::new(axis.z, 0.0, axis.x);
            let first = (low.dot(axis) / panel.grid).ceil() as i64;
            let last = (high.dot(axis) / panel.grid).floor() as i64;
            for i in first..=last.min(first + 400) {
                let base = axis * (i as f32 * panel.grid) + Vec3::Y * level;
                let ends = [low, high].map(|end| camera.project(base + other * end.dot(other)).truncate());
                if let Some([p, q]) = clip_line(ends, Vec2::new(0.0, top), Vec2::new(w, h)) {
                    let _ = write!(path, "M{:.1} {:.1}L{:.1} {:.1}", p.x, p.y, q.x, q.y);
                }
            }
        }
        let grid = theme.grid.hex();
        out.put(format_args!("<path d=\"{path}\" stroke=\"{grid}\" stroke-width=\".8\" fill=\"none\"/>\n"));
    }
    out.put(format_args!("</g></g>\n"));
    for print in &panel.footprints {
        let at = camera.project(print.at);
        let (rx, ry) = (print.radius * camera.scale, print.radius * camera.scale * camera.back.y);
        out.put(format_args!(
            "<ellipse cx=\"{:.1}\" cy=\"{cy:.1}\" rx=\"{rx:.1}\" ry=\"{ry:.1}\" fill=\"{1}\" fill-opacity=\".35\" \
             stroke=\"{1}\"/>\n",
            at.x,
            print.colour.hex(),
            cy = at.y,
        ));
    }
    out.put(format_args!("<g opacity=\".16\" fill=\"{}\">\n", theme.shade.hex()));
    for solid in &panel.solids {
        let flat = solid.shape.balls().into_iter().map(|(p, r)| (Vec3::new(p.x, level, p.z), r));
        let mut ring = Vec::new();
        for (p, r) in flat {
            let at = camera.project(p).truncate();
            let radius = Vec2::new(r, r * camera.back.y) * camera.scale;
            ring.extend((0..16).map(|i| {
                let (s, c) = libm::sincosf(i as f32 * std::f32::consts::TAU / 16.0);
                at + radius * Vec2::new(c, s)
            }));
        }
        out.put(format_args!("<path d=\"{}\"/>\n", polygon(&hull(ring))));
    }
    out.put(format_args!("</g>\n"));
}

/// The part of a line inside a rectangle (Liang and Barsky 1984).
fn clip_line(line: [Vec2; 2], low: Vec2, high: Vec2) -> Option<[Vec2; 2]> {
    let [p, q] = line;
    let d = q - p;
    let (mut from, mut to) = (0.0f32, 1.0f32);
    for (step, room) in [(-d.x, p.x - low.x), (d.x, high.x - p.x), (-d.y, p.y - low.y), (d.y, high.y - p.y)] {
        if step.abs() < 1e-9 {
            if room < 0.0 {
                return None;
            }
        } else if step < 0.0 {
            from = from.max(room / step);
        } else {
            to = to.min(room / step);
        }
    }
    (from < to).then(|| [p + d * from, p + d * to])
}

fn polygon(ring: &[Vec2]) -> String {
    let mut path = String::new();
    for (i, p) in ring.iter().enumerate() {
        let _ = write!(path, "{}{:.1} {:.1}", if i == 0 { 'M' } else { 'L' }, p.x, p.y);
    }
    path.push('Z');
    path
}

/// The outline of two discs' hull.
fn capsule(a: Vec2, ra: f32, b: Vec2, rb: f32) -> String {
    let Some([a1, b1, a2, b2]) = flanks(a, ra, b, rb) else {
        let (c, r) = if ra > rb { (a, ra) } else { (b, rb) };
        return format!(
            "M{:.1} {:.1}a{r:.1} {r:.1} 0 1 0 {:.1} 0a{r:.1} {r:.1} 0 1 0 -{:.1} 0Z",
            c.x - r,
            c.y,
            2.0 * r,
            2.0 * r
        );
    };
    let (at_b, at_a) = if ra > rb { (0, 1) } else { (1, 0) };
    format!(
        "M{:.1} {:.1}L{:.1} {:.1}A{rb:.1} {rb:.1} 0 {at_b} 0 {:.1} {:.1}\
         L{:.1} {:.1}A{ra:.1} {ra:.1} 0 {at_a} 0 {:.1} {:.1}Z",
        a1.x, a1.y, b1.x, b1.y, b2.x, b2.y, a2.x, a2.y, a1.x, a1.y
    )
}

fn solids(out: &mut Writer, panel: &Panel, theme: &Theme) {
    let camera = &panel.camera;
    let depth = |solid: &Solid| {
        let balls = solid.shape.balls();
        // A little nearer than the middle, so that a nose is drawn over its face.
        let mean = balls.iter().map(|(p, _)| camera.project(*p).z).sum::<f32>() / balls.len().max(1) as f32;
        mean + 0.3 * balls.iter().map(|b| b.1).fold(0.0, f32::max) * camera.scale
    };
    let mut order: Vec<(f32, &Solid)> = Vec::with_capacity(panel.solids.len());
    for run in panel.solids.chunk_by(|a, b| a.run == b.run) {
        // Strongly blended runs such as the trunk have one depth; limbs may reach from behind them to in front of them.
        let mean = run.iter().map(depth).sum::<f32>() / run.len() as f32;
        order.extend(run.iter().map(|s| (if s.melt >= 0.5 { mean } else { depth(s) }, s)));
    }
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    // Solids of one run become one shape unless one of another run is drawn between them.
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    for (_, solid) in order {
        let (low, high) = bounds(&solid.shape, camera);
        let apart = |p: &Piece<'_>| p.low.cmpgt(high).any() || low.cmpgt(p.high).any();
        let under = pieces.iter().rposition(|p| p.run == solid.run || !apart(p));
        match under.map(|i| &mut pieces[i]) {
            Some(piece) if piece.run == solid.run => {
                piece.solids.push(solid);
                (piece.low, piece.high) = (piece.low.min(low), piece.high.max(high));
            }
            _ => pieces.push(Piece { run: solid.run, low, high, solids: vec![solid] }),
        }
    }
    for piece in &pieces {
        let Some(colour) = piece.solids.first().map(|s| s.colour) else { continue };
        let stroke = colour.mix(theme.shade, OUTLINE).hex();
        let (mut body, mut extra) = (String::new(), Vec::new());
        for (path, fill) in piece.solids.iter().flat_map(|s| faces(s, camera)) {
            if fill == colour {
                body.push_str(&path);
            } else {
                extra.push((path, fill));
            }
        }
        // The outline first, so that no line crosses the inside of a shape.
        out.put(format_args!(
            "<path d=\"{body}\" stroke=\"{stroke}\" stroke-width=\"1.4\"/><path d=\"{body}\" fill=\"url(#{})\"/>\n",
            id(colour)
        ));
        for (path, fill) in extra {
            let fill = fill.hex();
            out.put(format_args!("<path d=\"{path}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\".7\"/>\n"));
        }
    }
}

/// Solids drawn as one shape, and the rectangle they cover.
struct Piece<'a> {
    run: u32,
    low: Vec2,
    high: Vec2,
    solids: Vec<&'a Solid>,
}

fn bounds(shape: &Shape, camera: &Camera) -> (Vec2, Vec2) {
    shape.balls().iter().fold((Vec2::INFINITY, Vec2::NEG_INFINITY), |(low, high), (p, r)| {
        let (at, r) = (camera.project(*p).truncate(), Vec2::splat(r * camera.scale));
        (low.min(at - r), high.max(at + r))
    })
}

/// Visible faces and their colours.
fn faces(solid: &Solid, camera: &Camera) -> Vec<(String, Rgb)> {
    let see = |p: Vec3| camera.project(p).truncate();
    let lit = |normal: Vec3| {
        let up = normal.y.max(0.0);
        let aside = normal.dot(camera.right);
        solid.colour.mix(Rgb(255, 255, 255), 0.25 * up).mix(Rgb(30, 30, 50), 0.18 + 0.12 * aside - 0.18 * up)
    };
    match solid.shape {
        Shape::Cone(cone) => {
            let c = project_cone(&cone, camera);
            vec![(capsule(c.a.truncate(), c.ra, c.b.truncate(), c.rb), solid.colour)]
        }
        Shape::Block { turn, .. } => {
            let corners = solid.shape.corners();
            let axes = [Vec3::X, Vec3::Y, Vec3::Z];
            let mut out = Vec::new();
            for (i, axis) in axes.iter().enumerate() {
                let normal = turn * *axis;
                let front = normal.dot(camera.back) > 0.0;
                let normal = if front { normal } else { -normal };
                let face = (0..8).filter(|k| (k >> i & 1 == 1) == front).map(|k| see(corners[k]));
                out.push((polygon(&hull(face.collect())), lit(normal)));
            }
            out
        }
        Shape::Cylinder { a, b, .. } => {
            let corners: Vec<Vec2> = solid.shape.corners().into_iter().map(see).collect();
            let (near_a, axis) = ((a - b).dot(camera.back) > 0.0, (b - a).normalize_or(Vec3::Y));
            let (first, second) = corners.split_at(corners.len() / 2);
            let (cap, normal) = if near_a { (first, -axis) } else { (second, axis) };
            let cap = hull(cap.to_vec());
            vec![(polygon(&hull(corners.clone())), solid.colour), (polygon(&cap), lit(normal))]
        }
    }
}

fn trails(out: &mut Writer, panel: &Panel) {
    for trail in &panel.trails {
        let points: Vec<Vec2> = trail.points.iter().map(|p| panel.camera.project(*p).truncate()).collect();
        let last = points.len().saturating_sub(1).max(1) as f32;
        let colour = trail.colour.hex();
        for (i, pair) in points.windows(2).enumerate() {
            let age = (i as f32 + 1.0) / last;
            out.put(format_args!(
                "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{colour}\" stroke-width=\"{:.1}\" opacity=\"{:.2}\"/>\n",
                pair[0].x,
                pair[0].y,
                pair[1].x,
                pair[1].y,
                1.0 + 0.9 * age,
                0.15 + 0.6 * age
            ));
        }
        for (i, p) in points.iter().enumerate() {
            if (points.len() - 1 - i).is_multiple_of(trail.dot_every.max(1)) {
                let age = i as f32 / last;
                out.put(format_args!(
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\" fill=\"{colour}\" opacity=\"{:.2}\"/>\n",
                    p.x,
                    p.y,
                    1.1 + age,
                    0.3 + 0.7 * age
                ));
            }
        }
    }
}

fn flat_mark(out: &mut Writer, mark: &Mark) {
    match mark {
        Mark::Text { at, size, bold, anchor, colour, text } => {
            let anchor = match anchor {
                Anchor::Start => "start",
                Anchor::Middle => "middle",
                Anchor::End => "end",
            };
            let weight = if *bold { " font-weight=\"700\"" } else { "" };
            out.put(format_args!(
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"{size}\"{weight} text-anchor=\"{anchor}\" fill=\"{}\" \
                 xml:space=\"preserve\">{}</text>\n",
                at.x,
                at.y,
                colour.hex(),
                escape(text)
            ));
        }
        Mark::Line { from, to, width, colour, alpha } => out.put(format_args!(
            "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\" stroke=\"{}\" stroke-width=\"{width}\" opacity=\"{alpha}\"/>\n",
            from.x,
            from.y,
            to.x,
            to.y,
            colour.hex()
        )),
        Mark::Rect { min, max, corner, colour, alpha } => out.put(format_args!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"{corner}\" fill=\"{}\" \
             opacity=\"{alpha}\"/>\n",
            min.x,
            min.y,
            (max.x - min.x).max(0.0),
            (max.y - min.y).max(0.0),
            colour.hex()
        )),
        Mark::Area { points, colour, alpha } => {
            let ring: String = points.iter().map(|p| format!("{:.1},{:.1} ", p.x, p.y)).collect();
            out.put(format_args!(
                "<polygon points=\"{}\" fill=\"{}\" opacity=\"{alpha}\"/>\n",
                ring.trim_end(),
                colour.hex()
            ));
        }
        Mark::Disc { at, radius, colour, alpha } => out.put(format_args!(
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius}\" fill=\"{}\" opacity=\"{alpha}\"/>\n",
            at.x,
            at.y,
            colour.hex()
        )),
    }
}

/// Text for use between SVG tags.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML allows no control characters.
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}
