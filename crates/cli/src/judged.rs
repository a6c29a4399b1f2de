//! Faults that the judge of plausible motion finds in takes, by kind and counted. The judge itself is `kumite_bake::judge`.

use std::collections::BTreeMap;

use kumite_bake::judge::{Finding, judge, judge_floor};
use kumite_motion::anatomy::Anatomy;
use kumite_motion::{Clip, Roles};
use kumite_stage::Take;
use serde_json::{Value, json};

/// Everything in a canonical clip that no person does.
pub(crate) fn faults_of(clip: &Clip) -> Vec<Finding> {
    judge(clip, &Roles::canonical(), &Anatomy::of_canonical(clip.skeleton())).faults().copied().collect()
}

/// The same of a keyed clip, whose floor is known.
pub(crate) fn faults_of_keyed(clip: &Clip) -> Vec<Finding> {
    faults_of(clip).into_iter().chain(judge_floor(clip).faults().copied()).collect()
}

/// Kinds of faults found in a take, each once.
pub(crate) fn faults(take: &Take) -> Vec<&'static str> {
    let mut kinds: Vec<&'static str> = faults_of(&take.clip).iter().map(|f| f.what.name()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

/// Counts the takes that have faults, and the faults by kind.
pub(crate) fn count<'a>(faults: impl Iterator<Item = &'a Vec<&'static str>>) -> Value {
    let (mut takes, mut failed) = (0, 0);
    let mut kinds: BTreeMap<&str, u32> = BTreeMap::new();
    for faults in faults {
        takes += 1;
        failed += u32::from(!faults.is_empty());
        for fault in faults {
            *kinds.entry(fault).or_default() += 1;
        }
    }
    json!({"takes": takes, "failed": failed, "by_kind": kinds})
}
