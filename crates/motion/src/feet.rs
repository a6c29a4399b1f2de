//! Planted feet stay planted, through joins and warps: what the clip calls planted is held where it came down. A foot stands on its heel until
//! the ball is down, then on the ball. Where its leg gets too short for that the hips sink, then the heel rises, then the foot steps.

use std::sync::Arc;

use crate::anatomy::Anatomy;
use crate::blend::ease;
use crate::retarget::{RetargetBody, ball_of, heel_of};
use crate::rotation::about;
use crate::{Contacts, JointIdx, Pose, Role, Roles, Skeleton, Vec2, Vec3, WorldPose, fk, ik};

/// How long a foot takes from its hold back to its motion, seconds.
const RELEASE: f32 = 0.20;
/// And if it was torn off and steps, seconds: its leg is straight then, and a quick one would snap.
const STEP: f32 = 0.32;
/// How long the floor takes to get hold of a sole, before it comes down, and to lose it after, seconds.
pub const GRIP: f32 = 0.12;
/// Soles of captures are this far off the floor while planted, metres.
const FLOAT: f32 = 0.03;
/// A foot steps when its motion has gone farther than this from its hold, metres: the clip means another place. It is lifted by so much, metres.
const TORN: f32 = 0.25;
const LIFT: f32 = 0.03;
/// And when its leg does not reach the hold by this much, metres.
const SHORT: f32 = 0.008;
/// It stands again once its motion does: slower than this, metres per second.
const STILL: f32 = 0.10;
/// A foot that its motion moves faster than this over the floor is not held yet, metres per second.
const FLIES: f32 = 0.8;
/// Unless its clip calls it planted for this share of [`GRIP`].
const SLOWED: f32 = 0.7;
/// A sole has come down when it is this near to the floor, metres.
const LANDED: f32 = 0.01;
/// A heel rises over its ball by so much at most, radians, by so many of them a second, and comes back in about this time, seconds.
const PEEL: (f32, f32, f32) = (0.4, 4.0, 0.07);
/// A leg is stretched to this share of its length at most, and freely to the other.
const REACH: f32 = 0.994;
const FREE: f32 = 0.96;
/// The least room for giving in, in lengths of the leg.
const LEAST: f32 = 0.005;
/// Hips give way by this much at most where legs do not reach their holds, metres, and take about this long for it, seconds.
const DEEPEST: f32 = 0.06;
const SINK: f32 = 0.05;

/// The parts of the feet: ankle, heel, toe.
pub const FEET: [(Role, Contacts, Contacts); 2] = [
    (Role::LeftAnkle, Contacts::LEFT_HEEL, Contacts::LEFT_TOE),
    (Role::RightAnkle, Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE),
];

/// What a foot stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The heel, with the ball still in the air.
    Heel,
    /// The ball, whatever the heel does.
    Ball,
}

impl Part {
    /// Of the foot with these contacts.
    pub fn of(contacts: Contacts, heel: Contacts, toe: Contacts) -> Option<Part> {
        if contacts.any(toe) { Some(Part::Ball) } else { contacts.any(heel).then_some(Part::Heel) }
    }
}

/// The hold of one foot.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hold {
    /// What stands where.
    at: Option<(Part, Vec3)>,
    /// What is left of an old hold: from the motion's place to the shown one, when it was let go, and how long ago.
    rest: Vec3,
    since: f32,
    /// How far the heel has risen over the ball because the leg was too short, radians.
    rise: f32,
    /// How long that takes, seconds.
    release: f32,
    /// Whether it was torn off, and steps to where its motion stands.
    steps: bool,
    /// Whether the leg did not reach where it was wanted in the last tick.
    short: bool,
    /// Where its motion had the ball in the last tick.
    ball: Vec3,
    /// What of the sole has come down since its clip says so.
    landed: Option<Part>,
    /// Of heel and ball.
    grip: [Grip; 2],
}

/// Where a foot is wanted.
#[derive(Clone, Copy, Debug)]
struct Target {
    leg: ik::Chain,
    toe: Option<JointIdx>,
    /// Its ankle.
    to: Vec3,
    /// The bottom of its ball.
    ball: Vec3,
    /// How much it is wanted, 0..1.
    firm: f32,
}

/// How firmly the floor holds a sole, 0..1: captures float and sink a little.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Grip {
    /// While it stands or is about to.
    near: f32,
    /// While it stands.
    firm: f32,
}

impl Grip {
    /// How far down the floor draws a sole at some height. One about to land is drawn only as far as captures float: the rest of the way
    /// down is its own motion.
    fn down(self, height: f32) -> f32 {
        let little = height.min(FLOAT);
        little * ease(self.near) + (height - little) * ease(self.firm)
    }
}

fn ramp(from: f32, up: bool, seconds: f32) -> f32 {
    (from + if up { seconds / GRIP } else { -seconds / GRIP }).clamp(0.0, 1.0)
}

impl Default for Hold {
    fn default() -> Self {
        Self {
            at: None,
            rest: Vec3::ZERO,
            since: RELEASE,
            rise: 0.0,
            release: RELEASE,
            steps: false,
            short: false,
            ball: Vec3::ZERO,
            landed: None,
            grip: [Grip::default(); 2],
        }
    }
}

/// Both feet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feet {
    holds: [Hold; 2],
    /// How far the hips are lowered so that the legs reach, metres, and how fast that grows.
    drop: f32,
    sinking: f32,
}

impl Feet {
    /// Moves the legs so that planted feet stand where they stood. `soon` is what will be planted in [`GRIP`] seconds, as far as is known.
    /// `world` is that of `pose` before and after. Returns what stands in the end: not a foot that steps, whatever its clip says.
    pub fn plant(
        &mut self,
        skeleton: &Arc<Skeleton>,
        anatomy: &Anatomy,
        (contacts, soon): (Contacts, Contacts),
        seconds: f32,
        pose: &mut Pose,
        world: &mut WorldPose,
    ) -> Contacts {
        let mut stands = contacts;
        let roles = Roles::canonical();
        let body = RetargetBody { skeleton, roles: &roles, anatomy };
        let near = contacts.with(soon);
        let mut targets = [None; 2];
        let mut drop = 0.0f32;
        for ((hold, (ankle, heel_part, toe_part)), target) in self.holds.iter_mut().zip(FEET).zip(&mut targets) {
            let (Some(heel), Some(ball)) = (heel_of(&body, world, ankle), ball_of(&body, world, ankle)) else {
                continue;
            };
            for (grip, part) in hold.grip.iter_mut().zip([heel_part, toe_part]) {
                grip.near = ramp(grip.near, near.any(part), seconds);
                grip.firm = ramp(grip.firm, contacts.any(part), seconds);
            }
            let mut offset = hold.offset(heel, ball, Part::of(contacts, heel_part, toe_part), seconds);
            offset.y -= hold.down(heel.y, ball.y);
            if hold.steps || !hold.lands(heel.y + offset.y, ball.y + offset.y) {
                stands = stands.without(heel_part).without(toe_part);
            }
            let Some(leg) = ik::Chain::of_canonical(ankle) else { continue };
            let to = world.position(leg.end) + offset;
            let firm = hold.grip.map(|grip| ease(grip.near)).into_iter().fold(hold.left(), f32::max);
            let toe = ankle.child().map(Role::joint);
            *target = Some(Target { leg, toe, to, ball: ball + offset, firm });
            // How far the hip is too high for the leg to get there.
            let line = world.position(leg.top) - to;
            let own = (world.position(leg.top) - world.position(leg.end)).length();
            let most = own.clamp(FREE * length(skeleton, &leg), REACH * length(skeleton, &leg));
            let flat = line.x * line.x + line.z * line.z;
            let need = line.y - (most * most - flat).max(0.0).sqrt();
            drop = drop.max(need.min(DEEPEST) * firm);
        }
        self.sink(drop, seconds);
        if self.drop > 1e-6 {
            pose.translations[0].y -= self.drop;
            world.positions.iter_mut().for_each(|p| p.y -= self.drop);
        }
        // A foot in the air does not sink with the hips.
        for ((hold, (_, heel_part, toe_part)), target) in self.holds.iter_mut().zip(FEET).zip(targets) {
            let Some(target) = target.filter(|t| self.drop > 1e-6 || t.firm > 0.0) else { continue };
            let longest = reach(skeleton, &target.leg, world, target.to, target.firm);
            let to = hold.peel(skeleton, &target, longest, seconds, pose, world);
            let line = to - world.position(target.leg.top);
            let missed = line * ((longest / line.length().max(1e-6)).min(1.0) - 1.0);
            target.leg.reach(skeleton, to + missed, pose, world);
            hold.short = missed.length() > SHORT;
            if hold.at.is_some() && hold.short {
                hold.tear(missed);
                stands = stands.without(heel_part).without(toe_part);
            }
        }
        stands
    }

    /// What is shown becomes what is played: nothing of it is added a second time. Holds stay.
    pub fn absorb(&mut self) {
        (self.drop, self.sinking) = (0.0, 0.0);
        for hold in &mut self.holds {
            (hold.rest, hold.rise) = (Vec3::ZERO, 0.0);
        }
    }

    /// Lowers the hips towards `drop`, without a jerk.
    fn sink(&mut self, drop: f32, seconds: f32) {
        // A critically damped spring, exact for a constant goal.
        let rate = 1.0 / SINK;
        let (offset, decay) = (self.drop - drop, libm::expf(-rate * seconds));
        let slope = self.sinking + rate * offset;
        self.drop = drop + (offset + slope * seconds) * decay;
        self.sinking = (self.sinking - rate * slope * seconds) * decay;
    }
}

impl Hold {
    /// By how much the foot is moved along the ground from where its motion has it.
    fn offset(&mut self, heel: Vec3, ball: Vec3, stands: Option<Part>, seconds: f32) -> Vec3 {
        let left = self.rest * self.left();
        let gone = ball - self.ball;
        let still = gone.length() < STILL * seconds;
        let flies = Vec2::new(gone.x, gone.z).length() > FLIES * seconds;
        self.ball = ball;
        self.steps &= stands.is_some() && !(still && !self.short && self.since >= self.release);
        if let Some(part) = stands.filter(|part| !self.steps && self.is_held(*part, flies)) {
            let point = if part == Part::Heel { heel } else { ball };
            // It comes down where it is shown.
            let here = Vec3::new(point.x + left.x, 0.0, point.z + left.z);
            let at = self.at.filter(|held| held.0 == part).map_or(here, |held| held.1);
            self.at = Some((part, at));
            let offset = Vec3::new(at.x - point.x, 0.0, at.z - point.z);
            if offset.length() <= TORN {
                (self.rest, self.since, self.release) = (offset, 0.0, RELEASE);
                return offset;
            }
            (self.steps, self.release) = (true, STEP);
        }
        if self.at.take().is_none() {
            self.since += seconds;
        }
        let way = (self.since / self.release).min(1.0);
        let lift = if self.steps { LIFT * 16.0 * way * way * (1.0 - way) * (1.0 - way) } else { 0.0 };
        self.rest * self.left() + Vec3::Y * lift
    }

    /// Whether a part that its clip calls planted is held. A join may carry it through the air: it slows down before it stands.
    fn is_held(&self, part: Part, flies: bool) -> bool {
        let grip = self.grip[usize::from(part == Part::Ball)];
        self.at.is_some() || !flies || grip.firm >= SLOWED
    }

    /// How far the floor draws the foot down, whose heel and ball are this high.
    fn down(&self, heel: f32, ball: f32) -> f32 {
        let [on_heel, mut on_ball] = self.grip;
        // A ball about to come down beside a heel that stands already comes down with its own motion.
        on_ball.near = on_ball.firm.max(on_ball.near * (1.0 - ease(on_heel.firm)));
        on_heel.down(heel) * (1.0 - ease(on_ball.near)) + on_ball.down(ball)
    }

    /// Whether what stands has come down, with heel and ball shown this high; the floor has hold of it then at the latest.
    fn lands(&mut self, heel: f32, ball: f32) -> bool {
        self.landed = self.at.map(|held| held.0).filter(|part| {
            let (height, grip) = if *part == Part::Heel { (heel, self.grip[0]) } else { (ball, self.grip[1]) };
            self.landed == Some(*part) || height.abs() < LANDED || grip.firm >= 1.0
        });
        self.landed.is_some()
    }

    /// Raises the heel of a foot that stands on its ball as far as its leg, `longest`, is too short for it; once it is let go the heel comes back. Says
    /// where the ankle goes. `world` is that of `pose` before and after.
    fn peel(
        &mut self,
        skeleton: &Skeleton,
        target: &Target,
        longest: f32,
        seconds: f32,
        pose: &mut Pose,
        world: &mut WorldPose,
    ) -> Vec3 {
        let (hip, arm) = (world.position(target.leg.top), target.to - target.ball);
        let axis = Vec3::Y.cross(Vec3::new(-arm.x, 0.0, -arm.z)).normalize_or(Vec3::X);
        self.rise = if matches!(self.at, Some((Part::Ball, _))) {
            // |from + turned arm| = longest, of which the dot product varies as a cosine.
            let from = target.ball - hip;
            let (cos, sin) = (from.dot(arm), from.dot(axis.cross(arm)));
            let wanted = 0.5 * (longest * longest - from.length_squared() - arm.length_squared());
            let whole = (cos * cos + sin * sin).sqrt().max(1e-9);
            let needed = libm::atan2f(sin, cos) + libm::acosf((wanted / whole).clamp(-1.0, 1.0));
            // Who lies may have the hip on the other side: a rising heel would only get farther from it.
            let needed = if sin < 0.0 { needed } else { 0.0 };
            needed.clamp(0.0, PEEL.0).min(self.rise + PEEL.1 * seconds)
        } else {
            self.rise * libm::expf(-seconds / PEEL.2)
        };
        if self.rise < 1e-4 {
            return target.to;
        }
        let turn = about(axis, self.rise);
        let (foot, held) = (target.leg.end, world.rotation(target.leg.end));
        let turned = turn * held;
        pose.rotations[foot.at()] = (world.rotation(target.leg.hinge).conjugate() * turned).normalize();
        if let Some(toe) = target.toe {
            // Toes stay on the ground.
            pose.rotations[toe.at()] = (turned.conjugate() * held * pose.rotations[toe.at()]).normalize();
        }
        fk::pose(skeleton, pose, world);
        target.ball + turn * arm
    }

    /// Lets go of what the leg does not reach: the foot steps from where it is shown, `missed` from its hold.
    fn tear(&mut self, missed: Vec3) {
        self.rest += Vec3::new(missed.x, 0.0, missed.z);
        (self.at, self.since, self.steps, self.release) = (None, 0.0, true, STEP);
    }

    /// How much is left of the last hold, 1 while it lasts.
    fn left(&self) -> f32 {
        1.0 - ease(self.since / self.release)
    }
}

fn length(skeleton: &Skeleton, leg: &ik::Chain) -> f32 {
    skeleton.offset(leg.hinge).length() + skeleton.offset(leg.end).length()
}

/// How far from the hip an ankle on its way to `target` may be, which is wanted as much as `firm`. Near its full length a knee straightens by
/// degrees for millimetres: the leg gives in softly before, later where its motion is as straight itself and nothing holds its foot.
fn reach(skeleton: &Skeleton, leg: &ik::Chain, world: &WorldPose, target: Vec3, firm: f32) -> f32 {
    let (from, whole) = (world.position(leg.top), length(skeleton, leg));
    let (own, wanted) = ((world.position(leg.end) - from).length().max(FREE * whole), (target - from).length());
    let soft = |free: f32, room: f32| match wanted - free {
        over if over > 0.0 => free + room * (1.0 - libm::expf(-over / room)),
        _ => wanted,
    };
    let room = |free: f32| (REACH * whole - free).max(LEAST * whole);
    let held = own.min((REACH - LEAST) * whole);
    soft(own, room(own)).min(wanted + firm * (soft(held, room(held)) - wanted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::humanoid;

    /// Hips that leave a planted foot behind: the heel rises over a ball that stays, then the foot steps. It never slides while it stands.
    #[test]
    fn a_foot_left_behind_peels_off_and_steps() {
        let skeleton = Arc::new(humanoid::skeleton());
        let anatomy = Anatomy::of_canonical(&skeleton);
        let roles = Roles::canonical();
        let body = RetargetBody { skeleton: &skeleton, roles: &roles, anatomy: &anatomy };
        let (mut feet, mut world) = (Feet::default(), WorldPose::default());
        let (mut first, mut highest, mut stood) = (None, 0.0f32, 0);
        let all = Contacts::LEFT.with(Contacts::RIGHT);
        for tick in 0..60 {
            let mut pose = Pose::rest(&skeleton);
            pose.translations[0].y -= 0.02;
            // After a while at rest, forward at 0.8 m/s.
            pose.translations[0].z += 0.8 * (tick as f32 - 20.0).max(0.0) / 60.0;
            fk::pose(&skeleton, &pose, &mut world);
            let stands = feet.plant(&skeleton, &anatomy, (all, all), 1.0 / 60.0, &mut pose, &mut world);
            let (heel, ball) = (heel_of(&body, &world, Role::LeftAnkle), ball_of(&body, &world, Role::LeftAnkle));
            let (heel, ball) = (heel.unwrap(), ball.unwrap());
            if !stands.any(Contacts::LEFT) {
                if tick > 20 {
                    break;
                }
                continue;
            }
            stood = tick;
            let at: Vec3 = *first.get_or_insert(ball);
            let slid = Vec3::new(ball.x - at.x, 0.0, ball.z - at.z).length();
            assert!(slid <= SHORT, "tick {tick}: {slid}");
            assert!(ball.y.abs() < LANDED, "tick {tick}: {}", ball.y);
            highest = highest.max(heel.y);
        }
        assert!(highest > 0.008, "the heel rose by {highest}");
        assert!((24..50).contains(&stood), "it stood until {stood}");
    }
}
