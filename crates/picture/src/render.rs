//! Panels to pixels: distance fields, sphere-traced along parallel rays, with soft shadows in closed form.
//!
//! Rejected: a triangle rasteriser, which needs meshes for every shape and melts nothing together. Shadows are not
//! traced: in the light's own view a cone is the hull of two discs, so one distance tells how far a point is
//! inside its shadow, and the height of the cone above the point how soft the edge is.

use std::ops::{Add, Mul};

use kumite_motion::{Vec2, Vec3};
use rayon::prelude::*;

use crate::body::Cone;
use crate::camera::Camera;
use crate::page::{Page, Panel};
use crate::paint::{Canvas, Linear};
use crate::shape::{Field, FlatTaper, Shape, hull, seen};
use crate::theme::{Rgb, Theme};

/// Side of the squares of pixels that share one list of solids.
const TILE: usize = 8;
/// Samples along each side of a pixel that an outline crosses.
const GRAIN: usize = 4;
/// Most solids one ray can meet; poses spread along a path overlap.
const MET: usize = 96;
/// Nobody is `NOBODY`.
const NOBODY: u32 = u32::MAX;

/// A solid as the ray sees it.
struct Seen {
    field: Field,
    /// What a parallel ray can hit at all.
    outline: Outline,
    low: Vec2,
    high: Vec2,
    /// Nearest to the eye, and farthest.
    front: f32,
    rear: f32,
    melt: f32,
    run: u32,
    colour: Linear,
}

/// Solids of one run, seen from the light.
struct Caster {
    outlines: Vec<Outline>,
    centre: Vec2,
    radius: f32,
    run: u32,
}

enum Outline {
    Taper(FlatTaper),
    /// Convex: outward normals and offsets, and the height of its middle.
    Polygon {
        edges: Vec<(Vec2, f32)>,
        height: f32,
    },
}

impl Outline {
    fn of(shape: &Shape, camera: &Camera, see: impl Fn(Vec3) -> Vec3) -> Outline {
        match shape {
            Shape::Cone(cone) => {
                let c: Cone = seen(cone, camera);
                Outline::Taper(FlatTaper::new(see(c.a), c.ra, see(c.b), c.rb))
            }
            _ => {
                let points: Vec<Vec3> = shape.corners().into_iter().map(|p| see(camera.project(p))).collect();
                let height = points.iter().map(|p| p.z).sum::<f32>() / points.len().max(1) as f32;
                let ring = hull(points.iter().map(|p| p.truncate()).collect());
                let next = ring.iter().cycle().skip(1);
                let edge = |(p, q): (&Vec2, &Vec2)| {
                    let normal = -(*q - *p).perp().normalize_or_zero();
                    (normal, normal.dot(*p))
                };
                Outline::Polygon { edges: ring.iter().zip(next).map(edge).collect(), height }
            }
        }
    }

    #[inline]
    fn distance(&self, p: Vec2) -> (f32, f32) {
        match self {
            Outline::Taper(taper) => taper.distance(p),
            Outline::Polygon { edges, height } => {
                (edges.iter().map(|(n, d)| n.dot(p) - d).fold(f32::NEG_INFINITY, f32::max), *height)
            }
        }
    }
}

/// A panel, prepared.
struct Stage<'a> {
    panel: &'a Panel,
    solids: Vec<Seen>,
    casters: Vec<Caster>,
    columns: usize,
    /// Solids whose outline may be in the tile.
    hits: Vec<Vec<u32>>,
    /// Solids near enough to darken something in the tile.
    close: Vec<Vec<u32>>,
    /// Towards the light, and two directions across it, in pixel space.
    light: Vec3,
    across: [Vec3; 2],
    sky: Vec3,
    /// Reach of closeness, pixels.
    near: f32,
    paper: Linear,
    floor: Linear,
    grid: Linear,
    shade: Linear,
}

#[derive(Clone, Copy)]
struct Hit {
    at: Vec3,
    solid: u32,
}

/// The picture without its flat marks, and how deep every pixel is (`f32::NEG_INFINITY` where nothing is).
pub(crate) fn page(page: &Page) -> Canvas {
    let mut canvas = Canvas::new(page.width, page.height, page.theme.paper);
    for panel in &page.panels {
        let stage = Stage::new(panel, &page.theme);
        let rows = (0..panel.height.div_ceil(TILE)).into_par_iter();
        let bands: Vec<Band> = rows.map_init(Tile::default, |scratch, row| stage.band(row, scratch)).collect();
        for (x, y, colour, depth) in bands.into_iter().flatten() {
            canvas.put(panel.x + x, panel.y + y, colour, depth);
        }
    }
    canvas
}

type Band = Vec<(usize, usize, Linear, f32)>;

impl<'a> Stage<'a> {
    fn new(panel: &'a Panel, theme: &Theme) -> Stage<'a> {
        let camera = &panel.camera;
        // The lamp hangs above the viewer's left shoulder, so that shadows fall to the right and away.
        let flat = Vec3::new(camera.back.x, 0.0, camera.back.z).normalize_or(camera.up);
        let lamp = (-0.34 * camera.right + 0.90 * Vec3::Y + 0.42 * flat).normalize();
        let light = camera.turn(lamp).normalize();
        let (u, v) = light.any_orthonormal_pair();
        let sky = camera.turn(Vec3::Y).normalize();
        let from_light = |p: Vec3| Vec3::new(p.dot(u), p.dot(v), p.dot(light));

        let mut solids: Vec<Seen> = Vec::with_capacity(panel.solids.len());
        let mut casters: Vec<Caster> = Vec::new();
        for solid in &panel.solids {
            let balls: Vec<(Vec3, f32)> =
                solid.shape.balls().into_iter().map(|(p, r)| (camera.project(p), r * camera.scale)).collect();
            let low = balls.iter().fold(Vec3::INFINITY, |m, (p, r)| m.min(*p - Vec3::splat(*r)));
            let high = balls.iter().fold(Vec3::NEG_INFINITY, |m, (p, r)| m.max(*p + Vec3::splat(*r)));
            let thin = balls.iter().map(|b| b.1).fold(f32::INFINITY, f32::min);
            solids.push(Seen {
                field: Field::new(&solid.shape, camera),
                outline: Outline::of(&solid.shape, camera, |p| p),
                low: low.truncate(),
                high: high.truncate(),
                front: high.z,
                rear: low.z,
                melt: (solid.melt * thin).max(0.01),
                run: solid.run,
                colour: Linear::from(solid.colour),
            });
            let outline = Outline::of(&solid.shape, camera, from_light);
            match casters.last_mut() {
                Some(last) if last.run == solid.run => last.outlines.push(outline),
                _ => {
                    casters.push(Caster { outlines: vec![outline], centre: Vec2::ZERO, radius: 0.0, run: solid.run });
                }
            }
        }
        for caster in &mut casters {
            let balls: Vec<(Vec2, f32)> = panel
                .solids
                .iter()
                .filter(|s| s.run == caster.run)
                .flat_map(|s| s.shape.balls())
                .map(|(p, r)| (from_light(camera.project(p)).truncate(), r * camera.scale))
                .collect();
            let low = balls.iter().fold(Vec2::INFINITY, |m, b| m.min(b.0));
            let high = balls.iter().fold(Vec2::NEG_INFINITY, |m, b| m.max(b.0));
            caster.centre = 0.5 * (low + high);
            caster.radius = balls.iter().map(|b| b.0.distance(caster.centre) + b.1).fold(0.0, f32::max);
        }

        let (columns, rows) = (panel.width.div_ceil(TILE), panel.height.div_ceil(TILE));
        let mut stage = Stage {
            panel,
            solids,
            casters,
            columns,
            hits: vec![Vec::new(); columns * rows],
            close: vec![Vec::new(); columns * rows],
            light,
            across: [u, v],
            sky,
            near: panel.near * camera.scale,
            paper: theme.paper.into(),
            floor: theme.floor.into(),
            grid: theme.grid.into(),
            shade: theme.shade.into(),
        };
        stage.sort_into_tiles(rows);
        stage
    }

    fn sort_into_tiles(&mut self, rows: usize) {
        for (index, solid) in self.solids.iter().enumerate() {
            for (lists, reach) in [(&mut self.hits, solid.melt), (&mut self.close, self.near)] {
                let tile = |v: f32, count: usize| ((v / TILE as f32).floor().max(0.0) as usize).min(count);
                let (x0, y0) = (tile(solid.low.x - reach, self.columns), tile(solid.low.y - reach, rows));
                let (x1, y1) = (tile(solid.high.x + reach + 8.0, self.columns), tile(solid.high.y + reach + 8.0, rows));
                for y in y0..y1 {
                    for x in x0..x1 {
                        lists[y * self.columns + x].push(index as u32);
                    }
                }
            }
        }
    }

    /// One row of tiles.
    fn band(&self, row: usize, scratch: &mut Tile) -> Band {
        let mut out = Vec::new();
        for column in 0..self.columns {
            self.tile(column, row, scratch, &mut out);
        }
        out
    }

    fn tile(&self, column: usize, row: usize, scratch: &mut Tile, out: &mut Band) {
        let index = row * self.columns + column;
        let (hits, close) = (&self.hits[index], &self.close[index]);
        // One pixel more on each side, to see outlines that run along the tile's border.
        const SIDE: usize = TILE + 2;
        let corner = (column * TILE, row * TILE);
        let middle = |i: usize, j: usize| Vec2::new((corner.0 + i) as f32 - 0.5, (corner.1 + j) as f32 - 0.5);
        scratch.hits.clear();
        if !hits.is_empty() {
            for j in 0..SIDE {
                for i in 0..SIDE {
                    scratch.hits.push(self.trace(hits, middle(i, j)));
                }
            }
        }
        for j in 1..=TILE {
            for i in 1..=TILE {
                let (x, y) = (corner.0 + i - 1, corner.1 + j - 1);
                if x >= self.panel.width || y >= self.panel.height {
                    continue;
                }
                let pixel = middle(i, j);
                let ground = || self.ground(pixel, close);
                if hits.is_empty() {
                    out.push((x, y, ground(), f32::NEG_INFINITY));
                    continue;
                }
                let at = |i: usize, j: usize| scratch.hits[j * SIDE + i];
                let here = at(i, j);
                let around = [at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1)];
                let depth = here.map_or(f32::NEG_INFINITY, |h| h.at.z);
                if around.iter().any(|other| self.edge(here, *other)) {
                    out.push((x, y, self.fine(hits, close, pixel), depth));
                } else {
                    let colour = match here {
                        Some(hit) => self.shaded(&hit, hits, close, None),
                        None => ground(),
                    };
                    out.push((x, y, colour, depth));
                }
            }
        }
    }

    fn edge(&self, a: Option<Hit>, b: Option<Hit>) -> bool {
        match (a, b) {
            (None, None) => false,
            (Some(a), Some(b)) => {
                self.solids[a.solid as usize].run != self.solids[b.solid as usize].run || (a.at.z - b.at.z).abs() > 2.0
            }
            _ => true,
        }
    }

    /// A pixel on an outline, from many samples.
    fn fine(&self, hits: &[u32], close: &[u32], pixel: Vec2) -> Linear {
        let mut sum = Linear::BLACK;
        let mut ground: Option<Linear> = None;
        let mut runs = [Patch::NONE; 4];
        for k in 0..GRAIN * GRAIN {
            let (i, j) = (k % GRAIN, k / GRAIN);
            let step = |k: usize| (k as f32 + 0.5) / GRAIN as f32 - 0.5;
            let Some(hit) = self.trace(hits, pixel + Vec2::new(step(i), step(j))) else {
                sum = sum + *ground.get_or_insert_with(|| self.ground(pixel, close));
                continue;
            };
            let run = self.solids[hit.solid as usize].run;
            let Some(patch) = runs.iter_mut().find(|p| p.run == run || p.run == NOBODY) else {
                sum = sum + self.shaded(&hit, hits, close, None);
                continue;
            };
            // Light varies little inside a pixel: found once for each run; its colour from every other sample.
            if patch.run == NOBODY {
                let light = self.light_at(&hit, self.normal(&hit, hits), close);
                *patch = Patch { run, light, ..Patch::NONE };
            }
            if patch.shaded == 0 || (i + j) % 2 == 0 {
                patch.sum = patch.sum + self.shaded(&hit, hits, close, Some(patch.light));
                patch.shaded += 1;
            }
            patch.count += 1;
        }
        for patch in runs.iter().filter(|p| p.shaded > 0) {
            sum = sum + patch.sum * (patch.count as f32 / patch.shaded as f32);
        }
        sum * (1.0 / (GRAIN * GRAIN) as f32)
    }

    /// Distance to the nearest run, and a solid of it.
    #[inline]
    fn field(&self, list: &[u32], p: Vec3) -> (f32, u32) {
        let (mut best, mut best_solid) = (f32::INFINITY, 0);
        let (mut run, mut run_distance, mut run_solid, mut run_nearest) = (NOBODY, f32::INFINITY, 0, f32::INFINITY);
        for &index in list {
            let solid = &self.solids[index as usize];
            let d = solid.field.distance(p);
            if solid.run == run {
                run_distance = melt(run_distance, d, solid.melt);
                if d < run_nearest {
                    (run_nearest, run_solid) = (d, index);
                }
            } else {
                if run_distance < best {
                    (best, best_solid) = (run_distance, run_solid);
                }
                (run, run_distance, run_solid, run_nearest) = (solid.run, d, index, d);
            }
        }
        if run_distance < best { (run_distance, run_solid) } else { (best, best_solid) }
    }

    fn trace(&self, list: &[u32], pixel: Vec2) -> Option<Hit> {
        // Only what the ray meets, or what melts into that: farther solids would just shorten the steps.
        let (mut met, mut count) = ([0u32; MET], 0);
        let mut top = Bound::NONE;
        let mut rear = f32::INFINITY;
        let mut run = Bound::NONE;
        let mut run_id = NOBODY;
        for &index in list {
            let solid = &self.solids[index as usize];
            let aside = solid.outline.distance(pixel).0;
            if aside >= solid.melt || count == met.len() {
                continue;
            }
            (met[count], count) = (index, count + 1);
            rear = rear.min(solid.rear - solid.melt);
            if solid.run != run_id {
                top = top.higher(run);
                (run, run_id) = (Bound::NONE, solid.run);
            }
            run.add(solid, index, pixel, aside);
        }
        top = top.higher(run);
        if let (Some(z), true) = (top.exact, top.alone) {
            return Some(Hit { at: pixel.extend(z), solid: top.solid });
        }
        let met = &met[..count];
        let mut z = top.z;
        if z == f32::NEG_INFINITY {
            return None;
        }
        for _ in 0..12 {
            let (d, _) = self.field(met, pixel.extend(z));
            if d > 0.0 {
                break;
            }
            z += 0.5 - d;
        }
        let (mut last_d, mut last_step, mut last_long) = (f32::INFINITY, 0.0, false);
        for i in 0..160 {
            let (d, solid) = self.field(met, pixel.extend(z));
            if last_long && d.abs() + last_d < last_step {
                // A long step whose ends know nothing of what is between (Keinert et al. 2014): back to the safe one.
                z += last_step - last_d;
                (last_step, last_long) = (0.0, false);
                continue;
            }
            if z < rear {
                return None;
            }
            if d < 0.03 {
                // Back to about where the surface was crossed.
                let back = if d < -0.3 && last_step > 0.0 { last_step * d / (d - last_d) } else { 0.0 };
                return Some(Hit { at: pixel.extend(z + back), solid });
            }
            // Flanks are met faster at up to twice the safe step, as far as the distance shrinks as it did before.
            let slope = if last_step > 0.0 { (last_d - d) / last_step } else { 1.0 };
            // Rays along a flank would creep for ever, so that the least step grows.
            let least = 0.2 + 0.02 * i as f32;
            let step = (d / slope.max(0.1)).clamp(d, 1.6 * d).max(least);
            (last_d, last_step, last_long) = (d, step, step > d && step > least);
            z -= step;
        }
        None
    }

    fn normal(&self, hit: &Hit, list: &[u32]) -> Vec3 {
        let run = self.solids[hit.solid as usize].run;
        let (mut distance, mut normal) = (f32::INFINITY, Vec3::Z);
        for &index in list {
            let solid = &self.solids[index as usize];
            if solid.run != run {
                continue;
            }
            let (d, n) = solid.field.gradient(hit.at);
            // The derivative of `melt`.
            let share = 0.5 * (solid.melt - (distance - d).abs()).max(0.0) / solid.melt;
            let share = if d < distance { 1.0 - share } else { share };
            normal = normal * (1.0 - share) + n * share;
            distance = melt(distance, d, solid.melt);
        }
        normal.normalize_or(Vec3::Z)
    }

    fn light_at(&self, hit: &Hit, normal: Vec3, close: &[u32]) -> Light {
        let run = self.solids[hit.solid as usize].run;
        let open = self.openness(hit.at + 0.35 * self.near * normal, close, run);
        let mut open = open;
        if let Some(floor) = self.floor_height(hit.at) {
            // The floor takes half the sky from what is low above it and faces down.
            let down = (-normal.dot(self.sky)).max(0.0);
            open *= 1.0 - 0.5 * down * (1.0 - (floor / (2.0 * self.near)).clamp(0.0, 1.0));
        }
        Light { open, shadow: self.shadow(hit.at + normal, run) }
    }

    /// Pixels above the floor.
    fn floor_height(&self, at: Vec3) -> Option<f32> {
        let floor = self.panel.floor?;
        Some((self.panel.camera.unproject(at).y - floor) * self.panel.camera.scale)
    }

    /// 1 in the open, less beside bodies.
    fn openness(&self, at: Vec3, close: &[u32], own: u32) -> f32 {
        let (mut open, mut run, mut nearest) = (1.0, NOBODY, f32::INFINITY);
        let closed = |d: f32| {
            let t = 1.0 - (d / self.near).clamp(0.0, 1.0);
            1.0 - 0.55 * t * t
        };
        for &index in close {
            let solid = &self.solids[index as usize];
            if solid.run == own {
                continue;
            }
            if solid.run != run {
                open *= closed(nearest);
                (run, nearest) = (solid.run, f32::INFINITY);
            }
            nearest = nearest.min(solid.field.distance(at));
        }
        open * closed(nearest)
    }

    /// 0 in the light, 1 in full shadow.
    fn shadow(&self, at: Vec3, own: u32) -> f32 {
        let p = Vec2::new(at.dot(self.across[0]), at.dot(self.across[1]));
        let height = at.dot(self.light);
        let mut shadow: f32 = 0.0;
        for caster in &self.casters {
            let reach = caster.radius + 0.5 * self.near + 0.2 * caster.radius;
            if caster.run == own || p.distance_squared(caster.centre) > reach * reach {
                continue;
            }
            for outline in &caster.outlines {
                let (d, z) = outline.distance(p);
                let above = z - height;
                if above > 0.0 {
                    let soft = 0.8 + 0.07 * above;
                    let inside = smooth((soft - d) / (2.0 * soft)) * (above / (0.25 * self.near)).min(1.0);
                    shadow = shadow.max(inside);
                }
            }
        }
        shadow
    }

    fn shaded(&self, hit: &Hit, hits: &[u32], close: &[u32], light: Option<Light>) -> Linear {
        let normal = self.normal(hit, hits);
        let light = light.unwrap_or_else(|| self.light_at(hit, normal, close));
        let colour = self.solids[hit.solid as usize].colour;
        let facing = normal.dot(self.light);
        let key = smooth(0.5 + 0.55 * facing) * facing.max(-0.15).mul(0.62).add(0.38).max(0.0);
        let sky = 0.5 + 0.5 * normal.dot(self.sky);
        let ambient = (0.30 + 0.26 * sky) * light.open * light.open;
        let direct = 0.78 * key * (1.0 - 0.72 * light.shadow) * (0.55 + 0.45 * light.open);
        // Flanks that turn away are drawn darker, as a pencil would: the outline against the paper.
        let away = 1.0 - normal.z.clamp(0.0, 1.0);
        let ink = 1.0 - 0.55 * away * away * away;
        let half = (self.light + Vec3::Z).normalize();
        let gloss = normal.dot(half).max(0.0);
        let gloss = gloss * gloss * gloss * gloss;
        let gloss = 0.05 * gloss * gloss * gloss * gloss * (1.0 - light.shadow);
        let lit = colour * ((ambient + direct) * ink);
        lit.toward(self.shade, 0.10 * (1.0 - light.open)) + Linear::WHITE * gloss
    }

    /// What the paper shows where no body is.
    fn ground(&self, pixel: Vec2, close: &[u32]) -> Linear {
        let panel = self.panel;
        let camera = &panel.camera;
        let Some(floor) = panel.floor else { return self.paper };
        let Some(at) = camera.on_floor(pixel, floor) else {
            // Seen edge-on, the floor is a line.
            let line = camera.project(Vec3::new(camera.target.x, floor, camera.target.z)).y;
            return self.paper.toward(self.grid, (1.2 - (pixel.y - line).abs()).clamp(0.0, 1.0));
        };
        let seen = camera.project(at);

        let half = 0.5 * panel.width as f32;
        let aside = ((pixel.x - half) / half).abs();
        let beside = smooth((1.0 - aside) / (1.0 - panel.fade_from).max(0.02));
        // Away from the bodies' feet towards the horizon, and towards the viewer.
        let behind = (pixel.y - camera.centre.y) / panel.height as f32;
        let below = smooth((panel.height as f32 - pixel.y) / (0.06 * panel.height as f32).max(2.0));
        let level = camera.back.y;
        let reach = (1.6 * level).clamp(0.12, 1.0);
        let beyond = smooth(1.0 - (-behind / reach).max(0.0)) * below;
        let strength = beside * beyond;

        let mut colour = self.paper.toward(self.floor, strength);
        if panel.grid > 0.0 && strength > 0.0 {
            let mut line: f32 = 0.0;
            for (axis, value) in [(Vec3::X, at.x), (Vec3::Z, at.z)] {
                let away = (value / panel.grid - (value / panel.grid).round()).abs() * panel.grid;
                // World units that one pixel spans across these lines: moving the eye's ray along the floor.
                let du = axis.dot(camera.right) / camera.scale;
                let lift = camera.up - camera.back * (camera.up.y / camera.back.y);
                let dv = axis.dot(lift) / camera.scale;
                let span = (du * du + dv * dv).sqrt().max(1e-12);
                line = line.max(
                    (1.0 - (away / span - 0.1).max(0.0)).clamp(0.0, 1.0) * (0.35 / span * panel.grid / 8.0).min(1.0),
                );
            }
            colour = colour.toward(self.grid, 0.8 * line * strength);
        }
        for print in &panel.prints {
            let d = at.distance(print.at) / print.radius;
            if d < 1.6 {
                let width = (1.2 / (print.radius * camera.scale)).max(0.02);
                let ring = (1.0 - ((d - 1.0).abs() - 0.06).max(0.0) / width).clamp(0.0, 1.0);
                let fill = ((1.0 - d) / width).clamp(0.0, 1.0);
                colour = colour.toward(print.colour.into(), (0.85 * ring).max(0.35 * fill));
            }
        }
        let shadow = self.shadow(seen, NOBODY);
        let open = self.openness(seen, close, NOBODY);
        let dark = 1.0 - (1.0 - 0.42 * shadow) * (0.35 + 0.65 * open);
        // Shadows end with the panel, softly.
        let inside = smooth((1.0 - aside) / 0.12) * below;
        colour.toward(self.shade, 0.85 * dark * inside)
    }
}

/// Above which depth a ray meets nothing of a run.
#[derive(Clone, Copy)]
struct Bound {
    z: f32,
    /// Where the ray enters, if that is known without marching.
    exact: Option<f32>,
    /// Whether there is nothing to melt into.
    alone: bool,
    solid: u32,
}

impl Bound {
    const NONE: Bound = Bound { z: f32::NEG_INFINITY, exact: None, alone: true, solid: NOBODY };

    fn higher(self, other: Bound) -> Bound {
        if other.z > self.z { other } else { self }
    }

    fn add(&mut self, solid: &Seen, index: u32, pixel: Vec2, aside: f32) {
        let entry = match &solid.field {
            Field::Taper(taper) if aside < 0.0 => taper.enter(pixel),
            _ => None,
        };
        self.alone = self.solid == NOBODY && entry.is_some();
        self.exact = entry;
        self.solid = index;
        // What melts swells towards the eye; how far is known only roughly, see `trace`.
        let z = match entry {
            Some(z) if self.alone => z,
            Some(z) => z + 0.5 * solid.melt,
            None if aside < 0.5 * solid.melt => solid.front + solid.melt,
            None => f32::NEG_INFINITY,
        };
        self.z = self.z.max(z);
    }
}

#[derive(Default)]
struct Tile {
    hits: Vec<Option<Hit>>,
}

/// What one run shows in a pixel.
#[derive(Clone, Copy)]
struct Patch {
    run: u32,
    light: Light,
    sum: Linear,
    shaded: u32,
    count: u32,
}

impl Patch {
    const NONE: Patch =
        Patch { run: NOBODY, light: Light { open: 1.0, shadow: 0.0 }, sum: Linear::BLACK, shaded: 0, count: 0 };
}

#[derive(Clone, Copy)]
struct Light {
    open: f32,
    shadow: f32,
}

/// The smaller of two distances, rounded over where they are within `k` of each other.
#[inline]
fn melt(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0);
    a.min(b) - h * h / (4.0 * k)
}

/// 0 below 0, 1 above 1, level at both.
#[inline]
fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

impl From<Rgb> for Linear {
    fn from(c: Rgb) -> Linear {
        Linear::from_rgb(c)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Solid;

    /// Long steps along a ray once jumped over what lay behind a grazed limb: white fringes around every overlap.
    #[test]
    fn rays_that_graze_something_hit_what_is_behind() {
        let camera = Camera {
            right: Vec3::X,
            up: Vec3::NEG_Y,
            back: Vec3::Z,
            scale: 1.0,
            target: Vec3::ZERO,
            centre: Vec2::ZERO,
        };
        let cone = |a: Vec3, ra: f32, b: Vec3, rb: f32| Shape::Cone(Cone { a, ra, b, rb });
        let solid = |shape: Shape, run: u32| Solid { shape, colour: Rgb(200, 100, 50), run, melt: 0.6 };
        let panel = Panel {
            x: 0,
            y: 0,
            width: 128,
            height: 128,
            camera,
            floor: None,
            grid: 0.0,
            near: 6.0,
            solids: vec![
                // A trunk of two parts, arms before and behind it at every angle, a box and a pole.
                solid(cone(Vec3::new(50.0, 30.0, 0.0), 16.0, Vec3::new(50.0, 90.0, 5.0), 13.0), 0),
                solid(cone(Vec3::new(70.0, 30.0, 0.0), 16.0, Vec3::new(70.0, 90.0, -5.0), 13.0), 0),
                solid(cone(Vec3::new(30.0, 40.0, 60.0), 6.0, Vec3::new(90.0, 70.0, 20.0), 4.0), 1),
                solid(cone(Vec3::new(60.0, 20.0, -70.0), 9.0, Vec3::new(62.0, 22.0, 80.0), 7.0), 2),
                solid(cone(Vec3::new(20.0, 100.0, -40.0), 9.0, Vec3::new(110.0, 60.0, -60.0), 12.0), 3),
                solid(Shape::block(Vec3::new(80.0, 95.0, 30.0), Vec3::new(12.0, 8.0, 10.0)), 4),
                solid(Shape::Cylinder { a: Vec3::new(25.0, 5.0, 9.0), b: Vec3::new(25.0, 120.0, 9.0), radius: 5.0 }, 5),
            ],
            prints: Vec::new(),
            trails: Vec::new(),
            fade_from: 0.5,
        };
        let stage = Stage::new(&panel, &Theme::LIGHT);
        let all: Vec<u32> = (0..panel.solids.len() as u32).collect();
        for y in 0..256 {
            for x in 0..256 {
                let pixel = Vec2::new(x as f32, y as f32) * 0.5;
                let inside = stage.solids.iter().map(|s| s.outline.distance(pixel).0).fold(f32::INFINITY, f32::min);
                let hit = stage.trace(&all, pixel);
                if inside < -0.1 {
                    assert!(hit.is_some(), "hole at {pixel}");
                }
                if let Some(hit) = hit {
                    let first = (0..4000).map(|i| 120.0 - i as f32 * 0.06);
                    let z = first.map(|z| (z, stage.field(&all, pixel.extend(z)).0)).find(|(_, d)| *d < 0.0);
                    let z = z.map_or(f32::NEG_INFINITY, |(z, _)| z);
                    // Along a flank a hair's breadth of distance is some pixels of depth.
                    assert!(hit.at.z > z - 6.0, "{pixel}: {} instead of {z}", hit.at.z);
                    assert!(stage.field(&all, hit.at).0.abs() < 0.6, "{pixel}: off the surface");
                }
            }
        }
    }
}
