//! Film strips, movies and replays of motions, as PNG, SVG, GIF and HTML.
//!
//! Figures are tapered capsules on the joints ([`Body`]), warm on the right and cool on the left, on a floor with a
//! grid, with one scale for a whole strip so that sizes compare. A [`Strip`] shows moments of one motion, or of
//! several [`Figure`]s with [`Prop`]s, side by side or along its path; a [`Sheet`] holds many
//! strips; a [`Movie`] plays one.
//!
//! Does not read or write files, ask for the time, or use a graphics card. The same inputs give the same bytes.
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

mod answer_table;
mod body;
mod camera;
mod coverage;
mod distance_matrix;
mod figure;
mod graph_circle;
mod ground_plan;
mod image;
mod movie;
mod page;
mod paint;
mod passing;
mod render;
mod replay;
mod shape;
mod sheet;
mod strip;
mod strip_page;
mod svg;
mod theme;
mod timeline;
#[cfg(feature = "mp4")]
mod video;

pub use answer_table::{Answer, AnswerTable};
pub use body::{Body, Cone, Group, Part, facing};
pub use camera::{Camera, View};
pub use coverage::{BodyPoint, Coverage};
pub use distance_matrix::DistanceMatrix;
pub use figure::{Figure, Prop};
pub use graph_circle::GraphCircle;
pub use ground_plan::GroundPlan;
pub use image::Image;
pub use movie::Movie;
pub use passing::Passing;
pub use replay::{Marker, Replay};
pub use shape::Shape;
pub use sheet::Sheet;
pub use strip::{Floor, Layout, Strip, Times, Trails, Window};
pub use theme::{Colours, Rgb, Theme};
#[cfg(feature = "mp4")]
pub use video::VideoError;
