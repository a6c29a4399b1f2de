//! How far and when a body leaves the space it held: what makes a motion an avoidance.

use std::sync::Arc;

use kumite_motion::volume::{self, BodySphere, Sphere};
use kumite_motion::{Clip, FrameIdx, Pose, Role, Roles, Skeleton, WorldPose, fk};

/// A part of the body that something may be aimed at, and how free its place becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vacated {
    /// Head, back (chest), waist (belly) or pelvis.
    pub part: Role,
    /// When no part of the body is in its middle: seconds of the clip.
    pub from: f32,
    /// Until when.
    pub to: f32,
    /// Farthest the body gets from there, metres.
    pub by: f32,
}

/// Parts that are looked at.
pub const TARGETS: [Role; 4] = [Role::Head, Role::Back, Role::Waist, Role::Pelvis];

/// The spheres of a body, to measure many motions of it.
#[derive(Clone, Debug)]
pub struct Space {
    skeleton: Arc<Skeleton>,
    spheres: Vec<BodySphere>,
}

impl Space {
    /// Of a skeleton of the canonical body.
    pub fn of(skeleton: &Arc<Skeleton>) -> Space {
        Space { skeleton: Arc::clone(skeleton), spheres: volume::fit(skeleton, &Roles::by_canonical_names(skeleton)) }
    }

    fn body(&self, clip: &Clip, frame: usize, out: &mut Vec<Sphere>) {
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(&self.skeleton, &pose, &mut world);
        volume::place(&self.spheres, &world, out);
    }

    /// Which places that were the body's at frame `first` are free at some time until `last`. A place is the middle of one of a part's
    /// spheres; it is free by the distance from there to the nearest surface of the body. Of each part the sphere that becomes free
    /// soonest tells.
    pub fn vacated(&self, clip: &Clip, first: usize, last: usize) -> Vec<Vacated> {
        let (mut held, mut now) = (Vec::new(), Vec::new());
        self.body(clip, first, &mut held);
        let mut free: Vec<Option<Vacated>> = vec![None; held.len()];
        for frame in first..=last.min(clip.frames() - 1) {
            self.body(clip, frame, &mut now);
            let time = frame as f32 / clip.fps();
            for ((place, sphere), free) in held.iter().zip(&self.spheres).zip(&mut free) {
                if !TARGETS.contains(&sphere.part) {
                    continue;
                }
                let by =
                    now.iter().map(|s| (s.centre - place.centre).length() - s.radius).fold(f32::INFINITY, f32::min);
                if by > 0.0 {
                    let seen = free.get_or_insert(Vacated { part: sphere.part, from: time, to: time, by });
                    seen.to = time;
                    seen.by = seen.by.max(by);
                }
            }
        }
        TARGETS
            .into_iter()
            .filter_map(|part| {
                let of_part = free.iter().flatten().filter(|v| v.part == part);
                of_part.copied().min_by(|a, b| a.from.total_cmp(&b.from).then(b.by.total_cmp(&a.by)))
            })
            .collect()
    }
}
