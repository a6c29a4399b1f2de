//! Characters of the user's own, and takes written on them as `.glb`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use kumite_bake::understand::{missing_roles, roles_with};
use kumite_formats::gltf::{self, GltfCharacter, GltfMarker, GltfProp};
use kumite_motion::anatomy::Anatomy;
use kumite_motion::hands::{Fingers, Hands};
use kumite_motion::retarget::{RetargetBody, retarget_in_scene};
use kumite_motion::volume::{self, Obstacle, Shape};
use kumite_motion::{Clip, FrameIdx, JointIdx, Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk};
use kumite_stage::{Flight, Take};

use crate::failure::{CliResult, Failure};
use crate::output::Outputs;
use crate::output_args::RigArgs;
use crate::role_flags::{self, RoleFlag};
use crate::{Progress, play, print_error, source};

/// Files that hold rigs.
const RIGS: [&str; 3] = ["glb", "gltf", "vrm"];
const RIGS_READ: &str = "a .glb, .gltf or .vrm file";

/// A user's character with the roles and joint frames found in it.
pub(crate) struct UserRig {
    path: PathBuf,
    pub(crate) rig: gltf::Rig,
    /// Its joints, with the pelvis allowed to translate.
    skeleton: Arc<Skeleton>,
    pub(crate) roles: Roles,
    pub(crate) anatomy: Anatomy,
    pub(crate) fingers: Fingers,
    pub(crate) warnings: Vec<String>,
}

impl UserRig {
    /// Reads the rig of somebody and finds its limbs, with what is known better about them.
    pub(crate) fn load(path: &Path, known: &[RoleFlag], who: Option<&str>) -> CliResult<UserRig> {
        let failed = |e: &dyn std::fmt::Display| Failure::bad(e.to_string()).in_file(path);
        if let Some(ending) = source::ending(path).filter(|e| !RIGS.contains(&e.as_str())) {
            let message = format!("a rig is {}, with a skeleton and its skin; this is a .{ending} file", RIGS_READ);
            return Err(Failure::bad(message)
                .key("--rig")
                .in_file(path)
                .found(format!(".{ending}"))
                .allowed(RIGS_READ));
        }
        let (file, mut warnings) = source::read_gltf(path)?;
        // Images in other files are embedded below, which warns if it fails.
        warnings.retain(|w| !w.text.contains("images are in other files"));
        let (mut rig, more) = gltf::Rig::new(file).map_err(|e| failed(&e))?;
        warnings.extend(more);
        warnings.extend(rig.embed_images(|name| source::beside(path, name)).map_err(|e| failed(&e))?);
        let unknown = || {
            let message = "this rig is not understood: no two legs and two arms were found in its joints; `--role left_hip=JOINT` and the like say \
                           which is which";
            Failure::bad(message).in_file(path)
        };
        let corrections = role_flags::of(known, who, rig.skeleton()).map_err(|e| e.in_file(path))?;
        let roles = roles_with(rig.skeleton(), &corrections).ok_or_else(unknown)?;
        let mut anatomy = Anatomy::of_rest(rig.skeleton(), &roles).ok_or_else(unknown)?;
        stand_on_soles(&rig, &roles, &mut anatomy);
        let mut joints = rig.skeleton().to_joints();
        if let Some(pelvis) = roles.get(Role::Pelvis) {
            joints[pelvis.at()].moves = true;
        }
        let skeleton = Skeleton::new(&joints).map_err(|e| Failure::bad(e.to_string()).in_file(path))?;
        let mut warnings: Vec<String> = warnings.iter().map(|w| format!("{}: {w}", path.display())).collect();
        if let Some(missing) = missing_roles(&roles) {
            warnings.push(format!("{}: {}", path.display(), no_joints(&missing)));
        }
        let fingers = Fingers::of(&skeleton, &roles);
        Ok(UserRig { path: path.to_owned(), rig, skeleton: Arc::new(skeleton), roles, anatomy, fingers, warnings })
    }

    /// What motions are retargeted to.
    pub(crate) fn body(&self) -> RetargetBody<'_> {
        RetargetBody { skeleton: &self.skeleton, roles: &self.roles, anatomy: &self.anatomy }
    }

    /// A motion of the canonical body on this one, with its hands, where it was in its scene.
    fn wear(&self, clip: &Clip, hands: &[Hands]) -> CliResult<Clip> {
        let (roles, anatomy) = (Roles::canonical(), Anatomy::of_canonical(clip.skeleton()));
        let from = RetargetBody { skeleton: clip.skeleton(), roles: &roles, anatomy: &anatomy };
        let worn =
            retarget_in_scene(clip, from, self.body()).map_err(|e| Failure::bad(e.to_string()).in_file(&self.path))?;
        Ok(self.fingers.shown(&worn, hands))
    }
}

/// What is said about roles without a joint.
pub(crate) fn no_joints(missing: &str) -> String {
    let first = missing.split(',').next().unwrap_or_default();
    let feet = if missing.contains("toe") { ", and feet are placed by their soles" } else { "" };
    format!("no joint was found for {missing}: it keeps its rest pose there{feet}; `--role {first}=JOINT` names one")
}

/// Ankles are higher than this above the sole and lower than that, in legs; a skin that says otherwise has no feet.
const ANKLE: std::ops::Range<f32> = 0.02..0.25;

/// Puts the soles where the skin of the feet ends at rest. Without a skin, feet without toes stand as the rig does over the origin.
fn stand_on_soles(rig: &gltf::Rig, roles: &Roles, anatomy: &mut Anatomy) {
    let skeleton = rig.skeleton();
    let mut world = WorldPose::default();
    fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
    let height = |role: Role| roles.get(role).map(|j| world.position(j).y);
    let mean = |a: Option<f32>, b: Option<f32>| Some(0.5 * (a? + b?));
    let Some(ankle) = mean(height(Role::LeftAnkle), height(Role::RightAnkle)) else { return };
    let toe = mean(height(Role::LeftToe), height(Role::RightToe));
    let ankles = [Role::LeftAnkle, Role::RightAnkle].map(|role| roles.get(role));
    let below = |j: &JointIdx| ankles.iter().flatten().any(|ankle| j == ankle || skeleton.is_under(*j, *ankle));
    let feet: Vec<JointIdx> = skeleton.joints().filter(below).collect();
    let plausible = |sole: &f32| ANKLE.contains(&((ankle - sole) / anatomy.leg)) && toe.is_none_or(|toe| toe >= *sole);
    let skin = rig.lowest_skin(&feet).filter(plausible);
    let Some(sole) = skin.or_else(|| Some(0.0).filter(plausible).filter(|_| toe.is_none())) else { return };
    match toe {
        Some(toe) => {
            // The sole was measured beside the toes: both move with it.
            let higher = toe - sole - anatomy.toe;
            (anatomy.toe, anatomy.ankle) = (anatomy.toe + higher, anatomy.ankle + higher);
        }
        None => anatomy.ankle = ankle - sole,
    }
}

/// Which character is written on which rig.
#[derive(Default)]
pub(crate) struct Rigs {
    /// A character's name, or `None` for all that are not named.
    rigs: Vec<(Option<String>, UserRig)>,
}

impl Rigs {
    /// Loads what `--rig` says: `FILE` for everybody, `NAME=FILE` for one of the characters.
    pub(crate) fn load(args: &RigArgs, names: &[&str], progress: &Progress) -> CliResult<Rigs> {
        let known = role_flags::parsed(&args.role, names)?;
        let mut rigs = Vec::with_capacity(args.rig.len());
        for flag in &args.rig {
            let (name, path) = match flag.split_once('=') {
                Some((name, path)) if names.contains(&name) => (Some(name.to_owned()), path),
                Some((name, path)) if !Path::new(flag).exists() => {
                    return Err(match names {
                        [] => {
                            let message =
                                format!("--rig is for {name:?}, but nobody has a name here: write --rig {path}");
                            Failure::bad(message).key("--rig").found(name).allowed("FILE.glb, FILE.gltf, FILE.vrm")
                        }
                        _ => {
                            let all = names.join(", ");
                            let message = format!("--rig is for {name:?}; the characters are {all}");
                            Failure::bad(message).key("--rig").found(name).allowed(all)
                        }
                    });
                }
                _ => (None, flag.as_str()),
            };
            let rig = UserRig::load(Path::new(path), &known, name.as_deref())?;
            if !progress.quiet {
                rig.warnings.iter().for_each(|warning| print_error(warning));
            }
            rigs.push((name, rig));
        }
        Ok(Rigs { rigs })
    }

    /// Says which outputs do not show the rigs: pictures and replays draw a figure of our own.
    pub(crate) fn say_who_is_drawn(&self, outputs: &[PathBuf], progress: &Progress) {
        let ours = |path: &&PathBuf| source::ending(path).is_some_and(|e| e != "glb" && e != "json");
        let ours: Vec<String> = outputs.iter().filter(ours).map(|path| path.display().to_string()).collect();
        if !(self.rigs.is_empty() || ours.is_empty() || progress.quiet) {
            let verb = if ours.len() == 1 { "shows" } else { "show" };
            let text = format!("{} {verb} kumite's own figure: a rig is drawn in .glb files only", ours.join(", "));
            print_error(&text);
        }
    }

    /// How a motion of somebody with a rig meets obstacles, judged on the rig's own bones; `None` where there is no rig.
    pub(crate) fn touches(&self, take: &Take, obstacles: &[Obstacle]) -> CliResult<Option<Touches>> {
        let Some(rig) = self.of(&take.clip.name) else { return Ok(None) };
        let worn = rig.wear(&take.clip, &take.hands)?;
        let spheres = volume::fit(worn.skeleton(), &rig.roles);
        let mut touches = Touches { frames: 0, deepest: 0.0 };
        let (mut pose, mut world, mut placed) = (Pose::default(), WorldPose::default(), Vec::new());
        for frame in 0..worn.frames() {
            worn.pose(FrameIdx(frame as u32), &mut pose);
            fk::pose(worn.skeleton(), &pose, &mut world);
            volume::place(&spheres, &world, &mut placed);
            let inside = |o: &Obstacle| placed.iter().map(|s| s.radius - o.distance(s.centre)).fold(0.0, f32::max);
            let depth = obstacles.iter().map(inside).fold(0.0, f32::max);
            touches.frames += usize::from(depth > 0.0);
            touches.deepest = touches.deepest.max(depth);
        }
        Ok(Some(touches))
    }

    /// The files that were read.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.rigs.iter().map(|(_, rig)| rig.path.as_path())
    }

    fn of(&self, name: &str) -> Option<&UserRig> {
        let own = self.rigs.iter().find(|(wanted, _)| wanted.as_deref() == Some(name));
        own.or_else(|| self.rigs.iter().find(|(wanted, _)| wanted.is_none())).map(|(_, rig)| rig)
    }
}

/// How a rig meets obstacles.
pub(crate) struct Touches {
    /// In which some part of it is inside one.
    pub(crate) frames: usize,
    /// How far, metres.
    pub(crate) deepest: f32,
}

/// A take as it is written into `.glb` files.
pub(crate) struct TakeFile<'a> {
    pub(crate) title: &'a str,
    /// One for each character, named after it, on the canonical body.
    pub(crate) takes: Vec<&'a Take>,
    pub(crate) props: Vec<GltfProp>,
    pub(crate) markers: Vec<GltfMarker>,
}

impl TakeFile<'_> {
    /// Writes the take. One character on a rig is written with everything around it; of several, each on a rig has a file of its own, named
    /// after it, and the rest share one.
    pub(crate) fn stage(&self, path: &Path, rigs: &Rigs, outputs: &mut Outputs) -> CliResult<()> {
        let (worn, bare): (Vec<&Take>, Vec<&Take>) =
            self.takes.iter().partition(|take| rigs.of(&take.clip.name).is_some());
        let on_rig = |take: &Take, rig: &UserRig, props: &[GltfProp]| {
            let worn = rig.wear(&take.clip, &take.hands)?;
            let markers: Vec<GltfMarker> = self.of(&take.clip.name).cloned().collect();
            let bytes = rig.rig.write_scene(&[&worn], props, &markers);
            bytes.map_err(|e| Failure::bad(e.to_string()).in_file(path))
        };
        if let ([take], true) = (&worn[..], bare.is_empty())
            && let Some(rig) = rigs.of(&take.clip.name)
        {
            return outputs.stage(path, &on_rig(take, rig, &self.props)?);
        }
        for take in worn {
            let Some(rig) = rigs.of(&take.clip.name) else { continue };
            outputs.stage(&beside(path, &take.clip.name), &on_rig(take, rig, &[])?)?;
        }
        outputs.stage(path, &self.with_bodies(&bare))
    }

    /// All of it in one file, with bodies of our own.
    pub(crate) fn to_glb(&self) -> Vec<u8> {
        self.with_bodies(&self.takes)
    }

    fn with_bodies(&self, takes: &[&Take]) -> Vec<u8> {
        let colour = |i: usize| GltfCharacter::COLOURS[i % GltfCharacter::COLOURS.len()];
        let characters: Vec<GltfCharacter<'_>> = takes
            .iter()
            .enumerate()
            .map(|(i, take)| GltfCharacter { name: &take.clip.name, clip: &take.clip, colour: colour(i) })
            .collect();
        gltf::write_scene(self.title, &characters, &self.props, &self.markers)
    }

    fn of<'b>(&'b self, name: &'b str) -> impl Iterator<Item = &'b GltfMarker> {
        self.markers.iter().filter(move |marker| marker.actor.as_deref().is_none_or(|actor| actor == name))
    }
}

/// The path of a character's own file: `take.glb` becomes `take-Ana.glb`.
fn beside(path: &Path, name: &str) -> PathBuf {
    let stem = path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let name: String = name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect();
    path.with_file_name(format!("{stem}-{name}.glb"))
}

/// Balls of leather and obstacles of wood, linear.
const BALL: [f32; 3] = [0.55, 0.16, 0.03];
const WOOD: [f32; 3] = [0.30, 0.24, 0.17];

/// Balls along their ways and obstacles, named by kind and number.
pub(crate) fn props<'a>(
    obstacles: impl IntoIterator<Item = &'a Obstacle>,
    balls: impl IntoIterator<Item = (f32, Vec<(f32, Vec3)>)>,
) -> Vec<GltfProp> {
    let standing = obstacles.into_iter().enumerate().map(|(k, obstacle)| GltfProp {
        name: format!("{} {}", kind(&obstacle.shape), k + 1),
        shape: obstacle.shape,
        at: obstacle.at,
        turn: obstacle.turn,
        path: Vec::new(),
        colour: WOOD,
    });
    let flying = balls.into_iter().enumerate().map(|(k, (radius, path))| GltfProp {
        name: format!("ball {}", k + 1),
        shape: Shape::Sphere { radius },
        at: Vec3::ZERO,
        turn: Quat::IDENTITY,
        path,
        colour: BALL,
    });
    standing.chain(flying).collect()
}

/// What was thrown: radius and way.
pub(crate) fn thrown(flights: &[Flight]) -> impl Iterator<Item = (f32, Vec<(f32, Vec3)>)> {
    flights.iter().map(|flight| (flight.ball.ball.radius, play::drawn(flight)))
}

fn kind(shape: &Shape) -> &'static str {
    match shape {
        Shape::Sphere { .. } => "sphere",
        Shape::Capsule { .. } => "capsule",
        Shape::Cylinder { .. } => "cylinder",
        Shape::Box { .. } => "box",
    }
}
