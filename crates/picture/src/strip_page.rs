//! How the cells, headings and captions of a strip are laid out on its page.

use kumite_motion::{Vec2, Vec3};

use crate::body::Group;
use crate::camera::Camera;
use crate::page::{Anchor, Mark, Page, Quality};
use crate::paint::text_width;
use crate::strip::{Extent, Layout, Moment, PreparedStrip, Window, format_number};
use crate::timeline;

/// Space around everything, pixels.
const MARGIN: f32 = 18.0;
/// Size of the heading relative to captions.
const HEADING: f32 = 1.5;

impl PreparedStrip<'_> {
    pub(crate) fn page(&self) -> Page {
        let strip = self.strip;
        let mut page = Page {
            quality: Quality::Still,
            width: strip.width.max(64),
            height: 0,
            theme: strip.theme,
            panels: Vec::new(),
            marks: Vec::new(),
        };
        let mut y = self.heading(&mut page);
        y = match strip.layout {
            Layout::Row => self.rows(&mut page, y),
            Layout::Travel => self.travel(&mut page, y),
        };
        if strip.timeline && self.seconds > 0.0 {
            y = timeline::draw(self, &mut page, y, MARGIN);
        }
        page.height = (y + 0.6 * MARGIN).ceil() as usize;
        page
    }

    fn heading(&self, page: &mut Page) -> f32 {
        let strip = self.strip;
        let title = strip.title.clone().unwrap_or_else(|| {
            let names: Vec<&str> = strip.figures.iter().map(|a| a.clip.name.as_str()).collect();
            names.join("  ·  ")
        });
        if title.is_empty() {
            return 0.5 * MARGIN;
        }
        let size = HEADING * strip.letters;
        let title = shorten_to_fit(&title, size, page.width as f32 - 2.0 * MARGIN);
        let baseline = MARGIN + 0.8 * size;
        page.marks.push(Mark::Text {
            at: Vec2::new(MARGIN, baseline),
            size,
            bold: true,
            anchor: Anchor::Start,
            colour: strip.theme.ink,
            text: title.clone(),
        });
        if let Some(figure) = strip.figures.first() {
            let clip = figure.clip;
            let mut facts =
                format!("{:.2} s   {} fps   {} frames", clip.seconds(), format_number(clip.fps()), clip.frames());
            if let (Some(metres), true) = (self.metres, strip.grid && self.floor.is_some()) {
                facts.push_str(&format!("   grid {} m", format_number(self.grid() * metres)));
            }
            let room = page.width as f32 - 3.0 * MARGIN - text_width(size, true, &title);
            if text_width(self.strip.letters, false, &facts) < room {
                page.marks.push(Mark::Text {
                    at: Vec2::new(page.width as f32 - MARGIN, baseline),
                    size: self.strip.letters,
                    bold: false,
                    anchor: Anchor::End,
                    colour: strip.theme.faint,
                    text: facts,
                });
            }
        }
        MARGIN + 1.5 * size
    }

    fn rows(&self, page: &mut Page, mut y: f32) -> f32 {
        let strip = self.strip;
        let columns = self.moments.len();
        let middles: Vec<Vec3> = self.moments.iter().map(|m| self.middle(m)).collect();
        let follows = strip.window == Window::Pose && self.travels(&middles);
        let fixed = middles.iter().copied().sum::<Vec3>() / columns.max(1) as f32;
        let middles: Vec<Vec3> = if follows { middles } else { vec![fixed; columns] };
        let forward = self.forward(false);

        // Extent of every cell, relative to its middle.
        let cells: Vec<(Camera, Vec<Extent>)> = strip
            .views
            .iter()
            .map(|view| {
                let camera = Camera::looking(view, forward);
                let see = |(m, at): (&Moment, &Vec3)| self.extent(m, &Camera { target: *at, ..camera });
                let mut extents: Vec<Extent> = self.moments.iter().zip(&middles).map(see).collect();
                if !follows {
                    let all = extents.iter().copied().fold(Extent::EMPTY, Extent::or);
                    extents.fill(all);
                }
                (camera, extents)
            })
            .collect();
        let air = 0.10 * self.height;
        let wide = |column: usize| {
            let over = cells.iter().map(|(_, e)| e[column]).fold(Extent::EMPTY, Extent::or);
            over.size().x + 2.0 * air
        };
        let widths: Vec<f32> = (0..columns).map(wide).collect();
        let total: f32 = widths.iter().sum();
        let room = page.width as f32 - MARGIN;
        let tallest =
            cells.iter().map(|(_, e)| e.iter().copied().fold(Extent::EMPTY, Extent::or).size().y).fold(0.0, f32::max);
        let scale = (room / total).min(strip.row_height.max(32) as f32 / (tallest + 2.0 * air));
        let spare = (room - total * scale) / columns.max(1) as f32;

        for (row, (camera, extents)) in cells.iter().enumerate() {
            let all = extents.iter().copied().fold(Extent::EMPTY, Extent::or);
            let top = all.low.y - air;
            // Room below the feet for the floor to fade out.
            let bottom = all.high.y.max(0.0) + 1.3 * air;
            let height = ((bottom - top) * scale).ceil().max(8.0) as usize;
            let mut x = 0.5 * MARGIN;
            let mut free = f32::NEG_INFINITY;
            for (column, moment) in self.moments.iter().enumerate() {
                let width = widths[column] * scale + spare;
                let (left, right) = (x.round(), (x + width).round());
                let middle = 0.5 * (extents[column].low.x + extents[column].high.x) * scale;
                let camera = Camera {
                    scale,
                    target: middles[column],
                    centre: Vec2::new(0.5 * (right - left) - middle, -top * scale),
                    ..*camera
                };
                let mut panel = self.panel(camera, left as usize, y as usize, (right - left) as usize, height);
                let gap = match column.checked_sub(1) {
                    Some(before) => moment.time - self.moments[before].time,
                    None => strip.trails.seconds,
                };
                self.fill(&mut panel, moment, 0, 0.0, gap.max(0.0));
                self.fill_props(&mut panel, moment.time, self.cast.len() as u32 * Group::ALL.len() as u32);
                page.panels.push(panel);
                if strip.captions && row + 1 == cells.len() {
                    let baseline = y + height as f32 + strip.letters;
                    free = self.caption(page, moment.time, 0.5 * (left + right), baseline, free);
                }
                x += width;
            }
            if strip.views.len() > 1 {
                self.label(page, &strip.views[row].label, y + self.strip.letters);
            }
            y += height as f32;
        }
        if strip.captions { y + 1.9 * self.strip.letters } else { y }
    }

    /// Whether figures get so far that they would be small in a picture of the whole way. Of a step the whole way is shown: else nobody can tell where it leads.
    fn travels(&self, middles: &[Vec3]) -> bool {
        let low = middles.iter().copied().fold(Vec3::INFINITY, Vec3::min);
        let high = middles.iter().copied().fold(Vec3::NEG_INFINITY, Vec3::max);
        (high - low).length() > 0.45 * self.height
    }

    fn label(&self, page: &mut Page, text: &str, baseline: f32) {
        page.marks.push(Mark::Text {
            at: Vec2::new(MARGIN, baseline),
            size: self.strip.letters,
            bold: true,
            anchor: Anchor::Start,
            colour: self.strip.theme.faint,
            text: text.to_owned(),
        });
    }

    /// Writes the time below a pose unless that would overlap text that ends at `free`. Returns where text now ends.
    fn caption(&self, page: &mut Page, time: f32, x: f32, baseline: f32, free: f32) -> f32 {
        let text = format!("{time:.2} s");
        let half = 0.5 * text_width(self.strip.letters, true, &text) + 3.0;
        if x - half < free {
            return free;
        }
        let theme = &self.strip.theme;
        let when_active = self.strip.figures.iter().flat_map(|figure| {
            let on = move |(from, to): (f32, f32)| (from..=to).contains(&(time - figure.starts_at));
            figure.clip.spans.iter().filter(move |span| span.active.is_some_and(on))
        });
        let active = when_active.map(|span| theme.span(span.kind)).next();
        page.marks.push(Mark::Text {
            at: Vec2::new(x, baseline),
            size: self.strip.letters,
            bold: active.is_some(),
            anchor: Anchor::Middle,
            colour: active.unwrap_or(theme.ink),
            text,
        });
        x + half
    }

    fn travel(&self, page: &mut Page, mut y: f32) -> f32 {
        let strip = self.strip;
        let forward = self.forward(true);
        let target = Vec3::new(0.0, self.floor.unwrap_or(0.0), 0.0);
        let cells: Vec<(Camera, Vec<Extent>)> = strip
            .views
            .iter()
            .map(|view| {
                let camera = Camera { target, ..Camera::looking(view, forward) };
                (camera, self.moments.iter().map(|m| self.extent(m, &camera)).collect())
            })
            .collect();
        let air = 0.12 * self.height;
        let room = page.width as f32 - MARGIN;
        let sizes = cells.iter().map(|(_, e)| e.iter().copied().fold(Extent::EMPTY, Extent::or).size());
        let (widest, tallest) = sizes.fold((0.0f32, 0.0f32), |(w, t), s| (w.max(s.x), t.max(s.y)));
        let scale = (room / (widest + 4.0 * air)).min(strip.row_height.max(32) as f32 / (tallest + 2.0 * air));
        let count = self.moments.len();
        for (row, (camera, extents)) in cells.iter().enumerate() {
            let all = extents.iter().copied().fold(Extent::EMPTY, Extent::or);
            let top = all.low.y - air;
            let height = ((all.high.y - all.low.y + 2.3 * air) * scale).ceil().max(8.0) as usize;
            let left = 0.5 * MARGIN;
            let camera = Camera {
                scale,
                centre: Vec2::new(0.5 * room - 0.5 * (all.low.x + all.high.x) * scale, -top * scale),
                ..*camera
            };
            let mut panel = self.panel(camera, left as usize, y as usize, room as usize, height);
            panel.fade_from = 0.9;
            for (i, moment) in self.moments.iter().enumerate() {
                let age = (count - 1 - i) as f32 / count.saturating_sub(1).max(1) as f32;
                let before = i.checked_sub(1).map_or(0.0, |b| self.moments[b].time);
                self.fill(&mut panel, moment, i, strip.ghost * age, (moment.time - before).max(0.0));
            }
            let last = self.moments.last().map_or(0.0, |m| m.time);
            self.fill_props(&mut panel, last, (count * self.cast.len() * Group::ALL.len()) as u32);
            page.panels.push(panel);
            if strip.captions && row + 1 == cells.len() {
                let mut free = f32::NEG_INFINITY;
                for (moment, extent) in self.moments.iter().zip(extents) {
                    let x = left + camera.centre.x + 0.5 * (extent.low.x + extent.high.x) * scale;
                    free = self.caption(page, moment.time, x, y + height as f32 + strip.letters, free);
                }
            }
            if strip.views.len() > 1 {
                self.label(page, &strip.views[row].label, y + self.strip.letters);
            }
            y += height as f32;
        }
        if strip.captions { y + 1.9 * self.strip.letters } else { y }
    }
}

/// The text, cut off with an ellipsis where it would be wider than `room`.
fn shorten_to_fit(text: &str, size: f32, room: f32) -> String {
    if text_width(size, true, text) <= room {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    loop {
        letters.pop();
        let cut: String = letters.iter().chain(&['…']).collect();
        if letters.is_empty() || text_width(size, true, &cut) <= room {
            return cut;
        }
    }
}
