//! A keyed punch as film strip, vector strip and movie: `cargo run --release -p kumite-picture --example strip -- DIR`.

use std::path::PathBuf;
use std::sync::Arc;

use kumite_motion::{Clip, Contacts, Pose, Role, Span, SpanKind, Vec3, humanoid, rotation};
use kumite_picture::{Figure, Movie, Prop, Strip, View};

/// Joint, axis, degrees in guard, degrees at the end of the punch.
const KEYS: [(Role, Vec3, f32, f32); 14] = [
    (Role::LeftShoulder, Vec3::Z, -75.0, -10.0),
    (Role::LeftElbow, Vec3::NEG_Y, 120.0, 4.0),
    (Role::LeftClavicle, Vec3::NEG_Y, 20.0, 62.0),
    (Role::RightShoulder, Vec3::Z, 70.0, 72.0),
    (Role::RightElbow, Vec3::Y, 125.0, 128.0),
    (Role::RightClavicle, Vec3::Y, 25.0, 20.0),
    (Role::Pelvis, Vec3::Y, -30.0, -48.0),
    (Role::Back, Vec3::Y, 10.0, -12.0),
    (Role::Head, Vec3::Y, 22.0, 50.0),
    (Role::LeftHip, Vec3::X, -28.0, -34.0),
    (Role::LeftKnee, Vec3::X, 30.0, 40.0),
    (Role::RightHip, Vec3::X, 14.0, 22.0),
    (Role::RightKnee, Vec3::X, 24.0, 14.0),
    (Role::RightAnkle, Vec3::X, -20.0, 6.0),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = PathBuf::from(std::env::args().nth(1).ok_or("give a folder to write to")?);
    let skeleton = Arc::new(humanoid::skeleton());
    let rest = Pose::rest(&skeleton);
    let mut clip = Clip::from_fn("keyed punch", skeleton, 30.0, 46, |frame, pose| {
        pose.clone_from(&rest);
        let t = frame as f32 / 30.0;
        // Out in a fifth of a second, back in half a second.
        let out = if t < 0.6 { ((t - 0.4) / 0.2).clamp(0.0, 1.0) } else { (1.0 - (t - 0.7) / 0.5).clamp(0.0, 1.0) };
        let out = out * out * (3.0 - 2.0 * out);
        pose.set_root(rest.root() + Vec3::new(0.0, -0.04 - 0.01 * out, 0.06 * out));
        for (role, axis, guard, end) in KEYS {
            let angle = (guard + (end - guard) * out).to_radians();
            pose.rotations[role.joint().at()] = rotation::about(axis, angle);
        }
    })?;
    clip.contacts = vec![Contacts::ALL; clip.frames()];
    let mut span = Span::new(SpanKind::Attack, "punch", 0.4, 1.2);
    span.active = Some((0.53, 0.7));
    clip.spans = vec![span];

    let ball = Prop::flying(0.11, vec![(0.2, Vec3::new(0.4, 2.2, 2.4)), (0.9, Vec3::new(0.2, 1.2, 0.4))]);
    let views = vec![View::three_quarter(), View::top()];
    let strip = Strip { views, props: vec![ball], ..Strip::of(Figure::new(&clip)) };
    std::fs::write(folder.join("punch.png"), strip.render().to_png())?;
    std::fs::write(folder.join("punch.svg"), strip.to_svg())?;
    std::fs::write(folder.join("punch.gif"), Strip { width: 420, ..strip }.to_gif(&Movie::default()))?;
    Ok(())
}
