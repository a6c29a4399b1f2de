//! Motions as films: MP4, and GIF with one palette for all frames, and only the pixels that change from frame to frame.

use std::borrow::Cow;

use kumite_motion::{Vec2, Vec3};
use rayon::prelude::*;

use crate::camera::{Camera, View};
use crate::image::Image;
use crate::page::{Anchor, Mark, Page, Quality};
use crate::render::Ground;
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
        let (strip, delay) = self.filmed(movie);
        let prepared = PreparedStrip::new(&strip);
        let Some(changes) = Changes::of(&pages(&prepared)) else { return Vec::new() };
        encode(&changes, delay as u16, movie.colours.clamp(8, 255))
    }

    /// The same as MP4 (H.264), in all colours.
    #[cfg(feature = "mp4")]
    pub fn to_mp4(&self, movie: &Movie) -> Result<Vec<u8>, crate::VideoError> {
        let (strip, delay) = self.filmed(movie);
        let prepared = PreparedStrip::new(&strip);
        let pages = pages(&prepared);
        let (width, height) = pages.first().map_or((2, 2), |page| (page.width, page.height));
        let mut film = crate::video::Film::new(width, height, delay / 100.0)?;
        let grounds = grounds(&pages);
        for some in pages.chunks(AT_ONCE) {
            let drawn: Vec<Image> = some.par_iter().map(|page| page.render_on(&grounds)).collect();
            drawn.iter().try_for_each(|image| film.add(image))?;
        }
        film.finish()
    }

    /// With the moments of a film, and the hundredths of a second between them.
    fn filmed(&self, movie: &Movie) -> (Strip<'_>, f32) {
        let (from, to) = movie
            .range
            .unwrap_or_else(|| (0.0, self.figures.iter().map(|a| a.starts_at + a.clip.seconds()).fold(0.0, f32::max)));
        let fps = if movie.fps.is_finite() && movie.fps > 0.0 { movie.fps.min(50.0) } else { 25.0 };
        let speed = if movie.speed.is_finite() && movie.speed > 0.0 { movie.speed } else { 1.0 };
        let delay = (100.0 / fps).round().max(2.0);
        let step = speed * delay / 100.0;
        let count = ((((to - from) / step).max(0.0) as usize) + 1).min(movie.most_frames.max(1));
        let times = (0..count).map(|i| from + i as f32 * step).collect();
        (Strip { times: Times::At(times), ..self.clone() }, delay)
    }
}

/// If the camera stands still, so does the floor.
fn grounds(pages: &[Page]) -> Vec<Ground> {
    pages.iter().take(1).flat_map(|page| page.panels.iter().map(|panel| Ground::of(panel, &page.theme))).collect()
}

/// What changes from frame to frame: the first frame whole, and of each other one the smallest rectangle around what is new in it.
struct Changes {
    width: usize,
    height: usize,
    frames: Vec<Change>,
}

/// A part of a frame.
struct Change {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
    /// Row by row; `None` where a pixel stays as it was.
    pixels: Vec<Option<[u8; 3]>>,
}

/// Frames drawn at once: enough for many cores, and few enough to be held in memory whole.
const AT_ONCE: usize = 32;

impl Changes {
    /// Draws the pages; `None` if there are none.
    fn of(pages: &[Page]) -> Option<Changes> {
        let first = pages.first()?;
        let grounds = grounds(pages);
        let mut frames = Vec::with_capacity(pages.len());
        let mut before: Option<Image> = None;
        for some in pages.chunks(AT_ONCE) {
            let drawn: Vec<Image> = some.par_iter().map(|page| page.render_on(&grounds)).collect();
            let olds: Vec<Option<&Image>> = before.iter().map(Some).chain(drawn.iter().map(Some)).collect();
            let olds = if before.is_some() { olds } else { [vec![None], olds].concat() };
            frames.par_extend(drawn.par_iter().zip(&olds[..drawn.len()]).map(|(now, old)| Change::between(*old, now)));
            before = drawn.into_iter().next_back();
        }
        Some(Changes { width: first.width, height: first.height, frames })
    }
}

impl Change {
    fn between(before: Option<&Image>, now: &Image) -> Change {
        let (w, h) = (now.width(), now.height());
        let row = |image: &Image, y: usize| -> std::ops::Range<usize> { y * image.width()..(y + 1) * image.width() };
        let (mut left, mut right, mut top, mut bottom) = (w, 0, h, 0);
        match before {
            None => (left, right, top, bottom) = (0, w, 0, h),
            Some(old) => {
                for y in 0..h {
                    let (a, b) = (&old.pixels()[row(old, y)], &now.pixels()[row(now, y)]);
                    if a == b {
                        continue;
                    }
                    let differs = |x: &usize| a[*x] != b[*x];
                    let (from, to) = ((0..w).find(differs), (0..w).rev().find(differs));
                    (left, right) = (left.min(from.unwrap_or(w)), right.max(to.map_or(0, |x| x + 1)));
                    (top, bottom) = (top.min(y), y + 1);
                }
            }
        }
        if left >= right {
            (left, right, top, bottom) = (0, 1, 0, 1);
        }
        let mut pixels = Vec::with_capacity((right - left) * (bottom - top));
        for k in (top..bottom).flat_map(|y| y * w + left..y * w + right) {
            let new = now.pixels()[k];
            let same = before.is_some_and(|old| old.pixels()[k] == new);
            pixels.push((!same).then(|| [new[0], new[1], new[2]]));
        }
        Change { left, top, width: right - left, height: bottom - top, pixels }
    }

    /// Per pixel that changes: where it is in the rectangle, the index of its cell in reduced colour space, and its dithered colour.
    fn cells(&self) -> impl Iterator<Item = (usize, usize, [u8; 3])> + '_ {
        self.pixels.iter().enumerate().filter_map(|(i, pixel)| {
            let shift = DITHER[(self.top + i / self.width) % 4][(self.left + i % self.width) % 4];
            let c = (*pixel)?.map(|v| (i16::from(v) + shift).clamp(0, 255) as u8);
            Some((i, c.iter().fold(0, |index, v| index << BITS | usize::from(v >> (8 - BITS))), c))
        })
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

fn encode(changes: &Changes, delay: u16, colours: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let (palette, lookup) = palette(&changes.frames, colours);
    let (width, height) = (changes.width as u16, changes.height as u16);
    // Index 0 is transparent: the pixel stays as it was. Colours follow.
    let mut table = vec![0, 0, 0];
    table.extend(palette.iter().flatten());
    let mut shown = vec![0; changes.width * changes.height];
    let frame = |change: &Change| frame(change, &lookup, &mut shown, changes.width, delay);
    let mut frames: Vec<gif::Frame<'static>> = changes.frames.iter().map(frame).collect();
    frames.par_iter_mut().for_each(gif::Frame::make_lzw_pre_encoded);
    let written = gif::Encoder::new(&mut bytes, width, height, &table).and_then(|mut encoder| {
        encoder.set_repeat(gif::Repeat::Infinite)?;
        frames.iter().try_for_each(|frame| encoder.write_lzw_pre_encoded_frame(frame))
    });
    // Writing to memory does not fail, and no frame is larger than the first.
    debug_assert!(written.is_ok());
    bytes
}

/// The pixels of a frame whose index is another than `shown`, in the smallest rectangle around them; the others are transparent.
fn frame(change: &Change, lookup: &[u8], shown: &mut [u8], width: usize, delay: u16) -> gif::Frame<'static> {
    let mut whole = vec![0; change.pixels.len()];
    let (mut left, mut right, mut top, mut bottom) = (change.width, 0, change.height, 0);
    for (at, cell, _) in change.cells() {
        let (x, y) = (at % change.width, at / change.width);
        let before = &mut shown[(change.top + y) * width + change.left + x];
        if *before != lookup[cell] {
            *before = lookup[cell];
            whole[at] = lookup[cell];
            (left, right, top, bottom) = (left.min(x), right.max(x + 1), top.min(y), bottom.max(y + 1));
        }
    }
    if left >= right {
        (left, right, top, bottom) = (0, 1, 0, 1);
    }
    let buffer = (top..bottom).flat_map(|y| &whole[y * change.width + left..y * change.width + right]).copied();
    gif::Frame {
        delay,
        dispose: gif::DisposalMethod::Keep,
        transparent: Some(0),
        left: (change.left + left) as u16,
        top: (change.top + top) as u16,
        width: (right - left) as u16,
        height: (bottom - top) as u16,
        buffer: Cow::Owned(buffer.collect()),
        ..gif::Frame::default()
    }
}

/// Palette of all frames by median cut (Heckbert 1982), and for each colour cell its index in the GIF's table.
fn palette(frames: &[Change], colours: usize) -> (Vec<[u8; 3]>, Vec<u8>) {
    let mut counts = vec![(0u64, [0u64; 3]); 1 << (3 * BITS)];
    // What stands still is seen all the time, and would show bands if it counted as one frame.
    let still = (frames.len() as u64 / 4).max(1);
    for (times, frame) in std::iter::once(still).chain(std::iter::repeat(1)).zip(frames) {
        for (_, cell, pixel) in frame.cells() {
            let (count, sums) = &mut counts[cell];
            *count += times;
            for (sum, v) in sums.iter_mut().zip(pixel) {
                *sum += times * u64::from(v);
            }
        }
    }
    let mean = |index: usize| counts[index].1.map(|s| s as f32 / counts[index].0.max(1) as f32);
    // Square roots, because otherwise the background's many pixels would take most of the palette.
    let weight = |index: usize| (counts[index].0 as f32).sqrt();
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
    let mut lookup = vec![0u8; counts.len()];
    for index in used {
        let c = mean(index);
        let off = |p: &[u8; 3]| (0..3).map(|k| (f32::from(p[k]) - c[k]) * (f32::from(p[k]) - c[k])).sum::<f32>();
        let nearest = palette.iter().enumerate().min_by(|a, b| off(a.1).total_cmp(&off(b.1)));
        lookup[index] = nearest.map_or(0, |(i, _)| i as u8 + 1);
    }
    (palette, lookup)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kumite_motion::{Clip, Pose, humanoid, rotation};

    use super::*;
    use crate::figure::{Figure, Prop};
    use crate::shape::Shape;

    /// Somebody who bends every joint and goes on.
    fn mover() -> Clip {
        Clip::from_fn("mover", Arc::new(humanoid::skeleton()), 50.0, 20, |frame, pose: &mut Pose| {
            let t = frame as f32 / 50.0;
            pose.set_root(Vec3::new(0.0, 0.97, 0.3 * t));
            for (j, q) in pose.rotations.iter_mut().enumerate() {
                *q = rotation::from_vector(Vec3::new(0.4, 0.3, 0.2) * libm::sinf(4.0 * t + j as f32));
            }
        })
        .unwrap()
    }

    fn strip(clip: &Clip) -> Strip<'_> {
        let block = Shape::block(Vec3::new(0.8, 0.3, 0.0), Vec3::new(0.2, 0.3, 0.2));
        let times = Times::At((0..20).map(|i| i as f32 / 50.0).collect());
        Strip { width: 320, row_height: 300, times, props: vec![Prop::still(block)], ..Strip::of(Figure::new(clip)) }
    }

    /// Mean difference of two pictures in display steps, and the share of pixels that differ by more than 80.
    fn difference(a: &[[u8; 3]], b: &[[u8; 3]]) -> (f32, f32) {
        let off = |(a, b): (&[u8; 3], &[u8; 3])| (0..3).map(|k| a[k].abs_diff(b[k])).max().unwrap_or(0);
        let offs: Vec<u8> = a.iter().zip(b).map(off).collect();
        let count = offs.len() as f32;
        let mean = offs.iter().map(|v| f32::from(*v)).sum::<f32>() / count;
        (mean, offs.iter().filter(|v| **v > 80).count() as f32 / count)
    }

    fn colours(image: &Image) -> Vec<[u8; 3]> {
        image.pixels().iter().map(|p| [p[0], p[1], p[2]]).collect()
    }

    /// Films look for surfaces in a quicker way: no holes, no fringes.
    #[test]
    fn films_show_what_strips_show() {
        let clip = mover();
        let strip = strip(&clip);
        let prepared = PreparedStrip::new(&strip);
        for page in pages(&prepared).into_iter().step_by(6) {
            let still = Page { quality: Quality::Still, ..page.clone() }.render();
            let (mean, far) = difference(&colours(&page.render()), &colours(&still));
            assert!(mean < 0.6 && far < 0.001, "{mean} {far}");
        }
    }

    /// What a reader shows is the pages, but for the number of colours, although only changes are written and grounds are drawn once.
    #[test]
    fn gifs_show_their_pages() {
        let clip = mover();
        let strip = strip(&clip);
        let bytes = strip.to_gif(&Movie::default());
        assert_eq!(bytes, strip.to_gif(&Movie::default()));
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut reader = options.read_info(&bytes[..]).unwrap();
        let (w, h) = (usize::from(reader.width()), usize::from(reader.height()));
        let prepared = PreparedStrip::new(&strip);
        let pages = pages(&prepared);
        let (mut shown, mut count) = (vec![[0; 3]; w * h], 0);
        while let Some(frame) = reader.read_next_frame().unwrap() {
            for (i, p) in frame.buffer.chunks_exact(4).enumerate().filter(|(_, p)| p[3] > 0) {
                let (x, y) = (i % usize::from(frame.width), i / usize::from(frame.width));
                shown[(usize::from(frame.top) + y) * w + usize::from(frame.left) + x] = [p[0], p[1], p[2]];
            }
            let (mean, far) = difference(&shown, &colours(&pages[count].render()));
            assert!(mean < 4.0 && far < 0.002, "frame {count}: {mean} {far}");
            count += 1;
        }
        assert_eq!(count, pages.len());
    }
}
