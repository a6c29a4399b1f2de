//! Film strips and replays of any motion, as PNG, SVG and GIF: everything that draws without a browser.
//!
//! Figures are tapered capsules on the joints ([`Body`]), warm on the right and cool on the left, on a floor with a
//! grid, with one scale for a whole strip so that sizes compare. A [`Strip`] shows moments of one motion, or of
//! several [`Figure`]s with [`Prop`]s, side by side or along its path; a [`Sheet`] many strips; a [`Movie`] plays one.
//!
//! Does not: read or write files, know the clock, use a graphics card. Same inputs give the same bytes.
//!
//! ```
//! use std::sync::Arc;
//! use kumite_motion::{Clip, Pose, humanoid};
//! use kumite_picture::{Figure, Strip, Times};
//!
//! let skeleton = Arc::new(humanoid::skeleton());
//! let rest = Pose::rest(&skeleton);
//! let clip = Clip::new("rest", skeleton, 30.0, &[rest]).unwrap();
//! let strip = Strip { times: Times::Even(1), width: 200, ..Strip::of(Figure::new(&clip)) };
//! assert!(strip.render().to_png().starts_with(b"\x89PNG"));
//! ```

mod body;
mod camera;
mod coverage;
mod ground_plan;
mod image;
mod matrix;
mod movie;
mod network;
mod page;
mod paint;
mod render;
mod replay;
mod scene;
mod shape;
mod sheet;
mod strip;
mod svg;
mod theme;
mod timeline;

pub use body::{Body, Cone, Group, Part, facing};
pub use camera::{Camera, View};
pub use coverage::{Coverage, Place};
pub use ground_plan::GroundPlan;
pub use image::Image;
pub use matrix::Matrix;
pub use movie::Movie;
pub use network::Network;
pub use replay::{Marker, Replay};
pub use scene::{Figure, Prop};
pub use shape::Shape;
pub use sheet::Sheet;
pub use strip::{Floor, Layout, Strip, Times, Trails, Window};
pub use theme::{Colours, Rgb, Theme};
