//! Attack volumes: balls, fists, anything whose positions over time are known.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::{EdgeIdx, Role, Vec3};

use crate::Bodies;

/// Seconds between the positions of an attack; it moves straight between them. Under gravity the arc is off by a third of a
/// millimetre.
pub const STEP: f32 = 1.0 / 60.0;

/// Acceleration of a thrown ball, metres per second squared.
pub const GRAVITY: Vec3 = Vec3::new(0.0, -9.81, 0.0);

/// Farthest ahead that an attack may arrive, seconds.
pub const LONGEST: f32 = 10.0;

/// One moving sphere. Times count from the moment of the decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Sphere {
    /// Metres.
    pub radius: f32,
    /// When it is at the first position, seconds. Before that and after the last it does not exist.
    pub start: f32,
    /// Its positions in the world, [`STEP`] apart.
    pub places: Vec<Vec3>,
    /// Its longest way in a step, metres.
    longest: f32,
}

impl Sphere {
    /// A sphere that is at the first place at `start`.
    pub fn new(radius: f32, start: f32, places: Vec<Vec3>) -> Sphere {
        let steps = places.windows(2).map(|pair| (pair[1] - pair[0]).length_squared());
        let longest = steps.fold(0.0, f32::max).sqrt();
        Sphere { radius, start, places, longest }
    }

    /// Its longest way in a step, metres.
    pub(crate) fn longest_step(&self) -> f32 {
        self.longest
    }
}

/// An attack volume: moving spheres, and when they are meant to hit.
#[derive(Clone, Debug, PartialEq)]
pub struct Threat {
    /// The moving spheres.
    pub spheres: Vec<Sphere>,
    /// When it is meant to hit, seconds from the moment of the decision: `t_attack` of the paper.
    pub arrives: f32,
}

/// Why there is nothing to decide about an attack.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ThreatError {
    /// A number is not finite.
    #[error("the attack's {what} is not a finite number")]
    NotFinite {
        /// Which quantity.
        what: &'static str,
    },
    /// The radius is not positive, or larger than 2 m.
    #[error("the attack's radius is {radius} m; allowed is more than 0, at most 2 m")]
    Size {
        /// Metres.
        radius: f32,
    },
    /// It does not move.
    #[error("the attack does not move")]
    Still,
    /// It is over, or too far ahead.
    #[error("the attack arrives after {arrives} s; allowed is more than 0, at most {LONGEST} s")]
    Time {
        /// When it arrives, seconds.
        arrives: f32,
    },
    /// It has no positions.
    #[error("the attack has no positions")]
    Empty,
    /// It touches the body already.
    #[error("the attack is already {:.0} cm inside the body: nothing is left to avoid", depth * 100.0)]
    Inside {
        /// How deep, metres.
        depth: f32,
    },
    /// Nothing in the library avoids or blocks.
    #[error("the library has no avoid and no block spans: nothing to dodge with")]
    NoMotions,
    /// The situation does not fit the library.
    #[error("the character plays an edge that its library does not have")]
    Foreign,
}

/// A thrown ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Where it is now.
    pub from: Vec3,
    /// How it moves now, metres per second.
    pub velocity: Vec3,
    /// Metres.
    pub radius: f32,
    /// Whether it falls or flies straight.
    pub falls: bool,
}

impl Ball {
    /// Thrown so that it is at `target` after `seconds`.
    pub fn aimed(from: Vec3, target: Vec3, seconds: f32, radius: f32, falls: bool) -> Ball {
        let pull = if falls { GRAVITY } else { Vec3::ZERO };
        Ball { from, velocity: (target - from) / seconds - pull * (0.5 * seconds), radius, falls }
    }

    /// Where it is after some seconds.
    pub fn at(&self, seconds: f32) -> Vec3 {
        let pull = if self.falls { GRAVITY } else { Vec3::ZERO };
        self.from + self.velocity * seconds + pull * (0.5 * seconds * seconds)
    }
}

/// How far an attack is followed after its arrival, metres.
const AFTER: f32 = 2.5;

impl Threat {
    /// A ball that is meant to hit after `arrives` seconds.
    pub fn ball(ball: &Ball, arrives: f32) -> Result<Threat, ThreatError> {
        if !ball.from.is_finite() {
            return Err(ThreatError::NotFinite { what: "place" });
        }
        if !ball.velocity.is_finite() {
            return Err(ThreatError::NotFinite { what: "speed" });
        }
        let speed = ball.velocity.length();
        if speed < 1e-3 {
            return Err(ThreatError::Still);
        }
        let after = (AFTER / speed).clamp(0.1, 1.0);
        if !(arrives.is_finite() && arrives > 0.0 && arrives <= LONGEST) {
            return Err(ThreatError::Time { arrives });
        }
        let count = ((arrives + after) / STEP).ceil() as usize + 1;
        let places = (0..count).map(|k| ball.at(k as f32 * STEP)).collect();
        Threat::spheres(vec![Sphere::new(ball.radius, 0.0, places)], arrives)
    }

    /// Any moving spheres.
    pub fn spheres(spheres: Vec<Sphere>, arrives: f32) -> Result<Threat, ThreatError> {
        if !(arrives.is_finite() && arrives > 0.0 && arrives <= LONGEST) {
            return Err(ThreatError::Time { arrives });
        }
        if spheres.iter().all(|s| s.places.len() < 2) {
            return Err(ThreatError::Empty);
        }
        for sphere in &spheres {
            if !sphere.radius.is_finite() {
                return Err(ThreatError::NotFinite { what: "radius" });
            }
            if !(sphere.radius > 0.0 && sphere.radius <= 2.0) {
                return Err(ThreatError::Size { radius: sphere.radius });
            }
            if !(sphere.start.is_finite() && sphere.places.iter().all(|p| p.is_finite())) {
                return Err(ThreatError::NotFinite { what: "place" });
            }
        }
        Ok(Threat { spheres, arrives })
    }

    /// Another character's strike: the spheres of its striking part along the edges it will play. It is `now` seconds into the first of
    /// them, whose clip is placed at `place`; the part is dangerous during `active`, seconds from now.
    pub fn strike(
        bodies: &Bodies,
        edges: &[EdgeIdx],
        now: f32,
        place: &PlanarMatrix,
        part: Role,
        active: (f32, f32),
    ) -> Result<Threat, ThreatError> {
        if !edges.iter().all(|e| e.at() < bodies.edges()) {
            return Err(ThreatError::Foreign);
        }
        if !(active.0.is_finite() && active.1.is_finite() && active.1 > active.0.max(0.0)) {
            return Err(ThreatError::Time { arrives: active.1 });
        }
        let wanted: Vec<usize> = bodies.of_part(part).collect();
        let begin = active.0.max(0.0);
        let count = ((active.1 - begin) / STEP).ceil() as usize + 1;
        let mut ways: Vec<Vec<Vec3>> = wanted.iter().map(|_| Vec::with_capacity(count)).collect();
        let mut legs = crate::legs::Layout::default();
        legs.lay(bodies, edges.iter().copied(), now, place);
        let mut row = bodies.row();
        for k in 0..count {
            let time = begin + k as f32 * STEP;
            let number = legs.iter().rposition(|l| l.begins <= time).unwrap_or(0);
            let Some(leg) = legs.get(number) else { continue };
            bodies.sample(leg.edge, leg.seconds(time), &mut row);
            if let Some(join) = legs.join(bodies, number) {
                bodies.add_join_offsets(join, leg.blend, time - leg.begins, 1.0, &mut row);
            }
            for (way, &j) in ways.iter_mut().zip(&wanted) {
                way.push(leg.place.point(row.get(j)));
            }
        }
        let spheres = wanted.iter().zip(ways).map(|(&j, way)| Sphere::new(bodies.radius(j), begin, way)).collect();
        Threat::spheres(spheres, 0.5 * (begin + active.1))
    }

    /// When its last sphere is gone, seconds.
    pub fn ends(&self) -> f32 {
        self.spheres.iter().map(|s| s.start + s.places.len().saturating_sub(1) as f32 * STEP).fold(0.0, f32::max)
    }

    /// How high above the ground its spheres are when it is meant to hit, metres.
    pub fn heights(&self) -> impl Iterator<Item = f32> + '_ {
        self.spheres.iter().filter_map(|sphere| {
            let at = ((self.arrives - sphere.start) / STEP).max(0.0);
            let last = sphere.places.last()?;
            let [p, q] = [0, 1].map(|k| sphere.places.get(at as usize + k).unwrap_or(last).y);
            Some(p + (q - p) * at.fract())
        })
    }

    /// The same attack, seen `seconds` later.
    #[must_use]
    pub fn later(&self, seconds: f32) -> Threat {
        let spheres = self.spheres.iter().map(|s| Sphere { start: s.start - seconds, ..s.clone() }).collect();
        Threat { spheres, arrives: self.arrives - seconds }
    }
}
