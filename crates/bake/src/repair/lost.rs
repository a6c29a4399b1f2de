//! Bringing back what the graph lost.
//!
//! Lost motions may depend on each other: a motion that lies down needs one that gets up, which begins only where a body lies. So
//! ways out are laid first, from each to whatever already leads back to the graph; then ways in, from whatever is already reached.

use kumite_motion::graph::Node;
use kumite_motion::{ClipIdx, FrameIdx, Span};

use super::{Draft, NO_WAY, Target};
use crate::graph::keeps;

/// A labelled motion that cannot be played.
struct Island {
    clip: ClipIdx,
    span: usize,
    /// Frames where it may be entered.
    ins: Vec<u32>,
    /// Nodes where it may be left; once a way out is laid, that one.
    outs: Vec<usize>,
    leads_on: bool,
    reached: bool,
}

/// Frames where a span may be entered or left are tried in steps, up to this far from it, seconds.
const DOOR_STEP: f32 = 0.12;
const DOOR_FAR: f32 = 0.6;
/// At most this many in each direction.
const DOORS: usize = 5;
/// Of what need not be whole, this share at the end may be left out.
const CUT_SHORT: f32 = 0.3;

/// To bring a motion back more is tried than for what is only to be nearer: getting up from a knee takes this long, seconds.
const LONGEST: f32 = 1.5;
const TRIES: usize = 60;

impl Draft {
    /// Spans that cannot be played are entered and left by bridges.
    pub(super) fn bring_back(&mut self) {
        let mut islands = self.islands();
        while (0..islands.len()).filter(|i| self.lead_on(&mut islands, *i)).count() > 0 {}
        while (0..islands.len()).filter(|i| self.reach(&mut islands, *i)).count() > 0 {}
        for island in islands.iter().filter(|i| !i.reached) {
            let clip = &self.clips[island.clip.at()];
            let s = &clip.spans[island.span];
            let label = if s.label.is_empty() { String::new() } else { format!(" {}", s.label) };
            self.done.left.push(format!("{}{label} of {} at {:.2} s {NO_WAY}", s.kind.name(), clip.name, s.from));
        }
    }

    fn islands(&mut self) -> Vec<Island> {
        let mut islands = Vec::new();
        for clip in (0..self.captured as u32).map(ClipIdx) {
            for span in 0..self.clips[clip.at()].spans.len() {
                let s = self.clips[clip.at()].spans[span].clone();
                if keeps(&self.clips[clip.at()], clip, &s, &self.edges, &self.config.unbroken) {
                    continue;
                }
                let ins = self.doors(clip, s.from, -1.0, DOOR_FAR);
                let mut outs = self.doors(clip, s.to, 1.0, DOOR_FAR);
                if !self.config.unbroken.contains(&s.kind) {
                    outs.extend(self.doors(clip, s.to, -1.0, CUT_SHORT * (s.to - s.from)));
                }
                outs.sort_unstable();
                outs.dedup();
                let outs = outs.into_iter().filter(|f| *f > 0);
                let outs = outs.map(|f| self.node(Node { clip, frame: FrameIdx(f) })).collect();
                islands.push(Island { clip, span, ins, outs, leads_on: false, reached: false });
            }
        }
        islands
    }

    /// Frames where a span may be entered, or left, nearest to it first: on a foot or on the floor, and in no unbroken span.
    fn doors(&self, clip: ClipIdx, at: f32, step: f32, far: f32) -> Vec<u32> {
        let c = &self.clips[clip.at()];
        let fps = c.fps();
        let last = c.frames() as i64 - 1;
        let start = if step < 0.0 { libm::floorf(at * fps + 1e-3) } else { libm::ceilf(at * fps - 1e-3) } as i64;
        let start = start.clamp(0, last);
        let inside = |f: i64| {
            let t = f as f32 / fps;
            let within = |s: &Span| self.config.unbroken.contains(&s.kind) && s.from + 1e-3 < t && t < s.to - 1e-3;
            c.spans.iter().any(within)
        };
        let stride = (step * DOOR_STEP * fps) as i64;
        let doors = (0..).map(|k| start + k * stride).take_while(|f| {
            (0..=last).contains(f) && !inside(*f) && (f - start).abs() as f32 <= far * fps && stride != 0
        });
        let doors = doors.map(|f| f as u32).filter(|f| {
            let stance = self.stance(clip, *f);
            stance.stands(0) || stance.stands(1) || stance.lies()
        });
        doors.take(DOORS).collect()
    }

    /// What begins an island whose way out is there.
    fn begins(&self, island: &Island) -> Vec<Target> {
        let Some(&to) = island.outs.first().filter(|_| island.leads_on) else { return Vec::new() };
        let last = self.nodes[to].frame.0;
        let ins = island.ins.iter().filter(|f| **f < last);
        ins.map(|&first| Target { clip: island.clip, first, last, to }).collect()
    }

    /// Lays a way out of an island. Whether there is a new one.
    fn lead_on(&mut self, islands: &mut [Island], at: usize) -> bool {
        if islands[at].leads_on {
            return false;
        }
        let outs = &islands[at].outs;
        let found = outs.iter().copied().find(|n| self.leaves(*n)).or_else(|| {
            let mut targets = self.targets();
            targets.extend(islands.iter().flat_map(|i| self.begins(i)));
            let joins = outs.iter().flat_map(|n| targets.iter().map(|t| (*n, *t))).collect();
            self.best_of(joins, LONGEST, TRIES)
        });
        if let Some(to) = found {
            islands[at].outs = vec![to];
            islands[at].leads_on = true;
        }
        found.is_some()
    }

    /// Lays a way into an island that leads on. Whether there is a new one.
    fn reach(&mut self, islands: &mut [Island], at: usize) -> bool {
        if islands[at].reached || !islands[at].leads_on {
            return false;
        }
        let from = self.reached();
        let (clip, s) = (islands[at].clip, &self.clips[islands[at].clip.at()].spans[islands[at].span]);
        let played: Vec<_> = self.edges.iter().filter(|e| from[e.from.at()]).cloned().collect();
        islands[at].reached = keeps(&self.clips[clip.at()], clip, s, &played, &self.config.unbroken) || {
            let targets = self.begins(&islands[at]);
            let from = (0..self.nodes.len())
                .filter(|n| from[*n] && self.nodes[*n].clip.at() < self.captured && self.leaves(*n));
            let joins = from.flat_map(|n| targets.iter().filter(move |t| t.to != n).map(move |t| (n, *t))).collect();
            self.best_of(joins, LONGEST, TRIES).is_some()
        };
        islands[at].reached
    }
}
