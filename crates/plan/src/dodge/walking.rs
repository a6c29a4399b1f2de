//! What whoever walks does about an attack: it walks slower or faster, bends, or takes other steps, and goes on walking.

use kumite_motion::{EdgeIdx, Graph, Layer, Vec3};

use super::clearance::DodgeScratch;
use super::{DodgeDecision, DodgePlanner, DodgeSearch, Forecast, Origin, fit_bend};
use crate::Leg;
use crate::footing::GOES;
use crate::legs::Layout;
use crate::threat::Threat;

/// How much slower or faster walkers go to let something pass, factors on durations, the least change first: from 0.4 to 1.7 times as
/// fast.
const WALK_SCALES: [f32; 7] = [1.0, 1.25, 0.8, 1.6, 0.6, 2.0, 2.6];
/// How long a walker takes to change its speed, seconds of the walk.
const WALK_RAMP: f32 = 0.25;
/// Walking twice as slowly or as fast is as bad as a bend of this size, by the logarithm.
const SCALED: f32 = 0.5;
/// Other steps are looked for at moments so far apart, and no later than so long before the attack, seconds.
const APART: f32 = 0.1;
const LATEST: f32 = 0.2;
/// So many of them are tried.
const STEPS: u32 = 160;

impl DodgeSearch {
    /// The least change of a walk that lets the attack miss: walked slower or faster, bent by less than a size, or both.
    pub(super) fn adjust_walk(
        &self,
        planner: &DodgePlanner<'_>,
        threats: &[Threat],
        largest: f32,
        scratch: &mut DodgeScratch,
    ) -> Option<DodgeDecision> {
        self.lay_nothing(planner, scratch);
        let goes = planner.bodies.speed(self.situation.0, self.situation.1).length() > GOES;
        let scales = if goes { &WALK_SCALES[..] } else { &WALK_SCALES[..1] };
        let mut best: Option<(f32, DodgeDecision)> = None;
        for scale in scales {
            let price = SCALED * libm::logf(*scale).abs();
            let below = best.as_ref().map_or(largest, |b| b.0 - price).min(largest);
            if below <= 0.0 {
                continue;
            }
            // Until the attack comes, in path seconds.
            scratch.warp.set_eased(*scale, WALK_RAMP, self.attack / scale);
            let clearance = planner.clearance(threats, scratch);
            let bend = if clearance < fit_bend::clean(self.attack, scratch) {
                let Some(bend) = fit_bend::rescue(planner, threats, (below, f32::INFINITY), scratch) else { continue };
                Some(bend)
            } else {
                None
            };
            let price = price + bend.map_or(0.0, |bend| bend.size);
            let (bend, warp) = (fit_bend::heed(planner, threats, bend, self.attack, scratch), scratch.warp.clone());
            let decision = DodgeDecision { bend, warp, clearance, ..self.doing_nothing(Forecast::Avoided) };
            best = Some((price, decision));
        }
        scratch.warp.set(&[], 1.0);
        best.map(|b| b.1)
    }

    /// Other steps than those that were planned, with which the attack misses: those that lead away least.
    pub(super) fn swerve(
        &self,
        planner: &DodgePlanner<'_>,
        threats: &[Threat],
        scratch: &mut DodgeScratch,
    ) -> Option<DodgeDecision> {
        let (bodies, graph) = (planner.bodies, planner.graph());
        self.lay_nothing(planner, scratch);
        let committed = scratch.legs.clone();
        let wanted = self.arrives_at(planner, &committed)?;
        let (mut best, mut last, mut left): (Option<(f32, DodgeDecision)>, _, _) = (None, f32::NEG_INFINITY, STEPS);
        for (k, leg) in committed.iter().enumerate() {
            let (leaves, whole) = (leg.ends(), leg.end >= bodies.seconds(leg.edge));
            if leaves > self.attack - LATEST {
                break;
            }
            if !whole || leaves < last + APART {
                continue;
            }
            last = leaves;
            for edge in graph.leaving(graph.edge(leg.edge).to, Layer::Walk) {
                if left == 0 {
                    break;
                }
                left -= 1;
                let (playing, since, place) = self.situation;
                scratch.legs.begin(bodies, playing, since, &place);
                committed[1..=k].iter().for_each(|leg| scratch.legs.push(bodies, &leg.leg(bodies)));
                scratch.legs.push(bodies, &Leg::whole(edge));
                while let Some(last) = scratch.legs.last().filter(|last| last.ends() < self.ends + 1.0) {
                    let Some(next) = onward(graph, last.edge) else { break };
                    scratch.legs.push(bodies, &Leg::whole(next));
                }
                let Some(there) = self.arrives_at(planner, &scratch.legs) else { continue };
                let price = (there - wanted).length();
                if best.as_ref().is_some_and(|b| b.0 <= price) {
                    continue;
                }
                let clearance = planner.clearance_above(fit_bend::CLEAN, threats, scratch);
                if clearance >= fit_bend::CLEAN {
                    let legs = scratch.legs[1..].iter().take_while(|leg| leg.begins < self.ends);
                    let (legs, origin) = (legs.map(|leg| leg.leg(bodies)).collect(), Origin::Swerve);
                    let decision = self.doing_nothing(Forecast::Avoided);
                    best = Some((price, DodgeDecision { legs, origin, clearance, ..decision }));
                }
            }
        }
        best.map(|b| b.1)
    }

    /// Where the pelvis is once the attack is over.
    fn arrives_at(&self, planner: &DodgePlanner<'_>, legs: &Layout) -> Option<Vec3> {
        let leg = legs.iter().rev().find(|leg| leg.begins <= self.ends)?;
        Some(leg.place.point(planner.bodies.pelvis(leg.edge, leg.seconds(self.ends))))
    }
}

/// The edge with which a clip goes on by itself, or else the first that follows.
fn onward(graph: &Graph, edge: EdgeIdx) -> Option<EdgeIdx> {
    let mut after = graph.after(edge);
    after.clone().find(|next| graph.edge(*next).join.is_none()).or_else(|| after.next())
}
