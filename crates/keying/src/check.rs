//! What must hold of a motion whatever its stance.

use kumite_motion::{Role, SpanKind};
use kumite_text::TextError;

use crate::file::{Foot, MotionFile};

pub(crate) fn check(motion: &MotionFile) -> Result<(), TextError> {
    let keys = motion.key.iter().enumerate().map(|(i, k)| (format!("key.{i}"), k.every, k.times));
    let steps = motion.step.iter().enumerate().map(|(i, s)| (format!("step.{i}"), s.every, s.times));
    for (at, every, times) in keys.chain(steps) {
        check_repeats(&at, every, times)?;
    }
    let uneven = motion.key.iter().enumerate().map(|(i, k)| (format!("key.{i}.vary"), k.vary));
    let uneven = uneven.chain(motion.step.iter().enumerate().map(|(i, s)| (format!("step.{i}.vary"), s.vary)));
    for (path, value) in uneven {
        if !(0.0..=0.4).contains(&value) {
            return Err(TextError::value(&path, value, "0 to 0.4"));
        }
    }
    for (i, step) in motion.step.iter().enumerate() {
        if !(0.1..=0.9).contains(&step.peak) {
            return Err(TextError::value(&format!("step.{i}.peak"), step.peak, "0.1 to 0.9"));
        }
    }
    let early = &motion.early;
    for (part, value) in [
        ("weight", early.weight),
        ("hips", early.hips),
        ("chest", early.chest),
        ("neck", early.neck),
        ("head", early.head),
        ("elbows", early.elbows),
    ] {
        if let Some(value) = value.filter(|v| !(-0.5..=0.5).contains(v)) {
            return Err(TextError::value(&format!("early.{part}"), value, "-0.5 to 0.5 seconds"));
        }
    }
    if !(0.0..=1.0).contains(&motion.settle) {
        return Err(TextError::value("settle", motion.settle, "0 to 1"));
    }
    for (path, value) in [("amount", motion.amount), ("pace", motion.pace)] {
        if !(value.is_finite() && value > 0.0 && value <= 10.0) {
            return Err(TextError::value(path, value, "more than 0, at most 10"));
        }
    }
    if motion.like.is_some() {
        // The rest is known with what it is like.
        return Ok(());
    }
    if motion.stance.is_empty() {
        return Err(TextError::new("stance", "a motion has a stance, or is `like` another"));
    }
    if !(motion.seconds.is_finite() && motion.seconds > 0.0 && motion.seconds <= 600.0) {
        return Err(TextError::value("seconds", motion.seconds, "more than 0, at most 600"));
    }
    if motion.name.trim().is_empty() {
        return Err(TextError::value("name", "empty", "a name"));
    }
    check_times(motion)?;
    check_air(motion)?;
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

/// Feet are sent somewhere only while a step has them in the air, and bodies fly only while both are.
fn check_air(motion: &MotionFile) -> Result<(), TextError> {
    let all = motion.expanded();
    let lifted = |foot: Foot, from: f32, to: f32| {
        all.step.iter().any(|s| s.foot == foot && s.lift > 0.0 && s.from <= from && to <= s.to)
    };
    for (i, key) in motion.key.iter().enumerate() {
        for (foot, named, what) in
            [(Foot::Left, key.left_foot, "left_foot"), (Foot::Right, key.right_foot, "right_foot")]
        {
            if named.is_some() && !lifted(foot, key.at, key.at) {
                return Err(TextError::new(
                    &format!("key.{i}.{what}"),
                    "the foot is on the floor then: a step has to lift it",
                ));
            }
        }
    }
    for (i, flight) in motion.flight.iter().enumerate() {
        let path = |key: &str| format!("flight.{i}.{key}");
        let [from, to] = [flight.from, flight.to];
        if !(from.is_finite() && to.is_finite() && from < to && to - from <= 2.0) {
            return Err(TextError::value(&path("to"), to, "later than from, by 2 s at most"));
        }
        for (key, value) in [("load", flight.load), ("absorb", flight.absorb)] {
            if !(value.is_finite() && value >= 0.05) {
                return Err(TextError::value(&path(key), value, "0.05 s or more"));
            }
        }
        if from < flight.load || to + flight.absorb > motion.seconds {
            return Err(TextError::new(
                &path("from"),
                "the motion has no time to push off before it or to land after it",
            ));
        }
        for foot in [Foot::Left, Foot::Right] {
            if !lifted(foot, from, to) {
                return Err(TextError::new(&path("from"), "both feet have to be lifted by a step for all of it"));
            }
        }
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
