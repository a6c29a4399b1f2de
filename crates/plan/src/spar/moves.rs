//! Everything a library's fighters can do, worked out once: where an action carries, how long it lasts, where the body is meanwhile, and where its blows
//! arrive. A node of the tree then costs table look-ups, and geometry only where a blow arrives.
//!
//! All of it is told from the *stance*: the place and gaze of a fighter in guard that is laid over the body as a join would lay it. Actions begin and end in
//! guard, so laying one after the other is composing stances.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::graph::Layer;
use kumite_motion::library::Library;
use kumite_motion::rotation::yaw_of;
use kumite_motion::volume::BodySphere;
use kumite_motion::{
    Clip, ClipIdx, Contacts, Direction, EdgeIdx, FrameIdx, Height, Pose, Role, SpanKind, Strike, StrikeKind, Vec2,
    Vec3, WorldPose, align::Planar, fk, interrupt, sample,
};

use crate::spar::shape::{self, Anchors, PATH, SOON};

/// Ticks of a fight per second.
pub const RATE: u32 = 60;
/// Ticks from the beginning of the active part of a defence to where it may be left.
const GONE: u32 = 9;
/// How long a guard is held before it is thought about again, ticks.
pub const GUARD: u32 = 18;

/// What an action is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum MoveKind {
    Guard,
    Step,
    Turn,
    Strike,
    Avoid,
    Block,
    React,
    Down,
    Up,
}

/// Which move of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MoveIdx(pub u16);

impl MoveIdx {
    /// As a position.
    #[inline]
    pub fn at(self) -> usize {
        self.0 as usize
    }
}

/// One blow of a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blow {
    /// With what.
    pub part: Role,
    /// How it is struck.
    pub kind: StrikeKind,
    /// Where it arrives.
    pub height: Height,
    /// Which way it travels, seen by the striker.
    pub direction: Direction,
    /// Whether it reaches an opponent who keeps away.
    pub long: bool,
    /// When it arrives, ticks after the move began.
    pub at: u32,
    /// When it begins and ceases to be dangerous, the same.
    pub active: (u32, u32),
    /// When the striking part is half-way back, the same.
    pub back: u32,
    /// Which anchors the striking part goes along with.
    pub held: (u8, u8, f32),
    /// Where its way begins among those of [`Moves::path`], and the first of its spheres and how many they are.
    pub(crate) path: u32,
    pub(crate) strikers: (u16, u16),
    /// From shoulder or hip to the striking part when it arrives, and how much farther the limb can be stretched then, metres.
    pub along: Vec3,
    /// Metres.
    pub spare: f32,
    /// Where the striking part arrives, from the stance the move began in.
    pub place: Vec3,
    /// Which way it moves then.
    pub way: Vec3,
    /// Of the striking part, metres.
    pub radius: f32,
    /// Damage if it lands: about 1 for a jab. In proportion to speed, and to the root of the mass behind it.
    pub damage: f32,
    /// Farthest that it is aimed aside from where its motion arrives, metres.
    pub limit: f32,
    /// And farther ahead, the hips going along, metres.
    pub stretch: f32,
    /// Whether a leg strikes: nothing else is done before it stands again.
    pub leg: bool,
}

/// One action.
#[derive(Clone, Debug, PartialEq)]
pub struct Move {
    /// In the library's words.
    pub name: String,
    /// What it is for.
    pub kind: MoveKind,
    /// What is played.
    pub edge: EdgeIdx,
    /// From this second after the edge's first frame on.
    pub enter: f32,
    /// The clip, and the second of it.
    pub clip: (ClipIdx, f32),
    /// Position among the library's onsets, if it can be joined in a hurry.
    pub onset: Option<u32>,
    /// Ticks until it is over.
    pub ends: u32,
    /// Ticks until it may be left for something better.
    pub leave: u32,
    /// Its blows, by time.
    pub blows: Vec<Blow>,
    /// When it avoids or guards, ticks.
    pub active: (u32, u32),
    /// What guards.
    pub guard: Option<Role>,
    /// Heights that a guard is for.
    pub height: Option<Height>,
    /// The stance it begins in, in the clip's own place.
    pub begins: PlanarMatrix,
    /// The stance in which it is over, in the clip's own place.
    pub over: PlanarMatrix,
    /// Joints where it begins, in the clip's own place.
    pub joints: Vec<Vec3>,
    /// Stances, tick by tick, from the one it begins in.
    stances: Vec<PlanarMatrix>,
    /// Centres of the body's spheres, tick by tick, from the stance it begins in.
    bodies: Vec<Vec3>,
    /// Places of the joints that say where the rest is, the same.
    anchors: Vec<Anchors>,
}

/// Part of a body that can be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hittable {
    /// Which.
    pub part: Role,
    /// Metres.
    pub radius: f32,
    /// Which anchors it goes along with, and how much with the second.
    pub held: (u8, u8, f32),
}

/// All moves of a library.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Moves {
    moves: Vec<Move>,
    targets: Vec<Hittable>,
    /// Spheres that blows are aimed at, by region.
    aims: [Vec<u16>; 3],
    /// Ways of all blows, step by step, sphere by sphere.
    paths: Vec<Vec3>,
    /// Radii of the spheres of striking parts.
    radii: Vec<f32>,
    kinds: Vec<(MoveKind, Vec<MoveIdx>)>,
}

/// What a blow on it counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Region {
    Head,
    Body,
    Leg,
}

impl Region {
    /// Of a part.
    pub fn of(part: Role) -> Region {
        match part {
            Role::Head | Role::Neck => Region::Head,
            Role::LeftHip | Role::RightHip | Role::LeftKnee | Role::RightKnee => Region::Leg,
            _ => Region::Body,
        }
    }

    /// As labels name it.
    pub fn name(self) -> &'static str {
        match self {
            Region::Head => "head",
            Region::Body => "body",
            Region::Leg => "leg",
        }
    }

    /// What a blow of some height is aimed at.
    pub fn aimed(height: Height) -> Region {
        match height {
            Height::High => Region::Head,
            Height::Middle => Region::Body,
            Height::Low => Region::Leg,
        }
    }
}

fn held(part: Role) -> (u8, u8, f32) {
    let (a, b, share) = shape::held_by(part);
    (a as u8, b as u8, share)
}

impl Move {
    /// Whether it strikes.
    pub fn strikes(&self) -> bool {
        !self.blows.is_empty()
    }

    /// Whether it only answers blows, or lies and gets up: nobody chooses it.
    pub fn forced(&self) -> bool {
        matches!(self.kind, MoveKind::React | MoveKind::Down | MoveKind::Up)
    }

    #[inline]
    fn look(&self, tick: u32) -> usize {
        (tick as usize).min(self.stances.len() - 1)
    }

    /// The stance so many ticks after it began, from the one it began in.
    #[inline]
    pub fn stance(&self, tick: u32) -> &PlanarMatrix {
        &self.stances[self.look(tick)]
    }

    /// Where it ends.
    pub fn carries(&self) -> &PlanarMatrix {
        self.stance(self.ends)
    }

    /// Places of the joints that say where the rest is, so many ticks after it began.
    #[inline]
    pub fn anchors(&self, tick: u32) -> &Anchors {
        &self.anchors[self.look(tick)]
    }

    /// Ticks that are known of it.
    #[inline]
    pub fn known(&self) -> u32 {
        self.stances.len() as u32
    }

    /// Centres of the body's spheres, so many ticks after it began.
    #[inline]
    pub fn body(&self, tick: u32) -> &[Vec3] {
        let width = self.bodies.len() / self.stances.len();
        let at = self.look(tick) * width;
        &self.bodies[at..at + width]
    }

    /// When its last blow arrives.
    #[inline]
    pub fn last_blow(&self) -> u32 {
        self.blows.last().map_or(0, |blow| blow.at)
    }
}

/// Farthest that hands and feet are aimed aside, farther ahead with the hips, and elbows and knees, metres.
const ASIDE: f32 = 0.13;
const AHEAD: f32 = 0.14;
/// Seconds before its onset that a blow is begun: with the load of its motion it can be seen coming.
const WIND_UP: f32 = 0.19;

/// Damage of a strike if it lands.
fn harm(strike: &Strike) -> f32 {
    ((strike.speed / UNIT.0) * (strike.mass.max(0.1) / UNIT.1).sqrt()).clamp(0.3, 4.0)
}
const BARE: f32 = 0.07;

/// Speed and mass of a blow that counts as one: a jab's, metres per second and kilograms.
const UNIT: (f32, f32) = (7.0, 3.0);

/// Spans that are moves; a clip is the first of these that it has.
#[rustfmt::skip]
const WANTED: [SpanKind; 9] = [
    SpanKind::Attack, SpanKind::Avoid, SpanKind::Block, SpanKind::React, SpanKind::Down, SpanKind::Up, SpanKind::Turn, SpanKind::Step, SpanKind::Idle,
];

impl Moves {
    /// Works out all moves of a library's fighters.
    pub fn of(library: &Library) -> Moves {
        let mut looks = Looks::of(library);
        let mut moves = Vec::new();
        let graph = library.graph();
        let interrupts = library.interrupts();
        for clip in library.clips_of(Layer::Fight) {
            let spans = &library.clip(clip).spans;
            let Some((kind, span)) = WANTED.iter().find_map(|kind| {
                let first = (0..spans.len()).find(|at| spans[*at].kind == *kind)?;
                Some((*kind, first as u32))
            }) else {
                continue;
            };
            let onset = interrupts
                .onsets()
                .iter()
                .position(|onset| onset.span == span && onset.kind == kind && graph.edge(onset.edge).clip == clip);
            let (edge, enter) = match onset {
                Some(onset) => {
                    let found = &interrupts.onsets()[onset];
                    let earlier = if kind == SpanKind::Attack { WIND_UP } else { 0.0 };
                    (found.edge, (found.enter - earlier).max(0.0))
                }
                None if matches!(kind, SpanKind::Attack | SpanKind::Avoid | SpanKind::Block) => continue,
                None => {
                    let fps = library.clip(clip).fps();
                    let from = spans[span as usize].from;
                    let holds = |edge: &EdgeIdx| {
                        let edge = graph.edge(*edge);
                        let first = edge.first.at() as f32 / fps;
                        edge.clip == clip && first <= from + 1e-3 && from < first + edge.seconds - 0.2
                    };
                    let longest = |a: &EdgeIdx, b: &EdgeIdx| {
                        graph.edge(*a).seconds.total_cmp(&graph.edge(*b).seconds).then(b.cmp(a))
                    };
                    let Some(edge) = graph.edges_of(Layer::Fight).filter(holds).max_by(longest) else { continue };
                    (edge, (from - graph.edge(edge).first.at() as f32 / fps).max(0.0))
                }
            };
            moves.extend(looks.work_out(kind, span, (edge, enter), onset.map(|o| o as u32)));
        }
        let mut kinds: Vec<(MoveKind, Vec<MoveIdx>)> = Vec::new();
        for (at, made) in moves.iter().enumerate() {
            let index = MoveIdx(at as u16);
            match kinds.iter_mut().find(|(kind, _)| *kind == made.kind) {
                Some((_, all)) => all.push(index),
                None => kinds.push((made.kind, vec![index])),
            }
        }
        let targets = looks.targets();
        let aims = [Region::Head, Region::Body, Region::Leg].map(|region| {
            let meant = |t: &Hittable| match region {
                Region::Head => matches!(t.part, Role::Head),
                Region::Body => matches!(t.part, Role::Waist | Role::Back),
                Region::Leg => matches!(t.part, Role::LeftHip | Role::RightHip),
            };
            (0..targets.len() as u16).filter(|k| meant(&targets[*k as usize])).collect()
        });
        Moves { moves, targets, aims, paths: looks.paths, radii: looks.radii, kinds }
    }

    /// All of them.
    pub fn all(&self) -> &[Move] {
        &self.moves
    }

    /// One of them.
    #[inline]
    pub fn get(&self, index: MoveIdx) -> &Move {
        &self.moves[index.at()]
    }

    /// Those of a kind.
    #[inline]
    pub fn of_kind(&self, kind: MoveKind) -> &[MoveIdx] {
        self.kinds.iter().find(|(k, _)| *k == kind).map_or(&[], |(_, all)| all)
    }

    /// The spheres of a body, in the order of [`Move::body`].
    #[inline]
    pub fn targets(&self) -> &[Hittable] {
        &self.targets
    }

    /// Spheres that blows at a region are aimed at.
    #[inline]
    pub fn aims(&self, region: Region) -> &[u16] {
        &self.aims[region as usize]
    }

    /// Where the spheres of a striking part are at a step of its way, from the stance the move began in.
    #[inline]
    pub fn path(&self, blow: &Blow, step: usize) -> &[Vec3] {
        let count = blow.strikers.1 as usize;
        let at = blow.path as usize + step.min(PATH - 1) * count;
        &self.paths[at..at + count]
    }

    /// Radii of the spheres of a striking part.
    #[inline]
    pub fn strikers(&self, blow: &Blow) -> &[f32] {
        let (first, count) = blow.strikers;
        &self.radii[first as usize..(first + count) as usize]
    }

    /// The move of a name.
    pub fn named(&self, name: &str) -> Option<MoveIdx> {
        self.moves.iter().position(|made| made.name == name).map(|at| MoveIdx(at as u16))
    }

    /// The move that joins an onset.
    pub fn of_onset(&self, onset: usize) -> Option<MoveIdx> {
        self.moves.iter().position(|made| made.onset == Some(onset as u32)).map(|at| MoveIdx(at as u16))
    }

    /// Whether there is anything to fight with.
    pub fn can_fight(&self) -> bool {
        !self.of_kind(MoveKind::Strike).is_empty() && !self.of_kind(MoveKind::Guard).is_empty()
    }
}

/// Looks at clips.
struct Looks<'a> {
    library: &'a Library,
    /// The guard: where its joints are, what it stands on, and how it is placed and looks.
    guard: (Vec<Vec3>, Contacts, Planar),
    paths: Vec<Vec3>,
    radii: Vec<f32>,
    pose: Pose,
    world: WorldPose,
}

impl<'a> Looks<'a> {
    fn of(library: &'a Library) -> Looks<'a> {
        let idles = |clip: &&ClipIdx| {
            let spans = &library.clip(**clip).spans;
            spans.iter().any(|span| span.kind == SpanKind::Idle && span.label.contains("guard"))
        };
        let clips = library.clips_of(Layer::Fight);
        let clip = clips.iter().find(idles).or(clips.first()).copied().unwrap_or(ClipIdx(0));
        let mut looks = Looks {
            library,
            guard: (Vec::new(), Contacts::ALL, Planar::IDENTITY),
            paths: Vec::new(),
            radii: Vec::new(),
            pose: Pose::default(),
            world: WorldPose::default(),
        };
        looks.look(library.clip(clip), 0.0);
        let head = looks.world.rotation(Role::Head.joint()) * Vec3::Z;
        let pelvis = looks.world.position(Role::Pelvis.joint());
        let stands = Planar { turn: yaw_of(head), shift: Vec2::new(pelvis.x, pelvis.z) };
        looks.guard = (looks.world.positions.clone(), interrupt::support(library.clip(clip), FrameIdx(0)), stands);
        looks
    }

    fn targets(&self) -> Vec<Hittable> {
        let sphere = |s: &BodySphere| Hittable { part: s.part, radius: s.radius, held: held(s.part) };
        self.library.spheres().iter().map(sphere).collect()
    }

    fn look(&mut self, clip: &Clip, seconds: f32) {
        sample::pose_at(clip, seconds, &mut self.pose);
        fk::pose(self.library.skeleton(), &self.pose, &mut self.world);
    }

    /// The stance of what was looked at last.
    fn stance(&self, clip: &Clip, seconds: f32) -> PlanarMatrix {
        let frame = FrameIdx((libm::roundf(seconds * clip.fps()) as u32).min(clip.frames() as u32 - 1));
        let support = interrupt::support(clip, frame);
        let laid = interrupt::lay((&self.world.positions, support), (&self.guard.0, self.guard.1));
        PlanarMatrix::new(&laid.after(&self.guard.2))
    }

    /// The farthest sphere of a striking part, and its radius.
    fn striker(&self, part: Role) -> (Vec3, f32) {
        let own = self.library.spheres().iter().filter(|s| s.part == part);
        let far = own.max_by(|a, b| a.offset.length().total_cmp(&b.offset.length()));
        far.map_or((self.world.position(part.joint()), 0.06), |s| (self.world.point(s.joint, s.offset), s.radius))
    }

    fn work_out(
        &mut self,
        kind: SpanKind,
        span: u32,
        (edge, enter): (EdgeIdx, f32),
        onset: Option<u32>,
    ) -> Option<Move> {
        let library = self.library;
        let played = library.graph().edge(edge);
        let clip = library.clip(played.clip);
        let from = played.first.at() as f32 / clip.fps() + enter;
        let last = played.first.at() as f32 / clip.fps() + played.seconds;
        let told = &clip.spans[span as usize];
        let kind = match kind {
            SpanKind::Attack => MoveKind::Strike,
            SpanKind::Avoid => MoveKind::Avoid,
            SpanKind::Block => MoveKind::Block,
            SpanKind::React => MoveKind::React,
            SpanKind::Down => MoveKind::Down,
            SpanKind::Up => MoveKind::Up,
            SpanKind::Turn => MoveKind::Turn,
            SpanKind::Step => MoveKind::Step,
            _ => MoveKind::Guard,
        };
        let guards = told.label.contains("guard");
        if kind == MoveKind::Guard && !guards || kind == MoveKind::Step && told.label.contains("stand") {
            return None;
        }
        let same = clip.spans.iter().filter(|s| s.kind == told.kind && s.to <= last + 0.05);
        let over = same.map(|s| s.to).fold(told.to, f32::max).min(last);
        let ticks = |seconds: f32| libm::roundf((seconds - from).max(0.0) * RATE as f32) as u32;
        let ends = if kind == MoveKind::Guard { GUARD } else { ticks(over).max(6) };
        let (mut stances, mut bodies, mut anchors) = (Vec::new(), Vec::new(), Vec::new());
        let done = if kind == MoveKind::Guard { last } else { over };
        self.look(clip, done);
        let over_stance = self.stance(clip, done);
        self.look(clip, from);
        let begins = self.stance(clip, from);
        let joints = self.world.positions.clone();
        let seen = if kind == MoveKind::Guard { ticks(last).min(4 * RATE) } else { ends + 12 };
        // In between a body is in no stance: it is as far from the first to the last as its pelvis has gone, or as the time has.
        let whole = if kind == MoveKind::Guard { PlanarMatrix::IDENTITY } else { begins.inverse().after(&over_stance) };
        let middle = |world: &WorldPose| {
            let pelvis = world.position(Role::Pelvis.joint());
            begins.floor_point_back(Vec2::new(pelvis.x, pelvis.z))
        };
        let start = middle(&self.world);
        self.look(clip, done);
        let goes = middle(&self.world) - start;
        let mut gone = 0.0f32;
        for tick in 0..=seen {
            let seconds = (from + tick as f32 / RATE as f32).min(last);
            self.look(clip, seconds);
            let timed = (tick as f32 / ends as f32).min(1.0);
            let share = if goes.length() > 0.12 {
                ((middle(&self.world) - start).dot(goes) / goes.length_squared()).clamp(0.0, 1.0)
            } else {
                kumite_motion::blend::ease(timed)
            };
            gone = if tick >= ends { 1.0 } else { gone.max(share) };
            stances.push(PlanarMatrix::new(&Planar { turn: whole.turn * gone, shift: whole.shift * gone }));
            let spheres = library.spheres().iter();
            bodies.extend(spheres.map(|s| begins.point_back(self.world.point(s.joint, s.offset))));
            anchors.push(shape::ANCHORS.map(|role| begins.point_back(self.world.position(role.joint()))));
        }
        let mut blows = Vec::new();
        if kind == MoveKind::Strike {
            let attacks = clip.spans.iter().filter(|s| s.kind == SpanKind::Attack && s.from >= told.from - 1e-3);
            for strike in attacks.flat_map(|s| &s.strikes).filter(|s| s.at > from && s.active.1 <= last) {
                blows.extend(self.blow(clip, strike, (from, over), &begins));
            }
            blows.sort_by_key(|blow| blow.at);
            if blows.is_empty() {
                return None;
            }
        }
        let active = told.active.map_or((0, 0), |(a, b)| (ticks(a), ticks(b)));
        let height = Height::ALL.into_iter().find(|h| told.label.contains(h.name()));
        let leave = match kind {
            MoveKind::Guard => 0,
            MoveKind::Step | MoveKind::Turn => ends / 2,
            MoveKind::Avoid | MoveKind::Block => (active.0 + GONE).min(active.1).min(ends),
            _ => ends,
        };
        Some(Move {
            name: if told.label.is_empty() { clip.name.clone() } else { label(clip, &told.label) },
            kind,
            edge,
            enter,
            clip: (played.clip, from),
            onset,
            ends,
            leave,
            blows,
            active,
            guard: told.part,
            height,
            begins,
            over: over_stance,
            joints,
            stances,
            bodies,
            anchors,
        })
    }

    fn blow(&mut self, clip: &Clip, strike: &Strike, (from, over): (f32, f32), begins: &PlanarMatrix) -> Option<Blow> {
        let mut at = |seconds: f32| {
            self.look(clip, seconds);
            self.striker(strike.part)
        };
        let step = 1.0 / RATE as f32;
        // Straight blows arrive stretched; those that swing arrive while they are fastest.
        let straight =
            matches!(strike.kind, StrikeKind::Straight | StrikeKind::Front | StrikeKind::Side | StrikeKind::Knee);
        let mut arrives = strike.at;
        if straight {
            let origin = begins.shift;
            let mut far = 0.0;
            for k in 0..=12 {
                let time = strike.active.0 + k as f32 * step;
                let place = at(time).0;
                let away = (Vec2::new(place.x, place.z) - origin).length();
                if away > far && time <= strike.active.1 + 0.05 {
                    (far, arrives) = (away, time);
                }
            }
        }
        let (place, radius) = at(arrives);
        let before = at(arrives - 2.0 * step).0;
        let home = at(from).0;
        // At its farthest a straight blow has no way left; it came from where it began.
        let way = (place - if straight { home } else { before }).normalize_or(Vec3::Z);
        // Half-way back to where it began.
        let far = (place - home).length();
        let mut back = over;
        // A leg has to stand again before anything else is done.
        let leg = !matches!(strike.part, Role::LeftWrist | Role::RightWrist | Role::LeftElbow | Role::RightElbow);
        let near = if leg { 0.15 } else { 0.5 };
        for k in 1..60 {
            let time = arrives + k as f32 * step;
            if time >= over || (at(time).0 - home).length() < near * far {
                back = time.min(over);
                break;
            }
        }
        let ticks = |seconds: f32| libm::roundf((seconds - from).max(0.0) * RATE as f32) as u32;
        let limb = matches!(strike.part, Role::LeftWrist | Role::RightWrist | Role::LeftAnkle | Role::RightAnkle);
        // The way of all spheres of the striking part, and how far its limb could still be stretched.
        let spheres: Vec<BodySphere> =
            shape::striking(self.library.spheres(), strike.part).iter().map(|k| self.library.spheres()[*k]).collect();
        if spheres.is_empty() {
            return None;
        }
        let path = self.paths.len() as u32;
        let strikers = (self.radii.len() as u16, spheres.len() as u16);
        self.radii.extend(spheres.iter().map(|s| s.radius));
        for j in 0..PATH {
            let seconds = arrives + (j as f32 - SOON as f32) * step;
            self.look(clip, seconds.max(from).min(over));
            let places = spheres.iter().map(|s| begins.point_back(self.world.point(s.joint, s.offset)));
            self.paths.extend(places);
        }
        self.look(clip, arrives);
        let (along, spare) = self.limb(strike.part).unwrap_or((way, 0.0));
        Some(Blow {
            part: strike.part,
            kind: strike.kind,
            height: strike.height,
            direction: strike.direction,
            long: strike.long,
            at: ticks(arrives),
            active: (ticks(strike.active.0), ticks(strike.active.1).max(ticks(arrives))),
            back: ticks(back).max(ticks(arrives) + 6),
            held: held(strike.part),
            path,
            strikers,
            along: begins.rotate_back(along),
            spare,
            place: begins.point_back(place),
            way: begins.rotate_back(way),
            radius,
            damage: harm(strike),
            limit: if limb { ASIDE } else { BARE },
            // Feet stay where they are when hips go along.
            stretch: if leg {
                0.0
            } else if limb {
                AHEAD
            } else {
                BARE
            },
            leg,
        })
    }

    /// Which way a limb goes from its top to its end, and how much longer it could be.
    fn limb(&self, end: Role) -> Option<(Vec3, f32)> {
        let (middle, top) = (end.parent()?, end.parent()?.parent()?);
        let [top, middle, end] = [top, middle, end].map(|role| self.world.position(role.joint()));
        let whole = (middle - top).length() + (end - middle).length();
        let far = end - top;
        Some((far.normalize_or(Vec3::Z), (STRAIGHT * whole - far.length()).max(0.0)))
    }
}

/// Share of a limb's length that it is stretched to at most.
const STRAIGHT: f32 = 0.985;

/// Combinations are named after their clip: their first span is only their first blow.
fn label(clip: &Clip, label: &str) -> String {
    let blows = clip.spans.iter().filter(|s| s.kind == SpanKind::Attack).count();
    if blows > 1 { clip.name.replace('-', " ") } else { label.to_owned() }
}
