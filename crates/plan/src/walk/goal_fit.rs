//! Fitting the last steps of a path to the goal: nudges where the path could branch, each too small to be noticed.

use kumite_motion::Vec2;
use kumite_motion::align::PlanarMatrix;
use kumite_motion::rotation::wrap;

use super::objective::Objective;
use super::tables::{GlobalFrame, Tables, Transition};

/// How far steps may be nudged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GoalFitConfig {
    /// Largest shift of one nudge, metres.
    pub shift: f32,
    /// Largest turn of one nudge, radians.
    pub turn: f32,
    /// Least time between nudges, seconds: about a step.
    pub apart: f32,
    /// Number of nudges at most.
    pub most: usize,
}

impl Default for GoalFitConfig {
    /// A third of how much steps of the same walk differ.
    fn default() -> Self {
        GoalFitConfig { shift: 0.04, turn: 4.5f32.to_radians(), apart: 0.33, most: 10 }
    }
}

/// Where a path can be nudged: at its transitions, and at nodes that it passes.
#[derive(Clone, Copy, Debug)]
struct Nudge {
    /// Index of its stretch and the frame; for a transition, the transition's index and the frame it enters.
    stretch: usize,
    frame: GlobalFrame,
    at_transition: bool,
}

/// A path whose last steps lead to the goal; the path itself where it cannot be nudged.
pub fn fit_to_goal(
    objective: &Objective<'_>,
    transitions: &[Transition],
    end: GlobalFrame,
    config: &GoalFitConfig,
) -> Vec<Transition> {
    let tables = objective.tables;
    let nudges = places(tables, objective.start.0, objective.start_after, transitions, end, config);
    if nudges.is_empty() {
        return transitions.to_vec();
    }
    let mut turns = vec![0.0f32; nudges.len()];
    let mut shifts = vec![Vec2::ZERO; nudges.len()];
    // Least squares over nudges in units of their limits, linearised at the nudges so far; four rounds are exact to a millimetre.
    for _ in 0..4 {
        let Nudged { points, last, .. } = apply(objective, transitions, &nudges, &turns, &shifts);
        let (here, heading) = objective.arrives(&last, end);
        let off = objective.goal - here;
        let turn = objective.facing.map_or(0.0, |f| wrap(f - heading));
        // Rows: x, z, turn. A turn at p moves the end by its lever arm.
        let lever = |p: &Vec2| Vec2::new(here.y - p.y, p.x - here.x);
        let levers: Vec<Vec2> = points.iter().map(lever).collect();
        let (ws, wt) = (config.shift * config.shift, config.turn * config.turn);
        let mut m = [[0.0f64; 3]; 3];
        for lever in &levers {
            let column = [f64::from(lever.x), f64::from(lever.y), 1.0];
            for i in 0..3 {
                for j in 0..3 {
                    m[i][j] += f64::from(wt) * column[i] * column[j];
                }
            }
            m[0][0] += f64::from(ws);
            m[1][1] += f64::from(ws);
        }
        if objective.facing.is_none() {
            m[2][2] += 1e6;
        }
        let Some(x) = solve(m, [f64::from(off.x), f64::from(off.y), f64::from(turn)]) else {
            return transitions.to_vec();
        };
        for (k, lever) in levers.iter().enumerate() {
            let gain = f64::from(lever.x) * x[0] + f64::from(lever.y) * x[1] + x[2];
            turns[k] = (turns[k] + wt * gain as f32).clamp(-config.turn, config.turn);
            let more = shifts[k] + Vec2::new(x[0] as f32, x[1] as f32) * ws;
            shifts[k] = more.clamp_length_max(config.shift);
        }
    }
    apply(objective, transitions, &nudges, &turns, &shifts).transitions
}

/// A path with nudges.
struct Nudged {
    transitions: Vec<Transition>,
    /// Where it is nudged, in the world.
    points: Vec<Vec2>,
    /// Placement of its last clip.
    last: PlanarMatrix,
}

/// The last places where a path can be nudged, in order.
fn places(
    tables: &Tables,
    start: GlobalFrame,
    start_after: GlobalFrame,
    transitions: &[Transition],
    end: GlobalFrame,
    config: &GoalFitConfig,
) -> Vec<Nudge> {
    let apart = (config.apart * tables.fps).max(1.0) as u32;
    let mut nudges = Vec::new();
    // Backwards from the end, which must be past the last nudge's join.
    let mut since = 0u32;
    for stretch in (0..=transitions.len()).rev() {
        let first = if stretch == 0 { start } else { transitions[stretch - 1].to };
        let earliest = if stretch == 0 { start_after } else { transitions[stretch - 1].after };
        let last = transitions.get(stretch).map_or(end, |s| s.from);
        let onward = tables.onward(tables.clip(first));
        let nodes = onward.iter().rev().filter(|o| o.0 >= earliest && o.0 > first && o.2 <= last);
        let mut cursor = last;
        for (node, _, _) in nodes {
            if since + (cursor - node) >= apart && nudges.len() < config.most {
                nudges.push(Nudge { stretch, frame: *node, at_transition: false });
                (since, cursor) = (0, *node);
            }
        }
        since += cursor - first;
        if stretch > 0
            && since >= apart
            && nudges.len() < config.most
            && transitions[stretch - 1].from != transitions[stretch - 1].to
        {
            nudges.push(Nudge { stretch: stretch - 1, frame: first, at_transition: true });
            since = 0;
        }
    }
    nudges.reverse();
    nudges
}

/// Applies nudges: turns about the centre of mass, then shifts, both in the world.
fn apply(
    objective: &Objective<'_>,
    transitions: &[Transition],
    nudges: &[Nudge],
    turns: &[f32],
    shifts: &[Vec2],
) -> Nudged {
    let tables = objective.tables;
    let mut nudged = Nudged { transitions: Vec::new(), points: Vec::new(), last: objective.start.1 };
    let mut next = 0;
    let push = |mut transition: Transition, k: Option<usize>, nudged: &mut Nudged| {
        let mut place = nudged.last.after(&transition.align);
        if let Some(k) = k {
            let point = place.floor_point(tables.place[transition.to as usize]);
            place = PlanarMatrix::about(point, turns[k], shifts[k]).after(&place);
            transition.align = nudged.last.inverse().after(&place);
            nudged.points.push(point);
        }
        nudged.last = place;
        nudged.transitions.push(transition);
    };
    for stretch in 0..=transitions.len() {
        while let Some(fit) = nudges.get(next).filter(|b| !b.at_transition && b.stretch == stretch) {
            let onward = tables.onward(tables.clip(fit.frame));
            if let Some((node, edge, after)) = onward.iter().find(|o| o.0 == fit.frame) {
                let align = PlanarMatrix::IDENTITY;
                let transition = Transition { edge: *edge, from: *node, to: *node, after: *after, align, cost: 0.0 };
                push(transition, Some(next), &mut nudged);
            }
            next += 1;
        }
        if let Some(transition) = transitions.get(stretch) {
            let own = nudges.get(next).is_some_and(|b| b.at_transition && b.stretch == stretch).then_some(next);
            push(*transition, own, &mut nudged);
            next += usize::from(own.is_some());
        }
    }
    nudged
}

/// Solves three linear equations by elimination with pivoting; `None` if they are singular.
fn solve(mut m: [[f64; 3]; 3], mut b: [f64; 3]) -> Option<[f64; 3]> {
    for i in 0..3 {
        let pivot = (i..3).max_by(|p, q| m[*p][i].abs().total_cmp(&m[*q][i].abs()))?;
        if m[pivot][i].abs() < 1e-12 {
            return None;
        }
        m.swap(i, pivot);
        b.swap(i, pivot);
        for r in i + 1..3 {
            let f = m[r][i] / m[i][i];
            let row = m[i];
            m[r].iter_mut().zip(row).for_each(|(v, w)| *v -= f * w);
            b[r] -= f * b[i];
        }
    }
    for i in (0..3).rev() {
        let rest: f64 = (i + 1..3).map(|j| m[i][j] * b[j]).sum();
        b[i] = (b[i] - rest) / m[i][i];
    }
    Some(b)
}
