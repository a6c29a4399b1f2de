//! What captures show by their names.

use kumite_bake::analyse::Class;
use kumite_bake::analyse::evaluate::{Known, Truth};
use kumite_motion::{Height, Side};

/// What an ACCAD file shows by its name. `None` for names of two things ("WalkToRun") and of things that are no class here (hops, skips,
/// taunts, bows, forms, changes of stance).
pub(crate) fn truth_by_name(name: &str) -> Option<Truth> {
    let name = name.strip_prefix("Male2_")?.split_once('_')?.1;
    let has = |word: &str| name.contains(word);
    let any = |words: &[&str]| words.iter().any(|w| has(w));
    let class = match name {
        "Stand" | "Sway" | "Bounce" => Class::Idle,
        "Lie" | "CrouchToLie" | "Crawl" => Class::Down,
        "LieToCrouch" | "CrouchToReady" => Class::Up,
        _ if has("DoubleKick") => Class::Combo,
        _ if any(&["Roundhouse", "Crescent"]) => Class::Round,
        _ if any(&["Jab", "Cross"]) => Class::Straight,
        _ if has("Hook") => Class::Hook,
        _ if has("Uppercut") => Class::Uppercut,
        _ if has("Backfist") => Class::Backfist,
        _ if any(&["Sidekick", "BackKick"]) => Class::SideKick,
        _ if any(&["FrontKick", "PushKick", "AxeKick"]) => Class::Front,
        _ if has("Block") => Class::Block,
        _ if has("Dodge") => Class::Slip,
        _ if has("Duck") => Class::Duck,
        _ if any(&["SideStep", "Sidestep", "Advance", "Retreat"]) => Class::Step,
        _ if name.starts_with("TurnAround") => Class::Turn,
        _ if any(&["Hop", "Leap", "Skip", "Jump", "Crouch"]) || (has("Walk") && has("Run")) => return None,
        _ if has("Walk") => Class::Walk,
        _ if has("Run") => Class::Run,
        _ => return None,
    };
    let sided = !matches!(class, Class::Walk | Class::Run);
    let side = match class {
        // "BlockMiddleHigh": with both hands.
        Class::Block if has("BlockMiddle") => Some(Side::Middle),
        _ if sided && has("Left") => Some(Side::Left),
        _ if sided && has("Right") => Some(Side::Right),
        _ => None,
    };
    let height = match class {
        Class::Block if name.ends_with("High") => Some(Height::High),
        Class::Block if name.ends_with("Low") => Some(Height::Low),
        Class::Block => Some(Height::Middle),
        Class::Straight | Class::Hook | Class::Uppercut | Class::Backfist | Class::Round => {
            Some(if has("Body") { Height::Middle } else { Height::High })
        }
        _ if has("AxeKick") => Some(Height::High),
        _ => None,
    };
    Some(Truth { class, side, height })
}

/// What CMU captures show on the whole, by CMU's own index. Those of two things and of things that are no class here are left out.
pub(crate) const CMU: [(&str, Class); 41] = [
    ("74_03", Class::Front),
    ("135_04", Class::Front),
    ("135_09", Class::Straight),
    ("79_08", Class::Straight),
    ("77_09", Class::Duck),
    ("76_04", Class::Idle),
    ("76_11", Class::Step),
    ("90_16", Class::Down),
    ("90_18", Class::Down),
    ("140_01", Class::Up),
    ("140_08", Class::Up),
    ("02_01", Class::Walk),
    ("07_01", Class::Walk),
    ("09_12", Class::Walk),
    ("16_11", Class::Walk),
    ("16_13", Class::Walk),
    ("16_15", Class::Walk),
    ("16_17", Class::Walk),
    ("16_19", Class::Walk),
    ("16_34", Class::Walk),
    ("69_01", Class::Walk),
    ("69_20", Class::Walk),
    ("69_24", Class::Walk),
    ("69_50", Class::Walk),
    ("69_60", Class::Walk),
    ("02_03", Class::Run),
    ("16_08", Class::Run),
    ("16_35", Class::Run),
    ("16_37", Class::Run),
    ("16_39", Class::Run),
    ("16_41", Class::Run),
    ("16_43", Class::Run),
    ("16_57", Class::Run),
    ("127_03", Class::Run),
    ("127_05", Class::Run),
    ("127_09", Class::Run),
    ("127_11", Class::Run),
    ("127_13", Class::Run),
    ("127_14", Class::Run),
    ("127_15", Class::Run),
    ("127_17", Class::Run),
];

/// What is known of a CMU capture by its name.
pub(crate) fn known_of_cmu(name: &str) -> Option<Known> {
    let class = CMU.iter().find(|c| c.0 == name)?.1;
    Some(Known { truth: Truth { class, side: None, height: None }, when: None })
}
