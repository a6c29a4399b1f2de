//! The canvas: flat marks, trails and text on top of rendered panels, and conversion from linear light to display values.

use std::ops::{Add, Mul};
use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, Glyph, PxScale, ScaleFont, point};
use kumite_motion::Vec2;

use crate::image::Image;
use crate::page::{Anchor, Mark, Page, Trail};
use crate::theme::Rgb;

/// A colour in linear light: components proportional to energy, 1 is white.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Linear {
    r: f32,
    g: f32,
    b: f32,
}

impl Linear {
    pub(crate) const BLACK: Linear = Linear { r: 0.0, g: 0.0, b: 0.0 };
    pub(crate) const WHITE: Linear = Linear { r: 1.0, g: 1.0, b: 1.0 };

    #[inline]
    pub(crate) fn toward(self, other: Linear, t: f32) -> Linear {
        self * (1.0 - t) + other * t
    }
}

impl From<Rgb> for Linear {
    fn from(c: Rgb) -> Linear {
        // IEC 61966-2-1.
        let decode = |v: u8| {
            let v = f32::from(v) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { libm::powf((v + 0.055) / 1.055, 2.4) }
        };
        Linear { r: decode(c.0), g: decode(c.1), b: decode(c.2) }
    }
}

impl Add for Linear {
    type Output = Linear;
    #[inline]
    fn add(self, o: Linear) -> Linear {
        Linear { r: self.r + o.r, g: self.g + o.g, b: self.b + o.b }
    }
}

impl Mul<f32> for Linear {
    type Output = Linear;
    #[inline]
    fn mul(self, k: f32) -> Linear {
        Linear { r: self.r * k, g: self.g * k, b: self.b * k }
    }
}

/// Steps of the table from linear light to display values: enough that neighbours differ by less than one display step
/// except in the darkest shades.
const STEPS: usize = 8192;

pub(crate) struct Canvas {
    width: usize,
    height: usize,
    colours: Vec<Linear>,
    depths: Vec<f32>,
    /// Upper left and lower right corner of the area that may be painted.
    window: ((usize, usize), (usize, usize)),
}

impl Canvas {
    pub(crate) fn new(width: usize, height: usize, paper: Rgb) -> Canvas {
        let count = width * height;
        Canvas {
            width,
            height,
            colours: vec![Linear::from(paper); count],
            depths: vec![f32::NEG_INFINITY; count],
            window: ((0, 0), (width, height)),
        }
    }

    /// Colours from a pixel on to the right, nearer than nothing.
    pub(crate) fn put_row(&mut self, x: usize, y: usize, colours: &[Linear]) {
        if x < self.width && y < self.height {
            let count = colours.len().min(self.width - x);
            let from = y * self.width + x;
            self.colours[from..from + count].copy_from_slice(&colours[..count]);
        }
    }

    pub(crate) fn put(&mut self, x: usize, y: usize, colour: Linear, depth: f32) {
        if x < self.width && y < self.height {
            self.colours[y * self.width + x] = colour;
            self.depths[y * self.width + x] = depth;
        }
    }

    pub(crate) fn into_image(self) -> Image {
        static TABLE: OnceLock<Vec<u8>> = OnceLock::new();
        let table = TABLE.get_or_init(|| {
            let display = |i: usize| {
                let v = i as f32 / STEPS as f32;
                let v = if v <= 0.0031308 { 12.92 * v } else { 1.055 * libm::powf(v, 1.0 / 2.4) - 0.055 };
                (v * 255.0 + 0.5) as u8
            };
            (0..=STEPS).map(display).collect()
        });
        let encode = |v: f32| table[(v.clamp(0.0, 1.0) * STEPS as f32 + 0.5) as usize];
        let pixels = self.colours.iter().map(|c| [encode(c.r), encode(c.g), encode(c.b), 255]).collect();
        Image::new(self.width, self.height, pixels)
    }

    /// Blends a colour in by `cover`, which maps a pixel's middle and depth to 0 to 1.
    fn fill(&mut self, min: Vec2, max: Vec2, colour: Rgb, alpha: f32, cover: impl Fn(Vec2, f32) -> f32) {
        let colour = Linear::from(colour);
        let (low, high) = self.window;
        let clip = |v: f32, low: usize, high: usize| (v.max(0.0) as usize).clamp(low, high);
        let (x0, x1) = (clip(min.x - 1.0, low.0, high.0), clip(max.x + 2.0, low.0, high.0));
        let (y0, y1) = (clip(min.y - 1.0, low.1, high.1), clip(max.y + 2.0, low.1, high.1));
        for y in y0..y1 {
            for x in x0..x1 {
                let index = y * self.width + x;
                let t = alpha * cover(Vec2::new(x as f32 + 0.5, y as f32 + 0.5), self.depths[index]).clamp(0.0, 1.0);
                if t > 0.0 {
                    self.colours[index] = self.colours[index].toward(colour, t);
                }
            }
        }
    }

    fn line(&mut self, from: Vec2, to: Vec2, width: f32, colour: Rgb, alpha: f32, visible: impl Fn(f32, f32) -> f32) {
        let d = to - from;
        let length_squared = d.length_squared().max(1e-12);
        let half = 0.5 * width;
        let (min, max) = (from.min(to) - Vec2::splat(half), from.max(to) + Vec2::splat(half));
        self.fill(min, max, colour, alpha, |p, depth| {
            let t = ((p - from).dot(d) / length_squared).clamp(0.0, 1.0);
            (half + 0.5 - p.distance(from + d * t)).min(2.0 * half) * visible(depth, t)
        });
    }

    pub(crate) fn trail(&mut self, page: &Page, index: usize, trail: &Trail) {
        let panel = &page.panels[index];
        let corner = Vec2::new(panel.x as f32, panel.y as f32);
        let end = ((panel.x + panel.width).min(self.width), (panel.y + panel.height).min(self.height));
        self.window = ((panel.x.min(end.0), panel.y.min(end.1)), end);
        let points: Vec<_> = trail.points.iter().map(|p| panel.camera.project(*p)).collect();
        let last = points.len().saturating_sub(1).max(1) as f32;
        // A trail behind a body shows faintly through it.
        let through = |z: f32, depth: f32| if z + 2.0 < depth { 0.28 } else { 1.0 };
        for (i, pair) in points.windows(2).enumerate() {
            let (p, q) = (pair[0], pair[1]);
            let age = (i as f32 + 1.0) / last;
            let (from, to) = (corner + p.truncate(), corner + q.truncate());
            let visible = |depth: f32, t: f32| through(p.z + (q.z - p.z) * t, depth);
            self.line(from, to, 1.0 + 0.9 * age, trail.colour, 0.15 + 0.6 * age, visible);
        }
        for (i, p) in points.iter().enumerate() {
            if (points.len() - 1 - i).is_multiple_of(trail.dot_every.max(1)) {
                let age = i as f32 / last;
                let (at, radius) = (corner + p.truncate(), 1.1 + 1.0 * age);
                let (min, max) = (at - Vec2::splat(radius), at + Vec2::splat(radius));
                self.fill(min, max, trail.colour, 0.3 + 0.7 * age, |c, depth| {
                    (radius + 0.5 - c.distance(at)) * through(p.z, depth)
                });
            }
        }
        self.window = ((0, 0), (self.width, self.height));
    }

    pub(crate) fn mark(&mut self, mark: &Mark) {
        match mark {
            Mark::Line { from, to, width, colour, alpha } => {
                self.line(*from, *to, *width, *colour, *alpha, |_, _| 1.0);
            }
            Mark::Rect { min, max, corner, colour, alpha } => {
                let (middle, half) = (0.5 * (*min + *max), 0.5 * (*max - *min));
                let corner = corner.min(half.min_element());
                self.fill(*min, *max, *colour, *alpha, |p, _| {
                    let q = (p - middle).abs() - half + Vec2::splat(corner);
                    let d = q.max(Vec2::ZERO).length() + q.max_element().min(0.0) - corner;
                    0.5 - d
                });
            }
            Mark::Area { points, colour, alpha } => {
                let min = points.iter().copied().fold(Vec2::INFINITY, Vec2::min);
                let max = points.iter().copied().fold(Vec2::NEG_INFINITY, Vec2::max);
                let sides = || points.iter().zip(points.iter().cycle().skip(1));
                self.fill(min, max, *colour, *alpha, |p, _| {
                    let inside = |(a, b): (&Vec2, &Vec2)| (*b - *a).normalize_or_zero().perp_dot(p - *a);
                    0.5 + sides().map(inside).fold(f32::INFINITY, f32::min)
                });
            }
            Mark::Disc { at, radius, colour, alpha } => {
                let (min, max) = (*at - Vec2::splat(*radius), *at + Vec2::splat(*radius));
                self.fill(min, max, *colour, *alpha, |p, _| radius + 0.5 - p.distance(*at));
            }
            Mark::Text { at, size, bold, anchor, colour, text } => {
                self.text(*at, *size, *bold, *anchor, *colour, text);
            }
        }
    }

    fn text(&mut self, at: Vec2, size: f32, bold: bool, anchor: Anchor, colour: Rgb, text: &str) {
        let Some(font) = font(bold) else { return };
        let (glyphs, width) = shape_text(&font, size, text);
        let left = match anchor {
            Anchor::Start => at.x,
            Anchor::Middle => at.x - 0.5 * width,
            Anchor::End => at.x - width,
        };
        let colour = Linear::from(colour);
        for mut glyph in glyphs {
            glyph.position = point(glyph.position.x + left, at.y);
            let Some(outline) = font.outline_glyph(glyph) else { continue };
            let bounds = outline.px_bounds();
            outline.draw(|x, y, cover| {
                let (x, y) = (bounds.min.x as i64 + i64::from(x), bounds.min.y as i64 + i64::from(y));
                let (Ok(x), Ok(y)) = (usize::try_from(x), usize::try_from(y)) else { return };
                if x < self.width && y < self.height {
                    let pixel = &mut self.colours[y * self.width + x];
                    *pixel = pixel.toward(colour, cover.clamp(0.0, 1.0));
                }
            });
        }
    }
}

fn font(bold: bool) -> Option<FontRef<'static>> {
    FontRef::try_from_slice(if bold { notosans::BOLD_TTF } else { notosans::REGULAR_TTF }).ok()
}

fn shape_text(font: &FontRef<'_>, size: f32, text: &str) -> (Vec<Glyph>, f32) {
    // Sizes are em squares, as in CSS; ab_glyph scales by line height instead.
    let scale = PxScale::from(size * font.height_unscaled() / font.units_per_em().unwrap_or(1000.0));
    let scaled = font.as_scaled(scale);
    let (mut x, mut last) = (0.0, None);
    let mut glyphs = Vec::new();
    for c in text.chars() {
        let id = scaled.glyph_id(c);
        if let Some(last) = last {
            x += scaled.kern(last, id);
        }
        glyphs.push(id.with_scale_and_position(scale, point(x, 0.0)));
        x += scaled.h_advance(id);
        last = Some(id);
    }
    (glyphs, x)
}

/// Width of a text in pixels.
pub(crate) fn text_width(size: f32, bold: bool, text: &str) -> f32 {
    font(bold).map_or(0.5 * size * text.chars().count() as f32, |font| shape_text(&font, size, text).1)
}
