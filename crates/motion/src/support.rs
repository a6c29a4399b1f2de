//! What a character stands on: the hull of its planted soles, and how far inside it the centre of mass is.

use crate::{Contacts, Role, Roles, Skeleton, Vec2, Vec3, WorldPose};

/// Half the breadth of a sole, as a share of ankle to ball of the foot. Ball breadth is about 0.4 of foot length (Drillis
/// and Contini 1966), and the ankle-to-ball bone about 0.6 of it.
const HALF_BREADTH: f32 = 0.3;
/// How far the heel reaches behind the ankle, same unit.
const HEEL: f32 = 0.3;

/// Corners of the planted soles on the ground, x and z.
pub fn sole_points(skeleton: &Skeleton, roles: &Roles, world: &WorldPose, contacts: Contacts) -> Vec<Vec2> {
    let feet = [
        (Role::LeftAnkle, Role::LeftToe, Contacts::LEFT_HEEL, Contacts::LEFT_TOE),
        (Role::RightAnkle, Role::RightToe, Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE),
    ];
    let ground = |p: Vec3| Vec2::new(p.x, p.z);
    let mut points = Vec::with_capacity(12);
    for (ankle, toe, heel_part, toe_part) in feet {
        let (Some(ankle), Some(toe)) = (roles.get(ankle), roles.get(toe)) else { continue };
        let (heel_at, ball) = (ground(world.position(ankle)), ground(world.position(toe)));
        let length = (ball - heel_at).length();
        let ahead = (ball - heel_at).normalize_or(Vec2::Y);
        let aside = ahead.perp() * (HALF_BREADTH * length);
        if contacts.any(toe_part) {
            let tip = ground(world.point(toe, skeleton.tip(toe).unwrap_or(Vec3::ZERO)));
            points.extend([ball + aside, ball - aside, tip + aside * 0.7, tip - aside * 0.7]);
        }
        if contacts.any(heel_part) {
            let heel = heel_at - ahead * (HEEL * length);
            points.extend([heel + aside * 0.7, heel - aside * 0.7]);
        }
    }
    points
}

/// Convex hull, counter-clockwise seen with x to the right and z up; Andrew's monotone chain.
pub fn hull(points: &[Vec2]) -> Vec<Vec2> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    sorted.dedup();
    if sorted.len() < 3 {
        return sorted;
    }
    let mut chain: Vec<Vec2> = Vec::with_capacity(2 * sorted.len());
    let turns_left = |a: Vec2, b: Vec2, c: Vec2| (b - a).perp_dot(c - a) > 0.0;
    for pass in 0..2 {
        let floor = chain.len().max(1);
        let mut add = |p: Vec2| {
            while chain.len() > floor && !turns_left(chain[chain.len() - 2], chain[chain.len() - 1], p) {
                chain.pop();
            }
            chain.push(p);
        };
        if pass == 0 {
            sorted.iter().for_each(|&p| add(p));
        } else {
            sorted.iter().rev().skip(1).for_each(|&p| add(p));
        }
    }
    chain.pop();
    chain
}

/// Distance of a point on the ground from the edge of a hull: positive inside, negative outside. With nothing to
/// stand on it is minus infinity.
pub fn margin(hull: &[Vec2], point: Vec2) -> f32 {
    let from_edge = |a: Vec2, b: Vec2| {
        let along = b - a;
        let t = ((point - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
        (point - a - along * t).length()
    };
    let edges = || (0..hull.len()).map(|i| (hull[i], hull[(i + 1) % hull.len()]));
    let nearest = edges().map(|(a, b)| from_edge(a, b)).fold(f32::INFINITY, f32::min);
    let inside = hull.len() >= 3 && edges().all(|(a, b)| (b - a).perp_dot(point - a) >= 0.0);
    if inside { nearest } else { -nearest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chance, Pose, fk, humanoid, mass};

    #[test]
    fn hulls_are_convex_and_hold_their_points() {
        let mut chance = Chance::new(7);
        for count in [3, 4, 10, 50] {
            let points: Vec<Vec2> = (0..count).map(|_| Vec2::new(chance.unit(), chance.unit())).collect();
            let hull = hull(&points);
            for p in &points {
                assert!(margin(&hull, *p) > -1e-6);
            }
            assert!(margin(&hull, Vec2::new(5.0, 5.0)) < -5.0);
        }
        assert_eq!(margin(&[], Vec2::ZERO), f32::NEG_INFINITY);
        assert_eq!(hull(&[Vec2::X, Vec2::X]).len(), 1);
    }

    #[test]
    fn a_square_has_its_centre_half_a_side_from_the_edge() {
        let square = hull(&[Vec2::ZERO, Vec2::X, Vec2::ONE, Vec2::Y, Vec2::new(0.5, 0.5)]);
        assert_eq!(square.len(), 4);
        assert!((margin(&square, Vec2::new(0.5, 0.5)) - 0.5).abs() < 1e-6);
        assert!((margin(&square, Vec2::new(1.25, 0.5)) + 0.25).abs() < 1e-6);
    }

    #[test]
    fn standing_at_rest_is_balanced() {
        let (skeleton, roles) = (humanoid::skeleton(), Roles::canonical());
        let mut world = WorldPose::default();
        fk::pose(&skeleton, &Pose::rest(&skeleton), &mut world);
        let centre = mass::centre(&skeleton, &roles, &world);
        let on =
            |contacts| margin(&hull(&sole_points(&skeleton, &roles, &world, contacts)), Vec2::new(centre.x, centre.z));
        assert!(on(Contacts::ALL) > 0.0);
        assert!(on(Contacts::LEFT) < 0.0);
        assert!(on(Contacts::NONE) == f32::NEG_INFINITY);
    }
}
