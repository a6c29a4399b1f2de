//! Planted feet do not move, and knees do not pop, in every embedded motion.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use kumite_keying::embedded;
use kumite_motion::fk::Tracks;
use kumite_motion::rotation::between;
use kumite_motion::{Contacts, FrameIdx, Role};

#[test]
fn planted_feet_are_still() {
    for clip in embedded::clips().unwrap() {
        let tracks = Tracks::of(&clip);
        for (part, role) in [(Contacts::LEFT_TOE, Role::LeftToe), (Contacts::RIGHT_TOE, Role::RightToe)] {
            for frame in 1..clip.frames() {
                if clip.contacts[frame].has(part) && clip.contacts[frame - 1].has(part) {
                    let moved = tracks.get(FrameIdx(frame as u32), role.joint())
                        - tracks.get(FrameIdx(frame as u32 - 1), role.joint());
                    assert!(moved.length() < 1e-4, "{} frame {frame}: {role:?} moves {} m", clip.name, moved.length());
                }
            }
        }
    }
}

#[test]
fn no_joint_turns_faster_than_people_do() {
    for clip in embedded::clips().unwrap() {
        for frame in 1..clip.frames() as u32 {
            for role in Role::ALL {
                let turned = between(
                    clip.rotation(FrameIdx(frame - 1), role.joint()),
                    clip.rotation(FrameIdx(frame), role.joint()),
                );
                let speed = turned.to_degrees() * clip.fps();
                assert!(speed < 1500.0, "{} frame {frame}: {role:?} at {speed} degrees a second", clip.name);
            }
        }
    }
}
