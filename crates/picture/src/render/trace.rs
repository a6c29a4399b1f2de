//! Where a ray meets a body: marching along distance fields that blend within a run.

use kumite_motion::{Vec2, Vec3};

use super::{NO_RUN, PreparedPanel, ProjectedSolid};
use crate::shape::Field;

/// Most solids one ray can meet; poses spread along a path overlap.
const MOST_MET: usize = 96;

/// Where a ray meets a solid.
#[derive(Clone, Copy)]
pub(super) struct Hit {
    pub at: Vec3,
    pub solid: u32,
}

impl PreparedPanel<'_> {
    /// Distance to the nearest run, and the nearest solid of that run.
    #[inline]
    fn field(&self, list: &[u32], p: Vec3) -> (f32, u32) {
        let (mut best, mut best_solid) = (f32::INFINITY, 0);
        let (mut run, mut run_distance, mut run_solid, mut run_nearest) = (NO_RUN, f32::INFINITY, 0, f32::INFINITY);
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

    /// The first surface that the ray into the picture at `pixel` meets.
    pub(super) fn trace(&self, list: &[u32], pixel: Vec2) -> Option<Hit> {
        // Only solids that the ray meets, or that blend into those: others would only shorten the steps.
        let (mut met, mut count) = ([0u32; MOST_MET], 0);
        let mut top = EntryBound::NONE;
        let mut rear = f32::INFINITY;
        let (mut entered, mut known) = (EntryBound::NONE, true);
        let mut run = EntryBound::NONE;
        let mut run_id = NO_RUN;
        for &index in list {
            let solid = &self.solids[index as usize];
            let aside = solid.outline.distance(pixel).0;
            if aside >= solid.melt || count == met.len() {
                continue;
            }
            (met[count], count) = (index, count + 1);
            rear = rear.min(solid.rear - solid.melt);
            if solid.run != run_id {
                (top, entered) = (top.higher(run), entered.entered_sooner(run));
                (run, run_id) = (EntryBound::NONE, solid.run);
            }
            known &= run.add(solid, index, pixel, aside);
        }
        (top, entered) = (top.higher(run), entered.entered_sooner(run));
        if let (Some(z), true) = (top.exact, top.alone) {
            return Some(Hit { at: pixel.extend(z), solid: top.solid });
        }
        let met = &met[..count];
        if self.hasty && known {
            return entered.first.map(|(z, solid)| self.swollen(met, pixel, z, solid));
        }
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
                // The balls of free space at both ends leave a gap (Keinert et al. 2014): back to the safe step.
                z += last_step - last_d;
                (last_step, last_long) = (0.0, false);
                continue;
            }
            if z < rear {
                return None;
            }
            if d < self.touch {
                // The step went well inside: back to about where it crossed the surface.
                let back = if d < -0.3 && last_step > 0.0 { last_step * d / (d - last_d) } else { 0.0 };
                return Some(Hit { at: pixel.extend(z + back), solid });
            }
            // Steps up to 1.6 times the safe one, if the distance keeps shrinking at the last step's rate.
            let slope = if last_step > 0.0 { (last_d - d) / last_step } else { 1.0 };
            // Rays along a flank would creep forever, so the shortest step grows.
            let least = 0.2 + 0.02 * i as f32;
            let step = (d / slope.max(0.1)).clamp(d, 1.6 * d).max(least);
            (last_d, last_step, last_long) = (d, step, step > d && step > least);
            z -= step;
        }
        None
    }

    /// Where the surface is in front of the place where a ray enters a solid: what blends into it there swells it.
    fn swollen(&self, met: &[u32], pixel: Vec2, z: f32, solid: u32) -> Hit {
        let (mut inside, mut depth) = (z, self.field(met, pixel.extend(z)).0);
        if depth > -self.touch {
            return Hit { at: pixel.extend(z), solid };
        }
        for _ in 0..4 {
            let outside = inside - 1.6 * depth + 0.1;
            let (d, solid) = self.field(met, pixel.extend(outside));
            if d > 0.0 {
                let z = inside + (outside - inside) * depth / (depth - d);
                return Hit { at: pixel.extend(z), solid };
            }
            (inside, depth) = (outside, d);
        }
        Hit { at: pixel.extend(inside), solid }
    }

    /// Surface normal of the blended run at a hit.
    pub(super) fn normal(&self, hit: &Hit, list: &[u32]) -> Vec3 {
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
}

/// The depth above which a ray meets nothing of a run.
#[derive(Clone, Copy)]
struct EntryBound {
    z: f32,
    /// Where the ray enters, if that is known without marching.
    exact: Option<f32>,
    /// Where it enters first, and what.
    first: Option<(f32, u32)>,
    /// Whether the ray meets only this solid of its run, so that nothing blends into it.
    alone: bool,
    solid: u32,
}

impl EntryBound {
    const NONE: EntryBound = EntryBound { z: f32::NEG_INFINITY, exact: None, first: None, alone: true, solid: NO_RUN };

    #[inline]
    fn higher(self, other: EntryBound) -> EntryBound {
        if other.z > self.z { other } else { self }
    }

    #[inline]
    fn entered_sooner(self, other: EntryBound) -> EntryBound {
        let depth = |bound: &EntryBound| bound.first.map_or(f32::NEG_INFINITY, |first| first.0);
        if depth(&other) > depth(&self) { other } else { self }
    }

    /// Adds a solid of the run; whether it is known where the ray enters it, if it does.
    #[inline]
    fn add(&mut self, solid: &ProjectedSolid, index: u32, pixel: Vec2, aside: f32) -> bool {
        let entry = match &solid.field {
            Field::Taper(taper) if aside < 0.0 => taper.enter(pixel),
            _ => None,
        };
        self.alone = self.solid == NO_RUN && entry.is_some();
        self.exact = entry;
        self.solid = index;
        if let Some(z) = entry.filter(|z| self.first.is_none_or(|first| first.0 < *z)) {
            self.first = Some((z, index));
        }
        // Blending swells the surface towards the eye; by how much is only estimated, so `trace` backs out if needed.
        let z = match entry {
            Some(z) if self.alone => z,
            Some(z) => z + 0.5 * solid.melt,
            None if aside < 0.5 * solid.melt => solid.front + solid.melt,
            None => f32::NEG_INFINITY,
        };
        self.z = self.z.max(z);
        entry.is_some() || aside >= 0.0
    }
}

/// The smaller of two distances, rounded over where they are within `k` of each other.
#[inline]
fn melt(a: f32, b: f32, k: f32) -> f32 {
    let h = (k - (a - b).abs()).max(0.0);
    a.min(b) - h * h / (4.0 * k)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Cone;
    use crate::camera::Camera;
    use crate::page::{Panel, Quality, Solid};
    use crate::render::Ground;
    use crate::shape::Shape;
    use crate::theme::{Rgb, Theme};

    /// Long steps along a ray once jumped over the body behind a grazed limb and left white fringes around overlaps.
    #[test]
    fn rays_that_graze_a_solid_hit_the_one_behind() {
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
                // A trunk of two parts, arms in front of it and behind it at various angles, a box and a pole.
                solid(cone(Vec3::new(50.0, 30.0, 0.0), 16.0, Vec3::new(50.0, 90.0, 5.0), 13.0), 0),
                solid(cone(Vec3::new(70.0, 30.0, 0.0), 16.0, Vec3::new(70.0, 90.0, -5.0), 13.0), 0),
                solid(cone(Vec3::new(30.0, 40.0, 60.0), 6.0, Vec3::new(90.0, 70.0, 20.0), 4.0), 1),
                solid(cone(Vec3::new(60.0, 20.0, -70.0), 9.0, Vec3::new(62.0, 22.0, 80.0), 7.0), 2),
                solid(cone(Vec3::new(20.0, 100.0, -40.0), 9.0, Vec3::new(110.0, 60.0, -60.0), 12.0), 3),
                solid(Shape::block(Vec3::new(80.0, 95.0, 30.0), Vec3::new(12.0, 8.0, 10.0)), 4),
                solid(Shape::Cylinder { a: Vec3::new(25.0, 5.0, 9.0), b: Vec3::new(25.0, 120.0, 9.0), radius: 5.0 }, 5),
            ],
            footprints: Vec::new(),
            trails: Vec::new(),
            fade_from: 0.5,
        };
        let ground = Ground::of(&panel, &Theme::LIGHT);
        let prepared = PreparedPanel::new(&panel, &ground, &Theme::LIGHT, Quality::Still);
        let all: Vec<u32> = (0..panel.solids.len() as u32).collect();
        for y in 0..256 {
            for x in 0..256 {
                let pixel = Vec2::new(x as f32, y as f32) * 0.5;
                let inside = prepared.solids.iter().map(|s| s.outline.distance(pixel).0).fold(f32::INFINITY, f32::min);
                let hit = prepared.trace(&all, pixel);
                if inside < -0.1 {
                    assert!(hit.is_some(), "hole at {pixel}");
                }
                if let Some(hit) = hit {
                    let first = (0..4000).map(|i| 120.0 - i as f32 * 0.06);
                    let z = first.map(|z| (z, prepared.field(&all, pixel.extend(z)).0)).find(|(_, d)| *d < 0.0);
                    let z = z.map_or(f32::NEG_INFINITY, |(z, _)| z);
                    // Along a flank a tiny error in distance is several pixels of depth.
                    assert!(hit.at.z > z - 6.0, "{pixel}: {} instead of {z}", hit.at.z);
                    assert!(prepared.field(&all, hit.at).0.abs() < 0.6, "{pixel}: off the surface");
                }
            }
        }
    }
}
