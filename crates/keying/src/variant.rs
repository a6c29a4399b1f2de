//! Motions that are variants of others: the same keys, farther or less far, slower or quicker.

use kumite_text::TextError;

use crate::embedded::Shelf;
use crate::file::{Attitude, Flight, Key, MotionFile, Place, SpanKey, Step};

/// Variants of variants of variants: more is a loop.
const DEEPEST: usize = 4;

impl MotionFile {
    /// With everything it takes over from the motion it is [like](MotionFile::like).
    pub(crate) fn resolved(&self, shelf: &dyn Shelf) -> Result<MotionFile, TextError> {
        let mut motion = self.clone();
        for _ in 0..=DEEPEST {
            let Some(like) = motion.like.clone() else { return Ok(motion) };
            let base = shelf.motion(&like)?;
            let base = base.ok_or_else(|| TextError::value("like", &like, "the name of another motion"))?;
            motion = motion.variant_of(&base);
        }
        Err(TextError::new("like", "variants of variants lead nowhere: one of them is like itself"))
    }

    fn variant_of(&self, base: &MotionFile) -> MotionFile {
        let varied = base.varied(self.amount, self.pace);
        // What is said here replaces what is said there.
        fn or<T: Clone>(own: &[T], other: &[T]) -> Vec<T> {
            if own.is_empty() { other.to_vec() } else { own.to_vec() }
        }
        MotionFile {
            name: self.name.clone(),
            about: self.about.clone(),
            // What a variant of a variant goes by.
            amount: base.amount * self.amount,
            pace: base.pace * self.pace,
            seconds: if self.seconds > 0.0 { self.seconds } else { varied.seconds },
            mirror: self.mirror.clone(),
            key: varied.key.iter().chain(&self.key).cloned().collect(),
            step: or(&self.step, &varied.step),
            flight: or(&self.flight, &varied.flight),
            span: or(&self.span, &varied.span),
            ..varied
        }
    }

    /// The same motion, so many times as far and so many times as long.
    pub(crate) fn varied(&self, amount: f32, pace: f32) -> MotionFile {
        let all = self.expanded();
        MotionFile {
            seconds: all.seconds * pace,
            change: all.change.map(|times| times.map(|t| t * pace)),
            glide: all.glide * pace,
            key: all.key.iter().map(|key| key.varied(amount, pace)).collect(),
            step: all.step.iter().map(|step| step.varied(amount, pace)).collect(),
            flight: all.flight.iter().map(|flight| flight.varied(pace)).collect(),
            span: all.span.iter().map(|span| span.varied(pace)).collect(),
            ..all
        }
    }
}

impl Key {
    pub(crate) fn varied(&self, amount: f32, pace: f32) -> Key {
        let attitude = |a: Option<Attitude>| {
            a.map(|a| Attitude { turn: a.turn * amount, lean: a.lean * amount, tilt: a.tilt * amount })
        };
        let place = |p: Option<Place>| match p {
            Some(Place::By(by)) => Some(Place::By(by.map(|v| v * amount))),
            other => other,
        };
        let scaled = |v: Option<f32>| v.map(|v| v * amount);
        Key {
            at: self.at * pace,
            shift: self.shift.map(|s| s.map(|v| v * amount)),
            weight: self.weight.map(|w| (0.5 + (w - 0.5) * amount).clamp(0.0, 1.0)),
            hips: attitude(self.hips),
            chest: attitude(self.chest),
            head: attitude(self.head),
            left_hand: place(self.left_hand),
            right_hand: place(self.right_hand),
            left_foot: place(self.left_foot),
            right_foot: place(self.right_foot),
            left_heel: scaled(self.left_heel),
            right_heel: scaled(self.right_heel),
            left_twist: scaled(self.left_twist),
            right_twist: scaled(self.right_twist),
            ..self.clone()
        }
    }
}

impl Step {
    fn varied(&self, amount: f32, pace: f32) -> Step {
        let by = self.by.map(|v| v * amount);
        Step { from: self.from * pace, to: self.to * pace, by, turn: self.turn * amount, ..self.clone() }
    }
}

impl Flight {
    fn varied(&self, pace: f32) -> Flight {
        let [from, to, load, absorb] = [self.from, self.to, self.load, self.absorb].map(|t| t * pace);
        Flight { from, to, load, absorb }
    }
}

impl SpanKey {
    fn varied(&self, pace: f32) -> SpanKey {
        let active = self.active.map(|times| times.map(|t| t * pace));
        SpanKey { from: self.from * pace, to: self.to * pace, active, ..self.clone() }
    }
}
