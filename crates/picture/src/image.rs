//! Finished pictures as pixels, and as PNG files.

/// Pixels: red, green, blue, alpha as displays take them, rows from the top.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 4]>,
}

impl Image {
    pub(crate) fn new(width: usize, height: usize, pixels: Vec<[u8; 4]>) -> Image {
        debug_assert_eq!(pixels.len(), width * height);
        Image { width, height, pixels }
    }

    /// Width in pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// Row by row from the top.
    pub fn pixels(&self) -> &[[u8; 4]] {
        &self.pixels
    }

    /// One pixel; `None` outside.
    pub fn get(&self, x: usize, y: usize) -> Option<[u8; 4]> {
        (x < self.width).then(|| self.pixels.get(y * self.width + x).copied()).flatten()
    }

    /// Encodes it as a PNG file.
    pub fn to_png(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Balanced);
        let rgb: Vec<u8> = self.pixels.iter().flat_map(|p| [p[0], p[1], p[2]]).collect();
        // Writing to memory fails only for a picture without pixels, which no layout makes.
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&rgb));
        debug_assert!(written.is_ok());
        bytes
    }
}
