//! Who will be where: committed legs reserve the ground they pass over, and whoever decides later keeps off it.

use kumite_motion::align::Planar;
use kumite_motion::library::Library;
use kumite_motion::volume::Obstacle;
use kumite_motion::{Vec2, Vec3, sample};
use kumite_plan::Leg;

use crate::world::{CharacterId, World};
use crate::{Character, Playing};

/// Seconds between the places of a track.
pub const STEP: f32 = 0.1;
/// Radius of the disc somebody needs, metres: shoulders and a guard.
pub const DISC: f32 = 0.38;

/// Where somebody will be, [`STEP`] apart from now on.
pub type Track = Vec<Vec2>;

/// Heights at which obstacles are in a body's way, metres.
const HEIGHTS: [f32; 3] = [0.25, 0.9, 1.5];

/// The way of a character's root along what it plays and then `more`, for at most `seconds`.
pub fn track(character: &Character, more: &[Leg], seconds: f32) -> Track {
    let library = character.library();
    let mut track = Vec::new();
    let (mut playing, mut placement) = (character.playing(), character.placement());
    let mut legs = character.legs().iter().chain(more);
    let mut left = 0.0f32;
    loop {
        let edge = library.graph().edge(playing.edge);
        while playing.since + left <= edge.seconds {
            playing.since += left;
            track.push(root(library, playing, &placement));
            left = STEP;
            if track.len() as f32 * STEP > seconds {
                return track;
            }
        }
        left -= edge.seconds - playing.since;
        let Some(leg) = legs.next() else {
            return track;
        };
        let own = library.graph().edge(leg.edge).join.map(|j| j.align);
        placement = placement.after(&leg.join.map(|j| j.0).or(own).unwrap_or(Planar::IDENTITY));
        playing = Playing { edge: leg.edge, since: leg.enter };
    }
}

fn root(library: &Library, playing: Playing, placement: &Planar) -> Vec2 {
    let edge = library.graph().edge(playing.edge);
    let clip = library.clip(edge.clip);
    let (a, b, t) = sample::around(clip, edge.first.at() as f32 / clip.fps() + playing.since);
    let place = placement.point(clip.root(a).lerp(clip.root(b), t));
    Vec2::new(place.x, place.z)
}

/// The tracks of everybody but one, as far as they are committed.
pub fn others(world: &World, who: CharacterId, seconds: f32) -> Vec<Track> {
    let others = world.characters.iter().filter(|(id, _)| *id != who);
    others.map(|(_, member)| track(&member.character, &[], seconds)).collect()
}

/// How much room a track leaves to others and to obstacles beyond its disc, metres: the least along it. After its end a track stays where
/// it ends.
pub fn room(own: &[Vec2], others: &[Track], obstacles: &[Obstacle]) -> f32 {
    let mut least = f32::INFINITY;
    for (k, place) in own.iter().enumerate() {
        for other in others {
            if let Some(at) = other.get(k).or(other.last()) {
                least = least.min((*at - *place).length() - 2.0 * DISC);
            }
        }
        for obstacle in obstacles {
            for height in HEIGHTS {
                least = least.min(obstacle.distance(Vec3::new(place.x, height, place.y)) - DISC);
            }
        }
    }
    least
}
