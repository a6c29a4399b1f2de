//! Real captures, and random mutations of bytes.

#![allow(dead_code, unused_imports, reason = "every test file uses its own part")]

pub(crate) use kumite_captures::files as captures;
pub(crate) use kumite_motion::Chance;

/// A number below `bound`, or 0.
pub(crate) fn below(chance: &mut Chance, bound: usize) -> usize {
    chance.below(bound.max(1) as u32) as usize
}

/// Seconds a fuzz test may take.
pub(crate) fn fuzz_seconds() -> f64 {
    std::env::var("KUMITE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2.0)
}

/// A seed after a few random mutations: bits flipped, parts cut, repeated or taken from another seed, digits changed.
pub(crate) fn mutate(chance: &mut Chance, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[below(chance, seeds.len())].clone();
    for _ in 0..1 + below(chance, 8) {
        let at = below(chance, bytes.len());
        let scale = 1 << below(chance, 8);
        let length = 1 + below(chance, scale);
        let end = (at + length).min(bytes.len());
        match below(chance, 7) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << below(chance, 8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let other = &seeds[below(chance, seeds.len())];
                let from = below(chance, other.len());
                let part = other[from..(from + length).min(other.len())].to_vec();
                bytes.splice(at..end, part);
            }
            4 => bytes.truncate(at),
            5 => {
                let word: &[&[u8]] =
                    &[b"4294967296", b"-1", b"nan", b"1e400", b"{", b"}", b"\0", b"\xff", b"99999999999"];
                bytes.splice(at..end, word[below(chance, word.len())].iter().copied());
            }
            _ => {
                for byte in bytes.iter_mut().skip(at).take(length).filter(|b| b.is_ascii_digit()) {
                    *byte = b'0' + below(chance, 10) as u8;
                }
            }
        }
    }
    bytes
}
