//! Keeps what a layer shows from jumping: where inverse kinematics would flip an elbow from one tick to the next, the jump is taken up and let go of
//! over a fifth of a second.

use kumite_motion::blend::decay;
use kumite_motion::rotation::{about, from_vector, to_vector, twist_angle};
use kumite_motion::{Pose, Quat, Role, Vec3, humanoid};

const JOINTS: usize = Role::ALL.len();
/// By how much an angular velocity may change in a tick beyond what the motion below does, radians per second: captures change by 11.9 in two ticks once
/// in a thousand frames.
const TURNS: f32 = 5.5;
/// The same for the pelvis, metres per second: a landing stops bodies by 4 g.
const MOVES: f32 = 0.35;
/// A jump is let go of in this time, seconds.
const FADES: f32 = 0.2;

/// How one joint moved, in the layer and below it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Turning {
    last: Quat,
    /// Radians per second, in the joint's own frame.
    speed: Vec3,
    below: Quat,
    below_speed: Vec3,
    /// What was taken up, as a rotation vector, and how long ago.
    off: Vec3,
    since: f32,
}

/// The same of the pelvis, metres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Moving {
    last: Vec3,
    speed: Vec3,
    below: Vec3,
    below_speed: Vec3,
    off: Vec3,
    since: f32,
}

/// What was shown last, and what is left of jumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Steady {
    joints: [Turning; JOINTS],
    root: Moving,
}

impl Steady {
    /// From the motion alone: as it is now, and as it was so many seconds ago.
    pub fn from(now: &Pose, before: &Pose, apart: f32) -> Steady {
        let rate = 1.0 / apart.max(1e-4);
        let joint = |j: usize| {
            let [Some(last), Some(first)] = [now, before].map(|pose| pose.rotations.get(j).copied()) else {
                return Turning::default();
            };
            let speed = to_vector(first.conjugate() * last) * rate;
            Turning { last, speed, below: last, below_speed: speed, off: Vec3::ZERO, since: FADES }
        };
        let speed = (now.root() - before.root()) * rate;
        let root =
            Moving { last: now.root(), speed, below: now.root(), below_speed: speed, off: Vec3::ZERO, since: FADES };
        Steady { joints: std::array::from_fn(joint), root }
    }

    /// Whether nothing is left of jumps.
    pub fn settled(&self) -> bool {
        self.root.since >= FADES && self.joints.iter().all(|joint| joint.since >= FADES)
    }

    /// Only looks at what is shown and at what is played below it: nothing is held back, as where a blow throws limbs about.
    pub fn watch(&mut self, played: &Pose, pose: &Pose, seconds: f32) {
        let rate = 1.0 / seconds.max(1e-4);
        for (joint, (turn, below)) in self.joints.iter_mut().zip(pose.rotations.iter().zip(&played.rotations)) {
            joint.speed = to_vector(joint.last.conjugate() * *turn) * rate;
            joint.below_speed = to_vector(joint.below.conjugate() * *below) * rate;
            (joint.last, joint.below, joint.off, joint.since) = (*turn, *below, Vec3::ZERO, FADES);
        }
        let root = &mut self.root;
        (root.speed, root.below_speed) = ((pose.root() - root.last) * rate, (played.root() - root.below) * rate);
        (root.last, root.below, root.off, root.since) = (pose.root(), played.root(), Vec3::ZERO, FADES);
    }

    /// What was shown last has been changed since, within the same tick.
    pub fn amend(&mut self, pose: &Pose, seconds: f32) {
        let rate = 1.0 / seconds.max(1e-4);
        for (joint, turn) in self.joints.iter_mut().zip(&pose.rotations) {
            joint.speed += to_vector(joint.last.conjugate() * *turn) * rate;
            joint.last = *turn;
        }
    }

    /// Shows a pose that the layer made of what is played below, `seconds` after the last. `within` brings turns that go too far back, given what is
    /// played.
    pub fn show(&mut self, played: &Pose, pose: &mut Pose, seconds: f32, within: impl Fn(Role, Quat, Quat) -> Quat) {
        let rate = 1.0 / seconds.max(1e-4);
        let turns = pose.rotations.iter_mut().zip(&played.rotations).zip(Role::ALL);
        for (joint, ((turn, below), role)) in self.joints.iter_mut().zip(turns) {
            let below_speed = to_vector(joint.below.conjugate() * *below) * rate;
            let own = (below_speed - joint.below_speed).length();
            joint.since += seconds;
            let mut wanted = *turn * from_vector(joint.off * decay(joint.since, FADES).0);
            let expected = joint.last * from_vector(joint.speed * seconds);
            let jump = to_vector(expected.conjugate() * wanted);
            let most = (TURNS + own) * seconds;
            if jump.length() > most {
                wanted = expected * from_vector(jump.clamp_length_max(most));
                (joint.off, joint.since) = (to_vector(turn.conjugate() * wanted), 0.0);
            }
            // Only where that is no jump either: what lies beyond a limit may be nearest to either end of it.
            let kept = within(role, wanted, *below);
            let wanted = if to_vector(expected.conjugate() * kept).length() <= 3.0 * most { kept } else { wanted };
            let wanted = fold(role, joint.last, *below, wanted, seconds);
            *turn = wanted.normalize();
            joint.speed = to_vector(joint.last.conjugate() * *turn) * rate;
            (joint.last, joint.below, joint.below_speed) = (*turn, *below, below_speed);
        }
        let root = &mut self.root;
        let below_speed = (played.root() - root.below) * rate;
        let own = (below_speed - root.below_speed).length();
        root.since += seconds;
        let made = pose.root();
        let mut wanted = made + root.off * decay(root.since, FADES).0;
        let expected = root.last + root.speed * seconds;
        let most = (MOVES + own) * seconds;
        if (wanted - expected).length() > most {
            wanted = expected + (wanted - expected).clamp_length_max(most);
            (root.off, root.since) = (wanted - made, 0.0);
        }
        pose.translations[0] = wanted;
        root.speed = (wanted - root.last) * rate;
        (root.last, root.below, root.below_speed) = (wanted, played.root(), below_speed);
    }
}

/// A folded hinge, radians, and how fast one may be slowed down before it, radians per second squared: by what a tick may change.
const FOLDED: f32 = 2.7;
const BRAKES: f32 = 120.0 * TURNS;

/// Elbows and knees that are carried on by what they did slow down before they are folded.
fn fold(role: Role, last: Quat, below: Quat, wanted: Quat, seconds: f32) -> Quat {
    let Some(axis) = humanoid::hinge_axis(role) else { return wanted };
    let angle = |turn: Quat| {
        let angle = twist_angle(turn, axis);
        if angle < -std::f32::consts::FRAC_PI_2 { angle + std::f32::consts::TAU } else { angle }
    };
    let (was, will) = (angle(last), angle(wanted));
    let room = (FOLDED.max(angle(below)) - was).max(0.0);
    let most = was + (2.0 * BRAKES * room).sqrt() * seconds;
    if will > most { wanted * about(axis, most - will) } else { wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::{humanoid, rotation::about};

    const TICK: f32 = 1.0 / 120.0;

    /// A jump of half a radian is shown as a movement: no step of speed is larger than allowed, and after a fifth of a second the pose is as wanted.
    #[test]
    fn a_jump_becomes_a_movement() {
        let rest = Pose::rest(&humanoid::skeleton());
        let mut steady = Steady::from(&rest, &rest, TICK);
        let elbow = Role::LeftElbow.joint().at();
        let mut jumped = rest.clone();
        jumped.rotations[elbow] = about(Vec3::Y, 0.5);
        jumped.translations[0] += Vec3::X * 0.05;
        let (mut last, mut speed) = (0.0f32, 0.0f32);
        for tick in 0..60 {
            let mut pose = jumped.clone();
            steady.show(&rest, &mut pose, TICK, |_, turn, _| turn);
            let angle = to_vector(pose.rotations[elbow]).y;
            let now = (angle - last) / TICK;
            assert!((now - speed).abs() <= TURNS + 1e-2, "tick {tick}: {speed} to {now}");
            (last, speed) = (angle, now);
            if tick > 40 {
                assert!(
                    (angle - 0.5).abs() < 1e-3 && (pose.root() - jumped.root()).length() < 1e-3,
                    "tick {tick}: {angle}"
                );
            }
        }
    }

    /// What the motion below does itself is not held back.
    #[test]
    fn jumps_of_the_motion_below_are_shown() {
        let rest = Pose::rest(&humanoid::skeleton());
        let mut steady = Steady::from(&rest, &rest, TICK);
        let mut moved = rest.clone();
        moved.rotations[4] = about(Vec3::X, 0.3);
        let mut pose = moved.clone();
        steady.show(&moved, &mut pose, TICK, |_, turn, _| turn);
        assert!(to_vector(pose.rotations[4].conjugate() * moved.rotations[4]).length() < 1e-4);
    }
}
