//! A character that was hit: physics over what it plays, and what it plays next because of it. Like a brace it is a layer, and never part of the
//! base that plans are joined from.

use kumite_motion::align::Planar;
use kumite_motion::graph::stand;
use kumite_motion::rotation::{yaw, yaw_of};
use kumite_motion::volume::Obstacle;
use kumite_motion::{Contacts, EdgeIdx, JointIdx, Pose, Role, Vec2, Vec3, WorldPose, fk, sample};
use kumite_plan::{Leg, Plan};
use kumite_react::nearest::features;
use kumite_react::response::{Phase, Settings};
use kumite_react::{Extent, Response, Touch};

use crate::Character;
use crate::character::TICK;
use crate::recoveries::{Recoveries, Recovery, faces_at, facing, frame_of, turned};

/// A join into what answers a hit, seconds.
const FLINCH: f32 = 0.2;
/// A join into a fall, seconds: motors follow it, nobody sees it.
const DOWN: f32 = 0.3;
/// And into a way to get up: it is led into from how the body lies, and what that leads to must not turn about meanwhile, or the shorter way to it would become the longer one.
const LAID: f32 = TICK;
/// A push that changes the body's speed by less calls for no motion of its own, metres per second.
const FELT: f32 = 0.06;
/// Hands and feet this near to where a motion has them are about there, metres.
const ALIKE: f32 = 0.35;
/// Height of a centre of mass, metres, over which a push is caught (Hof 2008: the capture point is place + speed / √(g / height)).
const HEIGHT: f32 = 0.95;
/// Steps go this much farther than the capture point: people do not stop on the spot.
const FARTHER: f32 = 1.6;

/// How long whoever is pushed into steps goes on with what it did, seconds.
const COASTS: f32 = 0.9;

/// Where somebody who was hit goes back to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Return {
    /// What was played goes on.
    Original,
    /// The library's nearest motion by pose and speed.
    Search,
    /// By how hard the hit was: what was played, a reaction, steps, a fall.
    #[default]
    Auto,
}

/// What became of somebody who was hit, in the tick it is known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Turnout {
    /// What was played goes on.
    GoesOn,
    /// A motion answers it; seconds until that is over.
    Answers(String, f32),
    /// Steps catch it.
    Staggers(String, f32),
    /// Nothing catches it: it falls.
    Falls(String),
    /// It lies.
    Down,
    /// It gets up; seconds until it stands.
    Rises(String, f32),
    /// It stands again.
    Up,
}

/// What is still to be decided about a hit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Next {
    /// What answers it, once physics has shown where it goes.
    Answer,
    /// Nothing.
    Nothing,
    /// It falls: what when it lies.
    Lie,
    /// It lies: how to get up.
    Rise,
    /// It gets up: when it stands, after so many seconds of its motion.
    Stand(f32),
}

/// A hit and what comes of it.
#[derive(Clone, Debug)]
pub(crate) struct Struck {
    pub(crate) response: Response,
    touch: Touch,
    returns: Return,
    /// Whether it was ready for it: what was played goes on then.
    ready: bool,
    next: Next,
    /// How fast it still goes on with what it did when it was pushed into steps, metres per second.
    coasts: Vec2,
}

impl Character {
    /// What physics does to it.
    pub fn response(&self) -> Option<&Response> {
        self.struck.as_ref().map(|struck| &struck.response)
    }

    /// Whether it falls, lies or is being pulled up.
    pub fn is_down(&self) -> bool {
        self.response().is_some_and(|r| matches!(r.phase(), Phase::Falling | Phase::Lying | Phase::Rising))
    }

    /// Something hits it. `ready` says whether it was braced for it or blocked it.
    pub(crate) fn strike(
        &mut self,
        recoveries: &Recoveries,
        touch: &Touch,
        around: &[Obstacle],
        how: (Settings, Return),
        ready: bool,
    ) -> Option<Extent> {
        let struck = self.simulated(recoveries, around, how, touch)?;
        struck.returns = how.1;
        struck.response.touch(touch);
        if matches!(struck.next, Next::Answer | Next::Nothing) {
            (struck.touch, struck.ready, struck.next) = (*touch, ready, Next::Answer);
        }
        Some(Extent::of(touch.change() * how.0.gain))
    }

    /// What simulates it, from now on if nothing does yet.
    fn simulated(
        &mut self,
        recoveries: &Recoveries,
        around: &[Obstacle],
        how: (Settings, Return),
        touch: &Touch,
    ) -> Option<&mut Struck> {
        let build = recoveries.build()?;
        if self.struck.as_ref().is_none_or(|struck| struck.response.ragdoll().is_none()) {
            let mut before = WorldPose::default();
            fk::pose(self.library().skeleton(), &self.before, &mut before);
            let stands = [Contacts::LEFT, Contacts::RIGHT].map(|foot| self.contacts().any(foot));
            let response = Response::begin(build, [self.world(), &before], TICK, stands, around, how.0);
            // Whoever is on its way up still is.
            let next = self.struck.as_ref().map_or(Next::Nothing, |struck| struck.next);
            self.struck = Some(Box::new(Struck {
                response,
                touch: *touch,
                returns: how.1,
                ready: true,
                next,
                coasts: Vec2::ZERO,
            }));
            self.feet.absorb();
        }
        self.struck.as_deref_mut()
    }

    /// Somebody else's body presses on it: newton seconds at a place.
    pub(crate) fn nudge(&mut self, recoveries: &Recoveries, part: usize, push: Vec3, at: Vec3, around: &[Obstacle]) {
        let how = (Settings::default(), Return::Auto);
        let touch = Touch { part: Role::Back, at, normal: Vec3::Y, velocity: Vec3::ZERO, mass: 0.0 };
        if let Some(struck) = self.simulated(recoveries, around, how, &touch) {
            struck.response.nudge(part, push, at);
        }
    }

    /// Where its motion has it face: a blow turns head and chest before anything answers it.
    fn faces(&self) -> f32 {
        let mut own = WorldPose::default();
        fk::pose(self.library().skeleton(), self.base(), &mut own);
        facing(&own)
    }

    /// Where a push would take it, seen from where it faces: to the left and ahead, metres.
    fn pushed(&self, touch: &Touch) -> Vec2 {
        // What goes on pushing does so the way it moves, wherever the skin faces.
        let along = Vec3::new(touch.velocity.x, 0.0, touch.velocity.z).normalize_or(Vec3::ZERO);
        let far = FARTHER * touch.change() / libm::sqrtf(kumite_react::ragdoll::GRAVITY / HEIGHT);
        let seen = yaw(-self.faces()) * along * far;
        Vec2::new(seen.x, seen.z)
    }

    /// What comes of a hit, in the tick it is known. Walkers walk on through what needs no steps: they do not react.
    pub(crate) fn watch_recovery(&mut self, recoveries: &Recoveries, reacts: bool) -> Option<Turnout> {
        let struck = self.struck.as_ref()?;
        let (phase, next, rests) = (struck.response.phase(), struck.next, struck.response.rests());
        if phase == Phase::Rising {
            self.lie_over();
        }
        if self.response().is_some_and(Response::carried) {
            // Where it is carried, what it plays goes along: nothing draws it back.
            let off = self.pose().root() - self.base().root();
            let Planar { turn, shift } = self.placement();
            self.lay(Planar { turn, shift: shift + Vec2::new(off.x, off.z) });
        }
        self.coast();
        match next {
            Next::Answer | Next::Nothing | Next::Stand(_) if phase == Phase::Falling => self.falls(recoveries),
            Next::Answer if phase != Phase::Struck => self.answer(recoveries, reacts),
            Next::Lie if phase == Phase::Lying => self.then(Next::Rise, Turnout::Down),
            Next::Rise if rests => self.get_up(recoveries),
            Next::Stand(at) if self.playing().since >= at => self.then(Next::Nothing, Turnout::Up),
            _ => None,
        }
    }

    /// How fast its motion goes, but for what a push takes of it, metres per second: steps of the library begin from standing.
    fn coasting(&self, touch: &Touch) -> Vec2 {
        let went = self.walks();
        let along = Vec2::new(touch.velocity.x, touch.velocity.z).normalize_or(Vec2::ZERO);
        went - along * went.dot(along).min(0.0)
    }

    /// Goes on with what it did for a while. Feet that stand stay as long as they reach.
    fn coast(&mut self) {
        let down = self.is_down();
        let Some(struck) = &mut self.struck else { return };
        if down {
            struck.coasts = Vec2::ZERO;
        }
        let went = struck.coasts;
        struck.coasts -= went * (TICK / COASTS);
        self.push(went * TICK);
    }

    fn then(&mut self, next: Next, turnout: Turnout) -> Option<Turnout> {
        self.struck.as_mut()?.next = next;
        Some(turnout)
    }

    /// Falls as the library does that way, as far as physics lets it.
    fn falls(&mut self, recoveries: &Recoveries) -> Option<Turnout> {
        let wanted = self.pushed(&self.struck.as_ref()?.touch);
        let mut label = String::new();
        if let Some(fall) = recoveries.fall(wanted) {
            label.clone_from(&fall.label);
            let leg = self.stepping(fall, wanted, DOWN);
            self.commit(Plan::at_once(leg));
        }
        self.then(Next::Lie, Turnout::Falls(label))
    }

    /// What answers a hit once physics has shown where it goes.
    fn answer(&mut self, recoveries: &Recoveries, reacts: bool) -> Option<Turnout> {
        let struck = self.struck.as_mut()?;
        struck.next = Next::Nothing;
        let (touch, returns, ready) = (struck.touch, struck.returns, struck.ready);
        let extent = Extent::of(touch.change());
        let wanted = self.pushed(&touch);
        if returns == Return::Search {
            let (edge, enter, _) = recoveries.find(&self.seen())?;
            let leg = self.laid(edge, enter, 0.0, FLINCH);
            let seconds = leg.seconds(self.library().graph());
            let label = self.library().clip(self.library().graph().edge(edge).clip).name.clone();
            self.commit(Plan::at_once(leg));
            return Some(Turnout::Answers(label, seconds));
        }
        if returns == Return::Original {
            return Some(Turnout::GoesOn);
        }
        if extent != Extent::Sway {
            let step = recoveries.step(wanted)?;
            let (label, leg) = (step.label.clone(), self.stepping(step, wanted, FLINCH));
            let went = self.coasting(&touch);
            self.commit(Plan::at_once(leg));
            if let Some(struck) = &mut self.struck {
                struck.coasts = went;
            }
            return Some(Turnout::Staggers(label, step.over - step.enter));
        }
        if ready || !reacts || touch.change() < FELT {
            return Some(Turnout::GoesOn);
        }
        let reaction =
            recoveries.reaction(self, &touch).filter(|reaction| self.stands_like(reaction.edge, reaction.enter));
        let Some(reaction) = reaction else { return Some(Turnout::GoesOn) };
        let leg = self.laid(reaction.edge, reaction.enter, 0.0, FLINCH);
        let seconds = leg.seconds(self.library().graph());
        self.commit(Plan::at_once(leg));
        Some(Turnout::Answers(reaction.label.clone(), seconds))
    }

    /// Whether hands and feet are about where a motion has them at some moment: feet stay in a light hit, and nobody puts up the guard for one.
    fn stands_like(&self, edge: EdgeIdx, enter: f32) -> bool {
        let library = self.library();
        let clip = library.clip(library.graph().edge(edge).clip);
        let (mut pose, mut other) = (Pose::default(), WorldPose::default());
        clip.pose(frame_of(library, edge, enter), &mut pose);
        fk::pose(library.skeleton(), &pose, &mut other);
        let mut own = WorldPose::default();
        fk::pose(library.skeleton(), self.base(), &mut own);
        let ends = [Role::LeftWrist, Role::RightWrist, Role::LeftAnkle, Role::RightAnkle].map(Role::joint);
        let seen = |world: &WorldPose, joint: JointIdx| {
            let pelvis = Role::Pelvis.joint();
            let facing = yaw(-yaw_of(world.rotation(pelvis) * Vec3::Z));
            facing * (world.position(joint) - world.position(pelvis))
        };
        ends.into_iter().all(|joint| (seen(&own, joint) - seen(&other, joint)).length() < ALIKE)
    }

    /// Begins to get up by the way that is nearest to how it lies.
    fn get_up(&mut self, recoveries: &Recoveries) -> Option<Turnout> {
        let Some((rise, enter, laid, _)) = recoveries.rise(self.world()) else {
            // Nobody knows how to: what was played is where it goes.
            self.struck.as_mut()?.response.rise();
            return self.then(Next::Nothing, Turnout::GoesOn);
        };
        let align = self.placement().inverse().after(&laid);
        let leg = Leg { join: Some((align, LAID)), enter, ..Leg::whole(rise.edge) };
        self.commit(Plan::at_once(leg));
        self.struck.as_mut()?.response.rise();
        // Some ways up last as long as their edge, which is left before its last moment is shown.
        let stands = rise.over.min(self.library().graph().edge(rise.edge).seconds - 3.0 * TICK);
        self.then(Next::Stand(stands), Turnout::Rises(rise.label.clone(), rise.over - enter))
    }

    /// Lays what it is pulled into over where it lies. Nobody sees it: physics is shown.
    fn lie_over(&mut self) {
        let (clip, first) = self.clip();
        let mut pose = Pose::default();
        sample::pose_at(clip, first.at() as f32 / clip.fps() + self.playing().since, &mut pose);
        let (own, shown) = (self.placement().point(pose.root()), self.pose().root());
        let Planar { turn, shift } = self.placement();
        self.lay(Planar { turn, shift: shift + Vec2::new(shown.x - own.x, shown.z - own.z) });
    }

    /// What is shown, as the search sees it.
    fn seen(&self) -> kumite_react::nearest::Features {
        let mut before = WorldPose::default();
        fk::pose(self.library().skeleton(), &self.before, &mut before);
        features(self.world(), &before, TICK)
    }

    /// A motion laid so that it goes more as a push does.
    fn stepping(&self, recovery: &Recovery, wanted: Vec2, blend: f32) -> Leg {
        let library = self.library();
        let clip = library.clip(library.graph().edge(recovery.edge).clip);
        let ground = stand(clip, frame_of(library, recovery.edge, recovery.enter));
        let root = self.pose().root();
        // Bodies are laid over each other by where all of them faces, places by the pelvis.
        let turn = self.faces() + turned(recovery.way, wanted) - faces_at(library, recovery.edge, recovery.enter);
        let there = Planar { turn, shift: Vec2::ZERO }.point(Vec3::new(ground.shift.x, 0.0, ground.shift.y));
        let wanted = Planar { turn, shift: Vec2::new(root.x - there.x, root.z - there.z) };
        let align = self.placement().inverse().after(&wanted);
        Leg { join: Some((align, blend)), enter: recovery.enter, ..Leg::whole(recovery.edge) }
    }

    /// Lays an edge so that its pelvis is where the shown one is, and faces as it does but for a turn.
    fn laid(&self, edge: EdgeIdx, enter: f32, turn: f32, blend: f32) -> Leg {
        let library = self.library();
        let clip = library.clip(library.graph().edge(edge).clip);
        let (root, facing) = (self.pose().root(), self.pose().rotation(Role::Pelvis.joint()) * Vec3::Z);
        let here = Planar { turn: yaw_of(facing) + turn, shift: Vec2::new(root.x, root.z) };
        let wanted = here.after(&stand(clip, frame_of(library, edge, enter)).inverse());
        let align = self.placement().inverse().after(&wanted);
        Leg { join: Some((align, blend)), enter, ..Leg::whole(edge) }
    }

    /// Seconds of motion per second that physics leaves.
    pub(crate) fn step_struck(&mut self) -> f32 {
        if self.struck.as_ref().is_some_and(|s| s.response.over() && !matches!(s.next, Next::Stand(_))) {
            self.struck = None;
        }
        self.response().map_or(1.0, Response::rate)
    }

    /// Whether what is shown now is a blow's own doing.
    pub fn in_impact(&self) -> bool {
        self.jolted > 0.0 || self.response().is_some_and(Response::in_window)
    }
}
