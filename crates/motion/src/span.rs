//! What is known about stretches of a clip: labels, active windows, planted feet.

use crate::Role;

/// Which parts of the feet are planted on the ground.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Contacts(u8);

impl Contacts {
    /// Both feet in the air.
    pub const NONE: Contacts = Contacts(0);
    /// Left heel.
    pub const LEFT_HEEL: Contacts = Contacts(1);
    /// Ball and toes of the left foot.
    pub const LEFT_TOE: Contacts = Contacts(2);
    /// Right heel.
    pub const RIGHT_HEEL: Contacts = Contacts(4);
    /// Ball and toes of the right foot.
    pub const RIGHT_TOE: Contacts = Contacts(8);
    /// Any part of the left foot.
    pub const LEFT: Contacts = Contacts(3);
    /// Any part of the right foot.
    pub const RIGHT: Contacts = Contacts(12);
    /// Heels and toes of both feet.
    pub const ALL: Contacts = Contacts(15);

    /// Whether all of `parts` are planted.
    pub fn has(self, parts: Contacts) -> bool {
        self.0 & parts.0 == parts.0
    }

    /// Whether any of `parts` is planted.
    pub fn any(self, parts: Contacts) -> bool {
        self.0 & parts.0 != 0
    }

    /// These and `parts`.
    #[must_use]
    pub fn with(self, parts: Contacts) -> Contacts {
        Contacts(self.0 | parts.0)
    }

    /// These without `parts`.
    #[must_use]
    pub fn without(self, parts: Contacts) -> Contacts {
        Contacts(self.0 & !parts.0)
    }

    /// Left and right exchanged.
    #[must_use]
    pub fn mirrored(self) -> Contacts {
        Contacts((self.0 & 3) << 2 | self.0 >> 2)
    }

    /// Bit set, lowest first: left heel, left toe, right heel, right toe.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// From [`Contacts::bits`]; other bits are ignored.
    pub fn from_bits(bits: u8) -> Contacts {
        Contacts(bits & 15)
    }
}

/// What a labelled interval is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum SpanKind {
    Attack,
    Avoid,
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

impl SpanKind {
    /// Every kind, in the order of the file formats' documentation.
    pub const ALL: [SpanKind; 11] = [
        SpanKind::Attack,
        SpanKind::Avoid,
        SpanKind::Block,
        SpanKind::Step,
        SpanKind::Turn,
        SpanKind::Walk,
        SpanKind::Run,
        SpanKind::Idle,
        SpanKind::React,
        SpanKind::Down,
        SpanKind::Up,
    ];

    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            SpanKind::Attack => "attack",
            SpanKind::Avoid => "avoid",
            SpanKind::Block => "block",
            SpanKind::Step => "step",
            SpanKind::Turn => "turn",
            SpanKind::Walk => "walk",
            SpanKind::Run => "run",
            SpanKind::Idle => "idle",
            SpanKind::React => "react",
            SpanKind::Down => "down",
            SpanKind::Up => "up",
        }
    }

    /// The inverse of [`SpanKind::name`].
    pub fn from_name(name: &str) -> Option<SpanKind> {
        SpanKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// How a blow is struck.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum StrikeKind {
    Straight,
    Hook,
    Uppercut,
    Backfist,
    Front,
    Round,
    Side,
    Knee,
}

impl StrikeKind {
    /// Every kind: of fists, then of legs.
    pub const ALL: [StrikeKind; 8] = [
        StrikeKind::Straight,
        StrikeKind::Hook,
        StrikeKind::Uppercut,
        StrikeKind::Backfist,
        StrikeKind::Front,
        StrikeKind::Round,
        StrikeKind::Side,
        StrikeKind::Knee,
    ];

    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            StrikeKind::Straight => "straight",
            StrikeKind::Hook => "hook",
            StrikeKind::Uppercut => "uppercut",
            StrikeKind::Backfist => "backfist",
            StrikeKind::Front => "front",
            StrikeKind::Round => "round",
            StrikeKind::Side => "side",
            StrikeKind::Knee => "knee",
        }
    }

    /// The inverse of [`StrikeKind::name`].
    pub fn from_name(name: &str) -> Option<StrikeKind> {
        StrikeKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// How high a strike or a guard is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Height {
    Low,
    Middle,
    High,
}

impl Height {
    /// Every height, from below.
    pub const ALL: [Height; 3] = [Height::Low, Height::Middle, Height::High];

    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            Height::Low => "low",
            Height::Middle => "middle",
            Height::High => "high",
        }
    }

    /// The inverse of [`Height::name`].
    pub fn from_name(name: &str) -> Option<Height> {
        Height::ALL.into_iter().find(|h| h.name() == name)
    }
}

/// Which way a strike travels, seen by the striker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Direction {
    Left,
    Right,
    Middle,
    Upwards,
}

impl Direction {
    /// Every direction.
    pub const ALL: [Direction; 4] = [Direction::Left, Direction::Right, Direction::Middle, Direction::Upwards];

    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Left => "left",
            Direction::Right => "right",
            Direction::Middle => "middle",
            Direction::Upwards => "upwards",
        }
    }

    /// The inverse of [`Direction::name`].
    pub fn from_name(name: &str) -> Option<Direction> {
        Direction::ALL.into_iter().find(|d| d.name() == name)
    }

    /// That of the mirrored strike.
    #[must_use]
    pub fn mirrored(self) -> Direction {
        match self {
            Direction::Left => Direction::Right,
            Direction::Right => Direction::Left,
            other => other,
        }
    }
}

/// One blow of an attack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strike {
    /// How it is struck.
    pub kind: StrikeKind,
    /// With what: a wrist, an ankle or a knee.
    pub part: Role,
    /// When it is fastest, seconds from the clip's first frame.
    pub at: f32,
    /// When it is dangerous, the same.
    pub active: (f32, f32),
    /// Where it arrives.
    pub height: Height,
    /// Which way it travels when it is fastest.
    pub direction: Direction,
    /// How far from the pelvis it arrives along the ground, metres.
    pub reach: f32,
    /// Whether that is more than an arm's length: such strikes reach an opponent who keeps away.
    pub long: bool,
    /// When it is fastest, metres per second.
    pub speed: f32,
    /// What hits as if it were one mass: momentum of the limb and the upper trunk along the strike over its speed, kilograms of a person of
    /// 75 kilograms.
    pub mass: f32,
}

/// A labelled interval of a clip. Times are seconds from the clip's first frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// What happens in it.
    pub kind: SpanKind,
    /// More exactly, in the user's words: "jab", "slip left". May be empty.
    pub label: String,
    /// Start.
    pub from: f32,
    /// End, not before the start.
    pub to: f32,
    /// When it counts: the fist is dangerous, the body is out of the way, the guard is up.
    pub active: Option<(f32, f32)>,
    /// The striking or guarding part.
    pub part: Option<Role>,
    /// The blows of an attack, by time.
    pub strikes: Vec<Strike>,
}

impl Span {
    /// A span without an active window.
    pub fn new(kind: SpanKind, label: &str, from: f32, to: f32) -> Span {
        Span { kind, label: label.to_owned(), from, to, active: None, part: None, strikes: Vec::new() }
    }

    /// Multiplies every time.
    pub fn scale_time(&mut self, factor: f32) {
        self.from *= factor;
        self.to *= factor;
        self.active = self.active.map(|(a, b)| (a * factor, b * factor));
        for strike in &mut self.strikes {
            strike.at *= factor;
            strike.active = (strike.active.0 * factor, strike.active.1 * factor);
            strike.speed /= factor;
        }
    }

    /// Adds to every time.
    pub fn shift_time(&mut self, seconds: f32) {
        self.from += seconds;
        self.to += seconds;
        self.active = self.active.map(|(a, b)| (a + seconds, b + seconds));
        for strike in &mut self.strikes {
            strike.at += seconds;
            strike.active = (strike.active.0 + seconds, strike.active.1 + seconds);
        }
    }

    /// The span of the mirrored motion.
    #[must_use]
    pub fn mirrored(&self) -> Span {
        let swap = |word: &str| match word {
            "left" => "right".to_owned(),
            "right" => "left".to_owned(),
            other => other.to_owned(),
        };
        let label = self.label.split(' ').map(swap).collect::<Vec<_>>().join(" ");
        let mirrored = |s: &Strike| Strike { part: s.part.mirrored(), direction: s.direction.mirrored(), ..*s };
        let strikes = self.strikes.iter().map(mirrored).collect();
        Span { label, part: self.part.map(Role::mirrored), strikes, ..self.clone() }
    }
}
