//! One SVG page of what answers what: blows as rows, defences as columns, the darker the longer before its arrival a defence may be begun. Measures none of this itself.

use std::fmt::Write as _;

use crate::svg::escape;

/// How a defence fares against a blow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Answer {
    /// Share of the moments at which it may be begun, 0 to 1; 0 is never.
    pub share: f32,
    /// Whether classes of height and direction say so too.
    pub expected: bool,
}

/// The numbers of the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerTable {
    /// Heading.
    pub title: String,
    /// What is answered.
    pub rows: Vec<String>,
    /// What answers.
    pub columns: Vec<String>,
    /// Row by row.
    pub answers: Vec<Vec<Answer>>,
}

/// Width and height of a cell, of the names on the left, and of those above, pixels.
const CELL: (f32, f32) = (17.0, 15.0);
const LEFT: f32 = 190.0;
const TOP: f32 = 190.0;

impl AnswerTable {
    /// Draws the page as an SVG document.
    pub fn to_svg(&self) -> String {
        let wide = LEFT + CELL.0 * self.columns.len() as f32 + 24.0;
        let high = TOP + CELL.1 * self.rows.len() as f32 + 56.0;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {wide:.0} {high:.0}\" font-family=\"Noto Sans, sans-serif\" fill=\"#2b2f36\">\n\
             <rect width=\"{wide:.0}\" height=\"{high:.0}\" fill=\"#faf9f6\"/>\n\
             <text x=\"16\" y=\"30\" font-size=\"18\">{}</text>\n",
            escape(&self.title)
        );
        for (k, name) in self.columns.iter().enumerate() {
            let x = LEFT + CELL.0 * (k as f32 + 0.7);
            let _ = writeln!(
                out,
                "<text transform=\"translate({x:.1} {:.1}) rotate(-60)\" font-size=\"11\">{}</text>",
                TOP - 6.0,
                escape(name)
            );
        }
        for (i, (name, answers)) in self.rows.iter().zip(&self.answers).enumerate() {
            let y = TOP + CELL.1 * i as f32;
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"11\" text-anchor=\"end\">{}</text>",
                LEFT - 6.0,
                y + 11.5,
                escape(name)
            );
            for (k, answer) in answers.iter().enumerate() {
                let x = LEFT + CELL.0 * k as f32;
                let mix = |a: f32, b: f32| (a + (b - a) * answer.share.clamp(0.0, 1.0).sqrt()) as u8;
                let (r, g, b) = (mix(238.0, 46.0), mix(237.0, 110.0), mix(232.0, 120.0));
                let _ = writeln!(
                    out,
                    "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"#{r:02x}{g:02x}{b:02x}\"/>",
                    CELL.0 - 1.0,
                    CELL.1 - 1.0
                );
                if answer.expected {
                    let _ = writeln!(
                        out,
                        "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.2\" fill=\"#c8553d\"/>",
                        x + 0.5 * CELL.0 - 0.5,
                        y + 0.5 * CELL.1 - 0.5
                    );
                }
            }
        }
        let y = TOP + CELL.1 * self.rows.len() as f32 + 28.0;
        let _ = writeln!(
            out,
            "<text x=\"16\" y=\"{y:.1}\" font-size=\"12\">Dark: bodies say it answers, from many moments before the blow arrives. \
             Dots: height and direction say so.</text>\n</svg>"
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_is_drawn_and_names_are_escaped() {
        let table = AnswerTable {
            title: "a & b".into(),
            rows: vec!["<jab>".into(), "hook".into()],
            columns: vec!["slip".into(); 3],
            answers: vec![vec![Answer { share: 0.5, expected: true }; 3]; 2],
        };
        let svg = table.to_svg();
        assert_eq!(svg.matches("<rect").count(), 1 + 6);
        assert_eq!(svg.matches("<circle").count(), 6);
        assert!(svg.contains("a &amp; b") && svg.contains("&lt;jab"), "{svg}");
    }
}
