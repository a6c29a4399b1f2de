//! Who will be where: committed legs reserve the room their bodies pass through, and whoever decides later keeps out of it.

use kumite_motion::align::Planar;
use kumite_motion::library::Library;
use kumite_motion::rotation::yaw;
use kumite_motion::volume::Obstacle;
use kumite_motion::{EdgeIdx, Pose, Vec2, Vec3, WorldPose, fk, sample};
use kumite_plan::Leg;

use crate::world::{CharacterId, World};
use crate::{Character, Kit, Playing};

/// Seconds between the looks of a track.
pub const STEP: f32 = 0.06;
/// Radius of the disc somebody who stands needs, metres: shoulders and a guard.
pub const DISC: f32 = 0.38;
/// Distance that bodies keep, metres: joins carry them this far from their clips, and fists this far between two looks.
pub const KEEP: f32 = 0.08;

/// Where somebody's body will be, [`STEP`] apart from now on.
#[derive(Clone, Debug, Default)]
pub struct Track {
    radii: Vec<f32>,
    /// By look: the pelvis, and how far the surface reaches from it, metres.
    middles: Vec<(Vec3, f32)>,
    /// By look: the centres of the body's spheres.
    centres: Vec<Vec3>,
    pose: Pose,
    world: WorldPose,
}

impl Track {
    /// The body of a character along what is committed, for at most `seconds`. Joins are left out.
    pub fn of(character: &Character, seconds: f32) -> Track {
        let mut track = Track::default();
        track.follow(character, seconds);
        track
    }

    /// [`Track::of`] into existing memory.
    pub fn follow(&mut self, character: &Character, seconds: f32) {
        let library = character.library();
        let graph = library.graph();
        self.clear(library);
        let (mut playing, mut placement) = (character.playing(), character.placement());
        let mut legs = character.legs().iter();
        let mut time = -playing.since;
        while time < seconds {
            let leg = Leg { enter: playing.since, leave: playing.leave, ..Leg::whole(playing.edge) };
            self.play(library, leg, &placement, time, seconds);
            time += playing.since + playing.left(graph);
            let Some(leg) = legs.next() else { return };
            placement = placement.after(&lay(library, leg));
            playing = Playing { edge: leg.edge, since: leg.enter, leave: leg.leave };
            time -= leg.enter;
        }
    }

    fn clear(&mut self, library: &Library) {
        self.radii.clear();
        self.radii.extend(library.spheres().iter().map(|sphere| sphere.radius));
        self.middles.clear();
        self.centres.clear();
    }

    /// Adds the looks of a leg whose edge's first frame is or would be shown at `zero`, until `end`: seconds from now.
    fn play(&mut self, library: &Library, leg: Leg, placement: &Planar, zero: f32, end: f32) {
        let edge = library.graph().edge(leg.edge);
        let clip = library.clip(edge.clip);
        let last = (zero + leg.ends(library.graph())).min(end);
        let mut look = ((zero + leg.enter).max(0.0) / STEP).ceil();
        while look * STEP <= last {
            sample::pose_at(clip, edge.first.at() as f32 / clip.fps() + look * STEP - zero, &mut self.pose);
            self.pose.translations[0] = placement.point(self.pose.translations[0]);
            self.pose.rotations[0] = yaw(placement.turn) * self.pose.rotations[0];
            fk::pose(library.skeleton(), &self.pose, &mut self.world);
            let middle = self.world.positions[0];
            let mut reach = 0.0f32;
            for sphere in library.spheres() {
                let centre = self.world.point(sphere.joint, sphere.offset);
                reach = reach.max((centre - middle).length() + sphere.radius);
                self.centres.push(centre);
            }
            self.middles.push((middle, reach));
            look += 1.0;
        }
    }

    /// Where it ends, on the floor.
    pub fn end(&self) -> Option<Vec2> {
        self.middles.last().map(|(middle, _)| Vec2::new(middle.x, middle.z))
    }

    /// The body at a look, centres and radii.
    fn body(&self, look: usize) -> impl Iterator<Item = (Vec3, f32)> + Clone + '_ {
        let at = look.min(self.middles.len().saturating_sub(1)) * self.radii.len();
        self.centres[at..].iter().copied().zip(self.radii.iter().copied())
    }

    fn middle(&self, look: usize) -> Option<(Vec3, f32)> {
        self.middles.get(look).or(self.middles.last()).copied()
    }

    /// How far it stays from others and from obstacles, metres: the least along it, `enough` if that is more. Negative is the depth. Its first
    /// look is look `first` of the others, who stay where their tracks end.
    pub fn room(&self, first: usize, others: &[Track], obstacles: &[Obstacle], enough: f32) -> f32 {
        self.room_from(0, first, others, obstacles, enough)
    }

    /// [`Track::room`] from a look on.
    fn room_from(&self, from: usize, first: usize, others: &[Track], obstacles: &[Obstacle], enough: f32) -> f32 {
        let mut least = enough;
        for (look, (middle, reach)) in self.middles.iter().enumerate().skip(from) {
            for other in others {
                let Some((at, far)) = other.middle(first + look) else { continue };
                if (at - *middle).length() - reach - far >= least {
                    continue;
                }
                for (a, r) in self.body(look) {
                    for (b, s) in other.body(first + look) {
                        least = least.min((a - b).length() - r - s);
                    }
                }
            }
            for obstacle in obstacles {
                if obstacle.distance(*middle) - reach >= least {
                    continue;
                }
                for (centre, radius) in self.body(look) {
                    least = least.min(obstacle.distance(centre) - radius);
                }
            }
        }
        least
    }
}

/// What lays the clip of a leg over that of the leg before.
pub(crate) fn lay(library: &Library, leg: &Leg) -> Planar {
    let own = library.graph().edge(leg.edge).join.map(|join| join.align);
    leg.join.map(|join| join.0).or(own).unwrap_or(Planar::IDENTITY)
}

/// The tracks of everybody but one, as far as they are committed.
pub fn others(world: &World, who: CharacterId, seconds: f32) -> Vec<Track> {
    let others = world.characters.iter().filter(|(id, _)| *id != who);
    others.map(|(_, member)| Track::of(&member.character, seconds)).collect()
}

/// A search for a way on that leaves room to everybody and everything.
pub(crate) struct WayOn<'a> {
    kit: &'a Kit,
    others: Vec<Track>,
    obstacles: &'a [Obstacle],
    /// Legs that may still be looked at.
    budget: u32,
    track: Track,
}

/// Seconds of what follows that must leave room too.
const FORESIGHT: f32 = 2.5;
/// Edges that are looked at to find a way on, the legs that may follow each, and the ways on that are tried after a leg.
const EDGES: usize = 24;
const LEGS: u32 = 40;
const BRANCHES: usize = 6;

impl<'a> WayOn<'a> {
    pub(crate) fn new(kit: &'a Kit, others: Vec<Track>, obstacles: &'a [Obstacle]) -> WayOn<'a> {
        WayOn { kit, others, obstacles, budget: 0, track: Track::default() }
    }

    /// The first of `edges` that leaves room, and after which some way on does; what moves least is tried last of all. They begin so many seconds
    /// from now where the clip of what is played before lies at `placement`. The error is the edge that leaves most room, and the one that ends where
    /// most is, each with how much that is.
    pub(crate) fn first_free(
        &mut self,
        edges: &[EdgeIdx],
        placement: &Planar,
        begins: f32,
    ) -> Result<EdgeIdx, [(EdgeIdx, f32); 2]> {
        let mut best = [(edges[0], f32::NEG_INFINITY); 2];
        let calm = self.calmest(edges.iter().copied());
        for edge in edges.iter().take(EDGES).chain(&calm) {
            self.budget = LEGS;
            let (room, on) = self.along(*edge, placement, begins);
            if room >= KEEP && self.leads_on(*edge, &on, begins, begins + FORESIGHT) {
                return Ok(*edge);
            }
            if room > best[0].1 {
                best[0] = (*edge, room);
            }
            let end = if room >= KEEP { room } else { self.room_at_end(*edge, placement, begins) };
            if end > best[1].1 {
                best[1] = (*edge, end);
            }
        }
        Err(best)
    }

    /// The room where an edge ends.
    fn room_at_end(&mut self, edge: EdgeIdx, placement: &Planar, begins: f32) -> f32 {
        let first = (begins / STEP).ceil() as usize;
        self.along(edge, placement, begins);
        let last = self.track.middles.len().saturating_sub(1);
        self.track.room_from(last, first, &self.others, self.obstacles, KEEP)
    }

    /// The few edges that stay nearest to where they begin.
    fn calmest(&self, edges: impl Iterator<Item = EdgeIdx>) -> Vec<EdgeIdx> {
        let mut edges: Vec<EdgeIdx> = edges.collect();
        edges.sort_by_key(|edge| self.kit.calm(*edge));
        edges.truncate(BRANCHES);
        edges
    }

    /// The room that an edge leaves, and where its clip lies.
    fn along(&mut self, edge: EdgeIdx, placement: &Planar, begins: f32) -> (f32, Planar) {
        self.budget = self.budget.saturating_sub(1);
        let (leg, library) = (Leg::whole(edge), self.kit.library());
        let placement = placement.after(&lay(library, &leg));
        self.track.clear(library);
        self.track.play(library, leg, &placement, begins, f32::INFINITY);
        let first = (begins / STEP).ceil() as usize;
        (self.track.room(first, &self.others, self.obstacles, KEEP), placement)
    }

    fn leads_on(&mut self, edge: EdgeIdx, placement: &Planar, begins: f32, until: f32) -> bool {
        let kit = self.kit;
        let begins = begins + kit.graph().edge(edge).seconds;
        if begins >= until {
            return true;
        }
        for next in self.calmest(kit.graph().after(edge)) {
            if self.budget == 0 {
                return false;
            }
            let (room, on) = self.along(next, placement, begins);
            if room >= KEEP && self.leads_on(next, &on, begins, until) {
                return true;
            }
        }
        false
    }
}
