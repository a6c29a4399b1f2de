//! Real captures, and a small generator of chance.

#![allow(dead_code, unused_imports, reason = "every test file uses its own part")]

pub(crate) use kumite_captures::files as captures;

/// Xorshift64*: seeded, the same everywhere.
pub(crate) struct Chance(u64);

impl Chance {
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 33) as usize % bound.max(1)
    }
}

/// Seconds a fuzz test may take.
pub(crate) fn fuzz_seconds() -> f64 {
    std::env::var("KUMITE_FUZZ_SECONDS").ok().and_then(|s| s.parse().ok()).unwrap_or(2.0)
}

/// One of many small harms done to bytes: flips, cuts, repeats, splices from another seed, digits changed.
pub(crate) fn mutate(chance: &mut Chance, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = seeds[chance.below(seeds.len())].clone();
    for _ in 0..1 + chance.below(8) {
        let at = chance.below(bytes.len());
        let scale = 1 << chance.below(8);
        let length = 1 + chance.below(scale);
        let end = (at + length).min(bytes.len());
        match chance.below(7) {
            0 if !bytes.is_empty() => bytes[at] ^= 1 << chance.below(8),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            3 => {
                let other = &seeds[chance.below(seeds.len())];
                let from = chance.below(other.len());
                let part = other[from..(from + length).min(other.len())].to_vec();
                bytes.splice(at..end, part);
            }
            4 => bytes.truncate(at),
            5 => {
                let word: &[&[u8]] =
                    &[b"4294967296", b"-1", b"nan", b"1e400", b"{", b"}", b"\0", b"\xff", b"99999999999"];
                bytes.splice(at..end, word[chance.below(word.len())].iter().copied());
            }
            _ => {
                for byte in bytes.iter_mut().skip(at).take(length).filter(|b| b.is_ascii_digit()) {
                    *byte = b'0' + chance.below(10) as u8;
                }
            }
        }
    }
    bytes
}
