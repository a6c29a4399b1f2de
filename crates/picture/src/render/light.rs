//! Colour of a surface and of the floor: a lamp, the sky, soft shadows, and darkening where bodies are nearby.
//!
//! Shadows are not traced. In the light's own view a cone is the hull of two discs, so one distance tells how far a
//! point is inside its shadow, and the height of the cone above the point how soft the edge is.

use std::ops::{Add, Mul};

use kumite_motion::{Vec2, Vec3};

use super::trace::Hit;
use super::{NO_RUN, PreparedPanel};
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
    pub(super) fn light_at(&self, hit: &Hit, normal: Vec3, nearby: &[u32]) -> Light {
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

    /// Colour of a hit; `light` if it is already known for this pixel and run.
    pub(super) fn shade_hit(&self, hit: &Hit, hits: &[u32], nearby: &[u32], light: Option<Light>) -> Linear {
        let normal = self.normal(hit, hits);
        let light = light.unwrap_or_else(|| self.light_at(hit, normal, nearby));
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

    /// Colour of floor or paper where a pixel shows no body.
    pub(super) fn shade_ground(&self, pixel: Vec2, nearby: &[u32]) -> Linear {
        let panel = self.panel;
        let camera = &panel.camera;
        let Some(floor) = panel.floor else { return self.paper };
        let Some(at) = camera.on_floor(pixel, floor) else {
            // ProjectedSolid edge-on, the floor is a line.
            let line = camera.project(Vec3::new(camera.target.x, floor, camera.target.z)).y;
            return self.paper.toward(self.grid, (1.2 - (pixel.y - line).abs()).clamp(0.0, 1.0));
        };
        let seen = camera.project(at);

        let half = 0.5 * panel.width as f32;
        let aside = ((pixel.x - half) / half).abs();
        let beside = smooth((1.0 - aside) / (1.0 - panel.fade_from).max(0.02));
        // Fades from the feet towards the horizon and, at the lower border, towards the viewer.
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
                // World units that one pixel spans across these lines, along the floor.
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
        for print in &panel.footprints {
            let d = at.distance(print.at) / print.radius;
            if d < 1.6 {
                let width = (1.2 / (print.radius * camera.scale)).max(0.02);
                let ring = (1.0 - ((d - 1.0).abs() - 0.06).max(0.0) / width).clamp(0.0, 1.0);
                let fill = ((1.0 - d) / width).clamp(0.0, 1.0);
                colour = colour.toward(print.colour.into(), (0.85 * ring).max(0.35 * fill));
            }
        }
        let shadow = self.shadow(seen, NO_RUN);
        let open = self.openness(seen, nearby, NO_RUN);
        let dark = 1.0 - (1.0 - 0.42 * shadow) * (0.35 + 0.65 * open);
        // Shadows fade out at the panel's borders.
        let inside = smooth((1.0 - aside) / 0.12) * below;
        colour.toward(self.shade, 0.85 * dark * inside)
    }
}

/// 0 below 0, 1 above 1, level at both.
#[inline]
fn smooth(t: f32) -> f32 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
