//! Film strips: moments of a motion side by side or along its path. Lays them out; `render` and `svg` draw them.

use kumite_motion::{Vec2, Vec3, WorldPose};

use crate::body::Group;
use crate::camera::{Camera, View};
use crate::figure::{Figure, PreparedFigure, Prop};
use crate::image::Image;
use crate::page::{Footprint, Page, Panel, Solid, Trail};
use crate::svg;
use crate::theme::Theme;

/// Which moments are shown, in seconds of picture time.
#[derive(Clone, Debug, PartialEq)]
pub enum Times {
    /// This many, evenly spaced from the first frame to the last.
    Even(usize),
    /// This many from the first frame to the last, closer together where the motion is faster, so that extremes of quick
    /// actions are not missed.
    ByMotion(usize),
    /// From, to, and how many, evenly spaced.
    Between(f32, f32, usize),
    /// This many around a touch, where a hit can be read: before, contact, the moments after it, and what comes of it.
    Touch {
        /// When it touches.
        at: f32,
        /// How long before that what touches is near enough to be shown beside the body.
        near: f32,
        /// How many.
        count: usize,
    },
    /// Exactly these.
    At(Vec<f32>),
}

/// How poses are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Side by side, one column per moment and one row per view.
    Row,
    /// All poses in one world, each where it happens; one row per view.
    Travel,
}

/// What the cells of a row show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Each cell is centred on its pose where figures travel: they are as large as possible, and only the grid shows where they stand.
    Pose,
    /// All cells show the same part of the world, so that steps and shifts of weight can be seen.
    World,
}

/// Where the ground is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floor {
    /// At 0 if the lowest point of the bodies comes near it, else at the lowest point.
    Auto,
    /// At this height.
    At(f32),
    /// No floor.
    None,
}

/// Paths of hands and feet drawn behind each pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trails {
    /// Whether both hands have one.
    pub hands: bool,
    /// Whether both feet have one.
    pub feet: bool,
    /// How far back they reach, seconds; never farther than the previous pose.
    pub seconds: f32,
}

/// A film strip. Everything but the figures has a default.
#[derive(Clone, Debug)]
pub struct Strip<'a> {
    /// Characters.
    pub figures: Vec<Figure<'a>>,
    /// Balls, walls and other props.
    pub props: Vec<Prop>,
    /// Heading; `None` takes the clips' names, an empty text leaves the line out.
    pub title: Option<String>,
    /// Moments shown.
    pub times: Times,
    /// Views, one row each.
    pub views: Vec<View>,
    /// How poses are arranged.
    pub layout: Layout,
    /// What each cell shows in [`Layout::Row`].
    pub window: Window,
    /// Colours of paper, floor and ink.
    pub theme: Theme,
    /// Width of the picture, pixels.
    pub width: usize,
    /// Greatest height of one row of figures, pixels; limits the size of figures in wide strips of few poses.
    pub row_height: usize,
    /// Height of the floor.
    pub floor: Floor,
    /// Metres in one unit of the clips. `None` guesses metres or centimetres from a person's height; if that fails, grid
    /// lines are at round numbers of the unit.
    pub metres_per_unit: Option<f32>,
    /// Whether the floor has grid lines.
    pub grid: bool,
    /// Paths of hands and feet.
    pub trails: Trails,
    /// Whether each pose has its time below it.
    pub captions: bool,
    /// Whether a timeline below shows spans, contacts and the moments drawn.
    pub timeline: bool,
    /// How far the earliest pose of [`Layout::Travel`] fades into the paper, 0 to 1.
    pub ghost: f32,
    /// Height of the letters of captions, pixels; the heading is half as large again.
    pub letters: f32,
}

impl Default for Strip<'_> {
    fn default() -> Self {
        Strip {
            figures: Vec::new(),
            props: Vec::new(),
            title: None,
            times: Times::Even(8),
            views: vec![View::three_quarter()],
            layout: Layout::Row,
            window: Window::Pose,
            theme: Theme::LIGHT,
            width: 1600,
            row_height: 420,
            floor: Floor::Auto,
            metres_per_unit: None,
            grid: true,
            trails: Trails { hands: true, feet: false, seconds: 0.4 },
            captions: true,
            timeline: true,
            ghost: 0.35,
            letters: 12.5,
        }
    }
}

impl<'a> Strip<'a> {
    /// A strip of one figure, with the defaults.
    pub fn of(figure: Figure<'a>) -> Strip<'a> {
        Strip { figures: vec![figure], ..Strip::default() }
    }

    /// Draws it as pixels.
    pub fn render(&self) -> Image {
        self.page().render()
    }

    /// Draws it as an SVG document with flat shading and real text.
    pub fn to_svg(&self) -> String {
        svg::page(&self.page())
    }

    pub(crate) fn page(&self) -> Page {
        PreparedStrip::new(self).page()
    }
}

/// The poses of all figures at one time.
pub(crate) struct Moment {
    pub time: f32,
    pub worlds: Vec<WorldPose>,
}

/// A rectangle in the units of a camera of scale 1; y down.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub low: Vec2,
    pub high: Vec2,
}

impl Extent {
    pub(crate) const EMPTY: Extent = Extent { low: Vec2::INFINITY, high: Vec2::NEG_INFINITY };

    pub(crate) fn or(self, other: Extent) -> Extent {
        Extent { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    pub(crate) fn size(self) -> Vec2 {
        (self.high - self.low).max(Vec2::ZERO)
    }
}

/// A strip with its bodies built and its moments posed, ready for layout.
pub(crate) struct PreparedStrip<'a> {
    pub strip: &'a Strip<'a>,
    pub cast: Vec<PreparedFigure<'a>>,
    /// Height of the tallest body.
    pub height: f32,
    pub floor: Option<f32>,
    /// Metres in one unit, if known.
    pub metres: Option<f32>,
    pub moments: Vec<Moment>,
    pub seconds: f32,
}

impl<'a> PreparedStrip<'a> {
    pub(crate) fn new(strip: &'a Strip<'a>) -> PreparedStrip<'a> {
        let cast: Vec<PreparedFigure> = strip.figures.iter().map(PreparedFigure::new).collect();
        let height = cast.iter().map(|c| c.body.height).fold(0.0, f32::max);
        let height = if height > 0.0 { height } else { 1.0 };
        let seconds = strip.figures.iter().map(|a| a.starts_at + a.clip.seconds()).fold(0.0, f32::max);
        let even = |from: f32, to: f32, count: usize| {
            let last = count.saturating_sub(1).max(1) as f32;
            (0..count.max(1)).map(|i| from + (to - from) * i as f32 / last).collect()
        };
        let times: Vec<f32> = match &strip.times {
            Times::Even(count) => even(0.0, seconds, *count),
            Times::ByMotion(count) => times_by_motion(&cast, seconds, *count),
            Times::Between(from, to, count) => even(*from, *to, *count),
            Times::Touch { at, near, count } => times_of_touch(*at, *near, seconds, *count),
            Times::At(times) if times.is_empty() => vec![0.0],
            Times::At(times) => times.clone(),
        };
        let metres = strip.metres_per_unit.or_else(|| {
            let person = cast.iter().any(|c| c.body.person);
            match height {
                1.2..2.4 if person => Some(1.0),
                120.0..240.0 if person => Some(0.01),
                _ => None,
            }
        });
        let mut prepared = PreparedStrip { strip, cast, height, floor: None, metres, moments: Vec::new(), seconds };
        prepared.moments = times.into_iter().map(|time| prepared.moment(time)).collect();
        prepared.floor = prepared.find_floor();
        prepared
    }

    pub(crate) fn moment(&self, time: f32) -> Moment {
        Moment { time, worlds: self.cast.iter().map(|c| c.world(time)).collect() }
    }

    fn find_floor(&self) -> Option<f32> {
        match self.strip.floor {
            Floor::At(y) => Some(y),
            Floor::None => None,
            Floor::Auto => {
                let mut lowest = f32::INFINITY;
                for cast in &self.cast {
                    let frames = cast.figure.clip.frames();
                    for frame in (0..frames).step_by(frames.div_ceil(64).max(1)) {
                        let world = cast.world_at_frame(frame);
                        for (cone, _) in cast.body.placed(&world) {
                            lowest = lowest.min(cone.a.y - cone.ra).min(cone.b.y - cone.rb);
                        }
                    }
                }
                let near = !lowest.is_finite() || lowest.abs() < 0.06 * self.height;
                Some(if near { 0.0 } else { lowest })
            }
        }
    }

    /// Ground direction that azimuth 0 looks at from the front.
    pub(crate) fn forward(&self, along_path: bool) -> Vec3 {
        let Some(cast) = self.cast.first() else { return Vec3::Z };
        if along_path && let (Some(first), Some(last)) = (self.moments.first(), self.moments.last()) {
            let travel = mean_root(last) - mean_root(first);
            let travel = Vec3::new(travel.x, 0.0, travel.z);
            if travel.length() > 0.5 * self.height {
                return travel.normalize_or(Vec3::Z);
            }
        }
        let mean: Vec3 = self.moments.iter().map(|m| cast.facing(m.time)).sum::<Vec3>();
        let mean = mean / self.moments.len().max(1) as f32;
        if mean.length() > 0.5 {
            mean.normalize_or(Vec3::Z)
        } else {
            cast.facing(self.moments.first().map_or(0.0, |m| m.time))
        }
    }

    /// Rectangle around all bodies and the props with `fit`, seen by a camera of scale 1.
    pub(crate) fn extent(&self, moment: &Moment, camera: &Camera) -> Extent {
        let mut extent = Extent::EMPTY;
        let mut add = |p: Vec3, r: f32| {
            let at = camera.project(p).truncate();
            extent = extent.or(Extent { low: at - Vec2::splat(r), high: at + Vec2::splat(r) });
        };
        for (cast, world) in self.cast.iter().zip(&moment.worlds) {
            for (cone, _) in cast.body.placed(world) {
                add(cone.a, cone.ra);
                add(cone.b, cone.rb);
            }
        }
        // What touches is in the picture just before, at and just after it does.
        let touches = match self.strip.times {
            Times::Touch { at, near, .. } => (at - near - 0.01..at + 0.15).contains(&moment.time),
            _ => false,
        };
        for prop in self.strip.props.iter().filter(|p| p.fit || (touches && p.path.len() > 1)) {
            for (p, r) in prop.shape.moved(prop.place(moment.time)).balls() {
                add(p, r);
            }
        }
        if extent.low.is_finite() && extent.high.is_finite() {
            extent
        } else {
            Extent { low: Vec2::splat(-0.5), high: Vec2::splat(0.5) }
        }
    }

    /// Adds the figures at one moment. `gap` is the time since the previous pose, which trails do not exceed.
    pub(crate) fn fill(&self, panel: &mut Panel, moment: &Moment, instance: usize, fade: f32, gap: f32) {
        let strip = self.strip;
        let floor = self.floor.unwrap_or(0.0);
        for (i, (cast, world)) in self.cast.iter().zip(&moment.worlds).enumerate() {
            let number = (instance * self.cast.len() + i) as u32;
            panel.solids.extend(cast.solids(world, number, fade, strip.theme.paper));
            if self.floor.is_some() {
                let footprints: Vec<Footprint> = cast.footprints(moment.time, world, floor);
                panel.footprints.extend(footprints);
            }
            let seconds = strip.trails.seconds.min(gap);
            let hands = [Group::LeftHand, Group::RightHand].into_iter().filter(|_| strip.trails.hands);
            let feet = [Group::LeftFoot, Group::RightFoot].into_iter().filter(|_| strip.trails.feet);
            let trails = hands.chain(feet).filter_map(|group| cast.trail(group, moment.time, seconds));
            panel.trails.extend(trails);
        }
    }

    pub(crate) fn fill_props(&self, panel: &mut Panel, time: f32, first_run: u32) {
        for (i, prop) in self.strip.props.iter().enumerate().filter(|(_, prop)| prop.is_shown(time)) {
            let colour = prop.colour.unwrap_or(self.strip.theme.prop);
            let shape = prop.shape.moved(prop.place(time));
            panel.solids.push(Solid { shape, colour, run: first_run + i as u32, melt: 0.0 });
            if prop.trail > 0.0 && prop.path.len() > 1 {
                let balls = prop.shape.balls();
                let middle = balls.iter().map(|b| b.0).sum::<Vec3>() / balls.len().max(1) as f32;
                const STEPS: usize = 12;
                let at = |k: usize| prop.place(time - prop.trail * (1.0 - k as f32 / STEPS as f32)) + middle;
                let points: Vec<Vec3> = (0..=STEPS).map(at).collect();
                if points.first() != points.last() {
                    panel.trails.push(Trail { points, colour, dot_every: 1 });
                }
            }
        }
    }

    pub(crate) fn grid(&self) -> f32 {
        match (self.strip.grid, self.metres) {
            (false, _) => 0.0,
            (true, Some(metres)) => 0.5 / metres,
            // A quarter of a body, rounded to 1, 2 or 5 times a power of ten.
            (true, None) => {
                let wish = 0.28 * self.height;
                let ten = libm::powf(10.0, libm::floorf(libm::log10f(wish.max(1e-30))));
                let steps = [1.0, 2.0, 5.0, 10.0];
                let nearest = steps.into_iter().min_by(|a, b| {
                    let off = |s: f32| libm::fabsf(libm::logf(s * ten / wish));
                    off(*a).total_cmp(&off(*b))
                });
                nearest.unwrap_or(1.0) * ten
            }
        }
    }

    pub(crate) fn panel(&self, camera: Camera, x: usize, y: usize, width: usize, height: usize) -> Panel {
        Panel {
            x,
            y,
            width,
            height,
            camera,
            floor: self.floor,
            grid: self.grid(),
            near: 0.055 * self.height,
            solids: Vec::new(),
            footprints: Vec::new(),
            trails: Vec::new(),
            fade_from: 0.55,
        }
    }

    /// Where the window of a moment is centred: the middle of the figures on the floor.
    pub(crate) fn middle(&self, moment: &Moment) -> Vec3 {
        let mut at = mean_root(moment);
        at.y = self.floor.unwrap_or(0.0);
        at
    }
}

/// Share of plain time in [`Times::ByMotion`], so that a pose that is held still appears now and then.
const CLOCK: f32 = 0.3;

/// Times at equal shares of the distance that all joints travel, moved to nearby extremes of the motion.
fn times_by_motion(cast: &[PreparedFigure<'_>], seconds: f32, count: usize) -> Vec<f32> {
    const STEPS: usize = 240;
    let time = |step: usize| seconds * step as f32 / STEPS as f32;
    let mut travelled = vec![0.0f32];
    let mut before: Vec<WorldPose> = cast.iter().map(|c| c.world(0.0)).collect();
    for step in 1..=STEPS {
        let now: Vec<WorldPose> = cast.iter().map(|c| c.world(time(step))).collect();
        let moved: f32 = before
            .iter()
            .zip(&now)
            .flat_map(|(b, n)| b.positions.iter().zip(&n.positions))
            .map(|(p, q)| p.distance(*q))
            .sum();
        travelled.push(travelled.last().copied().unwrap_or(0.0) + moved);
        before = now;
    }
    let all = travelled.last().copied().unwrap_or(0.0).max(1e-12);
    let share = |step: usize| CLOCK * step as f32 / STEPS as f32 + (1.0 - CLOCK) * travelled[step] / all;
    let last = count.saturating_sub(1).max(1);
    let mut step = 0;
    let mut steps: Vec<usize> = (0..count.max(1))
        .map(|i| {
            while step < STEPS && share(step) < i as f32 / last as f32 {
                step += 1;
            }
            if i == last { STEPS } else { step }
        })
        .collect();
    // At an extreme the motion reverses and is slow for a moment: each pose moves to one nearby.
    let speed = |i: usize| travelled[(i + 2).min(STEPS)] - travelled[i.saturating_sub(2)];
    for k in 1..steps.len().saturating_sub(1) {
        let (before, here, after) = (steps[k - 1], steps[k], steps[k + 1]);
        let (low, high) = (here - (here - before) * 2 / 5, here + after.saturating_sub(here) * 2 / 5);
        let turn = (low + 1..high).filter(|&i| speed(i) <= speed(i - 1) && speed(i) <= speed(i + 1));
        let turn = turn.min_by(|a, b| speed(*a).total_cmp(&speed(*b)));
        if let Some(turn) = turn.filter(|turn| speed(*turn) < 0.8 * speed(here)) {
            steps[k] = turn;
        }
    }
    steps.into_iter().map(time).collect()
}

/// Moments around a touch, those that say most first: how it was before, the touch, what a push does to a body while it acts (0.12 s), how far that carries it
/// (0.25 s), what it does about it (0.5 s) and how it ends; then more of each as there is room.
fn times_of_touch(at: f32, near: f32, seconds: f32, count: usize) -> Vec<f32> {
    let near = near.clamp(0.008, 0.1);
    let told =
        [0.0, 0.25, -0.2, seconds - at, 0.1, 0.5, -near, -at, 1.0, 0.17, 0.37, 2.0, 0.75, -0.1, 1.5, 3.0, 0.05, -0.4];
    let mut times: Vec<f32> = Vec::new();
    // Two poses nearer than this are one.
    let apart = |times: &[f32], time: f32| times.iter().all(|t| (t - time).abs() > 0.5 * near.min(0.05));
    for time in told.into_iter().map(|after| at + after) {
        if times.len() < count.max(1) && (0.0..=seconds).contains(&time) && apart(&times, time) {
            times.push(time);
        }
    }
    // The largest gaps are filled with what is left.
    while times.len() < count.max(1) {
        times.sort_by(f32::total_cmp);
        let gap = times.windows(2).map(|w| (w[1] - w[0], 0.5 * (w[0] + w[1]))).max_by(|a, b| a.0.total_cmp(&b.0));
        times.push(gap.map_or(at, |(_, middle)| middle));
    }
    times.sort_by(f32::total_cmp);
    times
}

/// Mean position of the figures' roots.
fn mean_root(moment: &Moment) -> Vec3 {
    let sum: Vec3 = moment.worlds.iter().filter_map(|w| w.positions.first()).copied().sum();
    sum / moment.worlds.len().max(1) as f32
}

/// A number with at most two decimals and no trailing zeros.
pub(crate) fn format_number(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
