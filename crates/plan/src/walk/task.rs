//! A query and everything worked out before the search: obstacles, routes, where paths may begin and end.

use kumite_motion::align::PlanarMatrix;
use kumite_motion::library::Library;
use kumite_motion::volume::Obstacle;
use kumite_motion::{EdgeIdx, Vec2};

use super::distance_field::{DistanceField, Walls, least_turning, length};
use super::heading_field::{HeadingField, Tail};
use super::mutation_search::Ends;
use super::objective::Objective;
use super::obstacle_grid::ObstacleGrid;
use super::tables::{ANY, GlobalFrame, STAND, TURNING, Tables};
use super::{Form, WalkConfig};

/// From where to where.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// The edge being played, from its first frame, and the placement of its clip.
    pub start: (EdgeIdx, kumite_motion::align::Planar),
    /// Where to go: x and z, metres.
    pub goal: Vec2,
    /// How to face there, radians.
    pub facing: Option<f32>,
    /// What to do there: a kind of span, a label, a clip, `stand` or `any`. `None`: stand if the library can, else any.
    pub action: Option<String>,
    /// Places to pass.
    pub waypoints: Vec<Vec2>,
}

/// Why there is nothing to search for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WalkError {
    /// A number is not finite or out of bounds.
    #[error("{what} is not a finite number within 1000 m")]
    BadNumber {
        /// Which quantity.
        what: &'static str,
    },
    /// The body starts inside an obstacle.
    #[error("the character starts in obstacle {}", obstacle + 1)]
    StartCollides {
        /// Position among the obstacles given.
        obstacle: usize,
    },
    /// No reachable frame of the library shows the action.
    #[error("no motion of the library that can be walked to shows {action:?}")]
    NoAction {
        /// The action.
        action: String,
    },
    /// No motion of the library goes anywhere.
    #[error("no motion of the library goes anywhere")]
    NoWalk,
}

/// Half of the narrowest gap that any body passes, metres: half a pelvis from front to back.
const LEAST: f32 = 0.1;

/// If fewer tails than this are found, those that end slightly off are added: metres, radians.
const FEW: usize = 8;
const NEARLY: (f32, f32) = (0.08, 0.1);

/// A query that is ready to be searched.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// Tables of the library.
    pub tables: &'a Tables,
    /// Obstacles.
    pub ground: ObstacleGrid,
    /// Distances from what cannot be passed.
    pub walls: Walls,
    /// Weights.
    pub config: WalkConfig,
    /// What was asked.
    pub query: Query,
    start: (GlobalFrame, PlanarMatrix),
    start_after: GlobalFrame,
    ends: Vec<bool>,
    prompt: Option<u32>,
    /// The straightened route, and how much obstacles are grown for it, metres; `None` if no route is wide enough for anybody.
    pub route: Option<(Vec<Vec2>, f32)>,
    /// Distances to the goal.
    pub field: DistanceField,
    /// Distances for a body that cannot turn on the spot.
    pub heading_field: HeadingField,
    /// The reachable place nearest to the goal, if the goal cannot be reached, or only by a route narrower than a walking body.
    pub closest: Option<Vec2>,
}

impl<'a> Task<'a> {
    /// Checks the query and prepares the search.
    pub fn new(
        library: &Library,
        tables: &'a Tables,
        query: Query,
        obstacles: &[Obstacle],
        config: WalkConfig,
    ) -> Result<Task<'a>, WalkError> {
        Task::with_room(library, tables, query, obstacles, &[], config)
    }

    /// [`Task::new`] with extra distance kept from each of the first obstacles: `room`, metres.
    pub fn with_room(
        library: &Library,
        tables: &'a Tables,
        query: Query,
        obstacles: &[Obstacle],
        room: &[f32],
        config: WalkConfig,
    ) -> Result<Task<'a>, WalkError> {
        let fine = |p: Vec2| p.is_finite() && p.abs().max_element() <= 1000.0;
        let facing = query.facing.is_none_or(f32::is_finite);
        if !fine(query.goal) || !facing || !query.waypoints.iter().all(|w| fine(*w)) {
            return Err(WalkError::BadNumber { what: "the goal" });
        }
        if !fine(query.start.1.shift) || !query.start.1.turn.is_finite() {
            return Err(WalkError::BadNumber { what: "the start" });
        }
        if tables.transitions().is_empty() || tables.body <= 0.0 {
            return Err(WalkError::NoWalk);
        }
        let edge = library.graph().edge(query.start.0);
        if tables.number(edge.clip).is_none() {
            return Err(WalkError::NoWalk);
        }
        let start = (tables.at(edge.clip, edge.first), PlanarMatrix::new(&query.start.1));
        let start_after = tables.at(edge.clip, edge.last);
        let from = start.1.floor_point(tables.place[start.0 as usize]);
        for (obstacle, shape) in obstacles.iter().enumerate() {
            let finite = shape.at.is_finite() && shape.turn.is_finite();
            if !finite {
                return Err(WalkError::BadNumber { what: "an obstacle" });
            }
            let inside = |(p, r): (&kumite_motion::Vec3, &f32)| shape.distance(start.1.point(*p)) < *r;
            if tables.points(start.0).iter().zip(&tables.radii).any(inside) {
                return Err(WalkError::StartCollides { obstacle });
            }
        }
        let action = query.action.as_deref();
        let stand = action.is_none() || action == Some(STAND);
        let mut ends = tables.showing(library, action.unwrap_or(STAND));
        let mut prompt = stand.then_some((0.5 * tables.fps) as u32);
        if !ends.contains(&true) && action.is_none() {
            (ends, prompt) = (tables.showing(library, ANY), None);
        }
        if !ends.contains(&true) {
            return Err(WalkError::NoAction { action: action.unwrap_or(ANY).to_owned() });
        }
        let ground = ObstacleGrid::new(obstacles, room, from, query.goal, tables.reach_most + config.margin + 0.1);
        let walls = Walls::new(&ground, tables.over, tables.under);
        // As wide as a walking body, or else as narrow as a body can be.
        let (mut route, mut closest) = (None, None);
        let mut field = DistanceField::new(&ground, &walls, query.goal, tables.narrow);
        for radius in [tables.narrow, 0.5 * (tables.narrow + LEAST), LEAST] {
            field = DistanceField::new(&ground, &walls, query.goal, radius);
            route = field.route(from).map(|r| (r, radius));
            if route.is_some() {
                break;
            }
        }
        if route.as_ref().is_none_or(|r| r.1 < tables.narrow) {
            let wide = DistanceField::new(&ground, &walls, query.goal, tables.narrow);
            closest = Some(if route.is_none() { field.closest(from) } else { wide.closest(from) });
        }
        let heading_field = HeadingField::default();
        let mut task = Task {
            tables,
            ground,
            walls,
            config,
            query,
            start,
            start_after,
            ends,
            prompt,
            route,
            field,
            heading_field,
            closest,
        };
        if task.route.is_some() {
            let tails = task.tails();
            task.heading_field = HeadingField::new(
                &task.ground,
                &task.walls,
                &task.field,
                from,
                &tails,
                (tables.tightest, tables.pivots),
            );
        }
        Ok(task)
    }

    /// Last motions that lead to the goal and touch nothing; if there are few, also those that end close to it.
    pub fn tails(&self) -> Vec<Tail> {
        let Some(objective) = self.free() else { return Vec::new() };
        let (tables, goal) = (self.tables, self.query.goal);
        let ends = Ends::new(&objective, ((0.1 * tables.fps) as u32).max(1));
        // Where a motion is entered, and its first end after that.
        let mut last: Vec<(GlobalFrame, GlobalFrame)> = tables
            .transitions()
            .iter()
            .filter_map(|s| Some((s.to, *ends.after(&objective, s.after).first()?)))
            .collect();
        last.sort_unstable();
        last.dedup();
        let facings: Vec<f32> = match self.query.facing {
            Some(facing) => vec![facing],
            None => (0..8).map(|k| k as f32 * std::f32::consts::FRAC_PI_4).collect(),
        };
        let mut tails = Vec::new();
        let mut lead = |off: Vec2, turned: f32| {
            for &(enter, end) in &last {
                for facing in &facings {
                    let turn = facing + turned - tables.turn[end as usize];
                    let arrives = tables.place[end as usize];
                    let place = PlanarMatrix::about(arrives, turn, goal + off - arrives);
                    if objective.collisions(enter, end, &place, true, |_| false) > 0.0 {
                        continue;
                    }
                    let gone = objective.way[end as usize] - objective.way[enter as usize];
                    let at = place.floor_point(tables.place[enter as usize]);
                    let heading = place.turn + tables.turn[enter as usize];
                    tails.push(Tail { at, heading, way: gone + 0.3 * objective.goal_term(&place, end) });
                }
            }
            tails.len()
        };
        if lead(Vec2::ZERO, 0.0) < FEW {
            for turned in [-NEARLY.1, NEARLY.1] {
                for (x, z) in [(0.0, 0.0), (NEARLY.0, 0.0), (-NEARLY.0, 0.0), (0.0, NEARLY.0), (0.0, -NEARLY.0)] {
                    lead(Vec2::new(x, z), turned);
                }
            }
        }
        tails
    }

    /// Where the body stands at the start.
    pub fn from(&self) -> Vec2 {
        self.start.1.floor_point(self.tables.place[self.start.0 as usize])
    }

    /// The objective of EMS: the corners of the route are the waypoints (§ 5).
    pub fn ems(&self) -> Option<Objective<'_>> {
        let (route, _) = self.route.as_ref()?;
        let corners = route.get(1..route.len().saturating_sub(1)).unwrap_or_default();
        Some(self.objective(corners.to_vec(), length(route), true))
    }

    /// Our objective. Looking ahead needs no corners as waypoints; turning and waiting count as distance, since a body that zigzags or stops
    /// in clutter looks lost.
    pub fn free(&self) -> Option<Objective<'_>> {
        let (route, _) = self.route.as_ref()?;
        let heading = self.start.1.turn + self.tables.turn[self.start.0 as usize];
        let turned = TURNING * least_turning(route, heading, self.query.facing);
        let objective = self.objective(Vec::new(), length(route), true);
        Some(Objective {
            way: &self.tables.effort,
            expected: objective.expected + turned,
            metre: Some(self.config.metre),
            ..objective
        })
    }

    /// The objective of PFF: a route that keeps `r_body` from obstacles, with a waypoint every `d_step` (§ 4). `None` if no route is that
    /// wide.
    pub fn pff(&self) -> Option<Objective<'_>> {
        let field = DistanceField::new(&self.ground, &self.walls, self.query.goal, self.tables.body);
        let route = field.route(self.from())?;
        let (mut dense, mut left) = (Vec::new(), self.config.follow_step);
        for pair in route.windows(2) {
            let long = (pair[1] - pair[0]).length();
            let mut at = left;
            while at < long {
                dense.push(pair[0].lerp(pair[1], at / long));
                at += self.config.follow_step;
            }
            left = at - long;
        }
        Some(self.objective(dense, length(&route), false))
    }

    fn objective(&self, mut waypoints: Vec<Vec2>, expected: f32, implicit: bool) -> Objective<'_> {
        // Places to pass lengthen the expected distance.
        let mut asked = vec![self.from()];
        asked.extend_from_slice(&self.query.waypoints);
        asked.push(self.query.goal);
        let expected = expected.max(length(&asked));
        waypoints.extend_from_slice(&self.query.waypoints);
        Objective {
            tables: self.tables,
            ground: &self.ground,
            config: &self.config,
            start: self.start,
            start_after: self.start_after,
            goal: self.query.goal,
            facing: self.query.facing,
            ends: &self.ends,
            prompt: self.prompt,
            waypoints,
            length: expected.max(0.3),
            expected: expected.max(0.3),
            metre: None,
            implicit,
            way: match self.config.errata.travel {
                Form::Ours => &self.tables.way,
                Form::Printed => &self.tables.arc,
            },
        }
    }
}
