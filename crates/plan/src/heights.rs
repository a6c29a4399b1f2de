//! At which heights an avoidance answers: whoever lifts a knee at a ball that flies at the head may be missed by luck, but does not dodge.

use kumite_motion::{EdgeIdx, Role};

use crate::Bodies;

/// Heights are told apart by this much, metres.
const BAND: f32 = 0.1;
/// What stands for a height is whichever of these is nearest to it when the avoidance begins; and how far it is carried at least by who avoids
/// an attack there, metres. A head sways by 15 cm above hips that dodge, and knees bend by 25 cm below a head that ducks.
const LANDMARKS: [(Role, f32); 7] = [
    (Role::Head, 0.2),
    (Role::Back, 0.1),
    (Role::Pelvis, 0.12),
    (Role::LeftKnee, 0.3),
    (Role::RightKnee, 0.3),
    (Role::LeftAnkle, 0.3),
    (Role::RightAnkle, 0.3),
];

/// The heights above the ground at which an avoidance carries the body away, a bit for each band.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heights(u32);

impl Heights {
    /// Of an avoidance that begins and is active at these seconds of an edge.
    pub(crate) fn of(bodies: &Bodies, edge: EdgeIdx, from: f32, active: (f32, f32)) -> Heights {
        let (mut row, mut start) = (bodies.row(), bodies.row());
        bodies.sample(edge, from, &mut start);
        let mut carried = [0.0f32; LANDMARKS.len()];
        for look in 0..=8 {
            bodies.sample(edge, active.0 + (active.1 - active.0) * look as f32 / 8.0, &mut row);
            for (far, (role, _)) in carried.iter_mut().zip(LANDMARKS) {
                let joint = bodies.joint(role);
                *far = far.max((row.get(joint) - start.get(joint)).length());
            }
        }
        let heights = LANDMARKS.map(|(role, _)| start.get(bodies.joint(role)).y);
        let answers = |band: u32| {
            let height = (band as f32 + 0.5) * BAND;
            let off = heights.map(|h| (h - height).abs());
            let nearest = off.into_iter().fold(f32::INFINITY, f32::min);
            // Left and right are about as high.
            let far = |k: usize| carried[k] >= LANDMARKS[k].1;
            (0..LANDMARKS.len()).any(|k| off[k] < nearest + BAND && far(k))
        };
        Heights((0..u32::BITS).filter(|band| answers(*band)).fold(0, |bits, band| bits | 1 << band))
    }

    /// Whether an attack that arrives at this height is answered.
    pub fn answer(self, height: f32) -> bool {
        let band = (height / BAND).clamp(0.0, 31.0) as u32;
        self.0 >> band & 1 == 1
    }
}
