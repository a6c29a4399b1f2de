//! When, and by how far, a body leaves the space it was in: what makes a motion an avoidance.

use std::sync::Arc;

use kumite_motion::volume::{self, BodySphere, Sphere};
use kumite_motion::{Clip, FrameIdx, Pose, Role, Roles, Skeleton, WorldPose, fk};

/// A target on the body whose place becomes free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vacated {
    /// Head, back (chest), waist (belly) or pelvis.
    pub part: Role,
    /// When the middle of its place is first free of the whole body, clip seconds.
    pub from: f32,
    /// When it is free for the last time, clip seconds.
    pub to: f32,
    /// Largest distance from there to the body, metres.
    pub by: f32,
}

/// Parts that attacks are aimed at.
pub const TARGETS: [Role; 4] = [Role::Head, Role::Back, Role::Waist, Role::Pelvis];

/// The spheres of a body, fitted once for many motions.
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

    /// Targets whose place at frame `first` becomes free at some time until `last`. A place is the centre of one of the part's spheres, and is free by its
    /// distance to the surface of the body; a part is represented by the sphere whose place becomes free first.
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
