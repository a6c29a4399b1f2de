//! One SVG page of what a library can do: how far a character gets in each direction, which points of its body it can
//! move out of the way, and how soon each kind of action can begin. Measures none of this itself.

use std::fmt::Write as _;

use kumite_motion::Vec3;

use crate::svg::escape;

/// A point on the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyPoint {
    /// x left, y up, z ahead, metres.
    pub at: Vec3,
    /// Metres.
    pub radius: f32,
    /// Share of the poses from which it can be moved out of the way in time, 0 to 1.
    pub share: f32,
}

/// The numbers of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Coverage {
    /// Heading.
    pub title: String,
    /// Per time horizon: its name, and metres in evenly spaced directions, from straight ahead over the left.
    pub reach: Vec<(String, Vec<f32>)>,
    /// Points of a body that faces the reader.
    pub points: Vec<BodyPoint>,
    /// What the colours of the points mean.
    pub caption: String,
    /// Per kind of action: name, seconds until it can begin from half of the nodes, and from all.
    pub kinds: Vec<(String, f32, f32)>,
}

const INK: &str = "#2b2f36";
const FAINT: &str = "#b9bdc4";
/// One per horizon, nearest first.
const COLOURS: [&str; 3] = ["#c8553d", "#e0a458", "#7fa3c7"];

/// Colour for a share, from red (0) to green (1).
fn heat(share: f32) -> String {
    let s = share.clamp(0.0, 1.0);
    let mix = |a: f32, b: f32| (a + (b - a) * s) as u8;
    format!("#{:02x}{:02x}{:02x}", mix(200.0, 74.0), mix(85.0, 140.0), mix(61.0, 107.0))
}

fn text(out: &mut String, (x, y): (f32, f32), size: f32, anchor: &str, words: &str) {
    let words = escape(words);
    let _ = writeln!(
        out,
        r#"<text x="{x:.1}" y="{y:.1}" font-size="{size}" text-anchor="{anchor}" fill="{INK}">{words}</text>"#
    );
}

impl Coverage {
    /// Draws the page as an SVG document.
    pub fn to_svg(&self) -> String {
        let mut out = String::from(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1080 520\" font-family=\"Noto Sans, sans-serif\">\n\
             <rect width=\"1080\" height=\"520\" fill=\"#faf9f6\"/>\n",
        );
        text(&mut out, (24.0, 34.0), 18.0, "start", &self.title);
        self.polar(&mut out, (220.0, 290.0), 170.0);
        self.body(&mut out, (560.0, 470.0), 195.0);
        self.bars(&mut out, (740.0, 110.0));
        out += "</svg>\n";
        out
    }

    fn polar(&self, out: &mut String, (cx, cy): (f32, f32), radius: f32) {
        let most = self.reach.iter().flat_map(|r| &r.1).copied().fold(1.0f32, f32::max);
        let scale = radius / most;
        text(out, (cx, 76.0), 14.0, "middle", "how far one gets, from half of the poses");
        let step = if most > 6.0 { 2.0 } else { 1.0 };
        let mut ring = step;
        while ring <= most {
            let _ = writeln!(
                out,
                r#"<circle cx="{cx}" cy="{cy}" r="{:.1}" fill="none" stroke="{FAINT}" stroke-width="0.7"/>"#,
                ring * scale
            );
            text(out, (cx + 3.0, cy - ring * scale - 2.0), 10.0, "start", &format!("{ring:.0} m"));
            ring += step;
        }
        // The farthest horizon first, so that nearer ones lie on top. Ahead is up, left is left.
        let directions = self.reach.first().map_or(1, |r| r.1.len().max(1));
        for ((name, far), colour) in self.reach.iter().zip(COLOURS).rev() {
            let points: Vec<String> = far
                .iter()
                .enumerate()
                .map(|(d, far)| {
                    let angle = std::f32::consts::TAU * d as f32 / directions as f32;
                    let (sine, cosine) = (libm::sinf(angle), libm::cosf(angle));
                    format!("{:.1},{:.1}", cx - sine * far * scale, cy - cosine * far * scale)
                })
                .collect();
            let _ = writeln!(
                out,
                r#"<polygon points="{}" fill="{colour}" fill-opacity="0.35" stroke="{colour}" stroke-width="1.6"><title>{name}</title></polygon>"#,
                points.join(" ")
            );
        }
        for ((name, _), (colour, k)) in self.reach.iter().zip(COLOURS.iter().zip(0u8..)) {
            let x = cx - 90.0 + 70.0 * f32::from(k);
            let _ = writeln!(
                out,
                r#"<rect x="{x:.1}" y="490" width="12" height="12" fill="{colour}" fill-opacity="0.7"/>"#
            );
            text(out, (x + 17.0, 500.0), 12.0, "start", name);
        }
        for (words, dx, dy) in [("ahead", 0.0, -radius - 8.0), ("back", 0.0, radius + 16.0)] {
            text(out, (cx + dx, cy + dy), 12.0, "middle", words);
        }
        text(out, (cx - radius - 6.0, cy + 4.0), 12.0, "end", "left");
        text(out, (cx + radius + 6.0, cy + 4.0), 12.0, "start", "right");
    }

    fn body(&self, out: &mut String, (cx, floor): (f32, f32), scale: f32) {
        text(out, (cx, 76.0), 14.0, "middle", "what can be dodged, by place");
        let mut points = self.points.clone();
        points.sort_by(|a, b| a.at.z.total_cmp(&b.at.z));
        for point in &points {
            // The body faces the reader: its left is on the right.
            let (x, y) = (cx + point.at.x * scale, floor - point.at.y * scale);
            let _ = writeln!(
                out,
                r##"<circle cx="{x:.1}" cy="{y:.1}" r="{:.1}" fill="{}" stroke="#faf9f6" stroke-width="0.8"/>"##,
                point.radius * scale,
                heat(point.share)
            );
        }
        text(out, (cx, 500.0), 12.0, "middle", &self.caption);
        for k in 0..=4u8 {
            let (share, x) = (f32::from(k) / 4.0, cx - 60.0 + 24.0 * f32::from(k));
            let _ = writeln!(out, r#"<rect x="{x:.1}" y="84" width="22" height="8" fill="{}"/>"#, heat(share));
        }
        text(out, (cx - 66.0, 92.0), 10.0, "end", "never");
        text(out, (cx + 66.0, 92.0), 10.0, "start", "always");
    }

    fn bars(&self, out: &mut String, (left, top): (f32, f32)) {
        text(out, (left, 76.0), 14.0, "start", "how soon it begins: half of the poses, all");
        let most = self.kinds.iter().map(|k| k.2).filter(|s| s.is_finite()).fold(1.0f32, f32::max);
        let scale = 190.0 / most;
        for ((name, half, all), row) in self.kinds.iter().zip(0u16..) {
            let y = top + 30.0 * f32::from(row);
            text(out, (left + 56.0, y + 11.0), 13.0, "end", name);
            for (seconds, colour, height) in [(*all, COLOURS[2], 14.0), (*half, COLOURS[0], 14.0)] {
                let width = if seconds.is_finite() { seconds * scale } else { 190.0 };
                let fill = if seconds.is_finite() { colour } else { FAINT };
                let _ = writeln!(
                    out,
                    r#"<rect x="{:.1}" y="{y:.1}" width="{:.1}" height="{height}" fill="{fill}"/>"#,
                    left + 64.0,
                    width.max(1.0)
                );
            }
            let shown = |s: f32| if s.is_finite() { format!("{s:.1} s") } else { "never".to_owned() };
            text(out, (left + 262.0, y + 11.0), 11.0, "start", &format!("{}, {}", shown(*half), shown(*all)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_shows_what_it_is_given() {
        let page = Coverage {
            title: "a < b".into(),
            reach: vec![("1 s".into(), vec![1.0; 8]), ("2 s".into(), vec![2.0; 8])],
            points: vec![BodyPoint { at: Vec3::new(0.0, 1.6, 0.0), radius: 0.1, share: 1.0 }],
            caption: "within a second".into(),
            kinds: vec![("avoid".into(), 0.3, f32::INFINITY)],
        };
        let svg = page.to_svg();
        assert!(svg.contains("a &lt; b") && svg.matches("<polygon").count() == 2 && svg.contains("never"));
        assert_eq!(svg.matches("<circle").count(), 1 + 2);
    }
}
