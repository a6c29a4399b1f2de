//! `people.toml`: what people do, as text.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use kumite_text::TextError;
use serde::Deserialize;

use super::{Band, Channel, Family, Figure, Habit, People, Range};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    family: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    captures: BTreeMap<String, usize>,
    #[serde(default)]
    figures: BTreeMap<String, [f32; 2]>,
    #[serde(default)]
    limits: BTreeMap<String, [f32; 2]>,
    #[serde(default)]
    bands: BTreeMap<String, Rows>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    mean: Vec<f32>,
    half: Vec<f32>,
}

/// What the file says.
pub(super) fn read(text: &str) -> Result<People, TextError> {
    let file: File = kumite_text::read(text)?;
    let mut people = People::default();
    for entry in file.family {
        let family = Family::from_name(&entry.name)
            .ok_or_else(|| TextError::value("family.name", &entry.name, "the name of a family of actions"))?;
        let figure = |name: &str| Figure::ALL.iter().copied().find(|f| f.name() == name);
        let mut habit = Habit { captures: entry.captures.into_iter().collect(), ..Habit::default() };
        for (ranges, into) in [(entry.figures, &mut habit.figures), (entry.limits, &mut habit.limits)] {
            for (name, [least, most]) in ranges {
                let figure = figure(&name).ok_or_else(|| TextError::value("family.figures", &name, "a figure"))?;
                into.insert(figure, Range { least, most });
            }
        }
        let mut bands = entry.bands;
        if !bands.is_empty() {
            for channel in Channel::ALL {
                let rows = bands
                    .remove(channel.name())
                    .ok_or_else(|| TextError::value("family.bands", channel.name(), "one band per channel"))?;
                habit.bands.push(Band { mean: rows.mean, half: rows.half });
            }
        }
        people.habits.insert(family, habit);
    }
    Ok(people)
}

const HEAD: &str = "\
# What people do, measured on public captures of the Open Motion Project, ACCAD, The Ohio State University, and of mocap.cs.cmu.edu,
# on the canonical body. Statistics only. Written by `cargo dev motions`; crates/bake/src/judge/people/mod.rs says what the words mean.
# captures: how many actions of each. figures: least and most of captures that show one action alone. limits: of all. bands: mean and half width, eight parts from onset to height, eight over
# the half second after it; of walks, a stride.
";

/// As [`read`] reads it.
pub(super) fn write(people: &People) -> String {
    let mut text = HEAD.to_owned();
    // Writing to a string cannot fail.
    for (family, habit) in &people.habits {
        let captures: Vec<String> =
            sorted(&habit.captures).iter().map(|(name, count)| format!("{name:?} = {count}")).collect();
        let _ = write!(text, "\n[[family]]\nname = {:?}\ncaptures = {{ {} }}\n", family.name(), captures.join(", "));
        for (title, ranges) in [("figures", &habit.figures), ("limits", &habit.limits)] {
            let rows = ranges.iter().map(|(figure, range)| {
                format!("{} = [{}, {}]", figure.name(), number(range.least), number(range.most))
            });
            let _ = write!(text, "[family.{title}]\n{}\n", sorted(&rows.collect::<Vec<_>>()).join("\n"));
        }
        if !habit.bands.is_empty() {
            text.push_str("[family.bands]\n");
        }
        for (channel, band) in Channel::ALL.iter().zip(&habit.bands) {
            let row = |values: &[f32]| values.iter().map(|v| number(*v)).collect::<Vec<_>>().join(", ");
            let _ =
                writeln!(text, "{} = {{ mean = [{}], half = [{}] }}", channel.name(), row(&band.mean), row(&band.half));
        }
    }
    text
}

fn sorted<T: Clone + Ord>(items: &[T]) -> Vec<T> {
    let mut items = items.to_vec();
    items.sort();
    items
}

/// Three places where they say something, no zeros behind.
fn number(value: f32) -> String {
    let places = if value.abs() >= 10.0 { 1 } else { 2 };
    let text = format!("{value:.places$}");
    let short = text.trim_end_matches('0').trim_end_matches('.');
    if short.is_empty() || short == "-" || short == "-0" {
        "0.0".to_owned()
    } else if short.contains('.') {
        short.to_owned()
    } else {
        format!("{short}.0")
    }
}
