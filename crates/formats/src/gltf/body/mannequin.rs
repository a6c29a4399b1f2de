//! A person in a suit, with the mitts, foot guards and belt of a karate match, and a visor that shows where they look.
//!
//! The body is a solid put together from rounded shapes that sit on the bones, meshed once; the same shapes tell how
//! much each bone moves each vertex. Sizes are those of a grown person of 1.78 m and go with the length of the legs.

use glam::Vec3;
use kumite_motion::{Pose, Role, Side, Skeleton, WorldPose, fk};

use super::field::{Shape, common, joined};
use super::{Mesh, Part, skinning, surface};

/// Pelvis height of the person the sizes below are for.
const PELVIS_HEIGHT: f32 = 0.979;
/// Metres over which a vertex changes from one bone to the next. Smaller values crease, larger ones make elbows rubbery.
const BLEND: f32 = 0.013;

/// Which of the separate surfaces a shape belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Piece {
    Torso,
    /// Arms, legs and neck: one surface with the torso, but not under the belt.
    Limb,
    Head,
    Visor,
    Hand(Side),
    Foot(Side),
}

struct Flesh {
    role: Role,
    piece: Piece,
    shape: Shape,
    /// Width of the fillet to what comes before it, metres.
    fillet: f32,
    /// A bounding sphere.
    centre: Vec3,
    reach: f32,
}

struct Person {
    /// What is neither left nor right comes first.
    flesh: Vec<Flesh>,
    scale: f32,
    /// Height of its middle.
    belt: f32,
    /// Where gloves begin, sideways, and where socks end, upwards.
    rims: [f32; 2],
}

/// `None` for proportions that no person has: in another unit than metres, or with a joint far from the rest.
pub(super) fn of(skeleton: &Skeleton) -> Option<Vec<(Part, Mesh)>> {
    let person = Person::of(skeleton)?;
    let s = person.scale;
    let mut suit = person.mesh(|p| matches!(p, Piece::Torso | Piece::Limb), 0.0185 * s, |d, _| d);
    suit.append(person.mesh(|p| p == Piece::Head, 0.0115 * s, |d, _| d));
    let mut gear = Mesh::default();
    for side in [Side::Left, Side::Right] {
        let (cuff, sock) = (person.rims[0], person.rims[1]);
        gear.append(person.mesh(
            move |p| p == Piece::Hand(side),
            0.0105 * s,
            |d, p| common(d, cuff - p.x.abs(), 0.006 * s),
        ));
        gear.append(person.mesh(
            move |p| p == Piece::Foot(side),
            0.0125 * s,
            |d, p| common(common(d, 0.002 * s - p.y, 0.008 * s), p.y - sock, 0.006 * s),
        ));
    }
    gear.append(person.belt());
    let visor = person.mesh(|p| p == Piece::Visor, 0.0085 * s, |d, p| common(d, person.outside_visor(p), 0.006 * s));
    Some(vec![(Part::Suit, suit), (Part::Gear, gear), (Part::Visor, visor)])
}

impl Person {
    fn of(skeleton: &Skeleton) -> Option<Person> {
        let mut world = WorldPose::default();
        fk::pose(skeleton, &Pose::rest(skeleton), &mut world);
        let at = |role: Role| world.position(role.joint());
        let s = at(Role::Pelvis).y / PELVIS_HEIGHT;
        // A child's pelvis is at a third of a metre; no body reaches further than this from where it stands.
        let sane = (0.3..3.0).contains(&s) && world.positions.iter().all(|p| p.abs().max_element() < 2.5 * s);
        if !sane {
            return None;
        }
        let usual = |role: Role| match role.side() {
            Side::Middle => Vec3::Y * 0.178,
            _ if matches!(role, Role::LeftToe | Role::RightToe) => Vec3::Z * 0.080,
            Side::Left => Vec3::X * 0.098,
            Side::Right => Vec3::X * -0.098,
        };
        let tip = |role: Role| {
            let own = skeleton.tip(role.joint()).filter(|tip| (0.03 * s..0.5 * s).contains(&tip.length()));
            at(role) + own.unwrap_or(usual(role) * s)
        };
        let v = |x: f32, y: f32, z: f32| Vec3::new(x, y, z) * s;
        let mut flesh = Vec::new();
        let mut add = |role: Role, piece: Piece, fillet: f32, shape: Shape| {
            let (low, high) = shape.bounds();
            let (centre, reach) = (0.5 * (low + high), 0.5 * (high - low).length());
            flesh.push(Flesh { role, piece, shape, fillet: fillet * s, centre, reach });
        };
        let taper = |from: Vec3, to: Vec3, a: f32, b: f32| Shape::taper(from, to, [a * s, b * s]);
        let ball = |at: Vec3, x: f32, y: f32, z: f32| Shape::Ellipsoid { at, radii: v(x, y, z) };

        let (pelvis, waist, back, neck, head) =
            (at(Role::Pelvis), at(Role::Waist), at(Role::Back), at(Role::Neck), at(Role::Head));
        add(Role::Pelvis, Piece::Torso, 0.03, ball(pelvis + v(0.0, -0.005, -0.005), 0.150, 0.115, 0.108));
        add(Role::Waist, Piece::Torso, 0.10, ball(waist + v(0.0, 0.035, 0.002), 0.131, 0.130, 0.094));
        add(Role::Back, Piece::Torso, 0.09, ball(back + v(0.0, 0.088, -0.002), 0.166, 0.158, 0.110));
        add(
            Role::Neck,
            Piece::Limb,
            0.07,
            taper(neck + v(0.0, -0.045, -0.014), head + v(0.0, 0.03, 0.0), 0.060, 0.053),
        );
        for (side, x, roles) in [
            (Side::Left, 1.0, [Role::LeftClavicle, Role::LeftShoulder, Role::LeftElbow, Role::LeftWrist]),
            (Side::Right, -1.0, [Role::RightClavicle, Role::RightShoulder, Role::RightElbow, Role::RightWrist]),
        ] {
            let w = |a: f32, y: f32, z: f32| v(x * a, y, z);
            let [clavicle, shoulder, elbow, wrist] = roles.map(at);
            let [on_clavicle, on_shoulder, on_elbow, on_wrist] = roles;
            // Chest muscle, shoulder blade and the slope from neck to shoulder.
            add(Role::Back, Piece::Torso, 0.06, ball(back + w(0.070, 0.128, 0.058), 0.086, 0.060, 0.046));
            add(Role::Back, Piece::Torso, 0.05, ball(back + w(0.085, 0.110, -0.068), 0.070, 0.090, 0.046));
            add(
                on_clavicle,
                Piece::Limb,
                0.055,
                taper(clavicle + w(0.01, 0.02, -0.018), shoulder + w(-0.012, 0.004, -0.006), 0.050, 0.052),
            );
            add(on_shoulder, Piece::Limb, 0.06, ball(shoulder + w(0.014, -0.004, 0.0), 0.068, 0.062, 0.062));
            add(on_shoulder, Piece::Limb, 0.05, taper(shoulder, elbow, 0.053, 0.041));
            add(
                on_shoulder,
                Piece::Limb,
                0.04,
                ball(shoulder.lerp(elbow, 0.52) + w(0.0, 0.0, 0.010), 0.098, 0.046, 0.046),
            );
            add(on_elbow, Piece::Limb, 0.03, taper(elbow, wrist, 0.041, 0.027));
            add(on_elbow, Piece::Limb, 0.04, ball(elbow.lerp(wrist, 0.27) + w(0.0, 0.0, 0.004), 0.085, 0.042, 0.046));
            // A closed mitt, palm down: cuff, back of the hand, fingers folded under, thumb in front.
            let hand = Piece::Hand(side);
            let length = (tip(on_wrist) - wrist).length() / s;
            add(on_elbow, hand, 0.02, taper(wrist.lerp(elbow, 0.30), wrist, 0.046, 0.036));
            add(
                on_wrist,
                hand,
                0.03,
                Shape::Block {
                    at: wrist + w(0.55 * length, -0.004, 0.0),
                    half: v(0.45 * length, 0.027, 0.041),
                    round: 0.022 * s,
                },
            );
            for finger in 0..4 {
                let z = 0.030 - 0.020 * finger as f32;
                let reach = length - if finger == 3 { 0.012 } else { 0.005 };
                add(
                    on_wrist,
                    hand,
                    0.008,
                    taper(wrist + w(reach - 0.010, -0.006, z), wrist + w(reach - 0.012, -0.036, z), 0.0135, 0.0125),
                );
                add(
                    on_wrist,
                    hand,
                    0.008,
                    taper(wrist + w(reach - 0.012, -0.040, z), wrist + w(reach - 0.050, -0.040, z), 0.0120, 0.0110),
                );
            }
            add(
                on_wrist,
                hand,
                0.014,
                taper(wrist + w(0.026, -0.012, 0.034), wrist + w(0.056, -0.030, 0.047), 0.0165, 0.0150),
            );
            add(
                on_wrist,
                hand,
                0.010,
                taper(wrist + w(0.056, -0.030, 0.047), wrist + w(0.082, -0.046, 0.030), 0.0145, 0.0120),
            );
        }
        for (side, x, roles) in [
            (Side::Left, 1.0, [Role::LeftHip, Role::LeftKnee, Role::LeftAnkle, Role::LeftToe]),
            (Side::Right, -1.0, [Role::RightHip, Role::RightKnee, Role::RightAnkle, Role::RightToe]),
        ] {
            let w = |a: f32, y: f32, z: f32| v(x * a, y, z);
            let [hip, knee, ankle, toe] = roles.map(at);
            let [on_hip, on_knee, on_ankle, on_toe] = roles;
            add(Role::Pelvis, Piece::Torso, 0.05, ball(hip + w(-0.020, 0.004, -0.044), 0.080, 0.086, 0.076));
            add(
                on_hip,
                Piece::Limb,
                0.05,
                taper(hip + w(-0.008, -0.01, 0.0), knee + w(0.0, 0.01, 0.002), 0.082, 0.054),
            );
            add(on_hip, Piece::Limb, 0.05, ball(hip.lerp(knee, 0.40) + w(0.004, 0.0, 0.016), 0.073, 0.175, 0.074));
            add(on_knee, Piece::Limb, 0.03, ball(knee + w(0.0, 0.0, 0.012), 0.049, 0.060, 0.050));
            add(on_knee, Piece::Limb, 0.03, taper(knee, ankle, 0.051, 0.034));
            add(on_knee, Piece::Limb, 0.04, ball(knee.lerp(ankle, 0.28) + w(0.002, 0.0, -0.022), 0.052, 0.115, 0.048));
            let foot = Piece::Foot(side);
            let ground = |p: Vec3, y: f32| Vec3::new(p.x, y * s, p.z);
            add(on_knee, foot, 0.02, taper(ankle.lerp(knee, 0.24), ankle, 0.049, 0.043));
            add(on_ankle, foot, 0.03, ball(ground(ankle, 0.034) + w(0.0, 0.0, -0.022), 0.038, 0.040, 0.046));
            add(
                on_ankle,
                foot,
                0.04,
                taper(ankle + w(0.0, -0.012, 0.008), toe + w(0.002, 0.012, -0.012), 0.041, 0.035),
            );
            let ball_of_foot = ground(toe, 0.025);
            add(
                on_ankle,
                foot,
                0.03,
                Shape::Taper {
                    from: ball_of_foot + w(0.0, 0.0, -0.03),
                    to: ball_of_foot,
                    radii: [0.032 * s, 0.032 * s],
                    stretch: Vec3::new(1.4, 1.0, 1.0),
                },
            );
            let heel = ground(ankle, 0.028) + w(0.0, 0.0, -0.018);
            add(on_ankle, foot, 0.03, taper(heel, ball_of_foot + w(0.0, 0.002, -0.02), 0.034, 0.037));
            let end = tip(on_toe);
            add(
                on_toe,
                foot,
                0.03,
                Shape::Taper {
                    from: ball_of_foot + w(0.0, 0.0, 0.006),
                    to: ground(end, 0.019) + w(-0.004, 0.0, -0.026),
                    radii: [0.032 * s, 0.022 * s],
                    stretch: Vec3::new(1.42, 1.0, 1.0),
                },
            );
        }
        // The skull fills the bone from its joint to its tip; the rest of the face hangs on it.
        let top = (tip(Role::Head) - head).y / s;
        let skull = head + v(0.0, top - 0.102, 0.002);
        add(Role::Head, Piece::Head, 0.03, ball(skull, 0.076, 0.102, 0.096));
        add(Role::Head, Piece::Head, 0.05, ball(skull + v(0.0, -0.072, 0.026), 0.058, 0.062, 0.066));
        add(Role::Head, Piece::Head, 0.02, ball(skull + v(0.0, -0.119, 0.062), 0.026, 0.017, 0.022));
        add(
            Role::Head,
            Piece::Head,
            0.02,
            taper(skull + v(0.0, -0.036, 0.086), skull + v(0.0, -0.062, 0.100), 0.009, 0.0135),
        );
        for x in [1.0, -1.0] {
            add(Role::Head, Piece::Head, 0.01, ball(skull + v(x * 0.076, -0.036, -0.006), 0.010, 0.030, 0.019));
        }
        add(Role::Head, Piece::Visor, 0.01, ball(skull + v(0.0, -0.004, 0.006), 0.0800, 0.106, 0.0985));
        flesh.sort_by_key(|f| f.role.side() != Side::Middle);
        let cuff = at(Role::LeftWrist).lerp(at(Role::LeftElbow), 0.24).x;
        let sock = at(Role::LeftAnkle).lerp(at(Role::LeftKnee), 0.17).y;
        Some(Person { flesh, scale: s, belt: pelvis.y + 0.052 * s, rims: [cuff, sock] })
    }

    /// How far a place is from the two dark eyes, which show where the person looks.
    fn outside_visor(&self, p: Vec3) -> f32 {
        let s = self.scale;
        let Some(skull) = self.flesh.iter().find(|f| f.piece == Piece::Visor).map(|f| f.shape.bounds()) else {
            return 0.0;
        };
        let centre = 0.5 * (skull.0 + skull.1);
        let eye = |side: f32| Shape::Block {
            at: centre + Vec3::new(side * 0.034, -0.012, 0.085) * s,
            half: Vec3::new(0.021, 0.016, 0.080) * s,
            round: 0.014 * s,
        };
        eye(1.0).distance(p).min(eye(-1.0).distance(p))
    }

    /// Left and right are each joined to the middle but not to each other, or thighs would grow together.
    fn distance(&self, wanted: impl Fn(Piece) -> bool, p: Vec3) -> f32 {
        let (mut middle, mut left, mut right) = (f32::MAX, None, None);
        for flesh in self.flesh.iter().filter(|f| wanted(f.piece)) {
            let distance = match flesh.role.side() {
                Side::Middle => &mut middle,
                Side::Left => left.get_or_insert(middle),
                Side::Right => right.get_or_insert(middle),
            };
            // Too far to matter: most are, for most places.
            if (p - flesh.centre).length() - flesh.reach > *distance + flesh.fillet {
                continue;
            }
            let next = self.apart(flesh, p);
            *distance = if *distance == f32::MAX { next } else { joined(*distance, next, flesh.fillet) };
        }
        middle.min(left.unwrap_or(middle)).min(right.unwrap_or(middle))
    }

    /// A shape as far as it is its own side's: thighs end before the middle, by more than a cell of the grid.
    fn apart(&self, flesh: &Flesh, p: Vec3) -> f32 {
        let distance = flesh.shape.distance(p);
        let inwards = match flesh.role {
            Role::LeftHip => -p.x,
            Role::RightHip => p.x,
            _ => return distance,
        };
        common(distance, inwards + 0.012 * self.scale, 0.02 * self.scale)
    }

    fn bounds(&self, wanted: impl Fn(Piece) -> bool) -> (Vec3, Vec3) {
        self.flesh
            .iter()
            .filter(|f| wanted(f.piece))
            .map(|f| f.shape.bounds())
            .fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), (l, h)| (low.min(l), high.max(h)))
    }

    fn mesh(&self, wanted: impl Fn(Piece) -> bool + Copy, cell: f32, shaped: impl Fn(f32, Vec3) -> f32) -> Mesh {
        let surface = surface::of(|p| shaped(self.distance(wanted, p), p), self.bounds(wanted), cell);
        self.skinned(surface)
    }

    /// A band that lies on the body around the waist, with a knot and two ends in front.
    fn belt(&self) -> Mesh {
        let s = self.scale;
        let torso = |p: Piece| p == Piece::Torso;
        let (mut low, mut high) = self.bounds(torso);
        let front = (0..40)
            .map(|i| Vec3::new(0.0, self.belt, (0.2 - 0.003 * i as f32) * s))
            .find(|&p| self.distance(torso, p) < 0.0)
            .unwrap_or(Vec3::new(0.0, self.belt, 0.1 * s));
        let knot = Shape::Block {
            at: front + Vec3::new(0.0, 0.0, 0.014) * s,
            half: Vec3::new(0.024, 0.020, 0.013) * s,
            round: 0.011 * s,
        };
        let end = |x: f32| {
            let (from, to) =
                (front + Vec3::new(0.012 * x, -0.008, 0.012) * s, front + Vec3::new(0.055 * x, -0.170, 0.020) * s);
            Shape::Taper { from, to, radii: [0.0085 * s, 0.0085 * s], stretch: Vec3::new(2.0, 1.0, 1.0) }
        };
        let parts = [knot, end(1.0), end(-1.0)];
        (low.y, high.y) = (self.belt - 0.2 * s, self.belt + 0.04 * s);
        (low.x, high.x) = (low.x.max(-0.21 * s), high.x.min(0.21 * s));
        (low.z, high.z) = (low.z - 0.01 * s, high.z + 0.05 * s);
        let field = |p: Vec3| {
            let slab = (p.y - self.belt).abs() - 0.0215 * s;
            // Nothing of the band is further out than the body, so its distance need not be known up there.
            let band =
                if slab > 0.05 * s { slab } else { common(self.distance(torso, p).abs() - 0.011 * s, slab, 0.007 * s) };
            parts.iter().fold(band, |d, part| joined(d, part.distance(p), 0.006 * s))
        };
        self.skinned(surface::of(field, (low, high), 0.0095 * s))
    }

    fn skinned(&self, surface: surface::Surface) -> Mesh {
        let (joints, weights) = surface.positions.iter().map(|&p| skinning(self.weights(p))).unzip();
        Mesh { positions: surface.positions, normals: surface.normals, joints, weights, triangles: surface.triangles }
    }

    /// How much each bone moves a place: by its distance from the flesh of the nearest bone and of those
    /// next to it in the tree. No others, or one thigh would drag the other.
    fn weights(&self, p: Vec3) -> Vec<(u16, f32)> {
        let mut distances = [f32::MAX; Role::ALL.len()];
        for flesh in &self.flesh {
            let nearest = &mut distances[flesh.role as usize];
            *nearest = nearest.min(flesh.shape.distance(p));
        }
        let nearest = Role::ALL.into_iter().min_by(|a, b| distances[*a as usize].total_cmp(&distances[*b as usize]));
        let nearest = nearest.unwrap_or(Role::Pelvis);
        let least = distances[nearest as usize];
        Role::ALL
            .into_iter()
            .filter(|&role| role == nearest || role.parent() == Some(nearest) || nearest.parent() == Some(role))
            .map(|role| {
                let behind = (distances[role as usize] - least) / (BLEND * self.scale);
                // The root bone is 0 in the skin.
                (role as u16 + 1, libm::expf(-behind.min(80.0)))
            })
            .filter(|w| w.1 > 0.004)
            .collect()
    }
}
