//! What is in a picture: figures and props, and where they are at one moment. Does not arrange moments on a page.

use std::borrow::Cow;

use kumite_motion::{Clip, Contacts, FrameIdx, Pose, Quat, Role, Roles, Vec3, WorldPose, fk};

use crate::body::{Body, Group, facing};
use crate::page::{Footprint, Solid, Trail};
use crate::shape::Shape;
use crate::theme::{Colours, Rgb};

/// A moving character.
#[derive(Clone, Debug)]
pub struct Figure<'a> {
    /// The motion.
    pub clip: &'a Clip,
    /// Roles of its joints; without them it is drawn as bones.
    pub roles: Option<Roles>,
    /// Its shapes; built from clip and roles if `None` or if made for another skeleton.
    pub body: Option<Cow<'a, Body>>,
    /// Colours of its parts.
    pub colours: Colours,
    /// Picture time at which the clip begins, seconds.
    pub starts_at: f32,
}

impl<'a> Figure<'a> {
    /// A figure in the first colours, with roles if its joints have canonical names.
    pub fn new(clip: &'a Clip) -> Figure<'a> {
        let roles = Roles::by_canonical_names(clip.skeleton());
        let roles = roles.is_complete().then_some(roles);
        Figure { clip, roles, body: None, colours: Colours::FIRST, starts_at: 0.0 }
    }

    /// A figure with the given roles.
    pub fn with_roles(clip: &'a Clip, roles: Roles) -> Figure<'a> {
        Figure { roles: Some(roles), ..Figure::new(clip) }
    }

    /// This figure in other colours.
    #[must_use]
    pub fn coloured(self, colours: Colours) -> Figure<'a> {
        Figure { colours, ..self }
    }
}

/// Something that is not a body: a thrown ball, a wall, a pole.
#[derive(Clone, Debug, PartialEq)]
pub struct Prop {
    /// Its shape, relative to its path.
    pub shape: Shape,
    /// Seconds and positions, in order of time; it moves in straight lines between them. If empty, it stays in place.
    pub path: Vec<(f32, Vec3)>,
    /// `None` takes the theme's colour.
    pub colour: Option<Rgb>,
    /// Whether the picture is made large enough to show it.
    pub fit: bool,
    /// Length of the trail drawn behind it, seconds; 0 for none.
    pub trail: f32,
    /// When it is there, seconds; `None` for always.
    pub shown: Option<(f32, f32)>,
}

/// A ball that has come to rest is taken away after this time, seconds.
const TAKEN_AWAY: f32 = 0.5;

impl Prop {
    /// A prop that does not move.
    pub fn still(shape: Shape) -> Prop {
        Prop { shape, path: Vec::new(), colour: None, fit: true, trail: 0.0, shown: None }
    }

    /// A flying ball with a trail, there from its throw until a little after its way ends. The picture is not made larger to show it.
    pub fn flying(radius: f32, path: Vec<(f32, Vec3)>) -> Prop {
        let shown = path.first().zip(path.last()).map(|(a, b)| (a.0, b.0 + TAKEN_AWAY));
        Prop { shape: Shape::ball(Vec3::ZERO, radius), path, colour: None, fit: false, trail: 0.3, shown }
    }

    /// Whether it is there.
    pub fn is_shown(&self, time: f32) -> bool {
        self.shown.is_none_or(|(from, to)| (from - 1e-3..=to + 1e-3).contains(&time))
    }

    /// Its displacement at a time; it waits at the ends of its path.
    pub fn place(&self, time: f32) -> Vec3 {
        let next = self.path.partition_point(|(t, _)| *t <= time);
        match (next.checked_sub(1).and_then(|i| self.path.get(i)), self.path.get(next)) {
            (Some((t0, p0)), Some((t1, p1))) => p0.lerp(*p1, (time - t0) / (t1 - t0).max(1e-9)),
            (Some((_, p)), None) | (None, Some((_, p))) => *p,
            (None, None) => Vec3::ZERO,
        }
    }
}

/// A figure with its body built.
pub(crate) struct PreparedFigure<'a> {
    pub figure: &'a Figure<'a>,
    pub body: Cow<'a, Body>,
}

impl<'a> PreparedFigure<'a> {
    pub(crate) fn new(figure: &'a Figure<'a>) -> PreparedFigure<'a> {
        let joints = figure.clip.skeleton().len();
        let fits = |body: &Body| body.parts.iter().all(|p| p.a.at() < joints && p.b.at() < joints);
        let body = match &figure.body {
            Some(body) if fits(body) => Cow::Borrowed(&**body),
            _ => Cow::Owned(Body::of_clip(figure.clip, figure.roles.as_ref())),
        };
        PreparedFigure { figure, body }
    }

    fn clip(&self) -> &'a Clip {
        self.figure.clip
    }

    /// Frame of the clip nearest to a picture time.
    pub(crate) fn frame(&self, time: f32) -> usize {
        let frame = ((time - self.figure.starts_at) * self.clip().fps()).round();
        (frame.max(0.0) as usize).min(self.clip().frames() - 1)
    }

    /// World pose at a picture time, interpolated between frames.
    pub(crate) fn world(&self, time: f32) -> WorldPose {
        let clip = self.clip();
        let at = ((time - self.figure.starts_at) * clip.fps()).clamp(0.0, (clip.frames() - 1) as f32);
        let (frame, rest) = (at.floor(), at - at.floor());
        let mut pose = Pose::default();
        clip.pose(FrameIdx(frame as u32), &mut pose);
        if rest > 1e-3 {
            let mut next = Pose::default();
            clip.pose(FrameIdx(frame as u32 + 1), &mut next);
            for (q, n) in pose.rotations.iter_mut().zip(&next.rotations) {
                let mixed = Quat::from_vec4(glam::Vec4::from(*q).lerp(glam::Vec4::from(*n), rest));
                *q = if mixed.length_squared() > 1e-6 { mixed.normalize() } else { *q };
            }
            for (t, n) in pose.translations.iter_mut().zip(&next.translations) {
                *t = t.lerp(*n, rest);
            }
        }
        let mut world = WorldPose::default();
        fk::pose(clip.skeleton(), &pose, &mut world);
        world
    }

    pub(crate) fn world_at_frame(&self, frame: usize) -> WorldPose {
        let (mut pose, mut world) = (Pose::default(), WorldPose::default());
        self.clip().pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(self.clip().skeleton(), &pose, &mut world);
        world
    }

    /// Where it looks, level: a fighter's belly points past the opponent. Where the trunk points if the head is thrown back or cannot be told.
    pub(crate) fn facing(&self, time: f32) -> Vec3 {
        let (world, roles) = (self.world(time), self.figure.roles.as_ref());
        let trunk = facing(&world, roles);
        let gaze = roles.and_then(|r| r.get(Role::Head)).and_then(|head| {
            let (skeleton, mut rest) = (self.clip().skeleton(), WorldPose::default());
            fk::pose(skeleton, &Pose::rest(skeleton), &mut rest);
            let ahead = rest.rotations.get(head.at())?.inverse() * facing(&rest, roles);
            let gaze = *world.rotations.get(head.at())? * ahead;
            Some(Vec3::new(gaze.x, 0.0, gaze.z)).filter(|gaze| gaze.length() > 0.5)
        });
        // Nobody looks further over the shoulder than this, 70 degrees: the rest pose is no guide then.
        gaze.map(|gaze| gaze.normalize_or(trunk)).filter(|gaze| gaze.dot(trunk) > 0.34).unwrap_or(trunk)
    }

    /// The body's shapes, its colours `fade` of the way to `paper`.
    pub(crate) fn solids(&self, world: &WorldPose, instance: u32, fade: f32, paper: Rgb) -> Vec<Solid> {
        self.body
            .placed(world)
            .map(|(cone, group)| Solid {
                shape: Shape::Cone(cone),
                colour: self.figure.colours.of(group).mix(paper, fade),
                run: instance * Group::ALL.len() as u32 + group as u32,
                melt: match group {
                    Group::Torso => 0.8,
                    Group::Head => 0.6,
                    Group::LeftFoot | Group::RightFoot => 0.5,
                    // Larger values would swell the joints of a straight limb.
                    _ => 0.2,
                },
            })
            .collect()
    }

    /// Footprints of the feet planted at a picture time.
    pub(crate) fn footprints(&self, time: f32, world: &WorldPose, floor: f32) -> Vec<Footprint> {
        let Some(contacts) = self.clip().contacts.get(self.frame(time)).copied() else { return Vec::new() };
        let feet = [
            (Group::LeftFoot, Contacts::LEFT_HEEL, Contacts::LEFT_TOE),
            (Group::RightFoot, Contacts::RIGHT_HEEL, Contacts::RIGHT_TOE),
        ];
        let mut footprints = Vec::new();
        for (group, heel, toe) in feet {
            // `Body` orders a foot's parts so: ankle to heel, heel to ball.
            let mut parts = self.body.parts.iter().filter(|p| p.group == group).take(2);
            for (part, contact) in [(parts.next(), heel), (parts.next(), toe)] {
                let Some(part) = part else { continue };
                if contacts.has(contact) {
                    let mut at = world.point(part.b, part.at_b);
                    at.y = floor;
                    let colour = self.figure.colours.of(group);
                    footprints.push(Footprint { at, radius: 2.2 * part.radius_b, colour });
                }
            }
        }
        footprints
    }

    /// Trail of the outermost part of a group over the `seconds` before a picture time.
    pub(crate) fn trail(&self, group: Group, time: f32, seconds: f32) -> Option<Trail> {
        let part = self.body.parts.iter().rfind(|p| p.group == group)?;
        let fps = self.clip().fps();
        let last = self.frame(time);
        let first = last.saturating_sub((seconds * fps).round() as usize);
        // Points every 1/60 s make a smooth line; dots every 1/30 s still stand apart.
        let step = ((fps / 60.0).round() as usize).max(1);
        let dot_every = ((fps / 30.0).round() as usize / step).max(1);
        let mut points: Vec<Vec3> = (first..=last)
            .rev()
            .step_by(step)
            .map(|frame| self.world_at_frame(frame).point(part.b, part.at_b))
            .collect();
        points.reverse();
        let colour = self.figure.colours.of(group);
        (points.len() > 1).then_some(Trail { points, colour, dot_every })
    }
}
