//! The layer of a library's graph that paths are planned on: the motions of a library that go somewhere, joined densely.
//!
//! Chen and Steed's graph has a clip for a node and 9,066 transitions for 1,091 frames; the graph that fighters play has a dozen ways out
//! of a pose that is left twice a second. Here a path may leave its clip nearly anywhere, and every join is rehearsed as usual.

use kumite_motion::library::Library;
use kumite_motion::mirror::Mirror;
use kumite_motion::{Clip, Layer, Roles, SpanKind};

use crate::graph::GraphConfig;
use crate::library::{BakeConfig, BakeError, Baked, bake};
use crate::transitions::TransitionConfig;

/// How a library becomes one to walk with.
#[derive(Clone, Debug, PartialEq)]
pub struct WalkingConfig {
    /// Clips that hold a span of one of these kinds are taken.
    pub kinds: Vec<SpanKind>,
    /// Clips that hold one of these are left out: walkers do not punch.
    pub never: Vec<SpanKind>,
    /// Whether every clip comes in its mirror image too.
    pub mirror: bool,
    /// Nodes of one clip are at least this far apart, seconds.
    pub node_seconds: f32,
    /// After a join the motion runs at least this long, seconds.
    pub edge_seconds: f32,
    /// Edges that leave one node.
    pub most_leaving: usize,
    /// Joins from one node into one clip enter it at least this far apart, seconds.
    pub target_gap_seconds: f32,
}

impl Default for WalkingConfig {
    fn default() -> Self {
        Self {
            kinds: vec![SpanKind::Walk, SpanKind::Run, SpanKind::Idle],
            never: vec![
                SpanKind::Attack,
                SpanKind::Avoid,
                SpanKind::Block,
                SpanKind::React,
                SpanKind::Down,
                SpanKind::Up,
            ],
            mirror: false,
            node_seconds: 0.06,
            edge_seconds: 0.25,
            most_leaving: 64,
            target_gap_seconds: 0.06,
        }
    }
}

/// The clips of a library that go somewhere. Bridges are left out: dense transitions stand in for them.
fn clips(library: &Library, config: &WalkingConfig) -> Vec<Clip> {
    let has = |clip: &Clip, kinds: &[SpanKind]| clip.spans.iter().any(|s| kinds.contains(&s.kind));
    let own = library.clips().iter().filter(|c| has(c, &config.kinds) && !has(c, &config.never));
    own.cloned().collect()
}

/// Joins what goes somewhere, and `more` clips of the same body. Same library, same result, on any number of threads.
pub fn walking(library: &Library, more: Vec<Clip>, config: &WalkingConfig) -> Result<Baked, BakeError> {
    let mut clips = clips(library, config);
    clips.extend(more);
    join(&library.name, clips, config)
}

/// Joins the motions of a library's walkers anew, without their mirror images.
pub fn unmirrored(library: &Library, config: &WalkingConfig) -> Result<Baked, BakeError> {
    let walks = library.clips_of(Layer::Walk);
    let clips = walks.into_iter().map(|clip| library.clip(clip)).filter(|clip| !clip.name.ends_with(MIRRORED));
    join(&library.name, clips.cloned().collect(), &WalkingConfig { mirror: false, ..config.clone() })
}

/// What the names of mirror images end with.
const MIRRORED: &str = " mirrored";

/// Joins clips; mirror images come after all of them, in the same order.
fn join(name: &str, mut clips: Vec<Clip>, config: &WalkingConfig) -> Result<Baked, BakeError> {
    if config.mirror {
        let image = |clip: &Clip| {
            let mut image = Mirror::by_roles(clip.skeleton(), &Roles::canonical()).clip(clip)?;
            image.name += MIRRORED;
            Ok(image)
        };
        let images: Vec<Clip> = clips.iter().map(image).collect::<Result<_, _>>().map_err(BakeError::Mirror)?;
        clips.extend(images);
    }
    let transitions = TransitionConfig::default();
    let graph = GraphConfig {
        node_seconds: config.node_seconds,
        edge_seconds: config.edge_seconds,
        most_leaving: config.most_leaving,
        target_gap_seconds: config.target_gap_seconds,
        ..GraphConfig::default()
    };
    let mut baked = bake(name, clips, &BakeConfig { transitions, graph, repair: None })?;
    baked.library = baked.library.in_layer(Layer::Walk);
    Ok(baked)
}
