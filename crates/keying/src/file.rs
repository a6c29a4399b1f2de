//! The files as people write them. Angles in degrees, lengths in metres, times in seconds; x to the left, y up, z forward.

use kumite_motion::Chance;
use serde::Deserialize;

use crate::curve::Ease;

/// A stance: what motions start from, end in, and are keyed relative to.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StanceFile {
    /// What motions call it.
    pub name: String,
    /// Height of the pelvis joint.
    pub pelvis_height: f32,
    /// Share of the weight on the left foot, 0..1.
    pub weight: f32,
    /// How strongly the centre of mass is held over the weight's place, 0..1: lying bodies need not balance.
    #[serde(default = "one")]
    pub balance: f32,
    /// How far the body is from the weight's place between the feet: x, z. Of bodies that lie beside their feet.
    #[serde(default)]
    pub shift: [f32; 2],
    /// Ball of the left foot on the floor.
    pub left_foot: FootPlace,
    /// Ball of the right foot on the floor.
    pub right_foot: FootPlace,
    /// Attitude of the pelvis.
    #[serde(default)]
    pub hips: Attitude,
    /// Attitude of the rib cage, in the stance's frame, not the pelvis's.
    #[serde(default)]
    pub chest: Attitude,
    /// Attitude of the head, in the stance's frame.
    #[serde(default)]
    pub head: Attitude,
    /// Left wrist.
    pub left_hand: [f32; 3],
    /// Right wrist.
    pub right_hand: [f32; 3],
    /// Turn of the left elbow about the line from shoulder to wrist; positive lifts it outwards.
    #[serde(default)]
    pub left_elbow: f32,
    /// Turn of the right elbow; positive lifts it outwards.
    #[serde(default)]
    pub right_elbow: f32,
    /// Left hand on its forearm.
    #[serde(default)]
    pub left_fist: Fist,
    /// Right hand on its forearm.
    #[serde(default)]
    pub right_fist: Fist,
}

/// A foot on the floor.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FootPlace {
    /// Ball of the foot: x, z.
    pub at: [f32; 2],
    /// Where the toes point; 0 is forward, positive to the left.
    #[serde(default)]
    pub turn: f32,
    /// How far the heel is raised.
    #[serde(default)]
    pub heel: f32,
}

/// Which way a part of the trunk faces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Attitude {
    /// About the vertical, positive to the left.
    pub turn: f32,
    /// Forward.
    pub lean: f32,
    /// To the left.
    pub tilt: f32,
}

/// A hand on its forearm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Fist {
    /// About the forearm; positive turns the palm down.
    pub roll: f32,
    /// Towards the palm.
    pub bend: f32,
}

/// One motion.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MotionFile {
    /// Unique in its library.
    pub name: String,
    /// One line for people.
    #[serde(default)]
    pub about: String,
    /// The embedded motion this one is a variant of: whatever is not said here is as there. Keys come after its keys; steps and spans,
    /// if there are any, replace its own.
    pub like: Option<String>,
    /// How far the variant goes: shifts, attitudes, hands that move by something and steps, as a multiple of what `like` does.
    #[serde(default = "one")]
    pub amount: f32,
    /// How long the variant takes, as a multiple of what `like` does.
    #[serde(default = "one")]
    pub pace: f32,
    /// The stance keys are relative to. Only a variant may leave it out.
    #[serde(default)]
    pub stance: String,
    /// The stance it ends in, if that is another one. Keys are relative to what lies between the two.
    pub ends: Option<String>,
    /// From when to when one stance becomes the other. Feet that step after its beginning step into the new one.
    pub change: Option<[f32; 2]>,
    /// Whole length. Only a variant may leave it out.
    #[serde(default)]
    pub seconds: f32,
    /// Name of the variant with left and right exchanged; none is made without it.
    pub mirror: Option<String>,
    /// How strongly the centre of mass is held over the weight's place, 0..1.
    #[serde(default = "one")]
    pub balance: f32,
    /// By how much the hips run ahead of the keys; the chest by half of it.
    #[serde(default = "default_lead")]
    pub lead: f32,
    /// The same part by part, for those that do not follow [`MotionFile::lead`].
    #[serde(default)]
    pub early: Early,
    /// By how much the hands trail behind the turns of the chest.
    #[serde(default = "default_drag")]
    pub drag: f32,
    /// By how much hands and head trail behind the trunk's travel, where it starts, stops or bounces.
    #[serde(default)]
    pub trail: f32,
    /// Time over which the trunk's travel is evened out, so that it glides while the feet take turns: one step of a walk.
    /// 0 ties the trunk to the feet.
    #[serde(default)]
    pub glide: f32,
    /// How much it breathes and sways, 1 for a person at rest.
    #[serde(default)]
    pub life: f32,
    /// How much the centre of mass is moved as soles can push it, 0..1, by the bounds of what its spans say it is: see `kumite_motion::settle`.
    #[serde(default)]
    pub settle: f32,
    /// Whether the motion returns to its stance at the end. If not, the last keys hold.
    #[serde(default = "yes")]
    pub returns: bool,
    /// Key poses.
    #[serde(default)]
    pub key: Vec<Key>,
    /// Steps and pivots.
    #[serde(default)]
    pub step: Vec<Step>,
    /// Times when the whole body is in the air.
    #[serde(default)]
    pub flight: Vec<Flight>,
    /// Labels.
    #[serde(default)]
    pub span: Vec<SpanKey>,
}

fn half() -> f32 {
    0.5
}

fn one() -> f32 {
    1.0
}

fn default_lead() -> f32 {
    0.05
}

fn default_drag() -> f32 {
    0.03
}

fn yes() -> bool {
    true
}

/// By how many seconds parts run ahead of their keys, or behind them where it is negative. What is left out follows `lead`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Early {
    /// Where the weight goes: `shift`, `weight`, and the travel of steps.
    pub weight: Option<f32>,
    /// Pelvis.
    pub hips: Option<f32>,
    /// Rib cage.
    pub chest: Option<f32>,
    /// Neck; with the head if left out.
    pub neck: Option<f32>,
    /// Head. It also turns so much sooner than the steps lead it.
    pub head: Option<f32>,
    /// Elbows.
    pub elbows: Option<f32>,
}

/// A shoulder on the rib cage, degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Shoulder {
    /// Forward.
    pub forward: f32,
    /// Up: a shrug.
    pub up: f32,
}

/// A moment at which some parts are somewhere. Parts that are not named run through it undisturbed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    /// When.
    pub at: f32,
    /// Repeats the key at this interval, seconds.
    pub every: Option<f32>,
    /// How often in all, with `every`.
    pub times: Option<u32>,
    /// How unevenly, with `every`: times by this share of it, and how far by the same share. The first and the last stay on time.
    #[serde(default)]
    pub vary: f32,
    /// How the named parts arrive.
    #[serde(default)]
    pub ease: Ease,
    /// Whether the named parts stop here.
    #[serde(default)]
    pub hold: bool,
    /// Shift of the centre of mass (x, z) and height of the pelvis (y), from the stance.
    pub shift: Option<[f32; 3]>,
    /// Share of the weight on the left foot, 0..1.
    pub weight: Option<f32>,
    /// Pelvis, from the stance.
    pub hips: Option<Attitude>,
    /// Rib cage, from the stance.
    pub chest: Option<Attitude>,
    /// Head, from the stance.
    pub head: Option<Attitude>,
    /// Left wrist.
    pub left_hand: Option<Place>,
    /// Right wrist.
    pub right_hand: Option<Place>,
    /// Left shoulder on the rib cage, beyond what a far reach does to it.
    pub left_shoulder: Option<Shoulder>,
    /// Right shoulder on the rib cage.
    pub right_shoulder: Option<Shoulder>,
    /// Left elbow, from the stance.
    pub left_elbow: Option<f32>,
    /// Right elbow, from the stance.
    pub right_elbow: Option<f32>,
    /// Left fist, from the stance.
    pub left_fist: Option<Fist>,
    /// Right fist, from the stance.
    pub right_fist: Option<Fist>,
    /// Left heel, from the stance; negative lifts the toes.
    pub left_heel: Option<f32>,
    /// Right heel, from the stance; negative lifts the toes.
    pub right_heel: Option<f32>,
    /// Turn of the left foot on its ball, from the stance, positive to the left.
    pub left_twist: Option<f32>,
    /// Turn of the right foot on its ball, from the stance, positive to the left.
    pub right_twist: Option<f32>,
    /// Left ankle, while a step has the foot in the air.
    pub left_foot: Option<Place>,
    /// Right ankle, while a step has the foot in the air.
    pub right_foot: Option<Place>,
    /// Turn of the left knee about the line from hip to ankle; positive turns it outwards.
    pub left_knee: Option<f32>,
    /// Turn of the right knee; positive turns it outwards.
    pub right_knee: Option<f32>,
    /// Left foot on its shin while it is in the air: 0 is square to it, positive points the toes.
    pub left_point: Option<f32>,
    /// Right foot on its shin while it is in the air.
    pub right_point: Option<f32>,
}

/// Where a hand or a foot goes.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
pub enum Place {
    /// Moved by this: a hand from the stance, as the chest sees it; a foot from where its step would have it.
    By([f32; 3]),
    /// To this place in the stance's frame.
    To([f32; 3]),
}

/// The whole body leaves the floor and falls as bodies fall: pelvis and feet ride on a parabola.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flight {
    /// Take-off.
    pub from: f32,
    /// Landing. The body rises by 1.23 m times the square of the seconds between.
    pub to: f32,
    /// For so long before it the legs bend and push.
    #[serde(default = "default_load")]
    pub load: f32,
    /// For so long after it they give way.
    #[serde(default = "default_load")]
    pub absorb: f32,
}

fn default_load() -> f32 {
    0.3
}

/// One foot goes to where it belongs in a stance that has moved.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Which.
    pub foot: Foot,
    /// Leaves the floor.
    pub from: f32,
    /// Lands.
    pub to: f32,
    /// How far the stance has moved from where the motion began: x, z.
    #[serde(default)]
    pub by: [f32; 2],
    /// How far the stance has turned, positive to the left.
    #[serde(default)]
    pub turn: f32,
    /// The stance turns about the ball of this foot, as it stood in the beginning, instead of about its origin.
    pub about: Option<Foot>,
    /// Repeats the step at this interval, seconds.
    pub every: Option<f32>,
    /// How often in all, with `every`.
    pub times: Option<u32>,
    /// How unevenly in time, with `every`, as a share of it.
    #[serde(default)]
    pub vary: f32,
    /// When the swing is highest, 0 to 1.
    #[serde(default = "half")]
    pub peak: f32,
    /// How much farther each repetition goes: x, z.
    #[serde(default)]
    pub advance: [f32; 2],
    /// Height of the swing; 0 is a pivot on the ball of the foot, which stays where it is.
    #[serde(default = "default_lift")]
    pub lift: f32,
}

fn default_lift() -> f32 {
    0.05
}

/// Left or right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Foot {
    Left,
    Right,
}

/// A labelled interval.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpanKey {
    /// attack, avoid, block, step, turn, walk, run, idle, react, down or up.
    pub kind: String,
    /// More exactly.
    #[serde(default)]
    pub label: String,
    /// Start.
    pub from: f32,
    /// End.
    pub to: f32,
    /// When it counts.
    pub active: Option<[f32; 2]>,
    /// Striking or guarding part, by its canonical joint name.
    pub part: Option<String>,
}

impl MotionFile {
    /// With every repetition written out.
    pub(crate) fn expanded(&self) -> MotionFile {
        let copies = |every: Option<f32>, times: Option<u32>| {
            let every = every.filter(|e| e.is_finite()).unwrap_or(0.0);
            (0..times.unwrap_or(1).clamp(1, 10_000)).map(move |n| (n as f32, n as f32 * every))
        };
        let mut file = self.clone();
        file.key.clear();
        for key in &self.key {
            for (n, later) in copies(key.every, key.times) {
                let (sooner, more) = uneven(key.vary, n, key.times);
                let at = key.at + later + sooner * key.every.unwrap_or(0.0);
                let key = if more == 0.0 { key.clone() } else { key.varied(1.0 + more, 1.0) };
                file.key.push(Key { at, every: None, times: None, vary: 0.0, ..key });
            }
        }
        file.step.clear();
        for step in &self.step {
            for (n, later) in copies(step.every, step.times) {
                let by = [0, 1].map(|i| step.by[i] + n * step.advance[i]);
                let later = later + uneven(step.vary, n, step.times).0 * step.every.unwrap_or(0.0);
                let (from, to) = (step.from + later, step.to + later);
                file.step.push(Step { from, to, by, every: None, times: None, vary: 0.0, ..step.clone() });
            }
        }
        file
    }
}

/// By what share a repetition is late, and by what share it goes farther. The same for all keys that repeat as unevenly, so that what belongs
/// to one beat stays together.
fn uneven(vary: f32, n: f32, times: Option<u32>) -> (f32, f32) {
    if vary == 0.0 || n == 0.0 || n as u32 + 1 == times.unwrap_or(1) {
        return (0.0, 0.0);
    }
    let mut chance = Chance::new(n as u64);
    (vary * (2.0 * chance.unit() - 1.0), vary * (2.0 * chance.unit() - 1.0))
}
