//! One character: a playhead on the legs of its plan, inertialised joins between them, a bend, planted feet.

use std::collections::VecDeque;
use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::{Inertia, Velocity};
use kumite_motion::feet::{Feet, GRIP};
use kumite_motion::graph::{Edge, EdgeIdx, Graph, Layer, NodeIdx};
use kumite_motion::library::Library;
use kumite_motion::rotation::{yaw, yaw_of};
use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Vec2, Vec3, WorldPose, fk, hinge, sample};

use kumite_plan::dodge::Base;
use kumite_plan::{Bend, Leg, Plan, Warp};
use kumite_react::Brace;
use kumite_react::ragdoll::Physics;
use kumite_react::steady::Steady;

use crate::TICKS;
use crate::give::Apart;
use crate::quality::Source;
use crate::stop::Stop;
use crate::struck::Struck;

pub(crate) const TICK: f32 = 1.0 / TICKS as f32;

/// Moments nearer to each other than this are the same, seconds: ticks add up to sums that are not quite round.
const SAME: f32 = 1e-4;
/// Fastest that joints go on turning in a join that begins while a blow is felt, radians per second.
const JOLTED: f32 = 12.0;
/// How long a join takes where nothing says, seconds: as long as most.
const JOIN: f32 = 1.0 / 3.0;

/// What is played, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playing {
    /// Which edge.
    pub edge: EdgeIdx,
    /// Seconds since its first frame.
    pub since: f32,
    /// Seconds after its first frame at which it is left; `None` at its end.
    pub leave: Option<f32>,
}

impl Playing {
    /// Path seconds until it ends.
    pub fn left(&self, graph: &Graph) -> f32 {
        self.leave.unwrap_or(graph.edge(self.edge).seconds) - self.since
    }
}

/// A character, somewhere on the stage: a playhead on the legs that were committed.
#[derive(Clone, Debug)]
pub struct Character {
    library: Arc<Library>,
    anatomy: Anatomy,
    playing: Playing,
    /// What is played after it.
    legs: VecDeque<Leg>,
    /// Lays the clip's own place over the stage.
    placement: Planar,
    /// The join in progress, and how long ago it began.
    pub(crate) join: Option<(Inertia, f32)>,
    pace: Option<Pace>,
    /// The bend in progress, and how long ago its plan was committed.
    pub(crate) bend: Option<(Bend, f32)>,
    /// A protective pose over all of that. Boxed: hardly anybody has one, and snapshots are many.
    pub(crate) brace: Option<Box<Brace>>,
    /// What a hit does to it, over all of that.
    pub(crate) struck: Option<Box<Struck>>,
    /// A second bend over the first: the next blow of a combination is aimed while the last one still fades.
    pub(crate) second: Option<(Bend, f32)>,
    /// What stops a limb that has met something.
    pub(crate) stop: Option<Stop>,
    /// Seconds for which a blow of a fighter is still felt.
    pub(crate) jolted: f32,
    /// Whether it fights somebody.
    pub(crate) fights: bool,
    /// What gives way to somebody else's body. Boxed: only fighters have one.
    pub(crate) gives: Option<Box<Apart>>,
    /// Keeps fighters' limbs from jumping. Boxed: only fighters have one.
    pub(crate) steady: Option<Box<Steady>>,
    pub(crate) feet: Feet,
    /// Motion, join and bend, without feet: what a new plan is joined from, now and a tick ago.
    pub(crate) base: [Pose; 2],
    pose: Pose,
    /// As it was shown a tick ago.
    pub(crate) before: Pose,
    pub(crate) world: WorldPose,
    contacts: Contacts,
    /// Path seconds per stage second in this tick.
    rate: f32,
}

/// A join: two poses of what was shown and two of the motion that it leads into, each a tick apart. The last that was shown and the first
/// of the motion lie together.
pub(crate) struct JoinPoses {
    pub(crate) shown: [Pose; 2],
    pub(crate) motion: [Pose; 2],
    /// Of the whole join, and how long ago it began. Seconds.
    pub(crate) seconds: f32,
    pub(crate) since: f32,
}

/// Memory that steps reuse. It carries nothing from one step to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepBuffers {
    /// What is left and what is entered, twice each.
    poses: [Pose; 4],
    speeds: [Velocity; 2],
    /// Joins that are over.
    spare: Vec<Inertia>,
    /// Of whoever was hit.
    physics: Option<Box<Physics>>,
}

impl StepBuffers {
    /// Keeps a join that is over for the next one; every plan brings one of its own, so there may be more than are ever needed.
    fn keep(&mut self, join: Option<Inertia>) {
        if self.spare.len() < self.spare.capacity() {
            self.spare.extend(join);
        }
    }

    /// Makes room for as many joins at a time as there are characters, `joining` of which have theirs already.
    pub(crate) fn make_room(&mut self, characters: usize, joining: usize, joints: usize) {
        self.spare.reserve(characters.saturating_sub(self.spare.len()));
        while self.spare.len() + joining < characters {
            self.spare.push(Inertia::with_room(joints));
        }
        for pose in self.poses.iter_mut().filter(|pose| pose.rotations.capacity() < joints) {
            pose.rotations.reserve(joints);
            pose.translations.reserve(1);
        }
        for speed in self.speeds.iter_mut().filter(|speed| speed.rotations.capacity() < joints) {
            speed.rotations.reserve(joints);
            speed.translations.reserve(1);
        }
    }
}

/// The speed of a plan.
#[derive(Clone, Debug)]
struct Pace {
    warp: Warp,
    /// Since it was committed, stage seconds.
    time: f32,
    /// And path seconds.
    path: f32,
}

/// Nobody walks faster, metres per second: what does is a jump of what is played.
const WALKS: f32 = 2.0;

impl Character {
    /// Standing at a place on the ground, x and z, facing `turn`, at the beginning of a fighter's edge that leaves `node`.
    pub fn new(library: Arc<Library>, node: NodeIdx, at: Vec2, turn: f32) -> Character {
        let edge = library.graph().leaving(node, Layer::Fight).next().unwrap_or(EdgeIdx(0));
        Self::on(library, edge, at, turn)
    }

    /// Standing at a place, at the beginning of an edge.
    pub fn on(library: Arc<Library>, edge: EdgeIdx, at: Vec2, turn: f32) -> Character {
        Self::entering(library, edge, 0.0, at, turn)
    }

    /// Standing at a place, so many seconds after the first frame of an edge.
    pub fn entering(library: Arc<Library>, edge: EdgeIdx, since: f32, at: Vec2, turn: f32) -> Character {
        let anatomy = Anatomy::of_canonical(library.skeleton());
        let mut character = Character {
            library,
            anatomy,
            playing: Playing { edge, since, leave: None },
            legs: VecDeque::new(),
            placement: Planar::IDENTITY,
            join: None,
            pace: None,
            bend: None,
            brace: None,
            struck: None,
            second: None,
            stop: None,
            jolted: 0.0,
            fights: false,
            gives: None,
            steady: None,
            feet: Feet::default(),
            base: [Pose::default(), Pose::default()],
            pose: Pose::default(),
            before: Pose::default(),
            world: WorldPose::default(),
            contacts: Contacts::NONE,
            rate: 1.0,
        };
        let mut pose = Pose::default();
        character.sample(character.playing, &mut pose);
        let root = pose.root();
        let facing = yaw_of(pose.rotation(kumite_motion::JointIdx::ROOT) * Vec3::Z);
        let here = Planar { turn: 0.0, shift: -Vec2::new(root.x, root.z) };
        character.placement = Planar { turn: turn - facing, shift: at }.after(&here);
        character.show(&mut None);
        character.base[1] = character.base[0].clone();
        character.before = character.pose.clone();
        character
    }

    pub(crate) fn clip(&self) -> (&Clip, FrameIdx) {
        let edge = self.edge(self.playing.edge);
        (self.library.clip(edge.clip), edge.first)
    }

    fn edge(&self, edge: EdgeIdx) -> &Edge {
        self.library.graph().edge(edge)
    }

    /// What it plays.
    pub fn playing(&self) -> Playing {
        self.playing
    }

    /// What it plays next, as far as was committed.
    pub fn legs(&self) -> &VecDeque<Leg> {
        &self.legs
    }

    /// Path seconds from now at which what it plays is left before its edge ends, as far as was committed.
    pub fn leaves(&self) -> Option<f32> {
        self.playing.leave.map(|seconds| seconds - self.playing.since)
    }

    /// What of its library it shows, before joins, bends and feet.
    pub fn source(&self) -> Source {
        let (clip, first) = self.clip();
        let edge = self.edge(self.playing.edge);
        let time = first.at() as f32 / clip.fps() + self.playing.since;
        Source { clip: edge.clip, time, rate: self.rate }
    }

    /// What it can play.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// As it is shown.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// Motion, join and bend, before feet are planted.
    pub fn base(&self) -> &Pose {
        &self.base[0]
    }

    /// How fast its motion goes over the floor, metres per second.
    pub(crate) fn walks(&self) -> Vec2 {
        let gone = (self.base[0].root() - self.base[1].root()) / TICK;
        Vec2::new(gone.x, gone.z).clamp_length_max(WALKS)
    }

    pub(crate) fn take_pose(&mut self) -> Pose {
        std::mem::take(&mut self.pose)
    }

    pub(crate) fn give_pose(&mut self, pose: Pose) {
        self.pose = pose;
    }

    /// Where its joints are.
    pub fn world(&self) -> &WorldPose {
        &self.world
    }

    /// What is planted.
    pub fn contacts(&self) -> Contacts {
        self.contacts
    }

    /// Whether a join is under way.
    pub fn joining(&self) -> bool {
        self.join.is_some()
    }

    /// Lays the clip it plays over the stage.
    pub fn placement(&self) -> Planar {
        self.placement
    }

    /// Lays the clip it plays elsewhere over the stage, at once.
    pub(crate) fn lay(&mut self, placement: Planar) {
        self.placement = placement;
    }

    /// Plays these edges after the current one, at this speed and bent like this, then goes on as before. Times count from now.
    pub fn follow(&mut self, edges: &[EdgeIdx], warp: &Warp, bend: Option<Bend>) {
        self.commit(Plan { warp: warp.clone(), bend, ..Plan::edges(edges) });
    }

    /// Whether a plan is still being carried out.
    pub fn following(&self) -> bool {
        !self.legs.is_empty() || self.pace.is_some() || self.bend.is_some()
    }

    /// The poses that a plan is joined from.
    pub(crate) fn joined_from(&self) -> Base {
        let bent = self.bend.as_ref().is_some_and(|(bend, time)| bend.weight(*time) > 0.0);
        Base {
            join: self.join.clone(),
            shown: self.base.clone(),
            tick: TICK,
            unbends: bent.then_some(JOIN),
            feet: self.feet.clone(),
        }
    }

    /// A copy whose motion is not bent.
    pub(crate) fn unbent(&self) -> Character {
        Character { bend: None, ..self.clone() }
    }

    /// What is left of its bend, times from now.
    pub(crate) fn bend(&self) -> Option<Bend> {
        self.bend.as_ref().map(|(bend, time)| bend.later(*time))
    }

    /// What is left of its change of speed, from now.
    pub(crate) fn warp(&self) -> Warp {
        match &self.pace {
            Some(Pace { warp, time, .. }) => warp.later(*time),
            None => Warp::none(),
        }
    }

    /// Its change of speed as committed, and how long ago that was, seconds.
    pub(crate) fn pace(&self) -> (Option<&Warp>, f32) {
        self.pace.as_ref().map_or((None, 0.0), |pace| (Some(&pace.warp), pace.time))
    }

    /// The join in progress, laid over the motion as that is now.
    pub(crate) fn running_join(&self) -> Option<JoinPoses> {
        let (join, since) = self.join.as_ref()?;
        let mut motion = Pose::default();
        self.sample(self.playing, &mut motion);
        let shown = [-TICK, 0.0].map(|time| {
            let mut pose = motion.clone();
            join.add(1.0, time, &mut pose);
            pose
        });
        Some(JoinPoses { shown, motion: [motion.clone(), motion], seconds: join.seconds(), since: *since })
    }

    /// The join in progress once a plan is committed now that goes on with what is being played.
    pub(crate) fn next_join(&self) -> Option<JoinPoses> {
        if self.bend.as_ref().is_none_or(|(bend, time)| bend.weight(*time) <= 0.0) {
            return self.running_join();
        }
        let [base, before] = self.base.clone();
        let motion = [0.0, TICK].map(|time| {
            let mut pose = Pose::default();
            self.sample(Playing { since: self.playing.since + time, ..self.playing }, &mut pose);
            pose
        });
        Some(JoinPoses { shown: [before, base], motion, seconds: JOIN, since: 0.0 })
    }

    /// Takes up a plan, whatever is being played or bent: a join leads from the base that is shown into it.
    pub fn commit(&mut self, plan: Plan) {
        let mut legs: VecDeque<Leg> = plan.legs.into();
        let end = self.edge(self.playing.edge).seconds;
        self.playing.leave = plan.leave.map(|seconds| (self.playing.since + seconds).min(end));
        let leaves = if plan.leave.is_some_and(|seconds| seconds <= 0.0) { legs.pop_front() } else { None };
        let faded = self.bend.take().filter(|(bend, time)| bend.weight(*time) > 0.0).is_some()
            | self.leave_brace()
            | self.second.take().is_some();
        (self.stop, self.steady) = (None, None);
        let [base, before] = &self.base;
        let mut speed = Velocity::between(before, base, TICK);
        if self.jolted > 0.0 {
            // What a blow does to a limb within a tick does not go on.
            speed.rotations.iter_mut().for_each(|turn| *turn = turn.clamp_length_max(JOLTED));
        }
        let old = base.clone();
        if let Some(leg) = leaves {
            self.placement = self.placement.after(&leg.join.map_or(Planar::IDENTITY, |j| j.0));
            self.playing = Playing { edge: leg.edge, since: leg.enter, leave: leg.leave };
        }
        self.rate = plan.warp.at(0.0).1;
        if faded || leaves.is_some() {
            let blend = leaves.and_then(|leg| leg.join).map_or(JOIN, |j| j.1);
            let (mut new, mut later) = (Pose::default(), Pose::default());
            self.sample(self.playing, &mut new);
            self.sample(Playing { since: self.playing.since + TICK * self.rate, ..self.playing }, &mut later);
            let new_speed = Velocity::between(&new, &later, TICK);
            self.join = Some((Inertia::new(&old, &speed, &new, &new_speed, blend), 0.0));
        }
        self.legs = legs;
        // A plan at its own speed plays on in the same bits as no plan.
        self.pace = (plan.warp != Warp::none()).then_some(Pace { warp: plan.warp, time: 0.0, path: 0.0 });
        self.bend = plan.bend.map(|bend| (bend, 0.0));
    }

    /// Is pushed over the floor, metres; feet that stand stay as long as they reach.
    pub(crate) fn push(&mut self, way: Vec2) {
        self.placement.shift += way;
    }

    /// Plays a leg after those that are committed.
    pub fn append(&mut self, leg: Leg) {
        self.legs.push_back(leg);
    }

    /// One tick. At the end of the last leg `choose` is asked for the next edge among those that leave its node, never none; an edge that
    /// does not leave it is ignored and the first taken. Returns the leg that began, if one did.
    pub fn step(&mut self, choose: impl FnMut(&Library, &[EdgeIdx]) -> EdgeIdx) -> Option<Leg> {
        self.step_within(&mut StepBuffers::default(), choose)
    }

    /// [`Character::step`] in existing memory.
    pub(crate) fn step_within(
        &mut self,
        buffers: &mut StepBuffers,
        mut choose: impl FnMut(&Library, &[EdgeIdx]) -> EdgeIdx,
    ) -> Option<Leg> {
        // Whoever stands braced stops what is played; a warp waits too.
        let flow = self.step_brace() * self.step_struck();
        let mut gone = TICK * flow;
        if let Some(pace) = &mut self.pace {
            pace.time += TICK * flow;
            let (path, rate) = pace.warp.at(pace.time);
            gone = path - pace.path;
            pace.path = path;
            self.rate = rate * flow;
        } else {
            self.rate = flow;
        }
        for (_, time) in self.bend.iter_mut().chain(&mut self.second) {
            *time += TICK;
        }
        self.second = self.second.take().filter(|(bend, time)| !bend.over(*time));
        self.playing.since += gone;
        if let Some((_, since)) = &mut self.join {
            *since += TICK;
        }
        let mut began = None;
        let library = Arc::clone(&self.library);
        let graph = library.graph();
        // A leg may be left where it is entered: what follows it begins in the same tick.
        while self.playing.left(graph) <= SAME && (began.is_none() || !self.legs.is_empty()) {
            let left = self.playing.left(graph);
            let (edge, over) = (graph.edge(self.playing.edge), (-left).max(0.0));
            // A leg must leave the node that was reached, unless it brings its own alignment.
            let fits = |leg: &Leg| leg.join.is_some() || graph.edge(leg.edge).from == edge.to;
            let leg = self.legs.pop_front().filter(fits).unwrap_or_else(|| {
                let next: Vec<EdgeIdx> = graph.after(self.playing.edge).collect();
                let chosen = choose(&library, &next);
                Leg::whole(if next.contains(&chosen) { chosen } else { next[0] })
            });
            self.begin(leg, over, buffers);
            began = Some(leg);
        }
        self.show(&mut buffers.physics);
        if self.bend.as_ref().is_some_and(|(bend, time)| bend.over(*time)) {
            self.bend = None;
        }
        if self.legs.is_empty() && self.bend.is_none() && self.pace.as_ref().is_some_and(|p| p.warp.ended(p.time)) {
            self.pace = None;
            self.rate = 1.0;
        }
        if self.join.as_ref().is_some_and(|(join, since)| *since >= join.seconds()) {
            buffers.keep(self.join.take().map(|(join, _)| join));
        }
        began
    }

    /// Enters a leg `over` seconds ago, laid over what was played as it says, or else as the graph does.
    fn begin(&mut self, leg: Leg, over: f32, buffers: &mut StepBuffers) {
        let entering = self.edge(leg.edge);
        let own = entering.join.map(|e| (e.align, e.blend));
        let entered = Playing { edge: leg.edge, since: leg.enter + over, leave: leg.leave };
        let Some((align, blend)) = leg.join.or(own) else {
            self.playing = entered;
            return;
        };
        // What was shown at the very end of the old leg, and how it moved: the join leaves from there.
        let end = self.playing.since + self.playing.left(self.library.graph());
        let ([earlier, old, new, later], [old_speed, new_speed]) = (&mut buffers.poses, &mut buffers.speeds);
        // Both motions are shown at the rate of the moment at which they meet, which may not be their own; `over` is in their time.
        let over_shown = over / self.rate.max(1e-3);
        let then = self.pace.as_ref().map_or(1.0, |pace| {
            let [met, now] = [pace.time - over_shown, pace.time].map(|time| pace.warp.at(time).1);
            met / now.max(1e-3)
        });
        let step = TICK * self.rate * then;
        self.sample(Playing { since: end - step, ..self.playing }, earlier);
        self.sample(Playing { since: end, ..self.playing }, old);
        if let Some((join, since)) = &self.join {
            join.apply(since - over_shown - TICK, earlier);
            join.apply(since - over_shown, old);
        }
        old_speed.set(earlier, old, TICK);
        self.placement = self.placement.after(&align);
        self.playing = entered;
        self.sample(Playing { since: leg.enter, ..self.playing }, new);
        self.sample(Playing { since: leg.enter + step, ..self.playing }, later);
        new_speed.set(new, later, TICK);
        let spare = self.join.take().map(|(join, _)| join).or_else(|| buffers.spare.pop()).unwrap_or_default();
        if blend > 0.0 {
            let (mut join, since) = (spare, over_shown);
            join.set((old, old_speed), (new, new_speed), blend);
            self.join = Some((join, since));
        } else {
            buffers.keep(Some(spare));
        }
    }

    /// The clip's pose on the stage.
    fn sample(&self, playing: Playing, out: &mut Pose) {
        let edge = self.edge(playing.edge);
        let clip = self.library.clip(edge.clip);
        sample::pose_at(clip, edge.first.at() as f32 / clip.fps() + playing.since, out);
        let turn = yaw(self.placement.turn);
        out.translations[0] = self.placement.point(out.translations[0]);
        out.rotations[0] = turn * out.rotations[0];
    }

    /// Works out the pose of this tick.
    fn show(&mut self, physics: &mut Option<Box<Physics>>) {
        self.before.clone_from(&self.pose);
        let mut pose = std::mem::take(&mut self.pose);
        self.sample(self.playing, &mut pose);
        if let Some((join, since)) = &self.join {
            hinge::join(join, *since, &mut pose);
        }
        let (clip, first) = self.clip();
        let time = first.at() as f32 / clip.fps() + self.playing.since;
        let mut planted = sample::contacts_at(clip, time);
        let mut soon = sample::contacts_at(clip, time + GRIP);
        let skeleton = Arc::clone(self.library.skeleton());
        // Only fighters' limbs are led, stopped and pushed by others.
        let fights = self.fights;
        let played = fights.then(|| pose.clone());
        if let Some((bend, time)) = &self.bend {
            bend.apply(*time, &skeleton, &mut pose, &mut self.world);
        }
        if let Some((bend, time)) = &self.second {
            bend.apply(*time, &skeleton, &mut pose, &mut self.world);
        }
        self.hold_back(&skeleton, &mut pose);
        if let Some(played) = &played {
            self.keep_steady(played, &mut pose);
        }
        self.base.swap(0, 1);
        self.base[0].clone_from(&pose);
        // What gives way to others does so over all of that: joins do not leave from it.
        self.give_way(&mut pose);
        if let Some(brace) = &mut self.brace {
            (planted, soon) = (brace.contacts(planted), brace.contacts(soon));
            brace.apply(&skeleton, &self.base[0], &mut pose, &mut self.world);
        } else {
            fk::pose(&skeleton, &pose, &mut self.world);
        }
        if let Some(struck) = &mut self.struck {
            (planted, soon) = (struck.response.contacts(planted), struck.response.contacts(soon));
            struck.response.step(physics.get_or_insert_default(), planted, TICK, &mut pose, &mut self.world);
        }
        self.contacts = self.feet.plant(&skeleton, &self.anatomy, (planted, soon), TICK, &mut pose, &mut self.world);
        self.pose = pose;
    }
}
