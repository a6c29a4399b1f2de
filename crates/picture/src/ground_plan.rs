//! Walks seen from above: obstacles, the paths walked, and where the feet came down. Judges and plans nothing.

use kumite_motion::volume::{Obstacle, Shape};
use kumite_motion::{Clip, Contacts, FrameIdx, JointIdx, Pose, Role, Roles, Vec2, Vec3, WorldPose, fk, mass};

use crate::image::Image;
use crate::page::{Anchor, Mark, Page, Quality};
use crate::shape::hull;
use crate::svg;
use crate::theme::{Colours, Rgb, Theme};

/// Height of letters, pixels.
const LETTERS: f32 = 15.0;
/// Margin around the picture, pixels.
const EDGE: f32 = 24.0;
/// Ground shown around every path, metres.
const AROUND: f32 = 0.6;
/// Greatest height of the drawn ground, pixels; where more were needed, the picture becomes narrower.
const TALLEST: f32 = 1600.0;

/// A picture from above with +Z up and +X to the left, as seen by a character that walks up the picture.
#[derive(Clone, Debug)]
pub struct GroundPlan<'a> {
    /// Walks with their names, in the colours of [`GroundPlan::COLOURS`]. Footprints are shown for the first.
    pub takes: Vec<(&'a Clip, &'a str)>,
    /// Planned routes, drawn as thin dashed lines.
    pub routes: Vec<Vec<Vec2>>,
    /// Obstacles; lower ones are drawn lighter.
    pub obstacles: &'a [Obstacle],
    /// Goal position and, if it matters, facing in radians.
    pub goal: (Vec2, Option<f32>),
    /// Heading.
    pub title: String,
    /// Pixels.
    pub width: usize,
    /// Colours.
    pub theme: Theme,
}

impl GroundPlan<'_> {
    /// Colours of the walks, in turn.
    pub const COLOURS: [Rgb; 4] = [Rgb(196, 58, 52), Rgb(40, 104, 176), Rgb(46, 136, 84), Rgb(150, 92, 168)];

    /// Draws it as pixels.
    pub fn render(&self) -> Image {
        self.page().render()
    }

    /// Draws it as an SVG document.
    pub fn to_svg(&self) -> String {
        svg::page(&self.page())
    }

    fn page(&self) -> Page {
        let walked: Vec<Vec<(Vec2, WorldPose)>> = self.takes.iter().map(|(clip, _)| centre_path(clip)).collect();
        let outlines: Vec<(Vec<Vec2>, f32)> = self.obstacles.iter().map(outline).collect();
        let (mut low, mut high) = (self.goal.0 - AROUND, self.goal.0 + AROUND);
        let centres = walked.iter().flatten().map(|(p, _)| *p);
        for p in centres.chain(self.routes.iter().flatten().copied()) {
            (low, high) = (low.min(p - AROUND), high.max(p + AROUND));
        }
        // Obstacles widen the picture by at most three metres on each side.
        let (near, far) = (low - 3.0, high + 3.0);
        for p in outlines.iter().flat_map(|o| &o.0) {
            (low, high) = (low.min(p.clamp(near, far) - 0.2), high.max(p.clamp(near, far) + 0.2));
        }
        let size = high - low;
        let mut width = self.width.max(200) as f32;
        let mut scale = (width - 2.0 * EDGE) / size.x;
        let head = EDGE + 1.8 * LETTERS;
        if size.y * scale > TALLEST {
            scale = TALLEST / size.y;
            width = (size.x * scale + 2.0 * EDGE).max(360.0);
        }
        let height = size.y * scale + head + EDGE + 1.6 * LETTERS * self.takes.len() as f32;
        let left = 0.5 * (width - size.x * scale);
        let spot = |p: Vec2| Vec2::new(left + (high.x - p.x) * scale, head + (high.y - p.y) * scale);
        let theme = self.theme;
        let mut marks =
            vec![Mark::Rect { min: spot(high), max: spot(low), corner: 6.0, colour: theme.floor, alpha: 1.0 }];
        let line = |from: Vec2, to: Vec2, width: f32, colour: Rgb, alpha: f32| Mark::Line {
            from: spot(from),
            to: spot(to),
            width,
            colour,
            alpha,
        };
        for x in low.x.ceil() as i32..=high.x.floor() as i32 {
            marks.push(line(Vec2::new(x as f32, low.y), Vec2::new(x as f32, high.y), 1.0, theme.grid, 0.6));
        }
        for z in low.y.ceil() as i32..=high.y.floor() as i32 {
            marks.push(line(Vec2::new(low.x, z as f32), Vec2::new(high.x, z as f32), 1.0, theme.grid, 0.6));
        }
        for (points, top) in &outlines {
            let seen: Vec<Vec2> = points.iter().map(|p| spot(p.clamp(low, high))).collect();
            let alpha = (0.35 + 0.3 * top).clamp(0.35, 0.9);
            marks.push(Mark::Area { points: hull(seen), colour: theme.prop, alpha });
        }
        for route in &self.routes {
            for pair in route.windows(2) {
                let dashes = ((pair[1] - pair[0]).length() / 0.2).ceil().max(1.0) as u32;
                for k in 0..dashes {
                    let at = |t: f32| pair[0].lerp(pair[1], (t / dashes as f32).min(1.0));
                    marks.push(line(at(k as f32), at(k as f32 + 0.5), 1.5, theme.faint, 0.9));
                }
            }
        }
        if let (Some((clip, _)), Some(path)) = (self.takes.first(), walked.first()) {
            footprints(clip, path, &spot, scale, &mut marks);
        }
        for (k, path) in walked.iter().enumerate().rev() {
            let colour = Self::COLOURS[k % Self::COLOURS.len()];
            for pair in path.windows(2) {
                marks.push(line(pair[0].0, pair[1].0, 2.5, colour, 0.95));
            }
            if let Some((p, _)) = path.first() {
                marks.push(Mark::Disc { at: spot(*p), radius: 6.0, colour, alpha: 1.0 });
            }
        }
        let (goal, facing) = self.goal;
        marks.push(Mark::Disc { at: spot(goal), radius: 9.0, colour: theme.ink, alpha: 0.35 });
        if let Some(facing) = facing {
            let (s, c) = libm::sincosf(facing);
            let ahead = Vec2::new(s, c);
            let tip = goal + ahead * 0.45;
            marks.push(line(goal, tip, 2.5, theme.ink, 0.9));
            for side in [-1.0, 1.0] {
                marks.push(line(tip, tip - ahead * 0.14 + ahead.perp() * (0.09 * side), 2.5, theme.ink, 0.9));
            }
        }
        let text = |at: Vec2, bold: bool, colour: Rgb, text: String| Mark::Text {
            at,
            size: LETTERS,
            bold,
            anchor: Anchor::Start,
            colour,
            text,
        };
        marks.push(text(Vec2::new(EDGE, EDGE + 0.6 * LETTERS), true, theme.ink, self.title.clone()));
        for (k, (_, name)) in self.takes.iter().enumerate() {
            let y = head + size.y * scale + EDGE + 1.6 * LETTERS * k as f32;
            let colour = Self::COLOURS[k % Self::COLOURS.len()];
            marks.push(text(Vec2::new(EDGE, y), false, colour, (*name).to_owned()));
        }
        Page {
            quality: Quality::Still,
            width: width.ceil() as usize,
            height: height.ceil() as usize,
            theme,
            panels: Vec::new(),
            marks,
        }
    }
}

/// Per frame: the centre of mass on the floor, and the world pose.
fn centre_path(clip: &Clip) -> Vec<(Vec2, WorldPose)> {
    let mut pose = Pose::default();
    (0..clip.frames() as u32)
        .map(|frame| {
            let mut world = WorldPose::default();
            clip.pose(FrameIdx(frame), &mut pose);
            fk::pose(clip.skeleton(), &pose, &mut world);
            let centre = mass::centre(clip.skeleton(), &Roles::canonical(), &world);
            (Vec2::new(centre.x, centre.z), world)
        })
        .collect()
}

/// Draws each footprint where the foot is halfway through the time it is planted.
fn footprints(
    clip: &Clip,
    path: &[(Vec2, WorldPose)],
    spot: &impl Fn(Vec2) -> Vec2,
    scale: f32,
    marks: &mut Vec<Mark>,
) {
    let feet = [
        (Role::LeftAnkle, Role::LeftToe, Contacts::LEFT, Colours::FIRST.left),
        (Role::RightAnkle, Role::RightToe, Contacts::RIGHT, Colours::FIRST.right),
    ];
    for (ankle, toe, part, colour) in feet {
        let mut since = None;
        for frame in 0..=clip.contacts.len().min(path.len()) {
            let down = clip.contacts.get(frame).is_some_and(|c| c.any(part)) && frame < path.len();
            match (since, down) {
                (None, true) => since = Some(frame),
                (Some(first), false) => {
                    since = None;
                    let world = &path[(first + frame - 1) / 2].1;
                    let flat = |joint: JointIdx| {
                        let p = world.position(joint);
                        Vec2::new(p.x, p.z)
                    };
                    let (heel, ball) = (flat(ankle.joint()), flat(toe.joint()));
                    let along = (ball - heel).normalize_or(Vec2::Y);
                    marks.push(Mark::Line {
                        from: spot(heel),
                        to: spot(ball + along * 0.03),
                        width: 0.09 * scale,
                        colour,
                        alpha: 0.55,
                    });
                }
                _ => {}
            }
        }
    }
}

/// Corners of an obstacle seen from above, and the height of its top.
fn outline(obstacle: &Obstacle) -> (Vec<Vec2>, f32) {
    let ring = |radius: f32| {
        (0..24).map(move |k| {
            let (s, c) = libm::sincosf(std::f32::consts::TAU * k as f32 / 24.0);
            (radius * c, radius * s)
        })
    };
    let mut points: Vec<Vec3> = Vec::new();
    match obstacle.shape {
        Shape::Sphere { radius } => points.extend(ring(radius).map(|(x, z)| obstacle.at + Vec3::new(x, 0.0, z))),
        Shape::Capsule { half, radius } => {
            for y in [-half, half] {
                let end = obstacle.at + obstacle.turn * (Vec3::Y * y);
                points.extend(ring(radius).map(|(x, z)| end + Vec3::new(x, 0.0, z)));
            }
        }
        Shape::Cylinder { half, radius } => {
            for y in [-half, half] {
                points.extend(ring(radius).map(|(x, z)| obstacle.at + obstacle.turn * Vec3::new(x, y, z)));
            }
        }
        Shape::Box { half } => {
            for k in 0..8u32 {
                let sign = |bit: u32| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
                let corner = Vec3::new(sign(0), sign(1), sign(2)) * half;
                points.push(obstacle.at + obstacle.turn * corner);
            }
        }
    }
    let top = points.iter().map(|p| p.y).fold(0.0, f32::max);
    (points.iter().map(|p| Vec2::new(p.x, p.z)).collect(), top)
}
