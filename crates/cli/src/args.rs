//! The command line: subcommands, flags and their help texts. Checks syntax only; each command checks its own values.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};

pub(crate) use crate::output_args::{PictureArgs, RigArgs, ThemeArg, ViewArg};

/// Characters that react, from motion capture.
#[derive(Debug, Parser)]
#[command(name = "kumite", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = "Examples:
  kumite demo                          see what it can do, in ./demo
  kumite inspect jab.bvh               what a file holds, and what the importer makes of it
  kumite convert jab.bvh jab.png       a film strip
  kumite convert walk.bvh walk.gif     a moving picture, as .mp4 too
  kumite convert walk.bvh walk.html    a replay to open in a browser

Exit codes: 0 success, 1 failure of the machine (disk, permissions), 2 wrong use or bad input.")]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// Print exactly one JSON object on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,

    /// Show no progress
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(DemoArgs),
    Inspect(InspectArgs),
    Convert(ConvertArgs),
    Label(LabelArgs),
    Bake(BakeArgs),
    Graph(GraphArgs),
    Play(PlayArgs),
    Dodge(DodgeArgs),
    Brace(BraceArgs),
    Walk(WalkArgs),
    Spar(crate::spar_args::SparArgs),
    Tables(TablesArgs),
    Completions(CompletionsArgs),
    Manual(ManualArgs),
}

/// Play the stock motions and write pictures and files of each, with a page to look at them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite demo
  kumite demo -o /tmp/kumite-demo --json")]
pub(crate) struct DemoArgs {
    /// Folder to write to; created if missing
    #[arg(short, long, value_name = "DIR", default_value = "demo", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
}

/// Show what a motion file holds, what the importer concluded, and what it is unsure of
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite inspect jab.bvh
  kumite inspect captures/*.bvh --json
  kumite inspect hero.glb --role head=Bone.012
  kumite inspect embedded              the motions that come with kumite")]
pub(crate) struct InspectArgs {
    /// Motion files, or `embedded`
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// A joint that was taken for another, or not found: head=Bone.012; left_toe= for none
    #[arg(long, value_name = "ROLE=JOINT")]
    pub(crate) role: Vec<String>,
}

/// Convert a motion to another format or to pictures; the ending of OUT decides which
#[derive(Debug, Args)]
#[command(override_usage = "kumite convert [OPTIONS] <IN>... <OUT>")]
#[command(after_help = "Examples:
  kumite convert jab.bvh jab.png                     a film strip of eight poses
  kumite convert jab.bvh jab.svg --poses 5 --view front,side
  kumite convert jab.bvh jab.html                    a replay to open in a browser, one file
  kumite convert jab.bvh jab.glb --rig hero.glb      on your own character
  kumite convert jab.bvh jab.glb --canonical         on a mannequin
  kumite convert walk.bvh walk-60.bvh --fps 60
  kumite convert hook-left.bvh hook-right.bvh --mirror
  kumite convert embedded:duck duck.gif
  kumite convert my-kick.toml my-kick.png --watch    drawn again whenever the keys are saved
  kumite convert a.bvh b.bvh c.bvh sheet.png         a contact sheet of many clips")]
pub(crate) struct ConvertArgs {
    /// IN: motion files, or one motion of a library: `embedded:NAME`, `mine.kumite:NAME`; several for a contact sheet (.png), a .glb or an
    /// .html. OUT: the file to write, last
    // One list, because flags may stand between the two.
    #[arg(required = true, num_args = 1.., value_name = "IN|OUT", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Resample to this many frames per second
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) fps: Option<f32>,

    /// The true frame rate of the source, if its header is wrong
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    pub(crate) source_fps: Option<f32>,

    /// Put the motion on this character, with its skin and materials; OUT must be .glb
    #[arg(long, value_name = "FILE.glb", value_hint = ValueHint::FilePath, conflicts_with = "canonical")]
    pub(crate) rig: Option<PathBuf>,

    /// A joint of the rig that was taken for another, or not found: head=Bone.012; left_toe= for none
    #[arg(long, value_name = "ROLE=JOINT", requires = "rig")]
    pub(crate) role: Vec<String>,

    /// Put the motion on the 21-joint body that comes with kumite
    #[arg(long)]
    pub(crate) canonical: bool,

    /// Swap left and right
    #[arg(long)]
    pub(crate) mirror: bool,

    /// Move the body as soles could push it: planted feet stay, pelvis and trunk give way
    #[arg(long)]
    pub(crate) settle: bool,

    /// Start at the origin, facing +Z
    #[arg(long)]
    pub(crate) home: bool,

    /// Keep only this part, in seconds
    #[arg(long, value_name = "FROM,TO", value_parser = crate::exported::pair, allow_hyphen_values = true)]
    pub(crate) trim: Option<(f32, f32)>,

    /// Keep it on the spot: the root goes up and down only
    #[arg(long)]
    pub(crate) in_place: bool,

    /// Lead the end into the beginning; without --in-place it goes on from where it got to
    #[arg(long = "loop")]
    pub(crate) looped: bool,
    /// Unit and axes that this program expects of .bvh files; .glb is metres with +Y up for all of them
    #[arg(long = "for", value_name = "PROGRAM", value_enum)]
    pub(crate) program: Option<crate::exported::ProgramArg>,

    /// Convert again whenever a source changes, until interrupted: for keying motions
    #[arg(long)]
    pub(crate) watch: bool,

    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// Propose labels for every clip of a folder or a manifest, as a manifest to edit
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite label clips --strips pictures -o mine.toml  a folder is enough
  kumite label library.toml                          what was found, as TOML
  kumite label library.toml -o labelled.toml         written to a file
  kumite label new.toml --like labelled.toml         labels of similar actions in another manifest
  kumite label library.toml --strips pictures        film strips with the labels below
  kumite label library.toml --json                   actions, strikes and rests as data

Labels already in the manifest are kept; --again replaces them.")]
pub(crate) struct LabelArgs {
    /// A folder of motions, or a manifest that lists them
    #[arg(value_name = "FOLDER|LIBRARY.toml", value_hint = ValueHint::AnyPath)]
    pub(crate) manifest: PathBuf,

    /// Folder that file names are relative to; the manifest's own if left out
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// File to write; standard output if left out
    #[arg(short, long, value_name = "FILE.toml", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// A labelled manifest; similar actions get its labels
    #[arg(long, value_name = "LABELLED.toml", value_hint = ValueHint::FilePath)]
    pub(crate) like: Option<PathBuf>,

    /// Replace labels that the manifest already has
    #[arg(long)]
    pub(crate) again: bool,

    /// Draw a film strip of every clip, with its labels below, into this folder; created if missing
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) strips: Option<PathBuf>,
}

/// Build a library from a manifest: interpret the clips, retarget them to one body, connect them in a graph
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite bake clips -o fighter.kumite --manifest fighter.toml      a folder is enough
  kumite bake fighter.toml --data clips -o fighter.kumite          after a look at its labels
  kumite bake libraries/mine.toml --data ~/captures -o mine.kumite --json")]
pub(crate) struct BakeArgs {
    /// A folder of motions, a manifest that lists them, or `embedded`
    #[arg(value_name = "FOLDER|LIBRARY.toml", value_hint = ValueHint::AnyPath)]
    pub(crate) manifest: PathBuf,

    /// File to write
    #[arg(short, long, value_name = "FILE.kumite", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// Folder that file names are relative to; the manifest's own if left out
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// Leave motions without labels that the manifest does not label, instead of finding out what happens in them
    #[arg(long)]
    pub(crate) unlabelled: bool,

    /// Also write what was decided, rates and labels, as a manifest to edit and bake again
    #[arg(long = "manifest", value_name = "OUT.toml", value_hint = ValueHint::FilePath)]
    pub(crate) write_manifest: Option<PathBuf>,

    /// How `embedded` motions are carried: tired fighters are slower, with a low guard; southpaws lead with the right
    #[arg(long, value_name = "MANNER", default_value = "fresh", value_parser = ["fresh", "tired", "southpaw"])]
    pub(crate) manner: String,
}

/// Show what a library's graph holds, what baking lost, and how soon each kind of action is reached
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite graph
  kumite graph --library library.toml
  kumite graph --library fighter.kumite --json
  kumite graph --svg graph.svg --matrix distances.png
  kumite graph --coverage coverage.svg       what it can do, as a picture")]
pub(crate) struct GraphArgs {
    /// `embedded`, a bundle, or a manifest
    #[arg(long, value_name = "LIBRARY", default_value = crate::source::BUILT_IN)]
    pub(crate) library: String,
    /// Draw the graph: clips around a circle, transitions across it
    #[arg(long, value_name = "OUT.svg", value_hint = ValueHint::FilePath)]
    pub(crate) svg: Option<PathBuf>,
    /// Draw the distances between all frames, dark where two are alike, with the transitions
    #[arg(long, value_name = "OUT.png", value_hint = ValueHint::FilePath)]
    pub(crate) matrix: Option<PathBuf>,

    /// Folder that a manifest's file names are relative to; its own if left out
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// Draw what the library can do: reach, what can be dodged, how soon actions can begin
    #[arg(long, value_name = "OUT.svg", value_hint = ValueHint::FilePath)]
    pub(crate) coverage: Option<PathBuf>,
}

/// Play a scene: characters wander, walk to goals and dodge what is thrown at them
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite play scene.toml --why
  kumite play scene.toml -o take.html -o take.glb
  kumite play scene.toml -o take.png --json

A scene:
  library = \"embedded\"
  seconds = 10
  seed = 7
  [[character]]
  name = \"Ana\"
  at = [0, 0]")]
pub(crate) struct PlayArgs {
    /// A file, or the name of a scene that comes with kumite
    #[arg(value_name = "SCENE", value_hint = ValueHint::FilePath)]
    pub(crate) scene: PathBuf,

    /// File to write, format by ending: .glb .bvh .html .png .gif .mp4 .json; may be given several times. Without one the outcome is only printed
    #[arg(short, long, value_name = "TAKE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,

    /// Say what was decided and why
    #[arg(long)]
    pub(crate) why: bool,

    /// The same, only around this second of the scene
    #[arg(long, value_name = "SECONDS")]
    pub(crate) why_at: Option<f32>,

    /// Seed, instead of the scene's
    #[arg(long)]
    pub(crate) seed: Option<u64>,

    #[command(flatten)]
    pub(crate) rig: RigArgs,

    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// Throw a ball at a character, which avoids or blocks it with the least movement; or throw many, and count
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite dodge -o dodge.html
  kumite dodge --target chest --from 3,1.4,2 --speed 20 --lead 0.7 -o dodge.png --why
  kumite dodge --begin jab@0.4 -o dodge.html
  kumite dodge --trials 1000 --seed 1 --json
  kumite dodge --trials 1000 --seed 1 --trial 17 -o 17.png

The character stands at the origin and faces +Z. A ball that cannot be avoided is an
outcome, not an error: the exit code is 0.")]
pub(crate) struct DodgeArgs {
    /// `embedded`, a bundle, or a manifest
    #[arg(long, value_name = "LIBRARY", default_value = crate::source::BUILT_IN)]
    pub(crate) library: String,

    /// Where the ball is thrown from: x,y,z in metres; it flies from there as long as it takes. With --lead it only says from which side the ball
    /// comes [default: 0,1.6,6]
    #[arg(long, value_name = "X,Y,Z", value_parser = triple, allow_hyphen_values = true)]
    pub(crate) from: Option<[f32; 3]>,

    /// Folder that a manifest's file names are relative to; its own if left out
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// The body part it is thrown at: head, chest, hips, arms, legs
    #[arg(long, value_name = "PART", default_value = "head")]
    pub(crate) target: String,

    /// Speed of the ball, metres per second
    #[arg(long, value_name = "M/S", default_value_t = 15.0, allow_negative_numbers = true)]
    pub(crate) speed: f32,

    /// Radius of the ball, metres
    #[arg(long, value_name = "M", default_value_t = 0.11, allow_negative_numbers = true)]
    pub(crate) radius: f32,

    /// Seconds from the throw to the hit: the ball begins as far away as it flies in these [default: 0.8, without --from]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) lead: Option<f32>,

    /// Let gravity act on the ball
    #[arg(long)]
    pub(crate) falls: bool,

    /// The clip that is playing when the ball is thrown, and how many seconds after its first frame; a guard if left out
    #[arg(long, value_name = "CLIP[@SECONDS]")]
    pub(crate) begin: Option<String>,

    /// See the ball as people do: known 0.15 s after it comes within 110 degrees of the gaze. Else it is known as soon as it is thrown, from all round
    #[arg(long)]
    pub(crate) perceive: bool,

    /// Throw this many random balls at random moments; a referee judges each, and the outcomes are counted
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<u32>,

    /// Play only this one of the random balls, counted from 0, and write it
    #[arg(long, value_name = "K", requires = "trials")]
    pub(crate) trial: Option<u32>,

    /// Seed of the random numbers
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// List the candidates by rank, with the terms of their cost
    #[arg(long)]
    pub(crate) why: bool,

    /// File to write, format by ending: .glb .bvh .html .png .gif .mp4 .json; may be given several times
    #[arg(short, long, value_name = "TAKE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) rig: RigArgs,

    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// Brace for a threat that can be neither dodged nor blocked: the protective pose and the way into it; or many times, and count
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite brace -o brace.png --why
  kumite brace --from 3,1.5,1 --target chest --speed 20 --radius 0.2 --mass 3 -o brace.html
  kumite brace --motion walk --at 1.2 -o brace.gif
  kumite brace --why --timing timing.svg
  kumite brace --trials 1000 --seed 1 --json
  kumite brace --figures docs/pictures        the figures of the thesis, with our character

The character stands at the origin and faces +Z.")]
pub(crate) struct BraceArgs {
    /// `embedded`, a bundle, or a manifest
    #[arg(long, value_name = "LIBRARY", default_value = crate::source::BUILT_IN)]
    pub(crate) library: String,

    /// Folder that a manifest's file names are relative to; its own if left out
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// Where the threat comes from: x,y,z in metres
    #[arg(long, value_name = "X,Y,Z", value_parser = triple, default_value = "0,1.6,6", allow_hyphen_values = true)]
    pub(crate) from: [f32; 3],

    /// What it is aimed at: head, chest, belly, hips, legs
    #[arg(long, value_name = "PART", default_value = "head")]
    pub(crate) target: String,

    /// Speed of the threat, metres per second
    #[arg(long, value_name = "M/S", default_value_t = 18.0, allow_negative_numbers = true)]
    pub(crate) speed: f32,

    /// Radius of the threat, metres
    #[arg(long, value_name = "M", default_value_t = 0.11, allow_negative_numbers = true)]
    pub(crate) radius: f32,

    /// Mass of the threat, kilograms
    #[arg(long, value_name = "KG", default_value_t = 0.43, allow_negative_numbers = true)]
    pub(crate) mass: f32,

    /// Seconds from knowing of it to contact; by its speed and side, as in the thesis, if left out
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) lead: Option<f32>,

    /// The clip that is playing; a guard if left out
    #[arg(long, value_name = "CLIP")]
    pub(crate) motion: Option<String>,

    /// When in it the threat becomes known, seconds
    #[arg(long, value_name = "SECONDS", requires = "motion", allow_negative_numbers = true)]
    pub(crate) at: Option<f32>,

    /// Flinch first, if there is time
    #[arg(long)]
    pub(crate) startle: bool,

    /// How long physics alone acts after the hit, milliseconds; 50 to 100 in the thesis, 0 for no physics
    #[arg(long, value_name = "MS", default_value_t = 80.0, allow_negative_numbers = true)]
    pub(crate) response_ms: f32,

    /// Where it goes back to: what was played, the nearest motion of the library, or by how hard the hit was
    #[arg(long, value_enum, value_name = "WHERE", default_value_t = ReturnTo::Auto)]
    pub(crate) r#return: ReturnTo,

    /// Let it hit somebody who is not braced
    #[arg(long)]
    pub(crate) unbraced: bool,

    /// Age of who braces, years
    #[arg(long, value_name = "YEARS", default_value_t = 30.0)]
    pub(crate) age: f32,

    /// Fitness, 0 to 1: how fast joints are
    #[arg(long, value_name = "0..1", default_value_t = 0.5)]
    pub(crate) fitness: f32,

    /// Boldness, 0 to 1: how little it cowers
    #[arg(long, value_name = "0..1", default_value_t = 0.5)]
    pub(crate) boldness: f32,

    /// Minimise the printed objective (eq. 3.3) instead of weighted squares
    #[arg(long)]
    pub(crate) printed: bool,

    /// Speeds from slow to fast as in the thesis, 22.8 to 29.7 m/s, instead of 3 to 30
    #[arg(long)]
    pub(crate) thesis_speeds: bool,

    /// Brace for this many random threats at random moments; a referee judges each, and the outcomes are counted
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<u32>,

    /// Play only this one of the random threats, counted from 0, and write it
    #[arg(long, value_name = "K", requires = "trials")]
    pub(crate) trial: Option<u32>,

    /// Of the random hits that `--trials` counts as `impacts`, the one with the number of `--trial`
    #[arg(long, value_enum, value_name = "KIND", requires = "trial")]
    pub(crate) hits: Option<HitKind>,

    /// Seed of the random numbers
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// Show what each rule turns, what the balance cost, and when what happens
    #[arg(long)]
    pub(crate) why: bool,

    /// Draw when what happens, like Fig. 4.1 of the thesis
    #[arg(long, value_name = "OUT.svg", value_hint = ValueHint::FilePath)]
    pub(crate) timing: Option<PathBuf>,

    /// Draw the figures of the thesis with our character into this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) figures: Option<PathBuf>,

    /// File to write, format by ending: .glb .bvh .html .png .gif .mp4 .json; may be given several times
    #[arg(short, long, value_name = "TAKE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) rig: RigArgs,

    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

/// What hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HitKind {
    /// 10 to 30 m/s
    Volleyball,
    /// Changes the body's speed by 0.25 to 0.9 m/s
    Shove,
    /// 10 kg at 10 m/s
    Cannonball,
}

impl From<HitKind> for kumite_stage::impact_trial::Kind {
    fn from(kind: HitKind) -> kumite_stage::impact_trial::Kind {
        use kumite_stage::impact_trial::Kind;
        match kind {
            HitKind::Volleyball => Kind::Volleyball,
            HitKind::Shove => Kind::Shove,
            HitKind::Cannonball => Kind::Cannonball,
        }
    }
}

/// Where somebody who was hit goes back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReturnTo {
    /// What was played
    Original,
    /// The motion of the library that is nearest by pose and speed
    Search,
    /// By how hard the hit was
    Auto,
}

impl From<ReturnTo> for kumite_stage::Return {
    fn from(to: ReturnTo) -> kumite_stage::Return {
        match to {
            ReturnTo::Original => kumite_stage::Return::Original,
            ReturnTo::Search => kumite_stage::Return::Search,
            ReturnTo::Auto => kumite_stage::Return::Auto,
        }
    }
}

/// Walk to a goal through obstacles; or many times, to compare methods
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite walk --scene two-corner -o walk.html -o walk.svg
  kumite walk --scene clutter --seed 3 --why -o walk.png
  kumite walk --scene mine.toml --method ems,pff,beam,astar,walk --json
  kumite walk --scene clutter --trials 200 --json

Scenes: two-corner, grid, clutter (a random grid), blocked (clutter without a way through), narrow-gap, low-bar, log, door, spiral,
cul-de-sac, or a file with [[obstacle]]s and a character with a goal. A .svg shows the walk from above, a .png as a film strip. A
goal that cannot be reached is an outcome, not an error: the exit code is 0, and the report says how near the character gets.")]
pub(crate) struct WalkArgs {
    /// `embedded`, a bundle, or a manifest
    #[arg(long, value_name = "LIBRARY", default_value = crate::source::BUILT_IN)]
    pub(crate) library: String,

    /// Folder that a manifest's file names are relative to; its own if left out
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// A scene by name, or a file
    #[arg(long, value_name = "SCENE", default_value = "two-corner")]
    pub(crate) scene: String,

    /// Search methods, separated by commas: walk, ems, pff, beam, astar
    #[arg(long, value_name = "METHOD", default_value = "walk", value_delimiter = ',')]
    pub(crate) method: Vec<String>,

    /// Walk this many times, each with another seed, and count the outcomes
    #[arg(long, value_name = "N", conflicts_with = "output")]
    pub(crate) trials: Option<u32>,

    /// Seed of the random numbers
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// Random starts of each search; each is improved to a local optimum
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) starts: u32,

    /// Only join motions, without nudging them along the way, as in the paper
    #[arg(long)]
    pub(crate) unbent: bool,

    /// Show the terms of the path's cost
    #[arg(long)]
    pub(crate) why: bool,

    /// File to write, format by ending: .glb .bvh .html .png .svg .gif .mp4 .json; may be given several times
    #[arg(short, long, value_name = "TAKE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Vec<PathBuf>,

    #[command(flatten)]
    pub(crate) rig: RigArgs,

    #[command(flatten)]
    pub(crate) picture: PictureArgs,
}

fn triple(text: &str) -> Result<[f32; 3], String> {
    let numbers: Vec<f32> = text
        .split(',')
        .map(|t| t.trim().parse().map_err(|_| format!("{t:?} is not a number")))
        .collect::<Result<_, String>>()?;
    <[f32; 3]>::try_from(numbers).map_err(|_| "expected three numbers separated by commas".to_owned())
}

/// Repeat a paper's experiments and show our figures beside theirs
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  kumite tables avoidance
  kumite tables avoidance --trials 500 --markdown
  kumite tables avoidance --html > avoidance.html
  kumite tables anticipation --markdown
  kumite tables choices --library libraries/accad-male2.toml --data ~/captures
  kumite tables environment --library libraries/paper-environment.toml --data ~/captures")]
pub(crate) struct TablesArgs {
    /// Which: anticipation (bracing), avoidance (dodging), choices (telling actions apart), competition (fights) or environment (walking through clutter)
    #[arg(value_name = "PAPER", default_value = "avoidance")]
    pub(crate) paper: String,

    /// `embedded`, a bundle, or a manifest
    #[arg(long, value_name = "LIBRARY", default_value = crate::source::BUILT_IN)]
    pub(crate) library: String,

    /// Folder that a manifest's file names are relative to; its own if left out
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,

    /// Number of attacks to time, or of bouts of each pair [default: 400; competition: 4]
    #[arg(long, value_name = "N")]
    pub(crate) trials: Option<u32>,

    /// Seed of the random numbers
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,

    /// Print a Markdown table
    #[arg(long)]
    pub(crate) markdown: bool,

    /// Print an HTML page
    #[arg(long)]
    pub(crate) html: bool,
}

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:
  kumite completions bash > ~/.local/share/bash-completion/completions/kumite")]
pub(crate) struct CompletionsArgs {
    /// Which shell
    pub(crate) shell: clap_complete::Shell,
}

/// Write the manual pages
#[derive(Debug, Args)]
#[command(after_help = "Example:
  kumite manual -o ~/.local/share/man/man1")]
pub(crate) struct ManualArgs {
    /// Folder to write to; created if missing
    #[arg(short, long, value_name = "DIR", default_value = "man", value_hint = ValueHint::DirPath)]
    pub(crate) output: PathBuf,
}
