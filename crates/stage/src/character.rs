//! One actor: a playhead on the edges of its library's graph.

use std::collections::VecDeque;
use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::anatomy::Anatomy;
use kumite_motion::blend::{Inertia, Velocity};
use kumite_motion::graph::{EdgeIdx, NodeIdx};
use kumite_motion::library::Library;
use kumite_motion::rotation::{about, twist_angle, yaw, yaw_of};
use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Role, Vec2, Vec3, WorldPose, fk, humanoid, sample};

use kumite_plan::{Bend, Warp};

use crate::TICKS;
use crate::feet::{Feet, GRIP};
use crate::quality::Source;

const TICK: f32 = 1.0 / TICKS as f32;

/// How long a bend of a motion that goes on by itself takes, seconds: as long as other joins.
const BEND: f32 = 1.0 / 3.0;

/// What is played, and how far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Playing {
    /// Which edge.
    pub edge: EdgeIdx,
    /// Seconds since its first frame.
    pub since: f32,
}

/// A character of a library, somewhere on the stage.
#[derive(Clone, Debug)]
pub struct Character {
    library: Arc<Library>,
    anatomy: Anatomy,
    playing: Playing,
    /// Lays the clip's own place over the stage.
    placement: Planar,
    /// The join in progress, and how long ago it began.
    join: Option<(Inertia, f32)>,
    feet: Feet,
    pose: Pose,
    world: WorldPose,
    contacts: Contacts,
    following: Option<Following>,
    /// Path seconds per stage second in this tick.
    rate: f32,
}

/// From stage time to path time, both since a decision.
#[derive(Clone, Debug)]
enum Timing {
    Warp(Warp),
    /// Path seconds after each tick; afterwards time runs as it does.
    Ticks(Vec<f32>),
}

impl Timing {
    /// Path seconds at a stage time, and path seconds per stage second there.
    fn at(&self, time: f32) -> (f32, f32) {
        match self {
            Timing::Warp(warp) => warp.at(time),
            Timing::Ticks(ticks) => {
                let tick = (time * TICKS as f32).round() as usize;
                let path = |tick: usize| tick.checked_sub(1).and_then(|k| ticks.get(k)).copied();
                match (path(tick), path(tick.saturating_sub(1))) {
                    (Some(now), before) => (now, (now - before.unwrap_or(0.0)) * TICKS as f32),
                    _ => (ticks.last().map_or(time, |last| last + time - ticks.len() as f32 * TICK), 1.0),
                }
            }
        }
    }

    fn ended(&self, time: f32) -> bool {
        match self {
            Timing::Warp(warp) => warp.ended(time),
            Timing::Ticks(ticks) => time >= ticks.len() as f32 * TICK,
        }
    }
}

/// A decision being carried out.
#[derive(Clone, Debug)]
struct Following {
    /// What to play, and what lays it over what was played where the graph's own alignment does not.
    edges: VecDeque<(EdgeIdx, Option<Planar>)>,
    timing: Timing,
    bend: Option<Bend>,
    /// Since the decision, stage seconds.
    time: f32,
    /// And path seconds.
    path: f32,
}

impl Character {
    /// Standing at a place on the ground, x and z, facing `turn`, at the beginning of an edge that leaves `node`.
    pub fn new(library: Arc<Library>, node: NodeIdx, at: Vec2, turn: f32) -> Character {
        let edge = library.graph().leaving(node).next().unwrap_or(EdgeIdx(0));
        Self::on(library, edge, at, turn)
    }

    /// Likewise, at the beginning of an edge.
    pub fn on(library: Arc<Library>, edge: EdgeIdx, at: Vec2, turn: f32) -> Character {
        let anatomy = Anatomy::of_canonical(library.skeleton());
        let mut character = Character {
            anatomy,
            playing: Playing { edge, since: 0.0 },
            placement: Planar::IDENTITY,
            join: None,
            feet: Feet::default(),
            pose: Pose::default(),
            world: WorldPose::default(),
            contacts: Contacts::NONE,
            following: None,
            rate: 1.0,
            library,
        };
        let (clip, first) = character.clip();
        let root = clip.root(first);
        let facing = yaw_of(clip.rotation(first, kumite_motion::JointIdx::ROOT) * Vec3::Z);
        let here = Planar { turn: 0.0, shift: -Vec2::new(root.x, root.z) };
        character.placement = Planar { turn: turn - facing, shift: at }.after(&here);
        character.show();
        character
    }

    fn clip(&self) -> (&Clip, FrameIdx) {
        let edge = self.library.graph().edge(self.playing.edge);
        (self.library.clip(edge.clip), edge.first)
    }

    /// What it plays.
    pub fn playing(&self) -> Playing {
        self.playing
    }

    /// What of its library it shows, before joins, bends and feet.
    pub fn source(&self) -> Source {
        let edge = self.library.graph().edge(self.playing.edge);
        let time = edge.first.at() as f32 / self.library.clip(edge.clip).fps() + self.playing.since;
        Source { clip: edge.clip, time, rate: self.rate }
    }

    /// Its library.
    pub fn library(&self) -> &Arc<Library> {
        &self.library
    }

    /// As it is shown.
    pub fn pose(&self) -> &Pose {
        &self.pose
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

    /// Plays these edges after the current one, at this speed and bent like this, then goes on as before. Times count from now.
    pub fn follow(&mut self, edges: &[EdgeIdx], warp: &Warp, bend: Option<Bend>) {
        let edges = edges.iter().map(|e| (*e, None)).collect();
        self.following = Some(Following { edges, timing: Timing::Warp(warp.clone()), bend, time: 0.0, path: 0.0 });
    }

    /// Plays these edges after the current one, each laid over what was played before as it says: a path that bends a little where it could
    /// branch. A join hides the bend, planted feet stay.
    pub fn follow_bent(&mut self, edges: &[(EdgeIdx, Option<Planar>)]) {
        let edges = edges.iter().copied().collect();
        self.following =
            Some(Following { edges, timing: Timing::Warp(Warp::none()), bend: None, time: 0.0, path: 0.0 });
    }

    /// Plays these edges after the current one, so far along them after each tick from now: path seconds.
    pub fn follow_schedule(&mut self, edges: &[EdgeIdx], ticks: Vec<f32>) {
        let edges = edges.iter().map(|e| (*e, None)).collect();
        self.following = Some(Following { edges, timing: Timing::Ticks(ticks), bend: None, time: 0.0, path: 0.0 });
    }

    /// Whether a decision is still being carried out.
    pub fn following(&self) -> bool {
        self.following.is_some()
    }

    /// One tick. At the end of an edge `choose` is asked for the next among those that leave its node, never none; an edge that
    /// does not leave it is ignored and the first taken. Returns the edge that began, if one did.
    pub fn step(&mut self, mut choose: impl FnMut(&Library, &[EdgeIdx]) -> EdgeIdx) -> Option<EdgeIdx> {
        let mut gone = TICK;
        if let Some(following) = &mut self.following {
            following.time += TICK;
            let (path, rate) = following.timing.at(following.time);
            gone = path - following.path;
            following.path = path;
            self.rate = rate;
        }
        self.playing.since += gone;
        if let Some((_, since)) = &mut self.join {
            *since += TICK;
        }
        let mut began = None;
        let library = Arc::clone(&self.library);
        let graph = library.graph();
        let edge = graph.edge(self.playing.edge);
        if self.playing.since >= edge.seconds {
            let over = self.playing.since - edge.seconds;
            let next: Vec<EdgeIdx> = graph.leaving(edge.to).collect();
            let planned = self.following.as_mut().and_then(|f| f.edges.pop_front());
            let planned = planned.filter(|(e, _)| next.contains(e));
            let (chosen, bent) = planned.unwrap_or_else(|| (choose(&library, &next), None));
            let (chosen, bent) = if next.contains(&chosen) { (chosen, bent) } else { (next[0], None) };
            self.begin(chosen, bent, over);
            began = Some(chosen);
        }
        self.show();
        let done =
            |f: &Following| f.edges.is_empty() && f.bend.is_none_or(|a| a.over(f.time)) && f.timing.ended(f.time);
        if self.following.as_ref().is_some_and(done) {
            self.following = None;
            self.rate = 1.0;
        }
        if self.join.as_ref().is_some_and(|(join, since)| *since >= join.seconds()) {
            self.join = None;
        }
        began
    }

    /// Enters an edge `over` seconds ago, laid over what was played as `bent` says, or else as the graph does.
    fn begin(&mut self, edge: EdgeIdx, bent: Option<Planar>, over: f32) {
        let library = Arc::clone(&self.library);
        let next = library.graph().edge(edge);
        let own = next.join.map(|e| (e.align, e.blend));
        let Some((align, blend)) = bent.map(|b| (b, own.map_or(BEND, |o| o.1))).or(own) else {
            self.playing = Playing { edge, since: over };
            return;
        };
        // What was shown at the very end of the old edge, and how it moved: the join leaves from there.
        let end = library.graph().edge(self.playing.edge).seconds;
        let (mut earlier, mut old) = (Pose::default(), Pose::default());
        // Both motions are shown at the same rate, which may not be their own; `over` is in their time.
        let (step, over_shown) = (TICK * self.rate, over / self.rate.max(1e-3));
        self.sample(Playing { since: end - step, ..self.playing }, &mut earlier);
        self.sample(Playing { since: end, ..self.playing }, &mut old);
        if let Some((join, since)) = &self.join {
            join.apply(since - over_shown - TICK, &mut earlier);
            join.apply(since - over_shown, &mut old);
        }
        let old_speed = Velocity::between(&earlier, &old, TICK);
        self.placement = self.placement.after(&align);
        self.playing = Playing { edge, since: over };
        let (mut new, mut later) = (Pose::default(), Pose::default());
        self.sample(Playing { since: 0.0, ..self.playing }, &mut new);
        self.sample(Playing { since: step, ..self.playing }, &mut later);
        let new_speed = Velocity::between(&new, &later, TICK);
        self.join = (blend > 0.0).then(|| (Inertia::new(&old, &old_speed, &new, &new_speed, blend), over_shown));
    }

    /// The clip's pose on the stage.
    fn sample(&self, playing: Playing, out: &mut Pose) {
        let edge = self.library.graph().edge(playing.edge);
        let clip = self.library.clip(edge.clip);
        sample::pose_at(clip, edge.first.at() as f32 / clip.fps() + playing.since, out);
        let turn = yaw(self.placement.turn);
        out.translations[0] = self.placement.point(out.translations[0]);
        out.rotations[0] = turn * out.rotations[0];
    }

    /// Works out the pose of this tick.
    fn show(&mut self) {
        let mut pose = std::mem::take(&mut self.pose);
        self.sample(self.playing, &mut pose);
        if let Some((join, since)) = &self.join {
            let own = HINGES.map(|hinge| flexion(&pose, hinge));
            join.apply(*since, &mut pose);
            HINGES.into_iter().zip(own).for_each(|(hinge, own)| keep_flexion(&mut pose, hinge, own));
        }
        let edge = self.library.graph().edge(self.playing.edge);
        let clip = self.library.clip(edge.clip);
        let time = edge.first.at() as f32 / clip.fps() + self.playing.since;
        let planted = sample::contacts_at(clip, time);
        let soon = sample::contacts_at(clip, time + GRIP);
        if let Some((bend, time)) = self.following.as_ref().and_then(|f| Some((f.bend?, f.time))) {
            bend.apply(time, self.library.skeleton(), &mut pose, &mut self.world);
        }
        fk::pose(self.library.skeleton(), &pose, &mut self.world);
        self.contacts =
            self.feet.plant(self.library.skeleton(), &self.anatomy, (planted, soon), TICK, &mut pose, &mut self.world);
        self.pose = pose;
    }
}

/// Joints that bend one way only.
const HINGES: [Role; 4] = [Role::LeftElbow, Role::RightElbow, Role::LeftKnee, Role::RightKnee];

/// Over this angle, radians, a hinge that a join carries backwards gives in.
const SOFT: f32 = 0.2;

/// Angle of a hinge, radians: 0 is straight.
fn flexion(pose: &Pose, hinge: Role) -> f32 {
    let axis = humanoid::hinge_axis(hinge).unwrap_or(Vec3::X);
    twist_angle(pose.rotations[hinge.joint().at()], axis)
}

/// A join carries speed over, and may carry a knee past straight: it stops softly there, or where its new motion has it, `own`, if that is
/// farther back.
fn keep_flexion(pose: &mut Pose, hinge: Role, own: f32) {
    let now = flexion(pose, hinge);
    let least = own.min(0.0);
    let soft = |angle: f32| {
        let over = least + SOFT - angle;
        if over > 0.0 { least + SOFT * libm::expf(-over / SOFT) } else { angle }
    };
    // As much as the motion itself would be changed is given back, so that nothing jumps when the join is over.
    let wanted = soft(now) + own - soft(own);
    let axis = humanoid::hinge_axis(hinge).unwrap_or(Vec3::X);
    let rotation = &mut pose.rotations[hinge.joint().at()];
    *rotation = (*rotation * about(axis, wanted - now)).normalize();
}
