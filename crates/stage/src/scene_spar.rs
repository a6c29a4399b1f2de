//! Fighters of scenes: `opponent`, `style`, `depth`.

use std::fmt;

use kumite_motion::Vec2;
use kumite_motion::hash::fnv1a;
use kumite_plan::spar::Style;
use kumite_plan::spar::style::STYLES;
use kumite_text::TextError;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::scene::{Scene, SceneCharacter};
use crate::sparring::SparWish;

/// How somebody fights: a name, or a name and weights of its own.
#[derive(Clone, Debug, PartialEq)]
pub enum SceneStyle {
    /// One of those there are.
    Named(String),
    /// Weights; what is left out is that of `base`.
    Weights(Box<SceneWeights>),
}

impl<'de> Deserialize<'de> for SceneStyle {
    /// By hand, so that a wrong key in a table is named instead of the whole table being refused.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SceneStyle, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = SceneStyle;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a style, or a table of weights")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<SceneStyle, E> {
                Ok(SceneStyle::Named(name.to_owned()))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<SceneStyle, A::Error> {
                let weights = SceneWeights::deserialize(MapAccessDeserializer::new(map))?;
                Ok(SceneStyle::Weights(Box::new(weights)))
            }
        }
        deserializer.deserialize_any(Either)
    }
}

/// Weights of a style. Distances are metres from pelvis to pelvis, scores are light hits.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneWeights {
    /// What is not said is as in this style.
    pub base: Option<String>,
    /// The distance it likes.
    pub distance: Option<f32>,
    /// Cost of a metre off for a second.
    pub distance_weight: Option<f32>,
    /// Cost of a radian off for a second.
    pub facing_weight: Option<f32>,
    /// Cost of a metre from the next place of its path for a second.
    pub place_weight: Option<f32>,
    /// What damage by short blows is worth.
    pub short: Option<f32>,
    /// And by long ones.
    pub long: Option<f32>,
    /// What damage taken costs.
    pub taken: Option<f32>,
    /// What kicks are worth beside punches.
    pub kicks: Option<f32>,
    /// How long everything takes: above 1 is slower.
    pub tempo: Option<f32>,
    /// What its blows are worth.
    pub power: Option<f32>,
    /// Moves that score more when they land.
    #[serde(default)]
    pub favourites: Vec<String>,
}

/// What styles may be.
fn allowed() -> String {
    format!("one of {}, or weights with finite numbers in range", STYLES.join(", "))
}

impl SceneCharacter {
    /// How it fights; the default if nothing is said.
    fn fights(&self) -> Result<Style, String> {
        let named = |name: &str| Style::named(name).ok_or_else(|| name.to_owned());
        let style = match &self.style {
            None => Style::default(),
            Some(SceneStyle::Named(name)) => named(name)?,
            Some(SceneStyle::Weights(w)) => {
                let mut style = named(w.base.as_deref().unwrap_or("general"))?;
                let mut set = |value: Option<f32>, slot: fn(&mut Style) -> &mut f32| {
                    if let Some(value) = value {
                        *slot(&mut style) = value;
                    }
                };
                set(w.distance, |s| &mut s.distance);
                set(w.distance_weight, |s| &mut s.distance_weight);
                set(w.facing_weight, |s| &mut s.facing_weight);
                set(w.place_weight, |s| &mut s.place_weight);
                set(w.short, |s| &mut s.given.0);
                set(w.long, |s| &mut s.given.1);
                set(w.taken, |s| &mut s.taken);
                set(w.kicks, |s| &mut s.kicks);
                set(w.tempo, |s| &mut s.tempo);
                set(w.power, |s| &mut s.power);
                style.favourites = w.favourites.iter().map(|name| (name.clone(), 0.5)).collect();
                style
            }
        };
        style.check().map_err(str::to_owned)?;
        Ok(style)
    }

    /// What it wants to do to its opponent.
    pub(crate) fn spar(&self, seconds: f32) -> Option<SparWish> {
        let opponent = self.opponent.as_ref()?;
        let mut wish = SparWish::new(opponent, self.fights().ok()?, self.depth.unwrap_or(4));
        wish.path = self.path.iter().map(|p| Vec2::from_array(*p)).collect();
        if !wish.path.is_empty() && wish.style.place_weight == 0.0 {
            wish.style.place_weight = 2.2;
        }
        wish.seconds = seconds;
        if let Some(delay) = self.perception.as_ref().and_then(|p| p.delay) {
            wish.delay = delay;
        }
        Some(wish)
    }
}

/// Where the chance of somebody begins who fights: by name, so that who comes first in a file does not matter. Mixed, so that neighbouring seeds have nothing in common.
pub(crate) fn seed(seed: u64, name: &str) -> u64 {
    fnv1a(name.bytes().chain(seed.to_le_bytes()))
}

/// Checks the fighters of a scene.
pub(crate) fn check(scene: &Scene) -> Result<(), TextError> {
    for (i, character) in scene.character.iter().enumerate() {
        let path = |key: &str| format!("character.{i}.{key}");
        if let Err(found) = character.fights() {
            return Err(TextError::value(&path("style"), found, &allowed()));
        }
        if let Some(depth) = character.depth.filter(|depth| !(1..=12).contains(depth)) {
            return Err(TextError::value(&path("depth"), depth, "1 to 12"));
        }
        let Some(opponent) = &character.opponent else { continue };
        if *opponent == character.name || scene.character.iter().all(|c| c.name != *opponent) {
            let others = scene.character.iter().map(|c| c.name.as_str()).filter(|name| *name != character.name);
            let others = others.collect::<Vec<_>>().join(", ");
            let allowed = if others.is_empty() { "the name of another character, and there is none" } else { &others };
            return Err(TextError::value(&path("opponent"), opponent, allowed));
        }
        if character.goal.is_some() {
            return Err(TextError::value(
                &path("goal"),
                "a goal",
                "no goal where there is an opponent; path is for that",
            ));
        }
    }
    Ok(())
}
