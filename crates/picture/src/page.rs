//! The contents of a picture before it becomes pixels or SVG: panels of solids, and flat marks on top.

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
    pub quality: Quality,
}

/// How finely outlines are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Quality {
    /// Sixteen samples in a pixel that an outline crosses.
    #[default]
    Still,
    /// Four: what moves is not looked at that closely.
    Moving,
}

/// A rectangle of the page that shows a world through a camera.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Panel {
    /// Left edge on the page, pixels.
    pub x: usize,
    /// Top edge on the page, pixels.
    pub y: usize,
    pub width: usize,
    pub height: usize,
    /// Its pixels are counted from the panel's upper left corner.
    pub camera: Camera,
    /// Height of the floor, if there is one.
    pub floor: Option<f32>,
    /// Distance between grid lines, world units; 0 for none.
    pub grid: f32,
    /// Up to this distance a body darkens surfaces beside it, world units; about a twentieth of a body's height.
    pub near: f32,
    /// Consecutive solids with the same `run` number blend into one surface.
    pub solids: Vec<Solid>,
    pub footprints: Vec<Footprint>,
    pub trails: Vec<Trail>,
    /// Fraction of the panel's half-width at which the floor begins to fade into the paper.
    pub fade_from: f32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solid {
    pub shape: Shape,
    pub colour: Rgb,
    pub run: u32,
    /// Width over which it blends into solids of its run, as a fraction of its smaller radius.
    pub melt: f32,
}

/// A mark on the floor where a foot is planted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Footprint {
    pub at: Vec3,
    pub radius: f32,
    pub colour: Rgb,
}

/// The path of a point through the last frames.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Trail {
    /// World positions, oldest first.
    pub points: Vec<Vec3>,
    pub colour: Rgb,
    /// A dot is drawn at every so many points, counted from the newest.
    pub dot_every: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// A flat mark on the page, in pixels.
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
    /// A convex polygon, counter-clockwise where y points up.
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
