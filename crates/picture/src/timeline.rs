//! The timeline below a strip: seconds, the moments shown, spans with their active windows, planted feet.

use kumite_motion::{Contacts, Vec2};

use crate::body::Group;
use crate::page::{Anchor, Mark, Page};
use crate::paint::text_width;
use crate::strip::{PreparedStrip, format_number};

/// Height of the letters of labels and ticks, pixels.
const SMALL: f32 = 11.0;
/// Height of a span's bar, pixels.
const BAR: f32 = 15.0;
/// Height of a planted foot's line, pixels.
const LANE: f32 = 5.0;

/// Draws from `y` downwards and returns the lower edge.
pub(crate) fn draw(prepared: &PreparedStrip<'_>, page: &mut Page, y: f32, margin: f32) -> f32 {
    let theme = prepared.strip.theme;
    let (left, right) = (margin, page.width as f32 - margin);
    // The whole motion, unless the moments shown cover less than half of it.
    let shown = prepared.moments.iter().map(|m| m.time);
    let (first, last) = (shown.clone().fold(f32::INFINITY, f32::min), shown.fold(f32::NEG_INFINITY, f32::max));
    let part = last - first > 0.0 && last - first < 0.5 * prepared.seconds;
    let (from, to) = if part { (first, last) } else { (0.0, prepared.seconds) };
    let x_of = |time: f32| left + (right - left) * ((time - from) / (to - from)).clamp(0.0, 1.0);
    let mut y = y + 6.0;

    for moment in &prepared.moments {
        let x = x_of(moment.time);
        page.marks.push(Mark::Disc { at: Vec2::new(x, y), radius: 3.0, colour: theme.ink, alpha: 1.0 });
    }
    page.marks.push(Mark::Line {
        from: Vec2::new(left, y),
        to: Vec2::new(right, y),
        width: 1.0,
        colour: theme.faint,
        alpha: 0.8,
    });
    y += 7.0;

    for cast in &prepared.cast {
        let (clip, start) = (cast.figure.clip, cast.figure.starts_at);
        let mut ends: Vec<f32> = Vec::new();
        let mut deepest = 0;
        for span in &clip.spans {
            let (x0, x1) = (x_of(span.from + start), x_of(span.to + start));
            if span.to + start < from || span.from + start > to {
                continue;
            }
            // Spans that overlap in time get separate lanes.
            let lane = ends.iter().position(|end| *end <= x0 + 0.5).unwrap_or(ends.len());
            if lane == ends.len() {
                ends.push(x1);
            } else {
                ends[lane] = x1;
            }
            deepest = deepest.max(lane + 1);
            let top = y + lane as f32 * (BAR + 3.0);
            let colour = theme.span(span.kind);
            let bar = |a: f32, b: f32, alpha: f32| Mark::Rect {
                min: Vec2::new(a, top),
                max: Vec2::new(b.max(a + 1.5), top + BAR),
                corner: 3.0,
                colour,
                alpha,
            };
            page.marks.push(bar(x0, x1 - 1.0, 0.26));
            if let Some((from, to)) = span.active {
                page.marks.push(bar(x_of(from + start), x_of(to + start), 0.75));
            }
            let text = if span.label.is_empty() { span.kind.name() } else { &span.label };
            if text_width(SMALL, false, text) + 8.0 < x1 - x0 {
                page.marks.push(Mark::Text {
                    at: Vec2::new(x0 + 5.0, top + BAR - 4.0),
                    size: SMALL,
                    bold: false,
                    anchor: Anchor::Start,
                    colour: theme.ink,
                    text: text.to_owned(),
                });
            }
        }
        y += deepest as f32 * (BAR + 3.0);

        if !clip.contacts.is_empty() {
            let feet = [(Contacts::LEFT, Group::LeftLeg), (Contacts::RIGHT, Group::RightLeg)];
            for (foot, group) in feet {
                let colour = cast.figure.colours.of(group);
                let mut frame = 0;
                while frame < clip.contacts.len() {
                    let planted = clip.contacts[frame].any(foot);
                    let run = clip.contacts[frame..].iter().take_while(|c| c.any(foot) == planted).count();
                    let when = |f: usize| f as f32 / clip.fps() + start;
                    if planted && when(frame + run) > from && when(frame) < to {
                        let x = |f: usize| x_of(when(f));
                        page.marks.push(Mark::Rect {
                            min: Vec2::new(x(frame), y),
                            max: Vec2::new(x(frame + run).max(x(frame) + 1.0), y + LANE),
                            corner: 2.0,
                            colour,
                            alpha: 0.9,
                        });
                    }
                    frame += run;
                }
                y += LANE + 2.0;
            }
        }
    }

    // Ticks at least 64 pixels apart.
    let room = (right - left) / 64.0;
    let steps = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 300.0];
    let step = steps.into_iter().find(|s| (to - from) / s <= room);
    // For extremely long motions, multiples of ten minutes.
    let step = step.unwrap_or_else(|| 600.0 * ((to - from) / room.max(1.0) / 600.0).ceil().max(1.0));
    let (low, high) = ((from / step - 1e-3).ceil() as usize, (to / step + 1e-3).floor() as usize);
    for i in low..=high {
        let time = i as f32 * step;
        let text = if i == low { format!("{} s", format_number(time)) } else { format_number(time) };
        let x = x_of(time);
        page.marks.push(Mark::Text {
            at: Vec2::new(x, y + SMALL),
            size: SMALL,
            bold: false,
            anchor: if x < left + 8.0 {
                Anchor::Start
            } else if x > right - 8.0 {
                Anchor::End
            } else {
                Anchor::Middle
            },
            colour: theme.faint,
            text,
        });
    }
    y + SMALL + 4.0
}
