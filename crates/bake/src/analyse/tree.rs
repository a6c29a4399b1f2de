//! The classifier by what the joints with large accelerations do (Shum, Komura and Yamazaki 2007, § 3): a short decision tree. Its questions are
//! chosen by hand, as a trainer would ask them; their thresholds are fitted to captures.

use super::class::Class;
use super::features::{Feature, Row};

/// Where a question leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum To {
    /// To another question.
    Ask(usize),
    /// To an answer.
    Is(Class),
}

/// Whether a feature is above a threshold.
struct Question {
    of: Feature,
    above: To,
    below: To,
    /// The threshold where no example tells it.
    unless_fitted: f32,
    /// The threshold that [`Tree::fit`] gives on ACCAD Male2, by the names of its files; `crates/bake/tests/analysis.rs` fits it again.
    fitted: f32,
    /// Whether the threshold is known and never fitted.
    given: bool,
}

/// A question whose threshold is known.
const fn given(of: Feature, above: To, below: To, limit: f32) -> Question {
    Question { of, above, below, unless_fitted: limit, fitted: limit, given: true }
}

const fn ask(of: Feature, above: To, below: To, unless_fitted: f32, fitted: f32) -> Question {
    Question { of, above, below, unless_fitted, fitted, given: false }
}

use To::{Ask, Is};

/// Where the questions about kicks begin, and those about punches.
const KICK: usize = 6;
const PUNCH: usize = 10;

/// In the order they are asked.
const QUESTIONS: [Question; 26] = [
    // 0: on the feet?
    ask(Feature::Hip, Ask(2), Ask(1), 0.75, 0.723),
    // 1: down, or getting up.
    ask(Feature::Rise, Is(Class::Up), Is(Class::Down), 0.15, 0.146),
    // 2-4: running, whose arms swing faster than some people box. Boxers bounce, but keep below 1 m/s; walkers are in the air for 0.20
    // of the time at most, runners for 0.28 at least (ACCAD Male2 and 14 people of CMU); nobody runs with a foot above the hip.
    given(Feature::Pace, Ask(3), Ask(5), 1.3),
    given(Feature::Aloft, Ask(4), Ask(5), 0.24),
    given(Feature::FootUp, Ask(5), Is(Class::Run), 1.0),
    // 5-8: kicks.
    ask(Feature::FootUp, Ask(KICK), Ask(9), 0.7, 0.719),
    ask(Feature::Lateral, Is(Class::Round), Ask(7), 0.2, 0.2),
    ask(Feature::Sagittal, Ask(8), Is(Class::SideKick), 0.0, 0.139),
    ask(Feature::Sweep, Is(Class::Round), Is(Class::Front), 60.0, 74.06),
    // 9-12: punches.
    ask(Feature::Punch, Ask(PUNCH), Ask(13), 2.7, 2.965),
    ask(Feature::Upwards, Is(Class::Uppercut), Ask(11), 0.7, 0.694),
    ask(Feature::Outwards, Is(Class::Backfist), Ask(12), 0.8, 0.712),
    ask(Feature::Gained, Is(Class::Straight), Is(Class::Hook), 0.25, 0.278),
    // 13: walking. Feet of fighters who advance or retreat do not pass each other.
    ask(Feature::Passes, Is(Class::Walk), Ask(14), 1.5, 2.5),
    // 14-16: a knee, a duck, a jump.
    ask(Feature::KneeUp, Is(Class::Knee), Ask(15), 1.1, 1.1),
    ask(Feature::Drop, Is(Class::Duck), Ask(16), 0.3, 0.335),
    ask(Feature::Clear, Is(Class::Jump), Ask(17), 0.3, 0.3),
    // 17-18: small steps and turns.
    ask(Feature::Net, Is(Class::Step), Ask(18), 0.25, 0.465),
    ask(Feature::Turn, Is(Class::Turn), Ask(19), 20.0, 28.883),
    // 19-25: leaving the pose and coming back to it.
    ask(Feature::Away, Ask(20), Is(Class::Idle), 0.1, 0.1),
    // A motion that does not come back has changed the stance.
    ask(Feature::Back, Is(Class::Idle), Ask(21), 0.75, 0.75),
    ask(Feature::Jolt, Is(Class::React), Ask(22), 1.2, 1.2),
    ask(Feature::HandAway, Is(Class::Block), Ask(23), 0.45, 0.488),
    ask(Feature::HeadSpeed, Ask(24), Is(Class::Idle), 0.7, 0.719),
    ask(Feature::HeadBack, Is(Class::Sway), Ask(25), 0.2, 0.2),
    ask(Feature::HeadSide, Is(Class::Slip), Is(Class::Twist), 0.1, 0.1),
];

/// From the chance that no threshold was on the wrong side to the share that is right, a line through what
/// `crates/bake/tests/strangers.rs` counts on people nothing was fitted to.
const CALIBRATED: (f32, f32) = (0.55, 0.44);

/// The thresholds of all questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Tree {
    limits: [f32; QUESTIONS.len()],
}

impl Default for Tree {
    /// As fitted to ACCAD Male2.
    fn default() -> Tree {
        Tree { limits: std::array::from_fn(|q| QUESTIONS[q].fitted) }
    }
}

/// Whether an answer can be reached from a branch.
fn leads_to(to: To, class: Class) -> bool {
    match to {
        To::Is(answer) => answer == class,
        To::Ask(q) => leads_to(QUESTIONS[q].above, class) || leads_to(QUESTIONS[q].below, class),
    }
}

impl Tree {
    /// With the thresholds that a trainer would guess, fitted to nothing.
    pub fn unfitted() -> Tree {
        Tree { limits: std::array::from_fn(|q| QUESTIONS[q].unless_fitted) }
    }

    /// The thresholds that separate the examples best, question by question, each fitted to the examples that reach it. Questions that no
    /// example reaches keep their default.
    pub fn fit(examples: &[(Row, Class)]) -> Tree {
        let mut limits = [0.0; QUESTIONS.len()];
        let mut at = vec![Some(0); examples.len()];
        // One pass is enough: branches lead to later questions only.
        for (q, question) in QUESTIONS.iter().enumerate() {
            let mut sides: Vec<(f32, bool)> = Vec::new();
            for ((row, class), _) in examples.iter().zip(&at).filter(|e| *e.1 == Some(q)) {
                let (above, below) = (leads_to(question.above, *class), leads_to(question.below, *class));
                if above != below {
                    sides.push((row[question.of as usize], above));
                }
            }
            let fitted = if question.given { None } else { best_limit(sides) };
            limits[q] = fitted.unwrap_or(question.unless_fitted);
            for ((row, _), at) in examples.iter().zip(&mut at).filter(|e| *e.1 == Some(q)) {
                let to = if row[question.of as usize] > limits[q] { question.above } else { question.below };
                *at = match to {
                    To::Ask(next) => Some(next),
                    To::Is(_) => None,
                };
            }
        }
        Tree { limits }
    }

    /// The class of an action.
    pub fn classify(&self, row: &Row) -> Class {
        self.answer(0, row)
    }

    /// The class of a strike, by the numbers that [`describe`](super::features::describe) wrote into the row.
    pub fn strike_class(&self, row: &Row, kick: bool) -> Class {
        self.answer(if kick { KICK } else { PUNCH }, row)
    }

    /// Whether a foot is raised enough, or a fist fast enough, to be a strike.
    pub fn is_strike(&self, row: &Row, kick: bool) -> bool {
        let q = if kick { KICK - 1 } else { PUNCH - 1 };
        row[QUESTIONS[q].of as usize] > self.limits[q]
    }

    fn answer(&self, question: usize, row: &Row) -> Class {
        let mut at = question;
        loop {
            let question = &QUESTIONS[at];
            match if row[question.of as usize] > self.limits[at] { question.above } else { question.below } {
                To::Is(class) => return class,
                To::Ask(next) => at = next,
            }
        }
    }

    /// How sure the class of an action is, 0 to 1.
    pub fn confidence(&self, row: &Row) -> f32 {
        self.sure(0, row)
    }

    /// How sure the class of a strike is, 0 to 1: that it is one, and of which kind.
    pub fn strike_confidence(&self, row: &Row, kick: bool) -> f32 {
        self.sure(if kick { KICK - 1 } else { PUNCH - 1 }, row)
    }

    fn sure(&self, question: usize, row: &Row) -> f32 {
        let (mut at, mut sure) = (question, 1.0);
        loop {
            let question = &QUESTIONS[at];
            let off = row[question.of as usize] - self.limits[at];
            sure *= 1.0 - 0.5 * libm::expf(-off.abs() / question.of.blur());
            match if off > 0.0 { question.above } else { question.below } {
                To::Is(_) => return CALIBRATED.0 + CALIBRATED.1 * sure,
                To::Ask(next) => at = next,
            }
        }
    }

    /// The questions with their thresholds.
    pub fn questions(&self) -> impl Iterator<Item = (Feature, f32)> + '_ {
        QUESTIONS.iter().zip(&self.limits).map(|(q, limit)| (q.of, *limit))
    }
}

/// The threshold with the smallest shares of examples on the wrong side; among equals, the middle of the widest gap. `None` if one side has no example.
pub(super) fn best_limit(mut sides: Vec<(f32, bool)>) -> Option<f32> {
    sides.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let (above, below) = (sides.iter().filter(|s| s.1).count(), sides.iter().filter(|s| !s.1).count());
    if above == 0 || below == 0 {
        return None;
    }
    let (mut best, mut above_missed) = (None::<(f32, f32, f32)>, 0);
    for (i, pair) in sides.windows(2).enumerate() {
        above_missed += usize::from(pair[0].1);
        let below_seen = i + 1 - above_missed;
        let wrong = above_missed as f32 / above as f32 + (below - below_seen) as f32 / below as f32;
        let gap = pair[1].0 - pair[0].0;
        let better = best.is_none_or(|(w, g, _)| wrong < w - 1e-6 || (wrong < w + 1e-6 && gap > g));
        if gap > 0.0 && better {
            best = Some((wrong, gap, pair[0].0 + 0.5 * gap));
        }
    }
    best.map(|b| b.2)
}
