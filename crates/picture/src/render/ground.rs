//! The floor with its grid, and paper around it, as they are without bodies, shadows and footprints.
//!
//! It depends on the camera alone, so that a film whose camera stands still draws it once.

use kumite_motion::{Vec2, Vec3};

use super::light::smooth;
use crate::camera::Camera;
use crate::page::Panel;
use crate::paint::Linear;
use crate::theme::Theme;

/// The bare ground of a panel, pixel by pixel.
pub(crate) struct Ground {
    seen: Seen,
    colours: Vec<Linear>,
    /// How much a shadow shows: less towards the panel's borders.
    inside: Vec<f32>,
}

/// All that the bare ground depends on.
#[derive(Clone, Copy, PartialEq)]
struct Seen {
    camera: Camera,
    width: usize,
    height: usize,
    floor: Option<f32>,
    grid: f32,
    fade_from: f32,
    /// Paper, floor and the lines on it.
    colours: [Linear; 3],
}

/// One pixel of it.
#[derive(Clone, Copy)]
pub(super) struct Bare {
    pub colour: Linear,
    pub inside: f32,
}

impl Seen {
    fn of(panel: &Panel, theme: &Theme) -> Seen {
        let Panel { camera, width, height, floor, grid, fade_from, .. } = *panel;
        Seen {
            camera,
            width,
            height,
            floor,
            grid,
            fade_from,
            colours: [theme.paper, theme.floor, theme.grid].map(Linear::from),
        }
    }

    fn pixel(&self, pixel: Vec2) -> Bare {
        let [paper, floor_colour, grid] = self.colours;
        let camera = &self.camera;
        let Some(floor) = self.floor else { return Bare { colour: paper, inside: 0.0 } };
        let Some(at) = camera.on_floor(pixel, floor) else {
            // Seen edge-on, the floor is a line.
            let line = camera.project(Vec3::new(camera.target.x, floor, camera.target.z)).y;
            let colour = paper.toward(grid, (1.2 - (pixel.y - line).abs()).clamp(0.0, 1.0));
            return Bare { colour, inside: 0.0 };
        };
        let half = 0.5 * self.width as f32;
        let aside = ((pixel.x - half) / half).abs();
        let beside = smooth((1.0 - aside) / (1.0 - self.fade_from).max(0.02));
        // Fades from the feet towards the horizon and, at the lower border, towards the viewer.
        let behind = (pixel.y - camera.centre.y) / self.height as f32;
        let below = smooth((self.height as f32 - pixel.y) / (0.06 * self.height as f32).max(2.0));
        let level = camera.back.y;
        let reach = (1.6 * level).clamp(0.12, 1.0);
        let beyond = smooth(1.0 - (-behind / reach).max(0.0)) * below;
        let strength = beside * beyond;

        let mut colour = paper.toward(floor_colour, strength);
        if self.grid > 0.0 && strength > 0.0 {
            let mut line: f32 = 0.0;
            for (axis, value) in [(Vec3::X, at.x), (Vec3::Z, at.z)] {
                let away = (value / self.grid - (value / self.grid).round()).abs() * self.grid;
                // World units that one pixel spans across these lines, along the floor.
                let du = axis.dot(camera.right) / camera.scale;
                let lift = camera.up - camera.back * (camera.up.y / camera.back.y);
                let dv = axis.dot(lift) / camera.scale;
                let span = (du * du + dv * dv).sqrt().max(1e-12);
                line = line.max(
                    (1.0 - (away / span - 0.1).max(0.0)).clamp(0.0, 1.0) * (0.35 / span * self.grid / 8.0).min(1.0),
                );
            }
            colour = colour.toward(grid, 0.8 * line * strength);
        }
        Bare { colour, inside: smooth((1.0 - aside) / 0.12) * below }
    }
}

impl Ground {
    pub(crate) fn of(panel: &Panel, theme: &Theme) -> Ground {
        let seen = Seen::of(panel, theme);
        let middle = |k: usize| Vec2::new((k % seen.width) as f32 + 0.5, (k / seen.width) as f32 + 0.5);
        let bare = (0..seen.width * seen.height).map(|k| seen.pixel(middle(k)));
        let (colours, inside) = bare.map(|bare| (bare.colour, bare.inside)).unzip();
        Ground { seen, colours, inside }
    }

    /// Whether a panel shows this very ground.
    pub(crate) fn fits(&self, panel: &Panel, theme: &Theme) -> bool {
        self.seen == Seen::of(panel, theme)
    }

    pub(super) fn row(&self, y: usize) -> &[Linear] {
        &self.colours[y * self.seen.width..(y + 1) * self.seen.width]
    }

    pub(super) fn at(&self, x: usize, y: usize) -> Bare {
        let k = y * self.seen.width + x;
        Bare { colour: self.colours[k], inside: self.inside[k] }
    }
}
