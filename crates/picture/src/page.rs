//! What is on a picture, before it becomes pixels or SVG: panels of solids, and marks on top.

use kumite_motion::{Vec2, Vec3};

use crate::camera::Camera;
use crate::shape::Shape;
use crate::theme::{Rgb, Theme};

/// A whole picture.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Page {
    pub width: usize,
    pub height: usize,
    pub theme: Theme,
    pub panels: Vec<Panel>,
    pub marks: Vec<Mark>,
}

/// A window into a world.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    /// Left, top, width, height in pixels.
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
    /// Pixels count from the panel's corner.
    pub camera: Camera,
    /// Height of the ground.
    pub floor: Option<f32>,
    /// Distance of grid lines; 0 for none.
    pub grid: f32,
    /// How far the bodies' closeness darkens things, world units: a twentieth of a body.
    pub near: f32,
    /// Neighbours of one `run` melt into each other.
    pub solids: Vec<Solid>,
    pub prints: Vec<Print>,
    pub trails: Vec<Trail>,
    /// Fraction of the panel's half-width at which the floor begins to fade into the paper.
    pub fade_from: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solid {
    pub shape: Shape,
    pub colour: Rgb,
    pub run: u32,
    /// How far it melts into neighbours of its run, as a fraction of its smaller radius.
    pub melt: f32,
}

/// A mark on the floor: something is planted here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Print {
    pub at: Vec3,
    pub radius: f32,
    pub colour: Rgb,
}

/// The way of a point through the last frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trail {
    /// World, oldest first.
    pub points: Vec<Vec3>,
    pub colour: Rgb,
    /// Every how many points there is a dot, counted from the newest.
    pub dot_every: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// Flat drawing, in pixels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Mark {
    Text {
        at: Vec2,
        size: f32,
        bold: bool,
        anchor: Anchor,
        colour: Rgb,
        text: String,
    },
    Line {
        from: Vec2,
        to: Vec2,
        width: f32,
        colour: Rgb,
        alpha: f32,
    },
    Rect {
        min: Vec2,
        max: Vec2,
        corner: f32,
        colour: Rgb,
        alpha: f32,
    },
    /// A convex ring, counter-clockwise where y points up.
    Area {
        points: Vec<Vec2>,
        colour: Rgb,
        alpha: f32,
    },
    Disc {
        at: Vec2,
        radius: f32,
        colour: Rgb,
        alpha: f32,
    },
}
