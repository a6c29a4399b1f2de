//! A library's graph as one SVG picture: clips around a circle, transitions across it.

use std::f32::consts::TAU;
use std::fmt::Write as _;

use kumite_motion::library::Library;
use kumite_motion::{Clip, ClipIdx, SpanKind, Vec2};

use crate::Theme;
use crate::svg::escape;

/// Side of the picture, pixels.
const SIZE: f32 = 1400.0;
/// Largest radius of the circle; long names make it smaller, so that none is cut.
const RADIUS: f32 = 560.0;
/// Mean width of a letter, as a share of its height.
const LETTER: f32 = 0.58;
/// Gap between two clips for a hundred clips, radians; fewer clips have wider gaps.
const GAP: f32 = 0.012;

/// Each clip is an arc as long as the clip lasts, with its labels in colour; each node a tick; each transition a line across
/// the circle in the colour of the clip it leads to.
#[derive(Clone, Copy, Debug)]
pub struct GraphCircle<'a> {
    /// The library whose graph is drawn.
    pub library: &'a Library,
    /// Colours.
    pub theme: Theme,
}

impl GraphCircle<'_> {
    /// Draws it as an SVG document.
    pub fn to_svg(&self) -> String {
        let (library, theme) = (self.library, self.theme);
        let clips = library.clips();
        let total: f32 = clips.iter().map(Clip::seconds).sum();
        let gap = (GAP * 100.0 / clips.len() as f32).min(0.03);
        let turn = (TAU - gap * clips.len() as f32) / total.max(1e-6);
        let letters = |clip: &Clip| (0.8 * (clip.seconds() * turn + gap) * RADIUS).clamp(7.0, 15.0);
        let longest = clips.iter().map(|c| c.name.chars().count() as f32 * LETTER * letters(c)).fold(0.0, f32::max);
        let radius = (0.5 * SIZE - 30.0 - longest).clamp(200.0, RADIUS);
        let mut starts = vec![0.0f32];
        for clip in clips {
            starts.push(starts[starts.len() - 1] + clip.seconds() * turn + gap);
        }
        let angle = |clip: ClipIdx, seconds: f32| starts[clip.at()] + seconds * turn;
        let point = |angle: f32, radius: f32| {
            Vec2::new(libm::sinf(angle), -libm::cosf(angle)) * radius + Vec2::splat(0.5 * SIZE)
        };
        let arc = |from: f32, to: f32, radius: f32| {
            let (a, b) = (point(from, radius), point(to, radius));
            let large = u8::from(to - from > 0.5 * TAU);
            format!("M{:.1} {:.1}A{radius} {radius} 0 {large} 1 {:.1} {:.1}", a.x, a.y, b.x, b.y)
        };
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIZE} {SIZE}\" font-family=\"sans-serif\">\n\
             <rect width=\"{SIZE}\" height=\"{SIZE}\" fill=\"{}\"/>\n",
            theme.paper.hex()
        );
        let graph = library.graph();
        let transitions = graph.edges().iter().filter(|e| e.join.is_some()).count();
        let strength = (8.0 / (transitions.max(1) as f32).sqrt()).clamp(0.06, 0.5);
        let _ = writeln!(svg, "<g fill=\"none\" stroke-width=\"1\" stroke-opacity=\"{strength:.2}\">");
        for edge in graph.edges().iter().filter(|e| e.join.is_some()) {
            let node = graph.node(edge.from);
            let fps = |clip: ClipIdx| clips[clip.at()].fps();
            let a = point(angle(node.clip, node.frame.at() as f32 / fps(node.clip)), radius - 8.0);
            let b = point(angle(edge.clip, edge.first.at() as f32 / fps(edge.clip)), radius - 8.0);
            // Lines between neighbours bow a little, long ones pass near the middle.
            let middle = Vec2::splat(0.5 * SIZE).lerp((a + b) * 0.5, 0.25);
            let kind = clips[edge.clip.at()].spans.first().map_or(theme.ink, |s| theme.span(s.kind));
            let _ = writeln!(
                svg,
                "<path stroke=\"{}\" d=\"M{:.1} {:.1}Q{:.1} {:.1} {:.1} {:.1}\"/>",
                kind.hex(),
                a.x,
                a.y,
                middle.x,
                middle.y,
                b.x,
                b.y
            );
        }
        svg += "</g>\n";
        for (index, clip) in clips.iter().enumerate() {
            let clip_idx = ClipIdx(index as u32);
            let (from, to) = (angle(clip_idx, 0.0), angle(clip_idx, clip.seconds()));
            let path = arc(from, to, radius);
            let _ =
                writeln!(svg, "<path fill=\"none\" stroke=\"{}\" stroke-width=\"10\" d=\"{path}\"/>", theme.grid.hex());
            for span in &clip.spans {
                let path = arc(angle(clip_idx, span.from), angle(clip_idx, span.to), radius);
                let colour = theme.span(span.kind).hex();
                let _ = writeln!(svg, "<path fill=\"none\" stroke=\"{colour}\" stroke-width=\"10\" d=\"{path}\"/>");
            }
            // Names point outwards and are never upside down.
            let middle = 0.5 * (from + to);
            let (at, left) = (point(middle, radius + 16.0), libm::sinf(middle) < 0.0);
            let degrees = middle.to_degrees() - if left { -90.0 } else { 90.0 };
            let size = letters(clip);
            let _ = writeln!(
                svg,
                "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{}\" font-size=\"{size:.1}\" text-anchor=\"{}\" \
                 dominant-baseline=\"middle\" transform=\"rotate({degrees:.1} {:.1} {:.1})\">{}</text>",
                at.x,
                at.y,
                theme.ink.hex(),
                if left { "end" } else { "start" },
                at.x,
                at.y,
                escape(&clip.name)
            );
        }
        let _ = writeln!(svg, "<g stroke=\"{}\" stroke-width=\"0.8\">", theme.ink.hex());
        for node in graph.nodes() {
            let at = angle(node.clip, node.frame.at() as f32 / clips[node.clip.at()].fps());
            let (a, b) = (point(at, radius - 8.0), point(at, radius + 5.0));
            let _ = writeln!(svg, "<path d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>", a.x, a.y, b.x, b.y);
        }
        svg += "</g>\n";
        // Which colour is which kind, and what lines mean.
        let mut kinds: Vec<SpanKind> = clips.iter().flat_map(|c| c.spans.iter().map(|s| s.kind)).collect();
        kinds.sort_by_key(|kind| SpanKind::ALL.iter().position(|k| k == kind));
        kinds.dedup();
        let rows = kinds.iter().map(|kind| (theme.span(*kind), kind.name()));
        for (row, (colour, name)) in rows.enumerate() {
            let y = 66.0 + 22.0 * row as f32;
            let _ = writeln!(
                svg,
                "<rect x=\"20\" y=\"{y:.1}\" width=\"22\" height=\"10\" fill=\"{}\"/>\n\
                 <text x=\"50\" y=\"{:.1}\" font-size=\"14\" fill=\"{}\">{name}</text>",
                colour.hex(),
                y + 10.0,
                theme.ink.hex()
            );
        }
        let _ = writeln!(
            svg,
            "<text x=\"20\" y=\"{:.1}\" font-size=\"13\" fill=\"{}\">arc: clip, tick: node, line: transition, coloured by what it leads to</text>",
            SIZE - 20.0,
            theme.faint.hex()
        );
        let caption = format!(
            "{}: {} clips, {total:.0} s, {} nodes, {} edges, {transitions} of them transitions",
            library.name,
            clips.len(),
            graph.nodes().len(),
            graph.edges().len()
        );
        let _ = writeln!(
            svg,
            "<text x=\"20\" y=\"34\" font-size=\"20\" fill=\"{}\">{}</text>\n</svg>",
            theme.ink.hex(),
            escape(&caption)
        );
        svg
    }
}
