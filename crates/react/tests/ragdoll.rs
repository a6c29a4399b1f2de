//! A simulated body: what a ball does to it, and what physics asks of it.

use std::sync::Arc;

use kumite_motion::{Pose, Quat, Role, Roles, Skeleton, Vec3, WorldPose, fk, humanoid, volume};
use kumite_react::ragdoll::parts::{PARTS, part_of};
use kumite_react::ragdoll::{Build, Physics, Pull, Ragdoll};

const TICK: f32 = 1.0 / 120.0;

fn standing() -> (Arc<Skeleton>, Arc<Build>, Pose, WorldPose) {
    let skeleton = Arc::new(humanoid::skeleton());
    let build = Arc::new(Build::of(&skeleton, &volume::fit(&skeleton, &Roles::canonical())).unwrap());
    let mut pose = Pose::rest(&skeleton);
    // Arms down, elbows a little bent.
    let turn = |axis: Vec3, angle: f32| kumite_motion::rotation::about(axis, angle);
    pose.rotations[Role::LeftShoulder.joint().at()] = turn(Vec3::Z, -1.3);
    pose.rotations[Role::RightShoulder.joint().at()] = turn(Vec3::Z, 1.3);
    pose.rotations[Role::LeftElbow.joint().at()] = turn(Vec3::NEG_Y, 0.4);
    pose.rotations[Role::RightElbow.joint().at()] = turn(Vec3::Y, 0.4);
    let mut world = WorldPose::default();
    fk::pose(&skeleton, &pose, &mut world);
    (skeleton, build, pose, world)
}

fn full() -> Pull {
    Pull { strength: [1.0; PARTS], damping: 1.0, weight: 0.0, fast: false, drag: 0.0, chase: true }
}

#[test]
fn left_alone_it_stands() {
    let (_, build, pose, world) = standing();
    let mut ragdoll = Ragdoll::new(&build, &world, &world, TICK, &[]);
    ragdoll.pin([true; 2]);
    let (mut physics, mut shown, mut now) = (Physics::default(), pose.clone(), WorldPose::default());
    for _ in 0..240 {
        ragdoll.step(&mut physics, &world, &full(), TICK);
    }
    ragdoll.show(&world, &mut shown, &mut now);
    let off = |role: Role| (now.position(role.joint()) - world.position(role.joint())).length();
    println!("head {} pelvis {} gap {}", off(Role::Head), off(Role::Pelvis), ragdoll.gap());
    assert!(off(Role::Head) < 0.002 && off(Role::LeftWrist) < 0.002);
    assert!(ragdoll.gap() < 0.001);
}

#[test]
fn energy_of_a_limp_body_does_not_grow() {
    let (_, build, _, world) = standing();
    let mut raised = world.clone();
    raised.positions.iter_mut().for_each(|p| p.y += 3.0);
    let mut ragdoll = Ragdoll::new(&build, &raised, &raised, TICK, &[]);
    ragdoll.push(part_of(Role::Head), Vec3::new(3.0, 1.0, -14.0), raised.position(Role::Head.joint()));
    let (mut physics, pull) = (
        Physics::default(),
        Pull { strength: [0.0; PARTS], damping: 0.0, weight: 1.0, fast: false, drag: 0.0, chase: true },
    );
    let first = ragdoll.energy();
    let (mut most, mut gap) = (first, 0.0f32);
    for tick in 0..70 {
        ragdoll.step(&mut physics, &raised, &pull, TICK);
        most = most.max(ragdoll.energy());
        gap = gap.max(ragdoll.gap());
        if tick % 10 == 0 {
            println!("{tick} {} {}", ragdoll.energy(), ragdoll.gap());
        }
    }
    println!("energy {first} most {most} gap {gap}");
}

#[test]
fn hits() {
    for (role, asked) in [(Role::Head, 8.0), (Role::LeftElbow, 6.0), (Role::Back, 3.0), (Role::Pelvis, 1.5)] {
        let (_, build, pose, world) = standing();
        let mut ragdoll = Ragdoll::new(&build, &world, &world, TICK, &[]);
        ragdoll.pin([true; 2]);
        let (mut physics, mut shown, mut now) = (Physics::default(), pose.clone(), WorldPose::default());
        let part = part_of(role);
        let body = build.parts()[part];
        let at = world.point(kumite_react::ragdoll::parts::ROLES[part].joint(), body.centre) + Vec3::Z * 0.05;
        let eff = 0.45 * body.mass / (0.45 + body.mass);
        ragdoll.push(part, Vec3::NEG_Z * (1.4 * eff * 25.0), at);
        let mut most = 0.0f32;
        let (mut gap, mut late) = (0.0f32, 0.0);
        for tick in 0..42 {
            let t = tick as f32 * TICK;
            let e = kumite_motion::blend::ease((t - 0.08) / 0.25);
            let mut pull = full();
            for (k, s) in pull.strength.iter_mut().enumerate() {
                let near = k == part || kumite_react::ragdoll::parts::PARENTS[k] == part;
                let base = if near { 0.1 } else { 0.7 };
                *s = base + (1.0 - base) * e;
            }
            pull.strength[0] = 0.1 + 0.9 * e;
            pull.fast = tick < 12;
            ragdoll.step(&mut physics, &world, &pull, TICK);
            ragdoll.show(&world, &mut shown, &mut now);
            let p = |w: &WorldPose| w.point(kumite_react::ragdoll::parts::ROLES[part].joint(), body.centre);
            let d = (p(&now) - p(&world)).length();
            if tick < 18 {
                most = most.max(d);
            }
            gap = gap.max(ragdoll.gap());
            late = d;
        }
        println!(
            "{} {:.1} cm (asked {asked}), later {:.1}, gap {:.2} cm",
            role.name(),
            most * 100.0,
            late * 100.0,
            gap * 100.0
        );
    }
}
#[test]
fn falls() {
    let (_, build, pose, world) = standing();
    let mut ragdoll = Ragdoll::new(&build, &world, &world, TICK, &[]);
    let (mut physics, mut shown, mut now) = (Physics::default(), pose.clone(), WorldPose::default());
    ragdoll.push(2, Vec3::NEG_Z * 100.0, world.position(Role::Back.joint()));
    let mut gap = 0.0f32;
    let mut sunk = 0.0f32;
    let start = std::time::Instant::now();
    let mut pull = full();
    pull.strength = [0.1; PARTS];
    pull.strength[0] = 0.0;
    pull.weight = 1.0;
    for tick in 0..480 {
        ragdoll.step(&mut physics, &world, &pull, TICK);
        gap = gap.max(ragdoll.gap());
        sunk = sunk.max(ragdoll.sunk());
        if tick % 40 == 0 {
            println!(
                "{tick}: pelvis {:?} fastest {} gap {} sunk {}",
                ragdoll.place(0).0,
                ragdoll.fastest(),
                ragdoll.gap(),
                ragdoll.sunk()
            );
        }
    }
    println!("us per step {}", start.elapsed().as_micros() as f32 / 480.0);
    let start = std::time::Instant::now();
    let mut n = 0;
    for _ in 0..1000 {
        n += ragdoll.clone().pinned()[0] as u32;
    }
    println!("us per clone {} {n}", start.elapsed().as_micros() as f32 / 1000.0);
    ragdoll.show(&world, &mut shown, &mut now);
    let _ = Quat::IDENTITY;
    println!("gap {gap} sunk {sunk}");
}
