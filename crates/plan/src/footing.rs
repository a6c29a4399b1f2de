//! What a body stands on, and whether it keeps its balance there when it is bent.

use kumite_motion::{Contacts, Role, Vec2, Vec3, mass};

/// Parts of the feet that bear the body, and the joints above them.
pub(crate) const FEET: [(Contacts, Role); 4] = [
    (Contacts::LEFT_TOE, Role::LeftToe),
    (Contacts::LEFT_HEEL, Role::LeftAnkle),
    (Contacts::RIGHT_TOE, Role::RightToe),
    (Contacts::RIGHT_HEEL, Role::RightAnkle),
];
/// How far soles reach beyond those joints, metres.
const SOLE: f32 = 0.04;
/// How much farther outside its soles than the motion itself a bent body may be, metres: standing, and on its way somewhere.
const STANDING: f32 = 0.01;
const GOING: f32 = 0.06;
/// A body is on its way above this speed, metres per second.
pub(crate) const GOES: f32 = 0.5;
/// Height of a centre of mass over gravity, as a time, seconds: how long a body that falls over like a pole of 0.95 m takes to be carried as far
/// as it moves. Hof's extrapolated centre of mass is one such time ahead.
const FALLS: f32 = 0.311;

/// What a body stands on at a moment, in the frame of the clip it plays.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Footing {
    soles: [Vec2; 2 * FEET.len()],
    count: usize,
    /// How far ahead of its centre of mass the body has to be caught, metres.
    carried: Vec2,
    goes: bool,
}

impl Footing {
    /// Of somebody who stands still, by what is planted.
    pub(crate) fn standing(support: Contacts, joint: impl Fn(Role) -> Vec3) -> Footing {
        let mut footing = Footing::default();
        footing.add(support, joint);
        footing
    }

    /// Somebody who moves along the ground, metres per second: the body falls the way it goes, and is caught by the next foothold.
    pub(crate) fn going(&mut self, speed: Vec2, next: Contacts, joint: impl Fn(Role) -> Vec3) {
        (self.goes, self.carried) = (true, speed * FALLS);
        self.add(next, joint);
    }

    fn add(&mut self, support: Contacts, joint: impl Fn(Role) -> Vec3) {
        for (_, role) in FEET.iter().filter(|(part, _)| support.any(*part)) {
            if let Some(sole) = self.soles.get_mut(self.count) {
                *sole = ground(joint(*role));
                self.count += 1;
            }
        }
    }

    /// Whether a body whose joints were moved keeps its balance: what has to be caught is above what it stands on, or not much farther beside it
    /// than the motion has it.
    pub(crate) fn holds(&self, joint: impl Fn(Role) -> Vec3, moved: impl Fn(Role) -> Vec3) -> bool {
        let soles = &self.soles[..self.count];
        if soles.is_empty() {
            return true;
        }
        let after = beside(soles, self.carried + ground(centre_of_mass(moved)));
        let allowed = if self.goes { GOING } else { STANDING };
        after <= SOLE || after <= beside(soles, self.carried + ground(centre_of_mass(joint))) + allowed
    }
}

fn ground(p: Vec3) -> Vec2 {
    Vec2::new(p.x, p.z)
}

/// Centre of mass of a body whose joints are known.
fn centre_of_mass(joint: impl Fn(Role) -> Vec3) -> Vec3 {
    mass::SEGMENTS.iter().map(|s| joint(s.from).lerp(joint(s.to.unwrap_or(s.from)), s.centre) * s.share).sum()
}

/// How far a point is from the hull of others, metres; 0 inside.
fn beside(points: &[Vec2], p: Vec2) -> f32 {
    let side = |a: Vec2, b: Vec2| (b - a).perp_dot(p - a);
    let mut least = f32::INFINITY;
    for (i, &a) in points.iter().enumerate() {
        least = least.min((p - a).length());
        for (j, &b) in points.iter().enumerate().skip(i + 1) {
            let t = ((p - a).dot(b - a) / (b - a).length_squared().max(1e-9)).clamp(0.0, 1.0);
            least = least.min((p - a.lerp(b, t)).length());
            // A point in the hull is in a triangle of its corners, or on a line between two of them.
            for &c in &points[j + 1..] {
                let sides = [side(a, b), side(b, c), side(c, a)];
                let flat = (b - a).perp_dot(c - a).abs() < 1e-8;
                if flat {
                    continue;
                }
                if sides.iter().all(|s| *s >= 0.0) || sides.iter().all(|s| *s <= 0.0) {
                    return 0.0;
                }
            }
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All joints at one place, feet on the ground at others.
    fn body(centre: Vec2, feet: [Vec2; 2]) -> impl Fn(Role) -> Vec3 {
        move |role| match role {
            Role::LeftToe | Role::LeftAnkle => Vec3::new(feet[0].x, 0.0, feet[0].y),
            Role::RightToe | Role::RightAnkle => Vec3::new(feet[1].x, 0.0, feet[1].y),
            _ => Vec3::new(centre.x, 0.95, centre.y),
        }
    }

    #[test]
    fn who_stands_leans_no_farther_than_the_soles() {
        let feet = [Vec2::new(0.15, 0.0), Vec2::new(-0.15, 0.0)];
        let stands = body(Vec2::ZERO, feet);
        let footing = Footing::standing(Contacts::ALL, &stands);
        let holds = |x: f32, z: f32| footing.holds(&stands, body(Vec2::new(x, z), feet));
        assert!(holds(0.15, 0.0) && holds(0.0, 0.03));
        assert!(!holds(0.3, 0.0) && !holds(0.0, 0.1));
        let flies = Footing::standing(Contacts::NONE, &stands);
        assert!(flies.holds(&stands, body(Vec2::new(5.0, 0.0), feet)));
    }

    /// On one foot, 0.2 m before the next foothold: the way there is as good as the soles, and a lean to the side is too, as far as a step catches it.
    #[test]
    fn who_walks_falls_onto_the_next_foothold() {
        let here = body(Vec2::new(-0.05, 0.0), [Vec2::new(0.1, 0.4), Vec2::new(-0.1, 0.0)]);
        let mut footing = Footing::standing(Contacts::RIGHT, &here);
        let bent = |x: f32, z: f32| body(Vec2::new(x, z), [Vec2::ZERO; 2]);
        assert!(!footing.holds(&here, bent(0.05, 0.0)), "standing on the right foot only");
        footing.going(Vec2::new(0.0, 1.0), Contacts::LEFT, &here);
        assert!(footing.holds(&here, bent(0.05, 0.0)) && footing.holds(&here, bent(-0.1, 0.0)));
        assert!(!footing.holds(&here, bent(0.25, 0.0)) && !footing.holds(&here, bent(-0.25, 0.0)));
    }
}
