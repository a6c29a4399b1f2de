//! Keys to frames.

use std::sync::Arc;

use kumite_motion::align::Planar;
use kumite_motion::blend::ease;
use kumite_motion::rotation::{about, arc, slerp, wrap, yaw};
use kumite_motion::{
    Clip, Contacts, Pose, Quat, Role, Roles, Skeleton, Span, SpanKind, Vec2, Vec3, WorldPose, fk, ik, mass, mirror,
    settle,
};
use kumite_text::TextError;

use crate::check::check;
use crate::curve::{Curve, Knot};
use crate::file::{Attitude, Fist, Foot, FootPlace, Key, MotionFile, Place, StanceFile};
use crate::flight::Flights;
use crate::leg::{FootAt, Leg, Swing};

/// Frames per second of what is compiled.
pub const FPS: f32 = 60.0;

/// A leg is never stretched beyond this share of its length: the pelvis sinks instead.
const LEG_REACH: f32 = 0.9985;
/// From this share on the pelvis gives way softly: it knows some frames ahead, and knees do not snap straight.
const LEG_SOFT: f32 = 0.991;
/// Frames before and after a stretch over which the pelvis gives way.
const SOFT_FRAMES: usize = 7;
/// Beyond this share of its length an arm stretches less than its keys ask, so that elbows do not snap straight.
const ARM_SOFT: f32 = 0.92;
/// An arm is never stretched beyond this share.
const ARM_REACH: f32 = 0.985;
/// A leg is no longer upright when the line from hip to ankle falls by less than this share of its length; level, it lies.
const LEVEL: f32 = 0.5;
/// A heel raised by this, radians, leaves all the weight on the ball of the foot.
const BALL_PITCH: f32 = 0.3;
/// How far hands trail behind the trunk's travel, as a multiple of what its speed changes by within `trail` times `trail`.
const SPRING: f32 = 2.0;
/// How far above the point it nods about the head's weight is, metres: trailing by that much would lay it flat.
const NOD_LEVER: f32 = 0.35;
/// Rounds of settling: hands and legs move the centre of mass again, by less each time.
const SETTLE_ROUNDS: usize = 2;
/// Moved by less than this nothing has to follow, and by less than that nothing has to be found again, metres.
const SETTLED: f32 = 2e-4;
const SLIGHT: f32 = 0.015;
/// Where the left elbow points by default, in the chest's frame: down, clear of the ribs.
const ELBOW: Vec3 = Vec3::new(0.42, -0.85, -0.32);

/// The motion as a clip of the canonical skeleton. Its stance stands at the origin, facing +Z, when it begins.
///
/// `end` is the stance [`MotionFile::ends`] names; without one the motion stays in its stance.
pub fn compile(
    motion: &MotionFile,
    stance: &StanceFile,
    end: Option<&StanceFile>,
    skeleton: &Arc<Skeleton>,
) -> Result<Clip, TextError> {
    check(motion)?;
    let motion = &motion.expanded();
    let body = Body::new(motion, stance, end.unwrap_or(stance), skeleton);
    let frames = libm::roundf(motion.seconds * FPS) as usize + 1;
    let mut contacts = Vec::with_capacity(frames);
    let mut clip = Clip::from_fn(&motion.name, Arc::clone(skeleton), FPS, frames, |frame, pose| {
        contacts.push(body.pose(frame as f32 / FPS, pose));
    })
    .map_err(|e| TextError::new("", format!("these keys do not make a motion: {e}")))?;
    clip.contacts = contacts;
    clip.spans = motion
        .span
        .iter()
        .filter_map(|s| {
            let mut span = Span::new(SpanKind::from_name(&s.kind)?, &s.label, s.from, s.to);
            span.active = s.active.map(|[a, b]| (a, b));
            span.part = s.part.as_deref().and_then(Role::from_name);
            Some(span)
        })
        .collect();
    Ok(clip)
}

/// The left-right variant, under the name the file gives it.
pub fn mirrored(motion: &MotionFile, clip: &Clip) -> Option<Clip> {
    let name = motion.mirror.as_ref()?;
    let pairs = mirror::Mirror::by_roles(clip.skeleton(), &Roles::canonical());
    let mut clip = pairs.clip(clip).ok()?;
    clip.name.clone_from(name);
    Some(clip)
}

/// One arm's curves.
#[derive(Default)]
struct Arm {
    moved: Curve,
    /// Radians; x is the elbow's swivel, y and z the fist's roll and bend.
    turned: Curve,
    /// Radians; how far the shoulder goes forward (x) and up (y) of itself.
    shoulder: Curve,
}

const WRISTS: [Role; 2] = [Role::LeftWrist, Role::RightWrist];

/// The numbers of a stance.
#[derive(Clone, Copy)]
struct Posture {
    pelvis_height: f32,
    weight: f32,
    balance: f32,
    shift: Vec3,
    hips: Vec3,
    chest: Vec3,
    head: Vec3,
    /// Wrists in the chest's frame.
    hands: [Vec3; 2],
    /// As [`Arm::turned`].
    turns: [Vec3; 2],
}

impl Posture {
    fn of(stance: &StanceFile, skeleton: &Skeleton) -> Posture {
        let turns = |elbow: f32, fist: Fist| Vec3::new(radians(elbow), radians(fist.roll), radians(fist.bend));
        let mut posture = Posture {
            pelvis_height: stance.pelvis_height,
            weight: stance.weight,
            balance: stance.balance,
            shift: Vec3::new(stance.shift[0], 0.0, stance.shift[1]),
            hips: attitude(&stance.hips),
            chest: attitude(&stance.chest),
            head: attitude(&stance.head),
            hands: [stance.left_hand, stance.right_hand].map(|p| Vec3::from_array(p) - Vec3::Y * 1.2),
            turns: [turns(stance.left_elbow, stance.left_fist), turns(stance.right_elbow, stance.right_fist)],
        };
        // Where the chest stands depends, through the balance, on where the hands are, a little.
        for _ in 0..4 {
            let chest = Body::still(stance, posture, skeleton).chest_frame(0.0);
            posture.hands = [stance.left_hand, stance.right_hand].map(|p| chest.inverse(Vec3::from_array(p)));
        }
        posture
    }

    fn lerp(&self, to: &Posture, share: f32) -> Posture {
        let mix = |a: f32, b: f32| a + (b - a) * share;
        Posture {
            pelvis_height: mix(self.pelvis_height, to.pelvis_height),
            weight: mix(self.weight, to.weight),
            balance: mix(self.balance, to.balance),
            shift: self.shift.lerp(to.shift, share),
            hips: self.hips.lerp(to.hips, share),
            chest: self.chest.lerp(to.chest, share),
            head: self.head.lerp(to.head, share),
            hands: [0, 1].map(|i| self.hands[i].lerp(to.hands[i], share)),
            turns: [0, 1].map(|i| self.turns[i].lerp(to.turns[i], share)),
        }
    }
}

struct Body<'a> {
    skeleton: &'a Skeleton,
    roles: Roles,
    from: Posture,
    to: Posture,
    change: [f32; 2],
    balance: f32,
    early: Leads,
    drag: f32,
    trail: f32,
    glide: f32,
    life: f32,
    seconds: f32,
    shift: Curve,
    weight: Curve,
    hips: Curve,
    chest: Curve,
    head: Curve,
    arms: [Arm; 2],
    legs: [Leg; 2],
    flights: Flights,
    /// How far the pelvis gives way, frame by frame.
    sinks: Vec<f32>,
    /// How far the centre of mass is moved from where keys have it, for soles to be able to push it, frame by frame.
    settled: Vec<Vec3>,
}

/// By how many seconds each part runs ahead of its keys.
#[derive(Clone, Copy, Default)]
struct Leads {
    /// Where the weight goes.
    weight: f32,
    hips: f32,
    chest: f32,
    neck: f32,
    head: f32,
    elbows: f32,
}

impl Leads {
    fn of(motion: &MotionFile) -> Leads {
        let (all, own) = (motion.lead, &motion.early);
        let head = own.head.unwrap_or(0.0);
        Leads {
            weight: own.weight.unwrap_or(all),
            hips: own.hips.unwrap_or(all),
            chest: own.chest.unwrap_or(0.5 * all),
            neck: own.neck.unwrap_or(head),
            head,
            elbows: own.elbows.unwrap_or(0.25 * all),
        }
    }
}

pub(crate) fn radians(degrees: f32) -> f32 {
    degrees.to_radians()
}

fn attitude(a: &Attitude) -> Vec3 {
    Vec3::new(radians(a.turn), radians(a.lean), radians(a.tilt))
}

/// Turn, lean, tilt to a rotation: turned first, then leaned forward and tilted to the left in that direction.
fn rotation(a: Vec3) -> Quat {
    yaw(a.x) * about(Vec3::X, a.y) * about(Vec3::Z, -a.z)
}

impl<'a> Body<'a> {
    /// Standing in a stance, nothing keyed.
    fn still(stance: &StanceFile, posture: Posture, skeleton: &'a Skeleton) -> Body<'a> {
        let leg = |ankle: Role, toe: Role, place: FootPlace| {
            let bone = skeleton.offset(toe.joint());
            // The rest pose stands on the floor: what is left under the ball is the sole.
            let ball_height = standing_height(skeleton) + bone.y;
            Leg {
                ankle,
                toe,
                place,
                bone,
                ball_height,
                heel: Curve::default(),
                twist: Curve::default(),
                air: Curve::default(),
                turned: Curve::default(),
                steps: Vec::new(),
            }
        };
        Body {
            skeleton,
            roles: Roles::canonical(),
            from: posture,
            to: posture,
            change: [0.0, 1.0],
            balance: 1.0,
            early: Leads::default(),
            drag: 0.0,
            trail: 0.0,
            glide: 0.0,
            life: 0.0,
            seconds: 1.0,
            shift: Curve::default(),
            weight: Curve::default(),
            hips: Curve::default(),
            chest: Curve::default(),
            head: Curve::default(),
            arms: Default::default(),
            legs: [
                leg(Role::LeftAnkle, Role::LeftToe, stance.left_foot),
                leg(Role::RightAnkle, Role::RightToe, stance.right_foot),
            ],
            flights: Flights::default(),
            sinks: Vec::new(),
            settled: Vec::new(),
        }
    }

    fn new(motion: &MotionFile, stance: &StanceFile, end: &StanceFile, skeleton: &'a Skeleton) -> Body<'a> {
        // Every channel that is keyed at all leaves from the stance and, unless told otherwise, returns to it.
        let curve = |pick: &dyn Fn(&Key) -> Option<Vec3>| {
            let knot = |at: f32, value: Vec3, key: Option<&Key>| Knot {
                at,
                value,
                ease: key.map(|k| k.ease).unwrap_or_default(),
                hold: key.is_some_and(|k| k.hold),
            };
            let mut knots: Vec<Knot> = motion.key.iter().filter_map(|k| Some(knot(k.at, pick(k)?, Some(k)))).collect();
            if knots.is_empty() {
                return Curve::default();
            }
            let keyed = |t: f32| knots.iter().any(|k| k.at == t);
            let (first, last) = (!keyed(0.0), motion.returns && !keyed(motion.seconds));
            knots.extend(first.then(|| knot(0.0, Vec3::ZERO, None)));
            knots.extend(last.then(|| knot(motion.seconds, Vec3::ZERO, None)));
            Curve::through(knots)
        };
        let from = Posture::of(stance, skeleton);
        let mut body = Body {
            to: Posture::of(end, skeleton),
            change: motion.change.unwrap_or([0.0, motion.seconds]),
            balance: motion.balance,
            early: Leads::of(motion),
            drag: motion.drag,
            trail: motion.trail,
            glide: motion.glide,
            life: motion.life,
            seconds: motion.seconds,
            shift: curve(&|k| k.shift.map(Vec3::from_array)),
            hips: curve(&|k| k.hips.as_ref().map(attitude)),
            chest: curve(&|k| k.chest.as_ref().map(attitude)),
            head: curve(&|k| k.head.as_ref().map(attitude)),
            flights: Flights::of(&motion.flight),
            ..Body::still(stance, from, skeleton)
        };
        body.weight = curve(&|k| k.weight.map(|w| Vec3::new(w - body.posture(k.at).weight, 0.0, 0.0)));
        for (leg, foot) in body.legs.iter_mut().zip([Foot::Left, Foot::Right]) {
            let pick = |k: &Key| if foot == Foot::Left { k.left_heel } else { k.right_heel };
            leg.heel = curve(&|k| pick(k).map(|h| Vec3::new(radians(h), 0.0, 0.0)));
            let pick = |k: &Key| if foot == Foot::Left { k.left_twist } else { k.right_twist };
            leg.twist = curve(&|k| pick(k).map(|h| Vec3::new(radians(h), 0.0, 0.0)));
            let end_place = if foot == Foot::Left { end.left_foot } else { end.right_foot };
            let changes = motion.change.map_or(f32::INFINITY, |c| c[0]);
            for step in motion.step.iter().filter(|s| s.foot == foot) {
                let place = if step.from >= changes { end_place } else { leg.place };
                let mut to = Planar { turn: radians(step.turn), shift: Vec2::from_array(step.by) };
                if let Some(about) = step.about {
                    let pivot = if about == Foot::Left { stance.left_foot } else { stance.right_foot };
                    to.shift += turned_about(Vec2::from_array(pivot.at), to.turn);
                }
                leg.steps.push(Swing { leave: step.from, land: step.to, to, place, lift: step.lift, peak: step.peak });
            }
            leg.steps.sort_by(|a, b| a.leave.total_cmp(&b.leave));
            let (knee, point) = (
                |k: &Key| if foot == Foot::Left { k.left_knee } else { k.right_knee },
                |k: &Key| if foot == Foot::Left { k.left_point } else { k.right_point },
            );
            leg.turned = curve(&|k| {
                let named = knee(k).is_some() || point(k).is_some();
                named.then(|| Vec3::new(radians(knee(k).unwrap_or(0.0)), radians(point(k).unwrap_or(0.0)), 0.0))
            });
        }
        body.send_feet(motion);
        // Hands live in the chest's frame, so that they go with it; places in the stance's frame are brought there through
        // the chest as it will be at that key.
        // Hands that move also move the balance, and with it the chest, a little: three rounds find both, one more after a small change.
        let send_hands = |body: &mut Body<'_>, rounds: usize| {
            for (_, side) in (0..rounds).flat_map(|round| [(round, Foot::Left), (round, Foot::Right)]) {
                let at = side as usize;
                let hand = |k: &Key| if side == Foot::Left { k.left_hand } else { k.right_hand };
                let (fist, elbow) = (
                    |k: &Key| if side == Foot::Left { k.left_fist } else { k.right_fist },
                    |k: &Key| if side == Foot::Left { k.left_elbow } else { k.right_elbow },
                );
                let turned = curve(&|k| {
                    (fist(k).is_some() || elbow(k).is_some()).then(|| {
                        let fist = fist(k).unwrap_or_default();
                        Vec3::new(radians(elbow(k).unwrap_or(0.0)), radians(fist.roll), radians(fist.bend))
                    })
                });
                let shoulder = curve(&|k| {
                    let own = if side == Foot::Left { k.left_shoulder } else { k.right_shoulder };
                    own.map(|s| Vec3::new(radians(s.forward), radians(s.up), 0.0))
                });
                let moved = curve(&|k| {
                    Some(match hand(k)? {
                        Place::By(offset) => rotation(body.posture(k.at).chest).conjugate() * Vec3::from_array(offset),
                        Place::To(place) => {
                            let frame = body.stance_at(k.at);
                            let target = frame.point(Vec3::from_array(place));
                            body.chest_frame(k.at).inverse(target) - body.posture(k.at).hands[at]
                        }
                    })
                });
                body.arms[at] = Arm { moved, turned, shoulder };
            }
        };
        send_hands(&mut body, 3);
        let frames = libm::roundf(motion.seconds * FPS) as usize + 1;
        let mut standing = body.soften(frames);
        if let Some(bounds) = settled_within(motion) {
            for _ in 0..SETTLE_ROUNDS {
                let moved = body.settle(&standing, &bounds, motion.settle);
                if moved < SETTLED {
                    break;
                }
                send_hands(&mut body, 1);
                standing = body.soften(frames);
                if moved < SLIGHT {
                    break;
                }
            }
        }
        let centre = |t: f32| {
            let (mut pose, mut world) = (Pose::rest(body.skeleton), WorldPose::default());
            let _ = body.trunk(t, &mut pose, &mut world);
            mass::centre(body.skeleton, &body.roles, &world).y
        };
        let flights = Flights::of(&motion.flight).measured(centre);
        Body { flights, ..body }
    }

    /// The ways of feet that keys send through the air: from the step's own way and back to it.
    fn send_feet(&mut self, motion: &MotionFile) {
        for (leg, foot) in [Foot::Left, Foot::Right].into_iter().enumerate() {
            let place = |k: &Key| if foot == Foot::Left { k.left_foot } else { k.right_foot };
            let mut knots = Vec::new();
            for swing in &self.legs[leg].steps {
                let within = |k: &&Key| swing.leave <= k.at && k.at <= swing.land && place(k).is_some();
                let keys: Vec<&Key> = motion.key.iter().filter(within).collect();
                if keys.is_empty() {
                    continue;
                }
                let rest = |at: f32| Knot { at, value: Vec3::ZERO, ease: Default::default(), hold: true };
                knots.extend([rest(swing.leave), rest(swing.land)]);
                knots.extend(keys.into_iter().filter_map(|k| {
                    let value = match place(k)? {
                        Place::By(by) => Vec3::from_array(by),
                        Place::To(to) => {
                            let stance = self.stance_at(k.at);
                            let (leg, own) = (&self.legs[leg], self.legs[leg].stance_at(k.at).0);
                            yaw(-own.turn) * (stance.point(Vec3::from_array(to)) - leg.ankle_at(&leg.at(k.at)))
                        }
                    };
                    Some(Knot { at: k.at, value, ease: k.ease, hold: k.hold })
                }));
            }
            self.legs[leg].air = Curve::through(knots);
        }
    }

    /// Where a foot is at a moment, in flight too.
    fn foot_at(&self, leg: usize, t: f32) -> FootAt {
        let mut foot = self.legs[leg].at(t);
        if !foot.planted {
            foot.raised.y += self.flights.height(t);
        }
        foot
    }

    /// Where the pelvis must give way, it begins to before it must: the greatest need around each frame, evened out.
    /// Returns where the centre of mass then is, frame by frame, and the soles under it.
    fn soften(&mut self, frames: usize) -> (Vec<Vec3>, Vec<Vec<Vec2>>) {
        self.sinks.clear();
        let (mut pose, mut world) = (Pose::rest(self.skeleton), WorldPose::default());
        let (mut centres, mut soles) = (Vec::with_capacity(frames), Vec::with_capacity(frames));
        let needs: Vec<f32> = (0..frames)
            .map(|frame| {
                let feet = self.stand(frame as f32 / FPS, &mut pose, &mut world);
                let contacts = feet[0].contacts(Foot::Left).with(feet[1].contacts(Foot::Right));
                centres.push(mass::centre(self.skeleton, &self.roles, &world));
                soles.push(settle::soles(self.skeleton, &self.roles, &world, contacts));
                self.sink_needed(&feet, LEG_SOFT, &pose, &world)
            })
            .collect();
        let around = |list: &[f32], reach: usize, of: &dyn Fn(&[f32]) -> f32| -> Vec<f32> {
            (0..list.len()).map(|i| of(&list[i.saturating_sub(reach)..(i + reach + 1).min(list.len())])).collect()
        };
        let mean = |part: &[f32]| part.iter().sum::<f32>() / part.len() as f32;
        let most = around(&needs, SOFT_FRAMES, &|part| part.iter().copied().fold(0.0, f32::max));
        let mut sinks = around(&around(&most, SOFT_FRAMES / 2, &mean), SOFT_FRAMES / 2, &mean);
        // A motion begins and ends in its stance, independent of its neighbours.
        for (i, sink) in sinks.iter_mut().enumerate() {
            let from_end = |end: usize| ease(i.abs_diff(end) as f32 / (2 * SOFT_FRAMES) as f32);
            for end in [0, frames - 1] {
                *sink = needs[end] + (*sink - needs[end]) * from_end(end);
            }
        }
        for (centre, sink) in centres.iter_mut().zip(&sinks) {
            centre.y -= sink;
        }
        self.sinks = sinks;
        (centres, soles)
    }

    /// Moves the centre of mass as soles can push it, from where keys, balance and legs have brought it so far.
    /// Returns by how much that is farther than before, at most.
    fn settle(&mut self, (centres, soles): &(Vec<Vec3>, Vec<Vec<Vec2>>), bounds: &settle::Bounds, share: f32) -> f32 {
        self.settled.resize(centres.len(), Vec3::ZERO);
        // From where it would be unsettled, so that rounds do not add up.
        let keyed: Vec<Vec3> = centres.iter().zip(&self.settled).map(|(c, settled)| *c - *settled).collect();
        let path = settle::path(&keyed, soles, FPS, bounds);
        let mut farther = 0.0f32;
        for ((settled, to), from) in self.settled.iter_mut().zip(&path).zip(&keyed) {
            let moved = (*to - *from) * share;
            farther = farther.max((moved - *settled).length());
            *settled = moved;
        }
        farther
    }

    fn settled_at(&self, t: f32) -> Vec3 {
        let Some(last) = self.settled.len().checked_sub(1) else { return Vec3::ZERO };
        let at = (t * FPS).clamp(0.0, last as f32);
        let first = at as usize;
        self.settled[first].lerp(self.settled[(first + 1).min(last)], at - first as f32)
    }

    fn sink_at(&self, t: f32) -> f32 {
        self.sinks.get(libm::roundf(t * FPS).max(0.0) as usize).copied().unwrap_or(0.0)
    }

    /// The stance's numbers at a moment.
    fn posture(&self, t: f32) -> Posture {
        let [from, to] = self.change;
        self.from.lerp(&self.to, ease(((t - from) / (to - from)).clamp(0.0, 1.0)))
    }

    /// Where the stance has got to: half-way between where each foot's step has brought it.
    fn stance_at(&self, t: f32) -> Planar {
        let [a, b] = [0, 1].map(|i| self.legs[i].stance_at(t).0);
        Planar { turn: a.turn + 0.5 * wrap(b.turn - a.turn), shift: (a.shift + b.shift) * 0.5 }
    }

    /// The trunk's frame: the stance's, evened out over the glide. Over one step of a steady walk that gives a steady speed.
    fn frame_at(&self, t: f32) -> Planar {
        const PARTS: i32 = 24;
        if self.glide <= 0.0 {
            return self.stance_at(t);
        }
        let mut sum = Planar::IDENTITY;
        for part in 0..PARTS {
            let at = t + self.glide * ((part as f32 + 0.5) / PARTS as f32 - 0.5);
            let frame = self.stance_at(at);
            sum.turn += frame.turn / PARTS as f32;
            sum.shift += frame.shift / PARTS as f32;
        }
        sum
    }

    /// What the hands ride on, at a moment.
    fn chest_frame(&self, t: f32) -> Frame {
        let (mut pose, mut world) = (Pose::rest(self.skeleton), WorldPose::default());
        let _ = self.trunk(t, &mut pose, &mut world);
        self.carrier(t, &world)
    }

    /// The chest as the hands feel it: they trail behind its turns and its starts, and swing on when it has stopped.
    fn carrier(&self, t: f32, world: &WorldPose) -> Frame {
        let place = world.position(Role::Back.joint()) + self.trailing(t);
        Frame { place, rotation: self.chest_turn(self.early(t, -self.drag)) }
    }

    /// How far what hangs on the trunk trails behind its travel. As of a weight on a spring that is in proportion to the
    /// acceleration, here a moment ago: behind after a start, ahead after a stop, nothing in a steady walk.
    fn trailing(&self, t: f32) -> Vec3 {
        if self.trail == 0.0 {
            return Vec3::ZERO;
        }
        let place = |late: f32| {
            let at = self.early(t, self.early.weight - late);
            let (frame, shift) = (self.frame_at(at), self.shift.at(at));
            Vec3::new(frame.shift.x, 0.0, frame.shift.y) + yaw(frame.turn) * shift
        };
        (place(self.trail) * 2.0 - place(0.0) - place(2.0 * self.trail)) * SPRING
    }

    /// Attitude of the chest in the world.
    fn chest_turn(&self, t: f32) -> Quat {
        let (hips_time, chest_time) = (self.early(t, self.early.hips), self.early(t, self.early.chest));
        let breath = self.alive(t, 0.27, 0.0);
        let life = Vec3::new(self.alive(t, 0.13, 0.3) * 0.012, -breath * 0.010, self.alive(t, 0.09, 2.0) * 0.006);
        let turned =
            yaw(self.frame_at(hips_time).turn) * rotation(self.posture(t).chest + self.chest.at(chest_time) + life);
        if self.settled.is_empty() {
            return turned;
        }
        settle::lean_against(self.settled_at(t), self.trunk_length()) * turned
    }

    /// From waist to neck.
    fn trunk_length(&self) -> f32 {
        [Role::Back, Role::Neck].map(|r| self.skeleton.offset(r.joint()).y).iter().sum()
    }

    /// Breath and sway: slow sines of whole periods, so that idles loop, from the stance to the stance.
    fn alive(&self, t: f32, slow: f32, phase: f32) -> f32 {
        if self.life == 0.0 {
            return 0.0;
        }
        let cycles = libm::roundf(self.seconds * slow).max(1.0);
        let turn = std::f32::consts::TAU * cycles * t / self.seconds;
        self.life * (libm::sinf(turn + phase) - libm::sinf(phase))
    }

    /// The whole body, balanced, whether or not its legs reach the floor.
    fn stand(&self, t: f32, pose: &mut Pose, world: &mut WorldPose) -> [FootAt; 2] {
        // A pose depends on its moment only, not on the one before.
        pose.rotations.fill(Quat::IDENTITY);
        let stance = self.posture(t);
        let (weight_time, hips_time) = (self.early(t, self.early.weight), self.early(t, self.early.hips));
        let (neck_time, head_time) = (self.early(t, self.early.neck), self.early(t, self.early.head));
        let frame = self.frame_at(weight_time);
        let turned = |time: f32| yaw(if time == weight_time { frame.turn } else { self.frame_at(time).turn });
        let turn = turned(hips_time);
        let sway =
            Vec3::new(self.alive(t, 0.11, 1.0), self.alive(t, 0.27, 0.6) * 0.5, self.alive(t, 0.17, 2.0)) * 0.006;
        let pelvis = turn * rotation(stance.hips + self.hips.at(hips_time));
        let chest = self.chest_turn(t);
        let head_life = Vec3::new(self.alive(t, 0.15, 4.0) * 0.015, self.alive(t, 0.21, 1.5) * 0.008, 0.0);
        let trailing = turn.conjugate() * self.trailing(t) / NOD_LEVER;
        let head_trail = Vec3::new(0.0, trailing.z, trailing.x);
        // Eyes that do not look ahead of a turn go with the hips.
        let looks = |time: f32, lead: f32| {
            let turn = if lead == 0.0 { turn } else { turned(time) };
            turn * rotation(stance.head + self.head.at(time) + head_life + head_trail)
        };
        let head = looks(head_time, self.early.head);
        pose.rotations[Role::Pelvis.joint().at()] = pelvis;
        let spine = pelvis.conjugate() * chest;
        let half = slerp(Quat::IDENTITY, spine, 0.45);
        pose.rotations[Role::Waist.joint().at()] = half;
        pose.rotations[Role::Back.joint().at()] = half.conjugate() * spine;
        let nod = chest.conjugate() * head;
        let bent = if self.early.neck == self.early.head {
            nod
        } else {
            chest.conjugate() * looks(neck_time, self.early.neck)
        };
        let neck = slerp(Quat::IDENTITY, bent, 0.5);
        pose.rotations[Role::Neck.joint().at()] = neck;
        pose.rotations[Role::Head.joint().at()] = neck.conjugate() * nod;

        let shift = stance.shift + self.shift.at(weight_time) + sway;
        let settled = self.settled_at(t);
        let height = stance.pelvis_height + shift.y + self.flights.rise(t) - self.sink_at(t) + settled.y;
        let feet = [0, 1].map(|i| self.foot_at(i, t));
        let homes = [0, 1].map(|i| self.legs[i].home(&frame, self.legs[i].stance_at(t).1));
        let share = stance.weight + self.weight.at(weight_time).x;
        // The weight rests in front of the ankle; on a foot that stands on its ball, nearer to the ball.
        let middle = |i: usize, foot: &FootAt| {
            let raised = (homes[i].pitch / BALL_PITCH).clamp(0.0, 1.0);
            foot.ball - foot.ahead() * (0.62 - 0.34 * raised) * self.legs[i].bone.z
        };
        // While gliding the weight is shared between where the feet belong, not where they happen to be.
        let under = [0, 1].map(|i| middle(i, if self.glide > 0.0 { &homes[i] } else { &feet[i] }));
        let placed = under[1].lerp(under[0], share) + yaw(frame.turn) * Vec3::new(shift.x, 0.0, shift.z);
        let wanted = placed + Vec3::new(settled.x, 0.0, settled.z);
        pose.set_root(Vec3::new(wanted.x, height, wanted.z));
        fk::pose(self.skeleton, pose, world);
        for side in [0, 1] {
            self.place_arm(side, t, pose, world);
        }
        // Three rounds leave less than a millimetre: legs follow the pelvis and shift the mass a little.
        for _ in 0..3 {
            self.place_legs(t, &feet, pose, world);
            let centre = mass::centre(self.skeleton, &self.roles, world);
            let off = (Vec3::new(wanted.x - centre.x, 0.0, wanted.z - centre.z)) * self.balance * stance.balance;
            let root = pose.root() + off;
            // In the air it is the centre of mass that falls freely, whatever the legs do.
            let fall = self.flights.centre(t).map_or(height, |y| root.y + y - centre.y);
            pose.set_root(Vec3::new(root.x, fall, root.z));
        }
        feet
    }

    /// As [`Body::stand`], with the soles on the floor. Returns what is planted.
    fn trunk(&self, t: f32, pose: &mut Pose, world: &mut WorldPose) -> Contacts {
        let feet = self.stand(t, pose, world);
        let root = pose.root() - Vec3::Y * self.sink_needed(&feet, LEG_REACH, pose, world);
        pose.set_root(root);
        self.place_legs(t, &feet, pose, world);
        feet[0].contacts(Foot::Left).with(feet[1].contacts(Foot::Right))
    }

    /// How far the pelvis must be lowered to bring both ankles within a share of the legs' length.
    fn sink_needed(&self, feet: &[FootAt; 2], share: f32, pose: &Pose, world: &WorldPose) -> f32 {
        let mut sink = 0.0f32;
        for (leg, foot) in self.legs.iter().zip(feet) {
            let Some(limb) = ik::Limb::of(self.skeleton, leg.ankle) else { continue };
            let Some(hip) = leg.ankle.parent().and_then(Role::parent) else { continue };
            let hip = world.position(hip.joint()) - world.position(Role::Pelvis.joint()) + pose.root();
            let ankle = leg.ankle_at(foot);
            let flat = Vec2::new(hip.x - ankle.x, hip.z - ankle.z).length_squared();
            let longest = share * limb.length_at(0.0);
            let short = hip.y - ankle.y - (longest * longest - flat).max(0.0).sqrt();
            // A foot in the air stops short instead.
            sink = sink.max(short * (1.0 - foot.hangs()));
        }
        sink
    }

    fn place_legs(&self, t: f32, feet: &[FootAt; 2], pose: &mut Pose, world: &mut WorldPose) {
        fk::pose(self.skeleton, pose, world);
        let pelvis = world.rotation(Role::Pelvis.joint()) * Vec3::Z;
        for (leg, foot) in self.legs.iter().zip(feet) {
            // Knees point between the toes and the hips, nearer the toes.
            let mut pole = foot.ahead() * 0.75 + Vec3::new(pelvis.x, 0.0, pelvis.z) * 0.25;
            let Some(knee) = leg.ankle.parent() else { continue };
            let Some(hip) = knee.parent() else { continue };
            let (target, hangs) = (leg.ankle_at(foot), foot.hangs());
            let out = if leg.ankle == Role::LeftAnkle { 1.0 } else { -1.0 };
            // A thigh that is lifted takes the knee's front along, and so does one that lies.
            let thigh = (target - world.position(hip.joint())).normalize_or(Vec3::NEG_Y);
            let carried = hangs.max(ease(((LEVEL + thigh.y) / LEVEL).clamp(0.0, 1.0)));
            if carried > 0.0 {
                pole = pole.lerp(arc(Vec3::NEG_Y, thigh) * pole, carried);
            }
            let turned = leg.turned.at(t);
            ik::place(self.skeleton, pose, world, leg.ankle, target, pole, -out * turned.x);
            let attitude = yaw(foot.turn) * about(Vec3::X, foot.pitch);
            let held = world.rotation(knee.joint()).conjugate() * attitude;
            pose.rotations[leg.ankle.joint().at()] =
                if hangs > 0.0 { slerp(held, about(Vec3::X, turned.y), hangs) } else { held };
            // Toes stay on the floor while the heel rises.
            let flat = 1.0 - 0.7 * ease(foot.lift / 0.06);
            pose.rotations[leg.toe.joint().at()] = about(Vec3::X, -foot.pitch.max(0.0) * flat);
        }
        fk::pose(self.skeleton, pose, world);
    }

    fn early(&self, t: f32, lead: f32) -> f32 {
        // Ahead in the middle, but not at the ends: the motion starts and stops as one.
        let room = 0.40f32.min(0.35 * self.seconds);
        let fade = (t / room).min((self.seconds - t) / room).clamp(0.0, 1.0);
        t + lead * ease(fade)
    }

    fn pose(&self, t: f32, pose: &mut Pose) -> Contacts {
        self.trunk(t, pose, &mut WorldPose::default())
    }

    fn place_arm(&self, side: usize, t: f32, pose: &mut Pose, world: &mut WorldPose) {
        let (arm, wrist, stance) = (&self.arms[side], WRISTS[side], self.posture(t));
        let out = if wrist == Role::LeftWrist { 1.0 } else { -1.0 };
        let (Some(elbow), Some(limb)) = (wrist.parent(), ik::Limb::of(self.skeleton, wrist)) else { return };
        let (Some(shoulder), Some(clavicle)) = (elbow.parent(), elbow.parent().and_then(Role::parent)) else { return };
        let chest = Frame { place: world.position(Role::Back.joint()), rotation: world.rotation(Role::Back.joint()) };
        let bob =
            Vec3::new(self.alive(t, 0.19, out) * 0.5, self.alive(t, 0.27, 0.8), self.alive(t, 0.23, 2.0 * out)) * 0.006;
        let target = self.carrier(t, world).point(stance.hands[side] + arm.moved.at(t) + bob);
        // The shoulder goes along with a far reach: nothing below 70 % of the arm, its whole range at full stretch.
        let line = target - world.position(shoulder.joint());
        let longest = limb.length_at(0.0);
        let stretch = ((line.length() / longest - 0.70) / 0.35).clamp(0.0, 1.0);
        let along = self.skeleton.offset(shoulder.joint()).normalize_or(Vec3::X);
        let to = (chest.rotation.conjugate() * line).normalize_or(along);
        let share = 0.26 * ease(stretch);
        let own = arm.shoulder.at(t);
        let reaching = slerp(Quat::IDENTITY, arc(along, to), share);
        pose.rotations[clavicle.joint().at()] = if own == Vec3::ZERO {
            reaching
        } else {
            about(Vec3::Y, -out * own.x) * about(Vec3::Z, out * own.y) * reaching
        };
        fk::pose(self.skeleton, pose, world);
        let from = world.position(shoulder.joint());
        let target = from + soft_reach(target - from, longest);
        // The elbow goes before the fist.
        let mut turned = stance.turns[side] + arm.turned.at(t);
        turned.x += arm.turned.at(self.early(t, self.early.elbows)).x - arm.turned.at(t).x;
        let pole = chest.rotation * Vec3::new(out * ELBOW.x, ELBOW.y, ELBOW.z);
        ik::place(self.skeleton, pose, world, wrist, target, pole, out * turned.x);
        pose.rotations[wrist.joint().at()] = about(Vec3::X, turned.y) * about(Vec3::Z, -out * turned.z);
        fk::pose(self.skeleton, pose, world);
    }
}

/// What bodies do at most in a motion that is to be settled; `None` if it is not.
fn settled_within(motion: &MotionFile) -> Option<settle::Bounds> {
    let kinds = motion.span.iter().filter_map(|span| SpanKind::from_name(&span.kind));
    if motion.settle > 0.0 { settle::Bounds::of_kinds(kinds) } else { None }
}

/// A reach that never quite straightens the arm.
fn soft_reach(line: Vec3, longest: f32) -> Vec3 {
    let (asked, soft) = (line.length(), ARM_SOFT * longest);
    if asked <= soft {
        return line;
    }
    let room = ARM_REACH * longest - soft;
    line * ((soft + room * (1.0 - libm::expf((soft - asked) / room))) / asked)
}

/// How far the origin of a stance moves when the stance turns about one of its points.
fn turned_about(point: Vec2, turn: f32) -> Vec2 {
    let gone = yaw(turn) * Vec3::new(point.x, 0.0, point.y);
    point - Vec2::new(gone.x, gone.z)
}

/// Height of the ankle joint above the sole.
fn standing_height(skeleton: &Skeleton) -> f32 {
    [Role::Pelvis, Role::LeftHip, Role::LeftKnee, Role::LeftAnkle].iter().map(|r| skeleton.offset(r.joint()).y).sum()
}

struct Frame {
    place: Vec3,
    rotation: Quat,
}

impl Frame {
    fn point(&self, local: Vec3) -> Vec3 {
        self.place + self.rotation * local
    }

    fn inverse(&self, world: Vec3) -> Vec3 {
        self.rotation.conjugate() * (world - self.place)
    }
}
