//! Arms that are led around the body: where a hand cannot go straight, shoulder, elbow and wrist turn from one pose to another.

use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, from_vector, swing_twist, to_vector, twist_angle};
use kumite_motion::{Pose, Quat, Vec3};

use crate::body::Arm;

/// An arm whose joints turn from one pose to another: the shoulder by swing and twist about the middle of what it can do, so that whatever lies between two
/// poses that it can take it can take too; the middle is forward and out, so that the arm is led around the body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ArmTurn {
    /// Shoulder, elbow, wrist at first.
    from: [Quat; 3],
    /// Swing and twist of the shoulder at first and in the end, radians.
    shoulder: [(Vec3, f32); 2],
    /// By which rotation vectors elbow and wrist turn.
    by: [Vec3; 2],
}

impl ArmTurn {
    pub(crate) fn new(arm: &Arm, start: &Pose, end: &Pose) -> ArmTurn {
        let joints = [arm.joints[1], arm.joints[2], arm.joints[3]];
        let ends = [start, end].map(|pose| joints.map(|role| pose.rotation(role.joint())));
        let by = [1, 2].map(|k: usize| to_vector(ends[0][k].conjugate() * ends[1][k]));
        ArmTurn { from: ends[0], shoulder: ends.map(|arm_of| swing_and_twist(arm, arm_of[0])), by }
    }

    /// How far the hand goes, about: the arm swings nearly straight. Metres.
    pub(crate) fn way(&self, arm: &Arm) -> f32 {
        (self.shoulder[1].0 - self.shoulder[0].0).length() * arm.length
    }

    /// Shoulder, elbow and wrist, `way` of it done; what the motion below has changed meanwhile fades.
    pub(crate) fn at(&self, arm: &Arm, played: &[Quat; 3], way: f32) -> [Quat; 3] {
        let [(swing, twist), (to_swing, to_twist)] = self.shoulder;
        let (bone, centre) = middle(arm);
        let shoulder =
            centre * from_vector(swing + (to_swing - swing) * way) * about(bone, twist + (to_twist - twist) * way);
        let [elbow, wrist] = [0, 1].map(|k: usize| self.from[k + 1] * from_vector(self.by[k] * way));
        let mut turned = [shoulder, elbow, wrist];
        for ((turn, from), played) in turned.iter_mut().zip(self.from).zip(played) {
            let since = to_vector(from.conjugate() * *played) * (1.0 - way);
            *turn = (*turn * from_vector(since)).normalize();
        }
        turned
    }
}

/// The bone of an upper arm, and the middle of what its shoulder can do.
fn middle(arm: &Arm) -> (Vec3, Quat) {
    match Limit::of(arm.joints[1]) {
        Some(Limit::Ball { bone, centre, .. }) => (bone, centre),
        _ => (Vec3::X * arm.side, Quat::IDENTITY),
    }
}

fn swing_and_twist(arm: &Arm, shoulder: Quat) -> (Vec3, f32) {
    let (bone, centre) = middle(arm);
    let (swing, twist) = swing_twist(centre.conjugate() * shoulder, bone);
    (to_vector(swing), twist_angle(twist, bone))
}
