//! A character and its brace: what it is made from, and how it lies over what is played. It is never part of the base that plans are joined from.

use kumite_motion::{Contacts, Pose, Vec3, sample};
use kumite_react::{Brace, Impact, Source, Swing, timing};

use crate::character::TICK;
use crate::world::FlyingBall;
use crate::{Character, TICKS, contact};

/// Farthest back that the beginning of a swing is looked for, seconds.
const SWING: f32 = 0.8;

/// A touch that is going to happen if nothing is done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Foreseen {
    /// What hits, and where.
    pub(crate) impact: Impact,
    /// After how many seconds.
    pub(crate) seconds: f32,
}

impl Character {
    /// The brace it is in.
    pub fn brace(&self) -> Option<&Brace> {
        self.brace.as_deref()
    }

    /// Braces from now on.
    pub fn take_up_brace(&mut self, brace: Brace) {
        self.brace = Some(Box::new(brace));
    }

    /// What it braced for hits.
    pub(crate) fn brace_is_hit(&mut self) {
        if let Some(brace) = &mut self.brace {
            brace.hit();
        }
    }

    /// Lets a brace fade because something else is done; says whether what is played had been slowed down by it.
    pub(crate) fn leave_brace(&mut self) -> bool {
        self.brace.as_mut().is_some_and(|brace| {
            let slowed = brace.rate() < 1.0;
            brace.give_up();
            slowed
        })
    }

    /// A tick of the brace; seconds of motion per second from here on.
    pub(crate) fn step_brace(&mut self) -> f32 {
        let Some(brace) = &mut self.brace else { return 1.0 };
        brace.advance(TICK);
        if brace.over() {
            self.brace = None;
            return 1.0;
        }
        brace.rate()
    }

    /// A copy that is neither braced nor hit.
    pub(crate) fn unbraced(&self) -> Character {
        let mut copy = self.clone();
        copy.brace = None;
        copy.struck = None;
        copy
    }

    /// What it plays, as a brace that is hit after `seconds` needs it.
    pub fn brace_source(&self, seconds: f32) -> Source {
        let mut later = self.unbraced();
        let ticks = |seconds: f32| (seconds * TICKS as f32).round() as u32;
        let (soon, ahead, contact) = (ticks(timing::STARTLE_AHEAD), ticks(timing::LOOK_AHEAD), ticks(seconds));
        let [now, before] = self.base.clone();
        let mut source = Source { now, before, apart: TICK, ..Source::default() };
        let keep = |tick: u32, pose: &Pose, source: &mut Source| {
            for (at, kept) in [(soon, &mut source.soon), (ahead, &mut source.ahead), (contact, &mut source.contact)] {
                if tick == at {
                    kept.clone_from(pose);
                }
            }
        };
        keep(0, self.base(), &mut source);
        for tick in 1..=contact.max(ahead) {
            let _ = later.step(|_, next| next[0]);
            keep(tick, later.base(), &mut source);
        }
        source.stands = [Contacts::LEFT, Contacts::RIGHT].map(|foot| self.contacts().any(foot));
        source.swing = match source.stands {
            [true, false] => Some(self.swing(1)),
            [false, true] => Some(self.swing(0)),
            _ => None,
        };
        source
    }

    /// How far a foot in the air has swung, by the contacts of the clip before and after.
    fn swing(&self, foot: usize) -> Swing {
        let part = [Contacts::LEFT, Contacts::RIGHT][foot];
        let (clip, first) = self.clip();
        let now = first.at() as f32 / clip.fps() + self.playing().since;
        let until = |direction: f32| {
            let ticks = 0..(SWING * TICKS as f32) as u32;
            let away = |tick: u32| tick as f32 * TICK * direction;
            let found = ticks.clone().find(|tick| sample::contacts_at(clip, now + away(*tick)).any(part));
            found.unwrap_or(ticks.end) as f32
        };
        let (before, after) = (until(-1.0), until(1.0));
        Swing { foot, share: before / (before + after).max(1.0) }
    }

    /// When and where a ball touches it if nothing is done; `None` if it misses. Plays on as far as it flies.
    pub(crate) fn foresees(&self, ball: &FlyingBall, tick: u64, until: f32) -> Option<Foreseen> {
        let mut later = self.unbraced();
        let library = std::sync::Arc::clone(self.library());
        let spheres = library.spheres();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        contact::place(spheres, later.world(), &mut before);
        let ticks = (until.max(0.0) * TICKS as f32).ceil() as u64;
        for k in 0..ticks {
            let _ = later.step(|_, next| next[0]);
            contact::place(spheres, later.world(), &mut after);
            let way = [ball.place(tick + k), ball.place(tick + k + 1)];
            if let Some((time, _)) = contact::sweep(spheres, &before, &after, way, ball.ball.radius).touch {
                let velocity = (way[1] - way[0]) / TICK;
                let centre = way[0].lerp(way[1], time);
                let target = centre + velocity.normalize_or(Vec3::NEG_Z) * ball.ball.radius;
                let impact = Impact { target, velocity, radius: ball.ball.radius, mass: ball.mass };
                return Some(Foreseen { impact, seconds: (k as f32 + time) * TICK });
            }
            std::mem::swap(&mut before, &mut after);
        }
        None
    }
}
