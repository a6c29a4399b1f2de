//! Contact sheets: many strips on one page, and as many pages as needed.

use kumite_motion::Vec2;

use crate::image::Image;
use crate::page::{Anchor, Mark, Page, Quality};
use crate::strip::Strip;
use crate::svg;
use crate::theme::Theme;

/// A contact sheet: a small strip for each of many clips.
#[derive(Clone, Debug)]
pub struct Sheet<'a> {
    /// Heading; empty leaves the line out.
    pub title: String,
    /// The sheet sets their width and theme; everything else is their own.
    pub strips: Vec<Strip<'a>>,
    /// Strips side by side.
    pub columns: usize,
    /// Rows of strips on a page; more go to further pages.
    pub rows: usize,
    /// Width of a page, pixels.
    pub width: usize,
    /// Colours of paper and ink.
    pub theme: Theme,
}

impl Default for Sheet<'_> {
    fn default() -> Self {
        Sheet { title: String::new(), strips: Vec::new(), columns: 2, rows: 12, width: 1600, theme: Theme::LIGHT }
    }
}

/// Height of the heading's letters, pixels.
const TITLE: f32 = 22.0;
/// Margin of the page, pixels.
const MARGIN: f32 = 16.0;

impl<'a> Sheet<'a> {
    /// How many pages there are; at least one.
    pub fn pages(&self) -> usize {
        self.strips.len().div_ceil(self.per_page()).max(1)
    }

    /// Draws one page as pixels; past the last one, an empty page.
    pub fn render(&self, page: usize) -> Image {
        self.page(page).render()
    }

    /// Draws one page as an SVG document.
    pub fn to_svg(&self, page: usize) -> String {
        svg::page(&self.page(page))
    }

    fn per_page(&self) -> usize {
        (self.columns.max(1) * self.rows.max(1)).max(1)
    }

    fn page(&self, number: usize) -> Page {
        let columns = self.columns.max(1);
        let width = self.width.max(64 * columns);
        let mut page = Page {
            quality: Quality::Still,
            width,
            height: 0,
            theme: self.theme,
            panels: Vec::new(),
            marks: Vec::new(),
        };
        let mut y = 0.0;
        if !self.title.is_empty() {
            let pages = self.pages();
            page.marks.push(Mark::Text {
                at: Vec2::new(MARGIN, MARGIN + TITLE),
                size: TITLE,
                bold: true,
                anchor: Anchor::Start,
                colour: self.theme.ink,
                text: self.title.clone(),
            });
            if pages > 1 {
                page.marks.push(Mark::Text {
                    at: Vec2::new(width as f32 - MARGIN, MARGIN + TITLE),
                    size: 0.6 * TITLE,
                    bold: false,
                    anchor: Anchor::End,
                    colour: self.theme.faint,
                    text: format!("{} / {pages}", number + 1),
                });
            }
            y = MARGIN + 1.6 * TITLE;
        }
        let strips = self.strips.get(number * self.per_page()..).unwrap_or_default();
        for row in strips[..strips.len().min(self.per_page())].chunks(columns) {
            let mut tallest = 0;
            for (column, strip) in row.iter().enumerate() {
                let cell = Strip { width: width / columns, theme: self.theme, ..strip.clone() }.page();
                tallest = tallest.max(cell.height);
                insert(&mut page, cell, column * (width / columns), y as usize);
            }
            y += tallest as f32;
            page.marks.push(Mark::Line {
                from: Vec2::new(MARGIN, y.floor() + 0.5),
                to: Vec2::new(width as f32 - MARGIN, y.floor() + 0.5),
                width: 1.0,
                colour: self.theme.grid,
                alpha: 0.7,
            });
            y += 2.0;
        }
        page.height = (y.ceil() as usize).max(32);
        page
    }
}

/// Adds the contents of a strip's page at an offset.
fn insert(page: &mut Page, cell: Page, x: usize, y: usize) {
    let by = Vec2::new(x as f32, y as f32);
    for mut panel in cell.panels {
        panel.x += x;
        panel.y += y;
        page.panels.push(panel);
    }
    for mut mark in cell.marks {
        match &mut mark {
            Mark::Area { points, .. } => points.iter_mut().for_each(|p| *p += by),
            Mark::Text { at, .. } | Mark::Disc { at, .. } => *at += by,
            Mark::Line { from, to, .. } => {
                *from += by;
                *to += by;
            }
            Mark::Rect { min, max, .. } => {
                *min += by;
                *max += by;
            }
        }
        page.marks.push(mark);
    }
}
