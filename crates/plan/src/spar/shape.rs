//! Bodies in a fight as they will be shown: the tables of what is played, what is left of the join that led into it, and limbs that are aimed.
//!
//! The tree and the stage tell with the same words here what a blow meets. On the stage the rest of the join is measured on the pose that is shown; inside the tree it
//! follows from what was played before. A join fades in every joint's turn; here it fades in the place of a few of them, which is the same but for arcs.

use kumite_motion::blend::{decay, ease};
use kumite_motion::volume::BodySphere;
use kumite_motion::{Role, Vec3, interrupt};

use crate::spar::bout::{Bout, Fighter, Outcome};
use crate::spar::moves::{Blow, Hittable, MoveKind, RATE};

/// Joints whose places say where the rest of a body is.
pub const ANCHORS: [Role; 11] = [
    Role::Head,
    Role::Back,
    Role::Pelvis,
    Role::LeftWrist,
    Role::RightWrist,
    Role::LeftElbow,
    Role::RightElbow,
    Role::LeftKnee,
    Role::RightKnee,
    Role::LeftAnkle,
    Role::RightAnkle,
];
/// How many they are.
pub const COUNT: usize = ANCHORS.len();
/// Places of all of them.
pub type Anchors = [Vec3; COUNT];

/// Which two anchors a part of a body goes along with, and how much with the second.
pub fn held_by(part: Role) -> (usize, usize, f32) {
    let at = |role: Role| ANCHORS.iter().position(|a| *a == role).unwrap_or(1);
    let both = |a: Role, b: Role| (at(a), at(b), 0.5);
    match part {
        Role::Pelvis => (at(Role::Pelvis), at(Role::Back), 0.15),
        Role::Waist => both(Role::Pelvis, Role::Back),
        Role::Neck => both(Role::Back, Role::Head),
        Role::LeftShoulder => both(Role::Back, Role::LeftElbow),
        Role::RightShoulder => both(Role::Back, Role::RightElbow),
        Role::LeftElbow => both(Role::LeftElbow, Role::LeftWrist),
        Role::RightElbow => both(Role::RightElbow, Role::RightWrist),
        Role::LeftHip => both(Role::Pelvis, Role::LeftKnee),
        Role::RightHip => both(Role::Pelvis, Role::RightKnee),
        Role::LeftKnee => both(Role::LeftKnee, Role::LeftAnkle),
        Role::RightKnee => both(Role::RightKnee, Role::RightAnkle),
        Role::LeftToe => (at(Role::LeftAnkle), at(Role::LeftAnkle), 0.0),
        Role::RightToe => (at(Role::RightAnkle), at(Role::RightAnkle), 0.0),
        part => (at(part), at(part), 0.0),
    }
}

/// What is left of the join into what is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lag {
    /// How far the body was from its motion, and how fast it went away from it, in the world.
    pub offset: Anchors,
    /// Metres per second.
    pub speed: Anchors,
    /// Ticks of the move at which that was so.
    pub since: u16,
    /// How long it takes to fade from there, seconds.
    pub seconds: f32,
}

impl Default for Lag {
    fn default() -> Self {
        Lag { offset: [Vec3::ZERO; COUNT], speed: [Vec3::ZERO; COUNT], since: 0, seconds: 0.0 }
    }
}

impl Lag {
    /// From a body and how it moves to the motion it joins.
    pub fn between(body: (&Anchors, &Anchors), motion: (&Anchors, &Anchors)) -> Lag {
        let mut lag = Lag::default();
        let mut sum = 0.0;
        for k in 0..COUNT {
            (lag.offset[k], lag.speed[k]) = (body.0[k] - motion.0[k], body.1[k] - motion.1[k]);
            sum += lag.offset[k].length_squared();
        }
        // The farther the body has to go the longer it takes.
        lag.seconds = interrupt::blend((sum / COUNT as f32).sqrt());
        lag
    }

    /// How much of the offset and of its speed is left.
    #[inline]
    fn left(&self, tick: u32) -> (f32, f32) {
        let since = tick.saturating_sub(u32::from(self.since)) as f32 / RATE as f32;
        if since >= self.seconds { (0.0, 0.0) } else { decay(since, self.seconds) }
    }

    #[inline]
    fn of(&self, (keep, drift): (f32, f32), (a, b, share): (u8, u8, f32)) -> Vec3 {
        let at = |k: u8| self.offset[k as usize] * keep + self.speed[k as usize] * drift;
        if share == 0.0 { at(a) } else { at(a).lerp(at(b), share) }
    }
}

/// A limb that is led somewhere, and hips that go along. Ticks count from the beginning of the move, in the fight's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Led {
    /// A wrist or an ankle, or none.
    pub part: Option<Role>,
    /// Metres in the world.
    pub offset: Vec3,
    /// Of the hips, the same.
    pub shift: Vec3,
    /// When it begins to grow, and when it is whole.
    pub rise: (u16, u16),
}

impl Default for Led {
    fn default() -> Self {
        Led { part: None, offset: Vec3::ZERO, shift: Vec3::ZERO, rise: (0, 1) }
    }
}

/// How long a limb that is led stays there, and until when it is back, seconds.
pub const LETS_GO: (f32, f32) = (0.08, 0.36);

impl Led {
    /// How much of it there is at a tick.
    #[inline]
    pub fn weight(&self, tick: f32) -> f32 {
        let (from, whole) = (f32::from(self.rise.0), f32::from(self.rise.1));
        let grown = ease((tick - from) / (whole - from).max(0.06));
        let over = (tick - whole) / RATE as f32;
        grown * (1.0 - ease((over - LETS_GO.0) / (LETS_GO.1 - LETS_GO.0)))
    }

    /// What it does to a part, if it were whole.
    #[inline]
    fn on(&self, part: Role) -> Vec3 {
        let Some(end) = self.part else { return Vec3::ZERO };
        let legs = matches!(
            part,
            Role::LeftKnee | Role::RightKnee | Role::LeftAnkle | Role::RightAnkle | Role::LeftToe | Role::RightToe
        );
        let own = if part == end {
            self.offset
        } else if Some(part) == end.parent() || part.parent() == Some(end) {
            self.offset * 0.5
        } else {
            Vec3::ZERO
        };
        if legs { own } else { own + self.shift }
    }
}

/// What a blow met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// When, ticks of the striker's move, in the fight's time.
    pub at: f32,
    /// What of the other.
    pub part: Role,
}

impl Meeting {
    /// What it counts as.
    pub fn outcome(self) -> Outcome {
        if in_the_way(self.part) { Outcome::Blocked } else { Outcome::Landed }
    }
}

/// Whether what is hit there only was in the way: arms and shoulders.
pub fn in_the_way(part: Role) -> bool {
    matches!(
        part,
        Role::LeftClavicle
            | Role::RightClavicle
            | Role::LeftShoulder
            | Role::RightShoulder
            | Role::LeftElbow
            | Role::RightElbow
            | Role::LeftWrist
            | Role::RightWrist
    )
}

/// Ticks of motion before and after its arrival in which a blow can meet something.
pub const SOON: u32 = 7;
/// The same after it.
pub const LATE: u32 = 3;
/// Places along a blow's way.
pub const PATH: usize = (SOON + LATE) as usize + 1;
/// Nearer than this is met, metres.
pub const TOUCH: f32 = 0.005;
/// Farthest that a body moves within the ticks of a blow, metres.
const MOVES: f32 = 0.35;

impl Bout<'_> {
    /// Where the joints of a fighter are that say where the rest is, so many ticks into what it does.
    pub fn anchors(&self, who: usize, f: &Fighter, tick: u32) -> Anchors {
        let table = self.made(f).anchors(self.motion(who, tick) + u32::from(f.phase));
        let (left, weight) = (f.lag.left(tick), f.led.weight(tick as f32));
        let mut out = [Vec3::ZERO; COUNT];
        for (k, (out, place)) in out.iter_mut().zip(table).enumerate() {
            let led = if weight > 0.0 { f.led.on(ANCHORS[k]) * weight } else { Vec3::ZERO };
            *out = f.place.point(*place) + f.lag.of(left, (k as u8, k as u8, 0.0)) + led;
        }
        out
    }

    /// The same, and how they move, metres per second.
    pub fn moving(&self, who: usize, f: &Fighter, tick: u32) -> (Anchors, Anchors) {
        let (now, before) = (self.anchors(who, f, tick.max(1)), self.anchors(who, f, tick.max(1) - 1));
        let mut speed = [Vec3::ZERO; COUNT];
        for k in 0..COUNT {
            speed[k] = (now[k] - before[k]) * RATE as f32;
        }
        (now, speed)
    }

    /// The rest of the join from a body into a move that is laid at a fighter's place and has just begun.
    pub fn lag(&self, who: usize, body: (&Anchors, &Anchors), f: &Fighter) -> Lag {
        let bare = Fighter { lag: Lag::default(), ..*f };
        let (now, next) = (self.anchors(who, &bare, 0), self.anchors(who, &bare, 1));
        let mut speed = [Vec3::ZERO; COUNT];
        for k in 0..COUNT {
            speed[k] = (next[k] - now[k]) * RATE as f32;
        }
        Lag::between(body, (&now, &speed))
    }

    /// A body as it is shown, as what is left of a join: nothing else of what is known of a fighter changes.
    pub fn seen_as(&self, who: usize, f: &Fighter, body: (&Anchors, &Anchors)) -> Lag {
        let bare = Fighter { lag: Lag::default(), ..*f };
        let tick = u32::from(f.t);
        let motion = self.moving(who, &bare, tick);
        let mut lag = Lag::between(body, (&motion.0, &motion.1));
        let rest = f32::from(f.lag.since) / RATE as f32 + f.lag.seconds - tick as f32 / RATE as f32;
        (lag.since, lag.seconds) = (f.t, rest.max(SOONEST));
        lag
    }

    /// Where a sphere of a body is.
    #[inline]
    fn sphere(&self, f: &Fighter, k: usize, tick: (u32, u32), left: (f32, f32), weight: f32) -> Vec3 {
        let target = &self.moves.targets()[k];
        let place = self.made(f).body(tick.1 + u32::from(f.phase))[k];
        let led = if weight > 0.0 { f.led.on(target.part) * weight } else { Vec3::ZERO };
        f.place.point(place) + f.lag.of(left, target.held) + led
    }

    /// Where a sphere of a body is after so many ticks of the fight and of motion.
    #[inline]
    pub(crate) fn place_of(&self, f: &Fighter, k: usize, tick: (u32, u32)) -> Vec3 {
        self.sphere(f, k, tick, f.lag.left(tick.0), f.led.weight(tick.0 as f32))
    }

    /// How far the striking part is from its motion because of the join.
    #[inline]
    pub(crate) fn lag_of(&self, f: &Fighter, blow: &Blow, tick: u32) -> Vec3 {
        f.lag.of(f.lag.left(tick), blow.held)
    }

    /// The tick of a step along a blow's way.
    #[inline]
    pub fn step_at(&self, who: usize, blow: &Blow, j: usize) -> u32 {
        self.takes(who, (blow.at + j as u32).saturating_sub(SOON))
    }

    /// The way of a blow's spheres, tick by tick of motion around its arrival, as they will be shown.
    #[inline]
    pub fn way_of(&self, who: usize, f: &Fighter, blow: &Blow, j: usize, s: usize) -> Vec3 {
        let tick = self.step_at(who, blow, j);
        let place = self.moves.path(blow, j)[s];
        let lag = self.lag_of(f, blow, tick);
        let weight = f.led.weight(tick as f32);
        f.place.point(place) + lag + f.led.on(blow.part) * weight
    }

    /// What a fighter's open blow meets of another, if both go on with what they do.
    pub fn sweep(&self, who: usize, f: &Fighter, blow: &Blow, enemy: usize, q: &Fighter) -> Option<Meeting> {
        if matches!(self.made(q).kind, MoveKind::Down | MoveKind::Up) {
            return None;
        }
        let strikers = self.moves.strikers(blow);
        let mut ways = [[Vec3::ZERO; PATH]; STRIKERS];
        let count = strikers.len().min(STRIKERS);
        for j in 0..PATH {
            let tick = self.step_at(who, blow, j);
            let off = self.lag_of(f, blow, tick) + f.led.on(blow.part) * f.led.weight(tick as f32);
            for (way, place) in ways.iter_mut().zip(self.moves.path(blow, j)) {
                way[j] = f.place.point(*place) + off;
            }
        }
        // All of it lies around the chord of the end's way.
        let chord = [ways[count.max(1) - 1][0], ways[count.max(1) - 1][PATH - 1]];
        let all = ways[..count].iter().flatten();
        let wide = all.map(|p| off_chord(chord, *p)).fold(0.0, f32::max);
        // The other at each of those moments, looked up once: its spheres in the tables, what is left of its join, and how far its limb is led.
        let made = self.made(q);
        let moments = std::array::from_fn(|j| {
            let own = self.step_at(who, blow, j);
            let tick = (u32::from(q.t) + own).saturating_sub(u32::from(f.t));
            let body = made.body(self.motion(enemy, tick) + u32::from(q.phase));
            Moment { body, left: q.lag.left(tick), weight: q.led.weight(tick as f32), lags: None }
        });
        let mut moments: [Moment<'_>; PATH] = moments;
        let mut first: Option<Meeting> = None;
        for (k, target) in self.moves.targets().iter().enumerate() {
            let mut at = |j: usize| moments[j].sphere(q, k, target);
            let around = at(PATH / 2);
            let far = wide + target.radius + blow.radius + TOUCH;
            let away = off_chord(chord, around);
            if away > far + MOVES {
                continue;
            }
            if away > far {
                // A body that hardly moves is looked at no closer.
                let ends = [0, PATH - 1].map(&mut at);
                let moves = (ends[0] - around).length().max((ends[1] - around).length());
                if away > far + 1.2 * moves + 0.01 {
                    continue;
                }
            }
            let mut before = at(0);
            for j in 1..PATH {
                let after = at(j);
                if first.is_some_and(|f| f.at < (j - 1) as f32) {
                    break;
                }
                for (way, radius) in ways.iter().zip(strikers).take(count) {
                    let both = target.radius + radius + TOUCH;
                    if let Some(part) = touches([way[j - 1], way[j]], [before, after], both) {
                        let at = (j - 1) as f32 + part;
                        if first.is_none_or(|f| at < f.at) {
                            first = Some(Meeting { at, part: target.part });
                        }
                    }
                }
                before = after;
            }
        }
        let first = first?;
        // From steps along the way to ticks of the fight.
        let motion = (blow.at as f32 + first.at - SOON as f32).max(0.0);
        Some(Meeting { at: motion * self.corners[who].style.tempo, ..first })
    }
}

/// A body at a moment of a blow.
struct Moment<'a> {
    /// Centres of its spheres, from where its move began.
    body: &'a [Vec3],
    /// What is left of the join into it, and of the speed away.
    left: (f32, f32),
    /// How much of what leads its limb there is.
    weight: f32,
    /// What is left of the join at each anchor, once somebody asks.
    lags: Option<Anchors>,
}

impl Moment<'_> {
    /// Where a sphere of it is.
    #[inline]
    fn sphere(&mut self, q: &Fighter, k: usize, target: &Hittable) -> Vec3 {
        let (a, b, share) = target.held;
        let (keep, drift) = self.left;
        let lags =
            self.lags.get_or_insert_with(|| std::array::from_fn(|k| q.lag.offset[k] * keep + q.lag.speed[k] * drift));
        let lag = if share == 0.0 { lags[a as usize] } else { lags[a as usize].lerp(lags[b as usize], share) };
        let led = if self.weight > 0.0 { q.led.on(target.part) * self.weight } else { Vec3::ZERO };
        q.place.point(self.body[k]) + lag + led
    }
}

/// Most spheres of a striking limb that are looked at.
const STRIKERS: usize = 4;

/// The spheres of a striking part, the last is its end; shins strike too.
pub fn striking(spheres: &[BodySphere], part: Role) -> Vec<usize> {
    let last = |part: Role| {
        let own: Vec<usize> = (0..spheres.len()).filter(|k| spheres[*k].part == part).collect();
        own[own.len().saturating_sub(2)..].to_vec()
    };
    let leg = matches!(part, Role::LeftAnkle | Role::RightAnkle);
    let mut found = part.parent().filter(|_| leg).map(last).unwrap_or_default();
    found.extend(last(part));
    found
}

/// What is left of a join that is measured later fades at least so slowly, seconds.
const SOONEST: f32 = 0.1;

/// How far a place is from a stretch of a line.
#[inline]
fn off_chord([a, b]: [Vec3; 2], p: Vec3) -> f32 {
    let way = b - a;
    let t = ((p - a).dot(way) / way.length_squared().max(1e-9)).clamp(0.0, 1.0);
    (a + way * t - p).length()
}

/// When in a step two moving spheres first touch, 0..1.
#[inline]
fn touches(one: [Vec3; 2], other: [Vec3; 2], both: f32) -> Option<f32> {
    let start = one[0] - other[0];
    let way = (one[1] - other[1]) - start;
    let (ww, sw) = (way.length_squared(), start.dot(way));
    let nearest = if ww > 0.0 { (-sw / ww).clamp(0.0, 1.0) } else { 0.0 };
    if (start + way * nearest).length_squared() >= both * both {
        return None;
    }
    let inside = sw * sw - ww * (start.length_squared() - both * both);
    Some(if ww > 0.0 { ((-sw - inside.max(0.0).sqrt()) / ww).clamp(0.0, 1.0) } else { 0.0 })
}
