//! Films as MP4: pictures as H.264 by OpenH264, and the file around them (ISO/IEC 14496-12 and 14496-15).

use openh264::encoder::{
    Encoder, EncoderConfig, FrameRate, IntraFramePeriod, RateControlMode, SpsPpsStrategy, VuiConfig,
};
use openh264::formats::YUVSlices;
use openh264::{OpenH264API, Timestamp};

use crate::image::Image;

/// Why a film could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VideoError(String);

impl std::fmt::Display for VideoError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the film cannot be encoded: {}", self.0)
    }
}

impl std::error::Error for VideoError {}

impl From<openh264::Error> for VideoError {
    fn from(error: openh264::Error) -> VideoError {
        VideoError(error.to_string())
    }
}

/// Units of time in a second: whole for every rate that GIFs have, too.
const TIMESCALE: u32 = 12_000;
/// Players can go to any frame by decoding from the last whole one, which is at most so many frames before.
const WHOLE_EVERY: u32 = 100;

/// A film that pictures are added to.
pub(crate) struct Film {
    encoder: Encoder,
    /// Even: colour is kept for every second pixel.
    width: usize,
    height: usize,
    /// Of each frame, in units of [`TIMESCALE`].
    duration: u32,
    /// What a decoder must know before the first frame.
    sequence: Vec<u8>,
    picture: Vec<u8>,
    /// Sizes of the frames, and which can be decoded without others.
    sizes: Vec<u32>,
    whole: Vec<u32>,
    data: Vec<u8>,
    planes: [Vec<u8>; 3],
}

impl Film {
    /// An empty film of pictures of this size, `seconds` each.
    pub(crate) fn new(width: usize, height: usize, seconds: f32) -> Result<Film, VideoError> {
        let (width, height) = (width & !1, height & !1);
        let config = EncoderConfig::new()
            .max_frame_rate(FrameRate::from_hz(1.0 / seconds))
            // Every frame as fine as the others, whatever it takes: a quantiser of 26.
            .rate_control_mode(RateControlMode::Off)
            .skip_frames(false)
            .scene_change_detect(false)
            // It takes small leftovers of what has moved away for background and keeps them.
            .background_detection(false)
            .sps_pps_strategy(SpsPpsStrategy::ConstantId)
            .intra_frame_period(IntraFramePeriod::from_num_frames(WHOLE_EVERY))
            // Several threads cut pictures into slices, as many as there are cores: other bytes on other machines.
            .num_threads(1)
            .vui(VuiConfig::bt709());
        let encoder = Encoder::with_api_config(OpenH264API::from_source(), config)?;
        let half = width * height / 4;
        Ok(Film {
            encoder,
            width,
            height,
            duration: (seconds * TIMESCALE as f32).round().max(1.0) as u32,
            sequence: Vec::new(),
            picture: Vec::new(),
            sizes: Vec::new(),
            whole: Vec::new(),
            data: Vec::new(),
            planes: [vec![0; width * height], vec![0; half], vec![0; half]],
        })
    }

    /// Adds a frame.
    pub(crate) fn add(&mut self, image: &Image) -> Result<(), VideoError> {
        to_planes(image, (self.width, self.height), &mut self.planes);
        let [y, u, v] = &self.planes;
        let half = self.width / 2;
        let source = YUVSlices::new((y, u, v), (self.width, self.height), (self.width, half, half));
        let number = self.sizes.len() as u64;
        let time = Timestamp::from_millis(number * u64::from(self.duration) * 1000 / u64::from(TIMESCALE));
        let stream = self.encoder.encode_at(&source, time)?;
        let before = self.data.len();
        let mut whole = false;
        for layer in (0..stream.num_layers()).filter_map(|i| stream.layer(i)) {
            for unit in (0..layer.nal_count()).filter_map(|i| layer.nal_unit(i)) {
                // Units begin with two or three zeros and a one.
                let start = unit.iter().position(|byte| *byte != 0).map_or(0, |one| one + 1);
                let unit = &unit[start..];
                match unit.first().map(|kind| kind & 31) {
                    Some(7) => self.sequence = unit.to_vec(),
                    Some(8) => self.picture = unit.to_vec(),
                    None => {}
                    Some(kind) => {
                        whole |= kind == 5;
                        self.data.extend((unit.len() as u32).to_be_bytes());
                        self.data.extend(unit);
                    }
                }
            }
        }
        if self.data.len() == before {
            return Err(VideoError(format!("frame {number} was left out")));
        }
        self.sizes.push((self.data.len() - before) as u32);
        if whole {
            self.whole.push(self.sizes.len() as u32);
        }
        Ok(())
    }

    /// The file.
    pub(crate) fn finish(self) -> Result<Vec<u8>, VideoError> {
        if self.sizes.is_empty() || self.sequence.len() < 4 {
            return Err(VideoError("it has no frames".to_owned()));
        }
        let kind = atom(b"ftyp", &[b"isom", &number(0x200), b"isomiso2avc1mp41"]);
        // The table of contents says where the data begin, which depends on its own length.
        let length = self.contents(0).len();
        let mut file = kind;
        let data_at = (file.len() + length + 8) as u32;
        file.extend(self.contents(data_at));
        file.extend(atom(b"mdat", &[&self.data]));
        Ok(file)
    }

    /// The table of contents (`moov`), with frames in one piece from `data_at` on.
    fn contents(&self, data_at: u32) -> Vec<u8> {
        let count = self.sizes.len() as u32;
        let length = number(count * self.duration);
        let (width, height) = (self.width as u32, self.height as u32);
        let matrix: Vec<u8> =
            [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000].into_iter().flat_map(number).collect();
        let head = atom(
            b"mvhd",
            &[
                &[0; 12],
                &number(TIMESCALE),
                &length,
                &number(0x1_0000),
                &[1, 0],
                &[0; 10],
                &matrix,
                &[0; 24],
                &number(2),
            ],
        );
        let track = atom(
            b"tkhd",
            &[
                &number(3),
                &[0; 8],
                &number(1),
                &[0; 4],
                &length,
                &[0; 16],
                &matrix,
                &number(width << 16),
                &number(height << 16),
            ],
        );
        // "und": no language.
        let media = atom(b"mdhd", &[&[0; 12], &number(TIMESCALE), &length, &[0x55, 0xc4, 0, 0]]);
        let handler = atom(b"hdlr", &[&[0; 8], b"vide", &[0; 12], b"kumite\0"]);
        let place = atom(b"dinf", &[&atom(b"dref", &[&[0; 4], &number(1), &atom(b"url ", &[&number(1)])])]);
        let table = atom(
            b"stbl",
            &[
                &atom(b"stsd", &[&[0; 4], &number(1), &self.description()]),
                &atom(b"stts", &[&[0; 4], &number(1), &number(count), &number(self.duration)]),
                &atom(b"stss", &[&[0; 4], &number(self.whole.len() as u32), &numbers(&self.whole)]),
                &atom(b"stsc", &[&[0; 4], &number(1), &number(1), &number(count), &number(1)]),
                &atom(b"stsz", &[&[0; 8], &number(count), &numbers(&self.sizes)]),
                &atom(b"stco", &[&[0; 4], &number(1), &number(data_at)]),
            ],
        );
        let information = atom(b"minf", &[&atom(b"vmhd", &[&number(1), &[0; 8]]), &place, &table]);
        let media = atom(b"mdia", &[&media, &handler, &information]);
        atom(b"moov", &[&head, &atom(b"trak", &[&track, &media])])
    }

    /// How the frames are coded.
    fn description(&self) -> Vec<u8> {
        let short = |v: usize| (v as u16).to_be_bytes();
        let profile = &self.sequence[1..4];
        let config = atom(
            b"avcC",
            &[
                &[1],
                profile,
                // Units have lengths of four bytes; one set of each kind.
                &[0xff, 0xe1],
                &short(self.sequence.len()),
                &self.sequence,
                &[1],
                &short(self.picture.len()),
                &self.picture,
            ],
        );
        let colours = atom(b"colr", &[b"nclx", &[0, 1, 0, 1, 0, 1, 0]]);
        let resolution = number(72 << 16);
        atom(
            b"avc1",
            &[
                &[0, 0, 0, 0, 0, 0, 0, 1],
                &[0; 16],
                &short(self.width),
                &short(self.height),
                &resolution,
                &resolution,
                &[0, 0, 0, 0, 0, 1],
                &[0; 32],
                &[0, 24, 0xff, 0xff],
                &config,
                &colours,
            ],
        )
    }
}

/// Brightness of every pixel and colour of every four, in the studio range of BT.709.
fn to_planes(image: &Image, (width, height): (usize, usize), [luma, blue, red]: &mut [Vec<u8>; 3]) {
    let row = |y: usize| &image.pixels()[y * image.width()..y * image.width() + width];
    let parts = |p: [u8; 4]| [i32::from(p[0]), i32::from(p[1]), i32::from(p[2])];
    for y in 0..height {
        for (out, pixel) in luma[y * width..(y + 1) * width].iter_mut().zip(row(y)) {
            let [r, g, b] = parts(*pixel);
            *out = (16 + ((47 * r + 157 * g + 16 * b + 128) >> 8)) as u8;
        }
    }
    for y in 0..height / 2 {
        let (above, below) = (row(2 * y), row(2 * y + 1));
        for x in 0..width / 2 {
            let four = [above[2 * x], above[2 * x + 1], below[2 * x], below[2 * x + 1]].map(parts);
            let [r, g, b] = [0, 1, 2].map(|k| four.iter().map(|p| p[k]).sum::<i32>());
            let at = y * (width / 2) + x;
            blue[at] = (128 + ((-26 * r - 86 * g + 112 * b + 512) >> 10)) as u8;
            red[at] = (128 + ((112 * r - 102 * g - 10 * b + 512) >> 10)) as u8;
        }
    }
}

/// A box: its length, its kind, and what is in it.
fn atom(kind: &[u8; 4], parts: &[&[u8]]) -> Vec<u8> {
    let length = 8 + parts.iter().map(|part| part.len()).sum::<usize>();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend((length as u32).to_be_bytes());
    bytes.extend(kind);
    parts.iter().for_each(|part| bytes.extend(*part));
    bytes
}

fn number(value: u32) -> [u8; 4] {
    value.to_be_bytes()
}

fn numbers(values: &[u32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_be_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use openh264::decoder::Decoder;
    use openh264::formats::YUVSource;

    use super::*;

    fn picture(k: usize) -> Image {
        let colour = |i: usize| {
            let (x, y) = (i % 65, i / 65);
            if x.abs_diff(2 * k + 8) < 8 && y.abs_diff(24) < 12 { [210, 60, 40, 255] } else { [240, 240, 235, 255] }
        };
        Image::new(65, 49, (0..65 * 49).map(colour).collect())
    }

    fn film() -> Vec<u8> {
        let mut film = Film::new(65, 49, 0.02).unwrap();
        (0..20).for_each(|k| film.add(&picture(k)).unwrap());
        film.finish().unwrap()
    }

    /// What is in the box that this path leads to, counted from its first child on.
    fn inside<'a>(mut bytes: &'a [u8], path: &[&str]) -> &'a [u8] {
        for kind in path {
            let mut at = 0;
            bytes = loop {
                let length = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
                if &bytes[at + 4..at + 8] == kind.as_bytes() {
                    break &bytes[at + 8..at + length];
                }
                at += length;
            };
        }
        bytes
    }

    #[test]
    fn a_film_holds_its_pictures() {
        let file = film();
        assert_eq!(file, film(), "the same pictures give the same bytes");
        let table = inside(&file, &["moov", "trak", "mdia", "minf", "stbl"]);
        let word = |bytes: &[u8], k: usize| u32::from_be_bytes(bytes[4 * k..4 * k + 4].try_into().unwrap()) as usize;
        let sizes = inside(table, &["stsz"]);
        assert_eq!((word(sizes, 2), word(inside(table, &["stts"]), 3)), (20, 240));
        let mut at = word(inside(table, &["stco"]), 2);
        assert_eq!(&file[at - 4..at], b"mdat");
        // The sets that a decoder needs first are behind the sizes of the description.
        let config = inside(&inside(table, &["stsd"])[8..], &["avc1"]);
        let config = inside(&config[78..], &["avcC"]);
        let set = |at: usize| &config[at + 2..at + 2 + usize::from(u16::from_be_bytes([config[at], config[at + 1]]))];
        let (sequence, picture_set) = (set(6), set(6 + 2 + set(6).len() + 1));
        let mut decoder = Decoder::new().unwrap();
        let unit = |unit: &[u8]| [&[0, 0, 0, 1], unit].concat();
        let mut stream = [unit(sequence), unit(picture_set)].concat();
        for k in 0..20 {
            let end = at + word(sizes, 3 + k);
            while at < end {
                let length = u32::from_be_bytes(file[at..at + 4].try_into().unwrap()) as usize;
                stream.extend(unit(&file[at + 4..at + 4 + length]));
                at += 4 + length;
            }
            let shown = decoder.decode(&stream).unwrap().unwrap();
            assert_eq!(shown.dimensions(), (64, 48));
            let mut planes = [vec![0; 64 * 48], vec![0; 64 * 12], vec![0; 64 * 12]];
            to_planes(&picture(k), (64, 48), &mut planes);
            let rows = (0..48).flat_map(|y| &shown.y()[y * shown.strides().0..y * shown.strides().0 + 64]);
            let off = rows.zip(&planes[0]).map(|(a, b)| f32::from(a.abs_diff(*b))).sum::<f32>() / (64.0 * 48.0);
            assert!(off < 3.0, "frame {k} is off by {off}");
            stream.clear();
        }
        assert_eq!(at, file.len());
    }

    #[test]
    fn a_film_without_pictures_is_refused() {
        assert!(Film::new(64, 48, 0.02).unwrap().finish().is_err());
    }
}
