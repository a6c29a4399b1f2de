//! What a character does about balls that it can neither dodge nor block: it braces for the most urgent one, with what is left of the time.

use kumite_motion::{Role, Vec3};
use kumite_plan::{Leg, Plan, Threat, Warp};
use kumite_react::{Body, Brace, Request};

use super::{STOP, Turn};
use crate::braced::Foreseen;
use crate::op::{Event, EventKind};
use crate::world::{BallId, CastMember, Doing};
use crate::{Character, TICKS, sense};

/// Nobody braces for what was known with less time left, seconds; nor later than this, if something kept it from bracing at first.
const LEAST: f32 = 0.25;
const LATEST: f32 = 0.2;
/// How far a ball is followed after it should have arrived, seconds.
const AFTER: f32 = 0.3;
/// A walker stops for what would push it by this much, metres per second.
const STOPS: f32 = 0.25;
/// How long a walker that stopped waits after the ball has come, seconds.
const WAITS: f32 = 0.7;

impl CastMember {
    /// A ball touches a part of it: whether that is a hand or forearm of a brace that was meant for it. The brace is told in any case.
    pub(crate) fn meets_braced(&mut self, ball: BallId, part: Role) -> bool {
        if self.braced != Some(ball) || self.character.brace().is_none() {
            return false;
        }
        self.character.brace_is_hit();
        matches!(part, Role::LeftElbow | Role::RightElbow | Role::LeftWrist | Role::RightWrist)
    }
}

impl Turn<'_> {
    /// Braces for whatever of these will hit first, if that helps any more. What misses is not braced for.
    pub(super) fn brace(&mut self, threats: &[(BallId, Threat)]) {
        let (tick, member) = (self.world.tick, &self.world.characters[self.who]);
        let busy = matches!(member.doing, Doing::Reacting(_) | Doing::Defending(_));
        if busy || member.character.brace().is_some() || lies(&member.character) {
            return;
        }
        let mut foreseen: Vec<(BallId, Foreseen)> = threats
            .iter()
            .filter_map(|(id, threat)| {
                let ball = self.world.balls.get(*id)?;
                Some((*id, member.character.foresees(ball, tick, threat.arrives + AFTER)?))
            })
            .collect();
        foreseen.sort_by(|a, b| a.1.seconds.total_cmp(&b.1.seconds));
        let Some((ball, first)) = foreseen.first().copied() else { return };
        let known =
            member.known.iter().find(|known| known.0 == ball).map_or(tick, |known| known.1 + sense::delay(member));
        let left = first.seconds + tick.saturating_sub(known) as f32 / TICKS as f32;
        if left < LEAST || first.seconds < LATEST {
            return;
        }
        let walking = matches!(member.doing, Doing::Walking(_));
        if walking && first.impact.push(kumite_react::body::MASS) >= STOPS {
            self.stop(first.seconds);
        }
        let member = &self.world.characters[self.who];
        let source = member.character.brace_source(first.seconds);
        let Some(body) = Body::of(member.character.library().skeleton()) else { return };
        let request = Request {
            also: foreseen.get(1).map(|second| second.1.impact),
            in_stride: walking,
            ..Request::new(first.impact, first.seconds)
        };
        let begun = Brace::begin(member.character.library().skeleton(), &body, &source, &request);
        let Ok((brace, solved)) = begun else { return };
        let (planted, seconds) = (brace.planted(), first.seconds);
        let member = &mut self.world.characters[self.who];
        member.character.take_up_brace(brace);
        member.braced = Some(ball);
        let kind = EventKind::Braced { ball, seconds, planted };
        self.events.push(Event { tick, who: Some(self.who), kind });
        let why = format!(
            "neither dodged nor blocked: hits the {} in {seconds:.2} s at {:.0} m/s; {}, {} poses tried",
            solved.aim.part.name(),
            first.impact.speed(),
            if planted { "planted" } else { "in stride" },
            solved.evaluations
        );
        self.tell("braces".into(), why);
    }

    /// Stops a walk for something heavy, if both feet stand before it comes; the walk is searched for anew afterwards.
    fn stop(&mut self, seconds: f32) {
        let Some(standing) = self.kit.standing() else { return };
        let mut later = self.character().unbraced();
        let ticks = ((seconds - LATEST) * TICKS as f32) as u32;
        let double = |character: &Character| {
            use kumite_motion::Contacts;
            character.contacts().any(Contacts::LEFT) && character.contacts().any(Contacts::RIGHT)
        };
        let Some(tick) = (0..ticks).find(|_| {
            let _ = later.step(|_, next| next[0]);
            double(&later)
        }) else {
            return;
        };
        // The leg that is left must still be the one that is played now.
        if later.playing().edge != self.character().playing().edge {
            return;
        }
        let align = self.lay_standing(&later, standing);
        let leg = Leg { join: Some((align, STOP)), ..Leg::whole(standing) };
        let leave = (tick + 1) as f32 / TICKS as f32;
        let until = self.world.tick + ((seconds + WAITS) * TICKS as f32) as u64;
        let member = &mut self.world.characters[self.who];
        member.character.commit(Plan { legs: vec![leg], leave: Some(leave), warp: Warp::none(), bend: None });
        member.doing = Doing::Waiting(until);
        self.tell("stops".into(), "something heavy comes that it can neither dodge nor block".into());
        self.go_on();
    }

    /// Lays standing over a walker where it will be.
    fn lay_standing(&self, later: &Character, edge: kumite_motion::EdgeIdx) -> kumite_motion::align::Planar {
        use kumite_motion::align::Planar;
        use kumite_motion::rotation::yaw_of;
        let played = self.kit.graph().edge(edge);
        let clip = self.kit.library().clip(played.clip);
        let (root, turn) = (later.base().root(), later.base().rotation(kumite_motion::JointIdx::ROOT));
        let here = Planar { turn: yaw_of(turn * Vec3::Z), shift: kumite_motion::Vec2::new(root.x, root.z) };
        let wanted = here.after(&kumite_motion::graph::stand(clip, played.first).inverse());
        later.placement().inverse().after(&wanted)
    }
}

/// Whether it is not on its feet.
fn lies(character: &Character) -> bool {
    (character.world().rotation(Role::Pelvis.joint()) * Vec3::Y).y < 0.6
}
