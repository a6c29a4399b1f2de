//! Colours of bodies and of everything around them.

use crate::body::Group;
use kumite_motion::SpanKind;

/// An sRGB colour, 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// Mixes sRGB values, `t` of the way to `other`.
    #[must_use]
    pub fn mix(self, other: Rgb, t: f32) -> Rgb {
        let lerp = |a: u8, b: u8| (f32::from(a) + (f32::from(b) - f32::from(a)) * t + 0.5) as u8;
        Rgb(lerp(self.0, other.0), lerp(self.1, other.1), lerp(self.2, other.2))
    }

    /// As written in web pages: `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }
}

/// Colours of one body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colours {
    /// Trunk and head.
    pub middle: Rgb,
    /// Left arm and leg.
    pub left: Rgb,
    /// Right arm and leg.
    pub right: Rgb,
    /// Eyes; the back of the head has a colour between this and the trunk's.
    pub face: Rgb,
}

impl Colours {
    /// Cool left, warm right. Blue and orange can be told apart with every common colour blindness, and in grey because
    /// the left is darker.
    pub const FIRST: Colours = Colours {
        middle: Rgb(214, 208, 198),
        left: Rgb(44, 106, 176),
        right: Rgb(240, 145, 60),
        face: Rgb(38, 42, 52),
    };
    /// For an opponent, told apart by a darker trunk; the left is cool and the right warm here too.
    pub const SECOND: Colours =
        Colours { middle: Rgb(126, 140, 154), left: Rgb(36, 128, 140), right: Rgb(214, 92, 92), face: Rgb(30, 30, 44) };

    /// One for each of many characters, told apart by their trunks; the left is always cool and the right warm.
    pub const ALL: [Colours; 8] = [
        Colours::FIRST,
        Colours::SECOND,
        Colours { middle: Rgb(186, 164, 92), left: Rgb(58, 84, 168), right: Rgb(226, 118, 44), face: Rgb(44, 36, 22) },
        Colours { middle: Rgb(104, 128, 92), left: Rgb(30, 110, 150), right: Rgb(238, 160, 84), face: Rgb(24, 34, 24) },
        Colours { middle: Rgb(172, 122, 128), left: Rgb(70, 96, 182), right: Rgb(232, 132, 88), face: Rgb(46, 24, 30) },
        Colours {
            middle: Rgb(122, 110, 158),
            left: Rgb(24, 122, 128),
            right: Rgb(222, 104, 74),
            face: Rgb(30, 24, 48),
        },
        Colours { middle: Rgb(78, 84, 96), left: Rgb(72, 132, 200), right: Rgb(244, 166, 96), face: Rgb(16, 18, 24) },
        Colours { middle: Rgb(232, 226, 236), left: Rgb(48, 92, 140), right: Rgb(204, 84, 60), face: Rgb(44, 40, 60) },
    ];

    /// Of the character with this index.
    pub fn nth(index: usize) -> Colours {
        Colours::ALL[index % Colours::ALL.len()]
    }

    /// Colour of a part. Hands and feet are darker than their limbs, so that they stand out in front of the body.
    pub fn of(&self, group: Group) -> Rgb {
        let dark = |c: Rgb, t: f32| c.mix(Rgb(24, 22, 40), t);
        match group {
            Group::Torso => self.middle,
            Group::Head => self.middle.mix(Rgb(255, 250, 240), 0.25),
            Group::Face => self.face,
            Group::Hair => self.middle.mix(self.face, 0.66),
            Group::LeftArm => self.left,
            Group::LeftLeg => dark(self.left, 0.10),
            Group::LeftHand | Group::LeftFoot => dark(self.left, 0.32),
            Group::RightArm => self.right,
            Group::RightLeg => dark(self.right, 0.10),
            Group::RightHand | Group::RightFoot => dark(self.right, 0.32),
        }
    }
}

/// Colours of everything around the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Background.
    pub paper: Rgb,
    /// Lit floor.
    pub floor: Rgb,
    /// Grid lines on the floor.
    pub grid: Rgb,
    /// Titles.
    pub ink: Rgb,
    /// Captions and ticks.
    pub faint: Rgb,
    /// Shadows are mixed towards this.
    pub shade: Rgb,
    /// Props without a colour of their own.
    pub prop: Rgb,
}

impl Theme {
    /// Dark on light, for documents.
    pub const LIGHT: Theme = Theme {
        paper: Rgb(250, 249, 246),
        floor: Rgb(240, 237, 231),
        grid: Rgb(205, 200, 191),
        ink: Rgb(34, 36, 42),
        faint: Rgb(118, 118, 122),
        shade: Rgb(70, 66, 92),
        prop: Rgb(146, 112, 166),
    };
    /// Light on dark, for screens.
    pub const DARK: Theme = Theme {
        paper: Rgb(27, 29, 34),
        floor: Rgb(44, 47, 54),
        grid: Rgb(72, 76, 86),
        ink: Rgb(236, 235, 230),
        faint: Rgb(150, 152, 160),
        shade: Rgb(8, 8, 14),
        prop: Rgb(176, 140, 200),
    };

    /// Colour of a labelled span on the timeline.
    pub fn span(&self, kind: SpanKind) -> Rgb {
        match kind {
            SpanKind::Attack => Rgb(206, 72, 66),
            SpanKind::Avoid => Rgb(64, 140, 112),
            SpanKind::Block => Rgb(86, 100, 180),
            SpanKind::Step | SpanKind::Turn | SpanKind::Walk | SpanKind::Run => Rgb(150, 132, 96),
            SpanKind::Idle => Rgb(150, 150, 150),
            SpanKind::React | SpanKind::Down | SpanKind::Up => Rgb(160, 96, 160),
        }
    }
}
