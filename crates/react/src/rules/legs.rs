//! The legs (chapter 5 of the thesis). Who stands: side-on to the threat, the near knee up, weight on the other leg; the near arm comes down beside the knee
//! and the other one covers the chin, since arms held out for balance alone read as a dance. Who walks goes on walking, so the rest has to speak: the
//! trunk crouches over the hips and turns its side to the ball, the face follows it down, the near palm is thrust at it as low as a bent arm gets, and the other forearm covers chest
//! and chin: an arm that is stretched down to a shin only looks as if it hung.

use kumite_motion::limits::Limit;
use kumite_motion::rotation::{about, arc, from_vector, to_vector};
use kumite_motion::{Quat, Role, Vec3};

use super::block::{clear_of_trunk, set_hand};
use super::{Controls, Recoil, Rule, Setting, Stance, flat, row};
use crate::body::{STRETCH, TRUNK};

/// How far the near knee is raised, degrees, and how far it bends.
const KNEE: (f32, f32) = (72.0, 95.0);
/// Where wrists are, from their shoulders in the frame of the chest, as shares of the arm: out, up, ahead. The near one and the far one.
const WRISTS: [Vec3; 2] = [Vec3::new(0.34, -0.68, 0.42), Vec3::new(-0.20, -0.04, 0.62)];
/// And the near one where what comes from behind is not met: over the thigh, bent. An arm that hangs beside it would be left behind.
const OVER: Vec3 = Vec3::new(0.08, -0.42, 0.55);
/// Elbows are this far out, degrees.
const SWIVELS: [f32; 2] = [18.0, 6.0];
/// How far the trunk bows, degrees: so much, and more before what is fast.
const BOW: (f32, f32) = (11.0, 8.0);
/// By how much of that before what comes from behind.
const BEHIND: f32 = 0.5;

/// In stride: how far waist and back crouch, degrees each: so much, and more before what is fast.
const CROUCH: [(Role, f32, f32); 2] = [(Role::Waist, 12.0, 6.0), (Role::Back, 18.0, 8.0)];
/// How far they turn to bring the near hand to what comes from behind, and to turn the side to what comes from before, degrees each.
const ROUND: (f32, f32) = (12.0, 10.0);
/// Shoulders rise by this share of a recoil.
const HUNCH: f32 = 0.5;
/// The near palm meets the ball this far before what it is aimed at, metres.
const MEETS: f32 = 0.26;
/// What is out of reach of an arm that is bent like this, as a share of its length, is met this far from the pelvis towards where it comes from, metres.
const BENT: f32 = 0.86;
const THRUST: f32 = 0.38;
/// A hand that meets it beside a raised knee is this much farther out, metres.
const OUTSIDE: f32 = 0.1;
/// The other wrist, from its shoulder in the frame of the chest, as shares of the arm: out, up, ahead.
const COVERS: Vec3 = Vec3::new(-0.24, 0.08, 0.58);
/// How finely the way from where it hits up to there is looked at.
const STEPS: usize = 16;
/// The ball is looked at where it is this far away, metres; the face turns to it by so much at most, radians.
const LOOKS: (f32, f32) = (1.0, 1.1);

/// Saves the legs.
#[derive(Clone, Copy, Debug)]
pub struct Legs;

impl Rule for Legs {
    fn name(&self) -> &'static str {
        "legs"
    }

    fn apply(&self, setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
        if !setting.planted {
            return in_stride(setting, controls, stance);
        }
        let strength = (0.4 + 0.6 * controls.turn.max(controls.lean)) * setting.gain.min(1.2);
        let turn = |role: Role| match role {
            Role::Neck | Role::Head => 0.0,
            _ => row(role).y.to_radians() * strength,
        };
        // Hips out of the way, chest over them: the trunk bows a little towards what it looks at.
        let ahead = flat(stance.world.rotation(Role::Pelvis.joint()) * Vec3::Z).normalize_or(Vec3::Z);
        // Nobody bows backwards to what comes from behind.
        let (to, most) = if setting.aim().in_front { (-setting.aim().along, 1.0) } else { (ahead, BEHIND) };
        let bow = Vec3::Y.cross(to) * (most * (BOW.0 + BOW.1 * controls.lean)).to_radians();
        let turns = TRUNK.map(|role| {
            let bows =
                if matches!(role, Role::Waist | Role::Back) { from_vector(bow) } else { kumite_motion::Quat::IDENTITY };
            bows * about(Vec3::Y, turn(role) * setting.turns)
        });
        stance.turn_trunk(setting.skeleton, turns);
        Recoil.apply(setting, &Controls { recoil: HUNCH * (0.6 + 0.4 * controls.recoil), ..*controls }, stance);
        look_at(setting, stance, setting.aim().target - setting.aim().along * LOOKS.0);
        let chest = stance.world.rotation(Role::Back.joint());
        for (k, arm) in setting.body.arms.iter().enumerate() {
            let shoulder = stance.world.position(arm.joints[1].joint());
            // The arm of the side it comes from; behind, that of the raised knee.
            let raised = setting.raised.filter(|_| !setting.aim().in_front);
            let near = raised.map_or(arm.side == setting.aim().side, |leg| leg == k);
            let far = usize::from(!near);
            let place = if near && !setting.aim().in_front { OVER } else { WRISTS[far] };
            let reach = place * (arm.length * (1.1 - 0.2 * controls.reach[k]));
            let held = shoulder + chest * Vec3::new(arm.side * reach.x, reach.y, reach.z);
            // What comes from before is met; behind itself nobody reaches on one leg.
            let wrist = if near && setting.aim().in_front {
                // Outside of the knee that is raised beside it.
                let out = if setting.raised == Some(k) { OUTSIDE } else { 0.0 };
                let met = clear_of_trunk(stance, meets(setting, stance, k)) + chest * Vec3::X * (arm.side * out);
                shoulder + (met - shoulder).clamp_length_max(STRETCH * arm.length)
            } else {
                held
            };
            let elbow = arm.elbow(&stance.world, wrist, SWIVELS[far].to_radians());
            let fore = arm.place(&mut stance.pose, &stance.world, wrist, elbow, [0.0; 2]);
            set_hand(arm, stance, fore, fore * about(Vec3::Z, arm.side * 0.2));
        }
        stance.update(setting.skeleton);
    }
}

/// Upper body only: clock and legs are the walk's.
fn in_stride(setting: &Setting<'_>, controls: &Controls, stance: &mut Stance) {
    let (aim, gain) = (setting.aim(), setting.gain.min(1.2));
    let ahead = flat(stance.world.rotation(Role::Pelvis.joint()) * Vec3::Z).normalize_or(Vec3::Z);
    // Over the hips, and towards what comes from before; nobody bows backwards to what comes from behind.
    let to = if aim.in_front { (ahead - aim.across() * 0.6).normalize_or(ahead) } else { ahead };
    let round = if aim.in_front { setting.turns * ROUND.1.to_radians() } else { aim.side * ROUND.0.to_radians() };
    let turns = TRUNK.map(|role| {
        let Some((_, least, more)) = CROUCH.into_iter().find(|c| c.0 == role) else { return Quat::IDENTITY };
        let bow = Vec3::Y.cross(to) * ((least + more * controls.lean) * gain).to_radians();
        from_vector(bow) * about(Vec3::Y, round)
    });
    stance.turn_trunk(setting.skeleton, turns);
    Recoil.apply(setting, &Controls { recoil: HUNCH * (0.6 + 0.4 * controls.recoil), ..*controls }, stance);
    look_at(setting, stance, aim.target - aim.along * LOOKS.0);
    let chest = stance.world.rotation(Role::Back.joint());
    for (k, arm) in setting.body.arms.iter().enumerate() {
        let shoulder = stance.world.position(arm.joints[1].joint());
        // What comes from behind is out of reach of both: they are folded over the chest.
        let near = aim.in_front && arm.side == aim.side;
        let wanted = if near {
            meets(setting, stance, k)
        } else {
            shoulder + chest * Vec3::new(arm.side * COVERS.x, COVERS.y, COVERS.z) * arm.length
        };
        let longest = arm.length * (STRETCH - 0.08 * controls.reach[k]);
        let wrist = shoulder + (clear_of_trunk(stance, wanted) - shoulder).clamp_length_max(longest);
        let elbow = arm.elbow(&stance.world, wrist, SWIVELS[usize::from(!near)].to_radians());
        let fore = arm.place(&mut stance.pose, &stance.world, wrist, elbow, [0.0; 2]);
        let fingers = if near { Vec3::NEG_Y - aim.along * 0.6 } else { chest * Vec3::new(-0.5 * arm.side, 0.8, 0.3) };
        set_hand(arm, stance, fore, arm.hand(fingers, if near { -aim.along } else { ahead }));
    }
    stance.update(setting.skeleton);
}

/// Where the near wrist goes: the palm is on the ball's way, the wrist above it, as low as a bent arm gets.
fn meets(setting: &Setting<'_>, stance: &Stance, arm: usize) -> Vec3 {
    let (aim, arm) = (setting.aim(), &setting.body.arms[arm]);
    let (pelvis, shoulder) = (Role::Pelvis.joint(), stance.world.position(arm.joints[1].joint()));
    let ahead = flat(stance.world.rotation(pelvis) * Vec3::Z).normalize_or(Vec3::Z);
    let low = aim.target - aim.along * MEETS + Vec3::Y * arm.palm;
    let to = (-aim.across()).normalize_or(ahead);
    let aside = Vec3::Y.cross(ahead) * (0.3 * arm.side);
    let high = stance.world.position(pelvis) + (to + aside).normalize_or(to) * THRUST;
    let reaches = |share: f32| (low.lerp(high, share) - shoulder).length() <= BENT * arm.length;
    let share = (0..=STEPS).map(|k| k as f32 / STEPS as f32).find(|share| reaches(*share)).unwrap_or(1.0);
    low.lerp(high, share)
}

/// Neck and head turn the face towards a place, each by half, as far as they go.
fn look_at(setting: &Setting<'_>, stance: &mut Stance, place: Vec3) {
    let head = Role::Head.joint();
    let face = stance.world.rotation(head) * Vec3::Z;
    let to = (place - stance.world.position(head)).normalize_or(face);
    let turn = to_vector(arc(face, to)).clamp_length_max(LOOKS.1) * 0.5;
    for role in [Role::Neck, Role::Head] {
        let parent = role.parent().map_or(Quat::IDENTITY, |parent| stance.world.rotation(parent.joint()));
        let local = &mut stance.pose.rotations[role.joint().at()];
        let turned = (parent.conjugate() * from_vector(turn) * parent * *local).normalize();
        *local = Limit::of(role).map_or(turned, |limit| limit.clamp(turned));
        stance.update(setting.skeleton);
    }
}

/// The raised leg: turns of hip and knee from where they hang, as shares of all of it.
pub(crate) fn raised(strength: f32) -> (f32, f32) {
    (KNEE.0.to_radians() * strength, KNEE.1.to_radians() * strength)
}
