//! Views and the orthographic camera that projects the world to pixels.

use kumite_motion::{Quat, Vec2, Vec3};

/// From where to look. Pictures are orthographic, so that sizes compare across a strip.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Written above the row.
    pub label: String,
    /// Degrees around the subject: 0 faces it, 90 looks from its right side, so that it faces to the right
    /// of the picture.
    pub azimuth: f32,
    /// Degrees above the horizon, 0 to 90.
    pub elevation: f32,
    /// Whether the azimuth counts from where the first figure faces at the start (or, for poses spread along a path,
    /// from where it goes) or from the world's +Z.
    pub turns_with_subject: bool,
}

impl View {
    /// A view around the subject.
    pub fn new(label: &str, azimuth: f32, elevation: f32) -> View {
        View { label: label.to_owned(), azimuth, elevation, turns_with_subject: true }
    }

    /// From the front.
    pub fn front() -> View {
        View::new("front", 0.0, 8.0)
    }

    /// From the right: the subject faces to the right of the picture.
    pub fn side() -> View {
        View::new("side", 90.0, 8.0)
    }

    /// Between front and side, a little from above: the view that shows most.
    pub fn three_quarter() -> View {
        View::new("three-quarter", 38.0, 14.0)
    }

    /// From behind.
    pub fn back() -> View {
        View::new("back", 180.0, 8.0)
    }

    /// From above; the subject faces up the picture.
    pub fn top() -> View {
        View::new("top", 180.0, 90.0)
    }
}

/// World to pixels: x to the right, y down, z towards the eye, all three in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// World direction that points right in the picture.
    pub right: Vec3,
    /// World direction that points up in the picture.
    pub up: Vec3,
    /// World direction towards the eye.
    pub back: Vec3,
    /// Pixels per unit of the world.
    pub scale: f32,
    /// World point that falls on `centre`.
    pub target: Vec3,
    /// Pixel of the target.
    pub centre: Vec2,
}

impl Camera {
    /// One pixel per unit, looking at the origin. `forward` is the ground-plane direction that azimuth 0 faces.
    pub fn looking(view: &View, forward: Vec3) -> Camera {
        let forward = if view.turns_with_subject { forward } else { Vec3::Z };
        let (sin_a, cos_a) = libm::sincosf(view.azimuth.to_radians());
        let (sin_e, cos_e) = libm::sincosf(view.elevation.clamp(-90.0, 90.0).to_radians());
        let left = Vec3::Y.cross(forward);
        let out = forward * cos_a - left * sin_a;
        let back = out * cos_e + Vec3::Y * sin_e;
        let right = Vec3::Y.cross(out);
        Camera { right, up: back.cross(right), back, scale: 1.0, target: Vec3::ZERO, centre: Vec2::ZERO }
    }

    /// World point to pixels and depth.
    #[inline]
    pub fn project(&self, p: Vec3) -> Vec3 {
        self.turn(p - self.target) + self.centre.extend(0.0)
    }

    /// World vector to pixels and depth.
    #[inline]
    pub fn turn(&self, v: Vec3) -> Vec3 {
        Vec3::new(self.right.dot(v), -self.up.dot(v), self.back.dot(v)) * self.scale
    }

    /// The inverse of [`Camera::project`].
    #[inline]
    pub fn unproject(&self, p: Vec3) -> Vec3 {
        let v = (p - self.centre.extend(0.0)) / self.scale;
        self.target + self.right * v.x - self.up * v.y + self.back * v.z
    }

    /// The point of the floor seen at a pixel; `None` if the floor is seen edge-on or from below.
    pub fn on_floor(&self, pixel: Vec2, floor: f32) -> Option<Vec3> {
        if self.back.y < 0.02 {
            return None;
        }
        let near = self.unproject(pixel.extend(0.0));
        Some(near - self.back * ((near.y - floor) / self.back.y))
    }

    /// The unit axes of a turned box, in pixel space.
    pub(crate) fn axes(&self, turn: Quat) -> [Vec3; 3] {
        [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| self.turn(turn * axis) / self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn camera(view: &View) -> Camera {
        Camera {
            scale: 50.0,
            target: Vec3::new(1.0, 0.5, -2.0),
            centre: Vec2::new(80.0, 90.0),
            ..Camera::looking(view, Vec3::Z)
        }
    }

    #[test]
    fn axes_are_orthonormal_and_project_inverts() {
        for view in [View::front(), View::side(), View::three_quarter(), View::back(), View::top()] {
            let c = camera(&view);
            for (a, b) in [(c.right, c.up), (c.up, c.back), (c.back, c.right)] {
                assert!(a.dot(b).abs() < 1e-5 && (a.length() - 1.0).abs() < 1e-5, "{view:?}");
            }
            assert!(c.right.cross(c.up).distance(c.back) < 1e-5, "{view:?}");
            let p = Vec3::new(0.3, 1.7, -0.9);
            assert!(c.unproject(c.project(p)).distance(p) < 1e-4, "{view:?}");
        }
    }

    #[test]
    fn forward_points_to_the_viewer_right_or_up() {
        let way = |view: &View| Camera::looking(view, Vec3::Z).turn(Vec3::Z);
        assert!(way(&View::front()).z > 0.9);
        assert!(way(&View::side()).x > 0.9);
        assert!(way(&View::back()).z < -0.9);
        assert!(way(&View::top()).y < -0.9);
        // From the front, the subject's left hand is on the right of the picture.
        assert!(Camera::looking(&View::front(), Vec3::Z).turn(Vec3::X).x > 0.9);
    }

    #[test]
    fn on_floor_inverts_projection_of_floor_points() {
        let c = camera(&View::three_quarter());
        let p = Vec3::new(0.4, 0.25, 0.6);
        let pixel = c.project(p).truncate();
        assert!(c.on_floor(pixel, 0.25).unwrap().distance(p) < 1e-4);
        assert!(camera(&View::new("level", 0.0, 0.0)).on_floor(pixel, 0.0).is_none());
    }
}
