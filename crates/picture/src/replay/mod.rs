//! Replays: one self-contained HTML file that plays motions in any browser. `viewer.js` documents the data format.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kumite_motion::fk::Tracks;
use kumite_motion::rotation::arc;
use kumite_motion::{Clip, FrameIdx, JointIdx, Pose, Quat, Role, Roles, Vec3, WorldPose, fk, sample};
use serde_json::{Value, json};

use crate::body::{Body, Cone, Group};
use crate::figure::{Figure, Prop};
use crate::shape::Shape;

/// Resolution of stored positions, metres, for bodies within 3.2 m of their root; larger bodies get a coarser one.
const STEP: f32 = 0.0001;

/// An event, shown as a mark on the timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct Marker {
    /// Seconds from the start.
    pub time: f32,
    /// Its kind, in one word.
    pub kind: String,
    /// Description shown to the reader.
    pub text: String,
    /// Its position, if it has one.
    pub at: Option<Vec3>,
}

/// What a replay shows. Clips must be in metres, with +Y up.
#[derive(Clone, Debug, Default)]
pub struct Replay<'a> {
    /// Heading of the page.
    pub title: String,
    /// Characters; all clips are shown at the first one's frame rate.
    pub figures: Vec<Figure<'a>>,
    /// Balls, walls and other props.
    pub props: Vec<Prop>,
    /// Events marked on the timeline.
    pub markers: Vec<Marker>,
}

impl Replay<'_> {
    /// Writes the whole page.
    pub fn to_html(&self) -> String {
        let title = self.title.replace('&', "&amp;").replace('<', "&lt;");
        // Inside a script element only `<` could end the data.
        let data = self.data().to_string().replace('<', "\\u003c");
        include_str!("viewer.html")
            .replace("/*{{style}}*/", include_str!("viewer.css"))
            .replace("/*{{script}}*/", include_str!("viewer.js"))
            .replace("{{title}}", &title)
            .replace("{{data}}", &data)
    }

    fn data(&self) -> Value {
        let fps = self.figures.first().map_or(60.0, |a| a.clip.fps());
        let last = |a: &Figure<'_>| ((a.starts_at + a.clip.seconds()) * fps).round() as usize + 1;
        let frames = self.figures.iter().map(last).max().unwrap_or(1);
        json!({
            "version": 1,
            "title": self.title,
            "fps": fps,
            "frames": frames,
            "characters": self.figures.iter().map(|figure| character(figure, fps)).collect::<Vec<_>>(),
            "props": self.props.iter().map(prop).collect::<Vec<_>>(),
            "events": self.markers.iter().map(marker).collect::<Vec<_>>(),
        })
    }
}

fn rounded(v: f32) -> f64 {
    (f64::from(v) * 100_000.0).round() / 100_000.0
}

fn point(p: Vec3) -> Value {
    json!([rounded(p.x), rounded(p.y), rounded(p.z)])
}

fn marker(marker: &Marker) -> Value {
    let mut value = json!({"time": rounded(marker.time), "kind": marker.kind, "text": marker.text});
    if let Some(at) = marker.at {
        value["at"] = point(at);
    }
    value
}

fn character(figure: &Figure<'_>, fps: f32) -> Value {
    // The viewer has one clock, so clips of another rate are resampled; if that fails, frames are used as they are.
    let other = (figure.clip.fps() != fps).then(|| sample::resample(figure.clip, fps).ok()).flatten();
    let clip = other.as_ref().unwrap_or(figure.clip);
    let skeleton = clip.skeleton();
    let body = match &figure.body {
        Some(body) => body.as_ref().clone(),
        None => Body::of_clip(clip, figure.roles.as_ref()),
    };
    let parts: Vec<Value> = body.parts.iter().map(|p| p.to_numbers().map(rounded).to_vec().into()).collect();
    let step = step_for(clip);
    let (root, positions, rotations) = tracks(clip, step);
    let spans: Vec<Value> = clip
        .spans
        .iter()
        .map(|s| {
            let mut span =
                json!({"kind": s.kind.name(), "label": s.label, "from": rounded(s.from), "to": rounded(s.to)});
            if let Some((a, b)) = s.active {
                span["active"] = json!([rounded(a), rounded(b)]);
            }
            span
        })
        .collect();
    let mut value = json!({
        "name": clip.name,
        "color": figure.colours.middle.hex(),
        "colors": Group::ALL.map(|g| figure.colours.of(g).hex()),
        "joints": skeleton.joints().map(|j| skeleton.name(j)).collect::<Vec<_>>(),
        "parents": skeleton.joints().map(|j| skeleton.parent(j).map_or(-1, |p| i32::from(p.0))).collect::<Vec<_>>(),
        "start": (figure.starts_at * fps).round(),
        "parts": parts,
        "root": root,
        "step": step,
        "positions": positions,
        "rotations": rotations,
        "spans": spans,
        "landmarks": landmarks(figure.roles.as_ref()),
    });
    if !clip.contacts.is_empty() {
        let bits: Vec<u8> = clip.contacts.iter().map(|c| c.bits()).collect();
        value["contacts"] = json!(STANDARD.encode(bits));
    }
    value
}

/// The finest resolution at which every joint's offset from the root fits 16 bits.
fn step_for(clip: &Clip) -> f32 {
    let tracks = Tracks::of(clip);
    let mut reach = 0.0f32;
    for frame in (0..clip.frames() as u32).map(FrameIdx) {
        let root = tracks.get(frame, JointIdx::ROOT);
        let farthest = |v: Vec3| v.abs().max_element();
        reach = clip.skeleton().joints().map(|j| farthest(tracks.get(frame, j) - root)).fold(reach, f32::max);
    }
    STEP.max(reach / 32_760.0)
}

/// Root, positions relative to it, and rotations, packed as the viewer reads them.
fn tracks(clip: &Clip, step: f32) -> (String, String, String) {
    let (mut root, mut positions, mut rotations) = (Vec::new(), Vec::new(), Vec::new());
    let (mut pose, mut world) = (Pose::default(), WorldPose::default());
    for frame in 0..clip.frames() as u32 {
        clip.pose(FrameIdx(frame), &mut pose);
        fk::pose(clip.skeleton(), &pose, &mut world);
        let origin = world.positions[0];
        for v in origin.to_array() {
            root.extend(v.to_le_bytes());
        }
        for v in world.positions.iter().flat_map(|p| (*p - origin).to_array()) {
            positions.extend(((v / step).round() as i16).to_le_bytes());
        }
        for v in world.rotations.iter().flat_map(|q| q.to_array()) {
            rotations.extend(((v * 32767.0).round() as i16).to_le_bytes());
        }
    }
    (STANDARD.encode(root), STANDARD.encode(positions), STANDARD.encode(rotations))
}

fn landmarks(roles: Option<&Roles>) -> Value {
    let names = [
        ("left_heel", Role::LeftAnkle),
        ("left_toe", Role::LeftToe),
        ("right_heel", Role::RightAnkle),
        ("right_toe", Role::RightToe),
        ("left_hand", Role::LeftWrist),
        ("right_hand", Role::RightWrist),
    ];
    let found = names.into_iter().filter_map(|(name, role)| Some((name.to_owned(), json!(roles?.get(role)?.0))));
    Value::Object(found.collect())
}

fn prop(prop: &Prop) -> Value {
    let (mut value, middle, turn) = shape(&prop.shape);
    if let Some(colour) = prop.colour {
        value["color"] = json!(colour.hex());
    }
    if let Some((from, to)) = prop.shown {
        value["shown"] = json!([rounded(from), rounded(to)]);
    }
    // The viewer places a shape by its middle; the prop's path is relative to the shape's own position.
    let at = |(t, p): &(f32, Vec3)| {
        let p = *p + middle;
        json!([t, p.x, p.y, p.z, turn.x, turn.y, turn.z, turn.w])
    };
    let still = [(0.0, Vec3::ZERO)];
    let path = if prop.path.is_empty() { &still[..] } else { &prop.path[..] };
    value["path"] = path.iter().map(at).collect();
    value
}

/// The shape in its own frame, its middle, and its rotation.
fn shape(shape: &Shape) -> (Value, Vec3, Quat) {
    let upright = |a: Vec3, b: Vec3| (b - a).try_normalize().map_or(Quat::IDENTITY, |d| arc(Vec3::Y, d));
    match *shape {
        Shape::Cone(Cone { a, ra, b, rb }) => {
            let radius = ra.max(rb);
            let length = (b - a).length();
            let value = if length < 1e-6 {
                json!({"kind": "sphere", "radius": radius})
            } else {
                json!({"kind": "capsule", "radius": radius, "height": length + 2.0 * radius})
            };
            (value, (a + b) * 0.5, upright(a, b))
        }
        Shape::Block { centre, half, turn } => {
            (json!({"kind": "box", "size": [2.0 * half.x, 2.0 * half.y, 2.0 * half.z]}), centre, turn)
        }
        Shape::Cylinder { a, b, radius } => {
            (json!({"kind": "cylinder", "radius": radius, "height": (b - a).length()}), (a + b) * 0.5, upright(a, b))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kumite_motion::humanoid;
    use std::sync::Arc;

    #[test]
    fn the_page_is_complete_and_its_data_are_escaped() {
        let skeleton = Arc::new(humanoid::skeleton());
        let rest = Pose::rest(&skeleton);
        let clip = Clip::new("</script><b>", skeleton, 30.0, &[rest.clone(), rest]).unwrap();
        let replay = Replay {
            title: "a < b & c".into(),
            figures: vec![Figure::new(&clip)],
            props: vec![Prop::flying(0.1, vec![(0.0, Vec3::ZERO), (1.0, Vec3::Z)])],
            markers: vec![Marker { time: 0.5, kind: "hit".into(), text: "left".into(), at: Some(Vec3::Y) }],
        };
        let page = replay.to_html();
        assert!(!page.contains("{{"), "a placeholder was not filled");
        assert!(page.contains("<title>a &lt; b &amp; c"));
        let data = page.split("id=\"kumite-data\"").nth(1).unwrap();
        let data = data.split_once('>').unwrap().1.split("</script>").next().unwrap();
        let data: Value = serde_json::from_str(data).unwrap();
        assert_eq!(data["characters"][0]["name"], "</script><b>");
        assert_eq!(data["frames"], 2);
        let positions = STANDARD.decode(data["characters"][0]["positions"].as_str().unwrap()).unwrap();
        assert_eq!(positions.len(), 2 * 21 * 3 * 2);
    }
}
