//! Why a brace is as it is: what each rule turns, what the balance cost, when what happens.

use std::fmt::Write as _;

use kumite_motion::library::Library;
use kumite_motion::rotation::to_vector;
use kumite_motion::{Pose, Role};
use kumite_react::rules::{Controls, Setting, Stance, rules_for};
use kumite_react::{Body, Request};
use kumite_stage::brace_trial::Played;
use serde_json::{Value, json};

/// Joints that rules turn.
const JOINTS: [Role; 9] = [
    Role::Pelvis,
    Role::Waist,
    Role::Back,
    Role::Neck,
    Role::Head,
    Role::LeftClavicle,
    Role::RightClavicle,
    Role::LeftElbow,
    Role::RightElbow,
];

/// Joints, and by how much they turn about X, Y and Z, degrees.
type Turns = Vec<(Role, [f32; 3])>;

/// Turns of joints from one pose to another, degrees about X, Y and Z; those that do not turn are left out.
fn turned(from: &Pose, to: &Pose) -> Turns {
    let turn = |role: Role| {
        let joint = role.joint();
        (role, to_vector(to.rotation(joint) * from.rotation(joint).conjugate()).to_array().map(f32::to_degrees))
    };
    JOINTS.into_iter().map(turn).filter(|(_, angles)| angles.iter().any(|a| a.abs() >= 0.5)).collect()
}

/// What each rule turns, one after the other.
fn rules(library: &Library, played: &Played, request: &Request<'_>) -> Vec<(&'static str, Turns)> {
    let skeleton = library.skeleton();
    let Some(body) = Body::of(skeleton) else { return Vec::new() };
    let aim = played.solved.aim;
    let setting = Setting {
        skeleton,
        body: &body,
        aims: [aim; 2],
        turns: played.solved.turns,
        gain: aim.gain() * request.temper.strength(),
        planted: played.brace.planted(),
        raised: played.solved.raised,
    };
    let controls = Controls::of(request.speeds.share(played.impact.speed()), played.impact.size());
    let pose = if setting.planted { &played.source.ahead } else { &played.source.contact };
    let mut stance = Stance { pose: pose.clone(), ..Stance::default() };
    stance.update(skeleton);
    let mut told = Vec::new();
    for rule in rules_for(&setting) {
        let before = stance.pose.clone();
        rule.apply(&setting, &controls, &mut stance);
        told.push((rule.name(), turned(&before, &stance.pose)));
    }
    told
}

pub(super) fn text(library: &Library, played: &Played, request: &Request<'_>) -> String {
    let mut text = String::new();
    let (aim, solved, timing) = (&played.solved.aim, &played.solved, played.brace.timing());
    let _ = writeln!(
        text,
        "    aimed at the {}, {:.0} % head; {:.0}° {} the gaze, {}; size {:.2}, speed {:.2}",
        aim.part.name(),
        100.0 * aim.head,
        aim.eccentricity.abs().to_degrees(),
        if aim.eccentricity >= 0.0 { "left of" } else { "right of" },
        if aim.in_front { "before the shoulders" } else { "behind the shoulders" },
        played.impact.size(),
        request.speeds.share(played.impact.speed())
    );
    for (rule, joints) in rules(library, played, request) {
        let joints: Vec<String> = joints
            .iter()
            .map(|(role, [x, y, z])| format!("{} {x:.0}/{y:.0}/{z:.0}", role.name().replace('_', " ")))
            .collect();
        let _ = writeln!(text, "    {rule:<10} {}", if joints.is_empty() { "-".to_owned() } else { joints.join(", ") });
    }
    let t = solved.terms;
    let _ = writeln!(
        text,
        "    balance    case {}; off by {:.1} cm; hands gave {:.1} cm, trunk {:.0}°, height {:.1} cm, feet {:.2} cm; arms overlap by {:.1} cm",
        solved.case.number(),
        100.0 * t.balance,
        100.0 * t.hands,
        t.torso.to_degrees(),
        100.0 * t.height,
        100.0 * t.feet,
        100.0 * t.clash
    );
    let _ = writeln!(
        text,
        "    timing     moves {:.2} to {:.2} s, contact {:.2} s, leaves {:.2} s, over {:.2} s{}",
        timing.begins,
        timing.reaches,
        timing.contact,
        timing.leaves,
        timing.leaves + timing.recovers,
        if timing.planted { "; what plays stops 0.17 s on" } else { "; what plays goes on" }
    );
    text
}

pub(super) fn json(library: &Library, played: &Played, request: &Request<'_>) -> Value {
    let (t, timing) = (played.solved.terms, played.brace.timing());
    let rules: Vec<Value> = rules(library, played, request)
        .into_iter()
        .map(|(rule, joints)| {
            let joints: serde_json::Map<String, Value> =
                joints.into_iter().map(|(role, angles)| (role.name().to_owned(), json!(angles))).collect();
            json!({"rule": rule, "turns_deg": joints})
        })
        .collect();
    json!({
        "rules": rules,
        "balance": {"com_m": t.balance, "hands_m": t.hands, "torso_deg": t.torso.to_degrees(), "height_m": t.height,
            "feet_m": t.feet, "overlap_m": t.clash},
        "timing": {"begins_s": timing.begins, "reaches_s": timing.reaches, "contact_s": timing.contact,
            "leaves_s": timing.leaves, "over_s": timing.leaves + timing.recovers, "planted": timing.planted},
    })
}
