//! Flags of `kumite spar`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::args::{PictureArgs, RigArgs};

/// Let two fighters plan against each other, once or many times
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite spar -o fight.html
  kumite spar --a style=infighter,depth=4 --b style=outboxer,depth=2 -o fight.png -o fight.glb
  kumite spar --bouts 20 --a depth=4 --b depth=2 --json
  kumite spar --why why.html --seconds 10
  kumite spar --table -o table.svg
  kumite spar --strips folder --exchanges 30 --seconds 20
  kumite spar --rig Ana=ana.glb --rig Bo=bo.glb -o fight.glb")]
pub(crate) struct SparArgs {
    /// The first: style=..., depth=..., name=..., delay=..., chance=..., nodes=..., clairvoyant, plies, zero-sum, printed
    #[arg(long, value_name = "FIGHTER", default_value = "")]
    pub(crate) a: String,

    /// The second
    #[arg(long, value_name = "FIGHTER", default_value = "")]
    pub(crate) b: String,

    /// How long a bout is at most
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, allow_negative_numbers = true)]
    pub(crate) seconds: f32,

    /// Fight so many bouts and count
    #[arg(long, value_name = "N")]
    pub(crate) bouts: Option<u32>,

    /// Fight so many rounds, each with what the last one left; every round has files of its own
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) rounds: u32,

    /// Begin anywhere within so many metres, facing anywhere; face to face if left out
    #[arg(long, value_name = "METRES")]
    pub(crate) within: Option<f32>,

    /// Where chance begins
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,

    /// Show which defences answer which blows, and when they have to begin
    #[arg(long)]
    pub(crate) table: bool,

    /// Write why everything was done, as one page
    #[arg(long, value_name = "FILE.html", value_hint = ValueHint::FilePath)]
    pub(crate) why: Option<PathBuf>,

    /// Write strips of exchanges chosen by the seed into this folder, without names, and print what they are
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    pub(crate) strips: Option<PathBuf>,

    /// How many exchanges, each of a bout of its own
    #[arg(long, value_name = "N", default_value_t = 30)]
    pub(crate) exchanges: u32,

    #[command(flatten)]
    pub(crate) rig: RigArgs,

    /// Files to write: .glb, .html, .png, .gif, .mp4, .json; with --table .svg, .json, .txt
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,

    /// A library: `embedded`, a .kumite bundle or a manifest
    #[arg(long, default_value = "embedded")]
    pub(crate) library: String,

    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}
