//! Shapes of hands: what a motion does with them, and fingers of rigs that show it.
//!
//! The canonical body has no fingers, and few captures do, so a shape is told from what is played and where the hand is: the hand that
//! strikes is a fist, a raised one guards, one that hangs is open.

use crate::rotation::about;
use crate::{Clip, FrameIdx, JointIdx, Pose, Quat, Role, Roles, Skeleton, Span, SpanKind, Vec3, WorldPose, fk};

/// How a hand is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum HandShape {
    /// Fingers hang a little bent, as in walking.
    #[default]
    Open,
    /// A loose fist, as in a guard.
    Guard,
    /// A fist that hits.
    Fist,
}

impl HandShape {
    /// Every shape.
    pub const ALL: [HandShape; 3] = [HandShape::Open, HandShape::Guard, HandShape::Fist];

    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            HandShape::Open => "open",
            HandShape::Guard => "guard",
            HandShape::Fist => "fist",
        }
    }

    /// How far fingers are closed, 0 to 1.
    fn closed(self) -> f32 {
        match self {
            HandShape::Open => 0.12,
            HandShape::Guard => 0.72,
            HandShape::Fist => 1.0,
        }
    }
}

/// Both hands, left first.
pub type Hands = [HandShape; 2];

const WRISTS: [(Role, Role); 2] = [(Role::LeftWrist, Role::LeftShoulder), (Role::RightWrist, Role::RightShoulder)];

/// A hand that is higher than this share of the way from the pelvis to the shoulder is raised.
const RAISED: f32 = 0.45;

/// The shapes of both hands while a span is played, where a body is as it is.
pub fn shapes(span: Option<&Span>, at: impl Fn(Role) -> Option<Vec3>) -> Hands {
    WRISTS.map(|(wrist, shoulder)| {
        let kind = span.map(|span| span.kind);
        let strikes = span.is_some_and(|span| {
            let part = span.part.into_iter().chain(span.strikes.iter().map(|strike| strike.part));
            span.kind == SpanKind::Attack && part.into_iter().any(|part| part == wrist)
        });
        let raised = match (at(wrist), at(shoulder), at(Role::Pelvis)) {
            (Some(hand), Some(shoulder), Some(pelvis)) => hand.y > pelvis.y + RAISED * (shoulder.y - pelvis.y),
            _ => false,
        };
        match kind {
            _ if strikes => HandShape::Fist,
            // Who falls or lies reaches for the floor.
            Some(SpanKind::Down | SpanKind::Up) => HandShape::Open,
            Some(SpanKind::Walk | SpanKind::Run) => HandShape::Open,
            _ if raised => HandShape::Guard,
            _ => HandShape::Open,
        }
    })
}

/// The shapes of both hands in every frame of a clip, by its own spans.
pub fn of_clip(clip: &Clip, roles: &Roles) -> Vec<Hands> {
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    let frame = |frame: usize| {
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let time = frame as f32 / clip.fps();
        let span = clip.spans.iter().find(|span| span.from <= time && time <= span.to);
        shapes(span, |role| roles.get(role).map(|joint| world.position(joint)))
    };
    (0..clip.frames()).map(frame).collect()
}

/// How far the three bones of a finger bend in a fist, radians, and those of a thumb.
const FINGER: [f32; 3] = [1.25, 1.6, 1.0];
const THUMB: [f32; 3] = [0.35, 0.6, 0.9];
/// Hands close and open in this time, seconds.
const TAKES: f32 = 0.14;

/// A finger bone: how it lies at rest, and how far and about which axis of its parent it bends in a fist.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bone {
    joint: JointIdx,
    rest: Quat,
    axis: Vec3,
    bends: f32,
}

/// The fingers of a rig, of both hands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fingers([Vec<Bone>; 2]);

impl Fingers {
    /// Finds the fingers below the wrists by their names; a hand whose fingers have other names keeps still.
    pub fn of(skeleton: &Skeleton, roles: &Roles) -> Fingers {
        let mut world = WorldPose::default();
        fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
        let hand = |wrist: Role, side: f32| {
            let Some(wrist) = roles.get(wrist) else { return Vec::new() };
            let chains: Vec<Vec<JointIdx>> = skeleton.children(wrist).flat_map(|c| chains(skeleton, c)).collect();
            // Some rigs name the bones inside the palm after the palm, so any bone of a chain may tell which finger it is.
            let is = |joint: &JointIdx, wanted: &[&str]| {
                let name = skeleton.name(*joint).to_lowercase();
                wanted.iter().any(|word| name.contains(word))
            };
            let named = |wanted: &[&str]| chains.iter().flatten().find(|joint| is(joint, wanted)).copied();
            // From the first finger to the last across the palm: about this fingers close, on the left one way, on the right the other.
            let first = named(&["index", "pointer"]);
            let last = named(&["pinky", "little"]).or_else(|| named(&["ring"])).or_else(|| named(&["middle"]));
            let (Some(first), Some(last)) = (first, last) else { return Vec::new() };
            let across = (world.position(last) - world.position(first)).normalize_or(Vec3::ZERO) * side;
            if across == Vec3::ZERO {
                return Vec::new();
            }
            let mut bones = Vec::new();
            for chain in &chains {
                let thumb = chain.iter().any(|joint| is(joint, &["thumb"]));
                // A metacarpal inside the palm does not bend.
                let bent = &chain[chain.len().saturating_sub(3 + usize::from(chain.len() > 4))..];
                let along = |joint: JointIdx| {
                    let next = skeleton.children(joint).next().map(|child| world.position(child));
                    let tip =
                        || world.position(joint) + world.rotation(joint) * skeleton.tip(joint).unwrap_or(Vec3::ZERO);
                    (next.unwrap_or_else(tip) - world.position(joint)).normalize_or(Vec3::ZERO)
                };
                for (joint, bends) in bent.iter().zip(if thumb { THUMB } else { FINGER }) {
                    let Some(parent) = skeleton.parent(*joint) else { continue };
                    // A thumb closes across the palm: about what is square to itself and to the fingers' axis.
                    let axis = if thumb {
                        (across + 0.8 * along(chain[0]).cross(across)).normalize_or(across)
                    } else {
                        across
                    };
                    let axis = world.rotation(parent).conjugate() * axis;
                    bones.push(Bone { joint: *joint, rest: skeleton.rest(*joint), axis, bends });
                }
            }
            bones
        };
        Fingers([hand(Role::LeftWrist, 1.0), hand(Role::RightWrist, -1.0)])
    }

    /// Whether there is nothing to move.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// The clip with its fingers in these shapes, one for each frame; the last ones hold.
    #[must_use]
    pub fn shown(&self, clip: &Clip, shapes: &[Hands]) -> Clip {
        let Some(held) = shapes.last().filter(|_| !self.is_empty()) else { return clip.clone() };
        let closed = |frame: usize, hand: usize| shapes.get(frame).unwrap_or(held)[hand].closed();
        let reach = (0.5 * TAKES * clip.fps()).ceil() as usize;
        // The mean over a short while around a frame: a hand begins to close before its shape changes, and takes its time.
        let smooth = |frame: usize, hand: usize| {
            let around = frame.saturating_sub(reach)..=(frame + reach);
            let count = around.clone().count() as f32;
            around.map(|frame| closed(frame, hand)).sum::<f32>() / count
        };
        let mut source = Pose::default();
        let made = Clip::from_fn(&clip.name, clip.skeleton().clone(), clip.fps(), clip.frames(), |frame, pose| {
            clip.pose(FrameIdx(frame as u32), &mut source);
            pose.clone_from(&source);
            for (hand, bones) in self.0.iter().enumerate() {
                let closed = smooth(frame, hand);
                for bone in bones {
                    pose.rotations[bone.joint.at()] = about(bone.axis, bone.bends * closed) * bone.rest;
                }
            }
        });
        // Same skeleton, rate and frames: it is a clip if the other one is.
        let Ok(mut made) = made else { return clip.clone() };
        (made.spans, made.contacts) = (clip.spans.clone(), clip.contacts.clone());
        made
    }
}

/// The chains of joints from one down to each of its tips.
fn chains(skeleton: &Skeleton, joint: JointIdx) -> Vec<Vec<JointIdx>> {
    let below: Vec<Vec<JointIdx>> = skeleton.children(joint).flat_map(|child| chains(skeleton, child)).collect();
    match below.len() {
        0 => vec![vec![joint]],
        1 => below.into_iter().map(|chain| [vec![joint], chain].concat()).collect(),
        // A palm that several fingers hang on is not part of any.
        _ => below,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Joint, humanoid};
    use std::sync::Arc;

    /// A canonical body with two fingers of three bones and a thumb on each hand, palms down in its T-pose.
    fn with_fingers() -> (Arc<Skeleton>, Roles) {
        with_bones(|_| 0)
    }

    /// The same; so many bones of a chain are inside the palm and named after it.
    fn with_bones(palm: impl Fn(&str) -> usize) -> (Arc<Skeleton>, Roles) {
        let canonical = humanoid::skeleton();
        let mut joints = canonical.to_joints();
        for (role, side, prefix) in [(Role::LeftWrist, 1.0, "Left"), (Role::RightWrist, -1.0, "Right")] {
            for (name, ahead, bones) in [("HandThumb", 0.04, 2), ("HandIndex", 0.03, 3), ("HandPinky", -0.03, 3)] {
                let mut parent = role.joint();
                for bone in 1 - palm(name) as i32..=bones {
                    let offset = match bone {
                        0 => Vec3::new(0.01 * side, 0.0, 0.2 * ahead),
                        1 => Vec3::new(0.08 * side, 0.0, ahead),
                        _ => Vec3::X * 0.03 * side,
                    };
                    let made = Joint {
                        name: if bone == 0 {
                            format!("palm.0{}.{prefix}", joints.len())
                        } else {
                            format!("{prefix}{name}{bone}")
                        },
                        parent: Some(parent),
                        offset,
                        ..joints[1].clone()
                    };
                    parent = JointIdx(joints.len() as u16);
                    joints.push(made);
                }
            }
        }
        (Arc::new(Skeleton::new(&joints).unwrap()), Roles::canonical())
    }

    #[test]
    fn fists_close_towards_the_palm_on_both_sides() {
        let (skeleton, roles) = with_fingers();
        let fingers = Fingers::of(&skeleton, &roles);
        let still = Clip::new("still", Arc::clone(&skeleton), 30.0, &vec![Pose::rest(&skeleton); 30]).unwrap();
        let place = |clip: &Clip, name: &str| {
            let (mut pose, mut world) = (Pose::default(), WorldPose::default());
            clip.pose(FrameIdx(15), &mut pose);
            fk::pose(&skeleton, &pose, &mut world);
            world.position(skeleton.find(name).unwrap())
        };
        let shown = |shape: HandShape| fingers.shown(&still, &[[shape; 2]; 30]);
        for (tip, knuckle) in [("LeftHandIndex3", "LeftHandIndex1"), ("RightHandPinky3", "RightHandPinky1")] {
            let drop = |shape| place(&shown(shape), knuckle).y - place(&shown(shape), tip).y;
            let (open, guard, fist) = (drop(HandShape::Open), drop(HandShape::Guard), drop(HandShape::Fist));
            assert!(0.0 < open && open < 0.02, "{tip} hangs by {open}");
            assert!(open < guard, "{tip}: {open} {guard} {fist}");
            // In a fist the tip has come round below the palm, towards the wrist.
            let back = (place(&shown(HandShape::Fist), tip) - place(&still, tip)).dot(Vec3::X).abs();
            assert!(fist > 0.015 && back > 0.03, "{tip}: {fist} below, {back} back");
        }
        // Everything else stays.
        assert_eq!(place(&shown(HandShape::Fist), "left_wrist"), place(&still, "left_wrist"));
    }

    /// As Rigify has them: a bone named after the palm before each finger.
    #[test]
    fn fingers_are_found_behind_bones_of_the_palm() {
        let (skeleton, roles) = with_bones(|name| usize::from(name != "HandThumb"));
        let Fingers(hands) = Fingers::of(&skeleton, &roles);
        for bones in &hands {
            let names: Vec<&str> = bones.iter().map(|bone| skeleton.name(bone.joint)).collect();
            assert_eq!(names.len(), 8, "{names:?}");
            assert!(names.iter().all(|name| !name.contains("palm")), "{names:?}");
        }
    }

    #[test]
    fn hands_change_shape_without_a_jump() {
        let (skeleton, roles) = with_fingers();
        let fingers = Fingers::of(&skeleton, &roles);
        let still = Clip::new("still", Arc::clone(&skeleton), 60.0, &vec![Pose::rest(&skeleton); 60]).unwrap();
        let mut shapes = vec![[HandShape::Open; 2]; 30];
        shapes.extend([[HandShape::Fist, HandShape::Open]; 30]);
        let shown = fingers.shown(&still, &shapes);
        let joint = skeleton.find("LeftHandIndex2").unwrap();
        for frame in 1..60 {
            let turn = |f: u32| shown.rotation(FrameIdx(f), joint);
            let step = crate::rotation::between(turn(frame - 1), turn(frame));
            assert!(step < 0.25, "{step} radians in one frame");
        }
    }

    #[test]
    fn shapes_follow_what_is_played() {
        let body = |hand: f32| {
            move |role: Role| {
                Some(match role {
                    Role::LeftWrist | Role::RightWrist => Vec3::Y * hand,
                    Role::LeftShoulder | Role::RightShoulder => Vec3::Y * 1.45,
                    _ => Vec3::Y * 0.95,
                })
            }
        };
        let mut jab = Span::new(SpanKind::Attack, "jab", 0.0, 1.0);
        jab.part = Some(Role::LeftWrist);
        assert_eq!(shapes(Some(&jab), body(1.4)), [HandShape::Fist, HandShape::Guard]);
        let kick = Span { part: Some(Role::RightAnkle), ..jab.clone() };
        assert_eq!(shapes(Some(&kick), body(1.4)), [HandShape::Guard; 2]);
        assert_eq!(shapes(None, body(0.85)), [HandShape::Open; 2]);
        let walk = Span::new(SpanKind::Walk, "", 0.0, 1.0);
        assert_eq!(shapes(Some(&walk), body(1.3)), [HandShape::Open; 2]);
    }
}
