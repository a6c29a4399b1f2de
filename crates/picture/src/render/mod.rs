//! Turns panels into pixels: solids as distance fields, sphere-traced along parallel rays.
//!
//! `outline` holds what a solid covers seen from the eye or the light, `trace` finds where a ray meets a body, `light`
//! shades what it met, `ground` is the floor without anybody on it. This file prepares a panel and walks over its pixels twice: every
//! ray first, then colours, with more samples where an outline crosses.
//!
//! Does not draw flat marks, trails or text (`paint` does), nor SVG. Rejected: a triangle rasteriser, which needs a mesh
//! for every shape and cannot blend neighbouring shapes into one surface.

mod ground;
mod light;
mod outline;
mod trace;

use kumite_motion::{Vec2, Vec3};
use rayon::prelude::*;

use crate::image::Image;
use crate::page::{Page, Panel, Quality};
use crate::paint::{Canvas, Linear};
use crate::shape::Field;
use crate::theme::Theme;

pub(crate) use ground::Ground;
use light::Light;
use outline::{Caster, Outline};
use trace::Hit;

/// Side of the square tiles of pixels that share one list of solids.
const TILE: usize = 8;
/// From the middle of a tile to its corners, pixels, rounded up.
const HALF_TILE: f32 = 6.0;
/// Depths of a surface over two pixels differ by less where it is not seen edge-on, pixels.
const EVEN: f32 = 3.0;
/// Stands for "no run" where a run number is expected.
const NO_RUN: u32 = u32::MAX;

/// A solid in pixel coordinates.
struct ProjectedSolid {
    field: Field,
    /// Parallel rays outside it miss the solid.
    outline: Outline,
    low: Vec2,
    high: Vec2,
    /// Depth nearest to the eye, and farthest from it.
    front: f32,
    rear: f32,
    melt: f32,
    run: u32,
    colour: Linear,
}

/// A panel with its solids projected and sorted into tiles.
struct PreparedPanel<'a> {
    panel: &'a Panel,
    ground: &'a Ground,
    solids: Vec<ProjectedSolid>,
    casters: Vec<Caster>,
    columns: usize,
    /// Per tile: solids whose outline may be in it.
    hits: Vec<Vec<u32>>,
    /// Per tile: solids near enough to darken something in it.
    nearby: Vec<Vec<u32>>,
    /// Towards the light, and two directions across it, in pixel space.
    light: Vec3,
    across: [Vec3; 2],
    sky: Vec3,
    /// Up to this distance a body darkens what is beside it, pixels.
    near: f32,
    shade: Linear,
    /// Samples along each side of a pixel that an outline crosses.
    samples: usize,
    /// A ray has met a surface when it is this near, pixels.
    touch: f32,
    /// Whether the surface is looked for near the first solid that a ray enters, and rays that enter none miss.
    hasty: bool,
}

impl Page {
    /// Draws panels, trails and marks.
    pub(crate) fn render(&self) -> Image {
        self.render_on(&[])
    }

    /// The same, with grounds made before where they fit.
    pub(crate) fn render_on(&self, grounds: &[Ground]) -> Image {
        let mut canvas = draw_panels(self, grounds);
        for (index, panel) in self.panels.iter().enumerate() {
            for trail in &panel.trails {
                canvas.trail(self, index, trail);
            }
        }
        for mark in &self.marks {
            canvas.mark(mark);
        }
        canvas.into_image()
    }
}

/// The picture without its flat marks, and the depth of every pixel (`f32::NEG_INFINITY` where there is no body).
fn draw_panels(page: &Page, grounds: &[Ground]) -> Canvas {
    let mut canvas = Canvas::new(page.width, page.height, page.theme.paper);
    for panel in &page.panels {
        let made;
        let ground = match grounds.iter().find(|ground| ground.fits(panel, &page.theme)) {
            Some(ground) => ground,
            None => {
                made = Ground::of(panel, &page.theme);
                &made
            }
        };
        let prepared = PreparedPanel::new(panel, ground, &page.theme, page.quality);
        let rows = panel.height.div_ceil(TILE);
        let traced: Vec<TileHits> =
            (0..rows * prepared.columns).into_par_iter().map(|tile| prepared.trace_tile(tile)).collect();
        let draw = |row| prepared.render_band(row, &traced);
        let bands: Vec<Band> = (0..rows).into_par_iter().map(draw).collect();
        for (y, row) in (0..panel.height).map(|y| (y, ground.row(y))) {
            canvas.put_row(panel.x, panel.y + y, row);
        }
        for (x, y, colour, depth) in bands.into_iter().flatten() {
            canvas.put(panel.x + x, panel.y + y, colour, depth);
        }
    }
    canvas
}

/// Column, row, colour and depth of the pixels of one row of tiles that do not show the bare ground.
type Band = Vec<(usize, usize, Linear, f32)>;

/// What the rays of one tile meet, row by row; empty if all of them miss.
type TileHits = Vec<Option<Hit>>;

impl<'a> PreparedPanel<'a> {
    fn new(panel: &'a Panel, ground: &'a Ground, theme: &Theme, quality: Quality) -> PreparedPanel<'a> {
        let camera = &panel.camera;
        // The lamp hangs above the viewer's left shoulder, so that shadows fall to the right and away.
        let flat = Vec3::new(camera.back.x, 0.0, camera.back.z).normalize_or(camera.up);
        let lamp = (-0.34 * camera.right + 0.90 * Vec3::Y + 0.42 * flat).normalize();
        let light = camera.turn(lamp).normalize();
        let (u, v) = light.any_orthonormal_pair();
        let sky = camera.turn(Vec3::Y).normalize();
        let from_light = |p: Vec3| Vec3::new(p.dot(u), p.dot(v), p.dot(light));

        let mut solids: Vec<ProjectedSolid> = Vec::with_capacity(panel.solids.len());
        let mut casters: Vec<Caster> = Vec::new();
        for solid in &panel.solids {
            let balls: Vec<(Vec3, f32)> =
                solid.shape.balls().into_iter().map(|(p, r)| (camera.project(p), r * camera.scale)).collect();
            let low = balls.iter().fold(Vec3::INFINITY, |m, (p, r)| m.min(*p - Vec3::splat(*r)));
            let high = balls.iter().fold(Vec3::NEG_INFINITY, |m, (p, r)| m.max(*p + Vec3::splat(*r)));
            let thin = balls.iter().map(|b| b.1).fold(f32::INFINITY, f32::min);
            solids.push(ProjectedSolid {
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
            let top = balls.iter().map(|(p, r)| p.dot(light) + r).fold(f32::NEG_INFINITY, f32::max);
            let outline = (Outline::of(&solid.shape, camera, from_light), top);
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
        let mut prepared = PreparedPanel {
            panel,
            ground,
            solids,
            casters,
            columns,
            hits: vec![Vec::new(); columns * rows],
            nearby: vec![Vec::new(); columns * rows],
            light,
            across: [u, v],
            sky,
            near: panel.near * camera.scale,
            shade: theme.shade.into(),
            samples: if quality == Quality::Still { 4 } else { 2 },
            touch: if quality == Quality::Still { 0.03 } else { 0.12 },
            hasty: quality == Quality::Moving,
        };
        prepared.sort_into_tiles(rows);
        prepared
    }

    fn sort_into_tiles(&mut self, rows: usize) {
        for (index, solid) in self.solids.iter().enumerate() {
            // What darkens a surface is looked for a third of that distance in front of it.
            for (lists, reach) in [(&mut self.hits, solid.melt), (&mut self.nearby, 1.4 * self.near)] {
                let tile = |v: f32, count: usize| ((v / TILE as f32).floor().max(0.0) as usize).min(count);
                let (x0, y0) = (tile(solid.low.x - reach, self.columns), tile(solid.low.y - reach, rows));
                let (x1, y1) = (tile(solid.high.x + reach + 8.0, self.columns), tile(solid.high.y + reach + 8.0, rows));
                for y in y0..y1 {
                    for x in x0..x1 {
                        let middle = TILE as f32 * Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                        // Boxes around limbs that lie across are mostly empty.
                        if solid.outline.distance(middle).0 < reach + HALF_TILE {
                            lists[y * self.columns + x].push(index as u32);
                        }
                    }
                }
            }
        }
    }

    fn trace_tile(&self, tile: usize) -> TileHits {
        let hits = &self.hits[tile];
        if hits.is_empty() {
            return Vec::new();
        }
        let (left, top) = (tile % self.columns * TILE, tile / self.columns * TILE);
        let middle = |k: usize| Vec2::new((left + k % TILE) as f32 + 0.5, (top + k / TILE) as f32 + 0.5);
        if !self.hasty {
            return (0..TILE * TILE).map(|k| self.trace(hits, middle(k))).collect();
        }
        // Every second ray and those along the far edges first; others meet what is between, where that is one surface.
        let sparse = |v: usize| v.is_multiple_of(2) || v == TILE - 1;
        let mut met: TileHits = vec![None; TILE * TILE];
        for k in (0..TILE * TILE).filter(|k| sparse(k % TILE) && sparse(k / TILE)) {
            met[k] = self.trace(hits, middle(k));
        }
        for k in (0..TILE * TILE).filter(|k| !(sparse(k % TILE) && sparse(k / TILE))) {
            let (aside, along) = (usize::from(!sparse(k % TILE)), usize::from(!sparse(k / TILE)) * TILE);
            let around = [k - aside - along, k + aside - along, k - aside + along, k + aside + along].map(|k| met[k]);
            met[k] = self.between(around, middle(k)).or_else(|| self.trace(hits, middle(k)));
        }
        met
    }

    /// Where a surface is in the middle of four places where it was met, if it is one solid and even enough.
    fn between(&self, around: [Option<Hit>; 4], pixel: Vec2) -> Option<Hit> {
        let [Some(a), Some(b), Some(c), Some(d)] = around else { return None };
        let depths = [a.at.z, b.at.z, c.at.z, d.at.z];
        let (low, high) = depths.iter().fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), z| (z.min(l), z.max(h)));
        let one = [b, c, d].iter().all(|hit| hit.solid == a.solid) && high - low < EVEN;
        one.then(|| Hit { at: pixel.extend(0.25 * depths.iter().sum::<f32>()), solid: a.solid })
    }

    fn render_band(&self, row: usize, traced: &[TileHits]) -> Band {
        let (mut out, mut casting) = (Vec::new(), Vec::new());
        for column in 0..self.columns {
            self.render_tile(column, row, traced, &mut casting, &mut out);
        }
        out
    }

    fn render_tile(
        &self,
        column: usize,
        row: usize,
        traced: &[TileHits],
        casting: &mut Vec<(u32, u32)>,
        out: &mut Band,
    ) {
        let tile = row * self.columns + column;
        let (hits, nearby) = (&self.hits[tile], &self.nearby[tile]);
        self.casting_on(column, row, casting);
        let prints = self.footprints_on(column, row);
        let bare = nearby.is_empty() && casting.is_empty() && !prints;
        if bare && hits.is_empty() {
            return;
        }
        let rows = traced.len() / self.columns;
        let at = |x: usize, y: usize| {
            let (column, row) = (x / TILE, y / TILE);
            let there = (column < self.columns && row < rows).then(|| &traced[row * self.columns + column]);
            there.and_then(|hits| *hits.get(y % TILE * TILE + x % TILE)?)
        };
        let (left, top) = (column * TILE, row * TILE);
        let mut lights = [(NO_RUN, None); TILE * TILE / 4];
        for y in top..(top + TILE).min(self.panel.height) {
            for x in left..(left + TILE).min(self.panel.width) {
                let pixel = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let ground = || self.shade_ground(pixel, self.ground.at(x, y), nearby, casting);
                if hits.is_empty() {
                    out.push((x, y, ground(), f32::NEG_INFINITY));
                    continue;
                }
                let here = at(x, y);
                let around = [(x.max(1) - 1, y), (x + 1, y), (x, y.max(1) - 1), (x, y + 1)];
                let depth = here.map_or(f32::NEG_INFINITY, |h| h.at.z);
                let crossed = around.iter().any(|(x, y)| self.outline_between(here, at(*x, *y)));
                let colour = match here {
                    _ if crossed => self.supersample(hits, nearby, pixel, &ground),
                    Some(hit) if self.hasty => {
                        // Four neighbours share the light that reaches the first of them.
                        let (run, light) = &mut lights[(y - top) / 2 * (TILE / 2) + (x - left) / 2];
                        let own = self.solids[hit.solid as usize].run;
                        if *run != own {
                            (*run, *light) = (own, None);
                        }
                        self.shade_hit(&hit, hits, nearby, light)
                    }
                    Some(hit) => self.shade_hit(&hit, hits, nearby, &mut None),
                    None if bare => continue,
                    None => ground(),
                };
                out.push((x, y, colour, depth));
            }
        }
    }

    /// Whether an outline runs between two neighbouring pixels: bodies differ, or depth jumps by more than 2 pixels.
    fn outline_between(&self, a: Option<Hit>, b: Option<Hit>) -> bool {
        match (a, b) {
            (None, None) => false,
            (Some(a), Some(b)) => {
                self.solids[a.solid as usize].run != self.solids[b.solid as usize].run || (a.at.z - b.at.z).abs() > 2.0
            }
            _ => true,
        }
    }

    /// Colour of a pixel that an outline crosses, averaged over a grid of samples.
    fn supersample(&self, hits: &[u32], nearby: &[u32], pixel: Vec2, shade_ground: &dyn Fn() -> Linear) -> Linear {
        let mut sum = Linear::BLACK;
        let mut ground: Option<Linear> = None;
        let mut runs = [RunSamples::NONE; 4];
        for k in 0..self.samples * self.samples {
            let (i, j) = (k % self.samples, k / self.samples);
            let step = |k: usize| (k as f32 + 0.5) / self.samples as f32 - 0.5;
            let Some(hit) = self.trace(hits, pixel + Vec2::new(step(i), step(j))) else {
                sum = sum + *ground.get_or_insert_with(shade_ground);
                continue;
            };
            let run = self.solids[hit.solid as usize].run;
            let Some(samples) = runs.iter_mut().find(|p| p.run == run || p.run == NO_RUN) else {
                sum = sum + self.shade_hit(&hit, hits, nearby, &mut None);
                continue;
            };
            // Light varies little inside a pixel, so it is computed once per run; colour, from every other sample.
            samples.run = run;
            if samples.shaded == 0 || (i + j) % 2 == 0 {
                samples.sum = samples.sum + self.shade_hit(&hit, hits, nearby, &mut samples.light);
                samples.shaded += 1;
            }
            samples.count += 1;
        }
        for samples in runs.iter().filter(|p| p.shaded > 0) {
            sum = sum + samples.sum * (samples.count as f32 / samples.shaded as f32);
        }
        sum * (1.0 / (self.samples * self.samples) as f32)
    }
}

/// The samples of one pixel that hit the same run.
#[derive(Clone, Copy)]
struct RunSamples {
    run: u32,
    light: Option<Light>,
    sum: Linear,
    shaded: u32,
    count: u32,
}

impl RunSamples {
    const NONE: RunSamples = RunSamples { run: NO_RUN, light: None, sum: Linear::BLACK, shaded: 0, count: 0 };
}
