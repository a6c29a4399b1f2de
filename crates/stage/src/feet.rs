//! Planted feet stay planted, through joins and warps: what the clip calls planted is held where it came down. A foot stands on its heel until
//! the ball is down, then on the ball.

use std::sync::Arc;

use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::ease;
use kumite_motion::retarget::{Actor, ball_of, heel_of};
use kumite_motion::{Contacts, Pose, Role, Roles, Skeleton, Vec3, WorldPose, ik};

/// How long a foot takes from its hold back to its motion, seconds.
const RELEASE: f32 = 0.20;
/// How long the floor takes to get hold of a sole, before it comes down, and to lose it after, seconds.
pub(crate) const GRIP: f32 = 0.12;
/// Soles of captures are this far off the floor while planted, metres.
const FLOAT: f32 = 0.03;
/// A foot steps when its motion has gone farther than this from its hold, metres: the clip means another place. It is lifted by so much, metres.
const TORN: f32 = 0.25;
const LIFT: f32 = 0.03;
/// A leg is stretched to this share of its length at most, and freely to the other.
const REACH: f32 = 0.996;
const FREE: f32 = 0.96;
/// Hips give way by this much at most where legs do not reach their holds, metres, and take about this long for it, seconds.
const DEEPEST: f32 = 0.06;
const SINK: f32 = 0.05;

/// The parts of the feet: ankle, heel, toe.
pub(crate) const FEET: [(Role, Contacts, Contacts); 2] = [
    (Role::LeftAnkle, Contacts::LEFT_HEEL, Contacts::LEFT_TOE),
    (Role::RightAnkle, Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE),
];

/// What a foot stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The heel, with the ball still in the air.
    Heel,
    /// The ball, whatever the heel does.
    Ball,
}

impl Part {
    /// Of the foot with these contacts.
    pub(crate) fn of(contacts: Contacts, heel: Contacts, toe: Contacts) -> Option<Part> {
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
    /// Whether it was torn off, and steps to where its motion stands.
    steps: bool,
    /// Of heel and ball.
    grip: [Grip; 2],
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
        let little = height.clamp(-FLOAT, FLOAT);
        little * ease(self.near) + (height - little) * ease(self.firm)
    }
}

fn ramp(from: f32, up: bool, seconds: f32) -> f32 {
    (from + if up { seconds / GRIP } else { -seconds / GRIP }).clamp(0.0, 1.0)
}

impl Default for Hold {
    fn default() -> Self {
        Self { at: None, rest: Vec3::ZERO, since: RELEASE, steps: false, grip: [Grip::default(); 2] }
    }
}

/// Both feet.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Feet {
    holds: [Hold; 2],
    /// How far the hips are lowered so that the legs reach, metres, and how fast that grows.
    drop: f32,
    sinking: f32,
}

impl Feet {
    /// Moves the legs so that planted feet stand where they stood. `soon` is what will be planted in [`GRIP`] seconds, as far as is known.
    /// `world` is that of `pose` before and after. Returns what stands in the end: not a foot that steps, whatever its clip says.
    pub(crate) fn plant(
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
        let actor = Actor { skeleton, roles: &roles, anatomy };
        let near = contacts.with(soon);
        let mut targets = [None; 2];
        let mut drop = 0.0f32;
        for ((hold, (ankle, heel_part, toe_part)), target) in self.holds.iter_mut().zip(FEET).zip(&mut targets) {
            let (Some(heel), Some(ball)) = (heel_of(&actor, world, ankle), ball_of(&actor, world, ankle)) else {
                continue;
            };
            for (grip, part) in hold.grip.iter_mut().zip([heel_part, toe_part]) {
                grip.near = ramp(grip.near, near.any(part), seconds);
                grip.firm = ramp(grip.firm, contacts.any(part), seconds);
            }
            let mut offset = hold.offset(heel, ball, Part::of(contacts, heel_part, toe_part), seconds);
            // A foot stands once the floor has got hold of its sole, and not while it steps.
            let held = hold.at.map_or(0.0, |(part, _)| hold.grip[usize::from(part == Part::Ball)].firm);
            if hold.steps || held < 0.5 {
                stands = stands.without(heel_part).without(toe_part);
            }
            let [on_heel, on_ball] = hold.grip.map(|grip| ease(grip.near));
            let [heel_down, ball_down] = [hold.grip[0].down(heel.y), hold.grip[1].down(ball.y)];
            offset.y += -(heel_down * (1.0 - on_ball) + ball_down);
            let Some(chain) = ik::Chain::of_canonical(ankle) else { continue };
            let to = world.position(chain.end) + offset;
            let firm = on_heel.max(on_ball).max(hold.left());
            *target = Some((chain, to, firm));
            // How far the hip is too high for the leg to get there.
            let line = world.position(chain.top) - to;
            let own = (world.position(chain.top) - world.position(chain.end)).length();
            let most = own.clamp(FREE * length(skeleton, &chain), REACH * length(skeleton, &chain));
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
        for (chain, target, firm) in targets.into_iter().flatten() {
            if self.drop > 1e-6 || firm > 0.0 {
                let within = firm * (within_reach(skeleton, &chain, world, target) - target);
                chain.reach(skeleton, target + within, pose, world);
            }
        }
        stands
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
        self.steps &= stands.is_some() && self.since < RELEASE;
        if let Some(part) = stands.filter(|_| !self.steps) {
            let point = if part == Part::Heel { heel } else { ball };
            // It comes down where it is shown.
            let here = Vec3::new(point.x + left.x, 0.0, point.z + left.z);
            let at = self.at.filter(|held| held.0 == part).map_or(here, |held| held.1);
            self.at = Some((part, at));
            let offset = Vec3::new(at.x - point.x, 0.0, at.z - point.z);
            if offset.length() <= TORN {
                self.rest = offset;
                self.since = 0.0;
                return offset;
            }
            self.steps = true;
        }
        if self.at.take().is_none() {
            self.since += seconds;
        }
        let way = (self.since / RELEASE).min(1.0);
        let lift = if self.steps { LIFT * 16.0 * way * way * (1.0 - way) * (1.0 - way) } else { 0.0 };
        self.rest * self.left() + Vec3::Y * lift
    }

    /// How much is left of the last hold, 1 while it lasts.
    fn left(&self) -> f32 {
        1.0 - ease(self.since / RELEASE)
    }
}

fn length(skeleton: &Skeleton, leg: &ik::Chain) -> f32 {
    skeleton.offset(leg.hinge).length() + skeleton.offset(leg.end).length()
}

/// Where an ankle can go instead of `target`. Near its full length a knee straightens by degrees for millimetres: the leg gives in softly
/// before, later where its motion is as straight itself.
fn within_reach(skeleton: &Skeleton, leg: &ik::Chain, world: &WorldPose, target: Vec3) -> Vec3 {
    let (from, whole) = (world.position(leg.top), length(skeleton, leg));
    let own = (world.position(leg.end) - from).length();
    let longest = REACH * whole;
    let free = own.clamp(FREE * whole, longest - 0.005 * whole);
    let (room, line) = (longest - free, target - from);
    let length = line.length();
    if length <= free {
        return target;
    }
    from + line * ((free + room * (1.0 - libm::expf(-(length - free) / room))) / length)
}
