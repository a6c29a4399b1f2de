//! New actions join groups that are already tagged (Shum, Komura and Yamazaki 2007, § 3): each takes the label of the most similar one.

use kumite_motion::{Clip, Span, SpanKind};

use super::features::{Feature, Row};
use super::{Action, Model, analyse, side_name};

/// Labelled actions to compare with.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    examples: Vec<(Row, SpanKind, String)>,
    /// Spread of each number among them.
    widths: Row,
}

/// Actions farther than this from every example join no group. A distance is the root mean square of the differences in all numbers, each in
/// units of that number's spread and at most 1.
const FARTHEST: f32 = 0.45;

impl Groups {
    /// The labelled actions of clips: for each span, the action that overlaps it longest.
    pub fn of<'a>(clips: impl IntoIterator<Item = &'a Clip>, model: &Model) -> Groups {
        let mut examples = Vec::new();
        for clip in clips {
            let analysis = analyse(clip, model);
            for span in &clip.spans {
                let shared = |a: &&Action| a.core.1.min(span.to) - a.core.0.max(span.from);
                let best = analysis.actions.iter().max_by(|a, b| shared(a).total_cmp(&shared(b)));
                if let Some(action) = best.filter(|a| shared(a) > 0.0) {
                    examples.push((action.row, span.kind, sideless(&span.label)));
                }
            }
        }
        let widths = std::array::from_fn(|k| {
            let mut values: Vec<f32> = examples.iter().map(|e: &(Row, SpanKind, String)| e.0[k]).collect();
            values.sort_by(f32::total_cmp);
            let at = |share: f32| values.get((share * values.len() as f32) as usize).copied().unwrap_or(0.0);
            (at(0.95) - at(0.05)).max(1e-3)
        });
        Groups { examples, widths }
    }

    /// How many examples there are.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// The group an action joins, and how far it is from its nearest member.
    pub fn nearest(&self, row: &Row) -> Option<(SpanKind, &str, f32)> {
        let distance = |other: &Row| {
            let parts = (0..row.len()).map(|k| {
                let off = ((row[k] - other[k]) / self.widths[k]).clamp(-1.0, 1.0);
                off * off
            });
            libm::sqrtf(parts.sum::<f32>() / Feature::ALL.len() as f32)
        };
        let nearest = self.examples.iter().map(|e| (distance(&e.0), e)).min_by(|a, b| a.0.total_cmp(&b.0))?;
        (nearest.0 <= FARTHEST).then_some((nearest.1.1, nearest.1.2.as_str(), nearest.0))
    }

    /// The span of an action with the label of the group it joins and its own side; `None` if it joins none.
    pub fn span(&self, action: &Action) -> Option<Span> {
        let (kind, label, _) = self.nearest(&action.row)?;
        let mut span = action.span();
        span.kind = kind;
        span.label = label.to_owned();
        if let Some(side) = action.side {
            span.label = format!("{label} {}", side_name(side)).trim().to_owned();
        }
        if kind != SpanKind::Attack {
            span.strikes.clear();
        }
        Some(span)
    }
}

/// A label without its side: a left hook is an example for right hooks too.
fn sideless(label: &str) -> String {
    label.split_whitespace().filter(|w| !matches!(*w, "left" | "right")).collect::<Vec<_>>().join(" ")
}
