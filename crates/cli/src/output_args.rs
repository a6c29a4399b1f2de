//! Flags that several commands share: on whom, for which program and as which pictures motions are written.

use clap::{Args, ValueEnum, ValueHint};

/// Whom takes are written on.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct RigArgs {
    /// Write .glb files on this character, with its skin and materials; NAME=FILE for one of several, which then has a file of its own
    #[arg(long, value_name = "[NAME=]FILE.glb", value_hint = ValueHint::FilePath)]
    pub(crate) rig: Vec<String>,

    /// A joint of the rig that was taken for another, or not found: head=Bone.012; left_toe= for none. NAME:ROLE=JOINT for one of several characters
    #[arg(long, value_name = "[NAME:]ROLE=JOINT", requires = "rig")]
    pub(crate) role: Vec<String>,

    /// Unit and axes that this program expects of .bvh files; .glb is metres with +Y up for all of them
    #[arg(long = "for", value_name = "PROGRAM", value_enum)]
    pub(crate) program: Option<crate::exported::ProgramArg>,
}

/// Options of pictures.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Pictures")]
pub(crate) struct PictureArgs {
    /// Number of poses in a strip
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) poses: usize,

    /// Space poses evenly in time instead of by how much moves
    #[arg(long)]
    pub(crate) even: bool,

    /// Views, separated by commas; each gets a row
    #[arg(long, value_name = "VIEW", value_delimiter = ',', default_value = "auto")]
    pub(crate) view: Vec<ViewArg>,

    /// Width in pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1600)]
    pub(crate) width: usize,

    /// Light or dark background
    #[arg(long, value_name = "THEME", default_value = "light")]
    pub(crate) theme: ThemeArg,

    /// Leave out heading and timeline
    #[arg(long)]
    pub(crate) bare: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ViewArg {
    /// Three-quarter; of a ball that is dodged, whichever shows it best
    Auto,
    ThreeQuarter,
    Front,
    Side,
    Top,
    /// From +Z, whichever way the subject faces
    World,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum ThemeArg {
    Light,
    Dark,
}
