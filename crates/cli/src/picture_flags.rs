//! Pictures with the options given on the command line.

use kumite_motion::{Clip, Roles};
use kumite_picture::{Colours, Figure, Movie, Sheet, Strip, Theme, Times, View};

use crate::args::{PictureArgs, ThemeArg, ViewArg};
use crate::failure::{CliResult, Failure};

impl PictureArgs {
    /// Refuses sizes that cannot be drawn.
    pub(crate) fn check(&self) -> CliResult<()> {
        if !(1..=60).contains(&self.poses) {
            let message = format!("--poses is {}; 1 to 60 fit a strip", self.poses);
            return Err(Failure::bad(message).key("--poses").found(self.poses.to_string()).allowed("1 to 60"));
        }
        if !(200..=8000).contains(&self.width) {
            let message = format!("--width is {}; 200 to 8000 pixels are drawn", self.width);
            return Err(Failure::bad(message).key("--width").found(self.width.to_string()).allowed("200 to 8000"));
        }
        Ok(())
    }

    pub(crate) fn views(&self) -> Vec<View> {
        let view = |v: &ViewArg| match v {
            ViewArg::Auto | ViewArg::ThreeQuarter => View::three_quarter(),
            ViewArg::Front => View::front(),
            ViewArg::Side => View::side(),
            ViewArg::Top => View::top(),
            ViewArg::World => View { label: "from +Z".into(), turns_with_subject: false, ..View::front() },
        };
        self.view.iter().map(view).collect()
    }

    pub(crate) fn theme(&self) -> Theme {
        match self.theme {
            ThemeArg::Light => Theme::LIGHT,
            ThemeArg::Dark => Theme::DARK,
        }
    }

    pub(crate) fn strip<'a>(&self, clip: &'a Clip, roles: Option<Roles>) -> Strip<'a> {
        Strip {
            times: if self.even { Times::Even(self.poses) } else { Times::ByMotion(self.poses) },
            views: self.views(),
            theme: self.theme(),
            width: self.width,
            title: self.bare.then(String::new),
            timeline: !self.bare,
            ..Strip::of(figure(clip, roles))
        }
    }
}

pub(crate) fn figure(clip: &Clip, roles: Option<Roles>) -> Figure<'_> {
    match roles {
        Some(roles) => Figure::with_roles(clip, roles),
        None => Figure::new(clip),
    }
}

/// Colours of the character with this index.
pub(crate) fn colours(index: usize) -> Colours {
    Colours::nth(index)
}

pub(crate) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// A contact sheet with a strip for each clip, as PNG.
pub(crate) fn sheet(picture: &PictureArgs, clips: &[(Clip, Option<Roles>)]) -> Vec<u8> {
    let sheet = Sheet {
        strips: clips.iter().map(|(clip, roles)| Strip { timeline: false, ..picture.strip(clip, *roles) }).collect(),
        rows: clips.len().div_ceil(2),
        width: picture.width,
        theme: picture.theme(),
        ..Sheet::default()
    };
    sheet.render(0).to_png()
}

/// Longest motion in a GIF, seconds: all its frames are in memory at once.
pub(crate) const LONGEST_GIF: f32 = 20.0;

/// Longest film, seconds: an hour is drawn for an hour.
const LONGEST_FILM: f32 = 600.0;

/// A film of the first seconds of a strip, `.gif` or `.mp4`. GIFs are at most 480 pixels wide to keep the file small, films 800.
pub(crate) fn film(strip: Strip<'_>, ending: &str, seconds: f32, speed: f32) -> CliResult<Vec<u8>> {
    let asked = strip.width;
    let sized = |width: usize| {
        let width = asked.min(width);
        Strip { width, row_height: width * 7 / 8, ..strip }
    };
    let movie = |longest: f32| Movie { range: Some((0.0, seconds.min(longest))), speed, ..Movie::default() };
    match ending {
        #[cfg(feature = "mp4")]
        "mp4" => {
            let most_frames = (LONGEST_FILM * 50.0 / speed.clamp(0.1, 1.0)) as usize;
            let movie = Movie { most_frames, ..movie(LONGEST_FILM) };
            sized(800).to_mp4(&movie).map_err(|e| Failure::bad(e.to_string()))
        }
        _ => Ok(sized(480).to_gif(&movie(LONGEST_GIF))),
    }
}
