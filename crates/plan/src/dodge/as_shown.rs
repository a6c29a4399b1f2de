//! The body along a laid-out path as it will be shown: joins turn joints, where [`Bodies`] lets them carry centres, and feet stay where the
//! floor holds them. In the middle of a long join that is centimetres nearer to the truth, and ten times the work: it is for the finalists of
//! a search.

use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::{Inertia, Velocity};
use kumite_motion::feet::{Feet, GRIP};
use kumite_motion::library::Library;
use kumite_motion::{Clip, Pose, WorldPose, fk, hinge, sample};

use super::clearance::leg_at;
use crate::bodies::Row;
use crate::legs::PlacedLeg;
use crate::warp::Warp;

/// What a plan is joined from.
#[derive(Clone, Debug, PartialEq)]
pub struct Base {
    /// The join in progress, and how long ago it began, seconds.
    pub join: Option<(Inertia, f32)>,
    /// Motion, join and bend, feet apart: now and a tick ago.
    pub shown: [Pose; 2],
    /// Seconds of a tick.
    pub tick: f32,
    /// How long the join takes, seconds, by which a plan replaces the bend that is shown; `None` if nothing is bent.
    pub unbends: Option<f32>,
    /// How the floor holds the feet.
    pub feet: Feet,
}

/// Feet are followed in steps of this, seconds. At 1/60 s the cheapest path was found for 98.6 instead of 98.4 % of 1,354 balls, and decisions took
/// a fifth longer.
const FEET_STEP: f32 = 1.0 / 30.0;

/// The joins of a laid-out path on rotations, and memory that is used again.
#[derive(Clone, Debug, Default)]
pub(crate) struct AsShown {
    joins: Vec<Joined>,
    /// How many of them are of this path.
    used: usize,
    poses: [Pose; 4],
    speeds: [Velocity; 2],
    world: WorldPose,
    anatomy: Option<Anatomy>,
    /// How the floor holds the feet now, and at the stage time and on the leg up to which they have been followed.
    held_now: Feet,
    held: Feet,
    followed: (f32, usize),
}

#[derive(Clone, Debug, Default)]
struct Joined {
    /// The leg that begins with it.
    leg: usize,
    /// Stage seconds from now.
    began: f32,
    join: Inertia,
}

impl AsShown {
    /// Works out the joins of a path, those that begin before a path time.
    pub(super) fn lay(&mut self, library: &Library, base: &Base, legs: &[PlacedLeg], warp: &Warp, until: f32) {
        self.used = 0;
        self.anatomy.get_or_insert_with(|| Anatomy::of_canonical(library.skeleton()));
        self.held_now.clone_from(&base.feet);
        self.held.clone_from(&base.feet);
        self.followed = (0.0, 0);
        // Whatever is not followed stays as it is: it must be there.
        self.shown(base);
        fk::pose(library.skeleton(), &self.poses[0], &mut self.world);
        if let Some(seconds) = base.unbends {
            let step = base.tick * warp.at(0.0).1;
            self.shown(base);
            self.entered(library, &legs[0], 0.0, step);
            self.add((0, 0.0), base.tick, seconds);
        } else if let Some((join, since)) = &base.join {
            let next = self.next((0, -since));
            next.join.clone_from(join);
        }
        for (number, leg) in legs.iter().enumerate().skip(1) {
            if leg.begins > until {
                return;
            }
            if leg.blend <= 0.0 {
                continue;
            }
            let began = warp.when(leg.begins);
            let step = base.tick * warp.at(began).1;
            if leg.begins <= 0.0 {
                self.shown(base);
            } else {
                let left = (number - 1, &legs[number - 1]);
                self.left(library, left, (leg.begins - step, began - base.tick), 0);
                self.left(library, left, (leg.begins, began), 1);
            }
            self.entered(library, leg, leg.begins, step);
            self.add((number, began), base.tick, leg.blend);
        }
    }

    fn next(&mut self, (leg, began): (usize, f32)) -> &mut Joined {
        if self.joins.len() == self.used {
            self.joins.push(Joined::default());
        }
        self.used += 1;
        let next = &mut self.joins[self.used - 1];
        (next.leg, next.began) = (leg, began);
        next
    }

    /// What is shown now is left.
    fn shown(&mut self, base: &Base) {
        let [now, before] = &base.shown;
        self.poses[0].clone_from(before);
        self.poses[1].clone_from(now);
    }

    /// One of the two poses of what is left: a leg at a path time and a stage time.
    fn left(&mut self, library: &Library, (number, leg): (usize, &PlacedLeg), (u, time): (f32, f32), slot: usize) {
        motion(library, leg, u, &mut self.poses[slot]);
        if let Some(joined) = self.joins[..self.used].iter().rfind(|j| j.leg <= number) {
            joined.join.apply(time - joined.began, &mut self.poses[slot]);
        }
    }

    /// The two poses of what is entered.
    fn entered(&mut self, library: &Library, leg: &PlacedLeg, u: f32, step: f32) {
        motion(library, leg, u, &mut self.poses[2]);
        motion(library, leg, u + step, &mut self.poses[3]);
    }

    /// The join of what is left and what is entered.
    fn add(&mut self, begins: (usize, f32), tick: f32, seconds: f32) {
        let [earlier, old, new, later] = &self.poses;
        let [old_speed, new_speed] = &mut self.speeds;
        old_speed.set(earlier, old, tick);
        new_speed.set(new, later, tick);
        let mut join = std::mem::take(&mut self.next(begins).join);
        join.set((&self.poses[1], &self.speeds[0]), (&self.poses[2], &self.speeds[1]), seconds);
        self.joins[self.used - 1].join = join;
    }

    /// The body at a stage time on a leg, in the frame of the leg's clip. Times that go up are cheap.
    pub(super) fn body(
        &mut self,
        library: &Library,
        (legs, warp): (&[PlacedLeg], &Warp),
        (time, number): (f32, usize),
        row: &mut Row,
    ) {
        if time < self.followed.0 {
            self.held.clone_from(&self.held_now);
            self.followed = (0.0, 0);
        }
        while self.followed.0 + FEET_STEP < time - 1e-4 {
            let (next, leg) = (self.followed.0 + FEET_STEP, self.followed.1);
            self.follow::<false>(library, (legs, warp), (next, leg_at(legs, warp.at(next).0, leg)));
        }
        self.follow::<true>(library, (legs, warp), (time, number));
        let (world, place) = (&self.world, &legs[number].place);
        let spheres = library.spheres().iter().map(|s| world.point(s.joint, s.offset));
        for (j, p) in spheres.chain(world.positions.iter().copied()).enumerate() {
            row.set(j, place.point_back(p));
        }
    }

    /// Works out joints and feet at a stage time on a leg, from those of the time followed so far: the whole body, or only what stands.
    fn follow<const WHOLE: bool>(
        &mut self,
        library: &Library,
        (legs, warp): (&[PlacedLeg], &Warp),
        (time, number): (f32, usize),
    ) {
        let (leg, u) = (&legs[number], warp.at(time).0);
        let skeleton = library.skeleton();
        let (clip, at) = moment(library, leg, u);
        let joined = self.joins[..self.used].iter().rfind(|j| j.leg <= number);
        let joined = joined.filter(|j| time - j.began < j.join.seconds());
        let [pose, ..] = &mut self.poses;
        if WHOLE {
            motion(library, leg, u, pose);
            if let Some(joined) = joined {
                hinge::join(&joined.join, time - joined.began, pose);
            }
            fk::pose(skeleton, pose, &mut self.world);
        } else {
            sample::joints_at(clip, at, hinge::legs(), pose);
            leg.place.planar().apply(pose);
            if let Some(joined) = joined {
                hinge::join_legs(&joined.join, time - joined.began, pose);
            }
            fk::joints(skeleton, pose, hinge::legs(), &mut self.world);
        }
        let contacts = (sample::contacts_at(clip, at), sample::contacts_at(clip, at + GRIP));
        if let Some(anatomy) = &self.anatomy {
            let passed = time - self.followed.0;
            self.held.plant(skeleton, anatomy, contacts, passed, pose, &mut self.world);
        }
        self.followed = (time, number);
    }
}

/// The clip that a leg plays, and the second of it at a path time.
fn moment<'a>(library: &'a Library, leg: &PlacedLeg, u: f32) -> (&'a Clip, f32) {
    let edge = library.graph().edge(leg.edge);
    let clip = library.clip(edge.clip);
    (clip, edge.first.0 as f32 / clip.fps() + leg.seconds(u))
}

/// A leg's own motion at a path time, where it lies on the stage.
fn motion(library: &Library, leg: &PlacedLeg, u: f32, out: &mut Pose) {
    let (clip, at) = moment(library, leg, u);
    sample::pose_at(clip, at, out);
    leg.place.planar().apply(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Leg;
    use crate::bodies::Bodies;
    use crate::hand_made::{edge, library, standing_edge};
    use crate::legs::Layout;
    use kumite_motion::align::{Planar, PlanarMatrix};
    use kumite_motion::{Quat, Role, Vec2};

    /// A join begins with what was shown, whatever that was, and ends in its own motion; bones keep their lengths on the way.
    #[test]
    fn joins_lead_from_what_is_shown_into_the_motion() {
        let library = library();
        let bodies = Bodies::of(&library, false);
        let stand = standing_edge(&library);
        let crouch = edge(&library, library.graph().edge(stand).to, "crouch");
        let place = PlanarMatrix::new(&Planar { turn: 0.7, shift: Vec2::new(1.0, -2.0) });
        let mut legs = Layout::default();
        legs.begin(&bodies, stand, 0.1, &place);
        legs.leave(0.0);
        let join = Some((Planar { turn: 0.3, shift: Vec2::new(0.2, 0.0) }, 0.2));
        legs.push(&bodies, &Leg { enter: 0.3, join, ..Leg::whole(crouch) });
        // Shown is the motion with every joint turned that is no hinge: those give in near their ends.
        let mut now = Pose::default();
        motion(&library, &legs[0], 0.0, &mut now);
        for role in Role::ALL.into_iter().filter(|role| !hinge::HINGES.contains(role)) {
            let q = &mut now.rotations[role.joint().at()];
            *q = (Quat::from_rotation_x(0.4) * *q).normalize();
        }
        let base = Base {
            join: None,
            shown: [now.clone(), now.clone()],
            tick: 1.0 / 120.0,
            unbends: None,
            feet: Feet::default(),
        };
        let (mut as_shown, warp, mut row) = (AsShown::default(), Warp::none(), bodies.row());
        as_shown.lay(&library, &base, &legs, &warp, 2.0);
        let join = as_shown.joins[0].join.clone();
        let mut world = WorldPose::default();
        fk::pose(library.skeleton(), &now, &mut world);
        let mut joints = |time: f32| -> Vec<_> {
            as_shown.body(&library, (&legs, &warp), (time, 1), &mut row);
            (0..world.positions.len()).map(|j| legs[1].place.point(row.get(bodies.spheres() + j))).collect()
        };
        let off = |a: &[kumite_motion::Vec3], b: &[kumite_motion::Vec3]| {
            a.iter().zip(b).map(|(p, q)| (*p - *q).length()).fold(0.0, f32::max)
        };
        assert!(off(&joints(0.0), &world.positions) < 1e-4);
        // Its own motion, on feet that the whole body was followed for.
        let (anatomy, mut feet, mut later) =
            (Anatomy::of_canonical(library.skeleton()), Feet::default(), world.clone());
        let mut before = 0.0;
        for time in (0..8).map(|step| step as f32 * FEET_STEP).chain([0.25]) {
            motion(&library, &legs[1], time, &mut now);
            hinge::join(&join, time, &mut now);
            fk::pose(library.skeleton(), &now, &mut later);
            let (clip, at) = moment(&library, &legs[1], time);
            let contacts = (sample::contacts_at(clip, at), sample::contacts_at(clip, at + GRIP));
            feet.plant(library.skeleton(), &anatomy, contacts, time - before, &mut now, &mut later);
            before = time;
        }
        assert!(off(&joints(0.25), &later.positions) < 1e-4);
        let half = joints(0.1);
        assert!(off(&half, &world.positions) > 0.01 && off(&half, &later.positions) > 0.01);
        for joint in library.skeleton().joints().skip(1) {
            let Some(parent) = library.skeleton().parent(joint) else { continue };
            let bone = (half[joint.at()] - half[parent.at()]).length();
            assert!((bone - library.skeleton().offset(joint).length()).abs() < 1e-4, "{joint:?}");
        }
    }
}
