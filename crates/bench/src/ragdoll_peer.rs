//! The same body falls on the floor here and in MuJoCo, in the same run: same parts, masses, inertias, springs and steps of time.

use std::sync::Arc;

use kumite_motion::{Pose, Role, Vec3, WorldPose, fk};
use kumite_react::ragdoll::parts::{PARENTS, PARTS, ROLES};
use kumite_react::ragdoll::{Build, Physics, Pull, Ragdoll};
use serde_json::{Value, json};

use crate::{best, figure, peer};

const TICK: f32 = 1.0 / 120.0;
/// Ticks of the fall: it lies after about half of them.
const STEPS: usize = 300;
/// How high above the floor it begins, metres.
const HIGH: f32 = 0.5;
/// How fast it is thrown, metres per second, so that it does not come down on its feet.
const SPEED: Vec3 = Vec3::new(0.3, 0.0, -2.5);
/// What its joints hold with, of all they have.
const HOLDS: f32 = 0.3;

/// Measures both. A peer that cannot be had is left out.
pub(crate) fn measure(build: &Arc<Build>) {
    let mut world = WorldPose::default();
    fk::pose(build.skeleton(), &Pose::rest(build.skeleton()), &mut world);
    world.positions.iter_mut().for_each(|p| p.y += HIGH);
    let pull = Pull {
        strength: std::array::from_fn(|k| if k == 0 { 0.0 } else { HOLDS }),
        damping: [HOLDS; PARTS],
        weight: 1.0,
        chase: true,
        stops: true,
        drag: 0.0,
        fast: false,
    };
    let mut before = world.clone();
    before.positions.iter_mut().for_each(|p| *p -= SPEED * TICK);
    let (mut gap, mut height) = (0.0f32, 0.0);
    let mut fall = |look: bool| {
        let (mut ragdoll, mut physics) = (Ragdoll::new(build, &world, &before, TICK, &[]), Physics::default());
        for _ in 0..STEPS {
            ragdoll.step(&mut physics, &world, &pull, TICK);
            if look {
                gap = gap.max(ragdoll.gap());
            }
        }
        height = ragdoll.place(0).0.y;
    };
    let seconds = best(20, || fall(false));
    fall(true);
    let own = seconds * 1e6 / STEPS as f64;
    figure("dropped body, a step", own, "us");
    figure("dropped body, widest gap", 100.0 * f64::from(gap), "cm");
    figure("dropped body, its pelvis lies", f64::from(height), "m");
    match mujoco(build, &world) {
        Ok((us, height)) => {
            figure("dropped body in MuJoCo, a step", us, "us");
            figure("dropped body in MuJoCo, its pelvis lies", height, "m");
            figure("dropped body, kumite over MuJoCo", own / us, "times");
        }
        Err(why) => eprintln!("MuJoCo is not measured: {why}"),
    }
}

/// Microseconds of a step in MuJoCo, and where the pelvis comes to lie.
fn mujoco(build: &Build, world: &WorldPose) -> Result<(f64, f64), String> {
    let at = |role: Role| world.position(role.joint());
    let parts: Vec<Value> = (0..PARTS)
        .map(|k| {
            let part = &build.parts()[k];
            let offset = if k == 0 { at(ROLES[0]) } else { at(ROLES[k]) - at(ROLES[PARENTS[k]]) };
            json!({
                "parent": PARENTS[k],
                "offset": offset.to_array(),
                "mass": part.mass,
                "centre": part.centre.to_array(),
                "inertia": part.inertia.to_array(),
                "bone": (part.along * Vec3::Y).to_array(),
                "ends": part.ends.map(|end| end.to_array()),
                "radius": part.radius,
                "hold": [part.hold.0 * HOLDS, part.hold.1 * HOLDS],
            })
        })
        .collect();
    let folder = peer::folder("mujoco");
    std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
    let file = folder.join("body.json");
    let scene = json!({"seconds": TICK, "steps": STEPS, "speed": SPEED.to_array(), "parts": parts});
    std::fs::write(&file, scene.to_string()).map_err(|e| e.to_string())?;
    let out = peer::python("mujoco", "ragdoll.py", &[&file.to_string_lossy()])?;
    let number = |name: &str| out[name].as_f64().ok_or_else(|| "the peer's answer cannot be read".to_owned());
    Ok((number("us")?, number("height")?))
}
