//! What a library can do: how soon each kind of action begins, how far one gets in each direction, which places of the body can be got out
//! of the way, and what is missing, with the nearest fix.

use std::collections::BTreeMap;

use kumite_motion::align::Planar;
use kumite_motion::library::Library;
use kumite_motion::volume::{self, Sphere};
use kumite_motion::{Clip, EdgeIdx, FrameIdx, Layer, NodeIdx, Pose, Role, SpanKind, Vec2, Vec3, WorldPose, fk};

use crate::graph::{LabelLoss, Lost, Report, UNBROKEN, keeps};
use crate::repair::{NO_WAY, Repaired, is_bridge};

/// Directions that are looked at: evenly around, the first ahead, then to the left.
pub const DIRECTIONS: usize = 16;
/// How far motion carries is measured after these times, seconds.
pub const HORIZONS: [f32; 3] = [1.0, 2.0, 3.0];

/// How far the body can be carried.
#[derive(Clone, Debug, PartialEq)]
pub struct GroundReach {
    /// Metres by horizon and direction; half of the nodes get at least so far.
    pub median: [[f32; DIRECTIONS]; HORIZONS.len()],
    /// From the node that gets farthest.
    pub best: [[f32; DIRECTIONS]; HORIZONS.len()],
}

/// Nodes that are looked at, spread over the graph; ways that are followed at a time.
const STARTS: usize = 48;
const WIDTH: usize = 24;

/// Which way direction `d` is: x to the left, y ahead.
pub fn direction(d: usize) -> Vec2 {
    let angle = std::f32::consts::TAU * d as f32 / DIRECTIONS as f32;
    Vec2::new(libm::sinf(angle), libm::cosf(angle))
}

/// How far one gets, by a beam search in each direction.
pub fn reach(library: &Library) -> GroundReach {
    let nodes = library.graph().nodes().len();
    let starts: Vec<NodeIdx> =
        (0..STARTS.min(nodes)).map(|i| NodeIdx((i * nodes / STARTS.min(nodes)) as u32)).collect();
    let far: Vec<[[f32; DIRECTIONS]; HORIZONS.len()]> = starts
        .iter()
        .map(|&start| HORIZONS.map(|horizon| std::array::from_fn(|d| farthest(library, start, direction(d), horizon))))
        .collect();
    let pick = |share: f32| {
        std::array::from_fn(|h| {
            std::array::from_fn(|d| {
                let mut values: Vec<f32> = far.iter().map(|f| f[h][d]).collect();
                values.sort_by(f32::total_cmp);
                values[((values.len() - 1) as f32 * share) as usize]
            })
        })
    };
    GroundReach { median: pick(0.5), best: pick(1.0) }
}

/// Metres from a node along a direction, seen from where its body faces, within some seconds.
fn farthest(library: &Library, start: NodeIdx, towards: Vec2, horizon: f32) -> f32 {
    let graph = library.graph();
    let along = |p: &Planar| p.shift.dot(towards);
    let mut best = 0.0f32;
    let mut open = vec![(start, Planar::IDENTITY, 0.0f32)];
    while !open.is_empty() {
        let mut next: Vec<(NodeIdx, Planar, f32)> = Vec::new();
        for (node, at, time) in &open {
            for edge in graph.leaving(*node, Layer::Fight) {
                let edge = graph.edge(edge);
                let left = horizon - time;
                if edge.seconds <= left {
                    let stands = at.after(&edge.displacement);
                    best = best.max(along(&stands));
                    next.push((edge.to, stands, time + edge.seconds));
                } else {
                    // Part of an edge carries about that part of the way.
                    let part = Planar { shift: edge.displacement.shift * (left / edge.seconds), ..edge.displacement };
                    best = best.max(along(&at.after(&part)));
                }
            }
        }
        // Metres per second, so that short edges are not cut off by long ones.
        let rate = |s: &(NodeIdx, Planar, f32)| along(&s.1) / s.2.max(0.1);
        next.sort_by(|a, b| rate(b).total_cmp(&rate(a)).then(a.0.cmp(&b.0)));
        next.truncate(WIDTH);
        open = next;
    }
    best
}

/// A place on the body, and how soon it can be out of the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spot {
    /// Which part it belongs to.
    pub part: Role,
    /// In a standing pose: x left, y up, z ahead, metres.
    pub at: Vec3,
    /// Metres.
    pub radius: f32,
    /// Seconds until an avoidance has left the place, for half of the nodes; `None` if none ever does.
    pub seconds: Option<f32>,
    /// Share of the nodes from which it is left within [`SOON`].
    pub share: f32,
}

/// A threat that is seen this long before it arrives is answered if its place is free by then, seconds: a punch takes about half of it, a
/// ball from five metres at 8 m/s a little less.
pub const SOON: f32 = 0.6;

/// How soon each place of the body can be out of the way: the way to each avoidance, and how long it takes until the body is no longer
/// where it was when the avoidance began.
pub fn answers(library: &Library) -> Vec<Spot> {
    let graph = library.graph();
    let spheres = library.spheres();
    let nodes = graph.nodes().len();
    let mut soonest = vec![vec![f32::INFINITY; nodes]; spheres.len()];
    for (clip_index, clip) in library.clips().iter().enumerate() {
        for (span_index, span) in clip.spans.iter().enumerate().filter(|s| s.1.kind == SpanKind::Avoid) {
            let plays = |e: EdgeIdx| {
                graph.edge(e).clip.at() == clip_index
                    && graph.spans(e).iter().any(|s| s.whole && s.span as usize == span_index)
            };
            let until = seconds_before(library, |e| {
                plays(e).then(|| (span.from - graph.edge(e).first.0 as f32 / clip.fps()).max(0.0))
            });
            let (first, last) = ((span.from * clip.fps()) as usize, (span.to * clip.fps()) as usize);
            for (sphere, frees) in freed(clip, spheres, first, last.min(clip.frames() - 1)).into_iter().enumerate() {
                let Some(frees) = frees else { continue };
                for (best, until) in soonest[sphere].iter_mut().zip(&until) {
                    *best = best.min(until + frees);
                }
            }
        }
    }
    let mut world = WorldPose::default();
    fk::pose(library.skeleton(), &standing(library), &mut world);
    let mut placed = Vec::new();
    volume::place(spheres, &world, &mut placed);
    let spot = |((sphere, place), mut times): ((&volume::BodySphere, &Sphere), Vec<f32>)| {
        times.sort_by(f32::total_cmp);
        let median = times[times.len() / 2];
        let soon = times.iter().filter(|t| **t <= SOON).count();
        Spot {
            part: sphere.part,
            at: place.centre,
            radius: place.radius,
            seconds: median.is_finite().then_some(median),
            share: soon as f32 / times.len() as f32,
        }
    };
    spheres.iter().zip(&placed).zip(soonest).map(spot).collect()
}

/// A pose to draw places on: at rest, arms hanging.
fn standing(library: &Library) -> Pose {
    let mut pose = Pose::rest(library.skeleton());
    for (role, angle) in [(Role::LeftShoulder, -1.1f32), (Role::RightShoulder, 1.1)] {
        pose.rotations[role.joint().at()] = kumite_motion::rotation::about(Vec3::Z, angle);
    }
    pose
}

/// Per sphere the seconds from frame `first` until its place is free of the body; `None` if it never is.
fn freed(clip: &Clip, spheres: &[volume::BodySphere], first: usize, last: usize) -> Vec<Option<f32>> {
    let body = |frame: usize| {
        let (mut pose, mut world, mut out) = (Pose::default(), WorldPose::default(), Vec::new());
        clip.pose(FrameIdx(frame as u32), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        volume::place(spheres, &world, &mut out);
        out
    };
    let held = body(first);
    let mut freed = vec![None; held.len()];
    for frame in (first..=last).step_by(2) {
        let now = body(frame);
        for (place, freed) in held.iter().zip(&mut freed).filter(|f| f.1.is_none()) {
            if now.iter().all(|s| (s.centre - place.centre).length() > s.radius) {
                *freed = Some((frame - first) as f32 / clip.fps());
            }
        }
    }
    freed
}

/// Seconds from each node to a moment that some edges hold, `lead` seconds after they begin, by the shortest way.
fn seconds_before(library: &Library, lead: impl Fn(EdgeIdx) -> Option<f32>) -> Vec<f32> {
    let graph = library.graph();
    let mut seconds = vec![f32::INFINITY; graph.nodes().len()];
    for index in 0..graph.edges().len() as u32 {
        if let Some(lead) = lead(EdgeIdx(index)) {
            let from = graph.edge(EdgeIdx(index)).from.at();
            seconds[from] = seconds[from].min(lead);
        }
    }
    crate::graph::carried_back(graph, seconds)
}

/// Something the library lacks, and the nearest fix.
#[derive(Clone, Debug, PartialEq)]
pub struct Gap {
    /// What is missing.
    pub what: String,
    /// What would help.
    pub fix: String,
}

/// Getting less far than this in two seconds is not getting there, metres.
const STUCK: f32 = 0.35;

/// What is missing, the gravest first. `dodged`: by target, the share of balls seen [`SOON`] ahead that a motion avoids.
pub fn gaps(
    library: &Library,
    report: Option<&Report>,
    repaired: Option<&Repaired>,
    reach: &GroundReach,
    dodged: &[(&str, f32)],
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    // Bridges mend most of it; what is reported here is still missing.
    let missing = |l: &&Lost| {
        let clip = library.clip(l.clip);
        !keeps(clip, l.clip, &clip.spans[l.span as usize], library.graph().edges(), &UNBROKEN)
    };
    for LabelLoss { kind, label, lost, .. } in report.into_iter().flat_map(|r| &r.labels) {
        let mut by_clip: BTreeMap<&str, (usize, &str)> = BTreeMap::new();
        for l in lost.iter().filter(missing) {
            let entry = by_clip.entry(&library.clip(l.clip).name).or_insert((0, l.why.text()));
            entry.0 += 1;
        }
        for (clip, (count, why)) in by_clip {
            gaps.push(Gap {
                what: format!("{} {label} of {clip} cannot be played ({count}): {why}", kind.name()).replace("  ", " "),
                fix: "capture a way between it and a pose of another motion".to_owned(),
            });
        }
    }
    // Spans without a way in or out are already reported, with the reason.
    for left in repaired.into_iter().flat_map(|r| &r.left).filter(|l| report.is_none() || !l.ends_with(NO_WAY)) {
        let fix = if left.contains("begins late") {
            "capture an avoidance out of this motion: from here no person gets into the stance of those there are in less time"
        } else {
            "capture a rest on both feet near it, or give its span a start and an end where a foot stands"
        };
        gaps.push(Gap { what: left.clone(), fix: fix.to_owned() });
    }
    for kind in [SpanKind::Attack, SpanKind::Avoid, SpanKind::Block] {
        let labels: Vec<&str> = library
            .clips()
            .iter()
            .flat_map(|c| &c.spans)
            .filter(|s| s.kind == kind)
            .map(|s| s.label.as_str())
            .collect();
        if labels.is_empty() {
            let fix = format!("capture one, or label it: `kumite label` finds {}s in clips", kind.name());
            gaps.push(Gap { what: format!("there is no {}", kind.name()), fix });
            continue;
        }
        for (one, other) in [("left", "right"), ("right", "left")] {
            let has = |side: &str| labels.iter().any(|l| l.split(' ').any(|w| w == side));
            if has(one) && !has(other) {
                let clip = library
                    .clips()
                    .iter()
                    .find(|c| c.spans.iter().any(|s| s.kind == kind && s.label.split(' ').any(|w| w == one)));
                let fix = format!("`mirror = true` on {}", clip.map_or("its clip", |c| &c.name));
                gaps.push(Gap { what: format!("every {} is to the {one}, none to the {other}", kind.name()), fix });
            }
        }
    }
    for (d, name) in
        [(0, "ahead"), (DIRECTIONS / 4, "to the left"), (DIRECTIONS / 2, "back"), (3 * DIRECTIONS / 4, "to the right")]
    {
        let far = reach.median[1][d];
        if far < STUCK {
            let mirrored = reach.median[1][(DIRECTIONS - d) % DIRECTIONS];
            let fix = if mirrored >= STUCK {
                "`mirror = true` on a clip that goes the other way"
            } else {
                "capture steps that way"
            };
            gaps.push(Gap {
                what: format!("from half of the poses one gets only {far:.1} m {name} in 2 s"),
                fix: fix.to_owned(),
            });
        }
    }
    for (name, share) in dodged.iter().filter(|(_, share)| *share < 0.5) {
        let motion = match *name {
            "head" => "a slip, a sway or a duck that can be begun at once",
            "legs" => "a jump or a step aside",
            _ => "a step aside or a twist that can be begun at once",
        };
        gaps.push(Gap {
            what: format!("of balls at the {name} seen {SOON} s ahead {:.0} % are avoided by a motion", 100.0 * share),
            fix: format!("capture {motion}"),
        });
    }
    gaps
}

/// Captured and synthetic clips.
pub fn counts(library: &Library) -> (usize, usize) {
    let bridges = library.clips().iter().filter(|c| is_bridge(c)).count();
    (library.clips().len() - bridges, bridges)
}
