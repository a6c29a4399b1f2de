//! Rows of clips, packed without loss: all first bytes of the numbers, then all second ones, and so on, deflated. Exponents and signs hardly change from
//! frame to frame, so that planes of them pack well.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;

/// Bytes of a number.
const WIDE: usize = 4;
/// How hard is tried; more gains less than a hundredth.
const LEVEL: u8 = 6;
/// Rows pack to about two fifths. What unpacks to more than this many times its length is none of ours.
const MOST: usize = 64;

/// Packs whole numbers of four bytes each.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let count = bytes.len() / WIDE;
    let planes: Vec<u8> = (0..WIDE).flat_map(|plane| (0..count).map(move |i| bytes[i * WIDE + plane])).collect();
    compress_to_vec(&planes, LEVEL)
}

/// The inverse of [`pack`].
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, &'static str> {
    let limit = packed.len().saturating_mul(MOST);
    let planes = decompress_to_vec_with_limit(packed, limit).map_err(|_| "its rows cannot be unpacked")?;
    let count = planes.len() / WIDE;
    let mut bytes = vec![0; count * WIDE];
    for (plane, values) in planes.chunks_exact(count.max(1)).take(WIDE).enumerate() {
        for (number, value) in bytes.chunks_exact_mut(WIDE).zip(values) {
            number[plane] = *value;
        }
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked() {
        let bytes: Vec<u8> = (0..4000u32).flat_map(|i| ((i as f32 * 0.01).sqrt()).to_le_bytes()).collect();
        let packed = pack(&bytes);
        assert!(packed.len() < bytes.len());
        assert_eq!(unpack(&packed).unwrap(), bytes);
        assert_eq!(unpack(&pack(&[])).unwrap(), [0u8; 0]);
    }

    #[test]
    fn bombs_and_rubbish_are_refused() {
        assert!(unpack(&compress_to_vec(&vec![0; 1 << 22], 6)).is_err());
        assert!(unpack(b"rubbish").is_err());
    }
}
