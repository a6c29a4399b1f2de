//! Where one motion can pass into another: Kovar, Gleicher and Pighin 2002, § 3.1, on all pairs of frames.
//!
//! A pair of frames is compared by the windows around both, laid over each other by one planar motion for the whole
//! window. The distance is symmetric, so that every pair of windows is looked at once for both directions. The matrix
//! of distances is never kept: memory grows with the frames, not with their square.
//!
//! Differs from Kovar's: his window starts at the frame that is left and ends at the one that is entered, which a
//! cross-fade of that length needs; an inertialised join leaves and enters at one moment, so ours is centred on it.

mod cloud;
mod kernel;
mod minima;
pub mod referee;
mod rules;
mod stance;

use kumite_motion::align::Planar;
use kumite_motion::rotation::wrap;
use kumite_motion::{Clip, ClipIdx, FrameIdx, SpanKind, Vec2};
use rayon::prelude::*;

pub use cloud::Cloud;
use kernel::{BAND, Scratch, Sink};
pub use kumite_plan::walk::transition_clusters::Branch;
use kumite_plan::walk::transition_clusters::{self, Leaf};
use minima::{Candidate, Minima};
pub use rules::{Policy, Rule, rules};

/// How transitions are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct TransitionConfig {
    /// Length of the windows compared. A third of a second is Kovar's; longer tells apart what merely crosses in
    /// passing.
    pub window_seconds: f32,
    /// How much each joint counts, in any unit; 0 leaves it out. Empty: all the same.
    pub weights: Vec<f32>,
    /// Velocities are compared too, times this: a difference of 1 m/s counts as this many metres. 0 leaves them out,
    /// and costs half. The windows see velocities as well; this stresses them.
    pub velocity_seconds: f32,
    /// Thresholds are the distance that motion covers by itself in this time, at some percentile of the library's frames: they need no
    /// tuning to joints, weights or rate. Seconds.
    pub successor_seconds: f32,
    /// The share for ordinary transitions, 0 to 1.
    pub percentile: f32,
    /// The share for long transitions: farther transitions, taken only where motions would be lost without.
    pub long_percentile: f32,
    /// Frames of one clip nearer than this are not joined: they follow each other anyway. Seconds.
    pub apart_seconds: f32,
    /// Where transitions may be.
    pub policy: Policy,
    /// For [`Policy::ActionEnds`]: the frames between actions, per clip. Empty: taken from spans and double support.
    pub action_ends: Vec<Vec<FrameIdx>>,
    /// No transition inside these: one such span lies in one edge (Oshita and Masaoka, § 3.1).
    pub unbroken: Vec<SpanKind>,
    /// No transition next to a jolt: a step of a joint's angular velocity that this share of all steps in the library is
    /// below. 1 allows all.
    pub jolt_percentile: f32,
    /// Whether the entered clip is placed so that feet planted on both sides of a transition stand on the same spot; otherwise where
    /// the windows match best. A foot that has to move while it bears weight is what people see first.
    pub on_stance_feet: bool,
    /// Best transitions kept per frame and direction. Bounds the memory; the graph keeps far fewer.
    pub per_frame: usize,
}

impl Default for TransitionConfig {
    /// Window after Kovar. With these shares random walks on ACCAD and CMU lose no clip, and 1 to 3 edges in a
    /// hundred are long transitions; with 0.5 and none of those ACCAD loses 31 of 33 clips.
    fn default() -> Self {
        Self {
            window_seconds: 1.0 / 3.0,
            weights: Vec::new(),
            velocity_seconds: 0.0,
            successor_seconds: 0.1,
            percentile: 0.75,
            long_percentile: 0.95,
            apart_seconds: 0.4,
            policy: Policy::Anywhere,
            action_ends: Vec::new(),
            unbroken: vec![SpanKind::Attack, SpanKind::Avoid],
            jolt_percentile: 0.999,
            on_stance_feet: true,
            per_frame: 32,
        }
    }
}

/// Why transitions cannot be looked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TransitionError {
    /// There are no clips.
    #[error("there are no clips")]
    NoClips,
    /// A clip of another skeleton than the first.
    #[error("clip {} has another skeleton than the first", clip.0)]
    OtherSkeleton {
        /// Which.
        clip: ClipIdx,
    },
    /// A clip of another rate than the first.
    #[error("clip {} has {fps} frames per second, the first {first}", clip.0)]
    OtherRate {
        /// Which.
        clip: ClipIdx,
        /// Its rate.
        fps: f32,
        /// The first one's.
        first: f32,
    },
    /// Weights that are negative, all zero, or not one per joint.
    #[error("weights must be {joints} numbers, none negative and one positive")]
    BadWeights {
        /// How many joints there are.
        joints: usize,
    },
}

/// A frame of a clip.
pub type ClipFrame = (ClipIdx, FrameIdx);

/// Leave one clip at a frame, go on in another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transition {
    /// The frame that is left: the entered one is shown in its place.
    pub from: ClipFrame,
    /// The frame that is entered.
    pub to: ClipFrame,
    /// Of the windows around both, metres, root mean square.
    pub distance: f32,
    /// Lays the entered clip over the one left. Its turn is that of the windows.
    pub align: Planar,
}

/// All transitions of a library, by the frame they leave.
#[derive(Clone, Debug, PartialEq)]
pub struct Transitions {
    /// Local minima below the long limit, of what the policy allows.
    pub list: Vec<Transition>,
    /// Ordinary transitions are at most this far, metres.
    pub limit: f32,
    /// Long transitions are at most this far, metres.
    pub long_limit: f32,
    /// Length of the windows, seconds: how long a join should take.
    pub window_seconds: f32,
    /// Pairs of windows that were compared.
    pub pairs: u64,
}

/// Looks at all pairs of frames.
pub fn find(clips: &[Clip], config: &TransitionConfig) -> Result<Transitions, TransitionError> {
    let cloud = Cloud::new(clips, config)?;
    let fps = clips[0].fps();
    let rules = rules::Codes::new(&rules(clips, &cloud, config));
    let (limit, long_limit) = limits(&cloud, fps, config);
    let gap = ((config.apart_seconds * fps) as usize).max(1);
    let mut list =
        scan(&cloud, &|band| Minima::new(&cloud, &rules, long_limit * long_limit, gap, config.per_frame, band));
    list.sort_by_key(|t| (t.from, t.to));
    if config.on_stance_feet {
        stance::put(clips, &mut list);
    }
    let windows = cloud.windows() as u64;
    Ok(Transitions {
        list,
        limit,
        long_limit,
        window_seconds: cloud.window as f32 / fps,
        pairs: windows * windows.saturating_sub(1) / 2,
    })
}

/// Clusters the transitions of one pair of clips into a tree, for searches that choose coarsely first.
pub fn clusters(transitions: &[Transition]) -> (Vec<u32>, Vec<Branch>) {
    let leaf = |t: &Transition| Leaf { leaves: t.from.1.0, enters: t.to.1.0, distance: t.distance };
    transition_clusters::clusters(&transitions.iter().map(leaf).collect::<Vec<_>>())
}

/// Runs over all bands in parallel; what each band found comes out in the order of the bands.
fn scan<'a>(cloud: &'a Cloud, sink: &(impl Fn(usize) -> Minima<'a> + Sync)) -> Vec<Transition> {
    let exact = |c: &Candidate| {
        let (squared, align) = pair(cloud, c.leave as usize, c.enter as usize);
        let (from, to) = (cloud.place(c.leave as usize)?, cloud.place(c.enter as usize)?);
        Some(Transition { from, to, distance: squared.sqrt() as f32, align })
    };
    let found = |scratch: &mut Scratch, band: usize| -> Vec<Transition> {
        let mut minima = sink(band * BAND);
        kernel::band(cloud, band * BAND, true, scratch, &mut minima);
        minima.finish().iter().filter_map(exact).collect()
    };
    // Bands are long and unequal: each is a job of its own.
    let bands = (0..cloud.len().div_ceil(BAND)).into_par_iter().with_max_len(1);
    let found: Vec<Vec<Transition>> = bands.map_init(Scratch::default, found).collect();
    found.concat()
}

/// Squared distances row by row, for pictures and referees: `take(s, t, row)` gets those of window `s` to windows
/// `t`, `t + 1`, … Every pair with `s <= t` comes once or more, in tiles. Windows are those of [`Cloud::place`];
/// infinite where one lies across two clips.
pub fn each_row(cloud: &Cloud, wide: bool, take: impl FnMut(usize, usize, &[f32])) {
    struct Rows<F>(F);
    impl<F: FnMut(usize, usize, &[f32])> Sink for Rows<F> {
        fn row(&mut self, s: usize, t: usize, _: &[f32], here: &[f32], _: &[f32]) {
            (self.0)(s, t, &here[1..here.len() - 1]);
        }
    }
    let (mut rows, mut scratch) = (Rows(take), Scratch::default());
    for band in (0..cloud.len()).step_by(BAND) {
        kernel::band(cloud, band, wide, &mut scratch, &mut rows);
    }
}

/// Squared distance of two windows, in doubles, and the planar motion that lays the second over the first.
fn pair(cloud: &Cloud, s: usize, t: usize) -> (f64, Planar) {
    let (still, moving) = (cloud.centre_of(s), cloud.centre_of(t));
    // Velocities have no place to be centred on.
    let roots = || cloud.roots.iter().map(|r| f64::from(*r)).chain(std::iter::repeat(0.0));
    let (mut energy, mut dot, mut cross) = (0.0f64, 0.0f64, 0.0f64);
    for row in 0..cloud.window {
        for ((p, q), root) in cloud.frame(s + row).iter().zip(cloud.frame(t + row)).zip(roots()) {
            let about = |v: &[f32; 3], c: [f64; 2]| [f64::from(v[0]) - root * c[0], f64::from(v[2]) - root * c[1]];
            let ([px, pz], [qx, qz]) = (about(p, still), about(q, moving));
            let up = f64::from(p[1]) - f64::from(q[1]);
            energy += px * px + pz * pz + qx * qx + qz * qz + up * up;
            dot += px * qx + pz * qz;
            cross += px * qz - pz * qx;
        }
    }
    let squared = energy - 2.0 * (dot * dot + cross * cross).sqrt();
    let turn = libm::atan2(cross, dot);
    let (sine, cosine) = libm::sincos(turn);
    let turned = [cosine * moving[0] + sine * moving[1], cosine * moving[1] - sine * moving[0]];
    let shift = Vec2::new((still[0] - turned[0]) as f32, (still[1] - turned[1]) as f32);
    (squared.max(0.0), Planar { turn: wrap(turn as f32), shift })
}

/// Distance of every `step`-th window to the one `seconds` later in its clip: how far motion goes by itself.
fn successors(cloud: &Cloud, fps: f32, seconds: f32, step: usize) -> Vec<(usize, f32)> {
    let lag = ((seconds * fps).round() as usize).max(1);
    let follows = |s: &usize| match (cloud.place(*s), cloud.place(s + lag)) {
        (Some(a), Some(b)) => a.0 == b.0,
        _ => false,
    };
    (0..cloud.len()).step_by(step).filter(follows).map(|s| (s, pair(cloud, s, s + lag).0.sqrt() as f32)).collect()
}

/// The value that a share of a list is below.
fn quantile(mut values: Vec<f32>, share: f32) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let rank = (f64::from(share.clamp(0.0, 1.0)) * (values.len() - 1) as f64).round() as usize;
    *values.select_nth_unstable_by(rank, f32::total_cmp).1
}

fn limits(cloud: &Cloud, fps: f32, config: &TransitionConfig) -> (f32, f32) {
    // A few thousand samples estimate a percentile as well as all of them.
    let step = (cloud.len() / 4096).max(1);
    let natural: Vec<f32> = successors(cloud, fps, config.successor_seconds, step).into_iter().map(|s| s.1).collect();
    let limit = quantile(natural.clone(), config.percentile);
    (limit, quantile(natural, config.long_percentile).max(limit))
}

#[cfg(test)]
mod tests;
