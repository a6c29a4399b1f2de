//! Reading TOML that people write: scenes, manifests, keyed motions.
//!
//! Whatever is wrong comes out as one [`TextError`], whether the text is not TOML, a value has the wrong type, or a
//! value makes no sense. Checks name the place by its path (`throw.0.speed`); [`TextError::located`] turns the path
//! into a line once the text is at hand. So the structs that people's files become hold plain values, no positions.
//!
//! Does not: read files.

use std::fmt::Display;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// What is wrong with a text that a person wrote.
#[derive(Clone, Debug, Default, PartialEq, thiserror::Error)]
#[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct TextError {
    /// One sentence.
    pub message: String,
    /// Where, counted from 1, if it is in the text.
    pub line: Option<usize>,
    /// Which key, in words: `throw 1 speed`.
    pub key: Option<String>,
    /// What stands there.
    pub found: Option<String>,
    /// What may stand there.
    pub allowed: Option<String>,
    path: String,
}

impl TextError {
    /// A sentence about the value at a path: keys, and positions in arrays from 0, with dots between.
    pub fn new(path: &str, message: impl Into<String>) -> TextError {
        let key = (!path.is_empty()).then(|| in_words(path));
        TextError { message: message.into(), key, path: path.to_owned(), ..TextError::default() }
    }

    /// A value that is not allowed, with the allowed word that is nearly the one found, if there is one.
    pub fn value(path: &str, found: impl Display, allowed: &str) -> TextError {
        let found = found.to_string();
        let message = format!("{} is {found}; allowed is {allowed}{}", in_words(path), hint(&found, allowed));
        TextError { found: Some(found), allowed: Some(allowed.to_owned()), ..TextError::new(path, message) }
    }

    /// With the line of the path, or of the nearest thing around it that is written down.
    #[must_use]
    pub fn located(mut self, text: &str) -> TextError {
        self.line = self.line.or_else(|| Lines::of(text).find(&self.path));
        self
    }

    /// On a line that was looked up before.
    #[must_use]
    pub fn at_line(mut self, line: Option<usize>) -> TextError {
        self.line = line;
        self
    }

    fn from_toml(text: &str, error: &toml::de::Error) -> TextError {
        let message = error.message().trim_end().replace('\n', "; ");
        let (mut found, mut allowed) = (None, None);
        // Serde's own sentences: `unknown field `a`, expected …`, `invalid type: string "a", expected …`.
        if let Some((what, expected)) = message.split_once(", expected ") {
            let quoted = what.strip_prefix("unknown field ").or_else(|| what.strip_prefix("unknown variant "));
            let typed = what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: "));
            found = quoted.map(|q| q.trim_matches('`')).or(typed).map(str::to_owned);
            let list = expected.strip_prefix("one of ").unwrap_or(expected).replace('`', "");
            allowed = found.is_some().then_some(list);
        }
        let hint = match (&found, &allowed) {
            (Some(found), Some(allowed)) if message.starts_with("unknown") => hint(found, allowed),
            _ => String::new(),
        };
        let span = error.span();
        let path = span.as_ref().and_then(|s| Lines::of(text).path_at(s.start)).unwrap_or_default();
        TextError {
            line: span.map(|s| line_at(text, s.start)),
            found,
            allowed,
            ..TextError::new(&path, format!("{message}{hint}"))
        }
    }
}

/// Values of a text, not yet checked beyond their types.
pub fn read<T: DeserializeOwned>(text: &str) -> Result<T, TextError> {
    toml::from_str(text).map_err(|e| TextError::from_toml(text, &e))
}

/// Where the keys of a text are.
pub struct Lines<'a> {
    text: &'a str,
    root: Option<Spanned<DeTable<'a>>>,
}

impl<'a> Lines<'a> {
    /// Of any text; one that is not TOML has no keys.
    pub fn of(text: &'a str) -> Lines<'a> {
        Lines { text, root: DeTable::parse(text).ok() }
    }

    /// The line of a path or, where it is not written down, of what is nearest around it. Counted from 1.
    pub fn find(&self, path: &str) -> Option<usize> {
        let mut place = None;
        let mut names = path.split('.').filter(|n| !n.is_empty());
        let mut table = Some(self.root.as_ref()?.get_ref());
        while let Some(name) = names.next() {
            let Some((key, mut value)) = table.and_then(|t| t.get_key_value(name)) else { break };
            place = Some(key.span());
            let mut rest = names.clone();
            while let DeValue::Array(list) = value.get_ref()
                && let Some(item) = rest.next().and_then(|n| list.get(n.parse::<usize>().ok()?))
            {
                names.next();
                (value, place) = (item, Some(item.span()));
            }
            table = value.get_ref().as_table();
        }
        place.map(|span| line_at(self.text, span.start))
    }

    /// The path of the innermost key or value that holds a byte.
    fn path_at(&self, byte: usize) -> Option<String> {
        let mut path = Vec::new();
        inside(self.root.as_ref()?.get_ref(), byte, &mut path);
        Some(path.join("."))
    }
}

/// Looks for a byte in a table and adds the names that lead to it. Tables in brackets have no span around all of
/// their values, so every branch is looked into.
fn inside(table: &DeTable<'_>, byte: usize, path: &mut Vec<String>) -> bool {
    table.iter().any(|(key, value)| {
        path.push(key.get_ref().to_string());
        let found = within(value, byte, path) || holds(&key.span(), byte);
        if !found {
            path.pop();
        }
        found
    })
}

fn within(value: &Spanned<DeValue<'_>>, byte: usize, path: &mut Vec<String>) -> bool {
    let deeper = match value.get_ref() {
        DeValue::Table(table) => inside(table, byte, path),
        DeValue::Array(list) => list.iter().enumerate().any(|(at, item)| {
            path.push(at.to_string());
            let found = within(item, byte, path);
            if !found {
                path.pop();
            }
            found
        }),
        _ => false,
    };
    deeper || holds(&value.span(), byte)
}

fn holds(span: &Range<usize>, byte: usize) -> bool {
    span.contains(&byte)
}

fn line_at(text: &str, byte: usize) -> usize {
    text.as_bytes()[..byte.min(text.len())].iter().filter(|b| **b == b'\n').count() + 1
}

/// `throw.0.speed` is `throw 1 speed`: people count from 1.
fn in_words(path: &str) -> String {
    let words = path.split('.').map(|name| name.parse::<usize>().map_or(name.to_owned(), |at| (at + 1).to_string()));
    words.collect::<Vec<_>>().join(" ")
}

/// The word of a list that was probably meant, in brackets to end a message with; nothing if none is near or what was found is a number.
pub fn hint(found: &str, allowed: &str) -> String {
    // Names may hold spaces, and lists may be sentences: both whole items and their words are looked at.
    let items = allowed.split([',', '`']).map(str::trim);
    let words = items.clone().chain(items.flat_map(|item| item.split([' ', '='])));
    match nearest(found, words) {
        Some(word) => format!(" (did you mean {word}?)"),
        None => String::new(),
    }
}

/// Names by how near they are to one that is not among them, the nearest first.
pub fn sort_by_nearness(found: &str, names: &mut [&str]) {
    names.sort_by_key(|name| (strsim::osa_distance(found, name), *name));
}

/// The name that was probably meant by one that is not among them: at most two letters are wrong, missing, too many or swapped, and less than half
/// of them; capitals do not count.
pub fn nearest<'a>(found: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let bare = |text: &str| text.trim_matches(['"', '`', '.', '\'']).to_lowercase();
    let wanted = bare(found);
    if wanted.is_empty() || wanted.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '[') {
        return None;
    }
    let near = |name: &'a str| {
        let whole = bare(name);
        let off = strsim::osa_distance(&wanted, &whole);
        let letters = whole.chars().count().min(wanted.chars().count());
        (name != found.trim_matches('"') && off <= 2 && 2 * off < letters.max(1)).then_some((off, name))
    };
    names.into_iter().filter_map(near).min().map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct File {
        seconds: f32,
        #[serde(default)]
        throw: Vec<Throw>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only read")]
    struct Throw {
        speed: f32,
        #[serde(default)]
        from: [f32; 3],
    }

    #[test]
    fn errors_of_the_reader_name_line_and_key() {
        for (text, line, key, found, message) in [
            (
                "second = 5\n",
                1,
                "second",
                "second",
                "unknown field `second`, expected `seconds` or `throw` (did you mean seconds?)",
            ),
            ("\nseconds = \"5\"\n", 2, "seconds", "string \"5\"", "invalid type: string \"5\", expected f32"),
            (
                "seconds = 5\n[[throw]]\nspeed = 1\n[[throw]]\nspede = 1\n",
                5,
                "throw 2 spede",
                "spede",
                "unknown field `spede`, expected `speed` or `from` (did you mean speed?)",
            ),
            (
                "seconds = 5\n[[throw]]\nspeed = 1\nfrom = [1,\n 2, \"x\"]\n",
                5,
                "throw 1 from 3",
                "string \"x\"",
                "invalid type: string \"x\", expected f32",
            ),
        ] {
            let error = read::<File>(text).unwrap_err();
            let got = (error.line, error.key.as_deref(), error.found.as_deref(), error.message.as_str());
            assert_eq!(got, (Some(line), Some(key), Some(found), message));
            assert_eq!(error.to_string(), format!("line {line}: {message}"));
        }
        let broken = read::<File>("seconds = 5\nthrow = [\n").unwrap_err();
        assert_eq!((broken.line.is_some(), broken.key), (true, None));
    }

    #[test]
    fn checked_values_are_found_in_the_text() {
        let text = "seconds = 5\n[[throw]]\nspeed = 1\n[[throw]]\nfrom = [1,\n 2, 3]\n[deep.er]\nkey = { a = 1 }\n";
        for (path, line) in [
            ("seconds", Some(1)),
            ("throw", Some(2)),
            ("throw.0.speed", Some(3)),
            ("throw.1", Some(4)),
            ("throw.1.from", Some(5)),
            ("throw.1.from.2", Some(6)),
            ("throw.1.mass", Some(4)),
            ("throw.7", Some(2)),
            ("deep.er.key.a", Some(8)),
            ("nothing", None),
            ("", None),
        ] {
            assert_eq!(Lines::of(text).find(path), line, "{path}");
        }
        let error = TextError::value("throw.0.speed", "fats", "fast, slow").located(text);
        assert_eq!(error.to_string(), "line 3: throw 1 speed is fats; allowed is fast, slow (did you mean fast?)");
        assert_eq!(error.key.as_deref(), Some("throw 1 speed"));
    }

    #[test]
    fn what_was_meant_is_near() {
        for (found, allowed, meant) in [
            ("\"haed\"", "head, chest", Some("head")),
            ("heads", "head, chest", Some("head")),
            ("Ana", "ana, bo", Some("ana")),
            ("path folower", "one of general, path follower, or weights", Some("path follower")),
            ("glbb", ".bvh, .glb, .png", Some(".glb")),
            ("jap", "cross, jab", Some("jab")),
            ("bow", "box, cylinder", Some("box")),
            ("bo", "box, ax", None),
            ("fox", "head, chest", None),
            ("100001", "1 to 100000", None),
            ("[2, 3]", "[2, 4]", None),
            ("head", "head, chest", None),
            ("", "a, b", None),
        ] {
            let expected = meant.map_or(String::new(), |meant| format!(" (did you mean {meant}?)"));
            assert_eq!(hint(found, allowed), expected, "{found} of {allowed}");
        }
    }
}
