//! One threat at one moment of one motion, braced for: what bracing is measured by. Played by a character alone, without a world.

use std::f32::consts::TAU;
use std::sync::Arc;

use kumite_motion::library::Library;
use kumite_motion::{Contacts, EdgeIdx, Pose, Role, SpanKind, Vec2, Vec3, WorldPose, fk};
use kumite_react::{Body, Brace, Impact, ImpactError, Request, Solved, Source};

use crate::brace_referee::Shown;
use crate::{Chance, Character, Recorder, TICKS, contact};

/// Seconds that are played before the threat is known.
pub const BEFORE: f32 = 0.3;
/// And after the brace is over.
const AFTER: f32 = 0.2;

/// What somebody does before it braces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doing {
    /// It stands, breathes, keeps its guard up.
    Idle,
    /// It walks, or steps and turns.
    Walking,
    /// Anything else.
    Fighting,
}

/// A moment of a motion.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Whoever plays it, when the threat becomes known.
    pub character: Character,
    /// What it does.
    pub doing: Doing,
}

/// A threat that was braced for.
#[derive(Clone, Debug)]
pub struct Played {
    /// As it begins.
    pub brace: Brace,
    /// How its pose was found.
    pub solved: Solved,
    /// What the motion below was.
    pub source: Source,
    /// What hit.
    pub impact: Impact,
    /// After how many seconds.
    pub seconds: f32,
    /// Ticks of what was shown.
    pub shown: Shown,
    /// What touched first and when, in seconds since it was known.
    pub touch: Option<(f32, Role)>,
    /// Everything, to be drawn and written; and when in it the threat is known.
    pub recorder: Recorder,
    /// Its path, seconds of the recording and places.
    pub path: Vec<(f32, Vec3)>,
}

impl Moment {
    /// Some seconds into an edge, with what is before them played.
    pub fn of(library: &Arc<Library>, edge: EdgeIdx, since: f32) -> Moment {
        Moment::played(library, edge, since, since.min(BEFORE))
    }

    /// Some seconds into an edge, or [`BEFORE`] after its beginning and wherever that leads: feet take as long to get hold of the floor once somebody is there.
    fn settled(library: &Arc<Library>, edge: EdgeIdx, since: f32) -> Moment {
        let mut moment = Moment::played(library, edge, since.max(BEFORE), BEFORE);
        moment.doing = doing(library, moment.character.playing().edge);
        moment
    }

    fn played(library: &Arc<Library>, edge: EdgeIdx, since: f32, before: f32) -> Moment {
        let enter = |facing: f32| Character::entering(Arc::clone(library), edge, since - before, Vec2::ZERO, facing);
        let gaze = crate::sense::gaze(&enter(0.0));
        let mut character = enter(-gaze);
        for _ in 0..(before * TICKS as f32).round() as u32 {
            let _ = character.step(|_, next| next[0]);
        }
        Moment { doing: doing(library, edge), character }
    }

    /// A clip some seconds after its first frame; anywhere in it if that is not said. `None` if it is not played then.
    pub fn named(library: &Arc<Library>, clip: &str, at: Option<f32>) -> Option<Moment> {
        let graph = library.graph();
        let mut found = (0..graph.edges().len() as u32).map(EdgeIdx).filter_map(|edge| {
            let played = graph.edge(edge);
            let own = library.clip(played.clip);
            let first = played.first.at() as f32 / own.fps();
            let since = at.map_or((0.5 * played.seconds).min(BEFORE), |at| at - first);
            (own.name == clip && (0.0..played.seconds).contains(&since)).then_some((edge, since))
        });
        let (edge, since) = found.next()?;
        Some(Moment::of(library, edge, since))
    }

    /// Any moment of a motion on one's feet; `None` if chance found none.
    pub fn random(library: &Arc<Library>, chance: &mut Chance) -> Option<Moment> {
        let edges = library.graph().edges().len() as u32;
        let wanted = [Doing::Idle, Doing::Walking, Doing::Fighting][chance.below(3) as usize];
        for attempt in 0..400 {
            let edge = EdgeIdx(chance.below(edges));
            // Libraries that have nothing of a kind give anything.
            if doing(library, edge) != wanted && attempt < 300 {
                continue;
            }
            let since = library.graph().edge(edge).seconds * chance.unit();
            let moment = Moment::settled(library, edge, since);
            let world = moment.character.world();
            let upright = |role: Role| (world.rotation(role.joint()) * Vec3::Y).y;
            if moment.character.contacts() != Contacts::NONE && upright(Role::Pelvis) > 0.8 && upright(Role::Back) > 0.7
            {
                return Some(moment);
            }
        }
        None
    }

    /// Where a part will be if nothing is done: the middle of one of the spheres of a target.
    pub fn aim(&self, seconds: f32, part: Role, which: u32) -> Vec3 {
        let mut later = self.character.clone();
        for _ in 0..(seconds * TICKS as f32).round() as u32 {
            let _ = later.step(|_, next| next[0]);
        }
        aimed(later.library(), later.world(), part, which)
    }

    /// The same of whoever braces: who stops for it is not where it would have been.
    pub fn aim_braced(&self, seconds: f32, part: Role, which: u32) -> Vec3 {
        let library = self.character.library();
        let source = self.character.brace_source(seconds);
        if !source.stops(library.skeleton()) {
            return self.aim(seconds, part, which);
        }
        let mut world = WorldPose::default();
        fk::pose(library.skeleton(), source.at_contact(true), &mut world);
        aimed(library, &world, part, which)
    }

    /// Braces, and is played until that is over.
    pub fn play(&self, request: &Request<'_>) -> Result<Played, ImpactError> {
        let library = Arc::clone(self.character.library());
        let skeleton = library.skeleton();
        let body = Body::of(skeleton).ok_or(ImpactError::NotFinite { what: "body" })?;
        let source = self.character.brace_source(request.seconds);
        let (brace, solved) = Brace::begin(skeleton, &body, &source, request)?;
        let mut character = self.character.clone();
        character.take_up_brace(brace.clone());
        let mut recorder = Recorder::default();
        recorder.record(&character, None);
        let impact = request.impact;
        let at = |time: f32| impact.place(time - request.seconds, request.seconds);
        let mut shown = Shown::default();
        shown.add(&character);
        let (mut before, mut after) = (Vec::new(), Vec::new());
        contact::place(library.spheres(), character.world(), &mut before);
        let (mut touch, mut path) = (None, vec![(0.0, at(0.0))]);
        let mut left = (AFTER * TICKS as f32) as u32;
        let mut tick = 0u32;
        while left > 0 && tick < 10 * TICKS {
            let began = character.step(|_, next| next[0]);
            tick += 1;
            left -= u32::from(character.brace().is_none());
            recorder.record(&character, began);
            shown.add(&character);
            let time = tick as f32 / TICKS as f32;
            contact::place(library.spheres(), character.world(), &mut after);
            if touch.is_none() {
                let way = [at(time - 1.0 / TICKS as f32), at(time)];
                let pass = contact::sweep(library.spheres(), &before, &after, way, impact.radius);
                touch = pass.touch.map(|(part, role)| (time + (part - 1.0) / TICKS as f32, role));
                path.push((time, touch.map_or(way[1], |touch| at(touch.0))));
                if touch.is_some() {
                    character.brace_is_hit();
                }
            } else if let Some((touched, _)) = touch {
                // It drops off.
                let since = time - touched;
                let back = at(touched) - impact.velocity * (0.15 * since);
                path.push((time, back + Vec3::NEG_Y * (4.9 * since * since)));
            }
            std::mem::swap(&mut before, &mut after);
        }
        Ok(Played { brace, solved, source, impact, seconds: request.seconds, shown, touch, recorder, path })
    }
}

/// The middle of one of the spheres of a part.
fn aimed(library: &Library, world: &WorldPose, part: Role, which: u32) -> Vec3 {
    let spheres = library.spheres();
    let own: Vec<_> = spheres.iter().filter(|s| s.part == part).collect();
    let sphere = own.get(which as usize % own.len().max(1)).copied().or(spheres.first());
    sphere.map_or(world.positions[0], |s| world.point(s.joint, s.offset))
}

/// What an edge is about.
fn doing(library: &Library, edge: EdgeIdx) -> Doing {
    let clip = library.clip(library.graph().edge(edge).clip);
    let has = |kinds: &[SpanKind]| clip.spans.iter().any(|span| kinds.contains(&span.kind));
    if has(&[SpanKind::Attack, SpanKind::Avoid, SpanKind::Block, SpanKind::React]) {
        Doing::Fighting
    } else if has(&[SpanKind::Walk, SpanKind::Run, SpanKind::Step, SpanKind::Turn]) {
        Doing::Walking
    } else if has(&[SpanKind::Idle]) {
        Doing::Idle
    } else {
        Doing::Fighting
    }
}

/// What random threats are aimed at.
pub const PARTS: [Role; 7] =
    [Role::Head, Role::Back, Role::Waist, Role::Pelvis, Role::Head, Role::LeftHip, Role::RightKnee];

/// A random threat at a random moment: from all round, 3 to 30 m/s, marbles to medicine balls, known 0.25 to 1.2 s ahead.
pub fn random(library: &Arc<Library>, seed: u64) -> Option<(Moment, Request<'static>)> {
    let mut chance = Chance::new(seed);
    let moment = Moment::random(library, &mut chance)?;
    let seconds = 0.25 + 0.95 * chance.unit();
    let target = moment.aim_braced(seconds, PARTS[chance.below(PARTS.len() as u32) as usize], chance.next());
    let (around, down) = (chance.unit() * TAU, chance.unit() * 0.6 - 0.1);
    let ((s, c), (fall, flat)) = (libm::sincosf(around), libm::sincosf(down));
    let speed = 3.0 + 27.0 * chance.unit();
    let between = |low: f32, high: f32, share: f32| low * libm::powf(high / low, share);
    let impact = Impact {
        target,
        velocity: Vec3::new(s * flat, -fall, c * flat) * speed,
        radius: between(0.03, 0.2, chance.unit()),
        mass: between(0.05, 5.0, chance.unit()),
    };
    Some((moment, Request::new(impact, seconds)))
}

/// The pose that was shown when a threat hit.
pub fn at_contact(played: &Played) -> Option<&Pose> {
    let tick = (played.seconds * TICKS as f32).round() as usize;
    played.shown.poses.get(tick.min(played.shown.poses.len().saturating_sub(1)))
}
