//! Many random threats, judged and counted.

use std::sync::Arc;

use cpu_time::ThreadTime;
use kumite_motion::library::Library;
use kumite_react::balance::Case;
use kumite_react::rules::Part;
use kumite_react::{Body, Brace};
use kumite_stage::brace_referee::Judged;
use kumite_stage::brace_trial::{self, Doing, Played};
use rayon::prelude::*;
use serde_json::{Value, json};

use super::{GUARDS, judged};
use crate::dodge::{combined, spread};
use crate::{Progress, Report};

/// Threats this near to straight ahead are frontal, radians.
const FRONTAL: f32 = 1.05;
/// With so much time left hands have to be there, seconds.
const IN_TIME: f32 = 0.40;
/// Bounds of the referee: degrees, metres.
const LIMIT: f32 = 2.0;
const SLIDE: f32 = 0.01;
const CENTRE: f64 = 0.01;
const STRIDE_CENTRE: f32 = 0.03;
const STRAIGHT: f32 = 0.02;
const NECK: f32 = 0.01;
const DEEP: f32 = 0.02;
/// Hands and necks that are slower than this at first can be led straight, metres per second.
const SLOW_HAND: f32 = 1.0;
/// Ticks of which the layer's time is the mean.
const APPLIED: usize = 60;

/// Seed of one threat of many.
pub(super) fn seed(of_all: u64, number: u32) -> u64 {
    of_all.wrapping_mul(1_000_003).wrapping_add(u64::from(number))
}

/// One threat.
struct Trial {
    number: u32,
    doing: Doing,
    /// CPU time of the pose and all else that begins a brace, of everything from what is known to the first tick, and of a tick of the layer.
    solve_us: f64,
    ready_us: f64,
    layer_us: f64,
    played: Played,
    judged: Judged,
    snap: f64,
    hash: u64,
}

impl Trial {
    fn of(library: &Arc<Library>, seed: u64, number: u32) -> Option<Trial> {
        let (moment, request) = brace_trial::random(library, seed)?;
        let skeleton = library.skeleton();
        let body = Body::of(skeleton)?;
        let start = ThreadTime::now();
        let source = moment.character.brace_source(request.seconds);
        let ready = start.elapsed();
        let start = ThreadTime::now();
        let (mut brace, _) = Brace::begin(skeleton, &body, &source, &request).ok()?;
        let solve = start.elapsed();
        let (mut pose, mut world) = (source.now.clone(), moment.character.world().clone());
        let start = ThreadTime::now();
        for _ in 0..APPLIED {
            brace.advance(1.0 / 120.0);
            pose.clone_from(&source.now);
            brace.apply(skeleton, &source.now, &mut pose, &mut world);
        }
        let layer_us = start.elapsed().as_secs_f64() * 1e6 / APPLIED as f64;
        let played = moment.play(&request).ok()?;
        let take = played.recorder.clone().finish("brace", skeleton).ok()?;
        Some(Trial {
            number,
            doing: moment.doing,
            solve_us: solve.as_secs_f64() * 1e6,
            ready_us: (ready + solve).as_secs_f64() * 1e6,
            layer_us,
            judged: judged(library, &played),
            snap: f64::from(take.quality.snap),
            hash: take.hash,
            played,
        })
    }

    /// How far the centre of mass is from where it is wanted at contact, metres; `None` in stride and where it cannot be had (case 3).
    fn centre_off(&self) -> Option<f64> {
        let (at, wanted) = (self.judged.centre, self.played.solved.centres[1]);
        let off = f64::from((at.x - wanted.x) * (at.x - wanted.x) + (at.z - wanted.y) * (at.z - wanted.y)).sqrt();
        (self.played.brace.planted() && self.played.solved.case != Case::OutOfBalance).then_some(off)
    }

    fn frontal(&self) -> bool {
        let aim = &self.played.solved.aim;
        aim.eccentricity.abs() < FRONTAL && aim.part != Part::Legs
    }

    fn in_time(&self) -> bool {
        self.played.seconds >= IN_TIME
    }
}

pub(super) fn run(library: &Arc<Library>, count: u32, seed: u64, progress: &Progress) -> Report {
    let bar = progress.bar(count as usize, "bracing");
    let one = |number: u32| {
        bar.inc(1);
        Trial::of(library, self::seed(seed, number), number)
    };
    let all: Vec<Trial> = (0..count).into_par_iter().filter_map(one).collect();
    bar.finish_and_clear();
    let json = report(&all);
    let text = format!("{json:#}\n");
    Report { text, json }
}

fn report(all: &[Trial]) -> Value {
    let spread_of = |value: &dyn Fn(&Trial) -> Option<f64>| {
        let mut values: Vec<f64> = all.iter().filter_map(value).collect();
        spread(&mut values)
    };
    let count = |of: &dyn Fn(&Trial) -> bool| all.iter().filter(|t| of(t)).count();
    let share = |of: &dyn Fn(&Trial) -> bool, which: &dyn Fn(&Trial) -> bool| {
        count(&|t| of(t) && which(t)) as f64 / count(of).max(1) as f64
    };
    let always = |_: &Trial| true;
    let planted = |t: &Trial| t.played.brace.planted();
    let frontal = |t: &Trial| t.frontal() && t.in_time();
    let guards = |t: &Trial| t.judged.guard <= GUARDS;
    // Of hands: straight unless they go around the body or were fast at first.
    let led = |t: &Trial, slow: bool| {
        (0..2)
            .filter(move |k| t.played.brace.straight(*k) && (!slow || t.judged.first_speeds[*k] < SLOW_HAND))
            .collect::<Vec<_>>()
    };
    let straight = |slow: bool| {
        let hands: Vec<f32> = all.iter().flat_map(|t| led(t, slow).into_iter().map(|k| t.judged.strays[k])).collect();
        hands.iter().filter(|v| **v <= STRAIGHT).count() as f64 / hands.len().max(1) as f64
    };
    // The worst few, by number, to be looked at.
    let worst = |value: &dyn Fn(&Trial) -> Option<f64>, about: &dyn Fn(&Trial) -> Value| {
        let mut ranked: Vec<(f64, &Trial)> = all.iter().filter_map(|t| Some((value(t)?, t))).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        let few = ranked.iter().take(12).map(|(value, t)| json!([t.number, value, about(t)]));
        Value::Array(few.collect())
    };
    let nothing = |_: &Trial| Value::Null;
    let wobble: f64 = all.iter().map(|t| f64::from(t.judged.wobble)).sum();
    let plain: f64 = all.iter().map(|t| f64::from(t.judged.plain_wobble)).sum();
    let cases = [1, 2, 3].map(|case| count(&|t| planted(t) && t.played.solved.case.number() == case));
    let counts = json!({
        "trials": all.len(), "planted": count(&planted),
        "idle": count(&|t| t.doing == Doing::Idle), "walking": count(&|t| t.doing == Doing::Walking), "fighting": count(&|t| t.doing == Doing::Fighting),
        "not_finite": count(&|t| !t.judged.finite), "fell_back": count(&|t| t.played.solved.fell_back),
        "cases": cases,
        "solve_us": spread_of(&|t| Some(t.solve_us)), "ready_us": spread_of(&|t| Some(t.ready_us)), "layer_us": spread_of(&|t| Some(t.layer_us)),
        "evaluations": spread_of(&|t| Some(f64::from(t.played.solved.evaluations))),
        "com_error_m": spread_of(&Trial::centre_off),
        "com_within_share": share(&|t| t.centre_off().is_some(), &|t| t.centre_off().is_some_and(|off| off <= CENTRE)),
        "stride_com_m": spread_of(&|t| (!planted(t)).then_some(f64::from(t.judged.centre_off))),
        "stride_com_within_share": share(&|t| !planted(t), &|t| t.judged.centre_off <= STRIDE_CENTRE),
        "foot_slide_m": spread_of(&|t| Some(f64::from(t.judged.slide))),
        "foot_slide_within_share": share(&always, &|t| t.judged.slide < SLIDE),
        "planted_slide_m": spread_of(&|t| planted(t).then_some(f64::from(t.judged.slide))),
    });
    let hands = json!({
        "guarded": count(&guards), "guarded_unbraced": count(&|t| t.judged.unbraced_guard <= GUARDS),
        "frontal_in_time": count(&frontal), "frontal_in_time_guarded_share": share(&frontal, &guards),
        "frontal_in_time_unbraced_share": share(&frontal, &|t| t.judged.unbraced_guard <= GUARDS),
        "frontal_late_guarded_share": share(&|t| t.frontal() && !t.in_time(), &guards),
        "hand_speed_m_s": spread_of(&|t| Some(f64::from(t.judged.hand_speed))),
        "hands_straight_share": straight(false), "slow_hands_straight_share": straight(true),
        "hands_led_around": all.iter().map(|t| 2 - led(t, false).len()).sum::<usize>(),
    });
    let rest = json!({
        "neck_m": spread_of(&|t| planted(t).then_some(f64::from(t.judged.neck_strays))),
        "neck_within_share": share(&planted, &|t| t.judged.neck_strays <= NECK),
        "slow_neck_within_share": share(&|t| planted(t) && t.judged.neck_speed < SLOW_HAND, &|t| t.judged.neck_strays <= NECK),
        "stride_neck_within_share": share(&|t| !planted(t), &|t| t.judged.neck_strays <= NECK),
        "wobble_of_plain": wobble / plain.max(1e-9), "steadier_share": share(&always, &|t| t.judged.wobble <= t.judged.plain_wobble + 1e-3),
        "beyond_limits_deg": spread_of(&|t| Some(f64::from(t.judged.beyond_limits.to_degrees()))),
        "feet_within_limits_share": share(&always, &|t| t.judged.feet_beyond_limits.to_degrees() <= LIMIT),
        "within_limits_share": share(&always, &|t| t.judged.beyond_limits.to_degrees() <= LIMIT),
        "penetration_m": spread_of(&|t| Some(f64::from(t.judged.penetration))), "penetration_within_share": share(&always, &|t| t.judged.penetration <= DEEP),
        "snap": spread_of(&|t| Some(t.snap)), "snap_within_share": share(&always, &|t| t.snap <= 1.5),
        "hash": combined(all.iter().map(|t| t.hash)),
    });
    let worst = json!({
        "worst": {
            "com": worst(&Trial::centre_off, &nothing),
            "slide": worst(&|t| Some(f64::from(t.judged.slide)), &|t| json!(planted(t))),
            "limits": worst(&|t| Some(f64::from(t.judged.beyond_limits.to_degrees())), &|t| json!([t.judged.beyond_which.map(|r| r.name()), planted(t), t.played.solved.aim.part.name(), t.played.solved.aim.in_front])),
            "penetration": worst(&|t| Some(f64::from(t.judged.penetration)), &|t| json!([t.judged.penetrates.map(|(a, b)| [a.name(), b.name()]), t.judged.penetrates_at, t.played.solved.terms.clash, t.played.solved.aim.part.name(), t.played.solved.aim.in_front])),
            "guard": worst(&|t| frontal(t).then_some(f64::from(t.judged.guard)), &|t| json!([t.played.solved.aim.part.name(), planted(t)])),
            "neck": worst(&|t| Some(f64::from(t.judged.neck_strays)), &|t| json!([planted(t), t.judged.neck_speed])),
            "snap": worst(&|t| Some(t.snap), &|t| json!([planted(t), t.judged.first_speeds])),
            "stride_com": worst(&|t| (!planted(t)).then_some(f64::from(t.judged.centre_off)), &nothing),
            "straight": worst(&|t| led(t, true).into_iter().map(|k| f64::from(t.judged.strays[k])).reduce(f64::max), &|t| json!([planted(t), t.judged.first_speeds])),
        },
    });
    let parts = [counts, hands, rest, worst].into_iter().filter_map(|part| match part {
        Value::Object(part) => Some(part),
        _ => None,
    });
    Value::Object(parts.flatten().collect())
}
