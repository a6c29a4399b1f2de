//! Strikes of attacks that somebody has labelled with the part that strikes: measured, not looked for.

use kumite_motion::{Clip, Role, Span, SpanKind, Strike, StrikeKind};

use super::strokes::{Stroke, is_leg, strokes};
use super::{Heights, Signals, strike};

/// A strike is fastest so long before it counts, at most, seconds.
const BEFORE: f32 = 0.15;

/// What a coach's word for a strike says of how it is struck. Elbows go round like hooks.
const WORDS: [(&str, StrikeKind); 16] = [
    ("hook", StrikeKind::Hook),
    ("elbow", StrikeKind::Hook),
    ("uppercut", StrikeKind::Uppercut),
    ("backfist", StrikeKind::Backfist),
    ("jab", StrikeKind::Straight),
    ("cross", StrikeKind::Straight),
    ("straight", StrikeKind::Straight),
    ("overhand", StrikeKind::Straight),
    ("knee", StrikeKind::Knee),
    ("side kick", StrikeKind::Side),
    ("front kick", StrikeKind::Front),
    ("push kick", StrikeKind::Front),
    ("round kick", StrikeKind::Round),
    ("low kick", StrikeKind::Round),
    ("body kick", StrikeKind::Round),
    ("head kick", StrikeKind::Round),
];

/// How a strike of this label is struck.
pub fn kind_of(label: &str) -> Option<StrikeKind> {
    WORDS.iter().find(|(word, _)| label.contains(word)).map(|(_, kind)| *kind)
}

/// Puts strikes on the attacks of a clip of the canonical body that have none, where label and part say what they are.
pub fn add_strikes(clip: &mut Clip) {
    let bare = |span: &Span| span.kind == SpanKind::Attack && span.strikes.is_empty() && span.part.is_some();
    if !clip.spans.iter().any(bare) {
        return;
    }
    let signals = Signals::of(clip);
    for span in clip.spans.iter_mut().filter(|span| bare(span)) {
        span.strikes.extend(span.part.and_then(|part| strike_of(&signals, span, part)));
    }
}

fn strike_of(signals: &Signals, span: &Span, part: Role) -> Option<Strike> {
    let (from, to) = span.active.unwrap_or((span.from, span.to));
    let within = |stroke: &Stroke| (from - BEFORE..=to).contains(&signals.time(stroke.frames.1));
    let fastest = strokes(signals, part).into_iter().filter(within).max_by(|a, b| a.speed.total_cmp(&b.speed))?;
    let heights = Heights::default();
    let limits = if is_leg(part) { heights.kick } else { heights.punch };
    let measured = strike::measure(signals, &fastest, kind_of(&span.label)?, limits);
    Some(Strike { active: span.active.unwrap_or(measured.active), ..measured })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_keying::embedded;
    use kumite_motion::{Direction, Height};

    #[test]
    fn labelled_blows_are_measured() {
        let strike = |name: &str| {
            let mut clip = embedded::clips().unwrap().into_iter().find(|c| c.name == name).unwrap();
            add_strikes(&mut clip);
            clip.spans[0].strikes[0]
        };
        let jab = strike("jab");
        assert_eq!((jab.kind, jab.part, jab.height), (StrikeKind::Straight, Role::LeftWrist, Height::High));
        assert!(jab.long && jab.speed > 4.0 && (0.3..0.5).contains(&jab.at), "{jab:?}");
        let hook = strike("hook");
        assert_eq!((hook.kind, hook.direction), (StrikeKind::Hook, Direction::Right));
    }

    #[test]
    fn words_of_kicks_are_not_mistaken() {
        assert_eq!(kind_of("side kick left"), Some(StrikeKind::Side));
        assert_eq!(kind_of("low kick right"), Some(StrikeKind::Round));
        assert_eq!(kind_of("something else"), None);
    }
}
