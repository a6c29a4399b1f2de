//! Where a foot is at any moment: its stances, steps, pivots, heel and twist.

use kumite_motion::align::Planar;
use kumite_motion::blend::ease;
use kumite_motion::rotation::{about, wrap, yaw};
use kumite_motion::{Contacts, Role, Vec2, Vec3};

use crate::compile::{FPS, radians};
use crate::curve::Curve;
use crate::file::{Foot, FootPlace};

/// One leg's curves.
pub(crate) struct Leg {
    pub(crate) ankle: Role,
    pub(crate) toe: Role,
    pub(crate) place: FootPlace,
    /// Ankle to ball of the foot, flat on the floor, and the height of the ball's joint above the floor.
    pub(crate) bone: Vec3,
    pub(crate) ball_height: f32,
    pub(crate) heel: Curve,
    /// Turn on the ball of the foot.
    pub(crate) twist: Curve,
    /// Where keys send the foot while it is in the air, as the stance sees it, from where its step would have it.
    pub(crate) air: Curve,
    /// Radians; x is the knee's swivel, positive outwards, y how far the toes point while the foot is in the air.
    pub(crate) turned: Curve,
    pub(crate) steps: Vec<Swing>,
}

/// A step of one foot.
pub(crate) struct Swing {
    pub(crate) leave: f32,
    pub(crate) land: f32,
    /// The stance it leads to.
    pub(crate) to: Planar,
    /// The foot's place in it.
    pub(crate) place: FootPlace,
    /// 0 is a pivot.
    pub(crate) lift: f32,
    /// When it is highest, 0 to 1.
    pub(crate) peak: f32,
}

/// What a foot has to do with the floor.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Hold {
    Stands,
    Pivots,
    Swings,
}

/// A foot at a moment.
pub(crate) struct FootAt {
    /// Ball of the foot as it would stand flat; y is 0.
    pub(crate) ball: Vec3,
    pub(crate) turn: f32,
    /// Positive raises the heel, about the ball; negative the toes, about the heel.
    pub(crate) pitch: f32,
    pub(crate) lift: f32,
    /// How far keys and flight take the ankle from there, in the world.
    pub(crate) raised: Vec3,
    pub(crate) planted: bool,
    /// Turning on the ball.
    pub(crate) pivots: bool,
}

/// A foot raised by this much hangs on its shin; below, it is held as the floor would have it. Metres.
const HANGS: f32 = 0.16;

impl FootAt {
    pub(crate) fn ahead(&self) -> Vec3 {
        yaw(self.turn) * Vec3::Z
    }

    /// How much it hangs on its shin, 0 to 1, instead of being held as the floor would have it.
    pub(crate) fn hangs(&self) -> f32 {
        ease((self.raised.y / HANGS).clamp(0.0, 1.0))
    }

    pub(crate) fn contacts(&self, foot: Foot) -> Contacts {
        let (heel, toe) = match foot {
            Foot::Left => (Contacts::LEFT_HEEL, Contacts::LEFT_TOE),
            Foot::Right => (Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE),
        };
        const FLAT: f32 = 1e-4;
        let mut contacts = Contacts::NONE;
        if self.planted && self.pitch <= FLAT && !self.pivots {
            contacts = contacts.with(heel);
        }
        if self.planted && self.pitch >= -FLAT {
            contacts = contacts.with(toe);
        }
        contacts
    }
}

impl Leg {
    /// The stance this foot belongs to, its place in it, how high it swings, and the pivot it makes or the floor it has.
    pub(crate) fn stance_at(&self, t: f32) -> (Planar, FootPlace, f32, Hold) {
        let (mut from, mut place) = (Planar::IDENTITY, self.place);
        for swing in &self.steps {
            // A pivot leaves the ball where it is, whatever the stance does.
            let pivot = |turn: f32| {
                let at = Vec2::from_array(place.at);
                let ball = from.point(Vec3::new(at.x, 0.0, at.y));
                let gone = yaw(turn) * Vec3::new(at.x, 0.0, at.y);
                Planar { turn, shift: Vec2::new(ball.x - gone.x, ball.z - gone.z) }
            };
            if t >= swing.land {
                from = if swing.lift == 0.0 { pivot(swing.to.turn) } else { swing.to };
                if swing.lift != 0.0 {
                    place = swing.place;
                }
                continue;
            }
            if t <= swing.leave {
                break;
            }
            let s = (t - swing.leave) / (swing.land - swing.leave);
            // Minimum jerk alone is too fast in the middle: feet swing more evenly than hands.
            let share = 0.5 * (ease(s) + s * s * (3.0 - 2.0 * s));
            let turn = from.turn + wrap(swing.to.turn - from.turn) * share;
            if swing.lift == 0.0 {
                return (pivot(turn), place, 0.0, Hold::Pivots);
            }
            let mix = |a: f32, b: f32| a + (b - a) * share;
            let between = Planar { turn, shift: from.shift.lerp(swing.to.shift, share) };
            let between_places = FootPlace {
                at: [0, 1].map(|i| mix(place.at[i], swing.place.at[i])),
                turn: mix(place.turn, swing.place.turn),
                heel: mix(place.heel, swing.place.heel),
            };
            // Time bent so that half-way is when it is highest.
            let s = if swing.peak == 0.5 { s } else { libm::powf(s, libm::logf(0.5) / libm::logf(swing.peak)) };
            let height = 16.0 * s * s * (1.0 - s) * (1.0 - s);
            return (between, between_places, swing.lift * height, Hold::Swings);
        }
        (from, place, 0.0, Hold::Stands)
    }

    pub(crate) fn at(&self, t: f32) -> FootAt {
        let (stance, place, lift, hold) = self.stance_at(t);
        let pitch = radians(place.heel) + self.heel.at(t).x;
        // A foot that has just turned, or is about to, stands on its ball only.
        let twists = |dt: f32| (self.twist.at(t + dt).x - self.twist.at(t).x).abs() > 1e-6;
        let (planted, pivots) = (hold != Hold::Swings, hold == Hold::Pivots || twists(-1.0 / FPS) || twists(1.0 / FPS));
        let home = self.home(&stance, place);
        let raised = if planted { Vec3::ZERO } else { yaw(stance.turn) * self.air.at(t) };
        FootAt { turn: home.turn + self.twist.at(t).x, pitch, lift, raised, planted, pivots, ..home }
    }

    /// The foot where it belongs in a stance.
    pub(crate) fn home(&self, stance: &Planar, place: FootPlace) -> FootAt {
        let ball = stance.point(Vec3::new(place.at[0], 0.0, place.at[1]));
        let turn = stance.turn + radians(place.turn);
        let pitch = radians(place.heel);
        FootAt { ball, turn, pitch, lift: 0.0, raised: Vec3::ZERO, planted: true, pivots: false }
    }

    /// Where the ankle joint is.
    pub(crate) fn ankle_at(&self, foot: &FootAt) -> Vec3 {
        self.ankle_on_step(foot) + foot.raised
    }

    /// Where its step alone has the ankle joint.
    fn ankle_on_step(&self, foot: &FootAt) -> Vec3 {
        let level = yaw(foot.turn);
        let tipped = level * about(Vec3::X, foot.pitch);
        let joint = foot.ball + Vec3::Y * (self.ball_height + foot.lift);
        if foot.pitch >= 0.0 {
            return joint - tipped * self.bone;
        }
        // The heel's corner is on the floor, a little behind and right below the ankle.
        let corner = Vec3::new(0.0, -(self.ball_height - self.bone.y), -0.3 * self.bone.z);
        let flat_ankle = joint - level * self.bone;
        flat_ankle + level * corner - tipped * corner
    }
}
