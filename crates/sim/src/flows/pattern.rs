//! The bytes of simulated streams: known at every position, so that what arrives can be checked.

use std::ops::BitOr;

const WORD: u64 = 8;

/// Eight bytes from position `8 * index` of the stream with this key on.
fn word(key: u64, index: u64) -> [u8; 8] {
    let mixed = (index ^ key.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).to_le_bytes()
}

/// The byte at `position` of every simulated stream with this `key`.
pub fn pattern(key: u64, position: u64) -> u8 {
    word(key, position / WORD)[(position % WORD) as usize]
}

/// Bytes in front of the first whole word of `length` bytes from `position` on.
fn lead(position: u64, length: usize) -> usize {
    (position.wrapping_neg() % WORD).min(length as u64) as usize
}

/// Writes the stream from `position` on to `out`. A word at a time: calls that move a handful of bytes
/// would cost more than the bytes.
pub(crate) fn fill(key: u64, position: u64, out: &mut [u8]) {
    let (ragged, whole) = out.split_at_mut(lead(position, out.len()));
    fill_ragged(key, position, ragged);
    let mut index = (position + ragged.len() as u64) / WORD;
    let (words, rest) = whole.as_chunks_mut();
    for (place, at) in words.iter_mut().zip(index..) {
        *place = word(key, at);
    }
    index += words.len() as u64;
    fill_ragged(key, index * WORD, rest);
}

fn fill_ragged(key: u64, position: u64, out: &mut [u8]) {
    for (byte, at) in out.iter_mut().zip(position..) {
        *byte = pattern(key, at);
    }
}

/// How many of `bytes` are not those of the stream from `position` on.
pub(crate) fn count_wrong(key: u64, position: u64, bytes: &[u8]) -> u64 {
    let (ragged, whole) = bytes.split_at(lead(position, bytes.len()));
    let first = (position + ragged.len() as u64) / WORD;
    let (words, rest) = whole.as_chunks();
    let mut wrong = count_wrong_ragged(key, position, ragged);
    // Nearly always all are right, which takes no branch a word to find.
    let differs =
        |(got, index): (&[u8; 8], u64)| u64::from_ne_bytes(*got) ^ u64::from_ne_bytes(word(key, index));
    if words.iter().zip(first..).map(differs).fold(0, BitOr::bitor) != 0 {
        wrong += count_wrong_ragged(key, first * WORD, words.as_flattened());
    }
    wrong + count_wrong_ragged(key, (first + words.len() as u64) * WORD, rest)
}

fn count_wrong_ragged(key: u64, position: u64, bytes: &[u8]) -> u64 {
    bytes.iter().zip(position..).filter(|&(&got, at)| got != pattern(key, at)).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_filled_stream_is_right_wherever_it_is_cut_and_each_wrong_byte_is_counted(
            key in any::<u64>(), position in 0u64..1 << 40, length in 0usize..100,
            flips in proptest::collection::btree_set(0usize..100, 0..20),
        ) {
            let mut bytes = vec![0; length];
            fill(key, position, &mut bytes);
            let expected: Vec<u8> = (position..).take(length).map(|at| pattern(key, at)).collect();
            prop_assert_eq!(&bytes, &expected);
            let flips: Vec<usize> = flips.into_iter().filter(|&at| at < length).collect();
            for &at in &flips {
                bytes[at] ^= 1;
            }
            prop_assert_eq!(count_wrong(key, position, &bytes), flips.len() as u64);
        }
    }
}
