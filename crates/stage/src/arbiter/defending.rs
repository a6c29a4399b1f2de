//! What a character does about balls that come: it dodges or blocks them.

use kumite_motion::EdgeIdx;
use kumite_plan::dodge::{DodgeDecision, Forecast};
use kumite_plan::{Leg, Threat};

use super::Turn;
use crate::op::{Event, EventKind};
use crate::world::{Answer, BallId, Doing, Wish};
use crate::{TICKS, sense};

/// Ticks between two looks at balls that seemed to miss.
pub const LOOK_AGAIN: u64 = 6;
/// A dodge that is hit no deeper than this is better than none, metres.
const GRAZED: f32 = 0.02;

impl Turn<'_> {
    /// Whether it is time to look again at balls that nothing was done about: what is played next may have changed.
    pub(super) fn looks_again(&self) -> bool {
        let member = &self.world.characters[self.who];
        let defends = matches!(member.doing, Doing::Defending(_));
        let open = |ball: &BallId| !defends || member.answers.iter().all(|answer| answer.ball != *ball);
        !matches!(member.doing, Doing::Reacting(_))
            && self.world.tick.is_multiple_of(LOOK_AGAIN)
            && member.known.iter().any(|(ball, _)| open(ball))
    }

    /// Balls it knows of that are still to come, as attacks from now on.
    fn threats(&self) -> Vec<(BallId, Threat)> {
        let tick = self.world.tick;
        let member = &self.world.characters[self.who];
        let delay = sense::delay(member);
        let known = member.known.iter().filter(|(_, since)| since + delay <= tick);
        known
            .filter_map(|(id, _)| {
                let ball = self.world.balls.get(*id)?;
                let left = ball.arrives - ball.age(tick);
                Some((*id, Threat::ball(&ball.from(tick), left).ok()?))
            })
            .collect()
    }

    /// Dodges or blocks what comes, if anything helps. What is not done is told of the first look at a ball only.
    pub(super) fn defend(&mut self, first_look: bool) {
        let threats = self.threats();
        if threats.is_empty() || matches!(self.world.characters[self.who].doing, Doing::Reacting(_)) {
            return;
        }
        let Some(defence) = self.kit.defence() else { return self.brace(&threats) };
        let attacks: Vec<Threat> = threats.iter().map(|t| t.1.clone()).collect();
        let balls: Vec<BallId> = threats.iter().map(|t| t.0).collect();
        let legs: Vec<Leg> = self.character().legs().iter().copied().collect();
        let character = &self.world.characters[self.who].character;
        match defence.decide(character, &legs, &attacks, &mut self.scratch.dodge) {
            Ok(decision) if !helps(&decision) => {
                let why = match decision.forecast {
                    Forecast::Clear => "the ball misses".to_owned(),
                    _ => format!("nothing of {} candidates helps", decision.counts.tested),
                };
                if decision.forecast != Forecast::Clear {
                    self.brace(&threats);
                }
                if first_look && self.character().brace().is_none() {
                    self.tell("goes on".into(), why);
                }
            }
            Ok(decision) => {
                let passed = attacks.iter().map(Threat::ends).fold(0.0, f32::max);
                self.take_up(&decision, &balls, &legs, passed);
            }
            Err(error) if first_look => self.tell("does nothing".into(), error.to_string()),
            Err(_) => {}
        }
    }

    /// Commits a decision that helps against balls that have passed after so many seconds.
    fn take_up(&mut self, decision: &DodgeDecision, balls: &[BallId], legs: &[Leg], passed: f32) {
        // A walk that is only bent still ends where and when it was planned to.
        let goes_on = decision.legs.is_empty();
        let guard = decision.block.map(|b| b.wrist);
        let bent = decision.bend.map_or(0.0, |bend| bend.fall.1);
        let member = &mut self.world.characters[self.who];
        let plan = decision.plan(legs, member.character.leaves());
        if let (true, Doing::Walking(until)) = (goes_on, member.doing) {
            // As far as the walk is to go it goes, only when it gets there changes.
            let ahead = member.character.warp().at((until - self.world.tick) as f32 / TICKS as f32).0;
            member.doing = Doing::Walking(self.world.tick + (plan.warp.when(ahead) * TICKS as f32).round() as u64);
        }
        member.character.commit(plan);
        member.answers = balls.iter().map(|ball| Answer { ball: *ball, guard }).collect();
        if !(goes_on && matches!(member.doing, Doing::Walking(_))) {
            // Whoever wants to be somewhere goes on as soon as it can.
            let walks = matches!(self.world.characters[self.who].wish, Wish::Walk(_));
            let seconds = if walks { passed } else { self.left().max(bent) };
            let until = self.world.tick + (seconds * TICKS as f32) as u64;
            self.world.characters[self.who].doing = Doing::Defending(until);
        }
        for ball in balls {
            if let Some(ball) = self.world.balls.get_mut(*ball) {
                ball.answered = true;
            }
        }
        let (tick, who) = (self.world.tick, Some(self.who));
        let kind = EventKind::Answered { decision: Box::new(decision.clone()) };
        self.events.push(Event { tick, who, kind });
        let what = match (decision.block, decision.span) {
            (Some(_), _) => "blocks".to_owned(),
            (None, Some((edge, span))) => self.label(edge, span),
            (None, None) if !goes_on => "steps aside".to_owned(),
            (None, None) if decision.warp.scale() > 1.0 => "slows down".to_owned(),
            (None, None) if decision.warp.scale() < 1.0 => "hurries".to_owned(),
            (None, None) => "bends".to_owned(),
        };
        let why = format!("{} candidates, clears by {:.0} cm", decision.counts.tested, 100.0 * decision.clearance);
        self.tell(what, why);
    }

    fn label(&self, edge: EdgeIdx, span: u32) -> String {
        let library = self.kit.library();
        let clip = library.clip(library.graph().edge(edge).clip);
        let label = clip.spans.get(span as usize).map(|s| s.label.clone()).unwrap_or_default();
        if label.is_empty() { clip.name.clone() } else { label }
    }
}

/// Whether a decision is worth committing. Forecasts are careful: what is thought to be grazed may well not be.
fn helps(decision: &DodgeDecision) -> bool {
    let grazed = decision.span.is_some() && decision.clearance > -GRAZED;
    match decision.forecast {
        Forecast::Clear => false,
        Forecast::Hit => grazed,
        Forecast::Avoided | Forecast::Blocked => true,
    }
}
