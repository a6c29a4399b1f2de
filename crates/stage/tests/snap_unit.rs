//! The unit of snaps is what it is documented to be, measured again on the captures.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests")]

use std::sync::Arc;

use kumite_bake::understand::understand;
use kumite_formats::bvh;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::retarget::{RetargetBody, retarget};
use kumite_motion::rotation::to_vector;
use kumite_motion::{FrameIdx, Role, Roles, humanoid, sample};
use kumite_stage::{NOISY, SNAP_UNIT};

#[test]
fn one_step_in_a_thousand_is_larger() {
    let skeleton = Arc::new(humanoid::skeleton());
    let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(&skeleton));
    let to = RetargetBody { skeleton: &skeleton, roles: &roles, anatomy: &anatomy };
    let mut steps: Vec<f32> = Vec::new();
    for path in kumite_captures::files("bvh").iter().filter(|p| p.to_string_lossy().contains("combat")) {
        let raw = bvh::read(&std::fs::read(path).unwrap()).unwrap().0.to_clip("capture").unwrap();
        let u = understand(&raw).unwrap();
        let from = RetargetBody { skeleton: u.clip.skeleton(), roles: &u.roles.value, anatomy: &u.anatomy };
        let clip =
            sample::resample(&retarget(&u.clip, from, to).unwrap().with_fps(u.fps.value).unwrap(), 60.0).unwrap();
        for role in Role::ALL.into_iter().filter(|r| !NOISY.contains(r)) {
            let turn = |f: u32| {
                let (a, b) = (clip.rotation(FrameIdx(f), role.joint()), clip.rotation(FrameIdx(f + 1), role.joint()));
                to_vector(a.conjugate() * b) * clip.fps()
            };
            steps.extend((1..clip.frames() as u32 - 1).map(|f| (turn(f) - turn(f - 1)).length()));
        }
    }
    if steps.len() < 10_000 {
        kumite_captures::skipped("the unit of snaps; too few captures of fights");
        return;
    }
    steps.sort_by(f32::total_cmp);
    let measured = steps[steps.len() * 999 / 1000];
    println!("{measured} rad/s of {} steps", steps.len());
    assert!((measured / SNAP_UNIT - 1.0).abs() < 0.1, "measured {measured}, SNAP_UNIT is {SNAP_UNIT}");
}
