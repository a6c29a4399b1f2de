//! What must hold of a motion whatever its stance.

use kumite_motion::{Role, SpanKind};
use kumite_text::TextError;

use crate::file::MotionFile;

pub(crate) fn check(motion: &MotionFile) -> Result<(), TextError> {
    let keys = motion.key.iter().enumerate().map(|(i, k)| (format!("key.{i}"), k.every, k.times));
    let steps = motion.step.iter().enumerate().map(|(i, s)| (format!("step.{i}"), s.every, s.times));
    for (at, every, times) in keys.chain(steps) {
        check_repeats(&at, every, times)?;
    }
    if !(motion.seconds.is_finite() && motion.seconds > 0.0 && motion.seconds <= 600.0) {
        return Err(TextError::value("seconds", motion.seconds, "more than 0, at most 600"));
    }
    if motion.name.trim().is_empty() {
        return Err(TextError::value("name", "empty", "a name"));
    }
    check_times(motion)?;
    if motion.change.is_some() != motion.ends.is_some() {
        let given = if motion.ends.is_some() { "ends" } else { "change" };
        let message = "ends and change belong together: the stance it ends in, and from when to when it changes";
        return Err(TextError::new(given, message));
    }
    for (i, span) in motion.span.iter().enumerate() {
        let path = |key: &str| format!("span.{i}.{key}");
        if span.to < span.from {
            return Err(TextError::value(&path("to"), span.to, "not before from"));
        }
        if let Some([from, to]) = span.active
            && !(span.from <= from && from <= to && to <= span.to)
        {
            return Err(TextError::value(&path("active"), format!("{from} to {to}"), "within the span"));
        }
        if SpanKind::from_name(&span.kind).is_none() {
            let names = SpanKind::ALL.map(SpanKind::name).join(", ");
            return Err(TextError::value(&path("kind"), &span.kind, &names));
        }
        if let Some(part) = &span.part
            && Role::from_name(part).is_none()
        {
            return Err(TextError::value(&path("part"), part, &Role::ALL.map(Role::name).join(", ")));
        }
    }
    Ok(())
}

fn check_repeats(at: &str, every: Option<f32>, times: Option<u32>) -> Result<(), TextError> {
    if every.is_some() != times.is_some() {
        return Err(TextError::new(at, "`every` and `times` belong together"));
    }
    if let Some(every) = every.filter(|e| !(e.is_finite() && *e > 0.0)) {
        return Err(TextError::value(&format!("{at}.every"), every, "more than 0 seconds"));
    }
    if let Some(times) = times.filter(|t| !(1..=1000).contains(t)) {
        return Err(TextError::value(&format!("{at}.times"), times, "1 to 1000"));
    }
    Ok(())
}

/// Every moment, repetitions included, lies within the motion, and intervals end after they begin.
fn check_times(motion: &MotionFile) -> Result<(), TextError> {
    let within = |path: &str, t: f32| {
        if t.is_finite() && (0.0..=motion.seconds).contains(&t) {
            return Ok(());
        }
        Err(TextError::value(path, t, &format!("0 to {} (seconds of the motion)", motion.seconds)))
    };
    // Where in the file each of the written-out repetitions comes from.
    let origins = |times: Vec<Option<u32>>| {
        let counts = times.into_iter().map(|t| t.unwrap_or(1) as usize).enumerate();
        counts.flat_map(|(at, count)| std::iter::repeat_n(at, count))
    };
    let all = motion.expanded();
    for (at, key) in origins(motion.key.iter().map(|k| k.times).collect()).zip(&all.key) {
        within(&format!("key.{at}.at"), key.at)?;
    }
    for (i, (at, step)) in origins(motion.step.iter().map(|s| s.times).collect()).zip(&all.step).enumerate() {
        let path = |key: &str| format!("step.{at}.{key}");
        within(&path("from"), step.from)?;
        within(&path("to"), step.to)?;
        if step.to <= step.from {
            return Err(TextError::value(&path("to"), step.to, "later than from"));
        }
        let mut earlier = all.step[..i].iter().filter(|s| s.foot == step.foot);
        if earlier.any(|s| s.from < step.to && step.from < s.to) {
            let message = format!("step {}: the same foot is already on its way then", at + 1);
            return Err(TextError::new(&path("from"), message));
        }
    }
    if let Some([from, to]) = motion.change {
        within("change.0", from)?;
        within("change.1", to)?;
        if to <= from {
            return Err(TextError::value("change.1", to, "later than from"));
        }
    }
    for (i, span) in motion.span.iter().enumerate() {
        within(&format!("span.{i}.from"), span.from)?;
        within(&format!("span.{i}.to"), span.to)?;
    }
    Ok(())
}
