//! What an action can be.

use std::fmt;

use kumite_motion::{SpanKind, StrikeKind};

/// The class of an action, as finely as they are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Class {
    Straight,
    Hook,
    Uppercut,
    Backfist,
    Front,
    Round,
    SideKick,
    Knee,
    Combo,
    Slip,
    Sway,
    Duck,
    Twist,
    Jump,
    Block,
    Step,
    Turn,
    Walk,
    Run,
    Idle,
    React,
    Down,
    Up,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 23] = [
        Class::Straight,
        Class::Hook,
        Class::Uppercut,
        Class::Backfist,
        Class::Front,
        Class::Round,
        Class::SideKick,
        Class::Knee,
        Class::Combo,
        Class::Slip,
        Class::Sway,
        Class::Duck,
        Class::Twist,
        Class::Jump,
        Class::Block,
        Class::Step,
        Class::Turn,
        Class::Walk,
        Class::Run,
        Class::Idle,
        Class::React,
        Class::Down,
        Class::Up,
    ];

    /// Its word in labels.
    pub fn name(self) -> &'static str {
        match self {
            Class::Straight => "straight",
            Class::Hook => "hook",
            Class::Uppercut => "uppercut",
            Class::Backfist => "backfist",
            Class::Front => "front",
            Class::Round => "round",
            Class::SideKick => "side",
            Class::Knee => "knee",
            Class::Combo => "combo",
            Class::Slip => "slip",
            Class::Sway => "sway",
            Class::Duck => "duck",
            Class::Twist => "twist",
            Class::Jump => "jump",
            Class::Block => "block",
            Class::Step => "step",
            Class::Turn => "turn",
            Class::Walk => "walk",
            Class::Run => "run",
            Class::Idle => "idle",
            Class::React => "react",
            Class::Down => "down",
            Class::Up => "up",
        }
    }

    /// The inverse of [`Class::name`].
    pub fn from_name(name: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|c| c.name() == name)
    }

    /// The kind of blow; `None` for other actions and for combinations.
    pub fn strike(self) -> Option<StrikeKind> {
        StrikeKind::from_name(self.name())
    }

    /// The kind of span it makes.
    pub fn kind(self) -> SpanKind {
        match self {
            Class::Straight | Class::Hook | Class::Uppercut | Class::Backfist => SpanKind::Attack,
            Class::Front | Class::Round | Class::SideKick | Class::Knee | Class::Combo => SpanKind::Attack,
            Class::Slip | Class::Sway | Class::Duck | Class::Twist | Class::Jump => SpanKind::Avoid,
            Class::Block => SpanKind::Block,
            Class::Step => SpanKind::Step,
            Class::Turn => SpanKind::Turn,
            Class::Walk => SpanKind::Walk,
            Class::Run => SpanKind::Run,
            Class::Idle => SpanKind::Idle,
            Class::React => SpanKind::React,
            Class::Down => SpanKind::Down,
            Class::Up => SpanKind::Up,
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
