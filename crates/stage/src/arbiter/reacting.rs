//! What a character does about a hit: physics shows it, then it goes on, answers with a motion of its library, steps, or falls and gets up.

use kumite_motion::{Role, Vec3};
use kumite_react::touch::striking_mass;
use kumite_react::{Extent, Touch};

use super::Turn;
use crate::TICKS;
use crate::op::{Event, EventKind};
use crate::struck::Turnout;
use crate::world::Doing;

/// Longest that a hit that needs no steps keeps somebody from deciding, seconds.
const STUNNED: f32 = 0.6;
/// And least.
const SHAKEN: f32 = 0.15;

/// A touch that somebody has to react to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blow {
    /// What was hit.
    pub part: Role,
    /// From where it came, as a direction in the world.
    pub along: Vec3,
    /// What touched, and how.
    pub touch: Touch,
    /// Whether what was hit was there to meet it: a guard, or a brace.
    pub ready: bool,
}

impl Blow {
    /// Of a limb of somebody else that strikes at a place with a speed against what it meets.
    pub fn by_limb(end: Role, part: Role, at: Vec3, normal: Vec3, velocity: Vec3) -> Blow {
        let touch = Touch { part, at, normal, velocity, mass: striking_mass(end) };
        Blow { part, along: velocity.normalize_or(-normal), touch, ready: false }
    }
}

impl Turn<'_> {
    /// A hit is shown by physics from now on. Says whether nothing else is decided in this tick.
    pub(super) fn react(&mut self, blow: &Blow) -> bool {
        let tick = self.world.tick;
        let recoveries = std::sync::Arc::clone(self.kit.recoveries());
        let near = |o: &kumite_motion::volume::Obstacle, from: Vec3| o.distance(from) < 2.0;
        let root = self.character().pose().root();
        let around: Vec<_> = self.world.obstacles.iter().filter(|o| near(o, root)).copied().collect();
        let member = &mut self.world.characters[self.who];
        let how = (member.response, member.returns);
        let was_down = member.character.is_down();
        let Some(extent) = member.character.strike(&recoveries, &blow.touch, &around, how, blow.ready) else {
            return false;
        };
        let mass = recoveries.build().map_or(1.0, |b| b.parts()[kumite_react::ragdoll::parts::part_of(blow.part)].mass);
        let (change, damage) = (blow.touch.change(), blow.touch.damage(mass));
        member.damage += damage;
        let kind = EventKind::Struck { part: blow.part, along: blow.along, change, damage, extent, gain: how.0.gain };
        self.events.push(Event { tick, who: Some(self.who), kind });
        if was_down {
            return true;
        }
        match extent {
            Extent::Steps | Extent::Down => {
                self.busy(STUNNED);
                true
            }
            Extent::Sway if blow.ready || matches!(self.world.characters[self.who].doing, Doing::Walking(_)) => false,
            Extent::Sway => {
                self.busy(SHAKEN);
                true
            }
        }
    }

    /// Nothing else is decided for so many seconds.
    fn busy(&mut self, seconds: f32) {
        let ticks = (seconds.min(60.0) * TICKS as f32) as u64;
        let member = &mut self.world.characters[self.who];
        (member.doing, member.answers) = (Doing::Reacting(self.world.tick + ticks), Vec::new());
    }

    /// What came of a hit, in the tick it is known.
    pub(super) fn watch_recovery(&mut self) {
        let (kit, who) = (self.kit, self.who);
        let member = &mut self.world.characters[who];
        if member.character.response().is_none() {
            return;
        }
        let walks = matches!(member.doing, Doing::Walking(_));
        let Some(turnout) = member.character.watch_recovery(kit.recoveries(), !walks) else { return };
        let tick = self.world.tick;
        let mut happened = |kind: EventKind| self.events.push(Event { tick, who: Some(who), kind });
        match turnout {
            Turnout::GoesOn => {
                if matches!(self.world.characters[who].doing, Doing::Reacting(_)) {
                    self.world.characters[who].doing = Doing::Own;
                }
            }
            Turnout::Answers(label, seconds) => {
                self.busy(seconds.min(STUNNED));
                self.tell(label, "hit: the library's answer to it".into());
            }
            Turnout::Staggers(label, seconds) => {
                happened(EventKind::Staggered);
                self.busy(seconds);
                self.tell(label, "hit: steps catch it".into());
            }
            Turnout::Falls(label) => {
                self.busy(f32::INFINITY);
                self.tell(label, "hit: farther off its feet than steps can catch".into());
            }
            Turnout::Down => happened(EventKind::Down),
            Turnout::Rises(label, seconds) => {
                self.busy(seconds + 2.0);
                self.tell(label, "it lies still: the way up that is nearest to how it lies".into());
            }
            Turnout::Up => {
                happened(EventKind::Up);
                self.world.characters[who].doing = Doing::Own;
            }
        }
    }
}
