//! A path through the graph laid out over the floor and in time, and which stretches of it may be played faster or slower.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::{EdgeIdx, Graph};

use crate::Bodies;
use crate::warp::area;

/// An edge on a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlacedEdge {
    /// The edge.
    pub edge: EdgeIdx,
    /// Path time of its first frame, seconds from now; negative for the edge being played.
    pub begins: f32,
    /// Placement of its clip in the world.
    pub place: PlanarMatrix,
}

/// Lays edges out one after the other; the first has been played for `now` seconds and its clip is placed at `place`.
pub fn lay(bodies: &Bodies, edges: &[EdgeIdx], now: f32, place: &PlanarMatrix) -> Vec<PlacedEdge> {
    let mut legs = Vec::with_capacity(edges.len());
    lay_into(bodies, edges.iter().copied(), now, place, &mut legs);
    legs
}

/// [`lay`] into existing memory.
pub fn lay_into(
    bodies: &Bodies,
    edges: impl Iterator<Item = EdgeIdx>,
    now: f32,
    place: &PlanarMatrix,
    legs: &mut Vec<PlacedEdge>,
) {
    legs.clear();
    let (mut begins, mut at) = (-now, *place);
    for edge in edges {
        if !legs.is_empty() {
            at = at.after(bodies.align(edge));
        }
        legs.push(PlacedEdge { edge, begins, place: at });
        begins += bodies.seconds(edge);
    }
}

/// Continues after the last leg with the first edge of each node, until path time `until`.
pub fn go_on(bodies: &Bodies, graph: &Graph, until: f32, legs: &mut Vec<PlacedEdge>) {
    while let Some(last) = legs.last().copied() {
        let begins = last.begins + bodies.seconds(last.edge);
        // Every edge lasts some time, so this ends.
        let Some(edge) = graph.after(last.edge).next() else { return };
        if begins >= until || legs.len() > 200 {
            return;
        }
        legs.push(PlacedEdge { edge, begins, place: last.place.after(bodies.align(edge)) });
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
    use kumite_motion::align::Planar;
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
        let mut legs = lay(&bodies, &[stand, sidestep, leap], 0.1, &place);
        let begins: Vec<f32> = legs.iter().map(|l| l.begins).collect();
        assert!((begins[1] - 0.4).abs() < 1e-6 && (begins[2] - 1.4).abs() < 1e-6, "{begins:?}");
        let pelvis = |leg: &PlacedEdge, seconds: f32| leg.place.point(bodies.pelvis(leg.edge, seconds));
        for (leg, z) in legs.iter().zip([1.0, 1.0, 0.5]) {
            let stands = pelvis(leg, 0.0);
            assert!((Vec3::new(stands.x, 0.0, stands.z) - Vec3::new(3.0, 0.0, z)).length() < 1e-4, "{stands}");
        }
        // By itself the library goes on with standing, which lasts half a second each time.
        go_on(&bodies, graph, 4.0, &mut legs);
        assert_eq!(legs.len(), 7);
        assert!((legs[6].begins - 3.9).abs() < 1e-4);
        assert!((pelvis(&legs[6], 0.0).z + 0.5).abs() < 1e-4);
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
