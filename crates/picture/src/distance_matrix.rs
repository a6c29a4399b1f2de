//! Distances between all frames of a library as one picture. Does not compute them.

use crate::{Image, Rgb, Theme};

/// A square of distances, dark where two frames are alike.
#[derive(Clone, Debug)]
pub struct DistanceMatrix {
    /// Pixels along a side.
    pub size: usize,
    /// Row by row, metres; infinite where there is no distance.
    pub distances: Vec<f32>,
    /// Where one clip ends and the next begins, pixels.
    pub borders: Vec<usize>,
    /// Transitions: row of the frame left, column of the frame entered.
    pub transitions: Vec<(usize, usize)>,
    /// Scale of the shading, metres: four times this distance is as light as paper.
    pub limit: f32,
    /// Colours.
    pub theme: Theme,
}

impl DistanceMatrix {
    /// Draws the matrix with its transitions as dots.
    pub fn render(&self) -> Image {
        let theme = self.theme;
        let mut pixels = Vec::with_capacity(self.size * self.size);
        for row in 0..self.size {
            for column in 0..self.size {
                let distance = self.distances.get(row * self.size + column).copied().unwrap_or(f32::INFINITY);
                let light = (distance / (4.0 * self.limit.max(1e-6))).clamp(0.0, 1.0);
                let mut colour = theme.ink.mix(theme.paper, light);
                if self.borders.binary_search(&row).is_ok() || self.borders.binary_search(&column).is_ok() {
                    colour = colour.mix(theme.grid, 0.6);
                }
                pixels.push([colour.0, colour.1, colour.2, 255]);
            }
        }
        let dot = Rgb(206, 72, 66);
        for &(row, column) in &self.transitions {
            for (r, c) in [(row, column), (row + 1, column), (row, column + 1), (row + 1, column + 1)] {
                if r < self.size && c < self.size {
                    pixels[r * self.size + c] = [dot.0, dot.1, dot.2, 255];
                }
            }
        }
        Image::new(self.size, self.size, pixels)
    }
}
