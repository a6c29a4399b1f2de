//! One threat at one moment of one motion, that hits: braced for or not, with everything that comes of it until it is over. What impacts are measured
//! by. Played by a character alone, without a world.

use std::f32::consts::TAU;
use std::sync::Arc;

use kumite_motion::library::Library;
use kumite_motion::rotation::{wrap, yaw_of};
use kumite_motion::{Role, Vec3, WorldPose};
use kumite_react::response::Settings;
use kumite_react::{Body, Brace, Extent, Impact, Phase, Request, Touch};

use crate::brace_trial::{Doing, Moment};
use crate::recoveries::Recoveries;
use crate::struck::Turnout;
use crate::{Chance, Character, Recorder, Return, TICKS, contact};

/// Longest that is played after the hit, seconds.
const LONGEST: f32 = 9.0;
/// And after everything is over.
const AFTER: f32 = 0.3;
/// Window of the head's load, ticks: 15 ms, as head injury criteria have it.
const LOAD: usize = 2;
/// Least up-axis of pelvis and trunk of somebody who is upright.
const UPRIGHT: f32 = 0.7;

/// When it is looked where a push has carried somebody, seconds after the touch: two steps of a stagger.
pub const CARRIED: f32 = 0.6;
/// Whoever is carried less far went nowhere, metres.
const HARDLY: f32 = 0.03;
/// Feet higher than this are clearly off the floor, metres above how they stand.
const OFF: f32 = 0.03;

/// How a threat is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct How {
    /// Whether it is braced for.
    pub braced: bool,
    /// Of the response.
    pub settings: Settings,
    /// Where it goes back to.
    pub returns: Return,
}

impl Default for How {
    fn default() -> Self {
        How { braced: true, settings: Settings::default(), returns: Return::Auto }
    }
}

/// What came of a threat.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// When it touched, seconds since it was known, and how.
    pub touch: Option<(f32, Touch)>,
    /// How far the body gave way.
    pub extent: Option<Extent>,
    /// What the motion that it went into is called, if it went into one.
    pub answer: Option<String>,
    /// Greatest gap at a joint, metres.
    pub gap: f32,
    /// When that is, seconds after the touch, and where.
    pub gap_at: Option<(f32, Role)>,
    /// Deepest below the floor, metres.
    pub sunk: f32,
    /// When that is, seconds after the touch, and what.
    pub sunk_at: Option<(f32, Role)>,
    /// Fastest turn of a joint when it came to lie, radians per second.
    pub rest: Option<f32>,
    /// Greatest change of the head's speed within 15 ms after the touch, metres per second.
    pub head_load: f32,
    /// Seconds after the touch at which it was upright with nothing left of the response.
    pub recovered: Option<f32>,
    /// Seconds after the touch at which it lay, and at which it stood again.
    pub down: Option<f32>,
    /// See `down`.
    pub up: Option<f32>,
    /// Largest distance of the touched part from where its motion has it within 150 ms, metres.
    pub moved: f32,
    /// Ticks with physics.
    pub simulated: u32,
    /// Where it was carried: how far its pelvis is from where it would be unhit, [`CARRIED`] seconds after the touch, metres.
    pub carried: Option<Vec3>,
    /// And how far it faces aside from how it would, radians.
    pub turned: f32,
    /// Seconds on its feet with both of them clearly off the floor.
    pub floats: f32,
}

impl Outcome {
    /// The angle between the way of the push and the way it was carried, radians; `None` if it was not hit, or hardly carried.
    pub fn aside(&self) -> Option<f32> {
        let (touch, carried) = (self.touch?.1, self.carried?);
        let flat = |v: Vec3| Vec3::new(v.x, 0.0, v.z);
        let (along, gone) = (flat(touch.velocity), flat(carried));
        (gone.length() > HARDLY && along.length() > 0.0)
            .then(|| libm::atan2f(along.cross(gone).length(), along.dot(gone)))
    }
}

/// A threat that was played.
#[derive(Clone, Debug)]
pub struct Struck {
    /// What came of it.
    pub outcome: Outcome,
    /// Everything, to be drawn and written.
    pub recorder: Recorder,
    /// The way of the threat, seconds of the recording and places.
    pub path: Vec<(f32, Vec3)>,
}

/// Plays a moment on, with what comes at it.
pub fn play(moment: &Moment, recoveries: &Recoveries, request: &Request<'_>, how: How) -> Option<Struck> {
    let library = Arc::clone(moment.character.library());
    let (skeleton, spheres, impact) = (library.skeleton(), library.spheres(), request.impact);
    let mut character = moment.character.clone();
    if how.braced {
        let source = character.brace_source(request.seconds);
        let (brace, _) = Brace::begin(skeleton, &Body::of(skeleton)?, &source, request).ok()?;
        character.take_up_brace(brace);
    }
    let mut recorder = Recorder::default();
    recorder.record(&character, None);
    let at = |time: f32| impact.place(time - request.seconds, request.seconds);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    contact::place(spheres, character.world(), &mut before);
    let (mut outcome, mut path) = (Outcome::default(), vec![(0.0, at(0.0))]);
    let mut heads = vec![head(&character)];
    let (mut unhit, mut flying): (Option<Character>, _) = (None, true);
    let last = ((request.seconds + LONGEST) * TICKS as f32) as u32;
    let mut left = (AFTER * TICKS as f32) as u32;
    for tick in 1..=last {
        let began = character.step(|_, next| next[0]);
        recorder.record(&character, began);
        heads.push(head(&character));
        let time = tick as f32 / TICKS as f32;
        contact::place(spheres, character.world(), &mut after);
        if let Some((touched, touch)) = outcome.touch {
            let since = time - touched;
            if let Some(unhit) = &mut unhit {
                let _ = unhit.step(|_, next| next[0]);
                if since <= 0.15 {
                    let place = |c: &Character| c.world().point(touch.part.joint(), middle(&library, touch.part));
                    outcome.moved = outcome.moved.max((place(&character) - place(unhit)).length());
                }
            }
            if let (None, Some(unhit), true) = (outcome.carried, &unhit, since >= CARRIED) {
                outcome.carried = Some(character.pose().root() - unhit.pose().root());
                let faces = |c: &Character| yaw_of(c.world().rotation(Role::Pelvis.joint()) * Vec3::Z);
                outcome.turned = wrap(faces(&character) - faces(unhit));
            }
            if !character.is_down() && floats(recoveries, character.world()) {
                outcome.floats += 1.0 / TICKS as f32;
            }
            let back = at(touched) - impact.velocity * (0.15 * since);
            let fallen = back + Vec3::NEG_Y * (4.9 * since * since);
            path.push((time, Vec3::new(fallen.x, fallen.y.max(impact.radius.min(at(touched).y)), fallen.z)));
            look(&mut outcome, &mut character, recoveries, (since, moment.doing != Doing::Walking));
            left -=
                u32::from(outcome.recovered.is_some() && character.brace().is_none() && character.response().is_none());
        } else if flying {
            let way = [at(time - 1.0 / TICKS as f32), at(time)];
            let pass = contact::sweep(spheres, &before, &after, way, impact.radius);
            let touched = pass.touch.map_or(time, |(part, _)| time + (part - 1.0) / TICKS as f32);
            path.push((time, at(touched)));
            if let Some((moment, part)) = pass.touch {
                let sphere = [before[pass.sphere], after[pass.sphere]];
                let touch = contact::touch(part, sphere, way, moment, impact.radius, impact.mass);
                outcome.touch = Some((touched, touch));
                unhit = Some(character.clone());
                character.brace_is_hit();
                let how = (how.settings, how.returns);
                outcome.extent = character.strike(recoveries, &touch, &[], how, character.brace().is_some());
            }
            flying = time < request.seconds + 0.5;
        } else {
            left -= u32::from(character.brace().is_none());
        }
        std::mem::swap(&mut before, &mut after);
        if left == 0 {
            break;
        }
    }
    outcome.head_load = outcome.touch.map_or(0.0, |(touched, _)| load(&heads, (touched * TICKS as f32) as usize));
    Some(Struck { outcome, recorder, path })
}

/// What is seen of a response in a tick.
fn look(outcome: &mut Outcome, character: &mut Character, recoveries: &Recoveries, (since, reacts): (f32, bool)) {
    let rested = character.response().is_some_and(|r| r.phase() == Phase::Lying && r.rests());
    if let Some(ragdoll) = character.response().and_then(|r| r.ragdoll()) {
        outcome.simulated += 1;
        if ragdoll.gap() > outcome.gap {
            outcome.gap = ragdoll.gap();
            outcome.gap_at = Some((since, ragdoll.widest().0));
        }
        let (part, below) = ragdoll.deepest();
        if below > outcome.sunk {
            (outcome.sunk, outcome.sunk_at) = (below, Some((since, part)));
        }
        if rested {
            outcome.rest = Some(ragdoll.fastest());
        }
    }
    match character.watch_recovery(recoveries, reacts) {
        Some(Turnout::Answers(label, _) | Turnout::Staggers(label, _)) => outcome.answer = Some(label),
        Some(Turnout::Down) => outcome.down = Some(since),
        Some(Turnout::Up) => outcome.up = Some(since),
        _ => {}
    }
    let upright = |role: Role| (character.world().rotation(role.joint()) * Vec3::Y).y > UPRIGHT;
    let stands = upright(Role::Pelvis) && upright(Role::Back);
    let over = character.response().is_none_or(|r| r.phase() == Phase::Fading)
        && outcome.down.is_none_or(|_| outcome.up.is_some());
    if over && stands && outcome.recovered.is_none() {
        outcome.recovered = Some(since);
    }
}

/// Whether both feet are clearly off the floor.
fn floats(recoveries: &Recoveries, world: &WorldPose) -> bool {
    let Some(build) = recoveries.build() else { return false };
    let above = |role: Role| world.position(role.joint()).y - build.resting(role);
    [[Role::LeftAnkle, Role::LeftToe], [Role::RightAnkle, Role::RightToe]]
        .into_iter()
        .all(|foot| foot.map(above).into_iter().fold(f32::INFINITY, f32::min) > OFF)
}

/// Where the middle of a part is, in its joint's frame.
fn middle(library: &Library, part: Role) -> Vec3 {
    let own: Vec<Vec3> = library.spheres().iter().filter(|s| s.part == part).map(|s| s.offset).collect();
    own.iter().fold(Vec3::ZERO, |a, b| a + *b) / own.len().max(1) as f32
}

fn head(character: &Character) -> Vec3 {
    character.world().point(Role::Head.joint(), Vec3::Y * 0.09)
}

/// Greatest change of speed within [`LOAD`] ticks in the 100 ms after a touch.
fn load(heads: &[Vec3], touched: usize) -> f32 {
    let speed = |tick: usize| (heads[tick + 1] - heads[tick]) * TICKS as f32;
    let ticks = touched.saturating_sub(1)..(touched + 12).min(heads.len().saturating_sub(LOAD + 1));
    ticks.map(|tick| (speed(tick + LOAD) - speed(tick)).length()).fold(0.0, f32::max)
}

/// What kind of threat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A volleyball, 10 to 30 m/s.
    Volleyball,
    /// Whatever changes the body's speed by 0.25 to 0.9 m/s.
    Shove,
    /// 10 kg at 10 m/s.
    Cannonball,
}

/// A random frontal threat at somebody who stands or walks, known 0.4 to 1.0 s ahead; `None` if chance found none.
pub fn random(library: &Arc<Library>, seed: u64, kind: Kind) -> Option<(Moment, Request<'static>)> {
    drawn(library, seed, kind, TAU / 3.0)
}

/// The same from all round.
pub fn random_from_anywhere(library: &Arc<Library>, seed: u64, kind: Kind) -> Option<(Moment, Request<'static>)> {
    drawn(library, seed, kind, TAU)
}

/// From somewhere within an angle that opens ahead, radians.
fn drawn(library: &Arc<Library>, seed: u64, kind: Kind, opens: f32) -> Option<(Moment, Request<'static>)> {
    let mut chance = Chance::new(seed);
    let moment =
        (0..40).find_map(|_| Moment::random(library, &mut chance).filter(|moment| moment.doing != Doing::Fighting))?;
    let seconds = 0.4 + 0.6 * chance.unit();
    let parts = [Role::Head, Role::Back, Role::Waist, Role::Head, Role::Pelvis];
    let target = moment.aim(seconds, parts[chance.below(5) as usize], chance.next());
    let gaze = crate::sense::gaze(&moment.character);
    let around = gaze + (chance.unit() - 0.5) * opens;
    let (mass, speed, radius) = match kind {
        Kind::Volleyball => (0.27, 10.0 + 20.0 * chance.unit(), 0.105),
        Kind::Shove => {
            let (change, mass) = (0.25 + 0.65 * chance.unit(), 1.5 + 4.0 * chance.unit());
            (mass, change * kumite_react::body::MASS / (1.0 + kumite_react::touch::RESTITUTION) / mass, 0.14)
        }
        Kind::Cannonball => (10.0, 10.0, 0.18),
    };
    let (s, c) = libm::sincosf(around);
    let impact = Impact { target, velocity: Vec3::new(-s, -0.05, -c) * speed, radius, mass };
    Some((moment, Request::new(impact, seconds)))
}
