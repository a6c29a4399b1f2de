//! Decimal numbers out of text, quickly: this is nearly all the time that reading a capture takes.
//!
//! A number is taken in one go from the eight bytes it starts in: where it ends, where its point is, whether the rest
//! are digits, and their value are found by arithmetic on all bytes at once, without a branch per character. Longer
//! numbers take the same way on sixteen bytes; exponents, plus signs and the last bytes of a file go to `std`.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x8080_8080_8080_8080;
const WIDE_ONES: u128 = 0x0101_0101_0101_0101_0101_0101_0101_0101;
const WIDE_HIGH: u128 = 0x8080_8080_8080_8080_8080_8080_8080_8080;

/// Exact in `f64`, as is any mantissa of fifteen digits, so that their quotient is rounded once.
const TENS: [f64; 16] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The number that starts at `at` and where it ends, or `None` if it is not plain, or none at all: ask [`word`] then.
#[inline(always)]
pub(crate) fn plain(bytes: &[u8], at: usize) -> Option<(f32, usize)> {
    let window: &[u8; 16] = bytes.get(at..at + 16)?.try_into().ok()?;
    let negative = u64::from(window[0] == b'-');
    let text = if negative != 0 { load(window, 1) } else { load(window, 0) };
    // The lowest bit set is the first byte up to a space; carries only spoil bits above it.
    let blanks = text.wrapping_sub(0x21 * ONES) & !text & HIGH;
    let bits = blanks.trailing_zeros() & !7;
    let length = (bits / 8) as usize + negative as usize;
    if window[length & 15] > b' ' {
        return plain_wide(bytes, at);
    }
    if bits == 0 {
        return None;
    }
    let text = text & (u64::MAX >> (64 - bits));
    let dots = zero_bytes(text ^ (u64::from(b'.') * ONES));
    // All bits up to and with the point's byte; all bits if there is no point. Digits before the point move up into
    // its place, which leaves the lowest byte free.
    let upto = dots ^ dots.wrapping_sub(1);
    let digits = ((text & (upto >> 8)) << 8) | (text & !upto);
    let whole = dots == 0;
    let used = bits + 8 * u32::from(whole);
    if used == 8 || used > 64 {
        return if used > 64 { plain_wide(bytes, at) } else { None };
    }
    let values = (digits ^ (0x30 * (ONES ^ 1))) << (64 - used);
    if (values.wrapping_add(0x76 * ONES) | values) & HIGH != 0 {
        return None;
    }
    let decimals = if whole { 0 } else { bits / 8 - 1 - dots.trailing_zeros() / 8 };
    Some((scaled(eight_digits(values), decimals, negative), at + length))
}

/// As [`plain`], for numbers of up to fifteen bytes.
#[inline]
fn plain_wide(bytes: &[u8], at: usize) -> Option<(f32, usize)> {
    let window: [u8; 16] = bytes.get(at..at + 16)?.try_into().ok()?;
    let text = u128::from_le_bytes(window);
    let blanks = text.wrapping_sub(0x21 * WIDE_ONES) & !text & WIDE_HIGH;
    if blanks == 0 {
        return None;
    }
    let bits = blanks.trailing_zeros() - 7;
    let negative = u32::from(window[0] == b'-');
    let (text, rest) = ((text & !(u128::MAX << bits)) >> (8 * negative), bits - 8 * negative);
    let to_dot = text ^ (u128::from(b'.') * WIDE_ONES);
    let dots = to_dot.wrapping_sub(WIDE_ONES) & !to_dot & WIDE_HIGH;
    let (dot, used) = if dots == 0 { (rest, rest) } else { (dots.trailing_zeros() - 7, rest - 8) };
    if used == 0 {
        return None;
    }
    let above = u128::MAX << dot;
    let digits = (text & !above) | ((text >> 8) & above);
    let values = (digits ^ (0x30 * WIDE_ONES)) << (128 - used);
    if (values.wrapping_add(0x76 * WIDE_ONES) | values) & WIDE_HIGH != 0 {
        return None;
    }
    let mantissa = eight_digits((values >> 64) as u64) + 100_000_000 * eight_digits(values as u64);
    Some((scaled(mantissa, (used - dot) / 8, u64::from(negative)), at + (bits / 8) as usize))
}

/// The finite decimal number that a whole word is.
pub(crate) fn word(text: &[u8]) -> Option<f64> {
    // `std` also knows words for what is not finite.
    if !text.iter().all(|b| matches!(b, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')) {
        return None;
    }
    let value: f64 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (value as f32).is_finite().then_some(value)
}

#[inline(always)]
fn load(window: &[u8; 16], from: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| window[from + i]))
}

/// The lowest bit set marks the first byte that is zero; bits above it mean nothing.
#[inline(always)]
fn zero_bytes(v: u64) -> u64 {
    v.wrapping_sub(ONES) & !v & HIGH
}

/// The number whose decimal digits are the bytes of `v`, the most significant in the lowest byte: neighbours are
/// joined to pairs, pairs to fours, fours to eight.
#[inline(always)]
fn eight_digits(v: u64) -> u64 {
    let pairs = v.wrapping_mul(10).wrapping_add(v >> 8);
    let outer = (pairs & 0x0000_00ff_0000_00ff).wrapping_mul(100 + (1_000_000 << 32));
    let inner = ((pairs >> 16) & 0x0000_00ff_0000_00ff).wrapping_mul(1 + (10_000 << 32));
    outer.wrapping_add(inner) >> 32
}

#[inline(always)]
fn scaled(mantissa: u64, decimals: u32, negative: u64) -> f32 {
    let size = mantissa as i64 as f64 / TENS[decimals as usize & 15];
    f64::from_bits(size.to_bits() ^ (negative << 63)) as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(word: &str) {
        for after in [" 1.5 2.5 3.5 4.5 5.5 6.5", "\n                      ", "\r\n-12.5 77.125 1e30 -0.0"] {
            let text = format!("{word}{after}");
            let expected: f32 = word.parse().unwrap();
            let (value, end) = plain(text.as_bytes(), 0).unwrap_or_else(|| panic!("{word:?} is not plain"));
            assert_eq!((value, end), (expected, word.len()), "{text:?}");
        }
    }

    #[test]
    fn plain_numbers() {
        for word in "0 1 -1 12 123.4567 -123.4567 .5 -.5 5. -5. 1234567 -1234567 12345678 0.0000 -0.0000 99999999 \
                     123456.789012 -0.802634 000001.5 9.27476000000 3.40282347 -1234.567891 0.00000000001"
            .split_whitespace()
        {
            check(word);
        }
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_slow_way() {
        for word in "- . -. 1e5 +1 1.2.3 --1 1-2 nan inf 12a :1 1/2 1;2 12345678901234567 0x10 1,5".split_whitespace() {
            let text = format!("{word} 1.5 2.5 3.5 4.5 5.5");
            assert_eq!(plain(text.as_bytes(), 0), None, "{word}");
        }
        assert_eq!(plain(b"1.5 2.5", 0), None, "too near the end");
        assert_eq!(super::word(b"+1.5e3"), Some(1500.0));
        for word in ["nan", "inf", "-infinity", "", "e", "1e39", "1.5f", "0x10"] {
            assert_eq!(super::word(word.as_bytes()), None, "{word}");
        }
    }

    proptest! {
        #[test]
        fn as_std_reads_it(whole in 0u32..999_999, part in 0u32..9_999_999, digits in 0usize..8, minus: bool) {
            let sign = if minus { "-" } else { "" };
            let part = format!("{part:07}");
            check(&format!("{sign}{whole}.{}", &part[..digits.min(7)]));
        }

        #[test]
        fn any_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Some((value, end)) = plain(&bytes, 0) {
                let word = std::str::from_utf8(&bytes[..end]).unwrap();
                prop_assert_eq!(value, word.parse::<f32>().unwrap());
            }
        }
    }
}
