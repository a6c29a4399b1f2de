//! Film strips: moments of a motion side by side or along its path.

use kumite_motion::{Vec2, Vec3, WorldPose};

use crate::body::Group;
use crate::camera::{Camera, View};
use crate::image::Image;
use crate::page::{Anchor, Mark, Page, Panel, Print, Solid, Trail};
use crate::paint::text_width;
use crate::render;
use crate::scene::{Cast, Figure, Prop};
use crate::theme::Theme;
use crate::{svg, timeline};

/// Which moments are shown, in seconds from the start of the picture's time.
#[derive(Clone, Debug, PartialEq)]
pub enum Times {
    /// So many, evenly from the first frame to the last.
    Even(usize),
    /// So many between the first frame and the last, closer together where more moves: extremes of quick actions
    /// are not missed.
    ByMotion(usize),
    /// So many, evenly over an interval.
    Between(f32, f32, usize),
    /// These.
    At(Vec<f32>),
}

/// How poses are arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Side by side, one column per moment and one row per view.
    Row,
    /// All in one world, where they happen; one row per view.
    Travel,
}

/// What the cells of a row show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Each cell its pose and no more: the largest figures. Where they stand shows on the grid.
    Pose,
    /// All cells the same piece of the world: steps and shifts of weight show.
    World,
}

/// Where the ground is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Floor {
    /// At 0 if the lowest point comes near it, else under the lowest point.
    Auto,
    /// At this height.
    At(f32),
    /// Nowhere.
    None,
}

/// Ways of hands and feet drawn behind each pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trails {
    /// Of both hands.
    pub hands: bool,
    /// Of both feet.
    pub feet: bool,
    /// How far back, seconds; never farther than to the pose before.
    pub seconds: f32,
}

/// A film strip. Everything has a default but the figures.
#[derive(Clone, Debug)]
pub struct Strip<'a> {
    /// Who moves.
    pub figures: Vec<Figure<'a>>,
    /// What else is there.
    pub props: Vec<Prop>,
    /// Heading; `None` takes the clips' names, an empty one leaves the line out.
    pub title: Option<String>,
    /// Which moments.
    pub times: Times,
    /// From where; one row each.
    pub views: Vec<View>,
    /// How arranged.
    pub layout: Layout,
    /// What cells show, for [`Layout::Row`].
    pub window: Window,
    /// Colours of paper, floor and ink.
    pub theme: Theme,
    /// Of the picture, pixels.
    pub width: usize,
    /// Greatest height of one row of figures, pixels. Wide strips of few poses are limited by it.
    pub row_height: usize,
    /// The ground.
    pub floor: Floor,
    /// Metres in one unit of the clips; `None` guesses metres or centimetres from a person's height, else draws a
    /// grid of round numbers.
    pub metres_per_unit: Option<f32>,
    /// Grid lines on the floor.
    pub grid: bool,
    /// Ways of hands and feet.
    pub trails: Trails,
    /// Seconds and frame under each pose.
    pub captions: bool,
    /// Spans, contacts and the moments shown on a line below.
    pub timeline: bool,
    /// How far the colours of the earliest pose of [`Layout::Travel`] go towards the paper, 0 to 1.
    pub ghost: f32,
    /// Height of captions' letters, pixels; the heading is half as large again.
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

/// Space around everything, pixels.
const MARGIN: f32 = 18.0;
/// Heading's letters against captions'.
const HEADING: f32 = 1.5;

impl<'a> Strip<'a> {
    /// Of one clip, with the defaults.
    pub fn of(figure: Figure<'a>) -> Strip<'a> {
        Strip { figures: vec![figure], ..Strip::default() }
    }

    /// As pixels.
    pub fn render(&self) -> Image {
        self.page().render()
    }

    /// As an SVG document with flat shading, text as text.
    pub fn to_svg(&self) -> String {
        svg::page(&self.page())
    }

    pub(crate) fn page(&self) -> Page {
        Plan::new(self).page()
    }
}

impl Page {
    pub(crate) fn render(&self) -> Image {
        let mut canvas = render::page(self);
        for (index, panel) in self.panels.iter().enumerate() {
            for trail in &panel.trails {
                canvas.trail(self, index, trail);
            }
        }
        for mark in &self.marks {
            canvas.mark(mark);
        }
        canvas.into_image()
    }
}

/// One moment: everyone's pose.
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

/// A strip with everything that layouts need to know.
pub(crate) struct Plan<'a> {
    pub strip: &'a Strip<'a>,
    pub cast: Vec<Cast<'a>>,
    /// Of the tallest body.
    pub height: f32,
    pub floor: Option<f32>,
    /// Metres in a unit, if known.
    pub metres: Option<f32>,
    pub moments: Vec<Moment>,
    pub seconds: f32,
}

impl<'a> Plan<'a> {
    pub(crate) fn new(strip: &'a Strip<'a>) -> Plan<'a> {
        let cast: Vec<Cast> = strip.figures.iter().map(Cast::new).collect();
        let height = cast.iter().map(|c| c.body.height).fold(0.0, f32::max);
        let height = if height > 0.0 { height } else { 1.0 };
        let seconds = strip.figures.iter().map(|a| a.starts_at + a.clip.seconds()).fold(0.0, f32::max);
        let even = |from: f32, to: f32, count: usize| {
            let last = count.saturating_sub(1).max(1) as f32;
            (0..count.max(1)).map(|i| from + (to - from) * i as f32 / last).collect()
        };
        let times: Vec<f32> = match &strip.times {
            Times::Even(count) => even(0.0, seconds, *count),
            Times::ByMotion(count) => by_motion(&cast, seconds, *count),
            Times::Between(from, to, count) => even(*from, *to, *count),
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
        let mut plan = Plan { strip, cast, height, floor: None, metres, moments: Vec::new(), seconds };
        plan.moments = times.into_iter().map(|time| plan.moment(time)).collect();
        plan.floor = plan.find_floor();
        plan
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

    /// Where azimuth 0 faces.
    pub(crate) fn forward(&self, along_path: bool) -> Vec3 {
        let Some(cast) = self.cast.first() else { return Vec3::Z };
        if along_path && let (Some(first), Some(last)) = (self.moments.first(), self.moments.last()) {
            let way = root(last) - root(first);
            let way = Vec3::new(way.x, 0.0, way.z);
            if way.length() > 0.5 * self.height {
                return way.normalize_or(Vec3::Z);
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

    /// Bodies and props that count, seen by a camera of scale 1.
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
        for prop in self.strip.props.iter().filter(|p| p.fit) {
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

    /// Everything at one moment. `gap` is the time since the pose before, for trails.
    pub(crate) fn fill(&self, panel: &mut Panel, moment: &Moment, instance: usize, fade: f32, gap: f32) {
        let strip = self.strip;
        let floor = self.floor.unwrap_or(0.0);
        for (i, (cast, world)) in self.cast.iter().zip(&moment.worlds).enumerate() {
            let number = (instance * self.cast.len() + i) as u32;
            panel.solids.extend(cast.solids(world, number, fade, strip.theme.paper));
            if self.floor.is_some() {
                let prints: Vec<Print> = cast.prints(moment.time, world, floor);
                panel.prints.extend(prints);
            }
            let seconds = strip.trails.seconds.min(gap);
            let hands = [Group::LeftHand, Group::RightHand].into_iter().filter(|_| strip.trails.hands);
            let feet = [Group::LeftFoot, Group::RightFoot].into_iter().filter(|_| strip.trails.feet);
            let trails = hands.chain(feet).filter_map(|group| cast.trail(group, moment.time, seconds));
            panel.trails.extend(trails);
        }
    }

    pub(crate) fn fill_props(&self, panel: &mut Panel, time: f32, first_run: u32) {
        for (i, prop) in self.strip.props.iter().enumerate() {
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

    fn grid(&self) -> f32 {
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
            prints: Vec::new(),
            trails: Vec::new(),
            fade_from: 0.55,
        }
    }

    /// Where the window of a moment is centred: the middle of the figures on the floor.
    pub(crate) fn middle(&self, moment: &Moment) -> Vec3 {
        let mut at = root(moment);
        at.y = self.floor.unwrap_or(0.0);
        at
    }

    fn page(&self) -> Page {
        let strip = self.strip;
        let mut page =
            Page { width: strip.width.max(64), height: 0, theme: strip.theme, panels: Vec::new(), marks: Vec::new() };
        let mut y = self.heading(&mut page);
        y = match strip.layout {
            Layout::Row => self.rows(&mut page, y),
            Layout::Travel => self.travel(&mut page, y),
        };
        if strip.timeline && self.seconds > 0.0 {
            y = timeline::draw(self, &mut page, y, MARGIN);
        }
        page.height = (y + 0.6 * MARGIN).ceil() as usize;
        page
    }

    fn heading(&self, page: &mut Page) -> f32 {
        let strip = self.strip;
        let title = strip.title.clone().unwrap_or_else(|| {
            let names: Vec<&str> = strip.figures.iter().map(|a| a.clip.name.as_str()).collect();
            names.join("  ·  ")
        });
        if title.is_empty() {
            return 0.5 * MARGIN;
        }
        let size = HEADING * strip.letters;
        let title = fitted(&title, size, page.width as f32 - 2.0 * MARGIN);
        let baseline = MARGIN + 0.8 * size;
        page.marks.push(Mark::Text {
            at: Vec2::new(MARGIN, baseline),
            size,
            bold: true,
            anchor: Anchor::Start,
            colour: strip.theme.ink,
            text: title.clone(),
        });
        if let Some(figure) = strip.figures.first() {
            let clip = figure.clip;
            let mut facts = format!("{:.2} s   {} fps   {} frames", clip.seconds(), plain(clip.fps()), clip.frames());
            if let (Some(metres), true) = (self.metres, strip.grid && self.floor.is_some()) {
                facts.push_str(&format!("   grid {} m", plain(self.grid() * metres)));
            }
            let room = page.width as f32 - 3.0 * MARGIN - text_width(size, true, &title);
            if text_width(self.strip.letters, false, &facts) < room {
                page.marks.push(Mark::Text {
                    at: Vec2::new(page.width as f32 - MARGIN, baseline),
                    size: self.strip.letters,
                    bold: false,
                    anchor: Anchor::End,
                    colour: strip.theme.faint,
                    text: facts,
                });
            }
        }
        MARGIN + 1.5 * size
    }

    fn rows(&self, page: &mut Page, mut y: f32) -> f32 {
        let strip = self.strip;
        let columns = self.moments.len();
        let middles: Vec<Vec3> = self.moments.iter().map(|m| self.middle(m)).collect();
        let follows = strip.window == Window::Pose;
        let fixed = middles.iter().copied().sum::<Vec3>() / columns.max(1) as f32;
        let middles: Vec<Vec3> = if follows { middles } else { vec![fixed; columns] };
        let forward = self.forward(false);

        // Extent of every cell, relative to its middle.
        let cells: Vec<(Camera, Vec<Extent>)> = strip
            .views
            .iter()
            .map(|view| {
                let camera = Camera::looking(view, forward);
                let see = |(m, at): (&Moment, &Vec3)| self.extent(m, &Camera { target: *at, ..camera });
                let mut extents: Vec<Extent> = self.moments.iter().zip(&middles).map(see).collect();
                if !follows {
                    let all = extents.iter().copied().fold(Extent::EMPTY, Extent::or);
                    extents.fill(all);
                }
                (camera, extents)
            })
            .collect();
        let air = 0.10 * self.height;
        let wide = |column: usize| {
            let over = cells.iter().map(|(_, e)| e[column]).fold(Extent::EMPTY, Extent::or);
            over.size().x + 2.0 * air
        };
        let widths: Vec<f32> = (0..columns).map(wide).collect();
        let total: f32 = widths.iter().sum();
        let room = page.width as f32 - MARGIN;
        let tallest =
            cells.iter().map(|(_, e)| e.iter().copied().fold(Extent::EMPTY, Extent::or).size().y).fold(0.0, f32::max);
        let scale = (room / total).min(strip.row_height.max(32) as f32 / (tallest + 2.0 * air));
        let spare = (room - total * scale) / columns.max(1) as f32;

        for (row, (camera, extents)) in cells.iter().enumerate() {
            let all = extents.iter().copied().fold(Extent::EMPTY, Extent::or);
            let top = all.low.y - air;
            // Below the feet there is room for the floor to end softly.
            let bottom = all.high.y.max(0.0) + 1.3 * air;
            let height = ((bottom - top) * scale).ceil().max(8.0) as usize;
            let mut x = 0.5 * MARGIN;
            let mut free = f32::NEG_INFINITY;
            for (column, moment) in self.moments.iter().enumerate() {
                let width = widths[column] * scale + spare;
                let (left, right) = (x.round(), (x + width).round());
                let middle = 0.5 * (extents[column].low.x + extents[column].high.x) * scale;
                let camera = Camera {
                    scale,
                    target: middles[column],
                    centre: Vec2::new(0.5 * (right - left) - middle, -top * scale),
                    ..*camera
                };
                let mut panel = self.panel(camera, left as usize, y as usize, (right - left) as usize, height);
                let gap = match column.checked_sub(1) {
                    Some(before) => moment.time - self.moments[before].time,
                    None => strip.trails.seconds,
                };
                self.fill(&mut panel, moment, 0, 0.0, gap.max(0.0));
                self.fill_props(&mut panel, moment.time, self.cast.len() as u32 * Group::ALL.len() as u32);
                page.panels.push(panel);
                if strip.captions && row + 1 == cells.len() {
                    let baseline = y + height as f32 + strip.letters;
                    free = self.caption(page, moment.time, 0.5 * (left + right), baseline, free);
                }
                x += width;
            }
            if strip.views.len() > 1 {
                self.label(page, &strip.views[row].label, y + self.strip.letters);
            }
            y += height as f32;
        }
        if strip.captions { y + 1.9 * self.strip.letters } else { y }
    }

    fn label(&self, page: &mut Page, text: &str, baseline: f32) {
        page.marks.push(Mark::Text {
            at: Vec2::new(MARGIN, baseline),
            size: self.strip.letters,
            bold: true,
            anchor: Anchor::Start,
            colour: self.strip.theme.faint,
            text: text.to_owned(),
        });
    }

    /// The time below a pose, if the place is free from `free` on. Returns what is free then.
    fn caption(&self, page: &mut Page, time: f32, x: f32, baseline: f32, free: f32) -> f32 {
        let text = format!("{time:.2} s");
        let half = 0.5 * text_width(self.strip.letters, true, &text) + 3.0;
        if x - half < free {
            return free;
        }
        let theme = &self.strip.theme;
        let when_active = self.strip.figures.iter().flat_map(|figure| {
            let on = move |(from, to): (f32, f32)| (from..=to).contains(&(time - figure.starts_at));
            figure.clip.spans.iter().filter(move |span| span.active.is_some_and(on))
        });
        let active = when_active.map(|span| theme.span(span.kind)).next();
        page.marks.push(Mark::Text {
            at: Vec2::new(x, baseline),
            size: self.strip.letters,
            bold: active.is_some(),
            anchor: Anchor::Middle,
            colour: active.unwrap_or(theme.ink),
            text,
        });
        x + half
    }

    fn travel(&self, page: &mut Page, mut y: f32) -> f32 {
        let strip = self.strip;
        let forward = self.forward(true);
        let target = Vec3::new(0.0, self.floor.unwrap_or(0.0), 0.0);
        let cells: Vec<(Camera, Vec<Extent>)> = strip
            .views
            .iter()
            .map(|view| {
                let camera = Camera { target, ..Camera::looking(view, forward) };
                (camera, self.moments.iter().map(|m| self.extent(m, &camera)).collect())
            })
            .collect();
        let air = 0.12 * self.height;
        let room = page.width as f32 - MARGIN;
        let sizes = cells.iter().map(|(_, e)| e.iter().copied().fold(Extent::EMPTY, Extent::or).size());
        let (widest, tallest) = sizes.fold((0.0f32, 0.0f32), |(w, t), s| (w.max(s.x), t.max(s.y)));
        let scale = (room / (widest + 4.0 * air)).min(strip.row_height.max(32) as f32 / (tallest + 2.0 * air));
        let count = self.moments.len();
        for (row, (camera, extents)) in cells.iter().enumerate() {
            let all = extents.iter().copied().fold(Extent::EMPTY, Extent::or);
            let top = all.low.y - air;
            let height = ((all.high.y - all.low.y + 2.3 * air) * scale).ceil().max(8.0) as usize;
            let left = 0.5 * MARGIN;
            let camera = Camera {
                scale,
                centre: Vec2::new(0.5 * room - 0.5 * (all.low.x + all.high.x) * scale, -top * scale),
                ..*camera
            };
            let mut panel = self.panel(camera, left as usize, y as usize, room as usize, height);
            panel.fade_from = 0.9;
            for (i, moment) in self.moments.iter().enumerate() {
                let age = (count - 1 - i) as f32 / count.saturating_sub(1).max(1) as f32;
                let before = i.checked_sub(1).map_or(0.0, |b| self.moments[b].time);
                self.fill(&mut panel, moment, i, strip.ghost * age, (moment.time - before).max(0.0));
            }
            let last = self.moments.last().map_or(0.0, |m| m.time);
            self.fill_props(&mut panel, last, (count * self.cast.len() * Group::ALL.len()) as u32);
            page.panels.push(panel);
            if strip.captions && row + 1 == cells.len() {
                let mut free = f32::NEG_INFINITY;
                for (moment, extent) in self.moments.iter().zip(extents) {
                    let x = left + camera.centre.x + 0.5 * (extent.low.x + extent.high.x) * scale;
                    free = self.caption(page, moment.time, x, y + height as f32 + strip.letters, free);
                }
            }
            if strip.views.len() > 1 {
                self.label(page, &strip.views[row].label, y + self.strip.letters);
            }
            y += height as f32;
        }
        if strip.captions { y + 1.9 * self.strip.letters } else { y }
    }
}

/// How much of [`Times::ByMotion`] is plain time: holds still get a pose now and then.
const CLOCK: f32 = 0.3;

/// Times at equal shares of the way that all joints go.
fn by_motion(cast: &[Cast<'_>], seconds: f32, count: usize) -> Vec<f32> {
    const STEPS: usize = 240;
    let time = |step: usize| seconds * step as f32 / STEPS as f32;
    let mut way = vec![0.0f32];
    let mut before: Vec<WorldPose> = cast.iter().map(|c| c.world(0.0)).collect();
    for step in 1..=STEPS {
        let now: Vec<WorldPose> = cast.iter().map(|c| c.world(time(step))).collect();
        let moved: f32 = before
            .iter()
            .zip(&now)
            .flat_map(|(b, n)| b.positions.iter().zip(&n.positions))
            .map(|(p, q)| p.distance(*q))
            .sum();
        way.push(way.last().copied().unwrap_or(0.0) + moved);
        before = now;
    }
    let all = way.last().copied().unwrap_or(0.0).max(1e-12);
    let share = |step: usize| CLOCK * step as f32 / STEPS as f32 + (1.0 - CLOCK) * way[step] / all;
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
    // Extremes are where the motion turns and is slow for a moment: each pose goes to the one near it.
    let speed = |i: usize| way[(i + 2).min(STEPS)] - way[i.saturating_sub(2)];
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

/// Middle of the figures' roots.
fn root(moment: &Moment) -> Vec3 {
    let sum: Vec3 = moment.worlds.iter().filter_map(|w| w.positions.first()).copied().sum();
    sum / moment.worlds.len().max(1) as f32
}

/// A text cut off, with dots, where it would not fit.
fn fitted(text: &str, size: f32, room: f32) -> String {
    if text_width(size, true, text) <= room {
        return text.to_owned();
    }
    let mut letters: Vec<char> = text.chars().collect();
    loop {
        letters.pop();
        let cut: String = letters.iter().chain(&['…']).collect();
        if letters.is_empty() || text_width(size, true, &cut) <= room {
            return cut;
        }
    }
}

/// A number with two decimals at most, without trailing zeros.
pub(crate) fn plain(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
