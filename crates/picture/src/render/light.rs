//! Colour of a surface and of the floor: a lamp, the sky, soft shadows, and darkening where bodies are nearby.
//!
//! Shadows are not traced. In the light's own view a cone is the hull of two discs, so one distance tells how far a
//! point is inside its shadow, and the height of the cone above the point how soft the edge is.

use std::ops::{Add, Mul};

use kumite_motion::{Vec2, Vec3};

use super::ground::Bare;
use super::outline::Outline;
use super::trace::Hit;
use super::{HALF_TILE, NO_RUN, PreparedPanel, TILE};
use crate::paint::Linear;

/// How much light reaches a point.
#[derive(Clone, Copy)]
pub(super) struct Light {
    /// 1 in the open, less beside bodies.
    pub open: f32,
    /// 0 in the light, 1 in full shadow.
    pub shadow: f32,
}

impl PreparedPanel<'_> {
    fn light_at(&self, hit: &Hit, normal: Vec3, nearby: &[u32]) -> Light {
        let run = self.solids[hit.solid as usize].run;
        let mut open = self.openness(hit.at + 0.35 * self.near * normal, nearby, run);
        if let Some(floor) = self.floor_height(hit.at) {
            // Surfaces that face down close above the floor lose half the sky.
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

    /// 1 in the open, less near solids of other runs than `own`.
    fn openness(&self, at: Vec3, nearby: &[u32], own: u32) -> f32 {
        let (mut open, mut run, mut nearest) = (1.0, NO_RUN, f32::INFINITY);
        let closed = |d: f32| {
            let t = 1.0 - (d / self.near).clamp(0.0, 1.0);
            1.0 - 0.55 * t * t
        };
        for &index in nearby {
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

    /// 0 in the light, 1 in full shadow of runs other than `own`.
    fn shadow(&self, at: Vec3, own: u32) -> f32 {
        let (p, height) = self.seen_from_light(at);
        let mut shadow: f32 = 0.0;
        for caster in &self.casters {
            let reach = caster.radius + 0.5 * self.near + 0.2 * caster.radius;
            if caster.run == own || p.distance_squared(caster.centre) > reach * reach {
                continue;
            }
            for (outline, top) in &caster.outlines {
                if *top > height {
                    shadow = shadow.max(self.cast(outline, p, height));
                }
            }
        }
        shadow
    }

    /// How much of its shadow an outline casts on a point in the light's own view.
    #[inline]
    fn cast(&self, outline: &Outline, p: Vec2, height: f32) -> f32 {
        let (d, z) = outline.distance(p);
        let above = z - height;
        if above <= 0.0 {
            return 0.0;
        }
        let soft = softness(above);
        smooth((soft - d) / (2.0 * soft)) * (above / (0.25 * self.near)).min(1.0)
    }

    /// Colour of a hit. `light` is what reaches it, if that is known from nearby; else it is found, and put there.
    pub(super) fn shade_hit(&self, hit: &Hit, hits: &[u32], nearby: &[u32], light: &mut Option<Light>) -> Linear {
        let normal = self.normal(hit, hits);
        let light = *light.get_or_insert_with(|| self.light_at(hit, normal, nearby));
        let colour = self.solids[hit.solid as usize].colour;
        let facing = normal.dot(self.light);
        let key = smooth(0.5 + 0.55 * facing) * facing.max(-0.15).mul(0.62).add(0.38).max(0.0);
        let sky = 0.5 + 0.5 * normal.dot(self.sky);
        let ambient = (0.30 + 0.26 * sky) * light.open * light.open;
        let direct = 0.78 * key * (1.0 - 0.72 * light.shadow) * (0.55 + 0.45 * light.open);
        // Darker where the surface turns away from the eye: an outline, as a pencil would draw it.
        let away = 1.0 - normal.z.clamp(0.0, 1.0);
        let ink = 1.0 - 0.55 * away * away * away;
        let half = (self.light + Vec3::Z).normalize();
        let gloss = normal.dot(half).max(0.0);
        let gloss = gloss * gloss * gloss * gloss;
        let gloss = 0.05 * gloss * gloss * gloss * gloss * (1.0 - light.shadow);
        let lit = colour * ((ambient + direct) * ink);
        lit.toward(self.shade, 0.10 * (1.0 - light.open)) + Linear::WHITE * gloss
    }

    /// Colour of floor or paper where a pixel shows no body; `casting` are the outlines whose shadows may fall there.
    pub(super) fn shade_ground(&self, pixel: Vec2, base: Bare, nearby: &[u32], casting: &[(u32, u32)]) -> Linear {
        let panel = self.panel;
        let camera = &panel.camera;
        let mut colour = base.colour;
        let Some(at) = panel.floor.and_then(|floor| camera.on_floor(pixel, floor)) else { return colour };
        for print in &panel.footprints {
            let d = at.distance(print.at) / print.radius;
            if d < PRINT {
                let width = (1.2 / (print.radius * camera.scale)).max(0.02);
                let ring = (1.0 - ((d - 1.0).abs() - 0.06).max(0.0) / width).clamp(0.0, 1.0);
                let fill = ((1.0 - d) / width).clamp(0.0, 1.0);
                colour = colour.toward(print.colour.into(), (0.85 * ring).max(0.35 * fill));
            }
        }
        if nearby.is_empty() && casting.is_empty() {
            return colour;
        }
        let seen = camera.project(at);
        let (p, height) = self.seen_from_light(seen);
        let outline = |(caster, k): &(u32, u32)| &self.casters[*caster as usize].outlines[*k as usize].0;
        let shadow = casting.iter().map(|c| self.cast(outline(c), p, height)).fold(0.0, f32::max);
        let open = self.openness(seen, nearby, NO_RUN);
        let dark = 1.0 - (1.0 - 0.42 * shadow) * (0.35 + 0.65 * open);
        colour.toward(self.shade, 0.85 * dark * base.inside)
    }

    /// Where a point is in the light's own view, and how high.
    fn seen_from_light(&self, at: Vec3) -> (Vec2, f32) {
        (Vec2::new(at.dot(self.across[0]), at.dot(self.across[1])), at.dot(self.light))
    }

    /// Which outlines may cast a shadow on the floor in a tile.
    pub(super) fn casting_on(&self, column: usize, row: usize, casting: &mut Vec<(u32, u32)>) {
        casting.clear();
        let corner = |i: usize, j: usize| TILE as f32 * Vec2::new((column + i) as f32, (row + j) as f32);
        let camera = &self.panel.camera;
        let floor = |pixel: Vec2| {
            let at = camera.on_floor(pixel, self.panel.floor?)?;
            Some(self.seen_from_light(camera.project(at)))
        };
        let corners = [corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1)].map(floor);
        let [Some(a), Some(b), Some(c), Some(d)] = corners else { return };
        // Parallel rays: the tile is a parallelogram on the floor, and seen from the light.
        let middle = 0.25 * (a.0 + b.0 + c.0 + d.0);
        let round = [a, b, c, d].iter().map(|p| p.0.distance(middle)).fold(0.0, f32::max);
        let low = [a, b, c, d].iter().map(|p| p.1).fold(f32::INFINITY, f32::min);
        for (k, caster) in self.casters.iter().enumerate() {
            let reach = caster.radius + 0.5 * self.near + 0.2 * caster.radius + round;
            if middle.distance_squared(caster.centre) > reach * reach {
                continue;
            }
            for (j, (outline, top)) in caster.outlines.iter().enumerate() {
                let soft = softness(top - low);
                if top > &low && outline.distance(middle).0 < soft + round {
                    casting.push((k as u32, j as u32));
                }
            }
        }
    }

    /// Whether a footprint may show in a tile.
    pub(super) fn footprints_on(&self, column: usize, row: usize) -> bool {
        let camera = &self.panel.camera;
        let middle = TILE as f32 * Vec2::new(column as f32 + 0.5, row as f32 + 0.5);
        self.panel.footprints.iter().any(|print| {
            let away = camera.project(print.at).truncate().distance(middle);
            away < PRINT * print.radius * camera.scale + HALF_TILE
        })
    }
}

/// Marks of feet end at this multiple of their radius.
const PRINT: f32 = 1.6;

/// Half the width of a shadow's edge, pixels, for what is so far above what it falls on.
#[inline]
fn softness(above: f32) -> f32 {
    0.8 + 0.07 * above
}

/// 0 below 0, 1 above 1, level at both.
#[inline]
pub(super) fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
