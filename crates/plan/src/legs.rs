//! A path through the graph laid out over the floor and in time, and which stretches of it may be played faster or slower.

use std::ops::{Deref, DerefMut};

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::{EdgeIdx, Graph};

use crate::warp::area;
use crate::{Bodies, Leg};

/// A leg on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedLeg {
    /// The edge it plays.
    pub edge: EdgeIdx,
    /// Seconds after the edge's first frame at which it begins.
    pub enter: f32,
    /// Seconds after the edge's first frame at which it ends.
    pub end: f32,
    /// Path time at which it begins, seconds from now; negative for the leg being played.
    pub begins: f32,
    /// Placement of its clip in the world.
    pub place: PlanarMatrix,
    /// How long the join takes with which it begins, seconds; 0 where the clip simply continues.
    pub blend: f32,
    /// What lays its clip over that of the leg before, and how long the join takes, where the graph does not say.
    join: Option<(Planar, f32)>,
    /// Where its join is among those of the layout; `None` for that of the graph.
    own: Option<u32>,
}

impl PlacedLeg {
    /// The edge being played, since so many seconds.
    pub fn playing(bodies: &Bodies, edge: EdgeIdx, since: f32, place: &PlanarMatrix) -> PlacedLeg {
        let (end, blend) = (bodies.seconds(edge), bodies.blend(edge));
        PlacedLeg { edge, enter: 0.0, end, begins: -since, place: *place, blend, join: None, own: None }
    }

    /// The leg that was placed.
    pub fn leg(&self, bodies: &Bodies) -> Leg {
        let leave = (self.end < bodies.seconds(self.edge)).then_some(self.end);
        Leg { edge: self.edge, enter: self.enter, leave, join: self.join }
    }

    /// Whether its join is not the graph's.
    pub(crate) fn joins_by_itself(&self) -> bool {
        self.own.is_some()
    }

    /// Seconds after the edge's first frame at a path time.
    #[inline]
    pub fn seconds(&self, time: f32) -> f32 {
        time - self.begins + self.enter
    }

    /// Path time at which it ends.
    #[inline]
    pub fn ends(&self) -> f32 {
        self.when(self.end)
    }

    /// Path time so many seconds after the edge's first frame.
    #[inline]
    pub fn when(&self, seconds: f32) -> f32 {
        self.begins + seconds - self.enter
    }
}

/// Legs one after the other over the floor, with the joins that the graph does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    legs: Vec<PlacedLeg>,
    /// As [`Bodies`] keeps those of the graph.
    joins: Vec<f32>,
}

impl Deref for Layout {
    type Target = [PlacedLeg];

    fn deref(&self) -> &[PlacedLeg] {
        &self.legs
    }
}

impl DerefMut for Layout {
    fn deref_mut(&mut self) -> &mut [PlacedLeg] {
        &mut self.legs
    }
}

impl Layout {
    /// Begins anew: `edge` has been played for `now` seconds and its clip is placed at `place`.
    pub fn begin(&mut self, bodies: &Bodies, edge: EdgeIdx, now: f32, place: &PlanarMatrix) {
        self.legs.clear();
        self.joins.clear();
        self.legs.push(PlacedLeg::playing(bodies, edge, now, place));
    }

    /// Leaves the last leg at a path time.
    pub fn leave(&mut self, time: f32) {
        if let Some(last) = self.legs.last_mut() {
            last.end = last.seconds(time);
        }
    }

    /// Path time at which the first leg is left, if that is before its edge ends.
    pub fn left_at(&self, bodies: &Bodies) -> Option<f32> {
        let first = self.legs.first()?;
        (first.end < bodies.seconds(first.edge)).then(|| first.ends().max(0.0))
    }

    /// Adds a leg after the last one.
    pub fn push(&mut self, bodies: &Bodies, leg: &Leg) {
        let Some(last) = self.legs.last().copied() else { return };
        let begins = last.ends();
        let (align, blend) = match &leg.join {
            Some((align, blend)) => (PlanarMatrix::new(align), *blend),
            None => (*bodies.align(leg.edge), bodies.blend(leg.edge)),
        };
        let own = (blend > 0.0 && (leg.join.is_some() || bodies.join(leg.edge).is_none())).then(|| {
            let at = self.joins.len() as u32;
            bodies.add_join((last.edge, last.end), (leg.edge, leg.enter), &align, &mut self.joins);
            at
        });
        let place = last.place.after(&align);
        let end = leg.leave.unwrap_or(bodies.seconds(leg.edge));
        self.legs.push(PlacedLeg { edge: leg.edge, enter: leg.enter, end, begins, place, blend, join: leg.join, own });
    }

    /// Lays edges out one after the other; the first has been played for `now` seconds and its clip is placed at `place`.
    pub fn lay(&mut self, bodies: &Bodies, edges: impl Iterator<Item = EdgeIdx>, now: f32, place: &PlanarMatrix) {
        for (k, edge) in edges.enumerate() {
            if k == 0 {
                self.begin(bodies, edge, now, place);
            } else {
                self.push(bodies, &Leg::whole(edge));
            }
        }
    }

    /// Continues after the last leg with the first edge of each node, until path time `until`.
    pub fn go_on(&mut self, bodies: &Bodies, graph: &Graph, until: f32) {
        while let Some(last) = self.legs.last() {
            // Every edge lasts some time, so this ends.
            let Some(edge) = graph.after(last.edge).next() else { return };
            if last.ends() >= until || self.legs.len() > 200 {
                return;
            }
            self.push(bodies, &Leg::whole(edge));
        }
    }

    /// The join a leg begins with: offsets and their speeds. `None` where its clip simply continues.
    #[inline]
    pub(crate) fn join<'a>(&'a self, bodies: &'a Bodies, leg: usize) -> Option<&'a [f32]> {
        let leg = &self.legs[leg];
        match leg.own {
            Some(at) => self.joins.get(at as usize..at as usize + 6 * bodies.width()),
            None => bodies.join(leg.edge),
        }
    }
}

/// The stretches of a path, up to path time `until`, that may be played slower (or faster).
pub fn stretches(
    bodies: &Bodies,
    edges: impl Iterator<Item = EdgeIdx>,
    now: f32,
    until: f32,
    slower: bool,
    out: &mut Vec<(f32, f32)>,
) {
    out.clear();
    let mut begins = -now;
    for edge in edges {
        let (from, to) = (begins.max(0.0), (begins + bodies.seconds(edge)).min(until));
        begins += bodies.seconds(edge);
        let pace = bodies.pace(edge);
        let may = if slower { pace.may_slow() } else { pace.may_hurry() };
        if !may || to - from < 1e-3 {
            continue;
        }
        match out.last_mut() {
            Some(last) if from - last.1 < 1e-4 => last.1 = to,
            _ => out.push((from, to)),
        }
    }
}

/// `s_time` of eq. 3: the factor on these stretches that moves the middle of an avoidance from `centre` to `attack`. `None` if nothing
/// may be adjusted.
pub fn scale(stretches: &[(f32, f32)], centre: f32, attack: f32) -> Option<f32> {
    let adjustable: f32 = stretches.iter().map(|s| area(s.1 - s.0)).sum();
    (adjustable > 1e-3).then(|| 1.0 + (attack - centre) / adjustable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hand_made::{edge, library, standing_edge};
    use kumite_motion::{Vec2, Vec3};

    /// Facing +X, a sidestep to the left goes along -Z; what follows begins where it ended.
    #[test]
    fn legs_lie_one_after_the_other() {
        let library = library();
        let (bodies, graph) = (Bodies::of(&library, false), library.graph());
        let stand = standing_edge(&library);
        let sidestep = edge(&library, graph.edge(stand).to, "sidestep");
        let leap = edge(&library, graph.edge(sidestep).to, "leap");
        let turn = std::f32::consts::FRAC_PI_2;
        let place = PlanarMatrix::new(&Planar { turn, shift: Vec2::new(3.0, 1.0) });
        let mut legs = Layout::default();
        legs.lay(&bodies, [stand, sidestep, leap].into_iter(), 0.1, &place);
        let begins: Vec<f32> = legs.iter().map(|l| l.begins).collect();
        assert!((begins[1] - 0.4).abs() < 1e-6 && (begins[2] - 1.4).abs() < 1e-6, "{begins:?}");
        let pelvis = |leg: &PlacedLeg, seconds: f32| leg.place.point(bodies.pelvis(leg.edge, seconds));
        for (leg, z) in legs.iter().zip([1.0, 1.0, 0.5]) {
            let stands = pelvis(leg, 0.0);
            assert!((Vec3::new(stands.x, 0.0, stands.z) - Vec3::new(3.0, 0.0, z)).length() < 1e-4, "{stands}");
        }
        // By itself the library goes on with standing, which lasts half a second each time.
        legs.go_on(&bodies, graph, 4.0);
        assert_eq!(legs.len(), 7);
        assert!((legs[6].begins - 3.9).abs() < 1e-4);
        assert!((pelvis(&legs[6], 0.0).z + 0.5).abs() < 1e-4);
    }

    /// A leg with a join of its own, entered late: it begins where the leg before ended, as that was shown, and ends where its own clip is.
    #[test]
    fn a_leg_may_bring_its_own_join() {
        let library = library();
        let (bodies, graph) = (Bodies::of(&library, false), library.graph());
        let stand = standing_edge(&library);
        let crouch = edge(&library, graph.edge(stand).to, "crouch");
        let (align, blend) = (Planar { turn: 0.3, shift: Vec2::new(0.5, 0.0) }, 0.2);
        let mut legs = Layout::default();
        legs.begin(&bodies, stand, 0.1, &PlanarMatrix::IDENTITY);
        legs.push(&bodies, &Leg { edge: crouch, enter: 0.4, join: Some((align, blend)), ..Leg::whole(crouch) });
        let leg = legs[1];
        assert_eq!((leg.begins, leg.enter, leg.blend), (0.4, 0.4, 0.2));
        assert!((leg.seconds(0.5) - 0.5).abs() < 1e-6 && (leg.when(0.5) - 0.5).abs() < 1e-6);
        let (mut last, mut row) = (bodies.row(), bodies.row());
        bodies.sample(stand, 0.5, &mut last);
        crate::dodge::body_at(&bodies, &legs, &crate::Warp::none(), None, 0.4, 1, &mut row);
        for j in 0..bodies.centres() {
            assert!((leg.place.point(row.get(j)) - last.get(j)).length() < 1e-4);
        }
        crate::dodge::body_at(&bodies, &legs, &crate::Warp::none(), None, 0.65, 1, &mut row);
        bodies.sample(crouch, 0.65, &mut last);
        assert!((0..bodies.centres()).all(|j| (row.get(j) - last.get(j)).length() < 1e-6));
        // What follows goes on from where it is then.
        legs.go_on(&bodies, graph, 2.0);
        assert!((legs[2].begins - 1.0).abs() < 1e-6);
    }

    #[test]
    fn only_what_may_be_slowed_is_stretched() {
        let library = library();
        let (bodies, graph) = (Bodies::of(&library, false), library.graph());
        let stand = standing_edge(&library);
        let sidestep = edge(&library, graph.edge(stand).to, "sidestep");
        let mut out = Vec::new();
        for slower in [false, true] {
            stretches(&bodies, [stand, sidestep].into_iter(), 0.1, 1.05, slower, &mut out);
            let may = |e: EdgeIdx| if slower { bodies.pace(e).may_slow() } else { bodies.pace(e).may_hurry() };
            let expected: f32 = if may(stand) { 0.4 } else { 0.0 } + if may(sidestep) { 0.65 } else { 0.0 };
            let long: f32 = out.iter().map(|s| s.1 - s.0).sum();
            assert!((long - expected).abs() < 1e-5, "{out:?}");
            // Eq. 3: the scaled path puts its middle on the attack.
            if let Some(scale) = scale(&out, 1.05, 1.2) {
                assert!((crate::Warp::new(&out, scale).when(1.05) - 1.2).abs() < 1e-4);
            } else {
                assert_eq!(expected, 0.0);
            }
        }
    }
}
