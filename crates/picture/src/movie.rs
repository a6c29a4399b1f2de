//! Motions as animated GIF: one palette for all frames, and only the pixels that change from frame to frame.

use std::borrow::Cow;

use kumite_motion::{Vec2, Vec3};

use crate::camera::{Camera, View};
use crate::image::Image;
use crate::page::{Anchor, Mark, Page, Quality};
use crate::strip::{Extent, PreparedStrip, Strip, Times, Window};

/// How a motion is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Movie {
    /// Frames per second. GIF counts hundredths of a second: 20, 25 and 50 are exact.
    pub fps: f32,
    /// 0.5 plays at half speed.
    pub speed: f32,
    /// Part of the motion to show, seconds; `None` for all of it.
    pub range: Option<(f32, f32)>,
    /// Colours of the palette, 8 to 255. Fewer make smaller files and visible bands.
    pub colours: usize,
    /// Most frames; longer motions are cut off.
    pub most_frames: usize,
}

impl Default for Movie {
    fn default() -> Self {
        Movie { fps: 50.0, speed: 1.0, range: None, colours: 128, most_frames: 1500 }
    }
}

impl Strip<'_> {
    /// The motion as a looping GIF, seen from the first view. Width, row height, theme, floor and trails are the strip's;
    /// times and layout are not used. With [`Window::Pose`] the picture follows figures that travel.
    pub fn to_gif(&self, movie: &Movie) -> Vec<u8> {
        let (from, to) = movie
            .range
            .unwrap_or_else(|| (0.0, self.figures.iter().map(|a| a.starts_at + a.clip.seconds()).fold(0.0, f32::max)));
        let fps = if movie.fps.is_finite() && movie.fps > 0.0 { movie.fps.min(50.0) } else { 25.0 };
        let speed = if movie.speed.is_finite() && movie.speed > 0.0 { movie.speed } else { 1.0 };
        let delay = (100.0 / fps).round().max(2.0);
        let step = speed * delay / 100.0;
        let count = ((((to - from) / step).max(0.0) as usize) + 1).min(movie.most_frames.max(1));
        let times = (0..count).map(|i| from + i as f32 * step).collect();
        let strip = Strip { times: Times::At(times), ..self.clone() };
        let prepared = PreparedStrip::new(&strip);
        let frames: Vec<Image> = pages(&prepared).iter().map(|page| page.render()).collect();
        encode(&frames, delay as u16, movie.colours.clamp(8, 255))
    }
}

/// One page per moment, all of one size.
fn pages(prepared: &PreparedStrip<'_>) -> Vec<Page> {
    let strip = prepared.strip;
    let view = strip.views.first().cloned().unwrap_or_else(View::three_quarter);
    let forward = prepared.forward(false);
    let camera = Camera::looking(&view, forward);
    let mut middles: Vec<Vec3> = prepared.moments.iter().map(|m| prepared.middle(m)).collect();
    let low = middles.iter().copied().fold(Vec3::INFINITY, Vec3::min);
    let high = middles.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
    // The camera stands still for the steps of a fight and follows longer walks.
    if strip.window == Window::World || (high - low).length() < 1.2 * prepared.height {
        middles.fill(0.5 * (low + high));
    }
    let extents =
        prepared.moments.iter().zip(&middles).map(|(m, at)| prepared.extent(m, &Camera { target: *at, ..camera }));
    let all = extents.fold(Extent::EMPTY, Extent::or);
    let air = 0.10 * prepared.height;
    let (width, most) = (strip.width.max(64), strip.row_height.max(64));
    let size = all.size() + Vec2::new(2.0 * air, 2.3 * air);
    let scale = (width as f32 / size.x).min(most as f32 / size.y);
    let height = (size.y * scale).ceil() as usize;
    let centre = Vec2::new(0.5 * width as f32 - 0.5 * (all.low.x + all.high.x) * scale, -(all.low.y - air) * scale);
    let step = prepared.moments.get(1).map_or(0.0, |m| m.time - prepared.moments[0].time);
    let mut pages = Vec::with_capacity(prepared.moments.len());
    for (moment, middle) in prepared.moments.iter().zip(&middles) {
        let camera = Camera { scale, target: *middle, centre, ..camera };
        let mut panel = prepared.panel(camera, 0, 0, width, height);
        panel.fade_from = 0.75;
        prepared.fill(&mut panel, moment, 0, 0.0, strip.trails.seconds.max(step));
        prepared.fill_props(&mut panel, moment.time, u32::MAX / 2);
        let mut page = Page {
            quality: Quality::Moving,
            width,
            height,
            theme: strip.theme,
            panels: vec![panel],
            marks: Vec::new(),
        };
        if strip.captions {
            page.marks.push(Mark::Text {
                at: Vec2::new(width as f32 - 8.0, 6.0 + strip.letters),
                size: strip.letters,
                bold: false,
                anchor: Anchor::End,
                colour: strip.theme.faint,
                text: format!("{:.2} s", moment.time),
            });
            let title = strip.title.clone().or_else(|| Some(strip.figures.first()?.clip.name.clone()));
            page.marks.push(Mark::Text {
                at: Vec2::new(8.0, 6.0 + strip.letters),
                size: strip.letters,
                bold: true,
                anchor: Anchor::Start,
                colour: strip.theme.ink,
                text: title.unwrap_or_default(),
            });
        }
        pages.push(page);
    }
    pages
}

/// Bits kept of each colour component when the palette is made.
const BITS: u32 = 6;

/// Ordered dither (Bayer 1973), in display steps: hides bands in the few shades of the floor. Its pattern is fixed, so
/// pixels that do not move do not change.
const DITHER: [[i16; 4]; 4] = [[-4, 0, -3, 1], [2, -2, 3, -1], [-3, 2, -4, 1], [4, -1, 3, -2]];

/// Per pixel: the index of its cell in reduced colour space, and its dithered colour.
fn cells(image: &Image) -> impl Iterator<Item = (usize, [u8; 3])> + '_ {
    image.pixels().iter().enumerate().map(|(i, p)| {
        let shift = DITHER[i / image.width() % 4][i % image.width() % 4];
        let c = [p[0], p[1], p[2]].map(|v| (i16::from(v) + shift).clamp(0, 255) as u8);
        (c.iter().fold(0, |index, v| index << BITS | usize::from(v >> (8 - BITS))), c)
    })
}

fn encode(frames: &[Image], delay: u16, colours: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let Some(first) = frames.first() else { return bytes };
    let (palette, lookup) = palette(frames, colours);
    let (width, height) = (first.width() as u16, first.height() as u16);
    // Index 0 is transparent: the pixel stays as it was. Colours follow.
    let mut table = vec![0, 0, 0];
    table.extend(palette.iter().flatten());
    let written = gif::Encoder::new(&mut bytes, width, height, &table).and_then(|mut encoder| {
        encoder.set_repeat(gif::Repeat::Infinite)?;
        let mut before: Vec<u8> = Vec::new();
        for image in frames {
            let indices: Vec<u8> = cells(image).map(|(cell, _)| lookup[cell]).collect();
            encoder.write_frame(&difference(&before, &indices, width, height, delay))?;
            before = indices;
        }
        Ok(())
    });
    // Writing to memory does not fail, and no frame is larger than the first.
    debug_assert!(written.is_ok());
    bytes
}

/// The smallest rectangle around all changed pixels, with unchanged ones transparent.
fn difference(before: &[u8], now: &[u8], width: u16, height: u16, delay: u16) -> gif::Frame<'static> {
    let w = usize::from(width);
    let changed = |i: usize| before.get(i) != Some(&now[i]);
    let (mut left, mut right, mut top, mut bottom) = (w, 0, usize::from(height), 0);
    for i in (0..now.len()).filter(|i| changed(*i)) {
        (left, right) = (left.min(i % w), right.max(i % w + 1));
        (top, bottom) = (top.min(i / w), bottom.max(i / w + 1));
    }
    if left >= right {
        (left, right, top, bottom) = (0, 1, 0, 1);
    }
    let mut buffer = Vec::with_capacity((right - left) * (bottom - top));
    for y in top..bottom {
        buffer.extend((left..right).map(|x| if changed(y * w + x) { now[y * w + x] } else { 0 }));
    }
    gif::Frame {
        delay,
        dispose: gif::DisposalMethod::Keep,
        transparent: Some(0),
        left: left as u16,
        top: top as u16,
        width: (right - left) as u16,
        height: (bottom - top) as u16,
        buffer: Cow::Owned(buffer),
        ..gif::Frame::default()
    }
}

/// Palette of all frames by median cut (Heckbert 1982), and for each colour cell its index in the GIF's table.
fn palette(frames: &[Image], colours: usize) -> (Vec<[u8; 3]>, Vec<u8>) {
    let mut counts = vec![(0u64, [0u64; 3]); 1 << (3 * BITS)];
    // Every fourth frame and the last show every colour there is.
    for (cell, pixel) in frames.iter().step_by(4).chain(frames.last()).flat_map(cells) {
        let (count, sums) = &mut counts[cell];
        *count += 1;
        for (sum, v) in sums.iter_mut().zip(pixel) {
            *sum += u64::from(v);
        }
    }
    let mean = |index: usize| counts[index].1.map(|s| s as f32 / counts[index].0.max(1) as f32);
    // Square roots, because otherwise the background's many pixels would take most of the palette.
    let weight = |index: usize| (counts[index].0 as f32).sqrt();
    let mut seen = vec![false; counts.len()];
    frames.iter().flat_map(cells).for_each(|(cell, _)| seen[cell] = true);
    let seen = (0..counts.len()).filter(|i| seen[*i]);
    let used: Vec<usize> = (0..counts.len()).filter(|i| counts[*i].0 > 0).collect();
    let mut boxes = vec![used.clone()];
    while boxes.len() < colours {
        let spread = |cells: &Vec<usize>| {
            let wide = |k: usize| {
                let low = cells.iter().map(|i| mean(*i)[k]).fold(f32::INFINITY, f32::min);
                let high = cells.iter().map(|i| mean(*i)[k]).fold(f32::NEG_INFINITY, f32::max);
                // The eye is most sensitive to green, least to blue.
                (high - low) * [0.8, 1.0, 0.6][k]
            };
            (0..3).map(|k| (wide(k), k)).fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
        };
        let score = |cells: &Vec<usize>| spread(cells).0 * libm::powf(cells.iter().map(|i| weight(*i)).sum(), 0.4);
        let scored = boxes.iter().enumerate().filter(|(_, b)| b.len() > 1).map(|(i, b)| (i, score(b)));
        let Some((worst, _)) = scored.max_by(|a, b| a.1.total_cmp(&b.1)) else { break };
        let mut cells = boxes.swap_remove(worst);
        let axis = spread(&cells).1;
        cells.sort_by(|a, b| mean(*a)[axis].total_cmp(&mean(*b)[axis]).then(a.cmp(b)));
        let half = 0.5 * cells.iter().map(|i| weight(*i)).sum::<f32>();
        let mut sum = 0.0;
        let middle = cells.iter().take_while(|i| {
            sum += weight(**i);
            sum < half
        });
        let cut = middle.count().clamp(1, cells.len() - 1);
        boxes.push(cells.split_off(cut));
        boxes.push(cells);
    }
    let middle = |cells: &Vec<usize>| {
        let total: u64 = cells.iter().map(|i| counts[*i].0).sum();
        let sum = |k: usize| cells.iter().map(|i| counts[*i].1[k]).sum::<u64>();
        [0, 1, 2].map(|k| ((sum(k) + total / 2) / total.max(1)) as u8)
    };
    let palette: Vec<[u8; 3]> = boxes.iter().filter(|b| !b.is_empty()).map(middle).collect();
    // Cells that only other frames have are looked up by their middle.
    let mut lookup = vec![0u8; counts.len()];
    let middle_of = |index: usize| {
        let part = |shift: u32| ((index >> (shift * BITS)) & ((1 << BITS) - 1)) as f32;
        let wide = (1 << (8 - BITS)) as f32;
        [part(2), part(1), part(0)].map(|v| (v + 0.5) * wide)
    };
    for index in seen {
        let c = if counts[index].0 > 0 { mean(index) } else { middle_of(index) };
        let off = |p: &[u8; 3]| (0..3).map(|k| (f32::from(p[k]) - c[k]) * (f32::from(p[k]) - c[k])).sum::<f32>();
        let nearest = palette.iter().enumerate().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
        lookup[index] = nearest.map_or(0, |(i, _)| i as u8 + 1);
    }
    (palette, lookup)
}
