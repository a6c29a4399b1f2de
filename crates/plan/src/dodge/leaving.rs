//! Leaving what is played before its edge ends: which onsets can be joined along the committed legs so that an attack comes in time.

use kumite_motion::interrupt::{Onset, blend, lay};
use kumite_motion::{ClipIdx, FrameIdx, SpanKind};

use super::{DefenceKind, DodgePlanner, Situation, join_cost};
use crate::bodies::DefenceSpan;
use crate::legs::{Layout, PlacedLeg};
use crate::{Leg, Threat};

/// Seconds between two moments at which onsets are tried.
const STEP: f32 = 0.1;

/// A moment to leave what is played, and what for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Leaving {
    /// Path seconds from now.
    pub(crate) at: f32,
    /// Position among the library's onsets.
    pub(crate) onset: u32,
    /// Of joining it, metres.
    pub(crate) cost: f32,
    /// Position among the defences of its edge.
    pub(crate) part: u32,
    /// How far from the middle of its active window the attack comes, as a share of half the window.
    pub(crate) off: f32,
    /// What is played before it, where it cannot be joined at once.
    pub(crate) via: Option<Via>,
}

/// A beginning of another action on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Via {
    /// Position among the library's onsets.
    onset: u32,
    /// Of joining it, metres.
    cost: f32,
    /// Seconds after the onset at which it is left.
    seconds: f32,
}

/// So many defences that are joined by way of something else are listed, the cheapest.
const MOST_BY_WAY: usize = 160;

/// Moments at which what is played on the way is left, seconds after its join is over.
const HOPS: [f32; 2] = [0.0, 0.15];

impl Leaving {
    /// What it costs, 0 or more.
    pub(crate) fn price(&self) -> f32 {
        join_cost(self.at, self.cost + self.via.map_or(0.0, |via| via.cost), self.off)
    }
}

impl DodgePlanner<'_> {
    /// Lists the onsets of a kind that can be joined along the laid-out legs and are active when the attack comes; where there are none, those that can be
    /// joined from the beginning of a step, a turn or an attack.
    pub(crate) fn leavings(&self, kind: DefenceKind, threats: &[Threat], legs: &[PlacedLeg], out: &mut Vec<Leaving>) {
        out.clear();
        let attack = threats.iter().map(|t| t.arrives).fold(f32::INFINITY, f32::min);
        if self.interrupts().is_empty() || !self.config.interrupts {
            return;
        }
        self.each_moment(attack, legs, |at, (clip, frame)| {
            self.joinable((kind, attack, threats), at, (clip, frame), None, out);
        });
        if !out.is_empty() {
            return;
        }
        self.each_moment(attack, legs, |at, (clip, frame)| {
            for (number, cost) in self.interrupts().at(clip, frame) {
                let onset = &self.interrupts().onsets()[number];
                if !matches!(onset.kind, SpanKind::Step | SpanKind::Turn | SpanKind::Attack) {
                    continue;
                }
                for hop in HOPS {
                    let seconds = blend(cost).max(self.config.rules.between_joins) + hop;
                    let left = onset.enter + seconds;
                    if at + seconds < attack && left < self.bodies.seconds(onset.edge) {
                        let frame = FrameIdx(self.bodies.frame_at(onset.edge, left));
                        let via = Via { onset: number as u32, cost, seconds };
                        self.joinable(
                            (kind, attack, threats),
                            at,
                            (self.graph().edge(onset.edge).clip, frame),
                            Some(via),
                            out,
                        );
                    }
                }
            }
        });
        out.sort_by(|a, b| a.price().total_cmp(&b.price()));
        out.truncate(MOST_BY_WAY);
    }

    /// The moments until the attack at which what is laid out may be left: when, and the frame that is shown.
    fn each_moment(&self, attack: f32, legs: &[PlacedLeg], mut tell: impl FnMut(f32, (ClipIdx, FrameIdx))) {
        let mut leg = 0;
        for at in (0..).map(|step| step as f32 * STEP).take_while(|at| *at < attack) {
            while legs.get(leg + 1).is_some_and(|next| next.begins <= at) {
                leg += 1;
            }
            let Some(played) = legs.get(leg) else { return };
            // A join that is hardly begun is not left for another; the one that is under way now is known as a drift.
            let joins = leg > 0 && played.blend > 0.0 && at - played.begins < self.config.rules.between_joins;
            if !joins {
                let clip = self.graph().edge(played.edge).clip;
                tell(at, (clip, FrameIdx(self.bodies.frame_at(played.edge, played.seconds(at)))));
            }
        }
    }

    /// Lists the onsets of a kind that can be joined from a frame, shown at `at` or after what is played on the way, and are active when the attack comes.
    fn joinable(
        &self,
        (kind, attack, threats): (DefenceKind, f32, &[Threat]),
        at: f32,
        (clip, frame): (ClipIdx, FrameIdx),
        via: Option<Via>,
        out: &mut Vec<Leaving>,
    ) {
        let wanted = match kind {
            DefenceKind::Avoid => SpanKind::Avoid,
            DefenceKind::Block => SpanKind::Block,
        };
        let begins = at + via.map_or(0.0, |via| via.seconds);
        for (number, cost) in self.interrupts().at(clip, frame) {
            let onset = &self.interrupts().onsets()[number];
            if onset.kind != wanted {
                continue;
            }
            let parts = kind.of(self.bodies, onset.edge);
            let Some(part) = parts.iter().position(|p| p.span == onset.span) else { continue };
            if kind == DefenceKind::Avoid && !self.answers(&parts[part], threats) {
                continue;
            }
            let when = |seconds: f32| begins + seconds - onset.enter;
            let active = parts[part].active;
            if when(active.0) <= attack && attack <= when(active.1) {
                let (middle, half) = (when(parts[part].centre()), 0.5 * (active.1 - active.0));
                let off = (attack - middle).abs() / half.max(1e-3);
                out.push(Leaving { at, onset: number as u32, cost, part: part as u32, off, via });
            }
        }
    }

    /// Lays out what is committed, and what follows by itself until path time `until`.
    pub(crate) fn lay_committed(&self, situation: &Situation<'_>, until: f32, legs: &mut Layout) {
        legs.begin(self.bodies, situation.edge, situation.since, &situation.place);
        if let Some(leave) = situation.leave {
            legs.leave(leave);
        }
        for leg in situation.ahead {
            legs.push(self.bodies, leg);
        }
        legs.go_on(self.bodies, self.graph(), until);
    }

    /// Lays out what is committed until it is left, then the onset and what follows by itself until path time `until`. Returns the leg
    /// with the defence, and the defence.
    pub(crate) fn lay_leaving(
        &self,
        situation: &Situation<'_>,
        leaving: &Leaving,
        kind: DefenceKind,
        until: f32,
        legs: &mut Layout,
    ) -> Option<(usize, DefenceSpan)> {
        let onset = self.interrupts().onsets().get(leaving.onset as usize)?;
        legs.begin(self.bodies, situation.edge, situation.since, &situation.place);
        if let Some(leave) = situation.leave {
            legs.leave(leave);
        }
        let mut ahead = situation.ahead.iter();
        while legs.last()?.ends() <= leaving.at {
            match ahead.next() {
                Some(leg) => legs.push(self.bodies, leg),
                None => legs.go_on(self.bodies, self.graph(), leaving.at + 1e-3),
            }
        }
        if let Some(via) = leaving.via {
            let first = self.interrupts().onsets().get(via.onset as usize)?;
            self.leave_for(first, via.cost, leaving.at, legs)?;
        }
        let begins = leaving.at + leaving.via.map_or(0.0, |via| via.seconds);
        self.leave_for(onset, leaving.cost, begins, legs)?;
        let last = legs.len() - 1;
        let part = *kind.of(self.bodies, onset.edge).get(leaving.part as usize)?;
        legs.go_on(self.bodies, self.graph(), until);
        Some((last, part))
    }

    /// Leaves the last leg at a path time for an onset.
    fn leave_for(&self, onset: &Onset, cost: f32, time: f32, legs: &mut Layout) -> Option<()> {
        legs.leave(time);
        let last = legs.last()?;
        let [still, moving] =
            [(last.edge, last.end), (onset.edge, onset.enter)].map(|(edge, seconds)| self.bodies.stance(edge, seconds));
        let align = lay((&still.0, still.1), (&moving.0, moving.1));
        let leg = Leg { enter: onset.enter, join: Some((align, blend(cost))), ..Leg::whole(onset.edge) };
        legs.push(self.bodies, &leg);
        Some(())
    }
}
