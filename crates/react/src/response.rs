//! What a body does from the moment it is touched: physics for a moment, then back to what is played; or down, and up again. A layer over
//! whatever is played, after Hermens § 4.1.2-4.1.3 and Zordan et al. 2005.
//!
//! | phase | lasts | joints hold with | weight | ends |
//! |---|---|---|---|---|
//! | struck | 80 ms, a parameter | 0.1 where it was hit, 0.3 beside it, 0.7 elsewhere | that of a pendulum on its soles | |
//! | recovering | 260 ms | smoothly all, within 250 ms | likewise | the difference to what is played fades over 375 ms |
//! | falling | until it lies still | little, towards a fall that is played, and arms towards the floor | all | at rest |
//! | lying | until told | what it has | all | told to rise |
//! | rising | until it is near what is played | more and more | all to half | near enough, or too long: fades |
//!
//! Whoever is on its feet falls when its capture point is farther off than steps can catch ([`crate::catch`]).

use std::sync::Arc;

use kumite_motion::blend::{Inertia, Velocity, cross_fade, ease};
use kumite_motion::rotation::between;
use kumite_motion::volume::Obstacle;
use kumite_motion::{Contacts, Pose, Role, Vec3, WorldPose, fk};

use crate::body::Body;
use crate::catch::{self, Footing, SOLES};
use crate::fall;
use crate::flinch::Flinch;
use crate::ragdoll::parts::{FEET, HANDS, PARENTS, PARTS, part_of};
use crate::ragdoll::{Build, Physics, Pull, Ragdoll};
use crate::touch::Touch;

/// Strength of the joints of the part that is hit, of its neighbours, and of all others.
const SLACK: [f32; 3] = [0.1, 0.3, 0.7];
/// How long they take to hold again, seconds.
const FIRM: f32 = 0.25;
/// Part 1 of the recovery, seconds: physics goes on (Hermens § 4.2).
pub const PART_ONE: f32 = 0.26;
/// Part 2, seconds: what is left of the difference fades.
pub const PART_TWO: f32 = 0.375;
/// How long a heavy ball goes on pushing, seconds.
const PUSHES: f32 = 0.06;
/// Strength of joints while falling: limbs, the neck (it keeps the head off the floor), spine and legs.
const FALLING: [f32; 3] = [0.25, 0.8, 0.12];
/// Damping while falling.
const LIMP: f32 = 0.35;
/// Falls are looked at for rest after so many seconds, and are over after so many in any case.
const FALLS: [f32; 2] = [0.5, 2.5];
/// What counts as settling: a centre of mass lower than this, metres, and slower than this, metres per second.
const SETTLES: (f32, f32) = (0.45, 0.6);
/// No joint turns faster once a fall is over, radians per second.
const CALM: f32 = 5.0;
/// At rest no joint turns faster, radians per second.
pub const REST: f32 = 0.05;
/// How quickly a body that lies stops rolling, per second, at first and once its limbs have sunk.
const ROLLS: (f32, f32) = (8.0, 60.0);
/// Slower than this for so long it sleeps, radians per second and seconds, until something touches it or it rises: the engine's own bodies sleep below 0.5. Where limbs lie on
/// limbs solvers tremble without end: who has lain for a while sleeps through more of that, up to the first, reached so many seconds after limbs have sunk.
const SLEEPS: (f32, f32) = (0.3, 0.1);
const TREMBLES: (f32, f32) = (2.0, 0.6);
/// Wrists of a body that lies hold with so much.
const STIFF: f32 = 4.0;
/// Whether a push is caught is known so many seconds after it at the latest.
const CAUGHT: f32 = 0.25;
/// A foot that is higher above the floor than this does not stand, metres, whatever its motion says.
const HIGH: f32 = 0.03;
/// What is on the floor of whoever stands.
const SOLE: [Role; 4] = [Role::LeftAnkle, Role::LeftToe, Role::RightAnkle, Role::RightToe];
/// Feet this high are not let down, metres; how far others are at most, how fast, metres per second, and how quickly that is evened out, seconds.
const LOW: f32 = 0.01;
const LOWERED: f32 = 0.25;
const LETS_DOWN: f32 = 1.2;
const EVENS: f32 = 0.03;
/// A leg this straight, of its length, lifts its heel: it would come apart if its foot were still nailed down.
const STRAIGHT: f32 = 0.998;
/// How long limbs are left to sink to the ground, seconds.
const SINKS: f32 = 0.35;
/// How long a body that settles is given to come to rest, seconds.
const SETTLING: f32 = 1.4;
/// Pulled into a motion on the ground: how long until all strength is used, and for how long at most, seconds.
const RISES: (f32, f32) = (0.5, 1.1);
/// What is aimed at begins to move so long after that, seconds: at first it jumps to how the body lies.
const AIMS: f32 = 0.02;
/// Near enough to be played on: mean angle of joints, radians, and hands and feet seen from the pelvis, metres.
pub const NEAR: (f32, f32) = (15.0 * std::f32::consts::PI / 180.0, 0.10);
/// A handover that was not near enough takes this long instead, seconds: a roll.
const ROLL: f32 = 0.7;
/// And one that was.
const TAKEN: f32 = 0.4;

/// What can be chosen about a response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// How long physics alone acts, seconds: 0.05 to 0.1 (Hermens § 4.2).
    pub seconds: f32,
    /// What pushes are multiplied by.
    pub gain: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { seconds: 0.08, gain: 1.0 }
    }
}

/// Where a response is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Physics acts, joints give way.
    Struck,
    /// Physics acts, joints hold more and more.
    Recovering,
    /// It falls.
    Falling,
    /// It lies still, or nearly.
    Lying,
    /// It is pulled into what is played.
    Rising,
    /// No physics any more: what is left of the difference fades.
    Fading,
}

/// A response under way.
#[derive(Clone, Debug)]
pub struct Response {
    /// `None` once it fades.
    ragdoll: Option<Box<Ragdoll>>,
    build: Arc<Build>,
    settings: Settings,
    phase: Phase,
    /// Since the phase began, seconds; since the touch while struck and recovering.
    since: f32,
    /// What was hit.
    part: usize,
    /// What is pressed on.
    pressed: usize,
    /// What is still to be pushed with, newton seconds, for how long, and where on the part, in its frame.
    push: (Vec3, f32, Vec3),
    /// What lies below, and what is shown of it: now and a tick ago.
    below: [Pose; 2],
    shown: [Pose; 2],
    /// What is aimed at: what is played, or what it had when it came to lie.
    aim: WorldPose,
    /// How it lay, what of that is aimed at while it rises, and where it is.
    held: Pose,
    mixed: Pose,
    lies: WorldPose,
    fade: Inertia,
    /// While rising: how far from what is played, as [`NEAR`].
    off: (f32, f32),
    /// Since it began to settle.
    settling: f32,
    /// What it stands on.
    footing: Footing,
    /// Which feet have been torn off the floor since it was pushed.
    torn: [bool; 2],
    /// Which feet are off the floor.
    high: [bool; 2],
    /// Since it lies slowly enough to sleep, seconds.
    slow: f32,
    /// What muscles add to the push, and how long ago that was, seconds.
    flinch: Flinch,
    touched: f32,
    /// How far what is shown is let down to the floor, metres.
    lowered: f32,
    body: Option<Body>,
}

impl Response {
    /// Begins with what was shown now and a tick ago. `stands` says which feet do.
    pub fn begin(
        build: &Arc<Build>,
        shown: [&WorldPose; 2],
        seconds: f32,
        stands: [bool; 2],
        around: &[Obstacle],
        settings: Settings,
    ) -> Response {
        let mut ragdoll = Ragdoll::new(build, shown[0], shown[1], seconds, around);
        ragdoll.pin(stands);
        Response {
            ragdoll: Some(Box::new(ragdoll)),
            build: Arc::clone(build),
            settings,
            phase: Phase::Recovering,
            since: settings.seconds,
            part: 0,
            pressed: 0,
            push: (Vec3::ZERO, 0.0, Vec3::ZERO),
            below: Default::default(),
            shown: Default::default(),
            aim: WorldPose::default(),
            held: Pose::default(),
            mixed: Pose::default(),
            lies: WorldPose::default(),
            fade: Inertia::default(),
            off: (0.0, 0.0),
            settling: 0.0,
            footing: {
                let [now, before] = shown.map(|world| build.centre(world));
                Footing::of(now, (now - before) / seconds.max(1e-4))
            },
            torn: [false; 2],
            high: [false; 2],
            slow: 0.0,
            flinch: Flinch::default(),
            touched: 0.0,
            lowered: 0.0,
            body: Body::of(build.skeleton()),
        }
    }

    /// Something touches.
    pub fn touch(&mut self, touch: &Touch) {
        let Some(ragdoll) = &mut self.ragdoll else { return };
        let part = part_of(touch.part);
        let mass = |part: usize| ragdoll.build().parts()[part].mass;
        // Hands and feet are stiff on their limbs: alone they are too light for a ball.
        let behind = if FEET.contains(&part) || HANDS.contains(&part) { mass(PARENTS[part]) } else { 0.0 };
        let own = mass(part) / (mass(part) + behind);
        let [once, rest] = touch.impulse(mass(part) + behind);
        ragdoll.push(part, once * (self.settings.gain * own), touch.at);
        ragdoll.push(PARENTS[part], once * (self.settings.gain * (1.0 - own)), touch.at);
        // What is too heavy for an arm or a head to throw back presses on until it meets the trunk.
        let pressed = if (3..10).contains(&part) { 2 } else { part };
        let (place, turn) = ragdoll.place(pressed);
        let at = if pressed == part { touch.at } else { place + turn * ragdoll.build().parts()[pressed].centre };
        self.push = (rest * self.settings.gain, PUSHES, turn.conjugate() * (at - place));
        (self.part, self.pressed, self.slow) = (part, pressed, 0.0);
        if matches!(self.phase, Phase::Struck | Phase::Recovering | Phase::Fading) {
            (self.phase, self.since) = (Phase::Struck, 0.0);
            self.footing.push();
            let (place, turn) = ragdoll.place(2);
            let chest = place + turn * ragdoll.build().parts()[2].centre;
            self.flinch = Flinch::of(touch, touch.change() * self.settings.gain, chest, turn * Vec3::Z);
            self.touched = 0.0;
        }
    }

    /// Something presses on it without a blow: newton seconds at a place. It goes on being simulated for a moment.
    pub fn nudge(&mut self, part: usize, push: Vec3, at: Vec3) {
        /// How far joints hold meanwhile: as long after a response, seconds.
        const PRESSED: f32 = 0.15;
        let Some(ragdoll) = &mut self.ragdoll else { return };
        ragdoll.push(part, push, at);
        self.slow = 0.0;
        if self.phase == Phase::Recovering {
            self.since = self.settings.seconds + PRESSED;
        }
    }

    /// Is pulled into what is played from now on.
    pub fn rise(&mut self) {
        if self.phase == Phase::Lying {
            (self.phase, self.since) = (Phase::Rising, 0.0);
        }
    }

    /// Where it is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Seconds in its phase; since the touch while struck and recovering.
    pub fn since(&self) -> f32 {
        self.since
    }

    /// What is simulated, while something is.
    pub fn ragdoll(&self) -> Option<&Ragdoll> {
        self.ragdoll.as_deref()
    }

    /// Whether what is shown is the blow's own doing: struck, falling.
    pub fn in_window(&self) -> bool {
        matches!(self.phase, Phase::Struck | Phase::Falling)
    }

    /// Whether it lies and sleeps: nothing is simulated until something touches it or it rises.
    pub fn asleep(&self) -> bool {
        self.slow > SLEEPS.1
    }

    /// Whether it does nothing any more.
    pub fn over(&self) -> bool {
        self.phase == Phase::Fading && self.since >= self.fade.seconds()
    }

    /// Seconds of motion per second: whoever lies waits for what it is pulled into.
    pub fn rate(&self) -> f32 {
        if matches!(self.phase, Phase::Lying | Phase::Rising) { 0.0 } else { 1.0 }
    }

    /// How far it is from what it is pulled into: mean angle of joints, radians, and farthest hand or foot, metres.
    pub fn off(&self) -> (f32, f32) {
        self.off
    }

    /// What stands while this acts, of what does in the motion.
    pub fn contacts(&self, planted: Contacts) -> Contacts {
        match self.phase {
            Phase::Falling | Phase::Lying | Phase::Rising => Contacts::NONE,
            Phase::Struck | Phase::Recovering | Phase::Fading => {
                let feet = [Contacts::LEFT, Contacts::RIGHT].into_iter().zip(self.torn.into_iter().zip(self.high));
                let up = |(torn, high): (bool, bool)| high || (torn && self.ragdoll.is_some());
                feet.filter(|foot| up(foot.1)).fold(planted, |planted, foot| planted.without(foot.0))
            }
        }
    }

    /// Looks which feet are off the floor in what is shown.
    fn look_at_feet(&mut self, world: &WorldPose) {
        for (foot, (ankle, toe)) in
            [(Role::LeftAnkle, Role::LeftToe), (Role::RightAnkle, Role::RightToe)].into_iter().enumerate()
        {
            let rest = |role: Role| self.build.resting(role);
            let above = |role: Role| world.position(role.joint()).y - rest(role);
            self.high[foot] = above(ankle).min(above(toe)) > HIGH;
        }
    }

    /// Whether it is on its feet and carried away: its motion goes along.
    pub fn carried(&self) -> bool {
        matches!(self.phase, Phase::Struck | Phase::Recovering) && self.footing.lost()
    }

    /// A tick of `seconds` over a motion; `pose` and `world` are the motion's and become what is shown.
    pub fn step(
        &mut self,
        physics: &mut Physics,
        planted: Contacts,
        seconds: f32,
        pose: &mut Pose,
        world: &mut WorldPose,
    ) {
        self.since += seconds;
        self.touched += seconds;
        self.below.swap(0, 1);
        self.below[0].clone_from(pose);
        let Some(mut ragdoll) = self.ragdoll.take() else {
            self.fade.apply(self.since, pose);
            fk::pose(self.build.skeleton(), pose, world);
            self.stand_on_floor(seconds, pose, world);
            self.flinch.recoil(self.build.skeleton(), self.touched, pose, world);
            self.look_at_feet(world);
            return;
        };
        let on_feet = matches!(self.phase, Phase::Struck | Phase::Recovering);
        if on_feet {
            self.footing.follow(self.build.centre(world), seconds);
        }
        self.go_on(&mut ragdoll, planted, seconds);
        match self.phase {
            // A body that lies holds itself as it came to lie, loosely, and sinks in by its weight.
            Phase::Lying => {}
            Phase::Rising => {
                cross_fade(&self.held, pose, ease(self.since / RISES.0), &mut self.mixed);
                fk::pose(self.build.skeleton(), &self.mixed, &mut self.aim);
            }
            Phase::Falling => self.aim_at_floor(&ragdoll, pose, world),
            _ => {
                self.mixed.clone_from(pose);
                self.aim.clone_from(world);
                self.flinch.apply(self.build.skeleton(), self.since, &mut self.mixed, &mut self.aim);
            }
        }
        let pull = self.pull();
        if !self.sleeps(&mut ragdoll, seconds) {
            ragdoll.step(physics, &self.aim, &pull, seconds);
        }
        if on_feet {
            self.balance(&mut ragdoll, seconds);
        }
        if self.phase == Phase::Rising {
            ragdoll.show(&self.aim, &mut self.mixed, &mut self.lies);
            self.off = apart(world, &self.lies);
            // What is no part of its own goes from how it lay as well: what is played jumped to a way to get up.
            pose.clone_from(&self.mixed);
        }
        if on_feet {
            // Collar bones are no parts of their own: they are shown as aimed at.
            for collar in [Role::LeftClavicle, Role::RightClavicle] {
                pose.rotations[collar.joint().at()] = self.mixed.rotation(collar.joint());
            }
        }
        ragdoll.show(&self.aim, pose, world);
        if self.phase == Phase::Lying {
            self.held.clone_from(pose);
        }
        self.shown.swap(0, 1);
        self.shown[0].clone_from(pose);
        if self.phase == Phase::Falling && self.settles(&ragdoll, seconds) {
            (self.phase, self.since) = (Phase::Lying, 0.0);
            self.aim.clone_from(world);
            self.held.clone_from(pose);
        }
        if self.phase == Phase::Struck && self.since >= self.settings.seconds {
            self.phase = Phase::Recovering;
        }
        self.ragdoll = Some(ragdoll);
        if let Some(length) = self.ends() {
            self.fade_out(length, seconds);
        }
        self.stand_on_floor(seconds, pose, world);
        if !matches!(self.phase, Phase::Lying | Phase::Rising) {
            self.flinch.recoil(self.build.skeleton(), self.touched, pose, world);
        }
        self.look_at_feet(world);
    }

    /// Lets whoever is on its feet down as far as both of them are off the floor, no faster than it would fall: a push carries a body along the floor, and what it tracks
    /// meanwhile, one motion led into another, may have both feet up.
    fn stand_on_floor(&mut self, seconds: f32, pose: &mut Pose, world: &mut WorldPose) {
        let on_feet = matches!(self.phase, Phase::Struck | Phase::Recovering | Phase::Fading);
        let above = |role: Role| world.position(role.joint()).y - self.build.resting(role);
        let lower = SOLE.map(above).into_iter().fold(f32::INFINITY, f32::min);
        let wanted = if on_feet { (lower - LOW).clamp(0.0, LOWERED) } else { 0.0 };
        let most = LETS_DOWN * seconds;
        self.lowered += ((wanted - self.lowered) * (seconds / EVENS).min(1.0)).clamp(-most, most);
        if self.lowered > 1e-5 {
            pose.translations[0].y -= self.lowered;
            fk::pose(self.build.skeleton(), pose, world);
        }
    }

    /// What it aims at while it falls: the fall that is played, with the arms towards the floor.
    fn aim_at_floor(&mut self, ragdoll: &Ragdoll, pose: &Pose, world: &WorldPose) {
        let (Some(body), false) = (&self.body, self.shown[0].rotations.is_empty()) else {
            return self.aim.clone_from(world);
        };
        self.mixed.clone_from(pose);
        let speed = ragdoll.centre().1;
        fall::protect(self.build.skeleton(), body, &self.shown[0], &mut self.lies, speed, &mut self.mixed);
        fk::pose(self.build.skeleton(), &self.mixed, &mut self.aim);
    }

    /// Whether it lies and sleeps.
    fn sleeps(&mut self, ragdoll: &mut Ragdoll, seconds: f32) -> bool {
        let more = ease((self.since - 2.0 * SINKS) / TREMBLES.1);
        let slowly = SLEEPS.0 + (TREMBLES.0 - SLEEPS.0) * more;
        let slow = self.phase == Phase::Lying && self.since > SINKS && ragdoll.fastest() < slowly;
        self.slow = if slow && self.push.1 <= 0.0 { self.slow + seconds } else { 0.0 };
        if self.asleep() {
            ragdoll.rest();
        }
        self.asleep()
    }

    /// Its weight carries it on as far as soles cannot help it, and it falls if steps could not either.
    fn balance(&mut self, ragdoll: &mut Ragdoll, seconds: f32) {
        if self.since < PUSHES || self.push.1 > 0.0 {
            return;
        }
        ragdoll.drift(self.footing.carries(ragdoll.centre(), seconds));
        let centre = ragdoll.centre();
        let off = self.footing.off(centre).length();
        if self.since <= CAUGHT && off > catch::reach(catch::rate(centre.0.y), self.since) {
            (self.phase, self.since, self.settling) = (Phase::Falling, 0.0, 0.0);
        }
    }

    /// Pushes what is still to be pushed, and holds what stands.
    fn go_on(&mut self, ragdoll: &mut Ragdoll, planted: Contacts, seconds: f32) {
        let (rest, left, at) = self.push;
        if left > 0.0 {
            let share = (seconds / left).min(1.0);
            let (place, turn) = ragdoll.place(self.pressed);
            ragdoll.push(self.pressed, rest * share, place + turn * at);
            self.push = (rest * (1.0 - share), left - seconds, at);
        }
        let stands = match self.phase {
            Phase::Struck | Phase::Recovering => {
                let pinned = ragdoll.pinned();
                let heels = [Contacts::LEFT_HEEL, Contacts::RIGHT_HEEL];
                let down = |foot: usize| pinned[foot] || ragdoll.place(FEET[foot]).0.y < 0.11;
                // Soles hold what is over them: of two feet the one comes loose that is farther from where the body goes.
                let (centre, off) = (ragdoll.centre(), self.footing.off(ragdoll.centre()));
                let lost = off.length() > SOLES;
                let way = Vec3::new(off.x, 0.0, off.y);
                let along = |foot: usize| (ragdoll.place(FEET[foot]).0 - centre.0).dot(way);
                let first = usize::from(along(1) < along(0));
                let both = pinned == [true; 2];
                [0, 1].map(|foot| {
                    let stands = planted.any(heels[foot]);
                    let loose = (lost && both && foot == first) || ragdoll.stretched(foot) > STRAIGHT;
                    self.torn[foot] = stands && (self.torn[foot] || loose);
                    stands && !self.torn[foot] && down(foot)
                })
            }
            _ => [false; 2],
        };
        ragdoll.pin(stands);
        let on_feet = matches!(self.phase, Phase::Struck | Phase::Recovering);
        let on_its_way = |foot: usize| !planted.any([Contacts::LEFT, Contacts::RIGHT][foot]) && !self.torn[foot];
        ragdoll.slide([0, 1].map(|foot| on_feet && on_its_way(foot)));
    }

    /// How strongly joints hold in this tick.
    fn pull(&self) -> Pull {
        let mut strength = [1.0; PARTS];
        let all = |strength: &mut [f32; PARTS], limbs: [f32; 3]| {
            for (index, s) in strength.iter_mut().enumerate() {
                *s = match index {
                    0 => 0.0,
                    3 => limbs[1],
                    4..=9 => limbs[0],
                    _ => limbs[2],
                };
            }
        };
        match self.phase {
            Phase::Struck | Phase::Recovering => {
                let firm = (self.since - self.settings.seconds) / FIRM;
                let firm = firm.clamp(0.0, 1.0);
                let back = firm * firm * (3.0 - 2.0 * firm);
                for (index, s) in strength.iter_mut().enumerate() {
                    let near = SLACK[beside(self.part, index).min(2)];
                    *s = near + (1.0 - near) * back;
                }
                strength[0] = SLACK[0] + (1.0 - SLACK[0]) * back;
                // Legs and spine hold so much that what they damp with would swallow a ball: it gives way with what they hold with, in proportion.
                let damping = std::array::from_fn(|joint| match joint {
                    1 | 2 | 10.. => strength[joint].sqrt(),
                    4..=9 => strength[joint].sqrt().max(0.6),
                    _ => 1.0,
                });
                Pull {
                    strength,
                    damping,
                    weight: 0.0,
                    fast: self.since < self.settings.seconds + 0.1,
                    drag: 0.0,
                    chase: true,
                    stops: true,
                }
            }
            Phase::Falling => {
                let fades = ease(self.since / 0.25);
                all(&mut strength, FALLING.map(|s| SLACK[2] + (s - SLACK[2]) * fades));
                Pull {
                    strength,
                    damping: [LIMP + (1.0 - LIMP) * (1.0 - fades); PARTS],
                    weight: 1.0,
                    fast: true,
                    drag: 0.0,
                    chase: true,
                    stops: true,
                }
            }
            Phase::Lying => {
                strength[0] = 0.0;
                // Hands are the lightest: they would tremble under what lies on them.
                HANDS.into_iter().for_each(|hand| strength[hand] = STIFF);
                let rolls = ROLLS.0 + (ROLLS.1 - ROLLS.0) * ease((self.since - SINKS) / SINKS);
                Pull {
                    strength,
                    damping: [1.0; PARTS],
                    weight: 1.0,
                    fast: false,
                    drag: rolls,
                    chase: false,
                    stops: false,
                }
            }
            Phase::Rising | Phase::Fading => {
                let more = ease(self.since / RISES.0);
                strength[0] = 0.4 * more;
                Pull {
                    strength,
                    damping: [1.0; PARTS],
                    weight: 1.0 - 0.5 * more,
                    fast: false,
                    drag: 0.0,
                    chase: self.since > AIMS,
                    stops: false,
                }
            }
        }
    }

    /// Whether a fall is over.
    fn settles(&mut self, ragdoll: &Ragdoll, seconds: f32) -> bool {
        let (place, speed) = ragdoll.centre();
        if self.since > FALLS[0] && place.y < SETTLES.0 && speed.length() < SETTLES.1 {
            self.settling += seconds;
        } else {
            self.settling = 0.0;
        }
        (self.settling > 0.1 && ragdoll.fastest() < CALM) || self.settling > 0.4 || self.since > FALLS[1]
    }

    /// Whether it lies still, or has tried for long enough.
    pub fn rests(&self) -> bool {
        let still = self.ragdoll.as_ref().is_some_and(|ragdoll| ragdoll.fastest() < REST);
        self.phase == Phase::Lying && (still && self.since > SINKS || self.since > SETTLING)
    }

    /// How long what is left fades, if physics ends now.
    fn ends(&self) -> Option<f32> {
        let near = self.off.0 < NEAR.0 && self.off.1 < NEAR.1;
        match self.phase {
            Phase::Recovering if self.since >= self.settings.seconds + PART_ONE => Some(PART_TWO),
            Phase::Rising if near && self.since > 0.1 => Some(TAKEN),
            Phase::Rising if self.since > RISES.1 => Some(ROLL),
            _ => None,
        }
    }

    /// Physics is over: the difference to what is played fades.
    fn fade_out(&mut self, length: f32, seconds: f32) {
        let speed = |poses: &[Pose; 2]| Velocity::between(&poses[1], &poses[0], seconds);
        if self.below[1].rotations.is_empty() || self.shown[1].rotations.is_empty() {
            return;
        }
        let (shown, below) = (speed(&self.shown), speed(&self.below));
        self.fade.set((&self.shown[0], &shown), (&self.below[0], &below), length);
        (self.ragdoll, self.phase, self.since) = (None, Phase::Fading, 0.0);
    }
}

/// How many joints lie between two parts, 0 to 3: joints are those that parts begin at.
fn beside(part: usize, joint: usize) -> usize {
    // The joints of a part are its own and those of its children.
    let touches = |part: usize| joint == part || (PARENTS[joint] == part && joint != 0);
    if touches(part) {
        0
    } else if touches(PARENTS[part]) || (1..PARTS).any(|child| PARENTS[child] == part && touches(child)) {
        1
    } else {
        2
    }
}

/// Mean angle between the joints of two bodies, radians, and how far apart their hands and feet are seen from the pelvis, metres.
fn apart(motion: &WorldPose, shown: &WorldPose) -> (f32, f32) {
    use crate::ragdoll::parts::ROLES;
    let local = |world: &WorldPose, index: usize| {
        world.rotation(ROLES[PARENTS[index]].joint()).conjugate() * world.rotation(ROLES[index].joint())
    };
    let angles: f32 = (1..PARTS).map(|index| between(local(motion, index), local(shown, index))).sum();
    let seen = |world: &WorldPose, index: usize| {
        let pelvis = Role::Pelvis.joint();
        world.rotation(pelvis).conjugate() * (world.position(ROLES[index].joint()) - world.position(pelvis))
    };
    let ends = HANDS.into_iter().chain(FEET);
    let farthest = ends.map(|index| (seen(motion, index) - seen(shown, index)).length()).fold(0.0, f32::max);
    (angles / (PARTS - 1) as f32, farthest)
}
