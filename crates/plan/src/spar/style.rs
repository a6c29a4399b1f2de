//! How a fighter fights: the weights of its objective, and what its body is up to.

/// Weights and preferences. Distances in metres from pelvis to pelvis, scores in light hits.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// For people.
    pub name: String,
    /// r_d: the distance it likes.
    pub distance: f32,
    /// w_r: a metre off for a second.
    pub distance_weight: f32,
    /// w_θ: a radian off for a second.
    pub facing_weight: f32,
    /// w_l: a metre from where it should be for a second.
    pub place_weight: f32,
    /// w_D⁺ of short and of long blows.
    pub given: (f32, f32),
    /// w_D⁻.
    pub taken: f32,
    /// What kicks are worth beside punches: 1 is as much.
    pub kicks: f32,
    /// Moves it likes: they score so much more when they land.
    pub favourites: Vec<(String, f32)>,
    /// What defences cost: agile fighters avoid (below 0 for blocks), enduring ones take it.
    pub avoid_bonus: f32,
    /// The same for blocks.
    pub block_bonus: f32,
    /// How long everything takes it: 1.25 is a quarter longer. Tired fighters are slow.
    pub tempo: f32,
    /// What its blows are worth.
    pub power: f32,
    /// What the second without anything done costs.
    pub stall: f32,
}

/// Names of the styles there are.
pub const STYLES: [&str; 9] =
    ["general", "infighter", "outboxer", "path follower", "chaser", "runaway", "agile", "enduring", "tired"];

impl Default for Style {
    /// A metre off for a second costs as much as two light hits.
    fn default() -> Self {
        Style {
            name: "general".to_owned(),
            distance: 1.05,
            distance_weight: 2.0,
            facing_weight: 1.0,
            place_weight: 0.0,
            given: (1.0, 1.0),
            taken: 1.3,
            kicks: 0.8,
            favourites: Vec::new(),
            avoid_bonus: 0.0,
            block_bonus: 0.0,
            tempo: 1.0,
            power: 1.0,
            stall: 0.15,
        }
    }
}

impl Style {
    /// One of [`STYLES`]; after a space or a comma may follow `tired` or `paper`, as in `infighter tired`.
    pub fn named(name: &str) -> Option<Style> {
        let mut words = name.split([' ', ',', '+', '-', '_']).filter(|word| !word.is_empty()).peekable();
        let mut style = Style { name: name.to_owned(), ..Style::default() };
        words.peek()?;
        for word in words {
            match word {
                "general" => {}
                "infighter" => (style.distance, style.given) = (0.75, (1.5, 0.7)),
                "outboxer" => {
                    (style.distance, style.given, style.taken) = (1.5, (1.0, 2.8), 1.3);
                    // Who keeps away has to come in for every blow: waiting costs it more.
                    style.stall = 1.0;
                }
                "path" => style.place_weight = 2.2,
                "follower" => {}
                "chaser" => (style.distance, style.taken) = (0.5, 0.0),
                "runaway" => (style.distance, style.given) = (3.0, (0.0, 0.0)),
                "agile" => style.avoid_bonus = 0.25,
                "enduring" => (style.block_bonus, style.taken) = (0.25, 0.6),
                "kicker" => style.kicks = 1.6,
                "puncher" => style.kicks = 0.4,
                "tired" => (style.tempo, style.power) = (1.06, 0.95),
                "paper" => style = style.paper(),
                _ => return None,
            }
        }
        Some(style)
    }

    /// The same with the numbers of Table 1: places hardly count beside damage. Damage has no unit there; ours is a light hit.
    #[must_use]
    fn paper(self) -> Style {
        let (distance, given) = match self.name.split(' ').next() {
            Some("infighter") => (0.5, (1e5, 1e1)),
            Some("outboxer") => (2.0, (1e1, 1e5)),
            Some("chaser") => (0.1, (1e5, 1e5)),
            Some("runaway") => (3.0, (0.0, 0.0)),
            _ => (0.8, (1e5, 1e5)),
        };
        let taken = if self.name.starts_with("chaser") { 0.0 } else { 1e5 };
        let place_weight = if self.place_weight > 0.0 { 10.0 } else { 0.0 };
        Style { distance, given, taken, distance_weight: 10.0, facing_weight: 10.0, place_weight, ..self }
    }

    /// Whether all of it are numbers that a fight can be fought with; else which is not.
    pub fn check(&self) -> Result<(), &'static str> {
        let numbers = [
            ("distance", self.distance, 0.2, 20.0),
            ("distance_weight", self.distance_weight, 0.0, 1e6),
            ("facing_weight", self.facing_weight, 0.0, 1e6),
            ("place_weight", self.place_weight, 0.0, 1e6),
            ("given", self.given.0.min(self.given.1), 0.0, 1e6),
            ("given", self.given.0.max(self.given.1), 0.0, 1e6),
            ("taken", self.taken, 0.0, 1e6),
            ("kicks", self.kicks, 0.0, 100.0),
            ("avoid_bonus", self.avoid_bonus, -100.0, 100.0),
            ("block_bonus", self.block_bonus, -100.0, 100.0),
            ("tempo", self.tempo, 0.5, 3.0),
            ("power", self.power, 0.0, 10.0),
            ("stall", self.stall, 0.0, 1e6),
        ];
        let bad = numbers.iter().find(|(_, value, least, most)| !(*least..=*most).contains(value));
        bad.map_or(Ok(()), |(name, ..)| Err(*name))
    }

    /// Weights of someone who is behind and has little time left: dares more.
    #[must_use]
    pub fn losing(&self, urgency: f32) -> Style {
        let urgency = urgency.clamp(0.0, 1.0);
        let more = |weight: f32| weight * (1.0 + 0.5 * urgency);
        Style {
            given: (more(self.given.0), more(self.given.1)),
            taken: self.taken * (1.0 - 0.5 * urgency),
            ..self.clone()
        }
    }
}
