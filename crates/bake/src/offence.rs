//! Offence and defence: what a library's own strikes, thrown at somebody in its own stance, are answered with.
//!
//! Every strike is an attack volume that ends at the head, the ribs or the thigh of the other, and the planner of dodges and blocks says what meets it: by
//! geometry, not by names. Classes are those of Shum, Komura and Yamazaki 2007, § 5.3: how it is struck, how high, and which way it travels.

use std::collections::BTreeMap;
use std::f32::consts::PI;

use kumite_motion::align::{Planar, PlanarMatrix};
use kumite_motion::{Clip, Direction, EdgeIdx, FrameIdx, Height, Layer, Pose, Role, Strike, StrikeKind, Vec2, Vec3};
use kumite_motion::{WorldPose, fk};
use kumite_plan::Threat;
use kumite_plan::dodge::{DodgeScratch, Forecast};
use kumite_stage::{Character, Kit};

/// Moments of the other's idle at which each strike is tried.
const MOMENTS: usize = 8;
/// Strikes are known at least this long before they arrive, seconds: classes are about what answers them, not about who is in time.
const NOTICE: f32 = 0.6;

/// A class of strikes.
pub type StrikeClass = (StrikeKind, Height, Direction);

/// What answers the strikes of a class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassAnswers {
    /// Labels of the strikes of this class.
    pub strikes: Vec<String>,
    /// How often they were thrown so that they would have hit.
    pub thrown: u32,
    /// How often they were answered.
    pub answered: u32,
    /// What with, and how often.
    pub by: BTreeMap<String, u32>,
}

/// Throws every strike of a library at a fighter of the same library who idles.
pub fn answers(kit: &Kit) -> BTreeMap<StrikeClass, ClassAnswers> {
    let (library, graph) = (kit.library(), kit.graph());
    let mut classes: BTreeMap<StrikeClass, ClassAnswers> = BTreeMap::new();
    let idles: Vec<EdgeIdx> = graph.edges_of(Layer::Fight).filter(|e| kit.is_idle(*e) && kit.is_guarded(*e)).collect();
    let mut scratch = DodgeScratch::default();
    for (index, clip) in library.clips().iter().enumerate() {
        for (number, span) in clip.spans.iter().enumerate() {
            for strike in &span.strikes {
                let plays = |e: &EdgeIdx| {
                    graph.edge(*e).clip.at() == index
                        && graph.spans(*e).iter().any(|s| s.whole && s.span as usize == number)
                };
                let Some(edge) = graph.edges_of(Layer::Fight).find(plays) else { continue };
                let class = classes.entry((strike.kind, strike.height, strike.direction)).or_default();
                if !class.strikes.contains(&span.label) {
                    class.strikes.push(span.label.clone());
                }
                for moment in 0..MOMENTS {
                    let Some(idle) = idles.get(moment % idles.len().max(1)) else { continue };
                    let since = graph.edge(*idle).seconds * (moment as f32 + 0.5) / MOMENTS as f32;
                    let other = kit.spawn_on(*idle, since, Vec2::ZERO, 0.0);
                    if let Some(answer) = answer(kit, clip, edge, strike, &other, &mut scratch) {
                        class.thrown += 1;
                        class.answered += u32::from(answer.is_some());
                        answer.into_iter().for_each(|name| *class.by.entry(name).or_default() += 1);
                    }
                }
            }
        }
    }
    classes
}

/// What answers one strike: `None` if it misses anyway, `Some(None)` if nothing does.
fn answer(
    kit: &Kit,
    clip: &Clip,
    edge: EdgeIdx,
    strike: &Strike,
    other: &Character,
    scratch: &mut DodgeScratch,
) -> Option<Option<String>> {
    let defence = kit.defence()?;
    let played = kit.graph().edge(edge);
    let begins = played.first.at() as f32 / clip.fps();
    // Where the strike ends, with the striker at the origin, and where it should end.
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    clip.pose(FrameIdx((strike.active.1 * clip.fps()) as u32), &mut pose);
    fk::pose(clip.skeleton(), &pose, &mut world);
    let lands = world.position(strike.part.joint());
    let at = |role: Role| other.world().position(role.joint());
    let target = match strike.height {
        Height::High => at(Role::Head),
        Height::Middle => at(Role::Back),
        Height::Low => at(Role::LeftHip).lerp(at(Role::LeftKnee), 0.6),
    };
    let turned = Planar { turn: PI, shift: Vec2::ZERO }.point(lands);
    let place = Planar { turn: PI, shift: Vec2::new(target.x - turned.x, target.z - turned.z) };
    let active = (strike.active.0 - begins, strike.active.1 - begins);
    let threat =
        Threat::strike(defence.bodies(), &[edge], 0.0, &PlanarMatrix::new(&place), strike.part, active).ok()?;
    let threat = threat.later((threat.arrives - NOTICE).min(0.0));
    let ahead: Vec<_> = other.legs().iter().copied().collect();
    let decision = defence.decide(other, &ahead, &[threat], scratch).ok()?;
    match decision.forecast {
        Forecast::Clear => None,
        Forecast::Hit => Some(None),
        Forecast::Avoided | Forecast::Blocked => {
            let name = decision.span.map_or("a bend".to_owned(), |(edge, span)| {
                let clip = kit.library().clip(kit.graph().edge(edge).clip);
                clip.spans.get(span as usize).map_or(clip.name.clone(), |s| s.label.clone())
            });
            Some(Some(name))
        }
    }
}

/// A turn on the spot: how far, radians, and how far the body gets on the way, metres.
pub fn turns(clip: &Clip) -> Option<(f32, f32)> {
    let last = FrameIdx(clip.frames() as u32 - 1);
    let stand = |frame| kumite_motion::graph::stand(clip, frame);
    let moved = stand(FrameIdx(0)).inverse().after(&stand(last));
    clip.spans
        .iter()
        .any(|s| s.kind == kumite_motion::SpanKind::Turn)
        .then(|| (moved.turn, Vec3::new(moved.shift.x, 0.0, moved.shift.y).length()))
}
