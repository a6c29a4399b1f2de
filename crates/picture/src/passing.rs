//! The views in which a ball is seen to pass somebody by.

use kumite_motion::Vec3;

use crate::body::Cone;
use crate::camera::{Camera, View};
use crate::figure::{Figure, PreparedFigure, Prop};

/// When a ball is nearest to a figure, and the views that show best how it gets by.
#[derive(Clone, Debug, PartialEq)]
pub struct Passing {
    /// Seconds.
    pub time: f32,
    /// The best from the front half of the figure, and the best of those across it: one picture has no depth.
    pub views: [View; 2],
}

/// Seen farther apart than this nobody takes ball and body for touching, metres.
const APART: f32 = 0.15;
/// What the usual view is worth over others, metres of paper between ball and body.
const USUAL: f32 = 0.03;
/// How much showing that the ball would have hit is worth, of showing that it does not.
const WOULD_HAVE: f32 = 0.5;
/// How much showing that the body moves is worth.
const MOVED: f32 = 0.5;
/// How much farther away a ball may be for the moment to count, metres.
const NEAR: f32 = 0.15;

/// Balls along the bones of a body, with their radii.
type Filling = Vec<(Vec3, f32)>;

impl Passing {
    /// Looks for the moment within `times`, seconds, and for views in which most paper is seen between ball and body then, least had the body
    /// stayed as it was at `before`, and which show how it has moved since.
    pub fn of(figure: &Figure<'_>, ball: &Prop, times: (f32, f32), before: f32) -> Passing {
        const STEPS: usize = 64;
        let cast = PreparedFigure::new(figure);
        let sizes = ball.shape.balls();
        let radius = sizes.first().map_or(0.0, |b| b.1);
        let middle = sizes.first().map_or(Vec3::ZERO, |b| b.0);
        let body = |time: f32| -> Filling {
            let along = |cone: Cone| {
                (0..=4)
                    .map(move |k| k as f32 / 4.0)
                    .map(move |t| (cone.a.lerp(cone.b, t), cone.ra + (cone.rb - cone.ra) * t))
            };
            cast.body.placed(&cast.world(time)).flat_map(|(cone, _)| along(cone)).collect()
        };
        let place = |time: f32| ball.place(time) + middle;
        let near = |time: f32| {
            let p = place(time);
            body(time).iter().map(|(q, r)| (*q - p).length() - r).fold(f32::INFINITY, f32::min)
        };
        let moments: Vec<(f32, f32)> = (0..=STEPS)
            .map(|k| times.0 + (times.1 - times.0) * k as f32 / STEPS as f32)
            .map(|time| (near(time), time))
            .collect();
        let nearest = moments.iter().min_by(|a, b| a.0.total_cmp(&b.0)).copied();
        let (least, time) = nearest.unwrap_or((0.0, times.1));
        // First the moment itself, then those about as near.
        let about = moments.iter().filter(|(near, _)| *near < least + NEAR).step_by(4).map(|(_, time)| *time);
        let shown: Vec<(Filling, Vec3)> = std::iter::once(time).chain(about).map(|t| (body(t), place(t))).collect();
        Passing { time, views: best_views(&shown, &body(before), radius, cast.facing(time)) }
    }
}

/// Views of a ball of a radius that passes a body in these moments, of which the first says most.
fn best_views(shown: &[(Filling, Vec3)], before: &Filling, radius: f32, forward: Vec3) -> [View; 2] {
    let usual = View::three_quarter();
    let moved = shown.first().map_or(Vec3::ZERO, |(body, _)| {
        let sum: Vec3 = body.iter().zip(before).map(|((p, _), (q, _))| *p - *q).sum();
        sum / before.len().max(1) as f32
    });
    let worth = |view: &View| {
        let camera = Camera::looking(view, forward);
        let seen = |p: Vec3| camera.turn(p).truncate();
        let gap = |body: &Filling, ball: Vec3| {
            let apart = |(p, r): &(Vec3, f32)| (seen(*p) - seen(ball)).length() - r - radius;
            body.iter().map(apart).fold(APART, f32::min)
        };
        let gaps = || shown.iter().map(|(body, ball)| gap(body, *ball));
        let (first, least) = (gaps().next().unwrap_or(0.0), gaps().fold(APART, f32::min));
        let stayed = shown.first().map_or(0.0, |(_, ball)| gap(before, *ball));
        let off = (view.azimuth - usual.azimuth).to_radians();
        0.5 * (first + least) - WOULD_HAVE * stayed.max(-APART)
            + MOVED * seen(moved).length().min(2.0 * APART)
            + USUAL * libm::cosf(off)
    };
    let best = |fits: &dyn Fn(f32) -> bool| {
        let azimuths = (-10..=10).map(|k| 10.0 * k as f32).filter(|azimuth| fits(*azimuth));
        let views = azimuths.map(|azimuth| View { azimuth, ..usual.clone() });
        let best = views.map(|view| (worth(&view), view)).max_by(|a, b| a.0.total_cmp(&b.0));
        best.map_or_else(|| usual.clone(), |(_, view)| view)
    };
    let first = best(&|_| true);
    let across = best(&|azimuth| (60.0..=120.0).contains(&(azimuth - first.azimuth).abs()));
    // Strips turn with the figure's mean direction, which is not the one it has now.
    let facing = libm::atan2f(-forward.x, forward.z).to_degrees();
    [first, across].map(|view| View {
        label: String::new(),
        azimuth: view.azimuth + facing,
        turns_with_subject: false,
        ..view
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ball that passes beside somebody is looked at from the front, one that passes in front of somebody from the side.
    #[test]
    fn a_gap_is_seen() {
        let body: Filling = (0..10).map(|k| (Vec3::Y * (0.18 * k as f32), 0.15)).collect();
        let azimuth = |at: Vec3| best_views(&[(body.clone(), at)], &body, 0.1, Vec3::Z)[0].azimuth;
        assert!(azimuth(Vec3::new(0.32, 1.0, 0.0)).abs() < 45.0);
        assert!(azimuth(Vec3::new(0.0, 1.0, 0.32)).abs() > 45.0);
    }

    /// The view is the same picture, whichever way the figure faces.
    #[test]
    fn views_turn_with_the_figure() {
        let body: Filling = (0..10).map(|k| (Vec3::Y * (0.18 * k as f32), 0.15)).collect();
        let view = |ball: Vec3, forward: Vec3| {
            let [first, across] = best_views(&[(body.clone(), ball)], &body, 0.1, forward);
            let turned = (across.azimuth - first.azimuth).abs();
            assert!((60.0..=120.0).contains(&turned), "{turned}");
            first
        };
        let front = view(Vec3::new(0.32, 1.0, 0.0), Vec3::Z);
        let side = view(Vec3::new(0.0, 1.0, -0.32), Vec3::X);
        let eye = |view: &View| Camera::looking(view, Vec3::Z).back;
        let [a, b] = [eye(&front), eye(&side)];
        assert!((Vec3::new(a.z, a.y, -a.x) - b).length() < 1e-3, "{a} {b}");
    }
}
