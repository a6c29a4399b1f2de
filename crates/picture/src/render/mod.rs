//! Turns panels into pixels: solids as distance fields, sphere-traced along parallel rays.
//!
//! `outline` holds what a solid covers seen from the eye or the light, `trace` finds where a ray meets a body, `light`
//! shades what it met. This file prepares a panel and walks over its pixels, with more samples where an outline crosses.
//!
//! Does not draw flat marks, trails or text (`paint` does), nor SVG. Rejected: a triangle rasteriser, which needs a mesh
//! for every shape and cannot blend neighbouring shapes into one surface.

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

use light::Light;
use outline::{Caster, Outline};
use trace::Hit;

/// Side of the square tiles of pixels that share one list of solids.
const TILE: usize = 8;
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
    paper: Linear,
    floor: Linear,
    grid: Linear,
    shade: Linear,
    /// Samples along each side of a pixel that an outline crosses.
    samples: usize,
    /// A ray has met a surface when it is this near, pixels.
    touch: f32,
}

impl Page {
    /// Draws panels, trails and marks.
    pub(crate) fn render(&self) -> Image {
        let mut canvas = draw_panels(self);
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
fn draw_panels(page: &Page) -> Canvas {
    let mut canvas = Canvas::new(page.width, page.height, page.theme.paper);
    for panel in &page.panels {
        let prepared = PreparedPanel::new(panel, &page.theme, page.quality);
        let rows = (0..panel.height.div_ceil(TILE)).into_par_iter();
        let bands: Vec<Band> =
            rows.map_init(TileScratch::default, |scratch, row| prepared.render_band(row, scratch)).collect();
        for (x, y, colour, depth) in bands.into_iter().flatten() {
            canvas.put(panel.x + x, panel.y + y, colour, depth);
        }
    }
    canvas
}

/// Column, row, colour and depth of each pixel in one row of tiles.
type Band = Vec<(usize, usize, Linear, f32)>;

impl<'a> PreparedPanel<'a> {
    fn new(panel: &'a Panel, theme: &Theme, quality: Quality) -> PreparedPanel<'a> {
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
        let mut prepared = PreparedPanel {
            panel,
            solids,
            casters,
            columns,
            hits: vec![Vec::new(); columns * rows],
            nearby: vec![Vec::new(); columns * rows],
            light,
            across: [u, v],
            sky,
            near: panel.near * camera.scale,
            paper: theme.paper.into(),
            floor: theme.floor.into(),
            grid: theme.grid.into(),
            shade: theme.shade.into(),
            samples: if quality == Quality::Still { 4 } else { 2 },
            touch: if quality == Quality::Still { 0.03 } else { 0.12 },
        };
        prepared.sort_into_tiles(rows);
        prepared
    }

    fn sort_into_tiles(&mut self, rows: usize) {
        for (index, solid) in self.solids.iter().enumerate() {
            for (lists, reach) in [(&mut self.hits, solid.melt), (&mut self.nearby, self.near)] {
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

    fn render_band(&self, row: usize, scratch: &mut TileScratch) -> Band {
        let mut out = Vec::new();
        for column in 0..self.columns {
            self.render_tile(column, row, scratch, &mut out);
        }
        out
    }

    fn render_tile(&self, column: usize, row: usize, scratch: &mut TileScratch, out: &mut Band) {
        let index = row * self.columns + column;
        let (hits, nearby) = (&self.hits[index], &self.nearby[index]);
        // A border of one pixel, so that outlines along the tile's edge are found.
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
                let ground = || self.shade_ground(pixel, nearby);
                if hits.is_empty() {
                    out.push((x, y, ground(), f32::NEG_INFINITY));
                    continue;
                }
                let at = |i: usize, j: usize| scratch.hits[j * SIDE + i];
                let here = at(i, j);
                let around = [at(i - 1, j), at(i + 1, j), at(i, j - 1), at(i, j + 1)];
                let depth = here.map_or(f32::NEG_INFINITY, |h| h.at.z);
                if around.iter().any(|other| self.outline_between(here, *other)) {
                    out.push((x, y, self.supersample(hits, nearby, pixel), depth));
                } else {
                    let colour = match here {
                        Some(hit) => self.shade_hit(&hit, hits, nearby, None),
                        None => ground(),
                    };
                    out.push((x, y, colour, depth));
                }
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
    fn supersample(&self, hits: &[u32], nearby: &[u32], pixel: Vec2) -> Linear {
        let mut sum = Linear::BLACK;
        let mut ground: Option<Linear> = None;
        let mut runs = [RunSamples::NONE; 4];
        for k in 0..self.samples * self.samples {
            let (i, j) = (k % self.samples, k / self.samples);
            let step = |k: usize| (k as f32 + 0.5) / self.samples as f32 - 0.5;
            let Some(hit) = self.trace(hits, pixel + Vec2::new(step(i), step(j))) else {
                sum = sum + *ground.get_or_insert_with(|| self.shade_ground(pixel, nearby));
                continue;
            };
            let run = self.solids[hit.solid as usize].run;
            let Some(samples) = runs.iter_mut().find(|p| p.run == run || p.run == NO_RUN) else {
                sum = sum + self.shade_hit(&hit, hits, nearby, None);
                continue;
            };
            // Light varies little inside a pixel, so it is computed once per run; colour, from every other sample.
            if samples.run == NO_RUN {
                let light = self.light_at(&hit, self.normal(&hit, hits), nearby);
                *samples = RunSamples { run, light, ..RunSamples::NONE };
            }
            if samples.shaded == 0 || (i + j) % 2 == 0 {
                samples.sum = samples.sum + self.shade_hit(&hit, hits, nearby, Some(samples.light));
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

/// Hits of one tile and its border, reused from tile to tile.
#[derive(Default)]
struct TileScratch {
    hits: Vec<Option<Hit>>,
}

/// The samples of one pixel that hit the same run.
#[derive(Clone, Copy)]
struct RunSamples {
    run: u32,
    light: Light,
    sum: Linear,
    shaded: u32,
    count: u32,
}

impl RunSamples {
    const NONE: RunSamples =
        RunSamples { run: NO_RUN, light: Light { open: 1.0, shadow: 0.0 }, sum: Linear::BLACK, shaded: 0, count: 0 };
}
